//! `cargo xtask scoreboard`: isolation, speed and correctness under load of every sandbox that this machine can have, in one run.
//!
//! Each peer is installed by its own script, measured in turns with Veriplay in threads (the reference), checked for what one program leaves
//! to the next and for limits, and attacked by `veriplay isolate`. The result of each peer is a file, so that a run that was stopped goes on
//! where it ended.

pub mod checks;
mod http;
pub mod measure;
mod output;
pub mod page;
pub mod peer;
pub mod results;
pub mod target;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Deserialize;

use peer::{Definition, Peer};
use results::{Counts, Isolation, Machine, Measurements, PeerOutcome, PeerResult, SCHEMA_VERSION, Scoreboard};
use target::Target;

/// The peer that all others are measured in turns with.
const REFERENCE: &str = "veriplay-threads";
/// Programs under way at once, in the measurement under load.
const IN_FLIGHT: usize = 64;

/// What to measure, and where to keep it.
#[derive(Debug, Args)]
pub struct ScoreboardArguments {
    /// Folder of the results, and of what the peers' set-ups install [default: scoreboard in the target directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only this peer [repeatable; default: all]
    #[arg(long, value_name = "NAME")]
    peer: Vec<String>,
    /// Measure again what has been measured
    #[arg(long)]
    again: bool,
    /// The program `veriplay` [default: release/veriplay in the target directory]
    #[arg(long, value_name = "PATH")]
    veriplay: Option<PathBuf>,
    /// A folder with copies of repositories that peers are cloned from, for machines that cannot reach their hosts
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// List the peers and measure none
    #[arg(long)]
    list: bool,
}

/// What all peers need.
pub struct Setting {
    /// The repository.
    pub root: PathBuf,
    /// Results and installations.
    pub out: PathBuf,
    /// The program that attacks, and is a peer itself.
    pub veriplay: PathBuf,
    /// The native interpreter.
    pub python: PathBuf,
    /// Copies of repositories.
    pub sources: Option<PathBuf>,
}

/// Runs it; `false` where a peer has no numbers.
///
/// # Errors
/// When the results cannot be kept, or the reference cannot be measured.
pub fn run(root: &Path, arguments: &ScoreboardArguments) -> anyhow::Result<bool> {
    let all = peer::read_all(root)?;
    if let Some(unknown) = arguments.peer.iter().find(|name| !all.iter().any(|(known, _)| known == *name)) {
        anyhow::bail!("there is no peer `{unknown}`\nhint: `cargo xtask scoreboard --list` lists them");
    }
    if arguments.list {
        let lines: String = all.iter().map(|(name, definition)| format!("{name:<20} {}\n", definition.title)).collect();
        std::io::stdout().write_all(lines.as_bytes())?;
        return Ok(true);
    }
    let setting = Setting::new(root, arguments)?;
    measure_all(&setting, &all, arguments)?;
    let scoreboard = setting.collect(&all)?;
    let text = serde_json::to_string_pretty(&scoreboard)? + "\n";
    setting.write("scoreboard.json", &text)?;
    setting.write("scoreboard.md", &page::markdown(&scoreboard))?;
    Ok(scoreboard.peers.iter().all(|peer| matches!(peer.outcome, PeerOutcome::Measured(_))))
}

fn measure_all(setting: &Setting, all: &[(String, Definition)], arguments: &ScoreboardArguments) -> anyhow::Result<()> {
    let chosen = |name: &String| arguments.peer.is_empty() || arguments.peer.contains(name);
    let is_due = |name: &String| arguments.again || setting.read_result(name).is_none();
    let due: Vec<_> = all.iter().filter(|(name, _)| chosen(name) && is_due(name)).collect();
    if due.is_empty() {
        return Ok(());
    }
    let (_, definition) = all.iter().find(|(name, _)| name == REFERENCE).context("the reference has no folder")?;
    let (reference, _) = Peer::install(REFERENCE, definition, setting)?;
    let reference = reference.open(setting).context("the reference does not start")?;
    for (name, definition) in due {
        say(&format!("== {name}"));
        let outcome = match measure_peer(name, definition, setting, &reference) {
            Ok(measurements) => PeerOutcome::Measured(Box::new(measurements)),
            Err(error) => PeerOutcome::Absent(format!("{error:#}")),
        };
        if let PeerOutcome::Absent(why) = &outcome {
            say(&format!("absent: {why}"));
        }
        let result = definition.result(name, outcome)?;
        setting.write(&format!("peers/{name}.json"), &(serde_json::to_string_pretty(&result)? + "\n"))?;
    }
    Ok(())
}

/// Everything about one peer. Its service is started anew for each part, so that one part's damage is not another's result.
fn measure_peer(
    name: &str,
    definition: &Definition,
    setting: &Setting,
    reference: &Target,
) -> anyhow::Result<Measurements> {
    let before = load_average();
    say("set-up");
    let (peer, install_seconds) = Peer::install(name, definition, setting)?;
    let version = peer.version(setting)?;
    let target = peer.open(setting)?;
    let start_seconds = target.start_seconds;
    say("speed");
    let sequential = measure::speed(&target, reference, 1)?;
    let two_in_flight = measure::speed(&target, reference, 2)?;
    say("under load");
    let in_flight = definition.most_at_once.unwrap_or(IN_FLIGHT).min(IN_FLIGHT);
    let under_load = measure::under_load(&target, in_flight, two_in_flight.programs_per_second)?;
    drop(target);
    say("memory, state and limits");
    let target = peer.open(setting)?;
    let fresh_state = checks::fresh_state(&target)?;
    let memory = measure::memory(&target, reference)?;
    drop(target);
    let target = peer.open(setting)?;
    let metering = checks::metering(&target)?;
    drop(target);
    say("isolation");
    let target = peer.open(setting)?;
    let isolation = isolate(&peer.isolate_target(&target, setting), definition, setting)?;
    drop(target);
    let own_suite = peer.own_suite(setting).map(|argv| own_suite(&argv)).transpose()?;
    let load = [before, load_average()];
    Ok(Measurements {
        version,
        load,
        install_seconds,
        start_seconds,
        sequential,
        two_in_flight,
        under_load,
        memory,
        fresh_state,
        metering,
        isolation,
        own_suite,
    })
}

/// What is read of `veriplay isolate --json`.
#[derive(Deserialize)]
struct IsolateReport {
    seconds: f64,
    #[serde(flatten)]
    all: Counts,
    classes: Vec<IsolateClass>,
    probes: Vec<IsolateProbe>,
}

#[derive(Deserialize)]
struct IsolateClass {
    class: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Deserialize)]
struct IsolateProbe {
    class: String,
    name: String,
    verdict: String,
}

/// The report of `veriplay isolate --json`.
///
/// # Errors
/// When it is not one.
pub fn read_isolation(json: &str, command: &str) -> anyhow::Result<Isolation> {
    let report: IsolateReport = serde_json::from_str(json).context("`veriplay isolate` printed no report")?;
    let classes: BTreeMap<String, Counts> = report.classes.into_iter().map(|one| (one.class, one.counts)).collect();
    let escaped = report.probes.iter().filter(|probe| probe.verdict == "escaped");
    let escapes = escaped.map(|probe| format!("{}/{}", probe.class, probe.name)).collect();
    Ok(Isolation { command: command.to_owned(), seconds: report.seconds, all: report.all, classes, escapes })
}

fn isolate(target: &str, definition: &Definition, setting: &Setting) -> anyhow::Result<Isolation> {
    let shown = match &definition.command {
        Some(_) => format!("veriplay isolate --json --target 'cmd:exec {}'", definition.command_line()),
        None => "veriplay isolate --json --target sandboxfusion:http://127.0.0.1:{port}".to_owned(),
    };
    let argv = [&setting.veriplay.display().to_string(), "isolate", "--json", "--target", target].map(str::to_owned);
    run_suite(&argv, &shown)
}

fn own_suite(argv: &[String]) -> anyhow::Result<Isolation> {
    let shown = format!("veriplay {}", argv[1..].join(" "));
    run_suite(argv, &shown)
}

fn run_suite(argv: &[String], shown: &str) -> anyhow::Result<Isolation> {
    let output = Command::new(&argv[0]).args(&argv[1..]).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run `{shown}`"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    // 8: a probe was not contained.
    let ran = output.status.success() || output.status.code() == Some(8);
    ensure!(ran, "`{shown}` failed: {}", errors.trim().lines().last().unwrap_or_default());
    read_isolation(&String::from_utf8_lossy(&output.stdout), shown)
}

impl Definition {
    fn result(&self, name: &str, outcome: PeerOutcome) -> anyhow::Result<PeerResult> {
        Ok(PeerResult {
            name: name.to_owned(),
            title: self.title.clone(),
            configured: self.configured.clone(),
            command: self.command_line(),
            claims: self.claims.clone(),
            meters: self.meters.clone(),
            claims_fresh_state: self.fresh_state,
            date: first_line("date", &["-u", "+%Y-%m-%d %H:%M"])?,
            outcome,
        })
    }
}

impl Setting {
    fn new(root: &Path, arguments: &ScoreboardArguments) -> anyhow::Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        let veriplay = arguments.veriplay.clone().unwrap_or_else(|| target.join("release/veriplay"));
        let veriplay = veriplay.canonicalize().with_context(|| {
            format!(
                "there is no program `{}`\nhint: `cargo build --release`, or name one by `--veriplay`",
                veriplay.display()
            )
        })?;
        let out = arguments.out.clone().unwrap_or_else(|| target.join("scoreboard"));
        fs::create_dir_all(out.join("peers")).with_context(|| format!("cannot make `{}`", out.display()))?;
        let sources =
            arguments.sources.as_ref().map(|dir| dir.canonicalize()).transpose().context("no such `--sources`")?;
        Ok(Self {
            root: root.to_owned(),
            out: out.canonicalize()?,
            veriplay,
            python: "/usr/bin/python3".into(),
            sources,
        })
    }

    fn read_result(&self, name: &str) -> Option<PeerResult> {
        let text = fs::read_to_string(self.out.join("peers").join(format!("{name}.json"))).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.out.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn collect(&self, all: &[(String, Definition)]) -> anyhow::Result<Scoreboard> {
        let peers = all.iter().filter_map(|(name, _)| self.read_result(name)).collect();
        Ok(Scoreboard { schema_version: SCHEMA_VERSION, machine: machine()?, peers })
    }
}

fn machine() -> anyhow::Result<Machine> {
    let read = |path: &str| fs::read_to_string(path).with_context(|| format!("cannot read `{path}`"));
    let cpuinfo = read("/proc/cpuinfo")?;
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let meminfo = read("/proc/meminfo")?;
    let kib =
        meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    Ok(Machine {
        processor: model.map_or("unknown", |(_, name)| name.trim()).to_owned(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: first_line("uname", &["-sr"])?,
        memory_mib: kib.unwrap_or_default() >> 10,
    })
}

fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
}

fn first_line(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).output().with_context(|| format!("cannot run `{program}`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_isolate_is_read_by_class() {
        let json = r#"{"schema_version":1,"target":"t","seconds":2.5,"contained":1,"escaped":1,"unclear":1,"allowed":0,
            "classes":[{"class":"cpu","tries":"x","severity":"medium","contained":1,"escaped":0,"unclear":1,"allowed":0},
                       {"class":"network","tries":"x","severity":"high","contained":0,"escaped":1,"unclear":0,"allowed":0}],
            "stopped":false,"forgeries":null,"probes":[{"class":"network","name":"loopback","title":"t","verdict":"escaped","evidence":"e","seconds":1.0}],
            "not_tried":[],"allow_list":[]}"#;
        let read = read_isolation(json, "the command").expect("it is a report");
        assert_eq!(read.all, Counts { contained: 1, escaped: 1, unclear: 1 });
        assert_eq!(read.classes["cpu"], Counts { contained: 1, escaped: 0, unclear: 1 });
        assert_eq!((read.escapes, read.command.as_str()), (vec!["network/loopback".to_owned()], "the command"));
        assert!(read_isolation("{}", "c").is_err());
    }
}
