//! The `fd_*` calls: streams, files, directories.

use std::ops::Range;

use super::Wasi;
use super::descriptors::{self, APPEND, Fd, PREOPEN, dirent, fdstat, file_type, filestat};
use super::errno::{Errno, SyscallResult};
use super::files::NodeId;
use super::pipe::Pipe;
use super::view::MemoryView;

const SET_ATIME: i32 = 1;
const SET_ATIME_NOW: i32 = 2;
const SET_MTIME: i32 = 4;
const SET_MTIME_NOW: i32 = 8;

/// An offset or a size: not below zero.
fn to_unsigned(value: i64) -> Result<u64, Errno> {
    u64::try_from(value).map_err(|_| Errno::INVAL)
}

impl Wasi {
    pub(crate) fn fd_prestat_get(&mut self, view: &mut MemoryView<'_>, fd: i32, out: i32) -> SyscallResult {
        if fd != PREOPEN {
            return Err(Errno::BADF.into());
        }
        // Tag 0 is a directory; its name is `/`, one byte long.
        Ok(view.write(out, &[0, 0, 0, 0, 1, 0, 0, 0])?)
    }

    pub(crate) fn fd_prestat_dir_name(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        out: i32,
        len: i32,
    ) -> SyscallResult {
        match (fd, len) {
            (PREOPEN, 1..) => Ok(view.write(out, b"/")?),
            (PREOPEN, _) => Err(Errno::NAMETOOLONG.into()),
            _ => Err(Errno::BADF.into()),
        }
    }

    pub(crate) fn fd_close(&mut self, fd: i32) -> SyscallResult {
        let closed = self.fds.close(fd)?;
        self.let_go(fd, closed)
    }

    /// Gives what is open as `from` the number `to`, where what is open is closed.
    pub(crate) fn fd_renumber(&mut self, from: i32, to: i32) -> SyscallResult {
        self.fds.get(from)?;
        self.fds.get(to)?;
        if from == PREOPEN || to == PREOPEN {
            return Err(Errno::NOTSUP.into());
        }
        if from == to {
            return Ok(());
        }
        let moved = self.fds.close(from)?;
        let closed = std::mem::replace(self.fds.get_mut(to)?, moved);
        self.let_go(to, closed)
    }

    fn let_go(&mut self, fd: i32, closed: Fd) -> SyscallResult {
        match (closed, &self.stdout.pipe) {
            (Fd::File { node, .. } | Fd::Dir(node), _) if fd != PREOPEN => Ok(self.tree.close_node(node)?),
            (Fd::Stdout, Some(pipe)) => {
                pipe.close();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn fd_fdstat_get(&mut self, view: &mut MemoryView<'_>, fd: i32, out: i32) -> SyscallResult {
        let open = self.fds.get(fd)?;
        let kind = open.node().map(|id| self.tree.node(id)).transpose()?.map(|node| &node.kind);
        Ok(view.write(out, &fdstat(open, kind))?)
    }

    pub(crate) fn fd_fdstat_set_flags(&mut self, fd: i32, given: i32) -> SyscallResult {
        if let Fd::File { flags, .. } = self.fds.get_mut(fd)? {
            *flags = descriptors::mask_flags(given);
        }
        Ok(())
    }

    pub(crate) fn fd_filestat_get(&mut self, view: &mut MemoryView<'_>, fd: i32, out: i32) -> SyscallResult {
        let record = match self.fds.get(fd)?.node() {
            None => filestat(None, 0),
            Some(id) => filestat(Some((id, self.tree.node(id)?)), self.tree.size(id)?),
        };
        Ok(view.write(out, &record)?)
    }

    pub(crate) fn fd_filestat_set_size(&mut self, fd: i32, size: i64) -> SyscallResult {
        let size = to_unsigned(size)?;
        match *self.fds.get(fd)? {
            Fd::File { node, write: true, .. } => {
                self.tree.resize(node, size)?;
                Ok(self.tree.touch(node, self.clock.stamp())?)
            }
            Fd::File { .. } => Err(Errno::INVAL.into()),
            _ => Err(Errno::BADF.into()),
        }
    }

    pub(crate) fn fd_filestat_set_times(&mut self, fd: i32, atime: i64, mtime: i64, flags: i32) -> SyscallResult {
        match self.fds.get(fd)?.node() {
            Some(node) => self.set_times(node, atime, mtime, flags),
            None => Err(Errno::INVAL.into()),
        }
    }

    pub(crate) fn set_times(&mut self, id: NodeId, atime: i64, mtime: i64, flags: i32) -> SyscallResult {
        let now = self.clock.stamp();
        let node = self.tree.node_mut(id)?;
        if node.read_only {
            return Err(Errno::ROFS.into());
        }
        let pick = |given: i64, set: i32, set_now: i32, old: u64| match (flags & set != 0, flags & set_now != 0) {
            (false, false) => Ok(old),
            (true, false) => Ok(given.cast_unsigned()),
            (false, true) => Ok(now),
            (true, true) => Err(Errno::INVAL),
        };
        let accessed = pick(atime, SET_ATIME, SET_ATIME_NOW, node.accessed_ns)?;
        node.modified_ns = pick(mtime, SET_MTIME, SET_MTIME_NOW, node.modified_ns)?;
        node.accessed_ns = accessed;
        Ok(())
    }

    /// Checks a descriptor and touches nothing: there is nothing to flush and no read-ahead to advise.
    pub(crate) fn fd_no_effect(&mut self, fd: i32) -> SyscallResult {
        self.fds.get(fd)?;
        Ok(())
    }

    /// There are no sockets.
    pub(crate) fn no_socket(&self, fd: i32) -> SyscallResult {
        self.fds.get(fd)?;
        Err(Errno::NOTSOCK.into())
    }

    /// The pipe that an `fd_read` must wait for.
    pub(crate) fn awaited_by_read(&self, view: &MemoryView<'_>, fd: i32, (iovs, count): (i32, i32)) -> Option<Pipe> {
        let (_, pipe) = self.joined.as_ref().filter(|_| matches!(self.fds.get(fd), Ok(Fd::Pipe)))?;
        let ranges = view.iovecs(iovs, count).ok()?;
        ranges.iter().any(|range| !range.is_empty()).then(|| pipe.clone())
    }

    /// `fd_read`, or with `at` `fd_pread`.
    pub(crate) fn fd_read(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        (iovs, count): (i32, i32),
        at: Option<i64>,
        out: i32,
    ) -> SyscallResult {
        let at = at.map(to_unsigned).transpose()?;
        self.fds.get(fd)?;
        let ranges = self.read_iovecs(view, iovs, count)?;
        let mut total = 0u32;
        for range in ranges {
            let wanted = range.len();
            let got = self.read_some(fd, at.map(|at| at + u64::from(total)), &mut view.0[range])?;
            // Each range is at most 4 GiB and their sum was checked to fit.
            total += u32::try_from(got).map_err(|_| Errno::INVAL)?;
            if got < wanted {
                break;
            }
        }
        self.tree.work.add_bytes(u64::from(total));
        Ok(view.write_u32(out, total)?)
    }

    /// The ranges of a transfer, each of which is looked at even when it is empty.
    fn read_iovecs(&mut self, view: &MemoryView<'_>, iovs: i32, count: i32) -> SyscallResult<Vec<Range<usize>>> {
        let ranges = view.iovecs(iovs, count)?;
        self.tree.work.add_look_ups(ranges.len() as u64);
        Ok(ranges)
    }

    pub(super) fn read_some(&mut self, fd: i32, at: Option<u64>, out: &mut [u8]) -> Result<usize, Errno> {
        match self.fds.get_mut(fd)? {
            Fd::File { node, offset, read: true, .. } => {
                let got = self.tree.read_at(*node, at.unwrap_or(*offset), out)?;
                if at.is_none() {
                    *offset += got as u64;
                }
                Ok(got)
            }
            Fd::Pipe if at.is_some() => Err(Errno::SPIPE),
            Fd::Pipe => Ok(self.joined.as_ref().map_or(0, |(_, pipe)| pipe.read(out))),
            Fd::Dir(_) => Err(Errno::ISDIR),
            _ => Err(Errno::BADF),
        }
    }

    /// `fd_write`, or with `at` `fd_pwrite`.
    pub(crate) fn fd_write(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        (iovs, count): (i32, i32),
        at: Option<i64>,
        out: i32,
    ) -> SyscallResult {
        let at = at.map(to_unsigned).transpose()?;
        self.fds.get(fd)?;
        let ranges = self.read_iovecs(view, iovs, count)?;
        let mut total = 0u32;
        for range in ranges {
            let bytes = &view.0[range];
            self.write_some(fd, at.map(|at| at + u64::from(total)), bytes)?;
            total += u32::try_from(bytes.len()).map_err(|_| Errno::INVAL)?;
            self.tree.work.add_bytes(bytes.len() as u64);
        }
        Ok(view.write_u32(out, total)?)
    }

    fn write_some(&mut self, fd: i32, at: Option<u64>, bytes: &[u8]) -> SyscallResult {
        match self.fds.get_mut(fd)? {
            Fd::Stdout if at.is_none() => Ok(self.stdout.write(bytes)?),
            Fd::Stderr if at.is_none() => Ok(self.stderr.write(bytes)?),
            Fd::Stdout | Fd::Stderr => Err(Errno::SPIPE.into()),
            Fd::File { node, offset, write: true, flags, .. } => {
                let end = self.tree.size(*node)?;
                let appends = *flags & APPEND != 0;
                let start = at.unwrap_or(if appends { end } else { *offset });
                self.tree.write_at(*node, start, bytes)?;
                if at.is_none() {
                    *offset = start.saturating_add(bytes.len() as u64);
                }
                Ok(self.tree.touch(*node, self.clock.stamp())?)
            }
            Fd::Dir(_) => Err(Errno::ISDIR.into()),
            _ => Err(Errno::BADF.into()),
        }
    }

    pub(crate) fn fd_seek(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        delta: i64,
        whence: i32,
        out: i32,
    ) -> SyscallResult {
        let (node, offset) = match self.fds.get_mut(fd)? {
            Fd::File { node, offset, .. } => (node, offset),
            Fd::Dir(_) => return Err(Errno::BADF.into()),
            Fd::Pipe | Fd::Stdout | Fd::Stderr => return Err(Errno::SPIPE.into()),
        };
        let from = match whence {
            0 => 0,
            1 => *offset,
            2 => self.tree.size(*node)?,
            _ => return Err(Errno::INVAL.into()),
        };
        let target = from.checked_add_signed(delta).filter(|target| i64::try_from(*target).is_ok());
        *offset = target.ok_or(Errno::INVAL)?;
        Ok(view.write_u64(out, *offset)?)
    }

    pub(crate) fn fd_tell(&mut self, view: &mut MemoryView<'_>, fd: i32, out: i32) -> SyscallResult {
        match self.fds.get(fd)? {
            Fd::File { offset, .. } => Ok(view.write_u64(out, *offset)?),
            Fd::Dir(_) => Err(Errno::BADF.into()),
            Fd::Pipe | Fd::Stdout | Fd::Stderr => Err(Errno::SPIPE.into()),
        }
    }

    pub(crate) fn fd_readdir(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        (buffer, len): (i32, i32),
        cookie: i64,
        out: i32,
    ) -> SyscallResult {
        let dir = self.fds.dir(fd)?;
        let buffer = view.bytes_mut(buffer, len)?;
        let start = usize::try_from(cookie).map_err(|_| Errno::INVAL)?;
        let here = [(".", dir), ("..", dir)];
        let children = self.tree.children(dir)?.iter().map(|(name, id)| (name.as_str(), *id));
        let (mut used, mut passed) = (0, 0);
        for (index, (name, id)) in here.into_iter().chain(children).enumerate() {
            passed = index + 1;
            if index < start {
                continue;
            }
            let record = dirent(index as u64 + 1, id, file_type(&self.tree.node(id)?.kind), name);
            // The last record may be cut: the guest then asks again from its cookie.
            let count = record.len().min(buffer.len() - used);
            buffer[used..used + count].copy_from_slice(&record[..count]);
            used += count;
            if used == buffer.len() {
                break;
            }
        }
        self.tree.work.add_bytes(used as u64);
        self.tree.work.add_steps(passed as u64);
        Ok(view.write_u32(out, u32::try_from(used).map_err(|_| Errno::INVAL)?)?)
    }
}
