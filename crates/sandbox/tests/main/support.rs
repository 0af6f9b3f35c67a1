//! The one Python image all tests share, and short ways to write jobs.

use std::sync::{Arc, OnceLock};

use veriplay_core::{CallResult, EncodeCaps, Entry, Execute, Job, Limits, Outcome, Value};
use veriplay_sandbox::{Image, ImageSpec, ImageStore, Sandbox, SandboxOptions, WheelSource, default_cache_dir};

/// The Python image: from this user's cache, built on first use.
pub(crate) fn python() -> Arc<Image> {
    static IMAGE: OnceLock<Arc<Image>> = OnceLock::new();
    let load = || {
        let store = ImageStore::open(&default_cache_dir().unwrap()).unwrap();
        store.load_or_build(&ImageSpec::python(), &WheelSource::from_env(), &|_| {}).unwrap()
    };
    Arc::clone(IMAGE.get_or_init(load))
}

/// The sandbox most tests share.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(python(), SandboxOptions::fastest()).unwrap())
}

/// Limits that no honest test program meets, and that a runaway one meets soon.
pub(crate) fn limits() -> Limits {
    Limits {
        fuel: 400_000_000,
        memory_bytes: 256 << 20,
        output_bytes: 64 << 10,
        file_bytes: 1 << 20,
        deadline_ns: 120_000_000_000,
    }
}

pub(crate) fn script(program: &str) -> Job {
    Job {
        image: "python".to_owned(),
        program: program.to_owned(),
        entry: Entry::Script,
        stdin: Vec::new(),
        files: Vec::new(),
        limits: limits(),
        seed: 7,
    }
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
    match outcome.calls.as_slice() {
        [CallResult::Returned(bytes)] => Value::decode(bytes, EncodeCaps::with_bytes(1 << 20)).unwrap(),
        other => panic!("{other:?} {outcome:?}"),
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
