//! The corpus of costs: the shipped files, and every way one can break the format.

use std::collections::BTreeSet;

use veriplay_corpus::{CostJob, ORDINARY_LOOP, built_in_cost_programs, parse_cost_program};

const GOOD: &str = "# Title: what it attacks.\n# job: call\n\ndef f():\n    return 1\n";

#[test]
fn a_whole_file_is_read() {
    let read = parse_cost_program("task-corpus/cost/one.py", GOOD).unwrap();
    assert_eq!((read.name.as_str(), read.attacks.as_str()), ("one", "Title: what it attacks."));
    assert_eq!((read.job, read.program.as_str()), (CostJob::Call, GOOD));
}

#[test]
fn every_broken_file_is_refused_with_its_line() {
    let changes = [
        ("# Title: what it attacks.", "Title: what it attacks.", 1, "does not say what is attacked"),
        ("# Title: what it attacks.", "# Title", 1, "does not say what is attacked"),
        ("# job: call", "# job: calls", 2, "the second line"),
        ("\n\ndef", "\ndef", 3, "the third line"),
        ("def f():\n    return 1\n", "", 4, "there is no program"),
    ];
    super::assert_refused(GOOD, &changes, |text| parse_cost_program("one.py", text));
}

#[test]
fn there_are_many_programs_of_every_job_and_the_loop_they_are_compared_with() {
    let programs = built_in_cost_programs();
    assert!(programs.len() >= 100, "{}", programs.len());
    for job in CostJob::ALL {
        assert!(programs.iter().any(|program| program.job == job), "no program of job `{}`", job.word());
    }
    assert!(programs.iter().any(|program| program.name == ORDINARY_LOOP && program.job == CostJob::Script));
    let distinct: BTreeSet<&str> = programs.iter().map(|program| program.program.as_str()).collect();
    assert_eq!(distinct.len(), programs.len(), "two files hold the same program");
}
