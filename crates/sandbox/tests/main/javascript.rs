//! Jobs in JavaScript and TypeScript: the cases of the images, what ends a program, what such a job cannot have. Without npm and without its package
//! the tests are skipped, unless `VERIPLAY_REQUIRE_NPM` is set.

use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;
use veriplay_core::{
    CallResult, Callee, Entry, Execute, ExecuteError, Exit, InteractionEnd, Interactor, Job, LimitKind, Limits,
    Outcome, Preload, Value,
};
use veriplay_image_javascript::{CASES, TYPESCRIPT_CASES};
use veriplay_sandbox::{Image, Layers, ModuleSandbox, Sandbox, SandboxOptions};

use crate::support::{calls, end_of, limits, open_image, python, run, sandbox as python_sandbox, script, text};
use crate::workers::program as worker_program;

/// The JavaScript image, built on first use; `None` where npm brings no package.
fn image() -> Option<Arc<Image>> {
    static IMAGE: OnceLock<Option<Arc<Image>>> = OnceLock::new();
    IMAGE.get_or_init(|| open_image("javascript")).clone()
}

/// A sandbox of the TypeScript image, likewise.
fn typescript() -> Option<Sandbox> {
    open_image("typescript").map(|image| Sandbox::new(image, SandboxOptions::fastest()))
}

fn sandbox() -> Option<Sandbox> {
    image().map(|image| Sandbox::new(image, SandboxOptions::fastest()))
}

fn in_javascript(job: Job) -> Job {
    Job { image: "javascript".to_owned(), ..job }
}

/// A case of an image's files: its header, and its program.
struct Case {
    image: &'static str,
    header: Json,
    program: String,
}

impl Case {
    fn all() -> Vec<Self> {
        let cases = Self::read("javascript", CASES);
        assert!(cases.len() > 100, "{} cases", cases.len());
        cases
    }

    fn read(image: &'static str, files: &[(&str, &str)]) -> Vec<Self> {
        let mut cases: Vec<Self> = Vec::new();
        for line in files.iter().flat_map(|(_, text)| text.split('\n')) {
            if let Some(header) = line.strip_prefix("//! ") {
                cases.push(Self { image, header: serde_json::from_str(header).unwrap(), program: String::new() });
            } else if let Some(case) = cases.last_mut() {
                case.program += line;
                case.program.push('\n');
            }
        }
        cases
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.header.get(key).map(|text| text.as_str().unwrap())
    }

    fn job(&self) -> Job {
        let number = |key: &str| self.header.get(key).map(|number| number.as_u64().unwrap());
        let files = self.header.get("files").and_then(Json::as_object).into_iter().flatten();
        let limits = Limits { fuel: 200_000_000_000, output_bytes: number("cap").unwrap_or(64 << 10), ..limits() };
        let program =
            self.text("program").map_or_else(|| self.program.trim_matches('\n').to_owned() + "\n", str::to_owned);
        let entry = self.text("entry").map_or(Entry::Script, |function| {
            let Value::List(lists) = literal(self.text("arguments").unwrap_or("[()]")) else { panic!("no list") };
            let arguments = lists.into_iter().map(|list| match list {
                Value::Tuple(list) => list,
                other => vec![other],
            });
            Entry::Calls { function: function.to_owned(), arguments: arguments.collect() }
        });
        Job {
            image: self.image.to_owned(),
            entry,
            limits,
            seed: number("seed").unwrap_or(0),
            // One of them sleeps for days.
            sleep_fuel: 0,
            stdin: self.text("stdin").unwrap_or_default().as_bytes().to_vec(),
            files: files.map(|(path, text)| (path.clone(), text.as_str().unwrap().as_bytes().to_vec())).collect(),
            ..script(&program)
        }
    }

    /// What is wrong with an outcome.
    fn faults(&self, outcome: &Outcome) -> Vec<String> {
        let mut faults = Vec::new();
        let exit = exit_of(outcome);
        if !fits(&exit, self.text("exit").unwrap_or("returned")) {
            faults.push(format!("exit `{exit}`"));
        }
        if self.text("stdout").is_some_and(|wanted| wanted != text(&outcome.stdout)) {
            faults.push(format!("stdout {:?}", text(&outcome.stdout)));
        }
        if self.text("stderr").is_some_and(|wanted| !text(&outcome.stderr).contains(wanted)) {
            faults.push(format!("stderr {:?}", text(&outcome.stderr)));
        }
        let Some(results) = self.header.get("results").and_then(Json::as_array) else { return faults };
        if results.len() != outcome.calls.len() {
            faults.push(format!("{} results", outcome.calls.len()));
        }
        let pairs = results.iter().map(|wanted| wanted.as_str().unwrap()).zip(&outcome.calls);
        faults.extend(pairs.filter(|(wanted, found)| !is_result(wanted, found)).map(|pair| format!("{pair:?}")));
        faults
    }
}

/// What a literal of Python stands for, the names `nan` and `inf` included.
fn literal(text: &str) -> Value {
    let program = "def f(text): return eval(text, {'nan': float('nan'), 'inf': float('inf')})";
    run(&calls(program, vec![vec![Value::str(text)]])).value().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Whether a text is the wanted one, or begins as it says before `…`.
fn fits(found: &str, wanted: &str) -> bool {
    wanted.strip_suffix('…').map_or(found == wanted, |start| found.starts_with(start))
}

fn is_result(wanted: &str, found: &CallResult) -> bool {
    match (wanted.strip_prefix("raised "), wanted.strip_prefix("unencodable "), found) {
        (Some(error), _, CallResult::Raised(found)) => fits(&found.to_string(), error),
        (_, Some(what), CallResult::Unencodable(found)) => found == what,
        (None, None, CallResult::Returned(bytes)) => *bytes == literal(wanted).encode(),
        _ => false,
    }
}

/// How a job ended, in the words of the cases.
fn exit_of(outcome: &Outcome) -> String {
    let error = outcome.error.as_ref().map(ToString::to_string).unwrap_or_default();
    let message = outcome.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
    match outcome.exit {
        Exit::Returned => "returned".to_owned(),
        Exit::Raised => format!("raised {error}"),
        Exit::CompileError => format!("compile_error {message}"),
        Exit::MissingEntry => format!("missing_entry {message}"),
        Exit::Trapped => format!("trapped: {message}"),
        Exit::Exceeded { limit: LimitKind::MemoryBytes, .. } => "exceeded memory_bytes".to_owned(),
        Exit::Exceeded { limit: LimitKind::OutputBytes, .. } => "trapped: output exceeded".to_owned(),
        Exit::Exceeded { limit, .. } => format!("exceeded {limit:?}"),
    }
}

#[test]
fn every_case_of_the_image_has_its_results_each_time() {
    let Some(sandbox) = sandbox() else { return };
    check_cases(&sandbox, &Case::all());
}

#[test]
fn every_case_of_typescript_has_its_results_each_time() {
    let Some(sandbox) = typescript() else { return };
    let cases = Case::read("typescript", TYPESCRIPT_CASES);
    assert!(cases.len() > 30, "{} cases", cases.len());
    check_cases(&sandbox, &cases);
}

/// From the third time on a job starts behind the compilation of its program.
fn check_cases(sandbox: &Sandbox, cases: &[Case]) {
    let mut faults = Vec::new();
    for case in cases {
        let job = case.job();
        let outcomes: Vec<Outcome> = (0..3).map(|_| sandbox.execute(&job).unwrap()).collect();
        let name = case.text("name").unwrap_or_default();
        faults.extend(case.faults(&outcomes[0]).into_iter().map(|fault| format!("{name}: {fault}")));
        let differs = outcomes.iter().any(|outcome| *outcome != outcomes[0]);
        faults.extend(differs.then(|| format!("{name}: another outcome the second or third time: {outcomes:?}")));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_text_that_the_translator_cannot_hold_does_not_compile() {
    let Some(sandbox) = typescript() else { return };
    let program = format!("let a: number = {}1;", "(".repeat(100_000));
    let limits = Limits { fuel: 1 << 40, ..limits() };
    let outcome = sandbox.execute(&Job { image: "typescript".to_owned(), limits, ..script(&program) }).unwrap();
    assert_eq!(exit_of(&outcome), "compile_error RangeError: Maximum call stack size exceeded");
}

#[test]
fn a_job_has_the_same_outcome_in_a_process() {
    let (Some(image), Some(sandbox)) = (image(), sandbox()) else { return };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let processes = Sandbox::in_processes(image, options, worker_program()).unwrap();
    for case in Case::all().iter().step_by(6) {
        let job = case.job();
        assert_eq!(processes.execute(&job).unwrap(), sandbox.execute(&job).unwrap(), "{}", job.program);
    }
}

#[test]
fn a_program_ends_at_each_limit_and_harms_nobody() {
    let Some(sandbox) = sandbox() else { return };
    let plain = in_javascript(script("console.log([1, 2].map(x => x * 2).join())"));
    let expected = sandbox.execute(&plain).unwrap();
    assert_eq!(text(&expected.stdout), "2,4\n");
    let patient = Limits { fuel: 1 << 50, ..limits() };
    let hurried = Limits { deadline_ns: 1, ..patient };
    for (program, limits, end) in [
        ("for (;;);", limits(), "Fuel"),
        ("const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))", patient, "MemoryBytes"),
        ("for (;;) console.log('x'.repeat(1000))", patient, "OutputBytes"),
        ("for (;;);", hurried, "DeadlineNs"),
        ("const f = () => 1 + f(); f()", patient, "Raised RangeError"),
        ("Promise.reject(new TypeError('late'))", limits(), "Raised TypeError"),
        ("try { process.exit(3) } finally { for (;;); }", limits(), "Raised SystemExit"),
        ("process.exit(0)", limits(), "Returned"),
        ("import 'fs'", limits(), "CompileError CompileError"),
    ] {
        let outcome = sandbox.execute(&Job { limits, ..in_javascript(script(program)) }).unwrap();
        assert_eq!(end_of(&outcome), end, "{program}: {outcome:?}");
        assert_eq!(outcome.exit_code, program.contains("exit(3)").then_some(3), "{program}");
        assert_eq!(sandbox.execute(&plain).unwrap(), expected, "after {program}");
    }
}

#[test]
fn what_the_host_does_for_a_program_is_paid_for() {
    let Some(sandbox) = sandbox() else { return };
    // It sleeps for a thousand seconds, at most.
    let sleeping = in_javascript(script("setTimeout(() => {}, 1_000_000)"));
    let fuel = |sleep_fuel: u64| sandbox.execute(&Job { sleep_fuel, ..sleeping.clone() }).unwrap().fuel;
    let paid = fuel(100_000) - fuel(0);
    assert!((99_000_000..=100_000_000).contains(&paid), "{paid} units for 1,000 seconds at 100,000 each");
}

#[test]
fn standard_input_and_files_are_read() {
    let Some(sandbox) = sandbox() else { return };
    let program =
        "const fs = require('fs'); console.log(fs.readFileSync(0, 'utf8').length, fs.readFileSync('a/b.txt', 'utf8'))";
    let files = vec![("a/b.txt".to_owned(), "é".into())];
    let job = in_javascript(Job { stdin: vec![b'x'; 200_000], files, ..script(program) });
    assert_eq!(text(&sandbox.execute(&job).unwrap().stdout), "200000 é\n");
}

#[test]
fn two_programs_read_what_the_other_one_writes() {
    let Some(sandbox) = sandbox() else { return };
    let lines = "const lines = require('readline').createInterface({ input: process.stdin });\n";
    let program =
        format!("{lines}console.log('3'); lines.on('line', line => {{ console.log('got ' + line); lines.close(); }});");
    let interactor =
        format!("{lines}lines.on('line', line => {{ if (line === '3') console.log(2 * line); else lines.close(); }});");
    let interactor = Some(interactor_of(&interactor, limits()));
    let job = in_javascript(Job { interactor, ..script(&program) });
    let outcome = sandbox.execute(&job).unwrap();
    assert_eq!(text(&outcome.stdout), "3\ngot 6\n", "{outcome:?}");
    let interaction = outcome.interaction.as_ref().unwrap();
    assert_eq!((interaction.end, text(&interaction.interactor.stdout)), (InteractionEnd::Completed, "6\n".to_owned()));
    assert_eq!(sandbox.execute(&job).unwrap(), outcome);
}

fn interactor_of(program: &str, limits: Limits) -> Interactor {
    let program = program.to_owned();
    Interactor { image: None, program, module: None, files: Vec::new(), arguments: Vec::new(), limits, seed: 8 }
}

/// Reads a line at a time, as contest programs on Node do.
const READS: &str = "const fs = require('fs'), one = Buffer.alloc(1);\n\
    const read = () => { let s = ''; while (fs.readSync(0, one) && one[0] !== 10) s += String.fromCharCode(one[0]); return s; };\n";

/// More rounds than any task has.
#[test]
fn a_program_that_reads_line_by_line_plays_a_thousand_rounds() {
    let Some(sandbox) = sandbox() else { return };
    let program = format!(
        "{READS}let n = 0; for (let i = 0; i < 1000; i++) {{ console.log(n); n = +read(); }} console.log('end', n);"
    );
    let answers = format!("{READS}for (let line; !(line = read()).startsWith('end'); ) console.log(+line + 1);");
    let limits = Limits { fuel: 100_000_000_000, ..limits() };
    let job = in_javascript(Job { limits, interactor: Some(interactor_of(&answers, limits)), ..script(&program) });
    let outcome = sandbox.execute(&job).unwrap();
    assert!(text(&outcome.stdout).ends_with("\n999\nend 1000\n"), "{outcome:?}");
    assert_eq!(outcome.interaction.as_ref().unwrap().end, InteractionEnd::Completed);
    let silent = Job { interactor: Some(interactor_of(&format!("{READS}read(); read();"), limits)), ..job };
    assert_eq!(sandbox.execute(&silent).unwrap().interaction.unwrap().end, InteractionEnd::Deadlock);
}

/// The interactor and the program of `guess.py` and `guesser.py`.
const GUESS: &str = "const secret = +fs.readFileSync('input.txt', 'utf8');\n\
    for (let i = 0; i < 11; i++) {\n\
        const [word, number] = read().split(' ');\n\
        if (word === '!') process.exit(+number === secret ? 0 : 1);\n\
        console.log(secret < +number ? '<' : '>=');\n\
    }\n\
    process.exit(2);";
const GUESSER: &str = "let low = 1, high = 100;\n\
    while (low < high) {\n\
        const middle = (low + high + 1) >> 1;\n\
        console.log('? ' + middle);\n\
        if (read() === '<') high = middle - 1; else low = middle;\n\
    }\n\
    console.log('! ' + low);";
/// Programs that look for the secret, and guess 7 where they do not find it.
const PEEK: &str = "let seen = '7'; try { seen = fs.readFileSync('input.txt', 'utf8'); } catch {}\nconsole.log('! ' + parseInt(seen));";
const PEEK_IN_PYTHON: &str = "import os\n\
    seen = [open(path).read() for path in ('input.txt', '/work/input.txt', '/proc/self/mem') if os.path.exists(path)]\n\
    print('!', 42 if seen else 7)";

/// A job in one image, whose interactor is in the other.
fn mixed(program: [&str; 2], interactor: [&str; 2]) -> Job {
    let ([image, program], [other_image, interactor]) = (program, interactor);
    let interactor = Interactor {
        image: Some(other_image.to_owned()),
        files: vec![("input.txt".to_owned(), b"42\n".to_vec())],
        ..interactor_of(interactor, limits())
    };
    Job { image: image.to_owned(), interactor: Some(interactor), ..script(program) }
}

#[test]
fn programs_in_python_and_javascript_play_with_interactors_in_the_other_one() {
    let Some(image) = image() else { return };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let images = vec![python(), image];
    let threads = ModuleSandbox::new(options).unwrap().with_images(images.clone());
    let processes = ModuleSandbox::in_processes(options, worker_program()).with_images(images);
    let [js, py] = ["javascript", "python"];
    let [guess, guesser, peek] = [GUESS, GUESSER, PEEK].map(|program| format!("{READS}{program}"));
    let [guess_py, guesser_py] = [include_str!("guess.py"), include_str!("guesser.py")];
    let (won, lost) = (InteractionEnd::Completed, InteractionEnd::InteractorFailed);
    for (program, interactor, end, said) in [
        ([py, guesser_py], [js, guess.as_str()], won, "! 42\n"),
        ([js, guesser.as_str()], [py, guess_py], won, "! 42\n"),
        ([js, peek.as_str()], [py, guess_py], lost, "! 7\n"),
        ([py, PEEK_IN_PYTHON], [js, guess.as_str()], lost, "! 7\n"),
        ([py, "input()"], [js, guess.as_str()], InteractionEnd::Deadlock, ""),
        ([js, "require('fs').readSync(0, Buffer.alloc(1))"], [py, guess_py], InteractionEnd::Deadlock, ""),
        ([py, "1 / 0"], [js, guess.as_str()], InteractionEnd::ProgramFailed, ""),
        ([py, guesser_py], [js, "let let"], lost, ""),
    ] {
        let job = mixed(program, interactor);
        let outcome = threads.execute(&job).unwrap();
        assert_eq!(outcome.interaction.as_ref().unwrap().end, end, "{program:?}: {outcome:?}");
        assert!(text(&outcome.stdout).ends_with(said), "{program:?}: {outcome:?}");
        assert_eq!(threads.execute(&job).unwrap(), outcome, "{program:?}");
        assert_eq!(processes.execute(&job).unwrap(), outcome, "{program:?}");
    }
    let job = mixed([py, guesser_py], [js, guess.as_str()]);
    let alone = Job { interactor: None, ..job.clone() };
    assert!(matches!(python_sandbox().execute(&job), Err(ExecuteError::UnknownImage(name)) if name == js));
    assert!(matches!(threads.execute(&alone), Err(ExecuteError::UnknownImage(name)) if name == py));
}

#[test]
fn a_job_that_wants_what_javascript_does_not_have_is_refused() {
    let Some(sandbox) = sandbox() else { return };
    let plain = in_javascript(script(""));
    let preload = Preload { program: String::new(), function: "f".to_owned(), arguments: Vec::new() };
    let callee = Callee {
        program: String::new(),
        seed: 0,
        shares_objects: false,
        hidden: Vec::new(),
        only: None,
        files: Vec::new(),
    };
    let object = literal("__import__('fractions').Fraction(1, 2)");
    let arguments = vec![vec![Value::List(vec![object])]];
    for (job, word) in [
        (Job { preload: Some(preload), ..plain.clone() }, "neither a preload nor a callee"),
        (Job { callee: Some(callee), ..plain.clone() }, "neither a preload nor a callee"),
        (in_javascript(calls("const f = x => x", arguments)), "arguments of plain values"),
    ] {
        let refused = sandbox.execute(&job);
        assert!(matches!(&refused, Err(ExecuteError::BadJob(why)) if why.contains(word)), "{refused:?}");
    }
    let error = sandbox.image().warm_up("warm", &plain, &Layers::default()).unwrap_err();
    assert!(error.to_string().contains("is no image of Python"), "{error}");
}
