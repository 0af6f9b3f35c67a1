//! Makes a [`Grammar`] of the file. What is no template or leads to no type is refused.
//!
//! There is one such file, and tests draw from it: what a draw shows, such as a range without a number, is not looked for here.

use std::collections::BTreeMap;

use super::raw::{GrammarFile, OpEntries, OpEntry, Placeholders};
use super::template::{Phrase, Template, Values};
use super::{Grammar, InputKind, Op};

/// The shares of families without their own.
pub(super) const DEFAULT_SHARES: &str = "default";

type Ops = BTreeMap<String, Vec<Op>>;

impl GrammarFile {
    pub(super) fn into_grammar(self) -> Result<Grammar, String> {
        let ops = self.parse_all_ops()?;
        let same_ops = collect_type_keeping_ops(&ops);
        let mut loop_ops = self.parse_ops_of_types(&self.loop_ops)?;
        for (kind, ops) in &same_ops {
            loop_ops.entry(kind.clone()).or_default().extend(ops.iter().cloned());
        }
        let mut families = self.mixes.values().flat_map(BTreeMap::keys);
        if let Some(family) = families.find(|family| !self.families.contains_key(*family)) {
            return Err(format!("mixes: there is no family `{family}`"));
        }
        if !self.split.contains_key(DEFAULT_SHARES) {
            return Err("split: `default` is missing".to_owned());
        }
        let mut grammar = Grammar {
            conditions: self.parse_ops_of_types(&self.conditions)?,
            inputs: self.inputs,
            families: self.families,
            mixes: self.mixes.into_iter().map(|(name, mix)| (name, mix.into_iter().collect())).collect(),
            shares: self.split,
            loops: self.loops,
            fragments: Vec::new(),
            loop_ops,
            same_ops,
            ops,
        };
        grammar.fragments = super::fragments::derive_fragments(&grammar, &self.fragments);
        Ok(grammar)
    }

    /// Operations by the type they start from. Every type that can be reached leads on.
    fn parse_all_ops(&self) -> Result<Ops, String> {
        let mut ops = Ops::new();
        for (signature, entries) in &self.ops {
            let types = signature.split_once(" -> ");
            let (from, to) = types.ok_or_else(|| format!("`{signature}` is no signature such as `int -> list`"))?;
            ops.entry(from.to_owned()).or_default().extend(self.parse_ops(signature, entries, to)?);
        }
        let results = ops.values().flatten().map(|op| op.to.as_str());
        let mut needed = results.chain(InputKind::ALL.iter().map(|kind| kind.name()));
        if let Some(kind) = needed.find(|kind| !ops.contains_key(*kind)) {
            return Err(format!("ops: nothing starts from `{kind}`"));
        }
        Ok(ops)
    }

    /// Operations that keep the type they are listed under.
    fn parse_ops_of_types(&self, lists: &OpEntries) -> Result<Ops, String> {
        let mut ops = Ops::new();
        for (kind, entries) in lists {
            ops.insert(kind.clone(), self.parse_ops(kind, entries, kind)?);
        }
        Ok(ops)
    }

    fn parse_ops(&self, list: &str, entries: &[OpEntry], to: &str) -> Result<Vec<Op>, String> {
        let parse = |entry| self.parse_op(entry, to).map_err(|problem| format!("{list}: {problem}"));
        entries.iter().map(parse).collect()
    }

    fn parse_op(&self, entry: &OpEntry, to: &str) -> Result<Op, String> {
        let template = Template::parse(&entry.text, |name| self.placeholder(entry, name))?;
        if !template.mentions("x") {
            return Err(format!("`{}` does not use `x`", entry.text));
        }
        let words = entry.say.iter().map(|text| Phrase::parse(text, &template)).collect::<Result<_, _>>()?;
        Ok(Op { template, words, to: to.to_owned(), weight: entry.weight })
    }

    fn placeholder(&self, entry: &OpEntry, name: char) -> Result<Values, String> {
        let Placeholders { c, d, s, t } = &self.placeholders;
        match name {
            'c' => Ok(Values::Number(entry.c.unwrap_or(*c))),
            'd' => Ok(Values::Number(entry.d.unwrap_or(*d))),
            's' => Ok(Values::Letter(entry.s.as_ref().unwrap_or(s).chars().collect())),
            't' => Ok(Values::Letter(entry.t.as_ref().unwrap_or(t).chars().collect())),
            other => Err(format!("`{}`: there is no placeholder `{{{other}}}`", entry.text)),
        }
    }
}

/// The operations whose result has the type of their operand, by type.
fn collect_type_keeping_ops(ops: &Ops) -> Ops {
    let mut same = Ops::new();
    for (kind, list) in ops {
        let keeping: Vec<Op> = list.iter().filter(|op| op.to == *kind && op.weight > 0.0).cloned().collect();
        if !keeping.is_empty() {
            same.insert(kind.clone(), keeping);
        }
    }
    same
}
