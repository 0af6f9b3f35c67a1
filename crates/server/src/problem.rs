//! Errors of the native endpoints: `application/problem+json` (RFC 9457), with the field's name.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Seconds after which a client that was refused should try again.
const RETRY_AFTER: u64 = 1;

/// An error of a native endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// A name for programs: `urn:veriplay:unknown-task`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The same in words; equal for all problems of a type.
    pub(crate) title: &'static str,
    /// The HTTP status code.
    pub(crate) status: u16,
    /// What is wrong with this request.
    pub(crate) detail: String,
    /// Path of the field in the request's body, such as `attempts[3].task_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// Whether the connection must end with the answer.
    #[serde(skip)]
    pub(crate) ends_connection: bool,
}

impl Problem {
    fn new(status: StatusCode, name: &str, title: &'static str, detail: impl Into<String>) -> Self {
        let kind = format!("urn:veriplay:{name}");
        Self { kind, title, status: status.as_u16(), detail: detail.into(), field: None, ends_connection: false }
    }

    /// The body, or a field of it, is not what the endpoint takes.
    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let field = Some(field.into()).filter(|field| !field.is_empty());
        Self {
            field,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-request", "The request is invalid", detail)
        }
    }

    pub(crate) fn not_json(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "not-json", "The body is not JSON", detail)
    }

    /// Refuses a body that is not said to be JSON. A page in a browser cannot say so without asking first.
    pub(crate) fn check_json(headers: &HeaderMap) -> Result<(), Self> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json")) {
            return Ok(());
        }
        let detail = format!("the content type is `{kind}`; send `application/json`");
        Err(Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json-type", "The body is not said to be JSON", detail))
    }

    /// Refuses a body that is packed: its size would be known only once it is unpacked.
    pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), Self> {
        let encodings = headers.get_all(header::CONTENT_ENCODING);
        let packed = encodings.iter().find(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
        let Some(packed) = packed else { return Ok(()) };
        let detail = format!("the content encoding is `{}`; send the body as it is", packed.to_str().unwrap_or("?"));
        Err(Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "encoded-body", "The body is encoded", detail))
    }

    /// Refuses a request whose end a proxy may see elsewhere than this service does: what follows it on the connection could pass for a request of
    /// somebody else's (RFC 9112, section 6.3). The connection must end with the answer.
    pub(crate) fn check_framing(headers: &HeaderMap) -> Result<(), Self> {
        let codings: Vec<&HeaderValue> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
        let detail = match codings.as_slice() {
            [] => return Ok(()),
            [one] if one.as_bytes().eq_ignore_ascii_case(b"chunked") => return Ok(()),
            [one] => format!("`{}` is not `chunked`", one.to_str().unwrap_or("?")),
            several => format!("it is given {} times", several.len()),
        };
        let detail = format!("`Transfer-Encoding`: {detail}; send `chunked` or a length");
        let problem = Self::new(StatusCode::BAD_REQUEST, "odd-framing", "The end of the body is in doubt", detail);
        Err(Self { ends_connection: true, ..problem })
    }

    /// The request comes from a page that is not of this machine.
    pub(crate) fn foreign_page() -> Self {
        let detail = "a page of another site sent this request, and no token is asked for";
        Self::new(StatusCode::FORBIDDEN, "foreign-page", "A page of another site", detail)
    }

    /// A digest names no task that is kept.
    pub(crate) fn unknown_task(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::NOT_FOUND, "unknown-task", "The task is not kept; send its row", detail);
        Self { field: Some(field.into()), ..problem }
    }

    pub(crate) fn too_large(limit: u64) -> Self {
        let detail = format!("the body is longer than {limit} bytes; split the request");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }

    /// The body is short, and its values are many.
    pub(crate) fn too_heavy(weight: u64) -> Self {
        let mib = weight >> 20;
        let detail = format!(
            "the values in the body would take about {mib} MiB of memory, many times its length; split the request"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }

    /// The answers that clients are slow to read take all the memory that there is for them.
    pub(crate) fn no_room_for_answer() -> Self {
        Self::unavailable(
            "other answers, which their clients have not read, take all the memory that there is for them; try again",
        )
    }

    pub(crate) fn body_timeout() -> Self {
        let detail = "the body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "body-timeout", "The body is too slow", detail)
    }

    pub(crate) fn queue_full(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "queue-full", "The queue is full", detail)
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The service is starting or stopping", detail)
    }

    pub(crate) fn no_token() -> Self {
        let detail = "the request has no known bearer token; send `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "no-token", "A token is required", detail)
    }

    pub(crate) fn no_route(path: &str) -> Self {
        let detail = format!("there is no `{path}`; /openapi.json lists the endpoints");
        Self::new(StatusCode::NOT_FOUND, "no-such-path", "No such path", detail)
    }

    pub(crate) fn wrong_method(method: &str) -> Self {
        let detail = format!("this path does not take {method}; /openapi.json lists the endpoints");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", "Wrong method", detail)
    }

    pub(crate) fn fault() -> Self {
        let detail = "it failed each of three times; the service's log has the cause";
        Self::new(StatusCode::BAD_GATEWAY, "host-fault", "The sandbox failed, not the program", detail)
    }

    pub(crate) fn deadline(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "deadline", "The deadline passed first", detail)
    }

    pub(crate) fn bug() -> Self {
        let detail = "the service failed; its log has the request's id";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", "A bug of the service", detail)
    }

    fn headers(&self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if matches!(self.status, 429 | 503) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
        }
        if self.ends_connection {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.headers(&mut response);
        response
    }
}
