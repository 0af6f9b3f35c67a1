//! Tokens of services under test, from a file with one a line.

use std::path::Path;

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::json_file::read_text;

/// The file's tokens, at least one. Blank lines and lines that begin with `#` are left out.
pub(crate) fn read_tokens(path: &Path) -> Result<Vec<String>, Failure> {
    let text = read_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<String> = lines.map(str::to_owned).collect();
    let is_fine = |token: &String| token.len() > 1 && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !tokens.is_empty() && tokens.iter().all(is_fine) {
        return Ok(tokens);
    }
    let what = format!("`{}` has {} token", path.display(), if tokens.is_empty() { "no" } else { "an invalid" });
    Err(Failure::message(ExitCode::Input, what).hint("write one token a line, printable ASCII without spaces"))
}
