//! A sabotage: a patch that removes one defence of the sandbox, the probes that must escape once it is applied, and the tests that must fail.
//!
//! Each is a file of `tests/sabotage`: a sentence on what it weakens, the line `Probes that must notice:`, one `- CLASS/NAME` a
//! probe, the line `Tests that must notice:`, one `- path::of::test` a test of the sandbox, and a unified diff of the source of the sandbox or of its
//! JavaScript image. Either list may be left out. Hunks are found by their lines, wherever those have moved to.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use veriplay_core::{Fuzz, Patch};

/// The folder of the patches, from the root.
pub const FOLDER: &str = "tests/sabotage";
/// The sabotage that `--quick` runs: few probes, and the most important invariant.
pub const QUICK: &str = "globals_kept";

/// The line above the list of probes, and that above the list of tests, which comes behind it.
const PROBES: &str = "Probes that must notice:";
const TESTS: &str = "Tests that must notice:";
/// The most lines that a hunk may have moved.
const MOVED_LINES: usize = 1000;

/// A sabotage.
#[derive(Debug, Clone)]
pub struct Sabotage {
    /// The name of its file, without the ending.
    pub name: String,
    /// What it weakens.
    pub effect: String,
    /// The probes that must escape, as `CLASS/NAME`.
    pub probes: Vec<String>,
    /// The tests of the sandbox that must fail, by their full names in its test binaries.
    pub tests: Vec<String>,
    /// The change of the source.
    pub patch: Patch,
}

/// All sabotages of the repository at `root`, by name.
///
/// # Errors
/// When a file cannot be read, or is not written as it must be.
pub fn read_all(root: &Path) -> anyhow::Result<Vec<Sabotage>> {
    let folder = root.join(FOLDER);
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".patch") else { bail!("`{FOLDER}/{name}` is no patch") };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        all.push(Sabotage::parse(name, &text).with_context(|| format!("in `{FOLDER}/{name}.patch`"))?);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

impl Sabotage {
    /// Reads the text of a patch file.
    ///
    /// # Errors
    /// When the sentence, what must notice it or the diff are missing, or the diff is malformed.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let start = text.find("\n--- a/").context("there is no diff: no line begins with `--- a/`")? + 1;
        let (head, tests) = text[..start].split_once(TESTS).unwrap_or((&text[..start], ""));
        let (effect, probes) = head.split_once(PROBES).unwrap_or((head, ""));
        let effect = effect.split_whitespace().collect::<Vec<_>>().join(" ");
        let (probes, tests) = (list_items(probes), list_items(tests));
        if effect.is_empty() || probes.is_empty() && tests.is_empty() {
            bail!(
                "it must begin with a sentence on its effect, and name under `{PROBES}` a probe as `- CLASS/NAME`, or under \
                 `{TESTS}` a test as `- path::of::test`"
            );
        }
        Ok(Self { name: name.to_owned(), effect, probes, tests, patch: Patch::parse(&text[start..])? })
    }

    /// Applies the patch to the source at `root`; returns the new text of each changed file.
    ///
    /// # Errors
    /// When a file is not there, or a hunk finds no place in it.
    pub fn apply(&self, root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
        let read = |path: &str| Ok((path.to_owned(), fs::read_to_string(root.join(path))?));
        let files = self.patch.touched().map(|(path, _)| read(path)).collect::<anyhow::Result<_>>();
        let edits = files.and_then(|files| Ok(self.patch.edits(&files, Fuzz { offset: MOVED_LINES })?));
        let edits = edits.map_err(|error| {
            let name = &self.name;
            anyhow!(
                "sabotage `{name}` does not apply: {error:#}\nhint: the source has changed under it; weaken the new source to \
                 the same effect, and put the output of `git diff -U1` into {FOLDER}/{name}.patch"
            )
        })?;
        edits.into_iter().map(|(path, text)| Ok((path, text.context("a sabotage deletes no file")?))).collect()
    }
}

fn list_items(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("- ")).map(|item| item.trim().to_owned()).collect()
}
