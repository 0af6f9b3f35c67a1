//! Addresses of pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of a run.
pub(crate) fn run_path(name: &str) -> String {
    format!("/runs/{}", percent_encode(name))
}

/// A text as one segment of a path, or as a key or value of a query.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
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
