//! Parses one probe. A breach of the format is an error with file and line.

use std::path::Path;

use serde::Deserialize;
use veriplay_core::Limits;

use super::{Probe, ProbeExpectation, ProbeProgram, RunEnd, RunOrder, find_class};
use crate::CorpusError;
use crate::files::file_stem;
use crate::markdown::{self, MarkdownBlock};

/// What the `toml` block says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeHeader {
    #[serde(default)]
    expect: ExpectWord,
    kind: Option<String>,
    #[serde(default)]
    language_level: bool,
    #[serde(default)]
    escapes_unsandboxed: bool,
    #[serde(default)]
    honest: bool,
    #[serde(default)]
    at_once: Option<u32>,
    #[serde(default)]
    runs: Option<u32>,
    #[serde(default)]
    stdin: String,
    entry: Option<String>,
    #[serde(default)]
    limits: LimitOverrides,
}

/// `expect`: a word of the format, or how the run ends.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpectWord {
    #[default]
    Contained,
    Same,
    Stopped,
    #[serde(untagged)]
    Ends(RunEnd),
}

/// What a probe's programs may use, where it is not the usual.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitOverrides {
    fuel_millions: Option<u64>,
    memory_mib: Option<u64>,
    output_kib: Option<u64>,
    file_kib: Option<u64>,
    deadline_ms: Option<u64>,
}

impl LimitOverrides {
    /// The usual: many times what a contained probe needs, and little enough that all of them together are quick.
    fn limits(&self) -> Limits {
        Limits {
            fuel: self.fuel_millions.unwrap_or(1000) * 1_000_000,
            memory_bytes: self.memory_mib.unwrap_or(96) << 20,
            output_bytes: self.output_kib.unwrap_or(64) << 10,
            file_bytes: self.file_kib.unwrap_or(1024) << 10,
            deadline_ns: self.deadline_ms.unwrap_or(60_000) * 1_000_000,
        }
    }
}

/// Parses the probe `path`, whose folder is its class.
pub(super) fn parse_probe(path: &str, text: &str, prelude: &str) -> Result<Probe, CorpusError> {
    let (prose, blocks) = markdown::parse_blocks(text)
        .map_err(|(line, what)| CorpusError::invalid_file(path, line, what, "close it with three backquotes"))?;
    let (title, statement) = title(path, &prose)?;
    let (toml, programs) = split(path, blocks)?;
    let header: ProbeHeader = toml.parse_toml().map_err(|(line, problem)| {
        CorpusError::invalid_file(path, line, problem, "see the README of the folder for the allowed keys")
    })?;
    let class = class_of(path)?;
    let wrong = |what: &str, hint: &str| Err(CorpusError::invalid_file(path, toml.line, what, hint));
    let program = program(path, programs, prelude)?;
    if header.language_level && matches!(program, ProbeProgram::Module(_)) {
        return wrong("a module is not a language-level probe", "write it in Python, or leave `language_level` out");
    }
    if header.language_level && header.entry.is_some() {
        return wrong("a called function is not a language-level probe", "leave `entry` or `language_level` out");
    }
    if header.escapes_unsandboxed && !header.language_level {
        return wrong("`escapes_unsandboxed` is for language-level probes", "say `language_level = true`");
    }
    let expect = match header.expect {
        ExpectWord::Contained => ProbeExpectation::SaysContained,
        ExpectWord::Same => ProbeExpectation::SameOutput,
        ExpectWord::Stopped => ProbeExpectation::Stopped,
        ExpectWord::Ends(end) => ProbeExpectation::Ends(end, header.kind.clone()),
    };
    if header.kind.is_some() && !matches!(expect, ProbeExpectation::Ends(..)) {
        return wrong("`kind` without an ending", "say how the run ends in `expect`");
    }
    if header.honest && !matches!(&program, ProbeProgram::Python(programs) if programs.len() > 1) {
        return wrong("`honest` without a program before", "give the program that does the harm first");
    }
    let order =
        order(&header, &program).map_err(|(what, hint)| CorpusError::invalid_file(path, toml.line, what, hint))?;
    if expect == ProbeExpectation::SameOutput && matches!(order, RunOrder::Sequential) {
        return wrong("`same` compares runs of one program", "say `runs = 2`, or `at_once`");
    }
    Ok(Probe {
        class,
        name: file_stem(path),
        title,
        statement,
        program,
        order,
        expect,
        honest: header.honest,
        language_level: header.language_level,
        escapes_unsandboxed: header.escapes_unsandboxed,
        limits: header.limits.limits(),
        stdin: header.stdin,
        entry: header.entry,
    })
}

fn title(path: &str, prose: &str) -> Result<(String, String), CorpusError> {
    let (first, rest) = prose.split_once('\n').unwrap_or((prose, ""));
    let title = first
        .strip_prefix("# ")
        .ok_or_else(|| CorpusError::invalid_file(path, 1, "there is no title", "begin with `# …`"))?;
    if rest.trim().is_empty() {
        return Err(CorpusError::invalid_file(
            path,
            1,
            "there is no prose",
            "say under the title what it tries and why that matters",
        ));
    }
    Ok((title.to_owned(), rest.trim().to_owned()))
}

/// The `toml` block, which is empty where it is left out, and the programs.
fn split(path: &str, blocks: Vec<MarkdownBlock>) -> Result<(MarkdownBlock, Vec<MarkdownBlock>), CorpusError> {
    let (mut tomls, programs): (Vec<MarkdownBlock>, Vec<MarkdownBlock>) =
        blocks.into_iter().partition(|one| one.language == "toml");
    if let Some(other) = programs.iter().find(|block| !["python", "wat"].contains(&block.language.as_str())) {
        let what = format!("a block of kind `{}`", other.language);
        return Err(CorpusError::invalid_file(path, other.line, what, "use `toml`, `python`, `wat`"));
    }
    match (tomls.pop(), tomls.pop()) {
        (Some(toml), None) => Ok((toml, programs)),
        (Some(second), Some(_)) => {
            Err(CorpusError::invalid_file(path, second.line, "a second ```toml block", "one says it all"))
        }
        (None, _) => Ok((MarkdownBlock { language: "toml".to_owned(), text: String::new(), line: 1 }, programs)),
    }
}

fn class_of(path: &str) -> Result<&'static str, CorpusError> {
    let folder = Path::new(path).parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let known = find_class(&folder).ok_or_else(|| {
        CorpusError::invalid_file(path, 1, format!("there is no class `{folder}`"), "put it in the folder of its class")
    })?;
    Ok(known.name)
}

fn program(path: &str, blocks: Vec<MarkdownBlock>, prelude: &str) -> Result<ProbeProgram, CorpusError> {
    let modules = blocks.iter().filter(|block| block.language == "wat").count();
    match (modules, blocks.len()) {
        (_, 0) => Err(CorpusError::invalid_file(path, 1, "there is no program", "add a ```python or a ```wat block")),
        (0, _) => Ok(ProbeProgram::Python(blocks.into_iter().map(|block| block.text).collect())),
        (1, 1) => Ok(ProbeProgram::Module(with_prelude(&blocks[0].text, prelude))),
        _ => Err(CorpusError::invalid_file(
            path, blocks[1].line, "a module and another program", "one file runs one module",
        )),
    }
}

/// A part of the prelude begins with this and its name; a module that exports that name itself goes without it.
const PART: &str = ";; part ";

/// A whole module of `fields`: what the prelude has, and they do not.
fn with_prelude(fields: &str, prelude: &str) -> String {
    let (imports, fields): (Vec<&str>, Vec<&str>) = fields.lines().partition(|line| line.starts_with("(import "));
    let fields = fields.join("\n");
    // Imports stand before everything else, those of the probe too.
    let mut module = format!("(module\n{}\n", imports.join("\n"));
    let mut parts = prelude.split(PART);
    module += parts.next().unwrap_or_default();
    for part in parts {
        let name = part.lines().next().unwrap_or_default().trim();
        if !fields.contains(&format!("(export \"{name}\")")) {
            module += PART;
            module += part;
        }
    }
    module + &fields + "\n)\n"
}

fn order(header: &ProbeHeader, program: &ProbeProgram) -> Result<RunOrder, (&'static str, &'static str)> {
    let single = match program {
        ProbeProgram::Python(programs) => programs.len() == 1,
        ProbeProgram::Module(_) => true,
    };
    match (header.at_once, header.runs) {
        (None, None) => Ok(RunOrder::Sequential),
        (Some(2..=16), None) if single => Ok(RunOrder::Concurrent(header.at_once.unwrap_or_default())),
        (None, Some(2..=16)) if single => Ok(RunOrder::Repeated(header.runs.unwrap_or_default())),
        (Some(_), Some(_)) => Err(("both `at_once` and `runs`", "say one of the two")),
        _ if !single => Err(("several programs, and a number of runs", "give one program")),
        _ => Err(("`at_once` or `runs` out of range", "from 2 to 16")),
    }
}
