//! Injectors: operators over Python's syntax tree, one file each, run by Python's own `ast` in the sandbox.
//!
//! The thirteen operators of SWE-smith's released generator (arXiv 2504.21798) and its flip, with its probabilities and minimum
//! complexities, and the classic operators of mutation testing, which change one site per mutant. A new operator is a new file and a line
//! of [`INJECTORS`].

use veriplay_core::{Dropped, Execute, Limits, Value};
use veriplay_image_python::programs::{self, bugs::MUTATE};

use super::RepoContext;
use super::source_queries::{SourceReader, apply_edits, parse_edits, parse_index};
use crate::repository::tuple;

/// The origin of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InjectorFamily {
    /// SWE-smith's procedural modifications.
    SweSmith,
    /// Classic operators of mutation testing.
    Classic,
}

/// An operator that injects bugs. Its file says what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injector {
    /// Its name, which is that of its file and its function.
    pub name: &'static str,
    /// Its origin.
    pub family: InjectorFamily,
    /// What it changes: a `class` or a `function`.
    scope: &'static str,
    /// The probability of each site of a scope to be changed, in percent. At least one site changes.
    percent: u8,
    /// The minimum complexity of a scope that it changes.
    least_complexity: u32,
}

impl Injector {
    /// # Panics
    /// Never for one of [`INJECTORS`]: a test looks for the file of each.
    fn source(&self) -> &'static str {
        programs::bugs::injector(self.name).expect("each operator has a file")
    }
}

const fn swe_smith(name: &'static str, scope: &'static str, percent: u8, least_complexity: u32) -> Injector {
    Injector { name, family: InjectorFamily::SweSmith, scope, percent, least_complexity }
}

const fn classic(name: &'static str, least_complexity: u32) -> Injector {
    Injector { name, family: InjectorFamily::Classic, scope: "function", percent: 0, least_complexity }
}

/// All operators.
pub const INJECTORS: &[Injector] = &[
    swe_smith("remove_base", "class", 25, 3),
    swe_smith("remove_method", "class", 15, 3),
    swe_smith("shuffle_methods", "class", 100, 3),
    swe_smith("invert_if", "function", 25, 5),
    swe_smith("shuffle_statements", "function", 100, 3),
    swe_smith("remove_assignment", "function", 25, 3),
    swe_smith("remove_if", "function", 25, 3),
    swe_smith("remove_loop", "function", 25, 3),
    swe_smith("remove_wrapper", "function", 25, 3),
    swe_smith("break_chain", "function", 40, 3),
    swe_smith("change_constant", "function", 40, 3),
    swe_smith("change_operator", "function", 40, 3),
    swe_smith("swap_operands", "function", 40, 3),
    swe_smith("flip_operator", "function", 40, 3),
    classic("boundary", 1),
    classic("replace_comparison", 1),
    classic("replace_logical", 1),
    classic("insert_unary", 1),
    classic("negate_condition", 1),
    classic("remove_not", 1),
    classic("return_default", 1),
    classic("return_opposite", 1),
    classic("remove_statement", 1),
    classic("copy_statement", 1),
    classic("break_continue", 1),
    classic("slice_bound", 1),
    classic("range_bound", 1),
    classic("swap_arguments", 1),
    classic("drop_argument", 1),
    classic("change_default", 1),
    classic("drop_await", 1),
    classic("exception_type", 1),
    classic("string_literal", 1),
    classic("remove_decorator", 1),
    classic("plain_assignment", 1),
    classic("wrong_variable", 1),
    classic("omit_element", 1),
    classic("duplicate_element", 1),
    classic("constant_body", 1),
    classic("remove_part", 3),
];

/// A mutant of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The operator's name.
    pub injector: &'static str,
    /// The qualified name of the changed function or class.
    pub scope: String,
    /// The new text of the whole file.
    pub text: String,
}

/// The mutants of one file by one operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutants {
    /// The operator's name.
    pub injector: &'static str,
    /// The number of sites that it could change.
    pub sites: usize,
    /// Distinct mutants, drawn by the seed.
    pub candidates: Vec<Mutant>,
}

/// Draws up to `count` mutants of `text` per operator. Invalid Python has none.
///
/// # Errors
/// A host fault, or an operator with an invalid answer.
pub fn make_mutants(
    execute: &dyn Execute,
    repo: &RepoContext<'_>,
    injectors: &[Injector],
    text: &str,
    seed: u64,
    count: usize,
) -> Result<Vec<Mutants>, Dropped> {
    draw_mutants(SourceReader::of_repo(execute, repo), injectors, text, seed, count)
}

/// As [`make_mutants`] with all operators, for a program without a repository and tests.
pub fn mutate_program(
    execute: &dyn Execute,
    image: &str,
    limits: Limits,
    text: &str,
    seed: u64,
    count: usize,
) -> Result<Vec<Mutants>, Dropped> {
    draw_mutants(SourceReader { execute, image, limits }, INJECTORS, text, seed, count)
}

fn draw_mutants(
    reader: SourceReader<'_>,
    injectors: &[Injector],
    text: &str,
    seed: u64,
    count: usize,
) -> Result<Vec<Mutants>, Dropped> {
    let sources: Vec<&str> =
        std::iter::once(MUTATE).chain(injectors.iter().map(|injector| injector.source())).collect();
    let arguments = injectors.iter().map(|injector| {
        let (percent, least) = (Value::int(injector.percent), Value::int(injector.least_complexity));
        let (seed, count) = (Value::int(seed), Value::int(count));
        vec![Value::str(injector.name), Value::str(text), seed, count, percent, Value::str(injector.scope), least]
    });
    let answers = reader.ask_all(&sources.join("\n\n"), "mutate", arguments.collect())?;
    let read = |(injector, answer): (&Injector, Result<Value, String>)| match answer {
        Err(why) => Err(Dropped { why: format!("operator `{}`: {why}", injector.name) }),
        Ok(value) => parse_mutants(injector.name, text, &value)
            .ok_or_else(|| Dropped { why: format!("operator `{}` gives no mutants: {value}", injector.name) }),
    };
    injectors.iter().zip(answers).map(read).collect()
}

fn parse_mutants(injector: &'static str, text: &str, value: &Value) -> Option<Mutants> {
    let [sites, Value::List(found)] = tuple(value)? else { return None };
    let candidates = found.iter().map(|item| parse_mutant(injector, text, item)).collect::<Option<_>>()?;
    Some(Mutants { injector, sites: parse_index(sites)?, candidates })
}

fn parse_mutant(injector: &'static str, text: &str, item: &Value) -> Option<Mutant> {
    let [Value::Str(scope), _, changed] = tuple(item)? else { return None };
    Some(Mutant { injector, scope: scope.clone(), text: apply_edits(text, &parse_edits(changed)?)? })
}
