//! Names programs, functions and sentences by what they say, however they are laid out and whatever they call their variables.
//!
//! Two programs of one fingerprint are one program, but for layout, comments, docstrings, quotes and a renaming of the names that it
//! binds itself. The reverse does not hold: `x + 1` and `1 + x` are two programs.

use std::collections::{BTreeSet, HashMap};

use veriplay_core::Digest;

use super::tokens::{Token, tokens};

/// Tokens of a body below which a function says nothing of its own: `return self`, `return False`.
const LEAST_BODY: usize = 3;

/// Stands before the number of a renamed variable; no identifier has it.
const RENAMED: char = '$';

/// A function of a program: its fingerprint, and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, for people.
    pub name: String,
    /// What it says; the same under any name.
    pub fingerprint: Digest,
}

/// Names a program.
#[must_use]
pub fn program_fingerprint(program: &str) -> Digest {
    digest(&tokens(program))
}

/// The functions of a program, methods and inner ones too, but for those that are too short to be told apart (`return self`).
#[must_use]
pub fn functions(program: &str) -> Vec<Function> {
    let tokens = tokens(program);
    let begins = (0..tokens.len()).filter(|index| matches!(tokens[*index], Token::Line(_)));
    begins.filter_map(|index| function(&tokens[index..])).collect()
}

/// Names a sentence up to case, white space and punctuation: sentences that differ in nothing else ask the same.
#[must_use]
pub fn text_fingerprint(text: &str) -> Digest {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "+-*/%<>=_".contains(c)));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    Digest::of(words.join(" ").as_bytes())
}

/// The function that `tokens` begin with, if they do.
fn function(tokens: &[Token]) -> Option<Function> {
    let [Token::Line(level), rest @ ..] = tokens else { return None };
    let rest = rest.strip_prefix(&[Token::Name("async".to_owned())]).unwrap_or(rest);
    let [def, Token::Name(name), ..] = rest else { return None };
    if !def.is("def") {
        return None;
    }
    let outside = |token: &Token| matches!(token, Token::Line(other) if other <= level);
    let end = tokens[1..].iter().position(outside).map_or(tokens.len(), |at| at + 1);
    let body = tokens[1..end].iter().skip_while(|token| !matches!(token, Token::Line(_)));
    let long = body.filter(|token| !matches!(token, Token::Line(_))).count() >= LEAST_BODY;
    let at_margin = |token: &Token| match token {
        Token::Line(own) => Token::Line(own - level),
        other => other.clone(),
    };
    let own: Vec<Token> = tokens[..end].iter().map(at_margin).collect();
    long.then(|| Function { name: name.clone(), fingerprint: digest(&own) })
}

/// Renames bound names by the order in which they come, and hashes.
fn digest(tokens: &[Token]) -> Digest {
    let bound = bound_names(tokens);
    let mut renamed: HashMap<&str, usize> = HashMap::new();
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Line(level) => text.push_str(&format!("\n{level}")),
            Token::Name(name) if bound.contains(name.as_str()) => {
                let next = renamed.len();
                text.push_str(&format!("{RENAMED}{}", renamed.entry(name).or_insert(next)));
            }
            Token::Name(own) | Token::Other(own) => text.push_str(own),
        }
        // Neither a token nor a level has one.
        text.push('\0');
    }
    Digest::of(text.as_bytes())
}

/// Names that the program binds: functions, classes, parameters, targets of assignments and loops. What is used as an attribute or a
/// keyword argument too keeps its name, since renaming it would not be renaming a variable.
fn bound_names(tokens: &[Token]) -> BTreeSet<&str> {
    let mut bound = BTreeSet::new();
    for statement in tokens.split(|token| matches!(token, Token::Line(_))) {
        bind_statement(statement, &mut bound);
    }
    let named = |index: usize| match &tokens[index] {
        Token::Name(name) => Some(name.as_str()),
        _ => None,
    };
    let fixed = (1..tokens.len()).filter(|index| tokens[index - 1].is(".") || is_keyword_argument(tokens, *index));
    fixed.filter_map(named).for_each(|name| {
        bound.remove(name);
    });
    bound
}

/// `name=` in the brackets of a call.
fn is_keyword_argument(tokens: &[Token], index: usize) -> bool {
    let followed = tokens.get(index + 1).is_some_and(|token| token.is("="));
    if !followed || !(tokens[index - 1].is("(") || tokens[index - 1].is(",")) {
        return false;
    }
    let start = tokens[..index].iter().rposition(|token| matches!(token, Token::Line(_))).map_or(0, |at| at + 1);
    let statement = &tokens[start..];
    let is_def = statement[0].is("def") || statement[0].is("async");
    let count = |texts: [&str; 3]| {
        let any = |token: &&Token| texts.iter().any(|text| token.is(text));
        tokens[start..index].iter().filter(any).count()
    };
    let depth = count(["(", "[", "{"]).saturating_sub(count([")", "]", "}"]));
    let in_lambda =
        tokens[start..index].iter().rev().take_while(|token| !token.is(":")).any(|token| token.is("lambda"));
    depth > usize::from(is_def) && !in_lambda
}

fn bind_statement<'a>(statement: &'a [Token], bound: &mut BTreeSet<&'a str>) {
    let mut bind = |token: Option<&'a Token>| {
        if let Some(Token::Name(name)) = token
            && !KEYWORDS.contains(&name.as_str())
        {
            bound.insert(name);
        }
    };
    for (index, token) in statement.iter().enumerate() {
        let after = &statement[index + 1..];
        match token {
            Token::Name(word) if ["def", "class", "as"].contains(&word.as_str()) => bind(after.first()),
            Token::Name(word) if word == "for" => {
                after.iter().take_while(|token| !token.is("in")).for_each(|token| bind(Some(token)));
            }
            Token::Name(word) if word == "lambda" => {
                parameters(after, ":").into_iter().for_each(|name| bind(Some(name)))
            }
            Token::Other(operator) if operator == ":=" => bind(index.checked_sub(1).map(|before| &statement[before])),
            _ => {}
        }
    }
    let def = statement.iter().take(2).position(|token| token.is("def"));
    if let Some(def) = def
        && let Some(inside) = statement.get(def + 3..)
    {
        parameters(inside, ")").into_iter().for_each(|name| bind(Some(name)));
    }
    targets(statement).into_iter().for_each(|name| bind(Some(name)));
}

/// The names of a list of parameters that ends at `end`.
fn parameters<'a>(tokens: &'a [Token], end: &str) -> Vec<&'a Token> {
    let (mut depth, mut names, mut expected) = (0_usize, Vec::new(), true);
    for token in tokens {
        if depth == 0 && token.is(end) {
            break;
        }
        depth += usize::from(["(", "[", "{"].iter().any(|open| token.is(open)));
        depth -= usize::from([")", "]", "}"].iter().any(|close| token.is(close))).min(depth);
        match token {
            Token::Name(_) if expected => {
                names.push(token);
                expected = false;
            }
            _ => expected = depth == 0 && ([",", "*", "**"].iter().any(|before| token.is(before))),
        }
    }
    names
}

/// The names that an assignment binds: not those of `x.y`, `x[y]` and `x(y)`.
fn targets(statement: &[Token]) -> Vec<&Token> {
    const ASSIGNS: [&str; 14] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "**=", "//=", ">>=", "<<="];
    let mut depths = Vec::with_capacity(statement.len());
    let mut open: Vec<bool> = Vec::new();
    for (index, token) in statement.iter().enumerate() {
        if ["(", "[", "{"].iter().any(|bracket| token.is(bracket)) {
            // A bracket behind a value is a call or an index; names in it are used.
            let before = index.checked_sub(1).map(|before| &statement[before]);
            let used =
                before.is_some_and(|before| matches!(before, Token::Name(_)) || before.is(")") || before.is("]"));
            open.push(used || open.last().copied().unwrap_or(false));
        }
        depths.push((open.len(), open.last().copied().unwrap_or(false)));
        if [")", "]", "}"].iter().any(|bracket| token.is(bracket)) {
            open.pop();
        }
    }
    let assigns = |index: &usize| depths[*index].0 == 0 && ASSIGNS.iter().any(|assign| statement[*index].is(assign));
    let Some(last) = (0..statement.len()).rev().find(assigns) else { return Vec::new() };
    let is_target = |index: &usize| {
        let used = statement.get(index + 1).is_some_and(|next| [".", "[", "("].iter().any(|text| next.is(text)));
        !used && !depths[*index].1
    };
    (0..last).filter(is_target).map(|index| &statement[index]).collect()
}

/// Words that bind nothing where a name is looked for.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
