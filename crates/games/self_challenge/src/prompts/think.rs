//! `think`: several turns, prose, tools in their own words, and codes in fenced blocks; for chat-size checkpoints.

use veriplay_core::{CodeTask, Message, PromptContent};
use veriplay_verifier::environments::{ChallengerResponse, EnvironmentDescription, read_challenger, read_executor};

use super::{ChallengeFormat, ToolBudgetLeft, ToolGoal, environment_text};

pub(super) struct Think;

impl ChallengeFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn is_single_turn(&self) -> bool {
        false
    }

    fn first_prompt(
        &self,
        goal: &ToolGoal,
        about: &EnvironmentDescription,
        _examples: &[&CodeTask],
        left: ToolBudgetLeft,
    ) -> PromptContent {
        let shown = match left {
            ToolBudgetLeft { turns: ..=1, .. } => String::new(),
            ToolBudgetLeft { shown_chars, .. } => format!(" Of each output {shown_chars} characters are shown."),
        };
        vec![Message::user(format!("{}\n\n{}{shown}", head_text(goal, about), turns_text(goal, left)))].into()
    }

    fn next_message(&self, goal: &ToolGoal, shown: &str, left: ToolBudgetLeft) -> String {
        format!("{shown}\n\n{}", turns_text(goal, left))
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

fn head_text(goal: &ToolGoal, about: &EnvironmentDescription) -> String {
    match goal {
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
    }
}

fn turns_text(goal: &ToolGoal, left: ToolBudgetLeft) -> String {
    match (goal, left.turns) {
        (ToolGoal::Execute { .. }, turns) => format!("Turns left: {turns}."),
        (ToolGoal::Challenge(_), ..=1) => "No turns are left to explore: propose the task now.".to_owned(),
        (ToolGoal::Challenge(_), turns) => format!("Turns left to explore: {}.", turns - 1),
    }
}
