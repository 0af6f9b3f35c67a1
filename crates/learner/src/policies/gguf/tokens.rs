//! The tokenizer of a GGUF file: a `tokenizer.json`, or what the file itself holds, read by candle.

use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::Value;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use tokenizers::Tokenizer as Inner;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

use super::error::GgufError;
use super::file::Gguf;
use crate::tokenizer::Tokenizer;

/// Kinds of `tokenizer.ggml.pre` that candle splits as their models do, and candle's name for them. It takes any other for GPT-2's,
/// and adds a space that GPT-2 does not.
const KINDS: [(&str, &str); 5] = [
    ("qwen2", "qwen2"),
    ("llama-bpe", "llama3"),
    ("llama3", "llama3"),
    ("smaug-bpe", "smaug-bpe"),
    // Split by GPT-2's expression after single digits: see `split_as_smollm`.
    (SMOLLM, "default"),
];
/// The tokenizer of SmolLM and SmolLM2.
const SMOLLM: &str = "smollm";

/// The named tokenizer, or the one beside the file, or the one inside it, or none.
pub(super) fn tokenizer(file: &mut Gguf, named: Option<&Path>) -> Result<Tokenizer, GgufError> {
    let beside = file.path.with_file_name("tokenizer.json");
    let found: Option<PathBuf> = named.map(Path::to_owned).or_else(|| beside.exists().then_some(beside));
    match found {
        Some(json) => Tokenizer::load(&json).map_err(|source| GgufError::Tokenizer { path: file.path.clone(), source }),
        None if file.content.metadata.contains_key("tokenizer.ggml.model") => inside(file),
        None => Ok(Tokenizer::none()),
    }
}

fn inside(file: &mut Gguf) -> Result<Tokenizer, GgufError> {
    let model = file.text("tokenizer.ggml.model")?.to_owned();
    let pre = file.text("tokenizer.ggml.pre").unwrap_or("none").to_owned();
    let known = KINDS.iter().find(|(name, _)| model == "gpt2" && *name == pre);
    let Some((_, candles)) = known else {
        return Err(GgufError::TokenizerKind { path: file.path.clone(), kind: format!("{model}, {pre}") });
    };
    let metadata = &mut file.content.metadata;
    metadata.insert("tokenizer.ggml.pre".to_owned(), Value::String((*candles).to_owned()));
    if *candles == "llama3" {
        // As llama.cpp does for these, and as their tokenizer.json says: a word that is a token stays whole.
        metadata.insert("tokenizer.ggml.ignore_merges".to_owned(), Value::Bool(true));
    }
    let failed = |reason: String| GgufError::Model { path: file.path.clone(), reason };
    let mut inner = Inner::from_gguf(&file.content).map_err(|e| failed(e.to_string()))?;
    if pre == SMOLLM {
        split_as_smollm(&mut inner);
    }
    Ok(Tokenizer::wrap(inner))
}

/// Every digit is a word of its own, the rest is split as GPT-2 splits it, and no space is put before a text.
fn split_as_smollm(tokenizer: &mut Inner) {
    let words = ByteLevel::new(false, true, true);
    tokenizer
        .with_pre_tokenizer(Some(Sequence::new(vec![Digits::new(true).into(), words.into()])))
        .with_post_processor(None::<ByteLevel>)
        .with_decoder(Some(words));
}

/// The tokens that end an answer, as the file names them.
pub(super) fn end_tokens(file: &Gguf, vocabulary: usize) -> Result<Vec<u32>, GgufError> {
    let mut ends = Vec::new();
    for key in ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"] {
        if !file.content.metadata.contains_key(key) {
            continue;
        }
        let token = file.number(key)?;
        if token >= vocabulary {
            let problem = format!("is `{token}`, outside the vocabulary of {vocabulary} tokens");
            return Err(GgufError::Key { path: file.path.clone(), key: key.to_owned(), problem });
        }
        ends.push(token as u32);
    }
    ends.dedup();
    Ok(ends)
}
