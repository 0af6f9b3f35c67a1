//! Corpus files in the subset of Markdown that they are written in: fenced blocks, and the prose between them.

use serde::de::DeserializeOwned;

use crate::CorpusError;
use crate::files::file_stem;

pub(crate) struct MarkdownFile<'a> {
    path: &'a str,
    /// The file's name without its ending.
    pub(crate) name: String,
    pub(crate) prose: String,
    pub(crate) blocks: Vec<MarkdownBlock>,
}

pub(crate) struct MarkdownBlock {
    /// What stands after the opening fence.
    pub(crate) language: String,
    /// Its content, each line with its newline.
    pub(crate) text: String,
    /// Line of the opening fence, from 1.
    pub(crate) line: usize,
}

const FENCE: &str = "```";

impl<'a> MarkdownFile<'a> {
    /// Reads a file with blocks of these kinds.
    ///
    /// # Errors
    /// A block of another kind, or one that is not closed.
    pub(crate) fn parse(path: &'a str, text: &str, kinds: &[&str]) -> Result<Self, CorpusError> {
        let mut file = Self { path, name: file_stem(path), prose: String::new(), blocks: Vec::new() };
        let mut open: Option<MarkdownBlock> = None;
        for (at, line) in text.lines().enumerate() {
            match (&mut open, line.strip_prefix(FENCE)) {
                (Some(_), Some(rest)) if rest.trim().is_empty() => file.blocks.extend(open.take()),
                (Some(block), _) => push_line(&mut block.text, line),
                (None, Some(rest)) => {
                    let language = rest.trim().to_owned();
                    open = Some(MarkdownBlock { language, text: String::new(), line: at + 1 });
                }
                (None, None) => push_line(&mut file.prose, line),
            }
        }
        file.prose = file.prose.trim().to_owned();
        if let Some(MarkdownBlock { language, line, .. }) = open {
            let problem = format!("the ```{language} block is not closed");
            return Err(file.error(line, problem, "close it with a line of three backquotes"));
        }
        match file.blocks.iter().find(|block| !kinds.contains(&block.language.as_str())) {
            Some(MarkdownBlock { language, line, .. }) => {
                let hint = format!("use blocks of the kinds {}", kinds.join(", "));
                Err(file.error(*line, format!("a block of kind `{language}`"), &hint))
            }
            None => Ok(file),
        }
    }

    /// An error at a line of the file.
    pub(crate) fn error(&self, line: usize, problem: impl Into<String>, hint: &str) -> CorpusError {
        CorpusError::invalid_file(self.path, line, problem, hint)
    }

    /// Checks that there is prose under a title.
    pub(crate) fn check_prose(&self) -> Result<(), CorpusError> {
        match self.prose.lines().filter(|line| !line.is_empty()).count() {
            0 | 1 => Err(self.error(1, "there is no prose", "say under a title what this is and why that matters")),
            _ => Ok(()),
        }
    }

    /// Takes out the one block that is of one of these kinds, if there is one.
    pub(crate) fn take_only(&mut self, kinds: &[&str]) -> Result<Option<MarkdownBlock>, CorpusError> {
        let mut taken = self.blocks.extract_if(.., |block| kinds.contains(&block.language.as_str()));
        let (first, second) = (taken.next(), taken.next());
        drop(taken);
        match second {
            Some(MarkdownBlock { language, line, .. }) => {
                Err(self.error(line, format!("a second ```{language} block"), "a file holds one"))
            }
            None => Ok(first),
        }
    }

    /// Takes out the `toml` block, which is empty where there is none.
    pub(crate) fn take_header(&mut self) -> Result<MarkdownBlock, CorpusError> {
        let none = MarkdownBlock { language: "toml".to_owned(), text: String::new(), line: 1 };
        Ok(self.take_only(&["toml"])?.unwrap_or(none))
    }

    pub(crate) fn parse_header<T: DeserializeOwned>(&self, header: &MarkdownBlock) -> Result<T, CorpusError> {
        toml::from_str(&header.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let lines = header.text.get(..start).map_or(0, |before| before.matches('\n').count());
            let problem = error.message().replace('\n', "; ");
            self.error(header.line + 1 + lines, problem, "see the README of the folder for the allowed keys")
        })
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
