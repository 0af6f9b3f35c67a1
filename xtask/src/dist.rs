//! `cargo xtask dist`: the files of a release. An archive with the program and what belongs beside it, the Python wheel, and checksums.
//!
//! The tools that everybody has do the work: cargo, strip, GNU tar, gzip, sha256sum, and `scripts/wheels` for the wheel. The same program
//! gives the same bytes: names are sorted, owners and modes fixed, and all times are `SOURCE_DATE_EPOCH`, or else the commit's.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, bail, ensure};
use cargo_metadata::MetadataCommand;

use crate::licenses::third_party_licenses;

/// The version of the workspace, which is this package's.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What runs and is tested here.
const NATIVE: &str = "x86_64-unknown-linux-gnu";
/// What is only cross-built.
const CROSS: &str = "aarch64-unknown-linux-gnu";
/// The prefix of the tools that link for it.
const CROSS_TOOLS: &str = "aarch64-linux-gnu-";
/// Files of the repository that are in every archive.
const DOCUMENTS: [&str; 3] = ["LICENSE", "README.md", "CHANGELOG.md"];
/// Shells, and the names under which they look for completions.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "veriplay"),
    ("zsh", "_veriplay"),
    ("fish", "veriplay.fish"),
    ("elvish", "veriplay.elv"),
    ("powershell", "veriplay.ps1"),
];
/// The list of the licences of dependencies, in the archive and in the wheel.
const LICENSES: &str = "THIRD-PARTY-LICENSES.txt";

/// Makes the files of a release in `out`, by default `dist` in the target directory. With `binary`, that program is packed and nothing is built.
///
/// # Errors
/// Where a tool is missing or fails, or where the program has another version than the workspace.
pub fn run(root: &Path, binary: Option<&Path>, out: Option<&Path>) -> anyhow::Result<()> {
    let out = out.map_or_else(|| Ok(target_directory(root)?.join("dist")), |out| anyhow::Ok(out.to_owned()))?;
    fs::create_dir_all(&out).with_context(|| format!("cannot make `{}`", out.display()))?;
    let out = out.canonicalize()?;
    let staging = out.join(".staging");
    remove(&staging)?;
    let mut made = release(&Release { root, staging: &staging, out: &out }, binary)?;
    remove(&staging)?;
    made.sort();
    let names = made.iter().filter_map(|path| path.file_name());
    let sums = output(Command::new("sha256sum").arg("--").args(names).current_dir(&out))?;
    fs::write(out.join("SHA256SUMS"), &sums).context("cannot write `SHA256SUMS`")?;
    std::io::stdout().write_all(&sums)?;
    Ok(())
}

/// A release in the making.
struct Release<'a> {
    root: &'a Path,
    /// Where the folders that become archives are put together.
    staging: &'a Path,
    out: &'a Path,
}

/// Makes the archives and the wheel.
fn release(release: &Release<'_>, binary: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
    let built = match binary {
        Some(program) => program.canonicalize().with_context(|| format!("cannot find `{}`", program.display()))?,
        None => build(release.root, None)?,
    };
    let native = release.assemble(NATIVE, "", &built, &built, "strip")?;
    let mut made = vec![release.pack(&native)?, release.make_wheel(&native)?];
    match (binary, missing_cross_tools()) {
        (Some(_), _) => say(format!("{CROSS}: skipped, because --binary packs one program that is there")),
        (None, Some(reason)) => say(format!("{CROSS}: skipped, because {reason}")),
        (None, None) => {
            let cross = build(release.root, Some(CROSS))?;
            // Its completions and pages are those of the program that runs here.
            let cross = release.assemble(CROSS, "-untested", &cross, &built, &format!("{CROSS_TOOLS}strip"))?;
            made.push(release.pack(&cross)?);
            say(format!("{CROSS}: cross-built, and NOT tested"));
        }
    }
    Ok(made)
}

impl Release<'_> {
    /// Puts together the folder of an archive. `program` is packed; `native` is the same for this machine, and is run.
    fn assemble(
        &self,
        target: &str,
        mark: &str,
        program: &Path,
        native: &Path,
        strip: &str,
    ) -> anyhow::Result<PathBuf> {
        let said = String::from_utf8(output(Command::new(native).arg("--version"))?)?;
        let version = said.split_whitespace().nth(1).unwrap_or_default();
        ensure!(version == VERSION, "`{}` is version `{version}`, and the workspace is `{VERSION}`", native.display());
        let folder = self.staging.join(format!("veriplay-{VERSION}-{target}{mark}"));
        let (completions, manual) = (folder.join("completions"), folder.join("man/man1"));
        fs::create_dir_all(&completions)?;
        fs::create_dir_all(&manual)?;
        let packed = folder.join("veriplay");
        fs::copy(program, &packed).with_context(|| format!("cannot copy `{}`", program.display()))?;
        output(Command::new(strip).arg(&packed))?;
        for name in DOCUMENTS {
            fs::copy(self.root.join(name), folder.join(name)).with_context(|| format!("cannot copy `{name}`"))?;
        }
        fs::write(folder.join(LICENSES), third_party_licenses(self.root, "veriplay", target)?)?;
        for (shell, name) in COMPLETIONS {
            fs::write(completions.join(name), output(Command::new(native).args(["completions", shell]))?)?;
        }
        output(Command::new(native).args(["man", "--out"]).arg(&manual))?;
        Ok(folder)
    }

    fn pack(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let name = folder.file_name().context("a folder has a name")?.to_string_lossy();
        let archive = self.out.join(format!("{name}.tar.gz"));
        pack(folder, &archive, &source_date(self.root)?)?;
        Ok(archive)
    }

    fn make_wheel(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let mut command = Command::new("python3");
        command.arg(self.root.join("scripts/wheels")).args(["build", "--binary"]).arg(folder.join("veriplay"));
        command.arg("--licenses").arg(folder.join(LICENSES)).arg("--out").arg(self.out);
        Ok(PathBuf::from(String::from_utf8(output(&mut command)?)?.trim()))
    }
}

/// Builds the program for this machine, or for another target. The path of the program.
fn build(root: &Path, target: Option<&str>) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--locked", "--bin", "veriplay"]).current_dir(root);
    if let Some(target) = target {
        let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
        command.args(["--target", target]).env(linker, format!("{CROSS_TOOLS}gcc"));
    }
    output(&mut command)?;
    let folder = target.map_or_else(PathBuf::new, PathBuf::from).join("release");
    Ok(target_directory(root)?.join(folder).join("veriplay"))
}

fn target_directory(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Why nothing can be cross-built here; `None` where it can.
fn missing_cross_tools() -> Option<String> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"])).ok();
    let sysroot = sysroot.and_then(|path| String::from_utf8(path).ok()).unwrap_or_default();
    if !Path::new(sysroot.trim()).join("lib/rustlib").join(CROSS).is_dir() {
        return Some(format!("Rust's libraries for it are missing: `rustup target add {CROSS}`"));
    }
    let tools = ["gcc", "strip"].map(|tool| format!("{CROSS_TOOLS}{tool}"));
    let missing = tools.iter().find(|tool| output(Command::new(tool).arg("--version")).is_err());
    missing.map(|tool| format!("`{tool}` is missing: install the cross compiler and its binutils"))
}

/// Packs a folder so that the same files give the same bytes.
fn pack(folder: &Path, archive: &Path, epoch: &str) -> anyhow::Result<()> {
    let (parent, name) = (folder.parent(), folder.file_name());
    let (parent, name) = parent.zip(name).context("an archive is of a folder with a name")?;
    let mut command = Command::new("tar");
    command.args(["--create", "--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    command.args(["--mode=u=rwX,go=rX", "--use-compress-program=gzip -9n"]);
    command.arg(format!("--mtime=@{epoch}")).arg("--file").arg(archive).arg("--directory").arg(parent).arg(name);
    output(&mut command).map(drop)
}

/// The time of all files of a release, in seconds since 1970.
fn source_date(root: &Path) -> anyhow::Result<String> {
    let text = match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => {
            String::from_utf8(output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?)?
        }
    };
    let seconds = text.trim();
    ensure!(seconds.parse::<u64>().is_ok(), "`{seconds}` is no time in seconds: check SOURCE_DATE_EPOCH");
    Ok(seconds.to_owned())
}

/// What a command prints on stdout. Its stderr is ours.
fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let shown = command.get_args().map(OsStr::to_string_lossy).fold(shown, |all, one| all + " " + &one);
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let done = done.with_context(|| format!("cannot run `{shown}`"))?;
    if !done.status.success() {
        bail!("`{shown}` failed: {}", done.status);
    }
    Ok(done.stdout)
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", folder.display()))
        }
        _ => Ok(()),
    }
}

fn say(line: String) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::{output, pack};

    #[test]
    fn the_same_files_make_the_same_archive_whatever_their_order_times_and_modes() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let make = |copy: &str, names: [&str; 2], mode: u32| {
            let folder = dir.path().join(copy).join("veriplay-1");
            fs::create_dir_all(folder.join("man")).expect("a folder");
            for name in names {
                fs::write(folder.join(name), name).expect("a file");
                let times = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
                let file = fs::File::options().write(true).open(folder.join(name)).expect("the file");
                if mode == 0o600 {
                    file.set_times(times).expect("times are set");
                }
                fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).expect("modes are set");
            }
            let archive = dir.path().join(format!("{copy}.tar.gz"));
            pack(&folder, &archive, "1700000000").expect("it is packed");
            archive
        };
        let (one, other) = (make("one", ["b", "man/a"], 0o664), make("other", ["man/a", "b"], 0o600));
        assert_eq!(fs::read(&one).expect("readable"), fs::read(other).expect("readable"));
        let listing = output(Command::new("tar").args(["--list", "--verbose", "--utc", "--file"]).arg(one));
        let listing = String::from_utf8(listing.expect("it is an archive")).expect("it is text");
        let names: Vec<&str> = listing.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(names, ["veriplay-1/", "veriplay-1/b", "veriplay-1/man/", "veriplay-1/man/a"]);
        assert!(listing.lines().all(|line| line.contains("0/0") && line.contains("2023-11-14 22:13")), "{listing}");
    }
}
