//! One untrusted thing to run.

use serde::{Deserialize, Serialize};

use crate::{Base, Digest, Limits, Value, content_hash};

/// One untrusted thing to run. It carries no expected value: whatever is in here, the program may read. The one exception
/// is a job with a [`callee`](Job::callee): there the callee is what is not trusted, and it sees the arguments of its calls alone.
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
    /// Files in the program's working directory: relative path and content. They hide files of the same path in `base`.
    pub files: Vec<(String, Vec<u8>)>,
    /// What it may use.
    pub limits: Limits,
    /// Seeds the guest's random source, its hash seed where the image allows it, and its virtual clock.
    pub seed: u64,
    /// A second program, in an instance of its own, whose functions this one may call by plain values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<Callee>,
    /// Files that it shares with other jobs, for a job and its callee alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
}

/// A program that another one calls. It runs under the job's own limits, each of the two for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callee {
    /// Source text, run as a module before the job's own program starts.
    pub program: String,
    /// Its own seed. The job's should be another: a program could predict what the other side draws.
    pub seed: u64,
    /// Whether the two keep their objects in common: what crosses then keeps its identity, and each side sees what the other
    /// changes. Otherwise copies cross.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_objects: bool,
    /// Files and directories of the job and of its base that it does not see, such as the tests that call it. A path that neither has
    /// is no error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// The files and directories of the job and of its base's working directory that it sees, where that is not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Files that it alone sees: relative path and content. They hide files of the same path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, Vec<u8>)>,
}

impl Callee {
    /// Whether a path of the job or of its base is hidden from it.
    #[must_use]
    pub fn hides(&self, path: &str) -> bool {
        is_among(&self.hidden, path) || self.only.as_ref().is_some_and(|only| !is_among(only, path))
    }

    /// The files in its working directory beside those of the base: its own, and those of `job` that it sees.
    #[must_use]
    pub fn files_in(&self, job: &Job) -> Vec<(String, Vec<u8>)> {
        let own = |path: &String| self.files.iter().any(|(name, _)| name == path);
        let shared = job.files.iter().filter(|(path, _)| !self.hides(path) && !own(path));
        shared.chain(&self.files).cloned().collect()
    }
}

/// Whether `path` is one of the files `names`, or below one of the directories.
#[must_use]
pub fn is_among(names: &[String], path: &str) -> bool {
    let below =
        |name: &String| path.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    names.iter().any(below)
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
        /// A callable the program defines, or `Class.method`: a method of an instance made without arguments.
        function: String,
        /// One list of positional arguments a call.
        arguments: Vec<Vec<Value>>,
    },
}

impl Job {
    /// A script in the image `python`: no input, no files, seed 0, [`Limits::small`]. Other fields are set by struct update.
    ///
    /// ```
    /// use veriplay_core::{Job, Limits};
    /// let job = Job { stdin: b"1 2".to_vec(), limits: Limits::large(), ..Job::script("print(input())") };
    /// ```
    #[must_use]
    pub fn script(program: impl Into<String>) -> Self {
        Self {
            image: "python".to_owned(),
            program: program.into(),
            entry: Entry::Script,
            stdin: Vec::new(),
            files: Vec::new(),
            limits: Limits::small(),
            seed: 0,
            callee: None,
            base: None,
        }
    }

    /// One call of `function`, which `program` defines; the rest as in [`Job::script`]. [`crate::Outcome::value`] reads its result.
    #[must_use]
    pub fn call(
        program: impl Into<String>,
        function: impl Into<String>,
        arguments: impl IntoIterator<Item = Value>,
    ) -> Self {
        Self::calls(program, function, [arguments.into_iter().collect()])
    }

    /// One call of `function` for each argument list, in order, in one state. [`crate::Outcome::values`] reads their results.
    #[must_use]
    pub fn calls(
        program: impl Into<String>,
        function: impl Into<String>,
        arguments: impl IntoIterator<Item = Vec<Value>>,
    ) -> Self {
        let arguments = arguments.into_iter().collect();
        Self { entry: Entry::Calls { function: function.into(), arguments }, ..Self::script(program) }
    }

    /// Names this job: equal jobs have equal outcomes on the same image.
    #[must_use]
    pub fn digest(&self) -> Digest {
        content_hash(self)
    }
}
