//! `veriplay config`: built-in configurations without a checkout, effective values, errors before a run, and differences.

use std::path::Path;

use super::{finished, last_json, root, small_config, stderr, succeeded, veriplay, write_config};

fn config(arguments: &[&str]) -> std::process::Command {
    let mut command = veriplay();
    command.arg("config").args(arguments);
    command
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

#[test]
fn a_configuration_is_written_where_there_is_no_checkout_and_over_no_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = succeeded(config(&["init", "sol_ver"]).current_dir(&dir));
    assert_eq!(stdout(&said), "sol-ver-quickstart.toml\n");
    let written = std::fs::read_to_string(dir.path().join("sol-ver-quickstart.toml")).expect("the file is there");
    assert_eq!(written, std::fs::read_to_string(root().join("configs/sol-ver-quickstart.toml")).expect("its source"));
    succeeded(config(&["validate", "--keys-only", "--config", "sol-ver-quickstart.toml"]).current_dir(&dir));

    let again = finished(config(&["init", "sol_ver"]).current_dir(&dir));
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
    assert!(stderr(&again).contains("sol-ver-quickstart.toml") && stderr(&again).contains("--out"));

    let other = succeeded(config(&["init", "sol-ver-qwen", "--out", "own.toml"]).current_dir(&dir));
    assert!(stderr(&other).contains("veriplay play --config own.toml"), "{}", stderr(&other));
    assert!(!stderr(&said).contains("missing"), "{}", stderr(&said));
    let unknown = finished(config(&["init", "chess"]).current_dir(&dir));
    assert_eq!(unknown.status.code(), Some(3));
    assert!(stderr(&unknown).contains("`chess`") && stderr(&unknown).contains("veriplay config list"));
    let shown = succeeded(&mut config(&["init", "--out", "-"]));
    assert_eq!(stdout(&shown), std::fs::read_to_string(root().join("configs/quickstart.toml")).expect("its source"));
}

#[test]
fn a_written_configuration_says_which_of_its_files_are_missing_and_how_to_have_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = |name: &str, out: &str| {
        let mut command = config(&["init", name, "--out", out]);
        stderr(&succeeded(command.current_dir(&dir).env("VERIPLAY_CACHE", dir.path().join("cache"))))
    };
    let bugs = said("bug-repair-qwen", "1.toml");
    for line in [
        "missing: `toolz==1.0.0` of `repositories.training`: `veriplay corpus add-repo toolz==1.0.0` fetches it\n",
        "missing: `bugs/inflection.jsonl` of `bugs.held_out`: `veriplay corpus inject-bugs ",
        "use it with `veriplay play --config 1.toml`, once nothing of that is missing\n",
    ] {
        assert!(bugs.contains(line), "{line}\n{bugs}");
    }
    assert_eq!(bugs.matches("missing: ").count(), 5, "{bugs}");
    assert_eq!(said("sol-ver-qwen", "2.toml").matches("missing: ").count(), 4);
    let zero = said("absolute-zero-qwen", "3.toml");
    assert!(zero.contains("missing: `cruxeval.jsonl` of `tasks.eval_programs`: "), "{zero}");
    std::fs::write(dir.path().join("cruxeval.jsonl"), "").expect("it can be written");
    assert!(!said("absolute-zero-qwen", "4.toml").contains("missing"));
    assert!(!said("bug-repair-quickstart", "5.toml").contains("missing"), "built-in repositories are there");
}

#[test]
fn the_list_has_configurations_and_recipes_with_game_and_model() {
    let listed = last_json(&succeeded(&mut config(&["list", "--json"])));
    let rows = listed["configurations"].as_array().expect("rows");
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no `{name}`"));
    assert_eq!(row("quickstart")["model"], "builtin:tiny");
    assert_eq!(
        (row("quickstart")["kind"].as_str(), row("warmup")["kind"].as_str()),
        (Some("configuration"), Some("recipe"))
    );
    assert_eq!(row("bug-repair-warmup")["game"], "bug_repair");
    assert!(stdout(&succeeded(&mut config(&["list"]))).contains("smollm2-sol-ver"));
}

#[test]
fn what_is_shown_plays_the_same_run_and_runs_are_compared_by_their_values() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), &small_config());
    let source = ["--config", path.to_str().expect("UTF-8"), "--set", "steps=2", "--set", "learn.learning_rate=2e-4"];
    let shown = succeeded(config(&["show"]).args(source));
    let all_keys = last_json(&succeeded(config(&["show", "--json"]).args(source)));
    assert_eq!(
        (&all_keys["config"]["steps"], &all_keys["config"]["learn"]["lora"]),
        (&2.into(), &serde_json::Value::Null)
    );
    assert_eq!(all_keys["config"]["game"]["top_p"], 1.0);
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

    let diff = |a: &Path, b: &Path| finished(config(&["diff"]).arg(a).arg(b));
    let equal = diff(&dir.path().join("one"), &dir.path().join("shown.toml"));
    assert_eq!((equal.status.code(), stdout(&equal), stderr(&equal)), (Some(0), String::new(), String::new()));
    let different = diff(&path, &dir.path().join("one"));
    assert_eq!((different.status.code(), stderr(&different)), (Some(1), String::new()));
    let rate = small_config()["learn"]["learning_rate"].clone();
    assert_eq!(stdout(&different), format!("learn.learning_rate: {rate} -> 0.0002\nsteps: 5 -> 2\n"));
    let games = finished(&mut config(&["diff", "quickstart", "sol_ver", "--json"]));
    let games_differ = last_json(&games);
    assert_eq!((games.status.code(), &games_differ["equal"]), (Some(1), &false.into()));
    let rows = games_differ["differences"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["key"] == "gate.max_program_bytes").expect("a key of one game");
    assert!(row["a"].is_number() && row["b"].is_null(), "{row}");
}

#[test]
fn a_key_and_a_table_can_be_taken_out_on_the_command_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut with_kl = small_config();
    let kl: toml::Table = "coefficient = 0.1\nestimator = \"k3\"\nplace = \"loss\"".parse().expect("TOML");
    with_kl["learn"].as_table_mut().expect("a table").insert("kl".into(), kl.into());
    with_kl.insert("tensorboard".into(), true.into());
    let path = write_config(dir.path(), &with_kl);
    let path = path.to_str().expect("UTF-8");
    let shown = |settings: &[&str]| {
        last_json(&succeeded(config(&["show", "--json", "--config", path]).args(settings)))["config"].clone()
    };
    let (as_written, without) = (shown(&[]), shown(&["--set", "~learn.kl", "--set", "~tensorboard"]));
    assert_eq!((&as_written["learn"]["kl"]["place"], &as_written["tensorboard"]), (&"loss".into(), &true.into()));
    assert_eq!((&without["learn"]["kl"], &without["tensorboard"]), (&serde_json::Value::Null, &false.into()));
}

/// Exit status and stderr of `play`, and of `config validate`, for the same bad configuration.
fn refused(config_table: &toml::Table) -> [(Option<i32>, String); 2] {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), config_table);
    let run = dir.path().join("run");
    let played = finished(veriplay().arg("play").arg("--config").arg(&path).arg("--out").arg(&run));
    let validated = finished(config(&["validate", "--config"]).arg(&path));
    [played, validated].map(|output| (output.status.code(), stderr(&output)))
}

#[test]
fn validation_reports_what_play_reports_and_every_part() {
    let mut values = small_config();
    values["learn"].as_table_mut().expect("a table").insert("learning_rate".into(), 2.into());
    let mut key = small_config();
    key["game"].as_table_mut().expect("a table").insert("grop".into(), 8.into());
    let mut model = small_config();
    model.insert("model".into(), "runs/none/checkpoints/step_5".into());
    let mut tasks = small_config();
    tasks["tasks"].as_table_mut().expect("a table").insert("seed_mix".into(), "nothing".into());
    for (bad, code) in [(&values, 3), (&key, 3), (&model, 5), (&tasks, 3)] {
        let [played, validated] = refused(bad);
        assert_eq!((played.0, validated.0), (Some(code), Some(code)), "{}\n{}", played.1, validated.1);
        // A run says first what it is about to do.
        let error_of = |text: &str| text[text.find("error: ").expect("an error")..].to_owned();
        assert_eq!(error_of(&played.1), error_of(&validated.1));
    }
    // The errors of parts that do not depend on each other.
    tasks.insert("model".into(), "runs/none/checkpoints/step_5".into());
    let [_, (code, said)] = refused(&tasks);
    assert_eq!((code, said.matches("error: ").count()), (Some(5), 2), "{said}");
    values["eval"].as_table_mut().expect("a table").insert("tasks_per_type".into(), 0.into());
    let [_, (code, said)] = refused(&values);
    assert_eq!((code, said.matches("error: ").count()), (Some(3), 2), "{said}");
}

#[test]
fn a_set_that_cannot_be_fetched_is_asked_for_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_config(dir.path(), &small_config());
    let mut command = config(&["validate", "--config", "config.toml", "--set", "eval.suites=[\"humaneval\"]"]);
    command.current_dir(&dir).env("VERIPLAY_CACHE", dir.path().join("cache"));
    let refused = finished(command.env_remove("VERIPLAY_DATA"));
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(3), "{said}");
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

    let bad = finished(&mut config(&["validate", "--config", "warmup", "--set", "validate_every=0"]));
    assert_eq!(bad.status.code(), Some(3));
    assert!(stderr(&bad).contains("validate_every"), "{}", stderr(&bad));
    let shown = finished(&mut config(&["show", "--config", "warmup"]));
    assert_eq!(shown.status.code(), Some(3));
    assert!(stderr(&shown).contains("recipe") && stderr(&shown).contains("config validate"), "{}", stderr(&shown));
}
