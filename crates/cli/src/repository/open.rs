//! A repository that `corpus add-repo` wrote, with the map of its tests, in a sandbox that has its layers.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use serde::de::DeserializeOwned;
use veriplay_core::{Digest, Execute, Layer, Limits, TextFiles, Trust};
use veriplay_sandbox::default_cache_dir;
use veriplay_verifier::bugs::{OwnNames, RepoContext, TestMap};
use veriplay_verifier::repository::Baseline;

use super::warm::RepoImages;
use super::write::put;
use super::{Requirement, sources};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::image;

/// A bug or repair that stops the interpreter is not taken apart test by test: the fuel for that would be a limit's each.
const MAX_JOBS: usize = 0;

/// A repository on disk.
pub(crate) struct Stored {
    pub(crate) directory: PathBuf,
    pub(crate) baseline: Baseline,
    pub(crate) package: Layer,
    /// What the package needs besides.
    pub(crate) dependencies: Option<Layer>,
    texts: TextFiles,
}

impl Stored {
    /// Opens `named`: `NAME==VERSION` in the cache, a directory that `add-repo` wrote, or one of plain sources.
    pub(crate) fn open(named: &str) -> Result<Self, Failure> {
        let directory = match Requirement::from_str(named) {
            Ok(requirement) if !Path::new(named).is_dir() => cached(&requirement)?,
            _ => PathBuf::from(named),
        };
        if directory.is_dir() && !directory.join("layer.json").exists() {
            return sources::open(&directory);
        }
        Self::open_written(directory)
    }

    /// Opens what [`super::write()`] wrote.
    pub(super) fn open_written(directory: PathBuf) -> Result<Self, Failure> {
        let (baseline, package): (Baseline, Layer) =
            (read(&directory, "baseline.json")?, read(&directory, "layer.json")?);
        let dependencies: Option<Layer> = match &baseline.dependencies {
            Some(_) => Some(read(&directory, "dependencies.json")?),
            None => None,
        };
        let pinned = baseline.dependencies.as_ref().map(|pinned| &pinned.layer);
        if baseline.package != *package.digest() || pinned != dependencies.as_ref().map(Layer::digest) {
            let text = format!("`{}` holds a baseline of other files", directory.display());
            return Err(Failure::message(ExitCode::Input, text).hint("make it anew with `veriplay corpus add-repo`"));
        }
        Ok(Self { texts: package.texts(), directory, baseline, package, dependencies })
    }

    /// The layers that its jobs name, beside pytest's.
    pub(crate) fn layers(&self) -> impl Iterator<Item = Layer> {
        [Some(&self.package), self.dependencies.as_ref()].into_iter().flatten().cloned()
    }

    /// The map of its tests: read, or measured and kept.
    pub(crate) fn map(&self, execute: &dyn Execute, images: &RepoImages, pytest: &Digest) -> Result<TestMap, Failure> {
        if let Ok(map) = read::<TestMap>(&self.directory, MAP)
            && (map.schema_version, &map.package) == (TestMap::SCHEMA_VERSION, &self.baseline.package)
        {
            return Ok(map);
        }
        let nothing = TestMap {
            schema_version: TestMap::SCHEMA_VERSION,
            package: self.baseline.package.clone(),
            files: Vec::new(),
            names: OwnNames::default(),
        };
        let map = TestMap::measure(execute, &self.repo(images, pytest, &nothing));
        let map = map.map_err(|dropped| Failure::message(ExitCode::Host, dropped.why))?;
        put(&self.directory, MAP, &map)?;
        Ok(map)
    }

    pub(crate) fn repo<'a>(&'a self, images: &'a RepoImages, pytest: &'a Digest, map: &'a TestMap) -> RepoContext<'a> {
        let limits = Limits { ..self.baseline.limits };
        RepoContext {
            image: images.beside.name(),
            split_image: images.split.name(),
            pytest,
            texts: &self.texts,
            baseline: &self.baseline,
            map,
            limits,
            max_jobs: MAX_JOBS,
            trust: Trust::Split,
        }
    }
}

const MAP: &str = "map.json";

/// Where `add-repo` puts a repository when nobody says otherwise.
pub(crate) fn cached(requirement: &Requirement) -> Result<PathBuf, Failure> {
    let Requirement { name, version } = requirement;
    let cache = default_cache_dir().map_err(image::failure)?;
    Ok(cache.join("repositories").join(format!("{name}-{version}")))
}

pub(super) fn read<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<T, Failure> {
    let path = directory.join(name);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()));
    let text = text.or_fail(ExitCode::Input).map_err(|failure| failure.hint("`veriplay corpus add-repo` makes it"))?;
    serde_json::from_str(&text)
        .with_context(|| format!("`{}` is no such record", path.display()))
        .or_fail(ExitCode::Input)
}
