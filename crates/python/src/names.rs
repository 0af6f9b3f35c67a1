//! The names of a program: what it binds, and what it uses without binding it.

use std::collections::HashSet;

use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_alias, walk_except_handler, walk_expr, walk_parameter, walk_pattern, walk_stmt,
    walk_type_param,
};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Pattern, Stmt, TypeParam};

/// Names that every module has.
const BUILTINS: &str = include_str!("builtins.txt");

/// The names of a list of statements.
#[derive(Debug, Default)]
pub struct Names<'a> {
    /// Functions, classes, imports and variables of the module.
    pub of_module: HashSet<&'a str>,
    /// Those of the module that are bound otherwise than by an import, or by a function without a body.
    pub defined: HashSet<&'a str>,
    /// All names that are bound anywhere.
    bound: HashSet<&'a str>,
    used: HashSet<&'a str>,
    /// Whether a star import binds names that are not known.
    pub has_star: bool,
    depth: usize,
}

impl<'a> Names<'a> {
    /// Reads the names of a module's statements.
    pub fn read(body: &'a [Stmt]) -> Self {
        let mut names = Self::default();
        names.visit_body(body);
        names
    }

    /// The names that are used.
    pub fn used(&self) -> impl Iterator<Item = &'a str> {
        self.used.iter().copied()
    }

    /// Whether the name is used.
    pub fn uses(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// The names that are used, bound nowhere, and no builtins.
    pub fn free(&self) -> impl Iterator<Item = &'a str> {
        self.used.iter().copied().filter(|name| !self.bound.contains(name) && !is_builtin(name))
    }

    fn bind(&mut self, name: &'a str) {
        self.import(name);
        if self.depth == 0 {
            self.defined.insert(name);
        }
    }

    fn import(&mut self, name: &'a str) {
        self.bound.insert(name);
        if self.depth == 0 {
            self.of_module.insert(name);
        }
    }

    fn visit_inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

/// The name that a pattern binds to what it matches, apart from those of the patterns in it.
pub(crate) fn captured_name(pattern: &Pattern) -> Option<&str> {
    let name = match pattern {
        Pattern::MatchAs(pattern) => pattern.name.as_ref(),
        Pattern::MatchStar(pattern) => pattern.name.as_ref(),
        Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
        _ => None,
    };
    name.map(|name| name.as_str())
}

/// Whether a statement stands for a body that is left out.
fn is_filler(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(expr) => expr.value.is_ellipsis_literal_expr() || expr.value.is_string_literal_expr(),
        _ => false,
    }
}

fn is_builtin(name: &str) -> bool {
    BUILTINS.split_whitespace().any(|builtin| builtin == name)
}

impl<'a> SourceOrderVisitor<'a> for Names<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                match function.body.iter().all(is_filler) {
                    true => self.import(function.name.as_str()),
                    false => self.bind(function.name.as_str()),
                }
                self.visit_inside(|names| walk_stmt(names, stmt));
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str());
                self.visit_inside(|names| walk_stmt(names, stmt));
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    self.bound.insert(name.as_str());
                    self.of_module.insert(name.as_str());
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        match (&alias.asname, alias.name.as_str()) {
            (Some(name), _) => self.import(name.as_str()),
            (None, "*") => self.has_star = true,
            (None, name) => self.import(name.split('.').next().unwrap_or(name)),
        }
        walk_alias(self, alias);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Store => self.bind(name.id.as_str()),
            Expr::Name(name) => {
                self.used.insert(name.id.as_str());
            }
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.visit_inside(|names| walk_expr(names, expr));
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bound.insert(parameter.name.as_str());
        walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handled) = handler;
        if let Some(name) = &handled.name {
            self.bind(name.as_str());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Some(name) = captured_name(pattern) {
            self.bind(name);
        }
        walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, parameter: &'a TypeParam) {
        self.bound.insert(parameter.name().as_str());
        walk_type_param(self, parameter);
    }
}
