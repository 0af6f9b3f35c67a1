//! The files that a run writes its reports to. They are checked before anything is attacked: a run may take minutes, and its exit code must be
//! that of the probes.

use std::path::{Path, PathBuf};

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::{check_new_file, check_writable, write_new_file, write_through};
use veriplay_console::progress;

use super::allow::AllowList;
use super::report::{IsolationReport, junit_xml};
use super::sarif::{SarifPlace, sarif};
use super::selection::NotTried;
use super::{ProbeResult, SuiteEnd};

#[expect(missing_docs, reason = "clap would make a documentation comment the text of the whole command")]
#[derive(Debug, Args)]
pub struct ReportFiles {
    /// Write an allow-list of what escaped to this new file
    #[arg(long, value_name = "FILE")]
    write_allow: Option<PathBuf>,
    /// Write a JUnit report to this file; of this report and the next two, one may be `-`, stdout, and the table goes to stderr
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a SARIF report to this file, for code hosts that list findings of security tools
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a report in Markdown to this file, for the summary of a CI run
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn write_report(path: &Path, text: &str) -> Result<(), Failure> {
    if is_stdout(path) {
        progress::data(text.trim_end());
        return Ok(());
    }
    write_through(path, text)
}

impl ReportFiles {
    fn reports(&self) -> impl Iterator<Item = &Path> {
        [&self.junit, &self.sarif, &self.markdown].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether one of them takes stdout.
    pub fn take_stdout(&self) -> bool {
        self.reports().any(is_stdout)
    }

    /// Checks that each file can be written, and changes none.
    pub fn check(&self) -> Result<(), Failure> {
        let named: Vec<&PathBuf> =
            [&self.junit, &self.sarif, &self.markdown, &self.write_allow].into_iter().flatten().collect();
        if let Some(twice) = named.iter().find(|path| named.iter().filter(|other| other == path).count() > 1) {
            let text = format!("two of the reports are to be written to `{}`", twice.display());
            return Err(Failure::message(ExitCode::Input, text));
        }
        self.reports().filter(|path| !is_stdout(path)).try_for_each(check_writable)?;
        self.write_allow.as_deref().map_or(Ok(()), check_new_file)
    }

    /// Writes them. `allow` is the allow-list that the suite had.
    pub fn write(
        &self,
        report: &IsolationReport<'_>,
        results: &[ProbeResult],
        not_tried: &NotTried,
        end: &SuiteEnd<'_>,
        allow: Option<&Path>,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            write_report(path, &junit_xml(results, not_tried, end).or_fail(ExitCode::Bug)?)?;
        }
        if let Some(path) = &self.sarif {
            let report = sarif(end, results, SarifPlace::find(allow).as_ref());
            write_report(path, &serde_json::to_string_pretty(&report).or_fail(ExitCode::Bug)?)?;
        }
        if let Some(path) = &self.markdown {
            write_report(path, &report.markdown())?;
        }
        if let Some(path) = &self.write_allow {
            write_new_file(path, &AllowList::of(results, end.today).to_toml().or_fail(ExitCode::Bug)?)?;
        }
        Ok(())
    }
}
