//! The rows of a file, one by one: JSONL, or one JSON array; plain, or gzip, told by its first bytes. Called by the readers
//! of problems and of attempts.
//!
//! Invariants: JSONL is read line by line, an array at once; no line, and no array, is longer than the cap; a row keeps the
//! number of the line it starts in; blank lines are no rows.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::CorpusError;

/// The first bytes of a gzip file (RFC 1952, §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// One row's text, or why it has none.
pub(super) struct RawRow {
    /// Line it starts in, from 1.
    pub(super) line: usize,
    pub(super) text: Result<String, String>,
}

/// An iterator over the rows of one file.
pub(super) struct Rows {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    /// Maximum bytes of a line or an array.
    cap: u64,
    line: usize,
    /// Rows of an array that are still to be given out; `None` for JSONL.
    array: Option<VecDeque<RawRow>>,
    /// The end, or an error of the file system, has been met.
    done: bool,
}

impl Rows {
    pub(super) fn open(path: &Path, cap: u64) -> Result<Self, CorpusError> {
        let file = File::open(path).map_err(CorpusError::io(path))?;
        Self::over(path, BufReader::new(file), cap)
    }

    /// The rows of `plain`, which `path` names.
    pub(super) fn over(path: &Path, mut plain: impl BufRead + Send + 'static, cap: u64) -> Result<Self, CorpusError> {
        let start = plain.fill_buf().map_err(CorpusError::io(path))?;
        let reader: Box<dyn BufRead + Send> = match start.starts_with(&GZIP) {
            true => Box::new(BufReader::new(MultiGzDecoder::new(plain))),
            false => Box::new(plain),
        };
        let mut rows = Self { path: path.to_owned(), reader, cap, line: 0, array: None, done: false };
        rows.skip_blank().and_then(|()| rows.read_array()).map_err(CorpusError::io(path))?;
        Ok(rows)
    }

    /// Moves to the first byte that is no white space and no byte order mark.
    fn skip_blank(&mut self) -> std::io::Result<()> {
        loop {
            let start = self.reader.fill_buf()?;
            let blank = start.iter().take_while(|byte| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte));
            let (count, all) = (blank.count(), start.len());
            self.line += start[..count].iter().filter(|byte| **byte == b'\n').count();
            self.reader.consume(count);
            if count < all || all == 0 {
                return Ok(());
            }
        }
    }

    /// A row is an object, so a file that starts with a bracket is one array.
    fn read_array(&mut self) -> std::io::Result<()> {
        if self.reader.fill_buf()?.first() != Some(&b'[') {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.reader.by_ref().take(self.cap.saturating_add(1)).read_to_end(&mut bytes)?;
        let line = self.line + 1;
        self.array = Some(match bytes.len() as u64 > self.cap {
            true => {
                VecDeque::from([RawRow { line, text: Err(format!("the array is longer than {} bytes", self.cap)) }])
            }
            false => split_array(&bytes, line),
        });
        Ok(())
    }

    fn next_line(&mut self) -> std::io::Result<Option<RawRow>> {
        loop {
            let mut bytes = Vec::new();
            let read = self.reader.by_ref().take(self.cap.saturating_add(1)).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            let line = self.line;
            if read as u64 > self.cap && !bytes.ends_with(b"\n") {
                self.reader.skip_until(b'\n')?;
                return Ok(Some(RawRow { line, text: Err(format!("the line is longer than {} bytes", self.cap)) }));
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(RawRow { line, text: utf8(bytes) }));
            }
        }
    }
}

impl Iterator for Rows {
    type Item = Result<RawRow, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(array) = &mut self.array {
            return array.pop_front().map(Ok);
        }
        if self.done {
            return None;
        }
        let row = self.next_line().map_err(CorpusError::io(&self.path));
        self.done = !matches!(row, Ok(Some(_)));
        row.transpose()
    }
}

fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
}

/// Cuts an array at its own commas. What stands between them is not looked at, so that one bad row is one bad row.
fn split_array(bytes: &[u8], first_line: usize) -> VecDeque<RawRow> {
    let mut cutter = ArrayCutter { bytes, rows: VecDeque::new(), start: 1, line: first_line };
    let (mut depth, mut quoted, mut at) = (0_usize, false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => depth += 1,
            b',' if depth == 1 => cutter.cut(at, false),
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    cutter.cut(at, true);
                    return cutter.end(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    cutter.cut(bytes.len(), true);
    cutter.fail("the array does not end");
    cutter.rows
}

struct ArrayCutter<'a> {
    bytes: &'a [u8],
    rows: VecDeque<RawRow>,
    start: usize,
    line: usize,
}

impl ArrayCutter<'_> {
    /// Takes what stands before `at` as a row. Nothing before the closing bracket is none: `[]`, or a comma at the end.
    fn cut(&mut self, at: usize, last: bool) {
        let piece = &self.bytes[self.start..at];
        let blank = piece.len() - piece.trim_ascii_start().len();
        self.line += newlines(&piece[..blank]);
        if !(last && blank == piece.len()) {
            self.rows.push_back(RawRow { line: self.line, text: utf8(piece[blank..].to_vec()) });
        }
        self.line += newlines(&piece[blank..]);
        self.start = at + 1;
    }

    /// Looks at what follows the closing bracket.
    fn end(mut self, at: usize) -> VecDeque<RawRow> {
        if !self.bytes[at..].trim_ascii().is_empty() {
            self.fail("text follows the end of the array");
        }
        self.rows
    }

    fn fail(&mut self, why: &str) {
        self.rows.push_back(RawRow { line: self.line, text: Err(why.to_owned()) });
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}
