//! `direct`: answers without reasoning, and answered examples before the question, for pretrained models that are too small to reason.
//!
//! # Layout
//! A conversation: an instruction, then for each example a message of the user and the assistant's answer, then the question. A solver is
//! shown the function with the bug as a block fenced as `python`, and lines of the failing tests as in `compact`; an injector is shown a
//! function alone. The answer is the whole function as such a block, with which the response begins; what follows it does not count. One
//! response is an episode: there are no tools.
//!
//! # Why
//! A model of some hundred million parameters follows answered examples, and loses its way in a repository.
//!
//! # How it can be gamed
//! As `compact`: the response is put in the function's place, whatever it is. The first block counts.
//!
//! # Example
//! A block that holds `def f(x):⏎    return x - 1`, and below it `assert f(1) == 2`, is answered by a block that holds
//! `def f(x):⏎    return x + 1`.

use veriplay_core::PromptContent;
use veriplay_selfplay::prompt_frames::{FENCE_END, code_block, conversation};
use veriplay_verifier::formats::direct::parse_code_block;

use super::{AnsweredBug, InjectionMode, RepairFormat, RepoBudgetLeft, RepoGoal, RepoResponse, test_lines};

const REPAIR: &str = "The function has a bug: the lines below it fail. Answer with the whole function without the bug.";
const INJECT: &str = "Put a bug into the function: change it so that it still runs, and returns something else. Answer with the whole \
changed function.";
const FENCE: &str = "```";

pub(super) struct Direct;

impl RepairFormat for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn is_single_turn(&self) -> bool {
        true
    }

    /// One function it must be, which a block can hold, and an injector must be shown it.
    fn can_ask(&self, goal: &RepoGoal) -> bool {
        let fits = goal.function().is_some_and(|function| !function.source.contains(FENCE));
        fits && !matches!(goal, RepoGoal::Inject { mode, .. } if *mode != InjectionMode::Direct)
    }

    fn first_prompt(&self, goal: &RepoGoal, examples: &[&AnsweredBug], _left: RepoBudgetLeft) -> PromptContent {
        let source = goal.function().map_or("", |function| function.source.as_str());
        match goal {
            RepoGoal::Repair { spec, .. } => {
                let shown = examples.iter().map(|bug| (question(&bug.wrong, &bug.spec), code_block(&bug.right)));
                conversation(REPAIR, shown, question(source, spec))
            }
            RepoGoal::Inject { .. } => {
                let shown = examples.iter().map(|bug| (code_block(&bug.right), code_block(&bug.wrong)));
                conversation(INJECT, shown, code_block(source))
            }
        }
    }

    fn stop(&self) -> &'static [&'static str] {
        FENCE_END
    }

    fn parse_response(&self, _goal: &RepoGoal, response: &str) -> Result<RepoResponse, String> {
        match parse_code_block(response)? {
            code if code.trim().is_empty() => Err("the block is empty".to_owned()),
            code => Ok(RepoResponse::Replace(code.to_owned())),
        }
    }
}

fn question(source: &str, spec: &str) -> String {
    format!("{}\n{}", code_block(source), test_lines(spec).join("\n"))
}
