//! Documents: functions of real code, which proposers read and of which no solver is shown a part.

use std::collections::HashSet;

use ruff_python_ast::Stmt;
use veriplay_python::names::Names;
use veriplay_python::syntax::with_syntax;

use super::composites::renamed;

/// The rule that refuses a proposal whose solvers would be shown a part of its document: `evidence.rule` of the verdict.
pub const DOCUMENT_SHOWN: &str = "document_shown";

/// So many tokens in a row are a part of a document.
const WINDOW: usize = 8;

/// A function under the name `f`, as the program of an induction task. `None` for a text that is no single function with parameters, or that uses
/// names of the module around it.
pub fn as_program(document: &str) -> Option<String> {
    let name = with_syntax(document, |parsed| {
        let body = parsed.suite();
        let [Stmt::FunctionDef(function)] = body.as_slice() else { return None };
        let is_plain = !function.is_async && function.decorator_list.is_empty() && !function.parameters.is_empty();
        let is_whole = Names::read(body).free().next().is_none();
        (is_plain && is_whole).then(|| function.name.as_str().to_owned())
    })??;
    let has_other = name != "f" && tokens(document).contains(&"f");
    renamed(document, &name, "f").filter(|_| !has_other)
}

/// Whether eight tokens in a row of a document, or all of a shorter one, stand in a text. Blanks and line ends do not count.
pub fn shares_window(document: &str, text: &str) -> bool {
    let (own, shown) = (tokens(document), tokens(text));
    let size = own.len().clamp(1, WINDOW);
    let shown: HashSet<&[&str]> = shown.windows(size).collect();
    own.windows(size).any(|window| shown.contains(window))
}

/// The words and numbers of a text, and every other character but blanks.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(word.max(first.len_utf8()));
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_tokens_in_a_row_are_a_part_of_a_document_and_seven_are_not() {
        let document = "def total(rows, rate):\n    return sum(row.price * rate for row in rows)";
        for (text, want) in [
            ("def f(x):\n    return sum(row.price * rate)", true),
            ("return sum( row . price\n * rate", true),
            ("def f(x):\n    y = sum(row.price * rate)", false),
            ("def total(rows):\n    return 2", false),
            ("", false),
        ] {
            assert_eq!(shares_window(document, text), want, "{text}");
        }
        assert!(shares_window("x = 1", "y; x=1") && !shares_window("x = 1", "x = 2") && !shares_window("", "x"));
        assert_eq!(tokens(" a_1+=é2 "), ["a_1", "+", "=", "é2"]);
    }

    #[test]
    fn a_function_that_needs_nothing_around_it_is_a_program_under_the_name_f() {
        let recursive = "def down(n, step=1):\n    return down(n - step) + len(x.down) if n else 0";
        assert_eq!(as_program(recursive), None, "it uses x");
        let recursive = recursive.replace("x.down", "str(n)");
        let want = "def f(n, step=1):\n    return f(n - step) + len(str(n)) if n else 0";
        assert_eq!(as_program(&recursive).as_deref(), Some(want));
        assert_eq!(as_program("def f(x):\n    return x").as_deref(), Some("def f(x):\n    return x"));
        for other in [
            "def now():\n    return 3",
            "def apply(f, x):\n    return f(x)",
            "@cache\ndef one(x):\n    return x",
            "async def one(x):\n    return x",
            "def one(x):\n    return x\n\ntwo = one",
            "def one(x:",
        ] {
            assert_eq!(as_program(other), None, "{other}");
        }
    }
}
