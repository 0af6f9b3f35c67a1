//! Injectors: operators over Python's syntax tree, one file each, run by Python's own `ast` in the sandbox.
//!
//! The thirteen operators of SWE-smith's released generator (arXiv 2504.21798) and its flip, with its probabilities and minimum
//! complexities, and the classic operators of mutation testing, which change one site per mutant. A new operator is a new file and a line
//! of [`INJECTORS`].

use std::collections::BTreeSet;

use veriplay_core::{Digest, Dropped, Execute, Limits, SCHEMA_VERSION, TextFiles, Trust, Value};
use veriplay_image_python::programs::{self, bugs::MUTATE};

use super::source_queries::{TextEdit, apply_edits, parse_edits, parse_index, query_sources};
use super::{OwnNames, RepoContext, TestMap};
use crate::repository::{Baseline, PytestSettings};

/// The origin of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InjectorFamily {
    /// SWE-smith's procedural modifications.
    SweSmith,
    /// Classic operators of mutation testing.
    Classic,
}

/// What an operator changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InjectorScope {
    /// One function.
    Function,
    /// One class.
    Class,
}

/// An operator that injects bugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injector {
    /// Its name, which is that of its file and its function.
    pub name: &'static str,
    /// Its origin.
    pub family: InjectorFamily,
    /// The probability of each site of a scope to be changed, in percent. At least one site changes.
    pub percent: u8,
    /// What it changes.
    pub scope: InjectorScope,
    /// The minimum complexity of a scope that it changes.
    pub least_complexity: u32,
    /// What it does.
    pub what: &'static str,
}

impl Injector {
    /// # Panics
    /// Never for one of [`INJECTORS`]: a test looks for the file of each.
    fn source(&self) -> &'static str {
        programs::bugs::injector(self.name).expect("each operator has a file")
    }
}

macro_rules! injector {
    ($name:ident, $family:ident, $percent:literal, $scope:ident, $least:literal, $what:literal) => {
        Injector {
            name: stringify!($name),
            family: InjectorFamily::$family,
            percent: $percent,
            scope: InjectorScope::$scope,
            least_complexity: $least,
            what: $what,
        }
    };
}

/// All operators.
pub const INJECTORS: &[Injector] = &[
    injector!(remove_base, SweSmith, 25, Class, 3, "a class loses one of its base classes"),
    injector!(remove_method, SweSmith, 15, Class, 3, "a class loses a method"),
    injector!(shuffle_methods, SweSmith, 100, Class, 3, "the methods of a class change places"),
    injector!(invert_if, SweSmith, 25, Function, 5, "the two branches of an if change places"),
    injector!(shuffle_statements, SweSmith, 100, Function, 3, "the statements of a function with a loop change places"),
    injector!(remove_assignment, SweSmith, 25, Function, 3, "an assignment is gone"),
    injector!(remove_if, SweSmith, 25, Function, 3, "an if is gone, its branches with it"),
    injector!(remove_loop, SweSmith, 25, Function, 3, "a loop is gone"),
    injector!(remove_wrapper, SweSmith, 25, Function, 3, "a with or try is gone, and its body stays"),
    injector!(
        break_chain,
        SweSmith,
        40,
        Function,
        3,
        "an operation on an operation loses its inner operand: (a + b) + c becomes a + c"
    ),
    injector!(change_constant, SweSmith, 40, Function, 3, "an int in an operation is one more or one less"),
    injector!(
        change_operator,
        SweSmith,
        40,
        Function,
        3,
        "an arithmetic or bit operator becomes another of its family"
    ),
    injector!(swap_operands, SweSmith, 40, Function, 3, "the operands of an operation change places"),
    injector!(flip_operator, SweSmith, 40, Function, 3, "an operator becomes its opposite"),
    injector!(boundary, Classic, 0, Function, 1, "a bound includes what it excluded, or the other way round"),
    injector!(replace_comparison, Classic, 0, Function, 1, "a comparison becomes any other of its kind"),
    injector!(replace_logical, Classic, 0, Function, 1, "and becomes or, or the other way round"),
    injector!(
        insert_unary,
        Classic,
        0,
        Function,
        1,
        "a name in an operation gets a sign, a condition that is a name a not"
    ),
    injector!(negate_condition, Classic, 0, Function, 1, "a condition is negated"),
    injector!(remove_not, Classic, 0, Function, 1, "a not is gone"),
    injector!(return_default, Classic, 0, Function, 1, "a function returns None, or an empty value of the same kind"),
    injector!(return_opposite, Classic, 0, Function, 1, "a function returns True for False, or the other way round"),
    injector!(remove_statement, Classic, 0, Function, 1, "a call, raise, yield, assertion or deletion is gone"),
    injector!(copy_statement, Classic, 0, Function, 1, "a statement is done twice"),
    injector!(break_continue, Classic, 0, Function, 1, "a break becomes a continue, or the other way round"),
    injector!(slice_bound, Classic, 0, Function, 1, "an index or the bound of a slice is off by one"),
    injector!(range_bound, Classic, 0, Function, 1, "the bound of a range is off by one"),
    injector!(swap_arguments, Classic, 0, Function, 1, "two arguments of a call change places"),
    injector!(drop_argument, Classic, 0, Function, 1, "a call loses its last argument, or one it names"),
    injector!(change_default, Classic, 0, Function, 1, "the default of a parameter is another value"),
    injector!(drop_await, Classic, 0, Function, 1, "an await is gone"),
    injector!(exception_type, Classic, 0, Function, 1, "another exception is raised or caught"),
    injector!(string_literal, Classic, 0, Function, 1, "a text is another one"),
    injector!(remove_decorator, Classic, 0, Function, 1, "a function loses a decorator"),
    injector!(plain_assignment, Classic, 0, Function, 1, "an augmented assignment becomes a plain one: += becomes ="),
    injector!(wrong_variable, Classic, 0, Function, 1, "another variable of the function is read"),
    injector!(omit_element, Classic, 0, Function, 1, "a list, tuple, set or dict loses an element"),
    injector!(duplicate_element, Classic, 0, Function, 1, "a list or tuple has an element twice"),
    injector!(constant_body, Classic, 0, Function, 1, "a function does nothing and returns a constant"),
    injector!(remove_part, Classic, 0, Function, 3, "a function loses what follows one of its statements"),
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
    let sources: Vec<&str> =
        std::iter::once(MUTATE).chain(injectors.iter().map(|injector| injector.source())).collect();
    let arguments = injectors.iter().map(|injector| {
        let kind = if injector.scope == InjectorScope::Class { "class" } else { "function" };
        let (percent, least) = (Value::int(injector.percent), Value::int(injector.least_complexity));
        let (seed, count) = (Value::int(seed), Value::int(count));
        vec![Value::str(injector.name), Value::str(text), seed, count, percent, Value::str(kind), least]
    });
    let answers = query_sources(execute, repo, &sources.join("\n\n"), "mutate", arguments.collect())?;
    let read = |(injector, answer): (&Injector, Result<Value, String>)| match answer {
        Err(why) => Err(Dropped { why: format!("operator `{}`: {why}", injector.name) }),
        Ok(value) => read(injector.name, text, &value)
            .ok_or_else(|| Dropped { why: format!("operator `{}` gives no mutants: {value}", injector.name) }),
    };
    injectors.iter().zip(answers).map(read).collect()
}

impl Mutants {
    /// As [`make_mutants`] with all operators, for a program without a repository and tests.
    ///
    /// # Errors
    /// As [`make_mutants`].
    pub fn of_program(
        execute: &dyn Execute,
        image: &str,
        limits: Limits,
        text: &str,
        seed: u64,
        count: usize,
    ) -> Result<Vec<Self>, Dropped> {
        let none = Digest::of(b"");
        let baseline = Baseline {
            schema_version: SCHEMA_VERSION,
            name: String::new(),
            version: String::new(),
            package: none.clone(),
            pytest: none.clone(),
            image: none.clone(),
            limits,
            seeds: [seed, seed],
            dependencies: None,
            roots: Vec::new(),
            settings: PytestSettings::default(),
            library: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
        };
        let map = TestMap {
            schema_version: SCHEMA_VERSION,
            package: none.clone(),
            files: Vec::new(),
            names: OwnNames::default(),
        };
        let (texts, binaries, baseline, map) = (&TextFiles::new(), &BTreeSet::new(), &baseline, &map);
        let repo = RepoContext {
            image,
            split_image: image,
            pytest: &none,
            texts,
            binaries,
            baseline,
            map,
            limits,
            max_jobs: 0,
            trust: Trust::Split,
        };
        make_mutants(execute, &repo, INJECTORS, text, seed, count)
    }
}

const fn mutants(injector: &'static str, sites: usize, candidates: Vec<Mutant>) -> Mutants {
    Mutants { injector, sites, candidates }
}

fn read(injector: &'static str, text: &str, value: &Value) -> Option<Mutants> {
    let Value::Tuple(parts) = value else { return None };
    let [sites, Value::List(found)] = parts.as_slice() else { return None };
    let candidate = |item: &Value| {
        let Value::Tuple(parts) = item else { return None };
        let [Value::Str(scope), _, changed] = parts.as_slice() else { return None };
        let changed: Vec<TextEdit> = parse_edits(changed)?;
        Some(Mutant { injector, scope: scope.clone(), text: apply_edits(text, &changed)? })
    };
    Some(mutants(injector, parse_index(sites)?, found.iter().map(candidate).collect::<Option<_>>()?))
}
