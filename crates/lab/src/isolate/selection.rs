//! Which probes a run tries, and which it does not and why: in groups for people, and one by one where they were selected.

use std::collections::BTreeSet;

use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure};

use super::ProbeResult;
use super::catalog::{NamedProbe, classes, probe_ids};
use super::forgeries::{self, PlannedForgery};

/// What is tested, as far as the selection of probes goes.
pub struct Tested<'a, P> {
    /// Its name in messages.
    pub name: &'a str,
    /// Why a probe cannot be run there; `None` where it can.
    pub reason_against: &'a dyn Fn(&P) -> Option<&'static str>,
    /// The forgeries that can be tried there: none where the verifier is not ours.
    pub forgeries: &'a [PlannedForgery],
}

/// The probes that were asked for, by class or by `CLASS/NAME`.
#[derive(Debug, Default)]
pub struct Selection<'a> {
    /// Classes to try; with `probes` empty too, all.
    pub classes: &'a [String],
    /// Probes to try, `CLASS/NAME`.
    pub probes: &'a [String],
    /// Classes and probes to leave out.
    pub skip: &'a [String],
}

impl Selection<'_> {
    /// The probes to try, and notes on the rest. What was named and does not run there is an error, and so is a selection of nothing: a suite that
    /// runs nothing would report success.
    pub fn choose<P: NamedProbe>(&self, probes: Vec<P>, tested: &Tested<'_, P>) -> Result<(Vec<P>, NotTried), Failure> {
        self.check_names()?;
        self.check_there(&probes, tested)?;
        let (mut chosen, mut not_tried) = (Vec::new(), NotTried::default());
        for probe in probes {
            match (self.reason_not_selected(&probe), (tested.reason_against)(&probe)) {
                (Some((what, why)), _) => not_tried.count(what, why),
                (None, Some(why)) => not_tried.add(&probe, why),
                (None, None) => chosen.push(probe),
            }
        }
        if chosen.is_empty() && self.forgeries(tested.forgeries).is_empty() {
            let what = format!("no probe is left to try on {}", tested.name);
            return Err(Failure::message(ExitCode::Input, what)
                .hint("`--skip` leaves out all that is selected; `veriplay isolate --list` lists the probes"));
        }
        Ok((chosen, not_tried))
    }

    /// The verifier's forgeries to try.
    pub fn forgeries<'f>(&self, planned: &'f [PlannedForgery]) -> Vec<&'f PlannedForgery> {
        planned.iter().filter(|forgery| self.reason_not_selected(*forgery).is_none()).collect()
    }

    fn is_named(&self, probe: &impl NamedProbe) -> bool {
        let all = self.classes.is_empty() && self.probes.is_empty();
        all || self.classes.iter().any(|class| class == probe.class())
            || self.probes.iter().any(|id| probe.is_called(id))
    }

    /// Why a probe is not selected, under the name of its group.
    fn reason_not_selected(&self, probe: &impl NamedProbe) -> Option<(&'static str, &'static str)> {
        if !self.is_named(probe) {
            return Some(("other probes", "`--class` or `--probe` names some"));
        }
        let is_skipped = self.skip.iter().any(|name| name == probe.class() || probe.is_called(name));
        is_skipped.then(|| (probe.class(), "`--skip` names them"))
    }

    fn check_names(&self) -> Result<(), Failure> {
        let known = probe_ids();
        let is_probe = |name: &String| known.contains(name) || forgeries::is_forgery(name);
        let is_class = |name: &String| *name == forgeries::CLASS || classes().any(|class| class.name == name);
        let refused = |flag: &str, name: &String| {
            Err(Failure::message(ExitCode::Input, format!("`{flag} {name}`: there is no such probe"))
                .hint("a probe is `CLASS/NAME`; `veriplay isolate --list` lists them"))
        };
        if let Some(name) = self.probes.iter().find(|name| !is_probe(name)) {
            return refused("--probe", name);
        }
        match self.skip.iter().find(|name| !is_probe(name) && !is_class(name)) {
            Some(name) => refused("--skip", name),
            None => Ok(()),
        }
    }

    fn check_there<P: NamedProbe>(&self, probes: &[P], tested: &Tested<'_, P>) -> Result<(), Failure> {
        let runs = |probe: &P| (tested.reason_against)(probe).is_none();
        let there = |name: &&str| probes.iter().any(|probe| probe.class() == *name && runs(probe));
        let verifier = (!tested.forgeries.is_empty()).then_some(forgeries::CLASS);
        let available: Vec<&str> = classes().map(|class| class.name).filter(there).chain(verifier).collect();
        if let Some(class) = self.classes.iter().find(|class| !available.contains(&class.as_str())) {
            let what = format!("`--class {class}`: no probe of this class runs on {}", tested.name);
            let hint = format!("its classes are `{}`", available.join("`, `"));
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        let runs_here = |id: &String| {
            probes.iter().any(|probe| probe.is_called(id) && runs(probe))
                || tested.forgeries.iter().any(|forgery| forgery.is_called(id))
        };
        match self.probes.iter().find(|id| !runs_here(id)) {
            Some(id) => {
                let what = format!("`--probe {id}`: this probe does not run on {}", tested.name);
                let found =
                    probes.iter().find(|probe| probe.is_called(id)).and_then(|probe| (tested.reason_against)(probe));
                let hint = found.unwrap_or("`--list` says what each runs on, with `--image` for another image");
                Err(Failure::message(ExitCode::Input, what).hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// Why a selected probe of a suite that was stopped was not tried.
const STOPPED: &str = "a signal stopped the suite first";

/// Probes that were not tried.
#[derive(Debug, Default)]
pub struct NotTried {
    /// Probes that were not selected, by reason.
    pub(crate) groups: Vec<SkippedProbes>,
    pub(crate) selected: Vec<UntriedProbe>,
}

/// Probes that were not tried for one reason.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SkippedProbes {
    /// What the probes have in common.
    pub(crate) what: String,
    pub(crate) count: usize,
    pub(crate) why: String,
}

#[derive(Debug)]
pub(crate) struct UntriedProbe {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) why: &'static str,
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
