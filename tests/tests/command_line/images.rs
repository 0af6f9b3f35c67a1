//! `veriplay image export` and `import`, images that are installed beside the program, and `veriplay doctor`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use veriplay_sandbox::ImageSpec;
use veriplay_tests::veriplay_program;

use super::games::small_sol_ver;
use super::{column, ended, finished, last_json, says, stderr, stdout, succeeded, veriplay, write_config};

/// The archive of the real image, made once, and its sha256.
fn archive() -> &'static (PathBuf, String) {
    static ARCHIVE: OnceLock<(PathBuf, String)> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python.tar.zst");
        let output = succeeded(veriplay().args(["image", "export", "--level", "1"]).arg(&file));
        let line = stdout(&output);
        let (sha256, path) = line.trim_end().split_once("  ").expect("the form of sha256sum");
        assert_eq!((sha256.len(), Path::new(path)), (64, &*file));
        (file.clone(), sha256.to_owned())
    })
}

/// The program on an empty cache, on a machine that cannot build an image.
fn offline(cache: &Path) -> Command {
    cannot_build(veriplay(), cache)
}

fn cannot_build(mut command: Command, cache: &Path) -> Command {
    command.env("VERIPLAY_CACHE", cache).env("VERIPLAY_PYTHON", "/nonexistent/python3").env_remove("VERIPLAY_WHEEL");
    command
}

/// Imports a file, as [`ended`].
#[track_caller]
fn import(cache: &Path, file: &Path, options: &[&str], code: i32, words: &[&str]) -> Output {
    ended(offline(cache).args(["image", "import"]).arg(file).args(options), code, words)
}

/// Runs a program that prints `hello`, and fails unless it does where the command succeeds.
#[track_caller]
fn run_hello(mut command: Command, code: i32, words: &[&str]) -> String {
    let program = tempfile::NamedTempFile::with_suffix(".py").expect("a temporary file");
    fs::write(&program, "print('hello')").expect("the program is written");
    let output = ended(command.arg("run").arg(program.path()), code, words);
    assert_eq!(stdout(&output), if code == 0 { "hello\n" } else { "" });
    stderr(&output)
}

/// Directories and files of images in a cache.
fn images(cache: &Path) -> usize {
    let entries = fs::read_dir(cache.join("images")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != "lock").count()
}

#[test]
fn an_image_goes_to_a_machine_that_cannot_build_it() {
    let (file, sha256) = archive();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let cache = dir.path().join("cache");
    run_hello(offline(&cache), 4, &[]);
    let imported = import(&cache, file, &["--sha256", &sha256.to_uppercase()], 0, &[]);
    assert!(stderr(&imported).is_empty() && stdout(&imported).starts_with("python "), "{imported:?}");
    run_hello(offline(&cache), 0, &[]);
    import(&cache, file, &[], 0, &[sha256]);
}

#[test]
fn a_bad_archive_is_named_and_leaves_the_cache_empty() {
    let (file, sha256) = archive();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let cache = dir.path().join("cache");
    let bytes = fs::read(file).expect("the archive is there");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    let bomb = zstd::encode_all(std::io::repeat(0).take(1 << 30), 1).expect("zeros are packed");
    let cases: [(&str, &[u8], &str); 7] = [
        ("changed", &changed, "damaged"),
        ("cut", &bytes[..bytes.len() - 9], "damaged"),
        ("short", &bytes[..bytes.len() / 3], "truncated"),
        ("longer", &[&bytes[..], b"more"].concat(), "damaged"),
        ("text", b"no archive", "damaged"),
        ("empty", b"", "truncated"),
        ("bomb", &bomb, "no archive"),
    ];
    for (name, bytes, expected) in cases {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("the temporary directory can be written");
        import(&cache, &path, &[], 3, &[expected, &path.display().to_string(), "hint: "]);
    }
    import(&cache, file, &["--sha256", &"0".repeat(64)], 3, &[sha256, "nothing was imported"]);
    import(&cache, file, &["--sha256", "abc"], 2, &[]);
    import(&cache, &dir.path().join("missing"), &[], 3, &[]);
    import(&cache, dir.path(), &[], 3, &[]);
    assert_eq!(images(&cache), 0);
}

/// Exports the image to a file, as [`ended`].
#[track_caller]
fn export(file: &Path, code: i32, words: &[&str]) {
    ended(veriplay().args(["image", "export", "--level", "1"]).arg(file), code, words);
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    export(&dir.path().join("no/such/file"), 3, &[]);
    export(dir.path(), 3, &[]);
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn an_export_to_a_device_is_refused_and_one_to_a_symlink_goes_where_it_points() {
    export(Path::new("/dev/full"), 3, &["no regular file", "hint: "]);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, "no archive").expect("the temporary directory can be written");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    export(&link, 3, &["is no image archive, and is not overwritten"]);
    assert_eq!(fs::read(&file).expect("it is there"), b"no archive");
    fs::write(&file, "").expect("the temporary directory can be written");
    // Over an empty file, and over an archive.
    for _ in 0..2 {
        export(&link, 0, &[]);
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert!(fs::metadata(&file).expect("it is there").len() > 1 << 20);
    }
}

/// A folder with `bin/veriplay` and `share/veriplay/python.tar.zst`, as `pip install` lays them.
struct Installed {
    dir: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        drop(veriplay());
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target directory can be written");
        for folder in ["bin", "share/veriplay"] {
            fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        let program = dir.path().join("bin/veriplay");
        fs::hard_link(veriplay_program(), &program)
            .or_else(|_| fs::copy(veriplay_program(), &program).map(drop))
            .expect("the program is linked or copied");
        fs::copy(&archive().0, dir.path().join("share/veriplay/python.tar.zst")).expect("the archive is copied");
        Self { dir }
    }

    fn archive(&self) -> PathBuf {
        self.dir.path().join("share/veriplay/python.tar.zst")
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn program(&self) -> Command {
        cannot_build(Command::new(self.dir.path().join("bin/veriplay")), &self.cache())
    }
}

#[test]
fn an_installed_image_is_found_by_the_program() {
    let installed = Installed::new();
    let report = last_json(&succeeded(installed.program().args(["doctor", "--json"])));
    says(detail(&report, "image").1, &["imported on first use"]);
    let said = run_hello(installed.program(), 0, &["importing the image `python`"]);
    assert!(!said.contains("building"), "{said}");
    fs::remove_file(installed.archive()).expect("it is there");
    run_hello(installed.program(), 0, &[]);
}

/// The manifest with the globals of the snapshot in a cache.
fn snapshot_manifest(cache: &Path) -> PathBuf {
    let directories = fs::read_dir(cache.join("images")).expect("images").flatten();
    let mut manifests = directories.map(|directory| directory.path().join("manifest.json"));
    let holds_globals = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("\"i32\": "));
    manifests.find(holds_globals).expect("a snapshot has globals")
}

#[test]
fn a_changed_global_is_found_by_check_and_doctor_and_replaced_by_the_next_run() {
    let installed = Installed::new();
    run_hello(installed.program(), 0, &[]);
    let listed = last_json(&succeeded(installed.program().args(["image", "list", "--json"])));
    assert_eq!(listed["schema_version"], 1, "{listed}");
    assert_eq!(column(&listed["directories"], "in_use"), [true, true], "{listed}");
    let check = |code| ended(installed.program().args(["image", "check", "--json"]), code, &[]);
    check(0);

    let manifest = snapshot_manifest(&installed.cache());
    let text = fs::read_to_string(&manifest).expect("it is text");
    fs::write(&manifest, text.replacen("\"i32\": ", "\"i32\": 1", 1)).expect("it is ours");
    let report = last_json(&check(4));
    let mut damages = column(&report["directories"], "damage");
    damages.retain(|damage| !damage.is_null());
    assert_eq!(damages, ["its manifest is changed"], "{report}");
    let doctor = last_json(&succeeded(installed.program().args(["doctor", "--json"])));
    let (status, detail) = detail(&doctor, "image");
    assert!(status == "warn" && detail.contains("is changed; the next use imports it from"), "{doctor}");
    // The doctor mends nothing.
    check(4);

    let said = run_hello(installed.program(), 0, &["cannot be used: its manifest is changed\n"]);
    assert!(said.starts_with("warning: the cached image `"), "{said}");
    check(0);
}

#[test]
fn an_installed_image_that_others_can_change_or_that_is_damaged_is_not_used() {
    let installed = Installed::new();
    let set_mode =
        |mode| fs::set_permissions(installed.archive(), fs::Permissions::from_mode(mode)).expect("it is ours");
    set_mode(0o646);
    run_hello(installed.program(), 4, &["not trusted"]);
    set_mode(0o644);
    fs::write(installed.archive(), b"damage").expect("it is ours");
    run_hello(installed.program(), 4, &["warning: the installed image", "cannot be used"]);
    assert_eq!(images(&installed.cache()), 0);
    // There is no interpreter to build one from.
    let report = last_json(&ended(installed.program().args(["doctor", "--json"]), 11, &[]));
    let (status, detail) = detail(&report, "image");
    assert_eq!(status, "warn", "{report}");
    says(detail, &["cannot be used", "the next use builds"]);
}

#[test]
fn an_installed_image_needs_no_cache_that_can_be_written_but_for_worker_processes() {
    let installed = Installed::new();
    fs::write(installed.cache(), "in the way").expect("it is ours");
    let said = run_hello(installed.program(), 0, &["VERIPLAY_CACHE"]);
    assert!(!said.contains("building"), "{said}");
    let report = last_json(&finished(installed.program().args(["doctor", "--json"])));
    assert_eq!((detail(&report, "cache").0, detail(&report, "image").0), ("fail", "warn"), "{report}");
    // Those are not replaced by threads.
    let cache = installed.cache().display().to_string();
    let image = "error: worker processes cannot have the image `python`";
    let said = [image, &cache, "set VERIPLAY_CACHE", "`--workers thread`"];
    let refused = ended(installed.program().args(["run", "--workers", "process", "-"]), 4, &said);
    assert_eq!(refused.stdout, b"");
}

/// The status and detail of a check.
fn detail<'a>(report: &'a Value, name: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().expect("`checks` is a list");
    let check =
        checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check `{name}`: {report}"));
    let text = |key: &str| check[key].as_str().expect("a text");
    (text("status"), text("detail"))
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_machine_that_works() {
    let report = last_json(&succeeded(veriplay().args(["doctor", "--json"])));
    assert_eq!((&report["schema_version"], &report["ok"]), (&1.into(), &true.into()));
    for name in ["version", "platform", "image", "worker process"] {
        assert_eq!(detail(&report, name).0, "ok", "{report}");
    }
    for check in report["checks"].as_array().expect("`checks` is a list") {
        assert_eq!(check["hint"].is_null(), check["status"] == "ok", "{check}");
    }
    let text = stdout(&succeeded(veriplay().arg("doctor")));
    assert!(text.starts_with("ok    version: veriplay "), "{text}");
}

#[test]
fn the_doctor_names_what_is_wrong_with_the_surroundings() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("file");
    fs::write(&file, "no wheel").expect("the temporary directory can be written");
    let open = dir.path().join("open/images");
    fs::create_dir_all(&open).expect("a folder");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let (cache, missing) = (dir.path().join("cache"), dir.path().join("missing"));
    let cases: [(&str, &Path, &str, &str); 6] = [
        ("VERIPLAY_CACHE", &cache, "interpreter", "cannot start `/nonexistent/python3`"),
        ("VERIPLAY_PYTHON", Path::new("/bin/false"), "interpreter", "has no pip"),
        ("VERIPLAY_WHEEL", &missing, "interpreter", "missing"),
        ("VERIPLAY_WHEEL", &file, "interpreter", "is not the wheel"),
        ("VERIPLAY_CACHE", &dir.path().join("open"), "cache", "can be written by others"),
        ("VERIPLAY_CACHE", &file.join("below"), "cache", "cannot write"),
    ];
    for (variable, value, check, expected) in cases {
        assert_diagnosed(offline(&cache).env(variable, value), check, expected);
    }
    let mut homeless = offline(&cache);
    homeless.env_remove("VERIPLAY_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME");
    assert_diagnosed(&mut homeless, "cache", "HOME");
    let text = stdout(&ended(offline(&cache).arg("doctor"), 11, &[]));
    says(&text, &["FAIL  interpreter: ", "\n      hint: "]);
    says(&text, &["warn  image: not built: the first use builds it, in about a minute"]);
    assert!(!cache.exists(), "the doctor leaves nothing behind");
}

/// Fails unless this check of the doctor does, with what is expected.
fn assert_diagnosed(command: &mut Command, check: &str, expected: &str) {
    let report = last_json(&ended(command.args(["doctor", "--json"]), 11, &[]));
    let (status, detail) = detail(&report, check);
    assert_eq!((&report["ok"], status), (&false.into(), "fail"), "{report}");
    says(detail, &[expected]);
}

/// Writes a wheel with a package of two modules; returns its sha256.
fn write_wheel(path: &Path) -> String {
    let mut wheel = zip::ZipWriter::new(fs::File::create(path).expect("the temporary directory can be written"));
    for (name, text) in
        [("tint/__init__.py", ""), ("tint/shade.py", "def dark(n): return n + 1\n"), ("tint-1.0.dist-info/WHEEL", "")]
    {
        wheel.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
        wheel.write_all(text.as_bytes()).expect("its text");
    }
    wheel.finish().expect("the end of the wheel");
    stdout(&succeeded(Command::new("sha256sum").arg(path)))[..64].to_owned()
}

#[test]
fn a_manifest_in_the_users_directory_is_an_image() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("the temporary directory can be written");
        path
    };
    let sha256 = write_wheel(&dir.path().join("tint-1.0-py3-none-any.whl"));
    let library = format!("[[libraries]]\nfile = 'tint-1.0-py3-none-any.whl'\nsha256 = '{sha256}'");
    write("colours.toml", &format!("name = 'colours'\nbase = 'python'\npreload = ['colorsys', 'tint']\n{library}"));
    write("wrong.toml", "name = 'wrong'\nbase = 'python'\npreloads = ['colorsys']");
    let program = write(
        "program.py",
        "import sys\nprint('colorsys' in sys.modules)\ntry:\n    print(len(sys.modules['tint'].__path__))\n    \
         from tint.shade import dark\n    print(dark(1))\nexcept (KeyError, ModuleNotFoundError) as error:\n    print(error)",
    );
    let with_images = |directory: &Path, arguments: &[&str]| {
        let mut command = veriplay();
        command.env("VERIPLAY_IMAGES", directory).args(arguments);
        command
    };
    let run = |image: &str, workers: &str, code, words: &[&str]| {
        let mut command = with_images(dir.path(), &["run", "--image", image, "--workers", workers]);
        stdout(&ended(command.arg(&program), code, words))
    };
    assert_eq!(run("colours", "thread", 0, &[]), "True\n1\n2\n");
    assert_eq!(run("colours", "process", 0, &[]), "True\n1\n2\n");
    assert_eq!(run("python", "process", 0, &[]), "False\n'tint'\n");
    run("wrong", "thread", 2, &["wrong.toml", "`preloads`"]);
    let known = ImageSpec::builtin_names().join(", ");
    run("colors", "thread", 2, &[&format!("{known}, colours")]);
    let nowhere = Path::new("/nonexistent");
    let said = ["`/nonexistent`: VERIPLAY_IMAGES"];
    ended(&mut with_images(nowhere, &["run", "--image", "colours", "-"]), 2, &said);
    let named = stdout(&succeeded(&mut with_images(dir.path(), &["doctor"])));
    says(&named, &["warn  own images: `", "`preloads`"]);
    let missing = stdout(&ended(&mut with_images(nowhere, &["doctor"]), 11, &[]));
    says(&missing, &["FAIL  own images: `/non"]);
    for (image, expected) in [("wrong", "`preloads`".to_owned()), ("colors", format!("one of {known}, colours, wrong"))]
    {
        let mut play = with_images(dir.path(), &["play", "--dry-run", "--set", &format!("gate.image={image}")]);
        ended(&mut play, 3, &[&format!("configuration key `gate.image` is `{image}`"), &expected]);
    }
}

#[test]
fn a_run_records_its_image_and_says_when_that_has_become_another() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |preload: &str| {
        let text = format!("name = 'colours'\nbase = 'python'\npreload = ['{preload}']");
        fs::write(dir.path().join("colours.toml"), text).expect("the temporary directory can be written");
    };
    let command = |arguments: &[&str]| {
        let mut command = veriplay();
        command.current_dir(dir.path()).env("VERIPLAY_IMAGES", dir.path()).args(arguments);
        command
    };
    let small = [
        "gate.image=colours", "game.proposals_per_type=2", "game.tasks_per_type=2", "game.group_size=2",
        "game.seed_proposals=0", "tasks.seeds_per_type=20", "eval.tasks=2", "eval.ladder_tasks=0",
    ];
    write("colorsys");
    succeeded(command(&["play", "--steps", "1", "--out", "run"]).args(small.map(|set| ["--set", set]).concat()));
    let same = succeeded(&mut command(&["replay", "run"]));
    says(&stdout(&same), &[" 0 changed; 0 logged as dropped"]);
    assert!(!stderr(&same).contains("warning"), "{}", stderr(&same));

    write("sched");
    let mut resume = command(&["play", "--resume", "run", "--steps", "2", "--workers", "process"]);
    ended(&mut resume, 0, &["the run has verdicts of the image `colours` "]);
    let text = fs::read_to_string(dir.path().join("run/images.json")).expect("it is there");
    let entries: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(column(&entries, "from_step"), [0, 1]);
    let [first, second] = [0, 1]
        .map(|entry: usize| entries[entry]["images"]["colours"]["digest"].as_str().expect("a digest")[..12].to_owned());
    assert_ne!(first, second);
    // Its verdicts have other fuel.
    ended(&mut command(&["replay", "run"]), 6, &[", 0 with another status", &first, &second]);
    let compared = stdout(&succeeded(&mut command(&["compare", "run", "run"])));
    says(&compared, &[&format!("in `colours` {first} up to step 1, and in `colours` {second}")]);
}

#[test]
fn sol_ver_runs_all_programs_in_the_image_of_its_configuration() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (path, run) = (write_config(dir.path(), &small_sol_ver()), dir.path().join("run"));
    let mut play = veriplay();
    play.args(["play", "--steps", "1", "--set", "agreement.image=python-numpy", "--config"]).arg(path);
    succeeded(play.arg("--out").arg(&run));
    let replayed = stdout(&succeeded(veriplay().arg("replay").arg(&run)));
    says(&replayed, &[" 0 changed; 0 logged as dropped"]);
}
