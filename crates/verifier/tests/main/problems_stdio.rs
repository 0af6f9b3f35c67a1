//! Scripts: what they wrote, how they ended, and that neither stands in for the other.

use std::sync::Mutex;

use veriplay_core::{
    Comparison, Entry, Execute, ExecuteError, Exit, GuestError, Job, LimitOverrides, Limits, Outcome, Problem, Status,
};
use veriplay_verifier::{ProblemRequest, judge_program};

use crate::problems::{judged, request, stdio_problem, try_judge};
use crate::table::{Table, stops};

type Writes = Box<dyn Fn(&str) -> Vec<u8> + Send + Sync>;

/// An executor of scripts: a closure from standard input to standard output, and one end for all.
pub(crate) struct Scripts {
    writes: Writes,
    /// How each ends.
    end: Outcome,
    calls: Table,
    jobs: Mutex<Vec<Job>>,
}

impl Scripts {
    pub(crate) fn writing(writes: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let (end, calls, jobs) = (Outcome::new(Exit::Returned), Table::default(), Mutex::default());
        Self { writes: Box::new(writes), end, calls, jobs }
    }

    /// Jobs that are calls go to `calls`.
    pub(crate) fn with(self, calls: Table) -> Self {
        Self { calls, ..self }
    }

    fn ending(self, end: Outcome) -> Self {
        Self { end, ..self }
    }
}

impl Execute for Scripts {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        if job.entry != Entry::Script {
            return self.calls.execute(job);
        }
        self.jobs.lock().unwrap().push(job.clone());
        let stdin = std::str::from_utf8(&job.stdin).unwrap();
        if stdin == "fault" {
            return Err(ExecuteError::Host("the machine is on fire".to_owned()));
        }
        let stderr = b"3 passed, 0 failed".to_vec();
        Ok(Outcome { stdout: (self.writes)(stdin), stderr, fuel: 7, ..self.end.clone() })
    }
}

/// Writes back what it reads.
fn echo() -> Scripts {
    Scripts::writing(|stdin| stdin.as_bytes().to_vec())
}

fn stdio() -> Comparison {
    Comparison::by("lines")
}

const ECHOES: &[(&str, &str)] = &[("1", "1\n"), ("2", "two"), ("3", "3")];

#[test]
fn each_case_is_a_script_of_its_own_with_its_own_input() {
    let scripts = echo();
    let verdict = try_judge(&scripts, &stdio_problem(ECHOES, stdio())).unwrap();
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::WrongAnswer, 2, 3));
    assert_eq!(verdict.evidence.detail, "case 1: `\"2\"` instead of `\"two\"`");
    let jobs = scripts.jobs.lock().unwrap();
    assert_eq!((jobs.len(), verdict.evidence.jobs.len(), verdict.evidence.fuel), (3, 3, 21));
    assert!(jobs.iter().zip(ECHOES).all(|(job, (stdin, _))| job.stdin == stdin.as_bytes() && job.program == "p"));
    assert_eq!(judged(&echo(), &stdio_problem(&ECHOES[..1], stdio())), (Status::Accepted, 1, 1));
}

#[test]
fn early_stop_ends_at_the_first_failing_case() {
    let (scripts, problem) = (echo(), stdio_problem(ECHOES, stdio()));
    let early = ProblemRequest { early_stop: true, ..request(&problem, "p") };
    let verdict = judge_program(&scripts, &early).unwrap();
    assert_eq!((verdict.status, verdict.passed, verdict.total), (Status::WrongAnswer, 1, 3));
    assert_eq!(scripts.jobs.lock().unwrap().len(), 2);
}

#[test]
fn right_text_before_a_bad_end_passes_nothing() {
    for (exit, wanted) in stops().into_iter().chain([(Exit::Raised, Status::RuntimeError)]) {
        let ended = echo().ending(Outcome::new(exit));
        assert_eq!(judged(&ended, &stdio_problem(&[("1", "1")], stdio())), (wanted, 0, 1));
    }
    for (code, wanted) in [(None, Status::RuntimeError), (Some(3), Status::RuntimeError), (Some(0), Status::Accepted)] {
        let left = echo().ending(Outcome { exit_code: code, ..Outcome::new(Exit::Trapped) });
        assert_eq!(judged(&left, &stdio_problem(&[("1", "1")], stdio())).0, wanted, "{code:?}");
    }
    for (exit, wanted) in [(Exit::CompileError, Status::CompileError), (Exit::Raised, Status::RuntimeError)] {
        let error = Some(GuestError { kind: "CompileError".to_owned(), message: "SyntaxError".to_owned() });
        let broken = echo().ending(Outcome { error, ..Outcome::new(exit) });
        assert_eq!(judged(&broken, &stdio_problem(&[("1", "1")], stdio())), (wanted, 0, 1));
    }
}

#[test]
fn text_that_was_cut_passes_nothing_even_where_it_is_right() {
    for judge in ["exact", "lines", "tokens", "yes_no", "livecodebench", "nemo_gym", "sandbox_fusion"] {
        let problem = stdio_problem(&[("1", "1")], Comparison::by(judge));
        let cut = echo().ending(Outcome { truncated: true, ..Outcome::new(Exit::Returned) });
        let full = Limits { output_bytes: 1, ..Limits::small() };
        let verdict = judge_program(&cut, &ProblemRequest { limits: full, ..request(&problem, "p") }).unwrap();
        assert_eq!((verdict.status, verdict.passed), (Status::OutputExceeded, 0));
        // It was stderr that was cut.
        assert_eq!(judged(&cut, &problem), (Status::Accepted, 1, 1));
        assert_eq!(judged(&echo(), &problem), (Status::Accepted, 1, 1));
    }
}

/// More than the usual limit for an expected text that is longer; a problem's own limits and jobs of short texts keep theirs.
#[test]
fn an_expected_text_beyond_the_limit_gets_room() {
    let long = "7\n".repeat(700_000);
    let usual = Limits { output_bytes: 1 << 20, ..Limits::large() };
    let own = LimitOverrides { output_bytes: Some(5), ..LimitOverrides::default() };
    let none = LimitOverrides::default();
    let problem = stdio_problem(&[("1", "1"), ("long", &long)], stdio());
    for (limits, wanted) in [(none, [usual.output_bytes, 2 * 1_400_000 + (64 << 10)]), (own, [5, 5])] {
        let problem = Problem { limits, ..problem.clone() };
        let text = long.clone();
        let scripts = Scripts::writing(move |stdin| if stdin == "long" { text.clone().into() } else { b"1".to_vec() });
        let verdict = judge_program(&scripts, &ProblemRequest { limits: usual, ..request(&problem, "p") }).unwrap();
        assert_eq!(verdict.status, Status::Accepted);
        assert_eq!(scripts.jobs.lock().unwrap().iter().map(|job| job.limits.output_bytes).collect::<Vec<_>>(), wanted);
    }
    let capped = ProblemRequest { limits: Limits { output_bytes: 100, ..usual }, ..request(&problem, "p") };
    let scripts = Scripts::writing(|_| b"8".to_vec());
    assert_eq!(judge_program(&scripts, &capped).unwrap().status, Status::WrongAnswer);
    assert_eq!(scripts.jobs.lock().unwrap()[1].limits, Limits { output_bytes: 3200, ..usual });
}

#[test]
fn standard_error_is_no_evidence_and_no_job_holds_the_expected_text() {
    let problem = stdio_problem(&[("x", "3 passed, 0 failed"), ("987", "987654321")], stdio());
    let scripts = echo();
    assert_eq!(judged(&scripts, &problem), (Status::WrongAnswer, 0, 2));
    assert!(scripts.jobs.lock().unwrap().iter().all(|job| !format!("{job:?}").contains("987654321")));
}

#[test]
fn a_host_fault_at_any_case_drops_the_attempt() {
    let problem = stdio_problem(&[("1", "1"), ("fault", "fault")], stdio());
    assert!(try_judge(&echo(), &problem).unwrap_err().why.contains("on fire"));
}

#[test]
fn the_judge_that_is_named_decides() {
    let problem = |judge| stdio_problem(&[("YES 1.0", "yes 1.0")], Comparison::by(judge));
    assert_eq!(judged(&echo(), &problem("sandbox_fusion")).0, Status::Accepted);
    assert_eq!(judged(&echo(), &problem("livecodebench")).0, Status::WrongAnswer);
}
