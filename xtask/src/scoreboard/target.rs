//! Runs one program on a peer: by a command, or by a request to its service.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use super::http::Connection;
use super::output::read_to_end;

/// The longest that the start of a service may take.
const START: Duration = Duration::from_secs(180);

/// The limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunLimits {
    /// Of processor or wall time, as the peer counts it.
    pub seconds: u64,
    /// Of memory.
    pub memory_bytes: u64,
    /// How long an answer is waited for, by the caller's clock.
    pub patience: Duration,
}

impl RunLimits {
    /// Limits that a small program does not meet.
    pub const ROOMY: Self = Self { seconds: 10, memory_bytes: 256 << 20, patience: Duration::from_secs(120) };
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// By itself, and well.
    Finished,
    /// Not well, by the peer's own account.
    Failed(String),
    /// It did not: the caller gave up, or the peer was lost.
    Unanswered(String),
}

/// What became of a program.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What it printed, as far as the peer says.
    pub stdout: String,
    /// How it ended.
    pub ending: RunEnding,
    /// From the request to the answer.
    pub latency: Duration,
}

/// How a peer is reached; words may hold `{file}`, `{dir}`, `{seconds}`, `{memory_mib}`, `{memory_bytes}` or `{port}`.
#[derive(Debug, Clone)]
pub enum TargetKind {
    /// A command for each program.
    Command(Vec<String>),
    /// A process that answers requests.
    Service(Vec<String>),
}

/// A peer that is ready to run programs. Dropping it stops its service.
pub struct Target {
    command: Vec<String>,
    service: Option<(Child, u16)>,
    folder: PathBuf,
    /// Seconds from the start to the first right answer.
    pub start_seconds: f64,
}

/// Replaces `{name}` by its value.
#[must_use]
pub fn fill(word: &str, values: &[(&'static str, String)]) -> String {
    values.iter().fold(word.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// [`fill`] for all words of a command.
#[must_use]
pub fn fill_all(words: &[String], values: &[(&'static str, String)]) -> Vec<String> {
    words.iter().map(|word| fill(word, values)).collect()
}

impl Target {
    /// Starts a service, or prepares a command, and waits for the first right answer.
    ///
    /// # Errors
    /// When no right answer comes.
    pub fn open(kind: TargetKind, logs: &Path, name: &str) -> anyhow::Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("scoreboard-{}-{serial}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        let started = Instant::now();
        let mut target = Self { command: Vec::new(), service: None, folder, start_seconds: 0.0 };
        match kind {
            TargetKind::Command(words) => target.command = words,
            TargetKind::Service(words) => target.service = Some(start_service(&words, logs, name)?),
        }
        target.await_first_answer(started)?;
        target.start_seconds = started.elapsed().as_secs_f64();
        Ok(target)
    }

    fn await_first_answer(&mut self, started: Instant) -> anyhow::Result<()> {
        loop {
            let answer = self.client()?.run("print(6 * 7)\n", RunLimits::ROOMY);
            if answer.ending == RunEnding::Finished && answer.stdout.trim() == "42" {
                return Ok(());
            }
            let what = || format!("`print(6 * 7)` printed `{}`: {:?}", answer.stdout.trim(), answer.ending);
            let Some((child, _)) = &mut self.service else { bail!("it does not run a plain program: {}", what()) };
            let ended = child.try_wait()?;
            ensure!(ended.is_none(), "its service ended at once; its log says why");
            ensure!(started.elapsed() < START, "its service does not run a plain program: {}", what());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The port of its service.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.service.as_ref().map(|(_, port)| *port)
    }

    /// The process of its service.
    #[must_use]
    pub fn service_pid(&self) -> Option<u32> {
        self.service.as_ref().map(|(child, _)| child.id())
    }

    /// A caller of its own: callers do not wait for one another.
    ///
    /// # Errors
    /// When its folder cannot be made.
    pub fn client(&self) -> anyhow::Result<Client<'_>> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let folder = self.folder.join(SERIAL.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        Ok(Client { target: self, folder, connection: None })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.service {
            kill_group(child.id(), Signal::TERM);
            let patience = Instant::now() + Duration::from_secs(5);
            while Instant::now() < patience && !matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                std::thread::sleep(Duration::from_millis(20));
            }
            kill_group(child.id(), Signal::KILL);
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn start_service(words: &[String], logs: &Path, name: &str) -> anyhow::Result<(Child, u16)> {
    // A port that is free now; that it stays free until the service listens is likely, and a failure is seen.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr())?.port();
    let argv = fill_all(words, &[("port", port.to_string())]);
    fs::create_dir_all(logs).with_context(|| format!("cannot make `{}`", logs.display()))?;
    let log = File::create(logs.join(format!("{name}.log"))).context("cannot make its log")?;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    let child = command.spawn().with_context(|| format!("cannot start `{}`", argv.join(" ")))?;
    Ok((child, port))
}

fn kill_group(pid: u32, signal: Signal) {
    if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(group, signal);
    }
}

/// One caller of a peer: it runs one program at a time.
pub struct Client<'a> {
    target: &'a Target,
    folder: PathBuf,
    connection: Option<Connection>,
}

impl Client<'_> {
    /// Runs a program.
    pub fn run(&mut self, program: &str, limits: RunLimits) -> Answer {
        let started = Instant::now();
        let (stdout, ending) = match self.target.port() {
            Some(port) => self.ask(port, program, limits),
            None => self.start(program, limits),
        };
        Answer { stdout, ending, latency: started.elapsed() }
    }

    fn start(&self, program: &str, limits: RunLimits) -> (String, RunEnding) {
        let file = self.folder.join("program.py");
        let words = [
            ("file", file.display().to_string()),
            ("dir", self.folder.display().to_string()),
            ("seconds", limits.seconds.to_string()),
            ("memory_mib", (limits.memory_bytes >> 20).to_string()),
            ("memory_bytes", limits.memory_bytes.to_string()),
        ];
        let argv = fill_all(&self.target.command, &words);
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).current_dir(&self.folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let spawned = fs::write(&file, program).and_then(|()| command.spawn());
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => return (String::new(), RunEnding::Unanswered(format!("`{}`: {error}", argv[0]))),
        };
        let deadline = Instant::now() + limits.patience;
        let (text, in_time) = child.stdout.take().map(|out| read_to_end(out, deadline)).unwrap_or_default();
        if !in_time {
            kill_group(child.id(), Signal::KILL);
        }
        let ending = match child.wait() {
            _ if !in_time => RunEnding::Unanswered(format!("still running after {} s", limits.patience.as_secs())),
            Ok(status) if status.success() => RunEnding::Finished,
            Ok(status) => RunEnding::Failed(status.to_string()),
            Err(error) => RunEnding::Unanswered(error.to_string()),
        };
        (text, ending)
    }

    fn ask(&mut self, port: u16, program: &str, limits: RunLimits) -> (String, RunEnding) {
        let body = serde_json::json!({
            "code": program, "language": "python", "stdin": "", "files": {}, "fetch_files": [],
            "compile_timeout": limits.seconds, "run_timeout": limits.seconds, "memory_limit_MB": limits.memory_bytes >> 20,
        });
        let connection = self.connection.take().map_or_else(|| Connection::open(port, limits.patience), Ok);
        let exchanged =
            connection.and_then(|mut open| open.post("/run_code", &body.to_string()).map(|answer| (open, answer)));
        let (open, (status, body)) = match exchanged {
            Ok(exchanged) => exchanged,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let what = format!("no answer in {} s", limits.patience.as_secs());
                return (String::new(), RunEnding::Unanswered(what));
            }
            Err(error) => return (String::new(), RunEnding::Unanswered(error.to_string())),
        };
        self.connection = Some(open);
        match serde_json::from_slice::<Response>(&body) {
            Ok(response) if status == 200 => response.into_result(),
            _ => (String::new(), RunEnding::Failed(format!("HTTP status {status}"))),
        }
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The parts of an answer that are read.
#[derive(Deserialize)]
struct Response {
    status: String,
    run_result: Option<RunResult>,
}

#[derive(Deserialize)]
struct RunResult {
    status: String,
    return_code: Option<i32>,
    #[serde(default)]
    stdout: Option<String>,
}

impl Response {
    fn into_result(self) -> (String, RunEnding) {
        let Some(result) = self.run_result else { return (String::new(), RunEnding::Failed(self.status)) };
        let ending = match (self.status.as_str(), result.return_code) {
            ("Success", Some(0)) => RunEnding::Finished,
            (_, Some(code)) => RunEnding::Failed(format!("exit code {code}")),
            (_, None) => RunEnding::Failed(result.status),
        };
        (result.stdout.unwrap_or_default(), ending)
    }
}
