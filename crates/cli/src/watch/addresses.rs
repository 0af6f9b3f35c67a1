//! Addresses of pages.

use std::fmt::Write;

/// The address of a run.
pub(crate) fn run_path(name: &str) -> String {
    format!("/runs/{}", percent_encode(name))
}

/// A text as one segment of a path, or as a key or value of a query.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(byte)),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{percent_encode, run_path};

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(percent_encode("run-1_a.b~"), "run-1_a.b~");
        assert_eq!(percent_encode("a b/?&=\"<é"), "a%20b%2F%3F%26%3D%22%3C%C3%A9");
        assert_eq!(run_path("a b"), "/runs/a%20b");
    }
}
