//! A server that samples for a learner: it has the learner's weights, whatever happens to it, and anything else is an error.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use veriplay_core::{FinishReason, Learn, Policy, PolicyVersion, Prompt, Rollout, Sample, Sampling, TrainBatch};
use veriplay_learner::{Cispo, Learner, LearnerOptions, Lora, Loss, RolloutServer, ServerOptions, ServerProtocol};

use crate::common::prompt;
use crate::completions_server::{Act, Server, ServerKind};

/// A learner of the tiny model with its server, and the folder between the two.
struct Pair {
    server: Server,
    learner: Learner,
    folder: TempDir,
}

/// How weights reach a server: adapters, or whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Adapters,
    Weights,
}

/// Every protocol, and what it is given.
const WAYS: [(ServerKind, Given); 3] =
    [(ServerKind::Vllm, Given::Adapters), (ServerKind::Vllm, Given::Weights), (ServerKind::Sglang, Given::Weights)];

pub(crate) fn options() -> ServerOptions {
    ServerOptions { backoff: Duration::ZERO, attempts: 3, ..ServerOptions::default() }
}

/// Of a server that gives its memory back.
fn sleepy() -> ServerOptions {
    ServerOptions { sleep: true, ..options() }
}

/// With adapters where the protocol takes them.
fn pair(kind: ServerKind, script: impl Fn(&Value, usize) -> Act + Send + Sync + 'static) -> Pair {
    let given = if kind == ServerKind::Sglang { Given::Weights } else { Given::Adapters };
    pair_of((kind, given), options(), script)
}

fn pair_of(
    way: (ServerKind, Given),
    options: ServerOptions,
    script: impl Fn(&Value, usize) -> Act + Send + Sync + 'static,
) -> Pair {
    let (kind, given) = way;
    let (server, folder) = (Server::start(kind, script), tempfile::tempdir().expect("a directory"));
    let protocol = if kind == ServerKind::Sglang { ServerProtocol::Sglang } else { ServerProtocol::Vllm };
    let lora = Lora {
        rank: 4,
        alpha: 8.0,
        target_modules: vec!["q_proj".into(), "down_proj".into()],
        seed: 5,
        per_role: false,
    };
    let lora = (given == Given::Adapters).then_some(lora);
    let learner_options = LearnerOptions { lora, loss: Loss::Cispo(Cispo::default()), ..LearnerOptions::default() };
    let mut learner = Learner::load(super::TINY_MODEL.as_ref(), learner_options).expect("the tiny model");
    let opened = RolloutServer::open(&server.url, protocol, folder.path(), options).expect("a fine address");
    learner.sample_from(opened);
    Pair { server, learner, folder }
}

/// By which weights are loaded.
const LOADS: [&str; 3] = ["/v1/load_lora_adapter", "/collective_rpc", "/update_weights_from_disk"];

pub(crate) fn prompts() -> Vec<Prompt> {
    (0..3).map(|i| prompt(&format!("<D>def f(x):\n    x = {i} +"))).collect()
}

pub(crate) fn sampling() -> Sampling {
    Sampling { group: 4, seed: 3, ..Sampling::new(24) }
}

/// Four steps, big enough that the weights before and after them are told apart.
fn learn(learner: &mut Learner, rollouts: &[Rollout]) {
    let sample = |(index, rollout): (usize, &Rollout)| Sample {
        behaviour: Some(rollout.logprobs.clone()),
        ..Sample::new(rollout.prompt_tokens.clone().into(), rollout.tokens.clone(), (index % 2) as f32 - 0.4)
    };
    let samples: Vec<Sample> = rollouts.iter().enumerate().map(sample).collect();
    let normalizer = samples.iter().map(|sample| sample.response.len() as f64).sum();
    for _ in 0..4 {
        learner.update(&TrainBatch { samples: samples.clone(), normalizer }, 3e-2).expect("it learns");
    }
}

impl Pair {
    fn generate(&self) -> Vec<Rollout> {
        self.learner.generate(&prompts(), &sampling()).expect("the server answers").into_iter().flatten().collect()
    }

    fn failure(&self) -> String {
        self.learner.generate(&prompts()[..1], &sampling()).expect_err("it cannot be used").to_string()
    }

    /// How often a part of the server was asked.
    fn asked(&self, path: &str) -> usize {
        self.server.seen().iter().filter(|seen| seen.path == path).count()
    }

    fn learn(&mut self, rollouts: &[Rollout]) {
        learn(&mut self.learner, rollouts);
    }

    /// The largest difference between the log-probabilities of rollouts and those of the learner's weights now.
    fn distance(&self, rollouts: &[Rollout]) -> f32 {
        distance(&self.learner, rollouts)
    }

    /// Names in the folder between the two: that of the server, and of the weights in it.
    fn folders(&self) -> Vec<String> {
        let names = |path: &std::path::Path| -> Vec<_> {
            std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
        };
        let inner = names(self.folder.path()).into_iter().flat_map(|path| names(&path));
        inner.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect()
    }
}

pub(crate) fn distance(learner: &Learner, rollouts: &[Rollout]) -> f32 {
    let score = |one: &Rollout| learner.score(&one.prompt_tokens, std::slice::from_ref(&one.tokens)).expect("scores");
    let both = rollouts.iter().flat_map(|one| score(one).remove(0).into_iter().zip(one.logprobs.clone()));
    both.map(|(own, told)| (own - told).abs()).fold(0.0, f32::max)
}

#[test]
fn rollouts_are_of_the_weights_that_the_learner_has_before_and_after_it_learns() {
    for kind in WAYS {
        let mut pair = pair_of(kind, options(), |_, _| Act::Answer);
        let before = pair.generate();
        assert!(pair.distance(&before) < 1e-4, "{kind:?}: {}", pair.distance(&before));
        assert!(before.iter().all(|rollout| rollout.policy == PolicyVersion(0) && !rollout.tokens.is_empty()));
        assert!(before.iter().any(|rollout| rollout.finish == FinishReason::Stop), "some end by themselves");
        pair.generate();
        let handed_over = |pair: &Pair| LOADS.iter().map(|path| pair.asked(path)).sum::<usize>();
        assert_eq!(handed_over(&pair), 1, "weights that have not changed are not handed over again");
        pair.learn(&before);
        assert!(pair.distance(&before) > 1e-2, "{kind:?}: the step has changed too little to tell");
        let after = pair.generate();
        assert!(pair.distance(&after) < 1e-4, "{kind:?}: {}", pair.distance(&after));
        assert!(after.iter().all(|rollout| rollout.policy == PolicyVersion(4)));
        assert_eq!(handed_over(&pair), 2);
        assert_eq!(
            (pair.folders(), pair.server.given().len()),
            (vec!["v4-1".to_owned()], 1),
            "what is replaced is freed"
        );
        let Pair { learner, folder, .. } = pair;
        drop(learner);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left behind");
    }
}

#[test]
fn a_rollout_has_the_text_tokens_and_end_that_our_own_sampling_would_give() {
    let pair = pair(ServerKind::Vllm, |_, _| Act::Answer);
    let stop = pair.generate().iter().find_map(|rollout| rollout.text.chars().nth(1)).expect("a text");
    let stopped = Sampling { stop: vec![stop.to_string()], ..sampling() };
    let rollouts: Vec<Rollout> =
        pair.learner.generate(&prompts(), &stopped).expect("the server answers").into_iter().flatten().collect();
    assert!(rollouts.iter().all(|rollout| !rollout.text.contains(stop)));
    let decode = |rollout: &Rollout| pair.learner.tokenizer().decode(&rollout.tokens);
    assert!(rollouts.iter().any(|rollout| decode(rollout).contains(stop)), "the tokens of a stop string are kept");
    assert!(pair.server.seen().iter().skip(1).all(|seen| seen.body["prompt"].is_array()), "prompts go as ids");
    let greedy = Sampling { temperature: 0.0, ..sampling() };
    let greedy = pair.learner.generate(&prompts(), &greedy).expect("the server answers");
    assert!(greedy.iter().flatten().all(|rollout| rollout.logprobs.is_empty() && !rollout.tokens.is_empty()));
    assert!(greedy.iter().all(|group| group.len() == 4 && group.iter().all(|rollout| rollout == &group[0])));
    let ends = pair.learner.end_tokens();
    let asked = pair.server.seen();
    let mut samples = asked.iter().filter(|seen| seen.path == "/v1/completions");
    assert!(samples.all(|seen| seen.body["stop_token_ids"] == json!(ends) && seen.body["seed"].is_null()));
}

#[test]
fn a_server_that_has_lost_the_weights_is_given_them_again() {
    for kind in WAYS {
        let mut pair = pair_of(kind, options(), |_, _| Act::Answer);
        let before = pair.generate();
        pair.learn(&before);
        pair.generate();
        pair.server.lose_weights();
        let again = pair.generate();
        assert!(pair.distance(&again) < 1e-4, "{kind:?}: {}", pair.distance(&again));
        assert!(again.iter().all(|rollout| rollout.policy == PolicyVersion(4)));
    }
}

#[test]
fn a_frozen_policy_samples_from_its_weights_while_the_learner_trains() {
    for way in WAYS {
        // Open until the frozen policy samples, and from the end of the updates on.
        let gate = Arc::new(RwLock::new(()));
        let passes = Arc::clone(&gate);
        let mut pair = pair_of(way, options(), move |body, _| {
            let samples = body["prompt"].is_array() || body["input_ids"].is_array();
            drop(samples.then(|| passes.read()));
            Act::Answer
        });
        let before = pair.generate();
        let frozen = pair.learner.freeze().expect("a copy");
        pair.server.lose_weights();
        let closed = gate.write();
        let rollouts: Vec<Rollout> = std::thread::scope(|scope| {
            let sampled = scope.spawn(|| frozen.generate(&prompts(), &sampling()).expect("the server answers"));
            learn(&mut pair.learner, &before);
            drop(closed);
            sampled.join().expect("it samples").into_iter().flatten().collect()
        });
        assert!(rollouts.iter().all(|rollout| rollout.policy == PolicyVersion(0)));
        assert_eq!(pair.learner.version(), PolicyVersion(4));
        assert!(pair.distance(&rollouts) > 1e-2, "{way:?}: the updates have changed too little to tell");
        let responses: Vec<&[u32]> = rollouts.iter().map(|rollout| &*rollout.tokens).collect();
        let asked: Vec<Prompt> = prompts().into_iter().flat_map(|one| vec![one; sampling().group]).collect();
        let own = frozen.score_responses(&asked, &responses).expect("scores").into_iter().flatten();
        let apart =
            own.zip(rollouts.iter().flat_map(|rollout| &rollout.logprobs)).map(|(own, theirs)| (own - theirs).abs());
        let apart = apart.fold(0.0, f32::max);
        assert!(apart < 1e-4, "{way:?}: the server sampled from other weights: {apart}");
    }
}

#[test]
fn weights_that_change_and_keep_their_version_are_handed_over() {
    let mut pair = pair(ServerKind::Vllm, |_, _| Act::Answer);
    let before = pair.generate();
    pair.learn(&before);
    let saved = tempfile::tempdir().expect("a directory");
    pair.learner.save_adapters(saved.path()).expect("saves");
    pair.generate();
    pair.learn(&before);
    pair.learner.load_adapters(saved.path()).expect("loads");
    let after = pair.generate();
    assert!(pair.distance(&after) < 1e-4, "{}", pair.distance(&after));
}

type Change = fn(&mut Value);

/// A kind of server, what it does to its answers, and words of the refusal.
type Refused = (ServerKind, Change, &'static str);

/// What SGLang says of each sample.
fn facts(answer: &mut Value) -> impl Iterator<Item = &mut Value> {
    answer.as_array_mut().into_iter().flatten().map(|sample| &mut sample["meta_info"])
}

fn choices(answer: &mut Value) -> impl Iterator<Item = &mut Value> {
    answer.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten()
}

const OTHER_WEIGHTS: [Refused; 4] = [
    (
        ServerKind::Vllm,
        |answer| answer.get_mut("model").into_iter().for_each(|model| *model = json!("tiny")),
        "the server sampled from `tiny`, and `veriplay-",
    ),
    (
        ServerKind::Sglang,
        |answer| facts(answer).for_each(|facts| facts["weight_version"] = json!("default")),
        "the server sampled from `default`",
    ),
    (
        ServerKind::Sglang,
        |answer| facts(answer).for_each(|facts| facts["weight_version"] = Value::Null),
        "the server sampled from `weights without a name`",
    ),
    (
        ServerKind::Sglang,
        |answer| facts(answer).take(1).for_each(|facts| facts["weight_version"] = json!("default")),
        "different `weight_version`s",
    ),
];

#[test]
fn rollouts_of_other_weights_are_refused() {
    for (kind, change, want) in OTHER_WEIGHTS {
        let failure = pair(kind, move |_, _| Act::Changed(change)).failure();
        assert!(failure.contains(want), "{failure}");
    }
}

#[test]
fn an_answer_that_cannot_be_trained_on_is_refused_with_the_reason() {
    let cases: [(&str, Change); 6] = [
        ("no token ids", |answer| {
            choices(answer).for_each(|choice| (choice["token_ids"], choice["logprobs"]) = (Value::Null, Value::Null));
        }),
        (" tokens and ", |answer| {
            for choice in choices(answer) {
                choice["logprobs"]["token_logprobs"].as_array_mut().expect("numbers").pop();
            }
        }),
        ("no log-probabilities", |answer| choices(answer).for_each(|choice| choice["logprobs"] = Value::Null)),
        ("it serves another model", |answer| {
            choices(answer).for_each(|choice| choice["token_ids"][0] = json!(4_000_000));
        }),
        ("goes on behind the end token", |answer| {
            for choice in choices(answer) {
                let ids = choice["token_ids"].as_array_mut().expect("ids");
                let end = ids.last().cloned().expect("a token");
                ids.iter_mut().for_each(|id| *id = end.clone());
            }
        }),
        ("ended by itself behind token", |answer| {
            for choice in choices(answer) {
                (choice["token_ids"], choice["finish_reason"]) = (json!([5]), json!("stop"));
                choice["logprobs"] = json!({"token_logprobs": [-1.0]});
            }
        }),
    ];
    for (want, change) in cases {
        let pair = pair(ServerKind::Vllm, move |_, _| Act::Changed(change));
        // With a generous limit, so that samples end by themselves.
        let long = Sampling { group: 16, ..Sampling::new(200) };
        let failure = pair.learner.generate(&prompts(), &long).expect_err(want).to_string();
        assert!(failure.contains(want), "{failure}");
    }
}

#[test]
fn faults_that_pass_are_waited_out_and_others_are_named_with_what_was_asked() {
    // Each of the first requests, the handing over among them, fails once in a way of its own.
    let flaky = pair(ServerKind::Vllm, |_, number| match number {
        0 | 5 => Act::Say(503, "", "loading".to_owned()),
        2 => Act::HangUp,
        7 => Act::Cut,
        _ => Act::Answer,
    });
    assert_eq!(flaky.generate().len(), 12);
    assert!(flaky.distance(&flaky.generate()) < 1e-4);
    // The answer to the handing over is lost, and the adapter is there when it is asked again.
    let lost = pair(ServerKind::Vllm, |_, number| if number == 0 { Act::Cut } else { Act::Answer });
    assert_eq!(lost.generate().len(), 12);

    let refusing = |status, body: &'static str| {
        pair(ServerKind::Vllm, move |asked, _| match asked["lora_name"].is_string() {
            true => Act::Say(status, "", body.to_owned()),
            false => Act::Answer,
        })
        .failure()
    };
    for status in [400, 500] {
        let rank = refusing(status, "LoRA rank 4 is greater than max_lora_rank 2, which has already been said");
        assert!(rank.contains("/v1/load_lora_adapter`: the server") && rank.contains("max_lora_rank"), "{rank}");
    }
    let quoted =
        refusing(400, r#"{"error": {"message": "no module \"base_layer\"", "type": "BadRequestError", "code": 400}}"#);
    assert!(quoted.contains(r#"answered 400: no module "base_layer""#), "{quoted}");
    let absent = refusing(404, r#"{"detail": "Not Found"}"#);
    assert!(
        absent.contains("answered 404: Not Found;") && absent.contains("VLLM_ALLOW_RUNTIME_LORA_UPDATING"),
        "{absent}"
    );
    let loading = refusing(503, "loading");
    assert!(
        loading.contains("`http://127.0.0.1:")
            && loading.contains("/v1/load_lora_adapter` after 3 attempts: the server answered 503"),
        "{loading}"
    );
    let no = pair(ServerKind::Sglang, |asked, _| match asked["model_path"].is_string() {
        true => Act::Say(200, "", r#"{"success": false, "message": "no such file"}"#.to_owned()),
        false => Act::Answer,
    });
    assert!(no.failure().contains("no such file"), "{}", no.failure());
}

#[test]
fn an_address_or_a_folder_that_cannot_be_used_is_refused_before_anything_is_asked() {
    let folder = tempfile::tempdir().expect("a directory");
    let open = |url: &str, folder: &std::path::Path| {
        RolloutServer::open(url, ServerProtocol::Vllm, folder, ServerOptions::default())
    };
    let refused = open("127.0.0.1:8000", folder.path()).expect_err("no scheme").to_string();
    assert!(refused.contains("want such as `http://127.0.0.1:8000`"), "{refused}");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let refused = open("http://127.0.0.1:9", &file).expect_err("a file").to_string();
    assert!(refused.contains("no folder can be made in"), "{refused}");
}

#[test]
fn what_a_killed_process_of_a_run_has_left_is_removed_and_nothing_of_another_run() {
    let folder = tempfile::tempdir().expect("a directory");
    for left in ["veriplay-one-abc123/v3-0", "veriplay-other-abc123/v3-0", "veriplay-abc123/v3-0"] {
        std::fs::create_dir_all(folder.path().join(left)).expect("they are made");
    }
    let options = ServerOptions { run: Some("one".to_owned()), ..ServerOptions::default() };
    let opened = RolloutServer::open("http://127.0.0.1:9", ServerProtocol::Vllm, folder.path(), options);
    let is_there = |name: &str| folder.path().join(name).is_dir();
    assert!(!is_there("veriplay-one-abc123") && is_there("veriplay-other-abc123") && is_there("veriplay-abc123"));
    let entries = || std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(entries(), 3, "it has made a folder of its own");
    drop(opened.expect("a fine address"));
    assert_eq!(entries(), 2);
}

/// A server of whole weights that answers as `script` says.
fn weights_of(script: impl Fn(&Value, usize) -> Act + Send + Sync + 'static) -> Pair {
    pair_of((ServerKind::Vllm, Given::Weights), options(), script)
}

/// Whether a request asks for the version of the weights, or whether the engine runs: it has no body.
fn asks_for_version(body: &Value) -> bool {
    body.is_null()
}

#[test]
fn samples_between_which_the_weights_were_lost_are_sampled_again() {
    let (versions, lost) = (AtomicUsize::new(0), |answer: &mut Value| answer["weight_version"] = json!("default"));
    let pair = weights_of(move |body, _| {
        // The first such request asks whether the engine runs, the next for the version before the samples.
        let is_third = asks_for_version(body) && versions.fetch_add(1, Ordering::Relaxed) == 2;
        if is_third { Act::Changed(lost) } else { Act::Answer }
    });
    let rollouts = pair.generate();
    assert!(pair.distance(&rollouts) < 1e-4 && rollouts.len() == 12);
    assert_eq!((pair.asked("/collective_rpc"), pair.asked("/v1/completions"), pair.asked("/weight_info")), (2, 6, 4));
    let other = weights_of(move |body, _| if asks_for_version(body) { Act::Changed(lost) } else { Act::Answer });
    assert!(other.failure().contains("sampled from `default`, and `veriplay-"), "{}", other.failure());
}

#[test]
fn a_server_that_starts_again_while_it_is_given_weights_is_given_them_from_the_start() {
    let told = AtomicBool::new(false);
    let pair = weights_of(move |body, _| {
        // It is away before the version is told: what was loaded may be lost.
        let is_first = body["new_version"].is_string() && !told.swap(true, Ordering::Relaxed);
        if is_first { Act::Say(503, "", "starting".to_owned()) } else { Act::Answer }
    });
    assert!(pair.distance(&pair.generate()) < 1e-4);
    assert_eq!((pair.asked("/collective_rpc"), pair.asked("/update_weight_version")), (2, 2));
    // The engine behind the server is dead, and then it has started again.
    for sleep in [false, true] {
        let options = ServerOptions { sleep, ..options() };
        let dead = pair_of((ServerKind::Vllm, Given::Adapters), options, |_, number| match number {
            0 => Act::Say(500, "", "EngineCore encountered an issue".to_owned()),
            1 => Act::Say(503, "", String::new()),
            _ => Act::Answer,
        });
        assert_eq!((dead.generate().len(), dead.asked("/health")), (12, 1), "asleep: {sleep}");
    }
}

#[test]
fn whole_weights_wait_for_an_engine_that_was_dead_and_are_refused_by_one_that_dies_of_them() {
    // Whether it runs, the loading, and the same again.
    let restarted = weights_of(|_, number| match number {
        0 => Act::Say(503, "", String::new()),
        1 => Act::Say(500, "", "EngineCore encountered an issue".to_owned()),
        _ => Act::Answer,
    });
    assert!(restarted.distance(&restarted.generate()) < 1e-4);
    assert_eq!((restarted.asked("/collective_rpc"), restarted.asked("/reset_prefix_cache")), (2, 1));
    // It never starts again.
    let gone = weights_of(|_, _| Act::Say(500, "", "EngineCore encountered an issue".to_owned()));
    let failure = gone.failure();
    for want in
        ["`http://127.0.0.1:", "/collective_rpc` after 3 attempts: the server answered 500: EngineCore", "DEV_MODE"]
    {
        assert!(failure.contains(want), "want {want}: {failure}");
    }
    let dies = weights_of(|asked, _| match loads(asked) {
        true => Act::Say(500, "", "no base_layer".to_owned()),
        false => Act::Answer,
    });
    assert!(dies.failure().contains("without `--enable-lora`"), "{}", dies.failure());
    assert_eq!(dies.asked("/collective_rpc"), 1, "it is not asked again");
}

/// The failure of a hand-over in which the requests that `is_asked` picks are answered so.
fn refusal(is_asked: fn(&Value) -> bool, status: u16, answer: &'static str) -> String {
    weights_of(move |asked, _| if is_asked(asked) { Act::Say(status, "", answer.to_owned()) } else { Act::Answer })
        .failure()
}

fn loads(asked: &Value) -> bool {
    asked["method"].is_string()
}

fn is_told(asked: &Value) -> bool {
    asked["new_version"].is_string()
}

#[test]
fn a_server_that_cannot_take_whole_weights_is_refused_with_what_to_start() {
    let (missing, required) = (r#"{"detail": "Not Found"}"#, r#"{"detail": [{"msg": "Field required"}]}"#);
    let started = "/collective_rpc`: the server answered 404: Not Found; start vLLM 0.32";
    let version = r#"/weight_info` answers {"version":"step-6"}, without a `weight_version`"#;
    for (failure, want) in [
        (refusal(loads, 404, missing), started),
        (refusal(loads, 500, "no base_layer"), "/collective_rpc`: the server answered 500: no base_layer; start vLLM"),
        (refusal(is_told, 422, required), "may have changed its interface"),
        (refusal(asks_for_version, 200, r#"{"version": "step-6"}"#), version),
        (refusal(|asked| *asked == json!({}), 200, r#"{"success": false}"#), "/reset_prefix_cache` after 3 attempts"),
    ] {
        assert!(failure.contains(want), "want {want}: {failure}");
    }
}

#[test]
fn a_server_sleeps_while_the_learner_trains_and_is_woken_before_it_is_asked() {
    for given in [Given::Adapters, Given::Weights] {
        let mut pair = pair_of((ServerKind::Vllm, given), sleepy(), |_, _| Act::Answer);
        let rollouts = pair.generate();
        pair.generate();
        assert_eq!(pair.server.seen()[0].path, "/wake_up", "a killed process may have left it asleep");
        pair.learn(&rollouts);
        assert_eq!(pair.server.seen().last().map(|seen| seen.path.clone()).as_deref(), Some("/sleep?level=1"));
        assert!(pair.distance(&pair.generate()) < 1e-4);
        assert_eq!((pair.asked("/wake_up"), pair.asked("/sleep?level=1")), (2, 1), "once for several updates");
    }
    // Whatever else takes memory of the device has it sleep, too.
    let mut sharing = pair_of((ServerKind::Vllm, Given::Adapters), sleepy(), |_, _| Act::Answer);
    let work: [fn(&mut Learner); 4] = [
        |learner| drop(learner.score_responses(&prompts()[..1], &[[5, 6].as_slice()]).expect("scores")),
        |learner| learner.hold_reference().expect("holds"),
        |learner| drop(learner.snapshot().expect("copies")),
        Learner::reset_optimizer,
    ];
    for (done, work) in work.into_iter().enumerate() {
        sharing.generate();
        work(&mut sharing.learner);
        let last = sharing.server.seen().last().map(|seen| seen.path.clone());
        assert_eq!((last.as_deref(), sharing.asked("/wake_up")), (Some("/sleep?level=1"), done + 1));
    }
    let awake = pair(ServerKind::Vllm, |_, _| Act::Answer);
    awake.generate();
    assert_eq!(awake.asked("/wake_up"), 0);
}
