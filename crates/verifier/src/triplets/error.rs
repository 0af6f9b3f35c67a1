//! Error tasks: the gate for a program with an input at which it raises, and the judge of the name of the exception.
//!
//! The name is a value and no text for people: a second program of ours, in an instance of its own, calls `f` of the proposed one across the
//! host and returns the nearest built-in type of what it raises. The harness finds that type by its identity, so a class that is merely called
//! `ValueError` is none, and what a program prints is not read.
//!
//! That harness runs in the program's own instance, and so would anything else that observes the exception: a program that reaches into its
//! interpreter could have another one reported there. What decides whether it can is its text, which another instance reads and never runs. The scan is
//! that of repairs: each name, attribute, import and construct must be known to be harmless, so that plain values lead nowhere.
//!
//! Runs four jobs. The first finds programs that do not compile or define no `f`. The second asks at the input and then at its probes; the
//! third, with another seed, in rotated order, as for the other triplets. The last scans the text of a program that has passed all else, as it costs
//! the most.

use veriplay_core::{Callee, Exit, Job, Outcome, Question, Status, Value};

use super::gate::{ProposalGate, check_distinct, check_exit, check_repeats};
use super::rules::{self, ProposalError};
use super::triplet::own_call;
use crate::bugs::scan_program;
use crate::probes::probes;
use crate::runner::{
    Decision, ENTRY, EXCERPT_CHARS, NoValue, Runner, configure_job, decode_call, describe_mismatch, entry_job,
};

/// Returns the name of what the callee's `f` raises, and None where it returns.
const OBSERVER: &str = r#"import _veriplay


def f(*arguments):
    try:
        _veriplay.ask_callee(("call", "f", list(arguments), {}))
    except _veriplay.CalleeError as error:
        return error.args[0]
    except TypeError:
        return None  # what it returned is no plain value
    return None
"#;

/// CPython's built-in exceptions, without warnings.
pub(crate) const BUILT_IN_EXCEPTIONS: [&str; 56] = [
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
    "BrokenPipeError", "BufferError", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "EOFError", "Exception", "ExceptionGroup", "FileExistsError",
    "FileNotFoundError", "FloatingPointError", "GeneratorExit", "ImportError", "IndentationError", "IndexError",
    "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError",
    "PermissionError", "ProcessLookupError", "PythonFinalizationError", "RecursionError", "ReferenceError",
    "RuntimeError", "StopAsyncIteration", "StopIteration", "SyntaxError", "SystemError", "SystemExit", "TabError",
    "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "ValueError", "ZeroDivisionError",
];

/// Other names of `OSError` in Python.
const OS_ERROR_ALIASES: [&str; 2] = ["IOError", "EnvironmentError"];

/// Runs the proposal, and returns its question when no rule is violated.
pub(super) fn execute(
    runner: &mut Runner<'_>,
    gate: &ProposalGate,
    program: &str,
    input: &[Value],
) -> Result<Question, ProposalError> {
    gate.check_program(program)?;
    let plain = runner.run(&entry_job(&gate.image, program, vec![input.to_vec()], gate.limits, gate.seeds[0]))?;
    check_exit(&plain)?;
    let mut inputs = vec![input.to_vec()];
    inputs.extend(probes(input, gate.probes.count));
    let first = runner.run(&observing_job(gate, &gate.image, program, inputs.clone(), gate.seeds[0]))?;
    let exception = built_in_name(&observed_name(gate, &first)?)?;
    let mut results = seen(gate, &first);
    // Probes from the one that ended the job on are left out.
    inputs.truncate(results.len());
    inputs.rotate_left(1);
    results.rotate_left(1);
    let second = runner.run(&observing_job(gate, gate.second_image(), program, inputs, gate.seeds[1]))?;
    check_exit(ended_by(&second))?;
    check_repeats(&results, &second.calls, &gate.limits)?;
    check_distinct(&results, gate.probes.min_distinct_outputs.min(2))?;
    if let Some(what) = scan_program(runner, &gate.image, program)? {
        return Err(ProposalError::refused(rules::REACHES, format!("what its exception is cannot be trusted: {what}")));
    }
    Ok(Question::Error { program: program.to_owned(), input: input.to_vec(), exception })
}

/// A job whose own program observes the proposed one.
fn observing_job(gate: &ProposalGate, image: &str, program: &str, inputs: Vec<Vec<Value>>, seed: u64) -> Job {
    let callee = Some(Callee { program: program.to_owned(), seed, ..Callee::default() });
    configure_job(image, gate.limits, seed, Job { callee, ..Job::calls(OBSERVER, ENTRY, inputs) })
}

/// The outcome that says how an observing job ended: the callee's, where that ended it.
fn ended_by(outcome: &Outcome) -> &Outcome {
    outcome.callee.as_deref().filter(|callee| callee.exit != Exit::Returned).unwrap_or(outcome)
}

/// What the first call found. A limit that a later probe exceeds does not count against the proposal.
fn observed_name(gate: &ProposalGate, outcome: &Outcome) -> Result<String, ProposalError> {
    let ended = ended_by(outcome);
    let call = match (&ended.exit, outcome.calls.first()) {
        (Exit::Exceeded { .. }, Some(call)) => call,
        _ => {
            check_exit(ended)?;
            own_call(outcome)?
        }
    };
    match decode_call(call, &gate.limits) {
        Ok(Value::Str(name)) => Ok(name),
        Ok(_) => Err(ProposalError::refused(rules::NO_EXCEPTION, "it returns at the proposed input")),
        Err(NoValue::Raised(detail) | NoValue::NoPlainValue(detail)) => {
            Err(ProposalError::refused(rules::UNENCODABLE, detail))
        }
    }
}

fn built_in_name(name: &str) -> Result<String, ProposalError> {
    if BUILT_IN_EXCEPTIONS.contains(&name) {
        return Ok(name.to_owned());
    }
    let name: String = name.chars().take(EXCERPT_CHARS).collect();
    Err(ProposalError::refused(rules::OWN_EXCEPTION, format!("it raises `{name}`, which no answer could name")))
}

/// The results of the calls up to the first without one.
fn seen(gate: &ProposalGate, outcome: &Outcome) -> Vec<Value> {
    outcome.calls.iter().map_while(|call| decode_call(call, &gate.limits).ok()).collect()
}

/// Compares the names, whose case does not count. Runs no job.
pub(super) fn judge_answer(exception: &str, name: &str) -> Decision {
    let is_alias = exception == "OSError" && OS_ERROR_ALIASES.iter().any(|alias| name.eq_ignore_ascii_case(alias));
    if is_alias || name.eq_ignore_ascii_case(exception) {
        return Decision::on_one(Status::Accepted, "");
    }
    let name: String = name.chars().take(EXCERPT_CHARS).collect();
    Decision::on_one(Status::WrongAnswer, describe_mismatch(&name, exception))
}
