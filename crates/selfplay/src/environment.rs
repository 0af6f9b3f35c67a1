//! What a game is played in: an environment that makes episodes of proposers, of solvers and, in some games, of verifiers, and judges them.
//!
//! Play, evaluation and replay ask it the same questions. [`crate::game::Game`] adds the script of a step. Sampling, the task pool, rewards,
//! advantages, batches and records are the driver's. A single-turn game has episodes of one turn ([`crate::rollout::SingleTurn`]).

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use veriplay_core::{Digest, Dropped, Execute, Role};

use crate::admission::{Admission, IsKnown, JudgedProposal};
use crate::judgement::{JudgedResponse, ProposalPosition, RoundFacts, Seeds};
use crate::play::{PlayError, StepContext};
use crate::randomness::derive_seed;
use crate::rollout::{Episode, FinishedEpisode, Part};
use crate::settings::SharedSettings;
use crate::splits::Guard;
use crate::task_pool::{PoolTask, TaskPool};

/// An environment. Pure: the same settings, seed, step, policy and executor give the same episodes, judgements and facts.
pub trait Environment: Sync + Sized {
    /// What solvers attempt, as the pool and the log keep it.
    type Task: PoolTask;
    /// The request to one proposer, as far as the log needs it to replay the episode.
    type Request: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// An episode of any role.
    type Episode: Episode;
    /// What is logged of a judged proposal in addition to its verdict and task.
    type ProposalDetail: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send;
    /// What is logged of a judged response of a solver or of a verifier in addition to its verdict.
    type SolutionDetail: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// What is logged of a round in addition to the verdicts of its responses. [`Never`] in games without verifiers.
    type Round: RoundFacts;
    /// Something that is tried as a task though no policy proposed it, as far as the log needs it to be judged again. [`Never`] in most
    /// games.
    type Derivation: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send;
    /// The kinds of task it has, in the order of its reports. Baselines and controls are computed for each kind apart.
    const KINDS: &'static [&'static str];
    /// Names the random numbers that a step's tasks are drawn with.
    const CHOICE_PURPOSE: &'static str = "tasks";
    /// The words that name its other random streams; `None` where nothing that it runs has a seed.
    const STREAMS: Option<StreamNames> = None;

    /// The settings, the guard and the evaluation, which every game has.
    fn base(&self) -> &GameBase<Self::Task>;

    /// The settings that it shares with other games, checked.
    fn settings(&self) -> &SharedSettings {
        &self.base().settings
    }

    /// How verifiers are sampled, in games that have them.
    fn verifier(&self) -> Option<VerifierSettings> {
        None
    }

    /// What may not be trained on.
    fn guard(&self) -> &Guard {
        &self.base().guard
    }

    /// The tasks it is evaluated on.
    fn evaluation_tasks(&self) -> &[EvalTask<Self::Task>] {
        &self.base().evaluation
    }

    /// The episode of a logged request, to replay it; `None` where the log does not fit the configuration.
    fn proposer_episode(
        &self,
        execute: &dyn Execute,
        request: &Self::Request,
    ) -> Result<Option<Self::Episode>, PlayError>;

    /// Judges the proposals of one chunk, in their order.
    fn judge_proposals(&self, execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>>;

    /// The admission of each proposal of a step, in the order they were sampled.
    fn admissions(&self, judged: &[&JudgedProposalOf<Self>]) -> Vec<Admission<Self::Task>> {
        judged.iter().copied().map(Admission::from_judgement).collect()
    }

    /// Judges derivations, in their order; none in games that derive nothing.
    fn judge_derived(
        &self,
        _execute: &dyn Execute,
        _derivations: &[Self::Derivation],
        _is_known: &mut IsKnown<'_>,
    ) -> Vec<JudgedProposalOf<Self>> {
        Vec::new()
    }

    /// Whether a derivation is made of what a policy proposed: its task then counts as proposed, too.
    fn is_proposed(&self, _derivation: &Self::Derivation) -> bool {
        false
    }

    /// Those of [`Environment::KINDS`] that its steps propose and solve.
    fn kinds(&self) -> Vec<&'static str> {
        Self::KINDS.to_vec()
    }

    /// Names what each task does, however it is written: two of equal behaviour teach the same. Called only where a proposer factor asks for it;
    /// `None` where the host failed. Here the tasks of two keys differ.
    fn behaviours(&self, _execute: &dyn Execute, tasks: &[&Self::Task]) -> Vec<Option<Digest>> {
        tasks.iter().map(|task| Some(task.key())).collect()
    }

    /// The solver's episode for each task; `None` where no prompt can be made of it.
    fn solver_episodes(&self, execute: &dyn Execute, seeds: Seeds, tasks: &[&Self::Task]) -> Vec<OpenedEpisode<Self>>;

    /// Runs what episodes wait for, such as tools. Single-turn games have nothing to run.
    fn advance(&self, _execute: &dyn Execute, _seed: u64, _episodes: &mut [FinishedEpisode<Self::Episode>]) {}

    /// Judges solvers' episodes. Where there are verifiers, [`Environment::judge_rounds`] has the last word.
    fn judge_solutions(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>>;

    /// The verifier's episode at a solver's response; `None` where no prompt can be made of it.
    fn verifier_episode(
        &self,
        _task: &Self::Task,
        _response: &FinishedEpisode<Self::Episode>,
    ) -> Option<Self::Episode> {
        None
    }

    /// Judges the responses of solvers and of verifiers to each task together. Called only where there are verifiers.
    fn judge_rounds(
        &self,
        _execute: &dyn Execute,
        _seed: u64,
        _rounds: &[RoundRequest<'_, Self>],
    ) -> Vec<JudgedRound<Self>> {
        Vec::new()
    }

    /// Further evaluation metrics by name, from the judgements on the sampled verifier responses.
    fn evaluation_numbers(
        &self,
        _verifications: &[JudgedResponse<Self::SolutionDetail>],
    ) -> BTreeMap<String, Option<f64>> {
        BTreeMap::new()
    }

    /// Whether a response has the frame that its prompt demands.
    fn is_well_formed(&self, _episode: &FinishedEpisode<Self::Episode>) -> bool {
        true
    }

    /// How many proposers, or tasks of solvers or verifiers, are sampled together; the next ones are sampled while these are judged.
    fn chunk(&self, _stage: Stage) -> usize {
        usize::MAX
    }

    /// Seeds the policy's samples.
    fn sampling_seed(&self, run: u64, step: u64, draw: &SamplingCall) -> u64 {
        Self::STREAMS.unwrap_or(StreamNames::PLAIN).sampling_seed(run, step, draw)
    }

    /// Seeds what episodes and judges run.
    fn seeds(&self, stage: Stage, run: u64, step: u64) -> Seeds {
        Self::STREAMS.map(|streams| streams.seeds(stage, run, step)).unwrap_or_default()
    }
}

/// A stage of a run in which the policy is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Solvers of the start model, whose accepted episodes are supervised examples.
    SftSolve,
    /// Proposers of the start model, whose valid proposals are supervised examples.
    SftPropose,
    /// Proposers of a step, whose samples may be learned from.
    Propose,
    /// Solvers of a step, then the verifiers of their responses.
    Solve,
    /// Solvers that a script measures the policy with, behind the update of a step.
    AfterUpdate,
    /// Solvers and verifiers of an evaluation, at temperature 1.
    Evaluate,
    /// Solvers and verifiers of an evaluation, greedy.
    EvaluateGreedy,
}

/// The words that name a game's random streams. A run's bytes depend on them.
pub struct StreamNames {
    /// Proposers, and their turns.
    pub proposer: &'static str,
    /// The run's seed for proposers of supervised examples: they must not be those of step 0.
    pub sft_proposers: &'static str,
    /// Solvers of supervised examples.
    pub sft_solver: &'static str,
    /// Solvers of a step.
    pub solver: &'static str,
    /// Tools that proposers call.
    pub proposer_tools: &'static str,
    /// Tools that solvers call, behind the word for the solver.
    pub solver_tools: &'static str,
    /// Judges of solvers, likewise.
    pub judge: &'static str,
}

impl StreamNames {
    /// Those of a game that has no words of its own.
    pub const PLAIN: Self = Self {
        proposer: "proposer",
        sft_proposers: "supervised proposers",
        sft_solver: "supervised solver",
        solver: "solver",
        proposer_tools: "tools of proposers",
        solver_tools: "tools",
        judge: "judge",
    };

    const fn role(&self, stage: Stage) -> &'static str {
        match stage {
            Stage::SftPropose | Stage::Propose => self.proposer,
            Stage::SftSolve => self.sft_solver,
            Stage::Solve => self.solver,
            Stage::AfterUpdate => "after the update",
            Stage::Evaluate => "evaluation",
            Stage::EvaluateGreedy => "greedy evaluation",
        }
    }

    /// The seed that a stage of a run draws with.
    pub fn stage_seed(&self, stage: Stage, run: u64) -> u64 {
        if stage == Stage::SftPropose { derive_seed(run, 0, self.sft_proposers) } else { run }
    }

    /// As [`crate::environment::Environment::sampling_seed`].
    pub fn sampling_seed(&self, run: u64, step: u64, draw: &SamplingCall) -> u64 {
        let chunk = if draw.chunk == 0 { String::new() } else { format!("/chunk {}", draw.chunk) };
        let part = if draw.part == Part::Verification { "verify " } else { "" };
        let purpose = format!("{part}{}/round {}{chunk}", self.role(draw.stage), draw.round);
        derive_seed(self.stage_seed(draw.stage, run), step, &purpose)
    }

    /// As [`crate::environment::Environment::seeds`].
    pub fn seeds(&self, stage: Stage, run: u64, step: u64) -> Seeds {
        let seed = |purpose: &str| derive_seed(self.stage_seed(stage, run), step, purpose);
        match stage {
            Stage::SftPropose | Stage::Propose => Seeds { tools: seed(self.proposer_tools), ..Seeds::default() },
            Stage::SftSolve | Stage::Solve | Stage::AfterUpdate | Stage::Evaluate | Stage::EvaluateGreedy => {
                let of_role = |purpose: &str| seed(&format!("{}/{purpose}", self.role(stage)));
                Seeds { tools: of_role(self.solver_tools), judge: of_role(self.judge), ..Seeds::default() }
            }
        }
    }
}

/// One call of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingCall {
    /// The stage of the run that it is sampled in.
    pub stage: Stage,
    /// What is sampled in it.
    pub part: Part,
    /// Rollouts for each prompt of the call.
    pub group: usize,
    /// Number of the chunk within the stage.
    pub chunk: usize,
    /// Number of the turn, in episodes of several.
    pub round: usize,
}

/// A proposer that shall be sampled, before its first turn.
pub struct Proposer<E: Environment> {
    /// The request, as far as the log keeps it.
    pub request: E::Request,
    /// Its episode before the first turn.
    pub episode: E::Episode,
    /// How many episodes to sample. Neighbours with equally many that share a kind are sampled together.
    pub rollouts: usize,
    /// The kind of task requested.
    pub kind: &'static str,
}

/// What the proposers of a step may be made of.
pub struct Proposing<'a, T> {
    /// The policy, the sandbox and the run's seed.
    pub context: StepContext<'a>,
    /// The pool as it is.
    pub pool: &'a TaskPool<T>,
    /// Whether they are those of a step, or of the supervised examples before step 0 ([`Stage::SftPropose`]).
    pub stage: Stage,
    /// The step.
    pub step: u64,
}

/// A finished proposer's episode to judge.
pub struct ProposalToJudge<'a, E: Environment> {
    /// The request that the proposer was asked with.
    pub request: &'a E::Request,
    /// The proposer's episode, to its end.
    pub finished: &'a FinishedEpisode<E::Episode>,
    /// When and where it was proposed: the step, the chunk, the place in it.
    pub proposed: ProposalPosition,
    /// The stage of the run that it is sampled in.
    pub stage: Stage,
}

/// The proposals of a chunk, which are judged together.
pub struct ProposalBatch<'a, E: Environment> {
    /// The proposals, in the order they were sampled.
    pub proposals: &'a [ProposalToJudge<'a, E>],
    /// Whether the pool or an earlier proposal has the task.
    pub is_known: &'a mut IsKnown<'a>,
}

/// A task, and a finished solver's episode at it.
pub type TaskEpisode<'a, E> = (&'a <E as Environment>::Task, &'a FinishedEpisode<<E as Environment>::Episode>);

/// A solver's episode before its first turn; `None` where no prompt can be made of its task.
pub type OpenedEpisode<E> = Result<Option<<E as Environment>::Episode>, Dropped>;

/// The judgement on a response of a solver or of a verifier.
pub type JudgedResponseOf<E> = JudgedResponse<<E as Environment>::SolutionDetail>;

/// A proposal with its verdict and the task that it makes.
pub type JudgedProposalOf<E> = JudgedProposal<<E as Environment>::Task, <E as Environment>::ProposalDetail>;

/// One task's responses of solvers and of verifiers, to be judged together.
pub struct RoundRequest<'a, E: Environment> {
    /// The task that all of them are about.
    pub task: &'a E::Task,
    /// Its solvers' episodes. In an evaluation the greedy one stands last.
    pub solutions: &'a [SolverEpisode<E>],
    /// Its verifiers' episodes, each with the place of the response it is about. In an evaluation the greedy one stands last.
    pub verifications: Vec<(usize, &'a FinishedEpisode<E::Episode>)>,
}

/// The judgement on a round.
pub struct JudgedRound<E: Environment> {
    /// On each solver's response.
    pub solutions: Vec<JudgedResponse<E::SolutionDetail>>,
    /// On each verifier's response.
    pub verifications: Vec<JudgedResponse<E::SolutionDetail>>,
    /// On the round; `None` where the host failed in it, as all its verdicts then say.
    pub round: Option<E::Round>,
}

/// What every game has, whatever it plays.
#[derive(Debug)]
pub struct GameBase<T> {
    /// The settings that it shares with other games, checked.
    pub settings: SharedSettings,
    /// What may not be trained on.
    pub guard: Guard,
    /// The tasks it is evaluated on.
    pub evaluation: Vec<EvalTask<T>>,
}

/// A task that the policy is evaluated on.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalTask<T> {
    /// The further table it counts in ([`crate::eval_table::EvalTable::further`]); `None` for the main one.
    pub table: Option<&'static str>,
    /// The row of the table it counts in.
    pub row: String,
    /// The task, with what its judge needs.
    pub task: T,
}

impl<T> EvalTask<T> {
    /// A task of a row of the main table.
    pub fn new(row: impl Into<String>, task: T) -> Self {
        Self { table: None, row: row.into(), task }
    }
}

/// How one role is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoleSampling {
    /// Softmax temperature of its samples.
    pub temperature: f32,
    /// Maximum tokens of a response, the end token included.
    pub max_tokens: usize,
}

/// How verifiers are sampled, in games that have them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerifierSettings {
    /// Temperature and length, as of other roles.
    pub sampling: RoleSampling,
    /// Episodes at each chosen response.
    pub group: usize,
    /// The row of the evaluation that they count in.
    pub row: &'static str,
}

/// A judged proposer's episode.
pub struct ProposalEpisode<E: Environment> {
    /// The role that played it.
    pub role: Role,
    /// The policy that was sampled, where it is not the one that learns.
    pub policy: Option<String>,
    /// The request, as far as the log keeps it.
    pub request: E::Request,
    /// The kind of task requested.
    pub kind: &'static str,
    /// When and where it was proposed.
    pub proposed: ProposalPosition,
    /// The episode, to its end or to the fault that ended it.
    pub finished: FinishedEpisode<E::Episode>,
    /// The judgement on what was proposed.
    pub judged: JudgedProposalOf<E>,
    /// Whether it becomes a task of the pool.
    pub admission: Admission<E::Task>,
}

/// A judged solver's episode; its source is its task.
pub struct SolverEpisode<E: Environment> {
    /// The role that played it.
    pub role: Role,
    /// The policy that was sampled, where it is not the one that learns.
    pub policy: Option<String>,
    /// The episode, to its end or to the fault that ended it.
    pub finished: FinishedEpisode<E::Episode>,
    /// The judgement on the response.
    pub judged: JudgedResponse<E::SolutionDetail>,
}

/// A judged verifier's episode.
pub struct VerifierEpisode<E: Environment> {
    /// The role that played it.
    pub role: Role,
    /// The policy that was sampled, where it is not the one that learns.
    pub policy: Option<String>,
    /// The task, by its place among the step's.
    pub task: usize,
    /// The response it is about, by its place among the task's.
    pub candidate: usize,
    /// The episode. Those of one source had one prompt.
    pub finished: FinishedEpisode<E::Episode>,
    /// The judgement on the response.
    pub judged: JudgedResponse<E::SolutionDetail>,
}

/// The output of the verify stage.
pub(crate) struct VerifyOutput<E: Environment> {
    /// How many prompts verifiers had, of all players.
    pub(crate) prompts: usize,
    /// Verifiers' episodes, in the order of the tasks.
    pub(crate) verifications: Vec<VerifierEpisode<E>>,
    /// By task; `None` where the host failed. Empty without verifiers.
    pub(crate) rounds: Vec<Option<E::Round>>,
}

/// A judged derivation: a task that no policy proposed.
pub struct JudgedDerivation<E: Environment> {
    /// The derivation, as the log keeps it.
    pub derivation: E::Derivation,
    /// The judgement on what was proposed.
    pub judged: JudgedProposalOf<E>,
    /// Whether it is made of what a policy proposed ([`Environment::is_proposed`]).
    pub is_proposed: bool,
}
