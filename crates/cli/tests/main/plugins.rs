//! Plug-ins: programs outside compute a reward, a curriculum or a proposer factor, and a folder of the user's own is an environment. The run
//! is the one that the same method built in gives, it survives kills, and what goes wrong is said and loses nothing.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::games::{small_bug_repair, small_self_challenge, small_sol_ver};
use super::resume::{assert_same, bytes_of, survives};
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
        answer = {"rewards": [reward(episode) for episode in request["episodes"]]}
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
        answer = {"weights": [weight(task) for task in request["tasks"]]}
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
    let page = include_str!("../../../../docs/plugins.md");
    let blocks = page.split("\n```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1));
    let mut wanted = blocks.filter(|block| block.strip_prefix("# ").is_some_and(|rest| rest.starts_with(name)));
    wanted.next().unwrap_or_else(|| panic!("docs/plugins.md has no example `{name}`"))
}

/// Writes the environment of the page into a folder.
fn write_pantry(dir: &Path) -> PathBuf {
    let folder = dir.join("pantry");
    std::fs::create_dir(&folder).expect("the folder is made");
    for file in ["environment.py", "templates.toml", "tasks.toml"] {
        std::fs::write(folder.join(file), example(&format!("pantry/{file}"))).expect("the file is written");
    }
    folder
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
    succeeded(&mut play(&with_plugin(small_config(), dir.path(), "proposer_factor", HALF), dir.path()));
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

/// Plays a run that a plug-in stops, which must say `said`.
fn assert_stops(key: &str, source: &str, said: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = with_plugin(small_config(), dir.path(), key, source);
    config.insert("exec_timeout_s".to_owned(), 5.into());
    let output = finished(&mut play(&config, dir.path()));
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{source}: {message}");
    assert!(message.contains(said) && message.contains(&format!("game.{key}")), "`{said}` is missing in {message}");
}

const READY: &str = "import sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n";

#[test]
fn a_program_that_does_not_start_stops_the_run_and_says_how() {
    for (source, said) in [
        ("raise SystemExit(3)", "the program ended (exit status: 3) before it answered"),
        ("input()\nprint('hello')", "it answered `hello`"),
        // It lives on, and is not waited for.
        ("import os\ninput()\nos.write(1, b'\\xff\\n')\nimport time\ntime.sleep(600)", "it answered `\u{fffd}`"),
        ("import os\ninput()\nos.close(1)\nimport time\ntime.sleep(600)", "before it answered"),
        ("input()\nprint('{\"rewards\": []}')", "no object with the key `ready` alone"),
        ("input()\nprint('{\"ready\": false}')", "it is not ready: it answered `false`"),
        ("input()\nprint('{\"error\": \"no weights\"}')", "no weights"),
        ("import time\ntime.sleep(600)", "it did not answer within 5 s"),
        // What it started holds its pipes.
        (
            "import subprocess\nsubprocess.run(['sleep', '600'])",
            "it did not answer within 5 s, and was ended; `exec_timeout_s` sets the limit",
        ),
        ("from veriplay.own_curriculum import serve\nserve(lambda task: 1.0)", "it was started for `game.reward`"),
    ] {
        assert_stops("reward", source, said);
    }
}

#[test]
fn an_answer_that_cannot_be_used_stops_the_run_and_says_how() {
    let after_start = |rest: &str| format!("{READY}sys.stdin.readline()\n{rest}\n");
    for (key, answer, said) in [
        ("reward", "print('{\"rewards\": [1.0]}')", "at step 0: it gave 1 rewards, and was asked for "),
        ("reward", "raise SystemExit", "before it answered"),
        ("reward", "print('{\"rewards\": [\"high\"]}')", "it gave 1 rewards"),
        ("reward", "print('{\"rewards\": 5}')", "`rewards` is no list: `5`"),
        ("reward", "print('{\"ready\": true}')", "no object with the key `rewards` alone"),
        ("reward", "import time\ntime.sleep(600)", "at step 0: it did not answer within 5 s"),
        ("curriculum", "print('{\"weights\": []}')", "at step 0: it gave 0 weights, and was asked for 36"),
        ("curriculum", "print('{\"rewards\": []}')", "no object with the key `weights` alone"),
        ("proposer_factor", "print('{\"factors\": [1, 1]}')", "at step 0: it gave 2 factors, and was asked for "),
        ("proposer_factor", "import os\nos.kill(os.getpid(), 9)", "the program ended (signal: 9 (SIGKILL))"),
    ] {
        assert_stops(key, &after_start(answer), said);
    }
    // The right number of items, of which one is wrong.
    let items = |asked: &str, name: &str, wrong: &str| {
        format!(
            "{READY}import json\ncount = len(json.loads(sys.stdin.readline())['{asked}'])\n\
             print('{{\"{name}\": [' + ', '.join(['0'] * (count - 1) + ['{wrong}']) + ']}}')\n"
        )
    };
    for (key, asked, name, wrong, said) in [
        ("reward", "episodes", "rewards", "1e999", "of `rewards`: `1e+999` is no finite number"),
        ("reward", "episodes", "rewards", "{\"form\": null}", "of `rewards`: `null` is no finite number"),
        ("curriculum", "tasks", "weights", "-1", "item 35 of `weights`: `-1` is negative"),
        ("curriculum", "tasks", "weights", "\"high\"", "item 35 of `weights`: `\"high\"` is no finite number"),
        ("curriculum", "tasks", "weights", "0", "at step 0: all 36 weights are 0"),
        ("proposer_factor", "proposals", "factors", "1e999", "of `factors`: `1e+999` is no finite number"),
        ("proposer_factor", "proposals", "factors", "-0.5", "of `factors`: `-0.5` is negative"),
    ] {
        assert_stops(key, &items(asked, name, wrong), said);
    }
}

#[test]
fn a_run_that_a_program_has_stopped_goes_on_when_the_program_is_mended() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let broken = FRONTIER.replace(
        "    else:\n",
        "    elif request[\"step\"] == 3:\n        answer = {\"error\": \"out of luck\"}\n    else:\n",
    );
    let config = with_plugin(small_config(), dir.path(), "curriculum", &broken);
    let output = finished(&mut play(&config, dir.path()));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("at step 3: out of luck"), "{}", stderr(&output));
    let run = dir.path().join("run");
    assert!(run.join("checkpoints/step_2").exists(), "what was there is kept");
    std::fs::write(dir.path().join("curriculum.py"), FRONTIER).expect("the program is mended");
    succeeded(veriplay().arg("play").arg("--resume").arg(&run));
    let whole = tempfile::tempdir().expect("a temporary directory");
    // The same program at the same place: the configurations are equal too.
    let mut again = play(&config, whole.path());
    succeeded(&mut again);
    assert_same(&run, &whole.path().join("run"));
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

#[test]
fn names_that_are_no_methods_are_refused_as_values_of_their_keys() {
    for (key, value, said) in [
        ("reward", "exec: ", "`exec: `"),
        ("curriculum", "exec:", "`exec:`"),
        ("curriculum", "frontiers", "`frontiers`"),
        ("proposer_factor", "exec:", "use `exec:COMMAND`"),
        ("proposer_factor", "novelty", "use `exec:COMMAND`"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut config = small_config();
        config["game"].as_table_mut().expect("a table").insert(key.to_owned(), value.into());
        let output = finished(&mut play(&config, dir.path()));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "`{said}` is missing in {}", stderr(&output));
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    config.insert("exec_timeout_s".to_owned(), 0.into());
    let output = finished(&mut play(&config, dir.path()));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("`exec_timeout_s` is `0`"), "{}", stderr(&output));
}

/// The small game in the environment of the page.
fn in_pantry(folder: &Path) -> toml::Table {
    let mut config = small_self_challenge();
    let tasks = config["tasks"].as_table_mut().expect("a table");
    tasks.insert("environments".to_owned(), vec![folder.display().to_string()].into());
    config
}

#[test]
fn the_environment_of_the_page_plays_a_run_that_survives_kills() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = in_pantry(&write_pantry(dir.path()));
    let (runs, _) = survives(&config, &[2]);
    let records = records(&runs.path().join("whole"));
    let asked: Vec<&Value> = records.iter().filter_map(|record| record["task"].get("task")).collect();
    assert!(!asked.is_empty() && asked.iter().all(|task| task["environment"] == "pantry"), "{asked:?}");
}

#[test]
fn hand_written_tasks_of_an_environment_are_held_out_when_they_pass_the_gate() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = write_pantry(dir.path());
    let mut config = in_pantry(&folder);
    config.insert("steps".to_owned(), 1.into());
    config["tasks"].as_table_mut().expect("a table").insert("held_out".to_owned(), "hand_written".into());
    succeeded(&mut play(&config, dir.path()));
    let table = std::fs::read(dir.path().join("run/before.json")).expect("the table can be read");
    let table: Value = serde_json::from_slice(&table).expect("the table is JSON");
    assert_eq!((&table["rows"][0]["row"], &table["rows"][0]["tasks"]), (&"pantry".into(), &1.into()), "{table}");
    let tasks = example("pantry/tasks.toml").replace("\"flour\": 10", "\"flour\": 11");
    std::fs::write(folder.join("tasks.toml"), tasks).expect("the file is written");
    let other = tempfile::tempdir().expect("a temporary directory");
    let output = finished(&mut play(&config, other.path()));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let said = "task `pantry/even_out` breaks rule `solution_refused` of the gate";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn an_environment_that_is_none_is_refused_with_its_file() {
    let replaced = |file: &str, from: &str, to: &str| {
        let text = example(&format!("pantry/{file}"));
        let changed = text.replace(from, to);
        assert_ne!(text, changed);
        (file.to_owned(), changed)
    };
    for ((file, text), said) in [
        (replaced("environment.py", "TOOLS = [", "TOOLS = (["), "environment `pantry` is invalid: "),
        (replaced("environment.py", "def dump():", "def dumped():"), "environment `pantry` is invalid: "),
        (replaced("templates.toml", "<few> spoons of <jar>\"", "<many> of it\""), "no pool for `<many>`"),
        (replaced("templates.toml", "few = [1, 4]", "few = [4, 1]"), "range `few` is from 4 to 1"),
        (replaced("templates.toml", "act = 1.0\nask", "act = -1.0\nask"), "a weight of `[plans]` is -1"),
        (replaced("templates.toml", "[plans]", "[plan]"), "templates.toml`: line 2: unknown field `plan`"),
        (replaced("templates.toml", "name = \"take\"", "name = \"add\""), "there are two actions `add`"),
        (replaced("templates.toml", "code = \"\" }]", "code = \"[<jar2>]\" }]"), "which the action's code has not"),
        (replaced("tasks.toml", "verify =", "verifies ="), "tasks.toml:5: unknown field `verifies`"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let folder = write_pantry(dir.path());
        std::fs::write(folder.join(&file), text).expect("the file is written");
        let output = finished(&mut play(&in_pantry(&folder), dir.path()));
        assert_eq!(output.status.code(), Some(3), "{said}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "`{said}` is missing in {}", stderr(&output));
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = write_pantry(dir.path());
    for (name, said) in [("ledger", "`ledger` is the name of a built-in environment"), ("Pan-try", "lower-case")] {
        let named = dir.path().join(name);
        std::fs::rename(&folder, &named).expect("the folder is renamed");
        let output = finished(&mut play(&in_pantry(&named), dir.path()));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "`{said}` is missing in {}", stderr(&output));
        std::fs::rename(&named, &folder).expect("the folder is renamed");
    }
    let mut twice = in_pantry(&folder);
    let entries = [folder.display().to_string(), format!("{}/../pantry", folder.display())];
    twice["tasks"].as_table_mut().expect("a table").insert("environments".to_owned(), entries.to_vec().into());
    let output = finished(&mut play(&twice, dir.path()));
    assert!(stderr(&output).contains("`pantry` is another one's already"), "{}", stderr(&output));
    std::fs::remove_file(folder.join("templates.toml")).expect("the file is removed");
    let output = finished(&mut play(&in_pantry(&folder), dir.path()));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("templates.toml"), "{}", stderr(&output));
}
