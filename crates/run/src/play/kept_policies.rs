//! The policies of a run beside the one that learns: its start model, and its checkpoints. A script names them `start` and `step-100`.
//!
//! Invariant: which there are is a function of the configuration and the step, so that a resumed run draws the same opponents.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;

use veriplay_core::{Policy, PolicyError, Prompt, Rollout, Sampling};
use veriplay_learner::LearnerOptions;

use crate::config::RunConfig;
use crate::model::{self, Model};

/// The name of the start model.
const START: &str = "start";
/// What stands before the step in the name of a checkpoint.
const STEP: &str = "step-";
/// Models that stay open; the one that was asked for longest ago goes first.
const OPEN: usize = 8;

/// The policies of a run that do not learn.
pub(super) struct KeptPolicies {
    model: String,
    options: LearnerOptions,
    /// The folder of the checkpoint of each step, oldest first.
    checkpoints: Vec<(u64, PathBuf)>,
    opened: RefCell<VecDeque<(String, Rc<OpenedModel>)>>,
}

impl KeptPolicies {
    /// Those that there are before step `step`; `folder` is where the checkpoint of a step lies.
    pub(super) fn at(run: &RunConfig, step: u64, folder: impl Fn(u64) -> PathBuf) -> Self {
        let checkpoints = run.kept_checkpoints(step).into_iter().map(|step| (step, folder(step))).collect();
        // They never learn: they need neither adapters nor a reference.
        let options = LearnerOptions { lora: None, kl: None, ..run.learn.learner_options() };
        Self { model: run.model.clone(), options, checkpoints, opened: RefCell::default() }
    }

    /// The same policies before a later step; what is open stays open, as long as it is kept.
    pub(super) fn advance(&mut self, run: &RunConfig, step: u64, folder: impl Fn(u64) -> PathBuf) {
        self.checkpoints = run.kept_checkpoints(step).into_iter().map(|step| (step, folder(step))).collect();
        let names = self.names();
        self.opened.get_mut().retain(|(name, _)| names.contains(name));
    }

    /// One that is open already; from now on it is the one that was asked for last.
    fn find_open(&self, name: &str) -> Option<Rc<OpenedModel>> {
        let mut all = self.opened.borrow_mut();
        let place = all.iter().position(|(known, _)| known == name)?;
        let found = all.remove(place)?;
        let opened = found.1.clone();
        all.push_back(found);
        Some(opened)
    }

    /// None where a trainer outside this process has the weights.
    pub(super) fn names(&self) -> Vec<String> {
        if model::is_external(&self.model) {
            return Vec::new();
        }
        let checkpoints = self.checkpoints.iter().map(|(step, _)| format!("{STEP}{step}"));
        std::iter::once(START.to_owned()).chain(checkpoints).collect()
    }

    pub(super) fn get(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        let unknown = || PolicyError::Unknown { name: name.to_owned(), known: self.names() };
        if !self.names().iter().any(|known| known == name) {
            return Err(unknown());
        }
        if let Some(found) = self.find_open(name) {
            return Ok(found);
        }
        let source = match name.strip_prefix(STEP) {
            Some(step) => {
                let found = self.checkpoints.iter().find(|(known, _)| step == known.to_string());
                found.map(|(_, path)| path.display().to_string()).ok_or_else(unknown)?
            }
            None if name == START => self.model.clone(),
            None => return Err(unknown()),
        };
        let opened = Model::open(&source, &self.options)
            .map_err(|failure| PolicyError::Backend(format!("the policy `{name}` cannot be opened: {failure}")))?;
        let opened = Rc::new(OpenedModel(opened));
        let mut all = self.opened.borrow_mut();
        if all.len() == OPEN {
            all.pop_front();
        }
        all.push_back((name.to_owned(), opened.clone()));
        Ok(opened)
    }
}

/// A model that is sampled.
struct OpenedModel(Model);

impl Policy for OpenedModel {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.0.policy().generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        self.0.policy().has_room(prompt, max_tokens)
    }
}

/// The policy that learns, with those that are kept beside it.
pub(super) struct RunPolicies<'a> {
    pub(super) playing: &'a dyn Policy,
    pub(super) kept: &'a KeptPolicies,
}

impl Policy for RunPolicies<'_> {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.playing.generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        self.playing.has_room(prompt, max_tokens)
    }

    fn others(&self) -> Vec<String> {
        self.kept.names()
    }

    fn other(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        self.kept.get(name)
    }
}

#[cfg(test)]
mod tests {
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
        let prompt = Prompt::new(veriplay_core::Role::SOLVER, "x");
        assert_eq!(start.generate(&[prompt], &Sampling::new(2)).expect("it answers").len(), 1);
        assert!(Rc::ptr_eq(&start, &kept.get("start").expect("it stays open")));
    }
}
