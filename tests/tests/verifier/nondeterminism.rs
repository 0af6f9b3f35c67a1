//! Mistake 8: the release runs a program twice in one process and compares with `!=`, so what changes between processes
//! passes and what never equals itself fails. Here the second run has a fresh state, another seed and another clock: `proposals.py` has what it refuses.

use veriplay_core::{Attempt, Status, Value};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProbeRules, ProposalGate};

use super::{abduce, gate, gold, propose, propose_to, python, refused_by};

/// Bodies of `f(x)` for a text `x`, whose outputs hang on a hash or an address by few bits.
const OF_FEW_BITS: [&str; 22] = [
    "hash(x) % 2", "hash(x) & 1", "hash(x) % 3", "hash(x) % 10", "hash(x) % 16", "hash(x) >> 3 & 1",
    "hash(x) >> 17 & 1", "hash(x) < 0", "bool(hash(x) & 8)", "abs(hash(x)) % 2", "hash(x.encode()) % 2",
    "hash((1, x)) % 2", "hash((x, (x, 2))) & 1", "hash(frozenset({x})) % 2", "hash(object()) % 2 + len(x)",
    "hash(int) & 1 or x", "hash('salt') % 2 * len(x)", "[hash(c) % 2 for c in x]", "id(x) >> 3 & 1",
    "id(None) >> 4 & 1 or x", "id(x) % 64", "id([x]) >> 6 & 1",
];

#[test]
fn no_bit_of_a_hash_or_of_an_address_is_the_same_in_both_runs() {
    let lenient = gate();
    let lenient =
        ProposalGate { probes: ProbeRules { min_succeeded: 1, min_distinct_outputs: 1, ..lenient.probes }, ..lenient };
    for body in OF_FEW_BITS {
        let program = format!("def f(x):\n    return {body}\n");
        let judged = propose_to(python(), &lenient, &program, "'abc'").unwrap();
        assert_eq!(judged.verdict.evidence.rule, rules::NONDETERMINISTIC, "{body}: {:?}", judged.verdict);
    }
}

#[test]
fn files_carry_nothing_from_run_to_run() {
    let counter = "def f(x):
    try:
        n = int(open('count').read())
    except FileNotFoundError:
        n = 0
    open('count', 'w').write(str(n + 1))
    return n * 100 + x
";
    assert_eq!(refused_by(counter, "3"), rules::NONDETERMINISTIC);
    // Each job begins without the file, so that the same call gives the same output however often it is judged.
    for _ in 0..3 {
        assert_eq!(abduce(counter, "3", &Attempt::Arguments(vec![Value::int(3)])).status, Status::Accepted);
    }
}

#[test]
fn sets_equal_themselves_in_any_order() {
    let letters = gold("def f(x):\n    return set(x + 'zz')\n", "'abc'");
    assert!(letters.python_eq(&Value::parse_repr("{'z', 'c', 'b', 'a'}").unwrap()), "{letters}");
    let program = "def f(x):\n    return set(x)\n";
    let verdict = abduce(program, "{'c', 'a', 'b'}", &Attempt::Arguments(vec![Value::str("bacab")]));
    assert_eq!(verdict.status, Status::Accepted);
}

#[test]
fn the_order_of_a_set_of_strings_is_one_for_all_jobs_so_no_gold_output_goes_stale() {
    // The release stores such an output and judges answers in another process, where the order is another. The hash seed
    // belongs to the image here: every job on it agrees, whatever its own seed.
    let program = "def f(x):\n    return list(set(x + 'qwertyuiop'))\n";
    let stored = gold(program, "'asdfgh'");
    for _ in 0..3 {
        let verdict = abduce(program, &stored.to_string(), &Attempt::Arguments(vec![Value::str("asdfgh")]));
        assert_eq!(verdict.status, Status::Accepted, "{verdict:?}");
    }
}

#[test]
fn a_verdict_is_the_same_twice() {
    for program in ["def f(x):\n    return x * 7 % 5\n", "import random\ndef f(x):\n    return random.random()\n"] {
        assert_eq!(propose(program, "3"), propose(program, "3"));
    }
}
