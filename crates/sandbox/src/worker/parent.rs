//! The parent's side of a worker process.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use veriplay_core::{Entry, Exit, Job, Limits, Outcome};

use super::{Hello, Origin, Reply, frames};
use crate::image::Image;
use crate::pool::{RunError, Runner};

/// Bytes of an answer beside the output a job may have.
const ANSWER_ROOM: u64 = 1 << 20;
/// Bytes of JSON for a byte of output, of which there are at most six caps: two streams and values, of job and callee.
const ANSWER_FACTOR: u64 = 6 * 4;
/// How long a worker may take to load its image.
const START: Duration = Duration::from_secs(120);
/// How much longer than a job's own deadline its answer may take: a worker that hangs is killed.
const GRACE: Duration = Duration::from_secs(10);

/// How a worker process is started: as `program arguments…`, which must call [`crate::serve`] first thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable.
    pub program: PathBuf,
    /// What tells it that it is a worker.
    pub arguments: Vec<OsString>,
    /// The cache that holds the image, as [`crate::ImageStore::open`] takes it.
    pub cache_dir: PathBuf,
}

/// Runs each job in a worker process.
pub(crate) struct Processes {
    program: WorkerProgram,
    hello: Hello,
    /// Of an image that is [warmed](Origin::Warmed); keeps its memory alive.
    warmed: Option<Arc<Image>>,
}

impl Processes {
    pub(crate) fn new(program: WorkerProgram, image: &Arc<Image>, reset: crate::ResetMode) -> Self {
        let from = match (image.text(), image.warmed_of()) {
            (Some(text), _) => Origin::Module(text.to_owned()),
            (None, Some(of)) => Origin::Warmed { of: of.clone(), state: image.state().clone() },
            (None, None) => Origin::Cache,
        };
        let hello = Hello {
            cache_dir: program.cache_dir.clone(),
            image: image.name_and_digest(),
            from,
            reset: reset.into(),
            layers: Vec::new(),
        };
        let warmed = image.warmed_of().map(|_| Arc::clone(image));
        Self { program, hello, warmed }
    }

    /// What workers that are started from now on have.
    pub(crate) fn set_layers(&mut self, layers: &crate::Layers) {
        self.hello.layers = layers.all();
    }

    /// Starts a worker that has loaded its image and locked itself down.
    ///
    /// # Errors
    /// When it cannot be started, or says why it cannot work.
    pub(crate) fn start(&self) -> Result<Process, RunError> {
        let what = self.program.program.display();
        let memory = self.warmed.as_ref().map(|image| image.baseline().file());
        let mut process = Process::spawn(&self.program, memory)
            .map_err(|error| RunError::Fault(format!("cannot start the worker `{what}`: {error}")))?;
        match process.ask(&self.hello, ANSWER_ROOM, Some(START))? {
            Reply::Ready => Ok(process),
            Reply::Fault(why) => Err(RunError::Fault(format!("the worker `{what}` cannot work: {why}"))),
            Reply::Outcome(_) => Err(RunError::Fault("the worker answered a job that it was not given".to_owned())),
        }
    }
}

impl Runner for Processes {
    type Slot = Option<Process>;

    fn run(&self, slot: &mut Option<Process>, job: &Job) -> Result<Outcome, RunError> {
        let mut process = slot.take().map_or_else(|| self.start(), Ok)?;
        let limits = &job.limits;
        let max_bytes = limits.output_bytes.saturating_mul(ANSWER_FACTOR).saturating_add(ANSWER_ROOM);
        let patience = Duration::from_nanos(limits.deadline_ns).checked_mul(1 + u32::from(job.callee.is_some()));
        let patience = patience.and_then(|patience| patience.checked_add(GRACE));
        match process.ask(job, max_bytes, patience)? {
            Reply::Outcome(outcome) if is_possible(&outcome, job) => {
                *slot = Some(process);
                Ok(*outcome)
            }
            // Its own fault, in its own words: it goes, as an instance would.
            Reply::Fault(why) => Err(RunError::Fault(why)),
            Reply::Outcome(_) | Reply::Ready => {
                Err(RunError::Fault("a worker process answered what no job can come to".to_owned()))
            }
        }
    }
}

/// Whether `job` could have ended so: a worker that was taken over could say anything.
pub(super) fn is_possible(outcome: &Outcome, job: &Job) -> bool {
    let calls = match &job.entry {
        Entry::Script => 0,
        Entry::Calls { arguments, .. } => arguments.len(),
    };
    let complete = outcome.exit != Exit::Returned || outcome.calls.len() == calls;
    let callee = match (&outcome.callee, &job.callee) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(callee), Some(_)) => callee.callee.is_none() && within(callee, &job.limits),
    };
    outcome.calls.len() <= calls && complete && callee && within(outcome, &job.limits)
}

fn within(outcome: &Outcome, limits: &Limits) -> bool {
    let capped = |bytes: &[u8]| bytes.len() as u64 <= limits.output_bytes;
    let named = match (&outcome.exit, &outcome.error) {
        (Exit::Raised | Exit::CompileError | Exit::MissingEntry | Exit::Trapped, error) => error.is_some(),
        (Exit::Returned | Exit::Exceeded { .. }, error) => error.is_none(),
    };
    named && outcome.fuel <= limits.fuel && capped(&outcome.stdout) && capped(&outcome.stderr)
}

/// A running worker. It is killed when this is dropped: an idle one has nothing to lose.
pub(crate) struct Process {
    child: Child,
    pipe: UnixStream,
}

impl Process {
    /// Its standard output, which nothing is written to, is `memory`: a sealed file.
    fn spawn(program: &WorkerProgram, memory: Option<&File>) -> io::Result<Self> {
        let (pipe, theirs) = UnixStream::pair()?;
        let memory = memory.map(File::try_clone).transpose()?;
        let child = Command::new(&program.program)
            .args(&program.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(memory.map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, pipe })
    }

    /// Sends a frame and waits for the answer.
    fn ask(
        &mut self,
        frame: &impl serde::Serialize,
        max_bytes: u64,
        patience: Option<Duration>,
    ) -> Result<Reply, RunError> {
        let answer = self.exchange(frame, max_bytes, patience);
        let fault = |error| RunError::Fault(format!("no answer from a worker process: {error}"));
        answer.map_err(|error| self.end().unwrap_or_else(|| fault(error)))
    }

    fn exchange(
        &mut self,
        frame: &impl serde::Serialize,
        max_bytes: u64,
        patience: Option<Duration>,
    ) -> io::Result<Reply> {
        self.pipe.set_read_timeout(patience)?;
        self.pipe.set_write_timeout(patience)?;
        frames::send(&mut self.pipe, frame)?;
        frames::receive(&mut self.pipe, max_bytes)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Ends the worker, and says how it had ended before that, where it had.
    fn end(&mut self) -> Option<RunError> {
        // What has died already keeps its own signal.
        let _ = self.child.kill();
        let signal = self.child.wait().ok()?.signal()?;
        // These two come from outside: the kernel short of memory, an operator.
        (signal != libc::SIGKILL && signal != libc::SIGTERM).then_some(RunError::Crash(signal))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
