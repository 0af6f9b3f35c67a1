//! `--device` and `--precision`: the same samples by a card's operations, a run on them, and every refusal.

use veriplay_learner::{DeviceSpec, Precision};

use super::losses::merge;
use super::{finished, last_json, small_config, stderr, succeeded, veriplay, write_config};

const PROMPT: [&str; 6] = ["generate", "--json", "--prompt", "<D>def f(x):", "--max-tokens", "12"];

#[test]
fn a_cards_operations_draw_what_the_cpus_kernels_draw() {
    let tokens = |options: &[&str]| {
        let output = succeeded(veriplay().args(PROMPT).args(options));
        last_json(&output)["tokens"].clone()
    };
    assert_eq!(tokens(&["--device", "cpu-portable"]), tokens(&[]));
    assert_eq!(tokens(&["--device", "cpu"]), tokens(&[]));
    // In bf16 other tokens may be drawn; there are some.
    assert!(tokens(&["--device", "cpu-portable", "--precision", "bf16"])[0].is_u64());
}

#[test]
fn a_run_by_a_cards_operations_learns_and_says_so_in_its_configuration() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = small_config();
    merge(
        &mut config,
        "steps = 1\n[learn]\nepochs = 2\nminibatches = 2\nloss.kind = \"ppo_clip\"".parse().expect("TOML"),
    );
    let (config, run) = (write_config(dir.path(), &config), dir.path().join("run"));
    let mut command = veriplay();
    command.arg("play").arg("--config").arg(&config).arg("--out").arg(&run).args(["--device", "cpu-portable"]);
    let said = String::from_utf8(succeeded(&mut command).stdout).expect("it is text");
    assert!(said.contains("\n1 step in "), "{said}");
    let written = std::fs::read_to_string(run.join("config.toml")).expect("readable");
    assert!(written.contains("device = \"cpu-portable\"") && written.contains("minibatches = 2"), "{written}");
    assert!(run.join("checkpoints/step_1/optimizer.safetensors").is_file());
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
    let cases: [(&[&str], i32, &str); 6] = [
        (&["generate", "--prompt", "x", "--device", "gpu"], 2, "`cuda:N`"),
        (&["generate", "--prompt", "x", "--precision", "f16"], 2, "bf16"),
        (&["generate", "--prompt", "x", "--precision", "bf16"], 3, "bf16"),
        (&["generate", "--prompt", "x", "--model", "gguf:none", "--device", "cpu-portable"], 3, "gguf:none"),
        (&["play", "--resume", "nowhere", "--device", "cpu"], 2, "--device"),
        (&["generate", "--prompt", "x", "--device", "cuda:77"], if built_with_cuda { 5 } else { 3 }, no_cuda),
    ];
    for (arguments, code, word) in cases {
        let output = finished(veriplay().args(arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
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
    let mut config = small_config();
    merge(&mut config, "[learn]\ndevice = \"cuda:77\"\nprecision = \"bf16\"".parse().expect("TOML"));
    write_config(dir.path(), &config);
    let elsewhere: [&[&str]; 2] = [&[], &["--device", "cpu"]];
    for options in elsewhere {
        let said = refused(options);
        let what = "hint: the run was played on device `cuda:77`: measure it here with `--device cpu --precision f32`";
        assert!(said.contains(what), "{said}");
    }
    let of_another_version = "if another version of Veriplay has played the run";
    // The checkpoint of this test has no model: what follows the device fails.
    let said = refused(&["--device", "cpu", "--precision", "f32"]);
    assert!(!said.contains("played on device") && !said.contains(of_another_version), "{said}");
    config.insert("sead".to_owned(), 1.into());
    let path = write_config(dir.path(), &config);
    let said = refused(&[]);
    assert!(said.contains("unknown key `sead`") && said.contains(of_another_version), "{said}");
    let own = finished(veriplay().args(["eval", "--config"]).arg(path));
    assert!(!stderr(&own).contains(of_another_version), "the configuration is named: {}", stderr(&own));
}

#[test]
fn several_updates_want_a_loss_that_corrects_for_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (text, word) in
        [("epochs = 2", "ppo_clip"), ("minibatches = 0", "learn.minibatches"), ("epochs = 9999", "1024")]
    {
        let mut config = small_config();
        merge(&mut config, format!("[learn]\n{text}").parse().expect("TOML"));
        let path = write_config(dir.path(), &config);
        let output =
            finished(veriplay().arg("play").arg("--config").arg(&path).arg("--out").arg(dir.path().join("run")));
        assert_eq!(output.status.code(), Some(3), "{text}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{text}: {}", stderr(&output));
    }
}
