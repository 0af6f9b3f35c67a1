//! The subset of Markdown that corpus files are written in: fenced blocks, and the prose between them.

use serde::de::DeserializeOwned;

/// A fenced block.
pub(crate) struct MarkdownBlock {
    /// What stands after the opening fence.
    pub(crate) language: String,
    /// Its content, each line with its newline.
    pub(crate) text: String,
    /// Line of the opening fence, from 1.
    pub(crate) line: usize,
}

impl MarkdownBlock {
    /// Its content as TOML.
    ///
    /// # Errors
    /// Line and problem of what does not parse.
    pub(crate) fn parse_toml<T: DeserializeOwned>(&self) -> Result<T, (usize, String)> {
        toml::from_str(&self.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let lines = self.text.get(..start).map_or(0, |before| before.matches('\n').count());
            (self.line + 1 + lines, error.message().replace('\n', "; "))
        })
    }
}

const FENCE: &str = "```";

/// The prose and the blocks of `text`.
///
/// # Errors
/// Line and problem of a block that is not closed.
pub(crate) fn parse_blocks(text: &str) -> Result<(String, Vec<MarkdownBlock>), (usize, String)> {
    let mut prose = String::new();
    let mut blocks = Vec::new();
    let mut open: Option<MarkdownBlock> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix(FENCE)) {
            (Some(_), Some(rest)) if rest.trim().is_empty() => blocks.extend(open.take()),
            (Some(block), _) => push_line(&mut block.text, line),
            (None, Some(language)) => {
                open = Some(MarkdownBlock { language: language.trim().to_owned(), text: String::new(), line: at + 1 });
            }
            (None, None) => push_line(&mut prose, line),
        }
    }
    match open {
        Some(block) => Err((block.line, format!("the ```{} block is not closed", block.language))),
        None => Ok((prose.trim().to_owned(), blocks)),
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
