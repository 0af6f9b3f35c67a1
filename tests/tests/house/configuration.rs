//! `docs/configuration.md` lists every configuration key: those that the files of `configs` use, and those that the sources read.
//!
//! A table of keys follows a comment `<!-- keys: FILE ITEM, FILE ITEM -->` of the page, which names the structs, enums and macro calls that
//! declare its keys. The first cell of a row has one or more keys in backticks, as full paths. A field of a source is a line of an item that
//! rustfmt has formatted; macros are not expanded.

use std::collections::BTreeSet;
use std::fs;

use veriplay_learner::{LOSSES, LossInput};
use veriplay_selfplay::{advantages, curricula, intrinsic, rewards};

use super::{read, root, tracked_files};

const PAGE: &str = "docs/configuration.md";
/// The beginning of the comment in front of a table of keys.
const MARK: &str = "<!-- keys:";
/// Tables that are the value of a key, and no keys themselves.
const VALUES: [&str; 1] = ["learn.shape.trapezoid"];

#[test]
fn the_page_lists_the_keys_of_every_configuration() {
    let page = read(PAGE);
    let keys = documented_keys(&page);
    let is_configuration = |name: &String| name.starts_with("configs/") && name.ends_with(".toml");
    let files: Vec<String> = tracked_files().into_iter().filter(is_configuration).collect();
    assert!(!files.is_empty(), "`configs` has no configuration");
    for name in files {
        let table: toml::Table = toml::from_str(&read(&name)).unwrap_or_else(|error| panic!("`{name}`: {error}"));
        let missing: Vec<String> = key_paths(&table).into_iter().filter(|path| !is_documented(&keys, path)).collect();
        assert!(missing.is_empty(), "`{PAGE}` does not list {missing:?} of `{name}`");
    }
}

#[test]
fn the_page_and_the_sources_have_the_same_keys() {
    let page = read(PAGE);
    let tables = key_tables(&page);
    assert!(!tables.is_empty(), "`{PAGE}` has no table of keys");
    let read = |file: &str| fs::read_to_string(root().join(file)).ok();
    let wrong: Vec<String> = tables.iter().flat_map(|table| differences(table, &read)).collect();
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

#[test]
fn the_table_of_every_key_is_on_the_page_too() {
    let page = read(PAGE);
    let keys = documented_keys(&page);
    let tables = keys.iter().filter_map(|key| key.rsplit_once('.')).map(|(table, _)| table);
    let missing: Vec<&str> = tables.filter(|table| !keys.contains(table) && !VALUES.contains(table)).collect();
    assert!(missing.is_empty(), "`{PAGE}` lists keys of {missing:?}, and not these tables");
}

#[test]
fn the_page_lists_every_reward_advantage_curriculum_and_loss() {
    let page = read(PAGE);
    let losses = LOSSES.iter().filter(|loss| loss.input != LossInput::Rollouts).map(|loss| loss.name);
    let names = rewards::names().into_iter().chain(advantages::names()).chain(curricula::names());
    let names = names.chain(intrinsic::names()).chain(losses);
    let missing: Vec<&str> = names.filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "`{PAGE}` does not name {missing:?}");
}

#[test]
fn the_check_for_keys_can_fail() {
    let options = "/// Options: all of them.\npub struct Options {\n    /// Size: how many.\n    pub size: usize,\n    \
                   #[serde(default)]\n    pub(crate) mode: Mode,\n    #[serde(skip)]\n    pub device: Device,\n}\n";
    let kind = "#[serde(tag = \"kind\")]\nenum Kind {\n    One {\n        depth: usize,\n    },\n}\n";
    let page = "<!-- keys: a.rs Options, b.rs Kind -->\n\n| key | type |\n|---|---|\n| `x.size`, `y.size` | count |\n\
                | `x.kind` | text |\n| `x.speed` | number |\n\n| `z` | of another table |\n";
    let read = |file: &str| match file {
        "a.rs" => Some(options.to_owned()),
        "b.rs" => Some(kind.to_owned()),
        _ => None,
    };
    let tables = key_tables(page);
    assert_eq!(documented_keys(page), BTreeSet::from(["x.kind", "x.size", "x.speed", "y.size"]));
    let wrong = differences(&tables[0], &read);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    for name in ["`x.speed`", "`depth`", "`mode`"] {
        assert!(wrong.iter().any(|text| text.starts_with(name)), "{name} is not in {wrong:?}");
    }
    let renamed = key_tables("<!-- keys: a.rs Choices -->\n\n| `x.size` | count |\n");
    assert!(differences(&renamed[0], &read).contains(&"`a.rs` declares no `Choices`".to_owned()));
}

#[test]
fn the_check_for_paths_of_keys_can_fail() {
    let table: toml::Table = toml::from_str("a = 1\n[b]\nc = { d = [{ e = 1 }] }\n").expect("it is TOML");
    assert_eq!(key_paths(&table), ["a", "b.c.d"]);
    let keys = BTreeSet::from(["a", "b.<name>.d"]);
    assert!(is_documented(&keys, "a") && is_documented(&keys, "b.c.d"));
    assert!(!is_documented(&keys, "b") && !is_documented(&keys, "b.c.e") && !is_documented(&keys, "b.c.d.e"));
}

/// The paths of all values in a table. A list is a value.
fn key_paths(table: &toml::Table) -> Vec<String> {
    let paths = table.iter().flat_map(|(key, value)| match value {
        toml::Value::Table(inner) => key_paths(inner).into_iter().map(|path| format!("{key}.{path}")).collect(),
        _ => vec![key.clone()],
    });
    paths.collect()
}

/// Whether a path is among the keys, of which `data.programs.<family>` stands for many.
fn is_documented(keys: &BTreeSet<&str>, path: &str) -> bool {
    let path: Vec<&str> = path.split('.').collect();
    keys.iter().any(|key| {
        let key: Vec<&str> = key.split('.').collect();
        key.len() == path.len() && key.iter().zip(&path).all(|(key, part)| key == part || key.starts_with('<'))
    })
}

struct KeyTable<'a> {
    /// File and item of each source that declares some of the keys.
    sources: Vec<(&'a str, &'a str)>,
    keys: Vec<&'a str>,
}

fn key_tables(page: &str) -> Vec<KeyTable<'_>> {
    let tables = page.split(MARK).skip(1).map(|part| {
        let (sources, rest) = part.split_once("-->").expect("a comment of keys ends");
        let sources = sources.split(',').map(|source| source.trim().split_once(' ').expect("a file and an item"));
        let rows = rest.lines().skip_while(|line| line.is_empty()).take_while(|line| line.starts_with('|'));
        let cells = rows.filter_map(|row| row.split('|').nth(1));
        let keys = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        KeyTable { sources: sources.collect(), keys: keys.collect() }
    });
    tables.collect()
}

fn documented_keys(page: &str) -> BTreeSet<&str> {
    key_tables(page).into_iter().flat_map(|table| table.keys).collect()
}

/// What a table lists and its sources do not declare, and the other way round. `read` gives a source by its path.
fn differences(table: &KeyTable<'_>, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let (mut wrong, mut declared, mut text) = (Vec::new(), BTreeSet::new(), String::new());
    for (file, item) in &table.sources {
        let source = read(file).unwrap_or_default();
        match fields(&source, item) {
            Some(fields) => declared.extend(fields),
            None => wrong.push(format!("`{file}` declares no `{item}`")),
        }
        text += &source;
    }
    let is_tag = |name: &str| text.contains(&format!("tag = \"{name}\""));
    for key in &table.keys {
        let name = last_name(key);
        if !declared.contains(name) && !is_tag(name) {
            wrong.push(format!("`{key}` is on the page, and none of {:?} declares it", table.sources));
        }
    }
    let listed: BTreeSet<&str> = table.keys.iter().map(|key| last_name(key)).collect();
    let missing = declared.iter().filter(|name| !listed.contains(name.as_str()));
    wrong.extend(missing.map(|name| format!("`{name}` of {:?} is not on the page", table.sources)));
    wrong
}

/// The last part of a key that is a name: `programs` of `data.programs.<family>`.
fn last_name(key: &str) -> &str {
    key.rsplit('.').find(|part| !part.starts_with('<')).unwrap_or(key)
}

/// The fields of a struct, an enum's variants or a macro call (`item` ends with `!`), without those that serde skips. `None` where the source
/// has no such item.
fn fields(source: &str, item: &str) -> Option<BTreeSet<String>> {
    let mut lines = source.lines().skip_while(|line| !declares(line, item));
    let head = lines.next()?;
    if !head.ends_with('{') {
        return Some(BTreeSet::new());
    }
    let end = format!("{}}}", &head[..head.len() - head.trim_start().len()]);
    let (mut found, mut is_skipped) = (BTreeSet::new(), false);
    for line in lines.take_while(|line| *line != end).map(str::trim) {
        if let Some(name) = field_name(line) {
            found.extend((!is_skipped).then(|| name.to_owned()));
            is_skipped = false;
        }
        is_skipped |= line == "#[serde(skip)]";
    }
    Some(found)
}

/// Whether a line begins a struct, an enum or a macro call of that name.
fn declares(line: &str, item: &str) -> bool {
    let words: Vec<&str> = line.split([' ', '<']).collect();
    let is_type = words.windows(2).any(|pair| ["struct", "enum"].contains(&pair[0]) && pair[1] == item);
    let is_call = line.strip_suffix(" {") == Some(item) && item.ends_with('!');
    (is_type || is_call) && !line.trim_start().starts_with("//")
}

/// The name of the field that a line declares, such as `pub(crate) name: Type,`.
fn field_name(line: &str) -> Option<&str> {
    let name = line.split_once(": ")?.0;
    let name = match name.split_once(' ') {
        Some((visibility, name)) if visibility == "$visibility" || visibility.starts_with("pub") => name,
        _ => name,
    };
    // serde reads a field that nothing else reads, such as `_plays`, by its name without the underscore.
    let name = name.trim_start_matches('_');
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}
