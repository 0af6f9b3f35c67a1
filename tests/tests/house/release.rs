//! What a release needs: one version everywhere, and manifests that a registry takes.

use cargo_metadata::{DependencyKind, Package};

use super::arrows::METADATA;
use super::read;

fn version() -> String {
    let core = METADATA.workspace_packages().into_iter().find(|package| package.name.as_str() == "veriplay-core");
    core.expect("the crate of the words is there").version.to_string()
}

fn ours() -> Vec<&'static Package> {
    METADATA.workspace_packages()
}

#[test]
fn the_version_is_the_same_in_every_place() {
    let version = version();
    for package in ours().into_iter().filter(|package| package.publish.is_none()) {
        assert_eq!(package.version.to_string(), version, "Cargo.toml: `version` of `{}`", package.name);
        // A registry never sees those of tests.
        let shipped = package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
        for dependency in shipped.filter(|dependency| dependency.path.is_some()) {
            let asked = dependency.req.to_string();
            assert_eq!(asked, format!("^{version}"), "Cargo.toml: `{}` as a dependency", dependency.name);
        }
    }
    let image = format!("image: veriplay:{version}");
    assert!(
        read("deploy/kubernetes/veriplay.yaml").contains(&image),
        "deploy/kubernetes/veriplay.yaml: `{image}` is missing"
    );
    let changelog = read("CHANGELOG.md");
    let section = changelog.lines().find_map(|line| line.strip_prefix("## "));
    assert_eq!(section, Some(&*version), "CHANGELOG.md: the first section");
}

#[test]
fn the_minimum_rust_is_the_one_that_tests_use() {
    let channel = read("rust-toolchain.toml");
    let core = ours().into_iter().find_map(|package| package.rust_version.as_ref()).expect("a minimum is named");
    assert!(channel.contains(&format!("\"{core}\"")), "rust-toolchain.toml has another version than {core}: {channel}");
}

/// The rules of the public registry: five keywords of 20 characters at most, five categories at most.
#[test]
fn a_registry_takes_the_manifests() {
    for package in ours().into_iter().filter(|package| package.publish.is_none()) {
        let keywords = &package.keywords;
        assert!(keywords.len() <= 5 && package.categories.len() <= 5, "`{}`: {keywords:?}", package.name);
        let long: Vec<&String> = keywords.iter().filter(|keyword| keyword.len() > 20 || !keyword.is_ascii()).collect();
        assert!(long.is_empty(), "`{}`: keywords of more than 20 characters: {long:?}", package.name);
    }
}
