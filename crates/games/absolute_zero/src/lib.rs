//! `absolute_zero` (arXiv 2505.03335): one policy proposes programs with inputs, and solves what execution made of them.
//!
//! # One step
//! Proposers write programs with inputs: triplets for deduction, for abduction and, where a run has error tasks, for these, and lists of
//! inputs to programs of the pool for induction. What the gate lets through is executed, and becomes tasks: predict the output, find an
//! input, name the exception, write the program.
//! Solvers answer them, and their solve rates reward the proposers. [`veriplay_selfplay::driver`] has the rest.
//!
//! # Invariants
//! No proposal with a program that is evaluated on is valid ([`veriplay_selfplay::splits`]). A solver's prompt never contains what only the judge may
//! see. The reward of a duplicate is never more than that of its original when the original is refused.

mod composites;
mod config;
mod derivations;
mod documents;
mod drafts;
mod environment;
mod metrics;
pub mod prompts;
mod proposers;
pub mod setup;

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use veriplay_core::{
    Attempt, Digest, Execute, Language, Prompt, Proposal, Question, Role, Status, Task, TaskType, Value, content_hash,
    count_statements, program_hash,
};
use veriplay_python::Python;
use veriplay_verifier::languages::{is_python, language_of, literals_of};
use veriplay_verifier::{Format, ProposalGate, format_in, waypoints};

use prompts::PromptFormat;
use veriplay_selfplay::advantages::EpisodeNotes;
use veriplay_selfplay::environment::{Environment, EvalTask, GameBase, Proposer, Proposing};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::judgement::JudgedResponse;
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::splits::Guard;
use veriplay_selfplay::step::{Attempts, Step};
use veriplay_selfplay::task_pool::{PoolTask, TaskChoice, TaskContent, TaskPool};

pub use config::{AbsoluteZeroConfig, AbsoluteZeroSettings};
pub use derivations::{Derivation, easier_variants};
pub use documents::{DOCUMENT_SHOWN, as_program, shares_window};
pub use drafts::draft_tasks;
pub use metrics::{AbsoluteZeroMetrics, ProposalCounts, RoleMetrics, Triplets, step_metrics};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "absolute_zero";

/// The table of the evaluation that has a row for each kind of task and each number of statements.
pub const LADDER: &str = "depth";

/// Drafts of one task type, in an order drawn by a seed.
pub type ProposalDrafts = Box<dyn Iterator<Item = Proposal>>;

/// Where a run's tasks come from.
pub struct AbsoluteZeroTasks {
    /// When a proposal is valid, and what every job may use.
    pub gate: ProposalGate,
    /// Drafts of the training split, by task type and seed.
    pub seed_drafts: Box<dyn Fn(TaskType, u64) -> ProposalDrafts + Send + Sync>,
    /// Seed tasks of each type.
    pub seeds_per_type: usize,
    /// Proposals of each type that the start model makes; the valid ones are supervised examples.
    pub sft_per_type: usize,
    /// Tasks that prompts show with their answers, `examples` of each type and one more: the same in every prompt of a run.
    pub examples: Vec<Task>,
    /// The tasks the policy is evaluated on.
    pub evaluation: Vec<Task>,
    /// Tasks by the number of statements of their programs, in a table of their own.
    pub ladder: Vec<LadderTask>,
}

/// A task of the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct LadderTask {
    /// The statements of its program.
    pub depth: usize,
    /// The task, with its executed answer.
    pub task: Task,
}

/// The game, set up.
pub struct AbsoluteZero {
    base: GameBase<TripletTask>,
    own: AbsoluteZeroSettings,
    tasks: AbsoluteZeroTasks,
    format: &'static dyn PromptFormat,
    responses: &'static dyn Format,
}

/// A request to a proposer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroRequest {
    /// The kind of task.
    pub task_type: TaskType,
    /// The program an induction proposer is given.
    pub given: Option<String>,
    /// The beginning of the program, which the proposer continues; none in most proposals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// The functions that the program must call; none in most proposals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
    /// The function that the proposer reads, and of which its solvers may be shown nothing; none in most proposals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

impl AbsoluteZeroRequest {
    /// A request for a new program with an input.
    pub const fn new(task_type: TaskType) -> Self {
        Self { task_type, given: None, begun: None, helpers: Vec::new(), document: None }
    }

    /// A request for inputs to a program: an induction task.
    pub fn inputs_to(program: &str) -> Self {
        Self { given: Some(program.to_owned()), ..Self::new(TaskType::Induction) }
    }
}

impl From<LadderTask> for EvalTask<TripletTask> {
    fn from(one: LadderTask) -> Self {
        let row = format!("{}/{}", one.task.question.task_type().name(), one.depth);
        Self { table: Some(LADDER), ..Self::new(row, TripletTask(one.task)) }
    }
}

impl AbsoluteZero {
    /// Sets the game up; `guard` holds the programs that are evaluated on.
    ///
    /// # Errors
    /// The first key of `config` that has no meaning, with its value and what is allowed.
    ///
    /// # Panics
    /// Never: a checked config names a format.
    pub fn new(config: AbsoluteZeroConfig, mut tasks: AbsoluteZeroTasks, guard: Guard) -> Result<Self, PlayError> {
        config.check()?;
        let AbsoluteZeroConfig { shared: settings, own } = config;
        let language = own.language();
        let format = prompts::by_name_in(language, &settings.format).expect("a checked config names a format");
        let responses =
            format_in(language, &settings.format).expect("every prompt format has a verifier format of its name");
        let row = |task: Task| EvalTask::new(task.question.task_type().name(), TripletTask(task));
        let ladder = std::mem::take(&mut tasks.ladder).into_iter().map(EvalTask::from);
        let evaluation = std::mem::take(&mut tasks.evaluation).into_iter().map(row).chain(ladder).collect();
        Ok(Self { base: GameBase { settings, guard, evaluation }, own, tasks, format, responses })
    }

    /// The prompt that asks a solver, behind the examples of its type.
    fn solver_prompt(&self, question: &Question) -> Prompt {
        self.format.solver_prompt(question, &self.shown_examples(question))
    }

    /// The answered examples in the prompt of a question, which is no example of itself.
    fn shown_examples<'a>(&'a self, question: &'a Question) -> Vec<&'a Question> {
        let others = self.examples(question.task_type()).filter(|example| *example != question);
        others.take(self.base.settings.examples).collect()
    }

    /// Has the policy imitate the executed answers of tasks that were solved at most at the rate of the settings, or choose them in pairs.
    pub fn imitate_answers(&self, step: &mut Step<'_, Self>, attempts: &Attempts) -> Result<(), PlayError> {
        let AbsoluteZeroSettings { answer_weight, answer_max_rate, .. } = self.own;
        if answer_weight == 0.0 || !self.base.settings.phase_learns(step.number(), Role::SOLVER) {
            return Ok(());
        }
        for (place, count) in attempts.tasks().zip(step.rates(attempts)) {
            if count.rate().is_some_and(|rate| rate <= answer_max_rate) {
                let answer = self.format.answer_text(&step.facts().tasks[place].task.question);
                step.imitate_text(place, &answer, answer_weight)?;
            }
        }
        let imitated = step.facts().taught.len() as f64;
        step.fact("imitated_answers", imitated);
        Ok(())
    }

    /// Whether steps have tasks of a type.
    fn plays(&self, task_type: TaskType) -> bool {
        self.own.task_types.contains(&task_type)
    }

    /// The answered examples of prompts of one type: one more than are shown.
    fn examples(&self, task_type: TaskType) -> impl Iterator<Item = &Question> {
        self.tasks.examples.iter().filter(move |task| task.question.task_type() == task_type).map(|task| &task.question)
    }

    /// `count` seed tasks of each type that the run has. None holds what is evaluated on.
    fn seeds(&self, execute: &dyn Execute, seed: u64, count: usize) -> Result<Vec<Vec<TripletTask>>, PlayError> {
        let of_type = |task_type| {
            let drafts = (self.tasks.seed_drafts)(task_type, seed);
            let tasks = draft_tasks(execute, &self.tasks.gate, &self.base.guard, drafts, count)?;
            Ok(tasks.into_iter().map(TripletTask).collect())
        };
        self.own.types_with_tasks().into_iter().map(of_type).collect()
    }

    /// For each type first its proposals of this step up to their cap, then seeds and earlier proposals. Fewer than `tasks_per_type`
    /// when the pool has no more.
    pub fn choose_tasks(&self, choice: &mut TaskChoice<'_, TripletTask>) {
        for kind in self.kinds() {
            let fresh = choice.take(choice.fresh(|task| task.kind() == kind), self.own.fresh_cap());
            let of_kind = |seed| choice.entries(|entry| entry.seed == seed && entry.task.kind() == kind);
            let (seeds, earlier) = (of_kind(true), of_kind(false));
            let count = self.own.tasks_per_type - fresh;
            // `seed_share` of them seeds, and more of either where the other has too few.
            let wanted = (self.own.seed_share * count as f64).round() as usize;
            let seed_count = wanted.max(count.saturating_sub(earlier.len())).min(seeds.len());
            for (entries, count) in [(seeds, seed_count), (earlier, count - seed_count)] {
                let candidates = choice.by_curriculum(entries);
                choice.take(candidates, count);
            }
        }
    }
}

impl Game for AbsoluteZero {
    type Metrics = AbsoluteZeroMetrics;

    const HAS_PRIVILEGED_PROMPTS: bool = true;
    const HAS_WAYPOINTS: bool = true;

    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        step.propose(|proposing| self.proposers(proposing))?;
        let tasks = step.draw(|choice| self.choose_tasks(choice))?;
        step.admit();
        let attempts = step.solve(tasks)?;
        self.imitate_answers(step, &attempts)
    }

    fn proposers(&self, proposing: &Proposing<'_, TripletTask>) -> Result<Vec<Proposer<Self>>, PlayError> {
        Ok(self.draw_proposers(proposing))
    }

    /// Seeds go through the same gate as proposals.
    fn initial_pool(&self, context: &StepContext<'_>) -> Result<TaskPool<TripletTask>, PlayError> {
        let mut pool = TaskPool::default();
        for tasks in self.seeds(context.execute, context.seed, self.tasks.seeds_per_type)? {
            pool.add_seeds(tasks);
        }
        Ok(pool)
    }

    fn plays_without_proposers(&self) -> bool {
        self.tasks.seeds_per_type > 0 || self.base.settings.seed_proposals > 0
    }

    /// Wrong answers are of no cluster, or `poly` would pay for being wrong in many ways.
    fn notes(&self, facts: &StepFacts<Self>, Response { part, index }: Response) -> EpisodeNotes {
        match part {
            Part::Proposal => note_attempt(&facts.proposals[index].judged.detail),
            Part::Solution => {
                let JudgedResponse { verdict, detail } = &facts.solutions[index].judged;
                let is_right = verdict.as_ref().is_ok_and(|verdict| verdict.status == Status::Accepted);
                if is_right { note_attempt(detail) } else { EpisodeNotes::default() }
            }
            Part::Verification | Part::Deferred => EpisodeNotes::default(),
        }
    }

    fn privileged_prompt(&self, task: &TripletTask) -> Option<Prompt> {
        Some(self.format.privileged_prompt(&task.question, &self.shown_examples(&task.question)))
    }

    /// Of deduction tasks: solvers of others do not follow the program on an input.
    fn waypoints(&self, execute: &dyn Execute, tasks: &[&TripletTask]) -> Vec<Option<Vec<String>>> {
        let questions: Vec<&Question> = tasks.iter().map(|task| &task.question).collect();
        waypoints(execute, &self.tasks.gate, &questions)
    }

    fn text_weight(&self) -> Option<(&'static str, f64)> {
        Some(("answer_weight", self.own.answer_weight)).filter(|(_, weight)| *weight > 0.0)
    }

    fn metrics(&self, step: &StepFacts<Self>) -> AbsoluteZeroMetrics {
        metrics::step_metrics(self, step)
    }

    /// On seeds: what is evaluated on is no part of a prompt of play.
    fn preview(&self, execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        let seeds: Vec<TripletTask> = self.seeds(execute, 0, self.own.references.max(1))?.concat();
        let of_type = |task_type: TaskType| seeds.iter().filter(move |task| task.kind() == task_type.name());
        let preview = |task_type: TaskType| {
            let references: Vec<&Question> =
                of_type(task_type).take(self.own.references).map(|task| &task.question).collect();
            let given = of_type(TaskType::Deduction).next().filter(|_| task_type == TaskType::Induction);
            let given = given.map(|task| task.question.program());
            let request =
                AbsoluteZeroRequest { given: given.map(str::to_owned), ..AbsoluteZeroRequest::new(task_type) };
            let proposer = self.proposer_prompt(&request, references);
            let solver = of_type(task_type).next().map(|task| self.solver_prompt(&task.question));
            let solver = solver.map(|prompt| (format!("solver, {}", task_type.name()), prompt));
            std::iter::once((format!("proposer, {}", task_type.name()), proposer)).chain(solver)
        };
        Ok(self.own.types_with_tasks().into_iter().flat_map(preview).collect())
    }
}

/// Curricula do not tell programs of more statements apart.
const LONGEST: usize = 8;

/// A task of solvers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TripletTask(pub Task);

impl Deref for TripletTask {
    type Target = Task;

    fn deref(&self) -> &Task {
        &self.0
    }
}

impl PoolTask for TripletTask {
    fn id(&self) -> Digest {
        self.0.id()
    }

    fn key(&self) -> Digest {
        let key = |task_type, program: &str, inputs: &[&Vec<Value>]| key(language_of(self), task_type, program, inputs);
        match &self.question {
            Question::Deduction { program, pair } => key(TaskType::Deduction, program, &[&pair.input]),
            Question::Abduction { program, pair } => key(TaskType::Abduction, program, &[&pair.input]),
            Question::Induction { visible, hidden, reference, .. } => {
                let inputs: Vec<&Vec<Value>> = visible.iter().chain(hidden).map(|pair| &pair.input).collect();
                key(TaskType::Induction, reference, &inputs)
            }
            Question::Error { program, input, .. } => key(TaskType::Error, program, &[input]),
        }
    }

    fn kind(&self) -> &'static str {
        self.question.task_type().name()
    }

    /// The number of statements of its program, from 1 to [`LONGEST`]; in JavaScript of its lines.
    fn class(&self) -> u64 {
        let program = self.question.program();
        let count = if is_python(language_of(self)) { count_statements(program) } else { program.lines().count() };
        count.clamp(1, LONGEST) as u64
    }

    fn content(&self) -> TaskContent {
        let literals = literals_of(language_of(self));
        let answer = match &self.question {
            Question::Deduction { pair, .. } => Some(literals.write(&pair.output)),
            Question::Abduction { pair, .. } => Some(literals.write_arguments(&pair.input)),
            Question::Induction { .. } => None,
            Question::Error { exception, .. } => Some(exception.clone()),
        };
        TaskContent::new(self.question.program(), answer)
    }
}

/// What estimators may know of an attempt, without running anything: answers with the same value, and programs of the same fingerprint, are one
/// cluster; proposals with as many statements are one class.
pub fn note_attempt(attempt: &Attempt) -> EpisodeNotes {
    let cluster = match attempt {
        Attempt::Proposal(proposal) => {
            let class = Some(count_statements(proposal.program()) as u64);
            return EpisodeNotes { class, ..EpisodeNotes::default() };
        }
        Attempt::Malformed { .. } => return EpisodeNotes::default(),
        Attempt::Program(program) => Python.fingerprint(program),
        Attempt::Value(_) | Attempt::Arguments(_) | Attempt::Exception(_) => content_hash(attempt),
    };
    EpisodeNotes { cluster: Some(cluster.words()[0]), ..EpisodeNotes::default() }
}

/// Names a proposal by its task type, the [`program_hash`] of its program, or its tokens in a language that is not parsed, and its inputs. Two
/// proposals that differ only in layout, comments or message have the same key, and so has the task that is made of them.
pub fn proposal_key(language: &dyn Language, proposal: &Proposal) -> Digest {
    match proposal {
        Proposal::Triplet { task_type, program, input } => key(language, *task_type, program, &[input]),
        Proposal::Inputs { program, inputs, .. } => {
            key(language, TaskType::Induction, program, &inputs.iter().collect::<Vec<_>>())
        }
    }
}

fn key(language: &dyn Language, task_type: TaskType, program: &str, inputs: &[&Vec<Value>]) -> Digest {
    let program = if is_python(language) { program_hash(program) } else { language.fingerprint(program) };
    content_hash(&(task_type, program, inputs))
}
