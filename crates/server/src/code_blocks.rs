//! Code in what a model wrote, found as the services do whose protocols we speak: each of them has a rule of its own, which decides what is
//! judged.

const FENCE: &str = "```";

/// A block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// What stands behind the opening fence.
    pub(crate) label: &'a str,
    pub(crate) code: &'a str,
}

/// The blocks that are closed, in order. A fence may stand anywhere in its line; the closing one follows a line's end and blanks.
pub(crate) fn closed_blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((block, after)) = next_block(rest) {
        blocks.extend(block);
        rest = after;
    }
    blocks
}

/// The first block, `None` in its place where it is not closed, and what follows its opening or closing fence.
fn next_block(text: &str) -> Option<(Option<Block<'_>>, &str)> {
    let opened = &text[text.find(FENCE)? + FENCE.len()..];
    let (label, body) = opened.split_once('\n')?;
    let mut from = 0;
    while let Some(at) = body[from..].find(FENCE).map(|at| at + from) {
        let before = body[..at].trim_end_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']);
        // The code ends at the first line's end of the blanks before the fence.
        if let Some(end) = body[before.len()..at].find('\n') {
            let code = &body[..before.len() + end];
            return Some((Some(Block { label: label.trim(), code }), &body[at + FENCE.len()..]));
        }
        from = at + FENCE.len();
    }
    Some((None, opened))
}

/// The code that SandboxFusion takes: the first closed block in Python, else the first closed one. Without one, what follows an opening
/// fence; without that, the first function or class of the text.
pub(crate) fn first_python_code(text: &str) -> String {
    let blocks = closed_blocks(text);
    if let Some(block) = blocks.iter().find(|block| is_python(block.label)).or(blocks.first()) {
        return block.code.to_owned();
    }
    let opened = text.split_once(FENCE).and_then(|(_, opened)| opened.split_once('\n'));
    opened.map_or_else(|| first_definition(text), |(_, code)| code.to_owned())
}

/// The code that LiveCodeBench takes: the last closed block, whatever its label says.
pub(crate) fn last_code(text: &str) -> Option<&str> {
    closed_blocks(text).last().map(|block| block.code)
}

fn is_python(label: &str) -> bool {
    ["python", "py", "python3"].contains(&label.to_ascii_lowercase().as_str())
}

/// The first function or class whose body is indented, with the imports and comments right before it; empty without one. Blank lines are
/// left out.
fn first_definition(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let indented = |at: usize| lines.get(at).is_some_and(|line| line.starts_with(char::is_whitespace));
    let defines = |at: &usize| (lines[*at].starts_with("def ") || lines[*at].starts_with("class ")) && indented(at + 1);
    let Some(at) = (0..lines.len()).find(defines) else { return String::new() };
    let leads = |line: &&&str| ["import", "from", "#"].iter().any(|word| line.starts_with(word));
    let start = at - lines[..at].iter().rev().take_while(leads).count();
    let end = (at + 1..lines.len()).find(|at| !indented(*at)).unwrap_or(lines.len());
    lines[start..end].iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_blocks_are_found_in_order() {
        let text = "a\n```python\nx = 1\n\ny\n  ```\nb ```\nz\n```\n```sh\nls\n``` tail";
        let found: Vec<(&str, &str)> = closed_blocks(text).iter().map(|block| (block.label, block.code)).collect();
        assert_eq!(found, [("python", "x = 1\n\ny"), ("", "z"), ("sh", "ls")]);
        for text in ["", "```", "```python", "```python\nx", "no code", "```x```", "```\n", "é```é\né"] {
            assert!(closed_blocks(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_fence_inside_a_line_does_not_close_a_block() {
        assert_eq!(last_code("```python\ns = '```'\nt\n```"), Some("s = '```'\nt"));
    }

    #[test]
    fn sandbox_fusion_takes_the_first_block_in_python() {
        assert_eq!(first_python_code("```sh\nls\n```\n```Python3\nx\n```\n```py\ny\n```"), "x");
        assert_eq!(first_python_code("```sh\nls\n```"), "ls");
        assert_eq!(first_python_code("so: ```python\nx\ny"), "x\ny");
    }

    #[test]
    fn without_a_fence_it_takes_the_first_definition() {
        let text = "Like this:\n# adds\nimport os\ndef f(x):\n    return x\n\n    # more\nDone.\ndef g():\n    pass\n";
        assert_eq!(first_python_code(text), "# adds\nimport os\ndef f(x):\n    return x\n    # more\n");
        assert_eq!(first_python_code("print(1)"), "");
    }

    #[test]
    fn live_code_bench_takes_the_last_block() {
        assert_eq!(last_code("```python\na\n```\n```\nb\n```"), Some("b"));
        assert_eq!(last_code("nothing"), None);
    }
}
