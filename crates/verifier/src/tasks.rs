//! A task for all attempts at it: a row of a set, and the problem that its reference completes.
//!
//! A row that holds its expected values is a problem as it is. One that holds a reference program instead becomes a problem when the first
//! attempt asks for it: [`LoadedTask`] runs the reference once, whatever the number of attempts and threads.

mod overrides;
mod reference;
mod scaled_limits;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use veriplay_core::{
    CancellationToken, Digest, Dropped, Execute, ExecuteError, Limits, Problem, ProblemRow, Value, Verdict,
    content_hash, record_weight,
};

use crate::problems::{JUDGE_VERSION, ProblemError, ProblemRequest, check_problem, check_tests, judge_program};

pub use overrides::{ChosenJudge, TaskOverrides, UselessOverride};

/// What a verdict depends on besides the task and the program.
#[derive(Debug, Clone, Serialize)]
pub struct JudgeConditions {
    /// Digest of the image that jobs start from.
    pub image: Digest,
    /// Limits of a job whose problem has none.
    pub limits: Limits,
    /// Whether tasks whose reference needs more than `limits` get more.
    pub scaled: bool,
    /// The seed of every job of the verdict.
    pub seed: u64,
    /// Whether an attempt ends at its first failed case.
    pub early_stop: bool,
}

impl JudgeConditions {
    /// Conditions for seed 0 and all cases, with more than `limits` for tasks whose reference needs more.
    #[must_use]
    pub const fn new(image: Digest, limits: Limits) -> Self {
        Self { image, limits, scaled: true, seed: 0, early_stop: false }
    }

    /// A digest of these conditions and of the judges of this build: attempts with equal tasks, programs and digests have equal verdicts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        content_hash(&(JUDGE_VERSION, self))
    }
}

/// Where and how the jobs of a task run.
#[derive(Clone, Copy)]
pub struct TaskContext<'a> {
    /// Runs the jobs of references and attempts.
    pub execute: &'a dyn Execute,
    /// Ends the wait for a reference that another attempt runs, and tells a cancelled reference from one that failed. `None` where nobody
    /// cancels attempts.
    pub cancellation: Option<&'a CancellationToken>,
    /// Name of the image that jobs start from.
    pub image: &'a str,
    /// The conditions of the verdict.
    pub conditions: &'a JudgeConditions,
}

impl<'a> TaskContext<'a> {
    /// A context in which nobody cancels attempts.
    pub const fn new(execute: &'a dyn Execute, image: &'a str, conditions: &'a JudgeConditions) -> Self {
        Self { execute, cancellation: None, image, conditions }
    }
}

/// Why a task has no problem to judge attempts by.
#[derive(Debug, Clone, PartialEq)]
enum ReferenceFailure {
    /// A fault of the task, and the verdict on every attempt at it.
    Task(Box<Verdict>),
    /// A fault of the host.
    Host(Dropped),
}

/// A row of a set, with its problem once the expected values are known.
#[derive(Debug)]
pub struct LoadedTask {
    row: Arc<ProblemRow>,
    digest: Digest,
    reference: ReferenceRun,
}

impl LoadedTask {
    /// The task of a row with overrides applied.
    ///
    /// # Errors
    /// Why attempts at it cannot be judged ([`check_row`]).
    pub fn new(row: impl Into<Arc<ProblemRow>>) -> Result<Self, ProblemError> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self { digest: content_hash(&*row), row, reference: ReferenceRun::default() })
    }

    /// The same task, whose reference has not run yet.
    #[must_use]
    pub fn without_problem(&self) -> Self {
        Self { row: Arc::clone(&self.row), digest: self.digest.clone(), reference: ReferenceRun::default() }
    }

    /// Its row, with overrides applied.
    #[must_use]
    pub fn row(&self) -> &ProblemRow {
        &self.row
    }

    /// Digest of the row, overrides included.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// About how many bytes of memory the problem takes that its reference made; `None` until the reference has run.
    pub fn executed_weight(&self) -> Option<u64> {
        match self.reference.result.get() {
            Some(Ok(problem)) => Some(*self.reference.weight.get_or_init(|| record_weight(problem))),
            _ => None,
        }
    }

    /// Judges a program, after the reference where the row has one. The first call runs the reference; others wait for it until they are
    /// cancelled. A reference that gives no expected values makes every attempt [`Unjudgeable`](veriplay_core::Status::Unjudgeable).
    ///
    /// # Errors
    /// A fault of the host, which drops the attempt, or a call that is cancelled. The task keeps neither: the same call may succeed later.
    pub fn judge(&self, context: &TaskContext<'_>, program: &str) -> Result<Verdict, Dropped> {
        let problem = match self.problem(context) {
            Ok(problem) => problem,
            Err(ReferenceFailure::Task(verdict)) => return Ok(*verdict),
            Err(ReferenceFailure::Host(dropped)) => return Err(dropped),
        };
        let JudgeConditions { limits, seed, early_stop, .. } = *context.conditions;
        let request = ProblemRequest { problem, program, image: context.image, limits, seed, early_stop };
        judge_program(context.execute, &request)
    }

    fn problem(&self, context: &TaskContext<'_>) -> Result<&Problem, ReferenceFailure> {
        match &*self.row {
            ProblemRow::Ready(problem) => Ok(problem),
            ProblemRow::Unexecuted(unexecuted) => {
                self.reference.result(context.cancellation, || reference::execute_reference(context, unexecuted))
            }
        }
    }
}

/// How often a thread that waits for a reference checks whether it is cancelled.
const CANCELLATION_CHECK: Duration = Duration::from_millis(20);

/// The run of a reference, for all attempts at its task. The first who asks for its result runs it; where that one is cancelled or meets a
/// fault of the host, the next.
#[derive(Debug, Default)]
struct ReferenceRun {
    result: OnceLock<Result<Problem, Box<Verdict>>>,
    weight: OnceLock<u64>,
    is_running: Mutex<bool>,
    ended: Condvar,
}

/// The right to run a reference. It ends after the result is there, or without one by a panic.
struct Turn<'a>(&'a ReferenceRun);

impl ReferenceRun {
    fn result(
        &self,
        cancellation: Option<&CancellationToken>,
        run: impl FnOnce() -> Result<Problem, ReferenceFailure>,
    ) -> Result<&Problem, ReferenceFailure> {
        let _turn = match self.result.get() {
            Some(_) => None,
            None => self.take_turn(cancellation)?,
        };
        let found = match self.result.get() {
            Some(found) => found,
            None => {
                let found = match run() {
                    Ok(problem) => Ok(problem),
                    Err(ReferenceFailure::Task(verdict)) => Err(verdict),
                    // It is of this moment, and not of the task.
                    Err(fault @ ReferenceFailure::Host(_)) => return Err(fault),
                };
                self.result.get_or_init(|| found)
            }
        };
        found.as_ref().map_err(|verdict| ReferenceFailure::Task(verdict.clone()))
    }

    /// Waits for the result, or for the turn to run the reference.
    fn take_turn(&self, cancellation: Option<&CancellationToken>) -> Result<Option<Turn<'_>>, ReferenceFailure> {
        let mut is_running = self.lock();
        loop {
            if self.result.get().is_some() {
                return Ok(None);
            }
            if cancellation.is_some_and(CancellationToken::is_cancelled) {
                return Err(ReferenceFailure::Host(Dropped { why: ExecuteError::Cancelled.to_string() }));
            }
            if !*is_running {
                *is_running = true;
                return Ok(Some(Turn(self)));
            }
            is_running =
                self.ended.wait_timeout(is_running, CANCELLATION_CHECK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // One flag is always consistent.
        self.is_running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.ended.notify_all();
    }
}

/// Checks that attempts at the row can be judged, whatever the expected values of a row without them will be.
///
/// # Errors
/// Why they cannot.
pub fn check_row(row: &ProblemRow) -> Result<(), ProblemError> {
    match row {
        ProblemRow::Ready(problem) => check_problem(problem).and_then(|()| check_tests(problem)),
        ProblemRow::Unexecuted(unexecuted) => {
            let nothing = vec![Value::None; unexecuted.inputs.len()];
            check_problem(&unexecuted.with_expected(nothing).expect("a value for each input"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc::channel;

    use super::*;

    fn fault(why: &str) -> ReferenceFailure {
        ReferenceFailure::Host(Dropped { why: why.to_owned() })
    }

    fn cancelled() -> CancellationToken {
        let token = CancellationToken::new();
        token.cancel();
        token
    }

    #[test]
    fn who_waits_for_a_reference_stops_when_cancelled_and_the_reference_goes_on() {
        let ((begun, has_begun), (end, ends)) = (channel(), channel());
        let run = &ReferenceRun::default();
        let (first, second) = std::thread::scope(|scope| {
            let reference = move || {
                begun.send(()).expect("the test waits for it");
                ends.recv().expect("the test ends it");
                Err(fault("its own"))
            };
            let first = scope.spawn(move || run.result(None, reference).cloned());
            has_begun.recv().expect("it begins");
            let second = run.result(Some(&cancelled()), || panic!("it runs already")).cloned();
            end.send(()).expect("it waits");
            (first.join().expect("it does not panic"), second)
        });
        assert_eq!((first, second), (Err(fault("its own")), Err(fault("the job was cancelled"))));
        // A fault is not kept, and a result that is there is no wait.
        let problem = Problem::calls("f", [(vec![1.into()], 1.into())]);
        assert_eq!(run.result(None, || Ok(problem.clone())), Ok(&problem));
        assert_eq!(run.result(Some(&cancelled()), || panic!("it has run")), Ok(&problem));
    }

    #[test]
    fn a_cancelled_attempt_does_not_begin_a_reference_and_a_panic_leaves_it_to_the_next() {
        let run = ReferenceRun::default();
        assert_eq!(run.result(Some(&cancelled()), || panic!("it begins")), Err(fault("the job was cancelled")));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = run.result(None, || panic!("a bug"));
        }));
        assert!(panicked.is_err());
        let token = CancellationToken::new();
        let ends_cancelled = || {
            token.cancel();
            Err(fault("the job was cancelled"))
        };
        assert_eq!(run.result(Some(&token), ends_cancelled), Err(fault("the job was cancelled")));
        assert_eq!(run.result(None, || Err(fault("its own"))), Err(fault("its own")));
    }

    #[test]
    fn a_change_of_any_condition_changes_the_digest() {
        let limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 };
        let first = JudgeConditions { image: Digest::of(b"image"), limits, scaled: true, seed: 0, early_stop: false };
        let with = |limits| JudgeConditions { limits, ..first.clone() };
        let all = [
            first.clone(),
            JudgeConditions { image: Digest::of(b"another image"), ..first.clone() },
            JudgeConditions { seed: 1, ..first.clone() },
            JudgeConditions { scaled: false, ..first.clone() },
            JudgeConditions { early_stop: true, ..first.clone() },
            with(Limits { fuel: 2, ..limits }),
            with(Limits { memory_bytes: 2, ..limits }),
            with(Limits { output_bytes: 2, ..limits }),
            with(Limits { file_bytes: 2, ..limits }),
            with(Limits { deadline_ns: 2, ..limits }),
        ];
        assert_eq!(all.iter().map(JudgeConditions::digest).collect::<HashSet<_>>().len(), all.len());
        assert_eq!(first.digest(), first.clone().digest());
    }
}
