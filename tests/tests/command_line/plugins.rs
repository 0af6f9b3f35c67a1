//! Plug-ins: programs outside compute a reward, a curriculum or a proposer factor. The run is the one that the same method built in gives,
//! and it survives kills.

mod environment;
mod faults;

use std::os::unix::process::CommandExt;
use std::path::Path;

use rustix::process::{Signal, kill_process_group};
use serde_json::Value;

use super::commands::{fails, play, read_log, section, small_with};
use super::games::{small_bug_repair, small_self_challenge, small_sol_ver};
use super::losses::merge;
use super::resume::{ENDLESS, assert_same_but, interrupted, survives};
use super::verify::rows;
use super::{root, says, small_config, stdout, succeeded};

/// `failure_rate`, as a program.
const FAILURE_RATE: &str = include_str!("plugins/failure_rate.py");

/// `frontier`, as a program without the package.
const FRONTIER: &str = include_str!("plugins/frontier.py");

/// A curriculum by the seed of each step alone.
const BY_SEED: &str = include_str!("plugins/by_seed.py");

/// The configuration with `exec:python3 FILE` under a key of `[game]`, where the file has this source.
fn with_plugin(mut config: toml::Table, dir: &Path, key: &str, source: &str) -> toml::Table {
    let file = dir.join(format!("{key}.py"));
    std::fs::write(&file, source).expect("the program is written");
    let path = root().join("python");
    let command = format!("exec:env PYTHONPATH={} python3 {}", path.display(), file.display());
    section(&mut config, "game").insert(key.to_owned(), command.into());
    config
}

/// An example of the page, by the file that its first line names.
fn example(name: &str) -> &'static str {
    let page = include_str!("../../../docs/plugins.md");
    let blocks = page.split("\n```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1));
    let mut wanted = blocks.filter(|block| block.strip_prefix("# ").is_some_and(|rest| rest.starts_with(name)));
    wanted.next().unwrap_or_else(|| panic!("docs/plugins.md has no example `{name}`"))
}

/// The records of a run's rollouts.
fn records(run: &Path) -> Vec<Value> {
    rows(&read_log(run))
}

/// The attempts at a record's task.
fn attempts(record: &Value) -> impl Iterator<Item = &Value> {
    record["task"]["attempts"].as_array().into_iter().flatten().map(|attempt| &attempt["episode"])
}

/// A part of an episode's reward.
struct Part {
    name: String,
    score: f64,
    weight: f64,
}

fn parts(episode: &Value) -> Vec<Part> {
    let parts = episode["reward"]["parts"].as_array().into_iter().flatten();
    let part = |part: &Value| serde_json::from_value(part.clone()).expect("a name, a score and a weight");
    parts.map(part).map(|(name, score, weight)| Part { name, score, weight }).collect()
}

/// A run with a plug-in survives a kill, and is the run of the same method built in.
fn assert_as_built_in(key: &str, source: &str, built_in: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (outside, _) = survives(&with_plugin(small_config(), dir.path(), key, source), &[2]);
    let built_in = small_with(&format!("[game]\n{key} = {built_in:?}"));
    succeeded(&mut play(&built_in, dir.path()));
    assert_same_but(&["config.toml"], &outside.path().join("whole"), &dir.path().join("run"));
}

#[test]
fn a_reward_survives_kills_and_gives_the_run_of_the_same_reward_built_in() {
    assert_as_built_in("reward", FAILURE_RATE, "failure_rate");
}

#[test]
fn a_curriculum_survives_kills_and_gives_the_run_of_the_same_curriculum_built_in() {
    assert_as_built_in("curriculum", FRONTIER, "frontier");
}

#[test]
fn a_curriculum_that_draws_by_the_seed_of_a_step_survives_kills_and_changes_the_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (drawn, _) = survives(&with_plugin(small_config(), dir.path(), "curriculum", BY_SEED), &[1, 3]);
    succeeded(&mut play(&small_config(), dir.path()));
    assert_ne!(read_log(&drawn.path().join("whole")), read_log(&dir.path().join("run")));
}

/// The three programs of the page at once.
#[test]
fn the_examples_of_the_page_play_a_run_that_survives_kills() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    let examples =
        [("reward", "my_reward.py"), ("curriculum", "my_curriculum.py"), ("proposer_factor", "my_factor.py")];
    for (key, file) in examples {
        config = with_plugin(config, dir.path(), key, example(file));
    }
    let (runs, _) = survives(&config, &[2]);
    let mut lengths = 0;
    for record in records(&runs.path().join("whole")) {
        let is_cost = |part: &Part| part.name == "length" && part.score < 0.0;
        lengths += attempts(&record).flat_map(parts).filter(is_cost).count();
        for Part { name, score, weight } in parts(&record["proposal"]["episode"]) {
            let share = 1.0 / weight;
            let is_share = share >= 1.0 && (share - share.round()).abs() < 1e-9;
            assert!(if score > 0.0 { is_share } else { weight == 1.0 }, "{name}: {score}, {weight}");
        }
    }
    assert!(lengths > 0, "no response cost anything");
}

#[test]
fn a_factor_multiplies_the_rewards_of_proposers_alone() {
    const HALF: &str = "from veriplay.own_proposer_factor import serve\nserve(lambda proposal: 0.5)";
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = with_plugin(small_config(), dir.path(), "proposer_factor", HALF);
    succeeded(play(&config, dir.path()).args(["--set", "game.discount_guesses=false"]));
    let records = records(&dir.path().join("run"));
    let weights = |parts: Vec<Part>| -> Vec<f64> { parts.iter().map(|part| part.weight).collect() };
    let proposals = weights(records.iter().flat_map(|record| parts(&record["proposal"]["episode"])).collect());
    let attempts = weights(records.iter().flat_map(attempts).flat_map(parts).collect());
    assert!(!proposals.is_empty() && proposals.iter().all(|weight| *weight == 0.5), "{proposals:?}");
    assert!(!attempts.is_empty() && attempts.iter().all(|weight| *weight == 1.0), "{attempts:?}");
}

/// A factor of 1 changes nothing but the configuration.
#[test]
fn a_factor_of_one_is_no_factor() {
    const ONE: &str = "from veriplay.own_proposer_factor import serve\nserve(lambda proposal: 1.0)";
    let [with, without] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    succeeded(&mut play(&with_plugin(small_config(), with.path(), "proposer_factor", ONE), with.path()));
    succeeded(&mut play(&small_config(), without.path()));
    assert_same_but(&["config.toml"], &with.path().join("run"), &without.path().join("run"));
}

#[test]
fn a_curriculum_and_a_factor_serve_every_game() {
    let mut sol_ver = small_sol_ver();
    section(&mut sol_ver, "game").insert("earlier_problems".to_owned(), 2.into());
    for (mut config, rewarded) in [(small_self_challenge(), true), (small_bug_repair(), true), (sol_ver, false)] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        config.insert("steps".to_owned(), 2.into());
        config = with_plugin(config, dir.path(), "curriculum", example("my_curriculum.py"));
        let refused = with_plugin(config.clone(), dir.path(), "proposer_factor", example("my_factor.py"));
        if rewarded {
            succeeded(&mut play(&refused, dir.path()));
            continue;
        }
        fails(&mut play(&refused, dir.path()), 3, &["this objective uses no rewards"]);
        succeeded(&mut play(&config, dir.path()));
    }
}

/// A terminal sends Ctrl-C to all processes of the foreground group.
#[test]
fn ctrl_c_in_a_terminal_reaches_the_run_and_not_its_program() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = with_plugin(small_config(), dir.path(), "curriculum", FRONTIER);
    merge(&mut config, ENDLESS.parse().expect("TOML"));
    let mut command = play(&config, dir.path());
    let code = interrupted(command.process_group(0), &["step done"], 1, |group| kill_process_group(group, Signal::INT));
    assert_eq!(code, Some(130));
    assert_eq!(std::fs::read_dir(dir.path().join("run/checkpoints")).expect("it can be listed").count(), 1);
}

/// What needs a shell: a folder to be in, a variable, a second program.
const LENGTH: &str = include_str!("plugins/length.py");

#[test]
fn a_command_is_one_of_a_shell_and_a_dry_run_says_it_without_starting_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("length.py"), LENGTH).expect("the program is written");
    let command = format!("cd '{}' && touch started && SCALE=0.5 python3 length.py", dir.path().display());
    let config = small_with(&format!("steps = 1\n[game]\nreward = \"exec:{command}\""));
    let said = stdout(&succeeded(play(&config, dir.path()).arg("--dry-run")));
    says(&said, &[&format!("plug-in `game.reward`: `{command}`")]);
    assert!(!dir.path().join("started").exists());
    succeeded(&mut play(&config, dir.path()));
    let records = records(&dir.path().join("run"));
    let first = |episode: &Value| parts(episode).first().map(|part| part.score);
    let rewards: Vec<f64> = records.iter().flat_map(attempts).filter_map(first).collect();
    assert!(!rewards.is_empty() && rewards.iter().all(|reward| *reward <= -0.5), "{rewards:?}");
}
