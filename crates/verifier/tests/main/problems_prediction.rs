//! Predictions: literals only, and no text of the attempt in a job.

use veriplay_core::{Checks, Entry, LimitKind, Predicted, Prediction, Problem, Status, Value};
use veriplay_verifier::{check_prediction, judge_program};

use crate::cases::texts;
use crate::problems::{problem, request};
use crate::table::{Gives, LIMITS, Table, exceeded, on_int, read};

fn prediction(wanted: Predicted, output: &str) -> Prediction {
    Prediction { program: "p".to_owned(), input: "3".to_owned(), output: read(output), wanted }
}

fn set_problem(wanted: Predicted, output: &str) -> Problem {
    problem(Checks::Prediction(prediction(wanted, output)))
}

fn judged(table: &Table, problem: &Problem, answer: &str) -> (Status, u32, u32) {
    let verdict = judge_program(table, &request(problem, answer)).unwrap();
    (verdict.status, verdict.passed, verdict.total)
}

#[test]
fn a_prediction_is_literals_that_are_compared_as_python_does() {
    for [predicted, output, answer, status] in texts(include_str!("cases/judged_predictions.txt")) {
        let wanted = if predicted == "output" { Predicted::Output } else { Predicted::Input };
        let squares = on_int(|x| Value::int(x * x));
        let (found, passed, total) = judged(&squares, &set_problem(wanted, &output), &answer);
        assert_eq!((found.to_string(), total), (status, 1), "{answer}");
        assert_eq!(passed == 1, found == Status::Accepted, "{answer}");
        // An output is compared on the host, and what is malformed never runs.
        let runs = wanted == Predicted::Input && found != Status::Malformed;
        assert_eq!(squares.jobs().len(), usize::from(runs), "{answer}");
    }
}

#[test]
fn the_reason_is_told() {
    let detail = |problem: &Problem, answer: &str| {
        let verdict = judge_program(&on_int(|x| Value::int(x * x)), &request(problem, answer)).unwrap();
        verdict.evidence.detail
    };
    assert!(detail(&set_problem(Predicted::Output, "'f(3)'"), "'f(3)'").contains("repeats the call"));
    assert_eq!(detail(&set_problem(Predicted::Input, "9"), "f(2)"), "case 0: `4` instead of `9`");
}

#[test]
fn a_predicted_input_enters_its_job_as_values_and_the_output_not_at_all() {
    let table = on_int(|_| read("987654321"));
    assert_eq!(judged(&table, &set_problem(Predicted::Input, "987654321"), "f(3)").0, Status::Accepted);
    let [job] = table.jobs().try_into().unwrap();
    assert_eq!(job.program, "p");
    assert_eq!(job.entry, Entry::Calls { function: "f".to_owned(), arguments: vec![vec![Value::int(3)]] });
    assert!(!format!("{job:?}").contains("987654321"));
}

#[test]
fn an_input_on_which_the_program_fails_is_charged_to_the_attempt() {
    let nine = set_problem(Predicted::Input, "9");
    let raises = Table::of(|_| Gives::Raises("TypeError"));
    assert_eq!(judged(&raises, &nine, "f([])"), (Status::RuntimeError, 0, 1));
    let runs_on = Table::of(|_| Gives::Stops(exceeded(LimitKind::Fuel)));
    assert_eq!(judged(&runs_on, &nine, "f([])"), (Status::FuelExceeded, 0, 1));
    let faulty = Table::of(|_| Gives::HostFault);
    assert!(judge_program(&faulty, &request(&nine, "f(3)")).is_err());
}

#[test]
fn a_set_is_checked_by_running_its_own_programs() {
    let check = |table: &Table, prediction: &Prediction| check_prediction(table, prediction, "python", LIMITS, 1);
    let squares = on_int(|x| Value::int(x * x));
    assert_eq!(check(&squares, &prediction(Predicted::Output, "9")).unwrap().status, Status::Accepted);
    assert_eq!(check(&squares, &prediction(Predicted::Output, "8")).unwrap().status, Status::WrongAnswer);
    assert!(check(&Table::of(|_| Gives::HostFault), &prediction(Predicted::Output, "9")).is_err());
}

/// Takes any program.
struct Anything(std::sync::Mutex<Vec<veriplay_core::Job>>);

impl veriplay_core::Execute for Anything {
    fn execute(&self, job: &veriplay_core::Job) -> Result<veriplay_core::Outcome, veriplay_core::ExecuteError> {
        self.0.lock().unwrap().push(job.clone());
        Table::default().with(&job.program, |_| Gives::Value(read("9"))).execute(job)
    }
}

#[test]
fn an_input_of_the_set_that_is_no_literal_crosses_as_text() {
    let executor = Anything(std::sync::Mutex::default());
    let input = "'a b'.split(' '), lambda x: x".to_owned();
    let prediction = Prediction { input: input.clone(), ..prediction(Predicted::Output, "9") };
    assert_eq!(check_prediction(&executor, &prediction, "python", LIMITS, 1).unwrap().status, Status::Accepted);
    let job = executor.0.lock().unwrap().remove(0);
    let Entry::Calls { arguments, .. } = &job.entry else { panic!("a call") };
    assert_eq!(arguments, &vec![vec![Value::str(input.as_str())]]);
    assert!(job.program.starts_with("p\n") && !job.program.contains(&input));
}

#[test]
fn an_answer_that_is_too_long_is_malformed_and_says_so() {
    for wanted in [Predicted::Output, Predicted::Input] {
        let problem = set_problem(wanted, "9");
        let answer = format!("0x{}", "f".repeat(8_000_000));
        let verdict = judge_program(&on_int(|_| Value::None), &request(&problem, &answer)).unwrap();
        assert_eq!(verdict.status, Status::Malformed);
        assert!(verdict.evidence.detail.contains("8000002 bytes, and at most 1048576"), "{:?}", verdict.evidence);
        assert_eq!(verdict.evidence.fuel, 0);
    }
}

/// Written in decimal the answer would take seconds.
#[test]
fn a_wrong_answer_of_a_million_digits_is_shown_by_its_start() {
    let answer = format!("0x{}", "f".repeat(1_000_000));
    let verdict =
        judge_program(&on_int(|_| Value::None), &request(&set_problem(Predicted::Output, "9"), &answer)).unwrap();
    assert_eq!(verdict.status, Status::WrongAnswer);
    let detail = &verdict.evidence.detail;
    assert!(detail.starts_with("`0xfff") && detail.ends_with("…` instead of `9`") && detail.len() < 150, "{detail}");
}
