//! Frames between a worker and its parent: four bytes of length, little-endian, then JSON.
//!
//! JSON is slower than what else there is and the records are small; it needs no second description of them.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// One side's end of the socket. Its buffer holds most frames whole, so that one call reads a frame.
pub(super) type Pipe = BufReader<UnixStream>;

const BUFFER: usize = 64 << 10;

/// A frame of more bytes is written as it is made and read as it comes, which is slower and does without memory for all of it.
const LONG: u64 = 256 << 10;

pub(super) fn over(socket: UnixStream) -> Pipe {
    BufReader::with_capacity(BUFFER, socket)
}

/// Sends one record. A long one is written as it is made, once its length is known: as text its values take several times their memory.
/// Fails when the other side is gone, or the record has no JSON or is too long for a frame.
pub(super) fn send(pipe: &mut impl Write, record: &impl Serialize) -> io::Result<()> {
    let mut frame = ShortFrame { bytes: vec![0; 4], length: 0 };
    serde_json::to_writer(&mut frame, record)?;
    let length = u32::try_from(frame.length).map_err(|_| io::Error::other("a frame of 4 GiB or more"))?;
    if frame.is_long() {
        let mut out = BufWriter::with_capacity(BUFFER, pipe);
        out.write_all(&length.to_le_bytes())?;
        serde_json::to_writer(&mut out, record)?;
        return out.flush();
    }
    frame.bytes[..4].copy_from_slice(&length.to_le_bytes());
    pipe.write_all(&frame.bytes)
}

/// The length of a frame, and its bytes where it is not long.
struct ShortFrame {
    bytes: Vec<u8>,
    length: u64,
}

impl ShortFrame {
    const fn is_long(&self) -> bool {
        self.length > LONG
    }
}

impl Write for ShortFrame {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.length += part.len() as u64;
        if self.is_long() {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Receives one record, of at most `max_bytes`; `None` when the other side has closed the pipe between two frames.
/// Fails when the frame is longer, is cut, or holds anything else.
pub(super) fn receive<T: DeserializeOwned>(pipe: &mut impl Read, max_bytes: u64) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if pipe.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    pipe.read_exact(&mut length[1..])?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > max_bytes {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("a frame of {length} bytes, {max_bytes} at most")));
    }
    if length > LONG {
        let mut frame = pipe.take(length);
        let record = serde_json::from_reader(BufReader::with_capacity(BUFFER, &mut frame))?;
        // It has read on to the end of the frame, or of the pipe.
        return if frame.limit() == 0 { Ok(Some(record)) } else { Err(ErrorKind::UnexpectedEof.into()) };
    }
    // Grows with what really comes: a length alone allocates nothing.
    let mut frame = Vec::new();
    if pipe.take(length).read_to_end(&mut frame)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&frame)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_sent_is_received(records in prop::collection::vec(".*", 0..4)) {
            let mut pipe = Vec::new();
            records.iter().try_for_each(|record| send(&mut pipe, record)).unwrap();
            let mut pipe = pipe.as_slice();
            for record in records {
                prop_assert_eq!(receive::<String>(&mut pipe, 1 << 20).unwrap(), Some(record));
            }
            prop_assert!(receive::<String>(&mut pipe, 1 << 20).unwrap().is_none());
        }

        #[test]
        fn any_bytes_at_all_are_an_error_or_a_record(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = receive::<Vec<u8>>(&mut bytes.as_slice(), 16);
        }
    }

    #[test]
    fn a_frame_that_is_cut_or_too_long_or_no_json_is_an_error() {
        let frame = |length: u32, body: &[u8]| [&length.to_le_bytes(), body].concat();
        for bytes in [frame(9, b"[1,2]"), frame(5, b"[1,2}"), frame(17, &[b' '; 17]), frame(u32::MAX, b""), vec![3, 0]]
        {
            assert!(receive::<Vec<u8>>(&mut bytes.as_slice(), 16).is_err(), "{bytes:?}");
        }
        assert_eq!(receive::<Vec<u8>>(&mut frame(5, b"[1,2]").as_slice(), 16).unwrap(), Some(vec![1, 2]));
    }

    #[test]
    fn a_long_frame_is_the_same_as_a_short_one() {
        let text = "é\0".repeat(100_000);
        let mut frames = Vec::new();
        send(&mut frames, &text).unwrap();
        assert!(frames.len() as u64 > LONG);
        let cut = frames.len() - 1;
        assert!(receive::<String>(&mut &frames[..cut], 1 << 20).is_err());
        let mut padded = frames.clone();
        padded.push(b'x');
        let length = u32::try_from(padded.len() - 4).unwrap();
        padded[..4].copy_from_slice(&length.to_le_bytes());
        assert!(receive::<String>(&mut padded.as_slice(), 1 << 20).is_err());
        send(&mut frames, &"next").unwrap();
        let mut pipe = frames.as_slice();
        assert_eq!(receive::<String>(&mut pipe, 1 << 20).unwrap(), Some(text));
        assert_eq!(receive::<String>(&mut pipe, 1 << 20).unwrap().as_deref(), Some("next"));
    }
}
