//! What keeping to the mode of removal means: code goes, and not only lines.

use std::collections::BTreeSet;

use veriplay_core::{Dropped, Evidence, Execute, TextFiles, Value};
use veriplay_image_python::programs::bugs::CODE_SIZE;

use super::RepoContext;
use super::paths::is_test;
use super::source_queries::query_sources_within;
use crate::runner::string_list;

/// Whether the files `now` have less code than the original. Comments, docstrings, annotations and layout are none, and where the code is
/// makes no difference. A text that the parser gives up on is not less. Adds the cost to `evidence`.
///
/// # Errors
/// A host fault.
pub fn has_less_code(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    now: &TextFiles,
    evidence: &mut Evidence,
) -> Result<bool, Dropped> {
    let is_changed =
        |path: &&str| path.ends_with(".py") && !is_test(repo, path) && repo.texts.get(*path) != now.get(*path);
    let paths: BTreeSet<&str> = repo.texts.keys().chain(now.keys()).map(String::as_str).filter(is_changed).collect();
    let code = |texts: &TextFiles| string_list(paths.iter().map(|path| texts.get(*path).map_or("", String::as_str)));
    let question = vec![code(repo.texts), code(now)];
    let asked = vec![question];
    let answers =
        query_sources_within(execute, repo, repo.limits, CODE_SIZE, "has_less_code", asked, evidence)?.answers;
    Ok(matches!(answers.as_slice(), [Ok(Value::Bool(true))]))
}
