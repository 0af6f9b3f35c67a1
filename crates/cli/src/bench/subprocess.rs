//! A fresh interpreter process for every program: what most trainers do today, without the sandbox they put around it.

use std::process::Stdio;
use std::time::Duration;

use super::jobs::{Step, Work, numbered};
use super::machine::Python;
use super::way::{ContenderError, Round, Worker, timed};

/// `python3 -I -S -c program`: isolated from the environment and without site-packages, the fastest start it has.
pub(crate) struct Subprocess {
    python: Python,
    serial: u64,
}

impl Subprocess {
    pub(crate) fn new(python: &Python) -> Self {
        Self { python: python.clone(), serial: 0 }
    }

    fn step(&self, step: &Step) -> Result<(), ContenderError> {
        let mut command = self.python.command();
        command.args(["-I", "-S", "-c"]).arg(numbered(&step.program, self.serial));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(if step.prints.is_some() { Stdio::piped() } else { Stdio::null() });
        let output = command.spawn().and_then(std::process::Child::wait_with_output);
        let output = output.map_err(|error| ContenderError::Failed(format!("cannot start python3: {error}")))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let right = step.prints.as_ref().is_none_or(|expected| *expected == printed);
        if output.status.success() && right {
            return Ok(());
        }
        Err(ContenderError::Wrong(format!("{}, `{printed}` instead of {:?}", output.status, step.prints)))
    }
}

impl Worker for Subprocess {
    fn round(&mut self, work: &Work, span: Duration) -> Result<Round, ContenderError> {
        let steps = work.steps();
        timed(span, || {
            self.serial += 1;
            steps.iter().try_for_each(|step| self.step(step))?;
            Ok(None)
        })
    }
}
