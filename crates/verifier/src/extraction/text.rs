//! The lines of a text, with where they stand in it, and special tokens, which a decoder may leave around a response.

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Where the next line begins.
    pub(super) next: usize,
}

/// The lines of a text, ended by a newline, with or without a carriage return before it, or by the text's end.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').scan(0, |at, whole| {
        let start = *at;
        *at += whole.len();
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some(Line { text: line, start, next: *at })
    })
}

/// Tokens that are not of the form `<|…|>`.
const TOKENS: [&str; 11] =
    ["</s>", "<s>", "<eos>", "<bos>", "<pad>", "[PAD]", "<end_of_turn>", "<EOT>", "[EOS]", "<unk>", "<eod>"];
/// What is in tokens that frame a thought or an answer.
const FRAMES: [&str; 3] = ["_thought", "_solution", "channel"];
/// The most bytes of a token of the form `<|…|>`.
const MAX_BYTES: usize = 48;

/// The text without the end tokens behind it, and the white space around them. White space at the end of a text without one stays.
pub(crate) fn strip_end_tokens(text: &str) -> &str {
    let mut text = text;
    while let Some(before) = strip_one(text.trim_end()) {
        text = before;
    }
    text
}

/// The text without the tokens that begin or fill it before anything else.
pub(crate) fn strip_start_tokens(text: &str) -> &str {
    let mut text = text;
    while let Some(behind) = strip_first(text.trim_start()) {
        text = behind;
    }
    text
}

fn strip_one(text: &str) -> Option<&str> {
    if let Some(before) = TOKENS.iter().find_map(|token| text.strip_suffix(token)) {
        return Some(before);
    }
    ["|>", "｜>"].iter().find_map(|end| {
        let inside = text.strip_suffix(end)?;
        let at = inside.rfind('<')?;
        is_token(&text[at..]).then_some(&text[..at])
    })
}

fn strip_first(text: &str) -> Option<&str> {
    if let Some(behind) = TOKENS.iter().find_map(|token| text.strip_prefix(token)) {
        return Some(behind);
    }
    let end = text.find('>').filter(|end| *end < MAX_BYTES)? + 1;
    let (token, behind) = text.split_at(end);
    // Tags of thoughts and answers, and channels, have the form of tokens.
    let is_tag = FRAMES.iter().any(|word| token.contains(word));
    (is_token(token) && !is_tag).then_some(behind)
}

/// Whether a text is `<|word|>`, with the plain or the wide bar.
fn is_token(text: &str) -> bool {
    let between = |bar: &str| text.strip_prefix('<')?.strip_prefix(bar)?.strip_suffix('>')?.strip_suffix(bar);
    let inside = between("|").or_else(|| between("｜"));
    text.len() <= MAX_BYTES
        && inside
            .is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-▁/".contains(c)))
}
