//! Checks a grammar file's meaning and builds the [`Grammar`]: after this no draw can fail.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;

use super::inputs::InputKind;
use super::template::{Piece, Template, Words};
use super::{Grammar, Op, raw};
use crate::{CorpusError, Shares};

/// The shares of families without their own.
pub(super) const DEFAULT_SHARES: &str = "default";

type Ops = BTreeMap<String, Vec<Op>>;
type RawOps = BTreeMap<String, Spanned<Vec<Spanned<raw::Entry>>>>;

pub(super) fn grammar(text: &str, origin: &str) -> Result<Grammar, CorpusError> {
    let source = Source { text, origin };
    let file: raw::File = toml::from_str(text).map_err(|error| source.syntax(error))?;
    let check = Check { source, file: &file };
    check.version()?;
    check.placeholders()?;
    check.inputs()?;
    check.families()?;
    check.loops()?;
    check.fragments()?;
    let ops = check.ops()?;
    let same_ops = keeping_type(&ops);
    let mut grammar = Grammar {
        loop_ops: check.loop_ops(&same_ops, &ops)?,
        conditions: check.typed("conditions", &file.conditions, &["x"], &ops)?,
        inputs: file.inputs.get_ref().clone(),
        families: file.families.get_ref().iter().map(|(k, v)| (k.clone(), v.get_ref().clone())).collect(),
        mixes: check.mixes()?,
        shares: check.shares()?,
        loops: file.loops.get_ref().clone(),
        fragments: Vec::new(),
        same_ops,
        ops,
    };
    grammar.fragments = super::fragments::derive(&grammar, file.fragments.get_ref());
    Ok(grammar)
}

struct Check<'a> {
    source: Source<'a>,
    file: &'a raw::File,
}

impl Check<'_> {
    fn fail<T, R>(&self, at: &Spanned<T>, key: &str, problem: impl Into<String>, hint: &str) -> Result<R, CorpusError> {
        Err(self.source.error(&at.span(), key, problem, hint))
    }

    fn version(&self) -> Result<(), CorpusError> {
        match self.file.schema_version.get_ref() {
            1 => Ok(()),
            other => {
                let problem = format!("version `{other}` is not one this build reads");
                self.fail(&self.file.schema_version, "schema_version", problem, "write 1")
            }
        }
    }

    fn placeholders(&self) -> Result<(), CorpusError> {
        let defaults = &self.file.placeholders;
        self.range(&defaults.c, "placeholders.c", *defaults.c.get_ref(), 0)?;
        self.range(&defaults.d, "placeholders.d", *defaults.d.get_ref(), 0)?;
        self.letters(&defaults.s, "placeholders.s", defaults.s.get_ref())?;
        self.letters(&defaults.t, "placeholders.t", defaults.t.get_ref())
    }

    fn inputs(&self) -> Result<(), CorpusError> {
        let inputs = self.file.inputs.get_ref();
        let weights: Vec<f64> = InputKind::ALL.iter().map(|kind| inputs.weight(*kind)).collect();
        self.weights(&self.file.inputs, "inputs", &weights)?;
        self.range(&self.file.inputs, "inputs.int.range", inputs.int.range, i64::MIN)?;
        self.range(&self.file.inputs, "inputs.list.range", inputs.list.range, i64::MIN)?;
        self.range(&self.file.inputs, "inputs.list.length", inputs.list.length, 0)?;
        self.range(&self.file.inputs, "inputs.str.length", inputs.str.length, 0)?;
        self.letters(&self.file.inputs, "inputs.str.letters", &inputs.str.letters)
    }

    fn families(&self) -> Result<(), CorpusError> {
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
            self.chance(family, &format!("{key}.if"), knobs.branch)?;
            self.chance(family, &format!("{key}.for"), knobs.repeat)?;
            self.chance(family, &key, knobs.branch + knobs.repeat)?;
        }
        Ok(())
    }

    fn loops(&self) -> Result<(), CorpusError> {
        let loops = self.file.loops.get_ref();
        self.range(&self.file.loops, "loops.count", loops.count, 1)?;
        self.chance(&self.file.loops, "loops.early_return", loops.early_return)
    }

    fn fragments(&self) -> Result<(), CorpusError> {
        let fragments = self.file.fragments.get_ref();
        let at = &self.file.fragments;
        if let Some(short) = fragments.always.iter().find(|text| text.len() < 2 || !text.is_ascii()) {
            let problem = format!("`{short}` is no fragment");
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

    fn mixes(&self) -> Result<BTreeMap<String, Vec<(String, f64)>>, CorpusError> {
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
            self.weights(mix, &format!("mixes.{name}"), &weights)?;
            mixes.insert(name.clone(), parts);
        }
        Ok(mixes)
    }

    fn shares(&self) -> Result<BTreeMap<String, Shares>, CorpusError> {
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
            self.chance(share, &format!("{key}.validation"), validation)?;
            self.chance(share, &format!("{key}.held_out"), held_out)?;
            self.chance(share, &key, validation + held_out)?;
            shares.insert(name.clone(), Shares { validation, held_out });
        }
        Ok(shares)
    }

    /// Operations by the type they start from. Every type that can be reached leads on.
    fn ops(&self) -> Result<Ops, CorpusError> {
        let mut ops = Ops::new();
        for (signature, entries) in self.file.ops.get_ref() {
            let key = format!("ops.{signature}");
            let Some((from, to)) = signature.split_once(" -> ") else {
                return self.fail(entries, &key, "is not a signature", "write \"from -> to\", such as \"int -> list\"");
            };
            let read = self.entries(&key, entries, to, &["x", "v"])?;
            ops.entry(from.to_owned()).or_default().extend(read);
        }
        self.leads_on(&ops)?;
        Ok(ops)
    }

    fn leads_on(&self, ops: &Ops) -> Result<(), CorpusError> {
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

    fn loop_ops(&self, same: &Ops, known: &Ops) -> Result<Ops, CorpusError> {
        let mut all = self.typed("loop_ops", &self.file.loop_ops, &["x", "i"], known)?;
        for (kind, ops) in same {
            all.entry(kind.clone()).or_default().extend(ops.iter().cloned());
        }
        Ok(all)
    }

    /// A section with one list for each type of `known`. Templates may use `names`.
    fn typed(&self, section: &str, lists: &RawOps, names: &[&str], known: &Ops) -> Result<Ops, CorpusError> {
        let mut ops = Ops::new();
        for (kind, entries) in lists {
            let key = format!("{section}.{kind}");
            if !known.contains_key(kind) {
                let problem = format!("there is no type `{kind}`");
                return self.fail(entries, &key, problem, "name a type that stands before an arrow of [ops]");
            }
            ops.insert(kind.clone(), self.entries(&key, entries, kind, names)?);
        }
        Ok(ops)
    }

    fn entries(
        &self,
        key: &str,
        entries: &Spanned<Vec<Spanned<raw::Entry>>>,
        to: &str,
        names: &[&str],
    ) -> Result<Vec<Op>, CorpusError> {
        let mut ops = Vec::new();
        for (at, entry) in entries.get_ref().iter().enumerate() {
            ops.push(self.op(&format!("{key}[{at}]"), entry, to, names)?);
        }
        let weights: Vec<f64> = ops.iter().map(|op| op.weight).collect();
        self.weights(entries, key, &weights)?;
        Ok(ops)
    }

    fn op(&self, key: &str, entry: &Spanned<raw::Entry>, to: &str, names: &[&str]) -> Result<Op, CorpusError> {
        let raw = entry.get_ref();
        self.weight(entry, &format!("{key}.weight"), raw.weight)?;
        let template = match Template::parse(&raw.text, |name| self.piece(raw, name)) {
            Ok(template) => template,
            Err(problem) => {
                return self.fail(entry, &format!("{key}.text"), problem, "the placeholders are {c}, {d}, {s} and {t}");
            }
        };
        self.used(key, entry)?;
        if !template.mentions("x") {
            return self.fail(entry, &format!("{key}.text"), format!("`{}` does not use `x`", raw.text), "use x");
        }
        if let Some(name) = ["v", "i"].iter().find(|name| !names.contains(name) && template.mentions(name)) {
            let problem = format!("`{name}` is not defined there");
            return self.fail(entry, &format!("{key}.text"), problem, "`v` belongs to [ops], `i` to [loop_ops]");
        }
        self.overrides(key, raw)?;
        let words = self.words(key, entry, &template)?;
        Ok(Op { template, words, to: to.to_owned(), weight: raw.weight })
    }

    fn words(&self, key: &str, entry: &Spanned<raw::Entry>, of: &Template) -> Result<Vec<Words>, CorpusError> {
        let read = |text: &String| match Words::parse(text, of) {
            Ok(words) => Ok(words),
            Err(problem) => {
                self.fail(entry, &format!("{key}.say"), problem, "use the placeholders of `text`, and ASCII words")
            }
        };
        entry.get_ref().say.iter().map(read).collect()
    }

    /// What placeholder `name` stands for in `entry`.
    fn piece(&self, entry: &raw::Entry, name: char) -> Result<Piece, String> {
        let defaults = &self.file.placeholders;
        let number = |own: &Option<Spanned<[i64; 2]>>, default: &Spanned<[i64; 2]>| {
            let [low, high] = *own.as_ref().unwrap_or(default).get_ref();
            Piece::Number(low, high)
        };
        let letter = |own: &Option<Spanned<String>>, default: &Spanned<String>| {
            Piece::Letter(own.as_ref().unwrap_or(default).get_ref().chars().collect())
        };
        match name {
            'c' => Ok(number(&entry.c, &defaults.c)),
            'd' => Ok(number(&entry.d, &defaults.d)),
            's' => Ok(letter(&entry.s, &defaults.s)),
            't' => Ok(letter(&entry.t, &defaults.t)),
            other => Err(format!("there is no placeholder `{{{other}}}`")),
        }
    }

    /// A range for a placeholder that the text does not have is a mistake in one of the two.
    fn used(&self, key: &str, entry: &Spanned<raw::Entry>) -> Result<(), CorpusError> {
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

    /// The ranges `entry` gives itself.
    fn overrides(&self, key: &str, entry: &raw::Entry) -> Result<(), CorpusError> {
        for (name, range) in [("c", &entry.c), ("d", &entry.d)] {
            range.as_ref().map_or(Ok(()), |range| self.range(range, &format!("{key}.{name}"), *range.get_ref(), 0))?;
        }
        for (name, letters) in [("s", &entry.s), ("t", &entry.t)] {
            letters.as_ref().map_or(Ok(()), |own| self.letters(own, &format!("{key}.{name}"), own.get_ref()))?;
        }
        Ok(())
    }

    fn weights<T>(&self, at: &Spanned<T>, key: &str, weights: &[f64]) -> Result<(), CorpusError> {
        weights.iter().try_for_each(|weight| self.weight(at, key, *weight))?;
        match weights.iter().sum::<f64>() > 0.0 {
            true => Ok(()),
            false => self.fail(at, key, "the weights sum to nothing", "give at least one a weight above 0"),
        }
    }

    fn weight<T>(&self, at: &Spanned<T>, key: &str, weight: f64) -> Result<(), CorpusError> {
        match weight.is_finite() && weight >= 0.0 {
            true => Ok(()),
            false => self.fail(at, key, format!("`{weight}` is not a weight"), "weights are finite and not negative"),
        }
    }

    fn chance<T>(&self, at: &Spanned<T>, key: &str, chance: f64) -> Result<(), CorpusError> {
        match (0.0..=1.0).contains(&chance) {
            true => Ok(()),
            false => self.fail(at, key, format!("`{chance}` is not a chance"), "take 0 to 1, and at most 1 together"),
        }
    }

    fn range<T>(&self, at: &Spanned<T>, key: &str, [low, high]: [i64; 2], least: i64) -> Result<(), CorpusError> {
        match low <= high && low >= least {
            true => Ok(()),
            false => {
                self.fail(at, key, format!("`[{low}, {high}]` is not a range"), "write [low, high], both included")
            }
        }
    }

    fn letters<T>(&self, at: &Spanned<T>, key: &str, letters: &str) -> Result<(), CorpusError> {
        match !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => Ok(()),
            false => self.fail(at, key, format!("`{letters}` are not letters"), "take letters and digits of ASCII"),
        }
    }
}

/// The operations that give back the type they take, by type.
fn keeping_type(ops: &Ops) -> Ops {
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
struct Source<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Source<'_> {
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

    /// The reader's own error: bad syntax, a wrong type, an unknown or missing key.
    fn syntax(&self, mut error: toml::de::Error) -> CorpusError {
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

/// What stands before `=` on the line of byte `at`.
fn key_on_line(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.split('=').next().unwrap_or_default().trim().to_owned()
}
