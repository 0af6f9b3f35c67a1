//! Fetches the package of npm's that a guest comes from, checks its digest, and extracts the module.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use super::ImageError;
use super::spec::PackageSpec;
use super::wheel::{self, GuestWheel, MAX_MEMBER, WheelSource};

/// The local file that is the package, unless npm downloads it: the one that is given, or a copy beside a local wheel or in the directory `kept`.
pub(super) fn local_file(spec: &PackageSpec, source: &WheelSource, kept: &Path) -> Option<PathBuf> {
    if let WheelSource::Given(path) = source {
        return Some(path.clone());
    }
    let mut copies = source.directory().into_iter().chain([kept]).map(|directory| directory.join(spec.file_name()));
    copies.find(|path| wheel::read_pinned(path, &spec.sha256).is_ok())
}

/// The file of the package inside `scratch`, from the registry for which `npm` is configured.
pub(super) fn npm_pack(npm: &str, spec: &PackageSpec, scratch: &Path) -> Result<PathBuf, ImageError> {
    let package = format!("{}@{}", spec.npm, spec.version);
    let command = format!("{npm} pack {package}");
    let output = Command::new(npm)
        .args(["pack", "--silent", "--ignore-scripts", &package])
        .current_dir(scratch)
        .output()
        .map_err(|cause| ImageError::NpmMissing { command: command.clone(), cause })?;
    let path = scratch.join(spec.file_name());
    if output.status.success() && path.is_file() {
        return Ok(path);
    }
    Err(ImageError::NpmFailed { command, detail: wheel::tail(&output.stderr) })
}

pub(super) fn open_package(spec: &PackageSpec, path: &Path) -> Result<GuestWheel, ImageError> {
    Ok(GuestWheel { wasm: read_member(spec, path, &spec.wasm)?, library: Vec::new() })
}

/// A member of the package at `path`, which is the pinned one.
pub(super) fn read_member(spec: &PackageSpec, path: &Path, name: &str) -> Result<Vec<u8>, ImageError> {
    let bad = |detail: String| ImageError::BadWheel { path: path.to_owned(), detail };
    let unreadable = |error: std::io::Error| bad(format!("not a compressed tar file: {error}"));
    let bytes = wheel::read_pinned(path, &spec.sha256)?;
    let mut archive = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
    for entry in archive.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if *entry.path_bytes() == *name.as_bytes() {
            let mut content = Vec::new();
            // A member that is cut here is of no use.
            entry.take(MAX_MEMBER).read_to_end(&mut content).map_err(unreadable)?;
            return Ok(content);
        }
    }
    Err(bad(format!("no member `{name}`")))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::image::ImageSpec;
    use crate::image::spec::Runtime;

    fn spec() -> PackageSpec {
        let image = ImageSpec::builtin("javascript").unwrap();
        let Runtime::JavaScript(javascript) = image.runtime() else { panic!("another runtime") };
        javascript.package.clone()
    }

    /// A package with one member, in its place in `directory`, and its description.
    fn package(directory: &Path, member: &str) -> (PackageSpec, PathBuf) {
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default()));
        let mut header = tar::Header::new_ustar();
        header.set_size(6);
        header.set_cksum();
        builder.append_data(&mut header, member, &b"module"[..]).unwrap();
        let bytes = builder.into_inner().unwrap().finish().unwrap();
        let spec = PackageSpec { sha256: wheel::to_hex(&Sha256::digest(&bytes)), ..spec() };
        let path = directory.join(spec.file_name());
        std::fs::write(&path, bytes).unwrap();
        (spec, path)
    }

    #[test]
    fn a_package_beside_a_local_wheel_is_read_and_another_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (spec, path) = package(directory.path(), &spec().wasm);
        let source = WheelSource::Environment(directory.path().join("some.whl"));
        assert_eq!(local_file(&spec, &source, Path::new("/nowhere")), Some(path.clone()));
        assert_eq!(local_file(&spec, &WheelSource::Manifest, directory.path()), Some(path.clone()));
        assert_eq!(open_package(&spec, &path).unwrap().wasm, b"module");
        let other = PackageSpec { sha256: "0".repeat(64), ..spec.clone() };
        assert_eq!(local_file(&other, &source, directory.path()), None);
        assert!(matches!(open_package(&other, &path), Err(ImageError::WrongDigest { .. })));
        let given = WheelSource::Given(directory.path().join("own.tgz"));
        assert_eq!(local_file(&spec, &given, directory.path()), Some(directory.path().join("own.tgz")));
    }

    #[test]
    fn a_package_without_the_module_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (spec, path) = package(directory.path(), "package/other.wasm");
        let Err(error) = open_package(&spec, &path) else { panic!("it was opened") };
        assert!(error.to_string().contains("no member `package/quickjs.wasm`"), "{error}");
    }

    #[test]
    fn without_npm_an_error_says_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        for (npm, is_missing) in [("/nonexistent/npm", true), ("false", false)] {
            let error = npm_pack(npm, &spec(), directory.path()).unwrap_err();
            assert_eq!(matches!(error, ImageError::NpmMissing { .. }), is_missing, "{error}");
            assert!(error.to_string().contains(&format!("{npm} pack quickjs-wasi@")), "{error}");
            assert!(error.hint().unwrap().contains("VERIPLAY_WHEEL"));
        }
    }
}
