//! Interactive problems: a script of the task's talks with the program and decides.
//!
//! It runs in an instance of its own, whose output is the program's input and whose input is the program's output, as
//! `interactor.py input.txt correct_output.txt`. Status 0 accepts. Any other status, and an exception, refuses, and the last line of stderr says why.
//! Its language need not be that of the program. One in JavaScript or TypeScript is run likewise. One in C++ or C is written with testlib: it runs as
//! `interactor input.txt output.txt answer.txt`, where it may write the second file. It refuses by the statuses 1, 2, 4 and 8. The attempt is
//! unjudgeable by 7, as nothing says how many points are all, and wrong where it gives none. By others it has not decided.
//!
//! The status is the interactor's own: the program reaches neither its files nor its process, and nothing is read from what either of them prints.
//! An interactor that has not decided (it meets a limit, crashes, does not compile or, by testlib's status 3, says that it fails) is given a program
//! that says nothing. Where it decides about that one, the attempt has broken it, and is wrong: else a program could be left out instead of refused,
//! by writing more than an interactor has fuel to read, or what it fails at. Where it does not, the task is broken, and the attempt is unjudgeable.
//! A failure is judged as that of a checker, but by a weaker control: a checker has the expected output, which is right, and no such program is at
//! hand here. So an interactor that fails only behind a question that it has answered, whoever asks, counts against all programs that ask it.

use veriplay_core::{
    Dropped, Exit, Interaction, InteractionEnd, Interactor, Job, Outcome, Status, StdioCase, StdioChecks, content_hash,
};

use crate::judges::JudgeContext;
use crate::languages::{image_beside, is_python, language_in_image};
use crate::prelude::with_arguments;
use crate::runner::{job_failure, seed_from};
use crate::testlib::{self, TestlibStatus, read_points, read_status};

/// The files that an interactor is given: the input and the expected output.
const FILES: [&str; 2] = ["input.txt", "correct_output.txt"];

/// A program in C++ and in C that says nothing.
const SILENT: &str = "int main() { return 0; }";

/// CPython's bound for digits, which the guest lifts: `int` of a long line takes more fuel than there is.
const BOUND: &str = "sys.set_int_max_str_digits(4300)\n";

/// The image in which the interactor of the checks runs, where that is another one than this, in which programs do.
pub(super) fn interactor_image(checks: &StdioChecks, image: &str) -> Option<&'static str> {
    checks.interactor.as_ref().and_then(|_| image_beside(checks.interactor_language.as_deref(), image))
}

/// The interactor of one case, if the checks have one.
pub(super) fn interactor_of(context: &JudgeContext<'_>, checks: &StdioChecks, case: &StdioCase) -> Option<Interactor> {
    let source = checks.interactor.as_deref()?;
    let beside = interactor_image(checks, context.image);
    let language = language_in_image(beside.unwrap_or(context.image));
    let [input, expected] = if language.is_compiled() { [testlib::FILES[0], testlib::FILES[2]] } else { FILES };
    let files = [(input, &case.stdin), (expected, &case.stdout)];
    let program = match language.arguments_push() {
        Some(push) => format!("{push}(\"{}\", \"{}\"); {}", FILES[0], FILES[1], without_shell_line(source)),
        None if is_python(language) => with_arguments("interactor.py", &FILES, BOUND, source),
        None => source.to_owned(),
    };
    Some(Interactor {
        image: beside.map(str::to_owned),
        program,
        module: None,
        files: files.into_iter().map(|(path, text)| (path.to_owned(), text.clone().into_bytes())).collect(),
        arguments: if language.is_compiled() { testlib::FILES.map(str::to_owned).to_vec() } else { Vec::new() },
        limits: context.limits,
        // The program has none of this, so it cannot predict what the interactor draws.
        seed: seed_from(&content_hash(&(source, case, context.seed))),
    })
}

/// A script without the text of a first line for the shell, which behind a statement is none.
fn without_shell_line(source: &str) -> &str {
    let end = if source.starts_with("#!") { source.find('\n').unwrap_or(source.len()) } else { 0 };
    &source[end..]
}

/// Whether the interactor of `job` is compiled, and so one of testlib's.
fn is_of_testlib(job: &Job) -> bool {
    job.interactor.as_ref().is_some_and(|interactor| is_compiled(interactor.image_in(job)))
}

/// Whether programs of the image of this name are compiled.
fn is_compiled(image: &str) -> bool {
    language_in_image(image).is_compiled()
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
        InteractionEnd::InteractorFailed if has_decided(job, interaction) => Some(refusal(&interaction.interactor)),
        InteractionEnd::InteractorFailed if status_of(job, &interaction.interactor) == Some(TestlibStatus::Points) => {
            let why = last_words(&interaction.interactor);
            Some((Status::Unjudgeable, format!("the task's interactor neither accepts nor refuses: {why}")))
        }
        InteractionEnd::InteractorFailed => Some(undecided(context, job, &interaction.interactor)?),
        InteractionEnd::Deadlock => {
            let (said, heard) = (last_line(&outcome.stdout), last_line(&interaction.interactor.stdout));
            let detail = format!(
                "it waits for the interactor, which waits for it; hint: flush standard output behind each line; last lines written: `{said}`, and by \
                 the interactor `{heard}`"
            );
            Some((Status::WrongAnswer, detail))
        }
    })
}

/// What the exit status of an interactor says, where it is written with testlib.
fn status_of(job: &Job, interactor: &Outcome) -> Option<TestlibStatus> {
    if is_of_testlib(job) { read_status(interactor) } else { None }
}

/// The last line that a side wrote, cut.
fn last_line(output: &[u8]) -> String {
    const CHARS: usize = 40;
    let text = String::from_utf8_lossy(output);
    text.lines().last().unwrap_or_default().chars().take(CHARS).collect()
}

/// Whether an interactor accepts or refuses.
fn has_decided(job: &Job, interaction: &Interaction) -> bool {
    let interactor = &interaction.interactor;
    if is_of_testlib(job) {
        return match status_of(job, interactor) {
            Some(TestlibStatus::Accepted | TestlibStatus::Refused) => true,
            Some(TestlibStatus::Points) => {
                read_points(&String::from_utf8_lossy(&interactor.stderr)).is_some_and(|points| points <= 0.0)
            }
            Some(TestlibStatus::Failed) | None => false,
        };
    }
    match interactor.exit {
        Exit::Returned | Exit::Raised => true,
        Exit::Trapped => interactor.exit_code.is_some(),
        Exit::CompileError | Exit::MissingEntry | Exit::Exceeded { .. } => false,
    }
}

/// The failure where an interactor has not decided: that of the program, where it decides about one that says nothing.
fn undecided(context: &mut JudgeContext<'_>, job: &Job, interactor: &Outcome) -> Result<(Status, String), Dropped> {
    let reason = match status_of(job, interactor) {
        Some(TestlibStatus::Failed) => format!("it says that it fails: {}", last_words(interactor)),
        _ => job_failure(interactor).map(|(_, detail)| detail).unwrap_or_default(),
    };
    let program = if is_compiled(&job.image) { SILENT } else { "" };
    let job = Job { program: program.to_owned(), ..job.clone() };
    let silent = context.runner.run(&job)?;
    Ok(match silent.interaction.as_deref().is_some_and(|interaction| has_decided(&job, interaction)) {
        true => (Status::WrongAnswer, format!("the interactor does not decide because of it: {reason}")),
        false => (Status::Unjudgeable, format!("the task's interactor does not decide: {reason}")),
    })
}

/// What an interactor says that refuses.
fn refusal(interactor: &Outcome) -> (Status, String) {
    (Status::WrongAnswer, format!("the interactor refuses it: {}", last_words(interactor)))
}

/// Why an interactor ended: its last line on standard error, or how it did.
fn last_words(interactor: &Outcome) -> String {
    let stderr = String::from_utf8_lossy(&interactor.stderr);
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
    last.or_else(|| job_failure(interactor).map(|(_, detail)| detail)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::without_shell_line;

    #[test]
    fn a_line_for_the_shell_is_left_out_and_no_other() {
        for (source, left) in [("#!/bin/node\na", "\na"), ("#!/bin/node", ""), ("# b\na", "# b\na")] {
            assert_eq!(without_shell_line(source), left);
        }
    }
}
