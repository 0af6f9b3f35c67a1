//! The traits behind which an executor, a policy, a learner or a language can be swapped.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    Digest, Job, LearnError, Outcome, PolicyError, PreferenceBatch, Prompt, Rollout, Sampling, Snapshot, TrainBatch,
    Update, Value,
};

/// Runs one untrusted [`Job`]. Blocking, and callable from many threads.
pub trait Execute: Sync {
    /// Runs `job` from a fresh state. Whatever the program does is `Ok`. An implementation runs a job that met its deadline once more,
    /// with no other job beside it, because a busy machine must not decide a verdict.
    ///
    /// # Errors
    /// An invalid job, or a fault of the host that one retry on a new instance did not cure.
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError>;

    /// Whether nobody waits for its jobs any longer, so that what is made of them may end, too.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl<E: Execute + ?Sized> Execute for &E {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        (**self).execute(job)
    }

    fn is_cancelled(&self) -> bool {
        (**self).is_cancelled()
    }
}

/// A fault of the host or of the job's description, never of the program. The attempt is Dropped.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The job names an image this executor does not have.
    #[error("image `{0}` is not loaded")]
    UnknownImage(String),
    /// The job is invalid: it has an absolute file path, for example.
    #[error("bad job: {0}")]
    BadJob(String),
    /// The engine or the host failed.
    #[error("the sandbox failed: {0}")]
    Host(String),
    /// The job was [cancelled](crate::CancellationToken) before it ended.
    #[error("the job was cancelled")]
    Cancelled,
}

/// Cancels the jobs that it was given with. Clones share it, and once cancelled it stays so.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken {
    cancelled: Arc<AtomicBool>,
    /// The token that cancels this one, too.
    above: Option<Arc<CancellationToken>>,
}

impl CancellationToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and may be cancelled alone.
    pub fn child(&self) -> Self {
        Self { cancelled: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Cancels the jobs. They end soon after.
    pub fn cancel(&self) {
        // No other memory is read by it: a job that sees it later ends later.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the jobs are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.above.as_ref().is_some_and(|above| above.is_cancelled())
    }
}

/// Generates rollouts.
pub trait Policy {
    /// Generates `sampling.group` rollouts for each prompt, in the order of the prompts.
    ///
    /// # Errors
    /// When a prompt cannot be tokenized or does not fit the context, or the backend fails.
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError>;

    /// Whether a prompt, and so many tokens behind it, fit into the context. A policy that cannot tell says that they do, and
    /// [`Policy::generate`] refuses those that do not.
    fn has_room(&self, _prompt: &Prompt, _max_tokens: usize) -> bool {
        true
    }

    /// The tokens of the response that says `text`, the end token included.
    ///
    /// # Errors
    /// The text cannot be tokenized, or the policy does not tell its tokens.
    fn encode_response(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        let what = format!("the model does not tell the tokens of its responses, and one is imitated: `{text}`");
        Err(PolicyError::Backend(what))
    }

    /// The log-probability, in nats at temperature 1, of every token of each response behind the prompt of the same place, under the weights as they
    /// are. Nobody has to have sampled them.
    ///
    /// # Errors
    /// A prompt or a response that does not fit the context, or the policy does not tell.
    fn score_responses(&self, _prompts: &[Prompt], _responses: &[&[u32]]) -> Result<Vec<Vec<f32>>, PolicyError> {
        Err(PolicyError::Backend("the model does not tell the log-probabilities of given responses".to_owned()))
    }

    /// The names of other policies that can be sampled beside this one, such as kept checkpoints, oldest first.
    fn others(&self) -> Vec<String> {
        Vec::new()
    }

    /// The other policy of that name, if there is one and it can be opened.
    fn other(&self, name: &str) -> Result<Rc<dyn Policy>, PolicyError> {
        Err(PolicyError::Unknown { name: name.to_owned(), known: self.others() })
    }
}

/// Learns from weighted samples, and from pairs.
pub trait Learn {
    /// Takes one optimizer step at `learning_rate` with the loss over samples.
    ///
    /// # Errors
    /// When the batch is invalid, a gradient is missing or not finite, or the backend fails. The weights are then unchanged.
    fn update(&mut self, batch: &TrainBatch, learning_rate: f64) -> Result<Update, LearnError>;

    /// Takes one optimizer step at `learning_rate` with the loss over pairs. It fails as [`Learn::update`] does.
    fn prefer(&mut self, batch: &PreferenceBatch, learning_rate: f64) -> Result<Update, LearnError>;

    /// What it has learned so far, so that steps that are only tried can be undone.
    ///
    /// # Errors
    /// The backend fails, or the weights are elsewhere.
    fn snapshot(&self) -> Result<Snapshot, LearnError>;

    /// Goes back to a snapshot of its own: weights, optimizer and version. Another learner's is an error.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), LearnError>;
}

/// A policy that learns.
pub trait Trainable: Policy + Learn {}

impl<T: Policy + Learn> Trainable for T {}

/// What the host must know of a language to read, run and compare its programs.
pub trait Language: fmt::Debug + Sync {
    /// What requests call it, in SandboxFusion's spelling too. The first is its own.
    fn names(&self) -> &'static [&'static str];

    /// The image that its programs run in where nobody names another one.
    fn image(&self) -> &'static str;

    /// Whether a compiler reads a program before it runs, and reports what is wrong with it apart from the run.
    fn is_compiled(&self) -> bool {
        false
    }

    /// Whether a word behind the fence of a block, in lower case, says that the block is of this language.
    fn is_label(&self, word: &str) -> bool;

    /// Names a program by what it says: equal for programs that differ at most in layout, comments and the names of their own variables.
    fn fingerprint(&self, program: &str) -> Digest;

    /// The method that appends to the arguments of a program which runs, such as `ARGV.push`; `None` where they are given otherwise.
    fn arguments_push(&self) -> Option<&'static str> {
        None
    }

    /// How it writes the arguments and results of calls; `None` where its programs read and write streams alone.
    fn literals(&self) -> Option<&'static dyn Literals> {
        None
    }
}

/// How a language writes the arguments and results of calls, and which of them are the same.
pub trait Literals: fmt::Debug + Sync {
    /// Reads a result. Nothing is evaluated.
    ///
    /// # Errors
    /// Why the text is no literal.
    fn read(&self, text: &str) -> Result<Value, String>;

    /// Reads arguments, which commas part. Each must reach the program as the text says it.
    ///
    /// # Errors
    /// Why the text is no list of literals, or which of them does not reach a program as it is.
    fn read_arguments(&self, text: &str) -> Result<Vec<Value>, String>;

    /// Writes a value as [`Literals::read`] reads it, where it has a literal.
    fn write(&self, value: &Value) -> String;

    /// Writes arguments as in a call, without its brackets.
    fn write_arguments(&self, arguments: &[Value]) -> String {
        let texts: Vec<String> = arguments.iter().map(|argument| self.write(argument)).collect();
        texts.join(", ")
    }

    /// Whether programs cannot tell two results apart by what they are.
    fn are_equal(&self, one: &Value, other: &Value) -> bool;

    /// The beginning of what [`Literals::write`] gives, for people.
    fn excerpt(&self, value: &Value, chars: usize) -> String {
        let text = self.write(value);
        match text.char_indices().nth(chars) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_cancelled_alone_or_with_the_token_that_it_is_of() {
        let all = CancellationToken::new();
        let (ended, open) = (all.child(), all.child());
        ended.cancel();
        assert!(ended.is_cancelled() && ended.child().is_cancelled());
        assert!(!open.is_cancelled() && !all.is_cancelled());
        all.cancel();
        assert!(open.is_cancelled() && open.child().is_cancelled());
    }
}
