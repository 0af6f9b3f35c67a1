//! Veriplay in the benchmark of a language other than Python: plain programs in a sandbox of its image, compared by what they print.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use veriplay_core::{Execute, Exit, Job, Limits};

use super::jobs::{BenchJob, JobProgram};
use super::languages::BenchLanguage;
use super::worker::{Round, RoundError, Worker, time_round};

/// What the workers of a language share.
pub struct ProgramSetting {
    pub(crate) language: &'static BenchLanguage,
    sandbox: Box<dyn Execute + Send>,
    limits: Limits,
    /// No two programs are equal, whichever workers run them: an equal one would not be compiled again.
    serial: AtomicU64,
}

impl ProgramSetting {
    /// Programs in `language` are run in `sandbox`, which has its image, within `limits`.
    pub fn new(language: &'static BenchLanguage, sandbox: impl Execute + Send + 'static, limits: Limits) -> Self {
        Self { language, sandbox: Box::new(sandbox), limits, serial: AtomicU64::new(0) }
    }

    /// Runs a program: its fuel.
    fn run(&self, step: &JobProgram) -> Result<u64, RoundError> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let (program, expected) = step.with_proof(self.language, serial);
        let job = Job { image: self.language.name.to_owned(), limits: self.limits, ..Job::script(program) };
        let outcome = self.sandbox.execute(&job).map_err(|error| RoundError::Failed(error.to_string()))?;
        let printed = String::from_utf8_lossy(&outcome.stdout);
        if outcome.exit == Exit::Returned && printed == expected {
            return Ok(outcome.fuel);
        }
        let (exit, error) = (outcome.exit, outcome.error);
        Err(RoundError::Wrong(format!("{exit:?}, {printed:?} instead of {expected:?}: {error:?}")))
    }
}

pub(crate) struct VeriplayPrograms(pub(crate) Arc<ProgramSetting>);

impl Worker for VeriplayPrograms {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        let steps = work.steps();
        time_round(span, || {
            let fuel = steps.iter().map(|step| self.0.run(step)).sum::<Result<u64, RoundError>>()?;
            Ok(Some(fuel))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use veriplay_core::{ExecuteError, Outcome};

    use super::*;
    use crate::bench::jobs;
    use crate::bench::languages::LANGUAGES;

    /// Ends every program well, prints what it is told to, and knows which programs it had.
    struct Printer(&'static str, Arc<Mutex<BTreeSet<String>>>);

    impl Execute for Printer {
        fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
            let is_new = self.1.lock().unwrap_or_else(PoisonError::into_inner).insert(job.program.clone());
            assert!(is_new, "it was given before: {}", job.program);
            Ok(Outcome { stdout: self.0.into(), fuel: 7, ..Outcome::new(Exit::Returned) })
        }
    }

    #[test]
    fn what_a_program_prints_must_be_right_to_its_last_act() {
        let [_, language, ..] = LANGUAGES;
        let empty = &jobs::all(language)[0];
        for (printed, is_right) in [("finished 00000000\n", true), ("finished 00000001\n", false), ("", false)] {
            let setting = ProgramSetting::new(language, Printer(printed, Arc::default()), Limits::small());
            let round = VeriplayPrograms(Arc::new(setting)).round(empty, Duration::ZERO);
            assert_eq!(round.as_ref().is_ok_and(|round| round.fuel == Some(7)), is_right, "{printed}: {round:?}");
            assert_eq!(matches!(round, Err(RoundError::Wrong(_))), !is_right, "{printed}");
        }
    }

    #[test]
    fn no_program_is_given_twice_whichever_workers_run_it() {
        for language in LANGUAGES {
            let given: Arc<Mutex<BTreeSet<String>>> = Arc::default();
            let printer = Printer("", Arc::clone(&given));
            let setting = Arc::new(ProgramSetting::new(language, printer, Limits::small()));
            let mut workers = [VeriplayPrograms(Arc::clone(&setting)), VeriplayPrograms(setting)];
            for worker in &mut workers {
                for job in jobs::all(language) {
                    worker.round(&job, Duration::ZERO).expect_err("it prints nothing");
                    worker.round(&job.broken(), Duration::ZERO).expect_err("it prints nothing");
                }
            }
            let programs = given.lock().unwrap_or_else(PoisonError::into_inner).len();
            assert_eq!(programs, 4 * jobs::all(language).len(), "{}", language.name);
        }
    }
}
