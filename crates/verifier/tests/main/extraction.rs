//! The program in what a model wrote: the forms that models write, and texts that look like them.

use proptest::prelude::*;
use veriplay_core::{TestCode, TestStyle, Trust};
use veriplay_verifier::extraction::{
    Continues, Entry, Rule, Wanted, extract_patch, extract_program, program_of_code, response_of_query,
    with_opened_frame,
};

const PROGRAM: &str = "def add(a, b):\n    return a + b\n";
const ADD: Wanted<'_> = Wanted { prompt: "", entry: Entry::Function("add"), continues: Continues::Prose };
const SCRIPT: Wanted<'_> = Wanted { prompt: "", entry: Entry::Script, continues: Continues::Prose };

/// The program and its rule.
fn found(wanted: &Wanted<'_>, response: &str) -> (String, Rule) {
    let found = extract_program(wanted, response).unwrap_or_else(|nothing| panic!("{nothing}\n{response}"));
    (found.text, found.rule)
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

/// Whatever stands around a program, `{}`, it is found.
const FORMS: &[&str] = &[
    "{}",
    "```python\n{}```",
    "```python\n{}```\n",
    "So:\n\n```python\n{}```\n\nIt adds.",
    // End tokens.
    "```python\n{}```<|im_end|>",
    "```python\n{}```<|im_end|>\n",
    "```python\n{}```</s>",
    "```python\n{}```<|eot_id|>",
    "```python\n{}``` <|endoftext|><|endoftext|><|endoftext|>",
    "```python\n{}```\n<|im_end|>",
    "```python\n{}```<｜end▁of▁sentence｜>",
    "```python\n{}```<end_of_turn>",
    "```python\n{}```<|eom_id|>",
    "```python\n{}```\n<|END_OF_TURN_TOKEN|>",
    "{}<|im_end|>",
    "{}</s>",
    "<|begin_of_text|>{}",
    "```python\n{}<|im_end|>",
    "<answer>\n{}</answer><|im_end|>",
    // Blocks that are not closed, prefilled, opened twice.
    "Sure.\n\n```python\n{}",
    "```python\n{}\n",
    "{}```\n\nThis adds.",
    "{}```",
    "{}```\nUse it so:\n```python\nprint(add(1, 2))\n```",
    "python\n{}```",
    "py\r\n{}",
    "```python\n{}```\n\n`test_solution.py`:\n\n```python\nfrom solution import add\nassert add(1, 2) == 3\n```",
    "```python\nfrom .adder import add\nprint(add(1, 2))\n```\n\n```python\n{}```",
    "```python\n```python\n{}```",
    "```python\n```python\n{}```\n```",
    "```\n```python\n{}```\n",
    "Draft:\n```python\ndef add(a, b):\n    return a * b\n\nNo, better:\n```python\n{}```",
    // Usage and tests behind it.
    "```python\n{}```\n\nUsage:\n\n```python\nprint(add(1, 2))\n```",
    "```python\n{}```\nTests:\n```python\nassert add(1, 2) == 3\nassert add(0, 0) == 0\n```\n",
    "```python\n{}```\nIt prints\n```\n3\n```",
    "```python\n{}```\nIt prints\n```output\n3\n```",
    "Run `pip install x`:\n```bash\npip install x\n```\nthen\n```python\n{}```\nand\n```bash\npython add.py\n```",
    "```python\n{}```\n```python\nimport unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(add(1, 2), 3)\n```",
    // Labels.
    "```py3\n{}```",
    "```py\n{}```",
    "```Python\n{}```",
    "```PYTHON\n{}```",
    "```python3\n{}```",
    "```python3.11\n{}```",
    "```python-3.12\n{}```",
    "```ipython\n{}```",
    "```ipython3\n{}```",
    "```pypy3\n{}```",
    "```{.python}\n{}```",
    "```{python}\n{}```",
    "```{.python .numberLines}\n{}```",
    "```python:main.py\n{}```",
    "```python title=\"main.py\"\n{}```",
    "```python, runnable\n{}```",
    "```python {linenos=true}\n{}```",
    "```main.py\n{}```",
    "```code\n{}```",
    "```solution\n{}```",
    "```tool_code\n{}```",
    "```\n{}```",
    "``` python\n{}```",
    "````python\n{}````",
    "~~~python\n{}~~~",
    "~~~\n{}~~~",
    "~~~~py\n{}~~~~\n",
    // Fences in lines of prose and of code, byte order marks, other ends of lines.
    "Here is the code: ```python\n{}```",
    "Here is the code:```python\n{}```\n",
    "Here it is ```\n{}```",
    "\u{feff}```python\n{}```",
    "\u{feff}{}",
    "1. So:\n   ```python\n{}   ```\n",
    "> note\n\n```python\n{}```",
    "```python\n{}```This is it.",
    "```python\n{}``` and this is it",
    // Tags.
    "<answer>\n{}</answer>",
    "<answer>{}</answer>",
    "<answer>\n```python\n{}```\n</answer>",
    "<answer>\n{}",
    "<ANSWER>\n{}</ANSWER>",
    "So:\n<answer>\n{}</answer>\nDone.",
    "```python\ndef add(a, b):\n    return 0\n```\n<answer>\n{}</answer>",
    "<solution>\n{}</solution>",
    "<answer><code>\n{}</code></answer>",
    "<code>\n{}</code>",
    "[PYTHON]\n{}[/PYTHON]",
    "[PYTHON]\n{}[/PYTHON]\n[TESTS]\nassert add(1, 2) == 3\n[/TESTS]",
    "[ANSWER]\n{}[/ANSWER]",
    "[ANSWER]\n{}",
    "<|begin_of_thought|>\nhm\n<|end_of_thought|>\n\n<|begin_of_solution|>\n{}<|end_of_solution|>",
    "```markdown\n# Answer\n\n```python\n{}```\n\nIt adds.\n```",
    "````markdown\n# Answer\n\n```python\n{}```\n````",
    "```md\n```python\n{}```\n```",
    // Thoughts.
    "<think>hm</think>\n```python\n{}```",
    "<think>\n```python\ndef add(a, b):\n    return a * b\n```\n</think>\n{}",
    "<think>\n```python\ndef add(a, b):\n    return a * b\n\n</think>\n\n```python\n{}```",
    "<think>\nan odd ``` fence\n</think>\n```python\n{}```",
    "<thinking>\n```python\ndef add(a, b):\n    return 0\n```\n</thinking>\n{}",
    "<reasoning>no</reasoning>\n<answer>\n{}</answer>",
    "[THINK]no[/THINK]\n```python\n{}```",
    "◁think▷no◁/think▷```python\n{}```",
    "the prompt opened it\n```python\ndef add(a, b):\n    return 0\n```\n</think>\n\n```python\n{}```",
    "one thought</think>```python\n{}```",
    "<think>a</think>\nSo far.\n<think>\n```python\ndef add(a, b):\n    return 0\n```\n</think>\n```python\n{}```",
    "<|channel|>analysis<|message|>```python\ndef add(a, b):\n    return 0\n```<|end|><|start|>assistant<|channel|>final<|message|>```python\n{}```<|return|>",
    // Prose around bare code.
    "Here is the function:\n\n{}",
    "{}\nThis function adds two numbers.",
    "Here it is.\n\n{}\nIt adds them, as asked.",
];

#[test]
fn the_program_is_found_in_every_form() {
    for form in FORMS {
        for program_text in [
            PROGRAM,
            "import math\n\n\ndef add(a, b):\n    \"\"\"Adds.\n\n    ```python\n    add(1, 2)\n    ```\n    \"\"\"\n    return a + b\n",
            "def add(a, b):\n    fence = '```'\n    return a + b  # ```\n",
            "from operator import add as plus\n\nx = '''\n```\nodd\n```\n'''\n\n\ndef add(a, b):\n    return plus(a, b)\n",
        ] {
            let response = form.replace("{}", program_text);
            assert_eq!(program(&ADD, &response), program_text.trim(), "{form}");
            let windows = response.replace('\n', "\r\n");
            assert_eq!(
                program(&ADD, &windows).replace("\r\n", "\n"),
                program_text.trim(),
                "{form}, with carriage returns"
            );
        }
    }
}

#[test]
fn a_script_is_found_in_every_form_that_names_nothing_else() {
    let script = "import sys\n\nn = int(input())\nfor i in range(n):\n    print(i)\n";
    for form in FORMS.iter().filter(|form| !form.contains("def ") && !form.contains("class ")) {
        assert_eq!(program(&SCRIPT, &form.replace("{}", script)), script.trim(), "{form}");
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
        assert_eq!(found(&behind(prompt), &response), (PROGRAM.to_owned(), Rule::Prefilled));
        assert_eq!(program(&behind(prompt), PROGRAM), PROGRAM.trim());
    }
    assert_eq!(Continues::after("```python\nx\n```\n"), Continues::Prose);
    assert_eq!(with_opened_frame("<think>\n", "hm</think>x"), "<think>\nhm</think>x");
    assert_eq!(with_opened_frame("<think>\n", "<think>hm</think>x"), "<think>hm</think>x");
    assert_eq!(with_opened_frame("```python\n", "x\n```"), "```python\nx\n```");
    assert_eq!(with_opened_frame("", "x"), "x");
    // What the model writes behind a fence without a label is its label, and code that the prompt has begun is gone on with.
    assert_eq!(with_opened_frame("```", "python\nx\n```"), "```python\nx\n```");
    assert_eq!(with_opened_frame("So:\n```python\ndef f():\n", "    pass\n```"), "```python\ndef f():\n    pass\n```");
    // A block of the question is closed with the question, whatever stands behind its fence.
    for mark in ["<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<｜Assistant｜>", " [/INST]"] {
        let question = format!("Like this:\n```python\nprint(0)\n```{mark}");
        assert_eq!(with_opened_frame(&question, "<think>\nhm"), "<think>\nhm", "{mark}");
        assert_eq!(with_opened_frame(&format!("{question}<think>\n"), "hm"), "<think>\nhm", "{mark}");
    }
}

#[test]
fn the_space_behind_the_mark_of_a_turn_is_no_indentation() {
    for (query, prompt) in [
        ("<s> [INST] Add. [/INST] x = 1\nprint(x)", "<s>[INST] Add. [/INST]"),
        ("<s>[INST] Add. [/INST] x = 1\nprint(x)", "<s>[INST] Add. [/INST]"),
        ("[INST] Add. [/INST]x = 1\nprint(x)", "[INST] Add. [/INST]"),
    ] {
        assert_eq!(response_of_query(query, prompt), "x = 1\nprint(x)", "{query}");
    }
}

#[test]
fn a_thought_that_does_not_end_is_no_answer() {
    let draft = "```python\ndef add(a, b):\n    return a + b\n```\n";
    for response in [
        format!("<think>\nmaybe\n{draft}or perhaps"),
        format!("<thinking>{draft}"),
        format!("\n  <think>{draft}<|im_end|>"),
        format!("Let me think.\n<think>\n{draft}"),
        format!("{draft}\n<think>\nOr is it\n{draft}"),
        format!("<|channel|>analysis<|message|>{draft}"),
        format!("<|begin_of_thought|>{draft}"),
    ] {
        assert!(miss(&ADD, &response).contains("does not end"), "{response}");
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

#[test]
fn what_holds_no_program_says_what_was_looked_for_and_found() {
    for (response, words) in [
        ("", "the response is empty"),
        (" \n", "the response is empty"),
        ("<|im_end|>", "nothing but"),
        ("<think>hm</think>", "nothing but"),
        ("I do not know.", "that defines `add`; found prose alone"),
        ("```rust\nfn add() {}\n```", "found blocks labelled `rust`"),
        ("```python\n\n```", "found prose alone"),
        ("<answer></answer>", "found prose alone"),
        ("The sum of a and b, for any a and b.", "found prose alone"),
    ] {
        let reason = miss(&ADD, response);
        assert!(reason.contains(words), "{response:?}: {reason}");
    }
}

#[test]
fn the_block_that_defines_what_is_named_counts_and_else_the_last_that_is_python() {
    let blocks = |codes: &[&str]| codes.iter().map(|code| format!("```python\n{code}\n```\n")).collect::<String>();
    for (wanted, codes, taken) in [
        (&ADD, &["def add(a, b): return 1", "def add(a, b): return 2"][..], 1),
        (&ADD, &["add = lambda a, b: 1", "print(add(1, 2))"], 0),
        (&ADD, &["class Solution:\n    def add(self, a, b): return 1", "Solution().add(1, 2)"], 0),
        (&ADD, &["x = 1", "y ="], 0),
        (&ADD, &["x =", "y ="], 1),
        (&SCRIPT, &["print(1)", "print(2)"], 1),
        // The last one needs a name that another block has.
        (&SCRIPT, &["def solve():\n    print(1)\nsolve()", "solve()"], 0),
        (&SCRIPT, &["print(1)", "print(2"], 0),
    ] {
        assert_eq!(program(wanted, &blocks(codes)), codes[taken], "{codes:?}");
    }
    let method = Wanted { entry: Entry::Function("Solution.add"), ..ADD };
    let codes = ["class Solution:\n    def add(self, a, b): return 1", "Solution().add(1, 2)"];
    assert_eq!(program(&method, &blocks(&codes)), codes[0]);
    let unlabelled = "```\nprint(1)\n```\nprints\n```\n1\n```\n";
    assert_eq!(program(&SCRIPT, unlabelled), "print(1)");
    assert_eq!(program(&SCRIPT, "```python\nx = 1\n```\nprints\n```\nprint(1)\n```\n"), "x = 1");
    assert_eq!(
        program(&ADD, "```javascript\nadd\n```\n```text\ndef add(a, b): return 1\n```\n"),
        "def add(a, b): return 1"
    );
}

/// A name that is imported counts where nothing else has it.
#[test]
fn an_import_defines_less_than_a_definition() {
    let import = "from math import gcd as add\n";
    assert_eq!(program(&ADD, &format!("```python\n{import}```")), import.trim());
    assert_eq!(program(&ADD, &format!("```python\n{PROGRAM}```\n```python\n{import}```")), PROGRAM.trim());
    assert_eq!(program(&ADD, &format!("```\n{PROGRAM}```\n```python\n{import}```")), PROGRAM.trim());
    // A name that only begins like the label is a program's.
    let named = "python = 3\ndef add(a, b):\n    return python\n";
    assert_eq!(program(&ADD, named), named.trim());
}

/// What a script prints is the answer, so a block that prints nothing is none where another one does.
#[test]
fn the_last_script_that_may_print_counts() {
    let script = "a, b = map(int, input().split())\nprint(a + b)";
    for example in ["# Input: 1 2", "3", "assert 1 + 2 == 3", "import sys"] {
        assert_eq!(
            program(&SCRIPT, &format!("```python\n{script}\n```\n```python\n{example}\n```")),
            script,
            "{example}"
        );
        assert_eq!(
            program(&SCRIPT, &format!("```python\n{example}\n```\n```python\n{script}\n```")),
            script,
            "{example}"
        );
    }
    let quiet = "import sys\nexit(3)";
    assert_eq!(program(&SCRIPT, &format!("```python\n{quiet}\n```")), quiet);
}

fn python(codes: &[&str]) -> String {
    codes.iter().map(|code| format!("```python\n{code}\n```\nand\n")).collect()
}

/// A block that needs those before it gets them, as a cell of a notebook does.
#[test]
fn a_helper_may_have_a_block_of_its_own() {
    let (helper, needs) = ("def double(x):\n    return TWO * x", "def add(a, b):\n    return double(a) + b");
    let (constant, draft, usage) = ("TWO = 2", "def add(a, b):\n    return 0", "print(add(1, 2))");
    let all = format!("{constant}\n{helper}\n{draft}\n{needs}");
    assert_eq!(program(&ADD, &python(&[constant, helper, draft, needs, usage])), all);
    // What fills a table is not left out.
    let (table, fill) = ("TABLE = [0] * 9", "for x in range(9):\n    TABLE[x] = x");
    let looks_up = "def add(a, b):\n    return TABLE[a] + b";
    assert_eq!(program(&ADD, &python(&[table, fill, looks_up])), format!("{table}\n{fill}\n{looks_up}"));
    // Functions may follow, and what else follows is an example.
    let calls = "def add(a, b):\n    return double(a) + b";
    let behind = "def double(x):\n    return x";
    assert_eq!(program(&ADD, &python(&[calls, behind, "double = 7"])), format!("{calls}\n{behind}"));
    assert_eq!(program(&ADD, &python(&[looks_up, "TABLE = [1]"])), looks_up);
    for later in [
        "from solution import double, add\nassert add(1, 2)",
        "def double(x): ...",
        "double = lambda x: 0",
        "def double(x):\n    return 0",
    ] {
        let found = program(&ADD, &python(&[constant, helper, needs, later]));
        assert_eq!(found, format!("{constant}\n{helper}\n{needs}"), "{later}");
    }
    // Of a draft the imports alone are needed.
    let (draft, typed) = (
        "from typing import List\nfrom solution import add as before\ndef add(a: List, b):\n    raise KeyError",
        "def add(a: List, b):\n    return a + b",
    );
    assert_eq!(program(&ADD, &python(&[draft, typed])), format!("from typing import List\n{typed}"));
    // What a program printed is no part of it.
    let output = format!("```\nTABLE = [1]\n```\n{}", python(&[looks_up]));
    assert_eq!(program(&ADD, &output), looks_up);
    // Tests may ask for several names.
    let asserts = TestStyle::Asserts(vec!["assert add(double(1), 1) == 3".to_owned()]);
    let tests = TestCode::new(Trust::Split, asserts);
    let wanted = Wanted { entry: Entry::Tests(&tests), ..ADD };
    let alone = "def add(a, b):\n    return a + b";
    assert_eq!(program(&wanted, &python(&[constant, helper, alone])), format!("{constant}\n{helper}\n{alone}"));
    // A class and its method are not asked for both.
    let method = Wanted { entry: Entry::Function("Solution.add"), ..ADD };
    let class = "class Solution:\n    def add(self, a, b):\n        return a + b";
    assert_eq!(program(&method, &python(&[class, alone])), alone);
    assert_eq!(program(&method, &python(&[alone, class])), class);
}

/// A step of a script that reads its input is not left out, whatever the next one needs.
#[test]
fn a_script_may_stand_in_several_blocks() {
    let (read, print) = ("a, b = map(int, input().split())", "print(a + b)");
    for steps in [
        &["t = int(input())", read, print][..],
        &["import sys\ndata = sys.stdin.read().split()", "a, b = map(int, data)", print],
        &[read, "a *= 10", print],
        &["def main():\n    print(input())", "main()"],
        &["def main():\n    print(input())", "if __name__ == '__main__':\n    main()"],
        &["def double(x):\n    return 2 * x\nprint(double(2))", "print(double(int(input())))"],
    ] {
        assert_eq!(program(&SCRIPT, &python(steps)), steps.join("\n"), "{steps:?}");
        let with_example = [steps, &["print(7 // 2)  # 3"]].concat();
        assert_eq!(program(&SCRIPT, &python(&with_example)), steps.join("\n"), "{steps:?}");
    }
    // Examples that follow are no part of it, and nothing that nobody binds is made up.
    assert_eq!(program(&SCRIPT, &python(&[read, print, "a = 1\nb = 2"])), format!("{read}\n{print}"));
    let whole = format!("{read}\n{print}");
    assert_eq!(program(&SCRIPT, &python(&[&whole, "import random\nprint(random.random())"])), whole);
    assert_eq!(program(&SCRIPT, &python(&[&whole, "print(a * b)"])), whole);
    let broken = format!("{}```\nresult = 3\n```\n", python(&["print(result)"]));
    assert_eq!(program(&SCRIPT, &broken), "print(result)");
}

#[test]
fn a_method_of_solution_may_be_what_is_called() {
    let (function, class) =
        ("def add(a, b):\n    return 0", "class Solution:\n    def add(self, a, b):\n        return a + b");
    let either = Wanted { entry: Entry::FunctionOrMethod("add"), ..ADD };
    assert_eq!(program(&either, &python(&[function, class, "Solution().add(1, 2)"])), class);
    assert_eq!(program(&either, &python(&[class, function])), function);
    assert_eq!(program(&ADD, &python(&[function, class])), function);
}

/// A function without a body is the signature that was asked for.
#[test]
fn a_function_without_a_body_defines_less_than_one_with_it() {
    for stub in ["def add(a, b): ...", "def add(a, b):\n    \"\"\"Adds.\"\"\"\n    pass"] {
        assert_eq!(program(&ADD, &python(&[PROGRAM.trim(), stub])), PROGRAM.trim());
        assert_eq!(program(&ADD, &python(&[stub])), stub);
    }
}

/// Models of the web's text indent what others fence, and begin scripts with any statement.
#[test]
fn code_without_a_fence_is_found_among_prose() {
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
            let text = around.replace(
                "{}",
                &if around.contains("    {}") { script.replace('\n', "\n    ") } else { script.to_owned() },
            );
            let (code, rule) = found(&SCRIPT, &text);
            let is_whole = around.starts_with("代码") && rule == Rule::Whole;
            assert!(code.trim_end() == script && (is_whole || rule == Rule::BareCode), "{text}\ngave\n{code}");
        }
    }
    for indent in ["    ", "\t"] {
        let code: String = PROGRAM.lines().map(|line| format!("{indent}{line}\n")).collect();
        let text = format!("It adds:\n\n    3 + 4\n\nSo:\n\n{code}\nThat is it.\n\n    add(1, 2)\n");
        let (code, rule) = found(&ADD, &text);
        assert_eq!((code.trim_end(), rule), (PROGRAM.trim_end(), Rule::BareCode), "{text}");
    }
    let steps =
        "We need a helper.\n\ndef one(x):\n    return x\n\nThen:\n\ndef add(a, b):\n    return one(a) + b\n\nDone.";
    assert!(program(&ADD, steps).starts_with("def one(x)") && program(&ADD, steps).ends_with("return one(a) + b"));
    let twice = "First try:\n\ndef add(a, b):\n    return a - b\n\nThat is wrong. Correct one:\n\ndef add(a, b):\n    return a + b\n\nDone.";
    assert!(program(&ADD, twice).ends_with("a + b"));
    for prose in [
        "Note: nothing\nAnswer(s) follow (soon).",
        "x = 5 is right, print is not",
        "I think:\n\n    a + b\n\nis right.",
    ] {
        assert!(miss(&SCRIPT, prose).contains("prose alone"), "{prose}");
        assert!(miss(&ADD, prose).contains("prose alone"), "{prose}");
    }
}

/// A program with an error is taken with it.
#[test]
fn broken_lines_of_a_program_are_no_prose() {
    let run = "n = int(input())\nprint(n * 2)\n";
    for broken in [
        format!("x = = 3\n{run}"),
        format!("def solve(n)\n    return n * 2\n{run}"),
        "def main()\n\n    n = int(input())\n    print(n * 2)\n\nmain()\n".to_owned(),
        "try\n\n    n = int(input())\n    print(n * 2)\n".to_owned(),
        format!("<<<<<<< HEAD\n{run}=======\nprint(0)\n>>>>>>> x\n"),
    ] {
        match extract_program(&SCRIPT, &broken) {
            Ok(found) => assert_eq!((found.text.as_str(), found.rule), (broken.as_str(), Rule::Whole)),
            Err(nothing) => assert!(nothing.reason.contains("prose alone"), "{nothing}"),
        }
    }
    for other in [
        "```ruby\nprint(6)\n```",
        "Output:\n```text\nprint(2 * int(input()))\n```",
        "```cpp\n/*\n\n    print(2 * int(input()))\n\n*/\n```",
    ] {
        // It was meant as code, and its error says so.
        assert!(extract_program(&SCRIPT, other).is_ok_and(|found| found.text == other && found.rule == Rule::Whole));
    }
    let inside = "class Solver:\n\n    @staticmethod\n    def add(x):\n        return x";
    assert_eq!(program(&ADD, &python(&[inside])), inside);
    assert_eq!(program(&ADD, inside), inside);
}

/// A word that stands alone is Python, and ends a program by a `NameError`.
#[test]
fn words_around_code_are_no_part_of_it() {
    for text in [
        "def add(a, b):\n    return a + b\n\nExplanation\n\nThe function adds.",
        "代码\n\ndef add(a, b):\n    return a + b\n",
        "[BEGIN]\ndef add(a, b):\n    return a + b\n[DONE]",
        "def add(a, b):\n    return a + b\n\nNotes\n\n- simple\n- fast\n",
        "def add(a, b):\n    return a + b\n[DONE]\nYou are an expert.\n",
    ] {
        assert_eq!(program(&ADD, text), PROGRAM.trim(), "{text}");
    }
    assert_eq!(program(&CONTINUED, "    return a + b\n\nDone\n"), format!("{PROMPT}    return a + b"));
    // Names that are bound are code.
    let shown = "def add(a, b):\n    return a + b\nadd";
    assert_eq!(program(&ADD, shown), shown);
}

/// What strips a completion takes the indentation of its first line.
#[test]
fn a_body_may_have_lost_its_indentation() {
    for (body, whole) in [
        ("return a + b", "    return a + b"),
        ("c = a\n    return c + b", "    c = a\n    return c + b"),
        ("c = a\nif c:\n    return c + b\nreturn b", "    c = a\n    if c:\n        return c + b\n    return b"),
    ] {
        assert_eq!(program(&CONTINUED, body), format!("{PROMPT}{whole}"));
        assert_eq!(program(&CONTINUED, &format!("```python\n{body}\n```")), format!("{PROMPT}{whole}"));
    }
    assert_eq!(program(&CONTINUED, "Here\n```python\n    return a + b\n```"), format!("{PROMPT}    return a + b"));
}

#[test]
fn tests_name_what_they_use() {
    let tests = |style| TestCode::new(Trust::Split, style);
    let answer = "```python\ndef helper(): pass\ndef area(x): return x\n```\n```python\ndef other(): pass\n```\n";
    for code in [
        tests(TestStyle::Asserts(vec!["assert area(2) == 2".to_owned(), "assert len([1]) == 1".to_owned()])),
        tests(TestStyle::Functions(
            "from solution import area\n\ndef test_it():\n    assert area(2) == 2\n".to_owned(),
        )),
        tests(TestStyle::Check { source: "def check(c): assert c(2)".to_owned(), function: "area".to_owned() }),
    ] {
        let wanted = Wanted { entry: Entry::Tests(&code), ..ADD };
        assert!(program(&wanted, answer).contains("area"), "{code:?}");
    }
    let wanted = Wanted { entry: Entry::Source("#<INSERT>\nassert area(1) == 1"), ..ADD };
    assert!(program(&wanted, answer).contains("area"));
}

const PROMPT: &str = "from typing import List\n\n\ndef plus(a, b):\n    return a + b\n\n\ndef add(a: int, b: int) -> int:\n    \"\"\" Add by plus.\n    \"\"\"\n";
const CONTINUED: Wanted<'_> = Wanted { prompt: PROMPT, entry: Entry::Function("add"), continues: Continues::Prose };

#[test]
fn a_body_continues_the_prompt() {
    for body in [
        "    return a + b\n",
        "    return plus(a, b)",
        "    \"\"\"\n    ```\n    add(1, 2)\n    ```\n    \"\"\"\n    return a + b\n",
    ] {
        assert_eq!(found(&CONTINUED, body), (format!("{PROMPT}{body}"), Rule::Continuation));
        assert_eq!(program(&CONTINUED, &format!("<think>hm</think>\n{body}")), format!("{PROMPT}\n{body}").trim());
    }
    let prose = "    return a + b\n\nThis adds the two.";
    assert_eq!(program(&CONTINUED, prose), format!("{PROMPT}    return a + b"));
    for block in
        ["```python\n    return a + b\n```\n", "    return a + b\n```\nIt adds.", "```python\n    return a + b\n"]
    {
        assert_eq!(program(&CONTINUED, block), format!("{PROMPT}    return a + b"), "{block}");
    }
    // It was meant as code, and the judge says what is wrong with it.
    assert_eq!(found(&CONTINUED, "    return (a +\n").1, Rule::Continuation);
}

#[test]
fn a_whole_function_gets_what_the_prompt_defines_beside_it() {
    let with_helper = program(&CONTINUED, "```python\ndef add(a, b):\n    return plus(a, b)\n```\n");
    assert!(with_helper.starts_with("from typing import List\ndef plus(a, b):\n    return a + b\n"), "{with_helper}");
    assert!(with_helper.ends_with("def add(a, b):\n    return plus(a, b)") && !with_helper.contains("Add by plus"));
    let with_import = program(&CONTINUED, "def add(a: List, b):\n    return a + b\n");
    assert!(with_import.starts_with("from typing import List\n"), "{with_import}");
    for whole in [
        PROGRAM.to_owned(),
        format!("{PROMPT}    return plus(a, b)\n"),
        "from x import *\ndef add(a, b): return f(a)".to_owned(),
    ] {
        assert_eq!(program(&CONTINUED, &format!("```python\n{whole}\n```\n")), whole.trim(), "it has all that it uses");
    }
    // The future stays first, and nothing that the prompt imports is the answer.
    let future = program(
        &CONTINUED,
        "```python\nfrom __future__ import annotations\ndef add(a, b):\n    return plus(a, b)\n```\n",
    );
    assert!(future.starts_with("from __future__ import annotations\n") && future.contains("def plus"), "{future}");
    let star = Wanted {
        prompt: "from math import *\n\ndef gcd(a, b):\n    \"\"\"Its gcd.\"\"\"\n",
        entry: Entry::Function("gcd"),
        ..CONTINUED
    };
    let cheat = program(&star, "```python\nx = floor(1.5)\n```\n");
    assert!(cheat.contains("globals().pop('gcd', None)"), "{cheat}");
}

#[test]
fn a_prompt_may_end_behind_its_signature() {
    let bare = Wanted { prompt: "def seven():\n", entry: Entry::Function("seven"), continues: Continues::Prose };
    assert_eq!(program(&bare, "    return 7\n"), "def seven():\n    return 7");
    assert_eq!(program(&bare, "def seven():\n    return 7\n"), "def seven():\n    return 7");
    assert_eq!(program(&bare, "```python\ndef seven():\n    return 7\n```"), "def seven():\n    return 7");
}

#[test]
fn a_program_that_is_sent_as_one_is_looked_into_where_it_is_no_python() {
    for code in ["print(1)", "x = '''\n```python\ny\n```\n'''\n", "x = (\n", "no code", "```rust\nfn main() {}\n```"] {
        assert_eq!(program_of_code(code), code);
    }
    assert_eq!(program_of_code("So:\n```python\nprint(1)\n```\n"), "print(1)\n");
}

#[test]
fn the_span_is_where_the_program_stands_in_the_response() {
    for form in FORMS.iter().filter(|form| !form.contains("   ```")) {
        let response = form.replace("{}", PROGRAM);
        let found = extract_program(&ADD, &response).expect("a program");
        assert_eq!(response[found.span.clone()].trim(), PROGRAM.trim(), "{form}");
    }
}

#[test]
fn the_response_is_what_follows_the_prompt_whatever_tokens_either_has() {
    let response = "```python\nx = 1\n```<|im_end|>";
    let chat = "<|im_start|>user\nExample:\n```python\ny\n```<|im_end|>\n<|im_start|>assistant\n";
    let plain = "user\nExample:\n```python\ny\n```\nassistant\n";
    let llama = "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
    for (query, prompt) in [
        (format!("{chat}{response}"), chat),
        (format!("<|endoftext|><|endoftext|>{chat}{response}"), chat),
        (format!("{plain}{response}"), plain),
        (format!("{chat}{response}"), plain),
        (format!("{chat}{response}"), "Example:\n```python\ny\n```"),
        (format!("{llama}{response}"), llama),
        (format!("{llama}{response}"), "Q"),
        (format!("<s>[INST] Q [/INST]{response}"), "Q"),
        (format!("<s>Q\n{response}"), "Q"),
        (response.to_owned(), "Q"),
        (response.to_owned(), ""),
        (format!("{chat}{response}"), ""),
    ] {
        assert_eq!(response_of_query(&query, prompt).trim_start(), response, "{query:?} {prompt:?}");
    }
}

const PATCH: &str =
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";

#[test]
fn a_patch_is_found_in_every_form() {
    let fenced = "--- a/calc.py\n+++ b/calc.py\n@@ -1,3 +1,4 @@\n x = '''\n ```\n+```\n '''\n";
    for patch in [PATCH, &format!("diff --git a/calc.py b/calc.py\nindex 1234567..89abcde 100644\n{PATCH}"), fenced] {
        for form in [
            "{}",
            "```diff\n{}```",
            "The sign is wrong.\n\n```diff\n{}```\n",
            "```patch\n{}```\nDone.",
            "```\n{}```",
            "```diff\n{}",
            "{}<|im_end|>",
            "```diff\n{}```</s>",
            "<think>\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n</think>\n{}",
            "<answer>\n{}</answer>",
            "I change the sign:\n\n{}\nThat is all.",
            "\u{feff}{}",
            "```python\ny\n```\n```diff\n{}```",
        ] {
            let found = extract_patch(&form.replace("{}", patch)).expect(form);
            assert_eq!(found, patch, "{form}");
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
        for wanted in [&ADD, &SCRIPT, &CONTINUED] {
            if let Ok(found) = extract_program(wanted, &text) {
                prop_assert!(text.get(found.span.clone()).is_some());
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
