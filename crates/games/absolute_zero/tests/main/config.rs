//! Each setting that has no meaning is refused with its key, value and range.

use expect_test::expect;
use veriplay_absolute_zero::AbsoluteZeroConfig;
use veriplay_selfplay::{advantages, rewards};

use crate::support::{config, game};

const GOOD: &str = concat!(
    include_str!("settings.toml"),
    r#"
format = "compact"
proposals_per_type = 32
tasks_per_type = 32
references = 0
proposer = "train"
reward = "quickstart"
advantage = "group"
proposer_weight = 0.1
sft_weight = 0.1
sft_samples = 16
fresh_fraction = 1.0
seed_share = 0.5
induction_visible = 3
induction_hidden = 3
"#
);

/// [`GOOD`] with one line in place of the line of its key.
fn with(line: &str) -> String {
    let key = line.split_once(" =").unwrap().0;
    let kept = GOOD.lines().filter(|old| old.split_once(" =").is_none_or(|(old, _)| old != key));
    kept.chain([line]).collect::<Vec<_>>().join("\n")
}

fn told(line: &str) -> String {
    let config: AbsoluteZeroConfig = toml::from_str(&with(line)).unwrap();
    let error = game(config).err();
    error.map_or_else(|| format!("{line}: accepted"), |error| error.to_string())
}

#[test]
fn a_good_config_is_read_and_written_back() {
    let config: AbsoluteZeroConfig = toml::from_str(GOOD).unwrap();
    assert!(game(config.clone()).is_ok());
    assert_eq!(toml::from_str::<AbsoluteZeroConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
}

#[test]
fn values_at_the_edge_of_their_range_are_accepted() {
    let edges = [
        "proposals_per_type = 0",
        "tasks_per_type = 1",
        "group_size = 2",
        "references = 64",
        "fresh_fraction = 0.0",
        "seed_share = 1.0",
        "resample_learnable = 0.0",
        "sft_samples = 0",
        "proposer_temperature = 0.0",
        "reward = \"random\"",
        "proposer = \"frozen\"",
        "reward = \"azr_inverse\"",
        "format = \"think\"",
        "advantage = \"trr\"",
        "advantage = \"rae\"",
        "aggregation = \"constant_length\"",
        "zero_advantage = \"keep\"",
    ];
    for line in edges {
        assert_eq!(told(line), format!("{line}: accepted"));
    }
    for (advantage, alone) in
        [("trr", true), ("rae", true), ("reinforce_plus_plus", true), ("grpo", false), ("dr_grpo", false)]
    {
        let config = config().with(|c| {
            c.shared.group_size = 1;
            c.shared.advantage = Some(advantage.to_owned());
        });
        assert_eq!(game(config).is_ok(), alone, "{advantage}");
    }
}

#[test]
fn each_bad_value_is_told_with_its_key_its_value_and_what_is_allowed() {
    let bad = [
        "format = \"chat\"",
        "reward = \"Azr\"",
        "advantage = \"gae\"",
        "task_types = []",
        "task_types = [\"deduction\", \"deduction\"]",
        "proposals_per_type = 65537",
        "tasks_per_type = 0",
        "group_size = 0",
        "group_size = 1",
        "references = 65",
        "proposer_weight = -0.5",
        "solver_weight = -0.5",
        "verifier_weight = 1001.0",
        "seed_proposals = 1048577",
        "intrinsic = { beauty = 0.1 }",
        "intrinsic = { novelty = -0.1 }",
        "sft_weight = nan",
        "sft_samples = 65537",
        "buffer_capacity = 16777217",
        "composite_share = 0.5",
        "fresh_fraction = 1.5",
        "seed_share = -0.1",
        "resample_learnable = inf",
        "induction_visible = 0",
        "induction_hidden = 0",
        "proposer_temperature = -1.0",
        "solver_temperature = nan",
        "proposer_max_tokens = 0",
        "solver_max_tokens = 0",
        "alpha = 0.5",
    ];
    // A new reward or advantage is in the lists without a change here.
    let list = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let lists = [(list(rewards::names()), "REWARDS"), (list(advantages::names()), "ADVANTAGES")];
    let named = |line| lists.iter().fold(told(line), |told, (list, name)| told.replace(list, name));
    let told: Vec<String> = bad.into_iter().map(named).collect();
    expect![[r#"
        `format` is `chat`: use one of `compact`, `direct`, `think`
        `reward` is `Azr`: use one of REWARDS
        `advantage` is `gae`: use one of ADVANTAGES
        `task_types` is ``: name one or more task types, each once
        `task_types` is `deduction, deduction`: name one or more task types, each once
        `proposals_per_type` is `65537`: use a whole number from `0` to `65536`
        `tasks_per_type` is `0`: use a whole number from `1` to `65536`
        `group_size` is `0`: use a whole number from `1` to `4096`
        `group_size` is `1`: advantage `group` needs at least `2`; raise it, or use advantage `trr`
        `references` is `65`: use a whole number from `0` to `64`
        `proposer_weight` is `-0.5`: use a number from `0` to `1000`
        `solver_weight` is `-0.5`: use a number from `0` to `1000`
        `verifier_weight` is `1001`: use a number from `0` to `1000`
        `seed_proposals` is `1048577`: use a whole number from `0` to `1048576`
        `intrinsic` is `beauty`: use one of `complexity`, `novelty`, `answer_diversity`
        `intrinsic` is `-0.1`: use a number from `0` to `1000`
        `sft_weight` is `NaN`: use a number from `0` to `1000`
        `sft_samples` is `65537`: use a whole number from `0` to `65536`
        `buffer_capacity` is `16777217`: use a whole number from `0` to `16777216`
        `composite_share` is `0.5`: only `format = "think"` asks for composites
        `fresh_fraction` is `1.5`: use a number from `0` to `1`
        `seed_share` is `-0.1`: use a number from `0` to `1`
        `resample_learnable` is `inf`: use a number from `0` to `1000`
        `induction_visible` is `0`: use a whole number from `1` to `64`
        `induction_hidden` is `0`: use a whole number from `1` to `64`
        `proposer_temperature` is `-1`: use a number from `0` to `10`
        `solver_temperature` is `NaN`: use a number from `0` to `10`
        `proposer_max_tokens` is `0`: use a whole number from `1` to `1048576`
        `solver_max_tokens` is `0`: use a whole number from `1` to `1048576`
        `alpha` is `0.5`: leave it out: reward `quickstart` has no such penalty"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn a_key_that_is_unknown_missing_or_of_another_type_is_told_by_name() {
    let told = |text: &str| toml::from_str::<AbsoluteZeroConfig>(text).unwrap_err().message().to_owned();
    let without = |key: &str| GOOD.lines().filter(|line| !line.starts_with(key)).collect::<Vec<_>>().join("\n");
    let messages = [
        told(&with("rewards = \"azr\"")),
        told(&without("group_size")),
        told(&without("seed_share")),
        told(&with("proposer = \"off\"")),
        told(&with("group_size = -1")),
        told(&with("group_size = \"8\"")),
    ];
    expect![[r#"
        unknown field `rewards`, expected one of `format`, `examples`, `group_size`, `reward`, `proposer_factor`, `intrinsic`, `alpha`, `advantage`, `learn_from`, `aggregation`, `zero_advantage`, `proposer`, `proposer_weight`, `solver_weight`, `verifier_weight`, `roles`, `seed_proposals`, `proposer_temperature`, `proposer_max_tokens`, `solver_temperature`, `solver_max_tokens`, `top_k`, `top_p`, `min_p`, `stop`, `sft_samples`, `sft_weight`, `buffer_capacity`, `drop_unsolved`, `drop_solved`, `curriculum`, `resample_learnable`, `eval_samples`, `task_types`, `proposals_per_type`, `tasks_per_type`, `references`, `composite_share`, `fresh_fraction`, `seed_share`, `induction_visible`, `induction_hidden`, `judge_shown`, `discount_guesses`
        missing field `group_size`
        missing field `seed_share`
        unknown variant `off`, expected one of `train`, `frozen`, `none`
        invalid value: integer `-1`, expected usize
        invalid type: string "8", expected usize"#]].assert_eq(&messages.join("\n"));
}

#[test]
fn a_missing_reward_is_asked_for_with_the_names_that_there_are() {
    let config: AbsoluteZeroConfig = toml::from_str(&GOOD.replacen("reward = \"quickstart\"", "", 1)).unwrap();
    let error = game(config).err().unwrap().to_string();
    assert!(error.starts_with("`reward` is ``: set it to one of `") && error.contains("`quickstart`"), "{error}");
}
