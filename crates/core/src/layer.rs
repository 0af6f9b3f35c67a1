//! Layers: files that many jobs share. A sandbox is given a layer once, and mounts it read-only.
//!
//! A job on a repository of hundreds of files does not carry them: it names the layers below its own files by digest
//! ([`LayerStack`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::path::{PathError, check_path};
use crate::{Digest, TextFiles, content_hash};

/// The most files a layer may have.
const MAX_FILES: usize = 20_000;
/// The most bytes its files may have together.
const MAX_BYTES: usize = 256 << 20;

/// An immutable set of files. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedLayer", into = "SerializedLayer")]
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
    #[error("the layer has more than {0} {1}")]
    TooLarge(usize, &'static str),
}

impl Layer {
    /// Makes a layer of these files, in any order. Their paths are valid and do not clash.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, LayerError> {
        let (mut kept, mut bytes) = (BTreeMap::new(), 0_usize);
        for (path, content) in files {
            check_path(&path)?;
            bytes = bytes.saturating_add(content.len());
            if bytes > MAX_BYTES {
                return Err(LayerError::TooLarge(MAX_BYTES, "bytes"));
            }
            if kept.len() == MAX_FILES {
                return Err(LayerError::TooLarge(MAX_FILES, "files"));
            }
            if kept.insert(path.clone(), Arc::new(content)).is_some() {
                return Err(LayerError::Twice(path));
            }
        }
        for path in kept.keys() {
            let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
            if let Some(file) = above.find(|above| kept.contains_key(*above)) {
                return Err(LayerError::Clash(file.to_owned(), path.clone()));
            }
        }
        let lines: Vec<(&String, Digest)> = kept.iter().map(|(path, bytes)| (path, Digest::of(bytes))).collect();
        Ok(Self { digest: content_hash(&lines), files: Arc::new(kept) })
    }

    /// The digest of its content: paths and bytes.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Its files by their path.
    pub fn files(&self) -> &BTreeMap<String, Arc<Vec<u8>>> {
        &self.files
    }

    /// Its text files, in the form that a patch applies to.
    pub fn texts(&self) -> TextFiles {
        let text = |bytes: &Arc<Vec<u8>>| String::from_utf8(bytes.as_ref().clone()).ok();
        self.files.iter().filter_map(|(path, bytes)| Some((path.clone(), text(bytes)?))).collect()
    }

    /// The paths of its other files, which are not UTF-8.
    pub fn binaries(&self) -> BTreeSet<String> {
        let is_binary = |bytes: &Vec<u8>| std::str::from_utf8(bytes).is_err();
        self.files.iter().filter(|(_, bytes)| is_binary(bytes)).map(|(path, _)| path.clone()).collect()
    }
}

/// The serialized form of a [`Layer`]. The reader computes the digest again.
#[derive(Serialize, Deserialize)]
struct SerializedLayer(Vec<(String, FileContent)>);

/// A file's content. UTF-8 as text takes a third of the JSON that numbers would.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileContent {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Layer> for SerializedLayer {
    fn from(layer: Layer) -> Self {
        let content = |bytes: &Arc<Vec<u8>>| match String::from_utf8(bytes.as_ref().clone()) {
            Ok(text) => FileContent::Text(text),
            Err(error) => FileContent::Bytes(error.into_bytes()),
        };
        Self(layer.files.iter().map(|(path, bytes)| (path.clone(), content(bytes))).collect())
    }
}

impl TryFrom<SerializedLayer> for Layer {
    type Error = LayerError;

    fn try_from(stored: SerializedLayer) -> Result<Self, LayerError> {
        Self::new(stored.0.into_iter().map(|(path, content)| match content {
            FileContent::Text(text) => (path, text.into_bytes()),
            FileContent::Bytes(bytes) => (path, bytes),
        }))
    }
}

/// The layers below the files of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerStack {
    /// From the lowest to the uppermost. A file of an upper layer hides one of the same path below it.
    pub layers: Vec<LayerMount>,
    /// Paths of the working directory that a layer has and the job does not see, such as files that a patch deletes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

/// A layer, and where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerMount {
    /// The layer's digest.
    pub layer: Digest,
    /// Where it is mounted.
    pub at: LayerRoot,
}

/// Where a layer is mounted, read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerRoot {
    /// The working directory, where the job's own files go too.
    Work,
    /// A directory next to the interpreter's library. A program that wants it on its search path adds it.
    Library,
    /// A repository's dependencies, apart from the library: no dependency can shadow a file there.
    Dependencies,
}

impl LayerRoot {
    /// The directory as the guest names it.
    pub const fn path(self) -> &'static str {
        match self {
            LayerRoot::Work => "/work",
            LayerRoot::Library => "/opt/lib",
            LayerRoot::Dependencies => "/opt/dependencies",
        }
    }
}
