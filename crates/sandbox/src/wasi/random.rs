//! The random source of one job: blake3's output stream under a key made of the seed.

/// An endless stream of bytes that depends only on the seed.
pub(crate) struct RandomSource(blake3::OutputReader);

impl RandomSource {
    pub(crate) fn new(seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("veriplay 2026 guest random source");
        hasher.update(&seed.to_le_bytes());
        Self(hasher.finalize_xof())
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl std::fmt::Debug for RandomSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RandomSource").field("position", &self.0.position()).finish()
    }
}
