//! `veriplay isolate --target service`: our own service contains every probe, and a service with a weakness does not contain those that are for
//! it.

use std::collections::BTreeSet;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::isolate::{NOT_CONTAINED, allowed, read_sarif, verdicts};
use super::{Helper, column, ended, finished, last_json, root, says, script, stderr, stdout, succeeded, veriplay};

/// Each weakness of `weak_service.py`, and the probes that must escape from a service that has it.
const WEAKNESSES: &[(&str, &[&str])] = &[
    ("json_500", &["service_input/not_json"]),
    (
        "unnamed_fields",
        &["service_input/missing_field", "service_input/wrong_types", "service_input/wrong_native_fields"],
    ),
    ("nan", &["service_input/no_numbers"]),
    ("no_time_limit", &["service_input/endless_time_limit"]),
    ("recursion", &["service_input/deep_json"]),
    ("first_key", &["service_input/duplicate_keys"]),
    ("any_text", &["service_input/invalid_text"]),
    ("no_body_limit", &["service_input/announced_body", "service_input/body_without_end"]),
    ("runs_cut_bodies", &["service_input/body_cut_short"]),
    ("unpacks", &["service_input/packed_body"]),
    ("length_first", &["service_framing/length_and_chunks"]),
    ("first_length", &["service_framing/two_lengths"]),
    ("lenient_encodings", &["service_framing/odd_encodings"]),
    ("lenient_chunks", &["service_framing/odd_chunks"]),
    ("garbage_500", &["service_framing/garbage_behind_a_request"]),
    ("echoes_path", &["service_framing/header_injection"]),
    ("no_head_limit", &["service_framing/giant_head"]),
    ("no_head_time", &["service_load/slow_heads"]),
    ("no_body_time", &["service_load/slow_bodies"]),
    ("places_for_bodies", &["service_load/slow_bodies"]),
    ("one_at_a_time", &["service_load/idle_connections"]),
    ("one_at_a_time", &["service_load/connection_flood"]),
    ("one_at_a_time", &["service_load/unread_answers"]),
    ("keeps_abandoned", &["service_load/hang_up"]),
    ("batch_first", &["service_load/batch_of_another"]),
    ("shared_output", &["service_load/crossed_answers", "service_clients/other_client_in_answers"]),
    ("broken_pool", &["service_load/dying_workers"]),
    ("drops_dying", &["service_load/dying_workers"]),
    ("keeps_files", &["service_load/full_disk"]),
    ("open_metrics", &["service_access/no_token"]),
    ("part_of_token", &["service_access/part_of_the_token"]),
    ("normalises_late", &["service_access/around_the_token"]),
    ("serves_files", &["service_access/path_traversal"]),
    ("follows_paths", &["service_access/files_outside"]),
    ("writes_paths", &["service_access/files_outside"]),
    ("any_type", &["service_access/page_in_a_browser"]),
    ("traces", &["service_clients/host_in_answers"]),
    ("tells_tokens", &["service_clients/host_in_answers"]),
    ("tells_last", &["service_clients/other_client_in_answers"]),
    ("small_key", &["service_clients/verdict_of_another_task"]),
    ("logs_programs", &["service_clients/program_in_the_log"]),
];

/// Tokens of two clients.
const TOKENS: [&str; 2] = ["first-token-0123456789", "second-token-0123456789"];

/// `weak_service.py` with some weaknesses, in a folder of its own.
struct WeakService {
    _process: Helper,
    folder: TempDir,
    target: String,
}

impl WeakService {
    fn start(weaknesses: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("tokens"), TOKENS.join("\n")).expect("the tokens are written");
        let mut command = script("weak_service.py");
        command.args(["log", "tokens"]).args(weaknesses).current_dir(folder.path());
        let (process, address) = Helper::start(&mut command);
        Self { _process: process, folder, target: format!("service:{address}") }
    }

    fn command(&self, patience: &str) -> Command {
        let mut command = veriplay();
        command.args(["isolate", "--json", "--token-file", "tokens", "--service-log", "log", "--patience", patience]);
        command.args(["--target", &self.target]).current_dir(self.folder.path());
        command
    }

    fn attack(&self, arguments: &[&str]) -> Output {
        finished(self.command("4").args(arguments))
    }
}

/// What is not as it must be on a service with one weakness.
fn contained_in_spite_of(weakness: &str, probes: &[&str]) -> String {
    let service = WeakService::start(&[weakness]);
    let arguments: Vec<&str> = probes.iter().flat_map(|probe| ["--probe", probe]).collect();
    let output = service.attack(&arguments);
    if output.status.code() != Some(NOT_CONTAINED) {
        return format!("{weakness}: {:?}: {}{}\n", output.status, stdout(&output), stderr(&output));
    }
    let report = last_json(&output);
    assert!(TOKENS.iter().all(|token| !report.to_string().contains(token)), "a token in {report}");
    let found = verdicts(&report);
    let mut out = String::new();
    for probe in probes {
        let (verdict, evidence) = &found[*probe];
        if verdict != "escaped" || evidence.starts_with("afterwards") {
            out += &format!("{weakness}: {probe} is {verdict}: {evidence}\n");
        }
    }
    out
}

#[test]
fn our_own_service_contains_every_probe() {
    let report = last_json(&succeeded(veriplay().args(["isolate", "--target", "service", "--json"])));
    assert_eq!((&report["escaped"], &report["unclear"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!((&report["contained"], &report["not_tried"]), (&json!(probe_ids().len()), &json!([])), "{report}");
}

#[test]
fn a_service_without_a_weakness_contains_every_probe() {
    let report = last_json(&succeeded(&mut WeakService::start(&[]).command("4")));
    assert_eq!(report["contained"], json!(probe_ids().len()), "{report}");
}

#[test]
fn each_weakness_lets_its_probes_out() {
    drop(veriplay());
    // Most of them wait for time limits.
    let wrong: String = std::thread::scope(|scope| {
        let some = WEAKNESSES.chunks(WEAKNESSES.len().div_ceil(6));
        let check = |(name, probes): &(&str, &[&str])| contained_in_spite_of(name, probes);
        let threads: Vec<_> =
            some.map(|some| scope.spawn(move || some.iter().map(check).collect::<String>())).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// All probes of a service.
fn probe_ids() -> BTreeSet<String> {
    let listed = last_json(&succeeded(veriplay().args(["isolate", "--list", "--json", "--target", "service"])));
    column(&listed, "probe").into_iter().map(|probe| probe.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn every_probe_can_fail() {
    let named: BTreeSet<String> =
        WEAKNESSES.iter().flat_map(|(_, probes)| probes.iter().map(|probe| (*probe).to_owned())).collect();
    assert_eq!(probe_ids(), named);
}

#[test]
fn the_page_has_the_number_of_probes_of_each_class() {
    let page = std::fs::read_to_string(root().join("docs/isolation.md")).expect("the page is there");
    let probes = probe_ids();
    let classes: BTreeSet<&str> = probes.iter().filter_map(|id| Some(id.split_once('/')?.0)).collect();
    for class in classes {
        let count = probes.iter().filter(|id| id.starts_with(&format!("{class}/"))).count();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{class}` |"))).unwrap_or_default();
        assert_eq!(row.split('|').nth(3).map(str::trim), Some(count.to_string().as_str()), "{class}: {row}");
    }
}

/// Whether a thread of the process has that name.
fn has_thread(process: u32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    let names = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default());
    names.into_iter().any(|comm| comm.trim() == name)
}

#[test]
fn a_signal_does_not_wait_for_the_probe_under_way() {
    let service = WeakService::start(&["no_head_time"]);
    let mut command = service.command("3600");
    command.args(["--probe", "service_load/slow_heads"]);
    let mut suite = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    while !has_thread(suite.id(), "probe") {
        assert!(suite.try_wait().expect("it is a child").is_none(), "it ended before its probe");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&suite), Signal::TERM).expect("it runs");
    let output = suite.wait_with_output().expect("it ends");
    let report = last_json(&output);
    assert_eq!((output.status.code(), &report["stopped"]), (Some(130), &json!(true)), "{report}");
    let unreached = json!({"what": "service_load", "count": 1, "why": "a signal stopped the suite first"});
    assert_eq!(report["probes"], json!([]), "{report}");
    assert!(report["not_tried"].as_array().is_some_and(|groups| groups.contains(&unreached)), "{report}");
}

#[test]
fn what_a_service_does_not_have_is_skipped_with_the_reason() {
    let service = WeakService::start(&["part_of_token"]);
    let write = |name: &str, text: &str| std::fs::write(service.folder.path().join(name), text).expect("it is written");
    write("allow.toml", &allowed("service_access/part_of_the_token", ""));
    write("tokens", TOKENS[0]);
    let options = ["--class", "service_access", "--class", "service_clients", "--allow", "allow.toml"];
    let output = succeeded(service.command("4").args(options).args(["--sarif", "report.sarif"]));
    let report = last_json(&output);
    assert_eq!(report["allowed"], 1, "{report}{}", stderr(&output));
    assert!(report["not_tried"].to_string().contains("two tokens"), "{report}");
    let sarif = read_sarif(&service.folder.path().join("report.sarif"));
    let (rules, found) = (&sarif["runs"][0]["tool"]["driver"]["rules"], &sarif["runs"][0]["results"][0]["ruleId"]);
    let rule = rules.as_array().and_then(|rules| rules.iter().find(|rule| rule["id"] == *found)).expect("its rule");
    assert_eq!(rule["properties"]["source"], "crates/lab/src/isolate/service/access.rs", "{sarif}");
    let mut batch = service.command("4");
    ended(batch.args(["--probe", "service_load/batch_of_another"]), 3, &["hint: they need two tokens"]);
}

#[test]
fn probes_of_services_are_listed_and_explained() {
    let text = |arguments: &[&str]| stdout(&succeeded(veriplay().arg("isolate").args(arguments)));
    let some = text(&["--list", "--class", "service_load"]);
    assert!(!some.is_empty() && some.lines().all(|line| line.contains("  a service ")), "{some}");
    assert_eq!(some, text(&["--list", "--class", "service_load", "--target", "service:http://nowhere"]));
    let explained = text(&["--explain", "service_load/hang_up"]);
    says(&explained, &["Contained: ", "severity: medium"]);
}
