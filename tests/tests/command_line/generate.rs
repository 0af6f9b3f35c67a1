//! `veriplay generate`: what it prints, and that it repeats. `refusals.txt` has every misuse.

use serde_json::Value;

use super::verify::rows;
use super::{copy_model, stdout, succeeded, veriplay};

/// A checkpoint without a tokenizer, with random weights.
const BY_IDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/learner/tests/parity/qwen2-tied");

/// The objects that were printed.
fn generated(options: &[&str]) -> Vec<Value> {
    rows(&stdout(&succeeded(veriplay().args(["generate", "--json"]).args(options))))
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
    let finish = objects[0]["finish"].as_str().expect("a word");
    assert!(objects[0]["text"].is_string() && ["stop", "length"].contains(&finish));
    assert_eq!(objects, generated(&SEEDED), "the same seed gives the same sample");
    let more = generated(&[&SEEDED[..], &["--samples", "3"]].concat());
    assert_eq!((more.len(), &more[0]), (3, &objects[0]), "more samples change none");
    assert_ne!(more[1]["tokens"], more[2]["tokens"]);
}

#[test]
fn a_checkpoint_without_a_tokenizer_is_continued_by_ids() {
    let object = &generated(&["--model", BY_IDS, "--prompt-ids", "1,2,3", "--max-tokens", "6", "--ignore-eos"])[0];
    assert_eq!((length(object, "tokens"), length(object, "logprobs")), (6, 6));
    assert_eq!((&object["text"], &object["finish"]), (&Value::Null, &Value::from("length")));
    let plain = ["generate", "--model", BY_IDS, "--prompt-ids", "1,2,3", "--ignore-eos"];
    let ids = stdout(&succeeded(veriplay().args(plain)));
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
    copy_model("tiny", dir.path());
    let template = "{% for m in messages %}{{ m.content }}{% endfor %}";
    std::fs::write(dir.path().join("chat_template.jinja"), template).expect("written");
    let chat = dir.path().join("chat.json");
    std::fs::write(&chat, r#"[{"role": "user", "content": "<D>def f(x):"}]"#).expect("written");
    let (model, chat) = (dir.path().to_str().expect("UTF-8"), chat.to_str().expect("UTF-8"));
    let from_chat = generated(&["--model", model, "--chat", chat, "--max-tokens", "24", "--seed", "5"]);
    assert_eq!(from_chat, generated(&SEEDED), "the same prompt, the same weights");
}
