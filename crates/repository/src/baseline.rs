//! The baseline of a repository: every test file twice, with different seeds, files in parallel, largest first.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::progress::{self, counted};
use veriplay_core::{Execute, Layer, Limits, SCHEMA_VERSION};
use veriplay_corpus::repository::{RepositoryLayout, TestSelection};
use veriplay_sandbox::{Image, SandboxOptions};
use veriplay_verifier::bugs::own_modules;
use veriplay_verifier::repository::{
    Baseline, FileBaseline, FileRun, Inspection, Inspector, Repository, baseline_of, run_file, run_tests,
};

use super::dependencies::{DependencySource, ResolvedDependencies, resolve_dependencies};
use super::records::write_record;
use super::warm::{WarmSources, warmed_for};
use super::{Requirement, pytest_layer};

/// The limits of the jobs that measure a baseline, and of the tests of a repository: those of a file. The default of the image is for one
/// small program.
pub const BASELINE_LIMITS: Limits = Limits {
    fuel: 400_000_000_000,
    memory_bytes: 1 << 30,
    output_bytes: 16 << 20,
    file_bytes: 64 << 20,
    deadline_ns: 600_000_000_000,
};
const SEEDS: [u64; 2] = [1, 2];
/// Of a file whose tests stop the interpreter.
const MAX_JOBS: usize = 40;
/// Fuel of a part of a file in the second run: by the fuel of the first run and not by idle cores, so that the record is the
/// same on every machine.
const PART_FUEL: u64 = 20_000_000_000;

/// A package to record.
pub struct BaselineRequest<'a> {
    /// The package and its version.
    pub requirement: &'a Requirement,
    /// The files of the package.
    pub package: &'a Layer,
    /// Where its dependencies come from.
    pub dependencies: DependencySource<'a>,
    /// Where the guests that run its tests run.
    pub workers: Isolation,
}

/// The measured baseline and its times.
pub struct MeasuredBaseline {
    /// What each test ended as.
    pub baseline: Baseline,
    /// The dependencies that it was measured with.
    pub dependencies: Option<Layer>,
    /// How long the parts of the measurement took.
    pub timing: BaselineTiming,
}

impl MeasuredBaseline {
    /// Writes the files into `dir`. `baseline.json` comes last: where it is, the others are.
    pub fn write(&self, dir: &Path, package: &Layer) -> Result<(), Failure> {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("cannot make `{}`", dir.display()))
            .or_fail(ExitCode::Input)?;
        write_record(&dir.join("layer.json"), package)?;
        if let Some(dependencies) = &self.dependencies {
            write_record(&dir.join("dependencies.json"), dependencies)?;
        }
        write_record(&dir.join("timing.json"), &self.timing)?;
        write_record(&dir.join("baseline.json"), &self.baseline)
    }
}

/// How long it took, on this machine, beside others: the one record that differs from run to run.
#[derive(Debug, serde::Serialize)]
pub struct BaselineTiming {
    /// Wall-clock nanoseconds from the sources to the baseline, without pip's downloads.
    pub total_ns: u64,
    /// Of the first run of each file.
    pub files: BTreeMap<String, u64>,
}

/// Runs the tests of a package.
pub fn measure_baseline(request: &BaselineRequest<'_>) -> Result<MeasuredBaseline, Failure> {
    let pytest = pytest_layer()?;
    let image = image::python()?;
    let image_digest = image.digest().clone();
    let (inspection, resolved, layout) = inspect(request, &pytest, Arc::clone(&image))?;
    let started = Instant::now();
    let package = request.package;
    let dependencies = resolved.layer.as_ref();
    // Warm, as small files are mostly starts of pytest; the records are the same.
    let nothing = Layer::new([]).or_fail(ExitCode::Bug)?;
    let warmed = |package| {
        let sources = WarmSources { package, dependencies, library: &inspection.library, limits: BASELINE_LIMITS };
        warmed_for(Arc::clone(&image), "recording", &pytest, &[sources])
    };
    // Sources that cannot be compiled in advance are not a host fault: their tests will fail.
    let image = warmed(package).or_else(|_| warmed(&nothing))?;
    let image_name = image.name().to_owned();
    let layers = [Some(package), Some(&pytest), dependencies].into_iter().flatten().cloned().collect();
    let sandbox = isolation::open_sandbox(image, SandboxOptions::fastest(), request.workers)?.with_layers(layers);
    let own = own_modules(package.files().keys().map(String::as_str), &layout.roots, &layout.test_files);
    let repository = Repository {
        image: &image_name,
        split_image: &image_name,
        pytest: pytest.digest(),
        package: package.digest(),
        dependencies: dependencies.map(Layer::digest),
        roots: &layout.roots,
        own: &own,
        tests: &[],
        settings: &inspection.settings,
        files: &[],
        without: &[],
        limits: BASELINE_LIMITS,
        seed: 0,
        max_jobs: MAX_JOBS,
    };
    let recorded = run_files(&sandbox, &repository, package, &layout.test_files, &request.requirement.to_string())?;
    let files = recorded.iter().map(|(file, wall_ns)| (file.path.clone(), *wall_ns)).collect();
    let timing = BaselineTiming { total_ns: nanoseconds(started), files };
    let mut notes = [inspection.notes, resolved.notes].concat();
    if layout.ignored_selection {
        notes.push("its configuration names no test file that is there; pytest's own names were looked for".to_owned());
    }
    let baseline = Baseline {
        schema_version: SCHEMA_VERSION,
        name: request.requirement.name.clone(),
        version: request.requirement.version.clone(),
        package: package.digest().clone(),
        pytest: pytest.digest().clone(),
        image: image_digest,
        limits: BASELINE_LIMITS,
        seeds: SEEDS,
        dependencies: resolved.pins,
        roots: layout.roots,
        settings: inspection.settings,
        library: inspection.library,
        notes,
        files: recorded.into_iter().map(|(file, _)| file).collect(),
    };
    Ok(MeasuredBaseline { baseline, dependencies: resolved.layer, timing })
}

/// Reads the repository's configuration, its dependencies, and where its tests are.
fn inspect(
    request: &BaselineRequest<'_>,
    pytest: &Layer,
    image: Arc<Image>,
) -> Result<(Inspection, ResolvedDependencies, RepositoryLayout), Failure> {
    let package = request.package;
    let paths = || package.files().keys().map(String::as_str);
    let by_name = RepositoryLayout::detect(paths());
    let name = image.name().to_owned();
    let sandbox = isolation::open_sandbox(image, SandboxOptions::fastest(), request.workers)?;
    let sandbox = sandbox.with_layers([package.clone(), pytest.clone()].into_iter().collect());
    let (pytest, limits) = (pytest.digest(), BASELINE_LIMITS);
    let inspector = Inspector { execute: &sandbox, image: &name, pytest, package: package.digest(), limits };
    let inspected = inspector.repository(&by_name.test_files).or_fail(ExitCode::Host)?;
    let mut inspection = inspected.unwrap_or_else(|why| Inspection { notes: vec![why], ..Inspection::default() });
    let selection = TestSelection {
        test_paths: &inspection.test_paths,
        file_patterns: &inspection.settings.python_files,
        python_path: &inspection.python_path,
    };
    let layout = RepositoryLayout::detect_with(paths(), selection);
    if layout.test_files.is_empty() {
        let text = format!("`{}` has no test files in its source distribution", request.requirement);
        return Err(Failure::message(ExitCode::Input, text).hint(
            "`--tests FILE|DIR|URL@COMMIT` adds them from the project's own repository; looked for are the names that its pytest \
             configuration gives, else `test_*.py` and `*_test.py`",
        ));
    }
    if layout.test_files != by_name.test_files {
        let again = inspector.repository(&layout.test_files).or_fail(ExitCode::Host)?;
        if let Ok(again) = again {
            (inspection.imports, inspection.library) = (again.imports, again.library);
        }
    }
    let resolved = resolve_dependencies(&inspector, &inspection, request.requirement, package, request.dependencies)?;
    Ok((inspection, resolved, layout))
}

/// Every file, in the order of their paths, with the wall-clock time of its first run. The largest are begun first, so that the
/// last to end is a small one.
fn run_files(
    sandbox: &dyn Execute,
    repository: &Repository<'_>,
    package: &Layer,
    files: &[String],
    what: &str,
) -> Result<Vec<(FileBaseline, u64)>, Failure> {
    let mut order: Vec<&String> = files.iter().collect();
    let size = |path: &String| package.files().get(path).map_or(0, |bytes| bytes.len());
    order.sort_by_key(|path| std::cmp::Reverse(size(path)));
    let bar = progress::bar(files.len() as u64, "test files");
    let (passed, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = |path: &&String| {
        let (file, wall_ns) = run_file_twice(sandbox, repository, path)?;
        passed.fetch_add(file.passed.len(), Ordering::Relaxed);
        others.fetch_add(file.unsupported.len(), Ordering::Relaxed);
        bar.inc(1);
        let (passed, others) = (passed.load(Ordering::Relaxed), others.load(Ordering::Relaxed));
        bar.set_message(format!("{what}: {} passed, {others} did not", counted(passed, "test")));
        Ok::<_, Failure>((file, wall_ns))
    };
    let recorded = order.par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>, Failure>>();
    bar.finish_and_clear();
    let mut recorded = recorded?;
    recorded.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    Ok(recorded)
}

fn run_file_twice(
    sandbox: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
) -> Result<(FileBaseline, u64), Failure> {
    let seeded = |seed| Repository { seed, ..repository.clone() };
    let started = Instant::now();
    let first = run_file(sandbox, &seeded(SEEDS[0]), file).or_fail(ExitCode::Host)?;
    let wall_ns = nanoseconds(started);
    let second = match split_by_fuel(&first) {
        parts if parts.len() > 1 => run_parts(sandbox, &seeded(SEEDS[1]), file, &parts)?,
        _ => run_file(sandbox, &seeded(SEEDS[1]), file).or_fail(ExitCode::Host)?,
    };
    tracing::info!(file, tests = first.tests.len(), fuel = first.fuel, "baseline");
    Ok((baseline_of(file, &first, &second), wall_ns))
}

/// The tests of a file that takes long, in parts that may run in parallel.
fn split_by_fuel(first: &FileRun) -> Vec<Vec<String>> {
    let count = usize::try_from(first.fuel / PART_FUEL).unwrap_or(usize::MAX).clamp(1, first.tests.len().max(1));
    let ids: Vec<String> = first.tests.iter().map(|test| test.id.clone()).collect();
    ids.chunks(ids.len().div_ceil(count).max(1)).map(<[String]>::to_vec).collect()
}

fn run_parts(
    sandbox: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
    parts: &[Vec<String>],
) -> Result<FileRun, Failure> {
    let run = |ids: &Vec<String>| run_tests(sandbox, repository, file, ids).or_fail(ExitCode::Host);
    let runs: Vec<FileRun> = parts.into_par_iter().with_max_len(1).map(run).collect::<Result<_, Failure>>()?;
    let mut whole = FileRun::default();
    for run in runs {
        whole.tests.extend(run.tests);
        whole.broken = whole.broken.or(run.broken);
        whole.uncollected |= run.uncollected;
        whole.jobs.extend(run.jobs);
        whole.fuel = whole.fuel.saturating_add(run.fuel);
        whole.met_deadline |= run.met_deadline;
    }
    Ok(whole)
}

fn nanoseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
