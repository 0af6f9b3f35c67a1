//! What pip downloads: a package's source distribution, the wheels of pytest and those of dependencies, checked and kept in the
//! cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use sha2::{Digest as _, Sha256};
use veriplay_core::Layer;
use veriplay_corpus::repository::{PYTEST_WHEELS, PytestWheel, wheel_layer};
use veriplay_sandbox::default_cache_dir;
use veriplay_verifier::repository::PinnedWheel;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::image;

/// What the wheels of dependencies must be: for any platform, for the interpreter of the image, without an ABI.
const PURE: [&str; 9] =
    ["--only-binary=:all:", "--implementation", "py", "--abi", "none", "--platform", "any", "--python-version", "3.15"];

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

/// A file as pip brought it, by its name.
pub(crate) type Downloaded = (String, Vec<u8>);

/// The source distribution's file name and bytes. pip asks the package's own build script for its metadata, outside the
/// sandbox: whoever does not trust the package so far brings the file.
pub(crate) fn source_distribution(requirement: &Requirement) -> Result<Downloaded, Failure> {
    let downloaded = download(&["--no-binary=:all:"], &[requirement.to_string()])?;
    let downloaded = downloaded.map_err(|why| Failure::message(ExitCode::Input, why).hint(SDIST_HINT))?;
    only(downloaded)
}

const SDIST_HINT: &str = "`pip index versions NAME` lists the versions that there are; `--sdist FILE` takes a source \
                          distribution that was downloaded before";

/// The layer of pytest, from the cache or by pip.
pub(crate) fn pytest_layer() -> Result<Layer, Failure> {
    let wheel = |wheel: &PytestWheel| pinned(wheel.requirement, wheel.sha256, &["--only-binary=:all:"]);
    let wheels = PYTEST_WHEELS.iter().map(wheel).collect::<Result<Vec<_>, Failure>>()?;
    wheel_layer(&wheels).or_fail(ExitCode::Bug)
}

/// The newest pure-Python wheels that these requirements allow, without what those require. The inner `Err` is pip's message.
///
/// # Errors
/// When pip cannot be run.
pub(crate) fn pure_wheels(requirements: &[String]) -> Result<Result<Vec<Vec<u8>>, String>, Failure> {
    let wheels = match download(&PURE, requirements)? {
        Ok(wheels) => wheels.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(),
        Err(why) => return Ok(Err(why)),
    };
    for bytes in &wheels {
        keep(&kept_as(&sha256(bytes))?, bytes);
    }
    Ok(Ok(wheels))
}

/// A wheel of a dependency as it was pinned.
pub(crate) fn pinned_wheel(wheel: &PinnedWheel) -> Result<Vec<u8>, Failure> {
    // A pin comes from a file: it is a name and a version, and nothing else that pip would take.
    let requirement: Requirement = format!("{}=={}", wheel.name, wheel.version)
        .parse()
        .map_err(|why: String| Failure::message(ExitCode::Input, format!("pinned wheel `{}`: {why}", wheel.name)))?;
    pinned(&requirement.to_string(), &wheel.sha256, &PURE)
}

/// The wheel of a model: for any platform, of this hash.
pub(crate) fn model_wheel(requirement: &Requirement, sha256: &str) -> Result<Vec<u8>, Failure> {
    pinned(&requirement.to_string(), sha256, &["--only-binary=:all:"])
}

/// The wheel of this hash, which is checked for a cached file as for a downloaded one.
fn pinned(requirement: &str, sha256_pinned: &str, options: &[&str]) -> Result<Vec<u8>, Failure> {
    let kept = kept_as(sha256_pinned)?;
    if let Ok(bytes) = std::fs::read(&kept)
        && sha256(&bytes) == sha256_pinned
    {
        return Ok(bytes);
    }
    let downloaded = download(options, &[requirement.to_owned()])?;
    let (_, bytes) = only(downloaded.map_err(|why| Failure::message(ExitCode::Input, why))?)?;
    let found = sha256(&bytes);
    if found != sha256_pinned {
        let text = format!("the wheel of `{requirement}` has sha256 {found}, and {sha256_pinned} is pinned");
        return Err(Failure::message(ExitCode::Input, text));
    }
    keep(&kept, &bytes);
    Ok(bytes)
}

/// Where the cache has the wheel of this hash.
fn kept_as(sha256: &str) -> Result<PathBuf, Failure> {
    let folder = default_cache_dir().map_err(image::failure)?.join("wheels");
    // A pin comes from a file: it names no other place.
    let plain = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    match plain {
        true => Ok(folder.join(format!("{sha256}.whl"))),
        false => Err(Failure::message(ExitCode::Input, format!("`{sha256}` is not a sha256 in hexadecimal"))),
    }
}

/// Whoever reads it checks it, so a wheel that could not be kept, or not whole, costs a download and nothing else.
fn keep(path: &Path, bytes: &[u8]) {
    let kept = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes));
    if let Err(error) = kept {
        tracing::debug!(%error, path = %path.display(), "a wheel was not kept");
    }
}

/// Runs `pip download` without dependencies. The inner `Err` is pip's message.
fn download(options: &[&str], requirements: &[String]) -> Result<Result<Vec<Downloaded>, String>, Failure> {
    let scratch = tempfile::tempdir().or_fail(ExitCode::Bug)?;
    let program = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let command = format!("{program} -m pip download --no-deps {} {}", options.join(" "), requirements.join(" "));
    let output = Command::new(&program)
        .args(["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--quiet", "--dest"])
        .arg(scratch.path())
        .args(options)
        // What follows is a requirement, whatever it looks like.
        .arg("--")
        .args(requirements)
        .output()
        .with_context(|| format!("cannot run `{command}`"))
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("name a Python with pip in VERIPLAY_PYTHON"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr[output.stderr.len().saturating_sub(600)..]).trim().to_owned();
        return Ok(Err(format!("`{command}` failed: {said}")));
    }
    files_in(scratch.path()).map(Ok).or_fail(ExitCode::Input)
}

/// The last line of pip's output names the cause.
pub(super) fn last_error(said: &str) -> &str {
    let line = said.lines().map(str::trim).rfind(|line| line.starts_with("ERROR:"));
    line.map_or(said, |line| line.trim_start_matches("ERROR:").trim())
}

fn files_in(folder: &Path) -> anyhow::Result<Vec<Downloaded>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, std::fs::read(&path)?));
    }
    files.sort();
    Ok(files)
}

fn only(mut files: Vec<Downloaded>) -> Result<Downloaded, Failure> {
    match (files.pop(), files.is_empty()) {
        (Some(file), true) => Ok(file),
        _ => Err(Failure::message(
            ExitCode::Input,
            "pip downloaded nothing, or more than one file, and said nothing of it",
        )),
    }
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
