//! The bounds of a module that a job brings, checked before anything compiles it.
//!
//! Compiling is not metered, so its cost is bounded by what is compiled. Most of a compiler's work grows with the code; what can grow faster is
//! counted as it grows: the variables that are alive where a function's paths meet, for one. The limits are some times what clang makes of the
//! largest programs that contests and test sets have. Not counted yet, so that a hostile module can cost much more: values on the operand stack
//! over many branches, branches that carry many values, signatures and their trampolines, constant expressions.

use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload, RecGroup, TypeRef, ValType};

/// The most bytes of a module.
pub(super) const MODULE_BYTES: usize = 16 << 20;
/// What compiling it may take, in units of about a byte of code.
const WORK: u64 = 64 << 20;
/// The same of one function: what is done for each pair of a variable and a block is done for each function apart.
const FUNCTION_WORK: u64 = 8 << 20;
const FUNCTIONS: u32 = 100_000;
const TYPES: u32 = 100_000;
const PARAMETERS: usize = 255;
const RESULTS: usize = 16;
const GLOBALS: u32 = 100_000;
const TABLES: u32 = 4;
/// As many as a table may grow to.
const TABLE_ENTRIES: u64 = 1 << 20;
const SEGMENTS: u32 = 100_000;
const TAGS: u32 = 1_000;
const EXPORTS: u32 = 100_000;

/// Why a module is refused before it is compiled. It is the program's fault.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OutOfBounds {
    #[error("it has `{found}` {what}, and may have {most}")]
    Count { what: &'static str, found: u64, most: u64 },
    #[error("compiling it would take `{found}` units of work, and {most} are allowed")]
    Work { found: u64, most: u64 },
    #[error("compiling its function `{function}` would take `{found}` units of work, and {most} are allowed")]
    FunctionWork { function: usize, found: u64, most: u64 },
    #[error("it has a start function: export `_start`, which is called when the module is ready")]
    Start,
    #[error("it imports the {kind} `{module}.{name}`, and the sandbox gives a module functions of WASI alone")]
    Import { kind: &'static str, module: String, name: String },
    #[error("it has a type that is no function: garbage-collected types are not supported")]
    Type,
    #[error("it is no WebAssembly module: {0}")]
    Malformed(String),
}

impl From<BinaryReaderError> for OutOfBounds {
    fn from(error: BinaryReaderError) -> Self {
        Self::Malformed(error.to_string())
    }
}

fn at_most(what: &'static str, found: impl TryInto<u64>, most: impl TryInto<u64>) -> Result<(), OutOfBounds> {
    let (found, most) = (found.try_into().unwrap_or(u64::MAX), most.try_into().unwrap_or(u64::MAX));
    if found > most { Err(OutOfBounds::Count { what, found, most }) } else { Ok(()) }
}

/// Checks a module, which need not be valid, in time that grows with its bytes.
pub(super) fn check(wasm: &[u8]) -> Result<(), OutOfBounds> {
    at_most("bytes", wasm.len(), MODULE_BYTES)?;
    let (mut work, mut function, mut entries) = (0_u64, 0, 0_u32);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TypeSection(section) => {
                at_most("types", section.count(), TYPES)?;
                section.into_iter().try_for_each(|group| check_types(&group?))?;
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    check_import(import.module, import.name, import.ty)?;
                }
            }
            Payload::FunctionSection(section) => at_most("functions", section.count(), FUNCTIONS)?,
            Payload::TableSection(section) => {
                at_most("tables", section.count(), TABLES)?;
                for table in section {
                    at_most("entries of a table", table?.ty.initial, TABLE_ENTRIES)?;
                }
            }
            Payload::TagSection(section) => at_most("tags", section.count(), TAGS)?,
            Payload::GlobalSection(section) => at_most("globals", section.count(), GLOBALS)?,
            Payload::ExportSection(section) => at_most("exports", section.count(), EXPORTS)?,
            Payload::StartSection { .. } => return Err(OutOfBounds::Start),
            Payload::ElementSection(section) => {
                entries = entries.saturating_add(section.count());
                at_most("segments", entries, SEGMENTS)?;
            }
            Payload::DataSection(section) => {
                entries = entries.saturating_add(section.count());
                at_most("segments", entries, SEGMENTS)?;
            }
            Payload::CodeSectionEntry(body) => {
                let found = function_work(&body)?;
                if found > FUNCTION_WORK {
                    return Err(OutOfBounds::FunctionWork { function, found, most: FUNCTION_WORK });
                }
                (work, function) = (work.saturating_add(found), function + 1);
                if work > WORK {
                    return Err(OutOfBounds::Work { found: work, most: WORK });
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_types(group: &RecGroup) -> Result<(), OutOfBounds> {
    for ty in group.types() {
        let wasmparser::CompositeInnerType::Func(function) = &ty.composite_type.inner else {
            return Err(OutOfBounds::Type);
        };
        at_most("parameters of a function", function.params().len(), PARAMETERS)?;
        at_most("results of a function", function.results().len(), RESULTS)?;
    }
    Ok(())
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

/// About a unit for a byte of code, and one for each pair of a variable that is written and a place where paths meet, which may need it.
fn function_work(body: &FunctionBody<'_>) -> Result<u64, OutOfBounds> {
    let mut locals = 0_u64;
    for group in body.get_locals_reader()? {
        let (count, ty) = group?;
        // A vector is twice as wide.
        locals = locals.saturating_add(u64::from(count) * if ty == ValType::V128 { 2 } else { 1 });
    }
    let (mut joins, mut writes) = (1_u64, 0_u64);
    for operator in body.get_operators_reader()? {
        match operator? {
            Operator::Loop { .. } | Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                joins += 1
            }
            Operator::BrTable { targets } => joins += u64::from(targets.len()),
            Operator::LocalSet { .. } | Operator::LocalTee { .. } => writes += 1,
            _ => {}
        }
    }
    let bytes = body.range().len() as u64;
    let carried = joins.saturating_mul(locals.min(writes));
    Ok(bytes.saturating_add(locals).saturating_add(carried))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<OutOfBounds> {
        check(&wat::parse_str(text).expect("it is WebAssembly text")).err()
    }

    #[test]
    fn what_is_within_its_bounds_is_let_through() {
        let wasi = "(import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 i32) (result i32)))";
        for body in ["", wasi, "(memory 1) (func (export \"_start\") (loop (br 0)))", "(table 3 funcref)"] {
            assert_eq!(refusal(&format!("(module {body})")), None, "{body}");
        }
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
            ("(type (struct))".to_owned(), "no function"),
            (many("(tag)", 1_001), "`1001` tags"),
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
        assert_eq!(refusal(&loops_over_locals(10)), None);
        assert!(matches!(refusal(&loops_over_locals(2_000)), Some(OutOfBounds::FunctionWork { function: 0, .. })));
    }

    /// A function of that many loops in each other, which writes 5,000 times to one of as many locals.
    fn loops_over_locals(loops: usize) -> String {
        let (open, close) = ("loop ".repeat(loops), "end ".repeat(loops));
        let writes = "i32.const 1 local.set 0 ".repeat(5_000);
        format!("(module (func (local {}) {open} {writes} {close}))", "i32 ".repeat(5_000))
    }
}
