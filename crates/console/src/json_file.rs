//! Files, above all of JSON: read with the path in every error, written so that readers see the old file or the whole new one. Outputs are
//! checked before the work whose result they are to hold: [`output_file`] for those that are replaced, [`check_writable`] for those that are
//! written through, pipes among them, [`check_new_file`] for those that must not be there yet, and [`check_replaceable`] for those that replace
//! only what this program wrote. No read is without a bound: a device has no end.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::exit::{ExitCode, Failure, ResultExt};

/// The largest file that is read whole, in MiB: far more than a configuration, a list or the sources of a package take.
pub const MOST_WHOLE_MIB: u64 = 1024;

/// Reads a file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    or_fail_at(path, "read", read_whole(path))
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    or_fail_at(path, "read", read_whole_text(path))
}

/// Reads a text file, for callers with an error of their own.
pub fn read_whole_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read_whole(path)?).map_err(not_text)
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::other(format!("it has more than {MOST_WHOLE_MIB} MiB, which are read at most"));
    read_at_most(fs::File::open(path)?, MOST_WHOLE_MIB << 20)?.ok_or_else(too_large)
}

/// Reads `source` to its end, or gives `None` where it has more than `most` bytes.
pub fn read_at_most(source: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((read as u64 <= most).then_some(bytes))
}

/// Reads a JSON file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let bytes = read_bytes(path)?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("`{}` is damaged or of another version", path.display()))
        .or_fail(ExitCode::Input)
}

/// Writes a value on one line.
pub fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    write_atomically(path, &serde_json::to_vec(value)?)
}

/// Writes a value over several lines, for people.
pub fn write_pretty_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    write_atomically(path, (serde_json::to_string_pretty(value)? + "\n").as_bytes())
}

/// Writes a file that is not there yet: one that is may have been edited since.
pub fn write_new_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    or_fail_at(path, WRITE_NEW, written)
}

/// Writes through to what `path` is, which may be a pipe.
pub fn write_through(path: &Path, text: &str) -> Result<(), Failure> {
    or_fail_at(path, "write", fs::write(path, text))
}

/// Writes a file under another name, syncs it, and renames it to `path`, or to what `path` is a symlink to.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        let target = resolve(path)?;
        // With the rights of any new file.
        let anybody = fs::Permissions::from_mode(0o666);
        let folder = folder(&target);
        let mut file = tempfile::Builder::new()
            .prefix(".veriplay-")
            .permissions(anybody)
            .tempfile_in(folder)
            .map_err(|error| unnamed(folder, &error))?;
        file.as_file_mut().write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&target).map(drop).map_err(|error| error.error)
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}

/// The regular file that an output becomes or replaces. Its folder must take new files.
pub fn output_file(path: &Path) -> Result<PathBuf, Failure> {
    let checked = resolve(path).and_then(|target| check_folder(&target).map(|()| target));
    let hint = "name a regular file, or a new one in a folder that you can write to";
    or_fail_at(path, "write", checked).map_err(|failure| failure.hint(hint))
}

/// Checks that [`write_through`] can write to `path`, and changes nothing: a file is opened, and the folder of a new one takes new files.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    or_fail_at(path, "write", open_to_append(path))
}

/// Checks that [`write_new_file`] can write `path`, and changes nothing.
pub fn check_new_file(path: &Path) -> Result<(), Failure> {
    let checked = match path.symlink_metadata() {
        Ok(_) => Err(io::Error::other("it is there already, and may have been edited since")),
        Err(_) => check_folder(path),
    };
    or_fail_at(path, WRITE_NEW, checked)
}

/// Bytes from the beginning of a file that say what it is.
const FIRST_BYTES: u64 = 64 << 10;

/// Refuses to overwrite a file that is nothing of ours: a mistyped name may be that of a program. An empty one is no loss.
pub fn check_replaceable(path: &Path, what: &str, is_ours: fn(&str) -> bool) -> Result<(), Failure> {
    if !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(FIRST_BYTES).read_to_end(&mut start));
    or_fail_at(path, "read", read)?;
    let start = String::from_utf8_lossy(&start);
    if start.is_empty() || is_ours(&start) {
        return Ok(());
    }
    let what = format!("`{}` is there already, and it is no {what} of Veriplay", path.display());
    Err(Failure::message(ExitCode::Input, what).hint("name another file, or remove this one"))
}

fn open_to_append(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => fs::File::options().append(true).open(path).map(drop),
        // The reader of a pipe would notice.
        Ok(_) => Ok(()),
        Err(_) => check_folder(path),
    }
}

/// Checks that the folder of `path` takes new files, by making one that nobody sees.
fn check_folder(path: &Path) -> io::Result<()> {
    let folder = folder(path);
    tempfile::tempfile_in(folder).map(drop).map_err(|error| unnamed(folder, &error))
}

/// The error of a temporary file in `folder` without the file's name, which is nothing that the caller knows.
fn unnamed(folder: &Path, error: &io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::NotFound => io::Error::other(format!("there is no directory `{}`", folder.display())),
        ErrorKind::NotADirectory => io::Error::other(format!("`{}` is not a directory", folder.display())),
        kind => kind.into(),
    }
}

/// What cannot be done where a new file cannot be written.
const WRITE_NEW: &str = "write the new file";

fn or_fail_at<T>(path: &Path, action: &str, result: io::Result<T>) -> Result<T, Failure> {
    result.with_context(|| format!("cannot {action} `{}`", path.display())).or_fail(ExitCode::Input)
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `path` is there and no regular file, or one of the streams of this process. A stream may be a regular file by a redirection,
/// which would then be written at two positions.
pub fn is_special(path: &Path) -> bool {
    let streams = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    streams.iter().any(|start| path.starts_with(start)) || fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Where a rename to `path` must go. It would replace a device, a pipe or a symlink by a regular file: a symlink is followed, and the others
/// are refused.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    if is_special(path) {
        return Err(io::Error::other("it is no regular file, and this output replaces the whole file"));
    }
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => match path.symlink_metadata() {
            Ok(_) => Err(io::Error::other("it is a symlink to a file that is not there")),
            Err(_) => Ok(path.to_owned()),
        },
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_read_ends_at_its_bound() {
        assert_eq!(read_at_most(&b"abc"[..], 3).expect("it is read"), Some(b"abc".to_vec()));
        assert_eq!(read_at_most(&b"abcd"[..], 3).expect("it is read"), None);
        assert_eq!(read_at_most(io::repeat(0), 1 << 10).expect("it is read"), None, "it has no end");
    }

    #[test]
    fn an_output_replaces_regular_files_alone_and_follows_symlinks() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        fs::write(path("old"), "old").expect("it is written");
        symlink("old", path("link")).expect("a link");
        symlink("nothing", path("dangling")).expect("a link");
        write_atomically(&path("link"), b"new").expect("it is written");
        assert_eq!(fs::read(path("old")).expect("it is there"), b"new");
        assert!(path("link").symlink_metadata().expect("it is there").is_symlink());
        write_atomically(&path("fresh"), b"new").expect("it is written");
        let refused = [path("dangling"), dir.path().to_owned(), "/dev/null".into(), "/dev/stdout".into()];
        for refused in refused {
            assert!(write_atomically(&refused, b"new").is_err(), "{}", refused.display());
            let failure = output_file(&refused).expect_err("it is refused");
            assert_eq!(failure.exit_code(), ExitCode::Input);
            assert!(failure.to_string().contains("\nhint: "), "{failure}");
        }
        // The name of the temporary file is not told.
        let (file, folder) = (path("nowhere/new"), path("nowhere"));
        let want = format!("cannot write `{}`: there is no directory `{}`", file.display(), folder.display());
        assert_eq!(output_file(&file).expect_err("there is no folder").reason(), want);
        assert_eq!(format!("{:#}", write_atomically(&file, b"new").expect_err("there is no folder")), want);
        assert_eq!(output_file(&path("newer")).expect("it can be written"), path("newer"));
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 4, "nothing is left of a check");
    }

    #[test]
    fn a_check_leaves_a_file_as_it_is_and_refuses_what_cannot_be_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        fs::write(path("old"), "mine").expect("it is written");
        assert!(check_writable(&path("old")).is_ok() && check_writable(&path("new")).is_ok());
        assert!(check_writable("/dev/null".as_ref()).is_ok(), "it is written through");
        assert!(check_new_file(&path("new")).is_ok() && check_new_file(&path("old")).is_err());
        assert!(check_new_file(&path("nowhere/new")).is_err());
        for refused in [path("nowhere/new"), dir.path().to_owned()] {
            let failure = check_writable(&refused).expect_err("it is refused");
            let named = failure.to_string().contains(&format!("cannot write `{}`", refused.display()));
            assert!(named && failure.exit_code() == ExitCode::Input, "{failure}");
        }
        assert_eq!(fs::read_to_string(path("old")).expect("it is there"), "mine");
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 1);
    }
}
