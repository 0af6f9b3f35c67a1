//! One line's text with placeholders: `x * {c} + {d}`.

use rand::Rng;

/// Literal pieces and the placeholders between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<TemplatePiece>,
    /// Of the placeholders, in order.
    names: Vec<char>,
}

/// A description of a template, with the values of its placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phrase {
    /// Literal words, or the index of a placeholder of the template.
    pieces: Vec<PhrasePiece>,
}

#[derive(Debug, Clone, PartialEq)]
enum PhrasePiece {
    Literal(String),
    Value(usize),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TemplatePiece {
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
    pub(crate) fn parse(
        text: &str,
        mut resolve: impl FnMut(char) -> Result<TemplatePiece, String>,
    ) -> Result<Self, String> {
        let (mut pieces, mut names) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            push_literal(&mut pieces, &rest[..open]);
            let (name, after) = parse_placeholder(&rest[open..])?;
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

    /// Matches `text` and returns the values of its placeholders; `None` where the template cannot render `text`.
    pub(crate) fn match_values<'a>(&self, text: &'a str) -> Option<Vec<&'a str>> {
        let (mut rest, mut values) = (text, Vec::new());
        for piece in &self.pieces {
            let length = piece.match_length(rest)?;
            let (taken, after) = rest.split_at(length);
            if !matches!(piece, TemplatePiece::Literal(_)) {
                values.push(taken);
            }
            rest = after;
        }
        rest.is_empty().then_some(values)
    }

    /// The literal pieces, in order.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplatePiece::Literal(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether a literal has a word equal to `name`: to find `x` in it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.literals().any(|text| text.split(|c| !is_word(c)).any(|word| word == name))
    }
}

impl Phrase {
    /// Splits `text` at its placeholders, which are those of `template`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub(crate) fn parse(text: &str, template: &Template) -> Result<Self, String> {
        if text.is_empty() || !text.is_ascii() {
            return Err(format!("`{text}` are not words"));
        }
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(open) = rest.find('{') {
            pieces.push(PhrasePiece::Literal(rest[..open].to_owned()));
            let (name, after) = parse_placeholder(&rest[open..])?;
            let index = template.names.iter().position(|of| *of == name);
            pieces.push(PhrasePiece::Value(index.ok_or_else(|| format!("the template has no `{{{name}}}`"))?));
            rest = after;
        }
        pieces.push(PhrasePiece::Literal(rest.to_owned()));
        pieces.retain(|piece| *piece != PhrasePiece::Literal(String::new()));
        Ok(Self { pieces })
    }

    /// Renders the description with the values of the template's placeholders.
    pub(crate) fn render(&self, values: &[&str]) -> String {
        let text = |piece: &PhrasePiece| match piece {
            PhrasePiece::Literal(text) => text.clone(),
            PhrasePiece::Value(index) => values[*index].to_owned(),
        };
        self.pieces.iter().map(text).collect()
    }

    /// The literal words, in order.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            PhrasePiece::Literal(text) => Some(text.as_str()),
            PhrasePiece::Value(_) => None,
        })
    }
}

impl TemplatePiece {
    /// The length of this piece at the beginning of `text`; `None` where it does not match.
    fn match_length(&self, text: &str) -> Option<usize> {
        let length = match self {
            TemplatePiece::Literal(literal) => return text.starts_with(literal.as_str()).then_some(literal.len()),
            TemplatePiece::Number(..) => text.bytes().take_while(u8::is_ascii_digit).count(),
            TemplatePiece::Letter(letters) => usize::from(text.starts_with(|first| letters.contains(&first))),
        };
        (length > 0).then_some(length)
    }

    fn render(&self, rng: &mut impl Rng) -> String {
        match self {
            TemplatePiece::Literal(text) => text.clone(),
            TemplatePiece::Number(low, high) => rng.random_range(*low..=*high).to_string(),
            // A u32 index, so that 32-bit machines draw the same.
            TemplatePiece::Letter(letters) => letters[rng.random_range(0..letters.len() as u32) as usize].to_string(),
        }
    }
}

fn push_literal(pieces: &mut Vec<TemplatePiece>, text: &str) {
    if !text.is_empty() {
        pieces.push(TemplatePiece::Literal(text.to_owned()));
    }
}

/// Parses the placeholder that `text` begins with; returns its name and the rest.
fn parse_placeholder(text: &str) -> Result<(char, &str), String> {
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('{'), Some(name), Some('}')) => Ok((name, chars.as_str())),
        _ => Err(format!("`{text}` does not begin with a placeholder such as `{{c}}`")),
    }
}
