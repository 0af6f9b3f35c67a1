//! `soar` (SOAR, arXiv 2601.18778): proposers are rewarded for what their tasks teach, as trial updates show. A script over Absolute Zero.
//!
//! # One step
//! 1. Proposers write tasks as in Absolute Zero. Valid ones are drawn into batches at random, and solvers attempt them.
//! 2. Solvers attempt tasks of the pool. The update learns from these attempts alone.
//! 3. Behind the update, each batch has a trial: the share of right attempts at hard seed tasks is measured, the policy takes `soar.updates` steps on
//!    the attempts at the batch, the share is measured again, and the policy goes back to what it was. Where the mean progress of the last three
//!    steps is above `soar.promote_above`, the policy keeps the weights behind the best trial of the step instead: the student is promoted.
//! 4. In the next step every proposal of a batch is rewarded by the batch's progress, the difference of the two shares. A proposal that was refused
//!    has −0.5, and one that is known −0.25.
//!
//! # Choices
//! The paper's teacher writes for one student, which learns by promotion alone. Here the policy is both, it also learns from the pool, and what it
//! proposed enters the pool. The progress of a step is the mean over its trials. A step without trials counts in no mean, a promotion begins a new
//! one, and a trial without progress is never kept. Hard means that the last attempts were not all right. The trial's steps have the learning rate
//! of the update. With `game.proposer = "none"` it is reinforcement learning on the pool alone: the control.
//!
//! # Invariants
//! Those of Absolute Zero. A trial that is not kept leaves weights, optimizer and version as they were. No trial measures a task that the policy is
//! evaluated on, or one that a proposer wrote in a step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_absolute_zero::{AbsoluteZero, TripletTask};
use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::progress::counted;
use veriplay_core::{Reward, Role, Rollout, Sample, Snapshot, Status, TrainBatch};
use veriplay_run::scripted_setup::{ScriptSetup, ScriptedSetup};
use veriplay_selfplay::admission::Admission;
use veriplay_selfplay::after_update::AfterUpdate;
use veriplay_selfplay::environment::{Environment, SolverEpisode};
use veriplay_selfplay::game::{Game, Script};
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::step::{Attempts, Step};
use veriplay_selfplay::task_pool::PoolTask;

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "soar";

/// What a step leaves: the trials, and the proposals that wait for them.
const TRIALS: &str = "soar/trials";
const PROPOSALS: &str = "soar/proposals";

/// The progress of the last steps, as bits of numbers.
const PROGRESS: &str = "soar/progress";
/// How many steps decide on a promotion.
const DECIDING_STEPS: usize = 3;

/// The tables of Absolute Zero, and `[soar]`.
pub type SoarSetup = ScriptedSetup<SoarTables>;

/// The tables that Absolute Zero does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoarTables {
    /// Its one table, `[soar]` of the file.
    pub soar: Soar,
}

/// How many trials a step has, and how large they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Soar {
    /// Trials of a step at most: batches of proposals.
    pub batches: usize,
    /// Proposals of a batch, which share one reward.
    pub tasks_per_batch: usize,
    /// Optimizer steps of a trial.
    pub updates: usize,
    /// Tasks of the pool that show what a trial has taught.
    pub measured_tasks: usize,
    /// The mean progress of three steps above which the weights behind the best trial are kept. Absent means that no trial is kept.
    #[serde(default)]
    pub promote_above: Option<f64>,
}

/// The trials of a step, and what each of its held proposals is worth.
#[derive(Serialize, Deserialize)]
struct Trials {
    worths: Vec<Worth>,
    trials: Vec<Trial>,
}

/// What a proposal is rewarded by.
#[derive(Serialize, Deserialize)]
enum Worth {
    Invalid,
    Known,
    /// The progress of the trial of this number.
    Trial(usize),
}

/// What is learned from in a trial, and what came of it.
#[derive(Default, Serialize, Deserialize)]
struct Trial {
    tasks: Vec<AttemptedTask>,
    before: SolveCount,
    after: SolveCount,
}

/// The attempts at a task that some solved and some did not.
#[derive(Serialize, Deserialize)]
struct AttemptedTask {
    rate: f32,
    prompt: Vec<u32>,
    attempts: Vec<LearnedAttempt>,
}

/// An attempt, with the advantage over the mean of its group.
#[derive(Serialize, Deserialize)]
struct LearnedAttempt {
    tokens: Vec<u32>,
    logprobs: Vec<f32>,
    advantage: f32,
}

impl Script<AbsoluteZero> for Soar {
    fn step(&self, game: &AbsoluteZero, step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
        reward_earlier(step)?;
        step.propose(|proposing| game.proposers(proposing))?;
        let generator = &mut generator(step.seed(), step.number(), "soar/batches");
        let proposed = step.draw(|choice| {
            let fresh = choice.fresh(|_| true).into_iter().map(|one| (one, 1.0)).collect();
            let drawn = weighted_sample(fresh, self.batches * self.tasks_per_batch, generator);
            choice.take(drawn, usize::MAX);
        })?;
        let given = step.draw(|choice| game.choose_tasks(choice))?;
        step.admit();
        let tried = step.solve(proposed)?;
        self.hold(step, &tried)?;
        let tried = step.solve(given)?;
        game.imitate_answers(step, &tried)
    }

    fn after_update(&self, game: &AbsoluteZero, after: &mut AfterUpdate<'_, AbsoluteZero>) -> Result<(), PlayError> {
        let Some(left) = after.take(TRIALS) else { return Ok(()) };
        let mut left: Trials = serde_json::from_value(left).map_err(no_json)?;
        let measured = self.draw_measured(game, after);
        if left.trials.is_empty() || measured.is_empty() {
            after.defer(TRIALS, json(&left)?);
            return Ok(());
        }
        let (before, start) = (measure(after, &measured)?, after.snapshot()?);
        let (mut most, mut best) = (0.0, None);
        for trial in &mut left.trials {
            (trial.before, trial.after) = (before, before);
            let Some(batch) = train_batch(std::mem::take(&mut trial.tasks)) else { continue };
            for _ in 0..self.updates {
                after.train(&batch, after.learning_rate())?;
            }
            trial.after = measure(after, &measured)?;
            if self.promote_above.is_some() && trial.progress() > most {
                (most, best) = (trial.progress(), Some(after.snapshot()?));
            }
            after.restore(&start)?;
        }
        let progress = left.trials.iter().map(Trial::progress).sum::<f64>() / left.trials.len() as f64;
        after.fact("progress", progress);
        if let Some(bound) = self.promote_above {
            promote(after, bound, progress, best.as_ref())?;
        }
        after.defer(TRIALS, json(&left)?);
        Ok(())
    }
}

impl Soar {
    /// Keeps the proposals until their trials are over, and the attempts at them for the trials: the update learns from neither.
    fn hold(&self, step: &mut Step<'_, AbsoluteZero>, tried: &Attempts) -> Result<(), PlayError> {
        let attempted: Vec<Option<usize>> =
            step.facts().tasks[tried.tasks()].iter().map(|asked| asked.proposal).collect();
        let worths = step.facts().proposals.iter().enumerate().filter_map(|(index, one)| {
            let worth = match one.admission {
                Admission::Dropped => None,
                Admission::Malformed | Admission::Invalid => Some(Worth::Invalid),
                Admission::Duplicate => Some(Worth::Known),
                Admission::Admitted(_) => {
                    let place = attempted.iter().position(|proposal| *proposal == Some(index));
                    place.map(|place| Worth::Trial(place / self.tasks_per_batch))
                }
            };
            Some((Response { part: Part::Proposal, index }, worth?))
        });
        let (held, worths): (Vec<Response>, Vec<Worth>) = worths.unzip();
        let tasks: Vec<_> = step.solved(tried).into_iter().map(|(_, attempts)| attempted_task(attempts)).collect();
        let mut trials = Vec::new();
        for (place, task) in tasks.into_iter().enumerate() {
            if place.is_multiple_of(self.tasks_per_batch) {
                trials.push(Trial::default());
            }
            trials[place / self.tasks_per_batch].tasks.extend(task);
        }
        let attempts = step.responses(tried).into_iter().map(|(response, _)| response);
        // A proposal that no batch has is worth what nobody knows.
        let proposals = (0..step.facts().proposals.len()).map(|index| Response { part: Part::Proposal, index });
        let left_out: Vec<Response> = attempts.chain(proposals.filter(|one| !held.contains(one))).collect();
        left_out.into_iter().try_for_each(|one| step.leave_out(one))?;
        step.defer_episodes(PROPOSALS, &held)?;
        step.defer(TRIALS, json(&Trials { worths, trials })?);
        Ok(())
    }

    /// Seed tasks that solvers do not always solve.
    fn draw_measured(&self, game: &AbsoluteZero, after: &AfterUpdate<'_, AbsoluteZero>) -> Vec<TripletTask> {
        let kinds = game.kinds();
        let seeds = after.pool().entries().iter().filter(|entry| entry.seed && kinds.contains(&entry.task.kind()));
        let hard = seeds.filter(|entry| entry.last.is_none_or(|last| last.solved < last.judged));
        let generator = &mut generator(after.seed(), after.number(), "soar/measured");
        let drawn = weighted_sample(hard.map(|entry| (&entry.task, 1.0)).collect(), self.measured_tasks, generator);
        drawn.into_iter().cloned().collect()
    }
}

/// Keeps the weights behind the best trial of a step with this progress, where the last steps have made enough of it.
fn promote(
    after: &mut AfterUpdate<'_, AbsoluteZero>,
    bound: f64,
    progress: f64,
    best: Option<&Snapshot>,
) -> Result<(), PlayError> {
    let left = after.take(PROGRESS).map(serde_json::from_value::<Vec<u64>>).transpose().map_err(no_json)?;
    let mut last = left.unwrap_or_default();
    last.push(progress.to_bits());
    last.drain(..last.len().saturating_sub(DECIDING_STEPS));
    let mean = last.iter().map(|bits| f64::from_bits(*bits)).sum::<f64>() / DECIDING_STEPS as f64;
    let student = best.filter(|_| last.len() == DECIDING_STEPS && mean > bound);
    if let Some(student) = student {
        after.restore(student)?;
        last.clear();
    }
    after.fact("promoted", f64::from(u8::from(student.is_some())));
    after.defer(PROGRESS, serde_json::to_value(last).map_err(no_json)?);
    Ok(())
}

/// Gives the proposals of the last step what their trials were worth.
fn reward_earlier(step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
    let Some(left) = step.deferred(TRIALS) else { return Ok(()) };
    let Trials { worths, trials } = serde_json::from_value(left.clone()).map_err(no_json)?;
    let rewards = worths.iter().map(|worth| match worth {
        Worth::Invalid => Reward::single("validity", -0.5),
        Worth::Known => Reward::single("novelty", -0.25),
        Worth::Trial(number) => Reward::single("progress", trials.get(*number).map_or(0.0, Trial::progress)),
    });
    step.reward_deferred(PROPOSALS, Role::PROPOSER, &rewards.collect::<Vec<_>>())?;
    Ok(())
}

/// The attempts at a task as a trial learns from them; `None` where all or none are right.
fn attempted_task(attempts: &[SolverEpisode<AbsoluteZero>]) -> Option<AttemptedTask> {
    let judged = attempts.iter().filter_map(|one| {
        let is_right = one.judged.verdict.as_ref().ok()?.status == Status::Accepted;
        let (_, rollout) = one.finished.turns.first()?;
        Some((rollout, is_right))
    });
    let judged: Vec<(&Rollout, bool)> = judged.filter(|(rollout, _)| !rollout.tokens.is_empty()).collect();
    let mut count = SolveCount::default();
    judged.iter().for_each(|(_, is_right)| count.add(*is_right));
    let (rate, (first, _)) = (count.rate().filter(|_| count.is_learnable())?, judged.first()?);
    let attempts = judged.iter().map(|(rollout, is_right)| LearnedAttempt {
        tokens: rollout.tokens.clone(),
        logprobs: rollout.logprobs.clone(),
        advantage: (f64::from(u8::from(*is_right)) - rate) as f32,
    });
    Some(AttemptedTask { rate: rate as f32, prompt: first.prompt_tokens.clone(), attempts: attempts.collect() })
}

/// A mean over tokens; `None` where there is nothing to learn.
fn train_batch(tasks: Vec<AttemptedTask>) -> Option<TrainBatch> {
    let mut samples = Vec::new();
    for AttemptedTask { rate, prompt, attempts } in tasks {
        let prompt: Arc<[u32]> = prompt.into();
        samples.extend(attempts.into_iter().map(|one| Sample {
            behaviour: (!one.logprobs.is_empty()).then_some(one.logprobs),
            role: Some(Role::SOLVER),
            rate: Some(rate),
            ..Sample::new(prompt.clone(), one.tokens, one.advantage)
        }));
    }
    let tokens: usize = samples.iter().map(|sample| sample.response.len()).sum();
    (tokens > 0).then_some(TrainBatch { samples, normalizer: tokens as f64 })
}

/// How often the policy as it is now solves these tasks, all together.
fn measure(after: &mut AfterUpdate<'_, AbsoluteZero>, tasks: &[TripletTask]) -> Result<SolveCount, PlayError> {
    let mut sum = SolveCount::default();
    for SolveCount { solved, judged } in after.measure(tasks)?.into_iter().flatten() {
        (sum.solved, sum.judged) = (sum.solved + solved, sum.judged + judged);
    }
    Ok(sum)
}

impl Trial {
    /// How much larger the share of right attempts was after the trial.
    fn progress(&self) -> f64 {
        self.after.rate().unwrap_or_default() - self.before.rate().unwrap_or_default()
    }
}

fn json(trials: &Trials) -> Result<serde_json::Value, PlayError> {
    serde_json::to_value(trials).map_err(no_json)
}

fn no_json(error: serde_json::Error) -> PlayError {
    PlayError::Setup(format!("what `soar` has deferred is no list of trials or of their progress: {error}"))
}

impl ScriptSetup for SoarTables {
    type Base = AbsoluteZeroSetup;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval", "soar"];
    const ACTS_AFTER_UPDATE: bool = true;

    fn validate(&self, base: &AbsoluteZeroSetup) -> Result<(), Failure> {
        let Soar { batches, tasks_per_batch, updates, measured_tasks, promote_above } = self.soar;
        for (key, count) in [
            ("soar.batches", batches),
            ("soar.tasks_per_batch", tasks_per_batch),
            ("soar.updates", updates),
            ("soar.measured_tasks", measured_tasks),
        ] {
            if !(1..=65_536).contains(&count) {
                return Err(bad_value(key, &count, "a whole number from 1 to 65536"));
            }
        }
        if let Some(bound) = promote_above.filter(|bound| !(0.0..1.0).contains(bound)) {
            return Err(bad_value("soar.promote_above", &bound, "from 0 to below 1, or left out: no trial is kept"));
        }
        let fresh = base.game.own.fresh_fraction;
        if fresh != 0.0 {
            return Err(bad_value("game.fresh_fraction", &fresh, "0: proposals are attempted for their trials"));
        }
        if base.game.shared.learn_from.makes_pairs() {
            let value = base.game.shared.learn_from.name();
            return Err(bad_value("game.learn_from", &value, "another value: deferred proposals would be in no pair"));
        }
        if base.tasks.seeds_per_type == 0 && base.game.shared.seed_proposals == 0 {
            return Err(bad_value("tasks.seeds_per_type", &0, "above 0: progress is measured on seed tasks"));
        }
        Ok(())
    }

    /// A trial is an update of its own.
    fn more_tokens(&self, base: &AbsoluteZeroSetup, context: usize) -> usize {
        let shared = &base.game.shared;
        self.soar.tasks_per_batch * (context + shared.group_size * shared.solver_max_tokens)
    }

    fn describe_step(&self, base: &AbsoluteZeroSetup) -> Vec<String> {
        let Soar { batches, tasks_per_batch, updates, measured_tasks, promote_above } = self.soar;
        let (trials, proposals) = (counted(batches, "trial"), counted(tasks_per_batch, "proposal"));
        let (updates, tasks) = (counted(updates, "update"), counted(measured_tasks, "task"));
        let own = format!("behind it at most {trials}, each of {updates} on {proposals} and measured on {tasks}");
        let kept = promote_above.map(|bound| {
            format!("the best is kept where the mean progress of {DECIDING_STEPS} steps is above {bound}")
        });
        // Attempts at the batches, and measurements before and after the trials.
        let attempted = batches * tasks_per_batch + (batches + 1) * measured_tasks;
        let jobs = attempted * base.game.shared.group_size;
        base.describe_step_with(jobs).into_iter().chain([own]).chain(kept).collect()
    }

    fn script(&self, _base: &AbsoluteZeroSetup) -> Result<Box<dyn Script<AbsoluteZero>>, Failure> {
        Ok(Box::new(self.soar.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use veriplay_console::isolation::Isolation;
    use veriplay_core::{
        Learn, LearnError, Policy, PolicyError, PolicyVersion, PreferenceBatch, Prompt, Question, Sampling,
        ScriptedPolicy, ScriptedRequest, TaskType, Update, Value,
    };
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_selfplay::after_update::UpdatedPolicy;
    use veriplay_selfplay::driver::StepUpdate;
    use veriplay_selfplay::game_state::GameState;
    use veriplay_selfplay::play::{Batch, StepContext};

    use super::*;

    /// Two proposals at the input 3, and what they return. Only updates on the first teach the student anything.
    const TEACHES: (&str, &str) = ("def f(x):\n    x = x + 12345\n    return x * 2", "24696");
    const OTHER: (&str, &str) = ("def f(x):\n    x = x + 54321\n    return x * 2", "108648");

    /// Solves every second attempt at its own proposals, and of the others so many as it has skill.
    #[derive(Default)]
    struct Student {
        skill: usize,
        /// The answers to the tasks of the pool, by the ends of their prompts.
        answers: Vec<(String, String)>,
    }

    impl Policy for Student {
        fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
            let (skill, answers) = (self.skill, self.answers.clone());
            let script = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| {
                let prompt = turn.prompt.text();
                if prompt.ends_with("<PD>") {
                    return format!("{}<I>3", [TEACHES, OTHER][turn.sample % 2].0);
                }
                let own = [TEACHES, OTHER].into_iter().find(|(program, _)| prompt.contains(program));
                let answer = match own {
                    Some((_, answer)) => Some(answer.to_owned()).filter(|_| turn.sample.is_multiple_of(2)),
                    None => {
                        let known = answers.iter().find(|(asked, _)| prompt.ends_with(asked.as_str()));
                        known.filter(|_| turn.sample < skill).map(|(_, answer)| answer.clone())
                    }
                };
                answer.unwrap_or_else(|| "-98765".to_owned())
            });
            script.generate(prompts, sampling)
        }
    }

    fn text(tokens: &[u32]) -> String {
        tokens.iter().filter_map(|token| char::from_u32(*token)).collect()
    }

    impl Learn for Student {
        fn update(&mut self, batch: &TrainBatch, _: f64) -> Result<Update, LearnError> {
            let teaches = batch.samples.iter().any(|sample| text(&sample.prompt).contains("12345"));
            self.skill += usize::from(teaches);
            let (policy, metrics) = (PolicyVersion(0), BTreeMap::new());
            Ok(Update { policy, loss: 0.0, entropy: 0.0, gradient_norm: 0.0, tokens: 0, metrics })
        }

        fn prefer(&mut self, _: &PreferenceBatch, _: f64) -> Result<Update, LearnError> {
            Err(LearnError::BadBatch("no pairs".to_owned()))
        }

        fn snapshot(&self) -> Result<Snapshot, LearnError> {
            Ok(Snapshot::new(self.skill))
        }

        fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError> {
            self.skill = *snapshot.state()?;
            Ok(())
        }
    }

    /// The quickstart with two proposals of deduction tasks, and a trial for each.
    fn setup() -> SoarSetup {
        let text = builtin_configs::find(NAME).expect("it is built in").text;
        let mut setup = PlayConfig::<SoarSetup>::parse(text, NAME.as_ref()).expect("it is valid").setup;
        setup.own.soar = Soar { batches: 2, tasks_per_batch: 1, updates: 1, measured_tasks: 8, promote_above: None };
        let AbsoluteZeroSetup { game, tasks, eval, .. } = &mut setup.base;
        (game.own.task_types, game.own.proposals_per_type) = (vec![TaskType::Deduction], 2);
        (game.own.tasks_per_type, game.shared.group_size) = (4, 2);
        // The scripted policy has a token for each letter.
        (game.shared.sft_samples, game.shared.proposer_max_tokens) = (0, 512);
        (tasks.seeds_per_type, tasks.sft_per_type, eval.tasks) = (16, 0, 3);
        setup
    }

    /// The answers to the tasks of the pool, by the ends of their prompts.
    fn answers(state: &GameState<TripletTask>) -> Vec<(String, String)> {
        let answers = state.pool.entries().iter().filter_map(|entry| match &entry.task.question {
            Question::Deduction { program, pair } => {
                let asked = format!("{program}<I>{}<O>", Value::arguments_text(&pair.input));
                Some((asked, pair.output.to_string()))
            }
            _ => None,
        });
        answers.collect()
    }

    #[test]
    fn a_proposal_is_rewarded_by_what_its_batch_teaches_and_a_trial_leaves_nothing_behind() {
        let (executor, game) = setup().open(Isolation::Thread).expect("the image is there");
        let mut student = Student::default();
        let mut state: GameState<TripletTask> =
            game.init(&StepContext { policy: &student, execute: &executor, seed: 1 }).expect("seeds");
        student.answers = answers(&state);
        let context = StepContext { policy: &student, execute: &executor, seed: 1 };
        let first = game.step(&context, &mut state, 0).expect("a step");
        assert!(first.batches.is_empty(), "nothing is known of the proposals, and nothing else was solved");
        let policy = UpdatedPolicy::Learner(&mut student);
        let update = StepUpdate { policy, execute: &executor, seed: 1, step: 0, learning_rate: 0.1 };
        let numbers = game.after_update(update, &mut state).expect("two trials");
        // One of two attempts at each of eight tasks is right after one of the trials, and none before or after the other.
        assert_eq!((numbers["progress"], student.skill), (0.25, 0));
        let saved = serde_json::to_string(&state).expect("JSON");
        let mut resumed: GameState<TripletTask> = serde_json::from_str(&saved).expect("a state");
        let context = StepContext { policy: &student, execute: &executor, seed: 1 };
        let second = game.step(&context, &mut state, 1).expect("a step");
        assert_eq!(game.step(&context, &mut resumed, 1).expect("a step").batches, second.batches);
        let [Batch::Samples(batch)] = second.batches.as_slice() else { panic!("{:?}", second.batches) };
        let proposed = batch.samples.iter().filter(|one| one.role == Some(Role::PROPOSER));
        let mut signs: Vec<(bool, bool)> =
            proposed.map(|one| (text(&one.response).contains("12345"), one.weight > 0.0)).collect();
        signs.sort_unstable();
        assert_eq!(signs, [(false, false), (true, true)]);
        let again = game.replay(&executor, &second.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
    }

    fn tokens(text: &str) -> Vec<u32> {
        text.chars().map(u32::from).collect()
    }

    /// A trial on one attempt at a task with this prompt.
    fn trial(prompt: &str) -> Trial {
        let attempt = LearnedAttempt { tokens: tokens("1"), logprobs: Vec::new(), advantage: 0.5 };
        let task = AttemptedTask { rate: 0.5, prompt: tokens(prompt), attempts: vec![attempt] };
        Trial { tasks: vec![task], ..Trial::default() }
    }

    /// Six steps in which the first of two trials teaches: progress and promotion of each, the skill of the student behind them, and the state.
    fn six_steps(bound: f64, is_resumed: bool) -> (Vec<(f64, f64)>, usize, String) {
        let mut setup = setup();
        setup.own.soar.promote_above = Some(bound);
        let (executor, game) = setup.open(Isolation::Thread).expect("the image is there");
        let mut student = Student::default();
        let mut state: GameState<TripletTask> =
            game.init(&StepContext { policy: &student, execute: &executor, seed: 1 }).expect("seeds");
        student.answers = answers(&state);
        let mut numbers = Vec::new();
        for step in 0..6 {
            let trials = Trials { worths: Vec::new(), trials: vec![trial("12345"), trial("54321")] };
            state.deferred.insert(TRIALS.to_owned(), json(&trials).expect("JSON"));
            let policy = UpdatedPolicy::Learner(&mut student);
            let update = StepUpdate { policy, execute: &executor, seed: 1, step, learning_rate: 0.1 };
            let stated = game.after_update(update, &mut state).expect("two trials");
            numbers.push((stated["progress"], stated["promoted"]));
            if is_resumed {
                let saved = serde_json::to_string(&state).expect("JSON");
                state = serde_json::from_str(&saved).expect("a state");
            }
        }
        (numbers, student.skill, serde_json::to_string(&state).expect("JSON"))
    }

    #[test]
    fn the_best_trial_is_kept_where_three_steps_made_progress_and_a_resumed_run_keeps_the_same() {
        let played = six_steps(0.01, false);
        let three = [(0.25, 0.0), (0.25, 0.0), (0.25, 1.0)];
        assert_eq!((&played.0[..3], &played.0[3..], played.1), (&three[..], &three[..], 2));
        assert_eq!(six_steps(0.01, true), played);
        // The mean is 0.25, which is not above it.
        let (numbers, skill, _) = six_steps(0.25, false);
        assert_eq!((numbers, skill), (vec![(0.25, 0.0); 6], 0));
    }

    #[test]
    fn proposals_that_are_attempted_outside_of_their_trials_are_refused() {
        let mut setup = setup();
        assert!(setup.own.validate(&setup.base).is_ok());
        setup.base.game.own.fresh_fraction = 0.25;
        let failure = setup.own.validate(&setup.base).expect_err("a step would learn from them");
        assert!(failure.to_string().contains("`game.fresh_fraction`"), "{failure}");
        (setup.base.game.own.fresh_fraction, setup.own.soar.updates) = (0.0, 0);
        let failure = setup.own.validate(&setup.base).expect_err("a trial without an update");
        assert!(failure.to_string().contains("`soar.updates`"), "{failure}");
        (setup.own.soar.updates, setup.own.soar.promote_above) = (1, Some(-0.1));
        let failure = setup.own.validate(&setup.base).expect_err("what does harm would be kept");
        assert!(failure.to_string().contains("`soar.promote_above`"), "{failure}");
    }
}
