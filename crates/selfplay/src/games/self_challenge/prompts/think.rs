//! `think`: several turns, prose, tools in their own words, and codes in fenced blocks; for chat-size checkpoints.

use veriplay_verifier::environments::{ChallengerResponse, EnvironmentDescription, read_challenger, read_executor};

use super::{ChallengeFormat, ToolBudgetLeft, ToolGoal, Turn};

pub(super) struct Think;

impl ChallengeFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn is_single_turn(&self) -> bool {
        false
    }

    fn prompt_text(
        &self,
        goal: &ToolGoal,
        about: &EnvironmentDescription,
        turns: &[Turn],
        left: ToolBudgetLeft,
    ) -> String {
        prompt_text(goal, about, turns, left)
    }

    fn parse_response(&self, goal: &ToolGoal, response: &str) -> Result<ChallengerResponse, String> {
        match goal {
            ToolGoal::Execute { .. } => read_executor(response).map(ChallengerResponse::Explore),
            ToolGoal::Challenge(request) => read_challenger(response, &request.task_id, &request.environment),
        }
    }

    fn code_response(&self, code: &str) -> String {
        format!("```python\n{}\n```\n", code.trim_end())
    }
}

const CODE_RULES: &str = "Rules for code:
- A turn's code is one block fenced as `python`. The tools are functions that are there already; import nothing of theirs.
- The world keeps what your calls changed. Your variables are gone after the turn.
- You see what the code prints, and the exception if it raises one. A call that raises changes nothing.
- Arguments and results are plain values: None, bool, int, float, str, bytes, list, tuple, set, dict.";

const EXECUTE: &str = "Do what the task says by calling tools in Python code. Look before you act, and change nothing that the \
task does not ask for. When all is done, call `answer(value)` with what the task asks to be answered, or `answer(None)`: the \
turn in which you do is the last.";

const CHALLENGE: &str = "Explore the world by calling tools in Python code, and then make a task in it for somebody who can do \
what you can, who starts from the world as it was at first, and who sees the task's instruction alone.";

const ARTIFACT: &str = "A task is these blocks in one response:
- One fenced as `instruction`: what is to be done and what is to be answered, complete and in words. It does not quote code.
- One fenced as `verify`: Python that defines `verify(before, after, answer)`, which returns True when the task was done and False \
otherwise. `before` and `after` are the world's whole state as plain values, `answer` is what was answered, or None. It always \
ends, never raises, and draws nothing at random.
- One fenced as `solution`: code that does the task from the world as it was at first, and calls `answer`.
- Three fenced as `failure`: codes that come near the solution, run to their end, and differ in what they leave; `verify` returns \
False for each, as it does when nothing is done.
What counts: the task takes several steps, can be done, and is hard.";

/// The prompt for the next turn.
fn prompt_text(goal: &ToolGoal, about: &EnvironmentDescription, turns: &[Turn], left: ToolBudgetLeft) -> String {
    let head = match goal {
        ToolGoal::Execute { instruction, .. } => {
            format!("{EXECUTE}\n\n{CODE_RULES}\n\n{}\nTask:\n{instruction}", environment_text(about))
        }
        ToolGoal::Challenge(_) => {
            let state = about.initial.to_string();
            format!(
                "{CHALLENGE}\n\n{CODE_RULES}\n\n{ARTIFACT}\n\n{}\nIts state at first:\n{state}\n",
                environment_text(about)
            )
        }
    };
    let turns: String = turns.iter().map(Turn::chat_text).collect();
    format!("User: {head}\n\n{}\n{turns}Assistant:", turns_text(goal, left))
}

fn turns_text(goal: &ToolGoal, left: ToolBudgetLeft) -> String {
    let ToolBudgetLeft { turns: left, shown_chars: shown } = left;
    match goal {
        ToolGoal::Execute { .. } => format!("Turns left: {left}. Of each output {shown} characters are shown."),
        ToolGoal::Challenge(_) if left <= 1 => "No turns are left to explore: propose the task now.".to_owned(),
        ToolGoal::Challenge(_) => {
            format!("Turns left to explore: {}. Of each output {shown} characters are shown.", left - 1)
        }
    }
}

fn environment_text(about: &EnvironmentDescription) -> String {
    let tool = |tool: &veriplay_verifier::environments::ToolDescription| {
        let documentation = tool.documentation.replace('\n', "\n    ");
        format!("{}\n    {documentation}\n", tool.signature)
    };
    let tools: String = about.tools.iter().map(tool).collect();
    format!("The world:\n{}\n\nTools:\n{tools}", about.text)
}
