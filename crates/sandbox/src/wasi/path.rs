//! The `path_*` calls.

use std::collections::BTreeMap;

use super::Wasi;
use super::descriptors::{self, Fd, filestat};
use super::errno::{Errno, SyscallResult};
use super::files::{FileContent, NodeKind, ResolvedPath};
use super::view::MemoryView;

const O_CREAT: i32 = 1;
const O_DIRECTORY: i32 = 2;
const O_EXCL: i32 = 4;
const O_TRUNC: i32 = 8;
const RIGHT_READ: i64 = 1 << 1;
const RIGHT_WRITE: i64 = 1 << 6;

/// The arguments of `path_open` that are not pointers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenFlags {
    pub(crate) oflags: i32,
    pub(crate) rights: i64,
    pub(crate) fdflags: i32,
}

impl Wasi {
    /// The place a guest's path names. All its parts are paid for, whether there is anything at the first of them or not.
    fn resolve_path(&mut self, view: &MemoryView<'_>, fd: i32, ptr: i32, len: i32) -> Result<ResolvedPath, Errno> {
        let dir = self.fds.dir(fd)?;
        let path = view.path(ptr, len)?;
        self.tree.work.add_bytes(path.len() as u64);
        self.tree.work.add_look_ups(path.split('/').filter(|part| !part.is_empty()).count() as u64);
        self.tree.resolve(dir, &path)
    }

    pub(crate) fn path_open(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        (ptr, len): (i32, i32),
        flags: OpenFlags,
        out: i32,
    ) -> SyscallResult {
        let place = self.resolve_path(view, fd, ptr, len)?;
        // Reserved before anything is created, so that a bad out pointer changes nothing.
        view.write_u32(out, 0)?;
        let opened = self.open_resolved(&place, flags)?;
        let node = opened.node();
        let number = self.fds.open(opened)?;
        if let Some(node) = node {
            self.tree.open_node(node)?;
        }
        Ok(view.write_u32(out, number)?)
    }

    fn open_resolved(&mut self, place: &ResolvedPath, flags: OpenFlags) -> SyscallResult<Fd> {
        let wants_dir = place.must_be_dir || flags.oflags & O_DIRECTORY != 0;
        let node = match place.node {
            Some(_) if flags.oflags & O_EXCL != 0 && flags.oflags & O_CREAT != 0 => return Err(Errno::EXIST.into()),
            Some(node) => node,
            None if flags.oflags & O_CREAT == 0 || wants_dir => return Err(Errno::NOENT.into()),
            None => {
                let empty = NodeKind::File(FileContent::Owned(Vec::new()));
                self.tree.create(place.parent, &place.name, empty, self.clock.stamp())?
            }
        };
        let (read, write) = (flags.rights & RIGHT_READ != 0, flags.rights & RIGHT_WRITE != 0);
        let found = self.tree.node(node)?;
        match (&found.kind, wants_dir) {
            (NodeKind::Dir(_), _) if write => return Err(Errno::ISDIR.into()),
            (NodeKind::Dir(_), _) => return Ok(Fd::Dir(node)),
            (_, true) => return Err(Errno::NOTDIR.into()),
            (NodeKind::File(_), false) if write && found.read_only => return Err(Errno::ROFS.into()),
            (NodeKind::File(_), false) if flags.oflags & O_TRUNC != 0 => {
                self.tree.resize(node, 0)?;
                self.tree.touch(node, self.clock.stamp())?;
            }
            (NodeKind::File(_), false) if self.joined.as_ref().is_some_and(|(stdin, _)| *stdin == node) => {
                return Ok(Fd::Pipe);
            }
            (NodeKind::File(_) | NodeKind::Null, false) => {}
        }
        Ok(Fd::File { node, offset: 0, read, write, flags: descriptors::mask_flags(flags.fdflags) })
    }

    pub(crate) fn path_filestat_get(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        path: (i32, i32),
        out: i32,
    ) -> SyscallResult {
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        let id = place.node.ok_or(Errno::NOENT)?;
        let node = self.tree.node(id)?;
        if place.must_be_dir && !matches!(node.kind, NodeKind::Dir(_)) {
            return Err(Errno::NOTDIR.into());
        }
        Ok(view.write(out, &filestat(Some((id, node)), self.tree.size(id)?))?)
    }

    pub(crate) fn path_filestat_set_times(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        path: (i32, i32),
        (atime, mtime): (i64, i64),
        flags: i32,
    ) -> SyscallResult {
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        self.set_times(place.node.ok_or(Errno::NOENT)?, atime, mtime, flags)
    }

    pub(crate) fn path_create_directory(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        path: (i32, i32),
    ) -> SyscallResult {
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        if place.node.is_some() {
            return Err(Errno::EXIST.into());
        }
        self.tree.create(place.parent, &place.name, NodeKind::Dir(BTreeMap::new()), self.clock.stamp())?;
        Ok(())
    }

    pub(crate) fn path_remove_directory(
        &mut self,
        view: &mut MemoryView<'_>,
        fd: i32,
        path: (i32, i32),
    ) -> SyscallResult {
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        let children = self.tree.children(place.node.ok_or(Errno::NOENT)?)?;
        if place.name.is_empty() {
            return Err(Errno::INVAL.into());
        }
        if !children.is_empty() {
            return Err(Errno::NOTEMPTY.into());
        }
        self.tree.unlink(place.parent, &place.name)
    }

    pub(crate) fn path_unlink_file(&mut self, view: &mut MemoryView<'_>, fd: i32, path: (i32, i32)) -> SyscallResult {
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        let node = self.tree.node(place.node.ok_or(Errno::NOENT)?)?;
        match node.kind {
            NodeKind::Dir(_) => Err(Errno::ISDIR.into()),
            _ if place.must_be_dir => Err(Errno::NOTDIR.into()),
            NodeKind::File(_) | NodeKind::Null => self.tree.unlink(place.parent, &place.name),
        }
    }

    pub(crate) fn path_rename(
        &mut self,
        view: &mut MemoryView<'_>,
        (fd, path): (i32, (i32, i32)),
        (new_fd, new_path): (i32, (i32, i32)),
    ) -> SyscallResult {
        let from = self.resolve_path(view, fd, path.0, path.1)?;
        let to = self.resolve_path(view, new_fd, new_path.0, new_path.1)?;
        let moved = self.tree.node(from.node.ok_or(Errno::NOENT)?)?;
        if from.name.is_empty() || to.name.is_empty() {
            return Err(Errno::INVAL.into());
        }
        let moves_dir = matches!(moved.kind, NodeKind::Dir(_));
        if !moves_dir && (from.must_be_dir || to.must_be_dir) {
            return Err(Errno::NOTDIR.into());
        }
        match to.node.map(|node| self.tree.node(node)).transpose()?.map(|node| &node.kind) {
            Some(NodeKind::Dir(_)) if !moves_dir => return Err(Errno::ISDIR.into()),
            Some(NodeKind::Dir(children)) if to.node != from.node && !children.is_empty() => {
                return Err(Errno::NOTEMPTY.into());
            }
            Some(NodeKind::File(_) | NodeKind::Null) if moves_dir => return Err(Errno::NOTDIR.into()),
            _ => {}
        }
        self.tree.move_node(&from, &to)
    }

    pub(crate) fn path_readlink(&mut self, view: &mut MemoryView<'_>, fd: i32, path: (i32, i32)) -> SyscallResult {
        // There are no links: what exists is not one, and what does not exist is reported as such.
        let place = self.resolve_path(view, fd, path.0, path.1)?;
        place.node.ok_or(Errno::NOENT)?;
        Err(Errno::INVAL.into())
    }
}
