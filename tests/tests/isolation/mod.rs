//! The isolation suite: every probe is contained. The patches that show that probes can fail apply, and they and the probes name each other fully;
//! `cargo xtask sabotage` runs them. `graders`: forgeries fool graders as people write them.

mod graders;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use veriplay_corpus::probes::judge::Containment;
use veriplay_corpus::probes::run::run_probes;
use veriplay_corpus::probes::{CLASSES, Probe, ProbeLanguage, built_in_probes};
use veriplay_tests::{assert_none, python_image};
use xtask::probes::InProcessSandboxes;
use xtask::sabotage::{QUICK, Sabotage, read_all};
use xtask::{root, tracked_files};

fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| built_in_probes("python").expect("the image has probes"))
}

#[test]
fn every_probe_is_contained_on_the_default_configuration() {
    assert_contained(&InProcessSandboxes::new(python_image()), probes(), "python");
}

#[test]
fn every_probe_that_is_a_module_is_contained() {
    assert_contained(&InProcessSandboxes::Modules, &ProbeLanguage::Wasm.probes(), ProbeLanguage::Wasm.name());
}

#[track_caller]
fn assert_contained(sandboxes: &InProcessSandboxes, probes: &[Probe], image: &str) {
    let findings = run_probes(sandboxes, probes, image, 2, &|_, _| ());
    assert_eq!(findings.len(), probes.len());
    let escapes = probes.iter().zip(&findings).filter(|(_, finding)| finding.verdict != Containment::Contained);
    let faults =
        escapes.map(|(probe, finding)| format!("{}: {}: {}", probe.id(), finding.verdict.word(), finding.evidence));
    assert_none(faults.collect());
}

#[test]
fn there_are_enough_probes_and_every_class_has_several() {
    assert!(probes().len() >= 120, "{} probes", probes().len());
    for class in CLASSES.iter() {
        let count = probes().iter().filter(|probe| probe.class == class.name).count();
        assert!(count >= 5, "class `{}` has {count}", class.name);
    }
}

fn sabotages() -> Vec<Sabotage> {
    read_all(&root()).unwrap_or_else(|error| panic!("{error:#}"))
}

#[test]
fn every_sabotage_applies_to_the_sandbox_and_to_nothing_else() {
    const SOURCES: [&str; 2] = ["crates/sandbox/src/", "sandboxes/javascript/"];
    for sabotage in sabotages() {
        let edits = sabotage.apply(&root()).unwrap_or_else(|error| panic!("{error:#}"));
        let outside = edits.keys().find(|path| !SOURCES.iter().any(|folder| path.starts_with(folder)));
        assert!(outside.is_none() && !edits.is_empty(), "`{}` changes {outside:?}", sabotage.name);
    }
}

#[test]
fn every_probe_that_a_sabotage_names_exists() {
    let known: BTreeSet<String> =
        ProbeLanguage::ALL.into_iter().flat_map(ProbeLanguage::probes).map(|probe| probe.id()).collect();
    for sabotage in sabotages() {
        let named: BTreeSet<String> = sabotage.probes.iter().cloned().collect();
        assert_eq!(named.len(), sabotage.probes.len(), "`{}` names a probe twice", sabotage.name);
        let unknown: Vec<_> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "`{}` names probes that do not exist: {unknown:?}", sabotage.name);
    }
    assert!(sabotages().iter().any(|sabotage| sabotage.name == QUICK), "`--quick` runs `{QUICK}`, which is not there");
}

#[test]
fn every_test_that_a_sabotage_names_exists() {
    let files = tracked_files(&root()).expect("git lists the files");
    let of_sandbox =
        files.iter().filter(|file| file.starts_with("crates/sandbox") && file.extension() == Some("rs".as_ref()));
    let source: String =
        of_sandbox.map(|file| std::fs::read_to_string(root().join(file)).expect("a file of the sandbox")).collect();
    for sabotage in sabotages() {
        for test in &sabotage.tests {
            let name = test.rsplit("::").next().unwrap_or_default();
            assert!(
                source.contains(&format!("fn {name}()")),
                "`{}` names a test that does not exist: {test}",
                sabotage.name
            );
        }
    }
}

/// What lets a probe out: a sabotage, or a plain `python3` in place of the sandbox.
#[test]
fn every_probe_can_fail() {
    let named: BTreeSet<String> = sabotages().into_iter().flat_map(|sabotage| sabotage.probes).collect();
    let modules = ProbeLanguage::Wasm.probes();
    let all = probes().iter().chain(&modules);
    let silent = all.filter(|probe| !probe.escapes_unsandboxed).map(|probe| probe.id());
    let silent: Vec<String> = silent.filter(|id| !named.contains(id)).collect();
    assert!(silent.is_empty(), "no sabotage in tests/sabotage names {silent:?}: add them to one that lets them out");
}

#[test]
fn a_sabotage_without_a_sentence_a_probe_or_test_or_a_diff_is_refused() {
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let (probes, tests) = ("Probes that must notice:\n- cpu/loop\n", "Tests that must notice:\n- a::b\n");
    let parse = |lists: &str| Sabotage::parse("x", &format!("It weakens.\n\n{lists}\n{DIFF}")).expect("it is whole");
    let both = parse(&format!("{probes}\n{tests}"));
    assert_eq!(
        (both.effect.as_str(), &both.probes[..], &both.tests[..]),
        ("It weakens.", &["cpu/loop".to_owned()][..], &["a::b".to_owned()][..])
    );
    for (list, heading, item) in
        [(probes, "Probes that must notice:", "- cpu/loop"), (tests, "Tests that must notice:", "- a::b")]
    {
        assert_eq!(parse(list).effect, "It weakens.");
        let good = format!("It weakens.\n\n{list}\n{DIFF}");
        for part in ["It weakens.", heading, item, "--- a/x", "-a"] {
            assert!(Sabotage::parse("x", &good.replacen(part, "", 1)).is_err(), "`{part}` is missing");
        }
    }
}

#[test]
fn a_sabotage_that_does_not_fit_the_source_says_what_to_do() {
    let diff = "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-no such line\n+another\n";
    let sabotage =
        Sabotage::parse("x", &format!("E.\n\nProbes that must notice:\n- cpu/loop\n\n{diff}")).expect("whole");
    let error = format!("{:#}", sabotage.apply(&root()).expect_err("it does not apply"));
    assert!(error.contains("`x` does not apply") && error.contains("hint: "), "{error}");
}
