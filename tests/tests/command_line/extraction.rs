//! HumanEval's reference solutions, wrapped as models wrap them, at every door: each is right in every form.

use serde_json::{Value, json};
use veriplay_tests::external::published_file;

use super::serve::Service;
use super::verify::lines;
use super::{finished, stderr, veriplay};

/// How a response wraps the whole program, `{}`.
const FORMS: [&str; 9] = [
    "```python\n{}\n```",
    "Here it is:\n\n```python\n{}\n```\n\nAn example:\n\n```python\nprint(FUNCTION)\nassert callable(FUNCTION)\n```\n",
    "```python\n{}\n```<|im_end|>",
    "Sure.\n\n```python\n{}\n",
    "{}\n```\n\nThis is the function.",
    "```py3\n{}\n```",
    "Here is the code: ```python\n{}\n```",
    "<think>\nA draft:\n```python\ndef FUNCTION(*args):\n    return None\n```\n</think>\n\n<answer>\n{}\n</answer></s>",
    "```python\n```python\n{}\n```\n```",
];

/// A task, and its reference.
struct Reference {
    row: Value,
    task_id: String,
    function: String,
    prompt: String,
    solution: String,
}

impl Reference {
    fn read(line: &str) -> Self {
        let row: Value = serde_json::from_str(line).expect("a row");
        let text = |name: &str| row[name].as_str().expect("a text").to_owned();
        let (task_id, function, prompt) = (text("task_id"), text("entry_point"), text("prompt"));
        Self { task_id, function, prompt, solution: text("canonical_solution"), row }
    }

    /// The program in every form; the function alone in a block; the body alone.
    fn responses(&self) -> Vec<String> {
        let whole = format!("{}{}", self.prompt, self.solution);
        let forms = FORMS.iter().map(|form| form.replace("FUNCTION", &self.function).replace("{}", whole.trim_end()));
        let start = self.prompt.rfind(&format!("def {}(", self.function)).expect("the prompt has the function");
        let alone = format!("```python\n{}{}```", &self.prompt[start..], self.solution);
        forms.chain([alone, self.solution.clone()]).collect()
    }
}

fn references() -> Option<Vec<Reference>> {
    let path = published_file("HumanEval.jsonl.gz")?;
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("it can be opened");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("it is gzip");
    Some(text.lines().map(Reference::read).collect())
}

#[test]
fn every_form_of_a_right_program_is_accepted_by_verify() {
    let Some(references) = references() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let attempts = references.iter().flat_map(|reference| {
        let responses = reference.responses().into_iter().enumerate();
        responses.map(|(form, response)| json!({"task_id": reference.task_id, "attempt_id": form.to_string(), "completion": response}))
    });
    let rows: Vec<Value> = references.iter().map(|reference| reference.row.clone()).collect();
    let (attempts, count) = (attempts.collect::<Vec<_>>(), references.len() * (FORMS.len() + 2));
    std::fs::write(dir.path().join("tasks.jsonl"), lines(&rows)).expect("it is written");
    std::fs::write(dir.path().join("attempts.jsonl"), lines(&attempts)).expect("it is written");
    let mut verify = veriplay();
    verify.current_dir(dir.path()).args(["verify", "--format", "humaneval", "--tasks", "tasks.jsonl"]);
    let output = finished(verify.args(["--attempts", "attempts.jsonl", "--cache", "cache"]));
    let verdicts: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(verdicts.len(), count, "{}", stderr(&output));
    for verdict in &verdicts {
        assert_eq!(verdict["status"], "accepted", "{verdict}");
    }
}

#[test]
fn every_form_of_a_right_program_is_accepted_by_the_service() {
    let Some(references) = references() else { return };
    let service = Service::start(&[]).ready();
    // Every door has the same code behind it: a few tasks show that it is reached, those with helpers in the prompt among them.
    let chosen = |reference: &&Reference| {
        ["HumanEval/0", "HumanEval/10", "HumanEval/32", "HumanEval/38"].contains(&reference.task_id.as_str())
    };
    for reference in references.iter().filter(chosen) {
        let responses = reference.responses();
        let prompt = format!("<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n", reference.prompt);
        let queries: Vec<String> = responses.iter().map(|response| format!("{prompt}{response}")).collect();
        let (prompts, labels) = (vec![&prompt; queries.len()], vec![&reference.row; queries.len()]);
        let rewards = service.ask("/get_reward", &json!({"query": queries, "prompts": prompts, "labels": labels}));
        assert_eq!(rewards["rewards"], json!(vec![1.0; queries.len()]), "{}", reference.task_id);
        let task = json!({"format": "humaneval", "row": reference.row});
        let attempts: Vec<Value> =
            responses.iter().map(|response| json!({"task_id": reference.task_id, "completion": response})).collect();
        let native = service.ask("/v1/verify", &json!({"tasks": [task], "attempts": attempts}));
        for verdict in native["verdicts"].as_array().expect("a list") {
            assert_eq!(verdict["status"], "accepted", "{verdict}");
        }
        for response in &responses {
            let slime =
                service.ask("/get_reward", &json!({"prompt": prompt, "response": response, "label": reference.row}));
            assert_eq!(slime, json!(1.0), "{response}");
            let output = json!([{"type": "message", "content": [{"type": "output_text", "text": response}]}]);
            let gym = json!({"responses_create_params": {}, "response": {"output": output}, "verifier_metadata": reference.row});
            assert_eq!(service.ask("/verify", &gym)["reward"], json!(1.0), "{response}");
        }
        // `/submit` does not know the prompt: the forms with a whole program.
        let code = format!("{}\ncheck({})\n", reference.row["test"].as_str().expect("a text"), reference.function);
        for response in &responses[..FORMS.len()] {
            let data = json!({"test": {"code": code}, "labels": {"programming_language": "python"}});
            let config = json!({"dataset_type": "AutoEvalDataset", "provided_data": data});
            let body = json!({"dataset": "d", "id": 1, "completion": response, "config": config});
            assert_eq!(service.ask("/submit", &body)["accepted"], json!(true), "{response}");
        }
    }
}

#[test]
fn a_response_without_a_program_is_malformed_and_says_what_was_looked_for() {
    let service = Service::start(&[]).ready();
    let row = json!({"schema_version": 1, "problem": {"task_id": "add", "checks": {"calls": {"function": "add",
        "cases": [{"input": ["2", "3"], "expected": "5"}], "comparison": {"judge": "exact"}}}}});
    let draft = "<think>\n```python\ndef add(a, b):\n    return a + b\n```\n";
    let attempts = [
        "",
        draft,
        "I do not know.",
        "```python\ndef sub(a, b):\n    return a - b\n```",
        "```python\ndef add(a, b):\n    return a + b\n```",
    ];
    let attempts: Vec<Value> = attempts.iter().map(|text| json!({"task_id": "add", "completion": text})).collect();
    let answer =
        service.ask("/v1/verify", &json!({"tasks": [{"format": "veriplay", "row": row}], "attempts": attempts}));
    let told: Vec<(&str, &str)> = answer["verdicts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|verdict| {
            (verdict["status"].as_str().expect("a word"), verdict["evidence"]["rule"].as_str().expect("a text"))
        })
        .collect();
    let malformed = ("malformed", "extraction");
    assert_eq!(told, [malformed, malformed, malformed, ("runtime_error", "missing_entry"), ("accepted", "")]);
    assert_eq!(answer["verdicts"][4]["evidence"]["extraction"], json!({"rule": "block", "span": [10, 42]}));
}
