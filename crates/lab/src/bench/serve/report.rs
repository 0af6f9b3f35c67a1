//! The report of a load: how many answers were right, how many there were a second, and how long they took.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;
use veriplay_core::SCHEMA_VERSION;

use super::requests::Protocol;
use super::{Finished, LoadPlan, RequestResult};
use crate::bench::rounds::nearest_rank;

const SHOWN: usize = 5;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct LoadReport {
    schema_version: u32,
    url: String,
    protocol: Protocol,
    shape: LoadShape,
    seed: u64,
    /// Programs or attempts of each result: they sum to all that were asked.
    asked: u64,
    right: u64,
    wrong: u64,
    /// Those that the service said it could not measure.
    unmeasured: u64,
    /// Those of requests with another status than 200, by status.
    refused: BTreeMap<u16, u64>,
    timed_out: u64,
    lost: u64,
    /// Of the right and wrong ones, those from the service's cache.
    cached: u64,
    seconds: f64,
    /// Right and wrong ones a second.
    per_s: f64,
    /// Of requests that were answered with 200. `null` without any.
    latency_ms: Option<Latency>,
    /// In an open loop: how late requests were sent because as many as may be were under way.
    late_ms: Option<Latency>,
    wrong_answers: Vec<String>,
    lost_connections: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "loop", rename_all = "snake_case")]
pub(crate) enum LoadShape {
    /// A number of clients, each of which asks again when it is answered.
    Closed {
        in_flight: usize,
        batch: usize,
        new_connections: bool,
    },
    Open {
        per_s: f64,
        most_in_flight: usize,
        batch: usize,
        new_connections: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Latency {
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Latency {
    fn new(times: impl Iterator<Item = Duration>) -> Option<Self> {
        let mut ms: Vec<f64> = times.map(|time| time.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let at = |share| nearest_rank(&ms, share);
        Some(Self { p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)?, p999: at(0.999)?, max: at(1.0)? })
    }

    fn text(self) -> String {
        let Self { p50, p90, p99, p999, max } = self;
        format!("p50 {p50:.1} · p90 {p90:.1} · p99 {p99:.1} · p99.9 {p999:.1} · max {max:.1} ms")
    }
}

impl LoadReport {
    pub(super) fn new(plan: &LoadPlan, finished: &[Finished], elapsed: Duration) -> Self {
        let (batch, new_connections) = (plan.batch, plan.new_connections);
        let shape = match plan.rate {
            None => LoadShape::Closed { in_flight: plan.in_flight, batch, new_connections },
            Some(per_s) => LoadShape::Open { per_s, most_in_flight: plan.in_flight, batch, new_connections },
        };
        let answered = finished.iter().filter(|one| matches!(one.result, RequestResult::Answered(_)));
        let mut report = Self {
            schema_version: SCHEMA_VERSION,
            url: plan.target.to_string(),
            protocol: plan.protocol,
            shape,
            seed: plan.seed,
            asked: finished.len() as u64 * batch as u64,
            right: 0,
            wrong: 0,
            unmeasured: 0,
            refused: BTreeMap::new(),
            timed_out: 0,
            lost: 0,
            cached: 0,
            seconds: elapsed.as_secs_f64(),
            per_s: 0.0,
            latency_ms: Latency::new(answered.map(|one| one.latency)),
            late_ms: plan.rate.and_then(|_| Latency::new(finished.iter().map(|one| one.late))),
            wrong_answers: Vec::new(),
            lost_connections: Vec::new(),
        };
        finished.iter().for_each(|one| report.count(&one.result, batch as u64));
        report.per_s = (report.right + report.wrong) as f64 / report.seconds.max(1e-9);
        report
    }

    fn count(&mut self, result: &RequestResult, batch: u64) {
        match result {
            RequestResult::Answered(checked) => {
                self.right += checked.right;
                self.unmeasured += checked.unmeasured;
                self.cached += checked.cached;
                // An answer that cannot be read is wrong about all of its attempts.
                self.wrong += batch - checked.right - checked.unmeasured;
                let room = SHOWN.saturating_sub(self.wrong_answers.len());
                self.wrong_answers.extend(checked.wrong.iter().take(room).cloned());
            }
            RequestResult::Refused(status) => *self.refused.entry(*status).or_default() += batch,
            RequestResult::TimedOut => self.timed_out += batch,
            RequestResult::Lost(why) => {
                self.lost += batch;
                if self.lost_connections.len() < SHOWN && !self.lost_connections.contains(why) {
                    self.lost_connections.push(why.clone());
                }
            }
        }
    }

    /// Whether everything that was asked got its right answer.
    pub fn all_right(&self) -> bool {
        self.right == self.asked
    }

    /// Whether nothing that was asked got an answer.
    pub const fn is_silent(&self) -> bool {
        self.lost + self.timed_out == self.asked
    }

    /// The counts of what was not right, in words.
    pub fn failures(&self) -> String {
        let refused = self.refused.iter().map(|(status, count)| format!("{count} answered with HTTP {status}"));
        let counts = [
            (self.wrong, "wrong"),
            (self.unmeasured, "not measured"),
            (self.timed_out, "without an answer in time"),
            (self.lost, "lost with their connection"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        counts.chain(refused).collect::<Vec<_>>().join(", ")
    }

    /// For people.
    pub fn text(&self) -> String {
        let shape = match &self.shape {
            LoadShape::Closed { in_flight, batch, .. } => format!("{in_flight} in flight, {batch} a request"),
            LoadShape::Open { per_s, most_in_flight, batch, .. } => {
                format!("{per_s:.0} requests/s, {batch} a request, at most {most_in_flight} in flight")
            }
        };
        let mut text = format!("{} ({:?}): {shape}\n", self.url, self.protocol);
        let failures = if self.all_right() { String::new() } else { format!("; {}", self.failures()) };
        let _ = writeln!(text, "{} of {} right{failures}", self.right, self.asked);
        let _ = writeln!(text, "{:.0}/s over {:.1} s, {} from the cache", self.per_s, self.seconds, self.cached);
        let lines = [("latency", self.latency_ms), ("late", self.late_ms)];
        for (name, latency) in lines.into_iter().filter_map(|(name, latency)| Some((name, latency?))) {
            let _ = writeln!(text, "{name}: {}", latency.text());
        }
        for line in self.wrong_answers.iter().chain(&self.lost_connections) {
            let _ = writeln!(text, "  {line}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::Checked;
    use super::super::tests::plan;
    use super::*;

    fn finished(ms: u64, result: RequestResult) -> Finished {
        Finished { latency: Duration::from_millis(ms), late: Duration::from_millis(ms / 2), result }
    }

    #[test]
    fn everything_that_was_asked_is_counted_once() {
        let checked = Checked { right: 2, unmeasured: 1, cached: 3, wrong: vec!["w".to_owned()] };
        let results = [
            finished(10, RequestResult::Answered(checked)),
            finished(20, RequestResult::Answered(Checked { wrong: vec!["no JSON".to_owned()], ..Checked::default() })),
            finished(30, RequestResult::Refused(503)),
            finished(40, RequestResult::TimedOut),
            finished(50, RequestResult::Lost("gone".to_owned())),
        ];
        let report = LoadReport::new(&plan(5, None), &results, Duration::from_secs(2));
        let refused: u64 = report.refused.values().sum();
        assert_eq!((report.right, report.wrong, report.unmeasured, refused), (2, 5, 1, 4));
        assert_eq!((report.timed_out, report.lost, report.asked), (4, 4, 20));
        assert_eq!(report.per_s, 3.5);
        assert_eq!(report.latency_ms.map(|latency| (latency.p50, latency.max)), Some((10.0, 20.0)));
        assert!(report.late_ms.is_none() && !report.all_right());
        assert_eq!(
            report.failures(),
            "5 wrong, 1 not measured, 4 without an answer in time, 4 lost with their connection, 4 answered with HTTP 503"
        );
        assert_eq!(report.wrong_answers, ["w", "no JSON"]);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let latency = Latency::new((1..=1000).map(Duration::from_millis)).expect("there are some");
        let Latency { p50, p90, p99, p999, max } = latency;
        assert_eq!((p50, p90, p99, p999, max), (500.0, 900.0, 990.0, 999.0, 1000.0));
        assert_eq!(Latency::new(std::iter::empty()), None);
    }

    #[test]
    fn an_open_loop_reports_how_late_it_was() {
        let right = RequestResult::Answered(Checked { right: 4, ..Checked::default() });
        let report = LoadReport::new(&plan(5, Some(9.0)), &[finished(8, right)], Duration::from_secs(1));
        assert_eq!(report.late_ms.map(|late| late.max), Some(4.0));
        assert!(!report.is_silent());
        let gone = [finished(1, RequestResult::Lost("gone".to_owned())), finished(1, RequestResult::TimedOut)];
        assert!(LoadReport::new(&plan(5, None), &gone, Duration::from_secs(1)).is_silent());
        assert!(report.all_right() && report.text().contains("4 of 4 right\n"));
    }
}
