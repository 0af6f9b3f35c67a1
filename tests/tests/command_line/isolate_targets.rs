//! `veriplay isolate` on images of Docker, by a program of that name that runs Python itself, and on servers over HTTPS.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use veriplay_tests::external::report_skipped;
use veriplay_tests::veriplay_program;

use super::isolate::{NOT_CONTAINED, allowed};
use super::{Helper, ended, finished, last_json, root, says, script, veriplay};

/// A `docker` that has the image `python:test`, writes its arguments to a file, and runs the mounted program without a container.
const DOCKER: &str = r#"#!/bin/sh
log=$(dirname "$0")/log
echo "$@" >> "$log"
case "$1 $2" in
"image inspect") [ "$3" = python:test ] ;;
"pull --quiet") echo "no such image: $3" >&2; exit 1 ;;
"kill "*) exit 0 ;;
"run "*)
  for argument in "$@"; do
    case "$argument" in --mount=type=bind,source=*) file=${argument#*source=}; file=${file%%,*} ;; esac
  done
  exec env -u VERIPLAY_PROBE_SECRET python3 "$file" ;;
*) exit 125 ;;
esac
"#;

/// `PATH` with a folder in front.
fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("there is a PATH"))
}

/// A folder with that program, and `PATH` with it in front.
fn fake_docker() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let program = folder.path().join("docker");
    std::fs::write(&program, DOCKER).expect("the program is written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let path = path_with(folder.path());
    (folder, path)
}

#[test]
fn each_program_runs_in_a_container_of_its_own() {
    let (folder, path) = fake_docker();
    let mut command = veriplay();
    command.env("PATH", path).args(["isolate", "--json", "--target", "docker:--read-only --cap-drop ALL python:test"]);
    let probes = ["--probe", "secrets/planted_variable", "--probe", "network/loopback"];
    let report = last_json(&ended(command.args(probes), NOT_CONTAINED, &[]));
    // The program of the test cuts off no network, and hands on no variable.
    assert_eq!((&report["contained"], &report["escaped"]), (&json!(1), &json!(1)), "{report}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("it was called");
    let runs: Vec<&str> = log.lines().filter(|line| line.starts_with("run ")).collect();
    // The plain program, and the probes.
    assert_eq!(runs.len(), 3, "{log}");
    for run in &runs {
        let limits = "run --rm --interactive --network none --name veriplay-probe-";
        let memory = " --memory=256m --memory-swap=256m --ulimit=cpu=10 --mount=type=bind,source=/";
        let rest = ",target=/probe.py,readonly --read-only --cap-drop ALL python:test python3 /probe.py";
        assert!(run.starts_with(limits) && run.contains(memory) && run.ends_with(rest), "{run}");
    }
    let names: BTreeSet<&str> = runs.iter().filter_map(|run| run.split(' ').nth(6)).collect();
    assert_eq!(names.len(), runs.len(), "{log}");
}

#[test]
fn an_image_that_cannot_be_had_is_one_error_and_is_not_attacked() {
    let (_folder, path) = fake_docker();
    let arguments = ["isolate", "--json", "--target", "docker:no/such:image"];
    let output = ended(veriplay().env("PATH", &path).args(arguments), 3, &["no such image: no/such:image"]);
    assert_eq!(output.stdout, b"");
    ended(veriplay().env("PATH", "/nowhere").args(arguments), 3, &["`docker` cannot be run"]);
}

#[test]
fn the_step_of_the_action_writes_reports_outputs_and_a_summary() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = path_with(veriplay_program().parent().expect("a folder"));
    let allow = allowed("host_files/password_file", "");
    std::fs::write(folder.path().join("allow.toml"), allow).expect("the list is written");
    // With the line ends of another system, and blanks that nobody sees.
    let one_probe = " --probe=host_files/password_file\r\n\r\n--jobs=1 \n";
    let run = |arguments: &str, allow: &str, target: &str, code: i32| {
        let mut command = Command::new("bash");
        command.arg(root().join(".github/actions/isolate/isolate.sh")).current_dir(folder.path()).env("PATH", &path);
        command.env("RUNNER_TEMP", folder.path()).env("TARGET", target).env("ALLOW", allow);
        command.env("ARGUMENTS", arguments);
        let files = ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"].map(|name| (name, folder.path().join(name)));
        for (name, file) in &files {
            std::fs::write(file, "").expect("a file is written");
            command.env(name, file);
        }
        ended(&mut command, code, &[]);
        files.map(|(_, file)| std::fs::read_to_string(file).expect("it is there"))
    };
    // An option and its value are one argument.
    run("--class host_files", "", "cmd:python3 {file}", 2);
    let [outputs, _] = run(one_probe, "", "cmd:no-such-program {file}", 3);
    assert_eq!(outputs, "exit-code=3\n");
    let [outputs, summary] = run(one_probe, "", "cmd:python3 {file}", NOT_CONTAINED);
    says(&outputs, &["exit-code=8\nreports=/"]);
    says(&summary, &["| host_files | 0 | 1 |"]);
    let reports = Path::new(outputs.trim().rsplit('=').next().expect("the folder"));
    for report in ["isolation.xml", "isolation.sarif", "isolation.json", "isolation.md"] {
        assert!(reports.join(report).is_file(), "{report}");
    }
    run(one_probe, "allow.toml", "cmd:python3 {file}", 0);
}

/// A certificate for `localhost` by an authority of the test, and that authority's; or why there is none.
fn make_certificates(folder: &Path) -> Result<(), String> {
    let authority = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -keyout ca.key -out ca.pem";
    let request = "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout own.key -out own.csr";
    let sign = "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile own.ext -out own.pem";
    std::fs::write(folder.join("own.ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1").expect("a file is written");
    for line in [authority, request, sign] {
        let output = Command::new("openssl").args(line.split(' ')).current_dir(folder).output();
        let output = output.map_err(|error| format!("openssl: {error}"))?;
        if !output.status.success() {
            return Err(format!("openssl {line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(())
}

#[test]
fn a_server_over_https_is_attacked_where_its_certificate_is_trusted() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    if let Err(why) = make_certificates(folder.path()) {
        return report_skipped(&format!("no certificate can be made: {why}"));
    }
    std::fs::write(folder.path().join("token"), "a-token-of-the-test\n").expect("the token is written");
    let (_server, address) = Helper::start(script("fusion_server.py").arg("tls").current_dir(folder.path()));
    let attack = |options: &[&str], code: i32, words: &[&str]| {
        let probe = ["isolate", "--json", "--probe", "host_files/password_file", "--target"];
        let target = format!("sandboxfusion:{address}");
        ended(veriplay().current_dir(folder.path()).args(probe).arg(target).args(options), code, words)
    };
    let report = last_json(&attack(&["--ca-file", "ca.pem", "--token-file", "token"], NOT_CONTAINED, &[]));
    assert_eq!(report["escaped"], 1, "{report}");
    for (options, said) in [
        (&["--token-file", "token"][..], "does not run a plain program"),
        (&["--ca-file", "ca.pem"], "does not run a plain program"),
        (&["--ca-file", "token"], "has no certificate in PEM"),
    ] {
        attack(options, 3, &[said]);
    }
}

/// Runs a program as a Python would whose clock of processor time is a thousand times too fast.
const FAST_CLOCK: &str = "import runpy, sys, time\n\
    clock = time.process_time\ntime.process_time = lambda: 1000 * clock()\n\
    runpy.run_path(sys.argv[1], run_name='__main__')\n";

#[test]
fn a_clock_that_runs_ahead_is_no_escape() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let program = folder.path().join("fast_clock.py");
    std::fs::write(&program, FAST_CLOCK).expect("the program is written");
    let verdict_with = |target: &str| {
        let arguments = ["isolate", "--json", "--probe", "cpu/loop", "--target", target];
        last_json(&finished(veriplay().args(arguments)))["probes"][0].clone()
    };
    let fast = verdict_with(&format!("cmd:python3 {} {{file}}", program.display()));
    assert_eq!(fast["verdict"], "unclear", "{fast}");
    assert!(fast["evidence"].as_str().is_some_and(|text| text.contains("is not the machine's")), "{fast}");
    assert_eq!(verdict_with("cmd:python3 {file}")["verdict"], "escaped");
}
