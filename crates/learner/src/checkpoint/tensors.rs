//! Named tensors to and from the bytes of a safetensors file.

use std::collections::{BTreeSet, HashMap};

use candle_core::safetensors::Load;
use candle_core::{DType, Device};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::CheckpointError;
use crate::model::names::TensorSpec;

/// Tensors in the order of the specs, stored under their name behind `prefix`.
pub(super) struct Part<T> {
    pub(super) prefix: &'static str,
    pub(super) tensors: Vec<T>,
}

/// The bytes of a file that holds all parts in f32.
pub(super) fn encode(file: &str, specs: &[TensorSpec], parts: &[Part<&[f32]>]) -> Result<Vec<u8>, CheckpointError> {
    let format =
        |e: safetensors::SafeTensorError| CheckpointError::Format { file: file.to_owned(), what: e.to_string() };
    let mut raw: Vec<(String, &[usize], Vec<u8>)> = Vec::new();
    for part in parts {
        for (spec, tensor) in specs.iter().zip(&part.tensors) {
            let bytes = tensor.iter().flat_map(|x| x.to_le_bytes()).collect();
            raw.push((format!("{}{}", part.prefix, spec.name), &spec.shape, bytes));
        }
    }
    let views = raw
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((name.as_str(), TensorView::new(Dtype::F32, shape.to_vec(), bytes).map_err(format)?))
        })
        .collect::<Result<Vec<_>, CheckpointError>>()?;
    // `transformers` refuses a file that does not say which framework wrote it.
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize(views, Some(metadata)).map_err(format)
}

/// Reads all parts, converted to f32. Nothing may be missing or extra.
pub(super) fn decode(
    file: &str,
    bytes: &[u8],
    specs: &[TensorSpec],
    parts: &mut [Part<&mut [f32]>],
) -> Result<(), CheckpointError> {
    let stored = SafeTensors::deserialize(bytes)
        .map_err(|e| CheckpointError::Format { file: file.to_owned(), what: e.to_string() })?;
    let wanted: BTreeSet<String> =
        parts.iter().flat_map(|p| specs.iter().map(move |s| format!("{}{}", p.prefix, s.name))).collect();
    let found: BTreeSet<String> = stored.names().into_iter().map(str::to_owned).collect();
    let file = file.to_owned();
    let names: Vec<String> = wanted.difference(&found).cloned().collect();
    if !names.is_empty() {
        return Err(CheckpointError::Missing { file, names });
    }
    let names: Vec<String> = found.difference(&wanted).cloned().collect();
    if !names.is_empty() {
        return Err(CheckpointError::Extra { file, names });
    }
    for part in parts {
        for (spec, out) in specs.iter().zip(&mut part.tensors) {
            let name = format!("{}{}", part.prefix, spec.name);
            let view = stored
                .tensor(&name)
                .map_err(|e| CheckpointError::Format { file: file.clone(), what: e.to_string() })?;
            fill(&file, &name, spec, &view, out)?;
        }
    }
    Ok(())
}

fn fill(
    file: &str,
    name: &str,
    spec: &TensorSpec,
    view: &TensorView<'_>,
    out: &mut [f32],
) -> Result<(), CheckpointError> {
    let (file, tensor) = (file.to_owned(), name.to_owned());
    if view.shape() != spec.shape {
        return Err(CheckpointError::Shape { file, tensor, found: view.shape().to_vec(), want: spec.shape.clone() });
    }
    if !matches!(view.dtype(), Dtype::F32 | Dtype::BF16 | Dtype::F16) {
        return Err(CheckpointError::Dtype { file, tensor, found: format!("{:?}", view.dtype()) });
    }
    let values = view
        .load(&Device::Cpu)
        .and_then(|t| t.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>())
        .map_err(|e| CheckpointError::Format { file: file.clone(), what: e.to_string() })?;
    if !values.iter().all(|x| x.is_finite()) {
        return Err(CheckpointError::NotFinite { file, tensor });
    }
    out.copy_from_slice(&values);
    Ok(())
}
