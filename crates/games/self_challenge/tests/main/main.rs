//! Episodes of `self_challenge`, whatever the policy writes and whatever becomes of its code. No wasm.

use proptest::prelude::*;
use veriplay_core::{CodeTask, Evidence, FinishReason, Message, PromptContent, Status, ToolCall, Value};
use veriplay_self_challenge::prompts::{self, ChallengeFormat};
use veriplay_self_challenge::{ANSWERED, ChallengeRequest, PROPOSED, ToolBudget, ToolEpisode, ToolGoal, ToolWorkspace};
use veriplay_selfplay::multi_turn::{EpisodeEnd, NextAction};
use veriplay_verifier::environments::compact_proposal::{CompactProposal, LineChange};
use veriplay_verifier::environments::{CodeOutcome, EnvironmentDescription, ToolDescription};

const BUDGET: ToolBudget =
    ToolBudget { explore_turns: 3, min_explore_turns: 0, executor_turns: 4, fuel: 1000, shown_chars: 20 };

fn about() -> EnvironmentDescription {
    let tool = ToolDescription {
        name: "buy".to_owned(),
        signature: "buy(what: str) -> int".to_owned(),
        documentation: "Buys.\nTwice.".to_owned(),
    };
    EnvironmentDescription { text: "A shop.".to_owned(), tools: vec![tool], initial: state() }
}

/// A shop's stock: `STATE` and its values are what a challenger has to find.
fn state() -> Value {
    let table = |entries: Vec<Value>| Value::Dict(entries.into_iter().map(|one| (Value::str("STATE"), one)).collect());
    let pen = [("price", Value::int(7)), ("tags", Value::List(vec![Value::str("STATE")])), ("floor", Value::None)];
    let pen = Value::Dict(pen.map(|(field, value)| (Value::str(field), value)).to_vec());
    let parts = [("stock", table(vec![pen])), ("load", table(vec![Value::int(7); 2])), ("sold", table(Vec::new()))];
    Value::Dict(parts.map(|(part, entries)| (Value::str(part), entries)).to_vec())
}

const LAYOUT: &str =
    "state:\n{'stock': {str: {'price': int, 'tags': [str], 'floor': NoneType}}, 'load': {str: int}, 'sold': {}}\n";

fn think() -> &'static dyn ChallengeFormat {
    prompts::by_name("think").unwrap()
}

fn execute() -> ToolGoal {
    ToolGoal::Execute { environment: "shop".to_owned(), instruction: "Buy ink.".to_owned() }
}

fn challenge() -> ToolGoal {
    let (task_id, environment, tool) = ("t".to_owned(), "shop".to_owned(), "buy".to_owned());
    ToolGoal::Challenge(ChallengeRequest { task_id, environment, tool })
}

/// The prompt that an episode waits for an answer to, as a base model is shown it.
fn asked(episode: &ToolEpisode) -> String {
    match episode.next_action() {
        NextAction::Ask(prompt) => prompt.to_string(),
        other => panic!("{other:?}"),
    }
}

fn outcome(fuel: u64, answered: bool, failed: bool) -> CodeOutcome {
    CodeOutcome {
        failure: failed.then(|| (Status::RuntimeError, "ValueError: 1".to_owned())),
        calls: vec![ToolCall { name: "buy".to_owned(), arguments: vec![Value::str("ink")], keywords: Vec::new() }],
        answer: answered.then(|| Value::int(1)),
        stdout: "é".repeat(30),
        truncated: false,
        evidence: Evidence { fuel, ..Evidence::default() },
    }
}

const CODE: &str = "```python\nbuy('ink')\n```";
const PROPOSAL: &str = "```instruction\ni\n```\n```verify\nv\n```\n```solution\ns\n```\n```failure\nf\n```";

fn responses() -> impl Strategy<Value = (String, bool, u64, bool, bool)> {
    let text =
        prop_oneof![Just(CODE.to_owned()), Just(PROPOSAL.to_owned()), Just("```python\nx".to_owned()), ".{0,40}"];
    (text, any::<bool>(), 0_u64..600, any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_episode_ends_within_its_turns(goal in prop_oneof![Just(execute()), Just(challenge())], all in prop::collection::vec(responses(), 8)) {
        let mut episode = ToolWorkspace::open(goal.clone(), &about(), think(), &[], BUDGET).unwrap();
        let mut asked = 0;
        for (text, cut, fuel, answered, failed) in all {
            let NextAction::Ask(prompt) = episode.next_action() else { break };
            let prompt = prompt.to_string();
            prop_assert!(prompt.ends_with("Assistant:") && prompt.contains("A shop.") && prompt.contains("buy(what: str) -> int"));
            prop_assert!(!prompt.contains("STATE"), "nobody is shown a state");
            prop_assert_eq!(prompt.contains(LAYOUT), goal == challenge(), "{}", prompt);
            asked += 1;
            episode.take_response(&text, if cut { FinishReason::Length } else { FinishReason::Stop });
            let running = matches!(episode.next_action(), NextAction::Call(code) if code == "buy('ink')\n");
            let before = episode.workspace().calls().len();
            episode.take_outcome(&outcome(fuel, answered, failed));
            prop_assert_eq!(episode.workspace().calls().len() - before, usize::from(running), "code that was not asked for counts for nothing");
        }
        let NextAction::Over(end) = episode.next_action() else { return Err(TestCaseError::fail("it does not end")) };
        prop_assert!(asked <= 4, "{} turns", asked);
        prop_assert_eq!(episode.workspace().answer().is_some(), end == ANSWERED);
        prop_assert!(goal == challenge() || end != PROPOSED);
        prop_assert_eq!(end == EpisodeEnd::OutOfFuel, episode.fuel_left() == 0 && end != ANSWERED && end != EpisodeEnd::OutOfTurns);
    }
}

#[test]
fn the_transcript_is_the_next_prompt() {
    let mut episode = ToolWorkspace::open(execute(), &about(), think(), &[], BUDGET).unwrap();
    episode.take_response(&format!("I look.\n{CODE}"), FinishReason::Stop);
    episode.take_outcome(&outcome(10, false, true));
    let prompt = asked(&episode);
    let at = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("no `{text}` in {prompt}"));
    let shown = format!("{}… (10 more characters)", "é".repeat(20));
    assert!(at("Task:\nBuy ink.") < at("I look.") && at("I look.") < at(&shown) && at(&shown) < at("ValueError: 1"));
    assert!(prompt.contains("Turns left: 3") && prompt.contains("    Buys.\n    Twice."));
}

#[test]
fn a_budget_is_read_from_a_config_and_checked() {
    let text = "explore_turns = 0\nexecutor_turns = 4\nfuel = 5\nshown_chars = 9\n";
    let budget: ToolBudget = toml::from_str(text).unwrap();
    assert!(budget.check().is_ok(), "a challenger need not explore");
    for key in ["executor_turns", "fuel", "shown_chars"] {
        let zero: ToolBudget = toml::from_str(&text.replace(&format!("{key} = "), &format!("{key} = 0 # "))).unwrap();
        assert_eq!(zero.check().unwrap_err().key, key);
    }
    assert!(toml::from_str::<ToolBudget>(&format!("{text}turns = 1\n")).is_err());
    let mut challenger = ToolWorkspace::open(challenge(), &about(), think(), &[], budget).unwrap();
    assert!(
        matches!(challenger.next_action(), NextAction::Ask(prompt) if prompt.to_string().ends_with("propose the task now.\nAssistant:"))
    );
    challenger.take_response(PROPOSAL, FinishReason::Stop);
    assert_eq!(challenger.next_action(), NextAction::Over(PROPOSED));
}

#[test]
fn a_compact_episode_is_one_turn_and_says_nothing_of_the_world() {
    let compact = prompts::by_name("compact").unwrap();
    let mut executor = ToolWorkspace::open(execute(), &about(), compact, &[], BUDGET).unwrap();
    assert_eq!(asked(&executor), "<WORLD>shop<DO>Buy ink.<CODE>");
    executor.take_response("buy('ink')", FinishReason::Stop);
    assert!(matches!(executor.next_action(), NextAction::Call(code) if code == "buy('ink')"));
    executor.take_outcome(&outcome(10, false, false));
    assert!(
        matches!(executor.next_action(), NextAction::Over(EpisodeEnd::OutOfTurns))
            && executor.workspace().calls().len() == 1
    );
    let mut challenger = ToolWorkspace::open(challenge(), &about(), compact, &[], BUDGET).unwrap();
    assert_eq!(asked(&challenger), "<WORLD>shop<MAKE>buy(");
    challenger.take_response("buy ink<CODE>buy('ink')<WRONG>1 buy('pen')", FinishReason::Stop);
    let task = challenger.workspace().proposed().expect("a proposal");
    assert_eq!((task.solution.as_str(), task.failures.as_slice()), ("buy('ink')", &["buy('pen')".to_owned()][..]));
    assert_eq!((task.instruction.as_str(), task.verify.as_str(), task.task_id.as_str()), ("buy ink", "", "t"));
}

#[test]
fn what_is_no_sketch_says_why() {
    for (text, why) in [
        ("buy ink", "`<CODE>`"),
        ("a<CODE>b()<WRONG>2 c()", "`2` is no line"),
        ("a<CODE>b()<WRONG>0 c()", "`0` is no line"),
        ("a<CODE>b()<WRONG>c()", "`c()` is no line"),
        ("a<CODE>b()<CODE>c()", "a `<CODE>` in its codes"),
        ("a<CODE>b()<DO>c()", "a `<DO>` in its codes"),
    ] {
        let refused = CompactProposal::parse(text).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_sketch_reads_back_what_it_writes(
        instruction in "[a-z][a-z ]{0,20}[a-z]",
        lines in prop::collection::vec("[a-z]{1,6}\\([0-9]?\\)", 1..5),
        changes in prop::collection::vec((1..5_usize, "([a-z]{1,6}\\(\\))?"), 0..4),
    ) {
        let count = lines.len();
        let wrong: Vec<LineChange> =
            changes.into_iter().map(|(line, text)| LineChange { line: (line - 1) % count + 1, text }).collect();
        let sketch = CompactProposal { instruction, solution: lines.join("\n"), wrong };
        prop_assert_eq!(CompactProposal::parse(&sketch.to_text()), Ok(sketch.clone()));
        for (change, code) in sketch.wrong.iter().zip(sketch.task("t", "shop").failures) {
            let expected = count - usize::from(change.text.is_empty());
            prop_assert_eq!(code.lines().count(), expected);
        }
    }
}

fn answered() -> CodeTask {
    let [instruction, solution] = ["Buy a pen.\nAnswer 2.", "buy('pen')\nanswer(2)"].map(str::to_owned);
    let failures = vec!["buy('ink')\nanswer(2)".to_owned(), "answer(2)".to_owned()];
    let (task_id, environment, verify) = ("t".to_owned(), "shop".to_owned(), String::new());
    CodeTask { task_id, environment, instruction, verify, solution, failures }
}

fn messages(episode: &ToolEpisode) -> &[Message] {
    match episode.next_action() {
        NextAction::Ask(PromptContent::Messages(messages)) => messages,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_direct_prompt_shows_tasks_with_their_answers_which_are_read_back() {
    let (direct, task) = (prompts::by_name("direct").unwrap(), answered());
    let mut executor = ToolWorkspace::open(execute(), &about(), direct, &[&task], BUDGET).unwrap();
    let shown = messages(&executor);
    assert!(shown[0].content.contains("buy(what: str) -> int") && !shown[0].content.contains("STATE"), "{shown:?}");
    assert_eq!((shown[1].content.as_str(), shown[3].content.as_str()), (task.instruction.as_str(), "Buy ink."));
    let answer = shown[2].content.strip_suffix(direct.stop()[0]).unwrap().to_owned();
    executor.take_response(&answer, FinishReason::Stop);
    assert_eq!(executor.next_action(), NextAction::Call(&task.solution));
    let mut challenger = ToolWorkspace::open(challenge(), &about(), direct, &[&task], BUDGET).unwrap();
    let shown = messages(&challenger);
    assert_eq!((shown[1].content.as_str(), shown[3].content.as_str()), ("Use `buy`.", "Use `buy`."));
    assert!(!shown[0].content.contains("STATE"), "{shown:?}");
    let answer = format!("{}\nThat is a task.", shown[2].content);
    challenger.take_response(&answer, FinishReason::Stop);
    let proposed = challenger.workspace().proposed().expect("a proposal");
    assert_eq!(proposed, &CodeTask { instruction: "Buy a pen. Answer 2.".to_owned(), ..task });
}

#[test]
fn a_direct_response_without_its_block_or_its_parts_is_refused() {
    let direct = prompts::by_name("direct").unwrap();
    for (goal, text, why) in [
        (execute(), "buy('ink')", "does not begin with a block"),
        (execute(), "Sure:\n```python\nbuy('ink')\n```", "does not begin with a block"),
        (execute(), "```python\n \n```", "empty"),
        (challenge(), "```python\nbuy('ink')\n```", "does not begin with a comment"),
        (challenge(), "```python\n#\nbuy('ink')\n```", "does not begin with a comment"),
        (challenge(), "```python\n# Buy ink.\n# wrong\nbuy('pen')\n```", "no code behind the instruction"),
    ] {
        let refused = direct.parse_response(&goal, text).unwrap_err();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}
