//! Runs the jobs of one verdict, and translates their outcomes into decisions.

use std::collections::HashMap;
use std::hash::Hash;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use veriplay_core::{
    CallResult, Digest, Dropped, EncodeCaps, Evidence, Execute, ExecuteError, Exit, GuestError, Job, LimitKind, Limits,
    Outcome, Status, Value, Verdict,
};
use veriplay_python::large::without_permit;

/// The rule of programs that do not define the function to call.
pub(crate) const MISSING_ENTRY: &str = "missing_entry";

/// The name of the function that every program defines.
pub(crate) const ENTRY: &str = "f";

/// Runs the jobs of one verdict and collects its evidence.
pub(crate) struct Runner<'a> {
    execute: &'a dyn Execute,
    /// Digests and fuel of the jobs so far.
    pub(crate) evidence: Evidence,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(execute: &'a dyn Execute) -> Self {
        Self { execute, evidence: Evidence::default() }
    }

    /// Ends the work on an attempt that nobody waits for any longer.
    pub(crate) fn check_cancelled(&self) -> Result<(), Dropped> {
        if self.execute.is_cancelled() { Err(host_fault(&ExecuteError::Cancelled)) } else { Ok(()) }
    }

    /// Runs `job`; a host fault drops the attempt.
    pub(crate) fn run(&mut self, job: &Job) -> Result<Outcome, Dropped> {
        self.try_run(job).map_err(|error| host_fault(&error))
    }

    pub(crate) fn try_run(&mut self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.evidence.jobs.push(job.digest());
        let outcome = without_permit(|| self.execute.execute(job))?;
        let fuel = outcome.fuel.saturating_add(outcome.other_side().map_or(0, |other| other.fuel));
        add_cost(&mut self.evidence, [], fuel, outcome.met_deadline());
        Ok(outcome)
    }
}

/// Maps items to results on all cores, in order. Items are not batched: one of them may run as long as all others together.
pub fn on_all_cores<I, R: Send>(items: I, work: impl Fn(I::Item) -> R + Send + Sync) -> Vec<R>
where
    I: IntoParallelIterator,
    I::Iter: IndexedParallelIterator,
{
    items.into_par_iter().with_max_len(1).map(work).collect()
}

/// Gives every request what `run` gives for the first one with its key: equal requests are run once.
pub fn run_distinct<Q: Clone, K: Hash + Eq, R: Clone>(
    requests: &[Q],
    key: impl Fn(&Q) -> K,
    run: impl FnOnce(&[Q]) -> Vec<R>,
) -> Vec<R> {
    let (mut known, mut distinct, mut places) = (HashMap::new(), Vec::new(), Vec::with_capacity(requests.len()));
    for request in requests {
        places.push(*known.entry(key(request)).or_insert_with(|| {
            distinct.push(request.clone());
            distinct.len() - 1
        }));
    }
    let results = run(&distinct);
    places.into_iter().map(|place| results[place].clone()).collect()
}

/// A job that calls a program's entry with each of `arguments`, in order. It holds no expected values.
pub(crate) fn entry_job(image: &str, program: &str, arguments: Vec<Vec<Value>>, limits: Limits, seed: u64) -> Job {
    configure_job(image, limits, seed, Job::calls(program, ENTRY, arguments))
}

/// Sets the image, the limits and the seed of `job`.
pub(crate) fn configure_job(image: &str, limits: Limits, seed: u64, job: Job) -> Job {
    Job { image: image.to_owned(), limits, seed, ..job }
}

/// A seed made of a digest.
pub(crate) fn seed_from(digest: &Digest) -> u64 {
    u64::from_str_radix(&digest.as_str()[..16], 16).expect("a digest is hexadecimal")
}

/// The decision on one attempt. It is Accepted exactly when all planned checks passed.
pub(crate) struct Decision {
    pub(crate) status: Status,
    pub(crate) passed: u32,
    pub(crate) total: u32,
    /// The rule that decided; empty when the status needs none.
    pub(crate) rule: String,
    pub(crate) detail: String,
}

impl Decision {
    /// A decision by one check.
    pub(crate) fn on_one(status: Status, detail: impl Into<String>) -> Self {
        let passed = u32::from(status == Status::Accepted);
        Self { status, passed, total: 1, rule: String::new(), detail: detail.into() }
    }

    /// A decision by one check, which `rule` made.
    pub(crate) fn by_rule(status: Status, rule: &str, detail: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), ..Self::on_one(status, detail) }
    }

    pub(crate) fn into_verdict(self, evidence: Evidence) -> Verdict {
        let evidence = Evidence { rule: self.rule, detail: truncate_detail(&self.detail), ..evidence };
        Verdict { status: self.status, passed: self.passed, total: self.total, evidence }
    }
}

/// A decision by one check, from its status and its detail.
impl From<(Status, String)> for Decision {
    fn from(checked: (Status, String)) -> Self {
        Self::on_one(checked.0, checked.1)
    }
}

/// The failure of a job that did not return.
pub(crate) fn job_failure(outcome: &Outcome) -> Option<(Status, String)> {
    match &outcome.exit {
        Exit::Returned => None,
        Exit::CompileError => Some((Status::CompileError, error_text(outcome.error.as_ref()))),
        Exit::MissingEntry | Exit::Raised | Exit::Trapped => {
            Some((Status::RuntimeError, error_text(outcome.error.as_ref())))
        }
        Exit::Exceeded { limit, allowed, used } => {
            Some((limit_status(*limit), format!("{limit:?} limit {allowed} exceeded: {used}")))
        }
    }
}

/// Whether a script has ended its process by `os._exit(0)`, as templates for fast output do: a normal end, where nothing but output is judged.
pub(crate) fn has_left_with_zero(outcome: &Outcome) -> bool {
    outcome.exit == Exit::Trapped && outcome.exit_code == Some(0)
}

const fn limit_status(limit: LimitKind) -> Status {
    match limit {
        LimitKind::Fuel => Status::FuelExceeded,
        LimitKind::MemoryBytes => Status::MemoryExceeded,
        LimitKind::OutputBytes | LimitKind::FileBytes => Status::OutputExceeded,
        LimitKind::DeadlineNs => Status::DeadlineExceeded,
    }
}

fn error_text(error: Option<&GuestError>) -> String {
    error.map_or_else(
        || "no reason was given".to_owned(),
        |error| truncate_detail(&format!("{}: {}", error.kind, error.message)),
    )
}

/// Why a call has no value.
pub(crate) enum NoValue {
    Raised(String),
    /// It returned an object that is not a plain value, or bytes that are no encoding.
    NoPlainValue(String),
}

impl NoValue {
    pub(crate) fn text(self) -> String {
        match self {
            NoValue::Raised(text) | NoValue::NoPlainValue(text) => text,
        }
    }
}

/// Bytes of the value of a call.
pub(crate) fn encoded_bytes(call: &CallResult) -> usize {
    if let CallResult::Returned(bytes) = call { bytes.len() } else { 0 }
}

/// Decodes the value of one call. The bytes come from a guest and are untrusted.
pub(crate) fn decode_call(call: &CallResult, limits: &Limits) -> Result<Value, NoValue> {
    match call {
        CallResult::Unencodable(what) => Err(NoValue::NoPlainValue(truncate_detail(what))),
        CallResult::Raised(error) => Err(NoValue::Raised(error_text(Some(error)))),
        CallResult::Returned(bytes) => {
            let caps = EncodeCaps::with_bytes(usize::try_from(limits.output_bytes).unwrap_or(usize::MAX));
            Value::decode(bytes, caps).map_err(|error| NoValue::NoPlainValue(error.to_string()))
        }
    }
}

/// Characters of a value in a detail: two of them fit into [`truncate_detail`]'s limit.
pub(crate) const EXCERPT_CHARS: usize = 130;

/// Describes a difference. Callers cut both sides first: they are a program's, and may be long.
pub(crate) fn describe_mismatch(actual: &str, expected: &str) -> String {
    format!("`{actual}` instead of `{expected}`")
}

/// Cuts the detail of a verdict to what a log line can bear.
pub(crate) fn truncate_detail(text: &str) -> String {
    const CHARS: usize = 300;
    match text.char_indices().nth(CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Cuts `text` to `chars` characters, and appends the number of cut ones.
#[must_use]
pub fn truncate_output(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}… ({} more characters)", &text[..at], text[at..].chars().count()),
        None => text.to_owned(),
    }
}

/// A count as verdicts hold it.
pub(crate) fn saturating_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A Python list of strings.
pub(crate) fn string_list(items: impl IntoIterator<Item = impl Into<String>>) -> Value {
    Value::List(items.into_iter().map(Value::str).collect())
}

/// Why a job ended before its last call: the limit it exceeded, or its error. `None` where the outcome has neither.
pub(crate) fn early_end(outcome: &Outcome) -> Option<String> {
    match (&outcome.exit, &outcome.error) {
        (Exit::Exceeded { limit, allowed, .. }, _) => Some(format!("{limit:?} limit {allowed} exceeded")),
        (_, Some(error)) => Some(format!("{}: {}", error.kind, error.message)),
        (_, None) => None,
    }
}

/// A fault of the executor, which drops the attempt.
pub(crate) fn host_fault(error: &ExecuteError) -> Dropped {
    Dropped { why: error.to_string() }
}

/// Adds the cost of other jobs to `total`.
pub(crate) fn add_cost(total: &mut Evidence, jobs: impl IntoIterator<Item = Digest>, fuel: u64, met_deadline: bool) {
    total.jobs.extend(jobs);
    total.fuel = total.fuel.saturating_add(fuel);
    total.met_deadline |= met_deadline;
}
