//! The grammar file as it stands. Unknown keys are refused.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::SplitShares;

pub(super) type OpEntries = BTreeMap<String, Vec<OpEntry>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrammarFile {
    #[serde(rename = "schema_version")]
    pub(super) _version: u32,
    pub(super) placeholders: Placeholders,
    pub(super) inputs: Inputs,
    pub(super) families: BTreeMap<String, Family>,
    pub(super) mixes: BTreeMap<String, BTreeMap<String, f64>>,
    pub(super) split: BTreeMap<String, SplitShares>,
    pub(super) loops: Loops,
    pub(super) fragments: Fragments,
    pub(super) ops: OpEntries,
    #[serde(default)]
    pub(super) loop_ops: OpEntries,
    #[serde(default)]
    pub(super) conditions: OpEntries,
}

/// Default ranges of the placeholders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Placeholders {
    pub(super) c: [i64; 2],
    pub(super) d: [i64; 2],
    pub(super) s: String,
    pub(super) t: String,
}

/// One template and what narrows its placeholders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpEntry {
    pub(super) text: String,
    #[serde(default)]
    pub(super) say: Vec<String>,
    #[serde(default = "one")]
    pub(super) weight: f64,
    pub(super) c: Option<[i64; 2]>,
    pub(super) d: Option<[i64; 2]>,
    pub(super) s: Option<String>,
    pub(super) t: Option<String>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    pub(super) int: IntInput,
    pub(super) list: ListInput,
    pub(super) str: StrInput,
}

/// `range`: both ends included.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IntInput {
    pub(super) weight: f64,
    pub(super) range: [i64; 2],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    pub(super) weight: f64,
    pub(super) length: [i64; 2],
    pub(super) range: [i64; 2],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StrInput {
    pub(super) weight: f64,
    pub(super) length: [i64; 2],
    pub(super) letters: String,
}

/// Difficulty knobs of one family.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    /// Of the function's own body: `if` or `for` with its inner line is one.
    pub(super) statements: usize,
    #[serde(default, rename = "if")]
    pub(super) branch: f64,
    #[serde(default, rename = "for")]
    pub(super) repeat: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Loops {
    pub(super) count: [i64; 2],
    pub(super) early_return: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fragments {
    pub(super) limit: usize,
    pub(super) always: Vec<String>,
}
