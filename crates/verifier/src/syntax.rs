//! Syntax trees of Python, as ruff's parser gives them. The texts are a policy's: parsing recurses, and has no limit of its own.

use ruff_python_ast::ModModule;
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

/// Works on the syntax tree of a program, on a stack that is deep enough; `None` for text that is no Python or nests too deep.
pub fn with_syntax<T>(program: &str, work: impl FnOnce(&Parsed<ModModule>) -> T) -> Option<T> {
    with_syntax_within(MOST_LEVELS, program, work)
}

/// The same, where a text that may nest by more than `most` levels is too deep. That is less than recursion over a tree could stand.
pub(crate) fn with_syntax_within<T>(
    most: usize,
    program: &str,
    work: impl FnOnce(&Parsed<ModModule>) -> T,
) -> Option<T> {
    let levels = most_levels(program);
    if levels > most.min(MOST_LEVELS) {
        return None;
    }
    on_stack_for(levels, || {
        let parsed = parse_unchecked(program, ParseOptions::from(Mode::Module)).try_into_module()?;
        parsed.errors().is_empty().then(|| work(&parsed))
    })
}

/// Levels of a tree over which recursion is tried: CPython reads 200 brackets, 100 levels of indentation and some thousands of nested
/// expressions.
const MOST_LEVELS: usize = 20_000;
/// Stack for one level, in all that recurses: the parser, the visitors, hashing.
const STACK_OF_A_LEVEL: usize = 32 << 10;

/// Whether the tree of a text might be deeper than recursion over it goes: the parser has no limit of its own.
pub fn nests_too_deep(program: &str) -> bool {
    most_levels(program) > MOST_LEVELS
}

/// Words whose part of an expression may go on behind a comma.
const WORDS_WITH_COMMAS: [&str; 2] = ["lambda", "yield"];

/// An upper bound on how deep the tree of a text is: open brackets, levels of indentation, and the operators and words since the last
/// comma of the bracket.
pub(crate) fn most_levels(program: &str) -> usize {
    let (mut open, mut depth, mut most): (Vec<Bracket>, usize, usize) = (Vec::new(), 0, 0);
    // Where the next comma leads back to: the start of the bracket, or of the statement.
    let mut base = Some(0);
    // The columns of the blocks that are open.
    let mut blocks: Vec<usize> = Vec::new();
    let (mut rest, mut word) = (program, "");
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        let last_word = std::mem::take(&mut word);
        match c {
            '#' => length = rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '\'' | '"' => {
                length = string_length(rest, c);
                depth += 1;
                if last_word.len() <= 2 && last_word.contains(['f', 'F', 't', 'T']) {
                    // It holds expressions.
                    depth += most_levels(rest[..length].trim_matches(c));
                }
            }
            '(' | '[' | '{' => {
                open.push(Bracket { depth, base });
                depth += 1;
                base = Some(depth);
            }
            // What follows a bracket may be applied to it.
            ')' | ']' | '}' => match open.pop() {
                Some(bracket) => (depth, base) = (bracket.depth + 1, bracket.base),
                None => depth += 1,
            },
            ',' => depth = base.unwrap_or(depth + 1),
            '\n' | '\r' | ';' if open.is_empty() => {
                (depth, base) = (0, Some(0));
                let next = &rest[length..];
                let line = next.trim_start_matches([' ', '\t', '\x0c']);
                // A blank line and a comment are in no block.
                if c != ';' && !line.is_empty() && !line.starts_with(['\n', '\r', '#']) {
                    let column = next.len() - line.len();
                    blocks.retain(|block| *block < column);
                    if column > 0 {
                        blocks.push(column);
                    }
                }
            }
            '\\' if rest[1..].starts_with(['\n', '\r']) => length = 2,
            c if c.is_alphanumeric() || c == '_' => {
                length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                word = &rest[..length];
                depth += usize::from(is_nesting_word(word));
                base = base.filter(|_| !WORDS_WITH_COMMAS.contains(&word));
            }
            c if c.is_ascii_punctuation() => depth += 1,
            _ => {}
        }
        most = most.max(depth + blocks.len());
        rest = &rest[length..];
    }
    most
}

/// Whether expressions nest by a word.
fn is_nesting_word(word: &str) -> bool {
    match word.len() {
        2 => matches!(word, "if" | "in" | "is" | "or"),
        3 => matches!(word, "and" | "for" | "not"),
        4 => matches!(word, "else" | "from" | "with"),
        5 => matches!(word, "async" | "await" | "yield"),
        6 => matches!(word, "lambda" | "return"),
        _ => false,
    }
}

/// An open bracket: what was there before it.
struct Bracket {
    depth: usize,
    base: Option<usize>,
}

/// The length of the literal that a text begins with, its quotes included.
fn string_length(text: &str, quote: char) -> usize {
    let triple: String = [quote; 3].iter().collect();
    let (end, long) = if text.starts_with(&triple) { (triple, true) } else { (quote.to_string(), false) };
    let mut at = end.len();
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(&end) {
            return at + end.len();
        }
        if !long && (c == '\n' || c == '\r') {
            return at;
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// Parsing and comparing recurse, and the texts are a policy's.
pub fn on_deep_stack<T>(program: &str, work: impl FnOnce() -> T) -> T {
    on_stack_for(most_levels(program), work)
}

fn on_stack_for<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    let stack = (1 << 20) + STACK_OF_A_LEVEL * levels.min(MOST_LEVELS);
    stacker::maybe_grow(stack, stack, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of texts, which repeated nest or break off in every way.
    const PARTS: [&str; 44] = [
        "(",
        "[",
        "{",
        ")",
        "]",
        "}",
        ",",
        ":",
        ";",
        ".",
        "=",
        ":=",
        "-",
        "~",
        "*",
        "**",
        "->",
        "@",
        "|",
        "not ",
        "a ",
        "1 ",
        "'' ",
        "f'{",
        "f\"{a",
        "t'",
        "lambda ",
        "lambda a, b: ",
        "yield ",
        "yield from ",
        "await ",
        "async ",
        "if ",
        "else ",
        "for a in ",
        "in ",
        "is ",
        "or ",
        "return ",
        "with ",
        "import ",
        "from ",
        "case ",
        "\n",
    ];

    /// A text that nests deeper than is counted ends the process.
    #[test]
    fn what_nests_is_counted() {
        for first in PARTS {
            for second in PARTS {
                for start in ["x = ", "assert f(1), ", "f'{"] {
                    let text = format!("{start}{}1\n", format!("{first}{second}").repeat(600));
                    with_syntax(&text, |_| ());
                }
            }
        }
        for (part, inner) in [
            ("f'{", ""),
            ("assert f(1) == 2, f'{", "("),
            ("(lambda a, b: ", "lambda a, b: "),
            ("yield a, ", "yield a, "),
        ] {
            with_syntax(&format!("{part}{}1", inner.repeat(30_000)), |_| ());
        }
    }

    #[test]
    fn items_of_a_list_do_not_nest() {
        assert!(most_levels(&format!("x = [{}]\n", "-1, ".repeat(10_000))) < 10);
        assert!(most_levels(&format!("x = [{}]\n", "(1, 'a'), ".repeat(10_000))) < 10);
        assert!(most_levels(&format!("x = {}1\n", "-".repeat(10_000))) >= 10_000);
    }
}
