//! Preference pairs of a step: among the attempts at a task, among proposals, and of answers before attempts.

use veriplay_core::PreferencePair;
use veriplay_selfplay::game::Script as GameScript;
use veriplay_selfplay::settings::LearnFrom;

use super::*;

fn paired(learn_from: LearnFrom) -> AbsoluteZeroConfig {
    config().with(|c| (c.shared.learn_from, c.shared.group_size, c.shared.sft_samples) = (learn_from, 8, 0))
}

/// Three of eight attempts are right, and the wrong ones differ.
fn three_right(_: &Prompt, sample: usize) -> &'static str {
    ["right", "right", "right", "wrong", "b", "c", "d", "e"][sample]
}

/// Tasks whose prompts show a 20 are solved once, the others always.
fn right_on_others(prompt: &Prompt, sample: usize) -> &'static str {
    if sample > 0 && prompt.text().contains("20") { "wrong" } else { "right" }
}

/// A step in which nothing is proposed.
fn attempts(answer: fn(&Prompt, usize) -> &'static str) -> Script {
    Script { answer, ..Script::of(&["junk"; 4]) }
}

fn step(game: &SelfPlay<Table>, seed: u64, script: &Script) -> Output<Table> {
    game.step(&StepContext { seed, ..context(&script.policy()) }, &mut seeded(0..9), 0).unwrap()
}

fn pairs(output: &Output<Table>) -> &[PreferencePair] {
    match output.batches.as_slice() {
        [] => &[],
        [Batch::Preferences(batch)] => &batch.pairs,
        others => panic!("{others:?}"),
    }
}

fn tokens(text: &str) -> Vec<u32> {
    text.bytes().map(u32::from).chain([0]).collect()
}

/// The number of attempts with this advantage.
fn count(output: &Output<Table>, advantage: f64) -> usize {
    let attempts = tasks(&output.records).flat_map(|task| &task.attempts);
    attempts.filter(|one| one.episode.advantage == Some(advantage)).count()
}

#[test]
fn right_attempts_are_chosen_over_wrong_ones_and_none_stands_in_two_pairs() {
    let output = step(&table(paired(LearnFrom::Pairs)), 1, &attempts(three_right));
    let groups: Vec<&[PreferencePair]> = pairs(&output).chunk_by(|a, b| a.prompt == b.prompt).collect();
    assert_eq!(groups.len(), 12);
    for group in groups {
        let rejected: BTreeSet<&[u32]> = group.iter().map(|pair| pair.rejected.as_slice()).collect();
        assert_eq!((group.len(), rejected.len(), rejected.contains(&*tokens("right"))), (3, 3, false));
        for pair in group {
            assert_eq!(pair.chosen, tokens("right"));
            assert_eq!((pair.weight, pair.reference, pair.rewards), (1.0, Some([0.0; 2]), Some([1.0, 0.0])));
            // (3 / 2 + 5) / 8 and 5 / 2 / 8.
            assert_eq!(pair.win, Some([0.8125, 0.3125]));
        }
    }
    assert_eq!([1.0, -1.0, 0.0].map(|advantage| count(&output, advantage)), [36, 36, 24]);
    assert_eq!(output.numbers["preference_pairs"], 36.0);
    assert_eq!(output.batches, step(&table(paired(LearnFrom::Pairs)), 1, &attempts(three_right)).batches);
}

#[test]
fn pairs_are_limited_and_there_are_none_where_all_are_right_or_all_are_wrong() {
    let few = paired(LearnFrom::Pairs).with(|c| c.shared.pairs_per_prompt = 2);
    assert_eq!(pairs(&step(&table(few), 1, &attempts(three_right))).len(), 24);
    let answers: [fn(&Prompt, usize) -> &'static str; 2] = [|_, _| "right", |_, _| "wrong"];
    for answer in answers {
        assert!(pairs(&step(&table(paired(LearnFrom::Pairs)), 1, &attempts(answer))).is_empty());
    }
}

#[test]
fn the_learner_holds_the_reference_where_the_sampler_is_not_the_model() {
    let cold = paired(LearnFrom::Pairs).with(|c| c.shared.solver_temperature = 0.7);
    let output = step(&table(cold.clone()), 1, &attempts(three_right));
    assert!(!pairs(&output).is_empty() && pairs(&output).iter().all(|pair| pair.reference.is_none()));
    let holds = |config: AbsoluteZeroConfig| config.shared.holds_reference();
    assert!(holds(cold.clone()) && holds(paired(LearnFrom::AnswerPairs)) && !holds(paired(LearnFrom::Pairs)));
    assert!(!holds(cold.with(|c| c.shared.learn_from = LearnFrom::Successes)));
}

#[test]
fn valid_proposals_to_one_prompt_are_compared_by_reward() {
    let script = Script { answer: right_on_others, ..Script::of(&["good 20", "junk", "bad 22", "good 21"]) };
    let four = paired(LearnFrom::Pairs).with(|c| c.shared.group_size = 4);
    let output = step(&table(four.clone()), 1, &script);
    let proposed: Vec<_> = pairs(&output).iter().filter(|pair| pair.weight == 0.5).collect();
    // Of deduction and abduction, whose programs the prompts show, a pair of proposals and one of attempts.
    assert_eq!((proposed.len(), pairs(&output).len()), (2, 4));
    for pair in proposed {
        assert_eq!((&pair.chosen, &pair.rejected), (&tokens("good 20"), &tokens("good 21")));
        assert_eq!((pair.rewards, pair.win), (Some([0.75, 0.0]), Some([0.75, 0.25])));
    }
    let frozen = four.with(|c| c.shared.proposer = ProposerMode::Frozen);
    assert_eq!(pairs(&step(&table(frozen), 1, &script)).len(), 2);
}

/// Tells the answer to each task.
struct Answers;

impl GameScript<Table> for Answers {
    fn step(&self, game: &Table, step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
        let attempts = step.solve(tasks)?;
        attempts.tasks().try_for_each(|task| step.imitate_text(task, "its answer", 0.5))
    }
}

#[test]
fn answers_are_chosen_over_wrong_attempts_and_not_imitated() {
    let with_answers = |config| table(config).with_script(Box::new(Answers));
    let output = step(&with_answers(paired(LearnFrom::AnswerPairs)), 1, &attempts(three_right));
    // Four of five wrong attempts at each of twelve tasks.
    assert_eq!((pairs(&output).len(), count(&output, -1.0), count(&output, 0.0)), (48, 48, 48));
    for pair in pairs(&output) {
        assert_eq!(pair.chosen, tokens("its answer"));
        assert_ne!(pair.rejected, tokens("right"));
        assert_eq!((pair.weight, pair.reference, pair.win, pair.rewards), (0.5, None, None, Some([1.0, 0.0])));
    }
    // No solver could have written it.
    let short = paired(LearnFrom::AnswerPairs).with(|c| c.shared.solver_max_tokens = 10);
    assert!(pairs(&step(&with_answers(short), 1, &attempts(three_right))).is_empty());
    let beside = step(&with_answers(paired(LearnFrom::Pairs)), 1, &attempts(three_right));
    let [Batch::Preferences(_), Batch::Samples(batch)] = beside.batches.as_slice() else {
        panic!("{:?}", beside.batches)
    };
    assert!(batch.samples.len() == 12 && batch.samples.iter().all(|sample| sample.imitate && sample.weight == 0.5));
}

#[test]
fn answer_pairs_are_refused_where_the_game_gives_no_answers() {
    let error = table(paired(LearnFrom::AnswerPairs)).check().unwrap_err().to_string();
    assert!(error.starts_with("`game.learn_from` is `answer_pairs`: ") && error.contains("`answer_weight`"), "{error}");
    assert!(table(paired(LearnFrom::Pairs)).check().is_ok());
}
