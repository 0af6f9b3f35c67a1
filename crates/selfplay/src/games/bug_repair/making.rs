//! Bugs of a step: the model's, mutants, and failed repairs; each judged by the same checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::seq::{IndexedRandom, SliceRandom};
use veriplay_core::{Digest, Dropped, Evidence, Execute, Patch, Status, TextFiles, Verdict};
use veriplay_verifier::bugs::desk::{
    EMPTY_BODY, FunctionSource, MutateRequest, Suite, TreeRequest, ValidateRequest, Weakening, functions_all,
    mutate_all, propose_all, repair_of, validate_all,
};
use veriplay_verifier::bugs::{BugProposal, Ground, Unfit};

use super::BugRepair;
use super::config::Mode;
use super::dialects::Goal;
use super::drive::{Done, Table, play};
use super::episode::{Assignment, End};
use super::place::Place;
use super::records::{JudgedBug, Tried};
use super::state::{Kept, code_digest};
use crate::dialogue::Sampled;
use crate::play::{Arena, PlayError};
use crate::randomness::{derive_seed, draw, generator};

/// Where an injector begins.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) place: usize,
    pub(super) mode: Mode,
    pub(super) function: FunctionSource,
}

/// An injector's episode.
#[derive(Debug, Clone)]
pub(super) struct Injection {
    pub(super) site: Site,
    pub(super) done: Done,
    pub(super) judged: Result<JudgedBug, Dropped>,
}

/// A mutant or a failed repair.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) place: usize,
    pub(super) injector: String,
    pub(super) tried: Tried,
    pub(super) judged: Result<JudgedBug, Dropped>,
}

impl BugRepair {
    /// The injector's episodes of a step, judged.
    pub(super) fn injections(&self, arena: &Arena<'_>, step: u64) -> Result<Vec<Injection>, PlayError> {
        let sites = self.sites(arena.execute, arena.seed, step);
        let assignments: Vec<Arc<Assignment>> =
            sites.iter().map(|site| self.injection(site).map(Arc::new)).collect::<Result<_, _>>()?;
        let mut speaker = Sampled {
            policy: arena.policy,
            temperature: self.config.injector_temperature,
            max_tokens: self.config.injector_max_tokens,
            seed: (arena.seed, step, "injector"),
        };
        let seed = derive_seed(arena.seed, step, "tests of injectors");
        let table = Table { budget: self.config.injector_budget, ..self.table(arena.execute, seed) };
        let done = play(&table, &assignments, 1, &mut speaker)?;
        let sites: Vec<Site> = done.iter().map(|done| sites[done.assignment].clone()).collect();
        let judged = self.judge_injections(arena.execute, &sites, &done);
        let all = sites.into_iter().zip(done).zip(judged);
        Ok(all.map(|((site, done), judged)| Injection { site, done, judged }).collect())
    }

    /// Draws where the step's injections begin: functions that tests enter. Fewer than there could be, when one that was drawn is
    /// not to be found whole.
    pub(super) fn sites(&self, execute: &dyn Execute, seed: u64, step: u64) -> Vec<Site> {
        let mut generator = generator(seed, step, "injections");
        let entered = self.entered();
        let wanted = self.config.injections_per_step;
        let drawn = |generator: &mut _| {
            let mode = *self.config.modes.choose(generator)?;
            entered.choose(generator).map(|(place, path, name)| (mode, *place, *path, *name))
        };
        let drawn: Vec<_> = (0..wanted.saturating_mul(4)).filter_map(|_| drawn(&mut generator)).collect();
        let files: BTreeSet<(usize, &str)> = drawn.iter().map(|(_, place, path, _)| (*place, *path)).collect();
        let grounds: Vec<Ground<'_>> = self.places.iter().map(Place::ground).collect();
        let requests: Vec<(&Ground<'_>, &str)> = files.iter().map(|(place, path)| (&grounds[*place], *path)).collect();
        // A file that the host failed on has no functions in this step.
        let found = functions_all(execute, &requests).into_iter().map(Result::unwrap_or_default);
        let found: BTreeMap<(usize, &str), Vec<FunctionSource>> = files.into_iter().zip(found).collect();
        let site = |(mode, place, path, name): (Mode, usize, &str, &str)| {
            let function = found[&(place, path)].iter().find(|function| function.name == name)?.clone();
            let site = Site { place, mode, function };
            self.handed(&site).map(|_| site)
        };
        drawn.into_iter().filter_map(site).take(wanted).collect()
    }

    /// Functions of the training repositories' code that tests enter, each once.
    fn entered(&self) -> Vec<(usize, &str, &str)> {
        let of_place = |(index, place): (usize, &'_ Place)| {
            let files = place.ground().code_files().into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
            (index, files)
        };
        let code: Vec<(usize, BTreeSet<String>)> = self.training_places().iter().enumerate().map(of_place).collect();
        let mut entered = BTreeSet::new();
        for ((index, files), place) in code.iter().zip(&self.places) {
            let functions = place.map.files.iter().flat_map(|file| &file.functions);
            let named = functions.filter(|function| files.contains(&function.path) && !function.name.contains('<'));
            entered.extend(named.map(|function| (*index, function.path.as_str(), function.name.as_str())));
        }
        entered.into_iter().collect()
    }

    /// The files as an injector is handed them.
    fn handed(&self, site: &Site) -> Option<Arc<TextFiles>> {
        let originals = &self.originals[site.place];
        if site.mode != Mode::Rewrite {
            return Some(Arc::clone(originals));
        }
        let path = &site.function.path;
        let emptied = site.function.emptied(originals.get(path)?)?;
        let mut files = TextFiles::clone(originals);
        files.insert(path.clone(), emptied);
        Some(Arc::new(files))
    }

    /// What an injector is asked at a site.
    pub(super) fn injection(&self, site: &Site) -> Result<Assignment, PlayError> {
        let Site { place, mode, function } = site;
        let tree = self.handed(site).ok_or_else(|| {
            let why = format!("`{}` of `{}` has no body that could be taken out", function.name, function.path);
            PlayError::Setup(why)
        })?;
        let goal = Goal::Inject { mode: *mode, function: function.clone() };
        Ok(Assignment { goal, place: *place, tree, suite: Suite::Affected })
    }

    /// Verdicts on what injectors left, by the same rules when they are made again.
    pub(super) fn judge_injections(
        &self,
        execute: &dyn Execute,
        sites: &[Site],
        done: &[Done],
    ) -> Vec<Result<JudgedBug, Dropped>> {
        let early: Vec<Option<Result<JudgedBug, Dropped>>> =
            sites.iter().zip(done).map(|(site, done)| self.before_checks(site, done)).collect();
        let left: Vec<usize> = (0..done.len()).filter(|index| early[*index].is_none()).collect();
        let names: Vec<String> = left.iter().map(|index| format!("model_{}", sites[*index].mode.name())).collect();
        let trees: Vec<Tree<'_>> = left
            .iter()
            .zip(&names)
            .map(|(index, injector)| Tree { place: sites[*index].place, now: done[*index].episode.tree(), injector })
            .collect();
        let mut judged = self.judge_trees(execute, &trees, self.config.weakening).into_iter();
        let pick = |early: Option<Result<JudgedBug, Dropped>>| {
            early.or_else(|| judged.next()).unwrap_or_else(|| Err(Dropped { why: "no verdict was made".to_owned() }))
        };
        early.into_iter().map(pick).collect()
    }

    /// What is decided without running anything.
    fn before_checks(&self, site: &Site, done: &Done) -> Option<Result<JudgedBug, Dropped>> {
        if let Some(dropped) = &done.dropped {
            return Some(Err(dropped.clone()));
        }
        let malformed = |rule: &str, why: &str| Some(Ok(refused(Status::Malformed, rule, why)));
        let handed = &done.episode.assignment().tree;
        if done.episode.end() != Some(End::Submitted) {
            return malformed("unfinished", "it submitted nothing");
        }
        if done.episode.tree() == &**handed {
            return malformed("nothing", "it changed nothing");
        }
        let patch = repair_of(&self.places[site.place].ground(), &self.originals[site.place], done.episode.tree());
        let lines = patch.map_or((0, 0), |patch| patch.changed_lines());
        if site.mode == Mode::Removal && lines.0 <= lines.1 {
            return malformed("mode", "a removal takes out more lines than it adds");
        }
        let empty = |files: &TextFiles| {
            let text = files.get(&site.function.path).map_or("", String::as_str);
            text.matches(EMPTY_BODY).count()
        };
        if site.mode == Mode::Rewrite && empty(done.episode.tree()) > empty(&self.originals[site.place]) {
            return malformed("mode", "the body that was taken out is not written");
        }
        None
    }

    /// Mutants of a step, judged.
    pub(super) fn mutants(&self, execute: &dyn Execute, seed: u64, step: u64) -> Vec<Candidate> {
        let pool = self.drawn(execute, seed, step);
        let mutated = |mutant: &Mutant| {
            let mut now = TextFiles::clone(&self.originals[mutant.place]);
            now.insert(mutant.path.clone(), mutant.text.clone());
            now
        };
        let trees: Vec<TextFiles> = pool.iter().map(mutated).collect();
        let states = pool.iter().zip(&trees);
        let tried: Vec<Tree<'_>> =
            states.map(|(mutant, now)| Tree { place: mutant.place, now, injector: mutant.injector }).collect();
        let judged = self.judge_trees(execute, &tried, Weakening::Derived);
        let candidate = |(tree, judged): (&Tree<'_>, _)| {
            let patch = Patch::make(&self.originals[tree.place], tree.now).unwrap_or_default();
            let (injector, tried) = (tree.injector.to_owned(), Tried::Mutant(patch));
            Candidate { place: tree.place, injector, tried, judged }
        };
        tried.iter().zip(judged).map(candidate).collect()
    }

    /// Draws mutants: files first, then of all that the operators make of them. A file that the host failed on has none.
    fn drawn(&self, execute: &dyn Execute, seed: u64, step: u64) -> Vec<Mutant> {
        let wanted = self.config.mutants_per_step;
        let mut generator = generator(seed, step, "mutants");
        let grounds: Vec<Ground<'_>> = self.training_places().iter().map(Place::ground).collect();
        let of_ground = |(place, ground): (usize, &Ground<'_>)| -> Vec<(usize, String)> {
            ground.code_files().into_iter().map(|path| (place, path.to_owned())).collect()
        };
        let files: Vec<(usize, String)> = grounds.iter().enumerate().flat_map(of_ground).collect();
        let drawn: BTreeSet<&(usize, String)> = (0..wanted).filter_map(|_| files.choose(&mut generator)).collect();
        // More than one of each operator where files are few.
        let count = wanted.div_ceil(drawn.len().saturating_mul(self.injectors.len()).max(1));
        let request = |(place, path): &&'_ (usize, String)| {
            let seed = derive_seed(seed, step, &format!("mutants/{place}/{path}"));
            (*place, path.clone(), seed)
        };
        let asked: Vec<(usize, String, u64)> = drawn.iter().map(request).collect();
        let requests: Vec<MutateRequest<'_>> = asked
            .iter()
            .map(|(place, path, seed)| MutateRequest {
                ground: &grounds[*place],
                path,
                injectors: &self.injectors,
                seed: *seed,
                count,
            })
            .collect();
        let found = mutate_all(execute, &requests).into_iter().map(Result::unwrap_or_default);
        let mut pool: Vec<Mutant> = Vec::new();
        for ((place, path, _), mutants) in asked.iter().zip(found) {
            let candidates = mutants.into_iter().flat_map(|mutants| mutants.candidates);
            pool.extend(candidates.map(|found| Mutant {
                place: *place,
                path: path.clone(),
                injector: found.injector,
                text: found.text,
            }));
        }
        pool.shuffle(&mut generator);
        pool.truncate(wanted);
        pool
    }

    /// The bugs of the second order that failed repairs make: `failed` has their bug and patch.
    pub(super) fn higher_order(
        &self,
        execute: &dyn Execute,
        failed: &[(&Kept, &str)],
        seed: u64,
        step: u64,
    ) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let proposals: Vec<(usize, BugProposal)> = failed
            .iter()
            .filter_map(|(kept, patch)| {
                let place = self.place_of(&kept.package)?;
                let patch = Patch::parse(patch).ok()?;
                let bug = BugProposal { failed_repairs: vec![patch], ..kept.bug.clone() };
                seen.insert(code_digest(&kept.package, &bug)).then_some((place, bug))
            })
            .collect();
        let weighted = proposals.into_iter().map(|proposal| (proposal, 1.0)).collect();
        let chosen = draw(weighted, self.config.higher_order_per_step, &mut generator(seed, step, "higher order"));
        let judged =
            self.judge_proposals(execute, &chosen.iter().map(|(place, bug)| (*place, bug)).collect::<Vec<_>>());
        let candidate = |((place, bug), judged): ((usize, BugProposal), _)| Candidate {
            place,
            injector: bug.injector.clone(),
            tried: Tried::HigherOrder(bug),
            judged,
        };
        chosen.into_iter().zip(judged).map(candidate).collect()
    }

    /// Proposes and validates edited trees. Nothing runs for those with a function that is measured.
    pub(super) fn judge_trees(
        &self,
        execute: &dyn Execute,
        trees: &[Tree<'_>],
        weakening: Weakening,
    ) -> Vec<Result<JudgedBug, Dropped>> {
        let grounds: Vec<Ground<'_>> = self.places.iter().map(Place::ground).collect();
        let seeds = (0, self.config.rules().seeds[0]);
        let measured: Vec<Option<JudgedBug>> =
            trees.iter().map(|tree| self.refuse_measured(tree.place, tree.now)).collect();
        let left: Vec<&Tree<'_>> =
            trees.iter().zip(&measured).filter(|(_, measured)| measured.is_none()).map(|(tree, _)| tree).collect();
        let requests: Vec<TreeRequest<'_>> = left
            .iter()
            .map(|tree| TreeRequest {
                ground: &grounds[tree.place],
                now: tree.now,
                injector: tree.injector,
                weakening,
                seeds,
            })
            .collect();
        let proposed = propose_all(execute, &requests);
        let fit: Vec<(usize, &BugProposal)> = left
            .iter()
            .zip(&proposed)
            .filter_map(|(tree, proposed)| match proposed {
                Ok(Ok(bug)) => Some((tree.place, bug)),
                _ => None,
            })
            .collect();
        let mut validated = self.judge_proposals(execute, &fit).into_iter();
        let judged = |proposed: &Result<Result<BugProposal, Unfit>, Dropped>| match proposed {
            Err(dropped) => Err(dropped.clone()),
            Ok(Err(unfit)) => Ok(refused(Status::Invalid, unfit.check, &unfit.why)),
            Ok(Ok(_)) => validated.next().unwrap_or_else(|| Err(Dropped { why: "no verdict was made".to_owned() })),
        };
        let mut proposed = proposed.iter().map(judged);
        let no_verdict = || Err(Dropped { why: "no verdict was made".to_owned() });
        let pick = |measured: Option<JudgedBug>| match measured {
            Some(refused) => Ok(refused),
            None => proposed.next().unwrap_or_else(no_verdict),
        };
        measured.into_iter().map(pick).collect()
    }

    /// Validates proposals, but for those with a function that is measured.
    pub(super) fn judge_proposals(
        &self,
        execute: &dyn Execute,
        proposals: &[(usize, &BugProposal)],
    ) -> Vec<Result<JudgedBug, Dropped>> {
        let grounds: Vec<Ground<'_>> = self.places.iter().map(Place::ground).collect();
        let rules = self.config.rules();
        let refuse = |(place, bug): &(usize, &BugProposal)| self.refuse_measured(*place, &self.buggy(*place, bug));
        let measured: Vec<Option<JudgedBug>> = proposals.iter().map(refuse).collect();
        let requests: Vec<ValidateRequest<'_>> = proposals
            .iter()
            .zip(&measured)
            .filter(|(_, measured)| measured.is_none())
            .map(|((place, bug), _)| ValidateRequest { ground: &grounds[*place], bug, rules: &rules })
            .collect();
        let kept = |validated: veriplay_verifier::bugs::Validated| JudgedBug {
            verdict: validated.verdict,
            bug: validated.artifact.as_ref().map(Kept::from),
            known: false,
        };
        let mut validated = validate_all(execute, &requests).into_iter().map(|validated| validated.map(kept));
        let no_verdict = || Err(Dropped { why: "no verdict was made".to_owned() });
        let pick = |measured: Option<JudgedBug>| match measured {
            Some(refused) => Ok(refused),
            None => validated.next().unwrap_or_else(no_verdict),
        };
        measured.into_iter().map(pick).collect()
    }

    /// Says of every valid bug whether it is known: to the game, or by an earlier one of these.
    pub(super) fn mark_known<'a>(
        &self,
        known: &mut BTreeSet<Digest>,
        judged: impl Iterator<Item = &'a mut Result<JudgedBug, Dropped>>,
    ) {
        for judged in judged.filter_map(|judged| judged.as_mut().ok()) {
            if let Some(bug) = &judged.bug {
                judged.known = !known.insert(bug.code_digest());
            }
        }
    }
}

/// A file's text by an operator.
#[derive(Debug, Clone)]
struct Mutant {
    place: usize,
    path: String,
    injector: &'static str,
    text: String,
}

/// An edited tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    pub(super) place: usize,
    pub(super) now: &'a TextFiles,
    pub(super) injector: &'a str,
}

fn refused(status: Status, rule: &str, why: &str) -> JudgedBug {
    let evidence = Evidence { rule: rule.to_owned(), detail: why.to_owned(), ..Evidence::default() };
    JudgedBug { verdict: Verdict { status, passed: 0, total: 0, evidence }, bug: None, known: false }
}
