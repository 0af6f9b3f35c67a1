//! Public sets that runs have measured, and how they differ.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{read_json, read_text};
use veriplay_core::{Digest, RowStatus, Status, VerdictRow};
use veriplay_selfplay::intervals::Estimate;
use veriplay_selfplay::metrics::SolveCount;

use veriplay_run::suites::{RecordedSettings, SuiteRecord};

pub(super) type MeasuredSuites = BTreeMap<String, MeasuredSuite>;

#[derive(Serialize)]
pub(super) struct MeasuredSuite {
    tasks: usize,
    /// `null` where no task has a verdict.
    pub(super) pass1: Option<Estimate>,
    #[serde(skip)]
    settings: RecordedSettings,
    /// pass@1 of each task with a verdict.
    #[serde(skip)]
    by_task: BTreeMap<String, f64>,
}

/// How much higher pass@1 of a set is in one run than in another.
#[derive(Serialize)]
pub(super) struct SuiteDifference {
    pub(super) paired: bool,
    pub(super) pass1: Estimate,
}

/// Reads the measurements in the folder of a step, where there is one.
pub(super) fn read_suites(folder: &Path) -> Result<MeasuredSuites, Failure> {
    let mut suites = MeasuredSuites::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let Some(suite) = name.strip_suffix(".report.json") else { continue };
        let record: SuiteRecord = read_json(&file.path())?;
        let by_task = read_pass_rates(&folder.join(format!("{suite}.verdicts.jsonl")))?;
        let (tasks, pass1) = (record.tasks(), record.pass_at_1());
        suites.insert(suite.to_owned(), MeasuredSuite { tasks, pass1, settings: record.settings, by_task });
    }
    Ok(suites)
}

/// pass@1 of each task, from a file of verdicts; of none where the file was removed.
fn read_pass_rates(path: &Path) -> Result<BTreeMap<String, f64>, Failure> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let mut counts: BTreeMap<String, SolveCount> = BTreeMap::new();
    for (number, line) in read_text(path)?.lines().enumerate() {
        let row: VerdictRow = serde_json::from_str(line)
            .with_context(|| format!("`{}` line {} is not a verdict", path.display(), number + 1))
            .or_fail(ExitCode::Input)?;
        if row.has_task() && row.counts() {
            counts.entry(row.task_id).or_default().add(row.status == RowStatus::Judged(Status::Accepted));
        }
    }
    Ok(counts.into_iter().filter_map(|(task, count)| Some((task, count.rate()?))).collect())
}

/// The sets that both have measured, on other tasks or by other prompts.
pub(super) fn measured_otherwise<'a>(first: &'a MeasuredSuites, other: &MeasuredSuites) -> Vec<&'a str> {
    let differs = |(name, suite): &(&String, &MeasuredSuite)| {
        other.get(*name).is_some_and(|other| other.settings != suite.settings)
    };
    first.iter().filter(differs).map(|(name, _)| name.as_str()).collect()
}

/// The digests of the files on which two runs measured a set, where they are two.
pub(super) fn other_files<'a>(
    first: &'a MeasuredSuites,
    other: &'a MeasuredSuites,
    suite: &str,
) -> Option<[&'a Digest; 2]> {
    let (first, other) = (&first.get(suite)?.settings.tasks, &other.get(suite)?.settings.tasks);
    (first != other).then_some([first, other])
}

/// How much higher the sets of `other` are, of those that both have measured on the same tasks by the same prompts.
pub(super) fn differences(first: &MeasuredSuites, other: &MeasuredSuites) -> BTreeMap<String, SuiteDifference> {
    let difference = |(name, suite): (&String, &MeasuredSuite)| {
        let other = other.get(name).filter(|other| other.settings == suite.settings)?;
        Some((name.clone(), other.minus(suite)?))
    };
    first.iter().filter_map(difference).collect()
}

impl MeasuredSuite {
    /// Task by task where both have a verdict on the same tasks.
    fn minus(&self, first: &Self) -> Option<SuiteDifference> {
        if self.by_task.keys().eq(first.by_task.keys()) {
            let pairs = self.by_task.values().zip(first.by_task.values());
            let pairs: Vec<f64> = pairs.map(|(own, others)| own - others).collect();
            if let Some(pass1) = Estimate::of_pairs(&pairs) {
                return Some(SuiteDifference { paired: true, pass1 });
            }
        }
        Some(SuiteDifference { paired: false, pass1: self.pass1?.minus(first.pass1?) })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Map, Value, json};
    use veriplay_core::Digest;

    use super::{differences, measured_otherwise, other_files, read_suites};

    /// Writes a measurement in which the tasks whose numbers are below `accepted` of four are solved. `asked` is how, beside the file's tasks.
    fn write(folder: &Path, accepted: usize, file: &str, asked: Value) {
        std::fs::create_dir_all(folder).expect("a folder");
        let rate = accepted as f64 / 4.0;
        let verdicts = json!({"tasks_attempted": 4, "pass_at_k": {"1": rate}, "pass_at_k_interval": {"1": [0.0, 1.0]}});
        let mut settings = json!({"tasks": Digest::of(file.as_bytes()), "limit": null, "seed": 0});
        let asked: Map<String, Value> = serde_json::from_value(asked).expect("an object");
        settings.as_object_mut().expect("an object").extend(asked);
        let report = json!({"settings": settings, "truncated": 0, "verdicts": verdicts});
        std::fs::write(folder.join("mbpp.report.json"), report.to_string()).expect("it is written");
        let row = |task: usize| {
            let status = if task < accepted { "accepted" } else { "wrong_answer" };
            let evidence = json!({"jobs": [], "fuel": 0, "rule": "", "detail": ""});
            json!({"schema_version": 1, "task_id": format!("t{task}"), "attempt_id": "0", "status": status, "passed": 0, "total": 1,
                "fuel": 0, "evidence": evidence, "judged": Digest::of(b"")})
            .to_string()
                + "\n"
        };
        std::fs::write(folder.join("mbpp.verdicts.jsonl"), (0..4).map(row).collect::<String>()).expect("it is written");
    }

    #[test]
    fn sets_are_compared_task_by_task_where_they_can_be() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let folders = ["one", "other", "third"].map(|name| dir.path().join(name));
        write(&folders[0], 1, "tasks", json!({}));
        write(&folders[1], 3, "tasks", json!({}));
        write(&folders[2], 3, "other tasks", json!({}));
        let [one, other, third] = folders.each_ref().map(|folder| read_suites(folder).expect("it can be read"));
        let found = &differences(&one, &other)["mbpp"];
        assert!(found.paired && (found.pass1.value - 0.5).abs() < 1e-12);
        assert!(differences(&one, &third).is_empty() && measured_otherwise(&one, &other).is_empty());
        assert_eq!(measured_otherwise(&one, &third), ["mbpp"]);
        let digests = [Digest::of(b"tasks"), Digest::of(b"other tasks")];
        assert_eq!(other_files(&one, &third, "mbpp"), Some(digests.each_ref()));
        assert_eq!((other_files(&one, &other, "mbpp"), other_files(&one, &third, "apps")), (None, None));
        std::fs::remove_file(folders[1].join("mbpp.verdicts.jsonl")).expect("it was there");
        let other = read_suites(&folders[1]).expect("it can be read");
        let found = &differences(&one, &other)["mbpp"];
        assert!(!found.paired && (found.pass1.value - 0.5).abs() < 1e-12);
        assert!(read_suites(&dir.path().join("missing")).expect("there is nothing to read").is_empty());
        std::fs::write(folders[1].join("mbpp.verdicts.jsonl"), "{}\n").expect("it is written");
        assert!(read_suites(&folders[1]).is_err_and(|failure| failure.to_string().contains("line 1 is not a verdict")));
    }

    #[test]
    fn sets_that_were_asked_otherwise_are_not_compared() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let ours = json!({"prompts": "chat", "prompt_template": null, "max_tokens": 768});
        let asked = [
            json!({"prompts": "chat", "prompt_template": Digest::of(b"one"), "max_tokens": 768}),
            json!({"prompts": "completion", "prompt_template": null, "max_tokens": 768}),
            json!({"prompts": "chat", "prompt_template": null, "max_tokens": 7}),
        ];
        let read = |name: &str, asked: Value| {
            let folder = dir.path().join(name);
            write(&folder, 2, "tasks", asked);
            read_suites(&folder).expect("it can be read")
        };
        let one = read("one", ours.clone());
        assert!(measured_otherwise(&one, &read("same", ours)).is_empty());
        for asked in asked {
            let other = read("other", asked.clone());
            assert!(differences(&one, &other).is_empty(), "{asked}");
            assert_eq!(measured_otherwise(&one, &other), ["mbpp"], "{asked}");
        }
    }
}
