//! The policies of a run beside the one that learns: its start model, and its checkpoints. A script names them `start` and `step-100`.
//!
//! Invariant: which there are is a function of the configuration and the step, so that a resumed run draws the same opponents.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;

use veriplay_core::{Policy, PolicyError};
use veriplay_learner::LearnerOptions;

use crate::config::RunConfig;
use crate::model::{self, Model};

const START: &str = "start";
/// What stands before the step in the name of a checkpoint.
const STEP: &str = "step-";
/// Models that stay open; the one that was asked for longest ago goes first.
const OPEN: usize = 8;

/// The policies of a run that do not learn.
pub(crate) struct KeptPolicies {
    options: LearnerOptions,
    /// The name of each, and the model that it is; none where a trainer outside this process has the weights.
    sources: Vec<(String, String)>,
    opened: RefCell<VecDeque<(String, Rc<Model>)>>,
}

impl KeptPolicies {
    /// Those that there are before step `step`; `folder` is where the checkpoint of a step lies.
    pub(crate) fn at(run: &RunConfig, step: u64, folder: impl Fn(u64) -> PathBuf) -> Self {
        // They never learn: they need neither adapters nor a reference.
        let options = LearnerOptions { lora: None, kl: None, ..run.learn.learner_options() };
        let mut kept = Self { options, sources: Vec::new(), opened: RefCell::default() };
        kept.advance(run, step, folder);
        kept
    }

    /// The same policies before a later step; what is open stays open, as long as it is kept.
    pub(crate) fn advance(&mut self, run: &RunConfig, step: u64, folder: impl Fn(u64) -> PathBuf) {
        let source = |step: u64| (format!("{STEP}{step}"), folder(step).display().to_string());
        let checkpoints = run.kept_checkpoints(step).into_iter().map(source);
        let all = std::iter::once((START.to_owned(), run.model.clone())).chain(checkpoints);
        self.sources = all.filter(|_| !model::is_external(&run.model)).collect();
        let names = self.names();
        self.opened.get_mut().retain(|(name, _)| names.contains(name));
    }

    /// One that is open already; from now on it is the one that was asked for last.
    fn find_open(&self, name: &str) -> Option<Rc<Model>> {
        let mut all = self.opened.borrow_mut();
        let place = all.iter().position(|(known, _)| known == name)?;
        let found = all.remove(place)?;
        let opened = found.1.clone();
        all.push_back(found);
        Some(opened)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.sources.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        let Some((_, source)) = self.sources.iter().find(|(known, _)| known == name) else {
            return Err(PolicyError::Unknown { name: name.to_owned(), known: self.names() });
        };
        if let Some(found) = self.find_open(name) {
            return Ok(found);
        }
        let opened = Model::open(source, &self.options)
            .map_err(|failure| PolicyError::Backend(format!("the policy `{name}` cannot be opened: {failure}")))?;
        let (opened, mut all) = (Rc::new(opened), self.opened.borrow_mut());
        if all.len() == OPEN {
            all.pop_front();
        }
        all.push_back((name.to_owned(), opened.clone()));
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Prompt, Role, Sampling};

    use super::*;
    use crate::builtin_configs::QUICKSTART;

    #[test]
    fn which_policies_there_are_follows_from_the_schedule_and_the_start_model_opens() {
        let run: RunConfig = toml::from_str(QUICKSTART).expect("it is valid");
        let run = RunConfig { checkpoint_every: 3, checkpoints_kept: Some(2), ..run };
        let folder = |step: u64| PathBuf::from(format!("checkpoints/step_{step}"));
        let mut kept = KeptPolicies::at(&run, 2, folder);
        assert_eq!(kept.names(), ["start"]);
        kept.advance(&run, 10, folder);
        assert_eq!(kept.names(), ["start", "step-6", "step-9"]);
        let unknown = kept.get("step-3").err().expect("it is not kept").to_string();
        assert_eq!(unknown, "there is no policy `step-3`: there are `start`, `step-6`, `step-9`");
        let missing = kept.get("step-6").err().expect("it is not there").to_string();
        assert!(missing.contains("`step-6` cannot be opened"), "{missing}");
        let start = kept.get("start").expect("it is in the program");
        let prompt = Prompt::new(Role::SOLVER, "x");
        assert_eq!(start.generate(&[prompt], &Sampling::new(2)).expect("it answers").len(), 1);
        assert!(Rc::ptr_eq(&start, &kept.get("start").expect("it stays open")));
    }
}
