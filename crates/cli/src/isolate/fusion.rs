//! A target that is a SandboxFusion server, or speaks as one does: `POST /run_code`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use veriplay_corpus::probes::judge::{Ended, Text};

use super::target::{MEMORY_MIB, ProbeRequest, Target};
use crate::exit::{ExitCode, Failure};

/// Seconds an response may take beyond those the program is allowed.
const SLACK: u64 = 30;
/// The largest response that is read.
const LARGEST: u64 = 64 << 20;

/// A server.
pub(crate) struct FusionTarget {
    url: String,
    agent: ureq::Agent,
}

/// What it answers, as far as it matters here.
#[derive(Deserialize)]
struct FusionResponse {
    status: String,
    #[serde(default)]
    message: String,
    run_result: Option<FusionRunResult>,
}

#[derive(Deserialize)]
struct FusionRunResult {
    status: String,
    return_code: Option<i32>,
    #[serde(default)]
    stdout: Option<String>,
}

impl FusionTarget {
    pub(crate) fn new(url: &str) -> Result<Self, Failure> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") {
            let what = format!("--target `sandboxfusion:{url}` is no address that can be asked");
            return Err(Failure::message(ExitCode::Input, what)
                .hint("give one that begins with http://; put a proxy in front of a server that wants https"));
        }
        let url = if url.ends_with("/run_code") { url.to_owned() } else { format!("{url}/run_code") };
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        Ok(Self { url, agent: config.into() })
    }

    fn request(&self, asked: &ProbeRequest<'_>) -> Result<FusionResponse, ureq::Error> {
        let body = json!({
            "code": asked.program,
            "language": "python",
            "stdin": asked.stdin,
            "compile_timeout": asked.seconds,
            "run_timeout": asked.seconds,
            "memory_limit_MB": MEMORY_MIB,
            "files": {},
            "fetch_files": [],
        });
        let patience = Duration::from_secs(asked.seconds + SLACK);
        let request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        request.send_json(body)?.body_mut().with_config().limit(LARGEST).read_json()
    }
}

impl Target for FusionTarget {
    fn run(&self, asked: &ProbeRequest<'_>) -> Text {
        match self.request(asked) {
            Ok(response) => parse_response(response),
            Err(error) => Text { stdout: String::new(), ended: Ended::Failed(format!("{}: {error}", self.url)) },
        }
    }
}

fn parse_response(response: FusionResponse) -> Text {
    let Some(result) = response.run_result else {
        let why = format!("the server answers {} and no result: {}", response.status, response.message);
        return Text { stdout: String::new(), ended: Ended::Failed(why) };
    };
    let ended = match (result.status.as_str(), result.return_code) {
        ("Finished", Some(code)) => Ended::Exited(code),
        ("TimeLimitExceeded", _) => Ended::Stopped("time limit exceeded".to_owned()),
        (other, _) => Ended::Stopped(format!("{other}: {}", response.message)),
    };
    Text { stdout: result.stdout.unwrap_or_default(), ended }
}
