//! The own names of a program in JavaScript, by its tokens: those that it binds itself, and could call otherwise.
//!
//! There are no scopes: a name that is bound anywhere is one name everywhere. Where a name may also be one of a property, of a global that is there
//! without the program, or of the function that is called, or stand in a text that is read as code, it stays as it is, so that programs with one
//! fingerprint differ at most in names of their own. A function's own text, which it gives as a string, is not looked for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::tokens::is_of_word;

/// A program with one of them keeps all its names: fields, names that are read from texts, escapes in names, and globals that are properties.
const KEEPS_ALL: [&str; 8] = ["\\", "class", "eval", "Function", "global", "globalThis", "this", "with"];

/// Properties of functions, by which a program reads its own names or makes code of texts. They keep all names, too.
const TELLS_NAMES: [&str; 2] = ["constructor", "name"];

/// The function that jobs call, where it is bound outside of all brackets.
const ENTRY: &str = "f";

/// Globals of the language and of Node.js. A program that binds one in one place may mean the global in another.
const GLOBALS: &str = "AbortController AbortSignal AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array \
    Boolean Buffer DOMException DataView Date DisposableStack Error EvalError Event EventTarget FinalizationRegistry Float16Array Float32Array \
    Float64Array Infinity Int16Array Int32Array Int8Array InternalError Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError \
    ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError TextDecoder TextEncoder TypeError URIError URL \
    URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly __dirname __filename atob btoa \
    clearImmediate clearInterval clearTimeout console crypto decodeURI decodeURIComponent encodeURI encodeURIComponent escape exports fetch gc \
    isFinite isNaN module navigator parseFloat parseInt performance print process queueMicrotask require setImmediate setInterval setTimeout \
    structuredClone unescape";

/// A brace behind one of them opens an object or a pattern. Behind a colon it may open a block, whose names then stay.
const BEFORE_OBJECT: [&str; 27] = [
    "!", "&", "(", "*", "+", ",", "-", ".", "/", ":", "<", "=", "?", "[", "|", "await", "case", "const", "default",
    "in", "let", "of", "return", "throw", "typeof", "var", "yield",
];

/// A declaration without a semicolon behind it ends at one of them.
const BEHIND_DECLARATION: [&str; 15] = [
    ";", "break", "const", "continue", "do", "for", "if", "in", "let", "of", "return", "switch", "throw", "var",
    "while",
];

const RESERVED: [&str; 35] = [
    "async", "await", "break", "case", "catch", "const", "continue", "default", "delete", "do", "else", "false",
    "finally", "for", "function", "if", "in", "instanceof", "let", "new", "null", "of", "return", "switch", "this",
    "throw", "true", "try", "typeof", "undefined", "var", "void", "while", "yield", "arguments",
];

/// The tokens of a program, with its own names replaced by their numbers in the order of their first use.
pub(super) fn number_names<'p>(tokens: &[&'p str]) -> Vec<Cow<'p, str>> {
    let program = Program::new(tokens);
    if program.keeps_all() {
        return tokens.iter().map(|token| Cow::Borrowed(*token)).collect();
    }
    let (mut bound, kept) = (program.bound(), program.kept());
    bound.retain(|name| !kept.contains(name) && GLOBALS.split_ascii_whitespace().all(|global| global != *name));
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let number = |(at, token): (usize, &&'p str)| {
        if !bound.contains(token) || program.is_property(at) || program.is_accessor(at) {
            return Cow::Borrowed(*token);
        }
        let next = numbers.len();
        Cow::Owned(format!("\u{1}{}", numbers.entry(*token).or_insert(next)))
    };
    tokens.iter().enumerate().map(number).collect()
}

struct Program<'p, 't> {
    tokens: &'t [&'p str],
    /// The bracket that is open around each token.
    around: Vec<Option<usize>>,
    /// Where each bracket is closed.
    ends: BTreeMap<usize, usize>,
    /// Where each closing bracket was opened.
    starts: BTreeMap<usize, usize>,
}

impl<'p, 't> Program<'p, 't> {
    fn new(tokens: &'t [&'p str]) -> Self {
        let (mut open, mut around) = (Vec::new(), Vec::with_capacity(tokens.len()));
        let (mut ends, mut starts) = (BTreeMap::new(), BTreeMap::new());
        for (at, token) in tokens.iter().enumerate() {
            if matches!(*token, ")" | "]" | "}") {
                let start = open.pop();
                ends.extend(start.map(|start| (start, at)));
                starts.extend(start.map(|start| (at, start)));
            }
            around.push(open.last().copied());
            if matches!(*token, "(" | "[" | "{") {
                open.push(at);
            }
        }
        Self { tokens, around, ends, starts }
    }

    fn token(&self, at: usize) -> &'p str {
        self.tokens.get(at).copied().unwrap_or_default()
    }

    fn before(&self, at: usize) -> &'p str {
        at.checked_sub(1).map_or("", |before| self.token(before))
    }

    fn bracket_around(&self, at: usize) -> Option<usize> {
        self.around.get(at).copied().flatten()
    }

    /// Whether the names of the program are kept as they are.
    fn keeps_all(&self) -> bool {
        let mut tokens = self.tokens.iter().enumerate();
        tokens.any(|(at, token)| KEEPS_ALL.contains(token) || (TELLS_NAMES.contains(token) && self.is_member(at)))
    }

    /// Whether a token is behind the dot of a member. Three dots spread, and of two the first ends a number.
    fn is_member(&self, at: usize) -> bool {
        let dots = self.tokens[..at].iter().rev().take_while(|token| **token == ".").count();
        dots > 0 && dots != 3
    }

    /// Whether a token is the name of a property: of a member, or before the colon of an object.
    fn is_property(&self, at: usize) -> bool {
        self.is_member(at) || (self.begins_entry(at) && self.token(at + 1) == ":")
    }

    /// Whether a token makes what follows a getter or a setter, and is no name there.
    fn is_accessor(&self, at: usize) -> bool {
        let has_name = !matches!(self.token(at + 1), "," | "}" | ":" | "(" | "=");
        matches!(self.token(at), "get" | "set") && self.begins_entry(at) && has_name
    }

    /// Whether a token is the first of an entry of an object.
    fn begins_entry(&self, at: usize) -> bool {
        self.is_in_object(at) && matches!(self.before(at), "{" | ",")
    }

    fn is_in_object(&self, at: usize) -> bool {
        let open = self.bracket_around(at).filter(|open| self.token(*open) == "{");
        open.is_some_and(|open| BEFORE_OBJECT.contains(&self.before(open)))
    }

    /// The names that declarations, functions and patterns bind. Parameters of methods are not among them.
    fn bound(&self) -> BTreeSet<&'p str> {
        let mut bound = BTreeSet::new();
        for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| !self.is_property(*at)) {
            match *token {
                "var" | "let" | "const" => self.bind_declared(at + 1, &mut bound),
                "catch" if self.token(at + 1) == "(" => self.bind_pattern(at + 1, &mut bound),
                "function" => {
                    let name = at + 1 + usize::from(self.token(at + 1) == "*");
                    let is_named = is_name(self.token(name));
                    bound.extend(is_named.then(|| self.token(name)));
                    self.bind_pattern(name + usize::from(is_named), &mut bound);
                }
                "=" if self.token(at + 1) == ">" => match self.before(at) {
                    name if is_name(name) => {
                        bound.insert(name);
                    }
                    _ => {
                        let parameters = at.checked_sub(1).and_then(|end| self.starts.get(&end));
                        parameters.into_iter().for_each(|open| self.bind_pattern(*open, &mut bound));
                    }
                },
                _ => {}
            }
        }
        bound
    }

    /// Binds what a declaration declares, whose first name or pattern this is.
    fn bind_declared(&self, first: usize, bound: &mut BTreeSet<&'p str>) {
        let around = self.bracket_around(first);
        let end = around.and_then(|open| self.ends.get(&open).copied()).unwrap_or(self.tokens.len());
        let is_level = |at: &usize| self.bracket_around(*at) == around;
        let mut declared = Some(first);
        while let Some(at) = declared {
            match self.token(at) {
                name if is_name(name) => {
                    bound.insert(name);
                }
                _ => self.bind_pattern(at, bound),
            }
            let behind = (at + 1..end).filter(is_level);
            let mut own = behind.take_while(|at| !BEHIND_DECLARATION.contains(&self.token(*at)));
            declared = own.find(|at| self.token(*at) == ",").map(|comma| comma + 1);
        }
    }

    /// Binds the names of a pattern, or of a list of parameters, that this bracket opens. Calls, objects and lists of defaults bind nothing.
    fn bind_pattern(&self, open: usize, bound: &mut BTreeSet<&'p str>) {
        let Some(end) = self.ends.get(&open) else { return };
        let mut at = open + 1;
        while at < *end {
            let is_default = self.before(at) == "=" && matches!(self.token(at), "[" | "{");
            if is_default || self.token(at) == "(" {
                at = self.ends.get(&at).copied().unwrap_or(*end);
            }
            let (name, is_first) = (self.token(at), at == open + 1);
            let is_value = || self.bracket_around(at).is_some_and(|around| self.token(around) == "{");
            let begins = match self.before(at) {
                "[" | "," | "." | "{" => true,
                "(" => is_first,
                ":" => is_value(),
                _ => false,
            };
            if begins && is_name(name) && matches!(self.token(at + 1), "," | "]" | "}" | ")" | "=") {
                bound.insert(name);
            }
            at += 1;
        }
    }

    /// The words from where a regular expression may begin up to its flags: a slash behind what ends no value.
    fn words_of_regex(&self, at: usize) -> &'t [&'p str] {
        let before = self.before(at);
        let ends_value = before.ends_with(|last: char| is_of_word(last) || ")]\"'`".contains(last));
        if self.token(at) != "/" || (ends_value && !RESERVED.contains(&before)) {
            return &[];
        }
        let behind = &self.tokens[at + 1..];
        let end = behind.iter().position(|token| *token == "/").map_or(behind.len(), |slash| slash + 2);
        &behind[..end.min(behind.len())]
    }

    /// The names that may be more than one's own: of entries without a value and of methods, and all words of templates with code in them, and of
    /// regular expressions. Where a slash may begin one, what is read as a text may be code.
    fn kept(&self) -> BTreeSet<&'p str> {
        let has_slash = self.tokens.contains(&"/");
        let mut kept = BTreeSet::new();
        for (at, token) in self.tokens.iter().copied().enumerate() {
            kept.extend(self.words_of_regex(at).iter().copied());
            let is_text = token.starts_with(['"', '\'', '`']);
            if is_text && (has_slash || token.contains("${")) {
                kept.extend(token.split(|letter: char| !is_of_word(letter)));
            }
            let is_short = self.begins_entry(at) && matches!(self.token(at + 1), "," | "}" | "=");
            let is_method = self.is_in_object(at)
                && self.token(at + 1) == "("
                && matches!(self.before(at), "{" | "," | "get" | "set" | "async" | "*");
            let is_entry = token == ENTRY && self.bracket_around(at).is_none();
            if is_short || is_method || is_entry {
                kept.insert(token);
            }
        }
        kept
    }
}

fn is_name(token: &str) -> bool {
    let begins = token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '$');
    begins && !RESERVED.contains(&token)
}

#[cfg(test)]
mod tests {
    use super::super::{JAVASCRIPT, tokens};
    use super::*;
    use crate::Language;

    fn numbered(program: &str) -> String {
        let tokens: Vec<&str> = tokens::read(program).filter(|token| *token != "\n").collect();
        number_names(&tokens).join(" ").replace('\u{1}', "$")
    }

    #[test]
    fn what_a_program_binds_is_numbered_and_all_else_stays() {
        for (program, want) in [
            ("function f(x) { return x.x + y }", "function f ( $0 ) { return $0 . x + y }"),
            ("function g(x) { return x.x + y }", "function $0 ( $1 ) { return $1 . x + y }"),
            ("const f = (x) => x(f)", "const f = ( $0 ) = > $0 ( f )"),
            ("g = (f) => { f(1) }", "g = ( $0 ) = > { $0 ( 1 ) }"),
            ("(Math, x) => Math.max(x)", "( Math , $0 ) = > Math . max ( $0 )"),
            (
                "let get = 1; x = { get a() { return get }, get: get }",
                "let $0 = 1 ; x = { get a ( ) { return $0 } , get : $0 }",
            ),
            ("let a; b = 1..a", "let $0 ; b = 1 . . a"),
            ("let a; b = a.name", "let a ; b = a . name"),
            ("let name; b = name", "let $0 ; b = $0"),
            ("let a; b = this.a", "let a ; b = this . a"),
            (
                "let a = 1, [b, , ...c] = d, { e: g = 2 } = h",
                "let $0 = 1 , [ $1 , , . . . $2 ] = d , { e : $3 = 2 } = h",
            ),
            ("(a, b = g(h)) => a ? b : h", "( $0 , $1 = g ( h ) ) = > $0 ? $1 : h"),
            ("x => ({ x: x })", "$0 = > ( { x : $0 } )"),
            ("for (const w of ws) { t.push(w) }", "for ( const $0 of ws ) { t . push ( $0 ) }"),
            ("try { g() } catch (e) { h(...e) }", "try { g ( ) } catch ( $0 ) { h ( . . . $0 ) }"),
            ("try { g() } catch { h = [NaN, i] }", "try { g ( ) } catch { h = [ NaN , i ] }"),
            ("([a, b] = [NaN, c]) => a", "( [ $0 , $1 ] = [ NaN , c ] ) = > $0"),
            ("p.catch(e)", "p . catch ( e )"),
            ("let a, b; c = { a, b: 1 }", "let a , $0 ; c = { a , b : 1 }"),
            ("let a, b; c = { a(d) { return d } }", "let a , $0 ; c = { a ( d ) { return d } }"),
            ("let a, b; `${a} b`", "let a , b ; `${a} b`"),
            ("let a, b; a / 'b'", "let $0 , b ; $0 / 'b'"),
            ("let a, b, g; c = /a/g.test(b)", "let a , $0 , g ; c = / a / g . test ( $0 )"),
            ("let a, b; for (b in { a: 1 }) throw { a }", "let a , $0 ; for ( $0 in { a : 1 } ) throw { a }"),
            ("class A { g(x) { let y = x } }", "class A { g ( x ) { let y = x } }"),
            ("let a = 1\nreturn b, c", "let $0 = 1 return b , c"),
        ] {
            assert_eq!(numbered(program), want);
        }
    }

    #[test]
    fn programs_that_call_their_names_otherwise_are_the_same() {
        let same = |one: &str, other: &str| JAVASCRIPT.fingerprint(one) == JAVASCRIPT.fingerprint(other);
        for (one, other) in [
            ("function f(x) { var a = 1; return a + x }", "function f(y) { var b = 1; return b + y }"),
            (
                "function f(a, b) { return g(b) }\nfunction g(c) { return c }",
                "function f(b, a) { return h(a) }\nfunction h(d) { return d }",
            ),
            ("function f(xs) { return xs.map((n) => n * n) }", "function f(l) { return l.map((m) => m * m) }"),
        ] {
            assert!(same(one, other), "{one}\n{other}");
        }
        for (one, other) in [
            ("function f(a, b) { return a - b }", "function f(a, b) { return b - a }"),
            ("function f(x) { return x.a }", "function f(x) { return x.b }"),
            ("function f(a) { return { a } }", "function f(b) { return { b } }"),
            ("function f(a) { return { a: 1 } }", "function f(b) { return { b: 1 } }"),
            ("function f(a) { return `${a}` }", "function f(b) { return `${a}` }"),
            ("function f(x) { return Math.max(x) }", "function f(x) { return JSON.max(x) }"),
            ("function f(x) { return Math.max(x) }", "function f(x) { return Math.min(x) }"),
            ("function f(x) { return x }", "function g(x) { return x }"),
            // A global that is bound elsewhere.
            (
                "function f(x) { return Math.max(g(x)) }\nfunction g(Math) { return Math }",
                "function f(x) { return JSON.max(g(x)) }\nfunction g(JSON) { return JSON }",
            ),
            ("let isNaN = 1; f = isNaN(2)", "let isFinite = 1; f = isFinite(2)"),
            ("let max = 1; f = Math.max(2)", "let min = 1; f = Math.min(2)"),
            ("let { max } = Math; f = max", "let { min } = Math; f = min"),
            ("let a; f = 1..a", "let b; f = 1..b"),
            ("function g() {} f = g.name", "function h() {} f = h.name"),
            ("var g = 1; f = globalThis.g", "var h = 1; f = globalThis.g"),
            ("function g() {} f = Function('return g')", "function h() {} f = Function('return g')"),
        ] {
            assert!(!same(one, other), "{one}\n{other}");
        }
    }

    #[test]
    fn any_tokens_are_numbered() {
        for program in [
            "(", "}", "/", "= / a", "let", "function", "= >", ") = >", "let {", "function * (", "catch", ".", ". a",
            "{ a : [ ( }", "",
        ] {
            numbered(program);
        }
    }
}
