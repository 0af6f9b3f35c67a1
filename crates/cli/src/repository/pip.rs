//! What pip downloads: a package's source distribution, and the wheels of pytest, checked and kept in the cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use sha2::{Digest as _, Sha256};
use veriplay_core::Layer;
use veriplay_corpus::repository::wheels::{self, PYTEST, Wheel};
use veriplay_sandbox::default_cache_dir;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::image;

/// `NAME==VERSION`: one version of one package, so that the same command finds the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl std::str::FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = text.split_once("==").ok_or("write NAME==VERSION: one version, exactly")?;
        let plain = |text: &str, more: &str| {
            text.starts_with(|first: char| first.is_ascii_alphanumeric())
                && text.len() <= 100
                && text.chars().all(|found| found.is_ascii_alphanumeric() || more.contains(found))
        };
        match plain(name, "-_.") && plain(version, ".+!_-") {
            true => Ok(Self { name: name.to_owned(), version: version.to_owned() }),
            false => Err("a name or version of other characters than letters, digits, `-`, `_` and `.`".to_owned()),
        }
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=={}", self.name, self.version)
    }
}

/// The source distribution's file name and bytes. pip asks the package's own build script for its metadata, outside the
/// sandbox: whoever does not trust the package so far brings the file.
pub(crate) fn source_distribution(requirement: &Requirement) -> Result<(String, Vec<u8>), Failure> {
    let scratch = tempfile::tempdir().or_fail(ExitCode::Bug)?;
    download(&requirement.to_string(), "--no-binary=:all:", scratch.path())
        .map_err(|failure| failure.hint("`--sdist FILE` takes one that was downloaded before"))?;
    let path = only_file(scratch.path()).or_fail(ExitCode::Input)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{name}`")).or_fail(ExitCode::Input)?;
    Ok((name, bytes))
}

/// The layer of pytest, from the cache or by pip.
pub(crate) fn pytest_layer() -> Result<Layer, Failure> {
    let cache = default_cache_dir().map_err(image::failure)?.join("wheels");
    let wheels = PYTEST.iter().map(|wheel| cached(wheel, &cache)).collect::<Result<Vec<_>, _>>()?;
    wheels::layer(&wheels).or_fail(ExitCode::Bug)
}

/// The bytes of a pinned wheel: what is in the cache is believed as little as what comes from elsewhere.
fn cached(wheel: &Wheel, cache: &Path) -> Result<Vec<u8>, Failure> {
    let kept = cache.join(format!("{}.whl", wheel.sha256));
    if let Ok(bytes) = std::fs::read(&kept)
        && sha256(&bytes) == wheel.sha256
    {
        return Ok(bytes);
    }
    let scratch = tempfile::tempdir().or_fail(ExitCode::Bug)?;
    download(wheel.requirement, "--only-binary=:all:", scratch.path())?;
    let bytes = only_file(scratch.path()).and_then(|path| Ok(std::fs::read(path)?)).or_fail(ExitCode::Input)?;
    let found = sha256(&bytes);
    if found != wheel.sha256 {
        let text = format!("the wheel of `{}` has sha256 {found}, and {} is pinned", wheel.requirement, wheel.sha256);
        return Err(Failure::message(ExitCode::Input, text));
    }
    keep(&kept, &bytes);
    Ok(bytes)
}

/// Whoever reads it checks it, so a wheel that could not be kept, or not whole, costs a download and nothing else.
fn keep(path: &Path, bytes: &[u8]) {
    let kept = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes));
    if let Err(error) = kept {
        tracing::debug!(%error, path = %path.display(), "a wheel was not kept");
    }
}

fn download(requirement: &str, form: &str, to: &Path) -> Result<(), Failure> {
    let program = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let command = format!("{program} -m pip download --no-deps {form} {requirement}");
    let output = Command::new(&program)
        .args(["-m", "pip", "download", "--no-deps", form, "--disable-pip-version-check", "--quiet", "--dest"])
        .arg(to)
        .arg(requirement)
        .output()
        .with_context(|| format!("cannot run `{command}`"))
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("name a Python with pip in VERIPLAY_PYTHON"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr[output.stderr.len().saturating_sub(600)..]).trim().to_owned();
    Err(Failure::message(ExitCode::Input, format!("`{command}` failed: {said}")))
}

fn only_file(dir: &Path) -> anyhow::Result<PathBuf> {
    let entry = std::fs::read_dir(dir)?.next().context("pip downloaded nothing, and said nothing of it")?;
    Ok(entry?.path())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
