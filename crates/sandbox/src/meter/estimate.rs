//! How many instructions a stretch of code executes: its charge.
//!
//! A *stretch* is the code of a function outside its loops, or the code of one loop outside the loops in it. It is entered
//! at one place, its head, and charged there. By [`Pricing::Estimate`] the charge is the sum over its instructions of how often each is executed
//! for one entry, where a branch that could go either way is taken to go [each way with some probability](TAKEN) (static
//! profile estimation, as in Wu and Larus, "Static branch frequency and program profile analysis", MICRO 1994, with one
//! probability for all branches). It need not be right: it must be at least one, and a function of only the module.
//! By [`Pricing::UpperBound`] it is the price of the [longest path](super::longest) through the stretch, but for what paths that part pay apart.

use wasmparser::{BinaryReaderError, FunctionBody, Operator};

use super::Pricing;
use super::longest::LongestPath;
use super::stretches::{Charges, Cost, Stretch, Stretches, leaves_function};
use super::unmetered::UnmeteredFunctions;
use super::waits::{is_load, is_store};

/// How probable it is that a conditional forward branch is taken: a power of two, so that sums are exact.
const TAKEN: f64 = 0.25;
/// What an integer division costs, or a division or square root of floats: its time, in other instructions'.
const DIVISION: f64 = 8.0;
/// What a product of floats costs, which is a call: see [`super::subnormal`].
const PRODUCT: f64 = 3.0;
/// What a vector's product costs, whose numbers are not looked at: they may all be subnormal.
const VECTOR_PRODUCT: f64 = 64.0;
/// What copying or filling costs in addition to the bytes: a call.
const BULK: f64 = 24.0;
/// What a call costs whose target is not known before it is made, on top of what that charges.
const INDIRECT: f64 = 4.0;
/// What an instruction costs that the engine's own code carries out, by an upper bound.
const ENGINE_CALL: f64 = 200.0;
/// Where paths part or meet, variables may have to be moved to where the other path expects them, by no instruction of the module. By an upper
/// bound so many of a function's variables are moved for a unit, wherever that can be.
const MOVED: u32 = 64;

/// The costs that callers are charged for unmetered functions.
pub(super) struct Estimates {
    pricing: Pricing,
    imported: u32,
    /// For each function of the module, its cost if its callers are charged for it.
    caller_costs: Vec<Option<Cost>>,
}

impl Estimates {
    pub(super) fn compute(
        bodies: &[FunctionBody<'_>],
        imported: u32,
        unmetered: &UnmeteredFunctions,
        pricing: Pricing,
    ) -> Result<Self, BinaryReaderError> {
        let mut estimates = Self { pricing, imported, caller_costs: vec![None; bodies.len()] };
        for &index in unmetered.callees_first() {
            let cost = estimates.walk(&bodies[index])?.function_cost();
            estimates.caller_costs[index] = Some(cost.rounded());
        }
        Ok(estimates)
    }

    pub(super) fn charges(&self, index: usize, body: &FunctionBody<'_>) -> Result<Charges, BinaryReaderError> {
        if self.pricing == Pricing::UpperBound {
            return self.longest_path(body);
        }
        let charges = self.walk(body)?.charges();
        let by_callers = self.caller_costs.get(index).is_some_and(Option::is_some);
        Ok(if by_callers { Charges { entry: 0, ..charges } } else { charges })
    }

    fn walk(&self, body: &FunctionBody<'_>) -> Result<Stretches, BinaryReaderError> {
        let mut walk = FunctionWalk::new();
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            walk.step(&operator, self.cost(&operator));
        }
        Ok(Stretches(walk.stretches))
    }

    fn longest_path(&self, body: &FunctionBody<'_>) -> Result<Charges, BinaryReaderError> {
        let moves = Cost::new(f64::from(count_variables(body)? / MOVED), 0.0);
        let mut path = LongestPath::new();
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            let mut cost = self.cost(&operator);
            if is_parting_or_meeting(&operator) {
                cost.add(moves, 1.0);
            }
            path.step(&operator, cost);
        }
        Ok(path.charges())
    }

    /// The cost of one instruction, executed once.
    fn cost(&self, operator: &Operator<'_>) -> Cost {
        let accesses = if is_load(operator) || is_store(operator) { 1.0 } else { 0.0 };
        let engine_call = self.pricing == Pricing::UpperBound && is_engine_call(operator);
        let sum = instruction_price(operator) + if engine_call { ENGINE_CALL } else { 0.0 };
        let mut cost = Cost::new(sum, accesses);
        if let Operator::Call { function_index } = operator {
            cost.add(self.caller_cost(*function_index), 1.0);
        }
        cost
    }

    fn caller_cost(&self, function: u32) -> Cost {
        let defined = function.checked_sub(self.imported).and_then(|index| self.caller_costs.get(index as usize));
        defined.copied().flatten().unwrap_or_default()
    }
}

/// How many charges a function gets by an upper bound: at its head, at those of its loops, and where paths part.
pub(crate) fn count_charges(body: &FunctionBody<'_>) -> Result<u64, BinaryReaderError> {
    let estimates = Estimates { pricing: Pricing::UpperBound, imported: 0, caller_costs: Vec::new() };
    let Charges { behind, taken, .. } = estimates.longest_path(body)?;
    Ok(1 + (behind.len() + taken.len()) as u64)
}

/// The price of one instruction, wherever it stands.
const fn instruction_price(operator: &Operator<'_>) -> f64 {
    match operator {
        Operator::Nop
        | Operator::Drop
        | Operator::Block { .. }
        | Operator::Loop { .. }
        | Operator::Unreachable
        | Operator::Return
        | Operator::Else
        | Operator::End => 0.0,
        Operator::CallIndirect { .. } | Operator::CallRef { .. } => 1.0 + INDIRECT,
        Operator::I32DivS
        | Operator::I32DivU
        | Operator::I32RemS
        | Operator::I32RemU
        | Operator::I64DivS
        | Operator::I64DivU
        | Operator::I64RemS
        | Operator::I64RemU
        | Operator::F32Div
        | Operator::F64Div
        | Operator::F32Sqrt
        | Operator::F64Sqrt => DIVISION,
        Operator::F32Mul | Operator::F64Mul | Operator::F32DemoteF64 | Operator::F64PromoteF32 => PRODUCT,
        Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } | Operator::MemoryInit { .. } => BULK,
        Operator::F32x4Mul
        | Operator::F32x4Div
        | Operator::F32x4Sqrt
        | Operator::F64x2Mul
        | Operator::F64x2Div
        | Operator::F64x2Sqrt
        | Operator::F32x4DemoteF64x2Zero
        | Operator::F64x2PromoteLowF32x4
        | Operator::F32x4RelaxedMadd
        | Operator::F32x4RelaxedNmadd
        | Operator::F64x2RelaxedMadd
        | Operator::F64x2RelaxedNmadd => VECTOR_PRODUCT,
        _ => 1.0,
    }
}

/// How many variables a function has beside its parameters.
fn count_variables(body: &FunctionBody<'_>) -> Result<u32, BinaryReaderError> {
    let mut count = 0_u32;
    for group in body.get_locals_reader()? {
        count = count.saturating_add(group?.0);
    }
    Ok(count)
}

/// Whether paths part or meet there.
const fn is_parting_or_meeting(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::End
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
    )
}

/// Whether the engine's own code carries it out. Programs seldom do so; an upper bound must not assume that.
const fn is_engine_call(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::MemoryGrow { .. }
            | Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::TableGet { .. }
            | Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. }
            | Operator::RefFunc { .. }
    )
}

struct BlockFrame {
    kind: BlockKind,
    /// The stretch it lies in; of a loop, the one around it.
    stretch: usize,
    /// How often it is entered for one entry of that stretch.
    entered: f64,
    /// How often a branch goes to its end.
    branched: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Block,
    Loop,
    If,
}

struct FunctionWalk {
    frames: Vec<BlockFrame>,
    stretches: Vec<Stretch>,
    stretch: usize,
    /// The number of the next instruction.
    place: usize,
    /// How often it is executed for one entry of its stretch.
    times: f64,
}

impl FunctionWalk {
    fn new() -> Self {
        let whole = BlockFrame { kind: BlockKind::Block, stretch: 0, entered: 1.0, branched: 0.0 };
        Self { frames: vec![whole], stretches: vec![Stretch::default()], stretch: 0, place: 0, times: 1.0 }
    }

    fn open(&mut self, kind: BlockKind) {
        self.frames.push(BlockFrame { kind, stretch: self.stretch, entered: self.times, branched: 0.0 });
    }

    fn open_loop(&mut self) {
        self.open(BlockKind::Loop);
        self.stretch = self.stretches.len();
        self.stretches.push(Stretch { head: self.place, ..Stretch::default() });
        self.times = 1.0;
    }

    fn branch(&mut self, depth: u32, times: f64) {
        let index = self.frames.len().checked_sub(1 + depth as usize);
        // A turn of the loop ends there, or a branch leaves it: whoever leaves a loop is counted where the loop ends.
        let here = |frame: &&mut BlockFrame| frame.kind != BlockKind::Loop && frame.stretch == self.stretch;
        if let Some(frame) = index.and_then(|index| self.frames.get_mut(index)).filter(here) {
            frame.branched += times;
        }
    }

    fn enter_else(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.kind = BlockKind::Block;
            frame.branched += self.times;
            self.times = frame.entered / 2.0;
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.stretch = frame.stretch;
        self.times = match frame.kind {
            BlockKind::Loop => frame.entered,
            BlockKind::Block => self.times + frame.branched,
            BlockKind::If => self.times + frame.branched + frame.entered / 2.0,
        };
    }

    /// One instruction, and what it costs executed once.
    fn step(&mut self, operator: &Operator<'_>, cost: Cost) {
        let stretch = &mut self.stretches[self.stretch];
        stretch.cost.add(cost, self.times);
        stretch.length += 1;
        stretch.addresses.step(operator, self.times);
        match operator {
            Operator::Block { .. } | Operator::TryTable { .. } => self.open(BlockKind::Block),
            Operator::Loop { .. } => self.open_loop(),
            Operator::If { .. } => {
                self.open(BlockKind::If);
                self.times /= 2.0;
            }
            Operator::Else => self.enter_else(),
            Operator::End => self.close(),
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth, self.times);
                self.times = 0.0;
            }
            Operator::BrIf { relative_depth }
            | Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => {
                self.branch(*relative_depth, self.times * TAKEN);
                self.times *= 1.0 - TAKEN;
            }
            Operator::BrTable { targets } => {
                let each = self.times / (f64::from(targets.len()) + 1.0);
                let depths = targets.targets().filter_map(Result::ok).chain([targets.default()]);
                depths.for_each(|depth| self.branch(depth, each));
                self.times = 0.0;
            }
            other if leaves_function(other) => self.times = 0.0,
            _ => {}
        }
        self.place += 1;
    }
}
