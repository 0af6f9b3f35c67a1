//! Interactive problems: a script of the task's talks with the program and decides.
//!
//! It runs in an instance of its own, whose output is the program's input and whose input is the program's output, as
//! `interactor.py input.txt correct_output.txt`. Status 0 accepts. Any other status, and an exception, refuses, and the last line of stderr says why.
//!
//! The status is the interactor's own: the program reaches neither its files nor its process, and nothing is read from what either of them prints.
//! An interactor that has not decided (it meets a limit, crashes or does not compile) is given a program that says nothing. Where it decides about
//! that one, the attempt has broken it, and is wrong: else a program could be left out instead of refused, by writing more than an interactor has
//! fuel to read. Where it does not, the task is broken, and the attempt is unjudgeable.

use veriplay_core::{
    Dropped, Exit, Interaction, InteractionEnd, Interactor, Job, Outcome, Status, StdioCase, content_hash,
};

use crate::judges::JudgeContext;
use crate::prelude::with_arguments;
use crate::runner::{job_failure, seed_from};

/// The files that an interactor is given: the input and the expected output.
const FILES: [&str; 2] = ["input.txt", "correct_output.txt"];

/// CPython's bound for digits, which the guest lifts: `int` of a long line takes more fuel than there is.
const BOUND: &str = "sys.set_int_max_str_digits(4300)\n";

/// The interactor of one case.
pub(super) fn interactor_of(context: &JudgeContext<'_>, source: &str, case: &StdioCase) -> Interactor {
    let files = FILES.iter().zip([&case.stdin, &case.stdout]);
    Interactor {
        program: with_arguments("interactor.py", &FILES, BOUND, source),
        files: files.map(|(path, text)| ((*path).to_owned(), text.clone().into_bytes())).collect(),
        limits: context.limits,
        // The program has none of this, so it cannot predict what the interactor draws.
        seed: seed_from(&content_hash(&(source, case, context.seed))),
    }
}

/// The failure of the program of `job`, with which an interactor talked; `None` where the interactor accepts it.
pub(super) fn failure_in(
    context: &mut JudgeContext<'_>,
    job: &Job,
    interaction: &Interaction,
    outcome: &Outcome,
) -> Result<Option<(Status, String)>, Dropped> {
    Ok(match interaction.end {
        InteractionEnd::Completed => None,
        InteractionEnd::ProgramFailed => job_failure(outcome),
        InteractionEnd::InteractorFailed if has_decided(interaction) => Some(refusal(&interaction.interactor)),
        InteractionEnd::InteractorFailed => Some(undecided(context, job, &interaction.interactor)?),
        InteractionEnd::Deadlock => {
            let detail =
                "it waits for the interactor, which waits for it; hint: flush standard output behind each line";
            Some((Status::WrongAnswer, detail.to_owned()))
        }
    })
}

/// Whether an interactor accepts or refuses.
fn has_decided(interaction: &Interaction) -> bool {
    let interactor = &interaction.interactor;
    match interactor.exit {
        Exit::Returned | Exit::Raised => true,
        Exit::Trapped => interactor.exit_code.is_some(),
        Exit::CompileError | Exit::MissingEntry | Exit::Exceeded { .. } => false,
    }
}

/// The failure where an interactor has not decided: that of the program, where it decides about one that says nothing.
fn undecided(context: &mut JudgeContext<'_>, job: &Job, interactor: &Outcome) -> Result<(Status, String), Dropped> {
    let reason = job_failure(interactor).map(|(_, detail)| detail).unwrap_or_default();
    let silent = context.runner.run(&Job { program: String::new(), ..job.clone() })?;
    Ok(match silent.interaction.as_deref().is_some_and(has_decided) {
        true => (Status::WrongAnswer, format!("the interactor does not decide because of it: {reason}")),
        false => (Status::Unjudgeable, format!("the task's interactor does not decide: {reason}")),
    })
}

/// What an interactor says that refuses.
fn refusal(interactor: &Outcome) -> (Status, String) {
    let reason = job_failure(interactor).map(|(_, detail)| detail).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&interactor.stderr);
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    (Status::WrongAnswer, format!("the interactor refuses it: {}", last.unwrap_or(&reason)))
}
