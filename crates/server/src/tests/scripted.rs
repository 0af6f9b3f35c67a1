//! A judge that follows the program's text.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use veriplay_core::{
    AttemptText, CallResult, CancellationToken, Compilation, Digest, Dropped, Entry, Evidence, ExecuteError, Exit,
    Extraction, GuestError, Job, LimitKind, Limits, Outcome, REFERENCE_RULE, Status, Value, Verdict, VerdictRow,
};
use veriplay_eval::JudgedAttempt;
use veriplay_verifier::OpenImage;
use veriplay_verifier::extraction::{self, Continues, Wanted, extract_program};

use crate::judge::{AUTO_FORMAT, Judge, JudgeFacts, JudgeOptions, OpenTask, TaskError, TaskSource};

/// Follows these words of a program: `wait` until [`ScriptedJudge::release`], `endless` until it is cancelled, `fault`, `fault once`, `panic`, `bad job`, `unjudgeable`, `no reference`, `half`,
/// which passes one of two cases, `image`, and the exits below.
/// Any other program prints itself, and is accepted if it is `right`.
#[derive(Default)]
pub(super) struct ScriptedJudge {
    gate: Mutex<Gate>,
    changed: Condvar,
    faults: AtomicU32,
    kept: Mutex<Vec<Digest>>,
}

#[derive(Default)]
struct Gate {
    open: bool,
    started: Vec<String>,
}

impl ScriptedJudge {
    /// Lets everything that waits go on, now and later.
    pub(super) fn release(&self) {
        self.gate.lock().expect("nobody panics").open = true;
        self.changed.notify_all();
    }

    pub(super) fn started(&self) -> Vec<String> {
        self.gate.lock().expect("nobody panics").started.clone()
    }

    /// Waits on a thread of its own until so many programs have started.
    pub(super) async fn until_started(self: &Arc<Self>, count: usize) {
        let judge = Arc::clone(self);
        let wait = move || {
            let gate = judge.gate.lock().expect("nobody panics");
            drop(judge.changed.wait_while(gate, |gate| gate.started.len() < count).expect("nobody panics"));
        };
        tokio::task::spawn_blocking(wait).await.expect("nobody panics");
    }

    /// Notes the start of a program, and does what every kind of it does.
    fn follow(&self, program: &str, cancellation: &CancellationToken) -> Result<(), ExecuteError> {
        let mut gate = self.gate.lock().expect("nobody panics");
        gate.started.push(program.to_owned());
        self.changed.notify_all();
        if program.starts_with("wait") {
            gate = self.changed.wait_while(gate, |gate| !gate.open).expect("nobody panics");
        }
        drop(gate);
        let fault = |why: &str| Err(ExecuteError::Host(why.to_owned()));
        match program {
            "endless" => {
                while !cancellation.is_cancelled() {
                    std::thread::yield_now();
                }
                Err(ExecuteError::Cancelled)
            }
            "panic" => panic!("a bug of the judge"),
            "fault" => fault("the machine failed"),
            "fault once" if self.faults.fetch_add(1, Ordering::Relaxed) == 0 => fault("it failed once"),
            _ => Ok(()),
        }
    }
}

fn outcome(exit: Exit, stdout: &[u8]) -> Outcome {
    let error = matches!(exit, Exit::Raised | Exit::Trapped)
        .then(|| GuestError { kind: "ValueError".to_owned(), message: "why".to_owned() });
    Outcome {
        exit,
        calls: Vec::new(),
        error,
        stdout: stdout.to_vec(),
        stderr: Vec::new(),
        truncated: false,
        fuel: 5_000_000_000,
        peak_memory_bytes: 100 << 20,
        callee: None,
        interaction: None,
        exit_code: None,
        fetched: Vec::new(),
        compilation: None,
    }
}

fn other_image(name: &str, mib: u64) -> OpenImage {
    OpenImage { name: name.to_owned(), digest: Digest::of(name.as_bytes()), memory_bytes: mib << 20 }
}

impl Judge for ScriptedJudge {
    fn facts(&self) -> &JudgeFacts {
        static FACTS: std::sync::LazyLock<JudgeFacts> = std::sync::LazyLock::new(|| JudgeFacts {
            version: "1.2.3".to_owned(),
            image: "python".to_owned(),
            image_digest: Digest::of(b"image"),
            image_memory_bytes: 64 << 20,
            limits: Limits::large(),
            most: Limits {
                fuel: 1 << 40,
                memory_bytes: 1 << 30,
                output_bytes: 128 << 20,
                file_bytes: 256 << 20,
                ..Limits::large()
            },
            formats: vec!["plain"],
            other_images: vec![other_image("cpp", 1), other_image("javascript", 32)],
        });
        &FACTS
    }

    /// A row is its task's name as a JSON string in an object: `{"name": "one"}`.
    fn open_task(self: Arc<Self>, source: &TaskSource, options: &JudgeOptions) -> Result<Arc<dyn OpenTask>, TaskError> {
        if options.limits.memory_bytes == Some(1) {
            return Err(TaskError::Options { field: "limits.memory_bytes", reason: "too little".to_owned() });
        }
        let (name, digest) = match source {
            TaskSource::Row { format, row, .. } if format == "plain" || format == AUTO_FORMAT => {
                let invalid =
                    |error: serde_json::Error| TaskError::Invalid { field: String::new(), reason: error.to_string() };
                let mut row: serde_json::Value = serde_json::from_str(row).map_err(invalid)?;
                if let serde_json::Value::String(text) = row {
                    row = serde_json::from_str(&text).map_err(invalid)?;
                }
                let name = row["name"].as_str().ok_or_else(|| TaskError::Invalid {
                    field: "name".to_owned(),
                    reason: "it is missing".to_owned(),
                })?;
                (name.to_owned(), Digest::of(name.as_bytes()))
            }
            TaskSource::Row { format, .. } => return Err(TaskError::UnknownFormat(format!("no format `{format}`"))),
            TaskSource::Digest(digest) => {
                let known = self.kept.lock().expect("nobody panics").contains(digest);
                match known {
                    true => ("one".to_owned(), digest.clone()),
                    false => return Err(TaskError::UnknownDigest(digest.clone())),
                }
            }
        };
        self.kept.lock().expect("nobody panics").push(digest.clone());
        Ok(Arc::new(ScriptedTask { judge: self, name, digest }))
    }

    fn run(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        self.follow(&job.program, cancellation)?;
        let limit = |limit| Exit::Exceeded { limit, allowed: 1, used: 2 };
        let took = |exceeded| Some(Compilation { fuel: 5_000_000_000, exceeded });
        let ended = match (job.program.as_str(), &job.entry) {
            ("bad job", _) => return Err(ExecuteError::BadJob("it has two files of one name".to_owned())),
            ("a call that raises", Entry::Calls { .. }) => {
                let raised = GuestError { kind: "ValueError".to_owned(), message: "why".to_owned() };
                Outcome { calls: vec![CallResult::Raised(raised)], ..outcome(Exit::Returned, b"") }
            }
            ("an odd value", Entry::Calls { .. }) => {
                let calls = vec![CallResult::Unencodable("a function".to_owned())];
                Outcome { calls, ..outcome(Exit::Returned, b"") }
            }
            (_, Entry::Calls { arguments, .. }) => {
                let value = Value::List(arguments.concat());
                Outcome { calls: vec![CallResult::Returned(value.encode())], ..outcome(Exit::Returned, b"") }
            }
            ("image", _) => outcome(Exit::Returned, job.image.as_bytes()),
            ("a syntax error", _) => Outcome { stderr: b"1:1: error\n".to_vec(), ..outcome(Exit::CompileError, b"") },
            ("a template bomb", _) => {
                let error = GuestError { kind: "compiler_limit".to_owned(), message: "too much".to_owned() };
                let compilation = took(Some(LimitKind::Fuel));
                Outcome { error: Some(error), compilation, ..outcome(Exit::CompileError, b"") }
            }
            ("raise", _) => outcome(Exit::Raised, b"before\n"),
            ("exit 3", _) => Outcome { exit_code: Some(3), ..outcome(Exit::Raised, b"") },
            ("leave", _) => Outcome { exit_code: Some(0), ..outcome(Exit::Trapped, b"flushed") },
            ("fetch", _) => {
                let fetched = job.fetch.iter().map(|path| (path.clone(), b"hi".to_vec())).collect();
                Outcome { fetched, ..outcome(Exit::Returned, b"") }
            }
            ("crash", _) => outcome(Exit::Trapped, b""),
            ("loop", _) => outcome(limit(LimitKind::Fuel), b"so far\n"),
            ("memory", _) => outcome(limit(LimitKind::MemoryBytes), b""),
            ("bytes", _) => outcome(Exit::Returned, b"a\xff\xfe"),
            ("limits", _) => outcome(Exit::Returned, format!("{:?}", job.limits).as_bytes()),
            ("compile fuel", _) => outcome(Exit::Returned, format!("{:?}", job.compile_fuel).as_bytes()),
            ("files", _) => outcome(Exit::Returned, format!("{:?}", job.files).as_bytes()),
            (program, _) => outcome(Exit::Returned, [program.as_bytes(), &job.stdin].concat().as_slice()),
        };
        let compilation = ended.compilation.or_else(|| took(None)).filter(|_| job.image == "cpp");
        Ok(Outcome { compilation, ..ended })
    }
}

struct ScriptedTask {
    judge: Arc<ScriptedJudge>,
    name: String,
    digest: Digest,
}

impl OpenTask for ScriptedTask {
    fn task_id(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> &Digest {
        &self.digest
    }

    fn judge(&self, attempt_id: &str, text: &AttemptText, cancellation: &CancellationToken) -> JudgedAttempt {
        let (program, extraction) = read_attempt(text);
        let followed = self.judge.follow(&program, cancellation);
        let verdict = followed.map_err(|error| Dropped { why: error.to_string() }).map(|()| {
            let status = match program.as_str() {
                "right" => Status::Accepted,
                "unjudgeable" | "no reference" => Status::Unjudgeable,
                _ => Status::WrongAnswer,
            };
            let (passed, total) = if program == "half" { (1, 2) } else { (u32::from(status == Status::Accepted), 1) };
            let rule = if program == "no reference" { REFERENCE_RULE.to_owned() } else { String::new() };
            let evidence = Evidence { fuel: 7, rule, extraction, ..Evidence::default() };
            Verdict { status, passed, total, evidence }
        });
        let row = VerdictRow::new(self.name.clone(), attempt_id.to_owned(), Digest::of(program.as_bytes()), verdict);
        JudgedAttempt { row, cached: program == "right" }
    }
}

/// The program of an attempt. A completion without a block is one itself.
fn read_attempt(text: &AttemptText) -> (String, Option<Box<Extraction>>) {
    let completion = match text {
        AttemptText::Completion(completion) => completion,
        AttemptText::Program(program) => return (program.clone(), None),
    };
    let wanted = Wanted { prompt: "", entry: extraction::Entry::Script, continues: Continues::Prose };
    match extract_program(&wanted, completion) {
        Ok(found) => (found.text.trim_end().to_owned(), Some(Box::new(found.extraction))),
        Err(_) => (completion.clone(), None),
    }
}
