//! `veriplay serve`: the real service over real sockets. Its verdicts are those of `veriplay verify`.

mod broken_host;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use veriplay_tests::external::{published_file, report_without_npm};

use super::commands::{fails, holds, parse, send_signal};
use super::verify::{Bench, FUEL, mixed, rows};
use super::{finished, last_json, says, stderr, stdout, succeeded, veriplay};

/// A service that is running.
pub(super) struct Service {
    child: Child,
    /// The first line of its stdout.
    address: String,
    _stdin: Option<ChildStdin>,
}

/// An answer: its status and body.
pub(super) type Answer = (u16, String);

impl Service {
    /// Starts a service on any free port, without a cache unless the options name one.
    pub(super) fn start(options: &[&str]) -> Self {
        let mut command = veriplay();
        command.args(["serve", "--workers", "2"]).args(options);
        if !options.contains(&"--socket") {
            command.args(["--addr", "127.0.0.1:0"]);
        }
        if !options.contains(&"--cache") {
            command.arg("--no-cache");
        }
        Self::spawn(&mut command)
    }

    pub(super) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut address = String::new();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        BufReader::new(stdout).read_line(&mut address).expect("stdout can be read");
        Self { _stdin: child.stdin.take(), child, address: address.trim().to_owned() }
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Posts JSON, which is a value or a text.
    pub(super) fn post(&self, path: &str, body: &impl ToString) -> Answer {
        post(&self.url(path), body)
    }

    /// Posts a request that must succeed.
    pub(super) fn ask(&self, path: &str, body: &impl ToString) -> Value {
        let (status, text) = self.post(path, body);
        assert_eq!(status, 200, "{path}: {text}");
        parse(&text)
    }

    /// Runs a program, and gives what it printed.
    fn printed(&self, program: &str) -> Value {
        self.ask("/run_code", &code(program))["run_result"]["stdout"].clone()
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        read(agent().get(self.url(path)).call())
    }

    fn metrics(&self) -> String {
        self.get("/metrics").1
    }

    /// Waits until programs are judged: this one waits in the queue while the image is loaded.
    pub(super) fn ready(self) -> Self {
        assert_eq!(self.printed("print(1)"), "1\n");
        self
    }

    /// Kills its workers, of which some may have ended meanwhile.
    fn kill_workers(&self) {
        for worker in children(self.child.id()) {
            let _ = kill_process(worker, Signal::KILL);
        }
    }

    /// Stops it as an orchestrator does, and returns its exit code and log.
    pub(super) fn stop(mut self) -> (Option<i32>, String) {
        send_signal(&self.child, Signal::TERM);
        let mut log = String::new();
        self.child.stderr.take().expect("stderr is a pipe").read_to_string(&mut log).expect("it is text");
        (self.child.wait().expect("it ends").code(), log)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

fn post(url: &str, body: &impl ToString) -> Answer {
    read(agent().post(url).header("content-type", "application/json").send(body.to_string()))
}

pub(super) fn read(response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
    let mut response = response.expect("the service answers");
    let text = response.body_mut().with_config().limit(1 << 30).read_to_string().expect("the body is text");
    (response.status().as_u16(), text)
}

fn code(program: &str) -> Value {
    json!({"code": program, "language": "python", "run_timeout": 0.2})
}

/// The tasks as a request has them.
fn sources(tasks: &[Value]) -> Vec<Value> {
    tasks.iter().map(|row| json!({"format": "veriplay", "row": row})).collect()
}

/// A request with the fuel of [`FUEL`].
fn request(tasks: &[Value], attempts: &[Value]) -> Value {
    let fuel = FUEL[1].parse::<f64>().expect("a number") as u64;
    json!({"tasks": sources(tasks), "attempts": attempts, "limits": {"fuel": fuel}})
}

/// The row of `verify` in a served row.
fn row_of(served: &str) -> (u64, String, Value) {
    let value = parse(served);
    let start = served.find(",\"schema_version\"").expect("the row of verify begins with its version");
    let end = served.rfind(",\"reward\":").expect("the reward follows");
    (value["index"].as_u64().expect("an index"), format!("{{{}}}", &served[start + 1..end]), value)
}

#[test]
fn served_rows_are_those_of_verify_to_the_byte() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts, &FUEL);
    bench.summary(0);
    let service = Service::start(&[]);
    // While the image is loaded, native requests are told to try again.
    while service.get("/ready").0 == 503 {
        thread::yield_now();
    }
    let (status, text) = service.post("/v1/verify?stream=1", &request(&tasks, &attempts));
    assert_eq!(status, 200, "{text}");
    let mut served: Vec<(u64, String, Value)> = text.lines().map(row_of).collect();
    served.sort_by_key(|(index, ..)| *index);
    let rows: String = served.iter().map(|(_, row, _)| format!("{row}\n")).collect();
    assert_eq!(rows, bench.out());
    let rewards: Vec<&Value> = served.iter().map(|(.., value)| &value["reward"]).collect();
    assert_eq!(json!(rewards), json!([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]));
    // The whole answer has the same rows.
    let whole = service.ask("/v1/verify", &request(&tasks, &attempts));
    assert_eq!(whole["verdicts"], json!(served.iter().map(|(.., value)| value).collect::<Vec<_>>()));
}

/// Tasks in Python with an interactor in JavaScript: where its image is open, they are judged as `verify` does.
#[test]
fn an_interactor_in_another_image_is_run_where_that_is_open() {
    let interactor = "console.log('12');\nprocess.exit(require('fs').readFileSync(0, 'utf8').trim() === '21' ? 0 : 1);";
    let cases = json!([{"stdin": "", "stdout": ""}]);
    let stdio = json!({"cases": cases, "interactor": interactor, "interactor_language": "javascript"});
    let task = json!({"schema_version": 1, "problem": {"task_id": "one", "checks": {"stdio": stdio}}});
    let tasks = [task];
    let attempts = ["print(input()[::-1])", "print(input())"];
    let attempts = attempts.map(|program| json!({"task_id": "one", "program": program}));
    let bench = Bench::new(&tasks, &attempts, &FUEL);
    let output = bench.run(&["--out", "out.jsonl"]);
    if output.status.code() == Some(4) && stderr(&output).contains("npm pack") {
        return report_without_npm(&stderr(&output));
    }
    let service = Service::start(&["--languages", "javascript"]).ready();
    let answer = service.ask("/v1/verify", &request(&tasks, &attempts));
    let rows = bench.rows();
    let served = answer["verdicts"].as_array().expect("rows");
    assert_eq!(served.len(), rows.len());
    for ((served, row), status) in served.iter().zip(&rows).zip(["accepted", "wrong_answer"]) {
        assert_eq!((&served["status"], &row["status"]), (&json!(status), &json!(status)), "{served} {row}");
        for (field, value) in row.as_object().expect("a row") {
            assert_eq!(&served[field], value, "{field}");
        }
    }
}

#[test]
fn the_cache_is_that_of_verify() {
    let (tasks, attempts) = mixed();
    let bench = Bench::new(&tasks, &attempts, &FUEL);
    let cache = bench.path("cache").display().to_string();
    let cached = |answer: &Value| {
        let rows = answer["verdicts"].as_array().expect("rows").iter();
        rows.filter(|row| row["cached"] == json!(true)).count()
    };
    let service = Service::start(&["--cache", &cache]).ready();
    let first = service.ask("/v1/verify", &request(&tasks, &attempts));
    assert_eq!((cached(&first), service.stop().0), (0, Some(0)));
    // Verdicts are stored in batches, the last one when the service ends.
    let service = Service::start(&["--cache", &cache]).ready();
    let again = service.ask("/v1/verify", &request(&tasks, &attempts));
    assert_eq!(cached(&again), 8);
    assert!(service.metrics().contains("veriplay_cache_hits_total 8"));
    assert_eq!(service.stop().0, Some(0));
    let output = bench.run(&["--cache", &cache, "--out", "out.jsonl", "--json"]);
    assert_eq!(last_json(&output)["cached"], 8, "{}", stderr(&output));
    let fuel = |rows: &[Value]| rows.iter().map(|row| row["fuel"].clone()).collect::<Vec<_>>();
    assert_eq!(fuel(&bench.rows()), fuel(first["verdicts"].as_array().expect("rows")));
}

#[test]
fn published_rows_are_judged_as_verify_does() {
    let Some(path) = published_file("HumanEval.jsonl.gz") else { return };
    let text = stdout(&succeeded(Command::new("gzip").args(["-dc"]).arg(&path)));
    let chosen: Vec<&str> = text.lines().take(12).collect();
    let mut attempts = Vec::new();
    for line in &chosen {
        let row = parse(line);
        attempts.push(json!({"task_id": row["task_id"], "completion": row["canonical_solution"]}));
        attempts.push(json!({"task_id": row["task_id"], "completion": "    return None\n"}));
    }
    let bench = Bench::new(&[], &attempts, &["--format", "humaneval"]);
    bench.write("tasks.jsonl", &chosen.join("\n"));
    bench.summary(0);
    let tasks: Vec<Value> = chosen.iter().map(|line| json!({"format": "humaneval", "row": line})).collect();
    let service = Service::start(&[]).ready();
    let answer = service.ask("/v1/verify", &json!({"tasks": tasks, "attempts": attempts}));
    let column = |rows: &[Value], name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    let (served, expected) = (answer["verdicts"].as_array().expect("rows"), bench.rows());
    for name in ["status", "fuel", "judged", "evidence"] {
        assert_eq!(column(served, name), column(&expected, name), "{name}");
    }
    assert_eq!(served.iter().filter(|row| row["reward"] == json!(1.0)).count(), 12);
}

#[test]
fn a_function_may_be_a_method_of_solution_or_of_the_module() {
    let service = Service::start(&[]).ready();
    let method = |body: &str| format!("class Solution:\n    def f(self, x):\n        return {body}");
    let function = |body: &str| format!("def f(x):\n    return {body}");
    let label = json!({"inputs": [[1], [2]], "outputs": [2, 3], "fn_name": "f"});
    let unit_tests = json!({"inputs": ["1", "2"], "outputs": ["2", "3"], "fn_name": "f"});
    for (program, reward) in
        [(method("x + 1"), 1.0), (function("x + 1"), 1.0), (method("x"), 0.0), (function("x"), 0.0)]
    {
        let text = format!("```python\n{program}\n```");
        let asked = json!({"prompt": "", "response": text, "label": label});
        assert_eq!(service.ask("/get_reward", &asked), json!(reward), "{program}");
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
        let asked = json!({"responses_create_params": {}, "response": {"output": [message]},
            "verifier_metadata": {"unit_tests": unit_tests}});
        let answer = service.ask("/verify", &asked);
        assert_eq!((&answer["reward"], &answer["mask_sample"]), (&json!(reward), &json!(false)), "{program}");
    }
}

/// A tree of JSON would sort the keys, and round the number.
#[test]
fn a_label_is_read_as_it_was_sent() {
    let service = Service::start(&[]).ready();
    let program = "```python\ndef f(x, y):\n    return list(x), y + 1\n```";
    let big = "123456789012345678901234567890";
    let label =
        format!(r#"{{"fn_name": "f", "inputs": [[{{"b": 1, "a": 2}}, {big}]], "outputs": [[["b", "a"], {big}]]}}"#);
    let label = label.replace(&format!("], {big}]]"), "], 123456789012345678901234567891]]");
    let slime = format!(r#"{{"response": {}, "label": {label}}}"#, json!(program));
    assert_eq!(service.ask("/get_reward", &slime), json!(1.0));
    let query = json!([program, program]);
    let openrlhf = format!(r#"{{"query": {query}, "prompts": ["", ""], "labels": [{label}, {label}]}}"#);
    assert_eq!(service.ask("/get_reward", &openrlhf)["rewards"], json!([1.0, 1.0]));
    let message = json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": program}]}]});
    let nemo_gym = format!(
        r#"{{"responses_create_params": {{}}, "response": {message}, "verifier_metadata": {{"unit_tests": {label}}}}}"#
    );
    assert_eq!(service.ask("/verify", &nemo_gym)["reward"], json!(1.0));
}

#[test]
fn programs_end_as_in_sandbox_fusion() {
    let service = Service::start(&[]).ready();
    for case in rows(include_str!("serve/sandbox_fusion.jsonl")) {
        let program = case["program"].as_str().expect("a program");
        holds(&service.ask("/run_code", &code(program)), &case["answer"]);
    }
    let long = service.ask("/run_code", &code("print('x' * 300000)"));
    let length = long["run_result"]["stdout"].as_str().map(str::len);
    assert_eq!((length, &long["truncated"]), (Some(300_001), &json!(false)));
    let files = json!({"code": "text = open('d/in.txt').read()\nopen('out.txt', 'w').write(text * 2)", "language": "python",
        "files": {"d/in.txt": "aGk=", "none": null}, "fetch_files": ["out.txt", "gone.txt", "d/in.txt"]});
    assert_eq!(service.ask("/run_code", &files)["files"], json!({"d/in.txt": "aGk=", "out.txt": "aGloaQ=="}));
    // Nothing of a run is there in the next one.
    assert_eq!(service.ask("/run_code", &code("open('out.txt')"))["status"], "Failed");
}

/// The original answers many of these with nothing on stdout.
#[test]
fn every_answer_is_right_with_many_requests_in_flight() {
    let service = &Service::start(&[]).ready();
    thread::scope(|scope| {
        for client in 0..64 {
            scope.spawn(move || {
                for number in 0..4 {
                    let number = client * 1000 + number;
                    // A connection of its own each time, as verl's requests have.
                    assert_eq!(service.printed(&format!("print({number})")), format!("{number}\n"));
                }
            });
        }
    });
    says(&service.metrics(), &["veriplay_http_requests_total{path=\"/run_code\",code=\"200\"} 257"]);
}

#[test]
fn a_killed_worker_changes_no_answer() {
    let service = Service::start(&[]).ready();
    let url = service.url("/run_code");
    let asked = thread::spawn(move || {
        let programs = (0..40).map(|number| format!("for i in range(20000): pass\nprint({number})"));
        programs.map(|program| post(&url, &code(&program)).1).collect::<Vec<_>>()
    });
    while !asked.is_finished() {
        service.kill_workers();
        // Each is the start of a worker: some jobs get through between two of them.
        service.printed("print(1)");
        service.printed("print(2)");
    }
    for (number, text) in asked.join().expect("it does not panic").iter().enumerate() {
        // A worker that dies three times in a row is a fault, which a client repeats; it is never a wrong answer.
        let answer = parse(text);
        let fine = answer["run_result"]["stdout"] == format!("{number}\n") || answer["detail"].is_string();
        assert!(fine, "{text}");
    }
}

/// Sends a request.
fn send(mut stream: impl Write, path: &str, connection: &str, body: &Value) {
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: {connection}\r\ncontent-type: application/json");
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("it reads");
}

/// Sends a request, whose answer nobody reads.
fn leave(service: &Service, path: &str, body: &Value) -> TcpStream {
    let address = service.address.strip_prefix("http://").expect("it listens on TCP");
    let stream = TcpStream::connect(address).expect("it listens");
    send(&stream, path, "keep-alive", body);
    stream
}

#[test]
fn programs_without_end_do_not_keep_others_from_their_answers() {
    let service = Service::start(&[]).ready();
    let endless = json!({"code": "while True: pass", "language": "python", "run_timeout": 60});
    let running: Vec<TcpStream> = (0..48).map(|_| leave(&service, "/run_code", &endless)).collect();
    while !service.metrics().contains("\nveriplay_running 2\n") {
        thread::yield_now();
    }
    thread::scope(|scope| {
        for number in 0..48 {
            let program = json!({"code": format!("print({number})"), "language": "python", "run_timeout": 20});
            let service = &service;
            scope.spawn(move || {
                let answer = service.ask("/run_code", &program);
                assert_eq!(answer["run_result"]["stdout"], format!("{number}\n"), "{answer}");
            });
        }
    });
    let metrics = service.metrics();
    assert!(!metrics.contains("path=\"/run_code\",code=\"504\""), "those without end still run: {metrics}");
    drop(running);
}

/// Sends a request, and hangs up once a worker runs it.
fn hang_up(service: &Service, path: &str, body: &Value) {
    let _stream = leave(service, path, body);
    while !service.metrics().contains("\nveriplay_running 1\n") {
        thread::yield_now();
    }
}

#[test]
fn a_client_that_hangs_up_frees_the_worker_of_its_endless_loop() {
    let (tasks, attempts) = mixed();
    let fuel = json!({"fuel": 2_000_000_000_000_u64});
    let run = json!({"program": "while True: pass", "limits": fuel});
    let verify = json!({"tasks": sources(&tasks), "attempts": &attempts[7..], "limits": fuel});
    let mut late = verify.clone();
    late["deadline_ms"] = json!(300);
    for isolation in ["process", "thread"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut command = veriplay();
        command.args(["serve", "--workers", "1", "--isolation", isolation, "--addr", "127.0.0.1:0", "--cache"]);
        let service = Service::spawn(command.arg(dir.path())).ready();
        for (path, body) in [("/v1/run", &run), ("/v1/verify", &verify)] {
            hang_up(&service, path, body);
            assert_eq!(service.printed("print(2)"), "2\n", "{isolation}");
        }
        // The attempt has no verdict yet, and no wrong one.
        let row = &service.ask("/v1/verify", &late)["verdicts"][0];
        assert_eq!((&row["reward"], &row["fault"]["kind"]), (&Value::Null, &json!("deadline")), "{row}");
        assert_eq!(service.printed("print(3)"), "3\n", "{isolation}");
        says(&service.metrics(), &["veriplay_cache_hits_total 0\n"]);
    }
}

pub(super) fn children(parent: u32) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).expect("it runs");
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let pids = lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    pids.filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

#[test]
fn rows_that_are_invalid_name_their_field() {
    let (tasks, attempts) = mixed();
    let service = Service::start(&[]).ready();
    let with = |task: Value, limits: Value| json!({"tasks": [task], "attempts": attempts, "limits": limits});
    let good = sources(&tasks).remove(0);
    let mut of_cpp =
        with(json!({"format": "auto", "row": {"id": "one", "inputs": ["1"], "outputs": ["2"]}}), json!({}));
    of_cpp["judge"] = json!({"judge": "checker", "checker_script": "int main() {}", "checker_language": "cpp"});
    let stdio =
        json!({"cases": [{"stdin": "", "stdout": ""}], "interactor": "int main() {}", "interactor_language": "cpp"});
    let problem = json!({"task_id": "one", "checks": {"stdio": stdio}});
    let interactive = json!({"format": "veriplay", "row": {"schema_version": 1, "problem": problem}});
    for (status, body, field, said) in [
        (422, with(json!({"format": "none", "row": {}}), json!({})), "tasks[0].format", "humaneval"),
        (422, of_cpp, "judge", "`cpp`, which is not open"),
        (422, with(good.clone(), json!({"memory_bytes": 1 << 20})), "limits.memory_bytes", ""),
        (422, with(good.clone(), json!({"memory_bytes": 1_u64 << 40})), "limits.memory_bytes", ""),
        (422, with(good.clone(), json!({"fuel": 1_000_000_000_000_000_u64})), "limits.fuel", ""),
        (404, with(json!({"digest": "f".repeat(64)}), json!({})), "tasks[0].digest", "urn:veriplay:unknown-task"),
    ] {
        let (found, text) = service.post("/v1/verify", &body);
        assert_eq!((found, &parse(&text)["field"]), (status, &json!(field)), "{text}");
        says(&text, &[said]);
    }
    // A row that cannot be read is the fault of the attempts at it alone.
    let changed = |place: &str, value: Value| {
        let mut row = good["row"].clone();
        *row.pointer_mut(place).expect("a row has it") = value;
        json!({"format": "veriplay", "row": row})
    };
    let limits = |fuel: u64, output_bytes: u64| {
        let limits = json!({"fuel": fuel, "memory_bytes": 1 << 28, "output_bytes": output_bytes, "file_bytes": 1, "deadline_ns": 1});
        let mut problem = good["row"]["problem"].clone();
        problem["limits"] = limits;
        changed("/problem", problem)
    };
    let mut short = good.clone();
    short["row"]["problem"]["limits"] = json!({"memory_bytes": 1 << 20});
    for (task, said) in [
        (json!({"format": "humaneval", "row": {"task_id": "x"}}), "\"field\":\"prompt\""),
        (changed("/problem/checks/calls/comparison/judge", json!("nobody")), "nobody"),
        (limits(1, 1 << 40), ": limits.output_bytes: "),
        (limits(0, 1), "0 units of fuel"),
        (interactive, "`cpp`, which is not open"),
        (short, "`memory_bytes`"),
    ] {
        let answer = service.ask("/v1/verify", &with(task, json!({})));
        for row in answer["verdicts"].as_array().expect("rows") {
            let (kind, reward) = (&row["fault"]["kind"], &row["reward"]);
            assert_eq!((kind, reward), (&json!("unreadable_task"), &Value::Null), "{answer}");
        }
        says(&answer["tasks"][0]["fault"].to_string(), &[said]);
    }
    let sent = service.ask("/v1/tasks", &json!({"tasks": sources(&tasks)}));
    let digest = sent["tasks"][1]["digest"].clone();
    let known = json!({"tasks": [{"digest": digest}], "attempts": [attempts[1], attempts[3]]});
    let answer = service.ask("/v1/verify", &known);
    let statuses: Vec<&Value> = answer["verdicts"].as_array().expect("rows").iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["wrong_answer", "accepted"]);
}

#[test]
fn a_unix_socket_serves_and_is_removed_when_the_service_is_told_to_stop() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let socket = dir.path().join("socket");
    let path = socket.display().to_string();
    let service = Service::start(&["--socket", &path, "--log-format", "json"]);
    assert_eq!(service.address, format!("unix:{path}"));
    let mut stream = UnixStream::connect(&socket).expect("it listens");
    send(&stream, "/run_code", "close", &code("print(1)"));
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    says(&answer, &["\"Success\""]);
    let second = ["serve", "--socket", &path, "--no-cache"];
    fails(veriplay().args(second), 3, &["another process listens", "hint: "]);
    assert_eq!(service.stop().0, Some(0));
    assert!(!socket.exists());
}

#[test]
fn the_log_is_json_with_request_ids_and_without_programs() {
    let mut command = veriplay();
    command.env("VERIPLAY_LOG", "debug").args(["serve", "--addr", "127.0.0.1:0", "--no-cache", "--log-format", "json"]);
    let service = Service::spawn(&mut command).ready();
    service.ask("/run_code", &code("marker_in_a_program = 1"));
    let (code, log) = service.stop();
    assert_eq!(code, Some(0));
    let entries = rows(&log);
    let answered = entries.iter().filter(|entry| entry["message"] == "answered").count();
    assert_eq!(answered, 2);
    assert!(entries.iter().any(|entry| entry["spans"][0]["id"].is_string()));
    assert!(!log.contains("marker_in_a_program"), "{log}");
}

/// Messages of the log at a level. Every line must be JSON.
fn messages(log: &str, level: &str) -> Vec<String> {
    let chosen = rows(log).into_iter().filter(|entry| entry["level"] == level);
    chosen.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_warning_has_the_form_of_the_log() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let cache = dir.path().display().to_string();
    let options = ["--cache", &cache, "--log-format", "json"];
    let first = Service::start(&options).ready();
    let (_, log) = Service::start(&options).ready().stop();
    let warnings = messages(&log, "WARN");
    assert!(warnings.iter().any(|warning| warning.starts_with("verdicts are not cached: ")), "{log}");
    drop(first);
    // An error that ends the service too.
    let open = ["serve", "--addr", "0.0.0.0:0", "--log-format", "json"];
    let said = fails(veriplay().args(open), 3, &[r#""hint":"add `--token-file FILE`"#]);
    assert!(messages(&said, "ERROR").iter().any(|error| error.contains("loopback")), "{said}");
}

#[test]
fn tokens_in_clear_text_are_warned_of() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("tokens");
    std::fs::write(&file, "0123456789abcdef0123\n").expect("it can be written");
    let log = |address: &str, more: &[&str]| {
        let options = ["serve", "--workers", "1", "--no-cache", "--addr", address, "--token-file"];
        let mut command = veriplay();
        command.args(options).arg(&file).args(more);
        Service::spawn(&mut command).stop().1
    };
    says(&log("0.0.0.0:0", &[]), &["warning: ", "clear text"]);
    let logged = log("0.0.0.0:0", &["--log-format", "json"]);
    assert!(messages(&logged, "WARN").iter().any(|warning| warning.contains("clear text")), "{logged}");
    assert!(!log("127.0.0.1:0", &[]).contains("clear text"));
}

#[test]
fn an_address_that_others_reach_needs_tokens() {
    fails(veriplay().args(["serve", "--addr", "0.0.0.0:0"]), 3, &["hint: add `--token-file FILE`"]);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("tokens");
    std::fs::write(&file, "short\n").expect("it can be written");
    let path = file.display().to_string();
    let short = ["serve", "--addr", "127.0.0.1:0", "--token-file", &path];
    fails(veriplay().args(short), 3, &["line 1", "hint: "]);
    std::fs::write(&file, "0123456789abcdef0123\n").expect("it can be written");
    let service = Service::start(&["--token-file", &path]);
    assert_eq!(service.get("/health").0, 200);
    assert_eq!(service.get("/v1/info").0, 401);
    assert_eq!(service.post("/run_code", &code("print(1)")).0, 401);
    let with = agent().post(service.url("/run_code")).header("authorization", "Bearer 0123456789abcdef0123");
    let answer = read(with.header("content-type", "application/json").send(code("print(1)").to_string()));
    assert_eq!(answer.0, 200, "{}", answer.1);
}

#[test]
fn a_bad_option_is_told() {
    for (options, told) in [
        (&["--addr", "nowhere"][..], "--addr"),
        (&["--workers", "0"], "'0' for '--workers <N>': give a whole number from 1 to 65535\n"),
        (&["--workers", "process"], "`--isolation process` says where guests run"),
        (&["--max-memory-mib", "1"], "`--max-memory-mib 1` is out of range"),
        (&["--max-seconds", "0"], "`--max-seconds 0` is out of range"),
        (&["--queue", "0"], "'0' for '--queue <N>'"),
        (&["--connections", "0"], "'0' for '--connections <N>'"),
        (&["--body-mib", "0"], "'0' for '--body-mib <N>'"),
        (&["--fuel-per-second", "0"], "'0' for '--fuel-per-second <N>'"),
        (&["--token-file", "/no/such/file"], "/no/such/file"),
    ] {
        let output = finished(veriplay().arg("serve").args(options));
        assert!(!output.status.success(), "{options:?}");
        says(&stderr(&output), &[told]);
        assert!(output.stdout.is_empty(), "it listens nowhere: {options:?}");
    }
}
