//! What goes wrong with a plug-in is said, with its command, the step and what to do, and loses nothing.

use super::{FAILURE_RATE, with_plugin};
use crate::command_line::commands::{events, fails, play, resume, small_with};
use crate::command_line::resume::assert_same;
use crate::command_line::{says, small_config, succeeded, veriplay};

/// The message of a run that a plug-in has stopped, which names the plug-in and what it said.
fn message_of_stopped(key: &str, source: &str, timeout: u32, said: &str) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = with_plugin(small_config(), dir.path(), key, source);
    config.insert("exec_timeout_s".to_owned(), timeout.into());
    let command = config["game"][key].as_str().expect("a text");
    fails(&mut play(&config, dir.path()), 3, &[said, command, &format!("game.{key}"), "Plug-ins in Python"])
}

/// Plays a run that a plug-in stops at a step.
fn assert_stops(key: &str, source: &str, step: u64, said: &str) {
    let message = message_of_stopped(key, source, 600, said);
    says(&message, &[&format!("at step {step}: "), "continue with `veriplay play --resume "]);
}

const READY: &str = "import sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n";

#[test]
fn a_program_that_does_not_start_stops_the_run_and_says_how() {
    for (source, said) in [
        ("raise SystemExit(3)", "the program ended (exit status: 3) before it answered"),
        ("input()\nprint('hello')", "it answered `hello`"),
        // It lives on, and is not waited for.
        ("import os\ninput()\nos.write(1, b'\\xff\\n')\nimport time\ntime.sleep(600)", "it answered `\u{fffd}`"),
        ("input()\nprint('{\"rewards\": []}')", "no object with the key `ready` alone"),
        ("input()\nprint('{\"ready\": false}')", "it is not ready: it answered `false`"),
        ("input()\nprint('{\"error\": \"no weights\"}')", "no weights"),
        ("from veriplay.own_curriculum import serve\nserve(lambda task: 1.0)", "it was started for `game.reward`"),
    ] {
        message_of_stopped("reward", source, 600, said);
    }
    for source in [
        "import time\ntime.sleep(600)",
        // What it started holds its pipes.
        "import subprocess\nsubprocess.run(['sleep', '600'])",
    ] {
        let said = "it did not answer within 2 s, and was ended; `exec_timeout_s` sets the limit";
        message_of_stopped("reward", source, 2, said);
    }
}

#[test]
fn an_answer_that_cannot_be_used_stops_the_run_and_says_how() {
    let after_start = |rest: &str| format!("{READY}sys.stdin.readline()\n{rest}\n");
    for (key, answer, said) in [
        ("reward", "print('{\"step\": 0, \"rewards\": [1.0]}')", "it gave 1 rewards, and was asked for "),
        ("reward", "raise SystemExit", "before it answered"),
        (
            "reward",
            "print('{\"step\": 0, \"rewards\": [1.0', end='')\nraise SystemExit(4)",
            "the program ended (exit status: 4) in its answer `{\"step\": 0, \"rewards\": [1.0`",
        ),
        ("reward", "print('{\"step\": 0, \"rewards\": 5}')", "`rewards` is no list: `5`"),
        ("reward", "print('{\"step\": 1, \"rewards\": []}')", "it answered the question of step `1`"),
        ("reward", "print('{\"rewards\": []}')", "no object with the keys `step` and `rewards` alone"),
        ("curriculum", "print('{\"step\": 0, \"weights\": []}')", "it gave 0 weights, and was asked for 36"),
        ("curriculum", "print('{\"step\": 0, \"rewards\": []}')", "with the keys `step` and `weights` alone"),
        ("proposer_factor", "print('{\"step\": 0, \"factors\": [1, 1]}')", "it gave 2 factors, and was asked for "),
        ("proposer_factor", "import os\nos.kill(os.getpid(), 9)", "the program ended ("),
    ] {
        assert_stops(key, &after_start(answer), 0, said);
    }
}

#[test]
fn a_number_that_cannot_be_used_stops_the_run_and_says_where_it_stands() {
    // The right number of items, of which the last one is wrong.
    let items = |asked: &str, name: &str, wrong: &str| {
        format!(
            "{READY}import json\ncount = len(json.loads(sys.stdin.readline())['{asked}'])\n\
             print('{{\"step\": 0, \"{name}\": [' + ', '.join(['0'] * (count - 1) + ['{wrong}']) + ']}}')\n"
        )
    };
    for (key, asked, name, wrong, said) in [
        ("reward", "episodes", "rewards", "NaN", "it answered `{\"step\": 0, \"rewards\": [0, 0, "),
        ("reward", "episodes", "rewards", "-Infinity", "it answered `{\"step\": 0, \"rewards\": [0, 0, "),
        ("reward", "episodes", "rewards", "1e999", "of `rewards`: `1e+999` is no finite number"),
        ("reward", "episodes", "rewards", "-1e300", "of `rewards`: `-1"),
        ("reward", "episodes", "rewards", "{\"form\": null}", "of `rewards`: `null` is no finite number"),
        ("curriculum", "tasks", "weights", "-1", "item 35 of `weights`: `-1` is negative"),
        ("curriculum", "tasks", "weights", "\"high\"", "item 35 of `weights`: `\"high\"` is no finite number"),
        ("curriculum", "tasks", "weights", "0", "all 36 weights are 0"),
        ("proposer_factor", "proposals", "factors", "1e7", "of `factors`: `10000000` is not from -1000000 to 1000000"),
        ("proposer_factor", "proposals", "factors", "-0.5", "of `factors`: `-0.5` is negative"),
    ] {
        assert_stops(key, &items(asked, name, wrong), 0, said);
    }
}

/// A second answer to a question would be read as the answer to the next one.
#[test]
fn a_line_too_many_is_noticed_at_the_next_step() {
    let twice = FAILURE_RATE.replace(
        "    print(json.dumps(answer), flush=True)",
        "    for _ in range(2 if \"step\" in answer else 1):\n        print(json.dumps(answer), flush=True)",
    );
    assert_ne!(twice, FAILURE_RATE);
    let said = "it answered the question of step `0`: has it written a line too many, or too few?";
    assert_stops("reward", &twice, 1, said);
}

/// Goes wrong at step 3 in the ways that a file beside it lists, one each time it is asked.
const GO_WRONG: &str = include_str!("go_wrong.py");

/// In each way, at a step behind a checkpoint: nothing of the step is kept, and what was before it is not lost.
#[test]
fn a_run_that_a_program_has_stopped_in_every_way_goes_on_to_the_bytes_of_one_that_was_not_stopped() {
    let faults = [
        ("sys.exit(7)", "the program ended (exit status: 7) before it answered"),
        ("os.kill(os.getpid(), 9)", "the program ended ("),
        ("time.sleep(600)", "it did not answer within 10 s"),
        ("print('loss', 0.5)", "it answered `loss 0.5`"),
        ("answer['step'] = 2", "it answered the question of step `2`"),
        ("answer['rewards'].pop()", ", and was asked for "),
        ("answer['rewards'][0] = float('nan')", "it answered `{\"step\": 3, \"rewards\": [NaN, "),
        ("answer['rewards'][0] = 1e300", " is not from -1000000 to 1000000"),
        ("answer.update(error='out of luck')", "out of luck"),
    ];
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = FAILURE_RATE.replace("    print(json", "    go_wrong(request, answer)\n    print(json");
    let mut config = with_plugin(small_config(), dir.path(), "reward", &format!("{GO_WRONG}{source}"));
    config.insert("exec_timeout_s".to_owned(), 10.into());
    let left: Vec<&str> = faults.iter().map(|(fault, _)| *fault).collect();
    std::fs::write(dir.path().join("faults"), left.join("\n")).expect("the faults are written");
    let run = dir.path().join("run");
    let hint = format!("continue with `veriplay play --resume {}", run.display());
    for (place, (fault, said)) in faults.into_iter().enumerate() {
        let mut command = if place == 0 { play(&config, dir.path()) } else { resume(&run) };
        fails(&mut command, 3, &[said, "of `game.reward` at step 3: ", &hint]);
        assert_eq!(events(&run).len(), 3, "{fault}: the steps before are kept, and nothing of step 3");
        assert!(run.join("checkpoints/step_2").exists(), "{fault}");
    }
    succeeded(&mut resume(&run));
    let whole = tempfile::tempdir().expect("a temporary directory");
    // The same program at the same place: the configurations are equal too.
    succeeded(&mut play(&config, whole.path()));
    assert_same(&run, &whole.path().join("run"));
    std::fs::remove_file(dir.path().join("reward.py")).expect("the program is removed");
    succeeded(veriplay().arg("replay").arg(&run));
}

#[test]
fn names_that_are_no_methods_are_refused_as_values_of_their_keys() {
    for (keys, said) in [
        ("[game]\nreward = \"exec: \"", "`exec: `"),
        ("[game]\ncurriculum = \"exec:\"", "`exec:`"),
        ("[game]\ncurriculum = \"frontiers\"", "`frontiers`"),
        ("[game]\nproposer_factor = \"exec:\"", "use `exec:COMMAND`"),
        ("[game]\nproposer_factor = \"novel\"", "use `exec:COMMAND`"),
        ("exec_timeout_s = 0", "`exec_timeout_s` is `0`"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fails(&mut play(&small_with(keys), dir.path()), 3, &[said]);
    }
}
