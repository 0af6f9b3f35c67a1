//! Attempts of standard input: they are kept in a temporary file, because they are read twice where they are counted for a bar.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::interrupt;
use veriplay_console::json_file::MOST_WHOLE_MIB;
use veriplay_console::leftovers::TemporaryFolder;

/// The copy of standard input. It goes with this, and with a signal that ends the process.
#[derive(Debug)]
pub struct StandardInput(TemporaryFolder);

impl StandardInput {
    /// Copies all of it, unless it takes too much of the disk.
    pub fn keep() -> Result<Self, Failure> {
        interrupt::end_without_leftovers();
        let opened = TemporaryFolder::new("veriplay-attempts-").and_then(|folder| {
            let most = most_bytes(folder.path())?;
            Ok((folder, most))
        });
        let (folder, most) = or_fail(opened)?;
        Self::copy(folder, io::stdin().lock(), most)
    }

    /// Copies a source of at most so many bytes. A refused one leaves nothing.
    fn copy(folder: TemporaryFolder, source: impl Read, most: u64) -> Result<Self, Failure> {
        let kept = Self(folder);
        let copied = File::create_new(kept.path())
            .and_then(|mut file| io::copy(&mut source.take(most.saturating_add(1)), &mut file));
        if or_fail(copied)? <= most {
            return Ok(kept);
        }
        let (mib, place) = (most >> 20, std::env::temp_dir());
        let what = format!("standard input has more than {mib} MiB, the most that is copied to `{}`", place.display());
        let hint = "give the attempts as a file, or set TMPDIR to a directory with more free space";
        Err(Failure::message(ExitCode::Input, what).hint(hint))
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.0.path().join("standard-input.jsonl")
    }
}

fn or_fail<T>(result: io::Result<T>) -> Result<T, Failure> {
    result.context("cannot keep the attempts of standard input in a temporary file").or_fail(ExitCode::Input)
}

/// Three quarters of what is free in a folder: others write there, too.
fn most_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(match found.f_blocks {
        // A file system in memory need not know its size.
        0 => MOST_WHOLE_MIB << 20,
        _ => found.f_bavail.saturating_mul(found.f_frsize) / 4 * 3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> TemporaryFolder {
        TemporaryFolder::new("veriplay-test-").expect("it is made")
    }

    #[test]
    fn what_has_room_is_kept_as_long_as_it_is_needed() {
        let text = vec![b'x'; 1 << 20];
        let kept = StandardInput::copy(folder(), &text[..], 1 << 20).expect("it has room");
        let path = kept.path();
        assert!(std::fs::read(&path).expect("it is kept") == text, "another text");
        drop(kept);
        assert!(!path.exists());
    }

    #[test]
    fn what_has_no_room_is_refused_and_its_beginning_is_removed() {
        let folder = folder();
        let path = folder.path().to_owned();
        let failure = StandardInput::copy(folder, io::repeat(b'x'), 1 << 20).expect_err("it has no end");
        let told = failure.to_string();
        assert!(told.starts_with("error: standard input has more than 1 MiB, the most that is copied to `"), "{told}");
        assert!(told.contains("hint: ") && failure.exit_code() == ExitCode::Input, "{told}");
        assert!(!path.exists());
    }

    #[test]
    fn a_copy_leaves_a_quarter_of_the_free_space() {
        let folder = folder();
        let found = rustix::fs::statvfs(folder.path()).expect("it is there");
        let most = most_bytes(folder.path()).expect("it is there");
        assert!(found.f_blocks == 0 || most <= found.f_blocks * found.f_frsize / 4 * 3, "{most}");
        assert_eq!(most_bytes("/proc".as_ref()).expect("it is there"), 1 << 30, "it has no blocks");
    }
}
