//! Whether a text gives code away.

use veriplay_core::normalize_program;

/// The first line of `program` with `chars` characters or more that `text` holds, white space and a leading `return` aside.
/// The line that defines `f` says what every problem may.
pub(super) fn quoted(text: &str, program: &str, chars: usize) -> Option<String> {
    let text = without_spaces(text);
    let lines: Vec<String> = normalize_program(program).lines().map(|line| telling(line).to_owned()).collect();
    let long = |line: &&String| line.chars().filter(|c| !c.is_whitespace()).count() >= chars;
    lines.iter().filter(long).find(|line| text.contains(&without_spaces(line))).cloned()
}

fn telling(line: &str) -> &str {
    let line = line.trim();
    let inner = if line.starts_with("def ") { line.split_once(':').map_or("", |(_, body)| body.trim()) } else { line };
    inner.strip_prefix("return ").unwrap_or(inner)
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
