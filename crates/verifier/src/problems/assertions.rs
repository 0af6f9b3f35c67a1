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
            "def same(a, b):\n    assert a == b\ndef check(g):\n    same(g(1), 2)\ncheck(f)",
            "class Cases:\n    def run(self, g):\n        assert g(1) == 2\nCases().run(f)",
            "def same(a):\n    assert f(a)\nlist(map(same, [1]))",
            "def cases(test):\n    assert test(1)\n@cases\ndef test(x): return f(x)",
            "import numpy as np\nnp.testing.assert_allclose(f(1), 2)",
            "with pytest.raises(ValueError):\n    f(0)",
            "import unittest\nclass A(unittest.TestCase):\n    def test(self): self.assertTrue(f(1))\nunittest.main()",
            "import sys\nif not f(1): sys.exit(1)",
            "assert f(",
        ] {
            assert!(asserts(&[text]), "{text}");
        }
        assert!(asserts(&["from solution import f", "assert f(1)"]), "one of them is enough");
        assert!(asserts(&["def check(g):\n    assert g(1) == 2", "check(f)"]), "they share a namespace");
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
        assert!(
            check("def check(candidate):\n    assert candidate(1) == 2") && !check("def check(candidate):\n    pass")
        );
    }
}
