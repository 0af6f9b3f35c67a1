//! The probes that a run did not try, and why: in groups for people, and one by one where they were selected.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ProbeResult;
use super::catalog::NamedProbe;

/// Why a selected probe of a suite that was stopped was not tried.
const STOPPED: &str = "a signal stopped the suite first";

/// Probes that were not tried.
#[derive(Debug, Default)]
pub struct NotTried {
    /// Probes that were not selected, by reason.
    pub groups: Vec<SkippedProbes>,
    /// Those that were selected.
    pub selected: Vec<UntriedProbe>,
}

/// Probes that were not tried for one reason.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedProbes {
    /// What the probes have in common.
    pub what: String,
    /// How many probes there are.
    pub count: usize,
    /// Why they were not tried.
    pub why: String,
}

/// A probe that was selected and not tried.
#[derive(Debug)]
pub struct UntriedProbe {
    /// The class of attacks that it belongs to.
    pub class: String,
    /// Its name within the class.
    pub name: String,
    /// Why it was not tried.
    pub why: &'static str,
}

impl NotTried {
    /// Counts a probe that was not selected.
    pub fn count(&mut self, what: &str, why: &str) {
        match self.groups.iter_mut().find(|one| one.what == what && one.why == why) {
            Some(one) => one.count += 1,
            None => self.groups.push(SkippedProbes { what: what.to_owned(), count: 1, why: why.to_owned() }),
        }
    }

    /// Adds a probe that was selected.
    pub fn add(&mut self, probe: &impl NamedProbe, why: &'static str) {
        self.count(probe.class(), why);
        self.selected.push(UntriedProbe { class: probe.class().to_owned(), name: probe.name().to_owned(), why });
    }

    /// Adds those of `probes` that have no result, because the suite was stopped before them.
    pub fn add_unreached<P: NamedProbe>(&mut self, probes: &[P], results: &[ProbeResult]) {
        let tried: BTreeSet<String> = results.iter().map(ProbeResult::id).collect();
        for probe in probes.iter().filter(|probe| !tried.contains(&probe.id())) {
            self.add(probe, STOPPED);
        }
    }

    /// How many were not tried because the suite was stopped.
    pub fn unreached(&self) -> usize {
        self.selected.iter().filter(|probe| probe.why == STOPPED).count()
    }
}
