//! Worker processes: the same outcomes, nothing lost when they die, and nothing left to them that they do not need.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use veriplay_core::{Execute, ExecuteError, Exit};
use veriplay_sandbox::{Sandbox, SandboxOptions, WorkerProgram, default_cache_dir};

use crate::support::{python, sandbox, script};

pub(crate) fn program() -> WorkerProgram {
    python();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_veriplay-worker"));
    WorkerProgram { program, arguments: Vec::new(), cache_dir: default_cache_dir().unwrap() }
}

/// The same program, whose processes are known by `name`.
pub(crate) fn program_named(name: &str) -> WorkerProgram {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join(name);
    std::os::unix::fs::symlink(program().program, &link).unwrap();
    // New workers are started as long as a sandbox lives, which in a test is to its end.
    std::mem::forget(directory);
    WorkerProgram { program: link, ..program() }
}

/// A sandbox whose workers are known by `name`, which must be its own.
pub(crate) fn processes(max_parallel: usize, name: &str) -> Sandbox {
    let options = SandboxOptions { max_parallel, ..SandboxOptions::fastest() };
    Sandbox::in_processes(python(), options, program_named(name)).unwrap()
}

#[test]
fn a_job_has_the_same_outcome_in_a_process() {
    let processes = processes(1, "same");
    for job in crate::reproducible::jobs() {
        assert_eq!(processes.execute(&job).unwrap(), sandbox().execute(&job).unwrap(), "{}", job.program);
    }
}

/// Process ids of the workers of that name this process has now.
pub(crate) fn workers(of_name: &str) -> BTreeSet<u32> {
    let me = std::process::id().to_string();
    let of = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once(") ")?;
        let parent = rest.split(' ').nth(1)?;
        (name.ends_with(&format!("({of_name}")) && parent == me).then(|| name.split(' ').next()?.parse().ok())?
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

fn signal(process: u32, signal: i32) {
    // SAFETY: integers only; at worst a process is gone already.
    #[expect(unsafe_code, reason = "the standard library sends no signals")]
    unsafe {
        libc::kill(process.cast_signed(), signal)
    };
}

#[test]
fn killed_at_random_under_load_every_job_has_its_answer_once() {
    const JOBS: usize = 300;
    let sandbox = processes(2, "victim");
    let (done, next, kills) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let answers: Vec<(usize, Result<Vec<u8>, ExecuteError>)> = std::thread::scope(|scope| {
        scope.spawn(|| {
            // One kill for every few jobs: a worker takes longer to start than a job to run.
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                let begun = next.load(Ordering::Relaxed);
                if let Some(worker) = workers("victim").iter().cycle().nth(begun % 7).filter(|_| begun >= seen + 15) {
                    signal(*worker, [libc::SIGKILL, libc::SIGSEGV][begun % 2]);
                    kills.fetch_add(1, Ordering::Relaxed);
                    seen = begun;
                }
                std::thread::yield_now();
            }
        });
        let run = || {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < JOBS);
            std::iter::from_fn(take)
                .map(|index| {
                    // Never so fast that the killer does not keep up.
                    while kills.load(Ordering::Relaxed) < index / 30 {
                        std::thread::yield_now();
                    }
                    (index, sandbox.execute(&script(&format!("print({index})"))).map(|outcome| outcome.stdout))
                })
                .collect::<Vec<_>>()
        };
        let threads = [scope.spawn(run), scope.spawn(run)];
        let joined: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        // Before anything can fail: the killer waits for it.
        done.store(true, Ordering::Relaxed);
        joined.into_iter().flat_map(Result::unwrap).collect()
    });
    let indices: BTreeSet<usize> = answers.iter().map(|(index, _)| *index).collect();
    assert_eq!((answers.len(), indices.len()), (JOBS, JOBS));
    for (index, answer) in &answers {
        match answer {
            // Its own output, or, where both of its runs were killed in the same way, none.
            Ok(stdout) => assert!(stdout.is_empty() || *stdout == format!("{index}\n").into_bytes()),
            Err(ExecuteError::Host(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(kills.load(Ordering::Relaxed) >= (JOBS - 1) / 30);
    let right = answers.iter().filter(|(_, answer)| answer.as_ref().is_ok_and(|stdout| !stdout.is_empty())).count();
    assert!(right > JOBS / 2, "{right} of {JOBS}");
    assert_eq!(sandbox.execute(&script("print(1)")).unwrap().exit, Exit::Returned);
}

#[test]
fn a_worker_that_cannot_start_or_work_says_why() {
    let refused = |program: WorkerProgram| {
        let sandbox = Sandbox::in_processes(python(), SandboxOptions::fastest(), program);
        sandbox.expect_err("a worker that cannot work is an error").to_string()
    };
    let none = refused(WorkerProgram { program: "/nowhere/worker".into(), ..program() });
    assert!(none.contains("cannot start the worker `/nowhere/worker`"), "{none}");
    let other = refused(WorkerProgram { program: "/bin/true".into(), ..program() });
    assert!(other.contains("no answer from a worker process"), "{other}");
    let empty = tempfile::tempdir().unwrap();
    let lost = refused(WorkerProgram { cache_dir: empty.path().to_owned(), ..program() });
    assert!(lost.contains("image `python` is not in the cache"), "{lost}");
}

#[test]
fn a_worker_that_answers_nonsense_is_a_fault_and_not_an_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let liar = directory.path().join("liar.py");
    let lying = |fuel: &str| {
        std::fs::write(&liar, include_str!("liar.py").replace("FUEL", fuel)).unwrap();
        let arguments = vec!["python3".into(), liar.clone().into_os_string()];
        let program = WorkerProgram { program: "/usr/bin/env".into(), arguments, ..program() };
        Sandbox::in_processes(python(), SandboxOptions::fastest(), program).unwrap().execute(&script("pass"))
    };
    assert!(lying("18446744073709551615").unwrap_err().to_string().contains("what no job can come to"));
    // What it cannot be caught at is the job's own outcome.
    assert_eq!(lying("5").unwrap().fuel, 5);
}

#[test]
fn a_worker_has_no_environment_no_files_and_no_rights() {
    let sandbox = processes(1, "walled");
    sandbox.execute(&script("pass")).unwrap();
    let worker = *workers("walled").iter().next().unwrap();
    let read = |name: &str| std::fs::read(format!("/proc/{worker}/{name}"));
    assert_eq!(read("environ").unwrap_or_default(), b"");
    let status = String::from_utf8(read("status").unwrap()).unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).map(str::to_owned);
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), (Some("1".to_owned()), Some("2".to_owned())));
    let limits = String::from_utf8(read("limits").unwrap()).unwrap();
    for name in ["Max open files", "Max processes", "Max file size", "Max core file size"] {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        assert_eq!(line[name.len()..].split_whitespace().next(), Some("0"), "{line}");
    }
    // The socket, two times /dev/null, and what the image holds: no more than its code, memory and the page scan.
    if let Ok(descriptors) = std::fs::read_dir(format!("/proc/{worker}/fd")) {
        let links = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        let strange: Vec<PathBuf> = links.filter(|link| !is_known(&link.to_string_lossy())).collect();
        assert_eq!(strange, Vec::<PathBuf>::new());
    }
}

fn is_known(link: &str) -> bool {
    let known = ["socket:", "/dev/null", "/memfd:", "anon_inode:[userfaultfd]"];
    known.iter().any(|start| link.starts_with(start)) || link.ends_with("/pagemap") || link.ends_with(".cwasm")
}
