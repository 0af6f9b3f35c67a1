//! Jobs: untrusted programs to run.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Digest, LayerStack, Limits, Value, content_hash};

/// An untrusted program to run, with its inputs and limits. A job carries no expected value, because its program may read everything in
/// it. The exceptions are a job with a [`callee`](Job::callee), of which only the callee is untrusted, and it sees nothing but the arguments
/// of its calls; and the files of an [`interactor`](Job::interactor), which the program does not see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the image it runs in, such as `python`.
    pub image: String,
    /// Source text of the program; empty where it is a module.
    pub program: String,
    /// The program of a job of the image `wasm`, and of no other: a module for wasm32-wasip1 that is run as a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<WasmModule>,
    /// Whether it runs as a script, or functions of it are called.
    pub entry: Entry,
    /// What the program reads from standard input.
    pub stdin: Vec<u8>,
    /// Files in the program's working directory, as relative path and content. They hide files of the same path in `base`.
    pub files: Vec<(String, Vec<u8>)>,
    /// What its argument list has behind the program's name, where the program is a module or is compiled to one; empty for others. Together they
    /// have at most [`Job::MOST_ARGUMENT_BYTES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The resources it may use.
    pub limits: Limits,
    /// The fuel that a second of sleep costs, so that a sleep beyond a time limit meets it.
    #[serde(default = "default_sleep_fuel", skip_serializing_if = "is_default_sleep_fuel")]
    pub sleep_fuel: u64,
    /// The most fuel that compiling the program may take, where that is less than the compiler's own limit. Images that compile nothing ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_fuel: Option<u64>,
    /// Seeds the guest's random source, its hash seed where the image allows it, and its virtual clock.
    pub seed: u64,
    /// What runs before the program, and is the same for many jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preload: Option<Preload>,
    /// A second program in an instance of its own. This one may call its functions with plain values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<Callee>,
    /// A second script in an instance of its own, which the program, a script too, talks with over standard input and output. Such a job has
    /// neither `stdin`, a preload nor a callee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interactor: Option<Interactor>,
    /// Layers of files that it shares with other jobs. Its callee sees them too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<LayerStack>,
    /// Files to return afterwards, as paths relative to the working directory; see [`crate::Outcome::fetched`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
}

/// A WebAssembly module in its binary format, or what claims to be one. The bytes are shared, so that jobs of one program are cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub struct WasmModule(Arc<[u8]>);

impl WasmModule {
    /// The name of the image whose jobs are modules.
    pub const IMAGE: &'static str = "wasm";

    /// Its bytes, which nobody has checked.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The content hash of its bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

impl From<Vec<u8>> for WasmModule {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<WasmModule> for Vec<u8> {
    fn from(module: WasmModule) -> Self {
        module.0.to_vec()
    }
}

impl fmt::Debug for WasmModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmModule").field("bytes", &self.0.len()).finish_non_exhaustive()
    }
}

/// A call that is made before a job's program runs, without the job's files, input, layers and seed. Its changes to the interpreter remain;
/// its program's names, its files, its output and its result do not. The fuel that it uses counts as the job's; the other limits hold for it on
/// its own. An executor may keep the state behind it for other jobs with the same preload, which then take less time and have the same outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preload {
    /// Source text, run as a module.
    pub program: String,
    /// The function of it that is called.
    pub function: String,
    /// Its positional arguments.
    pub arguments: Vec<Value>,
}

/// A program that the job's program calls. The job's limits hold for each of the two on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callee {
    /// Source text, run as a module before the job's own program starts.
    pub program: String,
    /// Its own seed. Give the job another one, or the callee can predict what the job's program draws.
    pub seed: u64,
    /// Whether objects that cross keep their identity, so that each side sees the other's changes. Otherwise copies cross. Its outcome then
    /// has the program's code, for a job that runs the same program otherwise: see [`crate::Outcome::callee`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_objects: bool,
    /// Files and directories of the job and of its base that it does not see, such as the tests that call it. Unknown paths are
    /// ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// The only files and directories of the job and of its base's working directory that it sees; `None` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Files that only it sees, as relative path and content. They hide files of the same path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, Vec<u8>)>,
}

/// A script that talks with the job's program: each reads as standard input what the other writes to standard output. One of them runs at a
/// time, the program first, until it waits for input or ends. What is written to a side that has ended is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interactor {
    /// Name of the image it runs in, where that is another one than the job's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Source text; empty where it is a module.
    pub program: String,
    /// Its module, where its image is `wasm`, as [`Job::module`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<WasmModule>,
    /// Files in its working directory, as relative path and content. The job's program does not see them.
    pub files: Vec<(String, Vec<u8>)>,
    /// As [`Job::arguments`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The resources that it may use, apart from those of the job's program.
    pub limits: Limits,
    /// Its own seed. Give the job another one, or the job's program can predict what it draws.
    pub seed: u64,
}

impl Interactor {
    /// The name of the image it runs in, as the interactor of `job`.
    pub fn image_in<'a>(&'a self, job: &'a Job) -> &'a str {
        self.image.as_deref().unwrap_or(&job.image)
    }

    /// It as a job by itself, where it is the interactor of `job`.
    pub fn as_job(&self, job: &Job) -> Job {
        let Self { image, program, module, files, arguments, limits, seed } = self.clone();
        let image = image.unwrap_or_else(|| job.image.clone());
        let (sleep_fuel, compile_fuel) = (job.sleep_fuel, job.compile_fuel);
        Job { image, module, files, arguments, limits, sleep_fuel, compile_fuel, seed, ..Job::script(program) }
    }
}

impl Callee {
    /// Whether it does not see this path of the job or of its base.
    pub fn hides(&self, path: &str) -> bool {
        is_under_any(&self.hidden, path) || self.only.as_ref().is_some_and(|only| !is_under_any(only, path))
    }

    /// The files in its working directory apart from those of the base: its own, and those of `job` that it sees.
    pub fn files_in(&self, job: &Job) -> Vec<(String, Vec<u8>)> {
        let own = |path: &String| self.files.iter().any(|(name, _)| name == path);
        let shared = job.files.iter().filter(|(path, _)| !self.hides(path) && !own(path));
        shared.chain(&self.files).cloned().collect()
    }
}

/// Whether `path` is one of `names`, or lies below one of them.
pub fn is_under_any(names: &[String], path: &str) -> bool {
    let below =
        |name: &String| path.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    names.iter().any(below)
}

/// The way a program is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Run as a script, with `__name__ == "__main__"`.
    Script,
    /// Run the program as a module, then call `function` once for each argument list, in order, in the same state.
    /// Calls after one that raises still run.
    Calls {
        /// A callable the program defines, or `Class.method`: a method of an instance made without arguments.
        function: String,
        /// One list of positional arguments a call.
        arguments: Vec<Vec<Value>>,
    },
}

const fn default_sleep_fuel() -> u64 {
    Limits::FUEL_PER_SECOND
}

const fn is_default_sleep_fuel(fuel: &u64) -> bool {
    *fuel == Limits::FUEL_PER_SECOND
}

impl Job {
    /// The most bytes that all arguments have together.
    pub const MOST_ARGUMENT_BYTES: usize = 4096;

    /// A script in the image `python`, with no input, no files, seed 0 and [`Limits::small`]. Set other fields by struct update.
    ///
    /// ```
    /// use veriplay_core::{Job, Limits};
    /// let job = Job { stdin: b"1 2".to_vec(), limits: Limits::large(), ..Job::script("print(input())") };
    /// ```
    pub fn script(program: impl Into<String>) -> Self {
        Self {
            image: "python".to_owned(),
            program: program.into(),
            module: None,
            entry: Entry::Script,
            stdin: Vec::new(),
            files: Vec::new(),
            arguments: Vec::new(),
            limits: Limits::small(),
            sleep_fuel: Limits::FUEL_PER_SECOND,
            compile_fuel: None,
            seed: 0,
            preload: None,
            callee: None,
            interactor: None,
            base: None,
            fetch: Vec::new(),
        }
    }

    /// The function `_start` of a WebAssembly module, in the image [`WasmModule::IMAGE`]; otherwise as [`Job::script`].
    pub fn module(bytes: impl Into<WasmModule>) -> Self {
        Self { image: WasmModule::IMAGE.to_owned(), module: Some(bytes.into()), ..Self::script("") }
    }

    /// One call of `function`, which `program` defines; otherwise as [`Job::script`]. [`crate::Outcome::value`] reads its result.
    pub fn call(
        program: impl Into<String>,
        function: impl Into<String>,
        arguments: impl IntoIterator<Item = Value>,
    ) -> Self {
        Self::calls(program, function, [arguments.into_iter().collect()])
    }

    /// One call of `function` for each argument list, in order and in one state. [`crate::Outcome::values`] reads the results.
    pub fn calls(
        program: impl Into<String>,
        function: impl Into<String>,
        arguments: impl IntoIterator<Item = Vec<Value>>,
    ) -> Self {
        let arguments = arguments.into_iter().collect();
        Self { entry: Entry::Calls { function: function.into(), arguments }, ..Self::script(program) }
    }

    /// The job's content hash. Equal jobs have equal outcomes on the same image.
    pub fn digest(&self) -> Digest {
        content_hash(self)
    }
}
