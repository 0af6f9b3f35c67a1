//! One test file of a repository under pytest, in the sandbox.
//!
//! All tests of the file run in one job. When that job does not come to its end, they run one after the other as calls of one
//! job, so that the test which stops the interpreter is known and those behind it are run in a new one.

use std::collections::HashSet;

use veriplay_core::{
    Base, CallResult, Digest, EncodeCaps, Entry, Execute, ExecuteError, Exit, Job, Limits, Mounted, Outcome, Place,
    Value,
};

/// The guest's side.
const PROGRAM: &str = include_str!("run_pytest.py");
/// Jobs a file may cost when its tests stop the interpreter.
const MAX_JOBS: usize = 40;

/// What is run, and on what.
#[derive(Debug, Clone)]
pub struct Repository<'a> {
    /// The image's name.
    pub image: &'a str,
    /// The layer of pytest.
    pub pytest: &'a Digest,
    /// The layer of the package.
    pub package: &'a Digest,
    /// Directories of the search path, relative to the root, which is "".
    pub roots: &'a [String],
    /// Files over those of the package: a patch.
    pub files: &'a [(String, Vec<u8>)],
    /// Files of the package that are gone.
    pub without: &'a [String],
    /// Of each job.
    pub limits: Limits,
    /// Of the guest's random source and clock.
    pub seed: u64,
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
}

/// One test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRun {
    /// One record a test, in pytest's order, each id once.
    pub tests: Vec<TestRecord>,
    /// Why there are no records at all.
    pub broken: Option<String>,
    /// Of all its jobs.
    pub fuel: u64,
}

/// Runs the tests of `file`.
///
/// # Errors
/// A fault of the host's. Whatever the tests do is in the [`FileRun`].
pub fn run_file(executor: &dyn Execute, repository: &Repository<'_>, file: &str) -> Result<FileRun, ExecuteError> {
    let mut session = Session { executor, repository, file, fuel: 0 };
    let outcome = session.run(&[("all", "")])?;
    let answer = session.answer(&outcome, 0).and_then(|value| records(&value));
    let (tests, broken) = match answer {
        Ok(tests) => (tests, None),
        Err(Refusal::Broken(why)) => (Vec::new(), Some(why)),
        Err(Refusal::Stopped(why)) => session.one_by_one(why)?,
    };
    let twice = repeated(&tests);
    let broken = broken.or(twice.map(|id| format!("test `{id}` has two records")));
    let tests = if broken.is_some() { Vec::new() } else { tests };
    Ok(FileRun { tests, broken, fuel: session.fuel })
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
    fuel: u64,
}

impl Session<'_> {
    fn run(&mut self, calls: &[(&str, &str)]) -> Result<Outcome, ExecuteError> {
        let outcome = self.executor.execute(&self.job(calls))?;
        self.fuel = self.fuel.saturating_add(outcome.fuel);
        Ok(outcome)
    }

    fn job(&self, calls: &[(&str, &str)]) -> Job {
        let Repository { image, pytest, package, roots, files, without, limits, seed } = self.repository;
        let roots = Value::List(roots.iter().map(Value::str).collect());
        let arguments =
            |(mode, id): &(&str, &str)| vec![Value::str(*mode), Value::str(self.file), roots.clone(), Value::str(*id)];
        let mounted = |layer: &Digest, at| Mounted { layer: layer.clone(), at };
        Job {
            image: (*image).to_owned(),
            program: PROGRAM.to_owned(),
            entry: Entry::Calls { function: "run".to_owned(), arguments: calls.iter().map(arguments).collect() },
            stdin: Vec::new(),
            files: files.to_vec(),
            limits: *limits,
            seed: *seed,
            peer: None,
            base: Some(Base {
                layers: vec![mounted(pytest, Place::Library), mounted(package, Place::Work)],
                without: without.to_vec(),
            }),
        }
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
            None => Err(Refusal::Stopped(ended(outcome))),
        }
    }

    /// Each test for itself; `why` all of them together did not end.
    fn one_by_one(&mut self, why: String) -> Result<(Vec<TestRecord>, Option<String>), ExecuteError> {
        let outcome = self.run(&[("collect", "")])?;
        let ids = match self.answer(&outcome, 0).and_then(|value| ids(&value)) {
            Ok(ids) => ids,
            Err(Refusal::Broken(why) | Refusal::Stopped(why)) => return Ok((Vec::new(), Some(why))),
        };
        let mut tests: Vec<TestRecord> = Vec::new();
        for _ in 0..MAX_JOBS {
            let left: Vec<(&str, &str)> = ids[tests.len()..].iter().map(|id| ("one", id.as_str())).collect();
            if left.is_empty() {
                return Ok((tests, None));
            }
            let outcome = self.run(&left)?;
            let count = outcome.calls.len().min(left.len());
            let ran = left[..count].iter().enumerate();
            tests.extend(ran.map(|(index, (_, id))| self.record(&outcome, index, id)));
            // The call without a result is the one that ended the job.
            if let Some((_, id)) = left.get(count) {
                tests.push(stopped(id, ended(&outcome)));
            }
        }
        let rest: Vec<TestRecord> = ids[tests.len()..].iter().map(|id| stopped(id, why.clone())).collect();
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
    TestRecord { id: id.to_owned(), result: TestResult::Stopped, text }
}

/// How a job ended, in words.
fn ended(outcome: &Outcome) -> String {
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

fn record(item: &Value) -> Option<TestRecord> {
    let Value::Tuple(parts) = item else { return None };
    let [Value::Str(id), Value::Str(word), Value::Str(text)] = parts.as_slice() else { return None };
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
    Some(TestRecord { id: id.clone(), result, text: text.clone() })
}
