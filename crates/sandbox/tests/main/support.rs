//! The one Python image all tests share, images that npm brings, short ways to write jobs, and files of cases.

#[path = "../../../../tests/src/external.rs"]
#[expect(dead_code, unreachable_pub, reason = "other tests use it, and the rest of it")]
mod external;

use std::sync::{Arc, OnceLock};

use veriplay_core::{CallResult, Entry, Execute, Exit, Job, Limits, Outcome, Value};
use veriplay_sandbox::{Image, ImageError, ImageSpec, ImageStore, Sandbox, SandboxOptions, default_cache_dir};

/// The Python image: from this user's cache, built on first use.
pub(crate) fn python() -> Arc<Image> {
    // A failure is kept too: every test then says why, and nobody compiles the interpreter a second time.
    static IMAGE: OnceLock<Result<Arc<Image>, String>> = OnceLock::new();
    let load = || Image::python().map_err(|error| format!("{error}; hint: {:?}", error.hint()));
    IMAGE.get_or_init(load).clone().unwrap()
}

/// The sandbox most tests share.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(python(), SandboxOptions::fastest()))
}

/// The image of this name, built on first use; `None` where npm brings no package, and the test is skipped.
pub(crate) fn open_image(name: &str) -> Option<Arc<Image>> {
    let open = || ImageStore::open(&default_cache_dir()?)?.load_or_build(&ImageSpec::builtin(name)?, &|_| {});
    open().inspect_err(report_skipped).ok()
}

/// Panics where the error is not that npm brings no package.
fn report_skipped(error: &ImageError) {
    let is_missing = matches!(error, ImageError::NpmMissing { .. } | ImageError::NpmFailed { .. });
    let may_skip = is_missing && std::env::var_os("VERIPLAY_REQUIRE_NPM").is_none();
    assert!(may_skip, "{error}; hint: {:?}", error.hint());
    external::report_skipped(&error.to_string());
}

/// Limits that no honest test program meets, and that a runaway one meets soon.
pub(crate) fn limits() -> Limits {
    Limits {
        fuel: 400_000_000,
        memory_bytes: 256 << 20,
        output_bytes: 64 << 10,
        file_bytes: 1 << 20,
        deadline_ns: 300_000_000_000,
    }
}

pub(crate) fn script(program: &str) -> Job {
    Job { limits: limits(), seed: 7, ..Job::script(program) }
}

/// One call of `f` for each argument list.
pub(crate) fn calls(program: &str, arguments: Vec<Vec<Value>>) -> Job {
    Job { entry: Entry::Calls { function: "f".to_owned(), arguments }, ..script(program) }
}

pub(crate) fn run(job: &Job) -> Outcome {
    sandbox().execute(job).unwrap()
}

/// The one value `f()` returns.
pub(crate) fn value_of(program: &str) -> Value {
    let outcome = run(&calls(program, vec![vec![]]));
    outcome.value().unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// The kind of the error the one call of `f()` ended with.
pub(crate) fn error_of(program: &str) -> String {
    let outcome = run(&calls(program, vec![vec![]]));
    match outcome.calls.as_slice() {
        [CallResult::Raised(error)] => error.kind.clone(),
        [CallResult::Unencodable(_)] => "no encoding".to_owned(),
        _ => panic!("{outcome:?}"),
    }
}

/// The end of a job in a word, with the error's kind where there is one: `Fuel`, `Returned`, `Raised KeyError`.
pub(crate) fn end_of(outcome: &Outcome) -> String {
    match (&outcome.exit, &outcome.error) {
        (Exit::Exceeded { limit, .. }, None) => format!("{limit:?}"),
        (exit, Some(error)) => format!("{exit:?} {}", error.kind),
        (exit, None) => format!("{exit:?}"),
    }
}

/// Runs a script; its end, and then a plain job on the same sandbox, to see that that one is as ever.
pub(crate) fn ends_and_harms_nobody(job: &Job) -> String {
    static PLAIN: OnceLock<Outcome> = OnceLock::new();
    let plain = script("print(sum(range(10)))");
    let expected = PLAIN.get_or_init(|| run(&plain));
    assert_eq!(text(&expected.stdout), "45\n");
    let ended = end_of(&run(job));
    assert_eq!(&run(&plain), expected);
    ended
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A case of a data file: a line `=== TITLE`, a program, and parts behind lines `--- NAME`. Lines that begin with `## ` are comments.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) program: String,
    parts: Vec<(String, String)>,
}

impl Case {
    /// A part, which ends with a newline.
    pub(crate) fn part(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Checks the outcome of a script by the parts `stdout` (exact), `stderr` and `message` (contained), `end` and `status`.
    pub(crate) fn check(&self, outcome: &Outcome) {
        let part = |name: &str| self.part(name).unwrap_or_default();
        let end = self.part("end").map_or("Returned", str::trim);
        assert_eq!(end_of(outcome), end, "{}: {outcome:?}", self.title);
        if outcome.exit != Exit::CompileError {
            assert_eq!(text(&outcome.stdout), part("stdout"), "{}", self.title);
        }
        assert!(text(&outcome.stderr).contains(part("stderr").trim()), "{}: {outcome:?}", self.title);
        let message = outcome.error.as_ref().map_or("", |error| error.message.as_str());
        assert!(message.contains(part("message").trim()), "{}: {message}", self.title);
        if let Some(status) = self.part("status") {
            let found = outcome.exit_code.map(|code| code.to_string());
            assert_eq!(found.as_deref(), Some(status.trim()), "{}", self.title);
        }
    }
}

pub(crate) fn cases(data: &str) -> Vec<Case> {
    let lines: Vec<&str> = data.lines().filter(|line| !line.starts_with("## ")).collect();
    let cases: Vec<Case> = format!("\n{}", lines.join("\n")).split("\n===").skip(1).map(read_case).collect();
    assert!(!cases.is_empty(), "a file without cases");
    cases
}

fn read_case(text: &str) -> Case {
    let mut parts = text.split("\n--- ").filter_map(|part| part.split_once('\n'));
    let (title, program) = parts.next().unwrap();
    let parts = parts.map(|(name, text)| (name.to_owned(), text.trim_end_matches('\n').to_owned() + "\n"));
    Case { title: title.trim().to_owned(), program: program.trim_end_matches('\n').to_owned(), parts: parts.collect() }
}
