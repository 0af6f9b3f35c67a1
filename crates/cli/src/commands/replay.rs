//! `veriplay replay`: judges every logged rollout again, from its text, and compares the verdicts.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use anyhow::Context;
use clap::{ArgMatches, Args};
use serde::Serialize;
use veriplay_core::{Attempt, Dropped, SCHEMA_VERSION, Status, Task};
use veriplay_verifier::ProposalShape;

use super::{Spec, arguments};
use crate::config::{PlayConfig, read_toml};
use crate::executor::Referee;
use crate::exit::{ExitCode, Failure, OrFail};
use crate::play::{ProposerRecord, RecordLine, SolverRecordLine};
use crate::rundir::RunDir;
use crate::workers::Workers;
use crate::{judge, progress};

pub(super) const COMMAND: Spec = Spec::new::<Arguments>("replay", "Judge every logged rollout of a run again", run);

/// Lines judged together.
const BLOCK: usize = 512;

#[derive(Debug, Args)]
struct Arguments {
    /// The run directory
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Where guests run
    #[arg(long, value_enum, default_value = "thread")]
    workers: Workers,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What replay found.
#[derive(Debug, Default, Serialize)]
struct Report {
    schema_version: u32,
    /// Verdicts made again.
    verdicts: u64,
    /// Those that came out the same.
    same: u64,
    /// Those that came out differently.
    changed: u64,
    /// Logged as dropped: there was no verdict to make again.
    dropped: u64,
    /// Met the wall-clock backstop then or now: outside reproducibility.
    deadline: u64,
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let asked: Arguments = arguments(matches);
    let dir = RunDir::open(&asked.run)?;
    let config: PlayConfig = read_toml(&dir.path("config.toml"))?;
    let referee = Referee::open(asked.workers)?;
    let mut report = Report { schema_version: SCHEMA_VERSION, ..Report::default() };
    let mut block = Vec::with_capacity(BLOCK);
    for (number, line) in lines(&dir.path("rollouts.jsonl.zst"))?.enumerate() {
        let line = line.with_context(|| format!("line {} of the log", number + 1)).or_fail(ExitCode::Input)?;
        block.push(
            serde_json::from_str(&line)
                .with_context(|| format!("line {} of the log is damaged or of another version", number + 1))
                .or_fail(ExitCode::Input)?,
        );
        if block.len() == BLOCK {
            judge_again(&config, &referee, &std::mem::take(&mut block), &mut report)?;
        }
    }
    judge_again(&config, &referee, &block, &mut report)?;
    finish(&report, asked.json)
}

fn finish(report: &Report, json: bool) -> Result<(), Failure> {
    if json {
        progress::data(serde_json::to_string(report).or_fail(ExitCode::Bug)?);
    } else {
        let Report { verdicts, same, changed, dropped, deadline, .. } = report;
        progress::data(format!(
            "{verdicts} verdicts made again: {same} the same, {changed} changed; {dropped} logged as dropped, {deadline} at the deadline"
        ));
    }
    match report.changed {
        0 => Ok(()),
        changed => Err(Failure::message(ExitCode::VerdictChanged, format!("{changed} verdicts came out differently"))
            .hint("was the run made with another image or another version of Veriplay?")),
    }
}

fn lines(path: &std::path::Path) -> Result<impl Iterator<Item = std::io::Result<String>>, Failure> {
    let file =
        File::open(path).with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)?;
    let decoder = zstd::Decoder::new(file).or_fail(ExitCode::Input)?;
    Ok(BufReader::new(decoder).lines())
}

fn judge_again(
    config: &PlayConfig,
    referee: &Referee,
    block: &[RecordLine],
    report: &mut Report,
) -> Result<(), Failure> {
    for line in block {
        if let RecordLine::Proposer(record) = line {
            proposal_again(config, referee, record, report)?;
        }
    }
    let solver = block.iter().filter_map(|line| match line {
        RecordLine::Solver(record) => Some(record.as_ref()),
        RecordLine::Proposer(_) => None,
    });
    answers_again(config, referee, &solver.collect::<Vec<_>>(), report)
}

fn proposal_again(
    config: &PlayConfig,
    referee: &Referee,
    record: &ProposerRecord,
    report: &mut Report,
) -> Result<(), Failure> {
    let Ok(logged) = &record.judged else {
        report.dropped += 1;
        return Ok(());
    };
    let shape = ProposalShape {
        task_type: record.task_type,
        given: record.given.as_deref(),
        inputs: config.game.induction_inputs(),
    };
    let format = judge::format(&config.game);
    let attempt = judge::finished(record.written.finish, || format.extract_proposal(&shape, &record.written.text));
    let index = logged.task.as_ref().map_or(0, proposal_index);
    let again = judge::proposals(referee, &config.gate, &[attempt], &[record.known], record.step, index);
    for again in again {
        let again = again.map_err(host_fault)?;
        note(report, again == *logged, [again.verdict.status, logged.verdict.status]);
    }
    Ok(())
}

fn proposal_index(task: &Task) -> u64 {
    match task.provenance {
        veriplay_core::Provenance::Proposed { index, .. } => index,
        veriplay_core::Provenance::Seed => 0,
    }
}

fn answers_again(
    config: &PlayConfig,
    referee: &Referee,
    records: &[&SolverRecordLine],
    report: &mut Report,
) -> Result<(), Failure> {
    let format = judge::format(&config.game);
    let mut logged = Vec::new();
    let mut attempts: Vec<(&Task, Attempt)> = Vec::new();
    for record in records {
        for answer in &record.attempts {
            let Ok(verdict) = &answer.judged else {
                report.dropped += 1;
                continue;
            };
            let task_type = record.task.question.task_type();
            let attempt =
                judge::finished(answer.written.finish, || format.extract_answer(task_type, &answer.written.text));
            attempts.push((&record.task, attempt));
            logged.push(verdict);
        }
    }
    let asked: Vec<(&Task, &Attempt)> = attempts.iter().map(|(task, attempt)| (*task, attempt)).collect();
    for (again, logged) in judge::answers(referee, &asked).into_iter().zip(logged) {
        let again = again.map_err(host_fault)?;
        note(report, again == *logged, [again.status, logged.status]);
    }
    Ok(())
}

fn note(report: &mut Report, same: bool, statuses: [Status; 2]) {
    if !same && statuses.contains(&Status::DeadlineExceeded) {
        report.deadline += 1;
        return;
    }
    report.verdicts += 1;
    report.same += u64::from(same);
    report.changed += u64::from(!same);
}

fn host_fault(dropped: Dropped) -> Failure {
    Failure::message(ExitCode::Host, format!("a verdict could not be made again: {}", dropped.why))
        .hint("run `veriplay replay` again; nothing was changed")
}
