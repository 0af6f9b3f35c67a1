//! What stands beside a program and is needed by it: helpers, imports and constants of the prompt, or of other blocks of the answer.

use std::collections::{BTreeSet, HashMap, HashSet};

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use crate::names::Names;
use crate::prelude::insert_before;
use crate::syntax::with_syntax;

/// `program`, behind the definitions of the prompt that it needs. Those of `own`, which are asked for, are the program's alone.
pub(super) fn with_definitions_of_prompt(prompt: &str, own: &BTreeSet<String>, program: &str) -> String {
    if prompt.trim().is_empty() {
        return program.to_owned();
    }
    let definitions = with_syntax(program, |parsed| {
        definitions_needed(&complete_body(prompt), own, Names::read(parsed.suite()).free())
    });
    match definitions.flatten() {
        Some(definitions) => insert_before(&definitions, program, own.iter().map(String::as_str)),
        None => program.to_owned(),
    }
}

/// `program`, behind the definitions of `others`, the other blocks of its answer, that it needs: `asked` are names that it has to bind, too.
pub(super) fn with_definitions_of_blocks(others: &str, asked: &BTreeSet<String>, program: &str) -> String {
    let definitions = with_syntax(program, |parsed| {
        let names = Names::read(parsed.suite());
        let missing = asked.iter().map(String::as_str).filter(|name| !names.of_module.contains(name));
        definitions_needed(others, &BTreeSet::new(), names.free().chain(missing))
    });
    match definitions.flatten() {
        Some(definitions) => insert_before(&definitions, program, std::iter::empty()),
        None => program.to_owned(),
    }
}

/// The definitions and imports of a text that bind `needed` names, and those that these need in turn. `None` without any.
fn definitions_needed<'n>(text: &str, own: &BTreeSet<String>, needed: impl Iterator<Item = &'n str>) -> Option<String> {
    let needed: Vec<&str> = needed.collect();
    if needed.is_empty() {
        return None;
    }
    with_syntax(text, |parsed| {
        let mut open: Vec<&str> = needed.iter().copied().collect();
        let statements: Vec<&Stmt> =
            parsed.suite().iter().filter(|stmt| is_definition(stmt) && !defines_any(stmt, own)).collect();
        let names: Vec<Names<'_>> = statements.iter().map(|stmt| Names::read(std::slice::from_ref(*stmt))).collect();
        let mut binding: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, names) in names.iter().enumerate() {
            names.of_module.iter().for_each(|name| binding.entry(name).or_default().push(at));
        }
        let (mut seen, mut taken) = (HashSet::new(), BTreeSet::new());
        while let Some(name) = open.pop() {
            let places = if seen.insert(name.to_owned()) { binding.get(name) } else { None };
            for at in places.into_iter().flatten() {
                if taken.insert(*at) {
                    open.extend(names[*at].free());
                }
            }
        }
        // What a star binds is not known.
        if seen.iter().any(|name| !binding.contains_key(name.as_str())) {
            taken.extend((0..names.len()).filter(|at| names[*at].has_star));
        }
        let sources = taken.iter().map(|at| format!("{}\n", &text[statements[*at].range().to_std_range()]));
        (!taken.is_empty()).then(|| sources.collect())
    })?
}

fn is_definition(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Assign(_)
            | Stmt::AnnAssign(_)
    )
}

fn defines_any(stmt: &Stmt, own: &BTreeSet<String>) -> bool {
    match stmt {
        Stmt::FunctionDef(function) => own.contains(function.name.as_str()),
        Stmt::ClassDef(class) => own.contains(class.name.as_str()),
        _ => false,
    }
}

/// The prompt, with a body for its last function where it has none: a prompt may end behind a signature.
pub(crate) fn complete_body(prompt: &str) -> String {
    let with_body = || format!("{}\n    pass\n", prompt.trim_end());
    let parses = |text: &str| with_syntax(text, |_| ()).is_some();
    match parses(prompt) || !parses(&with_body()) {
        true => prompt.to_owned(),
        false => with_body(),
    }
}
