//! Puts source before a program, so that an honest program reads as it would alone, and no name of that source is its answer.

use std::collections::HashSet;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_text_size::{Ranged, TextSize};
use veriplay_core::Value;

use crate::syntax::with_syntax;

/// The module whose imports must stand first.
const FUTURE: &str = "__future__";

/// `prelude`, and `program` behind it. `own` are the names that only the program may bind, unless the prelude has functions of them.
pub fn insert_before<'a>(prelude: &str, program: &str, own: impl Iterator<Item = &'a str>) -> String {
    if prelude.is_empty() {
        return program.to_owned();
    }
    let program = program.strip_prefix('\u{feff}').unwrap_or(program);
    let (head, body) = split_future_imports(program);
    let own: Vec<&str> = own.filter(|name| !name.contains('.')).collect();
    let defined = functions_among(&own, prelude);
    // A star import may bind the very name: an empty program would then pass by the library's function.
    let imported = own.into_iter().filter(|name| !defined.contains(*name));
    let unbound = imported.map(|name| format!("globals().pop({:#}, None)\n", Value::str(name)));
    [on_own_lines(head), on_own_lines(prelude), unbound.collect(), body.to_owned()].concat()
}

fn on_own_lines(part: &str) -> String {
    let end = if part.is_empty() || part.ends_with('\n') { "" } else { "\n" };
    format!("{part}{end}")
}

/// The start of `program` that ends with its imports of `__future__`, which only a docstring and comments may precede, and the rest, which gets
/// lines of its own. The start is empty where it has none, or is no Python.
fn split_future_imports(program: &str) -> (&str, &str) {
    let parse = || with_syntax(program, |parsed| end_of_future_imports(parsed.suite()))?;
    let Some(end) = program.contains(FUTURE).then(parse).flatten() else { return ("", program) };
    let (head, rest) = program.split_at(end.to_usize());
    let rest = rest.trim_start_matches([' ', '\t', '\x0c']);
    let rest = rest.strip_prefix(';').map_or(rest, |rest| rest.trim_start_matches([' ', '\t', '\x0c']));
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    (head, rest.strip_prefix('\n').unwrap_or(rest))
}

fn end_of_future_imports(body: &[Stmt]) -> Option<TextSize> {
    let is_docstring = |stmt: &Stmt| stmt.as_expr_stmt().is_some_and(|stmt| stmt.value.is_string_literal_expr());
    let is_import = |stmt: &&Stmt| {
        let module = stmt.as_import_from_stmt().filter(|stmt| stmt.level == 0).and_then(|stmt| stmt.module.as_ref());
        module.is_some_and(|module| module.as_str() == FUTURE)
    };
    let imports = &body[usize::from(body.first().is_some_and(is_docstring))..];
    imports.iter().take_while(is_import).last().map(Ranged::end)
}

/// Functions of a prelude, where it may have one of these names. A method, an inner function or a comment is none.
fn functions_among(names: &[&str], prelude: &str) -> HashSet<String> {
    /// Names that are looked for before the prelude is parsed.
    const FEW: usize = 8;
    // For every attempt: few preludes have a name at all, and these alone are parsed.
    if names.len() <= FEW && !names.iter().any(|name| prelude.contains(name)) {
        return HashSet::new();
    }
    let read = with_syntax(prelude, |parsed| {
        let mut reader = DefinitionReader::default();
        reader.visit_body(parsed.suite());
        reader.functions
    });
    read.unwrap_or_default()
}

#[derive(Default)]
struct DefinitionReader {
    functions: HashSet<String>,
}

impl<'a> SourceOrderVisitor<'a> for DefinitionReader {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(found) => drop(self.functions.insert(found.name.to_string())),
            Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }
}
