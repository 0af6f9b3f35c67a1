//! The wheels that make pytest: pure Python, pinned by version and content.

use veriplay_core::Layer;

use super::unpack::{Archive, UnpackError, unpack};

/// A wheel as pip takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wheel {
    /// `name==version`.
    pub requirement: &'static str,
    /// Of the file, in hexadecimal.
    pub sha256: &'static str,
}

/// pytest and all it imports.
pub const PYTEST: [Wheel; 5] = [
    Wheel { requirement: "pytest==8.4.2", sha256: "872f880de3fc3a5bdc88a11b39c9710c3497a547cfa9320bc3c5e62fbf272e79" },
    Wheel { requirement: "pluggy==1.6.0", sha256: "e920276dd6813095e9377c0bc5566d94c932c33b27a3e3945d8389c374dd4746" },
    Wheel {
        requirement: "iniconfig==2.1.0",
        sha256: "9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760",
    },
    Wheel {
        requirement: "packaging==25.0",
        sha256: "29572ef2b1f17581046b3a2227d5c611fb25ec70ca1ba8554b24b0e69331a484",
    },
    Wheel {
        requirement: "pygments==2.19.2",
        sha256: "86540386c03d588bb81d44bc3928634ff26449851e99741617ecb9037ee5ec0b",
    },
];

/// The layer of these wheels' files.
///
/// # Errors
/// When one is no archive, or two have a file in common.
pub fn layer(wheels: &[Vec<u8>]) -> Result<Layer, UnpackError> {
    let unpacked = wheels.iter().map(|bytes| unpack(bytes, Archive::Zip)).collect::<Result<Vec<_>, _>>()?;
    Ok(Layer::new(unpacked.into_iter().flatten())?)
}
