//! Checkpoints by their id on a model hub, such as `org/name`, through the hf-hub crate and its cache.
//!
//! Called before [`crate::Learner::load`]. An existing directory is used as such. A cached checkpoint is used without looking for a
//! newer one. Only the files that a checkpoint needs are fetched, all from one commit.

use std::path::{Path, PathBuf};

use hf_hub::api::sync::{Api, ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, CacheRepo, Repo, RepoType};

/// Address, cache, access token and revision of the hub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub; none is that of `HF_ENDPOINT`, or else Hugging Face's.
    pub endpoint: Option<String>,
    /// Directory of the cache; none is `hub` in `HF_HOME`, or else in Hugging Face's usual place.
    pub cache: Option<PathBuf>,
    /// Access token; none is the one that Hugging Face's tools have stored, if they have.
    pub token: Option<String>,
    /// Branch, tag or commit; none is `main`.
    pub revision: Option<String>,
}

/// Why a checkpoint could not be fetched.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct HubError {
    message: String,
    hint: Option<String>,
}

impl HubError {
    fn new(message: String) -> Self {
        Self { message, hint: None }
    }

    /// What to do, where the message does not say it.
    pub fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// Further files that are fetched where the repository has them.
const OTHERS: [&str; 5] = [
    "tokenizer.json", "tokenizer_config.json", "generation_config.json", "special_tokens_map.json",
    "chat_template.jinja",
];

/// The directory of a checkpoint: `name` itself where that is a directory, else that of the hub's repository of this id, fetched
/// unless it is in the cache.
pub fn resolve_model(name: &str, options: &HubOptions) -> Result<PathBuf, HubError> {
    resolve(name, options, |hub| hub.fetch())
}

/// As [`resolve_model`], but of a repository that is not in the cache only `config.json` is fetched: for whoever wants to know a model's shape
/// before its weights are.
pub fn resolve_config(name: &str, options: &HubOptions) -> Result<PathBuf, HubError> {
    resolve(name, options, |hub| hub.fetch_config())
}

fn resolve(
    name: &str,
    options: &HubOptions,
    fetch: impl FnOnce(&Hub<'_>) -> Result<PathBuf, HubError>,
) -> Result<PathBuf, HubError> {
    if Path::new(name).is_dir() {
        return Ok(PathBuf::from(name));
    }
    if !is_id(name) {
        let problem = "is neither a directory nor a hub id such as `org/name`: check the path";
        return Err(HubError::new(format!("`{name}` {problem}")));
    }
    let hub = Hub::new(name, options);
    match hub.cached() {
        Some(dir) => Ok(dir),
        None => fetch(&hub),
    }
}

/// The ids of the hub's repositories of which the cache holds a whole checkpoint, sorted. The hub is not asked.
pub fn cached_models(options: &HubOptions) -> Vec<String> {
    let cache = options.cache.clone().map_or_else(Cache::from_env, Cache::new);
    let entries = std::fs::read_dir(cache.path()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // As the cache names the folder of a repository.
    let ids = names.filter_map(|name| Some(name.strip_prefix("models--")?.replacen("--", "/", 1)));
    let mut ids: Vec<String> = ids.filter(|id| is_id(id) && Hub::new(id, options).cached().is_some()).collect();
    ids.sort();
    ids
}

/// `org/name`, in the letters the hub allows.
fn is_id(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let part =
        |part: &str| !part.is_empty() && part.chars().all(plain) && !part.starts_with('.') && !part.contains("..");
    name.len() <= 96 && name.split_once('/').is_some_and(|(org, name)| part(org) && part(name))
}

struct Hub<'a> {
    id: &'a str,
    revision: &'a str,
    options: &'a HubOptions,
    cache: Cache,
}

/// What a revision stands for now.
struct Commit {
    sha: String,
    /// The repository at that commit.
    repo: ApiRepo,
    names: Vec<String>,
}

impl<'a> Hub<'a> {
    fn new(id: &'a str, options: &'a HubOptions) -> Self {
        let cache = options.cache.clone().map_or_else(Cache::from_env, Cache::new);
        Self { id, revision: options.revision.as_deref().unwrap_or("main"), options, cache }
    }

    fn repo(&self, revision: &str) -> Repo {
        Repo::with_revision(self.id.to_owned(), RepoType::Model, revision.to_owned())
    }

    fn store(&self) -> CacheRepo {
        self.cache.repo(self.repo(self.revision))
    }

    /// The cached directory, if all of its weights are there.
    fn cached(&self) -> Option<PathBuf> {
        let dir = self.store().get(CONFIG)?.parent()?.to_owned();
        is_complete(&dir).then_some(dir)
    }

    fn api(&self) -> Result<Api, ApiError> {
        let mut builder = ApiBuilder::from_env().with_progress(false).with_cache_dir(self.cache.path().clone());
        builder = builder.with_token(self.options.token.clone().or_else(|| self.cache.token()));
        if let Some(endpoint) = &self.options.endpoint {
            builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
        }
        builder.build()
    }

    fn fetch(&self) -> Result<PathBuf, HubError> {
        let Commit { sha, repo, names } = self.newest_commit()?;
        for file in self.checkpoint_files(&names)? {
            tracing::info!(id = self.id, file, "fetching from the hub");
            repo.get(file).map_err(|e| self.hub_error(file, e))?;
        }
        let keep = |e: std::io::Error| self.hub_error(CONFIG, ApiError::IoError(e));
        self.store().create_ref(&sha).map_err(keep)?;
        Ok(self.store().pointer_path(&sha))
    }

    /// Fetches `config.json` of a repository that holds a checkpoint. The cache has no checkpoint after that.
    fn fetch_config(&self) -> Result<PathBuf, HubError> {
        let Commit { sha, repo, names } = self.newest_commit()?;
        self.checkpoint_files(&names)?;
        repo.get(CONFIG).map_err(|e| self.hub_error(CONFIG, e))?;
        Ok(self.store().pointer_path(&sha))
    }

    fn newest_commit(&self) -> Result<Commit, HubError> {
        let api = self.api().map_err(|e| self.hub_error(CONFIG, e))?;
        let info = api.repo(self.repo(self.revision)).info().map_err(|e| self.hub_error("", e))?;
        let names = info.siblings.into_iter().map(|file| file.rfilename).collect();
        Ok(Commit { repo: api.repo(self.repo(&info.sha)), sha: info.sha, names })
    }

    /// The files of a checkpoint among those of the repository.
    fn checkpoint_files<'n>(&self, names: &'n [String]) -> Result<Vec<&'n str>, HubError> {
        let has = |file: &'static str| names.iter().any(|name| name == file);
        let single = has(WEIGHTS);
        let missing = if has(CONFIG) { WEIGHTS } else { CONFIG };
        if !has(CONFIG) || !single && !has(INDEX) {
            let hint = "it is not a checkpoint in safetensors, choose another or convert it";
            return Err(HubError::new(format!("the hub's `{}` has no `{missing}`: {hint}", self.id)));
        }
        let wanted = |name: &str| {
            let weights = if single { name == WEIGHTS } else { name == INDEX || is_shard(name) };
            weights || name == CONFIG || OTHERS.contains(&name) || is_template(name)
        };
        Ok(names.iter().map(String::as_str).filter(|name| wanted(name)).collect())
    }

    fn hub_error(&self, file: &str, error: ApiError) -> HubError {
        let id = self.id;
        let (message, hint) = match error {
            ApiError::RequestError(error) => match *error {
                ureq::Error::StatusCode(status) => {
                    return HubError::new(format!("the hub answers {status} for `{id}`: {}", hint(status)));
                }
                other => (
                    format!("`{id}` is not a directory here, and the hub cannot be reached: {other}"),
                    format!(
                        "fetch the checkpoint where there is network and give its directory, or fill the cache `{}`",
                        self.cache.path().display()
                    ),
                ),
            },
            other => (
                format!("`{file}` of `{id}` cannot be fetched: {other}"),
                "try again, what is there already is kept".to_owned(),
            ),
        };
        HubError { message, hint: Some(hint) }
    }
}

const fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => "accept the model's licence there, and give an access token",
        404 => "check the id and the revision; a private model needs an access token",
        429 => "too many requests, try again later",
        _ => "try again later",
    }
}

fn is_shard(name: &str) -> bool {
    let middle = name.strip_prefix("model-").and_then(|rest| rest.strip_suffix(".safetensors"));
    middle.is_some_and(|middle| middle.chars().all(|c| c.is_ascii_digit() || "-of".contains(c)))
}

fn is_template(name: &str) -> bool {
    let file = name.strip_prefix("additional_chat_templates/");
    file.is_some_and(|file| file.ends_with(".jinja") && !file.contains(['/', '\\']) && !file.starts_with('.'))
}

/// Whether the weights of a cached directory are all there.
fn is_complete(dir: &Path) -> bool {
    if dir.join(WEIGHTS).exists() {
        return true;
    }
    let Ok(text) = std::fs::read_to_string(dir.join(INDEX)) else { return false };
    let index: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let shards = index["weight_map"].as_object().map(|map| map.values().filter_map(|v| v.as_str()).collect::<Vec<_>>());
    shards.is_some_and(|shards| !shards.is_empty() && shards.iter().all(|shard| dir.join(shard).exists()))
}
