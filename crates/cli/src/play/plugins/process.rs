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
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::randomness::derive_seed;

use super::PluginContext;
use crate::exit::{ExitCode, Failure, ResultExt};

/// Version of the lines.
const PROTOCOL: u32 = 1;
/// The longest answer in bytes.
const LONGEST: u64 = 256 << 20;
/// How long a program may take to end behind the end of its input.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most characters of a faulty answer that an error shows.
const SHOWN: usize = 200;
/// What every error of the lines advises.
const HINT: &str = "a plug-in reads JSON lines and answers each with one: see docs/plugins.md";

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

/// A plug-in whose program runs.
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
        let why = match plugin.ask(&start, "ready") {
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
        self.ask(&request, name).and_then(read).map_err(|why| self.error(step, &why))
    }

    /// An error about an answer.
    pub(super) fn error(&self, step: u64, why: &str) -> ExternalError {
        ExternalError(format!("the plug-in `exec:{}` of `game.{}` at step {step}: {why}", self.command, self.key))
    }

    /// The content of an answer, under the name it has to have.
    fn ask(&self, request: &Request<'_, impl Serialize>, name: &str) -> Result<Value, String> {
        let mut line = serde_json::to_vec(request).map_err(|error| format!("the question is no JSON: {error}"))?;
        line.push(b'\n');
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = child.exchange(line, self.context.timeout)?;
        read_answer(&answer, name)
    }
}

/// What an answer has under `name`, which it has alone.
fn read_answer(answer: &[u8], name: &str) -> Result<Value, String> {
    let shown = || String::from_utf8_lossy(answer).trim().chars().take(SHOWN).collect::<String>();
    let fields: Map<String, Value> =
        serde_json::from_slice(answer).map_err(|error| format!("it answered `{}`: {error}", shown()))?;
    let mut fields = fields.into_iter();
    match (fields.next(), fields.next()) {
        (Some((key, content)), None) if key == name => Ok(content),
        (Some((key, Value::String(why))), None) if key == "error" => Err(why),
        _ => Err(format!("it answered `{}`, which is no object with the key `{name}` alone", shown())),
    }
}

/// The beginning of a value.
pub(super) fn shorten(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

/// A finite number.
pub(super) fn read_number(value: &Value) -> Result<f64, String> {
    let number = value.as_f64().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("`{}` is no finite number", shorten(value)))
}

/// A finite number that is not negative.
pub(super) fn read_weight(value: &Value) -> Result<f64, String> {
    match read_number(value)? {
        number if number < 0.0 => Err(format!("`{number}` is negative")),
        number => Ok(number),
    }
}

/// The process, and the thread that speaks with it.
struct PluginChild {
    child: Child,
    /// Lines for the program; its input ends with this end.
    lines: Option<Sender<Vec<u8>>>,
    /// Its answer to each; `None` where it has ended.
    answers: Receiver<Option<Vec<u8>>>,
}

impl PluginChild {
    fn spawn(command: &str) -> anyhow::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let stdin = child.stdin.take().context("a program without standard input")?;
        let stdout = child.stdout.take().context("a program without standard output")?;
        let ((lines, to_write), (read, answers)) = (channel(), channel());
        std::thread::Builder::new()
            .name("plug-in".to_owned())
            .spawn(move || speak(stdin, BufReader::new(stdout), &to_write, &read))?;
        Ok(Self { child, lines: Some(lines), answers })
    }

    fn exchange(&mut self, line: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, String> {
        let sent = self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok());
        let answer = if sent { self.answers.recv_timeout(timeout) } else { Ok(None) };
        match answer {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                let ended = self.end().map_err(|error| format!("it cannot be waited for: {error}"))?;
                Err(format!("the program ended ({ended}) before it answered"))
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill().map_err(|error| format!("it cannot be ended: {error}"))?;
                let seconds = timeout.as_secs();
                Err(format!("it did not answer within {seconds} s, and was ended; `exec_timeout_s` sets the limit"))
            }
        }
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
    }
}

/// Writes each line to the program and reads its answer, until there are no more lines or the program has ended.
fn speak(
    mut stdin: ChildStdin,
    mut stdout: BufReader<ChildStdout>,
    lines: &Receiver<Vec<u8>>,
    answers: &Sender<Option<Vec<u8>>>,
) {
    for line in lines {
        let sent = stdin.write_all(&line).and_then(|()| stdin.flush());
        let mut answer = Vec::new();
        let read = (&mut stdout).take(LONGEST).read_until(b'\n', &mut answer);
        let whole = sent.is_ok() && matches!(read, Ok(1..));
        if answers.send(whole.then_some(answer)).is_err() || !whole {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{read_answer, read_weight};

    #[test]
    fn an_answer_has_one_key_which_is_the_one_that_is_asked_for() {
        assert_eq!(read_answer(b"{\"weights\": [1]}\n", "weights").map(|list| list.to_string()), Ok("[1]".to_owned()));
        let refused = [
            ("hello", "it answered `hello`"),
            ("[1]", "it answered `[1]`"),
            ("{}", "no object with the key `weights` alone"),
            ("{\"rewards\": [1]}", "no object with the key `weights` alone"),
            ("{\"weights\": [1], \"more\": 1}", "no object with the key `weights` alone"),
            ("{\"error\": \"out of luck\"}", "out of luck"),
            ("{\"error\": 5}", "no object with the key `weights` alone"),
        ];
        for (line, said) in refused {
            let error = read_answer(line.as_bytes(), "weights").expect_err(line);
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_weight_is_finite_and_not_negative() {
        let read = |text: &str| read_weight(&serde_json::from_str(text).expect("it is JSON"));
        assert_eq!([read("0"), read("2.5"), read("-0.0")], [Ok(0.0), Ok(2.5), Ok(0.0)]);
        for wrong in ["-1", "1e999", "null", "\"1\"", "true", "[1]"] {
            read(wrong).expect_err(wrong);
        }
    }
}
