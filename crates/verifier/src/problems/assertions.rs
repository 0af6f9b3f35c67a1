//! Whether test code tests anything. Code that asserts nothing where it runs passes every program.
//!
//! What counts as an assertion is more than `assert`: `raise`, a call of `self.assertEqual`, `np.testing.assert_allclose`, `pytest.raises` or
//! `unittest.main`, and a call of a function of the test code that has one of these.

use std::collections::HashSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use veriplay_core::{TestCode, TestStyle};

use super::plain_program::is_main_guard;
use crate::syntax::with_syntax;

/// Names of functions that end a test, or run others. Those that begin with `assert` do, too.
const CHECKS: [&str; 5] = ["raises", "warns", "fail", "main", "exit"];

/// Whether any of the test code asserts something where it runs. Code that is no Python fails when it runs; that which tests a program by functions
/// `test…` is collected, and one that does no more than call the program is a test, too.
pub(super) fn asserts_something(code: &TestCode) -> bool {
    match &code.style {
        TestStyle::Asserts(texts) => {
            texts.iter().any(|text| with_syntax(text, |parsed| runs_assertion(parsed.suite())).unwrap_or(true))
        }
        TestStyle::Check { source, .. } => {
            with_syntax(source, |parsed| checks_something(parsed.suite())).unwrap_or(true)
        }
        TestStyle::Functions(_) => true,
    }
}

/// Whether one of the statements, or what they define, asserts something.
fn has_assertion(body: &[Stmt]) -> bool {
    let mut finder = Finder { enters_definitions: true, ..Finder::default() };
    finder.visit_body(body);
    finder.has_found
}

/// Whether running the statements comes to an assertion.
fn runs_assertion(body: &[Stmt]) -> bool {
    runs_assertion_among(body, asserting_functions(body).collect())
}

/// Whether a call of the function `check` of a module comes to an assertion.
fn checks_something(body: &[Stmt]) -> bool {
    let mut functions = body.iter().rev().filter_map(|stmt| stmt.as_function_def_stmt());
    match functions.find(|function| function.name.as_str() == "check") {
        Some(check) => {
            let known = asserting_functions(body).chain(asserting_functions(&check.body));
            runs_assertion_among(&check.body, known.filter(|name| *name != "check").collect())
        }
        None => has_assertion(body),
    }
}

/// The functions among the statements that assert something.
fn asserting_functions(body: &[Stmt]) -> impl Iterator<Item = &str> {
    let functions = body.iter().filter_map(|stmt| stmt.as_function_def_stmt());
    functions.filter(|function| has_assertion(&function.body)).map(|function| function.name.as_str())
}

fn runs_assertion_among(body: &[Stmt], checks: HashSet<&str>) -> bool {
    let mut finder = Finder { checks, ..Finder::default() };
    finder.visit_body(body);
    finder.has_found
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
    /// Functions of the test code that assert something.
    checks: HashSet<&'a str>,
    enters_definitions: bool,
    has_found: bool,
}

impl Finder<'_> {
    fn is_check(&self, call: &ExprCall) -> bool {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return false,
        };
        name.starts_with("assert") || CHECKS.contains(&name) || self.checks.contains(name)
    }
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // `assert (f(1) == 2, "why")` holds of every tuple.
            Stmt::Assert(assert) if is_always_true(&assert.test) => {}
            Stmt::Assert(_) | Stmt::Raise(_) => self.has_found = true,
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) if !self.enters_definitions => {}
            // Tests are no main program.
            Stmt::If(guarded) if guarded.test.as_compare_expr().is_some_and(is_main_guard) => {
                guarded.elif_else_clauses.iter().for_each(|clause| self.visit_body(&clause.body));
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.has_found |= self.is_check(call);
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::Trust;

    use super::*;

    fn asserts(texts: &[&str]) -> bool {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        asserts_something(&TestCode::new(Trust::default(), TestStyle::Asserts(texts)))
    }

    #[test]
    fn code_that_runs_an_assertion_tests() {
        for text in [
            "assert f(1) == 2",
            "x = f(1)\nif x != 2:\n    raise ValueError(x)",
            "for x in [1]:\n    assert f(x)",
            "def check(g):\n    assert g(1) == 2\ncheck(f)",
            "import numpy as np\nnp.testing.assert_allclose(f(1), 2)",
            "with pytest.raises(ValueError):\n    f(0)",
            "import unittest\nclass A(unittest.TestCase):\n    def test(self): self.assertTrue(f(1))\nunittest.main()",
            "import sys\nif not f(1): sys.exit(1)",
            "assert f(",
        ] {
            assert!(asserts(&[text]), "{text}");
        }
        assert!(asserts(&["from solution import f", "assert f(1)"]), "one of them is enough");
    }

    #[test]
    fn code_that_runs_none_does_not() {
        for text in [
            "from solution import f\nx = 1",
            "print(f(1) == 2)",
            "assert (f(1) == 2, 'why')",
            "assert True",
            "def helper():\n    assert f(1) == 2",
            "class Check:\n    def test_f(self):\n        assert f(1) == 2",
            "if __name__ == '__main__':\n    assert f(1) == 2",
            "def look(g):\n    return g(1) == 2\nlook(f)",
            "",
        ] {
            assert!(!asserts(&[text]), "{text}");
        }
        let check = |source: &str| {
            let style = TestStyle::Check { source: source.to_owned(), function: "f".to_owned() };
            asserts_something(&TestCode::new(Trust::default(), style))
        };
        let helper = "def same(a, b):\n    assert a == b\n";
        for source in [
            "def check(candidate):\n    assert candidate(1) == 2".to_owned(),
            format!("{helper}def check(candidate):\n    same(candidate(1), 2)"),
            "def check(candidate):\n    def same(x):\n        assert candidate(x) == x\n    same(1)".to_owned(),
            "check = load('tests')".to_owned() + "\nassert check",
        ] {
            assert!(check(&source), "{source}");
        }
        for source in [
            "def check(candidate):\n    pass".to_owned(),
            format!("{helper}def check(candidate):\n    candidate(1)"),
            "def check(candidate):\n    def same(x):\n        assert candidate(x) == x".to_owned(),
            "def check(candidate):\n    assert candidate(1)\ndef check(candidate):\n    pass".to_owned(),
        ] {
            assert!(!check(&source), "{source}");
        }
    }
}
