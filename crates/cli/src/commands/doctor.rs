//! `veriplay doctor`: whether this machine has what Veriplay needs, line by line, with a hint wherever something is missing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::free_memory::{ADDRESSES_HINT, LEAST_ADDRESSES, free_memory, gib, most_addresses};
use veriplay_console::image;
use veriplay_console::isolation::{self, Isolation};
use veriplay_console::progress::counted;
use veriplay_core::{Execute, Exit, Job, Language};
use veriplay_python::Python;
use veriplay_repository::pip::hash_sha256;
use veriplay_sandbox::{
    CpuLevel, HostSupport, Image, ImageSpec, SandboxOptions, default_cache_dir, detected_cpu_level,
};

use super::print;

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    status: CheckStatus,
    detail: String,
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    #[serde(flatten)]
    finding: Finding,
}

#[derive(Serialize)]
struct DoctorReport<'a> {
    schema_version: u32,
    version: &'static str,
    /// Whether nothing failed.
    ok: bool,
    checks: &'a [Check],
}

fn ok(detail: impl Into<String>) -> Finding {
    Finding { status: CheckStatus::Ok, detail: detail.into(), hint: None }
}

fn warn(detail: impl Into<String>, hint: impl Into<String>) -> Finding {
    Finding { status: CheckStatus::Warn, detail: detail.into(), hint: Some(hint.into()) }
}

fn fail(detail: impl Into<String>, hint: impl Into<String>) -> Finding {
    Finding { status: CheckStatus::Fail, ..warn(detail, hint) }
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let spec = ImageSpec::python();
    let mut findings = machine_findings(&spec);
    // Looking for the image maps it, and running a program takes more: with too few addresses the process would end.
    if most_addresses().is_none_or(|most| most >= LEAST_ADDRESSES) {
        findings.extend(image_findings(&spec));
    }
    let checks: Vec<Check> = findings.into_iter().map(|(name, finding)| Check { name, finding }).collect();
    let failed = checks.iter().filter(|check| check.finding.status == CheckStatus::Fail).count();
    let version = env!("CARGO_PKG_VERSION");
    let report = DoctorReport { schema_version: SCHEMA_VERSION, version, ok: failed == 0, checks: &checks };
    print(&report, arguments.json, || checks.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    match failed {
        0 => Ok(()),
        count => Err(Failure::message(ExitCode::Unsuitable, format!("{count} of {} checks failed", checks.len()))),
    }
}

fn line(Check { name, finding }: &Check) -> String {
    let status = match finding.status {
        CheckStatus::Ok => "ok  ",
        CheckStatus::Warn => "warn",
        CheckStatus::Fail => "FAIL",
    };
    let hint = finding.hint.as_ref().map_or_else(String::new, |hint| format!("\n      hint: {hint}"));
    format!("{status}  {name}: {}{hint}", finding.detail)
}

/// What the first use of the image finds.
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

fn machine_findings(spec: &ImageSpec) -> Vec<(&'static str, Finding)> {
    let support = HostSupport::detect();
    let processors = std::thread::available_parallelism().ok().map(usize::from);
    vec![
        ("version", ok(format!("veriplay {}, image {}", env!("CARGO_PKG_VERSION"), spec.digest().short()))),
        ("platform", check_platform(std::env::consts::OS, std::env::consts::ARCH)),
        ("processor", check_processor(std::env::consts::ARCH, detected_cpu_level())),
        ("page scan", check_page_scan(support)),
        ("landlock", check_landlock(support)),
        ("seccomp", check_seccomp(support, Path::new("/proc/self").exists())),
        ("processors", check_processors(processors, machine_processors())),
        ("memory", check_memory(free_memory())),
        ("addresses", check_addresses(most_addresses(), processors.unwrap_or(1) as u64)),
    ]
}

fn image_findings(spec: &ImageSpec) -> Vec<(&'static str, Finding)> {
    let found = FoundImage::find(spec);
    let cache = check_cache(found.loaded.is_some());
    let image = match default_cache_dir() {
        Ok(_) => check_image(&found, cache.status != CheckStatus::Fail),
        Err(_) => fail("none is loaded or built without a cache directory", CACHE_HINT),
    };
    let mut findings = vec![("cache", cache), ("image", image)];
    findings.extend(check_own_images(&ImageSpec::names()).map(|finding| ("own images", finding)));
    if let Ok(store) = image::store() {
        let found = store.find_toolchain().map(|found| found.is_some());
        findings.push(("C and C++", check_toolchain(found.map_err(|error| error.to_string()), &store.toolchain_dir())));
    }
    if found.needs_build() {
        findings.push(("interpreter", check_interpreter(spec)));
    }
    findings.extend(found.loaded.map(|image| ("worker process", check_worker(image))));
    findings
}

/// Checks the manifests in the directory that `VERIPLAY_IMAGES` names; nothing where it names none.
fn check_own_images(names: &[String]) -> Option<Finding> {
    let directory = std::env::var_os("VERIPLAY_IMAGES").filter(|path| !path.is_empty())?;
    // With these the images that are built in are not found either.
    if let Err(error) = ImageSpec::find(Python.image()) {
        return Some(fail(error.to_string(), OWN_IMAGES_HINT));
    }
    let faults: Vec<String> =
        names.iter().filter_map(|name| ImageSpec::find(name).err()).map(|error| error.to_string()).collect();
    Some(if faults.is_empty() {
        let own = names.len() - ImageSpec::builtin_names().len();
        ok(format!("{} in `{}`", counted(own, "manifest"), Path::new(&directory).display()))
    } else {
        warn(faults.join("; "), OWN_IMAGES_HINT)
    })
}

fn check_platform(system: &str, architecture: &str) -> Finding {
    let detail = format!("{system} on {architecture}");
    match (system, architecture) {
        ("linux", "x86_64") => ok(detail),
        ("linux", "aarch64") => {
            warn(detail, "this architecture was not tested: see the page \"Limitations\" of the documentation")
        }
        _ => fail(detail, "use Linux on x86-64"),
    }
}

fn check_processor(architecture: &str, level: Option<CpuLevel>) -> Finding {
    match level {
        Some(CpuLevel::X86_64V3) => ok("x86-64-v3: prebuilt images of both levels run here"),
        Some(_) => ok("x86-64-v2: prebuilt images of that level run here"),
        None => warn(
            format!("{architecture}, of no level that prebuilt images have"),
            "images are built here instead, in about a minute or two",
        ),
    }
}

fn check_page_scan(support: HostSupport) -> Finding {
    match support {
        HostSupport { page_scan: true, write_tracking: true, .. } => {
            ok("the kernel lists the pages that a job has written")
        }
        HostSupport { page_scan: true, .. } => warn(
            "the kernel lists written pages, and userfaultfd is not allowed",
            "resets are slower; a container's seccomp profile or `vm.unprivileged_userfaultfd` may forbid it",
        ),
        _ => {
            warn("missing: every job gets fresh memory, which is slower", "use Linux 6.7 or newer, with /proc mounted")
        }
    }
}

fn check_landlock(support: HostSupport) -> Finding {
    match support.landlock {
        Some(version) => ok(format!("version {version}")),
        None => warn(
            "missing: worker processes are held by seccomp and resource limits alone",
            "boot with `landlock` in the kernel's `lsm=` list (Linux 5.13 or newer)",
        ),
    }
}

fn check_seccomp(support: HostSupport, has_proc: bool) -> Finding {
    if support.seccomp {
        return ok("system call filters are available");
    }
    if !has_proc {
        return fail("unknown: the kernel says it in /proc, which is not mounted", "mount /proc");
    }
    fail(
        "missing: worker processes, the default of `verify` and `serve`, cannot start",
        "use a kernel with CONFIG_SECCOMP_FILTER, or `--workers thread` (`--isolation thread` of `serve`)",
    )
}

/// The processors of the machine, which the control group and the affinity mask may bound.
fn machine_processors() -> Option<usize> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    Some(text.lines().filter(|line| line.starts_with("processor")).count()).filter(|count| *count > 0)
}

fn check_processors(usable: Option<usize>, machine: Option<usize>) -> Finding {
    let Some(usable) = usable else {
        return warn("their number is unknown: one worker is used", "pass `--workers` to `serve`");
    };
    match machine.filter(|machine| *machine > usable) {
        Some(machine) => ok(format!("{usable} of {machine}, by control group or affinity: as many workers")),
        None => ok(format!("{usable}: as many workers")),
    }
}

fn check_memory(free: Option<u64>) -> Finding {
    match free {
        Some(bytes) if bytes >= LEAST_MEMORY => ok(format!("{} free", gib(bytes))),
        Some(bytes) => warn(
            format!("{} free, on the machine or in the control group", gib(bytes)),
            format!("a build of the image takes {}; a worker takes about 0.25 GiB", gib(LEAST_MEMORY)),
        ),
        None => warn("how much is free is unknown", "mount /proc"),
    }
}

/// Split trust has two guests for a program, and further ones are made ready.
fn check_addresses(most: Option<u64>, programs: u64) -> Finding {
    let wanted = LEAST_ADDRESSES + programs * (17 << 30);
    match most {
        None => ok("not limited"),
        Some(most) if most >= wanted => ok(format!("{} by `ulimit -v`", gib(most))),
        Some(most) if most >= LEAST_ADDRESSES => warn(
            format!("{} by `ulimit -v`, and {} are wanted for {programs} programs at once", gib(most), gib(wanted)),
            ADDRESSES_HINT,
        ),
        Some(most) => fail(
            format!(
                "{} by `ulimit -v`, and a program takes more than {}: the rest was not checked",
                gib(most),
                gib(LEAST_ADDRESSES)
            ),
            ADDRESSES_HINT,
        ),
    }
}

fn check_cache(built: bool) -> Finding {
    let Ok(dir) = default_cache_dir() else {
        return fail("VERIPLAY_CACHE is not set, and neither XDG_CACHE_HOME nor HOME is an absolute path", CACHE_HINT);
    };
    let (shown, images) = (dir.display(), dir.join("images"));
    let found = nearest(&images);
    let unsafe_part = fs::metadata(&images)
        .is_ok_and(|meta| meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o022 != 0);
    if unsafe_part {
        let what =
            format!("`{}` belongs to another user or can be written by others: it is not used", images.display());
        return fail(what, "run `chmod go-w` on it if it is yours, or set VERIPLAY_CACHE");
    }
    if image::is_noexec(&images) {
        return fail(image::describe_noexec(&dir), image::NOEXEC_HINT);
    }
    if let Err(error) = tempfile::tempfile_in(&found) {
        let what = format!("`{shown}`: cannot write to `{}`: {error}", found.display());
        // A whole image is only read.
        return if built { warn(what, CACHE_HINT) } else { fail(what, CACHE_HINT) };
    }
    let least = if built { LEAST_REST } else { LEAST_SPACE };
    match rustix::fs::statvfs(&found).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize)) {
        Ok(free) if free < least => warn(
            format!("`{shown}` has {} free", gib(free)),
            format!("free {} or set VERIPLAY_CACHE to a directory on another disk", gib(least)),
        ),
        Ok(free) => ok(format!("`{shown}`, {} free", gib(free))),
        Err(error) => warn(format!("`{shown}`: its free space is unknown: {error}"), CACHE_HINT),
    }
}

/// The directory, or the nearest one above it that is there.
fn nearest(dir: &Path) -> PathBuf {
    dir.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("/")).to_owned()
}

fn check_image(found: &FoundImage, has_cache: bool) -> Finding {
    if found.loaded.is_some() {
        return ok("in the cache");
    }
    // A cached image that cannot be used is replaced by its next use, not by this command.
    let damage = found.damage.as_ref().map_or_else(String::new, |damage| format!("{damage}; "));
    let installed = match &found.installed {
        Some(Ok(archive)) => archive.display(),
        Some(Err(why)) => {
            let what = format!("{damage}{why}; the next use builds one, in about a minute on two cores");
            return warn(what, "install `veriplay-image-python` again, or run `veriplay image build` now");
        }
        None => {
            let state = if damage.is_empty() { "not built: the first" } else { "the next" };
            return warn(
                format!("{damage}{state} use builds it, in about a minute on two cores"),
                "run `veriplay image build` now, `veriplay image import FILE`, or install `veriplay-image-python`",
            );
        }
    };
    match (has_cache, damage.is_empty()) {
        (true, true) => ok(format!("imported on first use from `{installed}`")),
        (true, false) => warn(
            format!("{damage}the next use imports it from `{installed}`"),
            format!("run `veriplay image import {installed}` now"),
        ),
        (false, _) => warn(
            format!("{damage}each process unpacks `{installed}` for itself, and worker processes cannot use it"),
            "mend the cache, as its hint says",
        ),
    }
}

/// The compiler is for those who want it, so that it may be missing.
fn check_toolchain(found: Result<bool, String>, dir: &Path) -> Finding {
    match found {
        Ok(true) => ok(format!("the toolchain is in `{}`", dir.display())),
        Ok(false) => ok(
            "no toolchain: the first program in C++ or C builds it by npm in some minutes, or `veriplay image build cpp` now",
        ),
        Err(damage) => warn(format!("{damage}; the next use builds it"), "run `veriplay image build cpp` now"),
    }
}

/// What a build of the image starts from.
fn check_interpreter(spec: &ImageSpec) -> Finding {
    let hint = "download the wheel elsewhere and set VERIPLAY_WHEEL, or run `veriplay image import FILE`";
    if let Some(wheel) = std::env::var_os("VERIPLAY_WHEEL").filter(|path| !path.is_empty()).map(PathBuf::from) {
        return match fs::read(&wheel) {
            Err(error) => fail(format!("VERIPLAY_WHEEL: `{}`: {error}", wheel.display()), hint),
            Ok(bytes) if hash_sha256(&bytes) != spec.wheel_sha256() => {
                let what = format!("VERIPLAY_WHEEL: `{}` is not the wheel that the image pins", wheel.display());
                fail(what, format!("its sha256 must be {}", spec.wheel_sha256()))
            }
            Ok(_) => ok(format!("VERIPLAY_WHEEL: `{}`", wheel.display())),
        };
    }
    let python = std::env::var("VERIPLAY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match Command::new(&python).args(["-m", "pip", "--version"]).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let version = text.split(" from ").next().unwrap_or_default().trim();
            ok(format!("{version} of `{python}` downloads it (98 MB); the network was not tried"))
        }
        Ok(_) => fail(format!("`{python}` has no pip"), format!("install pip, or {hint}")),
        Err(error) => {
            fail(format!("cannot start `{python}`: {error}"), format!("install Python 3 with pip, or {hint}"))
        }
    }
}

/// Runs a program in a worker process, which tries all of the above at once.
fn check_worker(image: Arc<Image>) -> Finding {
    let hint = "`veriplay run FILE.py --workers process` shows the whole error; `--workers thread` needs no processes";
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let limits = image.default_limits();
    let job = Job { image: image.name().to_owned(), limits, ..Job::script("print(6 * 7)".to_owned()) };
    let outcome = isolation::open_sandbox(image, options, Isolation::Process)
        .map_err(|failure| failure.to_string())
        .and_then(|sandbox| sandbox.execute(&job).map_err(|error| error.to_string()));
    match outcome {
        Ok(outcome) if outcome.exit == Exit::Returned && outcome.stdout == b"42\n" => {
            ok(format!("ran a program with {} fuel", outcome.fuel))
        }
        Ok(outcome) => fail(format!("a program ended with {:?}", outcome.exit), hint),
        Err(error) => fail(error, hint),
    }
}

#[cfg(test)]
mod tests {
    use super::CheckStatus::{Fail, Ok as Fine, Warn};
    use super::*;

    const ALL: HostSupport = HostSupport { page_scan: true, write_tracking: true, landlock: Some(5), seccomp: true };

    fn status(finding: Finding) -> CheckStatus {
        assert_eq!(finding.hint.is_some(), finding.status != Fine, "{finding:?}");
        finding.status
    }

    #[test]
    fn what_the_kernel_lacks_is_a_warning_or_a_failure_with_a_hint() {
        let found =
            |support| [check_page_scan(support), check_landlock(support), check_seccomp(support, true)].map(status);
        let old = HostSupport { page_scan: false, write_tracking: false, landlock: None, seccomp: false };
        assert_eq!((found(ALL), found(old)), ([Fine; 3], [Warn, Warn, Fail]));
        assert_eq!(status(check_page_scan(HostSupport { write_tracking: false, ..ALL })), Warn);
        assert_eq!(check_seccomp(old, false).hint.as_deref(), Some("mount /proc"));
    }

    #[test]
    fn other_machines_are_told_apart() {
        let platforms = [("linux", "x86_64"), ("linux", "aarch64"), ("macos", "aarch64")];
        assert_eq!(platforms.map(|(system, of)| status(check_platform(system, of))), [Fine, Warn, Fail]);
        let levels = [Some(CpuLevel::X86_64V3), None].map(|level| status(check_processor("x86_64", level)));
        assert_eq!(levels, [Fine, Warn]);
        assert_eq!([Some(8 << 30), Some(1 << 30), None].map(|free| status(check_memory(free))), [Fine, Warn, Warn]);
        let bounds = [None, Some(42 << 30), Some(41 << 30), Some(8 << 30), Some(7 << 30)];
        assert_eq!(bounds.map(|most| status(check_addresses(most, 2))), [Fine, Fine, Warn, Warn, Fail]);
        assert!(check_processors(Some(2), Some(64)).detail.contains("2 of 64"));
        assert_eq!(status(check_processors(None, None)), Warn);
    }

    #[test]
    fn a_toolchain_may_be_missing_and_must_not_be_damaged() {
        let dir = Path::new("/cache/images/cpp-code-x");
        for (found, wanted, detail) in [
            (Ok(true), Fine, "the toolchain is in `/cache/images/cpp-code-x`"),
            (Ok(false), Fine, "`veriplay image build cpp`"),
            (Err("it is changed".to_owned()), Warn, "it is changed; the next use builds it"),
        ] {
            let finding = check_toolchain(found, dir);
            assert!(finding.detail.contains(detail), "{finding:?}");
            assert_eq!(status(finding), wanted, "{detail}");
        }
    }

    #[test]
    fn an_image_that_is_not_loaded_says_what_its_next_use_does() {
        let archive = || Some(Ok("/usr/share/x".into()));
        let broken = || Some(Err("it is broken".to_owned()));
        let damage = Some("the cached image `x` cannot be used: it is changed".to_owned());
        for (damage, installed, has_cache, wanted, detail) in [
            (None, None, true, Warn, "not built: the first use builds it, in about a minute"),
            (None, archive(), true, Fine, "imported on first use from `/usr/share/x`"),
            (None, archive(), false, Warn, "each process unpacks `/usr/share/x` for itself"),
            (damage.clone(), None, true, Warn, "it is changed; the next use builds it"),
            (damage.clone(), archive(), true, Warn, "it is changed; the next use imports it from `/usr/share/x`"),
            (damage, broken(), true, Warn, "it is changed; it is broken; the next use builds one"),
        ] {
            let is_whole = matches!(installed, Some(Ok(_)));
            let found = FoundImage { loaded: None, damage, installed };
            let finding = check_image(&found, has_cache);
            assert!(finding.detail.contains(detail) && found.needs_build() != is_whole, "{finding:?}");
            assert_eq!(status(finding), wanted, "{detail}");
        }
    }
}
