//! The frame of the `think` prompts of single-turn games: think and answer tags around fenced blocks.

use std::fmt::Display;

use veriplay_core::{Message, PromptContent};

const FRAME: &str = "A conversation between User and Assistant. The User asks for something, and the Assistant first reasons \
about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and \
</answer>.";

/// Text that ends a response.
pub const STOP: &[&str] = &["</answer>"];

/// A prompt, which opens the think tag. As plain text it is the paper's.
pub fn framed(request: &str) -> PromptContent {
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
