//! Measuring the policy on problems whose truth is known.

use serde::{Deserialize, Serialize};
use veriplay_core::{
    CallChecks, Checks, Comparison, Dropped, Execute, Problem, Role, Rollout, Sampling, Status, Verdict,
};
use veriplay_verifier::agreement::{Examination, Quality, Suite, examine};
use veriplay_verifier::{ProblemRequest, judge_programs};

use super::{Arena, HeldCandidate, HeldProblem, PlayError, SolVer};
use crate::metrics::{SolveCount, mean_pass_at_k};
use crate::play::HeldOut;
use crate::randomness::derive_seed;
use crate::statistics::share;

/// A held-out measurement, as fractions of 1. Each row is pass@1 of the sampling policy, greedy, pass@8.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolVerHeld {
    /// Codes that pass the hidden cases.
    pub code: [f64; 3],
    /// Suites that the reference passes: test accuracy.
    pub tests: [f64; 3],
    /// Over the sampled suites that the reference passes, and the sampled codes of their problem that fail the hidden cases: the
    /// share that is accepted. `None` where there is no such pair.
    pub false_positive_rate: Option<f64>,
    /// Over the same suites, and the mutants of the reference: the share that is killed.
    pub mutation_score: Option<f64>,
}

impl HeldOut for SolVerHeld {
    fn rows(&self) -> Vec<(String, [f64; 3])> {
        vec![("code".to_owned(), self.code), ("tests".to_owned(), self.tests)]
    }

    fn mean(&self) -> [f64; 3] {
        std::array::from_fn(|place| (self.code[place] + self.tests[place]) / 2.0)
    }
}

/// Samples of every problem, and its greedy response.
struct Drawn {
    sampled: Vec<Vec<Rollout>>,
    greedy: Vec<Rollout>,
}

/// What the suites of one problem are worth: the sampled ones, then the greedy one. `None` for one that could not be read.
type Suites = Vec<Option<Quality>>;

impl SolVer {
    /// Every reference must pass its own hidden cases.
    pub(super) fn check_held(&self, execute: &dyn Execute) -> Result<(), PlayError> {
        let references: Vec<Vec<&str>> = self.held.iter().map(|problem| vec![problem.reference.as_str()]).collect();
        for (problem, verdicts) in self.held.iter().zip(self.judge_hidden(execute, &references)?) {
            if let Some(verdict) = verdicts.iter().find(|verdict| verdict.status != Status::Accepted) {
                let (text, status, detail) = (&problem.text, verdict.status, &verdict.evidence.detail);
                let why = format!("the reference of the held-out problem `{text}` is {status:?} ({detail}): repair it");
                return Err(PlayError::Setup(why));
            }
        }
        Ok(())
    }

    pub(super) fn measure_held(&self, arena: &Arena<'_>) -> Result<SolVerHeld, PlayError> {
        let prompts = self.held.iter().map(|problem| self.solver_prompt(&problem.text)).collect::<Vec<_>>();
        let codes = self.draw(arena, Role::Solver, &prompts)?;
        let programs = self.held_programs(&codes);
        let texts: Vec<Vec<&str>> =
            programs.iter().map(|list| list.iter().flatten().map(String::as_str).collect()).collect();
        let verdicts = self.judge_hidden(arena.execute, &texts)?;
        let right: Vec<Vec<bool>> =
            programs.iter().zip(&verdicts).map(|(programs, verdicts)| right(programs, verdicts)).collect();
        let shown = |(problem, greedy): (&HeldProblem, &Rollout)| match self.config.held_candidate {
            HeldCandidate::Reference => self.verifier_prompt(&problem.text, &problem.reference),
            HeldCandidate::Own => {
                let own = self.read_program(greedy).unwrap_or_else(|_| greedy.text.clone());
                self.verifier_prompt(&problem.text, &own)
            }
        };
        let prompts = self.held.iter().zip(&codes.greedy).map(shown).collect::<Vec<_>>();
        let suites = self.draw(arena, Role::Verifier, &prompts)?;
        let qualities = self.qualities(arena.execute, &suites, &programs, &right)?;
        let accurate: Vec<Vec<bool>> = qualities.iter().map(|list| list.iter().map(is_accurate).collect()).collect();
        let sampled = || qualities.iter().flat_map(|list| &list[..list.len() - 1]).flatten();
        let sum = |part: fn(&Quality) -> u32| {
            sampled().filter(|one| one.is_accepted()).map(|one| part(one) as usize).sum::<usize>()
        };
        let wrong = sum(|one| one.wrong);
        Ok(SolVerHeld {
            code: row(&right)?,
            tests: row(&accurate)?,
            false_positive_rate: share(wrong - sum(|one| one.rejected), wrong),
            mutation_score: share(sum(|one| one.mutants_killed), sum(|one| one.mutants)),
        })
    }

    fn draw(&self, arena: &Arena<'_>, role: Role, prompts: &[veriplay_core::Prompt]) -> Result<Drawn, PlayError> {
        let of_game = self.sampling(role, self.config.held_samples, arena.seed, 0);
        let seed = derive_seed(of_game.seed, 0, "held");
        let sampled = Sampling { temperature: 1.0, seed, ..of_game };
        let greedy = Sampling { temperature: 0.0, group: 1, ..sampled.clone() };
        let sampled = arena.policy.generate(prompts, &sampled)?;
        Ok(Drawn { sampled, greedy: arena.policy.generate(prompts, &greedy)?.into_iter().flatten().collect() })
    }

    /// The programs of each problem: the sampled ones, then the greedy one.
    fn held_programs(&self, drawn: &Drawn) -> Vec<Vec<Option<String>>> {
        let read = |rollout: &Rollout| self.read_program(rollout).ok();
        drawn
            .sampled
            .iter()
            .zip(&drawn.greedy)
            .map(|(sampled, greedy)| sampled.iter().chain([greedy]).map(read).collect())
            .collect()
    }

    /// Judges programs of each held-out problem by its hidden cases.
    fn judge_hidden(&self, execute: &dyn Execute, programs: &[Vec<&str>]) -> Result<Vec<Vec<Verdict>>, PlayError> {
        let problems: Vec<Problem> = self.held.iter().map(hidden_problem).collect();
        let request = |(problem, program)| ProblemRequest {
            problem,
            program,
            image: &self.rules.image,
            limits: self.rules.limits,
            seed: self.rules.seeds[0],
            early_stop: false,
        };
        let pairs =
            problems.iter().zip(programs).flat_map(|(problem, list)| list.iter().map(move |text| (problem, *text)));
        let requests: Vec<ProblemRequest<'_>> = pairs.map(request).collect();
        let mut verdicts = judge_programs(execute, &requests).into_iter();
        let of_problem = |list: &Vec<&str>| verdicts.by_ref().take(list.len()).collect::<Result<Vec<_>, Dropped>>();
        Ok(programs.iter().map(of_problem).collect::<Result<Vec<_>, Dropped>>()?)
    }

    fn qualities(
        &self,
        execute: &dyn Execute,
        suites: &Drawn,
        programs: &[Vec<Option<String>>],
        right: &[Vec<bool>],
    ) -> Result<Vec<Suites>, PlayError> {
        let read = |rollout: &Rollout| self.read_suite(rollout).ok();
        let drawn = suites.sampled.iter().zip(&suites.greedy);
        let read: Vec<Vec<Option<Suite>>> =
            drawn.map(|(sampled, greedy)| sampled.iter().chain([greedy]).map(read).collect()).collect();
        let wrong = |place: usize| -> Vec<&str> {
            let sampled = programs[place].iter().zip(&right[place]).take(self.config.held_samples);
            sampled.filter(|(_, right)| !**right).filter_map(|(text, _)| text.as_deref()).collect()
        };
        let requests = self.held.iter().zip(&read).enumerate().map(|(place, (problem, read))| Examination {
            right: &problem.reference,
            suites: read.iter().flatten().collect(),
            wrong: wrong(place),
        });
        let found = examine(execute, &self.rules, &requests.collect::<Vec<_>>());
        let of_problem = |(read, found): (&Vec<Option<Suite>>, Result<Vec<Quality>, Dropped>)| {
            let mut found = found?.into_iter();
            Ok(read.iter().map(|suite| suite.as_ref().and_then(|_| found.next())).collect())
        };
        read.iter().zip(found).map(of_problem).collect()
    }
}

fn hidden_problem(problem: &HeldProblem) -> Problem {
    let (function, cases, comparison) = ("f".to_owned(), problem.hidden.clone(), Comparison::by("exact"));
    Problem {
        task_id: problem.text.clone(),
        prelude: String::new(),
        prompt: String::new(),
        checks: Checks::Calls(CallChecks { function, cases, fresh: false, comparison }),
        limits: None,
    }
}

/// Which responses are right, by the verdicts on those that could be read.
fn right(programs: &[Option<String>], verdicts: &[Verdict]) -> Vec<bool> {
    let mut verdicts = verdicts.iter();
    let mut accepted = |_: &String| verdicts.next().is_some_and(|verdict| verdict.status == Status::Accepted);
    programs.iter().map(|program| program.as_ref().is_some_and(&mut accepted)).collect()
}

fn is_accurate(quality: &Option<Quality>) -> bool {
    quality.as_ref().is_some_and(Quality::is_accepted)
}

/// pass@1, greedy, pass@8 of responses, of which the last of each problem is the greedy one.
fn row(right: &[Vec<bool>]) -> Result<[f64; 3], PlayError> {
    let mut counts = Vec::new();
    let mut greedy = 0;
    for list in right {
        let (last, sampled) = list.split_last().ok_or_else(too_few)?;
        let mut count = SolveCount::default();
        sampled.iter().for_each(|right| count.add(*right));
        counts.push(count);
        greedy += usize::from(*last);
    }
    let pass = |k| mean_pass_at_k(&counts, k).ok_or_else(too_few);
    Ok([pass(1)?, share(greedy, right.len()).ok_or_else(too_few)?, pass(8)?])
}

fn too_few() -> PlayError {
    PlayError::Setup("the policy gave fewer than 8 samples of a held-out problem".to_owned())
}
