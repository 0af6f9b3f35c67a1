//! Runs the tests of one file of a repository under pytest, in the sandbox.
//!
//! All requested tests run in one job. If that job does not complete, they run one after the other as calls of one job, which shows the
//! test that stops the interpreter; the tests behind it run in a new job.

use std::collections::HashSet;
use std::sync::LazyLock;

use veriplay_core::{
    CallResult, Callee, Digest, EncodeCaps, Evidence, Execute, ExecuteError, Job, LayerMount, LayerRoot, LayerStack,
    Limits, Outcome, Value, is_under_any,
};
use veriplay_image_python::programs::repository::{PACKAGE, READY_PYTEST, RUNNER, WARM_PYTEST};

use super::records::{
    AnswerError, FileCoverage, FileRun, SKIPPED_FILE, StarredNames, TestRecord, TestResult, first_duplicate,
    parse_coverage, parse_ids, parse_records, parse_starred, stopped_record,
};
use super::settings::PytestSettings;
use crate::runner::{Runner, early_end, string_list};

/// The maximum fuel of a file whose tests stop the interpreter, as a multiple of the limit of one job. Tests beyond it are missing.
const FUEL_FACTOR: u64 = 4;

/// A state of a repository to run tests in.
#[derive(Debug, Clone)]
pub struct Repository<'a> {
    /// The name of the image where tests and package share an instance.
    pub image: &'a str,
    /// The name of the image where they run in two instances. It must hold nothing compiled from the repository, or the instance of the
    /// package would find the original and the tests in its memory.
    pub split_image: &'a str,
    /// The layer of pytest.
    pub pytest: &'a Digest,
    /// The layer of the package.
    pub package: &'a Digest,
    /// The layer of what the package and its tests import besides; `None` for nothing.
    pub dependencies: Option<&'a Digest>,
    /// Directories of the search path, relative to the root, which is "".
    pub roots: &'a [String],
    /// Top-level modules of its code, which are imported from its layer and never from the image.
    pub own: &'a [String],
    /// Files and directories of its tests. A package in an instance of its own does not see them, and the tests there see only their own of
    /// `files` and `without`.
    pub tests: &'a [String],
    /// The repository's own settings of pytest.
    pub settings: &'a PytestSettings,
    /// Files over those of the package, such as a patch makes.
    pub files: &'a [(String, Vec<u8>)],
    /// Deleted files of the package.
    pub without: &'a [String],
    /// The limits of each job.
    pub limits: Limits,
    /// The seed of the random source and clock.
    pub seed: u64,
    /// The maximum number of jobs for a file whose tests stop the interpreter, not counting those that find that out. Tests behind the last
    /// job are [`TestResult::Missing`]. With 0 the whole file is broken.
    pub max_jobs: usize,
}

/// Runs the tests of `file`.
///
/// # Errors
/// A host fault. Whatever the tests do is in the [`FileRun`].
pub fn run_file(executor: &dyn Execute, repository: &Repository<'_>, file: &str) -> Result<FileRun, ExecuteError> {
    run_pytest(executor, repository, file, PackageInstance::Shared, None)
}

/// Runs the tests of `file` that `wanted` names, in the order of pytest. Tests that do not exist have no record.
pub fn run_tests(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    wanted: &[String],
) -> Result<FileRun, ExecuteError> {
    run_pytest(executor, repository, file, PackageInstance::Shared, Some(wanted))
}

/// Runs the tests of `file`, or those that `wanted` names, in one instance and the package, its `own` modules, in another.
/// Nothing that the package does there reaches the tests but the plain values its functions
/// return, and exceptions. A test that needs more of it is a [`TestResult::Error`], and one that calls none of its functions is
/// [`TestResult::Skipped`]. `starred` are the names that `import *` takes of a module; `None` takes what it exports.
pub fn run_split(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    wanted: Option<&[String]>,
    starred: Option<&StarredNames>,
) -> Result<FileRun, ExecuteError> {
    run_pytest(executor, repository, file, PackageInstance::Own(starred), wanted)
}

fn run_pytest(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    package: PackageInstance<'_>,
    wanted: Option<&[String]>,
) -> Result<FileRun, ExecuteError> {
    let mut session = PytestSession { runner: Runner::new(executor), repository, file, package, wanted };
    let outcome = session.run(&[session.whole_file_call()])?;
    let answer = session.answer(&outcome, 0).and_then(|value| Ok((parse_records(&value)?, parse_starred(&value)?)));
    let uncollected = matches!(&answer, Err(AnswerError::Broken(why)) if !why.starts_with(SKIPPED_FILE));
    let (tests, starred, broken) = match answer {
        Ok((tests, starred)) => (tests, starred, None),
        Err(AnswerError::Broken(why)) => (Vec::new(), StarredNames::new(), Some(why)),
        Err(AnswerError::Stopped(why)) => {
            let (tests, broken) = session.run_one_by_one(why)?;
            (tests, StarredNames::new(), broken)
        }
    };
    let twice = first_duplicate(&tests);
    let broken = broken.or(twice.map(|id| format!("test `{id}` has two records")));
    let tests = if broken.is_some() { Vec::new() } else { tests };
    let Evidence { jobs, fuel, met_deadline, .. } = session.runner.evidence;
    Ok(FileRun { tests, broken, uncollected, starred, jobs, fuel, met_deadline })
}

/// Runs the tests of `file` and finds the functions that they enter. `Err` inside says why it cannot.
pub(crate) fn cover_file(
    executor: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
) -> Result<Result<FileCoverage, String>, ExecuteError> {
    let package = PackageInstance::Shared;
    let mut session = PytestSession { runner: Runner::new(executor), repository, file, package, wanted: None };
    let outcome = session.run(&[("cover", Vec::new())])?;
    Ok(match session.answer(&outcome, 0) {
        Ok(value) => parse_coverage(&value).ok_or_else(|| "an answer that is no coverage".to_owned()),
        Err(AnswerError::Broken(why) | AnswerError::Stopped(why)) => Err(why),
    })
}

/// The layers of a job that runs tests.
pub(super) fn mounted(pytest: &Digest, package: &Digest, dependencies: Option<&Digest>) -> Vec<LayerMount> {
    let places =
        [(Some(pytest), LayerRoot::Library), (dependencies, LayerRoot::Dependencies), (Some(package), LayerRoot::Work)];
    places.into_iter().filter_map(|(layer, at)| Some(LayerMount { layer: layer?.clone(), at })).collect()
}

/// The possible paths of the top-level modules `own`: a package or a file below each root.
fn code_paths(roots: &[String], own: &[String]) -> Vec<String> {
    let at = |root: &String, name: &String| match root.trim_end_matches('/') {
        "" => [name.clone(), format!("{name}.py")],
        root => [format!("{root}/{name}"), format!("{root}/{name}.py")],
    };
    roots.iter().flat_map(|root| own.iter().flat_map(move |name| at(root, name))).collect()
}

struct PytestSession<'a> {
    runner: Runner<'a>,
    repository: &'a Repository<'a>,
    file: &'a str,
    package: PackageInstance<'a>,
    wanted: Option<&'a [String]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackageInstance<'a> {
    Shared,
    /// In an instance of its own, with the names that `import *` takes where they are known.
    Own(Option<&'a StarredNames>),
}

/// Files over those of the layers and files that are gone, as the tests see them, and the package's instance.
struct JobFiles {
    files: Vec<(String, Vec<u8>)>,
    without: Vec<String>,
    callee: Option<Callee>,
}

/// A mode of the guest program, and the ids of its tests.
type PytestCall<'a> = (&'static str, Vec<&'a str>);

impl<'a> PytestSession<'a> {
    /// The call that runs all requested tests.
    fn whole_file_call(&self) -> PytestCall<'a> {
        match self.wanted {
            None => ("all", Vec::new()),
            Some(wanted) => ("some", wanted.iter().map(String::as_str).collect()),
        }
    }

    fn run(&mut self, calls: &[PytestCall<'_>]) -> Result<Outcome, ExecuteError> {
        let job = self.job(calls);
        self.runner.try_run(&job)
    }

    fn job(&self, calls: &[PytestCall<'_>]) -> Job {
        let Repository { image, split_image, pytest, package, roots, own, limits, seed, .. } = self.repository;
        let settings = self.repository.settings.value();
        let JobFiles { files, without, callee } = self.job_files();
        let roots = string_list(*roots);
        let own = string_list(*own);
        let arguments = |(mode, ids): &PytestCall<'_>| {
            let ids = string_list(ids.iter().copied());
            let (is_split, starred) = match self.package {
                PackageInstance::Shared => (false, Value::None),
                PackageInstance::Own(starred) => (true, starred.map_or(Value::None, starred_value)),
            };
            let (own, is_split) = (own.clone(), Value::Bool(is_split));
            vec![Value::str(*mode), Value::str(self.file), roots.clone(), ids, settings.clone(), own, is_split, starred]
        };
        Job {
            image: (*if self.package != PackageInstance::Shared { split_image } else { image }).to_owned(),
            files,
            limits: *limits,
            seed: *seed,
            callee,
            base: Some(LayerStack { layers: mounted(pytest, package, self.repository.dependencies), without }),
            ..Job::calls(runner_program(), "run", calls.iter().map(arguments))
        }
    }

    /// Distributes the changes of a patch over the instances: the instance of the tests sees nothing of the package.
    fn job_files(&self) -> JobFiles {
        let Repository { roots, own, tests, files, without, seed, .. } = self.repository;
        if self.package == PackageInstance::Shared {
            return JobFiles { files: files.to_vec(), without: without.to_vec(), callee: None };
        }
        let is_test = |path: &String| is_under_any(tests, path);
        let (theirs, own_files) = files.iter().cloned().partition(|(path, _)| is_test(path));
        let (theirs_gone, own_gone): (Vec<String>, Vec<String>) = without.iter().cloned().partition(is_test);
        let callee = Callee {
            program: package_program(roots, own),
            seed: seed.wrapping_add(1),
            shares_objects: false,
            hidden: [tests.to_vec(), own_gone].concat(),
            only: Some(code_paths(roots, own)),
            files: own_files,
        };
        JobFiles { files: theirs, without: theirs_gone, callee: Some(callee) }
    }

    /// Decodes the return value of call `index`.
    fn answer(&self, outcome: &Outcome, index: usize) -> Result<Value, AnswerError> {
        match outcome.calls.get(index) {
            Some(CallResult::Returned(bytes)) => {
                let most = usize::try_from(self.repository.limits.output_bytes).unwrap_or(usize::MAX);
                let value = Value::decode(bytes, EncodeCaps::with_bytes(most));
                value.map_err(|error| AnswerError::Stopped(error.to_string()))
            }
            Some(CallResult::Raised(error)) => Err(AnswerError::Stopped(format!("{}: {}", error.kind, error.message))),
            Some(CallResult::Unencodable(what)) => Err(AnswerError::Stopped(format!("it returned {what}"))),
            None => Err(AnswerError::Stopped(describe_end(outcome))),
        }
    }

    /// Runs each test in a call of its own; `why` says why the run of all tests together did not complete.
    fn run_one_by_one(&mut self, why: String) -> Result<(Vec<TestRecord>, Option<String>), ExecuteError> {
        if self.repository.max_jobs == 0 {
            return Ok((Vec::new(), Some(why)));
        }
        let outcome = self.run(&[("collect", Vec::new())])?;
        let mut ids = match self.answer(&outcome, 0).and_then(|value| parse_ids(&value)) {
            Ok(ids) => ids,
            Err(AnswerError::Broken(why) | AnswerError::Stopped(why)) => return Ok((Vec::new(), Some(why))),
        };
        if let Some(wanted) = self.wanted {
            let wanted: HashSet<&String> = wanted.iter().collect();
            ids.retain(|id| wanted.contains(id));
        }
        let mut tests: Vec<TestRecord> = Vec::new();
        let enough = self.repository.limits.fuel.saturating_mul(FUEL_FACTOR);
        for _ in 0..self.repository.max_jobs {
            if self.runner.evidence.fuel >= enough {
                break;
            }
            let left: Vec<PytestCall<'_>> = ids[tests.len()..].iter().map(|id| ("one", vec![id.as_str()])).collect();
            if left.is_empty() {
                return Ok((tests, None));
            }
            let outcome = self.run(&left)?;
            let count = outcome.calls.len().min(left.len());
            let ran = left[..count].iter().enumerate();
            tests.extend(ran.map(|(index, (_, id))| self.parse_record(&outcome, index, id[0])));
            // The first call without a result is the one that ended the job.
            if let Some((_, id)) = left.get(count) {
                tests.push(stopped_record(id[0], describe_end(&outcome)));
            }
        }
        let missing = |id: &String| TestRecord { result: TestResult::Missing, ..stopped_record(id, why.clone()) };
        let rest: Vec<TestRecord> = ids[tests.len()..].iter().map(missing).collect();
        tests.extend(rest);
        Ok((tests, None))
    }

    fn parse_record(&self, outcome: &Outcome, index: usize, id: &str) -> TestRecord {
        match self.answer(outcome, index).and_then(|value| parse_records(&value)) {
            Ok(records) => match <[TestRecord; 1]>::try_from(records) {
                Ok([record]) if record.id == id => record,
                _ => stopped_record(id, "it reported on another test".to_owned()),
            },
            Err(AnswerError::Broken(why) | AnswerError::Stopped(why)) => stopped_record(id, why),
        }
    }
}

fn describe_end(outcome: &Outcome) -> String {
    early_end(outcome).unwrap_or_else(|| format!("ended as {:?} without a result", outcome.exit))
}

fn starred_value(starred: &StarredNames) -> Value {
    let entry = |(module, names): (&String, &Vec<String>)| (Value::str(module.as_str()), string_list(names));
    Value::Dict(starred.iter().map(entry).collect())
}

/// Defines `run`: from the code that a warm image has compiled, or compiled now, which is a good part of a small run.
fn runner_program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let source = bytes_literal(RUNNER);
        format!(
            "from importlib.machinery import SourceFileLoader as _loader\n\
             _source = {source}\n\
             _code = getattr(_loader, '_veriplay_compiled', {{}}).get(('<runner>', _source))\n\
             exec(_code or compile(_source, '<runner>', 'exec'))\n\
             del _loader, _source, _code\n"
        )
    });
    &PROGRAM
}

/// Defines `serve`, for an instance of only the package.
fn package_program(roots: &[String], own: &[String]) -> String {
    format!("ROOTS = {}\nOWN = {}\n{PACKAGE}", string_list(roots), string_list(own))
}

/// Compiles what [`runner_program`] looks for, and prepares the jobs that follow.
pub(super) fn warm_program(library: &[String]) -> String {
    let library = string_list(library);
    format!("{READY_PYTEST}\n_RUNNER = {}\n_LIBRARY = {library}\n{WARM_PYTEST}", bytes_literal(RUNNER))
}

/// The bytes of `text` as a Python literal. Bytes are what files hold too, like the other compiled sources.
fn bytes_literal(text: &str) -> String {
    Value::Bytes(text.as_bytes().to_vec()).to_string()
}
