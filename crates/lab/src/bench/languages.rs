//! The languages of `veriplay bench --language`: their jobs, and the native ways to run a file of one. To add a language, write its table and add it
//! to [`LANGUAGES`].

/// A language, and what is measured in it.
#[derive(Debug, PartialEq, Eq)]
pub struct BenchLanguage {
    /// What `--language` calls it, and the name of its image.
    pub name: &'static str,
    /// The end of its files' names, without the dot.
    pub(crate) extension: &'static str,
    /// Behind a program: fails before the program's proof is printed.
    pub(crate) bug: &'static str,
    /// Behind a program: prints `{text}` as its last act.
    pub(crate) proof: &'static str,
    /// The first is the empty program, the last computes longest.
    pub(crate) scripts: &'static [JobScript],
    /// Native ways to run one file; those of Python are in [`super::baselines`].
    pub(crate) commands: &'static [NativeCommand],
}

/// A program that is run as it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JobScript {
    pub(crate) job: &'static str,
    pub(crate) text: &'static str,
    /// Its expected output; `None` when it must only end without an exception.
    pub(crate) prints: Option<&'static str>,
}

/// A baseline that is a command, in which `{file}` stands for the program's file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NativeCommand {
    pub(crate) name: &'static str,
    pub(crate) command: &'static str,
    /// How to have it where it is absent.
    pub(crate) install: &'static str,
}

/// All of them, in the order of the help.
pub static LANGUAGES: [&BenchLanguage; 5] = [&PYTHON, &CPP, &C, &JAVASCRIPT, &TYPESCRIPT];

const fn asserts(job: &'static str, text: &'static str) -> JobScript {
    JobScript { job, text, prints: None }
}

const fn prints(job: &'static str, text: &'static str, prints: &'static str) -> JobScript {
    JobScript { job, text, prints: Some(prints) }
}

/// `assert-small` takes about 40 µs in a warm native interpreter, compiling included: the size of an easy problem's solution and tests. `cpu-bound` is
/// whole numbers, a list and a dict of strings: 0.3 to 0.5 s natively, some 30 times a process start.
pub static PYTHON: BenchLanguage = BenchLanguage {
    name: "python",
    extension: "py",
    bug: "assert 1 == 2\n",
    proof: "print('{text}')",
    scripts: &[
        asserts("empty", "pass\n"),
        asserts("assert-small", include_str!("jobs/assert_small.py")),
        asserts("cpu-bound", include_str!("jobs/cpu_bound.py")),
    ],
    commands: &[],
};

/// A small program of a contest, the same in each language: reads lines, counts in a map, sorts.
const CONTEST: &str = "item37 19 1069\nitem25 18 1024\nitem12 19 1016\nitem11 16 961\nitem6 18 912\n";

/// This and what follows in C is valid as C++, too.
const EMPTY_IN_C: &str = "int main(void) { return 0; }\n";
const CPU_BOUND_IN_C: JobScript = prints("cpu-bound", include_str!("jobs/cpu_bound.c"), "539777 524 462997203\n");
const BUG_IN_C: &str = "#include <stdlib.h>\n__attribute__((constructor)) static void bug(void) { abort(); }\n";
/// It runs behind `main`, and behind the destructors of C++.
const PROOF_IN_C: &str =
    "#include <stdio.h>\n__attribute__((destructor)) static void finished(void) { puts(\"{text}\"); }";

static CPP: BenchLanguage = BenchLanguage {
    name: "cpp",
    extension: "cpp",
    bug: BUG_IN_C,
    proof: PROOF_IN_C,
    scripts: &[
        prints("empty", EMPTY_IN_C, ""),
        prints("contest", include_str!("jobs/contest.cpp"), CONTEST),
        CPU_BOUND_IN_C,
    ],
    commands: &[NativeCommand {
        name: "g++",
        command: "g++ -O2 -std=c++20 -o {file}.out {file} && {file}.out",
        install: "install GCC 10 or later, so that `g++` is on the PATH",
    }],
};

static C: BenchLanguage = BenchLanguage {
    name: "c",
    extension: "c",
    bug: BUG_IN_C,
    proof: PROOF_IN_C,
    scripts: &[
        prints("empty", EMPTY_IN_C, ""),
        prints("contest", include_str!("jobs/contest.c"), CONTEST),
        CPU_BOUND_IN_C,
    ],
    commands: &[NativeCommand {
        name: "gcc",
        command: "gcc -O2 -std=c17 -o {file}.out {file} && {file}.out",
        install: "install GCC 8 or later, so that `gcc` is on the PATH",
    }],
};

const THROW: &str = "throw new Error('a planted bug');\n";
const LOG: &str = "console.log('{text}');";
/// About 0.05 s behind the start of Node.js, whose compiler makes it tens of times as fast as an interpreter does.
const CPU_BOUND_IN_JS: JobScript = prints("cpu-bound", include_str!("jobs/cpu_bound.js"), "78498 307 1927700644\n");

static JAVASCRIPT: BenchLanguage = BenchLanguage {
    name: "javascript",
    extension: "js",
    bug: THROW,
    proof: LOG,
    scripts: &[prints("empty", "\n", ""), prints("contest", include_str!("jobs/contest.js"), CONTEST), CPU_BOUND_IN_JS],
    commands: &[NativeCommand {
        name: "node",
        command: "node {file}",
        install: "install Node.js, so that `node` is on the PATH",
    }],
};

static TYPESCRIPT: BenchLanguage = BenchLanguage {
    name: "typescript",
    extension: "ts",
    bug: THROW,
    proof: LOG,
    scripts: &[prints("empty", "\n", ""), prints("contest", include_str!("jobs/contest.ts"), CONTEST), CPU_BOUND_IN_JS],
    commands: &[NativeCommand {
        name: "tsx",
        command: "tsx {file}",
        install: "install Node.js and its package tsx (`npm install --global tsx`), so that `tsx` is on the PATH",
    }],
};

impl BenchLanguage {
    /// Whether it has a gate for proposals, and baselines that are no commands.
    pub fn is_python(&self) -> bool {
        *self == PYTHON
    }
}
