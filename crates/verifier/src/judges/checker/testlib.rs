//! Programs of testlib's, which decide by the status of their process.

use std::collections::BTreeMap;

use veriplay_core::{Dropped, Exit, Job};

use super::{files, run_checker};
use crate::judges::{JudgeContext, ScriptRun, quoted, words};
use crate::runner::job_failure;

/// The files that a program of testlib's is given: the input, the actual output, the expected one.
const TESTLIB_FILES: [&str; 3] = ["input.txt", "output.txt", "answer.txt"];

/// What a program of testlib's says.
enum Said {
    Right,
    Wrong,
    Points(f64),
    /// That it fails, and why.
    Fails(String),
}

/// Whether a program of testlib's takes the actual output for right, or why it does not decide. Where it decides about the expected output alone, the
/// actual one is wrong.
pub(super) fn decided_by_status(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    actual: &str,
) -> Result<Result<bool, String>, Dropped> {
    let points = match run_testlib(context, script, run, actual)? {
        Ok(Said::Right) => return Ok(Ok(true)),
        Ok(Said::Wrong) => return Ok(Ok(false)),
        Ok(Said::Fails(why)) => return Ok(Err(why)),
        Ok(Said::Points(points)) if points <= 0.0 => return Ok(Ok(false)),
        Ok(Said::Points(points)) => Ok(points),
        Err(undecided) => Err(undecided),
    };
    let full = run_testlib(context, script, run, run.expected)?;
    Ok(match (points, full) {
        (Ok(points), Ok(Said::Points(full))) if full > 0.0 => Ok(points >= full),
        (Ok(_), Ok(Said::Right)) => Ok(false),
        (Ok(_), _) => Err("it gives the expected output no points".to_owned()),
        (Err(undecided), Ok(Said::Fails(_)) | Err(_)) => Err(undecided),
        (Err(_), Ok(_)) => Ok(false),
    })
}

/// Runs a program of testlib's. The inner error is why it has not come to its end.
fn run_testlib(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    actual: &str,
) -> Result<Result<Said, String>, Dropped> {
    let files = files(TESTLIB_FILES, [run.stdin, actual, run.expected]);
    let arguments = TESTLIB_FILES.map(str::to_owned).to_vec();
    let program = with_headers(script, &run.comparison.checker_headers);
    let outcome = run_checker(context, run.comparison, Job { files, arguments, ..Job::script(program) })?;
    let (status, told) = (outcome.exit_code.unwrap_or(0), String::from_utf8_lossy(&outcome.stderr));
    Ok(match (&outcome.exit, status) {
        (Exit::Returned, 0) => Ok(Said::Right),
        (Exit::Raised, 1 | 2 | 4 | 8) => Ok(Said::Wrong),
        (Exit::Raised, 3) => Ok(Said::Fails(format!("it says that it fails: {}", quoted(told.trim())))),
        (Exit::Raised, 7) => read_points(&told).map(Said::Points),
        _ => Err(job_failure(&outcome).map_or_else(|| format!("it ends by status {status}"), |(_, detail)| detail)),
    })
}

/// The points with which the program ends, behind the word for them.
fn read_points(told: &str) -> Result<f64, String> {
    let points = words(told).nth(1).filter(|_| words(told).next() == Some("points"));
    let number = points.and_then(|word| word.parse::<f64>().ok()).filter(|points| points.is_finite());
    number.ok_or_else(|| format!("it ends by the status for points, and tells none: {}", quoted(told)))
}

/// The program with these headers in the place of the first lines that include them, and without other such lines.
fn with_headers(program: &str, headers: &BTreeMap<String, String>) -> String {
    let mut headers: BTreeMap<_, _> = headers.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut whole = String::with_capacity(program.len());
    for line in program.split_inclusive('\n') {
        match included(line).and_then(|name| headers.get_mut(name)) {
            Some(header) => whole.extend([std::mem::take(header), "\n"]),
            None => whole.push_str(line),
        }
    }
    whole
}

/// The header in quotation marks that a line includes.
fn included(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("#include")?.trim_start().strip_prefix('"')?;
    Some(&name[..name.find('"')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_behind_their_word() {
        for (told, points) in [("points 0.5\n", 0.5), ("points 40 of 100\n", 40.0), ("points -1 no", -1.0)] {
            assert_eq!(read_points(told), Ok(points), "{told}");
        }
        for told in ["", "points", "points inf", "points many", "ok 1", "1"] {
            assert!(read_points(told).is_err(), "{told}");
        }
    }

    #[test]
    fn a_header_that_is_given_stands_where_it_is_included() {
        let headers = BTreeMap::from([("testlib.h".to_owned(), "int t;".to_owned())]);
        let program =
            "#include <a>\n#include \"testlib.h\" // it\n#include\"testlib.h\"\n#include \"b.h\"\nint main() {}";
        let whole = "#include <a>\nint t;\n\n#include \"b.h\"\nint main() {}";
        assert_eq!(with_headers(program, &headers), whole);
        assert_eq!(with_headers(program, &BTreeMap::new()), program);
    }
}
