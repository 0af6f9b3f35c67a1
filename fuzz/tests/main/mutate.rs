//! Mutations of saved inputs: a small part of what libFuzzer does, on any toolchain and from a seed.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Bytes that are often the edge of something.
const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b'\\'];

/// One to four mutations of one of `corpus`.
pub(crate) fn mutant(rng: &mut ChaCha8Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pick(rng, corpus).clone();
    for _ in 0..rng.random_range(1..=4) {
        mutate(rng, corpus, &mut bytes);
    }
    bytes
}

fn pick<'a, T>(rng: &mut ChaCha8Rng, items: &'a [T]) -> &'a T {
    &items[rng.random_range(0..items.len())]
}

fn mutate(rng: &mut ChaCha8Rng, corpus: &[Vec<u8>], bytes: &mut Vec<u8>) {
    let at = rng.random_range(0..=bytes.len());
    let end = rng.random_range(at..=bytes.len());
    match rng.random_range(0..6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => bytes.insert(at, rng.random()),
        3 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        4 => {
            let other = pick(rng, corpus);
            let from = rng.random_range(0..=other.len());
            bytes.splice(at..end, other[from..].iter().copied());
        }
        _ if at < bytes.len() => bytes[at] = if rng.random() { *pick(rng, &EDGES) } else { rng.random() },
        _ => bytes.push(*pick(rng, &EDGES)),
    }
}
