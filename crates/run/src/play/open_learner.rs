//! The model that learns in this process: opened at the start of a run, or from a checkpoint, with its memory predicted before.
//!
//! Called by the session, and by the checks before a run.

use std::fs;
use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;
use veriplay_learner::{Learner, ModelConfig, RoleLearners};

use crate::config::{RunConfig, from_toml};
use crate::game_setup::GameSetup;
use crate::model::FoundModel;
use crate::play_config::PlayConfig;
use crate::{device, memory, model};

/// What becomes of a run whose steps are predicted not to fit in memory. One that starts is refused, by [`Err`].
type MemoryRule = fn(Failure) -> Result<(), Failure>;

/// A run that is resumed gets a warning: it has played before, on sequences that may be shorter than the longest that are planned for.
fn warn(failure: Failure) -> Result<(), Failure> {
    progress::say(warning(&failure));
    Ok(())
}

fn warning(failure: &Failure) -> String {
    format!("warning: the run goes on, and may run out of memory: {}", failure.reason())
}

/// A warning where adapters train on a checkpoint that its own run may remove: `checkpoints`, where those of this run will be, hold adapters alone
/// and name that base.
pub(super) fn removable_base(config: &RunConfig, checkpoints: &Path) -> Option<String> {
    if !config.learn.trains_adapters() || !Path::new(&config.model).is_dir() {
        return None;
    }
    let base = model::find_directory(&config.model).ok()?.canonicalize().ok()?;
    let step: u64 = base.file_name()?.to_str()?.strip_prefix("step_")?.parse().ok()?;
    let file = model::run_configuration(base.to_str()?)?;
    let run: RunConfig = from_toml(&fs::read_to_string(&file).ok()?, &file).ok()?;
    if run.kept_checkpoints(run.steps).contains(&step) {
        return None;
    }
    Some(format!(
        "warning: the checkpoints in `{}` hold adapters alone and need their base `{}`, which its run removes when it goes on \
         (`checkpoints_kept`, `checkpoint_every`): copy the base to another folder, and name that as `model`",
        checkpoints.display(),
        base.display()
    ))
}

/// The start model, ready to learn. Refused where its steps are predicted not to fit.
pub(super) fn start_learner<S: GameSetup>(config: &PlayConfig<S>) -> Result<RoleLearners, Failure> {
    open_start_model(config, free_beside_server(config)?, Err)
}

/// The model of a checkpoint at the start of a process, ready to learn on as if nothing had happened.
pub(super) fn resume_learner<S: GameSetup>(config: &PlayConfig<S>, checkpoint: &Path) -> Result<RoleLearners, Failure> {
    open_checkpoint(config, checkpoint, free_beside_server(config)?)
}

/// The same in the middle of a run, whose learner sees to it that a server sleeps and wakes.
pub(super) fn restore_learner<S: GameSetup>(
    config: &PlayConfig<S>,
    checkpoint: &Path,
) -> Result<RoleLearners, Failure> {
    open_checkpoint(config, checkpoint, None)
}

/// Puts a server that shares the learner's memory to sleep. Returns what it leaves free while it is awake; `None` where no such server samples.
fn free_beside_server<S: GameSetup>(config: &PlayConfig<S>) -> Result<Option<u64>, Failure> {
    let Some(server) = &config.run.rollout_server else { return Ok(None) };
    server.make_room(|| memory::free_on_device(&config.run.learner_options()))
}

fn open_checkpoint<S: GameSetup>(
    config: &PlayConfig<S>,
    checkpoint: &Path,
    beside: Option<u64>,
) -> Result<RoleLearners, Failure> {
    if !config.run.learn.trains_adapters() {
        return resume_weights(config, checkpoint, beside);
    }
    // The base is the start model, and adapters that start are the reference.
    let mut learner = open_start_model(config, beside, warn)?;
    learner.load_adapters(checkpoint).or_fail(ExitCode::Model)?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    Ok(learner)
}

fn open_start_model<S: GameSetup>(
    config: &PlayConfig<S>,
    beside: Option<u64>,
    rule: MemoryRule,
) -> Result<RoleLearners, Failure> {
    let learn = &config.run.learn;
    let options = config.learner_options();
    let step_tokens = |shape: &ModelConfig| config.step_tokens(options.context(shape));
    memory::check_before_load(&config.run.model, &options, beside, step_tokens).or_else(rule)?;
    let learner = model::open_trainable(&config.run.model, &options)?;
    let mut learner = RoleLearners::new(learner).or_fail(ExitCode::Model)?;
    if learn.needs_reference() || config.setup.needs_reference() {
        learner.hold_reference().or_fail(ExitCode::Model)?;
    }
    Ok(learner)
}

fn resume_weights<S: GameSetup>(
    config: &PlayConfig<S>,
    checkpoint: &Path,
    beside: Option<u64>,
) -> Result<RoleLearners, Failure> {
    let learn = &config.run.learn;
    let options = config.run.learner_options();
    device::check(&options)?;
    let step_tokens = |shape: &ModelConfig| config.step_tokens(options.context(shape));
    memory::check_before_load(&checkpoint.display().to_string(), &options, beside, step_tokens).or_else(warn)?;
    let mut learner = Learner::load(checkpoint, options.clone()).or_fail(ExitCode::Model)?;
    learner.load_trainer_state(checkpoint).or_fail(ExitCode::Model)?;
    if learn.needs_reference() || config.setup.needs_reference() {
        let start = model::open_trainable(&config.run.model, &options)?;
        learner.hold_reference_of(&start).or_fail(ExitCode::Model)?;
    }
    RoleLearners::new(learner).or_fail(ExitCode::Model)
}

/// The start model of a run whose steps each train it anew (`game.train_from = "start"`), found once: every step begins with the weights that the
/// first began with, in a resumed run too, whatever the model's name means by then.
pub(super) struct StartModel {
    pub(super) found: FoundModel,
    /// The digest of its weights, which a checkpoint keeps.
    pub(super) digest: String,
}

impl StartModel {
    /// Finds it; `None` where steps do not begin with it. `recorded` is the digest of the weights that earlier steps began with.
    pub(super) fn find<S: GameSetup>(config: &PlayConfig<S>, recorded: Option<&str>) -> Result<Option<Self>, Failure> {
        if !config.setup.trains_from_start() {
            return Ok(None);
        }
        let name = &config.run.model;
        let found = FoundModel::find_trainable(name)?;
        let digest = found.hash_weights()?;
        match recorded.filter(|recorded| *recorded != digest) {
            None => Ok(Some(Self { found, digest })),
            Some(recorded) => {
                let what = format!(
                    "the start model `{name}` has weights of digest {digest}, and the run's steps began with those of {recorded}"
                );
                Err(Failure::message(ExitCode::Input, what)
                    .hint("let `model` in the run's `config.toml` name the directory with the earlier weights"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{removable_base, warn, warning};
    use crate::builtin_configs::QUICKSTART;
    use crate::config::RunConfig;
    use veriplay_console::exit::{ExitCode, Failure};

    const LORA: &str = "[learn.lora]\nrank = 4\nalpha = 8.0\ntarget_modules = [\"q_proj\"]";

    /// What a run with these keys is warned of.
    fn warning_of_base(keys: &str, base: &Path) -> Option<String> {
        let own: RunConfig = toml::from_str(&format!("{QUICKSTART}\n{keys}")).expect("it is valid");
        removable_base(&RunConfig { model: base.display().to_string(), ..own }, "own/checkpoints".as_ref())
    }

    #[test]
    fn a_base_that_its_own_run_removes_is_warned_of_with_both_paths() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("it is there");
        let run: RunConfig = toml::from_str(QUICKSTART).expect("it is valid");
        let of_base = RunConfig { steps: 10, checkpoint_every: 3, checkpoints_kept: Some(2), ..run };
        for step in [3, 10] {
            std::fs::create_dir_all(root.join(format!("base/checkpoints/step_{step}"))).expect("they are made");
        }
        let text = toml::to_string(&of_base).expect("it is written");
        std::fs::write(root.join("base/config.toml"), text).expect("it is written");
        let removed = root.join("base/checkpoints/step_3");
        let warned = warning_of_base(LORA, &removed).expect("only 9 and 10 are kept");
        let quoted = format!("`{}`", removed.display());
        assert!(warned.contains("`own/checkpoints`") && warned.contains(&quoted), "{warned}");
        // The last that stays, all weights, and no checkpoint.
        for (keys, base) in [(LORA, root.join("base")), ("", removed), (LORA, root)] {
            assert_eq!(warning_of_base(keys, &base), None, "{}", base.display());
        }
    }

    #[test]
    fn a_run_that_does_not_fit_is_warned_when_it_is_resumed() {
        let what = "training it is predicted to take 3.0 GiB of memory, and 1.0 GiB is free";
        let failure = Failure::message(ExitCode::Input, what).hint("train adapters");
        assert_eq!(warning(&failure), format!("warning: the run goes on, and may run out of memory: {what}"));
        assert!(warn(failure).is_ok());
    }
}
