//! What a script says of a step's episodes: rewards, notes and weights in place of the scheme's, and what later steps need.

use serde_json::Value;
use veriplay_core::{Reward, Role};

use super::{Step, missing};
use crate::advantages::EpisodeNotes;
use crate::environment::Environment;
use crate::facts::{GivenReward, TaughtText};
use crate::held::HeldEpisode;
use crate::play::PlayError;
use crate::preferences::{Example, Response};

impl<E: Environment> Step<'_, E> {
    /// Refuses a response that there is not.
    fn check(&self, response: Response) -> Result<(), PlayError> {
        let count = self.facts.count(response.part);
        if response.index < count { Ok(()) } else { Err(missing("response", response.index, count)) }
    }

    /// Gives an episode this reward, in place of the scheme's.
    pub fn reward(&mut self, response: Response, reward: Reward) -> Result<(), PlayError> {
        self.check(response)?;
        check_finite(reward.total())?;
        self.facts.given.insert(response, GivenReward::Episode(reward));
        Ok(())
    }

    /// Gives each turn of an episode its own reward, in place of the scheme's.
    pub fn reward_turns(&mut self, response: Response, rewards: Vec<f64>) -> Result<(), PlayError> {
        self.check(response)?;
        rewards.iter().try_for_each(|reward| check_finite(*reward))?;
        let (turns, given) = (self.facts.episode(response).turns.len(), rewards.len());
        if turns != given || turns == 0 {
            let what = format!("an episode has {turns} turns, and the script gives {given} rewards");
            return Err(PlayError::Setup(what));
        }
        self.facts.given.insert(response, GivenReward::Turns(rewards));
        Ok(())
    }

    /// Learns nothing from an episode, whatever it was worth.
    pub fn leave_out(&mut self, response: Response) -> Result<(), PlayError> {
        self.check(response)?;
        self.facts.given.insert(response, GivenReward::Nothing);
        Ok(())
    }

    /// Has the policy imitate a response, whoever wrote it, with this weight, beside what is rewarded.
    pub fn imitate(&mut self, response: Response, weight: f64) -> Result<(), PlayError> {
        self.check(response)?;
        check_finite(weight)?;
        self.facts.imitated.push(Example { response, weight });
        Ok(())
    }

    /// Has the policy imitate a text at the prompt of a task that solvers attempted, such as its executed answer, with this weight, beside what
    /// is rewarded; under `answer_pairs` it is chosen in pairs instead. Where no solver's prompt is told in tokens, nothing is imitated.
    pub fn imitate_text(&mut self, task: usize, text: &str, weight: f64) -> Result<(), PlayError> {
        check_finite(weight)?;
        let solutions = self.facts.solutions.iter().filter(|one| one.finished.source == task && one.policy.is_none());
        let mut prompts = solutions.filter_map(|one| one.finished.turns.first()).map(|(_, first)| &first.prompt_tokens);
        let Some(prompt_tokens) = prompts.find(|tokens| !tokens.is_empty()).cloned() else { return Ok(()) };
        let tokens = self.stages.context.policy.encode_response(text)?;
        self.facts.taught.push(TaughtText { task, prompt_tokens, tokens, weight });
        Ok(())
    }

    /// Multiplies the weight of a role in this step, such as by 0 in a phase in which it does not learn.
    pub fn weigh(&mut self, role: Role, factor: f64) -> Result<(), PlayError> {
        check_finite(factor)?;
        if factor < 0.0 {
            let what = format!("the script weighs the role `{}` by {factor}: use 0 or more", role.name());
            return Err(PlayError::Setup(what));
        }
        self.facts.role_factors.insert(role, factor);
        Ok(())
    }

    /// Says of an episode what an advantage estimator may look at, in place of what the game says ([`crate::game::Game::notes`]).
    pub fn note(&mut self, response: Response, notes: EpisodeNotes) -> Result<(), PlayError> {
        self.check(response)?;
        check_finite(notes.trust.unwrap_or_default())?;
        self.facts.notes.insert(response, notes);
        Ok(())
    }

    /// States a number of the step: it is logged as `play/NAME`, and monitors see it.
    pub fn fact(&mut self, name: &str, number: f64) {
        self.facts.numbers.insert(name.to_owned(), number);
    }

    /// What an earlier step left for this one under this name.
    pub fn deferred(&self, name: &str) -> Option<&Value> {
        self.deferred.get(name)
    }

    /// Leaves something for later steps. It is part of the run's state: a resumed run has it to the byte. Numbers come back as they were written in
    /// JSON.
    pub fn defer(&mut self, name: &str, value: Value) {
        self.deferred.insert(name.to_owned(), value);
    }

    /// Keeps episodes under a name until a later step knows what they were worth. Nothing of them is learned in this step.
    ///
    /// # Errors
    /// There are no such episodes, the name is taken, or the tokens are those of a trainer outside this process.
    pub fn defer_episodes(&mut self, name: &str, responses: &[Response]) -> Result<(), PlayError> {
        responses.iter().try_for_each(|one| self.check(*one))?;
        if self.deferred.contains_key(name) {
            return Err(PlayError::Setup(format!(
                "`{name}` is deferred already: reward it first, or use another name"
            )));
        }
        let mut turns = responses.iter().flat_map(|one| self.facts.episode(*one).turns);
        if turns.any(|(_, rollout)| rollout.id.is_some()) {
            let what = "the loop defers episodes, and their tokens are those of a trainer outside this process";
            return Err(PlayError::Setup(what.to_owned()));
        }
        let held: Vec<HeldEpisode> = responses.iter().map(|one| HeldEpisode::new(&self.facts, *one)).collect();
        let value = serde_json::to_value(held).map_err(|error| PlayError::Setup(error.to_string()))?;
        self.deferred.insert(name.to_owned(), value);
        responses.iter().try_for_each(|one| self.leave_out(*one))
    }

    /// Gives the episodes of a role that were deferred under this name their rewards, in their order: they are learned from in this step. They are
    /// compared with each other, by the groups that they had; a loss with a ratio has the log-probabilities that they were sampled with. Returns
    /// how many there were.
    ///
    /// # Errors
    /// What is deferred under this name are no episodes of that role, there is another number of rewards, or one is not finite.
    pub fn reward_deferred(&mut self, name: &str, role: Role, rewards: &[Reward]) -> Result<usize, PlayError> {
        let Some(value) = self.deferred.remove(name) else { return Ok(0) };
        let held: Vec<HeldEpisode> = serde_json::from_value(value)
            .map_err(|error| PlayError::Setup(format!("`{name}` is deferred, and no list of episodes: {error}")))?;
        rewards.iter().try_for_each(|reward| check_finite(reward.total()))?;
        if rewards.len() != held.len() {
            let (found, wanted) = (rewards.len(), held.len());
            return Err(PlayError::Setup(format!("`{name}` has {wanted} episodes, and there are {found} rewards")));
        }
        let count = held.len();
        for (held, reward) in held.into_iter().zip(rewards) {
            let released = held.release(role, E::KINDS, reward.clone());
            let other =
                || PlayError::Setup(format!("`{name}` has an episode that is not of the role `{}`", role.name()));
            self.facts.released.push(released.ok_or_else(other)?);
        }
        Ok(count)
    }
}

fn check_finite(number: f64) -> Result<(), PlayError> {
    if number.is_finite() {
        return Ok(());
    }
    Err(PlayError::Setup(format!("the script gives the number {number}: rewards, weights and trust have to be finite")))
}
