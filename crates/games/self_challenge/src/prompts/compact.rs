//! `compact`: one turn, no prose; for models of a million parameters.
//!
//! An executor reads `<WORLD>orders<DO>instruction<CODE>` and answers with code: nothing says what the tools are or what is in the world, so
//! a model must have learned both. A challenger reads `<WORLD>orders<MAKE>cancel_order(` and answers with a
//! [`CompactProposal`]. How that becomes a whole artifact is documented there.

use veriplay_core::{CodeTask, PromptContent};
use veriplay_verifier::environments::compact_proposal::{CODE, CompactProposal, DO, MAKE, WORLD, WRONG};
use veriplay_verifier::environments::{ChallengerResponse, EnvironmentDescription};

use super::{ChallengeFormat, ToolBudgetLeft, ToolGoal};

pub(super) struct Compact;

/// Asks for code.
pub fn executor_prompt(environment: &str, instruction: &str) -> String {
    format!("{WORLD}{environment}{DO}{instruction}{CODE}")
}

/// Asks for a task.
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

    fn first_prompt(
        &self,
        goal: &ToolGoal,
        _about: &EnvironmentDescription,
        _examples: &[&CodeTask],
        _left: ToolBudgetLeft,
    ) -> PromptContent {
        match goal {
            ToolGoal::Execute { environment, instruction } => executor_prompt(environment, instruction),
            ToolGoal::Challenge(request) => challenger_prompt(&request.environment, &request.tool),
        }
        .into()
    }

    fn parse_response(&self, goal: &ToolGoal, response: &str) -> Result<ChallengerResponse, String> {
        match goal {
            ToolGoal::Execute { .. } => {
                match [WORLD, DO, MAKE, CODE, WRONG].iter().find(|mark| response.contains(*mark)) {
                    Some(mark) => Err(format!("there is a `{mark}` in the code")),
                    None => Ok(ChallengerResponse::Explore(response.to_owned())),
                }
            }
            ToolGoal::Challenge(request) => {
                let task = CompactProposal::parse(response)?.task(&request.task_id, &request.environment);
                Ok(ChallengerResponse::Propose(task))
            }
        }
    }

    fn code_response(&self, code: &str) -> String {
        code.trim_end().to_owned()
    }
}
