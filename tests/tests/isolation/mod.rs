//! The isolation suite: it passes on our sandbox as it is, and it can fail.
//!
//! `default`: every probe is contained. `weakened`: under each weakness exactly the probes that say so escape, and under a
//! plain `python3` too. `files`: the format and the lists. Probes are read from the directory, so that a new file is run
//! before anything is rebuilt.

mod default;
mod files;
mod graders;
mod weakened;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use veriplay_corpus::probes::judge::Finding;
use veriplay_corpus::probes::run::{Fresh, Range, run_probes};
use veriplay_corpus::probes::{Probe, read_probes};
use veriplay_sandbox::{
    Image, ImageSpec, ImageStore, Sandbox, SandboxOptions, Weakness, WheelSource, default_cache_dir,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sandboxes/python/probes")
}

/// All probes, from the directory.
fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| read_probes(&folder()).unwrap_or_else(|error| panic!("{error}")))
}

fn python() -> &'static Arc<Image> {
    static IMAGE: OnceLock<Arc<Image>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let store = ImageStore::open(&default_cache_dir().unwrap()).unwrap();
        let built = store.load_or_build(&ImageSpec::python(), &WheelSource::from_env(), &|_| ());
        built.unwrap_or_else(|error| panic!("no Python image: {error}"))
    })
}

/// What a module's image came to, by probe.
type Modules = BTreeMap<String, Result<Arc<Image>, String>>;

/// Our sandbox, whole or weakened.
struct Ours(Option<Weakness>);

impl Ours {
    fn image(&self, id: &str, text: &str) -> Result<Arc<Image>, String> {
        static WHOLE: Mutex<Modules> = Mutex::new(Modules::new());
        if let Some(Weakness::UnknownImports) = self.0 {
            let image = python().of_module_weakened(id, text, Weakness::UnknownImports);
            return image.map_err(|error| error.to_string());
        }
        let known = WHOLE.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        known.unwrap_or_else(|| {
            let image = python().of_module(id, text).map_err(|error| error.to_string());
            WHOLE.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), image.clone());
            image
        })
    }

    fn sandbox(&self, image: Arc<Image>, workers: u32) -> Result<Fresh<'_>, String> {
        let options = SandboxOptions { max_parallel: workers as usize, ..SandboxOptions::fastest() };
        Ok(Box::new(match self.0 {
            None => Sandbox::new(image, options),
            Some(weakness) => Sandbox::weakened(image, options, weakness),
        }))
    }
}

impl Range for Ours {
    fn python(&self, workers: u32) -> Result<Fresh<'_>, String> {
        self.sandbox(Arc::clone(python()), workers)
    }

    fn module(&self, id: &str, text: &str, workers: u32) -> Result<Fresh<'_>, String> {
        self.sandbox(self.image(id, text)?, workers)
    }

    fn module_image(&self, id: &str) -> String {
        id.to_owned()
    }
}

/// Runs every probe; findings in their order.
fn run_all(weakness: Option<Weakness>) -> Vec<(&'static Probe, Finding)> {
    let findings = run_probes(&Ours(weakness), probes(), "python", 2, &|_, _| ());
    probes().iter().zip(findings).collect()
}
