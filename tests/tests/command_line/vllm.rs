//! A run whose rollouts the real vLLM samples, on the CPU: by adapters and by whole weights, with a death of the engine in the middle, and its
//! checkpoint served as it is. Only where `VERIPLAY_VLLM_PYTHON` names what `scripts/vllm-cpu` has laid out.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, kill_process_group};
use serde_json::{Value, json};
use veriplay_learner::{Architecture, END_TOKEN, Learner, LearnerOptions, ModelConfig, Tokenizer, build_tokenizer};
use veriplay_tests::external::report_skipped;

use super::commands::{events, parse, pid, play, read, small_with};
use super::losses::merge;
use super::{TINY_MODEL, last_json, root};

const STEPS: u64 = 20;
/// The engine dies behind this one.
const LAST_BEFORE_DEATH: u64 = 7;
/// Most that a token's log-probability by vLLM, in bf16, may be from the learner's, in f32.
const WORST: f64 = 0.02;
/// The same of vLLM in f32, which is the same function but for the order of sums.
const WORST_OF_F32: f64 = 1e-4;
const VOCABULARY: usize = 1536;

/// A running vLLM. It ends with the test.
struct Engine {
    server: Child,
    port: u16,
}

impl Engine {
    /// Starts it on a model folder, and waits until it serves.
    fn start(model: &Path, port: u16, arguments: &[&str]) -> Self {
        let mut command = Command::new("bash");
        command.arg(root().join("scripts/vllm-cpu")).arg("serve").arg(model).args(arguments);
        command.args(["--port", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::piped());
        // A group of its own, with the process of the engine in it.
        let mut server = command.process_group(0).spawn().expect("bash is there");
        let mut lines = BufReader::new(server.stderr.take().expect("stderr is a pipe")).lines().map_while(Result::ok);
        let mut said = Vec::new();
        let serves = lines.by_ref().any(|line| {
            said.push(line);
            said.last().is_some_and(|line| line.contains("Application startup complete"))
        });
        assert!(serves, "vLLM has ended:\n{}", said.join("\n"));
        // It says so just before it listens.
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.try_wait().expect("it is a child").is_none(), "vLLM has ended:\n{}", said.join("\n"));
            std::thread::yield_now();
        }
        // Nobody reads what it says from here on, and its pipe must not fill.
        std::thread::spawn(move || lines.for_each(drop));
        Self { server, port }
    }

    fn kill(&mut self) {
        // There is none where it has ended.
        let _ = kill_process_group(pid(&self.server), Signal::KILL);
        let _ = self.server.wait();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("loopback").port()
}

/// A random Qwen2 with heads of 64, which is the least that vLLM takes, and the tokens of the tiny model before others. Its output head is its own: on
/// a CPU, vLLM 0.32.0 keeps a copy of a tied one when it loads weights again.
fn write_model(dir: &Path) {
    let known = parse(&read(Path::new(TINY_MODEL).join("tokenizer.json")));
    let texts = known["added_tokens"].as_array().expect("tokens").iter().filter_map(|token| token["content"].as_str());
    let tokens = texts.filter(|text| *text != END_TOKEN).map(str::to_owned);
    let (control, mut fragments): (Vec<String>, Vec<String>) = tokens.partition(|text| text.starts_with('<'));
    let build = |fragments: &[String]| -> Tokenizer { build_tokenizer(&control, fragments).expect("fine tokens") };
    let found = build(&fragments).vocab_size();
    fragments.extend((found..VOCABULARY).map(|number| format!("unused {number}")));
    let config = ModelConfig {
        model_type: Architecture::Qwen2,
        vocab_size: VOCABULARY,
        hidden_size: 128,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        num_key_value_heads: 1,
        head_dim: 64,
        intermediate_size: 384,
        tie_word_embeddings: false,
        ..ModelConfig::default()
    };
    let learner = Learner::initialize(config, build(&fragments), 7, LearnerOptions::default()).expect("a fine model");
    learner.save(dir).expect("the temporary directory can be written");
}

/// A run that changes the weights in each step, though a random model solves nothing: by the entropy of what it samples.
fn config(model: &Path, port: u16, folder: &Path, has_adapters: bool) -> toml::Table {
    let mut config = small_with(&format!(
        "model = \"{}\"\n[game]\nzero_advantage = \"keep\"\nsft_samples = 0\n[rollout_server]\nurl = \"http://127.0.0.1:{port}\"\nprotocol = \"vllm\"\n\
         folder = \"{}\"\nsleep = true\n[learn]\nlearning_rate = 5e-4\nwarmup_steps = 0\nentropy_bonus = 0.01\n[learn.loss]\n\
         kind = \"ppo_clip\"\n[learn.correction]\ncap = 2.0",
        model.display(),
        folder.display()
    ));
    if has_adapters {
        let lora = "[learn.lora]\nrank = 8\nalpha = 16.0\ntarget_modules = [\"q_proj\", \"down_proj\"]\nseed = 1";
        merge(&mut config, lora.parse().expect("TOML"));
    }
    config
}

/// Plays a run in `dir`, kills the engine in its middle, and starts it again.
fn play_through_a_death(model: &Path, dir: &Path, has_adapters: bool) {
    let adapters = ["--enable-lora", "--max-lora-rank", "8", "--max-loras", "2"];
    let (port, arguments) = (free_port(), if has_adapters { &adapters[..] } else { &[] });
    let mut engine = Engine::start(model, port, arguments);
    let mut command = play(&config(model, port, &dir.join("handed-over"), has_adapters), dir);
    command.env("VERIPLAY_LOG", "info").args(["--json", "--steps", &STEPS.to_string()]);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let lines = BufReader::new(run.stderr.take().expect("stderr is a pipe")).lines().map_while(Result::ok);
    let (mut said, mut steps) = (Vec::new(), 0);
    for line in lines {
        let is_done = line.contains("step done");
        said.push(line);
        steps += u64::from(is_done);
        if is_done && steps == LAST_BEFORE_DEATH {
            engine.kill();
            engine = Engine::start(model, port, arguments);
        }
    }
    let output = run.wait_with_output().expect("it has ended");
    assert!(output.status.success(), "{}", said.join("\n"));
    let summary = last_json(&output);
    assert_eq!((&summary["steps"], &summary["dropped"]), (&STEPS.into(), &0.into()));
    let events = events(&dir.join("run"));
    assert_eq!(events.len() as u64, STEPS);
    for (step, event) in events.iter().enumerate() {
        assert_eq!(event["step"], json!(step));
        assert!(event["actor/grad_norm"].as_f64() > Some(0.0), "it learns nothing: {event}");
        let apart = event["loss_terms"]["rollout_corr/logprob_abs_diff_max"].as_f64();
        let apart = apart.unwrap_or_else(|| panic!("no difference in {event}"));
        assert!(apart <= WORST, "step {step}: vLLM is {apart} nats from the learner");
    }
}

/// The largest difference of the log-probabilities of a response that vLLM samples from a checkpoint, which it serves.
fn distance(checkpoint: &Path, port: u16) -> f64 {
    let prompt: [u32; 6] = [5, 6, 7, 100, 101, 102];
    let body = json!({
        "model": checkpoint, "prompt": prompt, "max_tokens": 64, "temperature": 1.0, "seed": 1, "logprobs": 0,
        "return_token_ids": true, "ignore_eos": true,
    });
    let url = format!("http://127.0.0.1:{port}/v1/completions");
    let mut answer = ureq::post(url).send_json(&body).expect("it answers");
    let answer: Value = answer.body_mut().read_json().expect("JSON");
    let tokens: Vec<u32> = serde_json::from_value(answer["choices"][0]["token_ids"].clone()).expect("token ids");
    let theirs = answer["choices"][0]["logprobs"]["token_logprobs"].as_array().expect("log-probabilities").clone();
    assert_eq!((tokens.len(), theirs.len()), (64, 64));
    let learner = Learner::load(checkpoint, LearnerOptions::default()).expect("a whole checkpoint");
    let own = learner.score(&prompt, &[tokens]).expect("scores").remove(0);
    let apart =
        own.iter().zip(&theirs).map(|(&own, theirs)| (f64::from(own) - theirs.as_f64().expect("a number")).abs());
    apart.fold(0.0, f64::max)
}

#[test]
fn vllm_samples_runs_by_adapters_and_by_whole_weights_and_serves_a_checkpoint_as_it_is() {
    if std::env::var_os("VERIPLAY_VLLM_PYTHON").is_none() {
        return report_skipped(
            "it needs vLLM, 3.5 GB by pip; set VERIPLAY_VLLM_PYTHON to what `scripts/vllm-cpu` prints",
        );
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (model, by_adapters, by_weights) =
        (dir.path().join("model"), dir.path().join("by-adapters"), dir.path().join("by-weights"));
    write_model(&model);
    for (folder, has_adapters) in [(&by_adapters, true), (&by_weights, false)] {
        std::fs::create_dir(folder).expect("a new folder");
        play_through_a_death(&model, folder, has_adapters);
    }
    let checkpoint = by_weights.join("run/checkpoints").join(format!("step_{STEPS}"));
    for (dtype, worst) in [("bfloat16", WORST), ("float32", WORST_OF_F32)] {
        let engine = Engine::start(&checkpoint, free_port(), &["--dtype", dtype]);
        let apart = distance(&checkpoint, engine.port);
        assert!(apart <= worst, "vLLM in {dtype} is {apart} nats from the learner");
    }
}
