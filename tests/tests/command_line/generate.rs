//! `veriplay generate`: what it prints, that it repeats, and every misuse.

use serde_json::Value;

use super::{finished, stderr, succeeded, veriplay};

/// A checkpoint without a tokenizer, with random weights.
fn by_ids() -> String {
    format!("{}/../crates/learner/tests/parity/qwen2-tied", env!("CARGO_MANIFEST_DIR"))
}

/// The objects that were printed.
fn generated(options: &[&str]) -> Vec<Value> {
    let output = succeeded(veriplay().args(["generate", "--json"]).args(options));
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("`{line}`: {e}"))).collect()
}

fn length(object: &Value, list: &str) -> usize {
    object[list].as_array().expect("a list").len()
}

const SEEDED: [&str; 6] = ["--prompt", "<D>def f(x):", "--max-tokens", "24", "--seed", "5"];

#[test]
fn a_sample_is_one_object_with_a_log_probability_for_every_token() {
    let objects = generated(&SEEDED);
    assert_eq!(objects.len(), 1);
    let keys: Vec<&String> = objects[0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["finish", "logprobs", "schema_version", "text", "tokens"]);
    assert_eq!(length(&objects[0], "tokens"), length(&objects[0], "logprobs"));
    assert!(
        objects[0]["text"].is_string() && ["stop", "length"].contains(&objects[0]["finish"].as_str().expect("a word"))
    );
    assert_eq!(objects, generated(&SEEDED), "the same seed gives the same sample");
    let more = generated(&[&SEEDED[..], &["--samples", "3"]].concat());
    assert_eq!((more.len(), &more[0]), (3, &objects[0]), "more samples change none");
    assert_ne!(more[1]["tokens"], more[2]["tokens"]);
}

#[test]
fn a_checkpoint_without_a_tokenizer_is_continued_by_ids() {
    let object = &generated(&["--model", &by_ids(), "--prompt-ids", "1,2,3", "--max-tokens", "6", "--ignore-eos"])[0];
    assert_eq!((length(object, "tokens"), length(object, "logprobs")), (6, 6));
    assert_eq!((&object["text"], &object["finish"]), (&Value::Null, &Value::from("length")));
    let plain = finished(veriplay().args(["generate", "--model", &by_ids(), "--prompt-ids", "1,2,3", "--ignore-eos"]));
    let ids = String::from_utf8(plain.stdout).expect("numbers");
    assert_eq!(ids.trim().split(',').filter_map(|id| id.parse::<u32>().ok()).count(), 128, "{ids}");
}

#[test]
fn greedy_sampling_one_candidate_and_a_tiny_nucleus_are_the_same() {
    let with = |options: &[&str]| generated(&[&SEEDED[..], options].concat())[0]["tokens"].clone();
    let greedy = with(&["--temperature", "0"]);
    for options in [["--top-k", "1"], ["--top-p", "0.000001"], ["--min-p", "1"]] {
        assert_eq!(with(&options), greedy, "{options:?}");
    }
}

#[test]
fn a_stop_string_ends_the_text_and_is_named() {
    let whole = &generated(&[&SEEDED[..], &["--ignore-eos"]].concat())[0];
    let text = whole["text"].as_str().expect("a text");
    let stop = &text[6..8];
    let stopped = &generated(&[&SEEDED[..], &["--ignore-eos", "--stop", "no such text", "--stop", stop]].concat())[0];
    assert_eq!((&stopped["finish"], &stopped["stop"]), (&Value::from("stop_string"), &Value::from(stop)));
    assert_eq!(stopped["text"], text[..text.find(stop).expect("there")]);
    assert!(length(stopped, "tokens") < length(whole, "tokens"));
}

#[test]
fn a_conversation_goes_through_the_checkpoints_template() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let from = format!("{}/../models/tiny/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(from, dir.path().join(name)).expect("the model is copied");
    }
    let template = "{% for m in messages %}{{ m.content }}{% endfor %}";
    std::fs::write(dir.path().join("chat_template.jinja"), template).expect("written");
    let chat = dir.path().join("chat.json");
    std::fs::write(&chat, r#"[{"role": "user", "content": "<D>def f(x):"}]"#).expect("written");
    let (model, chat) = (dir.path().to_str().expect("UTF-8"), chat.to_str().expect("UTF-8"));
    let from_chat = generated(&["--model", model, "--chat", chat, "--max-tokens", "24", "--seed", "5"]);
    assert_eq!(from_chat, generated(&SEEDED), "the same prompt, the same weights");
}

#[test]
fn every_misuse_is_told_with_its_value_and_a_hint() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let chat = dir.path().join("chat.json");
    std::fs::write(&chat, r#"{"a": 1}"#).expect("written");
    let (by_ids, chat) = (by_ids(), chat.to_str().expect("UTF-8"));
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--prompt", "a", "--temperature", "-1"], 2, "'-1'"),
        (&["--prompt", "a", "--temperature", "nan"], 2, "'nan'"),
        (&["--prompt", "a", "--top-p", "0"], 2, "--top-p"),
        (&["--prompt", "a", "--min-p", "1.5"], 2, "--min-p"),
        (&["--prompt", "a", "--samples", "0"], 2, "--samples"),
        (&["--prompt", "a", "--max-tokens", "0"], 2, "--max-tokens"),
        (&["--prompt", "a", "--max-tokens", "600"], 3, "511 tokens at most"),
        (&["--prompt", "a", "--stop", ""], 2, "stop"),
        (&["--prompt", ""], 2, "prompt"),
        (&["--prompt", "→"], 3, "U+2192"),
        (&["--prompt-ids", "3,192"], 3, "`192`"),
        (&["--model", &by_ids, "--prompt", "a"], 3, "tokenizer.json"),
        (&["--model", &by_ids, "--prompt-ids", "1", "--stop", "a"], 3, "tokenizer.json"),
        (&["--chat", chat], 3, "messages"),
        (&["--model", "/no/such/model", "--prompt", "a"], 5, "/no/such/model"),
    ];
    for (options, code, word) in cases {
        let output = finished(veriplay().arg("generate").args(*options));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(*code), "{options:?}: {said}");
        assert!(
            said.contains(word) && (*code == 2 || said.contains("hint:")) && output.stdout.is_empty(),
            "{options:?}: {said}"
        );
    }
    for usage in [&[][..], &["--prompt", "a", "--prompt-ids", "1"], &["--prompt-ids", "one"]] {
        assert_eq!(finished(veriplay().arg("generate").args(usage)).status.code(), Some(2), "{usage:?}");
    }
}
