//! Every way a grammar file can be wrong is refused with its place, its key and a hint.

use veriplay_corpus::{CorpusError, Grammar};

const TINY: &str = include_str!("../../../../task-corpus/tiny/grammar.toml");

/// (what stands in the file, what replaces it, key, words of the problem). The error must point at the line of the
/// replacement.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("schema_version = 1", "schema_version = 2", "schema_version", "`2`"),
    ("[placeholders]\nc =", "[placeholders]\ncc = 1\nc =", "placeholders", "unknown field `cc`"),
    ("s = \"abcdexyz\"", "s = 4", "placeholders.s", "invalid type"),
    ("s = \"abcdexyz\"", "s = \"\"", "placeholders.s", "``"),
    ("range = [0, 12]", "range = [12, 0]", "inputs.int.range", "`[12, 0]`"),
    ("letters = \"abcde\"", "letters = \"a'b\"", "inputs.str.letters", "`a'b`"),
    ("[families.one]\nstatements = 1", "[families.one]\nstatements = 0", "families.one.statements", "`0`"),
    ("if = 0.16", "if = 1.6", "families.four.if", "`1.6`"),
    ("for = 0.08", "for = 0.9", "families.four", "is not a chance"),
    ("for = 0.08", "while = 0.9", "families.four", "unknown field `while`"),
    ("multi = { two = 0.50", "multi = { twwo = 0.50", "mixes.multi", "`twwo`"),
    ("multi = { two = 0.50, three = 0.30, four = 0.20 }", "multi = { two = 0.0 }", "mixes.multi", "sum to nothing"),
    ("[split.default]", "[split.others]", "split", "`default` is missing"),
    ("[split.one]", "[split.eleven]", "split.eleven", "there is no family `eleven`"),
    ("held_out = 0.08", "held_out = 0.95", "split.one", "is not a chance"),
    ("count = [2, 3]", "count = [0, 3]", "loops.count", "`[0, 3]`"),
    ("limit = 84", "limit = 2", "fragments.limit", "`2`"),
    ("[\", \", ", "[\"\", ", "fragments.always", "`` is not a fragment"),
    ("int = [\n    { text = \"x + i\"", "ints = [\n    { text = \"x + i\"", "loop_ops.ints", "there is no type `ints`"),
    ("say = [\"add {c}\"", "say = [\"add {d}\"", "ops.int -> int[0].say", "the template has no `{d}`"),
    ("say = [\"add {c}\"", "say = [\"\"", "ops.int -> int[0].say", "`` are not words"),
    ("\"int -> int\"", "\"int - int\"", "ops.int - int", "is not a signature"),
    ("\"int -> str\"", "\"int -> bytes\"", "ops", "nothing starts from `bytes`"),
    ("{ text = \"x // {c}\"", "{ text = \"x // {k}\"", "ops.int -> int[6].text", "`{k}`"),
    ("{ text = \"x // {c}\"", "{ text = \"x // {c\"", "ops.int -> int[6].text", "placeholder"),
    ("{ text = \"x // {c}\"", "{ text = \"x // 2\"", "ops.int -> int[6].c", "has no `{c}`"),
    ("{ text = \"x // {c}\"", "{ text = \"7 // {c}\"", "ops.int -> int[6].text", "does not use `x`"),
    ("{ text = \"x // {c}\"", "{ text = \"i // x + {c}\"", "ops.int -> int[6].text", "`i` is not defined"),
    ("c = [2, 4], weight = 1.2", "c = [4, 2], weight = 1.2", "ops.int -> int[6].c", "`[4, 2]`"),
    ("c = [2, 4], weight = 1.2", "c = [2, 4], weight = nan", "ops.int -> int[6].weight", "`NaN`"),
    ("c = [2, 4], weight = 1.2", "c = [2, 4], wieght = 1.2", "ops.int -> int", "unknown field `wieght`"),
    (
        "\"strs -> int\" = [{ text = \"len(x)\", say = [\"its length\", \"how many\"], weight = 0.8 }]",
        "\"strs -> int\" = []",
        "ops.strs -> int",
        "sum to nothing",
    ),
];

fn refuse(text: &str) -> CorpusError {
    Grammar::parse(text, "my.toml").expect_err("it must be refused")
}

/// Lines of `text`, from 1, that `part` begins on or spans.
fn lines_of(text: &str, part: &str) -> std::ops::RangeInclusive<usize> {
    let first = text[..text.find(part).unwrap()].matches('\n').count() + 1;
    first..=first + part.matches('\n').count()
}

#[test]
fn every_mistake_is_reported_with_line_key_value_and_hint() {
    for (old, new, key, problem) in CASES {
        let text = TINY.replacen(old, new, 1);
        assert_ne!(text, TINY, "`{old}` is not in the file");
        let error = refuse(&text);
        let CorpusError::Grammar { line, column, key: found, problem: said, .. } = &error else { panic!("{error}") };
        assert!(found.starts_with(key), "{new}: key `{found}`, not `{key}`: {error}");
        assert!(said.contains(problem), "{new}: {error}");
        let section = key.starts_with("inputs.")
            || matches!(*key, "split" | "ops" | "loops.count" | "split.one")
            || key.starts_with("fragments.");
        assert!(section || lines_of(&text, new).contains(line) || key.starts_with("families."), "{new}: {error}");
        assert!(*column >= 1 && error.to_string().starts_with(&format!("my.toml:{line}:{column}: ")), "{error}");
        assert!(error.to_string().contains("\nhint: "), "{error}");
    }
}

#[test]
fn the_column_points_at_the_value() {
    let text = TINY.replacen("schema_version = 1", "schema_version = 9", 1);
    let CorpusError::Grammar { line, column, .. } = refuse(&text) else { panic!("another error") };
    let expected = text.lines().nth(line - 1).unwrap().find('9').unwrap() + 1;
    assert_eq!(column, expected);
}

#[test]
fn bad_syntax_and_a_missing_section_are_reported_too() {
    let error = refuse("schema_version = = 1").to_string();
    assert!(error.starts_with("my.toml:1:"), "{error}");
    let error = refuse("schema_version = 1").to_string();
    assert!(error.contains("missing field `placeholders`"), "{error}");
}

#[test]
fn the_embedded_file_is_right() {
    let grammar = Grammar::parse(TINY, "task-corpus/tiny/grammar.toml").unwrap();
    assert_eq!(grammar.families().collect::<Vec<_>>(), ["four", "one", "three", "two"]);
    assert_eq!(grammar.mixes().collect::<Vec<_>>(), ["multi", "natural", "warmup"]);
    assert_eq!(grammar.fragments(), Grammar::built_in().fragments());
}
