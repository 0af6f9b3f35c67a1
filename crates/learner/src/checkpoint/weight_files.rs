//! The weights of a model directory: one `model.safetensors`, or shards with an index, in and out.
//!
//! The index, `model.safetensors.index.json`, maps every tensor to its file. Where both layouts are there, the single file counts,
//! as in transformers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::files::CheckpointError;
use super::files::{read_text, remove, write_file, write_with};
use super::tensor_file::{ExpectedTensor, TensorEntry, TensorFile, check_names, write_tensors};
use crate::config::TensorSpec;
use crate::device::Precision;

pub(crate) const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const PICKLED: [&str; 2] = ["pytorch_model.bin", "pytorch_model.bin.index.json"];

/// The index file. Its `metadata` is for people and not read.
#[derive(Debug, Deserialize)]
struct WeightIndex {
    weight_map: BTreeMap<String, String>,
}

pub(super) fn expected_tensors(specs: &[TensorSpec]) -> Vec<ExpectedTensor<'_>> {
    specs.iter().map(expected_tensor).collect()
}

fn expected_tensor(spec: &TensorSpec) -> ExpectedTensor<'_> {
    ExpectedTensor { name: spec.name.clone(), shape: &spec.shape }
}

/// Every tensor of `specs`, in their order.
pub(crate) fn read_weights(dir: &Path, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>, CheckpointError> {
    let (single, index) = (dir.join(WEIGHTS), dir.join(INDEX));
    if single.exists() || !index.exists() {
        if !single.exists() && PICKLED.iter().any(|name| dir.join(name).exists()) {
            return Err(CheckpointError::Pickled { path: dir.to_owned() });
        }
        return TensorFile::open(&single)?.read_all(&expected_tensors(specs));
    }
    read_shards(dir, &index, specs)
}

fn read_shards(dir: &Path, index: &Path, specs: &[TensorSpec]) -> Result<Vec<Vec<f32>>, CheckpointError> {
    let file = index.display().to_string();
    let WeightIndex { weight_map } = serde_json::from_str(&read_text(index)?)
        .map_err(|e| CheckpointError::Format { file: file.clone(), what: e.to_string() })?;
    check_names(&file, &expected_tensors(specs), weight_map.keys().cloned())?;
    // All are opened before any is read: one that is missing or cut short shows at once.
    let mut shards = Vec::new();
    for name in weight_map.values().collect::<BTreeSet<_>>() {
        if !matches!(Path::new(name).components().collect::<Vec<_>>()[..], [Component::Normal(_)]) {
            let want = "want the plain name of a file beside the index";
            return Err(CheckpointError::invalid_value(file, "weight_map", name, want));
        }
        shards.push((name, TensorFile::open(&dir.join(name))?));
    }
    let mut out = vec![Vec::new(); specs.len()];
    for (name, mut shard) in shards {
        let here: Vec<usize> = (0..specs.len()).filter(|&i| weight_map.get(&specs[i].name) == Some(name)).collect();
        let wanted: Vec<ExpectedTensor<'_>> = here.iter().map(|&i| expected_tensor(&specs[i])).collect();
        let values = shard.read_all(&wanted)?;
        here.into_iter().zip(values).for_each(|(i, values)| out[i] = values);
    }
    Ok(out)
}

/// The bytes of a single weight file: equal weights give equal bytes.
pub(crate) fn encode_weights(specs: &[TensorSpec], tensors: &[&[f32]]) -> Result<Vec<u8>, CheckpointError> {
    let entries = specs.iter().zip(tensors);
    let entries =
        entries.map(|(spec, data)| TensorEntry { name: spec.name.clone(), shape: &spec.shape, data }).collect();
    let mut bytes = Vec::new();
    write_tensors(&mut bytes, entries, Precision::F32)
        .map_err(|e| CheckpointError::Format { file: WEIGHTS.to_owned(), what: e.to_string() })?;
    Ok(bytes)
}

/// Writes `tensors`, in the order of `specs`, to one file or, where they take more than `max_shard_bytes`, to several.
pub(crate) fn write_weights(
    dir: &Path,
    specs: &[TensorSpec],
    tensors: &[&[f32]],
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
        let entry = |&i: &usize| TensorEntry { name: specs[i].name.clone(), shape: &specs[i].shape, data: tensors[i] };
        write_with(&dir.join(name), |file| write_tensors(file, shard.iter().map(entry).collect(), precision))?;
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

#[derive(Serialize)]
struct IndexMetadata {
    total_parameters: usize,
    total_size: usize,
}

#[derive(Serialize)]
struct IndexFile<'a> {
    metadata: IndexMetadata,
    weight_map: BTreeMap<&'a str, &'a str>,
}

fn index_json(specs: &[TensorSpec], shards: &[Vec<usize>], names: &[String], precision: Precision) -> String {
    let total_parameters = specs.iter().map(TensorSpec::elements).sum();
    let file = |(shard, name): (&Vec<usize>, &'_ String)| shard.iter().map(|&i| (i, name.clone())).collect::<Vec<_>>();
    let placed: Vec<(usize, String)> = shards.iter().zip(names).flat_map(file).collect();
    super::to_pretty_json(&IndexFile {
        metadata: IndexMetadata { total_parameters, total_size: total_parameters * precision.bytes() },
        weight_map: placed.iter().map(|(i, name)| (specs[*i].name.as_str(), name.as_str())).collect(),
    })
}
