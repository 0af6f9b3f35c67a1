//! `apps`: APPS (arXiv 2105.09938), and TACO (arXiv 2312.14852) which has its shape: `problem_id, input_output,
//! starter_code`, where `input_output` is JSON with `inputs`, `outputs` and, for calls, `fn_name`.
//!
//! What APPS' own harness forgives is settled here, once, as far as one expected value can say it: lists of lines are joined;
//! a dict with keys that are all decimal ints, as the one argument or result, or as the one item of a result, gets int keys back.
//! Judge `apps` takes the one item of a result for the result, because the rows from Codewars are wrapped so.

use veriplay_core::{Checks, Problem, ProblemRow};

use super::fields::{Fields, RowFault};
use super::row_tests::{SetJudges, in_out_checks};
use super::{ProblemFormat, ProblemStatement, RowInput};

pub(super) const FORMAT: ProblemFormat = ProblemFormat {
    name: "apps",
    recognises: |fields| fields.has(TESTS),
    parse,
    statement: |fields| ProblemStatement::instruction(fields, "question", Some("starter_code")),
};

pub(super) const JUDGES: SetJudges = SetJudges { texts: "lines", values: "apps" };

/// What the harness lets every program have imported, without numpy, which costs more to import than most programs run.
pub(super) const PRELUDE: &str = "\
import sys, time, itertools, collections, math, fractions, random, heapq
from itertools import accumulate, combinations, permutations, product
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from functools import lru_cache
from math import ceil, cos, exp, fabs, floor, gcd, log, log2, sin, sqrt, tan
from typing import List, Tuple
from heapq import *
";

const TESTS: &str = "input_output";

fn parse(row: &mut RowInput<'_>) -> Result<ProblemRow, RowFault> {
    let tests = Fields::inside(TESTS, row.fields_mut()?.take_json(TESTS)?)?;
    let mut checks = in_out_checks(tests, JUDGES)?;
    if let Checks::Calls(calls) = &mut checks {
        calls.function = method(row.fields()?, &calls.function)?;
    }
    let task_id = row.id(&["task_id", "problem_id", "id", "question_id"])?;
    Ok(ProblemRow::Ready(Problem { prelude: PRELUDE.to_owned(), ..Problem::new(task_id, checks) }))
}

/// Rows from LeetCode ask for a method of `Solution`, the others for a function. Judge `apps` takes either, by the program's text.
fn method(fields: &Fields, function: &str) -> Result<String, RowFault> {
    let class = fields.text_or_empty("starter_code")?.contains("class Solution");
    Ok(if class { format!("Solution.{function}") } else { function.to_owned() })
}
