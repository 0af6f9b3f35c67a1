//! `cargo xtask`: the command line of the development tasks.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use xtask::sabotage::{QUICK, Sabotage, read_all};
use xtask::{root, runner};

/// Development tasks of this repository
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Remove one defence of the sandbox's source at a time, and require that the isolation suite notices
    ///
    /// Each sabotage is a patch in tests/sabotage that names the probes that must escape once it is applied. The patches are
    /// applied to a copy of the tree under the target directory, never to the tree itself.
    Sabotage {
        /// Only these sabotages [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// List the sabotages and run none
        #[arg(long)]
        list: bool,
        /// Run one sabotage as a sample
        #[arg(long, conflicts_with = "names")]
        quick: bool,
    },
}

fn main() -> ExitCode {
    match run(Task::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task; whether it found nothing wrong.
fn run(task: Task) -> anyhow::Result<bool> {
    let Task::Sabotage { mut names, list, quick } = task;
    if quick {
        names = vec![QUICK.to_owned()];
    }
    let chosen = choose(read_all(&root())?, &names)?;
    let (text, all_noticed) = if list { (format_list(&chosen), true) } else { runner::run(&root(), &chosen)? };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(all_noticed)
}

/// The sabotages of these names, or all.
fn choose(all: Vec<Sabotage>, names: &[String]) -> anyhow::Result<Vec<Sabotage>> {
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|one| one.name == **name)) {
        anyhow::bail!("there is no sabotage `{unknown}`\nhint: `cargo xtask sabotage --list` lists them");
    }
    Ok(all.into_iter().filter(|one| names.is_empty() || names.contains(&one.name)).collect())
}

fn format_list(sabotages: &[Sabotage]) -> String {
    let line = |one: &Sabotage| format!("{:<22} {:>3} probes  {}\n", one.name, one.probes.len(), one.effect);
    sabotages.iter().map(line).collect()
}
