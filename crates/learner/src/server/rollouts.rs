//! Rollouts by a server that follows a learner: vLLM with the learner's adapters, or SGLang with its weights.
//!
//! Called by the learner, in place of its own decoding loops. Before the first sample of a version of the weights, these are saved to a
//! folder that the server can read, and the server loads them: [`ServerProtocol`] says by which request. Prompts go as token ids, so that
//! a rollout has the tokens that are trained on, whatever template the server would apply.
//!
//! Invariant: a rollout is of the version that the learner has now. Every version is handed over under a name that no other has, servers
//! repeat the name in their answers (vLLM as the model, SGLang as `weight_version`), and another name is refused. A server that has
//! lost what it was given, as after a restart, is given it again, once a call.
//!
//! A server computes in other kernels and perhaps in another precision than the learner. Its log-probabilities are the behaviour policy's,
//! by which a loss such as `cispo` corrects.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use veriplay_core::{FinishReason, PolicyVersion, Sampling};

use super::requests::{Retries, request_samples, run_each};
use super::sglang;
use super::transport::{Client, ServerUrl, quote_name};
use super::wire::{self, Answer, Completion, WirePrompt};
use super::{ServerError, ServerOptions};
use crate::checkpoint::CheckpointError;
use crate::decoding::{Continuation, QueuedPrompt, StopReason, TokenSampler};

/// How a server is asked for samples, and given weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerProtocol {
    /// vLLM: `/v1/completions`, and adapters by `/v1/load_lora_adapter`. The server must allow that
    /// (`--enable-lora`, `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`).
    Vllm,
    /// SGLang: `/generate`, and whole weights by `/update_weights_from_disk`.
    Sglang,
}

impl ServerProtocol {
    /// Whether it takes adapters, and not whole weights.
    pub const fn takes_adapters(self) -> bool {
        matches!(self, Self::Vllm)
    }
}

impl fmt::Display for ServerProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
        })
    }
}

const LOAD_ADAPTER: &str = "v1/load_lora_adapter";

#[derive(Debug)]
struct Loaded {
    version: PolicyVersion,
    name: String,
    folder: PathBuf,
}

/// Samples for a learner, from its newest weights.
#[derive(Debug)]
pub struct RolloutServer {
    client: Client,
    protocol: ServerProtocol,
    options: ServerOptions,
    /// Where weights lie until the server has the next ones. Its name is new each time, and is part of theirs.
    folder: TempDir,
    loaded: Mutex<Option<Loaded>>,
    /// How often weights were handed over: part of their names, so that none is used twice.
    hand_overs: AtomicU64,
}

impl RolloutServer {
    /// For the server at `url`, which reads `folder` by the same path as this process. Sends no request yet.
    pub fn open(
        url: &str,
        protocol: ServerProtocol,
        folder: &Path,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        let at = ServerUrl::parse(url).map_err(|problem| ServerError::Url { url: quote_name(url), problem })?;
        let make = || {
            std::fs::create_dir_all(folder)?;
            let folder = folder.canonicalize()?;
            let folder = tempfile::Builder::new().prefix("veriplay-").tempdir_in(folder)?;
            open_to_others(folder.path())?;
            Ok(folder)
        };
        let folder = make().map_err(|error: std::io::Error| {
            ServerError::HandOver(format!("no folder can be made in `{}`: {error}", folder.display()))
        })?;
        Ok(Self {
            client: Client::new(&at, &options),
            protocol,
            options,
            folder,
            loaded: Mutex::new(None),
            hand_overs: AtomicU64::new(0),
        })
    }

    /// How it is asked.
    pub const fn protocol(&self) -> ServerProtocol {
        self.protocol
    }

    /// The continuations of every queued prompt, in order, from the weights that `save` writes into a folder.
    pub(crate) fn continuations(
        &self,
        queued: &[QueuedPrompt<'_>],
        vocabulary: usize,
        version: PolicyVersion,
        save: impl Fn(&Path) -> Result<(), CheckpointError>,
    ) -> Result<Vec<Vec<Continuation>>, ServerError> {
        let mut groups: Vec<Option<Vec<Continuation>>> = vec![None; queued.len()];
        let mut may_have_restarted = true;
        loop {
            let name = self.hand_over(version, &save)?;
            let missing: Vec<usize> = (0..queued.len()).filter(|index| groups[*index].is_none()).collect();
            let work = |place: usize| self.sample(missing[place], &queued[missing[place]], vocabulary, &name);
            let results = run_each(missing.len(), self.options.concurrency, work);
            let mut fault = None;
            for (index, result) in missing.into_iter().zip(results) {
                match result {
                    Some(Ok(group)) => groups[index] = Some(group),
                    Some(Err(error)) => fault = fault.or(Some(error)),
                    None => {}
                }
            }
            match fault {
                None => return Ok(groups.into_iter().flatten().collect()),
                Some(fault) if may_have_restarted && fault.tells_of_lost_weights() => {
                    tracing::warn!(%fault, "the server has lost the weights: handing them over again");
                    may_have_restarted = false;
                    self.forget();
                }
                Some(fault) => return Err(fault),
            }
        }
    }

    /// Hands the weights over again before the next sample: they have changed and have the version that they had.
    pub(crate) fn forget(&self) {
        if let Some(loaded) = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.drop_weights(&loaded);
        }
    }

    /// Gives the server the weights of a version, unless it has them. Returns their name.
    fn hand_over(
        &self,
        version: PolicyVersion,
        save: impl Fn(&Path) -> Result<(), CheckpointError>,
    ) -> Result<String, ServerError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.version == version) {
            return Ok(loaded.name.clone());
        }
        // Relaxed: it orders nothing but itself.
        let label = format!("v{}-{}", version.0, self.hand_overs.fetch_add(1, Ordering::Relaxed));
        let run = self.folder.path().file_name().unwrap_or_default().to_string_lossy();
        let (name, folder) = (format!("{run}-{label}"), self.folder.path().join(label));
        if !self.protocol.takes_adapters()
            && let Some(old) = loaded.take()
        {
            // The server has them in its own memory, and two copies of large weights may not fit.
            self.drop_weights(&old);
        }
        save(&folder).map_err(|error| ServerError::HandOver(error.to_string()))?;
        self.load(&name, &folder)?;
        if let Some(old) = loaded.replace(Loaded { version, name: name.clone(), folder }) {
            self.drop_weights(&old);
        }
        Ok(name)
    }

    fn load(&self, name: &str, folder: &Path) -> Result<(), ServerError> {
        let (path, body) = match self.protocol {
            ServerProtocol::Vllm => (LOAD_ADAPTER, json!({"lora_name": name, "lora_path": folder})),
            // Nothing of ours is under way, but perhaps what a killed process has asked for.
            ServerProtocol::Sglang => (
                "update_weights_from_disk",
                json!({"model_path": folder, "weight_version": name, "abort_all_requests": true}),
            ),
        };
        let mut retries = Retries::new(&self.options, 0, 0);
        loop {
            let fault = match self.client.post(path, &body) {
                Ok(answer) => return check_loaded(path, &answer),
                Err(fault) if self.is_loaded(&fault, name) => return Ok(()),
                Err(fault) => fault,
            };
            // vLLM answers 500 where the adapter is none that it can take.
            let is_refused = matches!(fault, ServerError::Status { status: 500, .. });
            if is_refused || !fault.is_transient() {
                return Err(refused(path, &fault));
            }
            retries.wait(0, fault).map_err(|error| match error {
                ServerError::Prompt { attempts, cause, .. } => {
                    ServerError::HandOver(format!("`/{path}` after {attempts} attempts: {cause}"))
                }
                other => other,
            })?;
        }
    }

    /// Whether the server has taken the weights, and its answer was lost: their name is of these alone.
    fn is_loaded(&self, fault: &ServerError, name: &str) -> bool {
        let ServerError::Status { status: 400, message, .. } = fault else { return false };
        self.protocol.takes_adapters() && message.contains("already been loaded") && message.contains(name)
    }

    /// Frees what the server and the folder hold of weights that have been replaced. What fails here costs memory and no sample.
    fn drop_weights(&self, old: &Loaded) {
        if self.protocol.takes_adapters()
            && let Err(fault) = self.client.post("v1/unload_lora_adapter", &json!({"lora_name": old.name}))
        {
            tracing::warn!(adapter = old.name, %fault, "the server keeps an adapter that is not used any more");
        }
        if let Err(error) = std::fs::remove_dir_all(&old.folder) {
            tracing::warn!(folder = %old.folder.display(), %error, "cannot remove weights that are not used any more");
        }
    }

    fn sample(
        &self,
        index: usize,
        queued: &QueuedPrompt<'_>,
        vocabulary: usize,
        name: &str,
    ) -> Result<Vec<Continuation>, ServerError> {
        let stop = queued.stops.map(|stops| stops.texts.to_vec()).unwrap_or_default();
        let TokenSampler { temperature, top_k, top_p, min_p } = queued.sampler;
        let sampling = Sampling { temperature, top_k, top_p, min_p, stop, ..Sampling::new(queued.max_tokens) };
        let seeds = (queued.seed, queued.stream);
        let completions = request_samples(&self.options, seeds, queued.samples, temperature, |missing, _| {
            let Answer { weights, completions } = self.exchange(queued, &sampling, name, missing)?;
            match weights {
                Some(found) if found == name => Ok(completions),
                found => {
                    let found = found.unwrap_or_else(|| "weights without a name".to_owned());
                    Err(ServerError::OtherWeights { found, wanted: name.to_owned() })
                }
            }
        })?;
        let continuation = |completion| continuation(completion, queued, vocabulary);
        completions.into_iter().map(continuation).collect::<Result<_, _>>().map_err(|cause| ServerError::Prompt {
            index,
            attempts: 1,
            cause: Box::new(cause),
        })
    }

    fn exchange(
        &self,
        queued: &QueuedPrompt<'_>,
        sampling: &Sampling,
        name: &str,
        n: usize,
    ) -> Result<Answer, ServerError> {
        match self.protocol {
            ServerProtocol::Vllm => {
                // Servers do not repeat their samples, and draw slower with seeds.
                let prompt = WirePrompt::Tokens(queued.prompt);
                let (path, mut body) = wire::completion_request(name, prompt, n, true, sampling);
                // In place of the server's own end tokens; vLLM's words.
                body["stop_token_ids"] = json!(queued.end_tokens);
                body["ignore_eos"] = json!(true);
                wire::parse_response(&self.client.post(path, &body)?, n, queued.max_tokens)
            }
            ServerProtocol::Sglang => {
                let body = sglang::generate_request(queued.prompt, queued.end_tokens, n, sampling);
                sglang::parse_response(&self.client.post(sglang::PATH, &body)?, n, queued.max_tokens)
            }
        }
    }
}

/// The failure of a hand-over that the server has refused.
fn refused(path: &str, fault: &ServerError) -> ServerError {
    let is_absent = path == LOAD_ADAPTER && matches!(fault, ServerError::Status { status: 404, .. });
    let hint = if is_absent {
        "; start vLLM with `--enable-lora`, and with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True in its environment"
    } else {
        ""
    };
    ServerError::HandOver(format!("`/{path}`: {fault}{hint}"))
}

/// Lets a server of another user read what is in the folder.
fn open_to_others(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

/// Refuses an answer with status 200 that says no.
fn check_loaded(path: &str, answer: &[u8]) -> Result<(), ServerError> {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    match answer["success"].as_bool() {
        Some(false) => Err(ServerError::HandOver(format!("`/{path}`: {}", answer["message"]))),
        _ => Ok(()),
    }
}

/// A completion as our own decoding loops would have returned it.
fn continuation(
    completion: Completion,
    queued: &QueuedPrompt<'_>,
    vocabulary: usize,
) -> Result<Continuation, ServerError> {
    let wrong = |what: String| Err(ServerError::Shape(what));
    let tokens = completion.tokens.unwrap_or_default();
    let Some(&last) = tokens.last() else {
        return wrong("a sample has no token ids: the server must report them (vLLM does since 0.10.2)".to_owned());
    };
    if let Some(token) = tokens.iter().find(|&&token| token as usize >= vocabulary) {
        return wrong(format!(
            "token `{token}`, and the learner's vocabulary has {vocabulary}: it serves another model"
        ));
    }
    let is_end = |token: &u32| queued.end_tokens.contains(token);
    if let Some(token) = tokens[..tokens.len() - 1].iter().find(|token| is_end(token)) {
        return wrong(format!("a sample goes on behind the end token `{token}`"));
    }
    // At other temperatures, servers differ in whether theirs are taken before or after scaling.
    let drawn = queued.sampler.temperature == 1.0;
    let logprobs = completion.logprobs.filter(|_| drawn).unwrap_or_default();
    if drawn && logprobs.is_empty() {
        return wrong("a sample has no log-probabilities: the server must report them".to_owned());
    }
    let stop = queued.stops.and_then(|stops| stops.find_in(&tokens));
    let end = match (stop, completion.finish) {
        _ if is_end(&last) => StopReason::Token(last),
        (Some(stop), _) => StopReason::Stop(stop),
        (None, FinishReason::Length) => StopReason::Length,
        (None, FinishReason::Stop) => {
            let ends = queued.end_tokens;
            return wrong(format!(
                "a sample ended by itself behind token `{last}`, and the checkpoint's end tokens are {ends:?}: \
                 the server must end samples as generation_config.json says, and report the token"
            ));
        }
    };
    Ok(Continuation { tokens, logprobs, end })
}
