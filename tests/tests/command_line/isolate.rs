//! `veriplay isolate`: our own sandbox holds, a plain interpreter does not, and CI understands the report of both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use veriplay_corpus::probes::{CLASSES, Probe, ProbeLanguage, built_in_probes};
use veriplay_sandbox::ImageSpec;
use veriplay_tests::external::report_skipped;

use super::{
    Helper, column, ended, finished, in_shell, last_json, root, says, script, stderr, stdout, succeeded, veriplay,
};

/// The exit code of a suite that found something.
pub(super) const NOT_CONTAINED: i32 = 8;

fn probes() -> Vec<Probe> {
    built_in_probes("python").expect("the image has probes")
}

/// The classes that have a probe for a plain interpreter.
fn language_level_classes() -> Vec<&'static str> {
    let probes = probes();
    let runs_there = |class: &&str| probes.iter().any(|probe| probe.language_level && probe.class == *class);
    CLASSES.iter().map(|class| class.name).filter(runs_there).collect()
}

/// Verdict and evidence by probe.
pub(super) fn verdicts(report: &Value) -> BTreeMap<String, (String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let probes = report["probes"].as_array().expect("a list of probes").iter();
    let named = probes.map(|probe| (["class", "name"].map(|key| text(&probe[key])).join("/"), probe));
    named.map(|(id, probe)| (id, (text(&probe["verdict"]), text(&probe["evidence"])))).collect()
}

/// What differs from `expected` in the report on a target: the probes of these classes, each with its verdict.
fn differences(target: &str, classes: &[&str], jobs: &str, expected: impl Fn(&Probe) -> &'static str) -> String {
    let mut command = veriplay();
    command.args(["isolate", "--json", "--jobs", jobs, "--target", target]);
    let output = finished(command.args(classes.iter().flat_map(|class| ["--class", class])));
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

const PLAIN: &str = "cmd:python3 {file}";

fn without_a_sandbox(probe: &Probe) -> &'static str {
    if probe.escapes_unsandboxed { "escaped" } else { "contained" }
}

#[test]
fn our_own_sandbox_holds_and_the_report_is_readable_by_people_and_by_a_ci() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let junit = folder.path().join("report.xml");
    let text = stdout(&succeeded(veriplay().arg("isolate").arg("--junit").arg(&junit)));
    CLASSES.iter().for_each(|class| says(&text, &[class.name]));
    says(&text, &["contained", "forgeries"]);
    let xml = std::fs::read_to_string(junit).expect("a report was written");
    let cases = xml.matches("<testcase ").count();
    assert!(xml.starts_with("<?xml") && cases > probes().len(), "{cases} cases");
    assert!(xml.contains("failures=\"0\"") && !xml.contains("<failure"), "{xml}");
}

#[test]
fn it_holds_in_worker_processes_too() {
    let report = last_json(&succeeded(veriplay().args(["isolate", "--workers", "process", "--json"])));
    assert_eq!((&report["escaped"], &report["unclear"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(report["contained"], json!(probes().len()));
}

/// The exit code of a command whose image cannot be made, as where there is no npm.
const NO_IMAGE: i32 = 4;

#[test]
fn the_image_of_javascript_holds_against_probes_of_its_own() {
    const IMAGE: [&str; 3] = ["isolate", "--image", "javascript"];
    if !ImageSpec::builtin_names().contains(&IMAGE[2]) {
        return report_skipped("there is no image `javascript`");
    }
    for (class, hint) in [("forgeries", "its classes are `host_files`"), ("system_calls", "`channel`")] {
        let said = format!("`--class {class}`: no probe of this class runs on image `javascript`");
        ended(veriplay().args(IMAGE).args(["--class", class]), 3, &[&said, hint]);
    }
    let (loops, said) = (["--probe", "cpu/loop"], "`--probe cpu/loop`: this probe does not run on image `javascript`");
    ended(veriplay().args(IMAGE).args(loops), 3, &[said]);
    let all = ProbeLanguage::JavaScript.probes().len();
    let listed = stdout(&succeeded(veriplay().args(IMAGE).arg("--list")));
    assert_eq!(listed.lines().count(), all, "{listed}");
    for workers in ["thread", "process"] {
        let output = finished(veriplay().args(IMAGE).args(["--json", "--workers", workers]));
        if output.status.code() == Some(NO_IMAGE) {
            return report_skipped(&stderr(&output));
        }
        let report = last_json(&output);
        assert_eq!((&report["contained"], &report["forgeries"]), (&json!(all), &Value::Null), "{report}");
        let untried = report["not_tried"].to_string();
        says(&untried, &["forgeries", "written in Python"]);
    }
}

#[test]
fn modules_hold_against_probes_of_their_own_and_c_has_none() {
    const IMAGE: [&str; 3] = ["isolate", "--image", "wasm"];
    let all = ProbeLanguage::Wasm.probes().len();
    let listed = stdout(&succeeded(veriplay().args(IMAGE).arg("--list")));
    assert_eq!(listed.lines().count(), all, "{listed}");
    for workers in ["thread", "process"] {
        let report = last_json(&succeeded(veriplay().args(IMAGE).args(["--json", "--workers", workers])));
        assert_eq!(report["contained"], json!(all), "{report}");
    }
    ended(veriplay().args(["isolate", "--image", "c"]), 3, &["image `c` has no probes"]);
}

#[test]
fn programs_in_cpp_hold_in_threads_and_in_processes() {
    if std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
        return report_skipped("VERIPLAY_TEST_CPP is not set");
    }
    for workers in ["thread", "process"] {
        let output = succeeded(veriplay().args(["isolate", "--image", "cpp", "--json", "--workers", workers]));
        let report = last_json(&output);
        assert_eq!(report["contained"], json!(ProbeLanguage::Cpp.probes().len()), "{report}");
    }
}

#[test]
fn a_plain_interpreter_lets_exactly_those_probes_out_that_say_so() {
    let mut classes = language_level_classes();
    classes.retain(|class| *class != "memory");
    // Most of them wait for one another or for a clock; the ones that take memory are better not many at once.
    assert_eq!(differences(PLAIN, &classes, "6", without_a_sandbox), "");
    assert_eq!(differences(PLAIN, &["memory"], "2", without_a_sandbox), "");
}

#[test]
fn an_escape_is_a_failure_in_every_kind_of_report() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let junit = folder.path().join("report.xml");
    let mut command = veriplay();
    command.args(["isolate", "--class", "host_files", "--target", PLAIN, "--junit"]).arg(&junit);
    let text = stdout(&ended(&mut command, NOT_CONTAINED, &["not contained: "]));
    says(&text, &["escaped: host_files/password_file", "hint: ", "not tried: ", "bytes of /etc/passwd"]);
    let xml = std::fs::read_to_string(junit).expect("a report was written");
    says(&xml, &["<failure message=\"escaped: read", "isolation.host_files"]);
}

#[test]
fn a_target_that_runs_no_plain_program_is_one_error_and_is_not_attacked() {
    let target = "cmd:echo out; echo no such interpreter >&2; exit 127; {file}";
    let said = ["does not run a plain program", "exited with 127", "no such interpreter", "printed: out", "hint: "];
    let mut command = veriplay();
    command.args(["isolate", "--class", "secrets", "--json", "--target", target]);
    assert_eq!(ended(&mut command, 3, &said).stdout, b"");
}

/// A target that runs the plain program and no probe.
const ONLY_PLAIN: &str = "cmd:grep -q '6 . 7' {file} && python3 {file}";

#[test]
fn what_cannot_be_run_is_unclear_and_no_success() {
    let arguments = ["isolate", "--class", "secrets", "--json", "--target", ONLY_PLAIN];
    let report = last_json(&ended(veriplay().args(arguments), NOT_CONTAINED, &[]));
    assert_eq!((&report["contained"], &report["escaped"]), (&json!(0), &json!(0)), "{report}");
    assert!(report["unclear"].as_u64() > Some(0), "{report}");
}

/// A run on a plain interpreter of two probes that escape, with an allow-list, as [`ended`].
#[track_caller]
fn with_allow_list(list: &str, more: &[&str], code: i32, words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("allow.toml"), list).expect("the list is written");
    let mut command = veriplay();
    command.args(["isolate", "--json", "--target", PLAIN, "--allow", "allow.toml"]).current_dir(&folder);
    command.args(["--probe", "host_files/password_file", "--probe", "host_files/hosts_file"]);
    ended(command.args(more), code, words)
}

/// An entry of an allow-list.
pub(super) fn allowed(probe: &str, expires: &str) -> String {
    format!("[[allow]]\nprobe = \"{probe}\"\nreason = \"ours to read\"\n{expires}\n")
}

const PASSWORDS: &str = "host_files/password_file";
const HOSTS: &str = "host_files/hosts_file";

#[test]
fn an_allow_list_lets_the_suite_fail_on_what_is_new() {
    let both = allowed(PASSWORDS, "") + &allowed(HOSTS, "expires = 2999-12-31");
    let report = last_json(&with_allow_list(&both, &[], 0, &[]));
    assert_eq!((&report["escaped"], &report["allowed"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(report["probes"][0]["allowed"], "ours to read", "{report}");
    // One is not in the list, or is there no longer.
    let expired = allowed(PASSWORDS, "") + &allowed(HOSTS, "expires = 2020-02-29");
    for (list, said) in [(allowed(PASSWORDS, ""), ""), (expired, "expired on 2020-02-29: ours to read")] {
        let report = last_json(&with_allow_list(&list, &[], NOT_CONTAINED, &["1 probe escaped"]));
        says(&report["allow_list"].to_string(), &[said]);
    }
    // One that is contained needs no entry.
    let root = "host_files/above_the_root";
    let report = last_json(&with_allow_list(&(both + &allowed(root, "")), &["--probe", root], 0, &[]));
    let is_contained = verdicts(&report)[root].0 == "contained";
    assert_eq!(report["allow_list"].to_string().contains("can go"), is_contained, "{report}");
}

#[test]
fn a_faulty_allow_list_is_refused_before_anything_is_attacked() {
    for (list, said) in [
        (allowed("host_files/nowhere", ""), "no probe `host_files/nowhere`"),
        (allowed(HOSTS, "").replace("ours to read", " "), "`reason` of `host_files/hosts_file` is empty"),
        (allowed(HOSTS, "expires = 2026-01-31T12:00:00"), "is not a day"),
        (allowed(HOSTS, "expires = \"soon\""), "allow.toml"),
        (allowed(HOSTS, "until = 2026-01-31"), "unknown field `until`"),
        (allowed(HOSTS, "").repeat(2), "two entries"),
    ] {
        assert_eq!(with_allow_list(&list, &[], 3, &[said]).stdout, b"", "{list}");
    }
}

#[test]
fn an_allow_list_that_was_written_is_one_that_is_read_and_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let list = folder.path().join("allow.toml").display().to_string();
    let run = |more: &[&str], code, words: &[&str]| drop(ended(of_files(&folder).args(more), code, words));
    run(&["--write-allow", &list], NOT_CONTAINED, &[]);
    run(&["--allow", &list, "--sarif", "report.sarif", "--markdown", "report.md"], 0, &[]);
    run(&["--write-allow", &list], 3, &["allow.toml"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    let text = read("allow.toml");
    for result in sarif_results(&folder) {
        assert_eq!((&result["level"], &result["suppressions"][0]["kind"]), (&json!("error"), &json!("external")));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "allow.toml", "{result}");
        let line = place["region"]["startLine"].as_u64().and_then(|line| text.lines().nth(line as usize - 1));
        let id = result["ruleId"].as_str().expect("an id");
        assert_eq!(line, Some(format!("probe = \"{id}\"").as_str()), "{result}");
    }
    says(&read("report.md"), &["| host_files | ", "Allowed: escaped on 20"]);
}

/// Probes of files on a plain interpreter, as no code host starts it.
fn of_files(folder: &TempDir) -> Command {
    let mut command = veriplay();
    command.env_remove("GITHUB_WORKSPACE").env_remove("GITHUB_WORKFLOW_REF").current_dir(folder);
    command.args(["isolate", "--class", "host_files", "--target", PLAIN]);
    command
}

pub(super) fn read_sarif(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("JSON")
}

/// The results of a SARIF file, which has what SARIF 2.1.0 and GitHub's code scanning require of it.
fn sarif_results(folder: &TempDir) -> Vec<Value> {
    let sarif = read_sarif(&folder.path().join("report.sarif"));
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
        let is_relative = !uri.starts_with('/') && !uri.contains(':') && !uri.contains("..");
        assert!(is_relative, "relative to the repository: {uri}");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line >= 1), "{place}");
    }
    results.clone()
}

#[test]
fn findings_without_an_allow_list_are_at_the_workflow_or_at_the_target_alone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let places = |workflow: Option<&str>| {
        let mut command = of_files(&folder);
        command.args(["--sarif", "report.sarif"]).envs(workflow.map(|workflow| ("GITHUB_WORKFLOW_REF", workflow)));
        ended(&mut command, NOT_CONTAINED, &[]);
        let place = "/locations/0/physicalLocation/artifactLocation/uri";
        let uri = |result: Value| result.pointer(place)?.as_str().map(str::to_owned);
        sarif_results(&folder).into_iter().map(uri).collect::<Vec<Option<String>>>()
    };
    let workflow = Some(".github/workflows/isolation.yml".to_owned());
    let found = places(Some("owner/name/.github/workflows/isolation.yml@refs/heads/main"));
    assert!(found.iter().all(|uri| *uri == workflow), "{found:?}");
    assert!(places(None).iter().all(Option::is_none));
}

#[test]
fn probes_are_listed_explained_and_left_out_by_name() {
    let text = |arguments: &[&str]| stdout(&succeeded(veriplay().arg("isolate").args(arguments)));
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
    says(&explained, &[forgery.statement.trim(), forgery.attempt.trim()]);
    let some = text(&["--list", "--json", "--class", "network", "--skip", "network/loopback"]);
    let some: Value = serde_json::from_str(&some).expect("JSON");
    let named = probes().iter().filter(|probe| probe.class == "network" && probe.name != "loopback").count();
    assert_eq!(some.as_array().map(Vec::len), Some(named), "{some}");
    assert_eq!(some[0]["severity"], "high");
    for probes in ProbeLanguage::ALL.map(ProbeLanguage::probes) {
        let explained = text(&["--explain", &probes[0].id()]);
        says(&explained, &[&probes[0].title, probes[0].statement.trim()]);
    }
}

#[test]
fn a_signal_ends_the_suite_with_the_reports_of_what_was_tried() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    // One signal: a second would end the process at once.
    let target = "cmd:python3 {file}; [ -e $sent ] || { touch $sent; kill -TERM $PPID; }";
    let mut command = veriplay();
    command.args(["isolate", "--jobs", "1", "--target", target, "--junit", "report.xml"]).current_dir(&folder);
    command.args(["--markdown", "report.md", "--sarif", "report.sarif"]).env("sent", folder.path().join("sent"));
    let text = stdout(&ended(&mut command, 130, &["stopped after "]));
    says(&text, &["A signal stopped the suite", "): a signal stopped the suite"]);
    let sarif = read_sarif(&folder.path().join("report.sarif"));
    assert_eq!(sarif["runs"][0]["invocations"], json!([{"executionSuccessful": false}]), "{sarif}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a report was written");
    says(&read("report.md"), &["**A signal stopped the suite", "- Not tried: "]);
    let xml = read("report.xml");
    assert!(xml.starts_with("<?xml") && xml.contains("<error message=\"a signal stopped the suite, "), "{xml}");
    // All that was selected has a case.
    assert_eq!(xml.matches("<testcase ").count(), probes().len() + 1, "{xml}");
    says(&xml, &["not tried: a signal stopped", "not tried: written for our own"]);
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
        let mut command = veriplay();
        command.args(["isolate", "--class", "secrets", "--target", &target, option, path]);
        ended(&mut command, 3, &[&format!("`{path}`")]);
        assert!(!attacked.exists(), "{option}");
    }
}

#[test]
fn a_report_may_go_to_stdout_alone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let attack = ["isolate", "--probe", "secrets/planted_variable", "--target", PLAIN, "--junit", "-"];
    let output = finished(veriplay().current_dir(&folder).args(attack));
    let xml = stdout(&output);
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    says(&stderr(&output), &["isolation of `cmd:python3 {file}`"]);
    assert_eq!(std::fs::read_dir(&folder).expect("it can be listed").count(), 0, "no file is called `-`");
    assert_eq!(ended(veriplay().current_dir(&folder).args(attack).arg("--json"), 2, &[]).stdout, b"");
}

/// A guest and what else there is take more addresses than the shell allows them.
#[test]
fn a_sandbox_of_our_own_that_runs_no_plain_program_is_not_attacked() {
    let mut command = in_shell("ulimit -v 9437184; exec \"$0\" isolate --class network");
    assert_eq!(ended(&mut command, 7, &["nothing was attacked"]).stdout, b"");
}

/// With as few, the allocator ends a process that has loaded the image.
#[test]
fn too_few_addresses_are_told_before_anything_is_loaded() {
    let limited = |command: &str| in_shell(&format!("ulimit -v 262144; exec \"$0\" {command}"));
    ended(&mut limited("run - < /dev/null"), 7, &["within 256 MiB of addresses"]);
    let text = stdout(&ended(&mut limited("doctor"), 11, &[]));
    says(&text, &["FAIL  addresses: 0.2 GiB by `ulimit -v`"]);
}

#[test]
fn a_target_that_hangs_is_unclear_and_is_not_allowed_by_a_list_of_escapes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let list = folder.path().join("allow.toml");
    // It runs the plain program, and is stopped by itself with any other, as a target is that hangs.
    let target = "cmd:if grep -q '6 [*] 7' {file}; then exec python3 {file}; fi; kill -9 $$";
    let text_with = |option: &str| {
        let mut command = veriplay();
        command.args(["isolate", "--probe", "network/loopback", "--target", target, option]).arg(&list);
        stdout(&ended(&mut command, NOT_CONTAINED, &[]))
    };
    says(&text_with("--write-allow"), &["unclear: network/loopback", "hint: it shows neither"]);
    let written = std::fs::read_to_string(&list).expect("it was written");
    assert!(!written.contains("[[allow]]"), "{written}");
    // An entry by hand allows an escape, of which nobody knows.
    std::fs::write(&list, allowed("network/loopback", "")).expect("it is written");
    says(&text_with("--allow"), &["allowed to escape and was unclear"]);
}

#[test]
fn a_forgery_is_tried_alone_against_each_of_its_problems() {
    let mut command = veriplay();
    command.args(["isolate", "--json", "--probe", "forgeries/account_forgets"]);
    let report = last_json(&succeeded(&mut command));
    let tried = column(&report["probes"], "name");
    let is_it = |name: &&Value| name.as_str().is_some_and(|name| name.starts_with("account_forgets"));
    assert!(!tried.is_empty() && tried.iter().all(is_it), "{report}");
    assert_eq!(report["forgeries"]["contained"], tried.len(), "{report}");
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
        Err(reason) => return report_skipped(&format!("there is no bubblewrap that works here: {reason}")),
    };
    // Processes may be forked in there, nothing is virtual about its clock, and it may write as long as it likes.
    let holds = ["host_files", "network", "secrets", "memory", "cpu", "state_between_runs", "concurrent_runs"];
    assert_eq!(differences(&target, &holds, "4", |_| "contained"), "");
    assert_eq!(differences(&target, &["time_and_chance"], "4", without_a_sandbox), "");
}

#[test]
fn a_server_is_asked_in_the_words_of_sandbox_fusion_and_its_answers_are_understood() {
    let (_server, address) = Helper::start(&mut script("fusion_server.py"));
    let target = format!("sandboxfusion:{address}");
    let classes = ["host_files", "time_and_chance", "output_and_files"];
    assert_eq!(differences(&target, &classes, "4", without_a_sandbox), "");
    // This one keeps time.
    assert_eq!(differences(&target, &["cpu"], "4", |_| "contained"), "");
}

#[test]
fn a_server_that_answers_nonsense_is_not_attacked() {
    let (_server, address) = Helper::start(script("fusion_server.py").arg("faulty"));
    let mut command = veriplay();
    command.args(["isolate", "--class", "host_files", "--target", &format!("sandboxfusion:{address}")]);
    ended(&mut command, 3, &["does not run a plain program"]);
}

#[test]
fn a_class_without_a_probe_for_the_target_is_an_error_that_lists_the_targets_classes() {
    let local = language_level_classes();
    let missing = CLASSES.iter().map(|class| class.name).find(|name| !local.contains(name));
    for class in missing.into_iter().chain(["forgeries"]) {
        let mut command = veriplay();
        command.args(["isolate", "--target", PLAIN, "--class", local[0], "--class", class]);
        ended(&mut command, 3, &[&format!("`--class {class}`"), &local.join("`, `")]);
    }
}
