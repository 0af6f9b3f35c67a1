//! An image made of another one: the state that a program leaves behind, such as a test runner already imported.
//!
//! It lives in this process alone. What the program is and what it could read name the image, so verdicts made in it can be
//! told from others; jobs in it cost less fuel than where they do the program's work themselves.

use std::sync::Arc;

use veriplay_core::{Exit, Job, Outcome, content_hash};

use super::{Image, ImageError};
use crate::guest::{Guest, linker};
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
            layers.check(base, &job.files).map_err(failed)?;
            guest.set_base(Some(layers.tree(self.base_tree(), base).map_err(failed)?));
        }
        let (outcome, snapshot) = guest.warm(job).map_err(failed)?;
        if outcome.exit != Exit::Returned {
            return Err(failed(told(&outcome)));
        }
        let host = |error: &dyn std::fmt::Display| ImageError::Host(format!("cannot keep the warmed image: {error}"));
        Ok(Arc::new(Self {
            name: name.to_owned(),
            digest: content_hash(&(&self.digest, name, job)),
            limits: self.limits,
            engine: self.engine.clone(),
            module: self.module.clone(),
            linker: linker(&self.engine).map_err(|error| host(&error))?,
            baseline: Baseline::new(&snapshot.memory).map_err(|error| host(&error))?,
            base_tree: self.base_tree.clone(),
            state: snapshot.state,
            text: None,
            warmed: true,
        }))
    }
}

/// How the program ended, in words.
fn told(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("the program ended with {}: {}", error.kind, error.message),
        None => format!("the program ended as {:?}", outcome.exit),
    }
}
