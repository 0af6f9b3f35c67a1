//! A model's response as an attempt, in both prompt formats, and rows of a file of attempts.

use std::path::Path;

use veriplay_core::{Attempt, Proposal, TaskType};
use veriplay_corpus::parse_attempts;
use veriplay_verifier::formats::{FORMATS, ProposalShape};

use super::literals::survives;

const TYPES: [TaskType; 4] = TaskType::ALL;
const MAX_ROW_BYTES: u64 = 1 << 16;

/// The first byte chooses the format, the rest is the text.
pub(super) fn run(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    if *choice >= 0x80 {
        return rows(text);
    }
    let Ok(text) = std::str::from_utf8(text) else { return };
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let task_type = TYPES[usize::from(*choice) / FORMATS.len() % TYPES.len()];
    for given in [None, Some("def f(a):\n    return a")] {
        let shape = ProposalShape { task_type, given, inputs: 3 };
        holds(&format.extract_proposal(&shape, text));
    }
    holds(&format.extract_answer(task_type, text));
    format.is_well_formed(text);
}

/// Checks that parsed values survive encoding, and that malformed text has a reason.
fn holds(attempt: &Attempt) {
    match attempt {
        Attempt::Malformed { reason } => assert!(!reason.is_empty()),
        Attempt::Value(value) => survives(value),
        Attempt::Arguments(values) | Attempt::Proposal(Proposal::Triplet { input: values, .. }) => {
            values.iter().for_each(survives);
        }
        Attempt::Proposal(Proposal::Inputs { inputs, .. }) => inputs.iter().flatten().for_each(survives),
        Attempt::Program(program) => assert!(!program.trim().is_empty()),
        Attempt::Exception(name) => assert!(!name.is_empty()),
    }
}

fn rows(bytes: &[u8]) {
    let Ok(rows) = parse_attempts(Path::new("fuzz"), bytes.to_vec(), MAX_ROW_BYTES) else { return };
    for row in rows {
        match row {
            Ok(Ok(row)) => assert!(!row.task_id.is_empty()),
            Ok(Err(bad)) => assert!(!bad.fault.reason.is_empty()),
            Err(_) => return,
        }
    }
}
