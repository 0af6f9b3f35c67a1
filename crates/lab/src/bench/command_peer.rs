//! Commands that run one file of a language, in any way they like: peers of one's own, and the baselines of other languages than Python. Each
//! program is a file and a run of the command.
//!
//! Every program prints a number of its own as its last act, and what the command prints is compared, so a peer that skips or caches programs
//! is found out. A peer's wrong results are counted and do not end the run: that a peer is wrong is a result, too.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use veriplay_console::leftovers::{ProcessGroup, TemporaryFolder};

use super::baselines::BASELINES;
use super::jobs::{BenchJob, JobProgram};
use super::languages::{BenchLanguage, LANGUAGES};
use super::worker::{Round, RoundError, Worker, WrongResults, time_round};

/// How long a run may take: many times what the longest job takes in a slow interpreter.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of output behind which no more is read: no job prints a hundredth of it.
const KEPT: usize = 1 << 16;
/// Exit statuses of a shell that may not run a command, or finds none.
const NOT_STARTED: [i32; 2] = [126, 127];
/// Characters of a wrong output that are shown.
const SHOWN: usize = 200;
/// A key of the report beside the baselines of a job.
const RESERVED: &str = "ratio";

/// `NAME=COMMAND` of `--peer`.
#[derive(Debug, Clone)]
pub struct PeerCommand {
    /// Its name in the report.
    pub name: String,
    pub(crate) command: String,
}

impl FromStr for PeerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("it is not `NAME=COMMAND`")?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(format!("`{name}` is no name: letters, digits, `-`, `_` and `.` are allowed"));
        }
        let commands = LANGUAGES.iter().flat_map(|language| language.commands).map(|command| command.name);
        let baselines = BASELINES.iter().map(|baseline| baseline.name).chain(commands);
        if baselines.chain([RESERVED]).any(|taken| taken == name) {
            return Err(format!("the name `{name}` is taken"));
        }
        if !command.contains("{file}") {
            return Err("the command has no `{file}` for the program, as `python3 {file}` has".to_owned());
        }
        Ok(Self { name: name.to_owned(), command: command.to_owned() })
    }
}

pub(crate) struct CommandPeer {
    command: String,
    language: &'static BenchLanguage,
    /// Whether its wrong results are counted instead of ending the round.
    counts_wrong: bool,
    folder: TemporaryFolder,
    serial: u64,
}

impl CommandPeer {
    pub(crate) fn new(command: &str, language: &'static BenchLanguage, counts_wrong: bool) -> Result<Self, String> {
        let folder = TemporaryFolder::new("veriplay-bench-");
        let folder = folder.map_err(|error| format!("no temporary directory for its programs: {error}"))?;
        Ok(Self { command: command.to_owned(), language, counts_wrong, folder, serial: 0 })
    }

    /// Runs an empty program once: a command that cannot be started is found before anything is measured.
    ///
    /// # Errors
    /// The shell cannot start it, or it is no peer and fails; with what it said.
    pub(crate) fn check_command(&self) -> Result<(), String> {
        let ended = self.try_command().map_err(|error| error.to_string())?;
        let failed = ended.filter(|(status, _)| match self.counts_wrong {
            true => status.code().is_some_and(|code| NOT_STARTED.contains(&code)),
            false => !status.success(),
        });
        failed.map_or(Ok(()), |(status, said)| {
            let said: String = said.trim().chars().take(SHOWN).collect();
            Err(format!("`{}` cannot be started, {status}: {said}", self.command))
        })
    }

    /// Runs an empty program: how it ended, and all that it printed.
    fn try_command(&self) -> io::Result<Option<(ExitStatus, String)>> {
        let empty = self.language.scripts.first().map_or("", |script| script.text);
        self.run_program(&format!("{{ {}\n}} 2>&1", self.command), empty)
    }

    /// Runs a line on a file with a program. Nothing is left in the folder, such as what a compiler made of it.
    fn run_program(&self, line: &str, program: &str) -> io::Result<Option<(ExitStatus, String)>> {
        let file = self.folder.path().join(format!("program_{}.{}", self.serial, self.language.extension));
        std::fs::write(&file, program)?;
        let ended = run_command(line, &file)?;
        for entry in std::fs::read_dir(self.folder.path())? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::remove_file(entry.path())?;
            }
        }
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

    fn step(&self, step: &JobProgram) -> io::Result<Option<String>> {
        let (program, expected) = step.with_proof(self.language, self.serial);
        Ok(match self.run_program(&self.command, &program)? {
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
            match self.run(&steps)? {
                Some(what) if self.counts_wrong => wrong.note(what),
                Some(what) => return Err(RoundError::Wrong(what)),
                None => {}
            }
            Ok(None)
        })?;
        Ok(Round { wrong, ..round })
    }
}

/// Runs the command on a file: how it ended and what it printed, or `None` where it was killed for its time.
fn run_command(command: &str, file: &Path) -> io::Result<Option<(ExitStatus, String)>> {
    // A single quote ends the quotation, stands by itself, and begins the next.
    let quoted = format!("'{}'", file.display().to_string().replace('\'', r"'\''"));
    let mut group = start_shell(&command.replace("{file}", &quoted))?;
    let ended = watch(&mut group.child, Instant::now() + PATIENCE);
    // With what the command left running.
    drop(group);
    ended
}

fn start_shell(line: &str) -> io::Result<ProcessGroup> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    ProcessGroup::start(&mut command)
}

/// Reads what a process prints, and waits for its end; `None` where the deadline comes first. It does not wait for the output of a process that
/// has left the group.
fn watch(child: &mut Child, deadline: Instant) -> io::Result<Option<(ExitStatus, String)>> {
    let mut output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    let (mut printed, mut buffer) = (Vec::new(), [0; 4096]);
    while printed.len() < KEPT {
        if !is_ready(&output, deadline)? {
            return Ok(None);
        }
        let count = output.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        printed.extend_from_slice(&buffer[..count]);
    }
    drop(output);
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    if !is_ready(&process, deadline)? {
        return Ok(None);
    }
    Ok(Some((child.wait()?, String::from_utf8_lossy(&printed).into_owned())))
}

/// Whether a pipe has output or its end before the deadline, or a process has ended.
fn is_ready(source: &impl AsFd, deadline: Instant) -> io::Result<bool> {
    let ready = retry_on_intr(|| {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        poll(&mut [PollFd::new(source, PollFlags::IN)], Some(&left))
    })?;
    Ok(ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::jobs;
    use crate::bench::languages::PYTHON;

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
            ("node=node {file}", "is taken"),
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
            let mut worker = CommandPeer::new(command, &PYTHON, true).expect("it starts");
            for job in jobs::all(&PYTHON) {
                let round = worker.round(&job, Duration::ZERO).expect("a wrong result is no error");
                assert_eq!((round.wrong.count, round.ns.len()), (1, 1));
                assert!(round.wrong.first.as_ref().is_some_and(|first| first.contains(what)), "{:?}", round.wrong);
            }
        }
    }

    #[test]
    fn a_command_that_cannot_be_started_is_found_before_the_measurement() {
        let check = |command: &str| CommandPeer::new(command, &PYTHON, true).expect("it starts").check_command();
        assert_eq!(check("true {file}"), Ok(()));
        assert_eq!(check("exit 3; {file}"), Ok(()), "a wrong result is for the measurement to count");
        let old_compiler = CommandPeer::new("echo no such standard: {file} && exit 1", &PYTHON, false);
        let error = old_compiler.expect("it starts").check_command().expect_err("it fails");
        assert!(error.contains("no such standard"), "{error}");
        let error = check("/no/such/command {file}").expect_err("there is none");
        assert!(error.contains("127") && error.matches("/no/such/command").count() > 1, "{error}");
    }

    /// The one holds its output open, the other has closed it.
    #[test]
    fn a_peer_that_does_not_end_is_given_up() {
        for line in ["sleep 600 & wait", "exec >&-; sleep 600 & wait"] {
            let mut group = start_shell(line).expect("it starts");
            let soon = Instant::now() + Duration::from_millis(20);
            assert_eq!(watch(&mut group.child, soon).expect("it can be watched"), None, "{line}");
        }
    }

    #[test]
    fn the_file_of_a_peer_may_have_any_name_and_its_output_is_read_to_the_end() {
        let folder = TemporaryFolder::new("veriplay-test-").expect("it is made");
        let file = folder.path().join("it's \"one\" $HOME");
        let text = "line\n".repeat(10_000);
        std::fs::write(&file, &text).expect("it is written");
        let (status, printed) = run_command("cat {file}", &file).expect("it starts").expect("it ends");
        assert!(status.success() && printed == text, "{status}: {} bytes", printed.len());
    }

    /// `sed` stands for an interpreter here: it prints what the last line of the program would.
    #[test]
    fn a_peer_that_prints_the_right_output_is_right_and_leaves_no_programs() {
        let sed = "sed -n \"s/^print('\\(.*\\)')$/\\1/p\" {file} | tee {file}.out";
        let mut worker = CommandPeer::new(sed, &PYTHON, true).expect("it starts");
        let round = worker.round(&jobs::all(&PYTHON)[0], Duration::ZERO).expect("it runs");
        assert_eq!(round.wrong, WrongResults::default());
        assert_eq!(std::fs::read_dir(worker.folder.path()).expect("it is there").count(), 0);
    }
}
