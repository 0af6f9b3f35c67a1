//! Prompts of the user's own for public sets: a TOML file of Jinja templates, for `--prompt-template` and `prompt_templates` of `[eval]`.
//!
//! Invariants: a template sees what the set shows of a task, and neither its answer nor hidden tests; an undefined variable and an empty prompt
//! are errors, never text; errors have the line and the column of the file.

use std::path::{Path, PathBuf};

use anyhow::Context;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Deserialize;
use toml::Spanned;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::read_text;
use veriplay_core::{Digest, Message, Predicted, PromptContent};
use veriplay_corpus::ProblemStatement;

const HINT: &str = "the page \"Evaluation and recipes\" of the documentation has the keys of a prompt template and the fields of each set";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateFile {
    text: Option<Spanned<String>>,
    system: Option<Spanned<String>>,
    user: Option<Spanned<String>>,
    prefill: Option<Spanned<String>>,
    program_start: Option<Spanned<String>>,
    #[serde(default)]
    stop: Vec<Spanned<String>>,
    max_tokens: Option<usize>,
}

/// A template of the file.
#[derive(Debug)]
struct Part {
    name: String,
    /// Where its text begins in the file; where its value does, if the file has escapes in it.
    offset: usize,
    /// Whether the file has its text without escapes.
    is_verbatim: bool,
}

#[derive(Debug)]
pub(super) struct PromptTemplate {
    path: PathBuf,
    source: String,
    digest: Digest,
    /// Has a template of each part's name.
    environment: Environment<'static>,
    parts: Vec<Part>,
    max_tokens: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RenderedPrompt {
    pub(super) content: PromptContent,
    pub(super) stop: Vec<String>,
    /// What the program begins with, if the response is the rest of it.
    pub(super) program_start: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct AskedTask<'a> {
    pub(super) task_id: &'a str,
    pub(super) statement: &'a ProblemStatement,
    pub(super) predict: Predicted,
}

impl PromptTemplate {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        Self::parse(read_text(path)?, path)
    }

    /// Reads the text of a file that errors call `path`.
    pub(super) fn parse(source: String, path: &Path) -> Result<Self, Failure> {
        let file: TemplateFile = toml::from_str(&source)
            .with_context(|| format!("`{}` is not a prompt template", path.display()))
            .or_fail(ExitCode::Input)
            .map_err(|failure| failure.hint(HINT))?;
        file.check_keys().map_err(|why| refuse(&format!("`{}`: {why}", path.display())))?;
        let digest = Digest::of(source.as_bytes());
        let (path, max_tokens) = (path.to_owned(), file.max_tokens);
        let mut template = Self { path, source, digest, environment: environment(), parts: Vec::new(), max_tokens };
        for (name, text) in file.into_parts() {
            let span = text.span();
            let found = template.source.get(span.clone()).and_then(|written| written.find(text.get_ref().as_str()));
            let offset = span.start + found.unwrap_or(0);
            template.parts.push(Part { name: name.clone(), offset, is_verbatim: found.is_some() });
            let added = template.environment.add_template_owned(name.clone(), text.into_inner());
            added.map_err(|error| refuse(&template.describe(&name, &error)))?;
        }
        Ok(template)
    }

    pub(super) const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Tokens of an answer at most, if the file says so.
    pub(super) const fn max_tokens(&self) -> Option<usize> {
        self.max_tokens
    }

    /// Whether a prompt is a conversation, and not text that is continued.
    pub(super) fn is_chat(&self) -> bool {
        self.parts.iter().any(|part| part.name == "user")
    }

    pub(super) fn render(&self, task: AskedTask<'_>) -> Result<RenderedPrompt, Failure> {
        let render = |name: &str| self.render_part(name, task);
        let content = match render("text")? {
            Some(text) => PromptContent::Text(text),
            None => {
                let parts = [render("system")?.map(Message::system), render("user")?.map(Message::user)];
                let prefill = render("prefill")?.map(Message::assistant);
                PromptContent::Messages(parts.into_iter().chain([prefill]).flatten().collect())
            }
        };
        let stops = self.parts.iter().filter(|part| part.name.starts_with("stop"));
        let stop = stops.filter_map(|part| render(&part.name).transpose()).collect::<Result<_, _>>()?;
        let program_start = render("program_start")?;
        if program_start.is_some() && matches!(task.statement, ProblemStatement::Prediction { .. }) {
            let (path, task_id) = (self.path.display(), task.task_id);
            let what = "`program_start` is for sets that ask for programs";
            return Err(refuse(&format!("`{path}`: {what}, and task `{task_id}` is a prediction")));
        }
        Ok(RenderedPrompt { content, stop, program_start })
    }

    /// A part that the file has.
    fn render_part(&self, name: &str, task: AskedTask<'_>) -> Result<Option<String>, Failure> {
        let Ok(template) = self.environment.get_template(name) else { return Ok(None) };
        let fields = fields(task);
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let names = names.join("`, `");
        let refuse = |cause: &str| {
            let what = format!("{cause}, for task `{}`", task.task_id);
            Failure::message(ExitCode::Input, what).hint(format!("the fields of its set are `{names}`"))
        };
        let text = template.render(Value::from_pairs(fields)).map_err(|error| refuse(&self.describe(name, &error)))?;
        if text.is_empty() {
            return Err(refuse(&format!("{} renders nothing", self.place(name, 0))));
        }
        Ok(Some(text))
    }

    /// What is wrong, and where in the file.
    fn describe(&self, name: &str, error: &minijinja::Error) -> String {
        // Another part may have been included.
        let name = error.name().filter(|name| self.find_part(name).is_some()).unwrap_or(name);
        let template = self.environment.get_template(name).ok();
        let found = template.as_ref().zip(error.range()).and_then(|(template, range)| template.source().get(range));
        let detail = match (error.detail(), found) {
            (Some(detail), _) => format!(": {detail}"),
            (None, Some(found)) => format!(" `{found}`"),
            (None, None) => String::new(),
        };
        format!("{}: {}{detail}", self.place(name, error.range().map_or(0, |range| range.start)), error.kind())
    }

    /// A place of a part, for people.
    fn place(&self, name: &str, at: usize) -> String {
        let part = self.find_part(name);
        let offset = part.map_or(0, |part| part.offset + if part.is_verbatim { at } else { 0 });
        let before = self.source.get(..offset).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("`{}` line {line}, column {column} (`{name}`)", self.path.display())
    }

    fn find_part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }
}

impl TemplateFile {
    /// Says what is wrong with the keys together.
    fn check_keys(&self) -> Result<(), &'static str> {
        match self {
            Self { text: None, user: None, .. } => Err("it needs `user`, or `text`"),
            Self { text: Some(_), user: Some(_), .. } => {
                Err("`text` is continued as it stands, so that `user` has no place")
            }
            Self { text: Some(_), system, prefill, .. } if system.is_some() || prefill.is_some() => {
                Err("`system` and `prefill` belong to `user`, and `text` is continued as it stands")
            }
            Self { max_tokens: Some(0), .. } => Err("`max_tokens` counts from 1"),
            _ => Ok(()),
        }
    }

    /// The templates that are there, by name.
    fn into_parts(self) -> impl Iterator<Item = (String, Spanned<String>)> {
        let Self { text, system, user, prefill, program_start, stop, max_tokens: _ } = self;
        let names = ["text", "system", "user", "prefill", "program_start"];
        let named = names.into_iter().zip([text, system, user, prefill, program_start]);
        let named = named.filter_map(|(name, text)| Some((name.to_owned(), text?)));
        named.chain(stop.into_iter().enumerate().map(|(index, text)| (format!("stop[{index}]"), text)))
    }
}

fn refuse(what: &str) -> Failure {
    Failure::message(ExitCode::Input, what).hint(HINT)
}

/// Jinja as it is by default, but a line's end at the end of a text is kept: a prompt may need it.
fn environment() -> Environment<'static> {
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    let mut environment = Environment::new();
    environment.set_syntax(syntax.build().expect("the delimiters are the defaults"));
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment
}

/// What a template may use: what the set shows. Of a prediction that is not the half which is asked for.
fn fields(AskedTask { task_id, statement, predict }: AskedTask<'_>) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::from(text);
    let mut fields = vec![("task_id", text(task_id))];
    match statement {
        ProblemStatement::Continuation(source) => fields.push(("prompt", text(source))),
        ProblemStatement::Instruction { text: words, tests, starter_code } => fields.extend([
            ("text", text(words)),
            ("tests", tests.iter().map(String::as_str).collect::<Value>()),
            ("starter_code", text(starter_code)),
        ]),
        ProblemStatement::Prediction { program, input, output } => fields.extend([
            ("code", text(program)),
            match predict {
                Predicted::Output => ("input", text(input)),
                Predicted::Input => ("output", text(output)),
            },
        ]),
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use veriplay_console::exit::Failure;
    use veriplay_core::{Message, Predicted, PromptContent};
    use veriplay_corpus::ProblemStatement;

    use super::{AskedTask, PromptTemplate, RenderedPrompt};

    fn parse(source: &str) -> Result<PromptTemplate, Failure> {
        PromptTemplate::parse(source.to_owned(), Path::new("own.toml"))
    }

    fn render(source: &str, statement: &ProblemStatement, predict: Predicted) -> Result<RenderedPrompt, Failure> {
        parse(source)?.render(AskedTask { task_id: "set/1", statement, predict })
    }

    fn instruction(tests: &[&str], starter_code: &str) -> ProblemStatement {
        let tests = tests.iter().map(|&test| test.to_owned()).collect();
        ProblemStatement::Instruction { text: "Add <one>.".to_owned(), tests, starter_code: starter_code.to_owned() }
    }

    fn prediction() -> ProblemStatement {
        let [program, input, output] = ["def f(a):\n    return a", "3", "3 "].map(str::to_owned);
        ProblemStatement::Prediction { program, input, output }
    }

    #[test]
    fn a_conversation_is_rendered_to_the_letter() {
        let source = concat!(
            "system = \"Be brief.\"\n",
            "user = '''\n{{ text }}\n{% for test in tests %}{{ test }}\n{% endfor %}",
            "{% if starter_code %}{{ starter_code }}{% endif %}'''\n",
            "prefill = \"Here:\\n```python\\n\"\n",
            "stop = [\"\\n```\", \"[{{ task_id }}]\"]\n",
        );
        let asked = instruction(&["assert f(1) == 2", "assert f(2) == 3"], "");
        let rendered = render(source, &asked, Predicted::Output).expect("it renders");
        let user = "Add <one>.\nassert f(1) == 2\nassert f(2) == 3\n";
        let prefill = Message::assistant("Here:\n```python\n");
        let content = PromptContent::Messages(vec![Message::system("Be brief."), Message::user(user), prefill]);
        let stop = vec!["\n```".to_owned(), "[set/1]".to_owned()];
        assert_eq!(rendered, RenderedPrompt { content, stop, program_start: None });
    }

    #[test]
    fn a_text_is_continued_as_it_is_rendered() {
        // As it stands; and as EvalPlus has its base prompt: stripped, with a line end.
        for (text, source) in [("{{ prompt }}", ""), ("{{ prompt | trim }}\\n", "\n\n")] {
            let template = format!("text = \"{text}\"\nprogram_start = \"{text}\"\nmax_tokens = 9");
            let asked = "def f(x):\n    '''One.'''\n";
            let statement = ProblemStatement::Continuation(format!("{source}{asked}{source}"));
            let rendered = render(&template, &statement, Predicted::Output).expect("it renders");
            assert_eq!(rendered.content, PromptContent::Text(asked.to_owned()));
            assert_eq!(rendered.program_start.as_deref(), Some(asked));
            let template = parse(&template).expect("it is read");
            assert_eq!((template.max_tokens(), template.is_chat()), (Some(9), false));
        }
    }

    #[test]
    fn a_template_does_not_see_what_is_asked_for() {
        let shown = "user = '{{ code }} {{ input }}'";
        assert!(render(shown, &prediction(), Predicted::Output).is_ok());
        let failure = render(shown, &prediction(), Predicted::Input).expect_err("it is the answer").to_string();
        assert!(failure.contains("line 1, column 23 (`user`): undefined value `input`"), "{failure}");
        assert!(failure.contains("task `set/1`") && failure.contains("`task_id`, `code`, `output`"), "{failure}");
        assert!(render("user = '{{ output }}'", &prediction(), Predicted::Output).is_err());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_column() {
        for (source, wanted) in [
            ("user = '''\nHello\n  {{ text | shout }}'''", "line 3, column 13 (`user`): unknown filter"),
            ("user = '{{ text }}'\nstop = ['x', '{{ txt }}']", "line 2, column 18 (`stop[1]`): undefined value"),
            ("user = '{% if starter_code %}{{ x }}{% endif %}{{ text.y }}'", "line 1, column 51 (`user`)"),
            // Escapes move what is behind them, so that the value alone is found.
            ("user = \"a\\tb {{ txt }}\"", "line 1, column 8 (`user`): undefined value"),
            ("user = ' {{ text '", "line 1, column 13 (`user`): syntax error"),
            ("user = '{% if text %}a'", "(`user`): syntax error"),
            ("user = '{% if not text %}a{% endif %}'", "line 1, column 9 (`user`) renders nothing"),
            ("user = 'a'\nstop = ['']", "(`stop[0]`) renders nothing"),
            ("user = 'a'\nusr = 'b'", "line 2"),
            ("system = 'a'", "needs `user`, or `text`"),
            ("user = 'a'\ntext = 'b'", "`user` has no place"),
            ("text = 'a'\nprefill = 'b'", "`prefill` belong to `user`"),
            ("user = 'a'\nmax_tokens = 0", "counts from 1"),
        ] {
            let failure = render(source, &instruction(&[], ""), Predicted::Output).expect_err(source).to_string();
            assert!(failure.contains(wanted) && failure.contains("`own.toml`"), "{source}: {failure}");
            assert!(failure.contains("hint: "), "{failure}");
        }
        let failure =
            render("user = 'a'\nprogram_start = 'b'", &prediction(), Predicted::Output).expect_err("no program");
        assert!(failure.to_string().contains("`program_start` is for sets that ask for programs"), "{failure}");
    }
}
