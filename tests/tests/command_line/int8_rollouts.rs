//! A run whose rollouts are sampled in 8-bit integers.

use super::commands::{events, fails, play, small_with};
use super::losses::merge;
use super::resume::survives;

fn config(keys: &str) -> toml::Table {
    let mut config = small_with("[learn]\nrollout_precision = \"int8\"\nlearning_rate = 3e-3\nwarmup_steps = 0");
    merge(&mut config, keys.parse().expect("TOML"));
    config
}

#[test]
fn a_run_is_sampled_by_the_quantised_policy_and_resumes_to_the_same_bytes() {
    let (dir, _) = survives(&config("[learn.correction]\ncap = 2.0"), &[1, 3]);
    for event in events(&dir.path().join("whole")) {
        let apart = event["loss_terms"]["rollout_corr/logprob_abs_diff_mean"].as_f64();
        let apart = apart.unwrap_or_else(|| panic!("no difference in {event}"));
        assert!((1e-4..0.1).contains(&apart), "the policy of the step, quantised: {apart}");
    }
}

#[test]
fn what_takes_quantised_log_probabilities_for_the_learners_is_refused_by_its_key() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let corrected = |keys: &str| format!("learn.correction.cap = 2.0\n{keys}");
    let server = "[rollout_server]\nurl = \"http://127.0.0.1:1\"\nprotocol = \"vllm\"\nfolder = \"/tmp\"";
    for (keys, wanted) in [
        (String::new(), ["`learn.loss.kind` is `policy_gradient`", "where `learn.rollout_precision` is `int8`"]),
        ("[learn.correction]".to_owned(), ["`learn.loss.kind` is `policy_gradient`", "`learn.correction.cap` set"]),
        (
            corrected("learn.kl = { coefficient = 0.1, estimator = \"k1\", place = \"reward\" }"),
            ["`learn.kl.place` is `reward`", "where `learn.rollout_precision` is `int8`"],
        ),
        (
            corrected("learn.device = \"cpu-portable\""),
            ["`learn.rollout_precision` is `int8`", "left out on device `cpu-portable`"],
        ),
        (corrected(server), ["`learn.rollout_precision` is `int8`", "the server samples"]),
        (corrected("model = \"stdio\""), ["`learn.rollout_precision` is `int8`", "your trainer samples"]),
        (
            corrected("game.learn_from = \"pairs\""),
            ["`learn.rollout_precision` is `int8`", "learns by a loss over pairs"],
        ),
        ("learn.rollout_precision = \"int4\"".to_owned(), ["`int4`", "`int8`"]),
    ] {
        fails(&mut play(&config(&keys), dir.path()), 3, &wanted);
    }
}
