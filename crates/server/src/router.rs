//! The router: all endpoints, and what is done to every request: its id, its client, a span, a count.

use std::sync::Arc;
use std::time::Instant;

use axum::body::HttpBody;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as OpenApiDescription, Ref, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;

use crate::answer::hold;
use crate::body::Arrival;
use crate::client::{Caller, ClientKey, Peer};
use crate::compat::Rejection;
use crate::connections::OpenConnections;
use crate::endpoints::{get_reward, nemo_gym, operations, run, run_code, submit, verify};
use crate::problem::Problem;
use crate::service::Service;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that a client may choose.
const LONGEST_ID: usize = 128;
/// Answers of up to so many bytes, as most are, do not count.
const SMALL_ANSWER: u64 = 64 << 10;
/// Paths that need no token: probes of an orchestrator have none.
const OPEN_PATHS: [&str; 2] = ["/health", "/ready"];

#[derive(OpenApi)]
#[openapi(info(title = "Veriplay", description = "Judges programs in a WebAssembly sandbox"))]
struct Description;

/// All endpoints. Adding a family is a file in `endpoints`, its `mod`, and a line here.
fn endpoints() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(run_code::routes())
        .merge(submit::routes())
        .merge(get_reward::routes())
        .merge(nemo_gym::routes())
        .merge(verify::routes())
        .merge(run::routes())
        .merge(operations::routes())
}

pub(crate) fn make_router(service: &Arc<Service>, open: OpenConnections) -> Router {
    let (router, mut description) = endpoints().split_for_parts();
    describe_refusals(&mut description, service.settings.tokens.is_some());
    if service.settings.tokens.is_some() {
        describe_tokens(&mut description);
    }
    let description: Arc<str> = description.to_json().unwrap_or_default().into();
    let describe = move || {
        let text = description.to_string();
        async move { ([(header::CONTENT_TYPE, "application/json")], text) }
    };
    router
        .route("/openapi.json", axum::routing::get(describe))
        .fallback(|uri: Uri| async move { Problem::no_route(uri.path()) })
        .method_not_allowed_fallback(|method: Method| async move { Problem::wrong_method(method.as_str()) })
        .layer(Extension(open))
        .layer(CatchPanicLayer::custom(answer_panic))
        .layer(from_fn_with_state(Arc::clone(service), receive))
        .with_state(Arc::clone(service))
}

/// Adds the refusals that come before any endpoint: those of [`receive`] and [`answer`], and that of a method which the path does not take.
fn describe_refusals(description: &mut OpenApiDescription, has_tokens: bool) {
    let stranger = match has_tokens {
        true => ("401", "The request has no known bearer token"),
        false => ("403", "A page of another site sent the request"),
    };
    let wrong_method = ("405", "The path does not take the method of the request");
    let encoded = ("415", "The body is encoded, or is not said to be JSON");
    for item in description.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
            add_refusal(operation, wrong_method);
            // An open path says that it needs no token.
            if !has_tokens || operation.security.is_none() {
                add_refusal(operation, stranger);
            }
        }
        item.post.iter_mut().for_each(|post| add_refusal(post, encoded));
    }
}

fn add_refusal(operation: &mut Operation, (status, why): (&str, &str)) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let refusal = ResponseBuilder::new().description(why).content("application/problem+json", content);
    operation.responses.responses.entry(status.to_owned()).or_insert_with(|| refusal.into());
}

/// Says in the description that requests need a token. [`OPEN_PATHS`] say of themselves that they need none.
fn describe_tokens(description: &mut OpenApiDescription) {
    const NAME: &str = "token";
    let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    description.components.get_or_insert_default().add_security_scheme(NAME, scheme);
    description.security = Some(vec![SecurityRequirement::new(NAME, [""; 0])]);
}

fn answer_panic(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Problem::bug().into_response()
}

/// Whether a browser sent the request for a page that is not of this machine. Where no token is asked for, that page could use the service: its
/// name may have been turned to this machine, so that the browser takes the two for one.
fn is_foreign_page(service: &Service, request: &Request) -> bool {
    let host = |origin: &str| origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_ascii_lowercase));
    let origin = request.headers().get(header::ORIGIN).filter(|_| service.settings.tokens.is_none());
    origin.is_some_and(|origin| {
        let host = origin.to_str().ok().and_then(host);
        !host.is_some_and(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"))
    })
}

/// Names the request, finds its client, and counts the answer.
async fn receive(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let request_id = request_id(&service, &request);
    let path = request.uri().path().to_owned();
    let span = tracing::info_span!("request", id = %request_id, method = %request.method(), path = %short(&path));
    let route = request.extensions().get::<MatchedPath>().map(|matched| matched.as_str().to_owned());
    let mut response = match identify(&service, &request) {
        None => Problem::no_token().into_response(),
        Some(_) if is_foreign_page(&service, &request) => Problem::foreign_page().into_response(),
        Some(client) => {
            request.extensions_mut().insert(Caller { client, request_id: request_id.clone() });
            answer(&service, request, next).instrument(span.clone()).await
        }
    };
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let code = response.status();
    service.metrics.count_request(route.as_deref().unwrap_or("other"), code.as_u16());
    span.in_scope(|| tracing::info!(code = code.as_u16(), "answered"));
    response
}

/// Answers the request. The room that its body takes is kept to the end of the answer.
async fn answer(service: &Service, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    if let Err(problem) = Problem::check_framing(headers).and_then(|()| Problem::check_encoding(headers)) {
        return problem.into_response();
    }
    let claim = Arc::new(service.bodies.claim(request.body().size_hint().upper()));
    request.extensions_mut().insert(Arrival { at: Instant::now(), claim: Arc::clone(&claim) });
    let is_ours = request.uri().path().starts_with("/v1/");
    let response = next.run(request).await;
    // An answer takes room until its client has read it. One without a length is written as it is read.
    let bytes = response.body().size_hint().exact().unwrap_or_default();
    if bytes > SMALL_ANSWER && !claim.try_take(bytes) {
        drop(response);
        // Clients of other protocols try again at 504 alone.
        return if is_ours {
            Problem::no_room_for_answer().into_response()
        } else {
            Rejection::no_room().into_response()
        };
    }
    response.map(|inner| hold(inner, claim))
}

fn short(path: &str) -> &str {
    path.get(..LONGEST_ID).unwrap_or(path)
}

fn identify(service: &Service, request: &Request) -> Option<ClientKey> {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Unix(0));
    let open = OPEN_PATHS.contains(&request.uri().path());
    let tokens = service.settings.tokens.as_ref().filter(|_| !open);
    let authorization = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    ClientKey::identify(tokens, authorization, peer)
}

/// The id that the client chose, where it is one that can be logged, else a new one.
fn request_id(service: &Service, request: &Request) -> String {
    let chosen = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let fine = |id: &&str| !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_graphic());
    chosen.filter(fine).map_or_else(|| service.new_request_id(), str::to_owned)
}
