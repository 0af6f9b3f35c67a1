//! Reads untrusted archives into memory: plain files only, paths that stay inside, and no more than the caps. A link of a tar file to a
//! plain file of the same archive becomes a copy and counts as one; every other link is refused.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use flate2::read::GzDecoder;
use tar::EntryType;
use veriplay_core::{LayerError, PathError, check_path};

/// The most bytes of all members together.
const MAX_BYTES: u64 = 128 << 20;
const MAX_MEMBERS: usize = 20_000;

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveKind {
    /// `.tar.gz`, `.tgz`
    TarGz,
    /// `.zip`, `.whl`
    Zip,
}

impl ArchiveKind {
    /// The format by the ending of a file's name.
    pub fn from_name(name: &str) -> Option<Self> {
        let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        match () {
            () if ends(&[".tar.gz", ".tgz"]) => Some(ArchiveKind::TarGz),
            () if ends(&[".zip", ".whl"]) => Some(ArchiveKind::Zip),
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
    /// It is not a valid zip file.
    #[error("the zip file cannot be read: {0}")]
    Zip(zip::result::ZipError),
    /// A member has an invalid path.
    #[error("a member of the archive: {0}")]
    Path(PathError),
    /// A member is neither a plain file, nor a directory, nor a link to a plain file of the archive.
    #[error("member `{0}` is a {1}; only plain files, and links to such, are unpacked")]
    NoFile(String, &'static str),
    /// A name stands twice, which two programs may read in two ways.
    #[error("member `{0}` is there twice")]
    Twice(String),
    /// It exceeds a cap.
    #[error("the archive holds more than {0}")]
    TooLarge(&'static str),
    /// Not all files lie in one directory at the top.
    #[error("`{0}` is not in the one directory that a source distribution has at its top")]
    NoTop(String),
    /// The paths of the files clash.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

type Files = BTreeMap<String, Vec<u8>>;

/// Unpacks an archive.
///
/// # Errors
/// When a member is not a plain file with a valid path, or a cap is exceeded.
pub fn unpack(bytes: &[u8], archive: ArchiveKind) -> Result<Files, UnpackError> {
    match archive {
        ArchiveKind::TarGz => unpack_tar(bytes),
        ArchiveKind::Zip => unpack_zip(bytes),
    }
}

/// Removes the one directory at the top from the paths of `files`.
///
/// # Errors
/// When a file is not in that directory.
pub fn strip_top_folder(files: Files) -> Result<Files, UnpackError> {
    let top = files.keys().next().and_then(|path| path.split_once('/')).map(|(top, _)| format!("{top}/"));
    let strip = |(path, bytes): (String, Vec<u8>)| match top.as_ref().and_then(|top| path.strip_prefix(top)) {
        Some(rest) => Ok((rest.to_owned(), bytes)),
        None => Err(UnpackError::NoTop(path)),
    };
    files.into_iter().map(strip).collect()
}

/// The members unpacked so far, and what the caps leave.
struct Unpacker {
    files: Files,
    left: u64,
    members: usize,
}

impl Unpacker {
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

/// A member that links to another one.
struct Link {
    name: String,
    target: String,
    kind: &'static str,
}

fn unpack_tar(bytes: &[u8]) -> Result<Files, UnpackError> {
    let mut taken = Unpacker::new();
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
    let leads_out = target.starts_with('/')
        || target.split('/').any(|part| match part {
            "" | "." => false,
            ".." => parts.pop().is_none(),
            part => {
                parts.push(part);
                false
            }
        });
    match leads_out {
        true => Err(UnpackError::NoFile(name, kind)),
        false => Ok(Link { target: parts.join("/"), name, kind }),
    }
}

fn unpack_zip(bytes: &[u8]) -> Result<Files, UnpackError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(UnpackError::Zip)?;
    let mut taken = Unpacker::new();
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
