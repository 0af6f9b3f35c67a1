//! The commands in the documents. A block fenced as `sh` runs, in one folder for all pages; of a block fenced as `sh no_run` the commands of
//! `veriplay` are parsed. Where JSON follows a block that runs, the block prints it.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::serve::Service;
use super::{ended, root, succeeded, veriplay};

/// The service's address in the documents.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// A fenced block: what stands behind the fence, and its lines.
struct Block {
    info: String,
    text: String,
}

/// The blocks of a page that begin at the margin.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n");
            blocks.push(Block { info: info.to_owned(), text });
        }
    }
    blocks
}

/// The pages with commands, the one first whose run the others read.
fn pages() -> Vec<(String, String)> {
    let folder = root().join("docs");
    let names = std::fs::read_dir(&folder).expect("docs/ is there").map(|entry| entry.expect("an entry").file_name());
    let pages = names.map(|name| format!("docs/{}", name.display())).filter(|name| name.ends_with(".md"));
    let mut names: Vec<String> = pages.chain(["README.md", "CONTRIBUTING.md"].map(str::to_owned)).collect();
    names.sort_by_key(|name| (name != "docs/overview.md", name.clone()));
    let read = |name: &String| std::fs::read_to_string(root().join(name)).expect("a page is text");
    names.iter().map(|name| (name.clone(), read(name))).collect()
}

/// A shell in which `veriplay` is the program under test, and the home another.
fn shell(script: &str, folder: &Path) -> Command {
    let path = std::env::var("PATH").expect("PATH is set");
    let cache = veriplay_sandbox::default_cache_dir().expect("there is a cache");
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).env_remove("VERIPLAY_LOG").env("VERIPLAY_CACHE", cache);
    command.env("PATH", format!("{}:{path}", folder.join("bin").display())).env("HOME", folder);
    command
}

/// The files that blocks name and no block makes.
fn write_files(folder: &Path) {
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).expect("the folder can be written");
    ["bin", "runs"].iter().for_each(|name| std::fs::create_dir(folder.join(name)).expect("a folder"));
    symlink(veriplay().get_program(), folder.join("bin/veriplay")).expect("a link");
    ["a", "b"].iter().for_each(|name| symlink("look", folder.join("runs").join(name)).expect("a link"));
    let task = json!({"task_id": "HumanEval/0", "prompt": "def twice(x):\n    \"\"\"Twice x.\"\"\"\n", "entry_point": "twice",
        "canonical_solution": "    return 2 * x\n", "test": "def check(candidate):\n    assert candidate(2) == 4\n"});
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(format!("{task}\n").as_bytes()).expect("memory can be written");
    write("HumanEval.jsonl.gz", &packed.finish().expect("memory can be written"));
    write("python.sha256", format!("{:064x}  python.tar.zst", 0).as_bytes());
    write("samples.jsonl", br#"{"task_id": "HumanEval/0", "completion": "    return x + x"}"#);
    let page = std::fs::read_to_string(root().join("docs/verifying.md")).expect("the page is there");
    let rows: Vec<Block> = blocks(&page).into_iter().filter(|block| block.info == "jsonl").collect();
    let [tasks, attempts] = &rows[..] else { panic!("docs/verifying.md has tasks, and attempts at them") };
    write("tasks.jsonl", tasks.text.as_bytes());
    write("attempts.jsonl", attempts.text.as_bytes());
}

#[test]
fn commands_in_documents_run_and_print_what_the_documents_say() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    write_files(folder.path());
    let service = Service::spawn(veriplay().args(["serve", "--workers", "1", "--no-cache", "--addr", "127.0.0.1:0"]));
    for (page, text) in pages() {
        let place = folder.path().join(if page == "docs/run-directory.md" { "runs/look" } else { "." });
        let blocks = blocks(&text);
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.info == "sh") {
            let script = block.text.replace(ADDRESS, &service.address());
            let output = succeeded(shell(&script, folder.path()).current_dir(&place));
            if let Some(next) = blocks.get(number + 1).filter(|next| next.info == "json") {
                let said: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
                assert!(matches(&documented(&next.text), &said), "{page} has\n{}\nand this is\n{said}", next.text);
            }
        }
    }
}

/// JSON of a document, in which `…` stands for what differs.
fn documented(text: &str) -> Value {
    let text = text.replace("{…}", "\"…\"").replace(":…", ":\"…\"");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether values are what a document says. A request's id is the service's own.
fn matches(documented: &Value, said: &Value) -> bool {
    match (documented, said) {
        (Value::String(text), _) if text == "…" => true,
        (Value::Object(documented), Value::Object(said)) => {
            let same = |(key, value): (&String, &Value)| {
                said.get(key).is_some_and(|said| key == "request_id" || matches(value, said))
            };
            documented.len() == said.len() && documented.iter().all(same)
        }
        (Value::Array(documented), Value::Array(said)) => {
            documented.len() == said.len() && documented.iter().zip(said).all(|(one, other)| matches(one, other))
        }
        _ => documented == said,
    }
}

/// The commands of `veriplay` in a block, each with its arguments as a shell reads them.
fn commands(block: &str) -> Vec<String> {
    let whole = block.replace("\\\n", " ");
    let lines = whole.lines().map(|line| line.split("  #").next().unwrap_or_default().trim());
    let prefixes = ["veriplay ", "cargo run --release -- ", "target/release/veriplay "];
    let arguments = |line: &str| prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::to_owned);
    lines.map(|line| line.split(" > ").next().unwrap_or_default()).filter_map(arguments).collect()
}

/// Parses the options of a command, which ends with this exit code.
#[track_caller]
fn parse(command: &str, folder: &Path, code: i32) {
    ended(shell(&format!("veriplay {command} --help"), folder).current_dir(folder), code, &[]);
}

#[test]
fn commands_in_documents_that_do_not_run_have_options_that_exist() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    write_files(folder.path());
    for (_, text) in pages() {
        let blocks = blocks(&text).into_iter().filter(|block| block.info == "sh no_run");
        blocks.flat_map(|block| commands(&block.text)).for_each(|command| parse(&command, folder.path(), 0));
    }
    parse("play --no-such-option", folder.path(), 2);
    parse("no-such-command", folder.path(), 2);
}

#[test]
fn commands_are_found_in_blocks() {
    let page = "# Page\n\n```sh no_run\nveriplay verify --tasks a \\\n  --out b   # judges\ncargo run --release -- play\nls\n```\n\n```json\n{}\n```\n";
    let found = blocks(page);
    assert_eq!(found.iter().map(|block| &*block.info).collect::<Vec<_>>(), ["sh no_run", "json"]);
    assert_eq!(commands(&found[0].text), ["verify --tasks a    --out b", "play"]);
    assert!(matches(&documented("{\"a\":…,\"request_id\":\"1\"}"), &json!({"a": [1], "request_id": "2"})));
    assert!(!matches(&documented("{\"a\":1}"), &json!({"a": 2})) && !matches(&documented("{}"), &json!({"a": 1})));
}
