//! Checkers written with testlib, which decide by exit status.

use std::collections::BTreeMap;

use veriplay_core::{Dropped, Job};

use super::{files, run_checker};
use crate::judges::{JudgeContext, ScriptRun, quoted};
use crate::runner::job_failure;
use crate::testlib::{FILES, TestlibStatus, read_points, read_status};

/// What a checker decides about an output.
enum CheckerVerdict {
    Right,
    Wrong,
    Points(f64),
    /// The checker or the task is broken, and why.
    Failed(String),
}

/// Whether the checker accepts the actual output, or why it does not decide. If it fails or does not decide, and passes the expected output, the
/// actual one is wrong.
pub(super) fn decided_by_status(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    actual: &str,
) -> Result<Result<bool, String>, Dropped> {
    let points = match judge_output(context, script, run, actual)? {
        Ok(CheckerVerdict::Right) => return Ok(Ok(true)),
        Ok(CheckerVerdict::Wrong) => return Ok(Ok(false)),
        Ok(CheckerVerdict::Points(points)) if points <= 0.0 => return Ok(Ok(false)),
        Ok(CheckerVerdict::Points(points)) => Ok(points),
        Ok(CheckerVerdict::Failed(undecided)) | Err(undecided) => Err(undecided),
    };
    let full = judge_output(context, script, run, run.expected)?;
    Ok(match (points, full) {
        (Ok(points), Ok(CheckerVerdict::Points(full))) if full > 0.0 => Ok(points >= full),
        (_, Ok(CheckerVerdict::Right)) => Ok(false),
        (Ok(_), _) => Err("it gives the expected output no points".to_owned()),
        (Err(_), Ok(CheckerVerdict::Points(full))) if full > 0.0 => Ok(false),
        (Err(undecided), _) => Err(undecided),
    })
}

/// Runs the checker on an output. The inner error says why it did not decide.
fn judge_output(
    context: &mut JudgeContext<'_>,
    script: &str,
    run: &ScriptRun<'_>,
    output: &str,
) -> Result<Result<CheckerVerdict, String>, Dropped> {
    let files = files(FILES, [run.stdin, output, run.expected]);
    let arguments = FILES.map(str::to_owned).to_vec();
    let program = with_headers(script, &run.comparison.checker_headers);
    let outcome = run_checker(context, run.comparison, Job { files, arguments, ..Job::script(program) })?;
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    Ok(match read_status(&outcome) {
        Some(TestlibStatus::Accepted) => Ok(CheckerVerdict::Right),
        Some(TestlibStatus::Refused) => Ok(CheckerVerdict::Wrong),
        Some(TestlibStatus::Failed) => {
            Ok(CheckerVerdict::Failed(format!("it says that it fails: {}", quoted(stderr.trim()))))
        }
        Some(TestlibStatus::Points) => read_points(&stderr)
            .map(CheckerVerdict::Points)
            .ok_or_else(|| format!("its exit status is that of points, and it prints none: {}", quoted(&stderr))),
        None => Err(job_failure(&outcome).map(|(_, detail)| detail).unwrap_or_default()),
    })
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
    fn a_header_that_is_given_stands_where_it_is_included() {
        let headers = BTreeMap::from([("testlib.h".to_owned(), "int t;".to_owned())]);
        let program =
            "#include <a>\n#include \"testlib.h\" // it\n#include\"testlib.h\"\n#include \"b.h\"\nint main() {}";
        let whole = "#include <a>\nint t;\n\n#include \"b.h\"\nint main() {}";
        assert_eq!(with_headers(program, &headers), whole);
        assert_eq!(with_headers(program, &BTreeMap::new()), program);
    }
}
