//! Fetches the package of npm's that a guest or its scripts come from, checks its digest, and extracts them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use super::ImageError;
use super::cache::cache_error;
use super::library::LibraryModule;
use super::spec::PackageSpec;
use super::wheel::{self, GuestWheel, MAX_MEMBER, WheelSource};

/// The local file that is the package, unless npm downloads it: the one that is given, or a copy beside a local wheel or in the directory `kept`.
pub(super) fn local_file(spec: &PackageSpec, source: &WheelSource, kept: &Path) -> Option<PathBuf> {
    if let WheelSource::Given(path) = source { Some(path.clone()) } else { find_copy(spec, source, kept) }
}

/// A copy of the package beside a local wheel or in the directory `kept`.
fn find_copy(spec: &PackageSpec, source: &WheelSource, kept: &Path) -> Option<PathBuf> {
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
    Ok(GuestWheel { wasm: read_member(spec, path, &spec.member)?, library: Vec::new() })
}

/// The scripts of a package, by their paths in its folder: of a copy beside a local wheel or in the directory `kept`, or of what npm brings, which
/// leaves a copy in `kept`.
pub(super) fn fetch_scripts(
    spec: &PackageSpec,
    source: &WheelSource,
    kept: &Path,
) -> Result<Vec<LibraryModule>, ImageError> {
    if let Some(path) = find_copy(spec, source, kept) {
        return read_scripts(spec, &path);
    }
    let scratch = tempfile::tempdir().map_err(cache_error(&std::env::temp_dir(), "make a directory in it"))?;
    let path = npm_pack("npm", spec, scratch.path())?;
    let scripts = read_scripts(spec, &path)?;
    wheel::keep_copy(&path, kept);
    Ok(scripts)
}

fn read_scripts(spec: &PackageSpec, path: &Path) -> Result<Vec<LibraryModule>, ImageError> {
    let is_script = |name: &str| name.starts_with(&spec.member) && name.ends_with(".js");
    let scripts = read_members(spec, path, is_script)?.into_iter().map(|(name, content)| {
        let source = String::from_utf8(content);
        let source = source.map_err(|error| bad_package(path, format!("member `{name}`: {error}")))?;
        Ok(LibraryModule { name: name[spec.member.len()..].to_owned(), is_package: false, source })
    });
    scripts.collect()
}

/// A member of the package at `path`, which is the pinned one.
pub(super) fn read_member(spec: &PackageSpec, path: &Path, name: &str) -> Result<Vec<u8>, ImageError> {
    let found = read_members(spec, path, |member| member == name)?.pop();
    found.map(|(_, content)| content).ok_or_else(|| bad_package(path, format!("no member `{name}`")))
}

fn bad_package(path: &Path, detail: String) -> ImageError {
    ImageError::BadWheel { path: path.to_owned(), detail }
}

fn read_members(
    spec: &PackageSpec,
    path: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Vec<u8>)>, ImageError> {
    let unreadable = |error: std::io::Error| bad_package(path, format!("not a compressed tar file: {error}"));
    let bytes = wheel::read_pinned(path, &spec.sha256)?;
    let (mut archive, mut found) = (tar::Archive::new(GzDecoder::new(bytes.as_slice())), Vec::new());
    for entry in archive.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if is_wanted(&name) {
            let mut content = Vec::new();
            // A member that is cut here is of no use.
            entry.take(MAX_MEMBER).read_to_end(&mut content).map_err(unreadable)?;
            found.push((name, content));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::image::ImageSpec;
    use crate::image::spec::GuestSource;

    fn spec() -> PackageSpec {
        let image = ImageSpec::builtin("javascript").unwrap();
        let GuestSource::Package(package) = image.runtime().source() else { panic!("another source") };
        package.clone()
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
        let (spec, path) = package(directory.path(), &spec().member);
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
    fn scripts_are_those_of_the_folder_and_of_a_copy_beside_the_package_that_is_given() {
        let directory = tempfile::tempdir().unwrap();
        let (mut spec, _) = package(directory.path(), "package/dist/a/b.js");
        let given = WheelSource::Given(directory.path().join("own.tgz"));
        spec.member = "package/dist/".to_owned();
        let found = fetch_scripts(&spec, &given, Path::new("/nowhere")).unwrap();
        let script = LibraryModule { name: "a/b.js".to_owned(), is_package: false, source: "module".to_owned() };
        assert_eq!(found, [script]);
        spec.member = "package/other/".to_owned();
        assert!(fetch_scripts(&spec, &given, Path::new("/nowhere")).unwrap().is_empty());
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
