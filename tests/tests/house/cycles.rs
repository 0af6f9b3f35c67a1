//! Imports do not go in circles: a file can be read after those that it imports, and before those that import it.
//!
//! An import is a path that begins at a module of the crate: in a `use`, or with `crate::`, `super::` or `self::` anywhere. It counts for
//! the file that declares the name, also where the path leads through a module that only re-exports it. A module and its direct
//! children may import each other: they are one thing in several files. What is compiled for tests alone does not count. The scanner
//! knows items, paths and `mod`; it does not expand macros.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::root;

#[test]
fn files_do_not_import_each_other_in_circles() {
    for name in crates() {
        let imports = imports(&name);
        let circles = circles(&imports);
        assert!(circles.is_empty(), "files of `{name}` import each other in circles:{}", shown(&circles, &imports));
    }
}

/// The same for whole modules, each with all files below it.
#[test]
fn modules_beside_each_other_do_not_import_each_other_in_circles() {
    for name in crates() {
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

fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).expect("crates/ is there");
    let names = folders.map(|entry| entry.expect("crates/ can be listed").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("crate names are UTF-8")).collect();
    names.sort();
    names
}

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
        let tokens = tokens(text);
        self.scan(at, &tokens, folder);
        at
    }

    fn add(&mut self, file: &str, parent: Option<usize>) -> usize {
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        self.modules.len() - 1
    }

    fn scan(&mut self, module: usize, tokens: &[String], folder: &str) {
        let is = |at: usize, want: &str| tokens.get(at).is_some_and(|token| token == want);
        let mut at = 0;
        while at < tokens.len() {
            if ["#", "[", "cfg", "(", "test", ")", "]"].iter().enumerate().all(|(i, want)| is(at + i, want)) {
                at = after_item(tokens, at + 7);
            } else if is(at, "mod") && (is(at + 2, ";") || is(at + 2, "{")) {
                at = self.child(module, tokens, at + 1, folder);
            } else if is(at, "use") && !is(at + 1, "<") {
                let mut found = Vec::new();
                at = read_use(tokens, at + 1, Vec::new(), &mut found);
                let module = &mut self.modules[module];
                for (path, name) in found {
                    if name == "*" {
                        module.globs.push(path.clone());
                    } else {
                        module.bound.insert(name, path.clone());
                    }
                    module.paths.push(path);
                }
            } else if ["crate", "super", "self"].iter().any(|first| is(at, first)) && is(at + 1, "::") {
                let mut path = vec![tokens[at].clone()];
                at += 1;
                while is(at, "::") && tokens.get(at + 1).is_some_and(|token| is_word(token)) {
                    path.push(tokens[at + 1].clone());
                    at += 2;
                }
                self.modules[module].paths.push(path);
            } else {
                let declares = ["struct", "enum", "trait", "type", "const", "static", "fn", "union", "macro_rules"];
                if declares.iter().any(|keyword| is(at, keyword)) {
                    let name = tokens[at + 1..].iter().find(|token| is_word(token));
                    self.modules[module].declared.extend(name.cloned());
                }
                at += 1;
            }
        }
    }

    /// Reads the module whose name is at `at`; returns the place behind it.
    fn child(&mut self, module: usize, tokens: &[String], at: usize, folder: &str) -> usize {
        let below = format!("{folder}/{}", tokens[at]);
        let (child, end) = if tokens[at + 1] == "{" {
            let end = matching(tokens, at + 1);
            let file = self.modules[module].file.clone();
            let child = self.add(&file, Some(module));
            self.scan(child, &tokens[at + 2..end], &below);
            (Some(child), end + 1)
        } else {
            let files = [format!("{below}.rs"), format!("{below}/mod.rs")];
            let found = files.iter().find_map(|file| (self.read)(file).map(|text| (file.clone(), text)));
            (found.map(|(file, text)| self.load(&file, Some(module), &below, &text)), at + 2)
        };
        self.modules[module].children.extend(child.map(|child| (tokens[at].clone(), child)));
        end
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

/// Behind the item at `at`, whatever attributes it has: behind its `;`, or its first block.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].as_str() {
            ";" => return at + 1,
            "{" => return matching(tokens, at) + 1,
            "[" | "(" => at = matching(tokens, at) + 1,
            _ => at += 1,
        }
    }
    at
}

/// Where the bracket at `at` closes.
fn matching(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len() - 1
}

/// Reads one tree of a `use`; every leaf is a path and the name it binds. Returns the place behind it.
fn read_use(tokens: &[String], mut at: usize, mut path: Vec<String>, out: &mut Vec<(Vec<String>, String)>) -> usize {
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("::") => at += 1,
            Some("{") => {
                let end = matching(tokens, at);
                at += 1;
                while at < end {
                    at = if tokens[at] == "," { at + 1 } else { read_use(tokens, at, path.clone(), out) };
                }
                return end + 1;
            }
            Some("*") => {
                out.push((path, "*".to_owned()));
                return at + 1;
            }
            Some(word) if is_word(word) => {
                path.push(word.to_owned());
                at += 1;
                if tokens.get(at).is_some_and(|token| token == "::") {
                    continue;
                }
                let renamed = tokens.get(at).is_some_and(|token| token == "as");
                // `{self}` binds the module itself.
                path.pop_if(|last| *last == "self");
                let name = if renamed { tokens.get(at + 1) } else { path.last() };
                let name = name.cloned().unwrap_or_default();
                out.push((path, name));
                return if renamed { at + 2 } else { at };
            }
            _ => return at + 1,
        }
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single other characters; no comments, strings, characters or lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let used = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' {
            let character = rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'');
            if character { quoted(rest, '\'') } else { 1 }
        } else if word > 0 {
            out.push(rest[..word].to_owned());
            word
        } else if rest.starts_with("::") {
            out.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                out.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[used..];
    }
    out
}

/// Length of a block comment, which may hold others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..text.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a raw string such as `r#"…"#`, where there is one.
fn raw_string(text: &str) -> Option<usize> {
    let start = ["r", "br", "cr"]
        .into_iter()
        .find(|start| text.strip_prefix(start).is_some_and(|rest| rest.trim_start_matches('#').starts_with('"')))?;
    let hashes = text[start.len()..].bytes().take_while(|byte| *byte == b'#').count();
    let open = start.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    text[open..].find(&end).map(|at| open + at + end.len())
}

/// Length of a string or character, its quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
