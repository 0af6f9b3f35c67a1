//! `veriplay bench serve`: load with known answers on a running service.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::read_text;
use veriplay_console::progress;
use veriplay_lab::bench::serve::{self, LoadPlan, Protocol};
use veriplay_lab::http::Target;

use super::{parse_seconds, print};

/// Defaults of the options.
const REQUESTS: u64 = 2000;
const IN_FLIGHT: usize = 64;
const BATCH: usize = 64;
const PATIENCE: f64 = 30.0;

/// What `bench serve` asks, and how fast
#[derive(Debug, Args)]
#[command(next_help_heading = "bench serve")]
pub(super) struct LoadArguments {
    /// The service: `http://HOST:PORT` or `unix:/PATH`
    #[arg(long, value_name = "URL", required_if_eq("subject", "serve"))]
    pub(super) url: Option<Target>,
    /// Its protocol: any SandboxFusion-compatible server, or our own [default: sandboxfusion]
    #[arg(long, value_enum)]
    pub(super) protocol: Option<Protocol>,
    /// Requests [default: 2000]
    #[arg(long, value_name = "N")]
    pub(super) requests: Option<NonZeroU64>,
    /// Requests under way at once [default: 64]
    #[arg(long, value_name = "N")]
    pub(super) in_flight: Option<NonZeroUsize>,
    /// Open loop: send this many requests a second without waiting for answers [default: closed loop]
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    pub(super) rate: Option<f64>,
    /// `native`: attempts of a request [default: 64]
    #[arg(long, value_name = "N")]
    pub(super) batch: Option<NonZeroUsize>,
    /// A new connection for each request, as verl makes
    #[arg(long)]
    pub(super) new_connections: bool,
    /// Seconds to wait for an answer [default: 30]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub(super) patience: Option<f64>,
    /// Seed of the programs; repeating it lets caches answer [default: a new one each time]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// A file whose first line is the bearer token
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "it must be a number above 0".to_owned())
}

pub(super) fn run(args: &LoadArguments, json: bool) -> Result<(), Failure> {
    let plan = load_plan(args)?;
    let bar = progress::bar(plan.requests, "requests");
    let report = serve::run(&plan, &bar);
    bar.finish_and_clear();
    print(&report, json, || report.text())?;
    if report.all_right() {
        return Ok(());
    }
    let no_answer = "the service answered nothing: check that it runs, `--url`, and `--patience`";
    Err(Failure::message(ExitCode::Host, format!("not all answers were right: {}", report.failures()))
        .maybe_hint(report.is_silent().then_some(no_answer)))
}

fn load_plan(args: &LoadArguments) -> Result<LoadPlan, Failure> {
    let Some(mut target) = args.url.clone() else {
        return Err(Failure::message(ExitCode::Usage, "`--url` is missing").hint("name the service"));
    };
    target.token = args.token_file.as_deref().map(read_token).transpose()?;
    let protocol = args.protocol.unwrap_or(Protocol::SandboxFusion);
    let batch = match (protocol, args.batch) {
        (Protocol::Native, batch) => batch.map_or(BATCH, NonZeroUsize::get),
        (Protocol::SandboxFusion, None) => 1,
        (Protocol::SandboxFusion, Some(_)) => {
            let text = "`--batch` does not apply to `--protocol sandboxfusion`, whose requests have one program each";
            return Err(Failure::message(ExitCode::Usage, text).hint("omit it, or add `--protocol native`"));
        }
    };
    Ok(LoadPlan {
        target,
        protocol,
        requests: args.requests.map_or(REQUESTS, NonZeroU64::get),
        in_flight: args.in_flight.map_or(IN_FLIGHT, NonZeroUsize::get),
        rate: args.rate,
        batch,
        new_connections: args.new_connections,
        patience: Duration::from_secs_f64(args.patience.unwrap_or(PATIENCE)),
        seed: args.seed.unwrap_or_else(rand::random),
    })
}

/// The first token of a token file.
fn read_token(path: &Path) -> Result<String, Failure> {
    let text = read_text(path)?;
    let token = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let none = || Failure::message(ExitCode::Input, format!("`{}` holds no token", path.display()));
    token.map(str::to_owned).ok_or_else(none)
}
