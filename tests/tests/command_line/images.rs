//! `veriplay image export` and `import`, images that are installed beside the program, and `veriplay doctor`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use veriplay_tests::veriplay_program;

use super::games::small_sol_ver;
use super::{finished, last_json, stderr, succeeded, veriplay};

const HINT: &str = "hint: ";

/// The archive of the real image, made once, and its sha256.
fn archive() -> &'static (PathBuf, String) {
    static ARCHIVE: OnceLock<(PathBuf, String)> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python.tar.zst");
        let output = succeeded(veriplay().args(["image", "export", "--level", "1"]).arg(&file));
        let line = String::from_utf8(output.stdout).expect("a digest and a path");
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

fn import(cache: &Path, file: &Path, options: &[&str]) -> Output {
    finished(offline(cache).args(["image", "import"]).arg(file).args(options))
}

fn run_hello(mut command: Command, dir: &Path) -> Output {
    let program = dir.join("hello.py");
    fs::write(&program, "print('hello')").expect("the program is written");
    finished(command.arg("run").arg(program))
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
    let without = run_hello(offline(&cache), dir.path());
    assert_eq!(without.status.code(), Some(4), "{}", stderr(&without));
    let imported = import(&cache, file, &["--sha256", &sha256.to_uppercase()]);
    assert!(imported.status.success(), "{}", stderr(&imported));
    assert_eq!(stderr(&imported), "");
    assert!(String::from_utf8_lossy(&imported.stdout).starts_with("python "));
    let hello = run_hello(offline(&cache), dir.path());
    assert_eq!((hello.stdout, hello.status.code()), (b"hello\n".to_vec(), Some(0)));
    let again = import(&cache, file, &[]);
    assert!(again.status.success() && stderr(&again).contains(&**sha256), "{}", stderr(&again));
}

#[test]
fn a_bad_archive_is_named_and_leaves_the_cache_empty() {
    let (file, sha256) = archive();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let cache = dir.path().join("cache");
    let bytes = fs::read(file).expect("the archive is there");
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("the temporary directory can be written");
        path
    };
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    let bomb = zstd::encode_all(std::io::repeat(0).take(1 << 30), 1).expect("zeros are packed");
    let cases = [
        (write("changed", &changed), "damaged"),
        (write("cut", &bytes[..bytes.len() - 9]), "damaged"),
        (write("short", &bytes[..bytes.len() / 3]), "truncated"),
        (write("longer", &[&bytes[..], b"more"].concat()), "damaged"),
        (write("text", b"no archive"), "damaged"),
        (write("empty", b""), "truncated"),
        (write("bomb", &bomb), "no archive"),
    ];
    for (path, expected) in cases {
        let output = import(&cache, &path, &[]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(expected) && text.contains(&*path.to_string_lossy()) && text.contains(HINT), "{text}");
    }
    let other = import(&cache, file, &["--sha256", &"0".repeat(64)]);
    assert_eq!(other.status.code(), Some(3));
    assert!(
        stderr(&other).contains(&**sha256) && stderr(&other).contains("nothing was imported"),
        "{}",
        stderr(&other)
    );
    assert_eq!(import(&cache, file, &["--sha256", "abc"]).status.code(), Some(2));
    assert_eq!(import(&cache, &dir.path().join("missing"), &[]).status.code(), Some(3));
    assert_eq!(import(&cache, dir.path(), &[]).status.code(), Some(3));
    assert_eq!(import(&cache, file, &["--image", "ruby"]).status.code(), Some(2));
    assert_eq!(images(&cache), 0);
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let nowhere = finished(veriplay().args(["image", "export"]).arg(dir.path().join("no/such/file")));
    assert_eq!(nowhere.status.code(), Some(3), "{}", stderr(&nowhere));
    let onto = finished(veriplay().args(["image", "export", "--level", "1"]).arg(dir.path()));
    assert_eq!(onto.status.code(), Some(3), "{}", stderr(&onto));
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn an_export_to_a_device_is_refused_and_one_to_a_symlink_goes_where_it_points() {
    let refused = finished(veriplay().args(["image", "export", "--level", "1", "/dev/full"]));
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("no regular file") && stderr(&refused).contains(HINT), "{}", stderr(&refused));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, "no archive").expect("the temporary directory can be written");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    let export = || finished(veriplay().args(["image", "export", "--level", "1"]).arg(&link));
    let refused = export();
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("is no image archive, and is not overwritten"), "{}", stderr(&refused));
    assert_eq!(fs::read(&file).expect("it is there"), b"no archive");
    fs::write(&file, "").expect("the temporary directory can be written");
    // Over an empty file, and over an archive.
    for _ in 0..2 {
        let made = export();
        assert!(made.status.success(), "{}", stderr(&made));
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
    assert!(detail(&report, "image").1.contains("imported on first use"), "{report}");
    let hello = run_hello(installed.program(), installed.dir.path());
    assert_eq!(hello.stdout, b"hello\n", "{}", stderr(&hello));
    assert!(stderr(&hello).contains("importing the image `python`"), "{}", stderr(&hello));
    assert!(!stderr(&hello).contains("building"), "{}", stderr(&hello));
    fs::remove_file(installed.archive()).expect("it is there");
    assert_eq!(run_hello(installed.program(), installed.dir.path()).stdout, b"hello\n");
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
    assert_eq!(run_hello(installed.program(), installed.dir.path()).stdout, b"hello\n");
    let listed = last_json(&succeeded(installed.program().args(["image", "list", "--json"])));
    assert_eq!(listed["schema_version"], 1, "{listed}");
    let directories = listed["directories"].as_array().expect("a list");
    assert!(directories.len() == 2 && directories.iter().all(|one| one["in_use"] == true), "{listed}");
    let check = || finished(installed.program().args(["image", "check", "--json"]));
    assert_eq!(check().status.code(), Some(0));

    let manifest = snapshot_manifest(&installed.cache());
    let text = fs::read_to_string(&manifest).expect("it is text");
    fs::write(&manifest, text.replacen("\"i32\": ", "\"i32\": 1", 1)).expect("it is ours");
    let checked = check();
    assert_eq!(checked.status.code(), Some(4), "{}", stderr(&checked));
    let report = last_json(&checked);
    let damages: Vec<&str> =
        report["directories"].as_array().expect("a list").iter().filter_map(|one| one["damage"].as_str()).collect();
    assert_eq!(damages, ["its manifest is changed"], "{report}");
    let doctor = last_json(&succeeded(installed.program().args(["doctor", "--json"])));
    let (status, detail) = detail(&doctor, "image");
    assert!(status == "warn" && detail.contains("is changed; the next use imports it from"), "{doctor}");
    assert_eq!(check().status.code(), Some(4), "the doctor mends nothing");

    let hello = run_hello(installed.program(), installed.dir.path());
    assert_eq!(hello.stdout, b"hello\n", "{}", stderr(&hello));
    let said = stderr(&hello);
    let warning = "warning: the cached image `";
    assert!(said.starts_with(warning) && said.contains("cannot be used: its manifest is changed\n"), "{said}");
    assert_eq!(check().status.code(), Some(0));
}

#[test]
fn an_image_that_is_not_known_is_wrong_usage() {
    let known: [&[&str]; 4] = [
        &["image", "build", "nope"],
        &["image", "export", "nope.tar.zst", "--image", "nope"],
        &["image", "import", "nope.tar.zst", "--image", "nope"],
        &["run", "nope.py", "--image", "nope"],
    ];
    for arguments in known {
        let output = finished(veriplay().args(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("python-numpy"), "{}", stderr(&output));
    }
}

#[test]
fn an_installed_image_that_others_can_change_or_that_is_damaged_is_not_used() {
    let installed = Installed::new();
    let set_mode =
        |mode| fs::set_permissions(installed.archive(), fs::Permissions::from_mode(mode)).expect("it is ours");
    set_mode(0o646);
    let output = run_hello(installed.program(), installed.dir.path());
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("not trusted"), "{}", stderr(&output));
    set_mode(0o644);
    fs::write(installed.archive(), b"damage").expect("it is ours");
    let output = run_hello(installed.program(), installed.dir.path());
    assert_eq!(output.status.code(), Some(4));
    let text = stderr(&output);
    assert!(text.contains("warning: the installed image") && text.contains("cannot be used"), "{text}");
    assert_eq!(images(&installed.cache()), 0);
    let output = finished(installed.program().args(["doctor", "--json"]));
    assert_eq!(output.status.code(), Some(11), "there is no interpreter to build one from: {}", stderr(&output));
    let report = last_json(&output);
    let (status, detail) = detail(&report, "image");
    assert!(
        status == "warn" && detail.contains("cannot be used") && detail.contains("the next use builds"),
        "{report}"
    );
}

#[test]
fn an_installed_image_needs_no_cache_that_can_be_written() {
    let installed = Installed::new();
    fs::write(installed.cache(), "in the way").expect("it is ours");
    let hello = run_hello(installed.program(), installed.dir.path());
    assert_eq!(hello.stdout, b"hello\n", "{}", stderr(&hello));
    assert!(stderr(&hello).contains("VERIPLAY_CACHE") && !stderr(&hello).contains("building"), "{}", stderr(&hello));
    let report = last_json(&finished(installed.program().args(["doctor", "--json"])));
    assert_eq!((detail(&report, "cache").0, detail(&report, "image").0), ("fail", "warn"), "{report}");
}

#[test]
fn worker_processes_without_a_cache_that_holds_the_image_are_refused_and_not_replaced_by_threads() {
    let installed = Installed::new();
    fs::write(installed.cache(), "in the way").expect("it is ours");
    let file = installed.dir.path().join("hello.py");
    fs::write(&file, "print('hello')").expect("the program is written");
    let run = |workers| finished(installed.program().args(["run", "--workers", workers]).arg(&file));
    assert_eq!(run("thread").stdout, b"hello\n");
    let refused = run("process");
    assert_eq!((refused.status.code(), &*refused.stdout), (Some(4), &b""[..]), "{}", stderr(&refused));
    let text = stderr(&refused);
    let cache = installed.cache().display().to_string();
    assert!(text.contains("error: worker processes cannot have the image `python`") && text.contains(&cache), "{text}");
    assert!(text.contains("set VERIPLAY_CACHE") && text.contains("`--workers thread`"), "{text}");
}

/// The status and detail of a check.
fn detail<'a>(report: &'a Value, name: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().expect("`checks` is a list");
    let check = checks.iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("no check `{name}`: {report}"));
    let text = |key: &str| check[key].as_str().expect("a text");
    (text("status"), text("detail"))
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_machine_that_works() {
    let output = succeeded(veriplay().args(["doctor", "--json"]));
    let report = last_json(&output);
    assert_eq!((&report["schema_version"], &report["ok"]), (&1.into(), &true.into()));
    for name in ["version", "platform", "image", "worker process"] {
        assert_eq!(detail(&report, name).0, "ok", "{report}");
    }
    for check in report["checks"].as_array().expect("`checks` is a list") {
        assert_eq!(check["hint"].is_null(), check["status"] == "ok", "{check}");
    }
    let text = succeeded(veriplay().arg("doctor")).stdout;
    assert!(String::from_utf8_lossy(&text).starts_with("ok    version: veriplay "));
}

#[test]
fn the_doctor_names_what_is_wrong_with_the_surroundings() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("file");
    fs::write(&file, "no wheel").expect("the temporary directory can be written");
    let open = dir.path().join("open/images");
    fs::create_dir_all(&open).expect("a folder");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let set = |name: &'static str, value: &Path| {
        let mut command = offline(&dir.path().join("cache"));
        command.env(name, value);
        command
    };
    let mut homeless = offline(dir.path());
    homeless.env_remove("VERIPLAY_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME");
    let cases = [
        (offline(&dir.path().join("cache")), "interpreter", "cannot start `/nonexistent/python3`"),
        (set("VERIPLAY_PYTHON", Path::new("/bin/false")), "interpreter", "has no pip"),
        (set("VERIPLAY_WHEEL", &dir.path().join("missing")), "interpreter", "missing"),
        (set("VERIPLAY_WHEEL", &file), "interpreter", "is not the wheel"),
        (set("VERIPLAY_CACHE", &dir.path().join("open")), "cache", "can be written by others"),
        (set("VERIPLAY_CACHE", &file.join("below")), "cache", "cannot write"),
        (homeless, "cache", "HOME"),
    ];
    for (mut command, name, expected) in cases {
        let output = finished(command.args(["doctor", "--json"]));
        assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
        let report = last_json(&output);
        assert_eq!(report["ok"], false, "{report}");
        let (status, detail) = detail(&report, name);
        assert!(status == "fail" && detail.contains(expected), "{name}: {status}: {detail}");
    }
    let text = finished(offline(&dir.path().join("cache")).arg("doctor"));
    let lines = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(lines.contains("FAIL  interpreter: ") && lines.contains("\n      hint: "), "{lines}");
    assert!(lines.contains("warn  image: not built: the first use builds it, in about a minute"), "{lines}");
    assert!(!dir.path().join("cache").exists(), "the doctor leaves nothing behind");
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
    let output = succeeded(Command::new("sha256sum").arg(path));
    String::from_utf8_lossy(&output.stdout)[..64].to_owned()
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
    let run = |image: &str, workers: &str| {
        let mut command = veriplay();
        command.env("VERIPLAY_IMAGES", dir.path()).args(["run", "--image", image, "--workers", workers]);
        finished(command.arg(&program))
    };
    for (image, workers, expected) in [
        ("colours", "thread", "True\n1\n2\n"),
        ("colours", "process", "True\n1\n2\n"),
        ("python", "process", "False\n'tint'\n"),
    ] {
        let output = run(image, workers);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{image}, {workers}: {}", stderr(&output));
    }
    let wrong = run("wrong", "thread");
    let text = stderr(&wrong);
    assert!(wrong.status.code() == Some(2) && text.contains("wrong.toml") && text.contains("`preloads`"), "{text}");
    let unknown = run("colors", "thread");
    let text = stderr(&unknown);
    assert!(unknown.status.code() == Some(2) && text.contains("python-numpy, colours"), "{text}");
    let nowhere = finished(veriplay().env("VERIPLAY_IMAGES", "/nonexistent").args(["run", "--image", "colours", "-"]));
    let text = stderr(&nowhere);
    assert!(nowhere.status.code() == Some(2) && text.contains("`/nonexistent`: VERIPLAY_IMAGES"), "{text}");
    let doctor = |directory: &Path| finished(veriplay().env("VERIPLAY_IMAGES", directory).arg("doctor"));
    let (named, nowhere) = (doctor(dir.path()), doctor("/nonexistent".as_ref()));
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text(&named).contains("warn  own images: `") && text(&named).contains("`preloads`"), "{named:?}");
    assert!(nowhere.status.code() == Some(11) && text(&nowhere).contains("FAIL  own images: `/non"), "{nowhere:?}");
    for (image, expected) in [("wrong", "`preloads`"), ("colors", "one of python, python-numpy, colours, wrong")] {
        let mut play = veriplay();
        play.env("VERIPLAY_IMAGES", dir.path()).args(["play", "--dry-run", "--set", &format!("gate.image={image}")]);
        let (played, key) = (finished(&mut play), format!("configuration key `gate.image` is `{image}`"));
        let text = stderr(&played);
        assert!(played.status.code() == Some(3) && text.contains(&key) && text.contains(expected), "{text}");
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
    let told = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let small = [
        "gate.image=colours", "game.proposals_per_type=2", "game.tasks_per_type=2", "game.group_size=2",
        "tasks.seeds_per_type=20", "tasks.sft_per_type=2", "eval.tasks_per_type=2",
    ];
    write("colorsys");
    succeeded(command(&["play", "--steps", "1", "--out", "run"]).args(small.map(|set| ["--set", set]).concat()));
    let same = succeeded(&mut command(&["replay", "run"]));
    assert!(told(&same).contains(" 0 changed; 0 logged as dropped"), "{same:?}");
    assert!(!stderr(&same).contains("warning"), "{}", stderr(&same));

    write("sched");
    let resumed = succeeded(&mut command(&["play", "--resume", "run", "--steps", "2", "--workers", "process"]));
    assert!(stderr(&resumed).contains("the run has verdicts of the image `colours` "), "{}", stderr(&resumed));
    let text = fs::read_to_string(dir.path().join("run/images.json")).expect("it is there");
    let entries: Value = serde_json::from_str(&text).expect("it is JSON");
    let steps: Vec<u64> =
        entries.as_array().expect("a list").iter().filter_map(|entry| entry["from_step"].as_u64()).collect();
    assert_eq!(steps, [0, 1]);
    let digests = [0, 1].map(|entry: usize| {
        entries[entry]["images"]["colours"]["digest"].as_str().map(|digest| digest[..12].to_owned())
    });
    let [Some(first), Some(second)] = digests else { panic!("{entries}") };
    assert_ne!(first, second);
    // Its verdicts have other fuel.
    let other = finished(&mut command(&["replay", "run"]));
    assert!(other.status.code() == Some(6) && stderr(&other).contains(", 0 with another status"), "{}", stderr(&other));
    assert!(stderr(&other).contains(&first) && stderr(&other).contains(&second), "{}", stderr(&other));
    let compared = told(&succeeded(&mut command(&["compare", "run", "run"])));
    assert!(compared.contains(&format!("in `colours` {first} up to step 1, and in `colours` {second}")), "{compared}");
}

#[test]
fn sol_ver_runs_all_programs_in_the_image_of_its_configuration() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (path, run) = (dir.path().join("config.toml"), dir.path().join("run"));
    fs::write(&path, small_sol_ver().to_string()).expect("the temporary directory can be written");
    let mut play = veriplay();
    play.args(["play", "--steps", "1", "--set", "agreement.image=python-numpy", "--config"]).arg(&path);
    play.arg("--out").arg(&run);
    succeeded(&mut play);
    let replayed = succeeded(veriplay().arg("replay").arg(&run));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains(" 0 changed; 0 logged as dropped"), "{replayed:?}");
}
