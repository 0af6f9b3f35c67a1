//! Jobs whose program is a module of their own: what it prints and ends as, what is refused, and that threads and processes agree.

use std::path::PathBuf;
use std::sync::OnceLock;

use proptest::prelude::*;
use veriplay_core::{Callee, Entry, Execute, ExecuteError, Exit, InteractionEnd, Interactor, Job, Limits, Outcome};
use veriplay_sandbox::{ModuleSandbox, SandboxOptions, WorkerProgram};

use crate::support::{end_of, text};
use crate::workers;

fn sandbox() -> &'static ModuleSandbox {
    static SANDBOX: OnceLock<ModuleSandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| ModuleSandbox::new(SandboxOptions::fastest()).expect("an engine"))
}

fn limits() -> Limits {
    Limits { fuel: 50_000_000, memory_bytes: 16 << 20, output_bytes: 4096, ..crate::support::limits() }
}

/// The import of a system call that gives a number.
fn call(name: &str, parameters: &str) -> String {
    format!("(import \"wasi_snapshot_preview1\" \"{name}\" (func ${name} (param {parameters}) (result i32)))")
}

/// A job of the module of these parts, which has a memory and the imports that its programs use.
fn job(parts: &str) -> Job {
    let imports =
        [call("fd_write", "i32 i32 i32 i32"), call("fd_read", "i32 i32 i32 i32"), call("random_get", "i32 i32")];
    let exit = "(import \"wasi_snapshot_preview1\" \"proc_exit\" (func $proc_exit (param i32)))";
    let memory = "(memory (export \"memory\") 1)";
    of_text(&format!("(module {} {exit} {memory} {parts})", imports.concat()))
}

fn of_text(module: &str) -> Job {
    Job { limits: limits(), seed: 7, ..Job::module(wat::parse_str(module).expect("it is WebAssembly text")) }
}

fn with_fuel(fuel: u64, module: &str) -> Job {
    Job { limits: Limits { fuel, ..limits() }, ..of_text(module) }
}

fn run(job: &Job) -> Outcome {
    sandbox().execute(job).expect("a job")
}

/// Reads up to 64 bytes and writes them twice.
const ECHO: &str = r#"
    (data (i32.const 0) "\10\00\00\00\40\00\00\00")
    (func $say (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
    (func (export "_start")
        (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (i32.store (i32.const 4) (i32.load (i32.const 8)))
        (call $say) (call $say))"#;

/// Programs, and how each ends.
fn programs() -> Vec<(Job, &'static str)> {
    let start = |body: &str| job(&format!("(func (export \"_start\") {body})"));
    vec![
        (Job { stdin: b"hello ".to_vec(), ..job(ECHO) }, "Returned"),
        (start("(call $proc_exit (i32.const 0))"), "Returned"),
        (start("(call $proc_exit (i32.const 3))"), "Raised exit_status"),
        (start("unreachable"), "Trapped trap"),
        (start("(drop (i32.div_u (i32.const 1) (i32.const 0)))"), "Trapped trap"),
        (start("(i32.store (i32.const 65536) (i32.const 1))"), "Trapped trap"),
        (start("(loop (br 0))"), "Fuel"),
        (start("(drop (memory.grow (i32.const 300)))"), "MemoryBytes"),
        (
            start("(loop (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 64) (i32.const 8))) (br 0))"),
            "Fuel",
        ),
        (
            job("(data (i32.const 0) \"\\00\\00\\00\\00\\00\\10\\00\\00\") (func (export \"_start\") \
              (loop (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br 0)))"),
            "OutputBytes",
        ),
        (job("(func $deep (call $deep)) (func (export \"_start\") (call $deep))"), "Trapped stack_overflow"),
        (
            job("(table funcref (elem $deep)) (func $deep (export \"_start\") (call_indirect (i32.const 0)))"),
            "Trapped stack_overflow",
        ),
        (start("(call $proc_exit (i32.const -1))"), "Raised exit_status"),
        (start("(loop (drop (memory.grow (i32.const 0))) (br 0))"), "Fuel"),
        (start("(loop (drop (memory.grow (i32.const 1))) (br 0))"), "MemoryBytes"),
        // One stretch, in which nothing but its own steps could end it.
        (start(&"(memory.fill (i32.const 0) (i32.const 1) (i32.const 65536))".repeat(20_000)), "Fuel"),
        // What the last call before its end did is paid for, too.
        (
            Job {
                limits: Limits { fuel: 100_000, ..limits() },
                ..start("(drop (memory.grow (i32.const 16))) (call $proc_exit (i32.const 0))")
            },
            "Fuel",
        ),
        // What an instance takes to make is paid for before anything runs.
        (with_fuel(1_000, "(module (memory (export \"memory\") 256) (func (export \"_start\")))"), "Fuel"),
        (
            with_fuel(5_000, "(module (memory (export \"memory\") 1) (table 2000 funcref) (func (export \"_start\")))"),
            "Fuel",
        ),
        (
            job("(func (export \"_start\") (drop (call $random_get (i32.const 0) (i32.const 8))) \
              (i32.store (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 8)) \
              (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 32))))"),
            "Returned",
        ),
        (of_text("(module (memory (export \"memory\") 1000) (func (export \"_start\")))"), "MemoryBytes"),
        (
            of_text(
                "(module (memory (export \"memory\") 1) (data (i32.const 65536) \"x\") (func (export \"_start\")))",
            ),
            "Trapped trap",
        ),
    ]
}

#[test]
fn a_module_is_run_as_a_command_and_ends_as_its_program_does() {
    let echoed = run(&Job { stdin: b"hello ".to_vec(), ..job(ECHO) });
    assert_eq!((text(&echoed.stdout).as_str(), echoed.exit_code), ("hello hello ", None));
    assert!(echoed.fuel > 0 && echoed.peak_memory_bytes == 65_536, "{echoed:?}");
    for (job, end) in programs() {
        assert_eq!(end_of(&run(&job)), end, "{job:?}");
    }
    let left = run(&job("(func (export \"_start\") (call $proc_exit (i32.const 3)))"));
    assert_eq!((left.exit, left.exit_code), (Exit::Raised, Some(3)));
}

/// A job that writes its argument list, in which each argument ends by a zero byte.
fn tells_arguments(arguments: &[&str]) -> Job {
    let imports = [call("args_sizes_get", "i32 i32"), call("args_get", "i32 i32"), call("fd_write", "i32 i32 i32 i32")];
    let module = format!(
        r#"(module {} (memory (export "memory") 1) (func (export "_start")
            (drop (call $args_sizes_get (i32.const 0) (i32.const 20)))
            (drop (call $args_get (i32.const 256) (i32.const 1024)))
            (i32.store (i32.const 16) (i32.const 1024))
            (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 32)))))"#,
        imports.concat()
    );
    let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
    Job { arguments, ..of_text(&module) }
}

#[test]
fn the_arguments_of_a_job_stand_behind_the_programs_name() {
    for (arguments, told) in
        [(Vec::new(), "program\0"), (vec!["input.txt", "", "two words"], "program\0input.txt\0\0two words\0")]
    {
        assert_eq!(text(&run(&tells_arguments(&arguments)).stdout), told);
    }
    let long = "x".repeat(Job::MOST_ARGUMENT_BYTES);
    assert_eq!(end_of(&run(&tells_arguments(&[&long]))), "OutputBytes");
    let python = Job { arguments: vec!["a".to_owned()], ..crate::support::script("pass") };
    for refused in [
        sandbox().execute(&tells_arguments(&["a\0b"])),
        sandbox().execute(&tells_arguments(&[&long, "x"])),
        crate::support::sandbox().execute(&python),
    ] {
        let Err(ExecuteError::BadJob(why)) = &refused else { panic!("{refused:?}") };
        assert!(why.contains("argument"), "{why}");
    }
}

/// Writes two bytes, and then what it reads at once.
const ASK: &str = r#"
    (data (i32.const 0) "\10\00\00\00\02\00\00\00") (data (i32.const 16) "ab")
    (func $say (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
    (func (export "_start")
        (call $say) (i32.store (i32.const 4) (i32.const 64))
        (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (i32.store (i32.const 4) (i32.load (i32.const 8))) (call $say))"#;

/// A job whose program talks with an interactor, of these parts.
fn talk(program: &str, interactor: &str) -> Job {
    let Job { module, .. } = job(interactor);
    let (program, of_interactor) = (job(program), String::new());
    let (files, arguments) = (Vec::new(), Vec::new());
    let limits = limits();
    let interactor = Interactor { image: None, program: of_interactor, module, files, arguments, limits, seed: 8 };
    Job { interactor: Some(interactor), ..program }
}

#[test]
fn two_modules_talk_in_turns_and_the_same_in_a_process() {
    let processes = ModuleSandbox::in_processes(SandboxOptions::fastest(), workers::program());
    let leaves = "(func (export \"_start\") (call $proc_exit (i32.const 3)))";
    let endless = "(func (export \"_start\") (loop (br 0)))";
    for (program, interactor, end, ends) in [
        (ASK, ECHO, InteractionEnd::Completed, ["Returned", "Returned"]),
        (ECHO, ECHO, InteractionEnd::Deadlock, ["Trapped interaction", "Trapped interaction"]),
        (ASK, leaves, InteractionEnd::InteractorFailed, ["Trapped interaction", "Raised exit_status"]),
        (leaves, ECHO, InteractionEnd::ProgramFailed, ["Raised exit_status", "Trapped interaction"]),
        (ASK, endless, InteractionEnd::InteractorFailed, ["Trapped interaction", "Fuel"]),
        (ASK, "", InteractionEnd::InteractorFailed, ["Trapped interaction", "CompileError module"]),
    ] {
        let job = talk(program, interactor);
        let outcome = run(&job);
        let of_other = outcome.interaction.as_deref().expect("an interaction");
        assert_eq!((of_other.end, [end_of(&outcome), end_of(&of_other.interactor)]), (end, ends.map(str::to_owned)));
        assert_eq!(processes.execute(&job).expect("a job"), outcome);
    }
    let outcome = run(&talk(ASK, ECHO));
    let of_other = outcome.interaction.as_deref().expect("an interaction");
    assert_eq!([text(&outcome.stdout), text(&of_other.interactor.stdout)], ["ababab", "abab"]);
    let of_text = Interactor { program: "p".to_owned(), ..talk(ASK, ECHO).interactor.expect("an interactor") };
    let mixed = Job { interactor: Some(of_text), ..job(ASK) };
    assert!(matches!(sandbox().execute(&mixed), Err(ExecuteError::BadJob(_))));
}

#[test]
fn a_module_has_the_same_outcome_in_a_process_each_time() {
    let options = SandboxOptions { max_parallel: 2, ..SandboxOptions::fastest() };
    let processes = ModuleSandbox::in_processes(options, workers::program());
    let told = tells_arguments(&["a", "b"]);
    assert_eq!(processes.execute(&told).expect("a job"), run(&told));
    for (job, _) in programs().iter().chain(&programs()) {
        assert_eq!(processes.execute(job).expect("a job"), run(job), "{job:?}");
    }
    let other = of_text("(module (memory (export \"memory\") 1))");
    assert_eq!(processes.execute(&other).expect("a job"), run(&other));
}

#[test]
fn a_module_that_cannot_run_does_not_compile_and_is_told_why() {
    let cases = [
        ("(module (func (export \"_start\")))", "exports no memory"),
        ("(module (memory (export \"memory\") i64 1) (func (export \"_start\")))", "64"),
        ("(module (memory (export \"memory\") 1) (memory 1) (func (export \"_start\")))", "multiple memories"),
        ("(module (memory (export \"memory\") 1))", "`_start`"),
        ("(module (memory (export \"memory\") 1) (func (export \"_start\") (param i32)))", "without parameters"),
        ("(module (memory (export \"memory\") 1) (func $s (export \"_start\")) (start $s))", "start function"),
        (
            "(module (import \"host\" \"call\" (func (param i32 i32 i32 i32) (result i32))) (memory (export \"memory\") 1) \
          (func (export \"_start\")))",
            "host::call",
        ),
        (
            "(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func)) (memory (export \"memory\") 1) \
          (func (export \"_start\")))",
            "fd_write",
        ),
        (
            "(module (import \"wasi_snapshot_preview1\" \"proc_spawn\" (func)) (memory (export \"memory\") 1) \
          (func (export \"_start\")))",
            "proc_spawn",
        ),
        ("(module (tag) (memory (export \"memory\") 1) (func (export \"_start\")))", "exceptions"),
        (
            "(module (import \"env\" \"memory\" (memory 1)) (export \"memory\" (memory 0)) (func (export \"_start\")))",
            "memory `env.memory`",
        ),
        (
            "(module (memory (export \"memory\") 1) (func (export \"__veriplay_fuel\")) (func (export \"_start\")))",
            "__veriplay_fuel",
        ),
    ];
    for (module, why) in cases {
        let outcome = run(&of_text(module));
        let error = outcome.error.as_ref().expect("an error");
        assert!(outcome.exit == Exit::CompileError && error.message.contains(why), "{module}: {outcome:?}");
    }
    let mut invalid =
        wat::parse_str("(module (memory (export \"memory\") 1) (func (export \"_start\")))").expect("text");
    let at = invalid.len() - 2;
    invalid[at] = 0xff;
    for bytes in [invalid, b"\0asm".to_vec(), Vec::new(), vec![0; 100 << 20]] {
        assert_eq!(run(&Job { limits: limits(), ..Job::module(bytes) }).exit, Exit::CompileError);
    }
}

#[test]
fn a_job_that_no_module_can_have_is_refused() {
    let plain = job(ECHO);
    let calls = Entry::Calls { function: "f".to_owned(), arguments: Vec::new() };
    for job in [
        Job { module: None, ..plain.clone() },
        Job { program: "print(1)".to_owned(), ..plain.clone() },
        Job { entry: calls, ..plain.clone() },
        Job { callee: Some(Callee::default()), ..plain.clone() },
    ] {
        assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))), "{job:?}");
    }
    let python = Job { image: "python".to_owned(), ..plain };
    assert!(matches!(sandbox().execute(&python), Err(ExecuteError::UnknownImage(_))));
}

/// How a job ends that leaves with the error number of opening a path.
fn end_of_opening(path: &str) -> Exit {
    let length = path.len();
    let module = format!(
        r#"(module {} (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
        (memory (export "memory") 1) (data (i32.const 64) "{path}")
        (func (export "_start") (call $proc_exit (call $path_open (i32.const 3) (i32.const 1) (i32.const 64)
            (i32.const {length}) (i32.const 0) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 0)))))"#,
        call("path_open", "i32 i32 i32 i32 i32 i64 i64 i32 i32")
    );
    run(&Job { files: vec![("given.txt".to_owned(), b"given".to_vec())], ..of_text(&module) }).exit
}

#[test]
fn no_path_leads_out_of_the_files_of_a_job() {
    assert_eq!(end_of_opening("work/given.txt"), Exit::Returned);
    for path in ["/etc/passwd", "etc/passwd", "../../etc/passwd", "work/../../../etc/passwd", "proc/self/environ", ""] {
        assert_eq!(end_of_opening(path), Exit::Raised, "{path}");
    }
}

/// A sandbox whose workers are a script of the shell, which has the socket as its standard input.
fn scripted(script: &str) -> ModuleSandbox {
    let arguments = vec!["-c".into(), script.into()];
    let program = WorkerProgram { program: "/bin/sh".into(), arguments, cache_dir: PathBuf::new() };
    ModuleSandbox::in_processes(SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() }, program)
}

#[test]
fn a_worker_that_dies_as_it_starts_is_a_fault_of_the_host_and_as_it_compiles_one_of_the_module() {
    let started = scripted("kill -SEGV $$").execute(&job(ECHO));
    assert!(matches!(started, Err(ExecuteError::Host(_))), "{started:?}");
    let compiling = r#"head -c 4 >/dev/null; printf '\013\000\000\000"Compiling"' >&0; kill -SEGV $$"#;
    assert_eq!(end_of(&scripted(compiling).execute(&job(ECHO)).expect("an outcome")), "Trapped worker_crash");
}

#[test]
fn a_worker_of_a_module_has_no_more_than_20_gib_of_addresses() {
    let processes = ModuleSandbox::in_processes(SandboxOptions::fastest(), workers::program_named("bounded"));
    assert_eq!(end_of(&processes.execute(&job(ECHO)).expect("a job")), "Returned");
    let worker = *workers::workers("bounded").first().expect("it waits for further jobs of its module");
    let limits = std::fs::read_to_string(format!("/proc/{worker}/limits")).expect("a process has limits");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space")).expect("one is on addresses");
    let most = line.split_whitespace().next().and_then(|most| most.parse::<u64>().ok());
    assert!(most.is_some_and(|most| most <= 20 << 30), "{line}");
}

#[test]
fn nothing_of_a_job_is_left_for_the_next_of_its_module() {
    let counts = job(r#"(func (export "_start")
        (i32.store8 (i32.const 100) (i32.add (i32.load8_u (i32.const 100)) (i32.const 49)))
        (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 1))
        (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))"#);
    let first = run(&counts);
    assert_eq!(text(&first.stdout), "1");
    assert_eq!(run(&counts), first);
}

/// Any program that is a module with the exports and some of the imports that one may have.
fn any_program(bytes: &[u8]) -> Option<Vec<u8>> {
    let parse = |text: &str| wat::parse_str(text).expect("it is WebAssembly text");
    let imports = r#"(module
        (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "path_open" (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "poll_oneoff" (func (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))"#;
    let config = wasm_smith::Config {
        available_imports: Some(parse(imports)),
        exports: Some(parse("(module (memory (export \"memory\") 1 4) (func (export \"_start\")))")),
        max_imports: 5,
        max_memories: 1,
        allow_start_export: false,
        gc_enabled: false,
        memory64_enabled: false,
        threads_enabled: false,
        shared_everything_threads_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        custom_descriptors_enabled: false,
        relaxed_simd_enabled: false,
        exceptions_enabled: false,
        extended_const_enabled: false,
        ..wasm_smith::Config::default()
    };
    Some(wasm_smith::Module::new(config, &mut arbitrary::Unstructured::new(bytes)).ok()?.to_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_module_has_one_outcome_wherever_it_runs(bytes in prop::collection::vec(any::<u8>(), 256..4096)) {
        static PROCESSES: OnceLock<ModuleSandbox> = OnceLock::new();
        let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
        let processes = PROCESSES.get_or_init(|| ModuleSandbox::in_processes(options, workers::program()));
        if let Some(module) = any_program(&bytes) {
            let job = Job { limits: Limits { fuel: 1_000_000, ..limits() }, seed: 7, ..Job::module(module) };
            let outcome = run(&job);
            prop_assert_eq!(&run(&job), &outcome);
            prop_assert_eq!(&processes.execute(&job).expect("a job"), &outcome);
        }
    }
}
