//! A run whose rollouts a server samples: it trains on what the server says, and survives its loss.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::commands::{events, fails, play, read_log, resume, section, small_with};
use super::completions_server::{Act, Server, ServerKind};
use super::losses::merge;
use super::{finished, last_json, says, stderr, stdout, succeeded};

/// The small configuration with rollouts by `server`, and a rate at which each step changes the weights: of adapters, where the protocol takes them.
fn config(server: &Server, protocol: &str, folder: &Path) -> toml::Table {
    let mut config = small_with(&format!(
        "[rollout_server]\nurl = \"{}\"\nprotocol = \"{protocol}\"\nfolder = \"{}\"\n[learn]\nlearning_rate = 3e-3\n\
         warmup_steps = 0\n[learn.correction]\ncap = 2.0",
        server.url,
        folder.display()
    ));
    if protocol == "vllm" {
        let lora = "[learn.lora]\nrank = 4\nalpha = 8.0\ntarget_modules = [\"q_proj\", \"down_proj\"]\nseed = 1";
        merge(&mut config, lora.parse().expect("TOML"));
    }
    config
}

#[test]
fn each_step_is_sampled_from_the_weights_of_the_one_before() {
    let ways = [
        (ServerKind::Vllm, "vllm", "adapters"),
        (ServerKind::Vllm, "vllm", "adapters of each role"),
        (ServerKind::Vllm, "vllm", "weights"),
        (ServerKind::Sglang, "sglang", "weights"),
    ];
    for (kind, protocol, given) in ways {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let server = Server::start(kind, |_, _| Act::Answer);
        let mut config = config(&server, protocol, &dir.path().join("handed-over"));
        let per_role = given == "adapters of each role";
        if per_role {
            merge(&mut config, "learn.lora.per_role = true".parse().expect("TOML"));
        }
        if (protocol, given) == ("vllm", "weights") {
            section(&mut config, "learn").remove("lora").expect("it was there");
            merge(&mut config, "rollout_server.sleep = true".parse().expect("TOML"));
        }
        let summary = last_json(&succeeded(play(&config, dir.path()).args(["--json", "--steps", "3"])));
        assert_eq!((&summary["steps"], &summary["dropped"]), (&3.into(), &0.into()));
        for event in events(&dir.path().join("run")) {
            let apart = event["loss_terms"]["rollout_corr/logprob_abs_diff_max"].as_f64();
            let apart = apart.unwrap_or_else(|| panic!("no difference in {event}"));
            assert!(apart < 1e-3, "{protocol}: the server sampled from other weights: {apart}");
        }
        // The start's, and each step's; of the proposer all but the last, which is evaluated.
        let loads = ["/v1/load_lora_adapter", "/collective_rpc", "/update_weights_from_disk"];
        let asked = |paths: &[&str]| server.seen().iter().filter(|one| paths.contains(&&*one.path)).count();
        assert_eq!(asked(&loads), if per_role { 7 } else { 4 });
        if (protocol, given) == ("vllm", "weights") {
            // Once more to see what is free without it, before the model is loaded.
            assert_eq!((asked(&["/wake_up"]), asked(&["/sleep?level=1"])), (5, 4));
        }
        assert_eq!(std::fs::read_dir(dir.path().join("handed-over")).expect("a folder").count(), 0);
        let dry = tempfile::tempdir().expect("a temporary directory");
        let told = stdout(&succeeded(play(&config, dry.path()).arg("--dry-run")));
        says(&told, &[&format!("sampled by the server at `{}` ({protocol})", server.url)]);
    }
}

/// A run of three steps whose updates change no weight, and how many requests for samples its server had got when each version of the weights came.
fn play_without_learning(steps_ahead: u64, per_role: bool) -> (Vec<Value>, String, BTreeMap<u64, usize>) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let mut config = config(&server, "vllm", &dir.path().join("handed-over"));
    let keys = format!(
        "steps = 3\ncheckpoint_every = 100\nsteps_ahead = {steps_ahead}\nlearn.learning_rate = 1e-30\nlearn.lora.per_role = {per_role}"
    );
    merge(&mut config, keys.parse().expect("TOML"));
    succeeded(&mut play(&config, dir.path()));
    let (mut samples, mut before) = (0, BTreeMap::new());
    for one in server.seen() {
        samples += usize::from(one.path == "/v1/completions");
        let name = one.body["lora_name"].as_str().filter(|_| one.path == "/v1/load_lora_adapter").unwrap_or_default();
        let version = name.rsplit("-v").next().and_then(|end| end.split('-').next()?.parse().ok());
        version.map(|version| before.insert(version, samples));
    }
    let run = dir.path().join("run");
    (events(&run), read_log(&run), before)
}

#[test]
fn a_run_that_samples_ahead_differs_by_versions_alone_where_updates_change_nothing() {
    for per_role in [false, true] {
        let (events, log, in_turns) = play_without_learning(0, per_role);
        let (mut events_ahead, log_ahead, ahead) = play_without_learning(1, per_role);
        let lags: Vec<Option<u64>> = events_ahead.iter().map(|event| event["rollout/lag"].as_u64()).collect();
        assert_eq!(lags, [Some(0), Some(1), Some(1)]);
        let objects = events_ahead.iter_mut().filter_map(Value::as_object_mut);
        objects.for_each(|event| event.retain(|key, _| !key.starts_with("rollout/")));
        assert_eq!(events, events_ahead);
        assert!(log == log_ahead, "the rollouts differ");
        // Nobody samples the weights behind the second update, by which a fourth step would be played. The last evaluation has those behind the third.
        assert_eq!(in_turns.keys().collect::<Vec<_>>(), [&0, &1, &2, &3]);
        assert_eq!(ahead.keys().collect::<Vec<_>>(), [&0, &1, &3]);
        assert_eq!(
            ahead[&1], in_turns[&2],
            "the second step was sampled before the weights of the first one's update came"
        );
        assert_eq!(ahead[&3], in_turns[&3]);
    }
}

#[test]
fn a_server_that_fails_in_a_step_costs_that_step_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (refuses_third, is_third) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let is_other = Arc::new(AtomicBool::new(false));
    let script = {
        let (refuses_third, is_other) = (Arc::clone(&refuses_third), Arc::clone(&is_other));
        move |body: &Value, _| {
            // From the weights of the second step on.
            let name = body["lora_name"].as_str().or(body["model"].as_str()).unwrap_or_default();
            is_third.fetch_or(name.contains("-v2-"), Ordering::Relaxed);
            if is_other.load(Ordering::Relaxed) {
                return Act::Say(404, "", "Not Found".to_owned());
            }
            let refuses = refuses_third.load(Ordering::Relaxed) && is_third.load(Ordering::Relaxed);
            if refuses { Act::Say(401, "", "the key has expired".to_owned()) } else { Act::Answer }
        }
    };
    let server = Server::start(ServerKind::Vllm, script);
    let mut config = config(&server, "vllm", dir.path());
    merge(&mut config, "rollout_server.sleep = true".parse().expect("TOML"));
    config.insert("checkpoint_every".to_owned(), 100.into());
    let run = dir.path().join("run");
    let failed = finished(play(&config, dir.path()).args(["--steps", "3"]));
    assert!(!failed.status.success());
    says(&stderr(&failed), &["the key has expired", "veriplay play --resume"]);
    assert!(run.join("checkpoints/step_2").is_dir(), "the steps before it are saved");
    refuses_third.store(false, Ordering::Relaxed);
    // A server without the requests that the run needs is the server's fault, and none of memory.
    is_other.store(true, Ordering::Relaxed);
    let refused = fails(&mut resume(&run), 3, &["/wake_up`: the server answered 404", "VLLM_SERVER_DEV_MODE=1"]);
    assert!(!refused.contains("out of memory"), "{refused}");
    is_other.store(false, Ordering::Relaxed);
    let summary = last_json(&succeeded(resume(&run).arg("--json")));
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&3.into(), &2.into()));
    assert_eq!(events(&run).len(), 3);
}

#[test]
fn a_server_that_fails_while_a_step_trains_costs_the_next_step_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let refuses = Arc::new(AtomicBool::new(true));
    let script = {
        let refuses = Arc::clone(&refuses);
        move |body: &Value, _| {
            // The weights behind the first update sample the third step.
            let is_third = body["model"].as_str().is_some_and(|name| name.contains("-v1-"));
            let is_refused = is_third && refuses.load(Ordering::Relaxed);
            if is_refused { Act::Say(401, "", "the key has expired".to_owned()) } else { Act::Answer }
        }
    };
    let server = Server::start(ServerKind::Vllm, script);
    let mut config = config(&server, "vllm", dir.path());
    merge(&mut config, "steps = 3\nsteps_ahead = 1\ncheckpoint_every = 100".parse().expect("TOML"));
    let run = dir.path().join("run");
    let failed = finished(&mut play(&config, dir.path()));
    assert!(!failed.status.success());
    says(&stderr(&failed), &["the key has expired", "veriplay play --resume"]);
    assert!(run.join("checkpoints/step_2").is_dir(), "the step that trained is saved, too");
    refuses.store(false, Ordering::Relaxed);
    succeeded(&mut resume(&run));
    let lags: Vec<Option<u64>> = events(&run).iter().map(|event| event["rollout/lag"].as_u64()).collect();
    assert_eq!(
        lags,
        [Some(0), Some(1), Some(0)],
        "a run that goes on samples its first step by the weights of the checkpoint"
    );
}

#[test]
fn what_a_server_cannot_do_is_refused_by_its_key() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let good = config(&server, "vllm", dir.path());
    let without = |key: &str| {
        let mut config = good.clone();
        section(&mut config, "learn").remove(key).expect("it was there");
        config
    };
    let with = |keys: &str| {
        let mut config = good.clone();
        merge(&mut config, keys.parse().expect("TOML"));
        config
    };
    let concurrency = "`rollout_server.concurrency` is `0`: it must be from 1 to 4096";
    for (config, wanted) in [
        (
            with("rollout_server.protocol = \"sglang\"\nrollout_server.sleep = true"),
            ["`rollout_server.sleep` is `true`", "`vllm`"],
        ),
        (with("rollout_server.sleep = true\nsteps_ahead = 1"), ["`steps_ahead` is `1`", "`rollout_server.sleep`"]),
        (
            with("rollout_server.protocol = \"sglang\"\nlearn.lora.per_role = true"),
            ["`learn.lora.per_role` is `true`", "`sglang` gets whole weights"],
        ),
        (without("correction"), ["`learn.loss.kind` is `policy_gradient`", "`learn.correction.cap`"]),
        (with("model = \"stdio\""), ["`rollout_server.url`", "your trainer samples"]),
        (with("rollout_server.concurrency = 0"), [concurrency, ""]),
        (with("rollout_server.protocol = \"openai\""), ["`rollout_server.protocol` is `openai`: it must be ", ""]),
        (with("rollout_server.url = \"localhost:8000\""), ["`localhost:8000` is no server's address", ""]),
    ] {
        fails(&mut play(&config, dir.path()), 3, &wanted);
    }
    assert!(server.seen().is_empty(), "nothing was asked of the server");
}
