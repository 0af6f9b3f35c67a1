//! `sgs` (Scaling Self-Play with Self-Guidance, arXiv 2604.20209): each proposal is asked for beside a task that nobody solved, and rewarded for
//! leading to it. A script over Absolute Zero.
//!
//! # One step
//! 1. Targets are drawn of the pool, tasks that no attempt solved when they were last attempted, and other tasks as in Absolute Zero.
//! 2. For each target the policy is asked for one task, with the target as the reference of its prompt.
//! 3. Solvers attempt the proposals, the targets and the other tasks.
//! 4. A valid proposal whose solve rate s is in 0 < s ≤ `sgs.max_rate` is worth guide · (1 − s), and any other valid one 0. What those of the step
//!    are worth is scaled to [0, 1], so that the least is rewarded by 0 and the greatest by 1; where all are worth the same, it stays as it is. The
//!    configuration's reward says what a refused one gets.
//!
//! # Choices
//! The guide is 0 where the proposal's program does what the target's does (their signatures are equal), and else the similarity of the two programs,
//! as the intrinsic reward `novelty` has it: what is near a task that nobody solves leads to it. The paper has a model grade that, and takes the 70th
//! percentile of the mixed rates as the bound; its solvers imitate right answers. `sgs.max_rate` below 1/4 is the bound of STP (arXiv 2502.00212),
//! which also asks that the solution uses what was shown. A target's program at an input of another type has no equal signature, and is known by
//! its text. What guesses earn is taken off, as of other rewards. Induction tasks are no targets: their proposers are given a program. With
//! `game.proposer = "none"` it is reinforcement learning on the pool, and on its unsolved tasks more often: the control.
//!
//! # Invariants
//! Those of Absolute Zero. A target is a task of the pool, never one that the policy is evaluated on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroRequest, TripletTask};
use veriplay_console::exit::{Failure, bad_value};
use veriplay_console::progress::counted;
use veriplay_core::{Digest, Prompt, Reward, Role, TaskType, program_hash};
use veriplay_run::scripted_setup::{ScriptSetup, ScriptedSetup};
use veriplay_selfplay::environment::Environment;
use veriplay_selfplay::game::Script;
use veriplay_selfplay::intrinsic;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::rollout::{Episode, Part};
use veriplay_selfplay::step::{Attempts, Player, Step};
use veriplay_selfplay::task_pool::{PoolEntry, PoolTask};

/// Its name in configurations: a value of `plays`.
pub const NAME: &str = "sgs";

/// The tables of Absolute Zero, and `[sgs]`.
pub type SgsSetup = ScriptedSetup<SgsTables>;

/// The tables that Absolute Zero does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SgsTables {
    /// Its one table, `[sgs]` of the file.
    pub sgs: Sgs,
}

/// How many targets a step has, and which proposals are rewarded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sgs {
    /// Targets of a step at most, with one proposal each.
    pub targets_per_step: usize,
    /// The greatest solve rate of a proposal that is rewarded.
    pub max_rate: f64,
}

impl Script<AbsoluteZero> for Sgs {
    fn step(&self, game: &AbsoluteZero, step: &mut Step<'_, AbsoluteZero>) -> Result<(), PlayError> {
        let kinds = game.kinds();
        // In one draw, so that no task is attempted twice.
        let given = step.draw(|choice| {
            let unsolved = choice.entries(|entry| is_target(entry, &kinds));
            let unsolved = choice.shuffled(unsolved);
            choice.take(unsolved, self.targets_per_step);
            game.choose_tasks(choice);
        })?;
        let entries = step.pool().entries().iter().filter(|entry| is_target(entry, &kinds));
        let targets: BTreeSet<Digest> = entries.map(|entry| entry.task.id()).collect();
        let drawn = given.tasks().iter().filter(|one| targets.contains(&one.task.id()));
        let mut asked = Vec::new();
        let mut proposers = Vec::new();
        // Neighbours of one kind are sampled together.
        let mut by_kind: Vec<_> = drawn.take(self.targets_per_step).collect();
        by_kind.sort_by_key(|target| target.task.kind());
        for target in by_kind {
            let question = &target.task.question;
            let proposer = game.proposer(AbsoluteZeroRequest::new(question.task_type()), vec![question], 1);
            asked.extend(proposer.episode.prompt().map(|prompt| (prompt, target.task.clone())));
            proposers.push(proposer);
        }
        step.ask(Player::learner(Role::PROPOSER), proposers)?;
        let proposed = step.draw(|choice| {
            let fresh = choice.fresh(|_| true);
            choice.take(fresh, usize::MAX);
        })?;
        step.admit();
        let tried = step.solve(proposed)?;
        self.reward(game, step, &tried, &asked)?;
        game.imitate_answers(step, &tried)?;
        let tried = step.solve(given)?;
        game.imitate_answers(step, &tried)
    }
}

/// Whether an entry of the pool is a task that nobody solved when it was last attempted, of a kind whose proposers can be shown it.
fn is_target(entry: &PoolEntry<TripletTask>, kinds: &[&'static str]) -> bool {
    let is_unsolved = entry.last.is_some_and(|last| last.judged > 0 && last.solved == 0);
    let kind = entry.task.kind();
    is_unsolved && kind != TaskType::Induction.name() && kinds.contains(&kind)
}

impl Sgs {
    /// Rewards the proposals that were attempted. `asked` has the prompts of proposers, each with its target.
    fn reward(
        &self,
        game: &AbsoluteZero,
        step: &mut Step<'_, AbsoluteZero>,
        tried: &Attempts,
        asked: &[(Prompt, TripletTask)],
    ) -> Result<(), PlayError> {
        let counts = step.rates(tried);
        let places: Vec<usize> = step.facts().tasks[tried.tasks()].iter().filter_map(|asked| asked.proposal).collect();
        let proposals = places.iter().zip(counts).filter_map(|(place, count)| {
            let one = &step.facts().proposals[*place];
            let (prompt, _) = one.finished.turns.first()?;
            let (_, target) = asked.iter().find(|(asked, _)| asked.content == prompt.content)?;
            Some(GuidedProposal {
                place: *place,
                count,
                guess_rate: one.judged.guess_rate,
                task: one.admission.task()?,
                target,
            })
        });
        let proposals: Vec<GuidedProposal<'_>> = proposals.collect();
        let tasks: Vec<&TripletTask> = proposals.iter().flat_map(|one| [one.task, one.target]).collect();
        let behaviours = game.behaviours(step.execute(), &tasks);
        let rewards = proposals.iter().zip(behaviours.chunks(2)).filter_map(|(one, both)| {
            // Where the host failed, nobody knows.
            let leads = both[0].is_some() && both[1].is_some() && both[0] != both[1];
            let guide = if leads { similarity(one.task, one.target) } else { 0.0 };
            Some((one.place, self.worth(guide, one.count, one.guess_rate)?))
        });
        let (places, mut rewards): (Vec<usize>, Vec<f64>) = rewards.unzip();
        scale(&mut rewards);
        for (index, reward) in places.into_iter().zip(rewards) {
            step.reward(Response { part: Part::Proposal, index }, Reward::single("guide", reward))?;
        }
        Ok(())
    }

    /// What a proposal is worth of which so many attempts were right; `None` where none was judged.
    fn worth(&self, guide: f64, count: SolveCount, guess_rate: Option<f64>) -> Option<f64> {
        let rate = count.rate()?;
        if rate == 0.0 || rate > self.max_rate {
            return Some(0.0);
        }
        let known = (1.0 - guess_rate.unwrap_or_default() / rate).max(0.0);
        Some(guide * (1.0 - rate) * known)
    }
}

/// Has numbers reach from 0 to 1. Those that are all equal stay as they are: nothing tells them apart.
fn scale(numbers: &mut [f64]) {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest > least {
        numbers.iter_mut().for_each(|number| *number = (*number - least) / (greatest - least));
    }
}

/// A valid proposal that was attempted, with its target.
struct GuidedProposal<'a> {
    place: usize,
    count: SolveCount,
    guess_rate: Option<f64>,
    task: &'a TripletTask,
    target: &'a TripletTask,
}

/// How much of the shapes of two programs is the same, in [0, 1]; 0 where they are one program, whatever the inputs of the two tasks.
fn similarity(one: &TripletTask, other: &TripletTask) -> f64 {
    let [own, others] = [one, other].map(|task| program_hash(task.question.program()));
    if own == others {
        return 0.0;
    }
    let novelty = intrinsic::by_name("novelty").and_then(|novelty| novelty.value(&one.content(), &[&other.content()]));
    novelty.map_or(0.0, |novelty| 1.0 - novelty)
}

impl ScriptSetup for SgsTables {
    type Base = AbsoluteZeroSetup;
    const NAME: &'static str = NAME;
    const TABLES: &'static [&'static str] = &["game", "gate", "tasks", "eval", "sgs"];

    fn validate(&self, base: &AbsoluteZeroSetup) -> Result<(), Failure> {
        let Sgs { targets_per_step, max_rate } = self.sgs;
        if !(1..=65_536).contains(&targets_per_step) {
            return Err(bad_value("sgs.targets_per_step", &targets_per_step, "a whole number from 1 to 65536"));
        }
        if base.game.own.language != "python" {
            let want = "`python`: how like a target a program is, is read from its syntax";
            return Err(bad_value("game.language", &base.game.own.language, want));
        }
        if !(max_rate > 0.0 && max_rate < 1.0) {
            return Err(bad_value("sgs.max_rate", &max_rate, "a number above 0 and below 1"));
        }
        if base.game.shared.drop_unsolved {
            return Err(bad_value("game.drop_unsolved", &true, "false: tasks that nobody solved are the targets"));
        }
        let sampled = base.game.own.proposals_per_type;
        if sampled > 0 {
            return Err(bad_value("game.proposals_per_type", &sampled, "0: proposals are asked for beside targets"));
        }
        if base.game.shared.learn_from.makes_pairs() {
            let value = base.game.shared.learn_from.name();
            let want = "another value: each proposal has a prompt of its own, and would be in no pair";
            return Err(bad_value("game.learn_from", &value, want));
        }
        if base.game.own.task_types == [TaskType::Induction] {
            return Err(bad_value("game.task_types", &"induction alone", "another type too: induction has no targets"));
        }
        Ok(())
    }

    /// A request for each target, and groups of attempts at it and at what came of it.
    fn more_tokens(&self, base: &AbsoluteZeroSetup, context: usize) -> usize {
        let shared = &base.game.shared;
        self.sgs.targets_per_step * (3 * context + 2 * shared.group_size * shared.solver_max_tokens)
    }

    fn describe_step(&self, base: &AbsoluteZeroSetup) -> Vec<String> {
        let Sgs { targets_per_step, max_rate } = self.sgs;
        let targets = counted(targets_per_step, "task");
        let own = format!(
            "before that at most {targets} that nobody solved, a proposal for each, and attempts at both; rewarded up to \
                     a solve rate of {max_rate}"
        );
        // The gate's and a signature of each proposal, one of its target, and attempts at both.
        let jobs = targets_per_step * (5 + 2 * base.game.shared.group_size);
        base.describe_step_with(jobs).into_iter().chain([own]).collect()
    }

    fn script(&self, _base: &AbsoluteZeroSetup) -> Result<Box<dyn Script<AbsoluteZero>>, Failure> {
        Ok(Box::new(self.sgs.clone()))
    }
}

#[cfg(test)]
mod tests {
    use veriplay_console::isolation::Isolation;
    use veriplay_core::{IoPair, Limits, Provenance, Question, ScriptedPolicy, ScriptedRequest, Task, Value};
    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;
    use veriplay_selfplay::game_state::GameState;
    use veriplay_selfplay::play::StepContext;
    use veriplay_selfplay::records::LogRecord;

    use super::*;

    #[test]
    fn a_proposal_is_worth_its_guide_times_how_often_it_is_not_solved_up_to_the_bound() {
        let sgs = Sgs { targets_per_step: 1, max_rate: 0.5 };
        for (guide, solved, judged, guess_rate, want) in [
            (1.0, 2, 8, None, Some(0.75)),
            (0.6, 4, 8, None, Some(0.3)),
            (0.0, 2, 8, None, Some(0.0)),
            (1.0, 2, 8, Some(0.125), Some(0.375)),
            (1.0, 2, 8, Some(0.5), Some(0.0)),
            (1.0, 5, 8, None, Some(0.0)),
            (1.0, 0, 8, None, Some(0.0)),
            (1.0, 0, 0, None, None),
        ] {
            assert_eq!(sgs.worth(guide, SolveCount { solved, judged }, guess_rate), want, "{guide} {solved} {judged}");
        }
    }

    #[test]
    fn what_the_proposals_of_a_step_are_worth_is_scaled_and_equal_numbers_stay() {
        for (mut worths, want) in [
            (vec![0.75, 0.3, 0.0], vec![1.0, 0.4, 0.0]),
            (vec![0.2, 0.5, 0.35], vec![0.0, 1.0, 0.5]),
            (vec![0.3, 0.3], vec![0.3, 0.3]),
            (vec![0.0, 0.0], vec![0.0, 0.0]),
            (vec![0.6], vec![0.6]),
            (vec![], vec![]),
        ] {
            scale(&mut worths);
            let thousandths = |numbers: &[f64]| numbers.iter().map(|one| (one * 1e3).round()).collect::<Vec<_>>();
            assert_eq!(thousandths(&worths), thousandths(&want));
        }
    }

    fn task(program: &str) -> TripletTask {
        let pair = IoPair { input: vec![Value::int(1)], output: Value::int(2) };
        let question = Question::Deduction { program: program.to_owned(), pair };
        let (family, limits, provenance) = ("test".to_owned(), Limits::small(), Provenance::Seed);
        TripletTask(Task { family, language: None, question, limits, provenance })
    }

    #[test]
    fn programs_of_one_shape_are_similar() {
        let target = task("def f(x):\n    return x + 1");
        assert_eq!(similarity(&task("def f(n):\n    return n + 27"), &target), 1.0);
        let other =
            similarity(&task("def f(x):\n    for i in x:\n        if i:\n            return {i: [1]}"), &target);
        assert!(other > 0.0 && other < 0.5, "{other}");
    }

    /// The quickstart with four deduction tasks and four targets a step.
    fn setup() -> SgsSetup {
        let text = builtin_configs::find(NAME).expect("it is built in").text;
        let mut setup = PlayConfig::<SgsSetup>::parse(text, NAME.as_ref()).expect("it is valid").setup;
        setup.own.sgs = Sgs { targets_per_step: 4, max_rate: 0.5 };
        let AbsoluteZeroSetup { game, tasks, eval, .. } = &mut setup.base;
        (game.own.task_types, game.own.tasks_per_type, game.shared.group_size) = (vec![TaskType::Deduction], 4, 2);
        // The scripted policy has a token for each letter.
        (game.shared.proposer_max_tokens, game.shared.solver_max_tokens) = (512, 512);
        (tasks.seeds_per_type, eval.tasks) = (16, 3);
        // One statement more than a seed may have.
        setup.base.gate.max_statements = Some(16);
        setup
    }

    /// Every second proposal is its target with one statement more, and the others are new. Solves none of the seeds, and of the attempts at
    /// proposals every second one.
    fn answer(turn: &ScriptedRequest<'_>, answers: &[(String, String)]) -> String {
        let prompt = turn.prompt.text();
        if let Some(target) = prompt.strip_suffix("<PD>") {
            let (head, expression) = target.trim_start_matches("<R>").rsplit_once("    return ").expect("a program");
            let (expression, input) = expression.split_once("<I>").expect("an input");
            return match turn.index % 2 {
                0 => format!("{head}    y = {expression}\n    return y<I>{input}"),
                _ => format!("def f(x):\n    x = x + {}\n    return x * 2<I>3", 12_345 + turn.index),
            };
        }
        let own = (12_345..12_349).find(|number| prompt.contains(&format!("x + {number}\n")));
        let as_target = prompt.replace("    y = ", "    return ").replace("\n    return y<I>", "<I>");
        let of_target = answers.iter().find(|(asked, _)| prompt != as_target && as_target.ends_with(asked.as_str()));
        let known = own.map(|number| (2 * (number + 3)).to_string()).or_else(|| of_target.map(|(_, one)| one.clone()));
        known.filter(|_| turn.sample == 0).unwrap_or_else(|| "-98765".to_owned())
    }

    #[test]
    fn what_does_as_its_target_does_is_worth_nothing_and_what_leads_to_it_is() {
        let (executor, game) = setup().open(Isolation::Thread).expect("the image is there");
        let ignorant = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| answer(turn, &[]));
        let context = StepContext { policy: &ignorant, execute: &executor, seed: 1 };
        let mut state: GameState<TripletTask> = game.init(&context).expect("seeds");
        let first = game.step(&context, &mut state, 0).expect("a step");
        assert!(!first.records.iter().any(|record| matches!(record, LogRecord::Proposal(_))), "there was no target");
        let answers = state.pool.entries().iter().filter_map(|entry| match &entry.task.question {
            Question::Deduction { program, pair } => {
                let asked = format!("{program}<I>{}<O>", Value::arguments_text(&pair.input));
                Some((asked, pair.output.to_string()))
            }
            _ => None,
        });
        let answers: Vec<(String, String)> = answers.collect();
        let policy = ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| answer(turn, &answers));
        let context = StepContext { policy: &policy, execute: &executor, seed: 1 };
        let saved = serde_json::to_string(&state).expect("JSON");
        let mut resumed: GameState<TripletTask> = serde_json::from_str(&saved).expect("a state");
        let second = game.step(&context, &mut state, 1).expect("a step");
        assert_eq!(game.step(&context, &mut resumed, 1).expect("a step").batches, second.batches);
        let rewards = second.records.iter().filter_map(|record| match record {
            LogRecord::Proposal(record) => Some(record.episode.reward.as_ref().map(Reward::total)),
            _ => None,
        });
        let rewards: Vec<f64> = rewards.collect::<Option<_>>().expect("all were attempted");
        assert_eq!((rewards.len(), rewards[0], rewards[2]), (4, 0.0, 0.0));
        assert!([rewards[1], rewards[3]].iter().all(|reward| *reward > 0.0), "{rewards:?}");
        assert_eq!(rewards.into_iter().fold(0.0, f64::max), 1.0);
        let again = game.replay(&executor, &second.records).expect("no host fault");
        assert_eq!(again.verdicts, again.same);
    }

    /// The error of the setup with this change.
    fn refused(change: fn(&mut SgsSetup)) -> String {
        let mut setup = setup();
        change(&mut setup);
        setup.own.validate(&setup.base).err().map_or_else(String::new, |failure| failure.to_string())
    }

    #[test]
    fn settings_under_which_there_is_no_target_or_no_reward_are_refused() {
        assert_eq!(refused(|_| ()), "");
        assert!(refused(|setup| setup.own.sgs.targets_per_step = 0).contains("`sgs.targets_per_step`"));
        assert!(refused(|setup| setup.own.sgs.max_rate = 1.0).contains("`sgs.max_rate`"));
        assert!(refused(|setup| setup.base.game.shared.drop_unsolved = true).contains("`game.drop_unsolved`"));
        let induction = refused(|setup| setup.base.game.own.task_types = vec![TaskType::Induction]);
        assert!(induction.contains("`game.task_types`"), "{induction}");
    }
}
