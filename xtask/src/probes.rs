//! Our own sandbox as a range for probes: each gets a sandbox of its own, in threads.

use std::sync::Arc;

use veriplay_corpus::probes::run::{Fresh, Range};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

/// What the probes attack.
pub struct Ours(Arc<Image>);

impl Ours {
    /// The sandbox of this Python image.
    #[must_use]
    pub fn new(image: Arc<Image>) -> Self {
        Self(image)
    }
}

fn sandbox<'a>(image: Arc<Image>, workers: u32) -> Fresh<'a> {
    let options = SandboxOptions { max_parallel: workers as usize, ..SandboxOptions::fastest() };
    Box::new(Sandbox::new(image, options))
}

impl Range for Ours {
    fn python(&self, workers: u32) -> Result<Fresh<'_>, String> {
        Ok(sandbox(Arc::clone(&self.0), workers))
    }

    fn module(&self, id: &str, text: &str, workers: u32) -> Result<Fresh<'_>, String> {
        let image = self.0.of_module(id, text).map_err(|error| error.to_string())?;
        Ok(sandbox(image, workers))
    }

    fn module_image(&self, id: &str) -> String {
        id.to_owned()
    }
}
