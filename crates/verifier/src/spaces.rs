//! Compares texts without regard to white space.

/// The first of `parts` that `text` contains, whatever white space either has.
pub(crate) fn find_quote<'a>(text: &str, parts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = without_spaces(text);
    parts.into_iter().find(|part| text.contains(&without_spaces(part)))
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
