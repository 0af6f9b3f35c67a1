//! Request bodies: read under a size limit and a time limit, and parsed off the runtime's threads where they are large.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Bodies from this size on are parsed on a thread that may block.
const LARGE: usize = 64 << 10;

/// Bytes that one unit of [`BodyRoom`] stands for.
const ROOM_UNIT: u64 = 1024;

/// Limits of bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    /// The most bytes.
    pub(crate) bytes: u64,
    /// The time in which a body must arrive.
    pub(crate) patience: Duration,
}

/// Room for the bodies of all requests that are under way.
pub(crate) struct BodyRoom {
    units: Arc<Semaphore>,
    limits: BodyLimits,
}

impl BodyRoom {
    /// Room for `all` bytes, or for one body where that is more.
    pub(crate) fn new(all: u64, limits: BodyLimits) -> Self {
        let units = usize::try_from(all.max(limits.bytes) / ROOM_UNIT).unwrap_or(usize::MAX).saturating_add(1);
        Self { units: Arc::new(Semaphore::new(units.min(u32::MAX as usize))), limits }
    }

    /// Waits for room for a body of that many bytes, or of the most that one may have; `None` where there is none in time. The room is given
    /// back when the permit is dropped.
    pub(crate) async fn take(&self, bytes: Option<u64>) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.unwrap_or(self.limits.bytes).min(self.limits.bytes);
        let units = u32::try_from(bytes.div_ceil(ROOM_UNIT)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.units).acquire_many_owned(units);
        tokio::time::timeout(self.limits.patience, permit).await.ok()?.ok()
    }
}

/// A body that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It has more bytes than this.
    TooLarge(u64),
    /// It did not arrive in time.
    TimedOut,
    /// The connection broke, or the body's framing is wrong.
    Broken(String),
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(limit) => Problem::too_large(limit),
            BodyError::TimedOut => Problem::body_timeout(),
            BodyError::Broken(why) => Problem::not_json(format!("the body cannot be read: {why}")),
        }
    }
}

/// Reads the whole body. One that is announced as too large is refused before it has come.
pub(crate) async fn read_body(body: Body, limits: BodyLimits) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > limits.bytes {
        tokio::spawn(discard(body, limits));
        return Err(BodyError::TooLarge(limits.bytes));
    }
    let most = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    let read = tokio::time::timeout(limits.patience, Limited::new(body, most).collect()).await;
    match read {
        Err(_) => Err(BodyError::TimedOut),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge(limits.bytes)),
        Ok(Err(error)) => Err(BodyError::Broken(error.to_string())),
    }
}

/// How many times the most bytes of a body are read of one that is refused.
const DISCARDED: u64 = 4;

/// Reads on for a while and keeps nothing: a client that still sends when its connection is closed may lose the answer
/// that says why.
async fn discard(mut body: Body, limits: BodyLimits) {
    let read = async {
        let mut left = limits.bytes.saturating_mul(DISCARDED);
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    };
    // A client that is too slow has had its answer.
    let _ = tokio::time::timeout(limits.patience, read).await;
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

/// A body that keeps something to its end.
pub(crate) struct HeldBody<T> {
    inner: Body,
    _held: T,
}

impl<T> HeldBody<T> {
    pub(crate) const fn new(inner: Body, held: T) -> Self {
        Self { inner, _held: held }
    }
}

impl<T: Unpin> HttpBody for HeldBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
