//! Supervised examples of both roles, in the prompts of the recipe's format.

use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use veriplay_console::exit::Failure;
use veriplay_core::{IoPair, PolicyError, Prompt, Proposal, Question, TaskType};
use veriplay_corpus::Grammar;
use veriplay_learner::{Tokenizer, TokenizerError, build_tokenizer};
use veriplay_run::programs::{DataConfig, ExecutedProgram, ProgramPools, ProgramRunner};
use veriplay_run::warmup_examples::{ExampleConfig, Examples, WarmupExamples};
use veriplay_verifier::formats::compact::CONTROL;
use veriplay_verifier::languages::is_python;

use super::AbsoluteZeroSetup;
use crate::prompts::{PromptFormat, ProposerRequest, by_name, solver_text_parts};

/// The format whose prompts begin with the program and its control tokens: the two parts of its questions are known.
const COMPACT: &str = "compact";

/// How many examples of each kind one optimizer step holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsoluteZeroBatch {
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

    fn check_examples(config: &ExampleConfig<DataConfig, AbsoluteZeroBatch>) -> Result<(), Failure> {
        config.data.check()
    }

    fn source(data: &DataConfig, seed: u64, runner: ProgramRunner<'_>) -> Result<ProgramPools, Failure> {
        ProgramPools::build(data, &Grammar::built_in(), seed, runner)
    }

    /// The mixes of programs differ between solvers and proposers.
    fn draw_examples(
        &self,
        config: &ExampleConfig<DataConfig, AbsoluteZeroBatch>,
        source: &ProgramPools,
        rng: &mut ChaCha8Rng,
        examples: &mut Examples<'_>,
    ) -> Result<(), PolicyError> {
        if !is_python(self.game.own.language()) {
            let what =
                format!("`game.language` is `{}`: leave it out, as examples are in Python", self.game.own.language);
            return Err(PolicyError::Backend(what));
        }
        let ExampleConfig { data, batch } = config;
        let mut writer = ExampleWriter { format: self.format(), batch, examples };
        for _ in 0..batch.deduction {
            let executed = source.draw(rng, &data.solver_mix);
            let question = |program: String, pair| Question::Deduction { program, pair };
            writer.add_questions(executed, question, rng)?;
        }
        for _ in 0..batch.abduction {
            let executed = source.draw(rng, &data.solver_mix);
            let question = |program: String, pair| Question::Abduction { program, pair };
            writer.add_questions(executed, question, rng)?;
        }
        for _ in 0..batch.induction {
            writer.add_induction(source.draw(rng, &data.solver_mix), rng)?;
        }
        for task_type in [TaskType::Deduction, TaskType::Abduction] {
            for _ in 0..batch.proposals {
                writer.add_proposal(task_type, source.draw(rng, &data.proposer_mix), rng)?;
            }
        }
        for _ in 0..batch.input_lists {
            writer.add_input_list(source.draw(rng, &data.proposer_mix), rng)?;
        }
        Ok(())
    }
}

impl AbsoluteZeroSetup {
    fn format(&self) -> &'static dyn PromptFormat {
        by_name(&self.game.shared.format).expect("a recipe's `game.format` is checked")
    }
}

/// Writes executed programs as examples.
struct ExampleWriter<'e, 'l> {
    format: &'static dyn PromptFormat,
    batch: &'e AbsoluteZeroBatch,
    examples: &'e mut Examples<'l>,
}

impl ExampleWriter<'_, '_> {
    /// Several questions on one program: the learner computes what their prompts have in common once.
    fn add_questions(
        &mut self,
        executed: &ExecutedProgram,
        question: impl Fn(String, IoPair) -> Question,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), PolicyError> {
        let pairs = executed.pairs.choose_multiple(rng, self.batch.questions);
        let questions: Vec<Question> = pairs.map(|pair| question(executed.program.clone(), pair.clone())).collect();
        if self.format.name() == COMPACT {
            return questions.iter().try_for_each(|question| {
                let [shared, own] = solver_text_parts(question);
                self.examples.add_question(&shared, &own, &self.format.answer_text(question))
            });
        }
        let example =
            |question: &Question| (self.format.solver_prompt(question, &[]), self.format.answer_text(question));
        self.examples.add_group(&questions.iter().map(example).collect::<Vec<_>>())
    }

    fn add_induction(&mut self, executed: &ExecutedProgram, rng: &mut ChaCha8Rng) -> Result<(), PolicyError> {
        let question = Question::Induction {
            visible: executed.pairs.choose_multiple(rng, self.batch.visible).cloned().collect(),
            hidden: Vec::new(),
            message: String::new(),
            reference: executed.program.clone(),
        };
        self.add(self.format.solver_prompt(&question, &[]), self.format.answer_text(&question))
    }

    fn add_proposal(
        &mut self,
        task_type: TaskType,
        executed: &ExecutedProgram,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), PolicyError> {
        let pair = executed.pairs.choose(rng).expect("an executed program has pairs");
        let proposal = Proposal::Triplet { task_type, program: executed.program.clone(), input: pair.input.clone() };
        self.add_proposer_example(&proposal, None)
    }

    fn add_input_list(&mut self, executed: &ExecutedProgram, rng: &mut ChaCha8Rng) -> Result<(), PolicyError> {
        let mut pairs: Vec<&IoPair> = executed.pairs.choose_multiple(rng, self.batch.inputs).collect();
        pairs.shuffle(rng);
        let (program, inputs) = (executed.program.clone(), pairs.iter().map(|pair| pair.input.clone()).collect());
        let proposal = Proposal::Inputs { program, inputs, message: String::new() };
        self.add_proposer_example(&proposal, Some(&executed.program))
    }

    fn add_proposer_example(&mut self, proposal: &Proposal, given: Option<&str>) -> Result<(), PolicyError> {
        let (task_type, inputs) = match proposal {
            Proposal::Triplet { task_type, .. } => (*task_type, 1),
            Proposal::Inputs { inputs, .. } => (TaskType::Induction, inputs.len()),
        };
        let request = ProposerRequest {
            task_type,
            references: Vec::new(),
            given,
            begun: None,
            helpers: &[],
            document: None,
            inputs,
        };
        self.add(self.format.proposer_prompt(&request), self.format.proposal_text(proposal))
    }

    fn add(&mut self, prompt: Prompt, answer: String) -> Result<(), PolicyError> {
        self.examples.add_group(&[(prompt, answer)])
    }
}
