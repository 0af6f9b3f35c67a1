//! From drafts to tasks: what a generator or a file proposes goes through the gate as a policy's proposals do.

use std::collections::{BTreeMap, HashSet};

use veriplay_core::{Attempt, Execute, ProposalVerdict, Provenance, Task};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::splits::Guard;
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProposalGate, ProposalRequest, judge_proposals};

use super::ProposalDrafts;

/// Drafts in a row without a new task after which no more are drawn: generators never end.
const DRAFTS_WITHOUT_TASK: usize = 10_000;

/// The first `count` drafts that pass the gate and hold nothing that is evaluated on, as tasks; no two alike.
///
/// # Errors
/// Too few drafts pass, none of many in a row does, or a host fault.
pub fn draft_tasks(
    execute: &dyn Execute,
    gate: &ProposalGate,
    guard: &Guard,
    mut drafts: ProposalDrafts,
    count: usize,
) -> Result<Vec<Task>, PlayError> {
    /// Drafts judged together.
    const BLOCK: usize = 128;
    let (mut tasks, mut seen, mut refused) = (Vec::with_capacity(count), HashSet::new(), RefusedDrafts::default());
    while tasks.len() < count {
        let block: Vec<Attempt> = drafts.by_ref().take(BLOCK).map(Attempt::Proposal).collect();
        if block.is_empty() || refused.in_a_row >= DRAFTS_WITHOUT_TASK {
            let what = format!("only {} of {count} tasks are found", tasks.len());
            return Err(PlayError::Setup(format!("{what}: {}", refused.describe())));
        }
        let seed = |attempt| ProposalRequest { attempt, known: false, provenance: Provenance::Seed };
        for judged in judge_proposals(execute, gate, &block.iter().map(seed).collect::<Vec<_>>()) {
            let ProposalVerdict { verdict, task, .. } = judged?;
            let refusal = task.as_ref().and_then(|task| guard.refuse_programs([task.question.program()]));
            let (verdict, task) = refusal.map_or((verdict, task), |refusal| (refusal, None));
            match task {
                Some(task) if seen.insert(task.id()) => {
                    tasks.push(task);
                    refused.in_a_row = 0;
                }
                Some(_) => refused.add(rules::DUPLICATE, "it is a task already"),
                None => refused.add(&verdict.evidence.rule, &verdict.evidence.detail),
            }
        }
    }
    tasks.truncate(count);
    Ok(tasks)
}

/// The drafts that became no task.
#[derive(Default)]
struct RefusedDrafts {
    /// Since the last that became one.
    in_a_row: usize,
    all: usize,
    /// How many each rule refused, with the detail of the first.
    by_rule: BTreeMap<String, (usize, String)>,
}

impl RefusedDrafts {
    fn add(&mut self, rule: &str, detail: &str) {
        self.in_a_row += 1;
        self.all += 1;
        self.by_rule.entry(rule.to_owned()).or_insert_with(|| (0, detail.to_owned())).0 += 1;
    }

    /// What refused most, and what to change.
    fn describe(&self) -> String {
        let ended = if self.in_a_row < DRAFTS_WITHOUT_TASK {
            "there are no more drafts".to_owned()
        } else {
            format!("the last {} drafts gave none", self.in_a_row)
        };
        let most = self.by_rule.iter().max_by_key(|(_, (count, _))| *count);
        let refused = most.map_or_else(String::new, |(rule, (count, detail))| {
            format!("; of {} refused drafts the rule `{rule}` refused {count} (the first: {detail})", self.all)
        });
        format!("{ended}{refused}: raise `gate.limits`, widen the rule in `[gate]`, or ask for fewer tasks")
    }
}
