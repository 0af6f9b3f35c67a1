//! Our sandbox as it is.

use veriplay_corpus::probes::judge::Containment;

use super::run_all;

#[test]
fn every_probe_is_contained_on_the_default_configuration() {
    let findings = run_all();
    let faults: Vec<String> = findings
        .iter()
        .filter(|(_, finding)| finding.verdict != Containment::Contained)
        .map(|(probe, finding)| format!("{}: {}: {}", probe.id(), finding.verdict.word(), finding.evidence))
        .collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), findings.len(), faults.join("\n"));
}
