//! Hand-written artifacts pass the gate; the gate's rules each refuse something, and its jobs keep the parties apart.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Mutex;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use rayon::prelude::*;
use veriplay_core::{Entry, Execute, ExecuteError, Job, Outcome, Status, Value};
use veriplay_corpus::HandWrittenTask;
use veriplay_verifier::environments::rules;
use veriplay_verifier::environments::{ArtifactRequest, describe_environment, examine_artifact};

use super::{LIMITS, corpus, environment, examined, gate, judged, python, task};

/// Keeps every job that is run.
#[derive(Default)]
struct Watched(Mutex<Vec<Job>>);

impl Execute for Watched {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.0.lock().unwrap().push(job.clone());
        python().execute(job)
    }
}

fn all() -> Vec<&'static HandWrittenTask> {
    corpus().iter().flat_map(|one| &one.tasks).collect()
}

#[test]
fn every_hand_written_task_passes_the_gate() {
    assert!(corpus().len() >= 5 && corpus().iter().all(|one| one.tasks.len() >= 4));
    let faults: Vec<String> = all()
        .par_iter()
        .map(|hand| (&hand.task.task_id, examined(&gate(), &hand.task)))
        .filter(|(_, report)| report.verdict.status != Status::Valid || !report.rules.is_empty())
        .map(|(task_id, report)| format!("{task_id}: {report:?}"))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn solutions_are_accepted_and_every_other_code_is_not() {
    let faults: Vec<String> = all().par_iter().flat_map_iter(|hand| faults_of(hand)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(all().iter().all(|hand| !hand.wrong.is_empty()), "each task has another wrong code");
}

fn faults_of(hand: &HandWrittenTask) -> Vec<String> {
    let status = |code: &str| judged(python(), &hand.task, code).status;
    let solved = [(&hand.task.solution, Status::Accepted)];
    let refused = hand.task.failures.iter().chain(&hand.wrong).map(|code| (code, Status::WrongAnswer));
    let all = solved.into_iter().chain(refused).map(|(code, wanted)| (code, wanted, status(code)));
    let faults = all.filter(|(_, wanted, got)| wanted != got);
    faults.map(|(code, wanted, got)| format!("{}: {got:?}, not {wanted:?}:\n{code}", hand.task.task_id)).collect()
}

#[test]
fn an_artifact_is_judged_the_same_again_and_a_known_one_is_a_duplicate() {
    let task = task("orders/ship_to_kiel");
    let request = ArtifactRequest { environment: environment("orders"), task, known: false };
    let judged = |request| examine_artifact(python(), &gate(), &request).unwrap();
    let first = judged(request);
    assert_eq!((first.verdict.status, first.verdict.evidence.rule.as_str()), (Status::Valid, ""));
    assert!(first.verdict.evidence.fuel > 0 && first.verdict.evidence.jobs.len() > 20);
    assert_eq!(judged(request), first);
    let known = judged(ArtifactRequest { known: true, ..request });
    assert_eq!((known.verdict.status, known.rules), (Status::Invalid, vec![rules::DUPLICATE]));
    assert!(known.verdict.evidence.jobs.is_empty(), "a duplicate costs nothing");
}

#[test]
fn an_artifact_about_another_environment_is_dropped() {
    let request =
        ArtifactRequest { environment: environment("files"), task: task("orders/ship_to_kiel"), known: false };
    let dropped = examine_artifact(python(), &gate(), &request).unwrap_err();
    assert!(dropped.why.contains("`orders`") && dropped.why.contains("`files`"), "{}", dropped.why);
}

#[test]
fn no_instance_holds_what_another_must_not_see() {
    let mut marked = task("orders/ship_to_kiel").clone();
    marked.verify.insert_str(0, "MARK_OF_VERIFY = 1\n");
    marked.solution.insert_str(0, "MARK_OF_SOLUTION = 1\n");
    let watched = Watched::default();
    let request = ArtifactRequest { environment: environment("orders"), task: &marked, known: false };
    assert_eq!(examine_artifact(&watched, &gate(), &request).unwrap().verdict.status, Status::Valid);
    assert_eq!(judged(&watched, &marked, &marked.solution).status, Status::Accepted);
    let (mut seen, mut with_code) = (BTreeSet::new(), 0);
    for job in watched.0.into_inner().unwrap() {
        let Entry::Calls { arguments, .. } = &job.entry else { panic!("a job of another kind") };
        let arguments = Value::List(arguments.concat()).to_string();
        let own = [job.program.as_str(), arguments.as_str()].concat();
        let callee = job.callee.as_ref().map_or("", |callee| callee.program.as_str());
        let holds = |text: &str| {
            let text = text.to_owned() + &unpacked(text);
            ["MARK_OF_VERIFY", "MARK_OF_SOLUTION", " was lost or made"].map(|mark| text.contains(mark))
        };
        // What the job's own instance holds, and what its callee's does.
        seen.insert((holds(&own), holds(callee)));
        with_code += u32::from(holds(&own)[1]);
        assert!(job.files.is_empty() && job.stdin.is_empty() && job.base.is_none());
    }
    let [nothing, verify, solution, source] =
        [[false; 3], [true, false, false], [false, true, false], [false, false, true]];
    // Failure cases are code without the mark.
    let allowed = [(verify, nothing), (solution, source), (nothing, source), (source, nothing)];
    assert_eq!(seen, BTreeSet::from(allowed));
    assert_eq!(with_code, 3, "the solution runs under both seeds, and once as an attempt");
}

/// What is packed in the literals of a program: base64 of a zlib stream.
fn unpacked(program: &str) -> String {
    let literals = program.split(['\'', '"']).filter_map(|literal| BASE64_STANDARD.decode(literal).ok());
    let read = |packed: Vec<u8>| {
        let mut bytes = Vec::new();
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    literals.filter_map(read).collect()
}

#[test]
fn an_environment_says_what_it_is_and_what_its_tools_are() {
    for one in corpus() {
        let about = describe_environment(python(), &one.environment, "python", LIMITS).unwrap();
        assert!(about.text.len() > 50 && about.tools.len() >= 8, "{about:?}");
        for tool in &about.tools {
            let is_typed = tool.signature.starts_with(&format!("{}(", tool.name)) && tool.signature.contains(" -> ");
            assert!(is_typed && !tool.documentation.is_empty(), "{tool:?}");
        }
    }
}
