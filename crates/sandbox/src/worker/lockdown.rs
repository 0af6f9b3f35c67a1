//! The rights that a worker process gives up before its first job.
//!
//! A guest that broke out of wasm would run with what is left: the memory of this process, one socket, the image's own
//! descriptors, and the system calls below. It could answer its own job wrongly, which it can anyway, and those that come
//! after it, until the worker dies: the limits of a second wall inside one process, stated in SECURITY.md.
//!
//! In order: no new privileges and Landlock, where the kernel has it: no file, no network; no core dumps, no new
//! descriptors, processes or file growth, a bound on address space; and a seccomp filter, which ends the process at any
//! system call that running guests does not need.

use std::collections::BTreeMap;
use std::io;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::watchdog;

/// Address space a worker may have: two instances with their reservations (8 GiB each, and guards), code and image, and as much again.
pub(super) const ADDRESS_SPACE: u64 = 64 << 30;
/// That of a worker for modules alone; what its compiler takes is in it.
pub(super) const MODULE_ADDRESS_SPACE: u64 = 20 << 30;

/// System calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = &[
    // the socket
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    // memory
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    // the watchdog's clock, parent and locks, randomness of hash maps
    libc::SYS_clock_gettime,
    libc::SYS_getppid,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    // traps of wasm are signals
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    // the end
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The requests by which the reset of memory asks the kernel for written pages; see [`crate::dirty_pages`].
const IOCTLS: [u64; 3] =
    [crate::dirty_pages::PAGEMAP_SCAN, crate::dirty_pages::UFFDIO_REGISTER, crate::dirty_pages::UFFDIO_WRITEPROTECT];

/// Closes every descriptor but standard input, output and error: a parent may have leaked some. Fails when the kernel is older than Linux 5.9.
pub(super) fn close_all_but_standard() -> io::Result<()> {
    // The call itself: glibc has a function for it since 2.34, and the wheel is linked for 2.17.
    // SAFETY: called first thing, before this process has opened anything.
    check_result(unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) })
}

/// Whether memory may be made executable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NewCode {
    /// It is allowed until [`forbid_new_code`].
    Allowed,
    Forbidden,
}

/// Gives up every right that running guests does not need, for all threads and for good, and address space beyond `most_addresses`.
/// Fails when a right cannot be given up; the process must then not run guests. Only Landlock may be missing.
pub(super) fn lock_down(new_code: NewCode, most_addresses: u64) -> Result<(), String> {
    // First: it needs a descriptor for a moment.
    restrict_files_and_network().map_err(|error| format!("landlock: {error}"))?;
    // Landlock is inherited, and no thread can be made later.
    watchdog::start()?;
    set_resource_limits(most_addresses).map_err(|error| format!("resource limits: {error}"))?;
    apply_filter(new_code)
}

/// Gives up the right to add code, after [`lock_down`]. Of two filters the stricter one decides.
pub(super) fn forbid_new_code() -> Result<(), String> {
    apply_filter(NewCode::Forbidden)
}

fn apply_filter(new_code: NewCode) -> Result<(), String> {
    let filter = system_call_filter(new_code).map_err(|error| format!("seccomp: {error}"))?;
    // Sets no_new_privs too.
    seccompiler::apply_filter_all_threads(&filter).map_err(|error| format!("seccomp: {error}"))
}

fn set_resource_limits(most_addresses: u64) -> io::Result<()> {
    let none = [libc::RLIMIT_CORE, libc::RLIMIT_FSIZE, libc::RLIMIT_NOFILE, libc::RLIMIT_NPROC];
    let addresses = most_addresses.min(inherited_address_limit()?);
    for (resource, most) in none.into_iter().map(|resource| (resource, 0)).chain([(libc::RLIMIT_AS, addresses)]) {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: `limit` is the struct the call reads, and outlives it.
        check_result(i64::from(unsafe { libc::setrlimit(resource, &raw const limit) }))?;
    }
    // SAFETY: integers only. Nobody may attach to this process or read its memory.
    check_result(i64::from(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }))
}

/// The limit on address space that this process has been started with: only a privileged process could raise it.
fn inherited_address_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is the struct the call writes, and outlives it.
    check_result(i64::from(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) }))?;
    Ok(limit.rlim_max)
}

fn restrict_files_and_network() -> Result<(), landlock::RulesetError> {
    // Best effort: a right that an old kernel does not know cannot be taken away, and seccomp forbids the calls anyway.
    let abi = ABI::V5;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .create()?
        .restrict_self()
        .map(|_| ())
}

fn system_call_filter(new_code: NewCode) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let condition = |argument, operator, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let not_executable = match new_code {
            NewCode::Allowed => Vec::new(),
            NewCode::Forbidden => vec![condition(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0)?],
        };
        rules.insert(call, not_executable);
    }
    let asked = IOCTLS.into_iter().map(|request| condition(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, asked.collect::<Result<_, _>>()?);
    // Whether a descriptor is open: what std asks when it closes one, in builds with debug assertions.
    rules.insert(libc::SYS_fcntl, vec![condition(1, SeccompCmpOp::Eq, libc::F_GETFD as u64)?]);
    // mimalloc, the allocator of `veriplay`, names its new mappings. A name gives no right.
    let mut options = vec![libc::PR_SET_VMA as u64];
    if new_code == NewCode::Allowed {
        // For the second filter, which takes this away again.
        options.push(libc::PR_SET_NO_NEW_PRIVS as u64);
        // Where processors do not see new code by themselves, every thread is made to look.
        if cfg!(target_arch = "aarch64") {
            rules.insert(libc::SYS_membarrier, Vec::new());
        }
        rules
            .insert(libc::SYS_seccomp, vec![condition(0, SeccompCmpOp::Eq, u64::from(libc::SECCOMP_SET_MODE_FILTER))?]);
    }
    let named = options.into_iter().map(|option| condition(0, SeccompCmpOp::Eq, option));
    rules.insert(libc::SYS_prctl, named.collect::<Result<_, _>>()?);
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)?.try_into()
}

fn check_result(result: i64) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a process ends that calls `prctl` under the filter: with its exit status, or by a signal.
    fn end_after_prctl(option: libc::c_int) -> Result<i32, i32> {
        let filter = system_call_filter(NewCode::Forbidden).unwrap();
        // SAFETY: the child makes only system calls until it ends, as it must in a process that had other threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let status = i32::from(seccompiler::apply_filter(&filter).is_err());
            // SAFETY: integers only; a range of no length names nothing.
            unsafe {
                libc::prctl(option, 0_usize, 0_usize, 0_usize, 0_usize);
                libc::_exit(status)
            }
        }
        let mut status = 0;
        // SAFETY: `status` outlives the call, which writes it.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        if libc::WIFSIGNALED(status) { Err(libc::WTERMSIG(status)) } else { Ok(libc::WEXITSTATUS(status)) }
    }

    #[test]
    fn a_worker_may_name_its_memory_and_may_ask_nothing_else_of_prctl() {
        assert_eq!(end_after_prctl(libc::PR_SET_VMA), Ok(0));
        for option in [libc::PR_GET_DUMPABLE, libc::PR_SET_DUMPABLE, libc::PR_SET_NAME, libc::PR_SET_PTRACER] {
            assert_eq!(end_after_prctl(option), Err(libc::SIGSYS), "option {option}");
        }
    }
}
