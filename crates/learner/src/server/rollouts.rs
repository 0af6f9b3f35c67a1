//! Rollouts by a server that follows a learner: vLLM with the learner's adapters or its weights, or SGLang with its weights.
//!
//! Called by the learner, in place of its own decoding loops. Before the first sample of a version of the weights, these are saved to a
//! folder that the server can read, and the server loads them: [`ServerProtocol`] says by which request. Prompts go as token ids, so that
//! a rollout has the tokens that are trained on, whatever template the server would apply.
//!
//! Learners of several roles, each with adapters of its own, share a server: it has the adapters of each under a name of their own.
//!
//! Invariant: a rollout is of the version that the learner has now. Every version is handed over under a name that no other has. vLLM repeats the
//! name of adapters in its answers (as the model), and SGLang that of weights (as `weight_version`). vLLM's answers do not name its weights: it is
//! asked for their name before and after it samples, and samples in between count only where both are the name that was given. A server that has
//! lost what it was given, as after a restart, is given it again, once a call.
//!
//! A server computes in other kernels and perhaps in another precision than the learner. Its log-probabilities are the behaviour policy's,
//! by which a loss such as `cispo` corrects.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use veriplay_core::{FinishReason, PolicyVersion, Role, Sampling};

use super::requests::{Retries, request_samples, run_each};
use super::sglang;
use super::transport::{Client, ServerUrl, quote_name};
use super::wire::{self, Answer, Completion, WirePrompt, error_message, parse_json};
use super::{ServerError, ServerOptions};
use crate::checkpoint::CheckpointError;
use crate::decoding::{Continuation, QueuedPrompt, StopReason, TokenSampler};

/// How a server is asked for samples, and given weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerProtocol {
    /// vLLM: `/v1/completions`. Adapters by `/v1/load_lora_adapter`, which the server must allow (`--enable-lora`,
    /// `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`); whole weights by its development mode (`VLLM_SERVER_DEV_MODE=1`, and no `--enable-lora`).
    Vllm,
    /// SGLang: `/generate`, and whole weights by `/update_weights_from_disk`.
    Sglang,
}

impl ServerProtocol {
    /// Whether a learner that trains adapters hands them over as such; else it hands over whole weights.
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
// vLLM's development mode.
const CALL_WORKERS: &str = "collective_rpc";
const RESET_CACHE: &str = "reset_prefix_cache";
const SET_VERSION: &str = "update_weight_version";
const GET_VERSION: &str = "weight_info";
/// Level 1: the weights go to the machine's memory, and the cache is dropped.
const SLEEP: &str = "sleep?level=1";
const WAKE_UP: &str = "wake_up";
/// Answers 200 where the engine runs.
const HEALTH: &str = "health";

/// What a learner has now, and how it is saved.
pub(crate) struct CurrentWeights<'a> {
    pub(crate) version: PolicyVersion,
    /// Whose they are, where others have weights of their own.
    pub(crate) role: Option<Role>,
    /// Whether adapters are saved, and not whole weights.
    pub(crate) are_adapters: bool,
    pub(crate) save: &'a dyn Fn(&Path) -> Result<(), CheckpointError>,
}

#[derive(Debug)]
struct Loaded {
    version: PolicyVersion,
    name: String,
    are_adapters: bool,
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
    /// What it has now, of each role that has weights of its own.
    loaded: Mutex<BTreeMap<Option<Role>, Loaded>>,
    /// How often weights were handed over: part of their names, so that none is used twice.
    hand_overs: AtomicU64,
    /// Whether it may sleep now: it is woken before it is asked for anything. A process that was killed may have left it so.
    may_sleep: AtomicBool,
}

impl RolloutServer {
    /// For the server at `url`, which reads `folder` by the same path as this process. Sends no request yet. No other process may be at the run that
    /// `options` name.
    pub fn open(
        url: &str,
        protocol: ServerProtocol,
        folder: &Path,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        let at = ServerUrl::parse(url).map_err(|problem| ServerError::Url { url: quote_name(url), problem })?;
        let prefix = options.run.as_ref().map_or_else(|| "veriplay-".to_owned(), |run| format!("veriplay-{run}-"));
        let make = || {
            std::fs::create_dir_all(folder)?;
            let folder = folder.canonicalize()?;
            if options.run.is_some() {
                remove_leftovers(&folder, &prefix);
            }
            let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(folder)?;
            open_to_others(folder.path())?;
            Ok(folder)
        };
        let folder = make().map_err(|error: std::io::Error| {
            ServerError::HandOver(format!("no folder can be made in `{}`: {error}", folder.display()))
        })?;
        Ok(Self {
            client: Client::new(&at, &options),
            protocol,
            may_sleep: AtomicBool::new(options.sleep),
            options,
            folder,
            loaded: Mutex::default(),
            hand_overs: AtomicU64::new(0),
        })
    }

    /// How it is asked.
    pub const fn protocol(&self) -> ServerProtocol {
        self.protocol
    }

    /// The continuations of every queued prompt, in order, from these weights.
    pub(crate) fn continuations(
        &self,
        queued: &[QueuedPrompt<'_>],
        vocabulary: usize,
        weights: &CurrentWeights<'_>,
    ) -> Result<Vec<Vec<Continuation>>, ServerError> {
        let mut groups: Vec<Option<Vec<Continuation>>> = vec![None; queued.len()];
        let names_weights = weights.are_adapters || self.protocol == ServerProtocol::Sglang;
        let check = |name: &str| if names_weights { Ok(()) } else { self.check_version(name) };
        let mut may_have_restarted = true;
        loop {
            let name = self.hand_over(weights)?;
            let mut fault = check(&name).err();
            if fault.is_none() {
                let missing: Vec<usize> = (0..queued.len()).filter(|index| groups[*index].is_none()).collect();
                let shown = names_weights.then_some(&*name);
                let work = |place: usize| self.sample(missing[place], &queued[missing[place]], vocabulary, shown);
                let results = run_each(missing.len(), self.options.concurrency, work);
                let mut sampled = Vec::with_capacity(missing.len());
                for (&index, result) in missing.iter().zip(results) {
                    match result {
                        Some(Ok(group)) => sampled.push((index, group)),
                        Some(Err(error)) => fault = fault.or(Some(error)),
                        None => {}
                    }
                }
                fault = fault.or_else(|| check(&name).err());
                if names_weights || fault.is_none() {
                    sampled.into_iter().for_each(|(index, group)| groups[index] = Some(group));
                }
            }
            match fault {
                None => return Ok(groups.into_iter().flatten().collect()),
                Some(fault) if may_have_restarted && fault.tells_of_lost_weights() => {
                    tracing::warn!(%fault, "the server has lost the weights: handing them over again");
                    may_have_restarted = false;
                    self.forget(weights.role);
                }
                Some(fault) => return Err(fault),
            }
        }
    }

    /// Has the server give its memory back until [`RolloutServer::wake_up`]. Where it does not, what the learner does next may lack memory.
    pub fn sleep(&self) {
        // Relaxed: one thread trains and asks for samples.
        if self.options.sleep
            && !self.may_sleep.swap(true, Ordering::Relaxed)
            && let Err(fault) = self.client.post(SLEEP, &json!({}))
        {
            tracing::warn!(%fault, "the server was not put to sleep, and keeps its memory");
        }
    }

    /// Wakes the server where it may sleep, behind `make_room`, which leaves it the memory that it had.
    pub fn wake_up(&self, make_room: impl FnOnce()) -> Result<(), ServerError> {
        if self.may_sleep.load(Ordering::Relaxed) {
            make_room();
            self.request_all(&[(WAKE_UP, json!({}))], "")?;
            self.may_sleep.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Hands the weights of a role over again before its next sample: they have changed and have the version that they had.
    pub(crate) fn forget(&self, role: Option<Role>) {
        if let Some(loaded) = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).remove(&role) {
            self.drop_weights(&loaded);
        }
    }

    /// Gives the server the weights, unless it has them. Returns their name.
    fn hand_over(&self, weights: &CurrentWeights<'_>) -> Result<String, ServerError> {
        let &CurrentWeights { version, role, are_adapters, save } = weights;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = loaded.get(&role).filter(|loaded| loaded.version == version) {
            return Ok(loaded.name.clone());
        }
        // Relaxed: it orders nothing but itself.
        let label = format!("v{}-{}", version.0, self.hand_overs.fetch_add(1, Ordering::Relaxed));
        let label = role.map_or_else(|| label.clone(), |role| format!("{}-{label}", role.name()));
        let run = self.folder.path().file_name().unwrap_or_default().to_string_lossy();
        let (name, folder) = (format!("{run}-{label}"), self.folder.path().join(label));
        if !are_adapters && let Some(old) = loaded.remove(&role) {
            // The server has them in its own memory, and two copies of large weights may not fit.
            self.drop_weights(&old);
        }
        save(&folder).map_err(|error| ServerError::HandOver(error.to_string()))?;
        self.request_all(&self.loading(&name, &folder, are_adapters), &name)?;
        if let Some(old) = loaded.insert(role, Loaded { version, name: name.clone(), are_adapters, folder }) {
            self.drop_weights(&old);
        }
        Ok(name)
    }

    /// The requests by which the server loads weights.
    fn loading(&self, name: &str, folder: &Path, are_adapters: bool) -> Vec<(&'static str, Value)> {
        match self.protocol {
            ServerProtocol::Vllm if are_adapters => {
                vec![(LOAD_ADAPTER, json!({"lora_name": name, "lora_path": folder}))]
            }
            ServerProtocol::Vllm => vec![
                (CALL_WORKERS, json!({"method": "reload_weights", "kwargs": {"weights_path": folder}})),
                // Keys and values of the weights before.
                (RESET_CACHE, json!({})),
                (SET_VERSION, json!({"new_version": name})),
            ],
            // Nothing of ours is under way, but perhaps what a killed process has asked for.
            ServerProtocol::Sglang => vec![(
                "update_weights_from_disk",
                json!({"model_path": folder, "weight_version": name, "abort_all_requests": true}),
            )],
        }
    }

    /// Makes these requests in turn, and all of them again after a fault that passes: a server that has started again in between has lost what the
    /// first of them gave it.
    fn request_all(&self, requests: &[(&'static str, Value)], name: &str) -> Result<(), ServerError> {
        let mut retries = Retries::new(&self.options, 0, 0);
        let loads_weights = requests.iter().any(|(path, _)| *path == CALL_WORKERS);
        loop {
            // Weights that vLLM cannot take kill its engine: one that was dead before has not refused them.
            let was_alive = loads_weights && self.client.get(HEALTH).is_ok();
            let failed = |(path, body): &(&'static str, Value)| Some((*path, self.request(path, body, name).err()?));
            let Some((path, fault)) = requests.iter().find_map(failed) else { return Ok(()) };
            // vLLM answers 500 where it cannot take what it is given, and where its engine is dead.
            let is_refused = matches!(fault, ServerError::Status { status: 500, .. })
                && if path == CALL_WORKERS { was_alive } else { self.client.get(HEALTH).is_ok() };
            if is_refused || !fault.is_transient() {
                return Err(self.refused(path, fault));
            }
            self.wait_for(path, &mut retries, fault)?;
        }
    }

    fn request(&self, path: &str, body: &Value, name: &str) -> Result<(), ServerError> {
        match self.client.post(path, body) {
            Ok(answer) => self.check_done(path, &answer),
            Err(fault) if self.is_loaded(&fault, name) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Refuses an answer with status 200 that says no.
    fn check_done(&self, path: &str, answer: &[u8]) -> Result<(), ServerError> {
        let json: Value = serde_json::from_slice(answer).unwrap_or_default();
        match json["success"].as_bool() {
            // Requests of a process that was killed may still use it.
            Some(false) if path == RESET_CACHE => Err(ServerError::Shape("its prefix cache is in use".to_owned())),
            Some(false) => {
                Err(ServerError::HandOver(format!("`{}`: {}", self.client.address(path), error_message(answer))))
            }
            _ => Ok(()),
        }
    }

    /// Whether the server has taken the adapters, and its answer was lost: their name is of these alone.
    fn is_loaded(&self, fault: &ServerError, name: &str) -> bool {
        let ServerError::Status { status: 400, message, .. } = fault else { return false };
        self.protocol.takes_adapters() && message.contains("already been loaded") && message.contains(name)
    }

    /// Asks vLLM which weights it has, and refuses others than those of this name.
    fn check_version(&self, name: &str) -> Result<(), ServerError> {
        let mut retries = Retries::new(&self.options, 0, 0);
        loop {
            let fault = match self.client.get(GET_VERSION).and_then(|answer| parse_json::<Value>(&answer)) {
                Ok(answer) => match answer["weight_version"].as_str() {
                    Some(found) if found == name => return Ok(()),
                    Some(found) => return Err(other_weights(found, name)),
                    None => {
                        let address = self.client.address(GET_VERSION);
                        let what = format!("`{address}` answers {answer}, without a `weight_version`");
                        return Err(ServerError::HandOver(what));
                    }
                },
                Err(fault) => fault,
            };
            if !fault.is_transient() {
                return Err(self.refused(GET_VERSION, fault));
            }
            self.wait_for(GET_VERSION, &mut retries, fault)?;
        }
    }

    /// Waits until it is time for another of these requests, or gives up.
    fn wait_for(&self, path: &str, retries: &mut Retries<'_>, fault: ServerError) -> Result<(), ServerError> {
        let hint = start_hint(path, &fault);
        retries.wait(0, fault).map_err(|error| match error {
            ServerError::Prompt { attempts, cause, .. } => {
                let address = self.client.address(path);
                ServerError::HandOver(format!("`{address}` after {attempts} attempts: {cause}{hint}"))
            }
            other => other,
        })
    }

    /// The failure of a request that the server has refused.
    fn refused(&self, path: &str, fault: ServerError) -> ServerError {
        match fault {
            ServerError::HandOver(_) => fault,
            _ => ServerError::HandOver(format!("`{}`: {fault}{}", self.client.address(path), start_hint(path, &fault))),
        }
    }

    /// Frees what the server and the folder hold of weights that have been replaced. What fails here costs memory and no sample.
    fn drop_weights(&self, old: &Loaded) {
        if old.are_adapters
            && let Err(fault) = self.client.post("v1/unload_lora_adapter", &json!({"lora_name": old.name}))
            // One that has started again does not have them.
            && !matches!(fault, ServerError::Status { status: 404, .. })
        {
            tracing::warn!(adapter = old.name, %fault, "the server was not told that an adapter is not used any more");
        }
        if let Err(error) = std::fs::remove_dir_all(&old.folder) {
            tracing::warn!(folder = %old.folder.display(), %error, "cannot remove weights that are not used any more");
        }
    }

    /// `name` is that of the weights, where answers repeat it.
    fn sample(
        &self,
        index: usize,
        queued: &QueuedPrompt<'_>,
        vocabulary: usize,
        name: Option<&str>,
    ) -> Result<Vec<Continuation>, ServerError> {
        let stop = queued.stops.map(|stops| stops.texts.to_vec()).unwrap_or_default();
        let TokenSampler { temperature, top_k, top_p, min_p } = queued.sampler;
        let sampling = Sampling { temperature, top_k, top_p, min_p, stop, ..Sampling::new(queued.max_tokens) };
        let seeds = (queued.seed, queued.stream);
        let completions = request_samples(&self.options, seeds, queued.samples, temperature, |missing, _| {
            let Answer { weights, completions } = self.exchange(queued, &sampling, name, missing)?;
            match name {
                Some(name) if weights.as_deref() != Some(name) => {
                    Err(other_weights(weights.as_deref().unwrap_or("weights without a name"), name))
                }
                _ => Ok(completions),
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
        name: Option<&str>,
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

fn other_weights(found: &str, wanted: &str) -> ServerError {
    ServerError::OtherWeights { found: found.to_owned(), wanted: wanted.to_owned() }
}

/// What to start where a server fails so at a request, to be put behind the failure.
fn start_hint(path: &str, fault: &ServerError) -> &'static str {
    let ServerError::Status { status, .. } = fault else { return "" };
    match (path, *status) {
        (LOAD_ADAPTER, 404) => {
            "; start vLLM with `--enable-lora`, and with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True in its environment"
        }
        (CALL_WORKERS, 500) => {
            "; start vLLM with the run's model, with VLLM_SERVER_DEV_MODE=1 in its environment and without `--enable-lora`: \
             its log says what failed"
        }
        (CALL_WORKERS | RESET_CACHE | SET_VERSION | GET_VERSION | WAKE_UP, 404) => {
            "; start vLLM 0.32 or later with VLLM_SERVER_DEV_MODE=1 in its environment, where nobody else reaches it"
        }
        (_, 404 | 405 | 422) => {
            "; the server may have changed its interface: docs/models.md names the versions that were run"
        }
        _ => "",
    }
}

/// Removes the weights that a killed process has left in folders whose names begin so. What fails here costs memory and no sample.
fn remove_leftovers(folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_string_lossy().starts_with(prefix);
        if is_left && let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::warn!(folder = %entry.path().display(), %error, "cannot remove weights that a killed process has left");
        }
    }
}

/// Lets a server of another user read what is in the folder.
fn open_to_others(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
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
