//! Gives what Python reads as the same one spelling: `return None`, `not x in y`, parts of strings, texts with and without an idle `f`, large integers.

use ruff_python_ast::{
    CmpOp, ConversionFlag, Expr, ExprStringLiteral, FString, FStringFlags, FStringPart, FStringValue, Int,
    InterpolatedStringElement, InterpolatedStringLiteralElement, Number, Stmt, StringLiteral, StringLiteralFlags,
    StringLiteralValue, UnaryOp,
};
use veriplay_core::Value;

pub(super) fn normalise_stmt(stmt: &mut Stmt) {
    if let Stmt::Return(stmt) = stmt
        && stmt.value.as_deref().is_some_and(Expr::is_none_literal_expr)
    {
        stmt.value = None;
    }
}

pub(super) fn normalise_expr(expr: &mut Expr) {
    match expr {
        Expr::UnaryOp(not) if not.op == UnaryOp::Not => {
            let Expr::Compare(compare) = &mut *not.operand else { return };
            match &mut *compare.ops {
                [op @ CmpOp::In] => *op = CmpOp::NotIn,
                [op @ CmpOp::Is] => *op = CmpOp::IsNot,
                _ => return,
            }
            *expr = (*not.operand).clone();
        }
        Expr::NumberLiteral(number) => {
            if let Number::Int(int) = &mut number.value
                && int.as_u64().is_none()
                && let Ok(Value::Int(value)) = Value::parse_repr(&int.to_string())
                && let Ok(decimal) = value.to_string().parse::<Int>()
            {
                *int = decimal;
            }
        }
        _ => {}
    }
}

/// Joins the parts of a formatted string; one that formats nothing becomes a plain string. What it formats is normalised.
pub(super) fn join_parts(expr: &mut Expr) {
    let Expr::FString(string) = expr else { return };
    let mut elements = Vec::new();
    push_parts(&mut elements, &string.value);
    let (range, node_index) = (string.range, string.node_index.clone());
    let text = match elements.as_slice() {
        [] => "".into(),
        [InterpolatedStringElement::Literal(literal)] => literal.value.clone(),
        _ => {
            let flags = FStringFlags::empty();
            string.value = FStringValue::single(FString { range, node_index, elements: elements.into(), flags });
            return;
        }
    };
    let flags = StringLiteralFlags::empty();
    let literal = StringLiteral { range, node_index: node_index.clone(), value: text, flags };
    *expr = Expr::StringLiteral(ExprStringLiteral { range, node_index, value: StringLiteralValue::single(literal) });
}

fn push_parts(elements: &mut Vec<InterpolatedStringElement>, parts: &FStringValue) {
    for part in parts.iter() {
        match part {
            FStringPart::Literal(literal) => push_literal(elements, literal),
            FStringPart::FString(string) => push_elements(elements, &string.elements),
        }
    }
}

/// Adds text to the text before it.
fn push_text(elements: &mut Vec<InterpolatedStringElement>, text: InterpolatedStringLiteralElement) {
    if let Some(InterpolatedStringElement::Literal(last)) = elements.last_mut() {
        last.value = format!("{}{}", last.value, text.value).into();
    } else if !text.value.is_empty() {
        elements.push(InterpolatedStringElement::Literal(text));
    }
}

fn push_literal(elements: &mut Vec<InterpolatedStringElement>, literal: &StringLiteral) {
    let StringLiteral { range, node_index, value, .. } = literal.clone();
    push_text(elements, InterpolatedStringLiteralElement { range, node_index, value });
}

/// Adds the elements of a string; a string that is formatted as it is adds its own.
fn push_elements(elements: &mut Vec<InterpolatedStringElement>, added: &[InterpolatedStringElement]) {
    for element in added {
        let part = match element {
            InterpolatedStringElement::Literal(literal) => {
                push_text(elements, literal.clone());
                continue;
            }
            InterpolatedStringElement::Interpolation(part) => part,
        };
        let as_it_is = part.debug_text.is_none() && part.format_spec.is_none();
        let text = matches!(part.conversion, ConversionFlag::None | ConversionFlag::Str);
        match &*part.expression {
            Expr::StringLiteral(string) if as_it_is && text => {
                string.value.iter().for_each(|literal| push_literal(elements, literal));
            }
            Expr::FString(inner) if as_it_is && text => push_parts(elements, &inner.value),
            _ => elements.push(element.clone()),
        }
    }
}

/// Joins the texts of a format specification; an empty one is none.
pub(super) fn normalise_spec(element: &mut InterpolatedStringElement) {
    let InterpolatedStringElement::Interpolation(part) = element else { return };
    if let Some(spec) = &mut part.format_spec {
        let mut elements = Vec::new();
        push_elements(&mut elements, &spec.elements);
        spec.elements = elements.into();
    }
    part.format_spec.take_if(|spec| spec.elements.is_empty());
}
