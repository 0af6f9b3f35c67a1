//! What a repository's tests come to before anybody touches it: the record that bugs are made against.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits, SCHEMA_VERSION};

use super::pytest::{FileRun, TestRecord, TestResult};
use super::settings::PytestSettings;

/// The record. A pure function of the sources, the image, the limits and the seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Of this record.
    pub schema_version: u32,
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The layer of its files.
    pub package: Digest,
    /// The layer of pytest.
    pub pytest: Digest,
    /// The image.
    pub image: Digest,
    /// Of each job.
    pub limits: Limits,
    /// Of the two runs; their results must agree.
    pub seeds: [u64; 2],
    /// What the package and its tests import besides; `None` where they need nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Dependencies>,
    /// Directories of the search path.
    pub roots: Vec<String>,
    /// What of pytest's configuration is the repository's own.
    #[serde(default)]
    pub settings: PytestSettings,
    /// Modules of the image that its tests import: jobs find them imported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library: Vec<String>,
    /// What of the repository was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// In the order of their paths.
    pub files: Vec<FileBaseline>,
}

/// Pure-Python packages that a repository needs, in a layer of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependencies {
    /// The layer of their files.
    pub layer: Digest,
    /// The wheels they come from, by name.
    pub wheels: Vec<PinnedWheel>,
}

/// One wheel, as another machine fetches the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedWheel {
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Of the file, in hexadecimal.
    pub sha256: String,
}

/// One test file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileBaseline {
    /// Its path.
    pub path: String,
    /// Ids of the tests that passed twice, in pytest's order.
    pub passed: Vec<String>,
    /// Everything else, with the reason.
    pub unsupported: Vec<Unsupported>,
    /// Why the file has no tests here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Of the first run, with pytest imported already: the collection and all tests.
    pub fuel: u64,
}

/// A test that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsupported {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub result: TestResult,
    /// Why.
    pub reason: String,
}

impl Baseline {
    /// The version written.
    pub const SCHEMA_VERSION: u32 = SCHEMA_VERSION;

    /// Tests that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.files.iter().map(|file| file.passed.len()).sum()
    }

    /// Tests that cannot be used.
    #[must_use]
    pub fn unsupported(&self) -> usize {
        self.files.iter().map(|file| file.unsupported.len()).sum()
    }
}

/// What two runs of `path`, with different seeds, come to.
#[must_use]
pub fn baseline_of(path: &str, first: &FileRun, second: &FileRun) -> FileBaseline {
    let (mut passed, mut unsupported) = (Vec::new(), Vec::new());
    for test in &first.tests {
        let again = second.tests.iter().find(|other| other.id == test.id);
        match unsupported_reason(test, again) {
            None => passed.push(test.id.clone()),
            Some(reason) => unsupported.push(Unsupported { id: test.id.clone(), result: test.result, reason }),
        }
    }
    let broken = first.broken.clone().or_else(|| second.broken.as_ref().map(|why| format!("in the second run: {why}")));
    FileBaseline { path: path.to_owned(), passed, unsupported, broken, fuel: first.fuel }
}

/// Why a test is of no use: it did not pass, or not again.
fn unsupported_reason(test: &TestRecord, again: Option<&TestRecord>) -> Option<String> {
    match (test.result, again.map(|again| again.result)) {
        (TestResult::Passed, Some(TestResult::Passed)) => None,
        (TestResult::Passed, Some(other)) => Some(format!("it passed once, and with another seed it was {other:?}")),
        (TestResult::Passed, None) => Some("with another seed it was not there".to_owned()),
        _ => Some(test.text.clone()),
    }
}
