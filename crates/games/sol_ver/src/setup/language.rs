//! What `game.language` asks of the other tables.

use veriplay_console::exit::{Failure, bad_value};
use veriplay_run::executor::GameExecutor;
use veriplay_run::game_setup::EvalKeys as _;
use veriplay_verifier::languages::is_python;

use super::SolVerSetup;
use super::snippets::SnippetSource;
use super::tasks::ProblemSource;

impl SolVerSetup {
    /// Refuses values of the other tables that are not of the language of the programs.
    pub(super) fn check_language(&self) -> Result<(), Failure> {
        let language = self.game.own.language();
        GameExecutor::check_language("agreement.image", &self.agreement.image, language)?;
        let of_streams = matches!(self.tasks.problems, ProblemSource::Programs { .. });
        if is_python(language) {
            let want = "`generator` or `file`, or set `game.language` to `cpp`, whose programs read and write streams";
            return if of_streams { Err(bad_value("tasks.problems.from", &"programs", want)) } else { Ok(()) };
        }
        if !of_streams {
            let want = "`programs` with `game.language = \"cpp\"`: the others call functions of Python";
            return Err(bad_value("tasks.problems.from", &self.tasks.problems.name(), want));
        }
        if !matches!(self.tasks.snippets, SnippetSource::Folder { .. }) {
            let want = "`folder` with `game.language = \"cpp\"`: the others give functions of Python";
            return Err(bad_value("tasks.snippets.from", &self.tasks.snippets.name(), want));
        }
        self.eval.suite_schedule().check_without_python()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::{Path, PathBuf};

    use veriplay_console::isolation::Isolation;
    use veriplay_core::{CPP, Limits, Role, ScriptedPolicy, ScriptedRequest, Status};
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::records::LogRecord;
    use veriplay_verifier::agreement::{SuiteTest, TestSuite, stream_case};

    use super::*;
    use crate::prompts::by_name_in;

    /// A run in C++ on files of this folder, after the configuration of the paper.
    fn config(folder: &Path) -> PlayConfig<SolVerSetup> {
        let name = "sol-ver-qwen";
        let text = builtin_configs::find(name).expect("it is built in").text;
        let mut config = PlayConfig::<SolVerSetup>::parse(text, name.as_ref()).expect("it is valid");
        let SolVerSetup { game, agreement, tasks, .. } = &mut config.setup;
        "cpp".clone_into(&mut game.own.language);
        (agreement.image, agreement.probes, agreement.max_mutants) = ("cpp".to_owned(), 0, 0);
        tasks.snippets = SnippetSource::Folder { path: folder.to_owned(), min_chars: 80, max_chars: 4_000 };
        tasks.problems = ProblemSource::Programs { path: folder.join("problems.jsonl"), hidden: 8 };
        config
    }

    /// What set-up says of such a run after a change.
    fn told(change: fn(&mut SolVerSetup)) -> String {
        let mut config = config(Path::new("solutions"));
        change(&mut config.setup);
        let checked =
            config.setup.validate(&config.run.learn).and_then(|()| config.setup.check_model(&config.run.model));
        checked.err().map_or_else(String::new, |failure| failure.to_string())
    }

    fn to_python(setup: &mut SolVerSetup) {
        (setup.game.own.language, setup.agreement.image) = ("python".to_owned(), "python".to_owned());
    }

    #[test]
    fn what_has_no_meaning_in_cpp_is_refused_with_its_key() {
        assert_eq!(told(|_| {}), "");
        for (told, want) in [
            (told(|setup| setup.agreement.image = "python".to_owned()), "`agreement.image` is `python`"),
            (told(|setup| setup.game.own.language = "python".to_owned()), "`agreement.image` is `cpp`"),
            (told(|setup| setup.game.own.language = "javascript".to_owned()), "`game.language` is `javascript`"),
            (told(|setup| setup.agreement.probes = 6), "`probes` is `6`"),
            (
                told(|setup| {
                    setup.tasks.snippets = SnippetSource::Generator { mix: "warmup".to_owned(), count: 1, seed: 1 };
                }),
                "`tasks.snippets.from` is `generator`",
            ),
            (
                told(|setup| {
                    let (path, format) = (PathBuf::from("MbppPlus.jsonl"), "mbpp_plus".to_owned());
                    setup.tasks.problems = ProblemSource::File { path, format, hidden: 8 };
                }),
                "`tasks.problems.from` is `file`",
            ),
            (told(to_python), "`tasks.problems.from` is `programs`"),
        ] {
            assert!(told.contains(want), "{told}");
        }
    }

    const STATEMENT: &str = "Read one whole number from the input, and write the number that is greater by three.";

    /// Writes the number that it reads, and so much more.
    fn program(added: i64) -> String {
        let code = "#include <iostream>\nint main() {\n  long long x;\n  std::cin >> x;\n  std::cout << x + ADDED << '\\n';\n}";
        code.replace("ADDED", &added.to_string())
    }

    fn suite(added: i64) -> TestSuite {
        let test = |input: i64| SuiteTest::Case(stream_case(format!("{input}\n"), &(input + added).to_string()));
        TestSuite { tests: vec![test(1), test(5)] }
    }

    /// Two codes are right, one is wrong, and one does not compile.
    fn respond(turn: &ScriptedRequest<'_>) -> String {
        let format = by_name_in(&CPP, "think").expect("it has this format");
        match (turn.prompt.role, turn.sample) {
            (Role::PROPOSER, _) => format.problem_response(STATEMENT),
            (Role::SOLVER, 0 | 1) => format.program_response(&program(3)),
            (Role::SOLVER, 2) => format.program_response(&program(4)),
            (Role::SOLVER, _) => format.program_response("int main("),
            (_, 0) => format.suite_response(&suite(3)),
            _ => format.suite_response(&suite(4)),
        }
    }

    /// Two problems, one for each set, and a snippet.
    fn write_files(folder: &Path) {
        let row = |added: i64| {
            let cases = serde_json::json!([{ "stdin": "1\n", "stdout": (1 + added).to_string() }]);
            let statement = format!("add {added} to a number");
            serde_json::json!({ "statement": statement, "program": program(added), "cases": cases }).to_string()
        };
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("one.cpp"), program(1)).expect("a file");
        fs::write(folder.join("problems.jsonl"), [row(7), row(8)].join("\n")).expect("a file");
    }

    #[test]
    fn a_step_in_cpp_is_compiled_judged_and_judged_again() {
        // The toolchain takes minutes to build.
        if std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
            let _ = writeln!(std::io::stderr(), "SKIPPED a test of C++: VERIPLAY_TEST_CPP is not set");
            return;
        }
        let folder = std::env::temp_dir().join(format!("veriplay-cpp-{}", std::process::id()));
        write_files(&folder);
        let mut setup = config(&folder).setup;
        let SolVerSetup { game, agreement, eval, .. } = &mut setup;
        (game.own.problems, game.own.candidates, game.own.suites, game.shared.group_size) = (1, 2, 2, 4);
        // The scripted policy has a token for each letter.
        (game.shared.proposer_max_tokens, game.shared.solver_max_tokens, game.own.verifier_max_tokens) =
            (4000, 4000, 4000);
        (agreement.min_codes, agreement.min_tests, agreement.min_suite_tests, agreement.limits) =
            (2, 2, 2, Limits::small());
        (agreement.min_distinct_outputs, eval.tasks) = (2, 1);
        let (executor, played) = setup.open(Isolation::Thread).expect("the toolchain is there");
        fs::remove_dir_all(&folder).expect("it was written");
        assert_eq!(executor.images().keys().collect::<Vec<_>>(), ["cpp"]);
        let policy = ScriptedPolicy::new(respond);
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let mut state = played.init(&context).expect("the reference passes its case");
        let step = played.step(&context, &mut state, 0).expect("a step");
        let mut statuses = Vec::new();
        for record in &step.records {
            let LogRecord::Task(task) = record else { continue };
            let verdicts = task.attempts.iter().map(|attempt| attempt.judged.verdict.as_ref().expect("no host fault"));
            statuses.extend(verdicts.map(|verdict| verdict.status));
        }
        assert_eq!(statuses, [Status::Accepted, Status::Accepted, Status::WrongAnswer, Status::CompileError]);
        let again = played.replay(&executor, &step.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
    }
}
