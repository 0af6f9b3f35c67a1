//! Calls for a guest that makes no system calls: its host reads, opens and sleeps for it. They cost as the system calls do.

use super::descriptors::Fd;
use super::pipe::Pipe;
use super::{WORK, Wasi};

/// The most bytes of one read.
const MOST_READ: usize = 64 << 10;
const MOST_PATH: usize = 4096;

impl Wasi {
    /// The pipe that a read of standard input must wait for.
    pub(crate) fn awaited_input(&self) -> Option<Pipe> {
        let (_, pipe) = self.joined.as_ref().filter(|_| matches!(self.fds.get(0), Ok(Fd::Pipe)))?;
        Some(pipe.clone())
    }

    /// The next bytes of standard input; none at its end.
    pub(crate) fn read_input(&mut self) -> Vec<u8> {
        let mut chunk = vec![0; MOST_READ];
        let count = self.read_some(0, None, &mut chunk).unwrap_or(0);
        chunk.truncate(count);
        chunk
    }

    /// The content of the file at `path`, which is absolute or in the working directory.
    pub(crate) fn read_whole_file(&mut self, path: &str) -> Option<Vec<u8>> {
        if path.is_empty() || path.len() > MOST_PATH {
            return None;
        }
        let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{WORK}/{path}") };
        self.tree.work.add_look_ups(absolute.split('/').filter(|part| !part.is_empty()).count() as u64);
        let content = self.tree.file(&absolute)?.to_vec();
        self.tree.work.add_bytes(content.len() as u64);
        Some(content)
    }

    /// Lets so many nanoseconds pass: none where it is no number or less than 0, and no more than the clock has.
    pub(crate) fn sleep(&mut self, nanoseconds: f64) {
        let waited = nanoseconds as u64;
        self.clock.advance(waited);
        self.tree.work.add_sleep(waited, self.sleep_fuel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wasi::{WasiSetup, bare_tree};

    #[test]
    fn input_is_read_in_parts_and_files_by_their_paths() {
        let files = [("a/b.txt".to_owned(), b"content".to_vec())];
        let input = vec![7; MOST_READ + 1];
        let setup = WasiSetup { stdin: &input, files: &files, file_bytes: 1 << 20, ..WasiSetup::default() };
        let mut wasi = Wasi::new(&bare_tree().unwrap(), &setup).unwrap();
        let read = [wasi.read_input().len(), wasi.read_input().len(), wasi.read_input().len()];
        assert_eq!(read, [MOST_READ, 1, 0]);
        for (path, expected) in [
            ("a/b.txt", Some(&b"content"[..])),
            ("/work/a/../a/b.txt", Some(b"content")),
            ("b.txt", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(wasi.read_whole_file(path).as_deref(), expected, "{path}");
        }
        assert!(wasi.take_work() > 0);
    }

    #[test]
    fn a_sleep_that_is_no_time_costs_nothing() {
        let setup = WasiSetup { sleep_fuel: 10, ..WasiSetup::default() };
        let mut wasi = Wasi::new(&bare_tree().unwrap(), &setup).unwrap();
        for (nanoseconds, price) in [(f64::NAN, 0), (-1e9, 0), (2e9, 20)] {
            wasi.sleep(nanoseconds);
            assert_eq!(wasi.take_work(), price);
        }
        wasi.sleep(f64::INFINITY);
        assert!(wasi.take_work() > 1 << 30);
    }
}
