//! Python source as tokens, for fingerprints: what layout, comments, docstrings, annotations of parameters and quotes change is gone.
//!
//! A scanner, not a parser: any text gives tokens, in one pass. Text of another language is named by its own words.

use veriplay_core::normalize_program;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// The start of a statement, with its level of indentation.
    Line(usize),
    /// An identifier or a keyword.
    Name(String),
    /// A literal, an operator, or a piece of a formatted string.
    Other(String),
}

impl Token {
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self, Token::Name(own) | Token::Other(own) if own == text)
    }
}

/// Columns of one level of indentation in normalised text.
const INDENT: usize = 4;
/// Operators of more than one character that must not be taken for `=` or `:`.
const OPERATORS: [&str; 21] = [
    "**=", "//=", ">>=", "<<=", "==", "!=", "<=", ">=", ":=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "@=", "**", "//",
];
/// First words of statements whose colon opens a block.
const HEADERS: [&str; 14] = [
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try", "while", "with",
];

/// The tokens of `program`: statements that do nothing (`pass`, a string by itself) are left out, and a block on its header's line
/// stands on a line of its own.
pub(super) fn tokens(program: &str) -> Vec<Token> {
    let text = normalize_program(program);
    let mut scanner = Scanner { rest: &text, depth: 0, out: Vec::new() };
    while !scanner.rest.is_empty() {
        scanner.line();
    }
    let statements = split_statements(&scanner.out);
    statements.into_iter().filter(|statement| !does_nothing(statement)).flat_map(without_annotations).collect()
}

struct Scanner<'a> {
    rest: &'a str,
    depth: usize,
    out: Vec<Token>,
}

impl Scanner<'_> {
    /// A logical line, up to and with its end.
    fn line(&mut self) {
        let indent = self.rest.len() - self.rest.trim_start_matches(' ').len();
        self.out.push(Token::Line(indent / INDENT));
        self.depth = 0;
        while let Some(c) = self.rest.chars().next() {
            if c == '\n' && self.depth == 0 {
                self.rest = &self.rest[1..];
                return;
            }
            self.token(c);
        }
    }

    /// Takes at least one character off `rest`.
    fn token(&mut self, c: char) {
        match c {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        match c {
            _ if c.is_whitespace() || c == '\\' => self.skip(c.len_utf8()),
            '\'' | '"' => self.string(""),
            _ if c.is_ascii_digit() => self.number(),
            _ if c.is_alphanumeric() || c == '_' => self.name(),
            _ => self.operator(c),
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn taken(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_owned()
    }

    fn number(&mut self) {
        let digits = self.taken(|c| c.is_alphanumeric() || c == '_' || c == '.');
        self.out.push(Token::Other(digits.replace('_', "").to_lowercase()));
    }

    fn name(&mut self) {
        let name = self.taken(|c| c.is_alphanumeric() || c == '_');
        let prefix = name.len() <= 2 && name.chars().all(|c| "rRbBuUfFtT".contains(c));
        if prefix && self.rest.starts_with(['\'', '"']) {
            self.string(&name.to_lowercase());
        } else {
            self.out.push(Token::Name(name));
        }
    }

    fn operator(&mut self, c: char) {
        let long = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator));
        let operator = long.map_or_else(|| c.to_string(), |operator| (*operator).to_owned());
        self.skip(operator.len());
        self.out.push(Token::Other(operator));
    }

    /// A string literal; `rest` begins at its quote.
    fn string(&mut self, prefix: &str) {
        let quote = self.rest.chars().next().unwrap_or('"');
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let end = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        self.skip(end.len());
        let fields = prefix.contains(['f', 't']);
        let mut piece = String::new();
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with(&end) {
                self.skip(end.len());
                break;
            }
            if fields && c == '{' && !self.rest.starts_with("{{") {
                self.out.push(literal(prefix, &std::mem::take(&mut piece)));
                self.field();
                continue;
            }
            // Doubled braces and escaped characters are taken whole.
            let whole = c == '\\' || (fields && (self.rest.starts_with("{{") || self.rest.starts_with("}}")));
            let count = self.rest.chars().take(if whole { 2 } else { 1 }).map(char::len_utf8).sum();
            piece.push_str(&self.rest[..count]);
            self.skip(count);
        }
        self.out.push(literal(prefix, &piece));
    }

    /// A field of a formatted string with its braces: code, so that names in it are names.
    fn field(&mut self) {
        let depth = std::mem::replace(&mut self.depth, 0);
        while let Some(c) = self.rest.chars().next() {
            self.token(c);
            if self.depth == 0 {
                break;
            }
        }
        self.depth = depth;
    }
}

/// A string's text by one kind of quote. `u` means nothing, and `r` only before a backslash.
fn literal(prefix: &str, text: &str) -> Token {
    let matters = |c: &char| *c != 'u' && (*c != 'r' || text.contains('\\'));
    let prefix: String = prefix.chars().filter(matters).collect();
    Token::Other(format!("{prefix}\"{}", text.replace("\\'", "'").replace("\\\"", "\"")))
}

/// Statements, each behind its [`Token::Line`]: at semicolons, and behind the colon of a header.
fn split_statements(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut statements: Vec<Vec<Token>> = Vec::new();
    let (mut level, mut depth, mut lambdas, mut header) = (0, 0_usize, 0_usize, false);
    for token in tokens {
        if let Token::Line(own) = token {
            (level, depth, lambdas) = (*own, 0, 0);
            statements.push(vec![token.clone()]);
            continue;
        }
        let Some(statement) = statements.last_mut() else { continue };
        if statement.len() == 1 {
            header = matches!(token, Token::Name(word) if HEADERS.contains(&word.as_str()));
        }
        depth = if ["(", "[", "{"].iter().any(|open| token.is(open)) { depth + 1 } else { depth };
        depth = if [")", "]", "}"].iter().any(|close| token.is(close)) { depth.saturating_sub(1) } else { depth };
        lambdas += usize::from(depth == 0 && token.is("lambda"));
        let colon = depth == 0 && token.is(":");
        if depth == 0 && token.is(";") {
            statements.push(vec![Token::Line(level)]);
        } else if colon && lambdas == 0 && header {
            statement.push(token.clone());
            (level, header) = (level + 1, false);
            statements.push(vec![Token::Line(level)]);
        } else {
            lambdas -= usize::from(colon && lambdas > 0);
            statement.push(token.clone());
        }
    }
    statements.retain(|statement| statement.len() > 1);
    statements
}

fn does_nothing(statement: &[Token]) -> bool {
    let is_text =
        |token: &Token| matches!(token, Token::Other(text) if text.trim_start_matches(['b', 'r']).starts_with('"'));
    match &statement[1..] {
        [only] => only.is("pass") || is_text(only),
        _ => false,
    }
}

/// A `def` without the annotations of its parameters and of what it returns.
fn without_annotations(statement: Vec<Token>) -> Vec<Token> {
    let is_def = statement.get(1).is_some_and(|token| token.is("def"))
        || (statement.get(1).is_some_and(|token| token.is("async"))
            && statement[2..].iter().any(|token| token.is("def")));
    if !is_def {
        return statement;
    }
    let (mut depth, mut inside, mut default) = (0_usize, false, false);
    let mut kept = Vec::with_capacity(statement.len());
    for token in statement {
        let opens = ["(", "[", "{"].iter().any(|open| token.is(open));
        let closes = [")", "]", "}"].iter().any(|close| token.is(close));
        let ends = (depth == 1 && (closes || token.is(",") || token.is("="))) || (depth == 0 && token.is(":"));
        default = depth == 1 && (token.is("=") || (default && !token.is(",")));
        inside = (inside && !ends) || (depth == 1 && !default && token.is(":")) || (depth == 0 && token.is("->"));
        depth = if closes { depth.saturating_sub(1) } else { depth + usize::from(opens) };
        if !inside {
            kept.push(token);
        }
    }
    kept
}
