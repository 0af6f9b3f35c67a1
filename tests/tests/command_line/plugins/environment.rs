//! A folder of the user's own is an environment of `self_challenge`: the one of the page plays, and a broken one is refused with its file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{example, play, records};
use crate::command_line::games::small_self_challenge;
use crate::command_line::resume::survives;
use crate::command_line::{finished, root, stderr, succeeded, veriplay};

/// Writes the environment of the page into a folder.
fn write_pantry(dir: &Path) -> PathBuf {
    let folder = dir.join("pantry");
    std::fs::create_dir(&folder).expect("the folder is made");
    for file in ["environment.py", "templates.toml", "tasks.toml"] {
        std::fs::write(folder.join(file), example(&format!("pantry/{file}"))).expect("the file is written");
    }
    folder
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

/// What would else look like a fault of the policy, and cost it every task in which it happens.
#[test]
fn a_template_that_never_works_is_refused_with_what_its_tools_said() {
    for ((file, text), template, said) in [
        (replaced("templates.toml", "code = \"add(<jar>", "code = \"ad(<jar>"), "add", "name 'ad' is not defined"),
        (replaced("environment.py", "    take(source, spoons)", "    steal(source)"), "pour", "'steal' is not defined"),
        (replaced("environment.py", "return sorted(JARS)", "return object()"), "total", "object"),
        (replaced("environment.py", "    return spoons_in", "    while True: spoons_in"), "count", "fuel_exceeded"),
        (replaced("environment.py", "JARS[name] -= spoons", "JARS[name] -= 100"), "take", "AssertionError"),
        (replaced("templates.toml", "code = \"\" }]", "code = \".value\" }]"), "add and left", "no attribute 'value'"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let folder = write_pantry(dir.path());
        std::fs::write(folder.join(file), text).expect("the file is written");
        let output = finished(play(&in_pantry(&folder), dir.path()).arg("--dry-run"));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let message = stderr(&output);
        let named = format!("environment `pantry`: no code of template `{template}` works in the first state");
        for part in [named.as_str(), said, "Plug-ins in Python"] {
            assert!(message.contains(part), "`{part}` is missing in {message}");
        }
    }
}

/// A start model that knows the words and tools of the page's environment, which then plays in it.
#[test]
fn a_start_model_is_warmed_up_in_an_environment_of_ones_own() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = write_pantry(dir.path());
    let recipe = include_str!("../../../../configs/self-challenge-warmup.toml");
    let mut recipe: toml::Table = recipe.parse().expect("the recipe is TOML");
    let run = in_pantry(&folder);
    let entries = run["tasks"]["environments"].clone();
    recipe.extend(["steps", "validate_every"].map(|key| (key.to_owned(), 1.into())));
    for (table, keys) in [
        ("data", vec![("environments", entries.clone()), ("artifacts", 5.into())]),
        ("tasks", vec![("environments", entries), ("given", 10.into())]),
        ("eval", vec![("tasks", 2.into())]),
        ("batch", vec![("executions", 4.into()), ("challenges", 2.into())]),
    ] {
        let table = recipe[table].as_table_mut().expect("a table");
        table.extend(keys.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    let path = dir.path().join("recipe.toml");
    std::fs::write(&path, recipe.to_string()).expect("the recipe is written");
    let model = dir.path().join("model");
    succeeded(veriplay().current_dir(root()).arg("warmup").arg("--config").arg(&path).arg("--out").arg(&model));
    succeeded(play(&run, dir.path()).arg("--model").arg(&model).args(["--steps", "1"]));
}

/// A file of the page's environment with a change.
fn replaced(file: &str, from: &str, to: &str) -> (String, String) {
    let text = example(&format!("pantry/{file}"));
    let changed = text.replace(from, to);
    assert_ne!(text, changed);
    (file.to_owned(), changed)
}

#[test]
fn an_environment_that_is_none_is_refused_with_its_file() {
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
