//! An image as one archive, for machines that cannot build it.
//!
//! The archive is a tar file of five members in one fixed order, so that `tar tf` lists it. It is not read as a tar file: every byte outside
//! the members' contents must be the byte that [`write_archive`] writes for a member of that name and size. So there are no paths to follow,
//! no links, no other kinds of members and no sizes but those of the first member, which are bounded. All of it is read and checked in memory
//! before the cache is touched.
//!
//! The digests find damage, not malice: whoever makes an archive can compute them. The native code in it runs with the rights of this
//! process, so importing an archive is trusting its maker.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use veriplay_core::Digest;

use super::cache::{LIBRARY, MEMORY, MODULE, ManifestEntry};
use super::engine::{self, CpuLevel};
use super::spec::{ENGINE_VERSION, ImageSpec};
use super::{ImageError, cpu};
use crate::exports::GlobalState;

const HEADER: &str = "image.json";
const STATE: &str = "state.json";
/// The other members, each with the most bytes it may have: some times what the Python image has.
const MEMBERS: [(&str, u64); 4] = [(MODULE, 1 << 30), (LIBRARY, 256 << 20), (MEMORY, 1 << 30), (STATE, 1 << 20)];
const MAX_HEADER: u64 = 64 << 10;
const FORMAT: u32 = 1;
/// Tar's unit.
const BLOCK: usize = 512;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchiveHeader {
    format: u32,
    /// The image's name and digest.
    image: String,
    digest: String,
    wasmtime: String,
    /// The processor's architecture and the system.
    target: String,
    /// Features of the processor that the code may use.
    cpu: Vec<String>,
    /// The engine's configuration, without the features of the processor.
    engine: String,
    files: Vec<ManifestEntry>,
}

/// What an archive is of.
pub(super) struct ArchiveSubject {
    pub(super) name: String,
    pub(super) digest: Digest,
}

impl ArchiveSubject {
    pub(super) fn of(spec: &ImageSpec) -> Self {
        Self { name: spec.name().to_owned(), digest: spec.digest() }
    }
}

/// All that is read of a header before its version is known.
#[derive(Deserialize)]
struct ArchiveVersion {
    format: u32,
}

/// An archive that was read to its end and fits this program and this machine. Nothing of it was used yet.
pub struct ImageArchive {
    pub(super) module: Vec<u8>,
    pub(super) library: Vec<u8>,
    pub(super) memory: Vec<u8>,
    pub(super) state: GlobalState,
}

impl ImageArchive {
    /// Reads an archive that [`ImageStore::export`](super::ImageStore::export) wrote, to its end. Every digest is checked, and nothing is
    /// loaded.
    ///
    /// # Errors
    /// When it is damaged, or is of another image, version or kind of machine.
    pub fn read(spec: &ImageSpec, from: &mut dyn Read) -> Result<Self, ImageError> {
        Self::read_subject(&ArchiveSubject::of(spec), from)
    }

    pub(super) fn read_subject(subject: &ArchiveSubject, from: &mut dyn Read) -> Result<Self, ImageError> {
        let mut reader = ArchiveReader { from };
        let header = parse_header(&reader.header()?)?;
        check_fit(&header, subject, &cpu::features(CpuLevel::Native), &config_digest()?)?;
        check_members(&header)?;
        let mut contents = header.files.iter().map(|entry| reader.member(entry)).collect::<Result<Vec<_>, _>>()?;
        reader.end()?;
        let mut next = || contents.remove(0);
        let (module, library, memory, state) = (next(), next(), next(), next());
        let state = serde_json::from_slice(&state).map_err(|error| damaged(format!("`{STATE}`: {error}")))?;
        Ok(Self { module, library, memory, state })
    }
}

impl std::fmt::Debug for ImageArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageArchive").field("module_bytes", &self.module.len()).finish_non_exhaustive()
    }
}

pub(super) fn write_archive(
    out: &mut dyn Write,
    subject: &ArchiveSubject,
    cpu: CpuLevel,
    archive: &ImageArchive,
) -> Result<(), ImageError> {
    let state = serde_json::to_vec(&archive.state).expect("a state has string keys only");
    let contents: [&[u8]; 4] = [&archive.module, &archive.library, &archive.memory, &state];
    let entries = MEMBERS.iter().zip(contents);
    let header = ArchiveHeader {
        format: FORMAT,
        image: subject.name.clone(),
        digest: subject.digest.as_str().to_owned(),
        wasmtime: ENGINE_VERSION.to_owned(),
        target: target(),
        cpu: cpu::features(cpu).into_iter().map(str::to_owned).collect(),
        engine: config_digest()?,
        files: entries.clone().map(|((name, _), bytes)| ManifestEntry::of(name, bytes)).collect(),
    };
    // In one line: every byte of it means something.
    let header = serde_json::to_vec(&header).expect("a header has string keys only");
    let members = [(HEADER, &header[..])].into_iter().chain(entries.map(|((name, _), bytes)| (*name, bytes)));
    let write = || -> io::Result<()> {
        for (name, bytes) in members {
            out.write_all(&member_block(name, bytes.len() as u64))?;
            out.write_all(bytes)?;
            out.write_all(&[0; BLOCK][..padding(bytes.len())])?;
        }
        out.write_all(&[0; 2 * BLOCK])
    };
    write().map_err(|cause| ImageError::ArchiveWrite { cause })
}

fn parse_header(text: &[u8]) -> Result<ArchiveHeader, ImageError> {
    let fail = |error: serde_json::Error| damaged(format!("`{HEADER}`: {error}"));
    let ArchiveVersion { format } = serde_json::from_slice(text).map_err(fail)?;
    if format != FORMAT {
        return Err(mismatch("layout", format.to_string(), FORMAT.to_string(), SAME_VERSION));
    }
    serde_json::from_slice(text).map_err(fail)
}

const SAME_VERSION: &str = "export it with this version of veriplay, or install the version that exported it";
const SAME_CONTENT: &str = "export it with this version of veriplay and, if the image is your own, by the manifest that is in VERIPLAY_IMAGES here";
const SAME_MACHINE: &str = "export it on a machine of this kind, or run `veriplay image build` here";
const LESSER_CPU: &str =
    "export it with `--cpu x86-64-v3` or `--cpu x86-64-v2`, for processors of many kinds, or on a machine of this kind";

/// Compares what the archive was made by and for with this program and this machine, the most telling difference first.
fn check_fit(
    header: &ArchiveHeader,
    subject: &ArchiveSubject,
    detected: &[&str],
    config_digest: &str,
) -> Result<(), ImageError> {
    let (target, version) = (target(), ENGINE_VERSION);
    let rows = [
        ("image", &header.image[..], &subject.name[..], "name the image that it holds with `--image`"),
        ("wasmtime version", &header.wasmtime, version, SAME_VERSION),
        ("image digest", &header.digest, subject.digest.as_str(), SAME_CONTENT),
        ("platform", &header.target, &target, SAME_MACHINE),
    ];
    for (what, found, expected, hint) in rows {
        if found != expected {
            return Err(mismatch(what, found.to_owned(), expected.to_owned(), hint));
        }
    }
    let lacking: Vec<&str> =
        header.cpu.iter().map(String::as_str).filter(|feature| !detected.contains(feature)).collect();
    if !lacking.is_empty() {
        return Err(ImageError::ArchiveCpu { features: lacking.join(", "), hint: LESSER_CPU });
    }
    if header.engine != config_digest {
        return Err(mismatch("engine configuration", header.engine.clone(), config_digest.to_owned(), SAME_VERSION));
    }
    Ok(())
}

fn check_members(header: &ArchiveHeader) -> Result<(), ImageError> {
    let names = header.files.iter().map(|entry| &entry.name[..]);
    if !names.eq(MEMBERS.iter().map(|(name, _)| *name)) {
        return Err(damaged(format!("`{HEADER}` does not list the members of an image")));
    }
    match header.files.iter().zip(MEMBERS).find(|(entry, (_, most))| entry.bytes > *most) {
        Some((entry, (name, most))) => {
            Err(damaged(format!("`{name}` has {} bytes, and may have {most} at most", entry.bytes)))
        }
        None => Ok(()),
    }
}

struct ArchiveReader<'a> {
    from: &'a mut dyn Read,
}

impl ArchiveReader<'_> {
    fn header(&mut self) -> Result<Vec<u8>, ImageError> {
        let block = self.block(HEADER)?;
        let bytes = member_size(&block).filter(|bytes| *bytes <= MAX_HEADER && block == member_block(HEADER, *bytes));
        let bytes = bytes.ok_or_else(|| damaged("it is no archive of `veriplay image export`"))?;
        self.content(HEADER, bytes)
    }

    fn member(&mut self, entry: &ManifestEntry) -> Result<Vec<u8>, ImageError> {
        if self.block(&entry.name)? != member_block(&entry.name, entry.bytes) {
            return Err(damaged(format!("the entry before `{}` is changed", entry.name)));
        }
        let content = self.content(&entry.name, entry.bytes)?;
        entry.check(content.len() as u64, &blake3::hash(&content)).map_err(damaged)?;
        Ok(content)
    }

    /// The end: two empty blocks, and nothing behind.
    fn end(&mut self) -> Result<(), ImageError> {
        for _ in 0..2 {
            if self.block("its end")? != [0; BLOCK] {
                return Err(damaged("it goes on after its last member"));
            }
        }
        match self.from.read(&mut [0]).map_err(|error| read_error("its end", &error))? {
            0 => Ok(()),
            _ => Err(damaged("it goes on after its end")),
        }
    }

    fn content(&mut self, name: &str, bytes: u64) -> Result<Vec<u8>, ImageError> {
        // Memory grows with what arrives, not with what was announced.
        let mut content = Vec::new();
        let read = (&mut *self.from).take(bytes).read_to_end(&mut content);
        read.map_err(|error| read_error(name, &error))?;
        if content.len() as u64 != bytes {
            return Err(truncated(name));
        }
        let mut rest = [0; BLOCK];
        let rest = &mut rest[..padding(content.len())];
        self.from.read_exact(rest).map_err(|error| read_error(name, &error))?;
        if rest.iter().any(|byte| *byte != 0) {
            return Err(damaged(format!("there is something behind `{name}`")));
        }
        Ok(content)
    }

    fn block(&mut self, before: &str) -> Result<[u8; BLOCK], ImageError> {
        let mut block = [0; BLOCK];
        self.from.read_exact(&mut block).map_err(|error| read_error(before, &error))?;
        Ok(block)
    }
}

fn damaged(detail: impl Into<String>) -> ImageError {
    ImageError::ArchiveDamaged { detail: detail.into() }
}

fn truncated(member: &str) -> ImageError {
    damaged(format!("it is truncated: it ends in or before `{member}`"))
}

fn read_error(member: &str, error: &io::Error) -> ImageError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => truncated(member),
        _ => damaged(format!("cannot read `{member}`: {error}")),
    }
}

fn mismatch(what: &'static str, found: String, expected: String, hint: &'static str) -> ImageError {
    ImageError::ArchiveMismatch { what, found, expected, hint }
}

fn target() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Names the engine's version and configuration without the features of the processor.
fn config_digest() -> Result<String, ImageError> {
    Ok(format!("{:016x}", engine::fingerprint(&engine::engine_for(CpuLevel::Baseline)?)))
}

/// Bytes from the end of a member of this length to the next block.
fn padding(length: usize) -> usize {
    length.next_multiple_of(BLOCK) - length
}

/// Tar's block before a member: a plain file without owner or time.
fn member_block(name: &str, bytes: u64) -> [u8; BLOCK] {
    const SUM: std::ops::Range<usize> = 148..156;
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{bytes:011o}\0"));
    put(136, "00000000000\0");
    put(SUM.start, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// The size that a block states, where it states one.
fn member_size(block: &[u8; BLOCK]) -> Option<u64> {
    let digits = std::str::from_utf8(&block[124..135]).ok()?;
    u64::from_str_radix(digits, 8).ok()
}

/// For fuzzing: reads `bytes` as an archive of the Python image. What is read must be written as it was read.
#[cfg(feature = "fuzzing")]
pub(crate) fn read_any_archive(bytes: &[u8]) {
    let mut reader = ArchiveReader { from: &mut &*bytes };
    let Ok(text) = reader.header() else { return };
    let Ok(header) = parse_header(&text) else { return };
    if check_members(&header).is_err() {
        return;
    }
    for entry in &header.files {
        let Ok(content) = reader.member(entry) else { return };
        assert_eq!(content.len() as u64, entry.bytes, "a member with another size than its header's");
    }
    if reader.end().is_ok() {
        let members: u64 = header.files.iter().map(|entry| entry.bytes.next_multiple_of(BLOCK as u64)).sum();
        let whole = members + text.len().next_multiple_of(BLOCK) as u64 + (5 + 2) * BLOCK as u64;
        assert_eq!(whole, bytes.len() as u64, "an archive with something that belongs to no member");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> ArchiveHeader {
        let spec = ImageSpec::python();
        ArchiveHeader {
            format: FORMAT,
            image: spec.name().to_owned(),
            digest: spec.digest().as_str().to_owned(),
            wasmtime: ENGINE_VERSION.to_owned(),
            target: target(),
            cpu: vec!["sse3".to_owned(), "avx2".to_owned()],
            engine: "config".to_owned(),
            files: MEMBERS.iter().map(|(name, _)| ManifestEntry::of(name, b"")).collect(),
        }
    }

    fn refusal(change: impl FnOnce(&mut ArchiveHeader)) -> String {
        let mut changed = header();
        change(&mut changed);
        let python = ArchiveSubject::of(&ImageSpec::python());
        let error = check_fit(&changed, &python, &["sse3", "avx2"], "config").unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        error.to_string()
    }

    #[test]
    fn an_archive_for_other_surroundings_is_refused_by_what_differs() {
        let python = ArchiveSubject::of(&ImageSpec::python());
        assert!(check_fit(&header(), &python, &["sse3", "avx2", "fma"], "config").is_ok());
        let cases = [
            (refusal(|header| header.image = "ruby".to_owned()), "image is `ruby`"),
            (refusal(|header| header.wasmtime = "47.0.0".to_owned()), "wasmtime version is `47.0.0`"),
            (refusal(|header| header.digest = "abc".to_owned()), "image digest is `abc`"),
            (refusal(|header| header.target = "aarch64-linux".to_owned()), "platform is `aarch64-linux`"),
            (refusal(|header| header.cpu.push("avx512f".to_owned())), "avx512f"),
            (refusal(|header| header.engine = "other".to_owned()), "engine configuration is `other`"),
        ];
        for (message, expected) in cases {
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn members_must_be_those_of_an_image_and_bounded() {
        let refused = |change: &dyn Fn(&mut Vec<ManifestEntry>)| {
            let mut changed = header();
            change(&mut changed.files);
            check_members(&changed).unwrap_err().to_string()
        };
        assert!(check_members(&header()).is_ok());
        assert!(refused(&|files| files[0].bytes = u64::MAX).contains("may have"));
        assert!(refused(&|files| files[0].name = "../../bin/sh".to_owned()).contains("does not list"));
        assert!(refused(&|files| files.swap(0, 1)).contains("does not list"));
        assert!(refused(&|files| drop(files.pop())).contains("does not list"));
        let other = parse_header(br#"{"format":2,"news":[]}"#).unwrap_err();
        assert!(matches!(other, ImageError::ArchiveMismatch { what: "layout", .. }), "{other}");
    }

    #[test]
    fn a_block_has_the_checksum_that_tar_wants() {
        let block = member_block("image.json", 0o1234);
        assert_eq!(member_size(&block), Some(0o1234));
        let without: u32 = block
            .iter()
            .enumerate()
            .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
            .sum();
        assert_eq!(&block[148..154], format!("{without:06o}").as_bytes());
    }
}
