//! Whole episodes of the game on the real sandbox, with responses written down beforehand: `episodes.toml` has most of them.

use serde::Deserialize;
use veriplay_core::{CodeTask, FinishReason, Limits, Role, Status};
use veriplay_self_challenge::prompts;
use veriplay_self_challenge::{ChallengeRequest, ToolBudget, ToolEpisode, ToolGoal, ToolWorkspace};
use veriplay_selfplay::multi_turn::{EpisodeEnd, NextAction};
use veriplay_selfplay::rollout::Episode as _;
use veriplay_verifier::environments::{ArtifactRequest, CodeRequest, describe_environment, examine_artifact, run_code};

use super::{LIMITS, environment, gate, python, task};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Episodes {
    budget: ToolBudget,
    episode: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    role: String,
    budget: Option<ToolBudget>,
    responses: Vec<String>,
    prompts: Vec<Vec<String>>,
    /// Absent where it is not over.
    end: Option<String>,
    /// The verdict on an executor.
    status: Option<Status>,
    /// How many calls of tools count.
    calls: Option<usize>,
}

fn episodes() -> Episodes {
    toml::from_str(include_str!("episodes.toml")).unwrap()
}

fn open(role: &str, budget: ToolBudget) -> ToolEpisode {
    let name = "orders".to_owned();
    let goal = match role {
        "executor" => {
            let instruction = task("orders/cancel_the_letter_pad").instruction.clone();
            ToolGoal::Execute { environment: name, instruction }
        }
        "challenger" => {
            let (task_id, tool) = ("proposed/1".to_owned(), "refund".to_owned());
            ToolGoal::Challenge(ChallengeRequest { task_id, environment: name, tool })
        }
        other => panic!("there is no role `{other}`"),
    };
    let about = describe_environment(python(), environment("orders"), "python", LIMITS).unwrap();
    ToolWorkspace::open(goal, &about, prompts::by_name("think").unwrap(), &[], budget).unwrap()
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

fn end(episode: &ToolEpisode) -> Option<EpisodeEnd> {
    if let NextAction::Over(end) = episode.next_action() { Some(end) } else { None }
}

fn fenced(kind: &str, text: &str) -> String {
    format!("```{kind}\n{}\n```\n", text.trim_end())
}

/// A proposal of a task that the gate takes.
fn proposal() -> String {
    let CodeTask { instruction, verify, solution, failures, .. } = task("orders/ship_to_kiel");
    let parts = [("instruction", instruction), ("verify", verify), ("solution", solution)];
    let all = parts.into_iter().chain(failures.iter().map(|code| ("failure", code)));
    format!("So:\n{}", all.map(|(kind, text)| fenced(kind, text)).collect::<String>())
}

/// A response as `episodes.toml` writes it.
fn response(text: &str) -> String {
    match text.strip_prefix("> ") {
        Some(code) => format!("Let me see.\n{}", fenced("python", code)),
        None => {
            let without = proposal().replace("```verify", "```other");
            text.replace("$PROPOSAL", &proposal()).replace("$WITHOUT", &without)
        }
    }
}

#[test]
fn episodes_go_and_end_as_their_file_says() {
    let Episodes { budget, episode: rows } = episodes();
    for row in rows {
        let what = &row.what;
        let mut episode = open(&row.role, row.budget.unwrap_or(budget));
        let responses: Vec<String> = row.responses.iter().map(|text| response(text)).collect();
        let prompts = play(&mut episode, &responses);
        assert_eq!(prompts.len(), row.prompts.len(), "{what}: {prompts:?}");
        for (prompt, parts) in prompts.iter().zip(&row.prompts) {
            assert!(parts.iter().all(|part| prompt.contains(part)), "{what}: {parts:?} in {prompt}");
        }
        assert_eq!(end(&episode).map(EpisodeEnd::name), row.end.as_deref(), "{what}");
        let workspace = episode.workspace();
        if let Some(status) = row.status {
            let verify = &task("orders/cancel_the_letter_pad").verify;
            let verdict = super::episode(environment("orders"), verify, workspace.calls(), workspace.answer());
            assert_eq!(verdict.status, status, "{what}: {verdict:?}");
        }
        assert!(row.calls.is_none_or(|calls| calls == workspace.calls().len()), "{what}: {:?}", workspace.calls());
        assert_eq!(episode.fuel_left() == 0, row.end.as_deref() == Some("out_of_fuel"), "{what}");
        if row.end.as_deref() == Some("proposed") {
            let proposed = workspace.proposed().unwrap();
            assert_eq!((proposed.task_id.as_str(), proposed.environment.as_str()), ("proposed/1", "orders"));
            assert_eq!(proposed.instruction, task("orders/ship_to_kiel").instruction, "{what}");
            let request = ArtifactRequest { environment: environment("orders"), task: proposed, known: false };
            assert_eq!(examine_artifact(python(), &gate(), &request).unwrap().verdict.status, Status::Valid);
            assert_eq!(workspace.goal().role(), Role::PROPOSER);
        }
    }
    let bad = ToolBudget { min_explore_turns: 4, ..budget };
    assert!(budget.check().is_ok() && bad.check().unwrap_err().to_string().contains("`min_explore_turns` is `4`"));
}

#[test]
fn a_prompt_says_what_its_role_may_know_and_nothing_else() {
    let instruction = task("orders/cancel_the_letter_pad").instruction.as_str();
    for (role, own) in
        [("executor", instruction), ("challenger", "'orders': {str: {'customer': str, 'items': {str: int}")]
    {
        let prompts = play(&mut open(role, episodes().budget), &[]);
        let [prompt] = prompts.as_slice() else { panic!("{prompts:?}") };
        for part in ["cancel_order(order_id: str) -> dict", "The order desk of a stationery shop", own] {
            assert!(prompt.contains(part), "{role}: the prompt lacks `{part}`");
        }
        assert!(prompt.ends_with("Assistant:"));
        for secret in ["def verify", "O101", "PAD-A4", "SUPPLY", "C1", "Hafenweg"] {
            assert!(!prompt.contains(secret), "{role}: the prompt holds `{secret}`");
        }
    }
}

#[test]
fn cut_off_responses_are_told_and_what_is_said_out_of_turn_changes_nothing() {
    let mut episode = open("executor", episodes().budget);
    episode.take_response(&fenced("python", "answer(8)"), FinishReason::Length);
    let NextAction::Ask(prompt) = episode.next_action() else { panic!("{:?}", episode.next_action()) };
    assert!(prompt.to_string().contains("the response was cut off") && episode.workspace().calls().is_empty());
    assert_eq!((episode.malformed_turns(), episode.turns().len()), (1, 1));
    episode.take_response(&response("> pass"), FinishReason::Stop);
    episode.take_response("again", FinishReason::Stop);
    assert_eq!((episode.next_action(), episode.turns().len()), (NextAction::Call(&"pass\n".to_owned()), 1));
    episode.out_of_room();
    assert_eq!(episode.next_action(), NextAction::Call(&"pass\n".to_owned()));
}
