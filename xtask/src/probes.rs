//! Runs probes in our own sandbox: each gets a fresh one, in threads of this process.

use std::sync::Arc;

use veriplay_corpus::probes::run::{BoxedExecutor, ExecutorFactory};
use veriplay_sandbox::{CompiledSandbox, Image, ModuleSandbox, Sandbox, SandboxOptions, TextModules, Toolchain};

/// Makes a sandbox for each probe.
pub enum InProcessSandboxes {
    /// Of this image.
    Image(Arc<Image>),
    /// Of what this toolchain compiles.
    Compiled(Arc<Toolchain>),
    /// Of modules.
    Modules,
}

impl InProcessSandboxes {
    /// Makes sandboxes of `image`.
    #[must_use]
    pub const fn new(image: Arc<Image>) -> Self {
        Self::Image(image)
    }
}

const fn options(workers: u32) -> SandboxOptions {
    SandboxOptions { max_parallel: workers as usize, ..SandboxOptions::fastest() }
}

impl ExecutorFactory for InProcessSandboxes {
    fn make_sandbox(&self, workers: u32) -> Result<BoxedExecutor<'_>, String> {
        Ok(match self {
            Self::Image(image) => Box::new(Sandbox::new(Arc::clone(image), options(workers))),
            Self::Compiled(toolchain) => {
                let made = CompiledSandbox::new(Arc::clone(toolchain), options(workers));
                Box::new(made.map_err(|error| error.to_string())?)
            }
            Self::Modules => {
                let made = ModuleSandbox::new(options(workers));
                Box::new(TextModules::new(made.map_err(|error| error.to_string())?))
            }
        })
    }

    fn make_module(&self, id: &str, text: &str, workers: u32) -> Result<BoxedExecutor<'_>, String> {
        let Self::Image(image) = self else {
            return Err("a module that stands in for an interpreter attacks an image".to_owned());
        };
        let image = image.from_module(id, text).map_err(|error| error.to_string())?;
        Ok(Box::new(Sandbox::new(image, options(workers))))
    }
}
