//! Where a learner computes, and in which numbers.
//!
//! Called when a learner is made. A place that cannot be had is an error that says what to do: nothing moves to the CPU in silence.

use std::fmt;
use std::str::FromStr;

use candle_core::{DType, Device};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Precision;

/// Where a learner computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Place {
    /// The CPU, by our own kernels: what is reproducible to the bit.
    #[default]
    Cpu,
    /// The CPU, by the operations that a card uses: slow, and there to be compared with.
    Portable,
    /// An NVIDIA card, by its number.
    Cuda(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Portable => f.write_str("cpu-portable"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let number = |text: &str| text.parse().ok().filter(|number| *number < 256);
        match text {
            "cpu" => Ok(Self::Cpu),
            "cpu-portable" => Ok(Self::Portable),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(number)
                .map(Self::Cuda)
                .ok_or_else(|| PlaceError::Unknown(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = PlaceError;

    fn try_from(text: String) -> Result<Self, PlaceError> {
        text.parse()
    }
}

/// A place that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// No such word.
    #[error("device `{0}` is not known: want `cpu`, `cpu-portable`, `cuda` or `cuda:N`")]
    Unknown(String),
    /// The program has no code for it.
    #[error(
        "device `{0}`: this program was built without CUDA; build it with `bash scripts/build-cuda`, which runs `cargo build --release --features cuda`"
    )]
    NotBuilt(Place),
    /// The driver, a library or the card is not there.
    #[error("device `{place}` cannot be used: {reason}; hint: {hint}")]
    Unavailable {
        /// What was asked for.
        place: Place,
        /// What the driver said.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// bf16 where there is no hardware for it.
    #[error(
        "precision `bf16` on device `cpu`: its kernels are f32, and bf16 would be slower; use `f32`, or a device `cuda`"
    )]
    Bf16OnCpu,
}

impl Place {
    /// Whether these two go together, in this program.
    ///
    /// # Errors
    /// They do not. Whether there is such a device only [`crate::Learner`] finds out.
    pub const fn check(self, precision: Precision) -> Result<(), PlaceError> {
        match (self, precision) {
            (Self::Cuda(_), _) if !cfg!(feature = "cuda") => Err(PlaceError::NotBuilt(self)),
            (Self::Cpu, Precision::Bf16) => Err(PlaceError::Bf16OnCpu),
            _ => Ok(()),
        }
    }
}

impl Place {
    /// Opens it, which a learner does too: what is wrong shows before a model is read.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn probe(self, precision: Precision) -> Result<(), PlaceError> {
        Compute::open(self, precision).map(|_| ())
    }
}

/// A place that is open.
#[derive(Debug, Clone)]
pub(crate) struct Compute {
    pub(crate) device: Device,
    /// Of activations, and of weights as operations read them. Weights are kept in f32.
    pub(crate) dtype: DType,
    /// Whether our own kernels compute: on the CPU alone.
    pub(crate) kernels: bool,
}

impl Compute {
    pub(crate) fn open(place: Place, precision: Precision) -> Result<Self, PlaceError> {
        place.check(precision)?;
        let dtype = match precision {
            Precision::F32 => DType::F32,
            Precision::Bf16 => DType::BF16,
        };
        let device = match place {
            Place::Cpu | Place::Portable => Device::Cpu,
            Place::Cuda(number) => cuda(number)?,
        };
        Ok(Self { device, dtype, kernels: place == Place::Cpu })
    }
}

#[cfg(not(feature = "cuda"))]
const fn cuda(number: usize) -> Result<Device, PlaceError> {
    Err(PlaceError::NotBuilt(Place::Cuda(number)))
}

#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<Device, PlaceError> {
    crate::cuda::open(number).map_err(|error| {
        let text = error.to_string();
        let none = ["NO_DEVICE", "INVALID_DEVICE", "STUB_LIBRARY"].iter().any(|code| text.contains(code));
        let hint = if none {
            "there is no such card, or no NVIDIA driver for it; `nvidia-smi` lists what there is"
        } else {
            "LD_LIBRARY_PATH must name the folder of cuBLAS, cuRAND and NVRTC for CUDA 13, where they are not installed system-wide"
        };
        PlaceError::Unavailable { place: Place::Cuda(number), reason: told(&text).to_owned(), hint }
    })
}

/// The driver's code in an error of cudarc, which prints as `DriverError(CODE, "text")`, or else its first line.
#[cfg(any(feature = "cuda", test))]
fn told(text: &str) -> &str {
    let code = text.strip_prefix("DriverError(").and_then(|rest| rest.split_once(',')).map(|(code, _)| code);
    code.unwrap_or_else(|| text.lines().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Place, PlaceError, told};
    use crate::checkpoint::Precision;

    #[test]
    fn a_place_is_written_as_it_is_read() {
        for text in ["cpu", "cpu-portable", "cuda", "cuda:1", "cuda:15"] {
            assert_eq!(text.parse::<Place>().map(|place| place.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("cuda:0".parse(), Ok(Place::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:9999", "CUDA", "cuda:1 "] {
            assert_eq!(text.parse::<Place>(), Err(PlaceError::Unknown(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn an_error_of_the_driver_is_told_by_its_code() {
        assert_eq!(told("DriverError(CUDA_ERROR_NO_DEVICE, \"none\")"), "CUDA_ERROR_NO_DEVICE");
        assert_eq!(told("something else\nbacktrace"), "something else");
    }

    #[test]
    fn bf16_is_refused_on_the_cpu_and_cuda_where_it_was_not_built() {
        assert_eq!(Place::Cpu.check(Precision::Bf16), Err(PlaceError::Bf16OnCpu));
        assert_eq!(Place::Portable.check(Precision::Bf16), Ok(()));
        let built = Place::Cuda(0).check(Precision::Bf16);
        assert_eq!(built.is_ok(), cfg!(feature = "cuda"));
        if let Err(error) = built {
            assert!(error.to_string().contains("cargo build --release --features cuda"), "{error}");
        }
    }
}
