//! Which proposers a step samples.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use veriplay_core::{Prompt, Question, Task, TaskType};
use veriplay_selfplay::environment::{Proposer, Proposing, Stage};
use veriplay_selfplay::randomness::{generator, weighted_sample};
use veriplay_selfplay::rollout::SingleTurn;
use veriplay_selfplay::task_pool::TaskPool;

use super::prompts::ProposerRequest;
use super::{AbsoluteZero, AbsoluteZeroRequest, TripletTask};

impl AbsoluteZero {
    /// The proposers of a step or of the supervised examples, by task type.
    ///
    /// Without references and composites, the proposals of a type but induction share one prompt. With K references each has its own draw from its
    /// type's tasks. Each induction proposal is given a program of the deduction and abduction tasks; while there are none, there is no
    /// such proposal.
    pub(super) fn draw_proposers(&self, proposing: &Proposing<'_, TripletTask>) -> Vec<Proposer<Self>> {
        let Proposing { context, pool, stage, step } = *proposing;
        let (count, purpose) = match stage {
            Stage::SftPropose if self.base.settings.sft_samples == 0 => (0, ""),
            Stage::SftPropose => (self.tasks.sft_per_type, "bootstrap turns"),
            _ => (self.own.proposals_per_type, "proposer turns"),
        };
        if count == 0 {
            return Vec::new();
        }
        let (mut generator, mut proposers) = (generator(context.seed, step, purpose), Vec::new());
        for task_type in [TaskType::Deduction, TaskType::Abduction].into_iter().filter(|one| self.plays(*one)) {
            proposers.extend(self.triplet_proposers(pool, task_type, count, &mut generator));
        }
        if self.plays(TaskType::Induction) {
            proposers.extend(self.input_proposers(pool, count, &mut generator));
        }
        if self.plays(TaskType::Error) {
            proposers.extend(self.triplet_proposers(pool, TaskType::Error, count, &mut generator));
        }
        proposers
    }

    fn input_proposers(
        &self,
        pool: &TaskPool<TripletTask>,
        count: usize,
        generator: &mut ChaCha8Rng,
    ) -> Vec<Proposer<Self>> {
        // Where programs are few, each is given several times.
        let programs = draw_programs(pool, count, generator);
        let given = programs.iter().cycle().take(count);
        given.map(|program| self.proposer(AbsoluteZeroRequest::inputs_to(program), Vec::new(), 1)).collect()
    }

    fn triplet_proposers(
        &self,
        pool: &TaskPool<TripletTask>,
        task_type: TaskType,
        count: usize,
        generator: &mut ChaCha8Rng,
    ) -> Vec<Proposer<Self>> {
        let known: Vec<&Question> = pool.of_kind(task_type.name()).map(|entry| &entry.task.question).collect();
        let mut proposers = self.extension_proposers(pool, task_type, count, generator);
        let count = count - proposers.len();
        let shared = self.own.references == 0 && self.own.composite_share == 0.0;
        if shared || known.is_empty() {
            if count > 0 {
                proposers.push(self.proposer(AbsoluteZeroRequest::new(task_type), Vec::new(), count));
            }
            return proposers;
        }
        let mut proposer = || {
            let helpers = self.draw_helpers(pool, task_type.name(), generator);
            let request = AbsoluteZeroRequest { helpers, ..AbsoluteZeroRequest::new(task_type) };
            let known = known.iter().map(|question| (*question, 1.0)).collect();
            self.proposer(request, weighted_sample(known, self.own.references, generator), 1)
        };
        proposers.extend((0..count).map(|_| proposer()));
        proposers
    }

    /// Proposers that continue programs of the type's tasks which some solver solved: `extend_share` of `count`, as far as there are programs.
    fn extension_proposers(
        &self,
        pool: &TaskPool<TripletTask>,
        task_type: TaskType,
        count: usize,
        generator: &mut ChaCha8Rng,
    ) -> Vec<Proposer<Self>> {
        let wanted = (self.own.extend_share * count as f64).round() as usize;
        if wanted == 0 {
            return Vec::new();
        }
        let solved = pool.of_kind(task_type.name()).filter(|entry| entry.last.is_some_and(|last| last.solved > 0));
        let begun: BTreeSet<String> = solved.filter_map(|entry| begin_with(returning_program(&entry.task)?)).collect();
        let drawn = weighted_sample(begun.into_iter().map(|begun| (begun, 1.0)).collect(), wanted, generator);
        let request = |begun| AbsoluteZeroRequest { begun: Some(begun), ..AbsoluteZeroRequest::new(task_type) };
        drawn.into_iter().map(|begun| self.proposer(request(begun), Vec::new(), 1)).collect()
    }

    /// The proposer of a request, shown these references, and how often it is sampled.
    pub fn proposer(
        &self,
        request: AbsoluteZeroRequest,
        references: Vec<&Question>,
        rollouts: usize,
    ) -> Proposer<Self> {
        let prompt = self.proposer_prompt(&request, references);
        let kind = request.task_type.name();
        Proposer { request, episode: SingleTurn::new(prompt), rollouts, kind }
    }
}

impl AbsoluteZero {
    /// The prompt that asks a proposer. Where no references are drawn, the examples of the type show what is asked for.
    pub(super) fn proposer_prompt(&self, request: &AbsoluteZeroRequest, references: Vec<&Question>) -> Prompt {
        let AbsoluteZeroRequest { task_type, given, begun, helpers, document } = request;
        let (task_type, given, begun, document) = (*task_type, given.as_deref(), begun.as_deref(), document.as_deref());
        let references = match references.is_empty() {
            true => self.examples(task_type).take(self.base.settings.examples).collect(),
            false => references,
        };
        let inputs = self.own.induction_inputs();
        self.format.proposer_prompt(&ProposerRequest { task_type, references, given, begun, helpers, document, inputs })
    }
}

/// Up to `count` different programs of the deduction and abduction tasks.
fn draw_programs<'a>(pool: &'a TaskPool<TripletTask>, count: usize, generator: &mut ChaCha8Rng) -> Vec<&'a str> {
    let mut programs: Vec<&str> = pool.entries().iter().filter_map(|entry| returning_program(&entry.task)).collect();
    programs.sort_unstable();
    programs.dedup();
    weighted_sample(programs.into_iter().map(|program| (program, 1.0)).collect(), count, generator)
}

/// A program whose result is bound to its argument in place of being returned, so that it can go on; `None` where its last line returns nothing.
fn begin_with(program: &str) -> Option<String> {
    let (body, last) = program.rsplit_once('\n')?;
    let argument = program.strip_prefix("def f(")?.split_once(')')?.0;
    Some(format!("{body}\n    {argument} = {}", last.strip_prefix("    return ")?))
}

/// The program of a deduction or abduction task. That of an error task need not return anywhere.
fn returning_program(task: &Task) -> Option<&str> {
    match &task.question {
        Question::Deduction { program, .. } | Question::Abduction { program, .. } => Some(program),
        Question::Induction { .. } | Question::Error { .. } => None,
    }
}
