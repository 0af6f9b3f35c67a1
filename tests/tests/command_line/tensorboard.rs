//! TensorBoard event files, read by a parser that shares nothing with their writer.

use std::path::Path;

use serde_json::Value;

use super::{small_config, succeeded, veriplay, write_config};

/// A field of a protocol buffer.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).expect("a varint ends");
    let number = bytes[..=end].iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    *bytes = &bytes[end + 1..];
    number
}

/// The fields of a message, by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key & 7 {
            0 => {
                found.push((key >> 3, Field::Number(varint(&mut bytes))));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)).expect("a length"),
            5 => 4,
            wire => panic!("wire type {wire}"),
        };
        let (value, rest) = bytes.split_at(length);
        found.push((key >> 3, Field::Bytes(value)));
        bytes = rest;
    }
    found
}

fn bytes<'a>(message: &[(u64, Field<'a>)], number: u64) -> Vec<&'a [u8]> {
    let matching = message.iter().filter(|(field, _)| *field == number);
    matching.filter_map(|(_, field)| if let Field::Bytes(bytes) = field { Some(*bytes) } else { None }).collect()
}

fn number(message: &[(u64, Field<'_>)], number: u64) -> u64 {
    let found = message.iter().find(|(field, _)| *field == number);
    if let Some((_, Field::Number(value))) = found { *value } else { panic!("no number {number}") }
}

/// The events of each file of the run, in the order in which TensorBoard reads them.
fn event_files(run: &Path) -> Vec<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(run).expect("the run can be listed").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = entries.filter(|path| path.to_string_lossy().contains(".tfevents.")).collect();
    paths.sort();
    let events = |path| {
        let all = std::fs::read(path).expect("the file can be read");
        let (mut rest, mut events) = (all.as_slice(), Vec::new());
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().expect("eight bytes"));
            let end = 12 + usize::try_from(length).expect("a length");
            events.push(rest[12..end].to_vec());
            rest = &rest[end + 4..];
        }
        events
    };
    paths.into_iter().map(events).collect()
}

/// The scalars of an event.
fn scalars(event: &[u8]) -> Vec<(String, f32)> {
    let summaries = bytes(&fields(event), 5);
    let values = summaries.into_iter().flat_map(|summary| bytes(&fields(summary), 1));
    let scalar = |value: &[u8]| {
        let value = fields(value);
        let (tag, number) = (bytes(&value, 1)[0], bytes(&value, 2)[0]);
        let tag = String::from_utf8(tag.to_vec()).expect("a tag is text");
        (tag, f32::from_le_bytes(number.try_into().expect("four bytes")))
    };
    values.map(scalar).collect()
}

#[test]
fn a_run_writes_its_numbers_for_tensorboard() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    let config = write_config(dir.path(), &small_config());
    let play = ["play", "--set", "tensorboard=true", "--set", "eval.tasks_every=1", "--steps", "2"];
    succeeded(veriplay().args(play).arg("--config").arg(config).arg("--out").arg(&run));
    let files = event_files(&run);
    let [events] = &files[..] else { panic!("{} event files", files.len()) };
    assert_eq!(bytes(&fields(&events[0]), 3), [b"brain.Event:2"]);
    assert_eq!(events.len(), 4, "the version, the start, and two steps");
    let log = std::fs::read_to_string(run.join("events.jsonl")).expect("the log");
    for (event, line) in events[2..].iter().zip(log.lines()) {
        let logged: Value = serde_json::from_str(line).expect("an event is JSON");
        assert_eq!(Some(number(&fields(event), 2)), logged["step"].as_u64());
        let scalars = scalars(event);
        let found = |tag: &str| scalars.iter().find(|(name, _)| name == tag).map(|(_, number)| f64::from(*number));
        let entropy = logged["actor/entropy"].as_f64().expect("a number");
        assert!((found("actor/entropy").expect("it is written") - entropy).abs() < 1e-6);
        let rate = &logged["play"]["roles"][3];
        let tag = format!("play/roles/solver {}/solve_rate", rate["task_type"].as_str().expect("a type"));
        assert!((found(&tag).expect("it is written") - rate["solve_rate"].as_f64().expect("a rate")).abs() < 1e-6);
        let validation = &logged["validation"];
        for (tag, number) in [("mean", &validation["mean"]), ("rows/deduction", &validation["rows"][0])] {
            let written = found(&format!("validation/{tag}/greedy")).expect("it is written");
            assert!((written - number["greedy"].as_f64().expect("a share")).abs() < 1e-6, "{validation}");
        }
        assert!(found("timing/play_s").is_some_and(|seconds| seconds > 0.0) && found("step").is_none());
    }
    // A resumed run tells TensorBoard from which step on it writes anew.
    succeeded(veriplay().args(["play", "--steps", "3", "--resume"]).arg(&run));
    let files = event_files(&run);
    let [_, resumed] = &files[..] else { panic!("{} event files", files.len()) };
    assert_eq!((number(&fields(&resumed[1]), 2), resumed.len()), (2, 3));
    assert_eq!(number(&fields(bytes(&fields(&resumed[1]), 7)[0]), 1), 1);
}
