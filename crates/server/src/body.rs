//! Request bodies: read under a size limit and a time limit, and parsed off the runtime's threads where they are large.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// Bodies from this size on are parsed on a thread that may block.
const LARGE: usize = 64 << 10;

/// Limits of bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    /// The most bytes.
    pub(crate) bytes: u64,
    /// The time in which a body must arrive.
    pub(crate) patience: Duration,
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

/// Reads the whole body.
pub(crate) async fn read_body(body: Body, limits: BodyLimits) -> Result<Bytes, BodyError> {
    let most = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    let read = tokio::time::timeout(limits.patience, Limited::new(body, most).collect()).await;
    match read {
        Err(_) => Err(BodyError::TimedOut),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
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
