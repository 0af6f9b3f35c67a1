//! What the proposals of earlier steps do: what tells a proposer that repeats itself. A behaviour is a digest that the environment gives
//! ([`crate::environment::Environment::behaviours`]), such as the signature of a program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::Digest;

use crate::rewards::ProposalFacts;

/// Admitted proposals of each kind that are remembered: M.
pub const REMEMBERED: usize = 100;

/// The behaviours of the newest admitted proposals by kind, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Behaviours {
    kinds: BTreeMap<String, Vec<Digest>>,
}

impl Behaviours {
    /// Whether nothing was remembered yet.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Compares the admitted proposals of a step, each with its kind and its behaviour, with earlier ones and with each other, and then remembers
    /// them. Their order does not matter. Where a behaviour is not known, nothing is said and nothing remembered.
    pub fn compare(&mut self, step: &[(&str, Option<Digest>)]) -> Vec<ProposalFacts> {
        let compared = step.iter().map(|(kind, own)| self.facts(kind, own.as_ref(), step)).collect();
        for (kind, behaviour) in step {
            let newest = self.kinds.entry((*kind).to_owned()).or_default();
            newest.extend(behaviour.clone());
            newest.drain(..newest.len().saturating_sub(REMEMBERED));
        }
        compared
    }

    fn facts(&self, kind: &str, own: Option<&Digest>, step: &[(&str, Option<Digest>)]) -> ProposalFacts {
        let Some(own) = own else { return ProposalFacts::default() };
        let earlier = self.kinds.get(kind).into_iter().flatten().filter(|other| *other == own).count();
        let batch: Vec<_> = step.iter().filter(|(other, _)| *other == kind).collect();
        let cluster = batch.iter().filter(|(_, other)| other.as_ref() == Some(own)).count();
        ProposalFacts {
            novelty: Some(1.0 - earlier as f64 / REMEMBERED as f64),
            cluster_share: Some((cluster - 1) as f64 / batch.len() as f64),
            ..ProposalFacts::default()
        }
    }
}
