//! Checkpoints in which each role has adapters of its own (`learn.lora.per_role`), in a folder of its name: opened whole to be sampled from by role, and
//! refused where one model is meant.

use std::path::{Path, PathBuf};

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::Role;
use veriplay_learner::{Learner, LearnerOptions, RoleLearners};

use super::{ADAPTERS, OwnAdapters, load_learner, sampling_options};

/// Opens a checkpoint in which each role has adapters of its own, to be sampled from: as the options' roles say, beside one base.
pub(crate) fn open_roles(checkpoint: &Path, options: &LearnerOptions) -> Result<RoleLearners, Failure> {
    let solver = checkpoint.join(Role::SOLVER.name()).display().to_string();
    let solver = load_learner(&solver, &sampling_options(options), Learner::load, OwnAdapters::Kept)?;
    let mut learners = RoleLearners::new(solver).or_fail(ExitCode::Model)?;
    learners.load_adapters(checkpoint).or_fail(ExitCode::Model)?;
    Ok(learners)
}

/// Refuses a checkpoint of a run with a model of each role in a folder of its own, by their names. Other folders may have adapters below them, such as
/// those of trainers that keep checkpoints there.
pub(super) fn refuse_roles(folder: PathBuf) -> Result<PathBuf, Failure> {
    let has = |file: &str| folder.join(file).is_file();
    if !has("play.json") || has("config.json") || has(ADAPTERS[0]) {
        return Ok(folder);
    }
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut roles: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join(ADAPTERS[0]).is_file()).collect();
    if roles.is_empty() {
        return Ok(folder);
    }
    roles.sort_unstable();
    let names: Vec<String> = roles.iter().map(|role| format!("`{}`", role.display())).collect();
    let what = format!("`{}` has adapters of several roles, each a model of its own", folder.display());
    let hint = format!("name the folder of one: {}; a run is evaluated with its solver", names.join(" or "));
    Err(Failure::message(ExitCode::Model, what).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_below_a_folder_are_of_roles_in_a_checkpoint_of_a_run_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |file: &str| std::fs::write(dir.path().join(file), "{}").expect("it is written");
        let is_refused = || refuse_roles(dir.path().to_owned()).is_err();
        std::fs::create_dir(dir.path().join("checkpoint-500")).expect("a folder");
        write("checkpoint-500/adapter_config.json");
        assert!(!is_refused(), "a folder of another trainer's checkpoints");
        write("play.json");
        assert!(is_refused());
        for of_model in ["adapter_config.json", "config.json"] {
            write(of_model);
            assert!(!is_refused(), "it is a model itself");
            std::fs::remove_file(dir.path().join(of_model)).expect("it was there");
        }
    }
}
