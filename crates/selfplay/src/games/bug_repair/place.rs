//! Where bugs are: a repository as the cli loads it, owned.

use veriplay_core::{Digest, Limits, TextFiles};
use veriplay_verifier::bugs::{Ground, TestMap};
use veriplay_verifier::repository::Baseline;

/// A repository with its baseline and the map of its tests, in two images.
#[derive(Debug, Clone)]
pub struct Place {
    /// Name of the image that verdicts are made in: warmed for the repository, or not.
    pub image: String,
    /// Name of the image that a policy's tools run in. Nothing of the repository may have been compiled there
    /// ([`veriplay_verifier::bugs::desk`] says why): plain, or warmed for pytest and a layer without files. A dialect without tools never
    /// uses it.
    pub desk_image: String,
    /// The layer of pytest.
    pub pytest: Digest,
    /// The text files of the package's layer.
    pub texts: TextFiles,
    /// Which of its tests pass.
    pub baseline: Baseline,
    /// Which test enters which function.
    pub map: TestMap,
    /// Of each job.
    pub limits: Limits,
    /// As [`Ground::max_jobs`].
    pub max_jobs: usize,
}

impl Place {
    /// As the verifier takes it.
    #[must_use]
    pub const fn ground(&self) -> Ground<'_> {
        Ground {
            image: self.image.as_str(),
            pytest: &self.pytest,
            texts: &self.texts,
            baseline: &self.baseline,
            map: &self.map,
            limits: self.limits,
            max_jobs: self.max_jobs,
        }
    }

    /// The layer that names it in artifacts.
    #[must_use]
    pub const fn package(&self) -> &Digest {
        &self.baseline.package
    }
}
