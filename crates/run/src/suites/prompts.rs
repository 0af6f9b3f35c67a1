//! Prompts of public sets, and the attempts that responses become.
//!
//! A model with a chat template is asked in a conversation whose last message, the model's own, is already begun; a base model continues text.
//! Both begin the answer where the set's answer begins, so nothing has to be searched for in prose: a program in a fenced block, a literal
//! behind an assertion. The layouts are those of EvalPlus (arXiv 2305.01210) and CRUXEval (arXiv 2401.03065), the words our own. A template of
//! the user's asks in other words, and its answers are extracted.

use serde::{Deserialize, Serialize};
use veriplay_console::exit::Failure;
use veriplay_core::{AttemptText, Message, MessageRole, Predicted, Prompt, PromptContent, Role};
use veriplay_corpus::ProblemStatement;
use veriplay_verifier::extraction::{BegunPrediction, Continues, Entry, Wanted, begun_arguments, extract_program};

use super::template::{AskedTask, PromptTemplate, RenderedPrompt};

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PromptStyle {
    /// In a conversation, by the checkpoint's chat template.
    Chat,
    /// With text to be continued.
    Completion,
}

impl PromptStyle {
    /// The style that suits a model with or without a chat template.
    pub(super) const fn of(has_chat_template: bool) -> Self {
        if has_chat_template { Self::Chat } else { Self::Completion }
    }
}

/// What ends a program in a fenced block.
const FENCE: &str = "\n```";
/// What begins one.
const OPEN_FENCE: &str = "```python\n";
/// What ends the body of a function: statements at the left margin.
const AFTER_A_FUNCTION: &[&str] =
    &["\ndef ", "\nclass ", "\nimport ", "\nfrom ", "\nassert ", "\nprint(", "\nif ", "\n#", FENCE];
/// What ends a module: checks of it, and another task.
const AFTER_A_MODULE: &[&str] = &["\nassert ", "\nif __name__", "\nprint(", "\n\"\"\"", FENCE];

/// A question, and how its answer is read.
pub(super) struct SuitePrompt {
    pub(super) prompt: Prompt,
    answer: AnswerKind,
}

/// What a response is.
enum AnswerKind {
    /// The rest of a program that begins so.
    Program(String),
    /// A literal.
    Output,
    /// Arguments, and `) == …` behind them.
    Input,
    /// A program somewhere in the response.
    ExtractedProgram(ProgramQuestion),
    /// Literals somewhere in the response.
    ExtractedPrediction(BegunPrediction, Predicted),
}

/// What is known of the program that a template asks for.
struct ProgramQuestion {
    continues: Continues,
    /// The source text that the set has continued. Empty where it asks in words.
    source: String,
    tests: String,
}

impl ProgramQuestion {
    fn new(statement: &ProblemStatement, continued: &str) -> Self {
        let (source, tests) = match statement {
            ProblemStatement::Continuation(source) => (source.clone(), String::new()),
            ProblemStatement::Instruction { tests, .. } => (String::new(), tests.join("\n")),
            ProblemStatement::Prediction { .. } => Default::default(),
        };
        Self { continues: Continues::after(continued), source, tests }
    }

    /// The program in a response; all of a response in which there is none, so that the sample shows it.
    fn program(&self, response: &str) -> String {
        let entry = match self.source.is_empty() {
            true => Entry::Source(&self.tests),
            false => Entry::Prompted,
        };
        let wanted = Wanted { prompt: &self.source, entry, continues: self.continues };
        let text = extract_program(&wanted, response).map_or_else(|_| response.to_owned(), |found| found.text);
        format!("{}\n", text.trim_end())
    }
}

impl SuitePrompt {
    pub(super) fn new(statement: &ProblemStatement, predict: Predicted, style: PromptStyle) -> Self {
        match statement {
            ProblemStatement::Continuation(source) => continuation(source, style),
            ProblemStatement::Instruction { text, tests, starter_code } => {
                instruction(&task_text(text, tests, starter_code), style)
            }
            ProblemStatement::Prediction { program, input, output } => {
                prediction(program, [input, output], predict, style)
            }
        }
    }

    /// Asks as a template of the user's does.
    pub(super) fn from_template(template: &PromptTemplate, task: AskedTask<'_>) -> Result<Self, Failure> {
        let RenderedPrompt { content, stop, program_start } = template.render(task)?;
        let continued = continued_text(&content);
        let answer = match (program_start, task.statement) {
            (Some(start), _) => AnswerKind::Program(start),
            (None, ProblemStatement::Prediction { .. }) => {
                AnswerKind::ExtractedPrediction(BegunPrediction::after(continued), task.predict)
            }
            (None, statement) => AnswerKind::ExtractedProgram(ProgramQuestion::new(statement, continued)),
        };
        Ok(Self { prompt: Prompt::new(Role::SOLVER, content).with_stop(stop), answer })
    }

    pub(super) fn attempt(&self, response: &str) -> AttemptText {
        match &self.answer {
            AnswerKind::Program(beginning) => AttemptText::Program(format!("{beginning}{response}\n")),
            AnswerKind::Output => AttemptText::Completion(response.trim().to_owned()),
            AnswerKind::Input => AttemptText::Completion(begun_arguments(response).to_owned()),
            AnswerKind::ExtractedProgram(question) => AttemptText::Program(question.program(response)),
            AnswerKind::ExtractedPrediction(begun, predict) => {
                AttemptText::Completion(begun.extract(response, *predict).unwrap_or_else(|_| response.to_owned()))
            }
        }
    }
}

/// What a response continues: the text, or the assistant's message that is begun.
fn continued_text(content: &PromptContent) -> &str {
    match content {
        PromptContent::Text(text) => text,
        PromptContent::Messages(messages) => {
            let begun = messages.last().filter(|message| message.role == MessageRole::Assistant);
            begun.map_or("", |message| &message.content)
        }
    }
}

fn solver(content: impl Into<PromptContent>, stop: &[&str]) -> Prompt {
    Prompt::new(Role::SOLVER, content).with_stop(stop.iter().copied())
}

fn continuation(source: &str, style: PromptStyle) -> SuitePrompt {
    let source = format!("{}\n", source.trim_end());
    match style {
        PromptStyle::Chat => fenced_answer(format!(
            "Complete this Python code. Answer with the whole program in one block.\n\n{OPEN_FENCE}{source}```"
        )),
        PromptStyle::Completion => {
            let in_a_function = !source.trim_start().starts_with("\"\"\"");
            let stop = if in_a_function { AFTER_A_FUNCTION } else { AFTER_A_MODULE };
            SuitePrompt { prompt: solver(source.as_str(), stop), answer: AnswerKind::Program(source) }
        }
    }
}

fn instruction(task: &str, style: PromptStyle) -> SuitePrompt {
    match style {
        PromptStyle::Chat => fenced_answer(format!("{task}\n\nAnswer with the whole program in one block.")),
        PromptStyle::Completion => {
            // A docstring before a module. A quotation inside it would end it.
            let source = format!("\"\"\"\n{}\n\"\"\"\n", task.replace("\"\"\"", "'''"));
            SuitePrompt { prompt: solver(source, AFTER_A_MODULE), answer: AnswerKind::Program(String::new()) }
        }
    }
}

fn fenced_answer(question: String) -> SuitePrompt {
    let messages = vec![Message::user(question), Message::assistant(OPEN_FENCE)];
    SuitePrompt { prompt: solver(messages, &[FENCE]), answer: AnswerKind::Program(String::new()) }
}

fn task_text(text: &str, tests: &[String], starter_code: &str) -> String {
    let mut task = format!("Write a Python program for this task.\n\n{}", text.trim());
    if !tests.is_empty() {
        task += &format!("\n\nIt must pass these tests:\n{}", tests.join("\n"));
    }
    match starter_code.trim() {
        "" if tests.is_empty() => task += "\n\nIt reads its standard input and prints the answer.",
        "" => {}
        starter => task += &format!("\n\nIt begins with this code:\n{OPEN_FENCE}{starter}\n```"),
    }
    task
}

/// Answered examples of both predictions: program, arguments, output.
const EXAMPLES: [[&str; 3]; 2] = [
    [
        "def f(words, limit):\n    kept = []\n    for word in words:\n        if len(word) <= limit:\n            kept.append(word[0] * len(word))\n    return kept",
        "['oak', 'willow', 'fir'], 3",
        "['ooo', 'fff']",
    ],
    ["def f(text):\n    half = len(text) // 2\n    return text[half:].upper() + text[:half]", "'lantern'", "'TERNlan'"],
];

fn prediction(program: &str, [input, output]: [&str; 2], predict: Predicted, style: PromptStyle) -> SuitePrompt {
    let (instruction, answer) = match predict {
        Predicted::Output => ("Answer with an assertion on what the function returns.", AnswerKind::Output),
        Predicted::Input => ("Answer with an assertion on a call that returns the given value.", AnswerKind::Input),
    };
    let question = |program: &str, input: &str, output: &str| {
        let asked = match predict {
            Predicted::Output => format!("What does f({input}) return?"),
            Predicted::Input => format!("Which call of f returns {output}?"),
        };
        format!("{}\n\n{asked}", program.trim_end())
    };
    let beginning = match predict {
        Predicted::Output => format!("assert f({input}) =="),
        Predicted::Input => "assert f(".to_owned(),
    };
    let mut messages = vec![Message::system(instruction)];
    for [program, input, output] in EXAMPLES {
        messages.push(Message::user(question(program, input, output)));
        messages.push(Message::assistant(format!("assert f({input}) == {output}")));
    }
    messages.push(Message::user(question(program, input, output)));
    messages.push(Message::assistant(beginning));
    let content = match style {
        PromptStyle::Chat => PromptContent::Messages(messages),
        // One after another, as a base model continues them.
        PromptStyle::Completion => {
            PromptContent::Text(messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n\n"))
        }
    };
    SuitePrompt { prompt: Prompt::new(Role::SOLVER, content).with_stop(["\n"]), answer }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use veriplay_core::{AttemptText, Predicted};
    use veriplay_corpus::ProblemStatement;

    use super::{AskedTask, PromptStyle, PromptTemplate, SuitePrompt};

    fn asked(statement: &ProblemStatement, style: PromptStyle) -> SuitePrompt {
        SuitePrompt::new(statement, Predicted::Output, style)
    }

    fn program(text: &str) -> AttemptText {
        AttemptText::Program(text.to_owned())
    }

    #[test]
    fn a_base_model_continues_the_source_and_a_chat_model_writes_it_whole() {
        let start = "def f(x):\n    \"\"\"Add one.\"\"\"\n";
        let source = ProblemStatement::Continuation(format!("{start}    "));
        let base = asked(&source, PromptStyle::Completion);
        assert_eq!(base.prompt.text(), start);
        assert!(base.prompt.stop.contains(&"\ndef ".to_owned()));
        assert_eq!(base.attempt("    return x + 1"), program(&format!("{start}    return x + 1\n")));
        let chat = asked(&source, PromptStyle::Chat);
        assert!(chat.prompt.text().ends_with("```python\n"), "{}", chat.prompt.text());
        assert_eq!(chat.attempt("def f(x):\n    return x + 1"), program("def f(x):\n    return x + 1\n"));
        // A docstring alone is followed by a module, which has functions.
        let source = ProblemStatement::Continuation("\"\"\"\nAdd one.\nassert f(1) == 2\n\"\"\"\n".to_owned());
        let stop = asked(&source, PromptStyle::Completion).prompt.stop;
        assert!(!stop.contains(&"\ndef ".to_owned()) && stop.contains(&"\nassert ".to_owned()), "{stop:?}");
    }

    #[test]
    fn words_tests_and_starter_code_are_all_shown() {
        let instruction = |tests: &[&str], starter_code: &str| ProblemStatement::Instruction {
            text: "Add \"\"\"one\"\"\".".to_owned(),
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            starter_code: starter_code.to_owned(),
        };
        for (tests, starter, found) in [
            (&["assert f(1) == 2"][..], "", "assert f(1) == 2"),
            (&[], "class Solution:", "class Solution:"),
            (&[], "", "standard input"),
        ] {
            let text = asked(&instruction(tests, starter), PromptStyle::Chat).prompt.text().into_owned();
            assert!(text.contains(found), "{text}");
            assert_eq!(text.contains("standard input"), tests.is_empty() && starter.is_empty(), "{text}");
        }
        let base = asked(&instruction(&[], ""), PromptStyle::Completion);
        assert_eq!(base.prompt.text().matches("\"\"\"").count(), 2, "the text does not end its docstring");
        assert_eq!(base.attempt("def f(x):"), program("def f(x):\n"));
    }

    #[test]
    fn the_answer_asked_for_is_not_in_the_prompt_and_is_read_from_behind_the_assertion() {
        let [program, input, output] = ["def f(a, b):\n    return a - b", "91, 20", "71"].map(str::to_owned);
        let statement = ProblemStatement::Prediction { program, input, output };
        let completion = |text: &str| AttemptText::Completion(text.to_owned());
        for style in [PromptStyle::Chat, PromptStyle::Completion] {
            let output = SuitePrompt::new(&statement, Predicted::Output, style);
            let text = output.prompt.text().into_owned();
            assert!(text.ends_with("assert f(91, 20) ==") && !text.contains("71"), "{text}");
            assert_eq!(output.attempt(" 71"), completion("71"));
            let input = SuitePrompt::new(&statement, Predicted::Input, style);
            let text = input.prompt.text().into_owned();
            assert!(text.ends_with("assert f(") && text.contains("returns 71?") && !text.contains("91, 20"), "{text}");
            for response in ["91, 20) == 71", "91, 20)", "91, 20"] {
                assert_eq!(input.attempt(response), completion("91, 20"));
            }
        }
    }

    fn asked_by(source: &str, statement: &ProblemStatement, predict: Predicted) -> SuitePrompt {
        let template = PromptTemplate::parse(source.to_owned(), Path::new("own.toml")).expect("a template");
        SuitePrompt::from_template(&template, AskedTask { task_id: "1", statement, predict }).expect("it renders")
    }

    #[test]
    fn a_program_is_found_where_the_template_has_it_begin() {
        let source = ProblemStatement::Continuation("def f(x):\n".to_owned());
        let (fenced, whole) =
            ("user = '{{ prompt }}'\nprefill = \"```python\\n\"\nstop = [\"\\n```\"]", "def f(x):\n    return x\n");
        for (template, response, found) in [
            (fenced, whole.trim_end(), whole),
            ("user = '{{ prompt }}'", "Sure:\n```python\nx = 1\n```\nDone.", "x = 1\n"),
            ("text = '{{ prompt }}'\nprogram_start = '{{ prompt }}'", "    return x", whole),
        ] {
            assert_eq!(asked_by(template, &source, Predicted::Output).attempt(response), program(found), "{template}");
        }
        let prompt = asked_by("text = '{{ prompt }}'\nstop = ['[DONE]']", &source, Predicted::Output).prompt;
        assert_eq!(prompt.text(), "def f(x):\n");
        assert_eq!(prompt.stop, ["[DONE]"]);
    }

    #[test]
    fn a_prediction_is_found_behind_the_assertion_that_a_template_begins_or_asks_for() {
        let [program, input, output] = ["def f(a):\n    return a", "3", "3"].map(str::to_owned);
        let statement = ProblemStatement::Prediction { program, input, output };
        for (template, predict, response) in [
            ("text = '{{ code }} assert f({{ input }}) == ?? [ANSWER]'", Predicted::Output, "assert f(3) == 3"),
            ("user = '{{ code }}'\nprefill = 'assert f({{ input }}) =='", Predicted::Output, " 3"),
            ("user = '{{ code }} {{ output }}'", Predicted::Input, "So: [ANSWER]assert f(3) == 3[/ANSWER]"),
            ("user = '{{ code }} {{ output }}'\nprefill = 'assert f('", Predicted::Input, "3) == 3"),
        ] {
            let attempt = asked_by(template, &statement, predict).attempt(response);
            assert_eq!(attempt, AttemptText::Completion("3".to_owned()), "{template}");
        }
    }
}
