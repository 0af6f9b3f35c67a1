//! Proposals of the prompt format `compact`: short texts that [`super::complete`] turns into artifacts.
//!
//! For models of a million parameters, which learn to write a line of code and not a verification function. A proposal is
//! `instruction<CODE>solution<WRONG>2 answer(3)<WRONG>1<WRONG>…`. Each wrong code is the solution with one line, counted from 1, replaced
//! by a text, or deleted where none is given. The format makes failure cases similar to the solution, and [`super::complete`] writes the
//! verification function. The model must still meet the other conditions of the gate: the solution runs and has an effect, and each failure
//! case runs and has another.

use veriplay_core::CodeTask;

/// Opens a prompt; the name of the environment follows.
pub const WORLD: &str = "<WORLD>";
/// Precedes an executor's instruction.
pub const DO: &str = "<DO>";
/// Precedes the tool that a challenger is to write a task about.
pub const MAKE: &str = "<MAKE>";
/// Ends an executor's prompt, and precedes a proposal's solution.
pub const CODE: &str = "<CODE>";
/// Precedes each change of a proposal's solution.
pub const WRONG: &str = "<WRONG>";

/// A parsed proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactProposal {
    /// The instruction.
    pub instruction: String,
    /// The solution.
    pub solution: String,
    /// The changed line of each failure case.
    pub wrong: Vec<LineChange>,
}

/// A changed line of a solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// The number of the line, from 1.
    pub line: usize,
    /// The replacement; an empty text deletes the line.
    pub text: String,
}

impl CompactProposal {
    /// Parses a response without its end token.
    ///
    /// # Errors
    /// Why the response is malformed.
    pub fn parse(response: &str) -> Result<Self, String> {
        let (instruction, rest) = response.split_once(CODE).ok_or_else(|| format!("there is no `{CODE}`"))?;
        let mut parts = rest.split(WRONG);
        let solution = parts.next().unwrap_or_default();
        if let Some(mark) = [WORLD, DO, MAKE, CODE].into_iter().find(|mark| rest.contains(mark)) {
            return Err(format!("there is a `{mark}` in its codes"));
        }
        let lines = solution.lines().count();
        let wrong = parts.map(|part| LineChange::parse(part, lines)).collect::<Result<_, _>>()?;
        Ok(Self { instruction: instruction.trim().to_owned(), solution: solution.to_owned(), wrong })
    }

    /// The text that [`CompactProposal::parse`] parses to `self`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let wrong: String = self.wrong.iter().map(|change| format!("{WRONG}{}", change.to_text())).collect();
        format!("{}{CODE}{}{wrong}", self.instruction, self.solution)
    }

    /// The artifact with an empty verification function, which [`super::complete`] fills in.
    #[must_use]
    pub fn task(&self, task_id: &str, environment: &str) -> CodeTask {
        CodeTask {
            task_id: task_id.to_owned(),
            environment: environment.to_owned(),
            instruction: self.instruction.clone(),
            verify: String::new(),
            solution: self.solution.clone(),
            failures: self.wrong.iter().map(|change| change.apply_to(&self.solution)).collect(),
        }
    }
}

impl LineChange {
    fn parse(text: &str, lines: usize) -> Result<Self, String> {
        let (number, text) = text.split_once(' ').unwrap_or((text, ""));
        let line = number.parse().ok().filter(|line| (1..=lines).contains(line));
        let line = line.ok_or_else(|| format!("`{number}` is no line of the solution, which has {lines}"))?;
        Ok(Self { line, text: text.to_owned() })
    }

    fn to_text(&self) -> String {
        if self.text.is_empty() { self.line.to_string() } else { format!("{} {}", self.line, self.text) }
    }

    /// Applies the change to `solution`.
    #[must_use]
    pub fn apply_to(&self, solution: &str) -> String {
        let kept = |(number, line): (usize, &str)| match (number == self.line, self.text.as_str()) {
            (false, _) => Some(line.to_owned()),
            (true, "") => None,
            (true, text) => Some(text.to_owned()),
        };
        (1..).zip(solution.lines()).filter_map(kept).collect::<Vec<_>>().join("\n")
    }
}
