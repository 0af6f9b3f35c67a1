//! Estimates which loads and stores of a loop may wait for memory in each turn: those whose address is not a constant step from the last.
//!
//! That is an address which the loop advances by something else than a constant (a walk with a stride), or which is made of a number
//! that the loop has loaded (a gather, or a list of pointers). A walk by constant steps finds all but the first of a cache line near,
//! and the processor fetches ahead of it. What is made of a byte, or masked, points into a small table.
//!
//! This estimates the origin of addresses, instruction by instruction in textual order, and forgets what it does not understand. It need not
//! be right, see [`super::estimate`].

use std::collections::{BTreeMap, HashMap, HashSet};

use wasmparser::Operator;

/// The origin of a number on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressOrigin {
    /// Something near, or unknown.
    Near,
    Constant,
    /// A local, perhaps with a constant added.
    Local(u32),
    Sum(u32, u32),
    /// A number from the memory, perhaps with a constant added: a pointer.
    Loaded,
    /// Made of a number from the memory and others.
    Indexed,
}

/// How many other accesses one by an index is worth: each may go to another page, while pointers mostly lead to neighbours.
const INDEXED: f64 = 3.0;

impl AddressOrigin {
    fn is_of_memory(self) -> bool {
        matches!(self, Self::Loaded | Self::Indexed)
    }
}

/// The addresses in the code of one loop, without the loops in it.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    stack: Vec<AddressOrigin>,
    /// Locals that hold a number that is made of a loaded one.
    loaded: HashMap<u32, AddressOrigin>,
    /// Locals that hold the sum of two.
    sums: HashMap<u32, (u32, u32)>,
    /// Locals that are advanced by something else than a constant.
    strided: HashSet<u32>,
    /// How often each local is the address of an access, in an order: sums of such numbers depend on it in their last bit, which a charge rounds up.
    by_local: BTreeMap<u32, f64>,
    /// How often an address is made of a loaded number, weighted.
    gathers: f64,
}

impl Addresses {
    /// How many accesses may wait, for one turn.
    pub(super) fn far(&self) -> f64 {
        let walks = self.by_local.iter().filter(|(local, _)| self.strided.contains(local)).map(|(_, times)| times);
        self.gathers + walks.sum::<f64>()
    }

    /// Goes over one instruction, executed `times` for a turn.
    pub(super) fn step(&mut self, operator: &Operator<'_>, times: f64) {
        match operator {
            Operator::I32Const { .. } => self.stack.push(AddressOrigin::Constant),
            Operator::LocalGet { local_index } => {
                let loaded = self.loaded.get(local_index).copied();
                self.stack.push(loaded.unwrap_or(AddressOrigin::Local(*local_index)));
            }
            Operator::LocalSet { local_index } => {
                let origin = self.pop();
                self.set(*local_index, origin);
            }
            Operator::LocalTee { local_index } => {
                let origin = self.pop();
                self.set(*local_index, origin);
                self.stack.push(if origin.is_of_memory() { origin } else { AddressOrigin::Local(*local_index) });
            }
            Operator::I32Add | Operator::I32Sub => self.add(),
            Operator::I32Mul | Operator::I32Shl => {
                let loaded = [self.pop(), self.pop()].iter().any(|origin| origin.is_of_memory());
                self.stack.push(if loaded { AddressOrigin::Indexed } else { AddressOrigin::Near });
            }
            Operator::I32And | Operator::I32Or | Operator::I32Xor | Operator::I32ShrU | Operator::I32ShrS => {
                self.near(2)
            }
            Operator::I32Load { .. } => {
                self.access(times);
                self.stack.push(AddressOrigin::Loaded);
            }
            Operator::MemoryCopy { .. } => {
                self.pop();
                self.access(times);
                self.access(times);
            }
            _ if is_load(operator) => {
                self.access(times);
                self.stack.push(AddressOrigin::Near);
            }
            _ if is_store(operator) => {
                self.pop();
                self.access(times);
            }
            Operator::Select => {
                self.pop();
                let (b, a) = (self.pop(), self.pop());
                self.stack.push(if a.is_of_memory() { a } else { b });
            }
            Operator::BrIf { .. } | Operator::If { .. } | Operator::Drop => {
                self.pop();
            }
            Operator::I32Eqz => self.near(1),
            Operator::I32Eq
            | Operator::I32Ne
            | Operator::I32LtS
            | Operator::I32LtU
            | Operator::I32GtS
            | Operator::I32GtU
            | Operator::I32LeS
            | Operator::I32LeU
            | Operator::I32GeS
            | Operator::I32GeU => self.near(2),
            _ => self.stack.clear(),
        }
    }

    fn pop(&mut self) -> AddressOrigin {
        self.stack.pop().unwrap_or(AddressOrigin::Near)
    }

    /// Something near instead of so many numbers.
    fn near(&mut self, numbers: usize) {
        for _ in 0..numbers {
            self.pop();
        }
        self.stack.push(AddressOrigin::Near);
    }

    fn add(&mut self) {
        let sum = match (self.pop(), self.pop()) {
            (AddressOrigin::Constant, other) | (other, AddressOrigin::Constant) => other,
            (a, b) if a.is_of_memory() || b.is_of_memory() => AddressOrigin::Indexed,
            (AddressOrigin::Local(a), AddressOrigin::Local(b)) => AddressOrigin::Sum(a, b),
            _ => AddressOrigin::Near,
        };
        self.stack.push(sum);
    }

    fn set(&mut self, local: u32, origin: AddressOrigin) {
        self.loaded.remove(&local);
        let sum = match origin {
            AddressOrigin::Sum(a, b) => Some((a, b)),
            AddressOrigin::Local(other) if other != local => self.sums.get(&other).copied(),
            _ => None,
        };
        match sum {
            Some((a, b)) if a == local || b == local => drop(self.strided.insert(local)),
            Some(sum) => drop(self.sums.insert(local, sum)),
            None => drop(self.sums.remove(&local)),
        }
        if origin.is_of_memory() {
            self.loaded.insert(local, origin);
        }
    }

    /// An access of what is on top of the stack.
    fn access(&mut self, times: f64) {
        let mut count = |local| *self.by_local.entry(local).or_default() += times;
        match self.stack.pop() {
            Some(AddressOrigin::Loaded) => self.gathers += times,
            Some(AddressOrigin::Indexed) => self.gathers += INDEXED * times,
            Some(AddressOrigin::Local(local)) => count(local),
            Some(AddressOrigin::Sum(a, b)) => {
                count(a);
                count(b);
            }
            Some(AddressOrigin::Near | AddressOrigin::Constant) | None => {}
        }
    }
}

/// Whether it reads one place of the memory.
pub(super) const fn is_load(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::I32Load { .. }
            | Operator::I32Load8S { .. }
            | Operator::I32Load8U { .. }
            | Operator::I32Load16S { .. }
            | Operator::I32Load16U { .. }
            | Operator::I64Load { .. }
            | Operator::I64Load8S { .. }
            | Operator::I64Load8U { .. }
            | Operator::I64Load16S { .. }
            | Operator::I64Load16U { .. }
            | Operator::I64Load32S { .. }
            | Operator::I64Load32U { .. }
            | Operator::F32Load { .. }
            | Operator::F64Load { .. }
            | Operator::V128Load { .. }
    )
}

/// Whether it writes one place of the memory.
pub(super) const fn is_store(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::I32Store { .. }
            | Operator::I32Store8 { .. }
            | Operator::I32Store16 { .. }
            | Operator::I64Store { .. }
            | Operator::I64Store8 { .. }
            | Operator::I64Store16 { .. }
            | Operator::I64Store32 { .. }
            | Operator::F32Store { .. }
            | Operator::F64Store { .. }
            | Operator::V128Store { .. }
    )
}
