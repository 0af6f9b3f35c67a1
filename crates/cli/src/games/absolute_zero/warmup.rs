//! Supervised examples of both roles, in the prompts of the compact format.

use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_core::{Execute, IoPair, Proposal, Question, TaskType};
use veriplay_corpus::Grammar;
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_selfplay::games::absolute_zero::prompts::{PromptFormat, ProposerRequest, by_name, solver_text_parts};
use veriplay_verifier::formats::compact::CONTROL;

use super::AbsoluteZeroSetup;
use crate::exit::Failure;
use crate::games::examples::{ExampleConfig, Examples, WarmupExamples};
use crate::programs::{DataConfig, ExecutedProgram, ProgramPools};

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AbsoluteZeroBatch {
    /// Programs with questions for outputs, each with `questions` inputs behind one shared prompt.
    deduction: usize,
    /// Programs with questions for inputs, likewise.
    abduction: usize,
    /// Lists of pairs with questions for programs.
    induction: usize,
    /// Proposals of a program and an input, for deduction and for abduction each.
    proposals: usize,
    /// Programs with requests for a list of inputs.
    input_lists: usize,
    /// Questions behind one shared prompt.
    questions: usize,
    /// Pairs an induction prompt shows.
    visible: usize,
    /// Inputs an input list holds.
    inputs: usize,
}

impl WarmupExamples for AbsoluteZeroSetup {
    type Data = DataConfig;
    type Batch = AbsoluteZeroBatch;
    type Source = ProgramPools;

    fn tokenizer() -> Result<Tokenizer, TokenizerError> {
        let control: Vec<String> = CONTROL.iter().map(|token| (*token).to_owned()).collect();
        build_tokenizer(&control, Grammar::built_in().fragments())
    }

    fn source(data: &DataConfig, seed: u64, execute: &dyn Execute) -> Result<ProgramPools, Failure> {
        ProgramPools::build(data, &Grammar::built_in(), seed, execute)
    }

    /// The mixes of programs differ between solvers and proposers.
    fn draw_examples(
        config: &ExampleConfig<DataConfig, AbsoluteZeroBatch>,
        source: &ProgramPools,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), TokenizerError> {
        let ExampleConfig { data, batch } = config;
        for _ in 0..batch.deduction {
            let executed = source.draw(rng, &data.solver_mix);
            let question = |program: String, pair| Question::Deduction { program, pair };
            add_questions(examples, batch, executed, question, rng)?;
        }
        for _ in 0..batch.abduction {
            let executed = source.draw(rng, &data.solver_mix);
            let question = |program: String, pair| Question::Abduction { program, pair };
            add_questions(examples, batch, executed, question, rng)?;
        }
        for _ in 0..batch.induction {
            add_induction(examples, batch, source.draw(rng, &data.solver_mix), rng)?;
        }
        for task_type in [TaskType::Deduction, TaskType::Abduction] {
            for _ in 0..batch.proposals {
                add_proposal(examples, task_type, source.draw(rng, &data.proposer_mix), rng)?;
            }
        }
        for _ in 0..batch.input_lists {
            add_input_list(examples, batch, source.draw(rng, &data.proposer_mix), rng)?;
        }
        Ok(())
    }
}

fn compact() -> &'static dyn PromptFormat {
    by_name("compact").expect("the compact format is registered")
}

/// Several questions on one program behind one prompt: the learner computes the program's tokens once.
fn add_questions(
    examples: &mut Examples<'_>,
    batch: &AbsoluteZeroBatch,
    executed: &ExecutedProgram,
    question: impl Fn(String, IoPair) -> Question,
    rng: &mut ChaCha8Rng,
) -> Result<(), TokenizerError> {
    for pair in executed.pairs.choose_multiple(rng, batch.questions) {
        let question = question(executed.program.clone(), pair.clone());
        let [shared, own] = solver_text_parts(&question);
        examples.add_question(&shared, &own, &compact().answer_text(&question))?;
    }
    Ok(())
}

fn add_induction(
    examples: &mut Examples<'_>,
    batch: &AbsoluteZeroBatch,
    executed: &ExecutedProgram,
    rng: &mut ChaCha8Rng,
) -> Result<(), TokenizerError> {
    let question = Question::Induction {
        visible: executed.pairs.choose_multiple(rng, batch.visible).cloned().collect(),
        hidden: Vec::new(),
        message: String::new(),
        reference: executed.program.clone(),
    };
    examples.add(&compact().solver_prompt(&question, &[]).text(), &compact().answer_text(&question))
}

fn add_proposal(
    examples: &mut Examples<'_>,
    task_type: TaskType,
    executed: &ExecutedProgram,
    rng: &mut ChaCha8Rng,
) -> Result<(), TokenizerError> {
    let pair = executed.pairs.choose(rng).expect("an executed program has pairs");
    let proposal = Proposal::Triplet { task_type, program: executed.program.clone(), input: pair.input.clone() };
    add_proposer_example(examples, &proposal, None)
}

fn add_input_list(
    examples: &mut Examples<'_>,
    batch: &AbsoluteZeroBatch,
    executed: &ExecutedProgram,
    rng: &mut ChaCha8Rng,
) -> Result<(), TokenizerError> {
    let mut pairs: Vec<&IoPair> = executed.pairs.choose_multiple(rng, batch.inputs).collect();
    pairs.shuffle(rng);
    let (program, inputs) = (executed.program.clone(), pairs.iter().map(|pair| pair.input.clone()).collect());
    let proposal = Proposal::Inputs { program, inputs, message: String::new() };
    add_proposer_example(examples, &proposal, Some(&executed.program))
}

fn add_proposer_example(
    examples: &mut Examples<'_>,
    proposal: &Proposal,
    given: Option<&str>,
) -> Result<(), TokenizerError> {
    let (task_type, inputs) = match proposal {
        Proposal::Triplet { task_type, .. } => (*task_type, 1),
        Proposal::Inputs { inputs, .. } => (TaskType::Induction, inputs.len()),
    };
    let request = ProposerRequest { task_type, references: Vec::new(), given, inputs };
    examples.add(&compact().proposer_prompt(&request).text(), &compact().proposal_text(proposal))
}
