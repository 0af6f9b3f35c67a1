//! An episode as programs read it.

use serde::Serialize;
use veriplay_core::{Prompt, Role, Rollout, Status};
use veriplay_selfplay::rewards::{EpisodeFacts, EpisodeResult, ProposalFacts, ProposalOutcome};

#[derive(Serialize)]
pub(super) struct EpisodeMessage<'a> {
    role: Role,
    kind: &'a str,
    group: usize,
    #[serde(flatten)]
    result: ResultMessage,
    well_formed: bool,
    passed: Option<u32>,
    total: Option<u32>,
    fuel: Option<u64>,
    /// The rule that decided, where one did. Not the verdict's text: it is for people, and programs write into it.
    rule: Option<&'a str>,
    turns: Vec<TurnMessage<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultMessage {
    Proposal {
        /// `outcome`, and the facts of a valid one.
        #[serde(flatten)]
        outcome: ProposalOutcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        solve_rate: Option<f64>,
    },
    Response {
        status: Status,
    },
}

#[derive(Serialize)]
struct TurnMessage<'a> {
    prompt: &'a Prompt,
    response: &'a str,
    tokens: usize,
}

impl<'a> EpisodeMessage<'a> {
    pub(super) fn new(episode: &EpisodeFacts<'a>) -> Self {
        let turn = |(prompt, rollout): &'a (Prompt, Rollout)| TurnMessage {
            prompt,
            response: &rollout.text,
            tokens: rollout.tokens.len(),
        };
        let verdict = episode.verdict;
        Self {
            role: episode.role,
            kind: episode.kind,
            group: episode.group,
            result: match episode.result {
                EpisodeResult::Proposal(outcome) => {
                    let solved = outcome.facts().filter(|facts| facts.judged > 0);
                    ResultMessage::Proposal { outcome, solve_rate: solved.map(ProposalFacts::rate) }
                }
                EpisodeResult::Response(status) => ResultMessage::Response { status },
            },
            well_formed: episode.well_formed,
            passed: verdict.map(|verdict| verdict.passed),
            total: verdict.map(|verdict| verdict.total),
            fuel: verdict.map(|verdict| verdict.evidence.fuel),
            rule: verdict.map(|verdict| verdict.evidence.rule.as_str()),
            turns: episode.turns.iter().map(turn).collect(),
        }
    }
}
