//! Where a command keeps verdicts.

use std::path::PathBuf;

use clap::Args;
use veriplay_console::exit::Failure;
use veriplay_console::image;
use veriplay_eval::verdict_cache::{FOLDER, VerdictCache};
use veriplay_sandbox::default_cache_dir;

// Where verdicts are kept. No documentation comment: clap would make it the text of the whole command.
#[derive(Debug, Args)]
pub(super) struct CacheArguments {
    /// Keep verdicts in this folder instead of the user's cache directory
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Do not read or write cached verdicts
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl CacheArguments {
    pub(super) fn open(&self) -> Result<VerdictCache, Failure> {
        match (&self.cache, self.no_cache) {
            (_, true) => Ok(VerdictCache::none()),
            (Some(dir), false) => Ok(VerdictCache::open(dir)),
            (None, false) => Ok(VerdictCache::open(&default_cache_dir().map_err(image::failure)?.join(FOLDER))),
        }
    }
}
