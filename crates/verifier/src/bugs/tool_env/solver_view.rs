//! The view of a bug for a solver, and the repair of a solver.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Execute, Patch, PatchError, TextFiles};

use super::super::bug_states::BugStates;
use super::super::paths::is_test;
use super::super::test_runner::file_of;
use super::super::{BugArtifact, RepoContext, weaken_tests};
use super::{FunctionSource, changed_function};

/// A bug as a solver sees it, without its history and without complete oracle tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolverView {
    /// The repository with the bug, failed repairs and the weakening, without the hidden tests.
    pub tree: TextFiles,
    /// The specification: the reversed weakening, without the hidden tests.
    pub spec: Patch,
    /// The test files of `spec`.
    pub test_files: Vec<String>,
    /// The hidden test functions, which are in neither. Empty where they cannot be removed by name, or where the specification would be
    /// empty without them.
    pub hidden: BTreeSet<String>,
    /// The only function that the bug changes, in the original and now; `None` too where it was not requested.
    pub function: Option<(FunctionSource, FunctionSource)>,
}

/// A request for a view.
#[derive(Debug, Clone, Copy)]
pub struct ViewRequest<'a> {
    /// The repository.
    pub repo: &'a RepoContext<'a>,
    /// The bug.
    pub artifact: &'a BugArtifact,
    /// Test functions ([`test_function`]) to hide. Grading runs them nevertheless.
    pub hidden: &'a BTreeSet<String>,
    /// Whether to find the function that the bug changes.
    pub with_function: bool,
}

/// Makes the view of a bug.
///
/// # Errors
/// A host fault, or an artifact that does not apply to the repository.
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
        // Without the hidden tests the specification is empty, so nothing is hidden.
        found = handed(&none)?;
    }
    Ok(SolverView { function, ..found })
}

/// Makes the view without the functions `hidden`.
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
    // Nothing is hidden where the functions cannot be removed from the original's tests by name.
    let original = if ids.is_empty() { None } else { without(repo.texts)? };
    let hidden = if original.is_some() { hidden.clone() } else { BTreeSet::new() };
    let (tree, whole) = match original {
        None => (weakened.clone(), repo.texts.clone()),
        // The weakening has usually removed them already.
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

/// Whether a patch adds a non-blank line.
fn asks(spec: &Patch) -> bool {
    let text = spec.to_string();
    let mut added = text.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    added.any(|line| !line[1..].trim().is_empty())
}

/// The patch from the handed-out tree to `now`, without changes of tests: they are restored anyway, and a solver may have added the
/// specification to try it.
///
/// # Errors
/// A text that is too large for a patch.
pub fn repair_of(repo: &RepoContext<'_>, handed: &TextFiles, now: &TextFiles) -> Result<Patch, PatchError> {
    Ok(Patch::make(handed, now)?.only(|path| !is_test(repo, path)))
}

/// A test id without its parameters.
#[must_use]
pub fn test_function(id: &str) -> &str {
    let file = file_of(id).len();
    id[file..].find('[').map_or(id, |at| &id[..file + at])
}
