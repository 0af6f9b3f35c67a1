//! What prompt formats of several games share: the frame of `direct`, an instruction, answered examples and the question, each a message of its own;
//! and the frame of `think` in single-turn games, think and answer tags around fenced blocks.

use std::fmt::Display;

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

const FRAME: &str = "A conversation between User and Assistant. The User asks for something, and the Assistant first reasons \
about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and \
</answer>.";

/// Text that ends a response between tags.
pub const ANSWER_END: &[&str] = &["</answer>"];

/// A prompt, which opens the think tag. As plain text it is the paper's. The newline that ends a file of text is no part of the request.
pub fn framed(request: &str) -> PromptContent {
    let request = request.strip_suffix('\n').unwrap_or(request);
    vec![Message::system(FRAME), Message::user(request), Message::assistant("<think>")].into()
}

/// A response: the prompt has opened the think tag already.
pub fn answered(thought: &str, blocks: &str) -> String {
    format!("{thought}</think>\n<answer>\n{blocks}</answer>")
}

/// A fenced block of this kind.
pub fn block(kind: &str, content: impl Display) -> String {
    let content = content.to_string();
    format!("```{kind}\n{}\n```\n", content.trim_end_matches('\n'))
}
