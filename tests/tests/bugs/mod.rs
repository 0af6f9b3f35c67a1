//! Bugs in a repository, on the real sandbox under the real pytest: what is accepted, what is refused, and by which check.
//!
//! The repository is `task-corpus/bug_cheats/repository`. pytest is the layer that `veriplay corpus add-repo` keeps in the
//! cache, or what pip brings; where neither is to be had the tests are skipped, unless `VERIPLAY_REQUIRE_PIP` is set, as it is
//! in `.ci/run`.

mod called;
mod cheats;
mod checks;
mod episodes;
mod files;
mod modes;
mod operators;
mod play;
mod runs;
mod trust;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use veriplay_core::{Digest, Fuzz, Layer, Limits, Patch, SCHEMA_VERSION, Status, TextFiles, Trust, Verdict};
use veriplay_corpus::repository::{PYTEST_WHEELS, PytestWheel, RepositoryLayout, wheel_layer};
use veriplay_sandbox::{Layers, OutcomeCache, Sandbox, SandboxOptions, SandboxSet, default_cache_dir};
use veriplay_tests::external::report_without_pip;
use veriplay_tests::python_image;
use veriplay_verifier::bugs::{
    BugArtifact, BugProposal, BugRules, BugValidation, RepairRequest, RepoContext, TestMap, grade_repair, own_modules,
    validate_bug,
};
use veriplay_verifier::repository::{Baseline, PytestSettings, Repository, baseline_of, run_file, warming};

const LIMITS: Limits = Limits {
    fuel: 60_000_000_000,
    memory_bytes: 1 << 30,
    output_bytes: 16 << 20,
    file_bytes: 64 << 20,
    deadline_ns: 600_000_000_000,
};

const CODE: &str = "src/tally/core.py";
const TESTS: &str = "tests/test_core.py";

/// The image of tool environments and of tests with the package in another instance: pytest is imported there, and nothing of the
/// repository was compiled.
const TOOL_ENV: &str = "tool_env";

/// The repository, measured once for all tests.
struct Bed {
    /// It remembers: the tests share most of their runs.
    sandbox: OutcomeCache<SandboxSet>,
    artifact: OnceLock<BugArtifact>,
    pytest: Digest,
    texts: TextFiles,
    binaries: BTreeSet<String>,
    baseline: Baseline,
    map: TestMap,
}

impl Bed {
    /// Most attempts of the corpus are on tests beside the package; `trust.rs` has the others.
    fn repo(&self) -> RepoContext<'_> {
        self.under(Trust::Shared)
    }

    fn under(&self, trust: Trust) -> RepoContext<'_> {
        RepoContext {
            image: "python",
            split_image: TOOL_ENV,
            pytest: &self.pytest,
            texts: &self.texts,
            binaries: &self.binaries,
            baseline: &self.baseline,
            map: &self.map,
            limits: LIMITS,
            max_jobs: 0,
            trust,
        }
    }

    /// The repository with `files` over it, whose own top-level modules are `own`.
    fn repository<'a>(&'a self, own: &'a [String], files: &'a [(String, Vec<u8>)]) -> Repository<'a> {
        Repository {
            image: "python",
            split_image: TOOL_ENV,
            pytest: &self.pytest,
            package: &self.baseline.package,
            dependencies: None,
            roots: &self.baseline.roots,
            own,
            tests: &[],
            settings: &self.baseline.settings,
            files,
            without: &[],
            limits: LIMITS,
            seed: 5,
            max_jobs: 0,
        }
    }

    /// The original with `old` replaced in `path`.
    fn with(&self, path: &str, old: &str, new: &str) -> TextFiles {
        replaced(&self.texts, path, old, new)
    }

    fn patch(&self, now: &TextFiles) -> Patch {
        Patch::make(&self.texts, now).unwrap()
    }

    /// The bug that makes `buggy` of the original, and `weakened` of its tests in `tests`.
    fn bug(&self, buggy: &TextFiles, weakened: &TextFiles, tests: &str) -> BugProposal {
        BugProposal::first_order(self.patch(buggy), self.patch(weakened), [tests], "by hand", 0)
    }

    /// The one-line bug that most tests are about.
    fn proposal(&self) -> BugProposal {
        let buggy = self.with(CODE, "    result = 0\n", "    result = 1\n");
        let weakened = self.with(TESTS, "def test_total():\n    assert total(numbers()) == 6\n\n\n", "");
        self.bug(&buggy, &weakened, TESTS)
    }

    fn validated(&self, trust: Trust, bug: &BugProposal) -> BugValidation {
        validate_bug(&self.sandbox, &self.under(trust), bug, &BugRules::LEAST).unwrap()
    }

    fn valid(&self, trust: Trust, bug: &BugProposal) -> BugArtifact {
        let validated = self.validated(trust, bug);
        validated.artifact.unwrap_or_else(|| panic!("{:?}", validated.verdict))
    }

    fn artifact(&self) -> &BugArtifact {
        self.artifact.get_or_init(|| self.valid(Trust::Shared, &self.proposal()))
    }

    /// The verdict on the patch that makes `after` of the buggy, weakened repository.
    fn graded(&self, trust: Trust, artifact: &BugArtifact, after: &TextFiles) -> Verdict {
        let patch = Patch::make(&self.weakened(artifact), after).unwrap();
        self.graded_text(trust, artifact, &patch.to_string())
    }

    fn graded_text(&self, trust: Trust, artifact: &BugArtifact, patch: &str) -> Verdict {
        let request = RepairRequest { artifact, patch, fuzz: Fuzz::NONE, seed: 0 };
        grade_repair(&self.sandbox, &self.under(trust), &request).unwrap()
    }

    fn weakened(&self, artifact: &BugArtifact) -> TextFiles {
        artifact.bug.test_weaken.apply(&artifact.bug.bug_inject.apply(&self.texts).unwrap()).unwrap()
    }
}

fn ending(verdict: &Verdict) -> (Status, &str) {
    (verdict.status, verdict.evidence.rule.as_str())
}

fn replaced(texts: &TextFiles, path: &str, old: &str, new: &str) -> TextFiles {
    let mut now = texts.clone();
    let text = now.get_mut(path).unwrap_or_else(|| panic!("there is no `{path}`"));
    assert_eq!(text.matches(old).count(), 1, "`{old}` in `{path}`");
    *text = text.replace(old, new);
    now
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../task-corpus/bug_cheats")
}

/// The texts of a folder, by their names without endings.
pub(crate) fn texts_in(folder: &Path) -> BTreeMap<String, String> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

/// The repository that most tests share, or nothing where there is no pytest.
fn bed() -> Option<&'static Bed> {
    static BED: OnceLock<Option<Bed>> = OnceLock::new();
    measured_once(&BED, "tally", "repository")
}

/// A repository of the corpus, measured where that is the first to ask for it.
fn measured_once(kept: &'static OnceLock<Option<Bed>>, name: &str, folder: &str) -> Option<&'static Bed> {
    let bed = kept.get_or_init(|| Some(measured(pytest()?, name, &corpus().join(folder)))).as_ref();
    if bed.is_none() {
        report_without_pip("pytest's wheels are not in the cache, and pip does not bring them");
    }
    bed
}

fn pytest() -> Option<Layer> {
    let cache = default_cache_dir().ok()?.join("wheels");
    let wheel = |wheel: &PytestWheel| fs::read(cache.join(format!("{}.whl", wheel.sha256))).ok();
    let kept: Option<Vec<_>> = PYTEST_WHEELS.iter().map(wheel).collect();
    wheel_layer(&kept.or_else(downloaded)?).ok()
}

/// The pinned wheels, which pip checks by their digests.
fn downloaded() -> Option<Vec<Vec<u8>>> {
    let scratch = tempfile::tempdir().ok()?;
    let pins = PYTEST_WHEELS.iter().map(|wheel| format!("{} --hash=sha256:{}\n", wheel.requirement, wheel.sha256));
    let (list, to) = (scratch.path().join("pins.txt"), scratch.path().join("wheels"));
    fs::write(&list, pins.collect::<String>()).ok()?;
    let python = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let options =
        ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--dest"];
    let brought = Command::new(python).args(options).arg(&to).arg("--requirement").arg(&list).status().ok()?;
    let files = brought.success().then(|| fs::read_dir(&to).ok())??;
    files.map(|file| fs::read(file.ok()?.path()).ok()).collect()
}

fn measured(pytest: Layer, name: &str, directory: &Path) -> Bed {
    let package = Layer::new(files_under(directory, "")).unwrap();
    let image = python_image();
    let layout = RepositoryLayout::detect(package.files().keys().map(String::as_str));
    let (texts, binaries, nothing) = (package.texts(), package.binaries(), Layer::new([]).unwrap());
    let own = own_modules(texts.keys().map(String::as_str), &layout.roots, &layout.test_files);
    let [pytest_digest, package_digest, nothing_digest] =
        [&pytest, &package, &nothing].map(|layer| layer.digest().clone());
    let layers: Layers = [package, pytest, nothing].into_iter().collect();
    // As the command line does it: pytest is imported once, in each image.
    let images = [("python", &package_digest), (TOOL_ENV, &nothing_digest)].map(|(name, package)| {
        let warm = warming("python", &pytest_digest, package, None, &[], LIMITS);
        let image = image.warm_up(name, &warm, &layers).unwrap();
        Sandbox::new(image, SandboxOptions::fastest()).with_layers(layers.clone())
    });
    let baseline = Baseline {
        schema_version: SCHEMA_VERSION,
        name: name.to_owned(),
        version: "1.0".to_owned(),
        package: package_digest.clone(),
        pytest: pytest_digest.clone(),
        image: image.digest().clone(),
        limits: LIMITS,
        seeds: [1, 2],
        dependencies: None,
        roots: layout.roots,
        settings: PytestSettings::default(),
        library: Vec::new(),
        notes: Vec::new(),
        files: Vec::new(),
    };
    let (sandbox, artifact) = (OutcomeCache::new(SandboxSet::new(Vec::from(images)), 4096), OnceLock::new());
    let map = TestMap::unmeasured(package_digest);
    let mut bed = Bed { sandbox, artifact, pytest: pytest_digest, texts, binaries, baseline, map };
    let run = |file: &str, seed| {
        let repository = Repository { seed, max_jobs: 40, ..bed.repository(&own, &[]) };
        run_file(&bed.sandbox, &repository, file).unwrap()
    };
    bed.baseline.files = layout.test_files.iter().map(|file| baseline_of(file, &run(file, 1), &run(file, 2))).collect();
    bed.map = TestMap::measure(&bed.sandbox, &bed.repo()).unwrap();
    bed
}

fn files_under(dir: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => found.extend(files_under(&entry.path(), &format!("{name}/"))),
            false => found.push((name, fs::read(entry.path()).unwrap())),
        }
    }
    found
}
