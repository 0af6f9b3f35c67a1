//! Messages and progress for people, on stderr only, so that stdout stays data: a bar on a terminal, elsewhere a plain line now and then.
//! Where the log is JSON, messages and progress are events of it, so that every line of stderr is one object.

use std::collections::VecDeque;
use std::fmt::{Display, Write};
use std::io::{BufRead, BufReader, ErrorKind, IsTerminal, Write as _};
use std::ops::Deref;
use std::path::Path;
use std::process::{ChildStderr, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::exit::{ExitCode, Failure};

/// How often progress is told where there is no terminal: often enough to see that something happens, seldom enough for a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// How often the time of phases goes on.
const TICK: Duration = Duration::from_millis(250);

/// The longest line of a child process that is passed on whole.
const LINE_BYTES: usize = 64 << 10;

/// Columns of a terminal that does not tell them.
const COLUMNS: u16 = 80;
/// Columns from which on a bar has room for its message, and for the time that is left.
const COLUMNS_OF_MESSAGE: u16 = 72;
const COLUMNS_OF_ETA: u16 = 46;

/// Whether only errors are said: `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Why a line of data could not be written.
static UNWRITTEN: OnceLock<std::io::Error> = OnceLock::new();

/// Whether messages are events of the log.
static LOGGED: AtomicBool = AtomicBool::new(false);

/// The log's target of messages. A filter of levels must let it through.
pub const LOG_TARGET: &str = "veriplay::message";

/// From now on messages and progress are events of the log.
pub fn log_messages() {
    LOGGED.store(true, Ordering::Relaxed);
}

fn is_logged() -> bool {
    LOGGED.load(Ordering::Relaxed)
}

/// From now on only errors are said.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// A number of things in words: `1 attempt`, `2 attempts`, `2 queries`.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    match noun.strip_suffix('y') {
        _ if count == "1" => format!("1 {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// Writes one line to stderr, unless only errors are said.
pub fn say(line: impl Display) {
    if !is_quiet() {
        say_always(line);
    }
}

/// Writes one line to stderr. A closed stderr is not an error.
pub fn say_always(line: impl Display) {
    if is_logged() {
        return log_message(&line.to_string());
    }
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Says each of several failures, as the end of a command says one. The first gives the exit code.
pub fn report_failures(failures: &[Failure]) -> Result<(), Failure> {
    failures.iter().for_each(say_always);
    failures.first().map_or(Ok(()), |first| Err(Failure::silent(first.exit_code())))
}

/// The level is that of the word before the message.
fn log_message(line: &str) {
    let (line, hint) = line.split_once("\nhint: ").map_or((line, None), |(line, hint)| (line, Some(hint)));
    match line.split_once(": ") {
        Some(("error", rest)) => tracing::error!(target: LOG_TARGET, hint, "{rest}"),
        Some(("warning", rest)) => tracing::warn!(target: LOG_TARGET, hint, "{rest}"),
        _ => tracing::info!(target: LOG_TARGET, hint, "{line}"),
    }
}

/// Writes to stderr what a program wrote to its own, whatever `--quiet` says. No word of it decides on a level.
pub fn pass_on(text: &str) {
    if is_logged() {
        return tracing::info!(target: LOG_TARGET, stream = "stderr", "{text}");
    }
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Where a child process writes its errors: to stderr, or to [`pass_on_lines`] where the log is JSON.
pub fn child_stderr() -> Stdio {
    if is_logged() { Stdio::piped() } else { Stdio::inherit() }
}

/// Passes on each line that a child process writes, on a thread. The channel closes with the last.
pub fn pass_on_lines(stderr: ChildStderr) -> Receiver<()> {
    let (open, closed) = channel();
    std::thread::spawn(move || {
        for_each_line(BufReader::new(stderr), pass_on);
        drop::<Sender<()>>(open);
    });
    closed
}

/// Calls `see` with each line that has text. A carriage return ends a line too, as progress bars write it, and a long line comes in parts.
fn for_each_line(text: impl BufRead, mut see: impl FnMut(&str)) {
    let mut line = Vec::new();
    for byte in text.bytes().map_while(Result::ok) {
        let ends = matches!(byte, b'\n' | b'\r');
        if !ends {
            line.push(byte);
        }
        if (ends && !line.is_empty()) || line.len() == LINE_BYTES {
            see(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        see(&String::from_utf8_lossy(&line));
    }
}

/// Writes one line of data to stdout.
///
/// A closed pipe (`| head`) ends the output, not the work. Another error fails the command when its work is done, see [`check_written`].
pub fn data(line: impl Display) {
    data_exactly(format_args!("{line}\n"));
}

/// The same of data that is no line.
pub fn data_exactly(data: impl Display) {
    if let Err(error) = write!(std::io::stdout().lock(), "{data}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        // The first one is told.
        let _ = UNWRITTEN.set(error);
    }
}

/// Checks that all data so far has been written to stdout.
pub fn check_written() -> Result<(), Failure> {
    match UNWRITTEN.get() {
        None => Ok(()),
        Some(error) => {
            let failure = Failure::message(ExitCode::Input, format!("cannot write to standard output: {error}"));
            Err(failure.hint("what was printed is not complete; files that the command wrote are whole"))
        }
    }
}

/// Writes one line of data to stderr, where stdout has other data. It is no message, so that it is the same in every form of the log.
pub fn data_beside(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A bar that is drawn on a terminal. Elsewhere a thread prints a line every 30 seconds, until this is dropped; where the log is JSON, the
/// line is an event, and so are the beginning and the end.
pub struct Progress {
    bar: ProgressBar,
    /// Its end stops the thread.
    _lines: Option<Sender<()>>,
}

impl Progress {
    /// Removes the bar. One that finishes goes to its length; where it was `interrupted`, the log says how far it came.
    pub fn finish_unless(&self, interrupted: bool) {
        if is_logged() && interrupted { self.bar.abandon() } else { self.bar.finish_and_clear() }
    }
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if is_logged() {
            report(&Status::new(&self.bar, &mut Pace::default()));
        }
    }
}

/// Progress over `length` steps, 0 where nobody knows their number; `what` names them.
pub fn bar(length: u64, what: &'static str) -> Progress {
    resumed_bar(length, what, 0)
}

/// Progress of which `done` steps were made before: they say nothing of the pace.
pub fn resumed_bar(length: u64, what: &'static str, done: u64) -> Progress {
    let terminal = std::io::stderr().is_terminal() && !is_quiet() && !is_logged();
    let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    // A bar that ends goes to its length.
    let bar = ProgressBar::with_draw_target((length > 0).then_some(length), target).with_position(done);
    bar.reset_eta();
    let style = ProgressStyle::with_template(&template(columns())).expect("the template is valid");
    bar.set_style(style.progress_chars("=> ").with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&rate(state.per_sec()));
    }));
    bar.set_prefix(what);
    if is_logged() && !is_quiet() {
        tracing::info!(target: LOG_TARGET, phase = what, total = bar.length(), "{what}: begins");
    }
    let lines = (!terminal).then(|| print_lines(bar.clone(), LINE_EVERY, |status| report(&status)));
    Progress { bar, _lines: lines }
}

/// Progress through phases of unknown length, which the message names: there is no bar, and the time alone goes on.
pub fn phases(what: &'static str) -> Progress {
    let phases = bar(0, what);
    let style = ProgressStyle::with_template("{prefix} {spinner} {elapsed} {wide_msg}").expect("the template is valid");
    phases.set_style(style);
    phases.enable_steady_tick(TICK);
    phases
}

/// The columns of the terminal of stderr.
fn columns() -> u16 {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    size.map(|size| size.ws_col).ok().filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

/// A bar that fits into so many columns. The message is cut off where it does not fit; of a narrow terminal it is dropped, and then the time
/// that is left.
fn template(columns: u16) -> String {
    match columns {
        COLUMNS_OF_MESSAGE.. => {
            format!("{{prefix}} [{{bar:{}}}] {{pos}}/{{len}} {{rate}} eta {{eta}} {{wide_msg}}", columns / 4)
        }
        COLUMNS_OF_ETA.. => "{prefix} [{wide_bar}] {pos}/{len} {rate} eta {eta}".to_owned(),
        _ => "{prefix} [{wide_bar}] {pos}/{len} {rate}".to_owned(),
    }
}

/// A pace in steps a second, or in the time of a step where that is several seconds.
fn rate(per_second: f64) -> String {
    if per_second.is_nan() || per_second <= 0.0 {
        return "-/s".to_owned();
    }
    match per_second.recip() {
        seconds if seconds < 2.0 => format!("{per_second:.1}/s"),
        seconds if seconds < 120.0 => format!("{seconds:.0} s/step"),
        seconds => format!("{:.0} min/step", seconds / 60.0),
    }
}

/// Prints the state of `bar` every `every`, until it is finished or the sender is dropped.
fn print_lines(bar: ProgressBar, every: Duration, print: impl Fn(Status) + Send + 'static) -> Sender<()> {
    let (sender, dropped) = channel();
    std::thread::spawn(move || {
        let mut pace = Pace { first: bar.position(), ..Pace::default() };
        while dropped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) && !bar.is_finished() {
            print(Status::new(&bar, &mut pace));
        }
    });
    sender
}

/// The pace of the last lines. The bar's own estimate follows the last seconds, and a step may take a minute.
#[derive(Default)]
struct Pace {
    first: u64,
    seen: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// Lines that count.
    const LINES: usize = 10;

    /// The time that `left` more steps take; `None` before the first is done.
    fn estimate(&mut self, elapsed: Duration, position: u64, left: u64) -> Option<Duration> {
        let (since, first) = self.seen.front().copied().unwrap_or((Duration::ZERO, self.first));
        self.seen.push_back((elapsed, position));
        if self.seen.len() > Self::LINES {
            self.seen.pop_front();
        }
        let done = position.checked_sub(first).filter(|done| *done > 0)?;
        Some(elapsed.saturating_sub(since).mul_f64(left as f64 / done as f64))
    }
}

struct Status {
    phase: String,
    /// `None` where nothing is counted.
    done: Option<u64>,
    /// `None` where nobody knows.
    total: Option<u64>,
    elapsed: Duration,
    left: Option<Duration>,
    message: String,
}

impl Status {
    fn new(bar: &ProgressBar, pace: &mut Pace) -> Self {
        let (done, total, elapsed) = (bar.position(), bar.length(), bar.elapsed());
        let to_do = total.unwrap_or_default().saturating_sub(done);
        let left = pace.estimate(elapsed, done, to_do).filter(|_| to_do > 0);
        let counted = total.is_some() || done > 0;
        Self { phase: bar.prefix(), done: counted.then_some(done), total, elapsed, left, message: bar.message() }
    }
}

impl Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.phase)?;
        match (self.done, self.total) {
            (Some(done), Some(total)) => write!(f, "{done}/{total} ")?,
            (Some(done), None) => write!(f, "{done} ")?,
            (None, _) => {}
        }
        write!(f, "after {}", duration(self.elapsed))?;
        if let Some(left) = self.left {
            write!(f, ", {} left", duration(left))?;
        }
        if !self.message.is_empty() {
            write!(f, "; {}", self.message)?;
        }
        Ok(())
    }
}

/// A time in two units, so that lines half a minute apart differ in theirs.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Says how far a bar is: as a plain line, or as an event with the numbers as fields.
fn report(status: &Status) {
    if !is_logged() {
        return say(status);
    }
    if !is_quiet() {
        tracing::info!(
            target: LOG_TARGET,
            phase = status.phase.as_str(),
            done = status.done,
            total = status.total,
            elapsed_seconds = status.elapsed.as_secs(),
            left_seconds = status.left.map(|left| left.as_secs()),
            "{status}"
        );
    }
}

/// A path as one word of a shell's command, for commands that people copy.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use indicatif::{ProgressBar, ProgressDrawTarget};

    use super::{LINE_BYTES, Pace, Status, counted, duration, for_each_line, print_lines, rate, shell_word, template};

    #[test]
    fn a_path_is_quoted_where_a_shell_would_not_take_it_as_it_is() {
        let words = ["runs/quickstart-seed1", "my runs/a", "it's", "$HOME", ""].map(|path| shell_word(Path::new(path)));
        assert_eq!(words, ["runs/quickstart-seed1", "'my runs/a'", r"'it'\''s'", "'$HOME'", "''"]);
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "row")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!([1, 2].map(|count| counted(count, "forgery")), ["1 forgery", "2 forgeries"]);
        assert_eq!(counted(2, "day"), "2 days");
    }

    #[test]
    fn lines_of_a_child_end_at_a_carriage_return_too_and_are_bounded() {
        let long = "x".repeat(LINE_BYTES + 1);
        let text = format!("one\r\ntwo\r 10 %\r 20 %\n\n{long}");
        let mut seen = Vec::new();
        for_each_line(text.as_bytes(), |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["one", "two", " 10 %", " 20 %", &long[1..], "x"]);
    }

    #[test]
    fn a_slow_pace_is_the_time_of_a_step() {
        let rates = [33.3, 0.8, 0.25, 1.0 / 12.0, 1.0 / 600.0, 0.0, f64::NAN].map(rate);
        assert_eq!(rates, ["33.3/s", "0.8/s", "4 s/step", "12 s/step", "10 min/step", "-/s", "-/s"]);
    }

    #[test]
    fn lines_half_a_minute_apart_name_different_times() {
        let texts = [0, 59, 120, 150, 3_600, 90_000].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(texts, ["0 s", "59 s", "2 min 0 s", "2 min 30 s", "1 h 0 min", "25 h 0 min"]);
    }

    #[test]
    fn a_narrow_terminal_has_no_message_and_a_narrower_one_no_time_left() {
        let has = |columns, what| template(columns).contains(what);
        assert!(has(120, "{wide_msg}") && has(120, "{eta}") && has(72, "{wide_msg}"));
        assert!(!has(71, "msg") && has(71, "{eta}"));
        assert!(!has(40, "{eta}") && has(40, "{pos}/{len} {rate}"));
    }

    #[test]
    fn the_time_left_follows_the_pace_of_the_last_lines() {
        let mut pace = Pace::default();
        let mut after = |seconds, position| pace.estimate(Duration::from_secs(seconds), position, 100 - position);
        assert_eq!(after(30, 0), None);
        assert_eq!(after(60, 2), Some(Duration::from_secs(30 * 98 / 2)));
        // Ten lines later the slow start counts no more.
        let last = (1..=12).map(|n| after(60 + 30 * n, 2 + 4 * n)).last();
        assert_eq!(last.flatten(), Some(Duration::from_secs(300 * 50 / 40)));
        assert_eq!(after(500, 100), Some(Duration::ZERO));
        let mut resumed = Pace { first: 80, ..Pace::default() };
        assert_eq!(resumed.estimate(Duration::from_secs(30), 82, 18), Some(Duration::from_secs(270)));
    }

    fn hidden_bar(length: Option<u64>, prefix: &'static str, message: &'static str) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        bar.with_prefix(prefix).with_message(message).with_position(length.unwrap_or(0))
    }

    #[test]
    fn phases_have_a_time_and_neither_a_count_nor_a_time_left() {
        let bar = hidden_bar(None, "image", "compiling");
        let line = Status::new(&bar, &mut Pace::default()).to_string();
        assert!(line.starts_with("image: after ") && line.ends_with(" s; compiling"), "{line}");
    }

    #[test]
    fn without_a_terminal_progress_is_plain_lines_until_the_bar_is_dropped() {
        let bar = hidden_bar(Some(60), "self-play", "solved 0.50");
        let (printed, lines) = channel();
        let running = print_lines(bar, Duration::from_millis(1), move |status| {
            let _ = printed.send(status.to_string());
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
