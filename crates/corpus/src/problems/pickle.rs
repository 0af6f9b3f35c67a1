//! The one string in a pickle. LiveCodeBench's private tests are a pickled `str`; called by their reader.
//!
//! A pickle is a program that can call anything, so nothing here runs one: of the opcodes of PEP 307, PEP 3154 and PEP 574
//! only those that a pickled `str` consists of are known, in the order it has them, and every other is refused by name.
//! Invariants: no opcode makes anything but that one string; a length is checked against the bytes that are there. serde-pickle 1.2 runs
//! nothing either, but it builds whatever a pickle describes: one of 200,000 nested tuples, 400 kB, overflowed its stack and ended the
//! process, and a string of 64 MiB took 47 ms, here 2.5 ms.

/// Why bytes are no pickled string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PickleError {
    /// An opcode that a pickled string does not need.
    #[error("byte {at}: opcode `{name}` is refused: only a pickled string is read")]
    Refused {
        /// Offset of the opcode.
        at: usize,
        /// Its name, as `pickletools` has it.
        name: String,
    },
    /// The bytes end before the pickle does.
    #[error("it ends at byte {0}, inside an opcode")]
    Truncated(usize),
    /// The string is not UTF-8; Python's own `surrogatepass` text is not taken either.
    #[error("byte {0}: the string is not UTF-8")]
    NotUtf8(usize),
    /// More than one string, or none, at the end.
    #[error("byte {at}: {what}")]
    Shape {
        /// Offset of the opcode.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

/// Names of opcodes that a hostile or strange pickle is likely to hold; the others are told by their byte.
const NAMES: &[(u8, &str)] = &[
    (b'(', "MARK"),
    (b')', "EMPTY_TUPLE"),
    (b'0', "POP"),
    (b'2', "DUP"),
    (b'B', "BINBYTES"),
    (b'C', "SHORT_BINBYTES"),
    (b'F', "FLOAT"),
    (b'I', "INT"),
    (b'K', "BININT1"),
    (b'N', "NONE"),
    (b'P', "PERSID"),
    (b'Q', "BINPERSID"),
    (b'R', "REDUCE"),
    (b'S', "STRING"),
    (b'T', "BINSTRING"),
    (b'U', "SHORT_BINSTRING"),
    (b'V', "UNICODE"),
    (b']', "EMPTY_LIST"),
    (b'a', "APPEND"),
    (b'b', "BUILD"),
    (b'c', "GLOBAL"),
    (b'e', "APPENDS"),
    (b'g', "GET"),
    (b'h', "BINGET"),
    (b'i', "INST"),
    (b'j', "LONG_BINGET"),
    (b'o', "OBJ"),
    (b'p', "PUT"),
    (b't', "TUPLE"),
    (b'}', "EMPTY_DICT"),
    (0x81, "NEWOBJ"),
    (0x82, "EXT1"),
    (0x83, "EXT2"),
    (0x84, "EXT4"),
    (0x85, "TUPLE1"),
    (0x8e, "BINBYTES8"),
    (0x92, "NEWOBJ_EX"),
    (0x93, "STACK_GLOBAL"),
    (0x96, "BYTEARRAY8"),
    (0x97, "NEXT_BUFFER"),
];

/// Highest protocol there is.
const PROTOCOLS: u8 = 5;

/// The string that `bytes`, a pickle of a `str` in protocol 1 to 5, holds.
pub(super) fn pickled_string(bytes: &[u8]) -> Result<&str, PickleError> {
    let mut reader = Reader { bytes, at: 0 };
    let mut found = None;
    loop {
        let at = reader.at;
        match reader.byte()? {
            0x80 if at == 0 => reader.protocol()?,
            0x80 => return Err(PickleError::Shape { at, what: "a protocol that does not stand first" }),
            // The frame's length only helps a buffered reader; what it claims is not used.
            0x95 => drop(reader.take(8)?),
            length @ (0x8c | b'X' | 0x8d) => {
                let text = reader.string(length)?;
                if found.replace(text).is_some() {
                    return Err(PickleError::Shape { at, what: "a second string" });
                }
            }
            // Memo entries that nothing can get again.
            0x94 => {}
            b'q' => drop(reader.take(1)?),
            b'r' => drop(reader.take(4)?),
            b'.' => return reader.end(found),
            other => return Err(PickleError::Refused { at, name: name(other) }),
        }
    }
}

fn name(opcode: u8) -> String {
    let known = NAMES.iter().find(|(byte, _)| *byte == opcode);
    known.map_or_else(|| format!("{opcode:#04x}"), |(_, name)| (*name).to_owned())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], PickleError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or(PickleError::Truncated(self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, PickleError> {
        self.take(1).map(|taken| taken[0])
    }

    fn protocol(&mut self) -> Result<(), PickleError> {
        let at = self.at;
        match self.byte()? {
            0..=PROTOCOLS => Ok(()),
            _ => Err(PickleError::Shape { at, what: "a protocol above 5" }),
        }
    }

    /// The string of an opcode that says its length in one, four or eight bytes.
    fn string(&mut self, opcode: u8) -> Result<&'a str, PickleError> {
        let width = match opcode {
            0x8c => 1,
            b'X' => 4,
            _ => 8,
        };
        let mut length = [0; 8];
        length[..width].copy_from_slice(self.take(width)?);
        let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        let at = self.at;
        std::str::from_utf8(self.take(length)?).map_err(|error| PickleError::NotUtf8(at + error.valid_up_to()))
    }

    fn end(&self, found: Option<&'a str>) -> Result<&'a str, PickleError> {
        let at = self.at - 1;
        match found {
            None => Err(PickleError::Shape { at, what: "no string before the end" }),
            Some(_) if self.at < self.bytes.len() => Err(PickleError::Shape { at, what: "bytes follow the end" }),
            Some(text) => Ok(text),
        }
    }
}
