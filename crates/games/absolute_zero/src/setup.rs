//! `absolute_zero`: its configuration, and its tasks from the corpus.

mod javascript;
mod programs;
mod warmup;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::{Execute, Task, TaskType};
use veriplay_corpus::{Grammar, ProposalStream, Split};
use veriplay_run::config::{LearnConfig, from_toml};
use veriplay_run::executor::{CountedJobs, GameExecutor};
use veriplay_run::game_setup::{EvalKeys, GameSetup, StepTokens, StepWork, corpus_split, guard_and_evaluation};
use veriplay_run::model::is_builtin;
use veriplay_run::named_files::NamedFile;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::methods::Methods;
use veriplay_selfplay::settings::SharedSettings;
use veriplay_selfplay::splits::{EvalSet, Guard};
use veriplay_verifier::ProposalGate;
use veriplay_verifier::languages::is_python;

use crate::{AbsoluteZero, AbsoluteZeroConfig, AbsoluteZeroTasks, LadderTask, NAME, ProposalDrafts, draft_tasks};

/// `[game]`, `[gate]`, `[tasks]` and `[eval]`, as `configs/quickstart.toml` shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbsoluteZeroSetup {
    /// The game.
    pub game: AbsoluteZeroConfig,
    /// When a proposal is valid, and what every job may use.
    pub gate: ProposalGate,
    /// Where seeds and the held-out set come from.
    pub tasks: AbsoluteZeroTaskConfig,
    /// How the policy is evaluated.
    pub eval: AbsoluteZeroEvalConfig,
}

/// Where seeds and the held-out set come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroTaskConfig {
    /// The mix of families that seeds are drawn from, as the grammar names it.
    pub seed_mix: String,
    /// Seed tasks of each type.
    #[serde(default)]
    pub seeds_per_type: usize,
    /// Proposals of each type that the start model makes; the valid ones are supervised examples.
    #[serde(default)]
    pub sft_per_type: usize,
    /// The mix of families of the held-out and validation sets, unless `eval_programs` names a file.
    #[serde(default)]
    pub eval_mix: Option<String>,
    /// A file in CRUXEval's layout, whose programs are the validation set (one in eight, by their hash) and the held-out set.
    #[serde(default)]
    pub eval_programs: Option<PathBuf>,
    /// Seeds the held-out and validation sets; not the run's seed, so that all runs share them.
    pub eval_seed: u64,
}

/// Where the held-out and validation sets come from.
enum EvalSource<'a> {
    /// The grammar, by this mix of families.
    Mix(&'a str),
    /// A file of programs.
    Programs(&'a Path),
}

impl AbsoluteZeroTaskConfig {
    /// The one of two keys that is set.
    fn eval_source(&self) -> Result<EvalSource<'_>, Failure> {
        match (&self.eval_mix, &self.eval_programs) {
            (Some(mix), None) => Ok(EvalSource::Mix(mix)),
            (None, Some(file)) => Ok(EvalSource::Programs(file)),
            (Some(mix), Some(_)) => {
                Err(bad_value("tasks.eval_mix", mix, "left out, because `tasks.eval_programs` is set"))
            }
            (None, None) => {
                let what = "configuration key `tasks.eval_mix` is missing, and so is `tasks.eval_programs`";
                Err(Failure::message(ExitCode::Input, what).hint("set one of them"))
            }
        }
    }
}

veriplay_run::eval_config! {
    /// How the policy is evaluated. `game.eval_samples` sets the number of samples of each task.
    pub struct AbsoluteZeroEvalConfig {
        /// Tasks of each type and of each depth, in a table beside the other: programs of one to six statements of the grammar. Absent means none.
        #[serde(default)]
        ladder_tasks: usize,
    }
}

impl GameSetup for AbsoluteZeroSetup {
    type Game = AbsoluteZero;
    type Eval = AbsoluteZeroEvalConfig;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval"];

    fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        from_toml(text, origin)
    }

    fn shared_settings(&self) -> &SharedSettings {
        &self.game.shared
    }

    fn validate(&self, _learn: &LearnConfig) -> Result<(), Failure> {
        let (game, gate) = (&self.game.own, &self.gate.induction);
        if (game.induction_visible, game.induction_hidden) != (gate.visible, gate.hidden) {
            let value = format!("{} visible, {} hidden", gate.visible, gate.hidden);
            let want = "equal to `game.induction_visible` and `game.induction_hidden`";
            return Err(bad_value("gate.induction", &value, want));
        }
        self.check_language()?;
        if let Some(second) = &self.gate.second_image {
            GameExecutor::check_image("gate.second_image", second)?;
        }
        self.tasks.eval_source()?;
        self.gate.check().or_fail(ExitCode::Input)?;
        self.game.check().map_err(|error| error.within("game")).or_fail(ExitCode::Input)
    }

    fn check_model(&self, model: &str) -> Result<(), Failure> {
        match is_python(self.game.own.language()) || !is_builtin(model) {
            true => Ok(()),
            false => {
                let want = "an instruct model, as the built-in ones know no JavaScript: set `model`, or leave out `game.language`";
                Err(bad_value("model", &model, want))
            }
        }
    }

    /// All prompts as long as the context, all responses as long as they may be.
    fn step_tokens(&self, context: usize) -> StepTokens {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let types = game.task_types.len();
        let solver = types * game.tasks_per_type * (context + shared.group_size * shared.solver_max_tokens);
        let proposer = (types * game.proposals_per_type + shared.sft_samples) * context;
        let longest_response = shared.solver_max_tokens.max(shared.proposer_max_tokens);
        StepTokens { total: solver + proposer, longest: context, longest_response }
    }

    fn step_work(&self, context: usize) -> Option<StepWork> {
        let (game, shared, types) = (&self.game.own, &self.game.shared, self.game.own.task_types.len());
        let (proposals, tasks) = (types * game.proposals_per_type, types * game.tasks_per_type);
        let [proposal, answer] = [shared.proposer_max_tokens, shared.solver_max_tokens].map(|most| most.min(context));
        let attempts = tasks * shared.group_size;
        Some(StepWork {
            prompts: proposals * (context - proposal) + tasks * (context - answer),
            responses: proposals * proposal + attempts * answer,
            jobs: 3 * proposals + attempts,
        })
    }

    fn eval(&self) -> &Self::Eval {
        &self.eval
    }

    fn eval_mut(&mut self) -> &mut Self::Eval {
        &mut self.eval
    }

    fn eval_seed(&self) -> u64 {
        self.tasks.eval_seed
    }

    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        let advice =
            "put a file of CRUXEval's layout there; `facebookresearch/cruxeval` publishes `data/cruxeval.jsonl`";
        let file = |path| NamedFile::new("tasks.eval_programs", path, advice.to_owned());
        Ok(self.tasks.eval_programs.as_deref().map(file).into_iter().collect())
    }

    fn describe_step(&self) -> Vec<String> {
        self.describe_step_with(0)
    }

    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<AbsoluteZero>), Failure> {
        let executor = GameExecutor::open(&self.gate.image, self.gate.second_image.as_deref(), workers)?;
        let (mut guard, measured_on) = (self.eval.suite_schedule().guard()?, self.tasks.eval_source()?);
        match measured_on {
            EvalSource::Programs(file) if is_python(self.game.own.language()) => {
                programs::guard_all(file, &mut guard)?;
            }
            EvalSource::Programs(file) => guard = javascript::guard_of(file)?,
            EvalSource::Mix(_) => {}
        }
        // A file is guarded as a whole, and its other set may be too small for as many tasks.
        let is_made = |set| set == self.eval.set || matches!(measured_on, EvalSource::Mix(_));
        let bar = progress::bar(0, "tasks");
        let counted = CountedJobs { execute: &executor, bar: &bar };
        let tasks_of = |set| if is_made(set) { self.evaluation_tasks(set, &counted) } else { Ok(Vec::new()) };
        let (guard, evaluation) =
            guard_and_evaluation((guard, self.eval.set), tasks_of, |guard, set, number, task| {
                guard.add_program(set, &format!("task {number}"), task.question.program());
            })?;
        // Checked here, so that drawing them cannot fail.
        self.drafts(Split::Train, &self.tasks.seed_mix, TaskType::Deduction, 0).map(drop)?;
        let (mut guard, mut ladder) = (guard, Vec::new());
        // Both are guarded: evaluations in the run are on the validation set.
        for set in EvalSet::ALL {
            let of_set = self.ladder(set, &counted)?;
            for (number, LadderTask { task, .. }) in of_set.iter().enumerate() {
                guard.add_program(set, &format!("ladder task {number}"), task.question.program());
            }
            if set == self.eval.set {
                ladder = of_set;
            }
        }
        let examples = self.examples(&guard, &counted)?;
        bar.finish_and_clear();
        let source = AbsoluteZeroTasks { ladder, ..self.source(examples, evaluation) };
        let game = AbsoluteZero::new(self.game.clone(), source, guard)?;
        Ok((executor, SelfPlay::new(game)))
    }
}

/// The mixes of the grammar that have one family each, by the number of its statements.
const DEPTHS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

/// Tasks are drawn from it for as long as the process lives.
static GRAMMAR: LazyLock<Grammar> = LazyLock::new(Grammar::built_in);

impl AbsoluteZeroSetup {
    /// A step in words, of a loop that runs up to so many jobs beside those of Absolute Zero.
    pub fn describe_step_with(&self, more_jobs: usize) -> Vec<String> {
        let (game, shared, types) = (&self.game.own, &self.game.shared, self.game.own.task_types.len());
        let (proposals, tasks) = (types * game.proposals_per_type, types * game.tasks_per_type);
        let methods = Methods::named_by(shared);
        let control = if methods.reward.shuffled() { ", shuffled: the control" } else { "" };
        let (reward, advantage) = (methods.reward.name(), methods.advantage.name());
        vec![
            format!(
                "a step: {}, then {} at each of {}",
                counted(proposals, "proposal"),
                counted(shared.group_size, "attempt"),
                counted(tasks, "task")
            ),
            format!("jobs of a step: at most {}", 3 * proposals + shared.group_size * tasks + more_jobs),
            format!("reward `{reward}`{control}; advantage `{advantage}`; prompts `{}`", shared.format),
        ]
    }

    /// One of the two sets: the same for every run, whatever its seed.
    fn evaluation_tasks(&self, set: EvalSet, execute: &dyn Execute) -> Result<Vec<Task>, Failure> {
        let mut all = Vec::new();
        for task_type in self.game.own.types_with_tasks() {
            let drafts: ProposalDrafts = match self.tasks.eval_source()? {
                EvalSource::Mix(mix) => self.drafts(corpus_split(set), mix, task_type, self.tasks.eval_seed)?,
                EvalSource::Programs(file) if !is_python(self.game.own.language()) => {
                    Box::new(javascript::read_drafts(file, set, task_type)?.into_iter())
                }
                EvalSource::Programs(file) => {
                    Box::new(programs::read_drafts(file, set, task_type, self.game.own.induction_inputs())?.into_iter())
                }
            };
            all.extend(draft_tasks(execute, &self.gate, &Guard::default(), drafts, self.eval.tasks)?);
        }
        Ok(all)
    }

    /// The tasks of the ladder: as many of each depth. They are the same for every run, whatever its seed.
    fn ladder(&self, set: EvalSet, execute: &dyn Execute) -> Result<Vec<LadderTask>, Failure> {
        let mut all = Vec::new();
        if self.eval.ladder_tasks == 0 {
            return Ok(all);
        }
        for task_type in self.game.own.types_with_tasks() {
            for (index, family) in DEPTHS.iter().enumerate() {
                let drafts = self.drafts(corpus_split(set), family, task_type, self.tasks.eval_seed)?;
                let tasks = draft_tasks(execute, &self.gate, &Guard::default(), drafts, self.eval.ladder_tasks)?;
                all.extend(tasks.into_iter().map(|task| LadderTask { depth: index + 1, task }));
            }
        }
        Ok(all)
    }

    /// What prompts show with answers: seeds of a draw of its own, the same for all runs with the same evaluation.
    fn examples(&self, guard: &Guard, execute: &dyn Execute) -> Result<Vec<Task>, Failure> {
        let mut all = Vec::new();
        let count = self.game.shared.example_count();
        for task_type in self.game.own.types_with_tasks() {
            let drafts = self.drafts(Split::Train, &self.tasks.seed_mix, task_type, self.tasks.eval_seed)?;
            all.extend(draft_tasks(execute, &self.gate, guard, drafts, count)?);
        }
        Ok(all)
    }

    fn source(&self, examples: Vec<Task>, evaluation: Vec<Task>) -> AbsoluteZeroTasks {
        let setup = self.clone();
        AbsoluteZeroTasks {
            gate: self.gate.clone(),
            seed_drafts: Box::new(move |task_type, seed| {
                let drafts = setup.drafts(Split::Train, &setup.tasks.seed_mix, task_type, seed);
                Box::new(drafts.into_iter().flatten())
            }),
            seeds_per_type: self.tasks.seeds_per_type,
            sft_per_type: self.tasks.sft_per_type,
            examples,
            evaluation,
            ladder: Vec::new(),
        }
    }

    fn drafts(&self, split: Split, mix: &str, task_type: TaskType, seed: u64) -> Result<ProposalDrafts, Failure> {
        if !is_python(self.game.own.language()) {
            return Ok(javascript::seed_drafts(task_type));
        }
        let inputs = self.game.own.induction_inputs();
        let stream: ProposalStream<'static> =
            ProposalStream::new(&GRAMMAR, split, mix, seed, task_type, inputs).or_fail(ExitCode::Input)?;
        let drafts: ProposalDrafts = match task_type {
            TaskType::Error => Box::new(programs::raising_drafts(stream)),
            _ => Box::new(stream),
        };
        Ok(drafts)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use veriplay_core::{Question, ScriptedPolicy, ScriptedRequest, Status, Value, program_hash};
    use veriplay_selfplay::environment::Environment;
    use veriplay_selfplay::play::{Batch, StepContext};
    use veriplay_selfplay::records::LogRecord;
    use veriplay_selfplay::splits::HELD_OUT;
    use veriplay_verifier::formats::compact::{INPUT, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION, PROPOSE_ERROR};

    use super::*;
    use crate::LADDER;
    use veriplay_run::builtin_configs;
    use veriplay_run::config::RunConfig;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_run::proposer;
    use veriplay_selfplay::settings::ProposerMode;

    fn small() -> AbsoluteZeroSetup {
        let config = PlayConfig::<AbsoluteZeroSetup>::parse(builtin_configs::QUICKSTART, "quickstart".as_ref());
        let mut setup = config.expect("it is valid").setup;
        (setup.eval.tasks, setup.eval.ladder_tasks, setup.tasks.seeds_per_type, setup.tasks.sft_per_type) =
            (3, 0, 4, 2);
        (setup.game.shared.seed_proposals, setup.game.shared.sft_samples) = (0, 16);
        setup.game.own.answer_weight = 0.0;
        (setup.game.own.proposals_per_type, setup.game.own.tasks_per_type, setup.game.shared.group_size) = (2, 2, 2);
        // The scripted policy has a token for each letter.
        setup.game.shared.proposer_max_tokens = 512;
        setup
    }

    /// Of each pair of proposals one has an evaluation program in another layout, and one a new program.
    fn policy(task: &Task) -> ScriptedPolicy {
        let (program, input) = match &task.question {
            Question::Deduction { program, pair } => (program.replacen(":\n", ":  # mine\n\n", 1), pair.input.clone()),
            other => panic!("{other:?}"),
        };
        let measured = format!("{program}{INPUT}{}", Value::arguments_text(&input));
        let own = format!("def f(x):\n    return x + 12345{INPUT}3");
        ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| {
            // References stand before it.
            let proposes =
                [PROPOSE_DEDUCTION, PROPOSE_ABDUCTION].iter().any(|token| turn.prompt.text().ends_with(token));
            match (proposes, turn.sample % 2) {
                (true, 0) => measured.clone(),
                (true, _) => own.clone(),
                _ => "1".to_owned(),
            }
        })
    }

    /// The game whose evaluation has this program, too.
    fn measuring(program: &str) -> SelfPlay<AbsoluteZero> {
        let setup = small();
        let mut guard = Guard::default();
        guard.add_program(EvalSet::Validation, "task 9", program);
        SelfPlay::new(
            AbsoluteZero::new(setup.game.clone(), setup.source(Vec::new(), Vec::new()), guard).expect("it is valid"),
        )
    }

    #[test]
    fn the_ladder_has_a_table_of_its_own_and_answers_are_imitated_as_they_were_executed() {
        let mut setup = small();
        setup.eval.ladder_tasks = 2;
        (setup.game.own.answer_weight, setup.game.own.answer_max_rate) = (0.5, 0.0);
        let (executor, played) = setup.open(Isolation::Thread).expect("the image is there");
        let policy = ScriptedPolicy::new(|_| "1".to_owned());
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let table = played.evaluate(&context).expect("a table");
        let rows: Vec<&str> = table.further[LADDER].rows.iter().map(|row| row.row.as_str()).collect();
        assert_eq!((table.rows.len(), rows.len(), rows[0], rows[17]), (3, 18, "deduction/1", "induction/6"));
        for one in played.game.evaluation_tasks().iter().filter(|one| one.table == Some(LADDER)) {
            let statements =
                one.task.question.program().lines().skip(1).filter(|line| line.starts_with("    ")).count();
            let depth: usize = one.row.rsplit_once('/').expect("a depth").1.parse().expect("a number");
            assert!(statements >= depth, "{one:?}");
        }
        for set in EvalSet::ALL {
            let ladder = setup.ladder(set, &executor).expect("tasks");
            let is_guarded =
                |one: &LadderTask| played.game.guard().refuse_programs([one.task.question.program()]).is_some();
            assert!(ladder.len() == 36 && ladder.iter().all(is_guarded), "{set:?}");
        }
        let mut state = played.init(&context).expect("seeds");
        let step = played.step(&context, &mut state, 0).expect("a step");
        let [Batch::Samples(batch)] = step.batches.as_slice() else { panic!("{:?}", step.batches) };
        let text = |tokens: &[u32]| tokens.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
        let of_answers = batch.samples.iter().filter(|sample| sample.imitate && sample.weight == 0.5);
        let mut imitated: Vec<String> = of_answers.map(|sample| text(&sample.response)).collect();
        let answers = step.records.iter().filter_map(|record| match record {
            LogRecord::Task(record) => Some(record),
            _ => None,
        });
        let unsolved = answers.filter(|record| {
            record
                .attempts
                .iter()
                .all(|one| one.judged.verdict.as_ref().is_ok_and(|verdict| verdict.status != Status::Accepted))
        });
        let mut wanted: Vec<String> =
            unsolved.map(|record| format!("{}\0", played.game.format.answer_text(&record.task.question))).collect();
        wanted.sort();
        imitated.sort();
        assert!(!wanted.is_empty());
        assert_eq!(imitated, wanted);
    }

    #[test]
    fn a_proposal_with_a_measured_program_is_refused_and_counted_and_another_is_admitted() {
        let (executor, played) = small().open(Isolation::Thread).expect("the image is there");
        let measured = played.game.evaluation_tasks()[0].task.clone();
        let policy = policy(&measured);
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let mut state = played.init(&context).expect("nothing of the seeds is measured");
        let decode = |tokens: &[u32]| tokens.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
        let examples: Vec<String> = state.sft_examples.iter().map(|example| decode(&example.tokens)).collect();
        assert!(examples.iter().any(|text| text.contains("12345")), "{examples:?}");
        assert!(!examples.iter().any(|text| text.contains("# mine")), "a measured program is imitated: {examples:?}");
        let step = played.step(&context, &mut state, 0).expect("a step");
        let mut rules: HashMap<&str, usize> = HashMap::new();
        for record in &step.records {
            if let LogRecord::Proposal(record) = record {
                let verdict = record.judged.verdict.as_ref().expect("no host fault");
                *rules.entry(verdict.evidence.rule.as_str()).or_default() += 1;
            }
        }
        assert_eq!(rules.get(HELD_OUT), Some(&2), "one of each type with a program: {rules:?}");
        assert_eq!(step.counts.proposals_in_held_out, 2);
        assert_eq!(step.counts.valid_proposals, 2, "{rules:?}");
        let measured = program_hash(measured.question.program());
        for task_type in TaskType::STANDARD {
            let programs = || state.pool.of_kind(task_type.name()).map(|entry| entry.task.question.program());
            assert!(programs().all(|program| program_hash(program) != measured));
            let own = programs().any(|program| program.contains("12345"));
            assert_eq!(own, task_type != TaskType::Induction, "{task_type:?}");
        }
        let again = played.replay(&executor, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
        let seed = state.pool.entries()[0].task.question.program().to_owned();
        let state = measuring(&seed).init(&context).expect("other seeds take its place");
        let programs: Vec<&str> = state.pool.entries().iter().map(|entry| entry.task.question.program()).collect();
        assert_eq!(programs.len(), TaskType::STANDARD.len() * 4);
        assert!(programs.iter().all(|program| program_hash(program) != program_hash(&seed)));
    }

    #[test]
    fn composites_call_functions_of_earlier_tasks_which_are_part_of_their_program() {
        let mut setup = small();
        (setup.game.shared.format, setup.game.own.composite_share) = ("think".to_owned(), 1.0);
        (setup.game.shared.proposer_max_tokens, setup.game.shared.solver_max_tokens) = (4000, 4000);
        (setup.game.shared.sft_samples, setup.gate.max_statements) = (0, None);
        (setup.gate.max_program_bytes, setup.gate.max_output_bytes) = (4000, 400);
        let (executor, played) = setup.open(Isolation::Thread).expect("the image is there");
        // Of two proposals one calls everything that it is shown, and one nothing.
        let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| {
            let prompt = turn.prompt.text();
            let helpers = (0..3).filter(|number| prompt.contains(&format!("def g_{number}(")));
            let calls: String = match turn.index {
                0 => helpers.map(|number| format!("    try:\n        found.append(str(g_{number}(x))[:9])\n    except Exception:\n        found.append({number})\n")).collect(),
                _ => String::new(),
            };
            let code = format!("def f(x):\n    found = [x + 700]\n{calls}    return found");
            format!("a plan</think>\n<answer>\n```python\n{code}\n```\n```input\n3\n```\n</answer>")
        });
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let mut state = played.init(&context).expect("nothing of the seeds is measured");
        let step = played.step(&context, &mut state, 0).expect("a step");
        let made: Vec<&str> = state
            .pool
            .entries()
            .iter()
            .filter(|entry| !entry.seed)
            .map(|entry| entry.task.question.program())
            .collect();
        assert_eq!(made.len(), 2, "one of each type with a program: {made:?}");
        assert!(
            made.iter().all(|program| program.starts_with("def g_0(") && program.contains("\ndef f(x):")),
            "{made:?}"
        );
        let mut malformed = 0;
        for record in &step.records {
            let LogRecord::Proposal(record) = record else { continue };
            assert_eq!(record.request.helpers.is_empty(), record.request.task_type == TaskType::Induction);
            let reason = &record.judged.verdict.as_ref().expect("no host fault").evidence.detail;
            malformed += usize::from(reason.contains("does not call `g_0`"));
        }
        assert_eq!(malformed, 2);
        let again = played.replay(&executor, &step.records).expect("no host fault");
        assert_eq!((again.verdicts, again.same), (again.same, again.verdicts));
    }

    #[test]
    fn error_tasks_are_there_where_the_configuration_names_them() {
        let mut setup = small();
        setup.game.own.task_types.push(TaskType::Error);
        let (executor, played) = setup.open(Isolation::Thread).expect("the image is there");
        let raising: Vec<&Task> =
            played.game.evaluation_tasks().iter().map(|one| &*one.task).filter(|task| is_error(task)).collect();
        assert_eq!(raising.len(), 3);
        // A proposer's program raises on 0 alone; one answer names that exception, one another.
        let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| match turn.sample % 2 {
            0 if turn.prompt.text().ends_with(PROPOSE_ERROR) => format!("def f(x):\n    return 12345 // x{INPUT}0"),
            0 => "zerodivisionerror".to_owned(),
            _ => "IndexError".to_owned(),
        });
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let mut state = played.init(&context).expect("seeds of every type");
        assert_eq!(state.pool.of_kind(TaskType::Error.name()).count(), 4);
        let step = played.step(&context, &mut state, 0).expect("a step");
        let admitted = state.pool.of_kind(TaskType::Error.name()).find(|entry| !entry.seed).map(|entry| &entry.task);
        let Some(Question::Error { exception, .. }) = admitted.map(|task| &task.question) else {
            panic!("{admitted:?}")
        };
        assert_eq!(exception, "ZeroDivisionError");
        let solved = step.records.iter().find_map(|record| match record {
            LogRecord::Task(record) if Some(&record.task) == admitted => Some(record),
            _ => None,
        });
        let statuses: Vec<Status> = solved
            .expect("its fresh task is solved")
            .attempts
            .iter()
            .map(|attempt| attempt.judged.verdict.as_ref().expect("no host fault").status)
            .collect();
        assert_eq!(statuses, [Status::Accepted, Status::WrongAnswer]);
        let again = played.replay(&executor, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
        let roles = serde_json::to_value(&step.metrics).expect("numbers")["roles"].as_array().map_or(0, Vec::len);
        assert_eq!(roles, 8);
    }

    fn is_error(task: &Task) -> bool {
        task.question.task_type() == TaskType::Error
    }

    #[test]
    fn a_step_demands_all_its_prompts_and_responses() {
        let quickstart = PlayConfig::<AbsoluteZeroSetup>::parse(builtin_configs::QUICKSTART, "quickstart".as_ref());
        let setup = quickstart.expect("it is valid").setup;
        let step_tokens = setup.step_tokens(512);
        // 96 tasks of 512 + 8 · 48 tokens, and 96 proposals of 512.
        assert_eq!(step_tokens, StepTokens { total: 96 * 896 + 96 * 512, longest: 512, longest_response: 64 });
        let responses = 96 * 64 + 8 * 96 * 48;
        let work = StepWork { prompts: 96 * (448 + 464), responses, jobs: 3 * 96 + 8 * 96 };
        assert_eq!(setup.step_work(512), Some(work));
    }

    #[test]
    fn errors_name_a_misspelt_key_and_a_recipe() {
        let parse = |text: &str| PlayConfig::<AbsoluteZeroSetup>::parse(text, "x.toml".as_ref());
        assert!(parse(builtin_configs::QUICKSTART).is_ok());
        let cases = [
            (builtin_configs::QUICKSTART.replacen("seed = 1", "sead = 1", 1), "unknown key `sead`"),
            (builtin_configs::QUICKSTART.replacen("[game]", "[gmae]", 1), "unknown key `gmae`"),
            (include_str!("../../../../configs/warmup.toml").to_owned(), "veriplay warmup"),
        ];
        for (text, want) in cases {
            let failure = parse(&text).expect_err(want).to_string();
            assert!(failure.contains(want), "{failure}");
        }
    }

    /// What is said of a configuration with this proposer.
    fn said(model: &str, proposer_model: &str, mode: ProposerMode, sft_samples: usize) -> String {
        let mut run: RunConfig = toml::from_str(builtin_configs::QUICKSTART).expect("it is valid");
        let tables: toml::Table = builtin_configs::QUICKSTART.parse().expect("it is TOML");
        let game: AbsoluteZeroConfig = tables["game"].clone().try_into().expect("it is valid");
        let shared = SharedSettings { proposer: mode, sft_samples, seed_proposals: 0, ..game.shared };
        (run.model, run.proposer_model) = (model.to_owned(), Some(proposer_model.to_owned()));
        match proposer::check(&run, &shared) {
            Ok(()) => proposer::describe(&run, &shared).join("; "),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn another_proposer_is_not_trained_and_no_trainer() {
        let trained = said("builtin:tiny", "start", ProposerMode::Train, 0);
        assert!(
            trained.contains("configuration key `proposer_model` is `start`") && trained.contains("frozen"),
            "{trained}"
        );
        let frozen = said("builtin:tiny", "start", ProposerMode::Frozen, 16);
        assert_eq!(
            frozen,
            "proposers propose, and are not trained; proposers are sampled from `builtin:tiny`, as it is now"
        );
        let none = said("builtin:tiny", "gguf:a.gguf", ProposerMode::None, 0);
        assert_eq!(none, "no step samples a proposer; proposers are sampled from `gguf:a.gguf`, as it is now");
        assert!(said("stdio", "start", ProposerMode::Frozen, 0).contains("not your trainer's"));
        assert!(said("builtin:tiny", "stdio", ProposerMode::Frozen, 0).contains("not your trainer's"));
        assert!(said("builtin:tiny", "other/model", ProposerMode::Frozen, 16).contains("`game.sft_samples` must be 0"));
    }
}
