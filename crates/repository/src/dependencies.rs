//! The wheels that a repository needs: the package's requirements, the imports of its tests, and explicitly named ones.
//!
//! pip resolves each wheel alone, without dependencies and only as pure Python, so that no code of a package runs outside the
//! sandbox, and an unavailable wheel does not affect the others. The requirements of each are read in the sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{Layer, SCHEMA_VERSION};
use veriplay_corpus::repository::{
    DependencyWheel, canonical_name, dependency_layer, installed_metadata, is_in_pytest_layer,
};
use veriplay_verifier::repository::{
    Dependencies, Inspection, Inspector, PinnedWheel, Requirement as Wanted, RequirementPurpose,
};

use super::Requirement;
use super::pip::{fetch_pinned_wheel, fetch_pure_wheels, hash_sha256, last_error};
use super::records::read_record;

/// The largest number of wheels of one repository: bounds chains of requirements.
const MAX_WHEELS: usize = 60;
/// Development requirements that are fetched only to see which modules they bring.
const MAX_TRIED: usize = 6;

/// The dependencies of a repository, and those that are unavailable.
pub(crate) struct ResolvedDependencies {
    /// The files of all dependencies together.
    pub layer: Option<Layer>,
    /// Their names and versions, to be pinned.
    pub pins: Option<Dependencies>,
    /// What a user should know about them.
    pub notes: Vec<String>,
}

/// Where dependencies come from.
#[derive(Clone, Copy)]
pub enum DependencySource<'a> {
    /// The package's own metadata, and these besides.
    Resolve {
        /// Requirements besides those that the package states.
        with: &'a [Requirement],
    },
    /// An earlier resolution, to the same bytes.
    Pinned(&'a [PinnedWheel]),
}

/// Finds and fetches the dependencies of `package`.
pub(crate) fn resolve_dependencies(
    inspector: &Inspector<'_>,
    inspection: &Inspection,
    own: &Requirement,
    package: &Layer,
    source: DependencySource<'_>,
) -> Result<ResolvedDependencies, Failure> {
    let mut resolution = Resolution::new(*inspector, own);
    match source {
        DependencySource::Pinned(wheels) => wheels.iter().try_for_each(|wheel| resolution.add_pinned(wheel))?,
        DependencySource::Resolve { with } => {
            resolution.add_named(with)?;
            resolution.add_required(inspection)?;
            resolution.add_imported(inspection)?;
        }
    }
    resolution.finish(own, package)
}

/// The pins that an earlier run wrote into its `baseline.json`, of which nothing else is needed.
pub fn read_pins(path: &Path) -> Result<Vec<PinnedWheel>, Failure> {
    #[derive(Deserialize)]
    struct Record {
        schema_version: u32,
        dependencies: Option<Wheels>,
    }
    #[derive(Deserialize)]
    struct Wheels {
        wheels: Vec<PinnedWheel>,
    }
    let record: Record = read_record(path)?;
    if record.schema_version != SCHEMA_VERSION {
        let text = format!("`{}` has schema version {}", path.display(), record.schema_version);
        return Err(Failure::message(ExitCode::Input, text).hint("`veriplay corpus add-repo` writes it"));
    }
    Ok(record.dependencies.map(|dependencies| dependencies.wheels).unwrap_or_default())
}

struct ChosenWheel {
    wheel: DependencyWheel,
    sha256: String,
    extras: BTreeSet<String>,
    /// All constraints on its version.
    specifiers: Vec<String>,
}

struct Resolution<'a> {
    inspector: Inspector<'a>,
    own: String,
    chosen: BTreeMap<String, ChosenWheel>,
    /// Those that cannot be fetched, tried once.
    failed: BTreeSet<String>,
    notes: Vec<String>,
}

impl<'a> Resolution<'a> {
    fn new(inspector: Inspector<'a>, own: &Requirement) -> Self {
        let own = canonical_name(&own.name);
        Self { inspector, own, chosen: BTreeMap::new(), failed: BTreeSet::new(), notes: Vec::new() }
    }

    /// A named dependency that cannot be fetched is an error.
    fn add_named(&mut self, with: &[Requirement]) -> Result<(), Failure> {
        for requirement in with {
            let name = canonical_name(&requirement.name);
            if is_in_pytest_layer(&name) {
                let text = format!("`{requirement}` is part of the pinned pytest, and is not replaced");
                return Err(Failure::message(ExitCode::Input, text).hint("leave it out of `--with`"));
            }
            let wanted = Wanted {
                name: name.clone(),
                extras: Vec::new(),
                specifiers: format!("=={}", requirement.version),
                is_here: false,
            };
            let before = self.notes.len();
            self.settle(vec![wanted])?;
            if !self.chosen.contains_key(&name) {
                let why = self.notes.split_off(before).join("; ");
                let text = format!("`--with {requirement}` cannot be fetched: {why}");
                return Err(Failure::message(ExitCode::Input, text)
                    .hint("only pure-Python wheels, tagged py3-none-any, are taken"));
            }
        }
        Ok(())
    }

    /// Adds the requirements of the package itself.
    fn add_required(&mut self, inspection: &Inspection) -> Result<(), Failure> {
        let runtime = inspection.required.iter().filter(|required| required.purpose == RequirementPurpose::Runtime);
        self.settle(runtime.map(|required| required.requirement.clone()).collect())
    }

    /// Adds those development requirements that test modules import: matched by name, or else by the modules in wheels of a similar
    /// name. Only requirements that the package declares are fetched.
    fn add_imported(&mut self, inspection: &Inspection) -> Result<(), Failure> {
        let mut candidates: Vec<Wanted> = Vec::new();
        for purpose in [RequirementPurpose::Tests, RequirementPurpose::Other] {
            let of = inspection.required.iter().filter(|required| required.purpose == purpose);
            candidates.extend(of.map(|required| required.requirement.clone()));
        }
        let missing = self.missing(inspection);
        let named = |wanted: &&Wanted| missing.iter().any(|module| normalized(module) == normalized(&wanted.name));
        // Lists of development requirements are alternatives: of several for one package the first available one is used.
        let mut first: BTreeMap<&str, &Wanted> = BTreeMap::new();
        for wanted in candidates.iter().filter(named) {
            first.entry(&wanted.name).or_insert(wanted);
        }
        self.settle(first.values().map(|wanted| (*wanted).clone()).collect())?;
        for wanted in candidates.iter().filter(named).filter(|wanted| !first.values().any(|first| first == wanted)) {
            if self.failed.remove(&wanted.name) {
                self.settle(vec![wanted.clone()])?;
            }
        }
        let missing = self.missing(inspection);
        let similar = candidates.iter().filter(|wanted| missing.iter().any(|module| is_similar(module, &wanted.name)));
        for wanted in similar.take(MAX_TRIED) {
            self.settle_if_imported(wanted, &missing)?;
        }
        for module in self.missing(inspection) {
            self.notes.push(format!(
                "tests import `{module}`, which no pure-Python requirement of the package brings; `--with NAME==VERSION` adds one"
            ));
        }
        Ok(())
    }

    fn settle_if_imported(&mut self, wanted: &Wanted, missing: &[String]) -> Result<(), Failure> {
        if self.is_settled(wanted) {
            return Ok(());
        }
        match self.fetch_one(wanted)? {
            Ok(Some((wheel, _))) if wheel.modules().iter().any(|module| missing.iter().any(|one| one == module)) => {
                self.settle(vec![wanted.clone()])
            }
            _ => Ok(()),
        }
    }

    /// Modules that tests import and nothing brings so far.
    fn missing(&self, inspection: &Inspection) -> Vec<String> {
        let brought: BTreeSet<&str> = self.chosen.values().flat_map(|chosen| chosen.wheel.modules()).collect();
        inspection.imports.iter().filter(|module| !brought.contains(module.as_str())).cloned().collect()
    }

    /// Whether nothing is to be fetched for it.
    fn is_settled(&self, wanted: &Wanted) -> bool {
        wanted.is_here
            || wanted.name == self.own
            || is_in_pytest_layer(&wanted.name)
            || self.failed.contains(&wanted.name)
    }

    /// Chooses a wheel for each requirement, transitively.
    fn settle(&mut self, mut wanted: Vec<Wanted>) -> Result<(), Failure> {
        while !wanted.is_empty() {
            let new = self.prepare(wanted)?;
            let fetched = self.fetch(&new)?;
            wanted = Vec::new();
            for (requirement, wheel, sha256) in fetched {
                wanted.extend(self.choose(requirement, wheel, sha256)?);
            }
        }
        Ok(())
    }

    /// Those of `wanted` that need a wheel; several of one name are merged into one.
    fn prepare(&mut self, wanted: Vec<Wanted>) -> Result<Vec<Wanted>, Failure> {
        let mut new: BTreeMap<String, Wanted> = BTreeMap::new();
        for mut wanted in wanted {
            if self.is_settled(&wanted) || self.is_met(&wanted)? {
                continue;
            }
            if let Some(chosen) = self.chosen.get(&wanted.name) {
                wanted.specifiers =
                    join_specifiers(chosen.specifiers.iter().map(String::as_str).chain([wanted.specifiers.as_str()]));
                wanted.extras.extend(chosen.extras.iter().cloned());
            }
            match new.get_mut(&wanted.name) {
                Some(earlier) => {
                    earlier.specifiers = join_specifiers([earlier.specifiers.as_str(), wanted.specifiers.as_str()]);
                    earlier.extras.extend(wanted.extras);
                }
                None => drop(new.insert(wanted.name.clone(), wanted)),
            }
        }
        Ok(new.into_values().collect())
    }

    /// Whether an already chosen wheel satisfies it.
    fn is_met(&self, wanted: &Wanted) -> Result<bool, Failure> {
        let Some(chosen) = self.chosen.get(&wanted.name) else { return Ok(false) };
        let has_extras = wanted.extras.iter().all(|extra| chosen.extras.contains(extra));
        let meets = || self.inspector.meets(&chosen.wheel.version, &wanted.specifiers).or_fail(ExitCode::Host);
        Ok(has_extras && (wanted.specifiers.is_empty() || meets()?.unwrap_or(false)))
    }

    /// All of them by one call of pip where that succeeds, else each for itself.
    fn fetch(&mut self, wanted: &[Wanted]) -> Result<Vec<(Wanted, DependencyWheel, String)>, Failure> {
        let mut fetched = Vec::new();
        if wanted.len() > 1
            && let Ok(together) = fetch_pure_wheels(&wanted.iter().map(pip_argument).collect::<Vec<_>>())?
        {
            let parsed = together.into_iter().filter_map(|bytes| parse_wheel(&bytes).ok());
            let mut by_name: BTreeMap<String, (DependencyWheel, String)> =
                parsed.map(|(wheel, sha256)| (wheel.name.clone(), (wheel, sha256))).collect();
            for wanted in wanted {
                let found = by_name.remove(&wanted.name);
                fetched.extend(found.map(|(wheel, sha256)| (wanted.clone(), wheel, sha256)));
            }
        }
        let had: BTreeSet<String> = fetched.iter().map(|(wanted, ..)| wanted.name.clone()).collect();
        for wanted in wanted.iter().filter(|wanted| !had.contains(&wanted.name)) {
            match self.fetch_one(wanted)? {
                Ok(Some((wheel, sha256))) => fetched.push((wanted.clone(), wheel, sha256)),
                Ok(None) => {}
                Err(why) => {
                    self.failed.insert(wanted.name.clone());
                    self.notes.push(format!("`{wanted}` is left out: {why}"));
                }
            }
        }
        Ok(fetched)
    }

    fn fetch_one(&self, wanted: &Wanted) -> Result<Result<Option<(DependencyWheel, String)>, String>, Failure> {
        let wheels = match fetch_pure_wheels(&[pip_argument(wanted)])? {
            Ok(wheels) => wheels,
            Err(why) => return Ok(Err(last_error(&why).to_owned())),
        };
        Ok(wheels.first().map(|bytes| parse_wheel(bytes)).transpose())
    }

    /// Adds the wheel; returns its requirements.
    fn choose(&mut self, wanted: Wanted, wheel: DependencyWheel, sha256: String) -> Result<Vec<Wanted>, Failure> {
        if self.chosen.len() >= MAX_WHEELS && !self.chosen.contains_key(&wanted.name) {
            self.notes.push(format!("`{wanted}` is left out: there are {MAX_WHEELS} dependencies already"));
            return Ok(Vec::new());
        }
        let required = self.inspector.requirements(&wheel.metadata, &wanted.extras).or_fail(ExitCode::Host)?;
        let required = required.unwrap_or_else(|why| {
            self.notes.push(format!("what `{wanted}` requires is not known: {why}"));
            Vec::new()
        });
        let chosen = ChosenWheel {
            wheel,
            sha256,
            extras: wanted.extras.into_iter().collect(),
            specifiers: vec![wanted.specifiers],
        };
        self.chosen.insert(wanted.name, chosen);
        Ok(required)
    }

    fn add_pinned(&mut self, wheel: &PinnedWheel) -> Result<(), Failure> {
        let (wheel, sha256) =
            parse_wheel(&fetch_pinned_wheel(wheel)?).map_err(|why| Failure::message(ExitCode::Input, why))?;
        let chosen = ChosenWheel { sha256, extras: BTreeSet::new(), specifiers: Vec::new(), wheel };
        self.chosen.insert(chosen.wheel.name.clone(), chosen);
        Ok(())
    }

    fn finish(mut self, own: &Requirement, package: &Layer) -> Result<ResolvedDependencies, Failure> {
        let wheels = self.chosen.values().map(|chosen| &chosen.wheel);
        let own = installed_metadata(&own.name, &own.version, package);
        let (layer, left_out) = dependency_layer(wheels, own).or_fail(ExitCode::Input)?;
        let left_out: BTreeSet<String> = left_out.iter().map(|wheel| wheel.name.clone()).collect();
        for name in &left_out {
            self.notes.push(format!("`{name}` is left out: it has a file of another dependency, with other content"));
        }
        if layer.files().is_empty() {
            return Ok(ResolvedDependencies { layer: None, pins: None, notes: self.notes });
        }
        let used = self.chosen.into_iter().filter(|(name, _)| !left_out.contains(name));
        let pin = |(name, chosen): (String, ChosenWheel)| PinnedWheel {
            name,
            version: chosen.wheel.version,
            sha256: chosen.sha256,
        };
        let pins = Dependencies { layer: layer.digest().clone(), wheels: used.map(pin).collect() };
        Ok(ResolvedDependencies { layer: Some(layer), pins: Some(pins), notes: self.notes })
    }
}

/// The wheel and its hash.
fn parse_wheel(bytes: &[u8]) -> Result<(DependencyWheel, String), String> {
    let wheel = DependencyWheel::read(bytes).map_err(|error| error.to_string())?;
    Ok((wheel, hash_sha256(bytes)))
}

/// The requirement for pip: without extras, which only add further requirements.
fn pip_argument(wanted: &Wanted) -> String {
    format!("{}{}", wanted.name, wanted.specifiers)
}

fn join_specifiers<'a>(specifiers: impl IntoIterator<Item = &'a str>) -> String {
    let all: BTreeSet<&str> =
        specifiers.into_iter().flat_map(|text| text.split(',')).filter(|text| !text.is_empty()).collect();
    all.into_iter().collect::<Vec<_>>().join(",")
}

/// Whether one of two names holds the other.
fn is_similar(module: &str, package: &str) -> bool {
    let (module, package) = (normalized(module), normalized(package));
    package.contains(&module) || module.contains(&package)
}

/// A name in the form in which modules and packages compare equal.
fn normalized(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
