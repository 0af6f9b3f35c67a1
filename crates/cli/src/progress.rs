//! Messages and progress bars for people: on stderr only, bars only on a terminal, so that stdout stays data.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Writes one line to stderr. A closed stderr is not an error.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes one line of data to stdout.
///
/// A closed pipe (`| head`) ends the output, not the work.
pub(crate) fn data(line: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A bar over `length` steps; without a terminal it draws nothing.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), target());
    let template = "{prefix} [{bar:30}] {pos}/{len} {per_sec} eta {eta} {msg}";
    bar.set_style(ProgressStyle::with_template(template).expect("the template is valid").progress_chars("=> "));
    bar.set_prefix(what);
    bar
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
