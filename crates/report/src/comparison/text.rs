//! A comparison for people: tables with a column for each run.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result};

use veriplay_selfplay::eval_table::EvalNumbers;
use veriplay_selfplay::intervals::Estimate;

use super::suites::MeasuredSuites;
use super::{Comparison, CurveEnd, MeasuredRow, RunDifference, RunSummary};

const GAP: usize = 2;

const NOTHING: &str = "-";

/// A number of a table: its name, and where it is.
type Measure = (&'static str, fn(&EvalNumbers<Estimate>) -> Estimate);

/// The three measures by the names that tables have for them.
const MEASURES: [Measure; 3] = [
    ("pass@1 (T=1)", |measures| measures.pass1),
    ("greedy", |measures| measures.greedy),
    ("pass@8", |measures| measures.pass8),
];

/// A line of a table: its name and its cells.
type Line = (String, Vec<String>);

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let names: Vec<&str> = self.runs.iter().map(|run| run.run.as_str()).collect();
        let others: Vec<&str> = self.differences.iter().map(|one| one.run.as_str()).collect();
        write_table(f, &self.game, &names, &self.progress())?;
        write_table(f, "\nEvaluation, % (95 % interval)", &names, &self.evaluations())?;
        let heading = format!("\nAfter training, difference to {}, points (95 % interval)", names[0]);
        write_table(f, &heading, &others, &self.difference_lines())?;
        write_table(f, "\nCurves, last value (mean over the last tenth of the steps)", &names, &self.curve_lines())?;
        for one in &self.differences {
            write_config(f, one)?;
        }
        for note in &self.notes {
            writeln!(f, "\nnote: {note}")?;
        }
        write!(f, "\nplots: `veriplay report {} --out report.html`", names.join(" "))
    }
}

impl Comparison {
    fn line(&self, name: impl Into<String>, cell: impl Fn(&RunSummary) -> String) -> Line {
        (name.into(), self.runs.iter().map(cell).collect())
    }

    fn progress(&self) -> Vec<Line> {
        let set = |run: &RunSummary| run.eval_set.map_or(NOTHING, |set| set.label()).to_owned();
        vec![self.line("steps", |run| format!("{} of {}", run.steps_done, run.steps)), self.line("evaluation set", set)]
    }

    /// Every measure of every row, then the other numbers and the public sets: before training and after it.
    fn evaluations(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (measure, of) in MEASURES {
            for row in self.rows() {
                self.add_before_and_after(&mut lines, &format!("{measure}, {row}"), |run, is_after| {
                    let evaluation = if is_after { &run.eval.after } else { &run.eval.before };
                    share(evaluation.as_ref().and_then(|one| measures(&one.rows, one.mean.as_ref(), row)).map(of))
                });
            }
        }
        let evaluated = self.runs.iter().filter_map(|run| run.eval.after.as_ref().or(run.eval.before.as_ref()));
        let numbers: BTreeSet<&String> = evaluated.flat_map(|one| one.numbers.keys()).collect();
        for name in numbers {
            self.add_before_and_after(&mut lines, name, |run, is_after| {
                let evaluation = if is_after { &run.eval.after } else { &run.eval.before };
                let number = evaluation.as_ref().and_then(|one| one.numbers.get(name).copied().flatten());
                number.map_or_else(|| NOTHING.to_owned(), |number| format!("{:.1}", 100.0 * number))
            });
        }
        let suites: BTreeSet<&String> = self.runs.iter().flat_map(|run| run.suites.before.keys()).collect();
        for name in suites {
            self.add_before_and_after(&mut lines, &format!("pass@1, {name}"), |run, is_after| {
                let suites: &MeasuredSuites = if is_after { &run.suites.after } else { &run.suites.before };
                share(suites.get(name).and_then(|suite| suite.pass1))
            });
        }
        lines
    }

    /// The names of the rows of all evaluations, in their order, then that of the mean.
    fn rows(&self) -> Vec<&str> {
        let evaluations = self.runs.iter().flat_map(|run| [&run.eval.before, &run.eval.after]).flatten();
        let mut names: Vec<&str> = Vec::new();
        for row in evaluations.flat_map(|one| &one.rows) {
            if !names.contains(&row.row.as_str()) {
                names.push(&row.row);
            }
        }
        if !names.is_empty() {
            names.push(MEAN);
        }
        names
    }

    fn add_before_and_after(&self, lines: &mut Vec<Line>, name: &str, cell: impl Fn(&RunSummary, bool) -> String) {
        lines.push(self.line(format!("{name}, before"), |run| cell(run, false)));
        lines.push(self.line(format!("{name}, after"), |run| cell(run, true)));
    }

    fn difference_lines(&self) -> Vec<Line> {
        let line = |name: String, cell: &dyn Fn(&RunDifference) -> String| -> Line {
            (name, self.differences.iter().map(cell).collect())
        };
        let evaluated = || self.differences.iter().filter_map(|one| one.eval.as_ref());
        let mut lines = Vec::new();
        if evaluated().next().is_some() {
            lines.push(line("tasks".to_owned(), &|one| {
                one.eval.as_ref().map_or(NOTHING, |eval| pairing(eval.paired)).to_owned()
            }));
        }
        let mut rows: Vec<&str> =
            evaluated().next().into_iter().flat_map(|one| &one.rows).map(|row| row.row.as_str()).collect();
        if !rows.is_empty() {
            rows.push(MEAN);
        }
        for (measure, of) in MEASURES {
            for row in &rows {
                let cell = |one: &RunDifference| {
                    points(one.eval.as_ref().and_then(|eval| measures(&eval.rows, Some(&eval.mean), row)).map(of))
                };
                lines.push(line(format!("{measure}, {row}"), &cell));
            }
        }
        let suites: BTreeSet<&String> = self.differences.iter().flat_map(|one| one.suites.keys()).collect();
        for name in suites {
            let cell = |one: &RunDifference| {
                let suite = one.suites.get(name);
                let pairing = suite.map_or("", |suite| if suite.paired { "" } else { ", independent" });
                points(suite.map(|suite| suite.pass1)) + pairing
            };
            lines.push(line(format!("pass@1, {name}"), &cell));
        }
        lines
    }

    fn curve_lines(&self) -> Vec<Line> {
        let paths: BTreeSet<&String> = self.runs.iter().flat_map(|run| run.curves.keys()).collect();
        let cell = |path: &String, run: &RunSummary| run.curves.get(path).map_or_else(|| NOTHING.to_owned(), curve_end);
        paths.into_iter().map(|path| self.line(path, |run| cell(path, run))).collect()
    }
}

/// The name of the last row of an evaluation.
const MEAN: &str = "mean";

/// The measures of a row, or the means over rows.
fn measures<'a>(
    rows: &'a [MeasuredRow],
    mean: Option<&'a EvalNumbers<Estimate>>,
    name: &str,
) -> Option<&'a EvalNumbers<Estimate>> {
    let row = rows.iter().find(|row| row.row == name).map(|row| &row.measures);
    if name == MEAN { row.or(mean) } else { row }
}

const fn pairing(is_paired: bool) -> &'static str {
    if is_paired { "the same, task by task" } else { "independent" }
}

/// A share with its interval, in percent.
fn share(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return NOTHING.to_owned() };
    let [value, low, high] = [value, interval[0], interval[1]].map(|share| format!("{:.1}", 100.0 * share));
    format!("{value} ({low} to {high})")
}

/// A difference of shares with its interval, in points.
fn points(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return NOTHING.to_owned() };
    let [value, low, high] = [value, interval[0], interval[1]].map(super::super::points);
    format!("{value} ({low} to {high})")
}

fn curve_end(end: &CurveEnd) -> String {
    let mean = end.mean_of_last_tenth.map_or_else(|| NOTHING.to_owned(), number);
    format!("{} ({mean})", number(end.last))
}

/// A number of any size with about four digits.
fn number(number: f64) -> String {
    match number.abs() {
        size if size >= 1000.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.2}"),
        size if size >= 0.001 || size == 0.0 => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// Writes a heading and its lines, of which there may be none, with columns of one width each.
fn write_table(f: &mut Formatter<'_>, heading: &str, columns: &[&str], lines: &[Line]) -> Result {
    if lines.is_empty() || columns.is_empty() {
        return Ok(());
    }
    writeln!(f, "{heading}")?;
    let head: Line = (String::new(), columns.iter().map(|name| (*name).to_owned()).collect());
    let all: Vec<&Line> = std::iter::once(&head).chain(lines).collect();
    let length = |text: &String| text.chars().count();
    let first = all.iter().map(|(name, _)| length(name)).max().unwrap_or_default() + GAP;
    let width =
        |column: usize| all.iter().filter_map(|(_, cells)| cells.get(column).map(length)).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.len()).map(|column| width(column) + GAP).collect();
    for (name, cells) in all {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = format!("{name:<first$}{}", cells.collect::<String>());
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Writes the keys whose values differ, as `config diff` does.
fn write_config(f: &mut Formatter<'_>, one: &RunDifference) -> Result {
    writeln!(f, "\nConfiguration, {} -> {}", one.first, one.run)?;
    if one.config.is_empty() {
        return writeln!(f, "no key differs");
    }
    one.config.iter().try_for_each(|difference| writeln!(f, "{difference}"))
}

#[cfg(test)]
mod tests {
    use veriplay_selfplay::intervals::Estimate;

    use super::{number, points, share};

    #[test]
    fn numbers_are_in_percent_in_points_and_short() {
        let estimate = Estimate { value: 0.25, interval: [-0.5, 0.75] };
        assert_eq!(share(Some(estimate)), "25.0 (-50.0 to 75.0)");
        assert_eq!(points(Some(estimate)), "+25.0 (-50.0 to +75.0)");
        assert_eq!(points(None), "-");
        let found = [12345.6, 123.456, 0.5, 0.0, 0.000_012_3].map(number);
        assert_eq!(found, ["12346", "123.46", "0.5000", "0.0000", "1.23e-5"]);
    }
}
