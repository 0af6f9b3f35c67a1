//! Archives from elsewhere, read into memory: plain files only, no path that leads out, no more than the caps. A link of a tar
//! file to a plain file of the same archive is a copy of it, and counts as one; every other link is refused.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use flate2::read::GzDecoder;
use tar::EntryType;
use veriplay_core::{LayerError, PathError, check_path};

/// Bytes of all members together.
const MAX_BYTES: u64 = 128 << 20;
/// Members.
const MAX_MEMBERS: usize = 20_000;

/// The form of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archive {
    /// `.tar.gz`, `.tgz`
    TarGz,
    /// `.zip`, `.whl`
    Zip,
}

impl Archive {
    /// By the name of the file.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        match () {
            () if ends(&[".tar.gz", ".tgz"]) => Some(Archive::TarGz),
            () if ends(&[".zip", ".whl"]) => Some(Archive::Zip),
            () => None,
        }
    }
}

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It cannot be read.
    #[error("the archive cannot be read: {0}")]
    Read(std::io::Error),
    /// It is no zip file, or a damaged one.
    #[error("the zip file cannot be read: {0}")]
    Zip(zip::result::ZipError),
    /// A member's name.
    #[error("a member of the archive: {0}")]
    Path(PathError),
    /// A link that leads elsewhere than to a file of the archive, a device, or what else is no plain file.
    #[error("member `{0}` is a {1}; only plain files, and links to such, are unpacked")]
    NoFile(String, &'static str),
    /// The same name twice, which two programs would read in two ways.
    #[error("member `{0}` is there twice")]
    Twice(String),
    /// More than the caps.
    #[error("the archive holds more than {0}")]
    TooLarge(&'static str),
    /// Not one directory at the top.
    #[error("`{0}` is not in the one directory that a source distribution has at its top")]
    NoTop(String),
    /// Files that make no tree.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

/// Files by their path.
type Files = BTreeMap<String, Vec<u8>>;

/// The files of an archive.
///
/// # Errors
/// When a member is no plain file of a plain name, or there is too much: nothing is unpacked then.
pub fn unpack(bytes: &[u8], archive: Archive) -> Result<Files, UnpackError> {
    match archive {
        Archive::TarGz => unpack_tar(bytes),
        Archive::Zip => unpack_zip(bytes),
    }
}

/// `files` without the directory at the top, which all of them are in.
///
/// # Errors
/// When they are not.
pub fn strip_top(files: Files) -> Result<Files, UnpackError> {
    let top = files.keys().next().and_then(|path| path.split_once('/')).map(|(top, _)| format!("{top}/"));
    let strip = |(path, bytes): (String, Vec<u8>)| match top.as_ref().and_then(|top| path.strip_prefix(top)) {
        Some(rest) => Ok((rest.to_owned(), bytes)),
        None => Err(UnpackError::NoTop(path)),
    };
    files.into_iter().map(strip).collect()
}

/// What has been taken so far, within the caps.
struct Taken {
    files: Files,
    left: u64,
    members: usize,
}

impl Taken {
    fn new() -> Self {
        Self { files: Files::new(), left: MAX_BYTES, members: 0 }
    }

    fn count(&mut self) -> Result<(), UnpackError> {
        self.members += 1;
        if self.members > MAX_MEMBERS { Err(UnpackError::TooLarge("20000 members")) } else { Ok(()) }
    }

    /// Reads one file. The size that an archive declares is not trusted.
    fn file(&mut self, path: &str, content: impl Read) -> Result<(), UnpackError> {
        let path = path.strip_prefix("./").unwrap_or(path);
        check_path(path).map_err(UnpackError::Path)?;
        let mut bytes = Vec::new();
        let size = content.take(self.left + 1).read_to_end(&mut bytes).map_err(UnpackError::Read)? as u64;
        self.left = self.left.checked_sub(size).ok_or(UnpackError::TooLarge("128 MiB"))?;
        match self.files.insert(path.to_owned(), bytes) {
            Some(_) => Err(UnpackError::Twice(path.to_owned())),
            None => Ok(()),
        }
    }

    /// Reads the file that a link names. A link to a link, a directory or nothing is refused.
    fn copy(&mut self, link: Link) -> Result<(), UnpackError> {
        match self.files.get(&link.target).cloned() {
            Some(bytes) => self.file(&link.name, bytes.as_slice()),
            None => Err(UnpackError::NoFile(link.name, link.kind)),
        }
    }
}

/// A member that is another one by another name.
struct Link {
    name: String,
    target: String,
    kind: &'static str,
}

fn unpack_tar(bytes: &[u8]) -> Result<Files, UnpackError> {
    let mut taken = Taken::new();
    let mut links = Vec::new();
    // Headers, padding and names count as well: the bytes read from the stream are bounded, whatever the members declare.
    let stream = GzDecoder::new(bytes).take(2 * MAX_BYTES);
    for entry in tar::Archive::new(stream).entries().map_err(UnpackError::Read)? {
        let entry = entry.map_err(UnpackError::Read)?;
        taken.count()?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Regular | EntryType::Continuous => taken.file(&name, entry)?,
            EntryType::Directory | EntryType::XGlobalHeader => {}
            EntryType::Symlink | EntryType::Link => {
                let target = entry.link_name_bytes().unwrap_or_default();
                links.push(link(name, &String::from_utf8_lossy(&target), kind == EntryType::Symlink)?);
            }
            _ => return Err(UnpackError::NoFile(name, "special file")),
        }
    }
    links.into_iter().try_for_each(|link| taken.copy(link))?;
    Ok(taken.files)
}

/// A symbolic link starts in its own directory, a hard one at the root of the archive.
fn link(name: String, target: &str, is_symbolic: bool) -> Result<Link, UnpackError> {
    let kind = if is_symbolic { "symbolic link" } else { "hard link" };
    let mut parts: Vec<&str> = match name.trim_start_matches("./").rsplit_once('/') {
        Some((directory, _)) if is_symbolic => directory.split('/').collect(),
        _ => Vec::new(),
    };
    let led_out = target.starts_with('/')
        || target.split('/').any(|part| match part {
            "" | "." => false,
            ".." => parts.pop().is_none(),
            part => {
                parts.push(part);
                false
            }
        });
    match led_out {
        true => Err(UnpackError::NoFile(name, kind)),
        false => Ok(Link { target: parts.join("/"), name, kind }),
    }
}

fn unpack_zip(bytes: &[u8]) -> Result<Files, UnpackError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(UnpackError::Zip)?;
    let mut taken = Taken::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(UnpackError::Zip)?;
        taken.count()?;
        let name = member.name().map_err(UnpackError::Zip)?.into_owned();
        if member.is_symlink() {
            return Err(UnpackError::NoFile(name, "symbolic link"));
        }
        if !member.is_dir() {
            taken.file(&name, member)?;
        }
    }
    Ok(taken.files)
}
