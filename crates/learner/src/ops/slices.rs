//! CPU tensors as `f32` slices, and back.

use std::ops::{Deref, Range};

use candle_core::{CpuStorage, Device, Error, Layout, Result, Shape, Storage, StorageRef, Tensor};
use half::bf16;

/// The numbers of a contiguous f32 tensor on the CPU, locked for reading. Nothing is copied.
pub(crate) struct TensorSlice<'a> {
    storage: StorageRef<'a>,
    range: Range<usize>,
}

impl<'a> TensorSlice<'a> {
    pub(crate) fn new(tensor: &'a Tensor) -> Result<Self> {
        let (storage, layout) = tensor.storage_and_layout();
        let Storage::Cpu(cpu) = &*storage else {
            return Err(Error::Msg("a kernel of the CPU was given a tensor of another device".to_owned()));
        };
        cpu.as_slice::<f32>()?;
        let range = contiguous(layout)?;
        Ok(Self { storage, range })
    }
}

impl Deref for TensorSlice<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match &*self.storage {
            Storage::Cpu(CpuStorage::F32(data)) => &data[self.range.clone()],
            _ => &[], // `new` lets no other in
        }
    }
}

impl std::fmt::Debug for TensorSlice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TensorSlice({:?})", self.range)
    }
}

fn contiguous(layout: &Layout) -> Result<Range<usize>> {
    let (start, end) = layout
        .contiguous_offsets()
        .ok_or_else(|| Error::Msg(format!("a kernel needs a contiguous tensor, not {layout:?}")))?;
    Ok(start..end)
}

/// An argument of an operation, to read.
pub(crate) fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    Ok(&storage.as_slice::<f32>()?[contiguous(layout)?])
}

/// As [`floats`], of tensors in bf16.
pub(crate) fn narrow_floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [bf16]> {
    Ok(&storage.as_slice::<bf16>()?[contiguous(layout)?])
}

/// As [`floats`], to write.
pub(crate) fn floats_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match storage {
        CpuStorage::F32(data) => Ok(&mut data[contiguous(layout)?]),
        _ => Err(Error::Msg("a kernel needs f32".to_owned())),
    }
}

pub(crate) fn output(data: Vec<f32>, shape: impl Into<Shape>) -> (CpuStorage, Shape) {
    (CpuStorage::F32(data), shape.into())
}

pub(crate) fn gradient(data: Vec<f32>, shape: &Shape) -> Result<Option<Tensor>> {
    Tensor::from_vec(data, shape, &Device::Cpu).map(Some)
}
