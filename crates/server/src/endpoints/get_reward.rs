//! `POST /get_reward`: OpenRLHF's remote reward, and slime's (`--rm-type remote_rm`).
//!
//! OpenRLHF sends `query`, `prompts` and `labels`, lists of one or more, and takes plain numbers for one query. slime sends `prompt`,
//! `response` and `label`, and takes a number. A label is a task of whatever shape. Neither protocol has a word for a reward that
//! was not measured, so a fault is a 504 for the whole request, which both try again. A label that cannot be read, and a task that cannot judge its
//! attempt, is a mark in the extra logs for OpenRLHF, with the reason in `faults`, and a 422 for slime, whose answer has no place for a mark.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::routes;
use veriplay_core::{Comparison, RowStatus, VerdictRow};
use veriplay_verifier::extraction::{response_of_query, with_opened_frame};

use super::Routes;
use crate::answer::json_response;
use crate::body::RequestBody;
use crate::client::Caller;
use crate::compat::{Fields, MOST_ERRORS, Rejection, open_attempt, read_request, until_serving};
use crate::json_slices::array_items;
use crate::judge::Judge;
use crate::queue::{Admission, Unfinished};
use crate::rows::{FaultKind, reward};
use crate::service::{AttemptWork, Service, TOGETHER};

/// OpenRLHF waits 180 s for an answer. The answer must reach it before.
const CLIENT_PATIENCE: Duration = Duration::from_secs(175);
/// slime waits 120 s.
const SLIME_PATIENCE: Duration = Duration::from_secs(115);
const UNJUDGED: &str = "the task cannot judge this attempt: it has no usable reference";

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(get_reward))
}

/// The request, for the description of the interface: either the first three fields or the others.
#[derive(ToSchema, Deserialize)]
#[expect(dead_code, reason = "it describes the request")]
struct RewardRequest {
    /// Prompts with their responses.
    query: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    /// Tasks, or their JSON text.
    #[schema(value_type = Option<Vec<Object>>)]
    labels: Option<Vec<Value>>,
    prompt: Option<String>,
    /// What a model wrote.
    response: Option<String>,
    /// A task, or its JSON text.
    #[schema(value_type = Option<Object>)]
    label: Option<Value>,
    /// The judge of tasks that name none: a name, with options as in `float:rtol=1e-6`, or an object.
    #[schema(value_type = Option<String>)]
    judge: Option<Value>,
}

/// Rewards of completions, as OpenRLHF and slime ask for them
#[utoipa::path(post, path = "/get_reward", tag = "OpenRLHF, slime", request_body = RewardRequest, responses(
    (status = 200, description = "`{\"rewards\", \"scores\", \"extra_logs\"}`: numbers for one query, lists for more; for slime a number"),
    (status = 422, description = "A field is wrong: FastAPI's list of errors. For slime also: there is no reward, in words"),
    (status = 504, description = "Not measured: try again"),
))]
async fn get_reward(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, Rejection> {
    let arrived = body.arrived();
    let deadline = arrived + CLIENT_PATIENCE;
    let judge = serving_judge(&service, deadline).await?;
    let read = move |fields: &mut Fields<'_>| Asked::read(fields, &judge);
    let asked = read_request(&service, &headers, body, deadline, read).await?;
    let Asked { samples, form } = asked;
    let deadline = if form == Form::Slime { arrived + SLIME_PATIENCE } else { deadline };
    let verdicts = judge_all(&service, caller, deadline, samples).await?;
    Ok(json_response(StatusCode::OK, &form.answer(&verdicts)?))
}

/// The judge, once the service has one.
pub(super) async fn serving_judge(service: &Arc<Service>, deadline: Instant) -> Result<Arc<dyn Judge>, Rejection> {
    until_serving(service, Some(deadline)).await?;
    service.judge().cloned().ok_or_else(|| Rejection::too_late(Unfinished::Stopped))
}

/// The form of the request, which decides that of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    OpenRlhf,
    Slime,
}

/// A request whose fields are right.
struct Asked {
    /// An attempt, or why its label holds no task.
    samples: Vec<Result<AttemptWork, String>>,
    form: Form,
}

impl Asked {
    fn read(fields: &mut Fields<'_>, judge: &Arc<dyn Judge>) -> Self {
        let chosen = fields.judge();
        if let Some(response) = fields.optional_text("response") {
            drop(fields.required("label"));
            let label = fields.sent_text("label").unwrap_or("null");
            let prompt = fields.optional_text("prompt").unwrap_or_default();
            let response = with_opened_frame(&prompt, &response);
            let sample = open_sample(judge, chosen.as_ref(), "label", label, response);
            return Self { samples: vec![sample], form: Form::Slime };
        }
        let queries = texts(fields, "query");
        let prompts = texts(fields, "prompts");
        drop(fields.required_list("labels"));
        let labels = fields.sent_text("labels").map_or_else(Vec::new, |text| array_items(text).unwrap_or_default());
        if queries.len() != labels.len() || queries.len() != prompts.len() {
            let (queries, prompts, labels) = (queries.len(), prompts.len(), labels.len());
            let msg = format!("{queries} queries, {prompts} prompts and {labels} labels should be equally many");
            fields.wrong(&["query"], "value_error", msg, &json!(queries));
            return Self { samples: Vec::new(), form: Form::OpenRlhf };
        }
        let mut samples = Vec::with_capacity(queries.len());
        let mut unread = 0;
        for (at, ((query, prompt), label)) in queries.into_iter().zip(prompts).zip(labels).enumerate() {
            let response = with_opened_frame(&prompt, response_of_query(&query, &prompt));
            let sample = open_sample(judge, chosen.as_ref(), &format!("labels[{at}]"), label, response);
            unread += usize::from(sample.is_err());
            samples.push(sample.map_err(|why| if unread > MOST_ERRORS { MANY_UNREAD.to_owned() } else { why }));
        }
        Self { samples, form: Form::OpenRlhf }
    }
}

/// The fault of labels behind the first that hold no task.
const MANY_UNREAD: &str = "its label holds no task; the labels before it say why";

fn texts(fields: &mut Fields<'_>, name: &str) -> Vec<String> {
    let found = match fields.required(name) {
        // One query may come without a list.
        Some(text @ Value::String(_)) => vec![text],
        Some(other) => fields.list_of(name, other),
        None => Vec::new(),
    };
    fields.texts(name, found)
}

/// The attempt at the task of the label at `path`, or why that holds no task.
fn open_sample(
    judge: &Arc<dyn Judge>,
    chosen: Option<&Comparison>,
    path: &str,
    label: &str,
    response: String,
) -> Result<AttemptWork, String> {
    open_attempt(judge, label, chosen, response).map_err(|error| error.describe(path))
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Measured {
    /// `None` where nothing was measured.
    reward: Option<f64>,
    passed: u32,
    total: u32,
    fault: Option<String>,
}

impl From<&VerdictRow> for Measured {
    fn from(row: &VerdictRow) -> Self {
        let reward = reward(row);
        let fault = reward.is_none().then(|| UNJUDGED.to_owned());
        Self { reward, passed: row.passed, total: row.total, fault }
    }
}

/// Judges all attempts. One without a verdict is an error.
async fn judge_all(
    service: &Arc<Service>,
    caller: Caller,
    deadline: Instant,
    samples: Vec<Result<AttemptWork, String>>,
) -> Result<Vec<Measured>, Rejection> {
    let mut found = vec![Measured::default(); samples.len()];
    let (mut attempts, mut places) = (Vec::with_capacity(samples.len()), Vec::with_capacity(samples.len()));
    for (at, sample) in samples.into_iter().enumerate() {
        match sample {
            Ok(attempt) => {
                attempts.push(attempt);
                places.push(at);
            }
            Err(why) => {
                service.metrics.count_fault(FaultKind::UnreadableTask.word());
                found[at].fault = Some(why);
            }
        }
    }
    let submitted = service.submit_attempts(caller.client, Admission::Always, Some(deadline), attempts, TOGETHER);
    let mut stream = submitted.map_err(|full| Rejection::too_late(Unfinished::Full(full)))?;
    while let Some((index, judged)) = stream.next().await {
        let row = judged.map_err(|fault| Rejection::text(StatusCode::GATEWAY_TIMEOUT, fault.message))?.row;
        if matches!(row.status, RowStatus::Dropped(_)) {
            return Err(Rejection::host_fault());
        }
        found[places[index]] = Measured::from(&row);
    }
    Ok(found)
}

impl Form {
    /// The answer. What was not measured gives OpenRLHF 0, which the logs mark, because its training ends without a number.
    ///
    /// # Errors
    /// The same where the answer is a bare number: slime raises.
    fn answer(self, verdicts: &[Measured]) -> Result<Answer<'_>, Rejection> {
        if self == Form::Slime {
            let verdict = verdicts.first().cloned().unwrap_or_default();
            let why = verdict.fault.unwrap_or_default();
            let unmeasured = || Rejection::text(StatusCode::UNPROCESSABLE_ENTITY, format!("there is no reward: {why}"));
            return verdict.reward.map(Answer::Slime).ok_or_else(unmeasured);
        }
        let has_fault = verdicts.iter().any(|verdict| verdict.fault.is_some());
        let rewards = Numbers::of(verdicts, |verdict| verdict.reward.unwrap_or(0.0));
        Ok(Answer::OpenRlhf {
            scores: rewards.clone(),
            rewards,
            extra_logs: Logs {
                veriplay_passed: Numbers::of(verdicts, |verdict| {
                    f64::from(verdict.passed) / f64::from(verdict.total.max(1))
                }),
                veriplay_unjudged: Numbers::of(verdicts, |verdict| f64::from(u8::from(verdict.reward.is_none()))),
            },
            faults: has_fault.then(|| verdicts.iter().map(|verdict| verdict.fault.as_deref()).collect()),
        })
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Slime(f64),
    OpenRlhf {
        rewards: Numbers,
        scores: Numbers,
        extra_logs: Logs,
        #[serde(skip_serializing_if = "Option::is_none")]
        faults: Option<Vec<Option<&'a str>>>,
    },
}

#[derive(Debug, Serialize)]
struct Logs {
    veriplay_passed: Numbers,
    veriplay_unjudged: Numbers,
}

/// A number for each query, or the one number where there is one query.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Numbers {
    One(f64),
    Many(Vec<f64>),
}

impl Numbers {
    fn of(verdicts: &[Measured], number: impl Fn(&Measured) -> f64) -> Self {
        match verdicts {
            [one] => Self::One(number(one)),
            many => Self::Many(many.iter().map(number).collect()),
        }
    }
}
