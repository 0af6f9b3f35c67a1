//! `cargo xtask`: the command line of the development tasks.

use std::io::Write;
use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::Parser;
use xtask::sabotage::{QUICK, Sabotage, read_all};
use xtask::{root, runner};

/// Development tasks of this repository
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// The fast lane after a change: format, `cargo check`, and the unit tests, which need no image and no network
    Check,
    /// Remove one defence of the sandbox's source at a time, and require that the isolation suite notices
    ///
    /// Each sabotage is a patch in tests/sabotage that names the probes that must escape once it is applied, and tests that must fail.
    /// The patches are applied to a copy of the tree under the target directory, never to the tree itself.
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
    match task {
        Task::Check => check(),
        Task::Sabotage { names, list, quick } => sabotage(names, list, quick),
    }
}

/// Runs the steps, up to the first that fails. Each is of the whole workspace: for one package cargo would choose other features of
/// its dependencies, and build those anew.
fn check() -> anyhow::Result<bool> {
    const STEPS: [&[&str]; 3] = [
        &["fmt", "--all", "--check"],
        &["check", "--workspace", "--all-targets", "--locked", "--quiet"],
        &["test", "--workspace", "--lib", "--bins", "--locked", "--quiet"],
    ];
    for step in STEPS {
        writeln!(std::io::stderr(), "== cargo {}", step.join(" "))?;
        // The cargo that runs this task, so that the pinned toolchain is used.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo).args(step).current_dir(root()).status();
        if !status.with_context(|| format!("cannot run `cargo {}`", step.join(" ")))?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sabotage(mut names: Vec<String>, list: bool, quick: bool) -> anyhow::Result<bool> {
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
    sabotages.iter().map(format_sabotage).collect()
}

fn format_sabotage(sabotage: &Sabotage) -> String {
    let Sabotage { name, effect, probes, tests, .. } = sabotage;
    format!("{name:<22} {:>3} probes {:>3} tests  {effect}\n", probes.len(), tests.len())
}
