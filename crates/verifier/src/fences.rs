//! Fenced blocks in what a model writes, and where its thought ends.
//!
//! A fence is a line of three or more backticks, as in CommonMark, with a label behind those that open a block. A line with as many backticks or
//! more and nothing else closes it, unless it is indented by four columns or more beyond the opening one: such fences are in the docstrings of
//! the program. The items of a list are indented with their fences, so that much indentation is taken off a block.

/// A mark of a fence.
const MARK: char = '`';
/// The least marks of a fence.
const MIN_MARKS: usize = 3;
/// Columns of a tab.
const TAB_COLUMNS: usize = 4;
/// Columns of white space that a fence may have beyond what surrounds it: a line behind more of it is indented text.
pub const MAX_FENCE_INDENT: usize = 3;

const THINK: &str = "<think>";
const THINK_END: &str = "</think>";

/// A line that opens or closes a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    marks: usize,
    /// Columns of white space before it.
    pub indent: usize,
    /// What stands behind it, without white space around it.
    pub label: &'a str,
}

impl<'a> Fence<'a> {
    /// The fence that a line is, if it is one.
    #[must_use]
    pub fn parse(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let label = text.trim_start_matches(MARK);
        let marks = text.len() - label.len();
        // With backticks behind it, it is code in a line of prose.
        let is_fence = marks >= MIN_MARKS && !label.contains(MARK);
        let blanks = line[..line.len() - text.len()].chars();
        let indent: usize = blanks.map(|blank| if blank == '\t' { TAB_COLUMNS } else { 1 }).sum();
        is_fence.then(|| Self { marks, indent, label: label.trim() })
    }

    /// Whether it closes the block that `opening` opened.
    #[must_use]
    pub fn closes(&self, opening: &Fence<'_>) -> bool {
        self.label.is_empty() && self.marks >= opening.marks && self.indent <= opening.indent + MAX_FENCE_INDENT
    }
}

/// A block that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedBlock<'a> {
    /// The fence that opened it.
    pub opening: Fence<'a>,
    /// Its lines, each ended.
    pub code: String,
}

/// The blocks of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedText<'a> {
    /// The closed blocks, in order.
    pub blocks: Vec<FencedBlock<'a>>,
    /// The fence of a block that is not closed.
    pub unclosed: Option<Fence<'a>>,
}

/// Finds the blocks of a text.
#[must_use]
pub fn read_fences(text: &str) -> FencedText<'_> {
    let (mut blocks, mut open): (Vec<FencedBlock<'_>>, Option<(Fence<'_>, Vec<&str>)>) = (Vec::new(), None);
    for line in text.lines() {
        let fence = Fence::parse(line);
        open = match (open, fence) {
            (None, fence) => fence.map(|fence| (fence, Vec::new())),
            (Some((opening, lines)), Some(fence)) if fence.closes(&opening) => {
                blocks.push(FencedBlock { opening, code: dedented(&lines, opening.indent) });
                None
            }
            (Some((opening, mut lines)), _) => {
                lines.push(line);
                Some((opening, lines))
            }
        };
    }
    FencedText { blocks, unclosed: open.map(|(opening, _)| opening) }
}

/// The lines without the indentation that they share, or `most` of it.
fn dedented(lines: &[&str], most: usize) -> String {
    let with_text = lines.iter().filter(|line| !line.trim().is_empty());
    let indents = with_text.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let shared = indents.min().unwrap_or(0).min(most);
    lines.iter().map(|line| format!("{}\n", line.get(shared..).unwrap_or_default())).collect()
}

/// What stands behind the thought of a response, or all of a response without one. The prompt may have opened the thought. An end of one in a block of
/// code, or in a line of text, is none.
#[must_use]
pub fn after_thought(text: &str) -> &str {
    let Some((thought, answer)) = text.split_once(THINK_END) else { return text };
    let is_thought = thought.contains('\n') || thought.trim_start().starts_with(THINK);
    if is_thought && read_fences(thought).unclosed.is_none() { answer } else { text }
}

#[cfg(test)]
mod tests {
    use super::{Fence, after_thought, read_fences};

    fn found(text: &str) -> Vec<(&str, String)> {
        read_fences(text).blocks.into_iter().map(|block| (block.opening.label, block.code)).collect()
    }

    fn block<'a>(label: &'a str, code: &str) -> (&'a str, String) {
        (label, code.to_owned())
    }

    #[test]
    fn blocks_are_found_in_order_with_what_stands_behind_their_fences() {
        let text = "a\n```python\nx = 1\n\ny\n```\nb\n``` sh \r\nls\r\n```  \n```\n```\n";
        assert_eq!(found(text), [block("python", "x = 1\n\ny\n"), block("sh", "ls\n"), block("", "")]);
    }

    #[test]
    fn a_fence_is_a_line_of_its_own() {
        for line in ["x ```", "``", "```x```", "``` `", "x"] {
            assert_eq!(Fence::parse(line), None, "{line}");
        }
        assert!(found("```python\nx```\n").is_empty());
        assert!(read_fences("```python\nx").unclosed.is_some_and(|fence| fence.label == "python"));
        assert!(read_fences("```python\nx\n```").unclosed.is_none());
    }

    #[test]
    fn a_fence_that_is_shorter_or_indented_text_closes_nothing() {
        assert_eq!(found("````python\n```\nx\n```\n````\n"), [block("python", "```\nx\n```\n")]);
        assert_eq!(found("```\nx\n`````\n"), [block("", "x\n")]);
        let docstring = "def f(x):\n    '''\n    ```\n    f(1)\n    ```\n    '''\n";
        assert_eq!(found(&format!("```python\n{docstring}```\n")), [block("python", docstring)]);
        assert_eq!(found("```\nx\n   ```\n"), [block("", "x\n")]);
    }

    #[test]
    fn a_block_loses_the_indentation_of_its_fence() {
        assert_eq!(
            found("1. So:\n   ```python\n   if x:\n\n       y\n   ```\n"),
            [block("python", "if x:\n\n    y\n")]
        );
        assert_eq!(found("\t```\n\tif x:\n\t\ty\n\t```\n"), [block("", "if x:\n\ty\n")]);
        // Its lines need not have it.
        assert_eq!(found(" ```\nif x:\n    y\n ```\n"), [block("", "if x:\n    y\n")]);
        assert_eq!(found("```\n  x\n```\n"), [block("", "  x\n")]);
    }

    #[test]
    fn an_answer_stands_behind_the_thought() {
        for (text, answer) in [
            ("<think>a</think>b", "b"),
            ("a\nb</think>\nc", "\nc"),
            ("<think>\n```\nx\n```\n</think>\n```\ny\n```\n", "\n```\ny\n```\n"),
            ("a", "a"),
            ("'</think>'", "'</think>'"),
            ("So:\n```python\nx = '</think>'\n```\n", "So:\n```python\nx = '</think>'\n```\n"),
        ] {
            assert_eq!(after_thought(text), answer, "{text}");
        }
    }
}
