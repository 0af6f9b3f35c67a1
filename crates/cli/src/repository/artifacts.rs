//! Files of bugs, as `corpus inject-bugs` writes them: one artifact a line.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use veriplay_verifier::bugs::BugArtifact;

use crate::exit::{ExitCode, Failure, OrFail};

/// All bugs of a file, in its order; of one that ends in `.zst`, after decompressing it.
pub(crate) fn read_bugs(path: &Path) -> Result<Vec<BugArtifact>, Failure> {
    let text = read(path).with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)?;
    let bug = |(index, line): (usize, &str)| {
        let place = || format!("{}:{}: no bug that this build reads", path.display(), index + 1);
        let bug: BugArtifact = serde_json::from_str(line).with_context(place).or_fail(ExitCode::Input)?;
        match bug.schema_version {
            BugArtifact::SCHEMA_VERSION => Ok(bug),
            other => Err(Failure::message(ExitCode::Input, format!("{}: schema version `{other}`", place()))),
        }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(bug).collect()
}

fn read(path: &Path) -> std::io::Result<String> {
    let file = File::open(path)?;
    match path.extension().is_some_and(|extension| extension == "zst") {
        true => std::io::read_to_string(zstd::Decoder::new(file)?),
        false => std::io::read_to_string(file),
    }
}
