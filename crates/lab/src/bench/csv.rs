//! The report of a benchmark as CSV: a row for each job, number of threads and baseline.

use super::baselines::VERIPLAY;
use super::rounds::{MeasuredJob, Samples, ThreadSamples};

/// The first line. `speed_of_veriplay` is Veriplay's jobs a second over the baseline's.
const HEADER: &str = "job,threads,baseline,per_s,spread,p50_us,p99_us,timed,fuel,wrong,speed_of_veriplay\n";

/// Whether a text begins as a table of this command, of any version.
pub fn is_csv(text: &str) -> bool {
    text.starts_with("job,threads,baseline,")
}

/// All that was measured. Names hold nothing that would need quotes, and what there is no number of is empty.
pub fn csv(measured: &[MeasuredJob]) -> String {
    let mut text = HEADER.to_owned();
    for job in measured {
        for row in &job.by_threads {
            row.baselines.iter().for_each(|(baseline, samples)| text += &line(job.job, row, baseline, samples));
        }
    }
    text
}

fn line(job: &str, row: &ThreadSamples, baseline: &str, samples: &Samples) -> String {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let cells = [
        job.to_owned(),
        row.threads.to_string(),
        baseline.to_owned(),
        number(samples.median_per_s()),
        number(samples.spread()),
        number(samples.latency_us(50.0)),
        number(samples.latency_us(99.0)),
        samples.us.len().to_string(),
        samples.fuel.map_or(String::new(), |fuel| fuel.to_string()),
        samples.wrong.count.to_string(),
        number(row.speed_of(VERIPLAY, baseline)),
    ];
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{csv, is_csv};
    use crate::bench::rounds::{MeasuredJob, Samples, ThreadSamples};
    use crate::bench::worker::WrongResults;

    #[test]
    fn a_row_has_the_numbers_of_a_baseline() {
        let samples = |per_s: f64| Samples { per_s: vec![per_s; 3], us: vec![500.0, 700.0], ..Samples::default() };
        let wrong = Samples { wrong: WrongResults { count: 4, first: None }, ..samples(9.0) };
        let own = Samples { fuel: Some(77), ..samples(3000.0) };
        let baselines =
            vec![("fork".to_owned(), samples(1500.0)), ("mine".to_owned(), wrong), ("veriplay".to_owned(), own)];
        let job = MeasuredJob { job: "empty", by_threads: vec![ThreadSamples { threads: 2, baselines }] };
        let text = csv(&[job]);
        assert!(is_csv(&text) && !is_csv("import csv\n"));
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "empty,2,fork,1500,0,500,700,2,,0,2",
                "empty,2,mine,9,0,500,700,2,,4,",
                "empty,2,veriplay,3000,0,500,700,2,77,0,",
            ]
        );
    }
}
