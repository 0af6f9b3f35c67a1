//! From the text of an attempt to what is judged.

use veriplay_core::{AttemptText, Checks, Extraction, Predicted, Problem, ProblemRow, UnexecutedProblem};

use super::{BegunPrediction, Continues, Entry, NoAnswer, Wanted, extract_patch, extract_program};

/// What of an attempt is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The program, without the problem's prelude; or the prediction, or the patch.
    pub program: String,
    /// Where in a completion the program was.
    pub extraction: Option<Extraction>,
}

impl Answer {
    const fn whole(program: String) -> Self {
        Self { program, extraction: None }
    }

    /// The program, or the prediction, of an attempt at the task of `row`.
    ///
    /// # Errors
    /// The completion holds none; the reason is for people.
    pub fn at_row(row: &ProblemRow, text: AttemptText) -> Result<Self, NoAnswer> {
        let completion = match text {
            AttemptText::Program(program) => return Ok(Self::whole(program)),
            AttemptText::Completion(completion) => completion,
        };
        let wanted = match wanted(row) {
            Ok(wanted) => wanted,
            Err(predict) => return BegunPrediction::default().extract(&completion, predict).map(Self::whole),
        };
        let found = extract_program(&wanted, &completion)?;
        Ok(Self { extraction: Some(found.evidence()), program: found.text })
    }

    /// The patch of an attempt at a bug.
    ///
    /// # Errors
    /// The completion holds none.
    pub fn at_bug(text: AttemptText) -> Result<Self, NoAnswer> {
        match text {
            AttemptText::Program(patch) => Ok(Self::whole(patch)),
            AttemptText::Completion(completion) => extract_patch(&completion).map(Self::whole),
        }
    }
}

/// What a program must have, or what is to be predicted.
fn wanted(row: &ProblemRow) -> Result<Wanted<'_>, Predicted> {
    match row {
        ProblemRow::Unexecuted(UnexecutedProblem { prompt, checks, .. }) => {
            Ok(Wanted { prompt, entry: Entry::Function(&checks.function), continues: Continues::Prose })
        }
        ProblemRow::Ready(Problem { checks: Checks::Prediction(prediction), .. }) => Err(prediction.wanted),
        ProblemRow::Ready(problem) => Wanted::by_problem(problem).ok_or(Predicted::Output),
    }
}
