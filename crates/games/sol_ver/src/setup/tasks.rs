//! Held-out problems, which have an answer: sentences about generated programs, or rows of a public set.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_core::{CallCase, ExpectedResult, IoPair, Limits, ProblemRow, UnexecutedProblem, Value};
use veriplay_corpus::{GeneratedProgram, Grammar, ProgramStream, ReadOptions, Split, problem_format, read_problems};
use veriplay_run::game_setup::corpus_split;
use veriplay_run::named_files::NamedFile;
use veriplay_run::programs::{ExecutedProgram, ProgramFilter, ProgramRunner, execute_on};
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::splits::EvalSet;
use veriplay_verifier::agreement::{SuiteTest, TestSuite};

use super::snippets::{SnippetSource, check_enough};
use super::streams;
use crate::prompts::AnsweredProblem;
use crate::{ProblemTask, ReferenceSolution};

/// Where snippets and held-out problems come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolVerTaskConfig {
    /// Seeds evaluation problems and the samples of an evaluation: the same for every run.
    pub(super) eval_seed: u64,
    pub(super) snippets: SnippetSource,
    /// Where evaluation problems come from.
    pub(super) problems: ProblemSource,
}

/// Where held-out problems come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ProblemSource {
    /// The tiny generator's programs of the evaluation split, in words.
    Generator {
        /// The mix of families, as the grammar names it.
        mix: String,
        /// Maximum hidden cases of a problem; repeated inputs are left out.
        hidden: usize,
        /// When a program is worth a problem.
        worth: ProgramFilter,
    },
    /// Rows of a set that has references and inputs: EvalPlus's. The first ones are the validation set, the next ones are held out.
    File {
        /// The file.
        path: PathBuf,
        /// `evalplus` or `mbpp_plus`, as `veriplay verify --format` has them.
        format: String,
        /// Maximum hidden cases of a problem.
        hidden: usize,
    },
    /// Lines of a statement, a program and cases of standard input and output, split as those of a file are.
    Programs {
        /// The file.
        path: PathBuf,
        /// Maximum hidden cases of a problem.
        hidden: usize,
    },
}

veriplay_run::eval_config! {
    /// How the policy is evaluated. `game.eval_samples` sets the number of samples of each problem.
    pub struct SolVerEvalConfig {}
}

impl ProblemSource {
    /// The file that it names.
    pub(super) fn named_file(&self) -> Option<NamedFile> {
        let (path, advice) = match self {
            Self::Generator { .. } => return None,
            Self::File { path, format, .. } => (
                path,
                format!("put a published file in format `{format}` there, such as EvalPlus's, or name another one"),
            ),
            Self::Programs { path, .. } => {
                (path, "put lines of `statement`, `program` and `cases` there, or name another file".to_owned())
            }
        };
        Some(NamedFile::new("tasks.problems.path", path, advice))
    }

    /// The value of its key `from`.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Generator { .. } => "generator",
            Self::File { .. } => "file",
            Self::Programs { .. } => "programs",
        }
    }
}

const BLOCK: usize = 128;

impl SolVerTaskConfig {
    /// The evaluation problems, whose answers are known.
    pub(super) fn evaluation(
        &self,
        eval: &SolVerEvalConfig,
        limits: Limits,
        runner: ProgramRunner<'_>,
    ) -> Result<Vec<ProblemTask>, Failure> {
        let first = if eval.set == EvalSet::HeldOut { eval.tasks } else { 0 };
        self.read_problems(corpus_split(eval.set), first..first + eval.tasks, limits, runner)
    }

    /// What prompts show with answers: `count` problems of the training split, or of the rows behind both sets. The same for every run.
    pub(super) fn examples(
        &self,
        eval: &SolVerEvalConfig,
        count: usize,
        limits: Limits,
        runner: ProgramRunner<'_>,
    ) -> Result<Vec<AnsweredProblem>, Failure> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let behind = 2 * eval.tasks;
        let problems = self.read_problems(Split::Train, behind..behind + count, limits, runner)?;
        Ok(problems.into_iter().filter_map(answered).collect())
    }

    /// As many problems as `rows`: of this split where they are generated, or these of a file.
    fn read_problems(
        &self,
        split: Split,
        rows: Range<usize>,
        limits: Limits,
        runner: ProgramRunner<'_>,
    ) -> Result<Vec<ProblemTask>, Failure> {
        match &self.problems {
            ProblemSource::Generator { mix, hidden, worth } => {
                ProblemGenerator { seed: self.eval_seed, mix, hidden: *hidden, filter: worth, limits, runner }
                    .problems(split, rows.len())
            }
            ProblemSource::File { path, format, hidden } => {
                read_file_problems(path, format, *hidden, rows, limits, runner)
            }
            ProblemSource::Programs { path, hidden } => {
                let problems = streams::read_problems(path, *hidden)?;
                chosen_problems(problems.into_iter(), path, rows)
            }
        }
    }
}

struct ProblemGenerator<'a> {
    seed: u64,
    mix: &'a str,
    hidden: usize,
    filter: &'a ProgramFilter,
    limits: Limits,
    runner: ProgramRunner<'a>,
}

impl ProblemGenerator<'_> {
    fn problems(&self, split: Split, count: usize) -> Result<Vec<ProblemTask>, Failure> {
        let grammar = Grammar::built_in();
        let mut programs = ProgramStream::new(&grammar, split, self.mix, self.seed).or_fail(ExitCode::Input)?;
        let mut words = generator(self.seed, 0, "words of held-out problems");
        let (mut problems, mut seen) = (Vec::new(), HashSet::new());
        for block in 0..=count as u64 {
            let programs: Vec<GeneratedProgram> = programs.by_ref().take(BLOCK).collect();
            let none_left = programs.is_empty();
            for executed in self.execute_programs(&grammar, programs, block)?.into_iter().flatten() {
                let text = grammar.describe(&executed.program, executed.kind, &mut words);
                problems.extend(
                    text.filter(|text| seen.insert(text.clone()))
                        .map(|text| problem(text, executed.program, executed.pairs)),
                );
            }
            if problems.len() >= count || none_left {
                break;
            }
        }
        problems.truncate(count);
        let what = if split == Split::Train { "answered examples" } else { "held-out problems" };
        check_enough(problems.len(), count, what).map(|()| problems)
    }

    fn execute_programs(
        &self,
        grammar: &Grammar,
        programs: Vec<GeneratedProgram>,
        block: u64,
    ) -> Result<Vec<Option<ExecutedProgram>>, Failure> {
        let mut rng = generator(self.seed, block, "inputs of held-out problems");
        let mut inputs = |program: &GeneratedProgram| grammar.inputs(&mut rng, program.input_kind, self.hidden);
        let with_inputs = |program: GeneratedProgram| (inputs(&program), program);
        let asked: Vec<(Vec<Vec<Value>>, GeneratedProgram)> = programs.into_iter().map(with_inputs).collect();
        let run = |(inputs, program)| ExecutedProgram::make(self.filter, self.limits, program, inputs, self.runner);
        asked.into_par_iter().map(run).collect::<Result<_, _>>().or_fail(ExitCode::Host)
    }
}

fn problem(text: String, reference: String, pairs: Vec<IoPair>) -> ProblemTask {
    let case = |pair: IoPair| CallCase::new(pair.input, pair.output);
    let hidden = pairs.into_iter().map(case).collect();
    ProblemTask { statement: text, reference: Some(ReferenceSolution { program: reference, hidden }) }
}

/// A problem with its reference and hidden cases as the answers.
fn answered(task: ProblemTask) -> Option<AnsweredProblem> {
    let ReferenceSolution { program, hidden } = task.reference?;
    let suite = TestSuite { tests: hidden.into_iter().map(SuiteTest::Case).collect() };
    Some(AnsweredProblem { statement: task.statement, program, suite })
}

/// Of the rows that have a reference whose values can be compared, those of these numbers.
fn read_file_problems(
    path: &Path,
    format: &str,
    hidden: usize,
    wanted: Range<usize>,
    limits: Limits,
    runner: ProgramRunner<'_>,
) -> Result<Vec<ProblemTask>, Failure> {
    let known = problem_format(format).map_err(|_| {
        let what =
            format!("configuration key `tasks.problems.format` is `{format}`, which is not a format of problems");
        Failure::message(ExitCode::Input, what).hint("use `evalplus` or `mbpp_plus`")
    })?;
    let file = read_problems(path, known, &ReadOptions::default()).or_fail(ExitCode::Input)?;
    let rows = file.rows.into_iter().filter_map(|(_, row)| match row {
        ProblemRow::Unexecuted(row) if row.expects == ExpectedResult::Value => Some(row),
        _ => None,
    });
    let rows: Vec<UnexecutedProblem> = rows.collect();
    let run = |row: &UnexecutedProblem| row_problem(row, hidden, limits, runner);
    let problems: Result<Vec<Option<ProblemTask>>, Failure> = rows.par_iter().map(run).collect();
    chosen_problems(problems?.into_iter().flatten(), path, wanted)
}

fn chosen_problems(
    problems: impl Iterator<Item = ProblemTask>,
    path: &Path,
    wanted: Range<usize>,
) -> Result<Vec<ProblemTask>, Failure> {
    let count = wanted.len();
    let problems: Vec<ProblemTask> = problems.skip(wanted.start).take(count).collect();
    check_enough(problems.len(), count, &format!("problems of `{}`", path.display())).map(|()| problems)
}

/// `None` where the reference gives no plain values on the inputs.
fn row_problem(
    row: &UnexecutedProblem,
    hidden: usize,
    limits: Limits,
    runner: ProgramRunner<'_>,
) -> Result<Option<ProblemTask>, Failure> {
    let named = format!("{}\n\nf = {}\n", row.reference, row.checks.function);
    let filter = ProgramFilter { max_output_chars: usize::MAX, min_distinct_outputs: 1 };
    let inputs = row.inputs.iter().take(hidden).cloned().collect();
    let pairs = execute_on(&filter, limits, &named, inputs, runner).or_fail(ExitCode::Host)?;
    let text = format!("{}\n\nThe function is to be named `f`.", row.prompt.trim_end());
    Ok(pairs.map(|pairs| problem(text, named, pairs)))
}
