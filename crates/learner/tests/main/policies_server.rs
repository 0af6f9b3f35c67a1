//! A served model: against a real server on loopback that serves our tiny model, and that fails in every way a server can.

use std::time::Duration;

use serde_json::{Value, json};
use veriplay_core::{FinishReason, Message, Policy, PolicyError, PolicyVersion, Prompt, Role, Sampling};
use veriplay_learner::{ApiKey, ServerError, ServerOptions, ServerPolicy};

use crate::common::prompt;
use crate::completions_server::{Act, Server, ServerKind, model, request};

/// Does not wait between attempts.
fn options() -> ServerOptions {
    ServerOptions { backoff: Duration::ZERO, attempts: 3, ..ServerOptions::default() }
}

fn policy(server: &Server, options: ServerOptions) -> ServerPolicy {
    ServerPolicy::open(&format!("{}#tiny", server.url), options).expect("a fine name")
}

fn sampling(group: usize) -> Sampling {
    Sampling { group, seed: 3, ..Sampling::new(24) }
}

fn prompts(count: usize) -> Vec<Prompt> {
    (0..count).map(|i| prompt(&format!("<D>def f(x):\n    x = {i} +"))).collect()
}

/// The error of asking a server that does `act` with every request; and how many requests there were.
fn refused(options: ServerOptions, act: impl Fn(&Value, usize) -> Act + Send + Sync + 'static) -> (PolicyError, usize) {
    let server = Server::start(ServerKind::Vllm, act);
    let error = policy(&server, options).generate(&prompts(1), &sampling(2)).expect_err("the server fails");
    (error, server.seen().len())
}

#[test]
fn rollouts_are_those_of_the_served_model() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let groups = policy(&server, options()).generate(&prompts(5), &sampling(3)).expect("it answers");
    let mut seen = server.seen();
    assert_eq!(seen.len(), 5, "one request for a prompt");
    assert!(seen.iter().all(|seen| seen.path == "/v1/completions" && seen.authorization.is_none()));
    for (group, asked) in groups.iter().zip(prompts(5)) {
        let at = seen.iter().position(|seen| seen.body["prompt"] == json!(asked.text())).expect("it was asked");
        let body = seen.remove(at).body;
        assert_eq!((&body["n"], &body["model"]), (&json!(3), &json!("tiny")));
        let want = model().complete(&[request(&body)]).expect("samples").remove(0);
        for (rollout, want) in group.iter().zip(&want) {
            assert_eq!((&rollout.tokens, &rollout.logprobs), (&want.tokens, &want.logprobs));
            assert_eq!((&rollout.text, rollout.finish), (&model().text(want), want.finish()));
            assert_eq!(model().tokenizer().decode(&rollout.prompt_tokens), asked.text());
            assert_eq!(rollout.policy, PolicyVersion(0));
        }
        assert_eq!(group.len(), 3);
    }
    assert!(groups.iter().flatten().any(|r| r.finish == FinishReason::Stop));
    let scored = model().score(&groups[0][0].prompt_tokens, &[groups[0][0].tokens.clone()]).expect("scores").remove(0);
    assert!(scored.iter().zip(&groups[0][0].logprobs).all(|(a, b)| (a - b).abs() < 1e-4), "they are the model's own");
}

#[test]
fn a_conversation_goes_to_the_chat_completions_with_its_stop_strings() {
    let begun = vec![Message::user("x = 1"), Message::assistant("x = ")];
    for (messages, kind) in [(vec![Message::user("x = 1")], ServerKind::Vllm), (begun, ServerKind::LlamaCpp)] {
        let server = Server::start(kind, |_, _| Act::Answer);
        let asked = Prompt::new(Role::SOLVER, messages).with_stop(["1"]);
        let sampling = Sampling { stop: vec!["2".to_owned()], ..sampling(2) };
        let group = policy(&server, options()).generate(&[asked], &sampling).expect("it answers").remove(0);
        let seen = server.seen().remove(0);
        assert_eq!((seen.path.as_str(), &seen.body["stop"]), ("/v1/chat/completions", &json!(["1", "2"])));
        let want = model().complete(&[request(&seen.body)]).expect("samples").remove(0);
        for (rollout, want) in group.iter().zip(&want) {
            assert_eq!((&rollout.tokens, &rollout.logprobs), (&want.tokens, &want.logprobs), "{kind:?}");
            assert!(!rollout.text.contains(['1', '2']), "{}", rollout.text);
        }
    }
}

#[test]
fn seeds_differ_between_prompts_and_calls_and_repeat() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let policy = policy(&server, options());
    let same = vec![prompt("x = "); 2];
    let first = policy.generate(&same, &sampling(2)).expect("it answers");
    assert_eq!(first, policy.generate(&same, &sampling(2)).expect("it answers"));
    assert_ne!(first[0], first[1]);
    assert_ne!(first, policy.generate(&same, &Sampling { seed: 4, ..sampling(2) }).expect("it answers"));
    assert!(server.seen().iter().all(|seen| seen.body["seed"].as_u64().is_some_and(|seed| seed < 1 << 31)));
}

#[test]
fn log_probabilities_are_kept_where_they_are_those_of_the_distribution_drawn_from_and_never_guessed() {
    for (kind, temperature, tokens, logprobs) in [
        (ServerKind::Vllm, 1.0, true, true),
        (ServerKind::LlamaCpp, 1.0, true, true),
        (ServerKind::Plain, 1.0, false, false),
        (ServerKind::Vllm, 0.7, true, false),
        (ServerKind::Vllm, 0.0, true, false),
    ] {
        let server = Server::start(kind, |_, _| Act::Answer);
        let asked = Sampling { temperature, ..sampling(2) };
        let rollout = policy(&server, options()).generate(&prompts(1), &asked).expect("it answers").remove(0).remove(0);
        let what = format!("{kind:?} at {temperature}");
        assert!(!rollout.text.is_empty(), "{what}");
        assert_eq!((!rollout.tokens.is_empty(), !rollout.logprobs.is_empty()), (tokens, logprobs), "{what}");
        if logprobs {
            assert_eq!(rollout.tokens.len(), rollout.logprobs.len(), "{what}");
        }
    }
}

#[test]
fn with_a_tokenizer_prompts_are_sent_as_ids() {
    let server = Server::start(ServerKind::LlamaCpp, |_, _| Act::Answer);
    let json = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tokenizer.json");
    let policy = ServerPolicy::open(&format!("{}/v1#tiny#{json}", server.url), options()).expect("a fine name");
    let rollout = policy.generate(&prompts(1), &sampling(1)).expect("it answers").remove(0).remove(0);
    let ids = model().tokenizer().encode(&prompts(1)[0].text()).expect("it can be spelled");
    let seen = server.seen().remove(0);
    assert_eq!((&seen.body["prompt"], seen.path.as_str()), (&json!(ids), "/v1/completions"));
    assert_eq!(rollout.prompt_tokens, ids);
}

#[test]
fn passing_faults_are_asked_again_and_what_has_come_is_kept() {
    let overloaded = || Act::Say(429, "Retry-After: 0\r\n", r#"{"error": "slow down"}"#.to_owned());
    let faults: [fn() -> Act; 5] = [
        || Act::Say(500, "", "{}".to_owned()),
        || Act::HangUp,
        || Act::Cut,
        || Act::Say(200, "", "<html>a proxy</html>".to_owned()),
        || Act::Changed(|answer| answer["choices"] = json!([])),
    ];
    let want = {
        let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
        policy(&server, options()).generate(&prompts(4), &sampling(2)).expect("it answers")
    };
    for fault in faults.into_iter().chain([overloaded as fn() -> Act]) {
        // Only the third prompt meets it, and only twice.
        let server = Server::start(ServerKind::Vllm, move |body, number| {
            let unlucky = body["prompt"].as_str().is_some_and(|text| text.ends_with("x = 2 +"));
            if unlucky && number < 2 { fault() } else { Act::Answer }
        });
        // One at a time, so that the numbers of requests are those of prompts.
        let asked: Vec<Prompt> = prompts(4).into_iter().skip(2).collect();
        let policy = policy(&server, ServerOptions { concurrency: 1, ..options() });
        let got = policy.generate(&asked, &sampling(2)).expect("it answers in the end");
        assert_eq!(server.seen().len(), 4, "two attempts failed, and nobody else was asked twice");
        assert_eq!(got[0].len(), 2);
        assert_eq!(got[0].iter().map(|r| &r.prompt_tokens).collect::<Vec<_>>(), vec![&want[2][0].prompt_tokens; 2]);
    }
}

#[test]
fn a_server_that_gives_too_few_samples_is_asked_for_the_rest_with_another_seed() {
    let server = Server::start(ServerKind::Vllm, |_, _| {
        Act::Changed(|answer| answer["choices"].as_array_mut().expect("a list").truncate(1))
    });
    let group = policy(&server, options()).generate(&prompts(1), &sampling(4)).expect("it answers").remove(0);
    assert_eq!(group.len(), 4);
    let seen = server.seen();
    assert_eq!(seen.iter().map(|seen| seen.body["n"].as_u64().unwrap()).collect::<Vec<_>>(), [4, 3, 2, 1]);
    let seeds: std::collections::BTreeSet<u64> = seen.iter().map(|seen| seen.body["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), 4);
}

#[test]
fn lasting_faults_are_reported_with_the_prompt_and_the_number_of_attempts() {
    let (error, asked) = refused(options(), |_, _| Act::Say(503, "", "the model is\nloading".to_owned()));
    assert_eq!(asked, 3);
    let text = error.to_string();
    assert!(text.contains("prompt 0 after 3 attempts: the server answered 503: the model is\\nloading"), "{text}");
    let server = Server::start(ServerKind::Vllm, |body, _| {
        if body["prompt"].as_str().is_some_and(|text| text.ends_with("x = 1 +")) { Act::HangUp } else { Act::Answer }
    });
    let error = policy(&server, options()).generate(&prompts(3), &sampling(2)).expect_err("a hole");
    assert!(matches!(&error, PolicyError::Backend(why) if why.contains("prompt 1 after 3 attempts")), "{error}");
}

#[test]
fn after_a_prompt_has_failed_for_good_no_other_is_begun() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Say(503, "", String::new()));
    let policy = policy(&server, ServerOptions { concurrency: 2, ..options() });
    let error = policy.generate(&prompts(50), &sampling(1)).expect_err("it fails");
    assert!(error.to_string().contains("after 3 attempts"), "{error}");
    assert!(server.seen().len() <= 4 * 3, "{} requests", server.seen().len());
}

#[test]
fn refusals_are_not_asked_again() {
    for (status, body) in [(400, r#"{"message": "maximum context length is 9"}"#), (401, "{}"), (404, ""), (501, "")] {
        let (error, asked) = refused(options(), move |_, _| Act::Say(status, "", body.to_owned()));
        assert_eq!(asked, 1, "{status}");
        assert!(error.to_string().contains(&format!("answered {status}")), "{error}");
    }
    let (error, asked) = refused(options(), |_, _| Act::Say(302, "Location: http://127.0.0.1:1/\r\n", String::new()));
    assert_eq!(asked, 1);
    assert!(error.to_string().contains("answered 302"), "a redirect is not followed: {error}");
}

#[test]
fn a_wait_longer_than_allowed_ends_the_asking() {
    let (error, asked) = refused(options(), |_, _| Act::Say(429, "Retry-After: 7200\r\n", String::new()));
    assert_eq!(asked, 1);
    let text = error.to_string();
    assert!(text.contains("asked again in 7200 s, longer than the 60 s allowed"), "{text}");
}

#[test]
fn answers_of_a_wrong_shape_are_named() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 10] = [
        ("missing field `choices`", |answer| *answer = json!({"error": "x"})),
        ("invalid type: string", |answer| answer["choices"] = json!("x")),
        ("choice 0 has neither `text` nor `message`", |answer| {
            drop(answer["choices"][0].as_object_mut().map(|choice| choice.remove("text")))
        }),
        ("0 choices, want 2", |answer| answer["choices"] = json!([])),
        ("3 choices, want 2", |answer| {
            let choice = answer["choices"][0].clone();
            answer["choices"] = json!([choice, choice, choice]);
        }),
        ("ended by Some(\"content_filter\")", |answer| answer["choices"][1]["finish_reason"] = json!("content_filter")),
        ("1 tokens and", |answer| answer["choices"][1]["token_ids"] = json!([7])),
        ("tokens, and 24 were asked for", |answer| answer["choices"][0]["token_ids"] = json!(vec![7; 25])),
        ("log-probability `0.5`", |answer| answer["choices"][0]["logprobs"]["token_logprobs"][0] = json!(0.5)),
        ("invalid value: integer `-1`", |answer| answer["choices"][0]["token_ids"] = json!([-1])),
    ];
    for (want, change) in cases {
        let (error, asked) = refused(options(), move |_, _| Act::Changed(change));
        assert!(error.to_string().contains(want), "want {want}: {error}");
        assert_eq!(asked, 3);
    }
    let (error, _) = refused(options(), |_, _| Act::Say(200, "", "\u{1b}[31m{".to_owned()));
    assert!(error.to_string().contains("it begins `\\u{1b}[31m{`"), "{error}");
}

#[test]
fn an_answer_that_is_too_slow_or_too_large_is_an_error() {
    let hasty = ServerOptions { timeout: Duration::from_millis(60), attempts: 2, ..options() };
    let (error, asked) = refused(hasty, |_, _| Act::Silence);
    assert_eq!(asked, 2);
    assert!(error.to_string().contains("after 2 attempts: no answer within 0.06 s"), "{error}");
    let narrow = ServerOptions { response_bytes: 1000, ..options() };
    let (error, asked) = refused(narrow, |_, _| Act::Say(200, "", " ".repeat(1001)));
    assert_eq!(asked, 1, "it would be as large again");
    assert!(error.to_string().contains("larger than the 1000 bytes"), "{error}");
}

#[test]
fn a_missing_server_is_a_connection_error() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("loopback").port();
    let policy = ServerPolicy::open(&format!("http://127.0.0.1:{port}#tiny"), options()).expect("a fine name");
    let error = policy.generate(&prompts(1), &sampling(1)).expect_err("nobody listens");
    assert!(error.to_string().contains("prompt 0 after 3 attempts: no answer: "), "{error}");
}

#[test]
fn requests_in_flight_are_bounded() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let policy = policy(&server, ServerOptions { concurrency: 3, ..options() });
    assert_eq!(policy.generate(&prompts(20), &sampling(1)).expect("it answers").len(), 20);
    assert!((1..=3).contains(&server.most_flying()), "{} together", server.most_flying());
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let key = "sk-a-very-secret-key";
    let server = Server::start(ServerKind::Vllm, |_, _| {
        Act::Say(401, "", r#"{"error": "wrong key sk-a-very-secret-key"}"#.to_owned())
    });
    let policy = policy(&server, ServerOptions { key: ApiKey::new(key), ..options() });
    let error = policy.generate(&prompts(1), &sampling(1)).expect_err("a wrong key");
    assert_eq!(server.seen()[0].authorization.as_deref(), Some("Bearer sk-a-very-secret-key"));
    assert!(error.to_string().contains("wrong key (key)"), "{error}");
    assert!(!format!("{policy:?} {error:?}").contains(key));
    assert!(ApiKey::new("").is_none() && ApiKey::new("two\r\nlines").is_none());
}

#[test]
fn names_that_cannot_be_used_say_why_without_what_may_be_a_secret() {
    for (name, want) in [
        ("http://127.0.0.1:1", "no model is named"),
        ("127.0.0.1:1#m", "begins with neither"),
        ("ftp://host#m", "begins with neither"),
        ("#m", "cannot be read"),
        ("http://host/?key=1#m", "has a query"),
        ("http://me:secret@host#m", "a key does not belong"),
    ] {
        let error = ServerPolicy::open(name, options()).expect_err("no name").to_string();
        assert!(error.contains(want) && !error.contains("secret"), "want {want}: {error}");
    }
    let missing = ServerPolicy::open("http://host#m#/no/such/tokenizer.json", options());
    assert!(matches!(missing, Err(ServerError::Tokenizer(_))));
}

#[test]
fn what_no_server_could_do_is_refused_before_one_is_asked() {
    let server = Server::start(ServerKind::Vllm, |_, _| Act::Answer);
    let policy = policy(&server, options());
    assert!(policy.generate(&prompts(1), &Sampling { max_tokens: 0, ..sampling(1) }).is_err());
    assert!(policy.generate(&prompts(1), &Sampling { temperature: f32::NAN, ..sampling(1) }).is_err());
    let empty = policy.generate(&[prompts(1).remove(0), prompt("")], &sampling(0));
    assert!(matches!(empty, Err(PolicyError::Tokenize { index: 1, .. })), "{empty:?}");
    assert_eq!(policy.generate(&prompts(2), &sampling(0)).expect("nothing to do"), vec![vec![]; 2]);
    assert!(policy.generate(&[], &sampling(1)).expect("nothing to do").is_empty());
    assert!(server.seen().is_empty());
}
