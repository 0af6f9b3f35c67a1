//! The patch in a response: as `git apply` does, what stands around the files of a patch is left out.

use super::blocks::read_blocks;
use super::frame::{Part, tagged_answer};
use super::labels::Label;
use super::text::lines_of;
use super::{Continues, NoAnswer, answer_of};

/// Beginnings of the lines of a file's header.
const HEADERS: [&str; 9] = [
    "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "similarity index ",
    "Binary files ",
];

/// Finds the patch in a response: in the last block that has one, else in the text. A response that is empty, or says that it changes nothing by
/// an empty block, is the empty patch.
///
/// # Errors
/// The thought does not end, or nothing is a patch.
pub fn extract_patch(response: &str) -> Result<String, NoAnswer> {
    if response.trim().is_empty() {
        return Ok(String::new());
    }
    let answer = answer_of(response, Continues::Prose)?;
    let part = tagged_answer(answer).unwrap_or(answer);
    let found = in_blocks(part).or_else(|| patch_lines(part.text)).or_else(|| patch_lines(answer.text));
    found.ok_or_else(|| {
        NoAnswer::new("no patch: looked for lines `--- a/FILE`, `+++ b/FILE` and `@@ -line,count +line,count @@` in a block or by themselves")
    })
}

fn in_blocks(part: Part<'_>) -> Option<String> {
    let blocks = read_blocks(part.text);
    let is_diff = |label: Label<'_>| matches!(label, Label::Other("diff" | "patch"));
    let of_label = |wanted: bool| blocks.iter().rev().filter(move |block| is_diff(block.label) == wanted);
    of_label(true).chain(of_label(false)).find_map(|block| patch_lines(&block.code))
}

/// The lines of a text that are a patch, each ended; `None` without any. A hunk has as many lines as its header says.
fn patch_lines(text: &str) -> Option<String> {
    let (mut patch, mut left, mut in_header) = (String::new(), HunkLines::default(), false);
    for line in lines_of(text).map(|line| line.text) {
        let is_taken = if left.take(line) {
            true
        } else if let Some(hunk) = HunkLines::parse(line) {
            left = hunk;
            in_header = false;
            true
        } else {
            in_header = line.starts_with("diff --git ") || line.starts_with("--- ") || (in_header && is_header(line));
            in_header || line.starts_with("\\ ")
        };
        if is_taken {
            patch += line;
            patch.push('\n');
        }
    }
    (!patch.is_empty()).then_some(patch)
}

fn is_header(line: &str) -> bool {
    HEADERS.iter().any(|header| line.starts_with(header))
}

/// Lines of a hunk that are still to come.
#[derive(Default)]
struct HunkLines {
    old: usize,
    new: usize,
}

impl HunkLines {
    /// Reads `@@ -line,count +line,count @@`.
    fn parse(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        Some(Self { old: line_count(old)?, new: line_count(new)? })
    }

    /// Counts a line of the hunk. `false` where it is none.
    fn take(&mut self, line: &str) -> bool {
        if self.old == 0 && self.new == 0 {
            return false;
        }
        let (old, new) = match line.chars().next() {
            None | Some(' ') => (1, 1),
            Some('-') => (1, 0),
            Some('+') => (0, 1),
            Some('\\') => (0, 0),
            Some(_) => {
                *self = Self::default();
                return false;
            }
        };
        self.old = self.old.saturating_sub(old);
        self.new = self.new.saturating_sub(new);
        true
    }
}

/// The number of lines in `line,count`; one without a count.
fn line_count(range: &str) -> Option<usize> {
    match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    }
}
