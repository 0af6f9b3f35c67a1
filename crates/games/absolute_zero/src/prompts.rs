//! What the policy is shown, and what an ideal response looks like. Called by the games for prompts and by the cli's
//! warm-up for supervised examples; names are values of the config key `format`.
//!
//! One file a format; each is in [`PROMPT_FORMATS`] under its file's name. The verifier has a format of the same name that
//! extracts attempts from responses; a test holds that it reads back what `answer_text` and `proposal_text` write.
//! Invariant: a solver prompt never contains what only the judge may see. A privileged prompt does, and nobody answers it.

mod compact;
mod direct;
mod think;

pub use compact::solver_text_parts;

use veriplay_core::{
    JAVASCRIPT, Language, Literals, MessageRole, Prompt, PromptContent, Proposal, Question, Role, TaskType,
};
use veriplay_python::Python;

use veriplay_selfplay::registry::registry;
use veriplay_verifier::formats::compact::REFERENCE;
use veriplay_verifier::languages::is_python;

use think::Think;

/// A request to a proposer.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposerRequest<'a> {
    /// The kind of task to invent.
    pub task_type: TaskType,
    /// Tasks of that kind to be different from, or, for induction, that show what is asked for; may be empty.
    pub references: Vec<&'a Question>,
    /// The program to find inputs for: `Some` exactly for induction.
    pub given: Option<&'a str>,
    /// The beginning of the program, which the response continues. Formats but `compact` have none.
    pub begun: Option<&'a str>,
    /// Functions that the program must call, by the names that they define. Formats but `think` have none.
    pub helpers: &'a [String],
    /// A function that the program shall take an idea from, and no part of. `compact` shows none; an induction proposer is given it as its program.
    pub document: Option<&'a str>,
    /// How many inputs an induction proposal must have.
    pub inputs: usize,
}

impl ProposerRequest<'_> {
    /// The given program; empty where a caller broke the rule on [`ProposerRequest::given`].
    fn given_program(&self) -> &str {
        self.given.unwrap_or_default()
    }
}

/// A named way to write prompts and ideal responses.
pub trait PromptFormat: Sync {
    /// Its name in the config; the verifier's format of this name reads the responses.
    fn name(&self) -> &'static str;

    /// What a solver is shown. `examples` are questions of the same kind, to be shown with their answers by a format that shows any.
    fn solver_content(&self, question: &Question, examples: &[&Question]) -> PromptContent;

    /// What a proposer is shown.
    fn proposer_content(&self, request: &ProposerRequest<'_>) -> PromptContent;

    /// The right response: the output, the witness input, the reference program, or the name of the exception.
    fn answer_text(&self, question: &Question) -> String;

    /// The response that makes this proposal.
    fn proposal_text(&self, proposal: &Proposal) -> String;

    /// How values are written in its language.
    fn literals(&self) -> &'static dyn Literals {
        &Python
    }

    /// Text that ends a response, where the model's end token alone does not.
    fn stop(&self, _role: Role, _task_type: TaskType) -> &'static [&'static str] {
        &[]
    }

    /// The prompt that asks a solver.
    fn solver_prompt(&self, question: &Question, examples: &[&Question]) -> Prompt {
        let (role, task_type) = (Role::SOLVER, question.task_type());
        let content = self.solver_content(question, examples);
        Prompt::new(role, content).with_task_type(task_type).with_stop(self.stop(role, task_type).iter().copied())
    }

    /// The prompt of a solver that also shows the right answer: what was written without it is scored behind it.
    fn privileged_prompt(&self, question: &Question, examples: &[&Question]) -> Prompt {
        let (mut prompt, answer) = (self.solver_prompt(question, examples), bare_answer(self.literals(), question));
        match &mut prompt.content {
            PromptContent::Text(text) => text.insert_str(0, &format!("{REFERENCE}{answer}")),
            PromptContent::Messages(messages) => {
                let asked = messages.iter_mut().rfind(|message| message.role == MessageRole::User);
                asked.into_iter().for_each(|asked| asked.content += &format!("\n\nA right answer is:\n{answer}"));
            }
        }
        prompt
    }

    /// A proposer's prompt.
    fn proposer_prompt(&self, request: &ProposerRequest<'_>) -> Prompt {
        let (role, task_type) = (Role::PROPOSER, request.task_type);
        let content = self.proposer_content(request);
        Prompt::new(role, content).with_task_type(task_type).with_stop(self.stop(role, task_type).iter().copied())
    }
}

registry! {
    /// Every prompt format.
    PROMPT_FORMATS: [PromptFormat] = [&compact::Compact, &direct::Direct, &Think::PYTHON]
}

/// The format of that name for programs in a language. JavaScript has `think` alone, and other languages but Python none.
pub fn by_name_in(language: &dyn Language, name: &str) -> Option<&'static dyn PromptFormat> {
    if is_python(language) {
        return by_name(name);
    }
    let format: &'static dyn PromptFormat = &Think::JAVASCRIPT;
    (language.names() == JAVASCRIPT.names() && format.name() == name).then_some(format)
}

/// The right answer to a question, and nothing around it.
fn bare_answer(literals: &dyn Literals, question: &Question) -> String {
    match question {
        Question::Deduction { pair, .. } => literals.write(&pair.output),
        Question::Abduction { pair, .. } => literals.write_arguments(&pair.input),
        Question::Induction { reference, .. } => reference.clone(),
        Question::Error { exception, .. } => exception.clone(),
    }
}
