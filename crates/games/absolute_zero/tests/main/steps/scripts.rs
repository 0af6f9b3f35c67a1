//! Scripts of one's own: stages that are played twice, other roles and policies, rewards that the script gives, and what follows an update.

use std::rc::Rc;

use serde_json::json;
use veriplay_core::{
    LearnError, Policy, PolicyError, PreferenceBatch, Prompt, Reward, Role, Rollout, Sampling, ScriptedPolicy,
    Snapshot, TrainBatch, Update,
};
use veriplay_selfplay::after_update::{AfterUpdate, UpdatedPolicy};
use veriplay_selfplay::curricula::{Curriculum, CurriculumContext, CurriculumTask, DrawnTask};
use veriplay_selfplay::driver::StepUpdate;
use veriplay_selfplay::environment::SolverEpisode;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::game::{Game, Script as GameScript};
use veriplay_selfplay::memory::Memory;
use veriplay_selfplay::methods::Method;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::records::EpisodeRecord;
use veriplay_selfplay::replay::LogCheck;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::settings::RoleSettings;
use veriplay_selfplay::step::{Player, Step};

use super::*;

/// Each of its stages twice: fresh tasks, then fresh tasks of a writer.
struct Twice;

const WRITER: Role = Role::new("writer");

impl GameScript<Table> for Twice {
    fn step(&self, game: &Table, step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        for role in [Role::PROPOSER, WRITER] {
            step.propose_as(Player::learner(role), |proposing| game.proposers(proposing))?;
            let tasks = step.draw(|choice| {
                let mut fresh = choice.fresh(|_| true);
                let own = fresh.split_off(fresh.len() - 12);
                choice.take(own, 2);
            })?;
            step.admit();
            step.solve(tasks)?;
        }
        step.fact("played_twice", 1.0);
        Ok(())
    }
}

/// Good proposals that differ by the draw of the sampling; of the first task of a call one attempt in four is right, of the second two are.
fn by_draw() -> ScriptedPolicy {
    ScriptedPolicy::new(|turn| match turn.prompt.role {
        Role::PROPOSER => format!("good {}", 1_000 + turn.draw() % 1_000_000),
        _ if turn.sample <= turn.index % 3 => "right".to_owned(),
        _ => "wrong".to_owned(),
    })
}

#[test]
fn a_stage_that_is_played_again_has_seeds_and_numbers_of_its_own_and_its_role_a_weight() {
    let writer = RoleSettings { weight: Some(3.0), ..RoleSettings::default() };
    let config = config().with(|c| c.shared.roles = [("writer".to_owned(), writer)].into());
    let game = table(config).with_script(Box::new(Twice));
    let output = game.step(&context(&by_draw()), &mut seeded(0..9), 0).unwrap();
    assert_eq!(output.numbers, [("played_twice".to_owned(), 1.0)].into());
    let mut check = LogCheck::default();
    output.records.iter().for_each(|record| check.check(record).unwrap());
    let mut proposed = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for one in proposals(&output.records) {
        assert!(proposed.insert((one.proposed.chunk, one.proposed.offset)), "{:?} twice", one.proposed);
        assert!(texts.insert(&one.episode.turns[0].text), "the same draw twice");
    }
    assert_eq!((proposed.len(), tasks(&output.records).count()), (24, 4));
    let again = game.replay(&Nobody, &output.records).unwrap();
    assert_eq!((again.verdicts, again.same), (24 + 16, 24 + 16));
    // Both have two tasks of different rates, one deviation apart: half of the proposer's counts, and three times the writer's.
    let weights: BTreeSet<u32> = samples(&output).iter().map(|sample| sample.weight.abs().to_bits()).collect();
    assert!([0.5_f32, 3.0].iter().all(|weight| weights.contains(&weight.to_bits())), "{weights:?}");
}

/// A script from a closure.
struct Scripted<F>(F);

impl<F: Fn(&Table, &mut Step<'_, Table>) -> Result<(), PlayError> + Send + Sync> GameScript<Table> for Scripted<F> {
    fn step(&self, game: &Table, step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        (self.0)(game, step)
    }
}

fn scripted(
    script: impl Fn(&Table, &mut Step<'_, Table>) -> Result<(), PlayError> + Send + Sync + 'static,
) -> SelfPlay<Table> {
    table(config().with(|c| c.shared.sft_samples = 0)).with_script(Box::new(Scripted(script)))
}

const fn solution(index: usize) -> Response {
    Response { part: Part::Solution, index }
}

#[test]
fn a_script_rewards_turns_and_episodes_itself_and_leaves_others_out() {
    let game = scripted(|game, step| {
        let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
        step.solve(tasks)?;
        step.reward_turns(solution(0), vec![5.0])?;
        step.reward(solution(1), Reward::single("own", -2.0))?;
        for index in 2..step.facts().solutions.len() {
            step.leave_out(solution(index))?;
        }
        step.note(solution(0), EpisodeNotes { cluster: Some(7), ..EpisodeNotes::default() })
    });
    let output = game.step(&context(&Script::fresh(0).policy()), &mut seeded(0..9), 0).unwrap();
    let attempts: Vec<_> = tasks(&output.records).flat_map(|task| &task.attempts).collect();
    let rewards: Vec<Option<f64>> = attempts.iter().map(|one| one.episode.reward.as_ref().map(Reward::total)).collect();
    assert_eq!(rewards[..3], [Some(5.0), Some(-2.0), None]);
    assert_eq!(rewards.iter().flatten().count(), 2);
    // One deviation above the mean of both, and one below.
    let [turn] = attempts[0].episode.turn_rewards.as_slice() else { panic!("{:?}", attempts[0]) };
    assert_eq!((turn.reward, turn.advantage, turn.weight), (5.0, 1.0, 1.0));
    assert_eq!(samples(&output).iter().map(|sample| sample.weight).collect::<Vec<_>>(), [1.0, -1.0]);
}

/// Weights and wider clips of the samples of a step whose script notes its first attempt.
fn noted(advantage: &str) -> Vec<(f32, f32)> {
    let config = config().with(|c| (c.shared.sft_samples, c.shared.advantage) = (0, Some(advantage.to_owned())));
    let game = table(config).with_script(Box::new(Scripted(|game: &Table, step: &mut Step<'_, Table>| {
        let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
        step.solve(tasks)?;
        step.note(solution(0), EpisodeNotes { trust: Some(0.3), ..EpisodeNotes::default() })
    })));
    let output = game.step(&context(&Script::fresh(0).policy()), &mut seeded(0..9), 0).unwrap();
    samples(&output).iter().map(|sample| (sample.weight, sample.wider_clip)).collect()
}

#[test]
fn notes_of_the_script_come_before_those_of_the_game_which_are_made_where_they_are_read() {
    assert!(noted("grpo").iter().all(|(weight, clip)| (weight.abs(), *clip) == (1.0, 0.0)));
    let adpo = noted("adpo");
    assert_eq!(adpo[0], (0.6, 0.1));
    assert!(adpo[1..].iter().all(|(weight, clip)| (weight.abs(), *clip) == (0.76, 0.06)), "{adpo:?}");
}

#[test]
fn what_an_attempt_is_noted_as() {
    let program = |text: &str| note_attempt(&Attempt::Program(text.to_owned())).cluster;
    assert_eq!(program("def f(x):\n    return x + 1"), program("def f(y): return y + 1  # the next"));
    assert_ne!(program("def f(x):\n    return x + 1"), program("def f(x):\n    return x + 2"));
    let value = |number| note_attempt(&Attempt::Value(Value::int(number))).cluster;
    assert!(value(1).is_some() && value(1) == value(1) && value(1) != value(2));
    assert_ne!(value(1), note_attempt(&Attempt::Arguments(vec![Value::int(1)])).cluster);
    let proposed = note_attempt(&Attempt::Proposal(proposal(TaskType::Deduction, 3)));
    assert_eq!((proposed.cluster, proposed.class), (None, Some(1)));
    assert_eq!(note_attempt(&malformed()), EpisodeNotes::default());
}

#[test]
fn a_deferred_reward_is_learned_in_a_later_step_even_of_a_resumed_run() {
    let game = scripted(|game, step| {
        let rewards: Vec<Reward> = (0..12).map(|place| Reward::single("gain", f64::from(place))).collect();
        let released = step.reward_deferred("lessons", Role::PROPOSER, &rewards)?;
        assert_eq!(released, if step.number() == 0 { 0 } else { 12 });
        let seen = step.deferred("seen").and_then(serde_json::Value::as_u64).unwrap_or_default();
        step.defer("seen", json!(seen + 1));
        if step.number() == 0 {
            let proposals = step.propose(|proposing| game.proposers(proposing))?;
            let proposals: Vec<Response> = proposals.map(|index| Response { part: Part::Proposal, index }).collect();
            step.defer_episodes("lessons", &proposals)?;
        }
        Ok(())
    });
    let mut state = seeded(0..9);
    let first = game.step(&context(&by_draw()), &mut state, 0).unwrap();
    assert!(first.batches.is_empty(), "nothing is known yet");
    let proposed: BTreeSet<&Vec<u32>> = proposals(&first.records).map(|one| &one.episode.turns[0].tokens).collect();
    let saved = serde_json::to_string(&state).unwrap();
    let mut state: State = serde_json::from_str(&saved).unwrap();
    assert_eq!(serde_json::to_string(&state).unwrap(), saved);
    let second = game.step(&context(&by_draw()), &mut state, 1).unwrap();
    let learned: BTreeSet<&Vec<u32>> = samples(&second).iter().map(|sample| &sample.response).collect();
    assert!(!learned.is_empty() && learned.is_subset(&proposed), "{learned:?}");
    assert!(samples(&second).iter().all(|sample| sample.behaviour.is_some()));
    assert_eq!(state.deferred["seen"], json!(2));
    assert!(!state.deferred.contains_key("lessons"));
}

/// A policy with a rival beside it.
struct WithRival(ScriptedPolicy);

impl Policy for WithRival {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        self.0.generate(prompts, sampling)
    }

    fn others(&self) -> Vec<String> {
        vec!["start".to_owned()]
    }

    fn other(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        match name {
            "start" => Ok(Rc::new(ScriptedPolicy::new(|_| "wrong".to_owned()))),
            _ => Err(PolicyError::Unknown { name: name.to_owned(), known: self.others() }),
        }
    }
}

#[test]
fn another_policy_plays_a_stage_and_one_that_is_not_there_is_named() {
    let policy = WithRival(ScriptedPolicy::new(|_| "right".to_owned()));
    let played_by = |name: &'static str| {
        let game = scripted(move |game, step| {
            assert_eq!(step.other_policies(), ["start"]);
            let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
            step.solve_as(Player { role: Role::SOLVER, policy: name }, tasks)?;
            Ok(())
        });
        game.step(&context(&policy), &mut seeded(0..9), 0)
    };
    let learner = played_by(Player::LEARNER).unwrap();
    assert!(learner.counts.accepted > 0);
    // What another policy writes is logged under its name, counts nowhere and is not learned from.
    let rival = played_by("start").unwrap();
    assert_eq!((rival.counts.attempts, rival.batches.len()), (0, 0));
    for one in tasks(&rival.records).flat_map(|task| &task.attempts) {
        assert!(one.episode.policy.as_deref() == Some("start") && one.episode.reward.is_none(), "{one:?}");
    }
    let error = played_by("step-7").err().unwrap().to_string();
    assert_eq!(error, "there is no policy `step-7`: there are `start`");
}

/// A learner that answers as often rightly as it has been updated.
#[derive(Default)]
struct Counting(u64);

impl Policy for Counting {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let right = self.0;
        let script =
            ScriptedPolicy::new(move |turn| if (turn.sample as u64) < right { "right" } else { "wrong" }.to_owned());
        script.generate(prompts, sampling)
    }
}

impl veriplay_core::Learn for Counting {
    fn update(&mut self, _: &TrainBatch, _: f64) -> Result<Update, LearnError> {
        self.0 += 1;
        let policy = veriplay_core::PolicyVersion(self.0);
        Ok(Update { policy, loss: 0.0, entropy: 0.0, gradient_norm: 0.0, tokens: 0, metrics: BTreeMap::new() })
    }

    fn prefer(&mut self, _: &PreferenceBatch, _: f64) -> Result<Update, LearnError> {
        Err(LearnError::BadBatch("no pairs".to_owned()))
    }

    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        Ok(Snapshot::new(self.0))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError> {
        self.0 = *snapshot.state()?;
        Ok(())
    }
}

/// Tries an update, measures what it brings, and undoes it.
struct Trying;

impl GameScript<Table> for Trying {
    fn step(&self, game: &Table, step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        game.step(step)
    }

    fn after_update(&self, _: &Table, after: &mut AfterUpdate<'_, Table>) -> Result<(), PlayError> {
        let tasks = [task(TaskType::Deduction, 3), task(TaskType::Abduction, 4)];
        let before = after.measure(&tasks)?;
        let snapshot = after.snapshot()?;
        after.train(&TrainBatch { samples: Vec::new(), normalizer: 1.0 }, after.learning_rate())?;
        let tried = after.measure(&tasks)?;
        after.restore(&snapshot)?;
        let solved = |counts: &[Option<SolveCount>]| counts.iter().flatten().map(|count| count.solved).sum::<u32>();
        let gain = solved(&tried) - solved(&before);
        after.fact("gain", f64::from(gain));
        after.defer("gain", json!(gain));
        assert_eq!(after.measure(&tasks)?, before);
        Ok(())
    }
}

const fn update(policy: UpdatedPolicy<'_>) -> StepUpdate<'_> {
    StepUpdate { policy, execute: &Nobody, seed: 1, step: 0, learning_rate: 0.1 }
}

#[test]
fn behind_an_update_a_script_tries_others_and_undoes_them_and_not_where_the_weights_are_elsewhere() {
    let game = table(config()).with_script(Box::new(Trying));
    let mut state = seeded(0..9);
    let mut learner = Counting(1);
    let numbers = game.after_update(update(UpdatedPolicy::Learner(&mut learner)), &mut state).unwrap();
    assert_eq!((numbers["gain"], learner.0, &state.deferred["gain"]), (2.0, 1, &json!(2)));
    let sampled = Counting(1);
    let error = game.after_update(update(UpdatedPolicy::Sampled(&sampled)), &mut state).unwrap_err();
    assert!(error.to_string().contains("outside this process"), "{error}");
}

/// Prefers the kind that was solved least.
struct Least;

impl Curriculum for Least {
    fn name(&self) -> &'static str {
        "least"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        Ok(tasks.iter().map(|task| 1.0 - context.memory.get(task.kind).unwrap_or(0.5)).collect())
    }

    fn note(&self, _: u64, drawn: &[DrawnTask], memory: &mut Memory) {
        for one in drawn {
            let rate = one.solved.rate().unwrap_or_default();
            memory.set(one.kind, 0.5 * (memory.get(one.kind).unwrap_or(0.5) + rate));
        }
    }
}

#[test]
fn a_curriculum_remembers_what_came_of_what_was_drawn_and_a_checkpoint_keeps_it() {
    let mut game = table(config());
    game.methods.curriculum = Method::Own(Box::new(Least));
    let mut state = seeded(0..9);
    let script = Script { answer: |_, _| "right", ..Script::fresh(0) };
    play(&game, &mut state, 1, 0, &script);
    let rates = TaskType::STANDARD.map(|task_type| state.curriculum.get(task_type.name()).unwrap());
    assert!(rates.iter().all(|rate| *rate > 0.9), "{rates:?}");
    let saved: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(saved, state);
}

#[test]
fn an_alarm_is_raised_once_while_entropy_is_low() {
    let game = table(config());
    let mut state = seeded(0..9);
    let mut alarms = |step: u64, entropy: f64| {
        let numbers = [("actor/entropy".to_owned(), entropy)].into();
        game.watch(&mut state, step, &numbers).into_iter().map(|alarm| alarm.what).collect::<Vec<_>>()
    };
    for step in 0..12 {
        assert_eq!(alarms(step, 1.0), [""; 0]);
    }
    assert_eq!(alarms(12, 0.31), [""; 0]);
    assert_eq!(alarms(13, 0.25).len(), 1);
    assert_eq!(alarms(14, 0.2), [""; 0]);
    assert_eq!(alarms(15, 0.9), [""; 0]);
    assert!(alarms(16, 0.1)[0].contains("0.100"));
}

/// How many samples a step has where these parts are frozen, in a state that was saved.
fn learned_samples(frozen: &[Part]) -> usize {
    let state = State { frozen: frozen.iter().copied().collect(), ..seeded(0..9) };
    let mut saved: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(saved, state);
    play(&table(config()), &mut saved, 1, 0, &Script::of(&["good 20", "junk", "bad 21", "good 1"])).samples().len()
}

#[test]
fn nothing_is_learned_of_a_part_that_an_alarm_has_frozen() {
    let (both, neither) = (learned_samples(&[]), learned_samples(&[Part::Proposal, Part::Solution]));
    let (solver, proposer) = (learned_samples(&[Part::Proposal]), learned_samples(&[Part::Solution]));
    assert!(neither < solver && neither < proposer, "{neither}, {solver}, {proposer}");
    assert_eq!(both + neither, solver + proposer);
}

/// The error of a step whose script does this after its attempts.
fn refused(act: impl Fn(&mut Step<'_, Table>) -> Result<(), PlayError> + Send + Sync + 'static) -> String {
    let game = scripted(move |game, step| {
        let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
        step.solve(tasks)?;
        act(step)
    });
    let played = game.step(&context(&Script::fresh(0).policy()), &mut seeded(0..9), 0);
    played.err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn what_a_script_asks_wrongly_is_an_error_that_says_so() {
    assert_eq!(refused(|_| Ok(())), "");
    assert!(refused(|step| step.reward(solution(999), Reward::single("own", 1.0))).contains("names response 999"));
    assert!(refused(|step| step.leave_out(solution(999))).contains("names response 999"));
    assert!(refused(|step| step.reward(solution(0), Reward::single("own", f64::NAN))).contains("finite"));
    assert!(refused(|step| step.reward_turns(solution(0), vec![f64::INFINITY])).contains("finite"));
    let trust = EpisodeNotes { trust: Some(f64::NAN), ..EpisodeNotes::default() };
    assert!(refused(move |step| step.note(solution(0), trust)).contains("finite"));
    assert!(refused(|step| step.reward_turns(solution(0), vec![1.0, 2.0])).contains("1 turns"));
    assert!(refused(|step| step.reward_turns(solution(0), Vec::new())).contains("0 rewards"));
    assert!(refused(|step| step.weigh(Role::SOLVER, -1.0)).contains("0 or more"));
    fn twice(step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        step.defer_episodes("one", &[solution(0)])?;
        step.defer_episodes("one", &[solution(1)])
    }
    assert!(refused(twice).contains("deferred already"));
    fn too_few(step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        step.defer_episodes("one", &[solution(0), solution(1)])?;
        step.reward_deferred("one", Role::SOLVER, &[Reward::single("own", 1.0)]).map(drop)
    }
    assert!(refused(too_few).contains("has 2 episodes, and there are 1 rewards"));
    fn other(step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        step.defer_episodes("one", &[solution(0)])?;
        step.reward_deferred("one", Role::PROPOSER, &[Reward::single("own", 1.0)]).map(drop)
    }
    assert!(refused(other).contains("not of the role `proposer`"));
    fn verified(step: &mut Step<'_, Table>) -> Result<(), PlayError> {
        let tasks = step.draw(|_| ())?;
        let attempts = step.solve(tasks)?;
        step.verify(attempts, Vec::new())
    }
    assert!(refused(verified).contains("the game has no verifiers"));
}

#[test]
fn tasks_that_no_draw_has_taken_stay_new_and_none_is_taken_twice() {
    let game = scripted(|game, step| {
        step.propose(|proposing| game.proposers(proposing))?;
        let first = step.draw(|choice| {
            let fresh = choice.fresh(|_| true);
            assert_eq!(choice.take(fresh, 3), 3);
            let again = choice.fresh(|_| true);
            assert_eq!(choice.take(again, 0), 0);
        })?;
        step.admit();
        let rest = step.draw(|choice| {
            let fresh = choice.fresh(|_| true);
            let taken = choice.take(fresh, usize::MAX);
            assert_eq!(taken, 9);
            // Behind `admit` they are of the pool, too: none is asked twice.
            let pool = choice.entries(|entry| !entry.seed);
            let pool = choice.by_curriculum(pool);
            assert_eq!(choice.take(pool, usize::MAX), 3);
        })?;
        step.solve(first)?;
        step.solve(rest)?;
        Ok(())
    });
    let output = game.step(&context(&by_draw()), &mut seeded(0..9), 0).unwrap();
    assert_eq!(tasks(&output.records).count(), 15);
}

#[test]
fn a_task_that_is_asked_again_is_rewarded_by_all_attempts_and_one_may_be_asked_otherwise() {
    let game = scripted(|game, step| {
        let proposals = step.propose(|proposing| game.proposers(proposing))?;
        let tasks = step.draw(|choice| {
            let fresh = choice.fresh(|_| true);
            choice.take(fresh, 1);
        })?;
        let first = step.solve(tasks.clone())?;
        let second = step.solve(tasks.in_groups_of(4))?;
        let counts = [step.rates(&first), step.rates(&second)];
        assert_eq!(counts.map(|one| (one[0].solved, one[0].judged)), [(1, 4), (1, 4)]);
        assert_eq!(step.responses(&second).len(), 4);
        let posed = SingleTurn::new(Prompt::new(Role::SOLVER, "once more"));
        let posed = step.pose(vec![(0, posed)])?.in_groups_of(1);
        step.solve(posed)?;
        assert_eq!(
            step.facts().solutions.last().map(|one| one.finished.turns[0].0.text().into_owned()),
            Some("once more".to_owned())
        );
        assert!(step.pose(vec![(9, SingleTurn::new(Prompt::new(Role::SOLVER, "x")))]).is_err());
        step.imitate(solution(0), 0.5)?;
        step.imitate_text(0, "its answer", 0.25)?;
        assert!(step.imitate_text(0, "its answer", f64::NAN).is_err());
        step.weigh(Role::SOLVER, 0.0)?;
        assert!(!proposals.is_empty());
        Ok(())
    });
    let output = game.step(&context(&by_draw()), &mut seeded(0..9), 0).unwrap();
    let reward = proposals(&output.records).find_map(|one| one.episode.reward.as_ref().map(Reward::total));
    assert_eq!(reward, Some(0.75));
    // Solvers weigh nothing in this step but where one is imitated.
    let (imitated, learned): (Vec<_>, Vec<_>) = samples(&output).iter().partition(|sample| sample.imitate);
    let imitated = imitated.iter().map(|sample| (sample.weight, sample.response.len())).collect::<Vec<_>>();
    assert_eq!(imitated, [(0.5, "right".len() + 1), (0.25, "its answer".len() + 1)]);
    assert!(learned.iter().all(|sample| sample.response.len() > 6), "a solver's response is learned: {learned:?}");
}

#[test]
fn a_copy_of_a_refused_proposal_is_refused_in_a_later_call_too() {
    let game = scripted(|game, step| {
        step.propose(|proposing| game.proposers(proposing))?;
        step.propose(|proposing| game.proposers(proposing))?;
        Ok(())
    });
    let output = game.step(&context(&ScriptedPolicy::new(|_| "bad 700".to_owned())), &mut seeded(0..9), 0).unwrap();
    for one in proposals(&output.records) {
        assert_eq!(one.episode.reward.as_ref().map(Reward::total), Some(-0.5), "{one:?}");
    }
}

#[test]
fn the_control_shuffles_the_rewards_of_turns_too() {
    let config = config().with(|c| {
        c.shared.sft_samples = 0;
        c.shared.reward = Some("random".to_owned());
    });
    let game = table(config).with_script(Box::new(Scripted(|game: &Table, step: &mut Step<'_, Table>| {
        let tasks = step.draw(|choice| game.game.choose_tasks(choice))?;
        let attempts = step.solve(tasks)?;
        let is_right = |one: &SolverEpisode<Table>| one.finished.last().is_some_and(|last| last.text == "right");
        let rewards = step.responses(&attempts).into_iter().map(|(response, one)| (response, is_right(one)));
        let rewards: Vec<(Response, bool)> = rewards.collect();
        rewards.into_iter().try_for_each(|(one, right)| step.reward_turns(one, vec![f64::from(u8::from(right))]))
    })));
    let output = game.step(&context(&Script::fresh(0).policy()), &mut seeded(0..9), 0).unwrap();
    let mut attempts = tasks(&output.records).flat_map(|task| &task.attempts).map(|one| &one.episode);
    let follows = |one: &EpisodeRecord| (one.turn_rewards[0].reward > 0.5) == (one.turns[0].text == "right");
    assert!(!attempts.all(follows), "all rewards still follow the verdicts");
}
