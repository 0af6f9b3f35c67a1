//! Signatures: what programs do, as digests of what they give at fixed inputs.
//!
//! # What it computes
//! One job calls a program at eight inputs, which depend on the types of its arguments alone. The signature is the digest of what each call gave, as
//! Python compares values, the type of an exception without its message, and how the job ended: a limit, or an error at module level. An exception
//! class of the program's own counts as any other such class. Names, comments and layout do not matter, nor how the program computes.
//!
//! # Why
//! Proposers that repeat themselves rename and rearrange. A text can be padded to look new; what a program does cannot.
//!
//! # How it can be gamed
//! A program may differ at one fixed input, or by what it costs where it meets a limit. Two programs that differ elsewhere share a signature.
//!
//! Where the host failed, or the clock ended the job, which another run may not repeat, there is no signature, rather than a wrong one.

use std::collections::HashSet;

use veriplay_core::{CallResult, Digest, Execute, Exit, GuestError, Job, Limits, Value, content_hash};

use crate::runner::{Runner, decode_call, entry_job, on_all_cores, run_distinct};
use crate::triplets::{BUILT_IN_EXCEPTIONS, ProposalGate};

/// A program whose behaviour is to be signed.
#[derive(Debug, Clone, Copy)]
pub struct SignatureRequest<'a> {
    /// Its text, which defines `f`.
    pub program: &'a str,
    /// Arguments of the types that it takes; their values do not matter.
    pub input: &'a [Value],
}

/// The signature of each program, under the limits of the gate's first job. Equal jobs run once, and all of them together on all cores.
pub fn signatures(
    execute: &dyn Execute,
    gate: &ProposalGate,
    requests: &[SignatureRequest<'_>],
) -> Vec<Option<Digest>> {
    let inputs = |like: &[Value]| (0..INTS.len()).map(|place| fixed_values(like, place, 0)).collect();
    let job =
        |one: &SignatureRequest<'_>| entry_job(&gate.image, one.program, inputs(one.input), gate.limits, gate.seeds[0]);
    let jobs: Vec<Job> = requests.iter().map(job).collect();
    run_distinct(&jobs, Job::digest, |distinct| on_all_cores(distinct, |job| signature(execute, job)))
}

fn signature(execute: &dyn Execute, job: &Job) -> Option<Digest> {
    let outcome = Runner::new(execute).run(job).ok().filter(|outcome| !outcome.met_deadline())?;
    let end = match &outcome.exit {
        Exit::Exceeded { limit, .. } => format!("{limit:?}"),
        exit => format!("{exit:?}"),
    };
    let calls: Vec<CallBehaviour<'_>> = outcome.calls.iter().map(|call| behaviour(call, &job.limits)).collect();
    Some(content_hash(&(calls, end, outcome.error.as_ref().map(exception))))
}

/// The key of the value that a call returned, or why it has none.
type CallBehaviour<'a> = Result<Vec<u8>, &'a str>;

fn behaviour<'a>(call: &'a CallResult, limits: &Limits) -> CallBehaviour<'a> {
    match call {
        CallResult::Raised(error) => Err(exception(error)),
        _ => decode_call(call, limits).map(|value| value.python_key()).map_err(|_| "no plain value"),
    }
}

fn exception(error: &GuestError) -> &str {
    let exception: &str = &error.kind;
    if BUILT_IN_EXCEPTIONS.contains(&exception) { exception } else { "own exception" }
}

/// Small, as the cost of a program may be exponential in them.
const INTS: [i64; 8] = [2, 5, 0, 1, 3, 10, -1, 7];
const FLOATS: [f64; 8] = [1.5, -2.25, 0.0, 1.0, 0.1, 10.0, 3.75, -0.5];
const TEXTS: [&str; 8] = ["ab", "Hello", "", "a", "aba", "a b,c", "12", "zYx w"];
/// Items of collections; those inside of others have fewer.
const LENGTHS: [usize; 8] = [3, 2, 0, 1, 4, 6, 5, 3];

/// Fixed values of the types of `like`, at different places where there are several.
fn fixed_values(like: &[Value], place: usize, depth: usize) -> Vec<Value> {
    like.iter().enumerate().map(|(index, like)| fixed_value(like, place + 3 * index, depth)).collect()
}

fn fixed_value(like: &Value, place: usize, depth: usize) -> Value {
    let at = place % INTS.len();
    match like {
        Value::None | Value::Object(_) => like.clone(),
        Value::Bool(_) => Value::Bool(at.is_multiple_of(2)),
        Value::Int(_) => Value::int(INTS[at]),
        Value::Float(_) => Value::Float(FLOATS[at]),
        Value::Str(_) => Value::str(TEXTS[at]),
        Value::Bytes(_) => Value::Bytes(TEXTS[at].as_bytes().to_vec()),
        Value::Tuple(items) => Value::Tuple(fixed_values(items, place, depth)),
        Value::List(items) => Value::List(fixed_items(items, place, depth)),
        Value::Set(items) => Value::set_of(fixed_items(items, place, depth), false),
        Value::FrozenSet(items) => Value::set_of(fixed_items(items, place, depth), true),
        Value::Dict(pairs) => Value::Dict(fixed_pairs(pairs, place, depth)),
    }
}

/// Items of the types of `own` in turn, or ints where there are none.
fn fixed_items(own: &[Value], place: usize, depth: usize) -> Vec<Value> {
    let ints = [Value::int(0)];
    let likes = if own.is_empty() { &ints } else { own };
    let count = LENGTHS[place % LENGTHS.len()].min(LENGTHS[5] >> depth);
    likes.iter().cycle().zip(place + 1..).take(count).map(|(like, at)| fixed_value(like, at, depth + 1)).collect()
}

fn fixed_pairs(own: &[(Value, Value)], place: usize, depth: usize) -> Vec<(Value, Value)> {
    let (keys, values): (Vec<Value>, Vec<Value>) = own.iter().cloned().unzip();
    let keys = if keys.is_empty() { vec![Value::str("")] } else { keys };
    let mut seen = HashSet::new();
    let pairs = fixed_items(&keys, place, depth).into_iter().zip(fixed_items(&values, place, depth));
    pairs.filter(|(key, _)| seen.insert(key.python_key())).collect()
}
