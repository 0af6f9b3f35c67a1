//! Takes out what changes nothing: statements without an effect, empty clauses, unreachable statements, jumps to where the block ends anyway.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    ElifElseClause, ExceptHandler, Expr, FStringPart, InterpolatedStringElement, InterpolatedStringElements, Number,
    Operator, Stmt, StmtIf, StmtTry,
};

/// Strips the statements of one scope until nothing is left to strip. Inner functions and classes are scopes of their own.
pub(super) fn strip(body: &mut Vec<Stmt>, in_function: bool) {
    // The end of a function may empty a clause, which may empty another.
    while strip_block(body) || (in_function && strip_end(body, returns_nothing)) {}
}

/// Whether a statement has no effect, once its blocks are stripped.
fn does_nothing(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(stmt) => is_constant(&stmt.value),
        Stmt::AnnAssign(stmt) => stmt.value.is_none(),
        Stmt::Assert(stmt) => matches!(&*stmt.test, Expr::BooleanLiteral(test) if test.value),
        // Its features are all the language's by now, but for annotations, which are left out.
        Stmt::ImportFrom(stmt) => stmt.level == 0 && stmt.module.as_ref().is_some_and(|module| module == "__future__"),
        // Clauses of constant tests that are empty are gone.
        Stmt::If(stmt) => stmt.body.is_empty() && stmt.elif_else_clauses.is_empty() && is_constant(&stmt.test),
        Stmt::While(stmt) => stmt.body.is_empty() && stmt.orelse.is_empty() && is_false(&stmt.test),
        _ => false,
    }
}

/// Whether a statement returns `None`, as the end of a function does.
fn returns_nothing(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Return(stmt) if stmt.value.as_deref().is_none_or(Expr::is_none_literal_expr))
}

/// Whether an expression is made of literals alone, and so can neither fail nor change anything.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::FString(string) => string.value.iter().all(|part| match part {
            FStringPart::Literal(_) => true,
            FStringPart::FString(string) => are_constant(&string.elements),
        }),
        Expr::TString(string) => string.value.iter().all(|string| are_constant(&string.elements)),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_constant),
        Expr::List(list) => list.elts.iter().all(is_constant),
        Expr::UnaryOp(unary) => matches!(&*unary.operand, Expr::NumberLiteral(_) | Expr::BooleanLiteral(_)),
        // `1 + 2j` is how a complex number is written.
        Expr::BinOp(sum) => {
            let number = |side: &Expr| side.is_number_literal_expr();
            matches!(sum.op, Operator::Add | Operator::Sub) && number(&sum.left) && number(&sum.right)
        }
        _ => expr.is_literal_expr(),
    }
}

fn are_constant(elements: &InterpolatedStringElements) -> bool {
    elements.iter().all(|element| match element {
        InterpolatedStringElement::Literal(_) => true,
        InterpolatedStringElement::Interpolation(part) => {
            let spec = part.format_spec.as_ref().is_none_or(|spec| spec.elements.is_empty());
            spec && is_constant(&part.expression)
        }
    })
}

fn is_false(expr: &Expr) -> bool {
    match expr {
        Expr::BooleanLiteral(literal) => !literal.value,
        Expr::NumberLiteral(literal) => matches!(&literal.value, Number::Int(int) if int.as_u64() == Some(0)),
        _ => expr.is_none_literal_expr(),
    }
}

/// Strips a block, the inner ones first, and returns whether anything was taken out.
fn strip_block(body: &mut Vec<Stmt>) -> bool {
    let mut changed = false;
    for mut stmt in std::mem::take(body) {
        changed |= strip_parts(&mut stmt);
        match stmt {
            Stmt::Try(stmt) if is_plain(&stmt) => {
                changed = true;
                body.extend(stmt.body.into_iter().chain(stmt.orelse).chain(stmt.finalbody));
            }
            stmt if does_nothing(&stmt) => changed = true,
            stmt => body.push(stmt),
        }
    }
    if let Some(end) = body.iter().position(leaves)
        && body.len() > end + 1
        && !yields(&body[end + 1..])
    {
        body.truncate(end + 1);
        changed = true;
    }
    changed
}

/// Strips the blocks of a statement.
fn strip_parts(stmt: &mut Stmt) -> bool {
    match stmt {
        Stmt::For(stmt) => strip_loop(&mut stmt.body) | strip_block(&mut stmt.orelse),
        Stmt::While(stmt) => strip_loop(&mut stmt.body) | strip_block(&mut stmt.orelse),
        Stmt::If(stmt) => strip_if(stmt),
        Stmt::With(stmt) => strip_block(&mut stmt.body),
        Stmt::Try(stmt) => {
            let mut changed = strip_block(&mut stmt.body);
            for ExceptHandler::ExceptHandler(handler) in &mut stmt.handlers {
                changed |= strip_block(&mut handler.body);
            }
            changed | strip_block(&mut stmt.orelse) | strip_block(&mut stmt.finalbody)
        }
        Stmt::Match(stmt) => stmt.cases.iter_mut().fold(false, |changed, case| changed | strip_block(&mut case.body)),
        _ => false,
    }
}

fn strip_loop(body: &mut Vec<Stmt>) -> bool {
    strip_block(body) | strip_end(body, Stmt::is_continue_stmt)
}

/// Strips the clauses, takes out the last ones that are empty, and writes `elif` for an `else` with nothing but an `if`.
fn strip_if(stmt: &mut StmtIf) -> bool {
    let mut changed = strip_block(&mut stmt.body);
    for clause in &mut stmt.elif_else_clauses {
        changed |= strip_block(&mut clause.body);
    }
    while let Some(last) = stmt.elif_else_clauses.last_mut() {
        let is_else = last.test.is_none();
        if last.body.is_empty() && last.test.as_ref().is_none_or(is_constant) {
            stmt.elif_else_clauses.pop();
        } else if is_else
            && last.body.len() == 1
            && let Some(Stmt::If(inner)) = last.body.pop_if(|stmt| stmt.is_if_stmt())
        {
            let StmtIf { node_index, range, test, body, elif_else_clauses } = inner;
            *last = ElifElseClause { node_index, range, test: Some(*test), body };
            stmt.elif_else_clauses.extend(elif_else_clauses);
        } else {
            break;
        }
        changed = true;
    }
    changed
}

/// Takes out jumps to where a block ends anyway: a last `return` of a function, a last `continue` of a loop, also at the end of last clauses.
fn strip_end(body: &mut Vec<Stmt>, jumps: fn(&Stmt) -> bool) -> bool {
    let mut changed = false;
    while body.pop_if(|stmt| jumps(stmt)).is_some() {
        changed = true;
    }
    match body.last_mut() {
        Some(Stmt::If(stmt)) => {
            changed |= strip_end(&mut stmt.body, jumps);
            for clause in &mut stmt.elif_else_clauses {
                changed |= strip_end(&mut clause.body, jumps);
            }
        }
        Some(Stmt::With(stmt)) => changed |= strip_end(&mut stmt.body, jumps),
        Some(Stmt::Match(stmt)) => {
            for case in &mut stmt.cases {
                changed |= strip_end(&mut case.body, jumps);
            }
        }
        _ => {}
    }
    changed
}

/// Whether a `try` guards nothing: it has no handlers and no end, or nothing to guard.
fn is_plain(stmt: &StmtTry) -> bool {
    let bare = stmt.handlers.is_empty() && stmt.finalbody.is_empty();
    bare || (stmt.body.is_empty() && (stmt.orelse.is_empty() || stmt.finalbody.is_empty()))
}

/// Whether nothing after a statement of its block runs.
fn leaves(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_) => true,
        Stmt::If(stmt) => {
            let ends = |body: &[Stmt]| body.last().is_some_and(leaves);
            let has_else = stmt.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none());
            has_else && ends(&stmt.body) && stmt.elif_else_clauses.iter().all(|clause| ends(&clause.body))
        }
        _ => false,
    }
}

/// Whether statements make the function around them a generator, which they do unreached too.
fn yields(body: &[Stmt]) -> bool {
    let mut found = Yields(false);
    found.visit_body(body);
    found.0
}

struct Yields(bool);

impl<'a> Visitor<'a> for Yields {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.0 = true,
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }
}
