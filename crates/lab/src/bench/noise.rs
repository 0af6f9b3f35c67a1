//! Whether the numbers of a benchmark are to be trusted. On a busy machine they are not.

use serde::Serialize;
use veriplay_console::progress::counted;

use super::rounds::MeasuredJob;

/// The spread between rounds, as a share of their median, above which a measurement is noisy.
const NOISY_SPREAD: f64 = 0.2;
/// Runnable processes for each processor before the start from which on a machine is busy.
const BUSY_LOAD: f64 = 0.5;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Noise {
    trusted: bool,
    reasons: Vec<String>,
}

impl Noise {
    /// Judges what was measured, on a machine with this load before the start and these processors.
    pub(crate) fn new(measured: &[MeasuredJob], load: (Option<f64>, usize)) -> Self {
        let reasons: Vec<String> = spread_reason(measured).into_iter().chain(load_reason(load.0, load.1)).collect();
        Self { trusted: reasons.is_empty(), reasons }
    }

    /// That the numbers are not to be trusted, and why; `None` where they are.
    pub(crate) fn distrust(&self) -> Option<String> {
        (!self.trusted).then(|| format!("these numbers are not to be trusted: {}", self.reasons.join("; ")))
    }

    pub(crate) fn warning(&self) -> Option<String> {
        Some(format!("warning: {}", self.distrust()?))
    }
}

/// How many measurements have rounds that differ much, and which differs most.
fn spread_reason(measured: &[MeasuredJob]) -> Option<String> {
    let rows = measured.iter().flat_map(|job| job.by_threads.iter().map(move |row| (job.job, row)));
    let spreads: Vec<(f64, String)> = rows
        .flat_map(|(job, row)| {
            row.baselines.iter().filter_map(move |(baseline, samples)| {
                Some((samples.spread()?, format!("`{baseline}` on `{job}` (threads: {})", row.threads)))
            })
        })
        .collect();
    let noisy = spreads.iter().filter(|(spread, _)| *spread > NOISY_SPREAD).count();
    let (most, of) = spreads.iter().max_by(|one, other| one.0.total_cmp(&other.0)).filter(|_| noisy > 0)?;
    let all = spreads.len();
    let (limit, most) = (100.0 * NOISY_SPREAD, 100.0 * most);
    Some(format!("the rounds of {noisy} of {all} measurements spread by more than {limit:.0} %, {of} by {most:.0} %"))
}

fn load_reason(load: Option<f64>, processors: usize) -> Option<String> {
    let load = load.filter(|load| *load >= BUSY_LOAD * processors as f64)?;
    Some(format!(
        "other programs were running: the load before the start was {load}, with {}",
        counted(processors, "processor")
    ))
}

#[cfg(test)]
mod tests {
    use super::Noise;
    use crate::bench::rounds::{MeasuredJob, Samples, ThreadSamples};

    fn measured(per_s: [f64; 3]) -> Vec<MeasuredJob> {
        let row = |threads, per_s: [f64; 3]| {
            let samples = Samples { per_s: per_s.to_vec(), ..Samples::default() };
            ThreadSamples { threads, baselines: vec![("fork".to_owned(), samples)] }
        };
        vec![MeasuredJob { job: "empty", by_threads: vec![row(1, [100.0; 3]), row(2, per_s)] }]
    }

    #[test]
    fn an_idle_machine_with_steady_rounds_is_trusted() {
        for load in [Some(0.3), None] {
            assert_eq!(Noise::new(&measured([100.0, 104.0, 98.0]), (load, 2)).warning(), None);
        }
    }

    #[test]
    fn rounds_that_differ_and_a_load_are_named() {
        let noise = Noise::new(&measured([100.0, 140.0, 90.0]), (Some(5.02), 2));
        let warning = noise.warning().expect("there is one");
        for part in
            ["1 of 2 measurements", "more than 20 %", "`fork` on `empty` (threads: 2) by 50 %", "5.02", "2 processors"]
        {
            assert!(warning.contains(part), "no `{part}` in {warning}");
        }
        assert!(!noise.trusted && noise.reasons.len() == 2);
    }
}
