//! Runs probes in our own sandbox: each gets a fresh one, in threads of this process.

use std::sync::Arc;

use veriplay_corpus::probes::run::{BoxedExecutor, ExecutorFactory};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

/// Makes a sandbox of this image for each probe.
pub struct InProcessSandboxes(Arc<Image>);

impl InProcessSandboxes {
    /// Makes sandboxes of `image`.
    #[must_use]
    pub fn new(image: Arc<Image>) -> Self {
        Self(image)
    }
}

fn sandbox<'a>(image: Arc<Image>, workers: u32) -> BoxedExecutor<'a> {
    let options = SandboxOptions { max_parallel: workers as usize, ..SandboxOptions::fastest() };
    Box::new(Sandbox::new(image, options))
}

impl ExecutorFactory for InProcessSandboxes {
    fn make_sandbox(&self, workers: u32) -> Result<BoxedExecutor<'_>, String> {
        Ok(sandbox(Arc::clone(&self.0), workers))
    }

    fn make_module(&self, id: &str, text: &str, workers: u32) -> Result<BoxedExecutor<'_>, String> {
        let image = self.0.from_module(id, text).map_err(|error| error.to_string())?;
        Ok(sandbox(image, workers))
    }
}
