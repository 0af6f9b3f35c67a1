//! What a step logs: its records, and its summary for monitors.

use std::collections::{BTreeMap, HashMap};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Prompt, Reward, Role, Rollout, SCHEMA_VERSION, Status, Verdict};

use crate::admission::JudgedProposal;
use crate::environment::{Environment, JudgedDerivation, ProposalEpisode, StepFacts};
use crate::judgement::{JudgedResponse, Never, ProposalPosition, RoundFacts, Seeds};
use crate::metrics::{SolveCount, is_right};
use crate::play::{OutcomeCounts, RewardedRollout};
use crate::preferences::Response;
use crate::rollout::{Episode, FinishedEpisode, TurnRecord};
use crate::scoring::ScoredEpisode;
use crate::splits::HELD_OUT;
use crate::statistics::mean_over;
use crate::task_pool::{PoolTask, Source, StepTask};

/// What happened in a step, in the same form for every game: what monitors see.
#[derive(Debug)]
pub struct StepSummary<'a> {
    /// Sums of the step.
    pub counts: OutcomeCounts,
    /// Episodes of proposers, of solvers, then of verifiers.
    pub episodes: Vec<EpisodeSummary<'a>>,
    /// The tasks that solvers attempted.
    pub tasks: Vec<TaskSummary>,
    /// The episodes that got a reward.
    pub scored: &'a [ScoredEpisode],
    /// Proposers and tasks that were passed over, because the policy has no room for their prompts or the game makes none.
    pub without_prompt: usize,
}

/// An episode in the same form for every game.
#[derive(Debug)]
pub struct EpisodeSummary<'a> {
    /// Its role.
    pub role: Role,
    /// Prompt and rollout of each turn.
    pub turns: &'a [(Prompt, Rollout)],
    /// How it ended; `None` when the host failed in it.
    pub end: Option<&'static str>,
    /// The verdict, or the host fault.
    pub verdict: Result<&'a Verdict, &'a Dropped>,
}

/// A task in the same form for every game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSummary {
    /// Its kind, one of the environment's.
    pub kind: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// How often it was solved.
    pub solved: SolveCount,
}

/// One line of the log of rollouts: everything its verdicts were made of, so that `replay` can make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(serialize = "R: Serialize, T: Serialize, P: Serialize, S: Serialize, V: Serialize, J: Serialize"))]
#[serde(bound(deserialize = "R: DeserializeOwned, T: DeserializeOwned, P: DeserializeOwned, S: DeserializeOwned, \
    V: DeserializeOwned, J: DeserializeOwned"))]
pub enum LogRecord<R, T, P, S, V, J> {
    /// A proposer's episode.
    Proposal(Box<ProposalRecord<R, T, P>>),
    /// A derivation: a task that no policy proposed.
    Derived(Box<DerivedRecord<V, T, P>>),
    /// A task, and the episodes of its solvers and verifiers.
    Task(Box<TaskRecord<T, S, J>>),
}

/// A line of an environment's log.
pub type Record<E> = LogRecord<
    <E as Environment>::Request,
    <E as Environment>::Task,
    <E as Environment>::ProposalDetail,
    <E as Environment>::SolutionDetail,
    <E as Environment>::Derivation,
    <E as Environment>::Round,
>;

/// An episode as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRecord {
    /// Its turns.
    pub turns: Vec<TurnRecord>,
    /// How it ended; `None` when the host failed in it.
    pub end: Option<String>,
    /// Fuel of its tools.
    pub fuel: u64,
    /// Its reward; `None` for a valid proposal that no solver attempted, and for a host fault.
    pub reward: Option<Reward>,
    /// Its advantage.
    pub advantage: Option<f64>,
}

impl EpisodeRecord {
    fn new<E: Episode>(finished: &FinishedEpisode<E>, scored: Option<&ScoredEpisode>) -> Self {
        Self {
            turns: finished.turns.iter().map(TurnRecord::from).collect(),
            end: finished.end().map(str::to_owned),
            fuel: finished.episode.fuel(),
            reward: scored.map(|scored| scored.reward.clone()),
            advantage: scored.map(|scored| scored.advantage),
        }
    }
}

/// A proposer's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalRecord<R, T, P> {
    /// Of this record.
    pub schema_version: u32,
    /// Its number within the step.
    pub index: usize,
    /// When and where it was proposed.
    pub proposed: ProposalPosition,
    /// The request.
    pub request: R,
    /// The episode.
    pub episode: EpisodeRecord,
    /// Seeds of what was executed.
    #[serde(default, skip_serializing_if = "Seeds::is_default")]
    pub seeds: Seeds,
    /// The judgement.
    pub judged: JudgedProposal<T, P>,
}

/// A derivation, tried as a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedRecord<V, T, P> {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Its number within the step.
    pub index: usize,
    /// The derivation.
    pub derivation: V,
    /// The judgement.
    pub judged: JudgedProposal<T, P>,
}

/// A task, and the episodes of its solvers and verifiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(serialize = "T: Serialize, S: Serialize, J: Serialize"))]
#[serde(bound(deserialize = "T: DeserializeOwned, S: DeserializeOwned, J: DeserializeOwned"))]
pub struct TaskRecord<T, S, J = Never> {
    /// Of this record.
    pub schema_version: u32,
    /// The step.
    pub step: u64,
    /// Number of the task within the step.
    pub index: usize,
    /// The task.
    pub task: T,
    /// Where it comes from.
    pub source: Source,
    /// Seeds of what was executed.
    #[serde(default, skip_serializing_if = "Seeds::is_default")]
    pub seeds: Seeds,
    /// Solvers' episodes.
    pub attempts: Vec<AttemptRecord<S>>,
    /// Verifiers' episodes, in games that have them.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub verifications: Vec<VerificationRecord<S>>,
    /// What is said of them all together; `None` without verifiers, or where the host failed.
    #[serde(default = "no_round", skip_serializing_if = "Option::is_none")]
    pub round: Option<J>,
}

const fn no_round<J>() -> Option<J> {
    None
}

/// A verifier's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerificationRecord<S> {
    /// The response it is about, by its place among the task's.
    pub candidate: usize,
    /// The episode.
    pub episode: EpisodeRecord,
    /// The judgement.
    pub judged: JudgedResponse<S>,
}

/// A solver's episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRecord<S> {
    /// The episode.
    pub episode: EpisodeRecord,
    /// The judgement.
    pub judged: JudgedResponse<S>,
}

impl<'a> EpisodeSummary<'a> {
    fn new<E: Episode>(
        role: Role,
        finished: &'a FinishedEpisode<E>,
        verdict: Result<&'a Verdict, &'a Dropped>,
    ) -> Self {
        Self { role, turns: &finished.turns, end: finished.end(), verdict }
    }
}

impl<E: Environment> StepFacts<'_, E> {
    /// The lines of the log: proposals, what was derived, then tasks.
    pub(crate) fn records(&self, step: u64, propose: Seeds, solve: Seeds) -> Vec<Record<E>> {
        let by_episode: HashMap<(Role, usize), &ScoredEpisode> =
            self.scored.iter().map(|scored| ((scored.role, scored.index), scored)).collect();
        let scored = |role: Role, index: usize| by_episode.get(&(role, index)).copied();
        let proposal = |(index, one): (usize, &ProposalEpisode<E>)| {
            LogRecord::Proposal(Box::new(ProposalRecord {
                schema_version: SCHEMA_VERSION,
                index,
                proposed: one.proposed,
                request: one.request.clone(),
                episode: EpisodeRecord::new(&one.finished, scored(Role::Proposer, index)),
                seeds: propose,
                judged: one.judged.clone(),
            }))
        };
        let derived = |(index, one): (usize, &JudgedDerivation<E>)| {
            let (derivation, judged) = (one.derivation.clone(), one.judged.clone());
            let schema_version = SCHEMA_VERSION;
            LogRecord::Derived(Box::new(DerivedRecord { schema_version, step, index, derivation, judged }))
        };
        let mut tasks: Vec<TaskRecord<E::Task, E::SolutionDetail, E::Round>> = self
            .tasks
            .iter()
            .enumerate()
            .map(|(index, asked)| TaskRecord {
                schema_version: SCHEMA_VERSION,
                step,
                index,
                task: asked.task.clone(),
                source: asked.source,
                seeds: solve,
                attempts: Vec::new(),
                verifications: Vec::new(),
                round: self.rounds.get(index).cloned().flatten(),
            })
            .collect();
        for (index, one) in self.solutions.iter().enumerate() {
            let episode = EpisodeRecord::new(&one.finished, scored(Role::Solver, index));
            tasks[one.finished.source].attempts.push(AttemptRecord { episode, judged: one.judged.clone() });
        }
        for (index, one) in self.verifications.iter().enumerate() {
            let episode = EpisodeRecord::new(&one.finished, scored(Role::Verifier, index));
            let (candidate, judged) = (one.candidate, one.judged.clone());
            tasks[one.task].verifications.push(VerificationRecord { candidate, episode, judged });
        }
        let tasks = tasks.into_iter().map(|task| LogRecord::Task(Box::new(task)));
        let proposals = self.proposals.iter().enumerate().map(proposal);
        proposals.chain(self.derived.iter().enumerate().map(derived)).chain(tasks).collect()
    }

    /// Sums of what was judged.
    fn outcome_counts(&self) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        self.proposals.iter().for_each(|one| counts.add_proposal(&one.judged));
        self.derived.iter().for_each(|one| counts.add_proposal(&one.judged));
        // What was proposed turned out to be evaluated on only when it was solved.
        let proposed = self.tasks.iter().zip(self.rounds).filter(|(asked, _)| asked.proposal.is_some());
        let refusals = proposed.filter_map(|(_, round)| round.as_ref()?.refusal());
        let held_out = refusals.filter(|refusal| refusal.rule == HELD_OUT).count() as u64;
        counts.valid_proposals -= held_out;
        counts.proposals_in_held_out += held_out;
        let solutions = self.solutions.iter().map(|one| &one.judged);
        for judged in solutions.chain(self.verifications.iter().map(|one| &one.judged)) {
            match &judged.verdict {
                Ok(verdict) => {
                    counts.attempts += 1;
                    counts.accepted += u64::from(is_right(verdict.status));
                }
                Err(_) => counts.dropped += 1,
            }
        }
        counts
    }

    /// The step as monitors see it.
    pub(crate) fn summary(&self) -> StepSummary<'_> {
        let proposals = self
            .proposals
            .iter()
            .map(|one| EpisodeSummary::new(Role::Proposer, &one.finished, one.judged.verdict.as_ref()));
        let solutions = self
            .solutions
            .iter()
            .map(|one| EpisodeSummary::new(Role::Solver, &one.finished, one.judged.verdict.as_ref()));
        let verifications = self
            .verifications
            .iter()
            .map(|one| EpisodeSummary::new(Role::Verifier, &one.finished, one.judged.verdict.as_ref()));
        let tasks = self.tasks.iter().zip(self.solved);
        let task = |(asked, solved): (&StepTask<E::Task>, &SolveCount)| TaskSummary {
            kind: asked.task.kind(),
            source: asked.source,
            solved: *solved,
        };
        StepSummary {
            counts: self.outcome_counts(),
            episodes: proposals.chain(solutions).chain(verifications).collect(),
            tasks: tasks.map(task).collect(),
            scored: self.scored,
            without_prompt: self.without_prompt + self.proposers_without_prompt,
        }
    }

    /// The turns of an episode.
    pub(crate) fn turns(&self, role: Role, index: usize) -> &[(Prompt, Rollout)] {
        match role {
            Role::Proposer => &self.proposals[index].finished.turns,
            Role::Solver => &self.solutions[index].finished.turns,
            Role::Verifier => &self.verifications[index].finished.turns,
        }
    }

    /// The rewards of rollouts that their trainer numbers.
    pub(crate) fn rewarded(&self) -> Vec<RewardedRollout> {
        let of_episode = |scored: &'_ ScoredEpisode| -> Vec<RewardedRollout> {
            let turns = self.turns(scored.role, scored.index).iter().enumerate();
            let rewarded = turns.filter_map(|(turn, (_, rollout))| {
                Some(RewardedRollout {
                    rollout: rollout.id?,
                    role: scored.role,
                    kind: scored.kind,
                    group: scored.group,
                    episode: scored.index,
                    turn,
                    reward: scored.reward.clone(),
                    advantage: scored.advantage,
                })
            });
            rewarded.collect()
        };
        self.scored.iter().flat_map(of_episode).collect()
    }

    /// A response: the last turn of its episode.
    pub(crate) fn rollout(&self, response: Response) -> Option<&Rollout> {
        self.turns(response.role, response.index).last().map(|(_, rollout)| rollout)
    }

    /// How often each task that is wanted was solved.
    pub fn solved_where(&self, wanted: impl Fn(&StepTask<E::Task>) -> bool) -> Vec<SolveCount> {
        let tasks = self.tasks.iter().zip(self.solved);
        tasks.filter(|(asked, _)| wanted(asked)).map(|(_, count)| *count).collect()
    }

    /// How many tasks come from where.
    pub fn sources(&self) -> BTreeMap<Source, usize> {
        let mut sources = BTreeMap::new();
        self.tasks.iter().for_each(|asked| *sources.entry(asked.source).or_default() += 1);
        sources
    }

    /// How many solutions got which verdict.
    pub fn statuses(&self) -> BTreeMap<Status, usize> {
        let mut statuses = BTreeMap::new();
        for verdict in self.solutions.iter().filter_map(|one| one.judged.verdict.as_ref().ok()) {
            *statuses.entry(verdict.status).or_default() += 1;
        }
        statuses
    }

    /// The mean total reward of a role.
    pub fn reward_mean(&self, role: Role) -> Option<f64> {
        let of_role = self.scored.iter().filter(|scored| scored.role == role);
        mean_over(of_role, |scored| scored.reward.total())
    }
}
