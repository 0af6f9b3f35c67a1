//! `apps`: APPS (arXiv 2105.09938), and TACO (arXiv 2312.14852) which has its shape: `problem_id, input_output,
//! starter_code`, where `input_output` is JSON with `inputs`, `outputs` and, for calls, `fn_name`.
//!
//! What APPS' own harness forgives is settled here, once, as far as one expected value can say it: lists of lines are joined;
//! a dict with keys that are all decimal ints, as the one argument or result, or as the one item of a result, gets int keys back.
//! Judge `apps` takes the one item of a result for the result, because the rows from Codewars are wrapped so.

use veriplay_core::{CallCase, CallChecks, Checks, Comparison, Problem, StdioCase, StdioChecks, Value};

use super::fields::{FieldError, Fields};
use super::{ProblemFormat, ProblemRow, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat = ProblemFormat { name: "apps", parse, statement };

/// The judge of texts.
const STDIO: &str = "stdio";

/// The judge of values.
const CALLS: &str = "apps";

/// What the harness lets every program have imported, without numpy, which costs more to import than most programs run.
const PRELUDE: &str = "\
import sys, time, itertools, collections, math, fractions, random, heapq
from itertools import accumulate, combinations, permutations, product
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from functools import lru_cache
from math import ceil, cos, exp, fabs, floor, gcd, log, log2, sin, sqrt, tan
from typing import List, Tuple
from heapq import *
";

/// Where the tests stand.
const TESTS: &str = "input_output";

fn statement(fields: &Fields) -> Result<ProblemStatement, FieldError> {
    Ok(ProblemStatement::Instruction {
        text: fields.filled_text("question")?.to_owned(),
        tests: Vec::new(),
        starter_code: fields.text_or_empty("starter_code")?.to_owned(),
    })
}

fn parse(row: &RowInput<'_>) -> Result<ProblemRow, FieldError> {
    let fields = Fields::parse(row.text)?;
    let task_id = match fields.id(&["task_id", "problem_id", "id", "question_id"]) {
        Err(_) if fields.get("task_id").is_none() => row.index.to_string(),
        id => id?,
    };
    let tests = Fields::inside(TESTS, fields.json(TESTS)?)?;
    let (inputs, outputs) = (tests.list("inputs")?, tests.list("outputs")?);
    if inputs.len() != outputs.len() {
        let reason = format!("has {} items for {} inputs", outputs.len(), inputs.len());
        return Err(tests.fault("outputs", reason));
    }
    if inputs.is_empty() {
        return Err(tests.fault("inputs", "holds no tests"));
    }
    let checks = match tests.text_or_empty("fn_name")? {
        "" => stdio(&tests, inputs, outputs)?,
        function => calls(&tests, method(&fields, function)?, inputs, outputs)?,
    };
    let prelude = PRELUDE.to_owned();
    Ok(ProblemRow::Ready(Problem { task_id, prelude, prompt: String::new(), checks, limits: None }))
}

/// Rows from LeetCode ask for a method of `Solution`, the others for a function. Judge `apps` takes either, by the program's text.
fn method(fields: &Fields, function: &str) -> Result<String, FieldError> {
    let class = fields.text_or_empty("starter_code")?.contains("class Solution");
    Ok(if class { format!("Solution.{function}") } else { function.to_owned() })
}

fn stdio(tests: &Fields, inputs: &[Value], outputs: &[Value]) -> Result<Checks, FieldError> {
    let text = |name: &str, at: usize, value: &Value| {
        joined(value).ok_or_else(|| tests.fault(&format!("{name}[{at}]"), "expected a string or a list of lines"))
    };
    let case = |(at, (input, output)): (usize, (&Value, &Value))| {
        Ok(StdioCase { stdin: text("inputs", at, input)?, stdout: text("outputs", at, output)? })
    };
    let cases = inputs.iter().zip(outputs).enumerate().map(case).collect::<Result<_, FieldError>>()?;
    Ok(Checks::Stdio(StdioChecks { cases, comparison: Comparison::by(STDIO) }))
}

fn joined(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.clone()),
        Value::List(lines) => {
            let line = |line: &Value| if let Value::Str(text) = line { Some(text.clone()) } else { None };
            lines.iter().map(line).collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
        }
        _ => None,
    }
}

fn calls(tests: &Fields, function: String, inputs: &[Value], outputs: &[Value]) -> Result<Checks, FieldError> {
    let mut cases = Vec::with_capacity(inputs.len());
    for (at, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        let Value::List(arguments) = input else {
            return Err(tests.fault(&format!("inputs[{at}]"), "expected a list of arguments"));
        };
        let input = if let [only] = arguments.as_slice() { vec![int_keys(only)] } else { arguments.clone() };
        let expected = match output {
            Value::List(items) if items.len() == 1 => Value::List(vec![int_keys(&items[0])]),
            other => int_keys(other),
        };
        cases.push(CallCase { input, expected });
    }
    Ok(Checks::Calls(CallChecks { function, cases, fresh: true, comparison: Comparison::by(CALLS) }))
}

/// JSON turns a dict's int keys into texts; this turns them back where every key is one.
fn int_keys(value: &Value) -> Value {
    let Value::Dict(pairs) = value else { return value.clone() };
    let int = |key: &Value| match key {
        Value::Str(text) => Value::parse_literal(text).ok().filter(|key| matches!(key, Value::Int(_))),
        _ => None,
    };
    let keyed = pairs.iter().map(|(key, value)| Some((int(key)?, value.clone())));
    keyed.collect::<Option<Vec<_>>>().map_or_else(|| value.clone(), Value::Dict)
}
