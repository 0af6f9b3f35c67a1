//! Who proposes: the model that learns, or another one that does not (`proposer_model` of a configuration). Called by the loop of `play`.

use std::rc::Rc;

use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::progress::counted;
use veriplay_core::{Policy, PolicyError, Prompt, Role, Rollout, Sampling};
use veriplay_learner::LearnerOptions;
use veriplay_selfplay::settings::{ProposerMode, SharedSettings};

use crate::config::RunConfig;
use crate::kept_policies::KeptPolicies;
use crate::memory;
use crate::model::{self, Model};

/// The value of `proposer_model` that stands for the run's start model.
const START: &str = "start";

/// Answers proposers' prompts in place of the model that learns; `None` where that one proposes itself.
pub(crate) struct OtherProposer(Option<Model>);

impl OtherProposer {
    /// Opens the model that the configuration names, unless it is predicted not to fit in the free memory.
    pub(crate) fn open(run: &RunConfig, shared: &SharedSettings) -> Result<Self, Failure> {
        let open = |name: &str| {
            let name = if name == START { &run.model } else { name };
            // It never learns: it needs neither adapters nor a reference.
            let options = LearnerOptions { lora: None, kl: None, ..run.learn.learner_options() };
            memory::check_sampling(name, &options, |_| shared.proposer_max_tokens)?;
            Model::open(name, &options)
        };
        run.proposer_model.as_deref().map(open).transpose().map(Self)
    }

    /// A policy that answers proposers' prompts with this one, and all others with `learner`; beside them are those that are `kept`.
    pub(crate) fn beside<'a>(&'a self, learner: &'a dyn Policy, kept: Option<&'a KeptPolicies>) -> RunPolicies<'a> {
        RunPolicies { proposer: self.0.as_ref().map_or(learner, Model::policy), learner, kept }
    }
}

/// The policies of a step as one. All prompts of a call are for one role, as the driver samples one role at a time.
pub(crate) struct RunPolicies<'a> {
    proposer: &'a dyn Policy,
    learner: &'a dyn Policy,
    kept: Option<&'a KeptPolicies>,
}

impl Policy for RunPolicies<'_> {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let proposes = prompts.iter().any(|prompt| prompt.role == Role::PROPOSER);
        let policy = if proposes { self.proposer } else { self.learner };
        policy.generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, max_tokens: usize) -> bool {
        let policy = if prompt.role == Role::PROPOSER { self.proposer } else { self.learner };
        policy.has_room(prompt, max_tokens)
    }

    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        self.learner.encode_response(text)
    }

    fn score_responses(&self, prompts: &[Prompt], responses: &[&[u32]]) -> Result<Vec<Vec<f32>>, PolicyError> {
        self.learner.score_responses(prompts, responses)
    }

    fn others(&self) -> Vec<String> {
        self.kept.map_or_else(Vec::new, KeptPolicies::names)
    }

    fn other(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        let unknown = || PolicyError::Unknown { name: name.to_owned(), known: Vec::new() };
        self.kept.ok_or_else(unknown)?.get(name)
    }
}

/// Rejects a `proposer_model` that the other keys do not allow.
pub fn check(run: &RunConfig, shared: &SharedSettings) -> Result<(), Failure> {
    let Some(name) = &run.proposer_model else { return Ok(()) };
    let refuse = |want: &str| Err(bad_value("proposer_model", name, want));
    if shared.proposer == ProposerMode::Train {
        return refuse(
            "left out, or `game.proposer` must be `frozen`: what another model wrote does not train this one",
        );
    }
    if model::is_external(name) || name == START && model::is_external(&run.model) {
        return refuse("a model that this process can open, and not your trainer's");
    }
    if name != START && shared.sft_samples > 0 {
        return refuse("`start`, or `game.sft_samples` must be 0: its responses have the tokens of another model");
    }
    Ok(())
}

/// What differs from a run in which every role plays and learns, for people: a line each.
pub fn describe(run: &RunConfig, shared: &SharedSettings) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |applies: bool, line: String| lines.extend(applies.then_some(line));
    let seeds = shared.seed_proposals;
    say(seeds > 0, format!("before step 0: proposals until each kind has {}", counted(seeds, "task")));
    say(shared.proposer == ProposerMode::None, "no step samples a proposer".to_owned());
    say(shared.proposer == ProposerMode::Frozen, "proposers propose, and are not trained".to_owned());
    say(shared.solver_weight == 0.0, "solvers attempt tasks, and are not trained".to_owned());
    say(shared.verifier_weight == 0.0, "verifiers write tests, and are not trained".to_owned());
    let model = run.proposer_model.as_deref().unwrap_or_default();
    let model = if model == START { &run.model } else { model };
    say(run.proposer_model.is_some(), format!("proposers are sampled from `{model}`, as it is now"));
    lines
}

#[cfg(test)]
mod tests {
    use veriplay_core::ScriptedPolicy;

    use super::*;

    #[test]
    fn proposers_are_sampled_from_one_policy_and_all_others_from_the_other() {
        let (start, learner) =
            (ScriptedPolicy::new(|_| "start".to_owned()), ScriptedPolicy::new(|_| "learner".to_owned()));
        let said = |policy: &dyn Policy, role| {
            let rollouts = policy.generate(&[Prompt::new(role, "x")], &Sampling::new(16)).expect("it answers");
            rollouts[0][0].text.clone()
        };
        let both = RunPolicies { proposer: &start, learner: &learner, kept: None };
        let roles = [Role::PROPOSER, Role::SOLVER, Role::VERIFIER];
        assert_eq!(roles.map(|role| said(&both, role)), ["start", "learner", "learner"]);
        let alone = OtherProposer(None);
        assert_eq!(roles.map(|role| said(&alone.beside(&learner, None), role)), ["learner"; 3]);
    }
}
