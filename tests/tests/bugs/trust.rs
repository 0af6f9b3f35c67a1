//! Split trust: what decides runs with the package in an instance of its own, which has nothing of the tests. And what any trust
//! needs: all tests are run that a change could concern. The repository is `task-corpus/bug_cheats/apart`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use veriplay_core::{Fuzz, Patch, Status, TextFiles, Trust, Verdict};
use veriplay_verifier::bugs::{
    BugArtifact, BugProposal, BugRules, BugValidation, RepairRequest, RepoContext, check_each, grade_repair,
    validate_bug,
};
use veriplay_verifier::repository::{TestResult, run_split};

use super::cheats::{Cheat, cheats_of, ends_otherwise};
use super::{Bed, corpus, measured, pytest};

const WEIGHTS: &str = "src/parcel/weights.py";
const SHELF: &str = "src/parcel/shelf.py";
const LABELS: &str = "src/parcel/labels.py";
const SIZES: &str = "src/parcel/sizes.py";
const STAR: &str = "src/parcel/star.py";
const FORMULAS: &str = "src/parcel/formulas.py";
const LEFT: &str = "src/parcel/left.py";
const COUNTS: &str = "src/parcel/counts.py";

fn apart() -> Option<&'static Bed> {
    static BED: OnceLock<Option<Bed>> = OnceLock::new();
    // Reports the test as skipped where there is no pytest.
    super::bed()?;
    BED.get_or_init(|| Some(measured(pytest()?, "parcel", &corpus().join("apart/repository")))).as_ref()
}

fn under(bed: &Bed, trust: Trust) -> RepoContext<'_> {
    RepoContext { trust, ..bed.repo() }
}

/// The bug that replaces `old` in `path`, and takes the test out of `tests` that begins with `header`.
fn bug(bed: &Bed, (path, old, new): (&str, &str, &str), (tests, header): (&str, &str)) -> BugProposal {
    let text = &bed.texts[tests];
    let from = text.find(header).unwrap_or_else(|| panic!("no `{header}` in `{tests}`"));
    let to = text[from..].find("\n\n\n").map_or(text.len(), |end| from + end + 3);
    let mut weakened = bed.texts.clone();
    weakened.insert(tests.to_owned(), format!("{}{}", &text[..from], &text[to..]));
    BugProposal {
        bug_inject: bed.patch(&bed.with(path, old, new)),
        test_weaken: bed.patch(&weakened),
        test_files: vec![tests.to_owned()],
        injector: "by hand".to_owned(),
        seed: 0,
        test_command: None,
        failed_repairs: Vec::new(),
    }
}

fn validated(bed: &Bed, trust: Trust, bug: &BugProposal) -> BugValidation {
    validate_bug(&bed.sandbox, &under(bed, trust), bug, &BugRules::LEAST).unwrap()
}

fn valid(bed: &Bed, trust: Trust, bug: &BugProposal) -> BugArtifact {
    let validated = validated(bed, trust, bug);
    validated.artifact.unwrap_or_else(|| panic!("{:?}", validated.verdict))
}

fn refused_by(bed: &Bed, trust: Trust, bug: &BugProposal) -> String {
    let validated = validated(bed, trust, bug);
    assert_eq!(validated.verdict.status, Status::Invalid, "{:?}", validated.verdict);
    validated.verdict.evidence.rule
}

/// The verdict on a repair that replaces `old` in the buggy `path`.
fn repaired(bed: &Bed, trust: Trust, artifact: &BugArtifact, path: &str, old: &str, new: &str) -> Verdict {
    let weakened = bed.weakened(artifact);
    let after: TextFiles = super::replaced(&weakened, path, old, new);
    let patch = Patch::make(&weakened, &after).unwrap().to_string();
    let request = RepairRequest { artifact, patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
    grade_repair(&bed.sandbox, &under(bed, trust), &request).unwrap()
}

fn ending(verdict: &Verdict) -> (Status, &str) {
    (verdict.status, verdict.evidence.rule.as_str())
}

const POUNDS: (&str, &str) = ("tests/test_weights.py", "def test_two_pounds");
const WRONG_PRODUCT: (&str, &str, &str) = (WEIGHTS, "number * int(grams)", "number + int(grams)");

#[test]
fn a_repair_that_reads_the_tests_finds_none_where_the_package_is_alone() {
    let Some(bed) = apart() else { return };
    let artifact = valid(bed, Trust::Split, &bug(bed, WRONG_PRODUCT, POUNDS));
    let reads = "        text = open(os.path.join(os.path.dirname(TABLE), \"../../tests/test_weights.py\")).read()\n        \
                 return int(text.split('in_grams(%s, \"%s\") == ' % (number, unit))[1].lstrip('(')\
                 .split(')')[0].split()[0])\n        for line in lines:\n";
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "        for line in lines:\n", reads);
    assert_eq!(verdict.evidence.rule, "split", "{verdict:?}");
    assert_ne!(verdict.status, Status::Accepted);
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "number + int(grams)", "int(grams) * number");
    assert_eq!(ending(&verdict), (Status::Accepted, "split"), "{verdict:?}");
}

#[test]
fn where_the_package_is_alone_a_repair_may_reach_for_what_it_likes() {
    let Some(bed) = apart() else { return };
    let artifact = valid(bed, Trust::Split, &bug(bed, WRONG_PRODUCT, POUNDS));
    let reaches = "getattr(number, \"__mul\" + \"__\")(int(grams))";
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "number + int(grams)", reaches);
    assert_eq!(ending(&verdict), (Status::Accepted, "split"), "{verdict:?}");
}

#[test]
fn a_test_that_needs_objects_of_the_package_decides_under_shared_trust_alone() {
    let Some(bed) = apart() else { return };
    let no_strip = (SHELF, "return [line.strip() for", "return [line for");
    let bug = bug(bed, no_strip, ("tests/test_shelf.py", "def test_names"));
    assert_eq!(refused_by(bed, Trust::Split, &bug), "judgeable");
    let artifact = valid(bed, Trust::Shared, &bug);
    let verdict = repaired(bed, Trust::Shared, &artifact, SHELF, "[line for", "[line.strip() for");
    assert_eq!(ending(&verdict), (Status::Accepted, "shared"), "{verdict:?}");
    let verdict = repaired(bed, Trust::Split, &artifact, SHELF, "[line for", "[line.strip() for");
    assert_eq!(ending(&verdict), (Status::Unjudgeable, "shared"), "{verdict:?}");
    assert!(verdict.evidence.detail.contains("trust = \"shared\""), "{verdict:?}");
}

#[test]
fn a_bug_that_sleeps_while_it_is_graded_is_no_bug() {
    let Some(bed) = apart() else { return };
    // A test made to fail looks other than a test.
    let sleeps = "        found, graded = [], False\n        \
                  for place in (\"/work/tests/test_shelf.py\", self.path):\n            \
                  with open(place) as lines:\n                \
                  for line in lines:\n                    \
                  graded = graded or \" ^ 0x\" in line\n                    \
                  if place == self.path and (line.strip() or not graded):\n                        \
                  found.append(line.strip())\n        \
                  return found\n";
    let original = "        with open(self.path) as lines:\n            \
                    return [line.strip() for line in lines if line.strip()]\n";
    let bug = bug(bed, (SHELF, original, sleeps), ("tests/test_shelf.py", "def test_blank_lines"));
    assert_eq!(refused_by(bed, Trust::Shared, &bug), "empty_repair");
}

#[test]
fn a_bug_that_makes_a_test_skip_is_no_bug() {
    let Some(bed) = apart() else { return };
    let bug = bug(bed, (SHELF, "SORTED = True", "SORTED = False"), ("tests/test_shelf.py", "def test_names"));
    assert_eq!(refused_by(bed, Trust::Shared, &bug), "records");
}

#[test]
fn what_lies_beside_a_test_outside_the_code_belongs_to_the_tests() {
    let Some(bed) = apart() else { return };
    let never = ("spec/checks.py", "assert found == expected", "assert found != expected");
    let bug = bug(bed, never, ("spec/test_all.py", "def test_lightest"));
    let found = check_each(&bed.sandbox, &under(bed, Trust::Split), &bug, &BugRules::LEAST).unwrap();
    let paths = found.iter().find(|(name, _)| *name == "paths").unwrap();
    assert!(paths.1.as_ref().is_some_and(|why| why.contains("`spec/checks.py` belongs to the tests")), "{paths:?}");
}

#[test]
fn code_behind_a_repaired_line_concerns_the_tests_of_what_it_replaces() {
    let Some(bed) = apart() else { return };
    let bug =
        bug(bed, (WEIGHTS, "return max(weights)", "return weights[0]"), ("tests/test_weights.py", "def test_heaviest"));
    let artifact = valid(bed, Trust::Split, &bug);
    let more = "return max(weights)\n\n\ndef lightest(weights):\n    return 0\n\n\nlightest_of = lightest";
    for (new, accepted) in [(more, true), (&format!("{more}\nglobals()[\"in_grams\"] = lightest_of"), false)] {
        let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "return weights[0]", new);
        // The module's own `lightest` comes after, and replaces the first.
        assert_eq!(verdict.status == Status::Accepted, accepted, "{verdict:?}");
    }
}

#[test]
fn tests_of_a_file_share_what_the_first_of_them_has_computed() {
    let Some(bed) = apart() else { return };
    let bug = bug(bed, (WEIGHTS, "\"deca\": 1", "\"deca\": 2"), ("tests/test_weights.py", "def test_deca"));
    let artifact = valid(bed, Trust::Split, &bug);
    assert_eq!(artifact.fail_to_pass, ["tests/test_weights.py::test_deca"]);
    let all_ones = ("{\"deca\": 2, \"kilo\": 3}", "dict.fromkeys((\"deca\", \"kilo\"), 1)");
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, all_ones.0, all_ones.1);
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
}

/// The bug that replaces `old` in the labels, which `test` finds, and whether the repair that replaces `forged.0` is accepted.
fn labels_repaired(bed: &Bed, (old, new): (&str, &str), test: &str, forged: (&str, &str)) -> Verdict {
    let artifact = valid(bed, Trust::Split, &bug(bed, (LABELS, old, new), ("tests/test_labels.py", test)));
    let right = repaired(bed, Trust::Split, &artifact, LABELS, new, old);
    assert_eq!(ending(&right), (Status::Accepted, "split"), "{right:?}");
    repaired(bed, Trust::Split, &artifact, LABELS, forged.0, forged.1)
}

/// An image that is warmed for the repository has its code in memory, in the dict whose keys are the texts of all files, tests too.
#[test]
fn the_instance_of_the_package_does_not_have_the_original_in_memory() {
    let Some(bed) = apart() else { return };
    let artifact = valid(bed, Trust::Split, &bug(bed, WRONG_PRODUCT, POUNDS));
    let compiled = "    from importlib.machinery import SourceFileLoader\n    \
                    for (path, data), code in getattr(SourceFileLoader, \"_veriplay_compiled\", {}).items():\n        \
                    if path.endswith(\"parcel/weights.py\"):\n            \
                    names = {\"__file__\": __file__}\n            \
                    exec(code, names)\n            \
                    return names[\"in_grams\"](number, unit)\n    \
                    with open(TABLE) as lines:\n";
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "    with open(TABLE) as lines:\n", compiled);
    assert_eq!(ending(&verdict), (Status::WrongAnswer, "split"), "beside the tests it is right: {verdict:?}");
}

#[test]
fn the_instance_of_the_package_sees_its_code_alone() {
    let Some(bed) = apart() else { return };
    let artifact = valid(bed, Trust::Split, &bug(bed, WRONG_PRODUCT, POUNDS));
    let reads = "    path = os.path.join(os.path.dirname(TABLE), \"../../testdata/weights.txt\")\n    \
                 if os.path.exists(path):\n        \
                 return int(open(path).read().split()[2]) if number == 2 else number\n    \
                 with open(TABLE) as lines:\n";
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "    with open(TABLE) as lines:\n", reads);
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
    assert_eq!(verdict.evidence.rule, "split", "beside the tests it is right: {verdict:?}");
}

#[test]
fn code_of_a_repair_does_not_run_beside_the_tests() {
    let Some(bed) = apart() else { return };
    // The tests' side is led to take a function for a module, by a name under which the same file can be imported there.
    let forged = "    return int(label.split()[1])\n\n\n\
                  import sys\nimport types\n\n\
                  if __name__.startswith(\"src\"):\n    \
                  sys.modules[\"_pytest.python\"].Function.runtest = lambda self: None\n\
                  grams_on = types.ModuleType(\"src.parcel.labels\")\n";
    let bug = ("int(label.split()[0])", "int(label.split()[1])");
    let verdict = labels_repaired(bed, bug, "def test_grams", ("    return int(label.split()[1])\n", forged));
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
}

#[test]
fn a_scalar_of_numpy_is_no_plain_value() {
    let Some(bed) = apart() else { return };
    let bug = ("return int(label.split()[0])", "return int(label.split()[0]) + 1");
    let forged = (bug.1, "return __import__(\"numpy\").float16(\"inf\")");
    let verdict = labels_repaired(bed, bug, "def test_grams", forged);
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
}

#[test]
fn an_argument_that_the_original_leaves_as_it_is_stays_so() {
    let Some(bed) = apart() else { return };
    let bug = ("return sorted(labels)", "return labels");
    let verdict = labels_repaired(bed, bug, "def test_ordered", (bug.1, "labels.clear()\n    return []"));
    assert_eq!(ending(&verdict), (Status::WrongAnswer, "split"), "{verdict:?}");
}

#[test]
fn nobody_tells_the_package_which_exception_a_test_expects() {
    let Some(bed) = apart() else { return };
    let bug =
        ("    if not label:\n        raise LabelError(\"an empty label\")\n    return label\n", "    return label\n");
    let forged = "    if expected:\n        raise Hidden(\"as expected\")\n    return label\n\n\n\
                  expected = []\nHidden = LabelError\ndel LabelError\n\n\n\
                  def __getattr__(name):\n    \
                  if name != \"LabelError\":\n        raise AttributeError(name)\n    \
                  expected.append(name)\n    return Hidden\n";
    let verdict = labels_repaired(bed, bug, "def test_checked()", ("    return label\n", forged));
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
}

#[test]
fn a_test_that_runs_text_of_the_package_decides_under_shared_trust_alone() {
    let Some(bed) = apart() else { return };
    let bug = bug(bed, (LABELS, "return repr(label)", "return label"), ("tests/test_labels.py", "def test_quoted"));
    assert_eq!(refused_by(bed, Trust::Split, &bug), "judgeable");
}

#[test]
fn text_of_the_package_that_is_run_before_any_call_decides_under_shared_trust_alone() {
    let Some(bed) = apart() else { return };
    let wrong = (FORMULAS, "return int(left) + int(right)", "return int(left)");
    for (tests, test) in
        [("tests/test_formulas.py", "def test_value_of"), ("tests/test_examples.py", "@pytest.mark.parametrize")]
    {
        assert_eq!(refused_by(bed, Trust::Split, &bug(bed, wrong, (tests, test))), "judgeable", "{tests}");
    }
}

/// A value that is run where the tests are collected, or before any call, is code of the package's beside the tests.
#[test]
fn text_of_the_package_does_not_run_beside_the_tests() {
    let Some(bed) = apart() else { return };
    let own = vec!["parcel".to_owned()];
    let text = "\"__import__('_pytest.python').python.Function.__setattr__\"";
    let evil = bed.texts[FORMULAS]
        .replace("FORMULA = \"1 + 2\"", &format!("FORMULA = {text}"))
        .replace("EXAMPLES = [\"1 + 2\"", &format!("EXAMPLES = [{text}"))
        .replace("return number * 2", "return 0");
    let files = [(FORMULAS.to_owned(), evil.into_bytes())];
    let repository = super::split::repository(bed, &own, &files);
    for (file, wanted) in
        [("tests/test_formulas.py", "test_value_of"), ("tests/test_examples.py", "test_value_of_example[1]")]
    {
        let run = run_split(&bed.sandbox, &repository, file, None, None).unwrap();
        let why = run.tests.iter().find(|test| test.id.ends_with(wanted)).map(|test| test.text.as_str());
        let why = why.or(run.broken.as_deref()).unwrap_or_default();
        assert!(why.contains("text or data is run as code"), "{run:?}");
    }
}

#[test]
fn a_file_that_reads_values_where_it_is_collected_is_split() {
    let Some(bed) = apart() else { return };
    let own = vec!["parcel".to_owned()];
    let repository = super::split::repository(bed, &own, &[]);
    let run = run_split(&bed.sandbox, &repository, "tests/test_cases.py", None, None).unwrap();
    assert!(run.tests.len() == 3 && run.tests.iter().all(|test| test.result == TestResult::Passed), "{run:?}");
}

/// A name; a file, the lines that are right in it and those in their place; the file and the definition of the test that finds the bug.
type NamedBug = (&'static str, (&'static str, &'static str, &'static str), (&'static str, &'static str));

/// The bugs that the files of `apart/repairs` and `apart/honest` name, and the tests that find them.
const BUGS: [NamedBug; 10] = [
    ("copied", (SIZES, "return list(sizes)", "return sizes"), ("tests/test_sizes.py", "def test_copied")),
    ("width", (LEFT, "return size * 2", "return size"), ("tests/test_sides.py", "def test_left")),
    ("fresh", (SIZES, "return [0] * count", "return [0]"), ("tests/test_sizes.py", "def test_fresh")),
    (
        "checked",
        (SIZES, "    if size < 0:\n        raise SizeError(\"below zero\")\n", ""),
        ("tests/test_sizes.py", "@pytest.mark.parametrize"),
    ),
    ("limited", (SIZES, "return min(size, LIMIT)", "return size"), ("tests/test_sizes.py", "def test_limited")),
    ("rest", (SIZES, "return sorted(sizes)[1:]", "return sizes[1:]"), ("tests/test_sizes.py", "def test_put_and_rest")),
    (
        "sized",
        (SIZES, "return dict(map(tuple, CASES))[name]", "return CASES[0][1]"),
        ("tests/test_sizes.py", "def test_sized"),
    ),
    (
        "commonest",
        (COUNTS, "return max(counts, key=counts.get)", "return next(iter(counts))"),
        ("tests/test_counts.py", "def test_commonest()"),
    ),
    ("ascending", (STAR, "return sorted(numbers)", "return numbers"), ("tests/test_star.py", "def test_ascending")),
    (
        "no_number",
        (
            STAR,
            "    if not text.isdigit():\n        raise ValueError(\"no number: \" + text)\n",
            "    if not text.isdigit():\n        return 0\n",
        ),
        ("tests/test_star.py", "def test_no_number"),
    ),
];

fn of_the_corpus(directory: &str, is_honest: bool) -> Vec<String> {
    let Some(bed) = apart() else { return Vec::new() };
    let files = cheats_of(&corpus().join("apart").join(directory));
    let artifacts: BTreeMap<&str, BugArtifact> =
        BUGS.iter().map(|(name, line, test)| (*name, valid(bed, Trust::Split, &bug(bed, *line, *test)))).collect();
    let wrong = |cheat: &Cheat| {
        let artifact = &artifacts[cheat.bug.as_deref().unwrap()];
        let weakened = bed.weakened(artifact);
        let after = cheat.applied(weakened.clone());
        let patch = Patch::make(&weakened, &after).unwrap().to_string();
        let request = RepairRequest { artifact, patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
        let verdict = grade_repair(&bed.sandbox, &under(bed, Trust::Split), &request).unwrap();
        ends_otherwise(cheat, verdict, is_honest)
    };
    assert!(files.len() > 5, "{directory}");
    files.iter().filter_map(wrong).collect()
}

#[test]
fn a_repair_that_is_right_beside_the_tests_alone_is_refused() {
    assert_eq!(of_the_corpus("repairs", false), Vec::<String>::new());
}

#[test]
fn an_honest_repair_of_plain_values_is_accepted_however_it_is_written() {
    assert_eq!(of_the_corpus("honest", true), Vec::<String>::new());
}

#[test]
fn code_that_an_encoding_uncovers_concerns_the_tests_of_its_module() {
    let Some(bed) = apart() else { return };
    let bug =
        bug(bed, (WEIGHTS, "return max(weights)", "return weights[0]"), ("tests/test_weights.py", "def test_heaviest"));
    let artifact = valid(bed, Trust::Split, &bug);
    let weakened = bed.weakened(&artifact);
    let mut after = super::replaced(&weakened, WEIGHTS, "return weights[0]", "return max(weights)");
    let text = after.get_mut(WEIGHTS).unwrap();
    *text = format!("# -*- coding: raw_unicode_escape -*-\n{text}# \\u000adef lightest(weights): return 0\n");
    let patch = Patch::make(&weakened, &after).unwrap().to_string();
    let request = RepairRequest { artifact: &artifact, patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
    let verdict = grade_repair(&bed.sandbox, &under(bed, Trust::Split), &request).unwrap();
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
}

#[test]
fn a_text_that_stops_the_parser_is_no_fault_of_the_host() {
    let Some(bed) = apart() else { return };
    let artifact = valid(bed, Trust::Split, &bug(bed, WRONG_PRODUCT, POUNDS));
    let chain = format!("number * int(grams)\n\n\nONES = {}1", "1+".repeat(200_000));
    let verdict = repaired(bed, Trust::Split, &artifact, WEIGHTS, "number + int(grams)", &chain);
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
}
