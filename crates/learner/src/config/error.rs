//! What can be wrong with a `config.json`.

/// What is wrong with a `config.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not a JSON object.
    #[error("config.json cannot be read: {0}; hint: it may be cut short, fetch it again")]
    Parse(String),
    /// A model this learner does not have.
    #[error("model_type `{0}` is not supported: want `qwen2`, `qwen3` or `llama`")]
    ModelType(String),
    /// A key that must be there.
    #[error("config.json lacks `{0}`: add it, or fetch the file again")]
    Missing(String),
    /// A value that is of another type, that this learner cannot compute, or that contradicts another.
    #[error("config.json: `{key}` is `{value}`: {want}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What it must be.
        want: String,
    },
    /// A device that cannot be had.
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
}

/// Fails with [`ConfigError::Value`] unless `ok`.
pub(crate) fn check(
    key: &str,
    value: impl ToString,
    ok: bool,
    want: impl FnOnce() -> String,
) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::Value { key: key.to_owned(), value: value.to_string(), want: want() }) }
}
