//! Probes of what a service makes of bodies: malformed, of wrong types, too large, too deep, ambiguous, packed.

use std::io::Write;

use serde_json::{Value, json};

use super::client::{Failed, PATIENCE, Request, Service, escaped_if, excerpt, run_body, run_code, words};
use super::probe::{Needs, ServiceProbe};
use crate::http::ExchangeError;

/// Bytes that a service without a stated limit is sent before it counts as without one.
const MOST_SENT: u64 = 128 << 20;

/// The status of a service that has waited for a body as long as it does.
const WAITED: &str = "408";

pub(super) const PROBES: &[ServiceProbe] = &[
    ServiceProbe {
        class: "service_input",
        name: "not_json",
        title: "Send what is no JSON",
        statement: "Cut, empty and binary bodies, a bare number, text after the end, to every endpoint that takes JSON. Contained: each is \
                    refused with a 4xx; a 5xx or a closed connection is a bug that a client can reach at will.",
        needs: Needs::RunCode,
        attempt: not_json,
    },
    ServiceProbe {
        class: "service_input",
        name: "missing_field",
        title: "Leave out what is required",
        statement: "Requests without a required field. Contained: a 4xx that names the field, so that a trainer's log says what is wrong.",
        needs: Needs::RunCode,
        attempt: missing_field,
    },
    ServiceProbe {
        class: "service_input",
        name: "wrong_types",
        title: "Give each field a value of a wrong type",
        statement: "A number for a text, a text for a number, a list for an object. Contained: a 4xx that names the field.",
        needs: Needs::RunCode,
        attempt: wrong_types,
    },
    ServiceProbe {
        class: "service_input",
        name: "wrong_native_fields",
        title: "Give fields inside of lists wrong values",
        statement: "Wrong values deep in a request of `/v1/verify` and `/v1/run`. Contained: a 4xx with the path of the field, such as \
                    `attempts[1].task_id`.",
        needs: Needs::Native,
        attempt: wrong_native_fields,
    },
    ServiceProbe {
        class: "service_input",
        name: "no_numbers",
        title: "Ask for NaN, infinite and negative seconds",
        statement: "`NaN`, `Infinity` and `1e999` as a time limit: a comparison with any of them may be false for ever, and the limit is \
                    then none. Contained: a 4xx.",
        needs: Needs::RunCode,
        attempt: no_numbers,
    },
    ServiceProbe {
        class: "service_input",
        name: "endless_time_limit",
        title: "Ask for a time limit of thirty years",
        statement: "One client could hold a worker for as long. Contained: a 4xx that names the field.",
        needs: Needs::RunCode,
        attempt: endless_time_limit,
    },
    ServiceProbe {
        class: "service_input",
        name: "deep_json",
        title: "Nest a hundred thousand lists",
        statement: "A parser that recurses overflows its stack, which ends the whole process in many languages. Contained: a 4xx, or the \
                    field is ignored and the program answered.",
        needs: Needs::RunCode,
        attempt: deep_json,
    },
    ServiceProbe {
        class: "service_input",
        name: "duplicate_keys",
        title: "Name the program twice",
        statement: "Where a check in front of the service reads one of two equal keys and the service the other, what was checked is not what \
                    runs. Contained: a 4xx, or the last one counts, as in the readers of Python, JavaScript and Go.",
        needs: Needs::RunCode,
        attempt: duplicate_keys,
    },
    ServiceProbe {
        class: "service_input",
        name: "invalid_text",
        title: "Send bytes that are no UTF-8, and half a surrogate pair",
        statement: "Contained: a 4xx. Text that is let in breaks where it is written again: in a log, an answer, a program's file.",
        needs: Needs::RunCode,
        attempt: invalid_text,
    },
    ServiceProbe {
        class: "service_input",
        name: "announced_body",
        title: "Announce a body of a terabyte",
        statement: "A `Content-Length` that no body may have, and then nothing. Contained: a 4xx at once; a service that waits for the body \
                    holds memory and a connection for it.",
        needs: Needs::RunCode,
        attempt: announced_body,
    },
    ServiceProbe {
        class: "service_input",
        name: "body_without_end",
        title: "Send a body without a length that goes on",
        statement: "A chunked body that goes on beyond the service's limit, or to 128 MiB where it states none. Contained: a 4xx, or the \
                    connection is closed.",
        needs: Needs::RunCode,
        attempt: body_without_end,
    },
    ServiceProbe {
        class: "service_input",
        name: "body_cut_short",
        title: "End the body before its length",
        statement: "The bytes that came are a whole request, but the head announced more. A program that was cut may do something else than \
                    its author wrote. Contained: it is not run.",
        needs: Needs::RunCode,
        attempt: body_cut_short,
    },
    ServiceProbe {
        class: "service_input",
        name: "packed_body",
        title: "Send a small body that unpacks to 256 MiB",
        statement: "gzip with `Content-Encoding: gzip`. Contained: a 4xx that speaks of the encoding or the size; a service that unpacks first \
                    and counts afterwards can be killed by 256 KiB.",
        needs: Needs::RunCode,
        attempt: packed_body,
    },
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

fn missing_field(service: &Service) -> Result<String, Failed> {
    let mut cases = vec![("/run_code", json!({"language": "python"}), "code")];
    if service.is_native {
        cases.extend([
            ("/v1/run", json!({"stdin": ""}), "program"),
            ("/v1/verify", json!({"tasks": []}), "attempts"),
            ("/v1/tasks", json!({}), "tasks"),
        ]);
    }
    expect_refusals(service, &cases)
}

fn wrong_types(service: &Service) -> Result<String, Failed> {
    let mut cases = Vec::new();
    for (field, value) in [
        ("code", json!(7)),
        ("code", json!({"a": 1})),
        ("stdin", json!(["x"])),
        ("language", json!(1.5)),
        ("run_timeout", json!("soon")),
        ("files", json!([1])),
        ("fetch_files", json!({"a": 1})),
    ] {
        let mut body = run_body("print(1)");
        body[field] = value;
        cases.push(("/run_code", body, field));
    }
    expect_refusals(service, &cases)
}

fn wrong_native_fields(service: &Service) -> Result<String, Failed> {
    let cases = [
        ("/v1/run", json!({"program": 7}), "program"),
        ("/v1/run", json!({"program": "", "limits": {"fuel": "much"}}), "limits.fuel"),
        ("/v1/run", json!({"program": "", "unknown": 1}), "unknown"),
        ("/v1/run", json!({"program": "", "limits": {"memory_bytes": u64::MAX}}), "limits.memory_bytes"),
        ("/v1/verify", json!({"tasks": [7], "attempts": []}), "tasks[0]"),
        ("/v1/verify", json!({"tasks": [{"format": "no-such"}], "attempts": []}), "tasks[0]"),
        ("/v1/verify", json!({"tasks": [], "attempts": [{"task_id": "a", "program": ""}]}), "attempts[0].task_id"),
        ("/v1/verify", json!({"tasks": [], "attempts": [{"task_id": true}]}), "attempts[0].task_id"),
    ];
    expect_refusals(service, &cases)
}

fn expect_refusals(service: &Service, cases: &[(&str, Value, &str)]) -> Result<String, Failed> {
    let mut found = Vec::new();
    for (path, body, name) in cases {
        let request = Request::post(*path, body.to_string());
        found.push(service.expect_refusal(&format!("{path} with a wrong `{name}`"), &request, name)?);
    }
    Ok(all(&found))
}

fn no_numbers(service: &Service) -> Result<String, Failed> {
    let mut found = Vec::new();
    for number in ["NaN", "Infinity", "-Infinity", "1e999"] {
        let body = format!(r#"{{"code": "print(1)", "language": "python", "run_timeout": {number}}}"#);
        found.push(service.expect_refusal(number, &Request::post("/run_code", body), "")?);
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
    connection.send(&head.bytes(service))?;
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
    connection.send(&request.bytes(service))?;
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
