//! The response in a query: trainers that send both decode them together, with their special tokens or without.

use super::Continues;
use super::blocks::{FENCE, open_block};
use super::frame::THOUGHT;
use super::labels::label_line;
use super::text::strip_start_tokens;

/// What chat templates put before what the model writes.
const ASSISTANT: [&str; 9] = [
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<start_of_turn>model",
    "<|assistant|>",
    "<｜Assistant｜>",
    "<|Assistant|>",
    "<|start|>assistant",
    LLAMA_2,
    "<|turn>model",
];
/// Behind it SentencePiece writes a space, which is no indentation of what follows.
const LLAMA_2: &str = "[/INST]";

/// What follows the prompt in a query. The prompt may lack the query's special tokens, or have others: then the response begins behind the
/// prompt's text, or behind the last mark of the model's turn. A query that has neither is all response.
#[must_use]
pub fn response_of_query<'a>(query: &'a str, prompt: &str) -> &'a str {
    if let Some(rest) = query.strip_prefix(prompt).filter(|_| !prompt.trim().is_empty()) {
        return behind_prompt(prompt, rest);
    }
    let (whole, prompt) = (query, prompt.trim());
    let query = strip_start_tokens(query);
    let begins = |query: &'a str, prompt: &str| query.trim_start().strip_prefix(prompt);
    if prompt.is_empty() {
        return behind_mark(whole).unwrap_or(whole);
    }
    if let Some(rest) = begins(whole, prompt).or_else(|| begins(query, strip_start_tokens(prompt).trim_start())) {
        return behind_prompt(prompt, rest);
    }
    if let Some(rest) = behind_mark(whole) {
        return rest;
    }
    match whole.find(prompt) {
        Some(at) => &whole[at + prompt.len()..],
        None => whole,
    }
}

/// What follows the last mark of the model's turn.
fn behind_mark(query: &str) -> Option<&str> {
    let marks = ASSISTANT.iter().filter_map(|mark| Some(query.rfind(mark)? + mark.len()));
    let end = marks.max()?;
    let (begun, rest) = query.split_at(end);
    Some(rest.strip_prefix(if begun.ends_with(LLAMA_2) { ' ' } else { '\n' }).unwrap_or(rest))
}

/// The rest of a query behind the words of its prompt, without the marks that end the user's turn and begin the model's.
fn behind_prompt<'a>(prompt: &str, rest: &'a str) -> &'a str {
    if prompt.ends_with(LLAMA_2) {
        return rest.strip_prefix(' ').unwrap_or(rest);
    }
    let head = rest.trim_start();
    if head.starts_with('<') || head.starts_with(LLAMA_2) { behind_mark(rest).unwrap_or(rest) } else { rest }
}

/// A response that goes on from a thought or a block which its prompt opened, with what opens it. Where the prompt has marks of turns, it is opened
/// in the model's own turn: what the question has is closed with it.
#[must_use]
pub fn with_opened_frame(prompt: &str, response: &str) -> String {
    let turn = behind_mark(prompt).unwrap_or(prompt);
    match Continues::after(turn) {
        Continues::Prose => response.to_owned(),
        Continues::Thought if response.trim_start().starts_with(THOUGHT) => response.to_owned(),
        Continues::Thought => format!("{THOUGHT}\n{response}"),
        Continues::Block(_) if response.trim_start().starts_with(FENCE) => response.to_owned(),
        Continues::Block(_) => {
            let (block, _) = open_block(turn).unwrap_or_default();
            match block.split_once('\n') {
                // The prompt has begun the code.
                Some((_, code)) if !code.trim().is_empty() => format!("{block}{response}"),
                _ => format!("{FENCE}python\n{}", &response[label_line(response)..]),
            }
        }
    }
}
