//! Programs in languages that the host does not parse: which text is one, what stands behind it, and how it is judged.

use std::sync::Mutex;

use veriplay_core::{
    AppendedTests, AttemptText, Checks, Comparison, Execute, ExecuteError, Exit, Job, Outcome, Problem, ProblemRow,
    Status,
};
use veriplay_verifier::extraction::{Answer, Continues, Entry, Wanted, extract_in};
use veriplay_verifier::languages::language_named;
use veriplay_verifier::{ProblemRequest, check_image, check_problem, judge_program};

use crate::problems::{calls_problem, request, stdio_problem};

/// Ends every job alike.
struct Ends {
    outcome: Outcome,
    jobs: Mutex<Vec<Job>>,
}

impl Ends {
    fn with(outcome: Outcome) -> Self {
        Self { outcome, jobs: Mutex::default() }
    }
}

impl Execute for Ends {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.lock().unwrap().push(job.clone());
        Ok(self.outcome.clone())
    }
}

const PROMPT: &str = "#include <vector>\n// Adds.\nint add(int a, int b) {\n";
const TESTS: &str = "}\nint main() { test(); }";

fn appended(language: &str, silent: bool) -> Problem {
    let tests = AppendedTests { source: TESTS.to_owned(), stop: vec!["\n}".to_owned()], silent };
    let (language, prompt) = (Some(language.to_owned()), PROMPT.to_owned());
    Problem { language, prompt, ..Problem::new("set/1", Checks::Appended(tests)) }
}

fn of_language(language: &str, problem: Problem) -> Problem {
    Problem { language: Some(language.to_owned()), ..problem }
}

#[test]
fn the_last_block_of_the_language_is_the_program() {
    let wanted = Wanted { prompt: "", entry: Entry::Script, continues: Continues::Prose };
    let found = |name: &str, response: &str| extract_in(language_named(name).unwrap(), &wanted, response);
    for (name, response, text, rule) in [
        ("cpp", "```cpp\na\n```\n```C++\nb\n```\n```python\nc\n```", "b\n", "block"),
        ("cpp", "```\na\n```\n```cpp\nb\n```\n```\nc\n```", "b\n", "block"),
        ("cpp", "```c++17\na\n```", "a\n", "block"),
        ("cpp", "```\na\n```\n```\nb\n```\n```bash\nc\n```", "b\n", "block"),
        ("c", "```c\na\n```\n```cpp\nb\n```", "a\n", "block"),
        ("javascript", "```js\na\n```\n```typescript\nb\n```", "a\n", "block"),
        ("javascript", "```js\na\n```\n```ts\nb\n```", "a\n", "block"),
        ("typescript", "```js\na\n```\n```ts\nb\n```\n```tsx\nc\n```", "b\n", "block"),
        ("javascript", "<think>```js\na\n```</think>\n```nodejs\nb", "b", "unclosed_block"),
        ("javascript", "<answer>\n```javascript\na\n```\n</answer>", "a\n", "block"),
        ("javascript", "console.log(1)\n", "console.log(1)", "whole"),
        ("python", "```cpp\na\n```\n```python\nprint(1)\n```", "print(1)\n", "block"),
    ] {
        let found = found(name, response).unwrap_or_else(|nothing| panic!("{response}: {nothing}"));
        assert_eq!((found.text.trim_end(), found.extraction.rule.as_str()), (text.trim_end(), rule), "{response}");
        let [start, end] = found.extraction.span;
        assert_eq!(response[start..end].trim(), found.text.trim(), "{response}");
    }
    for (response, why) in [("```python\na\n```", "labelled `cpp`"), ("<think>\na", "does not end"), (" ", "empty")] {
        let reason = found("cpp", response).unwrap_err().reason;
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn what_tests_stand_behind_is_a_block_or_continues_the_prompt() {
    let row = ProblemRow::Ready(appended("cpp", false));
    let program =
        |text: &str| Answer::at_row(&row, AttemptText::Completion(text.to_owned())).map(|found| found.program);
    assert_eq!(program("    return a + b;\n}\nint other() {}").unwrap(), format!("{PROMPT}    return a + b;"));
    assert_eq!(program("So:\n```cpp\nint add() {}\n```").unwrap(), "#include <vector>\nint add() {}\n");
    assert!(program("```java\nclass A {}\n```").is_err());
    let whole = AttemptText::Program("int add() {}".to_owned());
    assert_eq!(Answer::at_row(&row, whole).unwrap().program, "int add() {}");
}

/// The status of a program whose one job ends so, and the job.
fn judged(problem: &Problem, program: &str, outcome: Outcome) -> (Status, Job) {
    let ends = Ends::with(outcome);
    let verdict = judge_program(&ends, &ProblemRequest { image: "cpp", ..request(problem, program) }).unwrap();
    let [job] = ends.jobs.into_inner().unwrap().try_into().unwrap();
    (verdict.status, job)
}

#[test]
fn tests_behind_a_program_decide_by_its_end() {
    let problem = appended("cpp", false);
    let returned = || Outcome::new(Exit::Returned);
    let (status, job) = judged(&problem, "int add() {\n", returned());
    assert_eq!(
        (status, job.image.as_str(), job.program.as_str()),
        (Status::Accepted, "cpp", "int add() {\n\n}\nint main() { test(); }")
    );
    let (_, job) = judged(&problem, "int add() {}", returned());
    assert_eq!(job.program, "int add() {}\n\nint main() { test(); }");
    let left = Outcome { exit_code: Some(0), ..Outcome::new(Exit::Trapped) };
    for (outcome, status) in [
        (Outcome { exit_code: Some(134), ..Outcome::new(Exit::Raised) }, Status::RuntimeError),
        (left, Status::RuntimeError),
        (Outcome::new(Exit::CompileError), Status::CompileError),
    ] {
        assert_eq!(judged(&problem, "p", outcome).0, status);
    }
    let printed = || Outcome { stderr: b"Assertion failed".to_vec(), ..returned() };
    assert_eq!(judged(&problem, "p", printed()).0, Status::Accepted);
    assert_eq!(judged(&appended("cpp", true), "p", printed()).0, Status::WrongAnswer);
    assert_eq!(judged(&appended("cpp", true), "p", returned()).0, Status::Accepted);
}

#[test]
fn a_long_of_cpp_has_64_bits_where_tests_have_numbers_beyond_32() {
    for (language, tests, program) in [
        ("cpp", "int main() { assert(f() == 125411328000); }", "long long f() { return 1LL; }"),
        ("cpp", "int main() { assert(f() == 288); }", "long f() { return 1L; }"),
        ("javascript", "assert(f() == 125411328000)", "long f() { return 1L; }"),
    ] {
        let checks = Checks::Appended(AppendedTests { source: tests.to_owned(), ..AppendedTests::default() });
        let problem = of_language(language, Problem::new("set/1", checks));
        let ends = Ends::with(Outcome::new(Exit::Returned));
        let request = ProblemRequest { image: language, ..request(&problem, "long f() { return 1L; }") };
        judge_program(&ends, &request).unwrap();
        assert_eq!(ends.jobs.lock().unwrap()[0].program, format!("{program}\n{tests}"), "{language} {tests}");
    }
}

#[test]
fn a_program_is_judged_in_the_image_of_its_language_alone() {
    let lines = Comparison::by("lines");
    let script = of_language("javascript", stdio_problem(&[("1", "2")], lines.clone()));
    let ends = Ends::with(Outcome { stdout: b"2\n".to_vec(), ..Outcome::new(Exit::Returned) });
    let on = |image| judge_program(&ends, &ProblemRequest { image, ..request(&script, "p") });
    assert_eq!(on("javascript").unwrap().status, Status::Accepted);
    assert!(on("python").unwrap_err().why.contains("do not run in the image `python`"));
    assert_eq!(ends.jobs.lock().unwrap()[0].program, "p");
    let row = |problem: &Problem| ProblemRow::Ready(problem.clone());
    assert!(check_image(&row(&script), "javascript").is_ok() && check_image(&row(&script), "cpp").is_err());
    let python = stdio_problem(&[("1", "2")], lines);
    assert!(check_image(&row(&python), "mine").is_ok() && check_image(&row(&python), "javascript").is_err());
}

#[test]
fn checks_that_need_python_are_refused_in_other_languages() {
    let script = stdio_problem(&[("1", "2")], Comparison::by("lines"));
    assert!(check_problem(&of_language("c", script.clone())).is_ok());
    let empty = Problem { checks: Checks::Appended(AppendedTests::default()), ..appended("cpp", false) };
    for (problem, why) in [
        (of_language("C++", script.clone()), "known are `cpp`"),
        (
            of_language("cpp", calls_problem(&[("1", "1")], Comparison::by("exact"))),
            "`stdio` cases or `appended` tests",
        ),
        (Problem { prelude: "import math".to_owned(), ..of_language("cpp", script) }, "no `prelude`"),
        (Problem { language: None, ..appended("cpp", false) }, "no `language`"),
        (empty, "no checks"),
    ] {
        let error = check_problem(&problem).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
