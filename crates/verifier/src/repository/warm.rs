//! The start of pytest, done once: the job that an image for running a repository's tests is made of.

use veriplay_core::{Base, Digest, Job, Limits};

use super::guest;
use super::run::mounted;

/// A job after whose program pytest is imported, and the sources of `package` and of its `dependencies` are compiled; nothing of
/// them has been run. The modules of the image that `library` names are imported too. In
/// an image made of its end [`super::run_file`] and its like cost a small part of what they cost elsewhere, and come to the
/// same records: a source is compiled anew where a patch has changed it. Made of such an image again, with another
/// package, it adds that.
#[must_use]
pub fn warming(
    image: &str,
    pytest: &Digest,
    package: &Digest,
    dependencies: Option<&Digest>,
    library: &[String],
    limits: Limits,
) -> Job {
    Job {
        image: image.to_owned(),
        limits,
        base: Some(Base { layers: mounted(pytest, package, dependencies), without: Vec::new() }),
        ..Job::script(guest::warmer(library))
    }
}
