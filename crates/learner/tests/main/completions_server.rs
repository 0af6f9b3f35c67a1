//! A small completions server: HTTP/1.1 on loopback, OpenAI's wire format or SGLang's, and our own tiny model behind it, with the adapters
//! or the weights that it is given. It can be told to fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use veriplay_core::{Message, MessageRole, PromptContent};
use veriplay_learner::{Continuation, Learner, LearnerOptions, SamplingRequest, StopReason, TokenSampler};

#[derive(Debug, Clone)]
pub(crate) enum Act {
    Answer,
    /// Answers it after `change` has been at the answer.
    Changed(fn(&mut Value)),
    /// Status, further header lines, body.
    Say(u16, &'static str, String),
    /// Sends half of the answer, and hangs up.
    Cut,
    /// Hangs up.
    HangUp,
    /// Says nothing until the client hangs up.
    Silence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    /// Ids of prompt and answer, and log-probabilities in lists.
    Vllm,
    /// Log-probabilities with ids in a list of objects.
    LlamaCpp,
    Sglang,
    Plain,
}

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: Value,
}

type Script = dyn Fn(&Value, usize) -> Act + Send + Sync;

struct Shared {
    kind: ServerKind,
    script: Box<Script>,
    seen: Mutex<Vec<Seen>>,
    /// Adapters, or weights, by the names that they came with.
    given: Mutex<BTreeMap<String, Arc<Learner>>>,
    flying: Mutex<(usize, usize)>,
    sleeps: AtomicBool,
}

/// A running server. It ends with the process.
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

impl Server {
    /// `script` decides about a request from its body and from how many came before it.
    pub(crate) fn start(kind: ServerKind, script: impl Fn(&Value, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let (seen, flying, given) = (Mutex::default(), Mutex::default(), Mutex::default());
        let sleeps = AtomicBool::new(false);
        let shared = Arc::new(Shared { kind, script: Box::new(script), seen, flying, given, sleeps });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = Arc::clone(&serving);
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        Self { url, shared }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("whole").clone()
    }

    /// The names of what it was given and has.
    pub(crate) fn given(&self) -> Vec<String> {
        self.shared.given.lock().expect("whole").keys().cloned().collect()
    }

    /// Loses what it was given, as when it starts again.
    pub(crate) fn lose_weights(&self) {
        self.shared.given.lock().expect("whole").clear();
    }

    /// Requests that were in flight together, at most.
    pub(crate) fn most_flying(&self) -> usize {
        self.shared.flying.lock().expect("whole").1
    }
}

/// The tiny model of the repository.
pub(crate) fn model() -> &'static Learner {
    static MODEL: OnceLock<Learner> = OnceLock::new();
    MODEL.get_or_init(|| load(super::TINY_MODEL))
}

fn load(dir: &str) -> Learner {
    Learner::load(dir.as_ref(), LearnerOptions::default()).expect("a whole model")
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        while let Some(seen) = read(&mut reader) {
            let number = {
                let mut all = self.seen.lock().expect("whole");
                all.push(seen.clone());
                all.len() - 1
            };
            self.fly(1);
            let stays = self.act((self.script)(&seen.body, number), &seen, &stream);
            self.fly(-1);
            if stays.is_none() {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    fn fly(&self, change: isize) {
        let mut flying = self.flying.lock().expect("whole");
        flying.0 = flying.0.saturating_add_signed(change);
        flying.1 = flying.1.max(flying.0);
    }

    /// `None` ends the connection.
    fn act(&self, act: Act, seen: &Seen, stream: &TcpStream) -> Option<()> {
        match act {
            Act::Answer => {
                let (status, answer) = self.answer(seen);
                send(stream, status, "", &answer.to_string())
            }
            Act::Changed(change) => {
                let (status, mut answer) = self.answer(seen);
                change(&mut answer);
                send(stream, status, "", &answer.to_string())
            }
            Act::Say(status, headers, text) => send(stream, status, headers, &text),
            Act::Cut => {
                let whole = message(200, "", &self.answer(seen).1.to_string());
                (&mut &*stream).write_all(&whole.as_bytes()[..whole.len() / 2]).ok()?;
                None
            }
            Act::HangUp => None,
            Act::Silence => {
                let _ = (&mut &*stream).read(&mut [0]);
                None
            }
        }
    }

    fn answer(&self, Seen { path, body, .. }: &Seen) -> (u16, Value) {
        let (named, given) = (|key: &str| body[key].as_str().expect("a text").to_owned(), &self.given);
        match path.as_str() {
            "/v1/load_lora_adapter" => {
                let mut learner = load(super::TINY_MODEL);
                learner.load_adapters(named("lora_path").as_ref()).expect("adapters of this model");
                let known = given.lock().expect("whole").insert(named("lora_name"), Arc::new(learner)).is_some();
                if known {
                    (400, json!(format!("The lora adapter '{}' has already been loaded.", named("lora_name"))))
                } else {
                    (200, json!("Success"))
                }
            }
            "/v1/unload_lora_adapter" => {
                let known = given.lock().expect("whole").remove(&named("lora_name")).is_some();
                if known { (200, json!("Success")) } else { (404, json!("no such adapter")) }
            }
            "/update_weights_from_disk" => {
                let learner = Arc::new(load(&named("model_path")));
                *given.lock().expect("whole") = BTreeMap::from([(named("weight_version"), learner)]);
                (200, json!({"success": true, "message": "Succeeded to update model weights."}))
            }
            "/collective_rpc" => {
                assert_eq!(body["method"], json!("reload_weights"));
                let folder = body["kwargs"]["weights_path"].as_str().expect("a folder");
                let learner = Arc::new(load(folder));
                let version = self.version();
                *given.lock().expect("whole") = BTreeMap::from([(version, learner)]);
                (200, json!({"results": [null]}))
            }
            "/reset_prefix_cache" => (200, json!({"success": true})),
            "/update_weight_version" => {
                let mut given = given.lock().expect("whole");
                let learner =
                    given.pop_first().map_or_else(|| Arc::new(load(super::TINY_MODEL)), |(_, learner)| learner);
                given.insert(named("new_version"), learner);
                (200, json!({"success": true, "new_version": body["new_version"]}))
            }
            "/weight_info" => (200, json!({"weight_version": self.version()})),
            "/health" => (200, Value::Null),
            "/sleep?level=1" => {
                self.sleeps.store(true, Ordering::Relaxed);
                (200, json!({"status": "sleeping", "level": 1}))
            }
            "/wake_up" => {
                self.sleeps.store(false, Ordering::Relaxed);
                (200, json!({"status": "awake", "tags": null}))
            }
            _ if self.sleeps.load(Ordering::Relaxed) => (400, json!({"message": "the engine is asleep"})),
            "/generate" => (200, self.generate(body)),
            _ => self.complete(body),
        }
    }

    /// The version of whole weights that it was given last.
    fn version(&self) -> String {
        let given = self.given.lock().expect("whole");
        given.first_key_value().map_or_else(|| "default".to_owned(), |(version, _)| version.clone())
    }

    /// SGLang's answer, from the weights that it has.
    fn generate(&self, body: &Value) -> Value {
        let options = &body["sampling_params"];
        let number = |key: &str| options[key].as_f64().unwrap_or_else(|| panic!("`{key}` in {body}"));
        assert_eq!((number("top_p"), number("min_p"), number("top_k")), (1.0, 0.0, -1.0), "nothing is cut off");
        let prompt = serde_json::from_value(body["input_ids"].clone()).expect("ids");
        let request = SamplingRequest {
            samples: number("n") as usize,
            // It draws by itself: how many requests there were stands for chance.
            seed: self.seen.lock().expect("whole").len() as u64,
            sampler: TokenSampler::at(number("temperature") as f32),
            stop: serde_json::from_value(options["stop"].clone()).expect("texts"),
            ..SamplingRequest::new(prompt, number("max_new_tokens") as usize)
        };
        let given = self.given.lock().expect("whole").first_key_value().map(|(name, one)| (name.clone(), one.clone()));
        let (version, learner) = given.map_or(("default".to_owned(), None), |(name, one)| (name, Some(one)));
        let group = learner.as_deref().unwrap_or_else(|| model()).complete(&[request]).expect("samples").remove(0);
        let sample = |sample: &Continuation| {
            let kind = if matches!(sample.end, StopReason::Length) { "length" } else { "stop" };
            let pairs = sample.tokens.iter().zip(&sample.logprobs).map(|(id, p)| json!([p, id, null]));
            json!({"text": model().text(sample), "output_ids": sample.tokens, "meta_info": {
                "finish_reason": {"type": kind}, "weight_version": version,
                "output_token_logprobs": pairs.collect::<Vec<_>>(),
            }})
        };
        let mut samples: Vec<Value> = group.iter().map(sample).collect();
        if samples.len() == 1 { samples.remove(0) } else { samples.into() }
    }

    fn complete(&self, body: &Value) -> (u16, Value) {
        let name = body["model"].as_str();
        let given = {
            let given = self.given.lock().expect("whole");
            name.map_or_else(|| given.values().next(), |name| given.get(name)).cloned()
        };
        if let Some(name) = name.filter(|name| given.is_none() && *name != "tiny") {
            return (404, json!({"message": format!("The model `{name}` does not exist.")}));
        }
        let request = request(body);
        if request.samples > 1 && request.sampler.temperature == 0.0 {
            return (400, json!({"message": "n must be 1 when using greedy sampling"}));
        }
        let learner = given.as_deref().unwrap_or_else(|| model());
        let group = learner.complete(std::slice::from_ref(&request)).expect("samples").remove(0);
        let is_chat = body["messages"].is_array();
        let choice = |(index, sample)| self.choice(index, sample, &request.prompt, is_chat);
        let choices: Vec<Value> = group.iter().enumerate().map(choice).collect();
        (200, json!({"id": "cmpl-1", "model": body["model"], "choices": choices}))
    }

    /// One sample, as completions report it or, elsewhere in the answer, chat completions.
    fn choice(&self, index: usize, sample: &Continuation, prompt: &[u32], is_chat: bool) -> Value {
        let finish = if matches!(sample.end, StopReason::Length) { "length" } else { "stop" };
        let text = model().text(sample);
        let mut choice = json!({"index": index, "finish_reason": finish});
        match is_chat {
            true => choice["message"] = json!({"role": "assistant", "content": text}),
            false => choice["text"] = json!(text),
        }
        let spelling = |id: &u32| format!("token_id:{id}");
        let pairs = sample.tokens.iter().zip(&sample.logprobs);
        match self.kind {
            ServerKind::Vllm if is_chat => {
                let content: Vec<Value> = pairs.map(|(id, p)| json!({"token": spelling(id), "logprob": p})).collect();
                choice["logprobs"] = json!({"content": content});
            }
            ServerKind::Vllm => {
                let spellings: Vec<String> = sample.tokens.iter().map(spelling).collect();
                choice["logprobs"] = json!({"tokens": spellings, "token_logprobs": sample.logprobs});
                choice["token_ids"] = json!(sample.tokens);
                choice["prompt_token_ids"] = json!(prompt);
            }
            ServerKind::LlamaCpp => {
                let content = pairs.map(|(id, p)| json!({"id": id, "token": "?", "bytes": [63], "logprob": p}));
                choice["logprobs"] = json!({"content": content.collect::<Vec<_>>()});
            }
            ServerKind::Plain | ServerKind::Sglang => {}
        }
        choice
    }
}

/// What is asked of the model: as a server reads it, from the names of the protocol.
pub(crate) fn request(body: &Value) -> SamplingRequest {
    let number = |key: &str| body[key].as_f64().unwrap_or_else(|| panic!("`{key}` in {body}"));
    let prompt = match &body["prompt"] {
        Value::Null => {
            let messages: Vec<Message> = serde_json::from_value(body["messages"].clone()).expect("messages");
            let continues = messages.last().is_some_and(|last| last.role == MessageRole::Assistant);
            assert_eq!(body["continue_final_message"].as_bool().unwrap_or(false), continues);
            assert_eq!(body["add_generation_prompt"], json!(!continues));
            model().tokenizer().encode(&PromptContent::from(messages).to_string()).expect("it can be spelled")
        }
        Value::String(text) => model().tokenizer().encode(text).expect("it can be spelled"),
        ids => serde_json::from_value(ids.clone()).expect("ids"),
    };
    assert_eq!((number("top_p"), number("min_p")), (1.0, 0.0), "nothing is cut off");
    assert!(number("top_k") > model().config().vocab_size as f64, "nothing is cut off");
    SamplingRequest {
        samples: number("n") as usize,
        seed: body["seed"].as_u64().unwrap_or_default(),
        sampler: TokenSampler::at(number("temperature") as f32),
        stop: serde_json::from_value(body["stop"].clone()).unwrap_or_default(),
        ..SamplingRequest::new(prompt, number("max_tokens") as usize)
    }
}

fn message(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn send(mut stream: &TcpStream, status: u16, headers: &str, body: &str) -> Option<()> {
    stream.write_all(message(status, headers, body).as_bytes()).ok()
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).ok()? };
    Some(Seen { path, authorization, body })
}
