//! Request bodies: read under a size limit and a time limit, and parsed off the runtime's threads where they are large.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Bodies from this size on are parsed on a thread that may block.
const LARGE: usize = 64 << 10;

/// Bytes that one permit of [`BodyLimits::room`] stands for.
const ROOM_UNIT: u64 = 1024;

/// Limits of bodies.
#[derive(Debug, Clone)]
pub(crate) struct BodyLimits {
    /// The most bytes of one.
    pub(crate) bytes: u64,
    /// The time in which a body must arrive.
    pub(crate) patience: Duration,
    /// Room for all bodies whose requests are under way.
    room: Arc<Semaphore>,
}

/// A body's share of the room. It is given back when the request is answered.
pub(crate) struct BodyRoom {
    _permit: OwnedSemaphorePermit,
}

impl BodyLimits {
    /// Bodies of at most `bytes` each, and of `all` together, or of one where that is more.
    pub(crate) fn new(bytes: u64, all: u64, patience: Duration) -> Self {
        let units = usize::try_from(all.max(bytes) / ROOM_UNIT).unwrap_or(usize::MAX) + 1;
        Self { bytes, patience, room: Arc::new(Semaphore::new(units.min(u32::MAX as usize))) }
    }

    /// Waits for room for a body of which at most `bytes` are known to come.
    async fn take_room(&self, bytes: u64) -> Result<BodyRoom, BodyError> {
        let units = u32::try_from(bytes / ROOM_UNIT + 1).unwrap_or(u32::MAX);
        let permit = tokio::time::timeout(self.patience, Arc::clone(&self.room).acquire_many_owned(units)).await;
        match permit {
            Ok(Ok(permit)) => Ok(BodyRoom { _permit: permit }),
            Ok(Err(_)) | Err(_) => Err(BodyError::NoRoom),
        }
    }
}

/// A body that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It has more bytes than this.
    TooLarge(u64),
    /// It did not arrive in time.
    TimedOut,
    /// Too many others are under way.
    NoRoom,
    /// The connection broke, or the body's framing is wrong.
    Broken(String),
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(limit) => Problem::too_large(limit),
            BodyError::TimedOut => Problem::body_timeout(),
            BodyError::NoRoom => {
                Problem::queue_full("the bodies of other requests take all the memory that there is for them")
            }
            BodyError::Broken(why) => Problem::not_json(format!("the body cannot be read: {why}")),
        }
    }
}

/// Reads the whole body, once there is room for it.
pub(crate) async fn read_body(body: Body, limits: &BodyLimits) -> Result<(Bytes, BodyRoom), BodyError> {
    let size = body.size_hint();
    if size.lower() > limits.bytes {
        return Err(BodyError::TooLarge(limits.bytes));
    }
    let room = limits.take_room(size.upper().unwrap_or(limits.bytes).min(limits.bytes)).await?;
    let most = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    let read = tokio::time::timeout(limits.patience, Limited::new(body, most).collect()).await;
    match read {
        Err(_) => Err(BodyError::TimedOut),
        Ok(Ok(collected)) => Ok((collected.to_bytes(), room)),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge(limits.bytes)),
        Ok(Err(error)) => Err(BodyError::Broken(error.to_string())),
    }
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
            serde_json::error::Category::Data => Problem::invalid(path, inner.to_string()),
            _ => Problem::not_json(inner.to_string()),
        }
    })?;
    deserializer.end().map_err(|error| Problem::not_json(error.to_string()))?;
    Ok(record)
}

/// A JSON answer.
pub(crate) fn json_response(status: StatusCode, record: &impl Serialize) -> Response {
    let mut response = match serde_json::to_vec(record) {
        Ok(json) => Response::new(Body::from(json)),
        // Records of answers have only string keys and finite numbers.
        Err(_) => Response::new(Body::empty()),
    };
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
