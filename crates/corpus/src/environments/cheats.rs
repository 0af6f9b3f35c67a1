//! Attempts to cheat with a Code-as-Task, one Markdown file each: codes that must not be accepted, and artifacts that the gate must
//! refuse. `task-corpus/environment_cheats/README.md` describes the format.

use serde::Deserialize;
use veriplay_core::{CodeTask, Status};

use super::{EnvironmentCorpus, built_in_environments};
use crate::CorpusError;
use crate::files::{CHEATS, list_files};
use crate::markdown::MarkdownFile;

/// One attempt to cheat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cheat {
    /// The file's name without its ending.
    pub name: String,
    /// The prose, which says what it tries.
    pub statement: String,
    /// The task it attacks, or for [`CheatKind::Artifact`] the artifact itself.
    pub task: CodeTask,
    /// The kind of cheat, and the end it must come to.
    pub kind: CheatKind,
}

/// The kind of a cheat, and the end it must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheatKind {
    /// An executor's code, and the status it must get.
    Code {
        /// The code.
        code: String,
        /// Never Accepted.
        status: Status,
    },
    /// A challenger's artifact, and the rule by which the gate must refuse it.
    Artifact {
        /// The rule that must refuse it.
        rule: String,
        /// Whether no other rule may refuse it, so that it shows what the rule is for.
        alone: bool,
        /// The gate's option of that name.
        max_changed_lines: Option<usize>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheatHeader {
    task: String,
    status: Option<Status>,
    rule: Option<String>,
    #[serde(default)]
    alone: bool,
    max_changed_lines: Option<usize>,
}

/// The built-in cheats: those of `task-corpus/environment_cheats/`, sorted by name.
///
/// # Panics
/// Never: a test reads them all.
pub fn built_in_cheats() -> Vec<Cheat> {
    let environments = built_in_environments();
    let cheats = list_files(&CHEATS, "md").into_iter().map(|(path, text)| parse_cheat(path, text, &environments));
    cheats.collect::<Result<_, _>>().expect("the built-in cheats are checked by a test")
}

/// Parses a file's text; `path` names it in errors.
///
/// # Errors
/// What is missing, unknown, or asks to be accepted, with its line.
pub fn parse_cheat(path: &str, text: &str, environments: &[EnvironmentCorpus]) -> Result<Cheat, CorpusError> {
    let kinds = ["toml", "python", "instruction", "verify", "solution", "failure"];
    let mut file = MarkdownFile::parse(path, text, &kinds)?;
    file.check_prose()?;
    let toml = file.take_header()?;
    let header: CheatHeader = file.parse_header(&toml)?;
    let mut known = environments.iter().flat_map(|corpus| &corpus.tasks).map(|hand| &hand.task);
    let wrong =
        |problem: String| file.error(toml.line, problem, "task-corpus/environment_cheats/README.md has the keys");
    let Some(base) = known.find(|task| task.task_id == header.task) else {
        return Err(wrong(format!("there is no task `{}`", header.task)));
    };
    let (task, kind) = match (header.status, header.rule) {
        (Some(Status::Accepted), None) => return Err(wrong("it is to be accepted".to_owned())),
        (Some(status), None) => (base.clone(), parse_code(&file, status)?),
        (None, Some(rule)) => {
            let (alone, max_changed_lines) = (header.alone, header.max_changed_lines);
            (replace_parts(base.clone(), &file)?, CheatKind::Artifact { rule, alone, max_changed_lines })
        }
        _ => return Err(wrong("say one of `status` and `rule`".to_owned())),
    };
    Ok(Cheat { name: file.name, statement: file.prose, task, kind })
}

fn parse_code(file: &MarkdownFile<'_>, status: Status) -> Result<CheatKind, CorpusError> {
    match file.blocks.as_slice() {
        [block] if block.language == "python" => Ok(CheatKind::Code { code: block.text.clone(), status }),
        _ => Err(file.error(1, "an executor's cheat has one ```python block", "give the code alone")),
    }
}

/// Replaces parts of the artifact by the blocks. Blocks `failure` together replace all failure cases.
fn replace_parts(mut task: CodeTask, file: &MarkdownFile<'_>) -> Result<CodeTask, CorpusError> {
    let mut failures = Vec::new();
    for block in &file.blocks {
        match block.language.as_str() {
            "instruction" => task.instruction = block.text.trim().to_owned(),
            "verify" => task.verify.clone_from(&block.text),
            "solution" => task.solution.clone_from(&block.text),
            "failure" => failures.push(block.text.clone()),
            other => {
                return Err(file.error(block.line, format!("a block of kind `{other}`"), "an artifact has no code"));
            }
        }
    }
    match (file.blocks.is_empty(), failures.is_empty()) {
        (true, _) => Err(file.error(1, "it replaces nothing", "give a part of the task as a block")),
        (false, true) => Ok(task),
        (false, false) => Ok(CodeTask { failures, ..task }),
    }
}
