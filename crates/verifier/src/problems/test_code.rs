//! Test code of a problem.

use veriplay_core::{Dropped, TestCode};

use super::{ProblemRequest, Ruling};
use crate::run::Runner;

/// Judges `program` by `code`.
pub(super) fn judge(
    _runner: &mut Runner<'_>,
    _code: &TestCode,
    _program: &str,
    _request: &ProblemRequest<'_>,
) -> Result<Ruling, Dropped> {
    Err(Dropped { why: "test code is not judged by this build".to_owned() })
}
