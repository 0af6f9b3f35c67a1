//! One line's text with placeholders: `x * {c} + {d}`.

use rand::Rng;

/// Literal pieces and the placeholders between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
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
    /// Splits `text` at its placeholders; `resolve` says what a name stands for.
    ///
    /// # Errors
    /// What is wrong, for people: an open brace, or what `resolve` says.
    pub(crate) fn parse(text: &str, mut resolve: impl FnMut(char) -> Result<Piece, String>) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            push_literal(&mut pieces, &rest[..open]);
            let (name, after) = placeholder(&rest[open..])?;
            pieces.push(resolve(name)?);
            rest = after;
        }
        push_literal(&mut pieces, rest);
        Ok(Self { pieces })
    }

    /// The text with every placeholder drawn.
    pub(crate) fn render(&self, rng: &mut impl Rng) -> String {
        self.pieces.iter().map(|piece| piece.render(rng)).collect()
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

impl Piece {
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
