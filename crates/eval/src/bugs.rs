//! `veriplay verify --format bug`: bugs in repositories. With a file of attempts, each completion is a patch to judge. Without one, each bug is
//! validated again, and its reverse patch and the empty patch are judged.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::interrupt;
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::{
    AttemptText, Digest, Dropped, Execute, Fuzz, SCHEMA_VERSION, Status, Trust, Verdict, VerdictRow, content_hash,
};
use veriplay_corpus::{InvalidRow, ReadOptions, RowFault, read_attempts};
use veriplay_repository::{RepoImages, RepoSandboxes, StoredRepository, read_bugs};
use veriplay_sandbox::{OutcomeCache, SandboxOptions, SandboxSet};
use veriplay_verifier::bugs::{BugArtifact, BugRules, RepairRequest, RepoContext, TestMap, grade_repair, validate_bug};
use veriplay_verifier::extraction::Answer;

use super::faults::RowFaults;
use super::output::{VerdictOutput, end_with_summary};
use super::source::{PendingAttempt, ReadAttempt, invalid_row, row_at_unknown_task};
use super::stream::run_in_order;

/// The `attempt_id` of the rows that a validation makes.
const ARTIFACT: &str = "artifact";
const REVERSE: &str = "reverse";
const EMPTY: &str = "empty";
/// Outcomes that are cached: the attempts at one bug share jobs.
const REMEMBERED: usize = 256;
/// Attempts under way or waiting for an earlier one, for each thread.
const WINDOW: usize = 4;

/// The options of the command.
pub struct BugOptions<'a> {
    /// The file of the bugs.
    pub tasks: &'a Path,
    /// The file of repairs; without one the bugs themselves are validated.
    pub attempts: Option<&'a Path>,
    /// Names of the repositories that the bugs are in.
    pub repositories: &'a [String],
    /// The file for verdicts; without one they go to stdout.
    pub out: Option<&'a Path>,
    /// How many repairs are judged at once.
    pub jobs: usize,
    /// Where the guests that run tests run.
    pub workers: Isolation,
    /// Seeds the runs of the tests.
    pub seed: u64,
    /// Whether tests share an instance with the package.
    pub trust: Trust,
    /// Whether the summary is one line of JSON.
    pub json: bool,
}

#[derive(Debug, Default, Serialize)]
struct BugSummary {
    schema_version: u32,
    bugs: usize,
    rows: usize,
    /// Rows by `attempt_id`'s kind and status: of a validation `artifact`, `reverse` and `empty`, else `attempt`.
    statuses: BTreeMap<String, BTreeMap<String, usize>>,
    dropped: usize,
    /// Rows of a validation with an unexpected status.
    failed: usize,
    /// Rows that are no attempts, or name an unknown bug.
    bad_rows: usize,
}

/// The repositories of the bugs, with the maps of their tests.
struct BugRepositories {
    stored: Vec<(StoredRepository, TestMap)>,
    pytest: Digest,
    images: RepoImages,
    trust: Trust,
}

impl BugRepositories {
    fn repo(&self, package: &Digest) -> Result<RepoContext<'_>, Dropped> {
        let found = self.stored.iter().find(|(stored, _)| stored.baseline.package == *package);
        let (stored, map) = found.ok_or_else(|| Dropped { why: format!("no repository of digest `{package}`") })?;
        Ok(RepoContext { trust: self.trust, ..stored.repo(&self.images, &self.pytest, map) })
    }

    fn verdict(
        &self,
        execute: &dyn Execute,
        artifact: &BugArtifact,
        work: &PendingAttempt<usize>,
        validating: bool,
        seed: u64,
    ) -> Result<Verdict, Dropped> {
        let repo = self.repo(&artifact.package)?;
        if validating && work.attempt_id == ARTIFACT {
            return validate_again(execute, &repo, artifact);
        }
        grade_repair(execute, &repo, &RepairRequest { artifact, patch: &work.program, fuzz: Fuzz::GIT, seed })
    }
}

/// Judges attempts, or validates bugs.
pub fn judge(options: &BugOptions<'_>) -> Result<(), Failure> {
    let bugs = read_bugs(options.tasks)?;
    let (sandboxes, repositories) = open_repositories(options, &bugs)?;
    let (mut work, bad_rows) = match options.attempts {
        Some(path) => read_patches(path, &bugs, options.seed)?,
        None => (validation_attempts(&bugs, options.seed), 0),
    };
    let inputs: Vec<&Path> = std::iter::once(options.tasks).chain(options.attempts).collect();
    let mut output = VerdictOutput::open(options.out, &inputs)?;
    let mut summary =
        BugSummary { schema_version: SCHEMA_VERSION, bugs: bugs.len(), bad_rows, ..BugSummary::default() };
    let validating = options.attempts.is_none();
    let mut work = work.drain(..).map(Ok);
    output.resume(&mut work, |row| summary.add(row, validating))?;
    let cache = OutcomeCache::new(&sandboxes, REMEMBERED);
    interrupt::listen(super::STOPPING);
    let judged = |work: ReadAttempt<usize>| {
        if interrupt::requested() {
            return None;
        }
        Some(match work {
            Ok(work) => {
                let verdict = repositories.verdict(&cache, &bugs[work.task], &work, validating, options.seed);
                work.into_row(verdict)
            }
            Err(row) => *row,
        })
    };
    let mut stopped = false;
    run_in_order(&mut work, options.jobs, options.jobs.saturating_mul(WINDOW), judged, |row: Option<VerdictRow>| {
        // A row behind an attempt that was not begun would leave a gap.
        stopped |= row.is_none();
        let Some(row) = row.filter(|_| !stopped) else { return Ok(()) };
        summary.add(&row, validating);
        output.write(&row)
    })?;
    output.finish()?;
    let ended = if stopped { Err(super::stopped(options.out)) } else { summary.judge(options) };
    summary.finish(options, ended)
}

/// Opens the repositories of the bugs, all in the same sandboxes.
fn open_repositories(options: &BugOptions<'_>, bugs: &[BugArtifact]) -> Result<(SandboxSet, BugRepositories), Failure> {
    let mut names: Vec<String> = options.repositories.to_vec();
    if names.is_empty() {
        names = bugs.iter().map(|bug| format!("{}=={}", bug.name, bug.version)).collect();
        names.sort();
        names.dedup();
    }
    let stored = names.iter().map(|name| StoredRepository::open(name)).collect::<Result<Vec<_>, _>>()?;
    let sandbox_options = SandboxOptions { max_parallel: options.jobs, ..SandboxOptions::fastest() };
    let RepoSandboxes { pytest, images, sandboxes } = RepoSandboxes::open(&stored, sandbox_options, options.workers)?;
    let sandboxes = SandboxSet::new(sandboxes);
    let mapped = stored.into_iter().map(|stored| {
        let map = stored.map(&sandboxes, &images, &pytest)?;
        Ok((stored, map))
    });
    let stored = mapped.collect::<Result<Vec<_>, Failure>>()?;
    Ok((sandboxes, BugRepositories { stored, pytest, images, trust: options.trust }))
}

/// All rows of the file, and how many of them are invalid or about an unknown bug, which is reported.
fn read_patches(path: &Path, bugs: &[BugArtifact], seed: u64) -> Result<(Vec<ReadAttempt<usize>>, usize), Failure> {
    let by_id: HashMap<&str, usize> =
        bugs.iter().enumerate().map(|(index, bug)| (bug.task_id.as_str(), index)).collect();
    let (mut work, mut bad_rows, mut seen) = (Vec::new(), 0, vec![0_u64; bugs.len()]);
    let mut faults = RowFaults::default();
    for row in read_attempts(path, ReadOptions::default().max_row_bytes).or_fail(ExitCode::Input)? {
        match row.or_fail(ExitCode::Input)? {
            Err(bad) => {
                faults.report(&bad.fault.fault(), &bad.fault);
                bad_rows += 1;
                work.push(Err(invalid_row(bad)));
            }
            Ok(row) => match by_id.get(row.task_id.as_str()) {
                None => {
                    let (field, reason) = ("task_id".to_owned(), format!("there is no bug `{}`", row.task_id));
                    let bad = InvalidRow::new(path, row.line, RowFault { field, reason });
                    faults.report("there is no bug of that name", bad);
                    bad_rows += 1;
                    work.push(Err(row_at_unknown_task(row, None)));
                }
                Some(&task) => {
                    let attempt_id = row.attempt_id.unwrap_or_else(|| seen[task].to_string());
                    seen[task] += 1;
                    work.push(pending_attempt(bugs, task, attempt_id, row.text, seed));
                }
            },
        }
    }
    faults.report_counts(path);
    Ok((work, bad_rows))
}

fn validation_attempts(bugs: &[BugArtifact], seed: u64) -> Vec<ReadAttempt<usize>> {
    let of = |(task, bug): (usize, &BugArtifact)| {
        let reverse = bug.bug.bug_inject.reverse().to_string();
        [(ARTIFACT, String::new()), (REVERSE, reverse), (EMPTY, String::new())]
            .map(|(kind, patch)| pending_attempt(bugs, task, kind.to_owned(), AttemptText::Program(patch), seed))
    };
    bugs.iter().enumerate().flat_map(of).collect()
}

fn pending_attempt(
    bugs: &[BugArtifact],
    task: usize,
    attempt_id: String,
    text: AttemptText,
    seed: u64,
) -> ReadAttempt<usize> {
    let (bug, named) = (&bugs[task], attempt_id.clone());
    let digest_of = |patch: &str| content_hash(&(bug, &attempt_id, patch, seed));
    PendingAttempt::with_answer(task, bug.task_id.clone(), named, Answer::at_bug(text), digest_of)
}

/// Runs the checks again, and compares the result with the artifact.
fn validate_again(execute: &dyn Execute, repo: &RepoContext<'_>, artifact: &BugArtifact) -> Result<Verdict, Dropped> {
    let again = validate_bug(execute, repo, &artifact.bug, &BugRules::LEAST)?;
    let mut verdict = again.verdict;
    if let Some(again) = again.artifact
        && again != *artifact
    {
        verdict.status = Status::Invalid;
        verdict.evidence.rule = "declared".to_owned();
        verdict.evidence.detail = format!(
            "it declares {} tests to repair and {} to keep; the validation finds {} and {}",
            artifact.fail_to_pass.len(),
            artifact.pass_to_pass.len(),
            again.fail_to_pass.len(),
            again.pass_to_pass.len()
        );
    }
    Ok(verdict)
}

impl BugSummary {
    fn add(&mut self, row: &VerdictRow, validating: bool) {
        let kind = if validating { row.attempt_id.as_str() } else { "attempt" };
        let status = row.status.to_string();
        let expected = match kind {
            ARTIFACT => status == "valid",
            REVERSE => status == "accepted",
            EMPTY => status != "accepted" && status != "dropped",
            _ => true,
        };
        self.rows += 1;
        self.failed += usize::from(!expected);
        self.dropped += usize::from(status == "dropped");
        *self.statuses.entry(kind.to_owned()).or_default().entry(status).or_default() += 1;
    }

    fn finish(&self, options: &BugOptions<'_>, ended: Result<(), Failure>) -> Result<(), Failure> {
        if options.json {
            return end_with_summary(self, options.out, ended);
        }
        let words = |(kind, counts): (&String, &BTreeMap<String, usize>)| {
            let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{status} {count}")).collect();
            format!("{kind}: {}", counts.join(", "))
        };
        let kinds: Vec<String> = self.statuses.iter().map(words).collect();
        let (rows, bugs) = (counted(self.rows, "row"), counted(self.bugs, "bug"));
        progress::say(format!("{rows} on {bugs}; {}", kinds.join("; ")));
        ended
    }

    /// Fails where a row is not as it must be.
    fn judge(&self, options: &BugOptions<'_>) -> Result<(), Failure> {
        if self.rows == 0 && options.attempts.is_some() {
            return Err(Failure::message(ExitCode::Input, "there are no attempts: nothing was judged")
                .hint("give `--attempts` a file with a row for each"));
        }
        match (self.dropped, self.failed + self.bad_rows) {
            (0, 0) => Ok(()),
            (0, rows) => {
                let text =
                    format!("rows that have an unexpected status, are no attempts or name an unknown bug: {rows}");
                Err(Failure::message(ExitCode::Input, text).hint("their `evidence` gives the reason"))
            }
            (dropped, _) => {
                let text = format!("rows dropped through a fault of the host: {dropped}");
                Err(Failure::message(ExitCode::Host, text).hint("their `evidence` gives the reason"))
            }
        }
    }
}
