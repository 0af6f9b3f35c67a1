//! `veriplay run`: each way a program can end, and that it leaves nothing behind.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;
use veriplay_tests::external::report_without_npm;

use super::commands::{ended, fails, holds};
use super::verify::rows;
use super::{last_json, says, stderr, stdout, veriplay};

/// Runs `veriplay run` with this on its standard input.
fn run_with_input(arguments: &[&str], input: &str) -> Output {
    let mut command = veriplay();
    command.arg("run").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().expect("stdin is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// Runs `program` and returns the report.
fn report(program: &str, options: &[&str]) -> Value {
    let output = run_with_input(&[&["-", "--json"], options].concat(), program);
    let report = last_json(&output);
    let left_with_0 = report["exit"] == "trapped" && report["exit_code"] == 0;
    let failed = report["exit"] != "returned" && !left_with_0;
    assert_eq!(output.status.code(), Some(if failed { 10 } else { 0 }), "{report}");
    report
}

#[test]
fn every_way_to_end_is_reported() {
    for case in rows(include_str!("run.jsonl")) {
        let program = case["program"].as_str().expect("a program");
        let options: Vec<&str> = serde::Deserialize::deserialize(&case["options"]).expect("options");
        holds(&report(program, &options), &case["report"]);
    }
    let raised = report("1/0", &[]);
    assert!(raised["stderr"].as_str().is_some_and(|text| text.ends_with("ZeroDivisionError: division by zero\n")));
    let output = run_with_input(&["-"], "f = open('f', 'w')\nwhile True: f.write('x' * 100_000)");
    ended(&output, 10, &["hint: its files take more than `file_bytes`, 16777216 bytes"]);
}

#[test]
fn the_same_run_has_the_same_fuel() {
    let program = "import random\nprint(random.random(), sum(range(1000)))";
    let (one, two) = (report(program, &["--seed", "7"]), report(program, &["--seed", "7"]));
    assert_eq!((&one["fuel"], &one["stdout"]), (&two["fuel"], &two["stdout"]));
    assert_ne!(one["stdout"], report(program, &["--seed", "8"])["stdout"]);
}

#[test]
fn numpy_is_there_already_in_its_image_and_random_numbers_follow_the_seed() {
    let program = "import numpy as np\nprint(np.arange(3) @ np.arange(3), np.random.rand())\n\
                   print(np.arange(1, 100001).sum(), np.repeat([1, 2], np.array([[1], [2]]).sum(axis=1)))";
    let one = report(program, &["--image", "python-numpy", "--seed", "7"]);
    assert!(one["stdout"].as_str().is_some_and(|text| text.ends_with("\n5000050000 [1 2 2]\n")), "{one}");
    let plain = report(program, &["--seed", "7"]);
    assert_eq!(one["stdout"], plain["stdout"]);
    let fuel = |report: &Value| report["fuel"].as_u64().expect("a count");
    assert!(fuel(&one) * 10 < fuel(&plain), "{one} {plain}");
    assert_ne!(one["stdout"], report(program, &["--image", "python-numpy", "--seed", "8"])["stdout"]);
}

#[test]
fn a_file_of_javascript_is_known_by_its_ending() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("program.js");
    std::fs::write(&path, "const f = n => [n, null]; console.log(2 ** 0.5)").expect("it is written");
    let run = |options: &[&str]| veriplay().arg("run").args(options).arg(&path).output().expect("it starts");
    let output = run(&["--workers", "process"]);
    if output.status.code() == Some(4) && stderr(&output).contains("npm pack") {
        return report_without_npm(&stderr(&output));
    }
    ended(&output, 0, &["returned; "]);
    assert_eq!(stdout(&output), "1.4142135623730951\n");
    assert_eq!(stdout(&run(&["--call", "f", "--arguments", "3"])), "1.4142135623730951\n[3, None]\n");
    ended(&run(&["--image", "python"]), 10, &["SyntaxError"]);
    fails(
        veriplay().args(["bench", "--image", "javascript"]),
        2,
        &["its programs are not in the language of the jobs, `python`"],
    );
}

#[test]
fn an_image_that_is_not_known_is_refused_with_the_names_of_those_that_are() {
    let said = "there is no image `ruby`: it is one of python, python-numpy";
    fails(veriplay().args(["run", "--image", "ruby", "-"]), 2, &[said]);
}

#[test]
fn a_program_or_its_input_may_come_from_standard_input() {
    let printed = |arguments: &[&str], input: &str| {
        let output = run_with_input(arguments, input);
        ended(&output, 0, &[]);
        stdout(&output)
    };
    assert_eq!(printed(&["-"], "print(6 * 7)"), "42\n");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, input) = (dir.path().join("double.py"), dir.path().join("input"));
    std::fs::write(&file, "print(int(input()) * 2)").expect("the program is written");
    std::fs::write(&input, "41\n").expect("the input is written");
    let [file, input] = [&file, &input].map(|path| path.to_str().expect("a UTF-8 path"));
    assert_eq!(printed(&[file, "--stdin", "-"], "21\n"), "42\n");
    assert_eq!(printed(&[file, "--stdin", input], ""), "82\n");
    ended(&run_with_input(&["-", "--stdin", "-"], "21\n"), 3, &[]);
    // What a program prints comes out as it is.
    assert_eq!(printed(&["-"], "import sys\nsys.stdout.write('a\\n\\nb')"), "a\n\nb");
    assert_eq!(printed(&["-"], "print('a\\n')"), "a\n\n");
}

#[test]
fn a_program_that_fails_fails_the_command_and_says_how() {
    let output = run_with_input(&["-", "--fuel", "5e7"], "while True: pass");
    ended(&output, 10, &["error: the program failed: fuel_exhausted", "--fuel"]);
    let said = ended(&run_with_input(&["-"], "import sys\nsys.exit(3)"), 10, &["raised (exit status 3)"]);
    assert!(!said.contains("SystemExit"), "{said}");
    for fuel in ["0", "1.5", "-1", "1e16", "1e300", "18446744073709551615", "much"] {
        let output = run_with_input(&["-", &format!("--fuel={fuel}")], "");
        ended(&output, 2, &[&format!("'{fuel}'"), "from 1 to 9007199254740992"]);
    }
}

#[test]
fn a_limit_out_of_range_is_wrong_usage_with_the_range() {
    for value in ["0", "10", "5000"] {
        let output = run_with_input(&["-", "--memory-mib", value], "print(1)");
        ended(&output, 2, &[&format!("`--memory-mib {value}` is out of range\nhint: give a number from ")]);
    }
    // A negative one is no option.
    for (option, wanted) in [("--fuel", "from 1 to 9007199254740992"), ("--memory-mib", "a whole number of MiB")] {
        let said = ended(&run_with_input(&["-", option, "-1"], "print(1)"), 2, &[wanted]);
        assert!(!said.contains("tip:"), "{option}: {said}");
    }
}

#[test]
fn what_has_no_end_is_not_read_beyond_the_memory_of_the_guest() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("program.py");
    std::fs::write(&file, "print(1)").expect("the program is written");
    let file = file.to_str().expect("a UTF-8 path");
    for arguments in [&["/dev/zero"][..], &[file, "--stdin", "/dev/zero"]] {
        let output = run_with_input(&[arguments, &["--memory-mib", "100"]].concat(), "");
        let hint = "hint: give a smaller file, or more memory by `--memory-mib`";
        ended(&output, 3, &["`/dev/zero` is larger than the guest's memory, 100 MiB", hint]);
    }
}

#[test]
fn data_that_cannot_be_written_fails_the_command() {
    for arguments in
        [&["run", "-", "--json"][..], &["isolate", "--list"], &["completions", "bash"], &["--help"], &["--version"]]
    {
        // A device that is always full.
        let full = std::fs::File::options().write(true).open("/dev/full").expect("the device is there");
        let mut command = veriplay();
        command.args(arguments).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
        let output = command.spawn().expect("it starts").wait_with_output().expect("it ends");
        ended(&output, 3, &["error: cannot write to standard output: "]);
    }
    // Whoever closes a pipe has read enough.
    let mut child = veriplay().args(["isolate", "--list"]).stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn quiet_keeps_what_the_program_says() {
    let output = run_with_input(&["-", "--quiet"], "import sys\nprint('out')\nprint('seen', file=sys.stderr)");
    assert_eq!((stdout(&output), stderr(&output)), ("out\n".to_owned(), "seen\n".to_owned()));
    let output = run_with_input(&["-", "--quiet", "--call", "f"], "def f():\n    raise ValueError('seen')");
    says(&stderr(&output), &["ValueError: seen"]);
}

#[test]
fn a_log_that_goes_to_no_terminal_has_no_colours() {
    let output = run_with_input(&["-", "-vv"], "print(1)");
    let log = stderr(&output);
    assert!(log.contains("INFO") && !log.contains('\u{1b}'), "{log}");
}
