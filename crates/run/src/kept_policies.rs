//! The policies of a run beside the one that learns: its start model, and its checkpoints. A script names them `start` and `step-100`.
//!
//! Invariant: which there are is a function of the configuration and the step, so that a resumed run draws the same opponents.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use veriplay_console::exit::{Failure, bad_value};
use veriplay_core::{Policy, PolicyError};
use veriplay_learner::{DeviceSpec, LearnerOptions};

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
    opened: RefCell<VecDeque<(String, Rc<dyn Policy>)>>,
}

impl KeptPolicies {
    /// Those that there are before step `step`; `folder` is where the checkpoint of a step lies.
    pub(crate) fn at(run: &RunConfig, options: LearnerOptions, step: u64, folder: impl Fn(u64) -> PathBuf) -> Self {
        // They never learn: they need neither adapters nor a reference.
        let options = LearnerOptions { lora: None, kl: None, ..options };
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
    fn find_open(&self, name: &str) -> Option<Rc<dyn Policy>> {
        let mut all = self.opened.borrow_mut();
        let place = all.iter().position(|(known, _)| known == name)?;
        let found = all.remove(place)?;
        let opened = found.1.clone();
        all.push_back(found);
        Some(opened)
    }

    /// Opens a policy. A checkpoint answers each role with that role's adapters, where roles have adapters of their own.
    fn open(&self, name: &str, source: &str) -> Result<Rc<dyn Policy>, Failure> {
        if self.options.samples_ahead && matches!(self.options.device, DeviceSpec::Cuda(_)) {
            return Err(bad_value("steps_ahead", &1, "0 where a policy that is kept plays on the card that trains"));
        }
        if name == START || self.options.roles.is_empty() {
            return Ok(Rc::new(Model::open(source, &self.options)?));
        }
        Ok(Rc::new(model::open_roles(Path::new(source), &self.options)?))
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
        let opened = self.open(name, source);
        let opened = opened
            .map_err(|failure| PolicyError::Backend(format!("the policy `{name}` cannot be opened: {failure}")))?;
        let mut all = self.opened.borrow_mut();
        if all.len() == OPEN {
            all.pop_front();
        }
        all.push_back((name.to_owned(), opened.clone()));
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Learn, Prompt, Role, Sample, Sampling, TrainBatch};
    use veriplay_learner::RoleLearners;

    use super::*;
    use crate::builtin_configs::QUICKSTART;

    #[test]
    fn which_policies_there_are_follows_from_the_schedule_and_the_start_model_opens() {
        let run: RunConfig = toml::from_str(QUICKSTART).expect("it is valid");
        let run = RunConfig { checkpoint_every: 3, checkpoints_kept: Some(2), ..run };
        let folder = |step: u64| PathBuf::from(format!("checkpoints/step_{step}"));
        let mut kept = KeptPolicies::at(&run, run.learner_options(), 2, folder);
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
        let ahead = LearnerOptions { device: DeviceSpec::Cuda(0), samples_ahead: true, ..run.learner_options() };
        let refused = KeptPolicies::at(&run, ahead, 2, folder).get("start").err().expect("the card trains");
        assert!(refused.to_string().contains("`steps_ahead` is `1`: it must be 0 where a policy"), "{refused}");
    }

    #[test]
    fn a_checkpoint_of_roles_plays_each_by_its_own_adapters() {
        let dir = tempfile::tempdir().expect("a directory");
        let lora = "[learn.lora]\nrank = 2\nalpha = 4.0\ntarget_modules = [\"q_proj\", \"down_proj\"]\nper_role = true";
        let run: RunConfig = toml::from_str(&format!("{QUICKSTART}\n{lora}")).expect("it is valid");
        let options = LearnerOptions { roles: vec![Role::SOLVER, Role::PROPOSER], ..run.learner_options() };
        let start = model::open_trainable(&run.model, &options).expect("it is in the program");
        let mut learners = RoleLearners::new(start).expect("there is memory");
        let sample = Sample { role: Some(Role::PROPOSER), ..Sample::new([1, 2, 3].into(), vec![4, 5], 1.0) };
        let batch = TrainBatch { samples: vec![sample; 2], normalizer: 1.0 };
        (0..4).for_each(|_| drop(learners.update(&batch, 0.1).expect("it learns")));
        learners.save_checkpoint(dir.path()).expect("it is saved");
        let kept = KeptPolicies::at(&run, options, run.checkpoint_every + 1, |_| dir.path().to_owned());
        let policy = kept.get(&format!("step-{}", run.checkpoint_every)).expect("it is there");
        let [proposer, solver] = [Role::PROPOSER, Role::SOLVER].map(|role| {
            let responses: [&[u32]; 1] = [&[4, 5]];
            let score = |policy: &dyn Policy| policy.score_responses(&[Prompt::new(role, "x")], &responses);
            let [kept, own] = [&*policy, &learners].map(|policy| score(policy).expect("it scores"));
            assert_eq!(kept, own, "{role:?}");
            kept
        });
        assert_ne!(proposer, solver);
    }
}
