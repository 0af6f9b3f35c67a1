//! The limits that a request states.

use serde::Deserialize;
use utoipa::ToSchema;
use veriplay_core::LimitOverrides;

use crate::objects::{optional_count, optional_fuel};
use crate::problem::Problem;

/// Limits of each job. Any of them may stand alone; the rest are those of the task or the service.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsRequest {
    /// Seconds, which become fuel: 6e10 units each; in place of `fuel`.
    #[serde(default)]
    seconds: Option<f64>,
    /// Wasm fuel.
    #[serde(default, deserialize_with = "optional_fuel")]
    fuel: Option<u64>,
    /// Linear memory, the interpreter's own share included.
    #[serde(default, deserialize_with = "optional_count")]
    memory_bytes: Option<u64>,
    /// Bytes of stdout and of the values, each.
    #[serde(default, deserialize_with = "optional_count")]
    output_bytes: Option<u64>,
    /// Bytes that the program may keep in files.
    #[serde(default, deserialize_with = "optional_count")]
    file_bytes: Option<u64>,
}

impl LimitsRequest {
    /// # Errors
    /// When `seconds` are out of range, or stand beside `fuel`.
    pub(crate) fn overrides(self) -> Result<LimitOverrides, Problem> {
        let Self { seconds, fuel, memory_bytes, output_bytes, file_bytes } = self;
        let fuel = LimitOverrides::fuel_of(fuel, seconds).map_err(|why| Problem::invalid("limits.seconds", why))?;
        Ok(LimitOverrides { fuel, memory_bytes, output_bytes, file_bytes, deadline_ns: None })
    }
}
