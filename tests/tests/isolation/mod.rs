//! The isolation suite.
//!
//! `default`: every probe is contained. `files`: the lists. Probes are read from the
//! directory, so that a new file is run before anything is rebuilt.

mod default;
mod files;
mod graders;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use veriplay_corpus::probes::judge::Finding;
use veriplay_corpus::probes::run::{Fresh, Range, run_probes};
use veriplay_corpus::probes::{Probe, read_probes};
use veriplay_sandbox::{Image, ImageSpec, ImageStore, Sandbox, SandboxOptions, WheelSource, default_cache_dir};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sandboxes/python/probes")
}

/// All probes, from the directory.
fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| read_probes(&folder()).unwrap_or_else(|error| panic!("{error}")))
}

/// What the probes attack.
struct Ours(Arc<Image>);

impl Ours {
    /// The sandbox of the Python image, which is built first where the cache lacks it.
    fn open() -> anyhow::Result<Self> {
        let store = ImageStore::open(&default_cache_dir()?)?;
        Ok(Self(store.load_or_build(&ImageSpec::python(), &WheelSource::from_env(), &|_| ())?))
    }

    /// The Python image.
    fn image(&self) -> &Arc<Image> {
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

fn ours() -> &'static Ours {
    static OURS: OnceLock<Ours> = OnceLock::new();
    OURS.get_or_init(|| Ours::open().unwrap_or_else(|error| panic!("no Python image: {error:#}")))
}

fn python() -> &'static Arc<Image> {
    ours().image()
}

/// Runs every probe; findings in their order.
fn run_all() -> Vec<(&'static Probe, Finding)> {
    let findings = run_probes(ours(), probes(), "python", 2, &|_, _| ());
    probes().iter().zip(findings).collect()
}
