//! A target that is a SandboxFusion server, or speaks its protocol: `POST /run_code`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use veriplay_corpus::probes::judge::{ExternalExit, ExternalRun};

use super::target::{self, MEMORY_MIB, ProbeRequest, Target};
use crate::exit::{ExitCode, Failure};

/// Seconds that a response may take beyond the program's own limit.
const SLACK: u64 = 30;
/// The largest response that is read.
const LARGEST: u64 = 64 << 20;

/// A server.
pub(crate) struct FusionTarget {
    url: String,
    agent: ureq::Agent,
}

/// The parts of a response that are read.
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
    #[serde(default)]
    stderr: Option<String>,
}

impl FusionTarget {
    pub(crate) fn new(url: &str) -> Result<Self, Failure> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") {
            let what = format!("--target `sandboxfusion:{url}` is not a valid address");
            return Err(Failure::message(ExitCode::Input, what)
                .hint("use an address that begins with http://; put a proxy in front of a server that needs https"));
        }
        let url = if url.ends_with("/run_code") { url.to_owned() } else { format!("{url}/run_code") };
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        Ok(Self { url, agent: config.into() })
    }

    fn request(&self, probe: &ProbeRequest<'_>) -> Result<FusionResponse, ureq::Error> {
        let body = json!({
            "code": probe.program,
            "language": "python",
            "stdin": probe.stdin,
            "compile_timeout": probe.seconds,
            "run_timeout": probe.seconds,
            "memory_limit_MB": MEMORY_MIB,
            "files": {},
            "fetch_files": [],
        });
        let patience = Duration::from_secs(probe.seconds + SLACK);
        let request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        request.send_json(body)?.body_mut().with_config().limit(LARGEST).read_json()
    }
}

impl Target for FusionTarget {
    fn run(&self, probe: &ProbeRequest<'_>) -> ExternalRun {
        match self.request(probe) {
            Ok(response) => parse_response(response),
            Err(error) => target::failed(format!("{}: {error}", self.url)),
        }
    }
}

fn parse_response(response: FusionResponse) -> ExternalRun {
    let Some(result) = response.run_result else {
        let why = format!("the server returned `{}` without a result: {}", response.status, response.message);
        return target::failed(why);
    };
    let ended = match (result.status.as_str(), result.return_code) {
        ("Finished", Some(code)) => ExternalExit::Exited(code),
        ("TimeLimitExceeded", _) => ExternalExit::Stopped("time limit exceeded".to_owned()),
        (other, _) => ExternalExit::Stopped(format!("{other}: {}", response.message)),
    };
    ExternalRun { stdout: result.stdout.unwrap_or_default(), stderr: result.stderr.unwrap_or_default(), ended }
}
