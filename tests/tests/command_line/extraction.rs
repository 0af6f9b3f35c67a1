//! HumanEval's reference solutions, wrapped as models wrap them, at every door: each is right in every form.

use serde_json::{Value, json};
use veriplay_tests::external::published_file;

use super::column;
use super::judges::gym;
use super::serve::Service;
use super::verify::{Bench, completion, rows};

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

    fn attempts(&self) -> Vec<Value> {
        self.responses().iter().map(|response| completion(&self.task_id, response)).collect()
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
    let tasks: Vec<Value> = references.iter().map(|reference| reference.row.clone()).collect();
    let attempts = references.iter().flat_map(Reference::attempts).collect::<Vec<_>>();
    let bench = Bench::new(&tasks, &attempts, &["--format", "humaneval", "--cache", "cache"]);
    bench.summary(0);
    let verdicts = rows(&bench.out());
    assert_eq!(verdicts.len(), references.len() * (FORMS.len() + 2));
    verdicts.iter().for_each(|verdict| assert_eq!(verdict["status"], "accepted", "{verdict}"));
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
        let native = service.ask("/v1/verify", &json!({"tasks": [task], "attempts": reference.attempts()}));
        assert_eq!(column(&native["verdicts"], "status"), vec!["accepted"; responses.len()], "{native}");
        for response in &responses {
            let slime = json!({"prompt": prompt, "response": response, "label": reference.row});
            assert_eq!(service.ask("/get_reward", &slime), json!(1.0), "{response}");
            assert_eq!(service.ask("/verify", &gym(response, &reference.row))["reward"], json!(1.0), "{response}");
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
    let [sub, add] = [("sub", '-'), ("add", '+')]
        .map(|(name, sign)| format!("```python\ndef {name}(a, b):\n    return a {sign} b\n```"));
    let attempts = ["", draft, "I do not know.", &sub, &add].map(|text| completion("add", text));
    let request = json!({"tasks": [{"format": "veriplay", "row": row}], "attempts": attempts});
    let answer = service.ask("/v1/verify", &request);
    let verdicts = &answer["verdicts"];
    let statuses = ["malformed", "malformed", "malformed", "runtime_error", "accepted"];
    assert_eq!(column(verdicts, "status"), statuses, "{answer}");
    let rules: Vec<&Value> = column(verdicts, "evidence").into_iter().map(|evidence| &evidence["rule"]).collect();
    assert_eq!(rules, ["extraction", "extraction", "extraction", "missing_entry", ""], "{answer}");
    assert_eq!(verdicts[4]["evidence"]["extraction"], json!({"rule": "block", "span": [10, 42]}));
}
