//! Curricula that learn, on simulated arms: a task of an arm is solved with the arm's probability, and no weights are trained.

use rand::Rng;
use veriplay_core::Digest;
use veriplay_selfplay::curricula::{
    Bots, CURRICULA, Curriculum, CurriculumContext, CurriculumTask, DrawnTask, TaskContent, by_name,
};
use veriplay_selfplay::memory::Memory;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::statistics::{mean, mean_over};
use veriplay_selfplay::task_pool::Source;

const KIND: &str = "simulated";

/// A task that is nothing but a class.
struct Classed(u64);

impl TaskContent for Classed {
    fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(self.0.into())
    }

    fn class(&self) -> u64 {
        self.0
    }
}

fn drawn(id: &Digest, class: u64, solved: SolveCount, mean_advantage: f64) -> DrawnTask {
    DrawnTask { id: id.clone(), kind: KIND, class, source: Source::Pool, is_proposed: true, solved, mean_advantage }
}

/// A pool of arms of the same size, and what the curriculum remembers of it.
struct Arms<'a> {
    curriculum: &'a dyn Curriculum,
    seed: u64,
    tasks: Vec<(Digest, Classed)>,
    memory: Memory,
}

impl<'a> Arms<'a> {
    fn new(curriculum: &'a dyn Curriculum, seed: u64, arms: u64, size: u64) -> Self {
        let task = |index: u64| (Digest::of(&index.to_le_bytes()), Classed(index / size));
        Self { curriculum, seed, tasks: (0..arms * size).map(task).collect(), memory: Memory::default() }
    }

    fn weights(&self, step: u64) -> Vec<f64> {
        let context = CurriculumContext { step, seed: self.seed, learnable_weight: 1.0, memory: &self.memory };
        let tasks = self.tasks.iter().map(|(id, content)| {
            let source = Source::Pool;
            CurriculumTask { id, kind: KIND, source, step: 0, last: None, content }
        });
        self.curriculum.weights(&context, &tasks.collect::<Vec<_>>()).unwrap()
    }

    /// The weight of an arm, of all.
    fn share(&self, step: u64, arm: u64) -> f64 {
        let weights = self.weights(step);
        let of_arm = weights.iter().zip(&self.tasks).filter(|(_, (_, class))| class.0 == arm);
        of_arm.map(|(weight, _)| weight).sum::<f64>() / weights.iter().sum::<f64>()
    }

    /// Draws `groups` tasks, solves each `rollouts` times and notes what came of it, as `grpo` has it.
    fn step(&mut self, step: u64, rates: &[f64], [groups, rollouts]: [u32; 2]) -> Vec<DrawnTask> {
        let mut random = generator(self.seed, step, "simulation");
        let weighted = self.tasks.iter().zip(self.weights(step)).collect();
        let chosen = weighted_sample(weighted, groups as usize, &mut random);
        let solved = chosen.into_iter().map(|(id, class)| {
            let mut count = SolveCount::default();
            (0..rollouts).for_each(|_| count.add(random.random::<f64>() < rates[class.0 as usize]));
            let rate = count.rate().unwrap_or_default();
            drawn(id, class.0, count, 2.0 * (rate * (1.0 - rate)).sqrt())
        });
        let drawn: Vec<DrawnTask> = solved.collect();
        self.curriculum.note(step, &drawn, &mut self.memory);
        drawn
    }
}

/// Four arms of 100 tasks for 30 steps of 32 groups: the shares of the arms over steps 10 to 29, that of mixed groups over all, and the mean
/// weight of the third arm before the draws of steps 10 to 29.
fn play_four(name: &str, seed: u64, rollouts: u32) -> ([f64; 4], f64, f64) {
    let mut arms = Arms::new(by_name(name).unwrap(), seed, 4, 100);
    let (mut steps, mut weights) = (Vec::new(), Vec::new());
    for step in 0..30 {
        weights.push(arms.share(step, 2));
        steps.push(arms.step(step, &[0.0, 0.02, 0.5, 0.98], [32, rollouts]));
    }
    let late: Vec<&DrawnTask> = steps[10..].iter().flatten().collect();
    let share = |arm: u64| mean_over(&late, |one| f64::from(u8::from(one.class == arm))).unwrap();
    let mixed = mean_over(steps.iter().flatten(), |one| f64::from(u8::from(one.solved.is_learnable()))).unwrap();
    ([0, 1, 2, 3].map(share), mixed, mean(&weights[10..]).unwrap())
}

#[test]
fn what_can_be_learned_is_drawn_more_often() {
    // Curriculum and rollouts of a group; ranges of the learnable arm's share, of every other one's, and of mixed groups.
    let cases = [
        ("sec", 8, [0.88, 0.93], [0.02, 0.04], [0.88, 0.93]),
        ("uniform", 8, [0.23, 0.27], [0.23, 0.27], [0.30, 0.34]),
        ("bots", 16, [0.61, 0.70], [0.10, 0.13], [0.60, 0.75]),
        ("ucb", 8, [0.19, 0.23], [0.06, 0.38], [0.26, 0.30]),
    ];
    let within = |number: f64, [least, most]: [f64; 2]| least <= number && number <= most;
    for (name, rollouts, learnable, other, mixed) in cases {
        let played: Vec<_> = (0..10).map(|seed| play_four(name, seed, rollouts)).collect();
        let share = |arm: usize| mean_over(&played, |one| one.0[arm]).unwrap();
        let shares = [0, 1, 2, 3].map(share);
        let mixed_share = mean_over(&played, |one| one.1).unwrap();
        let found = format!("{name}: {shares:.3?}, mixed {mixed_share:.3}");
        assert!(within(shares[2], learnable) && within(mixed_share, mixed), "{found}");
        assert!([0, 1, 3].into_iter().all(|arm| within(shares[arm], other)), "{found}");
    }
    let weights: Vec<f64> = (0..50).map(|seed| play_four("sec", seed, 8).2).collect();
    assert!(weights.iter().all(|weight| *weight > 0.90), "{weights:.3?}");
    assert!(within(mean(&weights).unwrap(), [0.915, 0.925]), "{weights:.3?}");
}

/// What `bots` takes for the solve rate of the arm that is solved at 0.98 for 100 steps, and at 0.5 for 20 more.
fn changed_rate(bots: &Bots, seed: u64) -> f64 {
    let mut arms = Arms::new(bots, seed, 2, 8);
    for step in 0..120 {
        arms.step(step, &[0.02, if step < 100 { 0.98 } else { 0.5 }], [8, 16]);
    }
    let Arms { tasks, memory, .. } = &arms;
    let rates = tasks[8..].iter().map(|(id, _)| {
        let [solved, failed] = ["solved", "failed"].map(|what| memory.get(&format!("{id}/{what}")).unwrap_or(1.0));
        solved / (solved + failed)
    });
    mean(&rates.collect::<Vec<_>>()).unwrap()
}

#[test]
fn bots_forgets_what_has_changed() {
    for (forgetting, [least, most]) in [(0.1, [0.51, 0.59]), (0.0, [0.83, 0.87])] {
        let rate = mean_over(0..20, |seed| changed_rate(&Bots { forgetting }, seed)).unwrap();
        assert!(least <= rate && rate <= most, "{forgetting}: {rate}");
    }
}

/// The progress of an arm of which 64 rollouts are judged in each of 20 steps.
fn progress(seed: u64, rate: fn(u64) -> f64) -> f64 {
    let mut arms = Arms::new(by_name("alp").unwrap(), seed, 1, 8);
    (0..20).for_each(|step| drop(arms.step(step, &[rate(step)], [8, 8])));
    arms.memory.get(&format!("{KIND}/0/progress")).unwrap()
}

#[test]
fn alp_scores_an_arm_that_rises_and_not_one_of_coin_flips() {
    let flat: Vec<f64> = (0..50).map(|seed| progress(seed, |_| 0.5)).collect();
    let rising: Vec<f64> = (0..50).map(|seed| progress(seed, |step| 0.2 + 0.6 * step as f64 / 19.0)).collect();
    assert!(mean(&flat).unwrap() < 0.08 && flat.iter().filter(|score| **score < 0.08).count() >= 45, "{flat:?}");
    assert!(mean(&rising).unwrap() > 0.11 && rising.iter().filter(|score| **score > 0.11).count() >= 40, "{rising:?}");
}

#[test]
fn scores_are_those_of_the_examples() {
    let count = |solved| SolveCount { solved, judged: 8 };
    let ids = ["a", "b"].map(|text| Digest::of(text.as_bytes()));
    // 8 tasks of either arm: of the first nothing is solved and the mean |advantage| is 1, of the second all and 0.
    let step: Vec<DrawnTask> = (0..16)
        .map(|index| match index % 2 {
            0 => drawn(&ids[0], 0, count(0), 1.0),
            _ => drawn(&ids[1], 1, count(8), 0.0),
        })
        .collect();
    // Curriculum and steps; the share of the first arm.
    for (name, steps, share) in
        [("uniform", 1, 0.5), ("sec", 1, 0.944), ("sec", 0, 0.5), ("ucb", 1, 0.783), ("ucb", 0, 0.5), ("alp", 30, 0.5)]
    {
        let mut arms = Arms::new(by_name(name).unwrap(), 0, 2, 3);
        (0..steps).for_each(|index| arms.curriculum.note(index, &step, &mut arms.memory));
        assert!((arms.share(1, 0) - share).abs() < 5e-4, "{name}: {}", arms.share(1, 0));
    }
    let mut memory = Memory::default();
    Bots::DEFAULT.note(0, &[drawn(&ids[0], 0, SolveCount { solved: 4, judged: 16 }, 0.0)], &mut memory);
    let counts = |memory: &Memory| ["solved", "failed"].map(|what| memory.get(&format!("{}/{what}", ids[0])));
    assert_eq!(counts(&memory), [Some(5.0), Some(13.0)]);
    (1..80).for_each(|step| Bots::DEFAULT.note(step, &[], &mut memory));
    assert!(memory.is_empty(), "{memory:?}");
}

#[test]
fn every_curriculum_weighs_any_pool_and_goes_on_where_it_was_saved() {
    let odd = |judged, advantage| drawn(&Digest::of(b"odd"), 7, SolveCount { solved: 0, judged }, advantage);
    for curriculum in CURRICULA {
        let name = curriculum.name();
        let mut arms = Arms::new(*curriculum, 3, 2, 4);
        assert_eq!(Arms::new(*curriculum, 3, 0, 1).weights(0), [0.0; 0], "{name}");
        let before = arms.memory.clone();
        curriculum.note(0, &[odd(0, 1.0)], &mut arms.memory);
        assert_eq!(arms.memory, before, "{name}");
        curriculum.note(0, &[odd(8, f64::NAN), odd(8, f64::INFINITY)], &mut arms.memory);
        for step in 0..24 {
            arms.step(step, &[0.5, 0.9], [4, 16]);
            assert!(arms.weights(step).iter().all(|weight| weight.is_finite() && *weight >= 0.0), "{name}");
        }
        let saved = serde_json::to_string(&arms.memory).unwrap();
        let mut resumed = Arms::new(*curriculum, 3, 2, 4);
        resumed.memory = serde_json::from_str(&saved).unwrap();
        for step in 24..30 {
            let steps = [&mut arms, &mut resumed].map(|one| one.step(step, &[0.5, 0.9], [4, 16]));
            assert_eq!(steps[0], steps[1], "{name}");
        }
        assert_eq!(serde_json::to_string(&arms.memory).unwrap(), serde_json::to_string(&resumed.memory).unwrap());
        // One arm, and a pool whose weights are all 0.
        assert!(Arms::new(*curriculum, 3, 1, 4).weights(0).iter().all(|weight| *weight > 0.0), "{name}");
    }
    assert_eq!(weighted_sample(vec![(1, 0.0), (2, 0.0)], 1, &mut generator(0, 0, "zeros")).len(), 1);
}
