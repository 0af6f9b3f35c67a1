//! The files of the suite, and what must not be in a release.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, MetadataCommand};
use veriplay_corpus::probes::{CLASSES, NO_SANDBOX};
use veriplay_sandbox::Weakness;

use super::probes;

#[test]
fn there_are_enough_probes_and_every_class_has_several() {
    assert!(probes().len() >= 120, "{} probes", probes().len());
    for class in CLASSES {
        let count = probes().iter().filter(|probe| probe.class == class.name).count();
        assert!(count >= 5, "class `{}` has {count}", class.name);
    }
}

#[test]
fn every_weakness_is_named_by_some_probe_and_every_name_is_one() {
    let named: BTreeSet<&str> = probes().iter().flat_map(|probe| probe.weakness.iter().map(String::as_str)).collect();
    let known: BTreeSet<&str> = Weakness::ALL.iter().map(|weakness| weakness.name()).chain([NO_SANDBOX]).collect();
    assert_eq!(named, known);
}

#[test]
fn only_tests_can_weaken_a_sandbox() {
    let manifest = super::folder().join("../../../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo reads the workspace");
    for package in metadata.workspace_packages() {
        assert!(!package.features.get("default").is_some_and(|on| on.iter().any(|name| name.contains("weaken"))));
        for dependency in package.dependencies.iter().filter(|one| one.features.iter().any(|name| name == "weaken")) {
            let fine = package.name.as_str() == "veriplay-tests" && dependency.kind == DependencyKind::Development;
            assert!(fine, "`{}` depends on `{}` with the feature `weaken`", package.name, dependency.name);
        }
    }
}
