//! The suite can fail: the table of weaknesses and probes, both ways.

use std::collections::BTreeSet;
use std::fmt::Write;

use veriplay_corpus::probes::NO_SANDBOX;
use veriplay_corpus::probes::judge::Containment;
use veriplay_sandbox::Weakness;

use super::{probes, run_all};

/// What differs from the table that the files make: probes of `name` that should escape and do not, and the other way.
fn differences(name: &str, findings: &[(&veriplay_corpus::probes::Probe, veriplay_corpus::probes::judge::Finding)]) -> String {
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
    let mut out = String::new();
    for weakness in Weakness::ALL {
        let started = std::time::Instant::now();
        out += &differences(weakness.name(), &run_all(Some(*weakness)));
        if std::env::var_os("VERIPLAY_TIMES").is_some() { eprintln!("{} {:?}", weakness.name(), started.elapsed()); }
    }
    assert!(out.is_empty(), "{} differences:\n{out}", out.lines().count());
}

#[test]
fn every_weakness_is_noticed_by_some_probe_and_every_name_is_one() {
    let named: BTreeSet<&str> = probes().iter().flat_map(|probe| probe.weakness.iter().map(String::as_str)).collect();
    let known: BTreeSet<&str> = Weakness::ALL.iter().map(|weakness| weakness.name()).chain([NO_SANDBOX]).collect();
    assert_eq!(named, known);
}
