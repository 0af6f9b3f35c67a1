//! Finds the pages of a guest's memory that differ from the image, with the kernel's fastest interface.
//!
//! *Tracked* memory is write-protected through userfaultfd in its asynchronous mode (Linux 6.7): the first write to a page
//! takes the protection off, in the kernel, and nobody is told. PAGEMAP_SCAN then lists what is no longer protected; that
//! walk reads one bit a page. The list is everything written since the memory was protected, which is not after each job: the
//! kernel would have to handle the first write to each page again. Whatever the kernel does on its own (reclaim, swap) can only lose a protection, and the page is then copied back
//! for nothing.
//!
//! Memory that is not tracked is scanned for private copies: pages that are present or swapped out and neither the file's
//! own nor the zero page. Right as well. It is several times slower where pages are mapped, as the kernel looks each of them
//! up, and faster where none is, as there is no page table to walk: so empty parts of an image are better not tracked.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};

/// The most written regions that are restored one by one; beyond it the image is mapped again.
const MAX_REGIONS: usize = 4096;
/// The most regions of one walk. The kernel allocates room for as many in each: of these, less than a page.
const WALK_REGIONS: usize = 128;

/// `_IOWR('f', 16, struct pm_scan_arg)`
pub(crate) const PAGEMAP_SCAN: u64 = 0xC060_6610;
/// `_IOWR(0xAA, 0x00, struct uffdio_register)`
pub(crate) const UFFDIO_REGISTER: u64 = 0xC020_AA00;
/// `_IOWR(0xAA, 0x06, struct uffdio_writeprotect)`
pub(crate) const UFFDIO_WRITEPROTECT: u64 = 0xC018_AA06;

// Bits of `struct pm_scan_arg`'s masks.
const WRITTEN: u64 = 1 << 1;
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;

/// The kernel's two interfaces, where this machine has them.
#[derive(Debug)]
pub(crate) struct DirtyPages {
    pagemap: Option<File>,
    protector: Option<File>,
}

impl DirtyPages {
    /// Opens the interfaces that exist. Without `/proc` there are none.
    pub(crate) fn open() -> Self {
        let pagemap = File::open("/proc/self/pagemap").ok();
        let protector = pagemap.as_ref().and_then(|_| open_protector().ok());
        Self { pagemap, protector }
    }

    pub(crate) fn can_track(&self) -> bool {
        self.protector.is_some()
    }

    /// Starts to track writes to `memory`, which equals the image now, or starts again. Returns whether the kernel supports it.
    pub(crate) fn track(&self, memory: &mut [u8]) -> bool {
        self.protector.as_ref().is_some_and(|protector| protect(protector, memory).is_ok())
    }

    /// Parts of `memory` that may have been written since it was mapped or, where it is `tracked`, since
    /// [then](Self::track); `None` when the kernel cannot say or they are many.
    pub(crate) fn find_written(&self, memory: &mut [u8], tracked: bool) -> Option<Vec<Range<usize>>> {
        scan_pages(self.pagemap.as_ref()?, memory, if tracked { &UNPROTECTED } else { &PRIVATE_COPIES })
    }
}

/// `categories ^ inverted` must have all of `all` and one of `any`.
struct ScanMasks {
    inverted: u64,
    all: u64,
    any: u64,
    wanted: u64,
}

/// Exactly these masks: the kernel has a short cut for them.
const UNPROTECTED: ScanMasks = ScanMasks { inverted: 0, all: WRITTEN, any: 0, wanted: WRITTEN };
const PRIVATE_COPIES: ScanMasks =
    ScanMasks { inverted: FILE | ZERO, all: WRITTEN | FILE | ZERO, any: PRESENT | SWAPPED, wanted: 0 };

fn scan_pages(pagemap: &File, memory: &mut [u8], masks: &ScanMasks) -> Option<Vec<Range<usize>>> {
    let (base, len) = (memory.as_mut_ptr().addr(), memory.len());
    let mut walk = [[0; 3]; WALK_REGIONS];
    let (mut found, mut walked) = (Vec::new(), base as u64);
    let end = (base + len) as u64;
    // A walk may stop early, and says where.
    while walked < end {
        let (regions, stopped) = walk_pages(pagemap, walked..end, &mut walk, masks)?;
        if stopped <= walked || found.len() + regions.len() >= MAX_REGIONS {
            return None;
        }
        for region in regions {
            found.push(region_in(region, base, len)?);
        }
        walked = stopped;
    }
    Some(found)
}

/// One walk over `addresses`, which are those of a memory that is borrowed for it: the regions that were found, and where it ended.
fn walk_pages<'a>(
    pagemap: &File,
    addresses: Range<u64>,
    regions: &'a mut [[u64; 3]],
    masks: &ScanMasks,
) -> Option<(&'a [[u64; 3]], u64)> {
    // struct pm_scan_arg: size, flags, start, end, walk_end, vec, vec_len, max_pages, and the masks.
    let mut arg = [
        96,
        0,
        addresses.start,
        addresses.end,
        0,
        regions.as_mut_ptr().addr() as u64,
        regions.len() as u64,
        0,
        masks.inverted,
        masks.all,
        masks.any,
        masks.wanted,
    ];
    // SAFETY: `arg` is the struct the ioctl takes (96 bytes), and `vec` points to `vec_len` regions of 24 bytes that
    // outlive the call. The kernel writes only to these two. It reads page tables and changes none of them.
    let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, arg.as_mut_ptr()) };
    let found = usize::try_from(found).ok()?;
    Some((regions.get(..found)?, arg[4]))
}

/// A region of the kernel's as a range of the memory; `None` if it is not inside, which would be a kernel's mistake.
fn region_in(region: &[u64; 3], base: usize, len: usize) -> Option<Range<usize>> {
    let start = usize::try_from(region[0]).ok()?.checked_sub(base)?;
    let end = usize::try_from(region[1]).ok()?.checked_sub(base)?;
    (start <= end && end <= len).then_some(start..end)
}

/// A userfaultfd with asynchronous write protection. Its descriptor must stay open as long as memory is tracked.
fn open_protector() -> io::Result<File> {
    /// Allowed to everybody; none of our faults is ever handed to a handler.
    const USER_MODE_ONLY: i32 = 1;
    /// `_IOWR(0xAA, 0x3F, struct uffdio_api)`
    const UFFDIO_API: u64 = 0xC018_AA3F;
    const SHMEM: u64 = 1 << 12;
    const UNPOPULATED: u64 = 1 << 13;
    const ASYNC: u64 = 1 << 15;
    // SAFETY: a system call without pointers; a valid descriptor is owned by nobody else.
    let file = unsafe {
        let fd = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(i32::try_from(fd).map_err(io::Error::other)?)
    };
    let mut api = [0xAA, SHMEM | UNPOPULATED | ASYNC, 0];
    // SAFETY: `api` is the struct the ioctl takes (24 bytes), and outlives the call.
    check_result(unsafe { libc::ioctl(file.as_raw_fd(), UFFDIO_API as _, api.as_mut_ptr()) })?;
    Ok(file)
}

fn protect(protector: &File, memory: &mut [u8]) -> io::Result<()> {
    let (start, len) = (memory.as_mut_ptr().addr() as u64, memory.len() as u64);
    let mut register = [start, len, 1 << 1, 0];
    // SAFETY: the struct the ioctl takes (32 bytes). It changes how faults of exactly this range are handled, which is
    // mapped and ours.
    check_result(unsafe { libc::ioctl(protector.as_raw_fd(), UFFDIO_REGISTER as _, register.as_mut_ptr()) })?;
    let mut protection = [start, len, 1];
    // SAFETY: the struct the ioctl takes (24 bytes). A write to protected memory goes through, as the mode is asynchronous.
    check_result(unsafe { libc::ioctl(protector.as_raw_fd(), UFFDIO_WRITEPROTECT as _, protection.as_mut_ptr()) })
}

fn check_result(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
