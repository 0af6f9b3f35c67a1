//! Where a served model is: `URL#MODEL`, and `URL#MODEL#TOKENIZER` with a `tokenizer.json`.

use std::path::PathBuf;

use ureq::http::Uri;

use super::error::ServerError;

/// A server and a model of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    url: String,
    host: String,
    pub(super) model: String,
    pub(super) tokenizer: Option<PathBuf>,
}

impl Endpoint {
    pub(super) fn parse(name: &str) -> Result<Self, ServerError> {
        let mut parts = name.splitn(3, '#');
        let (url, model) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let wrong = |problem| Err(ServerError::Name { name: quote_name(name), problem });
        let Ok(uri) = url.parse::<Uri>() else { return wrong("the URL cannot be read") };
        let Some(host) = uri.host() else { return wrong("the URL has no host") };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return wrong("the URL begins with neither `http://` nor `https://`");
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return wrong("a key does not belong into a URL");
        }
        if uri.query().is_some() {
            return wrong("the URL has a query");
        }
        if model.is_empty() {
            return wrong("no model is named behind the `#`");
        }
        let (host, model) = (host.to_owned(), model.to_owned());
        let tokenizer = parts.next().map(PathBuf::from);
        Ok(Self { url: url.trim_end_matches('/').to_owned(), host, model, tokenizer })
    }

    /// The server's completions.
    pub(super) fn completions(&self) -> String {
        let version = if self.url.ends_with("/v1") { "" } else { "/v1" };
        format!("{}{version}/completions", self.url)
    }

    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }
}

/// Without what may be a secret.
fn quote_name(name: &str) -> String {
    match (name.find("://"), name.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}(hidden){}", &name[..scheme + 3], &name[at..]),
        _ => name.to_owned(),
    }
}
