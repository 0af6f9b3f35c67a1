//! What the parser says of a text that may be a program.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::Parsed;
use veriplay_core::{TestCode, TestStyle};

use super::Entry;
use super::context::complete_body;
use super::lines::lines_of;
use crate::names::Names;
use crate::syntax::{with_any_syntax, with_syntax};

/// The module under which tests import the program.
const MODULE: &str = "solution";
/// Cuts of a text that are tried until the rest is Python.
const CUTS: usize = 3;
/// Beginnings of lines at which a program may begin, without white space before them.
const BEGINNINGS: [&str; 6] = ["def ", "async def ", "class ", "@", "import ", "from "];
/// Beginnings of lines that are hardly prose.
const CODE: [&str; 9] = ["def ", "async def ", "class ", "import ", "return ", "print(", "for ", "while ", "if "];

/// Names by which a script prints.
const PRINTING: [&str; 6] = ["print", "sys", "os", "open", "exec", "stdout"];

/// What is known of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// It is Python.
    pub(super) parses: bool,
    /// It does something, and is not a value that a program has printed.
    pub(super) has_statement: bool,
    /// It binds, in its module, one of the names that are asked for: by a definition, or an import.
    pub(super) binds: bool,
    /// It does so otherwise than by an import. Models import the name from the file that they have called the program.
    pub(super) defines: bool,
    /// It may print something.
    pub(super) prints: bool,
    /// It uses no name that it does not bind.
    pub(super) is_complete: bool,
}

impl Facts {
    /// The facts of `code`. `names` are those that are asked for.
    pub(super) fn read(code: &str, names: &BTreeSet<String>) -> Self {
        with_syntax(code, |parsed| {
            let body = parsed.suite();
            let found = Names::read(body);
            Self {
                parses: true,
                has_statement: body.iter().any(is_statement),
                // There may be many names, and many blocks, which are short then.
                binds: found.of_module.iter().any(|name| names.contains(*name)),
                defines: found.defined.iter().any(|name| names.contains(*name)),
                prints: found.has_star || PRINTING.iter().any(|name| found.uses(name)),
                is_complete: found.has_star || found.free().next().is_none(),
            }
        })
        .unwrap_or_default()
    }
}

/// Whether a statement does something: an expression has to be a call, and `Note: this` is prose.
fn is_statement(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::AnnAssign(assign) => assign.value.is_some(),
        Stmt::Expr(expr) => matches!(*expr.value, Expr::Call(_) | Expr::Await(_)),
        _ => true,
    }
}

/// Whether `text` behind `prompt` is Python.
pub(super) fn parses_behind(prompt: &str, text: &str) -> bool {
    with_syntax(&format!("{prompt}{text}"), |_| ()).is_some()
}

/// The names that a program must bind, one of them at least. None for a script.
pub(super) fn wanted_names(entry: Entry<'_>, prompt: &str) -> BTreeSet<String> {
    match entry {
        Entry::Prompted => last_function(prompt).into_iter().collect(),
        Entry::Script => BTreeSet::new(),
        Entry::Function(function) => function.split('.').map(str::to_owned).collect(),
        Entry::Source(source) => free_names(source),
        Entry::Tests(TestCode { style: TestStyle::Check { function, .. }, .. }) => BTreeSet::from([function.clone()]),
        Entry::Tests(TestCode { style: TestStyle::Functions(source), setup, .. }) => {
            free_names(&format!("{setup}\n{source}"))
        }
        Entry::Tests(TestCode { style: TestStyle::Asserts(lines), setup, .. }) => {
            free_names(&format!("{setup}\n{}", lines.join("\n")))
        }
    }
}

fn last_function(prompt: &str) -> Option<String> {
    with_syntax(&complete_body(prompt), |parsed| {
        let functions = parsed.suite().iter().filter_map(|stmt| stmt.as_function_def_stmt());
        functions.last().map(|function| function.name.to_string())
    })?
}

/// The names that a source text uses and does not bind, and those that it imports from the program.
fn free_names(source: &str) -> BTreeSet<String> {
    let read = |parsed: &Parsed<_>| {
        let body = Parsed::<ruff_python_ast::ModModule>::suite(parsed);
        let imported = body.iter().filter_map(|stmt| stmt.as_import_from_stmt());
        let of_program =
            imported.filter(|import| import.module.as_ref().is_some_and(|module| module.as_str() == MODULE));
        let imported = of_program.flat_map(|import| &import.names).map(|alias| alias.name.as_str());
        Names::read(body).free().chain(imported).map(str::to_owned).collect()
    };
    with_syntax(source, read).unwrap_or_default()
}

/// The start of `text` that is Python behind `prompt`, up to a line at the margin that is none. `None` where that is no start.
pub(super) fn leading_code<'a>(prompt: &str, text: &'a str) -> Option<&'a str> {
    let mut code = text;
    for _ in 0..CUTS {
        let Some(error) = first_error(&format!("{prompt}{code}"))? else { return Some(code) };
        let at = error.saturating_sub(prompt.len());
        let margins = lines_of(code).filter(|line| line.text.starts_with(|c: char| !c.is_whitespace()));
        let line = margins.take_while(|line| line.start <= at).last()?;
        code = &code[..line.start];
        if code.trim().is_empty() {
            return None;
        }
    }
    None
}

/// Where the first error of a text is; `None` for Python. `None` as a whole where the text nests too deep.
fn first_error(text: &str) -> Option<Option<usize>> {
    with_any_syntax(text, |parsed| parsed.errors().iter().map(|error| error.location.start().to_usize()).min())
}

/// Where the first line is with which a program among prose may begin.
pub(super) fn first_beginning(text: &str) -> Option<usize> {
    let begins = |line: &str| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
    lines_of(text).find(|line| begins(line.text)).map(|line| line.start)
}

/// Where a script among prose may begin that starts with none of these: lines at the margin that are statements, or the heads of some.
pub(super) fn script_beginnings(text: &str) -> impl Iterator<Item = usize> {
    /// More lines of prose stand before no script.
    const LINES: usize = 2000;
    lines_of(text).take(LINES).filter(|line| begins_script(line.text)).map(|line| line.start).take(CUTS)
}

fn begins_script(line: &str) -> bool {
    let is_candidate = line.contains(['=', '(', ':']) && !line.starts_with(char::is_whitespace);
    let line = if line.trim_end().ends_with(':') { format!("{line} pass") } else { line.to_owned() };
    let read = |parsed: &Parsed<_>| {
        let body = Parsed::<ruff_python_ast::ModModule>::suite(parsed);
        body.first().is_some_and(is_statement)
    };
    is_candidate && with_syntax(&line, read).unwrap_or_default()
}

/// The code of each run of lines that are indented by four columns, as Markdown has blocks without fences, and where it stands. Blank lines stand
/// around a run, and may stand in it.
pub(super) fn indented_codes(text: &str) -> Vec<(String, Range<usize>)> {
    const INDENT: &str = "    ";
    let mut codes: Vec<(String, Range<usize>)> = Vec::new();
    let (mut is_behind_blank, mut is_open) = (true, false);
    for line in lines_of(text) {
        let is_blank = line.text.trim().is_empty();
        let code = line.text.strip_prefix(INDENT).or_else(|| line.text.strip_prefix('\t'));
        match (code, codes.last_mut().filter(|_| is_open)) {
            (Some(code), Some((open, span))) => {
                open.push_str(code);
                open.push('\n');
                span.end = line.next;
            }
            (Some(code), None) if is_behind_blank && !is_blank => {
                codes.push((format!("{code}\n"), line.start..line.next));
                is_open = true;
            }
            (None, Some((open, _))) if is_blank => open.push('\n'),
            _ => is_open = false,
        }
        is_behind_blank = is_blank;
    }
    codes
}

/// Whether a text that is no Python was meant as such.
pub(super) fn looks_like_code(text: &str) -> bool {
    lines_of(text).any(|line| {
        let line = line.text.trim();
        let is_block = line.ends_with(':') || line.starts_with("return ") || line.contains('(');
        is_block && CODE.iter().any(|beginning| line.starts_with(beginning))
    })
}
