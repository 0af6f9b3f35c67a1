//! A repository that `corpus add-repo` wrote, with the map of its tests. A plain directory of sources becomes one: its tests are run once, and
//! their results are kept in the cache.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::isolation::Isolation;
use veriplay_core::{Digest, Execute, Layer, TextFiles, Trust};
use veriplay_corpus::{BUILTIN_PREFIX, builtin_repository};
use veriplay_sandbox::{Sandbox, SandboxOptions, default_cache_dir};
use veriplay_verifier::bugs::{PastChange, RepoContext, TestMap};
use veriplay_verifier::repository::Baseline;

use super::Requirement;
use super::baseline::{BaselineRequest, measure_baseline};
use super::dependencies::DependencySource;
use super::pip::pytest_layer;
use super::records::{read_history, read_record, write_record};
use super::warm::{RepoImages, WarmSources};

/// A bug or repair that stops the interpreter is not taken apart test by test: the fuel for that would be a limit's each.
const MAX_JOBS: usize = 0;

/// A repository on disk.
pub struct StoredRepository {
    /// Where the repository is stored.
    pub directory: PathBuf,
    /// The results of its tests, as they were measured.
    pub baseline: Baseline,
    /// The files of the package.
    pub package: Layer,
    /// The package's dependencies.
    pub dependencies: Option<Layer>,
    texts: TextFiles,
    /// The paths of the package's other files.
    binaries: BTreeSet<String>,
    /// Past changes of its files.
    pub history: Vec<PastChange>,
}

impl StoredRepository {
    /// Opens `name`: `NAME==VERSION` in the cache, a directory that `add-repo` wrote, one of plain sources, or a built-in repository.
    pub fn open(name: &str) -> Result<Self, Failure> {
        let Some(directory) = find_repository_directory(name)? else { return open_builtin(name) };
        if directory.is_dir() && !directory.join("layer.json").exists() {
            return open_sources(&read_layer(&directory)?, &requirement_from_directory(&directory)?);
        }
        Self::open_written(directory)
    }

    /// Opens a directory of [`super::MeasuredBaseline::write`].
    fn open_written(directory: PathBuf) -> Result<Self, Failure> {
        let baseline: Baseline = read_record(&directory.join("baseline.json"))?;
        let package: Layer = read_record(&directory.join("layer.json"))?;
        let pinned = baseline.dependencies.as_ref().map(|pinned| &pinned.layer);
        let dependencies: Option<Layer> =
            pinned.map(|_| read_record(&directory.join("dependencies.json"))).transpose()?;
        if baseline.package != *package.digest() || pinned != dependencies.as_ref().map(Layer::digest) {
            let text = format!("`{}` contains a baseline of other files", directory.display());
            return Err(Failure::message(ExitCode::Input, text).hint("create it again with `veriplay corpus add-repo`"));
        }
        let history = read_history(&directory, &package)?;
        let (texts, binaries) = (package.texts(), package.binaries());
        Ok(Self { texts, binaries, directory, baseline, package, dependencies, history })
    }

    fn warm_sources(&self) -> WarmSources<'_> {
        WarmSources {
            package: &self.package,
            dependencies: self.dependencies.as_ref(),
            library: &self.baseline.library,
            limits: self.baseline.limits,
        }
    }

    /// The layers that its jobs name, in addition to pytest's.
    pub fn layers(&self) -> impl Iterator<Item = Layer> {
        [Some(&self.package), self.dependencies.as_ref()].into_iter().flatten().cloned()
    }

    /// The map of its tests: read, or measured and kept.
    pub fn map(&self, execute: &dyn Execute, images: &RepoImages, pytest: &Digest) -> Result<TestMap, Failure> {
        let path = self.directory.join("map.json");
        if let Ok(map) = read_record::<TestMap>(&path)
            && (map.schema_version, &map.package) == (TestMap::SCHEMA_VERSION, &self.baseline.package)
        {
            return Ok(map);
        }
        let nothing = TestMap::unmeasured(self.baseline.package.clone());
        let map = TestMap::measure(execute, &self.repo(images, pytest, &nothing))?;
        write_record(&path, &map)?;
        Ok(map)
    }

    /// The repository as the verifier takes it.
    pub fn repo<'a>(&'a self, images: &'a RepoImages, pytest: &'a Digest, map: &'a TestMap) -> RepoContext<'a> {
        RepoContext {
            image: images.shared.name(),
            split_image: images.split.name(),
            pytest,
            texts: &self.texts,
            binaries: &self.binaries,
            baseline: &self.baseline,
            map,
            limits: self.baseline.limits,
            max_jobs: MAX_JOBS,
            trust: Trust::Split,
        }
    }
}

/// Sandboxes for the tests of repositories.
pub struct RepoSandboxes {
    /// The digest of pytest's layer.
    pub pytest: Digest,
    /// The images that the sandboxes are on.
    pub images: RepoImages,
    /// One on each of the images.
    pub sandboxes: Vec<Sandbox>,
}

impl RepoSandboxes {
    /// Warms the images for the tests of all these repositories, and opens a sandbox on each.
    pub fn open(
        repositories: &[StoredRepository],
        options: SandboxOptions,
        workers: Isolation,
    ) -> Result<Self, Failure> {
        let pytest = pytest_layer()?;
        let sources: Vec<_> = repositories.iter().map(StoredRepository::warm_sources).collect();
        let images = RepoImages::warm(&pytest, &sources)?;
        let layers = repositories.iter().flat_map(StoredRepository::layers).chain([pytest.clone()]);
        let sandboxes = images.sandboxes(options, workers, &layers.collect::<Vec<_>>())?;
        Ok(Self { pytest: pytest.digest().clone(), images, sandboxes })
    }
}

/// The directory that [`StoredRepository::open`] opens, whether it is there or not; `None` for a built-in repository.
pub fn find_repository_directory(name: &str) -> Result<Option<PathBuf>, Failure> {
    if name.starts_with(BUILTIN_PREFIX) {
        return Ok(None);
    }
    match Requirement::from_str(name) {
        Ok(requirement) if !Path::new(name).is_dir() => cache_directory(&requirement).map(Some),
        _ => Ok(Some(PathBuf::from(name))),
    }
}

/// Where `add-repo` puts a repository by default.
pub fn cache_directory(requirement: &Requirement) -> Result<PathBuf, Failure> {
    let Requirement { name, version } = requirement;
    let cache = default_cache_dir().map_err(image::failure)?;
    Ok(cache.join("repositories").join(format!("{name}-{version}")))
}

fn open_builtin(name: &str) -> Result<StoredRepository, Failure> {
    let files = builtin_repository(name).ok_or_else(|| {
        let what = format!("there is no built-in repository `{name}`");
        Failure::message(ExitCode::Input, what).hint(format!("`{BUILTIN_PREFIX}train` is one"))
    })?;
    open_sources(&Layer::new(files).or_fail(ExitCode::Bug)?, &requirement_from_directory(Path::new(name))?)
}

/// Opens plain sources, after running their tests where that has not been done before.
fn open_sources(package: &Layer, requirement: &Requirement) -> Result<StoredRepository, Failure> {
    let kept = default_cache_dir().map_err(image::failure)?;
    let kept = kept.join("repositories").join(format!("sources-{}", &package.digest().as_str()[..16]));
    if !kept.join("baseline.json").is_file() {
        let measured = measure_baseline(&BaselineRequest {
            requirement,
            package,
            dependencies: DependencySource::Resolve { with: &[] },
            workers: Isolation::Thread,
        })?;
        measured.write(&kept, package)?;
    }
    StoredRepository::open_written(kept)
}

/// The repository's name is the directory's.
fn requirement_from_directory(directory: &Path) -> Result<Requirement, Failure> {
    let name =
        directory.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().replace('_', "-"));
    Requirement::from_str(&format!("{name}==0")).map_err(|why| Failure::message(ExitCode::Input, why))
}

/// The files of a directory.
pub(super) fn read_layer(directory: &Path) -> Result<Layer, Failure> {
    let mut files = Vec::new();
    collect_files(directory, directory, &mut files)?;
    Layer::new(files)
        .with_context(|| format!("`{}` is not a valid layer", directory.display()))
        .or_fail(ExitCode::Input)
}

fn collect_files(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    let cannot = || format!("cannot read the sources in `{}`", folder.display());
    let entries = std::fs::read_dir(folder).with_context(cannot).or_fail(ExitCode::Input)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()
        .with_context(cannot)
        .or_fail(ExitCode::Input)?;
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && name != "__pycache__" && !name.starts_with('.') {
            collect_files(root, &path, files)?;
        } else if path.is_file() && !name.ends_with(".pyc") {
            let inside =
                path.strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).or_fail(ExitCode::Bug)?;
            files.push((inside, std::fs::read(&path).with_context(cannot).or_fail(ExitCode::Input)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BUILTIN_PREFIX, Layer, StoredRepository, builtin_repository, read_layer};

    #[test]
    fn built_in_repositories_have_the_files_of_the_checkout() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/tiny_repositories");
        for name in ["train", "train-2", "train-3", "validation", "held-out"] {
            let built_in = builtin_repository(&format!("{BUILTIN_PREFIX}{name}")).expect("it is built in");
            let built_in = Layer::new(built_in).expect("a layer");
            assert_eq!(built_in.digest(), read_layer(&folder.join(name)).expect("a layer").digest(), "{name}");
        }
        let unknown =
            StoredRepository::open("builtin:tiny_repositories/none").err().expect("there is none").to_string();
        assert!(unknown.contains("builtin:tiny_repositories/none") && unknown.contains("hint:"), "{unknown}");
    }
}
