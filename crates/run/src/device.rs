//! `--device` and `--precision`: where a model computes, instead of the configuration's values.
//!
//! Called by every command that opens a model. An unavailable device is an error before anything is loaded.

use clap::Args;
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_learner::{DeviceError, DeviceSpec, LearnerOptions, Precision};

// Where a model computes.
#[expect(missing_docs, reason = "clap would make a documentation comment the text of the whole command")]
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct DeviceArguments {
    /// Where the model computes: `cpu`, `cuda` or `cuda:N`; `cpu-portable` runs a card's operations on the CPU, to compare
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSpec>,
    /// What it computes in: `f32`, or `bf16` on a card; weights are f32 in both
    #[arg(long, value_name = "PRECISION", value_parser = parse_precision)]
    pub precision: Option<Precision>,
}

/// Reads a type of weights.
pub fn parse_precision(text: &str) -> Result<Precision, String> {
    match text {
        "f32" => Ok(Precision::F32),
        "bf16" => Ok(Precision::Bf16),
        _ => Err("want `f32` or `bf16`".to_owned()),
    }
}

impl DeviceArguments {
    /// Overrides the configured values.
    pub fn apply(self, device: &mut DeviceSpec, set: &mut Precision) {
        *device = self.device.unwrap_or(*device);
        *set = self.precision.unwrap_or(*set);
    }

    /// The options with the overrides.
    pub fn options(self, mut options: LearnerOptions) -> LearnerOptions {
        self.apply(&mut options.device, &mut options.precision);
        options
    }
}

/// Opens the device, so that its errors appear before a model is read.
pub fn check(options: &LearnerOptions) -> Result<(), Failure> {
    options.device.probe(options.precision).map_err(|error| match error {
        DeviceError::Unavailable { .. } => Failure::new(ExitCode::Model, error),
        error => Failure::new(ExitCode::Input, error),
    })
}

/// Rejects a device for a model that runs on the CPU only, or on a server.
pub fn refuse_for(name: &str, options: &LearnerOptions) -> Result<(), Failure> {
    if options.device == DeviceSpec::Cpu && options.precision == Precision::F32 {
        return Ok(());
    }
    let what = format!("`{name}` runs on the CPU or on a server, not on device `{}`", options.device);
    Err(Failure::message(ExitCode::Input, what).hint("leave `--device` and `--precision` out"))
}
