//! Floating-point instructions that leave the processor's fast path for subnormal numbers: where one of their operands or their
//! result is below the least normal number, they take some 150 cycles on common processors instead of four.
//!
//! A job could spend nearly all its time there and pay a unit for each, so these instructions are replaced by calls of functions that
//! compute the same, and charge [`PRICE`] when that happened. What is charged depends only on the numbers. Flushing subnormal
//! numbers to zero would be cheaper, and would change results.

use wasm_encoder::{BlockType, Function, Instruction, TypeSection, ValType};
use wasmparser::Operator;

use super::FuelMemory;

/// Units for a computation with a subnormal number: its time, in an ordinary loop's instructions.
const PRICE: i64 = 600;

/// An instruction, with what it takes and gives.
struct SlowInstruction {
    instruction: Instruction<'static>,
    takes: ValType,
    operands: u32,
    gives: ValType,
}

const fn slow(instruction: Instruction<'static>, takes: ValType, operands: u32, gives: ValType) -> SlowInstruction {
    SlowInstruction { instruction, takes, operands, gives }
}

const F32: ValType = ValType::F32;
const F64: ValType = ValType::F64;

pub(super) const FUNCTIONS: u32 = 8;

/// All of them, in the order of their functions. Addition is fast on subnormal numbers too.
static SLOW_INSTRUCTIONS: [SlowInstruction; FUNCTIONS as usize] = [
    slow(Instruction::F64Mul, F64, 2, F64),
    slow(Instruction::F64Div, F64, 2, F64),
    slow(Instruction::F64Sqrt, F64, 1, F64),
    slow(Instruction::F32Mul, F32, 2, F32),
    slow(Instruction::F32Div, F32, 2, F32),
    slow(Instruction::F32Sqrt, F32, 1, F32),
    slow(Instruction::F32DemoteF64, F64, 1, F32),
    slow(Instruction::F64PromoteF32, F32, 1, F64),
];

/// The place of the function that stands in for `operator`, if one does.
pub(super) const fn function_of(operator: &Operator<'_>) -> Option<u32> {
    match operator {
        Operator::F64Mul => Some(0),
        Operator::F64Div => Some(1),
        Operator::F64Sqrt => Some(2),
        Operator::F32Mul => Some(3),
        Operator::F32Div => Some(4),
        Operator::F32Sqrt => Some(5),
        Operator::F32DemoteF64 => Some(6),
        Operator::F64PromoteF32 => Some(7),
        _ => None,
    }
}

pub(super) fn add_types(types: &mut TypeSection) {
    for SlowInstruction { takes, operands, gives, .. } in &SLOW_INSTRUCTIONS {
        types.ty().function((0..*operands).map(|_| *takes), [*gives]);
    }
}

/// The functions, which take their price off the fuel.
pub(super) fn functions(fuel: FuelMemory) -> impl Iterator<Item = Function> {
    SLOW_INSTRUCTIONS.iter().map(move |slow| slow.function(fuel))
}

impl SlowInstruction {
    fn function(&self, fuel: FuelMemory) -> Function {
        let result = self.operands;
        let mut function = Function::new([(1, self.gives)]);
        let mut write = |instruction: Instruction<'_>| {
            function.instruction(&instruction);
        };
        (0..self.operands).for_each(|operand| write(Instruction::LocalGet(operand)));
        write(self.instruction.clone());
        write(Instruction::LocalSet(result));
        // Something is tiny, or zero.
        push_is_tiny(&mut write, result, self.gives);
        for operand in 0..self.operands {
            push_is_tiny(&mut write, operand, self.takes);
            write(Instruction::I32Or);
        }
        write(Instruction::If(BlockType::Empty));
        // Of an operand that is zero everything is fast. A zero that came of others was too small to be written.
        write(Instruction::I32Const(1));
        for operand in 0..self.operands {
            write(Instruction::LocalGet(operand));
            write(zero_const(self.takes));
            write(if self.takes == F64 { Instruction::F64Ne } else { Instruction::F32Ne });
            write(Instruction::I32And);
        }
        write(Instruction::If(BlockType::Empty));
        fuel.subtract(&mut function, &[Instruction::I64Const(PRICE)]);
        for instruction in [Instruction::End, Instruction::End, Instruction::LocalGet(result), Instruction::End] {
            function.instruction(&instruction);
        }
        function
    }
}

/// Leaves on the stack whether the number in `local` is below the least normal one; NaN is not.
fn push_is_tiny(write: &mut impl FnMut(Instruction<'_>), local: u32, of: ValType) {
    write(Instruction::LocalGet(local));
    if of == F64 {
        write(Instruction::F64Abs);
        write(Instruction::F64Const(f64::MIN_POSITIVE.into()));
        write(Instruction::F64Lt);
    } else {
        write(Instruction::F32Abs);
        write(Instruction::F32Const(f32::MIN_POSITIVE.into()));
        write(Instruction::F32Lt);
    }
}

fn zero_const(of: ValType) -> Instruction<'static> {
    if of == F64 { Instruction::F64Const(0.0.into()) } else { Instruction::F32Const(0.0.into()) }
}
