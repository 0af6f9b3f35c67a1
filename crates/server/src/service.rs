//! The state of the service, and the one way from a request to a judge thread.
//!
//! Invariants: nothing blocks a thread of the runtime; a request that ends, for whatever reason, takes its work with it, and what it runs
//! is cancelled without a result; an attempt whose sandbox failed is judged again, and without a verdict then it is a [`Fault`], never a wrong
//! answer.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use veriplay_core::{
    AttemptText, CancellationToken, ExecuteError, Job, Language, NoVerdict, Outcome, RowStatus, exit_word,
};
use veriplay_eval::JudgedAttempt;
use veriplay_verifier::languages::{is_python, languages};

use crate::body_room::BodyRoom;
use crate::client::{ClientKey, Tokens};
use crate::judge::{Judge, OpenTask};
use crate::metrics::Metrics;
use crate::phase::{Life, Phase};
use crate::queue::{Admission, FirstSlices, Piece, Progress, Queue, QueueFull, Ticket, Turn, Unfinished};
use crate::rows::{Fault, FaultKind};

/// How often an attempt is judged again after a fault of the host.
const RETRIES: u32 = 2;

/// How often the end of a service looks whether jobs still run.
const LOOK: Duration = Duration::from_millis(10);

/// Results that come together where a request answers with all of them.
pub(crate) const TOGETHER: usize = 64;

/// What an operator chooses.
#[derive(Clone)]
pub struct Settings {
    /// Judge threads: attempts under way at once.
    pub workers: usize,
    /// When new work runs beside workers that are all at long work.
    pub slices: FirstSlices,
    /// Attempts that may wait.
    pub queue: usize,
    /// The most bytes of a body.
    pub body_bytes: u64,
    /// The most bytes of all bodies whose requests are under way.
    pub all_body_bytes: u64,
    /// The time in which a body must arrive.
    pub body_patience: Duration,
    /// The time in which the head of a request must arrive; an idle connection is closed after it.
    pub head_patience: Duration,
    /// The time in which a client must read a part of its answer.
    pub write_patience: Duration,
    /// Connections at once.
    pub connections: usize,
    /// Wasm fuel that one core burns in a second while a client of SandboxFusion waits.
    pub fuel_per_second: u64,
    /// The longest time limit that a client may ask for, in seconds.
    pub most_seconds: f64,
    /// The most memory that a client may ask for.
    pub most_memory_bytes: u64,
    /// The most bytes of stdout, of stderr, of values and of fetched files that a client gets.
    pub most_output_bytes: u64,
    /// Tokens, one of which every request must have; `None` asks for none.
    pub tokens: Option<Tokens>,
    /// The time for what is under way when the service is told to stop.
    pub drain: Duration,
    /// The time without a request after which the service stops by itself; `None` never.
    pub idle: Option<Duration>,
    /// The languages of programs that `/run_code` and `/submit` take. The first is Python, which the judge's image is for.
    pub languages: Vec<&'static dyn Language>,
}

impl Settings {
    /// The names of its languages, as requests spell them.
    pub(crate) fn language_names(&self) -> Vec<&'static str> {
        self.languages.iter().flat_map(|language| language.names()).copied().collect()
    }

    /// The language that a request calls by this name, if it is served.
    pub(crate) fn language(&self, name: &str) -> Option<&'static dyn Language> {
        self.languages.iter().copied().find(|language| language.names().contains(&name))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: 1,
            slices: FirstSlices::none(),
            queue: 1 << 18,
            body_bytes: 64 << 20,
            all_body_bytes: 1 << 30,
            body_patience: Duration::from_secs(60),
            head_patience: Duration::from_secs(30),
            write_patience: Duration::from_secs(60),
            connections: 4096,
            fuel_per_second: 10_000_000_000,
            most_seconds: 300.0,
            most_memory_bytes: 1 << 30,
            most_output_bytes: 4 << 20,
            tokens: None,
            drain: Duration::from_secs(25),
            idle: None,
            languages: languages().filter(|language| is_python(*language)).collect(),
        }
    }
}

pub(crate) struct AttemptWork {
    pub(crate) task: Arc<dyn OpenTask>,
    pub(crate) attempt_id: String,
    pub(crate) text: AttemptText,
}

pub(crate) struct Service {
    pub(crate) settings: Settings,
    pub(crate) life: Life,
    pub(crate) metrics: Metrics,
    pub(crate) started: Instant,
    pub(crate) bodies: Arc<BodyRoom>,
    requests: AtomicU64,
    /// Ids of requests differ between services.
    name: blake3::Hash,
    queue: Queue,
    judge: OnceLock<Arc<dyn Judge>>,
}

impl Service {
    pub(crate) fn new(settings: Settings) -> Arc<Self> {
        let queue = Queue::new(settings.queue, settings.slices);
        let bodies = BodyRoom::new(settings.all_body_bytes, settings.body_bytes);
        Arc::new(Self {
            settings,
            life: Life::new(),
            metrics: Metrics::new(),
            started: Instant::now(),
            bodies,
            requests: AtomicU64::new(0),
            name: name_service(),
            queue,
            judge: OnceLock::new(),
        })
    }

    /// Starts judging.
    pub(crate) fn start(&self, judge: Arc<dyn Judge>) -> std::io::Result<()> {
        self.queue.start_threads(self.settings.workers.max(1))?;
        // A second judge would be a bug; the first one stays.
        let _ = self.judge.set(judge);
        self.life.advance(Phase::Serving);
        Ok(())
    }

    /// The id of a request that brought none.
    pub(crate) fn new_request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number:x}", &self.name.to_hex()[..12])
    }

    /// Ends judging: what waits is dropped, and requests that are open end, which cancels what they run.
    pub(crate) fn stop(&self) {
        self.life.advance(Phase::Stopped);
        self.queue.close();
    }

    /// Waits until no judge thread runs a job. After [`Self::stop`] none begins another.
    pub(crate) async fn until_nothing_runs(&self) {
        while self.queue.load().running > 0 {
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(crate) fn judge(&self) -> Option<&Arc<dyn Judge>> {
        self.judge.get()
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn render_metrics(&self, connections: usize) -> String {
        self.metrics.render(self.queue.load(), self.settings.workers, connections)
    }

    /// Waits for `work` until the deadline, or until the service stops.
    pub(crate) async fn until<T>(
        &self,
        deadline: Option<Instant>,
        work: impl Future<Output = T>,
    ) -> Result<T, Unfinished> {
        let passed = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.life.reached(Phase::Stopped) => Err(Unfinished::Stopped),
            () = passed => Err(Unfinished::Deadline),
        }
    }

    /// Runs `work` on a judge thread and waits for it. Dropping the future cancels it, and so does the deadline. What is cancelled before its end has
    /// no result, and may be asked again.
    pub(crate) async fn run_one<T: Send + 'static>(
        self: &Arc<Self>,
        client: ClientKey,
        admission: Admission,
        deadline: Option<Instant>,
        work: impl Fn(&Service, &CancellationToken) -> Option<T> + Send + 'static,
    ) -> Result<T, Unfinished> {
        let (report, result) = oneshot::channel();
        let cancellation = CancellationToken::new();
        let mut report = Some(report);
        let piece = self.piece(&cancellation, deadline, move |service, token| {
            let Some(found) = work(service, token) else { return Progress::Outgrown };
            // Who has hung up wants no result.
            report.take().and_then(|report| report.send(found).err());
            Progress::Done
        });
        let ticket = self.queue.submit(client, VecDeque::from([piece]), admission).map_err(Unfinished::Full)?;
        let ticket = ticket.with_token(cancellation);
        let result = self.until(deadline, result).await?;
        drop(ticket);
        result.map_err(|_| self.why_lost(deadline))
    }

    /// A piece of work that measures its wait, and does nothing once the deadline has passed or its request is cancelled.
    fn piece(
        self: &Arc<Self>,
        request: &CancellationToken,
        deadline: Option<Instant>,
        mut work: impl FnMut(&Service, &CancellationToken) -> Progress + Send + 'static,
    ) -> Piece {
        let (service, request, span) = (Arc::clone(self), request.clone(), tracing::Span::current());
        let (mut queued, runtime) = (Some(Instant::now()), Handle::current());
        Box::new(move |turn| {
            let (now, _entered) = (Instant::now(), span.enter());
            if let Some(queued) = queued.take() {
                service.metrics.count_wait(now - queued);
            }
            if request.is_cancelled() || deadline.is_some_and(|deadline| now >= deadline) {
                return Progress::Done;
            }
            let progress = match turn {
                Turn::Whole => work(&service, &request),
                Turn::Slice(length) => {
                    let slice = request.child();
                    let ends = slice.clone();
                    let clock = runtime.spawn(async move {
                        tokio::time::sleep(length).await;
                        ends.cancel();
                    });
                    let progress = work(&service, &slice);
                    clock.abort();
                    progress
                }
            };
            if progress == Progress::Outgrown && request.is_cancelled() {
                service.queue.count_cancelled();
                return Progress::Done;
            }
            progress
        })
    }

    fn why_lost(&self, deadline: Option<Instant>) -> Unfinished {
        match deadline {
            _ if self.life.phase() == Phase::Stopped => Unfinished::Stopped,
            Some(deadline) if Instant::now() >= deadline => Unfinished::Deadline,
            _ => Unfinished::Lost,
        }
    }

    /// Runs a job on this thread, which must be a judge thread. A host that fails is asked again.
    ///
    /// # Errors
    /// An invalid job, the fault of the last try, or the job was cancelled.
    pub(crate) fn run_job(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        let Some(judge) = self.judge() else { return Err(ExecuteError::Host("there is no judge yet".to_owned())) };
        let started = Instant::now();
        let mut ran = judge.run(job, cancellation);
        for _ in 0..RETRIES {
            if !matches!(ran, Err(ExecuteError::Host(_))) {
                break;
            }
            ran = judge.run(job, cancellation);
        }
        match &ran {
            Ok(outcome) => self.metrics.count_job(exit_word(outcome), outcome.fuel, started.elapsed()),
            Err(ExecuteError::Host(why)) => {
                tracing::warn!(why, "a job has no outcome");
                self.metrics.count_fault(FaultKind::Host.word());
            }
            Err(ExecuteError::Cancelled | ExecuteError::BadJob(_) | ExecuteError::UnknownImage(_)) => {}
        }
        ran
    }

    /// Judges an attempt on this thread, which must be a judge thread. A host that fails is asked again, and the fault of the last try is the
    /// result. An attempt that was cancelled has none.
    fn judge_attempt(
        &self,
        work: &AttemptWork,
        cancellation: &CancellationToken,
    ) -> Option<Result<JudgedAttempt, Fault>> {
        let started = Instant::now();
        let mut retried = 0;
        loop {
            let judged = work.task.judge(&work.attempt_id, &work.text, cancellation);
            match judged.row.status {
                RowStatus::Judged(status) => {
                    self.metrics.count_job(&status.to_string(), judged.row.fuel, started.elapsed());
                    if judged.cached {
                        self.metrics.count_cache_hit();
                    }
                    return Some(Ok(judged));
                }
                RowStatus::Dropped(NoVerdict::Dropped) if cancellation.is_cancelled() => return None,
                RowStatus::Dropped(NoVerdict::Dropped) if retried < RETRIES => retried += 1,
                RowStatus::Dropped(NoVerdict::Dropped) => {
                    let why = judged.row.evidence.detail;
                    tracing::warn!(why, retried, "an attempt has no verdict");
                    return Some(Err(self.count(Fault::host(retried))));
                }
            }
        }
    }

    pub(crate) fn count(&self, fault: Fault) -> Fault {
        self.metrics.count_fault(fault.kind.word());
        fault
    }

    /// Puts attempts into the queue, which come back in any order, up to `batch` of them together.
    pub(crate) fn submit_attempts(
        self: &Arc<Self>,
        client: ClientKey,
        admission: Admission,
        deadline: Option<Instant>,
        attempts: Vec<AttemptWork>,
        batch: usize,
    ) -> Result<JudgedStream, QueueFull> {
        let (send, results) = mpsc::unbounded_channel();
        let left = attempts.len();
        let reports = Arc::new(Reports { batch, waiting: Mutex::default(), send });
        let cancellation = CancellationToken::new();
        let pieces = attempts.into_iter().enumerate().map(|(index, attempt)| {
            let reports = Arc::clone(&reports);
            self.piece(&cancellation, deadline, move |service, token| {
                let Some(result) = service.judge_attempt(&attempt, token) else { return Progress::Outgrown };
                reports.add((index, result));
                Progress::Done
            })
        });
        let ticket = self.queue.submit(client, pieces.collect(), admission)?.with_token(cancellation);
        Ok(JudgedStream {
            service: Arc::clone(self),
            ticket,
            reports: Arc::downgrade(&reports),
            results,
            ready: VecDeque::new(),
            deadline,
            reported: vec![false; left],
            first_open: 0,
        })
    }
}

/// What a job that was not cancelled came to.
pub(crate) fn finished(ran: Result<Outcome, ExecuteError>) -> Option<Result<Outcome, ExecuteError>> {
    (!matches!(ran, Err(ExecuteError::Cancelled))).then_some(ran)
}

pub(crate) type Indexed = (usize, Result<JudgedAttempt, Fault>);

/// The way of results to their request. Each piece of the request holds it: with the last piece, what is left is sent.
struct Reports {
    /// Results that are sent together. Waking the request takes about a tenth of the time of a short attempt.
    batch: usize,
    waiting: Mutex<Vec<Indexed>>,
    send: mpsc::UnboundedSender<Vec<Indexed>>,
}

impl Reports {
    fn add(&self, result: Indexed) {
        // A request may end at its first fault.
        let is_urgent = result.1.is_err();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(result);
        if is_urgent || waiting.len() >= self.batch {
            self.send(std::mem::take(&mut waiting));
        }
    }

    fn flush(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.send(waiting);
    }

    fn send(&self, results: Vec<Indexed>) {
        // A request that has ended wants none.
        let _ = self.send.send(results);
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Attempts under way. Dropping it cancels them.
pub(crate) struct JudgedStream {
    service: Arc<Service>,
    ticket: Ticket,
    /// Held by the pieces alone, so that the channel is closed after the last one.
    reports: Weak<Reports>,
    results: mpsc::UnboundedReceiver<Vec<Indexed>>,
    /// Results that came together with one that has been given out.
    ready: VecDeque<Indexed>,
    deadline: Option<Instant>,
    /// Whether each attempt's result has been given out.
    reported: Vec<bool>,
    /// All before it have been.
    first_open: usize,
}

impl JudgedStream {
    /// The next result, with the index of its attempt; `None` after the last one. Every attempt has exactly one: what the deadline or the end
    /// of the service leaves unfinished is a fault.
    pub(crate) async fn next(&mut self) -> Option<Indexed> {
        loop {
            while *self.reported.get(self.first_open)? {
                self.first_open += 1;
            }
            let (index, result) = match self.ready.pop_front() {
                Some(result) => result,
                None => match self.wait().await {
                    Ok(()) => continue,
                    Err(unfinished) => (self.first_open, Err(self.fault(unfinished))),
                },
            };
            // One that was under way at the deadline may still come.
            if !std::mem::replace(&mut self.reported[index], true) {
                return Some((index, result));
            }
        }
    }

    async fn wait(&mut self) -> Result<(), Unfinished> {
        let waited = self.service.until(self.deadline, self.results.recv()).await;
        let unfinished = match waited {
            Ok(Some(results)) => {
                self.ready.extend(results);
                return Ok(());
            }
            Ok(None) => self.service.why_lost(self.deadline),
            Err(unfinished) => unfinished,
        };
        // What was judged in time counts.
        if let Some(reports) = self.reports.upgrade() {
            reports.flush();
        }
        while let Ok(results) = self.results.try_recv() {
            self.ready.extend(results);
        }
        if self.ready.is_empty() { Err(unfinished) } else { Ok(()) }
    }

    /// What is unfinished now stays so.
    fn fault(&mut self, unfinished: Unfinished) -> Fault {
        // A deadline in the past makes every further call end at once.
        self.deadline = Some(self.deadline.unwrap_or_else(Instant::now));
        self.ticket.cancel();
        self.service.count(Fault::unfinished(unfinished))
    }
}

/// A name that another service, or this one started again, does not have.
fn name_service() -> blake3::Hash {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    blake3::hash(format!("{} {}", std::process::id(), since.as_nanos()).as_bytes())
}
