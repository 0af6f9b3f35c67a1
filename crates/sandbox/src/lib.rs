#![doc = include_str!("../README.md")]
//!
//! # Inside
//! This crate knows no tests, no rewards and no expected values. It is the only crate that uses wasmtime and, except for two switches of the
//! CUDA driver, `unsafe`.
//!
//! * [`ImageStore`] builds an [`Image`] (a wasm guest with preloaded state) once and caches it by content;
//! * [`Sandbox`] runs jobs in it, from any thread, each from the image's fresh state. A thread of this crate ends those that meet their deadline or are
//!   cancelled; a child that is forked without `exec` has no such thread, and must run no jobs.
//!
//! Two walls bound a guest: wasm, and the shim that answers its system calls from an in-memory file tree, a virtual clock and a seeded
//! random source. Nothing of the host is behind them. Worker processes ([`Sandbox::in_processes`]) are a third.
#![expect(
    unsafe_code,
    reason = "the reset of guest memory and the loading of cached native code; see `memory`, `fuel`, `watchdog`, `stacks`, `worker::lockdown`, \
              `worker::parent`, `image::cache` and `image::engine`"
)]

mod call;
mod channel;
mod compiled;
mod compiler;
#[cfg(feature = "conformance")]
#[doc(hidden)]
pub mod conformance;
mod dirty_pages;
mod exports;
mod fuel;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guest;
mod guest_kind;
mod host;
mod host_support;
mod host_trap;
mod image;
mod imports;
mod javascript;
mod job_lock;
mod job_profile;
mod kept_states;
mod layers;
mod memory;
mod meter;
mod modules;
mod outcome_cache;
mod parent_process;
mod parts;
mod pool;
mod program;
mod quickjs;
mod request;
mod sandbox;
mod sides;
mod stacks;
mod warm;
mod wasi;
mod watchdog;
mod worker;

pub use compiled::CompiledSandbox;
pub use host_support::HostSupport;
pub use image::{
    BuildPhase, CacheReport, CpuLevel, Image, ImageArchive, ImageError, ImageSpec, ImageStore, Toolchain,
    default_cache_dir, detected_cpu_level,
};
pub use job_profile::{JobProfile, Profiler, TurnCost};
pub use layers::Layers;
pub use memory::ResetMode;
pub use modules::{ModuleSandbox, TextModules};
pub use outcome_cache::OutcomeCache;
pub use parent_process::end_with_parent;
pub use sandbox::{Sandbox, SandboxOptions, SandboxSet};
pub use worker::{WorkerProgram, serve};
