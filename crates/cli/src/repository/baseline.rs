//! The baseline of a repository: every test file twice, with different seeds, files beside each other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use veriplay_core::{Execute, Layer, Limits};
use veriplay_corpus::repository::Layout;
use veriplay_sandbox::{Image, SandboxOptions};
use veriplay_verifier::repository::{Baseline, FileBaseline, Repository, baseline_of, run_file};

use super::Requirement;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::workers::{self, Workers};

/// A start of pytest, a collection, and the tests of a file. The default of the image is for one small program.
const FUEL: u64 = 400_000_000_000;
const MEMORY_BYTES: u64 = 1 << 30;
const OUTPUT_BYTES: u64 = 16 << 20;
const FILE_BYTES: u64 = 64 << 20;
const DEADLINE_NS: u64 = 600_000_000_000;
const SEEDS: [u64; 2] = [1, 2];
/// Of a file whose tests stop the interpreter.
const MAX_JOBS: usize = 40;

/// What was found, and how long it took.
pub(crate) struct Measured {
    pub(crate) baseline: Baseline,
    /// Wall-clock nanoseconds of the first run of each file, in this process, beside others.
    pub(crate) wall_ns: BTreeMap<String, u64>,
}

/// Runs the tests of `package`.
pub(crate) fn measure(
    requirement: &Requirement,
    package: Layer,
    pytest: Layer,
    image: Arc<Image>,
    workers: Workers,
) -> Result<Measured, Failure> {
    let layout = Layout::of(package.files().keys().map(String::as_str));
    if layout.test_files.is_empty() {
        let text = format!("`{requirement}` has no test files in its source distribution");
        return Err(
            Failure::message(ExitCode::Input, text).hint("pytest's names are looked for: `test_*.py`, `*_test.py`")
        );
    }
    let (package_digest, pytest_digest) = (package.digest().clone(), pytest.digest().clone());
    let (image_name, image_digest) = (image.name().to_owned(), image.digest().clone());
    let sandbox = workers::sandbox(image, SandboxOptions::fastest(), workers)?;
    let sandbox = sandbox.with_layers([package, pytest].into_iter().collect());
    let repository = Repository {
        image: &image_name,
        pytest: &pytest_digest,
        package: &package_digest,
        roots: &layout.roots,
        files: &[],
        without: &[],
        limits: limits(),
        seed: 0,
        max_jobs: MAX_JOBS,
    };
    let measured: Vec<(FileBaseline, u64)> = layout
        .test_files
        .par_iter()
        .map(|file| measure_file(&sandbox, &repository, file))
        .collect::<Result<_, Failure>>()?;
    let wall_ns = measured.iter().map(|(file, wall_ns)| (file.path.clone(), *wall_ns)).collect();
    let baseline = Baseline {
        schema_version: Baseline::SCHEMA_VERSION,
        name: requirement.name.clone(),
        version: requirement.version.clone(),
        package: package_digest.clone(),
        pytest: pytest_digest.clone(),
        image: image_digest,
        limits: limits(),
        seeds: SEEDS,
        roots: layout.roots.clone(),
        files: measured.into_iter().map(|(file, _)| file).collect(),
    };
    Ok(Measured { baseline, wall_ns })
}

pub(super) fn limits() -> Limits {
    Limits {
        fuel: FUEL,
        memory_bytes: MEMORY_BYTES,
        output_bytes: OUTPUT_BYTES,
        file_bytes: FILE_BYTES,
        deadline_ns: DEADLINE_NS,
    }
}

fn measure_file(
    sandbox: &dyn Execute,
    repository: &Repository<'_>,
    file: &str,
) -> Result<(FileBaseline, u64), Failure> {
    let run = |seed| run_file(sandbox, &Repository { seed, ..repository.clone() }, file).or_fail(ExitCode::Host);
    let started = Instant::now();
    let first = run(SEEDS[0])?;
    let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let second = run(SEEDS[1])?;
    tracing::info!(file, tests = first.tests.len(), fuel = first.fuel, "baseline");
    Ok((baseline_of(file, &first, &second), wall_ns))
}
