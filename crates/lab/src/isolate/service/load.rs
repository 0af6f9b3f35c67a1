//! Probes of whether one client can keep others from being answered. Beside each, a known program must be answered right.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use veriplay_console::progress::counted;

use super::client::{
    Attempt, BUSY_PATIENCE, Failed, PATIENCE, Service, escaped_if, excerpt, marker, parse_ran, run_body, run_code,
    words,
};
use crate::http::{Connection, ExchangeError, Request};

/// Clients that are slow, leave, or do not read.
const CLIENTS: usize = 32;
/// New connections of the flood.
const FLOOD: usize = 1024;
/// The length that a slow body announces to a service that does not say how much it takes.
const ANNOUNCED: u64 = 1_000_000;
const DRIP: Duration = Duration::from_millis(100);

pub(super) const ATTEMPTS: &[(&str, Attempt)] = &[
    ("slow_heads", slow_heads),
    ("slow_bodies", slow_bodies),
    ("idle_connections", idle_connections),
    ("connection_flood", connection_flood),
    ("hang_up", hang_up),
    ("unread_answers", unread_answers),
    ("batch_of_another", batch_of_another),
    ("crossed_answers", crossed_answers),
    ("dying_workers", dying_workers),
    ("full_disk", full_disk),
];

/// Known programs, on new connections, must be answered right.
fn check_others(service: &Service, programs: usize) -> Result<(), Failed> {
    (0..programs).try_for_each(|_| service.check_known_program(BUSY_PATIENCE)).map_err(Failed::Escaped)
}

fn slow_heads(service: &Service) -> Result<String, Failed> {
    let head = run_code("print(1)").header("X-Slow", "x").bytes(&service.target);
    let begin = head.windows(6).position(|bytes| bytes == b"X-Slow").unwrap_or(1);
    let open = begin_slow(service, &head[..begin])?;
    check_others(service, 2)?;
    drip(service, open, b"X-Slow: x\r\n")
}

fn slow_bodies(service: &Service) -> Result<String, Failed> {
    let announced = service.body_bytes.unwrap_or(ANNOUNCED);
    let begin = Request::post("/run_code", "{").header("Content-Length", announced.to_string()).bytes(&service.target);
    let mut open = begin_slow(service, &begin)?;
    let started = Instant::now();
    check_others(service, 1)?;
    // A service that reserves what is announced answers others once it gives slow clients up.
    let waited = started.elapsed();
    escaped_if(open.first_mut().is_some_and(has_ended), || {
        format!("a known program was answered after {waited:.1?}, when the first slow client had been given up")
    })?;
    drip(service, open, b" ")
}

/// Opens connections that have sent `begin`, and whose answers are hardly waited for.
fn begin_slow(service: &Service, begin: &[u8]) -> Result<Vec<Connection>, Failed> {
    let mut open = open_connections(service, CLIENTS)?;
    for connection in &mut open {
        connection.set_patience(Duration::from_millis(1))?;
        connection.send(begin)?;
    }
    Ok(open)
}

fn has_ended(connection: &mut Connection) -> bool {
    !matches!(connection.read_answer(), Err(ExchangeError::TimedOut))
}

/// Sends `drop` byte by byte and over again, until the service has ended each connection.
fn drip(service: &Service, mut open: Vec<Connection>, drop: &[u8]) -> Result<String, Failed> {
    let started = Instant::now();
    let mut bytes = drop.iter().cycle();
    let mut ended = Vec::new();
    while !open.is_empty() {
        escaped_if(started.elapsed() > service.slow_patience, || {
            format!("{} of {CLIENTS} slow clients are waited for after {:.0?}", open.len(), service.slow_patience)
        })?;
        let byte = *bytes.next().unwrap_or(&b'x');
        open.retain_mut(|connection| match end_of_slow(connection, byte) {
            None => true,
            Some(end) => {
                ended.push(end);
                false
            }
        });
        std::thread::sleep(DRIP);
    }
    let last = ended.pop().unwrap_or_default();
    escaped_if(last.starts_with("status 2") || last.starts_with("status 5"), || format!("a slow client got {last}"))?;
    Ok(format!("ended after {:.1?}: {last}", started.elapsed()))
}

/// How the service has ended a connection, if it has. The byte is the client's next.
fn end_of_slow(connection: &mut Connection, byte: u8) -> Option<String> {
    let sent = connection.send(&[byte]);
    match connection.read_answer() {
        Ok(answer) => Some(format!("status {}", answer.status)),
        Err(ExchangeError::TimedOut) if sent.is_ok() => None,
        Err(_) => Some("closed".to_owned()),
    }
}

/// A connection that cannot be made is an escape: the service, or its host, has no more.
fn open_connections(service: &Service, count: usize) -> Result<Vec<Connection>, Failed> {
    let mut open = Vec::with_capacity(count);
    for number in 0..count {
        match service.connect() {
            Ok(connection) => open.push(connection),
            Err(error) => {
                return Err(Failed::Escaped(format!("connection {number} cannot be made: {}", words(&error))));
            }
        }
    }
    Ok(open)
}

fn idle_connections(service: &Service) -> Result<String, Failed> {
    let open = open_connections(service, service.idle_connections)?;
    check_others(service, 5)?;
    Ok(format!("5 known programs were right beside {} idle connections", open.len()))
}

fn connection_flood(service: &Service) -> Result<String, Failed> {
    let bytes = run_code("print(1)").bytes(&service.target);
    let half = &bytes[..bytes.len() / 2];
    let mut open = open_connections(service, FLOOD)?;
    for connection in &mut open {
        // One that was closed for another is no concern of this client.
        let _ = connection.send(half);
    }
    check_others(service, 10)?;
    Ok(format!("10 known programs were right beside {} new connections", open.len()))
}

fn hang_up(service: &Service) -> Result<String, Failed> {
    let mut body = run_body("import time\nend = time.time() + 1\nwhile time.time() < end: pass");
    body["run_timeout"] = json!(1);
    let whole = Request::post("/run_code", body.to_string()).bytes(&service.target);
    for client in 0..CLIENTS {
        let mut connection = service.connect()?;
        let bytes = if client % 4 == 3 { &whole[..whole.len() - 9] } else { &whole[..] };
        connection.send(bytes)?;
    }
    let started = Instant::now();
    check_others(service, 1)?;
    Ok(format!("a known program was answered {:.1?} after {CLIENTS} clients left", started.elapsed()))
}

fn unread_answers(service: &Service) -> Result<String, Failed> {
    let bytes = run_code("print('x' * 1_000_000)").bytes(&service.target);
    let mut open = open_connections(service, CLIENTS)?;
    for connection in &mut open {
        connection.send(&bytes)?;
    }
    check_others(service, 5)?;
    Ok(format!("5 known programs were right beside {} clients that do not read", open.len()))
}

fn batch_of_another(service: &Service) -> Result<String, Failed> {
    const ATTEMPTS: usize = 400;
    let row = json!({"schema_version": 1, "problem": {"task_id": "batch", "checks": {"stdio": {
        "cases": [{"stdin": "", "stdout": "1"}], "comparison": {"judge": "lines"}}}}});
    let name = marker("batch");
    let attempt = |number: usize| {
        let program = format!("# {name} {number}\nfor _ in range(1000000): pass\nprint(1)");
        json!({"task_id": "batch", "program": program})
    };
    let attempts: Vec<Value> = (0..ATTEMPTS).map(attempt).collect();
    let body = json!({"tasks": [{"format": "veriplay", "row": row}], "attempts": attempts});
    let mut batch = service.connect()?;
    batch.send(&Request::post("/v1/verify", body.to_string()).bytes(&service.target))?;
    wait_for_queue(service)?;
    let started = Instant::now();
    check_others(service, 1)?;
    let waited = started.elapsed();
    batch.set_patience(Duration::from_millis(1))?;
    match batch.read_answer() {
        Err(ExchangeError::TimedOut) => Ok(format!("another client was answered after {waited:.1?}, before the batch")),
        Ok(answer) if answer.status == 200 => {
            Err(Failed::Escaped(format!("another client was answered after {waited:.1?}, when the batch was done")))
        }
        Ok(answer) => Err(Failed::Unclear(format!("the batch has status {}", answer.status))),
        Err(error) => Err(Failed::Unclear(format!("the batch: {}", words(&error)))),
    }
}

fn wait_for_queue(service: &Service) -> Result<(), Failed> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let text = service.ask(&Request::get("/metrics"))?;
        let text = String::from_utf8_lossy(&text.body).into_owned();
        let length = text.lines().find_map(|line| line.strip_prefix("veriplay_queue_length "));
        if length.is_some_and(|length| length.trim() != "0") {
            return Ok(());
        }
    }
    Err(Failed::Unclear("no attempt of the batch was seen to wait".to_owned()))
}

fn crossed_answers(service: &Service) -> Result<String, Failed> {
    const THREADS: usize = 8;
    const EACH: usize = 12;
    let ask = || {
        (0..EACH).try_for_each(|_| {
            let own = marker("own");
            let answer = service.ask(&run_code(&format!("print('{own}' * 3)"))).map_err(|error| words(&error))?;
            let ran = parse_ran(&answer)?;
            let right = ran.stdout.trim() == own.repeat(3);
            if right { Ok(()) } else { Err(format!("{own} was answered {}", excerpt(&ran.text))) }
        })
    };
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
            .collect()
    });
    results.into_iter().collect::<Result<Vec<()>, String>>().map_err(Failed::Escaped)?;
    Ok(format!("{} answers were right", THREADS * EACH))
}

const DEADLY_ROUNDS: usize = 4;

/// Programs by which a worker may die.
const DEADLY: [&str; 7] = [
    "import os\nos._exit(1)",
    "import os\nos.abort()",
    "import os\nos.kill(os.getppid(), 9)",
    "import ctypes\nctypes.string_at(0)",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "kept = []\nfor _ in range(10**6): kept.append(bytearray(1 << 20))",
    "for _ in range(10**12): pass",
];

fn dying_workers(service: &Service) -> Result<String, Failed> {
    let request = |program| {
        let mut body = run_body(program);
        body["run_timeout"] = json!(1);
        body["memory_limit_MB"] = json!(256);
        Request::post("/run_code", body.to_string())
    };
    let beside = check_others_beside(service, &DEADLY.map(request), DEADLY_ROUNDS)?;
    check_others(service, 5)?;
    let sent = DEADLY.len() * DEADLY_ROUNDS;
    let beside = counted(beside, "known program");
    Ok(format!("{sent} programs were answered, {beside} beside them and 5 after them were right"))
}

/// Sends each request `rounds` times, one after another, beside all others. Meanwhile known programs must be answered right, and then all
/// requests must have answers. Returns the number of known programs.
fn check_others_beside(service: &Service, requests: &[Request], rounds: usize) -> Result<usize, Failed> {
    let send = |request: &Request| (0..rounds).try_for_each(|_| service.ask(request).map(drop));
    std::thread::scope(|scope| {
        let clients: Vec<_> = requests.iter().map(|request| scope.spawn(move || send(request))).collect();
        let mut others = 0;
        while others == 0 || clients.iter().any(|client| !client.is_finished()) {
            check_others(service, 1)?;
            others += 1;
        }
        for client in clients {
            let answered = client.join().map_err(|_| Failed::Unclear("a thread panicked".to_owned()))?;
            answered.map_err(|error| Failed::Escaped(format!("a program: {}", words(&error))))?;
        }
        Ok(others)
    })
}

/// Clients that fill the disk, and how often each does.
const FILLERS: usize = 8;
const FILLER_ROUNDS: usize = 2;

const FILLER: &str = include_str!("fill_the_disk.py");

/// Prints how much it could write.
const WRITER: &str = include_str!("write_a_file.py");

fn full_disk(service: &Service) -> Result<String, Failed> {
    let write = || service.run(&run_code(WRITER), PATIENCE).map(|ran| ran.stdout.trim().to_owned());
    let before = write().map_err(Failed::Unclear)?;
    let beside = check_others_beside(service, &vec![run_code(FILLER); FILLERS], FILLER_ROUNDS)?;
    let after = write().map_err(|why| Failed::Escaped(format!("a program that writes a small file: {why}")))?;
    escaped_if(after != before, || {
        format!("a program that writes a small file printed `{before}`, and after them `{}`", excerpt(&after))
    })?;
    check_others(service, 5)?;
    let sent = FILLERS * FILLER_ROUNDS;
    let beside = counted(beside, "known program");
    Ok(format!("{sent} programs were answered, {beside} beside them and 5 after them were right"))
}
