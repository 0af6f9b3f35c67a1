//! Archives that want out, or want too much.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use veriplay_corpus::repository::{Archive, Layout, UnpackError, strip_top, unpack};
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
        let tar = unpack(&tar_gz(&[plain("p/fine", b""), plain(name, b"x")]), Archive::TarGz);
        assert!(matches!(tar, Err(UnpackError::Path(_))), "{name}: {tar:?}");
        let zip = unpack(&zipped(&[("p/fine", b""), (name, b"x")]), Archive::Zip);
        assert!(zip.is_err(), "{name}: {zip:?}");
    }
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let refused = unpack(&tar_gz(&[member("p/x", kind, b"")]), Archive::TarGz);
        assert!(matches!(refused, Err(UnpackError::NoFile(..))), "{kind:?}: {refused:?}");
    }
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink("p/x", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert!(matches!(unpack(&bytes, Archive::Zip), Err(UnpackError::NoFile(..))));
}

#[test]
fn the_same_name_twice_is_refused() {
    let twice = tar_gz(&[plain("p/x", b"one"), plain("./p/x", b"two")]);
    assert!(matches!(unpack(&twice, Archive::TarGz), Err(UnpackError::Twice(_))));
}

#[test]
fn a_small_archive_of_a_large_tree_is_refused() {
    let large = vec![0; 70 << 20];
    let bomb = tar_gz(&[plain("p/a", &large), plain("p/b", &large)]);
    assert!(bomb.len() < 4 << 20);
    assert!(matches!(unpack(&bomb, Archive::TarGz), Err(UnpackError::TooLarge(_))));
    let bomb = zipped(&[("p/a", &large), ("p/b", &large)]);
    assert!(matches!(unpack(&bomb, Archive::Zip), Err(UnpackError::TooLarge(_))));
    let names: Vec<_> = (0..20_001).map(|name| plain(&format!("p/{name}"), b"")).collect();
    assert!(matches!(unpack(&tar_gz(&names), Archive::TarGz), Err(UnpackError::TooLarge(_))));
}

#[test]
fn an_honest_archive_is_unpacked_without_its_top() {
    let members =
        [member("p-1.0/", EntryType::Directory, b""), plain("p-1.0/p.py", b"x = 1\n"), plain("p-1.0/t/test_p.py", b"")];
    let files = strip_top(unpack(&tar_gz(&members), Archive::TarGz).unwrap()).unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["p.py", "t/test_p.py"]);
    assert_eq!(files["p.py"], b"x = 1\n");
    let zip = zipped(&[("p-1.0/p.py", b"x = 1\n"), ("p-1.0/t/test_p.py", b"")]);
    assert_eq!(strip_top(unpack(&zip, Archive::Zip).unwrap()).unwrap(), files);
}

#[test]
fn an_archive_without_one_top_is_no_source_distribution() {
    for names in [["a/x", "b/x"], ["a/x", "x"]] {
        let members: Vec<_> = names.iter().map(|name| plain(name, b"")).collect();
        let files = unpack(&tar_gz(&members), Archive::TarGz).unwrap();
        assert!(matches!(strip_top(files), Err(UnpackError::NoTop(_))), "{names:?}");
    }
}

#[test]
fn archives_are_known_by_their_names() {
    assert_eq!(Archive::of_name("p-1.0.tar.gz"), Some(Archive::TarGz));
    assert_eq!(Archive::of_name("p-1.0.zip"), Some(Archive::Zip));
    assert_eq!(Archive::of_name("p-1.0.tar.bz2"), None);
}

#[test]
fn tests_and_roots_are_found_by_name() {
    let flat = ["pkg/__init__.py", "tests/test_a.py", "pkg/tests/b_test.py", "docs/test_doc.py", "tests/conftest.py"];
    let layout = Layout::of(flat);
    assert_eq!(layout.roots, [""]);
    assert_eq!(layout.test_files, ["pkg/tests/b_test.py", "tests/test_a.py"]);
    assert_eq!(Layout::of(["src/pkg/__init__.py", "test_a.py", ".tox/test_b.py"]).roots, ["src", ""]);
    assert!(Layout::of(["pkg/testing.py", "setup.py", "contest.py"]).test_files.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_archive_is_an_error_or_files(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for (bytes, archive) in [
            (tar_gz(&[plain("p/a", b"hello"), plain("p/b", b"there")]), Archive::TarGz),
            (zipped(&[("p/a", b"hello"), ("p/b", b"there")]), Archive::Zip),
        ] {
            let mut damaged = bytes.clone();
            damaged[at.index(bytes.len())] = byte;
            let _ = unpack(&damaged, archive);
            let _ = unpack(&bytes[..at.index(bytes.len())], archive);
        }
    }
}
