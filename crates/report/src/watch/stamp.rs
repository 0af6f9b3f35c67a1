//! Names for states of pages, so that a browser need not be sent what it has.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use veriplay_server::PageRequest;

/// Names the page that `request` asks for, in the state that `files` are in: it changes when one of them does.
pub(crate) fn stamp(token: &str, request: &PageRequest, files: &[PathBuf]) -> String {
    let state = |file: &Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    let states: Vec<_> = files.iter().map(|file| (file, std::fs::metadata(file).ok().as_ref().map(state))).collect();
    let digest = Sha256::digest(format!("{token} {:?} {:?} {states:?}", request.path, request.query));
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::stamp;
    use veriplay_server::PageRequest;

    #[test]
    fn it_changes_with_the_page_and_with_a_file() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let files = [dir.path().join("file")];
        let page = |path: &str| PageRequest { path: path.to_owned(), ..PageRequest::default() };
        let of = |path: &str| stamp("token", &page(path), &files);
        let missing = of("a");
        assert!(missing != of("b") && missing != stamp("other", &page("a"), &files) && missing == of("a"));
        std::fs::write(&files[0], "x").expect("a file");
        let written = of("a");
        assert_ne!(missing, written);
        std::fs::write(&files[0], "xy").expect("a file");
        assert_ne!(written, of("a"));
    }
}
