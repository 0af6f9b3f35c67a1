//! Puts what a problem has before a program: its prelude, or the arguments of a script.

use veriplay_core::{Checks, Problem, TestCode, TestStyle};
use veriplay_python::prelude::insert_before;

use crate::runner::string_list;

/// The prelude of `problem`, and `program` behind it. A byte order mark goes, and imports of `__future__` stay first. `function` is the one that
/// is called, if any.
pub(crate) fn with_prelude(problem: &Problem, program: &str, function: Option<&str>) -> String {
    insert_before(&problem.prelude, program, own_names(&problem.checks).chain(function))
}

/// A script of a task's as a program that is run under `name` with these arguments, behind the statements `first`.
pub(crate) fn with_arguments(name: &str, arguments: &[&str], first: &str, script: &str) -> String {
    let argv = string_list([name].into_iter().chain(arguments.iter().copied()));
    insert_before(&format!("import sys\nsys.argv = {argv:#}\n{first}"), script, std::iter::empty())
}

/// The functions that only the program may define, beside the one that is called.
fn own_names(checks: &Checks) -> impl Iterator<Item = &str> {
    let tests = match checks {
        Checks::Tests(tests) => Some(tests),
        _ => None,
    };
    tests.into_iter().flat_map(|tests| tests.functions.iter().map(String::as_str).chain(function_under_test(tests)))
}

/// The function that test code of HumanEval's form gives to its `check`.
pub(crate) fn function_under_test(code: &TestCode) -> Option<&str> {
    match &code.style {
        TestStyle::Check { function, .. } => Some(function),
        TestStyle::Asserts(_) | TestStyle::Functions(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::Trust;

    use super::*;
    use crate::cases::texts;

    fn problem(prelude: &str) -> Problem {
        Problem { prelude: prelude.to_owned(), ..Problem::calls("gcd", [(vec![1.into()], 1.into())]) }
    }

    #[test]
    fn a_prelude_stands_before_the_program_and_defines_nothing_that_it_must() {
        for [prelude, program, function, whole] in texts(include_str!("../tests/main/cases/preludes.txt")) {
            let function = Some(function.as_str()).filter(|name| !name.is_empty());
            assert_eq!(with_prelude(&problem(&prelude), &program, function), whole, "{prelude:?} before {program:?}");
        }
    }

    #[test]
    fn what_tests_ask_for_is_the_programs_alone() {
        let style = TestStyle::Check { source: "def check(f): pass".to_owned(), function: "lcm".to_owned() };
        let tests = TestCode { functions: vec!["gcd".to_owned()], ..TestCode::new(Trust::Split, style) };
        let tested = Problem { checks: Checks::Tests(tests), ..problem("from math import *\n") };
        let both = "from math import *\nglobals().pop('gcd', None)\nglobals().pop('lcm', None)\nx";
        assert_eq!(with_prelude(&tested, "x", None), both);
    }
}
