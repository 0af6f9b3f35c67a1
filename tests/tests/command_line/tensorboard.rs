//! TensorBoard event files, read by a parser that shares nothing with their writer.

use std::path::Path;

use super::commands::{events, play, resume, small_with};
use super::succeeded;

/// A field of a protocol buffer: a number, or bytes.
struct Field<'a> {
    key: u64,
    number: u64,
    bytes: &'a [u8],
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).expect("a varint ends");
    let number = bytes[..=end].iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    *bytes = &bytes[end + 1..];
    number
}

/// The fields of a message.
fn fields(mut rest: &[u8]) -> Vec<Field<'_>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let (number, length) = match key & 7 {
            0 => (varint(&mut rest), 0),
            1 => (0, 8),
            2 => (0, varint(&mut rest)),
            5 => (0, 4),
            wire => panic!("wire type {wire}"),
        };
        let (bytes, after) = rest.split_at(usize::try_from(length).expect("a length"));
        found.push(Field { key: key >> 3, number, bytes });
        rest = after;
    }
    found
}

fn bytes(message: &[u8], key: u64) -> Vec<&[u8]> {
    fields(message).into_iter().filter(|field| field.key == key).map(|field| field.bytes).collect()
}

fn number(message: &[u8], key: u64) -> u64 {
    fields(message).iter().find(|field| field.key == key).expect("the message has it").number
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
    let values = bytes(event, 5).into_iter().flat_map(|summary| bytes(summary, 1));
    let scalar = |value: &[u8]| {
        let tag = String::from_utf8(bytes(value, 1)[0].to_vec()).expect("a tag is text");
        (tag, f32::from_le_bytes(bytes(value, 2)[0].try_into().expect("four bytes")))
    };
    values.map(scalar).collect()
}

#[test]
fn a_run_writes_its_numbers_for_tensorboard() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = dir.path().join("run");
    let config = small_with("steps = 2\ntensorboard = true\neval.tasks_every = 1");
    succeeded(&mut play(&config, dir.path()));
    let files = event_files(&run);
    let [written] = &files[..] else { panic!("{} event files", files.len()) };
    assert_eq!(bytes(&written[0], 3), [b"brain.Event:2"]);
    assert_eq!(written.len(), 4, "the version, the start, and two steps");
    for (event, logged) in written[2..].iter().zip(events(&run)) {
        assert_eq!(Some(number(event, 2)), logged["step"].as_u64());
        let scalars = scalars(event);
        let found = |tag: &str| scalars.iter().find(|(name, _)| name == tag).map(|(_, number)| f64::from(*number));
        let (rate, validation) = (&logged["play"]["roles"][3], &logged["validation"]);
        let solver = format!("play/roles/solver {}/solve_rate", rate["task_type"].as_str().expect("a type"));
        for (tag, number) in [
            ("actor/entropy", &logged["actor/entropy"]),
            (&*solver, &rate["solve_rate"]),
            ("validation/mean/greedy", &validation["mean"]["greedy"]),
            ("validation/rows/deduction/greedy", &validation["rows"][0]["greedy"]),
        ] {
            let written = found(tag).unwrap_or_else(|| panic!("no `{tag}`"));
            assert!((written - number.as_f64().expect("a number")).abs() < 1e-6, "{tag}: {written}, not {number}");
        }
        assert!(found("timing/play_s").is_some_and(|seconds| seconds > 0.0) && found("step").is_none());
    }
    // A resumed run tells TensorBoard from which step on it writes anew.
    succeeded(resume(&run).args(["--steps", "3"]));
    let files = event_files(&run);
    let [_, resumed] = &files[..] else { panic!("{} event files", files.len()) };
    assert_eq!((number(&resumed[1], 2), resumed.len()), (2, 3));
    assert_eq!(number(bytes(&resumed[1], 7)[0], 1), 1);
}
