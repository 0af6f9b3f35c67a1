//! From an attempt's text to the program that is judged.
//!
//! A `program` is complete. A `completion` with a closed block fenced as `python` (or `py`, `python3`) is prose around a program, and the last
//! such block is the program. Without one, the last closed block without a label is, of
//! those that have a statement if one has. What stands before `</think>` is no answer. Any other `completion` is appended to the problem's
//! prompt, as HumanEval does. A prediction is the text itself.

use veriplay_corpus::{AttemptBody, ProblemRow};
use veriplay_verifier::fences::{Fence, FencedBlock, MAX_FENCE_INDENT, after_thought, read_fences};

const LABELS: [&str; 3] = ["python", "py", "python3"];

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
    /// Another language, or a fence that Markdown would take for indented text. A continuation's docstring has such fences.
    Other,
}

impl BlockLabel {
    /// The first word of a label is the language.
    fn of_fence(fence: &Fence<'_>, is_prose: bool) -> Self {
        let is_indented_text = fence.indent > MAX_FENCE_INDENT;
        match fence.label.split_whitespace().next().map(str::to_ascii_lowercase) {
            None if is_prose && !is_indented_text => Self::Missing,
            // The items of a list are indented.
            Some(language) if LABELS.contains(&language.as_str()) && (is_prose || !is_indented_text) => Self::Python,
            _ => Self::Other,
        }
    }
}

/// Beginnings of lines of a program. Those of the first are in no prose either.
const DEFINITIONS: [&str; 6] = ["def ", "async def ", "class ", "@", "import ", "\"\"\""];
const STATEMENTS: [&str; 10] =
    ["from ", "for ", "while ", "if ", "with ", "try:", "return ", "print(", "assert ", "raise "];

/// Whether a line of a block is a statement, and not a value that a program has printed.
fn is_statement(line: &str) -> bool {
    let line = line.trim_start();
    let assigns = || {
        let (target, value) = line.split_once('=').unwrap_or_default();
        let target = target.split(':').next().unwrap_or_default().trim_end_matches(['+', '-', '*', '/', '%', '|', '&']);
        let is_target = |name: &str| {
            let name = name.trim();
            !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || "_.[]".contains(char))
        };
        !value.starts_with('=') && target.split(',').all(is_target)
    };
    DEFINITIONS.iter().chain(&STATEMENTS).any(|word| line.starts_with(word)) || assigns()
}

/// Whether a text is prose, by its first line, or is a program or the rest of one: of these the fences are in their texts.
fn is_prose(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_indented = first.len() - first.trim_start().len() > MAX_FENCE_INDENT;
    Fence::parse(first).is_some() || !(is_indented || DEFINITIONS.iter().any(|word| first.starts_with(word)))
}

/// The last closed Python block of the answer, else the last closed one without label, of which those with a statement come first.
fn last_program_block(text: &str) -> Option<String> {
    let answer = after_thought(text);
    let is_prose = is_prose(answer);
    let (mut python, mut unlabelled) = (None, None);
    for FencedBlock { opening, code } in read_fences(answer).blocks {
        match BlockLabel::of_fence(&opening, is_prose) {
            BlockLabel::Python => python = Some(code),
            // What a program prints is often in such a block too: it is behind the program.
            BlockLabel::Missing => {
                let has_statement = code.lines().any(is_statement);
                if has_statement || unlabelled.as_ref().is_none_or(|(is_program, _)| !is_program) {
                    unlabelled = Some((has_statement, code));
                }
            }
            BlockLabel::Other => {}
        }
    }
    python.or(unlabelled.map(|(_, code)| code))
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
        for label in ["", "python"] {
            let text =
                format!("    \"\"\"Doubles.\n\n    ```{label}\n    f(1)\n    ```\n    \"\"\"\n    return 2 * x\n");
            assert_eq!(completed(&text), format!("def f(x):\n{text}"));
        }
    }

    #[test]
    fn fences_in_the_docstring_of_a_block_are_text_of_the_program() {
        let program = "def f(x):\n    \"\"\"Doubles.\n\n    ```\n    f(1)\n    ```\n    \"\"\"\n    return 2 * x\n";
        for label in ["python", "Python title=\"f.py\"", ""] {
            assert_eq!(completed(&format!("So:\n```{label}\n{program}```\nDone.\n")), program, "{label}");
        }
        assert_eq!(completed(&format!("So:\n````python\n{program}````\n")), program);
    }

    #[test]
    fn the_block_of_an_item_of_a_list_loses_the_items_indentation() {
        for indent in ["  ", "   ", "    ", "\t"] {
            let program = format!("{indent}def f(x):\n\n{indent}    return x\n");
            let text = format!("- So:\n\n{indent}```python\n{program}{indent}```\n");
            assert_eq!(completed(&text), "def f(x):\n\n    return x\n", "{indent:?}");
        }
    }

    #[test]
    fn the_blocks_of_a_thought_are_no_answer() {
        let thought = "<think>\n```python\nx = 1\n```\n</think>\n";
        assert_eq!(completed(&format!("{thought}So:\n```\ny = 2\n```\n")), "y = 2\n");
        // The prompt may have opened the thought.
        assert_eq!(completed(&format!("{}```python\ny = 2\n```\n", &thought["<think>".len()..])), "y = 2\n");
        let text = format!("{thought}I do not know.\n");
        assert_eq!(completed(&text), format!("def f(x):\n{text}"));
        // These words are the program's.
        assert_eq!(completed("So:\n```python\nx = '</think>'\n```\n"), "x = '</think>'\n");
    }

    #[test]
    fn prose_is_no_program_and_a_block_need_not_have_a_definition() {
        for prose in ["Let n = 10.", "The answer for n = 5 is:", "if so, then", "from here on"] {
            assert_eq!(completed(&format!("{prose}\n```\nmain()\n```\n")), "main()\n", "{prose}");
        }
        for line in ["x: int = 5", "n=int(input())", "a, b = 1, 2", "d[k] += 1", "assert f(1)"] {
            assert_eq!(completed(&format!("So\n```\n{line}\n```\nprints\n```\n[1, 2]\n```\n")), format!("{line}\n"));
        }
        assert_eq!(completed("So\n```\nf = 1\n```\nprints\n```\nf(1) == 2\n```\n"), "f = 1\n");
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
