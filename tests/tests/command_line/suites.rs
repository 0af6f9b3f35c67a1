//! `veriplay eval --suite`: sets in their published layouts, and a model behind a server that answers by the question.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use veriplay_core::Digest;
use veriplay_tests::external::published_file;

use super::commands::{ended, events, fails, play, read, read_json, resume, section, small_with};
use super::completions_server::{Act, Server, ServerKind};
use super::resume::survives;
use super::verify::{lines, rows};
use super::{NO_SERVER, finished, last_json, root, says, stderr, stdout, succeeded, veriplay};

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
        let bench = Self { dir, server: Server::start(ServerKind::Plain, answer) };
        bench.write("HumanEvalPlus.jsonl", &lines(&tasks));
        let prediction = json!({"id": "sample_0", "code": "def f(x):\n    return x * x", "input": "3", "output": "9"});
        bench.write("cruxeval.jsonl", &lines(&[prediction]));
        bench
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("it is written");
    }

    /// Samples a set from the server.
    fn command(&self, options: &[&str]) -> Command {
        let mut command = veriplay();
        command.args(["eval", "--model", &format!("openai:{}#m", self.server.url)]).args(options);
        command
    }

    fn out(&self, file: &str) -> PathBuf {
        self.dir.path().join("out").join(file)
    }

    fn eval(&self, options: &[&str]) -> Output {
        let mut command = self.command(options);
        finished(command.arg("--json").arg("--data").arg(self.dir.path()).arg("--out").arg(self.out("")))
    }

    fn report(&self, options: &[&str]) -> Value {
        let output = self.eval(options);
        ended(&output, 0, &[]);
        last_json(&output)
    }
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
    let samples = read(bench.out("humaneval+.samples.jsonl"));
    assert_eq!(rows(&samples)[0]["solution"], "def add_one(x):\n    return x + 1\n", "EvalPlus' layout");
    says(&read(bench.out("cruxeval-i.samples.jsonl")), &["\"completion\":\"-2\""]);
    let mut command = bench.command(&["--suite", "humaneval+"]);
    let told = succeeded(command.arg("--data").arg(bench.dir.path()).arg("--out").arg(bench.out("")));
    let (line, said) = (stdout(&told), stderr(&told));
    assert!(line.starts_with("humaneval+: 3 attempts") && line.lines().count() == 1, "{line}{said}");
    assert!(!said.contains("humaneval+: 3 attempts"), "the line is printed once: {said}");
    assert_eq!(said.matches("HumanEvalPlus.jsonl` is not the published file").count(), 1, "{said}");
    assert_eq!(read(bench.out("humaneval+.verdicts.jsonl")).lines().count(), 3);
    assert_eq!(read_json(bench.out("humaneval+.report.json")), *plus);
}

#[test]
fn a_folder_is_continued_with_its_own_settings_and_refused_with_others() {
    let bench = Bench::new();
    let report = bench.report(&["--suite", "humaneval+"]);
    let (samples, asked) = (bench.out("humaneval+.samples.jsonl"), bench.server.seen().len());
    let whole = read(&samples);
    assert_eq!(bench.report(&["--suite", "humaneval+"])["suites"]["humaneval+"]["truncated"], 1);
    assert_eq!(bench.server.seen().len(), asked, "nothing is sampled twice");
    let other = bench.eval(&["--suite", "humaneval+", "--temperature", "0.5"]);
    ended(&other, 3, &["was made with temperature = 0.0, and 0.5 is asked for"]);
    // Killed in the middle of a row.
    std::fs::write(&samples, &whole[..whole.len() - 9]).expect("it is written");
    std::fs::remove_file(bench.out("humaneval+.verdicts.jsonl")).expect("it was there");
    let statuses = |report: &Value| report["suites"]["humaneval+"]["verdicts"]["statuses"].clone();
    assert_eq!(statuses(&bench.report(&["--suite", "humaneval+"])), statuses(&report));
    assert_eq!(read(&samples), whole);
}

#[test]
fn what_cannot_be_evaluated_is_refused_before_a_model_is_asked() {
    let bench = Bench::new();
    let missing = bench.path("none").display().to_string();
    let file = "evalplus/mbppplus_release/64fc4195b858a17cdfdb3324f0baf37939144e14/MbppPlus.jsonl.gz";
    let fetched = format!("`{NO_SERVER}/{file}` cannot be fetched: ");
    let published = "hint: it is published as `google-research/google-research`";
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--suite", "humanevil"], &["names neither a public set nor a file"]),
        (&["--suite", "mbpp+"], &["`MbppPlus-v0.2.0.jsonl.gz`", &fetched, "`VERIPLAY_DATA_MIRROR` names a mirror"]),
        (&["--suite", "mbpp"], &["the hash of its file is not known\n", published]),
        (&["--suite", "humaneval+", "--data", &missing], &["`--data`"]),
        (&["--suite", "humaneval+", "--samples", "4"], &["at temperature 0 would be one sample repeated"]),
        (&["--suite", "humaneval+", "--limit", "0"], &["0 is not in 1.."]),
        (&["--limit", "3"], &["--suite"]),
    ];
    for (options, wanted) in cases {
        // The last `--data` counts for clap, so the bench's own is left out.
        let mut command = bench.command(options);
        // A cache without what an earlier command may have fetched.
        command.env("VERIPLAY_DATA", bench.dir.path()).env("VERIPLAY_CACHE", bench.path("cache"));
        let output = finished(&mut command);
        assert!(!output.status.success(), "{options:?}");
        says(&stderr(&output), wanted);
    }
    assert!(bench.server.seen().is_empty());
}

#[test]
fn a_file_of_another_layout_is_refused_with_the_missing_field_and_no_option_of_another_command() {
    let bench = Bench::new();
    let row = "{\"task_id\": \"x/1\", \"prompt\": \"x\"}\n";
    for (set, rows, wanted) in [
        ("", row, ["missing field `schema_version`", "`NAME=FILE`", "hint:"]),
        ("humaneval=", row, ["field `test`: is missing", "`openai/human-eval`", "hint:"]),
        ("", "", ["it has no row", "", "hint:"]),
    ] {
        bench.write("own.jsonl", rows);
        let output = bench.eval(&["-q", "--suite", &format!("{set}{}", bench.path("own.jsonl").display())]);
        let said = ended(&output, 3, &wanted);
        assert!(!said.contains("--format"), "{said}");
    }
}

#[test]
fn a_template_of_the_users_asks_to_the_letter_and_is_part_of_the_settings() {
    let bench = Bench::new();
    bench.write(
        "own.toml",
        "user = \"{{ code }}\\nassert f({{ input }}) == ?\"\nprefill = \"assert f({{ input }}) ==\"\nstop = [\"[/ANSWER]\"]\nmax_tokens = 7\n",
    );
    let own = format!("cruxeval-o={}", bench.path("own.toml").display());
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
    bench.write("own.toml", "user = \"{{ code }}\"\nmax_tokens = 7\n");
    says(&stderr(&bench.eval(&options)), &[&format!("was made with prompt_template = \"{digest}\", and ")]);
    let ours = bench.eval(&["--suite", "cruxeval-o", "--max-tokens", "7"]);
    says(&stderr(&ours), &["prompt_template = ", "and null is asked for"]);
    assert_eq!(bench.server.seen().len(), count);
}

#[test]
fn a_set_whose_hash_is_not_known_is_used_as_it_is_and_its_hash_is_in_the_report() {
    let bench = Bench::new();
    let row = json!({"task_id": 1, "text": "Write a function to add one.", "code": "def f(x):\n    return x + 1",
        "test_list": ["assert f(1) == 2"], "test_setup_code": "", "challenge_test_list": []});
    bench.write("mbpp.jsonl", &lines(&[row]));
    let output = bench.eval(&["--suite", "mbpp"]);
    ended(&output, 0, &["mbpp.jsonl` is used as it is, because the hash of the set's file is not known"]);
    let report = &last_json(&output)["suites"]["mbpp"];
    assert_eq!((&report["published"], report["tasks_sha256"].as_str().map(str::len)), (&Value::Null, Some(64)));
    assert_eq!(read_json(bench.out("mbpp.report.json"))["tasks_sha256"], report["tasks_sha256"]);
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
        assert!(!ended(&output, 0, &[]).contains("published file"), "{}", stderr(&output));
        assert_eq!(last_json(&output)["suites"][suite]["published"], true, "{suite}");
    }
}

#[test]
fn a_template_that_cannot_ask_a_set_is_refused_before_a_model_is_asked() {
    let bench = Bench::new();
    let path = bench.path("own.toml").display().to_string();
    let other = format!("mbpp={path}");
    let code = ["line 1, column 12 (`user`): undefined value `code`", "`task_id`, `prompt`"];
    for (text, option, wanted) in [
        ("user = \"{{ code }}\"", &path, code),
        ("user = \"{{ prompt }\"", &path, ["line 1, column ", "syntax error"]),
        ("users = \"\"", &path, ["is not a prompt template", "line 1"]),
        ("user = \"{{ prompt }}\"", &other, ["cannot read `mbpp=", ""]),
    ] {
        bench.write("own.toml", text);
        ended(&bench.eval(&["--suite", "humaneval+", "--prompt-template", option]), 3, &wanted);
    }
    let output = bench.eval(&["--suite", "humaneval+", "--prompts", "chat", "--prompt-template", &path]);
    says(&stderr(&output), &["cannot be used with"]);
    assert!(bench.server.seen().is_empty());
}

/// The quickstart, made small, on a copy of its model with room for the sets' prompts.
fn measuring(bench: &Bench, eval: &str) -> toml::Table {
    let model = bench.path("model");
    std::fs::create_dir_all(&model).expect("a folder");
    for file in std::fs::read_dir(root().join("models/tiny")).expect("the model is there") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), model.join(file.file_name())).expect("it is copied");
    }
    let shape = read(model.join("config.json"));
    let wide = shape.replace("\"max_position_embeddings\": 512", "\"max_position_embeddings\": 2048");
    std::fs::write(model.join("config.json"), wide).expect("it is written");
    // No task of the quickstart, which would be refused.
    let predictions =
        json!({"id": "sample_0", "code": "def f(x):\n    return x * x * 977", "input": "1", "output": "977"});
    bench.write("cruxeval.jsonl", &predictions.to_string());
    let mut config = small_with(&format!("steps = 3\nmodel = {:?}", model.display().to_string()));
    let eval: toml::Table = eval.replace("DIR", &bench.dir.path().display().to_string()).parse().expect("TOML");
    section(&mut config, "eval").extend(eval);
    config
}

#[test]
fn suites_of_a_run_are_measured_on_schedule_and_a_killed_run_ends_with_the_same_bytes() {
    let bench = Bench::new();
    let template = "text = \"{{ code }}\\nassert f({{ input }}) ==\"\nstop = [\"\\n\"]\n";
    bench.write("own.toml", template);
    let eval = "suites = [\"cruxeval-o\", \"humaneval+\"]\nevery = 2\nlimit = 2\ndata = \"DIR\"\n\
                prompt_templates = [\"cruxeval-o=DIR/own.toml\"]";
    // In the first step, and behind the checkpoint after the second, which was measured.
    let (dir, summary) = survives(&measuring(&bench, eval), &[1, 3]);
    let run = dir.path().join("whole");
    let measured: Vec<bool> = events(&run).iter().map(|event| event["eval/cruxeval-o"].is_f64()).collect();
    assert_eq!(measured, [false, true, true], "every second step, and the last");
    for step in [0, 2, 3] {
        let folder = run.join(format!("suites/step_{step}"));
        assert_eq!(read(folder.join("humaneval+.verdicts.jsonl")).lines().count(), 2);
        let report = read_json(folder.join("cruxeval-o.report.json"));
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
    for (file, what) in [("own.toml", "prompt template"), ("cruxeval.jsonl", "file")] {
        let began = read(bench.path(file));
        let other = format!("{began}\n");
        bench.write(file, &other);
        let [found, recorded] = [&other, &began].map(|text| Digest::of(text.as_bytes()));
        let wanted = format!(
            "the {what} of suite `cruxeval-o` has digest {found}, and the run began with {recorded}\nhint: put the earlier"
        );
        fails(&mut resume(run), 3, &[&wanted]);
        bench.write(file, &began);
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
        fails(&mut play(&measuring(&bench, eval), bench.dir.path()), 3, wanted);
        assert!(!bench.path("run/before.json").exists(), "nothing was sampled");
    }
}
