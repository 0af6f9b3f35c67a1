//! Generated tasks: what the templates make passes the whole gate, in every environment.

use std::collections::BTreeMap;

use rayon::prelude::*;
use veriplay_core::{CodeTask, Status};
use veriplay_corpus::environments::built_in_environment_names;
use veriplay_corpus::{GeneratedTask, Split, TaskGenerator};
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::complete_with_failures;
use veriplay_verifier::on_all_cores;

use super::{environment, examined, gate, judged, remembered};

fn compact_proposal(draft: &GeneratedTask) -> CompactProposal {
    let change = |(line, text): &(usize, String)| LineChange { line: *line, text: text.clone() };
    let (instruction, solution) = (draft.instruction.clone(), draft.solution.clone());
    CompactProposal { instruction, solution, wrong: draft.changes.iter().map(change).collect() }
}

/// What comes of drafts of the environment `name`.
fn completed(name: &str, tasks: &[CodeTask]) -> Vec<Option<CodeTask>> {
    on_all_cores(tasks, |task| complete_with_failures(remembered(), &gate(), environment(name), task).unwrap())
}

#[test]
fn a_generated_task_passes_the_gate_and_half_of_the_drafts_make_one_at_least() {
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts = Split::ALL.into_iter().flat_map(|split| generator.tasks(split, 3).take(8).collect::<Vec<_>>());
        let tasks: Vec<CodeTask> = drafts.map(|draft| compact_proposal(&draft).task(&draft.solution, name)).collect();
        let whole: Vec<CodeTask> = completed(name, &tasks).into_iter().flatten().collect();
        assert!(2 * whole.len() >= tasks.len(), "{name}: {} of {}", whole.len(), tasks.len());
        whole.par_iter().for_each(|task| {
            let verdict = examined(&gate(), task).verdict;
            assert_eq!(verdict.status, Status::Valid, "{task:?}\n{:?}", verdict.evidence);
        });
        whole.par_iter().take(4).for_each(|task| {
            assert_eq!(judged(remembered(), task, &task.solution).status, Status::Accepted, "{task:?}");
            assert_ne!(judged(remembered(), task, &task.failures[0]).status, Status::Accepted, "{task:?}");
        });
    }
}

#[test]
fn something_comes_of_nearly_every_template_in_a_small_sample() {
    for name in built_in_environment_names() {
        let generator = TaskGenerator::by_name(&[name]).unwrap();
        let drafts: Vec<GeneratedTask> = generator.tasks(Split::Train, 5).take(120).collect();
        let tasks: Vec<CodeTask> = drafts.iter().map(|draft| compact_proposal(draft).task("", name)).collect();
        let mut works: BTreeMap<&str, bool> = BTreeMap::new();
        for (draft, whole) in drafts.iter().zip(completed(name, &tasks)) {
            draft.parts.iter().for_each(|part| *works.entry(part).or_default() |= whole.is_some());
        }
        let broken: Vec<&&str> = works.iter().filter(|(_, works)| !**works).map(|(name, _)| name).collect();
        assert!(broken.len() <= 2 && works.len() > 15, "{name}: nothing comes of {broken:?}");
    }
}
