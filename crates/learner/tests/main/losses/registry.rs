//! The slice against the source directory, the docs and the config.

use std::collections::BTreeSet;
use std::path::Path;

use veriplay_learner::{LOSSES, LearnerOptions, Loss, LossInput, Preference};

#[test]
fn every_loss_has_a_file_of_its_name_with_formula_reason_and_example_and_no_file_is_left_over() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/losses");
    let entries = std::fs::read_dir(&directory).expect("it is there").map(|entry| entry.expect("an entry").path());
    let stems: BTreeSet<String> =
        entries.map(|path| path.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8").to_owned()).collect();
    let names: BTreeSet<String> = LOSSES.iter().map(|loss| loss.name.to_owned()).chain(["tests".to_owned()]).collect();
    assert_eq!(stems, names);
    for loss in LOSSES {
        let text = std::fs::read_to_string(directory.join(format!("{}.rs", loss.name))).expect("readable");
        assert!(text.starts_with(&format!("//! `{}`", loss.name)), "{}", loss.name);
        for heading in ["What it computes", "Why", "Example"] {
            assert!(text.contains(&format!("//! # {heading}\n")), "{} lacks {heading}", loss.name);
        }
    }
}

#[test]
fn a_config_names_every_loss_and_nothing_else() {
    for entry in LOSSES {
        let config = serde_json::json!({ "kind": entry.name });
        let (loss, pair) =
            (serde_json::from_value::<Loss>(config.clone()), serde_json::from_value::<Preference>(config));
        assert_eq!((loss.is_ok(), pair.is_ok()), (entry.input == LossInput::Samples, entry.input == LossInput::Pairs));
        assert!(loss.is_err() || loss.is_ok_and(|loss| loss.name() == entry.name));
        assert!(pair.is_err() || pair.is_ok_and(|pair| pair.name() == entry.name));
    }
    for bad in [serde_json::json!({ "kind": "a3c" }), serde_json::json!({ "kind": "ppo_clip", "cap": 2 })] {
        assert!(serde_json::from_value::<Loss>(bad).is_err());
    }
    assert_eq!(LearnerOptions::default().loss.name(), "policy_gradient");
}
