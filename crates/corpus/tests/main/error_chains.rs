//! An error shows its cause once: in its own message, or as its `source()`, and never in both.

use std::error::Error;
use std::path::Path;

use veriplay_corpus::repository::{ArchiveKind, DependencyWheel, unpack};
use veriplay_corpus::{ReadOptions, problem_format, read_problems};

/// The whole chain on one line, as the command line prints it.
fn print_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}

#[test]
fn a_cause_is_printed_once() {
    let format = problem_format("veriplay").unwrap();
    let missing = read_problems(Path::new("/no/such/file"), format, &ReadOptions::default()).unwrap_err();
    let no_gzip = unpack(b"this is not a gzip archive", ArchiveKind::TarGz).unwrap_err();
    let no_zip = unpack(b"no zip", ArchiveKind::Zip).unwrap_err();
    let no_wheel = DependencyWheel::read(b"no zip").unwrap_err();
    let io = "No such file or directory";
    for (error, cause) in [
        (&missing as &dyn Error, io),
        (&no_gzip, "gzip"),
        (&no_zip, "invalid Zip archive"),
        (&no_wheel, "invalid Zip archive"),
    ] {
        let text = print_chain(error);
        assert_eq!(text.matches(cause).count(), 1, "{text}");
    }
}
