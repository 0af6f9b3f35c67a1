//! Puts a problem's prelude before a program, so that an honest program reads as it would alone, and no name of the prelude's is its answer.

use std::collections::HashSet;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_text_size::{Ranged, TextSize};
use veriplay_core::{Checks, Problem, TestCode, TestStyle, Value};

use crate::runner::string_list;
use crate::syntax::with_syntax;

/// The module whose imports must stand first.
const FUTURE: &str = "__future__";

/// The prelude of `problem`, and `program` behind it. A byte order mark goes, and imports of `__future__` stay first. `function` is the one that
/// is called, if any.
pub(crate) fn with_prelude(problem: &Problem, program: &str, function: Option<&str>) -> String {
    insert_before(&problem.prelude, program, own_names(&problem.checks).chain(function))
}

/// `prelude`, and `program` behind it. `own` are the names that only the program may bind, unless the prelude has functions of them.
pub(crate) fn insert_before<'a>(prelude: &str, program: &str, own: impl Iterator<Item = &'a str>) -> String {
    if prelude.is_empty() {
        return program.to_owned();
    }
    let program = program.strip_prefix('\u{feff}').unwrap_or(program);
    let (head, body) = split_future_imports(program);
    let own: Vec<&str> = own.filter(|name| !name.contains('.')).collect();
    let defined = functions_among(&own, prelude);
    // A star import may bind the very name: an empty program would then pass by the library's function.
    let imported = own.into_iter().filter(|name| !defined.contains(*name));
    let unbound = imported.map(|name| format!("globals().pop({:#}, None)\n", Value::str(name)));
    [on_own_lines(head), on_own_lines(prelude), unbound.collect(), body.to_owned()].concat()
}

/// A script of a task's as a program that is run under `name` with these arguments, behind the statements `first`.
pub(crate) fn with_arguments(name: &str, arguments: &[&str], first: &str, script: &str) -> String {
    let argv = string_list([name].into_iter().chain(arguments.iter().copied()));
    insert_before(&format!("import sys\nsys.argv = {argv:#}\n{first}"), script, std::iter::empty())
}

fn on_own_lines(part: &str) -> String {
    let end = if part.is_empty() || part.ends_with('\n') { "" } else { "\n" };
    format!("{part}{end}")
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

/// The start of `program` that ends with its imports of `__future__`, which only a docstring and comments may precede, and the rest, which gets
/// lines of its own. The start is empty where it has none, or is no Python.
fn split_future_imports(program: &str) -> (&str, &str) {
    let parse = || with_syntax(program, |parsed| end_of_future_imports(parsed.suite()))?;
    let Some(end) = program.contains(FUTURE).then(parse).flatten() else { return ("", program) };
    let (head, rest) = program.split_at(end.to_usize());
    let rest = rest.trim_start_matches([' ', '\t', '\x0c']);
    let rest = rest.strip_prefix(';').map_or(rest, |rest| rest.trim_start_matches([' ', '\t', '\x0c']));
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    (head, rest.strip_prefix('\n').unwrap_or(rest))
}

fn end_of_future_imports(body: &[Stmt]) -> Option<TextSize> {
    let is_docstring = |stmt: &Stmt| stmt.as_expr_stmt().is_some_and(|stmt| stmt.value.is_string_literal_expr());
    let is_import = |stmt: &&Stmt| {
        let module = stmt.as_import_from_stmt().filter(|stmt| stmt.level == 0).and_then(|stmt| stmt.module.as_ref());
        module.is_some_and(|module| module.as_str() == FUTURE)
    };
    let imports = &body[usize::from(body.first().is_some_and(is_docstring))..];
    imports.iter().take_while(is_import).last().map(Ranged::end)
}

/// Functions of a prelude, where it may have one of these names. A method, an inner function or a comment is none.
fn functions_among(names: &[&str], prelude: &str) -> HashSet<String> {
    /// Names that are looked for before the prelude is parsed.
    const FEW: usize = 8;
    // For every attempt: few preludes have a name at all, and these alone are parsed.
    if names.len() <= FEW && !names.iter().any(|name| prelude.contains(name)) {
        return HashSet::new();
    }
    let read = with_syntax(prelude, |parsed| {
        let mut reader = DefinitionReader::default();
        reader.visit_body(parsed.suite());
        reader.functions
    });
    read.unwrap_or_default()
}

#[derive(Default)]
struct DefinitionReader {
    functions: HashSet<String>,
}

impl<'a> SourceOrderVisitor<'a> for DefinitionReader {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(found) => drop(self.functions.insert(found.name.to_string())),
            Stmt::ClassDef(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }
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
