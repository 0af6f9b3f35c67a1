//! The descriptor table, and the records WASI describes descriptors with.

use super::errno::Errno;
use super::files::{Node, NodeId, NodeKind, ROOT};

/// Descriptors a job may hold at once.
const MAX_OPEN: usize = 256;
/// Every right there is in preview 1; rights are advisory here, the tree itself decides.
const ALL_RIGHTS: u64 = (1 << 30) - 1;
const RIGHTS_SEEK: u64 = (1 << 2) | (1 << 5);
/// What only makes sense of a file: data sync, read, seek, tell, write, advise, allocate, set its size.
const RIGHTS_OF_FILES: u64 = (1 << 0) | (1 << 1) | RIGHTS_SEEK | (1 << 6) | (1 << 7) | (1 << 8) | (1 << 22);

/// Writes go to the end of the file.
pub(crate) const APPEND: u16 = 1;
/// All flags of a descriptor: besides [`APPEND`] those that promise what is so anyway (synchronous, never blocking).
const FLAGS: u16 = 0x1f;

/// What a guest may set of a descriptor's flags.
pub(crate) fn mask_flags(given: i32) -> u16 {
    given as u16 & FLAGS
}

/// The descriptor of the one preopened directory, `/`.
pub(crate) const PREOPEN: i32 = 3;

/// An open descriptor. `Pipe` is standard input that another guest writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fd {
    Pipe,
    Stdout,
    Stderr,
    Dir(NodeId),
    File { node: NodeId, offset: u64, read: bool, write: bool, flags: u16 },
}

impl Fd {
    /// The node behind it, if it is in the tree.
    pub(crate) const fn node(&self) -> Option<NodeId> {
        match self {
            Fd::Dir(node) | Fd::File { node, .. } => Some(*node),
            Fd::Pipe | Fd::Stdout | Fd::Stderr => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct DescriptorTable(Vec<Option<Fd>>);

impl DescriptorTable {
    /// The two streams and the root; standard input is still to be set.
    pub(crate) fn new() -> Self {
        Self(vec![None, Some(Fd::Stdout), Some(Fd::Stderr), Some(Fd::Dir(ROOT))])
    }

    pub(crate) fn set_stdin(&mut self, node: NodeId) {
        self.0[0] = Some(Fd::File { node, offset: 0, read: true, write: false, flags: 0 });
    }

    /// The place of `fd`, if it is one.
    fn index(fd: i32) -> Result<usize, Errno> {
        usize::try_from(fd).map_err(|_| Errno::BADF)
    }

    pub(crate) fn get(&self, fd: i32) -> Result<&Fd, Errno> {
        self.0.get(Self::index(fd)?).and_then(Option::as_ref).ok_or(Errno::BADF)
    }

    pub(crate) fn get_mut(&mut self, fd: i32) -> Result<&mut Fd, Errno> {
        self.0.get_mut(Self::index(fd)?).and_then(Option::as_mut).ok_or(Errno::BADF)
    }

    /// Gives `fd` the lowest free number.
    pub(crate) fn open(&mut self, fd: Fd) -> Result<u32, Errno> {
        let index = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if index >= MAX_OPEN {
            return Err(Errno::NFILE);
        }
        if index == self.0.len() {
            self.0.push(None);
        }
        self.0[index] = Some(fd);
        Ok(u32::try_from(index).expect("far below 4 billion"))
    }

    pub(crate) fn close(&mut self, fd: i32) -> Result<Fd, Errno> {
        self.0.get_mut(Self::index(fd)?).and_then(Option::take).ok_or(Errno::BADF)
    }

    pub(crate) fn dir(&self, fd: i32) -> Result<NodeId, Errno> {
        match self.get(fd)? {
            Fd::Dir(node) => Ok(*node),
            _ => Err(Errno::NOTDIR),
        }
    }
}

pub(crate) fn file_type(kind: &NodeKind) -> u8 {
    match kind {
        NodeKind::Null => 2,
        NodeKind::Dir(_) => 3,
        NodeKind::File(_) => 4,
    }
}

pub(crate) fn fdstat(fd: &Fd, kind: Option<&NodeKind>) -> [u8; 24] {
    let mut record = [0; 24];
    // A stream is of unknown type: a pipe, and so neither a terminal nor seekable.
    record[0] = kind.map_or(0, file_type);
    if let Fd::File { flags, .. } = fd {
        record[2..4].copy_from_slice(&flags.to_le_bytes());
    }
    let rights = match fd {
        Fd::Pipe | Fd::Stdout | Fd::Stderr => ALL_RIGHTS & !RIGHTS_SEEK,
        Fd::File { read, write, .. } => ALL_RIGHTS & !(u64::from(!read) << 1) & !(u64::from(!write) << 6),
        Fd::Dir(_) => ALL_RIGHTS & !RIGHTS_OF_FILES,
    };
    record[8..16].copy_from_slice(&rights.to_le_bytes());
    record[16..24].copy_from_slice(&ALL_RIGHTS.to_le_bytes());
    record
}

/// The `filestat` record of a node of `size` bytes, or of a stream.
pub(crate) fn filestat(node: Option<(NodeId, &Node)>, size: u64) -> [u8; 64] {
    let mut record = [0; 64];
    let mut put = |at: usize, value: u64| record[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(24, 1);
    put(32, size);
    if let Some((id, node)) = node {
        put(0, 1);
        put(8, id as u64 + 1);
        put(40, node.accessed_ns);
        put(48, node.modified_ns);
        put(56, node.modified_ns);
        record[16] = file_type(&node.kind);
    }
    record
}

pub(crate) fn dirent(next: u64, id: NodeId, kind: u8, name: &str) -> Vec<u8> {
    let mut record = vec![0; 24];
    record[0..8].copy_from_slice(&next.to_le_bytes());
    record[8..16].copy_from_slice(&(id as u64 + 1).to_le_bytes());
    record[16..20].copy_from_slice(&u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
    record[20] = kind;
    record.extend_from_slice(name.as_bytes());
    record
}
