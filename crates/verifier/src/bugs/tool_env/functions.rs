//! Finds the functions of a source text, for prompts and responses that hold one function.

use veriplay_core::{Dropped, Evidence, Execute, TextFiles, Value};
use veriplay_image_python::programs::bugs::{FUNCTIONS, REWRITTEN};

use super::super::RepoContext;
use super::super::history::PastChange;
use super::super::paths::is_test;
use super::super::source_queries::{SourceReader, parse_index};
use crate::repository::tuple;

/// What an emptied function raises.
const EMPTY_ERROR: &str = "NotImplementedError";

/// An outermost function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSource {
    /// Its file.
    pub path: String,
    /// Its qualified name.
    pub name: String,
    /// Its text without the indentation in the file and without the final newline.
    pub source: String,
    indent: String,
    start: usize,
    end: usize,
    rest: Option<usize>,
}

impl FunctionSource {
    /// Replaces the function in the file by `source`, with the indentation of the function.
    #[must_use]
    pub fn replaced(&self, file: &str, source: &str) -> Option<String> {
        let (before, after) = (file.get(..self.start)?, file.get(self.end..)?);
        Some(format!("{before}{}{after}", indented(source.trim_end_matches('\n'), &self.indent)))
    }

    /// Whether undoing a past change in the files `texts`, of which the function is, changes the function.
    #[must_use]
    pub fn is_changed_by(&self, texts: &TextFiles, change: &PastChange) -> bool {
        let Some(text) = texts.get(&self.path).filter(|_| change.path() == self.path) else { return false };
        let undone = change.undo.apply(&TextFiles::from([(self.path.clone(), text.clone())])).unwrap_or_default();
        let whole = text.get(self.start..self.end).unwrap_or_default();
        undone.get(&self.path).is_some_and(|undone| !undone.contains(whole))
    }

    /// Empties the function in the file, except for its header and docstring. `None` when they share a line with the body, and when the
    /// function names the exception that an emptied one raises: nobody could tell the two apart.
    #[must_use]
    pub fn emptied(&self, file: &str) -> Option<String> {
        if self.source.contains(EMPTY_ERROR) {
            return None;
        }
        let (before, after) = (file.get(..self.rest?)?, file.get(self.end..)?);
        Some(format!("{before}raise {EMPTY_ERROR}{after}"))
    }

    /// Whether the function, whose body was taken out, has one in the files `now`: it is defined there as in the original, it is not empty,
    /// and no part of the changed code names what an emptied one raises where the original does not. A text that the parser gives up on
    /// defines nothing. Adds the cost to `evidence`.
    pub fn is_rewritten(
        &self,
        execute: &dyn Execute,
        repo: &RepoContext<'_>,
        now: &TextFiles,
        evidence: &mut Evidence,
    ) -> Result<bool, Dropped> {
        let is_code = |path: &str| path.ends_with(".py") && !is_test(repo, path);
        let changed = now.iter().filter(|(path, text)| is_code(path) && repo.texts.get(*path) != Some(*text));
        let question = |(path, text): (&String, &String)| {
            let before = repo.texts.get(path).map_or("", String::as_str);
            let name = if *path == self.path { self.name.as_str() } else { "" };
            vec![Value::str(before), Value::str(text.as_str()), Value::str(EMPTY_ERROR), Value::str(name)]
        };
        let questions: Vec<Vec<Value>> = changed.map(question).collect();
        let asked = questions.len();
        if asked == 0 || !now.contains_key(&self.path) {
            return Ok(now.contains_key(&self.path));
        }
        let reader = SourceReader::of_repo(execute, repo);
        let answers = reader.ask(REWRITTEN, "is_rewritten", questions, evidence)?.answers;
        Ok(answers.len() == asked && answers.iter().all(|answer| matches!(answer, Ok(Value::Bool(true)))))
    }
}

/// Lists the functions of the file `path` of `texts`. Invalid Python has none, and neither has a text that stops the parser. Functions whose text
/// would change when it is dedented and indented again are left out.
pub fn list_functions(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    texts: &TextFiles,
    path: &str,
) -> Result<Vec<FunctionSource>, Dropped> {
    let text = texts.get(path).map_or("", String::as_str);
    let question = vec![vec![Value::str(text)]];
    let reader = SourceReader::of_repo(execute, repo);
    let answers = reader.ask(FUNCTIONS, "functions", question, &mut Evidence::default())?.answers;
    let Some(Ok(Value::List(items))) = answers.into_iter().next() else { return Ok(Vec::new()) };
    Ok(items.iter().filter_map(|item| parse_function(path, text, item)).collect())
}

/// The only function that differs between `base` and `now`, before and after; `None` where there are other differences.
pub fn changed_function(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    base: &TextFiles,
    now: &TextFiles,
) -> Result<Option<(FunctionSource, FunctionSource)>, Dropped> {
    let all = base.keys().chain(now.keys().filter(|path| !base.contains_key(*path)));
    let changed: Vec<&String> = all.filter(|path| base.get(*path) != now.get(*path)).collect();
    let [path] = changed.as_slice() else { return Ok(None) };
    let (Some(old), Some(new)) = (base.get(*path), now.get(*path)) else { return Ok(None) };
    let before = list_functions(execute, repo, base, path)?;
    let after = list_functions(execute, repo, now, path)?;
    let same = |new_one: &FunctionSource, old_one: &FunctionSource| {
        new_one.name == old_one.name && new_one.replaced(new, &old_one.source).as_ref() == Some(old)
    };
    let mut found = after.iter().filter_map(|new_one| {
        before.iter().find(|old_one| same(new_one, old_one)).map(|old_one| (old_one.clone(), new_one.clone()))
    });
    Ok(found.next())
}

fn parse_function(path: &str, text: &str, item: &Value) -> Option<FunctionSource> {
    let [Value::Str(name), start, end, rest, Value::Str(indent)] = tuple(item)? else { return None };
    let (start, end) = (parse_index(start)?, parse_index(end)?);
    let whole = text.get(start..end)?;
    let source = at_margin(whole, indent);
    let found = FunctionSource {
        path: path.to_owned(),
        name: name.clone(),
        indent: indent.clone(),
        start,
        end,
        rest: parse_index(rest),
        source,
    };
    (indented(&found.source, indent) == whole).then_some(found)
}

fn at_margin(text: &str, indent: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    lines.join("\n")
}

fn indented(text: &str, indent: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { line.to_owned() } else { format!("{indent}{line}") };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
