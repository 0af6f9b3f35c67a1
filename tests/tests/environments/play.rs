//! The game `self_challenge` on the real sandbox, with scripted policies: every way a task can be made or refused, every way an attempt
//! can go, and what each is paid.

mod paying;
mod proposals;

use std::sync::Arc;

use veriplay_core::{CodeTask, Execute, Role, ScriptedPolicy, ScriptedRequest};
use veriplay_self_challenge::{SelfChallenge, SelfChallengeConfig, ToolEnvironment, ToolTask};
use veriplay_selfplay::driver::{Output, SelfPlay};
use veriplay_selfplay::environment::EvalTask;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::records::LogRecord;
use veriplay_selfplay::settings::{LearnFrom, SharedSettings};
use veriplay_selfplay::splits::{Guard, HELD_OUT};
use veriplay_selfplay::task_pool::Source;
use veriplay_verifier::environments::{ArtifactGate, describe_environment};

use super::{LIMITS, environment, gate, remembered as sandbox, task};
use crate::exercise;
use crate::played::{assert_same_again, proposals, reward, sample_batches, statuses, tasks};

fn config(format: &str) -> SelfChallengeConfig {
    SelfChallengeConfig {
        shared: SharedSettings { format: format.to_owned(), proposer_max_tokens: 8000, ..exercise::settings() },
        own: toml::from_str(include_str!("play/settings.toml")).unwrap(),
    }
}

fn worlds() -> Vec<ToolEnvironment> {
    let environment = environment("orders").clone();
    let about = Arc::new(describe_environment(sandbox(), &environment, "python", LIMITS).unwrap());
    vec![ToolEnvironment { environment, about }]
}

fn evaluation() -> Vec<EvalTask<ToolTask>> {
    vec![EvalTask::new("orders", ToolTask(task("orders/refund_the_rest").clone()))]
}

type Game = SelfPlay<SelfChallenge>;

fn game_by(config: SelfChallengeConfig, gate: ArtifactGate, given: Vec<CodeTask>) -> Game {
    SelfPlay::new(SelfChallenge::new(config, gate, worlds(), given, evaluation(), Guard::default()).unwrap())
}

fn game(config: SelfChallengeConfig) -> Game {
    game_by(config, gate(), vec![given()])
}

/// A task that every game here is given, in the way of generated ones.
fn given() -> CodeTask {
    let task = task("orders/cancel_the_letter_pad").clone();
    CodeTask { task_id: "given/0".to_owned(), ..task }
}

type State = GameState<ToolTask>;
type Step = Output<SelfChallenge>;

/// The state before step 0.
fn begun(game: &Game, policy: &ScriptedPolicy) -> State {
    game.init(&StepContext { policy, execute: sandbox(), seed: 7 }).unwrap()
}

fn step(game: &Game, policy: &ScriptedPolicy, execute: &dyn Execute, state: &mut State, step: u64) -> Step {
    game.step(&StepContext { policy, execute, seed: 7 }, state, step).unwrap()
}

fn once(game: &Game, policy: &ScriptedPolicy) -> Step {
    step(game, policy, sandbox(), &mut begun(game, policy), 0)
}

/// The tasks that challengers made, as the pool has them.
fn proposed(state: &State) -> Vec<&CodeTask> {
    state.pool.entries().iter().filter(|entry| !entry.seed).map(|entry| &*entry.task).collect()
}

/// Challengers say one of `proposals` each, executors one of `codes`; a place in a list is the place among those asked.
fn policy(proposals: &[&str], codes: &[&str]) -> ScriptedPolicy {
    let [proposals, codes] =
        [proposals, codes].map(|texts| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
    ScriptedPolicy::new(move |turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::PROPOSER => proposals[turn.index % proposals.len()].clone(),
        _ => codes[turn.sample % codes.len()].clone(),
    })
}

/// A compact proposal that the gate takes.
const VALID: &str = "cancel the letter pad, tell what is left<CODE>cancel_order('O101')\nanswer(get_product('PAD-A4')['stock'])\
                     <WRONG>1 cancel_order('O102')<WRONG>2 answer(get_product('PAD-A5')['stock'])<WRONG>1";

/// The same, as the format `direct` writes it.
const VALID_DIRECT: &str = "```python\n# cancel the letter pad, tell what is left\ncancel_order('O101')\nanswer(get_product('PAD-A4')['stock'])\n\
# wrong\ncancel_order('O102')\nanswer(get_product('PAD-A4')['stock'])\n# wrong\ncancel_order('O101')\n\
answer(get_product('PAD-A5')['stock'])\n# wrong\nanswer(get_product('PAD-A4')['stock'])\n```\nThis is a task.";

/// Code that does what [`VALID`] says, and code that does not.
const RIGHT: &str = "cancel_order('O101')\nanswer(8)";
const WRONG: &str = "cancel_order('O102')\nanswer(8)";
