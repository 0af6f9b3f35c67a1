//! Probes of where a request ends and what an answer's head may contain.

use std::time::Duration;

use serde_json::json;

use super::client::{
    Attempt, Failed, PATIENCE, Service, escaped_if, excerpt, marker, parse_ran, run_body, run_code, words,
};
use crate::http::{Answer, ExchangeError, Request};

/// How long an answer that must not come is waited for, where the connection stays open.
const QUIET: Duration = Duration::from_millis(500);
const LONGEST_HEAD: usize = 8 << 20;

pub(super) const ATTEMPTS: &[(&str, Attempt)] = &[
    ("odd_chunks", odd_chunks),
    ("garbage_behind_a_request", garbage_behind_a_request),
    ("header_injection", header_injection),
    ("giant_head", giant_head),
];

/// What came of bytes on a connection of their own.
struct Exchange {
    answers: Vec<Answer>,
    /// Why there was no further one.
    end: ExchangeError,
}

impl Exchange {
    fn statuses(&self) -> String {
        let statuses: Vec<String> = self.answers.iter().map(|answer| answer.status.to_string()).collect();
        if statuses.is_empty() { words(&self.end) } else { statuses.join(", ") }
    }
}

/// Sends bytes and reads answers until the connection is closed or quiet.
fn exchange(service: &Service, bytes: &[u8]) -> Result<Exchange, Failed> {
    let mut connection = service.connect()?;
    connection.send(bytes)?;
    let mut answers = Vec::new();
    loop {
        match connection.read_answer() {
            Ok(answer) => answers.push(answer),
            Err(end) => return Ok(Exchange { answers, end }),
        }
        connection.set_patience(QUIET)?;
    }
}

/// A program, in chunks or not, behind which another request hides.
struct Hidden {
    marker: String,
    request: Vec<u8>,
}

impl Hidden {
    fn new(service: &Service) -> Self {
        let marker = marker("hidden");
        let (half, rest) = marker.split_at(9);
        let request = run_code(&format!("print({half:?} + {rest:?})")).bytes(&service.target);
        Self { marker, request }
    }

    fn was_run(&self, exchange: &Exchange) -> bool {
        exchange.answers.iter().any(|answer| String::from_utf8_lossy(&answer.body).contains(&self.marker))
    }
}

/// A request with each of these heads, followed by an empty chunk and another request, must not get the other one answered.
pub(super) fn expect_one_request(service: &Service, heads: &[Vec<String>]) -> Result<String, Failed> {
    let mut found = Vec::new();
    for lines in heads {
        let hidden = Hidden::new(service);
        let length = (5 + hidden.request.len()).to_string();
        let plain = Request::post("/run_code", "").header("Content-Length", "0").bytes(&service.target);
        let lengths = lines.join("\r\n").replace("{all}", &length);
        let head = String::from_utf8_lossy(&plain).replace("Content-Length: 0", &lengths);
        let done = exchange(service, &[head.as_bytes(), b"0\r\n\r\n", &hidden.request].concat())?;
        let shown = lines.join(", ");
        escaped_if(hidden.was_run(&done), || {
            format!("{shown}: the hidden request was answered ({})", done.statuses())
        })?;
        escaped_if(done.answers.first().is_some_and(|answer| answer.status >= 500), || {
            format!("{shown}: status {}", done.statuses())
        })?;
        found.push(format!("{shown}: {}", done.statuses()));
    }
    Ok(found.join("; "))
}

fn odd_chunks(service: &Service) -> Result<String, Failed> {
    let body = run_body("print('ran')").to_string();
    let length = format!("{:x}", body.len());
    let mut found = Vec::new();
    for size in ["1ffffffffffffffff", "-1", &format!("0x{length}"), &format!("+{length}"), ""] {
        let head = Request::post("/run_code", "").header("Transfer-Encoding", "chunked").bytes(&service.target);
        let chunk = format!("{size}\r\n{body}\r\n0\r\n\r\n");
        let done = exchange(service, &[&head[..], chunk.as_bytes()].concat())?;
        let ran = done.answers.iter().any(|answer| answer.status == 200 || answer.status >= 500);
        escaped_if(ran, || format!("a chunk of size `{size}`: {}", done.statuses()))?;
        escaped_if(done.answers.is_empty() && done.end == ExchangeError::TimedOut, || {
            format!("a chunk of size `{size}` is waited for more than {} s", PATIENCE.as_secs())
        })?;
        found.push(done.statuses());
    }
    Ok(found.join("; "))
}

fn garbage_behind_a_request(service: &Service) -> Result<String, Failed> {
    let marker = marker("first");
    let first = run_code(&format!("print('{marker}')")).bytes(&service.target);
    let done = exchange(service, &[&first[..], b"\x00\xff garbage \r\n\r\n{\"code\": 1}\r\n\r\n"].concat())?;
    let Some((answer, rest)) = done.answers.split_first() else {
        return Err(Failed::Escaped(format!("the request before the garbage was not answered: {}", words(&done.end))));
    };
    let ran = parse_ran(answer).map_err(Failed::Escaped)?;
    escaped_if(ran.stdout.trim() != marker, || format!("answered wrong: {}", excerpt(&ran.text)))?;
    escaped_if(rest.iter().any(|answer| !(400..500).contains(&answer.status)), || {
        format!("answers {}", done.statuses())
    })?;
    Ok(done.statuses())
}

const INJECTED: &str = "X-Injected";

fn header_injection(service: &Service) -> Result<String, Failed> {
    let ends = ["\r\n", "\n", "\r", "%0d%0a", "%0a", "\u{2028}", "\r\n "];
    let mut asked = 0;
    for end in ends {
        let text = format!("a{end}{INJECTED}: yes");
        let mut body = run_body("print(1)");
        body["language"] = json!(text);
        let encoded = text.replace('\r', "%0d").replace('\n', "%0a").replace(' ', "%20");
        let requests = [
            // A raw line end here is a header of the request, and no business of the answer.
            Request::get("/v1/ping").header("X-Request-Id", text.clone()),
            Request::get(format!("/{encoded}")),
            Request::get(format!("/v1/ping?id={encoded}")),
            Request::post("/run_code", body.to_string()),
        ];
        for request in requests {
            let done = exchange(service, &request.bytes(&service.target))?;
            asked += done.answers.len();
            let injected = |answer: &&Answer| answer.head.to_ascii_lowercase().contains("\nx-injected:");
            let first = |answer: &&Answer| answer.head.to_ascii_lowercase().starts_with("x-injected:");
            if let Some(answer) = done.answers.iter().find(|answer| injected(answer) || first(answer)) {
                return Err(Failed::Escaped(format!("{text:?} wrote a header: {}", excerpt(&answer.head))));
            }
        }
    }
    escaped_if(asked == 0, || "no request was answered".to_owned())?;
    Ok(format!("{asked} answers without the header"))
}

fn giant_head(service: &Service) -> Result<String, Failed> {
    let long = "x".repeat(LONGEST_HEAD);
    let many = "a: b\r\n".repeat(LONGEST_HEAD / 8);
    let mut found = Vec::new();
    for (what, head) in [
        ("a long path", format!("GET /{long} HTTP/1.1\r\nHost: h\r\n\r\n")),
        ("a long header", format!("GET /v1/ping HTTP/1.1\r\nHost: h\r\nX-Long: {long}\r\n\r\n")),
        ("many headers", format!("GET /v1/ping HTTP/1.1\r\nHost: h\r\n{many}\r\n")),
    ] {
        let mut connection = service.connect()?;
        let sent = connection.send(head.as_bytes());
        escaped_if(sent == Err(ExchangeError::TimedOut), || {
            format!("{what}: it stopped reading and keeps the connection")
        })?;
        match connection.read_answer() {
            // Any other answer speaks of what the head says, or of time: all of it was taken.
            Ok(answer) if matches!(answer.status, 400 | 413 | 414 | 431) => {
                found.push(format!("{what}: {}", answer.status))
            }
            Ok(answer) => return Err(Failed::Escaped(format!("{what}: status {}", answer.status))),
            Err(ExchangeError::TimedOut) => {
                return Err(Failed::Escaped(format!("{what}: it took all of it and waits for more")));
            }
            Err(_) => found.push(format!("{what}: closed")),
        }
    }
    Ok(found.join("; "))
}
