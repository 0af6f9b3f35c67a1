//! The report as SARIF 2.1.0 (OASIS), the format in which code hosts take findings of security tools: a rule for each probe that was
//! tried, a result for each that was not contained. An allow-list's entries are suppressions. A rule says where its probe is written, which
//! is in Veriplay's repository; a result is at the target, and in a file of the user's own repository where there is one: a sandbox has no line of
//! source, and a code host refuses a result that is in no file of the repository it is sent to.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use veriplay_corpus::probes::judge::Containment;
use veriplay_corpus::probes::{Severity, find_probe_file};

use super::catalog::{find_class, is_of_service};
use super::report::hint;
use super::{ProbeResult, SuiteEnd, forgeries};

/// The report as SARIF 2.1.0, with its results at `place`.
pub(crate) fn sarif(end: &SuiteEnd<'_>, results: &[ProbeResult], place: Option<&SarifPlace>) -> Value {
    let target = end.target;
    let found = results.iter().filter(|result| result.finding.verdict != Containment::Contained);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "veriplay isolate",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": results.iter().map(rule).collect::<Vec<_>>(),
            } },
            // Of a suite that was stopped, the rest of the findings is not known.
            "invocations": [{ "executionSuccessful": !end.stopped }],
            "results": found.map(|result| finding(target, result, place)).collect::<Vec<_>>(),
        }],
    })
}

fn rule(result: &ProbeResult) -> Value {
    json!({
        "id": result.id(),
        "shortDescription": { "text": result.title },
        "fullDescription": { "text": description(result) },
        "help": { "text": hint(&result.class) },
        "properties": {
            "tags": ["security", result.class],
            "security-severity": score(severity(result)),
            "source": file(result),
        },
    })
}

/// What the probe is, and how to see its programs.
fn description(result: &ProbeResult) -> String {
    let (title, id) = (&result.title, result.id());
    match find_class(&result.class) {
        Some(class) => format!(
            "{title}. Probes of class `{}` try to {}. `veriplay isolate --explain {id}` shows what this one does.",
            class.name, class.tries
        ),
        None => format!("{title}. A wrong program that tries to be judged correct."),
    }
}

fn finding(target: &str, result: &ProbeResult, place: Option<&SarifPlace>) -> Value {
    let suppressions: Vec<Value> =
        result.allowed.iter().map(|reason| json!({ "kind": "external", "justification": reason })).collect();
    let mut location = json!({ "logicalLocations": [{ "name": target, "kind": "resource" }] });
    if let Some(place) = place {
        location["physicalLocation"] = place.physical_location(&result.id());
    }
    json!({
        "ruleId": result.id(),
        "level": level(result),
        "message": { "text": format!("{} on {target}: {}", result.finding.verdict.word(), result.finding.evidence) },
        "locations": [location],
        "partialFingerprints": { "probeOnTarget/v1": format!("{} on {target}", result.id()) },
        "suppressions": suppressions,
    })
}

/// Where the probe is written, in Veriplay's repository.
fn file(result: &ProbeResult) -> String {
    match result.class.strip_prefix("service_") {
        Some(file) if is_of_service(&result.class) => format!("crates/lab/src/isolate/service/{file}.rs"),
        _ if result.class == forgeries::CLASS => {
            let (forgery, _) = result.name.split_once(' ').unwrap_or((result.name.as_str(), ""));
            format!("task-corpus/forgeries/{forgery}.md")
        }
        _ => format!("task-corpus/probes/{}", find_probe_file(&result.id())),
    }
}

/// Forgeries of the verifier are of no probe class: what they win is a reward, which is what the verifier is for.
fn severity(result: &ProbeResult) -> Severity {
    find_class(&result.class).map_or(Severity::High, |class| class.severity)
}

fn level(result: &ProbeResult) -> &'static str {
    match (result.finding.verdict, severity(result)) {
        (Containment::Escaped, Severity::Critical | Severity::High) => "error",
        (Containment::Escaped, Severity::Medium) => "warning",
        _ => "note",
    }
}

/// A number on CVSS's scale, by which code hosts sort: the middle of the range that has this name in CVSS 3.1.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "2.0",
    }
}

/// GitHub's names for the checkout and for the workflow that runs, `OWNER/REPOSITORY/PATH@REF`.
const CHECKOUT: &str = "GITHUB_WORKSPACE";
const WORKFLOW: &str = "GITHUB_WORKFLOW_REF";

/// A file of the repository in which the suite runs: the allow-list, where a finding would have its entry, else the workflow that runs the suite.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SarifPlace {
    /// Relative to the root of the repository.
    uri: String,
    /// The allow-list; empty for a workflow.
    text: String,
}

impl SarifPlace {
    /// Finds it: the allow-list where it is below the checkout or, outside of a workflow, below the working directory; else the workflow.
    pub(crate) fn find(allow: Option<&Path>) -> Option<Self> {
        let checkout = std::env::var_os(CHECKOUT).filter(|path| !path.is_empty());
        let root = checkout.map_or_else(|| PathBuf::from("."), PathBuf::from);
        let workflow = std::env::var(WORKFLOW).unwrap_or_default();
        allow.and_then(|path| Self::in_allow_list(path, &root)).or_else(|| Self::in_workflow(&workflow))
    }

    fn in_allow_list(path: &Path, root: &Path) -> Option<Self> {
        let (path, root) = (path.canonicalize().ok()?, root.canonicalize().ok()?);
        let uri = relative_uri(path.strip_prefix(&root).ok()?);
        Some(Self { uri, text: std::fs::read_to_string(&path).ok()? })
    }

    fn in_workflow(reference: &str) -> Option<Self> {
        let path = reference.splitn(3, '/').nth(2)?.split('@').next()?;
        (!path.is_empty()).then(|| Self { uri: relative_uri(Path::new(path)), text: String::new() })
    }

    /// SARIF's location of what the probe `id` found: its entry, or the first line where it has none.
    fn physical_location(&self, id: &str) -> Value {
        let names = [format!("\"{id}\""), format!("'{id}'")];
        let entry = self.text.lines().position(|line| names.iter().any(|name| line.contains(name)));
        json!({
            "artifactLocation": { "uri": self.uri },
            "region": { "startLine": entry.unwrap_or(0) + 1 },
        })
    }
}

/// A relative path as a reference of a URI, in which other characters are escaped.
fn relative_uri(path: &Path) -> String {
    let mut uri = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allow_list_of_the_repository_is_the_place_and_an_entry_has_its_line() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(root.path().join("ci")).expect("a folder");
        let path = root.path().join("ci/our list.toml");
        std::fs::write(&path, "# ours\n\n[[allow]]\nprobe = \"cpu/loop\"\n").expect("it is written");
        let place = SarifPlace::in_allow_list(&path, root.path()).expect("it is in the repository");
        assert_eq!(place.uri, "ci/our%20list.toml");
        let line = |id: &str| place.physical_location(id)["region"]["startLine"].clone();
        assert_eq!((line("cpu/loop"), line("cpu/lo")), (4.into(), 1.into()));
        let elsewhere = tempfile::tempdir().expect("another directory");
        assert_eq!(SarifPlace::in_allow_list(&path, elsewhere.path()), None);
    }

    #[test]
    fn a_workflow_is_named_without_its_repository_and_reference() {
        let uri = |reference: &str| SarifPlace::in_workflow(reference).map(|place| place.uri);
        let workflow = "owner/name/.github/workflows/isolation.yml@refs/heads/main";
        assert_eq!(uri(workflow).as_deref(), Some(".github/workflows/isolation.yml"));
        assert_eq!((uri(""), uri("owner/name"), uri("owner/name/@main")), (None, None, None));
    }
}
