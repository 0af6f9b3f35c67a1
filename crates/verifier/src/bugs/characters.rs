//! The characters of a bug. A reader has to see what a patch does: a space of no width, a letter of another script that looks like the right one or
//! a carriage return makes a bug that nobody can tell from the original. A list of such characters would never be whole, so that what is new
//! is printable ASCII.

use std::collections::BTreeSet;

use veriplay_core::TextFiles;

/// The first character in one of the files `paths` of `now` that none of them has in the original, and that is not printable ASCII, with its file.
pub(super) fn new_character<'a>(
    original: &TextFiles,
    now: &TextFiles,
    paths: &BTreeSet<&'a str>,
) -> Option<(&'a str, char)> {
    let known: BTreeSet<char> =
        paths.iter().filter_map(|path| original.get(*path)).flat_map(|text| text.chars()).collect();
    paths.iter().find_map(|path| {
        let mut new = now.get(*path)?.chars().filter(|char| !is_plain(*char) && !known.contains(char));
        Some((*path, new.next()?))
    })
}

/// Whether a character is printable ASCII, a tab or a line end.
const fn is_plain(char: char) -> bool {
    matches!(char, '\t' | '\n' | ' '..='~')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use veriplay_core::TextFiles;

    use super::new_character;

    fn files(text: &str) -> TextFiles {
        TextFiles::from([("one.py".to_owned(), text.to_owned()), ("two.py".to_owned(), "\u{b5} = 1\n".to_owned())])
    }

    #[test]
    fn what_is_new_is_printable_ascii() {
        let original = files("unit = \"\u{e9}\"\n");
        let new = |text: &str, paths: &[&'static str]| {
            let paths: BTreeSet<&str> = paths.iter().copied().collect();
            new_character(&original, &files(text), &paths).map(|(_, char)| char)
        };
        for text in ["unit = \"e\"\n", "\tunit = '\u{e9}\u{e9}'  # ~\n", ""] {
            assert_eq!(new(text, &["one.py"]), None, "{text}");
        }
        for (text, char) in
            [("unit = 1\r\n", '\r'), ("x = '\u{200b}'", '\u{200b}'), ("\u{443} = 1", '\u{443}'), ("#\u{c}", '\u{c}')]
        {
            assert_eq!(new(text, &["one.py"]), Some(char));
        }
        // A character may come from another file of the bug, and from no other.
        assert_eq!(
            (new("\u{b5} = 2\n", &["one.py"]), new("\u{b5} = 2\n", &["one.py", "two.py"])),
            (Some('\u{b5}'), None)
        );
        assert_eq!(new("\u{b5} = 2\n", &["new.py"]), None, "the state has no such file");
    }
}
