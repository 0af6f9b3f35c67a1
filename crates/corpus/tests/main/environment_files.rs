//! Environments and cheats: the shipped files, and ways one can break the formats.

use std::collections::BTreeSet;
use std::path::Path;

use veriplay_core::ProblemRow;
use veriplay_corpus::environments::cheats::{CheatKind, built_in_cheats, parse_cheat};
use veriplay_corpus::environments::{built_in_environment_names, parse_environment};
use veriplay_corpus::{
    ReadOptions, Split, TaskGenerator, built_in_environments, environment_by_name, open_environment, parse_problems,
    problem_format,
};

#[test]
fn the_readme_names_every_environment() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/environments/README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for name in built_in_environment_names() {
        assert!(readme.contains(&format!("| `{name}` |")), "no line for `{name}`");
    }
}

#[test]
fn tasks_are_whole_and_named_after_their_environment() {
    for corpus in built_in_environments() {
        for hand in &corpus.tasks {
            let task = &hand.task;
            assert!(task.task_id.starts_with(&format!("{}/", corpus.environment.name)), "{}", task.task_id);
            assert_eq!((task.environment.as_str(), task.failures.len()), (corpus.environment.name.as_str(), 3));
            assert!(task.instruction.len() > 60 && task.verify.contains("def verify(before, after, answer):"));
        }
    }
    let unknown = environment_by_name("casino").unwrap_err().to_string();
    assert!(unknown.contains("`casino`") && unknown.contains("`orders`"), "{unknown}");
}

#[test]
fn a_folder_of_ones_own_is_an_environment_without_tasks_of_hand_too() {
    let dir = tempfile::tempdir().unwrap();
    let club = dir.path().join("club");
    std::fs::create_dir(&club).unwrap();
    let ledger = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-corpus/environments/ledger");
    for file in ["environment.py", "templates.toml"] {
        std::fs::copy(ledger.join(file), club.join(file)).unwrap();
    }
    let [own, built_in] = [club.to_str().unwrap(), "ledger"].map(|entry| open_environment(entry).unwrap());
    assert_eq!(own.corpus.environment.source, built_in.corpus.environment.source);
    assert_eq!((own.corpus.environment.name.as_str(), own.is_own, own.corpus.tasks.len()), ("club", true, 0));
    assert!(!built_in.is_own && !built_in.corpus.tasks.is_empty());
    let tasks = TaskGenerator::new(&[own, built_in]).unwrap();
    let seen: BTreeSet<String> = tasks.tasks(Split::Train, 1).take(50).map(|task| task.environment).collect();
    assert_eq!(seen, BTreeSet::from(["club".to_owned(), "ledger".to_owned()]));
    let missing = open_environment("./no/such_world").unwrap_err().to_string();
    assert!(missing.contains("no/such_world/environment.py"), "{missing}");
}

#[test]
fn every_template_is_tried_by_itself_and_always_in_the_same_way() {
    for name in built_in_environment_names() {
        let folder = open_environment(name).unwrap();
        let trials = folder.template_trials();
        assert_eq!(trials, open_environment(name).unwrap().template_trials());
        assert!(trials.iter().all(|trial| (1..=32).contains(&trial.solutions.len())), "{trials:?}");
        let tried: BTreeSet<&str> = trials.iter().flat_map(|trial| trial.template.split(" and ")).collect();
        let tasks = TaskGenerator::new(std::slice::from_ref(&folder)).unwrap();
        let of_split = |split| tasks.tasks(split, 1).take(2_000).flat_map(|task| task.parts);
        let drawn: BTreeSet<String> =
            [Split::Train, Split::Validation, Split::HeldOut].into_iter().flat_map(of_split).collect();
        assert_eq!(tried, drawn.iter().map(String::as_str).collect(), "{name}");
    }
}

#[test]
fn a_broken_folder_is_refused_with_file_and_line() {
    let read = |tasks: &str| {
        let parsed = parse_environment("shop", "TOOLS = []\n", ("shop/tasks.toml", tasks));
        parsed.map(|corpus| corpus.tasks.len()).map_err(|error| error.to_string())
    };
    let one = "[[task]]\nname = \"a\"\ninstruction = \"i\"\nverify = \"v\"\nsolution = \"s\"\nfailures = []\n";
    assert_eq!(read(one), Ok(1));
    for (text, line, words) in [
        (one.replace("verify", "verifies"), 4, "unknown field `verifies`"),
        (one.replace("failures = []\n", ""), 1, "missing field `failures`"),
        (format!("{one}\n{one}"), 9, "a second task `a`"),
    ] {
        let error = read(&text).expect_err(words);
        assert!(error.contains(words) && error.contains(&format!("tasks.toml:{line}: ")), "{words}: {error}");
    }
}

const GOOD: &str = "# Title\n\nProse.\n\n```toml\ntask = \"orders/ship_to_kiel\"\nstatus = \"wrong_answer\"\n```\n\n```python\npass\n```\n";

#[test]
fn a_cheat_is_read_and_a_broken_one_is_refused_with_its_line() {
    let environments = built_in_environments();
    let read = |text: &str| parse_cheat("one.md", text, &environments);
    assert!(matches!(read(GOOD).unwrap().kind, CheatKind::Code { code, .. } if code == "pass\n"));
    let changes = [
        ("Prose.\n", "", 1, "no prose"),
        ("wrong_answer", "accepted", 5, "it is to be accepted"),
        ("wrong_answer", "wrong", 7, "unknown variant `wrong`"),
        ("orders/ship_to_kiel", "orders/none", 5, "no task `orders/none`"),
        ("status = \"wrong_answer\"\n", "", 5, "one of `status` and `rule`"),
        ("status =", "rule = \"leak\"\nstatus =", 5, "one of `status` and `rule`"),
        ("```python\npass\n```\n", "", 1, "one ```python block"),
        ("```python", "```rust", 10, "a block of kind `rust`"),
        ("status = \"wrong_answer\"", "rule = \"leak\"", 10, "a block of kind `python`"),
        ("pass\n```\n", "pass\n", 10, "is not closed"),
    ];
    super::assert_refused(GOOD, &changes, read);
    let none = GOOD.replace("status = \"wrong_answer\"", "rule = \"leak\"").replace("```python\npass\n```\n", "");
    assert!(read(&none).unwrap_err().to_string().contains("it replaces nothing"));
}

#[test]
fn no_two_cheats_are_one() {
    let mut seen = BTreeSet::new();
    for cheat in built_in_cheats() {
        assert!(seen.insert(format!("{:?}{:?}", cheat.task, cheat.kind)), "`{}` is another file", cheat.name);
    }
}

#[test]
fn rows_of_artifacts_become_problems_and_bad_ones_are_told() {
    let row = |task: &str, environment: &str| {
        format!(
            "{{\"schema_version\":1,\"code_task\":{{\"task_id\":\"{task}\",\"environment\":\"{environment}\",\"instruction\":\"i\",\
             \"verify\":\"v\",\"solution\":\"s\",\"failures\":[\"f\"]}}}}\n"
        )
    };
    let bytes = [
        row("a", "orders"),
        row("b", "casino"),
        row("", "orders"),
        row("c", "files").replace("\":1,", "\":9,"),
        row("d", "files").replace("verify", "check"),
        row("e", "files"),
    ]
    .concat();
    let format = problem_format("cat").unwrap();
    let file = parse_problems(Path::new("tasks.jsonl"), bytes.into_bytes(), format, &ReadOptions::default()).unwrap();
    let ids: Vec<&str> = file.rows.iter().map(|(_, row)| row.task_id()).collect();
    assert_eq!(ids, ["a", "e"]);
    assert!(file.rows.iter().all(|(_, row)| matches!(row, ProblemRow::Ready(_)) && row.prompt().is_empty()));
    let bad: Vec<String> = file.bad.iter().map(ToString::to_string).collect();
    for (text, words) in bad.iter().zip(["`casino`", "is empty", "this build reads 1", "unknown field `check`"]) {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(bad.len(), 4);
}
