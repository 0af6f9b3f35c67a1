//! Judge `checker` by programs of testlib's: what each status says, which image they run in, and that the rest is refused.

use std::collections::BTreeMap;
use std::sync::Mutex;

use veriplay_core::{
    Checks, Comparison, Digest, Execute, ExecuteError, Exit, GuestError, Interaction, InteractionEnd, Job, LimitKind,
    Outcome, Problem, ProblemRow, Status, Verdict,
};
use veriplay_verifier::{
    OpenImage, ProblemRequest, check_checker_images, check_image, check_memory, check_problem, checker_images,
    digest_with_checkers, judge_program,
};

use crate::problems::{request, stdio_problem};
use crate::table::exceeded;

/// Programs write `written`; a checker, which has arguments, ends as these say of the actual output and of the expected one.
struct Checked {
    of_actual: Outcome,
    of_expected: Outcome,
    jobs: Mutex<Vec<Job>>,
}

impl Execute for Checked {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.lock().unwrap().push(job.clone());
        if job.arguments.is_empty() {
            return Ok(Outcome { stdout: b"written".to_vec(), ..Outcome::new(Exit::Returned) });
        }
        let is_actual = job.files[1] == ("output.txt".to_owned(), b"written".to_vec());
        Ok(if is_actual { self.of_actual.clone() } else { self.of_expected.clone() })
    }
}

/// How a process of this status ends that has said so much.
fn status(status: i32, told: &str) -> Outcome {
    let stderr = told.as_bytes().to_vec();
    match status {
        0 => Outcome { stderr, ..Outcome::new(Exit::Returned) },
        _ => {
            let error = GuestError { kind: "exit_status".to_owned(), message: status.to_string() };
            Outcome { stderr, error: Some(error), exit_code: Some(status), ..Outcome::new(Exit::Raised) }
        }
    }
}

fn in_language(language: &str) -> Comparison {
    let (checker_script, checker_language) = (Some("#include \"testlib.h\"\n".to_owned()), Some(language.to_owned()));
    Comparison { checker_script, checker_language, ..Comparison::by("checker") }
}

fn problem() -> Problem {
    stdio_problem(&[("given", "wanted")], in_language("cpp"))
}

fn verdict(of_actual: Outcome, of_expected: Outcome) -> (Verdict, Vec<Job>) {
    let checked = Checked { of_actual, of_expected, jobs: Mutex::default() };
    let verdict = judge_program(&checked, &request(&problem(), "p")).unwrap();
    (verdict, checked.jobs.into_inner().unwrap())
}

#[test]
fn a_status_is_right_wrong_points_or_a_failure_of_the_task() {
    let ends = Outcome::new;
    let fuel = || ends(exceeded(LimitKind::Fuel));
    let (accepted, wrong, unjudgeable) = (Status::Accepted, Status::WrongAnswer, Status::Unjudgeable);
    for (of_actual, of_expected, wanted) in [
        (status(0, "ok"), fuel(), accepted),
        (status(1, "wrong answer"), fuel(), wrong),
        (status(2, "wrong output format"), fuel(), wrong),
        (status(4, "wrong output format"), fuel(), wrong),
        (status(8, "unexpected eof"), fuel(), wrong),
        // A failure is the attempt's where the checker passes the expected output, else the task's.
        (status(3, "FAIL the output has no end"), status(0, "ok"), wrong),
        (status(3, "FAIL the output has no end"), status(7, "points 5"), wrong),
        (status(3, "FAIL no task"), status(3, "FAIL no task"), unjudgeable),
        (status(3, "FAIL no task"), fuel(), unjudgeable),
        (status(3, "FAIL no task"), status(7, "points 0"), unjudgeable),
        (status(3, "FAIL no task"), status(1, "wrong answer"), unjudgeable),
        (status(7, "points 5 of 5"), status(7, "points 5"), accepted),
        (status(7, "points 6"), status(7, "points 5"), accepted),
        (status(7, "points 4.5"), status(7, "points 5"), wrong),
        (status(7, "points 5"), status(0, "ok"), wrong),
        (status(7, "points 0"), fuel(), wrong),
        (status(7, "points 1"), status(7, "points 0"), unjudgeable),
        (status(7, "points 1"), status(1, "wrong answer"), unjudgeable),
        (status(7, "much"), status(3, "FAIL"), unjudgeable),
        // What decides about the expected output was broken by the attempt.
        (fuel(), status(0, "ok"), wrong),
        (ends(Exit::Trapped), status(0, "ok"), wrong),
        (ends(Exit::Trapped), ends(Exit::Trapped), unjudgeable),
        (status(134, "terminate called"), status(7, "points 1"), wrong),
        (fuel(), fuel(), unjudgeable),
        (status(134, "terminate called"), status(3, "FAIL"), unjudgeable),
        (ends(Exit::CompileError), ends(Exit::CompileError), unjudgeable),
    ] {
        let case = format!("{of_actual:?}, {of_expected:?}");
        let (verdict, _) = verdict(of_actual, of_expected);
        assert_eq!(verdict.status, wanted, "{case}: {:?}", verdict.evidence);
    }
    let (failed, _) = verdict(status(3, "FAIL no task\n"), status(3, "FAIL no task\n"));
    assert!(failed.evidence.detail.contains("FAIL no task"), "{:?}", failed.evidence);
}

#[test]
fn a_checker_runs_in_the_image_of_its_language_as_testlib_runs_it() {
    let (_, jobs) = verdict(status(0, "ok"), status(0, "ok"));
    let [program, checker] = jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!((program.image.as_str(), checker.image.as_str()), ("python", "cpp"));
    assert_eq!(checker.arguments, ["input.txt", "output.txt", "answer.txt"]);
    let texts = [("input.txt", "given"), ("output.txt", "written"), ("answer.txt", "wanted")];
    assert_eq!(checker.files, texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())));
    assert_eq!(checker.program, "#include \"testlib.h\"\n");
    assert!(!format!("{program:?}").contains("wanted"), "{program:?}");
}

#[test]
fn headers_of_the_tasks_own_stand_in_the_checker() {
    let checker_headers = BTreeMap::from([("testlib.h".to_owned(), "int own;".to_owned())]);
    let own = stdio_problem(&[("1", "2")], Comparison { checker_headers, ..in_language("cpp") });
    let (of_actual, of_expected) = (status(0, "ok"), status(0, "ok"));
    let checked = Checked { of_actual, of_expected, jobs: Mutex::default() };
    judge_program(&checked, &request(&own, "p")).unwrap();
    assert_eq!(checked.jobs.into_inner().unwrap()[1].program, "int own;\n");
}

/// A row with this judge, whose programs are in this language or in Python.
fn row(comparison: Comparison, language: Option<&str>) -> ProblemRow {
    let problem = stdio_problem(&[("1", "2")], comparison);
    ProblemRow::Ready(Problem { language: language.map(str::to_owned), ..problem })
}

#[test]
fn the_image_of_a_checker_must_be_open() {
    let script = || Comparison { checker_script: Some("print(1)".to_owned()), ..Comparison::by("checker") };
    for (row, image, needed) in [
        (row(in_language("cpp"), None), "python", Some("cpp")),
        (row(in_language("c"), None), "mine", Some("c")),
        (row(in_language("cpp"), Some("cpp")), "cpp", None),
        (row(in_language("cpp"), Some("javascript")), "javascript", Some("cpp")),
        (row(script(), Some("cpp")), "cpp", Some("python")),
        (row(script(), None), "mine", None),
        (row(Comparison::by("lines"), Some("cpp")), "cpp", None),
        (ProblemRow::Ready(interactive(None)), "cpp", Some("python")),
        (ProblemRow::Ready(interactive(Some("cpp"))), "cpp", None),
        (ProblemRow::Ready(interactive(Some("javascript"))), "cpp", Some("javascript")),
    ] {
        assert!(check_image(&row, image).is_ok());
        assert_eq!(checker_images(&row, image), Vec::from_iter(needed), "{row:?}");
        assert_eq!(check_checker_images(&row, image, &[image]).is_ok(), needed.is_none());
        if let Some(needed) = needed {
            assert!(check_checker_images(&row, image, &[image, needed]).is_ok());
            let told = check_checker_images(&row, image, &[image]).unwrap_err().to_string();
            assert!(told.contains("`set/1`") && told.contains(&format!("`{needed}`")), "{told}");
        }
    }
}

/// An open image of this name that needs so many bytes itself.
fn open(name: &str, memory_bytes: u64) -> OpenImage {
    OpenImage { name: name.to_owned(), digest: Digest::of(name.as_bytes()), memory_bytes }
}

#[test]
fn jobs_may_have_the_memory_that_each_image_needs_which_they_run_in() {
    let images = [open("python", 64), open("cpp", 80), open("javascript", 90)];
    for (row, image, memory_bytes, short) in [
        (row(in_language("cpp"), None), "python", 80, None),
        (row(in_language("cpp"), None), "python", 79, Some("`cpp`, which they run in, needs 80")),
        (row(in_language("cpp"), None), "python", 63, Some("`python`, which they run in, needs 64")),
        (row(Comparison::by("lines"), None), "python", 64, None),
        (ProblemRow::Ready(interactive(Some("javascript"))), "cpp", 90, None),
        (ProblemRow::Ready(interactive(Some("javascript"))), "cpp", 89, Some("`javascript`")),
    ] {
        let told = check_memory(&row, image, memory_bytes, &images).map_err(|error| error.to_string());
        match (told, short) {
            (Ok(()), None) => {}
            (Err(told), Some(short)) => assert!(
                [short, "`set/1`", &format!("{memory_bytes} bytes"), "`memory_bytes`"]
                    .iter()
                    .all(|part| told.contains(part)),
                "{told}"
            ),
            (told, short) => panic!("{told:?} instead of {short:?}"),
        }
    }
}

#[test]
fn conditions_hold_the_images_of_a_checker_and_no_others_in_any_order() {
    let [python, cpp, javascript] = ["python", "cpp", "javascript"].map(|name| open(name, 1));
    let (plain, checked) = (row(Comparison::by("lines"), None), row(in_language("cpp"), None));
    let conditions = Digest::of(b"conditions");
    let digest = |row: &ProblemRow, open: &[OpenImage]| digest_with_checkers(&conditions, row, "python", open);
    let all = [python, cpp.clone(), javascript];
    assert_eq!(digest(&plain, &all), conditions);
    assert_eq!(digest(&checked, &all), digest(&checked, &[cpp]));
    assert_ne!(digest(&checked, &all), conditions);
    let of_other_content = OpenImage { digest: Digest::of(b"other"), ..open("cpp", 1) };
    assert_ne!(digest(&checked, &all), digest(&checked, &[of_other_content]));
}

#[test]
fn programs_of_other_languages_have_checkers_too() {
    let of_cpp = Problem { language: Some("cpp".to_owned()), ..problem() };
    let (of_actual, of_expected) = (status(1, "wrong answer"), status(0, "ok"));
    let checked = Checked { of_actual, of_expected, jobs: Mutex::default() };
    let verdict = judge_program(&checked, &ProblemRequest { image: "cpp", ..request(&of_cpp, "p") }).unwrap();
    assert_eq!(verdict.status, Status::WrongAnswer);
    assert!(checked.jobs.into_inner().unwrap().iter().all(|job| job.image == "cpp"));
}

#[test]
fn a_checker_that_no_image_runs_is_refused() {
    let without_script = Comparison { checker_script: None, checker: Some("c".to_owned()), ..in_language("cpp") };
    let headers = BTreeMap::from([("a.h".to_owned(), String::new())]);
    let with_headers = Comparison { checker_headers: headers, checker_language: None, ..in_language("cpp") };
    for (comparison, why) in [
        (in_language("javascript"), "give `cpp` or `c`"),
        (in_language("C++"), "give `cpp` or `c`"),
        (in_language("python"), "leave it out for Python"),
        (without_script, "`checker_script`"),
        (with_headers, "`checker_headers`"),
    ] {
        let told = check_problem(&stdio_problem(&[("1", "2")], comparison)).unwrap_err().to_string();
        assert!(told.contains(why) && told.contains("set/1"), "{told}");
    }
    assert!(matches!(problem().checks, Checks::Stdio(_)) && check_problem(&problem()).is_ok());
}

/// Parts a program and its interactor by this end of the interactor's; one that talks with a silent program says `of_silent`.
struct Parted {
    end: InteractionEnd,
    of_program: Outcome,
    of_silent: Outcome,
    jobs: Mutex<Vec<Job>>,
}

impl Execute for Parted {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.lock().unwrap().push(job.clone());
        let interactor = if job.program == "p" { self.of_program.clone() } else { self.of_silent.clone() };
        let stdout = b"? 1\n? 2\n".to_vec();
        let interaction = Some(Box::new(Interaction { end: self.end, interactor }));
        Ok(Outcome { stdout, interaction, ..Outcome::new(Exit::Returned) })
    }
}

/// A problem in C++ with an interactor in this language.
fn interactive(language: Option<&str>) -> Problem {
    let mut problem =
        Problem { language: Some("cpp".to_owned()), ..stdio_problem(&[("given", "wanted")], Comparison::by("lines")) };
    if let Checks::Stdio(checks) = &mut problem.checks {
        (checks.interactor, checks.interactor_language) = (Some("i".to_owned()), language.map(str::to_owned));
    }
    problem
}

#[test]
fn an_interactor_of_testlibs_decides_by_its_status() {
    let (failed, deadlock) = (InteractionEnd::InteractorFailed, InteractionEnd::Deadlock);
    for (end, of_program, of_silent, wanted, told) in [
        (InteractionEnd::Completed, status(0, "ok"), status(8, ""), Status::Accepted, ""),
        (failed, status(1, "wrong answer 7"), status(8, ""), Status::WrongAnswer, "wrong answer 7"),
        (failed, status(8, "unexpected eof"), status(8, ""), Status::WrongAnswer, "unexpected eof"),
        // A failure is the attempt's where the interactor decides about a silent program, else the task's, as that of a checker is.
        (
            failed,
            status(3, "FAIL no end"),
            status(8, ""),
            Status::WrongAnswer,
            "because of it: it says that it fails: FAIL no end",
        ),
        (failed, status(3, "FAIL no end"), status(0, "ok"), Status::WrongAnswer, "FAIL no end"),
        (failed, status(3, "FAIL no task"), status(3, "FAIL no task"), Status::Unjudgeable, "FAIL no task"),
        (
            failed,
            status(3, "FAIL no task"),
            status(134, ""),
            Status::Unjudgeable,
            "does not decide: it says that it fails",
        ),
        (failed, status(7, "points 1"), status(8, ""), Status::Unjudgeable, "points 1"),
        (failed, status(7, "points 0"), status(8, ""), Status::WrongAnswer, "refuses it: points 0"),
        (failed, status(134, "terminate called"), status(8, ""), Status::WrongAnswer, "does not decide because of it"),
        (failed, status(134, "terminate called"), status(134, ""), Status::Unjudgeable, "does not decide"),
        (deadlock, status(0, ""), status(8, ""), Status::WrongAnswer, "`? 2`"),
    ] {
        let parted = Parted { end, of_program, of_silent, jobs: Mutex::default() };
        let problem = interactive(Some("cpp"));
        let verdict = judge_program(&parted, &ProblemRequest { image: "cpp", ..request(&problem, "p") }).unwrap();
        assert_eq!(verdict.status, wanted, "{:?}", verdict.evidence);
        assert!(verdict.evidence.detail.contains(told), "{told}: {:?}", verdict.evidence);
        let jobs = parted.jobs.into_inner().unwrap();
        let interactor = jobs[0].interactor.as_ref().unwrap();
        assert_eq!((interactor.program.as_str(), interactor.arguments.len()), ("i", 3));
        let texts = [("input.txt", "given"), ("answer.txt", "wanted")];
        assert_eq!(interactor.files, texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())));
    }
}

#[test]
fn an_interactor_of_any_language_is_run_as_its_language_has_it() {
    let of_python = Problem { language: None, ..interactive(Some("cpp")) };
    let [argv, pushed] = ["sys.argv = ", "globalThis.process.argv.push(\"input.txt\", \"correct_output.txt\"); i"];
    for (problem, image, beside, program, arguments) in [
        (interactive(None), "cpp", Some("python"), argv, 0),
        (interactive(Some("javascript")), "cpp", Some("javascript"), pushed, 0),
        (interactive(Some("c")), "cpp", Some("c"), "i", 3),
        (of_python, "python", Some("cpp"), "i", 3),
    ] {
        let of_program = status(1, "wrong");
        let (end, of_silent) = (InteractionEnd::InteractorFailed, status(0, ""));
        let parted = Parted { end, of_program, of_silent, jobs: Mutex::default() };
        let verdict = judge_program(&parted, &ProblemRequest { image, ..request(&problem, "p") }).unwrap();
        assert_eq!(verdict.status, Status::WrongAnswer, "{:?}", verdict.evidence);
        let jobs = parted.jobs.into_inner().unwrap();
        let interactor = jobs[0].interactor.as_ref().unwrap();
        assert_eq!((interactor.image.as_deref(), interactor.arguments.len()), (beside, arguments));
        assert!(interactor.program.contains(program), "{}", interactor.program);
        assert!(!format!("{:?}", (&jobs[0].program, &jobs[0].files)).contains("given"));
    }
}

#[test]
fn an_interactor_in_a_language_without_an_image_is_refused() {
    let mut without_source = interactive(Some("cpp"));
    if let Checks::Stdio(checks) = &mut without_source.checks {
        checks.interactor = None;
    }
    for refused in [interactive(Some("C++")), interactive(Some("python")), without_source] {
        let told = check_problem(&refused).unwrap_err().to_string();
        assert!(told.contains("set/1") && told.contains("interactor_language"), "{told}");
    }
}
