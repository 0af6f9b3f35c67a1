//! What the game is played in: episodes of both roles, the artifact gate for challengers, verification functions for executors.

use veriplay_core::{CodeTask, Digest, Dropped, Execute, Limits, Status, Verdict, content_hash};
use veriplay_selfplay::admission::JudgedProposal;
use veriplay_selfplay::environment::{
    Environment, GameBase, JudgedProposalOf, JudgedResponseOf, OpenedEpisode, ProposalBatch, StreamNames, TaskEpisode,
};
use veriplay_selfplay::judgement::{JudgedResponse, Judging, Never, Seeds, rule_verdict, run_undecided};
use veriplay_selfplay::multi_turn::{EpisodeEnd, NextAction, serve_calls};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::rollout::FinishedEpisode;
use veriplay_selfplay::splits::HELD_OUT;
use veriplay_verifier::environments::{
    ArtifactRequest, CodeRequest, EpisodeRequest, complete, examine_artifact, judge_episode, run_code,
};
use veriplay_verifier::{on_all_cores, run_distinct};

use super::episode::ToolEpisode;
use super::{KIND, STREAMS, SelfChallenge, ToolEnvironment, task_key};
use crate::ToolTask;
use crate::prompts::{ChallengeRequest, ToolGoal};

/// The rule of challenges in which nothing was proposed.
pub(super) const UNREADABLE: &str = "malformed";

/// A proposal for the gate.
struct Draft<'a> {
    environment: &'a ToolEnvironment,
    task: CodeTask,
    known: bool,
}

/// A verdict, all rules that refuse the task, and the task.
type Examination = (Verdict, Vec<String>, Option<CodeTask>);

impl Environment for SelfChallenge {
    type Task = ToolTask;
    type Request = ChallengeRequest;
    type Episode = ToolEpisode;
    /// All rules that refuse the task.
    type ProposalDetail = Vec<String>;
    type SolutionDetail = ();
    type Round = Never;
    type Derivation = Never;

    const KINDS: &'static [&'static str] = &[KIND];
    const STREAMS: Option<StreamNames> = Some(STREAMS);

    fn base(&self) -> &GameBase<ToolTask> {
        &self.base
    }

    fn proposer_episode(
        &self,
        _execute: &dyn Execute,
        request: &ChallengeRequest,
    ) -> Result<Option<ToolEpisode>, PlayError> {
        Ok(self.episode(ToolGoal::Challenge(request.clone())))
    }

    /// Nothing runs for what is evaluated on.
    fn judge_proposals(&self, execute: &dyn Execute, batch: ProposalBatch<'_, Self>) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let drafts = proposals.iter().enumerate();
        let drafts = drafts.map(|(place, one)| self.draft(one.finished, |key| is_known(place, key)));
        run_undecided(drafts, |open| self.examine(execute, open))
    }

    fn solver_episodes(&self, _execute: &dyn Execute, _seeds: Seeds, tasks: &[&ToolTask]) -> Vec<OpenedEpisode<Self>> {
        tasks.iter().map(|task| Ok(self.execution(task))).collect()
    }

    /// Runs all code that is waited for: what is written the same after the same is run once.
    fn advance(&self, execute: &dyn Execute, seed: u64, episodes: &mut [FinishedEpisode<ToolEpisode>]) {
        let key = |request: &CodeRequest<'_>| {
            content_hash(&(&request.environment.name, request.code, request.history, request.limits.fuel))
        };
        serve_calls(episodes, |waiting| {
            let requests = waiting.iter().filter_map(|episode| self.code_request(seed, episode));
            let run = |request: &CodeRequest<'_>| run_code(execute, request);
            run_distinct(&requests.collect::<Vec<_>>(), key, |distinct| on_all_cores(distinct, run))
        });
    }

    /// Judges executors by their calls and answers, whether or not they came to an end; what comes to the same calls and answer is judged
    /// once.
    fn judge_solutions(
        &self,
        execute: &dyn Execute,
        seed: u64,
        solutions: &[TaskEpisode<'_, Self>],
    ) -> Vec<JudgedResponseOf<Self>> {
        let key = |request: &EpisodeRequest<'_>| {
            content_hash(&(&request.environment.name, request.verify, request.calls, request.answer))
        };
        let requests = solutions.iter().map(|(task, finished)| Judging::from(self.request(task, finished, seed)));
        let judge = |request: &EpisodeRequest<'_>| judge_episode(execute, request);
        let verdicts =
            run_undecided(requests, |open| run_distinct(open, key, |distinct| on_all_cores(distinct, judge)));
        verdicts.into_iter().map(|verdict| JudgedResponse { verdict, detail: () }).collect()
    }
}

impl SelfChallenge {
    /// What the gate is to examine, or the judgement where it need not.
    fn draft(
        &self,
        finished: &FinishedEpisode<ToolEpisode>,
        is_known: impl FnOnce(&Digest) -> bool,
    ) -> Judging<Draft<'_>, JudgedProposalOf<Self>> {
        if let Some(fault) = &finished.dropped {
            return Judging::Decided(judged(Err(fault.clone()), false));
        }
        let Some(task) = finished.episode.workspace().proposed() else {
            return Judging::Decided(judged(Ok(nothing_proposed(&finished.episode)), false));
        };
        let environment = match self.find_environment(&task.environment) {
            Ok(environment) => environment,
            Err(unknown) => return Judging::Decided(judged(Err(unknown), false)),
        };
        let known = is_known(&task_key(task));
        match self.base.guard.refuse_task(&task.instruction, &task.solution) {
            Some(verdict) => {
                Judging::Decided(judged(Ok((verdict, vec![HELD_OUT.to_owned()], Some(task.clone()))), known))
            }
            None => Judging::Open(Draft { environment, task: task.clone(), known }),
        }
    }

    /// The gate's judgements, on tasks completed first where the prompt format leaves that to us.
    fn examine(&self, execute: &dyn Execute, drafts: &[Draft<'_>]) -> Vec<JudgedProposalOf<Self>> {
        let whole = self.completed(execute, drafts);
        let requests = drafts.iter().zip(&whole).map(|(draft, task)| {
            let (environment, known) = (&draft.environment.environment, draft.known);
            Judging::from(task.as_ref().map_err(Clone::clone).map(|task| ArtifactRequest { environment, task, known }))
        });
        let examined = run_undecided(requests, |open| {
            on_all_cores(open, |request| examine_artifact(execute, &self.gate, request))
        });
        let all = drafts.iter().zip(whole).zip(examined);
        all.map(|((draft, task), examined)| {
            let rules = |rules: Vec<&str>| rules.into_iter().map(str::to_owned).collect();
            judged(examined.map(|one| (one.verdict, rules(one.rules), task.ok())), draft.known)
        })
        .collect()
    }

    fn completed(&self, execute: &dyn Execute, drafts: &[Draft<'_>]) -> Vec<Result<CodeTask, Dropped>> {
        if !self.format.is_single_turn() {
            return drafts.iter().map(|draft| Ok(draft.task.clone())).collect();
        }
        on_all_cores(drafts, |draft| complete(execute, &self.gate, &draft.environment.environment, &draft.task))
    }

    fn code_request<'a>(&'a self, seed: u64, episode: &'a ToolEpisode) -> Option<CodeRequest<'a>> {
        let NextAction::Call(code) = episode.next_action() else { return None };
        let (workspace, limits) = (episode.workspace(), self.gate.limits);
        Some(CodeRequest {
            environment: &self.find_environment(workspace.goal().environment()).ok()?.environment,
            history: workspace.calls(),
            code,
            image: &self.gate.image,
            limits: Limits { fuel: limits.fuel.min(episode.fuel_left()), ..limits },
            seed,
        })
    }

    fn request<'a>(
        &'a self,
        task: &'a CodeTask,
        finished: &'a FinishedEpisode<ToolEpisode>,
        seed: u64,
    ) -> Result<EpisodeRequest<'a>, Dropped> {
        if let Some(dropped) = &finished.dropped {
            return Err(dropped.clone());
        }
        Ok(EpisodeRequest {
            environment: &self.find_environment(&task.environment)?.environment,
            verify: &task.verify,
            calls: finished.episode.workspace().calls(),
            answer: finished.episode.workspace().answer(),
            image: &self.gate.image,
            limits: self.gate.limits,
            seed,
        })
    }
}

fn judged(examined: Result<Examination, Dropped>, known: bool) -> JudgedProposalOf<SelfChallenge> {
    match examined {
        Ok((verdict, detail, task)) => {
            JudgedProposal { verdict: Ok(verdict), task: task.map(ToolTask), known, guess_rate: None, detail }
        }
        Err(dropped) => {
            JudgedProposal { verdict: Err(dropped), task: None, known, guess_rate: None, detail: Vec::new() }
        }
    }
}

fn nothing_proposed(episode: &ToolEpisode) -> Examination {
    let verdict = rule_verdict(Status::Malformed, UNREADABLE, episode.end().map_or("", EpisodeEnd::name));
    (Verdict { total: 1, ..verdict }, vec![UNREADABLE.to_owned()], None)
}
