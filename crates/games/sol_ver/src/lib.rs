//! `sol_ver` (Sol-Ver, arXiv 2502.14948): one policy states problems, solves them, and writes tests for the solutions; what codes and
//! tests agree on, it learns.
//!
//! # One step
//! An iteration of the paper: generate, verify, learn.
//! 1. Proposers are shown a snippet each and state a problem; [`check_statement`] and the pool, which is the memory of earlier problems,
//!    refuse some.
//! 2. The solver answers each new problem by `codes` programs.
//! 3. The verifier writes `suites` suites of tests for each of `candidates` of these programs, the problem and the program before it.
//! 4. [`judge_round`] runs every program on every test and finds whom to trust. No snippet takes part: it says what a problem may
//!    be about, not what its answer is.
//! 5. What is trusted is imitated (code; sound suites), where some code fails it, and preferred: a trusted code over one that fails, a
//!    sound suite over one that the trusted code fails, to one prompt each. Under `objective = "policy_gradient"` a code is rewarded for
//!    being trusted and a suite for being sound, in rounds that were decided; with `tiers` a code for the tiers of tests that it passes.
//!
//! [`veriplay_selfplay::driver`] has the rest. Problems of an evaluation have a reference, which judges their codes and suites instead.
//!
//! # Choices
//! The paper's text does not say how many samples it draws, how it breaks ties, or what a test's margin is: these are options
//! here. That the snippet's program is no oracle, that tie and doubt drop the problem, and [`veriplay_verifier::agreement::GUARDS`]
//! are ours.
//!
//! # The control
//! `selection = "random"` learns from as many examples and pairs of each kind, drawn from all responses of the step whatever they
//! are: what is left when agreement says nothing.
//!
//! # Invariants
//! A response that was cut off is malformed. Nothing is learned from a problem that is evaluated on, by its statement or by a trusted
//! code ([`veriplay_selfplay::splits`]). No reference takes part in a step.
//!
//! [`check_statement`]: veriplay_verifier::agreement::check_statement
//! [`judge_round`]: veriplay_verifier::agreement::judge_round

mod config;
mod metrics;
mod preferences;
pub mod prompts;
mod rounds;
pub mod setup;
mod tiers;

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{CallCase, Digest, Execute, Prompt, PromptContent, Role, Status, Verdict, content_hash};
use veriplay_verifier::agreement::{
    AgreementFormat, AgreementRules, GUARDS, ProposedProblem, SuiteQuality, agreement_format_in, check_statement,
};

use metrics::SuiteNumbers;
use prompts::{AnsweredProblem, SolVerFormat};
use veriplay_selfplay::admission::JudgedProposal;
use veriplay_selfplay::advantages::EpisodeNotes;
use veriplay_selfplay::environment::{
    Environment, EvalTask, GameBase, JudgedProposalOf, JudgedResponseOf, JudgedRound, OpenedEpisode, ProposalBatch,
    ProposalToJudge, Proposer, Proposing, RoleSampling, RoundRequest, SamplingCall, SolverEpisode, Stage, TaskEpisode,
    VerifierSettings,
};
use veriplay_selfplay::facts::StepFacts;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::judgement::{JudgedResponse, Never, Seeds, rule_verdict};
use veriplay_selfplay::play::{PlayError, StepContext};
use veriplay_selfplay::preferences::{Objective, Preferences, Response};
use veriplay_selfplay::randomness::{derive_seed, generator};
use veriplay_selfplay::rollout::{Episode, FinishedEpisode, Part, SingleTurn};
use veriplay_selfplay::splits::{EvalSet, Guard, text_fingerprint};
use veriplay_selfplay::step::Step;
use veriplay_selfplay::task_pool::{PoolTask, TaskChoice, TaskPool};

pub use config::{
    DpoReference, EvalCandidate, LearningObjective, Selection, SolVerConfig, SolVerSettings, TierOrder, TierRewards,
    TrainFrom,
};
pub use metrics::SolVerMetrics;
pub use rounds::AgreementRound;

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "sol_ver";

/// The one kind of task.
const KIND: &str = "problem";

/// A problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemTask {
    /// Its text, as a proposer writes it.
    pub statement: String,
    /// What is right, where it is known: of problems of an evaluation. It is never logged.
    #[serde(skip)]
    pub reference: Option<ReferenceSolution>,
}

/// What is right for a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceSolution {
    /// A program that is right.
    pub program: String,
    /// What `f` must return, or in C++ a program must write: nobody but the judge sees it.
    pub hidden: Vec<CallCase>,
}

impl PoolTask for ProblemTask {
    fn id(&self) -> Digest {
        content_hash(&self.statement)
    }

    fn key(&self) -> Digest {
        text_fingerprint(&self.statement)
    }

    fn kind(&self) -> &'static str {
        KIND
    }
}

/// Adds what a problem says and what is right for it to the guard.
pub fn add_problem_to_guard(guard: &mut Guard, set: EvalSet, task: &ProblemTask) {
    let name = format!("problem `{}`", task.statement);
    guard.add_text(set, &name, &task.statement);
    if let Some(reference) = &task.reference {
        guard.add_program(set, &name, &reference.program);
    }
}

/// A request to a proposer: a problem made from this snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnippetRequest {
    /// The snippet.
    pub snippet: String,
}

/// The game, set up.
pub struct SolVer {
    base: GameBase<ProblemTask>,
    own: SolVerSettings,
    objective: Objective,
    rules: AgreementRules,
    snippets: Vec<String>,
    /// One more than prompts show: a question is no example of itself.
    examples: Vec<AnsweredProblem>,
    format: &'static dyn SolVerFormat,
    responses: &'static dyn AgreementFormat,
}

impl SolVer {
    /// Sets the game up: `snippets` are the programs that proposers start from, `evaluation` problems with a reference. `guard` holds
    /// what the game is evaluated on at other times.
    ///
    /// # Errors
    /// The first key of `config` or `rules` that has no meaning, nothing to draw from or to evaluate on, or a snippet that is evaluated
    /// on.
    pub fn new(
        config: SolVerConfig,
        rules: AgreementRules,
        snippets: Vec<String>,
        evaluation: Vec<ProblemTask>,
        mut guard: Guard,
    ) -> Result<Self, PlayError> {
        config.check()?;
        rules.check().map_err(|error| PlayError::Setup(error.to_string()))?;
        if config.own.tiers.is_some() && rules.max_mutants == 0 {
            let what = "`game.tiers` is set, and `agreement.max_mutants` is `0`: mutants tell tiers, so set at least `1`, or leave `game.tiers` out";
            return Err(PlayError::Setup(what.to_owned()));
        }
        if snippets.is_empty() {
            return Err(PlayError::Setup("there is no snippet to propose from: give at least one".to_owned()));
        }
        let has_cases = |task: &&ProblemTask| task.reference.as_ref().is_some_and(|one| !one.hidden.is_empty());
        if let Some(task) = evaluation.iter().find(|task| !has_cases(task)) {
            let why = format!("the evaluation problem `{}` has no hidden case: give it one", task.statement);
            return Err(PlayError::Setup(why));
        }
        if evaluation.is_empty() {
            return Err(PlayError::Setup("there is no problem to evaluate on: give at least one".to_owned()));
        }
        let objective = config.own.driver_objective(&config.shared);
        let SolVerConfig { shared: settings, own } = config;
        let language = own.language();
        let format = prompts::by_name_in(language, &settings.format).expect("a checked config names a prompt format");
        let responses = agreement_format_in(language, &settings.format)
            .expect("every prompt format has an agreement format of its name");
        evaluation.iter().for_each(|task| add_problem_to_guard(&mut guard, EvalSet::HeldOut, task));
        for (number, snippet) in snippets.iter().enumerate() {
            guard.check_program("`tasks.snippets`", &format!("snippet {number}"), snippet)?;
        }
        let row = |task: ProblemTask| EvalTask::new("code", task);
        let evaluation = evaluation.into_iter().map(row).collect();
        let base = GameBase { settings, guard, evaluation };
        Ok(Self { base, own, objective, rules, snippets, examples: Vec::new(), format, responses })
    }

    /// Shows these in prompts, of which each has [`veriplay_selfplay::settings::SharedSettings::examples`].
    ///
    /// # Errors
    /// Fewer than that and one more, or one that is evaluated on.
    pub fn with_examples(self, examples: Vec<AnsweredProblem>) -> Result<Self, PlayError> {
        self.base.settings.check_examples(examples.len(), "answered problems")?;
        for AnsweredProblem { statement, program, .. } in &examples {
            let (data, item) = ("the answered examples", format!("problem `{statement}`"));
            self.base.guard.check_text(data, &item, statement)?;
            self.base.guard.check_program(data, &item, program)?;
        }
        Ok(Self { examples, ..self })
    }

    /// The examples of a prompt about `statement` or `snippet`.
    fn examples_beside(&self, text: &str) -> Vec<&AnsweredProblem> {
        let others = self.examples.iter().filter(|one| one.statement != text && one.program != text);
        others.take(self.base.settings.examples).collect()
    }

    fn proposer(&self, request: SnippetRequest) -> Proposer<Self> {
        let episode = self.episode(
            Role::PROPOSER,
            self.format.proposer_content(&request.snippet, &self.examples_beside(&request.snippet)),
        );
        Proposer { request, episode, rollouts: 1, kind: KIND }
    }

    fn solver(&self, statement: &str) -> SingleTurn {
        self.episode(Role::SOLVER, self.format.solver_content(statement, &self.examples_beside(statement)))
    }

    fn verifier(&self, statement: &str, program: &str) -> SingleTurn {
        let examples = self.examples_beside(statement);
        self.episode(Role::VERIFIER, self.format.verifier_content(statement, program, self.own.tests, &examples))
    }

    fn episode(&self, role: Role, content: PromptContent) -> SingleTurn {
        SingleTurn::new(Prompt::new(role, content).with_stop(self.format.stop(role).iter().copied()))
    }

    /// Every snippet once before any is drawn again.
    fn draw_snippets(&self, seed: u64, step: u64) -> impl Iterator<Item = SnippetRequest> {
        let mut snippets: Vec<&str> = self.snippets.iter().map(String::as_str).collect();
        snippets.shuffle(&mut generator(seed, step, "sol_ver/snippets"));
        let drawn = snippets.into_iter().cycle().take(self.own.problems);
        drawn.map(|snippet| SnippetRequest { snippet: snippet.to_owned() })
    }

    fn judge_statement(&self, statement: &str, snippet: &str, known: bool) -> Verdict {
        let proposed = ProposedProblem { rules: &self.rules, statement, snippet, known };
        if let Some(refusal) = self.base.guard.refuse_text(statement) {
            return refusal;
        }
        match check_statement(GUARDS, &proposed) {
            Err(refusal) => rule_verdict(Status::Invalid, refusal.rule, refusal.detail),
            Ok(()) => rule_verdict(Status::Valid, "", ""),
        }
    }

    /// The codes of a problem that suites are written for: different texts in random order, again from the first where they are few.
    fn choose_candidates(&self, solutions: &[SolverEpisode<Self>], generator: &mut impl rand::Rng) -> Vec<usize> {
        let mut programs: Vec<(usize, String)> = Vec::new();
        for (place, one) in solutions.iter().enumerate() {
            let Ok(program) = self.read_program(&one.finished) else { continue };
            if programs.iter().all(|(_, known)| *known != program) {
                programs.push((place, program));
            }
        }
        programs.shuffle(generator);
        programs.into_iter().map(|(place, _)| place).cycle().take(self.own.candidates).collect()
    }

    /// Every new problem of the step, then earlier ones.
    fn choose_tasks(&self, choice: &mut TaskChoice<'_, ProblemTask>) {
        let fresh = choice.fresh(|_| true);
        let count = fresh.len();
        choice.take(fresh, count);
        if self.own.earlier_problems > 0 {
            let earlier = choice.by_curriculum(choice.entries(|_| true));
            choice.take(earlier, self.own.earlier_problems);
        }
    }
}

impl Environment for SolVer {
    type Task = ProblemTask;
    type Request = SnippetRequest;
    type Episode = SingleTurn;
    type ProposalDetail = ();
    /// What a suite is worth; nothing of a code.
    type SolutionDetail = Option<SuiteQuality>;
    type Round = AgreementRound;
    type Derivation = Never;

    const KINDS: &'static [&'static str] = &[KIND];

    fn verifier(&self) -> Option<VerifierSettings> {
        let SolVerSettings { verifier_temperature: temperature, verifier_max_tokens: max_tokens, suites, .. } =
            self.own;
        Some(VerifierSettings { sampling: RoleSampling { temperature, max_tokens }, group: suites, row: "tests" })
    }

    fn base(&self) -> &GameBase<ProblemTask> {
        &self.base
    }

    fn proposer_episode(
        &self,
        _execute: &dyn Execute,
        request: &SnippetRequest,
    ) -> Result<Option<SingleTurn>, PlayError> {
        Ok(Some(self.proposer(request.clone()).episode))
    }

    fn judge_proposals(&self, _execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let judge = |(place, one): (usize, &ProposalToJudge<'_, Self>)| match self.read_statement(one.finished) {
            Ok(statement) => {
                let task = ProblemTask { statement, reference: None };
                let known = is_known(place, &task.key());
                let verdict = Ok(self.judge_statement(&task.statement, &one.request.snippet, known));
                JudgedProposal { verdict, task: Some(task), known, guess_rate: None, detail: () }
            }
            Err(why) => {
                let verdict = Ok(rule_verdict(Status::Malformed, "", why));
                JudgedProposal { verdict, task: None, known: false, guess_rate: None, detail: () }
            }
        };
        proposals.iter().enumerate().map(judge).collect()
    }

    fn solver_episodes(
        &self,
        _execute: &dyn Execute,
        _seeds: Seeds,
        tasks: &[&ProblemTask],
    ) -> Vec<OpenedEpisode<Self>> {
        tasks.iter().map(|task| Ok(Some(self.solver(&task.statement)))).collect()
    }

    fn judge_solutions(
        &self,
        execute: &dyn Execute,
        _seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        self.judge_codes(execute, solutions)
    }

    fn verifier_episode(&self, task: &ProblemTask, response: &FinishedEpisode<SingleTurn>) -> Option<SingleTurn> {
        let program = match &task.reference {
            Some(reference) if self.own.eval_candidate == EvalCandidate::Reference => reference.program.clone(),
            _ => self.read_program(response).ok().or_else(|| Some(response.last()?.text.clone()))?,
        };
        Some(self.verifier(&task.statement, &program))
    }

    fn judge_rounds(
        &self,
        execute: &dyn Execute,
        _seed: u64,
        rounds: &[RoundRequest<'_, Self>],
    ) -> Vec<JudgedRound<Self>> {
        self.judge_all(execute, rounds)
    }

    fn evaluation_numbers(
        &self,
        verifications: &[JudgedResponse<Option<SuiteQuality>>],
    ) -> BTreeMap<String, Option<f64>> {
        let suites: Vec<SuiteQuality> = verifications.iter().filter_map(|one| one.detail).collect();
        let SuiteNumbers { false_positive_rate, mutation_score, .. } = SuiteNumbers::from_suites(&suites);
        let numbers = [("false_positive_rate", false_positive_rate), ("mutation_score", mutation_score)];
        numbers.map(|(name, number)| (name.to_owned(), number)).into()
    }

    fn sampling_seed(&self, run: u64, step: u64, draw: &SamplingCall) -> u64 {
        let chunk = if draw.chunk == 0 { String::new() } else { format!("/chunk {}", draw.chunk) };
        let seed = derive_seed(run, step, &format!("sol_ver/{}{chunk}", draw.part.role().name()));
        match draw.stage {
            Stage::Evaluate | Stage::EvaluateGreedy => derive_seed(seed, 0, "held"),
            Stage::AfterUpdate => derive_seed(seed, 0, "after the update"),
            _ => seed,
        }
    }
}

impl Game for SolVer {
    type Metrics = SolVerMetrics;
    const PREFERENCE_PURPOSE: &'static str = "sol_ver";

    fn step(&self, step: &mut Step<'_, Self>) -> Result<(), PlayError> {
        step.propose(|proposing| self.proposers(proposing))?;
        let tasks = step.draw(|choice| self.choose_tasks(choice))?;
        step.admit();
        let attempts = step.solve(tasks)?;
        let mut generator = generator(step.seed(), step.number(), "sol_ver/candidates");
        let solved = step.solved(&attempts).into_iter();
        let candidates = solved.map(|(_, codes)| self.choose_candidates(codes, &mut generator)).collect();
        step.verify(attempts, candidates)?;
        self.reward_tiers(step)
    }

    fn proposers(&self, proposing: &Proposing<'_, ProblemTask>) -> Result<Vec<Proposer<Self>>, PlayError> {
        let Proposing { context, stage, step, .. } = *proposing;
        if stage == Stage::SftPropose {
            return Ok(Vec::new());
        }
        Ok(self.draw_snippets(context.seed, step).map(|request| self.proposer(request)).collect())
    }

    /// Nothing yet; but every reference must pass its own hidden cases.
    fn initial_pool(&self, context: &StepContext<'_>) -> Result<TaskPool<ProblemTask>, PlayError> {
        self.check_references(context.execute)?;
        Ok(TaskPool::default())
    }

    fn plays_without_proposers(&self) -> bool {
        self.own.earlier_problems > 0 && self.base.settings.seed_proposals > 0
    }

    fn objective(&self) -> Objective {
        self.objective
    }

    fn preferences(&self, context: &StepContext<'_>, step: u64, facts: &StepFacts<Self>) -> Preferences {
        self.select_preferences(context.seed, step, facts)
    }

    /// Codes and suites are trusted as far as their round is.
    fn notes(&self, facts: &StepFacts<Self>, Response { part, index }: Response) -> EpisodeNotes {
        let task = match part {
            Part::Solution => facts.solutions[index].finished.source,
            Part::Verification => facts.verifications[index].task,
            Part::Proposal | Part::Deferred => return EpisodeNotes::default(),
        };
        let round = facts.rounds.get(task).and_then(Option::as_ref);
        EpisodeNotes { trust: round.and_then(AgreementRound::trust), ..EpisodeNotes::default() }
    }

    fn metrics(&self, step: &StepFacts<Self>) -> SolVerMetrics {
        metrics::step_metrics(self, step)
    }

    fn preview(&self, _execute: &dyn Execute) -> Result<Vec<(String, Prompt)>, PlayError> {
        let ProblemTask { statement, reference } = &self.base.evaluation[0].task;
        let program = reference.as_ref().map_or("", |reference| reference.program.as_str());
        let snippet = SnippetRequest { snippet: self.snippets[0].clone() };
        let episodes = [
            ("proposer: state a problem", self.proposer(snippet).episode),
            ("solver: write a program", self.solver(statement)),
            ("verifier: write tests for a program", self.verifier(statement, program)),
        ];
        let prompt = |(what, episode): (&str, SingleTurn)| Some((what.to_owned(), Episode::prompt(&episode)?));
        Ok(episodes.into_iter().filter_map(prompt).collect())
    }
}
