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

    /// What entering a function costs, whatever it does.
    pub(super) const CALLED: Self = Self::new(1.0, 0.0);

    /// Of each number the larger one.
    pub(super) fn max(self, other: Self) -> Self {
        Self { sum: self.sum.max(other.sum), accesses: self.accesses.max(other.accesses), far: self.far.max(other.far) }
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

pub(super) struct Charges {
    /// The function's own charge, 0 where its callers are charged.
    pub(super) entry: u32,
    /// The charges of its loops, in the order they begin.
    pub(super) loops: Vec<u32>,
}

/// Goes over the instructions of a function, in their order.
pub(super) trait Walk {
    /// One instruction, and what it costs executed once.
    fn step(&mut self, operator: &Operator<'_>, cost: Cost);

    fn finish(self) -> Stretches;
}

/// A stretch of code: what it costs, how many instructions it has, and which memory it names.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    pub(super) cost: Cost,
    pub(super) length: usize,
    pub(super) addresses: Addresses,
}

/// The stretches of a function. The first is the function's own, the others those of its loops, in the order they begin.
pub(super) struct Stretches(pub(super) Vec<Stretch>);

impl Stretches {
    /// Of the function outside its loops.
    pub(super) fn function_cost(&self) -> Cost {
        self.0[0].cost
    }

    pub(super) fn charges(self) -> Charges {
        let turn = |Stretch { cost, length, addresses }: &Stretch| {
            Cost { far: cost.far + addresses.far(), ..*cost }.turn_units(*length)
        };
        Charges { entry: self.function_cost().entry_units(), loops: self.0.iter().skip(1).map(turn).collect() }
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
