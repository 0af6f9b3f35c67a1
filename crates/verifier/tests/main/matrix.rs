//! Programs × problems: each cell as if judged alone, each different one once.

use std::collections::HashSet;

use proptest::prelude::*;
use veriplay_core::{Comparison, Problem, Status, content_hash};
use veriplay_verifier::{Matrix, MatrixCell, MatrixRequest, ProblemRequest, judge_matrix, judge_program};

use crate::problems::{calls_problem, fresh_problem, stdio_problem};
use crate::table::{Gives, LIMITS, Table, int_of, read};

const PROGRAMS: [&str; 4] = ["square", "double", "faulty", "raises"];

/// `square` and `double` agree on 0 and 2; `faulty` is a host fault for multiples of three.
fn table() -> Table {
    let on = |function: fn(i64) -> i64| {
        move |call: &crate::table::Call<'_>| Gives::Value(read(&function(int_of(&call.arguments[0])).to_string()))
    };
    Table::default()
        .with("square", on(|x| x * x))
        .with("double", on(|x| 2 * x))
        .with("faulty", |call| match int_of(&call.arguments[0]) {
            x if x % 3 == 0 => Gives::HostFault,
            x => Gives::Value(read(&(x * x).to_string())),
        })
        .with("raises", |_| Gives::Raises("ValueError"))
}

/// Asks for the square of `x`; every second one in two jobs.
fn problem(x: i64) -> Problem {
    let exact = Comparison::by("exact");
    let (input, squared) = (x.to_string(), (x * x).to_string());
    match x % 2 {
        0 => calls_problem(&[(&input, &squared)], exact),
        _ => fresh_problem(&[(&input, &squared), ("5", "25")], exact),
    }
}

fn matrix(table: &Table, programs: &[&str], problems: &[Problem], early_stop: bool) -> Matrix {
    let problems: Vec<&Problem> = problems.iter().collect();
    let request = MatrixRequest { programs, problems: &problems, image: "python", limits: LIMITS, seed: 9, early_stop };
    judge_matrix(table, &request)
}

fn alone(table: &Table, program: &str, problem: &Problem, early_stop: bool) -> MatrixCell {
    let request = ProblemRequest { problem, program, image: "python", limits: LIMITS, seed: 9, early_stop };
    match judge_program(table, &request) {
        Ok(verdict) => MatrixCell::Judged(verdict),
        Err(dropped) => MatrixCell::Dropped(dropped),
    }
}

fn words(row: &[MatrixCell]) -> Vec<&'static str> {
    let word = |cell: &MatrixCell| match cell {
        MatrixCell::Judged(verdict) if verdict.status == Status::Accepted => "right",
        MatrixCell::Judged(_) => "wrong",
        MatrixCell::Dropped(_) => "dropped",
        MatrixCell::NotRun => "not run",
    };
    row.iter().map(word).collect()
}

#[test]
fn a_row_is_a_program_and_a_column_a_problem() {
    let found = matrix(&table(), &PROGRAMS, &[2, 3, 5].map(problem), false);
    let rows: Vec<_> = found.rows().iter().map(|row| words(row)).collect();
    assert_eq!(
        rows,
        [
            ["right", "right", "right"],
            ["right", "wrong", "wrong"],
            ["right", "dropped", "right"],
            ["wrong", "wrong", "wrong"]
        ]
    );
    assert_eq!(found.cell(1, 2), Some(&found.rows()[1][2]));
    assert_eq!((found.cell(4, 0), found.cell(0, 3)), (None, None));
}

#[test]
fn an_early_stop_ends_each_row_at_its_own_first_cell_that_is_not_accepted() {
    let table = table();
    let found = matrix(&table, &PROGRAMS, &[2, 3, 2, 5].map(problem), true);
    let rows: Vec<_> = found.rows().iter().map(|row| words(row)).collect();
    assert_eq!(
        rows,
        [
            ["right", "right", "right", "right"],
            ["right", "wrong", "not run", "not run"],
            ["right", "dropped", "not run", "not run"],
            ["wrong", "not run", "not run", "not run"],
        ]
    );
    // `square`: one job at 2, two at each of 3 and 5, none at the second 2. `double`: one and one, for its case fails at
    // once. `faulty`: one and the one that fails. `raises`: one.
    assert_eq!(table.jobs().len(), 5 + 2 + 2 + 1);
}

#[test]
fn a_problem_that_cannot_be_judged_is_dropped_for_every_program() {
    let problems = [problem(2), stdio_problem(&[], Comparison::by("exact"))];
    let found = matrix(&table(), &["square", "double"], &problems, false);
    for row in found.rows() {
        assert_eq!(words(row), ["right", "dropped"]);
    }
}

#[test]
fn an_empty_side_makes_an_empty_matrix() {
    let table = table();
    for early_stop in [false, true] {
        assert!(matrix(&table, &[], &[problem(1)], early_stop).rows().is_empty());
        assert_eq!(matrix(&table, &["square", "double"], &[], early_stop).rows(), [vec![], vec![]]);
    }
    assert!(table.jobs().is_empty());
}

#[test]
fn problems_that_differ_only_in_their_names_are_judged_each() {
    let table = table();
    let other = Problem { task_id: "set/2".to_owned(), ..problem(2) };
    matrix(&table, &["square"], &[problem(2), other], false);
    assert_eq!(table.jobs().len(), 2);
}

fn picked<'a>(programs: &[usize]) -> Vec<&'a str> {
    programs.iter().map(|&place| PROGRAMS[place]).collect()
}

/// What a row must be, from its cells judged alone.
fn ended(row: Vec<MatrixCell>, early_stop: bool) -> Vec<MatrixCell> {
    let end = row.iter().position(|cell| early_stop && !cell.is_accepted()).unwrap_or(row.len());
    row.into_iter().enumerate().map(|(at, cell)| if at > end { MatrixCell::NotRun } else { cell }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_cell_is_as_if_judged_alone(
        rows in prop::collection::vec(0_usize..4, 0..6),
        columns in prop::collection::vec(0_i64..6, 0..6),
        early_stop: bool,
    ) {
        let (programs, problems) = (picked(&rows), columns.iter().copied().map(problem).collect::<Vec<_>>());
        let found = matrix(&table(), &programs, &problems, early_stop);
        prop_assert_eq!(found.rows().len(), programs.len());
        for (row, program) in found.rows().iter().zip(&programs) {
            let cells = problems.iter().map(|problem| alone(&table(), program, problem, early_stop)).collect();
            prop_assert_eq!(row, &ended(cells, early_stop));
        }
    }

    #[test]
    fn what_is_there_twice_causes_no_further_jobs(
        rows in prop::collection::vec(0_usize..4, 0..6),
        columns in prop::collection::vec(0_i64..6, 0..6),
        early_stop: bool,
    ) {
        fn once<T: Clone + Eq + std::hash::Hash>(items: &[T]) -> Vec<T> {
            let mut seen = HashSet::new();
            items.iter().filter(|item| seen.insert((*item).clone())).cloned().collect()
        }
        let jobs = |rows: &[usize], columns: &[i64]| {
            let table = table();
            let problems: Vec<Problem> = columns.iter().copied().map(problem).collect();
            matrix(&table, &picked(rows), &problems, early_stop);
            let mut jobs: Vec<_> = table.jobs().iter().map(content_hash).collect();
            jobs.sort();
            jobs
        };
        prop_assert_eq!(jobs(&rows, &columns), jobs(&once(&rows), &once(&columns)));
    }

    #[test]
    fn rows_and_columns_in_another_order_are_the_same_cells_in_that_order(
        rows in Just((0..4).chain(0..2).collect::<Vec<usize>>()).prop_shuffle(),
        columns in Just((0..6).chain(2..4).collect::<Vec<i64>>()).prop_shuffle(),
    ) {
        let (sorted_rows, sorted_columns) = ((0..4).collect::<Vec<usize>>(), (0..6).collect::<Vec<i64>>());
        let all = |rows: &[usize], columns: &[i64]| {
            let problems: Vec<Problem> = columns.iter().copied().map(problem).collect();
            matrix(&table(), &picked(rows), &problems, false)
        };
        let (sorted, shuffled) = (all(&sorted_rows, &sorted_columns), all(&rows, &columns));
        for (at_row, &row) in rows.iter().enumerate() {
            for (at_column, &column) in columns.iter().enumerate() {
                let place = usize::try_from(column).unwrap();
                prop_assert_eq!(shuffled.cell(at_row, at_column), sorted.cell(row, place));
            }
        }
    }
}
