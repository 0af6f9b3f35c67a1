//! Metering: the module counts the instructions it executes, so that fuel ends a program and states its cost.
//!
//! Wasmtime's own fuel counts every instruction, in a variable that goes to memory and back around each call: 40 % of a
//! CPU-bound job here. This pass charges in advance and in fewer places. A global starts at the fuel that there is; every
//! entry of a function and every turn of a loop takes off what that stretch of code [is estimated](estimate) to execute,
//! and ends the program when nothing is left. So
//! - nothing runs for ever: code that runs long runs through a loop's head or calls functions, and each of the two costs at
//!   least one unit (callers are charged for short functions without loops, except [one of each cycle](unmetered));
//! - the count is a pure function of the executed code: the estimate is made once, from the module alone;
//! - a unit is about one WebAssembly instruction, on the average of many programs, not in each.
//!
//! The host looks at the clock now and then: in loops the program calls it when its fuel is below another global. A call that hardly ever happens is
//! not free, as the compiler keeps on the stack what is needed afterwards. So where a function is entered, a program whose fuel is used up just traps.
//!
//! Instructions that move as many bytes as they are told are charged for them when they run, before they move anything. Those that
//! are slow for [subnormal](subnormal) numbers are charged for it when they meet one.
//!
//! Called by [`crate::image`] before a module is compiled; the host's side is [`crate::fuel`].

mod estimate;
mod subnormal;
#[cfg(test)]
mod tests;
mod unmetered;
mod waits;

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BlockType, BranchHint, BranchHints, CodeSection, ConstExpr, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction, Module, TypeSection, ValType,
};
use wasmparser::{
    BinaryReaderError, ElementItems, ExternalKind, FunctionBody, Operator, Parser, Payload, TableInit, TypeRef,
};

use estimate::{Charges, Estimates};
use unmetered::UnmeteredFunctions;

/// Version of the prices: it changes when a program's fuel changes. It is part of every image's digest.
pub(crate) const VERSION: u32 = 11;
/// The global with the fuel that is left, under the name it is exported as. Below zero the program has ended, or ends at its next charge.
pub(crate) const FUEL: &str = "__veriplay_fuel";
/// The global with the fuel below which the module calls the host.
pub(crate) const CALL_BELOW: &str = "__veriplay_call_below";
/// The import that the module calls then.
pub(crate) const CHECK: (&str, &str) = ("__veriplay", "check");
/// Why a module cannot be metered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeterError {
    /// It is not a valid module.
    #[error(transparent)]
    Malformed(#[from] BinaryReaderError),
    /// It is metered already.
    #[error("it has an export named `{FUEL}` or `{CALL_BELOW}`, which is the meter's")]
    AlreadyMetered,
    /// It cannot be encoded again.
    #[error(transparent)]
    Encode(#[from] reencode::Error<Infallible>),
}

/// Makes `wasm`, which must be valid, count what it executes. Custom sections (names, debug data) are left out.
///
/// # Errors
/// When it is no module, or metered already.
pub(crate) fn instrument(wasm: &[u8]) -> Result<Vec<u8>, MeterError> {
    let shape = ModuleShape::parse(wasm)?;
    let unmetered = UnmeteredFunctions::choose(&shape.bodies, shape.imported_functions, &shape.find_address_taken())?;
    let estimates = Estimates::compute(&shape.bodies, shape.imported_functions, &unmetered)?;
    ModuleWriter { shape, estimates }.write_module(wasm)
}

/// The counts of a module's parts, which determine the indices of new ones.
#[derive(Default)]
struct ModuleShape<'a> {
    types: u32,
    imported_functions: u32,
    globals: u32,
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
                            TypeRef::Global(_) => shape.globals += 1,
                            _ => {}
                        }
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        shape.globals += 1;
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
                        if [FUEL, CALL_BELOW].contains(&export.name) {
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

/// Writes the module again. New types, globals and functions (what charges for bytes, and for subnormal numbers) come last of their
/// kind and move no index; the imported function does, so every index of a function the module defines is one more than it was.
struct ModuleWriter<'a> {
    shape: ModuleShape<'a>,
    estimates: Estimates,
}

impl Reencode for ModuleWriter<'_> {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, reencode::Error<Infallible>> {
        Ok(if index < self.shape.imported_functions { index } else { index + 1 })
    }
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
    memories: Option<wasm_encoder::MemorySection>,
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
            Payload::MemorySection(section) => {
                self.parse_memory_section(to.memories.get_or_insert_default(), section)?;
            }
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
        to.types.ty().function([], []);
        to.types.ty().function([ValType::I32], [ValType::I32]);
        subnormal::add_types(&mut to.types);
        to.imports.import(CHECK.0, CHECK.1, EntityType::Function(self.shape.types));
        // That for bytes, and those for subnormal numbers: the types added behind the first, in order.
        for offset in 1..=1 + subnormal::FUNCTIONS {
            to.functions.function(self.shape.types + offset);
        }
        to.functions.function(self.shape.types);
        let fuel = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
        to.globals.global(fuel, &ConstExpr::i64_const(0));
        to.globals.global(fuel, &ConstExpr::i64_const(0));
        to.exports.export(FUEL, ExportKind::Global, self.fuel_global());
        to.exports.export(CALL_BELOW, ExportKind::Global, self.fuel_global() + 1);
    }

    const fn fuel_global(&self) -> u32 {
        self.shape.globals
    }

    /// The index of the first function that is added.
    fn first_added(&self, bodies: usize) -> u32 {
        self.shape.imported_functions + 1 + u32::try_from(bodies).unwrap_or(u32::MAX)
    }

    fn write_code(&mut self) -> Result<(CodeSection, BranchHints), MeterError> {
        let (mut code, mut hints) = (CodeSection::new(), BranchHints::new());
        let bodies = std::mem::take(&mut self.shape.bodies);
        let for_bytes = self.first_added(bodies.len());
        for (index, body) in bodies.iter().enumerate() {
            let metered = self.write_function(index, body, for_bytes)?;
            code.function(&metered.function);
            if !metered.hints.is_empty() {
                let index = self.shape.imported_functions + 1 + u32::try_from(index).unwrap_or(u32::MAX);
                hints.function_hints(index, metered.hints);
            }
        }
        code.function(&self.bytes_function());
        for function in subnormal::functions(self.fuel_global()) {
            code.function(&function);
        }
        code.function(&self.check_function());
        Ok((code, hints))
    }

    fn write_function(
        &mut self,
        index: usize,
        body: &FunctionBody<'_>,
        for_bytes: u32,
    ) -> Result<MeteredFunction, MeterError> {
        let function = self.new_function_with_parsed_locals(body)?;
        let mut metered = MeteredFunction {
            function,
            hints: Vec::new(),
            fuel: self.fuel_global(),
            check: for_bytes + 1 + subnormal::FUNCTIONS,
        };
        let Charges { entry, loops } = self.estimates.charges(index, body)?;
        metered.charge(entry, &Instruction::I64Const(0), &Instruction::Unreachable);
        let mut loops = loops.into_iter();
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if moves_bytes(&operator) {
                metered.function.instruction(&Instruction::Call(for_bytes));
            }
            let is_loop = matches!(operator, Operator::Loop { .. });
            match subnormal::function_of(&operator) {
                Some(offset) => metered.function.instruction(&Instruction::Call(for_bytes + 1 + offset)),
                None => metered.function.instruction(&self.instruction(operator)?),
            };
            if is_loop {
                let call_below = Instruction::GlobalGet(metered.fuel + 1);
                metered.charge(loops.next().unwrap_or(1), &call_below, &Instruction::Call(metered.check));
            }
        }
        Ok(metered)
    }

    /// Calls the host. What calls an import would have its address at hand in every loop.
    fn check_function(&self) -> Function {
        let mut function = Function::new([]);
        function.instruction(&Instruction::Call(self.shape.imported_functions)).instruction(&Instruction::End);
        function
    }

    /// Takes a number of bytes off the stack, charges a unit for each, and puts it back.
    fn bytes_function(&self) -> Function {
        let mut function = Function::new([]);
        for instruction in [
            Instruction::GlobalGet(self.fuel_global()),
            Instruction::LocalGet(0),
            Instruction::I64ExtendI32U,
            Instruction::I64Sub,
            Instruction::GlobalSet(self.fuel_global()),
            Instruction::LocalGet(0),
            Instruction::End,
        ] {
            function.instruction(&instruction);
        }
        function
    }
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
    fuel: u32,
    check: u32,
}

impl MeteredFunction {
    /// Takes `units` off the fuel, and does what is `seldom` done when less than `bound` is left.
    fn charge(&mut self, units: u32, bound: &Instruction<'_>, seldom: &Instruction<'_>) {
        const SELDOM: u32 = 0;
        if units == 0 {
            return;
        }
        let fuel = self.fuel;
        for instruction in [
            Instruction::GlobalGet(fuel),
            Instruction::I64Const(i64::from(units)),
            Instruction::I64Sub,
            Instruction::GlobalSet(fuel),
            Instruction::GlobalGet(fuel),
        ] {
            self.function.instruction(&instruction);
        }
        self.function.instruction(bound).instruction(&Instruction::I64LtS);
        let at = u32::try_from(self.function.byte_len()).unwrap_or(u32::MAX);
        self.hints.push(BranchHint { branch_func_offset: at, branch_hint_value: SELDOM });
        self.function
            .instruction(&Instruction::If(BlockType::Empty))
            .instruction(seldom)
            .instruction(&Instruction::End);
    }
}

impl Sections {
    /// In the order a module has them.
    fn finish(self, code: &CodeSection, hints: &BranchHints) -> Vec<u8> {
        let mut module = Module::new();
        module.section(&self.types).section(&self.imports).section(&self.functions);
        copy_section(&mut module, self.tables.as_ref());
        copy_section(&mut module, self.memories.as_ref());
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
