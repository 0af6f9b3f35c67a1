//! Gives what Python reads as the same one spelling: `elif`, `return None`, `not x in y`, texts with and without an idle `f`, large integers.

use ruff_python_ast::{
    CmpOp, ElifElseClause, Expr, ExprStringLiteral, FStringPart, Int, InterpolatedStringElement, Number, Stmt, StmtIf,
    StringLiteral, StringLiteralFlags, StringLiteralValue, UnaryOp,
};
use veriplay_core::Value;

/// Whether a statement has no effect: `pass`, a docstring or another constant, a declaration without a value.
pub(super) fn does_nothing(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(stmt) => stmt.value.is_literal_expr(),
        Stmt::AnnAssign(stmt) => stmt.value.is_none(),
        _ => false,
    }
}

/// Whether a statement returns `None`, as the end of a function does.
pub(super) fn returns_nothing(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Return(stmt) if stmt.value.as_deref().is_none_or(Expr::is_none_literal_expr))
}

pub(super) fn normalise_stmt(stmt: &mut Stmt) {
    match stmt {
        Stmt::If(stmt) => {
            while let Some(inner) = only_if(stmt) {
                let StmtIf { node_index, range, test, body, elif_else_clauses } = inner;
                stmt.elif_else_clauses.push(ElifElseClause { node_index, range, test: Some(*test), body });
                stmt.elif_else_clauses.extend(elif_else_clauses);
            }
        }
        Stmt::Return(stmt) if stmt.value.as_deref().is_some_and(Expr::is_none_literal_expr) => stmt.value = None,
        _ => {}
    }
}

/// Takes out the last clause where it is `else` with nothing but another `if`.
fn only_if(stmt: &mut StmtIf) -> Option<StmtIf> {
    let last = stmt.elif_else_clauses.last_mut().filter(|clause| clause.test.is_none())?;
    last.body.retain(|stmt| !does_nothing(stmt));
    if !matches!(last.body.as_slice(), [Stmt::If(_)]) {
        return None;
    }
    match stmt.elif_else_clauses.pop()?.body.pop()? {
        Stmt::If(inner) => Some(inner),
        _ => None,
    }
}

pub(super) fn normalise_expr(expr: &mut Expr) {
    let other = match expr {
        Expr::UnaryOp(not) if not.op == UnaryOp::Not => match &mut *not.operand {
            Expr::Compare(compare) => match &mut *compare.ops {
                [op @ CmpOp::In] => {
                    *op = CmpOp::NotIn;
                    Some((*not.operand).clone())
                }
                [op @ CmpOp::Is] => {
                    *op = CmpOp::IsNot;
                    Some((*not.operand).clone())
                }
                _ => None,
            },
            _ => None,
        },
        Expr::FString(string) => plain_text(string.value.iter()).map(|text| {
            let (range, node_index) = (string.range, string.node_index.clone());
            let flags = StringLiteralFlags::empty();
            let literal = StringLiteral { range, node_index: node_index.clone(), value: text.into(), flags };
            Expr::StringLiteral(ExprStringLiteral { range, node_index, value: StringLiteralValue::single(literal) })
        }),
        Expr::NumberLiteral(number) => {
            if let Number::Int(int) = &mut number.value
                && int.as_u64().is_none()
                && let Ok(Value::Int(value)) = Value::parse_repr(&int.to_string())
                && let Ok(decimal) = value.to_string().parse::<Int>()
            {
                *int = decimal;
            }
            None
        }
        _ => None,
    };
    if let Some(other) = other {
        *expr = other;
    }
}

/// The text of a formatted string that formats nothing.
fn plain_text<'a>(parts: impl Iterator<Item = &'a FStringPart>) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            FStringPart::Literal(literal) => text.push_str(&literal.value),
            FStringPart::FString(string) => {
                for element in &string.elements {
                    match element {
                        InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                        InterpolatedStringElement::Interpolation(_) => return None,
                    }
                }
            }
        }
    }
    Some(text)
}
