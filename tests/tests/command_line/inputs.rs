//! Bad input: each mistake gets a message with the file, line or key, a hint, and the exit code of its cause.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::{finished, root, small_config, stderr, succeeded, veriplay, write_config};

/// Plays with `config` and returns the exit status and stderr.
fn refused(config: &toml::Table) -> (i32, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), config);
    let output = finished(veriplay().arg("play").arg("--config").arg(path).arg("--out").arg(dir.path().join("run")));
    (output.status.code().expect("it ended by itself"), stderr(&output))
}

fn section<'a>(config: &'a mut toml::Table, name: &str) -> &'a mut toml::Table {
    config[name].as_table_mut().expect("a section")
}

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let mut config = small_config();
    section(&mut config, "game").insert("grop".into(), 8.into());
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("grop") && said.contains("line") && said.contains("hint:"), "{said}");
}

#[test]
fn an_unknown_table_and_an_unknown_game_are_named() {
    let mut config = small_config();
    config.insert("gates".into(), toml::Table::new().into());
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("unknown key `gates`") && said.contains("line") && said.contains("`gate`"), "{said}");

    let mut config = small_config();
    config.insert("plays".into(), "chess".into());
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("chess") && said.contains("absolute_zero"), "{said}");
}

#[test]
fn a_dry_run_says_what_would_be_asked_and_makes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (path, out) = (write_config(dir.path(), &small_config()), dir.path().join("run"));
    let mut command = veriplay();
    let output = succeeded(command.arg("play").arg("--dry-run").arg("--config").arg(path).arg("--out").arg(&out));
    let said = String::from_utf8(output.stdout).expect("it is text");
    for wanted in ["game `absolute_zero`, 5 steps", "reward `quickstart`", "memory: about", "--- solver, induction\n<"]
    {
        assert!(said.contains(wanted), "`{wanted}` is not in\n{said}");
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let phases = ["loading the model", "making the held-out tasks of `absolute_zero`", "making a prompt of each role"];
    assert!(phases.iter().all(|phase| told.contains(phase)), "{told}");
    assert!(!out.exists());
}

#[test]
fn a_dry_run_of_a_model_that_is_not_there_or_broken_fails() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let broken = dir.path().join("broken");
    std::fs::create_dir(&broken).expect("a folder");
    std::fs::write(broken.join("config.json"), "{").expect("a file");
    for model in ["runs/none/checkpoints/step_5".to_owned(), broken.display().to_string()] {
        let mut config = small_config();
        config.insert("model".into(), model.clone().into());
        let path = write_config(dir.path(), &config);
        let output = finished(veriplay().args(["play", "--dry-run", "--config"]).arg(path));
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
        assert!(stderr(&output).contains(&model), "{}", stderr(&output));
    }
}

#[test]
fn a_dry_run_says_what_it_does_and_names_every_missing_file_and_a_missing_model_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dry_run = |model: &str| {
        let mut command = veriplay();
        command.args(["play", "--dry-run", "--config", "bug-repair-qwen", "--model", model]).current_dir(&dir);
        let output = finished(command.env("VERIPLAY_CACHE", dir.path().join("cache")));
        (output.status.code(), stderr(&output))
    };
    let (code, said) = dry_run("builtin:bug-repair");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("loading the model `builtin:bug-repair`\n"), "{said}");
    let missing = "error: 5 paths of the configuration cannot be found:\n  `toolz==1.0.0` of `repositories.training`: ";
    assert!(said.contains(missing) && said.contains("\n  `bugs/inflection.jsonl` of `bugs.held_out`: "), "{said}");
    let (code, said) = dry_run("runs/none/checkpoints/step_5");
    assert_eq!((code, said.matches("error: ").count()), (Some(5), 2), "{said}");
    assert!(said.find("step_5") < said.find("5 paths of the configuration"), "{said}");
}

#[test]
fn a_dry_run_has_no_json() {
    let output = finished(veriplay().args(["play", "--dry-run", "--json"]));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn a_missing_key_is_named() {
    let mut config = small_config();
    section(&mut config, "learn").remove("learning_rate");
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("learning_rate"), "{said}");
}

#[test]
fn a_value_out_of_range_is_named_with_what_is_allowed() {
    let mut config = small_config();
    section(&mut config, "game").insert("reward".into(), "generous".into());
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("generous") && said.contains("random") && said.contains("quickstart"), "{said}");
}

#[test]
fn a_game_and_a_gate_that_disagree_are_refused() {
    let mut config = small_config();
    section(&mut config, "game").insert("induction_hidden".into(), 4.into());
    let (code, said) = refused(&config);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("gate.induction"), "{said}");
}

#[test]
fn a_missing_model_is_named() {
    let mut config = small_config();
    config.insert("model".into(), "no/such/model".into());
    let (code, said) = refused(&config);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("no/such/model") && said.contains("hint:"), "{said}");
}

#[test]
fn a_tensor_of_the_wrong_shape_is_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let from = format!("{}/../models/tiny/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, dir.path().join(name)).expect("the model is copied");
    }
    let path = dir.path().join("config.json");
    let mut model: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("the config is read")).expect("it is JSON");
    let width = model["intermediate_size"].as_u64().expect("a width") + 32;
    model["intermediate_size"] = width.into();
    std::fs::write(&path, model.to_string()).expect("the config is written");
    let mut config = small_config();
    config.insert("model".into(), dir.path().to_str().expect("a UTF-8 path").into());
    let (code, said) = refused(&config);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("mlp.") && said.contains(&width.to_string()), "{said}");
}

#[test]
fn a_run_is_never_written_over() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), &small_config());
    let output = finished(veriplay().arg("play").arg("--config").arg(path).arg("--out").arg(dir.path()));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
}

#[test]
fn a_directory_without_a_run_cannot_be_resumed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = finished(veriplay().arg("play").arg("--resume").arg(dir.path()));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("config.toml"), "{}", stderr(&output));
}

#[test]
fn keys_of_a_configuration_can_be_set_on_the_command_line() {
    let dry_run = |settings: &[&str]| finished(veriplay().args(["play", "--dry-run"]).args(settings));
    let output = dry_run(&["--set", "game.group_size=2", "--set", "game.reward=random", "--set", "game.stop=[\"x\"]"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("reward `random`"), "{told}{}", stderr(&output));
    let cases: &[(&[&str], &str)] = &[
        (&["--set", "learn.learning_rate=fast"], "learning_rate"),
        (&["--set", "learn.learning_rate=7"], "configuration key `learn.learning_rate` is `7`"),
        (&["--set", "learn.learning_rate=fast"], "`learn.learning_rate` is the text \"fast\": it must be a number"),
        (&["--set", "game.grop=2"], "`quickstart.toml with --set game.grop=2` is not a valid configuration"),
        (&["--set", "game.grop=2"], ": unknown key `game.grop`\nhint: did you mean `game.group_size`? "),
        (&["--set", "gmae.group_size=2"], "hint: did you mean `game`? the keys are `plays`, "),
        (&["--set", "game.xyz=2"], "unknown key `game.xyz`, expected one of `format`, "),
        (&["--set", "learn.shape=cosin"], "`learn.shape` is `cosin`: it must be one of `constant`, "),
        (&["--set", "learn.shape=cosin"], "hint: did you mean `cosine`? "),
        (&["--set", "learn.kl=yes"], "`learn.kl` is the text \"yes\": it must be a table such as `{ … }`"),
        (&["--set", "game.stop=x"], "`game.stop` is the text \"x\": it must be a list in brackets"),
        (&["--set", "game.proposer=3"], "configuration key `game.proposer` must be a name in quotes"),
        (&["--set", "~learn.lora"], "--set `~learn.lora`: the configuration does not set `learn.lora`"),
        (&["--set", "~seed.x"], "--set `~seed.x`: the configuration does not set `seed.x`"),
        (&["--set", "~"], "the key is empty"),
        (&["--set", "game.reward=randm"], "`game.reward` is `randm`"),
        (&["--set", "gmae.group_size=2"], "`quickstart.toml with --set gmae.group_size=2`: unknown key"),
        (&["--set", "gmae.group_size=2"], "unknown key `gmae`"),
        (&["--set", "seed.x=2"], "`seed` is a value, not a table"),
        (&["--set", "seed"], "there is no `=`"),
        (&["--set", "game.=1"], "the key is empty"),
        (
            &["--set", "gate.image=pythn"],
            "configuration key `gate.image` is `pythn`: it must be one of python, python-numpy",
        ),
        (&["--set", "gate.second_image=other"], "configuration key `gate.second_image` is `other`"),
        (&["--set", "tasks.eval_programs=x.jsonl"], "configuration key `tasks.eval_mix` is `natural`"),
    ];
    for (settings, want) in cases {
        let output = dry_run(settings);
        assert_eq!(output.status.code(), Some(3), "{settings:?}");
        assert!(stderr(&output).contains(want), "{settings:?}: {}", stderr(&output));
    }
    let output = dry_run(&["--model", "runs/none/checkpoints/step_5"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
}

#[test]
fn a_recipe_is_checked_before_anything_is_made() {
    let cases = [
        ("warmup.toml", "seed = 1\n", "sead = 1\n", "unknown key `sead`"),
        ("warmup.toml", "validate_every = 1000", "validate_every = 0", "configuration key `validate_every` is `0`"),
        ("warmup.toml", "hidden_size", "hiden_size", "unknown key `model.hiden_size`"),
        ("warmup.toml", "head_dim = 32", "head_dim = 31", "configuration key `model.head_dim` is `31`"),
        ("warmup.toml", "inputs = 10 ", "inputs = 0 ", "configuration key `data.inputs` is `0`"),
        ("warmup.toml", "\none = 0.5\ntwo = 0.35\nthree = 0.15", "\nfour = 1.0", "`data.solver_mix` is `four`"),
        ("warmup.toml", "one = 0.34", "one = -0.34", "configuration key `data.proposer_mix.one` is `-0.34`"),
        ("warmup.toml", "learning_rate = 3e-3", "learning_rate = 3.0", "configuration key `learn.learning_rate`"),
        ("warmup.toml", "warmup_steps", "epochs = 0\nwarmup_steps", "configuration key `learn.epochs` is `0`"),
        ("warmup.toml", "clip_norm = 1.0", "clip_norm = 0.0", "configuration key `learn.options.clip_norm` is `0`"),
        (
            "warmup.toml",
            "momentum = 0.95",
            "momentm = 0.95",
            "unknown key `learn.options.optimizer.momentm`\nhint: did you mean `learn.options.optimizer.momentum`? ",
        ),
        ("warmup.toml", "set = \"validation\"", "set = \"validation\"\nevery = 0", "configuration key `eval.every`"),
        (
            "sol-ver-warmup.toml",
            "wrong_candidates = 0.25",
            "wrong_candidates = 1.5",
            "`batch.wrong_candidates` is `1.5`",
        ),
        ("bug-repair-warmup.toml", "\"boundary\"", "\"bondary\"", "configuration key `data.operators` is `bondary`"),
        (
            "self-challenge-warmup.toml",
            "artifacts = 3000",
            "artifacts = 0",
            "configuration key `data.artifacts` is `0`",
        ),
    ];
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (recipe, from, to, want) in cases {
        let text = std::fs::read_to_string(root().join("configs").join(recipe)).expect("the recipe is there");
        assert!(text.contains(from), "`{from}` is not in `{recipe}`");
        let path = dir.path().join(recipe);
        std::fs::write(&path, text.replacen(from, to, 1)).expect("the recipe is written");
        let mut command = veriplay();
        command.arg("warmup").arg("--config").arg(path).arg("--out").arg(dir.path().join("model"));
        let output = finished(&mut command);
        assert_eq!(output.status.code(), Some(3), "{to}: {}", stderr(&output));
        assert!(stderr(&output).contains(want), "{to}: {}", stderr(&output));
    }
}

#[test]
fn attempts_are_read_from_standard_input() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let call =
        r#"{"function": "add", "cases": [{"input": ["1", "2"], "expected": "3"}], "comparison": {"judge": "exact"}}"#;
    let task = format!(r#"{{"schema_version": 1, "problem": {{"task_id": "add", "checks": {{"calls": {call}}}}}}}"#);
    let attempt = r#"{"task_id": "add", "program": "def add(a, b):\n    return a + b"}"#;
    let [tasks, attempts] = [("tasks.jsonl", &*task), ("attempts.jsonl", attempt)].map(|(name, text)| {
        let path = dir.path().join(name);
        std::fs::write(&path, format!("{text}\n")).expect("it can be written");
        path
    });
    let mut verify = veriplay();
    verify.args(["verify", "--format", "veriplay", "--attempts", "-", "--tasks"]).arg(&tasks);
    let output = succeeded(verify.stdin(std::fs::File::open(&attempts).expect("it is there")));
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one row");
    assert_eq!((&row["task_id"], &row["status"]), (&"add".into(), &"accepted".into()), "{row}");
}

#[test]
fn a_signal_leaves_no_copy_of_standard_input() {
    for signal in [Signal::INT, Signal::TERM] {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let mut verify = veriplay();
        verify.args(["verify", "--tasks", "tasks.jsonl", "--attempts", "-"]).env("TMPDIR", temporary.path());
        // Its standard input does not end.
        let verify = verify.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut verify = verify.spawn().expect("the binary starts");
        let list = || std::fs::read_dir(temporary.path()).expect("it can be listed");
        while list().next().is_none() {
            assert!(verify.try_wait().expect("it is a child").is_none(), "it ended before its input");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&verify), signal).expect("it runs");
        let input = verify.stdin.take();
        assert_eq!(verify.wait().expect("it ends").code(), Some(130));
        drop(input);
        assert_eq!(list().count(), 0, "{signal:?}");
    }
}

#[test]
fn a_missing_file_of_a_public_set_is_named() {
    let output = finished(veriplay().args(["eval", "--suite", "humaneval=nosuch.jsonl"]));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("`nosuch.jsonl`"), "{}", stderr(&output));
}

#[test]
fn options_of_public_sets_are_refused_without_one() {
    for (option, value) in [("--samples", "3"), ("--limit", "2"), ("--out", "x"), ("--temperature", "0")] {
        for of_game in [["--config", "quickstart"], ["--set", "validation"]] {
            let output = finished(veriplay().arg("eval").args(of_game).args([option, value]));
            assert_eq!(output.status.code(), Some(2), "{option}: {}", stderr(&output));
            assert!(stderr(&output).contains(option), "{option}: {}", stderr(&output));
        }
    }
}
