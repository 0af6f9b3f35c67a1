//! An image of a few lines: a guest module of one's own under the same engine, shim and channel as another image's.
//!
//! The isolation suite abuses system calls and the channel with it, which a Python program cannot do by itself. Such a
//! guest is an image like any other: it exports `memory`, `_initialize`, `host_alloc` and `turn`, is instrumented,
//! snapshotted, reset and metered by the very code that does so for Python. Only modules from this repository are
//! compiled: the time that takes is not bounded.

use std::sync::Arc;

use wasmtime::Engine;

use super::spec::ImageSpec;
use super::wheel::Wheel;
use super::{Image, ImageError, build};

/// What stands at `/lib/library.zip` in the file tree of such an image.
const LIBRARY: &[u8] = b"library";

impl Image {
    /// An image named `name` of the module in WebAssembly text `text`.
    ///
    /// # Errors
    /// When the text is no module, imports what the host does not have, or lacks an export the host calls.
    pub fn of_module(&self, name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
        build_under(self.engine.clone(), name, text)
    }
}

/// An image of the module in `text`, under an engine of its own: how a worker process makes it. A thread of the compiler that
/// is still starting when the worker locks itself down would be killed, and the worker with it.
///
/// # Errors
/// As for [`Image::of_module`].
pub(crate) fn build_alone(name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
    build_under(super::engine::engine_without_threads()?, name, text)
}

fn build_under(engine: Engine, name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
    let fail = |error: wat::Error| ImageError::Build { phase: "reading the module's text", detail: error.to_string() };
    let wheel = Wheel { wasm: wat::parse_str(text).map_err(fail)?, library: LIBRARY.to_vec() };
    let spec = spec(name)?;
    let code = build::compile(&engine, wheel)?;
    let snapshot = build::preload(&spec, &engine, &code)?;
    let image = Image::new(&spec, engine, code, snapshot)?;
    Ok(Arc::new(Image { text: Some(text.to_owned()), ..image }))
}

/// A manifest with nothing in it: no preload, no headroom, no wheel.
fn spec(name: &str) -> Result<ImageSpec, ImageError> {
    // JSON's quotes and escapes are TOML's too.
    let name = serde_json::Value::from(name);
    let manifest = format!(
        "name = {name}\nseed = 1\nheadroom_bytes = 0\npreload = []\n[wheel]\nrequirement = ''\nsha256 = ''\nwasm = ''\n\
         stdlib = ''\nstdlib_at = '/lib/library.zip'\n[limits]\nfuel = 100000000\nmemory_bytes = 16777216\n\
         output_bytes = 65536\nfile_bytes = 65536\ndeadline_ns = 60000000000"
    );
    // A turn without text would be a job.
    ImageSpec::parse(&manifest, "#")
}
