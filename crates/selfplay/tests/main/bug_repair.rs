//! The pure parts of `bug_repair`: config, pay, dialects, episodes, setting up, and a step whose host fails. No wasm.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use veriplay_core::{
    Digest, Evidence, Execute, ExecuteError, Finish, Job, Limits, Outcome, Patch, Policy, PolicyError, Prompt, Role,
    Rollout, Sampling, Scripted, Status, TextFiles, Turn,
};
use veriplay_selfplay::games::bug_repair::dialects::{Action, Goal, Left, by_name, names};
use veriplay_selfplay::games::bug_repair::{
    Assignment, Budget, BugRepair, End, Episode, GameConfig, GameState, InjectionOutcome, Mode, Move, Pay, Place,
    Record, RewardName, SetupError, family,
};
use veriplay_selfplay::play::{Arena, HeldOut, Play, PlayError};
use veriplay_verifier::bugs::desk::{CallEnd, DeskCall, DeskOutcome, Suite};
use veriplay_verifier::bugs::{BugArtifact, BugProposal, FileMap, TestMap};
use veriplay_verifier::repository::{Baseline, FileBaseline, Function};

const CONFIG: &str = r#"
dialect = "fenced"
tasks_per_step = 2
group = 4
injections_per_step = 2
injection_share = 0.5
modes = ["direct", "removal", "rewrite"]
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
injector = "train"
injector_weight = 0.5
reward = "ssr"
alpha = 0.8
advantage = "group"
aggregation = "episode_mean"
grade_unfinished = true
buffer_capacity = 100
resample_learnable = 2.0
anchor_bugs = 0
anchor_samples = 0
anchor_weight = 0.0
solver_temperature = 1.0
solver_max_tokens = 500
injector_temperature = 1.0
injector_max_tokens = 500
eval_samples = 8
eval_seed = 1
solver_budget = { turns = 4, fuel = 1000, test_runs = 1, shown_chars = 50, prompt_chars = 9000 }
injector_budget = { turns = 4, fuel = 1000, test_runs = 1, shown_chars = 50, prompt_chars = 9000 }
"#;

fn config() -> GameConfig {
    toml::from_str(CONFIG).unwrap()
}

#[test]
fn a_config_is_read_strictly_and_each_bound_names_its_key() {
    assert!(config().validate().is_ok());
    let again: GameConfig = toml::from_str(&toml::to_string(&config()).unwrap()).unwrap();
    assert_eq!(again, config());
    assert!(toml::from_str::<GameConfig>(&format!("more = 1\n{CONFIG}")).is_err());
    assert!(toml::from_str::<GameConfig>(&CONFIG.replace("alpha = 0.8\n", "")).is_err());
    for (old, new, key) in [
        ("dialect = \"fenced\"", "dialect = \"words\"", "dialect"),
        ("dialect = \"fenced\"", "dialect = \"compact\"", "modes"),
        ("modes = [\"direct\", \"removal\", \"rewrite\"]", "modes = []", "modes"),
        ("injections_per_step = 2", "injections_per_step = 0", "modes"),
        ("tasks_per_step = 2", "tasks_per_step = 0", "tasks_per_step"),
        ("\ngroup = 4", "\ngroup = 1", "group"),
        ("operators = []", "operators = [\"nothing\"]", "operators"),
        ("hidden_share = 0.0", "hidden_share = 1.0", "hidden_share"),
        ("alpha = 0.8", "alpha = 1.5", "alpha"),
        ("mutant_share = 0.25", "mutant_share = 0.5", "injection_share"),
        ("advantage = \"group\"", "advantage = \"x\"", "advantage"),
        ("eval_samples = 8", "eval_samples = 7", "eval_samples"),
        ("solver_budget = { turns = 4", "solver_budget = { turns = 0", "turns"),
    ] {
        assert_eq!(CONFIG.matches(old).count(), 1, "{old}");
        let wrong: GameConfig = toml::from_str(&CONFIG.replace(old, new)).unwrap();
        let error = wrong.validate().unwrap_err();
        assert_eq!(error.key, key, "{new}: {error}");
    }
    let compact =
        CONFIG.replace("\"fenced\"", "\"compact\"").replace("\"direct\", \"removal\", \"rewrite\"", "\"direct\"");
    assert!(toml::from_str::<GameConfig>(&compact).unwrap().validate().is_ok());
    let weakens: GameConfig = toml::from_str(&compact.replace("\"derived\"", "\"model\"")).unwrap();
    assert_eq!(weakens.validate().unwrap_err().key, "weakening");
}

#[test]
fn pay_is_as_in_the_paper() {
    let pays = |reward, outcome| {
        Pay::new(&GameConfig { reward, ..config() })
            .injector(outcome)
            .map(|reward| (reward.total() * 1e6).round() / 1e6)
    };
    let rated = |rate| InjectionOutcome::Rated { rate };
    for (rate, paid) in
        [(0.0, -0.8), (0.125, 0.775), (0.25, 0.55), (0.5, 0.1), (0.625, -0.125), (0.875, -0.575), (1.0, -0.8)]
    {
        assert_eq!(pays(RewardName::Ssr, rated(rate)), Some(paid), "{rate}");
        assert_eq!(pays(RewardName::Random, rated(rate)), Some(paid), "{rate}");
        assert_eq!(pays(RewardName::Consistency, rated(rate)), Some(1.0), "{rate}");
        assert!(paid > -1.0, "a bug that passes the checks pays more than one that does not");
    }
    for (outcome, ssr, consistency) in [
        (InjectionOutcome::Refused, Some(-1.0), Some(-1.0)),
        (InjectionOutcome::Duplicate, Some(-0.8), Some(-1.0)),
        (InjectionOutcome::Unrated, None, Some(1.0)),
    ] {
        assert_eq!(pays(RewardName::Ssr, outcome), ssr, "{outcome:?}");
        assert_eq!(pays(RewardName::Consistency, outcome), consistency, "{outcome:?}");
    }
    let pay = Pay::new(&config());
    assert_eq!(pay.solver(Status::Accepted).total(), 1.0);
    for status in [Status::WrongAnswer, Status::Malformed, Status::RuntimeError, Status::FuelExceeded] {
        assert_eq!(pay.solver(status).total(), -1.0);
    }
    let shuffled = |reward| Pay::new(&GameConfig { reward, ..config() }).shuffled();
    assert!(shuffled(RewardName::Random) && !shuffled(RewardName::Ssr) && !shuffled(RewardName::Consistency));
}

fn goal() -> Goal {
    Goal::Repair { spec: "+def test_one():\n+    assert one() == 1\n".to_owned(), function: None }
}

fn read(response: &str) -> Result<Action, String> {
    by_name("fenced").unwrap().read(&goal(), response)
}

#[test]
fn the_fenced_dialect_reads_one_block_and_says_what_is_wrong_with_others() {
    let call = |call| Ok(Action::Call(call));
    let path = || "src/a b.py".to_owned();
    for (text, action) in [
        ("```list\n```", call(DeskCall::List { path: String::new() })),
        ("I look.\n```list src\n```\nThen I read.", call(DeskCall::List { path: "src".to_owned() })),
        ("```read src/a b.py\n```", call(DeskCall::Read { path: path(), first: 1, last: 1 << 30 })),
        ("```read src/a b.py\n3-9\n```", call(DeskCall::Read { path: path(), first: 3, last: 9 })),
        (
            "```search\n  def f\n```",
            call(DeskCall::Search { path: String::new(), pattern: "  def f".to_owned(), expression: false }),
        ),
        (
            "```search-regex src\n^x+$\n```",
            call(DeskCall::Search { path: "src".to_owned(), pattern: "^x+$".to_owned(), expression: true }),
        ),
        ("```run\n```", call(DeskCall::Run { tests: Vec::new() })),
        ("```run\nt.py::a\n\n t.py\n```", call(DeskCall::Run { tests: vec!["t.py::a".to_owned(), "t.py".to_owned()] })),
        (
            "```edit src/a b.py\n<<<<<<< OLD\n    a\n=======\n    b\n\n>>>>>>> NEW\n```",
            call(DeskCall::Edit { path: path(), old: "    a\n".to_owned(), new: "    b\n\n".to_owned() }),
        ),
        (
            "````edit x\n<<<<<<< OLD\n```\n=======\n>>>>>>> NEW\n````",
            call(DeskCall::Edit { path: "x".to_owned(), old: "```\n".to_owned(), new: String::new() }),
        ),
        ("```submit\n```", Ok(Action::Submit)),
    ] {
        assert_eq!(read(text), action, "{text}");
    }
    for (text, why) in [
        ("I am done.", "there is no fenced block"),
        ("```list\n", "not closed"),
        ("```list\n```\n```submit\n```", "there are 2 fenced blocks"),
        ("```python\nx\n```", "`python` is no tool"),
        ("```\nlist\n```", "`` is no tool"),
        ("```list\nsrc\n```", "holds nothing"),
        ("```submit now\n```", "has no path"),
        ("```read x\n9-3\n```", "FIRST-LAST"),
        ("```read x\n0-3\n```", "FIRST-LAST"),
        ("```search x\na\nb\n```", "holds one line"),
        ("```edit x\na\n=======\nb\n```", "`edit` block is"),
        ("```edit x\n<<<<<<< OLD\na\n>>>>>>> NEW\n```", "`edit` block is"),
        ("```edit x\n<<<<<<< OLD\na\n=======\nb\n=======\nc\n>>>>>>> NEW\n```", "`edit` block is"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn every_dialect_is_a_file_and_a_line_with_its_headings() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/games/bug_repair/dialects");
    let mut files: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
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
fn the_compact_dialect_has_no_words_and_refuses_control_tokens() {
    let compact = by_name("compact").unwrap();
    assert!(!compact.can_ask(&goal()), "a bug that is in no one function");
    assert!(compact.is_single_turn());
    assert_eq!(
        compact.read(&goal(), "def f():\n    return 1").unwrap(),
        Action::Replace("def f():\n    return 1".to_owned())
    );
    for text in ["", " \n", "def f(): pass<FIX>", "<CODE>"] {
        assert!(compact.read(&goal(), text).is_err(), "{text}");
    }
}

fn tree() -> TextFiles {
    TextFiles::from([("src/one.py".to_owned(), "def one():\n    return 2\n".to_owned())])
}

fn assignment() -> Arc<Assignment> {
    let suite = Suite::Files(vec!["tests/test_one.py".to_owned()]);
    Arc::new(Assignment { goal: goal(), place: 0, tree: Arc::new(tree()), suite })
}

fn begun(budget: Budget) -> Option<Episode> {
    Episode::new(assignment(), by_name("fenced").unwrap(), budget)
}

const BUDGET: Budget = Budget { turns: 4, fuel: 1000, test_runs: 1, shown_chars: 50, prompt_chars: 9000 };

fn outcome(fuel: u64, edited: Option<&str>) -> DeskOutcome {
    DeskOutcome {
        end: CallEnd::Done,
        shown: "SHOWN".to_owned(),
        edited: edited.map(|text| ("src/one.py".to_owned(), text.to_owned())),
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
        let mut episode = begun(BUDGET).unwrap();
        let (mut asked, mut runs, mut fuel) = (0, 0, 0_u64);
        for (text, cut, used, edits) in all {
            let Move::Ask(prompt) = episode.next_move() else { break };
            prop_assert!(prompt.contains("assert one() == 1") && prompt.ends_with("Assistant:"));
            prop_assert!(!prompt.contains("return 2"), "a file is shown to who reads it");
            asked += 1;
            episode.hear(&text, if cut { Finish::Length } else { Finish::Stop });
            let calling = matches!(episode.next_move(), Move::Call(_));
            prop_assert!(!(cut && calling), "a cut response calls nothing");
            runs += usize::from(matches!(episode.next_move(), Move::Call(DeskCall::Run { .. })));
            let before = episode.tree().clone();
            episode.see(&outcome(used, edits.then_some("x")));
            fuel += if calling { used } else { 0 };
            prop_assert!(calling || *episode.tree() == before, "an outcome nobody waited for changes nothing");
        }
        prop_assert!(episode.end().is_some() && asked <= 4 && runs <= 1);
        prop_assert_eq!(episode.fuel(), fuel);
        prop_assert_eq!(episode.assignment().tree.as_ref(), &tree(), "what was handed out stays as it was");
        if episode.end() == Some(End::OutOfFuel) {
            prop_assert_eq!(episode.fuel_left(), 0);
        }
    }

    #[test]
    fn whatever_is_written_is_read_or_refused(text in ".{0,200}", fences in "(`{2,5}[a-z]{0,6}( [a-z./]{0,5})?\n|[a-z<>=`\n]{0,9}){0,6}") {
        for name in names() {
            let dialect = by_name(name).unwrap();
            for text in [&text, &fences] {
                if let Err(why) = dialect.read(&goal(), text) {
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
        prop_assert_eq!(read(&text), Ok(Action::Call(DeskCall::Edit { path: "p".to_owned(), old: whole(&old), new: whole(&new) })));
    }
}

#[test]
fn the_transcript_is_the_next_prompt_and_room_runs_out() {
    let mut episode = begun(BUDGET).unwrap();
    episode.hear("I look.\n```list\n```", Finish::Stop);
    episode.see(&outcome(10, None));
    let Move::Ask(prompt) = episode.next_move() else { panic!("{episode:?}") };
    let at = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("no `{text}` in {prompt}"));
    assert!(at("Turns left: 3") < at("I look.") && at("I look.") < at("SHOWN"));
    let length = prompt.chars().count();
    assert!(begun(Budget { prompt_chars: 10, ..BUDGET }).is_none(), "it cannot be asked at all");
    let mut narrow = begun(Budget { prompt_chars: length - 1, ..BUDGET }).unwrap();
    narrow.hear("I look.\n```list\n```", Finish::Stop);
    narrow.see(&outcome(10, None));
    assert_eq!(narrow.end(), Some(End::OutOfRoom));
    let mut twice = begun(BUDGET).unwrap();
    for _ in 0..2 {
        twice.hear("```run\n```", Finish::Stop);
        twice.see(&outcome(1, None));
    }
    assert_eq!((twice.turns()[0].called, twice.turns()[1].called), (Some(("run", CallEnd::Done)), None));
    assert!(twice.turns()[1].shown.contains("no runs of tests are left"));
}

#[test]
fn a_rewriting_injector_is_not_shown_what_it_is_to_write() {
    let left = Left { turns: 1, test_runs: 0, shown_chars: 1 };
    assert!(by_name("compact").unwrap().text(&goal(), &[], left).starts_with("<BUG><TEST>assert one() == 1<FIX>"));
    assert_eq!(Mode::ALL.map(Mode::name), ["direct", "removal", "rewrite"]);
    let families = ["constant_body", "invert_if", "model_direct", "by hand"].map(family);
    assert_eq!(families, ["classic", "swe_smith", "model", "other"]);
}

fn place() -> Place {
    let package = Digest::of(b"package");
    let limits = Limits { fuel: 9, memory_bytes: 9, output_bytes: 9, file_bytes: 9, deadline_ns: 9 };
    let function = Function { path: "src/one.py".to_owned(), name: "one".to_owned(), lines: (2, 2) };
    let (test, id) = ("tests/test_one.py".to_owned(), "tests/test_one.py::test_one".to_owned());
    Place {
        image: "grade".to_owned(),
        desk_image: "desk".to_owned(),
        pytest: Digest::of(b"pytest"),
        texts: TextFiles::from([
            ("src/one.py".to_owned(), "def one():\n    return 1\n".to_owned()),
            (test.clone(), "def test_one():\n    assert one() == 1\n\n\nx = 1\n".to_owned()),
        ]),
        baseline: Baseline {
            schema_version: 1,
            name: "one".to_owned(),
            version: "1".to_owned(),
            package: package.clone(),
            pytest: Digest::of(b"pytest"),
            image: Digest::of(b"image"),
            limits,
            seeds: [1, 2],
            roots: vec!["src".to_owned()],
            files: vec![FileBaseline {
                path: test.clone(),
                passed: vec![id.clone()],
                unsupported: Vec::new(),
                broken: None,
                fuel: 1,
            }],
        },
        map: TestMap {
            schema_version: 1,
            package,
            files: vec![FileMap {
                path: test,
                functions: vec![function],
                at_import: Vec::new(),
                tests: vec![(id.clone(), vec![0])],
                twins: vec![id],
            }],
        },
        limits,
        max_jobs: 0,
    }
}

fn artifact(place: &Place, value: u8) -> BugArtifact {
    let now = |path: &str, text: String| {
        let mut now = place.texts.clone();
        now.insert(path.to_owned(), text);
        Patch::make(&place.texts, &now).unwrap()
    };
    BugArtifact {
        schema_version: 1,
        task_id: format!("one-{value}"),
        name: "one".to_owned(),
        version: "1".to_owned(),
        package: place.package().clone(),
        bug: BugProposal {
            bug_inject: now("src/one.py", format!("def one():\n    return {value}\n")),
            test_weaken: now("tests/test_one.py", "x = 1\n".to_owned()),
            test_files: vec!["tests/test_one.py".to_owned()],
            injector: "by hand".to_owned(),
            seed: 0,
            failed_repairs: Vec::new(),
        },
        fail_to_pass: vec!["tests/test_one.py::test_one".to_owned()],
        pass_to_pass: Vec::new(),
    }
}

#[test]
fn what_cannot_be_played_is_refused_when_it_is_set_up() {
    let (place, two, three) = (place(), artifact(&place(), 2), artifact(&place(), 3));
    let new = |config, places: &[Place], training: &[BugArtifact], heldout: &[BugArtifact]| {
        BugRepair::new(config, places.to_vec(), training, heldout).err()
    };
    let (places, training) = (std::slice::from_ref(&place), std::slice::from_ref(&two));
    assert_eq!(new(config(), places, training, &[three]), None);
    assert_eq!(new(config(), &[], &[], &[]), Some(SetupError::NoPlaces));
    let idle = GameConfig { injections_per_step: 0, modes: Vec::new(), ..config() };
    assert_eq!(new(idle, places, &[], &[]), Some(SetupError::Nothing));
    let elsewhere = BugArtifact { package: Digest::of(b"other"), ..two.clone() };
    assert!(matches!(new(config(), places, &[elsewhere], &[]), Some(SetupError::UnknownPackage { .. })));
    let renamed = BugArtifact { task_id: "another".to_owned(), ..two.clone() };
    assert_eq!(new(config(), places, training, &[renamed]), Some(SetupError::Overlap("one-2".to_owned())));
    let wrong = GameConfig { group: 0, ..config() };
    assert!(matches!(new(wrong, places, training, &[]), Some(SetupError::Config(error)) if error.key == "group"));
}

/// A host on which nothing runs.
struct Broken;

impl Execute for Broken {
    fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
        Err(ExecuteError::Host("gone".to_owned()))
    }
}

#[test]
fn on_a_host_where_nothing_runs_a_step_learns_nothing_and_a_measurement_is_none() {
    let (place, two, three) = (place(), artifact(&place(), 2), artifact(&place(), 3));
    let game = BugRepair::new(config(), vec![place], &[two], &[three]).unwrap();
    let policy = Scripted::new(|turn: &Turn<'_>| {
        assert_eq!(turn.prompt.role, Role::Solver, "no function is found to begin at");
        "```submit\n```".to_owned()
    });
    let arena = Arena { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = GameState::default();
    let played = game.step(&arena, &mut state, 0).unwrap();
    assert!(played.lessons.is_empty());
    assert_eq!((played.counts.attempts, played.counts.dropped), (0, 4));
    assert_eq!(played.records.len(), 4);
    assert!(played.records.iter().all(|record| matches!(record, Record::Repair(repair) if repair.judged.is_err())));
    assert!(
        state.last("one-2").is_none()
            && played.metrics.solve_rate.is_none()
            && played.metrics.solver.reward_mean.is_none()
    );
    assert!(matches!(game.measure(&arena), Err(PlayError::Host(_))));
    assert_eq!(game.judge_again(&Broken, &played.records).unwrap().dropped, 4);
}

#[test]
fn what_was_not_submitted_is_no_repair_where_the_config_says_so() {
    let (place, two) = (place(), artifact(&place(), 2));
    let config = GameConfig { grade_unfinished: false, injections_per_step: 0, modes: Vec::new(), ..config() };
    let game = BugRepair::new(config, vec![place], std::slice::from_ref(&two), &[]).unwrap();
    let policy = Scripted::new(|_: &Turn<'_>| "I give up.".to_owned());
    let arena = Arena { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = GameState::default();
    let played = game.step(&arena, &mut state, 5).unwrap();
    assert_eq!(played.metrics.statuses, BTreeMap::from([(Status::Malformed, 4)]));
    assert_eq!(played.metrics.solver.ends, BTreeMap::from([("out_of_turns".to_owned(), 4)]));
    assert_eq!((played.metrics.solver.idle_turns, played.metrics.solver.turns_mean), (16, Some(4.0)));
    let last = state.last("one-2").unwrap();
    assert_eq!((last.solved, last.judged), (0, 4));
    assert!(played.lessons.is_empty(), "four equal rewards");
    let held = game.measure(&arena).unwrap();
    assert!(held.rows().is_empty() && held.mean() == [0.0; 3]);
}

/// A model with room for prompts of so many characters.
struct Small(Scripted, usize);

impl Policy for Small {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let long = prompts.iter().position(|prompt| prompt.text.len() > self.1);
        match long {
            Some(index) => {
                Err(PolicyError::PromptTooLong { index, tokens: prompts[index].text.len(), context: self.1 })
            }
            None => self.0.generate(prompts, sampling),
        }
    }
}

#[test]
fn a_transcript_the_model_has_no_room_for_ends_its_episode_and_a_first_prompt_the_run() {
    let (place, two) = (place(), artifact(&place(), 2));
    let config = GameConfig { grade_unfinished: false, injections_per_step: 0, modes: Vec::new(), ..config() };
    let game = BugRepair::new(config, vec![place], std::slice::from_ref(&two), &[]).unwrap();
    let first = game.examples(&Broken).unwrap()[0].prompt.text.len();
    // One sample of four thinks longer than the others, and than there is room for.
    let script = || Scripted::new(|turn: &Turn<'_>| "I think. ".repeat(if turn.sample == 1 { 90 } else { 1 }));
    let mut state = GameState::default();
    let (roomy, narrow) = (Small(script(), first + 500), Small(script(), first - 1));
    let played = game.step(&Arena { policy: &roomy, execute: &Broken, seed: 1 }, &mut state, 0).unwrap();
    let ends = BTreeMap::from([("out_of_room".to_owned(), 1), ("out_of_turns".to_owned(), 3)]);
    assert_eq!(played.metrics.solver.ends, ends);
    let error = game.step(&Arena { policy: &narrow, execute: &Broken, seed: 1 }, &mut state, 0).unwrap_err();
    assert!(matches!(error, PlayError::Policy(PolicyError::PromptTooLong { .. })), "{error}");
}
