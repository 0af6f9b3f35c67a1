//! The pure parts of `bug_repair`: settings, prompts and episodes. No wasm.

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use veriplay_bug_repair::prompts::{AnsweredBug, RepoBudgetLeft, RepoGoal, RepoResponse, by_name, names};
use veriplay_bug_repair::{
    Assignment, BugRepairConfig, BugTask, InjectionMode, InjectionRequest, RepoBudget, RepoEpisode, RepoWorkspace,
};
use veriplay_core::{Digest, Evidence, FinishReason, Message, MessageRole, Patch, PromptContent, TextFiles};
use veriplay_selfplay::multi_turn::{EpisodeEnd, NextAction};
use veriplay_selfplay::rollout;
use veriplay_verifier::bugs::BugProposal;
use veriplay_verifier::bugs::tool_env::{CallEnd, DefaultTests, RepoToolCall, RepoToolOutcome};

const CONFIG: &str = concat!(
    include_str!("../../../absolute_zero/tests/main/settings.toml"),
    r#"
format = "think"
tasks_per_step = 2
injections_per_step = 2
injection_share = 0.5
modes = ["direct", "removal", "rewrite"]
trust = "shared"
weakening = "derived"
mutants_per_step = 0
mutant_share = 0.25
operators = []
higher_order_per_step = 2
higher_order_share = 0.25
hidden_share = 0.0
min_passing = 0
min_changed_files = 1
min_failing = 1
proposer = "train"
proposer_weight = 0.5
reward = "ssr"
alpha = 0.8
advantage = "group"
aggregation = "sequence_mean"
grade_unfinished = true
resample_learnable = 2.0
sft_bugs = 0
sft_samples = 0
sft_weight = 0.0
solver_budget = { turns = 4, fuel = 1000, test_runs = 1, shown_chars = 50, prompt_chars = 9000 }
injector_budget = { turns = 4, fuel = 1000, test_runs = 1, shown_chars = 50, prompt_chars = 9000 }
"#
);

fn config() -> BugRepairConfig {
    toml::from_str(CONFIG).unwrap()
}

#[test]
fn a_config_is_read_strictly_and_each_bound_names_its_key() {
    assert!(config().check().is_ok());
    let again: BugRepairConfig = toml::from_str(&toml::to_string(&config()).unwrap()).unwrap();
    assert_eq!(again, config());
    assert!(toml::from_str::<BugRepairConfig>(&format!("more = 1\n{CONFIG}")).is_err());
    assert!(toml::from_str::<BugRepairConfig>(&CONFIG.replace("min_passing = 0\n", "")).is_err());
    for (old, new, key) in [
        ("format = \"think\"", "format = \"words\"", "format"),
        ("format = \"think\"", "format = \"compact\"", "modes"),
        ("modes = [\"direct\", \"removal\", \"rewrite\"]", "modes = []", "modes"),
        ("injections_per_step = 2", "injections_per_step = 0", "modes"),
        ("injections_per_step = 2", "injections_per_step = 2\ninjections_per_site = 3", "injections_per_site"),
        ("injections_per_step = 2", "injections_per_step = 0\ninjections_per_site = 0", "injections_per_site"),
        ("tasks_per_step = 2", "tasks_per_step = 0", "tasks_per_step"),
        ("\ngroup_size = 4", "\ngroup_size = 1", "group_size"),
        ("operators = []", "operators = [\"nothing\"]", "operators"),
        ("hidden_share = 0.0", "hidden_share = 1.0", "hidden_share"),
        ("alpha = 0.8", "alpha = 1.5", "alpha"),
        ("mutant_share = 0.25", "mutant_share = 0.5", "injection_share"),
        ("advantage = \"group\"", "advantage = \"x\"", "advantage"),
        ("reward = \"ssr\"", "reward = \"x\"", "reward"),
        ("eval_samples = 8", "eval_samples = 7", "eval_samples"),
        ("solver_budget = { turns = 4", "solver_budget = { turns = 0", "solver_budget.turns"),
    ] {
        assert_eq!(CONFIG.matches(old).count(), 1, "{old}");
        let wrong: BugRepairConfig = toml::from_str(&CONFIG.replace(old, new)).unwrap();
        let error = wrong.check().unwrap_err();
        assert_eq!(error.key, key, "{new}: {error}");
    }
    let compact =
        CONFIG.replace("\"think\"", "\"compact\"").replace("\"direct\", \"removal\", \"rewrite\"", "\"direct\"");
    assert!(toml::from_str::<BugRepairConfig>(&compact).unwrap().check().is_ok());
    let weakens: BugRepairConfig = toml::from_str(&compact.replace("\"derived\"", "\"model\"")).unwrap();
    assert_eq!(weakens.check().unwrap_err().key, "weakening");
    let names = |config: &str| -> BugRepairConfig {
        toml::from_str(&format!("test_command = \"injector\"\n{config}")).unwrap()
    };
    assert!(names(CONFIG).check().is_ok());
    assert_eq!(names(&compact).check().unwrap_err().key, "test_command");
}

#[test]
fn injections_are_compared_within_a_package_and_a_mode_or_within_a_request() {
    let request = |package: &[u8], mode, function: &str| {
        let (package, path, function) = (Digest::of(package), "src/one.py".to_owned(), function.to_owned());
        InjectionRequest { package, mode, path, function, commit: None }
    };
    let first = request(b"one", InjectionMode::Direct, "f");
    for (other, across_sites, within_site) in [
        (first.clone(), true, true),
        (request(b"one", InjectionMode::Direct, "g"), true, false),
        (request(b"one", InjectionMode::Removal, "f"), false, false),
        (request(b"two", InjectionMode::Direct, "f"), false, false),
    ] {
        let compared = [1, 4].map(|per_site| first.is_compared_with(&other, per_site));
        assert_eq!(compared, [across_sites, within_site], "{other:?}");
    }
}

fn goal() -> RepoGoal {
    RepoGoal::Repair { spec: "+def test_one():\n+    assert one() == 1\n".to_owned(), function: None }
}

fn read(response: &str) -> Result<RepoResponse, String> {
    by_name("think").unwrap().parse_response(&goal(), response)
}

#[test]
fn the_think_format_reads_one_block_and_says_what_is_wrong_with_others() {
    let cases: BTreeMap<String, Vec<[String; 2]>> = toml::from_str(include_str!("responses.toml")).unwrap();
    for [text, action] in &cases["read"] {
        assert_eq!(format!("{:?}", read(text).unwrap()), *action, "{text}");
    }
    for [text, why] in &cases["refused"] {
        let error = read(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn every_format_is_a_file_and_a_line_with_its_headings() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompts");
    let paths = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut files: Vec<String> = paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    assert_eq!(files, names());
    for name in files {
        let text = std::fs::read_to_string(dir.join(format!("{name}.rs"))).unwrap();
        for heading in ["Layout", "Why", "How it can be gamed", "Example"] {
            assert!(text.contains(&format!("//! # {heading}\n")), "{name} lacks {heading}");
        }
    }
}

#[test]
fn the_compact_format_has_no_words_and_refuses_control_tokens() {
    let compact = by_name("compact").unwrap();
    assert!(!compact.can_ask(&goal()), "a bug that is in no one function");
    assert!(compact.is_single_turn());
    assert_eq!(
        compact.parse_response(&goal(), "def f():\n    return 1").unwrap(),
        RepoResponse::Replace("def f():\n    return 1".to_owned())
    );
    for text in ["", " \n", "def f(): pass<FIX>", "<CODE>"] {
        assert!(compact.parse_response(&goal(), text).is_err(), "{text}");
    }
}

fn tree() -> TextFiles {
    TextFiles::from([("src/one.py".to_owned(), "def one():\n    return 2\n".to_owned())])
}

fn assignment() -> Arc<Assignment> {
    let suite = DefaultTests::Files(vec!["tests/test_one.py".to_owned()]);
    Arc::new(Assignment { goal: goal(), repository: 0, tree: Arc::new(tree()), suite, hidden: BTreeSet::new() })
}

fn open(budget: RepoBudget) -> Option<RepoEpisode> {
    RepoWorkspace::open(assignment(), by_name("think").unwrap(), &[], budget)
}

const BUDGET: RepoBudget = RepoBudget { turns: 4, fuel: 1000, test_runs: 1, shown_chars: 50, prompt_chars: 9000 };

fn outcome(fuel: u64, edited: Option<&str>) -> RepoToolOutcome {
    RepoToolOutcome {
        end: CallEnd::Done,
        shown: "SHOWN".to_owned(),
        edited: edited.map(|text| ("src/one.py".to_owned(), Some(text.to_owned()))),
        evidence: Evidence { fuel, ..Evidence::default() },
    }
}

fn responses() -> impl Strategy<Value = (String, bool, u64, bool)> {
    let text = prop_oneof![
        Just("```list\n```".to_owned()),
        Just("```run\n```".to_owned()),
        Just("```submit\n```".to_owned()),
        Just("```edit src/one.py\n<<<<<<< OLD\na\n=======\nb\n>>>>>>> NEW\n```".to_owned()),
        "(```|[a-z \n]){0,12}",
        ".{0,40}",
    ];
    (text, any::<bool>(), 0_u64..600, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_episode_ends_within_its_budget(all in prop::collection::vec(responses(), 8)) {
        let mut episode = open(BUDGET).unwrap();
        let (mut asked, mut runs, mut fuel) = (0, 0, 0_u64);
        for (text, cut, used, edits) in all {
            let NextAction::Ask(prompt) = episode.next_action() else { break };
            let prompt = prompt.to_string();
            prop_assert!(prompt.contains("assert one() == 1") && prompt.ends_with("Assistant:"));
            prop_assert!(!prompt.contains("return 2"), "a file is shown to who reads it");
            asked += 1;
            episode.take_response(&text, if cut { FinishReason::Length } else { FinishReason::Stop });
            let calling = matches!(episode.next_action(), NextAction::Call(_));
            prop_assert!(!(cut && calling), "a cut response calls nothing");
            runs += usize::from(matches!(episode.next_action(), NextAction::Call(RepoToolCall::Run { .. })));
            let before = episode.workspace().tree().clone();
            episode.take_outcome(&outcome(used, edits.then_some("x")));
            fuel += if calling { used } else { 0 };
            prop_assert!(calling || *episode.workspace().tree() == before, "an outcome nobody waited for changes nothing");
        }
        prop_assert!(episode.end().is_some() && asked <= 4 && runs <= 1);
        prop_assert_eq!(rollout::Episode::fuel(&episode), fuel);
        prop_assert_eq!(episode.workspace().assignment().tree.as_ref(), &tree(), "what was handed out stays as it was");
        if episode.end() == Some(EpisodeEnd::OutOfFuel) {
            prop_assert_eq!(episode.fuel_left(), 0);
        }
    }

    #[test]
    fn whatever_is_written_is_read_or_refused(text in ".{0,200}", fences in "(`{2,5}[a-z]{0,6}( [a-z./]{0,5})?\n|[a-z<>=`\n]{0,9}){0,6}") {
        for name in names() {
            let format = by_name(name).unwrap();
            for text in [&text, &fences] {
                if let Err(why) = format.parse_response(&goal(), text) {
                    prop_assert!(!why.is_empty());
                }
            }
        }
    }

    #[test]
    fn an_edit_that_is_written_is_read_back(old in prop::collection::vec("[a-z `=<>]{0,9}", 1..4), new in prop::collection::vec("[a-z ]{0,9}", 0..4)) {
        prop_assume!(old.iter().all(|line| line != "======="));
        let whole = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let text = format!("``````````````edit p\n<<<<<<< OLD\n{}=======\n{}>>>>>>> NEW\n``````````````", whole(&old), whole(&new));
        prop_assert_eq!(read(&text), Ok(RepoResponse::Call(RepoToolCall::Edit { path: "p".to_owned(), old: whole(&old), new: whole(&new) })));
    }
}

#[test]
fn the_transcript_is_the_next_prompt_and_room_runs_out() {
    let mut episode = open(BUDGET).unwrap();
    episode.take_response("I look.\n```list\n```", FinishReason::Stop);
    episode.take_outcome(&outcome(10, None));
    let NextAction::Ask(prompt) = episode.next_action() else { panic!("{episode:?}") };
    let prompt = prompt.to_string();
    let at = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("no `{text}` in {prompt}"));
    assert!(at("Turns left: 4") < at("I look.") && at("I look.") < at("SHOWN") && at("SHOWN") < at("Turns left: 3"));
    let length = prompt.chars().count();
    assert!(open(RepoBudget { prompt_chars: 10, ..BUDGET }).is_none(), "it cannot be asked at all");
    let mut narrow = open(RepoBudget { prompt_chars: length - 1, ..BUDGET }).unwrap();
    narrow.take_response("I look.\n```list\n```", FinishReason::Stop);
    narrow.take_outcome(&outcome(10, None));
    assert_eq!(narrow.end(), Some(EpisodeEnd::OutOfRoom));
    let mut twice = open(BUDGET).unwrap();
    for _ in 0..2 {
        twice.take_response("```run\n```", FinishReason::Stop);
        twice.take_outcome(&outcome(1, None));
    }
    assert_eq!(twice.workspace().calls(), [("run", CallEnd::Done)]);
    assert_eq!(twice.turns()[1].shown, "Nothing was done: no runs of tests are left.");
    assert_eq!(twice.malformed_turns(), 0, "it was read, and refused");
}

#[test]
fn a_rewriting_injector_is_not_shown_what_it_is_to_write() {
    let left = RepoBudgetLeft { turns: 1, test_runs: 0, shown_chars: 1 };
    assert!(
        by_name("compact")
            .unwrap()
            .first_prompt(&goal(), &[], left)
            .to_string()
            .starts_with("<BUG><TEST>assert one() == 1<FIX>")
    );
    assert_eq!(InjectionMode::ALL.map(InjectionMode::name), ["direct", "removal", "rewrite", "history"]);
    let family = |injector: &str| {
        let bug = BugProposal {
            bug_inject: Patch::default(),
            test_weaken: Patch::default(),
            test_files: Vec::new(),
            injector: injector.to_owned(),
            seed: 0,
            test_command: None,
            failed_repairs: Vec::new(),
        };
        let (task_id, package) = (String::new(), Digest::of(b"package"));
        BugTask { task_id, package, bug, fail_to_pass: Vec::new() }.family()
    };
    let families = ["constant_body", "invert_if", "model_direct", "by hand"].map(family);
    assert_eq!(families, ["classic", "swe_smith", "model", "other"]);
}

#[test]
fn each_prompt_begins_with_the_messages_of_the_one_before() {
    let mut episode = open(BUDGET).unwrap();
    let mut earlier: Vec<Message> = Vec::new();
    for text in ["I look.\n```list\n```", "no block", "```run\n```"] {
        let NextAction::Ask(PromptContent::Messages(messages)) = episode.next_action() else { panic!("{episode:?}") };
        assert!(messages.starts_with(&earlier) && messages.last().unwrap().role == MessageRole::User, "{messages:?}");
        earlier = messages.clone();
        episode.take_response(text, FinishReason::Stop);
        episode.take_outcome(&outcome(10, None));
    }
    let contents: Vec<&str> = earlier.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(contents[1], "I look.\n```list\n```");
    assert_eq!(contents[2], "SHOWN\n\nTurns left: 3. Runs of tests left: 1.");
    assert!(contents[4].starts_with("Nothing was done: there is no fenced block."), "{contents:?}");
}

#[test]
fn a_direct_prompt_shows_answered_bugs_and_reads_a_whole_function() {
    let direct = by_name("direct").unwrap();
    let left = RepoBudgetLeft { turns: 1, test_runs: 0, shown_chars: 1 };
    let [wrong, right] = ["def one():\n    return 2", "def one():\n    return 1"].map(str::to_owned);
    let bug = AnsweredBug { spec: "+++ b/t.py\n+    assert one() == 1\n".to_owned(), wrong, right };
    let PromptContent::Messages(messages) = direct.first_prompt(&goal(), &[&bug], left) else {
        panic!("a conversation")
    };
    let roles: Vec<MessageRole> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [MessageRole::System, MessageRole::User, MessageRole::Assistant, MessageRole::User]);
    assert_eq!(messages[1].content, "```python\ndef one():\n    return 2\n```\nassert one() == 1");
    assert!(messages[3].content.ends_with("assert one() == 1"), "{messages:?}");
    // The shown answer is read back, without its closing fence too: that ends the sampling.
    let (whole, stopped) = (&messages[2].content, messages[2].content.strip_suffix(direct.stop()[0]).unwrap());
    let after = format!("{whole}\nIt returned 2.\n```python\npass\n```");
    for text in [whole, stopped, &after] {
        assert_eq!(direct.parse_response(&goal(), text), Ok(RepoResponse::Replace(bug.right.clone())), "{text}");
    }
    for text in
        ["", "def one():\n    return 1", "Here it is:\n```python\npass\n```", "```python\n```", "```\npass\n```"]
    {
        assert!(direct.parse_response(&goal(), text).is_err(), "{text}");
    }
    assert!(!direct.can_ask(&goal()), "a bug that is in no single function");
}
