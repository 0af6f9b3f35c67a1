//! The named jobs: scripts that must end without an exception, and a self-play proposal that must be judged valid.

use veriplay_console::exit::{ExitCode, Failure};

/// A job, the same for every baseline.
#[derive(Debug, Clone)]
pub struct BenchJob {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    pub(crate) kind: JobKind,
}

#[derive(Debug, Clone)]
pub(crate) enum JobKind {
    /// A script that must end without an exception.
    Script(String),
    /// A proposal: `program` must return `output` for `input`, twice (in a fresh state where the baseline has one), and the same output
    /// for `answer`.
    Triplet {
        /// The proposed source, which defines `f`.
        program: &'static str,
        /// The arguments of the proposal, as Python writes them.
        input: &'static str,
        /// What the program returns for them.
        output: &'static str,
        /// The arguments of the answer, for which it returns the same.
        answer: &'static str,
    },
}

/// One program of a job, for baselines that run plain programs.
#[derive(Debug, Clone)]
pub(crate) struct JobProgram {
    pub(crate) program: String,
    /// Its expected output; `None` when it must only end without an exception.
    pub(crate) prints: Option<String>,
}

/// About 40 µs in a warm native interpreter, compiling included: the size of an easy problem's solution and tests.
const ASSERT_SMALL: &str = include_str!("jobs/assert_small.py");

/// Whole numbers, a list and a dict of strings: 0.3 to 0.5 s natively, some 30 times a process start.
const CPU_BOUND: &str = include_str!("jobs/cpu_bound.py");

const SCALED_SUM: &str = include_str!("jobs/scaled_sum.py");

/// All of them, in the order of reports.
pub fn all() -> [BenchJob; 4] {
    let script = |name, text: &str| BenchJob { name, kind: JobKind::Script(text.to_owned()) };
    let triplet = JobKind::Triplet { program: SCALED_SUM, input: "[3, 1, 4], 5", output: "40", answer: "[8], 5" };
    [
        script("empty", "pass\n"),
        script("assert-small", ASSERT_SMALL),
        BenchJob { name: "triplet", kind: triplet },
        script("cpu-bound", CPU_BOUND),
    ]
}

/// The jobs of the given names, or all jobs for an empty list.
pub fn named(names: &[String]) -> Result<Vec<BenchJob>, Failure> {
    let all = all();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|work| work.name != *name)) {
        let known = all.map(|work| work.name).join("`, `");
        let failure = Failure::message(ExitCode::Usage, format!("there is no job `{unknown}`"));
        return Err(failure.hint(format!("the jobs are `{known}`")));
    }
    Ok(all.into_iter().filter(|work| names.is_empty() || names.iter().any(|name| name == work.name)).collect())
}

impl BenchJob {
    /// The same job with a planted bug, which every baseline must find.
    pub(crate) fn broken(&self) -> BenchJob {
        let kind = match &self.kind {
            JobKind::Script(text) => JobKind::Script(format!("{text}assert 1 == 2\n")),
            JobKind::Triplet { program, input, output, .. } => {
                JobKind::Triplet { program, input, output, answer: "[8], 6" }
            }
        };
        BenchJob { name: self.name, kind }
    }

    /// The job as programs, run one after another.
    pub(crate) fn steps(&self) -> Vec<JobProgram> {
        match &self.kind {
            JobKind::Script(text) => vec![JobProgram { program: text.clone(), prints: None }],
            JobKind::Triplet { program, input, output, answer } => {
                let shown = JobProgram {
                    program: format!("{program}print(repr(f({input})))"),
                    prints: Some(format!("{output}\n")),
                };
                let checked = JobProgram {
                    program: format!("{program}print({output} == f({answer}))"),
                    prints: Some("True\n".to_owned()),
                };
                vec![shown.clone(), shown, checked]
            }
        }
    }
}

/// Appends a number to a program, so that no two runs have the same text.
pub(crate) fn numbered(program: &str, serial: u64) -> String {
    format!("{program}\n# {serial:08}")
}

impl JobProgram {
    /// The program with a last line that prints a number, and all that it must print then: no exit status shows that a program was run.
    pub(crate) fn with_proof(&self, serial: u64) -> (String, String) {
        let proof = format!("finished {serial:08}");
        let printed = self.prints.as_deref().unwrap_or_default();
        (format!("{}\nprint('{proof}')\n", self.program), format!("{printed}{proof}\n"))
    }
}
