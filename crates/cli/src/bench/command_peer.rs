//! Peers of one's own: a command that runs one Python file, in any way it likes. Each program is a file and a run of the command.
//!
//! Every program prints a number of its own as its last act, and what the command prints is compared, so a peer that skips or caches programs
//! is found out. Wrong results are counted and do not end the run: that a peer is wrong is a result, too.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::baselines::BASELINES;
use super::jobs::{BenchJob, JobProgram};
use super::worker::{Round, RoundError, Worker, WrongResults, time_round};
use crate::interrupt;

/// How long a run may take: many times what the longest job takes in a slow interpreter.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the output of a killed peer is waited for: a process that left its group may hold the pipe open.
const AFTER_KILL: Duration = Duration::from_secs(2);
/// Bytes of output that are read: no job prints a hundredth of it.
const KEPT: u64 = 1 << 16;
/// Exit statuses of a shell that may not run a command, or finds none.
const NOT_STARTED: [i32; 2] = [126, 127];
/// How often a folder is tried to be removed at a signal.
const REMOVALS: usize = 3;
/// Characters of a wrong output that are shown.
const SHOWN: usize = 200;
/// A key of the report beside the baselines of a job.
const RESERVED: &str = "ratio";

/// `NAME=COMMAND` of `--peer`.
#[derive(Debug, Clone)]
pub(crate) struct PeerCommand {
    pub(crate) name: String,
    command: String,
}

impl FromStr for PeerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("it is not `NAME=COMMAND`")?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(format!("`{name}` is no name: letters, digits, `-`, `_` and `.` are allowed"));
        }
        if name == RESERVED || BASELINES.iter().any(|baseline| baseline.name == name) {
            return Err(format!("the name `{name}` is taken"));
        }
        if !command.contains("{file}") {
            return Err("the command has no `{file}` for the program, as `python3 {file}` has".to_owned());
        }
        Ok(Self { name: name.to_owned(), command: command.to_owned() })
    }
}

/// One worker of a peer.
pub(crate) struct CommandPeer {
    command: String,
    /// Of its programs.
    folder: ProgramFolder,
    serial: u64,
}

impl CommandPeer {
    /// # Errors
    /// No folder can be made for its programs.
    pub(crate) fn new(peer: &PeerCommand) -> Result<Self, String> {
        interrupt::end_after(end_peers);
        let folder = ProgramFolder::new();
        let folder = folder.map_err(|error| format!("no temporary directory for its programs: {error}"))?;
        Ok(Self { command: peer.command.clone(), folder, serial: 0 })
    }

    /// Runs an empty program once: a command that cannot be started ends the benchmark before anything is measured.
    ///
    /// # Errors
    /// The shell cannot start it; with what it said.
    pub(crate) fn check_command(&self) -> Result<(), String> {
        let ended = self.try_command().map_err(|error| error.to_string())?;
        let failed = ended.filter(|(status, _)| status.code().is_some_and(|code| NOT_STARTED.contains(&code)));
        failed.map_or(Ok(()), |(status, said)| {
            let said: String = said.trim().chars().take(SHOWN).collect();
            Err(format!("`{}` cannot be started, {status}: {said}", self.command))
        })
    }

    /// Runs an empty program: how it ended, and all that it printed.
    fn try_command(&self) -> std::io::Result<Option<(ExitStatus, String)>> {
        let file = self.folder.0.path().join("program_0.py");
        write_program(&file, "pass\n")?;
        let ended = run_command(&format!("{{ {}\n}} 2>&1", self.command), &file)?;
        std::fs::remove_file(&file)?;
        Ok(ended)
    }

    /// Runs the programs of a job. `None`, or what was wrong with the first wrong one.
    fn run(&mut self, steps: &[JobProgram]) -> Result<Option<String>, RoundError> {
        self.serial += 1;
        for step in steps {
            let wrong = self.step(step).map_err(|error| RoundError::Failed(error.to_string()))?;
            if wrong.is_some() {
                return Ok(wrong);
            }
        }
        Ok(None)
    }

    fn step(&self, step: &JobProgram) -> std::io::Result<Option<String>> {
        let (program, expected) = step.with_proof(self.serial);
        let file = self.folder.0.path().join(format!("program_{}.py", self.serial));
        write_program(&file, &program)?;
        let ended = run_command(&self.command, &file)?;
        std::fs::remove_file(&file)?;
        Ok(match ended {
            Some((status, printed)) if status.success() && printed == expected => None,
            Some((status, printed)) => {
                let shown: String = printed.chars().take(SHOWN).collect();
                Some(format!("{status}, {shown:?} instead of {expected:?}"))
            }
            None => Some(format!("it was still running after {} s", PATIENCE.as_secs())),
        })
    }
}

impl Worker for CommandPeer {
    fn round(&mut self, work: &BenchJob, span: Duration) -> Result<Round, RoundError> {
        let steps = work.steps();
        let mut wrong = WrongResults::default();
        let round = time_round(span, || {
            if let Some(what) = self.run(&steps)? {
                wrong.note(what);
            }
            Ok(None)
        })?;
        Ok(Round { wrong, ..round })
    }
}

/// A temporary folder that goes with its owner, and at a signal, which ends the process without dropping anything.
struct ProgramFolder(tempfile::TempDir);

/// The folders that are there.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set is consistent between any two calls.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProgramFolder {
    fn new() -> std::io::Result<Self> {
        // The lock is held meanwhile: a signal finds every folder, and after it none is made.
        let mut folders = folders();
        let folder = tempfile::Builder::new().prefix("veriplay-bench-").tempdir()?;
        folders.insert(folder.path().to_owned());
        Ok(Self(folder))
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        let mut folders = folders();
        // Before it is forgotten: a signal may come in between.
        let _ = std::fs::remove_dir_all(self.0.path());
        folders.remove(self.0.path());
    }
}

/// Writes a program, unless this process ends: the folder would stay behind.
fn write_program(file: &Path, program: &str) -> std::io::Result<()> {
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    std::fs::write(file, program)
}

/// Runs the command on a file, as a group of processes: how it ended and what it printed, or `None` where it was killed for its time.
fn run_command(command: &str, file: &Path) -> std::io::Result<Option<(ExitStatus, String)>> {
    // A single quote ends the quotation, stands by itself, and begins the next.
    let quoted = format!("'{}'", file.display().to_string().replace('\'', r"'\''"));
    let line = command.replace("{file}", &quoted);
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    let child = start_group(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()))?;
    let group = child.id();
    let (sender, receiver) = channel();
    // The receiver may have gone.
    std::thread::spawn(move || drop(sender.send(wait_for(child))));
    if let Ok(ended) = receiver.recv_timeout(PATIENCE) {
        return ended.map(Some);
    }
    kill_group(group);
    let _ = receiver.recv_timeout(AFTER_KILL);
    Ok(None)
}

/// Groups of processes that were started and not waited for yet. Ctrl-C at a terminal reaches this process alone.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Shared while a group starts, so that threads start theirs beside each other.
static STARTING: RwLock<()> = RwLock::new(());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    // A set is consistent between any two calls.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a command as a group that a signal to this process ends, too.
fn start_group(command: &mut Command) -> std::io::Result<Child> {
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    let child = command.process_group(0).spawn()?;
    running().insert(child.id());
    Ok(child)
}

/// Kills all groups and removes the folders. Nothing starts and no folder is made any more: this process ends.
fn end_peers() {
    std::mem::forget(STARTING.write().unwrap_or_else(PoisonError::into_inner));
    running().iter().copied().for_each(kill_group);
    let folders = folders();
    for folder in &*folders {
        // A peer may write there while it dies.
        let _ = (0..REMOVALS).any(|_| std::fs::remove_dir_all(folder).is_ok());
    }
    std::mem::forget(folders);
}

fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // It may have ended just now.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn wait_for(mut child: Child) -> std::io::Result<(ExitStatus, String)> {
    let mut printed = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(KEPT).read_to_end(&mut printed)?;
    }
    let status = child.wait();
    running().remove(&child.id());
    Ok((status?, String::from_utf8_lossy(&printed).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::jobs;

    #[test]
    fn a_peer_is_a_name_and_a_command_with_a_file() {
        let peer: PeerCommand = "mine=env A=1 python3 {file}".parse().expect("it is one");
        assert_eq!((peer.name.as_str(), peer.command.as_str()), ("mine", "env A=1 python3 {file}"));
        for (text, why) in [
            ("python3 {file}", "not `NAME=COMMAND`"),
            ("=python3 {file}", "no name"),
            ("a,b=python3 {file}", "no name"),
            ("veriplay=python3 {file}", "is taken"),
            ("ratio=python3 {file}", "is taken"),
            ("mine=python3", "no `{file}`"),
        ] {
            let error = text.parse::<PeerCommand>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    /// The results of a peer that ends well without running anything, and of one that has no such command.
    #[test]
    fn a_peer_that_runs_nothing_has_wrong_results() {
        for (command, what) in
            [("true {file}", "exit status: 0, \"\" instead of"), ("/no/such/command {file}", "exit status: 127")]
        {
            let peer: PeerCommand = format!("mine={command}").parse().expect("it is a peer");
            let mut worker = CommandPeer::new(&peer).expect("it starts");
            for job in jobs::all() {
                let round = worker.round(&job, Duration::ZERO).expect("a wrong result is no error");
                assert_eq!((round.wrong.count, round.ns.len()), (1, 1));
                assert!(round.wrong.first.as_ref().is_some_and(|first| first.contains(what)), "{:?}", round.wrong);
            }
        }
    }

    #[test]
    fn a_command_that_cannot_be_started_is_found_before_the_measurement() {
        let check = |command: &str| {
            let peer: PeerCommand = format!("mine={command}").parse().expect("it is a peer");
            CommandPeer::new(&peer).expect("it starts").check_command()
        };
        assert_eq!(check("true {file}"), Ok(()));
        assert_eq!(check("exit 3; {file}"), Ok(()), "a wrong result is for the measurement to count");
        let error = check("/no/such/command {file}").expect_err("there is none");
        assert!(error.contains("127") && error.matches("/no/such/command").count() > 1, "{error}");
    }

    /// `sed` stands for an interpreter here: it prints what the last line of the program would.
    #[test]
    fn a_peer_that_prints_the_right_output_is_right_and_leaves_no_programs() {
        let peer: PeerCommand = "mine=sed -n \"s/^print('\\(.*\\)')$/\\1/p\" {file}".parse().expect("it is a peer");
        let mut worker = CommandPeer::new(&peer).expect("it starts");
        let round = worker.round(&jobs::all()[0], Duration::ZERO).expect("it runs");
        assert_eq!(round.wrong, WrongResults::default());
        assert_eq!(std::fs::read_dir(worker.folder.0.path()).expect("it is there").count(), 0);
    }
}
