//! Programs that may cost far more time per unit of fuel than an ordinary loop. `veriplay bench --job cost` measures them.
//!
//! Each is a Python file in `task-corpus/cost`. Its first line says what it attacks, and its second which job is measured; the README
//! there describes the format.

use crate::CorpusError;
use crate::files::{COST_PROGRAMS, file_stem, list_files};

/// The program that all others are compared with.
pub const ORDINARY_LOOP: &str = "ordinary_loop";

/// The measured job of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostJob {
    /// It runs as a script.
    Script,
    /// Its function `f` is called, and what it returns is judged to be wrong.
    Call,
    /// Its printed text is judged as a predicted output. Printing it is not measured.
    Output,
    /// Its printed text is judged as a predicted input. Printing it is not measured.
    Input,
}

impl CostJob {
    /// All of them.
    pub const ALL: [CostJob; 4] = [CostJob::Script, CostJob::Call, CostJob::Output, CostJob::Input];

    /// The word files and reports use.
    pub const fn word(self) -> &'static str {
        match self {
            CostJob::Script => "script",
            CostJob::Call => "call",
            CostJob::Output => "output",
            CostJob::Input => "input",
        }
    }
}

/// One program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostProgram {
    /// The file's name without its ending.
    pub name: String,
    /// What it attacks, in one line.
    pub attacks: String,
    /// The measured job.
    pub job: CostJob,
    /// The whole file.
    pub program: String,
}

/// The built-in programs: those of `task-corpus/cost`.
///
/// # Panics
/// Never: a test reads them all.
pub fn built_in_cost_programs() -> Vec<CostProgram> {
    let programs = list_files(&COST_PROGRAMS, "py").into_iter().map(|(path, text)| parse_cost_program(path, text));
    programs.collect::<Result<_, _>>().expect("a test reads the built-in programs")
}

/// Parses the file `path`: `# what it attacks`, `# job: WORD`, an empty line, and the program.
///
/// # Errors
/// The line that is not so.
pub fn parse_cost_program(path: &str, text: &str) -> Result<CostProgram, CorpusError> {
    let fault = |line: usize, problem: &str| {
        CorpusError::invalid_file(path, line, problem, "see task-corpus/cost/README.md for the format")
    };
    let mut lines = text.lines();
    let attacks = lines.next().and_then(|line| line.strip_prefix("# ")).filter(|attacks| attacks.contains(": "));
    let attacks = attacks.ok_or_else(|| fault(1, "the first line does not say what is attacked: `# title: what`"))?;
    let word = lines.next().and_then(|line| line.strip_prefix("# job: "));
    let job = word.and_then(|word| CostJob::ALL.into_iter().find(|job| job.word() == word));
    let job =
        job.ok_or_else(|| fault(2, "the second line is not `# job: ` and `script`, `call`, `output` or `input`"))?;
    if lines.next() != Some("") {
        return Err(fault(3, "the third line is not empty"));
    }
    if lines.all(|line| line.trim().is_empty()) {
        return Err(fault(4, "there is no program"));
    }
    Ok(CostProgram { name: file_stem(path), attacks: attacks.to_owned(), job, program: text.to_owned() })
}
