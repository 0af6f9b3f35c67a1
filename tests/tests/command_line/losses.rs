//! The keys that may be left out: a run with all of them, stopped and resumed, and what they may not be.

use std::path::Path;

use super::{finished, small_config, stderr, succeeded, veriplay, write_config};

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

fn play(config: &Path, out: &Path) {
    succeeded(veriplay().arg("play").arg("--config").arg(config).arg("--out").arg(out));
}

#[test]
fn a_run_with_every_optional_key_resumes_to_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), &everything());
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    play(&config, &whole);
    play(&config, &broken);
    // As a process that died between the checkpoint of step 2 and that of step 4 left it.
    for lost in ["checkpoints/step_4", "checkpoints/step_5"] {
        std::fs::remove_dir_all(broken.join(lost)).expect("it was there");
    }
    std::fs::remove_file(broken.join("after.json")).expect("it was there");
    succeeded(veriplay().arg("play").arg("--resume").arg(&broken));
    super::resume::assert_same(&whole, &broken);

    let events = std::fs::read_to_string(whole.join("events.jsonl")).expect("readable");
    for term in ["actor/pg_clipfrac", "actor/ppo_kl", "actor/kl_loss"] {
        assert!(events.lines().all(|line| line.contains(term)), "{term}");
    }
    assert!(whole.join("checkpoints/step_5/adapter_model.safetensors").is_file());
    assert!(
        std::fs::read_to_string(whole.join("checkpoints/step_5/play.json")).expect("readable").contains("baselines")
    );
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
        ("[game]\nproposer_temperature = 0.0\n[learn.loss]\nkind = \"tis\"", "game.proposer_temperature"),
        ("[game]\ntop_k = 5\n[learn.loss]\nkind = \"ppo_clip\"", "game.top_k"),
        ("[game]\ntop_p = 0.9\n[learn.loss]\nkind = \"ppo_clip\"", "game.top_p"),
        ("[game]\nmin_p = 0.1\n[learn.kl]\ncoefficient = 0.1\nestimator = \"k1\"\nplace = \"reward\"", "game.min_p"),
        ("[game]\naggregation = \"mean\"", "aggregation"),
    ];
    for (text, word) in cases {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut config = small_config();
        merge(&mut config, text.parse().expect("TOML"));
        let path = write_config(dir.path(), &config);
        let output =
            finished(veriplay().arg("play").arg("--config").arg(&path).arg("--out").arg(dir.path().join("run")));
        assert_eq!(output.status.code(), Some(3), "{text}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{text}: {}", stderr(&output));
    }
}
