//! `veriplay corpus inject-bugs`: mutants of every code file, in an order that the seed determines, validated in parallel until
//! the requested number of bugs is reached.
//!
//! Invariants: the file depends only on repository, operators, seed and count, not on threads; a killed run
//! continues where it stopped, from the journal next to the file.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::{MOST_WHOLE_MIB, read_at_most};
use veriplay_console::progress::{self, counted};
use veriplay_core::{Digest, Dropped, Execute, SCHEMA_VERSION, Trust, content_hash};
use veriplay_corpus::builtin_bugs;
use veriplay_sandbox::{OutcomeCache, SandboxOptions, SandboxSet};
use veriplay_verifier::bugs::{
    BugArtifact, BugRules, BugValidation, Injector, Mutant as SourceMutant, RepoContext, make_mutants, propose_mutant,
    validate_bug,
};

use super::StoredRepository;
use super::journal::{Journal, MutantRecord};
use super::open::RepoSandboxes;

/// Mutants that are validated at once. It does not change the result: surplus bugs are dropped.
const CHUNK: usize = 8;
/// Outcomes that are remembered: proposing and validating a mutant run the same job.
const REMEMBERED: usize = 256;

/// A number of bugs to inject into one repository.
pub struct InjectRequest<'a> {
    /// Where the bugs are made.
    pub repository: &'a StoredRepository,
    /// What makes them, in turns.
    pub injectors: &'a [Injector],
    /// How many bugs to make.
    pub count: usize,
    /// Seeds the choices of the injectors.
    pub seed: u64,
    /// Whether tests share an instance with the package.
    pub trust: Trust,
    /// The file to write, or to continue.
    pub out: &'a Path,
    /// Where the guests that validate bugs run.
    pub workers: Isolation,
}

/// The results by operator.
#[derive(Debug, Default, Serialize)]
pub struct InjectionReport {
    schema_version: u32,
    valid: usize,
    tried: usize,
    /// Mutants there are to try.
    candidates: usize,
    /// Of this run.
    wall_s: f64,
    operators: BTreeMap<&'static str, OperatorCounts>,
}

#[derive(Debug, Default, Serialize)]
struct OperatorCounts {
    /// Places in the code it could change.
    sites: usize,
    /// Different mutants that were drawn.
    candidates: usize,
    tried: usize,
    valid: usize,
    /// Those tried that are not valid, by the check they fail.
    rejected: BTreeMap<String, usize>,
}

/// A mutant and where it belongs.
struct Mutant {
    path: String,
    candidate: SourceMutant,
    key: Digest,
}

/// Makes the bugs.
pub fn inject_bugs(request: &InjectRequest<'_>) -> Result<InjectionReport, Failure> {
    let started = Instant::now();
    let repository = std::slice::from_ref(request.repository);
    let RepoSandboxes { pytest, images, sandboxes } =
        RepoSandboxes::open(repository, SandboxOptions::fastest(), request.workers)?;
    let sandboxes = SandboxSet::new(sandboxes);
    let map = request.repository.map(&sandboxes, &images, &pytest)?;
    let repo = RepoContext { trust: request.trust, ..request.repository.repo(&images, &pytest, &map) };
    let mut report = InjectionReport { schema_version: SCHEMA_VERSION, ..InjectionReport::default() };
    let mutants = draw_mutants(&sandboxes, &repo, request, &mut report)?;
    report.candidates = mutants.len();
    if mutants.is_empty() {
        return Err(nothing_to_try(&repo, &report));
    }
    let names: Vec<&str> = request.injectors.iter().map(|injector| injector.name).collect();
    let mut journal =
        Journal::open(request.out, &content_hash(&(&repo.baseline.package, request.seed, request.trust, names)))?;
    let earlier: HashSet<Digest> = journal.earlier().iter().map(|tried| tried.key.clone()).collect();
    journal.earlier().iter().for_each(|tried| report.count(tried));
    let bar = progress::bar(request.count as u64, "bugs");
    let left: Vec<&Mutant> = mutants.iter().filter(|mutant| !earlier.contains(&mutant.key)).collect();
    let cache = OutcomeCache::new(&sandboxes, REMEMBERED);
    for chunk in left.chunks(CHUNK) {
        if report.valid >= request.count {
            break;
        }
        let tried: Vec<(MutantRecord, Option<BugArtifact>)> =
            chunk.par_iter().with_max_len(1).map(|mutant| try_mutant(&cache, &repo, mutant, request.seed)).collect();
        for (tried, artifact) in tried {
            if report.valid < request.count {
                journal.write(&tried, artifact.as_ref())?;
                report.count(&tried);
                bar.set_position(report.valid as u64);
            }
        }
    }
    bar.finish_and_clear();
    report.wall_s = started.elapsed().as_secs_f64();
    Ok(report)
}

/// The failure where there is no mutant, with its reason.
fn nothing_to_try(repo: &RepoContext<'_>, report: &InjectionReport) -> Failure {
    let sites: usize = report.operators.values().map(|counts| counts.sites).sum();
    let (why, hint) = match (repo.code_files().is_empty(), sites) {
        (true, _) => ("no test enters a function of its code", "`corpus add-repo` prints which tests can be used"),
        (false, 0) => {
            ("the operators find nothing to change in its code", "name other `--injectors`, or leave them out")
        }
        (false, _) => {
            ("no change by the operators makes another program", "name other `--injectors`, or another `--seed`")
        }
    };
    Failure::message(ExitCode::Input, format!("there is no bug to make in the repository: {why}")).hint(hint)
}

/// All mutants, in the order they are tried: each round has one of each operator and file.
fn draw_mutants(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    request: &InjectRequest<'_>,
    report: &mut InjectionReport,
) -> Result<Vec<Mutant>, Dropped> {
    let each = request.count.saturating_mul(4).div_ceil(request.injectors.len().max(1)).clamp(4, 100);
    let files: Vec<&str> = repo.code_files().into_iter().collect();
    let drawn = files.par_iter().with_max_len(1).map(|path| {
        let seed = u64::from_str_radix(&content_hash(&(request.seed, path)).as_str()[..8], 16).unwrap_or(request.seed);
        make_mutants(execute, repo, request.injectors, &repo.texts[*path], seed, each)
    });
    let drawn = drawn.collect::<Result<Vec<_>, Dropped>>()?;
    let mut placed = Vec::new();
    for (path, found) in files.iter().zip(drawn) {
        for mutants in found {
            let counts = report.operators.entry(mutants.injector).or_default();
            counts.sites += mutants.sites;
            counts.candidates += mutants.candidates.len();
            for (round, candidate) in mutants.candidates.into_iter().enumerate() {
                let key = content_hash(&(path, &candidate.text));
                placed.push((round, Mutant { path: (*path).to_owned(), candidate, key }));
            }
        }
    }
    placed.sort_by(|(one, a), (other, b)| (one, a.key.as_str()).cmp(&(other, b.key.as_str())));
    let mut seen = HashSet::new();
    Ok(placed.into_iter().map(|(_, mutant)| mutant).filter(|mutant| seen.insert(mutant.key.clone())).collect())
}

/// One mutant, from proposal to artifact. A host fault is a rejection under its own name: the mutant is not tried
/// again for this file, and makes no bug.
fn try_mutant(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    mutant: &Mutant,
    seed: u64,
) -> (MutantRecord, Option<BugArtifact>) {
    let Mutant { path, candidate, key } = mutant;
    let (injector, scope) = (candidate.injector.to_owned(), format!("{path}:{}", candidate.scope));
    let (artifact, rejected, why) = match bug_of(execute, repo, mutant, seed) {
        Ok(Ok(artifact)) => (Some(artifact), None, String::new()),
        Ok(Err((check, why))) => (None, Some(check), why),
        Err(dropped) => (None, Some("dropped".to_owned()), dropped.why),
    };
    (MutantRecord { key: key.clone(), injector, scope, rejected, why }, artifact)
}

/// The bug that a mutant makes; `Err` inside is the check that rejects it, and why.
fn bug_of(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    mutant: &Mutant,
    seed: u64,
) -> Result<Result<BugArtifact, (String, String)>, Dropped> {
    let rules = BugRules::LEAST;
    let bug = match propose_mutant(execute, repo, &mutant.path, &mutant.candidate, (seed, rules.seeds[0]))? {
        Ok(bug) => bug,
        Err(unfit) => return Ok(Err((unfit.check.to_owned(), unfit.why))),
    };
    let BugValidation { verdict, artifact } = validate_bug(execute, repo, &bug, &rules)?;
    Ok(artifact.ok_or((verdict.evidence.rule, verdict.evidence.detail)))
}

impl InjectionReport {
    fn count(&mut self, tried: &MutantRecord) {
        self.tried += 1;
        self.valid += usize::from(tried.rejected.is_none());
        let counts = self.operators.iter_mut().find(|(name, _)| **name == tried.injector).map(|(_, counts)| counts);
        let Some(counts) = counts else { return };
        counts.tried += 1;
        match &tried.rejected {
            None => counts.valid += 1,
            Some(check) => *counts.rejected.entry(check.clone()).or_default() += 1,
        }
    }
}

impl fmt::Display for InjectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20} {:>6} {:>10} {:>6} {:>6}  rejected", "operator", "sites", "candidates", "tried", "valid")?;
        for (name, counts) in &self.operators {
            let OperatorCounts { sites, candidates, tried, valid, rejected } = counts;
            let rejected: Vec<String> = rejected.iter().map(|(check, count)| format!("{check} {count}")).collect();
            writeln!(f, "{name:<20} {sites:>6} {candidates:>10} {tried:>6} {valid:>6}  {}", rejected.join(", "))?;
        }
        let Self { valid, tried, candidates, wall_s, .. } = self;
        let (valid, tried) = (counted(valid, "bug"), counted(tried, "mutant"));
        write!(f, "{valid} of {tried} tried ({candidates} drawn); {wall_s:.1} s")
    }
}

/// All bugs of a file, in its order; of one that ends in `.zst`, after decompressing it.
pub fn read_bugs(path: &Path) -> Result<Vec<BugArtifact>, Failure> {
    let text = read_text(path, MOST_WHOLE_MIB)?;
    let bug = |(index, line): (usize, &str)| {
        let place = || format!("{}:{}: not a bug that this build reads", path.display(), index + 1);
        let bug: BugArtifact = serde_json::from_str(line).with_context(place).or_fail(ExitCode::Input)?;
        match bug.schema_version {
            SCHEMA_VERSION => Ok(bug),
            other => Err(Failure::message(ExitCode::Input, format!("{}: schema version `{other}`", place()))),
        }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(bug).collect()
}

/// The text of a file of bugs, which has at most `most_mib` MiB; decompressed where its name ends in `.zst`.
fn read_text(path: &Path, most_mib: u64) -> Result<String, Failure> {
    let cannot = || format!("cannot read `{}`", path.display());
    let too_large = |size: String| {
        let what = format!("`{}` has {size}, and at most {most_mib} MiB are read", path.display());
        Failure::message(ExitCode::Input, what).hint("split the file: each of its lines is a bug")
    };
    let most = most_mib << 20;
    let file: Box<dyn Read> = match path.to_str().and_then(builtin_bugs) {
        Some(bytes) => Box::new(bytes),
        None => {
            let file = File::open(path).with_context(cannot).or_fail(ExitCode::Input)?;
            let size = file.metadata().with_context(cannot).or_fail(ExitCode::Input)?.len();
            if size > most {
                return Err(too_large(format!("{} MiB", size.div_ceil(1 << 20))));
            }
            Box::new(file)
        }
    };
    let (read, more) = match path.extension().is_some_and(|extension| extension == "zst") {
        true => (zstd::Decoder::new(file).and_then(|file| read_at_most(file, most)), " when it is decompressed"),
        false => (read_at_most(file, most), ""),
    };
    let bytes = read.with_context(cannot).or_fail(ExitCode::Input)?;
    let bytes = bytes.ok_or_else(|| too_large(format!("more than {most_mib} MiB{more}")))?;
    String::from_utf8(bytes).with_context(cannot).or_fail(ExitCode::Input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_bugs_is_read_up_to_its_bound_and_one_above_it_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let written = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).expect("it is written");
            path
        };
        let packed = |bytes: &[u8]| zstd::encode_all(bytes, 0).expect("it is compressed");
        let (fits, more) = (vec![b' '; 1 << 20], vec![b' '; (1 << 20) + 1]);
        for path in [written("fits.jsonl", &fits), written("fits.jsonl.zst", &packed(&fits))] {
            assert_eq!(read_text(&path, 1).expect("it fits").len(), fits.len(), "{}", path.display());
        }
        for (path, size) in [
            (written("more.jsonl", &more), "2 MiB"),
            (written("more.jsonl.zst", &packed(&more)), "more than 1 MiB when it is decompressed"),
            ("/dev/zero".into(), "more than 1 MiB"),
        ] {
            let failure = read_text(&path, 1).expect_err("it is too large");
            let what = format!("error: `{}` has {size}, and at most 1 MiB are read\nhint: split", path.display());
            assert!(failure.to_string().starts_with(&what), "{failure}");
            assert_eq!(failure.exit_code(), ExitCode::Input);
        }
    }

    #[test]
    fn built_in_bugs_are_read() {
        let bugs = read_bugs("builtin:tiny_repositories/train.jsonl.zst".as_ref()).expect("they are built in");
        assert!(!bugs.is_empty());
    }
}
