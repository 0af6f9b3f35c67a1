//! The other games in the same loop: dry runs of their configurations, and small runs that are killed, resumed and judged again.

use std::path::{Path, PathBuf};

use super::resume::{assert_same, killed_after};
use super::{finished, last_json, stderr, veriplay, write_config};

/// The root of the project, which paths in configurations are relative to.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn configuration(name: &str) -> toml::Table {
    let path = root().join("configs").join(name);
    std::fs::read_to_string(path).expect("the configuration is there").parse().expect("it is TOML")
}

fn set(config: &mut toml::Table, place: &str, value: impl Into<toml::Value>) {
    let mut keys: Vec<&str> = place.split('.').collect();
    let last = keys.pop().expect("a key");
    let table = keys.iter().fold(config, |table, key| table[*key].as_table_mut().expect("a table"));
    assert!(table.insert(last.to_owned(), value.into()).is_some(), "`{place}` is no key of the configuration");
}

/// What a dry run says.
fn told(config: &toml::Table) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), config);
    let output = finished(veriplay().current_dir(root()).args(["play", "--dry-run", "--config"]).arg(path));
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("it is text")
}

fn says(said: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(said.contains(wanted), "`{wanted}` is not in\n{said}");
    }
}

/// On the repositories that are here, instead of those that a user fetches.
fn on_tiny_repositories(mut config: toml::Table) -> toml::Table {
    let folder = "task-corpus/tiny_repositories";
    set(&mut config, "repositories.names", vec![format!("{folder}/validation")]);
    set(&mut config, "bugs.training", vec![format!("{folder}/validation.jsonl.zst")]);
    set(&mut config, "bugs.validation", Vec::<String>::new());
    set(&mut config, "bugs.held_out", Vec::<String>::new());
    config
}

#[test]
fn configurations_for_large_models_say_what_they_would_do() {
    let sol_ver = told(&configuration("sol-ver-qwen.toml"));
    says(&sol_ver, &["game `sol_ver`", "memory: not known", "--- verifier", "fenced as `problem`", "```python"]);
    let bugs = told(&on_tiny_repositories(configuration("bug-repair-qwen.toml")));
    says(&bugs, &["game `bug_repair`", "memory: not known", "--- injector, removal", "--- solver", "```edit PATH"]);
    let mut tools = configuration("self-challenge-qwen.toml");
    set(&mut tools, "tasks.given", 2);
    let tools = told(&tools);
    says(
        &tools,
        &["game `self_challenge`", "memory: not known", "--- challenger", "fenced as `verify`", "--- executor"],
    );
}

#[test]
fn a_quickstart_says_what_it_would_do_with_its_own_model() {
    let said = told(&configuration("sol-ver-quickstart.toml"));
    says(&said, &["memory: about", "<SNIPPET>def f(x):", "<PROBLEM>", "<TESTS>"]);
    let said = told(&on_tiny_repositories(configuration("bug-repair-quickstart.toml")));
    says(&said, &["memory: about", "<INJECT>", "<BUG>def f(x):", "<FIX>"]);
    let said = told(&small_self_challenge());
    says(&said, &["memory: about", "<MAKE>", "<DO>", "<CODE>"]);
}

/// Sol-Ver's quickstart, made small.
fn small_sol_ver() -> toml::Table {
    let mut config = configuration("sol-ver-quickstart.toml");
    for (place, value) in [
        ("steps", 4),
        ("checkpoint_every", 2),
        ("game.problems", 12),
        ("game.codes", 8),
        ("game.suites", 4),
        ("agreement.min_codes", 2),
        ("agreement.min_tests", 1),
        ("tasks.snippets.count", 200),
        ("eval.problems", 4),
    ] {
        set(&mut config, place, value);
    }
    config
}

/// Self-Challenging's quickstart, made small.
fn small_self_challenge() -> toml::Table {
    let mut config = configuration("self-challenge-quickstart.toml");
    for (place, value) in [
        ("steps", 4),
        ("checkpoint_every", 2),
        ("game.challenges_per_step", 6),
        ("game.tasks_per_step", 4),
        ("game.group", 4),
        ("game.anchor_challenges", 8),
        ("tasks.given", 10),
        ("eval.tasks", 2),
    ] {
        set(&mut config, place, value);
    }
    config
}

/// The repair of bugs in a small repository by a model that cannot do it, made small.
fn small_bug_repair() -> toml::Table {
    let mut config = on_tiny_repositories(configuration("bug-repair-qwen.toml"));
    let learn = configuration("sol-ver-quickstart.toml")["learn"].clone();
    config.insert("learn".to_owned(), learn);
    set(&mut config, "model", "embedded:tiny");
    set(&mut config, "game.dialect", "compact");
    set(&mut config, "game.modes", vec!["direct"]);
    for (place, value) in [
        ("steps", 3),
        ("checkpoint_every", 2),
        ("game.tasks_per_step", 2),
        ("game.group", 2),
        ("game.injections_per_step", 1),
        ("game.mutants_per_step", 1),
        ("game.higher_order_per_step", 0),
        ("game.solver_max_tokens", 24),
        ("game.injector_max_tokens", 24),
        ("game.solver_budget.prompt_chars", 400),
        ("game.injector_budget.prompt_chars", 400),
    ] {
        set(&mut config, place, value);
    }
    set(&mut config, "game.injection_share", 0.5);
    set(&mut config, "game.mutant_share", 0.0);
    set(&mut config, "game.higher_order_share", 0.0);
    config
}

/// Whole, and killed twice: both end with the same bytes, and every verdict comes out the same again.
fn survives(config: &toml::Table) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), config);
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    let play = |out: &Path| {
        let mut command = veriplay();
        command.current_dir(root()).arg("play").arg("--config").arg(&config).arg("--out").arg(out);
        command
    };
    let resume = || {
        let mut command = veriplay();
        command.current_dir(root()).arg("play").arg("--resume").arg(&broken);
        command
    };
    let output = finished(play(&whole).arg("--json"));
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = last_json(&output);
    assert_eq!(summary["dropped"], 0, "{summary}");
    assert!(summary["eval"]["after"].is_object(), "{summary}");
    assert!(killed_after(&mut play(&broken), 1));
    assert!(killed_after(&mut resume(), 3));
    let output = finished(&mut resume());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_same(&whole, &broken);
    let output = finished(veriplay().current_dir(root()).arg("replay").arg(&whole).arg("--json"));
    assert!(output.status.success(), "{}", stderr(&output));
    let report = last_json(&output);
    assert!(report["verdicts"].as_u64().expect("a count") > 0, "{report}");
    assert_eq!((&report["verdicts"], &report["changed"]), (&report["same"], &0.into()));
}

#[test]
fn sol_ver_resumes_to_the_same_bytes_and_replays() {
    survives(&small_sol_ver());
}

#[test]
fn bug_repair_resumes_to_the_same_bytes_and_replays() {
    survives(&small_bug_repair());
}

#[test]
fn self_challenge_resumes_to_the_same_bytes_and_replays() {
    survives(&small_self_challenge());
}
