//! Content hashes name records, images and files. Derived seeds make every draw a function of a seed and its purpose.

use std::io::BufWriter;

use serde::{Deserialize, Serialize};

/// A blake3 digest as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

impl Digest {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// All 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, for messages.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }

    /// The digest as four words, the first digits first. Seeds of random generators are derived from them.
    pub fn words(&self) -> [u64; 4] {
        std::array::from_fn(|index| {
            let digits = &self.0[index * 16..(index + 1) * 16];
            u64::from_str_radix(digits, 16).expect("a digest is hexadecimal")
        })
    }

    /// The digest as a number in [0, 1), with 53 bits: the precision of an `f64`.
    pub fn fraction(&self) -> f64 {
        (self.words()[0] >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: expected 64 lower-case hexadecimal digits")]
pub struct DigestError(String);

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, DigestError> {
        let hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match hexadecimal && text.len() == 64 {
            true => Ok(Self(text)),
            false => Err(DigestError(text.chars().take(80).collect())),
        }
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hashes a record's canonical JSON. No record holds a map of unstable order, so equal records hash equally. It panics for a record that does not
/// serialise; those of this crate do.
pub fn content_hash<T: Serialize>(record: &T) -> Digest {
    // A record may have large values, whose text is not kept. The hasher takes longer for many short parts.
    let mut text = BufWriter::with_capacity(16 << 10, blake3::Hasher::new());
    serde_json::to_writer(&mut text, record).expect("records of veriplay-core serialise");
    let hasher = text.into_inner().expect("a hasher takes every byte");
    Digest(hasher.finalize().to_hex().to_string())
}

/// A number that depends on `seed` and on each of `coordinates`, in order: SplitMix64's finaliser (Steele, Lea and Flood 2014), applied
/// once for each of them.
pub fn mix_seed(seed: u64, coordinates: &[u64]) -> u64 {
    coordinates.iter().fold(mix_word(seed), |state, &word| mix_word(state ^ mix_word(word)))
}

fn mix_word(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
