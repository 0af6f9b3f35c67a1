//! Probes of what a service makes of bodies: malformed, of wrong types, too large, too deep, ambiguous, packed.

use std::io::Write;

use serde_json::json;

use super::client::{Attempt, Failed, PATIENCE, Service, escaped_if, excerpt, run_body, run_code, words};
use super::probe::RefusedRequest;
use crate::http::{ExchangeError, Request};

/// Bytes that a service without a stated limit is sent before it counts as without one.
const MOST_SENT: u64 = 128 << 20;

/// The status of a service that has waited for a body as long as it does.
const WAITED: &str = "408";

pub(super) const ATTEMPTS: &[(&str, Attempt)] = &[
    ("not_json", not_json),
    ("endless_time_limit", endless_time_limit),
    ("deep_json", deep_json),
    ("duplicate_keys", duplicate_keys),
    ("invalid_text", invalid_text),
    ("announced_body", announced_body),
    ("body_without_end", body_without_end),
    ("body_cut_short", body_cut_short),
    ("packed_body", packed_body),
];

/// The last of several findings, and how many there were.
fn all(findings: &[String]) -> String {
    format!("{} refused; {}", findings.len(), findings.last().map_or("", String::as_str))
}

fn not_json(service: &Service) -> Result<String, Failed> {
    let bodies: [&[u8]; 7] = [b"", b"{", b"{\"code\": \"print(1)\"", b"7", b"\x00\x01\x02", b"[] []", b"{} x"];
    let mut found = Vec::new();
    for path in service.json_paths() {
        for body in bodies {
            let what = format!("{path} {:?}", String::from_utf8_lossy(body));
            found.push(service.expect_refusal(&what, &Request::post(*path, body), "")?);
        }
    }
    Ok(all(&found))
}

/// Sends each request to an endpoint that the service has. The answer must be a 4xx that names what is wrong.
pub(super) fn expect_refusals(service: &Service, requests: &[RefusedRequest]) -> Result<String, Failed> {
    let mut found = Vec::new();
    for RefusedRequest { path, body, names, called } in requests {
        if path.starts_with("/v1/") && !service.is_native {
            continue;
        }
        let what = called.clone().unwrap_or_else(|| format!("{path} with a wrong `{names}`"));
        found.push(service.expect_refusal(&what, &Request::post(path, body.as_str()), names)?);
    }
    Ok(all(&found))
}

fn endless_time_limit(service: &Service) -> Result<String, Failed> {
    let mut body = run_body("print(1)");
    body["run_timeout"] = json!(1e9);
    service.expect_refusal("run_timeout of 1e9", &Request::post("/run_code", body.to_string()), "run_timeout")
}

fn deep_json(service: &Service) -> Result<String, Failed> {
    const DEPTH: usize = 100_000;
    let mut found = Vec::new();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for path in service.json_paths() {
            let body = format!(r#"{{"code": "print(1)", "language": "python", "ignored": {deep}}}"#);
            match service.ask(&Request::post(*path, body)) {
                Ok(answer) if answer.status < 500 => found.push(format!("{path}: {}", answer.status)),
                Ok(answer) => return Err(Failed::Escaped(format!("{path}: status {}", answer.status))),
                Err(error) => return Err(Failed::Escaped(format!("{path}: {}", words(&error)))),
            }
        }
    }
    Ok(all(&found))
}

fn duplicate_keys(service: &Service) -> Result<String, Failed> {
    let body = r#"{"code": "print('first')", "language": "python", "code": "print('last')"}"#;
    let answer = service.ask(&Request::post("/run_code", body))?;
    let text = String::from_utf8_lossy(&answer.body);
    let is_last = answer.status == 200 && text.contains("last") && !text.contains("first");
    escaped_if(!is_last && !(400..500).contains(&answer.status), || {
        format!("status {}: {}", answer.status, excerpt(&text))
    })?;
    if service.is_native {
        let body = r#"{"program": "print('first')", "program": "print('last')"}"#;
        service.expect_refusal("/v1/run", &Request::post("/v1/run", body), "program")?;
    }
    Ok(format!("status {}{}", answer.status, if is_last { ", the last one ran" } else { "" }))
}

fn invalid_text(service: &Service) -> Result<String, Failed> {
    let around = |inside: &[u8]| [&b"{\"language\": \"python\", \"code\": \"print(1) # "[..], inside, b"\"}"].concat();
    let mut found = Vec::new();
    for (what, inside) in [("a lone byte 0xff", &b"\xff"[..]), ("half a pair", b"\\ud800"), ("a raw newline", b"\n")] {
        found.push(service.expect_refusal(what, &Request::post("/run_code", around(inside)), "")?);
    }
    Ok(all(&found))
}

fn announced_body(service: &Service) -> Result<String, Failed> {
    let request = run_code("print(1)").header("Content-Length", (1_u64 << 40).to_string());
    let found = service.expect_refusal("a body of 1 TiB", &request, "")?;
    escaped_if(found.ends_with(WAITED), || format!("{found}: it waited for the body"))?;
    Ok(found)
}

fn body_without_end(service: &Service) -> Result<String, Failed> {
    const PIECE: usize = 1 << 20;
    let most = service.body_bytes.unwrap_or(MOST_SENT) + PIECE as u64;
    let head = Request::post("/run_code", "").header("Transfer-Encoding", "chunked");
    let mut connection = service.connect()?;
    connection.send(&head.bytes(&service.target))?;
    let piece = [format!("{PIECE:x}\r\n").as_bytes(), &vec![b' '; PIECE], b"\r\n"].concat();
    let mut sent = 0;
    while sent < most {
        match connection.send(&piece) {
            Ok(()) => sent += PIECE as u64,
            Err(ExchangeError::TimedOut) => {
                return Err(Failed::Escaped(format!("it stopped reading after {sent} bytes")));
            }
            Err(_) => return Ok(format!("it closed the connection after {sent} bytes")),
        }
    }
    match connection.read_answer() {
        Ok(answer) if (400..500).contains(&answer.status) && answer.status.to_string() != WAITED => {
            Ok(format!("{} after {sent} bytes", answer.status))
        }
        Ok(answer) => Err(Failed::Escaped(format!("status {} after {sent} bytes", answer.status))),
        Err(ExchangeError::TimedOut) => Err(Failed::Escaped(format!("it took {sent} bytes and waits for more"))),
        Err(_) => Ok(format!("it closed the connection after {sent} bytes")),
    }
}

fn body_cut_short(service: &Service) -> Result<String, Failed> {
    let whole = run_body("print('cut')").to_string();
    let request = Request::post("/run_code", whole.as_str()).header("Content-Length", (whole.len() + 10).to_string());
    let mut connection = service.connect()?;
    connection.send(&request.bytes(&service.target))?;
    connection.end_writing()?;
    match connection.read_answer() {
        Ok(answer) if answer.status == 200 => {
            Err(Failed::Escaped(format!("it ran: {}", excerpt(&String::from_utf8_lossy(&answer.body)))))
        }
        Ok(answer) => Ok(format!("status {}", answer.status)),
        Err(ExchangeError::TimedOut) => Err(Failed::Escaped(format!(
            "it waited more than {} s for the rest of a closed stream",
            PATIENCE.as_secs()
        ))),
        Err(_) => Ok("the connection was closed".to_owned()),
    }
}

fn packed_body(service: &Service) -> Result<String, Failed> {
    const MEBIBYTES: usize = 256;
    let pack = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).and_then(|()| packer.finish())
    };
    let unclear = |error: std::io::Error| Failed::Unclear(format!("the body cannot be packed: {error}"));
    // A file of gzip may have any number of members.
    let blanks = pack(&[b' '; 1 << 20]).map_err(unclear)?.repeat(MEBIBYTES);
    let packed = [blanks, pack(run_body("print(1)").to_string().as_bytes()).map_err(unclear)?].concat();
    let request = Request::post("/run_code", packed).header("Content-Encoding", "gzip");
    let answer = match service.ask(&request) {
        Ok(answer) => answer,
        Err(error) => return Err(Failed::Escaped(words(&error))),
    };
    let text = String::from_utf8_lossy(&answer.body).to_lowercase();
    let is_clear =
        matches!(answer.status, 413 | 415) || ["encod", "gzip", "compress"].iter().any(|word| text.contains(word));
    match answer.status {
        400..=499 if is_clear => Ok(format!("status {}", answer.status)),
        400..=499 => Err(Failed::Escaped(format!("refused without a reason: {} {}", answer.status, excerpt(&text)))),
        200 => Err(Failed::Escaped(format!("{MEBIBYTES} MiB were unpacked and the program ran"))),
        status => Err(Failed::Escaped(format!("status {status}: {}", excerpt(&text)))),
    }
}
