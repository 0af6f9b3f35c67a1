//! Injectors' episodes: where they begin, and what is made of the trees they leave.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rand::seq::IndexedRandom;
use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Dropped, Evidence, Execute, Status, TextFiles};
use veriplay_selfplay::advantages::EpisodeNotes;
use veriplay_selfplay::environment::{JudgedProposalOf, ProposalBatch, Proposer, Stage};
use veriplay_selfplay::judgement::{Judging, run_undecided};
use veriplay_selfplay::play::PlayError;
use veriplay_selfplay::preferences::Response;
use veriplay_selfplay::randomness::generator;
use veriplay_selfplay::rollout::{FinishedEpisode, Part};
use veriplay_selfplay::step::Step;
use veriplay_verifier::bugs::tool_env::{DefaultTests, FunctionSource, list_functions, repair_of};
use veriplay_verifier::bugs::{PastChange, RepoContext, has_less_code};
use veriplay_verifier::on_all_cores;

use super::BugRepair;
use super::config::TestCommandSource;
use super::episode::{Assignment, RepoEpisode, RepoWorkspace, SUBMITTED};
use super::mutation::{EditedTree, judgement, mark_known, refusal};
use super::prompts::{InjectionMode, RepoGoal};
use super::task::KIND;

/// A request to an injector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionRequest {
    /// The repository.
    pub package: Digest,
    /// How the bug is to be made.
    pub mode: InjectionMode,
    /// The file of the function where it begins.
    pub path: String,
    /// That function.
    pub function: String,
    /// The commit of the past change to undo, in the mode `history`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl InjectionRequest {
    /// Whether injections of both are compared, where a request goes to `per_site` injectors: those of one package and mode, or of one request
    /// where it goes to several.
    pub fn is_compared_with(&self, other: &Self, per_site: usize) -> bool {
        self == other || per_site == 1 && (&self.package, self.mode) == (&other.package, other.mode)
    }
}

#[derive(Debug, Clone)]
pub(super) struct InjectionSite {
    pub(super) repository: usize,
    pub(super) mode: InjectionMode,
    pub(super) function: FunctionSource,
    /// The change to undo; `Some` in the mode `history` alone.
    pub(super) past: Option<PastChange>,
}

/// Where an injector shall begin: a drawn function, or a drawn past change of one.
struct DrawnSite<'a> {
    repository: usize,
    mode: InjectionMode,
    path: &'a str,
    target: DrawnTarget<'a>,
}

enum DrawnTarget<'a> {
    Function(&'a str),
    Change(&'a PastChange),
}

impl BugRepair {
    /// The injectors at these sites; none at one that the prompt format cannot ask for.
    pub(super) fn proposers_at(&self, sites: Vec<InjectionSite>) -> Vec<Proposer<Self>> {
        let proposer = |site: InjectionSite| {
            let request = InjectionRequest {
                package: self.repositories[site.repository].package().clone(),
                mode: site.mode,
                path: site.function.path.clone(),
                function: site.function.name.clone(),
                commit: site.past.as_ref().map(|past| past.commit.clone()),
            };
            Some(Proposer {
                request,
                episode: self.injection_episode(site)?,
                rollouts: self.own.injections_per_site,
                kind: KIND,
            })
        };
        sites.into_iter().filter_map(proposer).collect()
    }

    /// Says which of the injections at these places estimators compare. A group has the number of the place of its first.
    pub(super) fn note_groups(&self, step: &mut Step<'_, Self>, injections: Range<usize>) -> Result<(), PlayError> {
        let per_site = self.own.injections_per_site;
        for index in injections.clone() {
            let request = |place: usize| &step.facts().proposals[place].request;
            let group = injections.clone().find(|first| request(*first).is_compared_with(request(index), per_site));
            step.note(Response { part: Part::Proposal, index }, EpisodeNotes { group, ..EpisodeNotes::default() })?;
        }
        Ok(())
    }

    /// Draws where the step's injections begin, each by one of these modes: functions that tests enter. Fewer than there could be, when one that was
    /// drawn is not to be found whole.
    pub(super) fn draw_sites(
        &self,
        execute: &dyn Execute,
        modes: &[InjectionMode],
        seed: u64,
        step: u64,
    ) -> Vec<InjectionSite> {
        let mut generator = generator(seed, step, "injections");
        let (functions, changes) = (self.tested_functions(), self.past_changes());
        let wanted = self.own.injections_per_step / self.own.injections_per_site;
        let drawn = |generator: &mut _| {
            let mode = *modes.choose(generator)?;
            if mode == InjectionMode::History {
                let (repository, change) = *changes.choose(generator)?;
                let target = DrawnTarget::Change(change);
                return Some(DrawnSite { repository, mode, path: change.path(), target });
            }
            let (repository, path, name) = *functions.choose(generator)?;
            Some(DrawnSite { repository, mode, path, target: DrawnTarget::Function(name) })
        };
        let drawn: Vec<DrawnSite<'_>> = (0..wanted.saturating_mul(4)).filter_map(|_| drawn(&mut generator)).collect();
        let files: BTreeSet<(usize, &str)> = drawn.iter().map(|site| (site.repository, site.path)).collect();
        let repos = self.repos();
        let requests: Vec<(&RepoContext<'_>, &str)> =
            files.iter().map(|(repository, path)| (&repos[*repository], *path)).collect();
        // A file that the host failed on has no functions in this step.
        let found = on_all_cores(&requests, |(repo, path)| list_functions(execute, repo, repo.texts, path));
        let found = found.into_iter().map(Result::unwrap_or_default);
        let found: BTreeMap<(usize, &str), Vec<FunctionSource>> = files.into_iter().zip(found).collect();
        let tested: BTreeSet<(usize, &str, &str)> = functions.iter().copied().collect();
        let site = |drawn: DrawnSite<'_>| {
            let in_file = &found[&(drawn.repository, drawn.path)];
            let (function, past) = self.find_target(execute, &drawn, in_file, &tested)?;
            let site = InjectionSite { repository: drawn.repository, mode: drawn.mode, function, past };
            self.injector_files(&site).map(|_| site)
        };
        drawn.into_iter().filter_map(site).take(wanted).collect()
    }

    /// The function of a drawn site, and the change to undo. Of a change it is the first function that tests enter and that it changed. A change
    /// that nobody can undo is no target, nor one that the host failed on.
    fn find_target(
        &self,
        execute: &dyn Execute,
        drawn: &DrawnSite<'_>,
        functions: &[FunctionSource],
        tested: &BTreeSet<(usize, &str, &str)>,
    ) -> Option<(FunctionSource, Option<PastChange>)> {
        match drawn.target {
            DrawnTarget::Function(name) => {
                functions.iter().find(|function| function.name == name).map(|function| (function.clone(), None))
            }
            DrawnTarget::Change(change) => {
                let texts = &self.originals[drawn.repository];
                let is_tested = |function: &&FunctionSource| {
                    tested.contains(&(drawn.repository, function.path.as_str(), function.name.as_str()))
                };
                let mut tested = functions.iter().filter(is_tested);
                let found = tested.find(|function| function.is_changed_by(texts, change))?;
                let repo = self.repositories[drawn.repository].context();
                // A fault of the host leaves the site where it is, so that others draw the same: whether it was undone is asked again.
                let can_be_undone = change.can_be_undone(execute, &repo).unwrap_or(true);
                can_be_undone.then(|| (found.clone(), Some(change.clone())))
            }
        }
    }

    /// The past changes of files of code in the training repositories.
    pub(super) fn past_changes(&self) -> Vec<(usize, &PastChange)> {
        let mut changes = Vec::new();
        for (index, repository) in self.training_repositories().iter().enumerate() {
            let files = repository.code_paths();
            let of_code = repository.history.iter().filter(|change| files.contains(change.path()));
            changes.extend(of_code.map(|change| (index, change)));
        }
        changes
    }

    /// The episode of a logged request; `None` where the log does not fit the game.
    pub(super) fn logged_injection_episode(
        &self,
        execute: &dyn Execute,
        request: &InjectionRequest,
    ) -> Result<Option<RepoEpisode>, Dropped> {
        let Some(repository) = self.repository_of(&request.package) else { return Ok(None) };
        let repo = self.repositories[repository].context();
        let found = list_functions(execute, &repo, repo.texts, &request.path)?;
        let function = found.into_iter().find(|function| function.name == request.function);
        let is_asked =
            |change: &&PastChange| request.commit.as_ref() == Some(&change.commit) && change.path() == request.path;
        let past = self.repositories[repository].history.iter().find(is_asked).cloned();
        if past.is_none() && request.mode == InjectionMode::History {
            return Ok(None);
        }
        let site = |function| InjectionSite { repository, mode: request.mode, function, past };
        Ok(function.and_then(|function| self.injection_episode(site(function))))
    }

    /// Functions of the training repositories' code that tests enter, each once.
    fn tested_functions(&self) -> Vec<(usize, &str, &str)> {
        let mut tested = BTreeSet::new();
        for (index, repository) in self.training_repositories().iter().enumerate() {
            let files = repository.code_paths();
            let functions = repository.map.files.iter().flat_map(|file| &file.functions);
            let named =
                functions.filter(|function| files.contains(function.path.as_str()) && !function.name.contains('<'));
            tested.extend(named.map(|function| (index, function.path.as_str(), function.name.as_str())));
        }
        tested.into_iter().collect()
    }

    /// The files before an injector's first turn; `None` where the function has no body that could be taken out.
    fn injector_files(&self, site: &InjectionSite) -> Option<Arc<TextFiles>> {
        let originals = &self.originals[site.repository];
        if site.mode != InjectionMode::Rewrite {
            return Some(Arc::clone(originals));
        }
        let path = &site.function.path;
        let emptied = site.function.emptied(originals.get(path)?)?;
        let mut files = TextFiles::clone(originals);
        files.insert(path.clone(), emptied);
        Some(Arc::new(files))
    }

    /// The episode that begins at a site; `None` where no prompt can be made of it.
    pub(super) fn injection_episode(&self, site: InjectionSite) -> Option<RepoEpisode> {
        let (tree, suite) = (self.injector_files(&site)?, DefaultTests::Affected);
        let InjectionSite { repository, mode, function, past } = site;
        let names_command = self.own.test_command == TestCommandSource::Injector;
        let goal = RepoGoal::Inject { mode, function, past, names_command };
        let assignment = Assignment { goal, repository, tree, suite, hidden: BTreeSet::new() };
        let examples = self.examples_beside(repository, &assignment.goal);
        RepoWorkspace::open(Arc::new(assignment), self.format, &examples, self.own.injector_budget)
    }

    /// Judgements on what injectors left, by the same rules when they are made again.
    pub(super) fn judge_injections(
        &self,
        execute: &dyn Execute,
        batch: ProposalBatch<'_, Self>,
    ) -> Vec<JudgedProposalOf<Self>> {
        let ProposalBatch { proposals, is_known } = batch;
        let mut costs = Vec::with_capacity(proposals.len());
        let trees = proposals.iter().map(|one| {
            let mut cost = Evidence::default();
            let unrun = self.judge_unrun(execute, one.request.mode, one.finished, &mut cost);
            costs.push(cost);
            if let Some(judged) = unrun {
                return Judging::Decided(judged);
            }
            let workspace = one.finished.episode.workspace();
            let (repository, injector) = (workspace.assignment().repository, one.request.mode.injector());
            let test_command = workspace.test_command();
            Judging::Open(EditedTree { repository, now: workspace.tree(), injector, test_command })
        });
        let mut judged = run_undecided(trees, |open| self.judge_trees(execute, open, self.own.weakening));
        for (judged, cost) in judged.iter_mut().zip(costs) {
            add_earlier_cost(judged, cost);
        }
        // The start model's examples may repeat each other.
        if proposals.iter().all(|one| one.stage == Stage::Propose) {
            mark_known(&mut judged, is_known);
        }
        judged
    }

    /// What is decided before any test runs. Adds what that costs to `cost`.
    fn judge_unrun(
        &self,
        execute: &dyn Execute,
        mode: InjectionMode,
        finished: &FinishedEpisode<RepoEpisode>,
        cost: &mut Evidence,
    ) -> Option<JudgedProposalOf<Self>> {
        if let Some(dropped) = &finished.dropped {
            return Some(judgement(Err(dropped.clone()), None));
        }
        let malformed = |rule: &str, why: &str| Some(refusal(Status::Malformed, rule, why));
        let workspace = finished.episode.workspace();
        let assignment = workspace.assignment();
        if finished.episode.end() != Some(SUBMITTED) {
            return malformed("unfinished", "it submitted nothing");
        }
        if workspace.tree() == &*assignment.tree {
            return malformed("nothing", "it changed nothing");
        }
        let (repo, now) = (self.repositories[assignment.repository].context(), workspace.tree());
        let patch = repair_of(&repo, repo.texts, now).unwrap_or_default();
        let lines = patch.changed_lines();
        if mode == InjectionMode::Removal && lines.0 <= lines.1 {
            return malformed("mode", "a removal takes out more lines than it adds");
        }
        let RepoGoal::Inject { function, past, .. } = &assignment.goal else {
            return malformed("mode", "it is no injection");
        };
        let (is_kept, why) = match (mode, past) {
            (InjectionMode::Removal, _) => (has_less_code(execute, &repo, now, cost), "no code is taken out"),
            (InjectionMode::History, Some(past)) => {
                (past.is_undone_by(execute, &repo, now, cost), "nothing of the past change is undone")
            }
            (InjectionMode::Rewrite, _) => {
                (function.is_rewritten(execute, &repo, now, cost), "the body that was taken out is not written")
            }
            _ => return None,
        };
        match is_kept {
            Ok(true) => None,
            Ok(false) if cost.met_deadline => malformed("mode", "the deadline was met before its mode was checked"),
            Ok(false) => malformed("mode", why),
            Err(dropped) => Some(judgement(Err(dropped), None)),
        }
    }
}

/// Adds the cost of jobs that ran before those of the verdict.
fn add_earlier_cost(judged: &mut JudgedProposalOf<BugRepair>, cost: Evidence) {
    let Ok(verdict) = &mut judged.verdict else { return };
    let evidence = &mut verdict.evidence;
    evidence.jobs.splice(..0, cost.jobs);
    evidence.fuel = evidence.fuel.saturating_add(cost.fuel);
    evidence.met_deadline |= cost.met_deadline;
}
