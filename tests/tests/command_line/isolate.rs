//! `veriplay isolate`: our own sandbox holds, a plain interpreter does not, and CI understands the report of both.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use veriplay_corpus::probes::{CLASSES, Probe, built_in_probes};
use veriplay_tests::external::report_skipped;

use super::{finished, last_json, root, stderr, veriplay};

/// The exit code of a suite that found something.
const NOT_CONTAINED: i32 = 8;

fn probes() -> Vec<Probe> {
    built_in_probes("python").expect("the image has probes")
}

/// Verdict and evidence by probe.
fn verdicts(report: &Value) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let probes = report["probes"].as_array().expect("a list of probes");
    probes
        .iter()
        .map(|probe| {
            let id = format!("{}/{}", text(&probe["class"]), text(&probe["name"]));
            (id, (text(&probe["verdict"]), text(&probe["evidence"])))
        })
        .collect()
}

/// The report on a target, and what differs from `expected` in it: the probes of these classes, each with its verdict.
fn differences(target: &str, classes: &[&str], jobs: &str, expected: impl Fn(&Probe) -> &'static str) -> String {
    let mut command = veriplay();
    command.args(["isolate", "--json", "--jobs", jobs, "--target", target]);
    command.args(classes.iter().flat_map(|class| ["--class", class]));
    let output = finished(&mut command);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | NOT_CONTAINED)), "{code:?}: {}", stderr(&output));
    let found = verdicts(&last_json(&output));
    let tried = probes().into_iter().filter(|probe| probe.language_level && classes.contains(&probe.class));
    let mut out = String::new();
    for probe in tried {
        let (verdict, evidence) = &found[&probe.id()];
        if verdict != expected(&probe) {
            out += &format!("{}: {} expected, {verdict}: {evidence}\n", probe.id(), expected(&probe));
        }
    }
    out
}

fn without_a_sandbox(probe: &Probe) -> &'static str {
    if probe.escapes_unsandboxed { "escaped" } else { "contained" }
}

#[test]
fn our_own_sandbox_holds_and_the_report_is_readable_by_people_and_by_a_ci() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let junit = folder.path().join("report.xml");
    let output = finished(veriplay().arg("isolate").arg("--junit").arg(&junit));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", stderr(&output));
    for class in CLASSES.iter() {
        assert!(text.contains(class.name), "{text}");
    }
    assert!(text.contains("contained") && text.contains("forgeries"), "{text}");
    let xml = std::fs::read_to_string(junit).expect("a report was written");
    let cases = xml.matches("<testcase ").count();
    assert!(xml.starts_with("<?xml") && cases > probes().len(), "{cases} cases");
    assert!(xml.contains("failures=\"0\"") && !xml.contains("<failure"), "{xml}");
}

#[test]
fn it_holds_in_worker_processes_too() {
    let output = finished(veriplay().args(["isolate", "--workers", "process", "--json"]));
    let report = last_json(&output);
    assert!(output.status.success(), "{report}{}", stderr(&output));
    assert_eq!((&report["escaped"], &report["unclear"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(report["contained"], json!(probes().len()));
}

#[test]
fn a_plain_interpreter_lets_exactly_those_probes_out_that_say_so() {
    let probes = probes();
    let runs_there = |class: &&str| probes.iter().any(|probe| probe.language_level && probe.class == *class);
    let classes: Vec<&str> = CLASSES.iter().map(|class| class.name).filter(runs_there).collect();
    let (memory, rest): (Vec<&str>, Vec<&str>) = classes.into_iter().partition(|class| *class == "memory");
    // Most of them wait for one another or for a clock; the ones that take memory are better not many at once.
    let mut out = differences("cmd:python3 {file}", &rest, "6", without_a_sandbox);
    out += &differences("cmd:python3 {file}", &memory, "2", without_a_sandbox);
    assert!(out.is_empty(), "{out}");
}

#[test]
fn an_escape_is_a_failure_in_every_kind_of_report() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let junit = folder.path().join("report.xml");
    let mut command = veriplay();
    command.args(["isolate", "--class", "host_files", "--target", "cmd:python3 {file}", "--junit"]).arg(&junit);
    let output = finished(&mut command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(NOT_CONTAINED), "{text}");
    for words in ["escaped: host_files/password_file", "hint: ", "not tried: ", "bytes of /etc/passwd"] {
        assert!(text.contains(words), "`{words}` is missing in {text}");
    }
    let xml = std::fs::read_to_string(junit).expect("a report was written");
    assert!(xml.contains("<failure message=\"escaped: read") && xml.contains("isolation.host_files"), "{xml}");
    assert!(stderr(&output).contains("not contained: "), "{}", stderr(&output));
}

#[test]
fn a_target_that_runs_no_plain_program_is_one_error_and_is_not_attacked() {
    let target = "cmd:echo out; echo no such interpreter >&2; exit 127; {file}";
    let output = finished(veriplay().args(["isolate", "--class", "secrets", "--json", "--target", target]));
    let said = stderr(&output);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b""[..]), "{said}");
    for words in ["does not run a plain program", "exited with 127", "no such interpreter", "printed: out", "hint: "] {
        assert!(said.contains(words), "`{words}` is missing in {said}");
    }
}

/// A target that runs the plain program and no probe.
const ONLY_PLAIN: &str = "cmd:grep -q '6 . 7' {file} && python3 {file}";

#[test]
fn what_cannot_be_run_is_unclear_and_no_success() {
    let arguments = ["isolate", "--class", "secrets", "--json", "--target", ONLY_PLAIN];
    let output = finished(veriplay().args(arguments));
    assert_eq!(output.status.code(), Some(NOT_CONTAINED), "{}", stderr(&output));
    let report = last_json(&output);
    assert_eq!((&report["contained"], &report["escaped"]), (&json!(0), &json!(0)), "{report}");
    assert!(report["unclear"].as_u64() > Some(0), "{report}");
}

/// A run on a plain interpreter of two probes that escape, with an allow-list.
fn with_allow_list(list: &str, more: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("allow.toml");
    std::fs::write(&file, list).expect("the list is written");
    let mut command = veriplay();
    command.args(["isolate", "--json", "--target", "cmd:python3 {file}", "--probe", "host_files/password_file"]);
    command.args(["--probe", "host_files/hosts_file", "--allow"]).arg(file).args(more);
    finished(&mut command)
}

fn allowed(probe: &str, expires: &str) -> String {
    format!("[[allow]]\nprobe = \"host_files/{probe}\"\nreason = \"ours to read\"\n{expires}\n")
}

#[test]
fn an_allow_list_lets_the_suite_fail_on_what_is_new() {
    let both = allowed("password_file", "") + &allowed("hosts_file", "expires = 2999-12-31");
    let output = with_allow_list(&both, &[]);
    let report = last_json(&output);
    assert_eq!(output.status.code(), Some(0), "{report}{}", stderr(&output));
    assert_eq!((&report["escaped"], &report["allowed"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(report["probes"][0]["allowed"], "ours to read", "{report}");
    // One is not in the list, or is there no longer.
    let expired = allowed("password_file", "") + &allowed("hosts_file", "expires = 2020-02-29");
    for (list, said) in [(allowed("password_file", ""), ""), (expired, "expired on 2020-02-29: ours to read")] {
        let output = with_allow_list(&list, &[]);
        let report = last_json(&output);
        assert_eq!(output.status.code(), Some(NOT_CONTAINED), "{report}");
        assert!(stderr(&output).contains("1 probe escaped"), "{}", stderr(&output));
        assert!(report["allow_list"].to_string().contains(said), "{report}");
    }
    // One that is contained needs no entry.
    let output = with_allow_list(&(both + &allowed("above_the_root", "")), &["--probe", "host_files/above_the_root"]);
    let report = last_json(&output);
    assert_eq!(output.status.code(), Some(0), "{report}");
    let is_contained = verdicts(&report)["host_files/above_the_root"].0 == "contained";
    assert_eq!(report["allow_list"].to_string().contains("can go"), is_contained, "{report}");
}

#[test]
fn a_faulty_allow_list_is_refused_before_anything_is_attacked() {
    for (list, said) in [
        (allowed("nowhere", ""), "no probe `host_files/nowhere`"),
        (allowed("hosts_file", "").replace("ours to read", " "), "`reason` of `host_files/hosts_file` is empty"),
        (allowed("hosts_file", "expires = 2026-01-31T12:00:00"), "is not a day"),
        (allowed("hosts_file", "expires = \"soon\""), "allow.toml"),
        (allowed("hosts_file", "until = 2026-01-31"), "unknown field `until`"),
        (allowed("hosts_file", "").repeat(2), "two entries"),
    ] {
        let output = with_allow_list(&list, &[]);
        assert_eq!(output.status.code(), Some(3), "{list}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "`{said}` is missing in {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{list}");
    }
}

#[test]
fn an_allow_list_that_was_written_is_one_that_is_read_and_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = |more: &[&str]| {
        let fixed = ["isolate", "--class", "host_files", "--target", "cmd:python3 {file}"];
        finished(outside_of_workflows().current_dir(&folder).args(fixed).args(more))
    };
    let (list, sarif, markdown) = (path("allow.toml"), path("report.sarif"), path("report.md"));
    assert_eq!(run(&["--write-allow", &list]).status.code(), Some(NOT_CONTAINED));
    let output = run(&["--allow", &list, "--sarif", &sarif, "--markdown", &markdown]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let again = run(&["--write-allow", &list]);
    assert_eq!(again.status.code(), Some(3));
    assert!(stderr(&again).contains("allow.toml"), "{}", stderr(&again));
    let text = std::fs::read_to_string(list).expect("it was written");
    for result in sarif_results(&sarif) {
        assert_eq!((&result["level"], &result["suppressions"][0]["kind"]), (&json!("error"), &json!("external")));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "allow.toml", "{result}");
        let line = place["region"]["startLine"].as_u64().and_then(|line| text.lines().nth(line as usize - 1));
        let id = result["ruleId"].as_str().expect("an id");
        assert_eq!(line, Some(format!("probe = \"{id}\"").as_str()), "{result}");
    }
    let markdown = std::fs::read_to_string(markdown).expect("it was written");
    assert!(markdown.contains("| host_files | ") && markdown.contains("Allowed: escaped on 20"), "{markdown}");
}

/// The program as no code host starts it.
fn outside_of_workflows() -> Command {
    let mut command = veriplay();
    command.env_remove("GITHUB_WORKSPACE").env_remove("GITHUB_WORKFLOW_REF");
    command
}

/// The results of a SARIF file, which has what SARIF 2.1.0 and GitHub's code scanning require of it.
fn sarif_results(path: &str) -> Vec<Value> {
    let sarif: Value = serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("JSON");
    let schema = sarif["$schema"].as_str().expect("a schema");
    assert!(sarif["version"] == "2.1.0" && schema.ends_with("sarif-2.1.0.json"), "{sarif}");
    let (run, driver) = (&sarif["runs"][0], &sarif["runs"][0]["tool"]["driver"]);
    assert!(driver["name"].is_string() && driver["semanticVersion"].is_string(), "{driver}");
    let rules = driver["rules"].as_array().expect("rules");
    for rule in rules {
        let texts = ["shortDescription", "fullDescription", "help"].map(|key| &rule[key]["text"]);
        assert!(texts.iter().all(|text| text.as_str().is_some_and(|text| !text.is_empty())), "{rule}");
        assert!(rule["properties"]["tags"].as_array().is_some_and(|tags| tags.contains(&json!("security"))), "{rule}");
        // The probe's own file is Veriplay's: nothing that a code host can open.
        let source = rule["properties"]["source"].as_str().expect("a path");
        assert!(root().join(source).is_file(), "{rule}");
    }
    assert_eq!(run["invocations"], json!([{"executionSuccessful": true}]), "{sarif}");
    let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids.len(), rules.len(), "each rule has its own id: {sarif}");
    let results = run["results"].as_array().expect("results");
    assert!(!results.is_empty() && results.len() < rules.len(), "{sarif}");
    for result in results {
        assert!(result["ruleId"].as_str().is_some_and(|id| ids.contains(id)), "{result}");
        assert!(["error", "warning", "note"].iter().any(|level| result["level"] == *level), "{result}");
        assert!(result["message"]["text"].is_string() && result["partialFingerprints"].is_object(), "{result}");
        let [location] = result["locations"].as_array().expect("locations").as_slice() else { panic!("{result}") };
        assert!(location["logicalLocations"][0]["name"].is_string(), "{location}");
        let Some(place) = location.get("physicalLocation") else { continue };
        let uri = place["artifactLocation"]["uri"].as_str().expect("a reference");
        assert!(
            !uri.starts_with('/') && !uri.contains(':') && !uri.contains(".."),
            "relative to the repository: {uri}"
        );
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line >= 1), "{place}");
    }
    results.clone()
}

#[test]
fn findings_without_an_allow_list_are_at_the_workflow_or_at_the_target_alone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("report.sarif").display().to_string();
    let places = |workflow: Option<&str>| {
        let mut command = outside_of_workflows();
        command.args(["isolate", "--class", "host_files", "--target", "cmd:python3 {file}", "--sarif", &path]);
        if let Some(workflow) = workflow {
            command.env("GITHUB_WORKFLOW_REF", workflow);
        }
        assert_eq!(finished(&mut command).status.code(), Some(NOT_CONTAINED));
        let uri = |result: Value| {
            let place = result["locations"][0].get("physicalLocation")?;
            place["artifactLocation"]["uri"].as_str().map(str::to_owned)
        };
        sarif_results(&path).into_iter().map(uri).collect::<Vec<Option<String>>>()
    };
    let workflow = Some(".github/workflows/isolation.yml".to_owned());
    let found = places(Some("owner/name/.github/workflows/isolation.yml@refs/heads/main"));
    assert!(found.iter().all(|uri| *uri == workflow), "{found:?}");
    assert!(places(None).iter().all(Option::is_none));
}

#[test]
fn probes_are_listed_explained_and_left_out_by_name() {
    let text = |arguments: &[&str]| {
        let output = finished(veriplay().arg("isolate").args(arguments));
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).expect("text")
    };
    let of_services = text(&["--list", "--target", "service"]).lines().count();
    let all = text(&["--list"]);
    let forgeries: Vec<&str> = all.lines().filter(|line| line.starts_with("forgeries ")).collect();
    assert_eq!((all.lines().count(), forgeries.len()), (probes().len() + of_services + 1, 1), "{all}");
    // The class had another name.
    let [each, earlier] = ["forgeries", "verifier"].map(|name| text(&["--list", "--class", name]));
    let files = veriplay_corpus::built_in_forgeries().forgeries;
    assert!(each.lines().count() > files.len() / 2 && each == earlier, "{each}");
    assert!(each.lines().all(|line| line.starts_with("forgeries/")), "{each}");
    let id = each.split_whitespace().next().expect("a forgery");
    assert_eq!(text(&["--list", "--probe", id]).trim_end().split(' ').next(), Some(id));
    let forgery = files.iter().find(|forgery| id.ends_with(&forgery.name)).expect("its file");
    let explained = text(&["--explain", id]);
    assert!(explained.contains(forgery.statement.trim()) && explained.contains(forgery.attempt.trim()), "{explained}");
    let some: Value =
        serde_json::from_str(&text(&["--list", "--json", "--class", "network", "--skip", "network/loopback"]))
            .expect("JSON");
    let named = probes().iter().filter(|probe| probe.class == "network" && probe.name != "loopback").count();
    assert_eq!(some.as_array().map(Vec::len), Some(named), "{some}");
    assert_eq!(some[0]["severity"], "high");
    let probe = &probes()[0];
    let explained = text(&["--explain", &probe.id()]);
    assert!(explained.contains(&probe.title) && explained.contains(probe.statement.trim()), "{explained}");
    for arguments in [["--probe", "cpu/nowhere"], ["--skip", "nowhere"], ["--explain", "cpu"]] {
        let output = finished(veriplay().arg("isolate").args(arguments));
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(stderr(&output).contains(&arguments.join(" ")), "{}", stderr(&output));
    }
}

#[test]
fn a_signal_ends_the_suite_with_the_reports_of_what_was_tried() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (junit, sent) = (folder.path().join("report.xml"), folder.path().join("sent"));
    let markdown = folder.path().join("report.md");
    // One signal: a second would end the process at once.
    let sent = sent.display();
    let target = format!("cmd:python3 {{file}}; [ -e {sent} ] || {{ touch {sent}; kill -TERM $PPID; }}");
    let mut command = veriplay();
    command.args(["isolate", "--jobs", "1", "--target", &target, "--junit"]).arg(&junit);
    let sarif = folder.path().join("report.sarif");
    command.arg("--markdown").arg(&markdown).arg("--sarif").arg(&sarif);
    let output = finished(&mut command);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let sarif: Value = serde_json::from_slice(&std::fs::read(sarif).expect("it was written")).expect("JSON");
    assert_eq!(sarif["runs"][0]["invocations"], json!([{"executionSuccessful": false}]), "{sarif}");
    assert!(stderr(&output).contains("stopped after "), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("A signal stopped the suite") && text.contains("): a signal stopped the suite"), "{text}");
    let markdown = std::fs::read_to_string(markdown).expect("a report was written");
    assert!(markdown.contains("**A signal stopped the suite") && markdown.contains("- Not tried: "), "{markdown}");
    let xml = std::fs::read_to_string(junit).expect("a report was written");
    assert!(xml.starts_with("<?xml") && xml.contains("<error message=\"a signal stopped the suite, "), "{xml}");
    // All that was selected has a case.
    assert_eq!(xml.matches("<testcase ").count(), probes().len() + 1, "{xml}");
    assert!(xml.contains("not tried: a signal stopped") && xml.contains("not tried: written for our own"), "{xml}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_attack() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let there = folder.path().join("allow.toml");
    std::fs::write(&there, "").expect("it is written");
    let (there, attacked) = (there.display().to_string(), folder.path().join("attacked"));
    let target = format!("cmd:touch {}; python3 {{file}}", attacked.display());
    let below_a_file = format!("{there}/x.xml");
    for (option, path) in [("--write-allow", &*there), ("--junit", &*below_a_file), ("--sarif", "/")] {
        let output = finished(veriplay().args(["isolate", "--class", "secrets", "--target", &target, option, path]));
        assert_eq!(output.status.code(), Some(3), "{option}: {}", stderr(&output));
        assert!(stderr(&output).contains(&format!("`{path}`")) && !attacked.exists(), "{}", stderr(&output));
    }
}

#[test]
fn a_report_may_go_to_stdout_alone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let attack = ["isolate", "--probe", "secrets/planted_variable", "--target", "cmd:python3 {file}"];
    let output = finished(veriplay().current_dir(folder.path()).args(attack).args(["--junit", "-"]));
    let (xml, table) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    assert!(table.contains("isolation of `cmd:python3 {file}`"), "{table}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it can be listed").count(), 0, "no file is called `-`");
    let both = finished(veriplay().current_dir(folder.path()).args(attack).args(["--junit", "-", "--json"]));
    assert_eq!((both.status.code(), both.stdout.as_slice()), (Some(2), &b""[..]), "{}", stderr(&both));
}

/// A guest and what else there is take more addresses than the shell allows them.
#[test]
fn a_sandbox_of_our_own_that_runs_no_plain_program_is_not_attacked() {
    let own = veriplay();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 9437184; exec \"$0\" isolate --class network"]).arg(own.get_program());
    command.envs(own.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = finished(&mut command);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(7), 0), "{}", stderr(&output));
    assert!(stderr(&output).contains("nothing was attacked"), "{}", stderr(&output));
}

/// With as few, the allocator ends a process that has loaded the image.
#[test]
fn too_few_addresses_are_told_before_anything_is_loaded() {
    let own = veriplay();
    let limited = |rest: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v 262144; exec \"$0\" {rest}")]).arg(own.get_program());
        command.envs(own.get_envs().filter_map(|(key, value)| Some((key, value?))));
        finished(&mut command)
    };
    let run = limited("run - < /dev/null");
    assert_eq!(run.status.code(), Some(7), "{}", stderr(&run));
    assert!(stderr(&run).contains("within 256 MiB of addresses"), "{}", stderr(&run));
    let doctor = limited("doctor");
    assert_eq!(doctor.status.code(), Some(11), "{}", stderr(&doctor));
    let text = String::from_utf8_lossy(&doctor.stdout);
    assert!(text.contains("FAIL  addresses: 0.2 GiB by `ulimit -v`"), "{text}");
}

#[test]
fn a_target_that_hangs_is_unclear_and_is_not_allowed_by_a_list_of_escapes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let list = folder.path().join("allow.toml");
    // It runs the plain program, and is stopped by itself with any other, as a target is that hangs.
    let target = "cmd:if grep -q '6 [*] 7' {file}; then exec python3 {file}; fi; kill -9 $$";
    let mut command = veriplay();
    command.args(["isolate", "--probe", "network/loopback", "--target", target, "--write-allow"]).arg(&list);
    let output = finished(&mut command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(NOT_CONTAINED), "{text}{}", stderr(&output));
    assert!(text.contains("unclear: network/loopback") && text.contains("hint: it shows neither"), "{text}");
    assert!(!std::fs::read_to_string(&list).expect("it was written").contains("[[allow]]"), "{text}");
    // An entry by hand allows an escape, of which nobody knows.
    std::fs::write(&list, "[[allow]]\nprobe = \"network/loopback\"\nreason = \"known\"\n").expect("it is written");
    let mut command = veriplay();
    command.args(["isolate", "--probe", "network/loopback", "--target", target, "--allow"]).arg(&list);
    let output = finished(&mut command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(NOT_CONTAINED), "{text}{}", stderr(&output));
    assert!(text.contains("allowed to escape and was unclear"), "{text}");
}

const FORGERY: &str = "forgeries/account_forgets";

#[test]
fn a_forgery_is_tried_alone_against_each_of_its_problems() {
    let output = finished(veriplay().args(["isolate", "--json", "--probe", FORGERY]));
    let report = last_json(&output);
    assert!(output.status.success(), "{report}{}", stderr(&output));
    let tried = report["probes"].as_array().expect("a list");
    let is_it =
        |probe: &Value| format!("forgeries/{}", probe["name"].as_str().unwrap_or_default()).starts_with(FORGERY);
    assert!(!tried.is_empty() && tried.iter().all(is_it), "{report}");
    assert_eq!(report["forgeries"]["contained"], tried.len(), "{report}");
}

#[test]
fn a_selection_of_nothing_and_options_without_use_are_refused() {
    for (arguments, code) in [
        (&["--class", "cpu", "--skip", "cpu"][..], 3),
        (&["--probe", FORGERY, "--skip", FORGERY], 3),
        (&["--probe", FORGERY, "--target", "cmd:python3 {file}"], 3),
        (&["--probe", "forgeries/nowhere"], 3),
        (&["--class", "service_input", "--skip", "service_input", "--target", "service"], 3),
        (&["--target", "cmd:python3 {file}", "--token-file", "tokens"], 2),
        (&["--target", "cmd:python3 {file}", "--image", "python"], 2),
        (&["--list", "--junit", "report.xml"], 2),
    ] {
        let output = finished(veriplay().arg("isolate").args(arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_target_that_makes_no_sense_is_refused_with_a_hint() {
    for target in [
        "python3 {file}",
        "cmd:python3",
        "sandboxfusion:ftp://example.com",
        "docker:",
        "docker:--read-only",
        "services",
    ] {
        let output = finished(veriplay().args(["isolate", "--class", "secrets", "--target", target]));
        assert_eq!(output.status.code(), Some(3), "{target}: {}", stderr(&output));
        assert!(stderr(&output).contains("hint: "), "{}", stderr(&output));
    }
}

/// A wrapper that gives a program nothing of the host but the interpreter; or the reason why there is no such wrapper.
fn bubblewrap() -> Result<String, String> {
    let printed = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() { Ok(text) } else { Err(format!("{program} ended with {}", output.status)) }
    };
    printed("bwrap", &["--ro-bind", "/", "/", "--unshare-all", "true"])?;
    let source = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)";
    let python = printed("python3", &["-c", source])?;
    let (executable, prefix) = python.split_once('\n').ok_or("python3 does not say where it is")?;
    Ok(format!(
        "cmd:ulimit -t {{seconds}}; ulimit -v 262144; exec bwrap --unshare-all --die-with-parent --new-session \
         --clearenv --ro-bind /usr /usr --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 --ro-bind {prefix} {prefix} \
         --ro-bind {{file}} /{{seconds}}/probe.py --tmpfs /tmp --dev /dev --chdir /tmp {executable} -I /{{seconds}}/probe.py"
    ))
}

#[test]
fn a_namespace_with_limits_holds_what_it_is_for_and_not_the_rest() {
    let target = match bubblewrap() {
        Ok(target) => target,
        Err(reason) => {
            return report_skipped(&format!("there is no bubblewrap that works here: {reason}"));
        }
    };
    // Processes may be forked in there, nothing is virtual about its clock, and it may write as long as it likes.
    let holds = ["host_files", "network", "secrets", "memory", "cpu", "state_between_runs", "concurrent_runs"];
    let out = differences(&target, &holds, "4", |_| "contained");
    assert!(out.is_empty(), "{out}");
    let out = differences(&target, &["time_and_chance"], "4", without_a_sandbox);
    assert!(out.is_empty(), "{out}");
}

/// A server that speaks as SandboxFusion does and runs what it is given with `python3`, for as long as it may.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    format!("sandboxfusion:http://{address}")
}

fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).expect("a request line");
    assert_eq!(line.trim(), "POST /run_code HTTP/1.1");
    while line.trim() != "" {
        line.clear();
        reader.read_line(&mut line).expect("a header");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let answer = run_code(&serde_json::from_slice(&body).expect("JSON")).to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
    stream.write_all(format!("{head}{answer}").as_bytes()).expect("the client listens");
}

fn run_code(request: &Value) -> Value {
    let text = |key: &str| request[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {request}")).to_owned();
    assert_eq!((text("language"), &request["memory_limit_MB"]), ("python".to_owned(), &json!(256)));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("code.py");
    std::fs::write(&file, text("code")).expect("the code is written");
    let mut command = Command::new("timeout");
    command.args(["-k", "1", &request["run_timeout"].to_string(), "python3"]).arg(file).current_dir(folder.path());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child");
    child.stdin.take().expect("stdin").write_all(text("stdin").as_bytes()).expect("a child that reads");
    let output = child.wait_with_output().expect("an end");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let late = output.status.code() == Some(124);
    let status = if late { "TimeLimitExceeded" } else { "Finished" };
    let code = if late { Value::Null } else { json!(output.status.code().unwrap_or(-1)) };
    json!({
        "status": if output.status.success() { "Success" } else { "Failed" },
        "message": "",
        "compile_result": null,
        "run_result": { "status": status, "execution_time": 0.1, "return_code": code, "stdout": stdout, "stderr": "" },
        "executor_pod_name": null,
        "files": {},
    })
}

#[test]
fn a_server_is_asked_in_the_words_of_sandbox_fusion_and_its_answers_are_understood() {
    let target = server();
    let classes = ["host_files", "time_and_chance", "output_and_files"];
    let out = differences(&target, &classes, "4", without_a_sandbox);
    assert!(out.is_empty(), "{out}");
    // This one keeps time.
    let out = differences(&target, &["cpu"], "4", |_| "contained");
    assert!(out.is_empty(), "{out}");
}

#[test]
fn a_server_that_is_not_there_or_answers_nonsense_is_not_attacked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
        }
    });
    for target in [format!("sandboxfusion:http://{address}"), "sandboxfusion:http://127.0.0.1:1".to_owned()] {
        let output = finished(veriplay().args(["isolate", "--class", "host_files", "--target", &target]));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("does not run a plain program"), "{}", stderr(&output));
    }
}

#[test]
fn a_class_without_a_probe_for_the_target_is_an_error_that_lists_the_targets_classes() {
    let local: Vec<&str> = {
        let portable = |class: &&str| probes().iter().any(|probe| probe.language_level && probe.class == *class);
        CLASSES.iter().map(|class| class.name).filter(portable).collect()
    };
    let missing = CLASSES.iter().map(|class| class.name).find(|name| !local.contains(name));
    for class in missing.into_iter().chain(["forgeries"]) {
        let output = finished(
            veriplay().args(["isolate", "--target", "cmd:python3 {file}", "--class", local[0], "--class", class]),
        );
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains(&format!("`--class {class}`")) && message.contains(&local.join("`, `")), "{message}");
    }
}
