//! Seconds of a step on a named card, estimated for `play --dry-run --card` from what was measured there.
//!
//! Measured were decoding and training on the shape of Qwen2.5-0.5B in bf16, before the kernels of attention (docs/models.md), and jobs on one
//! thread (docs/measurements.md). A step of decoding takes the launches of its layers or the time to read the weights, whichever is longer, and
//! for each row its draw and its keys, values and scores. Training makes FLOPs for each parameter and token at the rate that was measured, which
//! larger models exceed.

use veriplay_console::exit::{ExitCode, Failure};
use veriplay_learner::{LearnerOptions, ModelConfig, TensorSpec, tensor_specs};

use crate::game_setup::{GameSetup, StepTokens, StepWork};
use crate::passes::Passes;
use crate::play_config::PlayConfig;

/// A card that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Card {
    name: &'static str,
    /// Seconds that launching a layer takes in a step of decoding.
    layer_s: f64,
    /// Seconds for each row of it, most of which draws from the vocabulary.
    row_s: f64,
    /// Bytes a second of keys, values and scores.
    bytes_per_s: f64,
    /// FLOPs a second of training.
    flops_per_s: f64,
}

/// They meet the table of decoding within 13 %, but for one row behind 1,024 tokens: 4.4 ms, 12 µs a row, and 22 ns for each row and token, which
/// stand for 25,728 bytes. Training: 7,290 tokens a second of 494 million parameters, 6 FLOPs each.
const CARDS: [Card; 1] =
    [Card { name: "h100", layer_s: 4.4e-3 / 24.0, row_s: 12e-6, bytes_per_s: 1.17e12, flops_per_s: 2.16e13 }];
/// The vocabulary of the model that was measured.
const VOCABULARY: f64 = 151_936.0;
/// Launches of a layer with adapters for each of one without: 41 for 25.
const ADAPTED_LAUNCHES: f64 = 41.0 / 25.0;
/// Bytes of a number in bf16.
const WIDTH: usize = 2;
/// Bytes that one score of attention is moved as, in all its forms.
const SCORE_BYTES: usize = 40;
/// Small programs that one thread runs in a second: `assert-small`.
const JOBS_PER_S: f64 = 5609.0;
/// Lengths that are estimated, as shares of what the configuration allows.
const SHARES: [(&str, f64); 2] = [("a tenth as long as they may be", 0.1), ("as long as they may be", 1.0)];

/// Reads the name of a card.
pub fn parse_card(name: &str) -> Result<Card, String> {
    let names = CARDS.map(|card| format!("`{}`", card.name)).join(", ");
    let found = CARDS.into_iter().find(|card| card.name == name);
    found.ok_or_else(|| format!("nothing was measured on it: want one of {names}"))
}

/// Seconds of the parts of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StepSeconds {
    rollouts: f64,
    training: f64,
    judging: f64,
}

impl StepSeconds {
    fn total(self) -> f64 {
        self.rollouts + self.training + self.judging
    }
}

/// What is estimated: a step, and what it is computed by.
struct Step<'a> {
    shape: &'a ModelConfig,
    options: &'a LearnerOptions,
    updates: Passes,
    tokens: StepTokens,
    work: StepWork,
}

impl Step<'_> {
    /// Parameters that a token is multiplied by.
    fn parameters(&self) -> f64 {
        let all: usize = tensor_specs(self.shape).iter().map(TensorSpec::elements).sum();
        let looked_up = if self.shape.tie_word_embeddings { 0 } else { self.shape.vocab_size * self.shape.hidden_size };
        (all - looked_up) as f64
    }

    /// Of sequences that have this share of their length.
    fn seconds(&self, card: Card, share: f64) -> StepSeconds {
        let StepWork { prompts, responses, jobs } = self.work;
        let (prompts, responses) = (share * prompts as f64, share * responses as f64);
        let response = self.tokens.longest_response.min(self.tokens.longest) as f64;
        let prompt = share * (self.tokens.longest as f64 - response);
        // On average half of a response stands behind the prompt.
        let context = prompt + share * response / 2.0;
        // Rows are admitted by what they hold, with a quarter to spare; that samples share their prompts is not counted.
        let held = |tokens: usize| ((tokens - tokens / 4) as f64 / context).floor();
        let admitted = self.options.rollout_tokens.map_or(f64::INFINITY, held);
        let rows = admitted.clamp(1.0, self.options.rollout_rows as f64);
        let forward = 2.0 * self.parameters() / card.flops_per_s;
        // Forward, and back to the activations; back to the weights where all of them train; and forward for layers that are computed again and for
        // a reference.
        let extra = [self.options.lora.is_none(), self.options.segments.is_some(), self.options.kl.is_some()];
        let passes = 2 + extra.into_iter().filter(|is_there| *is_there).count();
        // Before several updates under a correction, once forward for the policy as it is.
        let is_scored = self.options.correction.is_some() && self.updates != Passes::ONE;
        let forwards = self.updates.epochs * passes + usize::from(is_scored);
        StepSeconds {
            rollouts: prompts * forward + responses / rows * self.decoding(card, rows, context),
            training: (prompts + responses) * forwards as f64 * forward,
            judging: jobs as f64 / JOBS_PER_S,
        }
    }

    /// Seconds of a step of decoding: one token of each row, behind `context` tokens.
    fn decoding(&self, card: Card, rows: f64, context: f64) -> f64 {
        let shape = self.shape;
        let layers = shape.num_hidden_layers;
        let launched = if self.options.lora.is_some() { ADAPTED_LAUNCHES } else { 1.0 };
        let launches = layers as f64 * card.layer_s * launched;
        let weights = WIDTH as f64 * self.parameters() / card.bytes_per_s;
        let row = card.row_s * shape.vocab_size as f64 / VOCABULARY;
        let column = layers * (2 * WIDTH * shape.key_width() + SCORE_BYTES * shape.num_attention_heads);
        launches.max(weights) + rows * (row + context * column as f64 / card.bytes_per_s)
    }
}

/// Refuses a run whose time cannot be estimated.
pub fn check<S: GameSetup>(config: &PlayConfig<S>) -> Result<(), Failure> {
    work_of(config, 0).map(drop)
}

/// The work of a step, whose rollouts are our own decoder's.
fn work_of<S: GameSetup>(config: &PlayConfig<S>, context: usize) -> Result<StepWork, Failure> {
    if config.run.rollout_server.is_some() {
        let failure = Failure::message(ExitCode::Input, "`--card`: rollouts by a server were not measured");
        // Without a server, a card does not sample while it trains.
        let in_turns = if config.run.steps_ahead > 0 { " --set steps_ahead=0" } else { "" };
        return Err(failure.hint(format!("leave the server out of the estimate: `--set ~rollout_server{in_turns}`")));
    }
    config.setup.step_work(context).ok_or_else(|| {
        let what = format!("`--card`: what a step of `{}` samples and runs is not counted", S::NAME);
        Failure::message(ExitCode::Input, what).hint("leave `--card` out, or estimate `absolute_zero`")
    })
}

/// The time of a run of this model, for people: a line for each length of sequences.
pub fn describe<S: GameSetup>(card: Card, config: &PlayConfig<S>, shape: &ModelConfig) -> Result<Vec<String>, Failure> {
    let options = config.run.learn.learner_options();
    let context = options.context(shape);
    let (tokens, work) = (config.step_tokens(context), work_of(config, context)?);
    let step = Step { shape, options: &options, updates: config.run.learn.passes(), tokens, work };
    let steps = config.run.steps;
    let times = SHARES.map(|(words, share)| {
        let seconds = step.seconds(card, share);
        let StepSeconds { rollouts, training, judging } = seconds;
        let (total, days) = (seconds.total(), steps as f64 * seconds.total() / 86_400.0);
        format!(
            "time: {total:.1} s a step where all sequences are {words} (rollouts {rollouts:.1}, training {training:.1}, judging {judging:.1}), \
             {days:.1} days for {steps} steps"
        )
    });
    let source = format!(
        "time: estimated for bf16 on `{}`, where it samples and trains in turns, from measurements of a model of 0.5B before the kernels of attention \
         (docs/models.md)",
        card.name
    );
    Ok(std::iter::once(source).chain(times).collect())
}

#[cfg(test)]
mod tests {
    use veriplay_learner::{Architecture, Correction, Lora, Segments};

    use super::*;

    fn half_billion() -> ModelConfig {
        ModelConfig {
            model_type: Architecture::Qwen2,
            vocab_size: 151_936,
            hidden_size: 896,
            num_hidden_layers: 24,
            num_attention_heads: 14,
            num_key_value_heads: 2,
            head_dim: 64,
            intermediate_size: 4864,
            max_position_embeddings: 32_768,
            ..ModelConfig::default()
        }
    }

    fn near(found: f64, want: f64, relative: f64) {
        assert!((found / want - 1.0).abs() < relative, "{found} for {want}");
    }

    /// A step of 8,000 tokens of prompts and 64,000 of responses, by 5 rows at a time.
    fn step<'a>(shape: &'a ModelConfig, options: &'a LearnerOptions) -> Step<'a> {
        let tokens = StepTokens { total: 72_000, longest: 1000, longest_response: 800 };
        let work = StepWork { prompts: 8000, responses: 64_000, jobs: 56_090 };
        Step { shape, options, updates: Passes::ONE, tokens, work }
    }

    #[test]
    fn the_formula_gives_what_was_measured_on_the_shape_that_was_measured() {
        let (shape, options) = (half_billion(), LearnerOptions::default());
        let step = step(&shape, &options);
        near(step.parameters(), 494_032_768.0, 1e-9);
        for (rows, context, tokens_per_s) in
            [(64.0, 1024.0, 10_720.0), (256.0, 128.0, 33_284.0), (256.0, 1024.0, 21_602.0), (512.0, 4096.0, 9289.0)]
        {
            near(rows / step.decoding(CARDS[0], rows, context), tokens_per_s, 0.13);
        }
        near(CARDS[0].flops_per_s / (6.0 * step.parameters()), 7290.0, 1e-3);
    }

    #[test]
    fn the_parts_of_a_step_are_those_that_a_hand_computes() {
        let card = Card { name: "round", layer_s: 1e-3, row_s: 1e-3, bytes_per_s: 1e9, flops_per_s: 1e10 };
        let shape = half_billion();
        let options = LearnerOptions { rollout_rows: 64, rollout_tokens: Some(4096), ..LearnerOptions::default() };
        let found = step(&shape, &options).seconds(card, 1.0);
        // Reading 0.988 s of weights outlasts 24 ms of launches; each of 5 rows takes 1 ms, and 600 columns of 25,728 bytes.
        let decoding = 0.988_065_536 + 5.0 * (1e-3 + 600.0 * 25_728.0 / 1e9);
        let forward = 2.0 * 494_032_768.0 / 1e10;
        near(found.rollouts, 8000.0 * forward + 12_800.0 * decoding, 1e-9);
        near(found.training, 72_000.0 * 3.0 * forward, 1e-9);
        near(found.judging, 10.0, 1e-9);
        near(found.total(), 35_841.862_1, 1e-8);
        // Adapters beside a frozen base take a pass less, and layers that are computed again one more.
        let lora =
            Some(Lora { rank: 1, alpha: 1.0, target_modules: vec!["q_proj".to_owned()], seed: 0, per_role: false });
        let options = LearnerOptions { lora, segments: Some(Segments { layers: 1, logit_rows: 64 }), ..options };
        near(step(&shape, &options).seconds(card, 0.5).training, 36_000.0 * 3.0 * forward, 1e-9);
        // A correction costs a forward pass where a step makes several updates, and none where it makes one.
        let options = LearnerOptions { correction: Some(Correction::default()), ..LearnerOptions::default() };
        let once = step(&shape, &options);
        near(once.seconds(card, 1.0).training, 72_000.0 * 3.0 * forward, 1e-9);
        for (epochs, minibatches, forwards) in [(2, 1, 7.0), (1, 4, 4.0)] {
            let several = Step { updates: Passes { epochs, minibatches }, ..step(&shape, &options) };
            near(several.seconds(card, 1.0).training, 72_000.0 * forwards * forward, 1e-9);
        }
    }

    #[test]
    fn a_card_without_measurements_is_refused_with_those_that_have_some() {
        assert_eq!(parse_card("h100"), Ok(CARDS[0]));
        assert_eq!(parse_card("a100"), Err("nothing was measured on it: want one of `h100`".to_owned()));
    }
}
