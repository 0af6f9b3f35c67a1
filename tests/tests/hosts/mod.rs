//! Hosts on which jobs are watched, changed or lost.

use veriplay_core::{Execute, ExecuteError, Job, Outcome};

/// Executes as a function says.
pub(crate) struct Host<F>(pub(crate) F);

impl<F: Fn(&Job) -> Result<Outcome, ExecuteError> + Sync> Execute for Host<F> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.0(job)
    }
}

/// A host that fails the jobs that `is_lost` names.
pub(crate) fn faulty<'a>(execute: &'a dyn Execute, is_lost: impl Fn(&Job) -> bool + Sync + 'a) -> impl Execute + 'a {
    Host(move |job: &Job| match is_lost(job) {
        true => Err(ExecuteError::Host("the machine is on fire".to_owned())),
        false => execute.execute(job),
    })
}
