//! Libraries of an image beside the interpreter's: wheels of pure Python, whose modules are compiled into the snapshot.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::ImageError;
use super::spec::LibrarySpec;
use super::wheel::{self, WheelSource};

/// The module of the guest that keeps them.
pub(super) const MODULE: &str = "_veriplay_libraries";
/// The most bytes of the sources of one wheel.
const MAX_SOURCE: u64 = 16 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LibraryModule {
    /// Its full name, such as `sortedcontainers.sortedlist`; of a script of an image of JavaScript its path.
    pub(super) name: String,
    pub(super) is_package: bool,
    pub(super) source: String,
}

/// The modules of all `libraries`: from their files, from copies beside a local wheel of the interpreter or in the directory `kept`, or by pip,
/// which leaves a copy in `kept`. Fails when a wheel cannot be had, is not the pinned one, or is not of pure Python.
pub(super) fn fetch_libraries(
    libraries: &[LibrarySpec],
    interpreter: &WheelSource,
    kept: &Path,
) -> Result<Vec<LibraryModule>, ImageError> {
    let mut modules = Vec::new();
    for library in libraries {
        let copy = || interpreter.directory().into_iter().chain([kept]).find_map(|place| find_copy(place, library));
        modules.extend(match library.file.clone().or_else(copy) {
            Some(path) => open_library(library, &path)?,
            None => download(library, kept)?,
        });
    }
    Ok(modules)
}

/// Reads the wheel that pip brings, and keeps it.
fn download(library: &LibrarySpec, kept: &Path) -> Result<Vec<LibraryModule>, ImageError> {
    let scratch =
        tempfile::tempdir().map_err(super::cache::cache_error(&std::env::temp_dir(), "make a directory in it"))?;
    let path = wheel::pip_download(&library.requirement, scratch.path())?;
    let modules = open_library(library, &path)?;
    wheel::keep_copy(&path, kept);
    Ok(modules)
}

/// The file in `directory` that is this wheel, by its digest.
fn find_copy(directory: &Path, library: &LibrarySpec) -> Option<PathBuf> {
    let name = library.requirement.split("==").next()?;
    let entries = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    let mut wheels = entries.filter(|path| {
        let file = path.file_name().map(std::ffi::OsStr::to_string_lossy).unwrap_or_default();
        file.starts_with(name) && file.ends_with(".whl")
    });
    wheels.find(|path| wheel::read_pinned(path, &library.sha256).is_ok())
}

fn open_library(library: &LibrarySpec, path: &Path) -> Result<Vec<LibraryModule>, ImageError> {
    let bad = |detail: String| ImageError::BadWheel { path: path.to_owned(), detail };
    let mut archive = wheel::open_zip(path, &library.sha256.to_ascii_lowercase())?;
    let (mut modules, mut left) = (Vec::new(), MAX_SOURCE);
    for index in 0..archive.len() {
        let unreadable = |error: zip::result::ZipError| bad(format!("member {index}: {error}"));
        let member = archive.by_index(index).map_err(unreadable)?;
        let name = member.name().map_err(unreadable)?.into_owned();
        if [".so", ".pyd", ".dylib"].iter().any(|end| name.ends_with(end)) {
            return Err(bad(format!("member `{name}` is compiled: only wheels of pure Python can be added")));
        }
        let Some((module, is_package)) = module_name(&name) else { continue };
        let mut source = String::new();
        let read = member.take(left).read_to_string(&mut source);
        let read = read.map_err(|error| bad(format!("member `{name}`: {error}")))? as u64;
        left -= read;
        if left == 0 {
            return Err(bad(format!("its sources are larger than {} MiB", MAX_SOURCE >> 20)));
        }
        modules.push(LibraryModule { name: module, is_package, source });
    }
    if modules.is_empty() {
        return Err(bad("it has no Python module".to_owned()));
    }
    Ok(modules)
}

/// The module that is a member of a wheel, and whether it is a package.
fn module_name(member: &str) -> Option<(String, bool)> {
    let path = member.strip_suffix(".py")?;
    let (path, is_package) = match path.strip_suffix("/__init__") {
        Some(package) => (package, true),
        None => (path, false),
    };
    let name = path.replace('/', ".");
    super::own::is_module(&name).then_some((name, is_package))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(members: &[(&str, &str)]) -> Result<Vec<LibraryModule>, ImageError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some-1.0-py3-none-any.whl");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, text) in members {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let sha256 = wheel::to_hex(&<sha2::Sha256 as sha2::Digest>::digest(std::fs::read(&path).unwrap()));
        let library = LibrarySpec { requirement: "some==1.0".to_owned(), file: None, sha256: sha256.to_uppercase() };
        let found = open_library(&library, &path);
        let pinned = LibrarySpec { sha256: sha256.clone(), ..library };
        assert_eq!(find_copy(directory.path(), &pinned), Some(path));
        assert_eq!(find_copy(directory.path(), &LibrarySpec { sha256: "0".repeat(64), ..pinned }), None);
        found
    }

    #[test]
    fn the_modules_of_a_wheel_have_their_full_names() {
        let members = [
            ("some/__init__.py", "a = 1"),
            ("some/part.py", ""),
            ("some-1.0.dist-info/RECORD", ""),
            ("some/x-y.py", ""),
        ];
        let found = open(&members).unwrap();
        let module = |name: &str, is_package, source: &str| LibraryModule {
            name: name.to_owned(),
            is_package,
            source: source.to_owned(),
        };
        assert_eq!(found, [module("some", true, "a = 1"), module("some.part", false, "")]);
    }

    #[test]
    fn a_wheel_with_compiled_code_or_without_modules_is_refused() {
        let error = open(&[("some/__init__.py", ""), ("some/fast.cpython-313-x86_64-linux-gnu.so", "")]).unwrap_err();
        assert!(error.to_string().contains("only wheels of pure Python"), "{error}");
        let error = open(&[("some-1.0.dist-info/RECORD", "")]).unwrap_err();
        assert!(error.to_string().contains("no Python module"), "{error}");
    }
}
