//! Judging a logged rollout again, by the code of `veriplay replay`.
//!
//! The game is opened once a run, on a thread of its own, and waits there for the next rollout: opening it may take seconds. One rollout is
//! judged at a time, whoever asks.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::read_text;
use veriplay_core::{Digest, Execute, ExecuteError, Job, Outcome};
use veriplay_games::{GameAction, run_for_named_in};
use veriplay_run::play_config::PlayConfig;
use veriplay_run::warmup_examples::WarmupExamples;
use veriplay_selfplay::play::ReplayReport;
use veriplay_selfplay::records::Record;

use crate::records::ResponseId;

pub(crate) struct Reruns {
    isolation: Isolation,
    /// The run whose game is open. Held while a rollout is judged.
    open: Mutex<Option<OpenRun>>,
}

/// A game that waits for rollouts, on its thread. Dropping this ends the thread.
struct OpenRun {
    folder: PathBuf,
    /// The configuration that it was opened with: the run may have been replaced since.
    config: String,
    orders: SyncSender<Order>,
}

struct Order {
    id: ResponseId,
    line: String,
    report: SyncSender<Result<Judged, Failure>>,
}

/// What came of an order.
pub(crate) enum Rerun {
    /// Another one is being judged.
    Busy,
    Failed(Failure),
    Judged(Judged),
}

pub(crate) struct Judged {
    pub report: ReplayReport,
    pub recorded: Recorded,
}

impl Reruns {
    pub(crate) const fn new(isolation: Isolation) -> Self {
        Self { isolation, open: Mutex::new(None) }
    }

    /// Judges the rollout `id` of the run in `folder` again; `line` is its line in the log.
    pub(crate) fn run(&self, folder: &Path, id: ResponseId, line: String) -> Rerun {
        let Ok(mut open) = self.open.try_lock() else { return Rerun::Busy };
        match self.order(&mut open, folder, id, line) {
            Ok(judged) => Rerun::Judged(judged),
            Err(failure) => {
                // The game may be what failed: the next order opens it anew.
                *open = None;
                Rerun::Failed(failure)
            }
        }
    }

    fn order(
        &self,
        open: &mut Option<OpenRun>,
        folder: &Path,
        id: ResponseId,
        line: String,
    ) -> Result<Judged, Failure> {
        let config = read_text(&folder.join("config.toml"))?;
        if open.as_ref().is_none_or(|run| run.folder != folder || run.config != config) {
            // The old game goes first: two may be more than the memory holds.
            *open = None;
            *open = Some(self.start(folder, config)?);
        }
        let (report, judged) = sync_channel(1);
        let ended = || Failure::message(ExitCode::Bug, "the thread that judges rollouts ended");
        let run = open.as_ref().ok_or_else(ended)?;
        run.orders.send(Order { id, line, report }).map_err(|_| ended())?;
        judged.recv().map_err(|_| ended())?
    }

    fn start(&self, folder: &Path, config: String) -> Result<OpenRun, Failure> {
        let (orders, waiting) = sync_channel(0);
        let (path, text, isolation) = (folder.join("config.toml"), config.clone(), self.isolation);
        let work = move || {
            let served = run_for_named_in(&text, &path, Server { path: &path, isolation, orders: &waiting });
            // The game could not be opened, and an order waits for it.
            if let (Err(failure), Ok(order)) = (served, waiting.recv()) {
                let _ = order.report.send(Err(failure));
            }
        };
        thread::Builder::new().name("rerun".to_owned()).spawn(work).or_fail(ExitCode::Host)?;
        Ok(OpenRun { folder: folder.to_owned(), config, orders })
    }
}

/// The life of the thread of one game.
struct Server<'a> {
    path: &'a Path,
    isolation: Isolation,
    orders: &'a Receiver<Order>,
}

impl GameAction for Server<'_> {
    type Output = ();

    fn run<S: WarmupExamples>(self) -> Result<(), Failure> {
        let config = PlayConfig::<S>::read(self.path)?;
        let (executor, game) = config.setup.open(self.isolation)?;
        for order in self.orders {
            let judge = || {
                let record: Record<S::Game> = read_record(order.id, &order.line)?;
                let recorder = Recorder::new(&executor);
                let report = game.replay(&recorder, &[record])?;
                Ok(Judged { report, recorded: recorder.finish() })
            };
            // A browser that went away wants no answer.
            let _ = order.report.send(judge());
        }
        Ok(())
    }
}

fn read_record<R: serde::de::DeserializeOwned>(id: ResponseId, line: &str) -> Result<R, Failure> {
    let record = serde_json::from_str(&only_response(id, line)?);
    record.context("the log's record is damaged or of another version").or_fail(ExitCode::Input)
}

/// The line with the one attempt that was asked for. Where attempts are judged together, by a round of `sol_ver`, all stay.
fn only_response(id: ResponseId, line: &str) -> Result<String, Failure> {
    let mut value: serde_json::Value = serde_json::from_str(line).or_fail(ExitCode::Input)?;
    let Some(task) = value.get_mut("task") else { return Ok(line.to_owned()) };
    let apart = task["round"].is_null() && task["verifications"].as_array().is_none_or(Vec::is_empty);
    match task["attempts"].as_array_mut() {
        Some(attempts) if apart && id.place < attempts.len() => {
            attempts.swap(0, id.place);
            attempts.truncate(1);
            Ok(value.to_string())
        }
        _ => Ok(line.to_owned()),
    }
}

/// Jobs that are remembered: as many as a page shows.
const MOST: usize = 50;

/// Runs jobs, and remembers the first different ones with their outcomes.
struct Recorder<'a> {
    inner: &'a dyn Execute,
    record: Mutex<RanJobs>,
}

#[derive(Default)]
struct RanJobs {
    seen: HashSet<Digest>,
    ran: Vec<(Job, Outcome)>,
}

pub(crate) struct Recorded {
    /// The first jobs.
    pub jobs: Vec<(Job, Outcome)>,
    /// How many more there were.
    pub left_out: usize,
}

impl<'a> Recorder<'a> {
    fn new(inner: &'a dyn Execute) -> Self {
        Self { inner, record: Mutex::default() }
    }

    fn finish(self) -> Recorded {
        // A list is whole between any two pushes.
        let RanJobs { seen, ran } = self.record.into_inner().unwrap_or_else(PoisonError::into_inner);
        Recorded { left_out: seen.len() - ran.len(), jobs: ran }
    }
}

impl Execute for Recorder<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let outcome = self.inner.execute(job)?;
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.seen.insert(job.digest()) && record.ran.len() < MOST {
            record.ran.push((job.clone(), outcome.clone()));
        }
        Ok(outcome)
    }
}
