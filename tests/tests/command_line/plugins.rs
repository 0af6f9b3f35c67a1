//! Plug-ins: programs outside compute a reward, a curriculum or a proposer factor. The run is the one that the same method built in gives,
//! and it survives kills.

mod environment;
mod faults;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::games::{small_bug_repair, small_self_challenge, small_sol_ver};
use super::resume::{bytes_of, survives};
use super::{finished, root, small_config, stderr, succeeded, veriplay, write_config};

/// `quickstart`, as a program.
const QUICKSTART: &str = r#"
import json, sys

def reward(episode):
    if episode["role"] != "proposer":
        return {"accuracy": float(episode["status"] == "accepted")}
    outcome = episode["outcome"]
    if outcome == "unrated":
        return None
    if outcome in ("malformed", "invalid"):
        return {"validity": -0.5}
    if outcome == "duplicate":
        return {"novelty": -0.25}
    rate = episode["solve_rate"]
    return {"learnability": 1.0 - rate if rate > 0.0 else 0.0}

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        assert request["protocol"] == 1 and request["game"] == "absolute_zero" and request["plugin"] == "reward"
        answer = {"ready": True}
    else:
        for episode in request["episodes"]:
            assert episode["turns"] and all(turn["prompt"] and turn["tokens"] for turn in episode["turns"])
            assert episode["role"] == "proposer" or episode["total"] is not None
        answer = {"step": request["step"], "rewards": [reward(episode) for episode in request["episodes"]]}
    print(json.dumps(answer), flush=True)
"#;

/// `frontier`, as a program without the package.
const FRONTIER: &str = r#"
import json, sys

def weight(task):
    assert task["source"] in ("seed", "pool") and task["task"] and len(task["id"]) > 8
    assert task["kind"] in ("deduction", "abduction", "induction") and task["step"] >= 0
    last = task["last"]
    if not last or not last["judged"]:
        return 1.0
    rate = last["solved"] / last["judged"]
    return max(4.0 * rate * (1.0 - rate), 0.05)

seen = set()
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        assert request["plugin"] == "curriculum"
        answer = {"ready": True}
    else:
        assert request["learnable_weight"] > 0 and 0 <= request["seed"] < 2**64 and request["seed"] not in seen
        seen.add(request["seed"])
        answer = {"step": request["step"], "weights": [weight(task) for task in request["tasks"]]}
    print(json.dumps(answer), flush=True)
"#;

/// A curriculum by the seed of each step alone.
const BY_SEED: &str = "
import random
from veriplay.own_curriculum import serve_steps

def weights(step):
    draw = random.Random(step.seed)
    return [draw.random() for _ in step.tasks]

serve_steps(weights)
";

/// The configuration with `exec:python3 FILE` under a key of `[game]`, where the file has this source.
fn with_plugin(mut config: toml::Table, dir: &Path, key: &str, source: &str) -> toml::Table {
    let file = dir.join(format!("{key}.py"));
    std::fs::write(&file, source).expect("the program is written");
    let path = root().join("python");
    let command = format!("exec:env PYTHONPATH={} python3 {}", path.display(), file.display());
    config["game"].as_table_mut().expect("a table").insert(key.to_owned(), command.into());
    config
}

/// An example of the page, by the file that its first line names.
fn example(name: &str) -> &'static str {
    let page = include_str!("../../../docs/plugins.md");
    let blocks = page.split("\n```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1));
    let mut wanted = blocks.filter(|block| block.strip_prefix("# ").is_some_and(|rest| rest.starts_with(name)));
    wanted.next().unwrap_or_else(|| panic!("docs/plugins.md has no example `{name}`"))
}

fn play(config: &toml::Table, dir: &Path) -> Command {
    let path = write_config(dir, config);
    let mut command = veriplay();
    command.current_dir(root()).arg("play").arg("--config").arg(path).arg("--out").arg(dir.join("run"));
    command
}

/// The records of a run's rollouts.
fn records(run: &Path) -> Vec<Value> {
    let log = std::fs::File::open(run.join("rollouts.jsonl.zst")).expect("the log opens");
    let text = String::from_utf8(zstd::decode_all(log).expect("the log is zstd")).expect("the log is text");
    text.lines().map(|line| serde_json::from_str(line).expect("a record is JSON")).collect()
}

/// Compares two runs in all but their configurations.
fn assert_same_but_config(one: &Path, two: &Path) {
    let [mut one, mut two] = [one, two].map(bytes_of);
    assert_ne!(one.remove("config.toml"), two.remove("config.toml"));
    assert!(one.keys().eq(two.keys()));
    for (name, bytes) in &one {
        assert!(bytes == &two[name], "`{name}` differs");
    }
}

/// A run with a plug-in survives a kill, and is the run of the same method built in.
fn assert_as_built_in(key: &str, source: &str, built_in: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (outside, _) = survives(&with_plugin(small_config(), dir.path(), key, source), &[2]);
    let mut config = small_config();
    config["game"].as_table_mut().expect("a table").insert(key.to_owned(), built_in.into());
    succeeded(&mut play(&config, dir.path()));
    assert_same_but_config(&outside.path().join("whole"), &dir.path().join("run"));
}

#[test]
fn a_reward_survives_kills_and_gives_the_run_of_the_same_reward_built_in() {
    assert_as_built_in("reward", QUICKSTART, "quickstart");
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
    let rollouts = |run: PathBuf| std::fs::read(run.join("rollouts.jsonl.zst")).expect("the log can be read");
    assert_ne!(rollouts(drawn.path().join("whole")), rollouts(dir.path().join("run")));
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
        let attempts = record["task"]["attempts"].as_array().into_iter().flatten();
        let parts = attempts.flat_map(|one| one["episode"]["reward"]["parts"].as_array().expect("parts"));
        lengths += parts.filter(|part| part[0] == "length" && part[1].as_f64().expect("a score") < 0.0).count();
        let parts = record["proposal"]["episode"]["reward"]["parts"].as_array().into_iter().flatten();
        for part in parts {
            let (score, weight) = (part[1].as_f64().expect("a score"), part[2].as_f64().expect("a weight"));
            let share = 1.0 / weight;
            let is_share = share >= 1.0 && (share - share.round()).abs() < 1e-9;
            assert!(if score > 0.0 { is_share } else { weight == 1.0 }, "{part}");
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
    let (mut proposals, mut attempts) = (0, 0);
    let weights = |episode: &Value| -> Vec<f64> {
        let parts = episode["reward"]["parts"].as_array().into_iter().flatten();
        parts.map(|part| part[2].as_f64().expect("a weight")).collect()
    };
    for record in records(&dir.path().join("run")) {
        let found = weights(&record["proposal"]["episode"]);
        assert!(found.iter().all(|weight| *weight == 0.5), "{found:?}");
        proposals += found.len();
        for attempt in record["task"]["attempts"].as_array().into_iter().flatten() {
            let found = weights(&attempt["episode"]);
            assert!(found.iter().all(|weight| *weight == 1.0), "{found:?}");
            attempts += found.len();
        }
    }
    assert!(proposals > 0 && attempts > 0, "{proposals} proposals and {attempts} attempts");
}

/// A factor of 1 changes nothing but the configuration.
#[test]
fn a_factor_of_one_is_no_factor() {
    const ONE: &str = "from veriplay.own_proposer_factor import serve\nserve(lambda proposal: 1.0)";
    let [with, without] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    succeeded(&mut play(&with_plugin(small_config(), with.path(), "proposer_factor", ONE), with.path()));
    succeeded(&mut play(&small_config(), without.path()));
    assert_same_but_config(&with.path().join("run"), &without.path().join("run"));
}

#[test]
fn a_curriculum_and_a_factor_serve_every_game() {
    let mut sol_ver = small_sol_ver();
    sol_ver["game"].as_table_mut().expect("a table").insert("earlier_problems".to_owned(), 2.into());
    for (mut config, rewarded) in [(small_self_challenge(), true), (small_bug_repair(), true), (sol_ver, false)] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        config.insert("steps".to_owned(), 2.into());
        config = with_plugin(config, dir.path(), "curriculum", example("my_curriculum.py"));
        let refused = with_plugin(config.clone(), dir.path(), "proposer_factor", example("my_factor.py"));
        if rewarded {
            succeeded(&mut play(&refused, dir.path()));
            continue;
        }
        let output = finished(&mut play(&refused, dir.path()));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("this objective uses no rewards"), "{}", stderr(&output));
        succeeded(&mut play(&config, dir.path()));
    }
}

/// A terminal sends Ctrl-C to all processes of the foreground group.
#[test]
fn ctrl_c_in_a_terminal_reaches_the_run_and_not_its_program() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = with_plugin(small_config(), dir.path(), "curriculum", FRONTIER);
    config.insert("steps".into(), 100_000.into());
    config.insert("checkpoint_every".into(), 100_000.into());
    let mut command = play(&config, dir.path());
    command.env("VERIPLAY_LOG", "veriplay=info").stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("step done")), "it ended before its first step");
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill runs").success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("it ended").code(), Some(130), "{rest:#?}");
    assert_eq!(std::fs::read_dir(dir.path().join("run/checkpoints")).expect("it can be listed").count(), 1);
}

/// What needs a shell: a folder to be in, a variable, a second program.
const LENGTH: &str = r#"
import json, os, sys

scale = float(os.environ["SCALE"])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        answer = {"ready": True}
    else:
        rewards = [-scale * sum(turn["tokens"] for turn in one["turns"]) for one in request["episodes"]]
        answer = {"step": request["step"], "rewards": rewards}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_command_is_one_of_a_shell_and_a_dry_run_says_it_without_starting_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("length.py"), LENGTH).expect("the program is written");
    let command = format!("cd '{}' && touch started && SCALE=0.5 python3 length.py", dir.path().display());
    let mut config = small_config();
    config.insert("steps".to_owned(), 1.into());
    config["game"].as_table_mut().expect("a table").insert("reward".to_owned(), format!("exec:{command}").into());
    let output = succeeded(play(&config, dir.path()).arg("--dry-run"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(&format!("plug-in `game.reward`: `{command}`")), "{said}");
    assert!(!dir.path().join("started").exists());
    succeeded(&mut play(&config, dir.path()));
    let records = records(&dir.path().join("run"));
    let attempts = records.iter().flat_map(|record| record["task"]["attempts"].as_array().into_iter().flatten());
    let rewards: Vec<f64> =
        attempts.filter_map(|attempt| attempt["episode"]["reward"]["parts"][0][1].as_f64()).collect();
    assert!(!rewards.is_empty() && rewards.iter().all(|reward| *reward <= -0.5), "{rewards:?}");
}
