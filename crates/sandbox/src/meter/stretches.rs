//! Stretches of code, and what each costs: see [`super::estimate`].

use wasmparser::Operator;

use super::waits::Addresses;

/// What a load or a store costs in a tight loop, one of fewer instructions than [`TIGHT`]: where it is near the last one, and where it
/// [may be anywhere](Addresses). Such a loop has a handful of instructions for each cache line or page that it may have to wait for, and
/// next to nothing that a processor could do meanwhile. The interpreter's own loop is far longer, though each turn of it goes one short
/// way.
const NEAR: f64 = 4.0;
const FAR: f64 = 40.0;
const TIGHT: usize = 256;
/// What a far one costs by an upper bound, under which a path's length counts in full, and a near one costs no more than another instruction: a loop
/// seldom waits as long as it may. Of 26 C++ programs, a native second takes 2.4 to 125 G units so, and took 3.5 to 538 G with the prices above
/// and paths that did not pay apart (`scripts/native-second cpp`).
const WAIT: f64 = 4.0;

/// A number of executed instructions, with its loads and stores.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    sum: f64,
    accesses: f64,
    /// The accesses that may have to wait for memory.
    far: f64,
}

impl Cost {
    /// Of instructions that take `sum` units, with so many loads and stores.
    pub(super) const fn new(sum: f64, accesses: f64) -> Self {
        Self { sum, accesses, far: 0.0 }
    }

    /// The same in whole units.
    pub(super) fn rounded(self) -> Self {
        Self { sum: f64::from(self.entry_units()), ..self }
    }

    /// Units, where each access waits so long.
    pub(super) const fn with_waits(self, wait: f64) -> f64 {
        self.sum + self.accesses * wait
    }

    pub(super) fn add(&mut self, other: Self, times: f64) {
        self.sum += other.sum * times;
        self.accesses += other.accesses * times;
        self.far += other.far * times;
    }

    /// The units of one execution: at least one, so that nothing is free.
    fn entry_units(self) -> u32 {
        (self.sum.ceil() as u32).max(1)
    }

    /// The units of a turn of a loop of `length` instructions.
    fn turn_units(self, length: usize) -> u32 {
        let near = (self.accesses - self.far).max(0.0);
        let waits = if length < TIGHT { (NEAR - 1.0) * near + (FAR - 1.0) * self.far } else { 0.0 };
        Self { sum: self.sum + waits, ..self }.entry_units()
    }
}

/// What is taken off the fuel at a place of a function: the number of an instruction.
pub(super) struct Charge {
    pub(super) place: usize,
    pub(super) units: u32,
}

/// All that a function charges, places in ascending order.
pub(super) struct Charges {
    /// The function's own charge, 0 where its callers are charged.
    pub(super) entry: u32,
    /// Behind an instruction: at the head of a loop, or where a longer path begins.
    pub(super) behind: Vec<Charge>,
    /// Where a branch is taken.
    pub(super) taken: Vec<Charge>,
}

/// A stretch of code: what it costs, how many instructions it has, and which memory it names.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    /// The place of its loop.
    pub(super) head: usize,
    pub(super) cost: Cost,
    pub(super) length: usize,
    pub(super) addresses: Addresses,
}

impl Stretch {
    fn charge_of_turn(&self) -> Charge {
        let cost = Cost { far: self.cost.far + self.addresses.far(), ..self.cost };
        Charge { place: self.head, units: cost.turn_units(self.length) }
    }

    /// What an access costs besides its instruction by an upper bound, on the average of all that the loop has.
    pub(super) fn wait_of_access(&self) -> f64 {
        if self.length >= TIGHT || self.cost.accesses == 0.0 {
            return 0.0;
        }
        (WAIT - 1.0) * (self.addresses.far() / self.cost.accesses).min(1.0)
    }
}

/// The stretches of a function. The first is the function's own, the others those of its loops, in the order they begin.
pub(super) struct Stretches(pub(super) Vec<Stretch>);

impl Stretches {
    /// Of the function outside its loops.
    pub(super) fn function_cost(&self) -> Cost {
        self.0[0].cost
    }

    pub(super) fn charges(self) -> Charges {
        let behind = self.0.iter().skip(1).map(Stretch::charge_of_turn).collect();
        Charges { entry: self.function_cost().entry_units(), behind, taken: Vec::new() }
    }
}

/// Whether what stands behind it is not executed, whatever is around it but a handler of exceptions.
pub(super) const fn leaves_function(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Return
            | Operator::Unreachable
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. }
    )
}
