//! How a tokenizer splits text into words, which its tokens never cross, by the name that a file gives it (`tokenizer.ggml.pre`).
//!
//! Called where the tokenizer inside a file is read. candle knows the ways of Qwen2 and Llama 3; the others are built here, with the steps of the
//! models' `tokenizer.json`. A name that is not listed is refused, because a wrong split gives tokens that the model has never seen together.

use tokenizers::SplitDelimiterBehavior;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};

/// The names that are known.
const KINDS: [(&str, WordSplitting); 13] = [
    ("qwen2", WordSplitting::Candle("qwen2")),
    ("deepseek-r1-qwen", WordSplitting::Candle("qwen2")),
    ("llama-bpe", WordSplitting::Candle("llama3")),
    ("llama3", WordSplitting::Candle("llama3")),
    ("smaug-bpe", WordSplitting::Candle("smaug-bpe")),
    ("gpt-2", WordSplitting::Gpt2),
    ("smollm", WordSplitting::DigitsThenGpt2),
    ("starcoder", WordSplitting::DigitsThenGpt2),
    ("refact", WordSplitting::DigitsThenGpt2),
    ("deepseek-coder", WordSplitting::DeepseekCoder),
    ("deepseek-llm", WordSplitting::DeepseekLlm),
    ("tekken", WordSplitting::Tekken),
    ("seed-coder", WordSplitting::SeedCoder),
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

/// Mistral's: a capital begins a word, whatever stands before it; digits by themselves; slashes stay with the punctuation before them.
const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// Seed-Coder's: as Qwen2's, but ends of lines do not stay with the punctuation before them.
const SEED_CODER: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// How text is split into words.
#[derive(Clone, Copy)]
pub(super) enum WordSplitting {
    /// As candle does for this name. It takes any name that it does not know for GPT-2's, and adds a space that GPT-2 does not.
    Candle(&'static str),
    /// As GPT-2 does.
    Gpt2,
    /// Every digit by itself, and the rest as GPT-2 does: SmolLM, SmolLM2, StarCoder.
    DigitsThenGpt2,
    /// At ends of lines, then letters, punctuation, Chinese, Japanese and Korean letters, and single digits.
    DeepseekCoder,
    /// As before, with letters and punctuation of its own: DeepSeek-LLM, DeepSeek-Math, and DeepSeek-Coder from version 1.5 on.
    DeepseekLlm,
    /// By one expression: Mistral NeMo, Devstral.
    Tekken,
    /// By one expression: Seed-Coder.
    SeedCoder,
}

impl WordSplitting {
    /// The one of this name.
    pub(super) fn of_kind(kind: &str) -> Option<Self> {
        KINDS.iter().find(|(name, _)| *name == kind).map(|(_, splitting)| *splitting)
    }

    /// The name under which candle makes the rest of the tokenizer.
    pub(super) const fn candle_name(self) -> &'static str {
        if let Self::Candle(name) = self { name } else { "default" }
    }

    /// Whether a word that is a token stays whole, as llama.cpp has it for these and as their tokenizer.json says.
    pub(super) fn keeps_words_that_are_tokens(self) -> bool {
        matches!(self, Self::Candle("llama3") | Self::Tekken)
    }

    /// The steps that candle does not have; none for its own.
    pub(super) fn steps(self) -> tokenizers::Result<Vec<PreTokenizerWrapper>> {
        let gpt2 = ByteLevel::new(false, true, true);
        let bytes = ByteLevel::new(false, true, false);
        Ok(match self {
            Self::Candle(_) => Vec::new(),
            Self::Gpt2 => vec![gpt2.into()],
            Self::DigitsThenGpt2 => vec![Digits::new(true).into(), gpt2.into()],
            Self::DeepseekCoder => {
                let mut steps = isolate(&["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", EAST_ASIAN])?;
                steps.extend([Digits::new(true).into(), bytes.into()]);
                steps
            }
            Self::DeepseekLlm => {
                let mut steps = isolate(&["[\r\n]", CASED_LETTERS, PUNCTUATION, r"\s+$", EAST_ASIAN])?;
                steps.extend([Digits::new(true).into(), bytes.into()]);
                steps
            }
            Self::Tekken => isolate_then(TEKKEN, bytes)?,
            Self::SeedCoder => isolate_then(SEED_CODER, bytes)?,
        })
    }
}

fn isolate_then(regex: &str, last: ByteLevel) -> tokenizers::Result<Vec<PreTokenizerWrapper>> {
    let mut steps = isolate(&[regex])?;
    steps.push(last.into());
    Ok(steps)
}

/// A step for each expression: every match is a word, and so is what lies between two.
fn isolate(regexes: &[&str]) -> tokenizers::Result<Vec<PreTokenizerWrapper>> {
    let step = |regex: &&str| {
        let pattern = SplitPattern::Regex((*regex).to_owned());
        Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map(PreTokenizerWrapper::from)
    };
    regexes.iter().map(step).collect()
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

    const CODE: &str = "def parseJSON(x1):\n    return x + 12/3";

    #[test]
    fn code_is_split_as_the_models_of_each_kind_do() {
        let cases: [(&str, &[&str]); 5] = [
            (
                "smollm",
                &["def", " parseJSON", "(", "x", "1", "):", "\n   ", " return", " x", " +", " ", "1", "2", "/", "3"],
            ),
            (
                "deepseek-coder",
                &["def", " parseJSON", "(", "x", "1", "):", "\n", "   ", " return", " x", " + ", "1", "2", "/", "3"],
            ),
            (
                "deepseek-llm",
                &[
                    "def", " parseJSON", "(", "x", "1", "):", "\n", "   ", " return", " x", " +", " ", "1", "2", "/",
                    "3",
                ],
            ),
            (
                "tekken",
                &["def", " parse", "JSON", "(x", "1", "):\n", "   ", " return", " x", " +", " ", "1", "2", "/", "3"],
            ),
            (
                "seed-coder",
                &["def", " parseJSON", "(x", "1", "):", "\n", "   ", " return", " x", " +", " ", "1", "2", "/", "3"],
            ),
        ];
        for (kind, want) in cases {
            assert_eq!(words(kind, CODE), want, "{kind}");
        }
    }

    #[test]
    fn letters_and_spaces_at_the_end_are_split_as_the_models_of_each_kind_do() {
        let cases: [(&str, &str, &[&str]); 9] = [
            // A letter of mathematics and an Armenian small one are none of its letters; an Armenian capital is.
            ("deepseek-llm", "x\u{1d465}y", &["x", "\u{1d465}", "y"]),
            ("deepseek-llm", "\u{531}\u{561}", &["\u{531}", "\u{561}"]),
            ("deepseek-llm", "Ünï ǅ", &["Ü", "n", "ï", " ǅ"]),
            ("deepseek-llm", "x 中文,、z 1  ", &["x", " ", "中文", ",", "、", "z", " ", "1", "  "]),
            ("deepseek-llm", "a\r\n", &["a", "\r", "\n"]),
            ("tekken", "HTTPServer getHTTP it's", &["HTTPServer", " get", "HTTP", " it", "'s"]),
            ("tekken", "a //\n\n b  ", &["a", " //\n\n", " b", "  "]),
            ("seed-coder", "it'S a;\n\n  b", &["it", "'S", " a", ";", "\n\n", " ", " b"]),
            ("seed-coder", "2024!", &["2", "0", "2", "4", "!"]),
        ];
        for (kind, text, want) in cases {
            assert_eq!(words(kind, text), want, "{kind}: {text:?}");
        }
    }

    #[test]
    fn a_kind_that_is_not_listed_is_unknown() {
        for kind in ["", "default", "falcon", "mpt", "command-r", "dbrx", "deepseek-v3", "qwen", "tekken2"] {
            assert!(WordSplitting::of_kind(kind).is_none(), "{kind}");
        }
    }
}
