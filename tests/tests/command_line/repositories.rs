//! `veriplay corpus add-repo` on packages that need something: dependencies, a configuration, tests from elsewhere.
//!
//! pip is the real one and reaches nothing but a folder of wheels that these tests make, so that what it finds is known. pytest
//! comes from the cache: where it cannot be had the tests are skipped, unless `VERIPLAY_REQUIRE_PIP` is set.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use veriplay_tests::external::report_without_pip;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::commands::{ended, parse, read, read_json};
use super::{finished, last_json, says, stderr, veriplay};

/// A folder with packages, where pip looks and nowhere else.
struct Index {
    dir: tempfile::TempDir,
}

const PURE: &str = "py3-none-any";

impl Index {
    /// `None` where the pinned pytest cannot be had and need not be.
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let index = Self { dir };
        index.sdist("empty-1.0", &[("empty.py", ""), ("test_empty.py", "def test_nothing():\n    pass\n")]);
        let sdist = index.path("empty-1.0.tar.gz");
        // Without the folder alone: this brings pytest into the cache.
        let mut command = veriplay();
        command.args(["corpus", "add-repo", "empty==1.0", "--sdist"]).arg(sdist).arg("--out").arg(index.path("empty"));
        let output = finished(&mut command);
        if !output.status.success() {
            says(&stderr(&output), &["pip download"]);
            report_without_pip(&stderr(&output));
            return None;
        }
        Some(index)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Makes `NAME-VERSION.tar.gz`, and leaves its folder there.
    fn sdist(&self, top: &str, files: &[(&str, &str)]) {
        let root = self.path(top);
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder is made");
            std::fs::write(path, text).expect("a file is written");
        }
        let archive = format!("{top}.tar.gz");
        let tar = Command::new("tar").args(["-czf", &archive, top]).current_dir(self.dir.path()).status();
        assert!(tar.expect("tar runs").success());
    }

    /// Makes a wheel of version 1.0, which requires `requires`.
    fn wheel(&self, name: &str, tag: &str, requires: &[&str], files: &[(&str, &str)]) {
        let mut metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n");
        for requirement in requires {
            writeln!(metadata, "Requires-Dist: {requirement}").expect("a text grows");
        }
        let file = std::fs::File::create(self.path(&format!("{name}-1.0-{tag}.whl"))).expect("a file is made");
        let mut writer = ZipWriter::new(file);
        let (info, tags) = (format!("{name}-1.0.dist-info"), format!("Wheel-Version: 1.0\nTag: {tag}\n"));
        let own = [(format!("{info}/METADATA"), metadata), (format!("{info}/WHEEL"), tags)];
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        for (name, text) in own.into_iter().chain(files) {
            writer.start_file(name, SimpleFileOptions::default()).expect("a member is begun");
            writer.write_all(text.as_bytes()).expect("a member is written");
        }
        writer.finish().expect("a wheel is whole");
    }

    /// Adds the package of this source distribution, which lies in the folder.
    fn add(&self, name: &str, options: &[&str]) -> Output {
        let requirement = format!("{name}==1.0");
        let mut command = veriplay();
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", self.dir.path());
        command.args(["corpus", "add-repo", &requirement, "--json", "--sdist"]);
        command.arg(self.path(&format!("{name}-1.0.tar.gz"))).arg("--out").arg(self.path(&format!("{name}-out")));
        finished(command.args(options))
    }

    fn added(&self, name: &str, options: &[&str]) -> Value {
        let output = self.add(name, options);
        ended(&output, 0, &[]);
        last_json(&output)
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text")).collect()
}

fn needing(index: &Index) {
    index.wheel(
        "runtime_helper",
        PURE,
        &["deeper", "test-helper; extra == 'x'"],
        &[("runtime_helper.py", "import deeper\n\ndef deep():\n    return deeper.VALUE\n")],
    );
    index.wheel("deeper", PURE, &["runtime-helper"], &[("deeper/__init__.py", "VALUE = 7\n")]);
    let forged = "forged = True\n";
    index.wheel(
        "test_helper",
        PURE,
        &[],
        &[("test_helper.py", "VALUE = 1\n"), ("colorsys.py", forged), ("hook.pth", "import os")],
    );
    index.wheel("compiled", "cp315-cp315-wasi", &[], &[("compiled.py", "")]);
    index.wheel("never_imported", PURE, &[], &[("never_imported.py", "")]);
    let metadata = "Metadata-Version: 2.1\nName: needs\nVersion: 1.0\n";
    index.sdist(
        "needs-1.0",
        &[
            ("needs/__init__.py", ""),
            ("tests/test_needs.py", include_str!("repositories/needs_tests.py")),
            ("pyproject.toml", include_str!("repositories/needs.toml")),
            ("PKG-INFO", metadata),
        ],
    );
}

#[test]
fn what_a_package_requires_and_its_tests_import_is_fetched_and_pinned() {
    let Some(index) = Index::new() else { return };
    needing(&index);
    let report = index.added("needs", &[]);
    assert_eq!(texts(&report["dependencies"]), ["deeper==1.0", "runtime-helper==1.0", "test-helper==1.0"], "{report}");
    assert_eq!((&report["passed"], &report["unsupported"]), (&3.into(), &1.into()), "{report}");
    let notes = texts(&report["notes"]).join("\n");
    says(&notes, &["`gone` is left out", "tests import `compiled`"]);
    assert!(!notes.contains("not-for-here") && !notes.contains("never-imported"), "{notes}");

    let path = index.path("needs-out/baseline.json");
    let (baseline, pins) = (read(&path), index.path("pins.json"));
    let first = parse(&baseline);
    // Of a record, the pins and the version of its format are enough.
    let least = json!({"schema_version": 1, "dependencies": {"wheels": first["dependencies"]["wheels"]}});
    std::fs::write(&pins, least.to_string()).expect("a file is written");
    std::fs::remove_file(&path).expect("a file is removed");
    std::fs::remove_file(index.path("deeper-1.0-py3-none-any.whl")).expect("the cache has it");
    index.added("needs", &["--pins", pins.to_str().expect("a plain path")]);
    let mut again = read_json(&path);
    assert_eq!(again["dependencies"], first["dependencies"]);
    again["notes"] = first["notes"].clone();
    assert_eq!(again, first, "the same pins make the same record");

    let other = baseline.replace(first["dependencies"]["wheels"][0]["sha256"].as_str().unwrap(), &"0".repeat(64));
    std::fs::write(&pins, other).expect("a file is written");
    ended(&index.add("needs", &["--pins", pins.to_str().unwrap()]), 3, &["deeper==1.0"]);
}

#[test]
fn a_named_dependency_that_cannot_be_had_is_an_error() {
    let Some(index) = Index::new() else { return };
    index.wheel("bad", PURE, &[], &[("_pytest/python.py", "")]);
    index.wheel("fine", PURE, &[], &[("fine.py", "")]);
    index.sdist("asks-1.0", &[("asks.py", ""), ("test_asks.py", "import fine\n\ndef test_x():\n    pass\n")]);
    for (with, told) in
        [("gone==1.0", "gone"), ("bad==1.0", "`_pytest`"), ("fine==2.0", "fine"), ("pytest==9.0", "pytest")]
    {
        ended(&index.add("asks", &["--with", with]), 3, &[told, "hint:"]);
        assert!(!index.path("asks-out").exists());
    }
    let without = index.added("asks", &[]);
    assert_eq!((&without["passed"], &without["broken_files"]), (&0.into(), &1.into()));
    assert!(texts(&without["notes"])[0].contains("`fine`"), "{without}");
    let with = index.added("asks", &["--with", "fine==1.0"]);
    assert_eq!((&with["passed"], &with["broken_files"]), (&1.into(), &0.into()), "{with}");
}

#[test]
fn tests_are_those_that_the_packages_own_configuration_names() {
    let Some(index) = Index::new() else { return };
    let configuration = "[pytest]\ntestpaths = checks\npython_files = check_*.py\npython_functions = check_*\n\
                         python_classes = *Check\npythonpath = checks/helpers\nxfail_strict = true\n\
                         addopts = -p no_such_plugin --cov=x -ra\n";
    let checks = "import pytest, helper, named\n\ndef check_one():\n    assert helper.VALUE == 1\n\n\
                  def test_is_none():\n    assert False\n\nclass ThisCheck:\n    def check_two(self):\n        pass\n\n\
                  @pytest.mark.xfail\ndef check_strict():\n    pass\n";
    index.sdist(
        "named-1.0",
        &[
            ("src/named/__init__.py", ""),
            ("pytest.ini", configuration),
            ("checks/check_all.py", checks),
            ("checks/helpers/helper.py", "VALUE = 1\n"),
            ("checks/test_not_this.py", "def check_three():\n    pass\n"),
            ("check_nor_this.py", "def check_four():\n    pass\n"),
        ],
    );
    let report = index.added("named", &[]);
    let baseline = read_json(index.path("named-out/baseline.json"));
    let files = baseline["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(
        texts(&files[0]["passed"]),
        ["checks/check_all.py::check_one", "checks/check_all.py::ThisCheck::check_two"]
    );
    assert_eq!(files[0]["unsupported"][0]["result"], "failed", "an unexpected pass is strict here");
    let notes = texts(&report["notes"]).join("\n");
    assert!(notes.contains("--cov=x") && !notes.contains("-ra"), "{notes}");
}

#[test]
fn tests_that_a_source_distribution_lacks_are_added() {
    let Some(index) = Index::new() else { return };
    index.sdist("bare-1.0", &[("bare.py", "VALUE = 1\n")]);
    ended(&index.add("bare", &[]), 3, &["no test files", "--tests"]);
    let files = [
        ("bare.py", "VALUE = 2\n"),
        ("tests/test_bare.py", "import bare\n\ndef test_x():\n    assert bare.VALUE == 1\n"),
    ];
    index.sdist("project", &files);
    for tests in ["project", "project.tar.gz"] {
        let report = index.added("bare", &["--tests", index.path(tests).to_str().unwrap()]);
        assert_eq!((&report["passed"], &report["unsupported"]), (&1.into(), &0.into()), "what it has, it has as it is");
    }
    for tests in ["http://host/x@0123456789012345678901234567890123456789", "https://host/x", "https://host/x@main"] {
        ended(&index.add("bare", &["--tests", tests]), 2, &[]);
    }
    ended(&index.add("bare", &["--tests", index.path("gone").to_str().unwrap()]), 3, &[]);
}
