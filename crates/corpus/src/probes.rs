//! Probes: programs that try to break out of a sandbox, one Markdown file each, and what must become of them.
//!
//! `veriplay isolate` runs them. `cargo xtask sabotage` shows that they can fail: it removes one defence of the sandbox's
//! source at a time and requires that the probes named in `tests/sabotage` escape. `task-corpus/probes/README.md` is
//! the format. [`run`] drives them through the seam [`veriplay_core::Execute`]; [`judge`] interprets a run. Invariant:
//! a program that reports nothing is never taken for contained.

pub mod judge;
mod parse;
pub mod run;

use veriplay_core::Limits;

use crate::CorpusError;
use crate::files::{PYTHON_PROBES, TextFile, list_files};

/// A class of probes.
#[derive(Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name, that of its folder.
    pub name: &'static str,
    /// What its probes try, in words.
    pub tries: &'static str,
    /// What to look at where one is not contained.
    pub hint: &'static str,
}

/// All classes, in the order of reports.
pub const CLASSES: &[Class] = &[
    Class {
        name: "host_files",
        tries: "reach files of the host",
        hint: "give the program a file system of its own: no bind mount of the host's, no shared working directory",
    },
    Class {
        name: "host_processes",
        tries: "see, start or signal processes of the host",
        hint: "use a process namespace of its own, and no right to fork or exec",
    },
    Class {
        name: "network",
        tries: "reach a network, loopback included",
        hint: "use an empty network namespace, or a filter that refuses `socket`",
    },
    Class {
        name: "secrets",
        tries: "read the environment, arguments, input and secrets of the host",
        hint: "clear the environment, close what is inherited, and keep expected values out of the program's process",
    },
    Class {
        name: "time_and_chance",
        tries: "see the host's clock, or draw what no seed decides",
        hint: "virtual time and a seeded random source make verdicts reproducible; a plain process has neither",
    },
    Class {
        name: "memory",
        tries: "take more memory than allowed",
        hint: "set a memory limit that ends the program: a cgroup, RLIMIT_AS, or the engine's own",
    },
    Class {
        name: "cpu",
        tries: "compute longer than allowed, in Python, in C code, in host calls",
        hint: "limit processor time from outside the program; a signal handler inside it can be caught",
    },
    Class {
        name: "output_and_files",
        tries: "write more output or files than allowed",
        hint: "cap what is read from the program's streams, and the size of its file system",
    },
    Class {
        name: "stack",
        tries: "exhaust the native stack",
        hint: "a stack overflow must end this program alone; see how the runner treats a crash",
    },
    Class {
        name: "state_between_runs",
        tries: "leave something behind for the next run",
        hint: "start each run from a fresh state: a new process and a new directory, or a snapshot put back whole",
    },
    Class {
        name: "concurrent_runs",
        tries: "notice or disturb a run beside it",
        hint: "runs must share no writable directory, no clock, no random stream and no namespace",
    },
    Class {
        name: "crashes",
        tries: "crash the interpreter, or take it over",
        hint: "a crash must end this program alone, and what it corrupted must not be used again",
    },
    Class {
        name: "channel",
        tries: "abuse the channel to the host: malformed, oversized, re-entrant and ill-timed frames",
        hint: "parse every frame as hostile, and end the run at the first that is not due",
    },
    Class {
        name: "system_calls",
        tries: "abuse every system call of the guest: pointers, counts, descriptors, paths",
        hint: "check each pointer, length, descriptor and path component in the shim",
    },
    Class {
        name: "pool",
        tries: "kill or slow the workers for those who come after",
        hint: "a worker that met a limit must be renewed, and the next job must not notice",
    },
];

/// The class of that name.
#[must_use]
pub fn class(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// One attempt to get out.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// One of [`CLASSES`], by name.
    pub class: &'static str,
    /// The file's name without its ending; class and name together are unique.
    pub name: String,
    /// The first line of the prose.
    pub title: String,
    /// The rest of it: what it tries, and why that matters.
    pub statement: String,
    /// What is run.
    pub program: Program,
    /// How often, and beside what.
    pub order: Order,
    /// How it ends where it is contained.
    pub expect: Expect,
    /// Whether its last program is an honest one, and the probe has escaped when that does not end as it must.
    pub honest: bool,
    /// Whether it can be run by anything that runs a Python file, and harms no host that does not contain it.
    pub language_level: bool,
    /// Whether it escapes from a plain `python3`; only language-level probes do.
    pub escapes_unsandboxed: bool,
    /// What its programs may use.
    pub limits: Limits,
    /// What they read from standard input.
    pub stdin: String,
    /// The function that is called once, without arguments, after the program has run as a module; a script without it.
    pub entry: Option<String>,
}

impl Probe {
    /// Class and name.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.class, self.name)
    }
}

/// What a probe runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Python programs.
    Python(Vec<String>),
    /// A guest of its own in WebAssembly text: a whole module, the prelude included.
    Module(String),
}

/// How a probe's programs are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One after another, on one worker.
    InTurn,
    /// The one program, so many times at once.
    AtOnce(u32),
    /// The one program, so many times, one after another on one worker; see [`Expect::Same`].
    Repeated(u32),
}

/// How a probe ends where it is contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Its last program runs to its end and its last line begins with `contained:`.
    Says,
    /// All its runs print the same.
    Same,
    /// The last run does not come to its end: it crashes, raises or meets a limit.
    Stops,
    /// The last run ends so, with an error of this kind where one is named.
    Ends(End, Option<String>),
}

/// How a run ends, in the words `veriplay run` has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It ran to its end.
    Returned,
    /// An exception left it.
    Raised,
    /// The guest stopped without finishing.
    Trapped,
    /// Out of fuel.
    FuelExhausted,
    /// It asked for more memory.
    MemoryExceeded,
    /// It wrote or returned more.
    OutputExceeded,
    /// It kept more in files.
    FilesExceeded,
    /// The wall-clock backstop.
    DeadlineExceeded,
    /// The host would not even load it.
    Refused,
}

impl End {
    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            End::Returned => "returned",
            End::Raised => "raised",
            End::Trapped => "trapped",
            End::FuelExhausted => "fuel_exhausted",
            End::MemoryExceeded => "memory_exceeded",
            End::OutputExceeded => "output_exceeded",
            End::FilesExceeded => "files_exceeded",
            End::DeadlineExceeded => "deadline_exceeded",
            End::Refused => "refused",
        }
    }
}

/// The probes the binary carries for an image, or `None` where it knows no such image.
///
/// # Panics
/// Never: a test reads them all.
#[must_use]
pub fn built_in_probes(image: &str) -> Option<Vec<Probe>> {
    let prelude = PYTHON_PROBES.get_file("prelude.wat").and_then(|file| file.contents_utf8());
    let probes = || parse_probes(prelude.expect("modules have a prelude"), &list_files(&PYTHON_PROBES, "md"));
    (image == "python").then(|| probes().expect("the built-in probes are checked by a test"))
}

/// Parses probes, each in a folder named as its class; `prelude` is what modules begin with.
///
/// # Errors
/// The first file that breaks the format, with its line; a folder that is no class.
pub fn parse_probes(prelude: &str, files: &[TextFile<'_>]) -> Result<Vec<Probe>, CorpusError> {
    let probes = files.iter().map(|(path, text)| parse::parse_probe(path, text, prelude));
    Ok(sort_probes(probes.collect::<Result<_, _>>()?))
}

/// By class, in the order of reports, and by name.
fn sort_probes(mut probes: Vec<Probe>) -> Vec<Probe> {
    let place = |probe: &Probe| CLASSES.iter().position(|class| class.name == probe.class);
    probes.sort_by(|a, b| (place(a), &a.name).cmp(&(place(b), &b.name)));
    probes
}
