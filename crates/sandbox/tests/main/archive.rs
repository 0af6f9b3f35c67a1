//! An image as one archive: it is the same image elsewhere, and a damaged, foreign or forged one leaves the cache as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use veriplay_sandbox::{CpuLevel, ImageArchive, ImageError, ImageSpec, ImageStore, ResetMode, detected_cpu_level};

use super::cache::{Bench, check_works};

/// A cache with the image in it, the image's description, and its archive.
fn exported() -> (Bench, ImageSpec, Vec<u8>) {
    let bench = Bench::built();
    let spec = bench.spec("harness");
    let mut archive = Vec::new();
    bench.store().export(&spec, &mut archive).unwrap();
    (bench, spec, archive)
}

/// An empty cache.
struct Elsewhere(tempfile::TempDir);

impl Elsewhere {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> ImageStore {
        ImageStore::open(self.0.path()).unwrap()
    }

    /// What is in the cache besides its lock.
    fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join("images")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name != "lock").collect()
    }
}

fn read(spec: &ImageSpec, archive: &[u8]) -> Result<ImageArchive, ImageError> {
    ImageArchive::read(spec, &mut &*archive)
}

/// Where the content of a member begins.
fn content(archive: &[u8], name: &str) -> usize {
    let block =
        archive.chunks(512).position(|block| block.starts_with(name.as_bytes()) && block[257..].starts_with(b"ustar"));
    (block.unwrap() + 1) * 512
}

#[test]
fn an_exported_image_is_the_same_image_in_another_cache() {
    let (_bench, spec, archive) = exported();
    let elsewhere = Elsewhere::new();
    let image = elsewhere.store().import(&spec, read(&spec, &archive).unwrap()).unwrap();
    let loaded = elsewhere.store().load(&spec).expect("an imported image is cached");
    for image in [image, loaded] {
        for reset in [ResetMode::Scan, ResetMode::Remap, ResetMode::Fresh] {
            check_works(&image, reset);
        }
    }
    let mut again = Vec::new();
    elsewhere.store().export(&spec, &mut again).unwrap();
    assert!(again == archive, "the same image gives the same bytes");
    let (_other, _, rebuilt) = exported();
    assert!(rebuilt == archive, "and so does another build of it");
    assert!(elsewhere.store().check().iter().all(|report| report.state.is_ok()));
    let mode = fs::metadata(elsewhere.0.path().join("images")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn an_image_for_a_lesser_processor_works_here() {
    let Some(own) = detected_cpu_level() else { return };
    let (bench, spec, native) = exported();
    for level in [CpuLevel::X86_64V2, own] {
        let store = bench.store().with_cpu(level).unwrap();
        if store.load(&spec).is_some() {
            // It lies beside the one for this machine, unless that has the features of the level and no others.
            assert_eq!(level, own);
            continue;
        }
        check_works(&store.build(&spec, &|_| {}).unwrap(), ResetMode::Scan);
        let mut archive = Vec::new();
        store.export(&spec, &mut archive).unwrap();
        assert!(archive != native);
        let elsewhere = Elsewhere::new();
        elsewhere.store().import(&spec, read(&spec, &archive).unwrap()).unwrap();
        check_works(&elsewhere.store().load(&spec).unwrap(), ResetMode::Scan);
    }
}

#[test]
fn no_byte_of_an_archive_can_change() {
    let (_bench, spec, archive) = exported();
    let body = content(&archive, "module.cwasm");
    // The header and what is around the members, byte by byte; of the members, samples.
    let inside = |at: &usize| *at < body || *at + 2048 > archive.len() || at.is_multiple_of(1009);
    let blocks = ["library.zip", "memory.bin", "state.json"].map(|name| content(&archive, name) - 512);
    let around = blocks.iter().flat_map(|start| *start..start + 512);
    for at in (0..archive.len()).filter(inside).chain(around) {
        for bit in [1, 0x80] {
            let mut changed = archive.clone();
            changed[at] ^= bit;
            let error = read(&spec, &changed).expect_err(&format!("byte {at} was changed"));
            assert!(error.hint().is_some(), "{error}");
        }
    }
}

#[test]
fn an_archive_that_is_cut_or_goes_on_is_refused() {
    let (_bench, spec, archive) = exported();
    let ends =
        (0..archive.len()).step_by(512).flat_map(|end| [end, end + 1, end + 511]).filter(|end| *end < archive.len());
    for end in ends.step_by(7).chain(archive.len() - 1100..archive.len()) {
        let error = read(&spec, &archive[..end]).expect_err(&format!("cut at {end}"));
        assert!(matches!(&error, ImageError::ArchiveDamaged { detail } if detail.contains("truncated")), "{error}");
    }
    for more in [&[0][..], b"more", &[0; 512]] {
        let error = read(&spec, &[&archive, more].concat()).unwrap_err();
        assert!(error.to_string().contains("goes on"), "{error}");
    }
}

#[test]
fn what_is_no_archive_is_refused_and_costs_no_memory() {
    let (_bench, spec, archive) = exported();
    for bytes in [&b"no archive"[..], &[0; 4096], &archive[512..]] {
        assert!(matches!(read(&spec, bytes), Err(ImageError::ArchiveDamaged { .. })));
    }
    // A member that claims a gigabyte, of which nothing comes; one that claims more than an image can have.
    for claimed in ["\"bytes\":1073741824", "\"bytes\":9007199254740992"] {
        let text = std::str::from_utf8(&archive[512..content(&archive, "module.cwasm") - 512]).unwrap();
        let text = text.trim_end_matches('\0');
        let start = text.find("\"bytes\":").unwrap();
        let end = start + text[start..].find(',').unwrap();
        let header = format!("{}{claimed}{}", &text[..start], &text[end..]);
        assert!(read(&spec, &with_header(&header, &[])).is_err());
    }
    // A header without end.
    let mut endless = archive[..512].to_vec();
    endless[124..135].copy_from_slice(b"77777777777");
    assert!(matches!(read(&spec, &endless), Err(ImageError::ArchiveDamaged { .. })));
}

/// An archive with another header, as a forger would write it.
fn with_header(header: &str, members: &[u8]) -> Vec<u8> {
    let mut block = [0; 512];
    let mut put = |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, "image.json");
    [(100, "0000644\0"), (108, "0000000\0"), (116, "0000000\0"), (136, "00000000000\0"), (148, "        ")]
        .iter()
        .for_each(|(at, text)| put(*at, text));
    put(124, &format!("{:011o}\0", header.len()));
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let padding = vec![0; header.len().next_multiple_of(512) - header.len()];
    [&block, header.as_bytes(), &padding, members].concat()
}

/// The archive with `module` in place of its code, and digests that fit.
fn with_module(archive: &[u8], fill: u8) -> Vec<u8> {
    let (start, end) = (content(archive, "module.cwasm"), content(archive, "library.zip") - 512);
    let text = std::str::from_utf8(&archive[512..start - 512]).unwrap().trim_end_matches('\0');
    let header: serde_json::Value = serde_json::from_str(text).unwrap();
    let bytes = usize::try_from(header["files"][0]["bytes"].as_u64().unwrap()).unwrap();
    let module = vec![fill; bytes];
    let digest = header["files"][0]["blake3"].as_str().unwrap();
    let forged = text.replace(digest, blake3::hash(&module).to_hex().as_str());
    let members = [&archive[start - 512..start], &module, &archive[start + bytes..end], &archive[end..]].concat();
    with_header(&forged, &members)
}

#[test]
fn code_that_the_engine_does_not_load_is_not_imported() {
    let (_bench, spec, archive) = exported();
    let forged = read(&spec, &with_module(&archive, 0)).expect("its digests fit");
    let elsewhere = Elsewhere::new();
    let error = elsewhere.store().import(&spec, forged).unwrap_err();
    assert!(matches!(error, ImageError::ArchiveDamaged { .. }), "{error}");
    assert_eq!(elsewhere.entries(), [""; 0]);
    // An image that is there stays there.
    elsewhere.store().import(&spec, read(&spec, &archive).unwrap()).unwrap();
    let forged = read(&spec, &with_module(&archive, 0xff)).expect("its digests fit");
    assert!(elsewhere.store().import(&spec, forged).is_err());
    assert_eq!(elsewhere.entries().len(), 2);
    check_works(&elsewhere.store().load(&spec).unwrap(), ResetMode::Scan);
}

#[test]
fn an_archive_of_another_image_is_refused() {
    let (bench, _, archive) = exported();
    let error = read(&bench.spec("another harness"), &archive).unwrap_err();
    assert!(matches!(error, ImageError::ArchiveMismatch { what: "image digest", .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("version")));
    let error = read(&ImageSpec::python(), &archive).unwrap_err();
    assert!(matches!(error, ImageError::ArchiveMismatch { what: "image", .. }), "{error}");
}

#[test]
fn an_import_obeys_the_rules_of_the_cache_and_repairs_a_damaged_one() {
    let (bench, spec, archive) = exported();
    fs::write(bench.file("code", "module.cwasm"), b"damage").unwrap();
    assert!(bench.store().load(&spec).is_none());
    assert!(matches!(bench.store().export(&spec, &mut Vec::new()), Err(ImageError::NotCached { .. })));
    bench.store().import(&spec, read(&spec, &archive).unwrap()).unwrap();
    assert!(!bench.compiles());
    fs::set_permissions(bench.cache().join("images"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = bench.store().import(&spec, read(&spec, &archive).unwrap()).unwrap_err();
    assert!(matches!(error, ImageError::UnsafeCache { .. }), "{error}");
    let elsewhere = Elsewhere::new();
    fs::write(elsewhere.0.path().join("images"), b"in the way").unwrap();
    let error = elsewhere.store().import(&spec, read(&spec, &archive).unwrap()).unwrap_err();
    assert!(matches!(error, ImageError::Cache { .. }), "{error}");
}

#[test]
fn of_several_processes_one_imports_and_the_others_load() {
    let (_bench, spec, archive) = exported();
    let (elsewhere, reads) = (Elsewhere::new(), AtomicUsize::new(0));
    let import = || {
        let image = elsewhere.store().load_or_import(&spec, || {
            reads.fetch_add(1, Ordering::Relaxed);
            read(&spec, &archive)
        });
        check_works(&image.unwrap(), ResetMode::Scan);
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(import))));
    assert_eq!(reads.into_inner(), 1);
}
