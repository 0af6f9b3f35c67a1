//! Derives pieces for the tokenizer from the literals of templates and statement openings, ranked by the number of characters each saves
//! over a fixed sample of programs.

use std::collections::{BTreeMap, BTreeSet};

use super::Grammar;
use super::generate::{ASSIGN, FOR, HEADER, IF, LOOP_ASSIGN, RETURN, THEN_ASSIGN, THEN_RETURN};
use super::raw::Fragments;
use crate::random::{draw_weighted, seeded_stream};

/// Number of sampled programs. Enough that the ranking near the limit is stable.
const SAMPLE: usize = 3000;

pub(super) fn derive_fragments(grammar: &Grammar, data: &Fragments) -> Vec<String> {
    let candidates = collect_candidates(grammar, data);
    let saved = count_saved_characters(grammar, &candidates);
    let mut ranked: Vec<(u64, &String)> = candidates.iter().map(|text| (saved[text.as_str()], text)).collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let always = data.always.iter().cloned();
    let mut kept: Vec<String> = Vec::new();
    for text in always.chain(ranked.into_iter().filter(|(saved, _)| *saved > 0).map(|(_, text)| text.clone())) {
        if kept.len() < data.limit && !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

/// Every literal piece of two characters or more.
fn collect_candidates(grammar: &Grammar, data: &Fragments) -> BTreeSet<String> {
    let mut texts: BTreeSet<String> = data.always.iter().cloned().collect();
    for opening in [ASSIGN, RETURN, IF, FOR] {
        texts.insert(opening.to_owned());
        texts.insert(format!("{HEADER}{opening}"));
    }
    texts.extend([THEN_ASSIGN, THEN_RETURN, LOOP_ASSIGN].map(str::to_owned));
    let lists = grammar.ops.values().chain(grammar.loop_ops.values()).chain(grammar.conditions.values());
    for op in lists.flatten() {
        texts.extend(op.template.literals().map(str::to_owned));
    }
    texts.retain(|text| text.chars().count() > 1);
    texts
}

/// Characters each candidate saves: uses times (length − 1).
fn count_saved_characters<'a>(grammar: &Grammar, candidates: &'a BTreeSet<String>) -> BTreeMap<&'a str, u64> {
    let mut saved: BTreeMap<&str, u64> = candidates.iter().map(|text| (text.as_str(), 0)).collect();
    let lists = group_by_first_character(candidates);
    let mut rng = seeded_stream(0, "fragments");
    let families: Vec<&String> = grammar.families.keys().collect();
    for _ in 0..SAMPLE {
        let family = draw_weighted(&mut rng, &families, |_| 1.0);
        let program = grammar.write_program(&mut rng, family, &grammar.families[*family]).program;
        for piece in split_greedily(&program, &lists) {
            if let Some(count) = saved.get_mut(piece) {
                *count += piece.len() as u64 - 1;
            }
        }
    }
    saved
}

/// Candidates by first character, longest first.
fn group_by_first_character(candidates: &BTreeSet<String>) -> BTreeMap<char, Vec<&str>> {
    let mut lists: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for text in candidates {
        lists.entry(text.chars().next().unwrap_or_default()).or_default().push(text);
    }
    lists.values_mut().for_each(|list| list.sort_by_key(|text| std::cmp::Reverse(text.len())));
    lists
}

/// Cuts `program` leftmost-longest into candidates and single characters.
fn split_greedily<'a>(program: &'a str, candidates: &BTreeMap<char, Vec<&str>>) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let list = candidates.get(&first).map_or(&[][..], Vec::as_slice);
        let found = list.iter().find(|text| rest.starts_with(**text));
        let (piece, after) = rest.split_at(found.map_or(first.len_utf8(), |text| text.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
