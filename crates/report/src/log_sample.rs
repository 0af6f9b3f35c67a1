//! The log of a run on a page: counts over all of it, and a sample of its records that has near misses and caught cheats.

use std::path::Path;

use minijinja::Value;
use veriplay_console::exit::Failure;
use veriplay_console::progress;

use super::log_summary::LogSummary;
use super::records::{Response, ResponseFacts, for_each_response};
use super::tokens::TokenTexts;

/// Records of a run that are shown with their tokens, and tokens of each: a token takes some 80 bytes of a page.
const WITH_TOKENS: usize = 24;
const TOKENS: usize = 256;
/// The share of the sample that near misses, and records that a rule decided, have besides.
const PART: usize = 4;

#[derive(Default)]
pub(crate) struct LogSample {
    pub summary: LogSummary,
    /// As the templates show them.
    pub records: Vec<Value>,
}

/// Takes every n-th of those that fit, so that all steps have some.
struct Spread {
    fits: fn(&ResponseFacts) -> bool,
    every: usize,
    seen: usize,
}

impl Spread {
    /// Takes about `count` of `total`.
    fn new(fits: fn(&ResponseFacts) -> bool, total: usize, count: usize) -> Self {
        Self { fits, every: total.div_ceil(count.max(1)).max(1), seen: 0 }
    }

    fn takes(&mut self, facts: &ResponseFacts) -> bool {
        if !(self.fits)(facts) {
            return false;
        }
        self.seen += 1;
        (self.seen - 1).is_multiple_of(self.every)
    }
}

/// Reads the log of the run in `run`, which the page calls `name`, with about `count` records, a quarter more of near misses, and a quarter more that a rule decided.
/// What stands behind a damaged part, or one that is still being written, is left out, and that is said.
pub(crate) fn read_log(run: &Path, name: &str, count: usize) -> Result<LogSample, Failure> {
    let path = run.join("rollouts.jsonl.zst");
    let mut sample = LogSample::default();
    if count == 0 {
        return Ok(sample);
    }
    if let Some(damage) = for_each_response(&path, |response| sample.summary.add(&response.facts()))? {
        progress::say(format!(
            "warning: `{}` {damage}; the rollouts before it are shown\nhint: of a run under way that is its last step; any other log is \
             damaged or was cut off",
            path.display()
        ));
    }
    let (total, part) = (sample.summary.total(), count.div_ceil(PART));
    let mut spreads = [
        Spread::new(|_| true, total.responses, count),
        Spread::new(ResponseFacts::is_near_miss, total.near_misses, part),
        Spread::new(ResponseFacts::is_ruled, total.ruled, part),
    ];
    let records = total.responses.min(count) + total.near_misses.min(part) + total.ruled.min(part);
    let mut with_tokens = Spread::new(|_| true, records, WITH_TOKENS);
    let texts = TokenTexts::default();
    for_each_response(&path, |response: &Response<'_>| {
        let facts = response.facts();
        // Each counts what it sees, so all are asked.
        if spreads.each_mut().map(|spread| spread.takes(&facts)).contains(&true) {
            let tokens = if with_tokens.takes(&facts) { texts.of(run, response.episode, TOKENS) } else { Vec::new() };
            sample.records.push(response.to_value(name, tokens));
        }
    })?;
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LogSample, read_log};

    /// The ids of the records with `count` of a log of so many attempts: one in 50 is a near miss, and one in 100 is decided by a rule.
    fn sample(attempts: usize, count: usize) -> (LogSample, Vec<String>) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let attempt = |number: usize| {
            let rule = if number % 100 == 7 { "forged" } else { "" };
            let verdict = json!({"status": "wrong_answer", "passed": u8::from(number % 50 == 3), "total": 2, "evidence": {"rule": rule}});
            let turn = json!({"prompt": "p", "text": "t", "tokens": [1, 2, 3], "logprobs": [-0.1, -1.0, -5.0]});
            json!({"episode": {"turns": [turn]}, "judged": {"verdict": {"Ok": verdict}}})
        };
        let line = json!({"task": {"step": 0, "index": 0, "attempts": (0..attempts).map(attempt).collect::<Vec<_>>()}});
        let log = zstd::encode_all(format!("{line}\n").as_bytes(), 1).expect("it is compressed");
        std::fs::write(dir.path().join("rollouts.jsonl.zst"), log).expect("the file is written");
        let sample = read_log(dir.path(), "run", count).unwrap_or_else(|failure| panic!("{failure}"));
        let ids = sample.records.iter().map(|record| record.get_attr("id").expect("an id").to_string());
        let ids = ids.collect();
        (sample, ids)
    }

    #[test]
    fn a_sample_has_near_misses_and_what_rules_decided() {
        let (sample, ids) = sample(1000, 20);
        let place = |id: &String| id.rsplit('-').next().and_then(|place| place.parse::<usize>().ok()).expect("a place");
        let places: Vec<usize> = ids.iter().map(place).collect();
        let count = |fits: fn(&usize) -> bool| places.iter().filter(|place| fits(place)).count();
        assert_eq!(count(|place| place % 50 == 0), 20, "spread over the log");
        assert_eq!((count(|place| place % 50 == 3), count(|place| place % 100 == 7)), (5, 5));
        assert_eq!(places.len(), 30);
        assert!(places.is_sorted(), "in the order of the log");
        let total = sample.summary.total();
        assert_eq!((total.responses, total.near_misses, total.ruled), (1000, 20, 10));
    }

    #[test]
    fn some_records_have_tokens() {
        let with_tokens = |attempts: usize, count: usize| {
            let (sample, ids) = sample(attempts, count);
            let has = sample.records.iter().filter(|record| {
                let tokens = record.get_attr("tokens").expect("tokens");
                tokens.len().is_some_and(|turns| turns > 0)
            });
            (has.count(), ids.len())
        };
        assert_eq!(with_tokens(10, 200), (10, 10));
        let (some, all) = with_tokens(1000, 200);
        assert!((20..=24).contains(&some) && all > 200, "{some} of {all}");
        assert_eq!(with_tokens(1000, 0), (0, 0));
    }
}
