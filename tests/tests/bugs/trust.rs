//! Split trust: what decides runs with the package in an instance of its own, which has nothing of the tests. And what any trust
//! needs: all tests are run that a change could concern. The repository is `task-corpus/bug_cheats/apart`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;
use veriplay_core::{Status, Trust};
use veriplay_tests::assert_none;
use veriplay_verifier::bugs::{BugArtifact, BugProposal};
use veriplay_verifier::repository::{TestResult, run_split};

use super::cheats::cheats_of;
use super::{Bed, corpus, measured_once, replaced};

const FORMULAS: &str = "src/parcel/formulas.py";
const WEIGHTS: &str = "src/parcel/weights.py";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    bugs: BTreeMap<String, NamedBug>,
    refused: Vec<Refused>,
    repair: Vec<Repair>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedBug {
    path: String,
    old: String,
    new: String,
    tests: String,
    test: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    #[serde(default)]
    why: String,
    bug: String,
    trust: Trust,
    rule: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repair {
    #[serde(default)]
    why: String,
    bug: String,
    /// The trust under which the bug was validated, where it is another.
    made: Option<Trust>,
    trust: Trust,
    old: String,
    new: String,
    /// Any but accepted where it is left out.
    status: Option<Status>,
    rule: Option<String>,
    /// A part of the verdict's detail.
    #[serde(default)]
    detail: String,
}

static CASES: LazyLock<Cases> = LazyLock::new(|| toml::from_str(include_str!("trust.toml")).unwrap());

fn apart() -> Option<&'static Bed> {
    static BED: OnceLock<Option<Bed>> = OnceLock::new();
    measured_once(&BED, "parcel", "apart/repository")
}

fn bug(bed: &Bed, name: &str) -> BugProposal {
    let NamedBug { path, old, new, tests, test } = &CASES.bugs[name];
    let text = &bed.texts[tests];
    let from = text.find(test).unwrap_or_else(|| panic!("no `{test}` in `{tests}`"));
    let to = text[from..].find("\n\n\n").map_or(text.len(), |end| from + end + 3);
    let mut weakened = bed.texts.clone();
    weakened.insert(tests.clone(), format!("{}{}", &text[..from], &text[to..]));
    bed.bug(&bed.with(path, old, new), &weakened, tests)
}

#[test]
fn a_bug_is_refused_by_the_check_that_is_for_it() {
    let Some(bed) = apart() else { return };
    for Refused { why, bug: name, trust, rule } in &CASES.refused {
        let verdict = bed.validated(*trust, &bug(bed, name)).verdict;
        assert_eq!((verdict.status, &verdict.evidence.rule), (Status::Invalid, rule), "{name}: {why}: {verdict:?}");
    }
    let beside = bed.validated(Trust::Split, &bug(bed, "beside")).verdict.evidence.detail;
    assert!(beside.contains("`spec/checks.py` belongs to the tests"), "{beside}");
}

#[test]
fn a_repair_is_judged_by_what_it_does_where_the_package_is_alone() {
    let Some(bed) = apart() else { return };
    for Repair { why, bug: name, made, trust, old, new, status, rule, detail } in &CASES.repair {
        let artifact = bed.valid(made.unwrap_or(*trust), &bug(bed, name));
        let after = replaced(&bed.weakened(&artifact), &CASES.bugs[name].path, old, new);
        let verdict = bed.graded(*trust, &artifact, &after);
        let is_expected = status.map_or(verdict.status != Status::Accepted, |status| verdict.status == status);
        assert!(is_expected, "{name}: {why}: {status:?} expected: {verdict:?}");
        assert!(rule.as_ref().is_none_or(|rule| *rule == verdict.evidence.rule), "{name}: {why}: {verdict:?}");
        assert!(verdict.evidence.detail.contains(detail), "{name}: {why}: {verdict:?}");
    }
    assert_eq!(bed.valid(Trust::Split, &bug(bed, "deca")).fail_to_pass, ["tests/test_weights.py::test_deca"]);
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
    let repository = bed.repository(&own, &files);
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
    let run = run_split(&bed.sandbox, &bed.repository(&own, &[]), "tests/test_cases.py", None, None).unwrap();
    assert!(run.tests.len() == 3 && run.tests.iter().all(|test| test.result == TestResult::Passed), "{run:?}");
}

/// Repairs that are right beside the tests alone are refused, and honest ones of plain values are accepted however they are written.
#[test]
fn repairs_of_the_corpus_end_as_their_files_say() {
    let Some(bed) = apart() else { return };
    let mut artifacts: BTreeMap<String, BugArtifact> = BTreeMap::new();
    for (directory, is_honest) in [("repairs", false), ("honest", true)] {
        let files = cheats_of(&corpus().join("apart").join(directory));
        assert!(files.len() > 5, "{directory}");
        let faults = files.iter().filter_map(|cheat| {
            let name = cheat.bug.clone().unwrap();
            let bug = bug(bed, &name);
            let artifact = artifacts.entry(name).or_insert_with(|| bed.valid(Trust::Split, &bug));
            cheat.fault(bed, Trust::Split, artifact, is_honest)
        });
        assert_none(faults.collect());
    }
}

#[test]
fn code_that_an_encoding_uncovers_concerns_the_tests_of_its_module() {
    let Some(bed) = apart() else { return };
    let artifact = bed.valid(Trust::Split, &bug(bed, "heaviest"));
    let mut after = replaced(&bed.weakened(&artifact), WEIGHTS, "return weights[0]", "return max(weights)");
    let text = after.get_mut(WEIGHTS).unwrap();
    *text = format!("# -*- coding: raw_unicode_escape -*-\n{text}# \\u000adef lightest(weights): return 0\n");
    let verdict = bed.graded(Trust::Split, &artifact, &after);
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
}

#[test]
fn a_text_that_stops_the_parser_is_no_fault_of_the_host() {
    let Some(bed) = apart() else { return };
    let artifact = bed.valid(Trust::Split, &bug(bed, "product"));
    let chain = format!("number * int(grams)\n\n\nONES = {}1", "1+".repeat(200_000));
    let after = replaced(&bed.weakened(&artifact), WEIGHTS, "number + int(grams)", &chain);
    let verdict = bed.graded(Trust::Split, &artifact, &after);
    assert_ne!(verdict.status, Status::Accepted, "{verdict:?}");
}
