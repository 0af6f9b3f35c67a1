//! Attempts to cheat with a Code-as-Task, one Markdown file each: codes that must not be accepted, artifacts that the gate
//! must refuse. `task-corpus/environment_cheats/README.md` is the format.

use serde::Deserialize;
use veriplay_core::{CodeTask, Status};

use super::{EnvironmentCorpus, built_in_environments};
use crate::CorpusError;
use crate::files::{CHEATS, list_files, stem};
use crate::markdown::{self, Block};

/// One attempt to cheat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cheat {
    /// The file's name without its ending.
    pub name: String,
    /// What it tries: the prose.
    pub statement: String,
    /// What it attacks, or for [`Kind::Artifact`] the artifact itself.
    pub task: CodeTask,
    /// What it is, and how it must end.
    pub kind: Kind,
}

/// What a cheat is, and how it must end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An executor's code, and the status it must get.
    Code {
        /// The code.
        code: String,
        /// Never Accepted.
        status: Status,
    },
    /// A challenger's artifact, and what the gate must say.
    Artifact {
        /// The rule that must refuse it.
        rule: String,
        /// Whether no other rule may refuse it: it shows what the rule is for.
        alone: bool,
        /// The gate's option of that name.
        max_changed_lines: Option<usize>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    task: String,
    status: Option<Status>,
    rule: Option<String>,
    #[serde(default)]
    alone: bool,
    max_changed_lines: Option<usize>,
}

/// The cheats the binary carries: those of `task-corpus/environment_cheats/`, sorted by name.
///
/// # Panics
/// Never: a test reads them all.
#[must_use]
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
    let wrong = |line: usize, problem: String| CorpusError::Seed {
        path: path.to_owned(),
        line,
        problem,
        hint: "task-corpus/environment_cheats/README.md says what may stand here".to_owned(),
    };
    let (statement, blocks) = markdown::parse_blocks(text).map_err(|(line, problem)| wrong(line, problem))?;
    if statement.lines().count() < 2 {
        return Err(wrong(1, "there is no prose under the title".to_owned()));
    }
    let toml =
        blocks.iter().find(|block| block.language == "toml").ok_or_else(|| wrong(1, "no ```toml block".into()))?;
    let front: Front =
        toml::from_str(&toml.text).map_err(|error| wrong(toml.line, error.message().replace('\n', "; ")))?;
    let mut known = environments.iter().flat_map(|corpus| &corpus.tasks).map(|hand| &hand.task);
    let base = known.find(|task| task.task_id == front.task);
    let task = base.ok_or_else(|| wrong(toml.line, format!("there is no task `{}`", front.task)))?.clone();
    let rest: Vec<&Block> = blocks.iter().filter(|block| block.language != "toml").collect();
    let (task, kind) = match (front.status, front.rule) {
        (Some(Status::Accepted), None) => return Err(wrong(toml.line, "it is to be accepted".to_owned())),
        (Some(status), None) => (task, code_of(&rest, status).map_err(|(line, problem)| wrong(line, problem))?),
        (None, Some(rule)) => {
            let task = replaced(task, &rest).map_err(|(line, problem)| wrong(line, problem))?;
            (task, Kind::Artifact { rule, alone: front.alone, max_changed_lines: front.max_changed_lines })
        }
        _ => return Err(wrong(toml.line, "say one of `status` and `rule`".to_owned())),
    };
    Ok(Cheat { name: stem(path), statement, task, kind })
}

type Read<T> = Result<T, (usize, String)>;

fn code_of(blocks: &[&Block], status: Status) -> Read<Kind> {
    match blocks {
        [block] if block.language == "python" => Ok(Kind::Code { code: block.text.clone(), status }),
        _ => Err((1, "an executor's cheat has one ```python block".to_owned())),
    }
}

/// The artifact with what the blocks say instead. One block `failure` or more replace all failure cases.
fn replaced(mut task: CodeTask, blocks: &[&Block]) -> Read<CodeTask> {
    let mut failures = Vec::new();
    for block in blocks {
        match block.language.as_str() {
            "instruction" => task.instruction = block.text.trim().to_owned(),
            "verify" => task.verify.clone_from(&block.text),
            "solution" => task.solution.clone_from(&block.text),
            "failure" => failures.push(block.text.clone()),
            other => return Err((block.line, format!("a block of kind `{other}`"))),
        }
    }
    match (blocks.is_empty(), failures.is_empty()) {
        (true, _) => Err((1, "it replaces nothing".to_owned())),
        (false, true) => Ok(task),
        (false, false) => Ok(CodeTask { failures, ..task }),
    }
}
