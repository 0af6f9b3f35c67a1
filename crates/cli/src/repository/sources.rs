//! A repository that is a plain directory of sources: its tests are run once, and what they came to is kept in the cache.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use veriplay_core::Layer;
use veriplay_sandbox::default_cache_dir;

use super::{Plan, Requirement, Source, Stored, measure, write};
use crate::exit::{ExitCode, Failure, OrFail};
use crate::image;
use crate::workers::Workers;

/// Opens `directory`, after running its tests where that has not been done before.
pub(super) fn open(directory: &Path) -> Result<Stored, Failure> {
    let package = layer(directory)?;
    let kept = default_cache_dir().map_err(image::failure)?;
    let kept = kept.join("repositories").join(format!("sources-{}", &package.digest().as_str()[..16]));
    if !kept.join("baseline.json").is_file() {
        let measured = measure(&Plan {
            requirement: &named(directory)?,
            package: &package,
            dependencies: Source::Resolve { with: &[] },
            workers: Workers::Thread,
        })?;
        write(&kept, &package, &measured)?;
    }
    Stored::open_written(kept)
}

/// The repository's name is the directory's.
fn named(directory: &Path) -> Result<Requirement, Failure> {
    let name =
        directory.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().replace('_', "-"));
    Requirement::from_str(&format!("{name}==0")).map_err(|why| Failure::message(ExitCode::Input, why))
}

/// The files of a directory.
pub(super) fn layer(directory: &Path) -> Result<Layer, Failure> {
    let mut files = Vec::new();
    collect(directory, directory, &mut files)?;
    Layer::new(files).with_context(|| format!("`{}` makes no layer", directory.display())).or_fail(ExitCode::Input)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
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
            collect(root, &path, files)?;
        } else if path.is_file() && !name.ends_with(".pyc") {
            let inside =
                path.strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).or_fail(ExitCode::Bug)?;
            files.push((inside, std::fs::read(&path).with_context(cannot).or_fail(ExitCode::Input)?));
        }
    }
    Ok(())
}
