//! From an attempt's text to the program that is judged.
//!
//! A `program` is complete. A `completion` with a closed block fenced as `python` (or `py`, `python3`) is prose around a program, and the last
//! such block is the program. Any other `completion` is appended to the problem's prompt, as HumanEval does. A prediction is the text itself.

use veriplay_corpus::{AttemptBody, ProblemRow};

const FENCE: &str = "```";
const LABELS: [&str; 3] = ["python", "py", "python3"];

/// The text for the judges, which add the problem's prelude.
pub(super) fn assemble_program(problem: &ProblemRow, body: AttemptBody) -> String {
    match body {
        AttemptBody::Program(text) => text,
        AttemptBody::Completion(text) if problem.is_prediction() => text,
        AttemptBody::Completion(text) => {
            last_python_block(&text).unwrap_or_else(|| format!("{}{text}", problem.prompt()))
        }
    }
}

/// The last closed Python block. Opening and closing fences are on lines of their own.
fn last_python_block(text: &str) -> Option<String> {
    let (mut found, mut open) = (None, None);
    for line in text.lines() {
        let fence = line.trim().strip_prefix(FENCE);
        match (&mut open, fence) {
            (None, Some(label)) => {
                open = Some((LABELS.contains(&label.trim().to_ascii_lowercase().as_str()), String::new()))
            }
            (Some(_), Some("")) => found = open.take().filter(|(python, _)| *python).map(|(_, block)| block).or(found),
            (Some((_, block)), _) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    found
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
    fn an_open_fence_or_another_language_is_not_a_program() {
        for text in ["```python\nx", "```\nx\n```", "```rust\nx\n```", "a ```python\nx\n```x"] {
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
