//! `--log-format json`: whatever a command says on stderr is one JSON object a line.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{ended, last_json, played, small_config, stderr, succeeded, veriplay, with, write_config};

/// The lines of stderr, each of which must be an event.
fn events(output: &Output) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
    let events: Vec<Value> = stderr(output).lines().map(parse).collect();
    for event in &events {
        assert!(["timestamp", "level", "message"].iter().all(|key| event[*key].is_string()), "{event}");
    }
    events
}

/// How far a phase came at last.
fn last_of<'a>(events: &'a [Value], phase: &str) -> &'a Value {
    let last = events.iter().rfind(|event| event["phase"] == phase);
    last.unwrap_or_else(|| panic!("no phase `{phase}` in {events:#?}"))
}

/// Runs a program that is on standard input.
fn run_with_log(options: &[&str], program: &str) -> Output {
    let mut command = veriplay();
    command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("it is piped").write_all(program.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_run_its_replay_and_an_evaluation_say_events_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), &small_config());
    let run = dir.path().join("run");
    let with_log = |command: &mut Command| succeeded(command.args(["--log-format", "json"]));

    let played = events(&with_log(veriplay().arg("play").arg("--config").arg(&config).arg("--out").arg(&run)));
    let end = last_of(&played, "self-play");
    assert_eq!((&end["done"], &end["total"], &end["level"]), (&5.into(), &5.into(), &"INFO".into()));
    assert!(end["elapsed_seconds"].is_u64());
    // The first and the last event of each phase: the run's ends before the last evaluation begins.
    let begins = |event: &Value| event["message"].as_str().is_some_and(|message| message.ends_with(": begins"));
    let ends = |event: &Value| event["done"].is_u64() && event["done"] == event["total"];
    let is_of_run = |event: &Value| event["phase"] == "evaluate" || event["phase"] == "self-play";
    let bounds = played.iter().filter(|event| is_of_run(event) && (begins(event) || ends(event)));
    let mut bounds: Vec<(&str, bool)> =
        bounds.map(|event| (event["phase"].as_str().unwrap_or_default(), begins(event))).collect();
    // A line of progress may say the same as the end.
    bounds.dedup();
    let [evaluation, steps] = ["evaluate", "self-play"].map(|phase| [(phase, true), (phase, false)]);
    assert_eq!(bounds, [evaluation, steps, evaluation].concat());

    let replayed = events(&with_log(veriplay().arg("replay").arg(&run)));
    assert_eq!(last_of(&replayed, "replay")["done"], 5);
    let evaluated = events(&with_log(veriplay().args(["eval", "--model", "builtin:tiny", "--config"]).arg(&config)));
    let end = last_of(&evaluated, "evaluate");
    assert_eq!(end["done"], end["total"]);
}

#[test]
fn the_parts_of_a_step_say_how_long_they_took() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write_config(dir.path(), &small_config());
    let mut command = veriplay();
    command.args(["play", "--steps", "1", "--config"]).arg(&config).arg("--out").arg(dir.path().join("run"));
    let said = stderr(&succeeded(command.env("VERIPLAY_LOG", "veriplay_selfplay=debug,veriplay_run=debug")));
    for span in
        ["propose", "draw", "solve", "sample", "judge_proposals", "learn", "play_step", "checkpoint", "evaluate"]
    {
        let mut ended = said.lines().filter(|line| line.contains("close time.busy="));
        let named = |line: &str| [":", "{"].iter().any(|end| line.contains(&format!("{span}{end}")));
        assert!(ended.any(named), "no span `{span}` ends in\n{said}");
    }
}

#[test]
fn an_interrupted_phase_is_not_complete() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let sent = folder.path().join("sent");
    // One signal: a second would end the process at once.
    let sent = sent.display();
    let target = format!("cmd:python3 {{file}}; [ -e {sent} ] || {{ touch {sent}; kill -TERM $PPID; }}");
    let mut isolate = veriplay();
    isolate.args(["isolate", "--log-format", "json", "--jobs", "1", "--json", "--target", &target]);
    let output = ended(&mut isolate, 130, &[]);
    let events = events(&output);
    let end = last_of(&events, "probes");
    let tried = last_json(&output)["probes"].as_array().map(Vec::len);
    assert_eq!(end["done"].as_u64(), tried.map(|tried| tried as u64), "{end}");
    assert!(end["done"].as_u64() < end["total"].as_u64(), "{end}");
}

#[test]
fn a_plug_in_writes_into_the_log() {
    let config = with(small_config(), "game.reward = \"exec:echo 'error: not today' >&2; exit 3\"");
    let output = played(&config, &["--log-format", "json"], 3, &[]);
    let events = events(&output);
    let said = events.iter().find(|event| event["message"] == "error: not today");
    assert_eq!(said.map(|event| (&event["level"], &event["stream"])), Some((&"INFO".into(), &"stderr".into())));
    assert!(events.iter().any(|event| event["level"] == "ERROR"), "{events:#?}");
}

#[test]
fn a_program_cannot_forge_the_level_of_an_event() {
    let program = "import sys\nprint('out')\nprint('error: forged\\n{\"level\": \"ERROR\"}', file=sys.stderr)";
    let output = run_with_log(&["--log-format", "json", "run", "-"], program);
    assert_eq!(output.stdout, b"out\n");
    let events = events(&output);
    assert!(events.iter().all(|event| event["level"] == "INFO"), "{events:#?}");
    assert_eq!(events[0]["stream"], "stderr");
    let output = run_with_log(&["run", "-", "--quiet", "--log-format=json"], "print('out')");
    assert_eq!((output.stdout.as_slice(), stderr(&output)), (b"out\n".as_slice(), String::new()));
}

#[test]
fn verbose_logs_what_is_done_and_nothing_of_libraries() {
    for option in ["-v", "-vv"] {
        let said = stderr(&run_with_log(&[option, "run", "-"], "print('out')"));
        assert!(said.contains("image opened") && said.contains("sandbox opened"), "{said}");
        assert!(!said.contains("wasmtime::") && !said.contains("cranelift"), "{said}");
    }
}

#[test]
fn errors_have_their_hint_as_a_field_and_wrong_usage_is_one_of_them() {
    let is_usage =
        |event: &Value| event["message"].as_str().is_some_and(|message| message.contains("--no-such-option"));
    let refused = |arguments: &[&str]| {
        let refused = events(&ended(veriplay().args(arguments), 2, &[]));
        assert_eq!((refused.len(), &refused[0]["level"]), (1, &"ERROR".into()));
        refused[0].clone()
    };
    let event = refused(&["run", "-", "--memory-mib", "1", "--log-format", "json"]);
    assert_eq!(event["message"], "`--memory-mib 1` is out of range");
    assert!(event["hint"].as_str().is_some_and(|hint| hint.starts_with("give a number from ")), "{event:?}");
    assert!(is_usage(&refused(&["play", "--no-such-option", "--log-format", "json"])));
    assert!(is_usage(&refused(&["play", "--no-such-option", "--log-format=json"])));
    let said = stderr(&ended(veriplay().args(["play", "--no-such-option"]), 2, &[]));
    assert!(said.starts_with("error: "), "{said}");
    let help = succeeded(veriplay().args(["--log-format", "json", "--help"]));
    assert!(stderr(&help).is_empty() && help.stdout.starts_with(b"Self-play"));
}
