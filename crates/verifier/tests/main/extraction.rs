//! The program in what a model wrote: the forms that models write, and texts that look like them.

use proptest::prelude::*;
use veriplay_core::{TestCode, TestStyle, Trust, Value};
use veriplay_verifier::extraction::{
    Continues, Entry, ExtractedProgram, Wanted, extract_patch, extract_program, program_of_code, response_of_query,
    with_opened_frame,
};

use crate::cases::{rows, text, texts};
use crate::table::int_of;

const PROGRAM: &str = "def add(a, b):\n    return a + b\n";
const ADD: Wanted<'_> = Wanted { prompt: "", entry: Entry::Function("add"), continues: Continues::Prose };
const SCRIPT: Wanted<'_> = Wanted { entry: Entry::Script, ..ADD };
const PROMPT: &str = "from typing import List\n\n\ndef plus(a, b):\n    return a + b\n\n\ndef add(a: int, b: int) -> int:\n    \"\"\" Add by plus.\n    \"\"\"\n";
const BODY: Wanted<'_> = Wanted { prompt: PROMPT, ..ADD };
const STAR_PROMPT: &str = "from math import *\n\ndef gcd(a, b):\n    \"\"\"Its gcd.\"\"\"\n";

/// What the cases ask for.
fn wanted(name: &str) -> Wanted<'static> {
    match name {
        "add" => ADD,
        "script" => SCRIPT,
        "body" => BODY,
        "either" => Wanted { entry: Entry::FunctionOrMethod("add"), ..ADD },
        "method" => Wanted { entry: Entry::Function("Solution.add"), ..ADD },
        "seven" => Wanted { prompt: "def seven():\n", entry: Entry::Function("seven"), ..ADD },
        "star" => Wanted { prompt: STAR_PROMPT, entry: Entry::Function("gcd"), ..ADD },
        other => panic!("`{other}` is asked for"),
    }
}

/// The program and its rule.
fn found(wanted: &Wanted<'_>, response: &str) -> (String, String) {
    match extract_program(wanted, response) {
        Ok(ExtractedProgram { text, extraction }) => (text, extraction.rule),
        Err(nothing) => panic!("{nothing}\n{response}"),
    }
}

/// The program without the white space around it.
fn program(wanted: &Wanted<'_>, response: &str) -> String {
    found(wanted, response).0.trim().to_owned()
}

fn miss(wanted: &Wanted<'_>, response: &str) -> String {
    match extract_program(wanted, response) {
        Err(nothing) => nothing.reason,
        Ok(found) => panic!("{response}\ngave {found:?}"),
    }
}

fn forms() -> impl Iterator<Item = String> {
    texts(include_str!("cases/extraction_forms.txt")).map(|[form]| form)
}

#[test]
fn the_program_is_found_in_every_form() {
    for form in forms() {
        for [program_text] in texts(include_str!("cases/extraction_programs.txt")) {
            let response = form.replace("{}", &program_text);
            assert_eq!(program(&ADD, &response), program_text.trim(), "{form}");
            let windows = response.replace('\n', "\r\n");
            assert_eq!(program(&ADD, &windows).replace("\r\n", "\n"), program_text.trim(), "{form}, on Windows");
        }
    }
}

#[test]
fn a_script_is_found_in_every_form_that_names_nothing_else() {
    let script = "import sys\n\nn = int(input())\nfor i in range(n):\n    print(i)\n";
    for form in forms().filter(|form| !form.contains("def ") && !form.contains("class ")) {
        assert_eq!(program(&SCRIPT, &form.replace("{}", script)), script.trim(), "{form}");
    }
}

#[test]
fn the_span_is_where_the_program_stands_in_the_response() {
    for form in forms().filter(|form| !form.contains("   ```")) {
        let response = form.replace("{}", PROGRAM);
        let found = extract_program(&ADD, &response).expect("a program");
        assert_eq!(response[found.extraction.span[0]..found.extraction.span[1]].trim(), PROGRAM.trim(), "{form}");
    }
}

#[test]
fn a_response_has_one_program() {
    for [name, response, expected, rule] in texts(include_str!("cases/extraction_responses.txt")) {
        let [response, expected] = [response, expected].map(|text| text.replace("{}", PROMPT));
        let (program, found_by) = found(&wanted(&name), &response);
        match rule.as_str() {
            "" => assert_eq!(program.trim(), expected.trim(), "{name}: {response}"),
            _ => assert_eq!((program, found_by), (expected, rule), "{name}: {response}"),
        }
    }
}

/// Texts fenced as Python, with prose between them.
fn fenced(codes: &[String]) -> String {
    codes.iter().map(|code| format!("```python\n{code}\n```\nand\n")).collect()
}

#[test]
fn of_several_blocks_those_count_that_the_program_needs() {
    let asserts = TestStyle::Asserts(vec!["assert add(double(1), 1) == 3".to_owned()]);
    let tests = TestCode::new(Trust::Split, asserts);
    for row in rows(include_str!("cases/extraction_blocks.txt")) {
        let [name, Value::List(blocks), Value::List(taken)] = row.as_slice() else { panic!("{row:?}") };
        let wanted = match text(name.clone()).as_str() {
            "tests" => Wanted { entry: Entry::Tests(&tests), ..ADD },
            name => wanted(name),
        };
        let blocks: Vec<String> = blocks.iter().cloned().map(text).collect();
        let taken: Vec<&str> = taken.iter().map(|at| blocks[int_of(at) as usize].as_str()).collect();
        assert_eq!(program(&wanted, &fenced(&blocks)), taken.join("\n"), "{row:?}");
    }
}

#[test]
fn what_holds_no_program_says_what_was_looked_for_and_found() {
    for [name, response, words] in texts(include_str!("cases/extraction_misses.txt")) {
        let reason = miss(&wanted(&name), &response.replace("{}", &format!("```python\n{PROGRAM}```\n")));
        assert!(reason.contains(&words), "{response:?}: {reason}");
    }
}

#[test]
fn a_prompt_that_opened_a_thought_or_a_block_is_gone_on_from() {
    let behind = |prompt: &str| Wanted { continues: Continues::after(prompt), ..ADD };
    for prompt in ["<|im_start|>assistant\n<think>\n", "Think.<think>"] {
        assert_eq!(program(&behind(prompt), &format!("hm\n</think>\n{PROGRAM}")), PROGRAM.trim());
        assert!(miss(&behind(prompt), &format!("hm\n```python\n{PROGRAM}```\n")).contains("does not end"));
    }
    for prompt in ["Write it.\n```python\n", "- So:\n  ```py\n"] {
        let response = format!("{PROGRAM}```\nUse it:\n```python\nadd(1, 2)\n```\n");
        assert_eq!(found(&behind(prompt), &response), (PROGRAM.to_owned(), "prefilled".to_owned()));
        assert_eq!(program(&behind(prompt), PROGRAM), PROGRAM.trim());
    }
    assert_eq!(Continues::after("```python\nx\n```\n"), Continues::Prose);
    for [prompt, response, framed] in texts(include_str!("cases/opened_frames.txt")) {
        assert_eq!(with_opened_frame(&prompt, &response), framed, "{prompt:?}");
    }
}

#[test]
fn the_response_is_what_follows_the_prompt_whatever_tokens_either_has() {
    for [query, prompt, response] in texts(include_str!("cases/queries.txt")) {
        assert_eq!(response_of_query(&query, &prompt), response, "{query:?} {prompt:?}");
    }
}

#[test]
fn the_words_of_a_program_are_no_thought_and_no_tag() {
    for text in [
        "def add(a, b):\n    return a + b, '</think>'\n",
        "def add(a, b):\n    return ['<answer>', '</answer>'][a + b]\n",
        "def add(a, b):\n    \"\"\"Finds <answer> in <think> and </think>.\"\"\"\n    return a + b\n",
        "import re\n\ndef add(a, b):\n    return re.sub('<code>(.*)</code>', a, b) + \"<|im_end|>\"\n",
    ] {
        for form in ["{}", "```python\n{}```", "So:\n```python\n{}```\nDone."] {
            assert_eq!(program(&ADD, &form.replace("{}", text)), text.trim(), "{form}");
        }
    }
}

/// Models of the web's text indent what others fence, and begin scripts with any statement.
#[test]
fn a_script_without_a_fence_is_found_among_prose() {
    for script in
        ["n = int(input())\nprint(n)", "print(int(input()))", "for _ in range(int(input())):\n    print(input())"]
    {
        for around in [
            "Read the number.\nAnswer: print it.\n\n{}\n\nThat is all.",
            "First (see below) we read.\n{}",
            "Note:\na = 2 * n.\n\nSo:\n\n    {}\n\nDone.",
            "First try:\n\nprint(input() * 2)\n\nNo, it is:\n\n{}\n\nDone.",
            "a, b = 1, 2 or so.\n\n# Solution\n{}",
            "代码\n\n{}\n",
        ] {
            let indent = if around.contains("    {}") { "\n    " } else { "\n" };
            let text = around.replace("{}", &script.replace('\n', indent));
            let (code, rule) = found(&SCRIPT, &text);
            let is_whole = around.starts_with("代码") && rule == "whole";
            assert!(code.trim_end() == script && (is_whole || rule == "bare_code"), "{text}\ngave\n{code}");
        }
    }
}

#[test]
fn tests_name_what_they_use() {
    let answer = "```python\ndef helper(): pass\ndef area(x): return x\n```\n```python\ndef other(): pass\n```\n";
    let functions = "from solution import area\n\ndef test_it():\n    assert area(2) == 2\n";
    for style in [
        TestStyle::Asserts(vec!["assert area(2) == 2".to_owned(), "assert len([1]) == 1".to_owned()]),
        TestStyle::Functions(functions.to_owned()),
        TestStyle::Check { source: "def check(c): assert c(2)".to_owned(), function: "area".to_owned() },
    ] {
        let code = TestCode::new(Trust::Split, style);
        assert!(program(&Wanted { entry: Entry::Tests(&code), ..ADD }, answer).contains("area"), "{code:?}");
    }
    let wanted = Wanted { entry: Entry::Source("#<INSERT>\nassert area(1) == 1"), ..ADD };
    assert!(program(&wanted, answer).contains("area"));
}

#[test]
fn a_program_that_is_sent_as_one_is_looked_into_where_it_is_no_python() {
    for code in ["print(1)", "x = '''\n```python\ny\n```\n'''\n", "x = (\n", "no code", "```rust\nfn main() {}\n```"] {
        assert_eq!(program_of_code(code), code);
    }
    assert_eq!(program_of_code("So:\n```python\nprint(1)\n```\n"), "print(1)\n");
}

const PATCH: &str =
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";

#[test]
fn a_patch_is_found_in_every_form() {
    let fenced = "--- a/calc.py\n+++ b/calc.py\n@@ -1,3 +1,4 @@\n x = '''\n ```\n+```\n '''\n";
    let of_git = format!("diff --git a/calc.py b/calc.py\nindex 1234567..89abcde 100644\n{PATCH}");
    for [form] in texts(include_str!("cases/patch_forms.txt")) {
        for patch in [PATCH, &of_git, fenced] {
            assert_eq!(extract_patch(&form.replace("{}", patch)).as_deref(), Ok(patch), "{form}");
        }
    }
    assert_eq!(extract_patch(" \n"), Ok(String::new()), "it changes nothing");
    for response in ["I see no bug.", "<think>\n--- a/x", "```python\nx\n```"] {
        assert!(extract_patch(response).is_err(), "{response}");
    }
}

/// Parts of responses, in any order.
fn parts() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "```", "```python\n", "```\n", "~~~\n", "\n", "\r\n", "<think>", "</think>", "<answer>", "</answer>", "<code>",
        "[PYTHON]", "[/PYTHON]", "<|im_end|>", "</s>", "def add(a, b):\n", "    return a\n", "prose ", "'''", "\"",
        "'", "# ", "é", "\u{feff}", "import x\n", "@@ -1 +1 @@\n", "--- a/x\n", "+++ b/x\n", "-a\n", "+b\n", "(", ")",
        "{", "}", ":", "<|channel|>final<|message|>",
    ];
    proptest::collection::vec(proptest::sample::select(PARTS), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    /// No text is a panic, spans are of the text, and what was extracted is extracted again from a plain block.
    #[test]
    fn any_text_is_read(text in parts()) {
        for wanted in [&ADD, &SCRIPT, &BODY] {
            if let Ok(found) = extract_program(wanted, &text) {
                let [start, end] = found.extraction.span;
                prop_assert!(text.get(start..end).is_some());
                prop_assert_eq!(extract_program(wanted, &text), Ok(found));
            }
        }
        let _ = extract_patch(&text);
        let _ = response_of_query(&text, "prose");
        let _ = program_of_code(&text);
    }
}

/// Some 256 KiB of each part, alone and in turns. A search that is not linear does not end here.
#[test]
fn long_texts_are_read_in_one_pass() {
    let parts = [
        "```", "```python\n", "```\n", "```x\n", "</think>", "</think>\n", "x</think>y\n", "<think>\n",
        "<think></think>\n", "<answer>", "<code>\n", "<code>", "def \n", "def f():\n", "import x\n", "'''\n```\n",
        "<|im_end|>", "<", "|>", "[/INST]", " ", "\n", "(", "- ", "@@ -1 +1 @@\n", "--- a/x\n",
    ];
    for first in parts {
        for second in ["", "\n", "x ", "```python\n"] {
            let text = format!("{first}{second}").repeat((256 << 10) / (first.len() + second.len()));
            let _ = extract_program(&ADD, &text);
            let _ = extract_patch(&text);
            let _ = response_of_query(&text, "x");
        }
    }
}
