//! `sol_ver`: its configuration, its snippets and held-out problems, and its warm-up examples.

mod language;
mod snippets;
mod streams;
mod tasks;
mod warmup;

use std::path::Path;

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::progress::{self, counted};
use veriplay_core::CPP;
use veriplay_learner::Loss;
use veriplay_run::config::{LearnConfig, from_toml};
use veriplay_run::executor::{CountedJobs, GameExecutor};
use veriplay_run::game_setup::{EvalKeys, GameSetup, StepTokens, guard_and_evaluation};
use veriplay_run::model::is_builtin;
use veriplay_run::named_files::NamedFile;
use veriplay_run::programs::ProgramRunner;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::settings::SharedSettings;
use veriplay_selfplay::splits::Guard;
use veriplay_verifier::agreement::AgreementRules;
use veriplay_verifier::languages::is_python;

use crate::{DpoReference, LearningObjective, NAME, SolVer, SolVerConfig, TrainFrom, add_problem_to_guard};
use tasks::{SolVerEvalConfig, SolVerTaskConfig};

/// `[game]`, `[agreement]`, `[tasks]` and `[eval]`, as `configs/sol-ver-quickstart.toml` shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolVerSetup {
    game: SolVerConfig,
    /// When codes and tests agree enough to be learned from.
    agreement: AgreementRules,
    /// Where snippets and held-out problems come from.
    tasks: SolVerTaskConfig,
    /// How the policy is evaluated.
    eval: SolVerEvalConfig,
}

impl GameSetup for SolVerSetup {
    type Game = SolVer;
    type Eval = SolVerEvalConfig;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "agreement", "tasks", "eval"];
    const HAS_VERIFIERS: bool = true;

    fn parse(text: &str, origin: &Path) -> Result<Self, Failure> {
        from_toml(text, origin)
    }

    fn shared_settings(&self) -> &SharedSettings {
        &self.game.shared
    }

    fn validate(&self, learn: &LearnConfig) -> Result<(), Failure> {
        self.game.check().map_err(|error| error.within("game")).or_fail(ExitCode::Input)?;
        self.check_language()?;
        self.agreement.check().or_fail(ExitCode::Input)?;
        if learn.has_adapters_per_role() && self.game.own.objective != LearningObjective::PolicyGradient {
            let want = "false, or `game.objective = \"policy_gradient\"`: examples and pairs do not say whose responses they are";
            return Err(bad_value("learn.lora.per_role", &true, want));
        }
        if self.refreshes_reference() && learn.needs_reference() {
            return Err(bad_value(
                "game.dpo_reference",
                &"sft",
                "`start`, because `learn.kl` is held to the start model",
            ));
        }
        if self.game.own.tiers.is_some() && matches!(learn.learner_options().loss, Loss::Nft(_)) {
            let want =
                "another loss: it takes what has a positive reward for right, and `game.tiers` rewards wrong codes";
            return Err(bad_value("learn.loss.kind", &"nft", want));
        }
        learn.check_temperature("game.verifier_temperature", self.game.own.verifier_temperature)
    }

    fn check_model(&self, model: &str) -> Result<(), Failure> {
        match is_python(self.game.own.language()) || !is_builtin(model) {
            true => Ok(()),
            false => {
                let want =
                    "an instruct model, as the built-in ones know no C++: set `model`, or leave out `game.language`";
                Err(bad_value("model", &model, want))
            }
        }
    }

    /// A pair is two responses behind one prompt, which stay together.
    fn step_tokens(&self, context: usize) -> StepTokens {
        let (game, shared) = (&self.game.own, &self.game.shared);
        let longest_response = shared.solver_max_tokens.max(game.verifier_max_tokens).max(shared.proposer_max_tokens);
        // Of a pair, both responses behind one prompt.
        let of_stage = |batch: usize, responses: usize| batch * (context + responses * longest_response);
        let (sft, dpo) = (of_stage(game.sft.batch, 1), of_stage(game.dpo.batch, 2));
        let total = match game.objective {
            LearningObjective::Sft => sft,
            LearningObjective::Dpo => dpo,
            LearningObjective::SftDpo => sft.max(dpo),
            LearningObjective::PolicyGradient => {
                let codes = context + shared.group_size * shared.solver_max_tokens;
                let suites = game.candidates * (context + game.suites * game.verifier_max_tokens);
                let of_problem = codes + suites;
                game.problems * (context + of_problem)
                    + game.earlier_problems * of_problem
                    + shared.sft_samples * context
            }
        };
        let has_pairs = matches!(game.objective, LearningObjective::Dpo | LearningObjective::SftDpo);
        let longest = if has_pairs { context + longest_response } else { context };
        StepTokens { total, longest, longest_response }
    }

    fn eval(&self) -> &Self::Eval {
        &self.eval
    }

    fn eval_mut(&mut self) -> &mut Self::Eval {
        &mut self.eval
    }

    fn eval_seed(&self) -> u64 {
        self.tasks.eval_seed
    }

    fn needs_reference(&self) -> bool {
        self.game.own.needs_reference(&self.game.shared)
    }

    fn takes_sampler_as_reference(&self) -> bool {
        let makes_pairs = matches!(self.game.own.objective, LearningObjective::SftDpo | LearningObjective::Dpo);
        makes_pairs && !self.needs_reference()
    }

    fn refreshes_reference(&self) -> bool {
        self.needs_reference() && self.game.own.dpo_reference == DpoReference::Sft
    }

    fn trains_from_start(&self) -> bool {
        self.game.own.train_from == TrainFrom::Start
    }

    fn named_files(&self) -> Result<Vec<NamedFile>, Failure> {
        let mut files = self.tasks.snippets.named_files()?;
        files.extend(self.tasks.problems.named_file());
        Ok(files)
    }

    fn describe_step(&self) -> Vec<String> {
        let (game, codes) = (&self.game.own, self.game.shared.group_size);
        let (suites, stages) = (
            game.candidates * game.suites,
            match game.objective {
                LearningObjective::Sft => "imitation",
                LearningObjective::Dpo => "preference",
                LearningObjective::SftDpo => "imitation, then preference",
                LearningObjective::PolicyGradient => "policy gradient",
            },
        );
        let learned = match game.objective {
            LearningObjective::PolicyGradient => "learned from the rewards of what codes and tests decide".to_owned(),
            _ => format!("learned from what codes and tests agree on (selection `{}`)", game.selection.name()),
        };
        let jobs = match is_python(self.game.own.language()) {
            true => {
                let jobs = game.problems * (2 * codes + suites);
                format!("jobs of a step: about {jobs}, and as many for mutants and scans")
            }
            // Each code reads each input twice.
            false => format!("jobs of a step: about {}", game.problems * 2 * codes * suites * game.tests),
        };
        let weights = match game.train_from {
            TrainFrom::Previous => "",
            TrainFrom::Start => "; each step trains the start model anew, on what all steps so far have made",
        };
        vec![
            format!(
                "a step: {}, for each {}, and {} of tests for each of {} of the codes",
                counted(game.problems, "problem"),
                counted(codes, "code"),
                counted(game.suites, "suite"),
                game.candidates
            ),
            jobs,
            format!("{learned}, by {stages}{weights}"),
        ]
    }

    fn open(&self, workers: Isolation) -> Result<(GameExecutor, SelfPlay<SolVer>), Failure> {
        let executor = GameExecutor::open(&self.agreement.image, None, workers)?;
        let limits = self.agreement.limits;
        let snippets = self.tasks.snippets.pool(self.game.own.language())?;
        let bar = progress::bar(0, "tasks");
        let runner = ProgramRunner { execute: &CountedJobs { execute: &executor, bar: &bar }, ..executor.runner() };
        let tasks_of = |set| self.tasks.evaluation(&SolVerEvalConfig { set, ..self.eval.clone() }, limits, runner);
        let guard = match is_python(self.game.own.language()) {
            true => self.eval.suite_schedule().guard()?,
            false => Guard::of_scanned(&CPP),
        };
        let (guard, evaluation) = guard_and_evaluation((guard, self.eval.set), tasks_of, |guard, set, _, task| {
            add_problem_to_guard(guard, set, task);
        })?;
        let count = self.game.shared.example_count();
        let examples = self.tasks.examples(&self.eval, count, limits, runner)?;
        bar.finish_and_clear();
        let game = SolVer::new(self.game.clone(), self.agreement.clone(), snippets, evaluation, guard)?;
        let game = game.with_examples(examples)?;
        Ok((executor, SelfPlay::new(game)))
    }
}
