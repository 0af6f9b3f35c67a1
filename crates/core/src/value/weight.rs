//! What values take of memory once they are read, by a look at the text that they are written in.

/// Memory of a value beside its text.
const VALUE: u64 = 48;
/// Memory of a list or tuple that is not empty, and of a dict in Python.
const LIST: u64 = 128;
/// Memory of an object of JSON that is not empty.
const OBJECT: u64 = 640;

/// About the bytes of memory that the values in JSON take once they are parsed, those in its strings too: the tests of a task often are JSON or Python
/// literals there. It takes linear time.
#[must_use]
pub fn text_weight(text: &[u8]) -> u64 {
    let (mut weight, mut is_string, mut is_escaped) = (0, false, false);
    for (at, byte) in text.iter().enumerate() {
        let is_empty = matches!(text.get(at + 1), Some(b']' | b')' | b'}'));
        weight += match byte {
            b'{' if !is_string && !is_empty => OBJECT,
            b'[' | b'(' | b'{' if !is_empty => LIST,
            b',' | b'[' | b'(' | b'{' | b':' => VALUE,
            _ => 0,
        };
        is_string ^= *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    weight
}

/// The most that the values in a text of so many bytes may weigh where a stranger wrote it. Prose, programs and lists of numbers are far below it.
#[must_use]
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
        for light in [
            "The quick brown fox, it jumps. ",
            "1,",
            "1, ",
            "[1,2],",
            "[1, 2], ",
            r#"{"input": "3 4\n1 2 3", "output": "17\n"}, "#,
        ] {
            assert!(!weighs(light), "{light}");
        }
        for light in [r#""def f(x):\n    return \"{x: [y]}\"\n", "#, r#""$\\frac{a}{b_{1}}$", "#, r#""[1,2]", "#] {
            assert!(!weighs(light), "{light}");
        }
        for heavy in [r#"{"":0},"#, "{0:0},", ",", "((((", "[[1],"] {
            assert!(weighs(heavy), "{heavy}");
        }
        assert!(text_weight(b"{}") < OBJECT && text_weight(b"") == 0);
    }
}
