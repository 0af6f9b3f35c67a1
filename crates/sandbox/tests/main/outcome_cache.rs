//! The cache of outcomes: equal jobs run once, and what another run may not repeat is not kept.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use veriplay_core::{Execute, ExecuteError, Exit, Job, LimitKind, Outcome};
use veriplay_sandbox::OutcomeCache;

/// Ends every job in the way of its seed, and gives each outcome a number in the place of its fuel.
#[derive(Debug, Default)]
struct Numbered {
    runs: AtomicU64,
    /// What the next jobs end as, instead.
    failures: Mutex<Vec<Result<Exit, ExecuteError>>>,
}

impl Numbered {
    fn failing_once(failure: Result<Exit, ExecuteError>) -> Self {
        Self { failures: Mutex::new(vec![failure]), ..Self::default() }
    }
}

impl Execute for Numbered {
    fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
        let fuel = self.runs.fetch_add(1, Ordering::SeqCst);
        let exit = self.failures.lock().unwrap().pop().unwrap_or(Ok(Exit::Returned))?;
        Ok(Outcome { fuel, ..Outcome::new(exit) })
    }
}

fn job(seed: u64) -> Job {
    Job { seed, ..Job::script("") }
}

fn exceeded(limit: LimitKind) -> Exit {
    Exit::Exceeded { limit, allowed: 1, used: 2 }
}

#[test]
fn a_repeated_job_is_run_once_and_answered_alike() {
    let cache = OutcomeCache::new(Numbered::default(), 100);
    let first = cache.execute(&job(3)).unwrap();
    assert_eq!(cache.execute(&job(3)).unwrap(), first);
    assert_ne!(cache.execute(&job(4)).unwrap(), first);
    assert_eq!((cache.hits(), cache.misses(), cache.inner().runs.load(Ordering::SeqCst)), (1, 2, 2));
}

#[test]
fn it_forgets_and_never_holds_more_than_it_may() {
    let cache = OutcomeCache::new(Numbered::default(), 32);
    for _ in 0..3 {
        for seed in 0..1000 {
            cache.execute(&job(seed)).unwrap();
        }
    }
    assert!(cache.misses() > 2800, "{} misses: more than 32 outcomes were kept", cache.misses());
    let none = OutcomeCache::new(Numbered::default(), 0);
    none.execute(&job(1)).unwrap();
    none.execute(&job(1)).unwrap();
    assert_eq!((none.hits(), none.misses()), (0, 2));
}

#[test]
fn what_is_asked_for_again_and_again_is_kept() {
    let cache = OutcomeCache::new(Numbered::default(), 320);
    for seed in 1..1000 {
        cache.execute(&job(0)).unwrap();
        cache.execute(&job(seed)).unwrap();
    }
    assert_eq!(cache.hits(), 998);
}

#[test]
fn deadlines_and_host_faults_are_not_remembered() {
    for failure in [Ok(exceeded(LimitKind::DeadlineNs)), Err(ExecuteError::UnknownImage("none".to_owned()))] {
        let cache = OutcomeCache::new(Numbered::failing_once(failure), 100);
        assert!(cache.execute(&job(1)).map_or(true, |outcome| outcome.exit != Exit::Returned));
        assert_eq!(cache.execute(&job(1)).unwrap().exit, Exit::Returned);
        assert_eq!((cache.hits(), cache.misses()), (0, 2));
    }
    let cache = OutcomeCache::new(Numbered::failing_once(Ok(exceeded(LimitKind::Fuel))), 100);
    assert_eq!(cache.execute(&job(1)).unwrap(), cache.execute(&job(1)).unwrap());
    assert_eq!(cache.hits(), 1);
}

#[test]
fn threads_that_ask_at_once_get_one_outcome() {
    // An executor that breaks its promise and answers differently each time: the cache still gives all askers one answer.
    let cache = OutcomeCache::new(Numbered::default(), 100);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| cache.execute(&job(1)).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    assert_eq!((cache.hits(), cache.misses()), (7, 1));
}
