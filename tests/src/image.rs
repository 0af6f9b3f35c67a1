//! The one Python image of a test binary, which says what it is doing where it must be built first.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use veriplay_sandbox::{BuildPhase, Image, ImageSpec, ImageStore, Sandbox, SandboxOptions, default_cache_dir};

/// The Python image of this user's cache, built on first use.
///
/// # Panics
/// There is none and none can be built. Every later call panics too, without another build.
#[must_use]
pub fn python_image() -> Arc<Image> {
    static IMAGE: OnceLock<Result<Arc<Image>, String>> = OnceLock::new();
    let open = || {
        let store = ImageStore::open(&default_cache_dir()?)?;
        let spec = ImageSpec::python();
        store.load(&spec).map_or_else(|| store.load_or_build(&spec, &report), Ok)
    };
    let image = IMAGE.get_or_init(|| {
        open().map_err(|error| format!("no Python image: {error}; hint: {}", error.hint().unwrap_or_default()))
    });
    image.clone().unwrap_or_else(|error| panic!("{error}"))
}

/// The sandbox that the tests of a binary share.
#[must_use]
pub fn python_sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(python_image(), SandboxOptions::fastest()))
}

/// Reports a build past libtest's capture: it takes about a minute, and all tests wait for it.
fn report(phase: BuildPhase) {
    let (percent, what) = (phase.fraction_done() * 100.0, phase.describe());
    let _ = writeln!(std::io::stderr(), "building the Python image, once: {percent:.0} %, {what}");
}
