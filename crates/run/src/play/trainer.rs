//! A trainer outside this process: the policy that plays a run and learns from it, behind standard input and output.
//!
//! The run asks and the trainer answers, one JSON line each, in turns; see [`messages`]. Rollouts have numbers, so that the trainer keeps its
//! own tokens, log-probabilities and tensors, and an update names the rollouts it is about.
//!
//! Invariants: nothing else is written to standard output; an answer that is not whole and valid ends the run, which resumes from its last
//! checkpoint; what the trainer does not tell is `null` in the logs, never 0.

mod messages;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{
    FinishReason, LengthLimit, Policy, PolicyError, PolicyVersion, PreferenceBatch, Prompt, Rollout, RolloutId, Sample,
    Sampling, TrainBatch, Update,
};
use veriplay_selfplay::play::RewardedRollout;

use super::summary::Summary;
use messages::{
    AnswerKind, Done, PairMessage, PromptTooLong, Request, RewardMessage, RolloutAnswer, Rollouts, SampleMessage,
    TrainerFailed, Updated,
};

pub(crate) use messages::{PROTOCOL, Purpose, Start};

/// The folder of a checkpoint that the trainer saves its state into.
pub(crate) const FOLDER: &str = "trainer";
/// Characters of an invalid line that an error quotes.
const QUOTED: usize = 200;

pub(crate) struct ExternalTrainer {
    channel: RefCell<Channel>,
    now: Cell<(u64, Purpose)>,
    next: Cell<u64>,
    /// Whether a rollout had no tokens: then the run knows no lengths, and batches have no normalizers.
    text_only: Cell<bool>,
}

struct Channel {
    answers: Box<dyn BufRead>,
    requests: Box<dyn Write>,
}

impl ExternalTrainer {
    /// The trainer that started this process. It has loaded its state when this returns.
    pub(crate) fn start(start: Start<'_>) -> Result<Self, Failure> {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            let what = "`model = \"stdio\"` is a trainer behind standard input, and standard input is a terminal";
            return Err(Failure::message(ExitCode::Input, what)
                .hint("start the run from a trainer: `veriplay.games` of the Python package, or see the page \"Plug-ins in Python, and your own trainer\" of the documentation"));
        }
        let channel = Channel { answers: Box::new(stdin.lock()), requests: Box::new(std::io::stdout()) };
        let trainer = Self {
            channel: RefCell::new(channel),
            now: Cell::new((start.step, Purpose::Play)),
            next: Cell::new(0),
            text_only: Cell::new(false),
        };
        let run = absolute(start.run)?;
        let checkpoint = start.checkpoint.map(|checkpoint| absolute(&checkpoint.join(FOLDER))).transpose()?;
        let request = Request::Start(Start { run: &run, checkpoint: checkpoint.as_deref(), ..start });
        trainer.ask::<Done>(&request).map_err(failure)?;
        Ok(trainer)
    }

    /// Says what the rollouts that are asked for next are for.
    pub(crate) fn set_purpose(&self, step: u64, purpose: Purpose) {
        self.now.set((step, purpose));
    }

    /// An optimizer step on samples.
    pub(crate) fn update(
        &self,
        batch: &TrainBatch,
        rewarded: &[RewardedRollout],
        learning_rate: f64,
    ) -> Result<Update, Failure> {
        let by_rollout: HashMap<RolloutId, &RewardedRollout> = rewarded.iter().map(|one| (one.rollout, one)).collect();
        let lengths = !self.text_only.get();
        let message = |sample: &Sample| {
            let rollout = sample.rollout?;
            let rewarded = by_rollout.get(&rollout).map(|one| reward_message(one));
            let (weight, scale, imitate) = (sample.weight, lengths.then_some(sample.scale), sample.imitate);
            Some(SampleMessage { rollout, weight, scale, imitate, rewarded })
        };
        self.updated(&Request::Update {
            step: self.now.get().0,
            learning_rate,
            normalizer: lengths.then_some(batch.normalizer),
            samples: batch.samples.iter().filter_map(message).collect(),
        })
    }

    /// An optimizer step on pairs.
    pub(crate) fn prefer(&self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, Failure> {
        let message = |pair: &veriplay_core::PreferencePair| {
            let [chosen, rejected] = pair.rollouts?;
            Some(PairMessage { chosen, rejected, weight: pair.weight, reference: pair.reference })
        };
        let (step, pairs) = (self.now.get().0, batch.pairs.iter().filter_map(message).collect());
        self.updated(&Request::Prefer { step, learning_rate, pairs })
    }

    fn updated(&self, request: &Request<'_>) -> Result<Update, Failure> {
        let report: Updated = self.ask(request).map_err(failure)?;
        // JSON has no such numbers: they are written as `null`.
        let unknown = |number: Option<f64>| number.unwrap_or(f64::NAN);
        Ok(Update {
            policy: self.version(),
            loss: unknown(report.loss),
            entropy: unknown(report.entropy),
            gradient_norm: unknown(report.grad_norm),
            tokens: report.tokens,
            metrics: std::collections::BTreeMap::new(),
        })
    }

    /// Lets the trainer save its state into a folder of the checkpoint.
    pub(crate) fn save(&self, checkpoint: &Path, step: u64) -> anyhow::Result<()> {
        let folder = std::path::absolute(checkpoint.join(FOLDER))?;
        fs::create_dir_all(&folder)?;
        self.ask::<Done>(&Request::Save { step, folder: &folder }).map(drop).map_err(anyhow::Error::msg)
    }

    pub(crate) fn report_step(&self, event: &impl Serialize) -> Result<(), Failure> {
        let metrics = serde_json::to_value(event).or_fail(ExitCode::Bug)?;
        self.send(&Request::Step { metrics }).map_err(failure)
    }

    pub(crate) fn finish(&self, summary: &Summary) -> Result<(), Failure> {
        self.send(&Request::End { summary }).map_err(failure)
    }

    const fn version(&self) -> PolicyVersion {
        PolicyVersion(self.now.get().0)
    }

    fn send(&self, request: &Request<'_>) -> Result<(), String> {
        let mut channel = self.channel.borrow_mut();
        let mut line = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let sent = channel.requests.write_all(&line).and_then(|()| channel.requests.flush());
        sent.map_err(|error| format!("the trainer does not read `{}`: {error}", self.name_of(request)))
    }

    /// Sends a request and reads the answer to it.
    fn ask<T: DeserializeOwned>(&self, request: &Request<'_>) -> Result<T, String> {
        let line = self.exchange(request)?;
        self.parse(request, &line, request.answer())
    }

    /// Sends a request and reads a line.
    fn exchange(&self, request: &Request<'_>) -> Result<String, String> {
        self.send(request)?;
        let (mut line, name) = (Vec::new(), self.name_of(request));
        let read = self.channel.borrow_mut().answers.read_until(b'\n', &mut line);
        read.map_err(|error| format!("the trainer's answer to `{name}` cannot be read: {error}"))?;
        match line.pop() {
            None => Err(format!("the trainer ended, or closed standard input, before it answered `{name}`")),
            Some(b'\n') => {
                String::from_utf8(line).map_err(|_| format!("the trainer's answer to `{name}` is not UTF-8"))
            }
            Some(_) => Err(format!("the trainer ended in the middle of its answer to `{name}`")),
        }
    }

    /// Parses an answer, which must be of the kind `wanted`.
    fn parse<T: DeserializeOwned>(&self, request: &Request<'_>, line: &str, wanted: &str) -> Result<T, String> {
        let name = self.name_of(request);
        let kind = kind_of(line, &name)?;
        let invalid =
            |error| format!("the trainer's answer `{kind}` to `{name}` is invalid: {error}: `{}`", quote(line));
        if kind == "error" {
            let failed: TrainerFailed = serde_json::from_str(line).map_err(invalid)?;
            return Err(format!("the trainer failed in `{name}`: {}", failed.message));
        }
        if kind != wanted {
            return Err(format!("the trainer answered `{kind}` to `{name}`, and `{wanted}` or `error` was expected"));
        }
        serde_json::from_str(line).map_err(invalid)
    }

    /// A request as errors name it between backticks.
    fn name_of(&self, request: &Request<'_>) -> String {
        let step = if let Request::Save { step, .. } = request { *step } else { self.now.get().0 };
        format!("{}` of step `{step}", request.name())
    }

    fn rollout(&self, id: Option<RolloutId>, prompt: &Prompt, answer: RolloutAnswer, stop: &[String]) -> Rollout {
        let RolloutAnswer { mut text, mut finish, tokens, logprobs } = answer;
        let stops = prompt.stop.iter().chain(stop);
        if let Some(end) = stops.filter_map(|stop| text.find(stop.as_str())).min() {
            text.truncate(end);
            finish = FinishReason::Stop;
        }
        if tokens.is_none() {
            self.text_only.set(true);
        }
        Rollout {
            id,
            // What tells prompts apart: the trainer has the tokens.
            prompt_tokens: prompt.text().bytes().map(u32::from).collect(),
            rendered_prompt: None,
            tokens: tokens.unwrap_or_default(),
            logprobs,
            text,
            finish,
            policy: self.version(),
        }
    }
}

impl Policy for ExternalTrainer {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let ((step, purpose), first) = (self.now.get(), self.next.get());
        let messages = prompts.iter().map(Into::into).collect();
        let request =
            Request::Generate { step, purpose, first_rollout: first, prompts: messages, sampling: sampling.into() };
        let line = self.exchange(&request).map_err(PolicyError::Trainer)?;
        let name = self.name_of(&request);
        if kind_of(&line, &name).map_err(PolicyError::Trainer)? == "prompt_too_long" {
            let long: PromptTooLong = self.parse(&request, &line, "prompt_too_long").map_err(PolicyError::Trainer)?;
            let PromptTooLong { index, tokens, context, .. } = long;
            let (response, limit) = (sampling.max_tokens, LengthLimit::of_context(context));
            return Err(PolicyError::PromptTooLong { index, tokens, response, limit });
        }
        let answer: Rollouts = self.parse(&request, &line, request.answer()).map_err(PolicyError::Trainer)?;
        check_rollouts(&answer.rollouts, prompts.len(), sampling)
            .map_err(|error| PolicyError::Trainer(format!("the trainer's answer to `{name}` is invalid: {error}")))?;
        self.next.set(first + (prompts.len() * sampling.group) as u64);
        let mut number = first;
        let mut rollout = |prompt: &Prompt, answer: RolloutAnswer| {
            let id = Some(RolloutId(number));
            number += 1;
            self.rollout(id, prompt, answer, &sampling.stop)
        };
        let groups = prompts.iter().zip(answer.rollouts);
        Ok(groups.map(|(prompt, group)| group.into_iter().map(|one| rollout(prompt, one)).collect()).collect())
    }
}

fn kind_of(line: &str, name: &str) -> Result<String, String> {
    let kind = serde_json::from_str::<AnswerKind>(line);
    kind.map(|answer| answer.kind).map_err(|error| {
        format!("the trainer's answer to `{name}` is no JSON object with a `type`: {error}: `{}`", quote(line))
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).with_context(|| format!("`{}` is no path", path.display())).or_fail(ExitCode::Input)
}

/// The number of rollouts, and each one's tokens.
fn check_rollouts(rollouts: &[Vec<RolloutAnswer>], prompts: usize, sampling: &Sampling) -> Result<(), String> {
    let Sampling { group, max_tokens, .. } = *sampling;
    if rollouts.len() != prompts {
        return Err(format!("`rollouts` has `{}` groups, and there are `{prompts}` prompts", rollouts.len()));
    }
    for (prompt, answers) in rollouts.iter().enumerate() {
        if answers.len() != group {
            let found = answers.len();
            return Err(format!("prompt `{prompt}` has `{found}` rollouts, and `group_size` is `{group}`"));
        }
        for (sample, RolloutAnswer { tokens, logprobs, .. }) in answers.iter().enumerate() {
            let (place, tokens) =
                (format!("rollout `{sample}` of prompt `{prompt}`"), tokens.as_ref().map_or(0, Vec::len));
            if tokens > max_tokens {
                return Err(format!("{place} has `{tokens}` tokens, and `max_tokens` is `{max_tokens}`"));
            }
            if !logprobs.is_empty() && logprobs.len() != tokens {
                return Err(format!("{place} has `{tokens}` tokens and `{}` logprobs", logprobs.len()));
            }
        }
    }
    Ok(())
}

fn reward_message(one: &RewardedRollout) -> RewardMessage {
    let role = one.role.name();
    RewardMessage {
        role: one.role,
        kind: one.kind,
        group: format!("{role}/{}/{}", one.kind, one.group),
        episode: one.episode,
        turn: one.turn,
        reward: one.reward.total(),
        parts: one.reward.parts.clone(),
        advantage: one.advantage,
    }
}

fn failure(what: String) -> Failure {
    Failure::message(ExitCode::Model, what)
}

/// The beginning of a line.
fn quote(line: &str) -> String {
    let short: String = line.chars().take(QUOTED).collect();
    if short.len() < line.len() { short + "…" } else { short }
}
