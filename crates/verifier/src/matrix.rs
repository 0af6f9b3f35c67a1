//! Judges programs × problems, on all cores.
//!
//! For many programs and many tests, such as Sol-Ver's code × test matrix. Invariants: a cell is what [`judge_program`] returns for it
//! alone; repeated rows and columns are judged once; a host fault concerns its cell only; a cell that did not run is neither failed nor
//! passed.

use std::collections::HashMap;
use std::hash::Hash;

use veriplay_core::{Dropped, Execute, Limits, Problem, Status, Verdict, content_hash};

use crate::problems::{ProblemRequest, judge_program};
use crate::runner::on_all_cores;

/// Which programs to judge on which problems, and how.
#[derive(Debug, Clone, Copy)]
pub struct MatrixRequest<'a> {
    /// The rows: whole programs without the preludes of the problems. Equal texts are judged once.
    pub programs: &'a [&'a str],
    /// The columns. Problems that are equal in all fields are judged once, so give equal tests equal `task_id`s.
    pub problems: &'a [&'a Problem],
    /// The name of the image.
    pub image: &'a str,
    /// Limits of every job, unless the problem has its own.
    pub limits: Limits,
    /// Seeds the jobs.
    pub seed: u64,
    /// Whether a row ends at its first cell that is not accepted, and each cell at its first failed case. It saves work but not time: the
    /// cells of a row run one after another, and only rows in parallel.
    pub early_stop: bool,
}

/// The result of one program at one problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatrixCell {
    /// It was judged.
    Judged(Verdict),
    /// A host fault, or a problem that cannot be judged. It says nothing about the program.
    Dropped(Dropped),
    /// An earlier cell ended the row. It says nothing about the program.
    NotRun,
}

impl MatrixCell {
    /// The verdict, if the cell has one.
    #[must_use]
    pub const fn verdict(&self) -> Option<&Verdict> {
        match self {
            MatrixCell::Judged(verdict) => Some(verdict),
            MatrixCell::Dropped(_) | MatrixCell::NotRun => None,
        }
    }

    /// Whether the program is accepted.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict().is_some_and(|verdict| verdict.status == Status::Accepted)
    }
}

/// A row for each program, a column for each problem, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<Vec<MatrixCell>>,
}

impl Matrix {
    /// The rows, in the order of the programs; each has a cell for each problem, in their order.
    #[must_use]
    pub fn rows(&self) -> &[Vec<MatrixCell>] {
        &self.rows
    }

    /// Program `row` at problem `column`; `None` outside the matrix.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<&MatrixCell> {
        self.rows.get(row)?.get(column)
    }
}

/// Judges every program on every problem.
pub fn judge_matrix(execute: &dyn Execute, request: &MatrixRequest<'_>) -> Matrix {
    let programs = Distinct::from_items(request.programs.iter().copied());
    let problems = Distinct::from_items(request.problems.iter().map(|problem| content_hash(*problem)));
    let plan = MatrixPlan { execute, request, programs: &programs, problems: &problems };
    let judged = if request.early_stop { plan.rows_until_failure() } else { plan.all_cells() };
    let row = |&program: &usize| expand(&judged[program], &problems.places, request.early_stop);
    Matrix { rows: programs.places.iter().map(row).collect() }
}

/// The distinct items of a list.
pub(crate) struct Distinct {
    /// The index of the first occurrence of each distinct item.
    pub(crate) firsts: Vec<usize>,
    /// For each item of the list, its index into `firsts`.
    pub(crate) places: Vec<usize>,
}

impl Distinct {
    pub(crate) fn from_items<K: Hash + Eq>(items: impl Iterator<Item = K>) -> Self {
        let (mut known, mut firsts, mut places) = (HashMap::new(), Vec::new(), Vec::new());
        for (index, item) in items.enumerate() {
            let place = *known.entry(item).or_insert_with(|| {
                firsts.push(index);
                firsts.len() - 1
            });
            places.push(place);
        }
        Self { firsts, places }
    }
}

/// Gives every request what `run` gives for the first one with its key: equal requests are run once.
pub fn run_distinct<Q: Clone, K: Hash + Eq, R: Clone>(
    requests: &[Q],
    key: impl Fn(&Q) -> K,
    run: impl FnOnce(&[Q]) -> Vec<R>,
) -> Vec<R> {
    let Distinct { firsts, places } = Distinct::from_items(requests.iter().map(key));
    let distinct: Vec<Q> = firsts.into_iter().map(|first| requests[first].clone()).collect();
    let results = run(&distinct);
    places.into_iter().map(|place| results[place].clone()).collect()
}

/// The cells to judge: distinct programs × distinct problems.
struct MatrixPlan<'a> {
    execute: &'a dyn Execute,
    request: &'a MatrixRequest<'a>,
    programs: &'a Distinct,
    problems: &'a Distinct,
}

impl MatrixPlan<'_> {
    /// Runs each cell as a task of its own, so that a long row does not leave cores idle.
    fn all_cells(&self) -> Vec<Vec<MatrixCell>> {
        let columns = self.problems.firsts.len();
        let count = self.programs.firsts.len() * columns;
        let cells: Vec<MatrixCell> = on_all_cores(0..count, |at| self.cell(at / columns, at % columns));
        let mut cells = cells.into_iter();
        self.programs.firsts.iter().map(|_| cells.by_ref().take(columns).collect()).collect()
    }

    fn rows_until_failure(&self) -> Vec<Vec<MatrixCell>> {
        on_all_cores(0..self.programs.firsts.len(), |row| self.row_until_failure(row))
    }

    /// The cells of a row up to the first that is not accepted.
    fn row_until_failure(&self, row: usize) -> Vec<MatrixCell> {
        let mut cells = Vec::new();
        for column in 0..self.problems.firsts.len() {
            cells.push(self.cell(row, column));
            if !cells[column].is_accepted() {
                break;
            }
        }
        cells
    }

    fn cell(&self, row: usize, column: usize) -> MatrixCell {
        let program = self.request.programs[self.programs.firsts[row]];
        let problem = self.request.problems[self.problems.firsts[column]];
        let MatrixRequest { image, limits, seed, early_stop, .. } = *self.request;
        match judge_program(self.execute, &ProblemRequest { problem, program, image, limits, seed, early_stop }) {
            Ok(verdict) => MatrixCell::Judged(verdict),
            Err(dropped) => MatrixCell::Dropped(dropped),
        }
    }
}

/// Expands the distinct cells of a row to the requested columns. Cells after the end of a row are not run, even where an equal column
/// before the end was: whether a cell runs must not depend on other columns.
fn expand(judged: &[MatrixCell], places: &[usize], early_stop: bool) -> Vec<MatrixCell> {
    let mut ended = false;
    let cells = places.iter().map(|&place| match judged.get(place) {
        Some(cell) if !ended => {
            ended = early_stop && !cell.is_accepted();
            cell.clone()
        }
        _ => MatrixCell::NotRun,
    });
    cells.collect()
}
