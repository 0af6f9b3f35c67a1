//! Real sockets: time limits of heads and bodies, idle connections, hang-ups, the Unix socket, and the end of a service.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::scripted::ScriptedJudge;
use crate::judge::Judge;
use crate::listener::{Address, ListenError, Listener};
use crate::phase::Phase;
use crate::serve::{ServeError, serve_on};
use crate::service::{Service, Settings};

const SOON: Duration = Duration::from_millis(50);

struct Running {
    service: Arc<Service>,
    judge: Arc<ScriptedJudge>,
    address: Address,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<Result<(), ServeError<String>>>,
}

async fn start(address: &Address, settings: Settings) -> Running {
    let (service, judge) = (Service::new(settings), Arc::new(ScriptedJudge::default()));
    let listener = Listener::open(address, false).await.expect("the address is free");
    let address = listener.address().expect("it has an address");
    let (stop, stopped) = oneshot::channel();
    let stopped = async { drop(stopped.await) };
    let opened = Arc::clone(&judge) as Arc<dyn Judge>;
    let served = tokio::spawn(serve_on(Arc::clone(&service), listener, stopped, move || Ok(opened)));
    service.life.reached(Phase::Serving).await;
    Running { service, judge, address, stop, served }
}

async fn start_tcp(settings: Settings) -> Running {
    start(&Address::Tcp("127.0.0.1:0".parse().expect("an address")), settings).await
}

impl Running {
    async fn connect(&self) -> TcpStream {
        let Address::Tcp(address) = self.address else { panic!("it listens on TCP") };
        TcpStream::connect(address).await.expect("it listens")
    }

    async fn finish(self) {
        self.judge.release();
        drop(self.stop);
        self.served.await.expect("it does not panic").expect("it served");
    }
}

fn run_code(program: &str) -> String {
    let body = format!("{{\"code\": \"{program}\", \"language\": \"python\"}}");
    format!(
        "POST /run_code HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: x\r\n\r\n";

/// Sends a request and reads the first line of the answer, and what came with it.
async fn ask(socket: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), request: &str) -> String {
    socket.write_all(request.as_bytes()).await.expect("it is open");
    let mut answer = vec![0; 1 << 16];
    let length = socket.read(&mut answer).await.expect("it answers");
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

async fn read_all(socket: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut answer = Vec::new();
    // A reset is an end too.
    let _ = socket.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_comes_too_slowly_is_refused() {
    let running = start_tcp(Settings { body_patience: SOON, ..Settings::default() }).await;
    let mut slow = running.connect().await;
    let request = run_code("x");
    let answer = ask(&mut slow, &request[..request.len() - 1]).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_announced_as_too_large_is_refused_before_it_comes() {
    let running = start_tcp(Settings { body_bytes: 100_000, ..Settings::default() }).await;
    let head = "POST /run_code HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ";
    let mut liar = running.connect().await;
    let answer = ask(&mut liar, &format!("{head}1099511627776\r\n\r\n{{")).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // One that sends all of it has its answer, and may go on.
    let mut honest = running.connect().await;
    honest.write_all(format!("{head}200000\r\n\r\n{}", " ".repeat(100_000)).as_bytes()).await.expect("it is open");
    let answer = ask(&mut honest, &" ".repeat(100_000)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(ask(&mut honest, HEALTH).await.starts_with("HTTP/1.1 200 "));
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_end_is_in_doubt_ends_its_connection() {
    let running = start_tcp(Settings::default()).await;
    let head = "POST /run_code HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
    let body = r#"{"code": "x", "language": "python"}"#;
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for framing in [
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: xchunked\r\n",
    ] {
        let mut odd = running.connect().await;
        // What follows would be another request.
        odd.write_all(format!("{head}{framing}\r\n{chunks}{HEALTH}").as_bytes()).await.expect("it is open");
        let answer = read_all(&mut odd).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{framing}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{framing}: {answer}");
    }
    // A length beside it says nothing, and the connection ends too (RFC 9112, section 6.3).
    for framing in
        ["transfer-encoding: chunked\r\ncontent-length: 5\r\n", "content-length: 5\r\ntransfer-encoding: chunked\r\n"]
    {
        let mut both = running.connect().await;
        both.write_all(format!("{head}{framing}\r\n{chunks}{HEALTH}").as_bytes()).await.expect("it is open");
        let answer = read_all(&mut both).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.matches("HTTP/1.1").count() == 1, "{framing}: {answer}");
    }
    let mut plain = running.connect().await;
    let answer = ask(&mut plain, &format!("{head}Transfer-Encoding: Chunked\r\n\r\n{chunks}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(ask(&mut plain, HEALTH).await.starts_with("HTTP/1.1 200 "));
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_a_stream_has_its_work_cancelled() {
    let running = start_tcp(Settings::default()).await;
    let body = r#"{"tasks":[{"format":"plain","row":{"name":"one"}}],"attempts":[{"task_id":"one","program":"right"},
        {"task_id":"one","program":"wait"},{"task_id":"one","program":"never"}]}"#;
    let head = "POST /v1/verify?stream=1 HTTP/1.1\r\nhost: x\r\ncontent-type: application/json";
    let mut client = running.connect().await;
    let answer = ask(&mut client, &format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    running.judge.until_started(2).await;
    drop(client);
    while running.service.queue().load().waiting != 0 {
        tokio::task::yield_now().await;
    }
    running.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_told_to_stop_answers_and_ends() {
    let running = start_tcp(Settings::default()).await;
    let mut idle = running.connect().await;
    let mut client = running.connect().await;
    client.write_all(run_code("wait").as_bytes()).await.expect("it is open");
    running.judge.until_started(1).await;
    let Running { service, judge, stop, served, .. } = running;
    stop.send(()).expect("it listens");
    service.life.reached(Phase::Draining).await;
    assert!(read_all(&mut idle).await.is_empty());
    judge.release();
    let answer = read_all(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"Success\""), "{answer}");
    served.await.expect("it does not panic").expect("it served");
    assert_eq!(service.life.phase(), Phase::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_for_draining_is_bounded() {
    let running = start_tcp(Settings { drain: SOON, ..Settings::default() }).await;
    let mut client = running.connect().await;
    client.write_all(run_code("wait").as_bytes()).await.expect("it is open");
    running.judge.until_started(1).await;
    let Running { judge, stop, served, .. } = running;
    stop.send(()).expect("it listens");
    let answer = read_all(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    served.await.expect("it does not panic").expect("it served");
    judge.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_when_the_time_for_draining_is_over_is_cancelled_before_the_service_ends() {
    let running = start_tcp(Settings { drain: SOON, ..Settings::default() }).await;
    let mut client = running.connect().await;
    client.write_all(run_code("endless").as_bytes()).await.expect("it is open");
    running.judge.until_started(1).await;
    let Running { service, stop, served, .. } = running;
    stop.send(()).expect("it listens");
    served.await.expect("it does not panic").expect("it served");
    assert_eq!(service.queue().load().running, 0);
    let answer = read_all(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
}

#[tokio::test]
async fn a_judge_that_cannot_be_opened_ends_the_service() {
    let listener = Listener::open(&Address::Tcp("127.0.0.1:0".parse().expect("an address")), false).await;
    let listener = listener.expect("the address is free");
    let never = std::future::pending();
    let served = serve_on(Service::new(Settings::default()), listener, never, || Err("no image")).await;
    assert!(matches!(served, Err(ServeError::Judge("no image"))));
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_file_is_not() {
    let folder = std::env::temp_dir().join(format!("veriplay-server-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("socket");
    let socket = Address::Unix(path.clone());
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());
    let listener = Listener::open(&socket, false).await.expect("nobody listens there");
    let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is its user's alone");
    drop(listener);
    assert!(!path.exists());
    std::fs::write(&path, "mine").expect("a file");
    assert!(matches!(Listener::open(&socket, false).await, Err(ListenError::NotSocket(_))));
    assert_eq!(std::fs::read_to_string(&path).expect("it is untouched"), "mine");
    let missing = Address::Unix(folder.join("gone/socket"));
    assert!(matches!(Listener::open(&missing, false).await, Err(ListenError::System { .. })));
    std::fs::remove_dir_all(&folder).expect("it is removed");
}
