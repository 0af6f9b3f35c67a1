//! What is wrong in a configuration, in the words of its writer. serde's errors name types of Rust, and all keys where one is misspelt.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// What is wrong, and what was probably meant.
#[derive(Debug)]
pub(super) struct Explanation {
    pub(super) what: String,
    /// The known key or value that a misspelt one resembles.
    pub(super) meant: Option<String>,
}

/// How alike two words are at least, of 1, where one is a misspelling of the other.
const ALIKE: f64 = 0.8;

const TABLE: &str = "a table such as `{ … }`";
const COUNT: &str = "a whole number of at least 0";
const INTEGER: &str = "a whole number";

/// Types as serde's errors name them, and what people call them.
const TYPES: &[(&str, &str)] = &[
    ("f32", "a number"),
    ("f64", "a number"),
    ("u8", COUNT),
    ("u32", COUNT),
    ("u64", COUNT),
    ("usize", COUNT),
    ("i32", INTEGER),
    ("i64", INTEGER),
    ("a string", "a text in quotes"),
    ("path string", "a path in quotes"),
    ("a boolean", "`true` or `false`"),
    ("a sequence", "a list in brackets"),
    ("a map", TABLE),
    ("a table of settings", TABLE),
];

/// Explains an error in `text`: with its place in the file, or with the key alone where `text` is that of no file.
pub(super) fn explain(error: &toml::de::Error, text: &str, is_file: bool) -> Explanation {
    let key = error.span().and_then(|span| key_at(text, &span));
    let described = describe(error.message(), key.as_deref());
    let names_key = described.is_some();
    let Explanation { what, meant } = described.unwrap_or_else(|| plain(error.message().to_owned()));
    let what = match line_of(error, text) {
        _ if is_file => {
            let shown = error.to_string();
            let place = shown.trim_end().strip_suffix(error.message().trim_end());
            format!("{}{what}", place.unwrap_or_default())
        }
        Some(line) if !names_key => format!("`{line}`: {what}"),
        _ => what,
    };
    Explanation { what, meant }
}

/// The one of `known` that `name` resembles most, if it resembles any.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let rated = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let alike = rated.filter(|(likeness, _)| *likeness > ALIKE);
    alike.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

const fn plain(what: String) -> Explanation {
    Explanation { what, meant: None }
}

fn line_of<'a>(error: &toml::de::Error, text: &'a str) -> Option<&'a str> {
    let start = text.get(..error.span()?.start)?.rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next()
}

/// The path of the key that stands at `span`, or whose value does.
fn key_at(text: &str, span: &Range<usize>) -> Option<String> {
    find_key(DeTable::parse(text).ok()?.get_ref(), span)
}

fn find_key(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        // A table may be where the one inside it is: `[learn.kl]` makes both.
        let inner = match value.get_ref() {
            DeValue::Table(inner) => find_key(inner, span).map(|key| format!("{}.{key}", name.get_ref())),
            _ => None,
        };
        let is_item = matches!(value.get_ref(), DeValue::Array(items) if items.iter().any(|item| item.span() == *span));
        let is_here = is_item || name.span() == *span || value.span() == *span;
        inner.or_else(|| is_here.then(|| name.get_ref().to_string()))
    })
}

/// A message of serde in other words, which name the key; `None` for one that is not serde's own, or is of an unknown key's value.
fn describe(message: &str, key: Option<&str>) -> Option<Explanation> {
    describe_unknown_key(message, key)
        .or_else(|| describe_missing_key(message, key).map(plain))
        .or_else(|| describe_unknown_value(message, key?))
        .or_else(|| describe_type(message, key?).map(plain))
}

/// All known keys are named only where none resembles the unknown one.
fn describe_unknown_key(message: &str, key: Option<&str>) -> Option<Explanation> {
    let (name, known) = message.strip_prefix("unknown field `")?.split_once('`')?;
    let table = key.and_then(|key| match key.rsplit_once('.') {
        Some((table, last)) if last == name => Some(table),
        None if key == name => None,
        _ => Some(key),
    });
    let path = |name: &str| table.map_or_else(|| name.to_owned(), |table| format!("{table}.{name}"));
    let meant = nearest(name, quoted(known)).map(path);
    let rest = if meant.is_some() { "" } else { known };
    Some(Explanation { what: format!("unknown key `{}`{rest}", path(name)), meant })
}

fn describe_unknown_value(message: &str, key: &str) -> Option<Explanation> {
    let (name, known) = message.strip_prefix("unknown variant `")?.split_once('`')?;
    let known = known.strip_prefix(", expected ")?;
    let what = format!("configuration key `{key}` is `{name}`: it must be {known}");
    Some(Explanation { what, meant: nearest(name, quoted(known)).map(str::to_owned) })
}

fn describe_missing_key(message: &str, table: Option<&str>) -> Option<String> {
    let (name, rest) = message.strip_prefix("missing field `")?.split_once('`')?;
    let path = table.map_or_else(|| name.to_owned(), |table| format!("{table}.{name}"));
    Some(format!("missing key `{path}`{rest}"))
}

fn describe_type(message: &str, key: &str) -> Option<String> {
    if message == "wanted string or table" {
        return Some(format!("configuration key `{key}` must be a name in quotes"));
    }
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, wanted) = rest.rsplit_once(", expected ")?;
    let (found, wanted) = (describe_found(found), describe_wanted(wanted));
    Some(format!("configuration key `{key}` is {found}: it must be {wanted}"))
}

/// A value as serde's errors show it.
fn describe_found(found: &str) -> String {
    match (found, found.strip_prefix("string ")) {
        ("map", _) => "a table".to_owned(),
        ("sequence", _) => "a list".to_owned(),
        (_, Some(text)) => format!("the text {text}"),
        _ => {
            let kinds = ["integer ", "floating point ", "boolean "];
            kinds.iter().find_map(|kind| found.strip_prefix(*kind)).unwrap_or(found).to_owned()
        }
    }
}

/// A type as serde's errors name it.
fn describe_wanted(wanted: &str) -> &str {
    if wanted.starts_with("struct ") || wanted.contains("tagged enum ") {
        return TABLE;
    }
    TYPES.iter().find(|(name, _)| *name == wanted).map_or(wanted, |(_, words)| *words)
}

/// The names in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::{Explanation, explain, nearest};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the values are only read")]
    struct Settings {
        group_size: Option<usize>,
        stop: Option<Vec<String>>,
        shape: Option<Shape>,
        kl: Option<Kl>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Cosine,
        Linear,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the values are only read")]
    struct Kl {
        coefficient: f64,
    }

    fn explained(text: &str, is_file: bool) -> Explanation {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "the values are only read")]
        struct Root {
            game: Settings,
        }
        explain(&toml::from_str::<Root>(text).expect_err("it is wrong"), text, is_file)
    }

    #[test]
    fn a_wrong_value_is_explained_in_words_with_its_key() {
        let cases = [
            ("group_size = \"two\"", "`game.group_size` is the text \"two\": it must be a whole number of at least 0"),
            ("group_size = -1", "`game.group_size` is `-1`: it must be a whole number of at least 0"),
            ("stop = \"x\"", "`game.stop` is the text \"x\": it must be a list in brackets"),
            ("stop = [1]", "`game.stop` is `1`: it must be a text in quotes"),
            ("kl = 3", "`game.kl` is `3`: it must be a table such as `{ … }`"),
            ("kl = { coefficient = true }", "`game.kl.coefficient` is `true`: it must be a number"),
            ("[game.kl]\ncoefficient = [1]", "`game.kl.coefficient` is a list: it must be a number"),
            ("shape = \"round\"", "`game.shape` is `round`: it must be `cosine` or `linear`"),
        ];
        for (line, want) in cases {
            let text = format!("[game]\n{line}\n");
            assert_eq!(explained(&text, false).what, format!("configuration key {want}"));
            let Explanation { what, meant } = explained(&text, true);
            assert!(what.starts_with("TOML parse error at line ") && what.ends_with(want), "{what}");
            assert!(what.contains('^') && meant.is_none(), "{what}");
        }
    }

    #[test]
    fn a_misspelt_key_or_value_has_what_it_resembles_and_another_one_has_the_list() {
        for (text, what, meant) in [
            ("[game]\ngrop = 8\n", "unknown key `game.grop`", Some("game.group_size")),
            ("[game]\nxyz = 8\n", "unknown key `game.xyz`, expected one of `group_size`, ", None),
            ("[game.kl]\ncoeficient = 1.0\n", "unknown key `game.kl.coeficient`", Some("game.kl.coefficient")),
            ("[game.kl]\n", "missing key `game.kl.coefficient`", None),
            ("[game]\nshape = \"cosin\"\n", "configuration key `game.shape` is `cosin`: it must be ", Some("cosine")),
        ] {
            let found = explained(text, false);
            assert!(found.what.starts_with(what) && found.meant.as_deref() == meant, "{found:?}");
        }
    }

    #[test]
    fn only_likely_misspellings_are_corrected() {
        let known = ["learning_rate", "warmup_steps", "game", "gate", "seed"];
        let of = |name| nearest(name, known.into_iter());
        assert_eq!([of("learning_rat"), of("gmae"), of("sead")], [Some("learning_rate"), Some("game"), Some("seed")]);
        assert_eq!([of("lr"), of("x"), of("")], [None; 3]);
    }
}
