//! Generated tasks of the environments: what the split promises, and that everything can be spelled.

use std::collections::{BTreeMap, BTreeSet};

use veriplay_corpus::environments::built_in_environment_names;
use veriplay_corpus::{GeneratedTask, Novelty, Split, TaskGenerator};

fn generator() -> TaskGenerator {
    TaskGenerator::by_name(&built_in_environment_names()).expect("all templates are read")
}

fn tasks(split: Split, count: usize) -> Vec<GeneratedTask> {
    generator().tasks(split, 7).take(count).collect()
}

#[test]
fn every_environment_has_templates_and_an_unknown_one_is_an_error() {
    let seen: BTreeSet<String> = tasks(Split::Train, 200).into_iter().map(|task| task.environment).collect();
    assert_eq!(seen, built_in_environment_names().into_iter().map(str::to_owned).collect());
    let refused = TaskGenerator::by_name(&["casino"]).expect_err("there is none").to_string();
    assert!(refused.contains("`casino`") && refused.contains("`orders`"), "{refused}");
    assert!(TaskGenerator::by_name::<&str>(&[]).is_err());
}

#[test]
fn a_seed_gives_the_same_tasks_and_another_one_others() {
    let by = |seed| generator().tasks(Split::Train, seed).take(50).collect::<Vec<_>>();
    assert_eq!(by(1), by(1));
    assert_ne!(by(1), by(2));
}

#[test]
fn there_are_thousands_of_tasks_and_no_solution_twice() {
    let all = tasks(Split::Train, 6_000);
    let solutions: BTreeSet<(&str, &str)> = all.iter().map(|task| (&*task.environment, &*task.solution)).collect();
    assert_eq!((all.len(), solutions.len()), (6_000, 6_000));
}

#[test]
fn sets_share_no_solution_and_held_out_combinations_are_nowhere_else() {
    let key = |task: &GeneratedTask| (task.environment.clone(), task.solution.clone());
    let combination = |task: &GeneratedTask| (task.environment.clone(), task.parts.clone());
    let (train, validation, held) =
        (tasks(Split::Train, 4_000), tasks(Split::Validation, 1_000), tasks(Split::HeldOut, 1_000));
    let trained: BTreeSet<_> = train.iter().map(key).collect();
    let combined: BTreeSet<_> = train.iter().map(combination).collect();
    for task in validation.iter().chain(&held) {
        assert!(!trained.contains(&key(task)) && task.parts.len() > 1, "{task:?}");
        let combined_anew = task.split().1 == Novelty::Combination;
        assert!(!(combined_anew && combined.contains(&combination(task))), "{task:?}");
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    held.iter().for_each(|task| *kinds.entry(task.split().1.name()).or_default() += 1);
    assert!(kinds.values().all(|count| *count > 100) && kinds.len() == 2, "{kinds:?}");
}

#[test]
fn words_and_codes_are_made_of_pieces_and_changes_name_a_line() {
    let generator = generator();
    let pieces: BTreeSet<String> = generator.fragments().into_iter().chain(generator.phrases()).collect();
    assert!(pieces.iter().all(|piece| piece.len() > 1 && piece.is_ascii()), "{pieces:?}");
    for task in tasks(Split::Train, 500) {
        assert!(task.instruction.is_ascii() && task.instruction.len() < 200, "{task:?}");
        let lines = task.solution.lines().count();
        assert!((1..=9).contains(&lines), "{task:?}");
        assert!(task.changes.iter().all(|(line, _)| (1..=lines).contains(line)), "{task:?}");
        assert!(!task.instruction.contains('<') && !task.solution.contains("<placed>"), "{task:?}");
        let single = task.parts.len() == 1;
        assert!(task.changes.len() >= 3 || single, "{task:?}");
    }
}
