//! The baseline of a repository: the results of its tests in the original. Bugs are made against it.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits};

use super::records::{FileRun, SKIPPED_FILE, TestRecord, TestResult};
use super::settings::PytestSettings;

/// The baseline. A pure function of the sources, the image, the limits and the seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`SCHEMA_VERSION`](veriplay_core::SCHEMA_VERSION).
    pub schema_version: u32,
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The layer of the package.
    pub package: Digest,
    /// The layer of pytest.
    pub pytest: Digest,
    /// The image.
    pub image: Digest,
    /// The limits of each job.
    pub limits: Limits,
    /// The seeds of the two runs, whose results must agree.
    pub seeds: [u64; 2],
    /// What the package and its tests import besides; `None` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Dependencies>,
    /// Directories of the search path.
    pub roots: Vec<String>,
    /// The repository's own settings of pytest.
    #[serde(default)]
    pub settings: PytestSettings,
    /// Modules of the image that its tests import. Warm images have imported them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library: Vec<String>,
    /// Parts of the repository that are left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The test files, in the order of their paths.
    pub files: Vec<FileBaseline>,
}

/// Pure-Python packages that a repository needs, in a layer of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependencies {
    /// The layer of their files.
    pub layer: Digest,
    /// The wheels of these packages, sorted by name.
    pub wheels: Vec<PinnedWheel>,
}

/// A wheel, pinned so that every machine fetches the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedWheel {
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SHA-256 digest of the file, in hexadecimal.
    pub sha256: String,
}

/// The baseline of one test file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileBaseline {
    /// Its path.
    pub path: String,
    /// Ids of the tests that passed twice, in pytest's order.
    pub passed: Vec<String>,
    /// The other tests, each with a reason.
    pub unsupported: Vec<Unsupported>,
    /// Why no test of the file can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// The fuel of the first run, with pytest already imported: collection and all tests.
    #[serde(deserialize_with = "Limits::deserialize_fuel")]
    pub fuel: u64,
}

impl FileBaseline {
    /// Whether the file skips itself as a whole, as `pytest.importorskip` at its top does. It is run, and is no failure.
    #[must_use]
    pub fn skips_itself(&self) -> bool {
        self.broken.as_ref().is_some_and(|why| why.starts_with(SKIPPED_FILE))
    }
}

/// A test that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsupported {
    /// Its id.
    pub id: String,
    /// Its result.
    pub result: TestResult,
    /// Why.
    pub reason: String,
}

impl Baseline {
    /// The number of tests that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.files.iter().map(|file| file.passed.len()).sum()
    }

    /// The number of tests that cannot be used.
    #[must_use]
    pub fn unsupported(&self) -> usize {
        self.files.iter().map(|file| file.unsupported.len()).sum()
    }
}

/// The baseline of a test file by two runs with different seeds.
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

/// Why a test cannot be used: it failed, or did not pass again.
fn unsupported_reason(test: &TestRecord, again: Option<&TestRecord>) -> Option<String> {
    match (test.result, again.map(|again| again.result)) {
        (TestResult::Passed, Some(TestResult::Passed)) => None,
        (TestResult::Passed, Some(other)) => Some(format!("it passed once, and with another seed it was {other:?}")),
        (TestResult::Passed, None) => Some("with another seed it was not there".to_owned()),
        _ => Some(test.text.clone()),
    }
}
