//! A target that is a SandboxFusion server, or speaks as one does: `POST /run_code`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use veriplay_corpus::probes::judge::{ExternalExit, ExternalRun};

use super::target::{MEMORY_MIB, ProbeRequest, Target};
use crate::exit::{ExitCode, Failure};

/// Seconds an answer may take beyond those the program is allowed.
const SLACK: u64 = 30;
/// The largest answer that is read.
const LARGEST: u64 = 64 << 20;

/// A server.
pub(crate) struct FusionTarget {
    url: String,
    agent: ureq::Agent,
}

/// What it answers, as far as it matters here.
#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    message: String,
    run_result: Option<RunResult>,
}

#[derive(Deserialize)]
struct RunResult {
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

    fn ask(&self, asked: &ProbeRequest<'_>) -> Result<Answer, ureq::Error> {
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
    fn run(&self, asked: &ProbeRequest<'_>) -> ExternalRun {
        match self.ask(asked) {
            Ok(answer) => text(answer),
            Err(error) => {
                ExternalRun { stdout: String::new(), ended: ExternalExit::Failed(format!("{}: {error}", self.url)) }
            }
        }
    }
}

fn text(answer: Answer) -> ExternalRun {
    let Some(result) = answer.run_result else {
        let why = format!("the server answers {} and no result: {}", answer.status, answer.message);
        return ExternalRun { stdout: String::new(), ended: ExternalExit::Failed(why) };
    };
    let ended = match (result.status.as_str(), result.return_code) {
        ("Finished", Some(code)) => ExternalExit::Exited(code),
        ("TimeLimitExceeded", _) => ExternalExit::Stopped("time limit exceeded".to_owned()),
        (other, _) => ExternalExit::Stopped(format!("{other}: {}", answer.message)),
    };
    ExternalRun { stdout: result.stdout.unwrap_or_default(), ended }
}
