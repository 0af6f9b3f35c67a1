//! Probes of what answers say about the host and about other clients, and of verdicts that one client could change for another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use veriplay_console::progress::counted;

use super::client::{Attempt, Failed, PATIENCE, Service, escaped_if, excerpt, marker, run_body, run_code, words};
use crate::http::Request;

pub(super) const ATTEMPTS: &[(&str, Attempt)] = &[
    ("host_in_answers", host_in_answers),
    ("other_client_in_answers", other_client_in_answers),
    ("verdict_of_another_task", verdict_of_another_task),
    ("program_in_the_log", program_in_the_log),
];

/// Words that only the code of a service writes into an error.
const TRACES: [&str; 8] = [
    "Traceback (most recent call last)",
    "site-packages",
    ".cargo/registry",
    "panicked at",
    "goroutine ",
    "/home/",
    "/root/",
    "node_modules",
];

/// Requests that end in errors, or in facts.
fn odd_requests() -> Vec<Request> {
    let mut wrong = run_body("print(1)");
    wrong["files"] = json!({"../../x": "eA==", "a": 7});
    let mut no_number = run_body("print(1)");
    no_number["run_timeout"] = json!([]);
    vec![
        Request::get("/no/such/path"),
        Request::get("/run_code"),
        Request::get("/metrics"),
        Request::get("/v1/info"),
        Request::get("/openapi.json"),
        Request::post("/v1/ping", ""),
        Request::post("/run_code", "{"),
        Request::post("/run_code", "[]"),
        Request::post("/run_code", wrong.to_string()),
        Request::post("/run_code", no_number.to_string()),
        Request::post("/run_code", json!({"code": "\u{0}", "language": "no-such"}).to_string()),
        Request::post("/submit", json!({"dataset": "no-such", "id": 1, "completion": ""}).to_string()),
        Request::post("/v1/verify", json!({"tasks": [{"digest": "no"}], "attempts": []}).to_string()),
        Request::post("/v1/run", json!({"program": "", "files": {"../../etc/passwd": "x"}}).to_string()),
        run_code("print(1)").with_token("no-such-token-0123456789"),
    ]
}

/// Prints what a program can see of its surroundings, at most 200 kB.
const LOOK_AROUND: &str = include_str!("look_around.py");

fn host_in_answers(service: &Service) -> Result<String, Failed> {
    let mut asked = 0;
    for request in odd_requests() {
        let Ok(answer) = service.ask(&request) else { continue };
        asked += 1;
        let text = format!("{}\n{}", answer.head, String::from_utf8_lossy(&answer.body));
        expect_no_host(service, &text, || request.first_line(&service.target))?;
        if let Some(trace) = TRACES.iter().find(|trace| text.contains(**trace)) {
            return Err(Failed::Escaped(format!(
                "{}: `{trace}` in {}",
                request.first_line(&service.target),
                excerpt(&text)
            )));
        }
    }
    let ran = service.run(&run_code(LOOK_AROUND), PATIENCE).map_err(Failed::Unclear)?;
    expect_no_host(service, &ran.text, || "a program that prints what it sees".to_owned())?;
    Ok(format!("{asked} answers and a program have nothing of the host"))
}

fn expect_no_host(service: &Service, text: &str, what: impl FnOnce() -> String) -> Result<(), Failed> {
    match service.host_secrets.iter().find(|secret| text.contains(secret.as_str())) {
        Some(secret) => Err(Failed::Escaped(format!("{}: the answer has `{secret}`", what()))),
        None => Ok(()),
    }
}

struct Marks {
    code: String,
    stdin: String,
    stdout: (String, String),
    file: String,
    environment: String,
    request_id: String,
}

impl Marks {
    fn new() -> Self {
        let whole = marker("stdout");
        let (half, rest) = whole.split_at(10);
        Self {
            code: marker("code"),
            stdin: marker("stdin"),
            stdout: (half.to_owned(), rest.to_owned()),
            file: marker("file"),
            environment: marker("environment"),
            request_id: marker("request"),
        }
    }

    fn stdout(&self) -> String {
        format!("{}{}", self.stdout.0, self.stdout.1)
    }

    fn all(&self) -> [String; 6] {
        let Self { code, stdin, file, environment, request_id, .. } = self;
        [code.clone(), stdin.clone(), self.stdout(), file.clone(), environment.clone(), request_id.clone()]
    }

    /// A program that has all marks and stays for a while.
    fn request(&self, service: &Service) -> Request {
        let Self { code, stdin, stdout: (half, rest), file, environment, request_id } = self;
        let program = format!(
            "# {code}\nimport os, sys\nos.environ['MARK'] = '{environment}'\n\
             for path in ('{file}.txt', '/tmp/{file}.txt'):\n    try:\n        open(path, 'w').write('{file}')\n    except OSError:\n        pass\n\
             total = sum(range(300_000))\nprint('{half}' + '{rest}', len(sys.stdin.read()))"
        );
        let mut body = run_body(&program);
        body["stdin"] = json!(stdin);
        body["files"] = json!({format!("{file}.bin"): "eA=="});
        let request = Request::post("/run_code", body.to_string()).header("X-Request-Id", request_id.as_str());
        match service.tokens.last() {
            Some(token) => request.with_token(token),
            None => request,
        }
    }
}

fn other_client_in_answers(service: &Service) -> Result<String, Failed> {
    let marks = Marks::new();
    let (request, stop) = (marks.request(service), AtomicBool::new(false));
    let run_once = || {
        let ran = service.run(&request, PATIENCE).map_err(|why| format!("the other client: {why}"))?;
        let is_right = ran.stdout.contains(&marks.stdout());
        if is_right { Ok(()) } else { Err(format!("the other client was answered wrong: {}", excerpt(&ran.text))) }
    };
    let keep_running = || -> Result<usize, String> {
        let mut runs = 0;
        while !stop.load(Ordering::Relaxed) {
            run_once()?;
            runs += 1;
        }
        Ok(runs)
    };
    run_once().map_err(Failed::Escaped)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(keep_running);
        let looked = look_for(service, &marks.all());
        stop.store(true, Ordering::Relaxed);
        let runs = other.join().unwrap_or_else(|_| Err("the other client panicked".to_owned()));
        let runs = runs.map_err(Failed::Escaped)?;
        let runs = counted(runs, "program");
        Ok(format!("{} answers beside {runs} of another client have none of its marks", looked?))
    })
}

fn look_for(service: &Service, marks: &[String]) -> Result<usize, Failed> {
    let mut looked = 0;
    for round in 0..3 {
        let requests = odd_requests().into_iter().chain([run_code(LOOK_AROUND)]);
        for request in requests {
            let Ok(answer) = service.ask(&request) else { continue };
            looked += 1;
            let text = format!("{}\n{}", answer.head, String::from_utf8_lossy(&answer.body));
            if let Some(mark) = marks.iter().find(|mark| text.contains(mark.as_str())) {
                let line = request.first_line(&service.target);
                return Err(Failed::Escaped(format!("round {round}, {line}: `{mark}` of another client")));
            }
        }
    }
    escaped_if(looked == 0, || "no request was answered".to_owned())?;
    Ok(looked)
}

/// A task that expects this output, under a name that others have too.
fn task(name: &str, expected: &str) -> Value {
    json!({"format": "veriplay", "row": {"schema_version": 1, "problem": {"task_id": name, "checks": {"stdio": {
        "cases": [{"stdin": "", "stdout": expected}], "comparison": {"judge": "lines"}}}}}})
}

fn verdict_of_another_task(service: &Service) -> Result<String, Failed> {
    /// Fuel that the program needs many times.
    const LITTLE: u64 = 5_000_000;
    let name = marker("shared");
    let program = format!("# {name}\nfor _ in range(1_000_000): pass\nprint(1)");
    let cases = [("1", None, "accepted"), ("2", None, "wrong_answer"), ("1", Some(LITTLE), "fuel_exceeded")];
    let mut judged = 0;
    for round in 0..2 {
        for (expected, fuel, status) in cases {
            for (client, token) in service.tokens.iter().enumerate().take(2) {
                let mut body = json!({"tasks": [task(&name, expected)],
                    "attempts": [{"task_id": name, "attempt_id": "same", "program": program}]});
                if let Some(fuel) = fuel {
                    body["limits"] = json!({"fuel": fuel});
                }
                let answer = service.ask(&Request::post("/v1/verify", body.to_string()).with_token(token))?;
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                let found: Value = serde_json::from_str(&text).unwrap_or_default();
                let found = found["verdicts"][0]["status"].as_str().unwrap_or_default().to_owned();
                let answered =
                    || format!("client {client}, round {round}, expected output {expected}: `{found}` for `{status}`");
                if found.is_empty() {
                    return Err(Failed::Unclear(format!("{}: {}", answered(), excerpt(&text))));
                }
                escaped_if(found != status, answered)?;
                judged += 1;
            }
        }
    }
    Ok(format!("{judged} verdicts were each task's own"))
}

fn program_in_the_log(service: &Service) -> Result<String, Failed> {
    let marks = Marks::new();
    let good = marks.request(service);
    let mut bad = run_body(&marks.code);
    bad["stdin"] = json!([marks.stdin]);
    let ids = [marker("logged"), marker("logged")];
    service.ask(&good.header("X-Request-Id", ids[0].as_str()))?;
    service.ask(&Request::post("/run_code", bad.to_string()).header("X-Request-Id", ids[1].as_str()))?;
    let log = wait_for_log(service, &ids)?;
    let hidden = [&marks.code, &marks.stdin, &marks.stdout(), &marks.file, &marks.environment];
    match hidden.into_iter().find(|mark| log.contains(mark.as_str())) {
        Some(mark) => Err(Failed::Escaped(format!("the log has `{mark}`"))),
        None => Ok("the log has the request ids and no mark".to_owned()),
    }
}

/// The log, once it has these ids.
fn wait_for_log(service: &Service, ids: &[String]) -> Result<String, Failed> {
    let started = Instant::now();
    loop {
        let path = service.log.as_deref().unwrap_or_else(|| std::path::Path::new(""));
        let log = std::fs::read_to_string(path).map_err(|error| Failed::Unclear(format!("the log: {error}")))?;
        if ids.iter().all(|id| log.contains(id.as_str())) {
            return Ok(log);
        }
        if started.elapsed() > PATIENCE {
            return Err(Failed::Unclear("the log does not have the ids of two requests".to_owned()));
        }
        // Its lines are written a moment after the answers.
        service.check_known_program(PATIENCE).map_err(Failed::Unclear)?;
    }
}

/// Whether an answer can be had at all: for the check before the attack.
pub(super) fn get_json(service: &Service, path: &str) -> Result<Option<Value>, String> {
    let answer = service.ask(&Request::get(path)).map_err(|error| words(&error))?;
    Ok(serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == 200))
}
