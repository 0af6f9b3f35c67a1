//! The games that can be played: one list, and what can be done with any of them. Each is a crate beside this one, with its tasks, prompts, parsers,
//! judges, configuration and warm-up examples. [`effective_config`] is a configuration with its defaults, to be compared.

pub mod effective_config;

use std::path::Path;

use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_bug_repair::setup::BugRepairSetup;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_ladder::LadderSetup;
use veriplay_run::config::parse_game_name;
use veriplay_run::game_setup::GameSetup;
use veriplay_run::warmup_examples::WarmupExamples;
use veriplay_self_challenge::setup::SelfChallengeSetup;
use veriplay_sgs::SgsSetup;
use veriplay_soar::SoarSetup;
use veriplay_sol_ver::setup::SolVerSetup;
use veriplay_spice::SpiceSetup;
use veriplay_svs::SvsSetup;

/// Something that can be done with any game.
pub trait GameAction {
    /// What comes of it.
    type Output;

    /// Does it with this one.
    fn run<S: WarmupExamples>(self) -> Result<Self::Output, Failure>;
}

/// Defines [`GAMES`] and [`run_for`] from the list of games.
macro_rules! games {
    ($($setup:ident),* $(,)?) => {
        /// The names of all games that can be played: values of the configuration's `plays`.
        const GAMES: &[&str] = &[$($setup::NAME),*];

        /// Runs an action for the game of that name; `None` where there is no such game.
        fn run_for<A: GameAction>(name: &str, action: A) -> Option<Result<A::Output, Failure>> {
            match name {
                $($setup::NAME => Some(action.run::<$setup>()),)*
                _ => None,
            }
        }
    };
}

games!(
    AbsoluteZeroSetup, BugRepairSetup, LadderSetup, SelfChallengeSetup, SgsSetup, SoarSetup, SolVerSetup, SpiceSetup,
    SvsSetup,
);

/// Runs an action for the game that the configuration in `text` names; `origin` says where it is from.
pub fn run_for_named_in<A: GameAction>(text: &str, origin: &Path, action: A) -> Result<A::Output, Failure> {
    let name = parse_game_name(text, origin)?;
    run_for(&name, action).unwrap_or_else(|| {
        let what = format!("`{}`: configuration key `plays` is `{name}`, and there is no such game", origin.display());
        Err(Failure::message(ExitCode::Input, what).hint(format!("the games are `{}`", GAMES.join("`, `"))))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::GAMES;

    /// The folders of the games' crates, by name.
    fn folders() -> Vec<(String, PathBuf)> {
        let here = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder of this crate is there");
        let folders =
            here.map(|entry| entry.expect("an entry").path()).filter(|path| path.join("Cargo.toml").is_file());
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        folders.map(|path| (name(&path), path)).collect()
    }

    #[test]
    fn every_crate_of_a_game_can_be_played() {
        let names: BTreeSet<String> = folders().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, GAMES.iter().map(|name| (*name).to_owned()).collect());
    }

    #[test]
    fn every_game_says_what_its_step_is_and_what_always_holds() {
        for (name, folder) in folders() {
            let text = fs::read_to_string(folder.join("src/lib.rs")).expect("a crate has a root");
            for wanted in [format!("//! `{name}`"), "//! # One step".to_owned(), "//! # Invariants".to_owned()] {
                assert!(text.contains(&wanted), "`{name}` lacks {wanted}");
            }
        }
    }
}
