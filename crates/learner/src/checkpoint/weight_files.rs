//! The weights of a model directory: one `model.safetensors`, or shards with an index, in and out.
//!
//! The index, `model.safetensors.index.json`, maps every tensor to its file. It is written beside a single file too: without one, vLLM and SGLang
//! read every file of the folder that ends as weights do. Where both layouts are there, the single file counts, as in transformers.
//!
//! A checkpoint whose head is its embedding may store it once more under the head's name, as Qwen3-0.6B does. It loads where the two are equal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};
use std::path::{Component, Path};

use candle_core::Tensor;
use serde::Deserialize;
use serde_json::json;

use super::files::{CheckpointError, read_text, remove, to_pretty_json, write_file, write_with};
use super::tensor_file::{StoredTensor, TensorFile, check_names, write_each};
use super::training::has_adapters;
use crate::config::{EMBEDDING, HEAD, TensorSpec};
use crate::device::Precision;

pub(crate) const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const PICKLED: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];

/// The index file. Its `metadata` is for people and not read.
#[derive(Debug, Deserialize)]
struct WeightIndex {
    weight_map: BTreeMap<String, String>,
}

/// Takes a tensor as soon as it has been read: its place, and its numbers.
pub(crate) type TakeTensor<'a> = dyn FnMut(usize, Vec<f32>) -> Result<(), CheckpointError> + 'a;

/// Whether a directory has weights that are read, or an index of some.
pub(crate) fn has_weights(dir: &Path) -> bool {
    dir.join(WEIGHTS).exists() || dir.join(INDEX).exists()
}

/// Gives every tensor of `specs` to `take`, one at a time in the order of the files, so that no second model is in memory. Returns the digest of them
/// all, which is the same in whatever files they are.
pub(crate) fn read_weights(
    dir: &Path,
    specs: &[TensorSpec],
    take: &mut TakeTensor<'_>,
) -> Result<String, CheckpointError> {
    let (single, index) = (dir.join(WEIGHTS), dir.join(INDEX));
    if single.exists() || !index.exists() {
        if !single.exists() && has_adapters(dir) {
            let hint = "hint: merge them with their base by `veriplay model merge`, and name the new directory";
            return Err(CheckpointError(format!("`{}` holds adapters alone, and no weights; {hint}", dir.display())));
        }
        if !single.exists() && PICKLED.iter().any(|name| dir.join(name).exists()) {
            let hint = "hint: load and save it with transformers, which writes `model.safetensors`";
            return Err(CheckpointError(format!("`{}` holds pickled weights alone; {hint}", dir.display())));
        }
        return read_single(TensorFile::open(&single)?, specs, take);
    }
    read_shards(dir, &index, specs, take)
}

/// As [`read_weights`], from the bytes of a file that errors call `name`.
pub(crate) fn decode_weights(
    name: String,
    bytes: &[u8],
    specs: &[TensorSpec],
    take: &mut TakeTensor<'_>,
) -> Result<String, CheckpointError> {
    read_single(TensorFile::from_bytes(name, bytes)?, specs, take)
}

fn read_single<R: Read + Seek>(
    mut file: TensorFile<R>,
    specs: &[TensorSpec],
    take: &mut TakeTensor<'_>,
) -> Result<String, CheckpointError> {
    let stored = stored_tensors(specs, file.holds(HEAD));
    let mut stream = WeightStream { file: file.name().to_owned(), specs, take, first: None, hashes: BTreeMap::new() };
    file.read_each(&stored, |place, tensor| stream.pass_on(&stored, place, tensor))?;
    Ok(stream.digest())
}

/// The tensors of `specs`, and the head where it is stored though the model has none.
fn stored_tensors(specs: &[TensorSpec], has_head: bool) -> Vec<TensorSpec> {
    let is_tied = has_head && specs.iter().all(|spec| spec.name != HEAD);
    let embedding = specs.iter().find(|spec| is_tied && spec.name == EMBEDDING);
    let head = embedding.map(|embedding| TensorSpec { name: HEAD.to_owned(), shape: embedding.shape.clone() });
    specs.iter().cloned().chain(head).collect()
}

/// Weights on their way from files to a model.
struct WeightStream<'a, 'b> {
    /// How errors name the files.
    file: String,
    specs: &'a [TensorSpec],
    take: &'a mut TakeTensor<'b>,
    /// Of an embedding and a head that is stored beside it, the one that came first.
    first: Option<Vec<f32>>,
    /// Of every tensor so far, by its name.
    hashes: BTreeMap<String, blake3::Hash>,
}

impl WeightStream<'_, '_> {
    /// Passes on a tensor of [`stored_tensors`]; a head behind those of `specs` must be the embedding, and goes no further.
    fn pass_on(&mut self, stored: &[TensorSpec], place: usize, tensor: StoredTensor) -> Result<(), CheckpointError> {
        let (spec, StoredTensor { values, hash }) = (&stored[place], tensor);
        let is_stored_head = place == self.specs.len();
        if stored.len() > self.specs.len() && (is_stored_head || spec.name == EMBEDDING) {
            match self.first.take() {
                None => self.first = Some(values.clone()),
                Some(first) if is_stored_head => self.check_head(spec, &first, &values)?,
                Some(first) => self.check_head(spec, &values, &first)?,
            }
        }
        if is_stored_head {
            return Ok(());
        }
        self.hashes.insert(spec.name.clone(), hash);
        (self.take)(place, values)
    }

    fn check_head(&self, spec: &TensorSpec, embedding: &[f32], head: &[f32]) -> Result<(), CheckpointError> {
        match head.iter().zip(embedding).position(|(head, own)| head != own) {
            None => Ok(()),
            Some(place) => Err(CheckpointError::invalid(&self.file, other_head(spec, embedding, head, place))),
        }
    }

    /// Of names and numbers, in the order of the names.
    fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, hash) in &self.hashes {
            hasher.update(name.as_bytes()).update(hash.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// How a stored head differs from the embedding, `place` being the first that does.
fn other_head(spec: &TensorSpec, embedding: &[f32], head: &[f32], place: usize) -> String {
    let width = spec.shape.last().copied().unwrap_or(1);
    let differences = || head.iter().zip(embedding).map(|(head, own)| (head - own).abs());
    let (count, largest) = (differences().filter(|&by| by > 0.0).count(), differences().fold(0.0, f32::max));
    format!(
        "`{HEAD}` is not `{EMBEDDING}`, and config.json says `tie_word_embeddings`: {count} of {} numbers differ, by {largest:.1e} at most, \
         first in row {}, column {}: `{}` and `{}`; hint: set `tie_word_embeddings` to false where the model has a head of its own",
        head.len(),
        place / width,
        place % width,
        head[place],
        embedding[place]
    )
}

fn read_shards(
    dir: &Path,
    index: &Path,
    specs: &[TensorSpec],
    take: &mut TakeTensor<'_>,
) -> Result<String, CheckpointError> {
    let file = index.display().to_string();
    let WeightIndex { weight_map } =
        serde_json::from_str(&read_text(index)?).map_err(|e| CheckpointError::unreadable(&file, e))?;
    let stored = stored_tensors(specs, weight_map.contains_key(HEAD));
    check_names(&file, &stored, weight_map.keys().cloned())?;
    // All are opened before any is read: one that is missing or cut short shows at once.
    let mut shards = Vec::new();
    for name in weight_map.values().collect::<BTreeSet<_>>() {
        if !matches!(Path::new(name).components().collect::<Vec<_>>()[..], [Component::Normal(_)]) {
            let want = "want the plain name of a file beside the index";
            return Err(CheckpointError::invalid_value(&file, "weight_map", name, want));
        }
        let path = dir.join(name);
        if !path.exists() {
            let problem = format!("the index names it, and it is missing; hint: fetch or copy it beside `{INDEX}`");
            return Err(CheckpointError::invalid(&path.display().to_string(), problem));
        }
        shards.push((name, TensorFile::open(&path)?));
    }
    let mut stream = WeightStream { file, specs, take, first: None, hashes: BTreeMap::new() };
    for (name, mut shard) in shards {
        let here: Vec<usize> = (0..stored.len()).filter(|&i| weight_map.get(&stored[i].name) == Some(name)).collect();
        let wanted: Vec<TensorSpec> = here.iter().map(|&i| stored[i].clone()).collect();
        shard.read_each(&wanted, |place, tensor| stream.pass_on(&stored, here[place], tensor))?;
    }
    Ok(stream.digest())
}

/// The bytes of a single weight file: equal weights give equal bytes. `tensor` gives a tensor by its place in `specs`.
pub(crate) fn encode_weights(
    specs: &[TensorSpec],
    tensor: impl Fn(usize) -> candle_core::Result<Tensor>,
) -> Result<Vec<u8>, CheckpointError> {
    let mut bytes = Vec::new();
    write_each(&mut bytes, &specs.iter().collect::<Vec<_>>(), Precision::F32, tensor)
        .map_err(|e| CheckpointError::unreadable(WEIGHTS, e))?;
    Ok(bytes)
}

/// Writes the tensors of `specs` to one file or, where they take more than `max_shard_bytes`, to several. `tensor` gives each by its place, on any
/// device: one at a time is on its way to the file.
pub(crate) fn write_weights(
    dir: &Path,
    specs: &[TensorSpec],
    tensor: impl Fn(usize) -> candle_core::Result<Tensor>,
    max_shard_bytes: usize,
    precision: Precision,
) -> Result<(), CheckpointError> {
    let shards = split_into_shards(specs, max_shard_bytes, precision);
    let old = find_weight_files(dir);
    let names: Vec<String> = match shards.len() {
        1 => vec![WEIGHTS.to_owned()],
        count => (1..=count).map(|i| format!("model-{i:05}-of-{count:05}.safetensors")).collect(),
    };
    for (name, shard) in names.iter().zip(&shards) {
        let here: Vec<&TensorSpec> = shard.iter().map(|&i| &specs[i]).collect();
        write_with(&dir.join(name), |file| write_each(file, &here, precision, |place| tensor(shard[place])))?;
    }
    write_file(&dir.join(INDEX), index_json(specs, &shards, &names, precision).as_bytes())?;
    let kept = |name: &String| names.contains(name) || name == INDEX;
    old.iter().filter(|name| !kept(name)).try_for_each(|name| remove(&dir.join(name)))
}

/// Weight files that an earlier save left: a stale one would be read instead of a new one.
fn find_weight_files(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let shard = |name: &String| name.starts_with("model-") && name.contains("-of-") && name.ends_with(".safetensors");
    names.filter(|name| name == WEIGHTS || name == INDEX || shard(name)).collect()
}

/// Indices of the tensors of every shard: filled in order, and a new one begun when the next tensor does not fit.
fn split_into_shards(specs: &[TensorSpec], max_shard_bytes: usize, precision: Precision) -> Vec<Vec<usize>> {
    let (mut out, mut used) = (vec![Vec::new()], 0);
    for (i, spec) in specs.iter().enumerate() {
        let size = spec.elements() * precision.bytes();
        if used > 0 && used + size > max_shard_bytes {
            out.push(Vec::new());
            used = 0;
        }
        used += size;
        out.last_mut().expect("there is a first shard").push(i);
    }
    out
}

fn index_json(specs: &[TensorSpec], shards: &[Vec<usize>], names: &[String], precision: Precision) -> String {
    let total_parameters: usize = specs.iter().map(TensorSpec::elements).sum();
    let mut weight_map = BTreeMap::new();
    for (shard, name) in shards.iter().zip(names) {
        weight_map.extend(shard.iter().map(|&i| (&specs[i].name, name)));
    }
    to_pretty_json(&json!({
        "metadata": {"total_parameters": total_parameters, "total_size": total_parameters * precision.bytes()},
        "weight_map": weight_map,
    }))
}
