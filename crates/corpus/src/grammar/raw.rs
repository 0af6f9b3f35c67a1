//! The grammar file as it stands, before its meaning is checked. Unknown keys are refused here.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrammarFile {
    pub(crate) schema_version: Spanned<u32>,
    pub(crate) placeholders: Placeholders,
    pub(crate) inputs: Spanned<Inputs>,
    pub(crate) families: Spanned<BTreeMap<String, Spanned<Family>>>,
    pub(crate) mixes: BTreeMap<String, Spanned<BTreeMap<String, f64>>>,
    pub(crate) split: Spanned<BTreeMap<String, Spanned<RawShares>>>,
    pub(crate) loops: Spanned<Loops>,
    pub(crate) fragments: Spanned<Fragments>,
    pub(crate) ops: Spanned<BTreeMap<String, Spanned<Vec<Spanned<OpEntry>>>>>,
    #[serde(default)]
    pub(crate) loop_ops: BTreeMap<String, Spanned<Vec<Spanned<OpEntry>>>>,
    #[serde(default)]
    pub(crate) conditions: BTreeMap<String, Spanned<Vec<Spanned<OpEntry>>>>,
}

/// Default ranges of the placeholders.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placeholders {
    pub(crate) c: Spanned<[i64; 2]>,
    pub(crate) d: Spanned<[i64; 2]>,
    pub(crate) s: Spanned<String>,
    pub(crate) t: Spanned<String>,
}

/// One template and what narrows its placeholders.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpEntry {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) say: Vec<String>,
    #[serde(default = "one")]
    pub(crate) weight: f64,
    pub(crate) c: Option<Spanned<[i64; 2]>>,
    pub(crate) d: Option<Spanned<[i64; 2]>>,
    pub(crate) s: Option<Spanned<String>>,
    pub(crate) t: Option<Spanned<String>>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inputs {
    pub(crate) int: IntInput,
    pub(crate) list: ListInput,
    pub(crate) str: StrInput,
}

/// `range`: both ends included.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntInput {
    pub(crate) weight: f64,
    pub(crate) range: [i64; 2],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListInput {
    pub(crate) weight: f64,
    pub(crate) length: [i64; 2],
    pub(crate) range: [i64; 2],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StrInput {
    pub(crate) weight: f64,
    pub(crate) length: [i64; 2],
    pub(crate) letters: String,
}

/// Difficulty knobs of one family.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Of the function's own body: `if` or `for` with its inner line is one.
    pub(crate) statements: usize,
    #[serde(default, rename = "if")]
    pub(crate) branch: f64,
    #[serde(default, rename = "for")]
    pub(crate) repeat: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawShares {
    pub(crate) validation: f64,
    pub(crate) held_out: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Loops {
    pub(crate) count: [i64; 2],
    pub(crate) early_return: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fragments {
    pub(crate) limit: usize,
    pub(crate) always: Vec<String>,
}
