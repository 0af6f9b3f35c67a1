//! Turns mutants and edited trees into proposed bugs: the bug as a patch, and the weakening that removes the tests which notice it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use veriplay_core::{Dropped, Evidence, Execute, Patch, TextFiles, Value};
use veriplay_image_python::programs::bugs::WEAKEN;

use super::bug_states::lacks_module;
use super::paths::is_test;
use super::source_queries::{QueryResults, SourceReader, apply_edits, parse_edits};
use super::test_runner::{RepoTestRunner, file_of};
use super::{BugProposal, Mutant, RepoContext, TestCommand};
use crate::runner::string_list;

/// Why a change of the repository cannot be proposed as a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRejection {
    /// The name of the check that it would fail.
    pub check: &'static str,
    /// Why, for people.
    pub why: String,
}

/// Proposes a mutant of the file `path`. Runs the affected tests once; validation runs them again, so use an executor with a cache.
pub fn propose_mutant(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    path: &str,
    mutant: &Mutant,
    seeds: (u64, u64),
) -> Result<Result<BugProposal, ProposalRejection>, Dropped> {
    let mut buggy = repo.texts.clone();
    buggy.insert(path.to_owned(), mutant.text.clone());
    propose_files(execute, repo, &buggy, None, mutant.injector, seeds)
}

fn reject<T>(check: &'static str, why: &str) -> Result<Result<T, ProposalRejection>, Dropped> {
    Ok(Err(ProposalRejection { check, why: why.to_owned() }))
}

/// Proposes a state in which only code is changed. Without a `weakening` of the injector's own it is derived from the failing tests. `seeds`: the
/// proposal's, and that of the run that finds the failing tests.
fn propose_files(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    buggy: &TextFiles,
    weakening: Option<Patch>,
    injector: &str,
    seeds: (u64, u64),
) -> Result<Result<BugProposal, ProposalRejection>, Dropped> {
    let Ok(bug_inject) = Patch::make(repo.texts, buggy) else { return reject("applies", "it makes no patch") };
    let failing = match find_failing_tests(execute, repo, buggy, seeds.1)? {
        Ok(failing) => failing,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let weakening = weakening.map_or_else(|| derive_weakening(execute, repo, &failing), |own| Ok(Some(own)))?;
    let Some(test_weaken) = weakening else {
        return reject("hidden", "its failing tests cannot be taken out by name");
    };
    let touched = test_weaken.touched().map(|(path, _)| path);
    let test_files: BTreeSet<String> =
        failing.ids.iter().map(|id| file_of(id)).chain(touched).map(str::to_owned).collect();
    Ok(Ok(BugProposal::first_order(bug_inject, test_weaken, test_files, injector, seeds.0)))
}

/// Who removes the tests that notice a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakening {
    /// Veriplay removes the functions of the failing tests, and nothing else.
    Derived,
    /// The injector edits test files. Without such edits the proposal weakens nothing, and validation rejects it.
    Model,
}

/// A repository that an injector has edited.
#[derive(Debug, Clone, Copy)]
pub struct TreeRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// All its text files as they are now.
    pub now: &'a TextFiles,
    /// Becomes [`BugProposal::injector`].
    pub injector: &'a str,
    /// Who removes the tests.
    pub weakening: Weakening,
    /// The proposal's seed, and that of the run that finds the failing tests.
    pub seeds: (u64, u64),
    /// As [`BugProposal::test_command`].
    pub test_command: Option<&'a TestCommand>,
}

/// Proposes the code changes of an edited tree as a bug. Runs the affected tests once.
pub fn propose_tree(
    execute: &dyn Execute,
    request: &TreeRequest<'_>,
) -> Result<Result<BugProposal, ProposalRejection>, Dropped> {
    let repo = request.repo;
    let Ok(patch) = Patch::make(repo.texts, request.now) else { return reject("applies", "it makes no patch") };
    let (bug, weaken) = (patch.only(|path| !is_test(repo, path)), patch.only(|path| is_test(repo, path)));
    if bug.is_empty() {
        return reject("changed_files", "no code is changed");
    }
    let Ok(buggy) = bug.apply(repo.texts) else { return reject("applies", "its patch does not apply") };
    let weakening = (request.weakening == Weakening::Model).then_some(weaken);
    let proposed = propose_files(execute, repo, &buggy, weakening, request.injector, request.seeds)?;
    Ok(match request.test_command {
        None => proposed,
        Some(command) => proposed.map(|bug| with_command(repo, bug, command)),
    })
}

/// The proposal with the test files of a command.
fn with_command(repo: &RepoContext<'_>, bug: BugProposal, command: &TestCommand) -> BugProposal {
    let selected = repo.map.tests().filter(|id| command.selects(id));
    let test_files: BTreeSet<&str> = selected.map(|id| file_of(id)).collect();
    let test_files = test_files.into_iter().map(str::to_owned).collect();
    BugProposal { test_files, test_command: Some(command.clone()), ..bug }
}

/// The tests that fail in a state.
struct FailingTests {
    ids: BTreeSet<String>,
    /// Test files all of whose tests fail, because a module that the state lacks keeps pytest from collecting them.
    uncollected: BTreeSet<String>,
}

/// Finds the tests that fail in the state.
fn find_failing_tests(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    buggy: &TextFiles,
    seed: u64,
) -> Result<Result<FailingTests, ProposalRejection>, Dropped> {
    let affected = repo.map.affected(execute, repo, repo.texts, buggy)?;
    if affected.is_empty() {
        return reject("failing", "no test enters what it changes");
    }
    let results = RepoTestRunner::new(execute, repo).run(buggy, &affected, seed)?;
    if let Some(why) = results.invalid_file(lacks_module(repo.texts, buggy)) {
        return reject("records", why);
    }
    if affected.iter().any(|id| results.lacks(id)) {
        return reject("records", "it stops more tests than are waited for");
    }
    let ids: BTreeSet<String> = affected.into_iter().filter(|id| !results.passed(id)).collect();
    if ids.is_empty() {
        return reject("failing", "every test passes");
    }
    Ok(Ok(FailingTests { ids, uncollected: results.uncollected }))
}

/// Makes the patch that removes the failing tests: their functions by name, and whole files that cannot be collected.
fn derive_weakening(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    failing: &FailingTests,
) -> Result<Option<Patch>, Dropped> {
    let FailingTests { ids, uncollected } = failing;
    if uncollected.is_empty() {
        return weaken_tests(execute, repo, ids);
    }
    let named: BTreeSet<String> = ids.iter().filter(|id| !uncollected.contains(file_of(id))).cloned().collect();
    let named = if named.is_empty() { Some(Patch::default()) } else { weaken_tests(execute, repo, &named)? };
    let Some(mut after) = named.and_then(|patch| patch.apply(repo.texts).ok()) else { return Ok(None) };
    after.retain(|path, _| !uncollected.contains(path));
    Ok(Patch::make(repo.texts, &after).ok())
}

/// Makes the patch that removes the functions of the tests `failing` from the test files of `repo.texts`, which may be an injector's. `None`
/// when Python's parser gives up on one of the files, when a function cannot be found by its name, such as one that a class inherits, or
/// when nothing is to be removed. Tests of files that are not there are removed.
pub fn weaken_tests(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    failing: &BTreeSet<String>,
) -> Result<Option<Patch>, Dropped> {
    let mut functions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for id in failing.iter().filter(|id| repo.texts.contains_key(file_of(id))) {
        functions.entry(file_of(id)).or_default().insert(name_of(id));
    }
    if functions.is_empty() {
        return Ok(None);
    }
    let answers = query_removals(execute, repo, &functions, &mut Evidence::default())?.answers;
    if answers.len() < functions.len() {
        return Ok(None);
    }
    let mut after = repo.texts.clone();
    for (file, answer) in functions.keys().zip(answers) {
        let text = repo.texts.get(*file).map_or("", String::as_str);
        let edits = answer.ok().and_then(|value| parse_edits(&value));
        match edits.and_then(|edits| apply_edits(text, &edits)) {
            Some(weakened) => after.insert((*file).to_owned(), weakened),
            None => return Ok(None),
        };
    }
    Ok(Patch::make(repo.texts, &after).ok().filter(|patch| !patch.is_empty()))
}

/// Why tests cannot be removed from one of the test files `paths` of `repo.texts`: Python's parser gives up on it. A solver's view is made by
/// such removals. Files that are not there are passed over. Adds the cost to `evidence`.
pub(crate) fn unreadable_test_file(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    paths: &[&str],
    evidence: &mut Evidence,
) -> Result<Option<String>, Dropped> {
    let paths = paths.iter().filter(|path| path.ends_with(".py") && repo.texts.contains_key(**path));
    let functions: BTreeMap<&str, BTreeSet<&str>> = paths.map(|path| (*path, BTreeSet::new())).collect();
    if functions.is_empty() {
        return Ok(None);
    }
    let QueryResults { answers, early_end } = query_removals(execute, repo, &functions, evidence)?;
    let refused = functions.keys().zip(&answers).find_map(|(file, answer)| Some((file, answer.as_ref().err()?)));
    if let Some((file, why)) = refused {
        return Ok(Some(format!("`{file}` cannot be parsed: {why}")));
    }
    Ok(early_end.map(|how| {
        let file = functions.keys().nth(answers.len()).copied().unwrap_or_default();
        format!("`{file}` cannot be parsed: {how}")
    }))
}

/// Asks for the edits that remove functions, by file. Adds the cost to `evidence`.
fn query_removals(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    functions: &BTreeMap<&str, BTreeSet<&str>>,
    evidence: &mut Evidence,
) -> Result<QueryResults, Dropped> {
    let text = |file: &str| repo.texts.get(file).map_or("", String::as_str);
    let arguments =
        functions.iter().map(|(file, names)| vec![Value::str(text(file)), string_list(names.iter().copied())]);
    SourceReader::of_repo(execute, repo).ask(WEAKEN, "weaken", arguments.collect(), evidence)
}

/// `Class::function` of a test id.
fn name_of(id: &str) -> &str {
    let names = id.split_once("::").map_or("", |(_, names)| names);
    names.split_once('[').map_or(names, |(name, _)| name)
}
