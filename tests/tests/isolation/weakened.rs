//! The suite can fail: the table of weaknesses and probes that the files make, held in both directions.

use std::fmt::Write;

use veriplay_corpus::probes::Probe;
use veriplay_corpus::probes::judge::{Containment, Finding};
use veriplay_sandbox::Weakness;

use super::run_all;

/// What differs from the table: probes that should escape under `name` and do not, and the other way.
fn differences(name: &str, findings: &[(&Probe, Finding)]) -> String {
    let mut out = String::new();
    for (probe, finding) in findings {
        let listed = probe.weakness.iter().any(|own| own == name);
        let wanted = if listed { Containment::Escaped } else { Containment::Contained };
        if finding.verdict != wanted {
            let (wanted, got) = (wanted.word(), finding.verdict.word());
            let _ = writeln!(out, "{name}: {}: {wanted} expected, {got}: {}", probe.id(), finding.evidence);
        }
    }
    out
}

#[test]
fn under_each_weakness_exactly_the_probes_that_say_so_escape() {
    let out: String =
        Weakness::ALL.iter().map(|weakness| differences(weakness.name(), &run_all(Some(*weakness)))).collect();
    assert!(out.is_empty(), "{} differences:\n{out}", out.lines().count());
}
