//! Text to tokens and back, with the Hugging Face `tokenizer.json` as the file format.
//!
//! Called by the learner for prompts and rollouts, and by whoever makes training data. [`build_tokenizer`] makes the tiny
//! vocabulary: an end token, control tokens, Python fragments as single tokens, and every printable ASCII character.
//! A tokenizer of a Hugging Face checkpoint does what `tokenizers` does with the file; its added tokens are recognised by their
//! spelling. Invariant for our own: `decode(encode(text)) == text`, or `encode` is an error; nothing is dropped or replaced silently.

use std::path::Path;

use tokenizers::decoders::DecoderWrapper;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::{AddedToken, Tokenizer as Inner};

/// Spelling of the token that ends an answer in a tokenizer of [`build_tokenizer`]; its id is 0.
pub const END_TOKEN: &str = "<|end|>";

/// An error of a tokenizer, or of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    /// The list of tokens cannot be used.
    #[error("token `{token}` {problem}")]
    Token {
        /// The token.
        token: String,
        /// The problem.
        problem: &'static str,
    },
    /// The `tokenizer.json` cannot be read or written.
    #[error("tokenizer.json cannot be used: {0}")]
    File(String),
    /// A character the vocabulary cannot spell.
    #[error("character `{0}` (U+{1:04X}) has no token: only printable ASCII, newline and tab can be spelled")]
    Character(char, u32),
    /// The checkpoint has no `tokenizer.json`.
    #[error(
        "this checkpoint has no `tokenizer.json`: give token ids instead of text, or put the file beside its config.json"
    )]
    Absent,
    /// The tokenizer does not give the text back.
    #[error("the tokenizer failed: {0}")]
    Encode(String),
}

/// A tokenizer.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    /// `None` for a checkpoint without a tokenizer.
    inner: Option<Box<Inner>>,
    /// Spelling of every token, where decoding is plain concatenation.
    spellings: Option<Vec<String>>,
}

/// Makes a tokenizer: id 0 is [`END_TOKEN`], then `control` tokens, then `fragments`, then newline, tab and printable ASCII.
/// Control tokens and fragments are matched leftmost-longest; the text between them is spelled character by character.
///
/// # Errors
/// A token that is empty, not ASCII, given twice, or a fragment of one character (the alphabet has those).
pub fn build_tokenizer(control: &[String], fragments: &[String]) -> Result<Tokenizer, TokenizerError> {
    let alphabet = ['\n', '\t'].into_iter().chain(' '..='~').map(String::from);
    let end = END_TOKEN.to_owned();
    let tokens: Vec<String> =
        std::iter::once(end).chain(control.iter().cloned()).chain(fragments.iter().cloned()).chain(alphabet).collect();
    check_tokens(&tokens[..=control.len() + fragments.len()])?;
    let vocab: Vocab = tokens.iter().cloned().zip(0..).collect();
    let model =
        BPE::builder().vocab_and_merges(vocab, Vec::new()).build().map_err(|e| TokenizerError::File(e.to_string()))?;
    let mut inner = Inner::new(model);
    inner.with_decoder(Some(Fuse::new()));
    let (special, plain) = tokens[..=control.len() + fragments.len()].split_at(1 + control.len());
    let added = |token: &String, is_special| AddedToken::from(token.clone(), is_special).normalized(false);
    let special: Vec<AddedToken> = special.iter().map(|token| added(token, true)).collect();
    let plain: Vec<AddedToken> = plain.iter().map(|token| added(token, false)).collect();
    inner.add_special_tokens(special).map_err(|e| TokenizerError::File(e.to_string()))?;
    inner.add_tokens(plain).map_err(|e| TokenizerError::File(e.to_string()))?;
    Ok(Tokenizer::from_inner(inner))
}

fn check_tokens(tokens: &[String]) -> Result<(), TokenizerError> {
    let mut seen = std::collections::BTreeSet::new();
    for token in tokens {
        let problem = if token.len() < 2 {
            Some("is shorter than two characters; single characters are in the alphabet already")
        } else if !token.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
            Some("holds something other than printable ASCII, newline and tab")
        } else if !seen.insert(token) {
            Some("is given twice")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(TokenizerError::Token { token: token.clone(), problem });
        }
    }
    Ok(())
}

impl Tokenizer {
    pub(crate) fn from_inner(inner: Inner) -> Self {
        let fused = matches!(inner.get_decoder(), Some(DecoderWrapper::Fuse(_)));
        let size = inner.get_vocab_size(true) as u32;
        let spellings = fused.then(|| (0..size).map(|id| inner.id_to_token(id).unwrap_or_default()).collect());
        Self { inner: Some(Box::new(inner)), spellings }
    }

    /// Stands for a missing `tokenizer.json`: it knows no token, and encoding is an error.
    pub const fn missing() -> Self {
        Self { inner: None, spellings: None }
    }

    /// Whether there is one.
    pub const fn is_present(&self) -> bool {
        self.inner.is_some()
    }

    fn inner(&self) -> Result<&Inner, TokenizerError> {
        self.inner.as_deref().ok_or(TokenizerError::Absent)
    }

    /// Reads the text of a `tokenizer.json`.
    pub fn from_json(json: &str) -> Result<Self, TokenizerError> {
        json.parse::<Inner>().map(Self::from_inner).map_err(|e| TokenizerError::File(e.to_string()))
    }

    /// Reads a `tokenizer.json`.
    pub fn load(path: &Path) -> Result<Self, TokenizerError> {
        let text =
            std::fs::read_to_string(path).map_err(|e| TokenizerError::File(format!("`{}`: {e}", path.display())))?;
        Self::from_json(&text)
    }

    /// The text of its `tokenizer.json`.
    pub fn to_json(&self) -> Result<String, TokenizerError> {
        self.inner()?.to_string(true).map_err(|e| TokenizerError::File(e.to_string()))
    }

    /// Number of tokens.
    pub fn vocab_size(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.get_vocab_size(true))
    }

    /// The id of a token, by its spelling.
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.inner.as_ref()?.token_to_id(token)
    }

    /// The spelling of a token.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.as_ref()?.id_to_token(id)
    }

    /// Tokens of `text`. Control tokens are recognised by their spelling; none is added.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let ids = self.encode_with(text, false)?;
        if self.spellings.is_some() && self.decode(&ids) != text {
            return Err(self.explain_failure(text));
        }
        Ok(ids)
    }

    /// As [`Tokenizer::encode`], with the tokens that the file says go around a document, such as Llama's begin token.
    pub fn encode_document(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        self.encode_with(text, true)
    }

    /// Tokens of a text that a model continues: as [`Tokenizer::encode_document`], but a text that begins with the begin token gets no second one.
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>, TokenizerError> {
        let own = self.encode(text)?;
        if self.inner()?.get_post_processor().is_none() {
            return Ok(own);
        }
        let document = self.encode_document(text)?;
        let has_begin = own.first().is_some_and(|first| document.first() == Some(first));
        Ok(if has_begin { own } else { document })
    }

    fn encode_with(&self, text: &str, around: bool) -> Result<Vec<u32>, TokenizerError> {
        let encoding = self.inner()?.encode_fast(text, around).map_err(|e| TokenizerError::Encode(e.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Whether a token is a control token: one that the file marks as special.
    pub fn is_special(&self, id: u32) -> bool {
        let added = self.inner.as_ref().map(|inner| inner.get_added_vocabulary());
        added.is_some_and(|added| added.get_added_tokens_decoder().get(&id).is_some_and(|token| token.special))
    }

    fn explain_failure(&self, text: &str) -> TokenizerError {
        let lost = text.chars().find(|c| self.token_id(c.encode_utf8(&mut [0; 4])).is_none());
        lost.map_or_else(
            || TokenizerError::Encode(format!("`{text}` does not survive a round trip")),
            |c| TokenizerError::Character(c, c as u32),
        )
    }

    /// Text of `tokens`, control tokens spelled out. Ids outside the vocabulary, which a model with spare rows may emit, give
    /// the empty string.
    pub fn decode(&self, tokens: &[u32]) -> String {
        match &self.spellings {
            Some(spellings) => tokens.iter().filter_map(|&id| spellings.get(id as usize)).map(String::as_str).collect(),
            None => self.inner().ok().and_then(|inner| inner.decode(tokens, false).ok()).unwrap_or_default(),
        }
    }
}
