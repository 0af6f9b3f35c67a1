//! Makes probes: inputs like a given one, which show whether a program depends on its input.
//!
//! Probes are a pure function of the input, of the same types with other values, so that verdicts on proposals are reproducible. Changes
//! are small, because the cost of a program may grow with its input.

use std::collections::HashSet;

use dashu_int::IBig;
use veriplay_core::Value;

const TRIES: usize = 32;

/// Makes up to `count` argument lists of the same shape as `input`, distinct from each other and from it. Returns fewer when the type has
/// fewer values: `f(True)` has one other.
#[must_use]
pub fn probes(input: &[Value], count: usize) -> Vec<Vec<Value>> {
    let own = Value::Tuple(input.to_vec());
    let mut rng = ProbeRng::new(&own.encode());
    let mut seen = HashSet::from([own.python_key()]);
    let mut found = Vec::with_capacity(count);
    for _ in 0..count.saturating_mul(TRIES) {
        if found.len() == count {
            break;
        }
        let probe = rng.some_changed(input);
        if seen.insert(Value::Tuple(probe.clone()).python_key()) {
            found.push(probe);
        }
    }
    found
}

/// Bounds of the change of an int, down and up: the cost of a program may be exponential in it.
const DOWN: i64 = 8;
const UP: i64 = 3;
/// Ints from 0 to this are replaced by any of them.
const SMALL: i64 = 12;

/// Deterministic choices, seeded by the input: splitmix64 (Steele, Lea, Flood 2014).
struct ProbeRng(u64);

impl ProbeRng {
    fn new(seed: &[u8]) -> Self {
        let digest = blake3::hash(seed);
        let mut state = [0; 8];
        state.copy_from_slice(&digest.as_bytes()[..8]);
        Self(u64::from_le_bytes(state))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of 0..n; `n` must not be 0.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap_or(0)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = usize::try_from(high - low + 1).unwrap_or(1);
        low + i64::try_from(self.below(span)).unwrap_or(0)
    }

    /// Changes one item for sure, and every other one with probability 1/2.
    fn some_changed(&mut self, items: &[Value]) -> Vec<Value> {
        if items.is_empty() {
            return Vec::new();
        }
        let sure = self.below(items.len());
        let change = |(place, item): (usize, &Value)| {
            if place == sure || self.one_in(2) { self.changed(item) } else { item.clone() }
        };
        items.iter().enumerate().map(change).collect()
    }

    fn changed(&mut self, value: &Value) -> Value {
        match value {
            Value::None => Value::None,
            Value::Bool(_) => Value::Bool(self.one_in(2)),
            Value::Int(value) => Value::Int(self.int(value)),
            Value::Float(value) => Value::Float(self.float(*value)),
            Value::Str(text) => Value::Str(self.text(text)),
            Value::Bytes(bytes) => Value::Bytes(self.bytes(bytes)),
            Value::List(items) => Value::List(self.list(items)),
            Value::Tuple(items) => Value::Tuple(self.some_changed(items)),
            Value::Set(items) => Value::set_of(self.list(items), false),
            Value::FrozenSet(items) => Value::set_of(self.list(items), true),
            Value::Dict(pairs) => Value::Dict(self.dict(pairs)),
            // Proposed inputs are literals, which hold no objects.
            Value::Object(_) => value.clone(),
        }
    }

    /// A nearby number, or a small one for a small one. Non-negative numbers stay non-negative.
    fn int(&mut self, value: &IBig) -> IBig {
        let small = (0..=SMALL).find(|small| *value == IBig::from(*small));
        if small.is_some() {
            return IBig::from(self.between(0, SMALL));
        }
        let moved = value + self.between(-DOWN, UP);
        if *value >= IBig::ZERO { moved.max(IBig::ZERO) } else { moved }
    }

    fn float(&mut self, value: f64) -> f64 {
        let moved = value + self.between(-DOWN, UP) as f64 / 2.0;
        if value >= 0.0 { moved.abs() } else { moved }
    }

    /// Other letters of the same kind, sometimes one fewer or one more.
    fn text(&mut self, text: &str) -> String {
        let letters: Vec<char> = text.chars().map(|c| if self.one_in(2) { self.letter(c) } else { c }).collect();
        if letters.is_empty() {
            return (0..self.between(1, 3)).map(|_| self.letter('a')).collect();
        }
        self.resized(letters).into_iter().collect()
    }

    /// A letter near `c`. Other characters stay: they may be separators.
    fn letter(&mut self, c: char) -> char {
        let (first, count) = match c {
            'a'..='z' => (b'a', 26),
            'A'..='Z' => (b'A', 26),
            '0'..='9' => (b'0', 10),
            _ => return c,
        };
        let place = u32::from(c) - u32::from(first) + count + u32::try_from(self.between(0, 8)).unwrap_or(0) - 4;
        char::from_u32(u32::from(first) + place % count).unwrap_or(c)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let moved: Vec<u8> = bytes.iter().map(|byte| byte.wrapping_add_signed(self.between(-3, 3) as i8)).collect();
        if moved.is_empty() { vec![b'a'] } else { self.resized(moved) }
    }

    fn list(&mut self, items: &[Value]) -> Vec<Value> {
        if items.is_empty() {
            return (0..self.between(1, 3)).map(|_| Value::int(self.between(0, 9))).collect();
        }
        let changed = self.some_changed(items);
        self.resized(changed)
    }

    fn dict(&mut self, pairs: &[(Value, Value)]) -> Vec<(Value, Value)> {
        if pairs.is_empty() {
            return vec![(Value::str("a"), Value::int(self.between(0, 9)))];
        }
        let sure = self.below(pairs.len());
        let change = |(place, (key, value)): (usize, &(Value, Value))| {
            let value = if place == sure || self.one_in(2) { self.changed(value) } else { value.clone() };
            (key.clone(), value)
        };
        pairs.iter().enumerate().map(change).collect()
    }

    /// Removes an item, inserts one, swaps two, or changes nothing, with probability 1/4 each.
    fn resized<T: Clone>(&mut self, mut items: Vec<T>) -> Vec<T> {
        let (one, other) = (self.below(items.len()), self.below(items.len()));
        match self.below(4) {
            0 if items.len() > 1 => drop(items.remove(one)),
            1 => items.insert(one, items[other].clone()),
            2 => items.swap(one, other),
            _ => {}
        }
        items
    }
}
