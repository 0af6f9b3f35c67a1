//! `veriplay run`: each way a program can end, and that it leaves nothing behind.

use std::io::Write;

use serde_json::Value;

use super::{finished, last_json, stderr, veriplay};

/// Runs `program` and returns the report.
fn report(program: &str, options: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("program.py");
    std::fs::write(&file, program).expect("the program is written");
    let output = finished(veriplay().arg("run").arg(&file).arg("--json").args(options));
    let report = last_json(&output);
    let left_with_0 = report["exit"] == "trapped" && report["exit_code"] == 0;
    let failed = report["exit"] != "returned" && !left_with_0;
    assert_eq!(output.status.code(), Some(if failed { 10 } else { 0 }), "{report}");
    report
}

fn exit_of(program: &str, options: &[&str]) -> String {
    report(program, options)["exit"].as_str().expect("`exit` is a word").to_owned()
}

#[test]
fn every_way_to_end_has_its_word() {
    let fuel = ["--fuel", "50000000"];
    let cases: &[(&str, &[&str], &str)] = &[
        ("print('hello')", &[], "returned"),
        ("while True: pass", &fuel, "fuel_exhausted"),
        (
            "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
            &fuel,
            "fuel_exhausted",
        ),
        ("x = []\nwhile True: x.append(bytearray(1 << 20))", &[], "memory_exceeded"),
        ("while True: print('x' * 1000)", &[], "output_exceeded"),
        ("def f(n): return f(n + 1)\nf(0)", &[], "raised"),
        ("import os\nos._exit(0)", &[], "trapped"),
        ("def f(:", &[], "compile_error"),
        ("open('/etc/passwd').read()", &[], "raised"),
        ("import sys\nsys.exit(0)", &[], "returned"),
        ("import sys\nsys.exit(3)", &[], "raised"),
    ];
    for (program, options, exit) in cases {
        assert_eq!(exit_of(program, options), *exit, "{program}");
    }
}

#[test]
fn the_limit_that_was_met_is_named() {
    let endless = "while True:\n    ";
    for (program, exit, limit) in [
        (format!("{endless}print('x' * 1000)"), "output_exceeded", "output_bytes"),
        (format!("f = open('f', 'w')\n{endless}f.write('x' * 100_000)"), "output_exceeded", "file_bytes"),
        (format!("x = []\n{endless}x.append(bytearray(1 << 20))"), "memory_exceeded", "memory_bytes"),
    ] {
        let report = report(&program, &[]);
        assert_eq!((&report["exit"], &report["limit"]), (&exit.into(), &limit.into()), "{program}");
    }
    assert_eq!(report("print(1)", &[])["limit"], Value::Null);
    let output = run_with_input(&["-"], &format!("f = open('f', 'w')\n{endless}f.write('x' * 100_000)"));
    assert!(
        stderr(&output).contains("hint: its files take more than `file_bytes`, 16777216 bytes"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_status_is_that_of_a_process_and_stderr_has_what_the_process_would_print() {
    let fuel = ["--fuel", "50000000"];
    let cases: &[(&str, &[&str], Value, &str)] = &[
        ("print('hello')", &[], 0.into(), ""),
        ("import sys\nsys.exit(3)", &[], 3.into(), ""),
        ("import sys\nsys.exit('no input')", &[], 1.into(), "no input\n"),
        ("import os\nos._exit(7)", &[], 7.into(), ""),
        ("while True: pass", &fuel, Value::Null, ""),
    ];
    for (program, options, status, stderr) in cases {
        let report = report(program, options);
        assert_eq!((&report["exit_code"], report["stderr"].as_str()), (status, Some(*stderr)), "{program}");
    }
    let raised = report("1/0", &[]);
    assert_eq!(raised["exit_code"], 1);
    assert!(raised["stderr"].as_str().is_some_and(|text| text.ends_with("ZeroDivisionError: division by zero\n")));
}

#[test]
fn errors_are_named() {
    let cases = [
        ("open('/etc/passwd').read()", "FileNotFoundError"),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError"),
        ("raise StopIteration('done')", "StopIteration"),
    ];
    for (program, kind) in cases {
        assert_eq!(report(program, &[])["error"]["kind"], kind, "{program}");
    }
}

#[test]
fn a_call_gives_its_value() {
    let program = "def f(x, y):\n    return [x, {'k': y}, (1,)]";
    let report = report(program, &["--call", "f", "--arguments", "-1, 'é'"]);
    assert_eq!(report["value"], "[-1, {'k': 'é'}, (1,)]");
    assert_eq!(report["exit"], "returned");
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
fn an_image_that_is_not_known_is_refused_with_the_names_of_those_that_are() {
    let output = finished(veriplay().args(["run", "--image", "ruby", "-"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("there is no image `ruby`: it is one of python, python-numpy"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bytes_that_are_not_text_are_escaped() {
    let report = report("import sys\nsys.stdout.buffer.write(b'a\\xff\\\\n')", &[]);
    assert_eq!(report["stdout"], "a\\xff\\n");
}

#[test]
fn standard_input_reaches_the_program() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let input = dir.path().join("input");
    std::fs::write(&input, "41\n").expect("the input is written");
    let report = report("print(int(input()) + 1)", &["--stdin", input.to_str().expect("a UTF-8 path")]);
    assert_eq!(report["stdout"], "42\n");
}

/// Runs `veriplay run` with this on its standard input.
fn run_with_input(arguments: &[&str], input: &str) -> std::process::Output {
    let pipe = std::process::Stdio::piped;
    let mut command = veriplay();
    let mut child =
        command.arg("run").args(arguments).stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().expect("it starts");
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().expect("stdin is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_program_or_its_input_may_come_from_standard_input() {
    let output = run_with_input(&["-"], "print(6 * 7)");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"42\n".as_slice()), "{}", stderr(&output));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("double.py");
    std::fs::write(&file, "print(int(input()) * 2)").expect("the program is written");
    let output = run_with_input(&[file.to_str().expect("a UTF-8 path"), "--stdin", "-"], "21\n");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"42\n".as_slice()), "{}", stderr(&output));
    let output = run_with_input(&["-", "--stdin", "-"], "21\n");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn what_a_program_prints_comes_out_as_it_is() {
    let output = run_with_input(&["-"], "import sys\nsys.stdout.write('a\\n\\nb')");
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), b"a\n\nb".as_slice()),
        "{}",
        stderr(&output)
    );
    let output = run_with_input(&["-"], "print('a\\n')");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"a\n\n".as_slice()), "{}", stderr(&output));
}

#[test]
fn a_program_that_fails_fails_the_command_and_says_how() {
    let output = run_with_input(&["-", "--fuel", "5e7"], "while True: pass");
    assert_eq!(output.status.code(), Some(10));
    let said = stderr(&output);
    assert!(said.contains("error: the program failed: fuel_exhausted") && said.contains("--fuel"), "{said}");
    let output = run_with_input(&["-"], "import sys\nsys.exit(3)");
    assert_eq!(output.status.code(), Some(10));
    assert!(stderr(&output).contains("raised (exit status 3)"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("SystemExit"), "{}", stderr(&output));
    for fuel in ["0", "1.5", "-1", "1e16", "1e300", "18446744073709551615", "much"] {
        let output = run_with_input(&["-", &format!("--fuel={fuel}")], "");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{fuel}: {said}");
        assert!(said.contains(&format!("'{fuel}'")) && said.contains("from 1 to 9007199254740992"), "{said}");
    }
}

#[test]
fn a_limit_out_of_range_is_wrong_usage_with_the_range() {
    for value in ["0", "10", "5000"] {
        let option = "--memory-mib";
        let output = run_with_input(&["-", option, value], "print(1)");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {said}");
        assert!(said.contains(&format!("`{option} {value}` is out of range\nhint: give a number from ")), "{said}");
    }
}

#[test]
fn a_negative_limit_is_out_of_range_and_no_option() {
    for (option, wanted) in [("--fuel", "from 1 to 9007199254740992"), ("--memory-mib", "a whole number of MiB")] {
        let output = run_with_input(&["-", option, "-1"], "print(1)");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{option}: {said}");
        assert!(said.contains(wanted) && !said.contains("tip:"), "{option}: {said}");
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
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(said.contains("`/dev/zero` is larger than the guest's memory, 100 MiB"), "{arguments:?}: {said}");
        assert!(said.contains("hint: give a smaller file, or more memory by `--memory-mib`"), "{arguments:?}: {said}");
    }
}

/// Runs `veriplay` with its stdout on a device that is always full.
fn into_full_device(arguments: &[&str]) -> std::process::Output {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the device is there");
    let mut command = veriplay();
    let child = command.args(arguments).stdin(std::process::Stdio::null()).stdout(full);
    child.stderr(std::process::Stdio::piped()).spawn().expect("it starts").wait_with_output().expect("it ends")
}

#[test]
fn data_that_cannot_be_written_fails_the_command() {
    let commands =
        [&["run", "-", "--json"][..], &["isolate", "--list"], &["completions", "bash"], &["--help"], &["--version"]];
    for arguments in commands {
        let output = into_full_device(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(said.contains("error: cannot write to standard output: "), "{arguments:?}: {said}");
    }
    // Whoever closes a pipe has read enough.
    let mut command = veriplay();
    let mut child =
        command.args(["isolate", "--list"]).stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn quiet_keeps_what_the_program_says() {
    let output = run_with_input(&["-", "--quiet"], "import sys\nprint('out')\nprint('seen', file=sys.stderr)");
    assert_eq!((output.stdout.as_slice(), stderr(&output).as_str()), (b"out\n".as_slice(), "seen\n"));
    let output = run_with_input(&["-", "--quiet", "--call", "f"], "def f():\n    raise ValueError('seen')");
    assert!(stderr(&output).contains("ValueError: seen"), "{}", stderr(&output));
}

#[test]
fn a_log_that_goes_to_no_terminal_has_no_colours() {
    let output = run_with_input(&["-", "-vv"], "print(1)");
    let log = stderr(&output);
    assert!(log.contains("INFO") && !log.contains('\u{1b}'), "{log}");
}
