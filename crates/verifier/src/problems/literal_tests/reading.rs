//! Reads test code as cases. What is allowed is listed; CPython must compile it, and it must do no more than it says.

use std::collections::{HashMap, HashSet};

use dashu_int::ops::BitTest;
use ruff_python_ast::{
    Alias, AnyParameterRef, CmpOp, Expr, ExprCall, InterpolatedStringElement, Operator, Stmt, StmtAssert,
    StmtFunctionDef, UnaryOp,
};
use ruff_text_size::Ranged;
use veriplay_core::{TestCode, TestStyle, Value};
use veriplay_python::syntax::with_syntax_within;

use super::{Assertion, CONVERSIONS, Claim, LiteralTests, NamedTests, convert, number};
use crate::problems::plain_program::{MOST_LEVELS, is_listed, origin};

/// The function of HumanEval's form that holds the assertions.
const CHECK: &str = "check";
/// The builtin by which results are held to be near a number.
const ABS: &str = "abs";
/// Modules that the set-up may import, which change nothing.
const MODULES: &str =
    "bisect collections copy functools heapq itertools math operator random re statistics string typing";
/// Names of `typing` that the set-up may import.
const TYPING: &str = "Any Callable Dict FrozenSet Iterable Iterator List Mapping Optional Sequence Set Tuple Union";
/// Builtins in lower case, which a test may mean by a name. Others are no functions to be tested.
const BUILTINS: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex \
    copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozendict frozenset \
    getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max \
    memoryview min next object oct open ord pow print property quit range repr reversed round sentinel set setattr \
    slice sorted staticmethod str sum super tuple type vars zip";

impl LiteralTests {
    /// Reads test code; `None` where it is more than cases.
    pub(super) fn read(code: &TestCode) -> Option<Self> {
        let texts = match &code.style {
            TestStyle::Check { source, .. } | TestStyle::Functions(source) => std::slice::from_ref(source),
            TestStyle::Asserts(lines) => lines.as_slice(),
        };
        // CPython compiles neither a NUL nor a mark of the byte order, wherever they stand.
        let is_read = |text: &String| !text.contains(['\0', '\u{feff}']);
        if !texts.iter().chain([&code.setup]).all(is_read) {
            return None;
        }
        let mut names = Names { bound: read_set_up(&code.setup)?, used: Vec::new() };
        let (function, tests) = match &code.style {
            TestStyle::Functions(_) => return None,
            TestStyle::Check { source, function } => {
                let assertions = with_shallow_syntax(source, |module| read_check(module, source, &mut names))??;
                is_plain_name(function).then(|| (function.clone(), vec![(CHECK.to_owned(), assertions)]))?
            }
            TestStyle::Asserts(lines) => {
                let (function, tests) = read_lines(lines, &mut names.used)?;
                let is_free = !names.bound.contains_key(&function)
                    && (!is_listed(BUILTINS, function.as_str()) || code.functions.contains(&function));
                is_free.then_some((function, tests))?
            }
        };
        let Names { mut bound, used: mut builtins } = names;
        builtins.sort_unstable();
        builtins.dedup();
        // In one process the program would mean by it what they do.
        let is_builtin_bound = bound.keys().any(|name| is_listed(BUILTINS, name));
        if is_builtin_bound || builtins.iter().any(|name| code.functions.iter().any(|function| function == name)) {
            return None;
        }
        // What is under test stays the program's.
        bound.retain(|name, _| *name != function && !code.functions.contains(name));
        let mut of_set_up: Vec<(String, Option<String>)> = bound.into_iter().collect();
        of_set_up.sort_unstable();
        let is_lines = matches!(code.style, TestStyle::Asserts(_));
        Some(Self { function, tests, is_lines, builtins, of_set_up })
    }
}

/// Works on the statements of a text that nests no deeper than CPython reads.
fn with_shallow_syntax<T>(text: &str, work: impl FnOnce(&[Stmt]) -> T) -> Option<T> {
    with_syntax_within(MOST_LEVELS, text, |parsed| work(parsed.suite()))
}

/// Names in test code: those that it binds, some by an import of what is named here, and builtins that it uses.
struct Names {
    bound: BoundNames,
    used: UsedBuiltins,
}

type BoundNames = HashMap<String, Option<String>>;
type UsedBuiltins = Vec<&'static str>;

/// Assertions of one function, each a test of its own; returns the function and the tests.
fn read_lines(lines: &[String], used: &mut UsedBuiltins) -> Option<(String, NamedTests)> {
    let (mut function, mut tests) = (None, Vec::with_capacity(lines.len()));
    for (index, line) in lines.iter().enumerate() {
        let (name, assertion) = with_shallow_syntax(line, |module| match module {
            [Stmt::Assert(assert)] => read_assert(assert, line, None, used),
            _ => None,
        })??;
        if *function.get_or_insert_with(|| name.clone()) != name {
            return None;
        }
        tests.push((index.to_string(), vec![assertion]));
    }
    function.map(|function| (function, tests))
}

/// Reads what runs before the tests; returns the names that it binds. It may have stubs of functions, and import what changes nothing.
fn read_set_up(source: &str) -> Option<BoundNames> {
    if source.trim().is_empty() {
        return Some(BoundNames::new());
    }
    with_shallow_syntax(source, |module| {
        let mut bound = BoundNames::new();
        for stmt in module {
            match stmt {
                Stmt::Import(import) => bind_imports(&mut bound, &import.names, None, MODULES)?,
                Stmt::ImportFrom(import) => {
                    let module = import.module.as_deref().filter(|name| import.level == 0 && *name == "typing")?;
                    bind_imports(&mut bound, &import.names, Some(module), TYPING)?;
                }
                Stmt::FunctionDef(function) => {
                    bound.insert(plain_name(&function.name).filter(|_| is_stub(function, source))?, None);
                }
                stmt => bound.extend(read_constant(stmt, source)?.map(|name| (name, None))),
            }
        }
        Some(bound)
    })?
}

fn bind_imports(bound: &mut BoundNames, names: &[Alias], module: Option<&str>, known: &str) -> Option<()> {
    for alias in names {
        let name = plain_name(alias.asname.as_ref().unwrap_or(&alias.name))?;
        is_listed(known, &alias.name).then_some(())?;
        bound.insert(name, Some(origin(module, &alias.name)));
    }
    Some(())
}

/// Reads a statement that does nothing, or gives a name a literal; returns the name.
fn read_constant(stmt: &Stmt, source: &str) -> Option<Option<String>> {
    match stmt {
        Stmt::Pass(_) => Some(None),
        Stmt::Expr(stmt) if stmt.value.is_ellipsis_literal_expr() => Some(None),
        Stmt::Expr(stmt) => literal(&stmt.value, source).map(|_| None),
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Name(name)] => literal(&assign.value, source).and_then(|_| plain_name(&name.id)).map(Some),
            _ => None,
        },
        _ => None,
    }
}

/// Reads a module of constants and one function `check(candidate)`; returns what that asserts, once or more.
fn read_check(module: &[Stmt], source: &str, names: &mut Names) -> Option<Vec<Assertion>> {
    let mut check = None;
    for stmt in module {
        match stmt {
            Stmt::FunctionDef(function) if function.name == *CHECK && check.is_none() => check = Some(function),
            stmt => {
                let name = read_constant(stmt, source)?;
                name.as_ref().is_none_or(|name| name != CHECK).then_some(())?;
                names.bound.extend(name.map(|name| (name, None)));
            }
        }
    }
    let check = check.filter(|function| is_undecorated(function) && function.returns.is_none())?;
    let candidate = only_parameter(check).filter(|name| !is_listed(BUILTINS, name))?;
    let mut assertions = Vec::new();
    for stmt in &check.body {
        match stmt {
            // `assert True`
            Stmt::Assert(assert) if assert.test.as_boolean_literal_expr().is_some_and(|literal| literal.value) => {
                assert.msg.as_ref().is_none_or(|message| read_message(message, source).is_some()).then_some(())?;
            }
            Stmt::Assert(assert) => assertions.push(read_assert(assert, source, Some(candidate), &mut names.used)?.1),
            // `print` alone, for one.
            Stmt::Expr(stmt) if stmt.value.is_name_expr() => {
                let name = stmt.value.as_name_expr()?;
                names.used.push(BUILTINS.split(' ').find(|builtin| *builtin == name.id.as_str())?);
            }
            // A name that is bound could be the candidate's.
            stmt => read_constant(stmt, source)?.is_none().then_some(())?,
        }
    }
    (!assertions.is_empty()).then_some(assertions)
}

/// Reads an assertion, and the name of the function that it calls, which is `candidate` where that is given.
fn read_assert(
    assert: &StmtAssert,
    source: &str,
    candidate: Option<&str>,
    used: &mut UsedBuiltins,
) -> Option<(String, Assertion)> {
    let message = match assert.msg.as_deref() {
        None => Some(String::new()),
        Some(message) => read_message(message, source)?,
    };
    let (call, through, claim) = read_claim(&assert.test, source, used)?;
    let Expr::Name(function) = &*call.func else { return None };
    let function = plain_name(&function.id).filter(|name| candidate.is_none_or(|wanted| name == wanted))?;
    call.arguments.keywords.is_empty().then_some(())?;
    let arguments: Vec<Value> =
        call.arguments.args.iter().map(|argument| literal(argument, source)).collect::<Option<_>>()?;
    arguments.iter().all(has_one_order).then_some(())?;
    Some((function, Assertion { arguments, through, claim, message }))
}

/// A call, what is made of its value before that is compared, and what is claimed of it.
type ReadClaim<'a> = (&'a ExprCall, Option<&'static str>, Claim);

fn read_claim<'a>(test: &'a Expr, source: &str, used: &mut UsedBuiltins) -> Option<ReadClaim<'a>> {
    match test {
        Expr::Call(call) => Some((call, None, Claim::Truth(true))),
        Expr::UnaryOp(not) if not.op == UnaryOp::Not => {
            not.operand.as_call_expr().map(|call| (call, None, Claim::Truth(false)))
        }
        Expr::Compare(compare) => {
            let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
            if let CmpOp::Lt | CmpOp::LtE = op {
                let (call, target) = read_distance(&compare.left, source)?;
                let bound = number(&literal(right, source)?)?;
                used.push(ABS);
                return Some((call, None, Claim::Near { target, bound, or_equal: *op == CmpOp::LtE }));
            }
            let sides = [(&*compare.left, right), (right, &*compare.left)];
            sides.into_iter().find_map(|(call, other)| read_comparison(call, *op, other, source, used))
        }
        _ => None,
    }
}

/// Reads what `tested op expected` says, or the same with its sides the other way round.
fn read_comparison<'a>(
    tested: &'a Expr,
    op: CmpOp,
    expected: &Expr,
    source: &str,
    used: &mut UsedBuiltins,
) -> Option<ReadClaim<'a>> {
    let call = tested.as_call_expr()?;
    let (through, call) = match read_conversion(call) {
        Some((builtin, Expr::Call(inner))) => (Some(builtin), inner),
        _ => (None, call),
    };
    let (of_expected, other) = match expected.as_call_expr().map(read_conversion) {
        None => (None, literal(expected, source)?),
        Some(converted) => {
            let (builtin, inner) = converted?;
            (Some(builtin), convert(builtin, &literal(inner, source)?)?)
        }
    };
    let is_one_of_its_kind = through.is_none() && matches!(other, Value::None | Value::Bool(_));
    let claim = match op {
        CmpOp::Eq => Claim::Equal(other),
        CmpOp::NotEq => Claim::Different(other),
        CmpOp::Is if is_one_of_its_kind => Claim::Same(other),
        CmpOp::IsNot if is_one_of_its_kind => Claim::NotSame(other),
        _ => return None,
    };
    used.extend([through, of_expected].into_iter().flatten());
    Some((call, through, claim))
}

/// Reads `set(x)` and its like; returns which it is, and `x`.
fn read_conversion(call: &ExprCall) -> Option<(&'static str, &Expr)> {
    let name = call.func.as_name_expr()?;
    let builtin = CONVERSIONS.into_iter().find(|builtin| name.id == **builtin)?;
    match &*call.arguments.args {
        [inner] if call.arguments.keywords.is_empty() => Some((builtin, inner)),
        _ => None,
    }
}

/// Reads `abs(call - literal)`, or with the two the other way round.
fn read_distance<'a>(expr: &'a Expr, source: &str) -> Option<(&'a ExprCall, f64)> {
    let abs = expr.as_call_expr().filter(|abs| abs.arguments.keywords.is_empty())?;
    abs.func.as_name_expr().filter(|name| name.id == *ABS)?;
    let [Expr::BinOp(difference)] = &*abs.arguments.args else { return None };
    let (call, target) = match (&*difference.left, difference.op, &*difference.right) {
        (Expr::Call(call), Operator::Sub, other) | (other, Operator::Sub, Expr::Call(call)) => (call, other),
        _ => return None,
    };
    Some((call, number(&literal(target, source)?)?))
}

/// The value of a literal, or of arithmetic with literals as the compiler folds it (`3 * 19`, `'ab' + 'c'`), alone or in lists and tuples.
fn literal(expr: &Expr, source: &str) -> Option<Value> {
    folded(expr, source, 0)
}

fn folded(expr: &Expr, source: &str, depth: usize) -> Option<Value> {
    if is_literal(expr) {
        // Ruff says that it is one, and our own reading of its text what it is.
        let values = Value::parse_arguments(source.get(expr.range().to_std_range())?).ok()?;
        return <[Value; 1]>::try_from(values).ok().map(|[value]| value);
    }
    if depth > MAX_FOLDED {
        return None;
    }
    let items = |items: &[Expr]| items.iter().map(|item| folded(item, source, depth + 1)).collect::<Option<_>>();
    match expr {
        Expr::List(list) => items(&list.elts).map(Value::List),
        Expr::Tuple(tuple) => items(&tuple.elts).map(Value::Tuple),
        Expr::BinOp(sum) => {
            let operand = |operand| folded(operand, source, depth + 1);
            arithmetic(operand(&sum.left)?, sum.op, operand(&sum.right)?)
        }
        _ => None,
    }
}

/// The most levels that are folded.
const MAX_FOLDED: usize = 16;
/// The most bits of a number that is computed.
const MAX_BITS: usize = 4096;

fn arithmetic(left: Value, op: Operator, right: Value) -> Option<Value> {
    let found = match (left, op, right) {
        (Value::Str(a), Operator::Add, Value::Str(b)) => Value::Str(a + &b),
        (Value::Int(a), Operator::Add, Value::Int(b)) => Value::Int(a + b),
        (Value::Int(a), Operator::Sub, Value::Int(b)) => Value::Int(a - b),
        (Value::Int(a), Operator::Mult, Value::Int(b)) => Value::Int(a * b),
        (Value::Int(a), Operator::Pow, Value::Int(b)) => {
            let power = usize::try_from(b).ok()?;
            let is_short = a.bit_len().checked_mul(power).is_some_and(|bits| bits <= MAX_BITS);
            is_short.then(|| Value::Int(a.pow(power)))?
        }
        (Value::Float(a), Operator::Add, Value::Float(b)) => Value::Float(a + b),
        (Value::Float(a), Operator::Sub, Value::Float(b)) => Value::Float(a - b),
        (Value::Float(a), Operator::Mult, Value::Float(b)) => Value::Float(a * b),
        (Value::Float(a), Operator::Div, Value::Float(b)) if b != 0.0 => Value::Float(a / b),
        _ => return None,
    };
    let is_small = match &found {
        Value::Int(found) => found.bit_len() <= MAX_BITS,
        // A NaN is equal to nothing.
        Value::Float(found) => found.is_finite(),
        _ => true,
    };
    is_small.then_some(found)
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::UnaryOp(sign) => {
            matches!(sign.op, UnaryOp::USub | UnaryOp::UAdd) && sign.operand.is_number_literal_expr()
        }
        Expr::List(list) => list.elts.iter().all(is_literal),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_literal),
        Expr::Set(set) => set.elts.iter().all(is_literal),
        Expr::Dict(dict) => {
            dict.items.iter().all(|item| item.key.as_ref().is_some_and(is_literal) && is_literal(&item.value))
        }
        _ => false,
    }
}

/// Reads the message of an assertion: its text, or `None` where that is computed, which is only done where the assertion fails.
fn read_message(message: &Expr, source: &str) -> Option<Option<String>> {
    match literal(message, source) {
        Some(Value::Str(text)) => Some(Some(text)),
        _ => is_computed_message(message, source).then_some(None),
    }
}

/// Whether it is an expression of calls and values, which CPython compiles and which binds no name.
fn is_computed_message(expr: &Expr, source: &str) -> bool {
    let is_computed = |expr: &Expr| is_computed_message(expr, source);
    match expr {
        Expr::Name(name) => is_plain_name(&name.id),
        Expr::Attribute(attribute) => is_plain_name(&attribute.attr) && is_computed(&attribute.value),
        Expr::Call(call) => {
            call.arguments.keywords.is_empty() && is_computed(&call.func) && call.arguments.args.iter().all(is_computed)
        }
        Expr::BinOp(operation) => is_computed(&operation.left) && is_computed(&operation.right),
        Expr::FString(text) => text.value.elements().all(|element| match element {
            InterpolatedStringElement::Literal(_) => true,
            InterpolatedStringElement::Interpolation(part) => {
                part.format_spec.is_none() && is_computed(&part.expression)
            }
        }),
        expr => literal(expr, source).is_some(),
    }
}

/// Whether a function of the set-up has a signature that CPython compiles, and does nothing.
fn is_stub(function: &StmtFunctionDef, source: &str) -> bool {
    let mut names = HashSet::new();
    let parameters = || function.parameters.iter().map(AnyParameterRef::as_parameter);
    let annotations = parameters().filter_map(|one| one.annotation.as_deref()).chain(function.returns.as_deref());
    let defaults = function.parameters.iter_non_variadic_params().filter_map(|one| one.default.as_deref());
    is_undecorated(function)
        && parameters().all(|one| is_plain_name(&one.name) && names.insert(one.name.as_str()))
        && annotations.into_iter().all(|annotation| is_annotation(annotation, source))
        && defaults.into_iter().all(|default| literal(default, source).is_some())
        && function.body.iter().all(|stmt| read_constant(stmt, source) == Some(None))
}

/// Whether it is an annotation of names and their parameters.
fn is_annotation(expr: &Expr, source: &str) -> bool {
    match expr {
        Expr::Name(name) => is_plain_name(&name.id),
        Expr::Attribute(attribute) => is_plain_name(&attribute.attr) && is_annotation(&attribute.value, source),
        Expr::Subscript(part) => is_annotation(&part.value, source) && is_annotation(&part.slice, source),
        Expr::Tuple(tuple) => tuple.elts.iter().all(|item| is_annotation(item, source)),
        Expr::List(list) => list.elts.iter().all(|item| is_annotation(item, source)),
        Expr::BinOp(either) => is_annotation(&either.left, source) && is_annotation(&either.right, source),
        Expr::EllipsisLiteral(_) => true,
        expr => literal(expr, source).is_some(),
    }
}

fn is_undecorated(function: &StmtFunctionDef) -> bool {
    function.decorator_list.is_empty() && function.type_params.is_none() && !function.is_async
}

/// The name of a function's one parameter, which every call gives.
fn only_parameter(function: &StmtFunctionDef) -> Option<&str> {
    let parameters = &function.parameters;
    let [only] = parameters.args.as_slice() else { return None };
    let is_alone = parameters.len() == 1 && only.default.is_none() && only.parameter.annotation.is_none();
    is_alone.then(|| only.parameter.name.as_str()).filter(|name| is_plain_name(name))
}

/// Whether it is a name that is no special one, and that has one spelling.
fn is_plain_name(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    !name.is_empty() && is_word && !name.starts_with("__")
}

fn plain_name(name: &str) -> Option<String> {
    is_plain_name(name).then(|| name.to_owned())
}

/// Whether a value that is sent is iterated over as the literal would be: members of sets are sent sorted.
fn has_one_order(value: &Value) -> bool {
    match value {
        Value::Set(items) | Value::FrozenSet(items) => items.len() < 2,
        Value::List(items) | Value::Tuple(items) => items.iter().all(has_one_order),
        Value::Dict(pairs) => pairs.iter().all(|(_, value)| has_one_order(value)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use dashu_int::IBig;
    use veriplay_core::Trust;

    use super::*;
    use crate::cases::texts;

    fn asserts(setup: &str, lines: &[&str]) -> TestCode {
        let style = TestStyle::Asserts(lines.iter().map(|line| (*line).to_owned()).collect());
        TestCode { setup: setup.to_owned(), ..TestCode::new(Trust::Split, style) }
    }

    fn check(setup: &str, source: &str) -> TestCode {
        let style = TestStyle::Check { source: source.to_owned(), function: "f".to_owned() };
        TestCode { setup: setup.to_owned(), ..TestCode::new(Trust::Split, style) }
    }

    fn is_read(code: &TestCode) -> bool {
        LiteralTests::read(code).is_some()
    }

    fn value(text: &str) -> Value {
        Value::parse_repr(text).unwrap()
    }

    #[test]
    fn lines_are_read_as_calls_and_what_they_must_return() {
        let lines = [
            "assert f([1, -2.5], 'a') == {'k': (None,)}, 'no'",
            "assert (3) != f(  # one\n)",
            "assert not f(b'')",
            "assert f(0) is True",
            "assert abs(f(4) - 2.0 / 3.0) < 1e-6, 'far'",
            "assert abs(7 - f(5)) <= True",
            "assert set(f(6)) == set((1, 2))",
            "assert [1, 2] != sorted(f(7))",
            "assert f(8) == tuple([])",
        ];
        let read = LiteralTests::read(&asserts("", &lines)).unwrap();
        let assertions: Vec<&Assertion> = read.tests.iter().map(|(_, assertions)| &assertions[0]).collect();
        let expected = [
            (vec!["[1, -2.5]", "'a'"], Claim::Equal(value("{'k': (None,)}")), "no"),
            (vec![], Claim::Different(value("3")), ""),
            (vec!["b''"], Claim::Truth(false), ""),
            (vec!["0"], Claim::Same(value("True")), ""),
            (vec!["4"], Claim::Near { target: 2.0 / 3.0, bound: 1e-6, or_equal: false }, "far"),
            (vec!["5"], Claim::Near { target: 7.0, bound: 1.0, or_equal: true }, ""),
            (vec!["6"], Claim::Equal(value("{1, 2}")), ""),
            (vec!["7"], Claim::Different(value("[1, 2]")), ""),
            (vec!["8"], Claim::Equal(value("()")), ""),
        ];
        for (number, (found, (arguments, claim, message))) in assertions.into_iter().zip(expected).enumerate() {
            let arguments = arguments.into_iter().map(value).collect();
            let through = [(6, "set"), (7, "sorted")].into_iter().find(|(at, _)| *at == number).map(|(_, name)| name);
            assert_eq!(*found, Assertion { arguments, through, claim, message: Some(message.to_owned()) });
        }
        assert_eq!((read.function.as_str(), read.is_lines), ("f", true));
        assert_eq!(read.builtins, ["abs", "set", "sorted", "tuple"]);
    }

    #[test]
    fn arithmetic_with_literals_is_folded() {
        let line = "assert f(3 * 19 - -2, 'a' + 'b' 'c', 10 ** 30) == [(2.0 / 3.0 + 0.5, 7 + 1), {}]";
        let read = LiteralTests::read(&asserts("", &[line])).unwrap();
        let [assertion] = read.tests[0].1.as_slice() else { panic!("{read:?}") };
        assert_eq!(assertion.arguments, [value("59"), value("'abc'"), Value::Int(IBig::from(10).pow(30))]);
        assert_eq!(assertion.claim, Claim::Equal(value("[(1.1666666666666665, 8), {}]")));
    }

    #[test]
    fn a_check_function_is_read_as_one_test() {
        let source = "META = {'a': 'b'}\n\ndef check(candidate):\n    \"\"\"Text.\"\"\"\n    assert candidate(1) == 2\n    assert True\n    print\n    \
                      assert candidate(2) == 3, 'got ' + str(candidate(2))\n    pass\n";
        let setup = "from typing import List\nimport math\n\ndef helper(x: float = -1.0, *y) -> List[int]:\n    ...\n\ndef f(x: 'int | None'):\n    'Stub.'\n";
        let read = LiteralTests::read(&check(setup, source)).unwrap();
        let [(id, assertions)] = read.tests.as_slice() else { panic!("{read:?}") };
        let messages: Vec<Option<&str>> = assertions.iter().map(|assertion| assertion.message.as_deref()).collect();
        assert_eq!((id.as_str(), messages), ("check", vec![Some(""), None]));
        assert_eq!((read.function.as_str(), read.is_lines), ("f", false));
    }

    #[test]
    fn test_code_that_is_more_than_cases_is_not_read() {
        for [part, text] in texts(include_str!("../../../tests/main/cases/refused_test_code.txt")) {
            let code = match part.as_str() {
                "line" => asserts("", &[&text]),
                "setup" => asserts(&text, &["assert f(1) == 1"]),
                _ => check("", &text),
            };
            assert!(!is_read(&code), "{text}");
        }
        assert!(!is_read(&asserts("", &["assert f(1) == 1", "assert g(1) == 1"])), "two functions");
        assert!(!is_read(&asserts("", &[])));
        for deep in ["[".repeat(100_000) + &"]".repeat(100_000), "(1 + ".repeat(40) + "1" + &")".repeat(40)] {
            assert!(!is_read(&asserts("", &[&format!("assert f(1) == {deep}")])));
        }
        let source = "def check(c):\n    assert c(1) == 1\n";
        let of = |function: &str| TestStyle::Check { source: source.to_owned(), function: function.to_owned() };
        assert!(is_read(&TestCode::new(Trust::Split, of("f"))) && !is_read(&TestCode::new(Trust::Split, of("A.f"))));
    }

    #[test]
    fn a_builtin_that_is_bound_or_the_programs_is_none() {
        for (builtin, line) in [("abs", "assert abs(f(1) - 2) < 1"), ("set", "assert f(1) == set([1])")] {
            assert!(is_read(&asserts("", &[line])) && !is_read(&asserts(&format!("{builtin} = 3"), &[line])));
            assert!(!is_read(&TestCode { functions: vec![builtin.to_owned()], ..asserts("", &[line]) }));
        }
        let named = TestCode { functions: vec!["sum".to_owned()], ..asserts("", &["assert sum(1) == 1"]) };
        assert!(is_read(&named), "a builtin that is named as the program's");
    }

    #[test]
    fn names_of_the_set_up_are_kept_with_what_they_are_imported_from() {
        let setup =
            "import copy\nfrom typing import List as L, Any\nX = 1\ndef helper(x):\n    ...\ndef f(x):\n    ...\n";
        let read = LiteralTests::read(&check(setup, "META = {}\ndef check(c):\n    assert c(1) == 1\n")).unwrap();
        let kept = |name: &str, origin: Option<&str>| (name.to_owned(), origin.map(str::to_owned));
        let expected = [
            kept("Any", Some("typing.Any")),
            kept("L", Some("typing.List")),
            kept("META", None),
            kept("X", None),
            kept("copy", Some("copy")),
            kept("helper", None),
        ];
        assert_eq!(read.of_set_up, expected);
    }
}
