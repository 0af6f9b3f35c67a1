//! How a tokenizer splits text into words, which its tokens never cross, by the name that a file gives it (`tokenizer.ggml.pre`).
//!
//! Called where the tokenizer inside a file is read. candle knows the ways of Qwen2 and Llama 3; the others are built here, with the steps of the
//! models' `tokenizer.json`. A name that is not listed is refused, because a wrong split gives tokens that the model has never seen together.

use tokenizers::SplitDelimiterBehavior;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};

const KINDS: [(&str, WordSplitting); 13] = [
    ("qwen2", WordSplitting::Candle("qwen2")),
    ("deepseek-r1-qwen", WordSplitting::Candle("qwen2")),
    ("llama-bpe", WordSplitting::Candle("llama3")),
    ("llama3", WordSplitting::Candle("llama3")),
    ("smaug-bpe", WordSplitting::Candle("smaug-bpe")),
    ("gpt-2", GPT2),
    ("smollm", DIGITS_THEN_GPT2),
    ("starcoder", DIGITS_THEN_GPT2),
    ("refact", DIGITS_THEN_GPT2),
    ("deepseek-coder", DEEPSEEK_CODER),
    ("deepseek-llm", DEEPSEEK_LLM),
    ("tekken", TEKKEN),
    ("seed-coder", SEED_CODER),
];

/// Han, and what lies between its blocks and those of the Indic scripts and of Hangul, as DeepSeek has it.
const EAST_ASIAN: &str = "[\u{4e00}-\u{9fa5}\u{0800}-\u{4e00}\u{ac00}-\u{d7ff}]+";

/// DeepSeek-LLM's words: letters with case, but for blocks that it leaves out, such as small letters of Armenian and Georgian, and letters of
/// mathematics.
const CASED_LETTERS: &str = "\\s?[\\p{Lu}\\p{Ll}\\p{Lt}--[\u{560}-\u{588}\u{10c7}-\u{10ff}\u{1c80}-\u{1c8f}\u{2d00}-\u{2d2f}\
                             \u{a790}-\u{a7ff}\u{ab30}-\u{ab6f}\u{10570}-\u{10c7f}\u{10d00}-\u{1189f}\u{118e0}-\u{1e8ff}\
                             \u{1e944}-\u{10ffff}]]+";

/// DeepSeek-LLM's punctuation. Its second range has the letters of ASCII, which are split from others so.
const PUNCTUATION: &str = "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}\u{2018}-\u{201f}\u{3000}-\u{3002}]+";

const GPT2: WordSplitting = WordSplitting::Steps { expressions: &[], digits: false, gpt2: true };

/// SmolLM, SmolLM2, StarCoder.
const DIGITS_THEN_GPT2: WordSplitting = WordSplitting::Steps { expressions: &[], digits: true, gpt2: true };

/// At ends of lines, then letters, punctuation, Chinese, Japanese and Korean letters, and single digits.
const DEEPSEEK_CODER: WordSplitting = WordSplitting::Steps {
    expressions: &["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", EAST_ASIAN],
    digits: true,
    gpt2: false,
};

/// As before, with letters and punctuation of its own: DeepSeek-LLM, DeepSeek-Math, and DeepSeek-Coder from version 1.5 on.
const DEEPSEEK_LLM: WordSplitting = WordSplitting::Steps {
    expressions: &["[\r\n]", CASED_LETTERS, PUNCTUATION, r"\s+$", EAST_ASIAN],
    digits: true,
    gpt2: false,
};

/// Mistral NeMo, Devstral: a capital begins a word, whatever stands before it; digits by themselves; slashes stay with the punctuation before
/// them.
const TEKKEN: WordSplitting = WordSplitting::Steps {
    expressions: &[concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    )],
    digits: false,
    gpt2: false,
};

/// As Qwen2's, but ends of lines do not stay with the punctuation before them.
const SEED_CODER: WordSplitting = WordSplitting::Steps {
    expressions: &[concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
        r"| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+",
    )],
    digits: false,
    gpt2: false,
};

/// How text is split into words.
#[derive(Clone, Copy)]
pub(super) enum WordSplitting {
    /// As candle does for this name. It takes any name that it does not know for GPT-2's, and adds a space that GPT-2 does not.
    Candle(&'static str),
    Steps {
        /// Every match of each is a word, and so is what lies between two.
        expressions: &'static [&'static str],
        /// Whether every digit is one then.
        digits: bool,
        /// Whether the rest is split as GPT-2 does.
        gpt2: bool,
    },
}

impl WordSplitting {
    pub(super) fn of_kind(kind: &str) -> Option<Self> {
        KINDS.iter().find(|(name, _)| *name == kind).map(|(_, splitting)| *splitting)
    }

    /// The name under which candle makes the rest of the tokenizer.
    pub(super) const fn candle_name(self) -> &'static str {
        if let Self::Candle(name) = self { name } else { "default" }
    }

    /// The steps that candle does not have; none for its own.
    pub(super) fn steps(self) -> tokenizers::Result<Vec<PreTokenizerWrapper>> {
        let Self::Steps { expressions, digits, gpt2 } = self else { return Ok(Vec::new()) };
        let mut steps = expressions.iter().copied().map(isolate).collect::<tokenizers::Result<Vec<_>>>()?;
        if digits {
            steps.push(Digits::new(true).into());
        }
        steps.push(ByteLevel::new(false, true, gpt2).into());
        Ok(steps)
    }
}

/// Whether a word that is a token stays whole, as llama.cpp has it for these kinds and as their tokenizer.json says.
pub(super) fn keeps_words_that_are_tokens(kind: &str) -> bool {
    matches!(kind, "llama-bpe" | "llama3" | "tekken")
}

fn isolate(expression: &str) -> tokenizers::Result<PreTokenizerWrapper> {
    let pattern = SplitPattern::Regex(expression.to_owned());
    Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map(PreTokenizerWrapper::from)
}

#[cfg(test)]
mod tests {
    use tokenizers::pre_tokenizers::sequence::Sequence;
    use tokenizers::tokenizer::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

    use super::WordSplitting;

    /// The words of a text, with bytes as they are read and not as tokens spell them.
    fn words(kind: &str, text: &str) -> Vec<String> {
        let splitting = WordSplitting::of_kind(kind).expect("it is known");
        let mut split = PreTokenizedString::from(text);
        Sequence::new(splitting.steps().expect("the expressions are valid"))
            .pre_tokenize(&mut split)
            .expect("it splits");
        let words = split.get_splits(OffsetReferential::Original, OffsetType::Byte);
        words.into_iter().map(|(_, (start, end), _)| text[start..end].to_owned()).collect()
    }

    /// A text and the words that the models of a kind split it into.
    #[derive(serde::Deserialize)]
    struct SplitText {
        kind: String,
        text: String,
        words: Vec<String>,
    }

    #[test]
    fn code_letters_and_spaces_are_split_as_the_models_of_each_kind_do() {
        for line in include_str!("../../tests/gguf/words.jsonl").lines() {
            let SplitText { kind, text, words: want } = serde_json::from_str(line).expect(line);
            assert_eq!(words(&kind, &text), want, "{kind}: {text:?}");
        }
    }

    #[test]
    fn a_kind_that_is_not_listed_is_unknown() {
        for kind in ["", "default", "falcon", "mpt", "command-r", "dbrx", "deepseek-v3", "qwen", "tekken2"] {
            assert!(WordSplitting::of_kind(kind).is_none(), "{kind}");
        }
    }
}
