//! `veriplay watch`: runs in a real browser while they grow. Nothing that a model wrote is ever markup, and nobody but the page is answered.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::browser::Browser;
use super::commands::{fails, play, read_log, write_log};
use super::serve::{Answer, Service, agent, read};
use super::verify::lines;
use super::{says, small_config, succeeded, veriplay, write_config};

/// A text that does something wherever it is taken for markup.
const MARKUP: &str = "</pre></title><script>window.taken = 1</script><img src=x onerror='window.taken = 1'>\" autofocus onfocus='window.taken = 1'";

/// Starts watching a run or a folder.
fn watch(path: &Path) -> Service {
    Service::spawn(veriplay().args(["watch", "--addr", "127.0.0.1:0"]).arg(path))
}

/// A run that is being written.
struct GrowingRun(PathBuf);

impl GrowingRun {
    fn start(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).expect("a folder");
        write_config(folder, &small_config());
        Self(folder.to_owned())
    }

    fn append(&self, name: &str, bytes: &[u8]) {
        let file = OpenOptions::new().create(true).append(true).open(self.0.join(name));
        file.and_then(|mut file| file.write_all(bytes)).expect("the file is written");
    }

    /// Writes a step whose one task has these attempts.
    fn add_step(&self, step: u64, attempts: &[Value]) {
        let task = json!({"question": {"deduction": {"program": format!("def f(x):\n    return x + {step}")}}});
        let record = json!({"task": {"step": step, "index": 0, "task": task, "attempts": attempts}});
        let frame = zstd::encode_all(format!("{record}\n").as_bytes(), 1).expect("it is compressed");
        self.append("rollouts.jsonl.zst", &frame);
        let event =
            json!({"step": step, "actor/entropy": 1.0 / (step + 1) as f64, "play": {"solve_rate": step as f64}});
        let timing = json!({"step": step, "play_s": 1.0 + step as f64, "update_s": 1, "jobs": 9});
        self.append("events.jsonl", lines(&[event]).as_bytes());
        self.append("timing.jsonl", lines(&[timing]).as_bytes());
    }
}

/// An attempt whose prompt, response, rule and evidence are `text`.
fn attempt(text: &str, status: &str, passed: u64) -> Value {
    let evidence = json!({"jobs": [], "fuel": 7, "rule": text, "detail": text});
    let verdict = json!({"status": status, "passed": passed, "total": 3, "evidence": evidence});
    let turn = json!({"prompt": text, "text": text, "tokens": [1, 2], "logprobs": [-0.1, -3.0], "finish": "stop"});
    let episode = json!({"turns": [turn], "end": text, "fuel": 0, "reward": {"parts": [[text, 0.5, 1.0]]}});
    json!({"episode": episode, "judged": {"verdict": {"Ok": verdict}, "detail": {(text): text}}})
}

#[test]
fn a_page_follows_its_run_until_the_run_is_deleted() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = GrowingRun::start(&dir.path().join("run"));
    let service = watch(&run.0);
    browser.open(&service.address());
    browser.wait_for("document.querySelector('#progress')?.textContent.includes('step 0 of 5')");
    assert_eq!(browser.value("location.pathname"), "/runs/run");
    assert_eq!(browser.value("document.querySelectorAll('svg').length"), 0);
    run.add_step(0, &[attempt("first", "accepted", 3)]);
    browser.wait_for("document.querySelector('#progress').textContent.includes('step 1 of 5')");
    run.add_step(1, &[attempt("second", "wrong_answer", 1)]);
    browser.wait_for("document.querySelectorAll('#main-curves svg').length === 4");
    let titles = ["actor/entropy", "play/solve_rate", "timing/jobs_per_second", "timing/steps_per_minute"];
    says(&browser.text("#main-curves"), &titles);
    browser.click("nav a[href$='only=near-misses']");
    browser.wait_for("document.querySelector('#count')?.textContent === '1 of 2'");
    run.add_step(2, &[attempt("third", "wrong_answer", 2)]);
    browser.wait_for("document.querySelector('#count').textContent === '2 of 3'");
    browser.click(".rows a");
    browser.wait_for("document.querySelector('h1')?.textContent === '2-attempt-0-0'");
    assert!(browser.text("#headline").contains("wrong_answer 2/3"));
    assert_eq!(browser.take_errors(), [""; 0]);
    std::fs::remove_dir_all(&run.0).expect("the run is deleted");
    browser.wait_for("document.querySelector('#notice').textContent.includes('not any more')");
    assert!(browser.text("#turns").contains("third"), "what was there last is still shown");
    assert_eq!(service.stop().0, Some(0), "a browser that is still there does not keep the server");
    browser.wait_for("document.querySelector('#notice').textContent.includes('does not answer')");
}

#[test]
fn what_a_model_wrote_is_text_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    // A name has no slash.
    let run = GrowingRun::start(&dir.path().join(MARKUP.replace('/', "")));
    let mut dropped = attempt(MARKUP, MARKUP, 0);
    dropped["judged"]["verdict"] = json!({"Err": {"why": MARKUP}});
    run.add_step(0, &[attempt(MARKUP, MARKUP, 1), dropped]);
    let events = [json!({"step": 1, (MARKUP): 1}), json!({"step": 2, (MARKUP): 2})];
    run.append("events.jsonl", lines(&events).as_bytes());
    run.append("config.toml", format!("\n# {MARKUP}\n").as_bytes());
    let service = watch(dir.path());
    let untaken = |browser: &mut Browser| {
        assert_eq!(browser.value("window.taken === undefined"), true);
        let alien = "document.querySelectorAll('img, script:not([src]), [onerror], [onfocus], [style]').length";
        assert_eq!(browser.value(alien), 0);
        assert_eq!(browser.take_errors(), [""; 0]);
    };
    browser.open(&service.address());
    untaken(&mut browser);
    browser.click("#runs a");
    browser.wait_for("document.querySelector('#main-curves') && document.querySelectorAll('svg').length > 0");
    assert!(browser.text("#other-curves").contains(MARKUP));
    untaken(&mut browser);
    browser.click("nav a[href$='/rollouts']");
    browser.wait_for("document.querySelector('#count')?.textContent === '2 of 2'");
    untaken(&mut browser);
    browser.value(&format!("document.querySelector('[name=text]').value = {}", json!(MARKUP)));
    browser.click("form button");
    browser.wait_for("location.search.includes('text=') && document.querySelector('#count')?.textContent === '2 of 2'");
    assert_eq!(browser.value("document.querySelector('[name=text]').value"), MARKUP);
    untaken(&mut browser);
    let list = browser.value("location.href").as_str().expect("an address").to_owned();
    for at in [1, 2] {
        browser.open(&list);
        browser.click(&format!(".rows li:nth-child({at}) a"));
        browser.wait_for("document.querySelector('#turns')");
        assert!(browser.text("#turns").contains(MARKUP) && browser.text("#detail").contains(MARKUP));
        untaken(&mut browser);
    }
    browser.open(&format!("{}?text={}", service.url("/runs/%3Cb%3E"), "%3Cscript%3E"));
    assert_eq!(browser.text("#message"), "The run `<b>` is not there, or not any more.");
}

#[test]
fn ten_thousand_rollouts_are_browsed_in_a_narrow_window() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = GrowingRun::start(&dir.path().join("run"));
    let long = "long_name_without_a_space_".repeat(40);
    for step in 0..20 {
        let one = |number: u64| match number {
            0 => attempt(&format!("needle of step {step} {long}"), "runtime_error", 2),
            _ => attempt("hay", ["accepted", "wrong_answer"][usize::from(number.is_multiple_of(2))], 0),
        };
        run.add_step(step, &(0..500).map(one).collect::<Vec<_>>());
    }
    let service = watch(&run.0);
    let (status, page) = service.get("/runs/run/rollouts");
    assert_eq!(status, 200);
    assert!(page.len() < 100_000, "a page of the list has {} bytes", page.len());
    browser.resize(320, 640);
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    browser.open(&service.url("/runs/run"));
    assert_eq!(browser.value(fits), true, "the run");
    browser.open(&service.url("/runs/run/rollouts"));
    assert_eq!(browser.text("#count"), "10000 of 10000");
    assert_eq!(browser.value("document.querySelectorAll('.rows a').length"), 50);
    assert_eq!(browser.value(fits), true, "the list");
    browser.click("#older");
    browser.wait_for("location.search === '?page=2' && document.querySelector('#newer')");
    assert!(browser.text("#rows").contains("page 2 of 200"));
    // A choice is shown at once, and its address alone shows it to others.
    browser.value(
        "(() => { const status = document.querySelector('[name=status]'); status.value = 'runtime_error';
         status.dispatchEvent(new Event('change', { bubbles: true })); })()",
    );
    browser.wait_for("document.querySelector('#count')?.textContent === '20 of 10000'");
    assert_eq!(browser.value("location.search"), "?status=runtime_error");
    browser.open(&service.url("/runs/run/rollouts?status=runtime_error&text=needle%20of%20step%2013"));
    assert_eq!(browser.text("#count"), "1 of 10000");
    assert_eq!(browser.value("document.querySelector('[name=status]').value"), "runtime_error");
    browser.click(".rows a");
    browser.wait_for("document.querySelector('h1')?.textContent === '13-attempt-0-0'");
    assert_eq!(browser.value(fits), true, "the rollout");
    browser.click("#same-task");
    browser.wait_for("document.querySelector('#count')?.textContent === '500 of 10000'");
    assert_eq!(browser.take_errors(), [""; 0]);
}

#[test]
fn a_button_judges_a_rollout_of_real_play_again() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    succeeded(play(&small_config(), dir.path()).args(["--steps", "1"]));
    let service = watch(&run);
    let mut judge = |path: &str| {
        browser.open(&service.url(path));
        browser.wait_for("document.querySelectorAll('.tokens span[title]').length > 0");
        browser.click("#rerun");
        browser.wait_for("document.querySelector('#judged') && !document.querySelector('#rerun').disabled");
        assert_eq!(browser.take_errors(), [""; 0]);
        let jobs = browser.value("document.querySelectorAll('#rerun-output details').length").as_u64();
        (browser.text("#judged").trim().to_owned(), jobs)
    };
    let same = "1 of 1 verdicts came out as logged.";
    assert!(judge("/runs/run/rollouts/0-attempt-1-3").0.starts_with(same));
    let valid = first_link(&service, "/runs/run/rollouts?role=proposer&status=valid");
    let (told, jobs) = judge(&valid);
    assert!(told.starts_with(same) && jobs > Some(0), "{told}: {jobs:?} jobs");
    // A log that says something else is told apart.
    write_log(&run, &read_log(&run).replace("\"status\":\"valid\"", "\"status\":\"invalid\""));
    let (told, _) = judge(&valid);
    assert!(told.starts_with("0 of 1 verdicts came out as logged."), "{told}");
}

/// The first rollout of a list.
fn first_link(service: &Service, list: &str) -> String {
    let page = service.get(list).1;
    let rows = page.split_once("<ul class=\"rows\">").expect("the page has a list").1;
    let link = rows.split_once("href=\"").expect("the list has a link").1;
    link.split_once('"').expect("a link ends").0.replace("&#x2f;", "/")
}

#[test]
fn runs_of_a_folder_are_listed_and_compared() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let service = watch(dir.path());
    browser.open(&service.address());
    assert!(browser.text("#runs").contains("No run is here yet."));
    for name in ["one", "two & more"] {
        let run = GrowingRun::start(&dir.path().join(name));
        (0..3).for_each(|step| run.add_step(step, &[]));
    }
    browser.wait_for("document.querySelectorAll('#runs input').length === 2");
    browser.value("document.querySelectorAll('#runs input').forEach((box) => box.click())");
    browser.click("form button");
    browser.wait_for("document.querySelectorAll('h1 .run').length === 2");
    assert_eq!(browser.value("location.search"), "?run=one&run=two+%26+more");
    assert_eq!(browser.value("document.querySelectorAll('#main-curves svg').length"), 4);
    let pointer = "(() => { const chart = document.querySelector('#main-curves svg'); const place = chart.getBoundingClientRect();
        const at = { bubbles: true, clientX: place.right - 9, clientY: place.top + 9 };
        chart.dispatchEvent(new PointerEvent('pointermove', at)); })()";
    browser.value(pointer);
    browser.wait_for("document.querySelectorAll('#main-curves .pointer').length === 4");
    let values = browser.text("#main-curves output");
    assert!(values.starts_with("one: 0.333333 at step 2; two & more: 0.333333 at step 2"), "{values}");
    browser.click("nav a[href='/']");
    browser.wait_for("document.querySelector('#runs')");
    browser.click("#runs a[href*='two']");
    browser.wait_for("document.querySelector('h1')?.textContent.trim() === 'two & more'");
    assert_eq!(browser.take_errors(), [""; 0]);
}

/// The answer to a request with these headers.
fn ask(service: &Service, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = ureq::http::Request::builder().method(method).uri(service.url(path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    read(agent().run(request.body(()).expect("a request")))
}

#[test]
fn nobody_but_the_page_is_answered() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = GrowingRun::start(&dir.path().join("runs/run"));
    run.add_step(0, &[attempt("x", "accepted", 3)]);
    GrowingRun::start(&dir.path().join("secret"));
    let service = watch(&dir.path().join("runs"));
    let get = |path: &str| ask(&service, "GET", path, &[]).0;
    assert_eq!((get("/"), get("/runs/run"), get("/runs/run/rollouts/0-attempt-0-0")), (200, 200, 200));
    for missing in ["secret", "..%2Fsecret", "../../secret", "run/rollouts/0-attempt-0-1", "run/rollouts/x"] {
        assert_eq!(get(&format!("/runs/{missing}")), 404, "{missing}");
    }
    assert_eq!(get("/x"), 404);
    // A stranger's name that was made to lead to this machine.
    assert_eq!(ask(&service, "GET", "/", &[("host", "evil.example")]).0, 403);
    let rerun = "/runs/run/rollouts/0-attempt-0-0/rerun";
    for headers in [&[][..], &[("x-veriplay-token", "0123456789abcdef")]] {
        assert_eq!(ask(&service, "POST", rerun, headers).0, 403);
    }
    let page = service.get("/runs/run").1;
    let contents = page.split("content=\"").filter_map(|rest| rest.split_once('"'));
    let token = contents.map(|(token, _)| token).find(|token| token.len() == 64).expect("the page has its token");
    // The record is none of the game's, which is told and nothing else.
    let (status, text) = ask(&service, "POST", rerun, &[("x-veriplay-token", token)]);
    assert_eq!(status, 500, "{text}");
    says(&text, &["the log&#x27;s record is damaged or of another version"]);
    assert_eq!(ask(&service, "POST", rerun, &[("x-veriplay-token", token), ("host", "evil.example")]).0, 403);
}

#[test]
fn what_cannot_be_watched_is_told() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let missing = dir.path().join("missing");
    fails(veriplay().arg("watch").arg(missing), 3, &["neither a run nor a folder of runs"]);
    let public = ["watch", "--addr", "0.0.0.0:0"];
    fails(veriplay().args(public).arg(dir.path()), 3, &["not a loopback address", "hint: "]);
}
