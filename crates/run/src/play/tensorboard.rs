//! TensorBoard event files: the numbers of each step as scalars, with the names that they have in `events.jsonl`.
//!
//! An event file is a list of records: length, checksum of the length, a protocol buffer `Event`, its checksum. The few fields that scalars
//! need are written by hand.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Says which version the format has. TensorBoard drops the steps that a resumed run writes again only from this version on.
const FILE_VERSION: &[u8] = b"brain.Event:2";

/// Fields of `Event`.
const WALL_TIME: u64 = 1;
const STEP: u64 = 2;
const VERSION: u64 = 3;
const SUMMARY: u64 = 5;
const SESSION_LOG: u64 = 7;
/// Fields of `Summary`, of its `Value` and of `SessionLog`.
const VALUE: u64 = 1;
const TAG: u64 = 1;
const SIMPLE_VALUE: u64 = 2;
const STATUS: u64 = 1;
/// `SessionLog.START`: what an earlier file has of this step and later ones counts no more.
const START: u64 = 1;

/// The event file of this process. A resumed run begins another one.
pub(crate) struct EventFile(File);

impl EventFile {
    /// Begins a file in the run directory, whose next step is `step`.
    pub(crate) fn create(folder: &Path, step: u64) -> io::Result<Self> {
        let now = now();
        // TensorBoard reads the files of a folder in the order of their names.
        let name = format!("events.out.tfevents.{:010}.{:09}.veriplay", now.as_secs(), now.subsec_nanos());
        let file = OpenOptions::new().write(true).create_new(true).open(folder.join(name))?;
        let mut events = Self(file);
        let (mut version, mut start, mut log) = (event(now, 0), event(now, step), Vec::new());
        add_bytes(&mut version, VERSION, FILE_VERSION);
        add_number(&mut log, STATUS, START);
        add_bytes(&mut start, SESSION_LOG, &log);
        events.write(&[version, start])?;
        Ok(events)
    }

    pub(crate) fn append(&mut self, step: u64, numbers: &[(String, f64)]) -> io::Result<()> {
        self.write(&[scalars(now(), step, numbers)])
    }

    /// Appends events as one write, so that a reader meets whole ones.
    fn write(&mut self, events: &[Vec<u8>]) -> io::Result<()> {
        self.0.write_all(&events.iter().flat_map(|event| record(event)).collect::<Vec<u8>>())
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn scalars(now: Duration, step: u64, numbers: &[(String, f64)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, number) in numbers {
        let mut value = Vec::new();
        add_bytes(&mut value, TAG, tag.as_bytes());
        add_key(&mut value, SIMPLE_VALUE, 5);
        value.extend((*number as f32).to_le_bytes());
        add_bytes(&mut summary, VALUE, &value);
    }
    let mut event = event(now, step);
    add_bytes(&mut event, SUMMARY, &summary);
    event
}

fn event(now: Duration, step: u64) -> Vec<u8> {
    let mut event = Vec::new();
    add_key(&mut event, WALL_TIME, 1);
    event.extend(now.as_secs_f64().to_le_bytes());
    add_number(&mut event, STEP, step);
    event
}

fn add_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    add_key(message, field, 2);
    add_varint(message, bytes.len() as u64);
    message.extend(bytes);
}

fn add_number(message: &mut Vec<u8>, field: u64, number: u64) {
    add_key(message, field, 0);
    add_varint(message, number);
}

/// `wire` says how the value is written: 0 a varint, 1 eight bytes, 2 a length and bytes, 5 four bytes.
fn add_key(message: &mut Vec<u8>, field: u64, wire: u64) {
    add_varint(message, field << 3 | wire);
}

fn add_varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

/// An event with its length and checksums.
fn record(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    [&length[..], &masked_crc(&length), event, &masked_crc(event)].concat()
}

/// The checksum of a record: masked, because data may contain records.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// CRC-32C (Castagnoli).
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::{crc32c, masked_crc};

    /// The vectors of RFC 3720, appendix B.4.
    #[test]
    fn the_checksum_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
        assert_eq!(masked_crc(b"123456789"), 0xe306_9283_u32.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    }
}
