//! The longest path through each stretch of a function: an upper bound of what one entry of it executes.
//!
//! Outside its loops, code goes forward only, so the longest path to each instruction is known when its turn comes: the longest of the paths that
//! meet there. A path that leaves a loop goes on in the stretch around it with what that had executed when the loop began; the loop's own
//! turns are charged at its head. An exception is taken to have come from the end of the longest path so far.

use wasmparser::{Catch, Operator};

use super::stretches::{Cost, Stretch, Stretches, Walk, leaves_function};

struct OpenBlock {
    kind: BlockKind,
    /// The stretch it lies in; of a loop, the one around it.
    stretch: usize,
    /// The longest path to its beginning, in that stretch; `None` where none leads there.
    entered: Option<Cost>,
    /// The longest path by which a branch goes to its end.
    branched: Option<Cost>,
}

enum BlockKind {
    Block,
    Loop,
    /// An `if` whose condition may be false without an `else`.
    If,
    /// The depths that its exceptions go to, counted from outside of it.
    Try(Vec<u32>),
}

pub(super) struct LongestPath {
    blocks: Vec<OpenBlock>,
    stretches: Vec<Stretch>,
    /// Of each stretch that a loop is open in, the path to that loop.
    to_loop: Vec<Option<Cost>>,
    stretch: usize,
    /// The longest path to the next instruction, from the head of its stretch; `None` where none leads there.
    path: Option<Cost>,
}

impl LongestPath {
    pub(super) fn new() -> Self {
        let begun = Some(Cost::CALLED);
        let whole = OpenBlock { kind: BlockKind::Block, stretch: 0, entered: begun, branched: None };
        let stretches = vec![Stretch::default()];
        Self { blocks: vec![whole], stretches, to_loop: vec![None], stretch: 0, path: begun }
    }

    fn open(&mut self, kind: BlockKind) {
        self.blocks.push(OpenBlock { kind, stretch: self.stretch, entered: self.path, branched: None });
    }

    fn open_loop(&mut self) {
        self.open(BlockKind::Loop);
        self.to_loop[self.stretch] = self.path;
        self.stretch = self.stretches.len();
        self.stretches.push(Stretch::default());
        self.to_loop.push(None);
        self.path = Some(Cost::default());
    }

    /// A branch at the end of `path`. One to a loop's head begins another turn, which is charged there.
    fn branch(&mut self, depth: u32, path: Option<Cost>) {
        let index = self.blocks.len().checked_sub(1 + depth as usize);
        let Some(block) = index.and_then(|index| self.blocks.get_mut(index)) else { return };
        let path = if block.stretch == self.stretch { path } else { self.to_loop[block.stretch] };
        if !matches!(block.kind, BlockKind::Loop) {
            block.branched = longer(block.branched, path);
        }
    }

    fn enter_else(&mut self) {
        if let Some(block) = self.blocks.last_mut() {
            block.kind = BlockKind::Block;
            block.branched = longer(block.branched, self.path);
            self.path = block.entered;
        }
    }

    fn close(&mut self) {
        let Some(OpenBlock { kind, stretch, entered, branched }) = self.blocks.pop() else { return };
        let longest = self.stretches[self.stretch].cost;
        self.stretch = stretch;
        self.path = match kind {
            BlockKind::Block => longer(self.path, branched),
            BlockKind::If => longer(longer(self.path, branched), entered),
            BlockKind::Loop => self.path.and(entered),
            BlockKind::Try(caught) => {
                caught.into_iter().for_each(|depth| self.branch(depth, Some(longest)));
                longer(self.path, branched)
            }
        };
    }
}

impl Walk for LongestPath {
    fn step(&mut self, operator: &Operator<'_>, cost: Cost) {
        let stretch = &mut self.stretches[self.stretch];
        stretch.length += 1;
        if let Some(path) = &mut self.path {
            path.add(cost, 1.0);
            stretch.cost = stretch.cost.max(*path);
            stretch.addresses.step(operator, 1.0);
        }
        match operator {
            Operator::Block { .. } => self.open(BlockKind::Block),
            Operator::TryTable { try_table } => {
                self.open(BlockKind::Try(try_table.catches.iter().map(target).collect()));
            }
            Operator::Loop { .. } => self.open_loop(),
            Operator::If { .. } => self.open(BlockKind::If),
            Operator::Else => self.enter_else(),
            Operator::End => self.close(),
            Operator::BrIf { relative_depth }
            | Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => self.branch(*relative_depth, self.path),
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth, self.path);
                self.path = None;
            }
            Operator::BrTable { targets } => {
                let depths = targets.targets().filter_map(Result::ok).chain([targets.default()]);
                depths.for_each(|depth| self.branch(depth, self.path));
                self.path = None;
            }
            other if leaves_function(other) => self.path = None,
            _ => {}
        }
    }

    fn finish(self) -> Stretches {
        Stretches(self.stretches)
    }
}

fn longer(a: Option<Cost>, b: Option<Cost>) -> Option<Cost> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// The depth that an exception goes to.
const fn target(catch: &Catch) -> u32 {
    match catch {
        Catch::One { label, .. } | Catch::OneRef { label, .. } | Catch::All { label } | Catch::AllRef { label } => {
            *label
        }
    }
}
