//! Fixtures of the tests and benches that need more than one crate: the Python image, the program, and what comes from outside the
//! repository.

use std::fmt::Debug;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use veriplay_sandbox::{
    BuildPhase, CompiledSandbox, Image, ImageError, ImageSpec, ImageStore, Sandbox, SandboxOptions, Toolchain,
    default_cache_dir,
};

pub mod external;

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

/// A sandbox on the JavaScript image of this user's cache, built on first use. Without npm there is none, which is reported.
///
/// # Panics
/// There is none and none can be built, though npm is there.
#[must_use]
pub fn javascript_sandbox() -> Option<Sandbox> {
    match open_javascript() {
        Ok(image) => Some(Sandbox::new(image, SandboxOptions::fastest())),
        Err(error @ (ImageError::NpmMissing { .. } | ImageError::NpmFailed { .. })) => {
            external::report_without_npm(&error.to_string());
            None
        }
        Err(error) => panic!("no JavaScript image: {error}; hint: {}", error.hint().unwrap_or_default()),
    }
}

fn open_javascript() -> Result<Arc<Image>, ImageError> {
    ImageStore::open(&default_cache_dir()?)?.load_or_build(&ImageSpec::builtin("javascript")?, &|_| {})
}

/// A sandbox on the toolchain of C++ of this user's cache, built on first use. Where `VERIPLAY_TEST_CPP` does not ask for it, there is none, which is
/// reported.
///
/// # Panics
/// There is none and none can be built.
#[must_use]
pub fn cpp_sandbox() -> Option<CompiledSandbox> {
    if std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
        external::report_skipped("VERIPLAY_TEST_CPP is not set");
        return None;
    }
    let opened = open_toolchain().and_then(|toolchain| CompiledSandbox::new(toolchain, SandboxOptions::fastest()));
    Some(opened.unwrap_or_else(|error| panic!("no toolchain: {error}; hint: {}", error.hint().unwrap_or_default())))
}

fn open_toolchain() -> Result<Arc<Toolchain>, ImageError> {
    ImageStore::open(&default_cache_dir()?)?.load_or_build_toolchain(&|_| {})
}

/// Reports a build past libtest's capture: it takes about a minute, and all tests wait for it.
fn report(phase: BuildPhase) {
    let (percent, what) = (phase.fraction_done() * 100.0, phase.describe());
    let _ = writeln!(std::io::stderr(), "building the Python image, once: {percent:.0} %, {what}");
}

/// The program `veriplay`, in the folder of the profile: a test's own executable lies in `deps` of it.
///
/// Cargo names the program to the tests of its own package alone. One of those is in `crates/cli/tests`, so that `cargo test --workspace`
/// builds the program before any test runs.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn veriplay_program() -> PathBuf {
    let own = std::env::current_exe().expect("a running test has an executable");
    let profile = own.ancestors().nth(2).expect("cargo builds tests into `deps`, in the folder of the profile");
    let program = profile.join("veriplay");
    assert!(
        program.is_file(),
        "there is no program `{}` to test; hint: `cargo test --workspace` builds it, `cargo test -p veriplay-tests` does not",
        program.display()
    );
    program
}

/// Fails with all faults that a test has found.
///
/// # Panics
/// There are any.
#[track_caller]
pub fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n\n"));
}

/// Asserts what an iterator gives.
///
/// # Panics
/// It gives something else.
#[track_caller]
pub fn assert_each<T: Debug + PartialEq<U>, U: Debug>(
    found: impl IntoIterator<Item = T>,
    expected: impl IntoIterator<Item = U>,
) {
    assert_eq!(Vec::from_iter(found), Vec::from_iter(expected));
}

/// Runs the Rust code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
