//! One line's text with placeholders: `x * {c} + {d}`.

use rand::Rng;

/// Literal pieces and the placeholders between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
    /// Of the placeholders, in order.
    names: Vec<char>,
}

/// What a sentence calls a template: words, and the values of its placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Words {
    /// Literal words, or the index of a placeholder of the template.
    pieces: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq)]
enum Word {
    Literal(String),
    Value(usize),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Literal(String),
    /// A whole number, both ends included.
    Number(i64, i64),
    /// One of these letters.
    Letter(Vec<char>),
}

impl Template {
    /// Splits `text` at its placeholders; `resolve` looks a name up.
    ///
    /// # Errors
    /// The problem, for people: an open brace, or the error of `resolve`.
    pub(crate) fn parse(text: &str, mut resolve: impl FnMut(char) -> Result<Piece, String>) -> Result<Self, String> {
        let (mut pieces, mut names) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            push_literal(&mut pieces, &rest[..open]);
            let (name, after) = placeholder(&rest[open..])?;
            pieces.push(resolve(name)?);
            names.push(name);
            rest = after;
        }
        push_literal(&mut pieces, rest);
        Ok(Self { pieces, names })
    }

    /// The text with every placeholder drawn.
    pub(crate) fn render(&self, rng: &mut impl Rng) -> String {
        self.pieces.iter().map(|piece| piece.render(rng)).collect()
    }

    /// The values its placeholders have in `text`; `None` where `text` is not one that it renders.
    pub(crate) fn values_in<'a>(&self, text: &'a str) -> Option<Vec<&'a str>> {
        let (mut rest, mut values) = (text, Vec::new());
        for piece in &self.pieces {
            let length = piece.length_in(rest)?;
            let (taken, after) = rest.split_at(length);
            if !matches!(piece, Piece::Literal(_)) {
                values.push(taken);
            }
            rest = after;
        }
        rest.is_empty().then_some(values)
    }

    /// The literal pieces, in order.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether a literal has a word equal to `name`: to find `x` in it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.literals().any(|text| text.split(|c| !is_word(c)).any(|word| word == name))
    }
}

impl Words {
    /// Splits `text` at its placeholders, which are those of `template`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub(crate) fn parse(text: &str, template: &Template) -> Result<Self, String> {
        if text.is_empty() || !text.is_ascii() {
            return Err(format!("`{text}` are no words"));
        }
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(open) = rest.find('{') {
            pieces.push(Word::Literal(rest[..open].to_owned()));
            let (name, after) = placeholder(&rest[open..])?;
            let index = template.names.iter().position(|of| *of == name);
            pieces.push(Word::Value(index.ok_or_else(|| format!("the template has no `{{{name}}}`"))?));
            rest = after;
        }
        pieces.push(Word::Literal(rest.to_owned()));
        pieces.retain(|piece| *piece != Word::Literal(String::new()));
        Ok(Self { pieces })
    }

    /// The words with the values that the template's placeholders have.
    pub(crate) fn fill(&self, values: &[&str]) -> String {
        let text = |piece: &Word| match piece {
            Word::Literal(text) => text.clone(),
            Word::Value(index) => values[*index].to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// The literal words, in order.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Word::Literal(text) => Some(text.as_str()),
            Word::Value(_) => None,
        })
    }
}

impl Piece {
    /// How long this piece is at the beginning of `text`; `None` where it does not stand there.
    fn length_in(&self, text: &str) -> Option<usize> {
        let length = match self {
            Piece::Literal(literal) => return text.starts_with(literal.as_str()).then_some(literal.len()),
            Piece::Number(..) => text.bytes().take_while(u8::is_ascii_digit).count(),
            Piece::Letter(letters) => usize::from(text.starts_with(|first| letters.contains(&first))),
        };
        (length > 0).then_some(length)
    }

    fn render(&self, rng: &mut impl Rng) -> String {
        match self {
            Piece::Literal(text) => text.clone(),
            Piece::Number(low, high) => rng.random_range(*low..=*high).to_string(),
            // A u32 index, so that 32-bit machines draw the same.
            Piece::Letter(letters) => letters[rng.random_range(0..letters.len() as u32) as usize].to_string(),
        }
    }
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Literal(text.to_owned()));
    }
}

/// The name of the placeholder `text` begins with, and what follows it.
fn placeholder(text: &str) -> Result<(char, &str), String> {
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('{'), Some(name), Some('}')) => Ok((name, chars.as_str())),
        _ => Err(format!("`{text}` does not begin with a placeholder such as `{{c}}`")),
    }
}
