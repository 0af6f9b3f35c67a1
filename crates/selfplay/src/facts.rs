//! What happened in a step: what its script has sampled and judged, and what was learned from it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use veriplay_core::{Dropped, Prompt, Reward, Role, Rollout, SCHEMA_VERSION, Status, Verdict};

use crate::advantages::EpisodeNotes;
use crate::curricula::DrawnTask;
use crate::environment::{Environment, JudgedDerivation, ProposalEpisode, SolverEpisode, VerifierEpisode};
use crate::judgement::{RoundFacts, Seeds};
use crate::metrics::{SolveCount, is_right};
use crate::play::{OutcomeCounts, RewardedRollout};
use crate::preferences::{Example, Preferences, Response};
use crate::records::{
    AttemptRecord, DerivedRecord, EpisodeRecord, LogRecord, ProposalRecord, Record, TaskRecord, VerificationRecord,
};
use crate::rollout::{Episode, FinishedEpisode, Part};
use crate::scoring::ScoredEpisode;
use crate::splits::HELD_OUT;
use crate::statistics::{mean, mean_over};
use crate::task_pool::{PoolTask, Source, StepTask};

/// The facts of a step.
pub struct StepFacts<E: Environment> {
    /// Proposals, in the order they were sampled.
    pub proposals: Vec<ProposalEpisode<E>>,
    /// Derivations, in the order they were judged.
    pub derived: Vec<JudgedDerivation<E>>,
    /// How many tasks have no prompt, or none that the policy has room for.
    pub without_prompt: usize,
    /// How many proposers were not asked, because the policy has no room for their prompts.
    pub proposers_without_prompt: usize,
    /// How many tasks the host failed to prepare.
    pub dropped_tasks: usize,
    /// The tasks that solvers attempted.
    pub tasks: Vec<StepTask<E::Task>>,
    /// Solvers' episodes, in the order of the tasks.
    pub solutions: Vec<SolverEpisode<E>>,
    /// Verifiers' episodes, in the order of the tasks.
    pub verifications: Vec<VerifierEpisode<E>>,
    /// The round of each task, `None` where the host failed in it. Empty in games without verifiers.
    pub rounds: Vec<Option<E::Round>>,
    /// How often each task was solved; empty until the script is done.
    pub solved: Vec<SolveCount>,
    /// The episodes that got a reward; empty until the script is done.
    pub scored: Vec<ScoredEpisode>,
    /// Examples and preference pairs, under [`crate::preferences::Objective::Preference`]; empty until the script is done.
    pub preferences: Preferences,
    /// How many tasks of the pool were proposed, after the step.
    pub pool_proposals: usize,
    /// Rewards that the script gave itself, in place of the scheme's.
    pub given: BTreeMap<Response, GivenReward>,
    /// What the script says of episodes, for estimators.
    pub notes: BTreeMap<Response, EpisodeNotes>,
    /// Responses to imitate, with their weights, beside what is rewarded.
    pub imitated: Vec<Example>,
    /// Factors of the weights of roles in this step; 1 where there is none.
    pub role_factors: BTreeMap<Role, f64>,
    /// Episodes of earlier steps that get their reward now.
    pub released: Vec<ReleasedEpisode>,
    /// Numbers of the step, by name: what the script says of it beside its metrics.
    pub numbers: BTreeMap<String, f64>,
}

/// An episode of an earlier step that gets its reward now.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedEpisode {
    /// Its role, as the script named it.
    pub role: Role,
    /// Its kind of task, in the game's word.
    pub kind: &'static str,
    /// The part that it played when it was sampled.
    pub part: Part,
    /// Its group then.
    pub group: usize,
    /// Its turns, with the log-probabilities of the policy that sampled them.
    pub turns: Vec<(Prompt, Rollout)>,
    /// Its reward, known only now.
    pub reward: Reward,
}

/// A reward that a script gives itself.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenReward {
    /// One to the episode as a whole.
    Episode(Reward),
    /// To each of its turns.
    Turns(Vec<f64>),
    /// None: nothing is learned from it.
    Nothing,
}

impl<E: Environment> Default for StepFacts<E> {
    fn default() -> Self {
        Self {
            proposals: Vec::new(),
            derived: Vec::new(),
            without_prompt: 0,
            proposers_without_prompt: 0,
            dropped_tasks: 0,
            tasks: Vec::new(),
            solutions: Vec::new(),
            verifications: Vec::new(),
            rounds: Vec::new(),
            solved: Vec::new(),
            scored: Vec::new(),
            preferences: Preferences::default(),
            pool_proposals: 0,
            given: BTreeMap::new(),
            notes: BTreeMap::new(),
            imitated: Vec::new(),
            role_factors: BTreeMap::new(),
            released: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }
}

/// What happened in a step, in the same form for every game: what monitors see.
#[derive(Debug)]
pub struct StepSummary<'a> {
    /// How many proposals and attempts ended how.
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
    /// Its role, as the script named it.
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
    /// Where it comes from: this step, the pool or the seeds.
    pub source: Source,
    /// How often it was solved.
    pub solved: SolveCount,
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
impl<E: Environment> StepFacts<E> {
    /// The lines of the log: proposals, what was derived, then tasks.
    pub(crate) fn records(&self, step: u64, propose: Seeds, solve: Seeds) -> Vec<Record<E>> {
        let by_episode: HashMap<(Part, usize), &ScoredEpisode> =
            self.scored.iter().map(|scored| ((scored.part, scored.index), scored)).collect();
        let scored = |part: Part, index: usize| by_episode.get(&(part, index)).copied();
        let proposal = |(index, one): (usize, &ProposalEpisode<E>)| {
            LogRecord::Proposal(Box::new(ProposalRecord {
                schema_version: SCHEMA_VERSION,
                index,
                proposed: one.proposed,
                request: one.request.clone(),
                episode: self.episode_record(Response { part: Part::Proposal, index }, scored(Part::Proposal, index)),
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
            let episode = self.episode_record(Response { part: Part::Solution, index }, scored(Part::Solution, index));
            tasks[one.finished.source].attempts.push(AttemptRecord { episode, judged: one.judged.clone() });
        }
        for (index, one) in self.verifications.iter().enumerate() {
            let response = Response { part: Part::Verification, index };
            let episode = self.episode_record(response, scored(Part::Verification, index));
            let (candidate, judged) = (one.candidate, one.judged.clone());
            tasks[one.task].verifications.push(VerificationRecord { candidate, episode, judged });
        }
        let tasks = tasks.into_iter().map(|task| LogRecord::Task(Box::new(task)));
        let proposals = self.proposals.iter().enumerate().map(proposal);
        proposals.chain(self.derived.iter().enumerate().map(derived)).chain(tasks).collect()
    }

    fn episode_record(&self, response: Response, scored: Option<&ScoredEpisode>) -> EpisodeRecord {
        let finished = match response.part {
            Part::Proposal => &self.proposals[response.index].finished,
            Part::Verification => &self.verifications[response.index].finished,
            Part::Solution | Part::Deferred => &self.solutions[response.index].finished,
        };
        let role = self.role(response);
        EpisodeRecord {
            role: (role != response.part.role()).then(|| role.name().to_owned()),
            policy: self.policy(response).cloned(),
            ..EpisodeRecord::new(finished, scored)
        }
    }

    /// Sums of what was judged.
    fn outcome_counts(&self) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        self.proposals.iter().for_each(|one| counts.add_proposal(&one.judged));
        self.derived.iter().for_each(|one| counts.add_proposal(&one.judged));
        // What was proposed turned out to be evaluated on only when it was solved.
        let rounds = self.tasks.iter().zip(&self.rounds);
        let refusals = rounds.filter_map(|(asked, round)| Some((asked.proposal?, round.as_ref()?.refusal()?)));
        let held_out = refusals.filter(|(_, refusal)| refusal.rule == HELD_OUT).map(|(proposal, _)| proposal);
        let held_out = held_out.collect::<BTreeSet<usize>>().len() as u64;
        counts.valid_proposals -= held_out;
        counts.proposals_in_held_out += held_out;
        // What other policies did says nothing of this one.
        let solutions = self.solutions.iter().filter(|one| one.policy.is_none()).map(|one| &one.judged);
        let verifications = self.verifications.iter().filter(|one| one.policy.is_none()).map(|one| &one.judged);
        for judged in solutions.chain(verifications) {
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
        let proposals =
            self.proposals.iter().map(|one| EpisodeSummary::new(one.role, &one.finished, one.judged.verdict.as_ref()));
        let solutions =
            self.solutions.iter().map(|one| EpisodeSummary::new(one.role, &one.finished, one.judged.verdict.as_ref()));
        let verifications = self
            .verifications
            .iter()
            .map(|one| EpisodeSummary::new(one.role, &one.finished, one.judged.verdict.as_ref()));
        let tasks = self.tasks.iter().zip(&self.solved);
        let task = |(asked, solved): (&StepTask<E::Task>, &SolveCount)| TaskSummary {
            kind: asked.task.kind(),
            source: asked.source,
            solved: *solved,
        };
        StepSummary {
            counts: self.outcome_counts(),
            episodes: proposals.chain(solutions).chain(verifications).collect(),
            tasks: tasks.map(task).collect(),
            scored: &self.scored,
            without_prompt: self.without_prompt + self.proposers_without_prompt,
        }
    }

    /// The turns of an episode.
    pub(crate) fn turns(&self, response: Response) -> &[(Prompt, Rollout)] {
        match response.part {
            Part::Proposal => &self.proposals[response.index].finished.turns,
            Part::Solution => &self.solutions[response.index].finished.turns,
            Part::Verification => &self.verifications[response.index].finished.turns,
            Part::Deferred => &self.released[response.index].turns,
        }
    }

    /// The number that episodes which answered the same question share.
    pub(crate) fn group(&self, response: Response) -> usize {
        match response.part {
            Part::Proposal => 0,
            Part::Solution => self.solutions[response.index].finished.source,
            Part::Verification => self.verifications[response.index].finished.source,
            Part::Deferred => self.released[response.index].group,
        }
    }

    /// The policy that was sampled in an episode, where it is not the one that learns.
    pub(crate) fn policy(&self, response: Response) -> Option<&String> {
        match response.part {
            Part::Proposal => self.proposals[response.index].policy.as_ref(),
            Part::Solution => self.solutions[response.index].policy.as_ref(),
            Part::Verification => self.verifications[response.index].policy.as_ref(),
            Part::Deferred => None,
        }
    }

    /// How many episodes of a part there are.
    pub(crate) fn count(&self, part: Part) -> usize {
        match part {
            Part::Proposal => self.proposals.len(),
            Part::Solution => self.solutions.len(),
            Part::Verification => self.verifications.len(),
            Part::Deferred => self.released.len(),
        }
    }

    /// Whether something may be learned from a response: the policy that learns made it, and the script does not leave it out.
    pub(crate) fn is_learnable(&self, response: Response) -> bool {
        self.policy(response).is_none() && self.given.get(&response) != Some(&GivenReward::Nothing)
    }

    /// The kind of task that an episode is about.
    pub(crate) fn kind(&self, response: Response) -> &'static str {
        match response.part {
            Part::Proposal => self.proposals[response.index].kind,
            Part::Solution => self.tasks[self.solutions[response.index].finished.source].task.kind(),
            Part::Verification => self.tasks[self.verifications[response.index].task].task.kind(),
            Part::Deferred => self.released[response.index].kind,
        }
    }

    /// The role that an episode has.
    pub(crate) fn role(&self, response: Response) -> Role {
        match response.part {
            Part::Proposal => self.proposals[response.index].role,
            Part::Solution => self.solutions[response.index].role,
            Part::Verification => self.verifications[response.index].role,
            Part::Deferred => self.released[response.index].role,
        }
    }

    /// The rewards of rollouts that their trainer numbers.
    pub(crate) fn rewarded(&self) -> Vec<RewardedRollout> {
        let of_episode = |scored: &'_ ScoredEpisode| -> Vec<RewardedRollout> {
            let turns = self.turns(scored.response()).iter().enumerate();
            let rewarded = turns.filter_map(|(turn, (_, rollout))| {
                Some(RewardedRollout {
                    rollout: rollout.id?,
                    role: scored.role,
                    kind: scored.kind,
                    group: scored.group,
                    episode: scored.index,
                    turn,
                    reward: scored
                        .turns
                        .get(turn)
                        .map_or_else(|| scored.reward.clone(), |one| Reward::single("turn", one.reward)),
                    advantage: scored.turns.get(turn).map_or(scored.advantage, |one| one.advantage),
                })
            });
            rewarded.collect()
        };
        self.scored.iter().flat_map(of_episode).collect()
    }

    /// A response: the last turn of its episode.
    pub fn rollout(&self, response: Response) -> Option<&Rollout> {
        self.turns(response).last().map(|(_, rollout)| rollout)
    }

    /// What came of each task that solvers attempted, for the curriculum.
    pub(crate) fn drawn_tasks(&self) -> Vec<DrawnTask> {
        let mut advantages: Vec<Vec<f64>> = self.tasks.iter().map(|_| Vec::new()).collect();
        for scored in self.scored.iter().filter(|scored| scored.part == Part::Solution) {
            advantages[self.solutions[scored.index].finished.source].push(scored.advantage.abs());
        }
        let tasks = self.tasks.iter().zip(&self.solved).zip(advantages);
        tasks
            .map(|((asked, solved), advantages)| DrawnTask {
                kind: asked.task.kind(),
                source: asked.source,
                solved: *solved,
                mean_advantage: mean(&advantages).unwrap_or_default(),
            })
            .collect()
    }

    /// How often each task that is wanted was solved.
    pub fn solved_where(&self, wanted: impl Fn(&StepTask<E::Task>) -> bool) -> Vec<SolveCount> {
        let tasks = self.tasks.iter().zip(&self.solved);
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
