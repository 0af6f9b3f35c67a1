//! The bounds of a module that a job brings, checked before anything compiles it.
//!
//! Compiling is not metered, so its cost is bounded by what is compiled. Most of a compiler's work grows with the code; what can grow faster is
//! counted as it grows: the values that are alive where a function's paths meet, in variables or on the operand stack; those that branches carry;
//! what calls pass; loops in loops; the glue for each signature and function; the code that makes an instance. The limits are some times what clang makes of the largest programs that contests and test
//! sets have. What compilers for `wasm32-wasip1` do not emit by themselves is not let through: threads, exceptions, memories of 64 bits or several,
//! garbage-collected types, relaxed vectors (whose results depend on the processor).

use wasmparser::{
    BinaryReaderError, BlockType, ElementItems, FrameKind, FuncValidator, FuncValidatorAllocations, FunctionBody,
    ModuleArity, Operator, Parser, Payload, RecGroup, TypeRef, ValidPayload, Validator, ValidatorResources,
    WasmFeatures,
};

use crate::meter;

/// What a module may use: WebAssembly 2.0 without references to objects of a host, and tail calls.
const FEATURES: WasmFeatures = WasmFeatures::WASM2.union(WasmFeatures::TAIL_CALL).difference(WasmFeatures::GC_TYPES);
/// The most bytes of a module.
pub(super) const MODULE_BYTES: usize = 16 << 20;
/// What compiling it may take, in units of about a byte of code.
const WORK: u64 = 64 << 20;
/// The same of one function: what is done for each pair of a value and a block is done for each function apart.
const FUNCTION_WORK: u64 = 12 << 20;
/// The most bytes of a function: a compiler holds one whole, in some hundreds of bytes of memory for each of its own.
const FUNCTION_BYTES: usize = 2 << 20;
/// A compiler computes once what is computed in many places, before a loop what does not change in it, and keeps it until then: over all places where paths
/// part or meet, at the worst. So many pairs of an instruction and such a place are a unit. The largest function of LLVM, of 318,398 bytes, takes
/// almost all of what one may.
const KEPT_PAIRS: u64 = 256;
/// The places where paths part or meet that the meter adds with a charge elsewhere than at a head.
const CHARGE_JOINS: u64 = 4;
/// What any charge takes: 15 to 75 µs were measured, and 1 µs for a byte of other code.
const CHARGE: u64 = 64;
/// What an instruction takes that the meter replaces by a call, or puts one before.
const METERED_CALL: u64 = 64;
/// What a variable takes at the head of a loop, where it may have changed in every turn, for each loop around: measured with variables that change
/// in the innermost of many loops, at some 100 µs for a variable and a loop.
const LOOP_VARIABLE: u64 = 8;
/// What is made for a segment of data, for an entry of a segment of functions, and for a global, in the one function that makes an instance.
const DATA_SEGMENT: u64 = 256;
const ELEMENT: u64 = 32;
const GLOBAL: u64 = 32;
/// What is made for a signature, or for a function that others may call, and for each value of it.
const GLUE: u64 = 200;
const GLUE_VALUE: u64 = 8;
const FUNCTIONS: u32 = 100_000;
/// Far more than the 46 functions of WASI.
const IMPORTS: u32 = 1_000;
const TYPES: u32 = 100_000;
const PARAMETERS: usize = 255;
const RESULTS: usize = 16;
const GLOBALS: u32 = 100_000;
const TABLES: u32 = 4;
/// As many as a table may grow to.
const TABLE_ENTRIES: u64 = 1 << 20;
const SEGMENTS: u32 = 100_000;
const EXPORTS: u32 = 100_000;
/// Bytes of initial memory for a unit of fuel: the kernel clears a page when it is first touched.
const CLEARED: u64 = 16;

/// Why a module is refused before it is compiled. It is the program's fault.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OutOfBounds {
    #[error("it has `{found}` {what}, and may have {most}")]
    Count { what: &'static str, found: u64, most: u64 },
    #[error("compiling it would take `{found}` units of work, and {most} are allowed")]
    Work { found: u64, most: u64 },
    #[error("compiling its function `{function}` would take `{found}` units of work, and {most} are allowed")]
    FunctionWork { function: usize, found: u64, most: u64 },
    #[error("compiling its globals and segments would take `{found}` units of work, and {most} are allowed")]
    MakingWork { found: u64, most: u64 },
    #[error("it has a start function: export `_start`, which is called when the module is ready")]
    Start,
    #[error("it imports the {kind} `{module}.{name}`, and the sandbox gives a module functions of WASI alone")]
    Import { kind: &'static str, module: String, name: String },
    #[error("it is no WebAssembly module that can be run: {0}")]
    Invalid(String),
}

impl From<BinaryReaderError> for OutOfBounds {
    fn from(error: BinaryReaderError) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn at_most(what: &'static str, found: impl TryInto<u64>, most: impl TryInto<u64>) -> Result<(), OutOfBounds> {
    let (found, most) = (found.try_into().unwrap_or(u64::MAX), most.try_into().unwrap_or(u64::MAX));
    if found > most { Err(OutOfBounds::Count { what, found, most }) } else { Ok(()) }
}

/// Checks a module in time that grows with its bytes. Returns the fuel that an instance of it takes to make.
pub(super) fn check(wasm: &[u8]) -> Result<u64, OutOfBounds> {
    Ok(count(wasm)?.start)
}

/// Counts what is in a module, up to its bounds.
fn count(wasm: &[u8]) -> Result<Checked, OutOfBounds> {
    at_most("bytes", wasm.len(), MODULE_BYTES)?;
    let mut checked = Checked { work: wasm.len() as u64, ..Checked::default() };
    let (mut validator, mut allocations) =
        (Validator::new_with_features(FEATURES), Some(FuncValidatorAllocations::default()));
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        checked.section(&payload)?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
            let mut function = function.into_validator(allocations.take().unwrap_or_default());
            checked.function(&mut function, &body)?;
            allocations = Some(function.into_allocations());
        }
    }
    Ok(checked)
}

#[derive(Default)]
struct Checked {
    /// What compiling it takes, in units of about a byte of code.
    work: u64,
    /// What compiling the function that makes an instance takes.
    making: u64,
    /// The fuel that making an instance of it costs.
    start: u64,
    /// Of each type, what its glue takes.
    glue: Vec<u64>,
    functions: usize,
    segments: u32,
}

impl Checked {
    fn section(&mut self, payload: &Payload<'_>) -> Result<(), OutOfBounds> {
        match payload {
            Payload::TypeSection(section) => {
                at_most("types", section.count(), TYPES)?;
                section.clone().into_iter().try_for_each(|group| self.types(&group?))?;
            }
            Payload::ImportSection(section) => {
                for (before, import) in section.clone().into_imports().enumerate() {
                    at_most("imports", before + 1, IMPORTS)?;
                    let import = import?;
                    check_import(import.module, import.name, import.ty)?;
                }
            }
            Payload::FunctionSection(section) => {
                at_most("functions", section.count(), FUNCTIONS)?;
                for ty in section.clone() {
                    self.add_work(self.glue.get(ty? as usize).copied().unwrap_or_default())?;
                }
            }
            Payload::TableSection(section) => {
                at_most("tables", section.count(), TABLES)?;
                for table in section.clone() {
                    let entries = table?.ty.initial;
                    at_most("entries of a table", entries, TABLE_ENTRIES)?;
                    self.start += entries;
                }
            }
            Payload::MemorySection(section) => {
                for memory in section.clone() {
                    self.start += memory?.initial.saturating_mul(1 << 16).min(1 << 32) / CLEARED;
                }
            }
            Payload::GlobalSection(section) => {
                at_most("globals", section.count(), GLOBALS)?;
                self.start += u64::from(section.count());
                self.add_making(GLOBAL * u64::from(section.count()))?;
            }
            Payload::ExportSection(section) => at_most("exports", section.count(), EXPORTS)?,
            Payload::StartSection { .. } => return Err(OutOfBounds::Start),
            Payload::ElementSection(section) => {
                self.add_segments(section.count())?;
                for element in section.clone() {
                    let entries = match element?.items {
                        ElementItems::Functions(items) => u64::from(items.count()),
                        ElementItems::Expressions(_, items) => u64::from(items.count()),
                    };
                    self.start += entries;
                    self.add_making(ELEMENT * entries)?;
                }
            }
            Payload::DataSection(section) => {
                self.add_segments(section.count())?;
                self.start += section.range().len() as u64;
                self.add_making(DATA_SEGMENT * u64::from(section.count()))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn types(&mut self, group: &RecGroup) -> Result<(), OutOfBounds> {
        for ty in group.types() {
            // Others are not valid.
            let wasmparser::CompositeInnerType::Func(function) = &ty.composite_type.inner else { continue };
            let (parameters, results) = (function.params().len(), function.results().len());
            at_most("parameters of a function", parameters, PARAMETERS)?;
            at_most("results of a function", results, RESULTS)?;
            let glue = GLUE + GLUE_VALUE * (parameters + results) as u64;
            self.glue.push(glue);
            self.add_work(glue)?;
        }
        Ok(())
    }

    fn add_segments(&mut self, count: u32) -> Result<(), OutOfBounds> {
        self.segments = self.segments.saturating_add(count);
        at_most("segments", self.segments, SEGMENTS)
    }

    fn add_making(&mut self, found: u64) -> Result<(), OutOfBounds> {
        self.making = self.making.saturating_add(found);
        if self.making > FUNCTION_WORK {
            return Err(OutOfBounds::MakingWork { found: self.making, most: FUNCTION_WORK });
        }
        self.add_work(found)
    }

    fn add_work(&mut self, found: u64) -> Result<(), OutOfBounds> {
        self.work = self.work.saturating_add(found);
        if self.work > WORK { Err(OutOfBounds::Work { found: self.work, most: WORK }) } else { Ok(()) }
    }

    fn function(
        &mut self,
        validator: &mut FuncValidator<ValidatorResources>,
        body: &FunctionBody<'_>,
    ) -> Result<(), OutOfBounds> {
        let found = function_work(validator, body)?;
        if found > FUNCTION_WORK {
            return Err(OutOfBounds::FunctionWork { function: self.functions, found, most: FUNCTION_WORK });
        }
        self.functions += 1;
        self.add_work(found)
    }
}

fn check_import(module: &str, name: &str, ty: TypeRef) -> Result<(), OutOfBounds> {
    let kind = match ty {
        TypeRef::Func(_) => return Ok(()),
        TypeRef::FuncExact(_) => "exact function",
        TypeRef::Table(_) => "table",
        TypeRef::Memory(_) => "memory",
        TypeRef::Global(_) => "global",
        TypeRef::Tag(_) => "tag",
    };
    Err(OutOfBounds::Import { kind, module: module.to_owned(), name: name.to_owned() })
}

/// About a unit for a byte of code, and one for each pair of a value and a place where paths part or meet, which may need it.
fn function_work(
    validator: &mut FuncValidator<ValidatorResources>,
    body: &FunctionBody<'_>,
) -> Result<u64, OutOfBounds> {
    at_most("bytes of a function", body.range().len(), FUNCTION_BYTES)?;
    validator.read_locals(&mut body.get_binary_reader())?;
    let locals = u64::from(validator.len_locals());
    // The meter charges at the function's head, and at those of its loops.
    let (mut joins, mut charged_heads) = (2_u64, 1_u64);
    let (mut accesses, mut carried, mut loops, mut heads, mut instructions) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (operator, offset) = operator?;
        let (here, values) = match &operator {
            Operator::LocalGet { .. } | Operator::LocalSet { .. } | Operator::LocalTee { .. } => {
                accesses += 1;
                (0, 0)
            }
            Operator::End => {
                let is_loop = validator.get_control_frame(0).is_some_and(|frame| frame.kind == FrameKind::Loop);
                loops -= u64::from(is_loop);
                (1, 0)
            }
            Operator::Block { .. } | Operator::If { .. } | Operator::Else => (1, 0),
            // A charge of the meter, too.
            Operator::Loop { .. } => {
                charged_heads += 1;
                loops += 1;
                heads += loops;
                (3, 0)
            }
            Operator::Call { .. } | Operator::ReturnCall { .. } => {
                (0, call_values(&validator.visitor(offset), &operator))
            }
            // What is in the table may have to be made first.
            Operator::CallIndirect { .. } | Operator::ReturnCallIndirect { .. } => {
                (3, call_values(&validator.visitor(offset), &operator))
            }
            Operator::TableGet { .. } | Operator::TableSet { .. } => (3, METERED_CALL),
            _ if meter::adds_call(&operator) => (0, METERED_CALL),
            Operator::Br { relative_depth } => (0, loops + label_values(&validator.visitor(offset), *relative_depth)),
            Operator::BrIf { relative_depth } => (1, label_values(&validator.visitor(offset), *relative_depth)),
            Operator::BrTable { targets } => {
                let each = label_values(&validator.visitor(offset), targets.default());
                let count = u64::from(targets.len()) + 1;
                (count, each.saturating_mul(count))
            }
            _ => (0, 0),
        };
        validator.op(offset, &operator)?;
        instructions += 1;
        joins += here;
        // For each place, a compiler looks at the loops around it.
        let around = (u64::from(validator.operand_stack_height()) + loops).saturating_mul(here);
        carried = carried.saturating_add(around).saturating_add(values);
    }
    let bytes = body.range().len() as u64;
    let counts =
        FunctionCounts { bytes, instructions, locals, accesses, joins, carried, loop_depths: heads, charged_heads };
    let least = counts.work(charged_heads);
    if least > FUNCTION_WORK {
        return Ok(least);
    }
    // Any number of branches to one place may each be charged for what comes there, so these charges are counted one by one.
    Ok(counts.work(meter::count_charges(body)?))
}

/// What the work of compiling a function is made of.
struct FunctionCounts {
    bytes: u64,
    instructions: u64,
    locals: u64,
    /// How often they are read or written.
    accesses: u64,
    /// Where paths part or meet.
    joins: u64,
    /// Values that pass by there, or that calls and branches carry.
    carried: u64,
    /// Of each loop, how many loops it is in, itself one of them.
    loop_depths: u64,
    /// The function's head and those of its loops, where it is charged in any case.
    charged_heads: u64,
}

impl FunctionCounts {
    /// The work where the meter adds so many charges.
    fn work(&self, charges: u64) -> u64 {
        let joins = self.joins + CHARGE_JOINS * charges.saturating_sub(self.charged_heads);
        let at_heads = LOOP_VARIABLE.saturating_mul(self.loop_depths);
        let variables = joins.saturating_add(at_heads).saturating_mul(self.locals.min(self.accesses));
        let kept = joins.saturating_mul(self.instructions) / KEPT_PAIRS;
        let parts = [self.locals, self.carried, variables, kept, CHARGE * charges];
        parts.into_iter().fold(self.bytes, u64::saturating_add)
    }
}

/// How many values a call takes and gives.
fn call_values(function: &impl ModuleArity, call: &Operator<'_>) -> u64 {
    let (taken, given) = call.operator_arity(function).unwrap_or_default();
    u64::from(taken) + u64::from(given)
}

/// How many values a branch to that label carries; all labels of a table have as many.
fn label_values(function: &impl ModuleArity, depth: u32) -> u64 {
    if function.control_stack_height() == 0 {
        // Behind the end of the function, which is not valid.
        return 0;
    }
    let Some((ty, kind)) = function.label_block(depth) else { return 0 };
    let arity = match ty {
        BlockType::Empty => (0, 0),
        BlockType::Type(_) => (0, 1),
        BlockType::FuncType(_) => function.block_type_arity(ty).unwrap_or_default(),
    };
    u64::from(if kind == FrameKind::Loop { arity.0 } else { arity.1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_text(text: &str) -> Result<Checked, OutOfBounds> {
        count(&wat::parse_str(text).expect("it is WebAssembly text"))
    }

    fn refusal(text: &str) -> Option<OutOfBounds> {
        count_text(text).err()
    }

    #[test]
    fn what_is_within_its_bounds_is_let_through() {
        let wasi = "(import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 i32) (result i32)))";
        let calls = "(table 3 funcref) (func (result i32) (return_call_indirect (result i32) (i32.const 0)))";
        for body in ["", wasi, "(memory 1) (func (export \"_start\") (loop (br 0)))", calls] {
            assert_eq!(refusal(&format!("(module {body})")), None, "{body}");
        }
    }

    #[test]
    fn what_compilers_do_not_emit_by_themselves_is_refused() {
        for body in [
            "(tag)",
            "(type (struct))",
            "(memory 1) (memory 1)",
            "(memory i64 1)",
            "(memory 1 1 shared)",
            "(global externref (ref.null extern))",
            "(func (param v128 v128) (result v128) local.get 0 local.get 1 i8x16.relaxed_swizzle local.get 0)",
            "(func (block (try_table (catch_all 0))))",
            "(global i32 (i32.add (i32.const 1) (i32.const 2)))",
        ] {
            let found = refusal(&format!("(module {body})"));
            assert!(matches!(found, Some(OutOfBounds::Invalid(_))), "{body}: {found:?}");
        }
    }

    #[test]
    fn an_instance_costs_what_is_made_for_it() {
        let price = |body: &str| check(&wat::parse_str(format!("(module {body})")).expect("text")).expect("a module");
        assert_eq!(price(""), 0);
        assert_eq!(price("(memory 2)") - price("(memory 1)"), 4096);
        assert_eq!(price("(table 100 funcref)"), 100);
        assert_eq!(price("(table 1 funcref) (func $f) (elem (i32.const 0) $f)"), 2);
        assert_eq!(price("(global i32 (i32.const 1)) (global (mut i64) (i64.const 2))"), 2);
        assert_eq!(price("(memory 1) (data \"12345\")") - price("(memory 1) (data \"\")"), 5);
    }

    #[test]
    fn each_bound_is_told_with_what_was_found() {
        let many = |text: &str, count: usize| text.repeat(count);
        let cases = [
            (many("(table 1 funcref)", 5), "`5` tables"),
            (format!("(func (param {}))", many("i32 ", 256)), "`256` parameters"),
            (format!("(func (result {}) unreachable)", many("i32 ", 17)), "`17` results"),
            ("(table 2000000 funcref)".to_owned(), "`2000000` entries"),
            ("(func $s) (start $s)".to_owned(), "start function"),
            ("(import \"env\" \"m\" (memory 1))".to_owned(), "memory `env.m`"),
        ];
        for (body, told) in cases {
            let found = refusal(&format!("(module {body})")).expect("it is out of bounds").to_string();
            assert!(found.contains(told), "{found}");
        }
        let long = check(&vec![0; MODULE_BYTES + 1]).expect_err("it is too long").to_string();
        assert!(long.contains("`16777217` bytes"), "{long}");
        let other = check(b"#!/bin/sh").expect_err("it is no module").to_string();
        assert!(other.contains("no WebAssembly module"), "{other}");
    }

    #[test]
    fn variables_that_many_paths_may_need_are_counted_for_each_of_them() {
        assert_eq!(refusal(&loops_over_locals(5)), None);
        assert!(matches!(refusal(&loops_over_locals(2_000)), Some(OutOfBounds::FunctionWork { function: 0, .. })));
    }

    #[test]
    fn values_that_branches_pass_by_or_carry_are_counted_for_each_of_them() {
        assert_eq!(under(10, 5_000), None);
        assert!(matches!(under(5_000, 5_000), Some(OutOfBounds::FunctionWork { .. })));
        assert_eq!(carrying(1_000), None);
        assert!(matches!(carrying(900_000), Some(OutOfBounds::FunctionWork { .. })));
    }

    #[test]
    fn loops_in_loops_and_what_calls_pass_are_counted() {
        assert_eq!(nested(200), None);
        assert!(matches!(nested(10_000), Some(OutOfBounds::FunctionWork { .. })));
        // Two bytes that pass on and take back sixteen values.
        assert_eq!(calling(1_000), None);
        assert!(matches!(calling(500_000), Some(OutOfBounds::FunctionWork { .. })));
    }

    #[test]
    fn values_that_a_compiler_may_keep_over_many_paths_are_counted() {
        assert_eq!(branches(3_000), None);
        assert!(matches!(branches(40_000), Some(OutOfBounds::FunctionWork { .. })));
    }

    #[test]
    fn charges_of_the_meter_are_counted_at_loops_and_for_each_branch_that_is_charged() {
        let long = "(drop (memory.grow (i32.const 0)))";
        // All these branches go to one place, and only where that is long, they are charged.
        assert!(work_of_ten(branches_to, long) > 10 * CHARGE + work_of_ten(branches_to, "nop"));
        assert!(work_of_ten(branches_to, "nop") < 10 * CHARGE);
        assert!(work_of_ten(loops, "nop") > 10 * CHARGE);
    }

    #[test]
    fn what_makes_an_instance_is_counted() {
        let (data, elements) = ("(data (i32.const 0) \"\")".repeat(60_000), "$f ".repeat(500_000));
        for parts in
            [format!("(memory 1) {data}"), format!("(table 0 funcref) (func $f) (elem (i32.const 0) {elements})")]
        {
            let found = refusal(&format!("(module {parts})"));
            assert!(matches!(found, Some(OutOfBounds::MakingWork { .. })), "{found:?}");
        }
        let imports = "(import \"w\" \"f\" (func))".repeat(1_001);
        assert!(matches!(refusal(&format!("(module {imports})")), Some(OutOfBounds::Count { found: 1_001, .. })));
        let long = "i32.const 1 drop ".repeat(1 << 20);
        assert!(matches!(
            refusal(&format!("(module (func {long}))")),
            Some(OutOfBounds::Count { what: "bytes of a function", .. })
        ));
    }

    /// What ten more of them take.
    fn work_of_ten(module: fn(usize, &str) -> String, part: &str) -> u64 {
        let work = |count| count_text(&module(count, part)).expect("a module").work;
        work(20) - work(10)
    }

    /// A function of so many branches to what stands behind them.
    fn branches_to(count: usize, there: &str) -> String {
        let branches = "(br_if $there (local.get 0))".repeat(count);
        format!("(module (memory 1) (func (param i32) (block $there {branches} (return)) {there}))")
    }

    /// A function of so many loops.
    fn loops(count: usize, inside: &str) -> String {
        format!("(module (func {}))", format!("(loop {inside})").repeat(count))
    }

    /// Code that puts that many parameters on the stack.
    fn gets(count: usize) -> String {
        (0..count).map(|local| format!("local.get {local} ")).collect()
    }

    #[test]
    fn glue_for_signatures_and_functions_is_counted() {
        assert_eq!(functions(1_000), None);
        assert!(matches!(functions(40_000), Some(OutOfBounds::Work { .. })));
    }

    /// A function of that many loops in each other, which writes 5,000 times to one of as many locals.
    fn loops_over_locals(loops: usize) -> String {
        let (open, close) = ("loop ".repeat(loops), "end ".repeat(loops));
        let writes = "i32.const 1 local.set 0 ".repeat(5_000);
        format!("(module (func (local {}) {open} {writes} {close}))", "i32 ".repeat(5_000))
    }

    /// Why a function is refused that has so many values on its stack over so many branches.
    fn under(values: usize, branches: usize) -> Option<OutOfBounds> {
        let (put, drop) = ("i32.const 1 ".repeat(values), "drop ".repeat(values));
        let branch = "(block (br_if 0 (i32.const 0)))".repeat(branches);
        refusal(&format!("(module (func {put} {branch} {drop}))"))
    }

    /// The same of one with a table of so many branches that carry sixteen values.
    fn carrying(targets: usize) -> Option<OutOfBounds> {
        let (ty, values) = ("i32 ".repeat(16), "i32.const 1 ".repeat(17));
        let labels = "0 ".repeat(targets);
        refusal(&format!("(module (func (result {ty}) (block (result {ty}) {values} (br_table {labels}))))"))
    }

    /// The same of one with so many loops in each other.
    fn nested(loops: usize) -> Option<OutOfBounds> {
        let (open, close) = ("loop ".repeat(loops), "(br_if 0 (i32.const 0)) end ".repeat(loops));
        refusal(&format!("(module (func {open} {close}))"))
    }

    /// The same of one with so many calls of sixteen values.
    fn calling(calls: usize) -> Option<OutOfBounds> {
        let (ty, calls) = ("i32 ".repeat(16), "call $pass ".repeat(calls));
        let pass = format!("(func $pass (param {ty}) (result {ty}) unreachable)");
        refusal(&format!("(module {pass} (func (param {ty}) (result {ty}) {} {calls}))", gets(16)))
    }

    /// The same of one with so many branches that compute the same.
    fn branches(count: usize) -> Option<OutOfBounds> {
        let branch = "(block (br_if 0 (i32.const 0))) (i32.store (i32.const 0) (i32.mul (local.get 0) (i32.const 9)))";
        refusal(&format!("(module (memory 1) (func (param i32) {}))", branch.repeat(count)))
    }

    /// The same of so many functions of 250 parameters.
    fn functions(count: usize) -> Option<OutOfBounds> {
        let wide = format!("(type (func (param {})))", "i32 ".repeat(250));
        refusal(&format!("(module {wide} {})", "(func (type 0))".repeat(count)))
    }
}
