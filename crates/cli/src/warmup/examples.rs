//! Supervised examples: what warm-up teaches, in the very prompts the game uses.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};
use veriplay_core::{IoPair, Sample, TrainBatch, Value};
use veriplay_learner::{END_TOKEN, Tokenizer, TokenizerError};
use veriplay_verifier::formats::compact::{
    ABDUCTION, DEDUCTION, INDUCTION, INPUT, OUTPUT, PROGRAM, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION, PROPOSE_INDUCTION,
};

/// A program and what it returned for each input: executed, never guessed.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) program: String,
    pub(crate) pairs: Vec<IoPair>,
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchPlan {
    /// Programs asked for outputs, each with `questions` inputs behind one shared prompt.
    pub(crate) deduction: usize,
    /// Programs asked for inputs, likewise.
    pub(crate) abduction: usize,
    /// Pair lists asked for programs.
    pub(crate) induction: usize,
    /// Proposals of a program and an input, for deduction and for abduction each.
    pub(crate) proposals: usize,
    /// Programs asked for a list of inputs.
    pub(crate) input_lists: usize,
    /// Questions behind one shared prompt.
    pub(crate) questions: usize,
    /// Pairs an induction prompt shows.
    pub(crate) visible: usize,
    /// Inputs an input list holds.
    pub(crate) inputs: usize,
}

/// Draws one batch. `solver` gives programs for questions, `proposer` for proposals: the two mixes differ.
pub(crate) fn batch<'a, R: Rng>(
    plan: &BatchPlan,
    tokenizer: &Tokenizer,
    rng: &mut R,
    mut solver: impl FnMut(&mut R) -> &'a Executed,
    mut proposer: impl FnMut(&mut R) -> &'a Executed,
) -> Result<TrainBatch, TokenizerError> {
    let mut samples = Vec::new();
    for _ in 0..plan.deduction {
        questions(&mut samples, plan, tokenizer, DEDUCTION, solver(rng), rng)?;
    }
    for _ in 0..plan.abduction {
        questions(&mut samples, plan, tokenizer, ABDUCTION, solver(rng), rng)?;
    }
    for _ in 0..plan.induction {
        samples.push(induction(plan, tokenizer, solver(rng), rng)?);
    }
    for token in [PROPOSE_DEDUCTION, PROPOSE_ABDUCTION] {
        for _ in 0..plan.proposals {
            samples.push(proposal(tokenizer, token, proposer(rng), rng)?);
        }
    }
    for _ in 0..plan.input_lists {
        samples.push(input_list(plan, tokenizer, proposer(rng), rng)?);
    }
    let tokens: usize = samples.iter().map(|sample| sample.response.len() - sample.masked).sum();
    Ok(TrainBatch { samples, normalizer: tokens.max(1) as f64 })
}

/// Several questions on one program behind one prompt: the program's tokens are computed once.
fn questions<R: Rng>(
    samples: &mut Vec<Sample>,
    plan: &BatchPlan,
    tokenizer: &Tokenizer,
    kind: &str,
    executed: &Executed,
    rng: &mut R,
) -> Result<(), TokenizerError> {
    let prompt = tokenizer.encode(&format!("{kind}{}", executed.program))?;
    for pair in executed.pairs.choose_multiple(rng, plan.questions) {
        let input = Value::arguments_text(&pair.input);
        let (asked, answer) = if kind == DEDUCTION {
            (format!("{INPUT}{input}{OUTPUT}"), pair.output.to_string())
        } else {
            (format!("{OUTPUT}{}{INPUT}", pair.output), input)
        };
        samples.push(example(tokenizer, &prompt, &asked, &answer)?);
    }
    Ok(())
}

fn induction<R: Rng>(
    plan: &BatchPlan,
    tokenizer: &Tokenizer,
    executed: &Executed,
    rng: &mut R,
) -> Result<Sample, TokenizerError> {
    let shown = executed.pairs.choose_multiple(rng, plan.visible);
    let shown = shown.map(|pair| format!("{INPUT}{}{OUTPUT}{}", Value::arguments_text(&pair.input), pair.output));
    let prompt = format!("{INDUCTION}{}{PROGRAM}", shown.collect::<String>());
    example(tokenizer, &tokenizer.encode(&prompt)?, "", &executed.program)
}

fn proposal<R: Rng>(
    tokenizer: &Tokenizer,
    kind: &str,
    executed: &Executed,
    rng: &mut R,
) -> Result<Sample, TokenizerError> {
    let pair = executed.pairs.choose(rng).expect("an executed program has pairs");
    let answer = format!("{}{INPUT}{}", executed.program, Value::arguments_text(&pair.input));
    example(tokenizer, &tokenizer.encode(kind)?, "", &answer)
}

fn input_list<R: Rng>(
    plan: &BatchPlan,
    tokenizer: &Tokenizer,
    executed: &Executed,
    rng: &mut R,
) -> Result<Sample, TokenizerError> {
    let mut pairs: Vec<&IoPair> = executed.pairs.choose_multiple(rng, plan.inputs).collect();
    pairs.shuffle(rng);
    let answer: String = pairs.iter().map(|pair| format!("{INPUT}{}", Value::arguments_text(&pair.input))).collect();
    let prompt = tokenizer.encode(&format!("{PROPOSE_INDUCTION}{}", executed.program))?;
    example(tokenizer, &prompt, "", &answer)
}

/// One example: `asked` is context, `answer` and the end token are learned.
fn example(tokenizer: &Tokenizer, prompt: &[u32], asked: &str, answer: &str) -> Result<Sample, TokenizerError> {
    let mut response = tokenizer.encode(asked)?;
    let masked = response.len();
    response.extend(tokenizer.encode(answer)?);
    response.push(
        tokenizer.token_id(END_TOKEN).ok_or_else(|| TokenizerError::Encode(format!("there is no `{END_TOKEN}`")))?,
    );
    Ok(Sample { masked, ..Sample::example(prompt.into(), response, 1.0) })
}
