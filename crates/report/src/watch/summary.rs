//! What a list says of a run: read from the ends of its files, so that a list of long runs is quick.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use minijinja::{Value, context};
use veriplay_console::json_file::{read_json, read_text};
use veriplay_run::config::default_game;
use veriplay_selfplay::eval_table::EvalTable;

use super::addresses::run_path;
use super::runs::Run;

/// The end of `events.jsonl` that is read: longer than any line.
const END_BYTES: u64 = 1 << 20;

/// What the templates show of a run in a list. What cannot be read is left out.
pub(crate) fn summary(run: &Run) -> Value {
    let config: toml::Table =
        read_text(&run.folder().join("config.toml")).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let event = last_line(&run.folder().join("events.jsonl"));
    let event = event.and_then(|line| serde_json::from_str::<serde_json::Value>(&line).ok()).unwrap_or_default();
    let pass1 = |name: &str| {
        let table = read_json::<EvalTable>(&run.folder().join(name)).ok()?;
        Some(format!("{:.1}", 100.0 * table.mean.pass1))
    };
    let after = pass1("after.json");
    context!(
        name => run.name(),
        path => run_path(run.name()),
        game => config.get("plays").and_then(toml::Value::as_str).map_or_else(default_game, str::to_owned),
        steps => config.get("steps").and_then(toml::Value::as_integer),
        done => event["step"].as_u64().map_or(0, |step| step + 1),
        finished => after.is_some(),
        before => pass1("before.json"),
        after,
    )
}

/// The last whole line of a file.
fn last_line(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(END_BYTES))).ok()?;
    let mut end = Vec::new();
    file.take(END_BYTES).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let (whole, _) = end.rsplit_once('\n')?;
    whole.rsplit('\n').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn the_last_line_is_whole() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        let of = |text: &str| {
            std::fs::write(&path, text).expect("a file");
            last_line(&path)
        };
        assert_eq!(of("a\nb\nhalf"), Some("b".to_owned()));
        assert_eq!(of("a\n"), Some("a".to_owned()));
        assert_eq!(of("half"), None);
        assert_eq!(last_line(&dir.path().join("missing")), None);
    }
}
