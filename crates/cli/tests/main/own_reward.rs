//! `game.reward = "exec:COMMAND"`: a program outside computes the reward, the run is the one that the same reward built in gives, and what
//! goes wrong in the program is said and loses nothing.

use std::path::Path;

use super::resume::{bytes_of, survives};
use super::{finished, small_config, stderr, succeeded, veriplay, write_config};

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
        assert request["protocol"] == 1 and request["game"] == "absolute_zero"
        answer = {"ready": True}
    else:
        for episode in request["episodes"]:
            assert episode["turns"] and all(turn["prompt"] and turn["tokens"] for turn in episode["turns"])
            assert episode["role"] == "proposer" or episode["total"] is not None
        answer = {"rewards": [reward(episode) for episode in request["episodes"]]}
    print(json.dumps(answer), flush=True)
"#;

fn with_program(dir: &Path, source: &str) -> toml::Table {
    let file = dir.join("reward.py");
    std::fs::write(&file, source).expect("the program is written");
    let mut config = small_config();
    let game = config["game"].as_table_mut().expect("a table");
    game.insert("reward".to_owned(), format!("exec:python3 {}", file.display()).into());
    config
}

#[test]
fn it_survives_kills_and_gives_the_run_of_the_same_reward_built_in() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = with_program(dir.path(), QUICKSTART);
    let (outside, _) = survives(&config, &[2]);
    let game = config["game"].as_table_mut().expect("a table");
    game.insert("reward".to_owned(), "quickstart".into());
    let (inside, _) = survives(&config, &[1]);
    let [mut outside, mut inside] = [outside, inside].map(|folder| bytes_of(&folder.path().join("whole")));
    assert_ne!(outside.remove("config.toml"), inside.remove("config.toml"));
    assert!(outside.keys().eq(inside.keys()));
    for (name, bytes) in &outside {
        assert!(bytes == &inside[name], "`{name}` differs");
    }
}

#[test]
fn a_program_that_goes_wrong_stops_the_run_and_says_how() {
    const READY: &str = "import sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n";
    let after_start = |rest: &str| format!("{READY}sys.stdin.readline()\n{rest}\n");
    for (source, said) in [
        ("raise SystemExit(3)".to_owned(), "the program ended (exit status: 3) before it answered"),
        ("input()\nprint('hello')".to_owned(), "it answered `hello`"),
        // It lives on, and is not waited for.
        (
            "import os\ninput()\nos.write(1, b'\\xff\\n')\nimport time\ntime.sleep(60)".to_owned(),
            "it answered `\u{fffd}`",
        ),
        ("import os\ninput()\nos.close(1)\nimport time\ntime.sleep(60)".to_owned(), "before it answered"),
        ("input()\nprint('{\"rewards\": []}')".to_owned(), "did not answer `{\"ready\": true}`"),
        ("input()\nprint('{\"error\": \"no weights\"}')".to_owned(), "no weights"),
        (after_start("print('{\"rewards\": [1.0]}')"), "at step 0: it gave 1 rewards for "),
        (after_start("raise SystemExit"), "before it answered"),
        (after_start("print('{\"rewards\": [1e999]}')"), "at step 0: "),
        (after_start("print('{\"rewards\": [\"high\"]}')"), "gave 1 rewards"),
        (after_start("print('{\"ready\": true}')"), "did not answer `{\"rewards\""),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let config = write_config(dir.path(), &with_program(dir.path(), &source));
        let mut command = veriplay();
        command.arg("play").arg("--config").arg(&config).arg("--out").arg(dir.path().join("run"));
        let output = finished(&mut command);
        assert_eq!(output.status.code(), Some(3), "{source}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "`{said}` is missing in {}", stderr(&output));
    }
}

#[test]
fn a_run_that_a_program_has_stopped_goes_on_when_the_program_is_mended() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let broken = QUICKSTART.replace(
        "    else:\n",
        "    elif request[\"step\"] == 1:\n        answer = {\"error\": \"out of luck\"}\n    else:\n",
    );
    let config = write_config(dir.path(), &with_program(dir.path(), &broken));
    let run = dir.path().join("run");
    let output = finished(veriplay().arg("play").arg("--config").arg(&config).arg("--out").arg(&run));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("out of luck"), "{}", stderr(&output));
    std::fs::write(dir.path().join("reward.py"), QUICKSTART).expect("the program is mended");
    succeeded(veriplay().arg("play").arg("--resume").arg(&run));
}

#[test]
fn an_empty_command_is_refused_as_a_value_of_its_key() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    config["game"].as_table_mut().expect("a table").insert("reward".to_owned(), "exec: ".into());
    let config = write_config(dir.path(), &config);
    let output = finished(veriplay().arg("play").arg("--config").arg(config).arg("--out").arg(dir.path().join("run")));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("`exec: `"), "{}", stderr(&output));
}
