//! How outputs are compared: a judge's name and its options, as tasks, requests, functions and the command line give them.

use std::collections::BTreeMap;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The judge that compares, and its options.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of a judge, such as `exact`.
    pub judge: String,
    /// Tolerance of judges that allow rounding errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// Source that defines `check(input, expected, actual)`, for judge `checker`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker: Option<String>,
    /// In its place a script that is given three files, as `open-r1/codeforces` has it: the input, the expected output and the actual one. It
    /// prints a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker_script: Option<String>,
    /// The language of `checker_script` where that is not Python, by its own name. It is then a program of testlib's: it is given the input, the
    /// actual output and the expected one, and decides by its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker_language: Option<String>,
    /// Headers that such a script includes by `#include "NAME"`, in place of those of the image.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub checker_headers: BTreeMap<String, String>,
    /// Whether a set's rule chose the judge, and not the row. Whoever judges the row may then choose another.
    #[serde(skip)]
    pub is_default: bool,
}

/// `|actual − expected| ≤ absolute + relative · |expected|`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Absolute tolerance, in the value's unit.
    pub absolute: f64,
    /// Relative tolerance, as a share of the expected value.
    pub relative: f64,
}

impl Comparison {
    /// The judge `judge` without options.
    pub fn by(judge: &str) -> Self {
        Self {
            judge: judge.to_owned(),
            tolerance: None,
            checker: None,
            checker_script: None,
            checker_language: None,
            checker_headers: BTreeMap::new(),
            is_default: false,
        }
    }

    /// The judge of a set whose rows name none.
    pub fn by_set(judge: &str) -> Self {
        Self { is_default: true, ..Self::by(judge) }
    }

    /// Reads a judge as it is chosen: a name, such as `tokens`; a name with options, such as `float:rtol=1e-6,atol=0`; or JSON, such as
    /// `{"judge": "checker", "checker": "def check(input, expected, actual): …"}`. Whether there is a judge of that name is not looked at.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('{') {
            let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
            return read.check_own_options();
        }
        let (judge, options) = text.split_once(':').unwrap_or((text, ""));
        let mut row = ComparisonRow { judge: judge.trim().to_owned(), ..ComparisonRow::default() };
        for option in options.split(',').filter(|option| !option.trim().is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let place = match name.trim() {
                "rtol" => &mut row.rtol,
                "atol" => &mut row.atol,
                other => return Err(format!("judge `{judge}` has no option `{other}`; known are `rtol` and `atol`")),
            };
            let number = value.trim().parse();
            *place = Some(number.map_err(|_| format!("`{option}` of judge `{judge}` is no number"))?);
        }
        Self::try_from(row)?.check_own_options()
    }

    /// Takes over a judge that was chosen for this comparison. An option that the choice leaves out stays as it is.
    pub fn choose(&mut self, chosen: &Self) {
        self.judge.clone_from(&chosen.judge);
        self.tolerance = chosen.tolerance.or(self.tolerance);
        if chosen.checker.is_some() || chosen.checker_script.is_some() {
            self.checker.clone_from(&chosen.checker);
            self.checker_script.clone_from(&chosen.checker_script);
            self.checker_language.clone_from(&chosen.checker_language);
            self.checker_headers.clone_from(&chosen.checker_headers);
        }
    }

    /// Checks that the judge has the options that are given with it. In a row they may be for judges that are chosen later.
    fn check_own_options(self) -> Result<Self, String> {
        let judge = self.judge.as_str();
        let options = [
            (self.tolerance.is_some(), "tolerance", "float", TOLERANT.contains(&judge)),
            (self.checker.is_some(), "checker", CHECKER, judge == CHECKER),
            (self.checker_script.is_some(), "checker_script", CHECKER, judge == CHECKER),
            (self.checker_language.is_some(), "checker_language", CHECKER, judge == CHECKER),
            (!self.checker_headers.is_empty(), "checker_headers", CHECKER, judge == CHECKER),
        ];
        match options.into_iter().find(|(is_given, _, _, is_known)| *is_given && !is_known) {
            Some((_, option, owner, _)) => {
                Err(format!("judge `{judge}` has no option `{option}`; hint: judge `{owner}` has it"))
            }
            None => Ok(self),
        }
    }
}

/// The judges that allow rounding errors.
const TOLERANT: [&str; 2] = ["evalplus", "float"];
/// The judge that a task's own code is.
const CHECKER: &str = "checker";

/// From an object, or the text that [`Comparison::parse`] reads.
impl<'de> Deserialize<'de> for Comparison {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ComparisonVisitor)
    }
}

struct ComparisonVisitor;

impl<'de> Visitor<'de> for ComparisonVisitor {
    type Value = Comparison;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name of a judge, or an object with `judge` and its options")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Comparison, E> {
        Comparison::parse(text).map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<Comparison, M::Error> {
        let row = ComparisonRow::deserialize(MapAccessDeserializer::new(members))?;
        Comparison::try_from(row).map_err(serde::de::Error::custom)
    }
}

/// A comparison as rows and requests have it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ComparisonRow {
    judge: String,
    tolerance: Option<Tolerance>,
    /// Another way to write the tolerance. A part that is left out is 0.
    rtol: Option<f64>,
    atol: Option<f64>,
    checker: Option<String>,
    checker_script: Option<String>,
    checker_language: Option<String>,
    #[serde(default)]
    checker_headers: BTreeMap<String, String>,
}

impl TryFrom<ComparisonRow> for Comparison {
    type Error = String;

    fn try_from(row: ComparisonRow) -> Result<Self, Self::Error> {
        let ComparisonRow { judge, tolerance, rtol, atol, checker, checker_script, checker_language, checker_headers } =
            row;
        let parts = (rtol.is_some() || atol.is_some())
            .then(|| Tolerance { absolute: atol.unwrap_or(0.0), relative: rtol.unwrap_or(0.0) });
        if tolerance.is_some() && parts.is_some() {
            return Err(format!("judge `{judge}` has `tolerance`, and `rtol` or `atol` too; give one of them"));
        }
        let tolerance = tolerance.or(parts);
        Ok(Self { judge, tolerance, checker, checker_script, checker_language, checker_headers, is_default: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tolerance(absolute: f64, relative: f64) -> Option<Tolerance> {
        Some(Tolerance { absolute, relative })
    }

    #[test]
    fn a_judge_is_read_from_its_name_its_options_or_json() {
        let by = Comparison::by;
        let float = |absolute, relative| Comparison { tolerance: tolerance(absolute, relative), ..by("float") };
        let code = || Some("c".to_owned());
        let language = Some("cpp".to_owned());
        let of_cpp = Comparison { checker_script: code(), checker_language: language, ..by("checker") };
        for (text, read) in [
            ("tokens", by("tokens")),
            (" yes_no ", by("yes_no")),
            ("float:rtol=1e-6", float(0.0, 1e-6)),
            ("float: rtol=1e-6, atol=0.5", float(0.5, 1e-6)),
            (r#"{"judge": "float", "atol": 0.5}"#, float(0.5, 0.0)),
            (r#"{"judge": "float", "tolerance": {"absolute": 1, "relative": 0}}"#, float(1.0, 0.0)),
            (r#"{"judge": "checker", "checker": "c"}"#, Comparison { checker: code(), ..by("checker") }),
            (r#"{"judge": "checker", "checker_script": "c"}"#, Comparison { checker_script: code(), ..by("checker") }),
            (r#"{"judge": "checker", "checker_script": "c", "checker_language": "cpp"}"#, of_cpp),
        ] {
            assert_eq!(Comparison::parse(text), Ok(read), "{text}");
        }
    }

    #[test]
    fn what_is_no_option_of_a_judge_is_named() {
        for (text, named) in [
            ("float:eps=1", "`eps`"),
            ("float:rtol", "`rtol`"),
            ("float:rtol=x", "`rtol=x`"),
            (r#"{"judge": "float", "eps": 1}"#, "`eps`"),
            (r#"{"rtol": 1}"#, "`judge`"),
            (r#"{"judge": "float", "rtol": 1, "tolerance": {"absolute": 1, "relative": 0}}"#, "`tolerance`"),
            ("lines:rtol=3", "`lines` has no option `tolerance`; hint: judge `float` has it"),
            (r#"{"judge": "lines", "checker": "c"}"#, "`lines` has no option `checker`"),
            (r#"{"judge": "float", "checker_script": "c"}"#, "`float` has no option `checker_script`"),
            (r#"{"judge": "float", "checker_language": "cpp"}"#, "`float` has no option `checker_language`"),
            ("{", "EOF"),
        ] {
            let why = Comparison::parse(text).unwrap_err();
            assert!(why.contains(named), "{text}: {why}");
        }
    }

    #[test]
    fn json_has_a_judge_as_an_object_or_as_the_text_of_one() {
        let read = |json: &str| serde_json::from_str::<Comparison>(json).map_err(|error| error.to_string());
        let float = Comparison { tolerance: tolerance(0.0, 1e-6), ..Comparison::by("float") };
        for json in [r#""float:rtol=1e-6""#, r#"{"judge": "float", "rtol": 1e-6}"#] {
            assert_eq!(read(json), Ok(float.clone()), "{json}");
        }
        assert_eq!(read(&serde_json::to_string(&float).unwrap()), Ok(float));
        assert!(read("7").unwrap_err().contains("the name of a judge, or an object"));
        assert!(read(r#""float:eps=1""#).unwrap_err().contains("`eps`"));
    }

    #[test]
    fn a_choice_keeps_the_options_that_it_leaves_out() {
        let mut own =
            Comparison { tolerance: tolerance(1.0, 2.0), checker: Some("c".to_owned()), ..Comparison::by("exact") };
        own.choose(&Comparison::by("float"));
        assert_eq!((own.judge.as_str(), own.tolerance), ("float", tolerance(1.0, 2.0)));
        own.choose(&Comparison { checker_script: Some("s".to_owned()), ..Comparison::by("checker") });
        assert_eq!((own.checker, own.checker_script), (None, Some("s".to_owned())));
    }
}
