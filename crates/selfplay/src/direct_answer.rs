//! The frame of the `direct` prompts of all games: an instruction, answered examples, and the question, each a message of its own.

use veriplay_core::{Message, PromptContent};

/// Text that ends a response which is one fenced block.
pub const FENCE_END: &[&str] = &["\n```"];

/// A conversation that asks `question` behind answered examples.
pub fn conversation(
    instruction: &str,
    examples: impl Iterator<Item = (String, String)>,
    question: String,
) -> PromptContent {
    let mut messages = vec![Message::system(instruction)];
    messages.extend(examples.flat_map(|(asked, answer)| [Message::user(asked), Message::assistant(answer)]));
    messages.push(Message::user(question));
    messages.into()
}

/// The conversation with the answer begun: the response continues `beginning`.
pub fn continued(conversation: PromptContent, beginning: &str) -> PromptContent {
    match conversation {
        PromptContent::Messages(mut messages) => {
            messages.push(Message::assistant(beginning));
            messages.into()
        }
        PromptContent::Text(text) => PromptContent::Text(text + beginning),
    }
}

/// A block fenced as `python`.
pub fn code_block(code: &str) -> String {
    format!("```python\n{}\n```", code.trim_end_matches('\n'))
}
