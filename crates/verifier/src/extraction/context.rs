//! What a prompt has beside the function that it asks for: helpers, imports, constants, and the signature that a body continues.

use std::collections::{BTreeSet, HashSet};

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;
use veriplay_python::names::Names;
use veriplay_python::prelude::insert_before;
use veriplay_python::syntax::with_syntax;

use super::lines::lines_of;

/// What a body is indented by, where the prompt ends behind a signature.
const INDENT: &str = "    ";

/// `program`, behind those statements of the prompt that it needs: all definitions and imports but those of `own`, where it uses a name of them that
/// it does not bind itself.
pub(super) fn with_definitions_of_prompt(prompt: &str, own: &BTreeSet<String>, program: &str) -> String {
    if prompt.trim().is_empty() {
        return program.to_owned();
    }
    let definitions = with_syntax(program, |parsed| definitions_used(prompt, own, &Names::read(parsed.suite())));
    match definitions.flatten() {
        Some(definitions) => insert_before(&definitions, program, own.iter().map(String::as_str)),
        None => program.to_owned(),
    }
}

/// The definitions of the prompt, if the program uses one.
fn definitions_used(prompt: &str, own: &BTreeSet<String>, program: &Names<'_>) -> Option<String> {
    let free: HashSet<&str> = program.free().collect();
    if free.is_empty() {
        return None;
    }
    let prompt = complete_body(prompt);
    with_syntax(&prompt, |parsed| {
        let others = parsed.suite().iter().filter(|stmt| is_definition(stmt) && !defines_any(stmt, own));
        let (mut text, mut is_used) = (String::new(), false);
        for stmt in others {
            let names = Names::read(std::slice::from_ref(stmt));
            is_used |= names.has_star || names.of_module.iter().any(|name| free.contains(name));
            text += &prompt[stmt.start().to_usize()..stmt.end().to_usize()];
            text.push('\n');
        }
        is_used.then_some(text)
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
    let with_body = || format!("{}\n{INDENT}pass\n", prompt.trim_end());
    let parses = |text: &str| with_syntax(text, |_| ()).is_some();
    match parses(prompt) || !parses(&with_body()) {
        true => prompt.to_owned(),
        false => with_body(),
    }
}

/// The prompt with a body of its last function behind it that has lost its indentation: that of the first line, by a `strip`, or that of all.
/// `None` where the text is none.
pub(super) fn with_stripped_body(prompt: &str, body: &str) -> Option<String> {
    let may_be_body = body.contains("return") || body.contains("yield");
    if !may_be_body || body.starts_with(char::is_whitespace) {
        return None;
    }
    let last = lines_of(prompt).filter(|line| !line.text.trim().is_empty()).last()?.text;
    let indent = match &last[..last.len() - last.trim_start().len()] {
        "" => INDENT,
        indent => indent,
    };
    // Where the first line alone has lost it, the body is no Python by itself.
    let indented: String = match with_syntax(body, |_| ()) {
        Some(()) => lines_of(body).map(|line| format!("{indent}{}\n", line.text)).collect(),
        None => format!("{indent}{body}"),
    };
    let program = format!("{prompt}{indented}");
    with_syntax(&program, |_| ()).is_some().then_some(program)
}
