//! The scripted policy: what it says is a function of the script and of (prompt, seed, i, j).

use std::collections::BTreeSet;

use veriplay_core::{FinishReason, Policy, PolicyError, Prompt, Role, Sampling, ScriptedPolicy, TaskType};

fn prompt(role: Role, task_type: TaskType) -> Prompt {
    Prompt::new(role, "p").with_task_type(task_type)
}

fn sampling(group: usize, seed: u64) -> Sampling {
    Sampling { group, seed, ..Sampling::new(100) }
}

#[test]
fn a_table_answers_by_role_and_type_and_repeats_itself() {
    let solver = (Role::SOLVER, TaskType::Deduction);
    let table = ScriptedPolicy::table([(solver, vec!["right", "wrong", "what?"])]);
    let prompts = [prompt(solver.0, solver.1), prompt(solver.0, solver.1)];
    let groups = table.generate(&prompts, &sampling(20, 7)).unwrap();
    assert_eq!(groups, table.generate(&prompts, &sampling(20, 7)).unwrap());
    assert_ne!(groups, table.generate(&prompts, &sampling(20, 8)).unwrap());
    assert_ne!(groups[0], groups[1], "the place in the call is part of the seed");
    assert_eq!(groups[0][..5], table.generate(&prompts[..1], &sampling(5, 7)).unwrap()[0][..]);
    let said: BTreeSet<&str> = groups.iter().flatten().map(|rollout| rollout.text.as_str()).collect();
    assert_eq!(said, BTreeSet::from(["right", "wrong", "what?"]));
}

#[test]
fn a_prompt_without_an_answer_is_an_error_that_names_it() {
    let table = ScriptedPolicy::table([((Role::SOLVER, TaskType::Deduction), vec!["x"])]);
    let prompts = [prompt(Role::SOLVER, TaskType::Deduction), prompt(Role::PROPOSER, TaskType::Induction)];
    let error = table.generate(&prompts, &sampling(1, 0)).unwrap_err();
    assert!(matches!(&error, PolicyError::Backend(what) if what.contains("prompt 1") && what.contains("proposer")));
}

#[test]
fn a_function_sees_the_turn_and_tokens_are_bytes_up_to_the_limit() {
    let policy = ScriptedPolicy::new(|turn| format!("{}:{}", turn.index, turn.sample));
    let prompts = [prompt(Role::SOLVER, TaskType::Abduction), prompt(Role::SOLVER, TaskType::Abduction)];
    let groups = policy.generate(&prompts, &sampling(2, 0)).unwrap();
    let whole = &groups[1][1];
    assert_eq!((whole.text.as_str(), whole.finish), ("1:1", FinishReason::Stop));
    assert_eq!((&whole.tokens[..], &whole.logprobs[..]), (&[49, 58, 49, 0][..], &[0.0; 4][..]));
    let cut = &policy.generate(&prompts, &Sampling { max_tokens: 2, ..sampling(1, 0) }).unwrap()[0][0];
    assert_eq!((cut.text.as_str(), cut.finish, cut.tokens.len()), ("0:", FinishReason::Length, 2));
}
