//! `compact`: one turn, no prose; for models of a million parameters.
//!
//! An executor reads `<WORLD>orders<DO>instruction<CODE>` and answers with code: nothing says what the tools are or what is in the world, so
//! a model must have been taught both. A challenger reads `<WORLD>orders<MAKE>cancel_order(` and answers with a
//! [`CompactProposal`]. How that becomes a whole artifact is told there.

use veriplay_verifier::environments::compact_proposal::{CODE, CompactProposal, DO, MAKE, WORLD, WRONG};
use veriplay_verifier::environments::{ChallengerResponse, EnvironmentDescription};

use super::{ChallengeFormat, Goal, Left, Turn};

pub(super) struct Compact;

/// Asks for code.
#[must_use]
pub fn executor_prompt(environment: &str, instruction: &str) -> String {
    format!("{WORLD}{environment}{DO}{instruction}{CODE}")
}

/// Asks for a task.
#[must_use]
pub fn challenger_prompt(environment: &str, tool: &str) -> String {
    format!("{WORLD}{environment}{MAKE}{tool}(")
}

impl ChallengeFormat for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn is_single_turn(&self) -> bool {
        true
    }

    fn text(&self, goal: &Goal, _about: &EnvironmentDescription, _turns: &[Turn], _left: Left) -> String {
        match goal {
            Goal::Execute { environment, instruction } => executor_prompt(environment, instruction),
            Goal::Challenge(request) => challenger_prompt(&request.environment, &request.tool),
        }
    }

    fn read(&self, goal: &Goal, response: &str) -> Result<ChallengerResponse, String> {
        match goal {
            Goal::Execute { .. } => match [WORLD, DO, MAKE, CODE, WRONG].iter().find(|mark| response.contains(*mark)) {
                Some(mark) => Err(format!("there is a `{mark}` in the code")),
                None => Ok(ChallengerResponse::Explore(response.to_owned())),
            },
            Goal::Challenge(request) => {
                let task = CompactProposal::parse(response)?.task(&request.task_id, &request.environment);
                Ok(ChallengerResponse::Propose(task))
            }
        }
    }

    fn code_response(&self, code: &str) -> String {
        code.trim_end().to_owned()
    }
}
