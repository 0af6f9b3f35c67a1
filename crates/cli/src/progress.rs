//! Messages and progress for people, on stderr only, so that stdout stays data: a bar on a terminal, elsewhere a plain line now and then.

use std::fmt::{Display, Write};
use std::io::{IsTerminal, Write as _};
use std::ops::Deref;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// How often progress is told where there is no terminal: often enough to see that something happens, seldom enough for a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

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

/// A bar that is drawn on a terminal. Elsewhere a thread prints a line every 30 seconds, until this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Its end stops the thread.
    _lines: Option<Sender<()>>,
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

/// Progress over `length` steps; `what` names them.
pub(crate) fn bar(length: u64, what: &'static str) -> Progress {
    let terminal = std::io::stderr().is_terminal();
    let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let template = "{prefix} [{wide_bar}] {pos}/{len} {rate} eta {eta} {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    bar.set_style(style.progress_chars("=> ").with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:.1}/s", state.per_sec());
    }));
    bar.set_prefix(what);
    let lines = (!terminal).then(|| print_lines(bar.clone(), LINE_EVERY, say));
    Progress { bar, _lines: lines }
}

/// Prints the state of `bar` every `every`, until it is finished or the sender is dropped.
fn print_lines(bar: ProgressBar, every: Duration, print: impl Fn(String) + Send + 'static) -> Sender<()> {
    let (sender, dropped) = channel();
    std::thread::spawn(move || {
        while dropped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) && !bar.is_finished() {
            print(line(&bar));
        }
    });
    sender
}

/// The state of `bar` as one plain line.
fn line(bar: &ProgressBar) -> String {
    let length = bar.length().unwrap_or_default();
    let of = if length > 0 { format!("/{length}") } else { String::new() };
    let mut line = format!("{}: {}{of} after {}", bar.prefix(), bar.position(), HumanDuration(bar.elapsed()));
    if bar.position() > 0 && bar.position() < length {
        line += &format!(", {} left", HumanDuration(bar.eta()));
    }
    if !bar.message().is_empty() {
        line += &format!("; {}", bar.message());
    }
    line
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use indicatif::ProgressBar;

    use super::print_lines;

    #[test]
    fn without_a_terminal_progress_is_plain_lines_until_the_bar_is_dropped() {
        let bar = ProgressBar::hidden();
        bar.set_length(60);
        bar.set_prefix("self-play");
        bar.set_message("solved 0.50");
        bar.set_position(60);
        let (printed, lines) = channel();
        let running = print_lines(bar, Duration::from_millis(1), move |line| {
            let _ = printed.send(line);
        });
        let line = lines.recv().expect("a line is printed");
        assert!(line.starts_with("self-play: 60/60 after ") && line.ends_with("; solved 0.50"), "{line}");
        drop(running);
        // The thread ends, and with it the channel: this loop would not end otherwise.
        for line in lines {
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }
}
