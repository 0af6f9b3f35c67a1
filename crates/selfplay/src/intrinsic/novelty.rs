//! `novelty`: how far the task's code is from the nearest earlier one.
//!
//! # What it measures
//! 1 − the largest similarity to the code of one of the newest 64 other tasks of its kind in the pool; 1 where there is none. The similarity of
//! two programs is the share of the trigrams of either that both have, over kinds of tokens: all names are one kind, and so are all numbers
//! and all strings. Absolute Zero Reasoner takes the mean distance of syntax trees to the references that the prompt showed; the nearest
//! program says more about a copy.
//!
//! # Why
//! Proposers repeat what was rewarded. The paper saw no significant gain from such a term.
//!
//! # How it can be gamed
//! By code that does nothing, in shapes that nobody used. Renaming and other literals bring nothing.
//!
//! # Example
//! A copy with other names has the value 0, and the first task of its kind 1.

use std::collections::BTreeSet;

use veriplay_python::syntax::with_syntax;

use super::IntrinsicReward;
use crate::statistics::similarity;
use crate::task_pool::{TaskContent, Trigram};

pub(super) struct Novelty;

impl IntrinsicReward for Novelty {
    fn name(&self) -> &'static str {
        "novelty"
    }

    fn value(&self, task: &TaskContent, others: &[&TaskContent]) -> Option<f64> {
        let own = shape(task)?;
        let similarities = others.iter().filter_map(|other| Some(similarity(own, shape(other)?)));
        Some(1.0 - similarities.fold(0.0, f64::max))
    }
}

/// The trigrams of the code; `None` without code.
fn shape(task: &TaskContent) -> Option<&BTreeSet<Trigram>> {
    task.shape(trigrams)
}

/// Text that is no Python has none.
fn trigrams(code: &str) -> BTreeSet<Trigram> {
    let kinds = with_syntax(code, |parsed| parsed.tokens().iter().map(|token| token.kind() as u8).collect());
    let kinds: Vec<u8> = kinds.unwrap_or_default();
    kinds.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_copy_is_not_new_and_another_program_is() {
        let content = |code: &str| TaskContent::new(code, None);
        let value = |code: &str, others: &[TaskContent]| {
            Novelty.value(&content(code), &others.iter().collect::<Vec<_>>()).expect("it has code")
        };
        let known = [content("def f(x):\n    return x + 1"), content("def f(x):\n    return x[::-1]")];
        assert_eq!(value("def f(number):\n    return number + 27", &known), 0.0);
        let other = value("def f(x):\n    for i in x:\n        if i:\n            return {i: [1]}", &known);
        assert!(other > 0.5 && other < 1.0, "{other}");
        assert_eq!(value("def f(x):\n    return x", &[]), 1.0);
        assert_eq!(Novelty.value(&TaskContent::default(), &[]), None);
    }
}
