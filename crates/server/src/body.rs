//! Request bodies: read under a size limit and a time limit, and parsed off the runtime's threads where they are large.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout_at;
use veriplay_core::{most_text_weight, text_weight};

use crate::body_room::BodyClaim;
use crate::problem::Problem;
use crate::service::Settings;

/// Bodies from this size on are parsed on a thread that may block.
const LARGE: usize = 16 << 10;

/// Values that weigh no more take no room of their own: most bodies hold few.
const LIGHT: u64 = 64 << 10;

/// What the outermost layer notes of a request when its head has arrived.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) claim: Arc<BodyClaim>,
}

/// The body of a request, which has not been read.
pub(crate) struct RequestBody {
    body: Body,
    arrival: Arrival,
}

impl RequestBody {
    pub(crate) fn arrived(&self) -> Instant {
        self.arrival.at
    }
}

impl<S: Send + Sync> FromRequest<S> for RequestBody {
    type Rejection = Problem;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, Problem> {
        // The outermost layer puts it there.
        let arrival = request.extensions_mut().remove::<Arrival>().ok_or_else(Problem::bug)?;
        Ok(Self { body: request.into_body(), arrival })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It has more bytes than this.
    TooLarge(u64),
    TimedOut,
    /// Other bodies took all the room, for too long.
    NoRoom,
    /// Its values would take so many bytes.
    TooHeavy(u64),
    /// The connection broke, or the body's framing is wrong.
    Broken(String),
}

/// What a client without room for its body is told.
const NO_ROOM: &str = "the bodies of other requests take all the memory that there is for them; try again";

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(limit) => Problem::too_large(limit),
            BodyError::TimedOut => Problem::body_timeout(),
            BodyError::NoRoom => Problem::queue_full(NO_ROOM),
            BodyError::TooHeavy(weight) => Problem::too_heavy(weight),
            BodyError::Broken(why) => Problem::not_json(format!("the body cannot be read: {why}")),
        }
    }
}

/// Reads the whole body. One that is announced as too large is refused before it has come. Room is waited for until `deadline` at most, for a client
/// that would not read a later answer.
pub(crate) async fn read_body(
    request: RequestBody,
    settings: &Settings,
    deadline: Option<Instant>,
) -> Result<Bytes, BodyError> {
    let RequestBody { mut body, arrival } = request;
    let (most, patience) = (settings.body_bytes, settings.body_patience);
    if body.size_hint().lower() > most {
        tokio::spawn(discard(body, most, patience));
        return Err(BodyError::TooLarge(most));
    }
    let until = Instant::now() + patience;
    let room_until = deadline.map_or(until, |deadline| deadline.min(until));
    // Pieces are copied: one that is kept would keep the whole buffer of its connection.
    let mut whole = Vec::<u8>::new();
    let announced = usize::try_from(body.size_hint().upper().unwrap_or(most)).unwrap_or(usize::MAX);
    loop {
        let frame = match timeout_at(until.into(), body.frame()).await {
            Err(_) => return Err(BodyError::TimedOut),
            Ok(None) => break,
            Ok(Some(Err(error))) => return Err(BodyError::Broken(error.to_string())),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(piece) = frame.into_data() else { continue };
        if (whole.len() + piece.len()) as u64 > most {
            return Err(BodyError::TooLarge(most));
        }
        let admitted = timeout_at(room_until.into(), arrival.claim.take(piece.len() as u64));
        if admitted.await.is_err() {
            arrival.claim.abandon();
            tokio::spawn(discard(body, most, patience));
            return Err(BodyError::NoRoom);
        }
        grow(&mut whole, piece.len(), announced);
        whole.extend_from_slice(&piece);
    }
    arrival.claim.complete();
    let whole = Bytes::from(whole);
    let weight = parse_body(whole.clone(), text_weight).await.map_err(|_| BodyError::NoRoom)?;
    let can_never_fit = weight > LIGHT && !arrival.claim.could_take(whole.len() as u64 + weight);
    if weight > most_text_weight(whole.len()) || can_never_fit {
        return Err(BodyError::TooHeavy(weight));
    }
    if weight > LIGHT && !arrival.claim.try_take(weight) {
        return Err(BodyError::NoRoom);
    }
    Ok(whole)
}

/// Makes space for `more` bytes: twice what there was, and no more than the body was announced to have.
fn grow(whole: &mut Vec<u8>, more: usize, announced: usize) {
    let needed = whole.len() + more;
    if whole.capacity() < needed {
        let wanted = whole.capacity().saturating_mul(2).min(announced).max(needed);
        whole.reserve_exact(wanted - whole.len());
    }
}

/// How many times the most bytes of a body are read of one that is refused.
const DISCARDED: u64 = 4;

/// Reads on for a while and keeps nothing: a client that still sends when its connection is closed may lose the answer
/// that says why.
async fn discard(mut body: Body, most: u64, patience: Duration) {
    let read = async {
        let mut left = most.saturating_mul(DISCARDED);
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    };
    // A client that is too slow has had its answer.
    let _ = tokio::time::timeout(patience, read).await;
}

/// Runs `parse` on the body: here where it is small, else on a thread that may block.
pub(crate) async fn parse_body<T: Send + 'static>(
    body: Bytes,
    parse: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Result<T, Problem> {
    if body.len() < LARGE {
        return Ok(parse(&body));
    }
    tokio::task::spawn_blocking(move || parse(&body)).await.map_err(|_| Problem::bug())
}

/// Parses JSON into a record. The problem names the field.
pub(crate) fn parse_record<T: DeserializeOwned>(json: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let record = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        let inner = error.into_inner();
        match inner.classify() {
            serde_json::error::Category::Data => {
                let detail = inner.to_string();
                Problem::invalid(name_field(path, &detail), in_plain_words(&detail))
            }
            _ => Problem::not_json(inner.to_string()),
        }
    })?;
    deserializer.end().map_err(|error| Problem::not_json(error.to_string()))?;
    Ok(record)
}

/// What serde expects, and what a client reads.
const EXPECTED: [(&str, &str); 4] =
    [("i64", "a whole number"), ("f64", "a number"), ("a sequence", "an array"), ("a map", "an object")];

/// A message of serde without the names of Rust's types.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let found = match found {
        "invalid type: sequence" => "invalid type: array",
        "invalid type: map" => "invalid type: object",
        other => other,
    };
    let plain = EXPECTED.iter().find_map(|(rust, plain)| Some(format!("{plain}{}", expected.strip_prefix(rust)?)));
    format!("{found}, expected {}", plain.as_deref().unwrap_or(expected))
}

/// The path of an error. That of a field which is missing, or is there twice, ends at its object; the field's name is only in serde's message.
fn name_field(object: String, message: &str) -> String {
    let mut rests =
        ["missing field `", "duplicate field `"].into_iter().filter_map(|start| message.strip_prefix(start));
    let name = rests.next().and_then(|rest| Some(rest.split_once('`')?.0));
    match name {
        None => object,
        Some(name) if object.is_empty() => name.to_owned(),
        Some(name) => format!("{object}.{name}"),
    }
}
