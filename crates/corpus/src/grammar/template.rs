//! One line's text with placeholders: `x * {c} + {d}`, and words for it.

use rand::Rng;

/// A text with placeholders, and what each of them stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    pieces: Vec<Piece<Values>>,
    /// Of the placeholders, in order.
    names: Vec<char>,
}

/// A description of a template, with the values of its placeholders by their index in the template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phrase {
    pieces: Vec<Piece<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece<T> {
    Literal(String),
    Placeholder(T),
}

/// What a placeholder may stand for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// A whole number, both ends included.
    Number([i64; 2]),
    Letter(Vec<char>),
}

impl Template {
    /// Splits `text` at its placeholders; `resolve` looks a name up.
    ///
    /// # Errors
    /// The problem, for people: an open brace, or the error of `resolve`.
    pub(super) fn parse(text: &str, resolve: impl Fn(char) -> Result<Values, String>) -> Result<Self, String> {
        let named = parse_pieces(text, |name| Ok((name, resolve(name)?)))?;
        let (mut pieces, mut names) = (Vec::new(), Vec::new());
        for piece in named {
            pieces.push(match piece {
                Piece::Literal(text) => Piece::Literal(text),
                Piece::Placeholder((name, values)) => {
                    names.push(name);
                    Piece::Placeholder(values)
                }
            });
        }
        Ok(Self { pieces, names })
    }

    /// The text with every placeholder drawn.
    pub(super) fn render(&self, rng: &mut impl Rng) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Placeholder(values) => text.push_str(&values.draw(rng)),
            }
        }
        text
    }

    /// Matches `text` and returns the values of its placeholders; `None` where the template cannot render `text`.
    pub(super) fn match_values<'a>(&self, text: &'a str) -> Option<Vec<&'a str>> {
        let (mut rest, mut values) = (text, Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Piece::Placeholder(wanted) => {
                    let (value, after) = rest.split_at(wanted.match_length(rest)?);
                    values.push(value);
                    rest = after;
                }
            }
        }
        rest.is_empty().then_some(values)
    }

    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        literals(&self.pieces)
    }

    /// Whether a literal has a word equal to `name`: to find `x` in it.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.literals().any(|text| text.split(|c| !is_word(c)).any(|word| word == name))
    }
}

impl Phrase {
    /// Splits `text` at its placeholders, which are those of `template`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub(super) fn parse(text: &str, template: &Template) -> Result<Self, String> {
        if text.is_empty() || !text.is_ascii() {
            return Err(format!("`{text}` are not words"));
        }
        let index = |name| template.names.iter().position(|of| *of == name);
        let pieces = parse_pieces(text, |name| index(name).ok_or_else(|| format!("the template has no `{{{name}}}`")))?;
        Ok(Self { pieces })
    }

    /// Renders the description with the values of the template's placeholders.
    pub(super) fn render(&self, values: &[&str]) -> String {
        let mut words = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => words.push_str(text),
                Piece::Placeholder(index) => words.push_str(values[*index]),
            }
        }
        words
    }

    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        literals(&self.pieces)
    }
}

impl Values {
    /// The length of a value at the beginning of `text`; `None` where there is none.
    fn match_length(&self, text: &str) -> Option<usize> {
        let length = match self {
            Values::Number(_) => text.bytes().take_while(u8::is_ascii_digit).count(),
            Values::Letter(letters) => usize::from(text.starts_with(|first| letters.contains(&first))),
        };
        (length > 0).then_some(length)
    }

    fn draw(&self, rng: &mut impl Rng) -> String {
        match self {
            Values::Number([low, high]) => rng.random_range(*low..=*high).to_string(),
            // A u32 index, so that 32-bit machines draw the same.
            Values::Letter(letters) => letters[rng.random_range(0..letters.len() as u32) as usize].to_string(),
        }
    }
}

fn literals<T>(pieces: &[Piece<T>]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| if let Piece::Literal(text) = piece { Some(text.as_str()) } else { None })
}

/// Splits `text` at its placeholders, such as `{c}`.
fn parse_pieces<T>(text: &str, resolve: impl Fn(char) -> Result<T, String>) -> Result<Vec<Piece<T>>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(open) = rest.find('{') {
        pieces.push(Piece::Literal(rest[..open].to_owned()));
        let mut chars = rest[open..].chars();
        let (Some('{'), Some(name), Some('}')) = (chars.next(), chars.next(), chars.next()) else {
            return Err(format!("`{}` does not begin with a placeholder such as `{{c}}`", &rest[open..]));
        };
        pieces.push(Piece::Placeholder(resolve(name)?));
        rest = chars.as_str();
    }
    pieces.push(Piece::Literal(rest.to_owned()));
    pieces.retain(|piece| !matches!(piece, Piece::Literal(text) if text.is_empty()));
    Ok(pieces)
}
