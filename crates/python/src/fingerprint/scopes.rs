//! Renames the names that a program binds, scope by scope as Python resolves them, and takes out what changes nothing.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use ruff_python_ast::name::Name;
use ruff_python_ast::visitor::transformer::{self, Transformer};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprContext, ExprLambda, Identifier, InterpolatedStringElement,
    Parameters, Pattern, Stmt, StmtAssign,
};

use super::{idle, spelling};
use crate::names::captured_name;

pub(super) fn rename(body: &mut Vec<Stmt>) {
    let renamer = Renamer { scopes: RefCell::new(Vec::new()), next: Cell::new(0) };
    let bound = bindings(body, ScopeKind::Module);
    renamer.within(ScopeKind::Module, bound, |renamer| renamer.body(body, ScopeKind::Module));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Module,
    Class,
    Function,
}

struct Scope {
    kind: ScopeKind,
    /// What it binds, with its number once it was met.
    names: HashMap<String, Option<usize>>,
    /// What it declares `global`.
    globals: BTreeSet<String>,
}

struct Renamer {
    scopes: RefCell<Vec<Scope>>,
    next: Cell<usize>,
}

impl Renamer {
    fn within(&self, kind: ScopeKind, bindings: Bindings, work: impl FnOnce(&Self)) {
        let names = bindings.bound.difference(&bindings.outer).map(|name| (name.clone(), None)).collect();
        self.scopes.borrow_mut().push(Scope { kind, names, globals: bindings.globals });
        work(self);
        self.scopes.borrow_mut().pop();
    }

    /// The new name of a variable; `None` where it keeps its own: a builtin, another module's, a class's attribute.
    fn renamed(&self, name: &str) -> Option<Name> {
        let mut scopes = self.scopes.borrow_mut();
        let last = scopes.len().checked_sub(1)?;
        let is_global = scopes[last].globals.contains(name);
        for (place, scope) in scopes.iter_mut().enumerate().rev() {
            let skipped = (is_global && place > 0) || (scope.kind == ScopeKind::Class && place < last);
            if skipped {
                continue;
            }
            if let Some(number) = scope.names.get_mut(name) {
                if scope.kind == ScopeKind::Class {
                    return None;
                }
                let number = *number.get_or_insert_with(|| self.next.replace(self.next.get() + 1));
                // No identifier has such a character.
                return Some(Name::new(format!("${number}")));
            }
        }
        None
    }

    fn name(&self, name: &mut Name) {
        if let Some(renamed) = self.renamed(name) {
            *name = renamed;
        }
    }

    fn identifier(&self, identifier: &mut Identifier) {
        self.name(&mut identifier.id);
    }

    fn body(&self, body: &mut Vec<Stmt>, kind: ScopeKind) {
        idle::strip(body, kind == ScopeKind::Function);
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }

    /// Defaults belong to the scope around a function, its parameters to its own.
    fn defaults(&self, parameters: &mut Parameters) {
        let lists = [&mut parameters.posonlyargs, &mut parameters.args, &mut parameters.kwonlyargs];
        for default in lists.into_iter().flatten().filter_map(|parameter| parameter.default.as_mut()) {
            self.visit_expr(default);
        }
    }

    fn parameters(&self, parameters: &mut Parameters) {
        let lists = [&mut parameters.posonlyargs, &mut parameters.args, &mut parameters.kwonlyargs];
        let plain = lists.into_iter().flatten().map(|parameter| &mut parameter.parameter);
        let starred = [&mut parameters.vararg, &mut parameters.kwarg].into_iter().flatten().map(|boxed| &mut **boxed);
        for parameter in plain.chain(starred) {
            parameter.annotation = None;
            self.identifier(&mut parameter.name);
        }
    }

    fn comprehension(&self, generators: &mut [Comprehension], items: &mut [&mut Expr]) {
        let mut bound = Bindings::default();
        generators.iter().for_each(|generator| bound.visit_expr(&generator.target));
        let Some((first, rest)) = generators.split_first_mut() else { return };
        // The first iterable belongs to the scope around.
        self.visit_expr(&mut first.iter);
        self.within(ScopeKind::Function, bound, |renamer| {
            renamer.visit_expr(&mut first.target);
            first.ifs.iter_mut().for_each(|test| renamer.visit_expr(test));
            rest.iter_mut().for_each(|generator| renamer.visit_comprehension(generator));
            items.iter_mut().for_each(|item| renamer.visit_expr(item));
        });
    }

    fn lambda(&self, lambda: &mut ExprLambda) {
        let mut bound = Bindings::default();
        if let Some(parameters) = &mut lambda.parameters {
            self.defaults(parameters);
            bound.parameters(parameters);
        }
        self.within(ScopeKind::Function, bound, |renamer| {
            if let Some(parameters) = &mut lambda.parameters {
                renamer.parameters(parameters);
            }
            renamer.visit_expr(&mut lambda.body);
        });
    }
}

impl Transformer for Renamer {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.identifier(&mut function.name);
                function.decorator_list.iter_mut().for_each(|decorator| self.visit_decorator(decorator));
                (function.returns, function.type_params) = (None, None);
                self.defaults(&mut function.parameters);
                let mut bound = bindings(&function.body, ScopeKind::Function);
                bound.parameters(&function.parameters);
                self.within(ScopeKind::Function, bound, |renamer| {
                    renamer.parameters(&mut function.parameters);
                    renamer.body(&mut function.body, ScopeKind::Function);
                });
            }
            Stmt::ClassDef(class) => {
                self.identifier(&mut class.name);
                class.decorator_list.iter_mut().for_each(|decorator| self.visit_decorator(decorator));
                class.type_params = None;
                if let Some(arguments) = &mut class.arguments {
                    self.visit_arguments(arguments);
                }
                let bound = bindings(&class.body, ScopeKind::Class);
                self.within(ScopeKind::Class, bound, |renamer| renamer.body(&mut class.body, ScopeKind::Class));
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = assign.value.take() {
                    let targets = vec![(*assign.target).clone()];
                    let (node_index, range) = (assign.node_index.clone(), assign.range);
                    *stmt = Stmt::Assign(StmtAssign { node_index, range, targets, value });
                    self.visit_stmt(stmt);
                }
            }
            Stmt::Global(stmt) => stmt.names.iter_mut().for_each(|name| self.identifier(name)),
            Stmt::Nonlocal(stmt) => stmt.names.iter_mut().for_each(|name| self.identifier(name)),
            _ => {
                spelling::normalise_stmt(stmt);
                transformer::walk_stmt(self, stmt);
            }
        }
    }

    fn visit_expr(&self, expr: &mut Expr) {
        spelling::normalise_expr(expr);
        match expr {
            Expr::Name(name) => self.name(&mut name.id),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::ListComp(comp) => self.comprehension(&mut comp.generators, &mut [&mut comp.elt]),
            Expr::SetComp(comp) => self.comprehension(&mut comp.generators, &mut [&mut comp.elt]),
            Expr::Generator(comp) => self.comprehension(&mut comp.generators, &mut [&mut comp.elt]),
            Expr::DictComp(comp) => self.comprehension(&mut comp.generators, &mut [&mut comp.key, &mut comp.value]),
            Expr::FString(_) => {
                transformer::walk_expr(self, expr);
                spelling::join_parts(expr);
            }
            _ => transformer::walk_expr(self, expr),
        }
    }

    fn visit_interpolated_string_element(&self, element: &mut InterpolatedStringElement) {
        transformer::walk_interpolated_string_element(self, element);
        spelling::normalise_spec(element);
    }

    fn visit_except_handler(&self, handler: &mut ExceptHandler) {
        let ExceptHandler::ExceptHandler(own) = handler;
        own.name.iter_mut().for_each(|name| self.identifier(name));
        transformer::walk_except_handler(self, handler);
    }

    fn visit_alias(&self, alias: &mut Alias) {
        if binds_own_name(alias) {
            alias.asname = Some(alias.name.clone());
        }
        alias.asname.iter_mut().for_each(|name| self.identifier(name));
    }

    fn visit_pattern(&self, pattern: &mut Pattern) {
        let captured = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_mut(),
            Pattern::MatchStar(pattern) => pattern.name.as_mut(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_mut(),
            _ => None,
        };
        captured.into_iter().for_each(|name| self.identifier(name));
        transformer::walk_pattern(self, pattern);
    }
}

/// Whether an import binds what it names: `import math` is `import math as math`, but `import os.path` binds `os`.
fn binds_own_name(alias: &Alias) -> bool {
    alias.asname.is_none() && alias.name.as_str() != "*" && !alias.name.contains('.')
}

/// The names that one scope binds.
#[derive(Default)]
struct Bindings {
    bound: BTreeSet<String>,
    /// Declared `global` or `nonlocal`: bound elsewhere.
    outer: BTreeSet<String>,
    globals: BTreeSet<String>,
    /// Whether a declaration without a value makes its name local, as in functions alone.
    declares: bool,
}

impl Bindings {
    fn bind(&mut self, name: &str) {
        self.bound.insert(name.to_owned());
    }

    fn parameters(&mut self, parameters: &Parameters) {
        parameters.iter().for_each(|parameter| self.bind(parameter.name()));
    }
}

/// What a body binds, unreachable statements included.
fn bindings(body: &[Stmt], kind: ScopeKind) -> Bindings {
    let mut bound = Bindings { declares: kind == ScopeKind::Function, ..Bindings::default() };
    bound.visit_body(body);
    bound
}

/// Visits one scope, and of those inside only what they bind in it.
impl<'a> Visitor<'a> for Bindings {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.bind(&function.name),
            Stmt::ClassDef(class) => self.bind(&class.name),
            Stmt::Global(stmt) => {
                for name in &stmt.names {
                    self.globals.insert(name.to_string());
                    self.outer.insert(name.to_string());
                }
            }
            Stmt::AnnAssign(assign) if assign.value.is_none() && !self.declares => {}
            Stmt::Nonlocal(stmt) => self.outer.extend(stmt.names.iter().map(ToString::to_string)),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.bind(&name.id),
            Expr::Lambda(_) => {}
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                let mut targets = NamedExprTargets(self);
                visitor::walk_expr(&mut targets, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let own = binds_own_name(alias).then_some(&alias.name);
        alias.asname.as_ref().or(own).into_iter().for_each(|name| self.bind(name));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(own) = handler;
        own.name.iter().for_each(|name| self.bind(name));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        captured_name(pattern).into_iter().for_each(|name| self.bind(name));
        visitor::walk_pattern(self, pattern);
    }
}

/// In a comprehension `:=` binds in the scope around it.
struct NamedExprTargets<'b>(&'b mut Bindings);

impl<'a> Visitor<'a> for NamedExprTargets<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Named(named) = expr
            && let Expr::Name(name) = &*named.target
        {
            self.0.bind(&name.id);
        }
        if !expr.is_lambda_expr() {
            visitor::walk_expr(self, expr);
        }
    }
}
