//! The report as SARIF 2.1.0 (OASIS), the format in which code hosts take findings of security tools: a rule for each probe that was
//! tried, a result for each that was not contained. An allow-list's entries are suppressions. A rule says where its probe is written, which
//! is in Veriplay's repository; a result is at the target, and in a file of the user's own repository where there is one.

use serde_json::{Value, json};
use veriplay_corpus::probes::Severity;
use veriplay_corpus::probes::judge::Containment;

use super::catalog::{find_class, is_of_service};
use super::report::hint;
use super::sarif_place::SarifPlace;
use super::{ProbeResult, SuiteEnd, forgeries};

/// The report as SARIF 2.1.0, with its results at `place`.
pub fn sarif(end: &SuiteEnd<'_>, results: &[ProbeResult], place: Option<&SarifPlace>) -> Value {
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
        _ => format!("task-corpus/probes/{}.md", result.id()),
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
