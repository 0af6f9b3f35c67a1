//! Probes of the token, and of ways to files of the host.

use serde_json::json;

use super::client::{Attempt, Failed, Service, escaped_if, excerpt, marker, run_body, run_code, words};
use crate::http::Request;

pub(super) const ATTEMPTS: &[(&str, Attempt)] = &[
    ("no_token", no_token),
    ("part_of_the_token", part_of_the_token),
    ("around_the_token", around_the_token),
    ("path_traversal", path_traversal),
    ("files_outside", files_outside),
    ("page_in_a_browser", page_in_a_browser),
];

/// Paths that a service may have, besides those that it must answer without a token.
const PATHS: [(&str, bool); 13] = [
    ("/metrics", false),
    ("/v1/info", false),
    ("/v1/ping", false),
    ("/openapi.json", false),
    ("/docs", false),
    ("/reverify_mode", false),
    ("/run_code", true),
    ("/submit", true),
    ("/get_reward", true),
    ("/verify", true),
    ("/v1/run", true),
    ("/v1/verify", true),
    ("/v1/tasks", true),
];

fn no_token(service: &Service) -> Result<String, Failed> {
    let mut asked = Vec::new();
    for (path, is_post) in PATHS {
        let body = run_body("print(1)").to_string();
        let request = if is_post { Request::post(path, body) } else { Request::get(path) };
        if service.ask(&request)?.status == 404 {
            continue;
        }
        let answer = service.ask(&request.without_token())?;
        escaped_if(!matches!(answer.status, 401 | 403), || {
            format!("{path}: status {}: {}", answer.status, excerpt(&String::from_utf8_lossy(&answer.body)))
        })?;
        asked.push(path);
    }
    Ok(format!("401 or 403 from {}", asked.join(", ")))
}

fn part_of_the_token(service: &Service) -> Result<String, Failed> {
    let token = service.tokens.first().map_or("", String::as_str);
    let (first, last) = (&token[..token.len() - 1], &token[1..]);
    let swapped: String =
        token.chars().map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
    let mut values = vec![
        format!("Bearer {first}"),
        format!("Bearer {last}"),
        format!("Bearer {}", &token[..1]),
        format!("Bearer {token}0"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},"),
        format!("Basic {token}"),
        format!("Bearer{token}"),
        token.to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer *".to_owned(),
        String::new(),
    ];
    values.extend((swapped != token).then(|| format!("Bearer {swapped}")));
    let program = run_code("print(1)");
    for value in &values {
        let shown = value.replace(token, "TOKEN").replace(first, "TOKE").replace(last, "OKEN");
        expect_no_run(service, &shown, &program.clone().header("Authorization", value.clone()))?;
    }
    for query in ["token", "access_token", "api_key"] {
        let mut request = Request::post(format!("/run_code?{query}={token}"), run_body("print(1)").to_string());
        request = request.without_token();
        expect_no_run(service, &format!("?{query}="), &request)?;
    }
    service.run(&program, super::client::PATIENCE).map_err(|why| Failed::Unclear(format!("the whole token: {why}")))?;
    Ok(format!("{} parts and forms were refused, the whole token was not", values.len() + 3))
}

fn expect_no_run(service: &Service, what: &str, request: &Request) -> Result<(), Failed> {
    match service.ask(request) {
        Ok(answer) => {
            escaped_if(answer.status < 400 || answer.status >= 500, || format!("{what}: status {}", answer.status))
        }
        Err(error) => Err(Failed::Unclear(format!("{what}: {}", words(&error)))),
    }
}

fn around_the_token(service: &Service) -> Result<String, Failed> {
    let paths = [
        "/run_code/", "//run_code", "/./run_code", "/health/../run_code", "/health/%2e%2e/run_code",
        "/health;/../run_code", "/run_code?path=/health", "/run_code%00", "/run_code%20", "/%72un_code", "/RUN_CODE",
        "/run_code#/health", "http://localhost/run_code", "/ready/run_code",
    ];
    let headers = [
        ("X-Original-URL", "/health"),
        ("X-Rewrite-URL", "/run_code"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-Host", "localhost"),
        ("X-Forwarded-User", "admin"),
        ("Forwarded", "for=127.0.0.1;host=localhost"),
        ("X-HTTP-Method-Override", "GET"),
    ];
    let marker = marker("around");
    let (half, rest) = marker.split_at(9);
    let body = run_body(&format!("print({half:?} + {rest:?})")).to_string();
    let spelled = paths.map(|path| Request::post(path, body.as_str()));
    let rewritten = headers.map(|(name, value)| Request::post("/run_code", body.as_str()).header(name, value));
    let all: Vec<Request> = spelled.into_iter().chain(rewritten).collect();
    for request in &all {
        // A closed connection ran nothing.
        let Ok(answer) = service.ask(&request.clone().without_token()) else { continue };
        let ran = String::from_utf8_lossy(&answer.body).contains(&marker);
        escaped_if(ran, || format!("it ran: {}", request.first_line(&service.target)))?;
    }
    Ok(format!("{} spellings ran nothing", all.len()))
}

/// The first line of `/etc/passwd`, on this machine and most others.
const PASSWORD_FILE: &str = "root:x:0:0:";

/// Whether an answer has content of a file of the host.
fn has_file(service: &Service, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    text.contains(PASSWORD_FILE) || text.contains(&service.planted.content)
}

fn path_traversal(service: &Service) -> Result<String, Failed> {
    let planted = service.planted.path();
    let mut asked = 0;
    for file in ["/etc/passwd", planted.as_str()] {
        let up = "/..".repeat(12);
        let paths = [
            file.to_owned(),
            format!("/{file}"),
            format!("{up}{file}"),
            format!("/v1/tasks{up}{file}"),
            format!("/static{up}{file}"),
            format!("{}{file}", "/%2e%2e".repeat(12)),
            format!("/{}{}", "..%2f".repeat(12), &file[1..]),
            format!("/{}{}", "..\\".repeat(12), &file[1..]),
            format!("/{}{}", "....//".repeat(12), &file[1..]),
            format!("file://{file}"),
            format!("/?file={file}"),
            format!("/v1/info?path={file}"),
        ];
        for path in paths {
            let Ok(answer) = service.ask(&Request::get(path.as_str())) else { continue };
            asked += 1;
            escaped_if(has_file(service, &answer.body), || format!("GET {path} has the file"))?;
        }
    }
    escaped_if(asked == 0, || "no path was answered".to_owned())?;
    Ok(format!("{asked} paths had no file of the host"))
}

fn files_outside(service: &Service) -> Result<String, Failed> {
    let planted = service.planted.path();
    let up = "../".repeat(12);
    let reads =
        ["/etc/passwd".to_owned(), format!("{up}etc/passwd"), planted.clone(), format!("{up}{}", &planted[1..])];
    let mut body = run_body("print(1)");
    body["fetch_files"] = json!(reads);
    let answer = service.ask(&Request::post("/run_code", body.to_string()))?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let fetched: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let files = fetched["files"].as_object().map(|files| files.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    escaped_if(!files.is_empty() || has_file(service, text.as_bytes()), || format!("it fetched {}", files.join(", ")))?;
    let target = service.planted.folder.path().join("written");
    let written = target.display().to_string();
    for name in [written.clone(), format!("{up}{}", &written[1..])] {
        let mut body = run_body("print(1)");
        body["files"] = json!({name.as_str(): "d3JpdHRlbg=="});
        let answer = service.ask(&Request::post("/run_code", body.to_string()))?;
        escaped_if(target.exists(), || format!("it wrote {name}, with status {}", answer.status))?;
    }
    Ok("nothing was fetched or written".to_owned())
}

fn page_in_a_browser(service: &Service) -> Result<String, Failed> {
    let mut found = Vec::new();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let request = run_code("print(1)").header("Content-Type", kind).header("Origin", "http://stranger.example");
        found.push(service.expect_refusal(&format!("a body of type `{kind}`"), &request, "")?);
    }
    // A page whose name was turned to this machine may say that its body is JSON; it has no token.
    let request = run_code("print(1)").without_token().header("Origin", "http://stranger.example");
    found.push(service.expect_refusal("JSON from a page of stranger.example", &request, "")?);
    Ok(found.join("; "))
}
