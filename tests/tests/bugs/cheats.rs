//! Forged repairs: every file of `task-corpus/bug_cheats/repairs` is refused by the rule it names, and honest ones are not.

use std::path::Path;

use rayon::prelude::*;
use veriplay_core::{Status, TextFiles, Trust, Verdict};
use veriplay_tests::assert_none;
use veriplay_verifier::bugs::BugArtifact;

use super::{Bed, CODE, bed, corpus, ending, replaced, texts_in};

pub(super) struct Cheat {
    pub(super) name: String,
    /// The bug it is for, where there are several.
    pub(super) bug: Option<String>,
    status: String,
    rule: String,
    pub(super) files: Vec<(String, String)>,
    deleted: Vec<String>,
}

pub(super) fn cheats() -> Vec<Cheat> {
    cheats_of(&corpus().join("repairs"))
}

pub(super) fn cheats_of(directory: &Path) -> Vec<Cheat> {
    texts_in(directory).into_iter().map(|(name, text)| read(&name, &text)).collect()
}

fn read(name: &str, text: &str) -> Cheat {
    let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{name}"));
    let (status, rule) = line("expect: ").split_once(' ').unwrap();
    let block = |block: &str| {
        let (path, rest) = block.split_once('\n').unwrap();
        (path.to_owned(), rest.split_once("```").unwrap().0.to_owned())
    };
    let files = text.split("\n```file ").skip(1).map(block).collect();
    // Not by lines: what a file of the corpus holds may be a line to one reader and none to another.
    let deleted = text.split('\n').filter_map(|line| line.strip_prefix("delete: ")).map(str::to_owned).collect();
    let bug = text.lines().find_map(|line| line.strip_prefix("bug: ")).map(str::to_owned);
    Cheat { name: name.to_owned(), bug, status: status.to_owned(), rule: rule.replace('-', ""), files, deleted }
}

impl Cheat {
    /// `texts` with it.
    pub(super) fn applied(&self, mut texts: TextFiles) -> TextFiles {
        texts.retain(|path, _| !self.deleted.contains(path));
        texts.extend(self.files.iter().cloned());
        texts
    }

    /// What is wrong with the verdict on it, by the end that its file expects; only an honest one may be accepted.
    pub(super) fn fault(&self, bed: &Bed, trust: Trust, artifact: &BugArtifact, is_honest: bool) -> Option<String> {
        let Verdict { status, evidence, .. } = bed.graded(trust, artifact, &self.applied(bed.weakened(artifact)));
        let word = serde_json::to_value(status).unwrap();
        let is_expected = self.status == "not_accepted" || (word == self.status.as_str() && evidence.rule == self.rule);
        let as_told = (status == Status::Accepted) == is_honest && is_expected;
        (!as_told).then(|| format!("{}: {word} `{}` {}", self.name, evidence.rule, evidence.detail))
    }
}

#[test]
fn no_cheat_is_accepted_and_each_is_refused_for_what_it_is() {
    let Some(bed) = bed() else { return };
    let cheats = cheats();
    assert!(cheats.len() > 80);
    // Made before the threads of the pool ask for it: one that waits for it could be one that makes it.
    let artifact = bed.artifact();
    assert_none(cheats.par_iter().filter_map(|cheat| cheat.fault(bed, Trust::Shared, artifact, false)).collect());
}

#[test]
fn the_reverse_patch_and_another_honest_one_are_accepted() {
    let Some(bed) = bed() else { return };
    let artifact = bed.artifact();
    assert_eq!(artifact.fail_to_pass.len(), 11, "{:?}", artifact.fail_to_pass);
    let loop_ = "    result = 1\n    for number in numbers:\n        result += number\n    return result\n";
    let other = replaced(&bed.weakened(artifact), CODE, loop_, "    return sum(numbers)\n");
    for verdict in [
        bed.graded_text(Trust::Shared, artifact, &artifact.bug.bug_inject.reverse().to_string()),
        bed.graded(Trust::Shared, artifact, &other),
    ] {
        assert_eq!(ending(&verdict), (Status::Accepted, "shared"), "{:?}", verdict.evidence);
        assert_eq!(verdict.passed, verdict.total);
    }
}

#[test]
fn text_that_is_no_patch_or_fits_nowhere_is_malformed() {
    let Some(bed) = bed() else { return };
    let artifact = bed.artifact();
    let escape = artifact.bug.bug_inject.reverse().to_string().replace("src/tally/core.py", "../core.py");
    for text in ["I fixed it.", &escape, &artifact.bug.bug_inject.to_string()] {
        assert_eq!(ending(&bed.graded_text(Trust::Shared, artifact, text)), (Status::Malformed, "patch"), "{text}");
    }
}
