//! The device a learner computes on, and the precision of its numbers.
//!
//! Called when a learner is made. An unavailable device is an error with a hint; nothing falls back to the CPU.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use candle_core::DType;
use serde::{Deserialize, Serialize};

/// Where a learner computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum DeviceSpec {
    /// The CPU, by our own kernels: reproducible to the bit.
    #[default]
    Cpu,
    /// The CPU, by the operations that a card uses: slow, and there to be compared with.
    Portable,
    /// An NVIDIA card, by its number.
    Cuda(usize),
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Portable => f.write_str("cpu-portable"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl From<DeviceSpec> for String {
    fn from(device: DeviceSpec) -> Self {
        device.to_string()
    }
}

impl FromStr for DeviceSpec {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let number = |text: &str| text.parse().ok().filter(|number| *number < 256);
        match text {
            "cpu" => Ok(Self::Cpu),
            "cpu-portable" => Ok(Self::Portable),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(number)
                .map(Self::Cuda)
                .ok_or_else(|| DeviceError::Unknown(text.to_owned())),
        }
    }
}

impl TryFrom<String> for DeviceSpec {
    type Error = DeviceError;

    fn try_from(text: String) -> Result<Self, DeviceError> {
        text.parse()
    }
}

/// Precision of saved weights, or of activations. Weights that train are f32 in memory either way; on a device a frozen base under adapters, and
/// weights whose f32 is on the host with the optimizer, are kept in the precision of activations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits: saved weights are loaded to the bit.
    #[default]
    F32,
    /// Rounded to bfloat16, half the size: 8 bits of precision are left.
    Bf16,
}

/// What samples are computed in, where that is another precision than the weights'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RolloutPrecision {
    /// Matrices in 8-bit integers, and the rows that they are multiplied by. The embedding, attention and norms stay f32.
    Int8,
}

impl RolloutPrecision {
    /// As a configuration has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
        }
    }
}

impl Precision {
    pub(crate) const fn torch_dtype(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::Bf16 => "bfloat16",
        }
    }

    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::Bf16 => DType::BF16,
        }
    }

    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::Bf16 => 2,
        }
    }
}

/// A device that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No such word.
    #[error("device `{0}` is not known: want `cpu`, `cpu-portable`, `cuda` or `cuda:N`")]
    Unknown(String),
    /// The program has no code for it.
    #[error(
        "device `{0}`: this program was built without CUDA; build it with `bash scripts/build-cuda`, which passes `--features veriplay/cuda`"
    )]
    NotBuilt(DeviceSpec),
    /// The driver, a library or the card is not there.
    #[error("device `{device}` cannot be used: {reason}; hint: {hint}")]
    Unavailable {
        /// The device.
        device: DeviceSpec,
        /// The driver's message.
        reason: String,
        /// How to mend it.
        hint: &'static str,
    },
    /// bf16 where there is no hardware for it.
    #[error(
        "precision `bf16` on device `cpu`: its kernels are f32, and bf16 would be slower; use `f32`, or a device `cuda`"
    )]
    Bf16OnCpu,
}

impl DeviceSpec {
    /// Whether these two go together, in this program.
    ///
    /// # Errors
    /// They do not. Whether there is such a device only [`crate::Learner`] finds out.
    pub const fn check(self, precision: Precision) -> Result<(), DeviceError> {
        match (self, precision) {
            (Self::Cuda(_), _) if !cfg!(feature = "cuda") => Err(DeviceError::NotBuilt(self)),
            (Self::Cpu, Precision::Bf16) => Err(DeviceError::Bf16OnCpu),
            _ => Ok(()),
        }
    }

    /// Opens the device, as a learner does too, so that errors show before a model is read.
    pub fn probe(self, precision: Precision) -> Result<(), DeviceError> {
        OpenDevice::open(self, precision).map(|_| ())
    }

    /// Free bytes of a card, before a learner is there; `None` for the CPU, and where the device cannot be opened or does not report them.
    pub fn free_memory(self, precision: Precision) -> Option<u64> {
        OpenDevice::open(self, precision).ok()?.free_memory()
    }
}

/// Threads for what the host does for a device. Results do not depend on their number.
pub(crate) fn host_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[derive(Debug, Clone)]
pub(crate) struct OpenDevice {
    pub(crate) device: candle_core::Device,
    /// Of activations, of weights as operations read them, and of a frozen base under adapters. Weights that train are kept in f32, here or on the
    /// host.
    pub(crate) dtype: DType,
    /// Whether our own kernels compute: only on the CPU.
    pub(crate) kernels: bool,
}

impl OpenDevice {
    pub(crate) fn open(device: DeviceSpec, precision: Precision) -> Result<Self, DeviceError> {
        device.check(precision)?;
        let kernels = device == DeviceSpec::Cpu;
        let device = match device {
            DeviceSpec::Cpu | DeviceSpec::Portable => candle_core::Device::Cpu,
            DeviceSpec::Cuda(number) => cuda(number)?,
        };
        Ok(Self { device, dtype: precision.dtype(), kernels })
    }

    /// The number of data-parallel workers: the requested threads of the CPU, or one device.
    pub(crate) const fn workers(&self, requested: usize) -> usize {
        if self.kernels { requested } else { 1 }
    }

    /// Free bytes of the device; `None` for the CPU, or where the driver does not report them.
    pub(crate) fn free_memory(&self) -> Option<u64> {
        #[cfg(feature = "cuda")]
        return crate::cuda::memory(&self.device).map(|(free, _)| free);
        #[cfg(not(feature = "cuda"))]
        None
    }

    /// Gives other processes the memory that is kept for allocations to come.
    pub(crate) fn release_memory(&self) {
        #[cfg(feature = "cuda")]
        crate::cuda::release_memory(&self.device);
    }

    /// The most bytes of the device that were in use at once since the last call; `None` as above.
    pub(crate) fn take_peak_memory(&self) -> Option<u64> {
        #[cfg(feature = "cuda")]
        return crate::cuda::take_peak_memory(&self.device);
        #[cfg(not(feature = "cuda"))]
        None
    }
}

#[cfg(not(feature = "cuda"))]
const fn cuda(number: usize) -> Result<candle_core::Device, DeviceError> {
    Err(DeviceError::NotBuilt(DeviceSpec::Cuda(number)))
}

#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<candle_core::Device, DeviceError> {
    crate::cuda::open(number).map_err(|error| {
        let text = error.to_string();
        let none = ["NO_DEVICE", "INVALID_DEVICE", "STUB_LIBRARY"].iter().any(|code| text.contains(code));
        let hint = if none {
            "there is no such card, or no NVIDIA driver for it; `nvidia-smi` lists what there is"
        } else {
            "LD_LIBRARY_PATH must name the folder of cuBLAS, cuRAND and NVRTC for CUDA 13, where they are not installed system-wide"
        };
        DeviceError::Unavailable { device: DeviceSpec::Cuda(number), reason: driver_code(&text).to_owned(), hint }
    })
}

/// The driver's code in an error of cudarc, which prints as `DriverError(CODE, "text")`, or else its first line.
#[cfg(any(feature = "cuda", test))]
fn driver_code(text: &str) -> &str {
    let code = text.strip_prefix("DriverError(").and_then(|rest| rest.split_once(',')).map(|(code, _)| code);
    code.unwrap_or_else(|| text.lines().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{DeviceError, DeviceSpec, driver_code};

    #[test]
    fn a_device_is_written_as_it_is_read() {
        for text in ["cpu", "cpu-portable", "cuda", "cuda:1", "cuda:15"] {
            assert_eq!(text.parse::<DeviceSpec>().map(|device| device.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("cuda:0".parse(), Ok(DeviceSpec::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:9999", "CUDA", "cuda:1 "] {
            assert_eq!(text.parse::<DeviceSpec>(), Err(DeviceError::Unknown(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn an_error_of_the_driver_is_reported_by_its_code() {
        assert_eq!(driver_code("DriverError(CUDA_ERROR_NO_DEVICE, \"none\")"), "CUDA_ERROR_NO_DEVICE");
        assert_eq!(driver_code("something else\nbacktrace"), "something else");
    }
}
