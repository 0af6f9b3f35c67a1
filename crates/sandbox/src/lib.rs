#![doc = include_str!("../README.md")]
//!
//! # Inside
//! This crate knows no tests, no rewards and no expected values. It is the only home of wasmtime and of `unsafe`.
//!
//! * [`ImageStore`] builds an [`Image`] (a wasm guest with preloaded state) once and caches it by content;
//! * [`Sandbox`] runs jobs in it, from any thread, each from the image's fresh state.
//!
//! What a guest may do is bounded twice: by wasm, and by the [shim](wasi) that answers its system calls, which has an
//! in-memory file tree, a virtual clock and a seeded random source behind it and nothing of the host. Whatever a program
//! causes is an `Outcome`; an `Err` is a fault of ours.
#![expect(
    unsafe_code,
    reason = "the reset of guest memory and the loading of cached native code; see `memory`, `stacks`, `worker::lockdown` and `image::cache`"
)]

mod callee;
mod channel;
#[cfg(feature = "conformance")]
#[doc(hidden)]
pub mod conformance;
mod deadline;
mod ended;
mod exports;
mod fuel;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guest;
mod host;
mod image;
mod layers;
mod memory;
mod meter;
mod pool;
mod request;
mod sandbox;
mod stacks;
mod stop;
mod wasi;
mod worker;
mod written;

pub use image::{BuildPhase, CacheReport, Image, ImageError, ImageSpec, ImageStore, default_cache_dir};
pub use layers::Layers;
pub use memory::ResetMode;
pub use sandbox::{Sandbox, SandboxOptions};
pub use worker::{WorkerProgram, serve};
