//! `veriplay doctor`: whether this machine has what Veriplay needs, line by line, with a hint wherever something is missing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use sha2::{Digest, Sha256};
use veriplay_core::{Execute, Exit, Job, Language};
use veriplay_python::Python;
use veriplay_sandbox::{
    CpuLevel, HostSupport, Image, ImageSpec, SandboxOptions, default_cache_dir, detected_cpu_level,
};

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::free_memory::{ADDRESSES_HINT, LEAST_ADDRESSES, free_memory, most_addresses};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::progress;
use veriplay_console::progress::counted;

/// Check whether this machine has what Veriplay needs
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;
/// Free memory that a build of the image needs, and that two workers and the service need.
const LEAST_MEMORY: u64 = 1536 << 20;
/// Free space that an image and a build need.
const LEAST_SPACE: u64 = 500 << 20;
/// Free space that verdicts need beside a built image.
const LEAST_REST: u64 = 100 << 20;
/// What to do without a cache directory, or with one that cannot be used.
const CACHE_HINT: &str = "set VERIPLAY_CACHE to a directory of your own that you can write";

/// What to do where `VERIPLAY_IMAGES` names what is no manifest.
const OWN_IMAGES_HINT: &str = "mend it, or let VERIPLAY_IMAGES name another directory: see the page \"Testing a sandbox, and an image of your own\"";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    /// As it should be.
    Ok,
    /// It works, slower or with less.
    Warn,
    /// Veriplay does not work.
    Fail,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    status: CheckStatus,
    detail: String,
    hint: Option<String>,
}

#[derive(Serialize)]
struct DoctorReport<'a> {
    schema_version: u32,
    version: &'static str,
    /// Whether nothing failed.
    ok: bool,
    checks: &'a [Check],
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: CheckStatus::Ok, detail: detail.into(), hint: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: CheckStatus::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    fn fail(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: CheckStatus::Fail, ..Self::warn(name, detail, hint) }
    }
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let checks = all_checks();
    let failed = checks.iter().filter(|check| check.status == CheckStatus::Fail).count();
    if arguments.json {
        let version = env!("CARGO_PKG_VERSION");
        let report = DoctorReport { schema_version: SCHEMA_VERSION, version, ok: failed == 0, checks: &checks };
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        checks.iter().for_each(|check| progress::data(line(check)));
    }
    match failed {
        0 => Ok(()),
        count => Err(Failure::message(ExitCode::Unsuitable, format!("{count} of {} checks failed", checks.len()))),
    }
}

fn line(check: &Check) -> String {
    let status = match check.status {
        CheckStatus::Ok => "ok  ",
        CheckStatus::Warn => "warn",
        CheckStatus::Fail => "FAIL",
    };
    let hint = check.hint.as_ref().map_or_else(String::new, |hint| format!("\n      hint: {hint}"));
    format!("{status}  {}: {}{hint}", check.name, check.detail)
}

/// What the first use of the image finds.
#[derive(Default)]
struct FoundImage {
    loaded: Option<Arc<Image>>,
    /// Why the one in the cache cannot be used, where there is one.
    damage: Option<String>,
    /// The installed archive, or why it cannot be used.
    installed: Option<Result<PathBuf, String>>,
}

impl FoundImage {
    /// Looks for it. An installed archive is read only where it is needed, because that takes seconds.
    fn find(spec: &ImageSpec) -> Self {
        let (loaded, damage) = match image::store().map(|store| store.find(spec)) {
            Ok(Ok(loaded)) => (loaded, None),
            Ok(Err(error)) => (None, Some(error.to_string())),
            Err(_) => (None, None),
        };
        let archive = image::installed_archive(spec).filter(|_| loaded.is_none());
        let installed = archive.map(|archive| image::check_installed(spec, &archive).map(|()| archive));
        Self { loaded, damage, installed }
    }

    /// Whether its next use builds it.
    fn needs_build(&self) -> bool {
        self.loaded.is_none() && !matches!(self.installed, Some(Ok(_)))
    }
}

fn all_checks() -> Vec<Check> {
    let spec = ImageSpec::python();
    let mut checks = machine_checks(&spec);
    // Looking for the image maps it, and running a program takes more: with too few addresses the process would end.
    if most_addresses().is_none_or(|most| most >= LEAST_ADDRESSES) {
        checks.extend(image_checks(&spec));
    }
    checks
}

fn machine_checks(spec: &ImageSpec) -> Vec<Check> {
    let support = HostSupport::detect();
    let processors = std::thread::available_parallelism().ok().map(usize::from);
    vec![
        Check::ok("version", format!("veriplay {}, image {}", env!("CARGO_PKG_VERSION"), spec.digest().short())),
        check_platform(std::env::consts::OS, std::env::consts::ARCH),
        check_processor(std::env::consts::ARCH, detected_cpu_level()),
        check_page_scan(support),
        check_landlock(support),
        check_seccomp(support, Path::new("/proc/self").exists()),
        check_processors(processors, machine_processors()),
        check_memory(free_memory()),
        check_addresses(most_addresses(), processors.unwrap_or(1) as u64),
    ]
}

fn image_checks(spec: &ImageSpec) -> Vec<Check> {
    let found = FoundImage::find(spec);
    let cache = check_cache(found.loaded.is_some());
    let image = if default_cache_dir().is_ok() {
        check_image(&found, cache.status != CheckStatus::Fail)
    } else {
        Check::fail("image", "none is loaded or built without a cache directory", CACHE_HINT)
    };
    let mut checks = vec![cache, image];
    checks.extend(check_own_images(&ImageSpec::names()));
    if found.needs_build() {
        checks.push(check_interpreter(spec));
    }
    checks.extend(found.loaded.map(check_worker));
    checks
}

/// Checks the manifests in the directory that `VERIPLAY_IMAGES` names; nothing where it names none.
fn check_own_images(names: &[String]) -> Option<Check> {
    let directory = std::env::var_os("VERIPLAY_IMAGES").filter(|path| !path.is_empty())?;
    // With these the images that are built in are not found either.
    if let Err(error) = ImageSpec::find(Python.image()) {
        return Some(Check::fail("own images", error.to_string(), OWN_IMAGES_HINT));
    }
    let faults: Vec<String> =
        names.iter().filter_map(|name| ImageSpec::find(name).err()).map(|error| error.to_string()).collect();
    Some(if faults.is_empty() {
        let own = names.len() - ImageSpec::builtin_names().len();
        Check::ok("own images", format!("{} in `{}`", counted(own, "manifest"), Path::new(&directory).display()))
    } else {
        Check::warn("own images", faults.join("; "), OWN_IMAGES_HINT)
    })
}

fn check_platform(system: &str, architecture: &str) -> Check {
    let detail = format!("{system} on {architecture}");
    match (system, architecture) {
        ("linux", "x86_64") => Check::ok("platform", detail),
        ("linux", "aarch64") => Check::warn(
            "platform",
            detail,
            "this architecture was not tested: see the page \"Limitations\" of the documentation",
        ),
        _ => Check::fail("platform", detail, "use Linux on x86-64"),
    }
}

fn check_processor(architecture: &str, level: Option<CpuLevel>) -> Check {
    match level {
        Some(CpuLevel::X86_64V3) => Check::ok("processor", "x86-64-v3: prebuilt images of both levels run here"),
        Some(_) => Check::ok("processor", "x86-64-v2: prebuilt images of that level run here"),
        None => Check::warn(
            "processor",
            format!("{architecture}, of no level that prebuilt images have"),
            "images are built here instead, in about a minute or two",
        ),
    }
}

fn check_page_scan(support: HostSupport) -> Check {
    match support {
        HostSupport { page_scan: true, write_tracking: true, .. } => {
            Check::ok("page scan", "the kernel lists the pages that a job has written")
        }
        HostSupport { page_scan: true, .. } => Check::warn(
            "page scan",
            "the kernel lists written pages, and userfaultfd is not allowed",
            "resets are slower; a container's seccomp profile or `vm.unprivileged_userfaultfd` may forbid it",
        ),
        _ => Check::warn(
            "page scan",
            "missing: every job gets fresh memory, which is slower",
            "use Linux 6.7 or newer, with /proc mounted",
        ),
    }
}

fn check_landlock(support: HostSupport) -> Check {
    match support.landlock {
        Some(version) => Check::ok("landlock", format!("version {version}")),
        None => Check::warn(
            "landlock",
            "missing: worker processes are held by seccomp and resource limits alone",
            "boot with `landlock` in the kernel's `lsm=` list (Linux 5.13 or newer)",
        ),
    }
}

fn check_seccomp(support: HostSupport, has_proc: bool) -> Check {
    if support.seccomp {
        return Check::ok("seccomp", "system call filters are available");
    }
    if !has_proc {
        return Check::fail("seccomp", "unknown: the kernel says it in /proc, which is not mounted", "mount /proc");
    }
    Check::fail(
        "seccomp",
        "missing: worker processes, the default of `verify` and `serve`, cannot start",
        "use a kernel with CONFIG_SECCOMP_FILTER, or `--workers thread` (`--isolation thread` of `serve`)",
    )
}

/// The processors of the machine, which the control group and the affinity mask may bound.
fn machine_processors() -> Option<usize> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    Some(text.lines().filter(|line| line.starts_with("processor")).count()).filter(|count| *count > 0)
}

fn check_processors(usable: Option<usize>, machine: Option<usize>) -> Check {
    let Some(usable) = usable else {
        return Check::warn("processors", "their number is unknown: one worker is used", "pass `--workers` to `serve`");
    };
    match machine.filter(|machine| *machine > usable) {
        Some(machine) => {
            Check::ok("processors", format!("{usable} of {machine}, by control group or affinity: as many workers"))
        }
        None => Check::ok("processors", format!("{usable}: as many workers")),
    }
}

fn check_memory(free: Option<u64>) -> Check {
    match free {
        Some(bytes) if bytes >= LEAST_MEMORY => Check::ok("memory", format!("{} free", gib(bytes))),
        Some(bytes) => Check::warn(
            "memory",
            format!("{} free, on the machine or in the control group", gib(bytes)),
            format!("a build of the image takes {}; a worker takes about 0.25 GiB", gib(LEAST_MEMORY)),
        ),
        None => Check::warn("memory", "how much is free is unknown", "mount /proc"),
    }
}

/// Split trust has two guests for a program, and further ones are made ready.
fn check_addresses(most: Option<u64>, programs: u64) -> Check {
    let wanted = LEAST_ADDRESSES + programs * (17 << 30);
    match most {
        None => Check::ok("addresses", "not limited"),
        Some(most) if most >= wanted => Check::ok("addresses", format!("{} by `ulimit -v`", gib(most))),
        Some(most) if most >= LEAST_ADDRESSES => Check::warn(
            "addresses",
            format!("{} by `ulimit -v`, and {} are wanted for {programs} programs at once", gib(most), gib(wanted)),
            ADDRESSES_HINT,
        ),
        Some(most) => Check::fail(
            "addresses",
            format!(
                "{} by `ulimit -v`, and a program takes more than {}: the rest was not checked",
                gib(most),
                gib(LEAST_ADDRESSES)
            ),
            ADDRESSES_HINT,
        ),
    }
}

fn check_cache(built: bool) -> Check {
    let Ok(dir) = default_cache_dir() else {
        return Check::fail(
            "cache",
            "VERIPLAY_CACHE is not set, and neither XDG_CACHE_HOME nor HOME is an absolute path",
            CACHE_HINT,
        );
    };
    let (shown, images) = (dir.display(), dir.join("images"));
    let found = nearest(&images);
    let unsafe_part = fs::metadata(&images)
        .is_ok_and(|meta| meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o022 != 0);
    if unsafe_part {
        let what =
            format!("`{}` belongs to another user or can be written by others: it is not used", images.display());
        return Check::fail("cache", what, "run `chmod go-w` on it if it is yours, or set VERIPLAY_CACHE");
    }
    if image::is_noexec(&images) {
        return Check::fail("cache", image::describe_noexec(&dir), image::NOEXEC_HINT);
    }
    if let Err(error) = tempfile::tempfile_in(&found) {
        let what = format!("`{shown}`: cannot write to `{}`: {error}", found.display());
        // A whole image is only read.
        return if built { Check::warn("cache", what, CACHE_HINT) } else { Check::fail("cache", what, CACHE_HINT) };
    }
    let least = if built { LEAST_REST } else { LEAST_SPACE };
    match rustix::fs::statvfs(&found).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize)) {
        Ok(free) if free < least => Check::warn(
            "cache",
            format!("`{shown}` has {} free", gib(free)),
            format!("free {} or set VERIPLAY_CACHE to a directory on another disk", gib(least)),
        ),
        Ok(free) => Check::ok("cache", format!("`{shown}`, {} free", gib(free))),
        Err(error) => Check::warn("cache", format!("`{shown}`: its free space is unknown: {error}"), CACHE_HINT),
    }
}

/// The directory, or the nearest one above it that is there.
fn nearest(dir: &Path) -> PathBuf {
    dir.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("/")).to_owned()
}

fn check_image(found: &FoundImage, has_cache: bool) -> Check {
    if found.loaded.is_some() {
        return Check::ok("image", "in the cache");
    }
    // A cached image that cannot be used is replaced by its next use, not by this command.
    let damage = found.damage.as_ref().map_or_else(String::new, |damage| format!("{damage}; "));
    let installed = match &found.installed {
        Some(Ok(archive)) => archive.display(),
        Some(Err(why)) => {
            let what = format!("{damage}{why}; the next use builds one, in about a minute on two cores");
            return Check::warn(
                "image",
                what,
                "install `veriplay-image-python` again, or run `veriplay image build` now",
            );
        }
        None => {
            let state = if damage.is_empty() { "not built: the first" } else { "the next" };
            return Check::warn(
                "image",
                format!("{damage}{state} use builds it, in about a minute on two cores"),
                "run `veriplay image build` now, `veriplay image import FILE`, or install `veriplay-image-python`",
            );
        }
    };
    match (has_cache, damage.is_empty()) {
        (true, true) => Check::ok("image", format!("imported on first use from `{installed}`")),
        (true, false) => Check::warn(
            "image",
            format!("{damage}the next use imports it from `{installed}`"),
            format!("run `veriplay image import {installed}` now"),
        ),
        (false, _) => Check::warn(
            "image",
            format!("{damage}each process unpacks `{installed}` for itself, and worker processes cannot use it"),
            "mend the cache, as its hint says",
        ),
    }
}

/// What a build of the image starts from.
fn check_interpreter(spec: &ImageSpec) -> Check {
    let hint = "download the wheel elsewhere and set VERIPLAY_WHEEL, or run `veriplay image import FILE`";
    if let Some(wheel) = std::env::var_os("VERIPLAY_WHEEL").filter(|path| !path.is_empty()).map(PathBuf::from) {
        return match fs::read(&wheel) {
            Err(error) => Check::fail("interpreter", format!("VERIPLAY_WHEEL: `{}`: {error}", wheel.display()), hint),
            Ok(bytes) if sha256(&bytes) != spec.wheel_sha256() => {
                let what = format!("VERIPLAY_WHEEL: `{}` is not the wheel that the image pins", wheel.display());
                Check::fail("interpreter", what, format!("its sha256 must be {}", spec.wheel_sha256()))
            }
            Ok(_) => Check::ok("interpreter", format!("VERIPLAY_WHEEL: `{}`", wheel.display())),
        };
    }
    let python = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match Command::new(&python).args(["-m", "pip", "--version"]).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let version = text.split(" from ").next().unwrap_or_default().trim();
            Check::ok("interpreter", format!("{version} of `{python}` downloads it (98 MB); the network was not tried"))
        }
        Ok(_) => Check::fail("interpreter", format!("`{python}` has no pip"), format!("install pip, or {hint}")),
        Err(error) => Check::fail(
            "interpreter",
            format!("cannot start `{python}`: {error}"),
            format!("install Python 3 with pip, or {hint}"),
        ),
    }
}

/// Runs a program in a worker process, which tries all of the above at once.
fn check_worker(image: Arc<Image>) -> Check {
    let hint = "`veriplay run FILE.py --workers process` shows the whole error; `--workers thread` needs no processes";
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let limits = image.default_limits();
    let job = Job { image: image.name().to_owned(), limits, ..Job::script("print(6 * 7)".to_owned()) };
    let outcome = isolation::open_sandbox(image, options, Isolation::Process)
        .map_err(|failure| failure.to_string())
        .and_then(|sandbox| sandbox.execute(&job).map_err(|error| error.to_string()));
    match outcome {
        Ok(outcome) if outcome.exit == Exit::Returned && outcome.stdout == b"42\n" => {
            Check::ok("worker process", format!("ran a program with {} fuel", outcome.fuel))
        }
        Ok(outcome) => Check::fail("worker process", format!("a program ended with {:?}", outcome.exit), hint),
        Err(error) => Check::fail("worker process", error, hint),
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: HostSupport = HostSupport { page_scan: true, write_tracking: true, landlock: Some(5), seccomp: true };

    fn status(check: &Check) -> CheckStatus {
        assert_eq!(check.hint.is_some(), check.status != CheckStatus::Ok, "{check:?}");
        check.status
    }

    #[test]
    fn what_the_kernel_lacks_is_a_warning_or_a_failure_with_a_hint() {
        use CheckStatus::{Fail, Ok, Warn};
        assert_eq!(
            [check_page_scan(ALL), check_landlock(ALL), check_seccomp(ALL, true)].each_ref().map(status),
            [Ok; 3]
        );
        let untracked = HostSupport { write_tracking: false, ..ALL };
        assert_eq!(status(&check_page_scan(untracked)), Warn);
        let old = HostSupport { page_scan: false, write_tracking: false, landlock: None, seccomp: false };
        assert_eq!(
            [check_page_scan(old), check_landlock(old), check_seccomp(old, true)].each_ref().map(status),
            [Warn, Warn, Fail]
        );
        let unknown = check_seccomp(old, false);
        assert!(status(&unknown) == Fail && unknown.hint.as_deref() == Some("mount /proc"), "{unknown:?}");
    }

    #[test]
    fn other_machines_are_told_apart() {
        use CheckStatus::{Fail, Ok, Warn};
        let platforms = [("linux", "x86_64", Ok), ("linux", "aarch64", Warn), ("macos", "aarch64", Fail)];
        for (system, architecture, expected) in platforms {
            assert_eq!(status(&check_platform(system, architecture)), expected, "{system} {architecture}");
        }
        assert_eq!(status(&check_processor("x86_64", Some(CpuLevel::X86_64V3))), Ok);
        assert_eq!(status(&check_processor("aarch64", None)), Warn);
        assert_eq!([Some(8 << 30), Some(1 << 30), None].map(|free| status(&check_memory(free))), [Ok, Warn, Warn]);
        let bounds = [None, Some(42 << 30), Some(41 << 30), Some(8 << 30), Some(7 << 30)];
        assert_eq!(bounds.map(|most| status(&check_addresses(most, 2))), [Ok, Ok, Warn, Warn, Fail]);
        assert!(check_processors(Some(2), Some(64)).detail.contains("2 of 64"));
        assert_eq!(status(&check_processors(None, None)), Warn);
    }

    #[test]
    fn an_image_that_is_not_built_says_how_long_that_takes() {
        let check = check_image(&FoundImage::default(), true);
        assert_eq!(status(&check), CheckStatus::Warn);
        assert!(check.detail.contains("about a minute") && line(&check).contains("\n      hint: "), "{check:?}");
        let installed = FoundImage { installed: Some(Ok("/usr/share/x".into())), ..FoundImage::default() };
        let states = [true, false].map(|has_cache| status(&check_image(&installed, has_cache)));
        assert_eq!(states, [CheckStatus::Ok, CheckStatus::Warn]);
        assert!(!installed.needs_build() && FoundImage::default().needs_build());
    }

    #[test]
    fn a_damaged_image_is_told_and_what_its_next_use_does() {
        let damage = Some("the cached image `x` cannot be used: it is changed".to_owned());
        let installed = [
            (None, "the next use builds it"),
            (Some(Ok("/usr/share/x".into())), "the next use imports it from `/usr/share/x`"),
            (Some(Err("the installed image cannot be used".to_owned())), "cannot be used; the next use builds one"),
        ];
        for (installed, expected) in installed {
            let check = check_image(&FoundImage { loaded: None, damage: damage.clone(), installed }, true);
            assert_eq!(status(&check), CheckStatus::Warn);
            assert!(check.detail.contains("it is changed; ") && check.detail.contains(expected), "{check:?}");
        }
        let broken = FoundImage { installed: Some(Err("no".to_owned())), ..FoundImage::default() };
        assert!(status(&check_image(&broken, true)) == CheckStatus::Warn && broken.needs_build());
    }
}
