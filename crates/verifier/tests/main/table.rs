//! An executor that looks programs up: each is a Rust closure that says what one call of `f` gives.

use std::collections::HashMap;
use std::sync::Mutex;

use veriplay_core::{
    CallResult, Entry, Execute, ExecuteError, Exit, GuestError, Job, LimitKind, Limits, Outcome, Status, Value,
};
use veriplay_verifier::{InductionRules, ProbeRules, ProposalGate};

/// One call, as a program could tell it from others.
pub(crate) struct Call<'a> {
    pub(crate) arguments: &'a [Value],
    /// Its place in the job.
    pub(crate) place: usize,
    pub(crate) seed: u64,
    pub(crate) image: &'a str,
}

#[derive(Clone)]
pub(crate) enum Gives {
    Value(Value),
    Bytes(Vec<u8>),
    Raises(&'static str),
    Unencodable,
    Stops(Exit),
    HostFault,
}

type Function = Box<dyn Fn(&Call<'_>) -> Gives + Send + Sync>;

/// Programs by their text; it keeps every job it was asked for.
#[derive(Default)]
pub(crate) struct Table {
    functions: HashMap<String, Function>,
    module_ends: HashMap<String, (Exit, &'static str)>,
    uses: HashMap<String, &'static str>,
    jobs: Mutex<Vec<Job>>,
}

impl Table {
    /// A table of one program, `p`.
    pub(crate) fn of(function: impl Fn(&Call<'_>) -> Gives + Send + Sync + 'static) -> Self {
        Self::default().with("p", function)
    }

    pub(crate) fn with(mut self, program: &str, function: impl Fn(&Call<'_>) -> Gives + Send + Sync + 'static) -> Self {
        self.functions.insert(program.to_owned(), Box::new(function));
        self
    }

    /// A program whose module level raises an exception of a class of that name.
    pub(crate) fn with_module_error(self, program: &str, kind: &'static str) -> Self {
        self.with_module_end(program, Exit::Raised, kind)
    }

    /// A program that never gets to its calls.
    pub(crate) fn with_module_end(mut self, program: &str, exit: Exit, kind: &'static str) -> Self {
        self.module_ends.insert(program.to_owned(), (exit, kind));
        self
    }

    /// A program in whose text the scan finds this use.
    pub(crate) fn with_use(mut self, program: &str, found: &'static str) -> Self {
        self.uses.insert(program.to_owned(), found);
        self
    }

    /// What the scan of each of these texts gives.
    fn scanned(&self, texts: &[Vec<Value>]) -> Outcome {
        let uses = |text: &Vec<Value>| {
            let [Value::Bytes(text)] = text.as_slice() else { panic!("`{text:?}` is to be scanned") };
            let found = self.uses.get(std::str::from_utf8(text).unwrap());
            CallResult::Returned(Value::List(found.map(|found| Value::str(*found)).into_iter().collect()).encode())
        };
        outcome(Exit::Returned, texts.iter().map(uses).collect())
    }

    pub(crate) fn jobs(&self) -> Vec<Job> {
        self.jobs.lock().unwrap().clone()
    }
}

impl Execute for Table {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.lock().unwrap().push(job.clone());
        let program = job.callee.as_ref().map_or(&job.program, |callee| &callee.program);
        if let Some((exit, kind)) = self.module_ends.get(program) {
            let error = GuestError { kind: (*kind).to_owned(), message: "at module level".to_owned() };
            return Ok(Outcome { error: Some(error), ..outcome(exit.clone(), Vec::new()) });
        }
        if is_scan(job)
            && let Entry::Calls { arguments, .. } = &job.entry
        {
            return Ok(self.scanned(arguments));
        }
        let Some(function) = self.functions.get(program) else {
            return Err(ExecuteError::Host(format!("the table has no program `{program}`")));
        };
        let Entry::Calls { arguments, .. } = &job.entry else {
            return Err(ExecuteError::BadJob("the table runs calls only".to_owned()));
        };
        let ended = run(function, job, arguments)?;
        Ok(if job.callee.is_some() { observed(ended) } else { ended })
    }
}

/// Whether the job reads texts of programs, by the preload of all such jobs.
fn is_scan(job: &Job) -> bool {
    job.preload.as_ref().is_some_and(|preload| preload.function == "keep")
}

/// What a program sees that calls this one as its callee, and returns the class of what it raises.
fn observed(ended: Outcome) -> Outcome {
    let seen = |call: &CallResult| match call {
        CallResult::Raised(error) => CallResult::Returned(Value::str(error.kind.clone()).encode()),
        CallResult::Returned(_) | CallResult::Unencodable(_) => CallResult::Returned(Value::None.encode()),
    };
    let calls = ended.calls.iter().map(seen).collect();
    let exit = if ended.exit == Exit::Returned { Exit::Returned } else { Exit::Trapped };
    Outcome { callee: Some(Box::new(ended)), ..outcome(exit, calls) }
}

fn run(function: &Function, job: &Job, arguments: &[Vec<Value>]) -> Result<Outcome, ExecuteError> {
    let mut results = Vec::new();
    for (place, arguments) in arguments.iter().enumerate() {
        match function(&Call { arguments, place, seed: job.seed, image: &job.image }) {
            Gives::Value(value) => results.push(CallResult::Returned(value.encode())),
            Gives::Bytes(bytes) => results.push(CallResult::Returned(bytes)),
            Gives::Raises(kind) => results.push(CallResult::Raised(guest_error(kind))),
            Gives::Unencodable => results.push(CallResult::Unencodable("a value of type `object`".to_owned())),
            Gives::Stops(exit) => return Ok(outcome(exit, results)),
            Gives::HostFault => return Err(ExecuteError::Host("the table was told to fail".to_owned())),
        }
    }
    Ok(outcome(Exit::Returned, results))
}

fn guest_error(kind: &str) -> GuestError {
    GuestError { kind: kind.to_owned(), message: "in the call".to_owned() }
}

fn outcome(exit: Exit, calls: Vec<CallResult>) -> Outcome {
    Outcome { calls, fuel: 7, ..Outcome::new(exit) }
}

pub(crate) fn exceeded(limit: LimitKind) -> Exit {
    Exit::Exceeded { limit, allowed: 10, used: 11 }
}

/// How a job can stop at any program, and the status of that.
pub(crate) fn stops() -> [(Exit, Status); 7] {
    [
        (exceeded(LimitKind::Fuel), Status::FuelExceeded),
        (exceeded(LimitKind::MemoryBytes), Status::MemoryExceeded),
        (exceeded(LimitKind::OutputBytes), Status::OutputExceeded),
        (exceeded(LimitKind::FileBytes), Status::OutputExceeded),
        (exceeded(LimitKind::DeadlineNs), Status::DeadlineExceeded),
        // The executor has run the job twice by then, the second time alone.
        (exceeded(LimitKind::DeadlineNs), Status::DeadlineExceeded),
        (Exit::Trapped, Status::RuntimeError),
    ]
}

/// A program of one int argument.
pub(crate) fn on_int(function: impl Fn(i64) -> Value + Send + Sync + 'static) -> Table {
    Table::of(move |call| Gives::Value(function(int_of(&call.arguments[0]))))
}

/// The arguments of the calls of a job.
pub(crate) fn calls(job: &Job) -> Vec<Vec<Value>> {
    match &job.entry {
        Entry::Calls { arguments, .. } => arguments.clone(),
        Entry::Script => panic!("a script"),
    }
}

pub(crate) fn int_of(value: &Value) -> i64 {
    value.to_string().parse().unwrap()
}

pub(crate) fn read(text: &str) -> Value {
    Value::parse_repr(text).unwrap()
}

pub(crate) fn arguments(text: &str) -> Vec<Value> {
    Value::parse_arguments(text).unwrap()
}

pub(crate) const LIMITS: Limits =
    Limits { fuel: 1_000_000, memory_bytes: 1 << 26, output_bytes: 1 << 16, file_bytes: 1 << 16, deadline_ns: 1 << 33 };

pub(crate) fn gate() -> ProposalGate {
    ProposalGate {
        image: "python".to_owned(),
        second_image: None,
        limits: LIMITS,
        seeds: [1, 2],
        max_program_bytes: 200,
        min_statements: None,
        max_statements: None,
        max_output_bytes: 20,
        probes: ProbeRules { count: 6, min_succeeded: 3, min_distinct_outputs: 3 },
        induction: InductionRules { visible: 2, hidden: 2, min_distinct_outputs: 2 },
    }
}
