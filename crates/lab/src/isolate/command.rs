//! A target that is a command: it runs one Python file, in any way it likes. [`super::docker`] runs its own commands by [`run_command`].
//!
//! The command may enforce no limits, so this module bounds its output, its time, and its processes, which form a group that is killed at
//! the end. Its directories are temporary. The probes' README says how little they do to a host that does not contain them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::leftovers::ProcessGroup;
use veriplay_corpus::probes::judge::{ExternalExit, ExternalRun};

use super::bait::VARIABLE;
use super::target::{MEMORY_MIB, ProbeRequest, Target, failed};

/// Maximum seconds to wait. Every probe ends by itself long before that.
const PATIENCE: u64 = 30;
/// Bytes of output that are kept; the rest is read and dropped.
const KEPT: usize = 16 << 20;
/// Bytes of standard error that are kept: its end.
const KEPT_ERRORS: u64 = 4096;

/// A command line in which `{file}` stands for the program.
pub(crate) struct CommandTarget {
    command: String,
    secret: String,
}

impl CommandTarget {
    /// The target of a command line that holds `{file}`.
    pub(crate) fn new(command: &str, secret: String) -> Result<Self, Failure> {
        let command = command.trim();
        if !command.contains("{file}") {
            let what = format!("--target `cmd:{command}` has no `{{file}}` for the program");
            return Err(Failure::message(ExitCode::Input, what).hint("write for example `cmd:\"python3 {file}\"`"));
        }
        Ok(Self { command: command.to_owned(), secret })
    }

    fn try_run(&self, request: &ProbeRequest<'_>) -> std::io::Result<ExternalRun> {
        let (folder, file) = write_program(request)?;
        let line = self
            .command
            .replace("{file}", &file.display().to_string())
            .replace("{dir}", &folder.display().to_string())
            .replace("{seconds}", &request.seconds.to_string())
            .replace("{memory_mib}", &MEMORY_MIB.to_string());
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).current_dir(&folder).env("TMPDIR", request.common).env(VARIABLE, &self.secret);
        run_command(&mut command, request)
    }
}

/// Writes a program's file in a directory of its own; returns both.
pub(super) fn write_program(request: &ProbeRequest<'_>) -> std::io::Result<(PathBuf, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("run-").tempdir_in(request.common)?.keep();
    let file = folder.join(format!("probe_{}.py", request.name));
    std::fs::write(&file, request.program)?;
    Ok((folder, file))
}

/// Runs a command as a group of processes, up to [`PATIENCE`].
pub(super) fn run_command(command: &mut Command, request: &ProbeRequest<'_>) -> std::io::Result<ExternalRun> {
    // Only of a program that is known to write little: a file has no end.
    let mut errors = if request.keeps_stderr { Some(tempfile::tempfile()?) } else { None };
    let stderr = errors.as_ref().map_or_else(|| Ok(Stdio::null()), |file| file.try_clone().map(Stdio::from))?;
    let mut group = ProcessGroup::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr))?;
    let run = watch(&mut group, request.stdin);
    // With what the command left running.
    drop(group);
    Ok(ExternalRun { stderr: errors.as_mut().map(end_of).transpose()?.unwrap_or_default(), ..run? })
}

fn end_of(file: &mut File) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT_ERRORS)))?;
    let mut bytes = Vec::new();
    file.take(KEPT_ERRORS).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Target for CommandTarget {
    fn run(&self, request: &ProbeRequest<'_>) -> ExternalRun {
        self.try_run(request).unwrap_or_else(|error| failed(format!("the command cannot be run: {error}")))
    }
}

/// Waits for the command up to [`PATIENCE`], and reads what it prints.
fn watch(group: &mut ProcessGroup, stdin: &str) -> std::io::Result<ExternalRun> {
    let child = &mut group.child;
    let (sender, receiver) = channel();
    let mut output = child.stdout.take().ok_or_else(|| std::io::Error::other("no output"))?;
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..count.min(KEPT - kept.len())]);
        }
        // The receiver may have timed out.
        let _ = sender.send(kept);
    });
    if let Some(mut input) = child.stdin.take() {
        // A program need not read its input.
        let _ = input.write_all(stdin.as_bytes());
    }
    let deadline = Instant::now() + Duration::from_secs(PATIENCE);
    let ended = wait(child, deadline)?;
    if matches!(ended, ExternalExit::StillRunning(_)) {
        group.kill();
    }
    // A process that left the group may hold the pipe open.
    let stdout = match receiver.recv_timeout(Duration::from_secs(2)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => String::new(),
    };
    Ok(ExternalRun { stdout, stderr: String::new(), ended })
}

fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<ExternalExit> {
    const STEP: Duration = Duration::from_millis(5);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ended(status));
        }
        if Instant::now() >= deadline {
            return Ok(ExternalExit::StillRunning(PATIENCE));
        }
        std::thread::sleep(STEP);
    }
}

fn ended(status: ExitStatus) -> ExternalExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExternalExit::Exited(code),
        (None, signal) => ExternalExit::Stopped(format!("signal {}", signal.unwrap_or_default())),
    }
}
