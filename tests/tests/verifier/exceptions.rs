//! Error tasks: the release takes what stands before a colon in the last line of a traceback, which a program prints as it likes. Here the name is that
//! of the built-in type behind the exception, found by its identity, and the text of the program shows that it cannot reach what finds it.

use rayon::prelude::*;
use veriplay_core::{Attempt, Proposal, ProposalVerdict, Provenance, Question, Status, TaskType, Value};
use veriplay_verifier::{ProposalRequest, judge_proposal};

use super::cases::subjects;
use super::{answer, gate, python};

/// What becomes of an error task of `program` at 3, in the words of `exceptions.py`.
fn judged(program: String) -> String {
    let attempt =
        Attempt::Proposal(Proposal::Triplet { task_type: TaskType::Error, program, input: vec![Value::int(3)] });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    let ProposalVerdict { verdict, task, .. } = judge_proposal(python(), &gate(), &request).unwrap();
    let Some(task) = task else {
        assert_eq!(verdict.status, Status::Invalid);
        return format!("refused by {}", verdict.evidence.rule);
    };
    let Question::Error { exception, .. } = &task.question else { panic!("{:?}", task.question) };
    let status = |name: &str| answer(&task, &Attempt::Exception(name.to_owned())).status;
    assert_eq!((status(exception), status("AssertionError")), (Status::Accepted, Status::WrongAnswer));
    format!("raises {exception}")
}

#[test]
fn an_exception_has_the_name_of_its_built_in_type_and_what_could_forge_it_is_refused() {
    let subjects = subjects(include_str!("exceptions.py"));
    let mut cases = Vec::new();
    for subject in &subjects {
        // What each program of the subject ends with.
        cases.extend(
            subject.programs.iter().map(|(claim, program)| (*claim, format!("{program}\n{}\n", subject.source))),
        );
    }
    let wrong: Vec<String> = cases
        .into_par_iter()
        .filter_map(|(claim, program)| {
            let found = judged(program.clone());
            (found != claim).then(|| format!("{found}, not {claim}:\n{program}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
