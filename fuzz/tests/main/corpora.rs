//! Every target over its saved corpus, and over a fixed number of mutations of it.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use veriplay_fuzz::{TARGETS, Target};

use super::mutate::mutant;

/// Mutations of its corpus that a target runs.
const MUTANTS: usize = 4000;
/// The same of one that takes milliseconds for each: it compiles what it reads.
const MUTANTS_OF_SLOW: usize = 200;
const SLOW: &str = "module";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The saved inputs of a target, in the order of their names.
fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = root().join("corpus").join(target.name);
    let mut paths: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file of the corpus"))).collect()
}

fn holds(target: &Target, bytes: &[u8], origin: &str) {
    let run = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
    assert!(run.is_ok(), "target `{}` breaks on {origin}: {}", target.name, bytes.escape_ascii());
}

#[test]
fn every_saved_input_holds() {
    for target in TARGETS {
        let corpus = corpus(target);
        assert!(corpus.len() >= 5, "target `{}` has {} saved inputs", target.name, corpus.len());
        for (path, bytes) in corpus {
            holds(target, &bytes, &path.display().to_string());
        }
    }
}

#[test]
fn mutations_of_saved_inputs_hold() {
    for (seed, target) in TARGETS.iter().enumerate() {
        let corpus: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, bytes)| bytes).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let mutants = if target.name == SLOW { MUTANTS_OF_SLOW } else { MUTANTS };
        for n in 0..mutants {
            holds(target, &mutant(&mut rng, &corpus), &format!("mutant {n}"));
        }
    }
}

#[test]
fn every_target_has_a_binary_and_every_binary_and_corpus_a_target() {
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let stems = |dir: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(root().join(dir)).expect(dir);
        let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        entries.map(|entry| stem(entry.expect("an entry").path())).collect()
    };
    assert_eq!(stems("fuzz_targets"), names);
    assert_eq!(stems("corpus"), names);
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    for name in names {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "Cargo.toml has no `{name}`");
    }
}
