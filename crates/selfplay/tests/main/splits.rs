//! The guard of splits: what counts as one program, what set-up refuses, and what it says.

use proptest::prelude::*;
use veriplay_core::{Digest, JAVASCRIPT};
use veriplay_python::fingerprint::{functions, program_fingerprint};
use veriplay_selfplay::splits::{EvalSet, Guard, HELD_OUT, Overlap, text_fingerprint};

/// The program that adds `n`.
fn adds(n: i64) -> String {
    format!("def f(x):\n    return x + {n}")
}

const SUM: &str = "def total(xs):\n    result = 0\n    for x in xs:\n        result += x\n    return result\n";

/// Pairs of programs, a line each.
fn pairs(lines: &str) -> impl Iterator<Item = [String; 2]> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn layout_comments_docstrings_quotes_annotations_and_names_of_variables_do_not_make_another_program() {
    for [one, other] in pairs(include_str!("same_programs.jsonl")) {
        assert_eq!(program_fingerprint(&one), program_fingerprint(&other), "{one}\n{other}");
    }
}

#[test]
fn programs_of_a_language_that_is_not_parsed_are_compared_by_their_tokens() {
    let mut guard = Guard::of_scanned(&JAVASCRIPT);
    guard.add_program(EvalSet::HeldOut, "task 1", "function f(x) { return x + 1; }");
    let is_refused = |program: &str| guard.refuse_programs([program]).is_some();
    assert!(is_refused("function f(x) {\n  return x+1; // one more\n}\n"));
    assert!(is_refused("function f(y) { return y + 1; }"));
    for other in ["function f(x) { return x + 2; }", "function f(x) { return y + 1; }", "def f(x):\n    return x + 1"] {
        assert!(!is_refused(other), "{other}");
    }
}

#[test]
fn what_a_program_computes_is_in_its_fingerprint() {
    for [one, other] in pairs(include_str!("other_programs.jsonl")) {
        assert_ne!(program_fingerprint(&one), program_fingerprint(&other), "{one}\n{other}");
    }
}

#[test]
fn functions_are_found_where_they_are_and_short_ones_are_nobodys() {
    let module = format!(
        "import os\n\n@cache\n{SUM}\nclass A:\n    def each(self, f):\n        def inner(x): return f(x) + 1\n        return map(inner, self)\n    def __iter__(self):\n        return self\n\nx = 'def no(y):\\n    return y + y'\n"
    );
    let found: Vec<String> = functions(&module).into_iter().map(|function| function.name).collect();
    assert_eq!(found, ["total", "each", "inner"]);
    assert_eq!(functions(&module)[0].fingerprint, program_fingerprint(SUM));
    assert_eq!(functions(&module)[2].fingerprint, program_fingerprint("def g(y):\n    return f(y) + 1"));
}

fn guard() -> Guard {
    let mut guard = Guard::default();
    guard.add_program(EvalSet::HeldOut, "task 7", SUM);
    guard.add_text(EvalSet::Validation, "problem 3", "Add 3 to x.");
    let code = [("src/one.py", "def one(a):\n    return a * a + 1\n\n\ndef same(a):\n    return a\n")];
    guard.add_repository(EvalSet::HeldOut, "one", &Digest::of(b"one"), code);
    guard
}

#[test]
fn an_overlap_names_the_item_both_sets_and_what_to_do() {
    let guard = guard();
    let told = |refused: Result<(), Overlap>| refused.unwrap_err().to_string();
    assert_eq!(
        told(guard.check_program("`tasks.snippets`", "snippet 4", &SUM.replace("result", "sum_"))),
        "snippet 4 of `tasks.snippets` contains a program of the held_out set: `total` of task 7"
    );
    assert_eq!(
        told(guard.check_program("seeds", "seed 1", "import os\n\ndef two(b):\n    return b * b + 1")),
        "seed 1 of seeds contains a function of the held_out set: `one` of `one/src/one.py`"
    );
    assert_eq!(
        told(guard.check_text("given", "task 2", "add 3  to x")),
        "task 2 of given contains a text of the validation set: problem 3"
    );
    assert_eq!(
        told(guard.check_repository("training", "`two`", &Digest::of(b"one"))),
        "`two` of training contains a repository of the held_out set: repository `one`"
    );
    assert!(Overlap::HINT.starts_with("remove it from one of the two"));
    assert_eq!(guard.check_program("seeds", "1", "def same(b):\n    return b"), Ok(()), "too short to be anybody's");
    assert_eq!(guard.check_program("seeds", "1", &adds(3)), Ok(()));
    assert_eq!(guard.check_text("given", "1", "add 4 to x"), Ok(()));
    assert_eq!(guard.check_repository("training", "1", &Digest::of(b"two")), Ok(()));
}

#[test]
fn texts_that_differ_in_layout_alone_are_one() {
    let same = ["Add 3 to x.", "add 3  to x", "add 3, to\nx!"];
    assert!(same.iter().all(|text| text_fingerprint(text) == text_fingerprint(same[0])));
    let others = ["add -3 to x", "add 3 to y", "add 33 to x", "add x to 3"];
    assert!(others.iter().all(|text| text_fingerprint(text) != text_fingerprint(same[0])));
}

/// Texts are a policy's, and recursion over their trees must not end the process.
#[test]
fn nesting_without_end_has_a_fingerprint() {
    let deep = |open: &str, middle: &str, close: &str| {
        for count in [50, 1_500, 15_000, 200_000] {
            let text = format!("x = {}{middle}{}\n", open.repeat(count), close.repeat(count));
            assert_eq!(program_fingerprint(&text), program_fingerprint(&format!("{text}\n\n")), "{open} {count}");
            assert_eq!(functions(&text), []);
        }
    };
    deep("(", "1", ")");
    deep("[", "", "]");
    deep("f(", "", ")");
    deep("-", "1", "");
    deep("not ", "1", "");
    deep("lambda: ", "1", "");
    deep("1 if 2 else ", "3", "");
    deep("", "a", ".b");
    deep("", "a", "()");
    deep("", "a", "[0]");
    deep("1 % ", "1", "");
    deep("a or ", "b", "");
    deep("f'{", "1", "}'");
    deep("f\"{", "1", "}\"");
    let blocks: String = (0..3_000).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
    assert_eq!(functions(&blocks), []);
}

#[test]
fn layout_hides_no_function_and_what_nests_too_deep_is_refused() {
    let mut guard = Guard::default();
    guard.add_program(EvalSet::HeldOut, "sum", SUM);
    let blank = SUM.replace("\n    for", &format!("\n{}\n    for", " ".repeat(30_000)));
    let comment = SUM.replace("\n    for", &format!("\n{}# so far\n    for", " ".repeat(30_000)));
    let wide = SUM.replace("\n    ", &format!("\n{}", " ".repeat(30_000)));
    let beside = format!("{SUM}x = {}1\n", "1 + ".repeat(5_000));
    for program in [&blank, &comment, &wide, &beside] {
        assert!(guard.find_program(program).is_some(), "{}", &program[..60]);
    }
    let refused = guard.refuse_programs([format!("{SUM}x = {}''\n", "'' ".repeat(30_000)).as_str()]).unwrap();
    assert_eq!(refused.evidence.rule, HELD_OUT);
    assert!(refused.evidence.detail.contains("too deep"), "{refused:?}");
    assert_eq!(guard.refuse_programs(["x = 1 + 2 + 3\n"]), None);
}

/// Programs, and texts in each whose replacement changes what it computes.
const SAMPLES: [(&str, &[(&str, &str)]); 4] = [
    (
        "def f(x, y):\n    total = 0\n    for item in x:\n        if item > y:\n            total += item\n        elif item < 0:\n            continue\n        y = total\n    return total\n",
        &[("total = 0", "total = 1"), ("+=", "-="), ("continue", "break"), ("return total", "return y")],
    ),
    (
        "import math\ndef g(x):\n    if x < 0:\n        raise ValueError('negative')\n    while x > 9:\n        x = math.sqrt(x)\n    return f'{x}:{math.pi:.2f}'\n",
        &[
            ("math.sqrt", "math.exp"),
            ("'negative'", "'positive'"),
            (":.2f", ""),
            ("import math", "import cmath as math"),
        ],
    ),
    (
        "class Box:\n    def up(self, v):\n        if v:\n            self.v = v\n            return\n        self.v = v * 2\n    def down(self):\n        try:\n            return self.v\n        except AttributeError:\n            return 0\n        finally:\n            print(self)\n",
        &[("            return\n", ""), ("v * 2", "2 * v"), ("return 0", "return 1"), ("print(self)", "print()")],
    ),
    (
        "def h(n):\n    with n:\n        for k in n:\n            if k:\n                break\n            yield k\n    def inner():\n        nonlocal n\n        n = 1\n    match n:\n        case 1:\n            return inner\n        case _:\n            n()\n",
        &[("break", "pass"), ("yield k", "yield n"), ("n = 1", "n = 2"), ("case 1", "case 2"), ("nonlocal n", "pass")],
    ),
];

/// Statements of one line that do nothing.
const IDLE: [&str; 13] = [
    "pass", "0", "...", "'text' 'more'", "f'note' ''", "-1", "(1, [2.5, None])", "zz: int", "b'' b'x'", "if 0: pass",
    "assert True", "while False: 1", "f'{3}'",
];

/// Adds a part that does nothing at a line of a program, in one of four ways where it may stand there.
fn with_idle_part(program: &str, way: usize, place: usize, idle: &str) -> String {
    let mut lines: Vec<String> = program.lines().map(str::to_owned).collect();
    let at = place % lines.len();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (column, text) = (indent(&lines[at]), lines[at].trim_start().to_owned());
    let margin = " ".repeat(column);
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let joins = |line: &str| starts(line, &["else", "elif", "except", "finally", "case"]);
    match way {
        0 if !joins(&text) => lines.insert(at, format!("{margin}{idle}")),
        1 if starts(&text, &["return", "raise", "break", "continue"]) => {
            lines.insert(at + 1, format!("{margin}{idle}"))
        }
        2 if starts(&text, &["if", "for", "while"]) => {
            let end = (at + 1..lines.len()).find(|&line| indent(&lines[line]) <= column).unwrap_or(lines.len());
            let joined = lines.get(end).is_some_and(|line| indent(line) == column && joins(line));
            if !joined {
                lines.insert(end, format!("{margin}else: {}", if idle.contains(':') { "pass" } else { idle }));
            }
        }
        3 => {
            if let Some((name, value)) = text.split_once(" = ")
                && name.chars().all(char::is_alphabetic)
                && !program.contains("nonlocal")
            {
                lines[at] = format!("{margin}{name}: 'list[int]' = {value}");
            } else if text.starts_with("def ") {
                lines[at] = lines[at].replace("):", ") -> dict[str, int]:");
            }
        }
        _ => {}
    }
    format!("{}\n", lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn parts_that_do_nothing_keep_the_fingerprint_and_hide_no_change(
        sample in 0..SAMPLES.len(),
        parts in prop::collection::vec((0..4_usize, 0..64_usize, 0..IDLE.len()), 0..12),
    ) {
        let (plain, changes) = SAMPLES[sample];
        let pad = |program: &str| {
            parts.iter().fold(program.to_owned(), |text, &(way, place, idle)| with_idle_part(&text, way, place, IDLE[idle]))
        };
        let padded = pad(plain);
        prop_assert_eq!(program_fingerprint(plain), program_fingerprint(&padded), "{}", padded);
        let fingerprints = |program: &str| functions(program).into_iter().map(|found| found.fingerprint).collect::<Vec<_>>();
        prop_assert_eq!(fingerprints(plain), fingerprints(&padded), "{}", padded);
        for (from, to) in changes {
            let changed = pad(&plain.replacen(from, to, 1));
            prop_assert_ne!(program_fingerprint(plain), program_fingerprint(&changed), "{}", changed);
        }
    }

    #[test]
    fn any_text_has_a_fingerprint(text in "(def |class |lambda |for |in |f'|\"|'''|\\{|\\}|\\(|\\)|:|;|=|,|\\*|->|é|\\\\|\n|    |[a-c]|[0-9]|#|\\.){0,40}") {
        prop_assert_eq!(program_fingerprint(&text), program_fingerprint(&format!("# a remark\n\n{text}")));
        let _ = functions(&text);
    }
}
