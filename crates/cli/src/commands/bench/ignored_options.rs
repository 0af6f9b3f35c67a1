//! Which options each measurement of `bench` would ignore: they are refused.

use veriplay_console::exit::{ExitCode, Failure};

use super::{Arguments, Measured};

/// Rejects options that what is measured does not use.
pub(super) fn check_options_apply(args: &Arguments) -> Result<(), Failure> {
    let measured = Measured::by(args);
    match ignored_options(args, measured).into_iter().find(|(_, ignored)| *ignored) {
        None => Ok(()),
        Some((name, _)) => {
            let text = format!("`--{name}` does not apply to {}", measured.name());
            Err(Failure::message(ExitCode::Usage, text)
                .hint("omit it, or measure what it belongs to: see `bench --help`"))
        }
    }
}

/// Each option, and whether it is given and would be ignored.
fn ignored_options(args: &Arguments, measured: Measured) -> [(&'static str, bool); 29] {
    use Measured::{Cost, Jobs, Learner, Profile, Serve, Soak, Workload};
    let Arguments { load, output, workload, .. } = args;
    let (jobs, table) = (measured == Jobs, matches!(measured, Jobs | Workload));
    let (learner, serve, cost) = (measured == Learner, measured == Serve, measured == Cost);
    let profile = measured == Profile;
    let guests = table || matches!(measured, Soak(_));
    [
        ("peer", !args.peer.is_empty() && !jobs),
        ("tasks", workload.tasks.is_some() && measured != Workload),
        ("csv", output.csv.is_some() && !table),
        ("svg", output.svg.is_some() && !table),
        ("baseline", output.baseline.is_some() && !table),
        ("job", !args.job.is_empty() && !jobs && !cost && !profile),
        ("seconds", args.seconds.is_some() && !jobs && !profile),
        ("soak", args.soak.is_some() && !guests),
        ("profile", args.profile && !profile),
        ("threads", !args.threads.is_empty() && (cost || serve || profile)),
        ("workers", args.workers.is_some() && !guests),
        ("image", args.image.is_some() && !(guests || cost || profile)),
        ("rounds", args.rounds.is_some() && !(learner || cost || measured == Workload)),
        ("fuel", args.fuel.is_some() && !cost),
        ("program", !args.program.is_empty() && !cost),
        ("shape", !args.shape.is_empty() && !learner),
        ("python", args.python.is_some() && !learner),
        ("device", args.device.device.is_some() && !learner),
        ("precision", args.device.precision.is_some() && !learner),
        ("url", load.url.is_some() && !serve),
        ("protocol", load.protocol.is_some() && !serve),
        ("requests", load.requests.is_some() && !serve),
        ("in-flight", load.in_flight.is_some() && !serve),
        ("rate", load.rate.is_some() && !serve),
        ("batch", load.batch.is_some() && !serve),
        ("patience", load.patience.is_some() && !serve),
        ("seed", load.seed.is_some() && !serve),
        ("new-connections", load.new_connections && !serve),
        ("token-file", load.token_file.is_some() && !serve),
    ]
}
