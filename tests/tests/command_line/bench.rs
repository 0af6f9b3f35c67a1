//! `veriplay bench`: what it prints and what it refuses. No test measures speed.

use std::process::Output;

use serde_json::{Value, json};
use veriplay_tests::external::{report_skipped, report_without_npm};

use super::verify::{Bench, completion, lines, task};
use super::{Helper, ended, last_json, says, script, stderr, stdout, succeeded, veriplay};

/// The ways every machine with a `python3` has.
const PEERS: [&str; 3] = ["subprocess", "fork", "pool"];

#[test]
fn one_job_is_reported_in_every_way_with_all_its_keys() {
    let mut bench = veriplay();
    bench.args(["bench", "--json", "--job", "empty", "--seconds", "0.2", "--threads", "2"]);
    let report = last_json(&succeeded(&mut bench));
    assert_eq!((&report["schema_version"], &report["scaling"]["threads"]), (&1.into(), &2.into()));
    for table in ["jobs", "all_cores"] {
        let jobs = report[table].as_object().expect("an object of jobs");
        assert_eq!(jobs.keys().collect::<Vec<_>>(), ["empty"]);
        check_job(&report, &jobs["empty"]);
    }
    assert!(report["scaling"]["ratio"].as_f64() > Some(0.0));
    assert_eq!(report["scaling"]["jobs"]["empty"]["veriplay"], report["scaling"]["ratio"]);
    assert!(report["machine"]["cpus"].as_u64() >= Some(1));
    assert_eq!(report["machine"]["veriplay"], env!("CARGO_PKG_VERSION"));
}

fn check_job(report: &Value, job: &Value) {
    check_cell(&job["veriplay"]);
    assert!(job["veriplay"]["fuel"].as_u64() > Some(0), "{job}");
    assert!(job["ratio"]["veriplay"].is_null(), "Veriplay is not compared with itself");
    for peer in PEERS {
        if report["machine"]["python"].is_null() {
            assert!(report["absent"][peer].is_string() && job[peer].is_null(), "{report}");
        } else {
            check_cell(&job[peer]);
            assert!(job["ratio"][peer].as_f64() > Some(0.0), "{job}");
        }
    }
}

fn check_cell(cell: &Value) {
    let number = |key: &str| cell[key].as_f64().unwrap_or_else(|| panic!("`{key}` is no number in {cell}"));
    assert!(number("per_s") > 0.0 && number("spread") >= 0.0, "{cell}");
    assert!(0.0 < number("p50_us") && number("p50_us") <= number("p99_us"), "{cell}");
    assert!(number("timed") >= 5.0, "each round that counts has a job in {cell}");
}

#[test]
fn without_a_native_interpreter_its_ways_are_absent_with_a_reason_and_veriplay_is_measured() {
    let empty = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.args(["bench", "--json", "--job", "empty", "--seconds", "0.05", "--threads", "1"]);
    // The image is in the cache already, so nothing else is looked for on the path.
    let report = last_json(&succeeded(command.env("PATH", empty.path())));
    for peer in PEERS {
        assert!(report["absent"][peer].as_str().is_some_and(|why| why.contains("python3")), "{report}");
        assert!(report["install"][peer].as_str().is_some_and(|how| how.contains("`python3`")), "{report}");
    }
    assert_eq!(report["noise"]["trusted"], report["noise"]["reasons"].as_array().is_some_and(Vec::is_empty));
    check_job(&report, &report["jobs"]["empty"]);
    assert!(report["scaling"].is_null(), "{report}");
}

#[test]
fn a_table_for_people_names_the_job_the_ways_and_what_is_absent() {
    let mut bench = veriplay();
    bench.args(["bench", "--job", "triplet", "--job", "empty", "--seconds", "0.05", "--threads", "1"]);
    let text = stdout(&succeeded(&mut bench));
    says(&text, &["triplet", "empty", "veriplay", "jobs/s", "p99"]);
    says(&text, &PEERS);
}

/// A command that exits well without running anything, and one that runs Python without its assertions.
#[test]
fn peers_are_swept_over_threads_into_all_files_and_their_wrong_results_are_counted() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.args(["bench", "--json", "--job", "empty", "--seconds", "0.05", "--threads", "3,2"]);
    command.args(["--csv", "speeds.csv", "--svg", "speeds.svg"]);
    command.args(["--peer", "idle=true {file}", "--peer", "careless=python3 -I -S -O {file}"]);
    let said = ["peer `idle` on `empty` (threads: 1)"];
    let report = last_json(&ended(command.current_dir(folder.path()), 7, &said));
    let sweep = report["sweep"].as_array().expect("a list");
    assert_eq!(sweep.iter().map(|step| step["threads"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert_eq!((&sweep[0]["jobs"], &sweep[2]["jobs"]), (&report["jobs"], &report["all_cores"]));
    assert_eq!(report["scaling"]["threads"], 3);
    for step in sweep {
        check_job(&report, &step["jobs"]["empty"]);
        let idle = &step["jobs"]["empty"]["idle"];
        assert_eq!(idle["wrong"].as_u64(), idle["timed"].as_u64().map(|timed| timed + 1), "with that of the check");
        assert!(step["jobs"]["empty"]["ratio"]["idle"].is_null(), "{step}");
        assert_eq!(step["jobs"]["empty"]["veriplay"]["wrong"], 0);
    }
    let careless = &sweep[0]["jobs"]["empty"]["careless"];
    if report["machine"]["python"].is_string() {
        assert_eq!(careless["wrong"], 1, "{careless}");
        assert!(careless["first_wrong"].as_str().is_some_and(|what| what.contains("broken copy")), "{careless}");
    }

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("the file is there");
    let rows = read("speeds.csv");
    let baselines = sweep[0]["jobs"]["empty"].as_object().expect("an object").len() - 1;
    assert_eq!(rows.lines().count(), 1 + 3 * baselines, "{rows}");
    for threads in 1..=3 {
        let begins = format!("empty,{threads},veriplay,");
        assert!(rows.lines().any(|row| row.starts_with(&begins)), "{rows}");
    }
    let drawn = read("speeds.svg");
    assert!(drawn.starts_with("<svg") && drawn.contains("careless"), "{drawn}");
}

/// The peer has the file of the program and runs nothing.
#[test]
fn a_job_in_another_language_is_measured_beside_its_native_command() {
    for (language, native) in [("javascript", "node"), ("typescript", "tsx"), ("cpp", "g++"), ("c", "gcc")] {
        if language.starts_with('c') && std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
            report_skipped("VERIPLAY_TEST_CPP is not set");
            continue;
        }
        let mut command = veriplay();
        command.args(["bench", "--json", "--language", language, "--job", "contest", "--seconds", "0.05"]);
        let output = command.args(["--threads", "2", "--peer", "idle=test -f {file}"]).output().expect("it starts");
        if output.status.code() == Some(4) && stderr(&output).contains("npm pack") {
            report_without_npm(&stderr(&output));
            continue;
        }
        says(&stderr(&output), &["peer `idle` on `contest` (threads: 1)", "exit status: 0"]);
        assert_eq!(output.status.code(), Some(7));
        let report = last_json(&output);
        assert_eq!(report["machine"]["image"], language);
        for table in ["jobs", "all_cores"] {
            let job = &report[table]["contest"];
            check_cell(&job["veriplay"]);
            assert!(job["veriplay"]["fuel"].as_u64() > Some(0), "{job}");
            if report["absent"][native].is_null() {
                check_cell(&job[native]);
                assert!(job["ratio"][native].as_f64() > Some(0.0), "{job}");
            } else {
                assert!(report["install"][native].as_str().is_some_and(|how| how.contains(native)), "{report}");
            }
        }
    }
}

/// Two attempts at a task, one of them right, and `bench` on them.
struct Workload(Bench);

impl Workload {
    fn new() -> Self {
        let attempts = [completion("one", "    return x + 1\n"), completion("one", "    return 2\n")];
        Self(Bench::new(&[task("one", 1)], &attempts, &[]))
    }

    #[track_caller]
    fn bench(&self, code: i32, more: &[&str], words: &[&str]) -> Output {
        let mut command = veriplay();
        command.args(["bench", "--tasks", "tasks.jsonl", "--attempts", "attempts.jsonl", "--rounds", "2"]);
        ended(command.args(more).current_dir(self.0.dir.path()), code, words)
    }
}

#[test]
fn a_workload_of_files_is_judged_in_every_pass_and_its_verdicts_are_counted() {
    let workload = Workload::new();
    let report = last_json(&workload.bench(0, &["--json", "--threads", "2"], &[]));
    let digest = report["workload"]["digest"].clone();
    assert_eq!(
        report["workload"],
        json!({"digest": digest, "format": "veriplay", "tasks": 1, "attempts": 2, "left_out": 0,
            "statuses": {"accepted": 1, "wrong_answer": 1}})
    );
    // The same two verdicts, of another program.
    let attempts = [completion("one", "    return x + 1\n"), completion("one", "    return 3\n")];
    workload.0.write("attempts.jsonl", &lines(&attempts));
    let other = last_json(&workload.bench(0, &["--json", "--threads", "1"], &[]));
    assert_eq!(other["workload"]["statuses"], report["workload"]["statuses"]);
    assert_ne!(other["workload"]["digest"], digest);
    assert_eq!((&report["rounds"], &report["absent"]), (&json!(2), &json!({})));
    for step in report["sweep"].as_array().expect("a list") {
        let own = &step["jobs"]["workload"]["veriplay"];
        assert_eq!(own["timed"], 4, "two attempts in two passes");
        assert!(own["per_s"].as_f64() > Some(0.0), "{own}");
    }
    let text = stdout(&workload.bench(0, &["--threads", "1"], &[]));
    says(&text, &["2 attempts at 1 task in format veriplay: accepted 1, wrong_answer 1"]);

    workload.0.write("attempts.jsonl", &lines(&[completion("two", "    return 2\n")]));
    workload.bench(3, &["--threads", "1"], &["no attempt of `attempts.jsonl` can be judged"]);
}

/// A report with Veriplay's speeds multiplied, far beyond what a busy machine does.
fn doctored(report: &Value, times: f64) -> String {
    let mut report = report.clone();
    let change = |speed: &mut Value| *speed = json!(speed.as_f64().expect("a number") * times);
    change(&mut report["jobs"]["workload"]["veriplay"]["per_s"]);
    change(&mut report["sweep"][0]["jobs"]["workload"]["veriplay"]["per_s"]);
    report.to_string()
}

#[test]
fn a_baseline_says_what_became_slower_and_may_fail_the_command() {
    let workload = Workload::new();
    let options = ["--threads", "1", "--baseline", "before.json", "--json", "--fail-on-regression"];
    let first = last_json(&workload.bench(0, &["--json", "--threads", "1"], &[]));
    assert!(first["comparison"].is_null(), "{first}");
    for (times, verdict, code) in [(1e-6, "faster", 0), (1e6, "slower", 12)] {
        workload.0.write("before.json", &doctored(&first, times));
        let change = last_json(&workload.bench(code, &options, &[]))["comparison"][0].clone();
        assert_eq!((&change["job"], &change["threads"]), (&json!("workload"), &json!(1)));
        assert_eq!(change["verdict"], verdict);
        assert!((change["ratio"].as_f64() < Some(1.0)) == (verdict == "slower"), "{change}");
    }
    let text = stdout(&workload.bench(0, &options[..4], &[]));
    says(&text, &["since the baseline", "slower (noise"]);
    // What has nothing in common is found before anything is measured.
    let mut other = first;
    other["jobs"] = json!({"empty": {"veriplay": {"per_s": 1.0, "spread": 0.0}}});
    other["sweep"] = json!([]);
    workload.0.write("before.json", &other.to_string());
    let output = workload.bench(3, &options[..4], &["it has empty (threads: 1)"]);
    assert_eq!(output.stdout, b"");
}

#[test]
fn the_learner_is_measured_beside_pytorch_or_it_is_said_why_not() {
    let asked = ["bench", "learner", "--rounds", "1", "--threads", "2", "--json", "--python", "/no/such/python"];
    let report = last_json(&ended(veriplay().args(asked), 3, &["PyTorch was not measured"]));
    let measured = ["shape", "threads", "parameters"].map(|key| &report[key]);
    assert_eq!(measured, [&json!("tiny"), &json!(2), &json!(1_009_344)]);
    for rate in ["train_tokens_per_s", "generate_tokens_per_s"] {
        assert!(report["veriplay"][rate].as_f64() > Some(0.0), "{report}");
    }
    assert!(report["torch"].is_null() && report["veriplay"]["train_mfu"].is_null(), "{report}");
    let versions = report["torch_versions"].as_str().expect("a text");
    assert!(versions.starts_with("absent: `/no/such/python`"), "{report}");
}

#[test]
fn a_service_that_answers_wrongly_is_found_out() {
    let (_service, url) = Helper::start(script("fusion_server.py").arg("silent"));
    for more in [&[][..], &["--new-connections"], &["--rate", "100000"]] {
        let asked = ["bench", "serve", "--json", "--url", &url, "--requests", "20", "--in-flight", "4"];
        let report = last_json(&ended(veriplay().args(asked).args(more), 7, &[]));
        assert_eq!((&report["asked"], &report["wrong"], &report["right"]), (&json!(20), &json!(20), &json!(0)));
        assert!(report["latency_ms"]["p99"].as_f64() > Some(0.0), "{report}");
        assert_eq!(report["late_ms"].is_null(), more != ["--rate", "100000"]);
    }
}

#[test]
fn a_service_that_is_not_there_loses_everything_that_is_asked() {
    let asked = ["bench", "serve", "--json", "--url", "unix:/no/such.sock", "--protocol", "native", "--requests", "3"];
    let said = ["15 lost with their connection", "hint: the service answered nothing"];
    let report = last_json(&ended(veriplay().args(asked).args(["--batch", "5"]), 7, &said));
    assert_eq!((&report["asked"], &report["lost"], &report["latency_ms"]), (&json!(15), &json!(15), &json!(null)));
}
