//! The parent's side of a worker process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use veriplay_core::{CancellationToken, Exit, Job, Limits, Outcome, WasmModule, content_hash};

use super::frames::{self, Pipe};
use super::{END_JOB, ImageSource, WorkerPart, WorkerReply, WorkerSetup};
use crate::image::{Image, ImageId, Toolchain};
use crate::pool::{RunError, Runner};
use crate::request::expected_calls;

/// Bytes of a reply beyond the job's output.
const ANSWER_ROOM: u64 = 1 << 20;
/// Bytes of JSON per byte of output, times the seven outputs that have a cap: two streams and the values, of job and callee, and fetched files.
const ANSWER_FACTOR: u64 = 7 * 4;
/// How long a worker may take to load its image.
const START: Duration = Duration::from_secs(120);
/// How much longer than a job's deadline its reply may take before the worker is killed.
const GRACE: Duration = Duration::from_secs(10);
/// How often a wait for a worker looks whether the job is cancelled, in milliseconds.
const LOOK_MS: libc::c_int = 10;
/// How long a worker may take to end a job that is cancelled, before it is killed.
const FAREWELL: Duration = Duration::from_secs(1);

/// The command that starts a worker process, `program arguments…`. It must call [`crate::serve`] first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable.
    pub program: PathBuf,
    /// The arguments that tell it that it is a worker.
    pub arguments: Vec<OsString>,
    /// The cache that holds the image, as [`crate::ImageStore::open`] takes it.
    pub cache_dir: PathBuf,
}

pub(crate) struct ProcessRunner {
    program: WorkerProgram,
    hello: WorkerSetup,
    /// A [warm](ImageSource::Warmed) image, whose memory this keeps alive.
    warmed: Option<Arc<Image>>,
}

impl ProcessRunner {
    pub(crate) fn new(program: WorkerProgram, image: &Arc<Image>, reset: crate::ResetMode) -> Self {
        let from = match (&image.text, &image.warmed_from) {
            (Some(text), _) => ImageSource::Text(text.to_owned()),
            (None, Some(of)) => ImageSource::Warmed { of: of.clone(), state: image.state.clone() },
            (None, None) => ImageSource::Cache,
        };
        let hello =
            WorkerSetup { cache_dir: program.cache_dir.clone(), image: image.id(), from, reset, layers: Vec::new() };
        let warmed = image.warmed_from.as_ref().map(|_| Arc::clone(image));
        Self { program, hello, warmed }
    }

    /// Of workers for the jobs of these parts.
    fn for_parts(program: WorkerProgram, parts: &[WorkerPart]) -> Self {
        let digest = content_hash(&parts.iter().map(WorkerPart::digest).collect::<Vec<_>>());
        let image = ImageId { name: WasmModule::IMAGE.to_owned(), digest, manifest: None };
        let from = ImageSource::Parts(parts.to_vec());
        let reset = crate::ResetMode::Fresh;
        let hello = WorkerSetup { cache_dir: program.cache_dir.clone(), image, from, reset, layers: Vec::new() };
        Self { program, hello, warmed: None }
    }

    /// Of workers that compile programs.
    pub(crate) fn for_toolchain(program: WorkerProgram, toolchain: &Toolchain) -> Self {
        let (image, from, reset) = (toolchain.id(), ImageSource::Toolchain, crate::ResetMode::Fresh);
        let hello = WorkerSetup { cache_dir: program.cache_dir.clone(), image, from, reset, layers: Vec::new() };
        Self { program, hello, warmed: None }
    }

    /// Sets the layers of workers that start from now on.
    pub(crate) fn set_layers(&mut self, layers: &crate::Layers) {
        self.hello.layers = layers.to_vec();
    }

    /// Starts a worker and waits until it is ready.
    pub(crate) fn start(&self) -> Result<WorkerProcess, RunError> {
        let mut process = self.spawn()?;
        self.is_ready(&mut process, &CancellationToken::new())?;
        Ok(process)
    }

    /// Starts a worker, which loads its image and locks itself down then.
    fn spawn(&self) -> Result<WorkerProcess, RunError> {
        let memory = self.warmed.as_ref().map(|image| image.baseline.file());
        let what = self.program.program.display();
        let mut process = WorkerProcess::spawn(&self.program, memory)
            .map_err(|error| RunError::Fault(format!("cannot start the worker `{what}`: {error}")))?;
        process.send_setup(&self.hello)?;
        Ok(process)
    }

    /// Whether a worker is ready. Waits for that as long as the job is not cancelled that the worker is for.
    fn is_ready(&self, process: &mut WorkerProcess, cancellation: &CancellationToken) -> Result<bool, RunError> {
        if process.ready_by.is_none() {
            return Ok(true);
        }
        let what = self.program.program.display();
        loop {
            match process.wait_until_ready(cancellation) {
                Ok(Some(WorkerReply::Compiling)) if !process.compiles => process.compiles = true,
                Ok(Some(WorkerReply::Ready)) => return Ok(true),
                Ok(None) => return Ok(false),
                Ok(Some(WorkerReply::Fault(why))) => {
                    return Err(RunError::Fault(format!("the worker `{what}` cannot work: {why}")));
                }
                Ok(Some(WorkerReply::Outcome(_) | WorkerReply::Compiling)) => {
                    return Err(RunError::Fault("the worker answered a job that it was not given".to_owned()));
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Runner for ProcessRunner {
    type Slot = Option<WorkerProcess>;

    fn run(
        &self,
        slot: &mut Option<WorkerProcess>,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, RunError> {
        let mut process = slot.take().map_or_else(|| self.spawn(), Ok)?;
        if !self.is_ready(&mut process, cancellation)? {
            // It goes on loading. Were it dropped, jobs that are cancelled sooner than a worker starts would never leave one behind.
            *slot = Some(process);
            return Err(RunError::cancelled());
        }
        let limits = &job.limits;
        let of_interactor = job.interactor.as_ref().map_or(0, |interactor| interactor.limits.output_bytes);
        let output_bytes = limits.output_bytes.max(of_interactor);
        let max_bytes = output_bytes.saturating_mul(ANSWER_FACTOR).saturating_add(ANSWER_ROOM);
        match process.request(job, max_bytes, patience_for(job), cancellation)? {
            Some(WorkerReply::Outcome(outcome)) if is_possible(&outcome, job) => {
                *slot = Some(process);
                Ok(*outcome)
            }
            None => {
                *slot = Some(process);
                Err(RunError::cancelled())
            }
            // The worker is dropped, as an instance would be.
            Some(WorkerReply::Fault(why)) => Err(RunError::Fault(why)),
            Some(WorkerReply::Outcome(_) | WorkerReply::Ready | WorkerReply::Compiling) => {
                Err(RunError::Fault("a worker process answered what no job can come to".to_owned()))
            }
        }
    }
}

/// Runs jobs whose program is a module, each module in workers of its own, and so each pair of a program and its interactor.
pub(crate) struct ModuleProcesses {
    program: WorkerProgram,
    images: Vec<ImageId>,
}

impl ModuleProcesses {
    pub(crate) const fn new(program: WorkerProgram) -> Self {
        Self { program, images: Vec::new() }
    }

    /// Sets the images that one side of a job may have.
    pub(crate) fn set_images(&mut self, images: &[Arc<Image>]) {
        self.images = images.iter().map(|image| image.id()).collect();
    }

    /// What a job is run from: the part of its program, and that of its interactor.
    fn parts_of(&self, job: &Job) -> Vec<WorkerPart> {
        let of_interactor = job.interactor.as_ref().and_then(|of| self.part(of.image_in(job), of.module.as_ref()));
        self.part(&job.image, job.module.as_ref()).into_iter().chain(of_interactor).collect()
    }

    fn part(&self, image: &str, module: Option<&WasmModule>) -> Option<WorkerPart> {
        match module {
            Some(module) => Some(WorkerPart::Module(module.clone())),
            None => self.images.iter().find(|known| known.name == image).cloned().map(WorkerPart::Image),
        }
    }
}

/// A worker for the jobs of these parts.
pub(crate) struct ModuleWorker {
    parts: Vec<WorkerPart>,
    runner: ProcessRunner,
    process: Option<WorkerProcess>,
}

impl Runner for ModuleProcesses {
    type Slot = Option<ModuleWorker>;

    fn suits(&self, slot: &Option<ModuleWorker>, job: &Job) -> bool {
        slot.as_ref().is_some_and(|worker| worker.parts == self.parts_of(job))
    }

    fn run(
        &self,
        slot: &mut Option<ModuleWorker>,
        job: &Job,
        cancellation: &CancellationToken,
    ) -> Result<Outcome, RunError> {
        let worker = slot.get_or_insert_with(|| {
            let parts = self.parts_of(job);
            let runner = ProcessRunner::for_parts(self.program.clone(), &parts);
            ModuleWorker { parts, runner, process: None }
        });
        // The worker has the modules already.
        let mut job = Job { module: None, ..job.clone() };
        if let Some(interactor) = &mut job.interactor {
            interactor.module = None;
        }
        worker.runner.run(&mut worker.process, &job, cancellation)
    }
}

/// How long the reply to a job may take; `None` is without end. Each turn of the guest has the job's deadline: the preload, the program, the
/// module level of the callee, and the callee's request that is under way when the program's time is over. The interactor has its own.
fn patience_for(job: &Job) -> Option<Duration> {
    let deadlines = 1 + u32::from(job.preload.is_some()) + 2 * u32::from(job.callee.is_some());
    let of_interactor = job.interactor.as_ref().map_or(0, |interactor| interactor.limits.deadline_ns);
    let own = Duration::from_nanos(job.limits.deadline_ns).checked_mul(deadlines)?;
    own.checked_add(Duration::from_nanos(of_interactor))?.checked_add(GRACE)
}

/// Whether `job` can have this outcome: a compromised worker could send anything. What compiling took is not a worker's to say.
pub(super) fn is_possible(outcome: &Outcome, job: &Job) -> bool {
    let calls = expected_calls(job);
    let complete = outcome.exit != Exit::Returned || outcome.calls.len() == calls;
    let callee = match (&outcome.callee, &job.callee) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(callee), Some(program)) => {
            let has_code = callee.calls.len() <= usize::from(program.shares_objects);
            has_code && is_alone(callee) && is_within_limits(callee, &job.limits)
        }
    };
    let interaction = match (&outcome.interaction, &job.interactor) {
        (None, None) => true,
        (Some(interaction), Some(interactor)) => {
            let own = &interaction.interactor;
            own.calls.is_empty() && is_alone(own) && is_within_limits(own, &interactor.limits)
        }
        _ => false,
    };
    outcome.calls.len() <= calls
        && complete
        && callee
        && interaction
        && outcome.compilation.is_none()
        && is_within_limits(outcome, &job.limits)
        && were_asked_for(outcome, job)
}

/// Whether it is the outcome of a program without others, of which no files were wanted.
fn is_alone(outcome: &Outcome) -> bool {
    outcome.compilation.is_none()
        && outcome.callee.is_none()
        && outcome.interaction.is_none()
        && outcome.fetched.is_empty()
}

/// Whether the fetched files are among those that the job names, in its order, and fit in its limit.
fn were_asked_for(outcome: &Outcome, job: &Job) -> bool {
    let mut asked = job.fetch.iter();
    let known = outcome.fetched.iter().all(|(path, _)| asked.any(|wanted| wanted == path));
    let bytes: u64 = outcome.fetched.iter().map(|(_, content)| content.len() as u64).sum();
    known && bytes <= job.limits.file_bytes.min(job.limits.output_bytes)
}

fn is_within_limits(outcome: &Outcome, limits: &Limits) -> bool {
    let capped = |bytes: &[u8]| bytes.len() as u64 <= limits.output_bytes;
    let named = match (&outcome.exit, &outcome.error) {
        (Exit::Raised | Exit::CompileError | Exit::MissingEntry | Exit::Trapped, error) => error.is_some(),
        (Exit::Returned | Exit::Exceeded { .. }, error) => error.is_none(),
    };
    named && outcome.fuel <= limits.fuel && capped(&outcome.stdout) && capped(&outcome.stderr)
}

/// A running worker. Dropping this kills it, which loses nothing.
pub(crate) struct WorkerProcess {
    child: Child,
    /// Does not block: [`TimedPipe`] waits for it.
    pipe: Pipe,
    /// While it is not ready: when it must be.
    ready_by: Option<Instant>,
    /// Whether it has begun to compile a module.
    compiles: bool,
}

impl WorkerProcess {
    /// Starts a worker. Its standard output, which it does not write to, is `memory`, a sealed file.
    fn spawn(program: &WorkerProgram, memory: Option<&File>) -> io::Result<Self> {
        let (pipe, theirs) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        let memory = memory.map(File::try_clone).transpose()?;
        let child = Command::new(&program.program)
            .args(&program.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(memory.map_or_else(Stdio::null, Stdio::from))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, pipe: frames::over(pipe), ready_by: None, compiles: false })
    }

    fn send_setup(&mut self, setup: &WorkerSetup) -> Result<(), RunError> {
        self.ready_by = Some(Instant::now() + START);
        let never = CancellationToken::new();
        let mut pipe = TimedPipe { pipe: &mut self.pipe, deadline: self.ready_by, cancellation: &never };
        frames::send(&mut pipe, setup).map_err(|error| self.lost(error))
    }

    /// Its reply to the setup. `None`: the job was cancelled first.
    fn wait_until_ready(&mut self, cancellation: &CancellationToken) -> Result<Option<WorkerReply>, RunError> {
        let pipe = TimedPipe { pipe: &mut self.pipe, deadline: self.ready_by, cancellation };
        // Two replies may have come at once.
        let has_begun = !pipe.pipe.buffer().is_empty();
        let received = match if has_begun { Ok(()) } else { pipe.wait_for(libc::POLLIN) } {
            Err(_) if cancellation.is_cancelled() => return Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                // What has begun to answer is not left in the middle of its answer.
                let never = CancellationToken::new();
                let mut pipe = TimedPipe { pipe: &mut self.pipe, deadline: self.ready_by, cancellation: &never };
                frames::receive(&mut pipe, ANSWER_ROOM)
            }
        };
        let received = match received {
            Ok(Some(reply)) => Ok(Some(reply)),
            Ok(None) => Err(self.lost(ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.lost(error)),
        };
        if !matches!(received, Ok(Some(WorkerReply::Compiling))) {
            self.ready_by = None;
        }
        received
    }

    /// Sends a frame and waits up to `patience` for the whole reply. Without one the worker is killed. `None`: the job was cancelled, and the worker
    /// has ended it and is fit for the next one.
    fn request(
        &mut self,
        frame: &impl serde::Serialize,
        max_bytes: u64,
        patience: Option<Duration>,
        cancellation: &CancellationToken,
    ) -> Result<Option<WorkerReply>, RunError> {
        self.exchange(frame, max_bytes, patience, cancellation).map_err(|error| self.lost(error))
    }

    /// Kills it after an exchange that failed.
    fn lost(&mut self, error: io::Error) -> RunError {
        // Before that nothing of a job has been near it, whether it has read what it was sent or not.
        let is_starting = self.ready_by.is_some() && !self.compiles;
        match self.kill() {
            Some(RunError::Crash(signal)) if is_starting => {
                RunError::Fault(format!("a worker process died of signal {signal} as it started"))
            }
            Some(crash) => crash,
            None => RunError::Fault(format!("no answer from a worker process: {error}")),
        }
    }

    fn exchange(
        &mut self,
        frame: &impl serde::Serialize,
        max_bytes: u64,
        patience: Option<Duration>,
        cancellation: &CancellationToken,
    ) -> io::Result<Option<WorkerReply>> {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        let mut pipe = TimedPipe { pipe: &mut self.pipe, deadline, cancellation };
        frames::send(&mut pipe, frame)?;
        match pipe.wait_for(libc::POLLIN) {
            Err(_) if cancellation.is_cancelled() => self.end_job(max_bytes).map(|()| None),
            waited => {
                waited?;
                frames::receive(&mut pipe, max_bytes)?.map(Some).ok_or_else(|| ErrorKind::UnexpectedEof.into())
            }
        }
    }

    /// Has the worker end the job that it runs, whose reply has not begun, and drops that reply.
    fn end_job(&mut self, max_bytes: u64) -> io::Result<()> {
        let (deadline, never) = (Instant::now().checked_add(FAREWELL), CancellationToken::new());
        let mut pipe = TimedPipe { pipe: &mut self.pipe, deadline, cancellation: &never };
        frames::send(&mut pipe, &END_JOB)?;
        frames::receive::<WorkerReply>(&mut pipe, max_bytes)?.map(drop).ok_or_else(|| ErrorKind::UnexpectedEof.into())
    }

    /// Kills the worker; returns how it had crashed before that, if it had.
    fn kill(&mut self) -> Option<RunError> {
        // What has died already keeps its own signal.
        let _ = self.child.kill();
        let signal = self.child.wait().ok()?.signal()?;
        // These two come from outside: the kernel short of memory, an operator.
        (signal != libc::SIGKILL && signal != libc::SIGTERM).then_some(RunError::Crash(signal))
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The socket during one exchange. The deadline is that of the whole exchange: a worker that takes or sends byte after byte gains no time by it.
struct TimedPipe<'a> {
    pipe: &'a mut Pipe,
    deadline: Option<Instant>,
    cancellation: &'a CancellationToken,
}

impl TimedPipe<'_> {
    /// Waits until the socket is ready for `events`, or closed.
    fn wait_for(&self, events: libc::c_short) -> io::Result<()> {
        loop {
            if self.cancellation.is_cancelled() {
                return Err(io::Error::other(RunError::cancelled()));
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(ErrorKind::TimedOut.into());
            }
            if is_ready_soon(self.pipe.get_ref(), events)? {
                return Ok(());
            }
        }
    }
}

impl Read for TimedPipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.pipe.buffer().is_empty() {
                self.wait_for(libc::POLLIN)?;
            }
            match self.pipe.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }
}

impl Write for TimedPipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.get_mut().write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_for(libc::POLLOUT)?,
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether `socket` is ready for `events`, or closed, within [`LOOK_MS`].
fn is_ready_soon(socket: &UnixStream, events: libc::c_short) -> io::Result<bool> {
    let mut entry = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    // SAFETY: the call reads and writes this one entry, which outlives it.
    let ready = unsafe { libc::poll(&raw mut entry, 1, LOOK_MS) };
    if ready >= 0 {
        return Ok(ready > 0);
    }
    let error = io::Error::last_os_error();
    if error.kind() == ErrorKind::Interrupted { Ok(false) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Callee, Compilation, Preload};

    use super::*;

    /// Announces the longest frame there is, and sends it byte by byte.
    const DRIBBLES: &str = r"printf '\377\377\377\377' >&0; while printf ' ' >&0; do :; done";
    /// Does not read what it is sent.
    const READS_NOTHING: &str = "while :; do :; done";

    /// A worker that is a script of the shell, which has the socket as its standard input.
    fn scripted(script: &str) -> WorkerProcess {
        let arguments = vec!["-c".into(), script.into()];
        let program = WorkerProgram { program: "/bin/sh".into(), arguments, cache_dir: PathBuf::new() };
        WorkerProcess::spawn(&program, None).unwrap()
    }

    /// Why the worker gave no answer to a frame that no socket holds. It must be dead then.
    fn end_of(script: &str, patience: Option<Duration>, cancellation: &CancellationToken) -> String {
        let (mut worker, frame) = (scripted(script), "x".repeat(8 << 20));
        let frame = if script == READS_NOTHING { frame.as_str() } else { "" };
        let ended = worker.request(&frame, u64::MAX, patience, cancellation).unwrap_err();
        assert!(worker.child.try_wait().unwrap().is_some(), "{ended}");
        ended.to_string()
    }

    #[test]
    fn a_job_has_the_time_of_all_its_turns() {
        let text = String::new;
        let preload = Preload { program: text(), function: text(), arguments: Vec::new() };
        let limits = Limits { deadline_ns: 1_000_000_000, ..Limits::small() };
        let job = Job { limits, ..Job::script("") };
        let preloaded = Job { preload: Some(preload), ..job.clone() };
        let called = Job { callee: Some(Callee::default()), ..preloaded.clone() };
        for (job, seconds) in [(job, 1), (preloaded, 2), (called, 4)] {
            assert_eq!(patience_for(&job), Some(GRACE + Duration::from_secs(seconds)));
        }
    }

    #[test]
    fn what_compiling_took_is_not_a_workers_to_say() {
        let claims = |compilation: Option<Compilation>| Outcome { compilation, ..Outcome::new(Exit::Returned) };
        let job = Job::script("");
        assert!(is_possible(&claims(None), &job));
        assert!(!is_possible(&claims(Some(Compilation { fuel: 1, exceeded: None })), &job));
    }

    #[test]
    fn a_worker_that_sends_byte_by_byte_or_reads_nothing_is_killed_when_its_time_is_over() {
        for script in [DRIBBLES, READS_NOTHING] {
            let ended = end_of(script, Some(Duration::from_millis(50)), &CancellationToken::new());
            assert_eq!(ended, "no answer from a worker process: timed out", "{script}");
        }
    }

    #[test]
    fn a_worker_that_sends_byte_by_byte_or_reads_nothing_is_killed_when_its_job_is_cancelled() {
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        for (script, why) in [(DRIBBLES, "timed out"), (READS_NOTHING, "the job was cancelled")] {
            assert_eq!(end_of(script, None, &cancelled), format!("no answer from a worker process: {why}"), "{script}");
        }
    }
}
