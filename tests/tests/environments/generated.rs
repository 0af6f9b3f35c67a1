//! Generated tasks: what the templates make passes the whole gate, in every environment.

use std::collections::BTreeMap;

use rayon::prelude::*;
use veriplay_core::{CodeTask, Status};
use veriplay_corpus::environments::built_in_environment_names;
use veriplay_corpus::{GeneratedTask, Split, TaskGenerator};
use veriplay_sandbox::OutcomeCache;
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::{ArtifactRequest, CompleteRequest, complete_with_failures, judge_artifacts};

use super::{environment, gate, judged, python};

fn compact_proposal(draft: &GeneratedTask) -> CompactProposal {
    let change = |(line, text): &(usize, String)| LineChange { line: *line, text: text.clone() };
    let (instruction, solution) = (draft.instruction.clone(), draft.solution.clone());
    CompactProposal { instruction, solution, wrong: draft.changes.iter().map(change).collect() }
}

#[test]
fn a_generated_task_passes_the_gate_and_half_of_the_drafts_make_one_at_least() {
    let memo = OutcomeCache::new(python(), 100_000);
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts = Split::ALL.into_iter().flat_map(|split| generator.tasks(split, 3).take(8).collect::<Vec<_>>());
        let tasks: Vec<CodeTask> = drafts.map(|draft| compact_proposal(&draft).task(&draft.solution, name)).collect();
        let requests: Vec<CompleteRequest<'_>> =
            tasks.iter().map(|task| CompleteRequest { environment: environment(name), task }).collect();
        let whole = complete_with_failures(&memo, &gate(), &requests).into_iter().map(Result::unwrap);
        let whole: Vec<CodeTask> = whole.flatten().collect();
        assert!(2 * whole.len() >= tasks.len(), "{name}: {} of {}", whole.len(), tasks.len());
        let requests: Vec<ArtifactRequest<'_>> =
            whole.iter().map(|task| ArtifactRequest { environment: environment(name), task, known: false }).collect();
        for (verdict, task) in judge_artifacts(&memo, &gate(), &requests).into_iter().zip(&whole) {
            let verdict = verdict.unwrap();
            assert_eq!(verdict.status, Status::Valid, "{task:?}\n{:?}", verdict.evidence);
        }
        whole.par_iter().take(4).for_each(|task| {
            assert_eq!(judged(&memo, task, &task.solution).status, Status::Accepted, "{task:?}");
            assert_ne!(judged(&memo, task, &task.failures[0]).status, Status::Accepted, "{task:?}");
        });
    }
}

#[test]
fn something_comes_of_nearly_every_template_in_a_small_sample() {
    let memo = OutcomeCache::new(python(), 100_000);
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts: Vec<GeneratedTask> = generator.tasks(Split::Train, 5).take(120).collect();
        let tasks: Vec<CodeTask> = drafts.iter().map(|draft| compact_proposal(draft).task("", name)).collect();
        let requests: Vec<CompleteRequest<'_>> =
            tasks.iter().map(|task| CompleteRequest { environment: environment(name), task }).collect();
        let mut works: BTreeMap<&str, bool> = BTreeMap::new();
        for (draft, whole) in drafts.iter().zip(complete_with_failures(&memo, &gate(), &requests)) {
            let whole = whole.unwrap().is_some();
            draft.parts.iter().for_each(|part| *works.entry(part).or_default() |= whole);
        }
        let broken: Vec<&&str> = works.iter().filter(|(_, works)| !**works).map(|(name, _)| name).collect();
        assert!(broken.len() <= 2 && works.len() > 15, "{name}: nothing comes of {broken:?}");
    }
}
