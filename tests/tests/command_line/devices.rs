//! `--device` and `--precision`: the same samples by a card's operations, a run on them, and every refusal.

use std::process::Command;

use serde_json::json;
use veriplay_learner::{DeviceSpec, Precision};

use super::{ended, finished, last_json, root, says, small_config, stderr, stdout, succeeded};
use super::{veriplay, with, write_config};

#[test]
fn a_cards_operations_draw_what_the_cpus_kernels_draw() {
    let prompt = ["generate", "--json", "--prompt", "<D>def f(x):", "--max-tokens", "12"];
    let tokens = |options: &[&str]| last_json(&succeeded(veriplay().args(prompt).args(options)))["tokens"].clone();
    assert_eq!(tokens(&["--device", "cpu-portable"]), tokens(&[]));
    assert_eq!(tokens(&["--device", "cpu"]), tokens(&[]));
    // In bf16 other tokens may be drawn; there are some.
    assert!(tokens(&["--device", "cpu-portable", "--precision", "bf16"])[0].is_u64());
}

#[test]
fn a_run_by_a_cards_operations_learns_and_says_so_in_its_configuration() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let keys = "steps = 1\nlearn = {epochs = 2, minibatches = 2, loss.kind = \"ppo_clip\"}";
    let (config, run) = (write_config(dir.path(), &with(small_config(), keys)), dir.path().join("run"));
    let mut command = veriplay();
    command.arg("play").arg("--config").arg(&config).arg("--out").arg(&run).args(["--device", "cpu-portable"]);
    says(&stdout(&succeeded(&mut command)), &["\n1 step in "]);
    let written = std::fs::read_to_string(run.join("config.toml")).expect("readable");
    says(&written, &["device = \"cpu-portable\"", "minibatches = 2"]);
    assert!(run.join("checkpoints/step_1/optimizer/optimizer.safetensors").is_file());
}

/// Whether the program is built with CUDA, which is a feature of its package. It passes that on to the learner, which is one for the program
/// and for this test, and whose own tests compare what it says here with the feature.
fn is_built_with_cuda() -> bool {
    DeviceSpec::Cuda(0).check(Precision::F32).is_ok()
}

#[test]
fn devices_that_cannot_be_had_are_refused_before_anything_else() {
    let built_with_cuda = is_built_with_cuda();
    let no_cuda = if built_with_cuda { "cannot be used" } else { "scripts/build-cuda" };
    let code = if built_with_cuda { 5 } else { 3 };
    ended(veriplay().args(["generate", "--prompt", "x", "--device", "cuda:77"]), code, &[no_cuda]);
    for arguments in [["bench", "learner"], ["eval", "--json"], ["play", "--json"]] {
        let output = finished(veriplay().args(arguments).args(["--device", "cuda:77"]));
        assert!(!output.status.success() && stderr(&output).contains(no_cuda), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_model_of_a_run_from_elsewhere_is_refused_with_what_differs_and_what_to_do() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::create_dir_all(dir.path().join("checkpoints/step_2")).expect("a checkpoint");
    let refused = |options: &[&str]| {
        let output = finished(veriplay().args(["eval", "--model"]).arg(dir.path()).args(options));
        assert!(!output.status.success());
        stderr(&output)
    };
    let config = with(small_config(), "learn = {device = \"cuda:77\", precision = \"bf16\"}");
    write_config(dir.path(), &config);
    for options in [&[][..], &["--device", "cpu"]] {
        let what = "hint: the run was played on device `cuda:77`: measure it here with `--device cpu --precision f32`";
        says(&refused(options), &[what]);
    }
    let of_another_version = "if another version of Veriplay has played the run";
    // The checkpoint of this test has no model: what follows the device fails.
    let said = refused(&["--device", "cpu", "--precision", "f32"]);
    assert!(!said.contains("played on device") && !said.contains(of_another_version), "{said}");
    let path = write_config(dir.path(), &with(config, "sead = 1"));
    says(&refused(&[]), &["unknown key `sead`", of_another_version]);
    let own = finished(veriplay().args(["eval", "--config"]).arg(path));
    assert!(!stderr(&own).contains(of_another_version), "the configuration is named: {}", stderr(&own));
}

/// `scripts/card-check` of the program under test, without a card.
fn card_check(options: &[&str]) -> Command {
    let mut command = Command::new(root().join("scripts/card-check"));
    command.args(["--device", "cpu-portable", "--binary"]).arg(veriplay().get_program()).args(options);
    command
}

#[test]
fn a_part_of_card_check_that_fails_does_not_stop_the_others() {
    let output = ended(&mut card_check(&["--only", "machine,decode,steps", "--sweep", "/bin/false"]), 1, &[]);
    let report = last_json(&output);
    let parts = &report["parts"];
    let passed = ["machine", "decode", "steps"].map(|part| &parts[part]["passed"]);
    assert_eq!(passed, [&json!(true), &json!(false), &json!(true)], "{report}");
    assert_eq!((&report["passed"], &parts["decode"]["why"]), (&json!(false), &json!("exit status 1")));
    let steps = parts["steps"]["result"]["steps"].as_array().expect("a list");
    assert!(steps.len() == 3 && steps.iter().all(|step| step["loss"].is_number()), "{report}");
}

#[test]
fn card_check_refuses_a_part_without_its_file_before_it_runs_any() {
    let refused = ended(&mut card_check(&["--only", "machine,train"]), 2, &["`train` needs --sweep"]);
    assert_eq!(stdout(&refused), "");
    ended(&mut card_check(&["--only", "speed"]), 2, &["--only has `speed`"]);
}
