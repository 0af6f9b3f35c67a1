//! C++20, which is compiled in the sandbox.

use super::{ScannedLanguage, tokens};

/// C++, whose programs read and write streams.
pub const CPP: ScannedLanguage = ScannedLanguage {
    names: &["cpp"],
    image: "cpp",
    labels: &["c++", "cc", "cxx", "cplusplus", "c++11", "c++14", "c++17", "c++20", "cpp17", "cpp20"],
    extensions: &[".cpp", ".cc", ".cxx"],
    is_compiled: true,
    has_lines: true,
    numbers_names: false,
    arguments_push: None,
    literals: None,
};

/// The program with `long long` for `long`, which has 32 bits in the sandbox and 64 where sets of tasks are made, and with `LL` for `L` behind
/// decimal numbers. `unsigned long` is left as it is: it is the type of sizes.
#[must_use]
pub fn widen_longs(program: &str) -> String {
    let tokens: Vec<(usize, &str)> = tokens::read_with_offsets(program).collect();
    let (mut wide, mut written) = (String::with_capacity(program.len()), 0);
    for (index, (at, token)) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map_or("", |index| tokens[index].1);
        let behind = tokens.get(index + 1).map_or("", |(_, token)| *token);
        let is_lone = !matches!(before, "long" | "unsigned") && !matches!(behind, "long" | "unsigned" | "double");
        let added = match *token {
            "long" if is_lone => " long",
            _ if before != "." && is_long_number(token) => &token[token.len() - 1..],
            _ => continue,
        };
        let end = at + token.len();
        wide += &program[written..end];
        wide += added;
        written = end;
    }
    wide + &program[written..]
}

/// Whether a word is a decimal number with the suffix of a `long`.
fn is_long_number(word: &str) -> bool {
    word.strip_suffix(['l', 'L']).is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::widen_longs;

    #[test]
    fn a_signed_long_alone_is_widened() {
        for (program, wide) in [
            ("long f(std::vector<long> v) {", "long long f(std::vector<long long> v) {"),
            ("max(0L, x) + 1l", "max(0LL, x) + 1ll"),
            ("#define int long\nlong int x;", "#define int long long\nlong long int x;"),
        ] {
            assert_eq!(widen_longs(program), wide, "{program}");
        }
        for program in [
            "long long x = 1LL;",
            "unsigned long x = 1UL; long unsigned y;",
            "long double x = 1.5L;",
            "// long 1L\nauto s = \"long 1L\"; int longest, L, l; é",
        ] {
            assert_eq!(widen_longs(program), program);
        }
    }
}
