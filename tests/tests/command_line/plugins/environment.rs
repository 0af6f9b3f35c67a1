//! A folder of the user's own is an environment of `self_challenge`: the one of the page plays, and a broken one is refused with its file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{example, records};
use crate::command_line::commands::{fails, play, read_json, section};
use crate::command_line::games::small_self_challenge;
use crate::command_line::losses::merge;
use crate::command_line::resume::survives;
use crate::command_line::{root, succeeded, veriplay};

/// The environment of the page, in a folder of its own.
struct Pantry {
    dir: tempfile::TempDir,
}

impl Pantry {
    fn new() -> Self {
        let pantry = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        std::fs::create_dir(pantry.folder()).expect("the folder is made");
        for file in ["environment.py", "templates.toml", "tasks.toml"] {
            pantry.write(file, example(&format!("pantry/{file}")));
        }
        pantry
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("pantry")
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder().join(file), text).expect("the file is written");
    }

    /// Changes a file of the page's.
    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = example(&format!("pantry/{file}"));
        let changed = text.replace(from, to);
        assert_ne!(text, changed);
        self.write(file, &changed);
    }

    /// The small game in this environment.
    fn game(&self) -> toml::Table {
        small_game_in(&[&self.folder()])
    }

    fn play(&self) -> std::process::Command {
        play(&self.game(), self.dir.path())
    }
}

fn small_game_in(folders: &[&Path]) -> toml::Table {
    let mut config = small_self_challenge();
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    section(&mut config, "tasks").insert("environments".to_owned(), folders.into());
    config
}

#[test]
fn the_environment_of_the_page_plays_a_run_that_survives_kills() {
    let (runs, _) = survives(&Pantry::new().game(), &[2]);
    let records = records(&runs.path().join("whole"));
    let asked: Vec<&Value> = records.iter().filter_map(|record| record["task"].get("task")).collect();
    assert!(!asked.is_empty() && asked.iter().all(|task| task["environment"] == "pantry"), "{asked:?}");
}

#[test]
fn hand_written_tasks_of_an_environment_are_held_out_when_they_pass_the_gate() {
    let pantry = Pantry::new();
    let dir = pantry.dir.path();
    let mut config = pantry.game();
    merge(&mut config, "steps = 1\n[tasks]\nheld_out = \"hand_written\"".parse().expect("TOML"));
    succeeded(&mut play(&config, dir));
    let table = read_json(dir.join("run/before.json"));
    assert_eq!((&table["rows"][0]["row"], &table["rows"][0]["tasks"]), (&"pantry".into(), &1.into()), "{table}");
    pantry.replace("tasks.toml", "\"flour\": 10", "\"flour\": 11");
    let other = tempfile::tempdir().expect("a temporary directory");
    let said = "task `pantry/even_out` breaks rule `solution_refused` of the gate";
    fails(&mut play(&config, other.path()), 3, &[said]);
}

/// What would else look like a fault of the policy, and cost it every task in which it happens.
#[test]
fn a_template_that_never_works_is_refused_with_what_its_tools_said() {
    for (file, from, to, template, said) in [
        ("templates.toml", "code = \"add(<jar>", "code = \"ad(<jar>", "add", "name 'ad' is not defined"),
        ("environment.py", "    take(source, spoons)", "    steal(source)", "pour", "'steal' is not defined"),
        ("environment.py", "return sorted(JARS)", "return object()", "total", "object"),
        ("environment.py", "    return spoons_in", "    while True: spoons_in", "count", "fuel_exceeded"),
        ("environment.py", "JARS[name] -= spoons", "JARS[name] -= 100", "take", "AssertionError"),
        ("templates.toml", "code = \"\" }]", "code = \".value\" }]", "add and left", "no attribute 'value'"),
    ] {
        let pantry = Pantry::new();
        pantry.replace(file, from, to);
        let named = format!("environment `pantry`: no code of template `{template}` works in the first state");
        fails(pantry.play().arg("--dry-run"), 3, &[&named, said, "Plug-ins in Python"]);
    }
}

/// A start model that knows the words and tools of the page's environment, which then plays in it.
#[test]
fn a_start_model_is_warmed_up_in_an_environment_of_ones_own() {
    let pantry = Pantry::new();
    let dir = pantry.dir.path();
    let recipe = include_str!("../../../../configs/self-challenge-warmup.toml");
    let mut recipe: toml::Table = recipe.parse().expect("the recipe is TOML");
    let entries = &pantry.game()["tasks"]["environments"];
    let keys = format!(
        "steps = 1\nvalidate_every = 1\ndata = {{ environments = {entries}, artifacts = 5 }}\n\
         tasks = {{ environments = {entries}, given = 10 }}\neval.tasks = 2\n\
         batch = {{ executions = 4, challenges = 2 }}"
    );
    merge(&mut recipe, keys.parse().expect("TOML"));
    let (path, model) = (dir.join("recipe.toml"), dir.join("model"));
    std::fs::write(&path, recipe.to_string()).expect("the recipe is written");
    succeeded(veriplay().current_dir(root()).arg("warmup").arg("--config").arg(&path).arg("--out").arg(&model));
    succeeded(pantry.play().arg("--model").arg(&model).args(["--steps", "1"]));
}

#[test]
fn an_environment_that_is_none_is_refused_with_its_file() {
    for (file, from, to, said) in [
        ("environment.py", "TOOLS = [", "TOOLS = ([", "environment `pantry` is invalid: "),
        ("environment.py", "def dump():", "def dumped():", "environment `pantry` is invalid: "),
        ("templates.toml", "<few> spoons of <jar>\"", "<many> of it\"", "no pool for `<many>`"),
        ("templates.toml", "few = [1, 4]", "few = [4, 1]", "range `few` is from 4 to 1"),
        ("templates.toml", "act = 1.0\nask", "act = -1.0\nask", "a weight of `[plans]` is -1"),
        ("templates.toml", "[plans]", "[plan]", "templates.toml`: line 2: unknown field `plan`"),
        ("templates.toml", "name = \"take\"", "name = \"add\"", "there are two actions `add`"),
        ("templates.toml", "code = \"\" }]", "code = \"[<jar2>]\" }]", "which the action's code has not"),
        ("tasks.toml", "verify =", "verifies =", "tasks.toml:5: unknown field `verifies`"),
    ] {
        let pantry = Pantry::new();
        pantry.replace(file, from, to);
        fails(&mut pantry.play(), 3, &[said]);
    }
    let pantry = Pantry::new();
    let (dir, folder) = (pantry.dir.path(), pantry.folder());
    for (name, said) in [("ledger", "`ledger` is the name of a built-in environment"), ("Pan-try", "lower-case")] {
        let named = dir.join(name);
        std::fs::rename(&folder, &named).expect("the folder is renamed");
        fails(&mut play(&small_game_in(&[&named]), dir), 3, &[said]);
        std::fs::rename(&named, &folder).expect("the folder is renamed");
    }
    let twice = small_game_in(&[&folder, &folder.join("../pantry")]);
    fails(&mut play(&twice, dir), 3, &["`pantry` is another one's already"]);
    std::fs::remove_file(folder.join("templates.toml")).expect("the file is removed");
    fails(&mut pantry.play(), 3, &["templates.toml"]);
}
