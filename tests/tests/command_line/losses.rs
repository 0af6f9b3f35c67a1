//! The keys that may be left out: a run with all of them, stopped and resumed, and what they may not be.

use super::commands::{events, fails, play, read, small_with};
use super::games::small_sol_ver;
use super::resume::survives;
use super::{played, says, small_config, stdout, with};

/// The quickstart's configuration made small, with everything that stands in it as a comment, and values other than the defaults.
fn everything() -> toml::Table {
    let text = include_str!("../../../configs/quickstart.toml");
    let is_key =
        |rest: &str| rest.starts_with('[') || rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
    let shown = |line: &'static str| line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line);
    let whole: Vec<&str> = text.lines().map(shown).collect();
    let mut config: toml::Table = whole.join("\n").parse().expect("the comments are TOML too");
    merge(&mut config, small_config());
    let changed = r#"
        [game]
        reward = "ssr"
        advantage = "rae"
        aggregation = "sequence_mean"
        zero_advantage = "keep"
        [learn]
        device = "cpu"
        precision = "f32"
        [learn.kl]
        coefficient = 0.01
        [learn.correction]
        cap = 2.0
        mask = { ratio = "geometric", low = 0.5, high = 2.0 }
        [learn.options.segments]
        layers = 2
    "#;
    merge(&mut config, changed.parse().expect("TOML"));
    config
}

pub(super) fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => merge(into, from),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

#[test]
fn a_run_with_every_optional_key_resumes_to_the_same_bytes() {
    // It dies behind the checkpoint of step 2.
    let (dir, _) = survives(&everything(), &[4]);
    let whole = dir.path().join("whole");
    for line in read(whole.join("events.jsonl")).lines() {
        says(line, &["actor/pg_clipfrac", "actor/ppo_kl", "actor/kl_loss", "rollout_corr/kl"]);
    }
    let adapters = ["proposer", "solver"]
        .map(|role| std::fs::read(whole.join("checkpoints/step_5").join(role).join("adapter_model.safetensors")));
    let [proposer, solver] = adapters.map(|bytes| bytes.expect("each role has adapters"));
    assert_ne!(proposer, solver);
    says(&read(whole.join("checkpoints/step_5/play.json")), &["baselines", "\"proposed\""]);
}

#[test]
fn a_killed_run_trains_on_the_same_attempts_again() {
    let keys = "[game]\nself_imitation = { min_advantage = 0.0, warmup_steps = 2 }\n[learn.loss]\nkind = \"ppo_clip\"";
    // It dies behind the checkpoint of step 2, which has what steps 0 and 1 kept.
    let (dir, _) = survives(&small_with(keys), &[4]);
    let whole = dir.path().join("whole");
    let events = events(&whole);
    let again: Vec<f64> = events.iter().filter_map(|step| step["play/self_imitation_attempts"].as_f64()).collect();
    assert!(again.len() == 5 && again[0] == 0.0 && again[3] > 0.0, "{again:?}");
    says(&read(whole.join("checkpoints/step_5/play.json")), &["kept_attempts"]);
}

#[test]
fn adapters_of_each_role_are_told_and_refused_where_roles_do_not_learn_apart() {
    let lora = "[learn.lora]\nrank = 2\nalpha = 4.0\ntarget_modules = [\"q_proj\"]\nper_role = true";
    for (keys, wanted) in [
        ("game.proposer = 'frozen'", "`learn.lora.per_role` is `true`: it must be false, because one role learns"),
        ("game.learn_from = 'pairs'", "pairs do not say whose responses they are"),
        ("model = 'stdio'", "your trainer has the weights"),
    ] {
        played(&small_with(&format!("{keys}\n{lora}")), &["--dry-run"], 3, &[wanted]);
    }
    let told = stdout(&played(&small_with(lora), &["--dry-run"], 0, &[]));
    says(&told, &["each of `solver`, `proposer` has adapters of its own beside one base"]);
    played(&with(small_sol_ver(), lora), &["--dry-run"], 3, &["`game.objective = \"policy_gradient\"`"]);
    let rewarded =
        "game = {objective = 'policy_gradient', reward = 'failure_rate', advantage = 'dr_grpo', proposer_weight = 0.1}";
    let with_verifiers = with(with(small_sol_ver(), rewarded), lora);
    let told = stdout(&played(&with_verifiers, &["--dry-run"], 0, &[]));
    says(&told, &["each of `solver`, `proposer`, `verifier` has adapters of its own beside one base"]);
}

#[test]
fn optional_keys_that_make_no_sense_are_told() {
    let cases = [
        ("[learn.loss]\nkind = \"dpo\"", "dpo"),
        ("[learn.loss]\nkind = \"ppo_clip\"\ncap = 2.0", "cap"),
        ("[learn.kl]\ncoefficient = 0.1\nestimator = \"k1\"\nplace = \"loss\"", "k1"),
        ("[learn.lora]\nrank = 0\nalpha = 1.0\ntarget_modules = [\"q_proj\"]", "lora.rank"),
        ("[learn.options.segments]\nlayers = 0\nlogit_rows = 1", "`learn.options.segments.layers`"),
        ("[learn.options]\nclip_norm = 0.0", "configuration key `learn.options.clip_norm` is `0`"),
        ("[learn.options.optimizer]\nbeta1 = 1.5", "`learn.options.optimizer.beta1`"),
        ("[learn.options.optimizer]\nkind = \"muon\"", "unknown key `learn.options.optimizer.beta1`"),
        ("[game]\nsolver_temperature = 0.7\n[learn.loss]\nkind = \"ppo_clip\"", "game.solver_temperature"),
        ("[game]\nproposer_temperature = 0.0\n[learn.loss]\nkind = \"cispo\"", "game.proposer_temperature"),
        ("[game]\nsolver_temperature = 0.7\n[learn.correction]\ncap = 2.0", "it must be 1 under `[learn.correction]`"),
        ("[learn.correction]\ncap = 0.0", "`learn.correction.cap` is `0`"),
        (
            "[learn.correction.mask]\nratio = \"product\"\nlow = 0.5\nhigh = 0.9",
            "`learn.correction.mask.high` is `0.9`",
        ),
        (
            "[game.temperature_search]\ntemperatures = [1.0, 0.7]\nevery = 4\nmeasured_steps = 1\nright_answers = 2\n\
             [learn.loss]\nkind = \"ppo_clip\"",
            "`game.temperature_search` is `0.7`",
        ),
        ("[game]\ntop_k = 5\n[learn.loss]\nkind = \"ppo_clip\"", "game.top_k"),
        ("[game]\ntop_p = 0.9\n[learn.loss]\nkind = \"ppo_clip\"", "game.top_p"),
        ("[game]\nmin_p = 0.1\n[learn.kl]\ncoefficient = 0.1\nestimator = \"k1\"\nplace = \"reward\"", "game.min_p"),
        ("[game]\naggregation = \"mean\"", "aggregation"),
        ("game.self_imitation.capacity = 0\nlearn.loss.kind = \"ppo_clip\"", "`game.self_imitation.capacity` is `0`"),
        ("[game.self_imitation]\nmax_age = 9", "`learn.loss.kind` is `policy_gradient`: it must be `ppo_clip`"),
    ];
    for (keys, wanted) in cases {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fails(&mut play(&small_with(keys), dir.path()), 3, &[wanted]);
    }
}
