//! `veriplay bench serve`: load on a running service, ours or any that speaks SandboxFusion's protocol, by programs whose answers are known.
//!
//! Every answer is compared: a service that is quick and wrong is shown as wrong. In a *closed* loop each of a number of clients asks again as
//! soon as it is answered. In an *open* loop requests come at a rate, whatever became of those before; their latency counts from the time at
//! which they were due, so that a service that stalls does not hide its stalls.

mod report;
mod requests;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use veriplay_console::progress::Progress;

use crate::http::{Answer, Connection, ExchangeError, Target};

pub use report::LoadReport;
pub use requests::Protocol;

use requests::{Checked, Request};

/// What is asked, and how fast.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// Where.
    pub target: Target,
    /// In which protocol.
    pub protocol: Protocol,
    /// How many requests.
    pub requests: u64,
    /// How many are under way at once. In an open loop it is the most: what is due waits for one of them to end.
    pub in_flight: usize,
    /// Requests a second of an open loop; without it the loop is closed.
    pub rate: Option<f64>,
    /// Attempts in a request of the native protocol.
    pub batch: usize,
    /// Whether each request has a connection of its own, as verl's do.
    pub new_connections: bool,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// Programs differ between seeds, so that no cache has their verdicts.
    pub seed: u64,
}

#[derive(Debug, Clone)]
struct Finished {
    /// From the time it was sent, or due, to the end of its answer.
    latency: Duration,
    /// How long it was due before it was sent.
    late: Duration,
    result: RequestResult,
}

#[derive(Debug, Clone)]
enum RequestResult {
    /// An answer that could be read.
    Answered(Checked),
    Refused(u16),
    TimedOut,
    /// The connection could not be made, or broke.
    Lost(String),
}

/// Puts the load on the target.
pub fn run(plan: &LoadPlan, bar: &Progress) -> LoadReport {
    let due = plan.rate.map(|rate| due_times(plan, rate));
    let (next, finished) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..plan.in_flight {
            scope.spawn(|| {
                let mine = run_client(plan, due.as_deref(), &next, started, bar);
                finished.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(mine);
            });
        }
    });
    let finished = finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    LoadReport::new(plan, &finished, started.elapsed())
}

/// When each request of an open loop is due, after the start: their distances are exponential, as those of many clients are.
fn due_times(plan: &LoadPlan, rate: f64) -> Vec<Duration> {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut at = 0.0_f64;
    let mut due = || {
        let now = at;
        at -= (1.0 - random.random::<f64>()).ln() / rate;
        Duration::from_secs_f64(now)
    };
    (0..plan.requests).map(|_| due()).collect()
}

/// One client: takes the next request until there is none.
fn run_client(
    plan: &LoadPlan,
    due: Option<&[Duration]>,
    next: &AtomicU64,
    started: Instant,
    bar: &Progress,
) -> Vec<Finished> {
    let mut connection = None;
    let mut finished = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= plan.requests {
            return finished;
        }
        let request = Request::new(plan, index);
        let begun = match due {
            None => Instant::now(),
            Some(due) => wait_until(started + due[index as usize]),
        };
        let late = begun.elapsed();
        let result = ask(plan, &mut connection, &request);
        finished.push(Finished { latency: begun.elapsed(), late, result });
        bar.inc(1);
    }
}

/// Waits, and returns the time that was waited for, which may be long past.
fn wait_until(due: Instant) -> Instant {
    let left = due.saturating_duration_since(Instant::now());
    if !left.is_zero() {
        std::thread::sleep(left);
    }
    due
}

/// Sends a request. A kept connection that the service has closed meanwhile is opened anew, once.
fn ask(plan: &LoadPlan, connection: &mut Option<Connection>, request: &Request) -> RequestResult {
    if plan.new_connections {
        *connection = None;
    }
    let message = request.message.bytes(&plan.target);
    loop {
        let kept = connection.take();
        let reused = kept.is_some();
        let opened = kept.map_or_else(|| plan.target.connect(plan.patience), Ok);
        match opened.and_then(|open| exchange(open, &message)) {
            Ok((open, answer)) => {
                *connection = Some(open).filter(|_| answer.reusable);
                return match answer.status {
                    200 => RequestResult::Answered(request.check(&answer.body)),
                    other => RequestResult::Refused(other),
                };
            }
            Err(ExchangeError::Closed) if reused => {}
            Err(ExchangeError::Closed) => return RequestResult::Lost("closed without an answer".to_owned()),
            Err(ExchangeError::TimedOut) => return RequestResult::TimedOut,
            Err(ExchangeError::Failed(why)) => return RequestResult::Lost(why),
        }
    }
}

fn exchange(mut open: Connection, message: &[u8]) -> Result<(Connection, Answer), ExchangeError> {
    open.send(message)?;
    let answer = open.read_answer()?;
    Ok((open, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn plan(requests: u64, rate: Option<f64>) -> LoadPlan {
        LoadPlan {
            target: "http://h:1".parse().expect("an address"),
            protocol: Protocol::Native,
            requests,
            in_flight: 2,
            rate,
            batch: 4,
            new_connections: false,
            patience: Duration::from_secs(1),
            seed: 7,
        }
    }

    #[test]
    fn requests_of_an_open_loop_come_at_their_rate_in_order() {
        let plan = plan(20_000, Some(500.0));
        let due = due_times(&plan, 500.0);
        assert_eq!(due, due_times(&plan, 500.0));
        assert!(due.is_sorted() && due[0].is_zero());
        let mean = due[due.len() - 1].as_secs_f64() / (due.len() - 1) as f64;
        assert!((mean - 0.002).abs() < 0.0001, "{mean}");
    }
}
