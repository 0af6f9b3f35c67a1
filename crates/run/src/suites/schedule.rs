//! Public sets measured while training: `suites` of `[eval]`, at the start of a run, every so many steps, and at its end.
//!
//! Called by the loop of `play`. Each measurement is a folder as `veriplay eval --suite` writes it. Invariants: a measurement is a function of
//! the configuration and the weights, so a resumed run ends with the same bytes; one that was cut off continues; all measurements of a run have the
//! files of the first.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_counts};
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::read_json;
use veriplay_console::progress::{self, counted};
use veriplay_core::ProblemRow;
use veriplay_corpus::{ProblemStatement, StatedTask, read_problems, read_statements};
use veriplay_selfplay::intervals::Estimate;
use veriplay_selfplay::splits::{EvalSet, Guard};

use super::{MeasuredModel, SUITES, SuiteFile, SuiteJudge, SuiteRecord, SuiteSampling, find_suites, suite_names};
/// A value of `suites`, as `veriplay eval --suite` takes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SuiteName(String);

impl TryFrom<String> for SuiteName {
    type Error = String;

    /// The configuration reader adds the line to this error.
    fn try_from(name: String) -> Result<Self, String> {
        let set = name.split_once('=').map_or(name.as_str(), |(set, _)| set);
        if SUITES.iter().any(|suite| suite.name == set) || Path::new(&name).is_file() {
            return Ok(Self(name));
        }
        let known = suite_names();
        Err(format!(
            "`{name}` is neither a public set nor a file: the sets are `{known}`, and `NAME=FILE` reads one from a file"
        ))
    }
}

impl From<SuiteName> for String {
    fn from(name: SuiteName) -> Self {
        name.0
    }
}

/// The keys of `[eval]` that every game has beside its own.
#[derive(Debug, Clone, Copy)]
pub struct SuiteSchedule<'a> {
    /// Steps between two measurements; `None` measures at the start and at the end alone.
    pub every: Option<u64>,
    /// The sets; none measures none.
    pub suites: &'a [SuiteName],
    /// The first tasks of each set; `None` means all.
    pub limit: Option<usize>,
    /// The folder with the published files; `None` as for `--data`.
    pub data: Option<&'a Path>,
    /// Prompt templates, as `--prompt-template` takes them.
    pub prompt_templates: &'a [String],
}

impl SuiteSchedule<'_> {
    /// Checks what types cannot.
    pub fn validate(&self) -> Result<(), Failure> {
        check_counts(&[("eval.every", self.every.unwrap_or(1)), ("eval.limit", self.limit.unwrap_or(1) as u64)])?;
        let unused = [
            ("eval.every", self.every.map(|every| every.to_string())),
            ("eval.limit", self.limit.map(|limit| limit.to_string())),
            ("eval.data", self.data.map(|data| data.display().to_string())),
            ("eval.prompt_templates", self.prompt_templates.first().cloned()),
        ];
        match unused.iter().find_map(|(key, value)| Some((key, value.as_ref()?))) {
            Some((key, value)) if self.suites.is_empty() => {
                Err(bad_value(key, value, "left out, or `eval.suites` names a set"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses sets in a run whose programs are in another language than Python.
    pub fn check_without_python(&self) -> Result<(), Failure> {
        if self.suites.is_empty() {
            return Ok(());
        }
        let want = "left out: these sets are in Python, and the run has no image of it";
        Err(bad_value("eval.suites", &"not empty", want))
    }

    /// Guards what the sets ask, and their reference programs where they have any, against training on them: all tasks, whatever the limit.
    pub fn guard(&self) -> Result<Guard, Failure> {
        let mut guard = Guard::default();
        for name in self.suites {
            let suite = SuiteFile::find(&name.0, self.data)?;
            let named = |task: &str| format!("task `{task}` of suite `{}`", suite.name);
            let stated = read_statements(&suite.path, suite.format, &suite.options).or_fail(ExitCode::Input)?;
            for StatedTask { task_id, statement } in stated {
                match statement {
                    Ok(ProblemStatement::Prediction { program, .. }) => {
                        guard.add_program(EvalSet::HeldOut, &named(&task_id), &program);
                    }
                    Ok(ProblemStatement::Continuation(text) | ProblemStatement::Instruction { text, .. }) => {
                        guard.add_text(EvalSet::HeldOut, &named(&task_id), &text);
                    }
                    // Measuring reports it.
                    Err(_) => {}
                }
            }
            let rows = read_problems(&suite.path, suite.format, &suite.options).or_fail(ExitCode::Input)?.rows;
            for (_, row) in rows {
                if let ProblemRow::Unexecuted(row) = row {
                    guard.add_program(EvalSet::HeldOut, &named(&row.task_id), &row.reference);
                }
            }
        }
        Ok(guard)
    }

    /// Whether a run of `steps` is measured after `step` of them.
    pub fn is_due(&self, step: u64, steps: u64) -> bool {
        let scheduled = step == 0 || step == steps || self.every.is_some_and(|every| step.is_multiple_of(every));
        scheduled && !self.suites.is_empty()
    }

    /// What is measured, and when; `None` where nothing is. For people.
    pub fn describe(&self) -> Option<String> {
        let names: Vec<&str> = self.suites.iter().map(|name| name.0.as_str()).collect();
        let tasks =
            self.limit.map_or_else(String::new, |limit| format!(", the first {} of each", counted(limit, "task")));
        let every = self.every.map_or_else(String::new, |every| format!(", every {}", counted(every, "step")));
        (!names.is_empty()).then(|| format!("suites `{}`{tasks}: before{every} and after", names.join("`, `")))
    }
}

/// pass@1 of each suite, by its name; `None` where no task has a verdict.
pub type SuiteScores = BTreeMap<String, Option<f64>>;

/// The same with its interval.
pub type SuiteEstimates = BTreeMap<String, Option<Estimate>>;

/// The measurements of one run.
pub struct SuiteMeasurements {
    suites: Vec<SuiteFile>,
    sampling: SuiteSampling,
    isolation: Isolation,
    judge: OnceCell<SuiteJudge>,
    /// Where each measurement has a folder.
    folder: PathBuf,
}

impl SuiteMeasurements {
    /// Finds the files of all suites.
    pub fn find(schedule: SuiteSchedule<'_>, folder: PathBuf, isolation: Isolation) -> Result<Self, Failure> {
        let names = schedule.suites.iter().map(|name| name.0.as_str());
        let suites = find_suites(names, schedule.data, schedule.prompt_templates)?;
        let mut names = BTreeSet::new();
        if let Some(twice) = suites.iter().find(|suite| !names.insert(&suite.name)) {
            return Err(bad_value("eval.suites", &twice.name, "named once, because its samples have one file"));
        }
        let sampling = SuiteSampling::greedy(schedule.limit);
        Ok(Self { suites, sampling, isolation, judge: OnceCell::new(), folder })
    }

    /// Refuses files that are not those of the measurement before the first step, where there is one.
    pub fn check_same_files(&self) -> Result<(), Failure> {
        for suite in &self.suites {
            let report = self.report_of(0, suite);
            if report.exists() {
                suite.check_same(&read_json::<SuiteRecord>(&report)?.settings)?;
            }
        }
        Ok(())
    }

    /// Measures a model after `step` steps, or reads what an earlier process has measured of it.
    pub fn measure(&self, model: MeasuredModel<'_>, step: u64) -> Result<SuiteScores, Failure> {
        self.check_same_files()?;
        let judge = match self.judge.get() {
            Some(judge) => judge,
            None => {
                let opened = SuiteJudge::open(self.isolation)?;
                self.judge.get_or_init(|| opened)
            }
        };
        let folder = self.folder_of(step);
        let reports = judge.evaluate(model, &self.suites, &self.sampling, &folder, progress::say)?;
        Ok(reports.into_iter().map(|(name, report)| (name, report.verdicts.pass_at_1())).collect())
    }

    /// The scores of an earlier measurement.
    pub fn read(&self, step: u64) -> Result<SuiteEstimates, Failure> {
        let score = |suite: &SuiteFile| {
            let report: SuiteRecord = read_json(&self.report_of(step, suite))?;
            Ok((suite.name.clone(), report.pass_at_1()))
        };
        self.suites.iter().map(score).collect()
    }

    fn report_of(&self, step: u64, suite: &SuiteFile) -> PathBuf {
        self.folder_of(step).join(format!("{}.report.json", suite.name))
    }

    fn folder_of(&self, step: u64) -> PathBuf {
        self.folder.join(format!("step_{step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{SuiteName, SuiteSchedule};

    #[test]
    fn what_a_suite_asks_is_guarded_however_it_is_laid_out() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cruxeval.jsonl");
        let row = r#"{"id": "sample_0", "code": "def f(x):\n    return x * 977", "input": "1", "output": "977"}"#;
        std::fs::write(&path, row).expect("it is written");
        let suites = [SuiteName::try_from("cruxeval-o".to_owned()).expect("a set")];
        let data = Some(dir.path());
        let schedule = SuiteSchedule { every: None, suites: &suites, limit: Some(1), data, prompt_templates: &[] };
        let guard = schedule.guard().expect("the file is there");
        let found = guard.find_program("def f(value):\n    # mine\n    return value*977").expect("it is measured");
        assert!(found.name.ends_with("task `sample_0` of suite `cruxeval-o`"), "{}", found.name);
        assert!(guard.find_program("def f(x):\n    return x * 978").is_none());
    }
}
