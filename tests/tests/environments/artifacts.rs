//! Hand-written artifacts pass the gate, and its jobs keep the parties apart. Of the corpus of cheats none is accepted, each ends as its file says, and each
//! rule of the gate refuses one.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::Mutex;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use rayon::prelude::*;
use veriplay_core::{CodeTask, Entry, Execute, Job, Status, Value};
use veriplay_corpus::HandWrittenTask;
use veriplay_corpus::environments::cheats::{Cheat, CheatKind, built_in_cheats};
use veriplay_tests::assert_none;
use veriplay_verifier::environments::{ArtifactGate, ArtifactRequest, describe_environment, examine_artifact, rules};

use super::{LIMITS, corpus, environment, examined, gate, judged, python, task};
use crate::hosts::Host;

fn all() -> Vec<&'static HandWrittenTask> {
    corpus().iter().flat_map(|one| &one.tasks).collect()
}

#[test]
fn every_hand_written_task_passes_the_gate() {
    assert!(corpus().len() >= 5 && corpus().iter().all(|one| one.tasks.len() >= 4));
    let faults = all().into_par_iter().filter_map(|hand| {
        let report = examined(&gate(), &hand.task);
        let is_valid = report.verdict.status == Status::Valid && report.rules.is_empty();
        (!is_valid).then(|| format!("{}: {report:?}", hand.task.task_id))
    });
    assert_none(faults.collect());
}

#[test]
fn solutions_are_accepted_and_every_other_code_is_not() {
    assert_none(all().into_par_iter().flat_map_iter(faults_of).collect());
    assert!(all().iter().all(|hand| !hand.wrong.is_empty()), "each task has another wrong code");
}

fn faults_of(hand: &HandWrittenTask) -> Vec<String> {
    let mut faults = Vec::new();
    for code in [&hand.task.solution].into_iter().chain(&hand.task.failures).chain(&hand.wrong) {
        let wanted = if *code == hand.task.solution { Status::Accepted } else { Status::WrongAnswer };
        let found = judged(python(), &hand.task, code).status;
        if found != wanted {
            faults.push(format!("{}: {found:?}, not {wanted:?}:\n{code}", hand.task.task_id));
        }
    }
    faults
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
    let (environment, task) = (environment("files"), task("orders/ship_to_kiel"));
    let request = ArtifactRequest { environment, task, known: false };
    let dropped = examine_artifact(python(), &gate(), &request).unwrap_err();
    assert!(dropped.why.contains("`orders`") && dropped.why.contains("`files`"), "{}", dropped.why);
}

#[test]
fn no_instance_holds_what_another_must_not_see() {
    let mut marked = task("orders/ship_to_kiel").clone();
    marked.verify.insert_str(0, "MARK_OF_VERIFY = 1\n");
    marked.solution.insert_str(0, "MARK_OF_SOLUTION = 1\n");
    let jobs = Mutex::new(Vec::new());
    let watched = Host(|job: &Job| {
        jobs.lock().unwrap().push(job.clone());
        python().execute(job)
    });
    let request = ArtifactRequest { environment: environment("orders"), task: &marked, known: false };
    assert_eq!(examine_artifact(&watched, &gate(), &request).unwrap().verdict.status, Status::Valid);
    assert_eq!(judged(&watched, &marked, &marked.solution).status, Status::Accepted);
    let (mut seen, mut with_code) = (BTreeSet::new(), 0);
    for job in jobs.into_inner().unwrap() {
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

/// What is packed in the literals of a program: base64 of a zlib stream of compiled code.
fn unpacked(program: &str) -> String {
    let literals = program.split(['\'', '"']).filter_map(|literal| BASE64_STANDARD.decode(literal).ok());
    let mut bytes = Vec::new();
    for packed in literals {
        // Most literals are no such stream.
        let _ = ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
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

/// What is wrong with how a cheat ended, if anything is.
fn fault(cheat: &Cheat) -> Option<String> {
    let what = match &cheat.kind {
        CheatKind::Code { code, status } => {
            let verdict = judged(python(), &cheat.task, code);
            (verdict.status != *status || verdict.passed != 0)
                .then(|| format!("{status:?} expected, got {:?} ({})", verdict.status, verdict.evidence.detail))
        }
        CheatKind::Artifact { rule, alone, max_changed_lines } => {
            let gate = ArtifactGate { max_changed_lines: *max_changed_lines, ..gate() };
            let found = examined(&gate, &cheat.task);
            let is_first = found.rules.first().is_some_and(|first| first == rule);
            let as_told = is_first && !(*alone && found.rules.len() > 1);
            (!as_told).then(|| format!("{rule} expected (alone: {alone}), got {found:?}"))
        }
    };
    what.map(|what| format!("{}: {what}", cheat.name))
}

#[test]
fn every_cheat_ends_as_its_file_says_and_none_is_accepted() {
    let cheats = built_in_cheats();
    assert!(cheats.len() >= 50, "{} cheats", cheats.len());
    let codes = cheats.iter().filter(|cheat| matches!(cheat.kind, CheatKind::Code { .. }));
    let attacked: BTreeSet<&str> = codes.map(|cheat| cheat.task.task_id.as_str()).collect();
    assert!(attacked.len() >= 4, "{attacked:?}");
    assert_none(cheats.par_iter().filter_map(fault).collect());
}

#[test]
fn every_rule_of_the_gate_refuses_something_that_no_other_rule_does() {
    let is_alone = |kind: &CheatKind, wanted: &&str| matches!(kind, CheatKind::Artifact { rule, alone: true, .. } if rule == wanted);
    let (cheats, mut missing) = (built_in_cheats(), rules::RULES.to_vec());
    missing.retain(|rule| !cheats.iter().any(|cheat| is_alone(&cheat.kind, rule)));
    // A file with `alone = true` shows what a rule is for; duplicates have a test of their own.
    assert_eq!(missing, [rules::DUPLICATE]);
}

/// A search that could find nothing anywhere would show nothing.
#[test]
fn the_cheats_that_search_would_find_what_they_look_for() {
    let all = built_in_cheats();
    let of = |name: &str| all.iter().find(|cheat| cheat.name == name).expect("a cheat");
    let reader = &of("verifier_reads_the_solution").task;
    let planted = CodeTask { verify: format!("PLANTED = 'find_customer()'\n{}", reader.verify), ..reader.clone() };
    assert_eq!(examined(&gate(), reader).rules, [rules::SOLUTION_REFUSED]);
    assert_eq!(examined(&gate(), &planted).rules, [rules::FAILURE_ACCEPTED, rules::NOTHING_ACCEPTED]);

    let searcher = of("verification_searched");
    let CheatKind::Code { code, .. } = &searcher.kind else { panic!("{searcher:?}") };
    let planted = format!("import sys\nsys.planted = {{'text': 'def verify' + '(before'}}\n{code}");
    assert_eq!(judged(python(), &searcher.task, code).status, Status::WrongAnswer);
    assert_eq!(judged(python(), &searcher.task, &planted).status, Status::Accepted);
}

#[test]
fn a_rule_that_is_off_lets_its_cheat_through() {
    let cheats = built_in_cheats();
    for (gate, name) in [
        (ArtifactGate { distinct_outcomes: false, ..gate() }, "failures_alike"),
        (ArtifactGate { min_calls: 0, ..gate() }, "solution_without_tools"),
        (ArtifactGate { canned_answers: Vec::new(), ..gate() }, "verifier_likes_done"),
        (ArtifactGate { failures: 2, ..gate() }, "failures_missing"),
        (gate(), "failures_far_away"),
    ] {
        let cheat = cheats.iter().find(|cheat| cheat.name == name).expect("a cheat");
        assert_eq!(examined(&gate, &cheat.task).rules, [""; 0], "{name}");
    }
}
