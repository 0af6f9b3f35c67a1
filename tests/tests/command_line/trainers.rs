//! A trainer outside the program plays: a run that is killed or abandoned resumes to the same bytes, updates name the rollouts they are
//! about, and what a trainer does wrong is told.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use super::commands::{ended, events, fails, parse, play, play_file, read, resume, small_with};
use super::games::{small_self_challenge, small_sol_ver};
use super::losses::merge;
use super::resume::{assert_replays, assert_same};
use super::write_config;

/// A response in the compact format: a program with its input, or an answer. Its digit is a function of the request's seed and the rollout's place.
fn response(prompt: &Value, seed: u64, place: usize) -> String {
    let digit = (seed / 7 + place as u64 * 3) % 10;
    match prompt["role"].as_str() {
        Some("proposer") => format!("def f(x):\n    return x * {digit} % 10<I>{digit}"),
        _ => digit.to_string(),
    }
}

/// How a trainer answers.
#[derive(Clone, Copy)]
struct Answers {
    /// Whether rollouts have tokens and log-probabilities.
    tokens: bool,
    /// Requests that are answered; then the trainer ends.
    requests: usize,
}

/// A trainer beside a run of the program.
struct Trainer {
    run: Child,
    requests: BufReader<ChildStdout>,
    /// What it has learned: the sums of weights of its updates, as bits.
    weights: Vec<String>,
    seen: Vec<Value>,
}

impl Trainer {
    fn new(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = command.spawn().expect("the binary starts");
        let requests = BufReader::new(run.stdout.take().expect("stdout is piped"));
        Self { run, requests, weights: Vec::new(), seen: Vec::new() }
    }

    /// Answers requests, which it gives; the run must end with this code and say these.
    fn play(mut self, answers: Answers, code: i32, wanted: &[&str]) -> Vec<Value> {
        let mut answered = 0;
        let mut line = String::new();
        while self.requests.read_line(&mut line).expect("the program writes text") > 0 {
            let request = parse(&line);
            line.clear();
            let answer = self.answer(&request, answers);
            self.seen.push(request);
            let Some(answer) = answer else { continue };
            if answered == answers.requests {
                break;
            }
            answered += 1;
            let stdin = self.run.stdin.as_mut().expect("stdin is piped");
            writeln!(stdin, "{answer}").expect("the program reads");
        }
        drop(self.run.stdin.take());
        ended(&self.run.wait_with_output().expect("it ends"), code, wanted);
        self.seen
    }

    fn answer(&mut self, request: &Value, answers: Answers) -> Option<Value> {
        match request["type"].as_str()? {
            "start" => {
                if let Some(folder) = request["checkpoint"].as_str() {
                    self.weights = read(Path::new(folder).join("weights")).lines().map(str::to_owned).collect();
                }
                Some(json!({"type": "started"}))
            }
            "generate" => Some(json!({"type": "rollouts", "rollouts": rollouts(request, answers.tokens)})),
            "update" => {
                let samples = request["samples"].as_array().expect("a list");
                let sum: f64 = samples.iter().map(|sample| sample["weight"].as_f64().expect("a number")).sum();
                self.weights.push(format!("{:016x}", sum.to_bits()));
                Some(json!({"type": "updated", "loss": 0.25, "tokens": 10}))
            }
            "prefer" => Some(json!({"type": "updated"})),
            "save" => {
                let folder = request["folder"].as_str().expect("a path");
                std::fs::write(Path::new(folder).join("weights"), self.weights.join("\n")).expect("it can be written");
                Some(json!({"type": "saved"}))
            }
            _ => None,
        }
    }
}

fn rollouts(request: &Value, tokens: bool) -> Vec<Vec<Value>> {
    let sampling = &request["sampling"];
    let (group, seed) = (sampling["group_size"].as_u64().expect("a count"), sampling["seed"].as_u64().expect("a seed"));
    let prompts = request["prompts"].as_array().expect("a list").iter().enumerate();
    let rollout = |prompt: &Value, place: usize| {
        let text = response(prompt, seed, place);
        match tokens {
            true => json!({"text": text, "tokens": [text.len(), 0], "logprobs": [-0.5, -0.25], "finish": "stop"}),
            false => json!({"text": text}),
        }
    };
    let of_prompt = |(index, prompt)| (0..group as usize).map(|sample| rollout(prompt, index * 8 + sample)).collect();
    prompts.map(of_prompt).collect()
}

/// The small quickstart for a trainer of one's own.
fn config() -> toml::Table {
    small_with("model = \"stdio\"\n[game]\nsft_samples = 0\nsft_weight = 0.0")
}

const WHOLE: Answers = Answers { tokens: true, requests: usize::MAX };

#[test]
fn a_trainer_that_dies_resumes_to_the_same_bytes_and_replays() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (config, whole, broken) =
        (write_config(dir.path(), &config()), dir.path().join("whole"), dir.path().join("broken"));
    let seen = Trainer::new(&mut play_file(&config, &whole)).play(WHOLE, 0, &[]);
    let count = seen.iter().filter(|request| request["type"] != "step").count();
    assert!(count > 24, "{count}");
    // In the evaluation before step 0, in a step after the first checkpoint, and in the evaluation at the end.
    for (place, requests) in [2, 24, 12].into_iter().enumerate() {
        let mut command = if place == 0 { play_file(&config, &broken) } else { resume(&broken) };
        let wanted = [
            "the trainer ended, or closed standard input, before it answered `",
            "` of step `",
            "hint: continue with `veriplay play --resume",
        ];
        Trainer::new(&mut command).play(Answers { requests, ..WHOLE }, 5, &wanted);
    }
    Trainer::new(&mut resume(&broken)).play(WHOLE, 0, &[]);
    assert_same(&whole, &broken);
    assert_replays(&whole);
    updates_name_what_they_are_about(&seen);
    logs_tell_what_the_trainer_told(&whole);
}

fn updates_name_what_they_are_about(seen: &[Value]) {
    let kinds: Vec<&str> = seen.iter().filter_map(|request| request["type"].as_str()).collect();
    assert_eq!((kinds[0], *kinds.last().expect("requests")), ("start", "end"));
    assert!(seen[0]["learn"]["learning_rate"].is_number(), "{}", seen[0]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "step").count(), 5);
    let mut played: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    let (mut roles, mut rewards) = (BTreeSet::new(), BTreeSet::new());
    for request in seen {
        let step = request["step"].as_u64().unwrap_or_default();
        if request["type"] == "generate" && request["purpose"] == "play" {
            let first = request["first_rollout"].as_u64().expect("a number");
            let all = rollouts(request, true).concat();
            let text = |one: &Value| one["text"].as_str().expect("a text").to_owned();
            played.extend((first..).zip(all.iter().map(|one| (step, text(one)))));
        }
        if request["type"] != "update" {
            continue;
        }
        assert!(request["normalizer"].as_f64().is_some_and(|number| number > 0.0), "{request}");
        assert!(request["learning_rate"].as_f64().is_some_and(|rate| rate > 0.0), "{request}");
        for sample in request["samples"].as_array().expect("a list") {
            let (of_step, text) = &played[&sample["rollout"].as_u64().expect("a number")];
            assert_eq!(*of_step, step, "{sample}");
            assert_eq!(sample["role"] == "proposer", text.starts_with("def "), "{sample}");
            let (advantage, weight) = (sample["advantage"].as_f64(), sample["weight"].as_f64());
            assert!(advantage.zip(weight).is_some_and(|(advantage, weight)| advantage * weight > 0.0), "{sample}");
            let group = sample["group"].as_str().expect("a text");
            assert!(group.starts_with(sample["role"].as_str().expect("a role")), "{sample}");
            roles.insert(sample["role"].to_string());
            rewards.insert(sample["reward"].to_string());
        }
    }
    assert!(roles.len() == 2 && rewards.len() > 1, "{roles:?} {rewards:?}");
}

fn logs_tell_what_the_trainer_told(run: &Path) {
    for event in events(run) {
        assert_eq!(event["actor/loss"].as_f64(), Some(0.25), "{event}");
        assert!(event["actor/entropy"].is_null() && event["actor/grad_norm"].is_null(), "{event}");
        assert_eq!(event["play"]["roles"][0]["response_tokens_mean"].as_f64(), Some(2.0), "{event}");
    }
    assert!(run.join("checkpoints/step_5/trainer/weights").is_file());
}

#[test]
fn a_trainer_that_gives_text_alone_gets_no_lengths() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let trainer = Trainer::new(play(&config(), dir.path()).args(["--steps", "1"]));
    let seen = trainer.play(Answers { tokens: false, ..WHOLE }, 0, &[]);
    let update = seen.iter().find(|request| request["type"] == "update").expect("it learns");
    assert!(update["normalizer"].is_null() && update["samples"][0]["scale"].is_null(), "{update}");
    assert!(update["samples"][0]["reward"].is_number(), "{update}");
    let step = seen.iter().find(|request| request["type"] == "step").expect("a step");
    assert!(step["metrics"]["play"]["roles"][0]["response_tokens_mean"].is_null(), "{step}");
    assert!(step["metrics"]["play"]["roles"][0]["reward_mean"].is_number(), "{step}");
}

#[test]
fn games_with_verifiers_and_with_tools_are_played_too() {
    for mut config in [small_sol_ver(), small_self_challenge()] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        merge(&mut config, "model = \"stdio\"\nsteps = 1".parse().expect("TOML"));
        if let Some(samples) = config["game"].get_mut("sft_samples") {
            *samples = 0.into();
        }
        let trainer = Trainer::new(&mut play(&config, dir.path()));
        let seen = trainer.play(Answers { tokens: false, ..WHOLE }, 0, &[]);
        let prompts = seen.iter().flat_map(|request| request["prompts"].as_array().into_iter().flatten());
        let roles: BTreeSet<String> = prompts.map(|prompt| prompt["role"].to_string()).collect();
        assert!(roles.len() >= 2, "{roles:?}");
    }
}

/// The end of a run whose trainer answers these lines, then ends.
fn answered(lines: &[&str]) -> Output {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let Trainer { mut run, requests, .. } = Trainer::new(&mut play(&config(), dir.path()));
    let mut stdin = run.stdin.take().expect("stdin is piped");
    lines.iter().for_each(|line| writeln!(stdin, "{line}").expect("the pipe has room"));
    drop(stdin);
    requests.lines().for_each(drop);
    run.wait_with_output().expect("it ends")
}

#[test]
fn an_answer_that_is_wrong_ends_the_run_with_what_it_was() {
    let started = r#"{"type": "started"}"#;
    let cases: [(&[&str], &str); 5] = [
        (&["hello"], "answer to `start` of step `0` is no JSON object with a `type`"),
        (&[r#"{"type": "rollouts", "rollouts": []}"#], "answered `rollouts` to `start` of step `0`, and `started`"),
        (&[started, r#"{"type": "rollouts", "rollouts": [["x"]]}"#], "`rollouts` to `generate` of step `0` is invalid"),
        (&[started, r#"{"type": "rollouts", "rollouts": []}"#], "`rollouts` has `0` groups, and there are `"),
        (&[started, r#"{"type": "error", "message": "out of memory"}"#], "in `generate` of step `0`: out of memory"),
    ];
    for (lines, want) in cases {
        ended(&answered(lines), 5, &[want]);
    }
}

#[test]
fn settings_that_cannot_be_are_refused_before_the_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (setting, said) in [("steps", "--set `steps`: there is no `=`"), ("seed.x=1", "`seed` is a value, not a table")]
    {
        let mut command = play(&config(), dir.path());
        fails(command.stdin(Stdio::null()).args(["--set", setting]), 3, &[said, "hint:"]);
    }
    let mut command = play(&config(), dir.path());
    let said = "`game.privileged_credit` is `0.1`: it must be 0, because `model` is `stdio`: your trainer";
    fails(command.stdin(Stdio::null()).args(["--set", "game.privileged_credit=0.1"]), 3, &[said]);
    // What a trainer cannot do is known once it is there.
    for (key, value) in [("game.sft_samples", "4"), ("game.answer_weight", "0.5")] {
        let mut command = play(&config(), dir.path());
        let refused = format!("`{key}` is `{value}`: it must be 0, because `model` is `stdio`");
        Trainer::new(command.args(["--set", &format!("{key}={value}")])).play(WHOLE, 3, &[&refused]);
    }
}
