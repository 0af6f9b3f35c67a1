//! The life of a service from its first socket to its last answer.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::connections::{ConnectionLimits, OpenConnections, serve_connections};
use crate::judge::Judge;
use crate::listener::{Address, ListenError, Listener};
use crate::phase::Phase;
use crate::router::make_router;
use crate::served_judge::ServedJudge;
use crate::service::{Service, Settings};

/// Threads that parse large bodies, or make pages, at once.
const PARSERS: usize = 4;
/// Time for threads that parse when the service ends.
const LAST_PARSE: Duration = Duration::from_secs(1);
/// Time for what was cancelled to end when the service does, and for its workers to be killed.
const LAST_JOBS: Duration = Duration::from_secs(1);

/// The service could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError<E> {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The judge cannot be opened.
    #[error("the judge cannot be opened")]
    Judge(E),
    /// The system refuses threads, signals or timers.
    #[error("the service cannot start: {0}")]
    System(#[from] io::Error),
}

/// Serves until SIGTERM or SIGINT, then answers what is under way and returns. A second signal ends the process.
///
/// It listens before `open_judge` is called, on a thread of its own: until that returns, health is answered, requests of other
/// protocols wait, and native ones are told to try again. `listening` is told the address.
pub fn serve<E: Send + 'static>(
    address: &Address,
    settings: Settings,
    listening: impl FnOnce(&Address),
    open_judge: impl FnOnce() -> Result<Arc<ServedJudge>, E> + Send + 'static,
) -> Result<(), ServeError<E>> {
    let runtime = build_runtime()?;
    let service = Service::new(settings);
    let served = runtime.block_on(async {
        let stop = stop_signals()?;
        let listener = Listener::open(address, service.settings.tokens.is_some()).await?;
        listening(&listener.address()?);
        let open = || open_judge().map(|judge| judge as Arc<dyn Judge>);
        serve_on(Arc::clone(&service), listener, stop, open).await
    });
    runtime.shutdown_timeout(LAST_PARSE);
    if let Some(judge) = service.judge() {
        judge.flush();
    }
    served
}

/// The runtime of a server: few threads that must not block, and as few where work may.
pub(crate) fn build_runtime() -> io::Result<tokio::runtime::Runtime> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(PARSERS)
        .thread_name("http")
        .enable_all()
        .build()
}

/// Serves on `listener` until `stop`, and at most the time for draining longer.
pub(crate) async fn serve_on<E: Send + 'static>(
    service: Arc<Service>,
    listener: Listener,
    stop: impl Future<Output = ()> + Send + 'static,
    open_judge: impl FnOnce() -> Result<Arc<dyn Judge>, E> + Send + 'static,
) -> Result<(), ServeError<E>> {
    let open = OpenConnections::default();
    let Settings { connections, head_patience, write_patience, .. } = service.settings;
    let limits = ConnectionLimits { most: connections, head_patience, write_patience };
    let router = make_router(&service, open.clone());
    let connections = tokio::spawn(serve_connections(listener, router, open.clone(), limits, service.life.clone()));
    let idle = stay_until_idle(Arc::clone(&service), open);
    let stop = async {
        tokio::select! { () = stop => {}, () = idle => {} }
    };
    tokio::spawn(drain_after(stop, Arc::clone(&service)));
    let (report, opened) = oneshot::channel();
    std::thread::Builder::new().name("open-judge".to_owned()).spawn(move || drop(report.send(open_judge())))?;
    tokio::select! {
        opened = opened => match opened {
            Ok(Ok(judge)) => service.start(judge)?,
            Ok(Err(error)) => return Err(ServeError::Judge(error)),
            Err(_) => return Err(io::Error::other("opening the judge panicked").into()),
        },
        () = service.life.reached(Phase::Draining) => {}
    }
    if connections.await.is_err() {
        tracing::error!("the task that accepts connections panicked");
    }
    service.stop();
    if tokio::time::timeout(LAST_JOBS, service.until_nothing_runs()).await.is_err() {
        tracing::warn!("a job that was cancelled has not ended");
    }
    Ok(())
}

/// Completes when the service has had no request for the time that its settings say, if they do.
async fn stay_until_idle(service: Arc<Service>, open: OpenConnections) {
    let Some(idle) = service.settings.idle else { return std::future::pending().await };
    service.life.reached(Phase::Serving).await;
    loop {
        let before = open.idle_mark();
        tokio::time::sleep(idle).await;
        if before.is_some() && open.idle_mark() == before {
            tracing::info!(seconds = idle.as_secs_f64(), "no request for so long: stopping");
            return;
        }
    }
}

async fn drain_after(stop: impl Future<Output = ()>, service: Arc<Service>) {
    stop.await;
    let seconds = service.settings.drain.as_secs_f64();
    tracing::info!(seconds, "draining: what is under way is answered");
    service.life.advance(Phase::Draining);
    tokio::time::sleep(service.settings.drain).await;
    tracing::warn!("the time for draining is over: what is unfinished is answered as such");
    service.stop();
}

/// Completes at the first SIGTERM or SIGINT. The second one ends the process.
pub(crate) fn stop_signals() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        let mut next = async move || {
            tokio::select! {
                _ = terminate.recv() => 128 + SignalKind::terminate().as_raw_value(),
                _ = interrupt.recv() => 128 + SignalKind::interrupt().as_raw_value(),
            }
        };
        next().await;
        tokio::spawn(async move { std::process::exit(next().await) });
    })
}
