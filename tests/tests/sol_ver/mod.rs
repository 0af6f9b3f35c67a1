//! Sol-Ver on the real sandbox: agreement, its guards and the attempts to cheat them, and whole steps of the game.

mod cheats;
mod play;
mod rounds;

use veriplay_core::{CallCase, Value};
pub(crate) use veriplay_tests::python_sandbox as python;
use veriplay_verifier::agreement::{
    AgreementRequest, AgreementRules, GUARDS, Guard, RoundJudgement, SuiteAttempt, SuiteTest, TestSuite, judge_round,
};

const DOUBLE: &str = "def f(x):\n    return x * 2";
const ADDED: &str = "def f(x):\n    return x + x";
const SQUARE: &str = "def f(x):\n    return x * x";

fn rules() -> AgreementRules {
    toml::from_str(include_str!("rules.toml")).unwrap()
}

/// One problem's codes and suites as texts. A suite has the code it is for, and lines: `1, 2 => 3`, or an assertion.
#[derive(Debug, Clone, Default)]
struct Written {
    statement: String,
    codes: Vec<String>,
    suites: Vec<(usize, String)>,
}

fn suite(lines: &str) -> TestSuite {
    let test = |line: &str| match line.split_once(" => ") {
        Some((input, expected)) if !line.starts_with("assert") => {
            let (input, expected) = (Value::parse_arguments(input).unwrap(), Value::parse_repr(expected).unwrap());
            SuiteTest::Case(CallCase::new(input, expected))
        }
        _ => SuiteTest::Assert(line.to_owned()),
    };
    TestSuite { tests: lines.lines().filter(|line| !line.trim().is_empty()).map(test).collect() }
}

impl Written {
    fn new(codes: &[&str], suites: &[(usize, &str)]) -> Self {
        Self {
            statement: "double x, and say nothing else".to_owned(),
            codes: codes.iter().map(|code| (*code).to_owned()).collect(),
            suites: suites.iter().map(|(candidate, lines)| (*candidate, (*lines).to_owned())).collect(),
        }
    }

    fn judged_with(&self, rules: &AgreementRules, guards: &[Guard]) -> RoundJudgement {
        let codes: Vec<_> = self.codes.iter().map(|code| (code != "malformed").then_some(code.as_str())).collect();
        let read: Vec<(usize, Option<TestSuite>)> =
            self.suites.iter().map(|(code, lines)| (*code, (lines != "malformed").then(|| suite(lines)))).collect();
        let suites: Vec<SuiteAttempt<'_>> =
            read.iter().map(|(code, suite)| SuiteAttempt { candidate: *code, suite: suite.as_ref() }).collect();
        let request = AgreementRequest { rules, guards, statement: &self.statement, codes: &codes, suites: &suites };
        judge_round(python(), &request).unwrap()
    }

    fn judged(&self) -> RoundJudgement {
        self.judged_with(&rules(), GUARDS)
    }
}
