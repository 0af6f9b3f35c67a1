//! One untrusted thing to run.

use serde::{Deserialize, Serialize};

use crate::{Digest, Limits, Value, content_hash};

/// One untrusted thing to run. It carries no expected value: whatever is in here, the program may read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the image it runs in, such as `python`.
    pub image: String,
    /// Source text of the program.
    pub program: String,
    /// How the program is entered.
    pub entry: Entry,
    /// What the program reads from standard input.
    pub stdin: Vec<u8>,
    /// Files in the program's working directory: relative path and content.
    pub files: Vec<(String, Vec<u8>)>,
    /// What it may use.
    pub limits: Limits,
    /// Seeds the guest's random source, its hash seed where the image allows it, and its virtual clock.
    pub seed: u64,
}

/// How a program is entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Run as a script, with `__name__ == "__main__"`.
    Script,
    /// Run the program as a module, then call `function` once for each argument list, in order, in the same state.
    /// A call that raises does not keep the later ones from running.
    Calls {
        /// Name of a callable the program defines.
        function: String,
        /// One list of positional arguments a call.
        arguments: Vec<Vec<Value>>,
    },
}

impl Job {
    /// Names this job: equal jobs have equal outcomes on the same image.
    #[must_use]
    pub fn digest(&self) -> Digest {
        content_hash(self)
    }
}
