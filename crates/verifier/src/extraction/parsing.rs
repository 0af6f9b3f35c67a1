//! What the parser says of a text that may be a program, and of its prompt: helpers, imports, constants, and the signature that a body continues.

use std::collections::{BTreeSet, HashSet};

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::Parsed;
use ruff_text_size::Ranged;
use veriplay_core::{TestCode, TestStyle};
use veriplay_python::names::Names;
use veriplay_python::prelude::insert_before;
use veriplay_python::syntax::{with_any_syntax, with_syntax};

use super::Entry;
use super::text::lines_of;
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

/// What a body is indented by, where the prompt ends behind a signature.
const INDENT: &str = "    ";

/// `program`, behind those statements of the prompt that it needs: all definitions and imports but those of `own`, where it uses a name of them that
/// it does not bind itself.
pub(super) fn with_definitions_of_prompt(prompt: &str, own: &BTreeSet<String>, program: &str) -> String {
    if prompt.trim().is_empty() {
        return program.to_owned();
    }
    let definitions = with_syntax(program, |parsed| definitions_used(prompt, own, &Names::read(parsed.suite())));
    match definitions.flatten() {
        Some(definitions) => insert_before(&definitions, program, own.iter().map(String::as_str)),
        None => program.to_owned(),
    }
}

/// The definitions of the prompt, if the program uses one.
fn definitions_used(prompt: &str, own: &BTreeSet<String>, program: &Names<'_>) -> Option<String> {
    let free: HashSet<&str> = program.free().collect();
    if free.is_empty() {
        return None;
    }
    let prompt = complete_body(prompt);
    with_syntax(&prompt, |parsed| {
        let others = parsed.suite().iter().filter(|stmt| is_definition(stmt) && !defines_any(stmt, own));
        let (mut text, mut is_used) = (String::new(), false);
        for stmt in others {
            let names = Names::read(std::slice::from_ref(stmt));
            is_used |= names.has_star || names.of_module.iter().any(|name| free.contains(name));
            text += &prompt[stmt.start().to_usize()..stmt.end().to_usize()];
            text.push('\n');
        }
        is_used.then_some(text)
    })?
}

fn is_definition(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Assign(_)
            | Stmt::AnnAssign(_)
    )
}

fn defines_any(stmt: &Stmt, own: &BTreeSet<String>) -> bool {
    match stmt {
        Stmt::FunctionDef(function) => own.contains(function.name.as_str()),
        Stmt::ClassDef(class) => own.contains(class.name.as_str()),
        _ => false,
    }
}

/// The prompt, with a body for its last function where it has none: a prompt may end behind a signature.
pub(crate) fn complete_body(prompt: &str) -> String {
    let with_body = || format!("{}\n{INDENT}pass\n", prompt.trim_end());
    let is_complete = parses_behind("", prompt) || !parses_behind("", &with_body());
    if is_complete { prompt.to_owned() } else { with_body() }
}

/// The prompt with a body of its last function behind it that has lost its indentation: that of the first line, by a `strip`, or that of all.
/// `None` where the text is none.
pub(super) fn with_stripped_body(prompt: &str, body: &str) -> Option<String> {
    let may_be_body = body.contains("return") || body.contains("yield");
    if !may_be_body || body.starts_with(char::is_whitespace) {
        return None;
    }
    let last = lines_of(prompt).filter(|line| !line.text.trim().is_empty()).last()?.text;
    let indent = match &last[..last.len() - last.trim_start().len()] {
        "" => INDENT,
        indent => indent,
    };
    // Where the first line alone has lost it, the body is no Python by itself.
    let indented: String = match parses_behind("", body) {
        true => lines_of(body).map(|line| format!("{indent}{}\n", line.text)).collect(),
        false => format!("{indent}{body}"),
    };
    parses_behind(prompt, &indented).then(|| format!("{prompt}{indented}"))
}
