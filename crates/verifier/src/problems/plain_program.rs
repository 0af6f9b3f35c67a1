//! Which programs compute a value from their arguments and no more.
//!
//! Such a program gives one answer wherever and however often it runs: it asks for no object's identity, draws nothing at random, reads no
//! clock, and does not look at the process that it is in. What leads there is named here and no defence: who gets by it is told the same
//! arguments, and no expected value is in reach. A program that is not plain is judged right all the same, only slower.

use std::collections::HashSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_stmt};
use ruff_python_ast::{Alias, AnyNodeRef, CmpOp, Expr, ExprCompare, ExprContext, Identifier, Stmt};

use veriplay_python::syntax::with_syntax_within;

/// The most levels of a program that is looked at: CPython reads 200 brackets and 100 levels of indentation.
pub(super) const MOST_LEVELS: usize = 100;
/// Modules that give the same answers in every process.
const MODULES: &str = "abc bisect cmath collections copy dataclasses decimal enum fractions functools hashlib heapq itertools json math \
    numbers operator re statistics string textwrap typing unicodedata";
/// What may be read of `sys`.
const OF_SYS: &str = "maxsize setrecursionlimit";
/// Builtins that tell of identity, of names, or of the process, and what leads to them.
const NAMES: &str = "attrgetter breakpoint compile copyright credits delattr dir eval exec exit getattr globals hash help id is_ is_not \
    license locals memoryview methodcaller open quit setattr vars";
/// Classes that there is one of, to compare with by `is`.
const CLASSES: &str = "bool bytes dict float int list set str tuple";
/// More of them, and attributes that lead to frames, code and modules.
const ATTRIBUTES: &str = "_sys ag_frame attrgetter builtins cr_frame f_back f_builtins f_globals f_locals gi_code gi_frame is_ is_not \
    methodcaller modules sys tb_frame tb_next";

/// Whether a program is made of what is listed here alone, and binds none of the names of some builtins. Of the names of a set-up it binds none but
/// by the same import.
pub(super) fn is_plain(program: &str, builtins: &[&str], of_set_up: &[(String, Option<String>)]) -> bool {
    let is_plain = with_syntax_within(MOST_LEVELS, program, |parsed| {
        let bound = of_set_up.iter().map(|(name, _)| name.as_str()).collect();
        let is_plain = parsed.has_no_syntax_errors();
        let mut reader = Reader { is_plain, builtins, of_set_up: of_set_up.iter().collect(), bound };
        reader.visit_body(parsed.suite());
        reader.is_plain
    });
    is_plain == Some(true)
}

/// What an import gives a name, in one word.
pub(super) fn origin(module: Option<&str>, name: &str) -> String {
    module.map_or_else(|| name.to_owned(), |module| format!("{module}.{name}"))
}

struct Reader<'r> {
    is_plain: bool,
    builtins: &'r [&'r str],
    /// The names that the set-up binds, and what they are imported from, if so.
    of_set_up: HashSet<&'r (String, Option<String>)>,
    bound: HashSet<&'r str>,
}

impl Reader<'_> {
    fn require(&mut self, is_plain: bool) {
        self.is_plain &= is_plain;
    }

    fn is_free(&self, name: &str) -> bool {
        !self.builtins.contains(&name) && !self.bound.contains(name)
    }

    /// Whether these imports, of `module` if there is one, bind free names, or what the set-up binds.
    fn are_free(&self, module: Option<&str>, names: &[Alias]) -> bool {
        names.iter().all(|alias| {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let same = (name.to_owned(), Some(origin(module, &alias.name)));
            self.is_free(name) || self.of_set_up.contains(&same)
        })
    }
}

impl<'a> SourceOrderVisitor<'a> for Reader<'_> {
    fn enter_node(&mut self, _node: AnyNodeRef<'a>) -> TraversalSignal {
        if self.is_plain { TraversalSignal::Traverse } else { TraversalSignal::Skip }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                // Under its own name `sys` is asked for what is allowed of it.
                let is_sys = |alias: &Alias| alias.name == *"sys" && alias.asname.is_none();
                let is_plain = import.names.iter().all(|alias| is_sys(alias) || is_module(&alias.name));
                self.require(is_plain && self.are_free(None, &import.names));
            }
            Stmt::ImportFrom(import) => {
                let is_plain = import.level == 0 && import.module.as_ref().is_some_and(|name| is_module(name));
                let has_plain_names = import.names.iter().all(|alias| match alias.name.as_str() {
                    "*" => self.builtins.is_empty() && self.of_set_up.is_empty(),
                    name => is_plain_name(name),
                });
                let are_free = self.are_free(import.module.as_deref(), &import.names);
                self.require(is_plain && has_plain_names && are_free);
            }
            // A call may give the name under test to another function.
            Stmt::Global(_) => self.require(false),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(compare) if is_main_guard(compare) => return,
            Expr::Compare(compare) => self.require(asks_no_identity(compare)),
            Expr::Attribute(attribute) => {
                let is_of_sys = attribute.value.as_name_expr().is_some_and(|name| name.id == "sys");
                if is_of_sys {
                    self.require(is_listed(OF_SYS, attribute.attr.as_str()));
                    return;
                }
                let name = attribute.attr.as_str();
                let is_special = name.starts_with("__") && name != "__init__";
                self.require(!is_special && !is_listed(ATTRIBUTES, name));
                // Its own name binds nothing.
                self.visit_expr(&attribute.value);
                return;
            }
            Expr::Name(name) => {
                let is_free = name.ctx == ExprContext::Load || self.is_free(&name.id);
                self.require(is_plain_name(&name.id) && name.id != "sys" && is_free);
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    /// Of functions, classes, parameters, exceptions, patterns.
    fn visit_identifier(&mut self, identifier: &'a Identifier) {
        self.require(self.is_free(identifier));
    }
}

/// `if __name__ == "__main__":`, which no function under test is behind.
pub(super) fn is_main_guard(compare: &ExprCompare) -> bool {
    let is_name = compare.left.as_name_expr().is_some_and(|name| name.id == "__name__");
    let is_main = |right: &Expr| right.as_string_literal_expr().is_some_and(|text| text.value.to_str() == "__main__");
    is_name && *compare.ops == [CmpOp::Eq] && compare.comparators.iter().all(is_main)
}

/// Whether `is` compares with nothing but constants that there is one of.
fn asks_no_identity(compare: &ExprCompare) -> bool {
    let is_constant = |expr: &Expr| match expr {
        Expr::NoneLiteral(_) | Expr::BooleanLiteral(_) | Expr::EllipsisLiteral(_) => true,
        Expr::Name(name) => is_listed(CLASSES, name.id.as_str()),
        _ => false,
    };
    let operands: Vec<&Expr> = std::iter::once(&*compare.left).chain(&compare.comparators).collect();
    compare
        .ops
        .iter()
        .zip(operands.windows(2))
        .all(|(op, pair)| !matches!(op, CmpOp::Is | CmpOp::IsNot) || pair.iter().any(|operand| is_constant(operand)))
}

/// Whether a list, of words, has this one.
pub(super) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

fn is_module(name: &str) -> bool {
    is_listed(MODULES, name.split('.').next().unwrap_or(name))
}

fn is_plain_name(name: &str) -> bool {
    !name.starts_with("__") && !is_listed(NAMES, name)
}

#[cfg(test)]
mod tests {
    use super::is_plain;
    use crate::cases::{is_yes, texts};

    #[test]
    fn a_program_is_plain_that_computes_a_value_and_no_more() {
        let bound = |name: &str, origin: Option<&str>| (name.to_owned(), origin.map(str::to_owned));
        let set_up = [bound("copy", Some("copy")), bound("List", Some("typing.List")), bound("X", None)];
        for [used, program, expected] in texts(include_str!("../../tests/main/cases/plain_programs.txt")) {
            let found = match used.as_str() {
                "abs and set" => is_plain(&program, &["abs", "set"], &[]),
                "set-up" => is_plain(&program, &[], &set_up),
                _ => is_plain(&program, &[], &[]),
            };
            assert_eq!(found, is_yes(&expected), "{program}");
        }
        assert!(!is_plain(&format!("x = {}1{}", "(".repeat(150), ")".repeat(150)), &[], &[]));
    }
}
