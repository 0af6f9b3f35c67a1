//! Names programs, functions and sentences by what they say, however they are laid out and whatever they call their variables.
//!
//! Programs are compared as syntax trees, as ruff's parser gives them. Two programs with one fingerprint differ at most in layout, comments,
//! docstrings, annotations, spellings of literals, parts that do nothing, and the names of their own variables, functions, classes and imports:
//! each scope's names are replaced by their numbers in the order of their first use. The reverse does not hold: `x + 1` and `1 + x` are
//! two programs, and so are functions whose free variables have different names.

use std::hash::{Hash, Hasher};

use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{Expr, ModModule, Stmt, StmtFunctionDef};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use veriplay_core::{Digest, normalize_program};

use super::{idle, scopes};

/// A function of a program: its fingerprint, and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, for people.
    pub name: String,
    /// What it says; the same under any name.
    pub fingerprint: Digest,
}

/// Names a program. Text that is no Python is named by its words.
pub fn program_fingerprint(program: &str) -> Digest {
    on_a_deep_stack(program, || match parsed(program) {
        Some((module, true)) => digest(module.body),
        _ => Digest::of(normalize_program(program).as_bytes()),
    })
}

/// The functions of a program, methods and inner ones too, but for those that are too short to be told apart (`return self`).
pub fn functions(program: &str) -> Vec<Function> {
    on_a_deep_stack(program, || {
        let Some((module, _)) = parsed(program) else { return Vec::new() };
        let mut found = Functions(Vec::new());
        found.visit_body(&module.body);
        found.0
    })
}

/// Names a sentence up to case, white space and punctuation: sentences that differ in nothing else ask the same.
pub fn text_fingerprint(text: &str) -> Digest {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "+-*/%<>=_".contains(c)));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    Digest::of(words.join(" ").as_bytes())
}

/// The syntax tree of a program, and whether all of it is Python; `None` where the text nests deeper than CPython reads.
fn parsed(program: &str) -> Option<(ModModule, bool)> {
    if nests_too_deep(program) {
        return None;
    }
    let parsed = parse_unchecked(program, ParseOptions::from(Mode::Module)).try_into_module()?;
    let whole = parsed.errors().is_empty();
    Some((parsed.into_syntax(), whole))
}

/// Works on the syntax tree of a program, on a stack that is deep enough; `None` for text that is no Python or nests too deep.
pub(crate) fn with_syntax<T>(program: &str, work: impl FnOnce(&Parsed<ModModule>) -> T) -> Option<T> {
    if nests_too_deep(program) {
        return None;
    }
    on_a_deep_stack(program, || {
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
pub(super) fn nests_too_deep(program: &str) -> bool {
    most_levels(program) > MOST_LEVELS
}

/// An upper bound on how deep the tree of a text is: open brackets, levels of indentation, and the operators and words since the last
/// comma of the bracket.
fn most_levels(program: &str) -> usize {
    const WORDS: [&str; 9] = ["and", "await", "else", "for", "if", "in", "lambda", "not", "or"];
    let (mut open, mut depth, mut most): (Vec<usize>, usize, usize) = (Vec::new(), 0, 0);
    // The columns of the blocks that are open.
    let mut blocks: Vec<usize> = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '#' => length = rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '\'' | '"' => {
                length = string_length(rest, c);
                depth += 1;
            }
            '(' | '[' | '{' => {
                open.push(depth);
                depth += 1;
            }
            // What follows a bracket may be applied to it.
            ')' | ']' | '}' => depth = open.pop().unwrap_or(depth) + 1,
            ',' => depth = open.last().map_or(0, |depth| depth + 1),
            '\n' | '\r' | ';' if open.is_empty() => {
                depth = 0;
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
                depth += usize::from(WORDS.contains(&&rest[..length]));
            }
            c if c.is_ascii_punctuation() => depth += 1,
            _ => {}
        }
        most = most.max(depth + blocks.len());
        rest = &rest[length..];
    }
    most
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
fn on_a_deep_stack<T>(program: &str, work: impl FnOnce() -> T) -> T {
    let stack = (1 << 20) + STACK_OF_A_LEVEL * most_levels(program).min(MOST_LEVELS);
    stacker::maybe_grow(stack, stack, work)
}

struct Functions(Vec<Function>);

impl<'a> SourceOrderVisitor<'a> for Functions {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(function) = stmt {
            let own = StmtFunctionDef { decorator_list: Vec::new(), ..function.clone() };
            if !is_short(&own) {
                let fingerprint = digest(vec![Stmt::FunctionDef(own)]);
                self.0.push(Function { name: function.name.to_string(), fingerprint });
            }
        }
        walk_stmt(self, stmt);
    }
}

/// Whether a function says nothing of its own: it does nothing, or one statement with one name or literal, such as `return self`.
fn is_short(function: &StmtFunctionDef) -> bool {
    let plain = |value: Option<&Expr>| value.is_none_or(|value| value.is_name_expr() || value.is_literal_expr());
    let mut body = function.body.clone();
    idle::strip(&mut body, true);
    match body.as_slice() {
        [] => true,
        [Stmt::Return(stmt)] => plain(stmt.value.as_deref()),
        [Stmt::Raise(stmt)] => plain(stmt.exc.as_deref()),
        [Stmt::Expr(stmt)] => match &*stmt.value {
            Expr::Yield(value) => plain(value.value.as_deref()),
            Expr::Await(value) => plain(Some(&value.value)),
            _ => false,
        },
        _ => false,
    }
}

/// Renames what is bound, and hashes.
fn digest(mut body: Vec<Stmt>) -> Digest {
    scopes::rename(&mut body);
    let mut bytes = Bytes(Vec::new());
    body.iter().map(ComparableStmt::from).collect::<Vec<_>>().hash(&mut bytes);
    Digest::of(&bytes.0)
}

/// What a tree hashes, as it is.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
