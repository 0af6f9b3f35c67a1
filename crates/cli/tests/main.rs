//! The program says its version; its other tests are in `tests/tests/command_line`. Those start the program too, and cargo builds one only
//! for tests of its own package: this test is also there so that `cargo test --workspace` does.

use std::process::Command;

#[test]
fn the_program_says_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_veriplay")).arg("--version").output().expect("the program starts");
    let version = format!("veriplay {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((output.status.success(), String::from_utf8_lossy(&output.stdout).as_ref()), (true, &*version));
}
