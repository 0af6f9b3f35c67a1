//! Our own sandbox as a range for probes: each gets one of its own.

use std::sync::Arc;

use veriplay_corpus::probes::run::{Fresh, Range};
use veriplay_sandbox::{Image, ImageError, Sandbox, SandboxOptions};

/// The image the probes attack.
pub(crate) struct Ours(pub(crate) Arc<Image>);

impl Ours {
    fn sandbox(image: Arc<Image>, workers: u32) -> Result<Fresh<'static>, ImageError> {
        let options = SandboxOptions { max_parallel: workers as usize, ..SandboxOptions::fastest() };
        Ok(Box::new(Sandbox::new(image, options)?))
    }
}

impl Range for Ours {
    fn python(&self, workers: u32) -> Result<Fresh<'_>, String> {
        Self::sandbox(Arc::clone(&self.0), workers).map_err(|error| error.to_string())
    }

    fn module(&self, id: &str, text: &str, workers: u32) -> Result<Fresh<'_>, String> {
        let image = self.0.of_module(id, text);
        image.and_then(|image| Self::sandbox(image, workers)).map_err(|error| error.to_string())
    }

    fn module_image(&self, id: &str) -> String {
        id.to_owned()
    }
}
