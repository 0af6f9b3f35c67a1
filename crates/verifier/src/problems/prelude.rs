//! Puts a problem's prelude before a program, so that an honest program reads as it would alone, and no name of the prelude's is its answer.

use veriplay_core::{Checks, Problem, TestCode, TestStyle, Value};

/// The start of an import of `__future__`.
const FUTURE: &str = "from __future__ import";
/// The quotes around a docstring, the long ones first.
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// The prelude of `problem`, and `program` behind it. A byte order mark goes, and imports of `__future__` stay first. `function` is the one that
/// is called, if any.
pub(super) fn with_prelude(problem: &Problem, program: &str, function: Option<&str>) -> String {
    let prelude = problem.prelude.as_str();
    if prelude.is_empty() {
        return program.to_owned();
    }
    let program = program.strip_prefix('\u{feff}').unwrap_or(program);
    let (head, body) = program.split_at(future_imports(program));
    let on_own_lines = |part: &str| match part {
        "" => String::new(),
        part if part.ends_with('\n') => part.to_owned(),
        part => format!("{part}\n"),
    };
    // A star import may bind the very name: an empty program would then pass by the library's function.
    let is_imported = |name: &&str| !name.contains('.') && !prelude.contains(&format!("def {name}("));
    let own = own_names(&problem.checks).chain(function).filter(is_imported);
    let unbound: Vec<String> = own.map(|name| format!("globals().pop({:#}, None)\n", Value::str(name))).collect();
    [on_own_lines(head), on_own_lines(prelude), unbound.concat(), body.to_owned()].concat()
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

/// The length of the start of `program` that ends with its imports of `__future__`, which only a docstring and comments may precede; 0 where it
/// has none.
fn future_imports(program: &str) -> usize {
    let (mut end, mut at) = (0, 0);
    let (mut docstring, mut import): (Option<&str>, Option<usize>) = (None, None);
    for line in program.split_inclusive('\n') {
        let (start, text) = (at, line.trim());
        at += line.len();
        if let Some(quote) = docstring {
            docstring = Some(quote).filter(|quote| !text.contains(*quote));
        } else if import.is_some() || line.starts_with(FUTURE) {
            let start = import.unwrap_or(start);
            import = Some(start).filter(|start| is_open(&program[*start..at]));
            end = if import.is_none() { at } else { end };
        } else if !(text.is_empty() || text.starts_with('#')) {
            let Some(quote) = opening_quote(text).filter(|_| end == 0) else { break };
            let is_closed = text.trim_start_matches(is_prefix)[quote.len()..].contains(quote);
            docstring = Some(quote).filter(|_| !is_closed);
        }
    }
    end
}

/// Whether an import goes on behind this text of it.
fn is_open(import: &str) -> bool {
    import.trim_end().ends_with('\\') || (import.contains('(') && !import.contains(')'))
}

/// The quote that a line begins with.
fn opening_quote(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(is_prefix);
    QUOTES.into_iter().find(|quote| text.starts_with(quote))
}

/// Whether a letter may precede the quotes of a docstring.
const fn is_prefix(letter: char) -> bool {
    matches!(letter, 'r' | 'R' | 'u' | 'U')
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
        let last = with_prelude(&problem("import re"), FUTURE.trim_end(), None);
        assert_eq!(last, format!("{FUTURE}import re\n"));
    }

    #[test]
    fn what_is_no_such_import_stays_behind_the_prelude() {
        for program in
            ["", "x = 1\nfrom __future__ import annotations\n", "'''\nfrom __future__ import annotations\n", "rest"]
        {
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
