//! The tokens of a response as text, where the run has a checkpoint with a tokenizer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Value, context};
use veriplay_learner::Tokenizer;

use veriplay_run::rundir::RunDir;

/// Tokenizers that were read, by their run, with the bytes of their files: reading one takes up to a second, and all checkpoints of a run
/// have the same.
#[derive(Default)]
pub(crate) struct TokenTexts(Mutex<HashMap<PathBuf, (u64, Arc<Tokenizer>)>>);

impl TokenTexts {
    /// The first `most` tokens of an episode by its turns, with their ids and log-probabilities.
    pub(crate) fn of(&self, run: &Path, episode: &serde_json::Value, most: usize) -> Vec<Value> {
        let tokenizer = self.tokenizer(run);
        let mut left = most;
        let turns = episode["turns"].as_array().into_iter().flatten();
        let turn = |turn| {
            let shown = tokens(tokenizer.as_deref(), turn, left);
            left -= shown.len();
            Value::from(shown)
        };
        turns.map(turn).collect()
    }

    fn tokenizer(&self, run: &Path) -> Option<Arc<Tokenizer>> {
        let dir = RunDir::open(run).ok()?;
        let path = dir.checkpoint_path(*dir.checkpoint_steps().last()?).join("tokenizer.json");
        let bytes = std::fs::metadata(&path).ok()?.len();
        // Only whole entries are ever inserted.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tokenizer)) = known.get(run).filter(|(known, _)| *known == bytes) {
            return Some(Arc::clone(tokenizer));
        }
        let tokenizer = Arc::new(Tokenizer::load(&path).ok()?);
        known.insert(run.to_owned(), (bytes, Arc::clone(&tokenizer)));
        Some(tokenizer)
    }
}

fn tokens(tokenizer: Option<&Tokenizer>, turn: &serde_json::Value, most: usize) -> Vec<Value> {
    let ids = turn["tokens"].as_array().into_iter().flatten().filter_map(|id| u32::try_from(id.as_u64()?).ok());
    let token = |(place, id): (usize, u32)| {
        let logprob = turn["logprobs"][place].as_f64();
        let text = tokenizer.map(|tokenizer| text_of(tokenizer, id));
        context!(id, text, logprob => logprob.map(|logprob| format!("{logprob:.3}")), class => logprob.map(class))
    };
    ids.enumerate().take(most).map(token).collect()
}

/// A control token by its name, any other as it reads.
fn text_of(tokenizer: &Tokenizer, id: u32) -> String {
    let text = tokenizer.decode(&[id]);
    if text.is_empty() { tokenizer.token(id).unwrap_or_default() } else { text }
}

/// How likely the token was, as a class of the style sheet.
fn class(logprob: f64) -> &'static str {
    match logprob.exp() {
        p if p >= 0.9 => "p9",
        p if p >= 0.5 => "p5",
        p if p >= 0.1 => "p1",
        _ => "p0",
    }
}
