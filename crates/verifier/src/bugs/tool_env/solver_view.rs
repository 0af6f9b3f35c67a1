//! What a solver is handed of a bug, and what is taken back from it.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Patch, PatchError, TextFiles};

use super::super::bug_states::BugStates;
use super::super::paths::is_test;
use super::super::test_runner::file_of;
use super::super::{BugArtifact, RepoContext, weaken_tests};
use super::{FunctionSource, changed_function};

/// A solver's side of a bug: no history, no oracle test whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolverView {
    /// Base, bug, failed repairs and weakening; the hidden tests are gone from it too.
    pub tree: TextFiles,
    /// What is asked for: the weakening reversed, the hidden tests left out.
    pub spec: Patch,
    /// The test files that the spec is about.
    pub test_files: Vec<String>,
    /// Functions of tests that fail with the bug and are in neither: those asked for, or none when they cannot
    /// be taken out by name, or nothing else would be left to ask for.
    pub hidden: BTreeSet<String>,
    /// The one function that the bug is in, as in the original and as it is now; `None` where it was not asked for, too.
    pub function: Option<(FunctionSource, FunctionSource)>,
}

/// A bug to be handed out.
#[derive(Debug, Clone, Copy)]
pub struct ViewRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The bug.
    pub artifact: &'a BugArtifact,
    /// Test functions ([`test_function`]) to be left out. Grading has them all the same.
    pub hidden: &'a BTreeSet<String>,
    /// Whether to look for the function that the bug is in.
    pub with_function: bool,
}

/// The bug as a solver sees it.
///
/// # Errors
/// A fault of the host's, or an artifact that does not fit the repository.
pub fn solver_view(execute: &dyn Execute, request: &ViewRequest<'_>) -> Result<SolverView, Dropped> {
    let &ViewRequest { repo, artifact, hidden, with_function } = request;
    let states = BugStates::apply(repo.texts, &artifact.bug)
        .map_err(|error| Dropped { why: format!("the bug does not apply to the repository: {error}") })?;
    let function = match with_function {
        true => changed_function(execute, repo, repo.texts, &states.buggy)?,
        false => None,
    };
    let handed = |hidden: &BTreeSet<String>| handed(execute, request, &states.weakened, hidden);
    let none = BTreeSet::new();
    let mut found = handed(hidden)?;
    if !asks(&found.spec) {
        // The weakening took out nothing but what is to be hidden: there would be nothing to ask for.
        found = handed(&none)?;
    }
    Ok(SolverView { function, ..found })
}

/// What is handed out without the functions `hidden`.
fn handed(
    execute: &dyn Execute,
    request: &ViewRequest<'_>,
    weakened: &TextFiles,
    hidden: &BTreeSet<String>,
) -> Result<SolverView, Dropped> {
    let (repo, artifact) = (request.repo, request.artifact);
    let ids: BTreeSet<String> =
        artifact.fail_to_pass.iter().filter(|id| hidden.contains(test_function(id))).cloned().collect();
    let without = |texts: &TextFiles| -> Result<Option<TextFiles>, Dropped> {
        let removed = weaken_tests(execute, &RepoContext { texts, ..*repo }, &ids)?;
        Ok(removed.and_then(|patch| patch.apply(texts).ok()))
    };
    // Where the original's tests cannot lose them by name, nothing is hidden.
    let original = if ids.is_empty() { None } else { without(repo.texts)? };
    let hidden = if original.is_some() { hidden.clone() } else { BTreeSet::new() };
    let (tree, whole) = match original {
        None => (weakened.clone(), repo.texts.clone()),
        // The weakening has taken them out already, more often than not.
        Some(whole) => (without(weakened)?.unwrap_or_else(|| weakened.clone()), whole),
    };
    let tests = |texts: &TextFiles| -> TextFiles {
        let tests = texts.iter().filter(|(path, _)| artifact.bug.test_files.contains(path));
        tests.map(|(path, text)| (path.clone(), text.clone())).collect()
    };
    let spec = Patch::make(&tests(&tree), &tests(&whole))
        .map_err(|error| Dropped { why: format!("the weakening cannot be reversed: {error}") })?;
    let test_files = spec.touched().map(|(path, _)| path.to_owned()).collect();
    Ok(SolverView { tree, spec, test_files, hidden, function: None })
}

/// Whether a patch adds a line with anything in it.
fn asks(spec: &Patch) -> bool {
    let text = spec.to_string();
    let mut added = text.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    added.any(|line| !line[1..].trim().is_empty())
}

/// The patch that makes `now` of what was handed out. Changes of tests are no part of it: they are restored anyway, and a solver
/// may have put the spec there to try it.
///
/// # Errors
/// A text that is too large for a patch.
pub fn repair_of(repo: &RepoContext<'_>, handed: &TextFiles, now: &TextFiles) -> Result<Patch, PatchError> {
    Ok(Patch::make(handed, now)?.only(|path| !is_test(repo, path)))
}

/// The function of a test id: the id without parameters.
#[must_use]
pub fn test_function(id: &str) -> &str {
    let file = file_of(id).len();
    id[file..].find('[').map_or(id, |at| &id[..file + at])
}
