//! What happened in a step: what its script has sampled and judged, and what was learned from it.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_core::{Dropped, PreferencePair, Prompt, Reward, Role, Rollout, SCHEMA_VERSION, Status, Verdict};

use crate::admission::Admission;
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
use crate::scoring::{EarlierAttempt, ScoredEpisode};
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
    /// Preference pairs among the rewarded episodes, where the settings say to learn from those; empty until the script is done.
    pub pairs: Vec<PreferencePair>,
    /// How many tasks of the pool were proposed, after the step.
    pub pool_proposals: usize,
    /// Rewards that the script gave itself, in place of the scheme's.
    pub given: BTreeMap<Response, GivenReward>,
    /// What the script says of episodes, for estimators.
    pub notes: BTreeMap<Response, EpisodeNotes>,
    /// Responses to imitate, with their weights, beside what is rewarded.
    pub imitated: Vec<Example>,
    /// Texts to imitate at the prompts of tasks, beside what is rewarded.
    pub taught: Vec<TaughtText>,
    /// Factors of the weights of roles in this step; 1 where there is none.
    pub role_factors: BTreeMap<Role, f64>,
    /// Episodes of earlier steps that get their reward now.
    pub released: Vec<ReleasedEpisode>,
    /// Attempts of earlier steps that are trained on again; empty until the script is done.
    pub earlier: Vec<EarlierAttempt>,
    /// Numbers of the step, by name: what the script says of it beside its metrics.
    pub numbers: BTreeMap<String, f64>,
}

/// A text that the policy imitates at the prompt of a task, and that nobody sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct TaughtText {
    /// The task, by its place among the step's.
    pub task: usize,
    /// Tokens of the prompt that its solvers had.
    pub prompt_tokens: Vec<u32>,
    /// Tokens of the text, the end token included.
    pub tokens: Vec<u32>,
    /// Its weight in the loss.
    pub weight: f64,
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
            pairs: Vec::new(),
            pool_proposals: 0,
            given: BTreeMap::new(),
            notes: BTreeMap::new(),
            imitated: Vec::new(),
            taught: Vec::new(),
            role_factors: BTreeMap::new(),
            released: Vec::new(),
            earlier: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }
}

/// What happened in a step, in the same form for every game: what monitors see.
#[derive(Debug)]
pub struct StepSummary<'a> {
    /// How many proposals and attempts ended how.
    pub counts: OutcomeCounts,
    /// What became of the proposals of the policy that learns.
    pub proposals: ProposalSummary,
    /// Episodes of proposers, of solvers, then of verifiers.
    pub episodes: Vec<EpisodeSummary<'a>>,
    /// The tasks that solvers attempted.
    pub tasks: Vec<DrawnTask>,
    /// The episodes that got a reward.
    pub scored: &'a [ScoredEpisode],
    /// Proposers and tasks that were passed over, because the policy has no room for their prompts or the game makes none.
    pub without_prompt: usize,
}

/// What became of the proposals of the policy that learns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProposalSummary {
    /// Those that no host fault took.
    pub judged: usize,
    /// Those of them that could not be read or were refused.
    pub invalid: usize,
    /// Those that the pool or the step had already.
    pub repeated: usize,
}

impl ProposalSummary {
    fn add<T>(&mut self, admission: &Admission<T>) {
        self.judged += usize::from(!matches!(admission, Admission::Dropped));
        self.invalid += usize::from(matches!(admission, Admission::Malformed | Admission::Invalid));
        self.repeated += usize::from(matches!(admission, Admission::Duplicate));
    }
}

/// An episode in the same form for every game.
#[derive(Debug)]
pub struct EpisodeSummary<'a> {
    /// Its role, as the script named it.
    pub role: Role,
    /// The part that it plays.
    pub part: Part,
    /// The task that it is about, by its place among the step's; `None` for proposals.
    pub task: Option<usize>,
    /// Whether the policy that learns was sampled.
    pub is_learner: bool,
    /// Prompt and rollout of each turn.
    pub turns: &'a [(Prompt, Rollout)],
    /// How it ended; `None` when the host failed in it.
    pub end: Option<&'static str>,
    /// The verdict, or the host fault.
    pub verdict: Result<&'a Verdict, &'a Dropped>,
}

impl<'a> EpisodeSummary<'a> {
    fn new<E: Episode>(
        part: Part,
        role: Role,
        policy: Option<&String>,
        finished: &'a FinishedEpisode<E>,
        verdict: &'a Result<Verdict, Dropped>,
    ) -> Self {
        let (turns, end, verdict) = (&finished.turns, finished.end(), verdict.as_ref());
        Self { role, part, task: None, is_learner: policy.is_none(), turns, end, verdict }
    }
}

/// What every episode of a step has, whatever part it plays.
pub(crate) struct EpisodeView<'a> {
    pub(crate) role: Role,
    /// The policy that was sampled, where it is not the one that learns.
    pub(crate) policy: Option<&'a String>,
    /// The kind of task that it is about.
    pub(crate) kind: &'static str,
    /// The number that episodes which answered the same question share.
    pub(crate) group: usize,
    pub(crate) turns: &'a [(Prompt, Rollout)],
}

impl<E: Environment> StepFacts<E> {
    /// The lines of the log: proposals, what was derived, then tasks.
    pub(crate) fn records(&self, step: u64, propose: Seeds, solve: Seeds) -> Vec<Record<E>> {
        let scored: BTreeMap<Response, &ScoredEpisode> = self.scored.iter().map(|one| (one.response(), one)).collect();
        let proposal = |(index, one): (usize, &ProposalEpisode<E>)| {
            LogRecord::Proposal(Box::new(ProposalRecord {
                schema_version: SCHEMA_VERSION,
                index,
                proposed: one.proposed,
                request: one.request.clone(),
                episode: self.episode_record(Response { part: Part::Proposal, index }, &one.finished, &scored),
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
            let episode = self.episode_record(Response { part: Part::Solution, index }, &one.finished, &scored);
            tasks[one.finished.source].attempts.push(AttemptRecord { episode, judged: one.judged.clone() });
        }
        for (index, one) in self.verifications.iter().enumerate() {
            let episode = self.episode_record(Response { part: Part::Verification, index }, &one.finished, &scored);
            let (candidate, judged) = (one.candidate, one.judged.clone());
            tasks[one.task].verifications.push(VerificationRecord { candidate, episode, judged });
        }
        let tasks = tasks.into_iter().map(|task| LogRecord::Task(Box::new(task)));
        let proposals = self.proposals.iter().enumerate().map(proposal);
        proposals.chain(self.derived.iter().enumerate().map(derived)).chain(tasks).collect()
    }

    fn episode_record(
        &self,
        response: Response,
        finished: &FinishedEpisode<E::Episode>,
        scored: &BTreeMap<Response, &ScoredEpisode>,
    ) -> EpisodeRecord {
        let EpisodeView { role, policy, .. } = self.episode(response);
        EpisodeRecord {
            role: (role != response.part.role()).then(|| role.name().to_owned()),
            policy: policy.cloned(),
            ..EpisodeRecord::new(finished, scored.get(&response).copied())
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
        let proposals = self.proposals.iter().map(|one| {
            let ProposalEpisode { role, policy, finished, judged, .. } = one;
            EpisodeSummary::new(Part::Proposal, *role, policy.as_ref(), finished, &judged.verdict)
        });
        let solutions = self.solutions.iter().map(|one| {
            let SolverEpisode { role, policy, finished, judged } = one;
            let summary = EpisodeSummary::new(Part::Solution, *role, policy.as_ref(), finished, &judged.verdict);
            EpisodeSummary { task: Some(finished.source), ..summary }
        });
        let verifications = self.verifications.iter().map(|one| {
            let VerifierEpisode { role, policy, finished, judged, .. } = one;
            let summary = EpisodeSummary::new(Part::Verification, *role, policy.as_ref(), finished, &judged.verdict);
            EpisodeSummary { task: Some(one.task), ..summary }
        });
        let mut own = ProposalSummary::default();
        self.proposals.iter().filter(|one| one.policy.is_none()).for_each(|one| own.add(&one.admission));
        StepSummary {
            counts: self.outcome_counts(),
            proposals: own,
            episodes: proposals.chain(solutions).chain(verifications).collect(),
            tasks: self.drawn_tasks(),
            scored: &self.scored,
            without_prompt: self.without_prompt + self.proposers_without_prompt,
        }
    }

    /// An episode of the step.
    pub(crate) fn episode(&self, response: Response) -> EpisodeView<'_> {
        let Response { part, index } = response;
        match part {
            // All proposals of a kind answered the same question, "invent a task", whatever they were shown: they are one group.
            Part::Proposal => {
                let one = &self.proposals[index];
                EpisodeView {
                    role: one.role,
                    policy: one.policy.as_ref(),
                    kind: one.kind,
                    group: 0,
                    turns: &one.finished.turns,
                }
            }
            Part::Solution => {
                let SolverEpisode { role, policy, finished, .. } = &self.solutions[index];
                let (kind, group) = (self.tasks[finished.source].task.kind(), finished.source);
                EpisodeView { role: *role, policy: policy.as_ref(), kind, group, turns: &finished.turns }
            }
            Part::Verification => {
                let VerifierEpisode { role, policy, task, finished, .. } = &self.verifications[index];
                let (kind, group) = (self.tasks[*task].task.kind(), finished.source);
                EpisodeView { role: *role, policy: policy.as_ref(), kind, group, turns: &finished.turns }
            }
            Part::Deferred => {
                let one = &self.released[index];
                EpisodeView { role: one.role, policy: None, kind: one.kind, group: one.group, turns: &one.turns }
            }
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
        self.episode(response).policy.is_none() && self.given.get(&response) != Some(&GivenReward::Nothing)
    }

    /// The rewards of rollouts that their trainer numbers.
    pub(crate) fn rewarded(&self) -> Vec<RewardedRollout> {
        let mut rewarded = Vec::new();
        for scored in &self.scored {
            for (turn, (_, rollout)) in self.episode(scored.response()).turns.iter().enumerate() {
                let Some(rollout) = rollout.id else { continue };
                let own = scored.turns.get(turn);
                rewarded.push(RewardedRollout {
                    rollout,
                    role: scored.role,
                    kind: scored.kind,
                    group: scored.notes.group.unwrap_or(scored.group),
                    episode: scored.index,
                    turn,
                    reward: own.map_or_else(|| scored.reward.clone(), |one| Reward::single("turn", one.reward)),
                    advantage: own.map_or(scored.advantage, |one| one.advantage),
                });
            }
        }
        rewarded
    }

    /// A response: the last turn of its episode.
    pub fn rollout(&self, response: Response) -> Option<&Rollout> {
        self.episode(response).turns.last().map(|(_, rollout)| rollout)
    }

    /// What came of each task that solvers attempted, for the curriculum and for monitors.
    pub(crate) fn drawn_tasks(&self) -> Vec<DrawnTask> {
        let mut advantages: Vec<Vec<f64>> = self.tasks.iter().map(|_| Vec::new()).collect();
        for scored in self.scored.iter().filter(|scored| scored.part == Part::Solution) {
            advantages[self.solutions[scored.index].finished.source].push(scored.advantage.abs());
        }
        let tasks = self.tasks.iter().zip(&self.solved).zip(advantages);
        tasks
            .map(|((asked, solved), advantages)| DrawnTask {
                id: asked.id(),
                kind: asked.task.kind(),
                class: asked.task.class(),
                source: asked.source,
                is_proposed: asked.is_proposed,
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
