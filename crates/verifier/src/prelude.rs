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
    let under_test = tests.and_then(|TestCode { style, .. }| match style {
        TestStyle::Check { function, .. } => Some(function.as_str()),
        _ => None,
    });
    tests.into_iter().flat_map(|tests| tests.functions.iter().map(String::as_str)).chain(under_test)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{Checks, Problem, TestCode, TestStyle, Trust, Value};

    use super::with_prelude;

    fn problem(prelude: &str) -> Problem {
        let cases = [(vec![Value::int(1)], Value::int(1))];
        Problem { prelude: prelude.to_owned(), ..Problem::calls("gcd", cases) }
    }

    #[test]
    fn imports_of_the_future_stay_first() {
        const FUTURE: &str = "from __future__ import annotations\n";
        let long = "from __future__ import (\n    annotations,\n)\n";
        let joined = "from __future__ import \\\n    annotations\n";
        let documented = ["\"\"\"One line.\"\"\"\n", "'''\nfrom __future__ import division\n'''\n", "r\"x\"\n"];
        let heads =
            [FUTURE.to_owned(), format!("# A comment.\n\n{FUTURE}{FUTURE}"), long.to_owned(), joined.to_owned()];
        for head in heads.into_iter().chain(documented.map(|text| format!("{text}{FUTURE}"))) {
            let whole = with_prelude(&problem("import re"), &format!("{head}x = 1\n"), None);
            assert_eq!(whole, format!("{head}import re\nx = 1\n"));
        }
        let written_otherwise = [
            "from __future__ import annotations  # postponed (PEP 563\n",
            "from __future__ import annotations  # C:\\\n",
            "from __future__ import (  # a) b\n    annotations,\n)\n",
            "from  __future__ import annotations\r\n",
            "\x0cfrom __future__ import annotations\n",
            "\"\"\"doc\"\"\"; from __future__ import annotations; y = 2\n",
            "(\"\"\"doc\"\"\")\nfrom __future__ import annotations\n",
            "\"say \\\"hi\\\" \\\nok\"\nfrom __future__ import annotations\n",
        ];
        for head in written_otherwise {
            let whole = with_prelude(&problem("import re"), &format!("{head}def f(x):\n    return x\n"), None);
            let (future, prelude) = (whole.find("annotations"), whole.find("\nimport re\n"));
            assert!(future.is_some() && future < prelude && whole.ends_with("\ndef f(x):\n    return x\n"), "{whole}");
        }
        let last = with_prelude(&problem("import re"), FUTURE.trim_end(), None);
        assert_eq!(last, format!("{FUTURE}import re\n"));
    }

    #[test]
    fn what_is_no_such_import_stays_behind_the_prelude() {
        for program in [
            "",
            "x = 1\nfrom __future__ import annotations\n",
            "'''\nfrom __future__ import annotations\n",
            "rest",
            "from .__future__ import a\n",
        ] {
            assert_eq!(with_prelude(&problem("import re\n"), program, None), format!("import re\n{program}"));
            assert_eq!(with_prelude(&problem(""), program, Some("gcd")), program);
        }
        assert_eq!(with_prelude(&problem("import re\n"), "\u{feff}x", None), "import re\nx");
        assert_eq!(with_prelude(&problem(""), "\u{feff}x", None), "\u{feff}x");
    }

    #[test]
    fn the_prelude_does_not_define_what_the_program_must() {
        let whole = |function| with_prelude(&problem("from math import *\n"), "", Some(function));
        assert_eq!(whole("gcd"), "from math import *\nglobals().pop('gcd', None)\n");
        assert_eq!(
            whole("Solution.gcd"),
            "from math import *\n",
            "a method may call the library's function of its name"
        );
        for text in [
            "# def gcd(a, b): to be written",
            "class Node:\n    def gcd(self, o): ...",
            "def outer():\n    def gcd(a, b): ...",
            "'''\ndef gcd(a, b): ...\n'''",
        ] {
            let whole = with_prelude(&problem(&format!("from math import *\n{text}\n")), "", Some("gcd"));
            assert!(whole.ends_with("globals().pop('gcd', None)\n"), "{whole}");
        }
        let chosen = "if True:\n    def gcd(x): return solve(x)\n";
        assert_eq!(with_prelude(&problem(chosen), "", Some("gcd")), chosen);
        let style = TestStyle::Check { source: "def check(f): pass".to_owned(), function: "lcm".to_owned() };
        let adapter = "def gcd(x):\n    return solve(x)\n";
        assert_eq!(
            with_prelude(&problem(adapter), "", Some("gcd")),
            adapter,
            "but what it defines for the program stays"
        );
        let tests = TestCode { functions: vec!["gcd".to_owned()], ..TestCode::new(Trust::Split, style) };
        let tested = Problem { checks: Checks::Tests(tests), ..problem("from math import *\n") };
        let both = "from math import *\nglobals().pop('gcd', None)\nglobals().pop('lcm', None)\nx";
        assert_eq!(with_prelude(&tested, "x", None), both);
    }
}
