//! `veriplay bench`: what it prints and what it refuses. No test measures speed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::isolate_signals::{assert_ended, started_process};
use super::verify::{Bench, completion, task};
use super::{finished, last_json, stderr, succeeded, veriplay};

/// The ways every machine with a `python3` has.
const PEERS: [&str; 3] = ["subprocess", "fork", "pool"];

#[test]
fn one_job_is_reported_in_every_way_with_all_its_keys() {
    let output =
        succeeded(veriplay().args(["bench", "--json", "--job", "empty", "--seconds", "0.2", "--threads", "2"]));
    let report = last_json(&output);
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
    let output = succeeded(command.env("PATH", empty.path()));
    let report = last_json(&output);
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
    let output = succeeded(
        veriplay().args(["bench", "--job", "triplet", "--job", "empty", "--seconds", "0.05", "--threads", "1"]),
    );
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["triplet", "empty", "veriplay", "jobs/s", "p99"].iter().chain(&PEERS) {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    for (arguments, reason) in [
        (["--job", "full"], "assert-small"),
        (["--seconds", "0"], "above 0"),
        (["--seconds", "NaN"], "above 0"),
        (["--threads", "0"], "zero"),
        (["--threads", "100000"], "at most on this machine"),
    ] {
        let output = finished(veriplay().arg("bench").args(arguments));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains(reason) && text.contains(arguments[0]), "{text}");
    }
}

/// A command that exits well without running anything, and one that runs Python without its assertions.
#[test]
fn peers_are_swept_over_threads_into_all_files_and_their_wrong_results_are_counted() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = veriplay();
    command.args(["bench", "--json", "--job", "empty", "--seconds", "0.05", "--threads", "3,2"]);
    command.args(["--csv", "speeds.csv", "--svg", "speeds.svg"]);
    command.args(["--peer", "idle=true {file}", "--peer", "careless=python3 -I -S -O {file}"]);
    let output = finished(command.current_dir(folder.path()));
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("peer `idle` on `empty` (threads: 1)"), "{}", stderr(&output));

    let report = last_json(&output);
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

/// Two attempts at a task, one of them right, and `bench` on them.
fn workload() -> Bench {
    let attempts = [completion("one", "    return x + 1\n"), completion("one", "    return 2\n")];
    Bench::new(&[task("one", 1)], &attempts, &[])
}

fn bench_workload(bench: &Bench, more: &[&str]) -> std::process::Output {
    let mut command = veriplay();
    command.args(["bench", "--tasks", "tasks.jsonl", "--attempts", "attempts.jsonl", "--rounds", "2"]);
    finished(command.args(more).current_dir(bench.dir.path()))
}

#[test]
fn a_workload_of_files_is_judged_in_every_pass_and_its_verdicts_are_counted() {
    let bench = workload();
    let output = bench_workload(&bench, &["--json", "--threads", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = last_json(&output);
    let digest = report["workload"]["digest"].clone();
    assert_eq!(
        report["workload"],
        json!({"digest": digest, "format": "veriplay", "tasks": 1, "attempts": 2, "left_out": 0,
            "statuses": {"accepted": 1, "wrong_answer": 1}})
    );
    // The same two verdicts, of another program.
    bench.write(
        "attempts.jsonl",
        &format!("{}\n{}\n", completion("one", "    return x + 1\n"), completion("one", "    return 3\n")),
    );
    let other = last_json(&bench_workload(&bench, &["--json", "--threads", "1"]));
    assert_eq!(other["workload"]["statuses"], report["workload"]["statuses"]);
    assert_ne!(other["workload"]["digest"], digest);
    assert_eq!((&report["rounds"], &report["absent"]), (&json!(2), &json!({})));
    for step in report["sweep"].as_array().expect("a list") {
        let own = &step["jobs"]["workload"]["veriplay"];
        assert_eq!(own["timed"], 4, "two attempts in two passes");
        assert!(own["per_s"].as_f64() > Some(0.0), "{own}");
    }
    let text = bench_workload(&bench, &["--threads", "1"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("2 attempts at 1 task in format veriplay: accepted 1, wrong_answer 1"), "{text}");

    bench.write("attempts.jsonl", &format!("{}\n", completion("two", "    return 2\n")));
    let output = bench_workload(&bench, &["--threads", "1"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("no attempt of `attempts.jsonl` can be judged"), "{}", stderr(&output));
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
    let bench = workload();
    let first = last_json(&bench_workload(&bench, &["--json", "--threads", "1"]));
    assert!(first["comparison"].is_null(), "{first}");
    let compared = |times: f64, more: &[&str]| {
        bench.write("before.json", &doctored(&first, times));
        bench_workload(&bench, &[&["--threads", "1", "--baseline", "before.json"][..], more].concat())
    };
    for (times, verdict, code) in [(1e6, "slower", 12), (1e-6, "faster", 0)] {
        let output = compared(times, &["--json", "--fail-on-regression"]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let change = last_json(&output)["comparison"][0].clone();
        assert_eq!((&change["job"], &change["threads"]), (&json!("workload"), &json!(1)));
        assert_eq!(change["verdict"], verdict);
        assert!((change["ratio"].as_f64() < Some(1.0)) == (verdict == "slower"), "{change}");
    }
    let output = compared(1e6, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("since the baseline") && text.contains("slower (noise"), "{text}");
    // What has nothing in common is found before anything is measured.
    let mut other = first;
    other["jobs"] = json!({"empty": {"veriplay": {"per_s": 1.0, "spread": 0.0}}});
    other["sweep"] = json!([]);
    bench.write("before.json", &other.to_string());
    let output = bench_workload(&bench, &["--threads", "1", "--baseline", "before.json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{}", stderr(&output));
    assert!(stderr(&output).contains("it has empty (threads: 1)"), "{}", stderr(&output));
}

#[test]
fn files_of_others_are_never_overwritten_and_nothing_is_measured_for_them() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let program = folder.path().join("keep.py");
    std::fs::write(&program, "print('mine')").expect("it can be written");
    for option in ["--csv", "--svg"] {
        let output = finished(veriplay().args(["bench", "--job", "empty", option]).arg(&program));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{}", stderr(&output));
        assert!(stderr(&output).contains("keep.py` is there already"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(&program).expect("it is there"), "print('mine')");
}

#[test]
fn options_that_would_be_ignored_or_have_no_meaning_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("empty.json"), "{\"schema_version\": 1}").expect("it can be written");
    for (arguments, code, reason) in [
        (&["--peer", "mine=python3"][..], 2, "no `{file}`"),
        (&["--peer", "fork=python3 {file}"], 2, "is taken"),
        (&["--peer", "a=x {file}", "--peer", "a=y {file}"], 2, "the same name"),
        (&["--peer", "a=x {file}", "--soak", "1"], 2, "`--peer` does not apply"),
        (&["learner", "--csv", "x.csv"], 2, "`--csv` does not apply"),
        (&["learner", "--threads", "1,2"], 2, "several numbers"),
        (&["--threads", "2,0"], 2, "--threads"),
        (&["--job", "empty", "--rounds", "2"], 2, "`--rounds` does not apply to the named jobs"),
        (&["--job", "empty", "--job", "cost"], 2, "there is no job `cost`"),
        (&["--url", "http://127.0.0.1:1"], 2, "`--url` does not apply"),
        (&["--requests", "9"], 2, "`--requests` does not apply"),
        (&["--shape", "tiny"], 2, "`--shape` does not apply"),
        (&["--python", "python3"], 2, "`--python` does not apply"),
        (&["--device", "cpu"], 2, "`--device` does not apply"),
        (&["--job", "cost", "--fuel", "999999999"], 2, "give at least 1000000000"),
        (&["--soak", "-1"], 2, "invalid value '-1' for '--soak <N>'"),
        (&["--job", "cost", "--seconds", "1"], 2, "`--seconds` does not apply to `--job cost`"),
        (&["serve", "--url", "http://127.0.0.1:1", "--batch", "2"], 2, "`--batch` does not apply"),
        (&["--csv", "/no/such/folder/x.csv"], 3, "cannot write `/no/such/folder/x.csv`"),
        (&["--svg", "/dev/null"], 3, "no regular file"),
        (&["--tasks", "tasks.jsonl"], 2, "--attempts"),
        (&["--tasks", "t", "--attempts", "a", "--peer", "a=x {file}"], 2, "--peer"),
        (&["--fail-on-regression"], 2, "--baseline"),
        (&["--baseline", "/no/such.json"], 3, "cannot read `/no/such.json`"),
        (&["--baseline", "empty.json"], 3, "no job of Veriplay"),
    ] {
        let output = finished(veriplay().arg("bench").args(arguments).current_dir(folder.path()));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_learner_is_measured_beside_pytorch_or_it_is_said_why_not() {
    let asked = ["bench", "learner", "--rounds", "1", "--threads", "2", "--json", "--python", "/no/such/python"];
    let output = finished(veriplay().args(asked));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("PyTorch was not measured"), "{}", stderr(&output));
    let report = last_json(&output);
    assert_eq!(
        (&report["shape"], &report["threads"], &report["parameters"]),
        (&"tiny".into(), &2.into(), &1_009_344.into())
    );
    for rate in ["train_tokens_per_s", "generate_tokens_per_s"] {
        assert!(report["veriplay"][rate].as_f64() > Some(0.0), "{report}");
    }
    assert!(report["torch"].is_null() && report["veriplay"]["train_mfu"].is_null(), "{report}");
    assert!(
        report["torch_versions"].as_str().is_some_and(|versions| versions.starts_with("absent: `/no/such/python`")),
        "{report}"
    );
    assert_eq!(finished(veriplay().args(["bench", "learner", "--rounds", "0"])).status.code(), Some(2));
}

/// A service that answers every program with the same output, on a thread that ends with the test.
fn serve_the_same(stdout: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it has an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || while answer_one(&connection, stdout) {});
        }
    });
    url
}

/// Reads a request and answers it. False when the client has gone.
fn answer_one(mut connection: &TcpStream, stdout: &str) -> bool {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body follows");
    let answer = json!({"status": "Success", "run_result": {"return_code": 0, "stdout": stdout}}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
    connection.write_all((head + &answer).as_bytes()).is_ok()
}

#[test]
fn a_service_that_answers_wrongly_is_found_out() {
    let url = serve_the_same("");
    for more in [&[][..], &["--new-connections"], &["--rate", "100000"]] {
        let asked = ["bench", "serve", "--json", "--url", &url, "--requests", "20", "--in-flight", "4"];
        let output = finished(veriplay().args(asked).args(more));
        assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
        let report = last_json(&output);
        assert_eq!((&report["asked"], &report["wrong"], &report["right"]), (&json!(20), &json!(20), &json!(0)));
        assert!(report["latency_ms"]["p99"].as_f64() > Some(0.0), "{report}");
        assert_eq!(report["late_ms"].is_null(), more != ["--rate", "100000"]);
    }
}

#[test]
fn a_service_that_is_not_there_loses_everything_that_is_asked() {
    let asked = ["bench", "serve", "--json", "--url", "unix:/no/such.sock", "--protocol", "native", "--requests", "3"];
    let output = finished(veriplay().args(asked).args(["--batch", "5"]));
    assert_eq!(output.status.code(), Some(7));
    let report = last_json(&output);
    assert_eq!((&report["asked"], &report["lost"], &report["latency_ms"]), (&json!(15), &json!(15), &json!(null)));
    assert!(stderr(&output).contains("15 lost with their connection"), "{}", stderr(&output));
    assert!(stderr(&output).contains("hint: the service answered nothing"), "{}", stderr(&output));
}

#[test]
fn load_that_cannot_be_made_is_refused() {
    let url = ["--url", "http://127.0.0.1:1"];
    for (arguments, code, reason) in [
        (&[][..], 2, "--url"),
        (&["--url", "localhost:80"], 2, "neither `http://HOST:PORT`"),
        (&[url[0], url[1], "--requests", "0"], 2, "--requests"),
        (&[url[0], url[1], "--rate", "0"], 2, "--rate"),
        (&[url[0], url[1], "--patience", "0"], 2, "--patience"),
        (&[url[0], url[1], "--token-file", "/no/such"], 3, "cannot read `/no/such`"),
    ] {
        let output = finished(veriplay().args(["bench", "serve"]).args(arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

/// A benchmark whose peer hangs, and the process whose id that writes to the file `$started`. Its temporary folders are in `tmp` of `folder`.
fn hanging_bench(folder: &Path, peer: &str) -> (Child, OwnedFd) {
    let (started, temporary) = (folder.join("started"), folder.join("tmp"));
    std::fs::create_dir(&temporary).expect("a folder");
    let mut command = veriplay();
    command.args(["bench", "--job", "empty", "--seconds", "0.05", "--threads", "1", "--peer", peer]);
    command.env("TMPDIR", temporary).env("started", &started).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bench = command.spawn().expect("the binary starts");
    let process = started_process(&mut bench, &started);
    (bench, process)
}

#[test]
fn a_signal_ends_the_processes_of_peers_and_leaves_no_folder() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let peer = "hung=true {file}; sleep 600 & echo $! > $started; wait";
        let (mut bench, process) = hanging_bench(folder.path(), peer);
        kill_process(Pid::from_child(&bench), signal).expect("it runs");
        assert_eq!(bench.wait().expect("it ends").code(), Some(130));
        assert_ended(&process, "what the peer started goes on without the benchmark");
        let left: Vec<_> = std::fs::read_dir(folder.path().join("tmp")).expect("it can be listed").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_benchmark_that_is_killed_leaves_no_process_of_its_own() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (mut bench, process) = hanging_bench(folder.path(), "hung=true {file}; echo $$ > $started; exec sleep 600");
    bench.kill().expect("it runs");
    bench.wait().expect("it ends");
    assert_ended(&process, "the peer goes on without the benchmark");
}
