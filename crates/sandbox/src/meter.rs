//! Metering: the module counts the instructions it executes, so that fuel ends a program and states its cost.
//!
//! Wasmtime's own fuel counts every instruction, in a variable that goes to memory and back around each call: 40 % of a
//! CPU-bound job here. This pass charges in advance and in fewer places. A number starts at the fuel that there is; every
//! entry of a function and every turn of a loop takes off what that stretch of code [is estimated](estimate) to execute
//! (with an upper bound, and what is long and seldom executed where it begins), and traps when less is left than a bound, which is nothing. So
//! - nothing runs for ever: code that runs long runs through a loop's head or calls functions, and each of the two costs at
//!   least one unit (callers are charged for short functions without loops, except [one of each cycle](unmetered));
//! - the count is a pure function of the executed code: the estimate is made once, from the module alone;
//! - a unit is about one WebAssembly instruction, on the average of many programs, not in each; in a module that a job brings, at least one.
//!
//! Both numbers are in a memory of their own, which no instruction of the module names. There the host finds them, and raises the bound to end a
//! program for another reason, such as its [time](crate::watchdog). So a charge never calls the host. A call that hardly ever happens is not
//! free: the compiler keeps on the stack what is needed afterwards, which made loops a tenth slower.
//!
//! Instructions that move as many bytes as they are told are charged for them when they run, before they move anything. Those that
//! are slow for [subnormal](subnormal) numbers are charged for it when they meet one.
//!
//! Called by [`crate::image`] before a module is compiled; the host's side is [`crate::fuel`].

mod estimate;
mod longest;
mod stretches;
mod subnormal;
#[cfg(test)]
mod tests;
mod unmetered;
mod waits;

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BlockType, BranchHint, BranchHints, CodeSection, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, ImportSection, Instruction, MemArg, MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wasmparser::{
    BinaryReaderError, ElementItems, ExternalKind, FunctionBody, Operator, Parser, Payload, TableInit, TypeRef,
};

use estimate::Estimates;
pub(crate) use estimate::count_charges;
use stretches::{Charge, Charges};
use unmetered::UnmeteredFunctions;

/// Version of the prices, and of what the host finds in a metered module. It is part of every image's digest.
pub(crate) const VERSION: u32 = 12;
/// The same of the prices by an upper bound, which no image has.
pub(crate) const MODULE_VERSION: u32 = 2;
/// The memory that begins with the fuel that is left, and the bound below which the program ends at its next charge, numbers of 64 bits, under the
/// name it is exported as.
pub(crate) const FUEL: &str = "__veriplay_fuel";
/// Where the bound is in it.
const BOUND: u64 = 8;

#[derive(Debug, thiserror::Error)]
pub(crate) enum MeterError {
    #[error(transparent)]
    Malformed(#[from] BinaryReaderError),
    #[error("it has an export named `{FUEL}`, which is the meter's")]
    AlreadyMetered,
    #[error("it has `{0}` memories, and a snapshot keeps one")]
    Memories(u32),
    #[error(transparent)]
    Encode(#[from] reencode::Error<Infallible>),
}

/// How a stretch of code is priced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pricing {
    /// By what it executes on the average: for the guests of images, whose programs do not choose their code.
    Estimate,
    /// By the most that it can execute: for modules of jobs, which may have been written to pay for less than they do. Every function is charged, and
    /// what moves many bytes does so only where they are paid for.
    UpperBound,
}

/// Makes `wasm`, which must be valid, count what it executes. Custom sections (names, debug data) are left out.
/// Fails when it is no module, is metered already, or has several memories.
pub(crate) fn instrument(wasm: &[u8], pricing: Pricing) -> Result<Vec<u8>, MeterError> {
    let shape = ModuleShape::parse(wasm)?;
    if shape.memories > 1 {
        return Err(MeterError::Memories(shape.memories));
    }
    let imported = shape.imported_functions;
    let unmetered = match pricing {
        Pricing::Estimate => UnmeteredFunctions::choose(&shape.bodies, imported, &shape.find_address_taken())?,
        Pricing::UpperBound => UnmeteredFunctions::default(),
    };
    let estimates = Estimates::compute(&shape.bodies, imported, &unmetered, pricing)?;
    ModuleWriter { shape, estimates, pricing }.write_module(wasm)
}

/// The counts of a module's parts, which determine the indices of new ones.
#[derive(Default)]
struct ModuleShape<'a> {
    types: u32,
    imported_functions: u32,
    memories: u32,
    /// Functions that tables, globals or exports refer to.
    referred: Vec<u32>,
    bodies: Vec<FunctionBody<'a>>,
}

impl<'a> ModuleShape<'a> {
    fn parse(wasm: &'a [u8]) -> Result<Self, MeterError> {
        let mut shape = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        shape.types += u32::try_from(group?.types().len()).unwrap_or(u32::MAX);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            TypeRef::Func(_) | TypeRef::FuncExact(_) => shape.imported_functions += 1,
                            TypeRef::Memory(_) => shape.memories += 1,
                            _ => {}
                        }
                    }
                }
                Payload::MemorySection(section) => shape.memories += section.count(),
                Payload::GlobalSection(section) => {
                    for global in section {
                        shape.add_references(&global?.init_expr)?;
                    }
                }
                Payload::TableSection(section) => {
                    for table in section {
                        if let TableInit::Expr(init) = table?.init {
                            shape.add_references(&init)?;
                        }
                    }
                }
                Payload::ElementSection(section) => {
                    for element in section {
                        shape.add_element_references(element?.items)?;
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.name == FUEL {
                            return Err(MeterError::AlreadyMetered);
                        }
                        if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) {
                            shape.referred.push(export.index);
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => shape.bodies.push(body),
                _ => {}
            }
        }
        Ok(shape)
    }

    fn add_references(&mut self, expression: &wasmparser::ConstExpr<'_>) -> Result<(), BinaryReaderError> {
        for operator in expression.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.referred.push(function_index);
            }
        }
        Ok(())
    }

    fn add_element_references(&mut self, items: ElementItems<'_>) -> Result<(), BinaryReaderError> {
        match items {
            ElementItems::Functions(functions) => {
                for function in functions {
                    self.referred.push(function?);
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for expression in expressions {
                    self.add_references(&expression?)?;
                }
            }
        }
        Ok(())
    }

    /// For each function that the module defines, whether anything but a direct call may call it.
    fn find_address_taken(&self) -> Vec<bool> {
        let mut taken = vec![false; self.bodies.len()];
        self.referred
            .iter()
            .for_each(|function| unmetered::mark_address_taken(&mut taken, self.imported_functions, *function));
        taken
    }
}

/// Writes the module again. New types, functions (what charges for bytes, and for subnormal numbers) and the memory come last of their kind, so
/// no index changes.
struct ModuleWriter<'a> {
    shape: ModuleShape<'a>,
    estimates: Estimates,
    pricing: Pricing,
}

impl Reencode for ModuleWriter<'_> {
    type Error = Infallible;
}

/// The sections that get something new, or that other sections are counted in.
#[derive(Default)]
struct Sections {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    globals: GlobalSection,
    exports: ExportSection,
    tables: Option<wasm_encoder::TableSection>,
    memories: MemorySection,
    tags: Option<wasm_encoder::TagSection>,
    start: Option<wasm_encoder::StartSection>,
    elements: Option<wasm_encoder::ElementSection>,
    data_count: Option<wasm_encoder::DataCountSection>,
    data: Option<wasm_encoder::DataSection>,
}

impl ModuleWriter<'_> {
    fn write_module(mut self, wasm: &[u8]) -> Result<Vec<u8>, MeterError> {
        let mut sections = Sections::default();
        for payload in Parser::new(0).parse_all(wasm) {
            self.copy_payload(&mut sections, payload?)?;
        }
        self.add_parts(&mut sections);
        let (code, hints) = self.write_code()?;
        Ok(sections.finish(&code, &hints))
    }

    fn copy_payload(&mut self, to: &mut Sections, payload: Payload<'_>) -> Result<(), MeterError> {
        match payload {
            Payload::TypeSection(section) => self.parse_type_section(&mut to.types, section)?,
            Payload::ImportSection(section) => self.parse_import_section(&mut to.imports, section)?,
            Payload::FunctionSection(section) => self.parse_function_section(&mut to.functions, section)?,
            Payload::GlobalSection(section) => self.parse_global_section(&mut to.globals, section)?,
            Payload::ExportSection(section) => self.parse_export_section(&mut to.exports, section)?,
            Payload::TableSection(section) => self.parse_table_section(to.tables.get_or_insert_default(), section)?,
            Payload::MemorySection(section) => self.parse_memory_section(&mut to.memories, section)?,
            Payload::TagSection(section) => self.parse_tag_section(to.tags.get_or_insert_default(), section)?,
            Payload::StartSection { func, .. } => {
                to.start = Some(wasm_encoder::StartSection { function_index: self.function_index(func)? });
            }
            Payload::ElementSection(section) => {
                self.parse_element_section(to.elements.get_or_insert_default(), section)?;
            }
            Payload::DataCountSection { count, .. } => {
                to.data_count = Some(wasm_encoder::DataCountSection { count });
            }
            Payload::DataSection(section) => self.parse_data_section(to.data.get_or_insert_default(), section)?,
            _ => {}
        }
        Ok(())
    }

    fn add_parts(&self, to: &mut Sections) {
        to.types.ty().function([ValType::I32], [ValType::I32]);
        subnormal::add_types(&mut to.types);
        // That for bytes, and those for subnormal numbers, in the order of their types.
        for offset in 0..=subnormal::FUNCTIONS {
            to.functions.function(self.shape.types + offset);
        }
        let page = MemoryType { minimum: 1, maximum: Some(1), memory64: false, shared: false, page_size_log2: None };
        to.memories.memory(page);
        to.exports.export(FUEL, ExportKind::Memory, self.fuel().0);
    }

    const fn fuel(&self) -> FuelMemory {
        FuelMemory(self.shape.memories)
    }

    fn write_code(&mut self) -> Result<(CodeSection, BranchHints), MeterError> {
        let (mut code, mut hints) = (CodeSection::new(), BranchHints::new());
        let bodies = std::mem::take(&mut self.shape.bodies);
        let imported = self.shape.imported_functions;
        let index_of = |body: usize| imported + u32::try_from(body).unwrap_or(u32::MAX);
        let for_bytes = index_of(bodies.len());
        for (index, body) in bodies.iter().enumerate() {
            let metered = self.write_function(index, body, for_bytes)?;
            code.function(&metered.function);
            if !metered.hints.is_empty() {
                hints.function_hints(index_of(index), metered.hints);
            }
        }
        code.function(&self.bytes_function());
        for function in subnormal::functions(self.fuel()) {
            code.function(&function);
        }
        Ok((code, hints))
    }

    fn write_function(
        &mut self,
        index: usize,
        body: &FunctionBody<'_>,
        for_bytes: u32,
    ) -> Result<MeteredFunction, MeterError> {
        let function = self.new_function_with_parsed_locals(body)?;
        let mut metered = MeteredFunction { function, hints: Vec::new(), fuel: self.fuel() };
        let Charges { entry, behind, taken } = self.estimates.charges(index, body)?;
        metered.charge(entry);
        let (mut behind, mut taken) = (behind.into_iter().peekable(), taken.into_iter().peekable());
        for (place, operator) in body.get_operators_reader()?.into_iter().enumerate() {
            let operator = operator?;
            if moves_bytes(&operator) {
                metered.function.instruction(&Instruction::Call(for_bytes));
            }
            let is_here = |charge: &Charge| charge.place == place;
            match (subnormal::function_of(&operator), taken.next_if(is_here), operator) {
                (Some(offset), ..) => {
                    metered.function.instruction(&Instruction::Call(for_bytes + 1 + offset));
                }
                (None, Some(charge), Operator::BrIf { relative_depth }) => {
                    metered.branch_if(relative_depth, charge.units)
                }
                (None, _, operator) => {
                    metered.function.instruction(&self.instruction(operator)?);
                }
            }
            if let Some(charge) = behind.next_if(is_here) {
                metered.charge(charge.units);
            }
        }
        Ok(metered)
    }

    /// Takes a number of bytes off the stack, charges a unit for each, and puts it back. By an upper bound it traps before they are moved where they
    /// are not paid for: a stretch could move all of a memory a hundred thousand times before its next charge.
    fn bytes_function(&self) -> Function {
        let mut function = Function::new([]);
        self.fuel().subtract(&mut function, &[Instruction::LocalGet(0), Instruction::I64ExtendI32U]);
        if self.pricing == Pricing::UpperBound {
            self.fuel().is_used_up(&mut function);
            trap_if(&mut function);
        }
        function.instruction(&Instruction::LocalGet(0)).instruction(&Instruction::End);
        function
    }
}

/// The index of the memory that holds the fuel.
#[derive(Clone, Copy)]
struct FuelMemory(u32);

impl FuelMemory {
    /// Takes off what `amount` leaves on the stack.
    fn subtract(self, function: &mut Function, amount: &[Instruction<'_>]) {
        function.instruction(&Instruction::I32Const(0));
        self.get(function, 0);
        for instruction in amount {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::I64Sub).instruction(&Instruction::I64Store(self.place(0)));
    }

    /// Puts the number at `offset` on the stack.
    fn get(self, function: &mut Function, offset: u64) {
        function.instruction(&Instruction::I32Const(0)).instruction(&Instruction::I64Load(self.place(offset)));
    }

    /// Puts on the stack whether less is left than the bound.
    fn is_used_up(self, function: &mut Function) {
        self.get(function, 0);
        self.get(function, BOUND);
        function.instruction(&Instruction::I64LtS);
    }

    const fn place(self, offset: u64) -> MemArg {
        MemArg { offset, align: 3, memory_index: self.0 }
    }
}

/// Traps where the number on the stack is not 0.
fn trap_if(function: &mut Function) {
    function
        .instruction(&Instruction::If(BlockType::Empty))
        .instruction(&Instruction::Unreachable)
        .instruction(&Instruction::End);
}

/// Whether the metered module has a call in its place, or before it.
pub(crate) const fn adds_call(operator: &Operator<'_>) -> bool {
    moves_bytes(operator) || subnormal::function_of(operator).is_some()
}

/// Whether the top of the stack is the number of bytes or items that the instruction moves.
const fn moves_bytes(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::MemoryCopy { .. }
            | Operator::MemoryFill { .. }
            | Operator::MemoryInit { .. }
            | Operator::TableCopy { .. }
            | Operator::TableFill { .. }
            | Operator::TableInit { .. }
            | Operator::TableGrow { .. }
    )
}

/// A function being written, with its charges.
struct MeteredFunction {
    function: Function,
    hints: Vec<BranchHint>,
    fuel: FuelMemory,
}

impl MeteredFunction {
    /// Takes `units` off the fuel, and traps when less is left than the bound.
    fn charge(&mut self, units: u32) {
        const SELDOM: u32 = 0;
        if units == 0 {
            return;
        }
        self.fuel.subtract(&mut self.function, &[Instruction::I64Const(i64::from(units))]);
        self.fuel.is_used_up(&mut self.function);
        let at = u32::try_from(self.function.byte_len()).unwrap_or(u32::MAX);
        self.hints.push(BranchHint { branch_func_offset: at, branch_hint_value: SELDOM });
        trap_if(&mut self.function);
    }

    /// A branch that is charged where it is taken. What it carries is nothing.
    fn branch_if(&mut self, depth: u32, units: u32) {
        self.function.instruction(&Instruction::If(BlockType::Empty));
        self.charge(units);
        self.function.instruction(&Instruction::Br(depth + 1)).instruction(&Instruction::End);
    }
}

impl Sections {
    /// In the order a module has them.
    fn finish(self, code: &CodeSection, hints: &BranchHints) -> Vec<u8> {
        let mut module = Module::new();
        module.section(&self.types).section(&self.imports).section(&self.functions);
        copy_section(&mut module, self.tables.as_ref());
        module.section(&self.memories);
        copy_section(&mut module, self.tags.as_ref());
        module.section(&self.globals).section(&self.exports);
        copy_section(&mut module, self.start.as_ref());
        copy_section(&mut module, self.elements.as_ref());
        copy_section(&mut module, self.data_count.as_ref());
        module.section(hints).section(code);
        copy_section(&mut module, self.data.as_ref());
        module.finish()
    }
}

fn copy_section(module: &mut Module, section: Option<&impl wasm_encoder::Section>) {
    if let Some(section) = section {
        module.section(section);
    }
}
