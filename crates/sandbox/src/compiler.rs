//! Compiles the program of a job: its text to an object, that to a module. Each step is a command of the toolchain, in an instance of its own.

use std::sync::Arc;

use veriplay_core::{CancellationToken, Compilation, Exit, GuestError, Job, LimitKind, Limits, Outcome, WasmModule};
use veriplay_image_cpp as files;

use crate::image::Toolchain;
use crate::pool::{RunError, Runner};

/// What the commands read and write in their working directory.
const OBJECT: &str = "program.o";
const MODULE: &str = "program.wasm";
/// The most bytes of the message of an error. The whole diagnostics are in the outcome's `stderr`.
const MESSAGE_BYTES: usize = 600;

/// A language that the toolchain compiles. Its name is that of the image of its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompiledLanguage {
    Cpp,
    C,
}

impl CompiledLanguage {
    pub(crate) fn of_image(name: &str) -> Option<Self> {
        [Self::Cpp, Self::C].into_iter().find(|language| language.image() == name)
    }

    pub(crate) const fn image(self) -> &'static str {
        match self {
            Self::Cpp => "cpp",
            Self::C => "c",
        }
    }

    /// The file with the text, which diagnostics name.
    const fn file(self) -> &'static str {
        match self {
            Self::Cpp => "program.cpp",
            Self::C => "program.c",
        }
    }

    const fn command(self) -> files::Command {
        match self {
            Self::Cpp => files::COMPILE_CPP,
            Self::C => files::COMPILE_C,
        }
    }
}

/// Compiles the programs of jobs that [`order`] made. The outcome of one has the module as a fetched file, or is that of the command that failed.
pub(crate) struct Compiler {
    toolchain: Arc<Toolchain>,
}

impl Compiler {
    pub(crate) const fn new(toolchain: Arc<Toolchain>) -> Self {
        Self { toolchain }
    }
}

/// The job of compiling the program of `job`. It depends on the text and on the fuel for it alone, and so does its outcome.
pub(crate) fn order(toolchain: &Toolchain, job: &Job) -> Job {
    let most = toolchain.compiler_limits;
    Job {
        image: job.image.clone(),
        limits: Limits { fuel: job.compile_fuel.map_or(most.fuel, |fuel| fuel.min(most.fuel)), ..most },
        seed: toolchain.seed,
        fetch: vec![MODULE.to_owned()],
        ..Job::script(job.program.clone())
    }
}

impl Runner for Compiler {
    type Slot = ();

    fn run(&self, _slot: &mut (), job: &Job, cancellation: &CancellationToken) -> Result<Outcome, RunError> {
        let Some(language) = CompiledLanguage::of_image(&job.image) else {
            return Err(RunError::Fault(format!("nothing compiles the image `{}`", job.image)));
        };
        let text = job.program.clone().into_bytes();
        let compile = step(job, (language.file().to_owned(), text), OBJECT, job.limits.fuel);
        let mut compiled = self.toolchain.run(language.command(), &compile, cancellation)?;
        let object = match compiled.fetched.pop() {
            Some(object) if compiled.exit == Exit::Returned => object,
            _ => return Ok(compiled),
        };
        let link = step(job, object, MODULE, job.limits.fuel.saturating_sub(compiled.fuel));
        let linked = self.toolchain.run(files::LINK, &link, cancellation)?;
        Ok(Outcome {
            fuel: linked.fuel.saturating_add(compiled.fuel),
            peak_memory_bytes: linked.peak_memory_bytes.max(compiled.peak_memory_bytes),
            ..linked
        })
    }
}

/// The job of a command that reads this file and makes that one.
fn step(order: &Job, input: (String, Vec<u8>), output: &str, fuel: u64) -> Job {
    Job {
        files: vec![input],
        fetch: vec![output.to_owned()],
        limits: Limits { fuel, ..order.limits },
        seed: order.seed,
        ..Job::script("")
    }
}

/// What a compilation came to that had this outcome: a module, or the outcome of every job with the program.
pub(crate) fn module_of(mut outcome: Outcome) -> (Result<WasmModule, Outcome>, Compilation) {
    let exceeded = if let Exit::Exceeded { limit, .. } = outcome.exit { Some(limit) } else { None };
    let compilation = Compilation { fuel: outcome.fuel, exceeded };
    let made = match outcome.fetched.pop() {
        Some((_, module)) if outcome.exit == Exit::Returned => Ok(module.into()),
        _ => Err(explain(outcome)),
    };
    (made, compilation)
}

/// The outcome of a program that does not compile, of that of the command that failed. One that met its deadline is left: another run may not.
fn explain(failed: Outcome) -> Outcome {
    let (kind, message) = match (&failed.exit, &failed.error) {
        (Exit::Exceeded { limit: LimitKind::DeadlineNs, .. }, _) => return failed,
        (Exit::Exceeded { limit, allowed, .. }, _) => {
            ("compiler_limit", format!("compiling it takes more than {allowed} of {limit:?}"))
        }
        (Exit::Returned, _) => ("compiler_limit", "what it is compiled to is too large".to_owned()),
        (Exit::Trapped, Some(error)) => ("compiler_crash", format!("the compiler ended by a {error}")),
        _ => ("compile_error", first_lines(&failed.stderr)),
    };
    let error = Some(GuestError { kind: kind.to_owned(), message });
    Outcome { exit: Exit::CompileError, error, stdout: Vec::new(), exit_code: None, fetched: Vec::new(), ..failed }
}

/// The first whole lines of diagnostics, as many as fit in a message.
fn first_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(&stderr[..stderr.len().min(MESSAGE_BYTES)]);
    let end = if stderr.len() > MESSAGE_BYTES { text.rfind('\n').unwrap_or(text.len()) } else { text.len() };
    text[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: Exit, stderr: &str) -> Outcome {
        Outcome { stderr: stderr.into(), ..Outcome::new(exit) }
    }

    #[test]
    fn a_program_does_not_compile_where_the_compiler_says_so_or_needs_too_much() {
        let exceeded = |limit| Exit::Exceeded { limit, allowed: 5, used: 6 };
        for (found, kind) in [
            (outcome(Exit::Raised, "program.cpp:1:1: error: no"), "compile_error"),
            (outcome(exceeded(LimitKind::Fuel), ""), "compiler_limit"),
            (outcome(Exit::Returned, ""), "compiler_limit"),
        ] {
            let told = explain(found);
            assert_eq!((told.exit, told.error.unwrap().kind.as_str()), (Exit::CompileError, kind));
        }
        assert!(explain(outcome(exceeded(LimitKind::DeadlineNs), "")).met_deadline());
    }

    #[test]
    fn what_compiling_took_is_told_with_the_module_and_without() {
        let exceeded = Exit::Exceeded { limit: LimitKind::Fuel, allowed: 5, used: 6 };
        let (made, took) = module_of(Outcome { fuel: 5, ..outcome(exceeded, "") });
        assert_eq!(took, Compilation { fuel: 5, exceeded: Some(LimitKind::Fuel) });
        assert_eq!(made.unwrap_err().exit, Exit::CompileError);
        let fetched = vec![(MODULE.to_owned(), vec![1, 2])];
        let (made, took) = module_of(Outcome { fuel: 3, fetched, ..outcome(Exit::Returned, "") });
        assert_eq!((made.unwrap().bytes(), took), (&[1, 2][..], Compilation { fuel: 3, exceeded: None }));
    }

    #[test]
    fn a_message_is_the_first_whole_lines() {
        assert_eq!(first_lines(b"a: error\n\n"), "a: error");
        let long = format!("first\n{}\n", "x".repeat(MESSAGE_BYTES));
        assert_eq!(first_lines(long.as_bytes()), "first");
    }

    #[test]
    fn a_language_is_found_by_the_name_of_its_image() {
        assert_eq!(CompiledLanguage::of_image("c"), Some(CompiledLanguage::C));
        assert_eq!(CompiledLanguage::of_image("python"), None);
    }
}
