//! The service over a scripted judge: what is queued, refused, cancelled, drained and answered, without a sandbox. Nothing sleeps: a judge that
//! must be busy waits for the test.

mod cases;
mod life;
mod native;
mod scripted;
mod sockets;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt;

use crate::connections::OpenConnections;
use crate::router::make_router;
use crate::service::{Service, Settings};
use scripted::ScriptedJudge;

struct Bench {
    service: Arc<Service>,
    judge: Arc<ScriptedJudge>,
    router: Router,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Bench {
    /// A service that judges, with one worker.
    fn serving() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let bench = Self::starting(settings);
        bench.start();
        bench
    }

    /// A service whose judge is not there yet.
    fn starting(settings: Settings) -> Self {
        let service = Service::new(settings);
        let router = make_router(&service, OpenConnections::default());
        Self { service, judge: Arc::new(ScriptedJudge::default()), router }
    }

    fn start(&self) {
        self.service.start(Arc::clone(&self.judge) as _).expect("threads start");
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        send(self.router.clone(), request).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(post(path, body.to_string())).await
    }

    fn spawn(&self, request: Request<Body>) -> tokio::task::JoinHandle<Answer> {
        tokio::spawn(send(self.router.clone(), request))
    }

    /// Waits until so many attempts wait in the queue. It is another thread or task that puts them there.
    async fn until_waiting(&self, count: usize) {
        while self.service.queue().load().waiting != count {
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.service.stop();
        self.judge.release();
    }
}

async fn send(router: Router, request: Request<Body>) -> Answer {
    let response = router.oneshot(request).await.expect("the router does not fail");
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Answer { status: parts.status, headers: parts.headers, text }
}

fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::builder().method(Method::POST).uri(path).header(header::CONTENT_TYPE, "application/json");
    request.body(body.into()).expect("a request")
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("`{}` is no JSON: {error}", self.text))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    fn lines(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
    }
}
