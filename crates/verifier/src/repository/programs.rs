//! The guest's side as programs. Compiling the one that runs tests is a good part of a small run, so a warm start has done it.

use std::sync::LazyLock;

use veriplay_core::Value;

const READY: &str = include_str!("ready_pytest.py");
const RUN: &str = concat!(
    include_str!("ready_pytest.py"),
    include_str!("own_imports.py"),
    include_str!("split_pytest.py"),
    include_str!("run_pytest.py")
);
const PACKAGE: &str = concat!(include_str!("own_imports.py"), include_str!("split_package.py"));
const WARM: &str = include_str!("warm_pytest.py");

/// Defines `run`: by the code that a warm start has left, or else compiled now.
pub(super) fn runner() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let source = literal(RUN);
        format!(
            "from importlib.machinery import SourceFileLoader as _loader\n\
             _source = {source}\n\
             _code = getattr(_loader, '_veriplay_compiled', {{}}).get(('<runner>', _source))\n\
             exec(_code or compile(_source, '<runner>', 'exec'))\n\
             del _loader, _source, _code\n"
        )
    });
    &PROGRAM
}

/// The package's side where its tests are in another instance: defines `serve`.
pub(super) fn package(roots: &[String], own: &[String]) -> String {
    let list = |names: &[String]| Value::List(names.iter().map(Value::str).collect());
    format!("ROOTS = {}\nOWN = {}\n{PACKAGE}", list(roots), list(own))
}

/// Leaves what [`runner`] looks for, and what the jobs after it find done.
pub(super) fn warmer(library: &[String]) -> String {
    let library = Value::List(library.iter().map(Value::str).collect());
    format!("{READY}\n_RUNNER = {}\n_LIBRARY = {library}\n{WARM}", literal(RUN))
}

/// The bytes of `text` as Python writes them: what a file holds too, which the other compiled sources are.
fn literal(text: &str) -> String {
    Value::Bytes(text.as_bytes().to_vec()).to_string()
}
