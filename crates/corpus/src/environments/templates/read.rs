//! Parses and checks one environment's templates.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// The most numbers of a range.
const LARGEST_RANGE: i64 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateFile {
    plans: PlanWeights,
    ranges: BTreeMap<String, [i64; 2]>,
    pools: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    #[serde(default)]
    subsets: BTreeMap<String, Subset>,
    action: Vec<ActionTemplate>,
    question: Vec<QuestionTemplate>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanWeights {
    pub(super) act: f64,
    pub(super) ask: f64,
    pub(super) act_ask: f64,
    pub(super) act_give: f64,
    pub(super) act_act: f64,
    pub(super) act_act_ask: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subset {
    of: String,
    values: Vec<String>,
}

pub(super) type TemplateText = Vec<TextPiece>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPiece {
    Literal(String),
    /// The name of a pool, followed by digits where a template has several placeholders of one pool.
    Placeholder(String),
}

#[derive(Debug, Clone)]
pub(super) struct ValuePool {
    /// The kind of its values. Two actions of a task share no value of one kind; numbers have no kind.
    pub(super) kind: Option<String>,
    /// The code of each value, and the ways to say it.
    pub(super) values: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionTemplate {
    pub(super) name: String,
    #[serde(deserialize_with = "read_texts")]
    pub(super) say: Vec<TemplateText>,
    #[serde(deserialize_with = "read_code")]
    pub(super) code: TemplateText,
    #[serde(default)]
    pub(super) gives: Vec<QuestionTemplate>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionTemplate {
    pub(super) name: String,
    #[serde(deserialize_with = "read_texts")]
    pub(super) say: Vec<TemplateText>,
    #[serde(default, deserialize_with = "read_texts")]
    pub(super) its: Vec<TemplateText>,
    #[serde(deserialize_with = "read_code")]
    pub(super) code: TemplateText,
}

/// One environment's templates: read, and such that every draw succeeds.
#[derive(Debug, Clone)]
pub(in crate::environments) struct EnvironmentTemplates {
    pub(super) environment: String,
    pub(super) plans: PlanWeights,
    pub(super) pools: BTreeMap<String, ValuePool>,
    pub(super) actions: Vec<ActionTemplate>,
    pub(super) questions: Vec<QuestionTemplate>,
}

impl EnvironmentTemplates {
    /// Parses the file of an environment.
    ///
    /// # Errors
    /// A description of the first fault.
    pub(in crate::environments) fn parse(environment: &str, text: &str) -> Result<Self, String> {
        let file: TemplateFile = toml::from_str(text).map_err(|error| describe(text, &error))?;
        let TemplateFile { plans, ranges, pools: named, subsets, action: actions, question: questions } = file;
        let mut pools: BTreeMap<String, ValuePool> = BTreeMap::new();
        for (name, [least, most]) in ranges {
            if most.checked_sub(least).is_none_or(|size| !(0..LARGEST_RANGE).contains(&size)) {
                return Err(format!(
                    "range `{name}` is from {least} to {most}: it has no number, or over {LARGEST_RANGE}"
                ));
            }
            let values = (least..=most).map(|number| (number.to_string(), vec![number.to_string()])).collect();
            pools.insert(name, ValuePool { kind: None, values });
        }
        for (name, values) in named {
            let kind = Some(name.clone());
            pools.insert(name, ValuePool { kind, values: values.into_iter().collect() });
        }
        for (name, Subset { of, values: wanted }) in subsets {
            let all = pools.get(&of).ok_or_else(|| format!("subset `{name}` is of `{of}`, which is no pool"))?;
            let values: Vec<_> = all.values.iter().filter(|(code, _)| wanted.contains(code)).cloned().collect();
            if values.len() != wanted.len() {
                return Err(format!("subset `{name}` names what is not in `{of}`"));
            }
            pools.insert(name, ValuePool { kind: Some(of), values });
        }
        let templates = Self { environment: environment.to_owned(), plans, pools, actions, questions };
        templates.check()?;
        Ok(templates)
    }

    fn check(&self) -> Result<(), String> {
        self.plans.check()?;
        if let Some((pool, _)) = self.pools.iter().find(|(_, pool)| pool.values.iter().any(|(_, say)| say.is_empty())) {
            return Err(format!("a value of `{pool}` cannot be said"));
        }
        let texts = self.codes().chain(self.sayings());
        let unknown = texts.flatten().find_map(|piece| match piece {
            TextPiece::Placeholder(hole) if self.pool(hole).is_none_or(|pool| pool.values.is_empty()) => Some(hole),
            _ => None,
        });
        if let Some(hole) = unknown {
            return Err(format!("there is no pool for `<{hole}>`, or nothing in it"));
        }
        if self.actions.len() < 2 || self.questions.len() < 2 {
            return Err("it has fewer than two actions or questions".to_owned());
        }
        let gives = self.actions.iter().flat_map(|action| &action.gives);
        let questions = self.questions.iter().chain(gives).map(|one| (&one.name, &one.say));
        let mut templates = self.actions.iter().map(|one| (&one.name, &one.say)).chain(questions);
        if let Some((silent, _)) = templates.find(|(_, say)| say.is_empty()) {
            return Err(format!("template `{silent}` has no `say`"));
        }
        self.actions.iter().enumerate().try_for_each(|(place, action)| {
            if self.actions[..place].iter().any(|other| other.name == action.name) {
                return Err(format!("there are two actions `{}`", action.name));
            }
            action.check_gives()
        })
    }

    pub(super) fn pool(&self, hole: &str) -> Option<&ValuePool> {
        self.pools.get(hole.trim_end_matches(|c: char| c.is_ascii_digit()))
    }

    pub(super) fn codes(&self) -> impl Iterator<Item = &TemplateText> {
        let gives = self.actions.iter().flat_map(|action| &action.gives);
        let questions = self.questions.iter().chain(gives).map(|question| &question.code);
        self.actions.iter().map(|action| &action.code).chain(questions)
    }

    pub(super) fn sayings(&self) -> impl Iterator<Item = &TemplateText> {
        let gives = self.actions.iter().flat_map(|action| &action.gives);
        let questions = self.questions.iter().chain(gives).flat_map(|one| one.say.iter().chain(&one.its));
        self.actions.iter().flat_map(|action| &action.say).chain(questions)
    }
}

impl PlanWeights {
    fn check(&self) -> Result<(), String> {
        let Self { act, ask, act_ask, act_give, act_act, act_act_ask } = *self;
        let weights = [act, ask, act_ask, act_give, act_act, act_act_ask];
        if let Some(wrong) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(format!("a weight of `[plans]` is {wrong}: it has to be finite and not negative"));
        }
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err("all weights of `[plans]` are 0".to_owned());
        }
        Ok(())
    }
}

impl ActionTemplate {
    /// What a question about the result names is drawn with the action, so it has to be in the action's code.
    fn check_gives(&self) -> Result<(), String> {
        let texts = self.gives.iter().flat_map(|one| one.say.iter().chain([&one.code]));
        let foreign =
            texts.flatten().find(|piece| !matches!(piece, TextPiece::Literal(_)) && !self.code.contains(piece));
        match foreign {
            Some(TextPiece::Placeholder(hole)) => {
                Err(format!("`gives` of action `{}` has `<{hole}>`, which the action's code has not", self.name))
            }
            _ => Ok(()),
        }
    }
}

/// An error of the file, with its line.
fn describe(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().and_then(|span| text.get(..span.start));
    let line = at.map_or(0, |before| before.matches('\n').count()) + 1;
    format!("line {line}: {}", error.message().replace('\n', "; "))
}

fn read_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TemplateText>, D::Error> {
    Ok(Vec::<String>::deserialize(deserializer)?.iter().map(|text| parse_text(text)).collect())
}

fn read_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TemplateText, D::Error> {
    Ok(parse_text(String::deserialize(deserializer)?.trim()))
}

/// Placeholders are lower-case words in angle brackets.
fn parse_text(text: &str) -> TemplateText {
    let mut parts = text.split('<');
    let mut found = Vec::new();
    let mut literal = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>').filter(|(name, _)| is_name(name)) {
            Some((name, rest)) => {
                found.extend([TextPiece::Literal(literal), TextPiece::Placeholder(name.to_owned())]);
                literal = rest.to_owned();
            }
            None => literal += &format!("<{part}"),
        }
    }
    found.push(TextPiece::Literal(literal));
    found.retain(|piece| !matches!(piece, TextPiece::Literal(text) if text.is_empty()));
    found
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_lower_case_words_and_all_else_is_text() {
        let (hole, text) =
            (|name: &str| TextPiece::Placeholder(name.to_owned()), |text: &str| TextPiece::Literal(text.to_owned()));
        assert_eq!(parse_text("a(<b>, <c2>)"), [text("a("), hole("b"), text(", "), hole("c2"), text(")")]);
        assert_eq!(parse_text("x < y > z<b>"), [text("x < y > z"), hole("b")]);
        assert_eq!(parse_text("<CODE>"), [text("<CODE>")]);
    }

    #[test]
    fn a_placeholder_without_a_pool_is_refused() {
        let text = |code: &str| {
            format!(
                "[plans]\nact = 1.0\nask = 1.0\nact_ask = 1.0\nact_give = 0.0\nact_act = 0.0\nact_act_ask = 0.0\n[ranges]\nn = [1, 3]\n[pools.p]\n\"'a'\" = [\"a\"]\n\
                 [[action]]\nname = \"x\"\nsay = [\"do <n>\"]\ncode = \"{code}\"\n[[action]]\nname = \"y\"\nsay = [\"y\"]\ncode = \"y()\"\n\
                 [[question]]\nname = \"q\"\nsay = [\"q\"]\ncode = \"q()\"\n[[question]]\nname = \"r\"\nsay = [\"r\"]\ncode = \"r(<p>)\"\n"
            )
        };
        assert!(EnvironmentTemplates::parse("e", &text("x(<n>)")).is_ok());
        let refused = EnvironmentTemplates::parse("e", &text("x(<m>)")).expect_err("there is no pool `m`");
        assert!(refused.contains("`<m>`"), "{refused}");
    }
}
