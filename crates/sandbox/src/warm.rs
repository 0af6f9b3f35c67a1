//! Warm images: an image in the state that a program leaves behind, such as with a test runner already imported.
//!
//! A warm image is not cached. It lives in this process and in the worker processes that get its memory. Its digest covers the program and
//! the program's inputs, so that verdicts can be told apart: jobs in it cost less fuel than jobs that do the program's work themselves.

use std::sync::Arc;

use veriplay_core::{Exit, Job, Outcome, content_hash};

use crate::guest::GuestInstance;
use crate::guest_kind::GuestKind;
use crate::image::{Image, ImageError, ImageId};
use crate::layers::Layers;
use crate::memory::Baseline;

impl Image {
    /// Makes the image `name`, whose jobs start in the state after `job`'s program has run as a module: its imports and its changes to the
    /// interpreter remain, its own names and its files do not. The program can reserve memory for jobs by allocating and freeing it, because
    /// memory that grows during a job costs fuel.
    ///
    /// # Errors
    /// When the program raises or meets a limit, a layer is missing, or the host fails.
    pub fn warm_up(self: &Arc<Self>, name: &str, job: &Job, layers: &Layers) -> Result<Arc<Self>, ImageError> {
        let failed = |detail: String| ImageError::Build { phase: "warming it", detail };
        if job.preload.is_some() {
            return Err(failed(
                "the program has a preload, which only jobs have: make it part of the program".to_owned(),
            ));
        }
        if self.kind != GuestKind::Python {
            return Err(failed(format!("`{}` is no image of Python, and only those can be warmed", self.name())));
        }
        let mut guest = GuestInstance::new(self).map_err(failed)?;
        if let Some(base) = &job.base {
            layers.check_files(base, None, &job.files).map_err(failed)?;
            guest.set_base(Some(layers.get_tree(&self.base_tree, base, None).map_err(failed)?));
        }
        let (outcome, snapshot) = guest.into_snapshot(job).map_err(failed)?;
        if outcome.exit != Exit::Returned {
            return Err(failed(describe_end(&outcome)));
        }
        let host = |error: &dyn std::fmt::Display| ImageError::Host(format!("cannot keep the warmed image: {error}"));
        let named =
            ImageId { name: name.to_owned(), digest: content_hash(&(self.digest(), name, job)), manifest: None };
        let baseline = Baseline::new(&snapshot.memory).map_err(|error| host(&error))?;
        self.with_state(named, baseline, snapshot.state).map(Arc::new)
    }
}

fn describe_end(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("the program ended with {}: {}", error.kind, error.message),
        None => format!("the program ended as {:?}", outcome.exit),
    }
}
