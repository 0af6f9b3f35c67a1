//! Labels of fenced blocks.

use std::fmt::{self, Display, Formatter};

use veriplay_core::Language;
use veriplay_python::Python;

/// The language that a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label<'a> {
    /// `python`, `py3`, `python3.11`, `ipython`, `{.python}`, `python:main.py`, `main.py` … And the code behind it in the same line, if any.
    Python(&'a str),
    /// No label, or one that says only that there is code.
    Missing,
    /// A block of Markdown, which may hold blocks.
    Markdown,
    /// Another language, or what is no code: its first word.
    Other(&'a str),
    /// A word that is no language that models write.
    Unknown(&'a str),
}

/// Words that say no more than that there is code.
const CODE: [&str; 8] = ["code", "program", "solution", "answer", "source", "tool_code", "final", "script"];
/// Labels of other languages, and of what is no program, such as a session with prompts before its lines.
const OTHERS: [&str; 69] = [
    "bash", "bat", "batch", "c", "c#", "c++", "cc", "clojure", "cmd", "console", "cpp", "cs", "csharp", "css", "csv",
    "cxx", "dart", "diff", "dockerfile", "elixir", "erlang", "fortran", "fsharp", "go", "golang", "haskell", "html",
    "ini", "input", "java", "javascript", "js", "json", "jsx", "julia", "kotlin", "latex", "log", "lua", "makefile",
    "math", "mermaid", "output", "patch", "perl", "php", "plaintext", "powershell", "ps1", "pycon", "python-console",
    "python-repl", "python-traceback", "pythonrepl", "r", "ruby", "rust", "scala", "sh", "shell", "sql", "swift",
    "text", "toml", "ts", "tsx", "txt", "typescript", "yaml",
];
/// Beginnings of statements that stand behind a label of Python.
const STATEMENTS: [&str; 9] = ["def ", "async def ", "class ", "import ", "from ", "for ", "while ", "if ", "print("];

impl<'a> Label<'a> {
    /// The label that stands behind a fence.
    pub(crate) fn parse(text: &'a str) -> Self {
        let text = text.trim().trim_start_matches('{').trim_start_matches('.');
        let end = text.find(|c: char| !is_of_word(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let lower = word.to_ascii_lowercase();
        if word.is_empty() {
            return if text.is_empty() { Label::Missing } else { Label::Unknown(text) };
        }
        if OTHERS.contains(&lower.as_str()) {
            return Label::Other(word);
        }
        if Python.is_label(&lower) {
            let code = rest.trim_start();
            let has_code = STATEMENTS.iter().any(|statement| code.starts_with(statement));
            return Label::Python(if has_code { code } else { "" });
        }
        match lower.as_str() {
            "markdown" | "md" | "mdx" => Label::Markdown,
            lower if CODE.contains(&lower) => Label::Missing,
            _ => Label::Unknown(text),
        }
    }

    /// Whether it is a label, and not the prose behind a fence.
    pub(super) fn is_plausible(self) -> bool {
        match self {
            Label::Unknown(text) => text.chars().all(is_of_word),
            _ => true,
        }
    }

    /// Whether it names a language, so that its fence opens a block.
    pub(super) const fn is_language(self) -> bool {
        matches!(self, Label::Python(_) | Label::Markdown | Label::Other(_))
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_.+#-".contains(c)
}

impl Display for Label<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Label::Python(_) => "python",
            Label::Missing => "",
            Label::Markdown => "markdown",
            Label::Other(word) | Label::Unknown(word) => word,
        })
    }
}

/// Bytes of the first line of a text, if it is nothing but a label of Python: what a model writes behind a fence that its prompt ended with. As a line
/// of a program it would be a name that nobody has bound.
pub(super) fn label_line(text: &str) -> usize {
    let Some(end) = text.find('\n') else { return 0 };
    let word = text[..end].trim_end();
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    if is_word && is_python_label(word) { end + 1 } else { 0 }
}

/// Whether what stands behind a fence says that the block is Python.
pub(crate) fn is_python_label(text: &str) -> bool {
    Label::parse(text) == Label::Python("")
}
