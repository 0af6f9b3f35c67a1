//! What is asked: programs whose answers are known, in the protocols of services, and the check of what is answered.

use clap::ValueEnum;
use serde_json::{Value, json};
use veriplay_console::progress::counted;

use super::LoadPlan;
use crate::http;

/// Protocols of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// `POST /run_code`: one program a request.
    #[value(name = "sandboxfusion")]
    SandboxFusion,
    /// `POST /v1/verify`: a batch of attempts a request.
    Native,
}

/// The result of comparing an answer with what is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) right: u64,
    /// Attempts that the service says it could not measure.
    pub(super) unmeasured: u64,
    /// Attempts whose verdict was in the service's cache.
    pub(super) cached: u64,
    pub(super) wrong: Vec<String>,
}

pub(super) struct Request {
    pub(super) message: http::Request,
    expected: Expected,
}

enum Expected {
    Run(Ending),
    /// For each attempt whether it is right.
    Verdicts(Vec<bool>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ending {
    stdout: String,
    return_code: i64,
}

/// Kinds of programs, in turn.
const KINDS: u64 = 4;

impl Request {
    pub(super) fn new(plan: &LoadPlan, index: u64) -> Self {
        match plan.protocol {
            Protocol::SandboxFusion => Self::run(number(plan.seed, index), index % KINDS, plan.patience.as_secs_f64()),
            Protocol::Native => {
                let first = index * plan.batch as u64;
                Self::verify((first..first + plan.batch as u64).map(|at| (number(plan.seed, at), at % 2 == 0)))
            }
        }
    }

    fn expecting(path: &str, body: &Value, expected: Expected) -> Self {
        let message = http::Request::post(path, body.to_string()).header("Accept", "application/json");
        Self { message, expected }
    }

    fn run(number: u64, kind: u64, seconds: f64) -> Self {
        let (code, stdin, ending) = program(number, kind);
        // A client waits for both limits and 10 s more.
        let limit = ((seconds - 10.0) / 2.0).clamp(1.0, 10.0);
        let body = json!({
            "compile_timeout": limit, "run_timeout": limit, "code": code, "stdin": stdin, "language": "python",
            "files": {}, "fetch_files": [],
        });
        Self::expecting("/run_code", &body, Expected::Run(ending))
    }

    fn verify(attempts: impl Iterator<Item = (u64, bool)>) -> Self {
        let task = json!({"format": "veriplay", "row": {"schema_version": 1, "problem": {"task_id": "sum", "checks": {
            "stdio": {"cases": [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "40 2\n", "stdout": "42\n"}],
                      "comparison": {"judge": "lines"}}}}}});
        let (attempts, expected): (Vec<Value>, Vec<bool>) = attempts
            .map(|(number, right)| {
                let added = if right { "" } else { " + 1" };
                let program = format!("# {number}\nprint(sum(map(int, input().split())){added})\n");
                (json!({"task_id": "sum", "program": program}), right)
            })
            .unzip();
        let body = json!({"tasks": [task], "attempts": attempts});
        Self::expecting("/v1/verify", &body, Expected::Verdicts(expected))
    }

    pub(super) fn check(&self, body: &[u8]) -> Checked {
        match &self.expected {
            Expected::Run(ending) => check_run(ending, body),
            Expected::Verdicts(expected) => check_verdicts(expected, body),
        }
    }
}

/// A number that no other request has.
fn number(seed: u64, index: u64) -> u64 {
    // Below 2^53, so that it stays itself wherever JSON is read.
    (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44 << 32) + index
}

/// A program, what it reads, and how it ends.
fn program(number: u64, kind: u64) -> (String, String, Ending) {
    let prints = |stdout: String| Ending { stdout, return_code: 0 };
    match kind {
        0 => (format!("print({number})"), String::new(), prints(format!("{number}\n"))),
        1 => {
            let code = "print(sum(map(int, input().split())))".to_owned();
            (code, format!("{number} 1\n"), prints(format!("{}\n", number + 1)))
        }
        2 => {
            let code = format!("print({number}, flush=True)\nraise ValueError({number})");
            (code, String::new(), Ending { stdout: format!("{number}\n"), return_code: 1 })
        }
        _ => {
            let code = format!("for i in range(2000):\n    print({number} + i)");
            let lines = (0..2000).map(|i| format!("{}\n", number + i)).collect();
            (code, String::new(), prints(lines))
        }
    }
}

fn check_run(expected: &Ending, body: &[u8]) -> Checked {
    let answer: Value = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        Err(error) => return Checked::wrong(format!("the answer cannot be read: {error}")),
    };
    let (status, result) = (answer["status"].as_str().unwrap_or_default(), &answer["run_result"]);
    if status == "SandboxError" {
        return Checked { unmeasured: 1, ..Checked::default() };
    }
    let (code, stdout) = (result["return_code"].as_i64(), result["stdout"].as_str().unwrap_or_default());
    if code == Some(expected.return_code) && stdout == expected.stdout {
        return Checked { right: 1, ..Checked::default() };
    }
    Checked::wrong(format!(
        "expected code {} and {} bytes of stdout, found status `{status}`, code {code:?} and {} bytes",
        expected.return_code,
        expected.stdout.len(),
        stdout.len()
    ))
}

fn check_verdicts(expected: &[bool], body: &[u8]) -> Checked {
    let answer: Value = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        Err(error) => return Checked::wrong(format!("the answer cannot be read: {error}")),
    };
    let verdicts = answer["verdicts"].as_array().map_or(&[][..], Vec::as_slice);
    if verdicts.len() != expected.len() {
        let (found, expected) = (counted(verdicts.len(), "verdict"), counted(expected.len(), "attempt"));
        return Checked::wrong(format!("{found} on {expected}"));
    }
    let mut checked = Checked::default();
    for (verdict, right) in verdicts.iter().zip(expected) {
        checked.cached += u64::from(verdict["cached"] == true);
        match verdict["reward"].as_f64() {
            None => checked.unmeasured += 1,
            Some(reward) if reward == f64::from(u8::from(*right)) => checked.right += 1,
            Some(reward) => {
                let status = verdict["status"].as_str().unwrap_or("none");
                checked.wrong.push(format!("an attempt that is right: {right} has status `{status}`, reward {reward}"));
            }
        }
    }
    checked
}

impl Checked {
    fn wrong(why: String) -> Self {
        Self { wrong: vec![why], ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: &str, code: Option<i64>, stdout: &str) -> Vec<u8> {
        let result = json!({"status": "Finished", "execution_time": 0.1, "return_code": code, "stdout": stdout});
        json!({"status": status, "compile_result": null, "run_result": result}).to_string().into_bytes()
    }

    #[test]
    fn each_kind_of_program_is_checked_by_its_output_and_code() {
        for kind in 0..KINDS {
            let request = Request::run(number(5, kind), kind, 30.0);
            let (_, _, ending) = program(number(5, kind), kind);
            let (code, wrong) = (Some(ending.return_code), Some(ending.return_code + 1));
            assert_eq!(request.check(&answer("Success", code, &ending.stdout)).right, 1);
            for wrong in [answer("Success", code, ""), answer("Failed", wrong, &ending.stdout), b"{}".to_vec()] {
                assert_eq!(request.check(&wrong).wrong.len(), 1, "{}", String::from_utf8_lossy(&wrong));
            }
            assert_eq!(request.check(&answer("SandboxError", None, "")).unmeasured, 1);
        }
    }

    #[test]
    fn verdicts_are_checked_one_by_one() {
        let request = Request::verify([(1, true), (2, false), (3, true), (4, false)].into_iter());
        let row =
            |status: Option<&str>, reward: Option<f64>| json!({"status": status, "reward": reward, "cached": true});
        let verdicts = json!({"verdicts": [
            row(Some("accepted"), Some(1.0)), row(Some("accepted"), Some(1.0)), row(None, None),
            row(Some("wrong_answer"), Some(0.0)),
        ]});
        let checked = request.check(verdicts.to_string().as_bytes());
        assert_eq!((checked.right, checked.unmeasured, checked.cached, checked.wrong.len()), (2, 1, 4, 1));
        assert_eq!(request.check(b"{\"verdicts\": []}").wrong, ["0 verdicts on 4 attempts"]);
    }

    #[test]
    fn no_two_requests_have_the_same_program() {
        assert_ne!(number(1, 0), number(2, 0));
        assert_ne!(number(1, 0), number(1, 1));
        assert!(number(u64::MAX, 1 << 20) < 1 << 53);
    }
}
