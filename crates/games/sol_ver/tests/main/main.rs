//! `sol_ver` without a sandbox: its config, what its prompts say, what reads the responses, and what counts as one problem.

mod cpp;

use proptest::prelude::*;
use veriplay_core::{
    CallCase, Execute, ExecuteError, Job, Limits, Outcome, PromptContent, Role, ScriptedPolicy, ScriptedRequest, Value,
};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::game::Game;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::metrics::FilterCount;
use veriplay_selfplay::play::StepContext;
use veriplay_selfplay::preferences::UpdateSchedule;
use veriplay_selfplay::records::LogRecord;
use veriplay_selfplay::settings::{LearnFrom, SelfImitationSettings};
use veriplay_selfplay::splits::{EvalSet, Guard, HELD_OUT};
use veriplay_sol_ver::prompts::{AnsweredProblem, PROMPT_FORMATS, by_name, names};
use veriplay_sol_ver::{
    AgreementRound, EvalCandidate, LearningObjective, ProblemTask, ReferenceSolution, Selection, SolVer, SolVerConfig,
    TierOrder, TierRewards, TrainFrom,
};
use veriplay_verifier::agreement::{
    AGREEMENT_FORMATS, AgreementRules, CountCodes, GUARDS, ProposedProblem, SuiteTest, TestSuite,
    agreement_format_by_name, check_statement,
};

/// A host on which nothing runs.
struct Broken;

impl Execute for Broken {
    fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
        Err(ExecuteError::Host("gone".to_owned()))
    }
}

const PROGRAM: &str = "def f(x):\n    return x + 3";
const REFERENCE: &str = "def f(x):\n    return 3 + x";

const CONFIG: &str = concat!(
    include_str!("../../../absolute_zero/tests/main/settings.toml"),
    r#"
format = "think"
selection = "consensus"
objective = "sft_dpo"
problems = 8
candidates = 4
suites = 2
tests = 4
sft_codes = 2
sft_suites = 2
code_pairs = 4
test_pairs = 4
margin = 0.5
code_weight = 1.0
test_weight = 1.0
proposer_weight = 0.0
verifier_temperature = 1.0
verifier_max_tokens = 1024
eval_candidate = "reference"

[sft]
batch = 16
epochs = 1
max_updates = 4

[dpo]
batch = 16
epochs = 1
max_updates = 4
"#
);

fn config() -> SolVerConfig {
    toml::from_str(CONFIG).unwrap()
}

fn rules() -> AgreementRules {
    let limits = Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 };
    AgreementRules {
        image: "python".to_owned(),
        limits,
        tool_limits: limits,
        seeds: [1, 2],
        count_codes: CountCodes::Samples,
        min_codes: 2,
        min_tests: 2,
        min_statement_chars: 4,
        max_statement_chars: 60,
        quote_chars: 4,
        min_suite_tests: 1,
        max_suite_tests: 4,
        min_distinct_outputs: 2,
        probes: 4,
        max_mutants: 4,
        min_mutation_score: 0.0,
    }
}

fn evaluation_of(hidden: Vec<CallCase>) -> Vec<ProblemTask> {
    let reference = ReferenceSolution { program: REFERENCE.to_owned(), hidden };
    vec![ProblemTask { statement: "add 3 to x".to_owned(), reference: Some(reference) }]
}

fn evaluation() -> Vec<ProblemTask> {
    evaluation_of(vec![CallCase::new(vec![Value::int(1)], Value::int(4))])
}

fn gradient_config() -> SolVerConfig {
    let name = |text: &str| Some(text.to_owned());
    let objective = LearningObjective::PolicyGradient;
    config().with(|c| {
        c.own.objective = objective;
        c.shared.reward = name("failure_rate");
        c.shared.advantage = name("trr");
    })
}

fn made(config: SolVerConfig, rules: AgreementRules) -> Result<SolVer, String> {
    SolVer::new(config, rules, vec![PROGRAM.to_owned()], evaluation(), Guard::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_config_file_says_everything_and_nothing_else() {
    let read = config();
    assert_eq!(
        (read.own.selection, read.own.objective, read.own.eval_candidate),
        (Selection::Consensus, LearningObjective::SftDpo, EvalCandidate::Reference)
    );
    assert_eq!(read.own.sft, UpdateSchedule { batch: 16, epochs: 1, max_updates: 4 });
    assert_eq!(toml::from_str::<SolVerConfig>(&toml::to_string(&read).unwrap()).unwrap(), read);
    let unknown = CONFIG.replace("problems = 8", "problems = 8\nproblem = 8");
    assert!(toml::from_str::<SolVerConfig>(&unknown).unwrap_err().to_string().contains("unknown field `problem`"));
    for line in CONFIG.lines().filter(|line| line.contains('=')) {
        let key = line.split(' ').next().unwrap();
        let without = CONFIG.replacen(&format!("{line}\n"), "", 1);
        assert!(toml::from_str::<SolVerConfig>(&without).is_err(), "`{key}` may be left out");
    }
    assert!(made(read, rules()).is_ok());
}

fn tiers(weights: [f64; 4], steps: u64) -> Option<TierRewards> {
    Some(TierRewards { weights, order: TierOrder::EasyFirst, steps })
}

fn top_share(config: &mut SolVerConfig, share: f64, learn_from: LearnFrom) {
    (config.shared.top_share, config.shared.learn_from) = (share, learn_from);
}

#[test]
fn a_setting_that_has_no_meaning_is_told_with_its_key_and_value() {
    let gradient = LearningObjective::PolicyGradient;
    let unrewarded = "leave it out: this objective uses no rewards";
    let start = TrainFrom::Start;
    let wrong: [(&str, SolVerConfig); 28] = [
        ("`format` is `chatty`", config().with(|c| c.shared.format = "chatty".to_owned())),
        ("`group_size` is `1`", config().with(|c| c.shared.group_size = 1)),
        ("`problems` is `0`", config().with(|c| c.own.problems = 0)),
        ("`candidates` is `9`: use at most `group_size`", config().with(|c| c.own.candidates = 9)),
        ("`margin` is `0`: use a number above `0`", config().with(|c| c.own.margin = 0.0)),
        ("`margin` is `NaN`", config().with(|c| c.own.margin = f64::NAN)),
        ("`eval_samples` is `7`", config().with(|c| c.shared.eval_samples = 7)),
        ("`reward` is `pay`: use one of", config().with(|c| c.shared.reward = Some("pay".to_owned()))),
        ("`reward` is ``: set it to one of", config().with(|c| c.own.objective = gradient)),
        ("`selection` is `random`", gradient_config().with(|c| c.own.selection = Selection::Random)),
        ("`train_from` is `start`: use `previous`", gradient_config().with(|c| c.own.train_from = start)),
        ("`train_from` is `start`: set `dpo_reference`", config().with(|c| c.own.train_from = start)),
        ("`test_weight` is `-1`", config().with(|c| c.own.test_weight = -1.0)),
        ("`dpo.batch` is `0`", config().with(|c| c.own.dpo = UpdateSchedule { batch: 0, epochs: 1, max_updates: 1 })),
        (unrewarded, config().with(|c| c.shared.reward = Some("failure_rate".to_owned()))),
        (unrewarded, config().with(|c| c.shared.advantage = Some("trr".to_owned()))),
        (unrewarded, config().with(|c| c.shared.alpha = Some(0.5))),
        (unrewarded, config().with(|c| c.shared.intrinsic = [("novelty".to_owned(), 0.1)].into())),
        (unrewarded, config().with(|c| c.shared.sft_samples = 1)),
        (unrewarded, config().with(|c| c.shared.self_imitation = Some(SelfImitationSettings::default()))),
        ("`top_share` is `0`: use a number", gradient_config().with(|c| top_share(c, 0.0, LearnFrom::Successes))),
        ("`learn_from` is `pairs`: leave it out", gradient_config().with(|c| c.shared.learn_from = LearnFrom::Pairs)),
        ("`top_share` is `0.5`: leave it out", gradient_config().with(|c| top_share(c, 0.5, LearnFrom::Advantages))),
        (
            "`tiers.weights` is `[1.0, 1.0, 1.0, 1.0]`: leave `tiers` out",
            config().with(|c| c.own.tiers = tiers([1.0; 4], 5)),
        ),
        (
            "`learn_from` is `successes`: use `advantages`",
            gradient_config().with(|c| (c.own.tiers, c.shared.learn_from) = (tiers([1.0; 4], 5), LearnFrom::Successes)),
        ),
        ("`tiers.weights` is `[0.0, 0.0, 0.0, 0.0]`", gradient_config().with(|c| c.own.tiers = tiers([0.0; 4], 5))),
        ("`tiers.weights` is `-1`: use a number", gradient_config().with(|c| c.own.tiers = tiers([-1.0; 4], 5))),
        ("`tiers.steps` is `0`: use at least `1`", gradient_config().with(|c| c.own.tiers = tiers([1.0; 4], 0))),
    ];
    for (told, config) in wrong {
        let error = made(config, rules()).err().unwrap();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn rules_that_have_no_meaning_are_told_with_their_key_and_value() {
    let wrong: [(&str, AgreementRules); 5] = [
        ("`seeds` are both `3`", AgreementRules { seeds: [3, 3], ..rules() }),
        ("`min_codes` is `0`", AgreementRules { min_codes: 0, ..rules() }),
        ("`max_suite_tests` is `0`: use at least `1`", AgreementRules { max_suite_tests: 0, ..rules() }),
        ("`min_mutation_score` is `1.5`", AgreementRules { min_mutation_score: 1.5, ..rules() }),
        ("`max_statement_chars` is `3`", AgreementRules { max_statement_chars: 3, ..rules() }),
    ];
    for (told, rules) in wrong {
        let error = made(config(), rules).err().unwrap();
        assert!(error.contains(told), "{error}");
    }
}

/// The tiers that count in each of the first eight steps, the basic one first.
fn open(tiers: TierRewards) -> String {
    let marks = |step: u64| tiers.open(step).map(|is_open| if is_open { '+' } else { '.' });
    (0..8).map(|step| String::from_iter(marks(step))).collect::<Vec<_>>().join(" ")
}

#[test]
fn tiers_open_one_by_one_and_a_code_earns_its_share_of_those_that_have_tests() {
    let easy = TierRewards { weights: [0.15, 0.15, 0.35, 0.35], order: TierOrder::EasyFirst, steps: 10 };
    let hard = TierRewards { order: TierOrder::HardFirst, ..easy };
    assert_eq!(open(easy), "+... +... ++.. ++.. +++. +++. ++++ ++++");
    assert_eq!(open(hard), "...+ ...+ ..++ ..++ .+++ .+++ ++++ ++++");
    let passed = [Some(true), Some(true), Some(false), Some(true)];
    let earned = |tiers: TierRewards, step| tiers.share(step, &passed).map(|share| format!("{share:.3}"));
    assert_eq!([0, 2, 4, 6].map(|step| earned(easy, step).unwrap()), ["1.000", "1.000", "0.462", "0.650"]);
    assert_eq!([0, 2, 4, 6].map(|step| earned(hard, step).unwrap()), ["1.000", "0.500", "0.588", "0.650"]);
    // A tier without tests counts nothing, and without any there is no such reward.
    assert_eq!(
        easy.share(6, &[Some(true), None, Some(false), None]).map(|share| format!("{share:.3}")).unwrap(),
        "0.300"
    );
    assert_eq!((hard.share(0, &[Some(true), None, None, None]), easy.share(9, &[None; 4])), (None, None));
    let error =
        made(gradient_config().with(|c| c.own.tiers = Some(easy)), AgreementRules { max_mutants: 0, ..rules() });
    assert!(error.err().unwrap().starts_with("`game.tiers` is set, and `agreement.max_mutants` is `0`"));
    assert!(made(gradient_config().with(|c| c.own.tiers = Some(hard)), rules()).is_ok());
}

#[test]
fn there_must_be_something_to_propose_from_and_to_measure_by() {
    let told = |snippets: &[&str], evaluation| {
        let snippets = snippets.iter().map(|text| (*text).to_owned()).collect();
        SolVer::new(config(), rules(), snippets, evaluation, Guard::default()).err().unwrap().to_string()
    };
    assert!(told(&[], evaluation()).contains("no snippet"));
    assert!(told(&[PROGRAM], Vec::new()).contains("no problem to evaluate on"));
    assert!(told(&[PROGRAM], evaluation_of(Vec::new())).contains("`add 3 to x` has no hidden case"));
}

#[test]
fn every_wording_has_a_dialect_of_its_name() {
    let agreement: Vec<&str> = AGREEMENT_FORMATS.iter().map(|responses| responses.name()).collect();
    assert_eq!(names(), agreement);
    assert!(
        names().iter().all(|name| by_name(name).unwrap().name() == *name && agreement_format_by_name(name).is_some())
    );
    assert!(by_name("chatty").is_none() && agreement_format_by_name("").is_none());
}

#[test]
fn the_compact_wording_is_control_tokens() {
    let compact = by_name("compact").unwrap();
    assert_eq!(
        compact.proposer_content("def f(a):\n    return a", &[]).to_string(),
        "<SNIPPET>def f(a):\n    return a<PROBLEM>"
    );
    assert_eq!(compact.solver_content("reverse x", &[]).to_string(), "<PROBLEM>reverse x<P>");
    assert_eq!(
        compact.verifier_content("reverse x", PROGRAM, 2, &[]).to_string(),
        format!("<PROBLEM>reverse x<P>{PROGRAM}<TESTS>")
    );
    assert_eq!(compact.suite_response(&suite()), "<I>[1, 'a']<O>(2,)<I>0, None<O>inf");
}

#[test]
fn the_think_wording_says_what_is_wanted_and_opens_a_thought() {
    let think = by_name("think").unwrap();
    let texts = [
        think.proposer_content(PROGRAM, &[]),
        think.solver_content("add 3", &[]),
        think.verifier_content("add 3", PROGRAM, 5, &[]),
    ]
    .map(|content| content.to_string());
    assert!(texts.iter().all(|text| text.ends_with("Assistant: <think>") && text.contains("<answer>")));
    assert!(texts[0].contains(PROGRAM) && texts[2].contains(PROGRAM) && texts[2].contains("Write 5 tests"));
    assert!(!texts[1].contains("return x + 3"), "a solver sees the text alone");
}

fn suite() -> TestSuite {
    let case = |input: &str, expected: &str| {
        let (input, expected) = (Value::parse_arguments(input).unwrap(), Value::parse_repr(expected).unwrap());
        SuiteTest::Case(CallCase::new(input, expected))
    };
    TestSuite { tests: vec![case("[1, 'a']", "(2,)"), case("0, None", "inf")] }
}

#[test]
fn what_is_written_is_read_back() {
    for format in PROMPT_FORMATS {
        let responses = agreement_format_by_name(format.name()).unwrap();
        assert_eq!(responses.read_problem(&format.problem_response("add 3 to x")).unwrap(), "add 3 to x");
        assert_eq!(responses.read_program(&format.program_response(PROGRAM)).unwrap(), PROGRAM);
        assert_eq!(responses.read_suite(&format.suite_response(&suite())).unwrap(), suite());
    }
    let with = TestSuite { tests: [suite().tests, vec![SuiteTest::Assert("assert f(1) > 0".to_owned())]].concat() };
    for name in ["think", "direct"] {
        let text = by_name(name).unwrap().suite_response(&with);
        assert_eq!(agreement_format_by_name(name).unwrap().read_suite(&text).unwrap(), with);
    }
}

fn answered(number: i64) -> AnsweredProblem {
    let case = CallCase::new(vec![Value::int(1)], Value::int(1 + number));
    let suite = TestSuite { tests: vec![SuiteTest::Case(case); 3] };
    AnsweredProblem {
        statement: format!("add {number}"),
        program: format!("def f(x):\n    return x + {number}"),
        suite,
    }
}

#[test]
fn a_direct_prompt_shows_answered_problems_and_none_of_its_own() {
    let own = AnsweredProblem { statement: "add 7".to_owned(), ..answered(3) };
    let game = |examples: Vec<AnsweredProblem>| {
        let config = config().with(|c| (c.shared.format, c.shared.examples) = ("direct".to_owned(), 2));
        let game = SolVer::new(config, rules(), vec![PROGRAM.to_owned()], evaluation(), Guard::default()).unwrap();
        game.with_examples(examples)
    };
    let played = game(vec![own, answered(5), answered(6)]).unwrap();
    for (what, prompt) in played.preview(&Broken).unwrap() {
        let PromptContent::Messages(messages) = &prompt.content else { panic!("{what}: a conversation") };
        let begun = prompt.role == Role::VERIFIER;
        assert_eq!(messages.len(), if begun { 7 } else { 6 }, "{what}: {messages:?}");
        assert_eq!(messages.last().unwrap().content == "assert", begun, "{what}");
        assert_eq!(prompt.stop.len(), 1, "{what}");
        let answers: Vec<&str> = [2, 4].map(|at| messages[at].content.as_str()).to_vec();
        match prompt.role {
            Role::PROPOSER => assert_eq!(answers, ["add 5", "add 6"], "the snippet is the first example's program"),
            Role::SOLVER => assert!(answers.iter().all(|text| text.starts_with("```python\ndef f(x):")), "{answers:?}"),
            _ => assert!(answers[1].starts_with("assert f(1) == 6\nassert"), "{answers:?}"),
        }
    }
    let few = game(vec![answered(5), answered(6)]).err().unwrap().to_string();
    assert!(few.contains("`examples` is `2`") && few.contains("answered problems"), "{few}");
    let measured = AnsweredProblem { program: REFERENCE.to_owned(), ..answered(5) };
    assert!(game(vec![measured, answered(5), answered(6)]).is_err(), "an example that is evaluated on");
}

/// A line of the file is a format, what is read, and a text in which that format does not find it.
#[test]
fn responses_that_say_anything_else_are_refused() {
    for line in include_str!("refused.jsonl").lines() {
        let [format, what, text]: [String; 3] = serde_json::from_str(line).unwrap();
        let responses = agreement_format_by_name(&format).unwrap();
        let refused = match what.as_str() {
            "problem" => responses.read_problem(&text).is_err(),
            "program" => responses.read_program(&text).is_err(),
            _ => responses.read_suite(&text).is_err(),
        };
        assert!(refused, "{line}");
    }
}

#[test]
fn what_stands_around_an_answer_does_not_count() {
    let [compact, direct, think] = ["compact", "direct", "think"].map(|name| agreement_format_by_name(name).unwrap());
    assert_eq!(compact.read_suite("<I>3<O>4<I>3<O>4").unwrap().tests.len(), 2);
    assert_eq!(compact.read_suite("<I>3<O>4<I>3<O>4").unwrap().distinct().len(), 1);
    assert_eq!(direct.read_program(&format!("```python\n{PROGRAM}\n```\nIt adds.")).unwrap(), PROGRAM);
    // The prompt has written `assert`.
    let text = " f(') == ', 1) == 2\nassert f(1+1) == 5\nassert f(3) > 1\nThese are all.\nassert f(4) == 1";
    let case = CallCase::new(vec![Value::str(") == "), Value::int(1)], Value::int(2));
    let lines = ["assert f(1+1) == 5", "assert f(3) > 1"].map(|line| SuiteTest::Assert(line.to_owned()));
    assert_eq!(direct.read_suite(text).unwrap().tests, [vec![SuiteTest::Case(case)], lines.to_vec()].concat());
    let answer = |blocks: &str| format!("so</think>\n<answer>\n{blocks}</answer>");
    assert!(think.read_problem(&answer("```problem\nadd 3\n```\n")).is_ok());
    let suite = |blocks: &str| think.read_suite(&answer(blocks)).unwrap().tests.len();
    assert_eq!(suite("```input\n3\n```\n```output\n6\n```\n"), 1);
    assert_eq!(suite("```assert\nassert f(1)\n\n  assert (f(2) == 3)\n```\n"), 2);
    assert_eq!(suite("```assert\nassert f(1)\n"), 1, "the end of the answer closes it");
}

#[test]
fn a_snippet_that_is_measured_is_refused_by_name_when_the_game_is_set_up() {
    let mut guard = Guard::default();
    guard.add_program(EvalSet::Validation, "problem `another`", PROGRAM);
    let new = |snippet: &str, guard: &Guard| {
        let snippets = vec!["def f(x):\n    return x - 3".to_owned(), snippet.to_owned()];
        SolVer::new(config(), rules(), snippets, evaluation(), guard.clone()).err().map(|error| error.to_string())
    };
    let of_guard = "snippet 1 of `tasks.snippets` contains a program of the validation set: `f` of problem `another`";
    assert_eq!(new(&PROGRAM.replace('x', "y"), &guard).unwrap(), of_guard);
    let of_held = "snippet 1 of `tasks.snippets` contains a program of the held_out set: `f` of problem `add 3 to x`";
    assert_eq!(new(&format!("{REFERENCE}  # so"), &guard).unwrap(), of_held, "what is measured now is always guarded");
    assert_eq!(new("def f(x):\n    return x - 4", &guard), None);
}

#[test]
fn a_statement_that_is_measured_is_refused_and_counted_and_asked_of_nobody() {
    let config = config().with(|c| {
        c.shared.format = "compact".to_owned();
        c.own.problems = 2;
    });
    let snippets = ["def f(x):\n    return x - 1", "def f(x):\n    return x - 2"].map(str::to_owned).to_vec();
    let game = SelfPlay::new(SolVer::new(config, rules(), snippets, evaluation(), Guard::default()).unwrap());
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| match turn.prompt.role {
        Role::PROPOSER if turn.prompt.text().contains("x - 1") => "Add 3, to x".to_owned(),
        Role::PROPOSER => "take 2 from x".to_owned(),
        _ => PROGRAM.to_owned(),
    });
    let context = StepContext { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = GameState::default();
    let played = game.step(&context, &mut state, 0).unwrap();
    let (mut statements, mut tasks) = (Vec::new(), Vec::new());
    for record in &played.records {
        match record {
            LogRecord::Proposal(one) => statements.push(one),
            LogRecord::Task(one) => tasks.push(one),
            LogRecord::Derived(one) => match one.derivation {},
        }
    }
    let (measured, other): (Vec<_>, Vec<_>) =
        statements.into_iter().partition(|record| record.request.snippet.contains("x - 1"));
    let refused = &measured[0].judged.verdict.as_ref().unwrap().evidence;
    assert_eq!(refused.rule, HELD_OUT);
    assert_eq!(refused.detail, "it holds problem `add 3 to x` of the held_out set");
    assert!(!measured[0].judged.known && other[0].judged.admitted().is_some());
    let [task] = tasks[..] else { panic!("one problem is asked: {tasks:?}") };
    assert_eq!((task.task.statement.as_str(), task.attempts.len()), ("take 2 from x", 4));
    assert_eq!(state.pool.entries().len(), 1);
    assert_eq!(
        (played.counts.proposals, played.counts.valid_proposals, played.counts.proposals_in_held_out),
        (2, 1, 1)
    );
    let filter = played.metrics.filters.iter().find(|filter| filter.name == HELD_OUT).unwrap();
    assert_eq!((filter.seen, filter.count), (2, FilterCount::Refused(1)));
    let again = game.replay(&Broken, &played.records[..2]);
    assert!(again.is_ok_and(|again| again.verdicts == again.same));
}

#[test]
fn statements_are_judged_by_the_guards_on_statements_alone() {
    let rules = rules();
    let checked = |statement: &str, known| {
        let proposed = ProposedProblem { rules: &rules, statement, snippet: PROGRAM, known };
        check_statement(GUARDS, &proposed).err().map(|refusal| refusal.rule)
    };
    assert_eq!(checked("add three to x", false), None);
    assert_eq!(checked("add three to x", true).unwrap(), "duplicate");
    assert_eq!(checked("add", false).unwrap(), "statement");
    assert_eq!(checked(&"add 3 ".repeat(20), false).unwrap(), "statement");
    assert_eq!(checked("what is x+3 ?", false), None, "a line shorter than `quote_chars` says little");
    let longer =
        ProposedProblem { rules: &rules, statement: "take x + 33 now", snippet: "def f(x): return x+33", known: false };
    assert_eq!(check_statement(GUARDS, &longer).unwrap_err().rule, "quotes_snippet");
}

#[test]
fn a_round_is_trusted_as_far_as_its_codes_agree() {
    let cases =
        [(vec![(3, 8), (1, 9)], Some(0.75)), (vec![(2, 4)], Some(1.0)), (vec![(0, 4)], None), (Vec::new(), None)];
    for (clusters, trust) in cases {
        let round = AgreementRound { clusters: clusters.clone(), ..AgreementRound::default() };
        assert_eq!(round.trust(), trust, "{clusters:?}");
    }
}

#[test]
fn the_state_is_saved_as_it_is() {
    let mut state = GameState::<ProblemTask>::default();
    state.pool.admit([ProblemTask { statement: "add 4 to x".to_owned(), reference: None }], true, 3, 1);
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<GameState<ProblemTask>>(&text).unwrap(), state);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_any_text_takes_it_or_says_why_not(text in "(<I>|<O>|<P>|<TESTS>|<answer>|</answer>|```input\n|```output\n|```\n|[a-f0-9',()\\[\\] \n]){0,12}") {
        for responses in AGREEMENT_FORMATS {
            for reason in [responses.read_problem(&text).err(), responses.read_program(&text).err(), responses.read_suite(&text).err()] {
                prop_assert!(reason.is_none_or(|reason| !reason.is_empty()));
            }
        }
    }

    #[test]
    fn any_suite_of_ints_is_read_back(cases in proptest::collection::vec((-99i64..99, -99i64..99), 1..5)) {
        let case = |(input, expected)| SuiteTest::Case(CallCase::new(vec![Value::int(input)], Value::int(expected)));
        let suite = TestSuite { tests: cases.into_iter().map(case).collect() };
        for format in PROMPT_FORMATS {
            prop_assert_eq!(&agreement_format_by_name(format.name()).unwrap().read_suite(&format.suite_response(&suite)).unwrap(), &suite);
        }
    }
}
