//! Each setting that has no meaning is refused with its key, value and range.

use expect_test::expect;
use veriplay_absolute_zero::AbsoluteZeroConfig;
use veriplay_absolute_zero::setup::AbsoluteZeroSetup;
use veriplay_core::TaskType;
use veriplay_run::builtin_configs::QUICKSTART;
use veriplay_run::play_config::PlayConfig;
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
reward = "failure_rate"
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
    game(config).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
}

#[test]
fn a_good_config_is_read_and_written_back() {
    let config: AbsoluteZeroConfig = toml::from_str(GOOD).unwrap();
    assert!(game(config.clone()).is_ok());
    assert_eq!(toml::from_str::<AbsoluteZeroConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
}

/// A line of the file is a setting, and what becomes of it: values at the edge of their range, and values that have no meaning.
#[test]
fn each_value_is_accepted_or_told_with_its_key_and_what_is_allowed() {
    // A new reward or advantage is in the lists without a change here.
    let list = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let lists = [(list(rewards::names()), "REWARDS"), (list(advantages::names()), "ADVANTAGES")];
    for case in include_str!("values.txt").lines() {
        let (line, want) = case.split_once(" => ").unwrap();
        let told = lists.iter().fold(told(line), |told, (list, name)| told.replace(list, name));
        assert_eq!(told, want, "{line}");
    }
}

#[test]
fn a_group_of_one_is_for_advantages_that_compare_no_groups() {
    let cases = [
        ("trr", true),
        ("rae", true),
        ("reinforce_plus_plus", true),
        ("mars", true),
        ("class", true),
        ("grpo", false),
        ("dr_grpo", false),
        ("pass_at_k", false),
        ("poly_group", false),
        ("adpo", false),
    ];
    for (advantage, alone) in cases {
        let config = config().with(|c| (c.shared.group_size, c.shared.advantage) = (1, Some(advantage.to_owned())));
        assert_eq!(game(config).is_ok(), alone, "{advantage}");
    }
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
        unknown field `rewards`, expected one of `format`, `examples`, `group_size`, `reward`, `proposer_factor`, `intrinsic`, `intrinsic_steps`, `alpha`, `advantage`, `learn_from`, `top_share`, `pairs_per_prompt`, `privileged_credit`, `waypoint_credit`, `aggregation`, `zero_advantage`, `self_imitation`, `proposer`, `proposer_weight`, `solver_weight`, `verifier_weight`, `roles`, `phases`, `seed_proposals`, `proposer_temperature`, `proposer_max_tokens`, `solver_temperature`, `solver_max_tokens`, `temperature_search`, `top_k`, `top_p`, `min_p`, `stop`, `sft_samples`, `sft_weight`, `buffer_capacity`, `drop_unsolved`, `drop_solved`, `curriculum`, `resample_learnable`, `eval_samples`, `language`, `task_types`, `proposals_per_type`, `tasks_per_type`, `references`, `composite_share`, `extend_share`, `fresh_fraction`, `seed_share`, `induction_visible`, `induction_hidden`, `judge_shown`, `answer_weight`, `answer_max_rate`, `discount_guesses`
        missing field `group_size`
        missing field `seed_share`
        unknown variant `off`, expected one of `train`, `frozen`, `none`
        invalid value: integer `-1`, expected usize
        invalid type: string "8", expected usize"#]].assert_eq(&messages.join("\n"));
}

#[test]
fn a_missing_reward_is_asked_for_with_the_names_that_there_are() {
    let config: AbsoluteZeroConfig = toml::from_str(&GOOD.replacen("reward = \"failure_rate\"", "", 1)).unwrap();
    let error = game(config).err().unwrap().to_string();
    assert!(error.starts_with("`reward` is ``: set it to one of `") && error.contains("`failure_rate`"), "{error}");
}

/// What is told of [`GOOD`] in JavaScript, with one more line.
fn told_in_javascript(line: &str) -> String {
    let thinks = GOOD.replacen("\"compact\"", "\"think\"", 1);
    let types = "task_types = [\"deduction\", \"abduction\"]";
    let config = toml::from_str(&format!("{thinks}language = \"javascript\"\n{types}\n{line}")).unwrap();
    game(config).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
}

#[test]
fn what_reads_python_has_no_meaning_in_javascript() {
    for line in ["", "privileged_credit = 0.1", "self_imitation = {}", "proposer_factor = \"exec:mine\""] {
        assert_eq!(told_in_javascript(line), "accepted");
    }
    for (line, want) in [
        ("composite_share = 0.5", "`composite_share` is `0.5`: use `0` with `language = \"javascript\"`"),
        ("waypoint_credit = 0.3", "`waypoint_credit` is `0.3`: use `0` with `language = \"javascript\"`"),
        ("intrinsic = { novelty = 0.1 }", "`intrinsic` is `novelty`: leave it out with `language = \"javascript\"`"),
        ("proposer_factor = [\"repetition\"]", "`proposer_factor` is `repetition`: leave it out with `language = "),
    ] {
        let told = told_in_javascript(line);
        assert!(told.starts_with(want), "{told}");
    }
    let config = config().with(|config| {
        (config.own.language, config.own.task_types) = ("javascript".to_owned(), vec![TaskType::Deduction]);
    });
    let told = game(config).err().unwrap().to_string();
    assert_eq!(told, "`format` is `compact`: use `think` with `language = \"javascript\"`, and an instruct model");
}

#[test]
fn steps_ahead_are_refused_where_no_step_can_be_sampled_ahead() {
    let text = format!("{QUICKSTART}\n[learn.loss]\nkind = \"cispo\"\n");
    let mut config = PlayConfig::<AbsoluteZeroSetup>::parse(&text, "quickstart.toml".as_ref()).unwrap();
    config.run.steps_ahead = 1;
    let suite = "humaneval".to_owned().try_into().unwrap();
    for suites in [vec![], vec![suite]] {
        let has_suites = !suites.is_empty();
        config.setup.eval.suites = suites;
        for periods in 0..6_u64.pow(3) {
            let [checkpoint_every, tasks_every, every] = [1, 6, 36].map(|place| periods / place % 6 + 1);
            config.run.checkpoint_every = checkpoint_every;
            config.setup.eval.tasks_every = Some(tasks_every);
            config.setup.eval.every = has_suites.then_some(every);
            for steps in (1..10).chain([100]) {
                config.run.steps = steps;
                let is_any_ahead = (0..steps).any(|step| config.is_sampled_ahead(step));
                let told = config.validate().map_err(|error| error.to_string());
                assert_eq!(told.is_ok(), is_any_ahead, "{steps}, {periods}, {has_suites}: {told:?}");
            }
        }
    }
}
