//! The image's memory, and the reset of a used instance to it.
//!
//! [`Baseline`] is the linear memory of the snapshot: a sealed anonymous file that every instance maps copy-on-write over
//! its own linear memory. After a job the pages the guest wrote are found and copied back ([`Baseline::restore`]); or the
//! whole mapping is made anew ([`Baseline::install`]), which is always right and costs page faults later.
//!
//! Wasmtime's pooling allocator finds written pages in the same way, and resets a memory to the module's own data when its instance
//! ends. Here the instance stays, which saves its instantiation, and the state is a snapshot, which is not a second module to compile.
//!
//! Why this is sound. The bytes of a linear memory are plain data to wasmtime: any content is valid, it may change
//! between calls, and no reference into it is alive while `&mut Store` is held here. The range mapped over is exactly
//! `[base, base + len)` of a memory whose current size is at least `len`, so it lies inside wasmtime's own reservation and
//! never reaches its guard pages; protection stays read-write, as wasmtime set it. Wasmtime unmaps the reservation as a
//! whole when the store is dropped, our mapping included.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};

use serde::{Deserialize, Serialize};

use crate::dirty_pages::DirtyPages;

/// The page size PAGEMAP_SCAN and mmap work in.
const PAGE: usize = 4096;
/// Bytes that one page table maps.
const PAGE_TABLE: usize = 512 * PAGE;
/// The most pages of a page table that are not all zero where the table counts as empty. Writes to such a part are found by looking at each page
/// that is mapped, which costs nothing where no job has been, and each part more is another call of the kernel.
const SPARSE: usize = 4;
/// Dirty pages above which the memory is mapped anew. Copying 2,500 back took an eighth of the system time of mapping anew; the bound
/// is for memory: an instance keeps its own copy of what it has written, at most 32 MiB.
const MAX_COPIED_PAGES: usize = 8192;
/// Pages copied back after which tracking starts again and empty parts are given back, or where the kernel cannot track, the memory is mapped anew.
/// Until then each reset copies what any job before it wrote; after it the kernel has to handle the first write to each page again. Small jobs write
/// 35 to 50 pages, so for them that is once in some 400 jobs.
const COPIED_BEFORE_TRACKING: usize = 16_384;

/// Bytes of address space that wasmtime reserves for a memory of 32 bits.
const RESERVED: usize = 1 << 32;

/// The seals of a file that holds a snapshot.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE | libc::F_SEAL_SEAL;

/// How an instance is reset to the image's state between jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResetMode {
    /// Restore the written pages, which the kernel reports (Linux 6.7); [`ResetMode::Remap`] where it cannot.
    Scan,
    /// Map the image over the memory again.
    Remap,
    /// A new instance for every job.
    Fresh,
}

/// A range of whole page tables that either holds something or is all zero but for a few pages.
#[derive(Debug)]
struct BaselinePart {
    range: Range<usize>,
    used: bool,
}

/// The state of a memory over which the image is mapped.
#[derive(Debug)]
pub(crate) struct InstalledBaseline {
    /// Whether the kernel tracks writes to the used [parts](BaselinePart): from the first reset on, where it can.
    tracked: bool,
    /// Pages copied back since it does.
    copied: usize,
}

/// A snapshot's linear memory, shared by all its instances.
#[derive(Debug)]
pub(crate) struct Baseline {
    file: File,
    map: BaselineMapping,
    parts: Vec<BaselinePart>,
    pages: DirtyPages,
}

/// The pages of a memory that differ from the image, by their offset.
#[derive(Debug)]
pub(crate) struct ChangedPages(Vec<(usize, Box<[u8]>)>);

impl ChangedPages {
    #[cfg(test)]
    pub(crate) fn of_zeros(pages: usize) -> Self {
        Self((0..pages).map(|page| (page * PAGE, vec![0; PAGE].into())).collect())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * PAGE
    }

    /// Writes them to a memory that equals the image.
    pub(crate) fn write_to(&self, memory: &mut [u8]) {
        for (at, page) in &self.0 {
            memory[*at..at + PAGE].copy_from_slice(page);
        }
    }
}

#[derive(Debug)]
struct BaselineMapping {
    base: *mut libc::c_void,
    len: usize,
}

// SAFETY: the mapping is read-only, of a file sealed against change, and unmapped only on drop.
unsafe impl Send for BaselineMapping {}
// SAFETY: as above: shared reads of memory nobody writes.
unsafe impl Sync for BaselineMapping {}

impl Drop for BaselineMapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are what mmap returned, and nothing borrows from a mapping that is being dropped.
        unsafe { libc::munmap(self.base, self.len) };
    }
}

impl Baseline {
    /// Keeps `bytes`, a whole number of wasm pages.
    pub(crate) fn new(bytes: &[u8]) -> io::Result<Self> {
        Self::map(sealed_file(bytes)?, bytes.len())
    }

    /// The baseline of another process, from its [`Baseline::file`].
    /// Fails when it is not such a file: it could then change under a running guest.
    pub(crate) fn shared(file: File) -> io::Result<Self> {
        // SAFETY: fcntl on a descriptor we own; no memory is involved.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 || seals & SEALS != SEALS {
            return Err(io::Error::other("the memory of a warmed image is not a sealed file"));
        }
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        Self::map(file, len)
    }

    /// Of `len` bytes in a sealed file.
    fn map(file: File, len: usize) -> io::Result<Self> {
        let map = BaselineMapping { base: map_file(std::ptr::null_mut(), len, &file, libc::PROT_READ, 0)?, len };
        let mut baseline = Self { file, map, parts: Vec::new(), pages: DirtyPages::open() };
        baseline.parts = find_parts(baseline.bytes());
        Ok(baseline)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes, readable, never written (the file is sealed) and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.map.base.cast(), self.map.len) }
    }

    /// Maps the image over the start of `memory`, whose previous content is gone. `memory` is a whole linear memory.
    /// Fails when `memory` is not at least as long as the image, or mapping fails; the memory is then in doubt.
    pub(crate) fn install(&self, memory: &mut [u8]) -> io::Result<InstalledBaseline> {
        let aligned = memory.as_ptr().addr().is_multiple_of(PAGE);
        if memory.len() < self.len() || !aligned {
            return Err(io::Error::other("the guest's memory is not the image's"));
        }
        let base = memory.as_mut_ptr().cast();
        map_file(base, self.len(), &self.file, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_FIXED)?;
        Ok(InstalledBaseline { tracked: false, copied: 0 })
    }

    /// The ranges of `memory` that may differ from the image, or `None` when they are not known.
    fn find_written(&self, memory: &mut [u8], tracked: bool) -> Option<Vec<Range<usize>>> {
        let mut written = Vec::new();
        for BaselinePart { range, used } in &self.parts {
            let regions = self.pages.find_written(&mut memory[range.clone()], tracked && *used)?;
            written.extend(regions.into_iter().map(|region| region.start + range.start..region.end + range.start));
        }
        Some(written)
    }

    /// What differs from the image in `memory`, over which it was installed; `None` when it is not known.
    pub(crate) fn find_changed(&self, memory: &mut [u8], installed: &InstalledBaseline) -> Option<ChangedPages> {
        if memory.len() != self.len() {
            return None;
        }
        let written = self.find_written(memory, installed.tracked)?;
        let pages = written.into_iter().flat_map(|region| region.step_by(PAGE)).map(|at| at..at + PAGE);
        let changed = pages.filter(|page| memory[page.clone()] != self.bytes()[page.clone()]);
        Some(ChangedPages(changed.map(|page| (page.start, memory[page].into())).collect()))
    }

    /// Resets `memory`, over which the image was installed, to the image.
    ///
    /// Returns how many pages were copied back. Fails when the written pages cannot be found; the state of the memory is then unknown.
    pub(crate) fn restore(
        &self,
        memory: &mut [u8],
        installed: &mut InstalledBaseline,
        mode: ResetMode,
    ) -> io::Result<usize> {
        if memory.len() != self.len() {
            return Err(io::Error::other("the guest's memory has grown"));
        }
        let pages = |regions: &Vec<Range<usize>>| regions.iter().map(ExactSizeIterator::len).sum::<usize>() / PAGE;
        let scan = mode == ResetMode::Scan;
        let regions = if scan { self.find_written(memory, installed.tracked) } else { None };
        let Some(regions) = regions.filter(|regions| pages(regions) <= MAX_COPIED_PAGES) else {
            *installed = self.install(memory)?;
            return Ok(0);
        };
        let copied = pages(&regions);
        installed.copied += copied;
        for region in regions {
            memory[region.clone()].copy_from_slice(&self.bytes()[region]);
        }
        let many = installed.copied > COPIED_BEFORE_TRACKING;
        if many && !installed.tracked {
            *installed = self.install(memory)?;
            return Ok(copied);
        }
        if many {
            let empty = self.parts.iter().filter(|part| !part.used);
            empty.map(|part| part.range.clone()).try_for_each(|range| discard(&mut memory[range]))?;
        }
        if many || !installed.tracked {
            self.track(memory, installed);
        }
        Ok(copied)
    }

    /// Starts to track writes to the used parts of `memory`, which equals the image.
    fn track(&self, memory: &mut [u8], installed: &mut InstalledBaseline) {
        let mut used = self.parts.iter().filter(|part| part.used);
        if used.all(|part| self.pages.track(&mut memory[part.range.clone()])) {
            *installed = InstalledBaseline { tracked: true, copied: 0 };
        }
    }
}

/// Drops the private copies of a part of a memory over which an image is installed: it equals the image then.
fn discard(memory: &mut [u8]) -> io::Result<()> {
    // SAFETY: a range of whole pages of our own private mapping of a file, borrowed for it. What was written is lost, and the file's bytes are there again.
    let result = unsafe { libc::madvise(memory.as_mut_ptr().cast(), memory.len(), libc::MADV_DONTNEED) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Asks for huge pages where `memory`, which has just been made, will grow to: a program that jumps about in much memory then waits
/// less for page tables, and its fuel is worth about as much time as another's. What the kernel makes of it changes no outcome.
pub(crate) fn prefer_huge_pages(memory: &mut [u8]) {
    let behind = memory.as_mut_ptr_range().end;
    let len = RESERVED.saturating_sub(memory.len());
    // SAFETY: advice on address space that wasmtime has reserved for this memory; no byte of it changes.
    unsafe { libc::madvise(behind.cast(), len, libc::MADV_HUGEPAGE) };
}

/// The parts of an image, in order, without gaps.
fn find_parts(bytes: &[u8]) -> Vec<BaselinePart> {
    let mut parts: Vec<BaselinePart> = Vec::new();
    for (index, chunk) in bytes.chunks(PAGE_TABLE).enumerate() {
        let filled = chunk.chunks(PAGE).filter(|page| page.iter().any(|byte| *byte != 0));
        let (start, used) = (index * PAGE_TABLE, filled.count() > SPARSE);
        let end = start + chunk.len();
        match parts.last_mut() {
            Some(last) if last.used == used => last.range.end = end,
            _ => parts.push(BaselinePart { range: start..end, used }),
        }
    }
    parts
}

/// Makes an anonymous file of `bytes`, sealed against change.
fn sealed_file(bytes: &[u8]) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // The call itself: glibc has a function for it since 2.27, and the wheel is linked for 2.17.
    // SAFETY: the name is a C string; the result is checked, and a valid descriptor is owned by nobody else.
    let mut file = unsafe {
        let fd = libc::syscall(libc::SYS_memfd_create, c"veriplay-image".as_ptr(), flags);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(i32::try_from(fd).map_err(io::Error::other)?)
    };
    file.set_len(bytes.len() as u64)?;
    write_sparse(&mut file, bytes)?;
    seal(&file)?;
    Ok(file)
}

/// Seals a file. Pages that the kernel is moving or about to reclaim count as in use for a moment, and it waits for them only so long at a
/// time: under memory pressure one try is not enough.
fn seal(file: &File) -> io::Result<()> {
    const TRIES: usize = 40;
    let mut tries = 0;
    loop {
        // SAFETY: fcntl on a descriptor we own; no memory is involved.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        tries += 1;
        if error.raw_os_error() != Some(libc::EBUSY) || tries == TRIES {
            return Err(error);
        }
    }
}

/// Writes the chunks that are not all zero: the rest of the file stays a hole, and costs no memory.
fn write_sparse(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    const CHUNK: usize = 1 << 16;
    for (index, chunk) in bytes.chunks(CHUNK).enumerate() {
        if chunk.iter().any(|byte| *byte != 0) {
            file.write_all_at(chunk, (index * CHUNK) as u64)?;
        }
    }
    Ok(())
}

fn map_file(
    at: *mut libc::c_void,
    len: usize,
    file: &File,
    protection: i32,
    flags: i32,
) -> io::Result<*mut libc::c_void> {
    // SAFETY: without MAP_FIXED a new range is chosen by the kernel. With it, the only caller is `install`, which passes a
    // range it holds `&mut` to and which is page-aligned and long enough: see the module's text.
    let base = unsafe { libc::mmap(at, len, protection, libc::MAP_PRIVATE | flags, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Enough for several page tables, some of them empty.
    const LEN: usize = 4 * PAGE_TABLE;

    /// A writable mapping of its own, as an instance's memory is.
    fn memory() -> &'static mut [u8] {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping of LEN bytes, never unmapped and borrowed by nobody else.
        unsafe {
            let base = libc::mmap(std::ptr::null_mut(), LEN, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            std::slice::from_raw_parts_mut(base.cast(), LEN)
        }
    }

    /// An image with much in its first and third page table, and one page in its fourth.
    fn image() -> Vec<u8> {
        let mut bytes = vec![0; LEN];
        bytes[3 * PAGE_TABLE + 9 * PAGE..][..PAGE].fill(5);
        for at in (0..PAGE_TABLE).step_by(97).chain((2 * PAGE_TABLE..3 * PAGE_TABLE).step_by(4099)) {
            bytes[at] = at as u8 | 1;
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn whatever_a_job_writes_is_gone_after_a_reset(
            jobs in prop::collection::vec(prop::collection::vec((0..LEN, any::<u8>(), 1usize..9000), 0..40), 1..6),
            scan in any::<bool>(),
        ) {
            let image = image();
            let baseline = Baseline::new(&image).unwrap();
            let memory = memory();
            let mut installed = baseline.install(memory).unwrap();
            let mode = if scan { ResetMode::Scan } else { ResetMode::Remap };
            for writes in jobs {
                for (at, byte, len) in writes {
                    memory[at..LEN.min(at + len)].fill(byte);
                }
                baseline.restore(memory, &mut installed, mode).unwrap();
                prop_assert!(memory == image.as_slice());
            }
        }
    }

    #[test]
    fn more_regions_than_one_walk_of_the_kernel_reports_are_found() {
        let image = image();
        let baseline = Baseline::new(&image).unwrap();
        let memory = memory();
        let mut installed = baseline.install(memory).unwrap();
        // Every second page: as many regions as pages.
        let pages = (0..LEN / PAGE).step_by(2);
        for round in 0..3 {
            pages.clone().for_each(|page| memory[page * PAGE + 17] = 3);
            let tracked = installed.tracked;
            let told = baseline.find_written(memory, tracked);
            assert!(told.is_none_or(|told| told.len() == pages.len()), "round {round}, tracked {tracked}");
            baseline.restore(memory, &mut installed, ResetMode::Scan).unwrap();
            assert!(memory == image.as_slice(), "round {round}, tracked {tracked}");
        }
    }

    #[test]
    fn a_job_that_writes_everything_is_undone_by_mapping_anew() {
        let image = image();
        let baseline = Baseline::new(&image).unwrap();
        let memory = memory();
        let mut installed = baseline.install(memory).unwrap();
        for _ in 0..3 {
            baseline.restore(memory, &mut installed, ResetMode::Scan).unwrap();
            memory.fill(7);
        }
        baseline.restore(memory, &mut installed, ResetMode::Scan).unwrap();
        assert!(memory == image.as_slice());
    }

    #[test]
    fn what_a_large_job_wrote_is_not_copied_back_after_small_jobs_for_ever() {
        let baseline = Baseline::new(&image()).unwrap();
        let memory = memory();
        let mut installed = baseline.install(memory).unwrap();
        // Of a part that is used, and of an empty one.
        memory[..2 * PAGE_TABLE].fill(7);
        for _ in 0..2 * COPIED_BEFORE_TRACKING / (PAGE_TABLE / PAGE) {
            baseline.restore(memory, &mut installed, ResetMode::Scan).unwrap();
            memory[5 * PAGE] = 1;
        }
        // Where the kernel cannot scan, it is mapped anew each time.
        let told = baseline.find_written(memory, installed.tracked);
        assert!(told.is_none_or(|told| told.into_iter().eq(std::iter::once(5 * PAGE..6 * PAGE))));
    }

    #[test]
    fn what_is_tracked_and_written_is_told_and_nothing_else() {
        let baseline = Baseline::new(&image()).unwrap();
        let memory = memory();
        let mut installed = baseline.install(memory).unwrap();
        baseline.restore(memory, &mut installed, ResetMode::Scan).unwrap();
        if !installed.tracked {
            // A kernel without it; the test above shows that the other way is right.
            return;
        }
        assert_eq!(baseline.find_written(memory, true).unwrap(), vec![]);
        memory[5 * PAGE] = 1;
        memory[2 * PAGE_TABLE + 7 * PAGE] = 1;
        let told = baseline.find_written(memory, true).unwrap();
        assert_eq!(told, vec![5 * PAGE..6 * PAGE, 2 * PAGE_TABLE + 7 * PAGE..2 * PAGE_TABLE + 8 * PAGE]);
    }
}
