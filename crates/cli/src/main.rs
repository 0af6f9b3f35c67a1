//! `veriplay`: the command line. It wires concrete types and owns files, the clock, threads, logs and exit codes.

mod commands;
mod config;
mod embedded;
mod evaluate;
mod executor;
mod exit;
mod image;
mod judge;
mod logfile;
mod overlap;
mod play;
mod progress;
mod rundir;
mod tasks;
mod warmup;

use std::process::ExitCode;

/// Training allocates and frees the same large buffers all the time; the system's allocator returns each to the kernel.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("VERIPLAY_LOG").unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match commands::dispatch(&commands::command_line().get_matches()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            progress::say(&failure);
            ExitCode::from(failure.code())
        }
    }
}
