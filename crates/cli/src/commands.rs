//! The commands. Adding one is a file here and a line in [`COMMANDS`].

mod bench;
mod corpus;
pub(crate) mod eval;
mod generate;
mod image;
mod isolate;
pub(crate) mod play;
pub(crate) mod replay;
mod run;
mod verify;
pub(crate) mod warmup;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::exit::Failure;

/// All commands, in the order of `--help`.
const COMMANDS: &[Spec] = &[
    play::COMMAND,
    eval::COMMAND,
    generate::COMMAND,
    verify::COMMAND,
    run::COMMAND,
    replay::COMMAND,
    isolate::COMMAND,
    bench::COMMAND,
    corpus::COMMAND,
    image::COMMAND,
    warmup::COMMAND,
];

/// One command: its name, its arguments, and what it does.
pub(crate) struct Spec {
    name: &'static str,
    about: &'static str,
    arguments: fn(Command) -> Command,
    run: fn(&ArgMatches) -> Result<(), Failure>,
}

impl Spec {
    const fn new<A: Args>(
        name: &'static str,
        about: &'static str,
        run: fn(&ArgMatches) -> Result<(), Failure>,
    ) -> Self {
        Self { name, about, arguments: A::augment_args, run }
    }
}

/// The whole command line.
pub(crate) fn command_line() -> Command {
    let root = Command::new("veriplay")
        .about("Self-play for code with verifiable rewards")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true);
    // What is said of a command comes last: to clap the docs of its arguments' struct say it too.
    let command = |spec: &Spec| (spec.arguments)(Command::new(spec.name)).about(spec.about).long_about(None);
    COMMANDS.iter().fold(root, |root, spec| root.subcommand(command(spec)))
}

/// Runs what was asked for.
pub(crate) fn dispatch(matches: &ArgMatches) -> Result<(), Failure> {
    let (name, arguments) = matches.subcommand().expect("clap requires a subcommand");
    let spec = COMMANDS.iter().find(|spec| spec.name == name).expect("clap knows only our commands");
    (spec.run)(arguments)
}

/// Reads a command's arguments. Clap has checked them already; what is left can only be a bug.
fn arguments<A: FromArgMatches>(matches: &ArgMatches) -> A {
    A::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
}
