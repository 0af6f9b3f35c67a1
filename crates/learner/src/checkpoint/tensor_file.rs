//! One safetensors file: its header, and its tensors one at a time, so that a model is never in memory twice.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo, View};

use super::files::{CheckpointError, io_error};
use crate::config::TensorSpec;
use crate::device::Precision;

/// Bytes before the header: its length.
const PREFIX: u64 = 8;
const MAX_HEADER: u64 = 100 << 20;

/// A file whose header has been read and fits its length.
#[derive(Debug)]
pub(super) struct TensorFile<R> {
    name: String,
    source: R,
    header: Metadata,
    /// Where the first tensor starts.
    start: u64,
}

impl TensorFile<BufReader<File>> {
    pub(super) fn open(path: &Path) -> Result<Self, CheckpointError> {
        let file = File::open(path).map_err(io_error(path))?;
        Self::new(path.display().to_string(), BufReader::new(file))
    }
}

impl<'a> TensorFile<Cursor<&'a [u8]>> {
    pub(super) fn from_bytes(name: String, bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        Self::new(name, Cursor::new(bytes))
    }
}

impl<R: Read + Seek> TensorFile<R> {
    fn new(name: String, mut source: R) -> Result<Self, CheckpointError> {
        let broken = |what: String| CheckpointError::unreadable(&name, what);
        let read = |e: std::io::Error| CheckpointError::unreadable(&name, e);
        let size = source.seek(SeekFrom::End(0)).map_err(read)?;
        source.rewind().map_err(read)?;
        let mut length = [0; PREFIX as usize];
        source.read_exact(&mut length).map_err(|_| broken(format!("it has only {size} bytes")))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER || PREFIX + length > size {
            return Err(broken(format!("its header is {length} bytes long, and the file {size}")));
        }
        let mut text = vec![0; length as usize];
        source.read_exact(&mut text).map_err(read)?;
        let header: Metadata = serde_json::from_slice(&text).map_err(|e| broken(format!("its header: {e}")))?;
        let file = Self { name, source, header, start: PREFIX + length };
        file.check_length(size)?;
        Ok(file)
    }

    /// Names the first tensor that a file cut short lacks.
    fn check_length(&self, size: u64) -> Result<(), CheckpointError> {
        let held = size - self.start;
        let end = |name: &String| self.header.info(name).map_or(0, |info| info.data_offsets.1 as u64);
        if let Some(tensor) = self.header.offset_keys().into_iter().find(|name| end(name) > held) {
            let ends_at = self.start + end(&tensor);
            let ends = format!("`{tensor}` ends at byte {ends_at}, and the file has {size}");
            return Err(CheckpointError(format!("`{}` is cut short: {ends}; hint: fetch or save it again", self.name)));
        }
        let want = self.header.data_len() as u64;
        if want == held {
            return Ok(());
        }
        Err(CheckpointError::unreadable(&self.name, format!("it has {} bytes behind its last tensor", held - want)))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    /// Reads all of `wanted`, as f32. Nothing else may be in the file.
    pub(super) fn read_all(&mut self, wanted: &[TensorSpec]) -> Result<Vec<Vec<f32>>, CheckpointError> {
        let mut out = vec![Vec::new(); wanted.len()];
        self.read_each(wanted, |place, tensor| {
            out[place] = tensor.values;
            Ok(())
        })?;
        Ok(out)
    }

    /// Reads all of `wanted`, one at a time in the order of the file, and gives each to `take` by its place. Nothing else may be in the file.
    pub(super) fn read_each(
        &mut self,
        wanted: &[TensorSpec],
        mut take: impl FnMut(usize, StoredTensor) -> Result<(), CheckpointError>,
    ) -> Result<(), CheckpointError> {
        check_names(&self.name, wanted, self.header.offset_keys())?;
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&i| self.header.info(&wanted[i].name).map_or(0, |info| info.data_offsets.0));
        order.into_iter().try_for_each(|place| take(place, self.read_tensor(&wanted[place])?))
    }

    fn read_tensor(&mut self, wanted: &TensorSpec) -> Result<StoredTensor, CheckpointError> {
        let (file, tensor, want) = (self.name.clone(), &wanted.name, &wanted.shape);
        let invalid = |problem: String| CheckpointError::invalid(&file, problem);
        let Some(TensorInfo { dtype, shape, data_offsets: (from, to) }) = self.header.info(tensor).cloned() else {
            return Err(missing_tensors(&file, std::slice::from_ref(tensor)));
        };
        if shape != *want {
            return Err(invalid(format!(
                "`{tensor}` has shape {shape:?}, and config.json says {want:?}; hint: they may be of two checkpoints"
            )));
        }
        let Some(float) = float_dtype(dtype) else {
            return Err(invalid(format!(
                "`{tensor}` has dtype {dtype}; want F32, BF16 or F16: convert or dequantise the checkpoint"
            )));
        };
        let mut bytes = vec![0; to - from];
        let broken = |what: String| CheckpointError::unreadable(&file, format!("`{tensor}`: {what}"));
        self.source.seek(SeekFrom::Start(self.start + from as u64)).map_err(|e| broken(e.to_string()))?;
        self.source.read_exact(&mut bytes).map_err(|e| broken(e.to_string()))?;
        let values = read_floats(&bytes, float, &shape).map_err(|e| broken(e.to_string()))?;
        match values.iter().find(|x| !x.is_finite()) {
            None => Ok(StoredTensor { values, hash: blake3::hash(&bytes) }),
            Some(bad) => Err(invalid(format!(
                "`{tensor}` holds `{bad}`, which is not finite; hint: the run that made it diverged, take an earlier one"
            ))),
        }
    }
}

/// A tensor as it was read.
pub(super) struct StoredTensor {
    pub(super) values: Vec<f32>,
    /// Of its bytes in the file.
    pub(super) hash: blake3::Hash,
}

fn float_dtype(dtype: Dtype) -> Option<DType> {
    match dtype {
        Dtype::F32 => Some(DType::F32),
        Dtype::BF16 => Some(DType::BF16),
        Dtype::F16 => Some(DType::F16),
        _ => None,
    }
}

fn read_floats(bytes: &[u8], dtype: DType, shape: &[usize]) -> candle_core::Result<Vec<f32>> {
    Tensor::from_raw_buffer(bytes, dtype, shape, &Device::Cpu)?.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

/// Fails unless `found` are the names of `wanted`, up to the rotary frequencies that old Llama files hold and nobody reads.
pub(super) fn check_names(
    file: &str,
    wanted: &[TensorSpec],
    found: impl IntoIterator<Item = String>,
) -> Result<(), CheckpointError> {
    let wanted: BTreeSet<&str> = wanted.iter().map(|w| w.name.as_str()).collect();
    let found: BTreeSet<String> = found.into_iter().filter(|name| !name.ends_with(".rotary_emb.inv_freq")).collect();
    let names: Vec<String> = wanted.iter().filter(|name| !found.contains(**name)).map(|&n| n.to_owned()).collect();
    if !names.is_empty() {
        return Err(missing_tensors(file, &names));
    }
    let names: Vec<String> = found.into_iter().filter(|name| !wanted.contains(name.as_str())).collect();
    if names.is_empty() {
        return Ok(());
    }
    let problem = format!(
        "it holds {names:?}, which config.json does not ask for; hint: check model_type, num_hidden_layers and tie_word_embeddings"
    );
    Err(CheckpointError::invalid(file, problem))
}

fn missing_tensors(file: &str, names: &[String]) -> CheckpointError {
    let problem = format!("it lacks {names:?}; hint: config.json, or an index, may belong to another checkpoint");
    CheckpointError::invalid(file, problem)
}

const fn stored_dtype(precision: Precision) -> Dtype {
    match precision {
        Precision::F32 => Dtype::F32,
        Precision::Bf16 => Dtype::BF16,
    }
}

/// Writes a safetensors file in the order of the tensors' names: equal tensors give equal bytes.
pub(super) fn write_tensors<'s, 'd>(
    out: &mut impl Write,
    tensors: impl Iterator<Item = (&'s TensorSpec, &'d [f32])>,
    precision: Precision,
) -> std::io::Result<()> {
    let (specs, values): (Vec<_>, Vec<_>) = tensors.unzip();
    write_each(out, &specs, precision, |index| Tensor::new(values[index], &Device::Cpu))
}

/// As [`write_tensors`], of the tensors that `tensor` gives by their places in `specs`, one at a time: each may be on any device, and is converted there.
pub(super) fn write_each(
    out: &mut impl Write,
    specs: &[&TensorSpec],
    precision: Precision,
    tensor: impl Fn(usize) -> candle_core::Result<Tensor>,
) -> std::io::Result<()> {
    let mut order: Vec<usize> = (0..specs.len()).collect();
    order.sort_by(|&a, &b| specs[a].name.cmp(&specs[b].name));
    let mut end = 0;
    let infos = order.iter().map(|&index| {
        let (from, shape) = (end, specs[index].shape.clone());
        end += specs[index].elements() * precision.bytes();
        (specs[index].name.clone(), TensorInfo { dtype: stored_dtype(precision), shape, data_offsets: (from, end) })
    });
    // `transformers` refuses a file that does not say which framework wrote it.
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    let header = Metadata::new(Some(metadata), infos.collect()).map_err(std::io::Error::other)?;
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(PREFIX as usize), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    let stored = |index: usize| tensor(index)?.to_dtype(precision.dtype())?.to_device(&Device::Cpu);
    // The bytes of a tensor are little-endian, as the processors are.
    order.iter().try_for_each(|&index| out.write_all(&stored(index).map_err(std::io::Error::other)?.data()))
}
