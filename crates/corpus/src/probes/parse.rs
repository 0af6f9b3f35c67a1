//! Parses one probe. A breach of the format is an error with file and line.

use std::path::Path;

use serde::Deserialize;
use veriplay_core::Limits;

use super::{MODULE, Probe, ProbeExpectation, ProbeLanguage, ProbeProgram, RunEnd, RunOrder, find_class};
use crate::CorpusError;
use crate::markdown::MarkdownFile;

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
    at_once: Option<u32>,
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
    let mut file = MarkdownFile::parse(path, text, &["toml", "python", "javascript", "cpp", MODULE])?;
    let title = file.prose.lines().next().and_then(|line| line.strip_prefix("# ")).map(str::to_owned);
    let title = title.ok_or_else(|| file.error(1, "there is no title", "begin with `# …`"))?;
    file.check_prose()?;
    let toml = file.take_header()?;
    let header: ProbeHeader = file.parse_header(&toml)?;
    let folder = Path::new(path).parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let class = find_class(&folder)
        .ok_or_else(|| file.error(1, format!("there is no class `{folder}`"), "put it in the folder of its class"))?;
    let program = program(&mut file, ProbeLanguage::of_file(path), prelude)?;
    let expect = match header.expect {
        ExpectWord::Contained => ProbeExpectation::SaysContained,
        ExpectWord::Same => ProbeExpectation::SameOutput,
        ExpectWord::Stopped => ProbeExpectation::Stopped,
        ExpectWord::Ends(end) => ProbeExpectation::Ends(end, header.kind.clone()),
    };
    let order = check(&header, &program, &expect).and_then(|()| order(&header, &program, &expect));
    let order = order.map_err(|(what, hint)| file.error(toml.line, what, hint))?;
    Ok(Probe {
        class: class.name,
        name: file.name,
        statement: file.prose[title.len() + 2..].trim().to_owned(),
        title,
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

/// A problem and a hint.
type Fault = (&'static str, &'static str);

fn check(header: &ProbeHeader, program: &ProbeProgram, expect: &ProbeExpectation) -> Result<(), Fault> {
    if header.language_level && !matches!(program, ProbeProgram::Programs(ProbeLanguage::Python, _)) {
        return Err(("a language-level probe is not in Python", "write it in Python, or leave `language_level` out"));
    }
    if header.language_level && header.entry.is_some() {
        return Err(("a called function is not a language-level probe", "leave `entry` or `language_level` out"));
    }
    if header.escapes_unsandboxed && !header.language_level {
        return Err(("`escapes_unsandboxed` is for language-level probes", "say `language_level = true`"));
    }
    if header.kind.is_some() && !matches!(expect, ProbeExpectation::Ends(..)) {
        return Err(("`kind` without an ending", "say how the run ends in `expect`"));
    }
    if header.honest && !program.are_several() {
        return Err(("`honest` without a program before", "give the program that does the harm first"));
    }
    Ok(())
}

fn program(file: &mut MarkdownFile<'_>, language: ProbeLanguage, prelude: &str) -> Result<ProbeProgram, CorpusError> {
    let blocks = std::mem::take(&mut file.blocks);
    let is_of_python = language == ProbeLanguage::Python;
    let modules = blocks.iter().filter(|block| is_of_python && block.language == MODULE).count();
    let is_of_language = |kind: &str| kind == language.block() || (kind == MODULE && is_of_python);
    if let Some(block) = blocks.iter().find(|block| !is_of_language(&block.language)) {
        let problem = format!("a program of `{}` among those of `{}`", block.language, language.name());
        return Err(file.error(block.line, problem, "a folder has programs of its own language alone"));
    }
    match (modules, blocks.len()) {
        (_, 0) => {
            let hint = format!("add a ```{} block, or outside of such folders a ```wat block", language.block());
            Err(file.error(1, "there is no program", &hint))
        }
        (0, _) => {
            let texts = blocks.into_iter().map(|block| match language {
                ProbeLanguage::Wasm => with_prelude(&block.text, prelude, &OF_CHANNEL),
                _ => block.text,
            });
            Ok(ProbeProgram::Programs(language, texts.collect()))
        }
        (1, 1) => Ok(ProbeProgram::Module(with_prelude(&blocks[0].text, prelude, &["_start"]))),
        _ => Err(file.error(blocks[1].line, "a module and another program", "one file runs one module")),
    }
}

/// A part of the prelude begins with this and its name; a module that exports that name itself goes without it.
const PART: &str = ";; part ";
/// The parts that a program without a channel has no use for.
const OF_CHANNEL: [&str; 4] = ["host.call", "frame", "host_alloc", "turn"];

/// A whole module of `fields`: what the prelude has, and they do not, without the parts `left_out`. A text that is a whole module remains as it is.
fn with_prelude(fields: &str, prelude: &str, left_out: &[&str]) -> String {
    if fields.starts_with("(module") {
        return fields.to_owned();
    }
    let (imports, fields): (Vec<&str>, Vec<&str>) = fields.lines().partition(|line| line.starts_with("(import "));
    let fields = fields.join("\n");
    // Imports stand before everything else, those of the probe too.
    let mut module = format!("(module\n{}\n", imports.join("\n"));
    let mut parts = prelude.split(PART);
    module += parts.next().unwrap_or_default();
    for part in parts {
        let name = part.lines().next().unwrap_or_default().trim();
        if !left_out.contains(&name) && !fields.contains(&format!("(export \"{name}\")")) {
            module += PART;
            module += part;
        }
    }
    module + &fields + "\n)\n"
}

fn order(header: &ProbeHeader, program: &ProbeProgram, expect: &ProbeExpectation) -> Result<RunOrder, Fault> {
    match (header.at_once, header.runs) {
        (None, None) if *expect == ProbeExpectation::SameOutput => {
            Err(("`same` compares runs of one program", "say `runs = 2`, or `at_once`"))
        }
        (None, None) => Ok(RunOrder::Sequential),
        (Some(_), Some(_)) => Err(("both `at_once` and `runs`", "say one of the two")),
        _ if program.are_several() => Err(("several programs, and a number of runs", "give one program")),
        (Some(count @ 2..=16), None) => Ok(RunOrder::Concurrent(count)),
        (None, Some(count @ 2..=16)) => Ok(RunOrder::Repeated(count)),
        _ => Err(("`at_once` or `runs` out of range", "from 2 to 16")),
    }
}
