//! Endpoints for operators: health, readiness, metrics, and what this service is.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::Limits;
use veriplay_verifier::JUDGES;

use super::Routes;
use crate::answer::json_response;
use crate::connections::OpenConnections;
use crate::metrics;
use crate::phase::Phase;
use crate::problem::Problem;
use crate::service::Service;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(health)).routes(routes!(ready)).routes(routes!(metrics)).routes(routes!(info))
}

/// Whether the process answers. It does not depend on the queue, so that a busy service is not restarted
#[utoipa::path(get, path = "/health", tag = "operations", security(()), responses((status = 200, description = "It does")))]
async fn health() -> Response {
    json_response(StatusCode::OK, &serde_json::json!({"status": "alive"}))
}

/// Whether new work is accepted
#[utoipa::path(get, path = "/ready", tag = "operations", security(()), responses(
    (status = 200, description = "It is"),
    (status = 503, body = Problem, description = "The service is starting or stopping"),
))]
async fn ready(State(service): State<Arc<Service>>) -> Response {
    match check_serving(&service) {
        Ok(()) => json_response(StatusCode::OK, &serde_json::json!({"status": "ready"})),
        Err(problem) => problem.into_response(),
    }
}

/// Refuses new work while the service is not serving.
pub(crate) fn check_serving(service: &Service) -> Result<(), Problem> {
    match service.life.phase() {
        Phase::Serving => Ok(()),
        Phase::Starting => {
            Err(Problem::unavailable("the image is being loaded; the first time it is compiled, about a minute"))
        }
        Phase::Draining | Phase::Stopped => Err(Problem::unavailable("the service is stopping")),
    }
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operations", responses(
    (status = 200, body = String, content_type = "application/openmetrics-text"),
))]
async fn metrics(
    State(service): State<Arc<Service>>,
    connections: Option<axum::Extension<OpenConnections>>,
) -> Response {
    let open = connections.map_or(0, |connections| connections.count());
    let mut response = Response::new(Body::from(service.render_metrics(open)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response
}

/// What this service is.
#[derive(Serialize, ToSchema)]
struct Info {
    version: String,
    /// Name of the image.
    image: String,
    /// Digest of the image. Verdicts depend on it.
    image_digest: String,
    workers: usize,
    /// Attempts that may wait, and those of one client.
    queue: usize,
    queue_per_client: usize,
    /// The most bytes of a body.
    body_bytes: u64,
    /// The most bytes of all bodies whose requests are under way.
    all_body_bytes: u64,
    /// Wasm fuel for a second of a client's time limit.
    fuel_per_second: u64,
    /// The longest time limit that a client may ask for.
    most_seconds: f64,
    /// The most memory that a client may ask for.
    most_memory_bytes: u64,
    /// Bytes of memory that the image itself needs.
    image_memory_bytes: u64,
    /// Limits of a job without its own.
    #[schema(value_type = Object)]
    limits: Limits,
    /// Formats of task rows.
    formats: Vec<&'static str>,
    judges: Vec<&'static str>,
    /// Languages of `/run_code` and `/submit`.
    languages: Vec<&'static str>,
    uptime_seconds: f64,
}

/// What this service is, and its limits
#[utoipa::path(get, path = "/v1/info", tag = "operations", responses(
    (status = 200, body = Info),
    (status = 503, body = Problem, description = "The service is starting"),
))]
async fn info(State(service): State<Arc<Service>>) -> Response {
    let Some(judge) = service.judge() else {
        return Problem::unavailable("the image is being loaded").into_response();
    };
    let (facts, settings) = (judge.facts(), &service.settings);
    let info = Info {
        version: facts.version.clone(),
        image: facts.image.clone(),
        image_digest: facts.image_digest.to_string(),
        workers: settings.workers,
        queue: service.queue().capacity(),
        queue_per_client: service.queue().share(),
        body_bytes: settings.body_bytes,
        all_body_bytes: settings.all_body_bytes,
        fuel_per_second: settings.fuel_per_second,
        most_seconds: settings.most_seconds,
        most_memory_bytes: settings.most_memory_bytes,
        image_memory_bytes: facts.image_memory_bytes,
        limits: facts.limits,
        formats: facts.formats.clone(),
        judges: JUDGES.iter().map(|judge| judge.name()).collect(),
        languages: settings.language_names(),
        uptime_seconds: service.started.elapsed().as_secs_f64(),
    };
    json_response(StatusCode::OK, &info)
}
