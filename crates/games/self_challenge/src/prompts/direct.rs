//! `direct`: answers without reasoning, and answered examples before the question, for pretrained models that are too small to reason.
//!
//! # Layout
//! A conversation: an instruction with the environment and its tools, then for each example a message of the user and the assistant's
//! answer, then the question. An executor is shown the task's instruction; the answer is a block fenced as `python`, with which the response
//! begins. A challenger is shown the name of a tool; the answer is such a block, too: a comment that is the instruction, the solution,
//! and behind each line `# wrong` a failure case. What follows the block does not count. One response is an episode, and the
//! verification function is made from the solution, as in `compact`.
//!
//! # Why
//! A model of some hundred million parameters follows answered examples, and loses its way in an exploration.
//!
//! # How it can be gamed
//! There is nothing around an answer that could hold a second one: the first block counts.
//!
//! # Example
//! ```text
//! # Cancel order O7, and answer its total.
//! order = cancel_order('O7')
//! answer(order['total'])
//! # wrong
//! cancel_order('O7')
//! answer(0)
//! ```

use veriplay_core::{CodeTask, PromptContent};
use veriplay_selfplay::prompt_frames::{FENCE_END, code_block, conversation};
use veriplay_verifier::environments::{ChallengerResponse, EnvironmentDescription};
use veriplay_verifier::formats::direct::parse_code_block;

use super::{ChallengeFormat, ChallengeRequest, ToolBudgetLeft, ToolGoal, environment_text};

const EXECUTE: &str = "Do what is asked by Python code that calls the tools, and end with `answer(value)`, or with `answer(None)` where \
nothing is to be answered.";
const CHALLENGE: &str = "Invent a task that needs the tool: a comment that says what to do and what to answer, and Python code that does it \
and ends with `answer(value)`. Behind each `# wrong` write code that comes near and does something else.";
/// Stands before a failure case.
const WRONG: &str = "# wrong";

pub(super) struct Direct;

impl ChallengeFormat for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn is_single_turn(&self) -> bool {
        true
    }

    fn first_prompt(
        &self,
        goal: &ToolGoal,
        about: &EnvironmentDescription,
        examples: &[&CodeTask],
        _left: ToolBudgetLeft,
    ) -> PromptContent {
        match goal {
            ToolGoal::Execute { instruction, .. } => {
                let shown = examples.iter().map(|task| (task.instruction.clone(), self.code_response(&task.solution)));
                conversation(&instruction_text(EXECUTE, about), shown, instruction.clone())
            }
            ToolGoal::Challenge(ChallengeRequest { tool, .. }) => {
                let shown = examples.iter().map(|task| (question(called_tool(task, about)), task_text(task)));
                conversation(&instruction_text(CHALLENGE, about), shown, question(tool))
            }
        }
    }

    fn stop(&self) -> &'static [&'static str] {
        FENCE_END
    }

    fn parse_response(&self, goal: &ToolGoal, response: &str) -> Result<ChallengerResponse, String> {
        let code = parse_code_block(response)?;
        match goal {
            ToolGoal::Execute { .. } if code.trim().is_empty() => Err("the block is empty".to_owned()),
            ToolGoal::Execute { .. } => Ok(ChallengerResponse::Explore(code.to_owned())),
            ToolGoal::Challenge(request) => parse_task(code, request).map(ChallengerResponse::Propose),
        }
    }

    fn code_response(&self, code: &str) -> String {
        code_block(code)
    }
}

fn instruction_text(instruction: &str, about: &EnvironmentDescription) -> String {
    format!("{instruction}\n\n{}", environment_text(about).trim_end())
}

fn question(tool: &str) -> String {
    format!("Use `{tool}`.")
}

/// The first tool that the task's solution calls.
fn called_tool<'a>(task: &CodeTask, about: &'a EnvironmentDescription) -> &'a str {
    let place = |name: &str| task.solution.find(&format!("{name}("));
    let called = about.tools.iter().filter_map(|tool| Some((place(&tool.name)?, tool.name.as_str())));
    called.min().map_or("", |(_, name)| name)
}

fn task_text(task: &CodeTask) -> String {
    let instruction = task.instruction.split_whitespace().collect::<Vec<_>>().join(" ");
    let failures: String = task.failures.iter().map(|code| format!("\n{WRONG}\n{}", code.trim_end())).collect();
    code_block(&format!("# {instruction}\n{}{failures}", task.solution.trim_end()))
}

/// Reads a task without a verification function. How many failure cases it must have is the gate's to say.
fn parse_task(code: &str, request: &ChallengeRequest) -> Result<CodeTask, String> {
    let is_comment = |line: &&str| line.starts_with('#') && line.trim_end() != WRONG;
    let lines: Vec<&str> = code.trim().lines().collect();
    let words = lines.iter().take_while(|line| is_comment(line)).count();
    let (instruction, codes) = lines.split_at(words);
    let instruction: Vec<&str> = instruction.iter().map(|line| line.trim_start_matches('#').trim()).collect();
    let mut codes = codes.split(|line| line.trim_end() == WRONG).map(|lines| lines.join("\n"));
    let solution = codes.next().unwrap_or_default();
    let instruction = instruction.join(" ").trim().to_owned();
    if instruction.is_empty() {
        return Err("the block does not begin with a comment that is the task's instruction".to_owned());
    }
    if solution.trim().is_empty() {
        return Err("there is no code behind the instruction".to_owned());
    }
    let ChallengeRequest { task_id, environment, .. } = request;
    let (task_id, environment) = (task_id.clone(), environment.clone());
    Ok(CodeTask { task_id, environment, instruction, verify: String::new(), solution, failures: codes.collect() })
}
