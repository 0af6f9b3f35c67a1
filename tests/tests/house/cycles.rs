//! Imports do not go in circles: a file can be read after those that it imports, and before those that import it.
//!
//! An import is a path that begins at a module of the crate: in a `use`, or with `crate::`, `super::` or `self::` anywhere. It counts for
//! the file that declares the name, also where the path leads through a module that only re-exports it. A module and its direct
//! children may import each other: they are one thing in several files. What is compiled for tests alone does not count. The scanner
//! knows items, paths and `mod`; it does not expand macros.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{names_in, root};

#[test]
fn files_do_not_import_each_other_in_circles() {
    for name in names_in("crates") {
        let imports = imports(&name);
        let circles = circles(&imports);
        assert!(circles.is_empty(), "files of `{name}` import each other in circles:{}", shown(&circles, &imports));
    }
}

/// The same for whole modules, each with all files below it.
#[test]
fn modules_beside_each_other_do_not_import_each_other_in_circles() {
    for name in names_in("crates") {
        let found = circles_of_modules(&imports(&name));
        assert!(found.is_empty(), "modules of `{name}` import each other in circles: {found:?}");
    }
}

#[test]
fn the_check_for_circles_can_fail() {
    let circle = |files: &[(&str, &str)]| {
        circles(&imports_in(&|name| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned())))
    };
    let lib = ("src/lib.rs", "mod a; mod b;");
    let b = ("src/b.rs", "use crate::a::A; pub struct B;");
    let both = vec![vec!["src/a.rs".to_owned(), "src/b.rs".to_owned()]];
    assert_eq!(circle(&[lib, ("src/a.rs", "use crate::b::B; pub struct A;"), b]), both);
    assert_eq!(circle(&[lib, ("src/a.rs", "pub struct A; fn f() { super::b::B; }"), b]), both);
    assert_eq!(circle(&[lib, ("src/a.rs", "use {std::fmt, super::b::{self, B as C}}; pub struct A;"), b]), both);
    for harmless in [
        "pub struct A;",
        "pub struct A; // use crate::b::B;",
        "pub struct A; const T: &str = \"use crate::b::B;\"; const R: &str = r#\" use crate::b::\"#;",
        "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
    ] {
        assert!(circle(&[lib, ("src/a.rs", harmless), b]).is_empty(), "{harmless}");
    }
    let child = ("src/a/child.rs", "use super::A; pub struct Child;");
    assert!(circle(&[lib, ("src/a.rs", "mod child; use child::Child; pub struct A;"), child, b]).is_empty());
    // Through a name that `a` only hands on.
    let hands_on = ("src/a.rs", "mod child; pub use child::A;");
    let declares = ("src/a/child.rs", "use crate::b::B; pub struct A;");
    assert_eq!(circle(&[lib, hands_on, declares, b]), vec![vec!["src/a/child.rs".to_owned(), "src/b.rs".to_owned()]]);
}

#[test]
fn the_check_for_modules_sees_circles_that_no_single_file_is_in() {
    let import = |from: &str, to: &str| (from.to_owned(), BTreeMap::from([(to.to_owned(), String::new())]));
    let files =
        ["src/a/one.rs", "src/a/two.rs", "src/b/one.rs", "src/b/two.rs"].map(|file| (file.to_owned(), BTreeMap::new()));
    let mut graph = Imports::from(files);
    graph.extend([import("src/a/one.rs", "src/b/one.rs"), import("src/b/two.rs", "src/a/two.rs")]);
    assert!(circles(&graph).is_empty());
    assert_eq!(circles_of_modules(&graph), [["a", "b"]]);
}

/// For every file the files it imports, each with a path that does.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

fn imports(name: &str) -> Imports {
    let folder = root().join("crates").join(name);
    imports_in(&|file| fs::read_to_string(folder.join(file)).ok())
}

/// The imports of a crate, whose files `read` gives by their path.
fn imports_in(read: &dyn Fn(&str) -> Option<String>) -> Imports {
    let mut imports = Imports::new();
    for top in ["src/lib.rs", "src/main.rs"] {
        let Some(text) = read(top) else { continue };
        let mut tree = Tree { modules: Vec::new(), read };
        tree.load(top, None, "src", &text);
        tree.add_imports(&mut imports);
    }
    imports
}

/// The groups of files that reach each other.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|file| (file, reachable(imports, file))).collect();
    let mut out: Vec<Vec<String>> = Vec::new();
    for (file, reached) in &reach {
        if reached.contains(file) && !out.iter().flatten().any(|known| known == *file) {
            let circle = reached.iter().filter(|other| reach[*other].contains(file));
            out.push(circle.map(|other| (*other).clone()).collect());
        }
    }
    out
}

fn reachable<'a>(imports: &'a Imports, from: &'a String) -> BTreeSet<&'a String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        open.extend(imports[file].keys().filter(|next| seen.insert(*next)));
    }
    seen
}

/// Circles among the modules of one parent, by their names, for every parent.
fn circles_of_modules(imports: &Imports) -> Vec<Vec<String>> {
    let paths: BTreeMap<&String, Vec<&str>> = imports.keys().map(|file| (file, module_path(file))).collect();
    let parents: BTreeSet<&[&str]> = paths.values().flat_map(|path| (0..path.len()).map(|end| &path[..end])).collect();
    let mut out = Vec::new();
    for parent in parents {
        let below = |file: &String| paths[file].strip_prefix(parent).and_then(|rest| rest.first().copied());
        let mut merged = Imports::new();
        for (file, imported) in imports {
            let Some(from) = below(file) else { continue };
            let edges = merged.entry(from.to_owned()).or_default();
            let others = imported.keys().filter_map(below).filter(|to| *to != from);
            edges.extend(others.map(|to| (to.to_owned(), String::new())));
        }
        out.extend(circles(&merged));
    }
    out
}

/// The module that a file is: `a`, `b` for `src/a/b.rs` and `src/a/b/mod.rs`; nothing for the top of the crate.
fn module_path(file: &str) -> Vec<&str> {
    let mut path: Vec<&str> = file.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
    path.pop_if(|last| ["lib", "main", "mod"].contains(&*last));
    path
}

fn shown(circles: &[Vec<String>], imports: &Imports) -> String {
    let mut text = String::new();
    for circle in circles {
        for file in circle {
            let inside = imports[file].iter().filter(|(to, _)| circle.contains(to));
            inside.for_each(|(to, path)| text += &format!("\n    {file} -> {to} by `{path}`"));
        }
    }
    text
}

struct Tree<'a> {
    modules: Vec<Module>,
    read: &'a dyn Fn(&str) -> Option<String>,
}

#[derive(Default)]
struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// What `use` binds, and the paths that glob imports name.
    bound: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    declared: BTreeSet<String>,
    /// Every path, in a `use` or not.
    paths: Vec<Vec<String>>,
}

impl Tree<'_> {
    /// Reads a file as a module; files of its children are in `folder`.
    fn load(&mut self, file: &str, parent: Option<usize>, folder: &str, text: &str) -> usize {
        let at = self.add(file, parent);
        let stream = text.parse().unwrap_or_else(|error| panic!("`{file}` is not Rust: {error}"));
        self.scan(at, stream, folder);
        at
    }

    fn add(&mut self, file: &str, parent: Option<usize>) -> usize {
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        self.modules.len() - 1
    }

    fn scan(&mut self, module: usize, stream: TokenStream, folder: &str) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut rest = tokens.as_slice();
        while let [token, after @ ..] = rest {
            rest = after;
            match (word(token).as_str(), after) {
                ("#", [TokenTree::Group(attribute), item @ ..])
                    if attribute.to_string().replace(' ', "") == "[cfg(test)]" =>
                {
                    rest = behind_item(item);
                }
                ("mod", [name, body, after @ ..]) if is_end(body) => {
                    self.child(module, &word(name), body, folder);
                    rest = after;
                }
                ("use", [first, ..]) if word(first) != "<" => {
                    let mut found = Vec::new();
                    rest = read_use(after, Vec::new(), &mut found);
                    let module = &mut self.modules[module];
                    for (path, name) in found {
                        if name == "*" {
                            module.globs.push(path.clone());
                        } else {
                            module.bound.insert(name, path.clone());
                        }
                        module.paths.push(path);
                    }
                }
                (first @ ("crate" | "super" | "self"), _) if next_of_path(after).is_some() => {
                    let mut path = vec![first.to_owned()];
                    while let Some((name, after)) = next_of_path(rest) {
                        path.push(name);
                        rest = after;
                    }
                    self.modules[module].paths.push(path);
                }
                ("struct" | "enum" | "trait" | "type" | "const" | "static" | "fn" | "union" | "macro_rules", _) => {
                    let name = after.iter().find(|token| matches!(token, TokenTree::Ident(_)));
                    self.modules[module].declared.extend(name.map(word));
                }
                _ => {}
            }
            if let TokenTree::Group(group) = token {
                self.scan(module, group.stream(), folder);
            }
        }
    }

    /// Reads a module of this name, whose body may be a file's.
    fn child(&mut self, module: usize, name: &str, body: &TokenTree, folder: &str) {
        let below = format!("{folder}/{name}");
        let child = if let TokenTree::Group(group) = body {
            let file = self.modules[module].file.clone();
            let child = self.add(&file, Some(module));
            self.scan(child, group.stream(), &below);
            Some(child)
        } else {
            let files = [format!("{below}.rs"), format!("{below}/mod.rs")];
            let found = files.into_iter().find_map(|file| Some(((self.read)(&file)?, file)));
            found.map(|(text, file)| self.load(&file, Some(module), &below, &text))
        };
        self.modules[module].children.extend(child.map(|child| (name.to_owned(), child)));
    }

    fn add_imports(&self, imports: &mut Imports) {
        for (at, module) in self.modules.iter().enumerate() {
            imports.entry(module.file.clone()).or_default();
            for path in &module.paths {
                let Some(target) = self.resolve(at, path, 0) else { continue };
                let (from, to) = (self.file_module(at), self.file_module(target));
                let parent = |at: usize| self.modules[at].parent.map(|parent| self.file_module(parent));
                if from != to && parent(from) != Some(to) && parent(to) != Some(from) {
                    let edges = imports.entry(module.file.clone()).or_default();
                    edges.entry(self.modules[to].file.clone()).or_insert_with(|| path.join("::"));
                }
            }
        }
    }

    /// The outermost module of a module's file.
    fn file_module(&self, mut at: usize) -> usize {
        while let Some(parent) =
            self.modules[at].parent.filter(|&parent| self.modules[parent].file == self.modules[at].file)
        {
            at = parent;
        }
        at
    }

    /// The module that declares what a path names, seen from `from`; nothing for a path that leads outside the crate.
    fn resolve(&self, from: usize, path: &[String], hops: usize) -> Option<usize> {
        const MOST_HOPS: usize = 16;
        let (mut at, mut rest) = (from, path);
        match rest.first().map(String::as_str) {
            Some("crate") => (at, rest) = (self.crate_root(from), &rest[1..]),
            Some("self" | "super") => {
                while let Some(word) = rest.first().filter(|word| ["self", "super"].contains(&word.as_str())) {
                    at = if word == "super" { self.modules[at].parent? } else { at };
                    rest = &rest[1..];
                }
            }
            Some(first) if self.modules[at].children.contains_key(first) => {}
            // A name that another `use` of this module binds.
            Some(first) if self.modules[at].bound.get(first).is_some_and(|bound| bound != path) => {}
            _ => return None,
        }
        while let Some(name) = rest.first() {
            let module = &self.modules[at];
            if let Some(&child) = module.children.get(name) {
                (at, rest) = (child, &rest[1..]);
                continue;
            }
            if hops == MOST_HOPS || module.declared.contains(name) {
                return Some(at);
            }
            if let Some(bound) = module.bound.get(name) {
                let further: Vec<String> = bound.iter().chain(&rest[1..]).cloned().collect();
                return self.resolve(at, &further, hops + 1);
            }
            let declares = |&glob: &usize| {
                let module = &self.modules[glob];
                module.declared.contains(name) || module.bound.contains_key(name)
            };
            let globs = module.globs.iter().filter_map(|glob| self.resolve(at, glob, hops + 1));
            let Some(glob) = globs.filter(|glob| *glob != at).find(declares) else { return Some(at) };
            at = glob;
            if self.modules[at].declared.contains(name) {
                return Some(at);
            }
        }
        Some(at)
    }

    fn crate_root(&self, mut at: usize) -> usize {
        while let Some(parent) = self.modules[at].parent {
            at = parent;
        }
        at
    }
}

/// A word or another single character; nothing for brackets and literals.
fn word(token: &TokenTree) -> String {
    match token {
        TokenTree::Ident(word) => word.to_string(),
        TokenTree::Punct(punct) => punct.as_char().to_string(),
        TokenTree::Group(_) | TokenTree::Literal(_) => String::new(),
    }
}

/// Whether an item ends with this token: with `;` or its block.
fn is_end(token: &TokenTree) -> bool {
    word(token) == ";" || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Behind an item, whatever attributes it has.
fn behind_item(item: &[TokenTree]) -> &[TokenTree] {
    item.iter().position(is_end).map_or(&[], |end| &item[end + 1..])
}

/// The name in a `::name` that tokens begin with, and what stands behind it.
fn next_of_path(tokens: &[TokenTree]) -> Option<(String, &[TokenTree])> {
    match tokens {
        [one, two, TokenTree::Ident(name), rest @ ..] if word(one) == ":" && word(two) == ":" => {
            Some((name.to_string(), rest))
        }
        _ => None,
    }
}

/// Reads one tree of a `use`; every leaf is a path and the name it binds. Returns what stands behind it.
fn read_use<'a>(
    mut tokens: &'a [TokenTree],
    mut path: Vec<String>,
    out: &mut Vec<(Vec<String>, String)>,
) -> &'a [TokenTree] {
    while let [token, after @ ..] = tokens {
        tokens = after;
        match token {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for tree in inner.split(|token| word(token) == ",") {
                    read_use(tree, path.clone(), out);
                }
                break;
            }
            TokenTree::Ident(name) => {
                path.push(name.to_string());
                if after.first().is_some_and(|token| word(token) == ":") {
                    continue;
                }
                // `{self}` binds the module itself.
                path.pop_if(|last| *last == "self");
                let bound = match after {
                    [keyword, name, ..] if word(keyword) == "as" => Some(word(name)),
                    _ => path.last().cloned(),
                };
                out.push((path, bound.unwrap_or_default()));
                break;
            }
            _ if word(token) == "*" => {
                out.push((path, "*".to_owned()));
                break;
            }
            _ if word(token) == ":" => {}
            _ => break,
        }
    }
    tokens
}
