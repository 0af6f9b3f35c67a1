//! The program of the command line, which cargo builds along with the tests.

use std::path::PathBuf;

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
