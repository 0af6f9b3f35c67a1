//! Plays Absolute Zero with a policy of one's own. The games ask a policy for text and hand back weighted samples; what it is made of, and
//! how it learns, is its own affair. This one knows ten words, the digits, and keeps a logit of each for every prompt.

use std::collections::HashMap;
use std::error::Error;

use veriplay_absolute_zero::{AbsoluteZero, AbsoluteZeroTasks};
use veriplay_core::{
    FinishReason, Policy, PolicyError, PolicyVersion, Prompt, Proposal, Role, Rollout, Sampling, TaskType, TrainBatch,
    Value, mix_seed,
};
use veriplay_sandbox::Sandbox;
use veriplay_selfplay::driver::SelfPlay;
use veriplay_selfplay::play::{Batch, StepContext};
use veriplay_selfplay::splits::Guard;

const GAME: &str = r#"
format = "compact"
group_size = 8
reward = "failure_rate"
advantage = "group"
proposer_weight = 1.0
proposer_temperature = 1.0
proposer_max_tokens = 2
solver_temperature = 1.0
solver_max_tokens = 2
buffer_capacity = 10
eval_samples = 8
proposals_per_type = 2
tasks_per_type = 4
references = 0
fresh_fraction = 0.5
seed_share = 1.0
induction_visible = 3
induction_hidden = 3
"#;

/// When a proposal becomes a task.
const GATE: &str = r#"
image = "python"
seeds = [1, 2]
max_program_bytes = 200
max_output_bytes = 20
limits = { fuel = 100_000_000, memory_bytes = 134_217_728, output_bytes = 65_536, file_bytes = 65_536, deadline_ns = 20_000_000_000 }
probes = { count = 8, min_succeeded = 4, min_distinct_outputs = 3 }
induction = { visible = 3, hidden = 3, min_distinct_outputs = 3 }
"#;

#[derive(Default)]
struct Digits {
    logits: HashMap<Vec<u32>, [f64; 10]>,
}

impl Digits {
    fn probabilities(&self, prompt: &[u32]) -> [f64; 10] {
        let weights = self.logits.get(prompt).copied().unwrap_or_default().map(f64::exp);
        weights.map(|weight| weight / weights.iter().sum::<f64>())
    }

    fn rollout(&self, prompt: &Prompt, draw: u64) -> Rollout {
        let prompt_tokens: Vec<u32> = prompt.text().bytes().map(u32::from).collect();
        let probabilities = self.probabilities(&prompt_tokens);
        let mut left = draw as f64 / u64::MAX as f64;
        let digit = probabilities.iter().position(|p| {
            left -= p;
            left <= 0.0
        });
        let digit = digit.unwrap_or(9);
        let text = match prompt.role {
            Role::PROPOSER => format!("def f(x):\n    return x * {digit} % 10<I>{digit}"),
            _ => digit.to_string(),
        };
        let (tokens, logprobs) = (vec![digit as u32], vec![probabilities[digit].ln() as f32]);
        Rollout {
            id: None,
            prompt_tokens,
            rendered_prompt: None,
            tokens,
            logprobs,
            text,
            finish: FinishReason::Stop,
            policy: PolicyVersion(0),
        }
    }

    /// REINFORCE: the gradient of weight · log p.
    fn learn(&mut self, batch: &TrainBatch) {
        for sample in &batch.samples {
            let probabilities = self.probabilities(&sample.prompt);
            let logits = self.logits.entry(sample.prompt.to_vec()).or_default();
            for (digit, logit) in logits.iter_mut().enumerate() {
                let chosen = f64::from(u8::from(sample.response[0] == digit as u32));
                *logit += 0.5 * f64::from(sample.weight) * (chosen - probabilities[digit]);
            }
        }
    }
}

impl Policy for Digits {
    fn generate(&self, prompts: &[Prompt], sampling: &Sampling) -> Result<Vec<Vec<Rollout>>, PolicyError> {
        let group = |(index, prompt): (u64, &Prompt)| {
            let draws = (0..sampling.group as u64).map(|sample| mix_seed(sampling.seed, &[index, sample]));
            draws.map(|draw| self.rollout(prompt, draw)).collect()
        };
        Ok((0..).zip(prompts).map(group).collect())
    }
}

/// Seed tasks whose answers are digits. Induction asks for a program, which this policy cannot write.
fn seeds(task_type: TaskType) -> Box<dyn Iterator<Item = Proposal>> {
    Box::new([3, 7, 9].into_iter().map(move |factor| {
        let program = format!("def f(x):\n    return x * {factor} % 10");
        match task_type {
            TaskType::Induction => {
                let inputs = (1..7).map(|input| vec![Value::int(input)]).collect();
                Proposal::Inputs { program, inputs, message: String::new() }
            }
            _ => Proposal::Triplet { task_type, program, input: vec![Value::int(factor)] },
        }
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let tasks = AbsoluteZeroTasks {
        gate: toml::from_str(GATE)?,
        seed_drafts: Box::new(|task_type, _| seeds(task_type)),
        seeds_per_type: 3,
        sft_per_type: 0,
        examples: Vec::new(),
        evaluation: Vec::new(),
        ladder: Vec::new(),
    };
    let game = SelfPlay::new(AbsoluteZero::new(toml::from_str(GAME)?, tasks, Guard::default())?);
    let sandbox = Sandbox::python()?;
    let mut policy = Digits::default();
    let mut state = game.init(&StepContext { policy: &policy, execute: &sandbox, seed: 1 })?;
    let mut solve_rates = Vec::new();
    for step in 0..20 {
        let output = game.step(&StepContext { policy: &policy, execute: &sandbox, seed: 1 }, &mut state, step)?;
        solve_rates.push(output.counts.solve_rate());
        for batch in &output.batches {
            if let Batch::Samples(samples) = batch {
                policy.learn(samples);
            }
        }
    }
    let (before, after) = (solve_rates[0], solve_rates[19]);
    assert!(before < 0.3 && after > 0.5, "{solve_rates:?}");
    Ok(())
}
