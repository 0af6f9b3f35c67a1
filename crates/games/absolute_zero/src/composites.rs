//! Composite proposals: a program that must call up to three functions of earlier tasks, named `g_0`, `g_1` and `g_2`.
//!
//! As in Absolute Zero Reasoner: the proposer is shown the functions, writes an `f` that calls each of them, and defines none of them itself;
//! the task's program is all of them together. The paper reports that models then returned `g(x)` and that it brought nothing; the gate's rules
//! on outputs are the same as for any other program.

use std::ops::Range;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use ruff_python_ast::Stmt;
use ruff_python_ast::token::{Token, TokenKind};
use veriplay_core::{Attempt, Proposal};
use veriplay_python::syntax::with_syntax;
use veriplay_selfplay::randomness::weighted_sample;
use veriplay_selfplay::task_pool::TaskPool;

use super::AbsoluteZero;
use crate::TripletTask;

/// Functions that a composite program calls at most.
const MOST_HELPERS: usize = 3;

impl AbsoluteZero {
    /// The functions that the next proposal must call: none but for a share of proposals. Draws nothing where that share is 0.
    pub(super) fn draw_helpers(
        &self,
        pool: &TaskPool<TripletTask>,
        kind: &str,
        generator: &mut ChaCha8Rng,
    ) -> Vec<String> {
        if self.own.composite_share == 0.0 || !generator.random_bool(self.own.composite_share) {
            return Vec::new();
        }
        let programs = pool.of_kind(kind).map(|entry| entry.task.question.program());
        let simple = programs.filter(|program| is_simple(program)).map(|program| (program, 1.0)).collect();
        let count = generator.random_range(1..=MOST_HELPERS);
        let chosen = weighted_sample(simple, count, generator);
        chosen
            .into_iter()
            .enumerate()
            .filter_map(|(number, program)| renamed(program, "f", &helper_name(number)))
            .collect()
    }
}

/// Names helper `number`.
fn helper_name(number: usize) -> String {
    format!("g_{number}")
}

/// Whether a program is one function and imports, and no composite itself.
fn is_simple(program: &str) -> bool {
    let one_function = with_syntax(program, |parsed| {
        let body = &parsed.syntax().body;
        let functions = body.iter().filter(|stmt| matches!(stmt, Stmt::FunctionDef(_))).count();
        functions == 1
            && body.iter().all(|stmt| matches!(stmt, Stmt::FunctionDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_)))
    });
    one_function == Some(true)
}

/// The program with a name of it in place of another, but for attributes.
pub(super) fn renamed(program: &str, old: &str, new: &str) -> Option<String> {
    with_syntax(program, |parsed| {
        let (mut text, mut at, mut after_dot) = (String::with_capacity(program.len()), 0, false);
        for token in parsed.tokens() {
            let range = range(token);
            if token.kind() == TokenKind::Name && &program[range.clone()] == old && !after_dot {
                text.push_str(&program[at..range.start]);
                text.push_str(new);
                at = range.end;
            }
            after_dot = token.kind() == TokenKind::Dot;
        }
        text.push_str(&program[at..]);
        text
    })
}

/// Where a token is in the text.
fn range(token: &Token) -> Range<usize> {
    let (_, range) = token.as_tuple();
    range.start().into()..range.end().into()
}

/// A proposal behind the functions that it must call: malformed where it calls one of them not, or defines it anew.
pub(super) fn with_helpers(attempt: Attempt, helpers: &[String]) -> Attempt {
    let Attempt::Proposal(Proposal::Triplet { task_type, program, input }) = attempt else { return attempt };
    for number in 0..helpers.len() {
        let name = helper_name(number);
        let malformed = |what: &str| Attempt::Malformed { reason: format!("the program {what} `{name}`") };
        match uses(&program, &name) {
            (_, true) => return malformed("defines"),
            (false, false) => return malformed("does not call"),
            (true, false) => {}
        }
    }
    let mut all = helpers.join("\n\n");
    all.push_str(if helpers.is_empty() { "" } else { "\n\n" });
    all.push_str(&program);
    Attempt::Proposal(Proposal::Triplet { task_type, program: all, input })
}

/// Whether a program calls a function of this name, and whether it binds the name by `def`, `class`, `=` or `import`. What is no Python does
/// neither.
fn uses(program: &str, name: &str) -> (bool, bool) {
    let found = with_syntax(program, |parsed| {
        let (mut calls, mut binds) = (false, false);
        let tokens: Vec<_> = parsed.tokens().iter().filter(|token| !token.kind().is_trivia()).collect();
        for (place, token) in tokens.iter().enumerate() {
            let range = range(token);
            if token.kind() != TokenKind::Name || &program[range] != name {
                continue;
            }
            let before = place.checked_sub(1).map(|before| tokens[before].kind());
            let after = tokens.get(place + 1).map(|after| after.kind());
            let defined = matches!(before, Some(TokenKind::Def | TokenKind::Class | TokenKind::Import | TokenKind::As));
            binds |= defined || after == Some(TokenKind::Equal);
            calls |= !defined && after == Some(TokenKind::Lpar);
        }
        (calls, binds)
    });
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use veriplay_core::{TaskType, Value};

    use super::*;

    #[test]
    fn a_helper_is_the_program_under_another_name() {
        let program = "import math\ndef f(x):\n    s = f'{x} f'\n    return x.f + f(x - 1) if x else math.f(s)";
        let want = "import math\ndef g_1(x):\n    s = f'{x} f'\n    return x.f + g_1(x - 1) if x else math.f(s)";
        assert_eq!(renamed(program, "f", "g_1").as_deref(), Some(want));
        assert_eq!(renamed("def f(x:", "f", "g_0"), None);
        assert!(is_simple(program) && is_simple("def f(x):\n    def h(y):\n        return y\n    return h(x)"));
        for other in [
            "def g_0(x):\n    return x\n\n\ndef f(x):\n    return g_0(x)",
            "N = 3\ndef f(x):\n    return N",
            "def f(x:",
        ] {
            assert!(!is_simple(other), "{other}");
        }
    }

    #[test]
    fn a_composite_calls_every_helper_and_defines_none() {
        let helpers = ["def g_0(x):\n    return x + 1".to_owned(), "def g_1(x):\n    return x * 2".to_owned()];
        let read = |program: &str| {
            let (task_type, input) = (TaskType::Deduction, vec![Value::int(1)]);
            with_helpers(
                Attempt::Proposal(Proposal::Triplet { task_type, program: program.to_owned(), input }),
                &helpers,
            )
        };
        let Attempt::Proposal(whole) = read("def f(x):\n    return g_1(g_0(x))") else { panic!("it calls both") };
        assert_eq!(
            whole.program(),
            "def g_0(x):\n    return x + 1\n\ndef g_1(x):\n    return x * 2\n\ndef f(x):\n    return g_1(g_0(x))"
        );
        for (program, want) in [
            ("def f(x):\n    return g_0(x)", "the program does not call `g_1`"),
            ("def f(x):\n    return 'g_0(x) g_1(x)'", "the program does not call `g_0`"),
            ("def g_0(x):\n    return x\ndef f(x):\n    return g_1(g_0(x))", "the program defines `g_0`"),
            ("g_1 = abs\ndef f(x):\n    return g_1(g_0(x))", "the program defines `g_1`"),
        ] {
            assert_eq!(read(program), Attempt::Malformed { reason: want.to_owned() });
        }
        let plain = with_helpers(Attempt::Malformed { reason: "no block".to_owned() }, &helpers);
        assert_eq!(plain, Attempt::Malformed { reason: "no block".to_owned() });
    }
}
