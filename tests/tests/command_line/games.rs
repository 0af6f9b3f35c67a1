//! The other games in the same loop: dry runs of their configurations, and small runs that are killed, resumed and judged again.

use std::collections::BTreeSet;
use std::path::Path;

use veriplay_core::Digest;
use veriplay_python::fingerprint::functions;
use veriplay_tests::external::published_file;

use super::resume::survives;
use super::{finished, last_json, root, small_config, stderr, succeeded, veriplay, write_config};

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

/// The output of a dry run.
fn told(config: &toml::Table) -> String {
    told_with(config, &[])
}

/// The same with further options.
fn told_with(config: &toml::Table, options: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), config);
    let mut command = veriplay();
    command.current_dir(root()).args(["play", "--dry-run"]).args(options).arg("--config").arg(path);
    String::from_utf8(succeeded(&mut command).stdout).expect("it is text")
}

fn says(said: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(said.contains(wanted), "`{wanted}` is not in\n{said}");
    }
}

/// On the repositories that are here, instead of those that a user fetches.
fn on_tiny_repositories(mut config: toml::Table) -> toml::Table {
    let folder = "task-corpus/tiny_repositories";
    set(&mut config, "repositories.training", vec![format!("{folder}/validation")]);
    set(&mut config, "repositories.validation", Vec::<String>::new());
    set(&mut config, "repositories.held_out", Vec::<String>::new());
    set(&mut config, "bugs.training", vec![format!("{folder}/validation.jsonl.zst")]);
    set(&mut config, "bugs.validation", Vec::<String>::new());
    set(&mut config, "bugs.held_out", Vec::<String>::new());
    config
}

/// The shape of Qwen2.5 7B, or of 1.5B, as its `config.json` has it.
fn write_shape(dir: &Path, is_large: bool) {
    let (hidden, inner, heads, key_heads, vocabulary) =
        if is_large { (3584, 18_944, 28, 4, 152_064) } else { (1536, 8960, 12, 2, 151_936) };
    let shape = serde_json::json!({
        "model_type": "qwen2", "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 28,
        "num_attention_heads": heads, "num_key_value_heads": key_heads, "vocab_size": vocabulary,
        "max_position_embeddings": 32_768, "rms_norm_eps": 1e-6, "rope_theta": 1_000_000.0,
        "tie_word_embeddings": !is_large, "eos_token_id": 151_645,
    });
    std::fs::write(dir.join("config.json"), shape.to_string()).expect("the temporary directory can be written");
}

/// Predicted memory in GiB, as a dry run prints it.
#[derive(Debug)]
struct ToldMemory {
    weights: f64,
    training: f64,
    /// 0 on the CPU, where the line does not have them.
    rollouts: f64,
}

impl ToldMemory {
    fn parse(said: &str) -> Self {
        let line = said.lines().find(|line| line.starts_with("memory: about ")).unwrap_or_else(|| panic!("{said}"));
        let mut numbers = line.split(' ').zip(line.split(' ').skip(1)).filter(|(_, unit)| unit.starts_with("GiB"));
        let mut next = || numbers.next().and_then(|(number, _)| number.parse::<f64>().ok());
        let (weights, training) = (next().expect("weights"), next().expect("training"));
        Self { weights, training, rollouts: next().unwrap_or(0.0) }
    }

    fn in_training(&self) -> f64 {
        self.weights + self.training
    }
}

/// What a dry run says of a recipe on a model of its shape, without the weights. The figures are those of `docs/evaluating.md`.
fn told_on_shape(mut config: toml::Table, is_large: bool) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_shape(dir.path(), is_large);
    set(&mut config, "model", dir.path().display().to_string());
    let said = told_with(&config, &["--device", "cpu-portable", "--precision", "bf16"]);
    let page = include_str!("../../../docs/evaluating.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let documented = |text: String| assert!(page.contains(&text), "docs/evaluating.md has no `{text}`");
    let (card, cpu) = (ToldMemory::parse(&said), ToldMemory::parse(&told(&config)));
    // A card of 80 GB, and a tenth that predictions leave out.
    let worst = card.weights + card.training.max(card.rollouts);
    assert!(1.1 * worst * f64::from(1 << 30) < 80e9, "{card:?}");
    if is_large {
        documented(format!(
            "each recipe of 7B takes {:.0} GiB in bf16 ({:.1} for weights, and {:.1} for training, before which rollouts take up to {:.0})",
            card.in_training(),
            card.weights,
            card.training,
            card.rollouts
        ));
        documented(format!("on the CPU, in f32, they take {:.0} and ", cpu.in_training()));
    } else {
        documented(format!(
            "and that of 1.5B takes {:.0} in training, so that each is predicted to fit a card of 80 GB",
            card.in_training()
        ));
        documented(format!(" and {:.0}. `play` refuses", cpu.in_training()));
    }
    says(&said, &["GiB for training", "has no weights to play with"]);
    said
}

/// The recipe of Absolute Zero, with tasks that are here.
fn absolute_zero_recipe() -> toml::Table {
    let mut config = configuration("absolute-zero-qwen.toml");
    let tasks = config["tasks"].as_table_mut().expect("a table");
    tasks.remove("eval_programs");
    tasks.insert("eval_mix".to_owned(), "natural".into());
    set(&mut config, "eval.tasks_per_type", 2);
    config
}

/// The recipe of Sol-Ver, with snippets and problems that are here.
fn sol_ver_recipe() -> toml::Table {
    let mut config = configuration("sol-ver-qwen.toml");
    let tasks = "[snippets]\nfrom = \"folder\"\npath = \"task-corpus/environments\"\nmin_chars = 80\nmax_chars = 4000";
    let quickstart = configuration("sol-ver-quickstart.toml");
    let table = config["tasks"].as_table_mut().expect("a table");
    table.extend(tasks.parse::<toml::Table>().expect("TOML"));
    table.insert("problems".to_owned(), quickstart["tasks"]["problems"].clone());
    set(&mut config, "eval.problems", 4);
    config
}

#[test]
fn recipes_of_the_papers_say_what_they_would_do_and_the_memory_it_takes() {
    let zero = told_on_shape(absolute_zero_recipe(), true);
    let seeds = "before step 0: proposals until each kind has 256 tasks";
    says(
        &zero,
        &["game `absolute_zero`, 500 steps", "a step: 192 proposals, then 8 attempts at each of 192 tasks", seeds],
    );
    says(&zero, &["reward `azr`; advantage `trr`; prompts `think`", "<snippet_6>", "Choose 10 inputs", "<think>"]);
    let sol_ver = told_on_shape(sol_ver_recipe(), false);
    says(&sol_ver, &["game `sol_ver`", "--- verifier", "fenced as `problem`", "```python"]);
    let bugs = told_on_shape(on_tiny_repositories(configuration("bug-repair-qwen.toml")), true);
    says(&bugs, &["game `bug_repair`, 150 steps", "--- injector, removal", "--- solver", "```edit PATH"]);
    let tools = told_on_shape(configuration("self-challenge-qwen.toml"), true);
    says(&tools, &["then 15 executors of at most 8 turns at each of 16 tasks", "until each kind has 800 tasks"]);
    says(&tools, &["no step samples a proposer", "learned from successes"]);
    says(&tools, &["game `self_challenge`", "--- challenger", "fenced as `verify`", "--- executor"]);
}

#[test]
fn a_dry_run_without_the_model_shows_the_prompts_and_fails() {
    for (recipe, prompt) in [(absolute_zero_recipe(), "--- proposer, induction"), (sol_ver_recipe(), "--- verifier")] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = write_config(dir.path(), &recipe);
        let mut command = veriplay();
        let output = finished(command.current_dir(root()).args(["play", "--dry-run", "--config"]).arg(path));
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
        says(&String::from_utf8_lossy(&output.stdout), &["memory: not known", prompt]);
        says(&stderr(&output), &["error: "]);
    }
}

#[test]
fn a_dry_run_refuses_roles_that_cannot_play() {
    let mut nobody = absolute_zero_recipe();
    set(&mut nobody, "game.proposer", "frozen");
    nobody["game"].as_table_mut().expect("a table").insert("solver_weight".to_owned(), 0.0.into());
    // The model is not here either, which counts.
    says(&refused_with(5, &nobody), &["`game.solver_weight` is `0`", "no other role learns either"]);
    let mut nothing = absolute_zero_recipe();
    set(&mut nothing, "game.proposer", "none");
    set(&mut nothing, "game.seed_proposals", 0);
    says(&refused_with(5, &nothing), &["`game.proposer` is `none`", "no other tasks"]);
    let mut trained = absolute_zero_recipe();
    trained.insert("proposer_model".to_owned(), "start".into());
    says(&refused(&trained), &["configuration key `proposer_model` is `start`", "`game.proposer` must be `frozen`"]);
}

/// On a model that is here, instead of one that is fetched. A dry run samples nothing.
fn on_built_in_model(name: &str) -> toml::Table {
    let mut config = configuration(name);
    set(&mut config, "model", "builtin:tiny");
    config
}

#[test]
fn configurations_for_a_small_checkpoint_show_answered_examples() {
    let mut sol_ver = on_built_in_model("smollm2-sol-ver.toml");
    let text = "suites = [\"cruxeval-o=Cargo.toml\"]\nevery = 5\nlimit = 50";
    sol_ver["eval"].as_table_mut().expect("a table").extend(text.parse::<toml::Table>().expect("TOML"));
    let said = told(&sol_ver);
    says(&said, &["game `sol_ver`, 10 steps", "--- proposer", "Assistant: ```python\ndef f(", "Assistant: assert f("]);
    says(&said, &["suites `cruxeval-o=Cargo.toml`, the first 50 tasks of each: before, every 5 steps and after"]);
    let said = told(&on_tiny_repositories(on_built_in_model("smollm2-bug-repair.toml")));
    says(&said, &["--- injector, direct", "Put a bug into the function", "--- solver", "\nassert f("]);
    assert_eq!(said.matches("Assistant: ```python").count(), 2 * 3, "{said}");
    let said = told(&on_built_in_model("smollm2-self-challenge.toml"));
    says(&said, &["--- challenger", "User: Use `", "\n# wrong\n", "--- executor", "answer("]);
    assert_eq!(said.matches("Assistant: ```python").count(), 2 * 3, "{said}");
}

#[test]
fn a_configuration_that_measures_on_a_published_file_finds_as_many_tasks_there_as_it_asks_for() {
    let Some(path) = published_file("cruxeval.jsonl") else { return };
    let mut config = on_built_in_model("absolute-zero-qwen.toml");
    set(&mut config, "tasks.eval_programs", path.to_str().expect("UTF-8"));
    says(&told(&config), &["game `absolute_zero`", "--- solver, induction"]);
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

#[test]
fn a_key_that_has_another_name_now_is_refused_with_that_name() {
    let renamed = [
        (["game"].as_slice(), "held_samples", "`game.held_samples` is called `game.eval_samples` now"),
        (&["learn", "options"], "shards", "`learn.options.shards` is called `learn.options.data_parallel` now"),
    ];
    for (tables, old, want) in renamed {
        let mut config = configuration("sol-ver-quickstart.toml");
        let table = tables.iter().fold(&mut config, |table, name| table[*name].as_table_mut().expect("a table"));
        table.insert(old.to_owned(), 8.into());
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = write_config(dir.path(), &config);
        let output = finished(veriplay().args(["play", "--dry-run", "--config"]).arg(path));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains(want), "{message}");
    }
}

#[test]
fn a_dry_run_finds_an_image_that_nothing_opens() {
    for (game, key) in [("sol-ver", "agreement.image"), ("self-challenge", "gate.image")] {
        let mut config = configuration(&format!("{game}-quickstart.toml"));
        set(&mut config, key, "pythn");
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = write_config(dir.path(), &config);
        let output = finished(veriplay().args(["play", "--dry-run", "--config"]).arg(path));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(
            message.contains(&format!("configuration key `{key}` is `pythn`: it must be one of python")),
            "{message}"
        );
    }
}

/// Sol-Ver's quickstart, made small.
pub(crate) fn small_sol_ver() -> toml::Table {
    let mut config = configuration("sol-ver-quickstart.toml");
    for (place, value) in [
        ("steps", 4),
        ("checkpoint_every", 2),
        ("game.problems", 12),
        ("game.group_size", 8),
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
pub(crate) fn small_self_challenge() -> toml::Table {
    let mut config = configuration("self-challenge-quickstart.toml");
    for (place, value) in [
        ("steps", 4),
        ("checkpoint_every", 2),
        ("game.challenges_per_step", 6),
        ("game.tasks_per_step", 4),
        ("game.group_size", 4),
        ("game.sft_challenges", 8),
        ("tasks.given", 10),
        ("eval.tasks", 2),
    ] {
        set(&mut config, place, value);
    }
    config
}

/// The repair of bugs in a small repository by a model that cannot do it, made small.
pub(crate) fn small_bug_repair() -> toml::Table {
    let mut config = on_tiny_repositories(configuration("bug-repair-qwen.toml"));
    let learn = configuration("sol-ver-quickstart.toml")["learn"].clone();
    config.insert("learn".to_owned(), learn);
    set(&mut config, "model", "builtin:tiny");
    set(&mut config, "game.format", "compact");
    set(&mut config, "game.test_command", "veriplay");
    set(&mut config, "game.weakening", "derived");
    set(&mut config, "game.modes", vec!["direct"]);
    for (place, value) in [
        ("steps", 3),
        ("checkpoint_every", 2),
        ("game.tasks_per_step", 2),
        ("game.group_size", 2),
        ("game.injections_per_step", 1),
        ("game.mutants_per_step", 1),
        ("game.higher_order_per_step", 0),
        ("game.solver_max_tokens", 24),
        ("game.proposer_max_tokens", 24),
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

/// As [`survives`], of four steps of which every second one is evaluated.
fn survives_with_evaluations(mut config: toml::Table) {
    config["eval"].as_table_mut().expect("a table").insert("tasks_every".to_owned(), 2.into());
    let (dir, _) = survives(&config, &[1, 3]);
    let events = std::fs::read_to_string(dir.path().join("whole/events.jsonl")).expect("the log can be read");
    let event = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("an event is JSON");
    let measured: Vec<bool> =
        events.lines().map(|line| event(line)["validation"]["mean"]["pass8"].is_number()).collect();
    assert_eq!(measured, [false, true, false, true]);
}

#[test]
fn evaluations_in_a_run_that_cannot_be_made_are_refused() {
    for (mut config, every, want) in [
        (small_sol_ver(), 0, "configuration key `eval.tasks_every` is `0`: it must be at least 1"),
        (small_bug_repair(), 2, "the validation set of this configuration has no task"),
    ] {
        config["eval"].as_table_mut().expect("a table").insert("tasks_every".to_owned(), every.into());
        says(&refused(&config), &[want]);
    }
}

#[test]
fn sol_ver_resumes_to_the_same_bytes_and_replays() {
    survives_with_evaluations(small_sol_ver());
}

#[test]
fn a_run_whose_proposer_is_the_start_model_resumes_to_the_same_bytes() {
    let mut config = small_config();
    config.insert("proposer_model".to_owned(), "start".into());
    set(&mut config, "game.proposer", "frozen");
    // Two of each type beside those that are given.
    config["game"].as_table_mut().expect("a table").insert("seed_proposals".to_owned(), 14.into());
    survives(&config, &[1, 3]);
}

#[test]
fn executors_of_tasks_that_the_start_model_made_resume_to_the_same_bytes() {
    let mut config = small_self_challenge();
    set(&mut config, "game.proposer", "none");
    set(&mut config, "tasks.given", 0);
    set(&mut config, "game.sft_challenges", 0);
    set(&mut config, "game.sft_samples", 0);
    let game = config["game"].as_table_mut().expect("a table");
    game.insert("seed_proposals".to_owned(), 6.into());
    game.insert("learn_from".to_owned(), "successes".into());
    let (_dir, summary) = survives(&config, &[1, 3]);
    assert_eq!(summary["valid_proposal_rate"], 0.0, "{summary}");
}

#[test]
fn pairs_that_are_held_to_the_imitating_model_resume_to_the_same_bytes() {
    let mut config = small_sol_ver();
    config["game"].as_table_mut().expect("a table").insert("dpo_reference".to_owned(), "sft".into());
    survives(&config, &[1, 3]);
    config["learn"].as_table_mut().expect("a table").insert(
        "kl".to_owned(),
        "coefficient = 0.1\nestimator = \"k3\"\nplace = \"loss\"".parse::<toml::Table>().expect("TOML").into(),
    );
    says(&refused(&config), &["configuration key `game.dpo_reference` is `sft`", "`learn.kl`"]);
}

/// With more than one update in a step: else a step learns one batch, whatever was kept.
fn train_from_start(config: &mut toml::Table, dpo_reference: &str) {
    for part in ["sft", "dpo"] {
        set(config, &format!("game.{part}.batch"), 4);
        set(config, &format!("game.{part}.max_updates"), 8);
    }
    set(config, "learn.shape", "constant");
    set(config, "learn.warmup_steps", 0);
    let game = config["game"].as_table_mut().expect("a table");
    game.insert("train_from".to_owned(), "start".into());
    game.insert("dpo_reference".to_owned(), dpo_reference.into());
}

/// A copy of a built-in model, in a directory.
fn copy_model(name: &str, dir: &Path) {
    for file in std::fs::read_dir(root().join("models").join(name)).expect("the model is there") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), dir.join(file.file_name())).expect("it is copied");
    }
}

/// Fails unless a run whose start model has other weights by now is refused, with both digests.
fn assert_other_weights_are_refused(run: &Path, model: &Path) {
    let path = model.join("model.safetensors");
    let mut bytes = std::fs::read(&path).expect("the weights are there");
    // Part of a weight.
    *bytes.last_mut().expect("a byte") ^= 1;
    std::fs::write(&path, bytes).expect("they are written");
    let output = finished(veriplay().current_dir(root()).args(["play", "--resume"]).arg(run));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    says(
        &stderr(&output),
        &["has weights of digest ", "and the run's steps began with those of ", "hint: let `model`"],
    );
}

#[test]
fn runs_that_train_the_start_model_in_each_step_resume_to_the_same_bytes() {
    let mut config = small_sol_ver();
    let model = tempfile::tempdir().expect("a temporary directory");
    copy_model("sol-ver", model.path());
    set(&mut config, "model", model.path().display().to_string());
    train_from_start(&mut config, "sampler");
    says(&refused(&config), &["`game.train_from` is `start`: set `dpo_reference` to `sft` or `start`"]);
    set(&mut config, "game.dpo_reference", "sft");
    let (dir, _) = survives(&config, &[1, 3]);
    assert_other_weights_are_refused(&dir.path().join("whole"), model.path());
    for (place, value) in [("learn.shape", toml::Value::from("linear")), ("learn.warmup_steps", 1.into())] {
        let mut config = config.clone();
        set(&mut config, place, value);
        says(&refused(&config), &["configuration key `game.train_from` is `start`", "because each step begins again"]);
    }
    set(&mut config, "model", "stdio");
    says(&refused(&config), &["configuration key `game.train_from` is `start`", "because `model` is `stdio`"]);
}

#[test]
fn adapters_of_the_start_model_are_trained_anew_in_each_step() {
    let mut config = small_sol_ver();
    train_from_start(&mut config, "sampler");
    set(&mut config, "game.objective", "sft");
    let lora = "rank = 2\nalpha = 4.0\ntarget_modules = [\"q_proj\"]\nseed = 1".parse::<toml::Table>().expect("TOML");
    config["learn"].as_table_mut().expect("a table").insert("lora".to_owned(), lora.into());
    survives(&config, &[1, 3]);
}

#[test]
fn bug_repair_resumes_to_the_same_bytes_and_replays() {
    survives(&small_bug_repair(), &[1, 3]);
}

#[test]
fn self_challenge_resumes_to_the_same_bytes_and_replays() {
    survives_with_evaluations(small_self_challenge());
}

/// The functions of a repository's code, by fingerprint.
fn functions_in(folder: &str) -> BTreeSet<Digest> {
    let folder = root().join("task-corpus/tiny_repositories").join(folder).join("tiny");
    let files = std::fs::read_dir(folder).expect("the repository is there").map(|entry| entry.expect("a file").path());
    files.flat_map(|file| functions_of(&std::fs::read_to_string(file).expect("a text"))).collect()
}

fn functions_of(text: &str) -> Vec<Digest> {
    functions(text).into_iter().map(|function| function.fingerprint).collect()
}

/// All texts of a record.
fn texts<'a>(record: &'a serde_json::Value, found: &mut Vec<&'a str>) {
    match record {
        serde_json::Value::String(text) => found.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        serde_json::Value::Object(items) => items.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// On the old configuration, whose list of repositories knew no training, 16 of 32 injections and 5 of 16 mutants of such a step were
/// in functions that are measured.
#[test]
fn no_site_prompt_or_proposal_of_bug_repairs_quickstart_is_about_a_function_that_is_measured() {
    let mut config = configuration("bug-repair-quickstart.toml");
    for (place, value) in [
        ("steps", 1),
        ("game.tasks_per_step", 8),
        ("game.group_size", 2),
        ("game.injections_per_step", 32),
        ("game.mutants_per_step", 16),
        ("eval.bugs", 1),
    ] {
        set(&mut config, place, value);
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (path, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let mut play = veriplay();
    let output =
        succeeded(play.current_dir(root()).args(["play", "--json", "--config"]).arg(path).arg("--out").arg(&run));
    assert!(last_json(&output)["proposals_in_held_out"].is_u64());
    let events = std::fs::read_to_string(run.join("events.jsonl")).expect("the events are there");
    assert!(events.contains("\"play/proposals_in_held_out\":"), "{events}");
    let measured: BTreeSet<Digest> = ["validation", "held-out"].into_iter().flat_map(functions_in).collect();
    let training: BTreeSet<Digest> = ["train", "train-2", "train-3"].into_iter().flat_map(functions_in).collect();
    assert!(measured.len() > 390 && training.is_disjoint(&measured));
    let log = std::fs::File::open(run.join("rollouts.jsonl.zst")).expect("the log is there");
    let log = std::io::read_to_string(zstd::Decoder::new(log).expect("a frame")).expect("a text");
    let (mut seen, mut sites) = (0, 0);
    for line in log.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record");
        if let Some(injection) = record.get("proposal") {
            sites += 1;
            let prompt = injection["episode"]["turns"][0]["prompt"].as_str().expect("a prompt");
            let code = prompt.trim_start_matches("<CODE>").trim_end_matches("<INJECT>");
            let site = functions_of(code);
            assert!(!site.is_empty() && site.iter().all(|function| training.contains(function)), "{prompt}");
        }
        let admitted = |record: &&serde_json::Value| {
            let kind = record.as_object().and_then(|kinds| kinds.values().next());
            kind.is_none_or(|kind| kind["judged"]["verdict"]["Ok"]["evidence"]["rule"] != "held_out")
        };
        // What was refused as measured is logged, and nothing else may hold it. What a solver answers is no proposal.
        for record in [&record].into_iter().filter(admitted).filter(|record| record.get("task").is_none()) {
            let mut found = Vec::new();
            texts(record, &mut found);
            for part in found.iter().flat_map(|text| text.split(['<', '>'])) {
                seen += 1;
                assert!(functions_of(part).iter().all(|function| !measured.contains(function)), "{part}");
            }
        }
        let attempts = record["task"]["attempts"].as_array().into_iter().flatten();
        for turn in attempts.flat_map(|attempt| attempt["episode"]["turns"].as_array().expect("turns")) {
            for part in turn["prompt"].as_str().expect("a prompt").split(['<', '>']) {
                seen += 1;
                assert!(functions_of(part).iter().all(|function| !measured.contains(function)), "{part}");
            }
        }
    }
    assert!(sites == 32 && seen > 100, "{sites} sites, {seen} texts");
}

/// The error of a refused configuration.
fn refused(config: &toml::Table) -> String {
    refused_with(3, config)
}

/// The error of a configuration that is refused with this exit code.
fn refused_with(code: i32, config: &toml::Table) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), config);
    let output = finished(veriplay().current_dir(root()).args(["play", "--dry-run", "--config"]).arg(path));
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn repositories_that_train_and_are_measured_are_refused_with_their_place_in_the_file() {
    let tiny = |name: &str| format!("builtin:tiny_repositories/{name}");
    let mut twice = configuration("bug-repair-quickstart.toml");
    set(&mut twice, "repositories.training", vec![tiny("train"), tiny("held-out/")]);
    let said = refused(&twice);
    says(&said, &["is in `training` and in `held_out`: name it once", "line ", "^"]);
    let mut empty = configuration("bug-repair-quickstart.toml");
    set(&mut empty, "repositories.training", Vec::<String>::new());
    says(&refused(&empty), &["`repositories.training` is empty", "^"]);
    let mut unknown = configuration("bug-repair-quickstart.toml");
    set(&mut unknown, "repositories.training", vec![tiny("none")]);
    says(&refused(&unknown), &["tiny_repositories/none"]);
    let mut old = configuration("bug-repair-quickstart.toml");
    let repositories = old["repositories"].as_table_mut().expect("a table");
    repositories.insert("names".to_owned(), vec![tiny("train")].into());
    says(&refused(&old), &["unknown key `repositories.names`", "^"]);
}

#[test]
fn a_copy_of_a_measured_repository_is_refused_by_the_functions_in_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let copy = dir.path().join("copy");
    for (folder, file, text) in [
        ("tiny", "__init__.py", String::new()),
        ("tiny", "a.py", "def g(value):\n    # by hand\n    return value[1:]+value[:1]\n".to_owned()),
        ("tests", "test_a.py", "from tiny.a import g\n\n\ndef test_g():\n    assert g([1, 2]) == [2, 1]\n".to_owned()),
    ] {
        std::fs::create_dir_all(copy.join(folder)).expect("a folder");
        std::fs::write(copy.join(folder).join(file), text).expect("a file");
    }
    let mut config = configuration("bug-repair-quickstart.toml");
    set(&mut config, "repositories.training", vec![copy.display().to_string()]);
    set(&mut config, "repositories.validation", Vec::<String>::new());
    set(&mut config, "repositories.held_out", vec!["task-corpus/tiny_repositories/train".to_owned()]);
    set(&mut config, "bugs.training", Vec::<String>::new());
    set(&mut config, "bugs.validation", Vec::<String>::new());
    set(&mut config, "bugs.held_out", Vec::<String>::new());
    let said = refused(&config);
    says(
        &said,
        &["`tiny/a.py` of repository `copy`", "set: `f` of `train/tiny/m000.py`", "held_out", "hint: remove it"],
    );
}
