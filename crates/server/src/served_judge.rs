//! The judge of the service. A verdict goes through [`AttemptJudge`], as one of `veriplay verify` does, with the same digests and the same
//! cache, so the two give the same bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use veriplay_console::programs::ProgramSandbox;
use veriplay_core::{
    AttemptText, CancellationToken, Digest, Execute, ExecuteError, Job, Limits, Outcome, ProblemRow, content_hash,
    most_text_weight, record_weight,
};
use veriplay_corpus::{PROBLEM_FORMATS, ReadOptions, parse_problem, problem_format};
use veriplay_eval::verdict_cache::VerdictCache;
use veriplay_eval::{AttemptJudge, JudgedAttempt, PendingAttempt};
use veriplay_sandbox::Image;
use veriplay_verifier::{
    ChosenJudge, JudgeConditions, LoadedTask, OpenImage, ProblemError, TaskContext, TaskOverrides,
    check_checker_images, check_image, check_memory, check_row, digest_with_checkers,
};

use crate::judge::{Judge, JudgeFacts, JudgeOptions, OpenTask, TaskError, TaskSource};
use crate::task_store::TaskStore;

/// How many times as long as its row its decompressed tests may be. Those of published rows are shorter, but for small rows whose tests repeat
/// themselves: up to [`SHORT_INFLATED`] bytes they may be [`MOST_REPEATED`] times as long. The rows of one body then unpack to no more than that many
/// times its length.
const INFLATED: u64 = 8;
const SHORT_INFLATED: u64 = 8 << 20;
const MOST_REPEATED: u64 = 32;
const LEAST_INFLATED: u64 = 64 << 10;
const MOST_INFLATED: u64 = 256 << 20;

/// What a reference returned is kept beside other tasks where it weighs at most this many times as much as the row. A short row may have one that returns
/// much: of those, the last ones are kept apart.
const MOST_EXPECTED_FACTOR: u64 = 16;
const HEAVY_BYTES: u64 = 24 << 20;

/// The most bytes of files that a client may ask for.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// What runs the jobs of a service.
pub struct ServiceSandbox {
    /// The image that jobs of attempts start from.
    pub image: Arc<Image>,
    /// The images of other languages.
    pub others: Vec<OpenImage>,
    /// The sandbox that the jobs run in, on all these images.
    pub sandbox: ProgramSandbox,
    /// Verdicts that were made before.
    pub cache: VerdictCache,
    /// The most memory that a job may have.
    pub most_memory_bytes: u64,
    /// The most bytes of stdout, of stderr and of values that a client may ask for.
    pub most_output_bytes: u64,
    /// The most fuel that a client may ask for.
    pub most_fuel: u64,
    /// Bytes of rows that are kept, with their values; and as many of tasks that are ready to judge.
    pub kept_bytes: u64,
}

/// The judge of a service.
pub struct ServedJudge {
    parts: ServiceSandbox,
    facts: JudgeFacts,
    /// The image of Python and those of other languages.
    open: Vec<OpenImage>,
    rows: Mutex<TaskStore<KeptRow>>,
    tasks: Mutex<TaskStore<LoadedTask>>,
    /// Tasks whose references returned much.
    heavy: Mutex<TaskStore<LoadedTask>>,
}

struct KeptRow {
    row: Arc<ProblemRow>,
    digest: Digest,
    bytes: u64,
}

impl ServedJudge {
    /// A judge that keeps no task yet.
    pub fn new(parts: ServiceSandbox) -> Arc<Self> {
        let default = parts.image.default_limits();
        let memory_bytes = parts.most_memory_bytes;
        // A job without limits of its own is never refused.
        let most = Limits {
            fuel: parts.most_fuel.max(default.fuel),
            memory_bytes: memory_bytes.max(default.memory_bytes),
            output_bytes: parts.most_output_bytes.max(default.output_bytes),
            file_bytes: MOST_FILE_BYTES.min(memory_bytes).max(default.file_bytes),
            ..default
        };
        let facts = JudgeFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            image: parts.image.name().to_owned(),
            image_digest: parts.image.digest().clone(),
            image_memory_bytes: parts.image.memory_bytes(),
            limits: default,
            most,
            formats: PROBLEM_FORMATS.iter().map(|format| format.name).collect(),
            other_images: parts.others.clone(),
        };
        let own = OpenImage {
            name: facts.image.clone(),
            digest: facts.image_digest.clone(),
            memory_bytes: facts.image_memory_bytes,
        };
        let open = std::iter::once(own).chain(parts.others.iter().cloned()).collect();
        let (rows, tasks) =
            (Mutex::new(TaskStore::new(parts.kept_bytes)), Mutex::new(TaskStore::new(parts.kept_bytes)));
        let heavy = Mutex::new(TaskStore::new(HEAVY_BYTES.min(parts.kept_bytes)));
        Arc::new(Self { parts, facts, open, rows, tasks, heavy })
    }

    fn kept_task(&self, key: &Digest) -> Option<Arc<LoadedTask>> {
        let heavy = lock(&self.heavy).get(key);
        heavy.or_else(|| lock(&self.tasks).get(key))
    }

    fn find_row(&self, source: &TaskSource) -> Result<Arc<KeptRow>, TaskError> {
        match source {
            TaskSource::Digest(digest) => {
                lock(&self.rows).get(digest).ok_or_else(|| TaskError::UnknownDigest(digest.clone()))
            }
            TaskSource::Row { format, row, predict, name } => {
                let options = ReadOptions { predict: *predict, ..read_options(row.len()) };
                let kept = parse_row(format, row, name.as_deref(), options)?;
                let (digest, bytes) = (kept.digest.clone(), kept.bytes);
                Ok(lock(&self.rows).insert(&digest, Arc::new(kept), bytes))
            }
        }
    }

    /// The task of a row under overrides and conditions. It is kept, because a reference runs once a task.
    fn load_task(
        &self,
        kept: &KeptRow,
        overrides: &TaskOverrides,
        conditions: &Digest,
    ) -> Result<(Arc<LoadedTask>, Digest), TaskError> {
        let key = content_hash(&(&kept.digest, overrides, conditions));
        if let Some(task) = self.kept_task(&key) {
            return Ok((task, key));
        }
        let mut row = Arc::clone(&kept.row);
        let unfit = |field: &'static str, reason: String| TaskError::Options { field, reason };
        if *overrides != TaskOverrides::default() {
            overrides.apply(Arc::make_mut(&mut row)).map_err(|useless| unfit("limits", useless.to_string()))?;
        }
        // The row alone was fit when it was read; the judge that the request chose need not be.
        let task = LoadedTask::new(row).map_err(|error| unfit("judge", error.to_string()))?;
        self.check_checker(task.row()).map_err(|error| unfit("judge", error.to_string()))?;
        Ok((lock(&self.tasks).insert(&key, Arc::new(task), kept.bytes), key))
    }

    /// Checks that the images of the row's checker and interactor are open.
    fn check_checker(&self, row: &ProblemRow) -> Result<(), ProblemError> {
        let open: Vec<&str> = self.open.iter().map(|open| open.name.as_str()).collect();
        check_checker_images(row, &self.facts.image, &open)
    }

    fn check_options(&self, options: &JudgeOptions) -> Result<(), TaskError> {
        let Some(asked) = options.limits.memory_bytes else { return Ok(()) };
        let most = self.parts.most_memory_bytes;
        match asked > most {
            false => Ok(()),
            true => Err(TaskError::Options {
                field: "limits.memory_bytes",
                reason: format!("this service allows {most} bytes, and {asked} are asked for"),
            }),
        }
    }
}

/// A store, or a pointer, is consistent between any two calls.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_options(row_bytes: usize) -> ReadOptions {
    let bytes = row_bytes as u64;
    let short = bytes.saturating_mul(MOST_REPEATED).min(SHORT_INFLATED);
    let max_row_bytes = bytes.saturating_mul(INFLATED).max(short).clamp(LEAST_INFLATED, MOST_INFLATED);
    ReadOptions { max_row_bytes, max_row_weight: most_text_weight(row_bytes), ..ReadOptions::default() }
}

/// Reads one row of a set, and gives it `name` instead of its own.
fn parse_row(format: &str, row: &str, name: Option<&str>, options: ReadOptions) -> Result<KeptRow, TaskError> {
    let format = problem_format(format).map_err(|error| TaskError::UnknownFormat(error.to_string()))?;
    let invalid = |field: &str, reason: String| TaskError::Invalid { field: field.to_owned(), reason };
    let row = parse_problem(row, format, &options).map_err(|fault| invalid(&fault.field, fault.reason))?;
    let row = row.named(name.map(str::to_owned));
    check_row(&row).map_err(|error| invalid("", error.to_string()))?;
    Ok(KeptRow { digest: content_hash(&row), bytes: record_weight(&row), row: Arc::new(row) })
}

impl Judge for ServedJudge {
    fn facts(&self) -> &JudgeFacts {
        &self.facts
    }

    fn open_task(self: Arc<Self>, source: &TaskSource, options: &JudgeOptions) -> Result<Arc<dyn OpenTask>, TaskError> {
        self.check_options(options)?;
        let kept = self.find_row(source)?;
        check_image(&kept.row, &self.facts.image).map_err(|error| TaskError::Invalid {
            field: "language".to_owned(),
            reason: format!("{error}; `veriplay verify` judges it by `--image`"),
        })?;
        self.check_checker(&kept.row)
            .map_err(|error| TaskError::Invalid { field: String::new(), reason: error.to_string() })?;
        if let Err((limit, reason)) = self.facts.check_limits(&kept.row.limits().apply(self.facts.limits)) {
            return Err(TaskError::Invalid {
                field: String::new(),
                reason: format!("the row states limits that are refused: {limit}: {reason}"),
            });
        }
        let JudgeOptions { judge, limits, seed, early_stop } = options.clone();
        let judge = judge.map(ChosenJudge::Unnamed);
        let overrides = TaskOverrides { judge, limits, ..TaskOverrides::default() };
        let scaled = limits.fuel.is_none();
        let limits = limits.apply(self.facts.limits);
        let image = self.facts.image_digest.clone();
        let conditions = JudgeConditions { image, limits, scaled, seed, early_stop };
        let digest = conditions.digest();
        let (task, key) = self.load_task(&kept, &overrides, &digest)?;
        let memory_bytes = task.row().limits().apply(limits).memory_bytes;
        check_memory(task.row(), &self.facts.image, memory_bytes, &self.open).map_err(|error| {
            let reason = error.to_string();
            match options.limits.memory_bytes {
                Some(_) => TaskError::Options { field: "limits.memory_bytes", reason },
                None => TaskError::Invalid { field: String::new(), reason },
            }
        })?;
        let row = kept.digest.clone();
        let (task_id, bytes) = (kept.row.task_id().to_owned(), kept.bytes);
        let (fresh, current) = (task.without_problem(), Mutex::new(Arc::downgrade(&task)));
        let conditions_digest = digest_with_checkers(&digest, task.row(), &self.facts.image, &self.open);
        Ok(Arc::new(ServedTask {
            judge: self,
            task_id,
            fresh,
            current,
            key,
            row,
            bytes,
            conditions,
            conditions_digest,
        }))
    }

    fn run(&self, job: &Job, cancellation: &CancellationToken) -> Result<Outcome, ExecuteError> {
        self.parts.sandbox.run_cancellable(job, cancellation)
    }

    fn flush(&self) {
        self.parts.cache.flush();
    }
}

struct CancellableSandbox<'a> {
    sandbox: &'a ProgramSandbox,
    cancellation: &'a CancellationToken,
}

impl Execute for CancellableSandbox<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.sandbox.run_cancellable(job, self.cancellation)
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

struct ServedTask {
    judge: Arc<ServedJudge>,
    task_id: String,
    /// The task, whose reference has not run.
    fresh: LoadedTask,
    /// What the attempts that are judged at the moment have of it: a request may have many tasks, and their references return much.
    current: Mutex<Weak<LoadedTask>>,
    /// Its key among the judge's tasks.
    key: Digest,
    row: Digest,
    /// What its row counts for.
    bytes: u64,
    conditions: JudgeConditions,
    conditions_digest: Digest,
}

impl ServedTask {
    /// The task, with what its reference returned if it is kept.
    fn current(&self) -> Arc<LoadedTask> {
        let mut current = lock(&self.current);
        if let Some(task) = current.upgrade() {
            return task;
        }
        let kept = self.judge.kept_task(&self.key);
        let fresh = || lock(&self.judge.tasks).insert(&self.key, Arc::new(self.fresh.without_problem()), self.bytes);
        let task = kept.unwrap_or_else(fresh);
        *current = Arc::downgrade(&task);
        task
    }

    /// Counts the task as used, with what its reference returned.
    fn charge(&self, task: &Arc<LoadedTask>) {
        // Of a row with its expected values there is nothing to add, but that it was used.
        let weight = task.executed_weight().unwrap_or(0);
        if weight > self.bytes.saturating_mul(MOST_EXPECTED_FACTOR) {
            lock(&self.judge.tasks).remove_this(&self.key, task);
            lock(&self.judge.heavy).insert(&self.key, Arc::clone(task), weight);
        } else {
            lock(&self.judge.tasks).recharge(&self.key, task, self.bytes + weight);
        }
    }
}

impl OpenTask for ServedTask {
    fn task_id(&self) -> &str {
        &self.task_id
    }

    fn digest(&self) -> &Digest {
        &self.row
    }

    fn judge(&self, attempt_id: &str, text: &AttemptText, cancellation: &CancellationToken) -> JudgedAttempt {
        let task = self.current();
        let attempt = PendingAttempt::new(&task, attempt_id.to_owned(), text.clone(), &self.conditions_digest);
        let ServiceSandbox { sandbox, cache, .. } = &self.judge.parts;
        let execute = &CancellableSandbox { sandbox, cancellation };
        let context = TaskContext {
            execute,
            cancellation: Some(cancellation),
            image: &self.judge.facts.image,
            conditions: &self.conditions,
        };
        let judge = AttemptJudge { context, others: &[], cache, stop: || false };
        let judged = judge.judge(attempt);
        self.charge(&task);
        judged
    }
}
