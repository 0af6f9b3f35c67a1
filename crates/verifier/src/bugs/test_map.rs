//! Measures, once on the original, which test file enters which function, which tests can run with the package in an instance of its own,
//! and which others can be inverted. A change then costs only the tests that it can affect.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Evidence, Execute, ExecuteError, TextFiles, Value, content_hash};
use veriplay_image_python::programs::bugs::CHANGED;

use super::RepoContext;
use super::bug_states::Overlay;
use super::code_scan::{OwnNames, SplitLayout};
use super::inverted_tests::{INVERSIONS, TestEnds};
use super::source_queries::SourceReader;
use crate::repository::{
    FileBaseline, FileRun, Function, Repository, StarredNames, TestResult, cover_file, run_file, run_split,
};

/// Words of code that may look into a function without a call of it. Where a repository has one, a change of a body is one of its module.
const READS_CODE: [&str; 5] = ["getsource", "get_source", "findsource", "linecache", "__code__"];

/// The map of a repository's tests. A pure function of the baseline, the image and the limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestMap {
    /// Of this record.
    pub schema_version: u32,
    /// The layer of the package.
    pub package: Digest,
    /// The baseline's files that have tests.
    pub files: Vec<FileMap>,
    /// The names that the repository's code defines.
    pub names: OwnNames,
}

/// The map of one test file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMap {
    /// Its path.
    pub path: String,
    /// Functions that the file or its tests enter.
    pub functions: Vec<Function>,
    /// The baseline's tests in this file.
    pub tests: Vec<String>,
    /// Tests that pass with the package in an instance of its own, from which only plain values reach them.
    pub split: Vec<String>,
    /// What the package does to objects of those tests and to names that they read, where it does anything.
    pub changes: BTreeMap<String, Vec<String>>,
    /// The names that `import *` takes of modules of the package.
    pub starred: StarredNames,
    /// The fuel of that run, both instances together.
    #[serde(deserialize_with = "veriplay_core::Limits::deserialize_fuel")]
    pub split_fuel: u64,
    /// Tests that fail when each test function is inverted: at its end, in its first comparison, in its last. The last two are
    /// empty where all tests are in `split`.
    #[serde(rename = "twins")]
    pub inverted: [Vec<String>; INVERSIONS],
    /// Where its test functions end.
    pub ends: TestEnds,
}

impl TestMap {
    /// The version written, and the only one read: a map is measured again in no time.
    pub const SCHEMA_VERSION: u32 = 7;

    /// The map of a repository of which nothing is known yet, for [`TestMap::measure`].
    #[must_use]
    pub fn unmeasured(package: Digest) -> Self {
        Self { schema_version: Self::SCHEMA_VERSION, package, files: Vec::new(), names: OwnNames::default() }
    }

    /// Measures the map on the original, test files in parallel. Ignores `repo.map`.
    pub fn measure(execute: &dyn Execute, repo: &RepoContext<'_>) -> Result<Self, Dropped> {
        let usable = |file: &&FileBaseline| file.broken.is_none() && !file.passed.is_empty();
        let usable: Vec<&FileBaseline> = repo.baseline.files.iter().filter(usable).collect();
        let layout = SplitLayout::from_repo(repo);
        let measured = |file: &&FileBaseline| measure_file(execute, repo, &layout, &file.path, &file.passed);
        let files = usable.par_iter().with_max_len(1).map(measured);
        let files: Vec<FileMap> = files.filter_map(Result::transpose).collect::<Result<_, Dropped>>()?;
        let names = OwnNames::collect(execute, repo)?;
        Ok(Self { files, names, ..Self::unmeasured(repo.baseline.package.clone()) })
    }

    /// Every test that bugs are made against.
    pub fn tests(&self) -> impl Iterator<Item = &String> {
        self.files.iter().flat_map(|file| &file.tests)
    }

    /// Whether the test can run with the package in an instance of its own.
    pub(crate) fn is_split(&self, id: &str) -> bool {
        self.files.iter().any(|file| file.split.iter().any(|split| split == id))
    }

    /// What is known of a file.
    pub(crate) fn file(&self, path: &str) -> Option<&FileMap> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The baseline's tests that the difference between `base` and `now` can affect: all tests of each file that enters changed code,
    /// because tests of a file share caches, fixtures and imports.
    pub(crate) fn affected(
        &self,
        execute: &dyn Execute,
        repo: &RepoContext<'_>,
        base: &TextFiles,
        now: &TextFiles,
    ) -> Result<BTreeSet<String>, Dropped> {
        let changes = find_changes(execute, repo, base, now)?;
        let is_affected = |file: &&FileMap| changes.iter().any(|change| file.enters(change));
        Ok(self.files.iter().filter(is_affected).flat_map(|file| file.tests.iter().cloned()).collect())
    }
}

/// A difference between two states of a repository.
enum SourceChange<'a> {
    /// A file that is not Python, is new, or is deleted: nothing says which tests read it.
    File,
    /// A module changes outside the bodies of functions.
    Module(&'a str),
    /// The body of an outermost function, by path and name.
    Body(&'a str, String),
}

fn find_changes<'a>(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    base: &'a TextFiles,
    now: &'a TextFiles,
) -> Result<Vec<SourceChange<'a>>, Dropped> {
    let paths: BTreeSet<&str> = base.keys().chain(now.keys()).map(String::as_str).collect();
    let differs = |path: &&str| base.get(*path) != now.get(*path);
    let (mut found, mut modules) = (Vec::new(), Vec::new());
    for path in paths.into_iter().filter(differs) {
        match (base.get(path), now.get(path)) {
            (Some(before), Some(after)) if path.ends_with(".py") => modules.push((path, before, after)),
            _ => found.push(SourceChange::File),
        }
    }
    if modules.is_empty() {
        return Ok(found);
    }
    if repo.texts.values().any(|text| READS_CODE.iter().any(|word| text.contains(word))) {
        found.extend(modules.into_iter().map(|(path, ..)| SourceChange::Module(path)));
        return Ok(found);
    }
    let texts =
        |(_, before, after): &(_, &String, &String)| vec![Value::str(before.as_str()), Value::str(after.as_str())];
    let asked = modules.iter().map(texts).collect();
    let reader = SourceReader::of_repo(execute, repo);
    let mut answers = reader.ask(CHANGED, "changed_functions", asked, &mut Evidence::default())?.answers.into_iter();
    // A file that cannot be parsed, or that stops the parser, counts as changed as a whole.
    for (path, ..) in modules {
        match answers.next() {
            Some(Ok(Value::List(names))) => found.extend(names.into_iter().map(|name| match name {
                Value::Str(name) => SourceChange::Body(path, name),
                _ => SourceChange::Module(path),
            })),
            _ => found.push(SourceChange::Module(path)),
        }
    }
    Ok(found)
}

impl FileMap {
    /// The first of `changes` in a test that the original does not make there. Which test of a file is the first to import a module or
    /// to need a fixture depends on those that are run: what a call of the test's own did not do is looked up in all of them.
    pub(crate) fn new_change<'a>(&self, id: &str, changes: &'a [String]) -> Option<&'a String> {
        let is_own = |change: &str| change.starts_with(|first: char| first.is_ascii_digit());
        let anywhere = |change: &String| !is_own(change) && self.changes.values().any(|known| known.contains(change));
        let known = |change: &String| self.changes.get(id).is_some_and(|known| known.contains(change));
        changes.iter().find(|change| !known(change) && !anywhere(change))
    }

    /// Whether the file or its tests run the body of a module, or a function of it.
    pub(crate) fn enters_module(&self, path: &str) -> bool {
        self.functions.iter().any(|function| function.path == path)
    }

    fn enters(&self, change: &SourceChange<'_>) -> bool {
        match change {
            SourceChange::File => true,
            SourceChange::Module(path) => self.enters_module(path),
            SourceChange::Body(path, name) => self.functions.iter().any(|function| {
                let inner = function.name.strip_prefix(name.as_str());
                function.path == *path && inner.is_some_and(|rest| rest.is_empty() || rest.starts_with(".<locals>."))
            }),
        }
    }
}

fn measure_file(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    layout: &SplitLayout,
    path: &str,
    passed: &[String],
) -> Result<Option<FileMap>, Dropped> {
    // Tests that are not UTF-8 can be neither inverted nor taken out by a patch.
    let Some(text) = repo.texts.get(path).map(String::as_str) else { return Ok(None) };
    let dropped = |error: ExecuteError| Dropped { why: format!("the map of `{path}`: {error}") };
    let none = Overlay::default();
    let repository = Repository { max_jobs: 0, ..none.repository(repo, layout, repo.baseline.seeds[0]) };
    // Each bug would cost one job per test in a file that a single job cannot complete, so such files are left out.
    let Ok(covered) = cover_file(execute, &repository, path).map_err(dropped)? else { return Ok(None) };
    let known: BTreeSet<&String> = passed.iter().collect();
    let tests: Vec<String> = covered.tests.into_iter().map(|test| test.id).filter(|id| known.contains(id)).collect();
    let apart = match layout.own.is_empty() {
        true => FileRun::default(),
        false => run_split(execute, &repository, path, None, None).map_err(dropped)?,
    };
    let split = ids_with_result(&apart, &known, TestResult::Passed);
    // Objects that lie about themselves do not reach a test in another instance than the package's: one form is enough.
    let forms = if tests.iter().all(|id| split.contains(id)) { 1 } else { INVERSIONS };
    let ends = TestEnds::find(execute, repo, text)?;
    let inverted = measure_inverted(execute, repo, layout, (path, text), &ends, forms, &known)?;
    let changing = apart.tests.into_iter().filter(|test| !test.changes.is_empty());
    Ok(Some(FileMap {
        path: path.to_owned(),
        functions: covered.functions,
        tests,
        split,
        changes: changing.map(|test| (test.id, test.changes)).collect(),
        starred: apart.starred,
        split_fuel: apart.fuel,
        inverted,
        ends,
    }))
}

/// The ids of `known` tests that have the result `wanted` in the run.
fn ids_with_result(run: &FileRun, known: &BTreeSet<&String>, wanted: TestResult) -> Vec<String> {
    let found = run.tests.iter().filter(|test| test.result == wanted && known.contains(&test.id));
    found.map(|test| test.id.clone()).collect()
}

fn measure_inverted(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    layout: &SplitLayout,
    (path, text): (&str, &str),
    ends: &TestEnds,
    forms: usize,
    known: &BTreeSet<&String>,
) -> Result<[Vec<String>; INVERSIONS], Dropped> {
    let numbers = content_hash(&(&repo.baseline.package, path));
    let mut measured: Vec<(String, Vec<String>)> = Vec::new();
    for form in 0..forms {
        let failing = ends.invert(text, |_| Some(Some(form)), &numbers);
        // In functions with a single comparison the first one is the last.
        let found = match measured.iter().find(|(earlier, _)| *earlier == failing) {
            Some((_, found)) => found.clone(),
            None => {
                let over =
                    Overlay { files: vec![(path.to_owned(), failing.clone().into_bytes())], without: Vec::new() };
                let run = run_file(execute, &over.repository(repo, layout, repo.baseline.seeds[0]), path);
                let run = run.map_err(|error| Dropped { why: format!("the map of `{path}`: {error}") })?;
                ids_with_result(&run, known, TestResult::Failed)
            }
        };
        measured.push((failing, found));
    }
    let mut found = measured.into_iter().map(|(_, found)| found);
    Ok(std::array::from_fn(|_| found.next().unwrap_or_default()))
}
