//! Names programs and functions by what they say, however they are laid out and whatever they call their variables.
//!
//! Programs are compared as syntax trees, as ruff's parser gives them. Two programs with one fingerprint differ at most in layout, comments,
//! docstrings, annotations, spellings of literals, parts that do nothing, and the names of their own variables, functions, classes and imports:
//! each scope's names are replaced by their numbers in the order of their first use. The reverse does not hold: `x + 1` and `1 + x` are
//! two programs, and so are functions whose free variables have different names.

mod idle;
mod scopes;
mod spelling;

use std::hash::{Hash, Hasher};

use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use veriplay_core::{Digest, normalize_program};

use crate::syntax::with_any_syntax;

/// A function of a program: its fingerprint, and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, for people.
    pub name: String,
    /// What it says; the same under any name.
    pub fingerprint: Digest,
}

/// Names a program. Text that is no Python is named by its words.
pub fn program_fingerprint(program: &str) -> Digest {
    let of_tree = with_any_syntax(program, |parsed| {
        let whole = parsed.errors().is_empty();
        whole.then(|| digest(parsed.into_syntax().body))
    });
    of_tree.flatten().unwrap_or_else(|| Digest::of(normalize_program(program).as_bytes()))
}

/// The functions of a program, methods and inner ones too, but for those that are too short to be told apart (`return self`).
pub fn functions(program: &str) -> Vec<Function> {
    let found = with_any_syntax(program, |parsed| {
        let mut found = Functions(Vec::new());
        found.visit_body(parsed.suite());
        found.0
    });
    found.unwrap_or_default()
}

struct Functions(Vec<Function>);

impl<'a> SourceOrderVisitor<'a> for Functions {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(function) = stmt {
            let own = StmtFunctionDef { decorator_list: Vec::new(), ..function.clone() };
            if !is_short(&own) {
                let fingerprint = digest(vec![Stmt::FunctionDef(own)]);
                self.0.push(Function { name: function.name.to_string(), fingerprint });
            }
        }
        walk_stmt(self, stmt);
    }
}

/// Whether a function says nothing of its own: it does nothing, or one statement with one name or literal, such as `return self`.
fn is_short(function: &StmtFunctionDef) -> bool {
    let plain = |value: Option<&Expr>| value.is_none_or(|value| value.is_name_expr() || value.is_literal_expr());
    let mut body = function.body.clone();
    idle::strip(&mut body, true);
    match body.as_slice() {
        [] => true,
        [Stmt::Return(stmt)] => plain(stmt.value.as_deref()),
        [Stmt::Raise(stmt)] => plain(stmt.exc.as_deref()),
        [Stmt::Expr(stmt)] => match &*stmt.value {
            Expr::Yield(value) => plain(value.value.as_deref()),
            Expr::Await(value) => plain(Some(&value.value)),
            _ => false,
        },
        _ => false,
    }
}

/// Renames what is bound, and hashes.
fn digest(mut body: Vec<Stmt>) -> Digest {
    scopes::rename(&mut body);
    let mut bytes = Bytes(Vec::new());
    body.iter().map(ComparableStmt::from).collect::<Vec<_>>().hash(&mut bytes);
    Digest::of(&bytes.0)
}

/// What a tree hashes, as it is.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
