//! `complexity`: the cognitive complexity of the task's code, in units of 15.
//!
//! # What it measures
//! Campbell's cognitive complexity (2018) over 15, as Absolute Zero Reasoner counts it: 1 for each `if`, loop, `match`, `except`, conditional
//! expression and comprehension, and 1 more for each that it stands in; 1 for each `elif`, `else` and run of `and` or `or`. Functions and
//! lambdas inside of functions nest too. Recursion is not counted.
//!
//! # Why
//! A program with more cases and deeper ones asks more of whoever traces it. In the paper it rose by itself, and rewarding it brought no
//! significant gain.
//!
//! # How it can be gamed
//! By branches that never matter, such as `if x == x`. The term is capped, and it counts for tasks with 0 < s < 1 alone.
//!
//! # Example
//! A loop with an `if` and an `else` inside: 1 + 2 + 1 = 4, so the value is 4 / 15.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_except_handler, walk_expr, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use veriplay_python::syntax::with_syntax;

use super::IntrinsicReward;
use crate::task_pool::TaskContent;

const UNIT: f64 = 15.0;

pub(super) struct Complexity;

impl IntrinsicReward for Complexity {
    fn name(&self) -> &'static str {
        "complexity"
    }

    fn value(&self, task: &TaskContent, _others: &[&TaskContent]) -> Option<f64> {
        cognitive_complexity(task.code.as_deref()?).map(|count| f64::from(count) / UNIT)
    }
}

/// `None` for text that is no Python.
fn cognitive_complexity(program: &str) -> Option<u32> {
    with_syntax(program, |parsed| {
        let mut counter = Counter::default();
        counter.visit_body(&parsed.syntax().body);
        counter.total
    })
}

#[derive(Default)]
struct Counter {
    total: u32,
    nesting: u32,
    in_function: bool,
}

impl Counter {
    fn branch(&mut self) {
        self.total += 1 + self.nesting;
    }

    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        self.nesting += 1;
        visit(self);
        self.nesting -= 1;
    }
}

impl<'a> SourceOrderVisitor<'a> for Counter {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(node) => {
                self.branch();
                self.visit_expr(&node.test);
                self.nested(|counter| counter.visit_body(&node.body));
                for clause in &node.elif_else_clauses {
                    self.total += 1;
                    clause.test.iter().for_each(|test| self.visit_expr(test));
                    self.nested(|counter| counter.visit_body(&clause.body));
                }
            }
            Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => {
                self.branch();
                self.nested(|counter| walk_stmt(counter, stmt));
            }
            Stmt::FunctionDef(_) if self.in_function => self.nested(|counter| walk_stmt(counter, stmt)),
            Stmt::FunctionDef(_) => {
                self.in_function = true;
                walk_stmt(self, stmt);
                self.in_function = false;
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        self.branch();
        self.nested(|counter| walk_except_handler(counter, handler));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::If(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.branch();
                self.nested(|counter| walk_expr(counter, expr));
            }
            Expr::Lambda(_) => self.nested(|counter| walk_expr(counter, expr)),
            Expr::BoolOp(_) => {
                self.total += 1;
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cognitive_complexity;

    #[test]
    fn branches_count_and_nested_ones_count_more() {
        let cases = [
            ("def f(x):\n    return x + 1", Some(0)),
            (
                "def f(x):\n    if x and x > 1 and x < 9:\n        return 1\n    elif x:\n        return 2\n    else:\n        return 3",
                Some(4),
            ),
            ("def f(x):\n    for i in x:\n        if i:\n            pass\n        else:\n            pass", Some(4)),
            ("def f(x):\n    return [i if i else 0 for i in x]", Some(3)),
            ("def f(x):\n    def g(y):\n        while y:\n            y -= 1\n    g(x)", Some(2)),
            ("def f(x):\n    try:\n        x()\n    except ValueError:\n        pass", Some(1)),
            ("def f(x:", None),
        ];
        for (program, want) in cases {
            assert_eq!(cognitive_complexity(program), want, "{program}");
        }
    }
}
