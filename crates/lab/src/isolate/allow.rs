//! The allow-list of a sandbox under test: probes that are known not to be contained there, each with a reason and, where wanted, a day on
//! which it must be looked at again. A suite with an allow-list fails on what is new.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use toml::value::Datetime;
use veriplay_console::json_file::read_whole_text;
use veriplay_corpus::probes::judge::Containment;

use super::ProbeResult;

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowList {
    #[serde(default)]
    allow: Vec<AllowedProbe>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AllowedProbe {
    /// `CLASS/NAME`.
    probe: String,
    reason: String,
    /// The last day on which the entry counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Datetime>,
}

impl AllowedProbe {
    /// The last day on which the entry counts, if it has one.
    fn last_day(&self) -> anyhow::Result<Option<NaiveDate>> {
        let Some(expires) = &self.expires else { return Ok(None) };
        let day = expires.date.filter(|_| expires.time.is_none());
        let day = day.and_then(|day| NaiveDate::from_ymd_opt(day.year.into(), day.month.into(), day.day.into()));
        Ok(Some(day.with_context(|| format!("`expires = {expires}` is not a day; write it as 2027-01-31"))?))
    }
}

impl AllowList {
    /// Reads the file, whose entries must be among the probes of these ids.
    pub fn read(path: &Path, known: &[String]) -> anyhow::Result<Self> {
        let what = || format!("the allow-list `{}`", path.display());
        let text = read_whole_text(path).with_context(|| format!("cannot read {}", what()))?;
        let list: Self = toml::from_str(&text).with_context(what)?;
        list.check(known).with_context(what)?;
        Ok(list)
    }

    fn check(&self, known: &[String]) -> anyhow::Result<()> {
        let mut known: BTreeMap<&str, bool> = known.iter().map(|id| (id.as_str(), false)).collect();
        for entry in &self.allow {
            let id = &entry.probe;
            match known.get_mut(id.as_str()) {
                None => bail!("there is no probe `{id}`; `veriplay isolate --list` has their names"),
                Some(true) => bail!("`{id}` has two entries"),
                Some(is_listed) => *is_listed = true,
            }
            ensure!(!entry.reason.trim().is_empty(), "the `reason` of `{id}` is empty");
            entry.last_day().with_context(|| format!("the entry of `{id}`"))?;
        }
        Ok(())
    }

    /// Marks the results that the list allows on this day, and says what of it is out of date.
    pub fn apply(&self, results: &mut [ProbeResult], today: NaiveDate) -> anyhow::Result<Vec<String>> {
        let mut notes = Vec::new();
        for entry in &self.allow {
            let id = &entry.probe;
            let Some(result) = results.iter_mut().find(|result| result.id() == *id) else { continue };
            let last_day = entry.last_day()?;
            if result.finding.verdict == Containment::Contained {
                notes.push(format!("`{id}` is allowed and was contained: its entry can go"));
            } else if result.finding.verdict == Containment::Unclear {
                notes.push(format!("`{id}` is allowed to escape and was unclear: nobody knows what it would do"));
            } else if let Some(day) = last_day.filter(|&day| day < today) {
                notes.push(format!("the entry of `{id}` expired on {day}: {}", entry.reason));
            } else {
                result.allowed = Some(entry.reason.clone());
            }
        }
        Ok(notes)
    }

    /// A list that allows what escaped today, for a person to give reasons. An unclear probe is not on it: its entry would allow an escape that nobody
    /// has seen. A draft of a reason has the title and not the evidence, which
    /// may hold process ids, ports and secrets that were laid out as bait.
    pub fn of(results: &[ProbeResult], today: NaiveDate) -> Self {
        let entry = |result: &ProbeResult| AllowedProbe {
            probe: result.id(),
            reason: format!("{} on {today}: {}", result.finding.verdict.word(), result.title),
            expires: None,
        };
        Self { allow: results.iter().filter(|result| result.finding.is_escape()).map(entry).collect() }
    }

    pub(crate) fn to_toml(&self) -> anyhow::Result<String> {
        const HEAD: &str = "# Probes that need not be contained, for `veriplay isolate --allow`. Say why for each; `expires = 2027-01-31` is the last\n# day on which an entry counts.\n\n";
        Ok(format!("{HEAD}{}", toml::to_string(self).context("the allow-list cannot be written as TOML")?))
    }
}
