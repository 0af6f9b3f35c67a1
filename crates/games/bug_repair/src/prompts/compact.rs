//! `compact`: control tokens and one function, for models that are trained from nothing.
//!
//! # Layout
//! Solver: `<BUG>` the function with the bug `<TEST>` lines of the failing tests `<FIX>`, answered by the whole repaired function.
//! Injector: `<CODE>` the function `<INJECT>`, answered by the whole changed function. Functions stand at the margin. The test
//! lines are the assertions that the spec adds, at the margin too; where it adds none, all lines it adds. One response is an
//! episode: there are no tools.
//!
//! # Why
//! A tiny model has no room for a repository, and no words. The prompt names the function: finding the place is the part
//! of the task that is left out.
//!
//! # How it can be gamed
//! The response is put in the function's place, whatever it is: it may hold two functions, or none. What it does is what the tests
//! say. A control token in it refuses it whole.
//!
//! # Example
//! `<BUG>def f(x):⏎    return x - 1<TEST>assert f(1) == 2<FIX>` is answered by `def f(x):⏎    return x + 1`.

use veriplay_core::PromptContent;

use super::{AnsweredBug, InjectionMode, RepairFormat, RepoBudgetLeft, RepoGoal, RepoResponse, test_lines};

/// Stands before a function with a bug.
pub const BUG: &str = "<BUG>";
/// Stands before lines of failing tests.
pub const TEST: &str = "<TEST>";
/// Asks for the repaired function.
pub const FIX: &str = "<FIX>";
/// Stands before a function to put a bug into.
pub const CODE: &str = "<CODE>";
/// Asks for the changed function.
pub const INJECT: &str = "<INJECT>";

const CONTROL: [&str; 5] = [BUG, TEST, FIX, CODE, INJECT];

pub(super) struct Compact;

impl RepairFormat for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn is_single_turn(&self) -> bool {
        true
    }

    /// One function it must be, and an injector must be shown it.
    fn can_ask(&self, goal: &RepoGoal) -> bool {
        match goal {
            RepoGoal::Repair { spec, function } => {
                let plain = |text: &str| CONTROL.iter().all(|token| !text.contains(token));
                function.as_ref().is_some_and(|function| plain(&function.source)) && plain(spec)
            }
            RepoGoal::Inject { mode, .. } => *mode == InjectionMode::Direct,
        }
    }

    fn first_prompt(&self, goal: &RepoGoal, _examples: &[&AnsweredBug], _left: RepoBudgetLeft) -> PromptContent {
        match goal {
            RepoGoal::Repair { spec, function } => {
                let source = function.as_ref().map_or("", |function| function.source.as_str());
                repair_prompt(source, &test_lines(spec).join("\n"))
            }
            RepoGoal::Inject { function, .. } => injection_prompt(&function.source),
        }
        .into()
    }

    fn parse_response(&self, _goal: &RepoGoal, response: &str) -> Result<RepoResponse, String> {
        match CONTROL.iter().find(|token| response.contains(**token)) {
            Some(token) => Err(format!("`{token}` out of place")),
            None if response.trim().is_empty() => Err("the response is empty".to_owned()),
            None => Ok(RepoResponse::Replace(response.to_owned())),
        }
    }
}

/// Asks for the repair of a function, by lines of the tests that fail.
pub fn repair_prompt(source: &str, tests: &str) -> String {
    format!("{BUG}{source}{TEST}{tests}{FIX}")
}

/// Asks for a bug in a function.
pub fn injection_prompt(source: &str) -> String {
    format!("{CODE}{source}{INJECT}")
}
