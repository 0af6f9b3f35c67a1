//! Which test enters which function of a repository, which tests can be judged with the package in another instance, and which
//! others can be made to fail: measured once on the original, so that a change costs the tests it concerns and not all of them.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Execute, ExecuteError, Patch, SCHEMA_VERSION, TextFiles, content_hash};

use super::Ground;
use super::machinery::{OwnNames, own_modules};
use super::tree::Overlay;
use super::twins::{Ends, FORMS};
use crate::repository::{FileBaseline, FileRun, Function, Repository, TestResult, cover_file, run_file, run_split};

/// The record. A pure function of the baseline, the image and the limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestMap {
    /// Of this record.
    pub schema_version: u32,
    /// The layer of the package.
    pub package: Digest,
    /// Those of the baseline's files that have tests.
    pub files: Vec<FileMap>,
    /// The names of its code.
    pub names: OwnNames,
}

/// One test file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMap {
    /// Its path.
    pub path: String,
    /// Functions that it or its tests enter.
    pub functions: Vec<Function>,
    /// Those entered before any test: a change of one concerns every test of the file.
    pub at_import: Vec<usize>,
    /// Each test of the baseline with the functions it enters.
    pub tests: Vec<(String, Vec<usize>)>,
    /// Tests that pass with the package in another instance: nothing it does there but its values reaches them.
    pub split: Vec<String>,
    /// Tests that fail when each test function is made to fail: at its end, in its first comparison, in its last. None are asked
    /// for where all tests can be split.
    pub twins: [Vec<String>; FORMS],
}

impl TestMap {
    /// The version written.
    pub const SCHEMA_VERSION: u32 = SCHEMA_VERSION;

    /// Measures it on the original, files beside each other. `ground.map` is not read.
    ///
    /// # Errors
    /// A fault of the host's.
    pub fn measure(execute: &dyn Execute, ground: &Ground<'_>) -> Result<Self, Dropped> {
        let usable = |file: &&FileBaseline| file.broken.is_none() && !file.passed.is_empty();
        let usable: Vec<&FileBaseline> = ground.baseline.files.iter().filter(usable).collect();
        let own = own_modules(ground);
        let measured = |file: &&FileBaseline| measure_file(execute, ground, &own, &file.path, &file.passed);
        let files = usable.par_iter().with_max_len(1).map(measured);
        let files: Vec<FileMap> = files.filter_map(Result::transpose).collect::<Result<_, Dropped>>()?;
        let names = OwnNames::read(execute, ground)?;
        Ok(Self { schema_version: Self::SCHEMA_VERSION, package: ground.baseline.package.clone(), files, names })
    }

    /// Every test that bugs are made against.
    pub fn tests(&self) -> impl Iterator<Item = &String> {
        self.files.iter().flat_map(|file| file.tests.iter().map(|(id, _)| id))
    }

    /// Tests of the baseline that can notice the difference between `base` and `now`.
    #[must_use]
    pub(crate) fn affected(&self, base: &TextFiles, now: &TextFiles) -> BTreeSet<String> {
        let all = || self.files.iter().flat_map(|file| file.tests.iter().map(|(id, _)| id.clone())).collect();
        match Patch::make(base, now) {
            Ok(patch) if patch.touched().all(|(path, _)| base.contains_key(path) && now.contains_key(path)) => {
                let changed: Vec<(&str, Vec<usize>)> = patch.old_lines().collect();
                match changed.iter().all(|(path, _)| path.ends_with(".py")) {
                    true => self.files.iter().flat_map(|file| file.affected(&changed)).collect(),
                    false => all(),
                }
            }
            _ => all(),
        }
    }
}

impl FileMap {
    fn affected(&self, changed: &[(&str, Vec<usize>)]) -> BTreeSet<String> {
        let mut touched = BTreeSet::new();
        for (path, lines) in changed {
            if !self.functions.iter().any(|function| function.path == *path) {
                continue;
            }
            for line in lines {
                match self.innermost(path, *line) {
                    Some(found) if !self.at_import.contains(&found) => drop(touched.insert(found)),
                    // Code of the module, or of a function nobody enters: only the first can be noticed, and cannot be told
                    // from the second by lines alone.
                    _ => return self.tests.iter().map(|(id, _)| id.clone()).collect(),
                }
            }
        }
        let notices = |entered: &Vec<usize>| entered.iter().any(|function| touched.contains(function));
        self.tests.iter().filter(|(_, entered)| notices(entered)).map(|(id, _)| id.clone()).collect()
    }

    /// The innermost function whose body holds the line.
    fn innermost(&self, path: &str, line: usize) -> Option<usize> {
        let holds = |function: &Function| function.path == path && function.lines.0 <= line && line <= function.lines.1;
        let found = self.functions.iter().enumerate().filter(|(_, function)| holds(function));
        found.min_by_key(|(_, function)| function.lines.1 - function.lines.0).map(|(index, _)| index)
    }
}

fn measure_file(
    execute: &dyn Execute,
    ground: &Ground<'_>,
    own: &[String],
    path: &str,
    passed: &[String],
) -> Result<Option<FileMap>, Dropped> {
    let dropped = |why: String| Dropped { why: format!("the map of `{path}`: {why}") };
    let seed = ground.baseline.seeds[0];
    let none = Overlay::default();
    let covered =
        cover_file(execute, &none.repository(ground, own, seed), path).map_err(|error| dropped(error.to_string()))?;
    // A file that one job cannot run to its end is of no use for bugs: each of them would cost a job a test.
    let Ok(covered) = covered else { return Ok(None) };
    let known: BTreeSet<&String> = passed.iter().collect();
    let entered_by = covered.tests.into_iter().filter(|(test, _)| known.contains(&test.id));
    let tests: Vec<(String, Vec<usize>)> = entered_by.map(|(test, entered)| (test.id, entered)).collect();
    let split = split(execute, ground, own, path, &known).map_err(|error| dropped(error.to_string()))?;
    let twins = match tests.iter().all(|(id, _)| split.contains(id)) {
        true => Default::default(),
        false => twins(execute, ground, own, path, &known)?,
    };
    let (functions, at_import) = (covered.functions, covered.at_import);
    Ok(Some(FileMap { path: path.to_owned(), functions, at_import, tests, split, twins }))
}

/// Those of `known` that a run comes to as `wanted`.
fn ids(run: FileRun, known: &BTreeSet<&String>, wanted: TestResult) -> Vec<String> {
    let is_wanted = |test: &crate::repository::TestRecord| test.result == wanted && known.contains(&test.id);
    run.tests.into_iter().filter(is_wanted).map(|test| test.id).collect()
}

fn split(
    execute: &dyn Execute,
    ground: &Ground<'_>,
    own: &[String],
    path: &str,
    known: &BTreeSet<&String>,
) -> Result<Vec<String>, ExecuteError> {
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let none = Overlay::default();
    let repository = none.repository(ground, own, ground.baseline.seeds[0]);
    let run = run_split(execute, &Repository { max_jobs: 0, ..repository }, path, None)?;
    Ok(ids(run, known, TestResult::Passed))
}

fn twins(
    execute: &dyn Execute,
    ground: &Ground<'_>,
    own: &[String],
    path: &str,
    known: &BTreeSet<&String>,
) -> Result<[Vec<String>; FORMS], Dropped> {
    let text = ground.texts.get(path).map_or("", String::as_str);
    let ends = Ends::of(execute, ground, &[text])?;
    let numbers = content_hash(&(&ground.baseline.package, path));
    let mut measured: Vec<(String, Vec<String>)> = Vec::new();
    for form in 0..FORMS {
        let failing = ends[0].formed(text, |_| Some(Some(form)), &numbers);
        // Where a function has one comparison, its first is its last.
        let found = match measured.iter().find(|(earlier, _)| *earlier == failing) {
            Some((_, found)) => found.clone(),
            None => {
                let over =
                    Overlay { files: vec![(path.to_owned(), failing.clone().into_bytes())], without: Vec::new() };
                let run = run_file(execute, &over.repository(ground, own, ground.baseline.seeds[0]), path);
                let run = run.map_err(|error| Dropped { why: format!("the map of `{path}`: {error}") })?;
                ids(run, known, TestResult::Failed)
            }
        };
        measured.push((failing, found));
    }
    let mut found = measured.into_iter().map(|(_, found)| found);
    Ok(std::array::from_fn(|_| found.next().unwrap_or_default()))
}
