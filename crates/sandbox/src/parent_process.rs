//! Whether the parent of this process has died or calls: a worker must not go on running programs that nobody waits for.
//!
//! The kernel can signal a death of the parent (`PR_SET_PDEATHSIG`), but it means the thread that started the worker, which may end long before
//! its process. So a worker that runs a program has its watchdog ask who its parent is: an orphan is given another one. Other programs do not ask;
//! [`end_with_parent`] has the kernel signal them, for threads that wait for what they start.

use std::io;
use std::os::unix::process::{CommandExt, parent_id};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The parent that a worker began with; 0 in a process that is no worker.
static PARENT: AtomicU32 = AtomicU32::new(0);

/// Notes the parent of a worker, before its first job.
pub(crate) fn note_parent() {
    PARENT.store(parent_id(), Ordering::Relaxed);
}

/// Whether this process is a worker whose parent has died.
pub(crate) fn is_orphan() -> bool {
    let parent = PARENT.load(Ordering::Relaxed);
    parent != 0 && parent_id() != parent
}

/// Whether this process is a worker whose parent has sent something that nobody has read yet. While a job runs it only does so to end that job.
pub(crate) fn parent_calls() -> bool {
    let mut byte = 0_u8;
    PARENT.load(Ordering::Relaxed) != 0
        // SAFETY: the call writes at most this byte, which outlives it. Standard input of a worker is the socket to its parent.
        && unsafe { libc::recv(libc::STDIN_FILENO, (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) > 0 }
}

/// Has the process that `command` starts killed when this process ends, however it ends. The thread that starts it must not end before it: the
/// kernel takes that for the death of the parent. What the process starts itself is not killed.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: integers only.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // It may have died before.
        if parent_id() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: between `fork` and `exec` the closure makes two system calls, allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(ask);
    }
}
