//! Code-as-Task without a sandbox: what is read from responses, what the gate says of texts, and what costs no job.

use veriplay_core::{CodeTask, Environment, Execute, ExecuteError, Job, Limits, Outcome, Status};
use veriplay_verifier::environments::{
    ArtifactGate, ArtifactReport, ArtifactRequest, ChallengerResponse, examine_artifact, read_challenger,
    read_executor, rules,
};

/// Has no image: a job that is run all the same is a host fault.
struct Nothing;

impl Execute for Nothing {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        Err(ExecuteError::UnknownImage(job.image.clone()))
    }
}

fn gate() -> ArtifactGate {
    ArtifactGate {
        image: "python".to_owned(),
        limits: Limits { fuel: 1, memory_bytes: 1, output_bytes: 1, file_bytes: 1, deadline_ns: 1 },
        seeds: [1, 2],
        max_instruction_chars: 100,
        max_code_bytes: 200,
        failures: 3,
        min_calls: 1,
        canned_answers: Vec::new(),
        distinct_outcomes: true,
        max_changed_lines: Some(2),
    }
}

fn shop() -> Environment {
    Environment { name: "shop".to_owned(), source: "TOOLS = []".to_owned() }
}

fn task() -> CodeTask {
    let text = |text: &str| text.to_owned();
    CodeTask {
        task_id: text("t"),
        environment: text("shop"),
        instruction: text("Buy what is cheap."),
        verify: text("def verify(before, after, answer):\n    return after['bought'] == ['ink']"),
        solution: text("one = cheapest_of_all_things()\nbuy(one)\nanswer(one)"),
        failures: ["two", "three", "four"]
            .map(|word| format!("one = cheapest_of_all_things()\n{word}(one)\nanswer(one)"))
            .to_vec(),
    }
}

fn examined(task: &CodeTask, known: bool) -> ArtifactReport {
    examine_artifact(&Nothing, &gate(), &ArtifactRequest { environment: &shop(), task, known }).unwrap()
}

#[test]
fn rules_on_the_text_refuse_before_anything_is_run() {
    type Change = fn(&mut CodeTask);
    let changes: [(&str, Change); 12] = [
        (rules::LENGTH, |task| task.instruction = " \n".to_owned()),
        (rules::LENGTH, |task| task.instruction = "x".repeat(101)),
        (rules::LENGTH, |task| task.solution.push_str(&" ".repeat(200))),
        (rules::LENGTH, |task| task.verify = String::new()),
        (rules::FAILURE_COUNT, |task| task.failures.truncate(2)),
        (rules::FAILURE_COUNT, |task| task.failures.push(task.solution.replace("buy", "sell"))),
        (rules::LEAK, |task| task.instruction = "Do one = cheapest_of_all_things() first.".to_owned()),
        (rules::LEAK, |task| task.instruction = "So that return after['bought'] == ['ink'] holds.".to_owned()),
        (rules::LEAK, |task| task.instruction = "Do one  =\n  cheapest_of_all_things( ) first.".to_owned()),
        (rules::LEAK, |task| {
            task.solution = "a = get()\nb = put(a)\nanswer(b)".to_owned();
            task.failures = ["one", "two", "three"].map(|word| format!("a = get()\nb = put(a)\n{word}(b)")).to_vec();
            task.instruction = "Write a=get() b=put(a) answer(b) here.".to_owned();
        }),
        (rules::REPEATED_CASE, |task| task.failures[1] = task.failures[0].replace('\n', "  \n")),
        (rules::DISTANT_CASE, |task| task.failures[2] = "one = 1\nbuy(one)\nanswer(2)".to_owned()),
    ];
    for (rule, change) in changes {
        let mut changed = task();
        change(&mut changed);
        let ArtifactReport { verdict, rules } = examined(&changed, false);
        assert_eq!(rules, [rule], "{verdict:?}");
        assert_eq!((verdict.status, verdict.evidence.rule.as_str()), (Status::Invalid, rule));
    }
    assert_eq!(examined(&task(), true).rules, [rules::DUPLICATE]);
}

#[test]
fn a_text_that_passes_is_run_and_a_host_fault_drops_the_artifact() {
    let (environment, task) = (shop(), task());
    let request = ArtifactRequest { environment: &environment, task: &task, known: false };
    let known = ArtifactRequest { known: true, ..request };
    let all = [request, known, request].map(|request| examine_artifact(&Nothing, &gate(), &request));
    assert!(all[0].as_ref().unwrap_err().why.contains("`python`") && all[2].is_err());
    let refused = &all[1].as_ref().unwrap().verdict;
    assert_eq!((refused.status, refused.passed, refused.total), (Status::Invalid, 0, 1));
}

#[test]
fn a_gate_that_means_nothing_is_refused() {
    assert_eq!(gate().check(), Ok(()));
    let said = |gate: ArtifactGate| gate.check().unwrap_err().to_string();
    assert!(said(ArtifactGate { seeds: [7, 7], ..gate() }).contains("`7`"));
    assert!(said(ArtifactGate { failures: 0, ..gate() }).contains("`failures` is `0`"));
    assert!(said(ArtifactGate { max_code_bytes: 0, ..gate() }).contains("`max_code_bytes` is `0`"));
}

#[test]
fn rules_are_named_once_each() {
    let unique: std::collections::BTreeSet<&str> = rules::RULES.into_iter().collect();
    assert_eq!(unique.len(), rules::RULES.len());
}

#[test]
fn an_executors_code_is_its_last_closed_python_block() {
    assert_eq!(read_executor("a\n```python\nx = 1\n```\nb\n```py\ny = 2\n\nz\n```\nc").as_deref(), Ok("y = 2\n\nz\n"));
    assert_eq!(
        read_executor("```Python\ns = '''\n  ```\n'''\n```").as_deref(),
        Ok("s = '''\n  ```\n'''\n"),
        "an indented fence is text"
    );
    for text in ["", "x = 1", "```\nx\n```", "```python\nx", "```rust\nx\n```", "a ```python\nx\n```"] {
        assert!(read_executor(text).is_err(), "{text}");
    }
}

fn artifact_text(blocks: &[(&str, &str)]) -> String {
    blocks.iter().map(|(label, text)| format!("```{label}\n{text}\n```\n")).collect()
}

#[test]
fn a_challengers_turn_is_code_or_an_artifact() {
    let explored = read_challenger("```python\nlook()\n```", "t", "shop");
    assert_eq!(explored, Ok(ChallengerResponse::Explore("look()\n".to_owned())));
    let blocks = [
        ("python", "ignored()"),
        ("instruction", "Buy."),
        ("verify", "v"),
        ("failure", "a"),
        ("solution", "s"),
        ("failure", "b"),
    ];
    let Ok(ChallengerResponse::Propose(task)) = read_challenger(&artifact_text(&blocks), "t", "shop") else {
        panic!("no proposal")
    };
    let failures = vec!["a\n".to_owned(), "b\n".to_owned()];
    assert_eq!((task.task_id.as_str(), task.environment.as_str()), ("t", "shop"));
    assert_eq!((task.instruction.as_str(), task.verify.as_str(), task.failures), ("Buy.", "v\n", failures));
    for missing in ["verify", "solution"] {
        let rest: Vec<_> = blocks.into_iter().filter(|(label, _)| *label != missing).collect();
        let reason = read_challenger(&artifact_text(&rest), "t", "shop").unwrap_err();
        assert!(reason.contains(&format!("`{missing}`")), "{reason}");
    }
    let twice = [artifact_text(&blocks), artifact_text(&[("verify", "true")])].concat();
    assert!(read_challenger(&twice, "t", "shop").unwrap_err().contains("two blocks"));
}
