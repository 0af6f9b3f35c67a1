//! Gradients of one objective: its responses dealt to data-parallel workers, computed in parallel, summed in their order.

use candle_core::{Result, Tensor};
use veriplay_kernels::thread_pool::run_on_threads;

use crate::backend::Backend;
use crate::device::host_threads;
use crate::gradients::Gradients;
use crate::network::{Decoder, MicroBatch, Weights, assign_to_workers, group_by_prompt, join_turns, values};
use crate::objective::{BatchTotals, Objective};
use crate::ops::SharedWorkspace;
use crate::options::LearnerOptions;
use crate::segments::SegmentedBackward;

/// Warns once when candle's own thread pool competes with the data-parallel workers.
///
/// Residual sums, and the sums of gradients inside `backward`, are candle's. Since 0.11.1 it hands those of 64 Ki elements and more
/// to a global pool with a lock, whose threads spin: beside threads of ours it only takes their time (three times as long an
/// update on 2 cores). The results are the same. Candle reads `CANDLE_NUM_THREADS` when it first needs the pool; `.cargo/config.toml`
/// sets it for what cargo runs.
pub(crate) fn warn_about_candle_pool() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let workers = candle_core::utils::barrier_pool().n_workers();
        if workers > 0 {
            tracing::warn!(workers, "candle's thread pool slows training down: set CANDLE_NUM_THREADS=1");
        }
    });
}

/// Loss and gradients of an objective, in the sizes that the options say; one worker, and one thread, for each workspace. `weights` are those that `backend` tracks.
pub(crate) fn compute_gradients(
    backend: &Backend,
    weights: &Weights,
    workspaces: &[SharedWorkspace],
    objective: &dyn Objective,
    options: &LearnerOptions,
) -> Result<(BatchTotals, Gradients)> {
    let LearnerOptions { micro_tokens, segments, .. } = *options;
    let responses = objective.responses();
    let turns = join_turns(&responses);
    let (later, joined) = (turns.later, turns.joined);
    let shares = assign_to_workers(group_by_prompt(turns.sequences, micro_tokens), workspaces.len(), micro_tokens);
    let detached = segments.map(|segments| (backend.detached(), segments));
    let none = || if weights.is_offloaded() { Gradients::on_host(host_threads()) } else { Gradients::default() };
    let work = |(workspace, share): (&SharedWorkspace, &Vec<MicroBatch>)| {
        let tracked = backend.decoder(workspace);
        let Some((detached, sizes)) = &detached else {
            return run_share(share, none(), |batch, sum| run_micro_batch(&tracked, weights, objective, batch, sum));
        };
        let pass =
            SegmentedBackward { tracked: &tracked, detached: &detached.decoder(workspace), weights, sizes: *sizes };
        run_share(share, none(), |batch, sum| pass.run(objective, batch, sum))
    };
    let parts = run_on_threads(workspaces.iter().zip(&shares), work);
    let mut sum = (BatchTotals::default(), none());
    for part in parts {
        let (totals, gradients) = part?;
        sum.0.add(totals);
        sum.1.merge(gradients)?;
    }
    if later > 0 {
        sum.0.metrics.add_many("actor/turns_joined", joined as f64, later as f64);
    }
    Ok(sum)
}

/// The micro-batches of one worker, one after the other, whose gradients are added to `gradients`.
fn run_share(
    share: &[MicroBatch],
    mut gradients: Gradients,
    pass: impl Fn(&MicroBatch, &mut Gradients) -> Result<BatchTotals>,
) -> Result<(BatchTotals, Gradients)> {
    let mut totals = BatchTotals::default();
    for batch in share {
        totals.add(pass(batch, &mut gradients)?);
    }
    Ok((totals, gradients))
}

/// One micro-batch, forward and backward. The objective's slopes are factors of the log-probabilities and entropies: the gradient of
/// Σ slope · output in the weights is that of the objective, whatever its formula.
fn run_micro_batch(
    decoder: &Decoder<'_>,
    weights: &Weights,
    objective: &dyn Objective,
    batch: &MicroBatch,
    sum: &mut Gradients,
) -> Result<BatchTotals> {
    let predicted = decoder.predict(batch)?;
    let outputs = values(&predicted)?;
    let (logprobs, entropies) = outputs.split_at(batch.predictions.len());
    let evaluated = objective.evaluate(batch, logprobs, entropies);
    let totals = BatchTotals::new(batch, &evaluated, entropies);
    let slopes = Tensor::from_vec(evaluated.slopes, predicted.shape(), predicted.device())?;
    let slopes = slopes.to_dtype(predicted.dtype())?;
    sum.add(weights, (predicted * slopes)?.sum_all()?.backward()?)?;
    Ok(totals)
}
