//! `veriplay replay`: judges every logged rollout again, from its text, and compares the verdicts.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::SCHEMA_VERSION;
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_run::config::read_text;
use veriplay_run::game_setup::open_game;
use veriplay_run::judged_images;
use veriplay_run::play_config::PlayConfig;
use veriplay_run::rundir::RunDir;
use veriplay_run::warmup_examples::WarmupExamples;
use veriplay_selfplay::play::ReplayReport;
use veriplay_selfplay::replay::LogCheck;

use super::print;

/// Lines judged together.
const BLOCK: usize = 512;

/// Advice where a line of the log cannot be read.
const DAMAGED: &str =
    "the log is damaged, was cut off or is of another version; a run under way may be writing its last step";

/// Judge every logged rollout of a run again
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Isolation,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    schema_version: u32,
    /// Verdicts made again.
    verdicts: u64,
    /// Those that came out the same.
    same: u64,
    /// Those that came out differently.
    changed: u64,
    /// Those of them that have another status.
    other_status: u64,
    /// Logged as dropped: there is no verdict to compare.
    dropped: u64,
    /// Those of them that come to a verdict now.
    recovered: u64,
    /// Differ, and met the wall-clock backstop now: outside reproducibility.
    deadline: u64,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let path = RunDir::open(&args.run)?.path("config.toml");
    run_for_named_in(&read_text(&path)?, &path, &args)
}

impl GameAction for &Arguments {
    type Output = ();

    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let args = self;
        let dir = RunDir::open(&args.run)?;
        let log = dir.path("rollouts.jsonl.zst");
        if fs::metadata(&log).is_ok_and(|file| file.len() == 0) {
            let what = format!("`{}` has no step: there is nothing to judge again", args.run.display());
            return Err(Failure::message(ExitCode::Input, what).hint("`veriplay play --resume RUN` plays on"));
        }
        let config = PlayConfig::<S>::read(&dir.path("config.toml"))?;
        let (executor, game) = open_game(&config.setup, args.workers)?;
        judged_images::warn_of_others(&judged_images::read(&args.run)?, executor.images());
        let bar = progress::bar(dir.logged_steps()?, "replay");
        let mut report = Report { schema_version: SCHEMA_VERSION, ..Report::default() };
        let (mut check, mut block) = (LogCheck::default(), Vec::with_capacity(BLOCK));
        let damaged = |failure: Failure| failure.hint(DAMAGED);
        for (number, line) in lines(&log)?.enumerate() {
            let place = || format!("`{}` line {}", log.display(), number + 1);
            let line = line.with_context(|| format!("{} cannot be read", place()));
            let line = line.or_fail(ExitCode::Input).map_err(damaged)?;
            let record =
                serde_json::from_str(&line).with_context(|| format!("{} is not a record of rollouts", place()));
            let record = record.or_fail(ExitCode::Input).map_err(damaged)?;
            let checked = check.check(&record).with_context(|| format!("{} does not fit those before it", place()));
            checked.or_fail(ExitCode::Input).map_err(damaged)?;
            block.push(record);
            if block.len() == BLOCK {
                report.add(game.replay(&executor, &std::mem::take(&mut block))?);
                bar.set_position(check.step());
                bar.set_message(counted(report.verdicts, "verdict"));
            }
        }
        report.add(game.replay(&executor, &block)?);
        bar.finish_and_clear();
        finish(&report, args.json)
    }
}

impl Report {
    const fn add(&mut self, block: ReplayReport) {
        self.verdicts += block.verdicts;
        self.same += block.same;
        self.changed += block.verdicts - block.same;
        self.other_status += block.other_status;
        self.dropped += block.dropped;
        self.recovered += block.recovered;
        self.deadline += block.deadline;
    }
}

fn finish(report: &Report, json: bool) -> Result<(), Failure> {
    let Report { verdicts, same, changed, dropped, recovered, deadline, .. } = report;
    let verdicts = counted(verdicts, "verdict");
    print(report, json, || {
        format!(
            "{verdicts} made again: {same} the same, {changed} changed; {dropped} logged as dropped, of which \
             {recovered} have a verdict now; {deadline} at the deadline"
        )
    })?;
    match report.changed {
        0 => Ok(()),
        changed => Err(Failure::message(
            ExitCode::VerdictChanged,
            format!("{} came out differently, {} with another status", counted(changed, "verdict"), report.other_status),
        )
        .hint(
            "verdicts of one status differ in their evidence, such as fuel; was the run made with another image or another version of veriplay?",
        )),
    }
}

fn lines(path: &Path) -> Result<impl Iterator<Item = std::io::Result<String>>, Failure> {
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()));
    let decoder = zstd::Decoder::new(file.or_fail(ExitCode::Input)?).or_fail(ExitCode::Input)?;
    Ok(BufReader::new(decoder).lines())
}
