//! The isolation suite.
//!
//! `default`: every probe is contained. `files`: the lists. `sabotage`: the patches that show that probes can fail name real
//! probes and apply; `cargo xtask sabotage` runs them. Probes are read from the directory, so that a new file is run before
//! anything is rebuilt.

mod default;
mod files;
mod graders;
mod sabotage;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use veriplay_corpus::probes::judge::Finding;
use veriplay_corpus::probes::run::run_probes;
use veriplay_corpus::probes::{Probe, read_probes};
use veriplay_sandbox::Image;
use xtask::probes::Ours;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../task-corpus/probes")
}

/// All probes, from the directory.
fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| read_probes(&folder()).unwrap_or_else(|error| panic!("{error}")))
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
