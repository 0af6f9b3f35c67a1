//! Makes cargo build the crate again when a file is added to a folder that `src/files.rs` carries, or removed from it.

fn main() {
    println!("cargo:rerun-if-changed=../../task-corpus");
}
