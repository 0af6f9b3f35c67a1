//! Our own sandbox as a range for probes: each gets a sandbox of its own, in threads.

use std::sync::Arc;

use veriplay_corpus::probes::run::{Fresh, Range};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

/// What the probes attack.
pub struct Ours(Arc<Image>);

impl Ours {
    /// The sandbox of the Python image, which is built first where the cache lacks it.
    ///
    /// # Errors
    /// When there is no image and none can be built.
    pub fn open() -> anyhow::Result<Self> {
        Ok(Self(Image::python()?))
    }

    /// The Python image.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.0
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
