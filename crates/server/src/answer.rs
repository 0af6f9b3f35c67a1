//! Answers: JSON in one piece, as large as it must be and no larger, and the room that it takes until the client has read it.

use std::io;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use serde::Serialize;

pub(crate) fn json_response(status: StatusCode, record: &impl Serialize) -> Response {
    // Records of answers have only string keys and finite numbers.
    let mut response = Response::new(Body::from(to_json(record).unwrap_or_default()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The JSON of a record. Its length is found first: a buffer that grows would take up to three times as much.
fn to_json(record: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut length = Counter(0);
    serde_json::to_writer(&mut length, record)?;
    let mut json = Vec::with_capacity(length.0);
    serde_json::to_writer(&mut json, record)?;
    Ok(json)
}

pub(crate) fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

/// Bytes of JSON for the output of all programs in one answer.
pub(crate) const OUTPUT_ROOM: usize = 12 << 20;

/// Cuts the output of a program to what fits as JSON into `room`, which loses as much, and returns whether that was less. Control characters take six
/// bytes each there, and bytes that are no text five.
pub(crate) fn cut_output(output: &mut Vec<u8>, room: &mut usize) -> bool {
    let is_text = std::str::from_utf8(output).is_ok();
    let end = output.iter().position(|byte| {
        let cost = match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
            0..0x20 => 6,
            0x80.. if !is_text => 5,
            _ => 1,
        };
        match room.checked_sub(cost) {
            Some(left) => *room = left,
            None => return true,
        }
        false
    });
    let Some(mut end) = end else { return false };
    while is_text && end > 0 && output[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    output.truncate(end);
    // Many cut outputs may stand in one answer.
    output.shrink_to_fit();
    true
}

/// As [`cut_output`], for what has been decoded.
pub(crate) fn cut_text(text: &mut String, room: &mut usize) -> bool {
    let mut bytes = std::mem::take(text).into_bytes();
    let was_cut = cut_output(&mut bytes, room);
    *text = String::from_utf8(bytes).unwrap_or_default();
    was_cut
}

/// The body, which keeps `held` to its end.
pub(crate) fn hold(inner: Body, held: impl Send + 'static) -> Body {
    // The body owns the function, and says of its size what `inner` says.
    Body::new(inner.map_err(move |error| {
        let _ = &held;
        error
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_by_what_it_takes_in_an_answer() {
        for (output, most, kept) in [
            (&b"plain"[..], 5, &b"plain"[..]),
            (b"plain", 4, b"plai"),
            (b"\0\0\0", 12, b"\0\0"),
            (b"a\n\"b", 5, b"a\n\""),
            ("aé€".as_bytes(), 5, "aé".as_bytes()),
            ("aé€".as_bytes(), 2, b"a"),
            (b"\xff\xff", 9, b"\xff"),
            (b"x", 0, b""),
        ] {
            let (mut cut, mut room) = (output.to_vec(), most);
            assert_eq!((cut_output(&mut cut, &mut room), &cut[..]), (kept.len() < output.len(), kept), "{output:?}");
            assert!(cut.capacity() <= output.len(), "{output:?}");
        }
        let (mut first, mut second, mut room) = ("ab\n".to_owned(), "cde".to_owned(), 6);
        assert!(!cut_text(&mut first, &mut room) && cut_text(&mut second, &mut room));
        assert_eq!((first.as_str(), second.as_str(), room), ("ab\n", "cd", 0));
    }

    #[test]
    fn an_answer_is_as_large_as_its_json() {
        let json = to_json(&serde_json::json!({"text": "\u{0}é"})).expect("it is JSON");
        assert_eq!((json.as_slice(), json.capacity()), ("{\"text\":\"\\u0000é\"}".as_bytes(), json.len()));
    }
}
