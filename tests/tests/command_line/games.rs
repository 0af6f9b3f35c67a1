//! The other games in the same loop: dry runs of their configurations, and small runs that are killed, resumed and judged again.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use veriplay_core::Digest;
use veriplay_python::fingerprint::functions;
use veriplay_tests::external::published_file;

use super::resume::survives;
use super::verify::rows;
use super::{
    configuration, copy_model, ended, last_json, played, root, says, small_config, stdout, succeeded, veriplay, with,
    write_config,
};

/// What a dry run says.
fn told(config: &toml::Table, options: &[&str]) -> String {
    stdout(&played(config, &[&["--dry-run"], options].concat(), 0, &[]))
}

/// On the repositories that are here, instead of those that a user fetches.
fn on_tiny_repositories(config: toml::Table) -> toml::Table {
    let tiny = "
        repositories.training = ['task-corpus/tiny_repositories/validation']
        repositories.validation = []
        repositories.held_out = []
        bugs.training = ['task-corpus/tiny_repositories/validation.jsonl.zst']
        bugs.validation = []
        bugs.held_out = []
    ";
    with(config, tiny)
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

    /// Fails if it is more than a card of 80 GB has, with a tenth that predictions leave out.
    #[track_caller]
    fn fits_a_card(&self) {
        let worst = self.weights + self.training.max(self.rollouts);
        assert!(1.1 * worst * f64::from(1 << 30) < 80e9, "{self:?}");
    }
}

/// What a dry run says of a recipe on a model of its shape, without the weights. The figures are those of `docs/evaluating.md`.
fn told_on_shape(config: toml::Table, is_large: bool) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_shape(dir.path(), is_large);
    let config = with(config, &format!("model = '{}'", dir.path().display()));
    let said = told(&config, &["--device", "cpu-portable", "--precision", "bf16"]);
    let page = include_str!("../../../docs/evaluating.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let documented = |text: String| assert!(page.contains(&text), "docs/evaluating.md has no `{text}`");
    let (card, cpu) = (ToldMemory::parse(&said), ToldMemory::parse(&told(&config, &[])));
    card.fits_a_card();
    let (on_card, on_cpu) = (card.weights + card.training, cpu.weights + cpu.training);
    if is_large {
        let ToldMemory { weights, training, rollouts } = card;
        let parts =
            format!("{weights:.1} for weights, and {training:.1} for training, before which rollouts take up to");
        documented(format!("each recipe of 7B takes {on_card:.0} GiB in bf16 ({parts} {rollouts:.0})"));
        documented(format!("on the CPU, in f32, they take {on_cpu:.0} and "));
    } else {
        let fits = "in training, so that each is predicted to fit a card of 80 GB";
        documented(format!("and that of 1.5B takes {on_card:.0} {fits}"));
        documented(format!(" and {on_cpu:.0}. `play` refuses"));
    }
    says(&said, &["GiB for training", "has no weights to play with"]);
    said
}

/// The recipe of Absolute Zero, with tasks that are here.
fn shipped_absolute_zero_recipe() -> toml::Table {
    let mut config = configuration("absolute-zero-7b.toml");
    config["tasks"].as_table_mut().expect("a table").remove("eval_programs");
    with(config, "tasks.eval_mix = 'natural'\neval.tasks = 2")
}

/// The same on sequences as long as the model's context, as the other recipes are.
fn absolute_zero_recipe() -> toml::Table {
    let long = "learn.options.max_length = 32768\nlearn.options.micro_tokens = 16384\nlearn.options.rollout_rows = 64";
    with(shipped_absolute_zero_recipe(), long)
}

/// The recipe of Sol-Ver, with snippets and problems that are here.
fn sol_ver_recipe() -> toml::Table {
    let keys = "
        tasks.snippets = {from = 'folder', path = 'task-corpus/environments', min_chars = 80, max_chars = 4000}
        eval.tasks = 4
    ";
    let mut config = configuration("sol-ver-qwen.toml");
    let tasks = config["tasks"].as_table_mut().expect("a table");
    tasks.remove("snippets");
    tasks.insert("problems".to_owned(), configuration("sol-ver-quickstart.toml")["tasks"]["problems"].clone());
    with(config, keys)
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
fn the_recipe_of_absolute_zero_fits_a_card_as_it_is_and_its_time_is_estimated() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_shape(dir.path(), true);
    let config = with(shipped_absolute_zero_recipe(), &format!("model = '{}'", dir.path().display()));
    let said = told(&config, &["--device", "cpu-portable", "--precision", "bf16", "--card", "h100"]);
    ToldMemory::parse(&said).fits_a_card();
    // 192 proposals and 1,536 attempts of 7.07 billion parameters, 238 rows at a time.
    let short = "time: 3344.9 s a step where all sequences are a tenth as long as they may be (rollouts 280.6, training 3063.9, judging 0.4), 19.4 days for 500 steps";
    says(
        &said,
        &[
            "time: estimated for bf16 on `h100`, where it samples and trains in turns",
            short,
            "time: 47952.3 s a step where all sequences are as long",
        ],
    );
}

#[test]
fn the_recipes_of_absolute_zero_differ_in_the_model_alone() {
    let [small, middle, large] = ["1.5b", "3b", "7b"].map(|size| {
        let mut config = configuration(&format!("absolute-zero-{size}.toml"));
        let model = config.remove("model").expect("a model");
        assert_eq!(model.as_str().map(str::to_lowercase), Some(format!("qwen/qwen2.5-coder-{size}")));
        config
    });
    assert_eq!((&small, &middle), (&large, &large));
}

#[test]
fn a_dry_run_without_the_model_shows_the_prompts_and_fails() {
    for (recipe, prompt) in [(absolute_zero_recipe(), "--- proposer, induction"), (sol_ver_recipe(), "--- verifier")] {
        says(&stdout(&played(&recipe, &["--dry-run"], 5, &["error: "])), &["memory: not known", prompt]);
    }
}

/// On a model that is here, instead of one that is fetched. A dry run samples nothing.
fn on_built_in_model(name: &str) -> toml::Table {
    with(configuration(name), "model = 'builtin:tiny'")
}

#[test]
fn configurations_for_a_small_checkpoint_show_answered_examples() {
    let suites = "eval = {suites = ['cruxeval-o=Cargo.toml'], every = 5, limit = 50}";
    let said = told(&with(on_built_in_model("smollm2-sol-ver.toml"), suites), &[]);
    says(&said, &["game `sol_ver`, 10 steps", "--- proposer", "Assistant: ```python\ndef f(", "Assistant: assert f("]);
    says(&said, &["suites `cruxeval-o=Cargo.toml`, the first 50 tasks of each: before, every 5 steps and after"]);
    let said = told(&on_tiny_repositories(on_built_in_model("smollm2-bug-repair.toml")), &[]);
    says(&said, &["--- injector, direct", "Put a bug into the function", "--- solver", "\nassert f("]);
    assert_eq!(said.matches("Assistant: ```python").count(), 2 * 3, "{said}");
    let said = told(&on_built_in_model("smollm2-self-challenge.toml"), &[]);
    says(&said, &["--- challenger", "User: Use `", "\n# wrong\n", "--- executor", "answer("]);
    assert_eq!(said.matches("Assistant: ```python").count(), 2 * 3, "{said}");
}

#[test]
fn a_configuration_that_measures_on_a_published_file_finds_as_many_tasks_there_as_it_asks_for() {
    let Some(path) = published_file("cruxeval.jsonl") else { return };
    let path = path.canonicalize().expect("it is there");
    let programs = format!("tasks.eval_programs = '{}'", path.display());
    let said = told(&with(on_built_in_model("absolute-zero-7b.toml"), &programs), &[]);
    says(&said, &["game `absolute_zero`", "--- solver, induction"]);
}

#[test]
fn a_quickstart_says_what_it_would_do_with_its_own_model() {
    let bugs = on_tiny_repositories(configuration("bug-repair-quickstart.toml"));
    for (config, words) in [
        (configuration("sol-ver-quickstart.toml"), ["<SNIPPET>def f(x):", "<PROBLEM>", "<TESTS>"]),
        (bugs, ["<INJECT>", "<BUG>def f(x):", "<FIX>"]),
        (small_self_challenge(), ["<MAKE>", "<DO>", "<CODE>"]),
    ] {
        let said = told(&config, &[]);
        says(&said, &["memory: about"]);
        says(&said, &words);
    }
}

/// Sol-Ver's quickstart, made small.
pub(crate) fn small_sol_ver() -> toml::Table {
    let small = "
        steps = 4
        checkpoint_every = 2
        game = {problems = 12, group_size = 8, suites = 4}
        agreement = {min_codes = 2, min_tests = 1}
        tasks.snippets.count = 200
        eval.tasks = 4
    ";
    with(configuration("sol-ver-quickstart.toml"), small)
}

/// Self-Challenging's quickstart, made small.
pub(crate) fn small_self_challenge() -> toml::Table {
    let small = "
        steps = 4
        checkpoint_every = 2
        game = {challenges_per_step = 6, tasks_per_step = 4, group_size = 4, sft_challenges = 8}
        tasks.given = 10
        eval.tasks = 2
    ";
    with(configuration("self-challenge-quickstart.toml"), small)
}

/// The repair of bugs in a small repository by a model that cannot do it, made small.
pub(crate) fn small_bug_repair() -> toml::Table {
    let mut config = on_tiny_repositories(configuration("bug-repair-qwen.toml"));
    config.insert("learn".to_owned(), configuration("sol-ver-quickstart.toml")["learn"].clone());
    let small = "
        model = 'builtin:tiny'
        steps = 3
        checkpoint_every = 2
        [game]
        format = 'compact'
        test_command = 'veriplay'
        weakening = 'derived'
        modes = ['direct']
        tasks_per_step = 2
        group_size = 2
        injections_per_step = 1
        mutants_per_step = 1
        higher_order_per_step = 0
        solver_max_tokens = 24
        proposer_max_tokens = 24
        solver_budget.prompt_chars = 400
        injector_budget.prompt_chars = 400
        injection_share = 0.5
        mutant_share = 0.0
        higher_order_share = 0.0
    ";
    with(config, small)
}

/// As [`survives`], of four steps of which every second one is evaluated.
fn survives_with_evaluations(config: toml::Table) {
    let (dir, _) = survives(&with(config, "eval.tasks_every = 2"), &[1, 3]);
    let events = std::fs::read_to_string(dir.path().join("whole/events.jsonl")).expect("the log can be read");
    let measured = rows(&events).into_iter().map(|event| event["validation"]["mean"]["pass8"].is_number());
    assert_eq!(measured.collect::<Vec<_>>(), [false, true, false, true]);
}

#[test]
fn evaluations_in_a_run_without_a_validation_set_are_refused() {
    let said = ["the validation set of this configuration has no task"];
    played(&with(small_bug_repair(), "eval.tasks_every = 2"), &["--dry-run"], 3, &said);
}

#[test]
fn sol_ver_resumes_to_the_same_bytes_and_replays() {
    survives_with_evaluations(small_sol_ver());
}

#[test]
fn a_run_whose_proposer_is_the_start_model_and_that_searches_for_a_temperature_resumes_to_the_same_bytes() {
    // Two of each type beside those that are given.
    let keys = "proposer_model = 'start'\ngame = {proposer = 'frozen', seed_proposals = 14}";
    let search = "temperatures = [0.7, 1.0]\nevery = 3\nmeasured_steps = 2\nright_answers = 2";
    let config = with(with(small_config(), keys), &format!("[game.temperature_search]\n{search}"));
    let (dir, _) = survives(&config, &[1, 3]);
    let events = std::fs::read_to_string(dir.path().join("whole/events.jsonl")).expect("the log can be read");
    let scored = rows(&events).into_iter().map(|event| event["play/search_score/0.7"].is_number());
    assert_eq!(scored.collect::<Vec<_>>(), [false, true, false, false, true]);
}

#[test]
fn executors_of_tasks_that_the_start_model_made_resume_to_the_same_bytes() {
    let keys = "
        game = {proposer = 'none', sft_challenges = 0, sft_samples = 0, seed_proposals = 6, learn_from = 'successes'}
        tasks.given = 0
    ";
    let (_dir, summary) = survives(&with(small_self_challenge(), keys), &[1, 3]);
    assert!(summary["valid_proposal_rate"].is_null(), "{summary}");
}

#[test]
fn pairs_that_are_held_to_the_imitating_model_resume_to_the_same_bytes() {
    survives(&with(small_sol_ver(), "game.dpo_reference = 'sft'"), &[1, 3]);
}

#[test]
fn loops_that_keep_trials_or_read_documents_resume_to_the_same_bytes() {
    let soar = "
        plays = 'soar'
        game.fresh_fraction = 0.0
        soar = {batches = 2, tasks_per_batch = 2, updates = 1, measured_tasks = 4, promote_above = 0.0}
    ";
    survives(&with(small_config(), soar), &[1, 3]);
    let spice = "
        plays = 'spice'
        game = {task_types = ['induction'], reward = 'spice'}
        spice.documents = ['builtin:tiny_repositories/train']
    ";
    survives(&with(small_config(), spice), &[1, 3]);
}

/// Fails unless a run that learns from pairs makes some, and resumes.
fn survives_with_pairs(keys: &str) {
    let (dir, _) = survives(&with(small_config(), keys), &[1, 3]);
    let events = std::fs::read_to_string(dir.path().join("whole/events.jsonl")).expect("the log can be read");
    let pairs: f64 = rows(&events).iter().filter_map(|event| event["play/preference_pairs"].as_f64()).sum();
    assert!(pairs > 0.0 && events.contains("actor/preference_margin"), "{events}");
}

#[test]
fn runs_that_learn_from_pairs_of_attempts_and_of_answers_resume_to_the_same_bytes() {
    survives_with_pairs("game.learn_from = 'pairs'");
    let answers = "
        game = {learn_from = 'answer_pairs', answer_weight = 0.5, pairs_per_prompt = 2}
        learn.preference = {kind = 'spin', lambda = 0.5}
    ";
    survives_with_pairs(answers);
}

#[test]
fn a_run_with_credit_for_tokens_and_waypoints_resumes_to_the_same_bytes() {
    let keys = "game = {privileged_credit = 0.1, waypoint_credit = 0.3}";
    let (dir, _) = survives(&with(small_config(), keys), &[1, 3]);
    let events = std::fs::read_to_string(dir.path().join("whole/events.jsonl")).expect("the log can be read");
    assert!(events.contains("play/privileged_gain"), "{events}");
    for key in ["privileged_credit", "waypoint_credit"] {
        let config = with(small_config(), &format!("game.{key} = 0.1\nlearn.loss.kind = 'rft'"));
        played(&config, &[], 3, &[&format!("`game.{key}` is `0.1`: it must be 0 under the loss `rft`")]);
    }
}

/// With more than one update in a step: else a step learns one batch, whatever was kept.
fn trained_from_start(dpo_reference: &str) -> toml::Table {
    let keys = "
        game = {sft = {batch = 4, max_updates = 8}, dpo = {batch = 4, max_updates = 8}, train_from = 'start'}
        learn = {shape = 'constant', warmup_steps = 0}
    ";
    with(with(small_sol_ver(), keys), &format!("game.dpo_reference = '{dpo_reference}'"))
}

/// Fails unless a run whose start model has other weights by now is refused, with both digests.
fn assert_other_weights_are_refused(run: &Path, model: &Path) {
    let path = model.join("model.safetensors");
    let mut bytes = std::fs::read(&path).expect("the weights are there");
    // Part of a weight.
    *bytes.last_mut().expect("a byte") ^= 1;
    std::fs::write(&path, bytes).expect("they are written");
    let said = ["has weights of digest ", "and the run's steps began with those of ", "hint: let `model`"];
    ended(veriplay().current_dir(root()).args(["play", "--resume"]).arg(run), 3, &said);
}

#[test]
fn runs_that_train_the_start_model_in_each_step_resume_to_the_same_bytes() {
    let model = tempfile::tempdir().expect("a temporary directory");
    copy_model("sol-ver", model.path());
    let config = with(trained_from_start("sft"), &format!("model = '{}'", model.path().display()));
    let (dir, _) = survives(&config, &[1, 3]);
    assert_other_weights_are_refused(&dir.path().join("whole"), model.path());
}

#[test]
fn adapters_of_the_start_model_are_trained_anew_in_each_step() {
    let lora = "learn.lora = {rank = 2, alpha = 4.0, target_modules = ['q_proj'], seed = 1}\ngame.objective = 'sft'";
    survives(&with(trained_from_start("sampler"), lora), &[1, 3]);
}

#[test]
fn tiers_of_tests_are_refused_under_a_loss_that_takes_every_rewarded_code_for_right() {
    let keys = "
        game = {objective = 'policy_gradient', reward = 'failure_rate', advantage = 'dr_grpo'}
        learn.loss.kind = 'nft'
    ";
    let tiers = "game.tiers = {weights = [1.0, 1.0, 1.0, 1.0], order = 'easy_first', steps = 4}";
    let config = with(with(small_sol_ver(), keys), tiers);
    played(&config, &["--dry-run"], 3, &["`learn.loss.kind` is `nft`: it must be another loss"]);
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
fn texts<'a>(record: &'a Value, found: &mut Vec<&'a str>) {
    match record {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(items) => items.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// On the old configuration, whose list of repositories knew no training, 16 of 32 injections and 5 of 16 mutants of such a step were
/// in functions that are measured.
#[test]
fn no_site_prompt_or_proposal_of_bug_repairs_quickstart_is_about_a_function_that_is_measured() {
    let keys = "
        steps = 1
        game = {tasks_per_step = 8, group_size = 2, injections_per_step = 32, mutants_per_step = 16}
        eval.tasks = 1
    ";
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = write_config(dir.path(), &with(configuration("bug-repair-quickstart.toml"), keys));
    let (mut play, run) = (veriplay(), dir.path().join("run"));
    play.current_dir(root()).args(["play", "--json", "--config"]).arg(path).arg("--out").arg(&run);
    let output = succeeded(&mut play);
    assert!(last_json(&output)["proposals_in_held_out"].is_u64());
    let events = std::fs::read_to_string(run.join("events.jsonl")).expect("the events are there");
    says(&events, &["\"play/proposals_in_held_out\":"]);
    let measured: BTreeSet<Digest> = ["validation", "held-out"].into_iter().flat_map(functions_in).collect();
    let training: BTreeSet<Digest> = ["train", "train-2", "train-3"].into_iter().flat_map(functions_in).collect();
    assert!(measured.len() > 390 && training.is_disjoint(&measured));
    let log = std::fs::File::open(run.join("rollouts.jsonl.zst")).expect("the log is there");
    let log = zstd::decode_all(log).expect("the log is zstd");
    let (mut seen, mut sites) = (0, 0);
    for record in rows(&String::from_utf8(log).expect("a text")) {
        if let Some(injection) = record.get("proposal") {
            sites += 1;
            let prompt = injection["episode"]["turns"][0]["prompt"].as_str().expect("a prompt");
            let code = prompt.trim_start_matches("<CODE>").trim_end_matches("<INJECT>");
            let site = functions_of(code);
            assert!(!site.is_empty() && site.iter().all(|function| training.contains(function)), "{prompt}");
        }
        let kind = record.as_object().and_then(|kinds| kinds.values().next()).expect("a kind");
        let was_measured = kind["judged"]["verdict"]["Ok"]["evidence"]["rule"] == "held_out";
        let mut found = Vec::new();
        // What was refused as measured is logged, and nothing else may hold it. What a solver answers is no proposal.
        if !was_measured && record.get("task").is_none() {
            texts(&record, &mut found);
        }
        let attempts = record["task"]["attempts"].as_array().into_iter().flatten();
        let turns = attempts.flat_map(|attempt| attempt["episode"]["turns"].as_array().expect("turns"));
        found.extend(turns.map(|turn| turn["prompt"].as_str().expect("a prompt")));
        for part in found.iter().flat_map(|text| text.split(['<', '>'])) {
            seen += 1;
            assert!(functions_of(part).iter().all(|function| !measured.contains(function)), "{part}");
        }
    }
    assert!(sites == 32 && seen > 100, "{sites} sites, {seen} texts");
}

#[test]
fn a_copy_of_a_measured_repository_is_refused_by_the_functions_in_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let copy = dir.path().join("copy");
    for (folder, file, text) in [
        ("tiny", "__init__.py", ""),
        ("tiny", "a.py", "def g(value):\n    # by hand\n    return value[1:]+value[:1]\n"),
        ("tests", "test_a.py", "from tiny.a import g\n\n\ndef test_g():\n    assert g([1, 2]) == [2, 1]\n"),
    ] {
        std::fs::create_dir_all(copy.join(folder)).expect("a folder");
        std::fs::write(copy.join(folder).join(file), text).expect("a file");
    }
    let keys = format!("repositories = {{training = ['{}'], validation = []}}", copy.display());
    let others = "
        repositories.held_out = ['task-corpus/tiny_repositories/train']
        bugs = {training = [], validation = [], held_out = []}
    ";
    let config = with(with(configuration("bug-repair-quickstart.toml"), &keys), others);
    let functions = "set: `f` of `train/tiny/m000.py`";
    let said = ["`tiny/a.py` of repository `copy`", functions, "held_out", "hint: remove it"];
    played(&config, &["--dry-run"], 3, &said);
}
