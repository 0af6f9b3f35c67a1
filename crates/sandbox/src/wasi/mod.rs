//! The guest's operating system: all 42 `wasi_snapshot_preview1` functions the interpreter imports, in memory.
//!
//! It uses nothing of the host: no file, no socket, no clock, no sleep. [`view`] checks every pointer and length,
//! [`files`] is the file tree, [`descriptors`] the open files; [`fd`], [`path`] and [`poll`] are the calls;
//! [`crate::imports`] gives them their names. A call either succeeds, returns an error number, or ends the job ([`errno::SyscallError`]).

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod any_call;
mod clock;
mod descriptors;
mod direct;
pub(crate) mod errno;
mod fd;
pub(crate) mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
pub(crate) mod path;
pub(crate) mod pipe;
mod poll;
mod random;
mod stdio;
#[cfg(test)]
mod tests;
pub(crate) mod view;
mod work;

use std::sync::Arc;

use veriplay_core::{Job, LayerRoot, Outcome};

use clock::Clock;
use descriptors::{DescriptorTable, Fd};
use errno::{Errno, SyscallResult};
use files::{FileContent, NodeId, NodeKind, Tree};
use pipe::Pipe;
use random::RandomSource;
pub(crate) use stdio::AtCap;
use stdio::CappedOutput;
use view::MemoryView;

/// Bytes one `random_get` may ask for: libc asks for at most 256.
const MAX_RANDOM: u32 = 1 << 20;

/// Standard input: a file, as where a shell's `<` has opened it. Opened by this path it is read from its start. Or a pipe, see [`Wasi::join`].
const STDIN: &str = "/dev/stdin";
/// The working directory, with the job's files.
const WORK: &str = LayerRoot::Work.path();

/// The arguments and the environment of a guest, each with a zero byte at its end. They are constants: nothing of the host's is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStrings {
    pub(crate) arguments: &'static [&'static [u8]],
    pub(crate) environment: &'static [&'static [u8]],
}

impl ProcessStrings {
    /// Of a program that is a module of its own.
    pub(crate) const MODULE: Self =
        Self { arguments: &[b"program\0"], environment: &[b"HOME=/tmp\0", b"TMPDIR=/tmp\0"] };
}

impl Default for ProcessStrings {
    /// Those of the Python images.
    fn default() -> Self {
        Self {
            arguments: &[b"/usr/local/bin/python.wasm\0"],
            environment: &[
                b"HOME=/tmp\0", b"PYTHONHASHSEED=0\0", b"PYTHONTZPATH=\0", b"PYTHONDONTWRITEBYTECODE=1\0",
                b"TMPDIR=/tmp\0",
            ],
        }
    }
}

#[derive(Debug)]
pub(crate) struct Wasi {
    fds: DescriptorTable,
    tree: Tree,
    clock: Clock,
    random: RandomSource,
    sleep_fuel: u64,
    pub(crate) strings: ProcessStrings,
    /// Arguments of the job's, behind the others, each with a zero byte at its end.
    further: Vec<Vec<u8>>,
    /// The pipe that is its standard input, and the node of the file in whose place that is.
    joined: Option<(NodeId, Pipe)>,
    pub(crate) stdout: CappedOutput,
    pub(crate) stderr: CappedOutput,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct WasiSetup<'a> {
    pub(crate) seed: u64,
    pub(crate) stdin: &'a [u8],
    pub(crate) files: &'a [(String, Vec<u8>)],
    pub(crate) output_bytes: u64,
    /// At the cap of stdout. Stderr is cut.
    pub(crate) at_stdout_cap: AtCap,
    pub(crate) file_bytes: u64,
    /// As [`veriplay_core::Job::sleep_fuel`].
    pub(crate) sleep_fuel: u64,
    pub(crate) strings: ProcessStrings,
    /// As [`veriplay_core::Job::arguments`].
    pub(crate) arguments: &'a [String],
}

#[derive(Default)]
pub(crate) struct FetchedFiles {
    files: Vec<(String, Vec<u8>)>,
    /// Whether one is missing because it is too large.
    was_cut: bool,
}

impl FetchedFiles {
    pub(crate) fn add_to(self, outcome: Outcome) -> Outcome {
        Outcome { fetched: self.files, truncated: outcome.truncated || self.was_cut, ..outcome }
    }
}

/// The part of the file tree that all jobs of an image share.
pub(crate) fn base_tree(library_at: &str, library: Arc<Vec<u8>>) -> Result<Tree, Errno> {
    let mut tree = Tree::new();
    tree.insert_path(library_at, NodeKind::File(FileContent::Shared(library)), true)?;
    add_system_files(&mut tree)?;
    Ok(tree)
}

/// The file tree of a guest without a library.
pub(crate) fn bare_tree() -> Result<Tree, Errno> {
    let mut tree = Tree::new();
    add_system_files(&mut tree)?;
    Ok(tree)
}

fn add_system_files(tree: &mut Tree) -> Result<(), Errno> {
    let dir = || NodeKind::Dir(std::collections::BTreeMap::new());
    tree.insert_path("/dev/null", NodeKind::Null, true)?;
    tree.insert_path(STDIN, NodeKind::File(FileContent::Owned(Vec::new())), true)?;
    tree.insert_path("/tmp", dir(), false)?;
    tree.insert_path(WORK, dir(), false)?;
    Ok(())
}

impl Wasi {
    /// The system of one job, over the image's `base` tree. Fails when two of the job's files clash, as `a` and `a/b` do.
    pub(crate) fn new(base: &Tree, setup: &WasiSetup<'_>) -> Result<Self, Errno> {
        let (mut tree, mut fds) = (base.clone(), DescriptorTable::new());
        let input = tree.set_input_file(STDIN, setup.stdin.to_vec());
        tree.open_node(input)?;
        fds.set_stdin(input);
        for (path, bytes) in setup.files {
            let content = FileContent::Shared(Arc::new(bytes.clone()));
            tree.insert_path(&format!("{WORK}/{path}"), NodeKind::File(content), false)?;
        }
        tree.set_cap(setup.file_bytes);
        Ok(Self {
            fds,
            tree,
            clock: Clock::new(setup.seed),
            random: RandomSource::new(setup.seed),
            sleep_fuel: setup.sleep_fuel,
            strings: setup.strings,
            further: setup.arguments.iter().map(|word| [word.as_bytes(), b"\0"].concat()).collect(),
            joined: None,
            stdout: CappedOutput::new(setup.output_bytes, setup.at_stdout_cap),
            stderr: CappedOutput::new(setup.output_bytes, AtCap::Cut),
        })
    }

    /// Makes standard input what another guest writes to `input`, before anything has run, and standard output what that reads from `output`.
    pub(crate) fn join(&mut self, input: Pipe, output: Pipe) {
        self.stdout.pipe = Some(output);
        if let Ok(stdin) = self.fds.get_mut(0)
            && let Some(node) = stdin.node()
        {
            *stdin = Fd::Pipe;
            self.joined = Some((node, input));
        }
    }

    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        self.tree.file(&format!("{WORK}/{path}"))
    }

    /// The files that the job wants back, as far as they are there and fit in its limits together.
    pub(crate) fn fetch_files(&self, job: &Job) -> FetchedFiles {
        let (mut fetched, mut left) = (FetchedFiles::default(), job.limits.file_bytes.min(job.limits.output_bytes));
        for path in &job.fetch {
            let Some(bytes) = self.file(path) else { continue };
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => {
                    left = rest;
                    fetched.files.push((path.clone(), bytes.to_vec()));
                }
                None => fetched.was_cut = true,
            }
        }
        fetched
    }

    /// Takes the fuel that the running call costs beyond the base price.
    pub(crate) fn take_work(&mut self) -> u64 {
        self.tree.work.take()
    }

    pub(crate) fn arguments(&self) -> Vec<&[u8]> {
        self.strings.arguments.iter().copied().chain(self.further.iter().map(Vec::as_slice)).collect()
    }

    pub(crate) fn strings_sizes(view: &mut MemoryView<'_>, strings: &[&[u8]], count: i32, size: i32) -> SyscallResult {
        let total: usize = strings.iter().map(|text| text.len()).sum();
        view.write_u32(count, u32::try_from(strings.len()).map_err(|_| Errno::INVAL)?)?;
        Ok(view.write_u32(size, u32::try_from(total).map_err(|_| Errno::INVAL)?)?)
    }

    pub(crate) fn strings_get(
        view: &mut MemoryView<'_>,
        strings: &[&[u8]],
        pointers: i32,
        buffer: i32,
    ) -> SyscallResult {
        // Wrapping: a pointer that runs over the end of the address space is then found out of bounds.
        let (mut slot, mut at) = (pointers.cast_unsigned(), buffer.cast_unsigned());
        for text in strings {
            view.write_u32(slot.cast_signed(), at)?;
            view.write(at.cast_signed(), text)?;
            slot = slot.wrapping_add(4);
            at = at.wrapping_add(u32::try_from(text.len()).map_err(|_| Errno::INVAL)?);
        }
        Ok(())
    }

    pub(crate) fn clock_time_get(&mut self, view: &mut MemoryView<'_>, id: i32, out: i32) -> SyscallResult {
        let now = self.clock.read(id)?;
        Ok(view.write_u64(out, now)?)
    }

    pub(crate) fn clock_res_get(view: &mut MemoryView<'_>, id: i32, out: i32) -> SyscallResult {
        Ok(view.write_u64(out, Clock::resolution(id)?)?)
    }

    pub(crate) fn random_get(&mut self, view: &mut MemoryView<'_>, ptr: i32, len: i32) -> SyscallResult {
        if len.cast_unsigned() > MAX_RANDOM {
            return Err(Errno::INVAL.into());
        }
        let bytes = view.bytes_mut(ptr, len)?;
        self.random.fill(bytes);
        self.tree.work.add_random_bytes(u64::from(len.cast_unsigned()));
        Ok(())
    }
}
