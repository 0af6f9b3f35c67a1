//! The Python image with numpy imported: `veriplay-image-python`, extended by a manifest.

/// The manifest, which names the image that it extends.
pub const MANIFEST: &str = include_str!("../sandbox.toml");
