//! What is carried from step to step, saved, and replayed.

use super::*;

#[test]
fn the_start_models_valid_proposals_are_the_supervised_examples() {
    let policy = Script::of(&["good 20", "junk", "bad 21", "good 1"]).policy();
    let mut told = Vec::new();
    let state = table(config()).init_watched(&context(&policy), &mut |one| told.push(one)).unwrap();
    assert!(told.iter().all(|one| one.purpose == "supervised examples" && one.done <= one.total), "{told:?}");
    assert_eq!(state.pool, seeded(0..9).pool);
    assert_eq!(state.sft_examples.len(), 3);
    assert!(state.sft_examples.iter().all(|example| example.proposed));
    let none = config().with(|c| c.shared.sft_samples = 0);
    assert!(table(none).init(&context(&policy)).unwrap().sft_examples.is_empty());
}

/// A state with everything in it: seeds, examples, admitted proposals and solve rates.
fn full_state(steps: u64) -> State {
    let mut state = seeded(0..5);
    state.sft_examples.extend([SftExample::from(&rollout("<PD>", "x")), SftExample::from(&rollout("<PA>", "y"))]);
    for step in 0..steps {
        play(&table(config()), &mut state, 1, step, &Script::fresh(step));
    }
    state
}

fn round_trip(state: &State) -> State {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

#[test]
fn json_gives_the_state_back_exactly_and_refuses_unknown_keys() {
    let state = full_state(3);
    assert!(TaskType::STANDARD.iter().all(|kind| state.pool.of_kind(kind.name()).count() > 5));
    assert_eq!(round_trip(&state), state);
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::to_string(&round_trip(&state)).unwrap(), text);
    assert!(serde_json::from_str::<State>(&text.replacen('{', "{\"x\":1,", 1)).is_err());
}

#[test]
fn a_saved_state_continues_as_the_live_one() {
    let mut live = full_state(2);
    let mut saved = round_trip(&live);
    let next = |state: &mut State| play(&table(config()), state, 1, 2, &Script::fresh(2));
    assert_eq!(next(&mut live), next(&mut saved));
    assert_eq!(live, saved);
}

/// A policy that proposes and then fails.
struct FailsForSolvers(ScriptedPolicy);

impl Policy for FailsForSolvers {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        if prompts.iter().any(|prompt| prompt.role == Role::SOLVER) {
            return Err(PolicyError::Backend("it is gone".to_owned()));
        }
        self.0.generate(prompts, sampling)
    }
}

#[test]
fn of_a_step_that_fails_nothing_stays() {
    let game = table(config());
    let (mut undone, mut played) = (full_state(2), full_state(2));
    let before = undone.clone();
    let failing = FailsForSolvers(Script::fresh(2).policy());
    assert!(game.step_or_undo(&context(&failing), &mut undone, 2).is_err());
    assert_eq!(undone, before);
    let policy = Script::fresh(2).policy();
    game.step_or_undo(&context(&policy), &mut undone, 2).unwrap();
    game.step(&context(&policy), &mut played, 2).unwrap();
    assert_eq!(undone, played);
}

#[test]
fn over_capacity_the_newest_proposals_and_all_seeds_are_kept() {
    let game = table(config().with(|c| c.shared.buffer_capacity = 6));
    let mut state = seeded(0..2);
    state.pool.add_seeds(seeds(1..2));
    for step in 0..5 {
        play(&game, &mut state, 1, step, &Script::fresh(step));
        // Before step 1 nothing is over the capacity.
        let count = |seed: bool| state.pool.of_kind("deduction").filter(|entry| entry.seed == seed).count();
        assert_eq!((count(true), count(false)), (2, if step == 0 { 4 } else { 6 }));
    }
    let steps: Vec<u64> = state.pool.of_kind("deduction").map(|entry| entry.step).collect();
    assert_eq!(steps, [0, 0, 3, 3, 4, 4, 4, 4]);
}

#[test]
fn a_logged_step_is_replayed_with_the_same_verdicts_and_a_changed_one_is_noticed() {
    let (game, policy) = (table(config()), Script::of(&["good 20", "junk", "lost 21", "good 20"]).policy());
    let mut records = game.step(&context(&policy), &mut seeded(0..9), 0).unwrap().records;
    let report = game.replay(&Nobody, &records).unwrap();
    // Three proposals of each type and 48 attempts; one of each type was dropped.
    assert_eq!((report.verdicts, report.same, report.dropped), (9 + 48, 9 + 48, 3));
    for record in &mut records {
        match record {
            LogRecord::Proposal(one) if one.request.task_type == TaskType::Deduction => {
                if let Ok(verdict) = &mut one.judged.verdict {
                    verdict.evidence.rule = "another".to_owned();
                }
            }
            LogRecord::Task(one) if one.index == 0 => one.attempts[1].episode.turns[0].text = "right".to_owned(),
            _ => {}
        }
    }
    let report = game.replay(&Nobody, &records).unwrap();
    assert_eq!((report.verdicts, report.same), (9 + 48, 9 + 48 - 3 - 1));
}
