//! Credit beside the outcome's: advantages of tokens, from what the reference in the prompt adds to their log-probabilities, and rewards for values
//! on the way to the answer.

use veriplay_selfplay::settings::LearnFrom;

use super::*;

/// Every token of a right answer is likelier behind the reference and of a wrong one less likely, more so the later it stands.
struct Scores {
    script: ScriptedPolicy,
    /// Whether prompts that show the reference have room.
    has_room: bool,
}

impl Policy for Scores {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.script.generate(prompts, sampling)
    }

    fn has_room(&self, prompt: &Prompt, _max_tokens: usize) -> bool {
        self.has_room || !prompt.text().starts_with("<R>")
    }

    fn score_responses(&self, prompts: &[Prompt], responses: &[&[u32]]) -> Result<Vec<Vec<f32>>, PolicyError> {
        assert!(!prompts.is_empty() && prompts.len() == responses.len());
        let scores = prompts.iter().zip(responses).map(|(prompt, response)| {
            let gain = match (prompt.text().starts_with("<R>"), response[0] == u32::from(b'r')) {
                (false, _) => 0.0,
                (true, true) => 0.5,
                (true, false) => -0.25,
            };
            (1..=response.len()).map(|place| place as f32 * (gain - 2.0)).collect()
        });
        Ok(scores.collect())
    }
}

/// A step in which nothing is proposed, with this coefficient.
fn credited(credit: f64, script: &Script, has_room: bool) -> Output<Table> {
    let game = table(config().with(|c| {
        (c.shared.privileged_credit, c.shared.solver_weight, c.shared.sft_samples) = (credit, 2.0, 0);
        c.shared.zero_advantage = ZeroAdvantage::Keep;
    }));
    let policy = Scores { script: script.policy(), has_room };
    game.step(&context(&policy), &mut seeded(0..9), 0).unwrap()
}

fn solvers(output: &Output<Table>) -> impl Iterator<Item = &Sample> {
    samples(output).iter().filter(|sample| sample.role == Some(Role::SOLVER))
}

#[test]
fn each_token_gets_a_share_of_what_the_reference_adds_to_its_log_probability() {
    let output = credited(0.1, &Script::of(&["junk"; 4]), true);
    for sample in solvers(&output) {
        // Times the weight of the role, as the advantage is.
        let (weight, want) = match sample.response[0] == u32::from(b'r') {
            true => (2.0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
            false => (-2.0, [-0.05, -0.1, -0.15, -0.2, -0.25, -0.3]),
        };
        let found = sample.token_advantages.as_deref().unwrap();
        assert!(found.iter().zip(want).all(|(found, want)| (f64::from(*found) - want).abs() < 1e-6), "{found:?}");
        assert_eq!((sample.weight, found.len()), (weight, want.len()));
    }
    assert_eq!(solvers(&output).count(), 4 * 12);
    assert!((output.numbers["privileged_gain"] - 0.4375).abs() < 1e-9, "{:?}", output.numbers);
}

#[test]
fn nothing_is_scored_where_no_outcome_has_an_advantage_the_prompt_has_no_room_or_the_coefficient_is_0() {
    let (mixed, right) = (Script::of(&["junk"; 4]), Script { answer: |_, _| "right", ..Script::of(&["junk"; 4]) });
    for (credit, script, has_room) in [(0.0, &mixed, true), (0.1, &right, true), (0.1, &mixed, false)] {
        let output = credited(credit, script, has_room);
        assert_eq!(solvers(&output).filter(|sample| sample.token_advantages.is_none()).count(), 4 * 12);
        assert!(!output.numbers.contains_key("privileged_gain"));
    }
}

#[test]
fn a_policy_that_scores_nothing_ends_the_step() {
    let game = table(config().with(|c| (c.shared.privileged_credit, c.shared.sft_samples) = (0.1, 0)));
    let error = game.step(&context(&Script::fresh(0).policy()), &mut seeded(0..9), 0).unwrap_err();
    assert!(error.to_string().contains("log-probabilities of given responses"), "{error}");
}

/// The rewards of the attempts at tasks of a type, and the step.
fn rewarded(credit: f64, task_type: TaskType) -> (Vec<f64>, Output<Table>) {
    let game = table(config().with(|c| (c.shared.waypoint_credit, c.shared.sft_samples) = (credit, 0)));
    let script = Script { answer: |_, sample| ["right", "wrong", "none"][sample % 3], ..Script::of(&["junk"; 4]) };
    let output = game.step(&context(&script.policy()), &mut seeded(0..9), 0).unwrap();
    let of_type = tasks(&output.records).filter(|task| task.task.kind() == task_type.name());
    let rewards = of_type.flat_map(|task| &task.attempts).map(|one| one.episode.reward.as_ref().unwrap().total());
    (rewards.collect(), output)
}

#[test]
fn a_wrong_answer_gets_a_share_of_the_waypoints_that_it_shows_and_others_get_what_they_got() {
    // One of three; what was malformed gets nothing.
    let (deduction, output) = rewarded(0.3, TaskType::Deduction);
    assert_eq!(deduction.len(), 4 * 4);
    for (found, want) in deduction.iter().zip([1.0, 0.1, 0.0, 1.0].into_iter().cycle()) {
        assert!((found - want).abs() < 1e-9, "{deduction:?}");
    }
    // Two of four are right, as without credit: rates are of verdicts.
    assert!(tasks(&output.records).all(|task| task.attempts.len() == 4) && output.counts.accepted == 2 * 12);
    let plain = rewarded(0.0, TaskType::Deduction).0;
    assert!(plain.iter().zip([1.0, 0.0, 0.0, 1.0].iter().cycle()).all(|(found, want)| found == want), "{plain:?}");
    assert_eq!(rewarded(0.3, TaskType::Abduction).0, rewarded(0.0, TaskType::Abduction).0);
}

/// What is said of the coefficients beside these settings.
fn checked(credits: [f64; 2], learn_from: LearnFrom, solver_weight: f64) -> Result<(), String> {
    let config = config().with(|c| {
        [c.shared.privileged_credit, c.shared.waypoint_credit] = credits;
        (c.shared.learn_from, c.shared.solver_weight) = (learn_from, solver_weight);
    });
    config.check().map_err(|error| error.to_string())
}

#[test]
fn credit_is_refused_where_it_would_be_alone() {
    for (credits, key) in [([0.1, 0.0], "privileged_credit"), ([0.0, 0.1], "waypoint_credit")] {
        assert_eq!(checked(credits, LearnFrom::Advantages, 1.0), Ok(()));
        let cases = [
            (LearnFrom::Successes, 1.0, "`learn_from"),
            (LearnFrom::Pairs, 1.0, "never alone"),
            (LearnFrom::Advantages, 0.0, "`solver_weight`"),
        ];
        for (learn_from, weight, want) in cases {
            let error = checked(credits, learn_from, weight).unwrap_err();
            assert!(error.starts_with(&format!("`{key}` is `0.1`: use `0`, or ")) && error.contains(want), "{error}");
        }
    }
}

#[test]
fn waypoints_need_a_task_type_that_has_traces() {
    let config = config().with(|c| (c.shared.waypoint_credit, c.own.task_types) = (0.1, vec![TaskType::Induction]));
    let error = config.check().unwrap_err();
    assert_eq!((error.key.as_str(), error.allowed.contains("`deduction`")), ("waypoint_credit", true));
}
