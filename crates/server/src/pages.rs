//! Pages for a browser on this machine: served on the loopback device alone, to nobody but the user's own pages.
//!
//! A page of a stranger, open in the same browser, could ask this server too. So a request must name a loopback host (a stranger's name that
//! was rebound to this machine is refused), what changes something must carry the token that only our own pages show, and every answer
//! forbids scripts, styles and frames from elsewhere.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::client::Tokens;
use crate::connections::{ConnectionLimits, OpenConnections, serve_connections};
use crate::listener::{Address, Listener};
use crate::phase::{Life, Phase};
use crate::serve::{ServeError, build_runtime, stop_signals};
use crate::service::Settings;

/// Carries the token of the page that asks for a change.
const TOKEN: HeaderName = HeaderName::from_static("x-veriplay-token");
/// Browsers open few connections each.
const CONNECTIONS: usize = 256;
/// Time for answers that are being made when the server is told to stop.
const DRAIN: Duration = Duration::from_secs(1);

/// What every answer says. Nothing in a page may come from elsewhere, and no script or style may stand in the page itself.
const POLICY: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    // A copy may be kept, and is asked for each time.
    ("cache-control", "no-cache"),
];

/// A request for a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The path, decoded, without its first slash.
    pub path: String,
    /// Keys and values of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// The tag of the answer that the browser has already.
    pub known: Option<String>,
}

/// The answer to a [`PageRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAnswer {
    /// A document.
    Document {
        /// The HTTP status code.
        status: u16,
        /// Its type, such as `text/html; charset=utf-8`.
        content_type: &'static str,
        /// Names this state of the document: visible ASCII without quotes.
        tag: Option<String>,
        /// The document.
        body: String,
    },
    /// The browser's copy is still right.
    Unchanged,
    /// The document is at another path: percent-encoded, with its first slash.
    At(String),
}

/// What makes the pages. Calls may take long: they are made on threads of their own.
pub trait Pages: Send + Sync + 'static {
    /// Makes a page. It changes nothing.
    fn get(&self, request: &PageRequest) -> PageAnswer;

    /// Does what a page's button asks for.
    fn post(&self, request: &PageRequest) -> PageAnswer;
}

/// Serves pages until SIGTERM or SIGINT. `listening` is told the address, which must be one of the loopback device. A POST must carry one of
/// `tokens` in the header `x-veriplay-token`.
pub fn serve_pages(
    address: SocketAddr,
    tokens: Tokens,
    pages: Arc<dyn Pages>,
    listening: impl FnOnce(&Address),
) -> Result<(), ServeError<Infallible>> {
    let runtime = build_runtime()?;
    let served = runtime.block_on(async {
        let stop = stop_signals()?;
        let listener = Listener::open(&Address::Tcp(address), false).await?;
        listening(&listener.address()?);
        serve_pages_on(listener, make_router(tokens, pages), stop).await;
        Ok(())
    });
    // A page that takes long is not waited for.
    runtime.shutdown_timeout(DRAIN);
    served
}

async fn serve_pages_on(listener: Listener, router: Router, stop: impl Future<Output = ()> + Send + 'static) {
    let Settings { head_patience, write_patience, .. } = Settings::default();
    let limits = ConnectionLimits { most: CONNECTIONS, head_patience, write_patience };
    let life = Life::new();
    let ending = life.clone();
    tokio::spawn(async move {
        stop.await;
        ending.advance(Phase::Draining);
        tokio::time::sleep(DRAIN).await;
        ending.advance(Phase::Stopped);
    });
    serve_connections(listener, router, OpenConnections::default(), limits, life).await;
}

#[derive(Clone)]
struct Served {
    tokens: Tokens,
    pages: Arc<dyn Pages>,
}

fn make_router(tokens: Tokens, pages: Arc<dyn Pages>) -> Router {
    Router::new()
        .route("/", get(answer_get).post(answer_post))
        .route("/{*path}", get(answer_get).post(answer_post))
        .layer(from_fn(guard))
        .with_state(Served { tokens, pages })
}

type PathAndQuery = (Option<Path<String>>, Query<Vec<(String, String)>>);

async fn answer_get(State(served): State<Served>, asked: PathAndQuery, headers: HeaderMap) -> Response {
    let request = page_request(asked, &headers);
    answer(move || served.pages.get(&request)).await
}

async fn answer_post(State(served): State<Served>, asked: PathAndQuery, headers: HeaderMap) -> Response {
    let token = headers.get(TOKEN).and_then(|value| value.to_str().ok());
    if !token.is_some_and(|token| served.tokens.contains(token)) {
        return refuse("this request does not carry the token of the page; reload the page");
    }
    let request = page_request(asked, &headers);
    answer(move || served.pages.post(&request)).await
}

fn page_request((path, Query(query)): PathAndQuery, headers: &HeaderMap) -> PageRequest {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let known = known.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned());
    PageRequest { path: path.map(|Path(path)| path).unwrap_or_default(), query, known }
}

/// Makes the page on a thread where it may take its time.
async fn answer(make: impl FnOnce() -> PageAnswer + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(make).await {
        Ok(answer) => answer.into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be made");
            (StatusCode::INTERNAL_SERVER_ERROR, "a bug: the page could not be made; the log has the cause")
                .into_response()
        }
    }
}

impl IntoResponse for PageAnswer {
    fn into_response(self) -> Response {
        match self {
            Self::Unchanged => StatusCode::NOT_MODIFIED.into_response(),
            Self::At(path) => (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response(),
            Self::Document { status, content_type, tag, body } => {
                let mut response = Response::new(Body::from(body));
                *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
                if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok()) {
                    headers.insert(header::ETAG, tag);
                }
                response
            }
        }
    }
}

/// Refuses a request that does not name this machine's loopback device, and adds the policy to every answer.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = match names_loopback(request.uri(), request.headers()) {
        true => next.run(request).await,
        false => {
            refuse("the host of this request is not a loopback address; open the address that the command printed")
        }
    };
    for (name, value) in POLICY {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn refuse(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, why).into_response()
}

/// Whether the one `Host`, and the URI's own authority where it has one, are loopback names.
fn names_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| is_loopback(&host)) && uri.authority().is_none_or(is_loopback)
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let named = host.eq_ignore_ascii_case("localhost");
    let loopback = address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    (named || loopback) && !authority.as_str().contains('@')
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use tower::ServiceExt;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    /// Answers what it was asked.
    struct Echo;

    impl Pages for Echo {
        fn get(&self, request: &PageRequest) -> PageAnswer {
            match request.path.as_str() {
                "elsewhere" => PageAnswer::At("/a%20b".to_owned()),
                "panic" => panic!("a test"),
                _ if request.known.as_deref() == Some("tag") => PageAnswer::Unchanged,
                _ => document(format!("{request:?}")),
            }
        }

        fn post(&self, request: &PageRequest) -> PageAnswer {
            document(format!("did {}", request.path))
        }
    }

    fn document(body: String) -> PageAnswer {
        PageAnswer::Document { status: 200, content_type: "text/html", tag: Some("tag".to_owned()), body }
    }

    async fn ask(method: Method, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, String) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let router = make_router(Tokens::parse(SECRET).expect("a token"), Arc::new(Echo));
        let response = router.oneshot(request.body(Body::empty()).expect("a request")).await.expect("it answers");
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
        (parts.status.as_u16(), parts.headers, String::from_utf8_lossy(&bytes).into_owned())
    }

    #[tokio::test]
    async fn only_requests_to_a_loopback_host_are_answered() {
        for host in ["127.0.0.1:80", "127.3.2.1", "localhost:9", "LOCALHOST", "[::1]:80"] {
            assert_eq!(ask(Method::GET, "/", &[("host", host)]).await.0, 200, "{host}");
        }
        for host in [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", "", "x@localhost",
            "[::2]",
        ] {
            let (status, headers, text) = ask(Method::GET, "/", &[("host", host)]).await;
            assert!(status == 403 && text.contains("not a loopback address"), "{host}: {status} {text}");
            assert!(headers.contains_key("content-security-policy"));
        }
        assert_eq!(ask(Method::GET, "/", &[]).await.0, 403);
        assert_eq!(ask(Method::GET, "/", &[("host", "localhost"), ("host", "evil.example")]).await.0, 403);
        assert_eq!(ask(Method::GET, "http://evil.example/", &[("host", "localhost")]).await.0, 403);
    }

    #[tokio::test]
    async fn what_changes_something_needs_the_token_of_the_page() {
        let host = ("host", "localhost");
        for wrong in ["", "0123456789abcdeg", "Bearer 0123456789abcdef"] {
            let (status, _, text) = ask(Method::POST, "/run", &[host, ("x-veriplay-token", wrong)]).await;
            assert!(status == 403 && text.contains("token"), "{wrong}: {text}");
        }
        assert_eq!(ask(Method::POST, "/run", &[host]).await.0, 403);
        let (status, _, text) = ask(Method::POST, "/run", &[host, ("x-veriplay-token", SECRET)]).await;
        assert_eq!((status, text.as_str()), (200, "did run"));
        let evil = [("host", "evil.example"), ("x-veriplay-token", SECRET)];
        assert_eq!(ask(Method::POST, "/run", &evil).await.0, 403);
        assert_eq!(ask(Method::DELETE, "/run", &[host, ("x-veriplay-token", SECRET)]).await.0, 405);
    }

    #[tokio::test]
    async fn a_path_and_its_query_are_decoded_and_a_known_page_is_not_sent_again() {
        let host = ("host", "localhost");
        let (status, headers, text) = ask(Method::GET, "/a%20b/c?x=1%262&x=%3Cb%3E", &[host]).await;
        assert_eq!((status, &headers["etag"]), (200, &HeaderValue::from_static("\"tag\"")));
        let query = vec![("x".to_owned(), "1&2".to_owned()), ("x".to_owned(), "<b>".to_owned())];
        assert_eq!(text, format!("{:?}", PageRequest { path: "a b/c".to_owned(), query, known: None }));
        assert_eq!(ask(Method::GET, "/", &[host, ("if-none-match", "W/\"tag\"")]).await.0, 304);
        let (status, headers, _) = ask(Method::GET, "/elsewhere", &[host]).await;
        assert_eq!((status, &headers["location"]), (303, &HeaderValue::from_static("/a%20b")));
        assert_eq!(ask(Method::GET, "/panic", &[host]).await.0, 500);
    }

    #[tokio::test]
    async fn it_stops_when_it_is_told_to_with_a_browser_connected() {
        let address = Address::Tcp("127.0.0.1:0".parse().expect("an address"));
        let listener = Listener::open(&address, false).await.expect("a free port");
        let Address::Tcp(address) = listener.address().expect("an address") else { panic!("it listens on TCP") };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let router = make_router(Tokens::parse(SECRET).expect("a token"), Arc::new(Echo));
        let served = tokio::spawn(serve_pages_on(listener, router, async { drop(stopped.await) }));
        let _browser = tokio::net::TcpStream::connect(address).await.expect("it listens");
        drop(stop);
        served.await.expect("it ends");
    }
}
