//! Setting the game up, and steps on a host where nothing runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use veriplay_bug_repair::{BugRepair, BugTask, InjectionMode, Repositories, Repository};
use veriplay_core::{
    Digest, Execute, ExecuteError, Job, LengthLimit, MessageRole, Outcome, Patch, Policy, PolicyError, Prompt,
    PromptContent, Role, Rollout, Sampling, ScriptedPolicy, ScriptedRequest, Status, TextFiles,
};
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::eval_table::EvalNumbers;
use veriplay_selfplay::game_state::GameState;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::play::{Batch, Measurement, PlayError, StepContext};
use veriplay_selfplay::records::LogRecord;
use veriplay_selfplay::settings::ZeroAdvantage;
use veriplay_verifier::bugs::{BugArtifact, BugProposal, Commit, PastChange, TestMap};
use veriplay_verifier::repository::Baseline;

use super::config;

/// A host on which nothing runs.
struct Broken;

impl Execute for Broken {
    fn execute(&self, _: &Job) -> Result<Outcome, ExecuteError> {
        Err(ExecuteError::Host("gone".to_owned()))
    }
}

/// What [`repository`] is made of.
#[derive(Deserialize)]
struct RepositoryFiles {
    texts: TextFiles,
    baseline: Baseline,
    map: TestMap,
}

fn repository() -> Repository {
    let RepositoryFiles { texts, baseline, map } = toml::from_str(include_str!("repository.toml")).unwrap();
    Repository {
        image: "grade".to_owned(),
        tool_env_image: "tool_env".to_owned(),
        pytest: baseline.pytest.clone(),
        texts,
        binaries: BTreeSet::new(),
        limits: baseline.limits,
        baseline,
        map,
        history: Vec::new(),
        max_jobs: 0,
        trust: veriplay_core::Trust::Shared,
    }
}

fn artifact(place: &Repository, value: u8) -> BugArtifact {
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
            test_command: None,
            failed_repairs: Vec::new(),
        },
        fail_to_pass: vec!["tests/test_one.py::test_one".to_owned()],
        pass_to_pass: Vec::new(),
    }
}

/// A repository like [`place`], of another function.
fn measured() -> Repository {
    let mut place = repository();
    (place.baseline.package, place.map.package) = (Digest::of(b"measured"), Digest::of(b"measured"));
    place.baseline.name = "two".to_owned();
    place.texts.insert("src/one.py".to_owned(), "def one():\n    return 1 + 2 + 3\n".to_owned());
    place
}

fn training(place: Repository) -> Repositories {
    Repositories { training: vec![place], ..Repositories::default() }
}

fn with_measured(place: Repository) -> Repositories {
    Repositories { held_out: vec![measured()], ..training(place) }
}

#[test]
fn what_cannot_be_played_is_refused_when_it_is_set_up() {
    let (two, three) = (artifact(&repository(), 2), artifact(&measured(), 3));
    let new = |config, repositories: Repositories, training: &[BugArtifact], heldout: &[BugArtifact]| {
        BugRepair::new(config, repositories, training, heldout).err().map(|error| error.to_string())
    };
    let (repositories, bugs) = (|| with_measured(repository()), std::slice::from_ref(&two));
    assert_eq!(new(config(), repositories(), bugs, std::slice::from_ref(&three)), None);
    let refused = |error: Option<String>, why: &str| {
        let error = error.expect(why);
        assert!(error.contains(why), "{error}");
    };
    refused(new(config(), Repositories::default(), &[], &[]), "no training repository: name at least one");
    let idle = config().with(|c| {
        c.own.injections_per_step = 0;
        c.own.modes = Vec::new();
    });
    refused(new(idle, repositories(), &[], &[]), "there are no training bugs, and the config makes none");
    let elsewhere = BugArtifact { package: Digest::of(b"other"), ..two.clone() };
    refused(new(config(), repositories(), &[elsewhere], &[]), "which is not among the training repositories");
    for (training, heldout, set) in [(&[three][..], &[][..], "training"), (&[], bugs, "measured")] {
        let why = format!("which is not among the {set} repositories");
        refused(new(config(), repositories(), training, heldout), &why);
    }
    let past = || config().with(|c| c.own.modes = vec![InjectionMode::History, InjectionMode::Removal]);
    refused(new(past(), repositories(), bugs, &[]), "corpus add-repo NAME==VERSION --history URL@COMMIT");
    let change = |path: &str| {
        let texts = TextFiles::from([(path.to_owned(), "def one():\n    return 1\n".to_owned())]);
        let (before, after) = ("def one():\n    return 0\n", "def one():\n    return 1\n");
        let commit = Commit { hash: "c0ffee", subject: "One" };
        PastChange::of_file(&texts, path, before, after, &commit).expect("it is there")
    };
    let with_history = |path| with_measured(Repository { history: vec![change(path)], ..repository() });
    assert_eq!(new(past(), with_history("src/one.py"), bugs, &[]), None);
    refused(new(past(), with_history("tests/test_one.py"), bugs, &[]), "no training repository has any");
    let wrong = config().with(|c| c.shared.group_size = 0);
    refused(new(wrong, repositories(), bugs, &[]), "`group_size` is `0`");
}

#[test]
fn a_repository_a_function_or_a_bug_that_trains_and_is_measured_is_refused_by_name() {
    let new = |repositories: Repositories, bugs: &[BugArtifact]| {
        BugRepair::new(config(), repositories, bugs, &[]).err().map(|error| error.to_string())
    };
    assert_eq!(new(with_measured(repository()), &[artifact(&repository(), 2)]), None);
    let twice = Repositories { validation: vec![measured()], ..training(measured()) };
    assert_eq!(
        new(twice, &[]).unwrap(),
        "repository `two` of `repositories.training` contains a repository of the validation set: repository `two`"
    );
    let mut copied = repository();
    let copy =
        "import os\n\n\ndef copied():\n    \"\"\"Adds.\"\"\"\n    return (1 + 2 + 3)\n".replace("(1 + 2 + 3)", "1+2+3");
    copied.texts.insert("src/one.py".to_owned(), copy);
    assert_eq!(
        new(with_measured(copied), &[]).unwrap(),
        "`src/one.py` of repository `one` of `repositories.training` contains a function of the held_out set: `one` of `two/src/one.py`"
    );
    let mut bug = artifact(&repository(), 2);
    let mut buggy = repository().texts;
    buggy.insert("src/one.py".to_owned(), "def one():\n    return 1 + 2 + 3\n".to_owned());
    bug.bug.bug_inject = Patch::make(&repository().texts, &buggy).unwrap();
    assert_eq!(
        new(with_measured(repository()), &[bug]).unwrap(),
        "bug `one-2` of `bugs.training` contains a program of the held_out set: `one` of `two/src/one.py`"
    );
}

/// How often the one bug was repaired when it was last asked.
fn last(state: &GameState<BugTask>) -> Option<SolveCount> {
    let [entry] = state.pool.entries() else { panic!("{:?}", state.pool) };
    entry.last
}

#[test]
fn on_a_host_where_nothing_runs_a_step_learns_nothing_and_a_measurement_is_none() {
    let (place, two, three) = (repository(), artifact(&repository(), 2), artifact(&measured(), 3));
    let game = SelfPlay::new(BugRepair::new(config(), with_measured(place), &[two], &[three]).unwrap());
    let policy = ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| {
        assert_eq!(turn.prompt.role, Role::SOLVER, "no function is found to begin at");
        "```submit\n```".to_owned()
    });
    let context = StepContext { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = game.init(&context).unwrap();
    let played = game.step(&context, &mut state, 0).unwrap();
    assert!(played.batches.is_empty());
    assert_eq!((played.counts.attempts, played.counts.dropped), (0, 4));
    let [LogRecord::Task(record)] = played.records.as_slice() else { panic!("{:?}", played.records) };
    assert_eq!(record.attempts.iter().filter(|attempt| attempt.judged.verdict.is_err()).count(), 4);
    assert!(
        last(&state).is_none() && played.metrics.solve_rate.is_none() && played.metrics.solver.reward_mean.is_none()
    );
    assert!(matches!(game.evaluate(&context), Err(PlayError::Host(_))));
    assert_eq!(game.replay(&Broken, &played.records).unwrap().dropped, 4);
}

/// A game of one bug, where only what was submitted is graded, and nothing is injected.
fn repairing_submitted_only() -> SelfPlay<BugRepair> {
    repairing(ZeroAdvantage::Drop)
}

/// The same, with or without what all of a group did equally well.
fn repairing(zero_advantage: ZeroAdvantage) -> SelfPlay<BugRepair> {
    let (place, two) = (repository(), artifact(&repository(), 2));
    let config = config().with(|c| {
        c.shared.zero_advantage = zero_advantage;
        c.own.grade_unfinished = false;
        c.own.injections_per_step = 0;
        c.own.modes = Vec::new();
    });
    SelfPlay::new(BugRepair::new(config, training(place), std::slice::from_ref(&two), &[]).unwrap())
}

#[test]
fn credit_for_tokens_is_refused_where_no_prompt_shows_the_reference() {
    let mut game = repairing_submitted_only();
    assert!(game.check().is_ok());
    let (place, two) = (repository(), artifact(&repository(), 2));
    let config = config().with(|c| {
        (c.shared.privileged_credit, c.own.injections_per_step, c.own.modes) = (0.1, 0, Vec::new());
    });
    game.game = BugRepair::new(config, training(place), std::slice::from_ref(&two), &[]).unwrap();
    let error = game.check().unwrap_err().to_string();
    assert!(
        error
            .starts_with("`game.privileged_credit` is `0.1`: use `0`: the game has no prompts that show the reference"),
        "{error}"
    );
}

#[test]
fn what_was_not_submitted_is_no_repair_where_the_config_says_so() {
    let game = repairing_submitted_only();
    let policy = ScriptedPolicy::new(|_: &ScriptedRequest<'_>| "I give up.".to_owned());
    let context = StepContext { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = game.init(&context).unwrap();
    let played = game.step(&context, &mut state, 5).unwrap();
    assert_eq!(played.metrics.statuses, BTreeMap::from([(Status::Malformed, 4)]));
    assert_eq!(played.metrics.solver.ends, BTreeMap::from([("out_of_turns".to_owned(), 4)]));
    let idle_turns = played.metrics.solver.tool_use.map(|tools| tools.idle_turns);
    assert_eq!((idle_turns, played.metrics.solver.turns_mean), (Some(16), Some(4.0)));
    assert_eq!(played.metrics.solver.well_formed_share, Some(0.0));
    let last = last(&state).unwrap();
    assert_eq!((last.solved, last.judged), (0, 4));
    assert!(played.batches.is_empty(), "four equal rewards");
    let table = game.evaluate(&context).unwrap();
    assert!(table.rows.is_empty() && table.mean == EvalNumbers::default(), "there is nothing to evaluate on");
}

/// A model with room for prompts of so many characters.
struct Small(ScriptedPolicy, usize);

impl Policy for Small {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let long = prompts.iter().position(|prompt| prompt.text().len() > self.1);
        match long {
            Some(index) => {
                let (tokens, limit) = (prompts[index].text().len(), LengthLimit::of_context(self.1));
                Err(PolicyError::PromptTooLong { index, tokens, response: sampling.max_tokens, limit })
            }
            None => self.0.generate(prompts, sampling),
        }
    }

    fn has_room(&self, prompt: &Prompt, _max_tokens: usize) -> bool {
        prompt.text().len() <= self.1
    }
}

#[test]
fn a_transcript_the_model_has_no_room_for_ends_its_episode_and_a_task_whose_first_prompt_is_too_long_is_passed_over() {
    let game = repairing_submitted_only();
    let first = game.preview(&Broken).unwrap()[0].1.text().len();
    // One sample of four thinks longer than the others, and than there is room for.
    let script =
        || ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| "I think. ".repeat(if turn.sample == 1 { 90 } else { 1 }));
    let (roomy, narrow) = (Small(script(), first + 500), Small(script(), first - 1));
    let mut state = game.init(&StepContext { policy: &roomy, execute: &Broken, seed: 1 }).unwrap();
    let played = game.step(&StepContext { policy: &roomy, execute: &Broken, seed: 1 }, &mut state, 0).unwrap();
    let ends = BTreeMap::from([("out_of_room".to_owned(), 1), ("out_of_turns".to_owned(), 3)]);
    assert_eq!(played.metrics.solver.ends, ends);
    let played = game.step(&StepContext { policy: &narrow, execute: &Broken, seed: 1 }, &mut state, 0).unwrap();
    assert!(played.records.is_empty() && played.batches.is_empty());
    assert!(matches!(played.monitors["prompts_without_room"], Measurement::Count(1..)), "{:?}", played.monitors);
}

/// Checks the turn before that comes with a prompt.
struct CheckedTurns(ScriptedPolicy);

impl Policy for CheckedTurns {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        for prompt in prompts {
            let PromptContent::Messages(messages) = &prompt.content else { panic!("{prompt:?}") };
            let text: Vec<u32> = prompt.text().bytes().map(u32::from).collect();
            match prompt.earlier.as_deref() {
                Some(turn) => assert!(text.starts_with(&turn.prompt) && turn.response.ends_with(&[u32::from(b'.'), 0])),
                None => assert!(messages.iter().all(|message| message.role != MessageRole::Assistant)),
            }
        }
        self.0.generate(prompts, sampling)
    }
}

#[test]
fn the_turns_of_an_episode_stand_side_by_side_in_the_batch_under_one_number() {
    let game = repairing(ZeroAdvantage::Keep);
    let policy = CheckedTurns(ScriptedPolicy::new(|turn: &ScriptedRequest<'_>| format!("I give up {}.", turn.index)));
    let context = StepContext { policy: &policy, execute: &Broken, seed: 1 };
    let mut state = game.init(&context).unwrap();
    let played = game.step(&context, &mut state, 0).unwrap();
    let [Batch::Samples(batch)] = played.batches.as_slice() else { panic!("{:?}", played.batches) };
    let episodes: Vec<_> = batch.samples.chunk_by(|a, b| a.episode == b.episode).collect();
    assert_eq!(episodes.iter().map(|turns| turns.len()).collect::<Vec<_>>(), [4; 4]);
    for (number, turns) in (0..).zip(episodes) {
        assert!(turns[0].episode == Some(number) && turns[0].prompt == batch.samples[0].prompt);
        assert!(turns.windows(2).all(|pair| pair[1].prompt.starts_with(&pair[0].prompt)));
    }
}
