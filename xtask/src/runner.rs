//! Runs sabotages: applies each to a copy of the tree, builds the program `probes` there, and requires that its probes escape.
//!
//! The copy and its build lie in `sabotage/` of the target directory and are kept, so that a sabotage costs a build of the
//! sandbox alone. On a sabotaged sandbox each probe runs in a process of its own: jobs may share there what they must not share,
//! and one probe's evidence must not be another's.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, bail, ensure};

use crate::sabotage::{FOLDER, Sabotage};
use crate::tracked_files;

/// How long a probe may take; the longest takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

struct Report {
    name: String,
    probes: usize,
    building: Duration,
    probing: Duration,
    problem: Option<String>,
}

/// Runs `sabotages` against the source at `root`: the table, and whether all were noticed.
///
/// # Errors
/// When the tree cannot be copied, or does not build or contain the probes before anything is changed.
pub fn run(root: &Path, sabotages: &[Sabotage]) -> anyhow::Result<(String, bool)> {
    let scratch = ScratchTree::open(root)?;
    let mut reports = vec![scratch.run_unchanged(sabotages)?];
    for sabotage in sabotages {
        let report = scratch.run_sabotaged(sabotage)?;
        print_progress(&format_line(&report));
        reports.push(report);
    }
    let mut out = format!("{:<22} {:>6} {:>8} {:>8}  result\n", "sabotage", "probes", "build s", "probe s");
    reports.iter().for_each(|report| out += &format_line(report));
    let problems: Vec<&String> = reports.iter().filter_map(|report| report.problem.as_ref()).collect();
    problems.iter().for_each(|problem| out += &format!("\nerror: {problem}\n"));
    let all = sabotages.len();
    out += &format!("\n{} of {all} sabotages were noticed\n", all - problems.len());
    Ok((out, problems.is_empty()))
}

fn format_line(report: &Report) -> String {
    let Report { name, probes, building, probing, problem } = report;
    let (building, probing) = (building.as_secs_f64(), probing.as_secs_f64());
    let result = if problem.is_none() { "ok" } else { "FAILED" };
    format!("{name:<22} {probes:>6} {building:>8.1} {probing:>8.1}  {result}\n")
}

fn print_progress(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The result of one probe, as the program `probes` prints it.
struct Finding {
    id: String,
    verdict: String,
    evidence: String,
}

struct ScratchTree<'a> {
    root: &'a Path,
    tree: PathBuf,
    target: PathBuf,
    /// Held while the copy is in use.
    _lock: fs::File,
}

impl<'a> ScratchTree<'a> {
    /// Updates the copy. Unchanged files keep their times, so that cargo does not rebuild them.
    fn open(root: &'a Path) -> anyhow::Result<Self> {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        let folder = target.join("sabotage");
        let tree = folder.join("tree");
        fs::create_dir_all(&tree).with_context(|| format!("cannot make `{}`", tree.display()))?;
        let lock = fs::File::create(folder.join("lock"))?;
        lock.lock().context("cannot wait for another run to end")?;
        let files = tracked_files(root)?;
        for file in &files {
            write_if_new(&tree.join(file), &fs::read(root.join(file))?)?;
        }
        remove_others(&tree, &tree, &files)?;
        Ok(Self { root, tree, target: folder.join("target"), _lock: lock })
    }

    /// Checks that the unchanged tree contains every probe that a sabotage must let escape.
    fn run_unchanged(&self, sabotages: &[Sabotage]) -> anyhow::Result<Report> {
        let probes: BTreeSet<&str> = sabotages.iter().flat_map(|one| one.probes.iter().map(String::as_str)).collect();
        print_progress("building the tree as it is\n");
        let started = Instant::now();
        let program = self.build().context("the tree does not build as it is")?;
        let building = started.elapsed();
        let found = run_probes(&program, &probes.iter().copied().collect::<Vec<_>>())?;
        let faults = list_other_than(&found, "contained");
        ensure!(
            faults.is_empty(),
            "the tree as it is does not contain all probes:\n{}\nhint: mend the sandbox first",
            faults.join("\n")
        );
        let probing = started.elapsed() - building;
        Ok(Report { name: "(none)".to_owned(), probes: probes.len(), building, probing, problem: None })
    }

    fn run_sabotaged(&self, sabotage: &Sabotage) -> anyhow::Result<Report> {
        let started = Instant::now();
        let built = self.apply(sabotage).and_then(|()| {
            self.build().with_context(|| format!("sabotage `{}` applies and does not compile", sabotage.name))
        });
        let building = started.elapsed();
        let result = built.and_then(|program| require_escapes(&program, sabotage));
        let probing = started.elapsed() - building;
        for (path, _) in sabotage.patch.touched() {
            write_if_new(&self.tree.join(path), &fs::read(self.root.join(path)).unwrap_or_default())?;
        }
        let problem = result.err().map(|error| format!("{error:#}"));
        Ok(Report { name: sabotage.name.clone(), probes: sabotage.probes.len(), building, probing, problem })
    }

    fn apply(&self, sabotage: &Sabotage) -> anyhow::Result<()> {
        let edits = sabotage.apply(self.root)?;
        edits.iter().try_for_each(|(path, text)| write_if_new(&self.tree.join(path), text.as_bytes()))
    }

    fn build(&self) -> anyhow::Result<PathBuf> {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--locked", "--quiet", "--package", "xtask", "--features", "probes"]);
        let output = cargo
            .args(["--bin", "probes", "--target-dir"])
            .arg(&self.target)
            .current_dir(&self.tree)
            .output()
            .context("cannot start cargo")?;
        ensure!(output.status.success(), "cargo build failed:\n{}", String::from_utf8_lossy(&output.stderr));
        Ok(self.target.join("debug/probes"))
    }
}

/// Runs the probes of a sabotage, each of which must escape.
fn require_escapes(program: &Path, sabotage: &Sabotage) -> anyhow::Result<()> {
    let list_missed = |probe: &String| match run_probes(program, &[probe]) {
        Ok(found) => list_other_than(&found, "escaped"),
        Err(error) => vec![format!("  {probe}: {error:#}")],
    };
    let missed: Vec<String> = sabotage.probes.iter().flat_map(list_missed).collect();
    let (name, all, missed_count) = (&sabotage.name, sabotage.probes.len(), missed.len());
    ensure!(
        missed.is_empty(),
        "{missed_count} of {all} probes do not notice sabotage `{name}`:\n{}\nhint: either the patch no longer weakens the \
         sandbox, or the probe no longer reaches what it is for; mend one of them, or remove the probe from {FOLDER}/{name}.patch",
        missed.join("\n")
    );
    Ok(())
}

/// Runs these probes in one process.
fn run_probes(program: &Path, probes: &[&str]) -> anyhow::Result<Vec<Finding>> {
    let mut command = Command::new(program);
    let mut child =
        command.args(probes).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let stdout = child.stdout.take().context("the child's output is piped")?;
    let reader = std::thread::spawn(move || std::io::read_to_string(stdout));
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > PATIENCE * u32::try_from(probes.len())? {
            child.kill()?;
            child.wait()?;
            bail!("it did not end in {} s", started.elapsed().as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reader.join().unwrap_or_else(|_| Ok(String::new()))?;
    let finding = |line: &str| {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        Some(Finding { verdict: words.next()?, id: words.next()?, evidence: words.next().unwrap_or_default() })
    };
    let found: Vec<Finding> = text.lines().filter_map(finding).collect();
    ensure!(found.len() == probes.len(), "{} of {} probes came to an end", found.len(), probes.len());
    Ok(found)
}

/// The findings that are not `wanted`, a line each.
fn list_other_than(found: &[Finding], wanted: &str) -> Vec<String> {
    let others = found.iter().filter(|finding| finding.verdict != wanted);
    others.map(|Finding { id, verdict, evidence }| format!("  {id}: {verdict}: {evidence}")).collect()
}

fn write_if_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Removes what lies below `dir` and is not among `files` of `tree`, empty folders too.
fn remove_others(tree: &Path, dir: &Path, files: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(tree, &path, files)?;
            // Succeeds on an empty folder alone.
            let _ = fs::remove_dir(&path);
        } else if !files.contains(path.strip_prefix(tree)?) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
