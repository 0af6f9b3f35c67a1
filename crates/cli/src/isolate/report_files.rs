//! The files that a run writes its reports to. They are checked before anything is attacked: a run may take minutes, and its exit code must be
//! that of the probes.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;

use super::allow::AllowList;
use super::not_tried::NotTried;
use super::report::{IsolationReport, junit_xml};
use super::sarif::sarif;
use super::{ProbeResult, SuiteEnd};
use crate::exit::{ExitCode, Failure, ResultExt};
use crate::json_file::write_new_file;

// No documentation comment: clap would make it the text of the whole command.
#[derive(Debug, Args)]
pub(crate) struct ReportFiles {
    /// Write an allow-list of what is not contained to this new file
    #[arg(long, value_name = "FILE")]
    write_allow: Option<PathBuf>,
    /// Write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a SARIF report to this file, for code hosts that list findings of security tools
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a report in Markdown to this file, for the summary of a CI run
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl ReportFiles {
    /// Checks that each file can be written, and changes none.
    ///
    /// # Errors
    /// The first one that cannot.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let named: Vec<&PathBuf> =
            [&self.junit, &self.sarif, &self.markdown, &self.write_allow].into_iter().flatten().collect();
        if let Some(twice) = named.iter().find(|path| named.iter().filter(|other| other == path).count() > 1) {
            let text = format!("two of the reports are to be written to `{}`", twice.display());
            return Err(Failure::message(ExitCode::Input, text));
        }
        for path in [&self.junit, &self.sarif, &self.markdown].into_iter().flatten() {
            check_writable(path)
                .with_context(|| format!("cannot write `{}`", path.display()))
                .or_fail(ExitCode::Input)?;
        }
        let Some(path) = &self.write_allow else { return Ok(()) };
        check_new(path)
            .with_context(|| format!("cannot write the new file `{}`", path.display()))
            .or_fail(ExitCode::Input)
    }

    /// Writes them.
    ///
    /// # Errors
    /// The first one that cannot be written.
    pub(crate) fn write(
        &self,
        report: &IsolationReport,
        results: &[ProbeResult],
        not_tried: &NotTried,
        end: &SuiteEnd<'_>,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.junit {
            write_file(path, &junit_xml(results, not_tried, end).or_fail(ExitCode::Bug)?)?;
        }
        if let Some(path) = &self.sarif {
            write_file(path, &serde_json::to_string_pretty(&sarif(end.target, results)).or_fail(ExitCode::Bug)?)?;
        }
        if let Some(path) = &self.markdown {
            write_file(path, &report.markdown())?;
        }
        if let Some(path) = &self.write_allow {
            write_new_file(path, &AllowList::of(results, end.today).to_toml().or_fail(ExitCode::Bug)?)?;
        }
        Ok(())
    }
}

/// Checks that a file can be written, by opening it or, where there is none, by making another one in its folder for a moment.
fn check_writable(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => std::fs::File::options().append(true).open(path).map(drop),
        // The reader of a pipe would notice.
        Ok(_) => Ok(()),
        Err(_) => tempfile::tempfile_in(folder).map(drop),
    }
}

/// Checks that a file is not there yet and can be written.
fn check_new(path: &Path) -> anyhow::Result<()> {
    ensure!(path.symlink_metadata().is_err(), "it is there already, and may have been edited since");
    Ok(check_writable(path)?)
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display())).or_fail(ExitCode::Input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_can_be_written_is_left_as_it_is_and_others_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("old"), "mine").expect("it is written");
        assert!(check_writable(&path("old")).is_ok() && check_writable(&path("new")).is_ok());
        assert!(check_new(&path("new")).is_ok() && check_new(&path("old")).is_err());
        assert!(check_writable(&path("nowhere/new")).is_err() && check_writable(folder.path()).is_err());
        assert_eq!(std::fs::read_to_string(path("old")).expect("it is there"), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }
}
