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
    Shape { at: usize, what: &'static str },
}

/// Names of opcodes that a hostile or strange pickle is likely to hold; the others are told by their byte.
const NAMES: &str = "\
    28 MARK, 29 EMPTY_TUPLE, 30 POP, 32 DUP, 42 BINBYTES, 43 SHORT_BINBYTES, 46 FLOAT, 49 INT, 4b BININT1, \
    4e NONE, 50 PERSID, 51 BINPERSID, 52 REDUCE, 53 STRING, 54 BINSTRING, 55 SHORT_BINSTRING, 56 UNICODE, \
    5d EMPTY_LIST, 61 APPEND, 62 BUILD, 63 GLOBAL, 65 APPENDS, 67 GET, 68 BINGET, 69 INST, 6a LONG_BINGET, \
    6f OBJ, 70 PUT, 74 TUPLE, 7d EMPTY_DICT, 81 NEWOBJ, 82 EXT1, 83 EXT2, 84 EXT4, 85 TUPLE1, 8e BINBYTES8, \
    92 NEWOBJ_EX, 93 STACK_GLOBAL, 96 BYTEARRAY8, 97 NEXT_BUFFER";

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
    let known = NAMES.split(", ").find_map(|entry| entry.strip_prefix(&format!("{opcode:02x} ")));
    known.map_or_else(|| format!("{opcode:#04x}"), str::to_owned)
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
