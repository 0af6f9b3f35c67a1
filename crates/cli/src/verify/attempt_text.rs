//! From an attempt's text to what is judged. A `program` is judged as it is; in a `completion` the answer is looked for
//! ([`veriplay_verifier::extraction`]).

use veriplay_core::{Checks, Problem};
use veriplay_core::{Extraction, Predicted};
use veriplay_corpus::{AttemptBody, ProblemRow, UnexecutedProblem};
use veriplay_verifier::extraction::{
    BegunPrediction, Continues, Entry, NoAnswer, Wanted, extract_patch, extract_program,
};

/// What is judged.
pub(super) struct AttemptText {
    /// The program, without the problem's prelude; or the prediction, or the patch.
    pub(super) program: String,
    /// Where in a response the program was.
    pub(super) extraction: Option<Extraction>,
}

impl AttemptText {
    const fn whole(program: String) -> Self {
        Self { program, extraction: None }
    }

    /// The program, or the prediction, of an attempt at the task of `row`.
    pub(super) fn of_program(row: &ProblemRow, body: AttemptBody) -> Result<Self, NoAnswer> {
        let response = match body {
            AttemptBody::Program(text) => return Ok(Self::whole(text)),
            AttemptBody::Completion(response) => response,
        };
        let wanted = match wanted(row) {
            Ok(wanted) => wanted,
            Err(predict) => return BegunPrediction::default().extract(&response, predict).map(Self::whole),
        };
        let found = extract_program(&wanted, &response)?;
        Ok(Self { extraction: Some(found.evidence()), program: found.text })
    }

    /// The patch of an attempt at a bug.
    pub(super) fn of_patch(body: AttemptBody) -> Result<Self, NoAnswer> {
        match body {
            AttemptBody::Program(patch) => Ok(Self::whole(patch)),
            AttemptBody::Completion(response) => extract_patch(&response).map(Self::whole),
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
