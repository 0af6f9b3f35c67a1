//! The isolation suite: every probe is contained. `sabotage`: the patches that show that probes can fail name real probes and apply;
//! `cargo xtask sabotage` runs them. `graders`: forgeries fool graders as people write them.

mod graders;
mod sabotage;

use std::sync::OnceLock;

use veriplay_corpus::probes::judge::Containment;
use veriplay_corpus::probes::run::run_probes;
use veriplay_corpus::probes::{CLASSES, Probe, built_in_probes};
use veriplay_tests::python_image;
use xtask::probes::InProcessSandboxes;

fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| built_in_probes("python").expect("the image has probes"))
}

#[test]
fn every_probe_is_contained_on_the_default_configuration() {
    let findings = run_probes(&InProcessSandboxes::new(python_image()), probes(), "python", 2, &|_, _| ());
    let faults: Vec<String> = probes()
        .iter()
        .zip(&findings)
        .filter(|(_, finding)| finding.verdict != Containment::Contained)
        .map(|(probe, finding)| format!("{}: {}: {}", probe.id(), finding.verdict.word(), finding.evidence))
        .collect();
    assert!(
        faults.is_empty() && findings.len() == probes().len(),
        "{} of {}:\n{}",
        faults.len(),
        findings.len(),
        faults.join("\n")
    );
}

#[test]
fn there_are_enough_probes_and_every_class_has_several() {
    assert!(probes().len() >= 120, "{} probes", probes().len());
    for class in CLASSES.iter() {
        let count = probes().iter().filter(|probe| probe.class == class.name).count();
        assert!(count >= 5, "class `{}` has {count}", class.name);
    }
}
