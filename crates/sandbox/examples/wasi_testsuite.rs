//! Runs the preview 1 modules of the WebAssembly wasi-testsuite on the shim and compares with what is expected of each.
//!
//! ```text
//! git clone --branch prod/testsuite-base https://github.com/WebAssembly/wasi-testsuite
//! cargo run --example wasi_testsuite --features conformance -- wasi-testsuite
//! ```
//! What the shim refuses on purpose is listed in `wasi-refused.toml`, with the reason. Fails when a test of that list
//! passes, when one outside it does not, and when the list names a test that is not there.
#![expect(clippy::print_stdout, reason = "a program for the command line")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use veriplay_sandbox::conformance::{CommandOutcome, run_command};

const REFUSED: &str = include_str!("wasi-refused.toml");

/// What a test's specification says, as far as preview 1 tests say anything.
#[derive(serde::Deserialize)]
struct Spec {
    root: Option<String>,
    #[serde(default)]
    exit_code: i32,
    stdout: Option<String>,
}

fn main() -> ExitCode {
    let Some(suite) = std::env::args_os().nth(1).map(PathBuf::from) else {
        println!("usage: wasi_testsuite DIR (a checkout of the suite's branch with compiled tests)");
        return ExitCode::from(2);
    };
    match run(&suite) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything was as expected.
fn run(suite: &Path) -> Result<bool, String> {
    let refused: BTreeMap<String, String> = toml::from_str(REFUSED).map_err(|error| error.to_string())?;
    let (mut passed, mut kept, mut wrong) = (0, 0, Vec::new());
    let mut left = refused.clone();
    for module in modules(suite)? {
        let name = module.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        left.remove(&name);
        match (check(&module), refused.contains_key(&name)) {
            (Ok(()), false) => passed += 1,
            (Err(_), true) => kept += 1,
            (Ok(()), true) => wrong.push(format!("{name}: passes, and stands in wasi-refused.toml")),
            (Err(why), false) => wrong.push(format!("{name}: {why}")),
        }
    }
    wrong.extend(left.keys().map(|name| format!("{name}: is in wasi-refused.toml, and is not a test of the suite")));
    wrong.iter().for_each(|line| println!("{line}"));
    println!("{passed} pass, {kept} refused on purpose, {} not as expected", wrong.len());
    Ok(wrong.is_empty())
}

/// The compiled preview 1 tests of all languages.
fn modules(suite: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for language in ["assemblyscript", "c", "rust"] {
        let dir = suite.join("tests").join(language).join("testsuite/wasm32-wasip1");
        let entries = fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    found.sort();
    Ok(found)
}

fn check(module: &Path) -> Result<(), String> {
    let wasm = fs::read(module).map_err(|error| error.to_string())?;
    let spec = match fs::read(module.with_extension("json")) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| error.to_string())?,
        Err(_) => Spec { root: None, exit_code: 0, stdout: None },
    };
    let files = spec.root.as_ref().map_or(Ok(Vec::new()), |root| files(&module.with_file_name(root)))?;
    let CommandOutcome { exit, stdout, stderr } = run_command(&wasm, &files)?;
    let stderr = String::from_utf8_lossy(&stderr);
    match exit {
        Ok(code) if code == spec.exit_code && spec.stdout.is_none_or(|wanted| wanted.as_bytes() == stdout) => Ok(()),
        Ok(code) => Err(format!("exit code {code}, {:?}, {stderr}", String::from_utf8_lossy(&stdout))),
        Err(trap) => Err(format!("{trap}; {stderr}")),
    }
}

/// Every file under `root`, by its path from there.
fn files(root: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (mut found, mut dirs) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).map_err(|error| error.to_string())?.display().to_string();
                found.push((name, fs::read(&path).map_err(|error| error.to_string())?));
            }
        }
    }
    Ok(found)
}
