//! What values take of memory once they are read, by a look at the text that they are written in.

use std::io::Write;

use serde::Serialize;

use super::Value;

/// Memory of a value beside its text: its own, and that of what it was read by.
const VALUE: u64 = 48;
const _: () = assert!(size_of::<Value>() as u64 <= VALUE);
/// Memory of a list or tuple that is not empty, and of a dict in Python.
const LIST: u64 = 128;
/// Memory of an object of JSON that is not empty.
const OBJECT: u64 = 640;

/// About the bytes of memory that the values in JSON take once they are parsed, those in its strings too: the tests of a task often are JSON or Python
/// literals there. It takes linear time.
pub fn text_weight(text: &[u8]) -> u64 {
    let mut weigher = Weigher::default();
    weigher.add(text);
    weigher.weight
}

/// About the bytes of memory that a record takes: the length of its JSON, and what the values in that weigh.
pub fn record_weight<T: Serialize>(record: &T) -> u64 {
    let mut weigher = Weigher::default();
    // A weigher takes every byte. A record that does not serialise weighs what came before that.
    let _ = serde_json::to_writer(&mut weigher, record);
    weigher.bytes + weigher.weight
}

#[derive(Default)]
struct Weigher {
    bytes: u64,
    weight: u64,
    is_string: bool,
    is_escaped: bool,
    /// What the bracket before would weigh in addition, unless the next byte closes it.
    open: u64,
}

impl Weigher {
    fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        for byte in text {
            if !matches!(byte, b']' | b')' | b'}') {
                self.weight += self.open;
            }
            self.open = match byte {
                b'{' if !self.is_string => OBJECT - VALUE,
                b'[' | b'(' | b'{' => LIST - VALUE,
                _ => 0,
            };
            if matches!(byte, b',' | b'[' | b'(' | b'{' | b':') {
                self.weight += VALUE;
            }
            self.is_string ^= *byte == b'"' && !self.is_escaped;
            self.is_escaped = *byte == b'\\' && !self.is_escaped;
        }
    }
}

impl Write for Weigher {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        self.add(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The most that the values in a text of so many bytes may weigh where a stranger wrote it. Prose, programs and lists of numbers are far below it.
pub fn most_text_weight(bytes: usize) -> u64 {
    const SMALL: u64 = 32 << 20;
    const FACTOR: u64 = 40;
    (bytes as u64).saturating_mul(FACTOR).max(SMALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_weigh_more_than_a_stranger_may_send_and_ordinary_texts_do_not() {
        let weighs = |text: &str| {
            let text = text.repeat((1 << 20) / text.len());
            text_weight(text.as_bytes()) > most_text_weight(text.len())
        };
        let light = [
            "The quick brown fox, jumps. ", "1,", "1, ", "[1,2],", "[1, 2], ", r#""$\\frac{a}{b_{1}}$", "#,
            r#""[1,2]", "#,
        ];
        let records = [r#"{"input": "3 4\n1 2 3", "output": "17\n"}, "#, r#""def f(x):\n    return \"{x: [y]}\"\n", "#];
        for light in light.into_iter().chain(records) {
            assert!(!weighs(light), "{light}");
        }
        for heavy in [r#"{"":0},"#, "{0:0},", ",", "((((", "[[1],"] {
            assert!(weighs(heavy), "{heavy}");
        }
        assert!(text_weight(b"{}") < OBJECT && text_weight(b"") == 0);
    }
}
