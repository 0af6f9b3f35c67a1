//! Learners of several roles on one base: each is what a learner of its adapters alone would be.

use veriplay_core::{Learn, Policy, PreferenceBatch, Prompt, Role, Rollout, Sample, Sampling, TrainBatch, Update};
use veriplay_learner::{
    DeviceSpec, Learner, LearnerOptions, MemoryPlan, MicroBatchSize, RoleLearners, RolloutServer, ServerProtocol,
    find_adapters,
};

use crate::common::{prompt, tiny_config, tokenizer};
use crate::completions_server::{Act, Seen, Server, ServerKind};
use crate::lora::{EVERYWHERE, batch, lora};
use crate::rollout_server::{self, distance, prompts, sampling};

const ROLES: [Role; 2] = [Role::SOLVER, Role::PROPOSER];

fn learner(roles: &[Role]) -> Learner {
    let options = LearnerOptions { lora: Some(lora(EVERYWHERE)), roles: roles.to_vec(), ..LearnerOptions::default() };
    Learner::initialize(tiny_config(), tokenizer(), 7, options).expect("valid")
}

fn learners() -> RoleLearners {
    RoleLearners::new(learner(&ROLES)).expect("there is memory")
}

/// A batch of each role, which differ.
fn batches(turn: u32) -> [TrainBatch; 2] {
    ROLES.map(|role| {
        let mut batch = batch(if role == Role::SOLVER { turn } else { turn + 7 });
        batch.samples.iter_mut().for_each(|sample| sample.role = Some(role));
        batch
    })
}

/// Both in one, the samples of the two in turn.
fn joined([one, other]: &[TrainBatch; 2]) -> TrainBatch {
    let samples = one.samples.iter().zip(&other.samples).flat_map(|(one, other)| [one.clone(), other.clone()]);
    TrainBatch { samples: samples.collect(), normalizer: one.normalizer }
}

fn train(learners: &mut RoleLearners, turns: std::ops::Range<u32>) -> Vec<Update> {
    turns.map(|turn| learners.update(&joined(&batches(turn)), 1e-2).expect("learns")).collect()
}

fn bytes(learner: &Learner) -> Vec<u8> {
    learner.weights_bytes().expect("bytes")
}

fn all_bytes(learners: &RoleLearners) -> [Vec<u8>; 2] {
    ROLES.map(|role| bytes(learners.of(role)))
}

fn asked(role: Role) -> [Prompt; 2] {
    ["def f(x):", "<D>def f(x):\n    return "].map(|text| Prompt { role, ..prompt(text) })
}

fn sampled(policy: &dyn Policy, role: Role) -> Vec<Vec<Rollout>> {
    policy.generate(&asked(role), &Sampling { group: 3, seed: 4, ..Sampling::new(12) }).expect("samples")
}

#[test]
fn each_role_learns_and_samples_as_a_learner_that_has_its_adapters_alone() {
    let (mut both, mut alone) = (learners(), ROLES.map(|_| learner(&[])));
    for turn in 0..4 {
        let own = batches(turn);
        let together = both.update(&joined(&own), 1e-2).expect("learns");
        let [one, other] = [0, 1].map(|role| alone[role].update(&own[role], 1e-2).expect("learns"));
        assert_eq!((together.policy, together.tokens), (one.policy, one.tokens + other.tokens));
        assert_eq!(
            (together.loss, together.gradient_norm),
            (one.loss + other.loss, one.gradient_norm.hypot(other.gradient_norm))
        );
    }
    assert_ne!(bytes(&alone[0]), bytes(&alone[1]));
    let norms = both.gradient_norms(&joined(&batches(9))).expect("norms");
    for (place, role) in ROLES.into_iter().enumerate() {
        assert_eq!(bytes(both.of(role)), bytes(&alone[place]));
        assert_eq!(sampled(&both, role), sampled(&alone[place], role));
        assert_eq!(norms[&Some(role)], alone[place].gradient_norms(&batches(9)[place]).expect("norms")[&Some(role)]);
        let responses: [&[u32]; 2] = [&[4, 5], &[6]];
        let scores = |policy: &dyn Policy| policy.score_responses(&asked(role), &responses).expect("scores");
        assert_eq!(scores(&both), scores(&alone[place]));
    }
    // Whoever has no adapters of its own plays by the solver's.
    assert_eq!(sampled(&both, Role::VERIFIER), sampled(&both, Role::SOLVER));
}

#[test]
fn training_a_role_leaves_the_bits_of_the_other_and_of_the_base() {
    for (place, role) in ROLES.into_iter().enumerate() {
        let mut both = learners();
        let base = bytes(both.solver());
        assert!(all_bytes(&both).iter().all(|bytes| *bytes == base), "fresh adapters add nothing");
        for turn in 0..3 {
            both.update(&batches(turn)[place], 1e-2).expect("learns");
        }
        let after = all_bytes(&both);
        assert_ne!(after[place], base, "{role:?} has learned");
        assert_eq!(after[1 - place], base, "the other role's adapters are fresh, and so what it computes is the base");
        assert!(ROLES.iter().all(|role| both.of(*role).version().0 == 3));
    }
}

#[test]
fn an_example_trains_the_role_whose_answer_it_is_and_else_the_solver() {
    for (example_of, trained) in [(None, 0), (Some(Role::SOLVER), 0), (Some(Role::PROPOSER), 1)] {
        let mut both = learners();
        let base = bytes(both.solver());
        let mut own = batch(1);
        own.samples.iter_mut().for_each(|one| {
            *one = Sample { example_of, ..Sample::example(one.prompt.clone(), one.response.clone(), 1.0) };
        });
        both.update(&own, 1e-2).expect("learns");
        let after = all_bytes(&both);
        assert!(after[trained] != base && after[1 - trained] == base, "{example_of:?}");
        assert!(both.gradient_norms(&own).expect("norms").keys().eq([&None]));
    }
}

#[test]
fn a_checkpoint_has_a_folder_of_each_role_from_which_a_run_goes_on_to_the_bit() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut whole = learners();
    train(&mut whole, 0..3);
    whole.save_checkpoint(dir.path()).expect("saves");
    for role in ROLES {
        let found = find_adapters(&dir.path().join(role.name())).expect("valid").expect("adapters alone");
        assert_eq!(found.lora.rank, 3);
    }
    assert_eq!(find_adapters(dir.path()).expect("no model"), None);
    let mut again = learners();
    again.load_adapters(dir.path()).expect("loads");
    again.load_trainer_state(dir.path()).expect("loads");
    assert_eq!(train(&mut whole, 3..6), train(&mut again, 3..6));
    assert_eq!(all_bytes(&whole), all_bytes(&again));
    let lost = dir.path().join("proposer/adapter_model.safetensors");
    std::fs::remove_file(&lost).expect("it was there");
    let error = learners().load_adapters(dir.path()).expect_err("it is not there").to_string();
    assert!(error.contains(&*lost.to_string_lossy()), "{error}");
}

#[test]
fn all_roles_go_back_together_and_begin_again_together() {
    let mut both = learners();
    train(&mut both, 0..2);
    let (snapshot, before) = (both.snapshot().expect("copies"), all_bytes(&both));
    let first = train(&mut both, 2..4);
    let after = all_bytes(&both);
    both.restore(&snapshot).expect("its own");
    assert_eq!(all_bytes(&both), before);
    assert_eq!((train(&mut both, 2..4), all_bytes(&both)), (first, after));
    both.restart_adapters(&lora(EVERYWHERE)).expect("restarts");
    train(&mut both, 0..1);
    let mut new = learners();
    train(&mut new, 0..1);
    assert_eq!(all_bytes(&both), all_bytes(&new));
    both.restart_from(new).expect("the same roles");
    assert!(both.restart_from(RoleLearners::new(learner(&[])).expect("one")).is_err(), "it has other roles");
}

#[test]
fn frozen_policies_sample_what_each_role_did_whatever_it_has_learned_since() {
    let mut both = learners();
    train(&mut both, 0..2);
    let before = ROLES.map(|role| sampled(&both, role));
    let frozen = both.freeze().expect("copies");
    train(&mut both, 2..4);
    for (role, before) in ROLES.into_iter().zip(before) {
        assert!(sampled(&both, role)[0][0].logprobs != before[0][0].logprobs, "the updates have changed nothing");
        assert_eq!(sampled(&frozen, role), before, "{role:?}");
    }
}

#[test]
fn memory_is_planned_for_the_adapters_of_each_role_and_one_base() {
    let batch = MicroBatchSize { rows: 64, group: 64, outputs: 64 };
    for device in [DeviceSpec::Cpu, DeviceSpec::Portable] {
        let [none, shared, apart] =
            [(None, &ROLES[..0]), (Some(lora(EVERYWHERE)), &ROLES[..0]), (Some(lora(EVERYWHERE)), &ROLES[..])]
                .map(|(lora, roles)| LearnerOptions {
                    lora,
                    roles: roles.to_vec(),
                    device,
                    ..LearnerOptions::default()
                })
                .map(|options| MemoryPlan::predict(&tiny_config(), &options, batch));
        assert_eq!(apart.weights - none.weights, 2 * (shared.weights - none.weights), "{device}");
        assert_eq!(apart.moments, 2 * shared.moments, "{device}");
        assert_eq!((apart.working, apart.activations), (shared.working, shared.activations), "{device}");
    }
}

#[test]
fn what_does_not_say_its_role_is_refused() {
    let mut both = learners();
    let mixed: Vec<Prompt> = ROLES.into_iter().flat_map(asked).collect();
    let error = both.generate(&mixed, &Sampling::new(4)).expect_err("of two policies").to_string();
    assert!(error.contains("`solver` and `proposer`"), "{error}");
    let error = both.prefer(&PreferenceBatch { pairs: Vec::new() }, 1e-2).expect_err("pairs").to_string();
    assert!(error.contains("pairs do not say whose responses they are"), "{error}");
    let whole = LearnerOptions { roles: ROLES.to_vec(), ..LearnerOptions::default() };
    let whole = Learner::initialize(tiny_config(), tokenizer(), 7, whole).expect("valid");
    let error = RoleLearners::new(whole).expect_err("no adapters").to_string();
    assert!(error.contains("trains all weights"), "{error}");
}

/// Answers of the test's server to prompts of a role.
fn served(policy: &dyn Policy, role: Role) -> Vec<Rollout> {
    let prompts: Vec<Prompt> = prompts().into_iter().map(|prompt| Prompt { role, ..prompt }).collect();
    policy.generate(&prompts, &sampling()).expect("the server answers").into_iter().flatten().collect()
}

/// Requests for samples of a version of a role's adapters.
fn named(seen: &[Seen], part: &str) -> usize {
    let asked = seen.iter().filter(|seen| seen.path == "/v1/completions");
    asked.filter(|seen| seen.body["model"].as_str().is_some_and(|name| name.contains(part))).count()
}

#[test]
fn a_server_samples_each_role_from_its_own_adapters() {
    let (server, folder) =
        (Server::start(ServerKind::Vllm, |_, _| Act::Answer), tempfile::tempdir().expect("a folder"));
    let options = LearnerOptions { lora: Some(lora(EVERYWHERE)), roles: ROLES.to_vec(), ..LearnerOptions::default() };
    let learner = Learner::load(crate::TINY_MODEL.as_ref(), options).expect("the tiny model");
    let mut both = RoleLearners::new(learner).expect("there is memory");
    let opened = RolloutServer::open(&server.url, ServerProtocol::Vllm, folder.path(), rollout_server::options());
    both.sample_from(opened.expect("a fine address"));
    let samples = served(&both, Role::PROPOSER).into_iter().enumerate().map(|(place, rollout)| Sample {
        role: Some(Role::PROPOSER),
        ..Sample::new(rollout.prompt_tokens.into(), rollout.tokens, (place % 2) as f32 - 0.4)
    });
    let batch = TrainBatch { samples: samples.collect(), normalizer: 100.0 };
    (0..4).for_each(|_| drop(both.update(&batch, 3e-2).expect("it learns")));
    for is_lost in [false, true] {
        if is_lost {
            server.lose_weights();
        }
        let before = server.seen().len();
        for [role, other] in [ROLES, [ROLES[1], ROLES[0]]] {
            let rollouts = served(&both, role);
            assert!(distance(both.of(role), &rollouts) < 1e-4, "{role:?}");
            assert!(distance(both.of(other), &rollouts) > 1e-2, "{role:?}: the adapters are told apart");
            let part = format!("-{}-v4-", role.name());
            assert!(named(&server.seen()[before..], &part) >= prompts().len(), "each request names its role");
        }
        assert_eq!(server.given().len(), 2, "what is replaced is freed");
    }
    // Frozen roles have the server sample from their own adapters, too, while the others train on.
    let frozen = both.freeze().expect("copies");
    server.lose_weights();
    let before = server.seen().len();
    both.update(&batch, 3e-2).expect("it learns");
    for [role, other] in [ROLES, [ROLES[1], ROLES[0]]] {
        let rollouts = served(&frozen, role);
        assert!(rollouts.iter().all(|rollout| rollout.policy.0 == 4));
        assert!(distance(both.of(other), &rollouts) > 1e-2, "{role:?}: the adapters are told apart");
        let part = format!("-{}-v4-", role.name());
        assert!(named(&server.seen()[before..], &part) >= prompts().len(), "each request names its role");
    }
}
