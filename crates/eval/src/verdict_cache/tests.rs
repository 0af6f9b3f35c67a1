//! Whatever happens to the cache's file, a lookup returns the stored verdict or none.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use veriplay_core::{Digest, Evidence, Status, Verdict};

use super::store::{CacheChange, Store};
use super::{FILE, LOCK, MAX_BYTES, OpenCache, SET_ASIDE, VerdictCache};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn name(n: u64) -> Digest {
    Digest::of(&n.to_le_bytes())
}

/// Each of its own, with a detail of about `n` bytes.
fn verdict(n: u64) -> Verdict {
    let detail = format!("é\n{}", "x".repeat(usize::try_from(n).expect("it is small")));
    let evidence = Evidence {
        jobs: vec![name(n), name(n + 1)],
        fuel: n,
        rule: "shared".to_owned(),
        detail,
        ..Evidence::default()
    };
    Verdict { status: Status::WrongAnswer, passed: 1, total: 2, evidence }
}

fn try_open(dir: &Path, rules: &str, max_bytes: u64) -> VerdictCache {
    VerdictCache::or_none(OpenCache::new(dir, Digest::of(rules.as_bytes()), max_bytes))
}

fn open(dir: &Path) -> VerdictCache {
    let cache = try_open(dir, "rules", MAX_BYTES);
    assert!(cache.open.is_some());
    cache
}

fn fill(dir: &Path, numbers: std::ops::Range<u64>) {
    let cache = open(dir);
    numbers.for_each(|n| cache.put(&name(n), &verdict(n)));
}

#[test]
fn what_was_stored_comes_back_in_a_later_run_and_nothing_else_does() {
    let dir = folder();
    fill(dir.path(), 0..20);
    for _ in 0..2 {
        let cache = open(dir.path());
        assert!((0..20).all(|n| cache.get(&name(n)) == Some(verdict(n))));
        assert_eq!(cache.get(&name(20)), None);
    }
    assert!(!dir.path().join(SET_ASIDE).exists());
}

#[test]
fn another_binary_has_other_names() {
    let dir = folder();
    fill(dir.path(), 0..2);
    let other = try_open(dir.path(), "other rules", MAX_BYTES);
    assert_eq!(other.get(&name(1)), None);
    other.put(&name(1), &verdict(5));
    drop(other);
    assert_eq!(open(dir.path()).get(&name(1)), Some(verdict(1)));
    assert_eq!(try_open(dir.path(), "other rules", MAX_BYTES).get(&name(1)), Some(verdict(5)));
}

#[test]
fn the_longest_unused_go_first_and_no_sooner_than_they_must() {
    let dir = folder();
    // Room for four of them, which all weigh about 600 bytes, and not for five.
    let in_small = |used: &[u64], puts: &[u64]| {
        let cache = try_open(dir.path(), "rules", 2800);
        used.iter().for_each(|&n| assert_eq!(cache.get(&name(n)), Some(verdict(n)), "{n}"));
        puts.iter().for_each(|&n| cache.put(&name(n), &verdict(n)));
        cache.flush();
        (0..9).filter(|&n| cache.get(&name(n)).is_some()).collect::<Vec<_>>()
    };
    for n in 0..4 {
        assert_eq!(in_small(&[], &[n]), (0..=n).collect::<Vec<_>>());
    }
    // They were all used in this order by the question itself, so 1 is the oldest once 0 was used again.
    assert_eq!(in_small(&[0], &[4]), [0, 2, 3, 4]);
    assert_eq!(in_small(&[2], &[5]), [2, 3, 4, 5]);
    // A second one of a name changes nothing but its age.
    assert_eq!(in_small(&[], &[2, 6]), [2, 4, 5, 6]);
}

#[test]
fn what_is_stored_stays_below_the_bound_and_so_does_the_file() {
    const BOUND: u64 = 1 << 20;
    let dir = folder();
    let path = dir.path().join(FILE);
    let store = Store::open(&path, BOUND).expect("it can be made");
    for round in 0..40 {
        let put = |n| (name(n), CacheChange::Put(Box::new(verdict(n % 900))));
        store.apply(&(round * 200..(round + 1) * 200).map(put).collect::<Vec<_>>()).expect("it can be stored");
        let (recorded, found) = store.bytes().expect("it can be read");
        assert_eq!(recorded, found);
        assert!(found <= BOUND, "round {round}: {found} bytes");
    }
    assert!(store.get(&name(40 * 200 - 1)).expect("it can be read").is_some());
    assert!(store.get(&name(0)).expect("it can be read").is_none());
    drop(store);
    let length = std::fs::metadata(&path).expect("it is there").len();
    assert!(length <= 6 * BOUND, "the file has {length} bytes");
}

#[test]
fn one_that_is_larger_than_all_may_be_drives_nothing_out() {
    let dir = folder();
    let cache = try_open(dir.path(), "rules", 2000);
    cache.put(&name(1), &verdict(1));
    cache.put(&name(2), &verdict(5000));
    cache.flush();
    assert_eq!((cache.get(&name(1)), cache.get(&name(2))), (Some(verdict(1)), None));
}

#[test]
fn a_second_owner_goes_without_until_the_first_is_gone() {
    let dir = folder();
    fill(dir.path(), 0..3);
    let first = open(dir.path());
    let second = try_open(dir.path(), "rules", MAX_BYTES);
    assert!(second.open.is_none());
    second.put(&name(7), &verdict(7));
    assert_eq!((second.get(&name(1)), first.get(&name(1))), (None, Some(verdict(1))));
    drop(first);
    assert_eq!(open(dir.path()).get(&name(7)), None);
}

#[test]
fn what_was_stored_when_the_process_was_killed_is_there() {
    let (dir, killed) = (folder(), folder());
    let cache = open(dir.path());
    (0..5).for_each(|n| cache.put(&name(n), &verdict(n)));
    cache.flush();
    cache.put(&name(5), &verdict(5));
    // The file as it lies there now, never closed, is what a kill leaves.
    std::fs::copy(dir.path().join(FILE), killed.path().join(FILE)).expect("it can be copied");
    let after = open(killed.path());
    assert!((0..5).all(|n| after.get(&name(n)) == Some(verdict(n))));
    assert_eq!(after.get(&name(5)), None);
    assert!(!killed.path().join(SET_ASIDE).exists());
}

#[test]
fn a_file_of_something_else_is_set_aside() {
    for text in ["short", &"verdicts, all of them\n".repeat(1000)] {
        let dir = folder();
        std::fs::write(dir.path().join(FILE), text).expect("it can be written");
        fill(dir.path(), 0..3);
        assert_eq!(open(dir.path()).get(&name(2)), Some(verdict(2)));
        assert_eq!(std::fs::read_to_string(dir.path().join(SET_ASIDE)).expect("it was kept"), text);
    }
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    let dir = folder();
    for (mode, used) in [(0o777, false), (0o720, false), (0o755, true)] {
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).expect("it is ours");
        assert_eq!(try_open(dir.path(), "rules", MAX_BYTES).open.is_some(), used, "{mode:o}");
    }
}

#[test]
fn without_a_folder_there_is_no_cache() {
    let dir = folder();
    let file = dir.path().join(LOCK);
    std::fs::write(&file, "").expect("it can be written");
    let cache = try_open(&file, "rules", MAX_BYTES);
    cache.put(&name(1), &verdict(1));
    cache.flush();
    assert_eq!((cache.get(&name(1)), VerdictCache::none().get(&name(1))), (None, None));
}

#[test]
fn an_entry_under_another_name_or_changed_by_a_digit_is_not_taken() {
    let dir = folder();
    let path = dir.path().join(FILE);
    let store = Store::open(&path, MAX_BYTES).expect("it can be made");
    store.apply(&[(name(1), CacheChange::Put(Box::new(verdict(1))))]).expect("it can be stored");
    let entry = store.entry(&name(1)).expect("it can be read");
    let text = String::from_utf8(entry.clone()).expect("it is text");
    assert!(text.contains("\"fuel\":1,"));
    let forged = text.replace("\"fuel\":1,", "\"fuel\":2,").into_bytes();
    for (key, entry) in [(name(2), entry.clone()), (name(1), forged), (name(1), entry[..9].to_vec())] {
        store.set_entry(&key, &entry).expect("it can be stored");
        assert!(store.get(&key).is_err());
    }
    store.set_entry(&name(1), &entry).expect("it can be stored");
    assert_eq!(store.get(&name(1)).expect("it is whole"), Some(verdict(1)));
}

/// The file of a cache of forty verdicts.
fn whole_file() -> Vec<u8> {
    let dir = folder();
    fill(dir.path(), 0..40);
    std::fs::read(dir.path().join(FILE)).expect("it is there")
}

/// Where a file is damaged, and which bits are turned from there on: of one byte, or of a stretch. Without any, the file ends there.
fn damage() -> impl Strategy<Value = (prop::sample::Index, Vec<u8>)> {
    let one = prop::collection::vec(1_u8.., 1);
    let stretch = prop::collection::vec(any::<u8>(), 1..9000);
    (any::<prop::sample::Index>(), prop_oneof![one, stretch, Just(Vec::new())])
}

fn apply_damage(mut file: Vec<u8>, damages: &[(prop::sample::Index, Vec<u8>)]) -> Vec<u8> {
    for (at, bits) in damages {
        // Bytes that say something: most of a file is empty pages.
        let offsets: Vec<usize> = (0..file.len()).filter(|&at| file[at] != 0).collect();
        if offsets.is_empty() {
            break;
        }
        if bits.is_empty() {
            file.truncate(at.index(file.len()));
        } else {
            file[*at.get(&offsets)..].iter_mut().zip(bits).for_each(|(byte, bits)| *byte ^= bits);
        }
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_never_changes_a_verdict_and_never_lasts(damages in prop::collection::vec(damage(), 1..4)) {
        thread_local!(static WHOLE: Vec<u8> = whole_file());
        let dir = folder();
        let file = WHOLE.with(|whole| apply_damage(whole.clone(), &damages));
        std::fs::write(dir.path().join(FILE), file).expect("it can be written");
        // Damage is found when the file is opened, or when that part of it is read or written; then all is computed again.
        let mut is_whole = false;
        for _ in 0..4 {
            let cache = open(dir.path());
            let found: Vec<_> = (0..42).map(|n| cache.get(&name(n))).collect();
            for (n, found) in (0..42).zip(&found) {
                prop_assert!(found.is_none() || *found == Some(verdict(n)), "{n}: {found:?}");
                if found.is_none() {
                    cache.put(&name(n), &verdict(n));
                }
            }
            is_whole |= found.iter().all(Option::is_some);
        }
        prop_assert!(is_whole, "no run has found all that an earlier one has stored");
    }
}
