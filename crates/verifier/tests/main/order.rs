//! Verdicts do not depend on the machine: the same judgement twice, through a cache and without one.

use veriplay_core::{Attempt, Proposal, Provenance, TaskType, Value};
use veriplay_sandbox::OutcomeCache;
use veriplay_verifier::{ProposalRequest, judge_proposal};

use crate::table::{gate, on_int};

#[test]
fn a_verdict_is_the_same_from_memory() {
    let plain = on_int(|x| Value::int(x * x));
    let cache = OutcomeCache::new(on_int(|x| Value::int(x * x)), 1000);
    for x in [3, 4, 3] {
        let input = vec![Value::int(x)];
        let program = "p".to_owned();
        let attempt = Attempt::Proposal(Proposal::Triplet { task_type: TaskType::Abduction, program, input });
        let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
        assert_eq!(judge_proposal(&cache, &gate(), &request), judge_proposal(&plain, &gate(), &request));
    }
    assert_eq!((cache.hits(), cache.misses()), (2, 4));
}
