//! `veriplay report`: one page that shows a run, loads nothing, and shows what a model wrote as text.

use std::path::Path;

use serde_json::{Value, json};

use super::browser::Browser;
use super::commands::{fails, play_file, read, read_json, write_log};
use super::{says, small_config, stderr, stdout, succeeded, veriplay, write_config};

/// The page of these runs.
fn page_of(dir: &Path, runs: &[&Path]) -> String {
    let out = dir.join("report.html");
    succeeded(veriplay().arg("report").args(runs).arg("--out").arg(&out));
    let page = read(out);
    let printed = succeeded(veriplay().arg("report").args(runs).args(["--out", "-"]));
    assert_eq!(stdout(&printed).trim_end(), page.trim_end());
    page
}

/// A run directory whose log has one attempt with this text.
fn run_with_response(run: &Path, text: &str) {
    std::fs::create_dir_all(run).expect("a folder");
    write_config(run, &small_config());
    // The last line is still being written.
    let events = "{\"step\":0,\"actor/loss\":1.0}\n{\"step\":1,\"actor/loss\":0.5}\n{\"step\":2,\"act";
    std::fs::write(run.join("events.jsonl"), events).expect("the events are written");
    let verdict = json!({"Ok": {"status": "wrong_answer", "evidence": {"detail": text}}});
    let episode = json!({"turns": [{"prompt": text, "text": text}], "reward": {"parts": [["solved", 0.5, 2.0]]}});
    let record = json!({"task": {"step": 1, "attempts": [{"episode": episode, "judged": {"verdict": verdict}}]}});
    write_log(run, &format!("{record}\n"));
}

/// An attempt at a task of this type that passed so many of four checks.
fn attempt(text: &str, passed: u64, rule: &str) -> Value {
    let status = if passed == 4 { "accepted" } else { "wrong_answer" };
    let evidence = json!({"rule": rule, "detail": text});
    let verdict = json!({"Ok": {"status": status, "passed": passed, "total": 4, "evidence": evidence}});
    let turn = json!({"prompt": text, "text": text, "tokens": [1, 2], "logprobs": [-0.1, -3.0], "finish": "stop"});
    json!({"episode": {"turns": [turn], "reward": null}, "judged": {"verdict": verdict}})
}

/// Writes a run with these attempts at a task of each type, and with two evaluations on the validation set.
fn write_run(run: &Path, attempts: &[(&str, Vec<Value>)]) {
    run_with_response(run, "replaced");
    let line = |(index, (task_type, attempts)): (usize, &(&str, Vec<Value>))| {
        let task = json!({"question": {*task_type: {}}});
        format!("{}\n", json!({"task": {"step": 1, "index": index, "task": task, "attempts": attempts}}))
    };
    write_log(run, &attempts.iter().enumerate().map(line).collect::<String>());
    let event = |step: u32| {
        let share = f64::from(step) / 40.0;
        let mut event = json!({"step": step, "actor/entropy": if step.is_multiple_of(2) { 1.0 } else { 2.0 }});
        if step.is_multiple_of(19) {
            let measures = json!({"pass1": share, "greedy": share, "pass8": share});
            let row = json!({"row": "all", "tasks": 50, "pass1": share, "greedy": share, "pass8": share});
            event["validation"] = json!({"rows": [row], "mean": measures});
        }
        format!("{event}\n")
    };
    let events: String = (0..20).map(event).collect();
    std::fs::write(run.join("events.jsonl"), events).expect("the events are written");
}

/// A text that does something wherever it is taken for markup.
const MARKUP: &str =
    "</pre></script><script>window.taken = 1</script><img src=x onerror='window.taken = 1'>\" onfocus='x'";

/// A page of a run with two near misses, a caught cheat and markup, in a browser.
fn open_page(browser: &mut Browser, dir: &Path) {
    let run = dir.join("a \"run\", & more");
    let deduction = vec![attempt(MARKUP, 1, ""), attempt("x", 4, ""), attempt("x", 3, ""), attempt("x", 0, MARKUP)];
    write_run(&run, &[("deduction", deduction), ("induction", vec![attempt("y", 0, "")])]);
    page_of(dir, &[&run]);
    browser.open(&format!("file://{}", dir.join("report.html").display()));
    browser.wait_for("document.querySelector('#count').textContent === '5 of 5'");
}

/// Chooses an option of a list, as a reader does.
fn choose(browser: &mut Browser, list: &str, value: &str) {
    let (list, value) = (json!(list), json!(value));
    browser.value(&format!(
        "(() => {{ const list = document.querySelector({list}); list.value = {value};
         for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, {{ bubbles: true }})); }})()"
    ));
}

#[test]
fn records_are_filtered_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    open_page(&mut browser, dir.path());
    assert_eq!(browser.value("window.taken === undefined && document.scripts.length === 1"), true);
    assert_eq!(browser.value("document.querySelectorAll('img, [onerror], [onfocus]').length"), 0);
    assert!(browser.text("#records").contains(MARKUP));
    let table = "[...document.querySelectorAll('th, td')].map((cell) => cell.textContent).join('|')";
    let table = browser.value(table).to_string();
    assert!(table.contains("solver|deduction|4|1 (25.0 %)|2 (50.0 %)|1 (25.0 %)|0|solver|induction|1|"), "{table}");
    choose(&mut browser, "#type", "induction");
    assert_eq!(browser.text("#count"), "1 of 5");
    choose(&mut browser, "#type", "");
    choose(&mut browser, "#only", "near-misses");
    assert_eq!(browser.text("#count"), "2 of 5");
    let shown = "[...document.querySelectorAll('.record:not([hidden])')].map((record) => record.dataset.passed).join()";
    assert_eq!(browser.value(shown), "0.75,0.25", "the nearest first");
    let address = browser.value("location.href").as_str().expect("an address").to_owned();
    assert!(address.ends_with("#only=near-misses"), "{address}");
    choose(&mut browser, "#only", "ruled");
    choose(&mut browser, "#rule", MARKUP);
    choose(&mut browser, "#status", "wrong_answer");
    assert_eq!(browser.text("#count"), "1 of 5");
    choose(&mut browser, "#role", "solver");
    choose(&mut browser, "#status", "accepted");
    assert_eq!(browser.text("#count"), "0 of 5");
    assert_eq!(browser.value("document.querySelectorAll('.record .tokens span[title]').length"), 10);
    assert_eq!(browser.take_errors(), [""; 0]);
}

#[test]
fn charts_have_values_a_smoothing_and_their_data() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    open_page(&mut browser, dir.path());
    let entropy = "[...document.querySelectorAll('figure')].find((one) => one.textContent.includes('actor/entropy'))";
    assert_eq!(browser.value("document.querySelectorAll('figure polygon').length"), 6, "each evaluation has a band");
    let axes =
        "new Set([...document.querySelectorAll('figure')].map((one) => one.dataset.frame.split(',', 2).join())).size";
    assert_eq!(browser.value(axes), 1, "all charts have the same steps");
    // Without a mean the line goes up and down between the two values; over a fifth of the curve it does so less.
    let height = format!(
        "(() => {{ const line = {entropy}.querySelector(\"polyline[stroke-width='2']\");
         const ys = line.getAttribute('points').trim().split(/\\s+/).map((point) => Number(point.split(',')[1]));
         return Math.max(...ys) - Math.min(...ys); }})()"
    );
    let mut heights = ["0", "15", "5"].map(|share| {
        choose(&mut browser, "#smoothing", share);
        browser.value(&height).as_f64().expect("a number")
    });
    assert!(heights[0] > 2.0 * heights[1] && heights[1] > heights[2], "{heights:?}");
    heights.sort_by(f64::total_cmp);
    assert!(heights[0] > 0.0);
    let point = |part: f64| {
        format!(
            "(() => {{ const chart = {entropy}.querySelector('svg'); chart.scrollIntoView();
             const place = chart.getBoundingClientRect(); const clientX = place.left + {part} * place.width;
             chart.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true, clientX, clientY: place.top + 9 }})); }})()"
        )
    };
    let values = "[...document.querySelectorAll('output')].map((one) => one.textContent).join('|')";
    browser.value(&point(0.99));
    // Every chart shows the step, in the next frame.
    browser.wait_for("document.querySelectorAll('.pointer').length === document.querySelectorAll('figure').length");
    let values = browser.value(values).to_string();
    assert!(values.starts_with("\"2 at step 19|") && values.contains("|0.475 (0.3"), "{values}");
    browser.value(
        "(() => { URL.createObjectURL = (blob) => { window.saved = blob; return 'blob:none'; };
         HTMLAnchorElement.prototype.click = function () { window.file = this.download; }; })()",
    );
    browser.click("#csv");
    assert_eq!(browser.value("window.file"), "curves.csv");
    let data = browser.value("window.saved.text()").as_str().expect("a text").to_owned();
    let rows: Vec<&str> = data.lines().collect();
    assert_eq!(rows[0], "run,metric,step,value,low,high");
    let run = format!("\"{}\"", dir.path().join("a \"\"run\"\", & more").display());
    assert!(rows.contains(&format!("{run},\"actor/entropy\",3,2,,").as_str()), "{data}");
    let evaluation = format!("{run},\"validation/mean/pass1\",19,0.475,0.3");
    assert!(rows.iter().any(|row| row.starts_with(&evaluation)), "{data}");
    assert_eq!(browser.take_errors(), [""; 0]);
}

#[test]
fn what_a_model_wrote_is_text_and_the_page_loads_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    run_with_response(&run, "</pre><script>alert(1)</script>\" onclick='x'");
    let page = page_of(dir.path(), &[&run]);
    assert_eq!(page.matches("<script").count(), 1, "only the page's own script");
    // The response is shown, and the curve is drawn.
    let (response, curve) = ("&lt;script&gt;alert(1)", "<figcaption>actor&#x2f;loss</figcaption><svg");
    says(&page, &[response, curve, "default-src 'none'", "reward 1.00", "Not measured yet."]);
    assert!(!page.contains("src=") && !page.contains("href="), "{page}");
}

#[test]
fn a_page_compares_runs_of_real_play() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = [dir.path().join("learned"), dir.path().join("control")];
    let config = write_config(dir.path(), &small_config());
    for (run, reward) in runs.iter().zip(["failure_rate", "random"]) {
        succeeded(play_file(&config, run).args(["--set", &format!("game.reward={reward}")]));
    }
    let page = page_of(dir.path(), &[&runs[0], &runs[1]]);
    let after = read_json(runs[0].join("after.json"));
    let pass1 = format!("→ {:.1}", 100.0 * after["mean"]["pass1"].as_f64().expect("a number"));
    for wanted in [
        &*pass1,
        "in points, with the 95 % interval",
        "), task by task</li>",
        "solve_rate",
        "data-role=\"proposer\"",
        "id=\"tokens-1-1\"",
        "<option value=\"near-misses\">",
    ] {
        assert!(page.contains(wanted), "no `{wanted}`");
    }
    super::compare::assert_real_runs_are_compared(&runs);
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
        command
    };
    assert_eq!(stdout(&succeeded(&mut draw("actor/loss"))), "curve.svg\n");
    let picture = read(dir.path().join("curve.svg"));
    assert!(picture.starts_with("<svg"), "{picture}");
    says(&picture, &["actor/loss", "step", "learned", "control"]);
    assert!(!dir.path().join("report.html").exists(), "nobody asked for a page");
    // A picture replaces a picture.
    let both = succeeded(draw("actor/loss").args(["--out", "-"]));
    assert!(stdout(&both).trim_end().ends_with("</html>"), "only the page is on stdout");
    assert_eq!(stderr(&both), "curve.svg\n");
    let mut nowhere = veriplay();
    nowhere.current_dir(dir.path()).arg("report").args(&runs).args(["--out", "no/x.html"]);
    let said = fails(&mut nowhere, 3, &[]);
    assert!(said.starts_with("error: cannot write `no/x.html`: there is no directory `no`\n"), "{said}");
    fails(&mut draw("actor/no_such_number"), 3, &["no run has a curve `actor/no_such_number`"]);
}

#[test]
fn shares_of_the_log_are_drawn_too_and_the_second_run_has_dashes() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runs = ["learned", "control"].map(|name| dir.path().join(name));
    runs.iter().for_each(|run| write_run(run, &[("induction", vec![attempt("x", 3, "")])]));
    let shares = ["rollouts/solver induction/near_miss_share", "actor/entropy"];
    let mut command = veriplay();
    command.current_dir(dir.path()).arg("report").args(&runs).args(["--svg", "curve.svg"]);
    succeeded(command.args(shares.iter().flat_map(|curve| ["--curve", curve])));
    let picture = read(dir.path().join("curve.svg"));
    says(&picture, &["learned: rollouts/solver induction/near_miss_share", "control: actor/entropy"]);
    // Two lines of the second curve's colour for the first run, and the dashes of the second.
    assert!(picture.matches("#D55E00").count() > 20, "{picture}");
}

#[test]
fn what_is_no_run_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fails(veriplay().arg("report").arg(dir.path()), 3, &[]);
    let run = dir.path().join("run");
    run_with_response(&run, "x");
    std::fs::write(run.join("events.jsonl"), "no event\n").expect("the file is written");
    fails(veriplay().arg("report").arg(&run), 3, &["line 1 is not an event"]);
}

#[test]
fn damaged_files_of_a_run_are_named_with_a_hint() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (run, out) = (dir.path().join("run"), dir.path().join("report.html"));
    run_with_response(&run, "what is still there");
    let log = run.join("rollouts.jsonl.zst");
    let mut bytes = std::fs::read(&log).expect("the log can be read");
    bytes.extend_from_slice(b"no frame");
    std::fs::write(&log, bytes).expect("the log is written");
    let wanted = ["warning: `", "rollouts.jsonl.zst` cannot be read at line 2: ", "hint: "];
    fails(veriplay().arg("report").arg(&run).arg("--out").arg(&out), 0, &wanted);
    assert!(read(out).contains("what is still there"));

    std::fs::write(&log, "no log\n").expect("the log is written");
    let wanted = ["rollouts.jsonl.zst` line 1 cannot be read: ", "hint: "];
    fails(veriplay().arg("replay").arg(&run), 3, &wanted);

    std::fs::write(run.join("config.toml"), "seed = [\n").expect("the configuration is written");
    for command in ["report", "replay"] {
        fails(veriplay().arg(command).arg(&run), 3, &["config.toml` is not a valid configuration", "hint: "]);
    }
}

#[test]
fn a_report_replaces_a_report_and_no_other_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    run_with_response(&run, "x");
    for _ in 0..2 {
        page_of(dir.path(), &[&run]);
    }
    let program = dir.path().join("keep.py");
    std::fs::write(&program, "print(1)\n").expect("a program");
    for options in [&["--out"][..], &["--curve", "actor/loss", "--svg"]] {
        let mut command = veriplay();
        fails(command.arg("report").arg(&run).args(options).arg(&program), 3, &["keep.py` is there already"]);
        assert_eq!(read(&program), "print(1)\n");
    }
}
