//! The images that a run is judged in, which its directory records by their digests: a name alone may be that of another image tomorrow, by
//! another manifest of the user's or another version of this program.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{read_json, write_json};
use veriplay_console::progress;
use veriplay_core::Digest;

const FILE: &str = "images.json";

/// Images by name.
pub type JudgedImages = BTreeMap<String, JudgedImage>;

/// What an image is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedImage {
    /// Names the content of the image.
    pub digest: Digest,
    /// The manifest of an image of the user's, to make it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
}

/// By content: a comment in a manifest changes nothing.
impl PartialEq for JudgedImage {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

/// The images from a step on, up to the step of the next entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImagesFrom {
    /// The first step that was judged in them.
    pub from_step: u64,
    /// The images of these steps.
    pub images: JudgedImages,
}

/// What the run in `root` was judged in, in the order of its steps; empty where that was not recorded.
pub fn read(root: &Path) -> Result<Vec<ImagesFrom>, Failure> {
    let path = root.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let hint = "restore it from a copy; without it nothing says what the run was judged in";
    read_json(&path).map_err(|failure| failure.or_hint(hint))
}

/// Records that the run in `root` is judged in `images` from `step` on.
pub fn record(root: &Path, step: u64, images: &JudgedImages) -> Result<(), Failure> {
    let recorded = read(root)?;
    let is_start_measured = root.join("before.json").exists();
    let entries = add(recorded.clone(), step, is_start_measured, images);
    warn_of_others(&entries, images);
    if entries == recorded { Ok(()) } else { write_json(&root.join(FILE), &entries).or_fail(ExitCode::Input) }
}

/// The entries of a run that goes on from `step` in `images`.
fn add(mut entries: Vec<ImagesFrom>, step: u64, is_start_measured: bool, images: &JudgedImages) -> Vec<ImagesFrom> {
    // The steps from here on are played again. Before them is what the start model was measured in.
    let before = entries.iter().take_while(|entry| entry.from_step < step).count();
    let start = entries.iter().take(usize::from(is_start_measured)).filter(|entry| entry.from_step == 0).count();
    entries.truncate(before.max(start));
    if entries.last().is_none_or(|last| last.images != *images) {
        entries.push(ImagesFrom { from_step: step, images: images.clone() });
    }
    entries
}

/// Warns where a run has verdicts of other images than `images`, in which it is judged now.
pub fn warn_of_others(entries: &[ImagesFrom], images: &JudgedImages) {
    if let Some(other) = entries.iter().rev().find(|entry| entry.images != *images) {
        let (was, now) = (describe(&other.images), describe(images));
        progress::say(format!(
            "warning: the run has verdicts of the image {was}, and is judged in {now} now: verdicts may differ\n\
             hint: to judge in the earlier image, use the version of veriplay, or put the manifest into VERIPLAY_IMAGES, that the run began with; \
             its `{FILE}` has both digests, and the manifests"
        ));
    }
}

/// Names and digests, for people.
pub fn describe(images: &JudgedImages) -> String {
    let all: Vec<String> = images.iter().map(|(name, image)| format!("`{name}` {}", image.digest.short())).collect();
    all.join(" and ")
}

#[cfg(test)]
mod tests {
    use veriplay_core::content_hash;

    use super::{ImagesFrom, JudgedImage, JudgedImages, add, record};

    fn images(content: &str) -> JudgedImages {
        [("python".to_owned(), JudgedImage { digest: content_hash(&content), manifest: None })].into()
    }

    fn from(from_step: u64, content: &str) -> ImagesFrom {
        ImagesFrom { from_step, images: images(content) }
    }

    #[test]
    fn an_entry_is_added_where_the_images_are_others() {
        let measured = |entries: &[ImagesFrom], step, content| add(entries.to_vec(), step, true, &images(content));
        let start = [from(0, "a")];
        assert_eq!(add(Vec::new(), 0, false, &images("a")), start);
        assert_eq!(measured(&start, 5, "a"), start);
        let changed = [from(0, "a"), from(5, "b")];
        assert_eq!(measured(&start, 5, "b"), changed);
        assert_eq!(measured(&changed, 9, "a"), [from(0, "a"), from(5, "b"), from(9, "a")]);
        // Step 5 is played again.
        assert_eq!(measured(&changed, 5, "a"), start);
        assert_eq!(measured(&changed, 3, "c"), [from(0, "a"), from(3, "c")]);
        // The start model was measured in the one, and step 0 may be played in the other.
        let both = [from(0, "a"), from(0, "b")];
        assert_eq!(measured(&start, 0, "b"), both);
        assert_eq!(measured(&both, 0, "a"), start);
        assert_eq!(measured(&both, 5, "b"), both);
        assert_eq!(add(start.to_vec(), 0, false, &images("b")), [from(0, "b")]);
        // A run that was begun before they were recorded.
        assert_eq!(measured(&[], 7, "a"), [from(7, "a")]);
        assert_eq!(measured(&[from(7, "a")], 0, "b"), [from(0, "b")]);
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
