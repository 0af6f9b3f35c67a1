//! `veriplay watch`: runs as live pages in a browser on this machine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress;
use veriplay_report::watch::Watch;
use veriplay_server::{ServeError, Tokens, serve_pages};

/// Show runs in a browser while they grow: curves, rollouts, verdicts
///
/// The first line of stdout is the address. Only browsers on this machine are answered
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A run directory, or a directory of runs
    #[arg(value_name = "RUN|DIR")]
    path: PathBuf,
    /// Loopback address and port to listen on; port 0 is any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8090")]
    addr: SocketAddr,
    /// Where guests run that a button of the page starts
    #[arg(long, value_enum, default_value = "process")]
    workers: Isolation,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    // A secret that no other page can guess.
    let [first, second]: [u128; 2] = rand::random();
    let token = format!("{first:032x}{second:032x}");
    let tokens = Tokens::parse(&token).or_fail(ExitCode::Bug)?;
    let watch = Watch::open(&args.path, token, args.workers)?;
    let listening = |address: &_| {
        progress::data(address);
        progress::say("open this address in a browser on this machine; Ctrl-C stops");
    };
    serve_pages(args.addr, tokens, Arc::new(watch), listening).map_err(failure)
}

fn failure(error: ServeError<std::convert::Infallible>) -> Failure {
    let failure = Failure::message(ExitCode::Input, &error);
    match error {
        ServeError::Listen(_) => failure.hint("name another `--addr`, such as `127.0.0.1:0` for any free port"),
        ServeError::Judge(never) => match never {},
        ServeError::System(_) => failure,
    }
}
