//! The isolation suite.
//!
//! `default`: every probe is contained. `files`: the lists. `sabotage`: the patches that show that probes can fail name real
//! probes and apply; `cargo xtask sabotage` runs them.

mod default;
mod files;
mod graders;
mod sabotage;

use std::sync::OnceLock;

use veriplay_corpus::probes::judge::Finding;
use veriplay_corpus::probes::run::run_probes;
use veriplay_corpus::probes::{Probe, built_in_probes};
use veriplay_tests::python_image;
use xtask::probes::InProcessSandboxes;

fn probes() -> &'static [Probe] {
    static PROBES: OnceLock<Vec<Probe>> = OnceLock::new();
    PROBES.get_or_init(|| built_in_probes("python").expect("the image has probes"))
}

/// Runs every probe; findings in their order.
fn run_all() -> Vec<(&'static Probe, Finding)> {
    let findings = run_probes(&InProcessSandboxes::new(python_image()), probes(), "python", 2, &|_, _| ());
    probes().iter().zip(findings).collect()
}
