//! The crate arrows: the table in ARCHITECTURE.md is the rule, `cargo metadata` the fact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package};
use veriplay_tests::assert_each;

/// Crates, and what their examples may depend on besides: the sandbox that they run on, and the readers of public rows.
const OF_EXAMPLES: &[(&str, &str)] = &[
    ("veriplay-absolute-zero", "veriplay-sandbox"),
    ("veriplay-verifier", "veriplay-sandbox"),
    ("veriplay-verifier", "veriplay-corpus"),
];

/// Heavy or dangerous dependencies, and where alone they are used.
const HOMES: &[(&str, &str)] = &[
    ("wasmtime", "veriplay-sandbox"),
    ("wasmtime-wizer", "veriplay-sandbox"),
    ("candle-core", "veriplay-learner"),
    ("tokenizers", "veriplay-learner"),
    ("axum", "veriplay-server"),
    ("tokio", "veriplay-server"),
    ("clap", "veriplay"),
    ("clap", "veriplay-console"),
    ("clap", "veriplay-lab"),
    ("clap", "veriplay-run"),
    ("clap", "xtask"),
    ("indicatif", "veriplay-console"),
];

fn is_for_examples(package: &Package, dependency: &Dependency) -> bool {
    dependency.kind == DependencyKind::Development
        && OF_EXAMPLES.contains(&(package.name.as_str(), dependency.name.as_str()))
}

#[test]
fn crates_depend_along_the_arrows_and_each_arrow_is_used() {
    let rule = read_arrows(&super::read("ARCHITECTURE.md"));
    let mut used = Arrows::new();
    for package in METADATA.workspace_packages() {
        let counted = package.dependencies.iter().filter(|dependency| !is_for_examples(package, dependency));
        let names = counted.map(|dependency| dependency.name.clone()).filter(|name| rule.contains_key(name));
        used.insert(package.name.to_string(), names.collect());
    }
    let names = |arrows: &Arrows| arrows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&rule), names(&used), "rows of ARCHITECTURE.md, and crates");
    for (name, used) in &used {
        let forbidden: Vec<_> = used.difference(&rule[name]).collect();
        assert!(forbidden.is_empty(), "forbidden arrow: {name} -> {forbidden:?}");
        let unused: Vec<_> = rule[name].difference(used).collect();
        assert!(unused.is_empty(), "the row of `{name}` has arrows that are not used: {unused:?}");
    }
}

#[test]
fn the_check_for_arrows_can_fail() {
    let rule = read_arrows("| `crates/a` | `a` | uses `c` | |\n| `crates/b` | `b` | it is | `a` |\n| thing | `c` |\n");
    assert_eq!(rule, Arrows::from([("a".into(), [].into()), ("b".into(), ["a".into()].into())]));
}

#[test]
fn heavy_dependencies_stay_in_their_home() {
    for package in METADATA.workspace_packages() {
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            let homes = HOMES.iter().filter(|(name, _)| *name == dependency.name);
            let homes: Vec<&str> = homes.map(|(_, home)| *home).collect();
            let fine = homes.is_empty() || homes.contains(&package.name.as_str());
            assert!(fine, "`{}` belongs to {homes:?}, and `{}` depends on it", dependency.name, package.name);
        }
    }
}

/// Tests of any other package run the sandbox that ships.
#[test]
fn only_fuzz_targets_build_the_sandbox_with_a_feature() {
    for package in METADATA.workspace_packages().into_iter().filter(|package| package.name.as_str() != "veriplay-fuzz")
    {
        let has_defaults = package.name.as_str() == "veriplay-sandbox" && package.features.contains_key("default");
        assert!(!has_defaults, "the sandbox has default features");
        let asked = package.dependencies.iter().filter(|dependency| dependency.name == "veriplay-sandbox");
        let features: Vec<&String> = asked.flat_map(|dependency| &dependency.features).collect();
        assert!(features.is_empty(), "`{}` builds the sandbox with {features:?}", package.name);
    }
}

/// A package holds the crate's folder and nothing else.
#[test]
fn published_crates_carry_all_that_they_need() {
    let published: Vec<_> = METADATA.workspace_packages().into_iter().filter(|p| p.publish.is_none()).collect();
    assert!(!published.is_empty(), "no crate is published");
    for package in published {
        let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
        assert!(package.license.is_some() && package.description.is_some(), "`{}` lacks metadata", package.name);
        for file in ["LICENSE", "README.md"] {
            assert!(folder.join(file).is_file(), "`{folder}` has no {file}");
        }
        let own = folder.canonicalize().expect("the folder of a crate is there");
        let folder = folder.strip_prefix(&METADATA.workspace_root).expect("crates lie in the workspace");
        let name = format!("{folder}/src/");
        for source in super::rust_files().filter(|file| file.starts_with(&name)) {
            let (text, source) = (super::read(&source), super::root().join(&source));
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
    let packages = METADATA.workspace_default_packages();
    assert_each(packages.iter().filter_map(|package| package.default_run.as_deref()), ["veriplay"]);
}

/// Of each crate of ours, those it may depend on, development dependencies included.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Reads the rows `| folder | crate | what it does | depends on |`.
fn read_arrows(text: &str) -> Arrows {
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let rows = text.lines().filter_map(|line| match line.split('|').collect::<Vec<_>>()[..] {
        ["", _, name, _, depends, ""] => Some((words(name).pop_first()?, words(depends))),
        _ => None,
    });
    rows.collect()
}

pub(super) static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let manifest = super::root().join("Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata reads the workspace")
});
