//! The crate arrows. The table in ARCHITECTURE.md is the rule; `cargo metadata` is the fact.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Which crates of ours each may depend on, development dependencies included but for [`ALLOWED_FOR_EXAMPLES`].
const ALLOWED: &[(&str, &[&str])] = &[
    ("veriplay-core", &[]),
    ("veriplay-sandbox", &["veriplay-core"]),
    ("veriplay-corpus", &["veriplay-core"]),
    ("veriplay-verifier", &["veriplay-core"]),
    ("veriplay-selfplay", &["veriplay-core", "veriplay-verifier"]),
    ("veriplay-kernels", &[]),
    ("veriplay-learner", &["veriplay-core", "veriplay-kernels"]),
    (
        "veriplay-fuzz",
        &["veriplay-core", "veriplay-corpus", "veriplay-sandbox", "veriplay-selfplay", "veriplay-verifier"],
    ),
    (
        "veriplay",
        &[
            "veriplay-core",
            "veriplay-corpus",
            "veriplay-learner",
            "veriplay-sandbox",
            "veriplay-selfplay",
            "veriplay-verifier",
        ],
    ),
    (
        "veriplay-tests",
        &[
            "veriplay-core",
            "veriplay-corpus",
            "veriplay-learner",
            "veriplay-sandbox",
            "veriplay-selfplay",
            "veriplay-verifier",
            "xtask",
        ],
    ),
    ("xtask", &["veriplay-core", "veriplay-corpus", "veriplay-sandbox"]),
];

/// What only tests and examples use: a crate, and what it may depend on there besides.
const ALLOWED_FOR_EXAMPLES: (&str, &str) = ("veriplay-verifier", "veriplay-sandbox");

/// Heavy or dangerous dependencies, and where alone they are used.
const HOMES: &[(&str, &str)] = &[
    ("wasmtime", "veriplay-sandbox"),
    ("wasmtime-wizer", "veriplay-sandbox"),
    ("candle-core", "veriplay-learner"),
    ("tokenizers", "veriplay-learner"),
    ("clap", "veriplay"),
    ("clap", "xtask"),
    ("indicatif", "veriplay"),
];

#[test]
fn crates_depend_only_along_the_arrows() {
    let metadata = metadata();
    let known: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for package in metadata.workspace_packages() {
        let allowed = known.get(package.name.as_str());
        let allowed = allowed.unwrap_or_else(|| panic!("`{}` has no line in the table of arrows", package.name));
        let ours = package.dependencies.iter().filter(|dependency| known.contains_key(dependency.name.as_str()));
        for dependency in ours {
            let for_examples = dependency.kind == DependencyKind::Development
                && ALLOWED_FOR_EXAMPLES == (package.name.as_str(), dependency.name.as_str());
            let fine = allowed.contains(&dependency.name.as_str()) || for_examples;
            assert!(fine, "forbidden arrow: {} -> {}", package.name, dependency.name);
        }
    }
}

#[test]
fn every_line_of_the_table_of_arrows_is_a_crate() {
    let metadata = metadata();
    let names: BTreeSet<String> = metadata.workspace_packages().iter().map(|p| p.name.to_string()).collect();
    let lines: BTreeSet<String> = ALLOWED.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, lines);
}

#[test]
fn heavy_dependencies_stay_in_their_home() {
    for package in metadata().workspace_packages() {
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            let homes: Vec<&str> =
                HOMES.iter().filter(|(name, _)| *name == dependency.name).map(|(_, home)| *home).collect();
            let fine = homes.is_empty() || homes.contains(&package.name.as_str());
            assert!(fine, "`{}` belongs to {homes:?}, and `{}` depends on it", dependency.name, package.name);
        }
    }
}

/// Tests of any other package run the sandbox that ships.
#[test]
fn only_fuzz_targets_build_the_sandbox_with_a_feature() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let own = packages.iter().find(|package| package.name.as_str() == "veriplay-sandbox");
    assert!(!own.expect("the sandbox is a crate").features.contains_key("default"), "the sandbox has default features");
    for package in packages.iter().filter(|package| package.name.as_str() != "veriplay-fuzz") {
        let asked = package.dependencies.iter().filter(|dependency| dependency.name == "veriplay-sandbox");
        let features: Vec<&String> = asked.flat_map(|dependency| &dependency.features).collect();
        assert!(features.is_empty(), "`{}` builds the sandbox with {features:?}", package.name);
    }
}

/// A package holds the crate's folder and nothing else.
#[test]
fn published_crates_carry_all_that_they_need() {
    let metadata = metadata();
    let published: Vec<_> = metadata.workspace_packages().into_iter().filter(|p| p.publish.is_none()).collect();
    assert!(!published.is_empty(), "no crate is published");
    for package in published {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        assert!(package.license.is_some() && package.description.is_some(), "`{}` lacks metadata", package.name);
        for file in ["LICENSE", "README.md"] {
            assert!(folder.join(file).is_file(), "`{folder}` has no {file}");
        }
        let own = folder.canonicalize().expect("the folder of a crate is there");
        let name =
            format!("{}/src/", folder.strip_prefix(&metadata.workspace_root).expect("crates lie in the workspace"));
        for source in super::tracked_files().into_iter().filter(|file| file.starts_with(&name)) {
            let source = super::root().join(source);
            let Ok(text) = std::fs::read_to_string(&source) else { continue };
            for path in text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let included = source.parent().expect("a file lies in a folder").join(path).canonicalize();
                let included = included.unwrap_or_else(|error| panic!("{}: `{path}`: {error}", source.display()));
                assert!(included.starts_with(&own), "{} includes `{path}` from outside its crate", source.display());
            }
        }
    }
}

/// The README's first command names no binary, and another crate has one too.
#[test]
fn cargo_run_runs_the_command_line() {
    let metadata = metadata();
    let named = metadata.workspace_default_packages();
    let named: Vec<&str> = named.iter().filter_map(|package| package.default_run.as_deref()).collect();
    assert_eq!(named, ["veriplay"]);
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(super::root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata reads the workspace")
}
