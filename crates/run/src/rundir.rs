//! A run directory: what is in it, and how it survives a kill at any moment.
//!
//! ```text
//! config.toml              the resolved configuration
//! before.json, after.json  the evaluation at the start and at the end
//! events.jsonl             one metrics object a step, without clocks
//! timing.jsonl             seconds and rates a step: the one file that differs between two equal runs
//! events.out.tfevents.*    the same numbers for TensorBoard, with `tensorboard`; they hold times too
//! trackio-run-id           the run's id in trackio, with `trackio`
//! rollouts.jsonl.zst       every prompt, rollout, attempt, verdict and reward; one zstd frame a step
//! suites/step_N/           samples, verdicts and reports of public sets after N steps, with `[eval] suites`
//! last_checkpoint.json     the step of the newest checkpoint
//! images.json              the images that the programs of the game ran in ([`crate::judged_images`])
//! steps_changes.json       where `--resume --steps` gave the run another number of steps
//! checkpoints/step_N/      the model in Hugging Face layout, or adapters in PEFT's; `optimizer/`, `play.json`; or `trainer/`
//! ```
//!
//! A checkpoint is made under another name and renamed when whole. It records how long the logs were, so a resumed run
//! cuts them back to it and writes the same bytes again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::interrupt;
use veriplay_console::json_file::{read_json, write_atomically, write_json};
use veriplay_console::progress::{self, counted};
use veriplay_selfplay::play::OutcomeCounts;

use crate::config::AlarmEffects;
use crate::game_setup::GameSetup;
use crate::model;
use crate::play_config::PlayConfig;

/// What a checkpoint contains in addition to the model and the optimizer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayState<G> {
    /// The version of this record.
    pub schema_version: u32,
    /// Steps done.
    pub step: u64,
    /// How long the log of events was then.
    pub events_bytes: u64,
    /// How long the log of rollouts was then.
    pub rollouts_bytes: u64,
    /// Sums over the steps so far.
    pub totals: OutcomeCounts,
    /// Digest of the start model's weights, where every step begins with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_weights: Option<String>,
    /// What alarms have done so far.
    #[serde(default, skip_serializing_if = "AlarmEffects::is_none")]
    pub alarms: AlarmEffects,
    /// What the game carries from step to step.
    pub game: G,
}

const CHECKPOINTS: &str = "checkpoints";
const LAST_CHECKPOINT: &str = "last_checkpoint.json";
const STEPS_CHANGES: &str = "steps_changes.json";

/// Outside of the checkpoints, so that it tells of those that were deleted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LastCheckpoint {
    step: u64,
}

/// Another number of steps that a run was given: up to `at_step` it followed the schedules of a run of `from` steps, and then those of `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepsChange {
    /// The last step that followed the earlier number.
    pub at_step: u64,
    /// The earlier number of steps.
    pub from: u64,
    /// The number of steps from there on.
    pub to: u64,
}

/// The changes that led to the `steps` that the run in `root` has. One that a kill kept from being made is in the file, and not among them.
pub fn read_steps_changes(root: &Path, steps: u64) -> Result<Vec<StepsChange>, Failure> {
    let path = root.join(STEPS_CHANGES);
    let mut changes: Vec<StepsChange> = if path.exists() { read_json(&path)? } else { Vec::new() };
    let (mut reached, mut made) = (steps, Vec::new());
    while let Some(change) = changes.pop() {
        if change.to == reached {
            reached = change.from;
            made.insert(0, change);
        }
    }
    Ok(made)
}

/// The directory of a run, which one process at a time writes.
pub struct RunDir {
    root: PathBuf,
    /// Held while this process writes the run.
    lock: Option<fs::File>,
    /// Whether this process made the directory.
    is_new: bool,
}

/// A run that could not start leaves no directory that looks like one.
impl Drop for RunDir {
    fn drop(&mut self) {
        if self.is_new {
            remove_unstarted(&self.root);
        }
    }
}

/// Removes the directory of a run that never started, where nothing is in it.
fn remove_unstarted(root: &Path) {
    if !root.join("config.toml").exists() {
        let _ = fs::remove_dir(root.join(CHECKPOINTS)).and_then(|()| fs::remove_dir(root));
    }
}

impl RunDir {
    /// A new directory; an existing run is never written over.
    pub fn create(root: &Path) -> Result<Self, Failure> {
        if root.join("config.toml").exists() {
            let what = format!("`{}` holds a run already", root.display());
            return Err(Failure::message(ExitCode::Input, what)
                .hint("continue it with `--resume`, or choose another directory with `--out`"));
        }
        let dir = Self { root: root.to_owned(), lock: None, is_new: !root.exists() };
        fs::create_dir_all(dir.checkpoints())
            .with_context(|| format!("cannot make the run directory `{}`", root.display()))
            .or_fail(ExitCode::Input)?;
        dir.locked()
    }

    /// Has a signal remove the directory where the run has not started yet, as a failure does: a process that a signal ends drops nothing.
    pub fn remove_at_signal(&self) {
        if self.is_new {
            let root = self.root.clone();
            interrupt::end_after(move || remove_unstarted(&root));
        }
    }

    /// Makes the directory a run. Written last and whole: a directory without it is no run, and can be started in again.
    pub fn write_config<S: GameSetup>(&self, config: &PlayConfig<S>) -> Result<(), Failure> {
        let text = config.to_toml().or_fail(ExitCode::Bug)?;
        write_atomically(&self.path("config.toml"), text.as_bytes()).or_fail(ExitCode::Input)
    }

    /// An existing run, to be read.
    pub fn open(root: &Path) -> Result<Self, Failure> {
        if root.join("config.toml").is_file() {
            return Ok(Self { root: root.to_owned(), lock: None, is_new: false });
        }
        let what = format!("`{}` is not a run directory: it has no `config.toml`", root.display());
        Err(Failure::message(ExitCode::Input, what).hint("start a run with `veriplay play --out DIR`"))
    }

    /// An existing run, to be continued.
    pub fn open_to_write(root: &Path) -> Result<Self, Failure> {
        Self::open(root)?.locked()
    }

    /// Keeps other processes from writing the run. The lock ends with the process, however it ends.
    fn locked(mut self) -> Result<Self, Failure> {
        let path = self.root.display();
        let lock = fs::File::open(&self.root).with_context(|| format!("cannot open the run directory `{path}`"));
        let lock = lock.or_fail(ExitCode::Input)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let what = format!("`{path}` is in use: another process is playing this run");
                let hint = "wait for that process, or stop it with Ctrl-C and resume the run";
                return Err(Failure::message(ExitCode::Input, what).hint(hint));
            }
            // A file system without locks: as safe as the user's care.
            Err(fs::TryLockError::Error(error)) => tracing::warn!("cannot lock `{path}`: {error}"),
        }
        self.lock = Some(lock);
        Ok(self)
    }

    /// The path of a file of the run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn checkpoints(&self) -> PathBuf {
        self.root.join(CHECKPOINTS)
    }

    /// The folder of the checkpoint after this step.
    pub fn checkpoint_path(&self, step: u64) -> PathBuf {
        self.checkpoints().join(format!("step_{step}"))
    }

    /// Steps that have a whole checkpoint, rising.
    pub fn checkpoint_steps(&self) -> Vec<u64> {
        model::checkpoint_steps(&self.checkpoints())
    }

    /// Writes the checkpoint of `state.step`. It appears under its name only when it is whole and on disk.
    /// `save` puts the model into it.
    pub fn save_checkpoint(
        &self,
        save: impl FnOnce(&Path) -> anyhow::Result<()>,
        state: &PlayState<impl Serialize>,
    ) -> anyhow::Result<()> {
        let target = self.checkpoint_path(state.step);
        let staging = self.checkpoints().join(format!(".step_{}.tmp", state.step));
        let remove_old = |folder: &Path| if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
        remove_old(&staging)?;
        fs::create_dir_all(&staging)?;
        save(&staging)?;
        write_json(&staging.join("play.json"), state)?;
        // Names of files are data of their folders: after a power cut, a folder could have its new name and lack files.
        sync_tree(&staging).with_context(|| format!("cannot sync the checkpoint `{}`", staging.display()))?;
        remove_old(&target)?;
        fs::rename(&staging, &target)?;
        fs::File::open(self.checkpoints())?.sync_all().context("cannot sync the checkpoints directory")?;
        write_json(&self.path(LAST_CHECKPOINT), &LastCheckpoint { step: state.step })
    }

    /// Says which steps a resumed run plays again because their checkpoints were deleted.
    ///
    /// # Errors
    /// None of the checkpoints is left.
    pub fn tell_missing_checkpoints(&self) -> Result<(), Failure> {
        // The newest that was ever whole, whatever has become of it.
        let last = self.path(LAST_CHECKPOINT);
        let saved = if last.exists() { read_json::<LastCheckpoint>(&last)?.step } else { 0 };
        let left = self.checkpoint_steps().last().copied().unwrap_or_default();
        if left >= saved {
            return Ok(());
        }
        if left == 0 {
            let (path, steps) = (self.root.display(), counted(saved, "step"));
            let what = format!("`{path}` has played {steps}, and all its checkpoints are missing");
            return Err(Failure::message(ExitCode::Input, what)
                .hint("put a folder `checkpoints/step_N` back, or start the run again in a new directory"));
        }
        progress::say(match saved - left {
            1 => format!("step {saved} is played again: its checkpoint is missing"),
            _ => format!("steps {} to {saved} are played again: their checkpoints are missing", left + 1),
        });
        Ok(())
    }

    /// Removes checkpoints that `keep` does not name, and returns their steps, rising.
    pub fn prune_checkpoints(&self, keep: impl Fn(u64) -> bool) -> std::io::Result<Vec<u64>> {
        let doomed: Vec<u64> = self.checkpoint_steps().into_iter().filter(|step| !keep(*step)).collect();
        doomed.iter().try_for_each(|step| fs::remove_dir_all(self.checkpoint_path(*step)))?;
        Ok(doomed)
    }

    /// Keeps a change of the number of steps. The configuration has the new number after this.
    pub fn add_steps_change(&self, change: StepsChange) -> Result<(), Failure> {
        let mut changes = read_steps_changes(&self.root, change.from)?;
        changes.push(change);
        write_json(&self.path(STEPS_CHANGES), &changes).or_fail(ExitCode::Input)
    }

    /// Steps in the log of events; 0 where there is no log.
    pub fn logged_steps(&self) -> Result<u64, Failure> {
        match fs::read(self.path("events.jsonl")) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
            events => Ok(events.or_fail(ExitCode::Input)?.iter().filter(|byte| **byte == b'\n').count() as u64),
        }
    }

    /// Reads the state of the checkpoint after this step.
    ///
    /// # Errors
    /// It is not there, or damaged.
    pub fn load_state<G: DeserializeOwned>(&self, step: u64) -> Result<PlayState<G>, Failure> {
        read_json(&self.checkpoint_path(step).join("play.json"))
    }
}

/// Has every file and folder below `folder` on disk, and itself.
fn sync_tree(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(step: u64) -> PlayState<()> {
        PlayState {
            schema_version: 1,
            step,
            events_bytes: 0,
            rollouts_bytes: 0,
            totals: OutcomeCounts::default(),
            start_weights: None,
            alarms: AlarmEffects::default(),
            game: (),
        }
    }

    #[test]
    fn a_tree_is_synced_to_its_leaves_and_one_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("a/b")).expect("they are made");
        fs::write(dir.path().join("a/b/file"), "whole").expect("it is written");
        assert!(sync_tree(dir.path()).is_ok());
        assert!(sync_tree(&dir.path().join("none")).is_err());
    }

    #[test]
    fn a_checkpoint_that_is_cut_short_leaves_the_one_before_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let run = RunDir::create(&dir.path().join("run")).expect("it is made");
        let save = |folder: &Path| fs::write(folder.join("model.safetensors"), "whole").map_err(anyhow::Error::from);
        let cut = |folder: &Path| save(folder).and_then(|()| Err(anyhow::anyhow!("it ends before the optimizer")));
        run.save_checkpoint(save, &state(1)).expect("it is saved");
        assert!(run.save_checkpoint(cut, &state(2)).is_err());
        assert_eq!(run.checkpoint_steps(), [1]);
        assert_eq!(run.load_state::<()>(1).expect("it is whole").step, 1);
        run.save_checkpoint(save, &state(2)).expect("what was left is no hindrance");
        assert_eq!(run.checkpoint_steps(), [1, 2]);
    }
}
