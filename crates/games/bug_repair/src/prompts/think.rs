//! `think`: words, and one fenced block a turn that names a tool, for chat models.
//!
//! # Layout
//! A response holds exactly one closed block, and any thoughts around it. The words behind its opening fence are the tool and a
//! path: `list PATH`, `read PATH` (the block holds nothing, or `FIRST-LAST`), `search PATH` and `search-regex PATH` (the block holds
//! one line), `create PATH` (the block holds the file's lines), `delete PATH`, `edit PATH` (a line `<<<<<<< OLD`, the lines that are
//! there, `=======`, the lines that are to be there, `>>>>>>> NEW`), `run` (a test file or id a line, or nothing), `submit` (where an
//! injector is asked for a test command, the block holds it). A fence is a line of three backticks or more and closes by a line of as
//! many, so that a block may hold shorter ones.
//!
//! # Why
//! A pretrained model knows fenced blocks and merge markers, so it needs no warm-up to be understood.
//!
//! # How it can be gamed
//! One block a turn: a response that tries several tools and hopes for one does nothing and costs a turn. An edit names whole
//! lines, exactly, that are there once.
//!
//! # Example
//! A block opened by three backticks and `search src`, that holds `def total`.

use veriplay_core::{Message, PromptContent};
use veriplay_verifier::bugs::tool_env::{FunctionSource, RepoToolCall};
use veriplay_verifier::bugs::{PastChange, TestCommand};

use super::{AnsweredBug, InjectionMode, RepairFormat, RepoBudgetLeft, RepoGoal, RepoResponse};

const OLD: &str = "<<<<<<< OLD";
const BETWEEN: &str = "=======";
const NEW: &str = ">>>>>>> NEW";
/// Lines that a read without a range requests; what is shown is bounded apart from that.
const ALL_LINES: usize = 1 << 30;

pub(super) struct Think;

impl RepairFormat for Think {
    fn name(&self) -> &'static str {
        "think"
    }

    fn is_single_turn(&self) -> bool {
        false
    }

    fn can_ask(&self, _goal: &RepoGoal) -> bool {
        true
    }

    fn first_prompt(&self, goal: &RepoGoal, _examples: &[&AnsweredBug], left: RepoBudgetLeft) -> PromptContent {
        let (tools, shown_chars) = (include_str!("think/tools.txt").trim_end(), left.shown_chars);
        let left = left_text(left);
        let text = match goal {
            RepoGoal::Repair { spec, .. } => format!(
                include_str!("think/repair.txt"),
                tools = tools,
                spec = spec,
                left = left,
                shown_chars = shown_chars
            ),
            RepoGoal::Inject { mode, function, past, names_command } => format!(
                include_str!("think/inject.txt"),
                mode = mode_text(*mode, function),
                tools = tools,
                command = if *names_command { include_str!("think/command.txt") } else { "" },
                past = past.as_ref().map_or_else(String::new, past_text),
                left = left,
                shown_chars = shown_chars
            ),
        };
        vec![Message::user(text.trim_end())].into()
    }

    fn next_message(&self, shown: &str, left: RepoBudgetLeft) -> String {
        format!("{shown}\n\n{}", left_text(left))
    }

    fn parse_response(&self, goal: &RepoGoal, response: &str) -> Result<RepoResponse, String> {
        let (label, lines) = parse_only_block(response)?;
        let (tool, path) = label.split_once(' ').map_or((label, ""), |(tool, path)| (tool, path.trim()));
        if matches!((tool, path, goal), ("submit", "", RepoGoal::Inject { names_command: true, .. })) {
            let [command] = lines.as_slice() else { return Err("a `submit` block holds the test command".to_owned()) };
            return TestCommand::parse(command).map(|command| RepoResponse::Submit(Some(command)));
        }
        parse_action(tool, path, &lines)
    }
}

fn left_text(left: RepoBudgetLeft) -> String {
    format!("Turns left: {}. Runs of tests left: {}.", left.turns, left.test_runs)
}

fn mode_text(mode: InjectionMode, function: &FunctionSource) -> String {
    let place = format!("`{}` in `{}`", function.name, function.path);
    match mode {
        InjectionMode::Direct => format!("Change the code as you like. A place to begin: {place}."),
        InjectionMode::Removal => format!(
            "Make the bug by taking code out: a case, a check, a module, a feature with all that belongs to it, and change what is left \
             only so that it still runs. More lines must go than come. A place to begin: {place}."
        ),
        InjectionMode::Rewrite => format!(
            "The body of {place} has been taken out. Write it anew, from its name, its docstring and its uses, as you think it might be. \
             It is a bug if tests then fail, so leave the cases you find least obvious to your first guess."
        ),
        InjectionMode::History => format!(
            "Make the bug by undoing a past change of {place}, or a part of it, and change what is left only so that it still runs."
        ),
    }
}

/// What undoes a past change.
fn past_text(past: &PastChange) -> String {
    format!("\nThe past change was called `{}`. This patch undoes what is left of it:\n{}", past.subject, past.undo)
}

fn parse_action(tool: &str, path: &str, lines: &[&str]) -> Result<RepoResponse, String> {
    let path = || path.to_owned();
    let nothing = |action| if lines.is_empty() { Ok(action) } else { Err(format!("a `{tool}` block holds nothing")) };
    match tool {
        "list" => nothing(RepoResponse::Call(RepoToolCall::List { path: path() })),
        "submit" if path().is_empty() => nothing(RepoResponse::Submit(None)),
        "read" => {
            parse_range(lines).map(|(first, last)| RepoResponse::Call(RepoToolCall::Read { path: path(), first, last }))
        }
        "search" | "search-regex" => {
            let [pattern] = lines else { return Err(format!("a `{tool}` block holds one line")) };
            let (pattern, expression) = ((*pattern).to_owned(), tool == "search-regex");
            Ok(RepoResponse::Call(RepoToolCall::Search { path: path(), pattern, expression }))
        }
        "edit" => parse_edit(path(), lines).map(RepoResponse::Call),
        "create" => Ok(RepoResponse::Call(RepoToolCall::Create { path: path(), text: whole_lines(lines) })),
        "delete" => nothing(RepoResponse::Call(RepoToolCall::Delete { path: path() })),
        "run" if path().is_empty() => {
            let tests = lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
            Ok(RepoResponse::Call(RepoToolCall::Run { tests: tests.collect() }))
        }
        "submit" | "run" => Err(format!("`{tool}` has no path")),
        other => Err(format!("`{other}` is no tool")),
    }
}

fn parse_range(lines: &[&str]) -> Result<(usize, usize), String> {
    let wrong = || "a `read` block holds nothing, or `FIRST-LAST`".to_owned();
    match lines {
        [] => Ok((1, ALL_LINES)),
        [line] => {
            let (first, last) = line.trim().split_once('-').ok_or_else(wrong)?;
            let (first, last) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
            if 1 <= first && first <= last { Ok((first, last)) } else { Err(wrong()) }
        }
        _ => Err(wrong()),
    }
}

fn parse_edit(path: String, lines: &[&str]) -> Result<RepoToolCall, String> {
    let wrong = || format!("an `edit` block is `{OLD}`, lines, `{BETWEEN}`, lines, `{NEW}`");
    let inner = lines.strip_prefix(&[OLD]).and_then(|lines| lines.strip_suffix(&[NEW])).ok_or_else(wrong)?;
    let mut parts = inner.split(|line| *line == BETWEEN);
    let (Some(old), Some(new), None) = (parts.next(), parts.next(), parts.next()) else { return Err(wrong()) };
    Ok(RepoToolCall::Edit { path, old: whole_lines(old), new: whole_lines(new) })
}

fn whole_lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The label and the lines of the response's one block.
fn parse_only_block(text: &str) -> Result<(&str, Vec<&str>), String> {
    let (mut found, mut open) = (Vec::new(), None);
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match &mut open {
            None if ticks >= 3 => open = Some((ticks, line[ticks..].trim(), Vec::new())),
            None => {}
            Some((opened, _, _)) if ticks == *opened && line[ticks..].trim().is_empty() => found.extend(open.take()),
            Some((_, _, lines)) => lines.push(line),
        }
    }
    if open.is_some() {
        return Err("the block is not closed".to_owned());
    }
    match (found.pop(), found.len()) {
        (Some((_, label, lines)), 0) => Ok((label, lines)),
        (None, _) => Err("there is no fenced block".to_owned()),
        (Some(_), more) => Err(format!("there are {} fenced blocks; write one", more + 1)),
    }
}
