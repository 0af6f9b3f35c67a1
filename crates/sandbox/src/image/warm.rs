//! An image made of another one: the state that a program leaves behind, such as a test runner already imported.
//!
//! It is in no cache: it lives in this process, and in the worker processes that this one hands its memory to. What the program
//! is and what it could read name the image, so verdicts made in it can be told from others; jobs in it cost less fuel than where
//! they do the program's work themselves.

use std::sync::Arc;

use veriplay_core::{Exit, Job, Outcome, content_hash};

use super::{Image, ImageError, Named, State};
use crate::guest::Guest;
use crate::host::linker;
use crate::layers::Layers;
use crate::memory::Baseline;

impl Image {
    /// The image named `name` whose jobs start where `job`'s program ended, run as a module: its imports are done, its
    /// changes to the interpreter made, its own names gone. Files are each job's own: those of `job` are not there any more.
    /// Room that jobs are to have is to be taken and given back by the program; memory that grows in a job costs more.
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
        let named = Named { name: name.to_owned(), digest: content_hash(&(&self.digest, name, job)) };
        let baseline = Baseline::new(&snapshot.memory).map_err(|error| host(&error))?;
        self.with_state(named, baseline, snapshot.state).map(Arc::new)
    }

    /// A warmed image as another process has made it of this one.
    ///
    /// # Errors
    /// When the host has no room for it.
    pub(crate) fn with_state(&self, named: Named, baseline: Baseline, state: State) -> Result<Self, ImageError> {
        let linker = linker(&self.engine);
        let linker = linker.map_err(|error| ImageError::Host(format!("cannot link the warmed image: {error}")))?;
        Ok(Self {
            name: named.name,
            digest: named.digest,
            limits: self.limits,
            engine: self.engine.clone(),
            module: self.module.clone(),
            linker,
            baseline,
            base_tree: self.base_tree.clone(),
            state,
            text: None,
            warmed_of: Some(self.warmed_of.clone().unwrap_or_else(|| self.name_and_digest())),
        })
    }
}

/// How the program ended, in words.
fn describe_end(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("the program ended with {}: {}", error.kind, error.message),
        None => format!("the program ended as {:?}", outcome.exit),
    }
}
