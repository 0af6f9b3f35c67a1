//! Files that many jobs share: named by content, given to a sandbox once, mounted read-only.
//!
//! A repository of hundreds of files is no part of each job that works on it: the job names the layers below its own files
//! by digest ([`Base`]), and the sandbox has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::path::{PathError, check_path};
use crate::{Digest, TextFiles, content_hash};

/// Files of a layer at most.
const MAX_FILES: usize = 20_000;
/// Bytes of all its files at most.
const MAX_BYTES: usize = 256 << 20;

/// An immutable set of files. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Layer {
    digest: Digest,
    files: Arc<BTreeMap<String, Arc<Vec<u8>>>>,
}

/// Why files do not make a layer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayerError {
    /// An invalid path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The same path twice.
    #[error("file `{0}` is given twice")]
    Twice(String),
    /// A file where a directory is needed.
    #[error("file `{0}` is also a directory of `{1}`")]
    Clash(String, String),
    /// More files or bytes than a layer may have.
    #[error("the layer has more than {allowed} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        allowed: usize,
    },
}

impl Layer {
    /// The layer of these files, whatever their order.
    ///
    /// # Errors
    /// When the paths make no tree, or there is too much.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, LayerError> {
        let (mut kept, mut bytes) = (BTreeMap::new(), 0_usize);
        for (path, content) in files {
            check_path(&path)?;
            bytes = bytes.saturating_add(content.len());
            if bytes > MAX_BYTES {
                return Err(LayerError::TooLarge { what: "bytes", allowed: MAX_BYTES });
            }
            if kept.len() == MAX_FILES {
                return Err(LayerError::TooLarge { what: "files", allowed: MAX_FILES });
            }
            if kept.insert(path.clone(), Arc::new(content)).is_some() {
                return Err(LayerError::Twice(path));
            }
        }
        match kept.keys().find_map(|path| file_above(path, |name| kept.contains_key(name)).map(|file| (file, path))) {
            Some((file, path)) => Err(LayerError::Clash(file.to_owned(), path.clone())),
            None => Ok(Self { digest: digest_of(&kept), files: Arc::new(kept) }),
        }
    }

    /// Names its content: paths and bytes.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Its files by their path.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Arc<Vec<u8>>> {
        &self.files
    }

    /// Those of its files that are text, as a patch takes them.
    #[must_use]
    pub fn texts(&self) -> TextFiles {
        let text = |bytes: &Arc<Vec<u8>>| String::from_utf8(bytes.as_ref().clone()).ok();
        self.files.iter().filter_map(|(path, bytes)| Some((path.clone(), text(bytes)?))).collect()
    }
}

/// The file that `is_file` knows of among the directories above `path`.
fn file_above(path: &str, is_file: impl Fn(&str) -> bool) -> Option<&str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).find(|above| is_file(above))
}

fn digest_of(files: &BTreeMap<String, Arc<Vec<u8>>>) -> Digest {
    let lines: Vec<(&String, Digest)> = files.iter().map(|(path, bytes)| (path, Digest::of(bytes))).collect();
    content_hash(&lines)
}

/// A layer on its way to another process. The digest is computed again there.
#[derive(Serialize, Deserialize)]
struct Stored(Vec<(String, Content)>);

/// Text is a third of the size it would have as numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Layer> for Stored {
    fn from(layer: Layer) -> Self {
        let content = |bytes: &Arc<Vec<u8>>| match String::from_utf8(bytes.as_ref().clone()) {
            Ok(text) => Content::Text(text),
            Err(error) => Content::Bytes(error.into_bytes()),
        };
        Self(layer.files.iter().map(|(path, bytes)| (path.clone(), content(bytes))).collect())
    }
}

impl TryFrom<Stored> for Layer {
    type Error = LayerError;

    fn try_from(stored: Stored) -> Result<Self, LayerError> {
        Self::new(stored.0.into_iter().map(|(path, content)| match content {
            Content::Text(text) => (path, text.into_bytes()),
            Content::Bytes(bytes) => (path, bytes),
        }))
    }
}

/// What lies below the files of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// From the lowest to the uppermost: a file of an upper one hides one of the same path below.
    pub layers: Vec<Mounted>,
    /// Paths in the working directory that the job does not see, though a layer has them: what a patch deletes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// A layer in its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mounted {
    /// Which one.
    pub layer: Digest,
    /// Where.
    pub at: LayerRoot,
}

/// Where a layer lies. The program may read it and not write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerRoot {
    /// The working directory, where the job's own files go too.
    Work,
    /// Beside the interpreter's library. The program adds the directory to its search path itself, if it wants it.
    Library,
    /// What a repository asks for besides: apart from the library, so that nothing in it can stand in for a file there.
    Dependencies,
}

impl LayerRoot {
    /// The directory as the guest names it.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            LayerRoot::Work => "/work",
            LayerRoot::Library => "/opt/lib",
            LayerRoot::Dependencies => "/opt/dependencies",
        }
    }
}
