//! The in-memory file tree of one job.
//!
//! The interpreter's library is shared and read-only. Everything a job writes counts against its byte cap, including the nodes themselves, so
//! that empty files are not free. There are no links, owners or permissions.

use std::collections::BTreeMap;
use std::sync::Arc;

use veriplay_core::LimitKind;

use super::errno::{Errno, SyscallResult};
use super::work::SyscallWork;
use crate::host_trap::HostTrap;

/// Bytes charged for a file or directory in addition to its name and content.
const NODE_BYTES: u64 = 256;
/// The most components of a path.
const MAX_COMPONENTS: usize = 128;

/// A place in [`Tree::nodes`]; also the inode number the guest sees, less one.
pub(crate) type NodeId = usize;

pub(crate) const ROOT: NodeId = 0;

#[derive(Debug, Clone)]
pub(crate) enum FileContent {
    /// Bytes of the image's or the job's, copied only when written.
    Shared(Arc<Vec<u8>>),
    Owned(Vec<u8>),
}

impl FileContent {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            FileContent::Shared(bytes) => bytes,
            FileContent::Owned(bytes) => bytes,
        }
    }

    fn owned_len(&self) -> u64 {
        match self {
            FileContent::Shared(_) => 0,
            FileContent::Owned(bytes) => bytes.len() as u64,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Dir(BTreeMap<String, NodeId>),
    File(FileContent),
    /// `/dev/null`
    Null,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) read_only: bool,
    pub(crate) modified_ns: u64,
    pub(crate) accessed_ns: u64,
    /// The directory that names it; the root's own, and that of what no directory names any more, says nothing.
    parent: NodeId,
    open: u32,
    /// Whether a directory names it.
    linked: bool,
    /// Bytes charged for its creation.
    charge: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<NodeId>,
    used: u64,
    cap: u64,
    pub(crate) work: SyscallWork,
}

/// The node or place that a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    /// The directory that holds the last component.
    pub(crate) parent: NodeId,
    /// The last component; empty when the path names `parent` itself.
    pub(crate) name: String,
    pub(crate) node: Option<NodeId>,
    /// Whether the path ended in a slash, and so must be a directory.
    pub(crate) must_be_dir: bool,
}

impl Tree {
    /// A tree with an empty root and no cap.
    pub(crate) fn new() -> Self {
        let mut tree =
            Self { nodes: Vec::new(), free: Vec::new(), used: 0, cap: u64::MAX, work: SyscallWork::default() };
        tree.insert(ROOT, NodeKind::Dir(BTreeMap::new()), true, 0);
        tree
    }

    /// Counts what is written from now on against `cap`.
    pub(crate) fn set_cap(&mut self, cap: u64) {
        self.cap = cap;
        self.used = 0;
        for node in self.nodes.iter_mut().flatten() {
            node.charge = 0;
        }
    }

    /// Makes every node writable, for programs of the test suite.
    #[cfg(feature = "conformance")]
    pub(crate) fn make_writable(&mut self) {
        self.nodes.iter_mut().flatten().for_each(|node| node.read_only = false);
    }

    fn insert(&mut self, parent: NodeId, kind: NodeKind, read_only: bool, charge: u64) -> NodeId {
        let node = Node { kind, read_only, modified_ns: 0, accessed_ns: 0, parent, open: 0, linked: true, charge };
        match self.free.pop() {
            Some(id) => {
                self.nodes[id] = Some(node);
                id
            }
            None => {
                self.nodes.push(Some(node));
                self.nodes.len() - 1
            }
        }
    }

    /// The node `id`. Ids come from this tree and live as long as a directory or a descriptor holds them.
    pub(crate) fn node(&self, id: NodeId) -> Result<&Node, Errno> {
        self.nodes.get(id).and_then(Option::as_ref).ok_or(Errno::NOENT)
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(id).and_then(Option::as_mut).ok_or(Errno::NOENT)
    }

    pub(crate) fn children(&self, id: NodeId) -> Result<&BTreeMap<String, NodeId>, Errno> {
        match &self.node(id)?.kind {
            NodeKind::Dir(children) => Ok(children),
            _ => Err(Errno::NOTDIR),
        }
    }

    fn children_mut(&mut self, id: NodeId) -> Result<&mut BTreeMap<String, NodeId>, Errno> {
        match &mut self.node_mut(id)?.kind {
            NodeKind::Dir(children) => Ok(children),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Where `path` leads from directory `base`. An absolute path starts at the root, `..` above `base` too: there is
    /// nothing outside the tree to escape to.
    pub(crate) fn resolve(&self, base: NodeId, path: &str) -> Result<ResolvedPath, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        let mut trail = vec![if path.starts_with('/') { ROOT } else { base }];
        let components: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if components.len() > MAX_COMPONENTS {
            return Err(Errno::LOOP);
        }
        let must_be_dir = path.ends_with('/') || path.ends_with("/.");
        for (index, part) in components.iter().enumerate() {
            let here = *trail.last().expect("the trail starts with one node and keeps one");
            let found = self.children(here)?.get(*part).copied();
            let last = index + 1 == components.len();
            match (*part, found) {
                ("..", _) if trail.len() > 1 => drop(trail.pop()),
                ("..", _) => trail[0] = ROOT,
                (_, node) if last => {
                    return Ok(ResolvedPath { parent: here, name: (*part).to_owned(), node, must_be_dir });
                }
                (_, Some(node)) => trail.push(node),
                (_, None) => return Err(Errno::NOENT),
            }
        }
        let here = *trail.last().expect("the trail starts with one node and keeps one");
        Ok(ResolvedPath { parent: here, name: String::new(), node: Some(here), must_be_dir: true })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        let place = self.resolve(ROOT, path).ok()?;
        match &self.node(place.node?).ok()?.kind {
            NodeKind::File(content) => Some(content.bytes()),
            NodeKind::Dir(_) | NodeKind::Null => None,
        }
    }

    fn charge(&mut self, bytes: u64) -> Result<(), HostTrap> {
        let used = self.used.saturating_add(bytes);
        if used > self.cap {
            return Err(HostTrap::exceeded(LimitKind::FileBytes, self.cap, used));
        }
        self.used = used;
        Ok(())
    }

    pub(crate) fn create(&mut self, parent: NodeId, name: &str, kind: NodeKind, now: u64) -> SyscallResult<NodeId> {
        self.check_linked(parent)?;
        if self.node(parent)?.read_only {
            return Err(Errno::ROFS.into());
        }
        if name.len() > 255 {
            return Err(Errno::NAMETOOLONG.into());
        }
        let charge = NODE_BYTES + name.len() as u64;
        self.charge(charge)?;
        let id = self.insert(parent, kind, false, charge);
        self.touch(id, now)?;
        self.touch(parent, now)?;
        self.children_mut(parent)?.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Checks that `dir` is not a removed directory that is still open: only its descriptor would lead to a new entry.
    fn check_linked(&self, dir: NodeId) -> Result<(), Errno> {
        if self.node(dir)?.linked { Ok(()) } else { Err(Errno::NOENT) }
    }

    pub(crate) fn touch(&mut self, id: NodeId, now: u64) -> Result<(), Errno> {
        let node = self.node_mut(id)?;
        (node.modified_ns, node.accessed_ns) = (now, now);
        Ok(())
    }

    /// Inserts `path` with all directories on the way, without charge. It replaces a file, not a directory.
    pub(crate) fn insert_path(&mut self, path: &str, kind: NodeKind, read_only: bool) -> Result<NodeId, Errno> {
        let mut here = ROOT;
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        let mut kind = Some(kind);
        while let Some(part) = parts.next() {
            let known = self.children(here)?.get(part).copied();
            let last = parts.peek().is_none();
            here = match known {
                Some(node) if !last => node,
                Some(node) if matches!(self.node(node)?.kind, NodeKind::Dir(_)) => return Err(Errno::EXIST),
                _ => {
                    let new = if last { kind.take().ok_or(Errno::INVAL)? } else { NodeKind::Dir(BTreeMap::new()) };
                    let id = self.insert(here, new, read_only, 0);
                    self.children_mut(here)?.insert(part.to_owned(), id);
                    id
                }
            };
        }
        Ok(here)
    }

    /// Sets the file that holds a job's input: the one at `path`, or one without a name if the tree has none there.
    pub(crate) fn set_input_file(&mut self, path: &str, bytes: Vec<u8>) -> NodeId {
        let kind = NodeKind::File(FileContent::Shared(Arc::new(bytes)));
        let place = self.resolve(ROOT, path).ok().and_then(|place| place.node);
        if let Some(id) = place
            && let Ok(node) = self.node_mut(id)
        {
            node.kind = kind;
            return id;
        }
        let id = self.insert(ROOT, kind, true, 0);
        self.nodes[id].iter_mut().for_each(|node| node.linked = false);
        id
    }

    pub(crate) fn open_node(&mut self, id: NodeId) -> Result<(), Errno> {
        self.node_mut(id)?.open += 1;
        Ok(())
    }

    pub(crate) fn close_node(&mut self, id: NodeId) -> Result<(), Errno> {
        let node = self.node_mut(id)?;
        node.open = node.open.saturating_sub(1);
        self.reclaim(id);
        Ok(())
    }

    /// Frees a node that nothing names and nothing holds open.
    fn reclaim(&mut self, id: NodeId) {
        let Some(Some(node)) = self.nodes.get(id) else { return };
        if node.linked || node.open > 0 {
            return;
        }
        let owned = if let NodeKind::File(content) = &node.kind { content.owned_len() } else { 0 };
        self.used = self.used.saturating_sub(node.charge + owned);
        self.nodes[id] = None;
        self.free.push(id);
    }

    /// Takes `name` out of `parent`. The caller has checked what it is.
    pub(crate) fn unlink(&mut self, parent: NodeId, name: &str) -> SyscallResult {
        let id = *self.children(parent)?.get(name).ok_or(Errno::NOENT)?;
        if self.node(id)?.read_only || self.node(parent)?.read_only {
            return Err(Errno::ROFS.into());
        }
        self.children_mut(parent)?.remove(name);
        self.node_mut(id)?.linked = false;
        self.reclaim(id);
        Ok(())
    }

    /// Moves a node to another place, replacing what is there. The caller has checked that this is allowed.
    pub(crate) fn move_node(&mut self, from: &ResolvedPath, to: &ResolvedPath) -> SyscallResult {
        let id = from.node.ok_or(Errno::NOENT)?;
        if self.node(id)?.read_only || self.node(from.parent)?.read_only || self.node(to.parent)?.read_only {
            return Err(Errno::ROFS.into());
        }
        if to.node == Some(id) {
            return Ok(());
        }
        self.check_linked(to.parent)?;
        if self.is_inside(to.parent, id)? {
            return Err(Errno::INVAL.into());
        }
        if to.node.is_some() {
            self.unlink(to.parent, &to.name)?;
        }
        self.children_mut(from.parent)?.remove(&from.name);
        self.children_mut(to.parent)?.insert(to.name.clone(), id);
        self.node_mut(id)?.parent = to.parent;
        Ok(())
    }

    /// Whether `node` is `ancestor` or below it: upward from `node`, so that it takes no longer in a large directory.
    fn is_inside(&mut self, node: NodeId, ancestor: NodeId) -> Result<bool, Errno> {
        let mut here = node;
        loop {
            self.work.add_steps(1);
            if here == ancestor || here == ROOT {
                return Ok(here == ancestor);
            }
            here = self.node(here)?.parent;
        }
    }

    pub(crate) fn read_at(&self, id: NodeId, offset: u64, out: &mut [u8]) -> Result<usize, Errno> {
        let bytes = match &self.node(id)?.kind {
            NodeKind::File(content) => content.bytes(),
            NodeKind::Null => return Ok(0),
            NodeKind::Dir(_) => return Err(Errno::ISDIR),
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let count = out.len().min(bytes.len() - start);
        out[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    pub(crate) fn write_at(&mut self, id: NodeId, offset: u64, bytes: &[u8]) -> SyscallResult {
        if matches!(self.node(id)?.kind, NodeKind::Null) || bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).ok_or(Errno::INVAL)?;
        let size = self.size(id)?.max(end);
        let owned = self.resize(id, size)?;
        // `resize` has stayed within the cap, so `end` is an index.
        let start = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        owned[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn size(&self, id: NodeId) -> Result<u64, Errno> {
        Ok(match &self.node(id)?.kind {
            NodeKind::File(content) => content.bytes().len() as u64,
            NodeKind::Dir(_) | NodeKind::Null => 0,
        })
    }

    /// Resizes the file to `size` bytes, makes its content the program's own, and charges the growth.
    pub(crate) fn resize(&mut self, id: NodeId, size: u64) -> SyscallResult<&mut Vec<u8>> {
        let node = self.node(id)?;
        let NodeKind::File(content) = &node.kind else { return Err(Errno::INVAL.into()) };
        if node.read_only {
            return Err(Errno::ROFS.into());
        }
        let owned = content.owned_len();
        if size > owned {
            self.charge(size - owned)?;
        } else {
            self.used -= owned - size;
        }
        let kept = self.size(id)?.min(size);
        self.work.add_bytes(size - kept);
        if matches!(&self.node(id)?.kind, NodeKind::File(FileContent::Shared(_))) {
            self.work.add_bytes(kept);
        }
        let size = usize::try_from(size).map_err(|_| Errno::INVAL)?;
        let NodeKind::File(content) = &mut self.node_mut(id)?.kind else { return Err(Errno::INVAL.into()) };
        if let FileContent::Shared(shared) = content {
            *content = FileContent::Owned(shared[..size.min(shared.len())].to_vec());
        }
        let FileContent::Owned(bytes) = content else { return Err(Errno::INVAL.into()) };
        bytes.resize(size, 0);
        shrink_spare(bytes);
        Ok(bytes)
    }
}

/// Frees the spare capacity of a shortened file, which no cap counts. At most half the capacity is copied, which growing has paid for.
fn shrink_spare(bytes: &mut Vec<u8>) {
    const SPARE: usize = 4096;
    if bytes.capacity() > 2 * bytes.len() + SPARE {
        bytes.shrink_to_fit();
    }
}
