//! NeMo Gym's `POST /verify` and `GET /reverify_mode`, as a resources server for competitive coding answers them.
//!
//! Its answer is the request with `reward`. An attempt without a verdict has `mask_sample`, which NeMo RL leaves out of training, with the kind
//! and the reason of the failure: never a reward of zero alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{RowStatus, VerdictRow};

use super::Routes;
use super::get_reward::serving_judge;
use crate::answer::json_response;
use crate::body::RequestBody;
use crate::client::Caller;
use crate::compat::{Fields, Rejection, open_attempt, read_request};
use crate::judge::Judge;
use crate::queue::{Admission, Unfinished};
use crate::rows::{Fault, FaultKind, reward};
use crate::service::{AttemptWork, Service};

/// How long an attempt may take. NeMo Gym's own clients wait without limit.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(verify)).routes(routes!(reverify_mode))
}

/// The request, for the description of the interface.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct VerifyRequest {
    /// What the response was asked with.
    #[schema(value_type = Object)]
    responses_create_params: Value,
    /// A response in OpenAI's Responses format.
    #[schema(value_type = Object)]
    response: Value,
    /// `unit_tests`: `inputs`, `outputs`, `fn_name`; or another task as `docs/trainers.md` lists them.
    #[schema(value_type = Object)]
    verifier_metadata: Value,
    /// The judge, where the metadata name none.
    #[schema(value_type = Option<String>)]
    judge: Option<Value>,
}

/// Reward of a response, as NeMo Gym asks for it
#[utoipa::path(post, path = "/verify", tag = "NeMo Gym", request_body = VerifyRequest, responses(
    (status = 200, description = "The request with `reward`, and `mask_sample` where nothing was measured"),
    (status = 422, description = "A field is wrong: FastAPI's list of errors"),
    (status = 504, description = "The service is stopping: try again"),
))]
async fn verify(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, Rejection> {
    let deadline = body.arrived() + PATIENCE;
    let judge = serving_judge(&service, deadline).await?;
    let read = move |fields: &mut Fields<'_>| Asked::read(fields, &judge);
    let asked = read_request(&service, &headers, body, deadline, read).await?;
    let Asked { echoed, output, attempt } = asked;
    let result = match attempt {
        Err(unreadable) => {
            service.metrics.count_fault(unreadable.kind.word());
            Err(unreadable)
        }
        Ok(attempt) => judge_one(&service, caller, deadline, attempt).await?,
    };
    Ok(json_response(StatusCode::OK, &make_answer(echoed, &output, result)))
}

/// Whether a response may be verified again: always, because verdicts depend on nothing else
#[utoipa::path(get, path = "/reverify_mode", tag = "NeMo Gym", responses((status = 200, description = "The text `stateless`")))]
async fn reverify_mode() -> Response {
    json_response(StatusCode::OK, &"stateless")
}

/// The row of an attempt, or its fault. An error where the service stops: another one is to be asked.
async fn judge_one(
    service: &Arc<Service>,
    caller: Caller,
    deadline: Instant,
    attempt: AttemptWork,
) -> Result<Result<VerdictRow, Fault>, Rejection> {
    let submitted = service.submit_attempts(caller.client, Admission::Always, Some(deadline), vec![attempt], 1);
    let mut stream = submitted.map_err(|full| Rejection::too_late(Unfinished::Full(full)))?;
    match stream.next().await {
        Some((_, Err(fault))) if fault.kind == FaultKind::Stopped => Err(Rejection::too_late(Unfinished::Stopped)),
        Some((_, judged)) => Ok(judged.map(|judged| judged.row)),
        None => Err(Rejection::too_late(Unfinished::Lost)),
    }
}

/// A request whose fields are right.
struct Asked {
    /// The request itself, which is part of the answer.
    echoed: Map<String, Value>,
    output: String,
    /// A fault where the metadata hold no task.
    attempt: Result<AttemptWork, Fault>,
}

impl Asked {
    fn read(fields: &mut Fields<'_>, judge: &Arc<dyn Judge>) -> Self {
        let params = fields.required("responses_create_params").unwrap_or_default();
        let response = fields.required("response").unwrap_or_default();
        let metadata = fields.required("verifier_metadata").unwrap_or_default();
        let output = output_text(&response);
        let named = fields.get("judge").cloned();
        let chosen = fields.judge();
        let truth = fields.sent_text("verifier_metadata").unwrap_or("null");
        let attempt = open_attempt(judge, truth, chosen.as_ref(), output.clone())
            .map_err(|error| Fault::unreadable_task(String::new(), error.describe("verifier_metadata")));
        let mut echoed = fields.rest();
        echoed.insert("responses_create_params".to_owned(), params);
        echoed.insert("response".to_owned(), response);
        echoed.insert("verifier_metadata".to_owned(), metadata);
        named.into_iter().for_each(|named| drop(echoed.insert("judge".to_owned(), named)));
        Self { echoed, output, attempt }
    }
}

/// The text of a response: all of its parts that are output text.
fn output_text(response: &Value) -> String {
    let messages = items(&response["output"]).filter(|item| item["type"] == "message");
    let parts = messages.flat_map(|item| items(&item["content"])).filter(|part| part["type"] == "output_text");
    parts.filter_map(|part| part["text"].as_str()).collect()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The answer: the request, and what was found.
fn make_answer(mut echoed: Map<String, Value>, output: &str, result: Result<VerdictRow, Fault>) -> Map<String, Value> {
    let extraction = result.as_ref().ok().and_then(|row| row.evidence.extraction.as_ref());
    let code = extraction.and_then(|extraction| output.get(extraction.span[0]..extraction.span[1])).map(str::to_owned);
    let (found, failure) = match result {
        Ok(row) => match row.status {
            RowStatus::Judged(status) => {
                echoed.insert("status".to_owned(), json!(status));
                echoed.insert("passed".to_owned(), json!(row.passed));
                echoed.insert("total".to_owned(), json!(row.total));
                (reward(&row), Some(row.evidence.detail))
            }
            RowStatus::Dropped(_) => (None, Some(row.evidence.detail)),
        },
        Err(fault) => (None, Some(format!("{}: {}", fault.kind.word(), fault.message))),
    };
    let masked = found.is_none();
    echoed.extend([
        ("reward".to_owned(), json!(found.unwrap_or(0.0))),
        ("mask_sample".to_owned(), json!(masked)),
        ("failure_kind".to_owned(), if masked { json!("verifier_error") } else { Value::Null }),
        ("failure_reason".to_owned(), json!(failure.filter(|_| masked))),
        ("extracted_model_output".to_owned(), json!(Some(output).filter(|text| !text.trim().is_empty()))),
        ("extracted_model_code".to_owned(), json!(code)),
    ]);
    echoed
}
