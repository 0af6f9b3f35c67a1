//! `veriplay report`: one page that shows a run, loads nothing, and shows what a model wrote as text.

use std::path::Path;

use serde_json::{Value, json};

use super::{finished, root, small_config, stderr, succeeded, veriplay, write_config};

/// The page of these runs.
fn page_of(dir: &Path, runs: &[&Path]) -> String {
    let out = dir.join("report.html");
    succeeded(veriplay().arg("report").args(runs).arg("--out").arg(&out));
    std::fs::read_to_string(out).expect("the page can be read")
}

/// A run directory whose log has one attempt with this text.
fn run_with_response(run: &Path, text: &str) {
    std::fs::create_dir_all(run).expect("a folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(run.join(name), bytes).expect("the file is written");
    write("config.toml", small_config().to_string().as_bytes());
    // The last line is still being written.
    write("events.jsonl", b"{\"step\":0,\"actor/loss\":1.0}\n{\"step\":1,\"actor/loss\":0.5}\n{\"step\":2,\"act");
    let verdict = json!({"Ok": {"status": "wrong_answer", "evidence": {"detail": text}}});
    let episode = json!({"turns": [{"prompt": text, "text": text}], "reward": {"parts": [["solved", 0.5, 2.0]]}});
    let record = json!({"task": {"step": 1, "attempts": [{"episode": episode, "judged": {"verdict": verdict}}]}});
    let log = zstd::encode_all(format!("{record}\n").as_bytes(), 1).expect("it is compressed");
    write("rollouts.jsonl.zst", &log);
}

#[test]
fn what_a_model_wrote_is_text_and_the_page_loads_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    run_with_response(&run, "</pre><script>alert(1)</script>\" onclick='x'");
    let page = page_of(dir.path(), &[&run]);
    assert_eq!(page.matches("<script").count(), 1, "only the page's own script");
    assert!(page.contains("&lt;script&gt;alert(1)"), "the response is shown");
    assert!(page.contains("default-src 'none'") && page.contains("reward 1.00") && page.contains("Not measured yet."));
    for attribute in ["src=", "href="] {
        assert!(!page.contains(attribute), "`{attribute}`");
    }
    assert!(page.contains("<figcaption>actor&#x2f;loss</figcaption><svg"), "the curve is drawn");
}

#[test]
fn a_page_compares_runs_of_real_play() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = [dir.path().join("learned"), dir.path().join("control")];
    let config = write_config(dir.path(), &small_config());
    for (run, reward) in runs.iter().zip(["quickstart", "random"]) {
        let reward = format!("game.reward={reward}");
        succeeded(veriplay().args(["play", "--set", &reward]).arg("--config").arg(&config).arg("--out").arg(run));
    }
    let page = page_of(dir.path(), &[&runs[0], &runs[1]]);
    let after: Value =
        serde_json::from_slice(&std::fs::read(runs[0].join("after.json")).expect("the table can be read"))
            .expect("the table is JSON");
    let pass1 = format!("→ {:.1}", 100.0 * after["mean"]["pass1"].as_f64().expect("a number"));
    assert!(page.contains(&pass1), "{pass1}");
    assert!(page.contains("in points, with the 95 % interval") && page.contains("), task by task</li>"));
    super::compare::assert_real_runs_are_compared(&runs);
    assert!(page.contains("solve_rate") && page.contains("data-role=\"proposer\""));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn chosen_curves_are_a_picture_of_their_own() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = ["learned", "control"].map(|name| dir.path().join(name));
    runs.iter().for_each(|run| run_with_response(run, "x"));
    let draw = |curve: &str| {
        let mut command = veriplay();
        command.current_dir(dir.path()).arg("report").args(&runs).args(["--svg", "curve.svg", "--curve", curve]);
        finished(&mut command)
    };
    let drawn = draw("actor/loss");
    assert_eq!(String::from_utf8_lossy(&drawn.stdout), "report.html\ncurve.svg\n", "{}", stderr(&drawn));
    let picture = std::fs::read_to_string(dir.path().join("curve.svg")).expect("the picture is there");
    assert!(picture.starts_with("<svg"), "{picture}");
    for text in ["actor/loss", "step", "learned", "control"] {
        assert!(picture.contains(text), "no `{text}` in {picture}");
    }
    let refused = draw("actor/no_such_number");
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("no run has a curve `actor/no_such_number`"), "{}", stderr(&refused));
}

#[test]
fn what_is_no_run_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = finished(veriplay().arg("report").arg(dir.path()));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let run = dir.path().join("run");
    run_with_response(&run, "x");
    std::fs::write(run.join("events.jsonl"), "no event\n").expect("the file is written");
    let output = finished(veriplay().arg("report").arg(&run));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("line 1 is not an event"), "{}", stderr(&output));
}

#[test]
fn damaged_files_of_a_run_are_named_with_a_hint() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    run_with_response(&run, "what is still there");
    let log = run.join("rollouts.jsonl.zst");
    let mut bytes = std::fs::read(&log).expect("the log can be read");
    bytes.extend_from_slice(b"no frame");
    std::fs::write(&log, bytes).expect("the log is written");
    let mut command = veriplay();
    let output = succeeded(command.arg("report").arg(&run).arg("--out").arg(dir.path().join("report.html")));
    let said = stderr(&output);
    assert!(said.contains("warning: `") && said.contains("rollouts.jsonl.zst` cannot be read at line 2: "), "{said}");
    assert!(said.contains("hint: "), "{said}");
    let page = std::fs::read_to_string(dir.path().join("report.html")).expect("the page can be read");
    assert!(page.contains("what is still there"));

    std::fs::write(&log, "no log\n").expect("the log is written");
    let output = finished(veriplay().current_dir(root()).arg("replay").arg(&run));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("rollouts.jsonl.zst` line 1 cannot be read: ") && said.contains("hint: "), "{said}");

    std::fs::write(run.join("config.toml"), "seed = [\n").expect("the configuration is written");
    for command in ["report", "replay"] {
        let output = finished(veriplay().arg(command).arg(&run));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("config.toml` is not a valid configuration") && said.contains("hint: "), "{said}");
    }
}
