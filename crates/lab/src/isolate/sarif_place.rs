//! Where a code host shows what the suite found. A sandbox has no line of source, and a host refuses a result that is in no file of the
//! repository it is sent to. So it is shown in the allow-list, which is where it would have its entry, else in the workflow that runs the suite.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// GitHub's names for the checkout and for the workflow that runs, `OWNER/REPOSITORY/PATH@REF`.
const CHECKOUT: &str = "GITHUB_WORKSPACE";
const WORKFLOW: &str = "GITHUB_WORKFLOW_REF";

/// A file of the repository in which the suite runs.
#[derive(Debug, PartialEq, Eq)]
pub struct SarifPlace {
    /// Relative to the root of the repository.
    uri: String,
    /// The allow-list; empty for a workflow.
    text: String,
}

impl SarifPlace {
    /// Finds it: the allow-list where it is below the checkout or, outside of a workflow, below the working directory; else the workflow.
    pub fn find(allow: Option<&Path>) -> Option<Self> {
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
    pub(super) fn physical_location(&self, id: &str) -> Value {
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
