//! The probes: the shipped files, and every way one can break the format.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use veriplay_core::{Exit, LimitKind, Outcome};
use veriplay_corpus::CorpusError;
use veriplay_corpus::probes::judge::{
    Containment, ExternalExit, ExternalRun, SandboxRun, judge_external_runs, judge_sandbox_runs,
};
use veriplay_corpus::probes::{
    CLASSES, Probe, ProbeExpectation, ProbeLanguage, ProbeProgram, RunOrder, built_in_probes, find_probe_file,
    parse_probes,
};

use super::{Change, assert_refused};

const GOOD: &str = "# Title\n\nProse.\n\n```toml\nexpect = \"trapped\"\nkind = \"protocol\"\nruns = 2\n\n[limits]\nfuel_millions = 3\n```\n\n```python\nprint(1)\n```\n";

const CASES: &[Change] = &[
    ("# Title", "Title", 1, "no title"),
    ("Prose.\n", "", 1, "no prose"),
    ("```python", "```rust", 14, "a block of kind `rust`"),
    ("```python\nprint(1)\n```\n", "", 1, "no program"),
    ("print(1)\n```\n", "print(1)\n", 14, "is not closed"),
    ("```python\n", "```toml\n```\n```python\n", 14, "a second ```toml block"),
    ("```python\nprint(1)\n```\n", "```python\n```\n```wat\n```\n", 16, "a module and another program"),
    ("```python", "```javascript", 14, "a program of `javascript` among those of `python`"),
    ("\"trapped\"", "\"slept\"", 6, "did not match any variant"),
    ("kind", "kinds", 7, "unknown field `kinds`"),
    ("runs = 2", "escapes_unsandboxed = true", 5, "`escapes_unsandboxed` is for language-level probes"),
    ("\"trapped\"", "\"contained\"", 5, "`kind` without an ending"),
    ("kind = \"protocol\"\nruns = 2", "honest = true", 5, "`honest` without a program before"),
    ("expect = \"trapped\"\nkind = \"protocol\"\nruns = 2", "expect = \"same\"", 5, "`same` compares runs"),
    ("runs = 2", "runs = 1", 5, "out of range"),
    ("runs = 2", "runs = 2\nat_once = 2", 5, "both `at_once` and `runs`"),
    ("runs = 2", "language_level = true\nentry = \"f\"", 5, "a called function is not a language-level probe"),
    ("fuel_millions", "fuel", 11, "unknown field `fuel`"),
];

fn read_in(folder: &str, text: &str) -> Result<Vec<Probe>, CorpusError> {
    parse_probes("(a)\n;; part turn\n(b)\n;; part end\n(c)\n", &[(&format!("{folder}/one.md"), text)])
}

#[test]
fn a_whole_file_is_read() {
    let probes = read_in("channel", GOOD).unwrap();
    let [probe] = &probes[..] else { panic!("{probes:?}") };
    assert_eq!(
        (probe.id().as_str(), probe.title.as_str(), probe.statement.as_str()),
        ("channel/one", "Title", "Prose.")
    );
    assert_eq!((probe.order, probe.limits.fuel), (RunOrder::Repeated(2), 3_000_000));
    assert!(matches!(&probe.expect, ProbeExpectation::Ends(_, Some(kind)) if kind == "protocol"));
    assert_eq!(probe.program, ProbeProgram::Programs(ProbeLanguage::Python, vec!["print(1)\n".to_owned()]));
}

#[test]
fn a_module_gets_the_prelude_but_for_what_it_exports_itself_and_its_imports_come_first() {
    let module = |fields: &str| {
        let text = GOOD.replace("```python\nprint(1)\n", &format!("```wat\n{fields}\n"));
        match read_in("channel", &text).unwrap().remove(0).program {
            ProbeProgram::Module(text) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        module("(x)\n(import \"y\")"),
        "(module\n(import \"y\")\n(a)\n;; part turn\n(b)\n;; part end\n(c)\n(x)\n)\n"
    );
    let own = module("(func (export \"turn\"))");
    assert!(!own.contains("(b)") && own.contains("(c)"), "{own}");
}

#[test]
fn every_broken_file_is_refused_with_its_line() {
    assert_refused(GOOD, CASES, |text| read_in("channel", text));
    let error = read_in("chanel", GOOD).unwrap_err().to_string();
    assert!(error.contains("there is no class `chanel`"), "{error}");
}

#[test]
fn a_folder_has_the_language_of_its_blocks() {
    let text = GOOD.replace("```python", "```javascript");
    let probe = read_in("javascript/channel", &text).unwrap().remove(0);
    assert_eq!(probe.id(), "channel/one");
    assert_eq!(probe.program, ProbeProgram::Programs(ProbeLanguage::JavaScript, vec!["print(1)\n".to_owned()]));
    for (text, said) in [
        (GOOD.to_owned(), "a program of `python` among those of `javascript`"),
        (GOOD.replace("```python", "```wat"), "a program of `wat` among those of `javascript`"),
        (text.replace("runs = 2", "language_level = true"), "a language-level probe is not in Python"),
    ] {
        let error = read_in("javascript/channel", &text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_program_that_is_a_module_has_no_channel_and_a_whole_one_is_left_as_it_is() {
    let prelude = "(a)\n;; part frame\n(b)\n;; part _start\n(c)\n";
    let module = |folder: &str, fields: &str| {
        let text = GOOD.replace("```python\nprint(1)\n", &format!("```wat\n{fields}\n"));
        parse_probes(prelude, &[(&format!("{folder}/one.md"), &text)]).unwrap().remove(0).program
    };
    let of_wasm = |text: &str| ProbeProgram::Programs(ProbeLanguage::Wasm, vec![text.to_owned()]);
    assert_eq!(module("wasm/channel", "(x)"), of_wasm("(module\n\n(a)\n;; part _start\n(c)\n(x)\n)\n"));
    assert_eq!(module("wasm/channel", "(module)"), of_wasm("(module)\n"));
    let of_python = ProbeProgram::Module("(module\n\n(a)\n;; part frame\n(b)\n(x)\n)\n".to_owned());
    assert_eq!(module("channel", "(x)"), of_python);
}

#[test]
fn a_probe_has_one_file_whatever_its_language() {
    let mut languages = BTreeMap::new();
    for language in ProbeLanguage::ALL {
        for probe in language.probes() {
            let file = find_probe_file(&probe.id());
            let is_in_folder = file.starts_with(&format!("{}/", language.name()));
            assert_eq!(is_in_folder, language != ProbeLanguage::Python, "{file}");
            assert_eq!(languages.insert(probe.id(), language.name()), None, "`{}` is in two languages", probe.id());
        }
    }
}

#[test]
fn the_readme_names_every_class() {
    assert!(built_in_probes("cobol").is_none());
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/probes/README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for class in CLASSES.iter() {
        assert!(readme.contains(&format!("| `{}` |", class.name)), "the README has no row for `{}`", class.name);
    }
}

#[test]
fn no_two_probes_are_the_same() {
    for probes in ProbeLanguage::ALL.map(ProbeLanguage::probes) {
        let titles: BTreeSet<&str> = probes.iter().map(|probe| probe.title.as_str()).collect();
        assert_eq!(titles.len(), probes.len(), "two probes have one title");
    }
}

/// A probe whose `toml` block says this.
fn asking(toml: &str) -> Probe {
    let text = format!("# T\n\nProse.\n\n```toml\n{toml}\n```\n\n```python\n```\n");
    read_in("cpu", &text).unwrap().remove(0)
}

fn outcome(exit: Exit, stdout: &str) -> Outcome {
    Outcome { stdout: stdout.as_bytes().to_vec(), ..Outcome::new(exit) }
}

const OUT_OF_FUEL: Exit = Exit::Exceeded { limit: LimitKind::Fuel, allowed: 1, used: 1 };

#[test]
fn what_is_said_last_by_a_whole_run_and_the_ending_that_was_asked_for_count_as_contained() {
    use Containment::{Contained, Escaped, Unclear};
    let (fuel, stopped) = ("expect = \"fuel_exhausted\"", "expect = \"stopped\"");
    for (toml, exit, stdout, expected) in [
        ("", Exit::Returned, "contained: x\n", Contained),
        ("", Exit::Returned, "noise\ncontained: x\n\n", Contained),
        ("", Exit::Returned, "contained: x\nnoise\n", Unclear),
        ("", Exit::Returned, "contained: x\nescaped: y\n", Escaped),
        ("", Exit::Trapped, "escaped: y\n", Escaped),
        ("", Exit::Trapped, "contained: x\n", Unclear),
        ("", Exit::Returned, "", Unclear),
        (fuel, OUT_OF_FUEL, "contained: never\n", Contained),
        (fuel, Exit::Returned, "contained: yes\n", Unclear),
        (fuel, OUT_OF_FUEL, "escaped: first\n", Escaped),
        (stopped, Exit::Trapped, "", Contained),
        (stopped, Exit::Returned, "contained: x\n", Unclear),
    ] {
        let run = SandboxRun::Outcome(Box::new(outcome(exit.clone(), stdout)));
        assert_eq!(judge_sandbox_runs(&asking(toml), &[run]).verdict, expected, "{toml} {exit:?} {stdout:?}");
    }
}

#[test]
fn an_outcome_beyond_its_limits_or_a_host_fault_is_an_escape_whatever_was_said() {
    let probe = asking("[limits]\noutput_kib = 1");
    let clear = outcome(Exit::Returned, "contained: x\n");
    let judged = |probe: &Probe, runs: &[SandboxRun]| judge_sandbox_runs(probe, runs).verdict;
    let ran = |outcome: Outcome| SandboxRun::Outcome(Box::new(outcome));
    assert_eq!(judged(&probe, &[ran(clear.clone())]), Containment::Contained);
    for beyond in [
        Outcome { fuel: u64::MAX, ..clear.clone() },
        Outcome { peak_memory_bytes: u64::MAX, ..clear.clone() },
        Outcome { stderr: vec![0; 1025], ..clear.clone() },
    ] {
        assert_eq!(judged(&probe, &[ran(beyond)]), Containment::Escaped);
    }
    assert_eq!(judged(&probe, &[SandboxRun::Fault("broken".to_owned()), ran(clear)]), Containment::Escaped);
    let refused = [SandboxRun::Refused("no".to_owned())];
    assert_eq!(judged(&probe, &refused), Containment::Unclear);
    assert_eq!(judged(&asking("expect = \"refused\""), &refused), Containment::Contained);
    assert_eq!(judged(&probe, &[]), Containment::Unclear);
}

#[test]
fn runs_elsewhere_are_judged_by_their_words_and_by_who_ended_them() {
    use Containment::{Contained, Escaped, Unclear};
    let killed = ExternalExit::Stopped("signal 9".to_owned());
    let failed = ExternalExit::Failed("no".to_owned());
    let (exited, hangs) = (ExternalExit::Exited, ExternalExit::StillRunning(30));
    let (memory, same) = ("expect = \"memory_exceeded\"", "expect = \"same\"\nruns = 2");
    for (toml, stdout, ended, expected) in [
        ("", "contained: x", exited(0), Contained),
        ("", "contained: x", exited(1), Unclear),
        ("", "", exited(0), Unclear),
        ("", "escaped: x", killed.clone(), Escaped),
        ("", "", failed.clone(), Unclear),
        (memory, "", killed, Contained),
        (memory, "", exited(1), Contained),
        (memory, "", exited(0), Unclear),
        (memory, "", failed, Unclear),
        ("expect = \"fuel_exhausted\"", "", hangs.clone(), Escaped),
        ("", "contained: x", hangs.clone(), Unclear),
        ("", "escaped: x", hangs.clone(), Escaped),
        (memory, "", hangs, Unclear),
        (same, "1", exited(0), Contained),
        (same, "", exited(0), Unclear),
    ] {
        let run = ExternalRun { stdout: stdout.to_owned(), stderr: String::new(), ended };
        let runs = [run.clone(), run];
        assert_eq!(judge_external_runs(&asking(toml), &runs).verdict, expected, "{toml} {runs:?}");
    }
}
