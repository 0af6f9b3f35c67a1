//! Whole episodes of the game on the real sandbox, with responses written down beforehand.

use veriplay_core::{CodeTask, FinishReason, Limits, Role, Status};
use veriplay_self_challenge::prompts::{self, ChallengeFormat};
use veriplay_self_challenge::{ANSWERED, ChallengeRequest, PROPOSED, ToolBudget, ToolEpisode, ToolGoal, ToolWorkspace};
use veriplay_selfplay::multi_turn::{EpisodeEnd, NextAction};
use veriplay_selfplay::rollout::Episode as _;
use veriplay_verifier::environments::{
    ArtifactRequest, CodeRequest, EpisodeRequest, describe_environment, examine_artifact, judge_episode, run_code,
};

use super::{LIMITS, environment, gate, python, task};

const BUDGET: ToolBudget =
    ToolBudget { explore_turns: 2, min_explore_turns: 0, executor_turns: 4, fuel: 20_000_000_000, shown_chars: 200 };

fn format() -> &'static dyn ChallengeFormat {
    prompts::by_name("think").unwrap()
}

fn open(goal: ToolGoal, budget: ToolBudget) -> ToolEpisode {
    let about = describe_environment(python(), environment("orders"), "python", LIMITS).unwrap();
    ToolWorkspace::open(goal, &about, format(), &[], budget).unwrap()
}

fn executor(budget: ToolBudget) -> ToolEpisode {
    let instruction = task("orders/cancel_the_letter_pad").instruction.clone();
    open(ToolGoal::Execute { environment: "orders".to_owned(), instruction }, budget)
}

fn challenger(budget: ToolBudget) -> ToolEpisode {
    let (task_id, environment, tool) = ("proposed/1".to_owned(), "orders".to_owned(), "refund".to_owned());
    open(ToolGoal::Challenge(ChallengeRequest { task_id, environment, tool }), budget)
}

/// Plays `responses` until it is over or they are; the prompts it asked with.
fn play(episode: &mut ToolEpisode, responses: &[String]) -> Vec<String> {
    let (mut responses, mut prompts) = (responses.iter(), Vec::new());
    loop {
        match episode.next_action() {
            NextAction::Over(_) => return prompts,
            NextAction::Ask(prompt) => {
                prompts.push(prompt.to_string());
                let Some(response) = responses.next() else { return prompts };
                episode.take_response(response, FinishReason::Stop);
            }
            NextAction::Call(code) => {
                let limits = Limits { fuel: LIMITS.fuel.min(episode.fuel_left()), ..LIMITS };
                let (environment, image, history) = (environment("orders"), "python", episode.workspace().calls());
                let request = CodeRequest { environment, history, code, image, limits, seed: 3 };
                let outcome = run_code(python(), &request).unwrap();
                episode.take_outcome(&outcome);
            }
        }
    }
}

fn end(episode: &ToolEpisode) -> EpisodeEnd {
    match episode.next_action() {
        NextAction::Over(end) => end,
        other => panic!("not over: {other:?}"),
    }
}

fn think(kind: &str, text: &str) -> String {
    format!("```{kind}\n{}\n```\n", text.trim_end())
}

fn python_turns(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| format!("Let me see.\n{}", think("python", code))).collect()
}

fn verdict(episode: &ToolEpisode) -> Status {
    let verify = &task("orders/cancel_the_letter_pad").verify;
    let (environment, calls, answer) =
        (environment("orders"), episode.workspace().calls(), episode.workspace().answer());
    let request = EpisodeRequest { environment, verify, calls, answer, image: "python", limits: LIMITS, seed: 3 };
    judge_episode(python(), &request).unwrap().status
}

#[test]
fn an_executor_looks_acts_answers_and_is_accepted() {
    let mut episode = executor(BUDGET);
    let codes = [
        "print(list_orders(find_customer('mara@lindt.example')['id']))",
        "print(get_order('O999'))",
        "cancel_order('O101')",
        "answer(get_product('PAD-A4')['stock'])",
    ];
    let prompts = play(&mut episode, &python_turns(&codes));
    assert_eq!(end(&episode), ANSWERED);
    assert_eq!((prompts.len(), episode.turns().len()), (4, 4));
    assert!(prompts[1].contains("['O100', 'O101', 'O106']") && prompts[1].contains("Turns left: 3"));
    assert!(prompts[2].contains("there is no order 'O999'") && prompts[2].contains("(line 1)"), "{}", prompts[2]);
    assert!(prompts[3].contains("The code printed nothing."));
    assert_eq!(verdict(&episode), Status::Accepted);
}

#[test]
fn an_executors_prompt_says_what_it_may_know_and_nothing_else() {
    let prompts = play(&mut executor(BUDGET), &[]);
    let [prompt] = prompts.as_slice() else { panic!("{prompts:?}") };
    assert!(
        prompt.contains("cancel_order(order_id: str) -> dict")
            && prompt.contains("The order desk of a stationery shop")
    );
    assert!(prompt.contains(&task("orders/cancel_the_letter_pad").instruction) && prompt.ends_with("Assistant:"));
    for secret in ["def verify", "O101", "PAD-A4", "SUPPLY"] {
        assert!(!prompt.contains(secret), "the prompt holds `{secret}`");
    }
}

#[test]
fn turns_without_code_and_cut_off_ones_cost_a_turn_and_are_told() {
    let mut episode = executor(BUDGET);
    let prompts = play(&mut episode, &["I will cancel it.".to_owned(), "```python\ncancel_order('O101')".to_owned()]);
    assert!(prompts[1].contains("there is no closed block fenced as `python`") && prompts[2].contains("Turns left: 2"));
    episode.take_response(&think("python", "answer(8)"), FinishReason::Length);
    let NextAction::Ask(prompt) = episode.next_action() else { panic!("{:?}", episode.next_action()) };
    assert!(prompt.to_string().contains("the response was cut off") && episode.workspace().calls().is_empty());
    assert_eq!(episode.malformed_turns(), 3);
}

#[test]
fn an_executor_out_of_turns_or_fuel_is_judged_by_what_it_has_done() {
    let mut episode = executor(BUDGET);
    play(&mut episode, &python_turns(&["cancel_order('O101')", "pass", "answer(8)\nraise ValueError(1)", "pass"]));
    assert_eq!((end(&episode), episode.workspace().answer()), (EpisodeEnd::OutOfTurns, None));
    assert_eq!(verdict(&episode), Status::WrongAnswer, "what it answered in code that raised is no answer");

    let mut episode = executor(ToolBudget { fuel: 200_000_000, ..BUDGET });
    let prompts = play(&mut episode, &python_turns(&["cancel_order('O101')", "while True: list_products()", "pass"]));
    assert_eq!((end(&episode), episode.fuel_left()), (EpisodeEnd::OutOfFuel, 0));
    assert_eq!((prompts.len(), episode.workspace().calls().len()), (2, 1), "what was stopped has called nothing");
}

fn proposal() -> String {
    let CodeTask { instruction, verify, solution, failures, .. } = task("orders/ship_to_kiel");
    let parts = [("instruction", instruction), ("verify", verify), ("solution", solution)];
    let all = parts.into_iter().chain(failures.iter().map(|code| ("failure", code)));
    format!("So:\n{}", all.map(|(kind, text)| think(kind, text)).collect::<String>())
}

#[test]
fn a_challenger_explores_and_proposes_what_the_gate_takes() {
    let mut episode = challenger(BUDGET);
    let responses = [python_turns(&["print(list_customers())"]), vec![proposal()]].concat();
    let prompts = play(&mut episode, &responses);
    assert!(
        prompts[0].contains("Its state at first:\n{'customers'") && prompts[1].contains("['C1', 'C2', 'C3', 'C4']")
    );
    assert_eq!(end(&episode), PROPOSED);
    let proposed = episode.workspace().proposed().unwrap();
    assert_eq!((proposed.task_id.as_str(), proposed.environment.as_str()), ("proposed/1", "orders"));
    assert_eq!(proposed.instruction, task("orders/ship_to_kiel").instruction);
    let request = ArtifactRequest { environment: environment("orders"), task: proposed, known: false };
    assert_eq!(examine_artifact(python(), &gate(), &request).unwrap().verdict.status, Status::Valid);
    assert_eq!(episode.workspace().goal().role(), Role::PROPOSER);
}

#[test]
fn a_challenger_that_does_not_propose_in_its_last_turn_has_proposed_nothing() {
    let mut episode = challenger(BUDGET);
    let prompts = play(&mut episode, &python_turns(&["pass", "pass", "print(1)"]));
    assert!(prompts[2].contains("propose the task now"), "{}", prompts[2]);
    assert_eq!((prompts.len(), end(&episode)), (3, EpisodeEnd::OutOfTurns));
}

#[test]
fn a_challenger_that_must_explore_proposes_after_that() {
    let budget = ToolBudget { explore_turns: 3, min_explore_turns: 1, ..BUDGET };
    let mut episode = challenger(budget);
    let idle =
        [vec![proposal()], python_turns(&["print(1)"]), vec![proposal()], python_turns(&["list_customers()"])].concat();
    let prompts = play(&mut episode, &idle);
    assert!(prompts[1].contains("Explore by calling tools in 1 more turns"), "{}", prompts[1]);
    assert!(prompts[3].contains("Explore by calling tools"), "code without a call is no exploring: {}", prompts[3]);
    assert_eq!(end(&episode), EpisodeEnd::OutOfTurns);
    let mut episode = challenger(budget);
    play(&mut episode, &[python_turns(&["list_customers()"]), vec![proposal()]].concat());
    assert_eq!(end(&episode), PROPOSED);
    let bad = ToolBudget { min_explore_turns: 4, ..budget };
    assert!(budget.check().is_ok() && bad.check().unwrap_err().to_string().contains("`min_explore_turns` is `4`"));
}

#[test]
fn a_proposal_that_lacks_something_costs_a_turn_and_is_told() {
    let mut episode = challenger(BUDGET);
    let without = proposal().replace("```verify", "```other");
    let twice = [proposal(), think("solution", "pass")].concat();
    let prompts = play(&mut episode, &[without, twice, proposal()]);
    assert!(
        prompts[1].contains("no closed block fenced as `verify`")
            && prompts[2].contains("two blocks fenced as `solution`")
    );
    assert_eq!(end(&episode), PROPOSED);
}

#[test]
fn what_is_said_out_of_turn_changes_nothing() {
    let mut episode = executor(BUDGET);
    episode.take_response(&python_turns(&["pass"])[0], FinishReason::Stop);
    episode.take_response("again", FinishReason::Stop);
    assert_eq!((episode.next_action(), episode.turns().len()), (NextAction::Call(&"pass\n".to_owned()), 0));
    episode.out_of_room();
    assert_eq!(episode.next_action(), NextAction::Call(&"pass\n".to_owned()));
}
