//! Whether test code tests anything. Code that asserts nothing where it runs passes every program.
//!
//! What counts as an assertion is more than `assert`: `raise`, a call of `self.assertEqual`, `np.testing.assert_allclose`, `pytest.raises` or
//! `unittest.main`, and a call of a function of the test code that has one of these.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use veriplay_core::{TestCode, TestStyle};
use veriplay_python::syntax::with_syntax;

use super::plain_program::is_main_guard;

/// Names of functions that end a test, or run others. Those that begin with `assert` do, too.
const CHECKS: [&str; 5] = ["raises", "warns", "fail", "main", "exit"];

/// Whether any of the test code asserts something where it runs. Code that is no Python fails when it runs; that which tests a program by functions
/// `test…` is collected, and one that does no more than call the program is a test, too. What `check` comes to is not followed: its helpers may be
/// methods, decorators or values of a table.
pub(super) fn asserts_something(code: &TestCode) -> bool {
    match &code.style {
        // They run in one namespace.
        TestStyle::Asserts(texts) => {
            with_syntax(&texts.join("\n"), |parsed| runs_assertion(parsed.suite())).unwrap_or(true)
        }
        TestStyle::Check { source, .. } => with_syntax(source, |parsed| has_assertion(parsed.suite())).unwrap_or(true),
        TestStyle::Functions(_) => true,
    }
}

/// Whether one of the statements, or what they define, asserts something.
fn has_assertion(body: &[Stmt]) -> bool {
    let mut finder = Finder { enters_definitions: true, ..Finder::default() };
    finder.visit_body(body);
    finder.has_found
}

/// Whether running the statements comes to an assertion: they have one, or name what has one.
fn runs_assertion(body: &[Stmt]) -> bool {
    let mut finder = Finder::default();
    finder.visit_body(body);
    finder.has_found || names_assertion(body, finder.named)
}

/// Whether one of the names is that of a function or class with an assertion, or of one that names such a one in turn.
fn names_assertion<'a>(body: &'a [Stmt], named: HashSet<&'a str>) -> bool {
    let mut definitions: HashMap<&str, Vec<&[Stmt]>> = HashMap::new();
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(found) => definitions.entry(found.name.as_str()).or_default().push(&found.body),
            Stmt::ClassDef(found) => definitions.entry(found.name.as_str()).or_default().push(&found.body),
            _ => {}
        }
    }
    let mut open: Vec<&str> = named.into_iter().collect();
    while let Some(name) = open.pop() {
        for body in definitions.remove(name).into_iter().flatten() {
            let mut finder = Finder { enters_definitions: true, ..Finder::default() };
            finder.visit_body(body);
            if finder.has_found {
                return true;
            }
            open.extend(finder.named);
        }
    }
    false
}

/// Whether an expression is a constant, or a tuple that is written out.
fn is_always_true(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(tuple) => !tuple.elts.is_empty(),
        Expr::BooleanLiteral(literal) => literal.value,
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => true,
        _ => false,
    }
}

#[derive(Default)]
struct Finder<'a> {
    enters_definitions: bool,
    has_found: bool,
    /// Names and attributes outside of definitions that are not entered.
    named: HashSet<&'a str>,
}

fn is_check(call: &ExprCall) -> bool {
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    name.starts_with("assert") || CHECKS.contains(&name)
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // `assert (f(1) == 2, "why")` holds of every tuple.
            Stmt::Assert(assert) if is_always_true(&assert.test) => {}
            Stmt::Assert(_) | Stmt::Raise(_) => self.has_found = true,
            Stmt::FunctionDef(found) if !self.enters_definitions => {
                found.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
            }
            Stmt::ClassDef(_) if !self.enters_definitions => {}
            // Tests are no main program.
            Stmt::If(guarded) if guarded.test.as_compare_expr().is_some_and(is_main_guard) => {
                guarded.elif_else_clauses.iter().for_each(|clause| self.visit_body(&clause.body));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.has_found |= is_check(call),
            Expr::Name(name) => drop(self.named.insert(name.id.as_str())),
            Expr::Attribute(attribute) => drop(self.named.insert(attribute.attr.as_str())),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::Trust;

    use super::*;
    use crate::cases::{is_yes, texts};

    fn asserts(texts: &[&str]) -> bool {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        asserts_something(&TestCode::new(Trust::default(), TestStyle::Asserts(texts)))
    }

    #[test]
    fn code_tests_that_comes_to_an_assertion_where_it_runs() {
        for [text, expected] in texts(include_str!("../../tests/main/cases/assertions.txt")) {
            assert_eq!(asserts(&[&text]), is_yes(&expected), "{text}");
        }
        assert!(asserts(&["from solution import f", "assert f(1)"]), "one of them is enough");
        assert!(asserts(&["def check(g):\n    assert g(1) == 2", "check(f)"]), "they share a namespace");
        for (body, expected) in [("assert candidate(1) == 2", true), ("pass", false)] {
            let source = format!("def check(candidate):\n    {body}");
            let style = TestStyle::Check { source, function: "f".to_owned() };
            assert_eq!(asserts_something(&TestCode::new(Trust::default(), style)), expected, "{body}");
        }
    }
}
