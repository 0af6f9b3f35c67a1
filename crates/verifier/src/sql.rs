//! SQL as a language of attempts: labels of blocks, what a query says, and whether its rows have an order. A scanner, not a parser: SQLite parses.

use veriplay_core::{Digest, Language};

/// The language, in SQLite's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sql;

impl Language for Sql {
    fn names(&self) -> &'static [&'static str] {
        &["sql"]
    }

    /// `sqlite3` is a module of this image.
    fn image(&self) -> &'static str {
        "python"
    }

    fn is_label(&self, word: &str) -> bool {
        matches!(word, "sql" | "sqlite" | "sqlite3")
    }

    /// Names it by its tokens: without comments, white space, a last `;` and the case of words. Names of a query's own count, unlike in programs.
    fn fingerprint(&self, program: &str) -> Digest {
        Digest::of(read_tokens(program).join("\0").as_bytes())
    }
}

/// Whether a query itself has an `ORDER BY`, and not only one inside it.
pub(crate) fn has_outer_order(query: &str) -> bool {
    let tokens = read_tokens(query);
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "order" if depth == 0 && tokens.get(at + 1).is_some_and(|next| next == "by") => return true,
            _ => {}
        }
    }
    false
}

/// The tokens of a query: words in lower case, and what stands in quotes as it is written.
fn read_tokens(query: &str) -> Vec<String> {
    let (mut tokens, mut rest) = (Vec::new(), query);
    while let Some(first) = rest.chars().next() {
        let (token, behind) = rest.split_at(token_end(rest, first));
        rest = behind;
        if !(first.is_whitespace() || token.starts_with("--") || token.starts_with("/*")) {
            tokens.push(if is_of_word(first) { token.to_ascii_lowercase() } else { token.to_owned() });
        }
    }
    while tokens.last().is_some_and(|last| last == ";") {
        tokens.pop();
    }
    tokens
}

/// Bytes of the token, the comment or the blank with which a text begins. A quotation mark that stands twice makes two tokens of a literal.
fn token_end(text: &str, first: char) -> usize {
    match first {
        '\'' | '"' | '`' => end_behind(text, 1, &text[..1]),
        '[' => end_behind(text, 1, "]"),
        '-' if text.starts_with("--") => end_behind(text, 2, "\n"),
        '/' if text.starts_with("/*") => end_behind(text, 2, "*/"),
        _ if is_of_word(first) => text.find(|c: char| !is_of_word(c)).unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

/// The place behind the first `mark` from `start` on, or the end.
fn end_behind(text: &str, start: usize, mark: &str) -> usize {
    text[start..].find(mark).map_or(text.len(), |at| start + at + mark.len())
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_named_by_its_tokens_and_not_by_its_layout() {
        let named = |query: &str| Sql.fingerprint(query);
        let first = named("SELECT a FROM t WHERE b = 'It''s'");
        for same in [
            "select a\n\tfrom T where B='It''s';",
            "SELECT a -- it's; the \"column\"\nFROM t /* 'of' */ WHERE b = 'It''s' ; ;",
        ] {
            assert_eq!(named(same), first, "{same}");
        }
        for other in [
            "SELECT a FROM t WHERE b = 'it''s'",
            "SELECT a FROM t WHERE b = 'It''s' OR 1",
            "SELECT ab FROM t WHERE b = 'It''s'",
            "SELECT a FROM t WHERE b = \"It''s\"",
            "SELECT a FROM t -- WHERE b = 'It''s'",
        ] {
            assert_ne!(named(other), first, "{other}");
        }
    }

    #[test]
    fn the_rows_of_a_query_have_an_order_where_it_orders_them_itself() {
        for (query, is_ordered) in [
            ("SELECT a FROM t ORDER BY a", true),
            ("select a from t order\n by a limit 1;", true),
            ("WITH c AS (SELECT 1) SELECT * FROM c Order/**/By 1", true),
            ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3)", false),
            ("SELECT row_number() OVER (ORDER BY a) FROM t", false),
            ("SELECT 'order by a' FROM t -- order by a", false),
            ("SELECT \"order\" FROM t GROUP BY a", false),
            ("SELECT order_by FROM t", false),
        ] {
            assert_eq!(has_outer_order(query), is_ordered, "{query}");
        }
    }
}
