//! Content hashes: how records, images and files are named.

use serde::{Deserialize, Serialize};

/// A blake3 digest as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// All 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits: enough to name a thing to a person.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12.min(self.0.len())]
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The digest of a record's canonical JSON. Records hold no maps with unstable order, so equal records hash equally.
///
/// # Panics
/// Never for the records of this crate: they all serialise.
#[must_use]
pub fn content_hash<T: Serialize>(record: &T) -> Digest {
    Digest::of(&serde_json::to_vec(record).expect("records of veriplay-core serialise"))
}
