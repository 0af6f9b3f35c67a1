//! Supervised examples: what warm-up teaches, in the very prompts the game uses.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use veriplay_core::{Execute, IoPair, Sample, Value};
use veriplay_corpus::Grammar;
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_verifier::formats::compact::{
    ABDUCTION, CONTROL, DEDUCTION, INDUCTION, INPUT, OUTPUT, PROGRAM, PROPOSE_ABDUCTION, PROPOSE_DEDUCTION,
    PROPOSE_INDUCTION,
};

use super::AbsoluteZeroSetup;
use crate::exit::Failure;
use crate::games::examples::{Teach, example};
use crate::programs::{DataConfig, Executed, Pools};

/// `[data]` and `[batch]` of a recipe.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Lessons {
    /// Which programs.
    data: DataConfig,
    /// What a batch holds.
    batch: BatchPlan,
}

impl Teach for AbsoluteZeroSetup {
    type Lessons = Lessons;
    const LESSON_TABLES: &'static [&'static str] = &["data", "batch"];
    type Material = Pools;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let control: Vec<String> = CONTROL.iter().map(|token| (*token).to_owned()).collect();
        build_tokenizer(&control, Grammar::built_in().fragments())
    }

    fn material(lessons: &Lessons, seed: u64, execute: &dyn Execute) -> Result<Pools, Failure> {
        Pools::build(&lessons.data, &Grammar::built_in(), seed, execute)
    }

    fn examples(
        lessons: &Lessons,
        material: &Pools,
        tokenizer: &Tokenizer,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Sample>, TokenizerError> {
        let Lessons { data, batch } = lessons;
        let solver = |rng: &mut ChaCha8Rng| material.draw(rng, &data.solver_mix);
        let proposer = |rng: &mut ChaCha8Rng| material.draw(rng, &data.proposer_mix);
        samples(batch, tokenizer, rng, solver, proposer)
    }
}

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchPlan {
    /// Programs asked for outputs, each with `questions` inputs behind one shared prompt.
    deduction: usize,
    /// Programs asked for inputs, likewise.
    abduction: usize,
    /// Pair lists asked for programs.
    induction: usize,
    /// Proposals of a program and an input, for deduction and for abduction each.
    proposals: usize,
    /// Programs asked for a list of inputs.
    input_lists: usize,
    /// Questions behind one shared prompt.
    questions: usize,
    /// Pairs an induction prompt shows.
    visible: usize,
    /// Inputs an input list holds.
    inputs: usize,
}

/// Draws one batch. `solver` gives programs for questions, `proposer` for proposals: the two mixes differ.
fn samples<'a, R: Rng>(
    plan: &BatchPlan,
    tokenizer: &Tokenizer,
    rng: &mut R,
    mut solver: impl FnMut(&mut R) -> &'a Executed,
    mut proposer: impl FnMut(&mut R) -> &'a Executed,
) -> Result<Vec<Sample>, TokenizerError> {
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
    Ok(samples)
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
