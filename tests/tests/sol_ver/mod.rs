//! Sol-Ver on the real sandbox: agreement, its guards and the attempts to cheat them, and whole steps of the game.

mod cheats;
mod play;
mod rounds;

use veriplay_core::{CallCase, Limits, Value};
pub(crate) use veriplay_tests::python_sandbox as python;
use veriplay_verifier::agreement::{
    AgreementRequest, AgreementRules, CountCodes, GUARDS, Guard, RoundJudgement, SuiteAttempt, SuiteTest, TestSuite,
    judge_round,
};

const LIMITS: Limits = Limits {
    fuel: 100_000_000,
    memory_bytes: 128 << 20,
    output_bytes: 1 << 16,
    file_bytes: 1 << 16,
    deadline_ns: 300_000_000_000,
};

const DOUBLE: &str = "def f(x):\n    return x * 2";
const ADDED: &str = "def f(x):\n    return x + x";
const SQUARE: &str = "def f(x):\n    return x * x";

fn rules() -> AgreementRules {
    AgreementRules {
        image: "python".to_owned(),
        limits: LIMITS,
        tool_limits: Limits { fuel: 20_000_000_000, memory_bytes: 512 << 20, output_bytes: 1 << 22, ..LIMITS },
        seeds: [1, 2],
        count_codes: CountCodes::Samples,
        min_codes: 2,
        min_tests: 2,
        min_statement_chars: 4,
        max_statement_chars: 200,
        quote_chars: 6,
        min_suite_tests: 2,
        max_suite_tests: 8,
        min_distinct_outputs: 2,
        probes: 8,
        max_mutants: 12,
        min_mutation_score: 0.0,
    }
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
        let codes: Vec<Option<&str>> =
            self.codes.iter().map(|code| Some(code.as_str()).filter(|code| *code != "malformed")).collect();
        let read: Vec<Option<TestSuite>> =
            self.suites.iter().map(|(_, lines)| (lines != "malformed").then(|| suite(lines))).collect();
        let attempt = |((candidate, _), suite): (&(usize, String), _)| SuiteAttempt { candidate: *candidate, suite };
        let suites: Vec<SuiteAttempt<'_>> =
            self.suites.iter().zip(read.iter().map(Option::as_ref)).map(attempt).collect();
        let request = AgreementRequest { rules, guards, statement: &self.statement, codes: &codes, suites: &suites };
        judge_round(python(), &request).unwrap()
    }

    fn judged(&self) -> RoundJudgement {
        self.judged_with(&rules(), GUARDS)
    }
}
