//! From an attempt's text to the program that is judged.
//!
//! A `program` is complete. A `completion` with a closed block fenced as `python` (or `py`, `python3`) is prose around a program, and the last
//! such block is the program. Without one, the last closed block without a label that has a statement is. Any other `completion` is appended to the problem's
//! prompt, as HumanEval does. A prediction is the text itself.

use veriplay_corpus::{AttemptBody, ProblemRow};

const FENCE: &str = "```";
const LABELS: [&str; 3] = ["python", "py", "python3"];
/// Columns of white space before a fence, as in CommonMark: behind more of it a line is indented text.
const MAX_FENCE_INDENT: usize = 3;

/// The text for the judges, which add the problem's prelude.
pub(super) fn assemble_program(problem: &ProblemRow, body: AttemptBody) -> String {
    match body {
        AttemptBody::Program(text) => text,
        AttemptBody::Completion(text) if problem.is_prediction() => text,
        AttemptBody::Completion(text) => {
            last_program_block(&text).unwrap_or_else(|| format!("{}{text}", problem.prompt()))
        }
    }
}

/// The language of a fenced block, by its label.
#[derive(Clone, Copy)]
enum BlockLabel {
    Python,
    Missing,
    /// Another language, or a fence without label that Markdown would take for indented text. A continuation's docstring has such fences.
    Other,
}

impl BlockLabel {
    fn of_fence(line: &str, label: &str) -> Self {
        let blanks = line.chars().take_while(|char| char.is_whitespace());
        let indent: usize = blanks.map(|blank| if blank == '\t' { 4 } else { 1 }).sum();
        match label.trim().to_ascii_lowercase().as_str() {
            "" if indent <= MAX_FENCE_INDENT => Self::Missing,
            label if LABELS.contains(&label) => Self::Python,
            _ => Self::Other,
        }
    }
}

/// Beginnings of lines that only a program has.
const STATEMENTS: [&str; 14] = [
    "def ",
    "async def ",
    "class ",
    "@",
    "import ",
    "from ",
    "for ",
    "while ",
    "if ",
    "with ",
    "try:",
    "return ",
    "print(",
    "\"\"\"",
];

/// Whether a line of Python begins a statement other than a bare value: a known word, or a name that is assigned to.
fn begins_statement(line: &str) -> bool {
    let line = line.trim_start();
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|char| char.is_alphanumeric() || "_.,[] ".contains(char));
    let assigns = || line.split_once(" = ").is_some_and(|(name, _)| is_name(name));
    STATEMENTS.iter().any(|word| line.starts_with(word)) || assigns()
}

/// The last closed Python block, else the last closed one without label that has a statement. Opening and closing fences are on lines of their own.
fn last_program_block(text: &str) -> Option<String> {
    let (mut python, mut unlabelled, mut open) = (None, None, None);
    // Of a whole program the fences are in its texts.
    let is_prose = text.lines().find(|line| !line.trim().is_empty()).is_none_or(|line| !begins_statement(line));
    for line in text.lines() {
        let fence = line.trim().strip_prefix(FENCE);
        match (&mut open, fence) {
            (None, Some(label)) => open = Some((BlockLabel::of_fence(line, label), String::new())),
            (Some(_), Some("")) => match open.take() {
                Some((BlockLabel::Python, block)) => python = Some(block),
                // What a program prints is often in such a block too.
                Some((BlockLabel::Missing, block)) if is_prose && block.lines().any(begins_statement) => {
                    unlabelled = Some(block);
                }
                Some((BlockLabel::Missing, _)) => {}
                Some((BlockLabel::Other, _)) | None => {}
            },
            (Some((_, block)), _) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    python.or(unlabelled)
}

#[cfg(test)]
mod tests {
    use veriplay_core::{CallChecks, Checks, Comparison, Predicted, Prediction, Problem, Value};
    use veriplay_corpus::{AttemptBody, ProblemRow};

    use super::assemble_program;

    fn problem(checks: Checks) -> ProblemRow {
        let (prelude, prompt) = ("import math\n".to_owned(), "def f(x):\n".to_owned());
        ProblemRow::Ready(Problem { task_id: "t".to_owned(), prelude, prompt, checks, limits: None })
    }

    fn calls() -> Checks {
        let comparison = Comparison::by("exact");
        Checks::Calls(CallChecks { function: "f".to_owned(), cases: Vec::new(), fresh: false, comparison })
    }

    fn completed(text: &str) -> String {
        assemble_program(&problem(calls()), AttemptBody::Completion(text.to_owned()))
    }

    #[test]
    fn a_completion_is_appended_to_the_prompt() {
        assert_eq!(completed("    return x\n"), "def f(x):\n    return x\n");
    }

    #[test]
    fn a_program_is_whole_even_with_fences_in_it() {
        let text = "s = '''\n```python\nx\n```\n'''\n";
        assert_eq!(assemble_program(&problem(calls()), AttemptBody::Program(text.to_owned())), text);
    }

    #[test]
    fn the_last_closed_python_block_is_a_whole_program() {
        let text = "So:\n```python\nfirst\n```\nBetter:\n```Python\ndef f(x):\n    return 1\n```\nRun it:\n```sh\npython f.py\n```\n";
        assert_eq!(completed(text), "def f(x):\n    return 1\n");
        assert_eq!(completed("```py\na\n\n  b\n```"), "a\n\n  b\n");
    }

    #[test]
    fn without_a_python_block_the_last_closed_one_without_label_is_a_whole_program() {
        assert_eq!(
            completed(
                "So:\n```\nfirst = 1\n```\nBetter:\n ```\ndef f(x):\n    return 1\n```\nIt prints:\n```\n6\n```\n"
            ),
            "def f(x):\n    return 1\n"
        );
        assert_eq!(completed("```sh\npip install x\n```\n```\ny = 1\n```\n```\nopen"), "y = 1\n");
        // Its output, or the like.
        assert_eq!(completed("```python\nx\n```\nIt prints:\n```\n3\n```\n"), "x\n");
    }

    #[test]
    fn fences_in_the_docstring_of_a_continuation_are_no_program() {
        let text = "    \"\"\"Doubles.\n\n    ```\n    f(1)\n    ```\n    \"\"\"\n    return 2 * x\n";
        assert_eq!(completed(text), format!("def f(x):\n{text}"));
    }

    #[test]
    fn fences_in_a_whole_program_are_text() {
        for text in ["import x\n\"\"\"\n```\nf = 1\n```\n\"\"\"\n", "\"\"\"Doc.\n```\nf = 1\n```\n\"\"\"\nx = 2\n"] {
            assert_eq!(completed(text), format!("def f(x):\n{text}"));
        }
    }

    #[test]
    fn an_open_fence_or_another_language_is_not_a_program() {
        for text in ["```python\nx", "```\nx", "```rust\nx\n```", "```\n", "a ```python\nx\n```x", "x\n    ```\ny\n```"]
        {
            assert_eq!(completed(text), format!("def f(x):\n{text}"));
        }
    }

    #[test]
    fn a_prediction_is_the_text_itself() {
        let prediction = Prediction {
            program: "def f(x):\n    return x".to_owned(),
            input: "1".to_owned(),
            output: Value::int(1),
            wanted: Predicted::Output,
        };
        let body = AttemptBody::Completion("```python\n1\n```".to_owned());
        assert_eq!(assemble_program(&problem(Checks::Prediction(prediction)), body), "```python\n1\n```");
    }
}
