//! Logged records of a run: some of them, spread over its steps, with what the policy was asked, what it wrote, and the verdict.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use minijinja::context;
use serde_json::Value;

use crate::exit::{ExitCode, Failure, ResultExt};

/// Characters of a prompt or a response that are shown.
const SHOWN: usize = 4000;

/// One response with its verdict.
pub(crate) struct LoggedRecord {
    step: u64,
    /// `proposer`, `solver` or `verifier`.
    role: &'static str,
    /// The verdict's status, or `dropped`.
    status: String,
    detail: String,
    reward: Option<f64>,
    /// Prompts and responses.
    turns: Vec<(String, String)>,
}

impl LoggedRecord {
    /// What the template shows.
    pub(crate) fn to_value(&self, run: &str) -> minijinja::Value {
        let turn = |(prompt, text): &(String, String)| context!(prompt => prompt.as_str(), text => text.as_str());
        context!(
            run,
            step => self.step,
            role => self.role,
            status => self.status.as_str(),
            detail => &*self.detail,
            reward => self.reward,
            turns => self.turns.iter().map(turn).collect::<Vec<_>>(),
        )
    }
}

/// Reads about `count` records of `rollouts.jsonl.zst`: every n-th, so that all steps have some. A part of the file that is still being
/// written is left out.
pub(crate) fn read_records(path: &Path, count: usize) -> Result<Vec<LoggedRecord>, Failure> {
    let mut total = 0_usize;
    for_each_response(path, |_| total += 1)?;
    let every = total.div_ceil(count.max(1)).max(1);
    let (mut index, mut records) = (0, Vec::new());
    for_each_response(path, |response| {
        if count > 0 && index % every == 0 {
            records.push(response.to_record());
        }
        index += 1;
    })?;
    Ok(records)
}

/// A response in the log.
struct Response<'a> {
    step: u64,
    role: &'static str,
    episode: &'a Value,
    judged: &'a Value,
}

fn for_each_response(path: &Path, mut see: impl FnMut(&Response<'_>)) -> Result<(), Failure> {
    let open = || anyhow::Ok(BufReader::new(zstd::Decoder::new(File::open(path)?)?));
    let lines = open().with_context(|| format!("cannot read `{}`", path.display())).or_fail(ExitCode::Input)?.lines();
    for line in lines.map_while(Result::ok) {
        let Ok(record) = serde_json::from_str::<Value>(&line) else { break };
        if let Some(proposal) = record.get("proposal") {
            let step = proposal["proposed"]["step"].as_u64().unwrap_or_default();
            see(&Response { step, role: "proposer", episode: &proposal["episode"], judged: &proposal["judged"] });
        }
        let Some(task) = record.get("task") else { continue };
        let step = task["step"].as_u64().unwrap_or_default();
        for (role, key) in [("solver", "attempts"), ("verifier", "verifications")] {
            for one in task[key].as_array().into_iter().flatten() {
                see(&Response { step, role, episode: &one["episode"], judged: &one["judged"] });
            }
        }
    }
    Ok(())
}

impl Response<'_> {
    fn to_record(&self) -> LoggedRecord {
        let verdict = &self.judged["verdict"];
        let (status, detail) = match verdict.get("Ok") {
            Some(verdict) => (verdict["status"].as_str().unwrap_or("none"), &verdict["evidence"]["detail"]),
            None => ("dropped", &verdict["Err"]["why"]),
        };
        let turns = self.episode["turns"].as_array().into_iter().flatten();
        let turn = |turn: &Value| (shown(&turn["prompt"]), shown(&turn["text"]));
        LoggedRecord {
            step: self.step,
            role: self.role,
            status: status.to_owned(),
            detail: shown(detail),
            reward: reward(&self.episode["reward"]),
            turns: turns.map(turn).collect(),
        }
    }
}

/// Σ score · weight; `None` where there is no reward.
fn reward(reward: &Value) -> Option<f64> {
    let part = |part: &Value| Some(part[1].as_f64()? * part[2].as_f64()?);
    reward["parts"].as_array().map(|parts| parts.iter().filter_map(part).sum())
}

/// A text, or messages as JSON, cut where it is too long for a page.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        messages => messages.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}\n… ({} more bytes)", &text[..end], text.len() - end),
        None => text,
    }
}
