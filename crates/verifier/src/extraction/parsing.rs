//! What the parser says of a text that may be a program.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::Parsed;
use veriplay_core::{TestCode, TestStyle};
use veriplay_python::names::Names;
use veriplay_python::syntax::{with_any_syntax, with_syntax};

use super::Entry;
use super::context::complete_body;
use crate::judges::SOLUTION;

/// The module under which tests import the program.
pub(super) const MODULE: &str = "solution";

/// Names by which a script prints, and those by which it reads its input. `sys` has names for both.
const PRINTING: [&str; 4] = ["print", "os", "open", "exec"];
const READING: [&str; 5] = ["input", "os", "open", "exec", "fileinput"];

/// The names that a program must bind, one of them at least. None for a script.
#[derive(Debug, Default)]
pub(super) struct WantedNames {
    pub(super) names: BTreeSet<String>,
    /// Whether a method of `class Solution` is such a name, too.
    are_methods: bool,
    /// Whether the program needs all of them, as tests do that use them.
    are_all_used: bool,
}

impl WantedNames {
    pub(super) fn read(entry: Entry<'_>, prompt: &str) -> Self {
        let names = match entry {
            Entry::Prompted => last_function(prompt).into_iter().collect(),
            Entry::Script => BTreeSet::new(),
            Entry::Function(function) | Entry::FunctionOrMethod(function) => {
                function.split('.').map(str::to_owned).collect()
            }
            Entry::Source(source) => free_names(source),
            Entry::Tests(TestCode { style: TestStyle::Check { function, .. }, .. }) => {
                BTreeSet::from([function.clone()])
            }
            Entry::Tests(TestCode { style: TestStyle::Functions(source), setup, .. }) => {
                free_names(&format!("{setup}\n{source}"))
            }
            Entry::Tests(TestCode { style: TestStyle::Asserts(lines), setup, .. }) => {
                free_names(&format!("{setup}\n{}", lines.join("\n")))
            }
        };
        Self {
            names,
            are_methods: matches!(entry, Entry::FunctionOrMethod(_)),
            are_all_used: matches!(entry, Entry::Tests(_) | Entry::Source(_)),
        }
    }

    /// What a program uses without binding it, and what tests use of it that it does not bind.
    pub(super) fn missing_in(&self, code: &str) -> BTreeSet<String> {
        with_syntax(code, |parsed| {
            let found = Names::read(parsed.suite());
            let of_tests = self.names.iter().map(String::as_str).filter(|_| self.are_all_used);
            let unbound = of_tests.filter(|name| !found.of_module.contains(name));
            found.free().chain(unbound).map(str::to_owned).collect()
        })
        .unwrap_or_default()
    }

    fn has_method(&self, body: &[Stmt]) -> bool {
        let classes = body.iter().filter_map(|stmt| stmt.as_class_def_stmt());
        let solutions = classes.filter(|class| self.are_methods && class.name.as_str() == SOLUTION);
        let mut methods = solutions.flat_map(|class| &class.body).filter_map(|stmt| stmt.as_function_def_stmt());
        methods.any(|method| self.names.contains(method.name.as_str()))
    }
}

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
    /// Running it does more than to bind names.
    pub(super) runs: bool,
    /// It runs, and may print something.
    pub(super) prints: bool,
    /// It may read its input.
    pub(super) reads: bool,
    /// It returns outside of a function, as the body of one does.
    pub(super) returns: bool,
    /// It uses no name that it does not bind.
    pub(super) is_complete: bool,
}

impl Facts {
    /// The facts of `code`.
    pub(super) fn read(code: &str, wanted: &WantedNames) -> Self {
        with_syntax(code, |parsed| {
            let body = parsed.suite();
            let found = Names::read(body);
            let runs = body.iter().any(is_run);
            let uses_any = |names: &[&str]| found.has_star || names.iter().any(|name| found.uses(name));
            let has_method = wanted.has_method(body);
            Self {
                parses: true,
                has_statement: body.iter().any(is_statement),
                // There may be many names, and many blocks, which are short then.
                binds: has_method || found.of_module.iter().any(|name| wanted.names.contains(*name)),
                defines: has_method || found.defined.iter().any(|name| wanted.names.contains(*name)),
                runs,
                prints: runs && (uses_any(&PRINTING) || code.contains("stdout")),
                reads: uses_any(&READING) || code.contains("stdin"),
                returns: returns_outside_of_functions(body),
                is_complete: found.has_star || found.free().next().is_none(),
            }
        })
        .unwrap_or_default()
    }
}

/// Whether a statement is more than a definition.
fn is_run(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(_) => is_statement(stmt),
        Stmt::For(_) | Stmt::While(_) | Stmt::If(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_) => true,
        _ => false,
    }
}

fn returns_outside_of_functions(body: &[Stmt]) -> bool {
    let mut finder = ReturnFinder::default();
    finder.visit_body(body);
    finder.has_found
}

#[derive(Default)]
struct ReturnFinder {
    has_found: bool,
}

impl<'a> SourceOrderVisitor<'a> for ReturnFinder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Return(_) => self.has_found = true,
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }
}

/// Whether a statement does something: an expression has to be a call, and `Note: this` is prose.
pub(super) fn is_statement(stmt: &Stmt) -> bool {
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

/// Where the first error of a text is; `None` for Python. `None` as a whole where the text nests too deep.
pub(super) fn first_error(text: &str) -> Option<Option<usize>> {
    with_any_syntax(text, |parsed| parsed.errors().iter().map(|error| error.location.start().to_usize()).min())
}
