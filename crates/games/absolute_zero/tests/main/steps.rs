//! Whole steps of the driver: a scripted policy behind the `Policy` seam, and verdicts read from what it writes.

mod ablations;
mod batches;
mod credit;
mod own_methods;
mod pairs;
mod saved_state;
mod scripts;
mod self_imitation;
mod task_choice;
mod temperature_search;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use veriplay_absolute_zero::{
    AbsoluteZero, AbsoluteZeroConfig, AbsoluteZeroMetrics, AbsoluteZeroRequest, ProposalCounts, RoleMetrics,
    TripletTask, note_attempt, step_metrics,
};
use veriplay_core::{
    Attempt, Digest, Execute, FinishReason, Policy, PolicyError, Prompt, Reward, Role, Rollout, Sample, Sampling,
    ScriptedPolicy, Status, TaskType, TrainBatch, Value,
};
use veriplay_selfplay::admission::{Admission, JudgedProposal};
use veriplay_selfplay::advantages::{self, AdvantageEstimator, EpisodeNotes};
use veriplay_selfplay::driver::{Output, SelfPlay};
use veriplay_selfplay::environment::{
    Environment, GameBase, JudgedProposalOf, JudgedResponseOf, OpenedEpisode, ProposalBatch, ProposalToJudge, Proposer,
    Proposing, SamplingCall, Stage, TaskEpisode,
};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::judgement::{JudgedResponse, Never, Seeds};
use veriplay_selfplay::play::{Batch, Measurement, PlayError, StepContext};
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::records::{AttemptRecord, LogRecord, ProposalRecord, Record, TaskRecord};
use veriplay_selfplay::rollout::{FinishedEpisode, SingleTurn};
use veriplay_selfplay::scoring::SftExample;
use veriplay_selfplay::settings::{Aggregation, Phase, ProposerMode, ZeroAdvantage};
use veriplay_selfplay::step::Step;
use veriplay_selfplay::task_pool::{PoolTask, Source, TaskPool};

use crate::support::{Nobody, config, dropped, game, malformed, proposal, rollout, seeds, task, verdict};

/// Absolute Zero, judged by a table: a proposal is a word and a number, such as `good 7`; an answer is a word.
struct Table {
    game: AbsoluteZero,
    seeds: std::ops::Range<i64>,
}

impl Environment for Table {
    type Task = TripletTask;
    type Request = AbsoluteZeroRequest;
    type Episode = SingleTurn;
    type ProposalDetail = Attempt;
    type SolutionDetail = Attempt;
    type Round = Never;
    type Derivation = Never;

    const KINDS: &'static [&'static str] = AbsoluteZero::KINDS;

    fn base(&self) -> &GameBase<TripletTask> {
        self.game.base()
    }

    fn proposer_episode(
        &self,
        execute: &dyn Execute,
        request: &AbsoluteZeroRequest,
    ) -> Result<Option<SingleTurn>, PlayError> {
        self.game.proposer_episode(execute, request)
    }

    fn judge_proposals(&self, _execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let mut judge = |(place, one): (usize, &ProposalToJudge<'_, Self>)| {
            let (word, number) = one.finished.last().unwrap().text.split_once(' ').unwrap_or(("junk", "0"));
            let (task_type, number) = (one.request.task_type, number.parse().unwrap());
            let made = task(task_type, number);
            let known = word != "junk" && is_known(place, &made.key());
            let (detail, verdict, task) = match word {
                "good" if known => (true, Ok(verdict(Status::Invalid)), None),
                "good" => (true, Ok(verdict(Status::Valid)), Some(made)),
                "bad" => (true, Ok(verdict(Status::Invalid)), None),
                "lost" => (true, Err(dropped()), None),
                _ => (false, Ok(verdict(Status::Malformed)), None),
            };
            let detail = if detail { Attempt::Proposal(proposal(task_type, number)) } else { malformed() };
            JudgedProposal { verdict, task, known, guess_rate: None, detail }
        };
        proposals.iter().enumerate().map(&mut judge).collect()
    }

    fn admissions(&self, judged: &[&JudgedProposalOf<Self>]) -> Vec<Admission<TripletTask>> {
        self.game.admissions(judged)
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.game.kinds()
    }

    /// By the last digit of the number that the program adds.
    fn behaviours(&self, _execute: &dyn Execute, tasks: &[&TripletTask]) -> Vec<Option<Digest>> {
        tasks.iter().map(|task| Some(Digest::of(task.question.program().as_bytes().last_chunk::<1>()?))).collect()
    }

    fn solver_episodes(&self, execute: &dyn Execute, seeds: Seeds, tasks: &[&TripletTask]) -> Vec<OpenedEpisode<Self>> {
        self.game.solver_episodes(execute, seeds, tasks)
    }

    fn judge_solutions(
        &self,
        _execute: &dyn Execute,
        _seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        let judge = |(_, episode): &(&TripletTask, &FinishedEpisode<SingleTurn>)| {
            let value = Attempt::Value(Value::None);
            let (detail, verdict) = match episode.last().unwrap().text.as_str() {
                text if text.starts_with("right") => (value, Ok(verdict(Status::Accepted))),
                "wrong" => (value, Ok(verdict(Status::WrongAnswer))),
                "lost" => (value, Err(dropped())),
                _ => (malformed(), Ok(verdict(Status::Malformed))),
            };
            JudgedResponse { verdict, detail }
        };
        solutions.iter().map(judge).collect()
    }

    fn is_well_formed(&self, episode: &FinishedEpisode<SingleTurn>) -> bool {
        self.game.is_well_formed(episode)
    }

    fn chunk(&self, stage: Stage) -> usize {
        self.game.chunk(stage)
    }

    fn sampling_seed(&self, run: u64, step: u64, draw: &SamplingCall) -> u64 {
        self.game.sampling_seed(run, step, draw)
    }
}

impl Game for Table {
    type Metrics = AbsoluteZeroMetrics;

    const HAS_PRIVILEGED_PROMPTS: bool = true;
    const HAS_WAYPOINTS: bool = true;

    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        step.propose(|proposing| self.proposers(proposing))?;
        let tasks = step.draw(|choice| self.game.choose_tasks(choice))?;
        step.admit();
        step.solve(tasks)?;
        Ok(())
    }

    fn proposers(&self, proposing: &Proposing<'_, TripletTask>) -> Result<Vec<Proposer<Self>>, PlayError> {
        let proposers = self.game.proposers(proposing)?.into_iter();
        let own = |one: Proposer<AbsoluteZero>| {
            let Proposer { request, episode, rollouts, kind } = one;
            Proposer { request, episode, rollouts, kind }
        };
        Ok(proposers.map(own).collect())
    }

    fn initial_pool(&self, _context: &StepContext<'_>) -> Result<TaskPool<TripletTask>, PlayError> {
        let mut pool = TaskPool::default();
        pool.add_seeds(seeds(self.seeds.clone()));
        Ok(pool)
    }

    /// Everything is trusted half; asked for only where it is read.
    fn notes(&self, _facts: &StepFacts<Self>, _response: Response) -> EpisodeNotes {
        let named = self.settings().advantage.as_deref().and_then(advantages::by_name);
        assert!(named.is_some_and(AdvantageEstimator::reads_notes), "nobody reads notes");
        EpisodeNotes { trust: Some(0.5), ..EpisodeNotes::default() }
    }

    fn privileged_prompt(&self, task: &TripletTask) -> Option<Prompt> {
        self.game.privileged_prompt(task)
    }

    /// Of deduction tasks three that no prompt shows, and one that all show.
    fn waypoints(&self, _execute: &dyn Execute, tasks: &[&TripletTask]) -> Vec<Option<Vec<String>>> {
        let values = || ["return", "wrong", "[12]", "777777"].map(str::to_owned).to_vec();
        tasks.iter().map(|task| (task.kind() == TaskType::Deduction.name()).then(values)).collect()
    }

    fn metrics(&self, step: &StepFacts<Self>) -> AbsoluteZeroMetrics {
        step_metrics(self, step)
    }

    fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        self.game.preview(execute)
    }
}

struct Script {
    /// The proposals of each deduction and abduction batch, and of each induction batch.
    proposals: Vec<String>,
    /// The answer to sample `j` of a prompt.
    answer: fn(&Prompt, usize) -> &'static str,
}

impl Script {
    /// Four good proposals that no other step makes; every second answer is right.
    fn fresh(step: u64) -> Self {
        let proposals = (0..4).map(|index| format!("good {}", 1_000 + 10 * step + index)).collect();
        Self { proposals, answer: |_, sample| ["right", "wrong"][sample % 2] }
    }

    /// No proposals; about half of the prompts are learnable, the others always solved.
    fn half_learnable() -> Self {
        let answer = |prompt: &Prompt, sample| {
            let is_learnable = Digest::of(prompt.text().as_bytes()).as_str() < "8";
            if is_learnable && sample > 0 { "wrong" } else { "right" }
        };
        Self { proposals: Vec::new(), answer }
    }

    fn of(proposals: &[&str]) -> Self {
        Self { proposals: proposals.iter().map(|text| (*text).to_owned()).collect(), ..Self::fresh(0) }
    }

    fn policy(&self) -> ScriptedPolicy {
        let (proposals, answer) = (self.proposals.clone(), self.answer);
        ScriptedPolicy::new(move |turn| match turn.prompt.role {
            Role::PROPOSER => proposals[turn.index * turn.sampling.group + turn.sample].clone(),
            _ => answer(turn.prompt, turn.sample).to_owned(),
        })
    }
}

type State = GameState<TripletTask>;

fn table(config: AbsoluteZeroConfig) -> SelfPlay<Table> {
    SelfPlay::new(Table { game: game(config).unwrap(), seeds: 0..9 })
}

/// The state with seeds on the programs that add `numbers`, and without supervised examples.
fn seeded(numbers: std::ops::Range<i64>) -> State {
    let mut pool = TaskPool::default();
    pool.add_seeds(seeds(numbers));
    GameState { pool, ..GameState::default() }
}

fn context(policy: &dyn Policy) -> StepContext<'_> {
    StepContext { policy, execute: &Nobody, seed: 1 }
}

type Proposed = ProposalRecord<AbsoluteZeroRequest, TripletTask, Attempt>;
type Solved = TaskRecord<TripletTask, Attempt>;

/// Those of the records that are proposals.
fn proposals(records: &[Record<Table>]) -> impl Iterator<Item = &Proposed> {
    records.iter().filter_map(|record| if let LogRecord::Proposal(one) = record { Some(&**one) } else { None })
}

/// Those of the records that are tasks with attempts.
fn tasks(records: &[Record<Table>]) -> impl Iterator<Item = &Solved> {
    records.iter().filter_map(|record| if let LogRecord::Task(one) = record { Some(&**one) } else { None })
}

/// The samples of a step that learns by a policy gradient.
fn samples(output: &Output<Table>) -> &[Sample] {
    match output.batches.as_slice() {
        [] => &[],
        [Batch::Samples(batch)] => &batch.samples,
        others => panic!("{others:?}"),
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Played {
    proposals: Vec<Proposed>,
    tasks: Vec<Solved>,
    metrics: AbsoluteZeroMetrics,
    batch: Option<TrainBatch>,
}

impl Played {
    fn attempts(&self) -> impl Iterator<Item = &AttemptRecord<Attempt>> {
        self.tasks.iter().flat_map(|task| &task.attempts)
    }

    fn samples(&self) -> &[Sample] {
        self.batch.as_ref().map_or(&[], |batch| &batch.samples)
    }

    /// The reward of each proposal of `task_type`, in order; `None` where it has none.
    fn rewards(&self, task_type: TaskType) -> Vec<Option<f64>> {
        let of_type = self.proposals.iter().filter(|one| one.request.task_type == task_type);
        of_type.map(|one| one.episode.reward.as_ref().map(Reward::total)).collect()
    }

    fn proposer(&self) -> &RoleMetrics {
        self.of_role(Role::PROPOSER, TaskType::Deduction)
    }

    fn proposals(&self) -> &ProposalCounts {
        self.proposer().proposals.as_ref().unwrap()
    }

    /// The numbers of `role` on `task_type`.
    fn of_role(&self, role: Role, task_type: TaskType) -> &RoleMetrics {
        self.metrics.roles.iter().find(|one| one.role == role && one.task_type == task_type).unwrap()
    }

    /// Mean solve rate over all solver tasks.
    fn solve_rate(&self) -> Option<f64> {
        let solver = || self.metrics.roles.iter().filter(|one| one.role == Role::SOLVER);
        let tasks: usize = solver().map(|one| one.tasks).sum();
        let sum: f64 = solver().filter_map(|one| Some(one.solve_rate? * one.tasks as f64)).sum();
        (tasks > 0).then(|| sum / tasks as f64)
    }
}

fn play(game: &SelfPlay<Table>, state: &mut State, seed: u64, step: u64, script: &Script) -> Played {
    let played = game.step(&StepContext { seed, ..context(&script.policy()) }, state, step).unwrap();
    // As the log gives them back.
    let records: Vec<Record<Table>> = serde_json::from_str(&serde_json::to_string(&played.records).unwrap()).unwrap();
    let (proposals, tasks) = (proposals(&records).cloned().collect(), tasks(&records).cloned().collect());
    let batch = played.batches.into_iter().next().map(|batch| match batch {
        Batch::Samples(batch) => batch,
        Batch::Preferences(_) => panic!("no pairs were asked for"),
    });
    Played { proposals, tasks, metrics: played.metrics, batch }
}

fn play_once(config: AbsoluteZeroConfig, script: &Script) -> Played {
    play(&table(config), &mut seeded(0..9), 1, 0, script)
}

#[test]
fn a_whole_step_rewards_both_roles_on_all_types() {
    let mut state = seeded(0..9);
    let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
    let played = play(&table(config()), &mut state, 1, 0, &script);
    for task_type in TaskType::STANDARD {
        // Half of the rollouts solve the first; the last is a seed.
        assert_eq!(played.rewards(task_type), [Some(0.5), Some(-0.5), Some(-0.5), Some(-0.25)], "{task_type:?}");
        assert_eq!(state.pool.of_kind(task_type.name()).count(), 10);
    }
    assert_eq!((played.tasks.len(), played.attempts().count()), (12, 48));
    let metrics = played.proposer();
    let proposals = played.proposals();
    assert_eq!((metrics.rollouts, proposals.valid, metrics.malformed, proposals.duplicates), (4, 1, 1, 1));
    assert_eq!((proposals.valid_rate, metrics.solve_rate, metrics.learnable_share), (Some(0.25), Some(0.5), Some(1.0)));
    assert_eq!(metrics.reward_mean, Some(-0.1875));
    assert_eq!(metrics.response_tokens_mean, Some(f64::from(8 + 5 + 7 + 7) / 4.0));
    let judged = TaskType::STANDARD.map(|task_type| {
        let proposer = played.of_role(Role::PROPOSER, task_type);
        (proposer.proposals.as_ref().unwrap().valid, proposer.rollouts - proposer.dropped)
    });
    assert_eq!(judged, [(1, 4); 3]);
    assert_eq!(played.solve_rate(), Some(0.5));
    let solver = played.of_role(Role::SOLVER, TaskType::Induction);
    assert_eq!((solver.rollouts, solver.tasks, solver.reward_mean), (16, 4, Some(0.5)));
}

#[test]
fn the_numbers_of_a_solver_have_no_keys_of_proposals() {
    let played = play_once(config(), &Script::of(&["good 20", "junk", "bad 21", "good 1"]));
    let keys = |role: Role| {
        let numbers = serde_json::to_value(played.of_role(role, TaskType::Deduction)).unwrap();
        ["duplicates", "valid", "unrated", "valid_rate"].map(|key| numbers.get(key).is_some())
    };
    assert_eq!(keys(Role::PROPOSER), [true; 4]);
    assert_eq!(keys(Role::SOLVER), [false; 4]);
}

#[test]
fn rollouts_that_estimate_difficulty_train_the_solver() {
    let played = play_once(config(), &Script::of(&["good 20", "good 21", "good 22", "good 23"]));
    assert!(played.tasks.iter().all(|task| task.source == Source::Fresh));
    let trained = |attempt: &&AttemptRecord<Attempt>| {
        played.samples().iter().any(|sample| sample.response == attempt.episode.turns[0].tokens)
    };
    assert_eq!(played.attempts().filter(trained).count(), 48);
    assert_eq!(played.samples().iter().filter(|sample| !sample.imitate).count(), 48);
}

#[test]
fn a_copy_of_a_refused_proposal_is_rewarded_as_refused_and_not_as_a_duplicate() {
    let played = play_once(config(), &Script::of(&["bad 20", "bad 20", "good 21", "good 21"]));
    assert_eq!(played.rewards(TaskType::Deduction), [Some(-0.5), Some(-0.5), Some(0.5), Some(-0.25)]);
    assert_eq!(played.proposals().duplicates, 1);
}

#[test]
fn a_dropped_proposal_and_its_copies_are_not_rewarded_trained_on_or_counted() {
    let played = play_once(config(), &Script::of(&["lost 20", "lost 20", "good 21", "junk"]));
    assert_eq!(played.rewards(TaskType::Deduction), [None, None, Some(0.5), Some(-0.5)]);
    let metrics = played.proposer();
    assert_eq!((metrics.rollouts, metrics.dropped, played.proposals().valid_rate), (4, 2, Some(0.5)));
    assert_eq!(metrics.reward_mean, Some(0.0));
    let lost = rollout("", "lost 20").tokens;
    assert!(played.samples().iter().all(|sample| sample.response != lost));
}

#[test]
fn a_solve_rate_is_over_the_rollouts_that_were_judged() {
    let answer = |_: &Prompt, sample: usize| ["right", "lost", "wrong", "wrong"][sample];
    let script = Script { answer, ..Script::of(&["good 20"; 4]) };
    let mut state = seeded(0..9);
    let played = play(&table(config()), &mut state, 1, 0, &script);
    assert!((played.rewards(TaskType::Deduction)[0].unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(played.of_role(Role::SOLVER, TaskType::Deduction).dropped, 4);
    let lost = rollout("", "lost").tokens;
    assert!(played.samples().iter().all(|sample| sample.response != lost));
    assert!(played.attempts().any(|attempt| attempt.episode.turns[0].tokens == lost));
    let noted = state.pool.of_kind("deduction").last().unwrap().last.unwrap();
    assert_eq!((noted.solved, noted.judged), (1, 3));
}

#[test]
fn a_proposal_whose_rollouts_were_all_dropped_has_no_reward() {
    let script = Script { answer: |_, _| "lost", ..Script::of(&["good 20", "junk", "junk", "junk"]) };
    let mut state = seeded(0..9);
    state.sft_examples.push(SftExample::from(&rollout("<PD>", "example")));
    let played = play(&table(config()), &mut state, 1, 0, &script);
    assert_eq!(played.rewards(TaskType::Deduction), [None, Some(-0.5), Some(-0.5), Some(-0.5)]);
    assert_eq!(played.proposals().unrated, 1);
    assert_eq!(state.pool.of_kind("deduction").last().unwrap().last, None);
    assert_eq!(played.solve_rate(), None);
    // No solver has a reward, so the normalizer is the batch's own tokens, and never 0.
    assert!(played.batch.unwrap().normalizer >= 1.0);
}

#[test]
fn valid_proposals_beyond_the_fresh_share_enter_the_pool_without_a_reward() {
    let mut state = seeded(0..9);
    let game = table(config().with(|c| c.own.fresh_fraction = 0.5));
    let played = play(&game, &mut state, 1, 0, &Script::of(&["good 20", "good 21", "good 22", "good 22"]));
    // The last copies one that is valid, though unrated.
    assert_eq!(played.rewards(TaskType::Abduction), [Some(0.5), Some(0.5), None, Some(-0.25)]);
    assert_eq!(state.pool.of_kind("abduction").count(), 12);
    assert_eq!(played.proposals().unrated, 1);
}

#[test]
fn a_right_answer_without_its_frame_is_rewarded_as_bad_format_under_azr_and_still_counts_as_solved() {
    let first = |format: &str| {
        let (format, reward) = (format.to_owned(), "azr".to_owned());
        let played = play_once(
            config().with(|c| (c.shared.format, c.shared.reward) = (format, Some(reward))),
            &Script::fresh(0),
        );
        let reward = played.tasks[0].attempts[0].episode.reward.as_ref().unwrap().total();
        let well_formed = played.of_role(Role::SOLVER, TaskType::Deduction).well_formed_share;
        (reward, played.solve_rate(), well_formed)
    };
    // `compact` has no frame to miss.
    assert_eq!(first("compact"), (1.0, Some(0.5), Some(1.0)));
    assert_eq!(first("think"), (-1.0, Some(0.5), Some(0.0)));
}

/// A policy whose first response to each prompt is cut off.
struct CutsOff(ScriptedPolicy);

impl Policy for CutsOff {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let mut groups = self.0.generate(prompts, sampling)?;
        groups.iter_mut().for_each(|group| group[0].finish = FinishReason::Length);
        Ok(groups)
    }
}

#[test]
fn a_response_that_was_cut_off_is_not_well_formed() {
    let game = table(config().with(|c| c.shared.format = "compact".to_owned()));
    let played = game.step(&context(&CutsOff(Script::fresh(0).policy())), &mut seeded(0..9), 0).unwrap();
    let solver = played.metrics.roles.iter().filter(|one| one.role == Role::SOLVER);
    // One of the four attempts at each task.
    assert_eq!(solver.map(|one| one.well_formed_share).collect::<Vec<_>>(), [Some(0.75); 3]);
}

/// The rewards of each batch, as texts.
type RewardsOfBatches = BTreeMap<(Role, TaskType), Vec<String>>;

/// Rewards by role and type, sorted; and as they come.
fn rewards(played: &Played) -> (RewardsOfBatches, Vec<f64>) {
    let (mut batches, mut all): (BTreeMap<_, Vec<String>>, _) = (BTreeMap::new(), Vec::new());
    let proposals = played.proposals.iter().map(|one| (Role::PROPOSER, one.request.task_type, &one.episode));
    let attempts = played
        .tasks
        .iter()
        .flat_map(|task| task.attempts.iter().map(|one| (Role::SOLVER, task.task.question.task_type(), &one.episode)));
    for (role, task_type, episode) in proposals.chain(attempts) {
        if let Some(reward) = &episode.reward {
            batches.entry((role, task_type)).or_default().push(reward.total().to_string());
            all.push(reward.total());
        }
    }
    batches.values_mut().for_each(|rewards| rewards.sort());
    (batches, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_keeps_the_rewards_of_each_batch_and_moves_them(seed in any::<u64>(), step in 0..1_000_u64) {
        let script = Script::of(&["good 20", "junk", "bad 21", "good 1"]);
        let run = |reward: &str, seed| {
            let game = table(config().with(|c| c.shared.reward = Some(reward.to_owned())));
            play(&game, &mut seeded(0..9), seed, step, &script)
        };
        let (plain, control) = (run("failure_rate", seed), run("random", seed));
        prop_assert_eq!(rewards(&plain).0, rewards(&control).0);
        prop_assert_ne!(rewards(&plain).1, rewards(&control).1);
        prop_assert_eq!(&control, &run("random", seed));
        prop_assert_ne!(rewards(&control).1, rewards(&run("random", seed.wrapping_add(1))).1);
        // What is said of the step is true under the control too.
        prop_assert_eq!(plain.solve_rate(), control.solve_rate());
    }

    #[test]
    fn whatever_is_proposed_weights_are_finite_and_the_normalizer_positive(
        words in prop::collection::vec(prop::sample::select(vec!["good", "bad", "lost", "junk"]), 4),
        numbers in prop::collection::vec(0..12_i64, 4),
        reward in prop::sample::select(veriplay_selfplay::rewards::names()),
        advantage in prop::sample::select(veriplay_selfplay::advantages::names()),
        fresh_fraction in 0.0..=1.0_f64,
    ) {
        let proposals: Vec<String> = words.iter().zip(&numbers).map(|(word, number)| format!("{word} {number}")).collect();
        let answer = |prompt: &Prompt, sample: usize| ["right", "wrong", "lost", "junk"][(prompt.text().len() + sample * sample) % 4];
        let script = Script { proposals, answer };
        let (reward, advantage) = (reward.to_owned(), advantage.to_owned());
        let game = table(config().with(|c| { c.shared.reward = Some(reward); c.shared.advantage = Some(advantage); c.own.fresh_fraction = fresh_fraction; }));
        let played = play(&game, &mut seeded(0..5), 1, 0, &script);
        if let Some(batch) = &played.batch {
            prop_assert!(batch.normalizer >= 1.0);
            prop_assert!(batch.samples.iter().all(|sample| sample.weight.is_finite() && !sample.response.is_empty()));
        }
        prop_assert!(rewards(&played).1.iter().all(|reward| reward.abs() <= 1.0));
        prop_assert_eq!(played.metrics.roles.len(), 6);
        for role in &played.metrics.roles {
            prop_assert_eq!(role.proposals.is_some(), role.role == Role::PROPOSER);
            let Some(proposals) = &role.proposals else { continue };
            prop_assert!(proposals.valid_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)));
            let counted = role.malformed + proposals.duplicates + proposals.valid + role.dropped;
            prop_assert!(counted <= role.rollouts);
        }
    }

    #[test]
    fn the_pool_never_holds_a_task_or_a_proposal_twice(steps in prop::collection::vec(0..3_u64, 1..6)) {
        let game = table(config().with(|c| c.shared.buffer_capacity = 7));
        let mut state = seeded(0..2);
        for (step, script) in (0..).zip(steps) {
            play(&game, &mut state, 1, step, &Script::fresh(script));
            let entries = state.pool.entries();
            prop_assert_eq!(entries.iter().map(|entry| &entry.id).collect::<BTreeSet<_>>().len(), entries.len());
            prop_assert_eq!(state.pool.keys().len(), entries.len());
            for kind in Table::KINDS {
                prop_assert!(state.pool.of_kind(kind).filter(|entry| !entry.seed).count() <= 7);
            }
        }
    }
}

/// A policy that has room for prompts of proposers up to a length.
struct Narrow(ScriptedPolicy, usize);

impl Policy for Narrow {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.0.generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, _max_tokens: usize) -> bool {
        prompt.role != Role::PROPOSER || prompt.text().len() <= self.1
    }
}

#[test]
fn a_proposer_whose_prompt_is_too_long_is_not_asked_and_counted_and_no_proposer_at_all_is_an_error() {
    let game = table(config());
    let open = |policy: &dyn Policy| game.step(&context(policy), &mut seeded(0..9), 0);
    let lengths = |output: &Output<Table>| -> Vec<usize> {
        let mut lengths: Vec<usize> = proposals(&output.records).map(|one| one.episode.turns[0].prompt.len()).collect();
        lengths.sort_unstable();
        lengths
    };
    let all = lengths(&open(&Script::fresh(0).policy()).expect("everything has room"));
    let (shortest, longest) = (all[0], all[all.len() - 1]);
    assert!(shortest < longest, "prompts of kinds differ");
    let some = open(&Narrow(Script::fresh(0).policy(), longest - 1)).expect("some have room");
    let left_out = all.len() - lengths(&some).len();
    assert!(left_out > 0 && lengths(&some).last().unwrap() < &longest);
    assert_eq!(some.monitors["prompts_without_room"], Measurement::Count(left_out as u64));
    let error = open(&Narrow(Script::fresh(0).policy(), shortest - 1)).expect_err("none has room").to_string();
    assert!(error.contains("`game.proposer_max_tokens`"), "{error}");
}
