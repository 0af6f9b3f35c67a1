//! Checkers and interactors that are programs of testlib's: their arguments, and what their exit status says.

use veriplay_core::{Exit, Outcome};

/// The files that are their arguments: input, output and answer. An interactor writes the second.
pub(crate) const FILES: [&str; 3] = ["input.txt", "output.txt", "answer.txt"];

/// What an exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestlibStatus {
    Accepted,
    Refused,
    /// The checker or the task is broken.
    Failed,
    /// Standard error has the points.
    Points,
}

/// Reads the exit status; `None` where it is none of testlib's, or the program did not come to its end.
pub(crate) fn read_status(outcome: &Outcome) -> Option<TestlibStatus> {
    match (&outcome.exit, outcome.exit_code.unwrap_or(0)) {
        (Exit::Returned, 0) => Some(TestlibStatus::Accepted),
        (Exit::Raised, 1 | 2 | 4 | 8) => Some(TestlibStatus::Refused),
        (Exit::Raised, 3) => Some(TestlibStatus::Failed),
        (Exit::Raised, 7) => Some(TestlibStatus::Points),
        _ => None,
    }
}

/// The points that standard error begins with, behind the word for them; `None` where it does not.
pub(crate) fn read_points(stderr: &str) -> Option<f64> {
    let mut words = stderr.split_whitespace();
    let number = words.next().filter(|word| *word == "points").and_then(|_| words.next());
    number.and_then(|word| word.parse::<f64>().ok()).filter(|points| points.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_behind_their_word() {
        for (told, points) in [("points 0.5\n", 0.5), ("points 40 of 100\n", 40.0), ("points -1 no", -1.0)] {
            assert_eq!(read_points(told), Some(points), "{told}");
        }
        for told in ["", "points", "points inf", "points many", "ok 1", "1"] {
            assert_eq!(read_points(told), None, "{told}");
        }
    }
}
