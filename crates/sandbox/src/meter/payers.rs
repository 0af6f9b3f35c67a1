//! Which functions are not charged by themselves, because who calls them pays for them.
//!
//! Without loops, without instructions that move many bytes and without tail calls, a function executes no more than it and what it
//! calls are long. If all of that is short, a charge at its head tells nothing that its callers could not tell. What runs for ever
//! runs through a loop's head or through a cycle of calls, so one function of every cycle must be charged:
//! - of cycles of direct calls, the first that is left when all others have been decided;
//! - of all others, the functions whose address is taken: those are charged unless they call nothing.

use wasmparser::{BinaryReaderError, FunctionBody, Operator};

/// Instructions of a function whose address is taken that is too short to be charged by itself.
const SHORT: u32 = 32;
/// Instructions that may be executed between two charges because of one call, at most.
const LONG: u32 = 2048;

/// The functions whose callers pay.
pub(super) struct Payers {
    /// Callees first: when one is priced, all it calls have been.
    order: Vec<usize>,
}

impl Payers {
    /// `imported` functions come before those of `bodies`; `taken` says of each of these whether its address is known to others.
    ///
    /// # Errors
    /// When a body cannot be read.
    pub(super) fn choose(
        bodies: &[FunctionBody<'_>],
        imported: u32,
        taken: &[bool],
    ) -> Result<Self, BinaryReaderError> {
        let mut taken = taken.to_vec();
        let read = |body: &FunctionBody<'_>| Facts::read(body, imported, &mut taken);
        let facts: Vec<Facts> = bodies.iter().map(read).collect::<Result<_, BinaryReaderError>>()?;
        Ok(Self { order: Choice::new(&facts, &taken).decide() })
    }

    /// Indices into the bodies, callees first.
    pub(super) fn in_order(&self) -> &[usize] {
        &self.order
    }
}

/// What is known of one function.
struct Facts {
    length: u32,
    /// Whether it ends soon, if all it calls do.
    bounded: bool,
    /// Whether it calls anything, an import included.
    calls_any: bool,
    /// Functions of the module that it calls directly, as often as they stand there.
    calls: Vec<usize>,
}

impl Facts {
    fn read(body: &FunctionBody<'_>, imported: u32, taken: &mut [bool]) -> Result<Self, BinaryReaderError> {
        let mut facts = Self { length: 0, bounded: true, calls_any: false, calls: Vec::new() };
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            facts.length = facts.length.saturating_add(1);
            facts.bounded &= !runs_on(&operator);
            match operator {
                Operator::Call { function_index } => {
                    facts.calls_any = true;
                    facts.calls.extend(function_index.checked_sub(imported).map(|index| index as usize));
                }
                Operator::CallIndirect { .. } | Operator::CallRef { .. } => facts.calls_any = true,
                Operator::RefFunc { function_index } => mark(taken, imported, function_index),
                _ => {}
            }
        }
        Ok(facts)
    }

    /// Whether its callers could pay for it, its calls left aside.
    fn fits(&self, taken: bool) -> bool {
        self.bounded && if taken { !self.calls_any && self.length <= SHORT } else { self.length <= LONG }
    }
}

/// Notes that the address of a function is taken.
pub(super) fn mark(taken: &mut [bool], imported: u32, function: u32) {
    let defined = function.checked_sub(imported).and_then(|index| taken.get_mut(index as usize));
    if let Some(taken) = defined {
        *taken = true;
    }
}

/// Whether an instruction can execute more than itself and the function that it names.
const fn runs_on(operator: &Operator<'_>) -> bool {
    super::moves_bytes(operator)
        || matches!(
            operator,
            Operator::Loop { .. }
                | Operator::ReturnCall { .. }
                | Operator::ReturnCallIndirect { .. }
                | Operator::ReturnCallRef { .. }
        )
}

/// The choice while it is being made. A function is decided when all that it calls are; where only cycles are left, the first one
/// of them is charged.
struct Choice<'a> {
    facts: &'a [Facts],
    /// Of each function, those that call it, as often as they do.
    callers: Vec<Vec<usize>>,
    /// Of each function that may be paid for by its callers, its calls to undecided ones.
    waits: Vec<usize>,
    /// What a call of it executes at most before it is charged; `None` while it is undecided, 0 where it is charged by itself.
    longest: Vec<Option<u32>>,
    /// To be decided, all that they call being so.
    ready: Vec<usize>,
    order: Vec<usize>,
}

impl<'a> Choice<'a> {
    fn new(facts: &'a [Facts], taken: &[bool]) -> Self {
        let fits: Vec<bool> = facts.iter().zip(taken).map(|(facts, taken)| facts.fits(*taken)).collect();
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
                false => choice.decided(index, 0),
                true if facts[index].calls.is_empty() => choice.ready.push(index),
                true => {}
            }
        }
        choice
    }

    fn decide(mut self) -> Vec<usize> {
        for first in 0..self.facts.len() {
            self.drain();
            if self.longest[first].is_none() {
                self.decided(first, 0);
            }
        }
        self.drain();
        self.order
    }

    fn drain(&mut self) {
        while let Some(index) = self.ready.pop() {
            if self.longest[index].is_some() {
                continue;
            }
            let facts = &self.facts[index];
            let called = facts.calls.iter().map(|callee| self.longest.get(*callee).copied().flatten().unwrap_or(0));
            let longest = called.fold(facts.length, u32::saturating_add);
            if longest <= LONG {
                self.order.push(index);
                self.decided(index, longest);
            } else {
                self.decided(index, 0);
            }
        }
    }

    fn decided(&mut self, index: usize, longest: u32) {
        self.longest[index] = Some(longest);
        for caller in std::mem::take(&mut self.callers[index]) {
            self.waits[caller] -= 1;
            if self.waits[caller] == 0 {
                self.ready.push(caller);
            }
        }
    }
}
