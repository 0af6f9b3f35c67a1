//! Patches: their laws, what is refused and how it is said, and that git reads them as we do.

mod git;
mod laws;
mod refused;

use veriplay_core::{Patch, TextFiles};

fn files(files: &[(&str, &str)]) -> TextFiles {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn parsed(text: &str) -> Patch {
    Patch::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
