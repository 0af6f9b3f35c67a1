//! Learning-rate schedules: pure functions of the step.

use serde::{Deserialize, Serialize};

/// How the learning rate changes over a run of `total` steps. Every shape starts with `warmup` steps of linear rise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleShape {
    /// Stays at the peak.
    Constant,
    /// Falls in a line to `final_ratio` of the peak at the last step.
    Linear,
    /// Falls along half a cosine.
    Cosine,
    /// Warm-up, stable, decay: stays at the peak, then falls in a line over the last `decay` share of the steps.
    Trapezoid {
        /// Share of the steps spent falling, 0 to 1.
        decay: f64,
    },
}

/// A learning-rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its shape after warm-up.
    pub shape: ScheduleShape,
    /// The highest rate.
    pub peak: f64,
    /// The last rate, as a share of the peak.
    pub final_ratio: f64,
    /// Steps of linear rise.
    pub warmup: u64,
    /// Steps of the run. A later step keeps the last rate.
    pub total: u64,
}

impl Schedule {
    /// The rate of step `step`, counted from 0.
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        let span = self.total.saturating_sub(self.warmup + 1).max(1) as f64;
        let progress = ((step - self.warmup) as f64 / span).min(1.0);
        self.peak * (self.final_ratio + (1.0 - self.final_ratio) * self.height(progress))
    }

    /// Height over the floor, 1 to 0, at `progress` from 0 to 1.
    fn height(&self, progress: f64) -> f64 {
        match self.shape {
            ScheduleShape::Constant => 1.0,
            ScheduleShape::Linear => 1.0 - progress,
            ScheduleShape::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
            ScheduleShape::Trapezoid { decay } if decay > 0.0 => ((1.0 - progress) / decay).min(1.0),
            ScheduleShape::Trapezoid { .. } => 1.0,
        }
    }
}
