//! What a verdict's runs of tests may burn.

use std::sync::Mutex;

use veriplay_core::{Execute, ExecuteError, Fuzz, Job, Outcome, Status};
use veriplay_verifier::bugs::{RepairRequest, RepoContext, grade_repair};

use super::{Bed, LIMITS, bed};

/// The bed's sandbox, and the fuel that jobs were given.
struct Asked<'a>(&'a Bed, Mutex<Vec<u64>>);

impl Execute for Asked<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.1.lock().unwrap().push(job.limits.fuel);
        self.0.sandbox.execute(job)
    }
}

/// A few slow tests can be most of a file: a share of its fuel by their number refused a right repair.
#[test]
fn tests_asked_for_by_name_may_burn_what_their_whole_file_does() {
    let Some(bed) = bed() else { return };
    let artifact = bed.artifact();
    let mut baseline = bed.baseline.clone();
    let slow = LIMITS.fuel / 2;
    for file in &mut baseline.files {
        file.fuel = slow;
        file.passed.extend((0..100).map(|i| format!("{}::test_quick_{i}", file.path)));
    }
    let mut map = bed.map.clone();
    map.files.iter_mut().for_each(|file| file.split_fuel = slow);
    let asked = Asked(bed, Mutex::default());
    let patch = artifact.bug.bug_inject.reverse().to_string();
    let request = RepairRequest { artifact, patch: &patch, fuzz: Fuzz::NONE, seed: 0 };
    let verdict =
        grade_repair(&asked, &RepoContext { baseline: &baseline, map: &map, ..bed.repo() }, &request).unwrap();
    assert_eq!(verdict.status, Status::Accepted, "{verdict:?}");
    let asked = asked.1.into_inner().unwrap();
    assert!(!asked.is_empty() && asked.iter().all(|fuel| (slow..=LIMITS.fuel).contains(fuel)), "{asked:?} for {slow}");
}
