//! Our own sandbox as a range for probes: each gets one of its own.

use std::sync::Arc;

use veriplay_corpus::probes::run::{Fresh, Range};
use veriplay_sandbox::{Image, Sandbox, SandboxOptions};

use crate::workers::{self, Workers};

/// What the probes attack.
pub(crate) struct Ours {
    pub(crate) image: Arc<Image>,
    /// Where Python programs run. Modules run in threads: a worker process knows the images of this binary alone.
    pub(crate) workers: Workers,
}

fn options(parallel: u32) -> SandboxOptions {
    SandboxOptions { max_parallel: parallel as usize, ..SandboxOptions::fastest() }
}

impl Range for Ours {
    fn python(&self, parallel: u32) -> Result<Fresh<'_>, String> {
        let sandbox = workers::sandbox(Arc::clone(&self.image), options(parallel), self.workers);
        Ok(Box::new(sandbox.map_err(|failure| failure.to_string())?))
    }

    fn module(&self, id: &str, text: &str, parallel: u32) -> Result<Fresh<'_>, String> {
        let image = self.image.of_module(id, text).map_err(|error| error.to_string())?;
        Ok(Box::new(Sandbox::new(image, options(parallel))))
    }

    fn module_image(&self, id: &str) -> String {
        id.to_owned()
    }
}
