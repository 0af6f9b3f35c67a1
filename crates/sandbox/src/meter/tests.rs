//! A metered module computes what it computed before, and nothing in it runs for ever.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use wasmtime::{Config, Engine, Instance, Memory, Module, Store, Trap, Val};

use super::{FUEL, MeterError, Pricing, instrument};

/// What a call came to, as far as it can be compared.
#[derive(Debug, PartialEq)]
enum CallEnd {
    Returned(Vec<String>),
    Trapped(Trap),
    /// By the meter.
    OutOfFuel,
    /// By wasmtime's own fuel.
    OutOfGuard,
}

/// Wasmtime's own fuel in a metered module.
const GUARD: u64 = 50_000_000;

fn engine() -> Engine {
    let mut config = Config::new();
    config.consume_fuel(true).max_wasm_stack(1 << 18).wasm_branch_hinting(true).cranelift_nan_canonicalization(true);
    config.wasm_memory64(false).generate_address_map(false);
    Engine::new(&config).unwrap()
}

/// A metered module with `fuel` units.
struct MeteredInstance {
    store: Store<()>,
    instance: Instance,
}

impl MeteredInstance {
    fn new(wasm: &[u8], fuel: i64) -> Self {
        Self::priced(wasm, fuel, Pricing::Estimate)
    }

    fn priced(wasm: &[u8], fuel: i64, pricing: Pricing) -> Self {
        // Wasmtime's own fuel besides, far more than ours: a test of a meter that does not stop a program must end.
        let engine = engine();
        let module = Module::new(&engine, instrument(wasm, pricing).unwrap()).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_fuel(GUARD).unwrap();
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let mut metered = Self { store, instance };
        metered.set_fuel(fuel);
        metered
    }

    fn from_text(text: &str, fuel: i64) -> Self {
        Self::new(&wat::parse_str(text).unwrap(), fuel)
    }

    fn gauge(&mut self) -> Memory {
        self.instance.get_memory(&mut self.store, FUEL).unwrap()
    }

    fn set_fuel(&mut self, fuel: i64) {
        self.gauge().write(&mut self.store, 0, &fuel.to_le_bytes()).unwrap();
    }

    fn remaining_fuel(&mut self) -> i64 {
        let mut fuel = [0; 8];
        self.gauge().read(&self.store, 0, &mut fuel).unwrap();
        i64::from_le_bytes(fuel)
    }

    fn call(&mut self, name: &str) -> CallEnd {
        let ended = call(&mut self.store, &self.instance, name);
        let used_up = ended == CallEnd::Trapped(Trap::UnreachableCodeReached) && self.remaining_fuel() < 0;
        if used_up { CallEnd::OutOfFuel } else { ended }
    }

    /// What a call of `f` costs.
    fn cost(text: &str) -> i64 {
        Self::cost_by(text, Pricing::Estimate)
    }

    fn cost_by(text: &str, pricing: Pricing) -> i64 {
        const MUCH: i64 = 1 << 40;
        let mut metered = Self::priced(&wat::parse_str(text).unwrap(), MUCH, pricing);
        assert!(matches!(metered.call("f"), CallEnd::Returned(_)), "{text}");
        MUCH - metered.remaining_fuel()
    }
}

/// Calls an export with zeros and nulls.
fn call(store: &mut Store<()>, instance: &Instance, name: &str) -> CallEnd {
    let function = instance.get_func(&mut *store, name).unwrap();
    let ty = function.ty(&*store);
    let zeros: Option<Vec<Val>> = ty.params().map(|ty| Val::default_for_ty(&ty)).collect();
    let mut results = vec![Val::I32(0); ty.results().len()];
    match function.call(&mut *store, &zeros.unwrap(), &mut results) {
        Ok(()) => CallEnd::Returned(results.iter().map(format_value).collect()),
        Err(error) => match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => CallEnd::OutOfGuard,
            Some(trap) => CallEnd::Trapped(*trap),
            None => CallEnd::Returned(vec![format!("{error:#}").lines().next().unwrap_or_default().to_owned()]),
        },
    }
}

/// Numbers to the bit; of references, whether there is one.
fn format_value(value: &Val) -> String {
    match value {
        Val::F32(_) | Val::F64(_) | Val::I32(_) | Val::I64(_) | Val::V128(_) => format!("{value:?}"),
        other => format!("{:?} null {:?}", other.ref_().is_some(), other.ref_().is_none_or(|value| value.is_null())),
    }
}

/// A valid module of what the engine can run, without imports: functions exported, memories and tables small.
fn any_module(bytes: &[u8]) -> Option<Vec<u8>> {
    let config = wasm_smith::Config {
        export_everything: true,
        max_imports: 0,
        min_funcs: 1,
        max_funcs: 6,
        max_instructions: 200,
        max_memories: 1,
        max_memory32_bytes: 1 << 18,
        memory_max_size_required: true,
        max_tables: 1,
        max_table_elements: 64,
        table_max_size_required: true,
        allow_start_export: false,
        gc_enabled: false,
        memory64_enabled: false,
        threads_enabled: false,
        relaxed_simd_enabled: false,
        shared_everything_threads_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        custom_descriptors_enabled: false,
        exceptions_enabled: true,
        tail_call_enabled: true,
        ..wasm_smith::Config::default()
    };
    let mut bytes = arbitrary::Unstructured::new(bytes);
    Some(wasm_smith::Module::new(config, &mut bytes).ok()?.to_bytes())
}

/// The names of exported functions whose arguments have zeros.
fn functions(engine: &Engine, wasm: &[u8]) -> Vec<String> {
    let module = Module::new(engine, wasm).unwrap();
    let callable =
        |ty: wasmtime::ExternType| ty.func().is_some_and(|ty| ty.params().all(|ty| Val::default_for_ty(&ty).is_some()));
    module.exports().filter(|export| callable(export.ty())).map(|export| export.name().to_owned()).collect()
}

/// The module's exports called one after the other, by wasmtime with its own fuel, and how much of that each takes.
fn run_unmetered(wasm: &[u8], names: &[String], fuel: u64) -> Option<Vec<(CallEnd, u64)>> {
    let engine = engine();
    let module = Module::new(&engine, wasm).unwrap();
    let mut store = Store::new(&engine, ());
    store.set_fuel(fuel).unwrap();
    let instance = Instance::new(&mut store, &module, &[]).ok()?;
    let each = |name: &String| {
        store.set_fuel(fuel).unwrap();
        let end = call(&mut store, &instance, name);
        (end, fuel - store.get_fuel().unwrap())
    };
    Some(names.iter().map(each).collect())
}

/// Runs any modules with and without the meter, and gives each pair of calls to `compare`: the name, how it ended unmetered and how many
/// instructions that were, and how it ended metered with what fuel. Returns how many pairs there were.
fn compare_calls(pricing: Pricing, compare: impl Fn(&CallEnd, u64, &CallEnd, i64) -> Result<(), TestCaseError>) -> u32 {
    const OWN: u64 = 20_000;
    const FUEL: i64 = 10_000_000;
    let compared = Cell::new(0);
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() });
    let bytes = prop::collection::vec(any::<u8>(), 512..4096);
    let result = runner.run(&bytes, |bytes| {
        let Some(wasm) = any_module(&bytes) else { return Ok(()) };
        let names = functions(&engine(), &wasm);
        let Some(plain) = run_unmetered(&wasm, &names, OWN) else { return Ok(()) };
        let mut metered = MeteredInstance::priced(&wasm, 0, pricing);
        for (name, (plain, instructions)) in names.iter().zip(plain) {
            metered.set_fuel(FUEL);
            let ended = metered.call(name);
            let overflow = CallEnd::Trapped(Trap::StackOverflow);
            if plain == CallEnd::OutOfGuard || ended == CallEnd::OutOfFuel || plain == overflow || ended == overflow {
                // The two no longer have the same state.
                break;
            }
            compare(&plain, instructions, &ended, FUEL - metered.remaining_fuel())?;
            compared.set(compared.get() + 1);
        }
        Ok(())
    });
    result.unwrap();
    compared.get()
}

#[test]
fn a_metered_module_computes_what_it_did_and_ends_whatever_it_does() {
    let same = compare_calls(Pricing::Estimate, |plain, _, metered, _| {
        prop_assert_eq!(metered, plain);
        Ok(())
    });
    assert!(same > 100, "{same} calls compared");
}

#[test]
fn by_an_upper_bound_no_module_executes_more_instructions_than_it_pays_for() {
    let same = compare_calls(Pricing::UpperBound, |plain, instructions, metered, fuel| {
        prop_assert_eq!(metered, plain);
        prop_assert!(i64::try_from(instructions).unwrap() <= fuel, "{} instructions for {} units", instructions, fuel);
        Ok(())
    });
    assert!(same > 100, "{same} calls compared");
}

/// Code that an estimate takes to be seldom, and that is always executed.
#[test]
fn an_upper_bound_pays_for_code_behind_branches_that_are_never_taken() {
    let work = "(drop (i32.const 0))".repeat(1_000);
    let (guard, table) = ("(br_if 0 (i32.const 0))".repeat(40), "0 ".repeat(100));
    let bodies = [
        format!("(block {guard} {work})"),
        format!("(block (br_if 0 (i32.const 1)) (block {guard})) {work}"),
        format!("(if (i32.const 1) (then (if (i32.const 1) (then (if (i32.const 1) (then {work}))))))"),
        format!("(block $out (block (br_table {table} (i32.const 7))) {work})"),
        format!("(block $out (loop (br_if $out (i32.const 1)))) {work}"),
        format!("(block $out (loop (block (loop (br_if $out (i32.const 1)))) (br 0)) (return)) {work}"),
        format!("(block (loop (block {guard} {work}) (br 1)))"),
        format!("(block (try_table (catch_all 0) (call $raises))) {work}"),
        "(call_indirect (i32.const 0))".to_owned(),
    ];
    for body in bodies {
        let text = format!(
            "(module (tag $e) (table funcref (elem $short)) (func $short {}) (func $raises (throw $e))
             (func (export \"f\") (block (br_if 0 (i32.const 0))) {body}))",
            "(drop (i32.const 0))".repeat(20)
        );
        let names = ["f".to_owned()];
        let wasm = wat::parse_str(&text).unwrap();
        let executed = run_unmetered(&wasm, &names, GUARD).unwrap()[0].1;
        let paid = MeteredInstance::cost_by(&text, Pricing::UpperBound);
        assert!(i64::try_from(executed).unwrap() <= paid, "{body}: {executed} instructions for {paid} units");
        // Nor many times that: of ways that part, the longest one counts.
        assert!(paid <= 2 * i64::try_from(executed).unwrap() + 300, "{body}: {paid} units for {executed} instructions");
    }
    let seldom = format!("(module (func $n nop) (func (export \"f\") (call $n) (block {guard} {work})))");
    assert!(MeteredInstance::cost(&seldom) < 100, "an estimate should have been cheap here");
}

/// Code that is never executed, on either side of where paths part, and the same code executed.
#[test]
fn by_an_upper_bound_a_long_path_is_paid_for_by_those_that_go_it() {
    let work = "(drop (i32.const 0))".repeat(1_000);
    let bodies = [
        format!("(block (br_if 0 (i32.eqz (C))) {work})"),
        format!("(block $seldom (block $out (br_if $out (C)) (br $seldom)) {work})"),
        format!("(block $end (block $seldom (br_if $seldom (C)) (br $end)) {work})"),
        format!("(if (C) (then {work}))"),
        format!("(if (C) (then {work}) (else nop))"),
        format!("(if (i32.eqz (C)) (then nop) (else {work}))"),
        // Charges in the shorter `then` of a longer `else`.
        format!("(if (i32.eqz (C)) (then (if (C) (then {work}))) (else {work} (if (C) (then {work}))))"),
        format!("(block $on (br_if $on (C)) return) {work}"),
        format!("(loop $again (br_if $again (i32.const 0)) (if (C) (then {work} (if (C) (then {work})))))"),
    ];
    for body in bodies {
        let paid = |condition: &str| {
            let text = body.replace("(C)", &format!("(i32.const {condition})"));
            MeteredInstance::cost_by(&format!("(module (func (export \"f\") {text}))"), Pricing::UpperBound)
        };
        let (seldom, gone) = (paid("0"), paid("1"));
        assert!(seldom < 100 && gone > 1_000, "{body}: {seldom} units, and {gone} with all of it");
    }
}

#[test]
fn by_an_upper_bound_no_stretch_does_much_that_was_not_paid_for_yet() {
    let short = format!("(func $short {})", "(drop (i32.const 0))".repeat(20));
    let fill = "(memory.fill (i32.const 0) (i32.const 7) (i32.const 65536))";
    let table = "(table.fill (i32.const 0) (ref.null func) (i32.const 1000))";
    // Each with more fuel than the entry costs, and less than all the steps do.
    for (step, fuel, most) in [(fill, 1_000_000, 65_536), (table, 600_000, 1_000), ("(call $short)", 10_000, 100)] {
        let steps = step.repeat(1_000);
        let text = format!("(module (memory 1) (table 1000 funcref) {short} (func (export \"f\") {steps}))");
        let mut metered = MeteredInstance::priced(&wat::parse_str(&text).unwrap(), fuel, Pricing::UpperBound);
        assert_eq!(metered.call("f"), CallEnd::OutOfFuel, "{step}");
        assert!((-most..0).contains(&metered.remaining_fuel()), "{step}: {}", metered.remaining_fuel());
    }
    // An estimate looks at the fuel where a stretch begins alone.
    let text = format!("(module (memory 1) (func (export \"f\") {}))", fill.repeat(100));
    let mut metered = MeteredInstance::from_text(&text, 1_000_000);
    assert!(matches!(metered.call("f"), CallEnd::Returned(_)) && metered.remaining_fuel() < -5_000_000);
}

#[test]
fn by_an_upper_bound_variables_are_paid_for_where_paths_meet() {
    let text = |count: usize| {
        let locals = "i32 ".repeat(count);
        format!("(module (func (export \"f\") (local {locals}) (block (br_if 0 (i32.const 0)))))")
    };
    let cost = |count: usize, pricing: Pricing| MeteredInstance::cost_by(&text(count), pricing);
    assert_eq!(cost(6_400, Pricing::UpperBound) - cost(0, Pricing::UpperBound), 3 * 100);
    assert_eq!(cost(6_400, Pricing::Estimate), cost(0, Pricing::Estimate));
}

#[test]
fn nothing_runs_for_ever() {
    let bodies = [
        "(loop (br 0))",
        "(loop (block (br 1)))",
        "(loop (br_if 0 (i32.const 1)))",
        "(loop (br_table 0 0 (i32.const 0)))",
        "(loop (loop (br 1)))",
        "(loop (if (i32.const 1) (then (br 1))))",
        "(call $f)",
        "(return_call $f)",
        "(call $short) (return_call $f)",
        "(call_indirect (type $none) (i32.const 0))",
        "(return_call_indirect (type $none) (i32.const 0))",
        "(loop (block (try_table (catch_all 0) (throw $e))) (br 0))",
        "(loop $l (try_table (catch_all $l) (throw $e)))",
        "(loop $l (try_table (catch_all $l) (call $raises)))",
        "(loop (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br 0))",
        "(loop (call $short) (br 0))",
    ];
    for body in bodies {
        let text = format!(
            "(module (type $none (func)) (tag $e) (memory 1) (table funcref (elem $f)) (func $short nop)
             (func $raises (throw $e)) (func $f (export \"f\") {body}))"
        );
        let ended = MeteredInstance::from_text(&text, 100_000).call("f");
        let deep = ended == CallEnd::Trapped(Trap::StackOverflow) && body.starts_with("(call");
        assert!(ended == CallEnd::OutOfFuel || deep, "{body}: {ended:?}");
    }
}

/// Calls that double with every level: too long by far to come to an end, too shallow to overflow a stack.
#[test]
fn no_cycle_of_calls_is_paid_for_by_callers_alone() {
    let chain: String = (0..60).map(|n| format!("(func $c{n} call $c{0} call $c{0})", n + 1)).collect();
    let chain = format!("{chain} (func $c60 nop) (func (export \"f\") call $c0)");
    let less = "(i32.sub (local.get 0) (i32.const 1))";
    let twice = |call: &str| format!("(if (local.get 0) (then {call} {call}))");
    let itself = twice(&format!("(call $g {less})"));
    let by_table = twice(&format!("(call_indirect (type $one) {less} (i32.const 0))"));
    let by_global = twice(&format!("(call_ref $one {less} (global.get $at))"));
    let by_reference = twice(&format!("(call_ref $one {less} (ref.func $g))"));
    let through = |call: &str, body: &str| {
        format!("(func $g (param i32) (call {call} (local.get 0))) (func $h (param i32) {body})")
    };
    let begin = "(func (export \"f\") (call $g (i32.const 60)))";
    let modules = [
        chain,
        format!("(func $g (param i32) {itself}) {begin}"),
        format!("{} {begin}", through("$h", &itself)),
        format!("{} (func $i (param i32) (call $h (local.get 0))) {begin}", through("$i", &itself)),
        format!("(table funcref (elem $g)) (func $g (param i32) {by_table}) {begin}"),
        format!("(table funcref (elem $g)) {} {begin}", through("$h", &by_table)),
        format!("(table 1 (ref null $one) (ref.func $g)) {} {begin}", through("$h", &by_table)),
        format!("(table 1 funcref) (elem (i32.const 0) funcref (ref.func $g)) {} {begin}", through("$h", &by_table)),
        format!("(global $at (ref $one) (ref.func $g)) {} {begin}", through("$h", &by_global)),
        format!("(elem declare func $g) {} {begin}", through("$h", &by_reference)),
        format!("(table (export \"t\") funcref (elem $g $h)) {} {begin}", through("$h", &by_table)),
    ];
    for module in modules {
        let text = format!("(module (type $one (func (param i32))) {module})");
        assert_eq!(MeteredInstance::from_text(&text, 1_000_000).call("f"), CallEnd::OutOfFuel, "{text}");
    }
}

#[test]
fn a_short_call_of_short_calls_is_paid_for_where_it_begins() {
    let cost = |body: &str| {
        let deep = "(func $a call $b call $b) (func $b call $c) (func $c (drop (i32.const 0)))";
        MeteredInstance::cost(&format!("(module {deep} (func (export \"f\") {body}))"))
    };
    // `$c` is a constant; `$b` a call of it; `$a` two calls of that.
    assert_eq!([cost("(call $c)"), cost("(call $b)"), cost("(call $a)")], [2, 3, 7]);
    // On the way not taken nothing is executed, and half of it is paid for all the same.
    assert_eq!(cost("(if (i32.const 0) (then (call $a)))"), 2 + 4);
}

#[test]
fn a_stretch_costs_what_it_is_estimated_to_execute() {
    let cost = |body: &str| {
        let long = "(drop (i32.const 0))".repeat(2000);
        MeteredInstance::cost(&format!(
            "(module (memory 1) (func $short (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
             (func $long {long}) (func (export \"f\") (local i32) {body} (call $short (i32.const 0)) drop))"
        ))
    };
    // A constant, a call, and what the short function costs its caller.
    let none = cost("");
    assert_eq!(none, 5);
    assert_eq!(cost("(local.set 0 (i32.const 7))"), none + 2);
    // Each side of an `if` half of the time, and the condition always.
    let sides = "(if (local.get 0) (then (local.set 0 (i32.const 7)) (local.set 0 (i32.const 7))) (else (local.set 0 (i32.const 7))))";
    assert_eq!(cost(sides), none + 2 + 3);
    // A function that pays for itself pays as often as it is called.
    assert_eq!(cost("(call $long) (call $long)"), none + 2 + 2 * 2000);
    // A loop pays for each turn: six instructions, ten times; what leads to it, once.
    let turns = "(local.set 0 (i32.const 10)) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))";
    assert_eq!(cost(turns), none + 2 + 10 * 5);
    // Bytes that are moved are paid for one by one.
    let fill = |bytes: u32| cost(&format!("(memory.fill (i32.const 0) (i32.const 1) (i32.const {bytes}))"));
    assert_eq!(fill(60_000) - fill(0), 60_000);
}

/// What `body`, an expression of type `ty`, costs in a function that pays for itself, as one that calls another does.
fn expression_cost(ty: &str, body: &str) -> i64 {
    MeteredInstance::cost(&format!("(module (func $n nop) (func (export \"f\") (result {ty}) (call $n) ({body})))"))
}

#[test]
fn a_subnormal_number_is_paid_for_where_it_slows_a_processor_down() {
    let cases = [
        ("f64", "f64.mul", "(f64.const 3) (f64.const 0.5)", "(f64.const 1e-310) (f64.const 0.5)"),
        // The result alone is subnormal, then too small to be anything, then only an operand is.
        ("f64", "f64.mul", "(f64.const 1e-200) (f64.const 1e-100)", "(f64.const 1e-200) (f64.const 1e-115)"),
        ("f64", "f64.mul", "(f64.const 1e-200) (f64.const 1e200)", "(f64.const 1e-200) (f64.const 1e-200)"),
        ("f64", "f64.mul", "(f64.const 1e-300) (f64.const 1e300)", "(f64.const 1e-310) (f64.const 1e300)"),
        ("f64", "f64.div", "(f64.const 1) (f64.const 3)", "(f64.const 1) (f64.const -1e-308)"),
        ("f64", "f64.sqrt", "(f64.const 2)", "(f64.const 5e-324)"),
        ("f32", "f32.mul", "(f32.const 3) (f32.const 0.5)", "(f32.const -1e-40) (f32.const 0.5)"),
        ("f32", "f32.div", "(f32.const 1) (f32.const 3)", "(f32.const 1e-30) (f32.const 1e10)"),
        ("f32", "f32.sqrt", "(f32.const 2)", "(f32.const 1e-40)"),
        ("f32", "f32.demote_f64", "(f64.const 0.1)", "(f64.const 1e-40)"),
        ("f64", "f64.promote_f32", "(f32.const 0.1)", "(f32.const 1e-40)"),
    ];
    for (ty, operator, normal, subnormal) in cases {
        let cost = |operands: &str| expression_cost(ty, &format!("{operator} {operands}"));
        assert_eq!(cost(subnormal) - cost(normal), 600, "{operator} {subnormal}");
    }
}

#[test]
fn zeros_infinities_and_numbers_that_are_none_are_not_paid_for_as_subnormal_ones() {
    let cost = |operands: &str| expression_cost("f64", &format!("f64.mul {operands}"));
    let plain = cost("(f64.const 3) (f64.const 0.5)");
    for operands in [
        "(f64.const 0) (f64.const 0.5)",
        "(f64.const -0) (f64.const 1e-310)",
        "(f64.const inf) (f64.const 2)",
        "(f64.const nan) (f64.const 1)",
        // The least normal number.
        "(f64.const 0x1p-1022) (f64.const 1)",
    ] {
        assert_eq!(cost(operands), plain, "{operands}");
    }
    // Addition is as fast as ever.
    let sum = |a: &str| expression_cost("f64", &format!("f64.add (f64.const {a}) (f64.const 1e-310)"));
    assert_eq!(sum("1e-310"), sum("1"));
}

#[test]
fn what_takes_a_processor_long_costs_more_than_an_addition() {
    let whole = |operator: &str| expression_cost("i64", &format!("i64.{operator} (i64.const 7) (i64.const 3)"));
    for operator in ["div_s", "div_u", "rem_s", "rem_u"] {
        assert_eq!(whole(operator) - whole("add"), 7, "{operator}");
    }
    let float = |operator: &str| expression_cost("f64", &format!("f64.{operator} (f64.const 7) (f64.const 3)"));
    assert_eq!([float("mul") - float("add"), float("div") - float("add")], [2, 7]);
    let vector = |operator: &str| {
        let operand = "(v128.const f64x2 1 2)";
        expression_cost("v128", &format!("f64x2.{operator} {operand} {operand}"))
    };
    assert_eq!(vector("mul") - vector("add"), 63);
}

#[test]
fn a_tight_loop_pays_for_the_memory_it_may_wait_for() {
    let turn = |body: &str| {
        let module = |turns: u32| {
            format!(
                "(module (memory 1) (func $byte (param i32) (result i32) (i32.load8_u (local.get 0)))
                 (func (export \"f\") (local i32 i32 i32 i32) (local.set 0 (i32.const {turns}))
                 (loop {body} (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))"
            )
        };
        MeteredInstance::cost(&module(3)) - MeteredInstance::cost(&module(2))
    };
    let (none, near, far) = (turn(""), 4 - 1, 40 - 1);
    for line in include_str!("waits.txt").lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let [instructions, near_count, far_count, body] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let number = |text: &str| text.parse::<i64>().unwrap();
        let waits = number(near_count) * near + number(far_count) * far;
        assert_eq!(turn(body) - none, number(instructions) + waits, "{body}");
    }
    // A long turn does much else meanwhile.
    let long = "(drop (i32.const 0))".repeat(300);
    assert_eq!(turn(&format!("{long} (drop (i32.load (i32.const 0)))")), none + 300 + 2);
}

#[test]
fn the_fuel_is_in_a_memory_that_the_module_does_not_name() {
    for (own, store) in [("", ""), ("(memory 1)", "(i32.store (i32.const 0) (i32.const -1))")] {
        let text = format!("(module {own} (func $n nop) (func (export \"f\") (call $n) {store}))");
        let mut metered = MeteredInstance::from_text(&text, 1_000);
        assert_eq!(metered.call("f"), CallEnd::Returned(Vec::new()));
        assert_eq!(metered.remaining_fuel(), if own.is_empty() { 998 } else { 995 });
    }
}

#[test]
fn a_module_with_memories_that_no_snapshot_keeps_is_refused() {
    for memories in ["(memory 1) (memory 1)", "(import \"a\" \"b\" (memory 1)) (memory 1)"] {
        let module = wat::parse_str(format!("(module {memories})")).unwrap();
        assert!(matches!(instrument(&module, Pricing::Estimate), Err(MeterError::Memories(2))), "{memories}");
    }
}

#[test]
fn what_is_metered_already_or_is_no_module_is_refused() {
    let plain = wat::parse_str("(module (func (export \"f\")))").unwrap();
    let once = instrument(&plain, Pricing::Estimate).unwrap();
    assert!(matches!(instrument(&once, Pricing::Estimate), Err(MeterError::AlreadyMetered)));
    assert!(matches!(instrument(b"\0asm\x01\0\0\0\x01", Pricing::Estimate), Err(MeterError::Malformed(_))));
}
