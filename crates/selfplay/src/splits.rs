//! The guard of splits: evaluation shares no program, function, sentence or repository with training.
//!
//! Every game has one [`Guard`], made of its validation and its held-out set when it is set up. Set-up asks it about all that was
//! configured ([`Guard::check_program`] and its siblings: an [`Overlap`] is an error), play about every proposal and about the seeds that
//! a generator makes ([`Guard::refuse_programs`]: an overlap is a verdict by the rule [`HELD_OUT`]), warm-up about every example.
//!
//! # What evaluation means here
//! References and statements of problems, solutions and instructions of tasks, and the functions of repositories whose bugs are
//! repaired, without the bug: the answers, and the texts that ask for them. The buggy function of an evaluation bug is no such
//! thing: what is right for it is in its repository.
//!
//! # Invariants
//! Pure: a function of the configuration, so a resumed run and a replay come to the same verdicts. Attempts are not checked: a
//! solver that writes an evaluation program for another task has not been shown it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Language, ScannedLanguage, Status, Verdict};
use veriplay_python::Python;
use veriplay_python::fingerprint::{Function, functions};
use veriplay_python::syntax::is_too_complex;

use crate::judgement::rule_verdict;

/// The rule that refuses proposals which hold what the policy is evaluated on: `evidence.rule` of their verdicts.
pub const HELD_OUT: &str = "held_out";

/// A set of tasks that the policy is evaluated on and never trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalSet {
    /// For claims. Nobody tunes on it.
    HeldOut,
    /// For tuning.
    Validation,
}

impl EvalSet {
    /// Both.
    pub const ALL: [EvalSet; 2] = [EvalSet::HeldOut, EvalSet::Validation];

    /// The word that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            EvalSet::Validation => "validation",
            EvalSet::HeldOut => "held_out",
        }
    }

    /// As [`EvalSet::name`], in prose.
    pub const fn label(self) -> &'static str {
        match self {
            EvalSet::Validation => "validation",
            EvalSet::HeldOut => "held-out",
        }
    }
}

/// A program, function, text or repository that the policy is evaluated on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalItem {
    /// Its set.
    pub set: EvalSet,
    /// What it is called there.
    pub name: String,
}

/// Training data hold what the policy is evaluated on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{item} of {data} contains {what} of the {} set: {}", eval_item.set.name(), eval_item.name)]
pub struct Overlap {
    /// The data that train, such as `tasks.snippets`.
    pub data: String,
    /// The item among them.
    pub item: String,
    /// `a program`, `a function`, `a text`, `a repository`.
    pub what: &'static str,
    /// What it shares with an evaluation set.
    pub eval_item: EvalItem,
}

impl Overlap {
    /// What to do about it.
    pub const HINT: &'static str = "remove it from one of the two: training and evaluation data may not share a program, function, \
        text or repository; layout and variable names do not count";
}

/// Everything that the policy is evaluated on, by fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    programs: BTreeMap<Digest, EvalItem>,
    texts: BTreeMap<Digest, EvalItem>,
    repositories: BTreeMap<Digest, EvalItem>,
    /// The language of programs, where it is not Python: they are compared whole, by their tokens.
    scanned: Option<&'static ScannedLanguage>,
}

impl Guard {
    /// A guard of programs in a language that is not parsed.
    pub fn of_scanned(language: &'static ScannedLanguage) -> Self {
        Self { scanned: Some(language), ..Self::default() }
    }

    fn fingerprint(&self, program: &str) -> Digest {
        match self.scanned {
            Some(language) => language.fingerprint(program),
            None => Python.fingerprint(program),
        }
    }

    /// The functions of a program that stand for it.
    fn functions(&self, program: &str) -> Vec<Function> {
        if self.scanned.is_some() { Vec::new() } else { functions(program) }
    }

    /// Adds a program of an evaluation set, and its functions. An earlier entry keeps its name.
    pub fn add_program(&mut self, set: EvalSet, name: &str, program: &str) {
        self.add_functions(set, name, program);
        let eval_item = EvalItem { set, name: name.to_owned() };
        self.programs.entry(self.fingerprint(program)).or_insert(eval_item);
    }

    /// Adds a statement or an instruction.
    pub fn add_text(&mut self, set: EvalSet, name: &str, text: &str) {
        let eval_item = EvalItem { set, name: name.to_owned() };
        self.texts.entry(text_fingerprint(text)).or_insert(eval_item);
    }

    /// Adds a repository by its layer, and the functions of its code: paths with texts.
    pub fn add_repository<'a>(
        &mut self,
        set: EvalSet,
        name: &str,
        package: &Digest,
        code: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let eval_item = EvalItem { set, name: format!("repository `{name}`") };
        self.repositories.entry(package.clone()).or_insert(eval_item);
        for (path, text) in code {
            self.add_functions(set, &format!("`{name}/{path}`"), text);
        }
    }

    fn add_functions(&mut self, set: EvalSet, name: &str, program: &str) {
        for function in self.functions(program) {
            let eval_item = EvalItem { set, name: format!("`{}` of {name}", function.name) };
            self.programs.entry(function.fingerprint).or_insert(eval_item);
        }
    }

    /// Finds what of the evaluation sets a program is, or holds as a function.
    pub fn find_program(&self, program: &str) -> Option<&EvalItem> {
        // Cheap in a game without evaluation programs.
        if self.programs.is_empty() {
            return None;
        }
        let own = std::iter::once(self.fingerprint(program));
        let inner = self.functions(program).into_iter().map(|function| function.fingerprint);
        own.chain(inner).find_map(|fingerprint| self.programs.get(&fingerprint))
    }

    /// Finds the text of an evaluation set that a text repeats.
    pub fn find_text(&self, text: &str) -> Option<&EvalItem> {
        self.texts.get(&text_fingerprint(text))
    }

    /// Checks a program that is configured to train: `item` of `data`.
    pub fn check_program(&self, data: &str, item: &str, program: &str) -> Result<(), Overlap> {
        let own = self.programs.get(&self.fingerprint(program));
        let what = if own.is_some() { "a program" } else { "a function" };
        overlap(data, item, what, own.or_else(|| self.find_program(program)))
    }

    /// As [`Guard::check_program`], of a statement or an instruction.
    pub fn check_text(&self, data: &str, item: &str, text: &str) -> Result<(), Overlap> {
        overlap(data, item, "a text", self.find_text(text))
    }

    /// As [`Guard::check_program`], of a repository by its layer.
    pub fn check_repository(&self, data: &str, item: &str, package: &Digest) -> Result<(), Overlap> {
        overlap(data, item, "a repository", self.repositories.get(package))
    }

    /// The verdict on a proposal that holds one of these programs, if it is to be refused for one.
    pub fn refuse_programs<'a>(&self, programs: impl IntoIterator<Item = &'a str>) -> Option<Verdict> {
        programs.into_iter().find_map(|program| self.refuse_program(program))
    }

    fn refuse_program(&self, program: &str) -> Option<Verdict> {
        if !self.programs.is_empty() && self.scanned.is_none() && is_too_complex(program) {
            return Some(refusal(
                "it nests too deep, or is too large, to be compared with what is measured".to_owned(),
            ));
        }
        self.find_program(program).map(|eval_item| refusal(describe_eval_item(eval_item)))
    }

    /// As [`Guard::refuse_programs`], of a statement or an instruction.
    pub fn refuse_text(&self, text: &str) -> Option<Verdict> {
        self.find_text(text).map(|eval_item| refusal(describe_eval_item(eval_item)))
    }

    /// As [`Guard::refuse_programs`], of a task: what it says, and what solves it.
    pub fn refuse_task(&self, text: &str, solution: &str) -> Option<Verdict> {
        self.refuse_text(text).or_else(|| self.refuse_program(solution))
    }
}

fn overlap(data: &str, item: &str, what: &'static str, eval_item: Option<&EvalItem>) -> Result<(), Overlap> {
    let error = |eval_item: &EvalItem| Overlap {
        data: data.to_owned(),
        item: item.to_owned(),
        what,
        eval_item: eval_item.clone(),
    };
    eval_item.map_or(Ok(()), |eval_item| Err(error(eval_item)))
}

/// Why a proposal is refused, for people.
fn describe_eval_item(eval_item: &EvalItem) -> String {
    format!("it holds {} of the {} set", eval_item.name, eval_item.set.name())
}

/// Whether a verdict is a refusal by this rule.
pub(crate) fn is_refusal(verdict: &Verdict) -> bool {
    verdict.evidence.rule == HELD_OUT
}

fn refusal(why: String) -> Verdict {
    Verdict { total: 1, ..rule_verdict(Status::Invalid, HELD_OUT, why) }
}

/// Names a sentence up to case, white space and punctuation: sentences that differ in nothing else ask the same.
pub fn text_fingerprint(text: &str) -> Digest {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "+-*/%<>=_".contains(c)));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    Digest::of(words.join(" ").as_bytes())
}
