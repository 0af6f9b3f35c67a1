//! A run whose rollouts a server samples: it trains on what the server says, and survives its loss.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::completions_server::{Act, Server, ServerKind};
use super::losses::merge;
use super::{finished, last_json, small_config, stderr, succeeded, veriplay, write_config};

/// The small configuration with rollouts by `server`, and a rate at which each step changes the weights.
fn config(server: &Server, protocol: &str, folder: &Path) -> toml::Table {
    let mut config = small_config();
    let changed = format!(
        "[rollout_server]\nurl = \"{}\"\nprotocol = \"{protocol}\"\nfolder = \"{}\"\n[learn]\nlearning_rate = 3e-3\n\
         warmup_steps = 0\n[learn.loss]\nkind = \"tis\"",
        server.url,
        folder.display()
    );
    merge(&mut config, changed.parse().expect("TOML"));
    if protocol == "vllm" {
        let lora = "[learn.lora]\nrank = 4\nalpha = 8.0\ntarget_modules = [\"q_proj\", \"down_proj\"]\nseed = 1";
        merge(&mut config, lora.parse().expect("TOML"));
    }
    config
}

fn events(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("events.jsonl")).expect("the log can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("a step is JSON")).collect()
}

#[test]
fn each_step_is_sampled_from_the_weights_of_the_one_before() {
    for (kind, protocol) in [(ServerKind::Vllm, "vllm"), (ServerKind::Sglang, "sglang")] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let server = Server::start(kind, |_, _| Act::Answer);
        let path = write_config(dir.path(), &config(&server, protocol, &dir.path().join("handed-over")));
        let run = dir.path().join("run");
        let summary = last_json(&succeeded(
            veriplay().args(["play", "--json", "--steps", "3", "--config"]).arg(&path).arg("--out").arg(&run),
        ));
        assert_eq!((&summary["steps"], &summary["dropped"]), (&3.into(), &0.into()));
        for event in events(&run) {
            let kl = event["loss_terms"]["actor/ppo_kl"].as_f64().unwrap_or_else(|| panic!("no divergence in {event}"));
            assert!(kl.abs() < 1e-4, "{protocol}: the server sampled from other weights: {kl}");
        }
        // The start's, and each step's.
        let seen = server.seen();
        let loads =
            seen.iter().filter(|one| one.path == "/v1/load_lora_adapter" || one.path == "/update_weights_from_disk");
        assert_eq!(loads.count(), 4);
        assert_eq!(std::fs::read_dir(dir.path().join("handed-over")).expect("a folder").count(), 0);
        let dry = succeeded(veriplay().args(["play", "--dry-run", "--config"]).arg(&path));
        let told = String::from_utf8_lossy(&dry.stdout).into_owned();
        assert!(told.contains(&format!("sampled by the server at `{}` ({protocol})", server.url)), "{told}");
    }
}

#[test]
fn a_server_that_fails_in_a_step_costs_that_step_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (fails, is_third) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let script = {
        let fails = Arc::clone(&fails);
        move |body: &Value, _| {
            // From the weights of the second step on.
            let name = body["lora_name"].as_str().or(body["model"].as_str()).unwrap_or_default();
            is_third.fetch_or(name.contains("-v2-"), Ordering::Relaxed);
            let refuses = fails.load(Ordering::Relaxed) && is_third.load(Ordering::Relaxed);
            if refuses { Act::Say(401, "", "the key has expired".to_owned()) } else { Act::Answer }
        }
    };
    let server = Server::start(ServerKind::Vllm, script);
    let mut config = config(&server, "vllm", dir.path());
    config.insert("checkpoint_every".to_owned(), 100.into());
    let (path, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let failed = finished(veriplay().args(["play", "--steps", "3", "--config"]).arg(&path).arg("--out").arg(&run));
    let told = stderr(&failed);
    assert!(!failed.status.success());
    assert!(told.contains("the key has expired") && told.contains("veriplay play --resume"), "{told}");
    assert!(run.join("checkpoints/step_2").is_dir(), "the steps before it are saved");
    fails.store(false, Ordering::Relaxed);
    let summary = last_json(&succeeded(veriplay().args(["play", "--json", "--resume"]).arg(&run)));
    assert_eq!((&summary["steps"], &summary["resumed_at"]), (&3.into(), &2.into()));
    assert_eq!(events(&run).len(), 3);
}

#[test]
fn what_a_server_cannot_do_is_refused_by_its_key() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let refused = |change: &dyn Fn(&mut toml::Table)| {
        let mut config = config(&server, "vllm", dir.path());
        change(&mut config);
        let output = finished(veriplay().args(["play", "--config"]).arg(write_config(dir.path(), &config)));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        stderr(&output)
    };
    let table = |config: &mut toml::Table, name: &str| config[name].as_table_mut().expect("a table").clone();
    let without = |name: &'static str| {
        move |config: &mut toml::Table| drop(config["learn"].as_table_mut().expect("a table").remove(name))
    };
    let told = refused(&without("lora"));
    assert!(told.contains("`rollout_server.protocol` is `vllm`") && told.contains("[learn.lora]"), "{told}");
    let told = refused(&without("loss"));
    assert!(told.contains("`learn.loss.kind` is `policy_gradient`") && told.contains("`tis`"), "{told}");
    let told = refused(&|config| drop(config.insert("model".to_owned(), "stdio".into())));
    assert!(told.contains("`rollout_server.url`") && told.contains("your trainer samples"), "{told}");
    for (key, value, want) in [
        ("concurrency", toml::Value::from(0), "`rollout_server.concurrency` is `0`: it must be from 1 to 4096"),
        ("protocol", "openai".into(), "`rollout_server.protocol` is `openai`: it must be "),
        ("url", "localhost:8000".into(), "`localhost:8000` is no server's address"),
    ] {
        let told = refused(&|config| {
            let mut server = table(config, "rollout_server");
            server.insert(key.to_owned(), value.clone());
            config.insert("rollout_server".to_owned(), server.into());
        });
        assert!(told.contains(want), "{told}");
    }
    assert!(server.seen().is_empty(), "nothing was asked of the server");
}
