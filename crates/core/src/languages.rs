//! The languages whose programs the host runs and does not parse: each is a file here, and a line in [`SCANNED`].

mod c;
mod cpp;
mod javascript;
mod own_names;
mod tokens;
mod typescript;

use crate::{Digest, Language, Literals};
pub use cpp::{CPP, widen_longs};
pub use javascript::JAVASCRIPT;
use javascript::JavaScriptLiterals;

/// All of them. What else there is has a parser of its own.
pub const SCANNED: [&ScannedLanguage; 4] = [&CPP, &c::C, &JAVASCRIPT, &typescript::TYPESCRIPT];

/// A language with the comments and strings of C.
#[derive(Debug, PartialEq, Eq)]
pub struct ScannedLanguage {
    names: &'static [&'static str],
    image: &'static str,
    /// Words behind the fences of its blocks, in lower case, beside its names.
    labels: &'static [&'static str],
    /// The ends of its files' names, with the dot: models write such a name behind a fence, too.
    extensions: &'static [&'static str],
    is_compiled: bool,
    /// Whether programs that differ in ends of lines may differ in what they do.
    has_lines: bool,
    /// Whether the names that a program binds itself are told from others, and do not count.
    numbers_names: bool,
    /// What [`Language::arguments_push`] returns for it.
    arguments_push: Option<&'static str>,
    literals: Option<&'static JavaScriptLiterals>,
}

impl ScannedLanguage {
    /// The language that a row calls by this word, in any case.
    #[must_use]
    pub fn find(word: &str) -> Option<&'static Self> {
        let word = word.trim().to_ascii_lowercase();
        SCANNED.into_iter().find(|language| language.is_label(&word))
    }

    /// The language of the files whose names end in a dot and `extension`.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<&'static Self> {
        let has_end = |end: &&str| end.strip_prefix('.') == Some(extension);
        SCANNED.into_iter().find(|language| language.extensions.iter().any(has_end))
    }

    /// The tokens of a program: words, texts in quotation marks, other signs one by one, and ends of lines. A regular expression is read as other
    /// signs are, so that one with `//` or a quotation mark in it hides what follows.
    pub fn tokens(program: &str) -> impl Iterator<Item = &str> {
        tokens::read(program)
    }

    /// How many braces a program opens more than it closes, outside of strings and comments.
    #[must_use]
    pub fn open_braces(program: &str) -> i64 {
        tokens::read(program).fold(0, |open, token| match token {
            "{" => open + 1,
            "}" => open - 1,
            _ => open,
        })
    }
}

impl Language for ScannedLanguage {
    fn names(&self) -> &'static [&'static str] {
        self.names
    }

    fn image(&self) -> &'static str {
        self.image
    }

    fn is_compiled(&self) -> bool {
        self.is_compiled
    }

    fn is_label(&self, word: &str) -> bool {
        let is_file = |end: &&str| word.len() > end.len() && word.ends_with(*end);
        self.names.contains(&word) || self.labels.contains(&word) || self.extensions.iter().any(is_file)
    }

    /// Names it by its tokens: without comments and blanks. Names of its own count but in JavaScript, and lines in languages that have them.
    fn fingerprint(&self, program: &str) -> Digest {
        let said: Vec<&str> = tokens::read(program).filter(|token| self.has_lines || *token != "\n").collect();
        let said = if self.numbers_names { own_names::number_names(&said).join("\0") } else { said.join("\0") };
        Digest::of(said.trim_end_matches(['\0', '\n']).as_bytes())
    }

    fn arguments_push(&self) -> Option<&'static str> {
        self.arguments_push
    }

    fn literals(&self) -> Option<&'static dyn Literals> {
        self.literals.map(|literals| literals as &dyn Literals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_calls_a_language_by_a_name_or_a_label_in_any_case() {
        for (word, name) in [
            ("C++", "cpp"),
            ("CPP", "cpp"),
            ("js", "javascript"),
            ("Node.js", "javascript"),
            ("c", "c"),
            ("TS", "typescript"),
            ("main.ts", "typescript"),
        ] {
            assert_eq!(ScannedLanguage::find(word).map(|language| language.names()[0]), Some(name), "{word}");
        }
        for word in ["python", "java", "rust", "en", "", ".cpp"] {
            assert_eq!(ScannedLanguage::find(word), None, "{word}");
        }
    }

    #[test]
    fn a_file_is_of_the_language_that_has_its_extension() {
        for (extension, name) in [("cjs", "javascript"), ("cts", "typescript"), ("cxx", "cpp"), ("c", "c")] {
            assert_eq!(ScannedLanguage::of_extension(extension).map(|language| language.names()[0]), Some(name));
        }
        for extension in ["py", "", ".c", "C"] {
            assert_eq!(ScannedLanguage::of_extension(extension), None, "{extension}");
        }
    }

    #[test]
    fn no_two_languages_share_a_name_or_a_label() {
        for word in SCANNED.iter().flat_map(|language| language.names.iter().chain(language.labels)) {
            assert_eq!(SCANNED.iter().filter(|language| language.is_label(word)).count(), 1, "{word}");
        }
    }

    #[test]
    fn programs_that_differ_in_layout_and_comments_are_the_same() {
        let [cpp, ..] = SCANNED;
        let same = |one: &str, other: &str| cpp.fingerprint(one) == cpp.fingerprint(other);
        assert!(same("int a = 1; // one\nint b;", "int a=1;\n\n  int b; /* two\n */"));
        for (one, other) in
            [("a = \"x y\"", "a = \"xy\""), ("int a", "inta"), ("#define A\nB", "#define A B"), ("a", "b")]
        {
            assert!(!same(one, other), "{one} {other}");
        }
        let same = |one: &str, other: &str| JAVASCRIPT.fingerprint(one) == JAVASCRIPT.fingerprint(other);
        assert!(same("function f(x) {\n  return x // it\n}\n", "function f(x) { return x }"));
        assert!(same("function f(x) { return x }", "function f(y) { return y }"));
    }

    #[test]
    fn braces_in_strings_and_comments_are_none() {
        for (program, open) in [("f() {", 1), ("f() { g('{'); }", 0), ("// {\n/* { */ \"\\\"{\" `\n{`", 0), ("}", -1)] {
            assert_eq!(ScannedLanguage::open_braces(program), open, "{program}");
        }
    }
}
