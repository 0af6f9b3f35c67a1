//! Chooses the functions without a charge of their own: their callers are charged for them.
//!
//! A function without loops, instructions that move many bytes, and tail calls executes at most its own length plus that of the functions it
//! calls. If all of that is short, its callers can be charged instead. Code that runs for ever runs through a loop's head or a cycle of
//! calls, so one function of every cycle must be charged:
//! - of cycles of direct calls, the first that is left when all others have been decided;
//! - of all others, the functions whose address is taken: those are charged unless they call nothing.
//!
//! In a module that a job brings [every function](super::Pricing::UpperBound) has its own charge: between two charges nobody can end a program.

use wasmparser::{BinaryReaderError, FunctionBody, Operator};

/// The most instructions of an uncharged function whose address is taken.
const SHORT: u32 = 32;
/// The most instructions that one call may execute without a charge.
const LONG: u32 = 2048;

/// The functions whose callers are charged for them.
#[derive(Default)]
pub(super) struct UnmeteredFunctions {
    /// Callees first, so that a function's cost is computed after those of its callees.
    order: Vec<usize>,
}

impl UnmeteredFunctions {
    /// `imported` functions come before those of `bodies`; `taken` says of each of these whether its address is known to others.
    pub(super) fn choose(
        bodies: &[FunctionBody<'_>],
        imported: u32,
        taken: &[bool],
    ) -> Result<Self, BinaryReaderError> {
        let mut taken = taken.to_vec();
        let read = |body: &FunctionBody<'_>| FunctionSummary::parse(body, imported, &mut taken);
        let facts: Vec<FunctionSummary> = bodies.iter().map(read).collect::<Result<_, BinaryReaderError>>()?;
        Ok(Self { order: UnmeteredChoice::new(&facts, &taken).decide_all() })
    }

    /// Indices into the bodies, callees first.
    pub(super) fn callees_first(&self) -> &[usize] {
        &self.order
    }
}

/// The properties of one function that the choice depends on.
struct FunctionSummary {
    length: u32,
    /// Whether it is bounded by its length if all its callees are.
    bounded: bool,
    /// Whether it calls anything, an import included.
    calls_any: bool,
    /// The functions of the module that it calls directly, once per call.
    calls: Vec<usize>,
}

impl FunctionSummary {
    fn parse(body: &FunctionBody<'_>, imported: u32, taken: &mut [bool]) -> Result<Self, BinaryReaderError> {
        let mut facts = Self { length: 0, bounded: true, calls_any: false, calls: Vec::new() };
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            facts.length = facts.length.saturating_add(1);
            facts.bounded &= !is_unbounded(&operator);
            match operator {
                Operator::Call { function_index } => {
                    facts.calls_any = true;
                    facts.calls.extend(function_index.checked_sub(imported).map(|index| index as usize));
                }
                Operator::CallIndirect { .. } | Operator::CallRef { .. } => facts.calls_any = true,
                Operator::RefFunc { function_index } => mark_address_taken(taken, imported, function_index),
                _ => {}
            }
        }
        Ok(facts)
    }

    /// Whether its callers could be charged for it, apart from its calls.
    fn may_be_unmetered(&self, taken: bool) -> bool {
        self.bounded && if taken { !self.calls_any && self.length <= SHORT } else { self.length <= LONG }
    }
}

/// Notes that the address of a function is taken.
pub(super) fn mark_address_taken(taken: &mut [bool], imported: u32, function: u32) {
    let defined = function.checked_sub(imported).and_then(|index| taken.get_mut(index as usize));
    if let Some(taken) = defined {
        *taken = true;
    }
}

/// Whether an instruction can execute more than itself and the function that it names.
const fn is_unbounded(operator: &Operator<'_>) -> bool {
    super::moves_bytes(operator)
        || matches!(
            operator,
            Operator::Loop { .. }
                | Operator::ReturnCall { .. }
                | Operator::ReturnCallIndirect { .. }
                | Operator::ReturnCallRef { .. }
        )
}

/// The state of the choice. A function is decided when all its callees are; where only cycles are left, the first function is charged.
struct UnmeteredChoice<'a> {
    facts: &'a [FunctionSummary],
    /// For each function, its callers, once per call.
    callers: Vec<Vec<usize>>,
    /// For each function that may stay uncharged, the number of its calls to undecided functions.
    waits: Vec<usize>,
    /// The most instructions a call of it executes before a charge; `None` while undecided, 0 for a function with a charge of its own.
    longest: Vec<Option<u32>>,
    /// Functions whose callees are all decided.
    ready: Vec<usize>,
    order: Vec<usize>,
}

impl<'a> UnmeteredChoice<'a> {
    fn new(facts: &'a [FunctionSummary], taken: &[bool]) -> Self {
        let fits: Vec<bool> = facts.iter().zip(taken).map(|(facts, taken)| facts.may_be_unmetered(*taken)).collect();
        let mut callers = vec![Vec::new(); facts.len()];
        for (caller, _) in fits.iter().enumerate().filter(|(_, fits)| **fits) {
            facts[caller].calls.iter().filter(|callee| **callee < facts.len()).for_each(|callee| {
                callers[*callee].push(caller);
            });
        }
        let mut choice = Self {
            facts,
            callers,
            waits: facts.iter().map(|facts| facts.calls.len()).collect(),
            longest: vec![None; facts.len()],
            ready: Vec::new(),
            order: Vec::new(),
        };
        for (index, fits) in fits.iter().enumerate() {
            match fits {
                false => choice.set_decision(index, 0),
                true if facts[index].calls.is_empty() => choice.ready.push(index),
                true => {}
            }
        }
        choice
    }

    fn decide_all(mut self) -> Vec<usize> {
        for first in 0..self.facts.len() {
            self.decide_ready();
            if self.longest[first].is_none() {
                self.set_decision(first, 0);
            }
        }
        self.decide_ready();
        self.order
    }

    fn decide_ready(&mut self) {
        while let Some(index) = self.ready.pop() {
            if self.longest[index].is_some() {
                continue;
            }
            let facts = &self.facts[index];
            let called = facts.calls.iter().map(|callee| self.longest.get(*callee).copied().flatten().unwrap_or(0));
            let longest = called.fold(facts.length, u32::saturating_add);
            if longest <= LONG {
                self.order.push(index);
                self.set_decision(index, longest);
            } else {
                self.set_decision(index, 0);
            }
        }
    }

    fn set_decision(&mut self, index: usize, longest: u32) {
        self.longest[index] = Some(longest);
        for caller in std::mem::take(&mut self.callers[index]) {
            self.waits[caller] -= 1;
            if self.waits[caller] == 0 {
                self.ready.push(caller);
            }
        }
    }
}
