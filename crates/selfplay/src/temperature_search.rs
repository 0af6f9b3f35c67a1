//! `temperature_search`: chooses the temperature of solvers by how many different right answers it gives, as B-STaR does (arXiv 2412.17256).
//!
//! # One round
//! A round has `every` steps. In the first `measured_steps` of them, the attempts at task i of step t are sampled at temperature (i + t) mod m of
//! the m that are listed. What came of them is the temperatures' score, and the best one samples the other steps of the round. Nothing is
//! sampled for the search alone: what it measures is rewarded, learned from and logged as all attempts are.
//!
//! # Score
//! min(d / N, 1) · d / n, as a mean over a temperature's tasks: n attempts at the task were judged, d is the number of right ones that differ in
//! their texts, N is `right_answers`. The first factor falls where attempts are alike, the second where they are wrong. Of equal scores the first
//! one is the best. If all are 0, the choice before stays; at first that is `solver_temperature`.
//!
//! # What it is not
//! The paper also searches for the number of samples and for a threshold of the reward, on tasks apart from those that it learns from. Here the
//! temperatures have different tasks: few measured steps of few tasks choose by chance. Where a task has one right text, d is 1 at most, and the
//! score is in proportion to the share of tasks that anyone solved.
//!
//! # Example
//! Of 4 attempts 3 are right, two of them with the same text, and N is 4: min(2 / 4, 1) · 2 / 4 = 0.25.

use std::collections::{BTreeMap, BTreeSet};

use crate::environment::Environment;
use crate::facts::StepFacts;
use crate::judgement::is_decided;
use crate::memory::Memory;
use crate::metrics::is_right;
use crate::settings::{SharedSettings, TemperatureSearch};
use crate::statistics::mean_over;

/// Names the temperature that was chosen last.
const CHOSEN: &str = "chosen";

/// The factors of the score of the attempts at a task.
struct TaskFactors {
    /// The task, by its place among the step's.
    task: usize,
    /// min(d / N, 1): whether there are enough different right ones.
    diversity: f64,
    /// d / n: how many of all they are.
    correct_share: f64,
}

/// Scores the temperatures that a step tried, and chooses one in the last step of a round that tries them. The step's numbers say what came of it.
pub(crate) fn note<E: Environment>(
    settings: &SharedSettings,
    step: u64,
    facts: &mut StepFacts<E>,
    memory: &mut Memory,
) {
    let Some(search) = &settings.temperature_search else { return };
    let factors = search.factors(settings, facts);
    if search.measures(step) {
        search.add_scores(step, &factors, memory);
    }
    if step % search.every == search.measured_steps - 1 {
        facts.numbers.extend(search.choose(memory));
    }
    let chosen = memory.get(CHOSEN).unwrap_or_else(|| f64::from(settings.solver_temperature));
    let numbers = [
        ("search_temperature", Some(chosen)),
        ("search_diversity", mean_over(&factors, |one| one.diversity)),
        ("search_correct_share", mean_over(&factors, |one| one.correct_share)),
    ];
    facts.numbers.extend(numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?))));
}

/// Names the sum of a temperature's scores, and the number of its tasks.
fn sums(temperature: f64) -> [String; 2] {
    ["score", "tasks"].map(|what| format!("{what}/{temperature:?}"))
}

impl TemperatureSearch {
    /// Whether a step tries all temperatures.
    const fn measures(&self, step: u64) -> bool {
        step % self.every < self.measured_steps
    }

    /// The place of the temperature that a step tries at a task.
    fn place(&self, step: u64, task: usize) -> usize {
        ((task as u64 + step) % self.temperatures.len() as u64) as usize
    }

    /// The temperature of the attempts at a task of a step; `None` for that of the settings.
    pub(crate) fn temperature(&self, step: u64, task: usize, memory: &Memory) -> Option<f64> {
        if self.measures(step) { Some(self.temperatures[self.place(step, task)]) } else { memory.get(CHOSEN) }
    }

    /// The factors of every task of which an attempt was judged.
    fn factors<E: Environment>(&self, settings: &SharedSettings, facts: &StepFacts<E>) -> Vec<TaskFactors> {
        let mut groups: BTreeMap<usize, (u32, BTreeSet<Vec<&str>>)> = BTreeMap::new();
        for one in facts.solutions.iter().filter(|one| settings.search_of(one.role, one.policy.as_ref()).is_some()) {
            let task = one.finished.source;
            let verdict = one.judged.verdict.as_ref().ok().filter(|_| is_decided(&facts.rounds, task));
            let Some(verdict) = verdict else { continue };
            let (judged, right) = groups.entry(task).or_default();
            *judged += 1;
            if is_right(verdict.status) {
                right.insert(one.finished.turns.iter().map(|(_, rollout)| rollout.text.as_str()).collect());
            }
        }
        let enough = f64::from(self.right_answers);
        let factors = groups.into_iter().map(|(task, (judged, right))| {
            let right = right.len() as f64;
            TaskFactors { task, diversity: (right / enough).min(1.0), correct_share: right / f64::from(judged) }
        });
        factors.collect()
    }

    /// Adds what a step that tries all temperatures says of each, to what the steps of the round before it said.
    fn add_scores(&self, step: u64, factors: &[TaskFactors], memory: &mut Memory) {
        for (place, temperature) in self.temperatures.iter().enumerate() {
            let [score, tasks] = sums(*temperature);
            if step.is_multiple_of(self.every) {
                memory.set(&score, 0.0);
                memory.set(&tasks, 0.0);
            }
            for one in factors.iter().filter(|one| self.place(step, one.task) == place) {
                memory.add(&score, one.diversity * one.correct_share);
                memory.add(&tasks, 1.0);
            }
        }
    }

    /// Chooses the temperature of the highest mean score, if one is above 0. Returns the mean scores, as numbers of the step.
    fn choose(&self, memory: &mut Memory) -> Vec<(String, f64)> {
        let (mut best, mut scores) = (0.0, Vec::new());
        for temperature in &self.temperatures {
            let [score, tasks] = sums(*temperature).map(|name| memory.get(&name).unwrap_or_default());
            if tasks == 0.0 {
                continue;
            }
            let mean = score / tasks;
            if mean > best {
                best = mean;
                memory.set(CHOSEN, *temperature);
            }
            scores.push((format!("search_score/{temperature:?}"), mean));
        }
        scores
    }
}
