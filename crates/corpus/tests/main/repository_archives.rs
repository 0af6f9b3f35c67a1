//! Archives that want out, or want too much.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use veriplay_corpus::repository::{
    ArchiveKind, DependencyWheel, RepositoryLayout, TestSelection, UnpackError, WheelError, canonical_name,
    dependency_layer, installed_metadata, strip_top_folder, unpack,
};
use zip::write::{SimpleFileOptions, ZipWriter};

/// A member of a tar file whose name is written as it is, however bad.
fn member(name: &str, kind: EntryType, content: &[u8]) -> (Header, Vec<u8>) {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    if matches!(kind, EntryType::Symlink | EntryType::Link) {
        header.as_old_mut().linkname[..11].copy_from_slice(b"/etc/passwd");
    }
    header.set_cksum();
    (header, content.to_vec())
}

fn link(name: &str, kind: EntryType, target: &str) -> (Header, Vec<u8>) {
    let (mut header, content) = member(name, kind, b"");
    header.as_old_mut().linkname = [0; 100];
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
    header.set_cksum();
    (header, content)
}

fn tar_gz(members: &[(Header, Vec<u8>)]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (header, content) in members {
        builder.append(header, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn plain(name: &str, content: &[u8]) -> (Header, Vec<u8>) {
    member(name, EntryType::Regular, content)
}

fn untar(members: &[(Header, Vec<u8>)]) -> Result<BTreeMap<String, Vec<u8>>, UnpackError> {
    unpack(&tar_gz(members), ArchiveKind::TarGz)
}

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const OUTSIDE: &[&str] =
    &["../x", "p/../../x", "/etc/passwd", "p//x", "p/.git/config", "p/./x", "p\\..\\x", "p/x\u{7}", "p/.."];

#[test]
fn members_that_lead_outside_are_refused_in_either_form() {
    for name in OUTSIDE {
        let tar = untar(&[plain("p/fine", b""), plain(name, b"x")]);
        assert!(matches!(tar, Err(UnpackError::Path(_))), "{name}: {tar:?}");
        let zip = unpack(&zipped(&[("p/fine", b""), (name, b"x")]), ArchiveKind::Zip);
        assert!(zip.is_err(), "{name}: {zip:?}");
    }
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let refused = untar(&[member("p/x", kind, b"")]);
        assert!(matches!(refused, Err(UnpackError::NoFile(..))), "{kind:?}: {refused:?}");
    }
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink("p/x", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert!(matches!(unpack(&bytes, ArchiveKind::Zip), Err(UnpackError::NoFile(..))));
}

#[test]
fn a_link_to_a_file_of_the_archive_is_a_copy_of_it() {
    let members = [
        link("p/docs/a", EntryType::Symlink, "../x"),
        plain("p/x", b"one"),
        link("p/docs/b", EntryType::Link, "p/x"),
        link("p/c", EntryType::Symlink, "./docs/../x"),
    ];
    let files = untar(&members).unwrap();
    for name in ["p/docs/a", "p/docs/b", "p/c"] {
        assert_eq!(files[name], b"one", "{name}");
    }
}

#[test]
fn a_link_to_anything_else_is_refused() {
    for target in ["../../x", "../x", "/p/x", "a", "docs", "docs/gone", "docs/link", ""] {
        let members = [plain("p/x", b"one"), plain("p/docs/y", b"two"), link("p/a", EntryType::Symlink, target)];
        let refused = untar(&members);
        assert!(matches!(refused, Err(UnpackError::NoFile(..))), "{target}: {refused:?}");
    }
    let out = untar(&[plain("p/x", b""), link("p/../../y", EntryType::Link, "p/x")]);
    assert!(matches!(out, Err(UnpackError::Path(_))), "{out:?}");
    let twice = untar(&[plain("p/x", b""), link("p/x", EntryType::Link, "p/x")]);
    assert!(matches!(twice, Err(UnpackError::Twice(_))), "{twice:?}");
}

#[test]
fn links_count_as_what_they_copy() {
    let mut members = vec![plain("p/x", &vec![0; 40 << 20])];
    members.extend((0..3).map(|number| link(&format!("p/{number}"), EntryType::Link, "p/x")));
    assert!(matches!(untar(&members), Err(UnpackError::TooLarge(_))));
    members.pop();
    assert!(untar(&members).is_ok());
}

#[test]
fn the_same_name_twice_is_refused() {
    let twice = untar(&[plain("p/x", b"one"), plain("./p/x", b"two")]);
    assert!(matches!(twice, Err(UnpackError::Twice(_))));
}

#[test]
fn a_small_archive_of_a_large_tree_is_refused() {
    let large = vec![0; 70 << 20];
    let bomb = tar_gz(&[plain("p/a", &large), plain("p/b", &large)]);
    assert!(bomb.len() < 4 << 20);
    assert!(matches!(unpack(&bomb, ArchiveKind::TarGz), Err(UnpackError::TooLarge(_))));
    let bomb = zipped(&[("p/a", &large), ("p/b", &large)]);
    assert!(matches!(unpack(&bomb, ArchiveKind::Zip), Err(UnpackError::TooLarge(_))));
    let names: Vec<_> = (0..20_001).map(|name| plain(&format!("p/{name}"), b"")).collect();
    assert!(matches!(untar(&names), Err(UnpackError::TooLarge(_))));
}

#[test]
fn an_honest_archive_is_unpacked_without_its_top() {
    let members =
        [member("p-1.0/", EntryType::Directory, b""), plain("p-1.0/p.py", b"x = 1\n"), plain("p-1.0/t/test_p.py", b"")];
    let files = strip_top_folder(untar(&members).unwrap()).unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["p.py", "t/test_p.py"]);
    assert_eq!(files["p.py"], b"x = 1\n");
    let zip = zipped(&[("p-1.0/p.py", b"x = 1\n"), ("p-1.0/t/test_p.py", b"")]);
    assert_eq!(strip_top_folder(unpack(&zip, ArchiveKind::Zip).unwrap()).unwrap(), files);
}

#[test]
fn an_archive_without_one_top_is_no_source_distribution() {
    for names in [["a/x", "b/x"], ["a/x", "x"]] {
        let members: Vec<_> = names.iter().map(|name| plain(name, b"")).collect();
        let files = untar(&members).unwrap();
        assert!(matches!(strip_top_folder(files), Err(UnpackError::NoTop(_))), "{names:?}");
    }
}

#[test]
fn archives_are_known_by_their_names() {
    for (name, kind) in
        [("p-1.0.tar.gz", Some(ArchiveKind::TarGz)), ("p-1.0.zip", Some(ArchiveKind::Zip)), ("p-1.0.tar.bz2", None)]
    {
        assert_eq!(ArchiveKind::from_name(name), kind, "{name}");
    }
}

#[test]
fn tests_and_roots_are_found_by_name() {
    let flat = "pkg/__init__.py tests/test_a.py pkg/tests/b_test.py docs/test_doc.py tests/conftest.py";
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (flat, &[""], &["pkg/tests/b_test.py", "tests/test_a.py"]),
        ("src/pkg/__init__.py test_a.py .tox/test_b.py", &["src", ""], &["test_a.py"]),
        ("pkg/testing.py setup.py contest.py", &[""], &[]),
        ("lib/pkg/__init__.py lib3/x.py test.py", &["lib", ""], &["test.py"]),
        // `lib` is the package itself.
        ("lib/__init__.py lib/a.py test_a.py", &[""], &["test_a.py"]),
    ];
    for (paths, roots, tests) in cases {
        let layout = RepositoryLayout::detect(paths.split(' '));
        assert!(layout.roots == roots && layout.test_files == tests, "{paths}: {layout:?}");
    }
}

#[test]
fn the_configuration_names_tests_and_roots() {
    let paths = ["pkg/a.py", "pkg/test_inside.py", "tests/check_a.py", "tests/deep/check_b.py", "tests/test_c.py"];
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    let selected = |test_paths: &[&str], patterns: &[&str], python_path: &[&str]| {
        let (test_paths, patterns, python_path) = (owned(test_paths), owned(patterns), owned(python_path));
        let selection = TestSelection { test_paths: &test_paths, file_patterns: &patterns, python_path: &python_path };
        RepositoryLayout::detect_with(paths, selection)
    };
    assert_eq!(selected(&["tests"], &[], &[]).test_files, ["tests/test_c.py"]);
    assert_eq!(selected(&["./tests/"], &["check_*.py"], &[]).test_files, ["tests/check_a.py", "tests/deep/check_b.py"]);
    assert_eq!(selected(&["te*/de?p"], &["check_[!a].py"], &[]).test_files, ["tests/deep/check_b.py"]);
    assert_eq!(selected(&[], &["tests/deep/*.py"], &[]).test_files, ["tests/deep/check_b.py"]);
    assert_eq!(selected(&["."], &[], &[]).test_files, ["pkg/test_inside.py", "tests/test_c.py"]);
    assert_eq!(selected(&[], &[], &["tests", "gone", "."]).roots, ["tests", ""]);
    let elsewhere = selected(&["t"], &[], &[]);
    assert!(elsewhere.ignored_selection);
    assert_eq!(elsewhere.test_files, ["pkg/test_inside.py", "tests/test_c.py"]);
    assert!(!selected(&["tests"], &[], &[]).ignored_selection);
}

/// A wheel of these modules, with the tags given.
fn wheel(name: &str, tags: &[&str], files: &[(&str, &[u8])]) -> Vec<u8> {
    let metadata =
        format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: other>=2\n\nText\nName: no\n");
    let tags: String = tags.iter().map(|tag| format!("Tag: {tag}\n")).collect();
    let (at, tagged) = (format!("{name}-1.0.dist-info/METADATA"), format!("{name}-1.0.dist-info/WHEEL"));
    let own = [(at.as_str(), metadata.as_bytes()), (tagged.as_str(), tags.as_bytes())];
    zipped(&[&own[..], files].concat())
}

const PURE: &[&str] = &["py2-none-any", "py3-none-any"];

#[test]
fn a_pure_wheel_is_read_for_what_it_brings() {
    let files: &[(&str, &[u8])] = &[
        ("helper/__init__.py", b""),
        ("single.py", b""),
        ("helper/__pycache__/x.cpython-315.pyc", b""),
        ("start.pth", b"import os"),
        ("Some_Name-1.0.data/purelib/more/__init__.py", b""),
        ("Some_Name-1.0.data/scripts/run", b""),
    ];
    let wheel = DependencyWheel::read(&wheel("Some_Name", PURE, files)).unwrap();
    assert_eq!((wheel.name.as_str(), wheel.version.as_str()), ("some-name", "1.0"));
    assert_eq!(wheel.modules().into_iter().collect::<Vec<_>>(), ["helper", "more", "single"]);
    let (layer, left_out) = dependency_layer([&wheel], []).unwrap();
    assert!(left_out.is_empty());
    let names: Vec<&String> = layer.files().keys().collect();
    let expected = [
        "Some_Name-1.0.dist-info/METADATA",
        "Some_Name-1.0.dist-info/WHEEL",
        "helper/__init__.py",
        "more/__init__.py",
        "single.py",
    ];
    assert_eq!(names, expected, "no compiled code, no path files, no scripts");
    assert_eq!(canonical_name("A__b.C-d"), "a-b-c-d");
}

#[test]
fn a_wheel_that_is_not_pure_or_stands_in_for_pytest_is_refused() {
    for tags in [&["cp315-cp315-wasi"][..], &["py3-none-linux_x86_64"], &["py2-none-any"], &[]] {
        let refused = DependencyWheel::read(&wheel("x", tags, &[]));
        assert!(matches!(refused, Err(WheelError::NotPure(_))), "{tags:?}: {refused:?}");
    }
    for module in
        ["pytest.py", "_pytest/python.py", "pluggy/__init__.py", "sitecustomize.py", "x-1.0.data/purelib/py.py"]
    {
        let refused = DependencyWheel::read(&wheel("x", PURE, &[(module, b"")]));
        assert!(matches!(refused, Err(WheelError::Reserved(..))), "{module}: {refused:?}");
    }
    assert!(matches!(DependencyWheel::read(&zipped(&[("x.py", b"")])), Err(WheelError::NoMetadata(_))));
    assert!(matches!(DependencyWheel::read(b"no zip"), Err(WheelError::Unpack(_))));
    assert!(DependencyWheel::read(&wheel("x", PURE, &[("../x.py", b"")])).is_err());
}

#[test]
fn of_two_wheels_with_one_file_the_second_is_left_out() {
    let read = |name: &str, text: &[u8]| {
        DependencyWheel::read(&wheel(name, PURE, &[("shared/__init__.py", b""), ("shared/x.py", text)])).unwrap()
    };
    let (one, same, other) = (read("one", b"1"), read("same", b"1"), read("other", b"2"));
    let (layer, left_out) = dependency_layer([&one, &same, &other], []).unwrap();
    assert_eq!(layer.files()["shared/x.py"].as_slice(), b"1");
    assert_eq!(left_out.iter().map(|wheel| wheel.name.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn the_package_itself_is_found_by_its_metadata() {
    let package = veriplay_core::Layer::new([("PKG-INFO".to_owned(), b"Name: My.Pkg\n".to_vec())]).unwrap();
    let own = installed_metadata("My.Pkg", "1.0", &package).unwrap();
    assert_eq!(own, ("my_pkg-1.0.dist-info/METADATA".to_owned(), b"Name: My.Pkg\n".to_vec()));
    assert_eq!(installed_metadata("x", "1", &veriplay_core::Layer::new([]).unwrap()), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_archive_is_an_error_or_files(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for (bytes, archive) in [
            (tar_gz(&[plain("p/a", b"hello"), plain("p/b", b"there")]), ArchiveKind::TarGz),
            (zipped(&[("p/a", b"hello"), ("p/b", b"there")]), ArchiveKind::Zip),
        ] {
            let mut damaged = bytes.clone();
            damaged[at.index(bytes.len())] = byte;
            let _ = unpack(&damaged, archive);
            let _ = unpack(&bytes[..at.index(bytes.len())], archive);
        }
    }
}
