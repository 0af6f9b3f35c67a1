//! The probes: the shipped files, and every way one can break the format.

use std::collections::BTreeSet;
use std::path::Path;

use veriplay_core::{Exit, LimitKind, Outcome};
use veriplay_corpus::CorpusError;
use veriplay_corpus::probes::judge::{
    Containment, ExternalExit, ExternalRun, SandboxRun, judge_external_runs, judge_sandbox_runs,
};
use veriplay_corpus::probes::{
    CLASSES, Probe, ProbeExpectation, ProbeProgram, RunOrder, built_in_probes, parse_probes,
};

const GOOD: &str = "# Title\n\nProse.\n\n```toml\nexpect = \"trapped\"\nkind = \"protocol\"\nruns = 2\n\n[limits]\nfuel_millions = 3\n```\n\n```python\nprint(1)\n```\n";

/// (what stands in the good file, what replaces it, line of the error, words of it).
const CASES: &[(&str, &str, usize, &str)] = &[
    ("# Title", "Title", 1, "no title"),
    ("Prose.\n", "", 1, "no prose"),
    ("```python", "```rust", 14, "a block of kind `rust`"),
    ("```python\nprint(1)\n```\n", "", 1, "no program"),
    ("print(1)\n```\n", "print(1)\n", 14, "is not closed"),
    ("```python\n", "```toml\n```\n```python\n", 14, "a second ```toml block"),
    ("```python\nprint(1)\n```\n", "```python\n```\n```wat\n```\n", 16, "a module and another program"),
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
    assert_eq!(probe.program, ProbeProgram::Python(vec!["print(1)\n".to_owned()]));
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
    for (old, new, line, words) in CASES {
        let text = GOOD.replacen(old, new, 1);
        assert_ne!(text, GOOD, "`{old}` is not in the file");
        let error = read_in("channel", &text).expect_err(words).to_string();
        assert!(error.contains(words) && error.contains(&format!("one.md:{line}: ")), "{words} at {line}: {error}");
        assert!(error.contains("\nhint: "), "{error}");
    }
    let error = read_in("chanel", GOOD).unwrap_err().to_string();
    assert!(error.contains("there is no class `chanel`"), "{error}");
}

#[test]
fn the_readme_names_every_class() {
    assert!(built_in_probes("cobol").is_none());
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/probes/README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for class in CLASSES {
        assert!(readme.contains(&format!("| `{}` |", class.name)), "the README has no row for `{}`", class.name);
    }
}

#[test]
fn no_two_probes_are_the_same() {
    let probes = built_in_probes("python").unwrap();
    let titles: BTreeSet<&str> = probes.iter().map(|probe| probe.title.as_str()).collect();
    assert_eq!(titles.len(), probes.len(), "two probes have one title");
}

/// What a probe that asks for `toml` means by a run that ended so and printed this.
fn judged(toml: &str, exit: Exit, stdout: &str) -> Containment {
    judge_sandbox_runs(&asking(toml), &[SandboxRun::Outcome(Box::new(outcome(exit, stdout)))]).verdict
}

fn asking(toml: &str) -> Probe {
    let text = format!("# T\n\nProse.\n\n```toml\n{toml}\n```\n\n```python\n```\n");
    read_in("cpu", &text).unwrap().remove(0)
}

fn outcome(exit: Exit, stdout: &str) -> Outcome {
    Outcome { stdout: stdout.as_bytes().to_vec(), ..Outcome::new(exit) }
}

const OUT_OF_FUEL: Exit = Exit::Exceeded { limit: LimitKind::Fuel, allowed: 1, used: 1 };

#[test]
fn only_what_is_said_last_and_by_a_whole_run_counts_as_contained() {
    use Containment::{Contained, Escaped, Unclear};
    for (exit, stdout, expected) in [
        (Exit::Returned, "contained: x\n", Contained),
        (Exit::Returned, "noise\ncontained: x\n\n", Contained),
        (Exit::Returned, "contained: x\nnoise\n", Unclear),
        (Exit::Returned, "contained: x\nescaped: y\n", Escaped),
        (Exit::Trapped, "escaped: y\n", Escaped),
        (Exit::Trapped, "contained: x\n", Unclear),
        (Exit::Returned, "", Unclear),
    ] {
        assert_eq!(judged("", exit.clone(), stdout), expected, "{exit:?} {stdout:?}");
    }
}

#[test]
fn an_ending_counts_only_where_it_is_the_one_that_was_asked_for() {
    use Containment::{Contained, Escaped, Unclear};
    let toml = "expect = \"fuel_exhausted\"";
    assert_eq!(judged(toml, OUT_OF_FUEL, "contained: never\n"), Contained);
    assert_eq!(judged(toml, Exit::Returned, "contained: yes\n"), Unclear);
    assert_eq!(judged(toml, OUT_OF_FUEL, "escaped: first\n"), Escaped);
    assert_eq!(judged("expect = \"stopped\"", Exit::Trapped, ""), Contained);
    assert_eq!(judged("expect = \"stopped\"", Exit::Returned, "contained: x\n"), Unclear);
}

#[test]
fn an_outcome_beyond_its_limits_or_a_host_fault_is_an_escape_whatever_was_said() {
    let probe = asking("[limits]\noutput_kib = 1");
    let clear = outcome(Exit::Returned, "contained: x\n");
    let verdict = |run: Outcome| judge_sandbox_runs(&probe, &[SandboxRun::Outcome(Box::new(run))]).verdict;
    assert_eq!(verdict(clear.clone()), Containment::Contained);
    assert_eq!(verdict(Outcome { fuel: u64::MAX, ..clear.clone() }), Containment::Escaped);
    assert_eq!(verdict(Outcome { peak_memory_bytes: u64::MAX, ..clear.clone() }), Containment::Escaped);
    assert_eq!(verdict(Outcome { stderr: vec![0; 1025], ..clear.clone() }), Containment::Escaped);
    let after_fault = [SandboxRun::Fault("broken".to_owned()), SandboxRun::Outcome(Box::new(clear))];
    assert_eq!(judge_sandbox_runs(&probe, &after_fault).verdict, Containment::Escaped);
    assert_eq!(judge_sandbox_runs(&probe, &[SandboxRun::Refused("no".to_owned())]).verdict, Containment::Unclear);
    assert_eq!(
        judge_sandbox_runs(&asking("expect = \"refused\""), &[SandboxRun::Refused("no".to_owned())]).verdict,
        Containment::Contained
    );
    assert_eq!(judge_sandbox_runs(&probe, &[]).verdict, Containment::Unclear);
}

#[test]
fn runs_elsewhere_are_judged_by_their_words_and_by_who_ended_them() {
    use Containment::{Contained, Escaped, Unclear};
    let verdict = |toml: &str, stdout: &str, ended: ExternalExit| {
        let run = ExternalRun { stdout: stdout.to_owned(), stderr: String::new(), ended };
        judge_external_runs(&asking(toml), &[run.clone(), run]).verdict
    };
    let killed = || ExternalExit::Stopped("signal 9".to_owned());
    assert_eq!(verdict("", "contained: x", ExternalExit::Exited(0)), Contained);
    assert_eq!(verdict("", "contained: x", ExternalExit::Exited(1)), Unclear);
    assert_eq!(verdict("", "", ExternalExit::Exited(0)), Unclear);
    assert_eq!(verdict("", "escaped: x", killed()), Escaped);
    assert_eq!(verdict("", "", ExternalExit::Failed("no".to_owned())), Unclear);
    assert_eq!(verdict("expect = \"memory_exceeded\"", "", killed()), Contained);
    assert_eq!(verdict("expect = \"memory_exceeded\"", "", ExternalExit::Exited(1)), Contained);
    assert_eq!(verdict("expect = \"memory_exceeded\"", "", ExternalExit::Exited(0)), Unclear);
    assert_eq!(verdict("expect = \"memory_exceeded\"", "", ExternalExit::Failed("no".to_owned())), Unclear);
    assert_eq!(verdict("expect = \"fuel_exhausted\"", "", ExternalExit::StillRunning(30)), Escaped);
    assert_eq!(verdict("", "contained: x", ExternalExit::StillRunning(30)), Unclear);
    assert_eq!(verdict("", "escaped: x", ExternalExit::StillRunning(30)), Escaped);
    assert_eq!(verdict("expect = \"memory_exceeded\"", "", ExternalExit::StillRunning(30)), Unclear);
    assert_eq!(verdict("expect = \"same\"\nruns = 2", "1", ExternalExit::Exited(0)), Contained);
    assert_eq!(verdict("expect = \"same\"\nruns = 2", "", ExternalExit::Exited(0)), Unclear);
}
