//! The report of the cost benchmark, as data and as a table, and whether its goal is met.

use std::fmt::Write;

use serde::Serialize;
use veriplay_console::progress::counted;
use veriplay_core::{Limits, SCHEMA_VERSION};
use veriplay_corpus::ORDINARY_LOOP;

use super::{MeasuredProgram, RunEnd};
use crate::bench::machine::Machine;

/// The highest allowed ratio of a program's time per fuel to that of an ordinary loop.
const GOAL: f64 = 10.0;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct CostReport {
    schema_version: u32,
    /// The goal for `ratio`.
    goal: f64,
    /// Whether every program meets it and ends by its fuel.
    met: bool,
    fuel: u64,
    limits: Limits,
    /// Seconds per billion units of fuel in the ordinary loop.
    ordinary_seconds_per_gfuel: f64,
    /// Worst first.
    programs: Vec<CostRow>,
    machine: Machine,
}

#[derive(Debug, Clone, Serialize)]
struct CostRow {
    name: String,
    /// `script`, `call`, `output` or `input`.
    job: &'static str,
    attacks: String,
    end: String,
    fuel: u64,
    seconds: f64,
    seconds_per_gfuel: f64,
    /// To the ordinary loop.
    ratio: f64,
    /// Predicted seconds with the fuel of the default limits.
    seconds_at_limit: f64,
    /// Whether the deadline ended it, or would end it before the default fuel does.
    met_deadline: bool,
}

impl CostReport {
    /// The report on `measured`, which includes the ordinary loop.
    pub fn new(measured: &[MeasuredProgram], fuel: u64, limits: Limits, machine: Machine) -> Self {
        let ordinary = measured.iter().find(|measured| measured.program.name == ORDINARY_LOOP);
        let ordinary = ordinary.map_or(f64::NAN, MeasuredProgram::seconds_per_gfuel);
        let mut programs: Vec<CostRow> =
            measured.iter().map(|measured| CostRow::new(measured, ordinary, &limits)).collect();
        programs.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        let met = programs.iter().all(CostRow::is_met);
        let (schema_version, goal) = (SCHEMA_VERSION, GOAL);
        Self { schema_version, goal, met, fuel, limits, ordinary_seconds_per_gfuel: ordinary, programs, machine }
    }

    /// The names of programs beyond the goal.
    pub fn missed(&self) -> Vec<&str> {
        self.programs.iter().filter(|row| !row.is_met()).map(|row| row.name.as_str()).collect()
    }

    /// For people.
    pub fn text(&self) -> String {
        let gfuel = |fuel: u64| fuel as f64 / 1e9;
        let mut out = format!(
            "{}\n{} of at most {} Gfuel each; by default a job has {} Gfuel and {} s\n\n",
            self.machine.text(),
            counted(self.programs.len(), "program"),
            gfuel(self.fuel),
            gfuel(self.limits.fuel),
            gfuel(self.limits.deadline_ns)
        );
        let _ = writeln!(
            out,
            "{:>8}{:>10}{:>9}{:>9}{:>11}  {:<15}{:<8}program",
            "ratio", "s/Gfuel", "Gfuel", "s", "s at limit", "ended by", "job"
        );
        for row in &self.programs {
            let mark = if row.is_met() { ' ' } else { '!' };
            let _ = writeln!(
                out,
                "{mark}{:>7.2}{:>10.3}{:>9.3}{:>9.3}{:>11.2}  {:<15}{:<8}{}",
                row.ratio,
                row.seconds_per_gfuel,
                gfuel(row.fuel),
                row.seconds,
                row.seconds_at_limit,
                row.end,
                row.job,
                row.name
            );
        }
        let missed = self.missed().len();
        let verdict = if missed == 0 { "all meet it".to_owned() } else { format!("{missed} miss it (`!`)") };
        let _ = write!(out, "\ngoal: at most {GOAL} times an ordinary loop, and ended by fuel: {verdict}");
        out
    }
}

impl CostRow {
    fn new(measured: &MeasuredProgram, ordinary: f64, limits: &Limits) -> Self {
        let MeasuredProgram { program, whole, .. } = measured;
        let seconds_per_gfuel = measured.seconds_per_gfuel();
        let goes_on = whole.end == RunEnd::Exit("fuel");
        let seconds_at_limit = if goes_on { seconds_per_gfuel * limits.fuel as f64 / 1e9 } else { whole.seconds };
        let deadline = limits.deadline_ns as f64 / 1e9;
        Self {
            name: program.name.clone(),
            job: program.job.word(),
            attacks: program.attacks.clone(),
            end: whole.end.word(),
            fuel: whole.fuel,
            seconds: whole.seconds,
            seconds_per_gfuel,
            ratio: seconds_per_gfuel / ordinary,
            seconds_at_limit,
            met_deadline: whole.end == RunEnd::Deadline || seconds_at_limit > deadline,
        }
    }

    fn is_met(&self) -> bool {
        self.ratio <= GOAL && !self.met_deadline
    }
}

impl RunEnd {
    fn word(self) -> String {
        match self {
            RunEnd::Exit(word) => word.to_owned(),
            RunEnd::Deadline => "the deadline".to_owned(),
            RunEnd::Status(status) => status.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use veriplay_corpus::{CostJob, CostProgram};

    use super::super::TimedRun;
    use super::*;

    const GFUEL: u64 = 1_000_000_000;

    fn limits() -> Limits {
        Limits { fuel: 20 * GFUEL, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 30 * GFUEL }
    }

    fn measured(name: &str, half: (f64, u64), whole: (f64, u64), end: RunEnd) -> MeasuredProgram {
        let (name, attacks) = (name.to_owned(), String::new());
        let program = CostProgram { name, attacks, job: CostJob::Script, program: String::new() };
        let run = |(seconds, fuel)| TimedRun { seconds, fuel, end };
        MeasuredProgram { program, half: run(half), whole: run(whole) }
    }

    fn report(others: &[MeasuredProgram], deadline_ns: u64) -> CostReport {
        let ordinary = measured(ORDINARY_LOOP, (0.1, GFUEL), (0.2, 2 * GFUEL), RunEnd::Exit("fuel"));
        let all: Vec<MeasuredProgram> = others.iter().cloned().chain([ordinary]).collect();
        CostReport::new(&all, 2 * GFUEL, Limits { deadline_ns, ..limits() }, Machine::of(None))
    }

    #[test]
    fn a_program_misses_the_goal_by_its_cost_or_by_the_deadline() {
        let (fuel, returned, late) = (RunEnd::Exit("fuel"), RunEnd::Exit("returned"), 30 * GFUEL);
        for (name, half, whole, end, deadline, ratio, is_missed) in [
            ("as dear as the loop", (0.1, GFUEL), (0.2, 2 * GFUEL), fuel, late, 1.0, false),
            ("eleven times as dear", (1.1, GFUEL), (2.2, 2 * GFUEL), fuel, late, 11.0, true),
            // What is set up first does not hide what is repeated.
            ("cheap in its first half", (0.05, GFUEL), (2.05, 2 * GFUEL), fuel, late, 20.0, true),
            // It counts as using a little fuel.
            ("once", (0.05, 0), (0.05, 0), returned, late, 5.0, false),
            ("once, and slow", (0.5, 0), (0.5, 0), returned, late, 50.0, true),
            ("ended by the deadline", (0.1, GFUEL), (0.2, 2 * GFUEL), RunEnd::Deadline, late, 1.0, true),
            // With the default fuel it takes 18 s.
            ("near the deadline", (0.9, GFUEL), (1.8, 2 * GFUEL), fuel, 10 * GFUEL, 9.0, true),
        ] {
            let report = report(&[measured(name, half, whole, end)], deadline);
            let missed: &[&str] = if is_missed { &[name] } else { &[] };
            assert_eq!((report.missed(), report.met), (missed.to_vec(), !is_missed));
            let row = report.programs.iter().find(|row| row.name == name).expect("it has a row");
            assert!((row.ratio - ratio).abs() < 1e-9, "{name}: {}", row.ratio);
            assert_eq!(report.text().contains("1 miss it"), is_missed, "{}", report.text());
        }
        let dear = measured("dear", (0.5, GFUEL), (1.0, 2 * GFUEL), fuel);
        assert_eq!(report(&[dear], late).programs[0].name, "dear", "worst first");
        let alone = report(&[], late);
        assert!(alone.met && alone.programs[0].ratio == 1.0, "the loop is its own measure");
    }
}
