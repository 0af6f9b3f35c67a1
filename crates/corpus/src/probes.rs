//! Probes: programs that try to break out of a sandbox, one Markdown file each, with the end that each must come to.
//!
//! `veriplay isolate` runs them. `cargo xtask sabotage` shows that they can fail: it removes one defence of the sandbox's source at a time
//! and requires that the probes named in `tests/sabotage` escape. `task-corpus/probes/README.md` describes the format. [`run`] runs probes
//! through the trait [`veriplay_core::Execute`], and [`judge`] interprets the runs. Invariant: a program that reports nothing never counts
//! as contained.

pub mod judge;
mod parse;
pub mod run;

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use veriplay_core::{Limits, WasmModule};

use crate::CorpusError;
use crate::files::{PROBES, TextFile, list_files};

/// A class of probes.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct ProbeClass {
    /// The name of the class and of its folder.
    pub name: &'static str,
    /// What its probes try to do.
    pub tries: &'static str,
    /// What to check when one of its probes escapes.
    pub hint: &'static str,
    /// How much an escape is worth to an attacker.
    pub severity: Severity,
}

/// How much the escape of a probe is worth to an attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Verdicts are no longer reproducible; nothing leaks.
    Low,
    /// The machine can be starved, or a worker lost.
    Medium,
    /// Programs reach one another or the network.
    High,
    /// The host is reached: its files, processes, secrets or the runner itself.
    Critical,
}

impl Severity {
    /// Its name in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

/// All classes, in the order of reports: those of `task-corpus/probes/classes.json`.
pub static CLASSES: LazyLock<Vec<ProbeClass>> = LazyLock::new(|| {
    let text = PROBES.get_file("classes.json").and_then(|file| file.contents_utf8());
    serde_json::from_str(text.expect("there is a file of classes")).expect("a test reads the classes")
});

/// Finds a class by its name.
pub fn find_class(name: &str) -> Option<&'static ProbeClass> {
    CLASSES.iter().find(|class| class.name == name)
}

/// One attempt to break out.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// One of [`CLASSES`], by name.
    pub class: &'static str,
    /// The file's name without its ending; class and name together are unique, also among languages.
    pub name: String,
    /// The first line of the prose.
    pub title: String,
    /// The rest of the prose: what it tries, and why that matters.
    pub statement: String,
    /// The programs it runs.
    pub program: ProbeProgram,
    /// The order in which its programs run.
    pub order: RunOrder,
    /// The end that shows that it is contained.
    pub expect: ProbeExpectation,
    /// Whether its last program is honest. The probe has then escaped when that program does not end as expected.
    pub honest: bool,
    /// Whether anything that runs a Python file can run it, and it harms no host that does not contain it.
    pub language_level: bool,
    /// Whether it escapes from a plain `python3`; only language-level probes do.
    pub escapes_unsandboxed: bool,
    /// Limits of its programs.
    pub limits: Limits,
    /// Standard input of its programs.
    pub stdin: String,
    /// A function to call once, without arguments, after the program has run as a module. Without it the program is a script.
    pub entry: Option<String>,
}

impl Probe {
    /// Class and name.
    pub fn id(&self) -> String {
        format!("{}/{}", self.class, self.name)
    }
}

/// The programs of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeProgram {
    /// Programs in the language of the attacked image.
    Programs(ProbeLanguage, Vec<String>),
    /// A module in WebAssembly text, including the prelude, that stands in for the interpreter of the Python image.
    Module(String),
}

impl ProbeProgram {
    /// Whether there are several programs.
    fn are_several(&self) -> bool {
        matches!(self, ProbeProgram::Programs(_, programs) if programs.len() > 1)
    }
}

/// The languages that probes are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeLanguage {
    /// Python; modules in WebAssembly text attack its image too.
    Python,
    /// JavaScript, as Node.js runs it.
    JavaScript,
    /// C++, which is compiled first: an attack on the compiler, too.
    Cpp,
    /// Modules in WebAssembly text that are programs of their own.
    Wasm,
}

impl ProbeLanguage {
    /// All languages of built-in probes.
    pub const ALL: [ProbeLanguage; 4] =
        [ProbeLanguage::Python, ProbeLanguage::JavaScript, ProbeLanguage::Cpp, ProbeLanguage::Wasm];

    /// The image whose programs it is of, and the folder of its probes but for those in Python.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeLanguage::Python => "python",
            ProbeLanguage::JavaScript => "javascript",
            ProbeLanguage::Cpp => "cpp",
            ProbeLanguage::Wasm => WasmModule::IMAGE,
        }
    }

    /// The kind of its blocks.
    pub const fn block(self) -> &'static str {
        match self {
            ProbeLanguage::Wasm => MODULE,
            other => other.name(),
        }
    }

    /// Finds a language by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    /// A program that prints 42.
    pub const fn plain_program(self) -> &'static str {
        match self {
            ProbeLanguage::Python => "print(6 * 7)",
            ProbeLanguage::JavaScript => "console.log(6 * 7)",
            ProbeLanguage::Cpp => "#include <cstdio>\nint main() { std::printf(\"%d\\n\", 6 * 7); }",
            ProbeLanguage::Wasm => {
                r#"(module
                    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
                    (memory (export "memory") 1)
                    (data (i32.const 0) "\10\00\00\00\03\00\00\00")
                    (data (i32.const 16) "42\0a")
                    (func (export "_start")
                        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#
            }
        }
    }

    /// The language of the probe `path`.
    fn of_file(path: &str) -> Self {
        let is_folder_of = |language: &Self| Path::new(path).starts_with(language.name());
        Self::ALL.into_iter().find(is_folder_of).unwrap_or(ProbeLanguage::Python)
    }

    /// The built-in probes in this language.
    ///
    /// # Panics
    /// Never: a test reads them all.
    pub fn probes(self) -> Vec<Probe> {
        let prelude = PROBES.get_file("prelude.wat").and_then(|file| file.contents_utf8());
        let mut files = list_files(&PROBES, "md");
        files.retain(|file| Self::of_file(file.0) == self);
        parse_probes(prelude.expect("modules have a prelude"), &files)
            .expect("the built-in probes are checked by a test")
    }
}

/// The kind of a block that is a module in WebAssembly text.
const MODULE: &str = "wat";

/// The file of the built-in probe of this id, relative to `task-corpus/probes`.
pub fn find_probe_file(id: &str) -> String {
    let file = format!("{id}.md");
    let in_folders = ProbeLanguage::ALL.map(|language| format!("{}/{file}", language.name()));
    in_folders.into_iter().find(|path| PROBES.get_file(path).is_some()).unwrap_or(file)
}

/// The order in which a probe's programs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOrder {
    /// One after another, on one worker.
    Sequential,
    /// The one program, this many times at once.
    Concurrent(u32),
    /// The one program, this many times, one after another on one worker; see [`ProbeExpectation::SameOutput`].
    Repeated(u32),
}

/// The end that shows that a probe is contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeExpectation {
    /// Its last program runs to its end and its last line begins with `contained:`.
    SaysContained,
    /// All its runs print the same.
    SameOutput,
    /// The last run does not come to its end: it crashes, raises or meets a limit.
    Stopped,
    /// The last run ends so, with an error of this kind where one is named.
    Ends(RunEnd, Option<String>),
}

/// How a run ends, in the words of `veriplay run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// It ran to its end.
    Returned,
    /// It raised an exception.
    Raised,
    /// The guest stopped before its end.
    Trapped,
    /// Out of fuel.
    FuelExhausted,
    /// It exceeded its memory limit.
    MemoryExceeded,
    /// It exceeded its output limit.
    OutputExceeded,
    /// It exceeded its file limit.
    FilesExceeded,
    /// It met the wall-clock backstop.
    DeadlineExceeded,
    /// The host refused to load it.
    Refused,
}

/// The word of its JSON.
impl Display for RunEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The built-in probes for an image, or `None` for an unknown image.
pub fn built_in_probes(image: &str) -> Option<Vec<Probe>> {
    ProbeLanguage::find(image).map(ProbeLanguage::probes)
}

/// Parses probes, each in the folder of its class. `prelude` is the start of each module.
///
/// # Errors
/// When a file breaks the format, with its line, or a folder is not a class.
pub fn parse_probes(prelude: &str, files: &[TextFile<'_>]) -> Result<Vec<Probe>, CorpusError> {
    let probes = files.iter().map(|(path, text)| parse::parse_probe(path, text, prelude));
    let mut probes: Vec<Probe> = probes.collect::<Result<_, _>>()?;
    // In the order of reports.
    let place = |probe: &Probe| CLASSES.iter().position(|class| class.name == probe.class);
    probes.sort_by(|a, b| (place(a), &a.name).cmp(&(place(b), &b.name)));
    Ok(probes)
}
