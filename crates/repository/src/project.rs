//! The files of a repository: a package's source distribution, and the tests that it lacks from the project's own repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::image;
use veriplay_console::json_file::read_bytes;
use veriplay_core::Layer;
use veriplay_corpus::repository::{ArchiveKind, strip_top_folder, unpack};
use veriplay_sandbox::default_cache_dir;

use super::Requirement;
use super::open::read_layer;
use super::pip::fetch_source_distribution;

/// Where the files come from.
pub struct RepositorySources<'a> {
    /// The package and its version.
    pub requirement: &'a Requirement,
    /// A source distribution that is here already.
    pub sdist: Option<&'a Path>,
    /// Files that it lacks.
    pub tests: Option<&'a TestSource>,
}

/// The project's own files: many source distributions come without tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestSource {
    /// An archive with one directory at its top, or a directory.
    Path(PathBuf),
    /// A commit of a repository.
    Commit(CommitSource),
}

/// A commit of a repository, which git checks by its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSource {
    /// A URL, or a directory on this machine.
    pub(super) place: String,
    pub(super) commit: String,
}

impl std::str::FromStr for TestSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with("https://") {
            return if text.contains("://") { Err(HTTPS_ONLY.to_owned()) } else { Ok(Self::Path(text.into())) };
        }
        text.parse().map(Self::Commit)
    }
}

const HTTPS_ONLY: &str = "a URL starts with `https://`";

impl std::str::FromStr for CommitSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hash = |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (place, commit) = text
            .rsplit_once('@')
            .filter(|(_, commit)| is_hash(commit))
            .ok_or("write URL@COMMIT: a commit by its 40 hexadecimal digits")?;
        if !place.starts_with("https://") {
            if place.contains("://") {
                return Err(HTTPS_ONLY.to_owned());
            }
            if !Path::new(place).is_dir() {
                return Err(format!("`{place}` is no URL and no directory"));
            }
        }
        Ok(Self { place: place.to_owned(), commit: commit.to_owned() })
    }
}

type Files = BTreeMap<String, Vec<u8>>;

impl RepositorySources<'_> {
    /// The files of the package, without the products of builds. Files of the source distribution are unchanged.
    pub fn layer(&self) -> Result<Layer, Failure> {
        let (name, bytes) = match self.sdist {
            Some(path) => (path.display().to_string(), read_bytes(path)?),
            None => fetch_source_distribution(self.requirement)?,
        };
        let mut files = unpack_sources(&name, &bytes)?;
        if let Some(tests) = self.tests {
            for (path, bytes) in tests.files()? {
                files.entry(path).or_insert(bytes);
            }
        }
        let kept = files.into_iter().filter(|(path, _)| !is_compiled(path));
        Layer::new(kept).with_context(|| format!("`{name}` is not a valid layer")).or_fail(ExitCode::Input)
    }
}

impl TestSource {
    fn files(&self) -> Result<Files, Failure> {
        match self {
            Self::Path(path) if path.is_dir() => {
                let layer = read_layer(path)?;
                Ok(layer.files().iter().map(|(path, bytes)| (path.clone(), bytes.as_ref().clone())).collect())
            }
            Self::Path(path) => unpack_sources(&path.display().to_string(), &read_bytes(path)?),
            Self::Commit(source) => unpack_sources(&format!("{}.tar.gz", source.commit), &fetch_commit(source)?),
        }
    }
}

fn unpack_sources(name: &str, bytes: &[u8]) -> Result<Files, Failure> {
    let archive = ArchiveKind::from_name(name).ok_or_else(|| {
        Failure::message(ExitCode::Input, format!("`{name}` is not a source distribution"))
            .hint("take a .tar.gz or .zip")
    })?;
    unpack(bytes, archive)
        .and_then(strip_top_folder)
        .with_context(|| format!("cannot unpack `{name}`"))
        .or_fail(ExitCode::Input)
}

/// Compiled code would hide what a patch changes.
fn is_compiled(path: &str) -> bool {
    path.ends_with(".pyc") || path.split('/').any(|part| part == "__pycache__")
}

/// The files of a commit. git runs none of them.
fn fetch_commit(source: &CommitSource) -> Result<Vec<u8>, Failure> {
    let (bare, commit) = (open_bare(&cached_projects()?)?, source.commit.as_str());
    let object = format!("{commit}^{{commit}}");
    if run_git(&bare, &["cat-file", "-e", &object]).is_err() {
        fetch_commits(&bare, source, 1)?;
    }
    run_git(&bare, &["archive", "--format=tar.gz", "--prefix=project/", commit])
}

pub(super) fn cached_projects() -> Result<PathBuf, Failure> {
    Ok(default_cache_dir().map_err(image::failure)?.join("projects.git"))
}

/// Opens the bare repository `path`, which is made where it is not there.
pub(super) fn open_bare(path: &Path) -> Result<PathBuf, Failure> {
    if !path.join("HEAD").is_file() {
        std::fs::create_dir_all(path).or_fail(ExitCode::Input)?;
        run_git(path, &["init", "--bare", "--quiet", "--template="])?;
    }
    Ok(path.to_owned())
}

/// Fetches a commit and those before it: `depth` commits of each line of them.
pub(super) fn fetch_commits(bare: &Path, source: &CommitSource, depth: usize) -> Result<(), Failure> {
    let CommitSource { place, commit } = source;
    run_git(bare, &["fetch", "--quiet", &format!("--depth={depth}"), "--no-tags", "--", place, commit]).map(drop)
}

/// As [`run_git`], for an answer that is text.
pub(super) fn git_text(bare: &Path, arguments: &[&str]) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&run_git(bare, arguments)?).into_owned())
}

/// Runs git on the bare repository and returns what it prints.
pub(super) fn run_git(bare: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    let command = format!("git {}", arguments.join(" "));
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(bare)
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "https:file")
        .output()
        .with_context(|| format!("cannot run `{command}`"))
        .or_fail(ExitCode::Input)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::message(ExitCode::Input, format!("`{command}` failed: {message}"))
        .hint("`--tests` also takes a local archive or directory, and `--history` a local repository"))
}
