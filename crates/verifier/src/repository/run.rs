//! Tests of one file of a repository under pytest, in the sandbox.
//!
//! All tests asked for run in one job. When that job does not come to its end, they run one after the other as calls of one
//! job, so that the test which stops the interpreter is known and those behind it are run in a new one.

use std::collections::HashSet;

use veriplay_core::{
    CallResult, Callee, Digest, EncodeCaps, Execute, ExecuteError, Exit, Job, LayerMount, LayerRoot, LayerStack,
    Limits, Outcome, Value, is_under_any,
};

use super::programs;
use super::settings::PytestSettings;
use crate::run::met_deadline;

/// The fuel that a file may cost when its tests stop the interpreter, in that of one job: what comes after is missing. Many tests
/// that use up a limit would cost one each.
const FUEL_FACTOR: u64 = 4;

/// What is run, and on what.
#[derive(Debug, Clone)]
pub struct Repository<'a> {
    /// The name of the image where the tests run beside the package.
    pub image: &'a str,
    /// The name of the image where they run in two instances. Nothing of the repository may have been compiled there: the package's
    /// instance would find the original and the tests in its memory.
    pub split_image: &'a str,
    /// The layer of pytest.
    pub pytest: &'a Digest,
    /// The layer of the package.
    pub package: &'a Digest,
    /// The layer of what the package and its tests import besides; `None` where they need nothing.
    pub dependencies: Option<&'a Digest>,
    /// Directories of the search path, relative to the root, which is "".
    pub roots: &'a [String],
    /// Top-level modules of its code: they are imported from its layer, and never from the image.
    pub own: &'a [String],
    /// Files and directories of its tests, which the package does not see where it runs in an instance of its own. Of `files` and
    /// `without` the tests see there only what is theirs.
    pub tests: &'a [String],
    /// What of pytest's configuration is the repository's own.
    pub settings: &'a PytestSettings,
    /// Files over those of the package: a patch.
    pub files: &'a [(String, Vec<u8>)],
    /// Files of the package that are gone.
    pub without: &'a [String],
    /// Of each job.
    pub limits: Limits,
    /// Of the guest's random source and clock.
    pub seed: u64,
    /// Jobs a file may cost when its tests stop the interpreter, beside those that find that out. Tests behind the last of
    /// them are [`TestResult::Missing`]; with none the whole file is broken.
    pub max_jobs: usize,
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It and its fixtures passed.
    Passed,
    /// It failed.
    Failed,
    /// A fixture failed.
    Error,
    /// It was skipped.
    Skipped,
    /// It failed, as it says it would.
    Xfailed,
    /// It passed, and says it would not.
    Xpassed,
    /// It ended the interpreter, or used up a limit.
    Stopped,
    /// pytest reported nothing of it.
    Missing,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRecord {
    /// pytest's id.
    pub id: String,
    /// What became of it.
    pub result: TestResult,
    /// Why, for people.
    pub text: String,
    /// Whether a call changed one of its arguments. Known of runs in two instances.
    pub changes_arguments: bool,
}

/// One test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRun {
    /// One record a test, in pytest's order, each id once.
    pub tests: Vec<TestRecord>,
    /// Why there are no records at all.
    pub broken: Option<String>,
    /// Digests of its jobs.
    pub jobs: Vec<Digest>,
    /// Of all its jobs.
    pub fuel: u64,
    /// Whether one of them met its wall-clock deadline, so that another run may come to other records.
    pub met_deadline: bool,
}

/// Runs the tests of `file`.
///
/// # Errors
/// A host fault. Whatever the tests do is in the [`FileRun`].
pub fn run_file(executor: &dyn Execute, repository: &Repository<'_>, file: &str) -> Result<FileRun, ExecuteError> {
    run(executor, repository, file, false, None)
}

/// Runs those tests of `file` that `wanted` names, in pytest's order. One that is not there has no record.
///
/// # Errors
/// As [`run_file`].
pub fn run_tests(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    wanted: &[String],
) -> Result<FileRun, ExecuteError> {
    run(executor, repository, file, false, Some(wanted))
}

/// Runs the tests of `file`, or those that `wanted` names, in one instance and the package, its `own` modules, in another.
/// Nothing that the package does there reaches the tests but the plain values its functions
/// return, and exceptions. A test that needs more of it is a [`TestResult::Error`], and one that calls none of its functions is
/// [`TestResult::Skipped`].
///
/// # Errors
/// As [`run_file`].
pub fn run_split(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    wanted: Option<&[String]>,
) -> Result<FileRun, ExecuteError> {
    run(executor, repository, file, true, wanted)
}

fn run(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    is_split: bool,
    wanted: Option<&[String]>,
) -> Result<FileRun, ExecuteError> {
    let mut session =
        Session { executor, repository, file, is_split, wanted, jobs: Vec::new(), fuel: 0, met_deadline: false };
    let outcome = session.run(&[session.together()])?;
    let answer = session.answer(&outcome, 0).and_then(|value| records(&value));
    let (tests, broken) = match answer {
        Ok(tests) => (tests, None),
        Err(Refusal::Broken(why)) => (Vec::new(), Some(why)),
        Err(Refusal::Stopped(why)) => session.one_by_one(why)?,
    };
    let twice = repeated(&tests);
    let broken = broken.or(twice.map(|id| format!("test `{id}` has two records")));
    let tests = if broken.is_some() { Vec::new() } else { tests };
    Ok(FileRun { tests, broken, jobs: session.jobs, fuel: session.fuel, met_deadline: session.met_deadline })
}

/// The records of a test file, and what its run entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Covered {
    /// Functions of the repository that were entered, the test file's own left out.
    pub(crate) functions: Vec<Function>,
    /// Its tests.
    pub(crate) tests: Vec<TestRecord>,
}

/// A function, or the body of a class or module.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Function {
    /// Its file.
    pub path: String,
    /// Its qualified name, as `__qualname__`; `<module>` for the body of a module.
    pub name: String,
}

/// Runs the tests of `file` and tells which functions that enters. `Err` inside says why there is nothing to tell.
///
/// # Errors
/// As [`run_file`].
pub(crate) fn cover_file(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
) -> Result<Result<Covered, String>, ExecuteError> {
    let mut session = Session {
        executor,
        repository,
        file,
        is_split: false,
        wanted: None,
        jobs: Vec::new(),
        fuel: 0,
        met_deadline: false,
    };
    let outcome = session.run(&[("cover", Vec::new())])?;
    Ok(match session.answer(&outcome, 0) {
        Ok(value) => covered(&value).ok_or_else(|| "an answer that is no coverage".to_owned()),
        Err(Refusal::Broken(why) | Refusal::Stopped(why)) => Err(why),
    })
}

/// The layers of a job that runs tests.
pub(super) fn mounted(pytest: &Digest, package: &Digest, dependencies: Option<&Digest>) -> Vec<LayerMount> {
    let places =
        [(Some(pytest), LayerRoot::Library), (dependencies, LayerRoot::Dependencies), (Some(package), LayerRoot::Work)];
    places.into_iter().filter_map(|(layer, at)| Some(LayerMount { layer: layer?.clone(), at })).collect()
}

/// Where the top-level modules `own` can lie: as a package or as a file, below each of the roots.
fn code_paths(roots: &[String], own: &[String]) -> Vec<String> {
    let at = |root: &String, name: &String| match root.trim_end_matches('/') {
        "" => [name.clone(), format!("{name}.py")],
        root => [format!("{root}/{name}"), format!("{root}/{name}.py")],
    };
    roots.iter().flat_map(|root| own.iter().flat_map(move |name| at(root, name))).collect()
}

fn repeated(tests: &[TestRecord]) -> Option<&str> {
    let mut seen = HashSet::new();
    tests.iter().map(|test| test.id.as_str()).find(|id| !seen.insert(*id))
}

/// Why a call says nothing of tests.
enum Refusal {
    /// pytest says that the file cannot be tested.
    Broken(String),
    /// There is no readable answer.
    Stopped(String),
}

struct Session<'a> {
    executor: &'a dyn Execute,
    repository: &'a Repository<'a>,
    file: &'a str,
    /// Whether the package is in another instance.
    is_split: bool,
    wanted: Option<&'a [String]>,
    jobs: Vec<Digest>,
    fuel: u64,
    met_deadline: bool,
}

/// Files over those of the layers and files that are gone, as the tests see them, and the package's instance.
struct Sides {
    files: Vec<(String, Vec<u8>)>,
    without: Vec<String>,
    callee: Option<Callee>,
}

/// A mode of the guest's side, and the tests it is for.
type Call<'a> = (&'static str, Vec<&'a str>);

impl<'a> Session<'a> {
    /// The one call that runs everything asked for.
    fn together(&self) -> Call<'a> {
        match self.wanted {
            None => ("all", Vec::new()),
            Some(wanted) => ("some", wanted.iter().map(String::as_str).collect()),
        }
    }

    fn run(&mut self, calls: &[Call<'_>]) -> Result<Outcome, ExecuteError> {
        let job = self.job(calls);
        self.jobs.push(job.digest());
        let outcome = self.executor.execute(&job)?;
        let package = outcome.callee.as_ref().map_or(0, |callee| callee.fuel);
        self.fuel = self.fuel.saturating_add(outcome.fuel).saturating_add(package);
        self.met_deadline |= met_deadline(&outcome);
        Ok(outcome)
    }

    fn job(&self, calls: &[Call<'_>]) -> Job {
        let Repository { image, split_image, pytest, package, roots, own, limits, seed, .. } = self.repository;
        let settings = self.repository.settings.value();
        let Sides { files, without, callee } = self.sides();
        let roots = Value::List(roots.iter().map(Value::str).collect());
        let own = Value::List(own.iter().map(Value::str).collect());
        let arguments = |(mode, ids): &Call<'_>| {
            let ids = Value::List(ids.iter().map(|id| Value::str(*id)).collect());
            let (own, is_split) = (own.clone(), Value::Bool(self.is_split));
            vec![Value::str(*mode), Value::str(self.file), roots.clone(), ids, settings.clone(), own, is_split]
        };
        Job {
            image: (*if self.is_split { split_image } else { image }).to_owned(),
            files,
            limits: *limits,
            seed: *seed,
            callee,
            base: Some(LayerStack { layers: mounted(pytest, package, self.repository.dependencies), without }),
            ..Job::calls(programs::runner(), "run", calls.iter().map(arguments))
        }
    }

    /// What a patch changes, for the instance that is to see it: where there are two, the tests' has nothing of the package's.
    fn sides(&self) -> Sides {
        let Repository { roots, own, tests, files, without, seed, .. } = self.repository;
        if !self.is_split {
            return Sides { files: files.to_vec(), without: without.to_vec(), callee: None };
        }
        let is_test = |path: &String| is_under_any(tests, path);
        let (theirs, own_files) = files.iter().cloned().partition(|(path, _)| is_test(path));
        let (theirs_gone, own_gone): (Vec<String>, Vec<String>) = without.iter().cloned().partition(is_test);
        let callee = Callee {
            program: programs::package(roots, own),
            seed: seed.wrapping_add(1),
            shares_objects: false,
            hidden: [tests.to_vec(), own_gone].concat(),
            only: Some(code_paths(roots, own)),
            files: own_files,
        };
        Sides { files: theirs, without: theirs_gone, callee: Some(callee) }
    }

    /// What call `index` returned.
    fn answer(&self, outcome: &Outcome, index: usize) -> Result<Value, Refusal> {
        match outcome.calls.get(index) {
            Some(CallResult::Returned(bytes)) => {
                let most = usize::try_from(self.repository.limits.output_bytes).unwrap_or(usize::MAX);
                let value = Value::decode(bytes, EncodeCaps::with_bytes(most));
                value.map_err(|error| Refusal::Stopped(error.to_string()))
            }
            Some(CallResult::Raised(error)) => Err(Refusal::Stopped(format!("{}: {}", error.kind, error.message))),
            Some(CallResult::Unencodable(what)) => Err(Refusal::Stopped(format!("it returned {what}"))),
            None => Err(Refusal::Stopped(describe_end(outcome))),
        }
    }

    /// Each test for itself; `why` all of them together did not end.
    fn one_by_one(&mut self, why: String) -> Result<(Vec<TestRecord>, Option<String>), ExecuteError> {
        if self.repository.max_jobs == 0 {
            return Ok((Vec::new(), Some(why)));
        }
        let outcome = self.run(&[("collect", Vec::new())])?;
        let mut ids = match self.answer(&outcome, 0).and_then(|value| ids(&value)) {
            Ok(ids) => ids,
            Err(Refusal::Broken(why) | Refusal::Stopped(why)) => return Ok((Vec::new(), Some(why))),
        };
        if let Some(wanted) = self.wanted {
            let wanted: HashSet<&String> = wanted.iter().collect();
            ids.retain(|id| wanted.contains(id));
        }
        let mut tests: Vec<TestRecord> = Vec::new();
        let enough = self.repository.limits.fuel.saturating_mul(FUEL_FACTOR);
        for _ in 0..self.repository.max_jobs {
            if self.fuel >= enough {
                break;
            }
            let left: Vec<Call<'_>> = ids[tests.len()..].iter().map(|id| ("one", vec![id.as_str()])).collect();
            if left.is_empty() {
                return Ok((tests, None));
            }
            let outcome = self.run(&left)?;
            let count = outcome.calls.len().min(left.len());
            let ran = left[..count].iter().enumerate();
            tests.extend(ran.map(|(index, (_, id))| self.record(&outcome, index, id[0])));
            // The call without a result is the one that ended the job.
            if let Some((_, id)) = left.get(count) {
                tests.push(stopped(id[0], describe_end(&outcome)));
            }
        }
        let missing = |id: &String| TestRecord {
            id: id.clone(),
            result: TestResult::Missing,
            text: why.clone(),
            changes_arguments: false,
        };
        let rest: Vec<TestRecord> = ids[tests.len()..].iter().map(missing).collect();
        tests.extend(rest);
        Ok((tests, None))
    }

    fn record(&self, outcome: &Outcome, index: usize, id: &str) -> TestRecord {
        match self.answer(outcome, index).and_then(|value| records(&value)) {
            Ok(records) => match <[TestRecord; 1]>::try_from(records) {
                Ok([record]) if record.id == id => record,
                _ => stopped(id, "it reported on another test".to_owned()),
            },
            Err(Refusal::Broken(why) | Refusal::Stopped(why)) => stopped(id, why),
        }
    }
}

fn stopped(id: &str, text: String) -> TestRecord {
    TestRecord { id: id.to_owned(), result: TestResult::Stopped, text, changes_arguments: false }
}

/// How a job ended, in words.
fn describe_end(outcome: &Outcome) -> String {
    match (&outcome.exit, &outcome.error) {
        (Exit::Exceeded { limit, allowed, .. }, _) => format!("{limit:?} limit {allowed} exceeded"),
        (_, Some(error)) => format!("{}: {}", error.kind, error.message),
        (exit, None) => format!("ended as {exit:?} without a result"),
    }
}

/// The two parts of an answer, where it is not `broken`.
fn parts(answer: &Value) -> Result<(&str, &[Value]), Refusal> {
    let unreadable = || Refusal::Stopped("an answer that is no record".to_owned());
    let Value::Tuple(parts) = answer else { return Err(unreadable()) };
    match parts.as_slice() {
        [Value::Str(word), Value::Str(why)] if word == "broken" => Err(Refusal::Broken(why.clone())),
        [Value::Str(word), Value::List(items)] => Ok((word, items)),
        _ => Err(unreadable()),
    }
}

fn ids(answer: &Value) -> Result<Vec<String>, Refusal> {
    let (_, items) = parts(answer)?;
    let id = |item: &Value| if let Value::Str(id) = item { Some(id.clone()) } else { None };
    let ids: Option<Vec<String>> = items.iter().map(id).collect();
    ids.ok_or_else(|| Refusal::Stopped("an id that is no text".to_owned()))
}

fn records(answer: &Value) -> Result<Vec<TestRecord>, Refusal> {
    let (_, items) = parts(answer)?;
    let records: Option<Vec<TestRecord>> = items.iter().map(record).collect();
    records.ok_or_else(|| Refusal::Stopped("a record that is none".to_owned()))
}

fn covered(answer: &Value) -> Option<Covered> {
    let Ok(("covered", [Value::List(rows), Value::List(functions)])) = parts(answer) else { return None };
    let functions = functions.iter().map(function).collect::<Option<Vec<_>>>()?;
    Some(Covered { functions, tests: rows.iter().map(record).collect::<Option<Vec<_>>>()? })
}

fn function(item: &Value) -> Option<Function> {
    let Value::Tuple(parts) = item else { return None };
    let [Value::Str(path), Value::Str(name)] = parts.as_slice() else { return None };
    Some(Function { path: path.clone(), name: name.clone() })
}

fn record(item: &Value) -> Option<TestRecord> {
    let Value::Tuple(parts) = item else { return None };
    let [Value::Str(id), Value::Str(word), Value::Str(text), Value::Bool(changes_arguments)] = parts.as_slice() else {
        return None;
    };
    let result = match word.as_str() {
        "passed" => TestResult::Passed,
        "failed" => TestResult::Failed,
        "error" => TestResult::Error,
        "skipped" => TestResult::Skipped,
        "xfailed" => TestResult::Xfailed,
        "xpassed" => TestResult::Xpassed,
        "missing" => TestResult::Missing,
        _ => return None,
    };
    Some(TestRecord { id: id.clone(), result, text: text.clone(), changes_arguments: *changes_arguments })
}
