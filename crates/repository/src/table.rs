//! `veriplay corpus tabulate-repos`: the test results of many packages as one table, and the pins that reproduce it.
//!
//! Each package is recorded as by `add-repo`, so a stopped run continues where it was. A package that cannot be recorded has a row
//! with the reason.

mod row;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::read_text;
use veriplay_console::progress;
use veriplay_core::{Digest, SCHEMA_VERSION};
use veriplay_verifier::repository::PinnedWheel;

use self::row::{PackageRow, PackageTable};
use super::baseline::BaselineTiming;
use super::records::{read_record, write_record};
use super::{
    BaselineRequest, DependencySource, RepositorySources, Requirement, StoredRepository, TestSource, cache_directory,
    measure_baseline,
};

/// The options of the command.
pub struct TableRequest<'a> {
    /// The list of packages.
    pub list: &'a Path,
    /// The Markdown file; absent means stdout.
    pub out: Option<&'a Path>,
    /// Packages whose tests are run though there is a record of them.
    pub again: bool,
    /// Print JSON and no Markdown.
    pub json: bool,
    /// Where the guests that run the tests run.
    pub workers: Isolation,
}

/// The list: names and versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageList {
    package: Vec<ListedPackage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedPackage {
    /// `NAME==VERSION`
    requirement: String,
    /// As `add-repo --tests`.
    #[serde(default)]
    tests: Option<String>,
    /// As `add-repo --with`.
    #[serde(default)]
    with: Vec<String>,
}

/// The exact sources of each package, in `FILE.lock.json` next to the list.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageLock {
    schema_version: u32,
    packages: BTreeMap<String, LockedPackage>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockedPackage {
    /// The layer of its files.
    package: Digest,
    /// Its dependencies.
    wheels: Vec<PinnedWheel>,
}

/// Records the packages that are not recorded yet, and makes the table.
pub fn tabulate_repositories(request: &TableRequest<'_>) -> Result<(), Failure> {
    let list = read_list(request.list)?;
    let lock_path = lock_path(request.list);
    let mut lock = read_lock(&lock_path)?;
    let image = image::python()?.digest().clone();
    let mut rows = Vec::new();
    for (package, requirement) in list {
        let key = requirement.to_string();
        let row = match record_package(request, &package, &requirement, lock.packages.get(&key), &image) {
            Ok((stored, timing)) => {
                lock.packages.insert(key, lock_package(&stored));
                write_record(lock_path.parent().unwrap_or(Path::new("")), &file_name(&lock_path), &lock)?;
                PackageRow::recorded(&stored, &timing)
            }
            // A fault of ours or of the host's is no property of a package.
            Err(failure) if failure.code() != ExitCode::Input as u8 => return Err(failure),
            Err(failure) => PackageRow::failed(&requirement, &failure),
        };
        progress::say(row.summary());
        rows.push(row);
    }
    print_table(request, &PackageTable { schema_version: SCHEMA_VERSION, rows })
}

fn print_table(request: &TableRequest<'_>, rows: &PackageTable) -> Result<(), Failure> {
    let table = rows.markdown();
    if let Some(out) = request.out {
        let text =
            std::fs::read_to_string(out).ok().and_then(|page| splice_table(&page, &table)).unwrap_or(table.clone());
        std::fs::write(out, text)
            .with_context(|| format!("cannot write `{}`", out.display()))
            .or_fail(ExitCode::Input)?;
    }
    match (request.json, request.out) {
        (true, _) => progress::data(serde_json::to_string(rows).or_fail(ExitCode::Bug)?),
        (false, None) => progress::data(table.trim_end()),
        (false, Some(_)) => {}
    }
    Ok(())
}

/// A page with the table between its marks; `None` where it has no marks.
fn splice_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

/// The marks around the table in a page; only the text between them is replaced.
const BEGIN: &str = "<!-- made by `veriplay corpus tabulate-repos` -->";
const END: &str = "<!-- end of the table -->";

/// The record of a package: the one that is there, or a new one.
fn record_package(
    request: &TableRequest<'_>,
    package: &ListedPackage,
    requirement: &Requirement,
    locked: Option<&LockedPackage>,
    image: &Digest,
) -> Result<(StoredRepository, BaselineTiming), Failure> {
    let directory = cache_directory(requirement)?;
    if !request.again
        && let Ok(stored) = StoredRepository::open_written(directory.clone())
        && stored.baseline.image == *image
        && locked.is_some_and(|locked| matches_lock(&stored, locked))
    {
        let timing = read_record(&directory, "timing.json").unwrap_or_default();
        return Ok((stored, timing));
    }
    let invalid = |why: String| Failure::message(ExitCode::Input, format!("`{}`: {why}", request.list.display()));
    let tests: Option<TestSource> = package.tests.as_deref().map(str::parse).transpose().map_err(invalid)?;
    let with: Vec<Requirement> =
        package.with.iter().map(|with| with.parse()).collect::<Result<_, String>>().map_err(invalid)?;
    let layer = RepositorySources { requirement, sdist: None, tests: tests.as_ref() }.layer()?;
    if let Some(locked) = locked
        && locked.package != *layer.digest()
    {
        let text =
            format!("the files of `{requirement}` have digest {}, and {} is locked", layer.digest(), locked.package);
        return Err(
            Failure::message(ExitCode::Input, text).hint("remove the package from the lock to accept the new files")
        );
    }
    let dependencies =
        locked.map_or(DependencySource::Resolve { with: &with }, |locked| DependencySource::Pinned(&locked.wheels));
    let measured =
        measure_baseline(&BaselineRequest { requirement, package: &layer, dependencies, workers: request.workers })?;
    measured.write(&directory, &layer)?;
    Ok((StoredRepository::open_written(directory)?, measured.timing))
}

fn lock_package(stored: &StoredRepository) -> LockedPackage {
    let wheels = stored.baseline.dependencies.as_ref().map(|dependencies| dependencies.wheels.clone());
    LockedPackage { package: stored.baseline.package.clone(), wheels: wheels.unwrap_or_default() }
}

/// Whether a record matches its lock entry.
fn matches_lock(stored: &StoredRepository, lock: &LockedPackage) -> bool {
    let found = lock_package(stored);
    found.package == lock.package && found.wheels == lock.wheels
}

fn read_list(path: &Path) -> Result<Vec<(ListedPackage, Requirement)>, Failure> {
    let list: PackageList = toml::from_str(&read_text(path)?)
        .with_context(|| format!("`{}` is not a list of packages", path.display()))
        .or_fail(ExitCode::Input)?;
    let named = |package: ListedPackage| match package.requirement.parse() {
        Ok(requirement) => Ok((package, requirement)),
        Err(why) => {
            let text = format!("`{}`: package `{}`: {why}", path.display(), package.requirement);
            Err(Failure::message(ExitCode::Input, text))
        }
    };
    list.package.into_iter().map(named).collect()
}

fn lock_path(list: &Path) -> PathBuf {
    list.with_extension("lock.json")
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read_lock(path: &Path) -> Result<PackageLock, Failure> {
    if !path.exists() {
        return Ok(PackageLock { schema_version: SCHEMA_VERSION, packages: BTreeMap::new() });
    }
    read_record(path.parent().unwrap_or(Path::new("")), &file_name(path))
}
