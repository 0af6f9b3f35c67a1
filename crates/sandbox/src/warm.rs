//! An image made of another one: the state that a program leaves behind, such as a test runner already imported.
//!
//! It is in no cache: it lives in this process, and in the worker processes that this one hands its memory to. What the program
//! is and what it could read name the image, so verdicts made in it can be told from others; jobs in it cost less fuel than where
//! they do the program's work themselves.

use std::sync::Arc;

use veriplay_core::{Exit, Job, Outcome, content_hash};

use crate::guest::Guest;
use crate::image::{Image, ImageError, Named};
use crate::layers::Layers;
use crate::memory::Baseline;

impl Image {
    /// The image named `name` whose jobs start where `job`'s program ended, run as a module: its imports are done, its
    /// changes to the interpreter made, its own names gone. Files are each job's own: those of `job` are not there any more.
    /// The program can reserve memory for jobs by taking it and giving it back: memory that grows in a job costs more.
    ///
    /// # Errors
    /// When the program raises or meets a limit, a layer is missing, or the host fails.
    pub fn warmed(self: &Arc<Self>, name: &str, job: &Job, layers: &Layers) -> Result<Arc<Self>, ImageError> {
        let failed = |detail: String| ImageError::Build { phase: "warming it", detail };
        let mut guest = Guest::new(self).map_err(failed)?;
        if let Some(base) = &job.base {
            layers.check(base, None, &job.files).map_err(failed)?;
            guest.set_base(Some(layers.tree(self.base_tree(), base, None).map_err(failed)?));
        }
        let (outcome, snapshot) = guest.warm(job).map_err(failed)?;
        if outcome.exit != Exit::Returned {
            return Err(failed(describe_end(&outcome)));
        }
        let host = |error: &dyn std::fmt::Display| ImageError::Host(format!("cannot keep the warmed image: {error}"));
        let named = Named { name: name.to_owned(), digest: content_hash(&(self.digest(), name, job)) };
        let baseline = Baseline::new(&snapshot.memory).map_err(|error| host(&error))?;
        self.with_state(named, baseline, snapshot.state).map(Arc::new)
    }
}

/// How the program ended, in words.
fn describe_end(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("the program ended with {}: {}", error.kind, error.message),
        None => format!("the program ended as {:?}", outcome.exit),
    }
}
