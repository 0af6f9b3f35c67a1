//! Images of custom guest modules, under the same engine, shim and channel as the Python image.
//!
//! The isolation suite uses them to abuse system calls and the channel, which a Python program cannot do. Such a module exports `memory`,
//! `_initialize`, `host_alloc` and `turn`; the same code as for Python instruments, snapshots, resets and meters it. The time of a
//! compilation is not bounded: a module is compiled that somebody chose, and never one that a program sends.

use std::sync::Arc;

use wasmtime::Engine;

use super::spec::ImageSpec;
use super::wheel::GuestWheel;
use super::{Image, ImageError, build};

/// The content of `/lib/library.zip` in the file tree of such an image.
const LIBRARY: &[u8] = b"library";

impl Image {
    /// An image named `name` of the module in WebAssembly text `text`.
    ///
    /// # Errors
    /// When the text is not a module, imports something the host does not have, or lacks an export the host calls.
    pub fn from_module(&self, name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
        build_module(self.engine.clone(), name, text)
    }
}

/// An image of the module in `text`, under an engine without compiler threads, for a worker process: a compiler thread that is still
/// starting when the worker locks itself down would be killed, and the worker with it.
pub(crate) fn build_without_threads(name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
    build_module(super::engine::engine_without_threads()?, name, text)
}

fn build_module(engine: Engine, name: &str, text: &str) -> Result<Arc<Image>, ImageError> {
    let fail = |error: wat::Error| ImageError::Build { phase: "reading the module's text", detail: error.to_string() };
    let wheel = GuestWheel { wasm: wat::parse_str(text).map_err(fail)?, library: LIBRARY.to_vec() };
    let spec = make_spec(name)?;
    let code = build::compile_guest(&engine, wheel)?;
    let snapshot = build::snapshot_guest(&spec, &[], &engine, &code)?;
    let image = Image::new(&spec, engine, code, snapshot)?;
    Ok(Arc::new(Image { text: Some(text.to_owned()), ..image }))
}

fn make_spec(name: &str) -> Result<ImageSpec, ImageError> {
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
