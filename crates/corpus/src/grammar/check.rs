//! Checks a grammar file and builds the [`Grammar`], from which every draw succeeds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;

use super::inputs::InputKind;
use super::template::{Phrase, Template, TemplatePiece};
use super::{Grammar, Op, raw};
use crate::{CorpusError, SplitShares};

/// The shares of families without their own.
pub(super) const DEFAULT_SHARES: &str = "default";

type Ops = BTreeMap<String, Vec<Op>>;
type RawOps = BTreeMap<String, Spanned<Vec<Spanned<raw::OpEntry>>>>;

pub(super) fn check_grammar(text: &str, origin: &str) -> Result<Grammar, CorpusError> {
    let source = GrammarSource { text, origin };
    let file: raw::GrammarFile = toml::from_str(text).map_err(|error| source.syntax_error(error))?;
    let check = GrammarCheck { source, file: &file };
    check.check_version()?;
    check.check_placeholders()?;
    check.check_inputs()?;
    check.check_families()?;
    check.check_loops()?;
    check.check_fragments()?;
    let ops = check.parse_all_ops()?;
    let same_ops = collect_type_keeping_ops(&ops);
    let mut grammar = Grammar {
        loop_ops: check.parse_loop_ops(&same_ops, &ops)?,
        conditions: check.parse_typed_ops("conditions", &file.conditions, &["x"], &ops)?,
        inputs: file.inputs.get_ref().clone(),
        families: file.families.get_ref().iter().map(|(k, v)| (k.clone(), v.get_ref().clone())).collect(),
        mixes: check.check_mixes()?,
        shares: check.check_shares()?,
        loops: file.loops.get_ref().clone(),
        fragments: Vec::new(),
        same_ops,
        ops,
    };
    grammar.fragments = super::fragments::derive_fragments(&grammar, file.fragments.get_ref());
    Ok(grammar)
}

struct GrammarCheck<'a> {
    source: GrammarSource<'a>,
    file: &'a raw::GrammarFile,
}

impl GrammarCheck<'_> {
    fn fail<T, R>(&self, at: &Spanned<T>, key: &str, problem: impl Into<String>, hint: &str) -> Result<R, CorpusError> {
        Err(self.source.error(&at.span(), key, problem, hint))
    }

    fn check_version(&self) -> Result<(), CorpusError> {
        match self.file.schema_version.get_ref() {
            1 => Ok(()),
            other => {
                let problem = format!("version `{other}` is not one this build reads");
                self.fail(&self.file.schema_version, "schema_version", problem, "write 1")
            }
        }
    }

    fn check_placeholders(&self) -> Result<(), CorpusError> {
        let defaults = &self.file.placeholders;
        self.check_range(&defaults.c, "placeholders.c", *defaults.c.get_ref(), 0)?;
        self.check_range(&defaults.d, "placeholders.d", *defaults.d.get_ref(), 0)?;
        self.check_letters(&defaults.s, "placeholders.s", defaults.s.get_ref())?;
        self.check_letters(&defaults.t, "placeholders.t", defaults.t.get_ref())
    }

    fn check_inputs(&self) -> Result<(), CorpusError> {
        let inputs = self.file.inputs.get_ref();
        let weights: Vec<f64> = InputKind::ALL.iter().map(|kind| inputs.weight(*kind)).collect();
        self.check_weights(&self.file.inputs, "inputs", &weights)?;
        self.check_range(&self.file.inputs, "inputs.int.range", inputs.int.range, i64::MIN)?;
        self.check_range(&self.file.inputs, "inputs.list.range", inputs.list.range, i64::MIN)?;
        self.check_range(&self.file.inputs, "inputs.list.length", inputs.list.length, 0)?;
        self.check_range(&self.file.inputs, "inputs.str.length", inputs.str.length, 0)?;
        self.check_letters(&self.file.inputs, "inputs.str.letters", &inputs.str.letters)
    }

    fn check_families(&self) -> Result<(), CorpusError> {
        if self.file.families.get_ref().is_empty() {
            return self.fail(
                &self.file.families,
                "families",
                "there is none",
                "add [families.one] with statements = 1",
            );
        }
        for (name, family) in self.file.families.get_ref() {
            let knobs = family.get_ref();
            let key = format!("families.{name}");
            if !(1..=16).contains(&knobs.statements) {
                let problem = format!("`{}` statements are not possible", knobs.statements);
                return self.fail(family, &format!("{key}.statements"), problem, "take 1 to 16");
            }
            self.check_chance(family, &format!("{key}.if"), knobs.branch)?;
            self.check_chance(family, &format!("{key}.for"), knobs.repeat)?;
            self.check_chance(family, &key, knobs.branch + knobs.repeat)?;
        }
        Ok(())
    }

    fn check_loops(&self) -> Result<(), CorpusError> {
        let loops = self.file.loops.get_ref();
        self.check_range(&self.file.loops, "loops.count", loops.count, 1)?;
        self.check_chance(&self.file.loops, "loops.early_return", loops.early_return)
    }

    fn check_fragments(&self) -> Result<(), CorpusError> {
        let fragments = self.file.fragments.get_ref();
        let at = &self.file.fragments;
        if let Some(short) = fragments.always.iter().find(|text| text.len() < 2 || !text.is_ascii()) {
            let problem = format!("`{short}` is not a fragment");
            return self.fail(at, "fragments.always", problem, "take two or more ASCII characters");
        }
        match fragments.limit >= fragments.always.len() {
            true => Ok(()),
            false => {
                let problem = format!("`{}` is less than `always` has", fragments.limit);
                self.fail(at, "fragments.limit", problem, "raise the limit; about 80 serve")
            }
        }
    }

    fn check_mixes(&self) -> Result<BTreeMap<String, Vec<(String, f64)>>, CorpusError> {
        let mut mixes = BTreeMap::new();
        for (name, mix) in &self.file.mixes {
            let parts: Vec<(String, f64)> = mix.get_ref().clone().into_iter().collect();
            if let Some((family, _)) =
                parts.iter().find(|(family, _)| !self.file.families.get_ref().contains_key(family))
            {
                let problem = format!("there is no family `{family}`");
                return self.fail(mix, &format!("mixes.{name}"), problem, "name a table of [families]");
            }
            let weights: Vec<f64> = parts.iter().map(|part| part.1).collect();
            self.check_weights(mix, &format!("mixes.{name}"), &weights)?;
            mixes.insert(name.clone(), parts);
        }
        Ok(mixes)
    }

    fn check_shares(&self) -> Result<BTreeMap<String, SplitShares>, CorpusError> {
        let split = &self.file.split;
        if !split.get_ref().contains_key(DEFAULT_SHARES) {
            return self.fail(
                split,
                "split",
                "`default` is missing",
                "add [split.default] with validation and held_out",
            );
        }
        let mut shares = BTreeMap::new();
        for (name, share) in split.get_ref() {
            let key = format!("split.{name}");
            if name != DEFAULT_SHARES && !self.file.families.get_ref().contains_key(name) {
                return self.fail(share, &key, format!("there is no family `{name}`"), "name a table of [families]");
            }
            let raw::RawShares { validation, held_out } = *share.get_ref();
            self.check_chance(share, &format!("{key}.validation"), validation)?;
            self.check_chance(share, &format!("{key}.held_out"), held_out)?;
            self.check_chance(share, &key, validation + held_out)?;
            shares.insert(name.clone(), SplitShares { validation, held_out });
        }
        Ok(shares)
    }

    /// Operations by the type they start from. Every type that can be reached leads on.
    fn parse_all_ops(&self) -> Result<Ops, CorpusError> {
        let mut ops = Ops::new();
        for (signature, entries) in self.file.ops.get_ref() {
            let key = format!("ops.{signature}");
            let Some((from, to)) = signature.split_once(" -> ") else {
                return self.fail(entries, &key, "is not a signature", "write \"from -> to\", such as \"int -> list\"");
            };
            let read = self.parse_ops(&key, entries, to, &["x", "v"])?;
            ops.entry(from.to_owned()).or_default().extend(read);
        }
        self.check_types_lead_on(&ops)?;
        Ok(ops)
    }

    fn check_types_lead_on(&self, ops: &Ops) -> Result<(), CorpusError> {
        let results = ops.values().flatten().map(|op| op.to.as_str());
        let needed: BTreeSet<&str> = results.chain(InputKind::ALL.iter().map(|kind| kind.name())).collect();
        match needed.into_iter().find(|kind| !ops.contains_key(*kind)) {
            None => Ok(()),
            Some(kind) => {
                let problem = format!("nothing starts from `{kind}`");
                self.fail(&self.file.ops, "ops", problem, "add operations with that type before the arrow")
            }
        }
    }

    fn parse_loop_ops(&self, same: &Ops, known: &Ops) -> Result<Ops, CorpusError> {
        let mut all = self.parse_typed_ops("loop_ops", &self.file.loop_ops, &["x", "i"], known)?;
        for (kind, ops) in same {
            all.entry(kind.clone()).or_default().extend(ops.iter().cloned());
        }
        Ok(all)
    }

    /// A section with one list for each type of `known`. Templates may use `names`.
    fn parse_typed_ops(&self, section: &str, lists: &RawOps, names: &[&str], known: &Ops) -> Result<Ops, CorpusError> {
        let mut ops = Ops::new();
        for (kind, entries) in lists {
            let key = format!("{section}.{kind}");
            if !known.contains_key(kind) {
                let problem = format!("there is no type `{kind}`");
                return self.fail(entries, &key, problem, "name a type that stands before an arrow of [ops]");
            }
            ops.insert(kind.clone(), self.parse_ops(&key, entries, kind, names)?);
        }
        Ok(ops)
    }

    fn parse_ops(
        &self,
        key: &str,
        entries: &Spanned<Vec<Spanned<raw::OpEntry>>>,
        to: &str,
        names: &[&str],
    ) -> Result<Vec<Op>, CorpusError> {
        let mut ops = Vec::new();
        for (at, entry) in entries.get_ref().iter().enumerate() {
            ops.push(self.parse_op(&format!("{key}[{at}]"), entry, to, names)?);
        }
        let weights: Vec<f64> = ops.iter().map(|op| op.weight).collect();
        self.check_weights(entries, key, &weights)?;
        Ok(ops)
    }

    fn parse_op(&self, key: &str, entry: &Spanned<raw::OpEntry>, to: &str, names: &[&str]) -> Result<Op, CorpusError> {
        let raw = entry.get_ref();
        self.check_weight(entry, &format!("{key}.weight"), raw.weight)?;
        let template = match Template::parse(&raw.text, |name| self.resolve_placeholder(raw, name)) {
            Ok(template) => template,
            Err(problem) => {
                return self.fail(entry, &format!("{key}.text"), problem, "the placeholders are {c}, {d}, {s} and {t}");
            }
        };
        self.check_ranges_used(key, entry)?;
        if !template.mentions("x") {
            return self.fail(entry, &format!("{key}.text"), format!("`{}` does not use `x`", raw.text), "use x");
        }
        if let Some(name) = ["v", "i"].iter().find(|name| !names.contains(name) && template.mentions(name)) {
            let problem = format!("`{name}` is not defined there");
            return self.fail(entry, &format!("{key}.text"), problem, "`v` belongs to [ops], `i` to [loop_ops]");
        }
        self.check_overrides(key, raw)?;
        let words = self.parse_phrases(key, entry, &template)?;
        Ok(Op { template, words, to: to.to_owned(), weight: raw.weight })
    }

    fn parse_phrases(
        &self,
        key: &str,
        entry: &Spanned<raw::OpEntry>,
        of: &Template,
    ) -> Result<Vec<Phrase>, CorpusError> {
        let read = |text: &String| match Phrase::parse(text, of) {
            Ok(words) => Ok(words),
            Err(problem) => {
                self.fail(entry, &format!("{key}.say"), problem, "use the placeholders of `text`, and ASCII words")
            }
        };
        entry.get_ref().say.iter().map(read).collect()
    }

    /// Resolves the placeholder `name` in `entry`.
    fn resolve_placeholder(&self, entry: &raw::OpEntry, name: char) -> Result<TemplatePiece, String> {
        let defaults = &self.file.placeholders;
        let number = |own: &Option<Spanned<[i64; 2]>>, default: &Spanned<[i64; 2]>| {
            let [low, high] = *own.as_ref().unwrap_or(default).get_ref();
            TemplatePiece::Number(low, high)
        };
        let letter = |own: &Option<Spanned<String>>, default: &Spanned<String>| {
            TemplatePiece::Letter(own.as_ref().unwrap_or(default).get_ref().chars().collect())
        };
        match name {
            'c' => Ok(number(&entry.c, &defaults.c)),
            'd' => Ok(number(&entry.d, &defaults.d)),
            's' => Ok(letter(&entry.s, &defaults.s)),
            't' => Ok(letter(&entry.t, &defaults.t)),
            other => Err(format!("there is no placeholder `{{{other}}}`")),
        }
    }

    /// Checks that the text has a placeholder for each range that `entry` gives.
    fn check_ranges_used(&self, key: &str, entry: &Spanned<raw::OpEntry>) -> Result<(), CorpusError> {
        let raw = entry.get_ref();
        let given = [('c', raw.c.is_some()), ('d', raw.d.is_some()), ('s', raw.s.is_some()), ('t', raw.t.is_some())];
        for (name, is_given) in given {
            if is_given && !raw.text.contains(&format!("{{{name}}}")) {
                let problem = format!("`{}` has no `{{{name}}}`", raw.text);
                return self.fail(entry, &format!("{key}.{name}"), problem, "delete the key or use the placeholder");
            }
        }
        Ok(())
    }

    /// Checks the ranges that `entry` gives.
    fn check_overrides(&self, key: &str, entry: &raw::OpEntry) -> Result<(), CorpusError> {
        for (name, range) in [("c", &entry.c), ("d", &entry.d)] {
            range
                .as_ref()
                .map_or(Ok(()), |range| self.check_range(range, &format!("{key}.{name}"), *range.get_ref(), 0))?;
        }
        for (name, letters) in [("s", &entry.s), ("t", &entry.t)] {
            letters.as_ref().map_or(Ok(()), |own| self.check_letters(own, &format!("{key}.{name}"), own.get_ref()))?;
        }
        Ok(())
    }

    fn check_weights<T>(&self, at: &Spanned<T>, key: &str, weights: &[f64]) -> Result<(), CorpusError> {
        weights.iter().try_for_each(|weight| self.check_weight(at, key, *weight))?;
        match weights.iter().sum::<f64>() > 0.0 {
            true => Ok(()),
            false => self.fail(at, key, "the weights sum to nothing", "give at least one a weight above 0"),
        }
    }

    fn check_weight<T>(&self, at: &Spanned<T>, key: &str, weight: f64) -> Result<(), CorpusError> {
        match weight.is_finite() && weight >= 0.0 {
            true => Ok(()),
            false => self.fail(at, key, format!("`{weight}` is not a weight"), "weights are finite and not negative"),
        }
    }

    fn check_chance<T>(&self, at: &Spanned<T>, key: &str, chance: f64) -> Result<(), CorpusError> {
        match (0.0..=1.0).contains(&chance) {
            true => Ok(()),
            false => self.fail(at, key, format!("`{chance}` is not a chance"), "take 0 to 1, and at most 1 together"),
        }
    }

    fn check_range<T>(&self, at: &Spanned<T>, key: &str, [low, high]: [i64; 2], least: i64) -> Result<(), CorpusError> {
        match low <= high && low >= least {
            true => Ok(()),
            false => {
                self.fail(at, key, format!("`[{low}, {high}]` is not a range"), "write [low, high], both included")
            }
        }
    }

    fn check_letters<T>(&self, at: &Spanned<T>, key: &str, letters: &str) -> Result<(), CorpusError> {
        match !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => Ok(()),
            false => self.fail(at, key, format!("`{letters}` are not letters"), "take letters and digits of ASCII"),
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

/// The text being read and its name.
#[derive(Clone, Copy)]
struct GrammarSource<'a> {
    text: &'a str,
    origin: &'a str,
}

impl GrammarSource<'_> {
    /// An error about `key`, whose value stands at `span`.
    fn error(&self, span: &Range<usize>, key: &str, problem: impl Into<String>, hint: &str) -> CorpusError {
        let (line, column) = position(self.text, span.start);
        CorpusError::Grammar {
            origin: self.origin.to_owned(),
            line,
            column,
            key: key.to_owned(),
            problem: problem.into(),
            hint: hint.to_owned(),
        }
    }

    /// Converts a parse error: bad syntax, a wrong type, an unknown or missing key.
    fn syntax_error(&self, mut error: toml::de::Error) -> CorpusError {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().replace('\n', "; ");
        // Without its input the error shows the dotted path of the key instead of an excerpt.
        error.set_input(None);
        let shown = error.to_string();
        let path = shown.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`').map(str::to_owned));
        let key = path.unwrap_or_else(|| key_on_line(self.text, span.start));
        self.error(&span, &key, message, "compare with task-corpus/tiny/grammar.toml, which shows every key")
    }
}

/// Line and column (in characters) of byte `at`, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The text before `=` on the line of byte `at`.
fn key_on_line(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.split('=').next().unwrap_or_default().trim().to_owned()
}
