//! `veriplay eval --suite`: sets in their published layouts, and a model behind a server that answers by the question.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use veriplay_core::Digest;
use veriplay_tests::external::published_file;

use super::completions_server::{Act, Server, ServerKind};
use super::resume::survives;
use super::{NO_SERVER, finished, last_json, root, small_config, stderr, succeeded, veriplay, write_config};

/// A folder with two small sets, and a server that knows two of the three functions.
struct Bench {
    dir: tempfile::TempDir,
    server: Server,
}

fn task(id: u32, name: &str, body: &str) -> Value {
    json!({
        "task_id": format!("HumanEval/{id}"), "prompt": format!("def {name}(x):\n    \"\"\"Say what {name} says.\"\"\"\n"), "entry_point": name,
        "canonical_solution": body, "base_input": [[1], [5]], "plus_input": [[-3]], "atol": 0, "contract": "", "test": "",
    })
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn answer(body: &Value, _number: usize) -> Act {
    let question = body["messages"].to_string();
    let (text, finish) = match &question {
        asked if asked.contains("add_one") => ("def add_one(x):\n    return x + 1", "stop"),
        asked if asked.contains("double") => ("def double(x):\n    return x + x", "stop"),
        asked if asked.contains("assert f(3) ==") => (" 9", "stop"),
        asked if asked.contains("Which call") => ("-2) == 4", "stop"),
        _ => ("def square(x):\n    return x + x + x", "length"),
    };
    let message = json!({"role": "assistant", "content": text});
    Act::Say(200, "", json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).to_string())
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let tasks = [
            task(0, "add_one", "    return x + 1\n"),
            task(1, "double", "    return 2 * x\n"),
            task(2, "square", "    return x * x\n"),
        ];
        std::fs::write(dir.path().join("HumanEvalPlus.jsonl"), lines(&tasks)).expect("it is written");
        let program = "def f(x):\n    return x * x";
        let predictions = [json!({"id": "sample_0", "code": program, "input": "3", "output": "9"})];
        std::fs::write(dir.path().join("cruxeval.jsonl"), lines(&predictions)).expect("it is written");
        Self { dir, server: Server::start(ServerKind::Plain, answer) }
    }

    fn out(&self, file: &str) -> PathBuf {
        self.dir.path().join("out").join(file)
    }

    fn eval(&self, options: &[&str]) -> std::process::Output {
        let model = format!("openai:{}#m", self.server.url);
        let mut command = veriplay();
        command.args(["eval", "--json", "--model", &model]).arg("--data").arg(self.dir.path());
        finished(command.arg("--out").arg(self.out("")).args(options))
    }

    fn report(&self, options: &[&str]) -> Value {
        let output = self.eval(options);
        assert!(output.status.success(), "{}", stderr(&output));
        last_json(&output)
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn sets_are_sampled_judged_and_reported_with_an_interval() {
    let bench = Bench::new();
    let all = bench.report(&["--suite", "humaneval+,cruxeval-o,cruxeval-i"]);
    let plus = &all["suites"]["humaneval+"];
    assert_eq!((&plus["verdicts"]["statuses"]["accepted"], &plus["truncated"]), (&json!(2), &json!(1)), "{plus}");
    let [low, high] = [0, 1].map(|end| plus["verdicts"]["pass_at_k_interval"]["1"][end].as_f64().expect("a number"));
    assert!(low < 2.0 / 3.0 && 2.0 / 3.0 < high && high < 1.0, "{plus}");
    assert_eq!(plus["settings"]["prompts"], "chat");
    assert_eq!((&plus["published"], &plus["settings"]["prompt_template"]), (&json!(false), &Value::Null));
    let sha256 = plus["tasks_sha256"].as_str().expect("a hash");
    assert!(sha256.len() == 64 && sha256.chars().all(|digit| digit.is_ascii_hexdigit()), "{sha256}");
    for suite in ["cruxeval-o", "cruxeval-i"] {
        let statuses = &all["suites"][suite]["verdicts"]["statuses"];
        assert_eq!(statuses, &json!({if suite == "cruxeval-o" { "accepted" } else { "wrong_answer" }: 1}), "{all}");
    }
    let samples = read(&bench.out("humaneval+.samples.jsonl"));
    let first: Value = serde_json::from_str(samples.lines().next().expect("a sample")).expect("JSON");
    assert_eq!(first["solution"], "def add_one(x):\n    return x + 1\n", "EvalPlus' layout");
    assert!(read(&bench.out("cruxeval-i.samples.jsonl")).contains("\"completion\":\"-2\""));
    let mut command = veriplay();
    command.args(["eval", "--suite", "humaneval+", "--model", &format!("openai:{}#m", bench.server.url)]);
    let told = finished(command.arg("--data").arg(bench.dir.path()).arg("--out").arg(bench.out("")));
    let lines = String::from_utf8_lossy(&told.stdout);
    assert!(lines.starts_with("humaneval+: 3 attempts") && lines.lines().count() == 1, "{lines}{}", stderr(&told));
    assert!(!stderr(&told).contains("humaneval+: 3 attempts"), "the line is printed once: {}", stderr(&told));
    let said = stderr(&told);
    assert_eq!(said.matches("HumanEvalPlus.jsonl` is not the published file").count(), 1, "{said}");
    assert_eq!(read(&bench.out("humaneval+.verdicts.jsonl")).lines().count(), 3);
    assert_eq!(serde_json::from_str::<Value>(&read(&bench.out("humaneval+.report.json"))).expect("JSON"), *plus);
}

#[test]
fn a_folder_is_continued_with_its_own_settings_and_refused_with_others() {
    let bench = Bench::new();
    let report = bench.report(&["--suite", "humaneval+"]);
    let (samples, asked) = (bench.out("humaneval+.samples.jsonl"), bench.server.seen().len());
    let whole = read(&samples);
    assert_eq!(bench.report(&["--suite", "humaneval+"])["suites"]["humaneval+"]["truncated"], 1);
    assert_eq!(bench.server.seen().len(), asked, "nothing is sampled twice");
    let refused = bench.eval(&["--suite", "humaneval+", "--temperature", "0.5"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("was made with temperature = 0.0, and 0.5 is asked for"), "{}", stderr(&refused));
    // Killed in the middle of a row.
    std::fs::write(&samples, &whole[..whole.len() - 9]).expect("it is written");
    std::fs::remove_file(bench.out("humaneval+.verdicts.jsonl")).expect("it was there");
    assert_eq!(
        bench.report(&["--suite", "humaneval+"])["suites"]["humaneval+"]["verdicts"]["statuses"],
        report["suites"]["humaneval+"]["verdicts"]["statuses"]
    );
    assert_eq!(read(&samples), whole);
}

#[test]
fn what_cannot_be_evaluated_is_refused_before_a_model_is_asked() {
    let bench = Bench::new();
    let missing = bench.dir.path().join("none").display().to_string();
    let file = "evalplus/mbppplus_release/64fc4195b858a17cdfdb3324f0baf37939144e14/MbppPlus.jsonl.gz";
    let fetched = format!("`{NO_SERVER}/{file}` cannot be fetched: ");
    let cases: [(&[&str], &str); 9] = [
        (&["--suite", "humanevil"], "names neither a public set nor a file"),
        (&["--suite", "mbpp+"], "`MbppPlus-v0.2.0.jsonl.gz`"),
        (&["--suite", "mbpp+"], &fetched),
        (&["--suite", "mbpp+"], "`VERIPLAY_DATA_MIRROR` names a mirror"),
        (
            &["--suite", "mbpp"],
            "the hash of its file is not known\nhint: it is published as `google-research/google-research`",
        ),
        (&["--suite", "humaneval+", "--data", &missing], "`--data`"),
        (&["--suite", "humaneval+", "--samples", "4"], "at temperature 0 would be one sample repeated"),
        (&["--suite", "humaneval+", "--limit", "0"], "0 is not in 1.."),
        (&["--limit", "3"], "--suite"),
    ];
    for (options, want) in cases {
        // The last `--data` counts for clap, so the bench's own is left out.
        let model = format!("openai:{}#m", bench.server.url);
        let mut command = veriplay();
        command.args(["eval", "--model", &model]).args(options).env("VERIPLAY_DATA", bench.dir.path());
        // A cache without what an earlier command may have fetched.
        let output = finished(command.env("VERIPLAY_CACHE", bench.dir.path().join("cache")));
        assert!(!output.status.success() && stderr(&output).contains(want), "{options:?}: {}", stderr(&output));
    }
    assert!(bench.server.seen().is_empty());
}

#[test]
fn a_file_of_another_layout_is_refused_with_the_missing_field_and_no_option_of_another_command() {
    let bench = Bench::new();
    let file = bench.dir.path().join("own.jsonl");
    let cases: [(&str, &str, &[&str]); 3] = [
        ("", "{\"task_id\": \"x/1\", \"prompt\": \"x\"}\n", &["missing field `schema_version`", "`NAME=FILE`"]),
        (
            "humaneval=",
            "{\"task_id\": \"x/1\", \"prompt\": \"x\"}\n",
            &["field `test`: is missing", "`openai/human-eval`"],
        ),
        ("", "", &["it has no row"]),
    ];
    for (set, rows, wanted) in cases {
        std::fs::write(&file, rows).expect("it is written");
        let output = bench.eval(&["-q", "--suite", &format!("{set}{}", file.display())]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(wanted.iter().all(|wanted| said.contains(wanted)), "{wanted:?}: {said}");
        assert!(said.contains("hint:") && !said.contains("--format"), "{said}");
    }
}

#[test]
fn a_template_of_the_users_asks_to_the_letter_and_is_part_of_the_settings() {
    let bench = Bench::new();
    let template = bench.dir.path().join("own.toml");
    let write = |text: &str| std::fs::write(&template, text).expect("it is written");
    write(
        "user = \"{{ code }}\\nassert f({{ input }}) == ?\"\nprefill = \"assert f({{ input }}) ==\"\nstop = [\"[/ANSWER]\"]\nmax_tokens = 7\n",
    );
    let own = format!("cruxeval-o={}", template.display());
    let options = ["--suite", "cruxeval-o,humaneval+", "--prompt-template", &own];
    let suites = &bench.report(&options)["suites"];
    assert_eq!(suites["cruxeval-o"]["verdicts"]["statuses"], json!({"accepted": 1}), "{suites}");
    let settings = &suites["cruxeval-o"]["settings"];
    let digest = settings["prompt_template"].as_str().expect("a digest");
    assert_eq!((digest.len(), &settings["prompts"], &settings["max_tokens"]), (64, &json!("chat"), &json!(7)));
    assert_eq!(suites["humaneval+"]["settings"]["prompt_template"], Value::Null, "it is for the other set");
    let seen = bench.server.seen();
    let asked = &seen.iter().find(|seen| seen.body["max_tokens"] == 7).expect("it is asked").body;
    let messages = json!([
        {"role": "user", "content": "def f(x):\n    return x * x\nassert f(3) == ?"},
        {"role": "assistant", "content": "assert f(3) =="},
    ]);
    assert_eq!((&asked["messages"], &asked["max_tokens"]), (&messages, &json!(7)), "{asked}");
    assert_eq!(asked["stop"], json!(["[/ANSWER]"]), "{asked}");
    // The same folder is not for another prompt, and not for ours.
    let count = seen.len();
    write("user = \"{{ code }}\"\nmax_tokens = 7\n");
    let other = stderr(&bench.eval(&options));
    assert!(other.contains(&format!("was made with prompt_template = \"{digest}\", and ")), "{other}");
    let ours = stderr(&bench.eval(&["--suite", "cruxeval-o", "--max-tokens", "7"]));
    assert!(ours.contains("prompt_template = ") && ours.contains("and null is asked for"), "{ours}");
    assert_eq!(bench.server.seen().len(), count);
}

#[test]
fn a_set_whose_hash_is_not_known_is_used_as_it_is_and_its_hash_is_in_the_report() {
    let bench = Bench::new();
    let row = json!({"task_id": 1, "text": "Write a function to add one.", "code": "def f(x):\n    return x + 1",
        "test_list": ["assert f(1) == 2"], "test_setup_code": "", "challenge_test_list": []});
    std::fs::write(bench.dir.path().join("mbpp.jsonl"), format!("{row}\n")).expect("it is written");
    let output = bench.eval(&["--suite", "mbpp"]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("mbpp.jsonl` is used as it is, because the hash of the set's file is not known"), "{said}");
    let report = &last_json(&output)["suites"]["mbpp"];
    assert_eq!((&report["published"], report["tasks_sha256"].as_str().map(str::len)), (&Value::Null, Some(64)));
    let saved: Value = serde_json::from_str(&read(&bench.out("mbpp.report.json"))).expect("JSON");
    assert_eq!(saved["tasks_sha256"], report["tasks_sha256"]);
}

#[test]
fn a_file_with_the_pinned_hash_is_reported_as_the_published_one() {
    let bench = Bench::new();
    for (suite, file) in [
        ("humaneval", "HumanEval.jsonl.gz"),
        ("humaneval+", "HumanEvalPlus.jsonl.gz"),
        ("mbpp+", "MbppPlus.jsonl.gz"),
        ("cruxeval-o", "cruxeval.jsonl"),
    ] {
        let Some(path) = published_file(file) else { continue };
        let output = bench.eval(&["--suite", &format!("{suite}={}", path.display()), "--limit", "1"]);
        assert!(output.status.success() && !stderr(&output).contains("published file"), "{}", stderr(&output));
        assert_eq!(last_json(&output)["suites"][suite]["published"], true, "{suite}");
    }
}

#[test]
fn a_template_that_cannot_ask_a_set_is_refused_before_a_model_is_asked() {
    let bench = Bench::new();
    let template = bench.dir.path().join("own.toml");
    let path = template.display().to_string();
    let other = format!("mbpp={path}");
    let cases: [(&str, &str, &[&str]); 4] = [
        (
            "user = \"{{ code }}\"",
            &path,
            &["line 1, column 12 (`user`): undefined value `code`", "`task_id`, `prompt`"],
        ),
        ("user = \"{{ prompt }\"", &path, &["line 1, column ", "syntax error"]),
        ("users = \"\"", &path, &["is not a prompt template", "line 1"]),
        ("user = \"{{ prompt }}\"", &other, &["cannot read `mbpp="]),
    ];
    for (text, option, wanted) in cases {
        std::fs::write(&template, text).expect("it is written");
        let output = bench.eval(&["--suite", "humaneval+", "--prompt-template", option]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(wanted.iter().all(|wanted| said.contains(wanted)), "{wanted:?}: {said}");
    }
    let output = bench.eval(&["--suite", "humaneval+", "--prompts", "chat", "--prompt-template", &path]);
    assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
    assert!(bench.server.seen().is_empty());
}

/// The quickstart, made small, on a copy of its model with room for the sets' prompts.
fn measuring(bench: &Bench, eval: &str) -> toml::Table {
    let model = bench.dir.path().join("model");
    std::fs::create_dir_all(&model).expect("a folder");
    for file in std::fs::read_dir(root().join("models/tiny")).expect("the model is there") {
        let file = file.expect("a file");
        let bytes = std::fs::read(file.path()).expect("it is read");
        let wide = |text: &str| text.replace("\"max_position_embeddings\": 512", "\"max_position_embeddings\": 2048");
        let bytes = String::from_utf8(bytes).map_or_else(|error| error.into_bytes(), |text| wide(&text).into_bytes());
        std::fs::write(model.join(file.file_name()), bytes).expect("it is written");
    }
    // No task of the quickstart, which would be refused.
    let predictions =
        json!({"id": "sample_0", "code": "def f(x):\n    return x * x * 977", "input": "1", "output": "977"});
    std::fs::write(bench.dir.path().join("cruxeval.jsonl"), predictions.to_string()).expect("it is written");
    let mut config = small_config();
    config.insert("model".to_owned(), model.display().to_string().into());
    config.insert("steps".to_owned(), 3.into());
    let eval: toml::Table = eval.replace("DIR", &bench.dir.path().display().to_string()).parse().expect("TOML");
    config["eval"].as_table_mut().expect("a table").extend(eval);
    config
}

#[test]
fn suites_of_a_run_are_measured_on_schedule_and_a_killed_run_ends_with_the_same_bytes() {
    let bench = Bench::new();
    let template = "text = \"{{ code }}\\nassert f({{ input }}) ==\"\nstop = [\"\\n\"]\n";
    std::fs::write(bench.dir.path().join("own.toml"), template).expect("it is written");
    let eval = "suites = [\"cruxeval-o\", \"humaneval+\"]\nevery = 2\nlimit = 2\ndata = \"DIR\"\n\
                prompt_templates = [\"cruxeval-o=DIR/own.toml\"]";
    // In the first step, and behind the checkpoint after the second, which was measured.
    let (dir, summary) = survives(&measuring(&bench, eval), &[1, 3]);
    let run = dir.path().join("whole");
    let event = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let events: Vec<Value> = read(&run.join("events.jsonl")).lines().map(event).collect();
    let measured: Vec<bool> = events.iter().map(|event| event["eval/cruxeval-o"].is_f64()).collect();
    assert_eq!(measured, [false, true, true], "every second step, and the last");
    for step in [0, 2, 3] {
        let folder = run.join(format!("suites/step_{step}"));
        assert_eq!(read(&folder.join("humaneval+.verdicts.jsonl")).lines().count(), 2);
        let report: Value = serde_json::from_str(&read(&folder.join("cruxeval-o.report.json"))).expect("JSON");
        assert_eq!((&report["too_long"], &report["verdicts"]["attempts"]), (&json!(0), &json!(1)), "{report}");
        assert_eq!(report["settings"]["prompts"], "completion", "as the template asks");
    }
    assert!(!run.join("suites/step_1").exists());
    assert!(summary["suites"]["before"]["humaneval+"].is_f64() && summary["suites"]["after"]["cruxeval-o"].is_f64());
    let [low, high] =
        [0, 1].map(|end| summary["suites"]["after_interval"]["humaneval+"][end].as_f64().expect("a number"));
    assert!(0.0 <= low && low < high && high <= 1.0, "{summary}");
    let compared = succeeded(veriplay().args(["compare", "--json"]).arg(&run).arg(&run));
    let suite = &last_json(&compared)["differences"][0]["suites"]["humaneval+"];
    assert_eq!((&suite["paired"], suite["pass1"]["value"].as_f64()), (&json!(true), Some(0.0)), "{suite}");
    assert_other_files_are_refused(&run, &bench);
}

/// Fails unless a run that goes on with another prompt template or another file of a set is refused, with both digests.
fn assert_other_files_are_refused(run: &Path, bench: &Bench) {
    let cases = [("own.toml", "prompt template"), ("cruxeval.jsonl", "file")];
    for (file, what) in cases {
        let path = bench.dir.path().join(file);
        let began = read(&path);
        std::fs::write(&path, format!("{began}\n")).expect("it is written");
        let output = finished(veriplay().args(["play", "--resume"]).arg(run));
        let digests = [format!("{began}\n"), began.clone()].map(|text| Digest::of(text.as_bytes()));
        let [found, recorded] = &digests;
        let wanted = format!(
            "the {what} of suite `cruxeval-o` has digest {found}, and the run began with {recorded}\nhint: put the earlier"
        );
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains(&wanted), "{}", stderr(&output));
        std::fs::write(&path, began).expect("it is written");
    }
}

#[test]
fn suites_that_cannot_be_measured_are_refused_before_a_run_begins() {
    let bench = Bench::new();
    let cases: [(&str, &[&str]); 8] = [
        ("suites = [\"humanevil\"]", &["`humanevil` is neither a public set nor a file", "line ", "^"]),
        ("suites = [\"mbpp\"]\ndata = \"DIR\"", &["`mbpp.jsonl`", "the hash of its file is not known"]),
        (
            "suites = [\"cruxeval-o\"]\ndata = \"DIR\"\nprompt_templates = [\"DIR/none.toml\"]",
            &["cannot read `", "none.toml`"],
        ),
        ("prompt_templates = [\"own.toml\"]", &["`eval.prompt_templates` is `own.toml`", "`eval.suites` names a set"]),
        ("suites = [\"cruxeval-o\", \"cruxeval-o\"]\ndata = \"DIR\"", &["`eval.suites` is `cruxeval-o`", "named once"]),
        ("every = 2", &["`eval.every` is `2`", "`eval.suites` names a set"]),
        ("suites = [\"cruxeval-o\"]\ndata = \"DIR\"\nevery = 0", &["`eval.every` is `0`"]),
        ("suites = [\"cruxeval-o\"]\ndata = \"DIR\"\nlimit = 0", &["`eval.limit` is `0`"]),
    ];
    for (eval, wanted) in cases {
        let path = write_config(bench.dir.path(), &measuring(&bench, eval));
        let out = bench.dir.path().join("run");
        let output = finished(veriplay().arg("play").arg("--config").arg(path).arg("--out").arg(&out));
        assert_eq!(output.status.code(), Some(3), "{eval}: {}", stderr(&output));
        assert!(wanted.iter().all(|wanted| stderr(&output).contains(wanted)), "{eval}: {}", stderr(&output));
        assert!(!out.join("before.json").exists(), "nothing was sampled");
    }
}
