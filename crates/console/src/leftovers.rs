//! What a command must not leave behind: temporary folders, processes with all that they started, containers. Each goes with its owner. A signal
//! that ends this process drops nothing, so [`crate::interrupt`] calls [`remove_all`] first. After SIGKILL the processes die with their parent,
//! and the rest stays.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use veriplay_sandbox::end_with_parent;

/// How often a folder is tried to be removed: a process may write there while it dies.
const REMOVALS: usize = 3;
/// How often a process that was asked to end is looked at.
const STEP: Duration = Duration::from_millis(5);

/// In the order in which they are removed at a signal: processes write in folders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Leftover {
    /// A group of processes, by its leader.
    Group(u32),
    /// A container, by the program that runs it, and its name.
    Container(&'static str, String),
    Folder(PathBuf),
}

impl Leftover {
    /// Removes it. It may have gone already.
    fn remove(&self) {
        match self {
            Self::Group(leader) => {
                if let Some(group) = pid(*leader) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
            Self::Container(program, name) => {
                let mut command = Command::new(program);
                let command = command.args(["kill", name.as_str()]).stdin(Stdio::null());
                let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            }
            Self::Folder(path) => {
                let _ = (0..REMOVALS).any(|_| std::fs::remove_dir_all(path).is_ok() || !path.exists());
            }
        }
    }
}

static ALL: Mutex<BTreeSet<Leftover>> = Mutex::new(BTreeSet::new());
/// Held while one is made: a signal finds all that is there, and after it nothing is made. Threads share it and make theirs beside each other.
static MAKING: RwLock<()> = RwLock::new(());

fn all() -> MutexGuard<'static, BTreeSet<Leftover>> {
    // A set is consistent between any two calls.
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all. Nothing can be made any more: this process ends.
pub fn remove_all() {
    std::mem::forget(MAKING.write().unwrap_or_else(PoisonError::into_inner));
    let all = all();
    all.iter().for_each(Leftover::remove);
    std::mem::forget(all);
}

/// A leftover that goes with its owner; `None` once it has gone.
#[derive(Debug)]
struct Owned(Option<Leftover>);

impl Owned {
    fn make<T>(make: impl FnOnce() -> io::Result<(T, Leftover)>) -> io::Result<(T, Self)> {
        let _making = MAKING.read().unwrap_or_else(PoisonError::into_inner);
        let (made, leftover) = make()?;
        all().insert(leftover.clone());
        Ok((made, Self(Some(leftover))))
    }

    fn forget(&mut self) {
        if let Some(leftover) = self.0.take() {
            all().remove(&leftover);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(leftover) = &self.0 {
            // Before it is forgotten: a signal may come in between.
            leftover.remove();
        }
        self.forget();
    }
}

/// A temporary folder.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    _owned: Owned,
}

impl TemporaryFolder {
    /// Makes a folder whose name begins with `prefix`.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let (path, owned) = Owned::make(|| {
            let path = tempfile::Builder::new().prefix(prefix).tempdir()?.keep();
            Ok((path.clone(), Leftover::Folder(path)))
        })?;
        Ok(Self { path, _owned: owned })
    }

    /// Where it is, until this is dropped.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A process and all that it started and that has not left its group. Dropping this kills them.
#[derive(Debug)]
pub struct ProcessGroup {
    /// The process itself, to wait for and to write to.
    pub child: Child,
    owned: Owned,
}

impl ProcessGroup {
    /// Starts a group. The calling thread must outlive its leader.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        end_with_parent(command);
        let command = command.process_group(0);
        let (child, owned) = Owned::make(|| {
            let child = command.spawn()?;
            let group = Leftover::Group(child.id());
            Ok((child, group))
        })?;
        Ok(Self { child, owned })
    }

    /// Kills the process with all that it started.
    pub fn kill(&self) {
        self.owned.0.iter().for_each(Leftover::remove);
    }

    /// Asks the leader to end, and waits for it up to `grace`.
    pub fn terminate(&mut self, grace: Duration) {
        if let Some(leader) = pid(self.child.id()) {
            // It may have ended already.
            let _ = kill_process(leader, Signal::TERM);
        }
        let deadline = Instant::now() + grace;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(STEP);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// A container that a program runs. It goes on when its client is killed, so it is killed by its name unless it is said to have ended.
#[derive(Debug)]
pub struct Container(Owned);

impl Container {
    /// Called before the container starts.
    pub fn announce(program: &'static str, name: &str) -> io::Result<Self> {
        let ((), owned) = Owned::make(|| Ok(((), Leftover::Container(program, name.to_owned()))))?;
        Ok(Self(owned))
    }

    /// Forgets the container, which has ended by itself.
    pub fn has_ended(mut self) {
        self.0.forget();
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_group_go_with_their_owner() {
        let folder = TemporaryFolder::new("veriplay-test-").expect("it is made");
        let path = folder.path().to_owned();
        std::fs::write(path.join("file"), "").expect("it is written");
        assert!(all().contains(&Leftover::Folder(path.clone())));
        drop(folder);
        assert!(!path.exists() && !all().contains(&Leftover::Folder(path)));

        let mut command = Command::new("sh");
        let command = command.args(["-c", "sleep 600 & wait"]).stdout(Stdio::piped());
        let mut group = ProcessGroup::start(command).expect("it starts");
        let (leader, output) = (group.child.id(), group.child.stdout.take().expect("it is a pipe"));
        assert!(all().contains(&Leftover::Group(leader)));
        drop(group);
        assert!(!Path::new(&format!("/proc/{leader}")).exists(), "it was killed and waited for");
        // It ends when its last writer has ended.
        assert_eq!(io::read_to_string(output).expect("it is read"), "", "what the leader started was killed");
    }

    #[test]
    fn processes_end_before_the_folders_that_they_write_in() {
        let [group, container] = [Leftover::Group(u32::MAX), Leftover::Container("docker", "a".to_owned())];
        assert!(group < container && container < Leftover::Folder(PathBuf::new()));
    }
}
