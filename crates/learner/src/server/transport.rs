//! One HTTP exchange with a server: a request body, a response body of bounded size, and every way it can fail.
//!
//! Invariant: the access key is sent only in one header; no redirect is followed, so it reaches no other host.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use ureq::http::Uri;
use ureq::{Agent, Body, Error, RequestBuilder, http};

use super::wire::error_message;
use super::{ServerError, ServerOptions};

/// An access key. It is not shown by any formatter.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// From the key's text; `None` where it is empty or cannot stand in a header.
    pub fn new(key: &str) -> Option<Self> {
        let fine = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        fine.then(|| Self(key.to_owned()))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

/// Bytes of an error's body that are read.
const MESSAGE_BYTES: u64 = 1 << 16;
/// A host that does not take a connection in this time is not there.
const CONNECT: Duration = Duration::from_secs(20);

/// A client of one server. Connections are kept between calls.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    base_url: String,
    key: Option<ApiKey>,
    timeout: Duration,
    largest: u64,
}

impl Client {
    pub(super) fn new(url: &ServerUrl, options: &ServerOptions) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(options.timeout))
            .timeout_connect(Some(CONNECT.min(options.timeout)))
            .max_idle_connections(options.concurrency)
            .max_idle_connections_per_host(options.concurrency);
        // A proxy from the environment is for other machines.
        let config = if url.is_loopback() { config.proxy(None) } else { config };
        let (key, timeout, largest) = (options.key.clone(), options.timeout, options.response_bytes);
        Self { agent: config.build().new_agent(), base_url: url.root.clone(), key, timeout, largest }
    }

    /// The address of a part of the interface.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}/{path}", self.base_url)
    }

    /// Posts a JSON body to a part of the interface. Returns the body of an answer with status 200.
    pub(super) fn post(&self, path: &str, body: &impl Serialize) -> Result<Vec<u8>, ServerError> {
        let body = serde_json::to_vec(body).expect("a request has no map with odd keys");
        let request = self.agent.post(self.address(path)).content_type("application/json");
        self.read_answer(self.with_key(request).send(&body[..]))
    }

    /// Asks a part of the interface. Returns the body of an answer with status 200.
    pub(super) fn get(&self, path: &str) -> Result<Vec<u8>, ServerError> {
        self.read_answer(self.with_key(self.agent.get(self.address(path))).call())
    }

    fn with_key<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.key {
            Some(ApiKey(key)) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    fn read_answer(&self, answer: Result<http::Response<Body>, Error>) -> Result<Vec<u8>, ServerError> {
        let mut answer = answer.map_err(|e| self.exchange_error(e))?;
        if answer.status() != http::StatusCode::OK {
            return Err(self.status_error(&mut answer));
        }
        let read = answer.body_mut().with_config().limit(self.largest).read_to_vec();
        read.map_err(|e| self.exchange_error(e))
    }

    fn exchange_error(&self, error: Error) -> ServerError {
        match error {
            Error::Timeout(_) => ServerError::Timeout(self.timeout),
            Error::BodyExceedsLimit(limit) => ServerError::TooLarge(limit),
            // The timeout of a socket comes as this where the system notices first.
            Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => ServerError::Timeout(self.timeout),
            other => ServerError::Connection(self.redact(&other.to_string())),
        }
    }

    fn status_error(&self, answer: &mut http::Response<Body>) -> ServerError {
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        // The other form, a date, is answered by our own waiting.
        let retry_after = retry_after.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
        let body = answer.body_mut().with_config().limit(MESSAGE_BYTES).read_to_vec().unwrap_or_default();
        let status = answer.status().as_u16();
        ServerError::Status { status, message: self.redact(&error_message(&body)), retry_after }
    }

    /// Some servers repeat a wrong key in their answer.
    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |ApiKey(key)| text.replace(key.as_str(), "(key)"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerUrl {
    /// Without the version of the interface and without a slash at its end.
    root: String,
    host: String,
}

impl ServerUrl {
    /// `Err` is the problem.
    pub(super) fn parse(url: &str) -> Result<Self, &'static str> {
        let Ok(uri) = url.parse::<Uri>() else { return Err("the URL cannot be read") };
        let Some(host) = uri.host() else { return Err("the URL has no host") };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err("the URL begins with neither `http://` nor `https://`");
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("a key does not belong into a URL");
        }
        if uri.query().is_some() {
            return Err("the URL has a query");
        }
        let root = url.trim_end_matches('/');
        let root = root.strip_suffix("/v1").unwrap_or(root).trim_end_matches('/');
        Ok(Self { root: root.to_owned(), host: host.to_owned() })
    }

    fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }
}

/// The name without parts that may be secret.
pub(super) fn quote_name(name: &str) -> String {
    match (name.find("://"), name.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}(hidden){}", &name[..scheme + 3], &name[at..]),
        _ => name.to_owned(),
    }
}
