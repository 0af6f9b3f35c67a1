//! The executor that remembers.

use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_core::{Execute, Job, LimitKind, Value};
use veriplay_verifier::OutcomeCache;

use crate::table::{Gives, LIMITS, Table, exceeded, on_int, read};

fn job(x: i64) -> Job {
    Job { limits: LIMITS, seed: 1, ..Job::calls("p", "f", vec![vec![Value::int(x)]]) }
}

#[test]
fn a_repeated_job_is_run_once_and_answered_alike() {
    let cache = OutcomeCache::new(on_int(|x| Value::int(x * x)), 100);
    let first = cache.execute(&job(3)).unwrap();
    assert_eq!(cache.execute(&job(3)).unwrap(), first);
    assert_ne!(cache.execute(&job(4)).unwrap(), first);
    assert_ne!(cache.execute(&Job { seed: 2, ..job(3) }).unwrap().calls.len(), 0);
    assert_eq!((cache.hits(), cache.misses(), cache.inner().jobs().len()), (1, 3, 3));
}

#[test]
fn it_forgets_and_never_holds_more_than_it_may() {
    let cache = OutcomeCache::new(on_int(Value::int), 32);
    for round in 0..3 {
        for x in 0..1000 {
            let outcome = cache.execute(&job(x)).unwrap();
            assert_eq!(outcome.calls, on_int(Value::int).execute(&job(x)).unwrap().calls, "round {round}");
        }
    }
    assert!(cache.misses() > 2900, "{} misses: more than 32 outcomes were kept", cache.misses());
    let none = OutcomeCache::new(on_int(Value::int), 0);
    none.execute(&job(1)).unwrap();
    none.execute(&job(1)).unwrap();
    assert_eq!((none.hits(), none.misses()), (0, 2));
}

#[test]
fn what_is_asked_for_again_and_again_is_kept() {
    let cache = OutcomeCache::new(on_int(Value::int), 320);
    for x in 1..1000 {
        cache.execute(&job(0)).unwrap();
        cache.execute(&job(x)).unwrap();
    }
    assert_eq!(cache.hits(), 998);
}

#[test]
fn deadlines_and_host_faults_are_not_remembered() {
    for first in [|| Gives::Stops(exceeded(LimitKind::DeadlineNs)), || Gives::HostFault] {
        let calls = AtomicUsize::new(0);
        let cache = OutcomeCache::new(
            Table::of(
                move |_| if calls.fetch_add(1, Ordering::SeqCst) == 0 { first() } else { Gives::Value(read("1")) },
            ),
            100,
        );
        assert!(cache.execute(&job(1)).is_err() || cache.misses() == 1);
        assert_eq!(cache.execute(&job(1)).unwrap().calls.len(), 1);
        assert_eq!((cache.hits(), cache.misses()), (0, 2));
    }
    let fuel = OutcomeCache::new(Table::of(|_| Gives::Stops(exceeded(LimitKind::Fuel))), 100);
    assert_eq!(fuel.execute(&job(1)).unwrap(), fuel.execute(&job(1)).unwrap());
    assert_eq!(fuel.hits(), 1);
}

#[test]
fn threads_that_ask_at_once_get_one_outcome() {
    // An executor that breaks its promise and answers differently each time: the cache still gives all askers one answer.
    let calls = AtomicUsize::new(0);
    let cache =
        OutcomeCache::new(Table::of(move |_| Gives::Value(Value::int(calls.fetch_add(1, Ordering::SeqCst)))), 100);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| cache.execute(&job(1)).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    assert_eq!(cache.hits() + cache.misses(), 8);
}
