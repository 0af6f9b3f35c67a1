//! From episodes to judgements: the artifact gate for challengers, verification functions for executors.

use std::collections::BTreeMap;

use veriplay_core::{CodeTask, Digest, Dropped, Evidence, Execute, Status, Verdict, content_hash};
use veriplay_verifier::environments::{
    ArtifactReport, ArtifactRequest, CompleteRequest, EpisodeRequest, complete, examine_artifacts, judge_episodes,
};

use super::episode::Episode;
use super::{SelfChallenge, World};
use crate::environment::{Judged, ToJudge};
use crate::judgement::{JudgedProposal, Solution};
use crate::multi_turn::End;
use crate::rollout::Finished;
use crate::splits::HELD_OUT;
use crate::task_pool::PoolTask;

/// The rule of challenges in which nothing was proposed.
pub(super) const UNREADABLE: &str = "malformed";

/// A proposal for the gate.
struct Draft<'a> {
    world: &'a World,
    task: CodeTask,
    known: bool,
}

/// A verdict, all rules that refuse the task, and the task.
type Examination = (Verdict, Vec<String>, Option<CodeTask>);

impl SelfChallenge {
    /// Judges what challengers proposed. Nothing runs for what is evaluated on.
    pub(super) fn judge_challenges(
        &self,
        execute: &dyn Execute,
        proposals: &[ToJudge<'_, Self>],
        is_known: &mut dyn FnMut(usize, &Digest) -> bool,
    ) -> Vec<Judged<Self>> {
        let draft = |(place, one): (usize, &ToJudge<'_, Self>)| self.draft(one.finished, |key| is_known(place, key));
        let drafts: Vec<Result<Draft<'_>, Box<Judged<Self>>>> = proposals.iter().enumerate().map(draft).collect();
        let left: Vec<&Draft<'_>> = drafts.iter().filter_map(|draft| draft.as_ref().ok()).collect();
        let mut examined = self.examine(execute, &left).into_iter();
        let judged = |draft: Result<Draft<'_>, Box<Judged<Self>>>| match draft {
            Ok(Draft { known, .. }) => judged(examined.next().unwrap_or_else(no_verdict), known),
            Err(judged) => *judged,
        };
        drafts.into_iter().map(judged).collect()
    }

    /// What the gate is to examine, or the judgement where it need not.
    fn draft(
        &self,
        finished: &Finished<Episode>,
        is_known: impl FnOnce(&Digest) -> bool,
    ) -> Result<Draft<'_>, Box<Judged<Self>>> {
        let dropped = |dropped: Dropped| Box::new(judged(Err(dropped), false));
        if let Some(fault) = &finished.dropped {
            return Err(dropped(fault.clone()));
        }
        let Some(task) = finished.episode.workspace().proposed() else {
            return Err(Box::new(judged(Ok(nothing_proposed(&finished.episode)), false)));
        };
        let (world, known) = (self.world(&task.environment).map_err(dropped)?, is_known(&task.key()));
        let refused = |verdict| judged(Ok((verdict, vec![HELD_OUT.to_owned()], Some(task.clone()))), known);
        match self.guard.refuse_task(&task.instruction, &task.solution) {
            Some(verdict) => Err(Box::new(refused(verdict))),
            None => Ok(Draft { world, task: task.clone(), known }),
        }
    }

    /// The gate's verdicts, on tasks completed first where the prompt format leaves that to us.
    fn examine(&self, execute: &dyn Execute, drafts: &[&Draft<'_>]) -> Vec<Result<Examination, Dropped>> {
        let whole = self.completed(execute, drafts);
        let requests = drafts.iter().zip(&whole).filter_map(|(draft, task)| {
            let (environment, known) = (&draft.world.environment, draft.known);
            Some(ArtifactRequest { environment, task: task.as_ref().ok()?, known })
        });
        let mut examined = examine_artifacts(execute, &self.gate, &requests.collect::<Vec<_>>()).into_iter();
        let mut examined = |task| {
            let ArtifactReport { verdict, rules } = examined.next().unwrap_or_else(no_verdict)?;
            Ok((verdict, rules.into_iter().map(str::to_owned).collect(), Some(task)))
        };
        whole.into_iter().map(|task| task.and_then(&mut examined)).collect()
    }

    fn completed(&self, execute: &dyn Execute, drafts: &[&Draft<'_>]) -> Vec<Result<CodeTask, Dropped>> {
        if !self.format.is_single_turn() {
            return drafts.iter().map(|draft| Ok(draft.task.clone())).collect();
        }
        let requests =
            drafts.iter().map(|draft| CompleteRequest { environment: &draft.world.environment, task: &draft.task });
        complete(execute, &self.gate, &requests.collect::<Vec<_>>())
    }

    /// Judges executors by their calls and answers, whether or not they came to an end; what comes to the same calls and answer is judged
    /// once.
    pub(super) fn judge_executions(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[(&CodeTask, &Finished<Episode>)],
    ) -> Vec<Solution<()>> {
        let requests: Vec<Result<EpisodeRequest<'_>, Dropped>> =
            solutions.iter().map(|(task, finished)| self.request(task, finished, seed)).collect();
        let left: Vec<EpisodeRequest<'_>> = requests.iter().filter_map(|request| request.clone().ok()).collect();
        let key = |request: &EpisodeRequest<'_>| {
            content_hash(&(&request.environment.name, request.verify, request.calls, request.answer))
        };
        let mut verdicts = run_distinct(&left, key, |distinct| judge_episodes(execute, distinct)).into_iter();
        let verdict = |request: Result<_, Dropped>| request.and_then(|_| verdicts.next().unwrap_or_else(no_verdict));
        requests.into_iter().map(verdict).map(|verdict| Solution { verdict, detail: () }).collect()
    }

    fn request<'a>(
        &'a self,
        task: &'a CodeTask,
        finished: &'a Finished<Episode>,
        seed: u64,
    ) -> Result<EpisodeRequest<'a>, Dropped> {
        if let Some(dropped) = &finished.dropped {
            return Err(dropped.clone());
        }
        Ok(EpisodeRequest {
            environment: &self.world(&task.environment)?.environment,
            verify: &task.verify,
            calls: finished.episode.workspace().calls(),
            answer: finished.episode.workspace().answer(),
            image: &self.gate.image,
            limits: self.gate.limits,
            seed,
        })
    }
}

fn judged(examined: Result<Examination, Dropped>, known: bool) -> Judged<SelfChallenge> {
    match examined {
        Ok((verdict, detail, task)) => JudgedProposal { verdict: Ok(verdict), task, known, detail },
        Err(dropped) => JudgedProposal { verdict: Err(dropped), task: None, known, detail: Vec::new() },
    }
}

fn nothing_proposed(episode: &Episode) -> Examination {
    let detail = episode.end().map_or("", End::name).to_owned();
    let evidence = Evidence { rule: UNREADABLE.to_owned(), detail, ..Evidence::default() };
    (Verdict { status: Status::Malformed, passed: 0, total: 1, evidence }, vec![UNREADABLE.to_owned()], None)
}

fn no_verdict<T>() -> Result<T, Dropped> {
    Err(Dropped { why: "no verdict was made".to_owned() })
}

/// Gives every request what `run` gives for the first one with its key.
pub(super) fn run_distinct<Q: Clone, R: Clone>(
    requests: &[Q],
    key: impl Fn(&Q) -> Digest,
    run: impl FnOnce(&[Q]) -> Vec<R>,
) -> Vec<R> {
    let (mut distinct, mut known) = (Vec::new(), BTreeMap::new());
    let mut place = |request: &Q| {
        *known.entry(key(request)).or_insert_with(|| {
            distinct.push(request.clone());
            distinct.len() - 1
        })
    };
    let places: Vec<usize> = requests.iter().map(&mut place).collect();
    let results = run(&distinct);
    places.into_iter().map(|place| results[place].clone()).collect()
}
