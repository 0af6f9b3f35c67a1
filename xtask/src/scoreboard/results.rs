//! The records of a scoreboard: what `scoreboard.json` holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of [`Scoreboard`].
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scoreboard {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Where.
    pub machine: Machine,
    /// In the table's order.
    pub peers: Vec<PeerResult>,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// The kernel's name and release.
    pub kernel: String,
    /// Memory in MiB.
    pub memory_mib: u64,
}

/// One peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerResult {
    /// The name of its folder.
    pub name: String,
    /// What the table calls it.
    pub title: String,
    /// How it was configured.
    pub configured: String,
    /// The command of a program, or of its service, with placeholders.
    pub command: String,
    /// Classes of probes that it claims to contain.
    pub claims: Vec<String>,
    /// Limits that it claims.
    pub meters: Vec<String>,
    /// Whether it claims a fresh state for each program.
    pub claims_fresh_state: bool,
    /// When it was measured, in UTC.
    pub date: String,
    /// The numbers, or why there are none.
    #[serde(flatten)]
    pub outcome: PeerOutcome,
}

/// Whether this machine could have the peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerOutcome {
    /// It was measured.
    Measured(Box<Measurements>),
    /// It could not be had, and why.
    Absent(String),
}

/// The numbers of a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// What its version command printed.
    pub version: String,
    /// The one-minute load of the machine before and after.
    pub load: [f64; 2],
    /// Seconds of its set-up, downloads included; next to nothing where the machine had it already.
    pub install_seconds: f64,
    /// Seconds from its start to the first right answer.
    pub start_seconds: f64,
    /// One program at a time.
    pub sequential: Speed,
    /// Two at a time.
    pub two_in_flight: Speed,
    /// Many at a time.
    pub under_load: UnderLoad,
    /// Resident memory.
    pub memory: Memory,
    /// What an earlier program left behind.
    pub fresh_state: FreshState,
    /// Which limits hold.
    pub metering: Metering,
    /// The probes that run on any target.
    pub isolation: Isolation,
    /// Its own suite, if it has one.
    pub own_suite: Option<Isolation>,
}

/// Programs a second, as medians over rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Programs a second.
    pub programs_per_second: f64,
    /// How many times as fast the reference was, in the same rounds.
    pub reference_ratio: f64,
    /// The greatest rate of a round less the least, in percent of the median.
    pub spread_percent: f64,
    /// Programs that were timed.
    pub programs: usize,
    /// Answers that were not right, of any kind.
    pub not_right: usize,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// The 99th percentile, where at least 100 programs were timed; else the longest.
    pub p99_us: f64,
}

/// Known answers, many at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UnderLoad {
    /// Programs under way at once.
    pub in_flight: usize,
    /// Programs.
    pub programs: usize,
    /// Right answers.
    pub right: usize,
    /// Answers that claim success and are wrong: the worst kind.
    pub wrong: usize,
    /// Programs that the peer said had failed.
    pub failed: usize,
    /// Programs without an answer.
    pub unanswered: usize,
    /// The first answer that was not right.
    pub example: Option<String>,
    /// Seconds for all.
    pub seconds: f64,
}

/// Resident memory in MiB (proportional set size).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Of an idle service; 0 where nothing runs between programs.
    pub idle_mib: f64,
    /// For each of two programs in flight, beyond that.
    pub per_program_mib: f64,
}

/// What a later program found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FreshState {
    /// Left behind by an earlier program.
    pub found: Vec<String>,
    /// Looked for, and not there.
    pub absent: Vec<String>,
    /// Could not be looked for: the peer's Python has nothing of the kind.
    pub unavailable: Vec<String>,
}

/// A limit that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Whether it held.
    pub holds: bool,
    /// What was seen.
    pub evidence: String,
}

/// Limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metering {
    /// A program that computes for much longer than its limit is ended.
    pub cpu: Limit,
    /// A program that takes more memory than its limit does not get it.
    pub memory: Limit,
    /// A program that meets its limit of time gets equally far each time.
    pub fuel: Limit,
}

/// Probes by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Contained.
    pub contained: usize,
    /// Escaped.
    pub escaped: usize,
    /// Not run to a finding.
    pub unclear: usize,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub fn total(self) -> usize {
        self.contained + self.escaped + self.unclear
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            contained: self.contained + other.contained,
            escaped: self.escaped + other.escaped,
            unclear: self.unclear + other.unclear,
        }
    }
}

/// An isolation suite's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Isolation {
    /// The command, with placeholders.
    pub command: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// All probes.
    pub all: Counts,
    /// By class.
    pub classes: BTreeMap<String, Counts>,
    /// `CLASS/NAME` of each probe that escaped.
    pub escapes: Vec<String>,
}
