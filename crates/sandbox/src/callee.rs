//! The other side of a job with a callee: a second instance that answers calls of its program's functions.
//!
//! The two instances never run at once: the job's host call enters the callee, on the same thread, and comes back with its
//! answer. Nothing but encoded plain values crosses, each read by the host on its way; neither side sees the other's
//! memory, files or output.

use veriplay_core::{CallResult, Callee, EncodeCaps, Exit, Job, Limits, Outcome, Value};

use crate::ended::Ended;
use crate::guest::{Fault, Guest};

/// An instance that runs a job's callee, from its start to the end of the job.
pub(crate) struct CalleeGuest {
    guest: Guest,
    limits: Limits,
    /// How its last turn ended. Anything but `Returned` is final.
    last: Ended,
}

impl CalleeGuest {
    /// Runs the callee's module level in `guest`, which is in the image's state.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn start(mut guest: Guest, job: &Job, callee: &Callee) -> Result<Self, Fault> {
        let last = guest.load_callee(job, callee)?;
        Ok(Self { guest, limits: job.limits, last })
    }

    /// Whether it can be asked.
    pub(crate) fn is_alive(&self) -> bool {
        self.last.exit == Exit::Returned
    }

    /// Answers one encoded request with the frame that goes to the other side; `None` when the callee ended over it.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn ask(&mut self, request: Vec<u8>, caps: EncodeCaps) -> Result<Option<Vec<u8>>, Fault> {
        self.last = self.guest.serve(&self.limits, request)?;
        let result = self.last.calls.pop().filter(|_| self.is_alive());
        Ok(result.map(|result| frame(result, caps)))
    }

    /// The instance, which must be reset, and what became of the callee.
    ///
    /// # Errors
    /// A fault of ours.
    pub(crate) fn end(mut self) -> Result<(Guest, Outcome), Fault> {
        let outcome = self.guest.outcome(&self.limits, self.last)?;
        Ok((self.guest, outcome))
    }
}

/// The answer as the harness reads it. A value that is none by the host's reading is the callee's failure, not the caller's.
fn frame(result: CallResult, caps: EncodeCaps) -> Vec<u8> {
    let error = match result {
        CallResult::Returned(bytes) => match Value::decode(&bytes, caps) {
            Ok(_) => return [b"V", bytes.as_slice()].concat(),
            Err(error) => return [b"U", error.to_string().as_bytes()].concat(),
        },
        CallResult::Unencodable(what) => return [b"U", what.as_bytes()].concat(),
        CallResult::Raised(error) => error,
    };
    let kind = error.kind.as_bytes();
    let length = u8::try_from(kind.len()).unwrap_or(u8::MAX);
    [b"X", &[length][..], &kind[..usize::from(length)], error.message.as_bytes()].concat()
}
