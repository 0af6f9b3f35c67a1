//! `veriplay config`: built-in configurations without a checkout, effective values, errors before a run, and differences.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{ended, last_json, root, says, small_config, stderr, stdout, succeeded, veriplay, with, write_config};

fn config(arguments: &[&str]) -> Command {
    let mut command = veriplay();
    command.arg("config").args(arguments);
    command
}

/// The text of a built-in configuration.
fn source(name: &str) -> String {
    std::fs::read_to_string(root().join("configs").join(name)).expect("it is there")
}

#[test]
fn a_configuration_is_written_where_there_is_no_checkout_and_over_no_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = succeeded(config(&["init", "sol_ver"]).current_dir(&dir));
    assert_eq!(stdout(&said), "sol-ver-quickstart.toml\n");
    let written = std::fs::read_to_string(dir.path().join("sol-ver-quickstart.toml")).expect("the file is there");
    assert_eq!(written, source("sol-ver-quickstart.toml"));
    succeeded(config(&["validate", "--keys-only", "--config", "sol-ver-quickstart.toml"]).current_dir(&dir));
    ended(config(&["init", "sol_ver"]).current_dir(&dir), 3, &["sol-ver-quickstart.toml", "--out"]);

    let mut other = config(&["init", "sol-ver-qwen", "--out", "own.toml"]);
    ended(other.current_dir(&dir), 0, &["veriplay play --config own.toml"]);
    assert!(!stderr(&said).contains("missing"), "{}", stderr(&said));
    for game in [&[][..], &["absolute_zero"]] {
        assert_eq!(stdout(&succeeded(config(&["init", "--out", "-"]).args(game))), source("quickstart.toml"));
    }
}

#[test]
fn a_written_configuration_says_which_of_its_files_are_missing_and_how_to_have_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = |name: &str, out: &str| {
        let mut command = config(&["init", name, "--out", out]);
        stderr(&succeeded(command.current_dir(&dir).env("VERIPLAY_CACHE", dir.path().join("cache"))))
    };
    let bugs = said("bug-repair-qwen", "1.toml");
    let wanted = [
        "missing: `toolz==1.0.0` of `repositories.training`: `veriplay corpus add-repo toolz==1.0.0` fetches it\n",
        "missing: `bugs/inflection.jsonl` of `bugs.held_out`: `veriplay corpus inject-bugs ",
        "use it with `veriplay play --config 1.toml`, once nothing of that is missing\n",
    ];
    says(&bugs, &wanted);
    assert_eq!(bugs.matches("missing: ").count(), 5, "{bugs}");
    assert_eq!(said("sol-ver-qwen", "2.toml").matches("missing: ").count(), 4);
    let zero = said("absolute-zero-7b", "3.toml");
    says(&zero, &["missing: `cruxeval.jsonl` of `tasks.eval_programs`: "]);
    std::fs::write(dir.path().join("cruxeval.jsonl"), "").expect("it can be written");
    assert!(!said("absolute-zero-7b", "4.toml").contains("missing"));
    assert!(!said("bug-repair-quickstart", "5.toml").contains("missing"), "built-in repositories are there");
}

#[test]
fn the_list_has_configurations_and_recipes_with_game_and_model() {
    let listed = last_json(&succeeded(&mut config(&["list", "--json"])));
    let rows = listed["configurations"].as_array().expect("rows");
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no `{name}`"));
    let (of_run, of_model) = (row("quickstart"), row("warmup"));
    assert_eq!((&of_run["model"], &of_run["kind"]), (&"builtin:tiny".into(), &"configuration".into()));
    assert_eq!((&of_model["kind"], &row("bug-repair-warmup")["game"]), (&"recipe".into(), &"bug_repair".into()));
    assert!(stdout(&succeeded(&mut config(&["list"]))).contains("smollm2-sol-ver"));
}

#[test]
fn what_is_shown_plays_the_same_run_and_runs_are_compared_by_their_values() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), &small_config());
    let source = ["--config", path.to_str().expect("UTF-8"), "--set", "steps=2", "--set", "learn.learning_rate=2e-4"];
    let shown = succeeded(config(&["show"]).args(source));
    let all_keys = last_json(&succeeded(config(&["show", "--json"]).args(source)));
    let values = &all_keys["config"];
    assert_eq!((&values["steps"], &values["learn"]["lora"]), (&2.into(), &Value::Null));
    assert_eq!(values["game"]["top_p"], 1.0);
    std::fs::write(dir.path().join("shown.toml"), &shown.stdout).expect("the folder can be written");

    let play = |out: &str, arguments: &[&str]| {
        succeeded(veriplay().arg("play").args(arguments).arg("--out").arg(dir.path().join(out)));
    };
    play("one", &source);
    play("other", &["--config", dir.path().join("shown.toml").to_str().expect("UTF-8")]);
    for file in ["config.toml", "before.json", "events.jsonl", "rollouts.jsonl.zst", "after.json"] {
        let read = |run: &str| std::fs::read(dir.path().join(run).join(file)).expect("the run has the file");
        assert!(read("one") == read("other"), "`{file}` differs");
    }

    let diff = |a: &Path, b: &Path, code| ended(config(&["diff"]).arg(a).arg(b), code, &[]);
    let equal = diff(&dir.path().join("one"), &dir.path().join("shown.toml"), 0);
    let different = diff(&path, &dir.path().join("one"), 1);
    let rate = small_config()["learn"]["learning_rate"].clone();
    assert_eq!(stdout(&different), format!("learn.learning_rate: {rate} -> 0.0002\nsteps: 5 -> 2\n"));
    assert_eq!((stdout(&equal), stderr(&equal), stderr(&different)), <(String, String, String)>::default());
    let games = last_json(&ended(&mut config(&["diff", "quickstart", "sol_ver", "--json"]), 1, &[]));
    assert_eq!(games["equal"], false);
    let rows = games["differences"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["key"] == "gate.max_program_bytes").expect("a key of one game");
    assert!(row["a"].is_number() && row["b"].is_null(), "{row}");
}

#[test]
fn a_key_and_a_table_can_be_taken_out_on_the_command_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let kl = "learn.kl = {coefficient = 0.1, estimator = \"k3\", place = \"loss\"}\ntensorboard = true";
    let path = write_config(dir.path(), &with(small_config(), kl));
    let path = path.to_str().expect("UTF-8");
    let shown = |settings: &[&str]| {
        last_json(&succeeded(config(&["show", "--json", "--config", path]).args(settings)))["config"].clone()
    };
    let (as_written, without) = (shown(&[]), shown(&["--set", "~learn.kl", "--set", "~tensorboard"]));
    assert_eq!((&as_written["learn"]["kl"]["place"], &as_written["tensorboard"]), (&"loss".into(), &true.into()));
    assert_eq!((&without["learn"]["kl"], &without["tensorboard"]), (&Value::Null, &false.into()));
}

/// What `play` and `config validate` say of the same bad configuration: a run says first what it is about to do.
#[track_caller]
fn errors_of(bad: &str, code: i32) -> [String; 2] {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), &with(small_config(), bad));
    let (mut play, validate) = (veriplay(), config(&["validate"]));
    play.arg("play").arg("--out").arg(dir.path().join("run"));
    let said = [play, validate].map(|mut command| stderr(&ended(command.arg("--config").arg(&path), code, &[])));
    said.map(|said| said[said.find("error: ").expect("an error")..].to_owned())
}

#[test]
fn validation_reports_what_play_reports_and_every_part() {
    let model = "model = \"runs/none/checkpoints/step_5\"";
    let tasks = "tasks.seed_mix = \"nothing\"";
    for (bad, code) in [("learn.learning_rate = 2", 3), ("game.grop = 8", 3), (model, 5), (tasks, 3)] {
        let [played, validated] = errors_of(bad, code);
        assert_eq!(played, validated);
    }
    // The errors of parts that do not depend on each other.
    for (bad, code) in [([tasks, model], 5), (["learn.learning_rate = 2", "eval.tasks = 0"], 3)] {
        let [_, validated] = errors_of(&bad.join("\n"), code);
        assert_eq!(validated.matches("error: ").count(), 2, "{validated}");
    }
}

#[test]
fn a_set_that_cannot_be_fetched_is_asked_for_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_config(dir.path(), &small_config());
    let mut command = config(&["validate", "--config", "config.toml", "--set", "eval.suites=[\"humaneval\"]"]);
    command.current_dir(&dir).env("VERIPLAY_CACHE", dir.path().join("cache"));
    let said = stderr(&ended(command.env_remove("VERIPLAY_DATA"), 3, &[]));
    assert_eq!((said.matches("fetching `").count(), said.matches("error: ").count()), (1, 1), "{said}");
}

#[test]
fn a_valid_configuration_and_a_recipe_are_valid_and_make_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_config(dir.path(), &small_config());
    let valid = succeeded(config(&["validate", "--config", "config.toml"]).current_dir(&dir));
    assert_eq!(stdout(&valid), "config.toml: valid\n");
    assert_eq!(stdout(&succeeded(config(&["validate", "--config", "warmup"]).current_dir(&dir))), "warmup: valid\n");
    assert_eq!(std::fs::read_dir(&dir).expect("the folder is there").count(), 1);
}
