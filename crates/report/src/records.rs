//! The log of a run: each response in it with what the policy was asked, what it wrote, and the verdict.

use std::fmt::{Display, Formatter};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use minijinja::context;
use serde_json::Value;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress::counted;

/// Characters of a text that are shown.
const SHOWN: usize = 4000;
/// Characters of a response that a list shows.
const BEGINNING: usize = 160;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseKind {
    Proposal,
    /// A task that no policy proposed.
    Derived,
    Attempt,
    Verification,
}

impl ResponseKind {
    const ALL: [Self; 4] = [Self::Proposal, Self::Derived, Self::Attempt, Self::Verification];

    const fn word(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::Derived => "derived",
            Self::Attempt => "attempt",
            Self::Verification => "verification",
        }
    }

    pub(crate) const fn role(self) -> &'static str {
        match self {
            Self::Proposal => "proposer",
            Self::Derived => "derived",
            Self::Attempt => "solver",
            Self::Verification => "verifier",
        }
    }
}

/// Names a response within its run: `3-proposal-12` is proposal 12 of step 3, `3-attempt-0-5` attempt 5 at task 0 of that step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseId {
    pub(crate) step: u64,
    pub(crate) kind: ResponseKind,
    /// Number of the record within its step and kind.
    pub(crate) index: u64,
    /// Number of the response within its record.
    pub(crate) place: usize,
}

impl Display for ResponseId {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { step, kind, index, place } = self;
        write!(f, "{step}-{}-{index}", kind.word())?;
        match kind {
            ResponseKind::Attempt | ResponseKind::Verification => write!(f, "-{place}"),
            ResponseKind::Proposal | ResponseKind::Derived => Ok(()),
        }
    }
}

impl FromStr for ResponseId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or(());
        let step = next()?.parse().map_err(drop)?;
        let word = next()?;
        let kind = ResponseKind::ALL.into_iter().find(|kind| kind.word() == word).ok_or(())?;
        let index = next()?.parse().map_err(drop)?;
        let place = next().map_or(Ok(0), str::parse).map_err(drop)?;
        let id = Self { step, kind, index, place };
        // One name each.
        if id.to_string() == text { Ok(id) } else { Err(()) }
    }
}

/// What lists and filters show of a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResponseFacts {
    pub(crate) id: ResponseId,
    /// The kind of task where the game has several; else empty.
    pub(crate) task_type: Arc<str>,
    /// The verdict's status, or `dropped`.
    pub(crate) status: Arc<str>,
    /// The rule that decided; empty where none did.
    pub(crate) rule: Arc<str>,
    pub(crate) passed: u64,
    pub(crate) total: u64,
    /// What it was rewarded, where it was.
    pub(crate) reward: Option<f64>,
}

impl ResponseFacts {
    pub(crate) const fn is_near_miss(&self) -> bool {
        0 < self.passed && self.passed < self.total
    }

    /// Whether a rule decided: among these are the cheats that were caught.
    pub(crate) fn is_ruled(&self) -> bool {
        !self.rule.is_empty()
    }

    pub(crate) fn to_value(&self) -> minijinja::Value {
        context!(
            id => self.id.to_string(),
            step => self.id.step,
            role => self.id.kind.role(),
            task_type => &*self.task_type,
            status => &*self.status,
            rule => &*self.rule,
            passed => self.passed,
            total => self.total,
            near_miss => self.is_near_miss(),
            reward => self.reward,
        )
    }
}

pub(crate) struct Response<'a> {
    pub(crate) id: ResponseId,
    /// The line's object: a proposal, a derivation or a task with all its attempts.
    pub(crate) record: &'a Value,
    /// `null` for what no policy wrote.
    pub(crate) episode: &'a Value,
    /// The object with the judgement on it.
    pub(crate) judged: &'a Value,
}

pub(crate) fn responses(line: &Value) -> Vec<Response<'_>> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let one = |kind, record: &'_ Value, step: &Value, place| ResponseId {
        step: number(step),
        kind,
        index: number(&record["index"]),
        place,
    };
    let mut found = Vec::new();
    if let Some(record) = line.get("proposal") {
        let id = one(ResponseKind::Proposal, record, &record["proposed"]["step"], 0);
        found.push(Response { id, record, episode: &record["episode"], judged: &record["judged"] });
    }
    if let Some(record) = line.get("derived") {
        let id = one(ResponseKind::Derived, record, &record["step"], 0);
        found.push(Response { id, record, episode: &Value::Null, judged: &record["judged"] });
    }
    let Some(record) = line.get("task") else { return found };
    for (kind, key) in [(ResponseKind::Attempt, "attempts"), (ResponseKind::Verification, "verifications")] {
        for (place, response) in record[key].as_array().into_iter().flatten().enumerate() {
            let id = one(kind, record, &record["step"], place);
            found.push(Response { id, record, episode: &response["episode"], judged: &response["judged"] });
        }
    }
    found
}

impl Response<'_> {
    /// The logged verdict; `null` where the host dropped the response.
    pub(crate) fn verdict(&self) -> &Value {
        &self.judged["verdict"]["Ok"]
    }

    pub(crate) fn facts(&self) -> ResponseFacts {
        let verdict = self.verdict();
        let text = |value: &Value| Arc::from(value.as_str().unwrap_or_default());
        ResponseFacts {
            id: self.id,
            task_type: Arc::from(self.task_type()),
            status: if verdict.is_null() { Arc::from("dropped") } else { text(&verdict["status"]) },
            rule: text(&verdict["evidence"]["rule"]),
            passed: verdict["passed"].as_u64().unwrap_or_default(),
            total: verdict["total"].as_u64().unwrap_or_default(),
            reward: total_reward(&self.episode["reward"]),
        }
    }

    fn task_type(&self) -> &str {
        let asked = ["request", "derivation"].map(|key| &self.record[key]);
        let labels = ["task_type", "mode", "operator", "environment"];
        let named = asked.into_iter().flat_map(|value| labels.map(|label| &value[label])).find_map(Value::as_str);
        let question = || self.record["task"]["question"].as_object()?.keys().next().map(String::as_str);
        let environment = || self.record["task"]["environment"].as_str();
        named.or_else(question).or_else(environment).unwrap_or_default()
    }

    /// The task that was attempted, or that the proposal made; `null` where it made none.
    pub(crate) fn task(&self) -> &Value {
        match self.id.kind {
            ResponseKind::Proposal | ResponseKind::Derived => &self.judged["task"],
            ResponseKind::Attempt | ResponseKind::Verification => &self.record["task"],
        }
    }

    fn turns(&self) -> impl Iterator<Item = (String, String)> {
        let turns = self.episode["turns"].as_array().into_iter().flatten();
        turns.map(|turn| (text_of(&turn["prompt"]), text_of(&turn["text"])))
    }

    /// The beginning of what the policy wrote, on one line.
    pub(crate) fn beginning(&self) -> String {
        let text = self.turns().next().map(|(_, text)| text).unwrap_or_default();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().take(BEGINNING).collect()
    }

    /// What the verdict says, for people.
    pub(crate) fn detail(&self) -> String {
        let verdict = self.verdict();
        let detail =
            if verdict.is_null() { &self.judged["verdict"]["Err"]["why"] } else { &verdict["evidence"]["detail"] };
        text_of(detail)
    }

    /// Whether `wanted` stands in a prompt, a response or the verdict's detail.
    pub(crate) fn contains(&self, wanted: &str) -> bool {
        let turn = |(prompt, text): (String, String)| prompt.contains(wanted) || text.contains(wanted);
        self.turns().any(turn) || self.detail().contains(wanted)
    }

    /// What the templates show of it in a run, cut to what a page shows, with the tokens of each turn where they are shown.
    pub(crate) fn to_value(&self, run: &str, tokens: Vec<minijinja::Value>) -> minijinja::Value {
        let turn = |(prompt, text): (String, String)| context!(prompt => cut(prompt), text => cut(text));
        let turns = self.turns().map(turn).collect::<Vec<_>>();
        context!(run, detail => cut(self.detail()), turns, tokens, ..self.facts().to_value())
    }
}

/// Calls `see` with every response that a policy gave. A run that has not written its first step has none. Returns the line that cannot be
/// read, with the reason, where there is one.
pub(crate) fn for_each_response(path: &Path, mut see: impl FnMut(&Response<'_>)) -> Result<Option<String>, Failure> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)?,
    };
    let lines = BufReader::new(zstd::Decoder::new(file).or_fail(ExitCode::Input)?).lines();
    for (number, line) in lines.enumerate() {
        let damage = |why: &dyn Display| Some(format!("cannot be read at line {}: {why}", number + 1));
        let line = match line {
            Ok(line) => line,
            Err(error) => return Ok(damage(&error)),
        };
        let line: Value = match serde_json::from_str(&line) {
            Ok(line) => line,
            Err(error) => return Ok(damage(&error)),
        };
        responses(&line).iter().filter(|response| response.id.kind != ResponseKind::Derived).for_each(&mut see);
    }
    Ok(None)
}

/// Σ score · weight; `None` where there is no reward.
fn total_reward(reward: &Value) -> Option<f64> {
    let part = |part: &Value| Some(part[1].as_f64()? * part[2].as_f64()?);
    reward["parts"].as_array().map(|parts| parts.iter().filter_map(part).sum())
}

/// A text as it is, nothing for `null`, and anything else, such as messages, as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The text, cut where it is too long for a page.
pub(crate) fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}\n… ({})", &text[..end], counted(text.len() - end, "more byte")),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ResponseId, responses};

    #[test]
    fn a_response_has_one_name_and_is_found_by_it() {
        let task = json!({"task": {"step": 3, "index": 1, "task": {"question": {"deduction": {}}}, "attempts": [{}, {}], "verifications": [{}]}});
        let names: Vec<String> = responses(&task).iter().map(|response| response.id.to_string()).collect();
        assert_eq!(names, ["3-attempt-1-0", "3-attempt-1-1", "3-verification-1-0"]);
        assert_eq!(&*responses(&task)[0].facts().task_type, "deduction");
        for name in names.iter().map(String::as_str).chain(["0-proposal-7", "12-derived-0"]) {
            assert_eq!(name.parse::<ResponseId>().expect("a name").to_string(), name);
        }
        for wrong in [
            "", "3", "3-attempt", "3-attempt-1", "3-proposal-1-0", "03-proposal-1", "3-proposal-1-", "-1-proposal-1",
            "3-none-1",
        ] {
            assert!(wrong.parse::<ResponseId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_dropped_response_has_a_reason_and_no_verdict() {
        let line = json!({"proposal": {"index": 0, "proposed": {"step": 1}, "request": {"task_type": "induction"},
            "episode": {"turns": []}, "judged": {"verdict": {"Err": {"why": "the host failed"}}}}});
        let found = responses(&line);
        let facts = found[0].facts();
        assert_eq!((&*facts.status, &*facts.task_type, facts.reward), ("dropped", "induction", None));
        assert!(found[0].contains("host failed") && !found[0].contains("absent"));
    }
}
