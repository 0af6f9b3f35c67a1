//! A target that is a SandboxFusion server, or speaks its protocol: `POST /run_code`, over HTTP or HTTPS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::read_bytes;
use veriplay_corpus::probes::judge::{ExternalExit, ExternalRun};

use super::target::{self, MEMORY_MIB, ProbeRequest, Target};
use super::tokens::read_tokens;

/// Seconds that a response may take beyond the program's own limit.
const SLACK: u64 = 30;
const LARGEST: u64 = 64 << 20;

pub(crate) struct FusionTarget {
    url: String,
    agent: ureq::Agent,
    token: Option<String>,
}

/// What a connection needs besides the address.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectOptions<'a> {
    /// A file with one token a line, of which the first is sent.
    pub token_file: Option<&'a Path>,
    /// Certificates to trust, in PEM, instead of Mozilla's.
    pub ca_file: Option<&'a Path>,
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
    /// The target at this URL, once it has answered.
    ///
    /// # Errors
    /// The URL is not one, or no server answers there.
    pub(crate) fn new(url: &str, options: ConnectOptions<'_>) -> Result<Self, Failure> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let what = format!("--target `sandboxfusion:{url}` is not a valid address");
            return Err(
                Failure::message(ExitCode::Input, what).hint("use an address that begins with `http://` or `https://`")
            );
        }
        let url = if url.ends_with("/run_code") { url.to_owned() } else { format!("{url}/run_code") };
        // A redirect would lead the token elsewhere.
        let mut config =
            ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).max_redirects_will_error(false);
        if let Some(path) = options.ca_file {
            let roots = RootCerts::Specific(Arc::new(read_certificates(path)?));
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let tokens = options.token_file.map(read_tokens).transpose()?.unwrap_or_default();
        let token = tokens.into_iter().next();
        Ok(Self { url, agent: config.build().into(), token })
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
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut response = request.send_json(body)?;
        if !response.status().is_success() {
            return Err(ureq::Error::StatusCode(response.status().as_u16()));
        }
        response.body_mut().with_config().limit(LARGEST).read_json()
    }
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate<'static>>, Failure> {
    let pem = read_bytes(path)?;
    let items: Result<Vec<PemItem<'static>>, ureq::Error> = parse_pem(&pem).collect();
    let certificate = |item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<_> = items.unwrap_or_default().into_iter().filter_map(certificate).collect();
    if certificates.is_empty() {
        let what = format!("`{}` has no certificate in PEM", path.display());
        return Err(
            Failure::message(ExitCode::Input, what).hint("it has blocks that begin with `-----BEGIN CERTIFICATE-----`")
        );
    }
    Ok(certificates)
}

impl Target for FusionTarget {
    fn run(&self, probe: &ProbeRequest<'_>) -> ExternalRun {
        match self.request(probe) {
            Ok(response) => parse_response(response),
            Err(error @ ureq::Error::StatusCode(401 | 403)) => {
                target::failed(format!("{}: {error}; give a token by `--token-file`", self.url))
            }
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
