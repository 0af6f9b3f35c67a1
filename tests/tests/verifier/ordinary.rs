//! Scripts as people write them for contests: threads for a deep stack, memoised recursion, long integers, `os._exit`. None of it is an
//! attack, and each was refused once.

use veriplay_core::{Limits, Problem, Status, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::cases::programs;
use super::{LIMITS, python};

/// The verdict on a script by one run.
fn printed(program: &str, stdin: &str, stdout: &str) -> Verdict {
    let problem = Problem::stdio("t", [(stdin.to_owned(), stdout.to_owned())]);
    let limits = Limits { fuel: 20_000_000_000, ..LIMITS };
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

#[test]
fn the_idioms_of_contests_are_accepted_and_judged_by_what_they_print() {
    let nines = "9".repeat(5000);
    let mut cases = vec![([nines.clone(), nines], "print(int(input()) * 1)".to_owned())];
    for (streams, program) in programs(include_str!("ordinary.py")) {
        cases.push((serde_json::from_str(streams).expect("two texts"), program));
    }
    for ([stdin, stdout], program) in &cases {
        let verdict = printed(program, stdin, stdout);
        assert_eq!(verdict.status, Status::Accepted, "{program}: {}", verdict.evidence.detail);
        let verdict = printed(program, stdin, "other\n");
        assert_eq!(verdict.status, Status::WrongAnswer, "{program}: {}", verdict.evidence.detail);
    }
}
