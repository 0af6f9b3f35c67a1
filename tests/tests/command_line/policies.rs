//! Models that are not ours, by name: what takes them, and what refuses them.

use serde_json::{Value, json};

use super::commands::{ended, fails, play, small_with};
use super::completions_server::{Act, Server, ServerKind, model, request};
use super::{finished, last_json, small_config, succeeded, veriplay, write_config};

fn fixture(file: &str) -> String {
    format!("{}/../crates/learner/tests/gguf/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn generated(name: &str, options: &[&str]) -> Value {
    last_json(&succeeded(veriplay().args(["generate", "--json", "--model", name]).args(options)))
}

#[test]
fn a_quantised_model_generates_what_its_checkpoint_does() {
    let options = ["--prompt-ids", "5,6,7", "--max-tokens", "12", "--ignore-eos", "--seed", "3", "--top-k", "20"];
    let (quantised, whole) = (format!("gguf:{}", fixture("qwen3/f16.gguf")), fixture("qwen3/hf"));
    let (quantised, whole) = (generated(&quantised, &options), generated(&whole, &options));
    assert_eq!((&quantised["tokens"], &quantised["text"]), (&whole["tokens"], &Value::Null));
    assert_eq!(quantised["tokens"].as_array().map(Vec::len), Some(12));
}

#[test]
fn a_served_model_generates_what_its_server_says() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let name = format!("openai:{}#tiny", server.url);
    let object = generated(&name, &["--prompt", "<D>def f(x):", "--max-tokens", "20", "--seed", "8"]);
    let want = model().complete(&[request(&server.seen()[0].body)]).expect("samples").remove(0).remove(0);
    assert_eq!((&object["tokens"], &object["logprobs"]), (&json!(want.tokens), &json!(want.logprobs)));
    assert_eq!(object["text"], model().text(&want));
    let server = Server::start(ServerKind::Plain, |_, _| Act::Answer);
    let name = format!("openai:{}#tiny", server.url);
    let plain = ["generate", "--model", &name, "--prompt", "<D>def f(x):"];
    fails(veriplay().args(plain), 0, &["tokens: not reported"]);
}

#[test]
fn the_key_of_a_server_comes_from_the_environment() {
    let server = Server::start(ServerKind::Plain, |_, _| Act::Answer);
    let name = format!("openai:{}#tiny", server.url);
    let options = ["generate", "--model", &name, "--prompt", "<D>def f(x):"];
    let with_key =
        |key: &str| finished(veriplay().env("VERIPLAY_OPENAI_KEY", key).env("VERIPLAY_LOG", "trace").args(options));
    let log = ended(&with_key("sk-secret"), 0, &[]);
    assert_eq!(server.seen()[0].authorization.as_deref(), Some("Bearer sk-secret"));
    assert!(!log.contains("sk-secret"), "it is not logged");
    let said = ended(&with_key("two words"), 3, &["`VERIPLAY_OPENAI_KEY` is not a valid access key"]);
    assert!(!said.contains("two words"), "{said}");
}

#[test]
fn eval_of_a_served_model_is_eval_of_the_model() {
    let server = Server::start(ServerKind::Plain, |_, _| Act::Answer);
    let dir = tempfile::tempdir().expect("a directory");
    let config = write_config(dir.path(), &small_config());
    let eval = |name: &str| {
        last_json(&succeeded(veriplay().args(["eval", "--json", "--model", name, "--config"]).arg(&config)))
    };
    let (served, ours) = (eval(&format!("openai:{}#tiny", server.url)), eval("builtin:tiny"));
    assert!(ours["mean"]["greedy"].is_number() && ours["intervals"]["rows"][0]["pass1"][0].is_number(), "{ours}");
    assert_eq!(served["counts"]["set"], ours["counts"]["set"], "the tasks are the same");
    assert_eq!(served["mean"]["greedy"], ours["mean"]["greedy"], "greedy answers need no seeds");
    assert_eq!(server.seen().len(), 2 * 12, "every task is asked once for its group and once greedily");
}

#[test]
fn self_play_of_a_frozen_model_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in [format!("gguf:{}", fixture("qwen2/f16.gguf")), "openai:http://127.0.0.1:1#m".to_owned()] {
        let config = small_with(&format!("model = {name:?}"));
        let frozen = format!("`{name}` is frozen");
        fails(&mut play(&config, dir.path()), 3, &[&frozen, "hint: train a checkpoint"]);
        assert!(!dir.path().join("run").exists(), "no run directory");
    }
}

#[test]
fn misuse_of_frozen_models_is_told_with_a_hint() {
    let quantised = format!("gguf:{}", fixture("qwen2/f16.gguf"));
    let cases: [(&str, &[&str], i32, &str); 6] = [
        ("gguf:/no/such.gguf", &["--prompt-ids", "1"], 5, "`/no/such.gguf`"),
        (&quantised, &["--prompt", "x"], 3, "--prompt-ids"),
        (&quantised, &["--prompt-ids", "104"], 3, "vocabulary of 104"),
        ("openai:http://127.0.0.1:1", &["--prompt", "x"], 5, "no model is named"),
        ("openai:http://127.0.0.1:1#m", &["--prompt-ids", "1"], 2, "use `--prompt`"),
        ("openai:http://127.0.0.1:1#m", &["--prompt", "x", "--ignore-eos"], 2, "without `--prompt-ids`"),
    ];
    for (name, options, code, want) in cases {
        fails(veriplay().args(["generate", "--model", name]).args(options), code, &[want, "hint:"]);
    }
}
