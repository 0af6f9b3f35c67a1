//! A plug-in's program: starts it, asks it, gives up on it, ends it. The only place that knows that it is a process.
//!
//! A thread of its own writes each line and reads its answer, so that neither a program that does not read nor one that does not write holds
//! the run for longer than it may. The program has a process group of its own: Ctrl-C in a terminal reaches the run alone, which then
//! finishes its step with the program's help.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde_json::{Map, Value};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::progress;
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::randomness::derive_seed;

use super::PluginContext;

/// Version of the lines.
const PROTOCOL: u32 = 1;
/// The longest answer in bytes.
const LONGEST: u64 = 256 << 20;
/// How long a program may take to end behind the end of its input.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most characters of a faulty answer that an error shows.
const SHOWN: usize = 200;
/// The largest reward or factor, so that no sum or product of them leaves the range of the learner's numbers.
const LARGEST: f64 = 1e6;
/// What an error of the first line advises.
const HINT: &str = "a plug-in reads JSON lines and answers each with one on standard output, which is for nothing else: see the page \"Plug-ins in Python, and your own trainer\" of the documentation";

/// A line that the program reads.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Request<'a, Q> {
    /// The first one, answered by `{"ready": true}`.
    Start { protocol: u32, plugin: &'a str, game: &'a str },
    /// A step's question, answered by a list under the name that the plug-in's kind has for it.
    Step {
        step: u64,
        seed: u64,
        #[serde(flatten)]
        question: &'a Q,
    },
}

pub(super) struct Plugin {
    /// The key of `[game]` that names it.
    key: &'static str,
    command: String,
    context: PluginContext,
    child: Mutex<PluginChild>,
}

impl Plugin {
    /// Starts the command in the working directory, by `sh`, and waits until it is ready. What it writes to standard error is shown.
    pub(super) fn start(key: &'static str, command: &str, context: PluginContext) -> Result<Self, Failure> {
        let what = || format!("configuration key `game.{key}`: `exec:{command}`");
        let child = PluginChild::spawn(command).with_context(what).or_fail(ExitCode::Input)?;
        let plugin = Self { key, command: command.to_owned(), context, child: Mutex::new(child) };
        let start: Request<'_, ()> = Request::Start { protocol: PROTOCOL, plugin: key, game: context.game };
        let why = match plugin.ask(&start, None, "ready") {
            Ok(Value::Bool(true)) => return Ok(plugin),
            Ok(other) => format!("it is not ready: it answered `{}`", shorten(&other)),
            Err(why) => why,
        };
        Err(Failure::message(ExitCode::Input, format!("{}: {why}", what())).hint(HINT))
    }

    /// The answer to the question of a step: a list with one item for each of `count` things asked about, under `name`. `parse` reads an
    /// item.
    pub(super) fn ask_step<T>(
        &self,
        step: u64,
        question: &impl Serialize,
        (name, count): (&str, usize),
        parse: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Vec<T>, ExternalError> {
        let seed = derive_seed(self.context.seed, step, &format!("plug-in {}", self.key));
        let request = Request::Step { step, seed, question };
        let read = |answer: Value| {
            let Value::Array(items) = answer else {
                return Err(format!("`{name}` is no list: `{}`", shorten(&answer)));
            };
            if items.len() != count {
                return Err(format!("it gave {} {name}, and was asked for {count}", items.len()));
            }
            let at = |place: usize, why: String| format!("item {place} of `{name}`: {why}");
            items.iter().enumerate().map(|(place, item)| parse(item).map_err(|why| at(place, why))).collect()
        };
        self.ask(&request, Some(step), name).and_then(read).map_err(|why| self.error(step, &why))
    }

    pub(super) fn error(&self, step: u64, why: &str) -> ExternalError {
        ExternalError(format!("the plug-in `exec:{}` of `game.{}` at step {step}: {why}", self.command, self.key))
    }

    /// The content of an answer, under the name it has to have; the answer to a step's question names the step.
    fn ask(&self, request: &Request<'_, impl Serialize>, step: Option<u64>, name: &str) -> Result<Value, String> {
        let mut line = serde_json::to_vec(request).map_err(|error| format!("the question is no JSON: {error}"))?;
        line.push(b'\n');
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = child.exchange(line, self.context.timeout)?;
        read_answer(&answer, step, name)
    }
}

/// What an answer has under `name`. It has nothing else but the step that it answers: a program that has written a line too many or too few
/// would else answer for other things than it is asked about, from then on and unnoticed.
fn read_answer(answer: &[u8], step: Option<u64>, name: &str) -> Result<Value, String> {
    let mut fields: Map<String, Value> =
        serde_json::from_slice(answer).map_err(|error| format!("it answered `{}`: {error}", show(answer)))?;
    if let Some(Value::String(why)) = fields.get("error") {
        return Err(why.clone());
    }
    let (answered, content) = (step.and_then(|_| fields.remove("step")), fields.remove(name));
    let content = content.filter(|_| fields.is_empty() && answered.is_some() == step.is_some()).ok_or_else(|| {
        let keys = if step.is_some() { format!("the keys `step` and `{name}`") } else { format!("the key `{name}`") };
        format!("it answered `{}`, which is no object with {keys} alone", show(answer))
    })?;
    match (step, answered) {
        (Some(step), Some(answered)) if answered.as_u64() != Some(step) => {
            let answered = shorten(&answered);
            Err(format!("it answered the question of step `{answered}`: has it written a line too many, or too few?"))
        }
        _ => Ok(content),
    }
}

/// The beginning of an answer.
fn show(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).trim().chars().take(SHOWN).collect()
}

pub(super) fn shorten(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

fn read_finite(value: &Value) -> Result<f64, String> {
    let number = value.as_f64().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{}` is no finite number", shorten(value)))
}

/// A reward, or a part of one.
pub(super) fn read_reward_number(value: &Value) -> Result<f64, String> {
    match read_finite(value)? {
        number if number.abs() > LARGEST => Err(format!("`{number}` is not from -{LARGEST} to {LARGEST}")),
        number => Ok(number),
    }
}

pub(super) fn read_weight(value: &Value) -> Result<f64, String> {
    match read_finite(value)? {
        number if number < 0.0 => Err(format!("`{number}` is negative")),
        number => Ok(number),
    }
}

pub(super) fn read_factor(value: &Value) -> Result<f64, String> {
    read_weight(value).and_then(|_| read_reward_number(value))
}

/// The process, and the thread that speaks with it.
struct PluginChild {
    child: Child,
    /// Lines for the program; its input ends with this end.
    lines: Option<Sender<Vec<u8>>>,
    /// Its answer to each.
    answers: Receiver<Answer>,
    /// Closes when all that it wrote to its stderr is passed on; `None` where it writes to this process's.
    errors: Option<Receiver<()>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// A line, with its end.
    Line(Vec<u8>),
    /// The program has closed its output, or cannot be written to; it had written this much of a line.
    Ended(Vec<u8>),
    /// No end of the line within [`LONGEST`].
    TooLong,
}

impl PluginChild {
    fn spawn(command: &str) -> anyhow::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(progress::child_stderr())
            .process_group(0)
            .spawn()?;
        let errors = child.stderr.take().map(progress::pass_on_lines);
        let stdin = child.stdin.take().context("a program without standard input")?;
        let stdout = child.stdout.take().context("a program without standard output")?;
        let ((lines, to_write), (read, answers)) = (channel(), channel());
        std::thread::Builder::new()
            .name("plug-in".to_owned())
            .spawn(move || speak(stdin, BufReader::new(stdout), &to_write, &read))?;
        Ok(Self { child, lines: Some(lines), answers, errors })
    }

    fn exchange(&mut self, line: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, String> {
        let sent = self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok());
        let answer = if sent { self.answers.recv_timeout(timeout) } else { Err(RecvTimeoutError::Disconnected) };
        let why = match answer {
            Ok(Answer::Line(answer)) => return Ok(answer),
            Ok(Answer::Ended(rest)) if !rest.is_empty() => format!(" in its answer `{}`", show(&rest)),
            Ok(Answer::Ended(_)) | Err(RecvTimeoutError::Disconnected) => " before it answered".to_owned(),
            Ok(Answer::TooLong) => {
                let ended = self.kill().map_err(unwaited)?;
                return Err(format!("its answer is longer than {LONGEST} bytes; it was ended ({ended})"));
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill().map_err(unwaited)?;
                let why = "and was ended; `exec_timeout_s` sets the limit";
                return Err(format!("it did not answer within {} s, {why}", timeout.as_secs()));
            }
        };
        let ended = self.end().map_err(unwaited)?;
        Err(format!("the program ended ({ended}){why}"))
    }

    /// Closes its input, at whose end it ends by itself. A program that does not is killed.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        drop(self.lines.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill()
    }

    /// Kills it with all that it started, which may hold its pipes.
    fn kill(&mut self) -> std::io::Result<ExitStatus> {
        drop(self.lines.take());
        // Where the whole group is gone already, there is nothing to kill.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for PluginChild {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = self.end();
        // What it wrote last may say why it ended. A process that it left behind may keep its stderr open.
        let _ = self.errors.take().map(|errors| errors.recv_timeout(PATIENCE));
    }
}

fn unwaited(error: std::io::Error) -> String {
    format!("the program cannot be ended: {error}")
}

/// Writes each line to the program and reads its answer, until there are no more lines or the program has ended.
fn speak(
    mut stdin: ChildStdin,
    mut stdout: BufReader<ChildStdout>,
    lines: &Receiver<Vec<u8>>,
    answers: &Sender<Answer>,
) {
    for line in lines {
        let sent = stdin.write_all(&line).and_then(|()| stdin.flush());
        let answer = if sent.is_ok() { read_line(&mut stdout, LONGEST) } else { Answer::Ended(Vec::new()) };
        let is_last = !matches!(answer, Answer::Line(_));
        if answers.send(answer).is_err() || is_last {
            return;
        }
    }
}

/// Reads a line of at most `longest` bytes.
fn read_line(stdout: &mut impl BufRead, longest: u64) -> Answer {
    let mut line = Vec::new();
    let read = stdout.take(longest).read_until(b'\n', &mut line);
    match read {
        Ok(_) if line.ends_with(b"\n") => Answer::Line(line),
        Ok(count) if count as u64 == longest => Answer::TooLong,
        _ => Answer::Ended(line),
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, read_answer, read_factor, read_line, read_reward_number, read_weight};

    #[test]
    fn an_answer_has_the_step_and_what_is_asked_for_and_nothing_else() {
        let read = |line: &str, step| read_answer(line.as_bytes(), step, "weights").map(|list| list.to_string());
        assert_eq!(read("{\"step\": 3, \"weights\": [1]}\n", Some(3)), Ok("[1]".to_owned()));
        assert_eq!(read("{\"weights\": [1]}\n", None), Ok("[1]".to_owned()));
        let others = "no object with the keys `step` and `weights` alone";
        for (line, said) in [
            ("hello", "it answered `hello`"),
            ("[1]", "it answered `[1]`"),
            ("{}", others),
            ("{\"weights\": [1]}", others),
            ("{\"step\": 3, \"rewards\": [1]}", others),
            ("{\"step\": 3, \"weights\": [1], \"more\": 1}", others),
            ("{\"step\": 3, \"error\": 5}", others),
            ("{\"step\": 2, \"weights\": [1]}", "it answered the question of step `2`"),
            ("{\"step\": \"3\", \"weights\": [1]}", "it answered the question of step `\"3\"`"),
            ("{\"error\": \"out of luck\"}", "out of luck"),
        ] {
            let error = read(line, Some(3)).expect_err(line);
            assert!(error.contains(said), "{error}");
        }
        read("{\"step\": 3, \"weights\": [1]}", None).expect_err("there is no step yet");
    }

    #[test]
    fn numbers_are_finite_and_of_a_size_that_can_be_learned_from() {
        let read = |text: &str| {
            let value = serde_json::from_str(text).expect("it is JSON");
            [read_weight(&value), read_factor(&value), read_reward_number(&value)].map(Result::ok)
        };
        for (text, number) in [("0", 0.0), ("2.5", 2.5), ("-0.0", 0.0), ("1e6", 1e6)] {
            assert_eq!(read(text), [Some(number); 3], "{text}");
        }
        // A weight has no sum; the product of a factor with a reward has to be finite.
        assert_eq!(read("1e300"), [Some(1e300), None, None]);
        assert_eq!((read("-1e6"), read("-1e7")), ([None, None, Some(-1e6)], [None; 3]));
        for wrong in ["1e999", "-1e999", "null", "\"1\"", "true", "[1]"] {
            assert_eq!(read(wrong), [None; 3], "{wrong}");
        }
    }

    #[test]
    fn a_line_is_whole_and_not_too_long() {
        let read = |mut text: &[u8]| read_line(&mut text, 4);
        assert_eq!(read(b"one\ntwo\n"), Answer::Line(b"one\n".to_vec()));
        assert_eq!(read(b"on"), Answer::Ended(b"on".to_vec()));
        assert_eq!(read(b""), Answer::Ended(Vec::new()));
        assert_eq!(read(b"four\n"), Answer::TooLong);
    }
}
