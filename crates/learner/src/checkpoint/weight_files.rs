//! The weights of a model directory: one `model.safetensors`, or shards with an index, in and out.
//!
//! The index, `model.safetensors.index.json`, maps every tensor to its file. Where both layouts are there, the single file counts,
//! as in transformers.
//!
//! A checkpoint whose head is its embedding may store it once more under the head's name, as Qwen3-0.6B does. It loads where the two are equal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};
use std::path::{Component, Path};

use candle_core::Tensor;
use serde::Deserialize;
use serde_json::json;

use super::files::{CheckpointError, read_text, remove, to_pretty_json, write_file, write_with};
use super::tensor_file::{TensorFile, check_names, write_each};
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

/// Every tensor of `specs`, in their order.
pub(crate) fn read_weights(dir: &Path, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>, CheckpointError> {
    let (single, index) = (dir.join(WEIGHTS), dir.join(INDEX));
    if single.exists() || !index.exists() {
        if !single.exists() && PICKLED.iter().any(|name| dir.join(name).exists()) {
            let hint = "hint: load and save it with transformers, which writes `model.safetensors`";
            return Err(CheckpointError(format!("`{}` holds pickled weights alone; {hint}", dir.display())));
        }
        return read_single(TensorFile::open(&single)?, specs);
    }
    read_shards(dir, &index, specs)
}

/// As [`read_weights`], from the bytes of a file that errors call `name`.
pub(crate) fn decode_weights(
    name: String,
    bytes: &[u8],
    specs: &[TensorSpec],
) -> Result<Vec<Vec<f32>>, CheckpointError> {
    read_single(TensorFile::from_bytes(name, bytes)?, specs)
}

fn read_single<R: Read + Seek>(
    mut file: TensorFile<R>,
    specs: &[TensorSpec],
) -> Result<Vec<Vec<f32>>, CheckpointError> {
    let stored = stored_tensors(specs, file.holds(HEAD));
    let tensors = file.read_all(&stored)?;
    without_stored_head(file.name(), specs, tensors)
}

/// The tensors of `specs`, and the head where it is stored though the model has none.
fn stored_tensors(specs: &[TensorSpec], has_head: bool) -> Vec<TensorSpec> {
    let is_tied = has_head && specs.iter().all(|spec| spec.name != HEAD);
    let embedding = specs.iter().find(|spec| is_tied && spec.name == EMBEDDING);
    let head = embedding.map(|embedding| TensorSpec { name: HEAD.to_owned(), shape: embedding.shape.clone() });
    specs.iter().cloned().chain(head).collect()
}

/// The tensors of `specs`, of those of [`stored_tensors`]: a head behind them must be the embedding.
fn without_stored_head(
    file: &str,
    specs: &[TensorSpec],
    mut tensors: Vec<Vec<f32>>,
) -> Result<Vec<Vec<f32>>, CheckpointError> {
    let Some(head) = tensors.get(specs.len()) else { return Ok(tensors) };
    let of_embedding = specs.iter().zip(&tensors).find(|(spec, _)| spec.name == EMBEDDING);
    if let Some((spec, embedding)) = of_embedding
        && let Some(place) = head.iter().zip(embedding).position(|(head, own)| head != own)
    {
        return Err(CheckpointError::invalid(file, other_head(spec, embedding, head, place)));
    }
    tensors.truncate(specs.len());
    Ok(tensors)
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

fn read_shards(dir: &Path, index: &Path, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>, CheckpointError> {
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
        shards.push((name, TensorFile::open(&dir.join(name))?));
    }
    let mut out = vec![Vec::new(); stored.len()];
    for (name, mut shard) in shards {
        let here: Vec<usize> = (0..stored.len()).filter(|&i| weight_map.get(&stored[i].name) == Some(name)).collect();
        let wanted: Vec<TensorSpec> = here.iter().map(|&i| stored[i].clone()).collect();
        let values = shard.read_all(&wanted)?;
        here.into_iter().zip(values).for_each(|(i, values)| out[i] = values);
    }
    without_stored_head(&file, specs, out)
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
    if shards.len() > 1 {
        write_file(&dir.join(INDEX), index_json(specs, &shards, &names, precision).as_bytes())?;
    }
    let kept = |name: &String| names.contains(name) || (name == INDEX && shards.len() > 1);
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
