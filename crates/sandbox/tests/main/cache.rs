//! Images on disk. The guest here is a few lines of wasm that do what the harness does: fetch a request, answer, say done.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use veriplay_core::{CallResult, Execute, Exit, Job, LimitKind, Limits, Value};
use veriplay_sandbox::{BuildPhase, Image, ImageError, ImageSpec, ImageStore, ResetMode, Sandbox, SandboxOptions};

/// Compiles anything, and answers one call with the bytes at 32: a counter in memory and one in a global, both counted up in every job.
const GUEST: &str = include_str!("guest.wat");

/// A directory with a wheel of `wasm` text in it and a cache beside it.
pub(super) struct Bench {
    dir: tempfile::TempDir,
    sha256: String,
}

impl Bench {
    pub(super) fn new(wat: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = fs::File::create(dir.path().join("guest.whl")).unwrap();
        let mut zip = zip::ZipWriter::new(file);
        for (name, bytes) in [("a/guest.wasm", wat::parse_str(wat).unwrap()), ("a/lib.zip", b"library".to_vec())] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&bytes).unwrap();
        }
        zip.finish().unwrap();
        let wheel = fs::read(dir.path().join("guest.whl")).unwrap();
        let sha256 = Sha256::digest(wheel).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { dir, sha256 }
    }

    /// With an image of [`GUEST`] in the cache.
    pub(super) fn built() -> Self {
        let bench = Self::new(GUEST);
        assert!(bench.compiles());
        bench
    }

    pub(super) fn spec(&self, harness: &str) -> ImageSpec {
        let manifest = format!(
            "name = 'tiny'\nseed = 1\nheadroom_bytes = 0\npreload = ['x']\n[wheel]\nrequirement = './no/such/file.whl'\n\
             sha256 = '{}'\nwasm = 'a/guest.wasm'\nstdlib = 'a/lib.zip'\nstdlib_at = '/lib.zip'\n[limits]\nfuel = 100000\n\
             memory_bytes = 1000000\noutput_bytes = 1000\nfile_bytes = 1000\ndeadline_ns = 60000000000",
            self.sha256
        );
        ImageSpec::parse(&manifest, harness).unwrap()
    }

    pub(super) fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    pub(super) fn store(&self) -> ImageStore {
        ImageStore::open(&self.cache()).unwrap().with_wheel(self.wheel())
    }

    fn wheel(&self) -> PathBuf {
        self.dir.path().join("guest.whl")
    }

    /// The image and what had to be done for it.
    fn get(&self) -> (Result<Arc<Image>, ImageError>, Vec<BuildPhase>) {
        let phases = RefCell::new(Vec::new());
        let image = self.store().load_or_build(&self.spec("harness"), &|phase| phases.borrow_mut().push(phase));
        (image, phases.into_inner())
    }

    /// Whether the code was compiled to get the image.
    pub(super) fn compiles(&self) -> bool {
        let (image, phases) = self.get();
        check_works(&image.unwrap(), ResetMode::Scan);
        phases.contains(&BuildPhase::Compile)
    }

    pub(super) fn file(&self, part: &str, name: &str) -> PathBuf {
        let dirs = fs::read_dir(self.cache().join("images")).unwrap().flatten().map(|entry| entry.path());
        let is_code = |path: &Path| path.to_string_lossy().contains("tiny-code-");
        dirs.filter(|path| path.is_dir() && is_code(path) == (part == "code"))
            .map(|path| path.join(name))
            .next()
            .unwrap()
    }
}

/// Runs three jobs: each must find both counters as the snapshot has them.
pub(super) fn check_works(image: &Arc<Image>, reset: ResetMode) {
    let sandbox = Sandbox::new(Arc::clone(image), SandboxOptions { max_parallel: 1, reset });
    let limits: Limits = image.default_limits();
    let job = Job { image: "tiny".to_owned(), limits, ..Job::call("", "f", []) };
    for _ in 0..3 {
        let outcome = sandbox.execute(&job).unwrap();
        assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
        assert_eq!(outcome.calls, [CallResult::Returned(Value::int(8 + 256 * 6).encode())]);
    }
}

#[test]
fn an_image_is_built_once_and_then_loaded_and_works_with_every_reset() {
    let bench = Bench::new(GUEST);
    assert!(bench.store().load(&bench.spec("harness")).is_none());
    let (built, phases) = bench.get();
    assert_eq!(phases, [BuildPhase::Unpack, BuildPhase::Compile, BuildPhase::Write, BuildPhase::Preload]);
    let (loaded, phases) = bench.get();
    assert_eq!(phases, []);
    for image in [built.unwrap(), loaded.unwrap()] {
        for reset in [ResetMode::Scan, ResetMode::Remap, ResetMode::Fresh] {
            check_works(&image, reset);
        }
    }
}

#[test]
fn a_cache_without_the_python_image_says_so() {
    let bench = Bench::built();
    let error = Image::open(&bench.cache()).unwrap_err();
    assert!(matches!(&error, ImageError::NotCached { path } if *path == bench.cache()), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn another_harness_is_another_image_of_the_same_code() {
    let bench = Bench::built();
    let phases = RefCell::new(Vec::new());
    let other = bench.spec("other harness");
    let image = bench.store().load_or_build(&other, &|phase| phases.borrow_mut().push(phase)).unwrap();
    assert_eq!(phases.into_inner(), [BuildPhase::Preload]);
    assert_ne!(image.digest(), bench.get().0.unwrap().digest());
}

#[test]
fn a_damaged_cache_is_never_loaded_and_is_made_good() {
    let bench = Bench::built();
    for (part, name) in [
        ("code", "module.cwasm"),
        ("code", "library.zip"),
        ("code", "manifest.json"),
        ("state", "memory.bin"),
        ("state", "manifest.json"),
    ] {
        let damage: [fn(&Path); 4] = [
            |path| fs::write(path, &fs::read(path).unwrap()[1..]).unwrap(),
            |path| fs::write(path, b"").unwrap(),
            |path| fs::remove_file(path).unwrap(),
            |path| {
                let mut bytes = fs::read(path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(path, bytes).unwrap();
            },
        ];
        for harm in damage {
            harm(&bench.file(part, name));
            assert!(bench.store().load(&bench.spec("harness")).is_none(), "{part} {name}");
            assert_eq!(bench.compiles(), part == "code", "{part} {name}");
            assert!(!bench.compiles(), "{part} {name}");
        }
    }
}

/// The globals of the snapshot are in it, and a digit of theirs looks like any other.
#[test]
fn a_manifest_with_any_changed_byte_is_found_and_never_loaded() {
    let bench = Bench::built();
    let (store, spec) = (bench.store(), bench.spec("harness"));
    for part in ["code", "state"] {
        let path = bench.file(part, "manifest.json");
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(&path, changed).unwrap();
            let error = store.find(&spec).expect_err("it is changed");
            assert!(matches!(&error, ImageError::Unusable { .. }) && error.hint().is_some(), "{part} {place}: {error}");
            let damaged = store.check().into_iter().filter(|report| report.state.is_err()).count();
            assert_eq!(damaged, 1, "{part} {place}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(store.find(&spec).unwrap().is_some());
}

#[test]
fn a_manifest_of_another_layout_or_of_another_image_or_none_is_found_by_the_check() {
    let bench = Bench::built();
    let faults =
        || -> Vec<String> { bench.store().check().into_iter().filter_map(|report| report.state.err()).collect() };
    let path = bench.file("state", "manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace("\"layout\": 2", "\"layout\": 1")).unwrap();
    assert_eq!(faults(), ["its manifest has layout 1, and this version reads 2"]);
    fs::write(&path, &whole).unwrap();
    let dir = path.parent().unwrap();
    let other = dir.with_file_name(format!("tiny-{}", "0".repeat(24)));
    fs::rename(dir, &other).unwrap();
    assert_eq!(faults(), ["its manifest is another image's"]);
    fs::remove_file(other.join("manifest.json")).unwrap();
    assert!(matches!(&faults()[..], [fault] if fault.starts_with("no manifest")), "{:?}", faults());
}

#[test]
fn check_and_list_tell_a_whole_image_from_a_damaged_one() {
    let bench = Bench::new(GUEST);
    assert_eq!(bench.store().check(), []);
    bench.compiles();
    assert!(bench.store().check().iter().all(|report| report.state.is_ok()));
    assert_eq!(bench.store().list().len(), 2);
    fs::write(bench.file("code", "library.zip"), b"librarx").unwrap();
    let damaged: Vec<String> = bench.store().check().into_iter().filter_map(|report| report.state.err()).collect();
    assert_eq!(damaged, ["`library.zip` is truncated or changed"]);
}

#[test]
fn pruning_removes_all_images_but_those_that_are_kept() {
    let bench = Bench::new(GUEST);
    assert_eq!(bench.store().prune(&[]).unwrap(), []);
    bench.compiles();
    bench.store().load_or_build(&bench.spec("another"), &|_| {}).unwrap();
    // The code of both, and a snapshot of each.
    assert_eq!(bench.store().list().len(), 3);
    let removed = bench.store().prune(&[bench.spec("harness")]).unwrap();
    assert_eq!(removed.len(), 1);
    assert!(removed[0].state.as_ref().is_ok_and(|bytes| *bytes > 0) && !removed[0].path.exists());
    assert!(bench.store().load(&bench.spec("another")).is_none());
    assert!(!bench.compiles(), "what is kept is loaded");
    assert_eq!(bench.store().prune(&[]).unwrap().len(), 2);
    assert!(bench.compiles());
}

#[test]
fn a_wheel_with_another_digest_is_refused_with_both_digests() {
    let bench = Bench::new(GUEST);
    let other = Bench::new("(module)");
    let error = bench.store().with_wheel(other.wheel()).load_or_build(&bench.spec("h"), &|_| {}).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&bench.sha256) && message.contains(&other.sha256), "{message}");
    assert!(error.hint().is_some());
}

#[test]
fn a_wheel_that_is_missing_or_no_zip_or_lacks_a_member_is_named() {
    let bench = Bench::new(GUEST);
    let missing = bench.dir.path().join("nowhere.whl");
    let error = bench.store().with_wheel(missing).load_or_build(&bench.spec("h"), &|_| {}).unwrap_err();
    assert!(matches!(&error, ImageError::BadWheel { path, .. } if path.ends_with("nowhere.whl")), "{error}");
    let text = bench.dir.path().join("text.whl");
    fs::write(&text, "no zip").unwrap();
    let sha256 = Sha256::digest("no zip").iter().map(|byte| format!("{byte:02x}")).collect();
    let spec = Bench { dir: tempfile::tempdir().unwrap(), sha256 }.spec("h");
    let error = bench.store().with_wheel(text).load_or_build(&spec, &|_| {}).unwrap_err();
    assert!(matches!(&error, ImageError::BadWheel { .. }), "{error}");
}

#[test]
fn a_guest_that_cannot_be_built_leaves_nothing_in_the_cache() {
    let guests = [
        "(module)",
        r#"(module (import "env" "unknown" (func)) (memory (export "memory") 1))"#,
        r#"(module (table $t 1 funcref) (func (table.set $t (i32.const 0) (ref.null func))))"#,
    ];
    for guest in guests {
        let bench = Bench::new(guest);
        let (image, _) = bench.get();
        assert!(matches!(image, Err(ImageError::Build { .. })), "{guest}");
        assert!(bench.store().load(&bench.spec("harness")).is_none());
    }
}

#[test]
fn a_preload_that_fails_says_what_the_guest_said() {
    let bench = Bench::new(&GUEST.replace("(i32.const 0)))", "(i32.const 9)))"));
    let error = bench.get().0.unwrap_err().to_string();
    assert!(error.contains("ended with status 9"), "{error}");
}

#[test]
fn of_several_builders_one_builds_and_the_others_load() {
    let bench = Bench::new(GUEST);
    let compiled = std::thread::scope(|scope| {
        let builders: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.compiles())).collect();
        builders.into_iter().map(|builder| builder.join().unwrap()).filter(|compiled| *compiled).count()
    });
    assert_eq!(compiled, 1);
}

#[test]
fn what_a_killed_build_left_is_cleaned_and_does_not_count() {
    let bench = Bench::new(GUEST);
    let stale = bench.cache().join("images/building-abc");
    fs::create_dir_all(&stale).unwrap();
    fs::set_permissions(bench.cache().join("images"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(stale.join("module.cwasm"), b"half").unwrap();
    assert!(bench.compiles());
    assert!(!stale.exists());
}

#[test]
fn a_directory_others_can_write_to_is_not_trusted() {
    let bench = Bench::built();
    fs::set_permissions(bench.cache().join("images"), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(bench.store().load(&bench.spec("harness")).is_none());
    let error = bench.get().0.unwrap_err();
    assert!(matches!(error, ImageError::UnsafeCache { .. }) && error.hint().is_some(), "{error}");
}

#[test]
fn a_cache_that_cannot_be_written_costs_the_cache_and_not_the_image() {
    let bench = Bench::new(GUEST);
    // A file where the directory should be: it fails for every user, root included, as a read-only or full disk does.
    fs::write(bench.cache(), b"in the way").unwrap();
    assert!(bench.compiles());
    assert!(bench.compiles());
    let error = bench.store().build(&bench.spec("harness"), &|_| {}).unwrap_err();
    assert!(matches!(error, ImageError::Cache { .. }) && error.hint().is_some(), "{error}");
    // The message names the cause, so it is no source: a reporter that prints the whole chain shows it once.
    assert!(error.to_string().contains("os error") && std::error::Error::source(&error).is_none(), "{error}");
}

#[test]
fn a_cache_entry_that_cannot_be_put_in_place_costs_the_cache_and_not_the_image() {
    let bench = Bench::built();
    let entry = bench.file("code", "manifest.json").parent().unwrap().to_owned();
    fs::remove_dir_all(&entry).unwrap();
    fs::write(&entry, b"in the way").unwrap();
    assert!(bench.compiles());
    assert!(bench.compiles());
}

#[test]
fn an_unknown_key_in_a_manifest_is_named() {
    let error = ImageSpec::parse("name = 'x'\nsurprise = 1", "").unwrap_err();
    assert!(error.to_string().contains("surprise"), "{error}");
    assert!(std::error::Error::source(&error).is_none(), "{error}");
    assert!(matches!(ImageSpec::builtin("ruby"), Err(ImageError::UnknownName { name, .. }) if name == "ruby"));
}

#[test]
fn a_guest_that_asks_for_more_than_wasm_can_address_has_exceeded_its_memory() {
    let grows = GUEST.replace(
        "(drop (call $call (i32.const 32)",
        "(drop (memory.grow (i32.const 65535))) (drop (call $call (i32.const 32)",
    );
    let bench = Bench::new(&grows);
    let sandbox = Sandbox::new(bench.get().0.unwrap(), SandboxOptions::fastest());
    let limits = Limits { memory_bytes: u64::MAX, ..sandbox.image().default_limits() };
    let job = Job { image: "tiny".to_owned(), limits, ..Job::call("", "f", []) };
    let exit = sandbox.execute(&job).unwrap().exit;
    assert!(matches!(exit, Exit::Exceeded { limit: LimitKind::MemoryBytes, used: 4_295_032_832, .. }), "{exit:?}");
}
