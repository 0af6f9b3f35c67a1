//! The compact dialect's proposals: short texts that [`super::complete`] makes whole artifacts of.
//!
//! For models of a million parameters, which learn to write a line of code and not a verification function. A proposal is
//! `instruction<CODE>solution<WRONG>2 answer(3)<WRONG>1<WRONG>…`: each wrong code is the solution with one of its lines, counted from 1,
//! replaced by another text, or left out where none is given. What the dialect does for the model: the failure cases are near the
//! solution by construction, and the verification function is ours ([`super::complete`]). What stays the model's is everything else
//! that the gate asks: that the solution runs and does something, and that each failure case runs and leaves something else.

use veriplay_core::CodeTask;

/// Opens a prompt, before the environment's name.
pub const WORLD: &str = "<WORLD>";
/// Before an executor's instruction.
pub const DO: &str = "<DO>";
/// Before what a challenger is to make a task about.
pub const MAKE: &str = "<MAKE>";
/// Ends an executor's prompt, and stands before a proposal's solution.
pub const CODE: &str = "<CODE>";
/// Before each change of a proposal's solution.
pub const WRONG: &str = "<WRONG>";

/// A proposal as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactProposal {
    /// The instruction, in words.
    pub instruction: String,
    /// Code that does it.
    pub solution: String,
    /// What is wrong in each failure case.
    pub wrong: Vec<LineChange>,
}

/// One line of a solution, replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// Which line, from 1.
    pub line: usize,
    /// What stands in its place; nothing leaves the line out.
    pub text: String,
}

impl CompactProposal {
    /// Reads a response without its end token.
    ///
    /// # Errors
    /// What is missing, for people.
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

    /// What [`CompactProposal::parse`] reads back.
    #[must_use]
    pub fn to_text(&self) -> String {
        let wrong: String = self.wrong.iter().map(|change| format!("{WRONG}{}", change.to_text())).collect();
        format!("{}{CODE}{}{wrong}", self.instruction, self.solution)
    }

    /// The artifact, but for its verification function: empty until [`super::complete`] has made one.
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

    /// `solution` with the change.
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
