//! The images that a run is judged in, which its directory records by their digests: a name alone may be that of another image tomorrow, by
//! another manifest of the user's or another version of this program.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_core::Digest;

use crate::exit::{ExitCode, Failure, ResultExt};
use crate::json_file::{read_json, write_json};
use crate::progress;

/// The file in the run directory.
const FILE: &str = "images.json";

/// Images by name.
pub(crate) type ImageDigests = BTreeMap<String, Digest>;

/// The images from a step on, up to the step of the next entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImagesFrom {
    pub(crate) from_step: u64,
    pub(crate) images: ImageDigests,
}

/// What the run in `root` was judged in, in the order of its steps; empty where that was not recorded.
pub(crate) fn read(root: &Path) -> Result<Vec<ImagesFrom>, Failure> {
    let path = root.join(FILE);
    if path.exists() { read_json(&path) } else { Ok(Vec::new()) }
}

/// Records that the run in `root` is judged in `images` from `step` on.
pub(crate) fn record(root: &Path, step: u64, images: &ImageDigests) -> Result<(), Failure> {
    let recorded = read(root)?;
    let entries = add(recorded.clone(), step, images);
    warn_of_others(&entries, images);
    if entries == recorded { Ok(()) } else { write_json(&root.join(FILE), &entries).or_fail(ExitCode::Input) }
}

/// The entries of a run that goes on from `step` in `images`.
fn add(mut entries: Vec<ImagesFrom>, step: u64, images: &ImageDigests) -> Vec<ImagesFrom> {
    // The steps from here on are played again. What stays at 0 is what the start model was measured in.
    entries.retain(|entry| entry.from_step < step || entry.from_step == 0);
    if entries.last().is_none_or(|last| last.images != *images) {
        entries.push(ImagesFrom { from_step: step, images: images.clone() });
    }
    entries
}

/// Warns where a run has verdicts of other images than `images`, in which it is judged now.
pub(crate) fn warn_of_others(entries: &[ImagesFrom], images: &ImageDigests) {
    if let Some(other) = entries.iter().rev().find(|entry| entry.images != *images) {
        let (was, now) = (describe(&other.images), describe(images));
        progress::say(format!(
            "warning: the run has verdicts of the image {was}, and is judged in {now} now: verdicts may differ\n\
             hint: another version of veriplay has other images, and another manifest in VERIPLAY_IMAGES"
        ));
    }
}

/// Names and digests, for people.
pub(crate) fn describe(images: &ImageDigests) -> String {
    let all: Vec<String> = images.iter().map(|(name, digest)| format!("`{name}` {}", digest.short())).collect();
    all.join(" and ")
}

#[cfg(test)]
mod tests {
    use veriplay_core::content_hash;

    use super::{ImageDigests, ImagesFrom, add, record};

    fn images(content: &str) -> ImageDigests {
        [("python".to_owned(), content_hash(&content))].into()
    }

    fn from(from_step: u64, content: &str) -> ImagesFrom {
        ImagesFrom { from_step, images: images(content) }
    }

    #[test]
    fn an_entry_is_added_where_the_images_are_others() {
        let start = add(Vec::new(), 0, &images("a"));
        assert_eq!(start, [from(0, "a")]);
        assert_eq!(add(start.clone(), 5, &images("a")), start);
        let changed = add(start.clone(), 5, &images("b"));
        assert_eq!(changed, [from(0, "a"), from(5, "b")]);
        assert_eq!(add(changed.clone(), 9, &images("a")), [from(0, "a"), from(5, "b"), from(9, "a")]);
        // Step 5 is played again.
        assert_eq!(add(changed.clone(), 5, &images("a")), start);
        assert_eq!(add(changed, 3, &images("c")), [from(0, "a"), from(3, "c")]);
        // The start model was measured in the one, and step 0 may be played in the other.
        assert_eq!(add(start, 0, &images("b")), [from(0, "a"), from(0, "b")]);
        // A run that was begun before they were recorded.
        assert_eq!(add(Vec::new(), 7, &images("a")), [from(7, "a")]);
    }

    #[test]
    fn a_file_that_is_damaged_is_named() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        record(dir.path(), 0, &images("a")).expect("it can be written");
        assert_eq!(super::read(dir.path()).expect("it can be read"), [from(0, "a")]);
        std::fs::write(dir.path().join("images.json"), "[{").expect("it can be written");
        let failure = record(dir.path(), 0, &images("a")).expect_err("it is no JSON").to_string();
        assert!(failure.contains("images.json"), "{failure}");
    }
}
