//! What the kernel of this machine offers a sandbox.

use crate::dirty_pages::DirtyPages;

/// What the kernel offers. Only [`seccomp`](Self::seccomp) is needed, and only by worker processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSupport {
    /// The ioctl that lists written pages (Linux 6.7): without it every job gets fresh mappings, which is slower.
    pub page_scan: bool,
    /// Asynchronous write protection (Linux 6.7, userfaultfd): without it the scan is slower.
    pub write_tracking: bool,
    /// The version of Landlock, where the kernel has it enabled: worker processes then have a third wall.
    pub landlock: Option<u32>,
    /// Filters of system calls that end a process.
    pub seccomp: bool,
}

impl HostSupport {
    /// Asks the kernel. Nothing of this process changes.
    #[must_use]
    pub fn detect() -> Self {
        let pages = DirtyPages::open();
        Self {
            page_scan: can_scan(&pages),
            write_tracking: pages.can_track(),
            landlock: landlock_version(),
            seccomp: std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
                .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "kill_process")),
        }
    }
}

fn can_scan(pages: &DirtyPages) -> bool {
    const PAGE: usize = 4096;
    let mut memory = vec![1; 3 * PAGE];
    let start = memory.as_ptr().addr().next_multiple_of(PAGE) - memory.as_ptr().addr();
    pages.find_written(&mut memory[start..start + PAGE], false).is_some()
}

fn landlock_version() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no structure, makes nothing, and returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_twice_gives_the_same_answer() {
        assert_eq!(HostSupport::detect(), HostSupport::detect());
    }
}
