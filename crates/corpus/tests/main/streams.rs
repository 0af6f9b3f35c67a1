//! Streams of generated programs and proposals.

use std::collections::HashSet;

use proptest::prelude::*;
use veriplay_core::{Proposal, TaskType, content_hash};
use veriplay_corpus::{Grammar, ProgramStream, ProposalStream, Split};

fn held_out(grammar: &Grammar, seed: u64, task_type: TaskType, inputs: usize) -> ProposalStream<'_> {
    ProposalStream::new(grammar, Split::HeldOut, "natural", seed, task_type, inputs).unwrap()
}

fn validation(grammar: &Grammar, seed: u64, task_type: TaskType, inputs: usize) -> ProposalStream<'_> {
    ProposalStream::new(grammar, Split::Validation, "natural", seed, task_type, inputs).unwrap()
}

fn warmup(grammar: &Grammar, seed: u64) -> ProgramStream<'_> {
    ProgramStream::new(grammar, Split::Train, "warmup", seed).unwrap()
}

#[test]
fn drafts_are_distinct_of_the_asked_type_and_inside_their_split() {
    let grammar = Grammar::built_in();
    for task_type in TaskType::STANDARD {
        let drafts: Vec<Proposal> = held_out(&grammar, 1, task_type, 6).take(300).collect();
        assert_eq!(drafts.len(), 300);
        assert!(drafts.iter().all(|draft| draft.task_type() == task_type));
        assert!(drafts.iter().all(|draft| grammar.split_of(draft.program()) == Split::HeldOut));
        assert_eq!(drafts.iter().map(content_hash).collect::<HashSet<_>>().len(), 300);
    }
}

#[test]
fn an_induction_draft_has_as_many_distinct_inputs_as_asked() {
    let grammar = Grammar::built_in();
    for draft in validation(&grammar, 4, TaskType::Induction, 10).take(50) {
        let Proposal::Inputs { inputs, message, .. } = draft else { panic!("not an induction draft") };
        assert_eq!(inputs.len(), 10);
        assert_eq!(inputs.iter().map(content_hash).collect::<HashSet<_>>().len(), 10);
        assert!(message.is_empty());
    }
}

#[test]
fn warm_up_repeats_one_statement_programs_and_never_sees_four() {
    let grammar = Grammar::built_in();
    let programs: Vec<_> = warmup(&grammar, 2).take(3000).collect();
    let one: Vec<_> = programs.iter().filter(|generated| generated.family == "one").collect();
    let distinct: HashSet<&str> = one.iter().map(|generated| generated.program.as_str()).collect();
    assert!(one.len() > 1200 && distinct.len() < one.len() / 2, "{} of {}", distinct.len(), one.len());
    assert!(programs.iter().all(|generated| generated.family != "four"));
    assert!(programs.iter().all(|generated| grammar.split_of(&generated.program) == Split::Train));
}

#[test]
fn an_unknown_mix_is_refused_before_the_first_draft() {
    let grammar = Grammar::built_in();
    assert!(ProposalStream::new(&grammar, Split::Train, "nature", 0, TaskType::Deduction, 1).is_err());
}

#[test]
fn a_stream_of_few_programs_ends_instead_of_hanging() {
    let text = include_str!("../../../../task-corpus/tiny/grammar.toml");
    // Nothing is held out: the stream is empty.
    let text = text.replace("held_out = 0.08", "held_out = 0.0").replace("held_out = 0.06", "held_out = 0.0");
    let grammar = Grammar::parse(&text).unwrap();
    assert_eq!(held_out(&grammar, 1, TaskType::Deduction, 1).count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_stream_depends_on_its_seed_and_type_alone(seed: u64, at in 0..3_usize) {
        let grammar = Grammar::built_in();
        let task_type = TaskType::STANDARD[at];
        let take = |seed| held_out(&grammar, seed, task_type, 6).take(20).collect::<Vec<_>>();
        prop_assert_eq!(take(seed), take(seed));
        prop_assert_ne!(take(seed), take(seed.wrapping_add(1)));
        let other = TaskType::STANDARD[(at + 1) % 3];
        let others: Vec<Proposal> = held_out(&grammar, seed, other, 6).take(20).collect();
        let programs = |drafts: &[Proposal]| drafts.iter().map(|draft| draft.program().to_owned()).collect::<Vec<_>>();
        prop_assert_ne!(programs(&take(seed)), programs(&others));
    }

    #[test]
    fn sets_of_different_splits_share_no_program(first: u64, second: u64) {
        let grammar = Grammar::built_in();
        let held: HashSet<String> = held_out(&grammar, first, TaskType::Deduction, 1)
            .take(120).map(|draft| draft.program().to_owned()).collect();
        let tuned: HashSet<String> = validation(&grammar, second, TaskType::Abduction, 1)
            .take(120).map(|draft| draft.program().to_owned()).collect();
        let trained: HashSet<String> = warmup(&grammar, second).take(300).map(|made| made.program).collect();
        prop_assert!(held.is_disjoint(&tuned) && held.is_disjoint(&trained) && tuned.is_disjoint(&trained));
    }
}
