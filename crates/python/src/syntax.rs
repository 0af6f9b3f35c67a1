//! Syntax trees of Python, as ruff's parser gives them. The texts are a policy's, and parsing recurses without a limit of its own. So how deep a
//! tree can be is known before: from the tokens, which are the parser's own, or from the length of the text.

use ruff_python_ast::ModModule;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, ParseOptions, Parsed, lexer, parse_unchecked};

use crate::large::LargePermit;

/// Levels of a tree over which recursion is tried: CPython reads 200 brackets, 100 levels of indentation and some thousands of nested
/// expressions.
const MOST_LEVELS: usize = 20_000;
/// Stack for one level, in all that recurses: the parser, the visitors, hashing.
const STACK_OF_A_LEVEL: usize = 32 << 10;

/// Works on the syntax tree of a program, on a stack that is deep enough; `None` for text that is no Python or nests too deep.
pub fn with_syntax<T>(program: &str, work: impl FnOnce(&Parsed<ModModule>) -> T) -> Option<T> {
    with_syntax_within(MOST_LEVELS, program, work)
}

/// The same, where a text that may nest by more than `most` levels is too deep. That is less than recursion over a tree could stand.
pub fn with_syntax_within<T>(most: usize, program: &str, work: impl FnOnce(&Parsed<ModModule>) -> T) -> Option<T> {
    let levels = count_levels(program).filter(|levels| *levels <= most)?;
    parse_within(most_levels(program.len(), Some(levels)), program, |parsed| {
        parsed.errors().is_empty().then(|| work(&parsed))
    })?
}

/// Works on the syntax tree of a text that may be no Python, whose tree has gaps then; `None` where it nests too deep.
pub fn with_any_syntax<T>(text: &str, work: impl FnOnce(Parsed<ModModule>) -> T) -> Option<T> {
    parse_within(most_levels(text.len(), count_levels(text)), text, work)
}

/// Whether the tree of a text might be deeper than recursion over it goes, or too large.
pub fn is_too_complex(text: &str) -> bool {
    most_levels(text.len(), count_levels(text)) > MOST_LEVELS || tree_weight(text) > most_tree_weight(text.len())
}

fn parse_within<T>(levels: usize, text: &str, work: impl FnOnce(Parsed<ModModule>) -> T) -> Option<T> {
    if levels > MOST_LEVELS || tree_weight(text) > most_tree_weight(text.len()) {
        return None;
    }
    let _permit = LargePermit::wait(text.len());
    let stack = (1 << 20) + STACK_OF_A_LEVEL * levels;
    stacker::maybe_grow(stack, stack, || {
        parse_unchecked(text, ParseOptions::from(Mode::Module)).try_into_module().map(work)
    })
}

/// About the bytes of memory that the tree of a text takes, with its tokens: statements, what stands around operators and brackets, and the errors that
/// marks of no meaning are.
fn tree_weight(text: &str) -> u64 {
    const STATEMENT: u64 = 320;
    const PART: u64 = 160;
    const LETTER: u64 = 48;
    let mut weight = 0;
    for byte in text.bytes() {
        weight += match byte {
            b'\n' | b';' => STATEMENT,
            b'!'..=b'/' | b':' | b'<'..=b'@' | b'['..=b'^' | b'`' | b'{'..=b'~' => PART,
            // Letters of names, or marks that are none.
            0xc0.. => LETTER,
            _ => 0,
        };
    }
    weight
}

/// The most that a tree may weigh. Those of programs weigh less, and those of lists of literals too where the text is long; a text of up to 1 MiB, as
/// anybody may send one, has no tree where it is much denser than programs are.
fn most_tree_weight(bytes: usize) -> u64 {
    const SHORT: usize = 1 << 20;
    const LEAST: u64 = 40 << 20;
    const FACTOR: u64 = 100;
    if bytes <= SHORT { LEAST } else { (bytes as u64).saturating_mul(FACTOR) }
}

/// An upper bound on how deep recursion goes over the tree of a text of `bytes` bytes in which `counted` levels are counted.
fn most_levels(bytes: usize, counted: Option<usize>) -> usize {
    match counted {
        // Where the text is no Python, the parser gives up brackets, and finds blocks in what was inside. A block within a block is indented
        // further, so few of them fit into a text.
        Some(levels) => bytes.min(levels + (2 * bytes).isqrt()),
        // Every level takes a byte.
        None => bytes,
    }
}

/// An upper bound on how deep the tree of a text is: open brackets, levels of indentation, and the tokens since the last comma of the bracket.
/// `None` where the parser may see other tokens than these, because one is malformed or the brackets do not match. Then it is no Python.
fn count_levels(text: &str) -> Option<usize> {
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut levels = Levels::default();
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => break,
            kind => levels.add(kind)?,
        }
    }
    (levels.open.is_empty() && lexer.finish().is_empty()).then_some(levels.most)
}

/// How deep a text is, token by token.
#[derive(Default)]
struct Levels {
    open: Vec<Bracket>,
    depth: usize,
    blocks: usize,
    most: usize,
    /// Whether the part of an expression may go on behind a comma.
    takes_commas: bool,
}

/// An open bracket: what closes it, and what was there before it.
struct Bracket {
    end: TokenKind,
    depth: usize,
    takes_commas: bool,
}

impl Levels {
    /// `None` for a bracket that closes none, and for a malformed token: of many, each would be kept as an error.
    fn add(&mut self, kind: TokenKind) -> Option<()> {
        match kind {
            TokenKind::Newline => self.end_statement(),
            TokenKind::Semi if self.open.is_empty() => self.end_statement(),
            TokenKind::Indent => self.blocks += 1,
            TokenKind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            TokenKind::Lpar => self.open(TokenKind::Rpar),
            TokenKind::Lsqb => self.open(TokenKind::Rsqb),
            TokenKind::Lbrace => self.open(TokenKind::Rbrace),
            TokenKind::FStringStart => self.open(TokenKind::FStringEnd),
            TokenKind::TStringStart => self.open(TokenKind::TStringEnd),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                let Bracket { depth, takes_commas, .. } = self.open.pop().filter(|open| open.end == kind)?;
                // What follows a bracket may be applied to it.
                (self.depth, self.takes_commas) = (depth + 1, takes_commas);
            }
            TokenKind::Unknown => return None,
            TokenKind::Comma if !self.takes_commas => self.depth = self.start(),
            TokenKind::Lambda | TokenKind::Yield => {
                self.depth += 1;
                self.takes_commas = true;
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            _ => self.depth += 1,
        }
        self.most = self.most.max(self.depth + self.blocks);
        Some(())
    }

    fn open(&mut self, end: TokenKind) {
        self.open.push(Bracket { end, depth: self.depth, takes_commas: self.takes_commas });
        self.depth += 1;
        self.takes_commas = false;
    }

    fn end_statement(&mut self) {
        (self.depth, self.takes_commas) = (0, false);
    }

    /// The depth at the start of the bracket, or of the statement.
    fn start(&self) -> usize {
        self.open.last().map_or(0, |bracket| bracket.depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of texts, which repeated nest or break off in every way, and behind `…` what closes them.
    const PARTS: &[&str] = &[
        "(…)", "[…]", "{…}", "a(…)", "a[…]", "{1: …}", "(a, …)", ")", "]", "}", ",", ":", ";", ".", "=", ":=", "-",
        "~", "-\\\n", "-\\\r\n", "-\x0c", "*", "1**", "->", "@", "|", "not ", "a ", "1if 1else ", "0or ", "'' ", "'…'",
        "f'{…}'", "f'#{…}'", "f\"'{…}\"", "f\"\"\"'#\n{…}\"\"\"", "f'{a:{…}}'", "rf'\\{…}'", "t'…'", "t'#{…}'",
        "lambda:", "lambda a, b: ", "yield ", "yield from ", "await ", "async ", "if ", "else ", "for a in ",
        "return ", "with ", "import ", "case ", "# ", "\n",
    ];

    fn parse(text: &str) {
        with_any_syntax(text, |_| ());
    }

    /// A text that nests deeper than is counted ends the process.
    #[test]
    fn what_nests_is_counted() {
        let parts = || PARTS.iter().map(|part| part.split_once('…').unwrap_or((part, "")));
        for (first, first_end) in parts() {
            for (second, second_end) in parts() {
                for (start, end) in [("x = ", ""), ("f'{", "}'")] {
                    let opened = format!("{start}{}1", format!("{first}{second}").repeat(600));
                    parse(&opened);
                    parse(&format!("{opened}{}{end}\n", format!("{second_end}{first_end}").repeat(600)));
                }
            }
        }
        for (part, inner) in [
            ("f'{", ""),
            ("assert f(1) == 2, f'{", "("),
            ("(lambda a, b: ", "lambda a, b: "),
            ("yield a, ", "yield a, "),
        ] {
            parse(&format!("{part}{}1", inner.repeat(30_000)));
        }
    }

    /// What the parser makes of brackets that are never closed: it goes on with the next line, and with its blocks.
    #[test]
    fn blocks_in_brackets_are_counted() {
        for line in ["if 1,:", "if a: # (", "class a(b, c):", "for a in b, c:", "match a, b:", "try:"] {
            let blocks: String = (0..700).map(|level| format!("{}{line}\n", " ".repeat(level))).collect();
            for start in ["", "x = (\n", "x = [(\n", "(1\n", "(a b\n", "f('a' {\n"] {
                for end in ["", ")", "])"] {
                    parse(&format!("{start}{blocks}{end}"));
                }
            }
        }
    }

    #[test]
    fn what_is_counted_is_what_the_parser_reads() {
        let levels = |part: &str, end: &str| count_levels(&format!("x = {}1{}\n", part.repeat(900), end.repeat(900)));
        for (part, end) in [
            ("f'#{", "}'"),
            ("f\"'{", "}\""),
            ("1if 1else ", ""),
            ("-\\\r\n", ""),
            ("(", ")"),
            ("f'{a:{", "}}'"),
            ("lambda a, b: ", ""),
        ] {
            assert!(levels(part, end) >= Some(900), "{part}");
        }
        for (part, end) in [("(", "]"), ("(", ""), ("", ")"), ("'\n", "")] {
            assert_eq!(levels(part, end), None, "{part}");
        }
    }

    #[test]
    fn items_of_a_list_do_not_nest() {
        let levels = |text: String| count_levels(&text).expect("it is Python");
        assert!(levels(format!("x = [{}]\n", "-1, ".repeat(10_000))) < 10);
        assert!(levels(format!("x = [{}]\n", "(1, 'a'), ".repeat(10_000))) < 10);
        assert!(levels(format!("x = {}1\n", "-".repeat(10_000))) >= 10_000);
    }

    #[test]
    fn a_short_text_that_is_denser_than_programs_has_no_tree() {
        let parses = |text: &str| with_syntax(text, |_| ()).is_some();
        for (line, fits) in [
            (
                "def area(width, height):\n    \"\"\"The area of a rectangle.\"\"\"\n    return width * height + border\n",
                true,
            ),
            ("names = ['Ada Lovelace', 'Alan Turing', 1815, 1912]\n", true),
            (
                "# \u{8fd9}\u{4e2a}\u{51fd}\u{6570}\u{8fd4}\u{56de}\u{4e24}\u{4e2a}\u{6570}\u{7684}\u{548c}\u{3002}\n",
                true,
            ),
            ("a = [1,2,3,4,5,6,7,8,9]\n", false),
            ("0;0\n", false),
            ("``", false),
        ] {
            let text = line.repeat((900 << 10) / line.len());
            assert_eq!((parses(&text), is_too_complex(&text)), (fits, !fits), "{line}");
        }
        // Whoever sends more may take more.
        let table = format!("x = [{}]\n", "1,".repeat(600 << 10));
        assert!(parses(&table) && !parses(&table.replace("1,1,1,1,", "1,").repeat(2)));
    }

    #[test]
    fn a_text_that_is_too_deep_has_no_tree() {
        for text in ["-".repeat(30_000), "(".repeat(30_000), format!("f'#{{{}", "(".repeat(30_000))] {
            assert!(is_too_complex(&text) && with_any_syntax(&text, |_| ()).is_none());
        }
        assert!(!is_too_complex(&"-1, ".repeat(30_000)) && !is_too_complex(&"x = 1\n".repeat(30_000)));
    }
}
