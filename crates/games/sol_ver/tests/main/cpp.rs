//! `sol_ver` in C++: programs are scripts that read and write streams, which a double of the sandbox runs.

use veriplay_core::{
    CPP, Entry, Execute, ExecuteError, Exit, Job, Limits, Outcome, Role, ScriptedPolicy, ScriptedRequest, Status,
};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::records::LogRecord;
use veriplay_selfplay::splits::{Guard, HELD_OUT};
use veriplay_sol_ver::prompts::by_name_in;
use veriplay_sol_ver::{ProblemTask, ReferenceSolution, SolVer, SolVerConfig};
use veriplay_verifier::agreement::{
    AgreementRequest, AgreementRules, CountCodes, GUARDS, RoundJudgement, SuiteAttempt, SuiteTest, TestSuite,
    agreement_format_in, judge_round, stream_case,
};

use crate::config;

/// Runs scripts that write the number that they read, and so much more as stands behind `x + `; others do not compile.
struct Adders;

impl Execute for Adders {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        assert!(job.image == "cpp" && job.entry == Entry::Script, "{job:?}");
        let read: i64 = String::from_utf8_lossy(&job.stdin).trim().parse().expect("a number");
        let added = job.program.split("x + ").nth(1).and_then(|rest| rest.split(';').next()?.parse::<i64>().ok());
        let outcome = |added| {
            let stdout = format!("{} \n\n", read + added).into_bytes();
            Outcome { stdout, fuel: 1, ..Outcome::new(Exit::Returned) }
        };
        Ok(added.map_or_else(|| Outcome::new(Exit::CompileError), outcome))
    }
}

fn adds(number: i64) -> String {
    format!("#include <iostream>\nint main() {{\n  long long x;\n  std::cin >> x;\n  std::cout << x + {number};\n}}")
}

fn rules() -> AgreementRules {
    let limits = Limits { output_bytes: 100, ..crate::rules().limits };
    AgreementRules {
        image: "cpp".to_owned(),
        limits,
        tool_limits: limits,
        max_statement_chars: 80,
        quote_chars: 12,
        min_suite_tests: 2,
        probes: 0,
        max_mutants: 0,
        ..crate::rules()
    }
}

/// The suite that wants so much more than each of two inputs.
fn wants(number: i64) -> TestSuite {
    let test = |input: i64| SuiteTest::Case(stream_case(format!("{input}\n"), &format!("{}\n", input + number)));
    TestSuite { tests: vec![test(1), test(5)] }
}

const STATEMENT: &str = "Read a number, and write the one that is greater by three.";

fn judged(statement: &str, rules: &AgreementRules) -> RoundJudgement {
    let (right, again, wrong, broken) = (adds(3), format!("// as asked\n{}", adds(3)), adds(4), "int main(".to_owned());
    let codes = [&right, &again, &wrong, &broken].map(|code| Some(code.as_str()));
    let (sound, unsound) = (wants(3), wants(4));
    let suites = [&sound, &unsound].map(|suite| SuiteAttempt { candidate: 0, suite: Some(suite) });
    let request = AgreementRequest { rules, guards: GUARDS, statement, codes: &codes, suites: &suites };
    judge_round(&Adders, &request).unwrap()
}

#[test]
fn codes_and_suites_agree_on_what_is_written_for_what_is_read() {
    let round = judged(STATEMENT, &rules());
    assert_eq!(round.refused, None);
    let statuses: Vec<Status> = round.codes.iter().map(|code| code.status).collect();
    assert_eq!(statuses, [Status::Accepted, Status::Accepted, Status::WrongAnswer, Status::CompileError]);
    let statuses: Vec<Status> = round.suites.iter().map(|suite| suite.status).collect();
    assert_eq!(statuses, [Status::Sound, Status::Unsound]);
    assert_eq!((round.clusters, round.inputs, round.mutants), (vec![(2, 2), (1, 2)], (2, 2), (0, 0)));
    // Each of the three programs that run reads both inputs twice.
    assert_eq!(round.fuel, 12);
}

#[test]
fn codes_are_told_apart_by_their_tokens_and_lines_of_the_trusted_one_may_not_be_quoted() {
    let texts = AgreementRules { count_codes: CountCodes::Texts, ..rules() };
    assert_eq!(judged(STATEMENT, &texts).refused.unwrap().rule, "few_codes");
    assert_eq!(judged("Do std::cout << x + 3; please.", &rules()).refused.unwrap().rule, "quotes_solution");
}

#[test]
fn what_is_written_in_cpp_is_read_back_by_any_label_of_it() {
    let (format, responses) = (by_name_in(&CPP, "think").unwrap(), agreement_format_in(&CPP, "think").unwrap());
    assert_eq!(responses.read_problem(&format.problem_response(STATEMENT)).unwrap(), STATEMENT);
    assert_eq!(responses.read_suite(&format.suite_response(&wants(3))).unwrap(), wants(3));
    let text = format.program_response(&adds(3));
    for label in ["cpp", "c++", "C++", "cc", "cpp20"] {
        let text = text.replace("```cpp", &format!("```{label}"));
        assert_eq!(responses.read_program(&text).unwrap(), adds(3), "{label}");
    }
    for label in ["python", "c", "js", ""] {
        assert!(responses.read_program(&text.replace("```cpp", &format!("```{label}"))).is_err(), "{label}");
    }
    let answer = |blocks: &str| format!("so</think>\n<answer>\n{blocks}</answer>");
    for blocks in ["```input\n3\n```\n", "```input\n\n```\n```output\n3\n```\n", "```assert\nassert f(1) == 2\n```\n"] {
        assert!(responses.read_suite(&answer(blocks)).is_err(), "{blocks}");
    }
    assert_eq!(responses.read_suite(&answer("```input\n2 1\n7\n```\n```output\n8 \n```\n")).unwrap().tests.len(), 1);
    assert!(by_name_in(&CPP, "direct").is_none() && agreement_format_in(&CPP, "compact").is_none());
}

fn cpp_config() -> SolVerConfig {
    config().with(|c| (c.own.language, c.own.problems) = ("cpp".to_owned(), 1))
}

fn game(config: SolVerConfig, rules: AgreementRules) -> Result<SolVer, String> {
    let reference = ReferenceSolution { program: adds(7), hidden: vec![stream_case("1\n", "8")] };
    let measured = ProblemTask { statement: "add 7 to a number".to_owned(), reference: Some(reference) };
    SolVer::new(config, rules, vec![adds(1)], vec![measured], Guard::of_scanned(&CPP))
        .map_err(|error| error.to_string())
}

/// What the policy says whose codes add this.
fn respond(turn: &ScriptedRequest<'_>, added: i64) -> String {
    let format = by_name_in(&CPP, "think").unwrap();
    match (turn.prompt.role, turn.sample) {
        (Role::PROPOSER, _) => format.problem_response(STATEMENT),
        (Role::SOLVER, 0 | 1) => format.program_response(&adds(added)),
        (Role::SOLVER, 2) => format.program_response(&adds(added + 1)),
        (Role::SOLVER, _) => format.program_response("int main("),
        (_, 0) => format.suite_response(&wants(added)),
        _ => format.suite_response(&wants(added + 1)),
    }
}

/// The statuses of the step's codes, and the rule that refused its round.
fn played(added: i64) -> (Vec<Status>, Option<String>) {
    let game = SelfPlay::new(game(cpp_config(), rules()).unwrap());
    let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| respond(turn, added));
    let context = StepContext { policy: &policy, execute: &Adders, seed: 1 };
    let mut state = game.init(&context).expect("the reference passes its hidden case");
    let step = game.step(&context, &mut state, 0).unwrap();
    let again = game.replay(&Adders, &step.records).unwrap();
    assert_eq!(again.verdicts, again.same);
    let tasks = step.records.iter().filter_map(|record| match record {
        LogRecord::Task(task) => Some(task),
        _ => None,
    });
    let [task] = tasks.collect::<Vec<_>>()[..] else { panic!("one problem is asked") };
    let status = |number: usize| task.attempts[number].judged.verdict.as_ref().unwrap().status;
    let refused = task.round.as_ref().unwrap().refused.as_ref().map(|refusal| refusal.rule.clone());
    ((0..task.attempts.len()).map(status).collect(), refused)
}

#[test]
fn a_step_in_cpp_trusts_what_agrees_and_nothing_that_is_measured() {
    let (statuses, refused) = played(3);
    assert_eq!(statuses, [Status::Accepted, Status::Accepted, Status::WrongAnswer, Status::CompileError]);
    assert_eq!(refused, None);
    assert_eq!(played(7).1.as_deref(), Some(HELD_OUT));
}

#[test]
fn what_needs_calls_is_refused_with_its_key() {
    assert!(game(cpp_config(), rules()).is_ok());
    let told = |config: SolVerConfig, rules: AgreementRules| game(config, rules).err().unwrap();
    for (told, want) in [
        (told(cpp_config().with(|c| c.own.language = "javascript".to_owned()), rules()), "`language` is `javascript`"),
        (
            told(cpp_config().with(|c| c.shared.format = "direct".to_owned()), rules()),
            "`format` is `direct`: use `think`",
        ),
        (told(cpp_config(), AgreementRules { probes: 4, ..rules() }), "`probes` is `4`: use `0`"),
        (told(cpp_config(), AgreementRules { max_mutants: 8, ..rules() }), "`max_mutants` is `8`: use `0`"),
    ] {
        assert!(told.contains(want), "{told}");
    }
}
