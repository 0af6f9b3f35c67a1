//! `spice` (Self-Play In Corpus Environments, arXiv 2510.24684): proposers read functions of real code, which no solver is shown. A script over
//! Absolute Zero.
//!
//! # One step
//! 1. For each type of task, documents are drawn: functions of the code that `spice.documents` names. Each has one proposer.
//! 2. For an induction task the document is the program: its proposer writes inputs and a message. For other types the proposer reads the document,
//!    and writes a program of its own with an input.
//! 3. A proposal is refused (rule `document_shown`) where eight tokens in a row of its document are in the prompt of its solvers.
//! 4. Solvers attempt proposals and tasks of the pool as in Absolute Zero. Under `reward = "spice"` a proposal is worth most that half of them solve.
//!
//! # Choices
//! The paper's documents are texts of the web, and a challenger states a question with its answer. Here answers are executed. A document is a
//! function at the margin, without decorators, that the gate would not find too long; one that uses names of its module is none for induction, as it
//! does not run alone. Where a step has fewer documents than proposers, each is read several times. The controls are `reward = "random"`, and
//! `plays = "absolute_zero"` with the same reward: no document.
//!
//! # Invariants
//! Those of Absolute Zero. No solver's prompt of a proposed task has eight tokens in a row of the document of its proposer. No proposer reads a
//! function that the policy is evaluated on.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroRequest, DOCUMENT_SHOWN, as_program};
use veriplay_console::exit::{ExitCode, Failure, bad_value};
use veriplay_core::{Role, TaskType};
use veriplay_repository::{definitions, read_code};
use veriplay_run::named_files::NamedFile;
use veriplay_run::scripted_setup::{ScriptSetup, ScriptedSetup};
use veriplay_selfplay::environment::{Environment, Proposer};
use veriplay_selfplay::game::Script;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::step::{Player, Step};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "spice";

/// The tables of Absolute Zero, and `[spice]`.
pub type SpiceSetup = ScriptedSetup<SpiceTables>;

/// The tables that Absolute Zero does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpiceTables {
    /// Its one table, `[spice]` of the file.
    pub spice: Spice,
}

/// Where the documents of a run come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spice {
    /// `.py` files, folders of them, and packages that `veriplay corpus add-repo` has fetched.
    pub documents: Vec<String>,
}

/// The script, with the documents that it draws from.
struct Readers {
    documents: Vec<Document>,
    task_types: Vec<TaskType>,
    /// Proposals of each type in a step.
    proposals: usize,
}

/// A function that proposers read.
#[derive(Debug)]
struct Document {
    text: String,
    /// The same as the program of an induction task, where it runs alone.
    program: Option<String>,
}

impl Script<AbsoluteZero> for Readers {
    fn step(&self, game: &AbsoluteZero, step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
        let readers = self.readers(game, step);
        step.ask(Player::learner(Role::PROPOSER), readers)?;
        let verdicts = step.facts().proposals.iter().filter_map(|one| one.judged.verdict.as_ref().ok());
        let shown = verdicts.filter(|verdict| verdict.evidence.rule == DOCUMENT_SHOWN).count();
        step.fact(DOCUMENT_SHOWN, shown as f64);
        let tasks = step.draw(|choice| game.choose_tasks(choice))?;
        step.admit();
        let tried = step.solve(tasks)?;
        game.imitate_answers(step, &tried)
    }
}

impl Readers {
    /// The proposers of a step, each with its document.
    fn readers(&self, game: &AbsoluteZero, step: &Step<'_, AbsoluteZero>) -> Vec<Proposer<AbsoluteZero>> {
        let generator = &mut generator(step.seed(), step.number(), "spice/documents");
        let mut readers = Vec::new();
        for &task_type in &self.task_types {
            let fitting = self.documents.iter().filter(|one| task_type != TaskType::Induction || one.program.is_some());
            let mut drawn = weighted_sample(fitting.map(|one| (one, 1.0)).collect(), self.proposals, generator);
            drawn.retain(|one| game.guard().refuse_programs(one.texts()).is_none());
            let requests = drawn.iter().cycle().take(self.proposals).map(|one| one.request(task_type));
            readers.extend(requests.map(|request| game.proposer(request, Vec::new(), 1)));
        }
        readers
    }
}

impl Document {
    /// Its text, under both names.
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.program.as_deref())
    }

    /// A request for a task of this type, by a proposer that reads it.
    fn request(&self, task_type: TaskType) -> AbsoluteZeroRequest {
        let given = self.program.clone().filter(|_| task_type == TaskType::Induction);
        AbsoluteZeroRequest { given, document: Some(self.text.clone()), ..AbsoluteZeroRequest::new(task_type) }
    }
}

/// The functions of these files, folders and packages that have at most so many bytes, each once.
fn read_documents(names: &[String], most_bytes: usize) -> Result<Vec<Document>, Failure> {
    let (mut seen, mut documents) = (HashSet::new(), Vec::new());
    for name in names {
        for text in read_code(name)?.iter().flat_map(|text| definitions(text)) {
            if text.starts_with("def ") && text.len() <= most_bytes && seen.insert(text.clone()) {
                documents.push(Document { program: as_program(&text), text });
            }
        }
    }
    Ok(documents)
}

impl ScriptSetup for SpiceTables {
    type Base = AbsoluteZeroSetup;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval", "spice"];

    fn validate(&self, base: &AbsoluteZeroSetup) -> Result<(), Failure> {
        let (game, format) = (&base.game.own, base.game.shared.format.as_str());
        if self.spice.documents.is_empty() {
            return Err(bad_value("spice.documents", &"[]", "a list of files, folders or packages with functions"));
        }
        if game.language != "python" {
            return Err(bad_value("game.language", &game.language, "`python`: documents are functions of it"));
        }
        if game.proposals_per_type == 0 {
            return Err(bad_value("game.proposals_per_type", &0, "above 0: each proposal is made of a document"));
        }
        if game.fresh_fraction == 0.0 {
            return Err(bad_value("game.fresh_fraction", &0, "above 0: proposals are rewarded by their attempts"));
        }
        for (key, value) in [
            ("game.references", game.references as f64),
            ("game.composite_share", game.composite_share),
            ("game.extend_share", game.extend_share),
        ] {
            if value != 0.0 {
                return Err(bad_value(key, &value, "0: proposers are shown documents instead"));
            }
        }
        if game.answer_weight > 0.0 && game.task_types.contains(&TaskType::Induction) {
            let want = "0 with induction tasks, whose answers are the documents";
            return Err(bad_value("game.answer_weight", &game.answer_weight, want));
        }
        if format == "compact" && game.task_types != [TaskType::Induction] {
            let want =
                "`think` or `direct`; `compact` shows documents where `game.task_types` is `[\"induction\"]` alone";
            return Err(bad_value("game.format", &format, want));
        }
        Ok(())
    }

    fn more_tokens(&self, _base: &AbsoluteZeroSetup, _context: usize) -> usize {
        0
    }

    fn describe_step(&self, base: &AbsoluteZeroSetup) -> Vec<String> {
        let own = format!("each proposer reads a function of {}, of which no solver is shown a part", self.names());
        base.describe_step_with(0).into_iter().chain([own]).collect()
    }

    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        NamedFile::repositories("spice.documents", &self.spice.documents)
    }

    fn script(&self, base: &AbsoluteZeroSetup) -> Result<Box<dyn Script<AbsoluteZero>>, Failure> {
        let (game, most_bytes) = (&base.game.own, base.gate.max_program_bytes);
        let documents = read_documents(&self.spice.documents, most_bytes)?;
        let needs_programs = game.task_types.contains(&TaskType::Induction);
        if !documents.iter().any(|one| !needs_programs || one.program.is_some()) {
            let alone = if needs_programs { " that uses no name of its module, as induction needs" } else { "" };
            let what = format!("{} has no function of at most {most_bytes} bytes{alone}", self.names());
            return Err(Failure::message(ExitCode::Input, what)
                .hint("name more code in `spice.documents`, or raise `gate.max_program_bytes`"));
        }
        Ok(Box::new(Readers { documents, task_types: game.task_types.clone(), proposals: game.proposals_per_type }))
    }
}

impl SpiceTables {
    /// The names of the code, for people.
    fn names(&self) -> String {
        format!("`{}`", self.spice.documents.join("`, `"))
    }
}

#[cfg(test)]
mod tests {
    use veriplay_absolute_zero::{TripletTask, shares_window};
    use veriplay_console::isolation::Isolation;
    use veriplay_core::{Reward, ScriptedPolicy, ScriptedRequest};
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_selfplay::driver::Output;
    use veriplay_selfplay::game_state::GameState;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::records::LogRecord;

    use super::*;

    /// A function that runs alone, one that does not, and two that are no documents.
    const CODE: &str = "LIMIT = 3\n\n\ndef scale(rows, step=2):\n    total = 0\n    for row in rows:\n        total = total + row * step\n    \
                        return total\n\n\ndef limited(rows):\n    return rows[:LIMIT]\n\n\n@cache\ndef cached(rows):\n    return rows\n\n\n\
                        class Scale:\n    pass\n";

    /// The quickstart on [`CODE`], with two proposals of one type in a step, and the folder that the code lies in.
    fn setup(task_type: TaskType, format: &str) -> (SpiceSetup, tempfile::TempDir) {
        let text = builtin_configs::find(NAME).expect("it is built in").text;
        let mut setup = PlayConfig::<SpiceSetup>::parse(text, NAME.as_ref()).expect("it is valid").setup;
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("code.py"), CODE).expect("it can be written");
        setup.own.spice.documents = vec![folder.path().display().to_string()];
        let AbsoluteZeroSetup { game, tasks, eval, .. } = &mut setup.base;
        (game.own.task_types, game.own.proposals_per_type) = (vec![task_type], 2);
        (game.own.tasks_per_type, game.shared.group_size) = (4, 2);
        format.clone_into(&mut game.shared.format);
        // The scripted policy has a token for each letter.
        (game.shared.proposer_max_tokens, game.shared.solver_max_tokens) = (512, 512);
        (tasks.seeds_per_type, eval.tasks) = (8, 3);
        (setup, folder)
    }

    /// Two steps of a policy, the second also in a run that was resumed behind the first, and both judged again. Returns the first.
    fn two_steps(
        setup: &SpiceSetup,
        answer: fn(&ScriptedRequest<'_>) -> String,
    ) -> (Output<AbsoluteZero>, GameState<TripletTask>) {
        let (executor, game) = setup.open(Isolation::Thread).expect("the image is there");
        let policy = ScriptedPolicy::new(answer);
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let mut state: GameState<TripletTask> = game.init(&context).expect("seeds");
        let first = game.step(&context, &mut state, 0).expect("a step");
        let behind_first = state.clone();
        let saved = serde_json::to_string(&state).expect("JSON");
        let mut resumed: GameState<TripletTask> = serde_json::from_str(&saved).expect("a state");
        let second = game.step(&context, &mut state, 1).expect("a step");
        let again = game.step(&context, &mut resumed, 1).expect("a step");
        assert_eq!((again.batches, again.records, resumed), (second.batches, second.records.clone(), state));
        for records in [&first.records, &second.records] {
            let replayed = game.replay(&executor, records).expect("no host fault");
            assert_eq!(replayed.verdicts, replayed.same);
        }
        (first, behind_first)
    }

    /// Document, rule and reward of each proposal.
    fn proposals(step: &Output<AbsoluteZero>) -> Vec<(&str, &str, Option<f64>)> {
        let proposals = step.records.iter().filter_map(|record| match record {
            LogRecord::Proposal(one) => {
                let verdict = one.judged.verdict.as_ref().expect("no host fault");
                let reward = one.episode.reward.as_ref().map(Reward::total);
                Some((one.request.document.as_deref()?, verdict.evidence.rule.as_str(), reward))
            }
            _ => None,
        });
        proposals.collect()
    }

    /// Copies the document that runs alone, and writes something else of the other one. Solves every second attempt at that.
    fn copy_or_invent(turn: &ScriptedRequest<'_>) -> String {
        let prompt = turn.prompt.text();
        match (turn.prompt.role, prompt.contains("def scale("), turn.sample) {
            (Role::PROPOSER, true, _) => {
                let body = "total = 0\n    for row in rows:\n        total = total + row * 3\n    return total";
                format!("```python\ndef f(rows):\n    {body}\n\nf([1, 2, 5])\n```")
            }
            (Role::PROPOSER, false, _) => {
                "```python\ndef f(n):\n    n = n + 12345\n    return n * 2\n\nf(3)\n```".to_owned()
            }
            (_, _, 0) if prompt.contains("12345") => "24696".to_owned(),
            _ => "-98765".to_owned(),
        }
    }

    #[test]
    fn a_proposal_that_would_show_its_document_is_refused_and_another_one_is_played() {
        let (setup, _folder) = setup(TaskType::Deduction, "direct");
        let (step, state) = two_steps(&setup, copy_or_invent);
        let mut proposals = proposals(&step);
        proposals.sort_unstable_by_key(|(document, ..)| *document);
        let [(limited, _, invented), (scale, rule, copied)] = proposals.as_slice() else { panic!("{proposals:?}") };
        assert!(limited.starts_with("def limited(") && scale.starts_with("def scale("));
        // Half of the attempts at the one are right, which is what the curve rewards most.
        assert_eq!((*invented, *rule, *copied), (Some(1.0), DOCUMENT_SHOWN, Some(-0.5)));
        assert_eq!(step.numbers[DOCUMENT_SHOWN], 1.0);
        let proposed =
            state.pool.entries().iter().filter(|entry| !entry.seed).map(|entry| entry.task.question.program());
        assert_eq!(proposed.collect::<Vec<_>>(), ["def f(n):\n    n = n + 12345\n    return n * 2"]);
    }

    /// Six inputs to the document. Writes the program of it in every second attempt at what came of them.
    fn choose_inputs(turn: &ScriptedRequest<'_>) -> String {
        let prompt = turn.prompt.text();
        match (turn.prompt.role, turn.sample) {
            (Role::PROPOSER, _) => (1..=6).map(|number| format!("<I>[{number}, {}]", turn.index + 70)).collect(),
            (_, 0) if prompt.contains(", 70]") || prompt.contains(", 71]") => {
                "def f(rows):\n    return 2 * sum(rows)".to_owned()
            }
            _ => "def f(x):\n    return -98765".to_owned(),
        }
    }

    #[test]
    fn a_document_that_runs_alone_is_the_hidden_program_of_induction_tasks() {
        let (setup, _folder) = setup(TaskType::Induction, "compact");
        let (step, state) = two_steps(&setup, choose_inputs);
        let proposals = proposals(&step);
        assert_eq!(proposals.len(), 2);
        for (document, _, reward) in proposals {
            assert!(document.starts_with("def scale(") && reward == Some(1.0), "{document} {reward:?}");
        }
        assert_eq!(step.numbers[DOCUMENT_SHOWN], 0.0);
        let program = "def f(rows, step=2):\n    total = 0\n    for row in rows:\n        total = total + row * step\n    return total";
        let proposed = state.pool.entries().iter().filter(|entry| !entry.seed);
        assert!(proposed.map(|entry| entry.task.question.program()).eq([program, program]));
        let prompts = step.records.iter().flat_map(|record| match record {
            LogRecord::Task(task) => task.attempts.iter().map(|one| &one.episode.turns[0].prompt).collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let prompts: Vec<&String> = prompts.collect();
        assert!(prompts.len() >= 4 && prompts.iter().all(|prompt| !shares_window(program, prompt)), "{prompts:?}");
    }

    #[test]
    fn a_proposer_is_shown_its_document_as_a_program_under_the_name_f() {
        let documents = read_documents(&["builtin:tiny_repositories/train".to_owned()], 400).expect("it is built in");
        assert!(documents.len() > 100 && documents.iter().all(|one| one.program.as_deref() == Some(one.text.as_str())));
        assert!(read_documents(&["no-such-package==0.0.1".to_owned()], 400).is_err());
    }

    /// The error of the setup with this change.
    fn refused(change: fn(&mut SpiceSetup)) -> String {
        let (mut setup, _folder) = setup(TaskType::Induction, "compact");
        change(&mut setup);
        let checked = setup.own.validate(&setup.base).and_then(|()| setup.own.script(&setup.base).map(drop));
        checked.err().map_or_else(String::new, |failure| failure.to_string())
    }

    #[test]
    fn settings_under_which_nobody_reads_a_document_are_refused() {
        assert_eq!(refused(|_| ()), "");
        assert!(refused(|setup| setup.own.spice.documents.clear()).contains("`spice.documents`"));
        assert!(refused(|setup| setup.base.game.own.proposals_per_type = 0).contains("`game.proposals_per_type`"));
        assert!(refused(|setup| setup.base.game.own.fresh_fraction = 0.0).contains("`game.fresh_fraction`"));
        assert!(refused(|setup| setup.base.game.own.references = 2).contains("`game.references`"));
        assert!(refused(|setup| setup.base.game.own.answer_weight = 0.5).contains("`game.answer_weight` is `0.5`"));
        let language = refused(|setup| "javascript".clone_into(&mut setup.base.game.own.language));
        assert!(language.contains("`game.language` is `javascript`"), "{language}");
        let types = refused(|setup| setup.base.game.own.task_types.push(TaskType::Deduction));
        assert!(types.contains("`game.format`") && types.contains("`direct`"), "{types}");
        let short = refused(|setup| setup.base.gate.max_program_bytes = 50);
        assert!(short.contains("50 bytes") && short.contains("hint:"), "{short}");
    }
}
