//! The named jobs: scripts that must end without an exception, and a self-play proposal that must be judged valid.

use veriplay_console::exit::{ExitCode, Failure};

use super::languages::{BenchLanguage, JobScript};

/// A job, the same for every baseline.
#[derive(Debug, Clone)]
pub struct BenchJob {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    pub(crate) kind: JobKind,
    language: &'static BenchLanguage,
}

#[derive(Debug, Clone)]
pub(crate) enum JobKind {
    /// A script that must end without an exception.
    Script {
        text: String,
        /// Its output, where that is compared.
        prints: Option<&'static str>,
    },
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

const SCALED_SUM: &str = include_str!("jobs/scaled_sum.py");

/// All jobs of a language, in the order of reports.
pub fn all(language: &'static BenchLanguage) -> Vec<BenchJob> {
    let mut jobs: Vec<BenchJob> = language.scripts.iter().map(|script| BenchJob::of(language, script)).collect();
    if language.is_python() {
        let kind = JobKind::Triplet { program: SCALED_SUM, input: "[3, 1, 4], 5", output: "40", answer: "[8], 5" };
        jobs.insert(jobs.len() - 1, BenchJob { name: "triplet", kind, language });
    }
    jobs
}

/// The jobs of the given names, or all jobs of the language for an empty list.
pub fn named(language: &'static BenchLanguage, names: &[String]) -> Result<Vec<BenchJob>, Failure> {
    let all = all(language);
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|work| work.name != *name)) {
        let known: Vec<&str> = all.iter().map(|work| work.name).collect();
        let failure = Failure::message(ExitCode::Usage, format!("there is no job `{unknown}` in {}", language.name));
        return Err(failure.hint(format!("the jobs are `{}`", known.join("`, `"))));
    }
    Ok(all.into_iter().filter(|work| names.is_empty() || names.iter().any(|name| name == work.name)).collect())
}

impl BenchJob {
    fn of(language: &'static BenchLanguage, script: &JobScript) -> Self {
        let kind = JobKind::Script { text: script.text.to_owned(), prints: script.prints };
        Self { name: script.job, kind, language }
    }

    /// The same job with a planted bug, which every baseline must find.
    pub(crate) fn broken(&self) -> BenchJob {
        let kind = match &self.kind {
            JobKind::Script { text, prints } => {
                JobKind::Script { text: format!("{text}{}", self.language.bug), prints: *prints }
            }
            JobKind::Triplet { program, input, output, .. } => {
                JobKind::Triplet { program, input, output, answer: "[8], 6" }
            }
        };
        BenchJob { kind, ..*self }
    }

    /// The job as programs, run one after another.
    pub(crate) fn steps(&self) -> Vec<JobProgram> {
        match &self.kind {
            JobKind::Script { text, prints } => {
                vec![JobProgram { program: text.clone(), prints: prints.map(str::to_owned) }]
            }
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

/// Appends a number to a program in Python, so that no two runs have the same text.
pub(crate) fn numbered(program: &str, serial: u64) -> String {
    format!("{program}\n# {serial:08}")
}

impl JobProgram {
    /// The program with a last act that prints a number, and all that it must print then: no exit status shows that a program was run.
    pub(crate) fn with_proof(&self, language: &BenchLanguage, serial: u64) -> (String, String) {
        let proof = format!("finished {serial:08}");
        let printed = self.prints.as_deref().unwrap_or_default();
        let last = language.proof.replace("{text}", &proof);
        (format!("{}\n{last}\n", self.program), format!("{printed}{proof}\n"))
    }
}
