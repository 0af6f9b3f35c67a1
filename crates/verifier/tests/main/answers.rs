//! Answers: deduction on the host, abduction and induction with one job each.

use veriplay_core::{Attempt, Dropped, Exit, IoPair, LimitKind, Provenance, Question, Status, Task, Value, Verdict};
use veriplay_verifier::{AnswerRequest, judge_answer};

use crate::table::{Gives, LIMITS, Table, arguments, exceeded, int_of, on_int, read, stops};

fn pair(input: &str, output: &str) -> IoPair {
    IoPair { input: arguments(input), output: read(output) }
}

fn task(question: Question) -> Task {
    Task { family: "test".to_owned(), language: None, question, limits: LIMITS, provenance: Provenance::Seed }
}

fn deduction(output: &str) -> Task {
    task(Question::Deduction { program: "p".to_owned(), pair: pair("1", output) })
}

fn abduction(output: &str) -> Task {
    task(Question::Abduction { program: "p".to_owned(), pair: pair("1", output) })
}

fn error(exception: &str) -> Task {
    let (program, input, exception) = ("p".to_owned(), arguments("1"), exception.to_owned());
    task(Question::Error { program, input, exception })
}

/// Squares: 1 and 2 are visible, 3, 4 and 5 hidden.
fn induction() -> Task {
    let pairs = |inputs: &[i64]| inputs.iter().map(|x| pair(&x.to_string(), &(x * x).to_string())).collect();
    let (visible, hidden) = (pairs(&[1, 2]), pairs(&[3, 4, 5]));
    task(Question::Induction { visible, hidden, message: String::new(), reference: "the reference".to_owned() })
}

fn try_judge(table: &Table, task: &Task, attempt: &Attempt) -> Result<Verdict, Dropped> {
    judge_answer(table, &AnswerRequest { task, attempt, image: "python", seed: 9, judge_shown: true })
}

fn judge(table: &Table, task: &Task, attempt: &Attempt) -> (Status, u32, u32) {
    let verdict = try_judge(table, task, attempt).unwrap();
    (verdict.status, verdict.passed, verdict.total)
}

fn program() -> Attempt {
    Attempt::Program("p".to_owned())
}

#[test]
fn deduction_is_python_equality_and_runs_nothing() {
    let table = Table::default();
    let cases = [
        ("4", "4", Status::Accepted),
        ("4", "4.0", Status::Accepted),
        ("{1, 2}", "{2, 1}", Status::Accepted),
        ("nan", "nan", Status::Accepted),
        ("4", "'4'", Status::WrongAnswer),
        ("'2'", "'1+1'", Status::WrongAnswer),
        ("[1]", "(1,)", Status::WrongAnswer),
    ];
    for (gold, answer, wanted) in cases {
        let (status, passed, total) = judge(&table, &deduction(gold), &Attempt::Value(read(answer)));
        assert_eq!((status, passed, total), (wanted, u32::from(wanted == Status::Accepted), 1), "{answer} for {gold}");
    }
    assert!(table.jobs().is_empty());
}

#[test]
fn an_error_task_compares_names_and_runs_nothing() {
    let table = Table::default();
    for (exception, name, wanted) in [
        ("KeyError", "KeyError", Status::Accepted),
        ("KeyError", "keyerror", Status::Accepted),
        ("KeyError", "LookupError", Status::WrongAnswer),
        ("KeyError", "Key", Status::WrongAnswer),
        ("KeyError", "IOError", Status::WrongAnswer),
        // Any name of the type is right.
        ("OSError", "OSError", Status::Accepted),
        ("OSError", "IOError", Status::Accepted),
        ("OSError", "environmenterror", Status::Accepted),
        ("FileNotFoundError", "IOError", Status::WrongAnswer),
    ] {
        let (status, passed, total) = judge(&table, &error(exception), &Attempt::Exception(name.to_owned()));
        assert_eq!((status, passed, total), (wanted, u32::from(wanted == Status::Accepted), 1), "{exception}: {name}");
    }
    assert!(table.jobs().is_empty());
}

#[test]
fn abduction_takes_any_input_with_the_output() {
    let table = on_int(|x| Value::int(x * x));
    let answer = |text| judge(&table, &abduction("4"), &Attempt::Arguments(arguments(text)));
    assert_eq!(answer("2"), (Status::Accepted, 1, 1));
    assert_eq!(answer("-2"), (Status::Accepted, 1, 1));
    assert_eq!(answer("3"), (Status::WrongAnswer, 0, 1));
}

#[test]
fn induction_is_judged_on_all_pairs_or_on_the_hidden_ones_alone() {
    let square = on_int(|x| Value::int(x * x));
    assert_eq!(judge(&square, &induction(), &program()), (Status::Accepted, 5, 5));
    assert_eq!(square.jobs().len(), 1);
    let hidden_alone = |table: &Table| {
        let (task, attempt) = (&induction(), &program());
        let request = AnswerRequest { task, attempt, image: "python", seed: 9, judge_shown: false };
        let verdict = judge_answer(table, &request).unwrap();
        (verdict.status, verdict.passed, verdict.total)
    };
    assert_eq!(hidden_alone(&square), (Status::Accepted, 3, 3));
    let forgets_what_it_saw = on_int(|x| Value::int(if x < 3 { 0 } else { x * x }));
    assert_eq!(judge(&forgets_what_it_saw, &induction(), &program()), (Status::WrongAnswer, 3, 5));
    assert_eq!(hidden_alone(&forgets_what_it_saw), (Status::Accepted, 3, 3));
    let knows_what_it_saw = on_int(|x| Value::int(if x < 3 { x * x } else { 0 }));
    assert_eq!(judge(&knows_what_it_saw, &induction(), &program()), (Status::WrongAnswer, 2, 5));
    assert_eq!(hidden_alone(&knows_what_it_saw), (Status::WrongAnswer, 0, 3));
    let raises = Table::of(|call| match int_of(&call.arguments[0]) {
        4 => Gives::Raises("KeyError"),
        x => Gives::Value(Value::int(x * x)),
    });
    assert_eq!(judge(&raises, &induction(), &program()), (Status::RuntimeError, 4, 5));
}

#[test]
fn ends_become_the_words_of_an_online_judge() {
    for (exit, wanted) in stops() {
        let table = Table::of(move |_| Gives::Stops(exit.clone()));
        assert_eq!(judge(&table, &abduction("4"), &Attempt::Arguments(arguments("2"))), (wanted, 0, 1));
        assert_eq!(judge(&table, &induction(), &program()), (wanted, 0, 5));
        assert_eq!(table.jobs().len(), 2);
    }
    for (exit, wanted) in [
        (Exit::CompileError, Status::CompileError),
        (Exit::MissingEntry, Status::RuntimeError),
        // What a program calls its own exceptions changes nothing.
        (Exit::Raised, Status::RuntimeError),
    ] {
        let table = Table::default().with_module_end("p", exit, "CompileError");
        assert_eq!(judge(&table, &induction(), &program()), (wanted, 0, 5));
    }
}

#[test]
fn right_results_of_a_run_that_did_not_end_are_not_accepted() {
    let table = Table::of(|call| match call.place {
        2 => Gives::Stops(exceeded(LimitKind::Fuel)),
        _ => Gives::Value(Value::int(int_of(&call.arguments[0]).pow(2))),
    });
    assert_eq!(judge(&table, &induction(), &program()), (Status::FuelExceeded, 2, 5));
    // A result that is right, and then a trap: no completion, no verdict of Accepted.
    let after = |call: &crate::table::Call<'_>| match call.place {
        0 => Gives::Value(read("4")),
        _ => Gives::Stops(Exit::Trapped),
    };
    assert_eq!(judge(&Table::of(after), &induction(), &program()).0, Status::RuntimeError);
}

#[test]
fn what_is_no_plain_value_equals_nothing() {
    for gives in [Gives::Unencodable, Gives::Bytes(b"T\0".to_vec()), Gives::Bytes(Vec::new())] {
        let table = Table::of(move |_| gives.clone());
        assert_eq!(judge(&table, &abduction("True"), &Attempt::Arguments(arguments("2"))).0, Status::WrongAnswer);
    }
}

#[test]
fn a_host_fault_is_dropped_and_never_a_verdict() {
    let table = Table::of(|_| Gives::HostFault);
    assert!(try_judge(&table, &abduction("4"), &Attempt::Arguments(arguments("2"))).is_err());
    assert!(try_judge(&table, &induction(), &program()).is_err());
}

#[test]
fn malformed_attempts_and_answers_to_another_question_fail_every_check() {
    let table = Table::default();
    let malformed = Attempt::Malformed { reason: "no literal".to_owned() };
    for (task, total) in [(deduction("4"), 1), (abduction("4"), 1), (induction(), 5), (error("KeyError"), 1)] {
        assert_eq!(judge(&table, &task, &malformed), (Status::Malformed, 0, total));
    }
    assert_eq!(judge(&table, &deduction("4"), &program()), (Status::Malformed, 0, 1));
    assert_eq!(judge(&table, &induction(), &Attempt::Value(read("4"))), (Status::Malformed, 0, 5));
    assert_eq!(judge(&table, &error("KeyError"), &Attempt::Value(read("'KeyError'"))), (Status::Malformed, 0, 1));
    assert!(table.jobs().is_empty());
}

#[test]
fn no_job_holds_what_the_answer_should_be() {
    let table = on_int(|_| read("987654321"));
    judge(&table, &abduction("987654321"), &Attempt::Arguments(arguments("2")));
    let hidden = vec![pair("3", "987654321")];
    let question =
        Question::Induction { visible: vec![], hidden, message: String::new(), reference: "987654321".to_owned() };
    judge(&table, &task(question), &program());
    for job in table.jobs() {
        assert!(!format!("{job:?}").contains("987654321"), "{job:?}");
    }
}

#[test]
fn a_task_without_hidden_pairs_accepts_nothing() {
    let question =
        Question::Induction { visible: vec![], hidden: vec![], message: String::new(), reference: "p".to_owned() };
    assert_ne!(judge(&on_int(Value::int), &task(question), &program()).0, Status::Accepted);
}
