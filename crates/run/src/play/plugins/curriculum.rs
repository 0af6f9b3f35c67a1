//! `game.curriculum = "exec:COMMAND"`: the weights of the pool's tasks, before a step draws among them. The program weighs, and the run
//! draws: what is drawn is a function of the weights, the run's seed and the step.

use serde::Serialize;
use serde_json::Value;
use veriplay_core::Digest;
use veriplay_selfplay::curricula::{Curriculum, CurriculumContext, CurriculumTask};
use veriplay_selfplay::external::ExternalError;
use veriplay_selfplay::metrics::SolveCount;
use veriplay_selfplay::task_pool::Source;

use super::process::{Plugin, read_weight};

/// Answered by `{"weights": […]}`: for each task a number that is not negative, one of them above 0.
#[derive(Serialize)]
struct Question<'a> {
    learnable_weight: f64,
    tasks: Vec<TaskMessage<'a>>,
}

#[derive(Serialize)]
struct TaskMessage<'a> {
    id: &'a Digest,
    kind: &'a str,
    source: Source,
    /// The step that admitted it.
    step: u64,
    last: Option<SolveCount>,
    /// As the log of rollouts has it.
    task: Value,
}

impl Curriculum for Plugin {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn weights(
        &self,
        context: &CurriculumContext<'_>,
        tasks: &[CurriculumTask<'_>],
    ) -> Result<Vec<f64>, ExternalError> {
        let CurriculumContext { step, learnable_weight, .. } = *context;
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let messages = tasks.iter().map(TaskMessage::new).collect::<serde_json::Result<Vec<_>>>();
        let messages = messages.map_err(|error| self.error(step, &format!("a task is no JSON: {error}")))?;
        let question = Question { learnable_weight, tasks: messages };
        let weights = self.ask_step(step, &question, ("weights", tasks.len()), read_weight)?;
        if weights.iter().all(|weight| *weight == 0.0) {
            let why = format!("all {} weights are 0, and one at least has to be above 0", weights.len());
            return Err(self.error(step, &why));
        }
        Ok(weights)
    }
}

impl<'a> TaskMessage<'a> {
    fn new(task: &CurriculumTask<'a>) -> serde_json::Result<Self> {
        let CurriculumTask { id, kind, source, step, last, content } = *task;
        Ok(Self { id, kind, source, step, last, task: content.to_json()? })
    }
}
