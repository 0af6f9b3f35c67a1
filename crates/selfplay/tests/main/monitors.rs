//! Scripted collapses raise the alarm of one monitor each, and healthy runs none.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use veriplay_core::{Digest, FinishReason, PolicyVersion, Prompt, Rollout, Status, Verdict};
use veriplay_selfplay::curricula::DrawnTask;
use veriplay_selfplay::facts::{EpisodeSummary, ProposalSummary, StepSummary};
use veriplay_selfplay::judgement::rule_verdict;
use veriplay_selfplay::memory::Memory;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::monitors::{MONITORS, by_name};
use veriplay_selfplay::play::{Measurement, OutcomeCounts};
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout::Part;
use veriplay_selfplay::task_pool::Source;

type Numbers = BTreeMap<String, f64>;

/// The numbers of a healthy run, each with its noise, as a share of it.
const HEALTHY: &[(&str, f64, f64)] = &[
    ("actor/entropy", 0.8, 0.1),
    ("play/accepted_share", 0.5, 0.1),
    ("play/constant_answer", 0.08, 0.4),
    ("play/starved_groups", 0.65, 0.15),
    ("play/invalid_proposals", 0.25, 0.3),
    ("play/repeated_proposals", 0.1, 0.9),
    ("play/distinct_trigrams", 0.4, 0.1),
    ("play/cut_off_responses", 0.1, 0.5),
    ("play/solver_tokens", 80.0, 0.2),
    ("play/repeated_turns", 0.2, 0.5),
    ("play/mutation_score", 0.7, 0.1),
    ("play/false_positive_rate", 0.1, 0.3),
    ("play/unsafe_share", 0.03, 0.8),
    ("loss_terms/actor/kl_loss", 0.04, 0.5),
    ("loss_terms/actor/proposer_ref_logprob", -0.6, 0.1),
    ("validation/rows/one/tasks", 150.0, 0.0),
    ("validation/rows/one/pass1", 0.3, 0.05),
    ("validation/rows/one/pass8", 0.6, 0.05),
    ("validation/rows/two/tasks", 150.0, 0.0),
    ("validation/rows/two/pass1", 0.5, 0.05),
    ("validation/rows/two/pass8", 0.8, 0.05),
];

/// The monitor that sees it, the step of its alarm, and the numbers of each step.
type Collapse = (&'static str, usize, &'static [(&'static str, f64)]);

/// A run that collapses behind its first steps: the monitor, after how many more measurements it raises its alarm, and the numbers of the collapse.
const COLLAPSES: &[Collapse] = &[
    ("constant_answer", 5, &[("play/constant_answer", 0.9)]),
    ("vacuous_tests", 5, &[("play/mutation_score", 0.1)]),
    ("wrong_code_accepted", 5, &[("play/false_positive_rate", 0.6)]),
    ("repeated_turns", 5, &[("play/repeated_turns", 0.95)]),
    ("language_drift", 5, &[("loss_terms/actor/proposer_ref_logprob", -0.9)]),
    ("repeated_proposals", 5, &[("play/repeated_proposals", 0.95), ("play/distinct_trigrams", 0.9)]),
    (
        "reward_truth_gap",
        3,
        &[("play/accepted_share", 0.9), ("validation/rows/one/pass1", 0.1), ("validation/rows/two/pass1", 0.2)],
    ),
    ("sharpening", 2, &[("validation/rows/one/pass1", 0.5), ("validation/rows/one/pass8", 0.4)]),
    ("entropy_collapse", 1, &[("actor/entropy", 0.1)]),
    ("kl_jump", 3, &[("loss_terms/actor/kl_loss", 0.9)]),
    ("invalid_proposals", 5, &[("play/invalid_proposals", 0.9)]),
    ("distinct_trigrams", 5, &[("play/distinct_trigrams", 0.1)]),
    ("solver_tokens", 5, &[("play/solver_tokens", 20.0)]),
    ("unsafe_share", 5, &[("play/unsafe_share", 0.6)]),
    ("starved_groups", 10, &[("play/starved_groups", 0.95)]),
    ("cut_off_responses", 20, &[("play/cut_off_responses", 0.9)]),
];

/// Monitors that measure a step and raise no alarm.
const WITHOUT_ALARM: &[&str] =
    &["proposals_in_held_out", "prompts_without_room", "own_tasks", "proposer_signal", "accepted_share"];

fn healthy(seed: u64, step: u64) -> Numbers {
    let mut noise = generator(seed, step, "healthy");
    let noisy = HEALTHY
        .iter()
        .map(|(key, number, share)| ((*key).to_owned(), number * (1.0 + share * (2.0 * noise.random::<f64>() - 1.0))));
    noisy.collect()
}

/// The alarms of a run, each with its step. Every step it is resumed.
fn alarms(run: impl IntoIterator<Item = Numbers>) -> Vec<(&'static str, usize)> {
    let (mut memories, mut alarms) = (BTreeMap::<&str, Memory>::new(), Vec::new());
    for (step, numbers) in run.into_iter().enumerate() {
        for monitor in MONITORS {
            let mut memory = memories.remove(monitor.name()).unwrap_or_default();
            let alarm = monitor.watch(step as u64, &numbers, &mut memory);
            alarms.extend(alarm.map(|what| {
                assert!(what.contains("0.") || what.contains("20."), "{what}");
                (monitor.name(), step)
            }));
            memories.insert(monitor.name(), serde_json::from_str(&serde_json::to_string(&memory).unwrap()).unwrap());
        }
    }
    alarms
}

#[test]
fn a_collapse_raises_the_alarm_of_its_monitor_once_and_of_no_other() {
    const START: u64 = 12;
    for (monitor, measurements, numbers) in COLLAPSES {
        let collapsed = numbers.iter().map(|(key, number)| ((*key).to_owned(), *number));
        let collapsed: Numbers = healthy(0, START).into_iter().chain(collapsed).collect();
        let start = (0..START).map(|step| healthy(0, step));
        let run = start.chain(std::iter::repeat_n(collapsed, 30));
        assert_eq!(alarms(run), [(*monitor, START as usize + measurements - 1)], "{numbers:?}");
    }
}

#[test]
fn every_monitor_with_an_alarm_has_a_collapse() {
    let collapses = COLLAPSES.iter().map(|(monitor, ..)| *monitor);
    let known: BTreeSet<&str> = collapses.chain(WITHOUT_ALARM.iter().copied()).collect();
    assert_eq!(known, MONITORS.iter().map(|monitor| monitor.name()).collect::<BTreeSet<_>>());
}

#[test]
fn healthy_runs_raise_no_alarm_and_neither_do_numbers_that_are_missing_or_none() {
    for seed in 1..=3 {
        assert_eq!(alarms((0..400).map(|step| healthy(seed, step))), []);
    }
    let none: Numbers = HEALTHY.iter().map(|(key, ..)| ((*key).to_owned(), f64::NAN)).collect();
    assert_eq!(alarms(std::iter::repeat_n(none, 60).chain([Numbers::new()])), []);
}

#[test]
fn a_run_that_collapses_again_raises_another_alarm() {
    let mut collapsed = healthy(0, 12);
    collapsed.insert("play/constant_answer".to_owned(), 0.9);
    let phases = [(12, None), (8, Some(collapsed.clone())), (3, None), (8, Some(collapsed))];
    let steps = phases.iter().flat_map(|(steps, numbers)| std::iter::repeat_n(numbers.clone(), *steps));
    let run = steps.enumerate().map(|(step, numbers)| numbers.unwrap_or_else(|| healthy(0, step as u64)));
    assert_eq!(alarms(run), [("constant_answer", 16), ("constant_answer", 27)]);
}

fn drawn(solved: SolveCount) -> DrawnTask {
    let (id, source) = (Digest::of(b"task"), Source::Fresh);
    DrawnTask { id, kind: "one", class: 0, source, is_proposed: true, solved, mean_advantage: 0.0 }
}

fn rollout(text: &str) -> Rollout {
    Rollout {
        id: None,
        prompt_tokens: Vec::new(),
        rendered_prompt: None,
        tokens: text.bytes().map(u32::from).collect(),
        logprobs: Vec::new(),
        text: text.to_owned(),
        finish: if text.ends_with('…') { FinishReason::Length } else { FinishReason::Stop },
        policy: PolicyVersion(0),
    }
}

/// One turn each, whose tokens are the text's bytes.
fn turns(texts: &[&str]) -> Vec<Vec<(Prompt, Rollout)>> {
    texts.iter().map(|text| vec![(Prompt::new(Part::Solution.role(), "?"), rollout(text))]).collect()
}

fn episode<'a>(
    part: Part,
    task: Option<usize>,
    turns: &'a [(Prompt, Rollout)],
    verdict: &'a Verdict,
) -> EpisodeSummary<'a> {
    EpisodeSummary { role: part.role(), part, task, is_learner: true, turns, end: None, verdict: Ok(verdict) }
}

/// A step of nothing but these episodes.
fn step_of(episodes: Vec<EpisodeSummary<'_>>) -> StepSummary<'_> {
    let (counts, proposals) = (OutcomeCounts::default(), ProposalSummary::default());
    StepSummary { counts, proposals, episodes, tasks: Vec::new(), scored: &[], without_prompt: 0 }
}

/// The number that a monitor makes of a step.
fn number(monitor: &str, step: &StepSummary<'_>) -> Option<f64> {
    match by_name(monitor).unwrap().measure(step) {
        Some(Measurement::Number(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_step_is_measured() {
    let verdict = rule_verdict(Status::Accepted, "", "");
    let proposals = turns(&["abcabc", "abcabc", "import os"]);
    let answers = turns(&["7", " 7 ", "7", "8", "8", "open(1)…", "7"]);
    let tasks = [0, 0, 1, 1, 1, 2, 2];
    let mut episodes: Vec<EpisodeSummary<'_>> =
        proposals.iter().map(|turns| episode(Part::Proposal, None, turns, &verdict)).collect();
    let attempts = answers.iter().zip(tasks).map(|(turns, task)| episode(Part::Solution, Some(task), turns, &verdict));
    episodes.extend(attempts);
    // What another policy answers is not the learner's.
    episodes.push(EpisodeSummary { is_learner: false, ..episode(Part::Solution, Some(2), &answers[5], &verdict) });
    let solved = [(0, 2), (1, 3), (2, 2), (0, 1)].map(|(solved, judged)| SolveCount { solved, judged });
    let step = StepSummary {
        counts: OutcomeCounts { attempts: 8, accepted: 2, ..OutcomeCounts::default() },
        proposals: ProposalSummary { judged: 4, invalid: 1, repeated: 2 },
        episodes,
        tasks: solved.map(drawn).into(),
        scored: &[],
        without_prompt: 0,
    };
    // Of the answer 7 there are four at three tasks, and 8 is one task's. Two proposals of three texts have 4 and 7 runs of three tokens, 3 and 7 of
    // them different.
    let (tokens, length) = (1 + 3 + 1 + 1 + 1 + "open(1)…".len() + 1, 7.0);
    let numbers = [
        ("accepted_share", 0.25),
        ("constant_answer", 4.0 / 7.0),
        ("starved_groups", 2.0 / 3.0),
        ("invalid_proposals", 0.25),
        ("repeated_proposals", 0.5),
        ("distinct_trigrams", 10.0 / 11.0),
        ("cut_off_responses", 1.0 / 7.0),
        ("solver_tokens", tokens as f64 / length),
        ("unsafe_share", 0.2),
    ];
    for (monitor, want) in numbers {
        let empty = number(monitor, &step_of(Vec::new()));
        assert_eq!((number(monitor, &step), empty), (Some(want), None), "{monitor}");
    }
}

#[test]
fn later_turns_that_repeat_the_turn_before_are_counted() {
    let verdict = rule_verdict(Status::Accepted, "", "");
    let [single, several] = [&["3"][..], &["call(2)", "call(2) ", "3"][..]].map(|texts| turns(texts).concat());
    let [single, several] = [&single, &several].map(|turns| episode(Part::Solution, Some(0), turns, &verdict));
    assert_eq!(number("repeated_turns", &step_of(vec![single])), None);
    assert_eq!(number("repeated_turns", &step_of(vec![several])), Some(0.5));
}

#[test]
fn a_text_that_reaches_out_is_told_from_one_that_does_not() {
    let reaching = [
        "from os.path import join", "x = 1\n  import sys", "f = open(name)", "f.__globals__", "e.tb_frame.f_back",
        "require('fs')", "x.__proto__ = y", "if (!system(name))",
    ];
    let plain = [
        "import math", "position(1)", "reopen(x)", "self.__init__()", "open the file", "os.path", "", "é(",
        "function f(x) {", "the system (",
    ];
    let verdict = rule_verdict(Status::Accepted, "", "");
    for (text, want) in reaching.map(|text| (text, 1.0)).into_iter().chain(plain.map(|text| (text, 0.0))) {
        let turns = turns(&[text]);
        let step = step_of(vec![episode(Part::Proposal, None, &turns[0], &verdict)]);
        assert_eq!(number("unsafe_share", &step), Some(want), "{text}");
    }
}
