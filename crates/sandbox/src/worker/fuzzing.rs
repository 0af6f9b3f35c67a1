//! Frames from arbitrary bytes: what the fuzzer of the pipe between workers and their parent reads.

use veriplay_core::{Callee, Job, Limits, Value};

use super::parent::is_possible;
use super::{WorkerReply, WorkerSetup, frames};

const MAX_BYTES: u64 = 1 << 16;
const LIMITS: Limits =
    Limits { fuel: 1000, memory_bytes: 1 << 20, output_bytes: 64, file_bytes: 64, deadline_ns: 1_000_000 };

/// Reads `bytes` as the frames of either side.
///
/// # Panics
/// When a frame makes the reader panic, reads otherwise the second time, or passes for an answer that breaks a limit.
pub(crate) fn read_any_frames(bytes: &[u8]) {
    let job = job();
    let mut pipe = bytes;
    while let Ok(Some(reply)) = frames::receive::<WorkerReply>(&mut pipe, MAX_BYTES) {
        check_round_trip(&reply);
        if let WorkerReply::Outcome(outcome) = reply
            && is_possible(&outcome, &job)
        {
            assert!(outcome.fuel <= LIMITS.fuel && outcome.stdout.len() as u64 <= LIMITS.output_bytes);
            assert!(outcome.calls.len() <= 2 && outcome.callee.is_none_or(|callee| callee.callee.is_none()));
        }
    }
    let mut pipe = bytes;
    if let Ok(Some(hello)) = frames::receive::<WorkerSetup>(&mut pipe, MAX_BYTES) {
        check_round_trip(&hello);
    }
    while let Ok(Some(job)) = frames::receive::<Job>(&mut pipe, MAX_BYTES) {
        check_round_trip(&job);
    }
}

/// What was read can be sent, and is then read as the same.
fn check_round_trip<T: serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug>(record: &T) {
    let mut pipe = Vec::new();
    frames::send(&mut pipe, record).expect("a record that was read can be sent");
    let again = frames::receive::<T>(&mut pipe.as_slice(), u64::MAX).expect("what was sent can be read");
    assert_eq!(format!("{:?}", Some(record)), format!("{:?}", again.as_ref()));
}

fn job() -> Job {
    let callee = Some(Callee { seed: 2, ..Callee::default() });
    Job { limits: LIMITS, seed: 1, callee, ..Job::calls("", "f", [vec![Value::int(1)], vec![]]) }
}
