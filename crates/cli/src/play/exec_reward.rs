//! `game.reward = "exec:COMMAND"`: rewards from a long-lived program of the user's, which reads a JSON line for each step and answers with
//! one. `docs/own-reward.md` describes the lines; the Python package has the program's side.
//!
//! The run keeps the rewards it got, so nothing is asked again when it is replayed. A resumed run starts the program anew and asks it for
//! the steps behind the checkpoint: one that answers from the line alone gives the same run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use veriplay_core::{Prompt, Reward, Role, Status};
use veriplay_selfplay::rewards::{EpisodeFacts, EpisodeResult, ProposalOutcome, RewardError, RewardScheme};

use crate::exit::{ExitCode, Failure, ResultExt};

/// Version of the lines.
const PROTOCOL: u32 = 1;
/// The longest answer in bytes.
const LONGEST: u64 = 256 << 20;
/// How long a program may take to end behind the end of its input.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most characters of a faulty answer that an error shows.
const SHOWN: usize = 200;

/// A line that the program reads.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Request<'a> {
    /// The first one, answered by `{"ready": true}`.
    Start { protocol: u32, game: &'a str },
    /// A step's episodes, answered by `{"rewards": […]}`, one for each in their order.
    Step { step: u64, episodes: Vec<EpisodeMessage<'a>> },
}

#[derive(Serialize)]
struct EpisodeMessage<'a> {
    role: Role,
    kind: &'a str,
    group: usize,
    #[serde(flatten)]
    result: ResultMessage,
    well_formed: bool,
    passed: Option<u32>,
    total: Option<u32>,
    fuel: Option<u64>,
    /// The rule that decided, where one did. Not the verdict's text: it is for people, and programs write into it.
    rule: Option<&'a str>,
    turns: Vec<TurnMessage<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultMessage {
    /// `outcome`, and `solve_rate` where it is solved.
    Proposal(ProposalOutcome),
    Response {
        status: Status,
    },
}

#[derive(Serialize)]
struct TurnMessage<'a> {
    prompt: &'a Prompt,
    response: &'a str,
    tokens: usize,
}

/// A line that the program writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Answer {
    Ready(bool),
    /// Each a number, numbers by name whose sum is the reward, or null.
    Rewards(Vec<Value>),
    Error(String),
}

/// The program.
pub(crate) struct ExecReward {
    command: String,
    child: Mutex<RewardChild>,
}

struct RewardChild {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl ExecReward {
    /// Starts the command in the working directory, by `sh`, and waits until it is ready. What it writes to standard error is shown.
    pub(crate) fn start(command: &str, game: &str) -> Result<Self, Failure> {
        let hint = "it reads JSON lines and answers each with one: see docs/own-reward.md";
        let what = || format!("configuration key `game.reward`: `exec:{command}`");
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(what)
            .or_fail(ExitCode::Input)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.context("a program without standard output").or_fail(ExitCode::Bug)?;
        let child = Mutex::new(RewardChild { child, stdin, stdout: BufReader::new(stdout) });
        let reward = Self { command: command.to_owned(), child };
        match reward.ask(&Request::Start { protocol: PROTOCOL, game }) {
            Ok(Answer::Ready(true)) => Ok(reward),
            Ok(_) => {
                Err(Failure::message(ExitCode::Input, format!("{}: it did not answer `{{\"ready\": true}}`", what()))
                    .hint(hint))
            }
            Err(RewardError(why)) => Err(Failure::message(ExitCode::Input, why).hint(hint)),
        }
    }

    fn ask(&self, request: &Request<'_>) -> Result<Answer, RewardError> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.ask(request).map_err(|error| RewardError(format!("the reward `exec:{}` failed: {error:#}", self.command)))
    }
}

impl RewardChild {
    fn ask(&mut self, request: &Request<'_>) -> anyhow::Result<Answer> {
        let mut line = serde_json::to_vec(request).context("a request cannot be written as JSON")?;
        line.push(b'\n');
        let sent = self.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(&line).and_then(|()| stdin.flush()));
        let mut answer = Vec::new();
        let read = std::io::Read::take(&mut self.stdout, LONGEST).read_until(b'\n', &mut answer);
        if sent.is_err() || !matches!(read, Ok(1..)) {
            let ended = self.end().context("it cannot be waited for")?;
            anyhow::bail!("the program ended ({ended}) before it answered");
        }
        let shown = || String::from_utf8_lossy(&answer).trim().chars().take(SHOWN).collect::<String>();
        match serde_json::from_slice(&answer).with_context(|| format!("it answered `{}`", shown()))? {
            Answer::Error(why) => anyhow::bail!("{why}"),
            answer => Ok(answer),
        }
    }

    /// Closes its input, at whose end it ends by itself. A program that does not is killed.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for RewardChild {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = self.end();
    }
}

impl RewardScheme for ExecReward {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn proposer(&self, _: ProposalOutcome, _: bool) -> Option<Reward> {
        None
    }

    fn rewards(&self, step: u64, episodes: &[EpisodeFacts<'_>]) -> Result<Vec<Option<Reward>>, RewardError> {
        let messages = episodes.iter().map(EpisodeMessage::new).collect();
        let fail = |why: String| RewardError(format!("the reward `exec:{}` at step {step}: {why}", self.command));
        let Answer::Rewards(answers) = self.ask(&Request::Step { step, episodes: messages })? else {
            return Err(fail("it did not answer `{\"rewards\": […]}`".to_owned()));
        };
        if answers.len() != episodes.len() {
            return Err(fail(format!("it gave {} rewards for {} episodes", answers.len(), episodes.len())));
        }
        answers.iter().map(|answer| parse_reward(answer).map_err(&fail)).collect()
    }
}

/// The reward that an answer stands for.
fn parse_reward(answer: &Value) -> Result<Option<Reward>, String> {
    let score = |name: &str, value: &Value| {
        let score = value.as_f64().filter(|score| score.is_finite());
        score.map(|score| (name.to_owned(), score, 1.0)).ok_or_else(|| format!("`{value}` is no finite number"))
    };
    let parts = match answer {
        Value::Null => return Ok(None),
        Value::Object(parts) => parts.iter().map(|(name, value)| score(name, value)).collect::<Result<_, _>>()?,
        number => vec![score("exec", number)?],
    };
    Ok(Some(Reward { parts }))
}

impl<'a> EpisodeMessage<'a> {
    fn new(episode: &EpisodeFacts<'a>) -> Self {
        let turn = |(prompt, rollout): &'a (Prompt, veriplay_core::Rollout)| TurnMessage {
            prompt,
            response: &rollout.text,
            tokens: rollout.tokens.len(),
        };
        let verdict = episode.verdict;
        Self {
            role: episode.role,
            kind: episode.kind,
            group: episode.group,
            result: match episode.result {
                EpisodeResult::Proposal(outcome) => ResultMessage::Proposal(outcome),
                EpisodeResult::Response(status) => ResultMessage::Response { status },
            },
            well_formed: episode.well_formed,
            passed: verdict.map(|verdict| verdict.passed),
            total: verdict.map(|verdict| verdict.total),
            fuel: verdict.map(|verdict| verdict.evidence.fuel),
            rule: verdict.map(|verdict| verdict.evidence.rule.as_str()),
            turns: episode.turns.iter().map(turn).collect(),
        }
    }
}
