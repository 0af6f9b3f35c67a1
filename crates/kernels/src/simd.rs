//! Runtime choice of vector width, and aligned buffers. Every other kernel file goes through here; `gemm/int8.rs` knows instructions of its own, too.
//!
//! The crate is built for the baseline of its target; `pulp` picks AVX-512, AVX2 or scalar code when it runs. Loops written
//! over plain slices are compiled once per width because they are inlined into [`vectorized`].

/// Runs `work` with the widest vectors this machine has.
#[inline(always)]
pub(crate) fn dispatch<W: pulp::WithSimd>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Runs `work` compiled for the widest vectors this machine has. `work` and what it calls must be `#[inline(always)]`.
#[inline(always)]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    dispatch(work)
}

const LINE: usize = 16;

/// A growing buffer of `f32` that starts on a cache line, so that wide loads do not straddle two.
#[derive(Debug, Default)]
pub struct AlignedBuffer {
    data: Vec<f32>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// Room for `len` floats; their values are unspecified (whatever was there, or 0).
    pub fn resize(&mut self, len: usize) -> &mut [f32] {
        if self.data.len() < len + LINE {
            self.data = vec![0.0; len + LINE];
            let offset = self.data.as_ptr().align_offset(LINE * size_of::<f32>());
            self.start = if offset < LINE { offset } else { 0 };
        }
        self.len = len;
        self.as_mut_slice()
    }

    pub(crate) fn zeroed(&mut self, len: usize) -> &mut [f32] {
        let slice = self.resize(len);
        slice.fill(0.0);
        slice
    }

    /// The floats that [`AlignedBuffer::resize`] last made room for.
    pub fn as_slice(&self) -> &[f32] {
        &self.data[self.start..self.start + self.len]
    }

    /// As [`AlignedBuffer::as_slice`], to write.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data[self.start..self.start + self.len]
    }
}
