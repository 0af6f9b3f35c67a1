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
    /// The names alone.
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

    #[test]
    fn programs_that_compute_a_value_are_plain() {
        for program in [
            "from typing import List\nimport math, sys\n\ndef f(x: List[int]) -> int:\n    \"\"\"It is what it is.\"\"\"\n    return math.inf if x is None else sys.maxsize\n",
            "from collections import *\nclass A(dict):\n    def __init__(self):\n        super().__init__()\n    def __eq__(self, other): return type(other) is int\n",
            "def f(x):\n    del x[0]\n    return f'{x!r}'\n\nif __name__ == '__main__':\n    import os\n    print(f([1]))\n",
            "def f(x: 'nothing', *y):\n    return [i for i in x if not (lambda z: z is not True)(i)]\n",
        ] {
            // The block behind the guard is looked at like any other.
            assert_eq!(is_plain(program, &[], &[]), !program.contains("import os"), "{program}");
        }
    }

    #[test]
    fn a_builtin_that_is_only_used_is_not_bound() {
        for program in [
            "def f(x): return abs(x) + fabs + abs_(x) + abs  (x.y)",
            "def f(x): return max(x, key=abs)",
            "import math\nmath.abs(3)",
            "class A:\n    def __init__(self): self.abs = 3",
            "abs[1] = 2",
            "",
        ] {
            assert!(is_plain(program, &["abs", "set"], &[]), "{program}");
        }
        for program in [
            "def abs(x): return 0",
            "async def  abs (x): return 0",
            "def\\\n abs(x): return 0",
            "class abs(int): pass",
            "class A:\n    def abs(self): pass",
            "abs = 3",
            "a, (b, *abs) = 1, (2, 3)",
            "abs: int = 3",
            "abs += 3",
            "del abs",
            "for abs in [1]: pass",
            "[0 for abs in [1]]",
            "(abs := 1)",
            "with f() as abs: pass",
            "try: pass\nexcept ValueError as abs: pass",
            "match x:\n    case abs: pass",
            "match x:\n    case [1, *abs]: pass",
            "match x:\n    case {'a': 1, **abs}: pass",
            "match x:\n    case [1] as abs: pass",
            "type abs = int",
            "def f[abs](x): pass",
            "import math as abs",
            "import collections.abc as abs",
            "from operator import *",
            "from operator import \\\n  *",
            "from operator import neg as abs",
            "from operator import abs",
            "def f(abs): return 1",
            "def f(*, abs=1): return 1",
            "def f(*abs): return 1",
            "def f(**abs): return 1",
            "f(1, abs=2)",
            "lambda abs: 1",
            "def f(x):\n    def g():\n        nonlocal abs\n",
            "def \u{ff41}bs(x): return 0",
            "\u{ff41}bs = 0",
        ] {
            assert!(!is_plain(program, &["set", "abs"], &[]), "{program}");
        }
    }

    #[test]
    fn a_name_of_the_set_up_is_bound_by_the_same_import_alone() {
        let bound = |name: &str, origin: Option<&str>| (name.to_owned(), origin.map(str::to_owned));
        let of_set_up = [bound("copy", Some("copy")), bound("List", Some("typing.List")), bound("X", None)];
        for program in ["import copy\nfrom typing import List, Any\ndef f(x): return copy.copy(x) + X", "y = 1"] {
            assert!(is_plain(program, &[], &of_set_up), "{program}");
        }
        for program in [
            "from copy import copy",
            "import math as copy",
            "class List(list): pass",
            "from typing import Any as List",
            "from typing import *",
            "X = 2",
            "def X(): pass",
        ] {
            assert!(!is_plain(program, &[], &of_set_up), "{program}");
        }
    }

    #[test]
    fn programs_that_ask_for_more_are_not() {
        for program in [
            "import typing\ntyping.sys.modules['builtins'].len = 1",
            "import collections\nx = collections._sys",
            "from operator import attrgetter",
            "import operator\ng = operator.attrgetter('__globals__')",
            "def f(a, b): return a is b",
            "def f(a): return None is a is not a",
            "def f(a): return id(a)",
            "from operator import is_ as same",
            "import operator\ndef f(a, b): return operator.is_(a, b)",
            "import random",
            "from time import time",
            "import sys as s",
            "import sys\ndef f(): return sys._getframe()",
            "import sys\nx = sys",
            "from . import math",
            "def f(): return __name__",
            "def f(): return f.__globals__",
            "def f(): return (x for x in [1]).gi_frame",
            "def f(): return getattr(f, 'x')",
            "def f(): return eval('1')",
            "def f():\n    global f\n    f = 1",
            "x = \"",
            "def f(:",
        ] {
            assert!(!is_plain(program, &[], &[]), "{program}");
        }
        assert!(!is_plain(&format!("x = {}1{}", "(".repeat(150), ")".repeat(150)), &[], &[]));
    }
}
