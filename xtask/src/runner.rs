//! Runs sabotages: applies each to a copy of the tree, builds the program `probes` there, and requires that its probes escape; builds the tests of
//! the sandbox, where it names some, and requires that those fail.
//!
//! The copy and its build lie in `sabotage/` of the target directory and are kept, so that a sabotage costs a build of the
//! sandbox alone. On a sabotaged sandbox each probe and test runs in a process of its own: jobs may share there what they must not share,
//! and one probe's evidence must not be another's.

use std::collections::BTreeSet;
use std::ffi::OsString;
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
/// The same of one run of tests, in seconds, as the command `timeout` takes it.
const TEST_PATIENCE: &str = "900";
/// What `cargo test` ends with where a test fails, and where something does not compile.
const FAILED: i32 = 101;

struct Report {
    name: String,
    probes: usize,
    tests: usize,
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
    let mut out =
        format!("{:<22} {:>6} {:>5} {:>8} {:>8}  result\n", "sabotage", "probes", "tests", "build s", "run s");
    reports.iter().for_each(|report| out += &format_line(report));
    let problems: Vec<&String> = reports.iter().filter_map(|report| report.problem.as_ref()).collect();
    problems.iter().for_each(|problem| out += &format!("\nerror: {problem}\n"));
    let all = sabotages.len();
    out += &format!("\n{} of {all} sabotages were noticed\n", all - problems.len());
    Ok((out, problems.is_empty()))
}

fn format_line(report: &Report) -> String {
    let Report { name, probes, tests, building, probing, problem } = report;
    let (building, probing) = (building.as_secs_f64(), probing.as_secs_f64());
    let result = if problem.is_none() { "ok" } else { "FAILED" };
    format!("{name:<22} {probes:>6} {tests:>5} {building:>8.1} {probing:>8.1}  {result}\n")
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

    /// Checks that the unchanged tree contains every probe that a sabotage must let escape, and passes every test that one must fail.
    fn run_unchanged(&self, sabotages: &[Sabotage]) -> anyhow::Result<Report> {
        let probes: BTreeSet<&String> = sabotages.iter().flat_map(|one| &one.probes).collect();
        let tests: BTreeSet<&String> = sabotages.iter().flat_map(|one| &one.tests).collect();
        let probes: Vec<&str> = probes.into_iter().map(String::as_str).collect();
        let tests: Vec<&str> = tests.into_iter().map(String::as_str).collect();
        print_progress("building the tree as it is\n");
        let started = Instant::now();
        self.build(&probes, &tests).context("the tree does not build as it is")?;
        let building = started.elapsed();
        let faults = list_other_than(&self.run_probes(&probes, None)?, "contained");
        ensure!(
            faults.is_empty(),
            "the tree as it is does not contain all probes:\n{}\nhint: mend the sandbox first",
            faults.join("\n")
        );
        ensure!(
            tests.is_empty() || self.tests_pass(&tests, None)?,
            "the tree as it is fails some of these tests of the sandbox:\n  {}\nhint: `cargo test --workspace` says which; mend the \
             sandbox first",
            tests.join("\n  ")
        );
        let probing = started.elapsed() - building;
        let name = "(none)".to_owned();
        Ok(Report { name, probes: probes.len(), tests: tests.len(), building, probing, problem: None })
    }

    fn run_sabotaged(&self, sabotage: &Sabotage) -> anyhow::Result<Report> {
        let started = Instant::now();
        let built = self.apply(sabotage).and_then(|()| {
            let built = self.build(&sabotage.probes, &sabotage.tests);
            built.with_context(|| format!("sabotage `{}` applies and does not compile", sabotage.name))
        });
        let building = started.elapsed();
        let result = built.and_then(|()| self.require_notice(sabotage));
        let probing = started.elapsed() - building;
        for (path, _) in sabotage.patch.touched() {
            write_if_new(&self.tree.join(path), &fs::read(self.root.join(path)).unwrap_or_default())?;
        }
        let problem = result.err().map(|error| format!("{error:#}"));
        let (name, probes, tests) = (sabotage.name.clone(), sabotage.probes.len(), sabotage.tests.len());
        Ok(Report { name, probes, tests, building, probing, problem })
    }

    fn apply(&self, sabotage: &Sabotage) -> anyhow::Result<()> {
        let edits = sabotage.apply(self.root)?;
        edits.iter().try_for_each(|(path, text)| write_if_new(&self.tree.join(path), text.as_bytes()))
    }

    /// Builds what runs these probes and tests.
    fn build<T>(&self, probes: &[T], tests: &[T]) -> anyhow::Result<()> {
        const PROBES: [&str; 7] = ["build", "--package", "xtask", "--features", "probes", "--bin", "probes"];
        let mut commands = Vec::new();
        if !probes.is_empty() {
            let mut cargo = Command::new(cargo());
            cargo.args(PROBES);
            commands.push(cargo);
        }
        if !tests.is_empty() {
            let mut cargo = Command::new(cargo());
            cargo.args(TESTS).arg("--no-run");
            commands.push(cargo);
        }
        for mut command in commands {
            let output = self.in_tree(&mut command).output().context("cannot start cargo")?;
            ensure!(output.status.success(), "cargo failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Has a command of cargo use this tree, and its target directory.
    fn in_tree<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.args(["--locked", "--quiet", "--target-dir"]).arg(&self.target).current_dir(&self.tree)
    }

    /// Runs the probes and tests of a sabotage. Each must notice it.
    fn require_notice(&self, sabotage: &Sabotage) -> anyhow::Result<()> {
        // An image of a sabotaged harness is another image, and nobody else's.
        let is_other_image = sabotage.patch.touched().any(|(path, _)| path.starts_with("sandboxes/"));
        let own_cache = is_other_image.then(|| self.target.with_file_name("cache"));
        let mut missed = Vec::new();
        for probe in &sabotage.probes {
            match self.run_probes(&[probe], own_cache.as_deref()) {
                Ok(found) => missed.extend(list_other_than(&found, "escaped")),
                Err(error) => missed.push(format!("  {probe}: {error:#}")),
            }
        }
        for test in &sabotage.tests {
            match self.tests_pass(&[test], own_cache.as_deref()) {
                Ok(false) => {}
                Ok(true) => missed.push(format!("  {test}: it passes, or there is no such test")),
                Err(error) => missed.push(format!("  {test}: {error:#}")),
            }
        }
        let (name, all, missed_count) = (&sabotage.name, sabotage.probes.len() + sabotage.tests.len(), missed.len());
        ensure!(
            missed.is_empty(),
            "{missed_count} of {all} probes and tests do not notice sabotage `{name}`:\n{}\nhint: either the patch no longer weakens \
             the sandbox, or what should notice no longer reaches what it is for; mend one of them, or remove the line from \
             {FOLDER}/{name}.patch",
            missed.join("\n")
        );
        Ok(())
    }

    /// Whether these tests of the sandbox pass; where there is no test of a name, that is no failure.
    fn tests_pass(&self, tests: &[&str], own_cache: Option<&Path>) -> anyhow::Result<bool> {
        // It ends the tests too, and not only the cargo that started them.
        let mut command = Command::new("timeout");
        self.in_tree(command.args(["--signal=KILL", TEST_PATIENCE]).arg(cargo()).args(TESTS));
        // A test that is skipped where an image cannot be built would pass for one that notices nothing.
        command.args(["--", "--exact"]).args(tests).env("VERIPLAY_REQUIRE_NPM", "1");
        command.envs(own_cache.map(|cache| ("VERIPLAY_CACHE", cache)));
        match command.stdin(Stdio::null()).output().context("cannot start `timeout`")?.status.code() {
            Some(0) => Ok(true),
            Some(FAILED) => Ok(false),
            _ => bail!("it did not end in {TEST_PATIENCE} s"),
        }
    }

    /// Runs these probes in one process.
    fn run_probes(&self, probes: &[&str], own_cache: Option<&Path>) -> anyhow::Result<Vec<Finding>> {
        if probes.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = Command::new(self.target.join("debug/probes"));
        command.envs(own_cache.map(|cache| ("VERIPLAY_CACHE", cache)));
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
}

/// The test binaries of the sandbox, to cargo.
const TESTS: [&str; 6] = ["test", "--package", "veriplay-sandbox", "--lib", "--test", "main"];

/// The cargo that runs this task, so that the pinned toolchain is used.
fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
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
