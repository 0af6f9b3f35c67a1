//! What runs in JavaScript have in place of generated programs: seeds of our own, and a file of evaluation programs.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_core::{JAVASCRIPT, Language, Proposal, TaskType};
use veriplay_run::executor::GameExecutor;
use veriplay_run::game_setup::EvalKeys as _;
use veriplay_selfplay::splits::{EvalSet, Guard};
use veriplay_verifier::languages::{is_python, literals_of};

use super::programs::set_of;
use super::{AbsoluteZeroSetup, EvalSource};
use crate::ProposalDrafts;

/// Blocks of a program and a comment with its call, a blank line apart.
const SEEDS: &str = include_str!("seeds.js");

/// The mix of seeds: all of them.
const MIX: &str = "javascript";

/// A program with the arguments of a call of it.
#[derive(Deserialize)]
struct Row {
    code: String,
    input: String,
}

fn seeds() -> impl Iterator<Item = Row> {
    SEEDS.split("\n\n").filter_map(seed)
}

fn seed(block: &str) -> Option<Row> {
    let (code, input) = block.trim_end().rsplit_once("\n// f(")?;
    Some(Row { code: code.to_owned(), input: input.strip_suffix(')')?.to_owned() })
}

/// A proposal of a type for each program whose input is read.
fn drafts(rows: impl Iterator<Item = Row>, task_type: TaskType) -> Vec<Proposal> {
    rows.filter_map(|row| draft(row, task_type)).collect()
}

fn draft(row: Row, task_type: TaskType) -> Option<Proposal> {
    let input = literals_of(&JAVASCRIPT).read_arguments(&row.input).ok().filter(|input| !input.is_empty())?;
    Some(Proposal::Triplet { task_type, program: row.code, input })
}

pub(super) fn seed_drafts(task_type: TaskType) -> ProposalDrafts {
    Box::new(drafts(seeds(), task_type).into_iter())
}

/// The programs of one set, in the order of the file.
pub(super) fn read_drafts(file: &Path, set: EvalSet, task_type: TaskType) -> Result<Vec<Proposal>, Failure> {
    let of_set = read_rows(file)?.into_iter().filter(|row| set_of(&JAVASCRIPT.fingerprint(&row.code)) == set);
    Ok(drafts(of_set, task_type))
}

/// A guard of every program of the file, whether a task is made of it or not.
pub(super) fn guard_of(file: &Path) -> Result<Guard, Failure> {
    let mut guard = Guard::of_scanned(&JAVASCRIPT);
    for (number, Row { code, .. }) in read_rows(file)?.iter().enumerate() {
        guard.add_program(set_of(&JAVASCRIPT.fingerprint(code)), &format!("program {number}"), code);
    }
    Ok(guard)
}

fn read_rows(file: &Path) -> Result<Vec<Row>, Failure> {
    let named = || format!("`tasks.eval_programs` is `{}`", file.display());
    let text = fs::read_to_string(file).with_context(named).or_fail(ExitCode::Input)?;
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let row = serde_json::from_str::<Row>(line).with_context(|| format!("{}, line {number}", named()));
        rows.push(row.or_fail(ExitCode::Input)?);
    }
    Ok(rows)
}

impl AbsoluteZeroSetup {
    /// Refuses values of the other tables that are not of the language of the programs.
    pub(super) fn check_language(&self) -> Result<(), Failure> {
        let language = self.game.own.language();
        GameExecutor::check_language("gate.image", &self.gate.image, language)?;
        if is_python(language) {
            return Ok(());
        }
        if let Some(second) = &self.gate.second_image {
            return Err(bad_value("gate.second_image", second, "left out: JavaScript has no hash seed"));
        }
        if self.tasks.seed_mix != MIX {
            let want = "`javascript`, as `game.language` is: our generator writes Python";
            return Err(bad_value("tasks.seed_mix", &self.tasks.seed_mix, want));
        }
        let most = seeds().count();
        if self.tasks.seeds_per_type > most {
            let want = format!("at most {most}: there are no more seeds in JavaScript");
            return Err(bad_value("tasks.seeds_per_type", &self.tasks.seeds_per_type, &want));
        }
        if let EvalSource::Mix(mix) = self.tasks.eval_source()? {
            let want = "left out with `game.language = \"javascript\"`; set `tasks.eval_programs` to a file of lines such as \
                `{\"code\": \"function f(x) { … }\", \"input\": \"1\"}`";
            return Err(bad_value("tasks.eval_mix", &mix, want));
        }
        if self.eval.ladder_tasks > 0 {
            let want = "0 with `game.language = \"javascript\"`: our generator writes Python";
            return Err(bad_value("eval.ladder_tasks", &self.eval.ladder_tasks, want));
        }
        self.eval.suite_schedule().check_without_python()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::path::PathBuf;

    use veriplay_console::isolation::Isolation;
    use veriplay_core::{Attempt, Provenance, Question, ScriptedPolicy, ScriptedRequest, Status, Task, TaskType};
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_sandbox::{ImageError, ImageSpec, ImageStore, default_cache_dir};
    use veriplay_selfplay::environment::Environment;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::records::LogRecord;
    use veriplay_selfplay::splits::HELD_OUT;
    use veriplay_verifier::{AnswerRequest, ProposalRequest, judge_answer, judge_proposal};

    use super::*;

    #[test]
    fn every_seed_is_a_program_with_a_call() {
        let written = SEEDS.matches("function f(").count();
        assert_eq!((drafts(seeds(), TaskType::Deduction).len(), seeds().count()), (written, written));
        assert!(seed("function f(x) { return x; }").is_none());
    }

    /// A small run in JavaScript, after the configuration of the paper.
    fn config() -> PlayConfig<AbsoluteZeroSetup> {
        let name = "absolute-zero-7b";
        let text = builtin_configs::find(name).expect("it is built in").text;
        let mut config = PlayConfig::<AbsoluteZeroSetup>::parse(text, name.as_ref()).expect("it is valid");
        let AbsoluteZeroSetup { game, gate, tasks, eval } = &mut config.setup;
        (game.own.language, game.own.task_types) =
            ("javascript".to_owned(), vec![TaskType::Deduction, TaskType::Abduction]);
        (game.own.proposals_per_type, game.own.tasks_per_type, game.own.references) = (2, 2, 0);
        (game.shared.group_size, game.shared.seed_proposals) = (2, 0);
        // The scripted policy has a token for each letter.
        (game.shared.proposer_max_tokens, game.shared.solver_max_tokens) = (4000, 4000);
        gate.image = "javascript".to_owned();
        (tasks.seed_mix, tasks.seeds_per_type) = (MIX.to_owned(), 8);
        tasks.eval_programs = Some(PathBuf::from("programs.jsonl"));
        (eval.tasks, eval.ladder_tasks) = (2, 0);
        config
    }

    /// What set-up says of the run after a change.
    fn told(change: fn(&mut AbsoluteZeroSetup)) -> String {
        let mut config = config();
        change(&mut config.setup);
        let checked = config.setup.validate(&config.run.learn);
        checked.err().map_or_else(String::new, |failure| failure.to_string())
    }

    #[test]
    fn what_has_no_meaning_in_javascript_is_refused_with_its_key() {
        assert_eq!(told(|_| {}), "");
        for (told, want) in [
            (told(|setup| setup.gate.image = "python".to_owned()), "`gate.image` is `python`"),
            (told(|setup| setup.game.own.language = "python".to_owned()), "`gate.image` is `javascript`"),
            (told(|setup| setup.gate.second_image = Some("javascript".to_owned())), "`gate.second_image`"),
            (told(|setup| setup.gate.max_statements = Some(8)), "`max_statements` is `8`"),
            (told(|setup| setup.tasks.seed_mix = "natural".to_owned()), "`tasks.seed_mix` is `natural`"),
            (told(|setup| setup.tasks.seeds_per_type = 9), "`tasks.seeds_per_type` is `9`: it must be at most 8"),
            (
                told(|setup| {
                    (setup.tasks.eval_mix, setup.tasks.eval_programs) = (Some("natural".to_owned()), None);
                }),
                "`tasks.eval_mix` is `natural`",
            ),
            (told(|setup| setup.eval.ladder_tasks = 1), "`eval.ladder_tasks` is `1`"),
            (told(|setup| setup.game.own.task_types.push(TaskType::Induction)), "`game.task_types` is `induction`"),
        ] {
            assert!(told.contains(want), "{told}");
        }
    }

    #[test]
    fn the_built_in_models_are_for_python() {
        let mut setup = config().setup;
        assert!(setup.check_model("Qwen/Qwen2.5-Coder-7B-Instruct").is_ok());
        let failure = setup.check_model("builtin:tiny").expect_err("it knows Python alone").to_string();
        assert!(failure.contains("an instruct model"), "{failure}");
        setup.game.own.language = "python".to_owned();
        assert!(setup.check_model("builtin:tiny").is_ok());
    }

    /// Whether the image is there, or can be built.
    fn has_image() -> bool {
        let Err(error) = open_image() else { return true };
        let is_missing = matches!(error, ImageError::NpmMissing { .. } | ImageError::NpmFailed { .. });
        let may_skip = is_missing && std::env::var_os("VERIPLAY_REQUIRE_NPM").is_none();
        assert!(may_skip, "{error}; hint: {:?}", error.hint());
        report_skipped(&error.to_string());
        false
    }

    fn open_image() -> Result<(), ImageError> {
        let store = ImageStore::open(&default_cache_dir()?)?;
        store.load_or_build(&ImageSpec::builtin("javascript")?, &|_| {}).map(drop)
    }

    fn report_skipped(reason: &str) {
        let thread = std::thread::current();
        let line = format!("SKIPPED {}: {reason}\n", thread.name().unwrap_or("a test"));
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Some(path) = std::env::var_os("VERIPLAY_SKIPPED") {
            let file = fs::OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
        }
    }

    const MEASURED: &str = "function f(x) { return x + 100; }";
    const OWN: &str = "function f(x) {\n  return [x, x > 1];\n}";

    /// A file of programs, of which the first is [`MEASURED`].
    fn write_programs() -> PathBuf {
        let path = std::env::temp_dir().join(format!("veriplay-javascript-{}.jsonl", std::process::id()));
        let codes = (0..16).map(|n| MEASURED.replace("100", &(100 + n).to_string()));
        let lines = codes.map(|code| serde_json::json!({ "code": code, "input": "5", "output": "" }).to_string());
        fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("a file");
        path
    }

    fn answered(blocks: &str) -> String {
        format!("a plan</think>\n<answer>\n{blocks}</answer>")
    }

    /// Of two proposals one has a measured program in another layout. Of two attempts one is right by value, and not by type.
    fn respond(turn: &ScriptedRequest<'_>) -> String {
        let prompt = turn.prompt.text();
        if prompt.contains("Invent a new JavaScript program") {
            let program = if turn.sample == 0 { MEASURED.replace("{ ", "{ // mine\n") } else { OWN.to_owned() };
            return answered(&format!("```js\n{program}\n```\n```input\n3\n```\n"));
        }
        answered(match (prompt.contains("Work out what the program returns"), turn.sample) {
            (true, 0) => "```output\n[3, true]\n```\n",
            (true, _) => "```output\n[3, 1]\n```\n",
            (false, 0) => "```input\n3\n```\n",
            (false, _) => "```input\n4\n```\n",
        })
    }

    /// The task of a program that returns this of its argument.
    fn executed(executor: &GameExecutor, returned: &str, input: &str) -> Task {
        let (task_type, program) = (TaskType::Deduction, format!("function f(x) {{ return {returned}; }}"));
        let input = literals_of(&JAVASCRIPT).read_arguments(input).expect("literals");
        let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program, input });
        let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
        let judged = judge_proposal(executor, &config().setup.gate, &request).expect("no host fault");
        judged.task.unwrap_or_else(|| panic!("{returned}: {:?}", judged.verdict))
    }

    #[test]
    fn values_of_every_kind_cross_as_their_literals_say() {
        if !has_image() {
            return;
        }
        let executor = GameExecutor::open("javascript", None, Isolation::Thread).expect("the image is there");
        for (returned, input, output) in [
            ("[x, -x, x / 2, x / 0, 0 / 0]", "3", "[3, -3, 1.5, Infinity, NaN]"),
            ("({ n: x, u: undefined, b: x > 2 })", "3", "{b: true, n: 3.0, u: null}"),
            ("new Map([[x, 'a'], [2.5, x]])", "3", "new Map([[3, 'a'], [2.5, 3]])"),
            ("new Set([x, 'x'])", "3", "new Set(['x', 3])"),
            ("new Uint8Array([x, 255])", "3", "new Uint8Array([3, 255])"),
            ("2n ** BigInt(x + 60)", "3", "9223372036854775808n"),
            ("x + '\u{e9}\\n'", "'a'", "'a\\u00e9\\n'"),
            ("typeof x + x", "9007199254740993n", "'bigint9007199254740993'"),
            ("[...x.values(), x instanceof Map]", "new Map([[3, 1], [2.5, 2]])", "[1, 2, true]"),
            ("x.a + x['b c']", "{a: 1, 'b c': 2}", "3"),
        ] {
            let task = executed(&executor, returned, input);
            let attempt = Attempt::Value(literals_of(&JAVASCRIPT).read(output).expect("a literal"));
            let request =
                AnswerRequest { task: &task, attempt: &attempt, image: "javascript", seed: 0, judge_shown: true };
            let verdict = judge_answer(&executor, &request).expect("no host fault");
            assert_eq!(verdict.status, Status::Accepted, "{returned}: {}", verdict.evidence.detail);
        }
    }

    #[test]
    fn a_step_in_javascript_proposes_judges_and_is_judged_again() {
        if !has_image() {
            return;
        }
        let mut setup = config().setup;
        let programs = write_programs();
        setup.tasks.eval_programs = Some(programs.clone());
        let (executor, played) = setup.open(Isolation::Thread).expect("the image is there");
        fs::remove_file(programs).expect("it was written");
        let policy = ScriptedPolicy::new(respond);
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let measured: Vec<&Task> = played.game.evaluation_tasks().iter().map(|one| &*one.task).collect();
        assert_eq!(measured.len(), 4);
        let mut state = played.init(&context).expect("all seeds pass the gate");
        assert_eq!(state.pool.entries().len(), 16);
        let step = played.step(&context, &mut state, 0).expect("a step");
        let mut rules: BTreeMap<String, usize> = BTreeMap::new();
        let mut statuses = Vec::new();
        for record in &step.records {
            match record {
                LogRecord::Proposal(record) => {
                    let verdict = record.judged.verdict.as_ref().expect("no host fault");
                    *rules.entry(verdict.evidence.rule.clone()).or_default() += 1;
                }
                LogRecord::Task(record) if record.task.question.program() == OWN => {
                    assert_eq!(record.task.language.as_deref(), Some("javascript"));
                    let verdict = |attempt: usize| record.attempts[attempt].judged.verdict.as_ref().expect("no fault");
                    let is_deduction = matches!(record.task.question, Question::Deduction { .. });
                    statuses.push((is_deduction, [0, 1].map(|attempt| verdict(attempt).status)));
                }
                _ => {}
            }
        }
        assert_eq!(rules, BTreeMap::from([(String::new(), 2), (HELD_OUT.to_owned(), 2)]));
        statuses.sort_by_key(|(is_deduction, _)| !is_deduction);
        let judged = [Status::Accepted, Status::WrongAnswer];
        assert_eq!(statuses, [(true, judged), (false, judged)]);
        let again = played.replay(&executor, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
    }
}
