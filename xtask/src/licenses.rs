//! The licences of the crates that are linked into the program: who wrote what, and the texts that their packages carry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// What the names of files with licences begin with.
const NAMES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];
/// How deep those of code that a package carries from elsewhere may lie.
const DEPTH: usize = 4;

/// The text for the program of package `name`, built for `target`: a line for each crate that it links, then every licence text once.
///
/// # Errors
/// Where cargo cannot list the packages, or one of their files cannot be read.
pub fn third_party_licenses(root: &Path, name: &str, target: &str) -> anyhow::Result<String> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .features(CargoOpt::SomeFeatures(Vec::new()))
        .other_options(["--locked", "--filter-platform", target].map(str::to_owned))
        .exec()
        .context("cannot list the dependencies")?;
    let packages = linked_packages(&metadata, name)?;
    let mut out = format!("The program contains code of these {} packages. Their texts follow.\n\n", packages.len());
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &packages {
        let title = format!("{} {}", package.name, package.version);
        let source = package.repository.as_deref().unwrap_or("no repository given");
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        let own = license_texts(folder.as_std_path(), DEPTH)?;
        let note = if own.is_empty() { "; its package has no text" } else { "" };
        out += &format!("{title}: {} ({source}){note}\n", package.license.as_deref().unwrap_or("see its texts"));
        for text in own {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    // In the order of the list, not of the texts.
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, titles)| (titles, text)).collect();
    texts.sort();
    for (titles, text) in texts {
        out += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), titles.join(", "), text.trim());
    }
    Ok(out)
}

/// The packages of others that `name` links, sorted by name and version.
fn linked_packages<'a>(metadata: &'a Metadata, name: &str) -> anyhow::Result<Vec<&'a Package>> {
    let resolve = metadata.resolve.as_ref().context("cargo resolved no dependencies")?;
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let ours = metadata.workspace_packages();
    let first = ours.iter().find(|package| package.name.as_str() == name);
    let mut open = vec![&first.with_context(|| format!("the workspace has no package `{name}`"))?.id];
    let mut seen: BTreeSet<&PackageId> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            let linked = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
            let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            open.extend(dependencies.filter(|one| one.dep_kinds.iter().any(linked)).map(|one| &one.pkg));
        }
    }
    let mut packages: Vec<&Package> =
        metadata.packages.iter().filter(|one| seen.contains(&one.id) && one.source.is_some()).collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(packages)
}

/// The contents of the files with licences in a folder and below, sorted.
fn license_texts(folder: &Path, depth: usize) -> anyhow::Result<BTreeSet<String>> {
    let mut texts = BTreeSet::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (name, kind) = (entry.file_name().to_string_lossy().to_lowercase(), entry.file_type()?);
        if kind.is_dir() && depth > 1 {
            texts.extend(license_texts(&entry.path(), depth - 1)?);
        } else if kind.is_file() && NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".rs") {
            let bytes = fs::read(entry.path()).with_context(|| format!("cannot read `{}`", entry.path().display()))?;
            texts.insert(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::third_party_licenses;
    use crate::root;

    #[test]
    fn the_list_has_what_the_program_links_and_nothing_of_the_tests() {
        let text = third_party_licenses(&root(), "veriplay", "x86_64-unknown-linux-gnu").expect("a list");
        let listed = |name: &str| text.lines().any(|line| line.starts_with(&format!("{name} ")) && line.contains(": "));
        for name in ["wasmtime", "candle-core", "axum", "clap_complete", "libsqlite3-sys", "zstd-sys"] {
            assert!(listed(name), "`{name}` is missing");
        }
        for name in ["criterion", "proptest", "libfuzzer-sys", "veriplay-core", "windows-sys"] {
            assert!(!listed(name), "`{name}` is not linked");
        }
        // Of C code that a package carries, too.
        assert!(text.contains("Apache License") && text.contains("Zstandard"), "texts are missing");
    }
}
