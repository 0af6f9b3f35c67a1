//! Reads what a challenger or an executor wrote: fenced blocks, taken as text and never run here.
//!
//! An executor's turn is its last closed block fenced as `python`. A challenger's turn is the same, or, when it holds a block
//! fenced as `instruction`, a proposal: `instruction`, `verify`, `solution` once each, and `failure` several times.

use veriplay_core::CodeTask;

const FENCE: &str = "```";

/// What a challenger does in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChallengerResponse {
    /// Code that explores the environment.
    Explore(String),
    /// The artifact it proposes.
    Propose(CodeTask),
}

/// The code of an executor's turn.
///
/// # Errors
/// What is missing, for people and for the next prompt.
pub fn read_executor(text: &str) -> Result<String, String> {
    let code = blocks(text).into_iter().rfind(|block| is_python(&block.label));
    code.map(|block| block.text).ok_or_else(|| "there is no closed block fenced as `python`".to_owned())
}

/// A challenger's turn. The artifact is named `task_id` and is about `environment`: that is not the challenger's to say.
///
/// # Errors
/// What is missing or there twice, for people and for the next prompt.
pub fn read_challenger(text: &str, task_id: &str, environment: &str) -> Result<ChallengerResponse, String> {
    let blocks = blocks(text);
    if !blocks.iter().any(|block| block.label == "instruction") {
        return read_executor(text).map(ChallengerResponse::Explore);
    }
    let one = |label: &str| {
        let mut found = blocks.iter().filter(|block| block.label == label);
        match (found.next(), found.next()) {
            (Some(block), None) => Ok(block.text.clone()),
            (None, _) => Err(format!("there is no closed block fenced as `{label}`")),
            (Some(_), Some(_)) => Err(format!("there are two blocks fenced as `{label}`")),
        }
    };
    let failures = blocks.iter().filter(|block| block.label == "failure").map(|block| block.text.clone());
    Ok(ChallengerResponse::Propose(CodeTask {
        task_id: task_id.to_owned(),
        environment: environment.to_owned(),
        instruction: one("instruction")?.trim().to_owned(),
        verify: one("verify")?,
        solution: one("solution")?,
        failures: failures.collect(),
    }))
}

fn is_python(label: &str) -> bool {
    ["python", "py", "python3"].contains(&label)
}

struct Block {
    label: String,
    text: String,
}

/// The closed blocks, with the ends of lines that were written. A fence opens and closes on lines of its own.
fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for line in text.split_inclusive('\n') {
        match (&mut open, line.trim_end().strip_prefix(FENCE)) {
            (None, Some(label)) => {
                open = Some(Block { label: label.trim().to_ascii_lowercase(), text: String::new() });
            }
            (Some(_), Some("")) => found.extend(open.take()),
            (Some(block), _) => block.text.push_str(line),
            (None, None) => {}
        }
    }
    found
}
