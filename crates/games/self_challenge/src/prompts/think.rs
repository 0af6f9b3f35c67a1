//! `think`: several turns, prose, tools in their own words, and codes in fenced blocks; for chat-size checkpoints.

use veriplay_core::{CodeTask, Message, PromptContent, Value};
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
        let (rules, environment) = (include_str!("think/rules.txt").trim_end(), environment_text(about));
        let turns = turns_text(goal, left) + &shown;
        let text = match goal {
            ToolGoal::Execute { instruction, .. } => format!(
                include_str!("think/execute.txt"),
                rules = rules,
                environment = environment,
                instruction = instruction,
                turns = turns
            ),
            ToolGoal::Challenge(_) => format!(
                include_str!("think/challenge.txt"),
                rules = rules,
                environment = environment,
                layout = layout_text(&about.initial, true),
                turns = turns
            ),
        };
        vec![Message::user(text.trim_end())].into()
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

/// What a state is made of, and nothing that is in it: the names of its parts and of fields, and types. Entries of one type are a table, of which
/// the first stands for all; the whole state is none.
fn layout_text(value: &Value, is_whole: bool) -> String {
    match value {
        Value::Dict(entries) => {
            let is_table = !is_whole && entries.iter().all(|(_, one)| one.type_name() == entries[0].1.type_name());
            let shown = if is_table { &entries[..entries.len().min(1)] } else { entries };
            let name = |key: &Value| if is_table { key.type_name().to_owned() } else { key.to_string() };
            let shown = shown.iter().map(|(key, one)| format!("{}: {}", name(key), layout_text(one, false)));
            format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
        }
        Value::List(items) => format!("[{}]", items.first().map_or_else(String::new, |one| layout_text(one, false))),
        other => other.type_name().to_owned(),
    }
}

fn turns_text(goal: &ToolGoal, left: ToolBudgetLeft) -> String {
    match (goal, left.turns) {
        (ToolGoal::Execute { .. }, turns) => format!("Turns left: {turns}."),
        (ToolGoal::Challenge(_), ..=1) => "No turns are left to explore: propose the task now.".to_owned(),
        (ToolGoal::Challenge(_), turns) => format!("Turns left to explore: {}.", turns - 1),
    }
}
